"""Golden model of the parser, tunnels: VXLAN, GENEVE and the headers inside.

Sweep:    both tunnels over both IPs, every layer in them with 0 to 3 tags, GENEVE options of 0 to 63 words; each code;
          every frame cut at every byte; each length field at every wrong value around its right one
Stimulus: bytes written down after the pictures of the RFCs; frames of mutations.py, which knows what it built; frames
          made by Scapy
Checks:   every field, written down here; against the builder; against Scapy's dissection; the codes' order; a parser
          that reads no tunnels says what it always said
Timing:   the latency and a(i) of each case, written down here; at most PARSE_BYTES / 16 + 4
"""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest
from scapy.all import (
    ESP,
    ICMP,
    IP,
    TCP,
    UDP,
    Dot1AD,
    Dot1Q,
    Ether,
    ICMPv6EchoRequest,
    IPOption_NOP,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    PadN,
    Raw,
)
from scapy.contrib.geneve import GENEVE, GeneveOptions
from scapy.layers.vxlan import VXLAN

from models import meta
from models.frames import Batch, Edge
from models.meta import Code
from models.nic import NicPortModel, reference_code
from models.parser import INNER_FIELDS, PARSER_FIELDS, TUNNEL_FIELDS, Parsed, ParserModel
from tests.parser.mutations import (
    AH,
    CTAG,
    DESTINATION,
    FRAGMENT,
    ROUTING,
    STAG,
    TUNNEL_KINDS,
    Built,
    Shape,
    build,
    deep_tunnels,
    mutated,
    random_tunnel,
    truncations,
    tunnel_shapes,
    wrong_lengths,
)
from tests.parser.test_model import OWN_FIELDS, SHARED_FIELDS, as_scapy_says, patch, set_fields, verdict

MODEL = ParserModel(256, tunnel=True)
BLIND = ParserModel(256)
"""Reads no tunnels."""
NONE, GOOD, BAD, UNKNOWN = range(4)
TUNNEL_CODES = (Code.TUNNEL_TRUNCATED, Code.BAD_TUNNEL)


def parse(frame: bytes, bad: int = 0) -> Parsed:
    return MODEL.parse(frame, bad)


# Bytes after the pictures of the RFCs

VXLAN_OVER_IPV4 = bytes.fromhex(
    """
    02aa00000001 02aa00000002 8100 2064 0800
    4500 005e 0001 4000 4011 4e50 c0000201 c6336409
    d431 12b5 004a 0000
    08000000 12345600
    0c0000000001 0c0000000002 88a8 6fff 0800
    4588 0028 0007 0000 3f06 673f 0a000001 0a000002
    01bb c000 00000001 00000002 5a12 ffff 0000 0000
    """
)
"""RFC 7348 section 5: outer Ethernet with a tag, IPv4, UDP to 4789, VXLAN, inner Ethernet with a tag, IPv4, TCP."""

VXLAN_OVER_IPV6 = bytes.fromhex(
    """
    02aa00000001 02aa00000002 86dd
    60000000 004e 11 40 20010db8000000000000000000000001 20010db8000000000000000000000002
    d431 12b5 004e 0000
    0c000000 00000100
    0c0000000001 0c0000000002 86dd
    6b812345 0008 3a ff fe800000000000000000000000000001 fe800000000000000000000000000002
    8703 0000 00000000
    """
)
"""RFC 7348 section 5, the picture over IPv6: IPv6 and ICMPv6 inside. A flag that must be ignored is set beside I."""

GENEVE_OVER_IPV4 = bytes.fromhex(
    """
    02aa00000001 02aa00000002 0800
    4500 005a 0002 0000 ff11 cf52 c0000201 c6336409
    d431 17c1 0046 f080
    02 c0 6558 00abcd 00
    ff01 80 01 deadbeef
    0c0000000001 0c0000000002 0800
    4500 0020 0003 4000 1e11 45c5 0a010101 0a020202
    0035 c000 000c 0000
    01020304
    """
)
"""RFC 8926 sections 3.1, 3.4 and 3.5: O and C set, a critical option of one word; Ethernet, IPv4 and UDP inside."""

GENEVE_OVER_IPV6 = bytes.fromhex(
    """
    02aa00000001 02aa00000002 86dd
    60000000 002c 11 40 20010db8000000000000000000000001 20010db8000000000000000000000002
    d431 17c1 002c 0000
    00 00 0800 ffffff 00
    4503 001c 0004 0000 0a32 959c 0a030303 0a040404
    deadbeef 00000009
    """
)
"""RFC 8926 sections 3.2 and 3.4: no option, the protocol is IPv4; ESP inside."""

