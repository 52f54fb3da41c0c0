"""Batch form of the parser's model: equal to the scalar form, and fast.

Sweep:    structured random shapes, tunnels among them, with random changes, every cut, every wrong length, deep chains,
          random bytes; odd and even offsets in the batch; PARSE_BYTES 32 to 256; with tunnels and without; values of
          ``drop``; bad frames; batches of no frame, of one, of more than the walk takes at a time
Stimulus: hypothesis; mutations.py; all captures of tests/captures
Checks:   every entry of every array against ParserModel.parse
Timing:   processor time of 10^5 headers, of 10^6 in regress; of 10^5 tunnels
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import meta
from models.frames import Batch, bad_mark
from models.meta import Code
from models.parser import PARSER_FIELDS, TUNNEL_FIELDS, ParserModel
from models.parser_batch import MOST_INNER_LAYERS, MOST_LAYERS, parse_batch
from tb.replay.capture import read_capture
from tests.parser.mutations import (
    DESTINATION,
    EXTENSIONS,
    L4_KINDS,
    TUNNEL_KINDS,
    Built,
    Layer,
    LengthField,
    Shape,
    build,
    deep_chains,
    deep_tunnels,
    mutated,
    nested_pieces,
    random_shape,
    random_tunnel,
    shapes,
    truncations,
    tunnel_shapes,
    wrong_lengths,
)

CAPTURES = sorted(path for path in (Path(__file__).parents[1] / "captures").iterdir() if ".pcap" in path.name)
ADDRESSES = ("ip_src", "ip_dst", "inner_ip_src", "inner_ip_dst")
SCALARS = (
    *(name for name in PARSER_FIELDS if name not in ADDRESSES),
    "code",
    "user",
    "latency_cycles",
)


def assert_equal(batch: Batch, parse_bytes: int = 128, drop: int = 0, tunnel: bool = False) -> set[str]:
    """Every entry of the batch form is what the scalar form says of the frame. Returns the fields that a frame set, and
    the names of the codes: "inner ..." where the chain failed in a tunnel."""
    model = ParserModel(parse_bytes, drop, tunnel)
    columns = {name: column.tolist() for name, column in parse_batch(batch, parse_bytes, drop, tunnel).items()}
    seen: set[str] = set()
    assert set(columns) == {*SCALARS, *ADDRESSES, "layers"}
    bad = batch.bad.tolist()
    for i, frame in enumerate(batch):
        parsed = model.parse(frame, bad[i])
        expected = {name: getattr(parsed, name) for name in SCALARS}
        got = {name: columns[name][i] for name in SCALARS}
        for name in ADDRESSES:
            expected[name] = getattr(parsed, name)
            got[name] = columns[name][i][0] << 64 | columns[name][i][1]
        assert got == expected, f"frame {i}: {frame.hex()}"
        most = MOST_LAYERS + MOST_INNER_LAYERS * tunnel
        assert columns["layers"][i] == parsed.layers + [-1] * (most - len(parsed.layers)), frame.hex()
        seen |= {name for name, value in expected.items() if value}
        seen.add(("inner " if parsed.tunnel_kind else "") + Code(parsed.code).name)
    return seen


TAGS = st.lists(st.sampled_from([0x8100, 0x88A8]), max_size=3).map(tuple)
LENGTHS = st.one_of(st.integers(0, 5), st.integers(0, 255))
SHAPES = st.builds(
    Shape,
    tags=TAGS,
    ip=st.sampled_from([0, 4, 6]),
    ethertype=st.sampled_from([0x0806, 0x8808, 0x0000, 0x05FF, 0x0600]),
    options=st.integers(0, 10),
    extensions=st.lists(st.tuples(st.sampled_from(EXTENSIONS), LENGTHS), max_size=6).map(tuple),
    fragment=st.tuples(st.one_of(st.just(0), st.integers(0, 8191)), st.integers(0, 1)),
    segments_left=st.sampled_from([0, 1, 255]),
    l4=st.sampled_from(L4_KINDS),
    tcp_options=st.integers(0, 10),
    payload=st.integers(0, 80),
    padding=st.integers(0, 50),
    checksum=st.sampled_from(["good", "bad", "none"]),
    ip_checksum=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
CHANGES = st.lists(st.tuples(st.integers(0, 139), st.integers(0, 255)), max_size=4)
CUT = st.one_of(st.none(), st.integers(1, 200))


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """A built frame, some bytes changed, perhaps cut."""
    frame = bytearray(build(draw(SHAPES)).frame)
    for at, value in draw(CHANGES):
        frame[at % len(frame)] = value
    return bytes(frame[: draw(CUT)])


MARKS = st.sampled_from([0, 0, 0, 1, bad_mark(16), bad_mark(17)])
BATCHES = st.lists(st.tuples(st.one_of(frames(), st.binary(min_size=1, max_size=150)), MARKS), max_size=8)

TUNNELS = st.builds(
    Shape,
    tags=st.lists(st.sampled_from([0x8100, 0x88A8]), max_size=2).map(tuple),
    ip=st.sampled_from([4, 6]),
    fragment=st.sampled_from([(0, 0), (0, 0), (0, 1)]),
    cut=st.integers(0, 60),
    segments_left=st.sampled_from([0, 1]),
    l4=st.sampled_from(TUNNEL_KINDS),
    checksum=st.sampled_from(["good", "bad", "none"]),
    inner=SHAPES,
    bridged=st.booleans(),
    tunnel_options=st.one_of(st.integers(0, 4), st.integers(0, 63)),
    seed=st.integers(0, 2**32 - 1),
)


@cache
def built_tunnels() -> dict[str, list[Built]]:
    """Built tunnels that are read to their end, by the names of their layers and of their length fields; under "" all
    of them."""
    rng = random.Random(1)
    shapes_of_all = [*tunnel_shapes(), *(random_tunnel(rng) for _ in range(200))]
    by_name: dict[str, list[Built]] = {}
    for built in (built for built in map(build, shapes_of_all) if built.fits(256)):
        for name in {"", *(layer.name for layer in built.layers), *(field.name for field in built.lengths)}:
            by_name.setdefault(name, []).append(built)
    return by_name


def names_of(what: Callable[[Built], Iterable[Layer | LengthField]]) -> list[str]:
    return sorted({part.name for built in built_tunnels()[""] for part in what(built)})


@st.composite
def lying_tunnels(draw: st.DrawFn, prefix: str = "") -> bytes:
    """A tunnel with a length field that lies, any of those whose name begins so."""
    name = draw(st.sampled_from([name for name in names_of(lambda built: built.lengths) if name.startswith(prefix)]))
    built = draw(st.sampled_from(built_tunnels()[name]))
    field = draw(st.sampled_from([field for field in built.lengths if field.name == name]))
    near = st.integers(max(field.right - 30, 0), min(field.right + 30, field.most))
    value = draw(st.one_of(st.integers(0, 7), near, st.integers(0, field.most)))
    return field.put(built.frame, min(value, field.most))


@st.composite
def cut_tunnels(draw: st.DrawFn) -> bytes:
    """A tunnel that is cut in a layer, any of those that there are."""
    name = draw(st.sampled_from(names_of(lambda built: built.layers)))
    built = draw(st.sampled_from(built_tunnels()[name]))
    layer = draw(st.sampled_from([layer for layer in built.layers if layer.name == name]))
    return built.frame[: max(1, draw(st.integers(layer.start, layer.end)))]


@st.composite
def changed_tunnels(draw: st.DrawFn) -> bytes:
    """A tunnel with another first byte of its header (flags, or version and length of options), other bytes changed."""
    built = draw(st.sampled_from(built_tunnels()[draw(st.sampled_from(TUNNEL_KINDS))]))
    frame = bytearray(built.frame)
    at = next(layer.start for layer in built.layers if layer.name in TUNNEL_KINDS)
    places = draw(st.lists(st.integers(0, 267).map(lambda place: place % len(frame)), max_size=3))
    for place in [at, *places]:
        frame[place] = draw(st.integers(0, 255))
    return bytes(frame)


WHOLE_TUNNELS = TUNNELS.map(lambda shape: build(shape).frame)
TUNNEL_FRAMES = st.one_of(
    WHOLE_TUNNELS, lying_tunnels(), lying_tunnels("inner "), cut_tunnels(), changed_tunnels(), frames()
)
TUNNEL_BATCHES = st.lists(st.tuples(TUNNEL_FRAMES, MARKS), min_size=4, max_size=8)
NEW_CODES = {"TUNNEL_TRUNCATED", "BAD_TUNNEL"}
"""Of a tunnel's own header."""


