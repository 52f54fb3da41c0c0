"""Batch form of the parser's model: equal to the scalar form, and fast.

Sweep:    structured random shapes with random changes, every cut, every wrong length, deep chains, random bytes;
          odd and even offsets in the batch; PARSE_BYTES 32 to 256; values of ``drop``; bad frames; batches of no
          frame, of one, of more than the walk takes at a time
Stimulus: hypothesis; mutations.py; all captures of tests/captures
Checks:   every entry of every array against ParserModel.parse
Timing:   processor time of 10^5 headers, of 10^6 in regress
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import meta
from models.frames import Batch, bad_mark
from models.parser import PARSER_FIELDS, ParserModel
from models.parser_batch import MOST_LAYERS, parse_batch
from tb.replay.capture import read_capture
from tests.parser.mutations import (
    EXTENSIONS,
    L4_KINDS,
    Shape,
    build,
    deep_chains,
    mutated,
    nested_pieces,
    random_shape,
    shapes,
    truncations,
    wrong_lengths,
)

CAPTURES = sorted(path for path in (Path(__file__).parents[1] / "captures").iterdir() if ".pcap" in path.name)
ADDRESSES = ("ip_src", "ip_dst", "inner_ip_src", "inner_ip_dst")
SCALARS = (
    *(name for name in PARSER_FIELDS if name not in ADDRESSES),
    "segments_left",
    "code",
    "user",
    "latency_cycles",
)


def assert_equal(batch: Batch, parse_bytes: int = 128, drop: int = 0) -> None:
    """Every entry of the batch form is what the scalar form says of the frame."""
    model = ParserModel(parse_bytes, drop)
    columns = {name: column.tolist() for name, column in parse_batch(batch, parse_bytes, drop).items()}
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
        assert columns["layers"][i] == parsed.layers + [-1] * (MOST_LAYERS - len(parsed.layers)), frame.hex()


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


BATCHES = st.lists(
    st.tuples(
        st.one_of(frames(), st.binary(min_size=1, max_size=150)),
        st.sampled_from([0, 0, 0, 1, bad_mark(16), bad_mark(17)]),
    ),
    max_size=8,
)


@settings(max_examples=300, deadline=None)
@given(BATCHES, st.sampled_from([32, 64, 128, 128, 128, 160, 256]), st.integers(0, 0xFFFF))
def test_it_says_of_many_frames_what_the_scalar_form_says_of_each(
    rows: list[tuple[bytes, int]], parse_bytes: int, drop: int
) -> None:
    batch = Batch.of([frame for frame, _ in rows], bad=[bad for _, bad in rows])
    assert_equal(batch, parse_bytes, drop)


def test_it_agrees_on_mutated_frames(seed: int) -> None:
    rng = random.Random(seed)
    found = list(mutated(rng, 12000))
    bad = [rng.choice((0, 0, 0, 1, bad_mark(20))) for _ in found]
    assert_equal(Batch.of(found, bad=bad), drop=rng.getrandbits(16))


@pytest.mark.regress
def test_it_agrees_on_a_hundred_thousand_mutated_frames(seed: int) -> None:
    assert_equal(Batch.of(list(mutated(random.Random(seed), 100_000))))


def test_it_agrees_on_frames_cut_at_every_byte() -> None:
    assert_equal(Batch.of([frame for shape in shapes() for frame in truncations(build(shape).frame)]))


def test_it_agrees_on_every_wrong_length() -> None:
    assert_equal(Batch.of([frame for shape in shapes() for _, _, frame in wrong_lengths(build(shape))]))


def test_it_agrees_on_deep_chains() -> None:
    for parse_bytes in (64, 128, 256):
        assert_equal(Batch.of([built.frame for built in deep_chains(parse_bytes)]), parse_bytes)


def test_it_agrees_on_pieces_within_pieces() -> None:
    assert_equal(Batch.of(list(nested_pieces())))


def test_it_agrees_where_a_frame_begins_at_an_odd_address() -> None:
    found = [build(shape).frame for shape in shapes()]
    for lead in (1, 2):
        batch = Batch.of([bytes(lead), *found]).select(slice(1, None))
        assert_equal(batch)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_it_agrees_on_every_capture(path: Path) -> None:
    batch = read_capture(path).batch
    assert_equal(batch.select(batch.lengths > 0))


def test_batches_longer_than_it_walks_at_a_time_come_out_in_order() -> None:
    found = [build(random_shape(random.Random(i))).frame for i in range(40)]
    few = parse_batch(Batch.of(found))
    many = parse_batch(Batch.of(found * 1000))
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


def processor_time(count: int) -> float:
    """Seconds of processor time for that many headers of all shapes."""
    found = [build(shape).frame[:128] for shape in shapes()]
    batch = Batch.of(found).select(np.arange(count) % len(found))
    start = time.process_time()
    parse_batch(batch)
    return time.process_time() - start


def test_a_hundred_thousand_headers_take_less_than_a_second() -> None:
    assert min(processor_time(100_000) for _ in range(3)) < 1


@pytest.mark.regress
def test_a_million_headers_take_seconds() -> None:
    assert min(processor_time(1_000_000) for _ in range(2)) < 6
