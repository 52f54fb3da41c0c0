"""Part of the model of block ``ipsec``: what is done to headers, byte by byte. docs/ipsec.md, What leaves, Transmit.

Packets are ``bytearray`` from the first byte of the IP header on where nothing else is said.
"""

from __future__ import annotations

__all__ = [
    "CE",
    "DECAPSULATED_ECN",
    "ECT0",
    "ECT1",
    "NOT_ECT",
    "add",
    "checksum",
    "correct_l4",
    "inner_length",
    "outer_ipv4",
    "outer_ipv6",
    "resize",
    "set_ecn",
    "udp",
    "update",
]

NOT_ECT, ECT1, ECT0, CE = 0, 1, 2, 3
"""RFC 3168 section 5."""

DECAPSULATED_ECN: dict[tuple[int, int], int | None] = {
    (NOT_ECT, NOT_ECT): NOT_ECT,
    (NOT_ECT, ECT0): NOT_ECT,
    (NOT_ECT, ECT1): NOT_ECT,
    (NOT_ECT, CE): None,
    (ECT0, NOT_ECT): ECT0,
    (ECT0, ECT0): ECT0,
    (ECT0, ECT1): ECT1,
    (ECT0, CE): CE,
    (ECT1, NOT_ECT): ECT1,
    (ECT1, ECT0): ECT1,
    (ECT1, ECT1): ECT1,
    (ECT1, CE): CE,
    (CE, NOT_ECT): CE,
    (CE, ECT0): CE,
    (CE, ECT1): CE,
    (CE, CE): CE,
}
"""RFC 6040 figure 4: (inner, outer) to what leaves; None: drop."""

_TCP, _UDP = 6, 17


def add(*words: int) -> int:
    """Ones' complement sum of 16-bit words (RFC 1071)."""
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def checksum(data: bytes | bytearray) -> int:
    """Internet checksum (RFC 1071); an odd byte is followed by 0."""
    data = bytes(data) + b"\0" * (len(data) & 1)
    return ~add(*(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))) & 0xFFFF


def update(header: bytearray, at: int, word: int) -> None:
    """Write a 16-bit word of an IPv4 header, and its checksum by RFC 1624, equation 3: HC' = ~(~HC + ~m + m')."""
    old = int.from_bytes(header[at : at + 2], "big")
    stood = int.from_bytes(header[10:12], "big")
    header[at : at + 2] = word.to_bytes(2, "big")
    header[10:12] = (~add(~stood & 0xFFFF, ~old & 0xFFFF, word) & 0xFFFF).to_bytes(2, "big")


def resize(packet: bytearray, headers: int, protocol_at: int, protocol: int, payload: int) -> None:
    """Write the protocol behind an IP header and its extension headers, ``headers`` bytes in all, and its lengths for a
    payload of ``payload`` bytes. Over IPv4 no extension header stands in between: AH is refused before."""
    if packet[0] >> 4 == 6:
        packet[protocol_at] = protocol
        packet[4:6] = (headers - 40 + payload).to_bytes(2, "big")
        return
    update(packet, 2, headers + payload)
    update(packet, 8, packet[8] << 8 | protocol)


def set_ecn(packet: bytearray, ecn: int) -> None:
    """Write ECN of an IP header; a checksum is updated."""
    if packet[0] >> 4 == 6:
        packet[1] = packet[1] & 0xCF | ecn << 4
    else:
        update(packet, 0, packet[0] << 8 | packet[1] & 0xFC | ecn)


def inner_length(text: bytes, next_header: int) -> int | None:
    """Bytes of the IP packet that a tunnel's text begins with. None: it isn't whole."""
    if next_header == 4:
        if len(text) < 20 or text[0] >> 4 != 4:
            return None
        header, length = (text[0] & 15) * 4, int.from_bytes(text[2:4], "big")
        return length if 20 <= header <= length <= len(text) else None
    if len(text) < 40 or text[0] >> 4 != 6:
        return None
    length = 40 + int.from_bytes(text[4:6], "big")
    return length if length <= len(text) else None


def outer_ipv4(
    dscp: int, ecn: int, payload: int, identification: int, df: bool, ttl: int, protocol: int, src: int, dst: int
) -> bytes:
    """An IPv4 header of 20 bytes with its checksum."""
    header = bytearray(20)
    header[0:2] = 0x45, dscp << 2 | ecn
    header[2:4] = (20 + payload).to_bytes(2, "big")
    header[4:6] = identification.to_bytes(2, "big")
    header[6] = df << 6
    header[8:10] = ttl, protocol
    header[12:20] = src.to_bytes(4, "big") + dst.to_bytes(4, "big")
    header[10:12] = checksum(header).to_bytes(2, "big")
    return bytes(header)


def outer_ipv6(
    dscp: int, ecn: int, flow_label: int, payload: int, hops: int, next_header: int, src: int, dst: int
) -> bytes:
    """An IPv6 header."""
    word = 6 << 28 | dscp << 22 | ecn << 20 | flow_label
    fixed = word.to_bytes(4, "big") + payload.to_bytes(2, "big") + bytes((next_header, hops))
    return fixed + src.to_bytes(16, "big") + dst.to_bytes(16, "big")


def udp(src_port: int, dst_port: int, payload: bytes, pseudo: bytes | None) -> bytes:
    """A UDP datagram. ``pseudo``: the two IPv6 addresses, for a checksum (RFC 8200 8.1); None: its checksum is 0."""
    length = 8 + len(payload)
    ports = src_port.to_bytes(2, "big") + dst_port.to_bytes(2, "big") + length.to_bytes(2, "big")
    if pseudo is None:
        return ports + bytes(2) + payload
    value = checksum(pseudo + length.to_bytes(4, "big") + bytes((0, 0, 0, _UDP)) + ports + bytes(2) + payload)
    return ports + (value or 0xFFFF).to_bytes(2, "big") + payload


def correct_l4(text: bytearray, protocol: int, delta: int) -> None:
    """Correct the checksum of TCP or UDP for addresses that a NAT changed (RFC 3948 3.1.2)."""
    at = {_TCP: 16, _UDP: 6}.get(protocol)
    if at is None or len(text) < at + 2 or not delta:
        return
    stood = int.from_bytes(text[at : at + 2], "big")
    if protocol == _UDP and stood == 0:
        return
    value = ~add(~stood & 0xFFFF, delta) & 0xFFFF
    if protocol == _UDP and value == 0:
        value = 0xFFFF
    text[at : at + 2] = value.to_bytes(2, "big")