@settings(max_examples=300, deadline=None)
@given(BATCHES, st.sampled_from([32, 64, 128, 128, 128, 160, 256]), st.integers(0, 0xFFFF))
def test_it_says_of_many_frames_what_the_scalar_form_says_of_each(
    rows: list[tuple[bytes, int]], parse_bytes: int, drop: int
) -> None:
    batch = Batch.of([frame for frame, _ in rows], bad=[bad for _, bad in rows])
    assert_equal(batch, parse_bytes, drop)


def test_it_says_of_many_tunnels_what_the_scalar_form_says_of_each() -> None:
    """And these tunnels reach every field of a tunnel and both codes of its header."""
    seen: set[str] = set()

    @settings(max_examples=150, deadline=None)
    @given(TUNNEL_BATCHES, st.sampled_from([64, 128, 256, 256, 256, 256]), st.integers(0, 0xFFFF), st.booleans())
    def agree(rows: list[tuple[bytes, int]], parse_bytes: int, drop: int, also_without: bool) -> None:
        batch = Batch.of([frame for frame, _ in rows], bad=[bad for _, bad in rows])
        seen.update(assert_equal(batch, parse_bytes, drop, tunnel=True))
        if also_without:
            assert not TUNNEL_FIELDS & assert_equal(batch, parse_bytes, drop)

    agree()
    assert seen >= TUNNEL_FIELDS | NEW_CODES, sorted((TUNNEL_FIELDS | NEW_CODES) - seen)


