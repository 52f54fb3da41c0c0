"""``acl`` at its ports: what becomes of each frame and its copy, what is counted, and in which cycle it leaves.

Sweep:    each action, each pair; bad marks; DSCP of IPv4 and IPv6 behind 0 to 2 tags, with right and wrong checksums;
          meters from 1 to 10^12 bits a second; tunnels; each back-pressure generator on each side; a reset in each
          cycle; RULES 256 with TUNNEL_EN, and without IPV6 and TUNNEL_EN
Stimulus: frames of tests/parser/mutations.py with what the parser says of them; random rules of every kind and frames
          at and beside the ends of what they accept; noise, X under Icarus, wherever a value is open; sets and single
          rules that change under frames back to back
Checks:   bytes, all of ``meta``, ``tuser``, copies, all counters against models/acl.py; marked frames against Scapy;
          each frame judged by rules that stood together, and counted once
Timing:   cycles of the first and last beat of each frame (docs/acl.md, Time); commands
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from models.parser import ParserModel, ones_complement_sum
from tb.acl.designs import slot_design
from tb.toolchain import SIM_BUILD
from tests.parser.mutations import CTAG, STAG, Shape, build, shapes, tunnel_shapes


def set_checksum(frame: bytes, at: int, checksum: int) -> bytes:
    """The frame with another IPv4 header checksum; at: where its IP header begins."""
    return frame[: at + 10] + struct.pack(">H", checksum) + frame[at + 12 :]


def scapy_marked(frame: bytes, dscp: int) -> bytes:
    """The frame with another DSCP, and a checksum that Scapy computes anew."""
    from scapy.layers.inet import IP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.l2 import Ether

    packet = Ether(frame)
    if IP in packet:
        packet[IP].tos = packet[IP].tos & 3 | dscp << 2
        del packet[IP].chksum
    else:
        packet[IPv6].tc = packet[IPv6].tc & 3 | dscp << 2
    return bytes(packet)


def marks(rng: random.Random) -> Iterator[tuple[bytes, int, bytes]]:
    """Frames, a DSCP, and the frame that is marked with it."""
    for number, tags in enumerate(((), (CTAG,), (STAG, CTAG), (CTAG, CTAG)) * 4):
        for ip in (4, 6):
            l4 = ("udp", "tcp", "icmp", "unknown")[number // 4]
            frame = build(Shape(tags, ip, l4=l4, seed=rng.getrandbits(32))).frame
            for dscp in (0, 63, rng.randrange(64)):
                marked = scapy_marked(frame, dscp)
                yield frame, dscp, marked
                if ip == 4:
                    at = 14 + 4 * len(tags)
                    yield from wrong_checksums(rng, frame, dscp, marked, at)
    for frame, dscp in corners(rng):
        marked = scapy_marked(frame, dscp)
        yield frame, dscp, marked
        if frame[24:26] == bytes(2):
            # The other form of the same number; what comes of it has one form again.
            yield set_checksum(frame, 14, 0xFFFF), dscp, marked
    frame = build(Shape((), 0)).frame
    yield frame, 5, frame


def wrong_checksums(
    rng: random.Random, frame: bytes, dscp: int, marked: bytes, at: int
) -> Iterator[tuple[bytes, int, bytes]]:
    """The same with a checksum that is wrong by as much before as afterwards, in ones' complement arithmetic."""
    right, after = (int.from_bytes(one[at + 10 : at + 12], "big") for one in (frame, marked))
    for off in (1, rng.randrange(1, 0xFFFE)):
        wrong, stays = ((checksum + off) % 0xFFFF for checksum in (right, after))
        if wrong and stays:
            # 0 has two forms: those are corners.
            yield set_checksum(frame, at, wrong), dscp, set_checksum(marked, at, stays)


def with_checksum(frame: bytes, dscp: int, checksum: int) -> bytes:
    """The frame (IPv4 without tags) with this DSCP, and an identification that makes its header's checksum so."""
    head = bytearray(frame[14:34])
    head[1] = head[1] & 3 | dscp << 2
    head[4:6] = head[10:12] = bytes(2)
    identification = (0xFFFF - checksum - ones_complement_sum(bytes(head))) % 0xFFFF
    head[4:6] = struct.pack(">H", identification)
    head[10:12] = struct.pack(">H", checksum)
    assert ones_complement_sum(bytes(head)) == 0xFFFF
    return frame[:14] + bytes(head) + frame[34:]


