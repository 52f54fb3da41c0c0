"""RoCEv2 packets in Ethernet frames: where they go, what is around them, the ICRC behind (docs/roce.md, Packets).

InfiniBand Architecture Specification, annex A17.3 (RoCEv2 packet format); RFC 768, 791, 8200.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.roce_icrc import IPV4, IPV6, icrc_of
from models.roce_packet import MalformedError, Packet, build, parse

__all__ = ["PORT", "Route", "frame_of", "packet_of"]

PORT = 4791
UDP = 17
VLAN = 0x8100
ICRC = 4


@dataclass(frozen=True, kw_only=True)
class Route:
    """The addresses of a packet, as its sender has them; src and dst: 4 bytes of IPv4 or 16 of IPv6."""

    dst_mac: bytes
    src_mac: bytes
    src: bytes
    dst: bytes
    port: int
    """UDP source port."""
    vlan: int | None = None
    """TCI of an 802.1Q tag."""
    dscp: int = 0
    ecn: int = 0
    hops: int = 64
    flow_label: int = 0
    identification: int = 0

    def back(self, port: int | None = None) -> Route:
        """The way of an answer."""
        return Route(
            dst_mac=self.src_mac,
            src_mac=self.dst_mac,
            src=self.dst,
            dst=self.src,
            port=self.port if port is None else port,
            vlan=self.vlan,
            dscp=self.dscp,
            hops=self.hops,
        )


def _sum(data: bytes) -> int:
    """The header checksum of RFC 791."""
    total = sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def frame_of(route: Route, packet: Packet) -> bytes:
    """The frame without FCS and Ethernet padding. UDP checksum 0 (A17.3.2), DF set, ICRC right."""
    body = build(packet)
    length = 8 + len(body) + ICRC
    udp = b"".join(word.to_bytes(2, "big") for word in (route.port, PORT, length, 0)) + body
    traffic = route.dscp << 2 | route.ecn
    if len(route.src) == 4:
        head = bytearray([0x45, traffic]) + (20 + length).to_bytes(2, "big")
        head += route.identification.to_bytes(2, "big") + b"\x40\0" + bytes([route.hops, UDP, 0, 0])
        head += route.src + route.dst
        head[10:12] = _sum(bytes(head)).to_bytes(2, "big")
        kind, ethertype = IPV4, 0x0800
    else:
        head = bytearray((6 << 28 | traffic << 20 | route.flow_label).to_bytes(4, "big"))
        head += length.to_bytes(2, "big") + bytes([UDP, route.hops]) + route.src + route.dst
        kind, ethertype = IPV6, 0x86DD
    ip = bytes(head) + udp
    tag = b"" if route.vlan is None else VLAN.to_bytes(2, "big") + route.vlan.to_bytes(2, "big")
    ether = route.dst_mac + route.src_mac + tag + ethertype.to_bytes(2, "big")
    return ether + ip + icrc_of(ip, kind, len(head))


def packet_of(frame: bytes) -> tuple[Route, Packet]:
    """Route and packet of a frame whose ICRC was found good. At most one tag, no options, no extension headers."""
    at = 14
    vlan = None
    if frame[12:14] == VLAN.to_bytes(2, "big"):
        vlan = int.from_bytes(frame[14:16], "big")
        at = 18
    ethertype = frame[at - 2 : at]
    identification = label = 0
    if ethertype == b"\x08\x00" and frame[at] == 0x45 and frame[at + 9] == UDP:
        traffic, hops = frame[at + 1], frame[at + 8]
        identification = int.from_bytes(frame[at + 4 : at + 6], "big")
        addresses, udp = (frame[at + 12 : at + 16], frame[at + 16 : at + 20]), at + 20
    elif ethertype == b"\x86\xdd" and frame[at + 6] == UDP:
        word = int.from_bytes(frame[at : at + 4], "big")
        traffic, label, hops = word >> 20 & 0xFF, word & 0xFFFFF, frame[at + 7]
        addresses, udp = (frame[at + 8 : at + 24], frame[at + 24 : at + 40]), at + 40
    else:
        raise MalformedError("no UDP over IPv4 or IPv6 without options")
    port, to, length = (int.from_bytes(frame[udp + n : udp + n + 2], "big") for n in (0, 2, 4))
    if to != PORT or udp + length > len(frame):
        raise MalformedError(f"no RoCEv2: UDP port {to}, {length} bytes")
    route = Route(
        dst_mac=frame[0:6],
        src_mac=frame[6:12],
        src=addresses[0],
        dst=addresses[1],
        port=port,
        vlan=vlan,
        dscp=traffic >> 2,
        ecn=traffic & 3,
        hops=hops,
        flow_label=label,
        identification=identification,
    )
    return route, parse(frame[udp + 8 : udp + length - ICRC])
