"""ICRC: what it covers, what it doesn't, and what the slot makes of frames.

Sweep:    every bit of every header of IPv4 (plain, with options), IPv6 (plain, with extension headers), none to two
          tags, each with padding behind; every captured RoCEv2 packet; registers
Stimulus: captures of Linux's rxe, packets that others published, Scapy's
Checks:   the captures' own ICRC; published ones; Scapy's; a bit counts where a table written from annex A17 says so
Timing:   none
"""

from __future__ import annotations

import json
import random
import zlib
from pathlib import Path

import pytest
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP, IPOption_NOP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

from models.meta import Code
from models.parser import ParserModel
from models.roce_icrc import RESIDUE, SEED, Icrc, Verdict, icrc_of, in_lanes, packet_bounds
from tb.replay.capture import read_capture
from tests.roce.scapy_bth import bth_of

NAMES = ("roce", "fragment", "l3_kind", "l3_offset", "l4_offset", "udp_length")
CAPTURES = Path(__file__).parents[1] / "captures"


def meta_of(frame: bytes) -> dict[str, int]:
    parsed = ParserModel().parse(frame)
    return {name: int(getattr(parsed, name)) for name in NAMES}


def verdict(frame: bytes) -> Verdict:
    return Icrc.judge(frame, meta_of(frame))


def verdicts(path: Path) -> list[Verdict]:
    batch = read_capture(path).batch
    return [verdict(batch.frame(n)) for n in range(len(batch)) if len(batch.frame(n))]


def scapy_says(frame: bytes) -> bytes:
    """Scapy's own ICRC of a packet over IPv4 or IPv6 without extension headers."""
    return bytes(bth_of(frame).compute_icrc(None))


@pytest.mark.parametrize("path", sorted(CAPTURES.glob("roce_*.pcap")), ids=lambda path: path.stem)
def test_every_packet_of_a_real_sender_is_good(path):
    found = verdicts(path)
    assert set(found) <= {Verdict.GOOD, Verdict.NONE}
    assert found.count(Verdict.GOOD) > 3


def test_a_bad_one_among_good_ones_is_found():
    assert verdicts(CAPTURES / "scapy_cnp_pfc_badicrc.pcap").count(Verdict.BAD) == 1


def test_captures_of_all_peers_are_judged_right_and_stale_ones_found(material):
    files = sorted((material / "10_peers").glob("roce_*.pcap"))
    assert len(files) > 20
    for path in files:
        found = verdicts(path)
        assert found.count(Verdict.BAD) == (34 if path.stem == "roce_rc_write_corrupt" else 0), path.stem
        assert found.count(Verdict.GOOD) > 3


def test_published_packets_are_good_and_scapy_agrees(material):
    published = json.loads((material / "04_roce/rocev2_published_good_icrc.json").read_text())["packets"]
    good = 0
    for one in published:
        frame = bytes.fromhex(one["frame"])
        meta = meta_of(frame)
        assert Icrc.judge(frame, meta) == (Verdict.GOOD if meta["roce"] else Verdict.NONE), one["id"]
        if meta["roce"]:
            good += 1
            assert scapy_says(frame) == frame[packet_bounds(meta)[1] - 4 : packet_bounds(meta)[1]], one["id"]
    assert good == len([one for one in published if "rocev1" not in one["id"]]) > 10


E = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
NETWORKS = {
    "IPv4": (IP(src="192.0.2.1", dst="192.0.2.2", tos=0x69, ttl=17, id=77, flags="DF"), 20),
    "IPv4, options": (IP(src="192.0.2.1", dst="192.0.2.2", options=[IPOption_NOP()] * 8), 28),
    "IPv6": (IPv6(src="2001:db8::1", dst="2001:db8::2", tc=0xA5, fl=0x12345, hlim=3), 40),
    "IPv6, extensions": (
        IPv6(src="2001:db8::1", dst="2001:db8::2") / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt(),
        56,
    ),
}
TAGS = {"none": E, "one": E / Dot1Q(vlan=5), "two": E / Dot1AD(vlan=100) / Dot1Q(vlan=5)}


def built(network: str, tags: str, payload: bytes, padding: int) -> bytes:
    """A frame with its ICRC, lengths and checksums by Scapy, the ICRC by the model."""
    bth = bytes(BTH(opcode=4, dqpn=0x123456, psn=0xABCDEF, ackreq=1, icrc=0))[:12]
    frame = bytes(TAGS[tags] / NETWORKS[network][0] / UDP(sport=50000, dport=4791) / Raw(bth + payload + bytes(4)))
    meta = meta_of(frame)
    begin, end = packet_bounds(meta)
    value = icrc_of(frame[begin : end - 4], meta["l3_kind"], meta["l4_offset"] - begin)
    return frame[: end - 4] + value + b"\x5a" * padding