PICTURES: dict[str, tuple[bytes, dict[str, int], list[int], int, int]] = {
    # frame, its fields that aren't 0, a(i) of its layers, latency, tuser
    "VXLAN over IPv4": (
        VXLAN_OVER_IPV4,
        {
            "dst_mac": 0x02AA00000001,
            "src_mac": 0x02AA00000002,
            "ethertype": 0x0800,
            "vlan_count": 1,
            "vlan0": 0x2064,
            "l3_kind": 1,
            "l3_offset": 18,
            "l3_length": 94,
            "ip_src": 0xC0000201,
            "ip_dst": 0xC6336409,
            "ttl": 64,
            "protocol": 17,
            "protocol_offset": 27,
            "l3_payload_offset": 38,
            "ip_checksum": GOOD,
            "dont_fragment": 1,
            "l4_kind": 2,
            "l4_offset": 38,
            "payload_offset": 112,
            "src_port": 0xD431,
            "dst_port": 4789,
            "udp_length": 74,
            "tcp_flags": 0xA12,
            "tunnel_kind": 1,
            "tunnel_flags": 0x08,
            "vni": 0x123456,
            "inner_dst_mac": 0x0C0000000001,
            "inner_src_mac": 0x0C0000000002,
            "inner_ethertype": 0x0800,
            "inner_vlan_count": 1,
            "inner_vlan0": 0x6FFF,
            "inner_vlan0_ad": 1,
            "inner_l3_kind": 1,
            "inner_l3_offset": 72,
            "inner_l3_length": 40,
            "inner_ip_src": 0x0A000001,
            "inner_ip_dst": 0x0A000002,
            "inner_dscp": 34,
            "inner_ttl": 63,
            "inner_protocol": 6,
            "inner_ip_checksum": GOOD,
            "inner_l4_kind": 1,
            "inner_l4_offset": 92,
            "inner_src_port": 443,
            "inner_dst_port": 0xC000,
        },
        [1, 2, 2, 3, 4, 5, 6],
        10,
        NONE << 8,
    ),
    "VXLAN over IPv6": (
        VXLAN_OVER_IPV6,
        {
            "dst_mac": 0x02AA00000001,
            "src_mac": 0x02AA00000002,
            "ethertype": 0x86DD,
            "l3_kind": 2,
            "l3_offset": 14,
            "l3_length": 118,
            "ip_src": 0x20010DB8 << 96 | 1,
            "ip_dst": 0x20010DB8 << 96 | 2,
            "ttl": 64,
            "protocol": 17,
            "protocol_offset": 20,
            "l3_payload_offset": 54,
            "l4_kind": 2,
            "l4_offset": 54,
            "payload_offset": 132,
            "src_port": 0xD431,
            "dst_port": 4789,
            "udp_length": 78,
            "icmp_type": 0x87,
            "icmp_code": 3,
            "tunnel_kind": 1,
            "tunnel_flags": 0x0C,
            "vni": 1,
            "inner_dst_mac": 0x0C0000000001,
            "inner_src_mac": 0x0C0000000002,
            "inner_ethertype": 0x86DD,
            "inner_l3_kind": 2,
            "inner_l3_offset": 84,
            "inner_l3_length": 48,
            "inner_ip_src": 0xFE80 << 112 | 1,
            "inner_ip_dst": 0xFE80 << 112 | 2,
            "inner_dscp": 0x2E,
            "inner_ttl": 255,
            "inner_protocol": 58,
            "inner_l4_kind": 4,
            "inner_l4_offset": 124,
        },
        [0, 3, 3, 4, 5, 7, 8],
        11,
        NONE << 8,
    ),
    "GENEVE over IPv4": (
        GENEVE_OVER_IPV4,
        {
            "dst_mac": 0x02AA00000001,
            "src_mac": 0x02AA00000002,
            "ethertype": 0x0800,
            "l3_kind": 1,
            "l3_offset": 14,
            "l3_length": 90,
            "ip_src": 0xC0000201,
            "ip_dst": 0xC6336409,
            "ttl": 255,
            "protocol": 17,
            "protocol_offset": 23,
            "l3_payload_offset": 34,
            "ip_checksum": GOOD,
            "l4_kind": 2,
            "l4_offset": 34,
            "payload_offset": 100,
            "src_port": 0xD431,
            "dst_port": 6081,
            "udp_length": 70,
            "tunnel_kind": 2,
            "tunnel_flags": 0xC0,
            "vni": 0x00ABCD,
            "inner_dst_mac": 0x0C0000000001,
            "inner_src_mac": 0x0C0000000002,
            "inner_ethertype": 0x0800,
            "inner_l3_kind": 1,
            "inner_l3_offset": 72,
            "inner_l3_length": 32,
            "inner_ip_src": 0x0A010101,
            "inner_ip_dst": 0x0A020202,
            "inner_ttl": 30,
            "inner_protocol": 17,
            "inner_ip_checksum": GOOD,
            "inner_dont_fragment": 1,
            "inner_l4_kind": 2,
            "inner_l4_offset": 92,
            "inner_src_port": 53,
            "inner_dst_port": 0xC000,
            "inner_udp_length": 12,
        },
        [0, 2, 2, 3, 4, 5, 6],
        10,
        GOOD << 8,
    ),
    "GENEVE over IPv6": (
        GENEVE_OVER_IPV6,
        {
            "dst_mac": 0x02AA00000001,
            "src_mac": 0x02AA00000002,
            "ethertype": 0x86DD,
            "l3_kind": 2,
            "l3_offset": 14,
            "l3_length": 84,
            "ip_src": 0x20010DB8 << 96 | 1,
            "ip_dst": 0x20010DB8 << 96 | 2,
            "ttl": 64,
            "protocol": 17,
            "protocol_offset": 20,
            "l3_payload_offset": 54,
            "l4_kind": 2,
            "l4_offset": 54,
            "payload_offset": 98,
            "src_port": 0xD431,
            "dst_port": 6081,
            "udp_length": 44,
            "spi": 0xDEADBEEF,
            "esp_seq": 9,
            "tunnel_kind": 2,
            "vni": 0xFFFFFF,
            "inner_ethertype": 0x0800,
            "inner_l3_kind": 1,
            "inner_l3_offset": 70,
            "inner_l3_length": 28,
            "inner_ip_src": 0x0A030303,
            "inner_ip_dst": 0x0A040404,
            "inner_ecn": 3,
            "inner_ttl": 10,
            "inner_protocol": 50,
            "inner_ip_checksum": GOOD,
            "inner_l4_kind": 5,
            "inner_l4_offset": 90,
        },
        [0, 3, 3, 4, 5, 6],
        10,
        NONE << 8,
    ),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_a_tunnel_after_the_picture_of_its_rfc_is_read_field_by_field(picture: str) -> None:
    frame, fields, layers, cycles, user = PICTURES[picture]
    parsed = parse(frame)
    assert set_fields(parsed) == fields
    assert (parsed.layers, parsed.latency_cycles, parsed.user, parsed.code) == (layers, cycles, user, 0)


# Codes and time


def word(value: int) -> bytes:
    return struct.pack(">H", value)


def made(inner: Shape, kind: str = "vxlan", **fields: Any) -> bytes:
    return build(Shape(l4=kind, inner=inner, **fields)).frame


def piece(frame: bytes, l3: int, length: int) -> bytes:
    """The first piece of the frame's IPv4 packet, so many bytes of it: its UDP length goes beyond it."""
    return patch(patch(frame, l3 + 2, word(length)), l3 + 6, b"\x20\0")


def longer(frame: bytes) -> bytes:
    """VXLAN_OVER_IPV4 with 60 bytes more by its lengths, inside too."""
    for at, value in ((20, 154), (42, 134), (74, 100)):
        frame = patch(frame, at, word(value))
    return frame


EXTENDED = made(Shape(ip=6, extensions=((DESTINATION, 0),)))
"""Ethernet to byte 13, IPv4 33, UDP 41, VXLAN 49, inner Ethernet 63, IPv6 103, extension header 111, UDP 119."""
V4, V6, G4, G6 = VXLAN_OVER_IPV4, VXLAN_OVER_IPV6, GENEVE_OVER_IPV4, GENEVE_OVER_IPV6
THREE_SHORT = ((DESTINATION, 0),) * 3

CODES: dict[str, tuple[bytes, Code, int, list[int], int]] = {
    # frame, code, tunnel_kind, a(i) of its layers, latency
    "VXLAN in a UDP length of 15": (patch(V4, 42, word(15)), Code.TUNNEL_TRUNCATED, 0, [1, 2, 2, 2], 7),
    "VXLAN cut": (V4[:53], Code.TUNNEL_TRUNCATED, 0, [1, 2, 2, 3], 7),
    "VXLAN cut in its first beat": (V4[:48], Code.TUNNEL_TRUNCATED, 0, [1, 2, 2, 2], 7),
    "VXLAN beyond a piece": (piece(V4, 18, 35), Code.TUNNEL_TRUNCATED, 0, [1, 2, 2, 2], 7),
    "VXLAN without I": (patch(V4, 46, b"\xf7"), Code.BAD_TUNNEL, 0, [1, 2, 2, 3], 7),
    "GENEVE in a UDP length of 15": (patch(G4, 38, word(15)), Code.TUNNEL_TRUNCATED, 0, [0, 2, 2, 2], 7),
    "GENEVE cut in 8": (G4[:49], Code.TUNNEL_TRUNCATED, 0, [0, 2, 2, 3], 7),
    "GENEVE beyond a piece": (piece(G4, 14, 35), Code.TUNNEL_TRUNCATED, 0, [0, 2, 2, 2], 7),
    "GENEVE version 1": (patch(G4, 42, b"\x42"), Code.BAD_TUNNEL, 0, [0, 2, 2, 3], 7),
    "GENEVE version 2, options beyond UDP": (patch(G4, 42, b"\xbf"), Code.BAD_TUNNEL, 0, [0, 2, 2, 3], 7),
    "GENEVE options beyond UDP": (patch(G4, 42, b"\x0e"), Code.TUNNEL_TRUNCATED, 0, [0, 2, 2, 3], 7),
    "GENEVE options beyond UDP, not beyond IP": (
        patch(patch(G4, 38, word(31)), 42, b"\x04"),
        Code.TUNNEL_TRUNCATED,
        0,
        [0, 2, 2, 3],
        7,
    ),
    "GENEVE options cut": (patch(G4, 42, b"\x0d")[:80], Code.TUNNEL_TRUNCATED, 0, [0, 2, 2, 4], 7),
    "GENEVE options beyond a piece": (piece(G4, 14, 43), Code.TUNNEL_TRUNCATED, 0, [0, 2, 2, 3], 7),
    "GENEVE options beyond 256": (
        patch(patch(patch(G4, 16, word(2000)), 38, word(1980)), 42, b"\x3f"),
        Code.TOO_DEEP,
        0,
        [0, 2, 2, 3],
        7,
    ),
    "no turn for the tunnel": (
        made(Shape(), ip=6, extensions=((DESTINATION, 19), *THREE_SHORT)),
        Code.TOO_DEEP,
        0,
        [0, 3, 13, 13, 14, 14, 15],
        20,
    ),
    "inner Ethernet cut": (V4[:67], Code.L2_TRUNCATED, 1, [1, 2, 2, 3, 4], 8),
    "inner Ethernet beyond the tunnel": (patch(V4, 42, word(29)), Code.L2_TRUNCATED, 1, [1, 2, 2, 3, 3], 8),
    "inner Ethernet beyond 256": (made(Shape(), "geneve", tunnel_options=50), Code.TOO_DEEP, 2, [0, 2, 2, 15, 15], 19),
    "inner tag beyond the tunnel": (patch(V4, 42, word(33)), Code.L2_TRUNCATED, 1, [1, 2, 2, 3, 4], 8),
    "three inner tags": (made(Shape((CTAG, STAG, CTAG))), Code.TOO_DEEP, 1, [0, 2, 2, 3, 4], 8),
    "inner IPv4 cut": (V4[:91], Code.L3_TRUNCATED, 1, [1, 2, 2, 3, 4, 5], 9),
    "inner IPv4 beyond the tunnel": (patch(V4, 42, word(53)), Code.L3_TRUNCATED, 1, [1, 2, 2, 3, 4, 4], 9),
    "inner IPv4 options cut": (patch(longer(V4), 72, b"\x4f"), Code.L3_TRUNCATED, 1, [1, 2, 2, 3, 4, 6], 9),
    "inner IPv4 version": (patch(V4, 72, b"\x65"), Code.BAD_IP_VERSION, 1, [1, 2, 2, 3, 4, 5], 9),
    "inner IPv6 version": (patch(V6, 84, b"\x4b"), Code.BAD_IP_VERSION, 1, [0, 3, 3, 4, 5, 7], 10),
    "inner IHL 4": (patch(V4, 72, b"\x44"), Code.BAD_IHL, 1, [1, 2, 2, 3, 4, 5], 9),
    "inner total length 19": (patch(V4, 74, word(19)), Code.BAD_L3_LENGTH, 1, [1, 2, 2, 3, 4, 5], 9),
    "inner IPv4 packet beyond UDP": (patch(V4, 74, word(41)), Code.BAD_L3_LENGTH, 1, [1, 2, 2, 3, 4, 5], 9),
    "inner IPv6 packet beyond UDP": (patch(V6, 88, word(9)), Code.BAD_L3_LENGTH, 1, [0, 3, 3, 4, 5, 7], 10),
    "inner IPv4 packet beyond UDP, routed": (patch(G6, 72, word(29)), Code.BAD_L3_LENGTH, 2, [0, 3, 3, 4, 5], 9),
    "inner extension cut": (EXTENDED[:110], Code.EXT_TRUNCATED, 1, [0, 2, 2, 3, 3, 6, 6], 10),
    "inner extension beyond its packet": (
        patch(EXTENDED, 68, word(7)),
        Code.EXT_TRUNCATED,
        1,
        [0, 2, 2, 3, 3, 6, 6],
        10,
    ),
    "five inner extensions": (
        made(Shape(ip=6, extensions=((DESTINATION, 0),) * 5)),
        Code.TOO_DEEP,
        1,
        [0, 2, 2, 3, 3, 6, 6, 7, 7, 8, 8],
        14,
    ),
    "no turn inside": (
        made(
            Shape(extensions=((AH, 0),) * 2),
            "geneve",
            ip=6,
            extensions=((DESTINATION, 14), *THREE_SHORT),
            bridged=False,
        ),
        Code.TOO_DEEP,
        2,
        [0, 3, 10, 11, 11, 12, 12, 13, 14, 15],
        20,
    ),
    "inner TCP cut": (V4[:111], Code.L4_TRUNCATED, 1, [1, 2, 2, 3, 4, 5, 6], 10),
    "inner TCP beyond its packet": (patch(V4, 74, word(39)), Code.L4_TRUNCATED, 1, [1, 2, 2, 3, 4, 5, 5], 10),
    "inner TCP options beyond its packet": (patch(V4, 104, b"\x60"), Code.L4_TRUNCATED, 1, [1, 2, 2, 3, 4, 5, 6], 10),
    "inner data offset 4": (patch(V4, 104, b"\x40"), Code.BAD_TCP_OFFSET, 1, [1, 2, 2, 3, 4, 5, 6], 10),
    "inner UDP cut": (G4[:99], Code.L4_TRUNCATED, 2, [0, 2, 2, 3, 4, 5, 6], 10),
    "inner UDP length 7": (patch(G4, 96, word(7)), Code.BAD_UDP_LENGTH, 2, [0, 2, 2, 3, 4, 5, 6], 10),
    "inner UDP length one too many": (patch(G4, 96, word(13)), Code.BAD_UDP_LENGTH, 2, [0, 2, 2, 3, 4, 5, 6], 10),
    "inner ICMPv6 cut": (V6[:131], Code.L4_TRUNCATED, 1, [0, 3, 3, 4, 5, 7, 8], 11),
    "inner ESP cut": (G6[:97], Code.L4_TRUNCATED, 2, [0, 3, 3, 4, 5, 6], 10),
    "outer packet beyond the frame": (G4[:102], Code.L3_BEYOND_FRAME, 2, [0, 2, 2, 3, 4, 5, 6], 10),
}


@pytest.mark.parametrize("case", CODES)
def test_each_way_for_a_tunnel_to_be_malformed_has_its_code_and_its_time(case: str) -> None:
    frame, code, kind, layers, cycles = CODES[case]
    parsed = parse(frame)
    assert (Code(parsed.code).name, parsed.layers, parsed.latency_cycles) == (code.name, layers, cycles)
    assert parsed.user & 0xFF == code << 1
    assert parsed.parse_code == (0 if code == Code.L3_BEYOND_FRAME else code)
    assert parsed.tunnel_kind == kind
    if not kind:
        assert not TUNNEL_FIELDS & set(set_fields(parsed))


def test_every_code_that_a_tunnel_can_have_has_a_case() -> None:
    of_udp = {Code.BTH_TRUNCATED, Code.ESP_TRUNCATED}
    assert {code for _, code, _, _, _ in CODES.values()} == {c for c in Code if 32 <= c < 48} - of_udp


@pytest.mark.parametrize("code", TUNNEL_CODES)
def test_drop_marks_the_tunnels_of_its_code_and_no_others(code: Code) -> None:
    frame = next(case[0] for case in CODES.values() if case[1] == code)
    for drop, mark in ((1 << code - 32, 1), (0xFFFF ^ 1 << code - 32, 0)):
        assert ParserModel(256, drop, tunnel=True).parse(frame).user & 0xFF == code << 1 | mark


WELL: dict[str, tuple[Shape, list[int], int]] = {
    "ARP inside": (Shape(l4="vxlan", inner=Shape(ip=0)), [0, 2, 2, 3, 3], 8),
    "MAC control inside, which is not read": (Shape(l4="vxlan", inner=Shape((), 0, 0x8808)), [0, 2, 2, 3, 3], 8),
    "UDP inside": (Shape(l4="vxlan", inner=Shape()), [0, 2, 2, 3, 3, 5, 5], 10),
    "RoCEv2 inside, which is not read": (Shape(l4="vxlan", inner=Shape(l4="roce")), [0, 2, 2, 3, 3, 5, 5], 10),
    "ESP in UDP inside, which is not read": (
        Shape(l4="geneve", inner=Shape(l4="natt_esp")),
        [0, 2, 2, 3, 3, 5, 5],
        10,
    ),
    "a tunnel inside, which is not read": (
        Shape(l4="vxlan", inner=Shape(l4="geneve", inner=Shape())),
        [0, 2, 2, 3, 3, 5, 5],
        10,
    ),
    "IPv6 routed": (Shape(l4="geneve", bridged=False, inner=Shape(ip=6)), [0, 2, 2, 3, 5, 6], 9),
    "something else routed": (Shape(l4="geneve", bridged=False, inner=Shape((), 0, 0x88B5)), [0, 2, 2, 3], 7),
    "an option": (Shape(l4="geneve", tunnel_options=4, inner=Shape()), [0, 2, 2, 4, 4, 6, 6], 10),
    "later piece inside": (Shape(l4="vxlan", inner=Shape(fragment=(1, 0))), [0, 2, 2, 3, 3, 5], 9),
    "later piece outside": (Shape(l4="vxlan", inner=Shape(), fragment=(1, 0)), [0, 2], 5),
    "two tags outside and inside": (
        Shape((STAG, CTAG), l4="vxlan", inner=Shape((STAG, CTAG), 6, l4="tcp")),
        [1, 2, 3, 3, 4, 7, 8],
        11,
    ),
    "four extensions outside and inside": (
        Shape(
            ip=6,
            extensions=((DESTINATION, 0),) * 4,
            l4="vxlan",
            inner=Shape(ip=6, extensions=((DESTINATION, 0),) * 4),
        ),
        [0, 3, 3, 4, 4, 5, 5, 6, 7, 9, 10, 10, 11, 11, 12],
        19,
    ),
}


@pytest.mark.parametrize("case", WELL)
def test_a_tunnel_that_ends_well_takes_the_time_of_its_layers(case: str) -> None:
    shape, layers, cycles = WELL[case]
    parsed = parse(build(shape).frame)
    assert (parsed.code, parsed.layers, parsed.latency_cycles) == (0, layers, cycles)


# Fields


@pytest.mark.parametrize("shape", tunnel_shapes(), ids=str)
def test_a_whole_tunnel_says_what_it_was_built_of(shape: Shape) -> None:
    built = build(shape)
    parsed = parse(built.frame)
    assert set_fields(parsed) == built.meta
    assert (parsed.code, verdict(parsed)) == (0, built.l4_checksum)


def test_random_tunnels_say_what_they_were_built_of(seed: int) -> None:
    rng = random.Random(seed)
    whole, seen = 0, set[str]()
    for _ in range(2000):
        built = build(random_tunnel(rng))
        parsed = parse(built.frame)
        assert parsed.latency_cycles <= 256 // 16 + 4
        if built.fits(256):
            assert (set_fields(parsed), verdict(parsed)) == (built.meta, built.l4_checksum), built
            assert parsed.code == 0
            whole += 1
            seen |= set(set_fields(parsed))
        else:
            assert parsed.code == Code.TOO_DEEP, built
    assert whole > 1000
    assert seen >= TUNNEL_FIELDS


def test_every_option_length_of_geneve_moves_what_is_behind_it() -> None:
    for words in range(64):
        parsed = ParserModel(512, tunnel=True).parse(made(Shape(l4="tcp"), "geneve", tunnel_options=words))
        assert (parsed.code, parsed.inner_l3_offset, parsed.inner_l4_offset) == (0, 64 + 4 * words, 84 + 4 * words)
    parsed = parse(made(Shape(), "geneve", tunnel_options=51))
    assert (parsed.code, parsed.tunnel_kind, parsed.payload_offset) == (Code.TOO_DEEP, 2, 254)
    parsed = parse(made(Shape(), "geneve", tunnel_options=52))
    assert (parsed.code, parsed.tunnel_kind, parsed.payload_offset) == (Code.TOO_DEEP, 0, 42)


def test_tunnels_too_deep_are_named_whatever_they_are_made_of() -> None:
    deep = 0
    for built in deep_tunnels(256):
        parsed = parse(built.frame)
        if built.fits(256):
            assert (parsed.code, set_fields(parsed)) == (0, built.meta)
        else:
            assert parsed.code == Code.TOO_DEEP
            deep += 1
        assert parsed.latency_cycles <= 256 // 16 + 4
    assert deep > 300


def tunnel_as_scapy_says(frame: bytes) -> dict[str, int]:
    """The parser's fields of a tunnel, as Scapy dissects its bytes."""
    packet = Ether(frame)
    header = packet[VXLAN if VXLAN in packet else GENEVE]
    inner, at = header.payload, len(frame) - len(header.payload)
    if isinstance(header, VXLAN):
        said = {"tunnel_kind": 1, "tunnel_flags": int(header.flags), "vni": header.vni}
    else:
        flags = header.oam << 7 | header.critical << 6 | header.reserved
        said = {"tunnel_kind": 2, "tunnel_flags": flags, "vni": header.vni, "inner_ethertype": header.proto}
    inside = as_scapy_says(inner, at)
    header.remove_payload()
    said |= as_scapy_says(packet) | {"payload_offset": at}
    outside_only = ("protocol_offset", "l3_payload_offset", "segments_left")
    said |= {INNER_FIELDS.get(name, name): value for name, value in inside.items() if name not in outside_only}
    return {name: value for name, value in said.items() if value}


OUTER = Ether(dst="02:11:22:33:44:55", src="02:66:77:88:99:aa")
OUTERS = {
    "IPv4": OUTER / IP(src="192.0.2.1", dst="198.51.100.9", tos=0xB9, ttl=17, flags="DF"),
    "tagged IPv4 with options": OUTER / Dot1Q(prio=5, vlan=0x123) / IP(options=[IPOption_NOP()] * 8),
    "IPv6": OUTER / IPv6(src="2001:db8::1", dst="2001:db8:ff::9", tc=0x6A, hlim=33),
    "tagged IPv6 with an extension": OUTER
    / Dot1AD(vlan=7)
    / IPv6(src="2001:db8::1", dst="2001:db8:ff::9")
    / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)]),
}
OPTIONS = GeneveOptions(classid=0xFF01, type=0x80, data=b"\1\2\3\4")
TUNNELS = {
    "VXLAN": UDP(sport=50000, dport=4789) / VXLAN(flags=0x08, vni=0xABCDEF, reserved2=0x5A),
    "GENEVE": UDP(sport=50000, dport=6081) / GENEVE(vni=0x123456, proto=0x6558, oam=1),
    "GENEVE with options": UDP(sport=50000, dport=6081)
    / GENEVE(vni=1, proto=0x6558, critical=1, options=[OPTIONS, OPTIONS]),
}
INSIDE = Ether(dst="0e:11:22:33:44:55", src="0e:66:77:88:99:aa")
INNERS = {
    "TCP in IPv4": INSIDE / IP(src="10.1.2.3", dst="10.4.5.6", tos=7, ttl=3) / TCP(sport=1, dport=2, flags="SAEC"),
    "UDP in tagged IPv4": INSIDE
    / Dot1AD(prio=7, vlan=4094)
    / Dot1Q(prio=1, vlan=1)
    / IP(src="10.1.2.3", dst="10.4.5.6", options=[IPOption_NOP()] * 4, flags="DF")
    / UDP(sport=1111, dport=2222)
    / Raw(b"odd length!"),
    "ICMP in IPv4": INSIDE / IP(src="10.1.2.3", dst="10.4.5.6") / ICMP(type=8, code=3),
    "ESP in IPv4": INSIDE / IP(src="10.1.2.3", dst="10.4.5.6") / ESP(spi=0xDEADBEEF, seq=5, data=b"\x33" * 24),
    "TCP in IPv6": INSIDE / IPv6(src="fd00::1", dst="fd00::2", tc=0x91, hlim=9) / TCP(sport=443, dport=50123),
    "ICMPv6 in tagged IPv6": INSIDE / Dot1Q(vlan=9) / IPv6(src="fd00::1", dst="fd00::2") / ICMPv6EchoRequest(code=2),
    "UDP in IPv6 with extensions": INSIDE
    / IPv6(src="fd00::1", dst="fd00::2")
    / IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)])
    / IPv6ExtHdrFragment(id=7)
    / UDP(sport=5, dport=6),
    "later piece in IPv4": INSIDE / IP(src="10.1.2.3", dst="10.4.5.6", frag=5, flags="MF", proto=17) / Raw(b"x" * 16),
}


