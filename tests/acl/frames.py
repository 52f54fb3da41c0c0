"""Frames with the headers that rules ask about, and what the parser says of them."""

from __future__ import annotations

import ipaddress
import struct

from models.parser import ParserModel, ones_complement_sum

__all__ = ["ethernet", "fields_of", "geneve", "ipv4", "ipv6", "roce", "tcp", "udp", "vxlan"]

MACS = bytes.fromhex("020000000001020000000002")


def fields_of(frame: bytes, port: int = 0) -> dict[str, int]:
    """The metadata of a frame by name, tunnels read."""
    return ParserModel(256, tunnel=True).parse(frame).meta_fields() | {"port": port}


def ethernet(payload: bytes, ethertype: int = 0x0800, tci: int | None = None) -> bytes:
    tag = b"" if tci is None else struct.pack(">HH", 0x8100, tci)
    return MACS + tag + struct.pack(">H", ethertype) + payload


def ipv4(
    payload: bytes, protocol: int, src: str = "10.0.0.1", dst: str = "10.0.0.2", tos: int = 0, fragment: int = 0
) -> bytes:
    """fragment: flags and offset, as the header has them."""
    addresses = ipaddress.IPv4Address(src).packed + ipaddress.IPv4Address(dst).packed
    head = struct.pack(">BBHHHBBH", 0x45, tos, 20 + len(payload), 7, fragment, 64, protocol, 0)
    checksum = ones_complement_sum(head + addresses) ^ 0xFFFF
    return head[:10] + struct.pack(">H", checksum) + addresses + payload


def ipv6(payload: bytes, protocol: int, src: str = "fe80::1", dst: str = "fe80::2", tos: int = 0) -> bytes:
    addresses = ipaddress.IPv6Address(src).packed + ipaddress.IPv6Address(dst).packed
    return struct.pack(">IHBB", 6 << 28 | tos << 20, len(payload), protocol, 64) + addresses + payload


def tcp(src_port: int = 1000, dst_port: int = 80, flags: int = 0x02) -> bytes:
    return struct.pack(">HHIIHHHH", src_port, dst_port, 1, 0, 5 << 12 | flags, 512, 0, 0)


def udp(payload: bytes = b"", src_port: int = 1000, dst_port: int = 53) -> bytes:
    return struct.pack(">HHHH", src_port, dst_port, 8 + len(payload), 0) + payload


def roce(opcode: int, dest_qp: int) -> bytes:
    return udp(struct.pack(">BBHII", opcode, 0, 0xFFFF, dest_qp, 0), dst_port=4791)


def vxlan(inner: bytes) -> bytes:
    return udp(struct.pack(">II", 8 << 24, 77 << 8) + inner, dst_port=4789)


def geneve(inner: bytes, protocol_type: int = 0x6558) -> bytes:
    return udp(struct.pack(">BBHI", 0, 0, protocol_type, 77 << 8) + inner, dst_port=6081)