def corners(rng: random.Random) -> Iterator[tuple[bytes, int]]:
    """Headers whose checksum is 0 or next to it before they are marked, or afterwards (RFC 1624 section 3)."""
    frame = build(Shape((), 4, seed=rng.getrandbits(32))).frame
    for old, new in ((0, 1), (0, 63), (63, 0), (46, 8), (8, 46), (5, 5)):
        # The checksum falls by as much as the DSCP rises.
        fall = 4 * (new - old)
        for near in range(-3, 4):
            for checksum in {near % 0xFFFF, (near + fall) % 0xFFFF}:
                yield with_checksum(frame, old, checksum), new


def frames(seed: int) -> dict[str, Any]:
    """All frames of a run."""
    rng = random.Random(f"acl frames {seed}")
    tunnels = [build(replace(shape, seed=rng.getrandbits(32))).frame for shape in tunnel_shapes()]
    model = ParserModel(256, tunnel=True)
    assert all(model.parse(frame).tunnel_kind for frame in tunnels)
    return {
        "shapes": [build(replace(shape, seed=rng.getrandbits(32))).frame.hex() for shape in shapes()],
        "tunnels": [frame.hex() for frame in tunnels],
        "marks": [(frame.hex(), dscp, marked.hex()) for frame, dscp, marked in marks(rng)],
    }


def environment(rules: int, ipv6: bool, tunnel: bool, **more: object) -> dict[str, str]:
    """What tells a bench the design's parameters."""
    settings = {"RULES": rules, "IPV6": int(ipv6), "TUNNEL": int(tunnel), **more}
    return {f"NICLOOP_{name}": str(value) for name, value in settings.items()}


def launch(
    simulate: Callable[..., Any],
    bench: str,
    rules: int = 256,
    *,
    ipv6: bool = True,
    tunnel: bool = True,
    **more: object,
) -> None:
    """Run a bench on a slot with these parameters."""
    design = slot_design(rules, ipv6=ipv6, tunnel=tunnel)
    settings = environment(rules, ipv6, tunnel, **more)
    simulate(design, f"tb.acl.{bench}", env=settings, timeout_s=1500)


def directed(simulate: Callable[..., Any], seed: int, **options: Any) -> None:
    """Run the directed tests."""
    text = json.dumps(frames(seed))
    folder = SIM_BUILD / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"acl-{random.Random(text).getrandbits(48):012x}.json"
    path.write_text(text)
    launch(simulate, "bench_acl", FRAMES=path, **options)


def test_slot_does_what_the_model_says_and_in_its_cycle(sim: str, simulate: Callable[..., Any], seed: int) -> None:
    directed(simulate, seed, rules=64 if sim == "icarus" else 256)


def test_slot_without_tunnels_and_ipv6_does_what_the_model_says(simulate: Callable[..., Any], seed: int) -> None:
    directed(simulate, seed, ipv6=False, tunnel=False)


def test_slot_finds_the_first_rule_beside_every_edge(simulate: Callable[..., Any]) -> None:
    launch(simulate, "bench_acl_random", SETS=8)


@pytest.mark.regress
def test_slot_of_each_size_finds_the_first_rule_beside_every_edge(simulate: Callable[..., Any]) -> None:
    launch(simulate, "bench_acl_random", 1024, SETS=60)
    launch(simulate, "bench_acl_random", 512, ipv6=False, tunnel=False, SETS=60)


def test_slot_changes_its_rules_under_traffic(simulate: Callable[..., Any]) -> None:
    launch(simulate, "bench_acl_update", SWAPS=300, CHANGES=40)


@pytest.mark.regress
def test_slot_changes_its_rules_thousands_of_times_under_traffic(simulate: Callable[..., Any]) -> None:
    launch(simulate, "bench_acl_update", SWAPS=5000, CHANGES=400)
    launch(simulate, "bench_acl_update", ipv6=False, tunnel=False, SWAPS=2000, CHANGES=100)