def test_it_agrees_on_mutated_frames(seed: int) -> None:
    rng = random.Random(seed)
    found = list(mutated(rng, 12000))
    bad = [rng.choice((0, 0, 0, 1, bad_mark(20))) for _ in found]
    assert_equal(Batch.of(found, bad=bad), drop=rng.getrandbits(16))


def mutated_tunnels(seed: int, count: int) -> Batch:
    """Mutated frames, half of them of tunnels that fit 256 bytes, half of any; now and then a bad one."""
    rng = random.Random(seed)
    small = [build(shape).frame for shape in tunnel_shapes()]
    found = list(mutated(rng, count // 2, small, 256))
    found += mutated(rng, count - count // 2, [build(random_tunnel(rng)).frame for _ in range(count // 4)], 256)
    return Batch.of(found, bad=[rng.choice((0, 0, 0, 1, bad_mark(20))) for _ in found])


def test_it_agrees_on_mutated_tunnels(seed: int) -> None:
    """And these reach every field of a tunnel and both codes of its header."""
    seen = assert_equal(mutated_tunnels(seed, 10_000), 256, random.Random(seed).getrandbits(16), tunnel=True)
    assert seen >= TUNNEL_FIELDS | NEW_CODES, sorted((TUNNEL_FIELDS | NEW_CODES) - seen)


@pytest.mark.regress
def test_it_agrees_on_a_hundred_thousand_mutated_frames(seed: int) -> None:
    assert_equal(Batch.of(list(mutated(random.Random(seed), 100_000))))


@pytest.mark.regress
def test_it_agrees_on_a_hundred_thousand_mutated_tunnels(seed: int) -> None:
    assert_equal(mutated_tunnels(seed, 100_000), 256, tunnel=True)


def test_it_agrees_on_frames_cut_at_every_byte() -> None:
    assert_equal(Batch.of([frame for shape in shapes() for frame in truncations(build(shape).frame)]))


def test_it_agrees_on_tunnels_cut_at_every_byte() -> None:
    """Which cuts every layer, of the tunnel and inside."""
    found = [frame for shape in tunnel_shapes()[::3] for frame in truncations(build(shape).frame)]
    seen = assert_equal(Batch.of(found), 256, tunnel=True)
    inside = {f"inner {layer}_TRUNCATED" for layer in ("L2", "L3", "EXT", "L4")}
    assert seen >= inside | {"TUNNEL_TRUNCATED", "inner L3_BEYOND_FRAME"}


def test_it_agrees_on_every_wrong_length() -> None:
    assert_equal(Batch.of([frame for shape in shapes() for _, _, frame in wrong_lengths(build(shape))]))


def test_it_agrees_on_every_wrong_length_in_a_tunnel() -> None:
    """Which breaks every rule about lengths, of the tunnel and inside."""
    found = [frame for shape in tunnel_shapes()[::3] for _, _, frame in wrong_lengths(build(shape), around=8)]
    seen = assert_equal(Batch.of(found), 256, tunnel=True)
    rules = ("BAD_IP_VERSION", "BAD_IHL", "BAD_L3_LENGTH", "BAD_TCP_OFFSET", "BAD_UDP_LENGTH", "L3_BEYOND_FRAME")
    assert seen >= NEW_CODES | {f"inner {code}" for code in rules}


def test_it_agrees_on_deep_tunnels() -> None:
    """Options of GENEVE of every length, extension headers outside and inside, the last turn."""
    for parse_bytes in (128, 256):
        seen = assert_equal(Batch.of([built.frame for built in deep_tunnels(256)]), parse_bytes, tunnel=True)
        assert seen >= {"TOO_DEEP", "inner TOO_DEEP", "inner NONE"}


def test_the_longest_chain_has_a_place_for_every_layer() -> None:
    four = ((DESTINATION, 0),) * 4
    chain = Shape(ip=6, extensions=four, l4="vxlan", inner=Shape(ip=6, extensions=four))
    columns = parse_batch(Batch.of([build(chain).frame]), 256, tunnel=True)
    assert columns["layers"].shape == (1, MOST_LAYERS + MOST_INNER_LAYERS)
    assert columns["layers"].min() >= 0
    assert columns["code"][0] == 0


def test_it_agrees_on_deep_chains() -> None:
    for parse_bytes in (64, 128, 256):
        assert_equal(Batch.of([built.frame for built in deep_chains(parse_bytes)]), parse_bytes)


def test_it_agrees_on_pieces_within_pieces() -> None:
    assert_equal(Batch.of(list(nested_pieces())))


def test_it_agrees_where_a_frame_begins_at_an_odd_address() -> None:
    found = [build(shape).frame for shape in [*shapes(), *tunnel_shapes()]]
    for lead in (1, 2):
        batch = Batch.of([bytes(lead), *found]).select(slice(1, None))
        for parse_bytes, tunnel in ((128, False), (256, True)):
            assert_equal(batch, parse_bytes, tunnel=tunnel)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_it_agrees_on_every_capture(path: Path) -> None:
    batch = read_capture(path).batch
    for parse_bytes, tunnel in ((128, False), (256, True)):
        assert_equal(batch.select(batch.lengths > 0), parse_bytes, tunnel=tunnel)


def test_batches_longer_than_it_walks_at_a_time_come_out_in_order() -> None:
    found = [build(random_shape(random.Random(i))).frame for i in range(30)]
    found += [build(random_tunnel(random.Random(i))).frame for i in range(10)]
    few = parse_batch(Batch.of(found), 256, tunnel=True)
    many = parse_batch(Batch.of(found * 1000), 256, tunnel=True)
    for name, column in few.items():
        assert np.array_equal(many[name], np.tile(column, (1000, *[1] * (column.ndim - 1)))), name


def test_long_frames_are_summed_to_their_end() -> None:
    found = []
    for seed, payload in enumerate((1472, 8972, 65000, 65507, 65507)):
        for l4 in ("udp", "tcp"):
            size = payload - (12 if l4 == "tcp" else 0)
            found += [build(Shape(l4=l4, payload=size, checksum=c, seed=seed)).frame for c in ("good", "bad")]
    assert_equal(Batch.of(found * 20))
    assert (parse_batch(Batch.of(found))["user"] >> 8).tolist() == [1, 2] * (len(found) // 2)


def test_the_arrays_have_a_type_that_holds_their_field() -> None:
    columns = parse_batch(Batch.empty())
    for field in meta.FIELDS:
        if field.writer == "parser":
            column = columns[field.name]
            assert column.shape == ((0, 2) if field.width == 128 else (0,)), field.name
            assert column.dtype.kind == "u"
            assert column.dtype.itemsize * 8 >= min(field.width, 64), field.name


def test_a_frame_without_a_byte_is_refused_by_its_index() -> None:
    with pytest.raises(ValueError, match="frame 1: "):
        parse_batch(Batch.of([b"\1", b"", b"\2"]))
    with pytest.raises(ValueError, match="multiple of 16"):
        parse_batch(Batch.empty(), 100)
    with pytest.raises(ValueError, match="16 bits"):
        parse_batch(Batch.empty(), 128, 1 << 16)


def processor_time(count: int, chosen: list[Shape], parse_bytes: int = 128, tunnel: bool = False) -> float:
    """Seconds of processor time for that many headers of these shapes."""
    found = [build(shape).frame[:parse_bytes] for shape in chosen]
    batch = Batch.of(found).select(np.arange(count) % len(found))
    start = time.process_time()
    parse_batch(batch, parse_bytes, tunnel=tunnel)
    return time.process_time() - start


def test_a_hundred_thousand_headers_take_less_than_a_second() -> None:
    assert min(processor_time(100_000, shapes()) for _ in range(3)) < 1


def test_a_hundred_thousand_tunnels_take_less_than_two_seconds() -> None:
    assert min(processor_time(100_000, tunnel_shapes(), 256, tunnel=True) for _ in range(3)) < 2


@pytest.mark.regress
def test_a_million_headers_take_seconds() -> None:
    assert min(processor_time(1_000_000, shapes()) for _ in range(2)) < 6
