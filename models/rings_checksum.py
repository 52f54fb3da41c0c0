"""Checksums and VLAN tags of block ``rings`` (docs/rings.md, Transmit, VLAN).

RFC 791, RFC 768, RFC 9293 3.1, RFC 8200 8.1, RFC 1071; IEEE 802.1Q clause 9.
"""

from __future__ import annotations

__all__ = ["OffloadError", "insert_checksums", "insert_tag", "ones_sum", "strip_tag"]

TCP, UDP = 1, 2
PROTOCOL = {TCP: 6, UDP: 17}
PLACE = {TCP: 16, UDP: 6}
"""Of the checksum in the header."""
TPID, TPID_AD = 0x8100, 0x88A8


class OffloadError(ValueError):
    """A checksum was asked of what isn't such a packet."""


def ones_sum(data: bytes) -> int:
    """Ones' complement sum of 16-bit words; an odd last byte is followed by a 0 (RFC 1071)."""
    total = sum(int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big") for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise OffloadError(what)


def _put(frame: bytearray, at: int, value: int) -> None:
    frame[at : at + 2] = value.to_bytes(2, "big")


def insert_checksums(frame: bytes, l3: int, l4_offset: int, ip: bool, l4: int) -> bytes:
    """l3, l4_offset: in bytes; l4: 0 none, 1 TCP, 2 UDP. OffloadError: what the page asks for isn't there."""
    out = bytearray(frame)
    if not ip and not l4:
        return frame
    _need(l3 < len(out), "no IP header in the frame")
    version, ihl = out[l3] >> 4, 4 * (out[l3] & 15)
    if version == 4:
        _need(ihl >= 20 and l3 + ihl <= len(out), "the IPv4 header isn't whole")
    else:
        _need(version == 6 and not ip, "no IPv4 header" if ip else "no IP header")
        _need(l3 + 40 <= len(out), "the IPv6 header isn't whole")
    if ip:
        _put(out, l3 + 10, 0)
        _put(out, l3 + 10, 0xFFFF - ones_sum(bytes(out[l3 : l3 + ihl])))
    if l4:
        _insert_l4(out, l3, l3 + l4_offset, l4, ihl if version == 4 else 40, version)
    return bytes(out)


def _insert_l4(out: bytearray, l3: int, start: int, l4: int, header: int, version: int) -> None:
    _need(start >= l3 + header, "L4 begins in the IP header")
    if version == 4:
        _need(int.from_bytes(out[l3 + 6 : l3 + 8], "big") & 0x3FFF == 0, "a fragment")
        end = l3 + int.from_bytes(out[l3 + 2 : l3 + 4], "big")
        addresses = bytes(out[l3 + 12 : l3 + 20])
    else:
        end = l3 + 40 + int.from_bytes(out[l3 + 4 : l3 + 6], "big")
        addresses = bytes(out[l3 + 8 : l3 + 40])
    _need(end <= len(out), "the IP packet ends beyond the frame")
    if l4 == TCP:
        length = end - start
        _need(length >= 20, "the TCP header isn't whole")
    else:
        _need(start + 8 <= end, "the UDP header isn't whole")
        length = int.from_bytes(out[start + 4 : start + 6], "big")
        _need(8 <= length <= end - start, "the UDP length isn't within the IP packet")
    at = start + PLACE[l4]
    _put(out, at, 0)
    pseudo = addresses + length.to_bytes(4, "big") + PROTOCOL[l4].to_bytes(4, "big")
    result = 0xFFFF - ones_sum(pseudo + bytes(out[start : start + length]))
    _put(out, at, 0xFFFF if l4 == UDP and result == 0 else result)


def insert_tag(frame: bytes, tci: int, ad: bool) -> bytes:
    """Behind the source address, before any tag that is there."""
    return frame[:12] + (TPID_AD if ad else TPID).to_bytes(2, "big") + tci.to_bytes(2, "big") + frame[12:]


def strip_tag(frame: bytes) -> bytes:
    """Without the outer tag."""
    return frame[:12] + frame[16:]