@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("network", NETWORKS)
def test_scapy_computes_the_same(network, tags, seed):
    rng = random.Random(f"{seed}{network}{tags}")
    for length in (0, 1, 4, 15, 16, 17, 257, 1024):
        frame = built(network, tags, rng.randbytes(length), rng.randrange(20))
        assert verdict(frame) == Verdict.GOOD
        if network != "IPv6, extensions":
            _, end = packet_bounds(meta_of(frame))
            assert scapy_says(frame[:end]) == frame[end - 4 : end]


MASKED = {
    "IPv4": {1: 0xFF, 8: 0xFF, 10: 0xFF, 11: 0xFF},
    "IPv6": {0: 0x0F, 1: 0xFF, 2: 0xFF, 3: 0xFF, 7: 0xFF},
}
"""Annex A17.3.3: byte of the IP header, bits that are taken as ones."""


@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("network", NETWORKS)
def test_each_bit_of_each_header_counts_unless_annex_a17_masks_it(network, tags):
    """With the metadata of the whole frame, so that nothing but the CRC speaks."""
    frame = built(network, tags, b"payload", 5)
    meta = meta_of(frame)
    begin, end = packet_bounds(meta)
    udp = begin + NETWORKS[network][1]
    free = {begin + at: bits for at, bits in MASKED[network[:4]].items()}
    free |= {udp + 6: 0xFF, udp + 7: 0xFF, udp + 8 + 4: 0xFF}
    free |= dict.fromkeys([*range(begin), *range(end, len(frame))], 0xFF)
    assert udp == meta["l4_offset"]
    for at in range(len(frame)):
        for bit in range(8):
            flipped = frame[:at] + bytes([frame[at] ^ 1 << bit]) + frame[at + 1 :]
            expected = Verdict.GOOD if free.get(at, 0) >> bit & 1 else Verdict.BAD
            assert Icrc.judge(flipped, meta) == expected, (at - begin, bit)


def test_seed_and_residue_are_those_of_the_crc():
    assert zlib.crc32(b"\xff" * 8) == SEED
    for data in (b"", b"RoCE"):
        assert zlib.crc32(data + zlib.crc32(data).to_bytes(4, "little")) == RESIDUE


@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("network", NETWORKS)
def test_an_engine_that_begins_with_the_frame_says_the_same(network, tags):
    for length in range(20):
        frame = built(network, tags, bytes(range(length)), 3)
        for at in (0, len(frame) - 4):
            changed = frame[:at] + bytes([frame[at] ^ 0x10]) + frame[at + 1 :]
            good = Icrc.judge(changed, meta_of(frame)) == Verdict.GOOD
            assert (zlib.crc32(in_lanes(changed, meta_of(frame))) == RESIDUE) == good == (at == 0)


def test_what_has_no_room_for_it_or_is_cut_is_missing_one():
    """UDP of 20 to 23 bytes holds a BTH and no ICRC."""
    for length in range(12, 18):
        frame = bytes(E / NETWORKS["IPv4"][0] / UDP(sport=1, dport=4791) / Raw(bytes(length))) + bytes(8)
        assert verdict(frame) == (Verdict.MISSING if length < 16 else Verdict.BAD)
    whole = built("IPv4", "none", bytes(40), 0)
    assert verdict(whole[:-1]) == Verdict.MISSING


def test_what_is_no_rocev2_packet_passes_without_a_word():
    whole = built("IPv4", "none", bytes(40), 0)
    assert Icrc.judge(whole[:-1] + b"\0", meta_of(whole) | {"roce": 0}) == Verdict.NONE
    assert Icrc.judge(whole[:-1] + b"\0", meta_of(whole) | {"fragment": 1}) == Verdict.NONE
    assert verdict(bytes(E / NETWORKS["IPv4"][0] / UDP(sport=4791, dport=5000) / Raw(bytes(40)))) == Verdict.NONE


@pytest.mark.parametrize("drop", range(4))
def test_marks_and_counters_by_policy(drop):
    good = built("IPv4", "none", bytes(40), 0)
    bad = good[:-1] + bytes([good[-1] ^ 1])
    short = bytes(E / NETWORKS["IPv4"][0] / UDP(sport=1, dport=4791) / Raw(bytes(12)))
    plain = bytes(E) + bytes(50)
    slot = Icrc(drop)
    asked = [(frame, meta_of(frame)) for frame in (good, bad, short, plain)]
    marks = [slot.user(frame, meta, 2 << 8 | Code.L3_BEYOND_FRAME << 1) for frame, meta in asked]
    as_it_came = 2 << 8 | Code.L3_BEYOND_FRAME << 1
    assert marks == [
        as_it_came,
        2 << 8 | Code.ROCE_BAD_ICRC << 1 | drop & 1,
        2 << 8 | Code.ROCE_NO_ICRC << 1 | drop >> 1,
        as_it_came,
    ]
    assert slot.user(bad, asked[1][1], 3 << 8 | Code.ACL_DENIED << 1 | 1) == 3 << 8 | Code.ACL_DENIED << 1 | 1
    assert slot.counters == {"frames": 5, "good": 1, "bad": 1, "missing": 1, "none": 1, "bad_in": 1}