@pytest.mark.parametrize("inner", INNERS)
@pytest.mark.parametrize("tunnel", TUNNELS)
@pytest.mark.parametrize("outer", OUTERS)
def test_a_tunnel_made_by_scapy_is_read_as_scapy_reads_it(outer: str, tunnel: str, inner: str) -> None:
    frame = bytes(OUTERS[outer] / TUNNELS[tunnel] / INNERS[inner])
    parsed = parse(frame)
    assert set_fields(parsed) == tunnel_as_scapy_says(frame)
    assert (parsed.code, verdict(parsed)) == (0, GOOD)


@pytest.mark.parametrize("inner", [name for name in INNERS if "tagged" not in name])
@pytest.mark.parametrize("outer", OUTERS)
def test_ip_in_geneve_made_by_scapy_is_read_as_scapy_reads_it(outer: str, inner: str) -> None:
    packet = INNERS[inner].payload
    proto = 0x0800 if isinstance(packet, IP) else 0x86DD
    geneve = UDP(sport=50000, dport=6081) / GENEVE(vni=0x123456, proto=proto, options=[OPTIONS])
    frame = bytes(OUTERS[outer] / geneve / packet)
    parsed = parse(frame)
    assert set_fields(parsed) == tunnel_as_scapy_says(frame)
    assert (parsed.inner_ethertype, parsed.inner_dst_mac, parsed.code) == (proto, 0, 0)


