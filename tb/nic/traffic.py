"""Frames with headers for the port: random chains that are right in most places, and one frame for each way to be
malformed. No frame here is longer or shorter than its user asks for.
"""

from __future__ import annotations

from random import Random

from models.meta import Code

__all__ = ["MALFORMED", "MALFORMED_TUNNELS", "chained_frame"]

_LINK = bytes.fromhex("020000000002020000000001")
_CTAG, _STAG, _IPV4, _IPV6 = b"\x81\x00", b"\x88\xa8", b"\x08\x00", b"\x86\xdd"
_TCP, _UDP, _ESP, _NO_NEXT, _ICMP, _ICMPV6, _AH, _FRAGMENT = 6, 17, 50, 59, 1, 58, 51, 44


def chained_frame(rng: Random, length: int) -> bytes:
    """A frame of that length that begins with a random chain of headers, as far as they fit."""
    return (_headers(rng) + rng.randbytes(length))[:length]


def _headers(rng: Random) -> bytes:
    """Tags, IPv4 with options, IPv6 with extension headers, what rides on them; MAC control, or another type."""
    link = rng.randbytes(12)
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        link += rng.choice([_CTAG, _STAG]) + rng.randbytes(2)
    kind = rng.choice(["ipv4", "ipv4", "ipv6", "ipv6", "pause", "other"])
    if kind == "pause":
        return link + b"\x88\x08\x00\x01"
    if kind == "other":
        return link + b"\x88\xb5"
    last = rng.choice([_TCP, _UDP, _UDP, _ESP, _NO_NEXT, _ICMP if kind == "ipv4" else _ICMPV6])
    extensions = [0, 43, _FRAGMENT, _AH, 60] if kind == "ipv6" else [_AH]
    chain = [rng.choice(extensions) for _ in range(rng.choice([0, 0, 1, 2, 5]))]
    upper = b""
    for own, following in zip(chain, [*chain, last][1:], strict=True):
        more = rng.choice([0, 0, 1])
        size = {_FRAGMENT: 8, _AH: 4 * (more + 2)}.get(own, 8 * (more + 1))
        upper += bytes([following, more]) + bytes(size - 2)
    upper += _layer4(rng, last)
    first = (chain or [last])[0]
    if kind == "ipv4":
        options = rng.choice([0, 0, 4, 40])
        version = bytes([rng.choice([4, 4, 4, 5]) << 4 | 5 + options // 4, 0])
        total = (20 + options + len(upper)).to_bytes(2, "big")
        return link + _IPV4 + version + total + bytes(4) + bytes([64, first]) + rng.randbytes(10 + options) + upper
    return link + _ipv6(first, len(upper)) + rng.randbytes(32) + upper


def _layer4(rng: Random, protocol: int) -> bytes:
    payload = rng.randbytes(rng.choice([0, 1, 4, 30]))
    if protocol == _TCP:
        return rng.randbytes(12) + bytes([16 * rng.choice([5, 5, 6, 4])]) + rng.randbytes(11) + payload
    if protocol == _UDP:
        port = rng.choice([4791, 4500, 53])
        return b"\x11\x22" + port.to_bytes(2, "big") + bytes([0, 8 + len(payload), 0, 0]) + payload
    return rng.randbytes(8) + payload


def _ipv6(next_header: int, payload: int) -> bytes:
    """EtherType, and the header without its addresses."""
    return _IPV6 + b"\x60\x00\x00\x00" + payload.to_bytes(2, "big") + bytes([next_header, 64])


def _ipv4(protocol: int, upper: bytes, *, first: int = 0x45, total: int | None = None) -> bytes:
    """A frame with an IPv4 header of 20 bytes, padded to 60 bytes."""
    size = 20 + len(upper) if total is None else total
    header = bytes([first, 0]) + size.to_bytes(2, "big") + bytes(4) + bytes([64, protocol]) + bytes(10)
    return (_LINK + _IPV4 + header + upper).ljust(60, b"\0")


def _udp(port: int, length: int, payload: bytes) -> bytes:
    return _ipv4(_UDP, b"\x11\x22" + port.to_bytes(2, "big") + length.to_bytes(2, "big") + bytes(2) + payload)


MALFORMED: dict[Code, bytes] = {
    Code.L2_TRUNCATED: _LINK + _CTAG + b"\x00\x05",
    Code.L3_TRUNCATED: _LINK + _IPV4 + b"\x45" + bytes(18),
    Code.BAD_IP_VERSION: _ipv4(_TCP, bytes(20), first=0x55),
    Code.BAD_IHL: _ipv4(_TCP, bytes(20), first=0x44),
    Code.BAD_L3_LENGTH: _ipv4(_TCP, bytes(20), total=19),
    Code.TOO_DEEP: (_LINK + (_CTAG + b"\x00\x05") * 3 + _IPV4).ljust(60, b"\0"),
    Code.EXT_TRUNCATED: (_LINK + _ipv6(0, 4) + bytes(32) + b"\x3b\x00\x00\x00").ljust(60, b"\0"),
    Code.L4_TRUNCATED: _ipv4(_TCP, bytes(19)),
    Code.BAD_TCP_OFFSET: _ipv4(_TCP, bytes(12) + b"\x40" + bytes(7)),
    Code.BAD_UDP_LENGTH: _udp(53, 7, b""),
    Code.BTH_TRUNCATED: _udp(4791, 19, bytes(11)),
    Code.ESP_TRUNCATED: _udp(4500, 13, b"\x01" * 5),
    Code.L3_BEYOND_FRAME: _ipv4(253, b"", total=1000),
}
"""A frame for each code of a parser that reads no tunnels."""

MALFORMED_TUNNELS: dict[Code, bytes] = {
    Code.TUNNEL_TRUNCATED: _udp(4789, 15, b"\x08" + bytes(6)),
    Code.BAD_TUNNEL: _udp(4789, 16, bytes(8)),
}
"""The same for the codes that reading tunnels adds."""
