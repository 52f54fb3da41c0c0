"""Makes the captures of this folder that Scapy builds: ``python tests/captures/make_captures.py [folder]``.

Each is smaller than 100 kB, carries a comment a frame that says what the frame is, and has frames one behind the other
at 25G line rate. The same Scapy gives the same bytes: nothing is taken from the clock, the host or an unseeded random
source. README.md beside this file has one line a capture.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from scapy.contrib.geneve import GENEVE, GeneveOptions
from scapy.contrib.lldp import (
    LLDPDUChassisID,
    LLDPDUEndOfLLDPDU,
    LLDPDUPortID,
    LLDPDUTimeToLive,
)
from scapy.contrib.mac_control import MACControlClassBasedFlowControl, MACControlPause
from scapy.contrib.roce import BTH
from scapy.layers.inet import (
    ICMP,
    IP,
    TCP,
    UDP,
    IPOption_NOP,
    IPOption_Router_Alert,
    IPOption_RR,
    IPOption_Timestamp,
    fragment,
)
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6ND_NS,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
    RouterAlert,
    fragment6,
)
from scapy.layers.ipsec import AH, ESP, SecurityAssociation
from scapy.layers.l2 import ARP, GRE, LLC, STP, Dot1AD, Dot1Q, Dot3, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

from models.frames import Batch
from tb.replay.capture import write_capture

__all__ = ["CAPTURES", "make"]

A, B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
V4 = {"src": "192.0.2.1", "dst": "192.0.2.2"}
V6 = {"src": "2001:db8::1", "dst": "2001:db8::2"}
START_NS = 1_704_067_200_000_000_000
"""2024-01-01 00:00:00 UTC."""

MIN, MAX = 60, 9596
WIRE_OVERHEAD = 24
"""Bytes that the wire adds to a frame: preamble, FCS, gap."""

Frames = Iterator[tuple[str, bytes]]


def filler(length: int, seed: int) -> bytes:
    """So many bytes, the same for the same seed."""
    return random.Random(seed).randbytes(length)


def ether(*layers: Packet, pad: bool = True) -> bytes:
    """Bytes of the layers behind an Ethernet header, padded with zeros to the shortest frame."""
    packet: Packet = Ether(src=A, dst=B)
    for layer in layers:
        packet = packet / layer
    raw = bytes(packet)
    return raw + bytes(max(0, MIN - len(raw))) if pad else raw


def udp(**fields: int) -> Packet:
    """UDP between ports that no dissector claims, where none are given."""
    return UDP(**{"sport": 49152, "dport": 49153} | fields)


def sized(length: int, seed: int) -> bytes:
    """A UDP frame of just that length."""
    return ether(IP(**V4), udp(sport=49152, dport=49153), Raw(filler(length - 42, seed)), pad=False)


def lengths_60_200() -> Frames:
    for length in range(60, 201):
        yield f"UDP, {length} bytes", sized(length, length)


def boundaries() -> Frames:
    for length in (*range(1512, 1520), 1522, 4095, 4096, 4097, *range(9013, 9016), 9595, 9596):
        yield f"UDP, {length} bytes", sized(length, length)


def oversize() -> Frames:
    for length in (MAX, MAX + 1, MAX + 4, MIN, MAX + 16, MAX + 17, MIN + 1, 20_000, MIN):
        if length > MAX + 17:
            yield f"EtherType 0x88b5, {length} bytes", ether(Raw(filler(length - 14, length)), pad=False)
        else:
            yield f"UDP, {length} bytes", sized(length, length)


def short() -> Frames:
    whole = sized(MIN, 1)
    for length in range(1, MIN + 1):
        yield f"the first {length} bytes of a UDP frame of {MIN}", whole[:length]


def vlan() -> Frames:
    for priority in range(8):
        yield f"VLAN 100, priority {priority}", ether(Dot1Q(vlan=100, prio=priority), IP(**V4), udp(), Raw(b"x" * 30))
    yield "priority tag (VLAN 0)", ether(Dot1Q(vlan=0, prio=5), IP(**V4), udp())
    yield "VLAN 4095, DEI set", ether(Dot1Q(vlan=4095, dei=1), IPv6(**V6), udp())
    yield "QinQ, 88a8 outside", ether(Dot1AD(vlan=200, prio=3), Dot1Q(vlan=100, prio=6), IP(**V4), TCP(flags="S"))
    yield "QinQ, 8100 twice", ether(Dot1Q(vlan=200), Dot1Q(vlan=100), IP(**V4), TCP(flags="S"))
    yield "three tags", ether(Dot1AD(vlan=1), Dot1AD(vlan=2), Dot1Q(vlan=3), IP(**V4), ICMP())
    yield "a tag and nothing behind it", ether(Dot1Q(vlan=7, type=0x88B5), pad=False)
    for tags in (0, 1, 2):
        layers = [Dot1AD(vlan=2), Dot1Q(vlan=1)][2 - tags :]
        for more in (0, 1, 4):
            body = Raw(filler(1472 + more, tags))
            yield f"{tags} tags, {1514 + more + 4 * tags} bytes", ether(*layers, IP(**V4), udp(), body)


def ipv4() -> Frames:
    for name, options in (
        ("router alert", [IPOption_Router_Alert()]),
        ("record route", [IPOption_RR(routers=["0.0.0.0"] * 3)]),
        ("timestamp", [IPOption_Timestamp()]),
        ("padding of 40 bytes, the most", [IPOption_NOP()] * 40),
    ):
        for upper in (udp(), TCP(flags="PA"), ICMP()):
            yield f"{name}, {upper.name}", ether(IP(options=options, **V4), upper, Raw(b"payload"))
    for dscp in (0, 10, 26, 46):
        for ecn in range(4):
            yield f"DSCP {dscp}, ECN {ecn}", ether(IP(tos=dscp << 2 | ecn, **V4), udp(), Raw(b"x"))
    yield "DF, TTL 1", ether(IP(flags="DF", ttl=1, **V4), udp())
    yield "TTL 0", ether(IP(ttl=0, **V4), udp())
    yield "bad header checksum", ether(IP(chksum=0x1234, **V4), udp())
    yield "UDP without checksum", ether(IP(**V4), udp(chksum=0), Raw(b"x"))
    yield "UDP with a bad checksum", ether(IP(**V4), udp(chksum=0x1234), Raw(b"x"))
    yield "TCP with a bad checksum", ether(IP(**V4), TCP(chksum=0x1234), Raw(b"x"))
    yield "UDP whose sum is 0, sent as ffff", udp_with_zero_sum()
    yield "28 bytes of IP, padding of 0xaa", ether(IP(**V4), udp(), pad=False) + b"\xaa" * 18
    yield "unknown protocol 253", ether(IP(proto=253, **V4), Raw(b"x" * 40))
    for flags in ("S", "SA", "A", "FA", "R", "FPU", "SAFRPUEC", ""):
        yield (
            f"TCP, flags {flags or 'none'}",
            ether(IP(**V4), TCP(flags=flags, options=[("MSS", 1460), ("SAckOK", b"")])),
        )
    stamp = [("Timestamp", (1, 2)), ("WScale", 7), ("NOP", None)] * 2
    yield "TCP, 40 bytes of options", ether(IP(**V4), TCP(flags="A", options=stamp + [("NOP", None)] * 12))
    for kind in (0, 3, 5, 8, 11):
        yield f"ICMP type {kind}", ether(IP(**V4), ICMP(type=kind), Raw(b"x" * 20))


def udp_with_zero_sum() -> bytes:
    """A UDP datagram whose checksum comes to 0, so that it goes out as 0xffff."""
    base = IP(**V4) / udp(sport=1, dport=2) / Raw(b"\0\0")
    rest = IP(bytes(base))[UDP].chksum
    return ether(IP(**V4), udp(sport=1, dport=2), Raw(rest.to_bytes(2, "big")))


def ipv6() -> Frames:
    yield "UDP", ether(IPv6(**V6), udp(), Raw(b"x" * 8))
    yield "TCP, traffic class 0xb9, flow label", ether(IPv6(tc=0xB9, fl=0xABCDE, **V6), TCP(flags="S"))
    yield "ICMPv6 echo", ether(IPv6(**V6), ICMPv6EchoRequest(id=1, seq=2, data=b"x" * 32))
    yield "neighbour solicitation", ether(IPv6(hlim=255, **V6), ICMPv6ND_NS(tgt="2001:db8::2"))
    hop, dest = IPv6ExtHdrHopByHop(options=[RouterAlert()]), IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)])
    routing = IPv6ExtHdrRouting(addresses=["2001:db8::3", "2001:db8::4"])
    for name, chain in (
        ("hop-by-hop", (hop,)),
        ("destination options", (dest,)),
        ("routing", (routing,)),
        ("hop-by-hop, destination, routing, destination", (hop, dest, routing, dest)),
        ("fragment header of a whole packet", (IPv6ExtHdrFragment(offset=0, m=0, id=7),)),
        ("eight destination options", (dest,) * 8),
    ):
        for upper in (udp(dport=9), TCP(flags="S")):
            yield f"{name}, {upper.name}", ether(IPv6(**V6), *(part.copy() for part in chain), upper, Raw(b"x" * 12))
    yield (
        "hop-by-hop of 256 bytes",
        ether(IPv6(**V6), IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 252)]), udp(), Raw(b"x")),
    )
    yield "no next header", ether(IPv6(nh=59, **V6), Raw(b"x" * 16))
    yield "UDP without checksum", ether(IPv6(**V6), udp(chksum=0), Raw(b"x"))
    yield "link-local", ether(IPv6(src="fe80::1", dst="ff02::1"), udp())


def fragments() -> Frames:
    whole = IP(id=7, **V4) / udp(sport=1, dport=2) / Raw(filler(4000, 4))
    for size in (1480, 512, 24):
        for part in fragment(whole, fragsize=size)[:12]:
            yield f"IPv4, fragment at {part.frag * 8}, of {size}", ether(part)
    six = IPv6(**V6) / IPv6ExtHdrFragment(id=9) / udp(sport=1, dport=2) / Raw(filler(4000, 6))
    for part in fragment6(six, 1280):
        yield f"IPv6, fragment at {part[IPv6ExtHdrFragment].offset * 8}", ether(part)
    first, *_, last = fragment(whole, fragsize=1480)
    yield "IPv4, last fragment first", ether(last)
    yield "IPv4, first fragment behind it", ether(first)
    yield "IPv4, first fragment of 8 bytes", ether(IP(flags="MF", proto=6, **V4), Raw(b"\0\1\0\2\0\0\0\0"))


def tunnels() -> Frames:
    inner = Ether(src="02:00:00:00:01:0a", dst="02:00:00:00:01:0b") / IP(src="10.0.0.1", dst="10.0.0.2")
    body = TCP(flags="PA") / Raw(filler(64, 8))
    yield "VXLAN", ether(IP(**V4), udp(sport=50000, dport=4789), VXLAN(vni=42), inner, body)
    yield "VXLAN over IPv6", ether(IPv6(**V6), udp(sport=50000, dport=4789), VXLAN(vni=42), inner, body)
    yield (
        "VXLAN, inner VLAN",
        ether(
            IP(**V4), udp(sport=50000, dport=4789), VXLAN(vni=1), Ether(src=A, dst=B), Dot1Q(vlan=5), IP(**V4), udp()
        ),
    )
    yield "VXLAN on port 8472", ether(IP(**V4), udp(sport=50000, dport=8472), VXLAN(vni=7), inner, body)
    yield "VXLAN, nothing inside", ether(IP(**V4), udp(sport=50000, dport=4789), VXLAN(vni=7))
    yield (
        "VXLAN, inner TCP checksum bad",
        ether(IP(**V4), udp(sport=50000, dport=4789), VXLAN(vni=7), inner, TCP(chksum=0x1234), Raw(b"x")),
    )
    option = GeneveOptions(classid=0x0102, type=1, data=b"\1\2\3\4")
    for count in (0, 1, 3, 7):
        yield (
            f"GENEVE, {count} options",
            ether(
                IP(**V4),
                udp(sport=50000, dport=6081),
                GENEVE(vni=42, proto=0x6558, options=[option] * count),
                inner,
                body,
            ),
        )
    yield (
        "GENEVE, IPv4 inside",
        ether(IP(**V4), udp(sport=50000, dport=6081), GENEVE(vni=42, proto=0x0800), IP(**V4), udp()),
    )
    yield "GRE", ether(IP(**V4), GRE(), IP(src="10.0.0.1", dst="10.0.0.2"), udp())
    yield (
        "GRE with key and sequence number",
        ether(IP(**V4), GRE(key_present=1, seqnum_present=1, key=5, sequence_number=6), IP(**V4), udp()),
    )
    yield "IPv4 in IPv4", ether(IP(**V4), IP(src="10.0.0.1", dst="10.0.0.2"), TCP())
    yield "IPv6 in IPv4", ether(IP(**V4), IPv6(**V6), udp())
    yield "IPv4 in IPv6", ether(IPv6(**V6), IP(**V4), udp())


def in_vxlan(*layers: Packet, six: bool = False, flags: int = 8, vni: int = 0x123456, **ports: int) -> bytes:
    """A frame with these layers in VXLAN."""
    outer = IPv6(tc=0x28, **V6) if six else IP(tos=0x28, flags="DF", **V4)
    return ether(outer, udp(dport=4789, **ports), VXLAN(flags=flags, vni=vni), *layers)


def in_geneve(*layers: Packet, six: bool = False, kind: int = 0x6558, options: int = 1, **fields: int) -> bytes:
    """A frame with these layers in GENEVE, with so many options of 8 bytes."""
    outer = IPv6(hlim=9, **V6) if six else IP(ttl=9, **V4)
    option = GeneveOptions(classid=0xFF01, type=3, data=b"\1\2\3\4")
    tunnel = GENEVE(**{"vni": 0xABCDEF} | fields, proto=kind, options=[option.copy() for _ in range(options)])
    return ether(outer, udp(dport=6081), tunnel, *layers)


def carried() -> Iterator[tuple[str, list[Packet]]]:
    """What stands in a tunnel, by name: the layers behind an inner Ethernet header."""
    four, six = {"src": "10.0.0.1", "dst": "10.0.0.2"}, {"src": "fd00::1", "dst": "fd00::2"}
    hop, dest = IPv6ExtHdrHopByHop(options=[RouterAlert()]), IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)])
    segments = [("MSS", 1460), ("SAckOK", b"")]
    yield "IPv4, TCP", [IP(tos=0x4A, flags="DF", ttl=7, **four), TCP(flags="PA", options=segments), Raw(b"x" * 21)]
    yield "IPv4, UDP", [IP(**four), udp(), Raw(b"x" * 5)]
    yield "IPv4, ICMP", [IP(**four), ICMP(type=3, code=4), Raw(b"x" * 8)]
    yield "IPv4 with options, UDP", [IP(options=[IPOption_RR(routers=["0.0.0.0"] * 3)], **four), udp()]
    yield "IPv4, bad header checksum", [IP(chksum=0x1234, **four), TCP(flags="S")]
    yield "IPv4, first piece", [IP(flags="MF", **four), udp(len=400), Raw(b"x" * 16)]
    yield "IPv4, later piece", [IP(flags="MF", frag=5, proto=17, **four), Raw(b"x" * 24)]
    yield "IPv4, ESP", [IP(**four), ESP(spi=0x1010, seq=9, data=b"x" * 24)]
    yield "IPv4, AH, UDP", [IP(**four), AH(nh=17, payloadlen=4, spi=7, seq=8, icv=b"\0" * 12), udp()]
    yield "IPv4, protocol 253", [IP(proto=253, **four), Raw(b"x" * 9)]
    yield "IPv4, IPv4", [IP(**four), IP(**four), udp()]
    yield "IPv4, RoCEv2", [IP(**four), udp(dport=4791), BTH(opcode=4, dqpn=3, psn=5)]
    yield "IPv4, UDP to port 4500", [IP(**four), udp(dport=4500), Raw(b"\0\0\x10\x10\0\0\0\1" + b"x" * 16)]
    yield "IPv4, padding of 7 bytes", [IP(**four), udp(), Raw(b"\xaa" * 7)]
    yield "IPv6, TCP", [IPv6(tc=0xB9, hlim=3, **six), TCP(flags="FA"), Raw(b"x" * 10)]
    yield "IPv6, UDP", [IPv6(**six), udp(), Raw(b"x" * 5)]
    yield "IPv6, ICMPv6", [IPv6(**six), ICMPv6EchoRequest(id=1, seq=2, data=b"x" * 8)]
    yield "IPv6, hop-by-hop, destination, UDP", [IPv6(**six), hop.copy(), dest.copy(), udp()]
    yield "IPv6, piece", [IPv6(**six), IPv6ExtHdrFragment(offset=4, m=1, id=7, nh=6), Raw(b"x" * 24)]
    yield "IPv6, no next header", [IPv6(nh=59, **six)]


def inner() -> Frames:
    """Tunnels with all that the parser reads in them."""
    yield from whole_tunnels()
    yield from malformed_tunnels()


def whole_tunnels() -> Frames:
    link = Ether(src="02:00:00:00:01:0a", dst="02:00:00:00:01:0b")
    tag_sets = ([], [Dot1Q(vlan=5, prio=3)], [Dot1AD(vlan=200, dei=1), Dot1Q(vlan=100, prio=6)], [Dot1AD(vlan=9)])

    def bridged(turn: int, layers: list[Packet]) -> list[Packet]:
        return [part.copy() for part in (link, *tag_sets[turn % 4], *layers)]

    for turn, (name, layers) in enumerate(carried()):
        tags = len(tag_sets[turn % 4])
        yield f"VXLAN, {tags} tags, {name}", in_vxlan(*bridged(turn, layers), six=turn % 3 == 0)
        tags, options = len(tag_sets[(turn + 1) % 4]), turn % 4
        what = f"GENEVE, {options} options, {tags} tags, {name}"
        yield what, in_geneve(*bridged(turn + 1, layers), six=turn % 3 == 1, options=options, critical=turn % 2)
        kind = 0x86DD if layers[0].name == "IPv6" else 0x0800
        yield f"GENEVE without Ethernet, {name}", in_geneve(*layers, kind=kind, options=turn % 3, oam=turn % 2)
    plain = [IP(**V4), udp()]
    for kind, outer in (("VXLAN", in_vxlan), ("GENEVE", in_geneve)):
        yield f"{kind}, ARP inside", outer(link.copy(), ARP(psrc="10.0.0.1", pdst="10.0.0.2"))
        yield f"{kind}, length 38 inside", outer(Dot3(src=A, dst=B), LLC(), STP())
        yield f"{kind}, PAUSE inside", outer(link.copy(), MACControlPause(pause_time=5))
        yield (
            f"{kind}, a tunnel inside",
            outer(link.copy(), IP(**V4), udp(dport=4789), VXLAN(flags=8, vni=9), link, *plain),
        )
        yield f"{kind}, nothing inside", outer()
    yield "VXLAN, all flags but P", in_vxlan(link.copy(), *plain, flags=0xFB, vni=0xFFFFFF)
    yield "VXLAN from port 4789", in_vxlan(link.copy(), *plain, sport=4789)
    outer = IP(**V4) / udp(sport=4789) / VXLAN(flags=8) / link / plain[0] / plain[1]
    yield "UDP from port 4789 to another", ether(outer)
    yield "VXLAN in a first piece", ether(IP(flags="MF", **V4), udp(dport=4789), VXLAN(flags=8), link, *plain)
    yield "VXLAN in a later piece", ether(IP(frag=3, proto=17, **V4), Raw(filler(64, 3)))
    yield "GENEVE, protocol 0x88b5", in_geneve(Raw(b"x" * 20), kind=0x88B5)
    for count in (20, 31):
        yield f"GENEVE, {count} options of 8 bytes", in_geneve(link.copy(), *plain, options=count)


def malformed_tunnels() -> Frames:
    link = Ether(src=A, dst=B)
    tags = [Dot1AD(vlan=200), Dot1Q(vlan=100)]
    first = in_vxlan(link.copy(), *tags, IP(options=[IPOption_NOP()] * 4, **V4), TCP(options=[("MSS", 1460)]))
    for end in range(42, len(first)):
        yield f"VXLAN, two tags, IPv4 with options, TCP: cut at {end} of {len(first)}", first[:end]
    second = in_geneve(IPv6(**V6), IPv6ExtHdrDestOpt(), udp(), kind=0x86DD)
    for end in range(42, len(second), 3):
        yield f"GENEVE, IPv6, destination options, UDP: cut at {end} of {len(second)}", second[:end]

    def edited(name: str, frame: bytes, at: int, *values: int) -> tuple[str, bytes]:
        return name, frame[:at] + bytes(values) + frame[at + len(values) :]

    vxlan = in_vxlan(link.copy(), IP(**V4), udp(), Raw(b"x" * 24))
    geneve = in_geneve(link.copy(), IP(**V4), udp(), Raw(b"x" * 24))
    six = in_vxlan(link.copy(), IPv6(**V6), IPv6ExtHdrDestOpt(), udp(), Raw(b"x" * 24))
    stream = in_vxlan(link.copy(), IP(**V4), TCP(), Raw(b"x" * 24))
    yield edited("VXLAN without flag I", vxlan, 42, 0)
    yield edited("GENEVE, version 1", geneve, 42, 0x42)
    yield edited("GENEVE, options to the end of UDP", geneve, 42, 19)
    yield edited("GENEVE, options beyond UDP", geneve, 42, 63)
    for length in (8, 15, 16, 29, 30, 49, 50, 57, 58):
        yield edited(f"VXLAN, UDP length {length}", vxlan, 38, 0, length)
        yield edited(f"GENEVE, UDP length {length}", geneve, 38, 0, length)
    yield edited("inner IPv4, version 5", vxlan, 64, 0x55)
    yield edited("inner IPv4, header length 16", vxlan, 64, 0x44)
    yield edited("inner IPv4, total length 19", vxlan, 66, 0, 19)
    yield edited("inner IPv4, total length beyond the tunnel by 1", vxlan, 66, 0, 53)
    yield edited("inner IPv4, total length of 65535", vxlan, 66, 0xFF, 0xFF)
    yield edited("inner UDP, length 7", vxlan, 88, 0, 7)
    yield edited("inner UDP, length beyond the packet by 1", vxlan, 88, 0, 33)
    yield edited("inner TCP, header length 16", stream, 96, 0x40)
    yield edited("inner TCP, header length 60", stream, 96, 0xF0)
    yield edited("inner IPv6, version 4", six, 64, 0x40)
    yield edited("inner IPv6, payload length beyond the tunnel", six, 68, 0xFF, 0xFF)
    yield edited("inner extension header beyond the packet", six, 105, 255)
    yield "three tags inside", in_vxlan(link.copy(), Dot1Q(vlan=1), Dot1Q(vlan=2), Dot1Q(vlan=3), IP(**V4), udp())
    five = [IPv6ExtHdrDestOpt() for _ in range(5)]
    yield "five extension headers inside", in_geneve(IPv6(**V6), *five, udp(), kind=0x86DD)


def roce(opcode: int, psn: int, body: bytes, *, six: bool = False, tos: int = 0, **fields: int) -> bytes:
    """A RoCEv2 frame; Scapy computes the ICRC. ``body`` is padded to 4 bytes, and BTH says by how many."""
    pad = -len(body) % 4
    outer = IPv6(tc=tos, **V6) if six else IP(tos=tos, flags="DF", id=psn & 0xFFFF, **V4)
    head = BTH(opcode=opcode, dqpn=0x11, psn=psn, padcount=pad, pkey=0xFFFF, migreq=1, **fields)
    return ether(outer, udp(sport=0xC000, dport=4791, chksum=0), head, Raw(body + bytes(pad)), pad=False)


def rocev2() -> Frames:
    reth = bytes.fromhex("0000000000001000 00001234 00000800")
    deth, immediate, aeth = bytes.fromhex("80010000 00000011"), bytes(4), bytes.fromhex("1f000001")
    atomic = bytes.fromhex("0000000000002000 00001234 0000000000000001 0000000000000000")
    for size in range(9):
        yield f"RC SEND only, {size} bytes", roce(0x04, size, filler(size, size))
    names = (
        (0x00, "SEND first", filler(256, 1)),
        (0x01, "SEND middle", filler(256, 2)),
        (0x02, "SEND last", filler(100, 3)),
        (0x03, "SEND last with immediate", immediate + filler(9, 4)),
        (0x05, "SEND only with immediate", immediate + filler(10, 5)),
        (0x06, "WRITE first", reth + filler(256, 6)),
        (0x07, "WRITE middle", filler(256, 7)),
        (0x08, "WRITE last", filler(31, 8)),
        (0x09, "WRITE last with immediate", immediate + filler(32, 9)),
        (0x0A, "WRITE only", reth + filler(33, 10)),
        (0x0B, "WRITE only with immediate", reth + immediate + filler(34, 11)),
        (0x0C, "READ request", reth),
        (0x0D, "READ response first", aeth + filler(256, 12)),
        (0x0E, "READ response middle", filler(256, 13)),
        (0x0F, "READ response last", aeth + filler(35, 14)),
        (0x10, "READ response only", aeth + filler(36, 15)),
        (0x11, "ACK", aeth),
        (0x12, "atomic ACK", aeth + bytes(8)),
        (0x13, "compare and swap", atomic),
        (0x14, "fetch and add", atomic),
        (0x16, "SEND last with invalidate", bytes(4) + filler(37, 16)),
        (0x17, "SEND only with invalidate", bytes(4) + filler(38, 17)),
    )
    for psn, (opcode, name, body) in enumerate(names):
        yield f"RC {name}", roce(opcode, psn, body)
        yield f"RC {name}, IPv6, ECT(0)", roce(opcode, psn, body, six=True, tos=26 << 2 | 2)
    for opcode, name, body in ((0x24, "UC SEND only", filler(40, 18)), (0x2A, "UC WRITE only", reth + filler(41, 19))):
        yield name, roce(opcode, 1, body)
    yield "UD SEND only", roce(0x64, 1, deth + filler(42, 20))
    yield "UD SEND only with immediate", roce(0x65, 2, deth + immediate + filler(43, 21))
    yield "CNP", roce(0x81, 0, bytes(16), tos=48 << 2, becn=1)
    yield "RC SEND only, CE-marked", roce(0x04, 3, filler(1024, 22), tos=26 << 2 | 3)
    yield "PSN sequence error NAK", roce(0x11, 4, bytes.fromhex("60000001"))
    yield "RNR NAK", roce(0x11, 5, bytes.fromhex("2c000001"))
    yield "PSN 2**24 - 1, the last before the wrap", roce(0x04, 0xFFFFFF, b"last")
    yield "undefined opcode 0x1f", roce(0x1F, 6, b"none")
    wrong = bytearray(roce(0x04, 7, filler(64, 23)))
    wrong[-1] ^= 1
    yield "RC SEND only, bad ICRC", bytes(wrong)
    yield "RC SEND only of 4096 bytes", roce(0x04, 8, filler(4096, 24))


def esp() -> Frames:
    def association(key_bytes: int, **more: object) -> SecurityAssociation:
        return SecurityAssociation(
            ESP, spi=0x1000 + key_bytes, crypt_algo="AES-GCM", crypt_key=filler(key_bytes + 4, key_bytes), **more
        )

    tunnel = IP(src="198.51.100.1", dst="198.51.100.2")
    for key_bytes in (16, 32):
        for name, more in (
            ("transport", {}),
            ("tunnel", {"tunnel_header": tunnel}),
            ("transport, UDP 4500", {"nat_t_header": udp(sport=4500, dport=4500)}),
        ):
            for size in (*range(6), 64, 1400):
                plain = IP(**V4) / udp(sport=7, dport=8) / Raw(filler(size, size))
                sealed = association(key_bytes, **more).encrypt(plain, seq_num=size + 1, iv=filler(8, size + 100))
                yield f"{name}, AES-GCM with {8 * key_bytes} bit, {size} bytes inside", ether(sealed)
    six = association(16).encrypt(IPv6(**V6) / udp() / Raw(b"x" * 20), seq_num=1, iv=filler(8, 99))
    yield "transport over IPv6", ether(six)
    wrong = bytearray(ether(association(16).encrypt(IP(**V4) / udp() / Raw(b"x" * 20), seq_num=9, iv=filler(8, 98))))
    for byte in (1, 16):
        broken = bytearray(wrong)
        broken[-byte] ^= 0x80
        yield f"bad ICV (byte {byte} from the end)", bytes(broken)
    yield "sequence number 0", ether(IP(proto=50, **V4), ESP(spi=0x1010, seq=0, data=filler(48, 97)))
    yield "sequence number 2**32 - 1", ether(IP(proto=50, **V4), ESP(spi=0x1010, seq=0xFFFFFFFF, data=filler(48, 96)))
    yield "unknown SPI", ether(IP(proto=50, **V4), ESP(spi=0xDEADBEEF, seq=1, data=filler(48, 95)))
    yield "too short for an ICV", ether(IP(proto=50, **V4), ESP(spi=0x1010, seq=1, data=b"1234"))
    yield "NAT keepalive", ether(IP(**V4), udp(sport=4500, dport=4500), Raw(b"\xff"))
    yield "IKE on port 4500", ether(IP(**V4), udp(sport=4500, dport=4500), Raw(bytes(4) + filler(28, 94)))


def pause() -> Frames:
    control = {"src": A, "dst": "01:80:c2:00:00:01", "type": 0x8808}

    def framed(layer: Packet) -> bytes:
        raw = bytes(Ether(**control) / layer)
        return raw + bytes(max(0, MIN - len(raw)))

    for quanta in (0, 1, 0x7FFF, 0xFFFF):
        yield f"PAUSE, {quanta} quanta", framed(MACControlPause(pause_time=quanta))
    for number in range(8):
        for quanta in (0xFFFF, 0):
            fields = {f"c{number}_enabled": 1, f"c{number}_pause_time": quanta}
            yield f"PFC, class {number}, {quanta} quanta", framed(MACControlClassBasedFlowControl(**fields))
    every = {f"c{number}_enabled": 1 for number in range(8)} | {f"c{number}_pause_time": 100 for number in range(8)}
    yield "PFC, all classes", framed(MACControlClassBasedFlowControl(**every))
    yield "PFC, no class", framed(MACControlClassBasedFlowControl())
    yield "MAC control, unknown opcode 0x0102", framed(Raw(b"\x01\x02" + bytes(44)))
    yield "PAUSE to a unicast address", ether(Raw(bytes(46)))[:12] + bytes.fromhex("8808 0001 00ff") + bytes(42)
    yield "PFC of 64 bytes", framed(MACControlClassBasedFlowControl(**every)) + bytes(4)
    yield (
        "PAUSE in a VLAN",
        bytes(Ether(src=A, dst=control["dst"]) / Dot1Q(vlan=1, type=0x8808) / Raw(b"\0\1\0\x05")) + (bytes(38)),
    )


def arp_l2() -> Frames:
    for op, name in ((1, "request"), (2, "reply")):
        yield f"ARP {name}", ether(ARP(op=op, hwsrc=A, hwdst=B, psrc="192.0.2.1", pdst="192.0.2.2"))
    yield (
        "gratuitous ARP",
        bytes(Ether(src=A, dst="ff:ff:ff:ff:ff:ff") / ARP(hwsrc=A, psrc=V4["src"], pdst=V4["src"])) + (bytes(18)),
    )
    yield "ARP in a VLAN", ether(Dot1Q(vlan=9), ARP(hwsrc=A, hwdst=B, psrc="192.0.2.1", pdst="192.0.2.2"))
    bpdu = bytes(Dot3(src=A, dst="01:80:c2:00:00:00", len=38) / LLC() / STP(rootmac=A, bridgemac=A))
    yield "spanning tree over LLC", bpdu + bytes(MIN - len(bpdu))
    lldp = LLDPDUChassisID(subtype=4, id=A) / LLDPDUPortID(subtype=3, id=A) / LLDPDUTimeToLive(ttl=120)
    raw = bytes(Ether(src=A, dst="01:80:c2:00:00:0e", type=0x88CC) / lldp / LLDPDUEndOfLLDPDU())
    yield "LLDP", raw + bytes(MIN - len(raw))
    for kind in (0x0000, 0x05DC, 0x05DD, 0x0600, 0x8847, 0x88B5, 0x8915, 0xFFFF):
        yield f"EtherType {kind:#06x}", bytes(Ether(src=A, dst=B, type=kind) / Raw(filler(46, kind)))
    for address, name in (
        ("ff:ff:ff:ff:ff:ff", "broadcast"),
        ("01:00:5e:00:00:01", "multicast"),
        ("00:00:00:00:00:00", "zero"),
    ):
        yield f"{name} destination", bytes(Ether(src=A, dst=address) / IP(**V4) / udp() / Raw(bytes(18)))


def malformed() -> Frames:
    tcp = ether(
        Dot1Q(vlan=3), IP(options=[IPOption_NOP()] * 4, **V4), TCP(flags="S", options=[("MSS", 1460)]), pad=False
    )
    for end in range(14, len(tcp)):
        yield f"VLAN, IPv4 with options, TCP: cut at {end} of {len(tcp)}", tcp[:end]
    geneve = GENEVE(vni=1, proto=0x6558, options=[GeneveOptions(data=b"1234")])
    deep = ether(IPv6(**V6), udp(dport=6081), geneve, Ether(src=A, dst=B), IP(**V4), udp(), pad=False)
    for end in range(14, len(deep), 3):
        yield f"IPv6, GENEVE, IPv4: cut at {end} of {len(deep)}", deep[:end]

    def edited(name: str, frame: bytes, **bytes_at: int) -> tuple[str, bytes]:
        raw = bytearray(frame)
        for position, value in bytes_at.items():
            raw[int(position[1:])] = value
        return name, bytes(raw)

    plain, six = ether(IP(**V4), udp(), Raw(b"x" * 32)), ether(IPv6(**V6), udp(), Raw(b"x" * 32))
    stream = ether(IP(**V4), TCP(), Raw(b"x" * 32))
    yield edited("IPv4, version 5", plain, b14=0x55)
    yield edited("IPv4, version 6 under EtherType 0x0800", plain, b14=0x65)
    for ihl in (0, 4, 15):
        yield edited(f"IPv4, header length {4 * ihl}", plain, b14=0x40 | ihl)
    yield edited("IPv4, total length below its header", plain, b16=0, b17=19)
    yield edited("IPv4, total length beyond the frame", plain, b16=0xFF, b17=0xFF)
    yield edited("IPv4, total length 0", plain, b16=0, b17=0)
    yield edited(
        "IPv4, option that runs out of the header", ether(IP(options=[IPOption_NOP()] * 4, **V4), udp()), b34=7, b35=40
    )
    yield edited("IPv4, option of length 0", ether(IP(options=[IPOption_NOP()] * 4, **V4), udp()), b34=7, b35=0)
    yield edited("IPv4, evil bit", plain, b20=0x80)
    yield edited("UDP, length 7", plain, b38=0, b39=7)
    yield edited("UDP, length beyond the packet", plain, b38=0xFF, b39=0xFF)
    for offset in (0, 4, 15):
        yield edited(f"TCP, header length {4 * offset}", stream, b46=offset << 4)
    yield edited("IPv6, version 4 under EtherType 0x86dd", six, b14=0x40)
    yield edited("IPv6, payload length beyond the frame", six, b18=0xFF, b19=0xFF)
    yield edited("IPv6, payload length 0", six, b18=0, b19=0)
    yield edited("IPv6, hop-by-hop not first", ether(IPv6(**V6), IPv6ExtHdrDestOpt(), IPv6ExtHdrHopByHop(), udp()))
    yield edited("IPv6, extension header beyond the frame", ether(IPv6(**V6), IPv6ExtHdrDestOpt(), udp()), b55=255)
    yield edited("source address multicast", plain, b6=0x01)


def imix() -> Frames:
    order = [64 - 4] * 7 + [594 - 4] * 4 + [1518 - 4]
    for turn in range(16):
        sizes = order.copy()
        random.Random(turn).shuffle(sizes)
        for place, size in enumerate(sizes):
            yield f"IMIX, {size} bytes", sized(size, turn * 16 + place)


CAPTURES: dict[str, Callable[[], Frames]] = {
    "lengths_60_200": lengths_60_200,
    "boundaries": boundaries,
    "oversize": oversize,
    "short": short,
    "vlan": vlan,
    "ipv4": ipv4,
    "ipv6": ipv6,
    "fragments": fragments,
    "tunnels": tunnels,
    "inner": inner,
    "rocev2": rocev2,
    "esp": esp,
    "pause": pause,
    "arp_l2": arp_l2,
    "malformed": malformed,
    "imix": imix,
}
"""File name without its ending, and what makes the frames and their comments."""


def make(folder: Path) -> list[Path]:
    """Write all captures into the folder; returns their paths."""
    paths = []
    for name, frames in CAPTURES.items():
        comments, data = zip(*frames(), strict=True)
        times, now = [], START_NS * 25
        for frame in data:
            times.append(now // 25)
            now += (max(len(frame), MIN) + WIRE_OVERHEAD) * 8
        path = folder / f"scapy_{name}.pcapng"
        write_capture(path, Batch.of(data, time_ns=times), comments)
        paths.append(path)
    return paths


if __name__ == "__main__":
    for made in make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(f"{made.stat().st_size:7} {made}")