# Where the chain leads


@pytest.mark.parametrize(
    ("ports", "layer"),
    [
        ((4500, 4789), "vxlan"),
        ((4500, 6081), "geneve"),
        ((4789, 4791), "roce"),
        ((6081, 4500), "natt"),
        ((4789, 4500), "natt"),
        ((4789, 53), "none"),
        ((6081, 53), "none"),
        ((4789, 6081), "geneve"),
        ((6081, 4789), "vxlan"),
    ],
)
def test_the_destination_port_names_the_tunnel_and_goes_before_port_4500(ports: tuple[int, int], layer: str) -> None:
    # 08 is I in VXLAN, and eight words of options in GENEVE; neither type inside is known.
    payload = b"\x08\0\0\0\0\0\1\0" + bytes(60)
    parsed = parse(bytes(OUTER / IP() / UDP(sport=ports[0], dport=ports[1]) / Raw(payload)))
    said = (parsed.tunnel_kind, parsed.roce, parsed.natt, parsed.code)
    assert said == {"vxlan": (1, 0, 0, 0), "geneve": (2, 0, 0, 0), "roce": (0, 1, 0, 0), "natt": (0, 0, 1, 0)}.get(
        layer, (0, 0, 0, 0)
    )
    assert BLIND.parse(bytes(OUTER / IP() / UDP(sport=ports[0], dport=ports[1]) / Raw(payload))).tunnel_kind == 0


