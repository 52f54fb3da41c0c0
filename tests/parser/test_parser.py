"""``parser`` at its ports: every bit that comes out, and when, against the golden model.

Sweep:    every kind of layer, tag count, option and extension header, in tunnels too; every length 60 to 200; each
          back-pressure generator on each side; one-cycle gaps; a reset in each cycle; each bit of ``drop``; PARSE_BYTES
          128, and 256 with TUNNEL_EN, in regress 64 and 256 without
Stimulus: the frames of tests/parser/mutations.py, whole, cut at every byte, with length fields that lie, too deep and
          mutated (regress: 100 000, as many tunnels); all captures of tests/captures; noise, X under Icarus, wherever a
          value is open
Checks:   bytes, all of ``meta``, ``tuser``, counters, ``idle`` against models/parser.py; the stream protocol
Timing:   cycles of the first and last beat of each frame, alone, under load and with gaps; a frame each max(B, 4)
          cycles
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from models.parser import ParserModel
from tb.parser.designs import PARSE_BYTES, parser_design
from tb.replay.capture import read_capture
from tb.toolchain import ROOT, SIM_BUILD
from tests.parser.mutations import (
    Built,
    Shape,
    build,
    deep_chains,
    deep_tunnels,
    mutated,
    nested_pieces,
    random_tunnel,
    shapes,
    truncations,
    tunnel_shapes,
    wrong_lengths,
)

CTAG, STAG = 0x8100, 0x88A8
TUNNEL_BYTES = 256
"""What a parser that reads tunnels sees of a frame."""
CODES = range(32, 45)
TUNNEL_CODES = range(32, 47)
SHORT = (
    "parser_says_of_every_shape_what_the_model_says_and_in_its_cycle",
    "parser_keeps_its_cycles_where_a_frame_comes_with_gaps",
    "parser_changes_nothing_under_any_back_pressure",
    "parser_starts_over_at_a_reset_in_mid_frame",
    "parser_leaves_the_mark_of_a_bad_frame_alone_and_judges_no_checksum_of_it",
    "parser_has_no_path_from_side_to_side",
    "parser_drops_by_policy_code_by_code",
)
"""What Icarus runs, which does 2000 cycles a second."""


PLAIN_KINDS = (
    Shape((STAG, CTAG), 4, l4="roce", options=2),
    Shape((), 6, extensions=((0, 0), (60, 1), (43, 0), (60, 0)), l4="tcp", payload=8),
    Shape((), 0, ethertype=0x0806, payload=28),
    Shape((CTAG, CTAG), 6, extensions=((0, 0),), l4="natt_esp"),
    Shape((), 4, l4="udp", payload=18),
    Shape((STAG,), 4, l4="tcp", tcp_options=3, extensions=((51, 4),)),
)
"""Frames of unlike kinds, for line rate."""
TUNNEL_KINDS = (
    Shape((), 4, l4="vxlan", inner=Shape((), 4, l4="tcp", payload=12)),
    Shape((), 4, l4="geneve", bridged=False, inner=Shape((), 4, l4="udp", payload=4)),
    Shape((STAG, CTAG), 6, l4="vxlan", inner=Shape((CTAG, CTAG), 6, extensions=((0, 0), (60, 0)), l4="tcp")),
    PLAIN_KINDS[4],
    Shape((), 6, l4="geneve", tunnel_options=4, inner=Shape((CTAG,), 4, options=2, l4="icmp", payload=9)),
    PLAIN_KINDS[1],
    Shape((), 4, l4="geneve", bridged=False, inner=Shape((), 6, extensions=((51, 0),) * 4, l4="esp", payload=3)),
    PLAIN_KINDS[2],
    Shape((CTAG,), 4, options=1, l4="vxlan", inner=Shape((), 0, ethertype=0x0806, payload=28)),
)
"""The same of tunnels, and others between them."""


def longest_walks(tunnels: bool) -> list[bytes]:
    """The most layers in the fewest beats, each such frame before one of four beats: IPv4 with 0 to 10 words of options
    and four AH of 8 bytes, UDP; then BTH, or NAT-T that has nothing to read; with tunnels GENEVE, IPv4, four AH and a
    layer that fails at once (a fifth AH, or ICMP that isn't there)."""
    four = ((51, 0),) * 4
    frames = []
    for options in range(11):
        short = build(Shape(seed=options)).frame
        outer = Shape(options=options, extensions=four, checksum="none", seed=options)
        if not tunnels:
            for l4 in ("roce", "natt_short"):
                frames += [build(replace(outer, l4=l4, payload=0)).frame, short]
            continue
        inner = Shape(extensions=four, l4="no_next", payload=0)
        built = build(replace(outer, l4="geneve", bridged=False, inner=inner))
        last = built.layers[-1].start
        for protocol in (1, 51):
            frames += [built.frame[:last] + bytes([protocol]) + built.frame[last + 1 :], short]
    return frames


def line_rate(kinds: Iterable[Shape], lengths: Iterable[int]) -> list[bytes]:
    """Frames of each kind of each length: padded, or cut where they are longer."""
    frames = []
    for length in lengths:
        for number, shape in enumerate(kinds):
            frame = build(replace(shape, seed=length * 8 + number)).frame
            frames.append((frame + bytes(length))[:length])
    return frames


def one_of_each_code(frames: Iterable[bytes], model: ParserModel, codes: range) -> list[bytes]:
    """The first frame of each code that the parser knows."""
    found: dict[int, bytes] = {}
    for frame in frames:
        found.setdefault(model.parse(frame).code, frame)
        if len(found) > len(codes):
            break
    assert set(codes) <= set(found), f"no frame for codes {set(codes) - set(found)}"
    return [found[code] for code in codes]


def captured(tunnels: bool) -> list[bytes]:
    """The frames of all captures, or of those that hold tunnels."""
    names = ("scapy_inner.pcapng", "scapy_tunnels.pcapng") if tunnels else None
    return [
        frame
        for path in sorted((ROOT / "tests" / "captures").iterdir())
        if ".pcap" in path.name and (names is None or path.name in names)
        for frame in read_capture(path).batch
        if len(frame) > 0
    ]


def malformed(built: list[Built], part: int) -> tuple[list[bytes], list[bytes]]:
    """Cut at every byte; with length fields that lie."""
    cut = [piece for one in built for piece in truncations(one.frame)]
    return cut, [frame for one in built for _, _, frame in wrong_lengths(one, around=24 if part == 1 else 6)]


def frames(seed: int, *, parse_bytes: int = PARSE_BYTES, part: int = 1, count: int = 2000) -> dict[str, list[bytes]]:
    """All frames of a run. ``part``: of what is many, only each so-manieth; ``count`` of mutated ones."""
    rng = random.Random(f"parser frames {seed}")
    built = [build(replace(shape, seed=rng.getrandbits(32))) for shape in shapes()]
    cut, lying = malformed(built, part)
    deep = [one.frame for one in deep_chains(parse_bytes)]
    some = [*lying[:: 7 if part > 1 else 1], *cut, *deep]
    captures = captured(tunnels=False)
    return {
        "shapes": [*(one.frame for one in built), *nested_pieces()],
        "truncations": cut[::part],
        "wrong_lengths": lying[::part],
        "deep_chains": deep[::part],
        "mutated": list(mutated(rng, count)),
        "captures": captures if part < 10 else captures[::part],
        "line_rate": line_rate(PLAIN_KINDS, range(60, 201)),
        "longest_walks": longest_walks(tunnels=False),
        "one_of_each_code": one_of_each_code(some, ParserModel(parse_bytes), CODES),
    }


def tunnel_frames(seed: int, *, part: int = 1, count: int = 2000) -> dict[str, list[bytes]]:
    """As ``frames``, with tunnels in most frames and others between them."""
    rng = random.Random(f"tunnel frames {seed}")
    built = [build(replace(shape, seed=rng.getrandbits(32))) for shape in tunnel_shapes()]
    others = [build(replace(shape, seed=rng.getrandbits(32))) for shape in rng.sample(shapes(), 30)]
    cut, lying = malformed(built, part)
    deep = [one.frame for one in deep_tunnels(TUNNEL_BYTES)]
    some = [*lying[:: 7 if part > 1 else 1], *cut, *deep, *frames(seed, part=50, count=1)["one_of_each_code"]]
    whole = [one.frame for one in (*built, *others)]
    corpus = [*whole, *(build(random_tunnel(rng)).frame for _ in range(max(count // 4, 1)))]
    captures = captured(tunnels=True)
    rng.shuffle(whole)
    return {
        "shapes": whole,
        "truncations": cut[::part],
        "wrong_lengths": lying[::part],
        "deep_chains": deep[::part],
        "mutated": list(mutated(rng, count, corpus, TUNNEL_BYTES)),
        "captures": captures if part < 20 else captures[::part],
        "line_rate": line_rate(TUNNEL_KINDS, range(92, 201)),
        "longest_walks": longest_walks(tunnels=True),
        "one_of_each_code": one_of_each_code(some, ParserModel(TUNNEL_BYTES, tunnel=True), TUNNEL_CODES),
    }


def launch(
    simulate: Callable[..., Any],
    chosen: dict[str, list[bytes]],
    parse_bytes: int = PARSE_BYTES,
    *,
    tunnel: bool = False,
    **options: Any,
) -> None:
    """Run the bench on these frames."""
    text = json.dumps({name: [frame.hex() for frame in some] for name, some in chosen.items()})
    folder = SIM_BUILD / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"parser-{random.Random(text).getrandbits(48):012x}.json"
    path.write_text(text)
    environment = {
        "NICLOOP_FRAMES": str(path),
        "NICLOOP_PARSE_BYTES": str(parse_bytes),
        "NICLOOP_TUNNEL": str(int(tunnel)),
    }
    design = parser_design(parse_bytes, tunnel)
    simulate(design, "tb.parser.bench_parser", env=environment, timeout_s=1500, **options)


def test_parser_is_as_the_model_says(sim: str, simulate: Callable[..., Any], seed: int) -> None:
    if sim == "icarus":
        launch(simulate, frames(seed, part=200, count=1), tests=SHORT)
    else:
        launch(simulate, frames(seed, part=3))


def test_parser_that_reads_tunnels_is_as_the_model_says(sim: str, simulate: Callable[..., Any], seed: int) -> None:
    if sim == "icarus":
        launch(simulate, tunnel_frames(seed, part=400, count=1), TUNNEL_BYTES, tunnel=True, tests=SHORT)
    else:
        launch(simulate, tunnel_frames(seed, part=5), TUNNEL_BYTES, tunnel=True)


@pytest.mark.regress
@pytest.mark.parametrize("parse_bytes", [64, 128, 256])
def test_parser_of_each_depth_is_as_the_model_says(simulate: Callable[..., Any], seed: int, parse_bytes: int) -> None:
    launch(simulate, frames(seed, parse_bytes=parse_bytes), parse_bytes)


@pytest.mark.regress
def test_parser_survives_a_hundred_thousand_mutated_frames(simulate: Callable[..., Any], seed: int) -> None:
    launch(simulate, frames(seed, part=50, count=100_000), tests=["parser_survives_mutated_frames"])


@pytest.mark.regress
def test_parser_reads_every_tunnel_as_the_model_says(simulate: Callable[..., Any], seed: int) -> None:
    launch(simulate, tunnel_frames(seed), TUNNEL_BYTES, tunnel=True)


@pytest.mark.regress
def test_parser_survives_a_hundred_thousand_mutated_tunnels(simulate: Callable[..., Any], seed: int) -> None:
    chosen = tunnel_frames(seed, part=50, count=100_000)
    launch(simulate, chosen, TUNNEL_BYTES, tunnel=True, tests=["parser_survives_mutated_frames"])
