"""Golden model of slot ``roce_icrc``: the invariant CRC of RoCEv2 packets (docs/roce_icrc.md).

InfiniBand Architecture Specification, annex A17 (RoCEv2), A17.3.3; volume 1, 7.8.1 (ICRC), 9.2 (BTH).
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping
from enum import IntEnum

from models.meta import Code

__all__ = ["RESIDUE", "SEED", "Icrc", "Verdict", "icrc_of", "in_lanes", "masked", "packet_bounds"]

IPV4, IPV6 = 1, 2
BTH = 8
"""Bytes of UDP in front of it."""
LEAST = BTH + 12 + 4
"""UDP length with a BTH and an ICRC alone."""
SEED = 0x2144DF1C
"""``zlib.crc32`` of the eight bytes of ones that stand for the LRH: the CRC goes on from it."""
RESIDUE = 0x2144DF1C
"""``zlib.crc32`` of anything with its own CRC behind it, lowest byte first (IEEE 802.3 3.2.9)."""


class Verdict(IntEnum):
    """What is said of a frame."""

    NONE = 0
    GOOD = 1
    BAD = 2
    MISSING = 3


def masked(packet: bytes, l3_kind: int, l4: int) -> bytes:
    """A packet from its IP header on, with ones in the fields that may change on the way (A17.3.3).

    l4: first byte of UDP. IPv4: ToS, TTL, header checksum; IPv6: traffic class, flow label, hop limit; UDP: checksum;
    BTH: byte 4 (FECN, BECN, reserved). All else counts as it is, options and extension headers too.
    """
    out = bytearray(packet)
    if l3_kind == IPV4:
        out[1] = out[8] = 0xFF
        out[10:12] = b"\xff\xff"
    else:
        out[0] |= 0x0F
        out[1:4] = b"\xff\xff\xff"
        out[7] = 0xFF
    out[l4 + 6 : l4 + 8] = b"\xff\xff"
    out[l4 + BTH + 4] = 0xFF
    return bytes(out)


def icrc_of(packet: bytes, l3_kind: int, l4: int) -> bytes:
    """The four bytes behind a packet that ends with its last byte of payload and padding."""
    return zlib.crc32(masked(packet, l3_kind, l4), SEED).to_bytes(4, "little")


def in_lanes(frame: bytes, meta: Mapping[str, int]) -> bytes:
    """What an engine that begins with byte 0 of the frame is fed, so that nothing need be shifted.

    Ones in the first four bytes cancel its preset, zeros leave it 0 up to the IP header, and the state behind the
    eight bytes of ones is added to the first four bytes of that.
    """
    begin, end = packet_bounds(meta)
    packet = masked(frame[begin:end], meta["l3_kind"], meta["l4_offset"] - begin)
    state = (SEED ^ 0xFFFF_FFFF).to_bytes(4, "little")
    first = bytes(a ^ b for a, b in zip(packet, state, strict=False))
    return b"\xff" * 4 + bytes(begin - 4) + first + packet[4:]


def packet_bounds(meta: Mapping[str, int]) -> tuple[int, int]:
    """First byte of the IP header, first byte behind the ICRC."""
    return meta["l3_offset"], meta["l4_offset"] + meta["udp_length"]


class Icrc:
    """The slot. drop: register ``drop``, bit 0 bad ones, bit 1 those without room for an ICRC."""

    def __init__(self, drop: int = 3) -> None:
        self.drop = drop
        self.counters: Counter[str] = Counter()

    @staticmethod
    def judge(frame: bytes, meta: Mapping[str, int]) -> Verdict:
        """By the frame and the parser's metadata."""
        if not meta["roce"] or meta["fragment"]:
            return Verdict.NONE
        begin, end = packet_bounds(meta)
        if meta["udp_length"] < LEAST or end > len(frame):
            return Verdict.MISSING
        packet = masked(frame[begin:end], meta["l3_kind"], meta["l4_offset"] - begin)
        return Verdict.GOOD if zlib.crc32(packet, SEED) == RESIDUE else Verdict.BAD

    def user(self, frame: bytes, meta: Mapping[str, int], user: int) -> int:
        """``tuser`` beside the last beat out; counts the frame."""
        verdict = self.judge(frame, meta)
        self.counters["frames"] += 1
        if user & 1:
            self.counters["bad_in"] += 1
            return user
        self.counters[verdict.name.lower()] += 1
        code = {Verdict.BAD: Code.ROCE_BAD_ICRC, Verdict.MISSING: Code.ROCE_NO_ICRC}.get(verdict)
        if code is None:
            return user
        dropped = self.drop >> (code - Code.ROCE_BAD_ICRC) & 1
        return user & 0x300 | code << 1 | dropped