@pytest.mark.parametrize("flags", [0x08, 0x09, 0x88, 0xFF])
def test_of_the_flags_of_vxlan_only_i_is_asked_for(flags: int) -> None:
    """RFC 7348 section 5: the other bits are ignored on receipt."""
    parsed = parse(patch(V4, 46, bytes([flags])))
    assert (parsed.code, parsed.tunnel_flags, parsed.inner_l4_kind) == (0, flags, 1)
    assert parse(patch(V4, 46, bytes([flags & 0xF7]))).code == Code.BAD_TUNNEL


@pytest.mark.parametrize("protocol", [0x0000, 0x0806, 0x6558, 0x8100, 0x8808, 0x88A8, 0x05DC, 0xFFFF])
def test_only_ethernet_and_ip_are_read_in_geneve(protocol: int) -> None:
    frame = patch(G4, 44, word(protocol))
    parsed = parse(frame)
    if protocol == 0x6558:
        assert (parsed.inner_ethertype, parsed.inner_l4_kind, len(parsed.layers)) == (0x0800, 2, 7)
    else:
        assert (parsed.inner_ethertype, parsed.inner_dst_mac, len(parsed.layers)) == (protocol, 0, 4)
    assert (parsed.code, parsed.tunnel_kind, parsed.mac_control) == (0, 2, 0)


def test_the_smaller_of_udp_and_ip_ends_what_is_in_a_tunnel() -> None:
    """Bytes behind the UDP datagram are none of the tunnel's, though they are the packet's."""
    shorter = patch(G4, 38, word(66))
    assert parse(shorter).code == Code.BAD_L3_LENGTH
    assert parse(patch(shorter, 74, word(28))).code == Code.BAD_UDP_LENGTH
    assert parse(patch(patch(shorter, 74, word(28)), 96, word(8))).code == 0
    lying = patch(patch(G4, 74, word(28)), 96, word(9))
    assert parse(lying).code == Code.BAD_UDP_LENGTH
    assert parse(patch(lying, 96, word(8))).code == 0


def test_padding_in_the_tunnel_is_no_payload_of_the_packet_in_it() -> None:
    frame = patch(G4, 74, word(27))
    assert parse(frame).code == Code.L4_TRUNCATED
    assert parse(patch(patch(G4, 74, word(28)), 96, word(8))).code == 0


def test_a_packet_in_a_piece_may_be_longer_than_the_piece() -> None:
    """The outer packet is the first piece of one: its headers inside are read as far as they are there."""
    cut = piece(V4, 18, 94)
    long = patch(cut, 74, word(1400))
    parsed = parse(long)
    assert (parsed.code, parsed.inner_l3_length, parsed.inner_l4_kind, parsed.fragment) == (0, 1400, 1, 1)
    assert parse(patch(long, 20, word(93))).code == Code.L4_TRUNCATED
    assert parse(patch(long, 20, word(73))).code == Code.L3_TRUNCATED
    assert parse(patch(patch(V4, 74, word(1400)), 20, word(94))).code == Code.BAD_L3_LENGTH


def test_a_udp_datagram_in_a_piece_may_be_longer_than_the_piece() -> None:
    """As the packet around it: neither lies, the outer packet goes on in another piece."""
    cut = piece(G4, 14, 86)
    parsed = parse(cut)
    assert (parsed.code, parsed.inner_l3_length, parsed.inner_udp_length) == (0, 32, 12)
    assert (parsed.inner_l4_kind, parsed.payload_offset, parsed.inner_fragment, parsed.fragment) == (2, 100, 0, 1)
    assert parse(patch(cut, 96, word(7))).code == Code.BAD_UDP_LENGTH
    assert parse(patch(cut, 16, word(85))).code == Code.L4_TRUNCATED
    assert parse(patch(cut, 20, b"\0\0")).code == Code.BAD_UDP_LENGTH
    whole = patch(G4, 20, b"\x20\0")
    assert (parse(patch(whole, 96, word(4000))).code, parse(patch(G4, 96, word(4000))).code) == (0, Code.BAD_UDP_LENGTH)


def test_a_first_piece_in_a_tunnel_may_hold_less_than_its_udp_length() -> None:
    longer_udp = patch(G4, 96, word(4000))
    assert parse(longer_udp).code == Code.BAD_UDP_LENGTH
    parsed = parse(patch(longer_udp, 78, b"\x20\0"))
    assert (parsed.code, parsed.inner_udp_length, parsed.inner_fragment, parsed.fragment) == (0, 4000, 1, 0)
    parsed = parse(patch(G4, 78, b"\0\1"))
    assert (parsed.code, parsed.inner_frag_offset, parsed.inner_l4_kind, parsed.payload_offset) == (0, 1, 0, 58)


def test_the_checksum_verdict_is_that_of_the_udp_outside() -> None:
    cases: dict[Shape, int] = {
        Shape(l4="vxlan", inner=Shape(checksum="bad")): GOOD,
        Shape(l4="vxlan", inner=Shape(), checksum="bad"): BAD,
        Shape(l4="geneve", inner=Shape(l4="tcp"), checksum="none"): NONE,
        Shape(l4="geneve", inner=Shape(fragment=(0, 1))): GOOD,
        Shape(l4="geneve", inner=Shape(), fragment=(0, 1)): UNKNOWN,
        Shape(l4="vxlan", inner=Shape(ip=6, extensions=((ROUTING, 0),), segments_left=1)): GOOD,
        Shape(l4="vxlan", inner=Shape(), ip=6, extensions=((ROUTING, 0),), segments_left=1): UNKNOWN,
        Shape(l4="vxlan", inner=Shape(ip=6, extensions=((FRAGMENT, 0),), fragment=(0, 1))): GOOD,
    }
    for shape, expected in cases.items():
        parsed = parse(build(shape).frame)
        assert (parsed.code, verdict(parsed)) == (0, expected), shape
    assert verdict(parse(GENEVE_OVER_IPV4, bad=1)) == UNKNOWN
    failed = parse(build(Shape(l4="vxlan", inner=Shape((CTAG,) * 3))).frame)
    assert (failed.code, verdict(failed)) == (Code.TOO_DEEP, GOOD)


def test_the_header_checksum_inside_is_judged_apart_from_that_outside() -> None:
    for outside in (True, False):
        for inside in (True, False):
            parsed = parse(made(Shape(ip_checksum=inside, options=2), ip_checksum=outside))
            assert (parsed.ip_checksum == GOOD, parsed.inner_ip_checksum == GOOD) == (outside, inside)


# Broken tunnels


def own_fields(name: str) -> set[str]:
    """Fields that only this layer of a tunnel sets."""
    if name in TUNNEL_KINDS:
        return {"tunnel_kind", "tunnel_flags", "vni"}
    layer = name.removeprefix("inner ")
    if layer == name:
        return OWN_FIELDS[name]
    return {INNER_FIELDS.get(field, field) for field in OWN_FIELDS[layer]}


SEVERAL = SHARED_FIELDS | {INNER_FIELDS.get(name, name) for name in SHARED_FIELDS} | {"inner_ethertype"}
"""Set by more than one layer."""


@pytest.mark.parametrize("shape", tunnel_shapes()[::2], ids=str)
def test_a_tunnel_cut_at_any_byte_names_the_layer_that_is_cut_and_keeps_those_before(shape: Shape) -> None:
    built = build(shape)
    whole = parse(built.frame)
    for frame in truncations(built.frame):
        parsed = parse(frame)
        at = len(frame)
        cut = next((layer for layer in built.layers if layer.end > at), None)
        code = cut.truncated if cut else Code.L3_BEYOND_FRAME if at < built.l3_end else Code.NONE
        assert parsed.code == code, at
        before = built.layers.index(cut) if cut else len(built.layers)
        assert parsed.layers == whole.layers[:before] + ([(at - 1) // 16] if cut else []), at
        own = {name for layer in built.layers[:before] for name in own_fields(layer.name)}
        for name in set(PARSER_FIELDS) - SEVERAL:
            assert getattr(parsed, name) == (getattr(whole, name) if name in own else 0), (at, name)
        if not cut:
            assert set_fields(parsed) == built.meta


def expected_of(built: Built, name: str, value: int, at: int) -> Code | None:
    """Code of a tunnel whose length field ``name``, at byte ``at``, is ``value``, where it is plain."""
    shape = built.meta
    tunnel = next(layer for layer in built.layers if layer.name in TUNNEL_KINDS)
    udp_end = tunnel.start - 8 + shape["udp_length"]
    if name == "inner version":
        return Code.BAD_IP_VERSION
    if name == "tunnel version":
        return Code.BAD_TUNNEL
    if name == "options" and 16 + 4 * value > shape["udp_length"]:
        return Code.TUNNEL_TRUNCATED
    if name == "udp_length" and 8 <= value < 16:
        return Code.TUNNEL_TRUNCATED
    if name == "inner ihl" and value < 5:
        return Code.BAD_IHL
    if name in ("inner total_length", "inner payload_length"):
        ipv4 = name == "inner total_length"
        length = value if ipv4 else value + 40
        if not shape.get("fragment") and at - (2 if ipv4 else 4) + length > udp_end:
            return Code.BAD_L3_LENGTH
    if name == "inner data_offset" and value < 5:
        return Code.BAD_TCP_OFFSET
    if name == "inner udp_length":
        whole = not shape.get("fragment") and not shape.get("inner_fragment")
        end = min(udp_end, shape["inner_l3_offset"] + shape["inner_l3_length"])
        if value < 8 or (whole and at - 4 + value > end):
            return Code.BAD_UDP_LENGTH
    return None


@pytest.mark.parametrize("shape", tunnel_shapes()[1::2], ids=str)
def test_a_wrong_length_in_a_tunnel_is_named_or_harmless(shape: Shape) -> None:
    built = build(shape)
    for field, value, frame in wrong_lengths(built):
        parsed = parse(frame)
        assert parsed.latency_cycles <= 20
        expected = expected_of(built, field.name, value, field.at)
        if expected is not None:
            assert Code(parsed.code).name == expected.name, (field, value)


def test_nothing_mutated_in_a_tunnel_makes_a_field_too_wide_or_the_parser_too_late(seed: int) -> None:
    built = [build(shape).frame for shape in tunnel_shapes()]
    codes = set()
    for frame in mutated(random.Random(seed), 6000, built, 256):
        parsed = parse(frame)
        meta.pack(parsed.meta_fields())
        assert 3 <= parsed.latency_cycles <= 256 // 16 + 4
        assert all(0 <= beat <= (len(frame) - 1) // 16 for beat in parsed.layers)
        codes.add(parsed.code)
    assert codes >= set(TUNNEL_CODES)
    assert codes <= {0, *range(32, 47)}


# Without tunnels


def test_a_parser_that_reads_no_tunnels_says_what_is_outside_and_nothing_else(seed: int) -> None:
    rng = random.Random(seed)
    built = [build(shape) for shape in tunnel_shapes()] + [build(random_tunnel(rng)) for _ in range(500)]
    for whole in (b for b in built if b.fits(256)):
        outer = whole.outer()
        parsed = BLIND.parse(whole.frame)
        assert (set_fields(parsed), parsed.code, verdict(parsed)) == (outer.meta, 0, whole.l4_checksum)
        assert len(parsed.layers) == len(outer.layers)
    for frame in [case[0] for case in CODES.values()]:
        blind, parsed = BLIND.parse(frame), parse(frame)
        assert blind.code not in TUNNEL_CODES
        assert blind.layers == parsed.layers[: len(blind.layers)]
        assert not TUNNEL_FIELDS & set(set_fields(blind))


def test_frames_without_a_tunnel_are_read_alike_with_and_without_tunnels(seed: int) -> None:
    for frame in mutated(random.Random(seed), 3000):
        seeing, blind = parse(frame), BLIND.parse(frame)
        assert seeing == blind or seeing.dst_port in (4789, 6081)


# The port


def test_a_port_whose_parsers_read_tunnels_passes_on_what_they_say() -> None:
    model = NicPortModel(parse_bytes=256, tunnel=True)
    frames = [picture[0] for picture in PICTURES.values()] + [case[0] for case in CODES.values()]
    outcome = model.play(Batch.of(frames))
    words = [meta.unpack(meta.word_of(row)) for row in outcome.meta]
    for i, frame in enumerate(frames):
        parsed = parse(frame)
        assert {name: words[i][name] for name in PARSER_FIELDS} == parsed.meta_fields()
        assert outcome.user[i] == parsed.user
        # The ACL looks twice at a tunnel.
        again = 4 if words[i]["tunnel_kind"] else 0
        for edge, more in ((Edge.WIRE, 25), (Edge.HOST, 22)):
            assert model.latency_cycles(edge, frame) == -(-len(frame) // 16) + more + again + parsed.latency_cycles
    bad = sum(case[1] == Code.BAD_TUNNEL for case in CODES.values())
    assert model.counters["parser_rx.bad_tunnel"] == bad > 0
    assert not model.check(Batch.of(frames), outcome)
    assert any("meta.inner" in m.what for m in NicPortModel(parse_bytes=256).check(Batch.of(frames), outcome))


def test_a_port_drops_tunnels_by_policy() -> None:
    frame = CODES["VXLAN without I"][0]
    drop = 1 << Code.BAD_TUNNEL - 32
    with_tunnels = reference_code(Edge.WIRE, frame, 0, 3, 9596, 2048, drop, parse_bytes=256, tunnel=True)
    assert (with_tunnels, reference_code(Edge.WIRE, frame, 0, 3, 9596, 2048, drop)) == (
        Code.BAD_TUNNEL,
        Code.DELIVERED,
    )
    with pytest.raises(ValueError, match="multiple of 16"):
        NicPortModel(parse_bytes=100)
