"""Golden model of the parser, one frame at a time: fields, codes, checksum verdicts, time.

Sweep:    every layer after every layer that may precede it, with 0 to 3 tags; each code; each row of the table of a(i);
          every frame cut at every byte; each length field at every wrong value around its right one
Stimulus: the standards' examples; frames built by mutations.py, which knows what it built; frames made by Scapy
Checks:   against the builder, against Scapy's dissection, against values written down here; a field never exceeds its
          width; the codes' order; the register ``drop``
Timing:   the latency of each case written down here; at most PARSE_BYTES / 16 + 4; a(i) of each outcome of a layer
"""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    IPv6ExtHdrRouting,
    PadN,
    Raw,
    bind_layers,
)
from scapy.contrib.mac_control import MACControlClassBasedFlowControl, MACControlPause
from scapy.contrib.roce import BTH
from scapy.layers.inet import in4_chksum
from scapy.layers.inet6 import in6_chksum
from scapy.layers.ipsec import AH

from models import meta
from models.meta import Code
from models.parser import (
    PARSER_FIELDS,
    Parsed,
    ParserModel,
    first_out,
    first_out_of_arrivals,
    last_out,
    latency,
    ones_complement_sum,
)
from tests.parser.mutations import (
    AH as AH_NUMBER,
)
from tests.parser.mutations import (
    CTAG,
    DESTINATION,
    FRAGMENT,
    HOP_BY_HOP,
    L4_KINDS,
    ROUTING,
    STAG,
    Shape,
    build,
    deep_chains,
    mutated,
    nested_pieces,
    plain_sum,
    random_shape,
    shapes,
    truncations,
    wrong_lengths,
)

MODEL = ParserModel()
MAC = bytes(range(12))
NONE, GOOD, BAD, UNKNOWN = range(4)


def parse(frame: bytes, bad: int = 0) -> Parsed:
    return MODEL.parse(frame, bad)


def verdict(parsed: Parsed) -> int:
    return parsed.user >> 8


def set_fields(parsed: Parsed) -> dict[str, int]:
    return {name: value for name, value in parsed.meta_fields().items() if value}


def patch(frame: bytes, at: int, new: bytes) -> bytes:
    return frame[:at] + new + frame[at + len(new) :]


# The model's face


def test_every_field_that_the_parser_writes_is_in_what_the_model_says() -> None:
    assert [field.name for field in meta.FIELDS if field.writer == "parser"] == list(PARSER_FIELDS)
    assert list(Parsed().meta_fields()) == list(PARSER_FIELDS)
    built = build(Shape(l4="roce"))
    word = meta.pack(parse(built.frame).meta_fields())
    assert {name: value for name, value in meta.unpack(word).items() if value} == built.meta


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ParserModel(parse_bytes=100), "multiple of 16"),
        (lambda: ParserModel(parse_bytes=16), "at least 32"),
        (lambda: ParserModel(drop=1 << 16), "16 bits"),
        (lambda: MODEL.parse(b""), "at least one byte"),
        (lambda: MODEL.parse(b"\0", bad=2), "reason"),
        (lambda: MODEL.parse(b"\0", bad=256), "reason"),
    ],
)
def test_what_no_stream_can_carry_is_refused(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


# Checksums


def test_the_sum_of_rfc_1071_section_3_is_ddf2_in_either_byte_order() -> None:
    assert ones_complement_sum(bytes.fromhex("0001f203f4f5f6f7")) == 0xDDF2
    assert ones_complement_sum(bytes.fromhex("010003f2f5f4f7f6")) == 0xF2DD


@given(st.one_of(st.binary(max_size=70), st.lists(st.sampled_from([0, 0xFF]), max_size=9).map(bytes)))
def test_the_sum_is_that_of_adding_word_by_word(data: bytes) -> None:
    assert ones_complement_sum(data) == plain_sum(data)


def test_a_known_ipv4_header_has_a_good_checksum_and_with_any_bit_changed_a_bad_one() -> None:
    header = bytes.fromhex("45000073000040004011b861c0a80001c0a800c7")
    frame = MAC + b"\x08\x00" + header + struct.pack(">HHHH", 53, 1024, 0x5F, 0) + bytes(0x57)
    assert parse(frame).ip_checksum == GOOD
    for bit in range(8 * 20):
        changed = bytearray(header)
        changed[bit // 8] ^= 1 << bit % 8
        parsed = parse(MAC + b"\x08\x00" + bytes(changed) + frame[34:])
        assert parsed.ip_checksum == (BAD if parsed.l3_kind else NONE), bit


@pytest.mark.parametrize("length", [0, 1, 2, 3, 17, 18, 1471])
@pytest.mark.parametrize("l4", ["tcp", "udp"])
@pytest.mark.parametrize("ip", [4, 6])
def test_a_checksum_over_any_length_is_good_and_with_any_byte_changed_bad(ip: int, l4: str, length: int) -> None:
    built = build(Shape((CTAG,), ip, l4=l4, payload=length, padding=5))
    assert verdict(parse(built.frame)) == GOOD
    size = 8 if l4 == "udp" else 20
    for at in {built.l3_end - length - size, built.l3_end - 1} - {built.l3_end - length - 2}:
        assert verdict(parse(patch(built.frame, at, bytes([built.frame[at] ^ 0x5A])))) == BAD, at


def test_padding_is_no_payload() -> None:
    """A 28-byte IP packet with 0xAA behind it: sums and room end with the packet."""
    built = build(Shape(payload=0, padding=0))
    padded = built.frame + b"\xaa" * 18
    assert verdict(parse(padded)) == GOOD
    assert set_fields(parse(padded)) == built.meta
    for l4, code in (("tcp", Code.L4_TRUNCATED), ("icmp", Code.L4_TRUNCATED), ("esp", Code.L4_TRUNCATED)):
        whole = build(Shape(l4=l4, payload=40))
        short = patch(whole.frame, 16, struct.pack(">H", 27))
        assert parse(short).code == code


def test_a_udp_checksum_of_0_is_none_over_both_versions_and_ffff_is_a_sum_of_0() -> None:
    for ip in (4, 6):
        built = build(Shape(ip=ip, checksum="none"))
        assert verdict(parse(built.frame)) == NONE
        at = built.meta["l4_offset"]
        sent = build(Shape(ip=ip, payload=2)).frame
        # Give the payload the value at which the sum of all but the checksum is 0xFFFF: the field must then be 0xFFFF.
        (checksum,) = struct.unpack_from(">H", sent, at + 6)
        (word,) = struct.unpack_from(">H", sent, at + 8)
        word = (word + checksum) % 0xFFFF
        frame = patch(sent, at + 8, struct.pack(">H", word))
        assert verdict(parse(patch(frame, at + 6, b"\xff\xff"))) == GOOD
        assert verdict(parse(patch(frame, at + 6, b"\x00\x00"))) == NONE


def test_a_tcp_checksum_field_of_0_is_a_value_like_any_other() -> None:
    built = build(Shape(l4="tcp"))
    assert verdict(parse(patch(built.frame, built.meta["l4_offset"] + 16, bytes(2)))) == BAD


def test_the_verdict_is_unknown_for_pieces_routed_cut_and_bad_frames() -> None:
    cases = [
        build(Shape(fragment=(0, 1))).frame,
        build(Shape(ip=6, extensions=((FRAGMENT, 0),), fragment=(0, 1), l4="tcp")).frame,
        build(Shape(ip=6, extensions=((ROUTING, 2),), segments_left=2)).frame,
        build(Shape(ip=6, extensions=((ROUTING, 2), (DESTINATION, 0)), segments_left=1, l4="tcp")).frame,
        build(Shape(payload=40)).frame[:-1],
        build(Shape(l4="tcp", payload=40)).frame[:-1],
    ]
    assert [verdict(parse(frame)) for frame in cases] == [UNKNOWN] * len(cases)
    assert verdict(parse(build(Shape()).frame, bad=1)) == UNKNOWN
    assert verdict(parse(build(Shape(ip=6, extensions=((ROUTING, 2),))).frame)) == GOOD


def test_none_goes_before_unknown() -> None:
    assert verdict(parse(build(Shape(checksum="none", fragment=(0, 1))).frame)) == NONE
    assert verdict(parse(build(Shape(checksum="none")).frame, bad=1)) == NONE
    assert verdict(parse(build(Shape(l4="esp")).frame, bad=1)) == NONE
    assert verdict(parse(build(Shape(fragment=(3, 1))).frame)) == NONE


def test_a_fragment_header_that_says_whole_still_lets_the_sum_be_judged() -> None:
    """RFC 6946: an atomic fragment."""
    built = build(Shape(ip=6, extensions=((FRAGMENT, 0),)))
    parsed = parse(built.frame)
    assert (parsed.fragment, verdict(parsed)) == (0, GOOD)


def test_a_piece_within_a_piece_stays_a_piece() -> None:
    """The second fragment header says whole: its fields replace the first one's, but no sum is judged."""
    built = build(Shape(ip=6, extensions=((FRAGMENT, 0), (FRAGMENT, 0)), fragment=(0, 1)))
    frame = patch(built.frame, 14 + 40 + 8 + 2, b"\0\0")
    parsed = parse(frame)
    assert (parsed.fragment, parsed.more_fragments, verdict(parsed)) == (1, 0, UNKNOWN)
    for frame in nested_pieces():
        parsed = parse(frame)
        first, second = (struct.unpack_from(">H", frame, at)[0] & 0xFFF9 for at in (56, 64))
        assert parsed.fragment == int(bool(first or (second and first < 8)))
        assert verdict(parsed) == (NONE if first > 7 or second > 7 else UNKNOWN if parsed.fragment else GOOD)


def test_a_chain_that_fails_above_udp_keeps_its_verdict() -> None:
    built = build(Shape(l4="udp", payload=4))
    (checksum,) = struct.unpack_from(">H", built.frame, 40)
    moved = (checksum + built.meta["dst_port"] - 4791) % 0xFFFF or 0xFFFF
    frame = patch(patch(built.frame, 36, struct.pack(">H", 4791)), 40, struct.pack(">H", moved))
    parsed = parse(frame)
    assert (parsed.code, parsed.l4_kind, verdict(parsed)) == (Code.BTH_TRUNCATED, 2, GOOD)


# Fields


@pytest.mark.parametrize("shape", shapes(), ids=str)
def test_a_whole_frame_says_what_it_was_built_of(shape: Shape) -> None:
    built = build(shape)
    parsed = parse(built.frame)
    assert set_fields(parsed) == built.meta
    assert (parsed.code, verdict(parsed)) == (0, built.l4_checksum)


def test_random_frames_say_what_they_were_built_of(seed: int) -> None:
    rng = random.Random(seed)
    whole = 0
    for _ in range(3000):
        built = build(random_shape(rng))
        parsed = parse(built.frame)
        if built.fits():
            assert (set_fields(parsed), verdict(parsed)) == (built.meta, built.l4_checksum), built
            assert parsed.code == 0
            whole += 1
        else:
            assert parsed.code == Code.TOO_DEEP, built
    assert whole > 2000


def as_scapy_says(packet: Any, at: int = 0) -> dict[str, int]:
    """The parser's fields of the headers from byte ``at`` of the frame on, as Scapy dissects its bytes."""
    said: dict[str, int] = {}
    tags = 0
    for layer in packet.iterpayloads():
        size = len(layer) - len(layer.payload)
        if isinstance(layer, Ether):
            said |= {"dst_mac": int(layer.dst.replace(":", ""), 16), "src_mac": int(layer.src.replace(":", ""), 16)}
            said |= {"ethertype": layer.type}
        elif isinstance(layer, Dot1Q | Dot1AD):
            said[f"vlan{tags}"] = layer.prio << 13 | layer.dei << 12 | layer.vlan
            said[f"vlan{tags}_ad"] = int(isinstance(layer, Dot1AD))
            tags += 1
            said |= {"ethertype": layer.type, "vlan_count": tags}
        elif isinstance(layer, IP):
            src, dst = (int.from_bytes(bytes(map(int, a.split("."))), "big") for a in (layer.src, layer.dst))
            said |= {"l3_kind": 1, "l3_offset": at, "l3_length": layer.len, "ip_src": src, "ip_dst": dst}
            said |= {"dscp": layer.tos >> 2, "ecn": layer.tos & 3, "ttl": layer.ttl, "protocol": layer.proto}
            said |= {"dont_fragment": int(layer.flags.DF), "more_fragments": int(layer.flags.MF)}
            said |= {"frag_offset": layer.frag, "ip_options": int(layer.ihl > 5), "ip_checksum": GOOD}
            said["fragment"] = int(layer.flags.MF or layer.frag > 0)
            said |= {"protocol_offset": at + 9, "l3_payload_offset": at + size}
        elif isinstance(layer, IPv6):
            said |= {
                "l3_kind": 2,
                "l3_offset": at,
                "l3_length": 40 + layer.plen,
                "ttl": layer.hlim,
                "protocol": layer.nh,
            }
            said |= {"dscp": layer.tc >> 2, "ecn": layer.tc & 3}
            said |= {"protocol_offset": at + 6, "l3_payload_offset": at + size}
            words = bytes(layer)[8:40]
            said |= {"ip_src": int.from_bytes(words[:16], "big"), "ip_dst": int.from_bytes(words[16:], "big")}
        elif isinstance(layer, IPv6ExtHdrHopByHop | IPv6ExtHdrRouting | IPv6ExtHdrFragment | IPv6ExtHdrDestOpt | AH):
            order = (IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, IPv6ExtHdrFragment, IPv6ExtHdrDestOpt, AH)
            said |= {"ext_mask": said.get("ext_mask", 0) | 1 << order.index(type(layer)), "protocol": layer.nh}
            said |= {"protocol_offset": at, "l3_payload_offset": at + size}
            if isinstance(layer, IPv6ExtHdrRouting) and layer.segleft:
                said["segments_left"] = 1
            if isinstance(layer, IPv6ExtHdrFragment):
                said |= {
                    "more_fragments": layer.m,
                    "frag_offset": layer.offset,
                    "fragment": int(layer.m or layer.offset),
                }
        elif isinstance(layer, TCP):
            said |= {"l4_kind": 1, "src_port": layer.sport, "dst_port": layer.dport}
            said |= {"tcp_flags": layer.reserved << 9 | int(layer.flags), "l4_offset": at, "payload_offset": at + size}
        elif isinstance(layer, UDP):
            said |= {"l4_kind": 2, "src_port": layer.sport, "dst_port": layer.dport, "udp_length": layer.len}
            said |= {"l4_offset": at, "payload_offset": at + 8}
        elif isinstance(layer, ICMP | ICMPv6EchoRequest):
            said |= {"l4_kind": 3 if isinstance(layer, ICMP) else 4, "icmp_type": layer.type, "icmp_code": layer.code}
            said |= {"l4_offset": at, "payload_offset": at + 8}
        elif isinstance(layer, ESP):
            said |= {"spi": layer.spi, "esp_seq": layer.seq, "payload_offset": at + 8}
            said |= {"natt": 1} if said.get("l4_kind") else {"l4_kind": 5, "l4_offset": at}
        elif isinstance(layer, BTH):
            flags = layer.solicited << 7 | layer.migreq << 6 | layer.padcount << 4 | layer.version
            said |= {"roce": 1, "bth_opcode": layer.opcode, "bth_flags": flags, "bth_pkey": layer.pkey}
            said |= {"bth_fecn": layer.fecn, "bth_becn": layer.becn, "bth_dest_qp": layer.dqpn}
            said |= {"bth_ack_req": layer.ackreq, "bth_psn": layer.psn, "payload_offset": at + 12}
        elif isinstance(layer, MACControlPause | MACControlClassBasedFlowControl):
            said |= {"mac_control": 1, "mac_opcode": layer._op_code}
        at += size
    return {name: value for name, value in said.items() if value}


ETHER = Ether(dst="02:11:22:33:44:55", src="02:66:77:88:99:aa")
TAGS = {
    "untagged": ETHER,
    "C-tag": ETHER / Dot1Q(prio=5, dei=1, vlan=0x123),
    "S-tag, C-tag": ETHER / Dot1AD(prio=7, vlan=4094) / Dot1Q(prio=1, vlan=1),
    "two C-tags": ETHER / Dot1Q(prio=2, vlan=77) / Dot1Q(dei=1, vlan=99),
}
V4 = IP(src="192.0.2.1", dst="198.51.100.9", tos=0xB9, ttl=17, flags="DF")
V6 = IPv6(src="2001:db8::1", dst="2001:db8:ff::9", tc=0x6A, fl=0x12345, hlim=33)
FOUR_EXTENSIONS = IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)]) / IPv6ExtHdrRouting(addresses=[], segleft=0)
FOUR_EXTENSIONS = FOUR_EXTENSIONS / IPv6ExtHdrFragment(id=7) / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)])
NETWORKS = {
    "IPv4": V4,
    "IPv4 with options": IP(src="192.0.2.1", dst="198.51.100.9", options=[IPOption_NOP()] * 8),
    "IPv4 with AH": V4 / AH(spi=9, seq=1, icv=b"\x5a" * 12, payloadlen=4),
    "IPv6": V6,
    "IPv6 with hop-by-hop": V6 / IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 12)]),
    "IPv6 with routing": V6 / IPv6ExtHdrRouting(addresses=["2001:db8::77"], segleft=0),
    "IPv6 with fragment": V6 / IPv6ExtHdrFragment(id=3),
    "IPv6 with destination": V6 / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)]),
    "IPv6 with AH": V6 / AH(spi=9, seq=1, icv=b"\x5a" * 12, payloadlen=4),
    "IPv6 with four": V6 / FOUR_EXTENSIONS,
}
TRANSPORTS = {
    "TCP": TCP(sport=443, dport=50123, flags="SAEC", reserved=5, options=[("MSS", 1460), ("WScale", 7)]),
    "UDP": UDP(sport=1111, dport=2222),
    "ESP": ESP(spi=0xDEADBEEF, seq=0x12345678, data=b"\x33" * 24),
    "ESP in UDP": UDP(sport=4500, dport=4500) / ESP(spi=0xDEADBEEF, seq=0x12345678, data=b"\x33" * 24),
    "RoCEv2": UDP(sport=49152, dport=4791)
    / BTH(opcode=4, solicited=1, padcount=3, fecn=1, becn=1, dqpn=0xABCDEF, ackreq=1, psn=0x123456, pkey=0xFFFE),
}

NUMBERS = {"TCP": 6, "UDP": 17, "ESP": 50, "ESP in UDP": 17, "RoCEv2": 17}
for number, layer in {6: TCP, 17: UDP, 50: ESP, 1: ICMP, 58: ICMPv6EchoRequest}.items():
    bind_layers(AH, layer, nh=number)


@pytest.mark.parametrize("transport", [*TRANSPORTS, "ICMP"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("tags", TAGS)
def test_a_frame_made_by_scapy_is_read_as_scapy_reads_it(tags: str, network: str, transport: str) -> None:
    v4 = NETWORKS[network].name == "IP"
    upper = (TRANSPORTS.get(transport) or (ICMP(type=8, code=3) if v4 else ICMPv6EchoRequest(code=3))).copy()
    if "ESP" not in transport and transport != "RoCEv2":
        upper /= Raw(b"odd length!")
    below = NETWORKS[network].copy()
    if "AH" in network:
        # Scapy knows neither the next header nor the pseudo-header of what lies behind AH.
        below[AH].nh = NUMBERS.get(transport, 1 if v4 else 58)
        if transport != "ICMP" and transport != "ESP":
            chksum = in4_chksum if v4 else in6_chksum
            upper.chksum = chksum(below[AH].nh, NETWORKS["IPv4" if v4 else "IPv6"], bytes(upper))
    frame = bytes(TAGS[tags] / below / upper)
    parsed = parse(frame)
    assert set_fields(parsed) == as_scapy_says(Ether(frame))
    summed = transport in ("TCP", "UDP", "ESP in UDP", "RoCEv2")
    # Scapy leaves the checksum of RoCEv2 to the formula too, so all sums that there are must be good.
    assert (parsed.code, verdict(parsed)) == (0, GOOD if summed else NONE)


@pytest.mark.parametrize("tags", TAGS)
def test_mac_control_made_by_scapy_is_read_as_scapy_reads_it(tags: str) -> None:
    for control in (MACControlPause(pause_time=0xFFFF), MACControlClassBasedFlowControl(c3_enabled=1)):
        frame = bytes(TAGS[tags] / control).ljust(60, b"\0")
        parsed = parse(frame)
        assert set_fields(parsed) == as_scapy_says(Ether(frame))
        assert parsed.code == 0


def test_the_pause_frame_of_802_3_annex_31b_is_mac_control() -> None:
    parsed = parse(bytes.fromhex("0180c2000001 001122334455 8808 0001 ffff").ljust(60, b"\0"))
    assert (parsed.mac_control, parsed.mac_opcode, parsed.l3_kind, parsed.latency_cycles) == (1, 1, 0, 4)


@pytest.mark.parametrize(
    ("ports", "payload", "natt", "code", "offset"),
    [
        ((4500, 4500), b"\0\0\1\0" + b"\0\0\0\1" + bytes(16), 1, 0, 50),
        ((4500, 1), b"\1\0\0\0\0\0\0\1", 1, 0, 50),
        ((1, 4500), b"\0\0\0\0" + bytes(28), 2, 0, 42),
        ((1, 4500), b"\0\0\0\0", 2, 0, 42),
        ((1, 4500), b"\0\0\0\0\1\2\3", 2, 0, 42),
        ((4500, 4500), b"\xff", 3, 0, 42),
        ((4500, 4500), b"\xfe", 0, 0, 42),
        ((4500, 4500), b"", 0, 0, 42),
        ((4500, 4500), b"\xff\xff", 0, 0, 42),
        ((4500, 4500), b"\xff\xff\xff", 0, 0, 42),
        ((4500, 4500), b"\xff\xff\xff\xff", 0, Code.ESP_TRUNCATED, 42),
        ((4500, 4500), b"\0\0\0\1\0\0\0", 0, Code.ESP_TRUNCATED, 42),
        ((4501, 4499), b"\0\0\1\0" + b"\0\0\0\1" + bytes(16), 0, 0, 42),
    ],
)
def test_what_comes_by_port_4500_is_esp_ike_or_a_keepalive(
    ports: tuple[int, int], payload: bytes, natt: int, code: int, offset: int
) -> None:
    frame = bytes(ETHER / V4 / UDP(sport=ports[0], dport=ports[1]) / Raw(payload)).ljust(60, b"\xaa")
    parsed = parse(frame)
    assert (parsed.natt, parsed.code, parsed.payload_offset, verdict(parsed)) == (natt, code, offset, GOOD)
    assert (parsed.spi != 0) == (natt == 1)
    assert len(parsed.layers) == (4 if 4500 in ports else 3)


def test_from_port_4500_to_4791_is_rocev2() -> None:
    parsed = parse(bytes(ETHER / V4 / UDP(sport=4500, dport=4791) / BTH(opcode=10, dqpn=1)))
    assert (parsed.roce, parsed.natt, parsed.bth_opcode) == (1, 0, 10)
    parsed = parse(bytes(ETHER / V4 / UDP(sport=4791, dport=4500) / Raw(b"\1\2\3\4\5\6\7\x08")))
    assert (parsed.roce, parsed.natt) == (0, 1)


@pytest.mark.parametrize("ip", [4, 6])
@pytest.mark.parametrize("protocol", [0, 1, 43, 44, 58, 59, 60, 253])
def test_a_protocol_that_the_version_does_not_know_ends_the_chain(ip: int, protocol: int) -> None:
    frame = build(Shape(ip=ip, l4="unknown", payload=8)).frame
    frame = patch(frame, 23 if ip == 4 else 20, bytes([protocol]))
    known = protocol == 1 if ip == 4 else protocol in (0, 43, 44, 58, 60)
    parsed = parse(frame)
    assert (parsed.protocol == protocol and not parsed.code and len(parsed.layers) == 2) == (not known)


@pytest.mark.parametrize("ip", [4, 6])
def test_a_later_piece_has_no_l4_header(ip: int) -> None:
    extensions = ((FRAGMENT, 0),) if ip == 6 else ()
    built = build(Shape(ip=ip, extensions=extensions, fragment=(5, 1), payload=64))
    parsed = parse(built.frame)
    assert (parsed.frag_offset, parsed.more_fragments, parsed.fragment) == (5, 1, 1)
    assert (parsed.protocol, parsed.l4_kind, parsed.src_port, parsed.code) == (17, 0, 0, 0)
    assert len(parsed.layers) == (3 if ip == 6 else 2)


def test_a_first_piece_may_hold_less_than_its_udp_length() -> None:
    built = build(Shape(fragment=(0, 1), payload=64))
    longer = patch(built.frame, 38, struct.pack(">H", 4000))
    parsed = parse(longer)
    assert (parsed.code, parsed.udp_length, parsed.l4_kind) == (0, 4000, 2)
    whole = patch(longer, 20, b"\0\0")
    assert parse(whole).code == Code.BAD_UDP_LENGTH


# Codes


def with_l3_end_beyond() -> bytes:
    return build(Shape(payload=100)).frame[:-1]


OUTSIDE = [code for code in Code if 32 <= code <= 44]
"""Codes of a parser that reads no tunnels; those of the tunnels are in test_tunnels.py."""

CODES: dict[str, tuple[bytes, Code, list[int], int]] = {
    # frame, code, a(i) of its layers, latency
    "13 bytes": (MAC + b"\x08", Code.L2_TRUNCATED, [0], 3),
    "1 byte": (b"\1", Code.L2_TRUNCATED, [0], 3),
    "a tag cut": (MAC + b"\x81\0\0\1\x08", Code.L2_TRUNCATED, [1], 4),
    "a second tag cut": (MAC + b"\x81\0\0\1\x88\xa8\0\1\x08", Code.L2_TRUNCATED, [1], 4),
    "three tags": (MAC + b"\x81\0\0\1" * 3 + b"\x08\0" + bytes(46), Code.TOO_DEEP, [1], 4),
    "mac control cut": (MAC + b"\x88\x08\0", Code.L3_TRUNCATED, [0, 0], 4),
    "IPv4 cut in 20": (build(Shape()).frame[:33], Code.L3_TRUNCATED, [0, 2], 5),
    "IPv4 cut in its options": (build(Shape(options=9)).frame[:50], Code.L3_TRUNCATED, [0, 3], 6),
    "IPv6 cut": (build(Shape(ip=6)).frame[:53], Code.L3_TRUNCATED, [0, 3], 6),
    "IPv4 version": (patch(build(Shape()).frame, 14, b"\x65"), Code.BAD_IP_VERSION, [0, 2], 5),
    "IPv6 version": (patch(build(Shape(ip=6)).frame, 14, b"\x40"), Code.BAD_IP_VERSION, [0, 3], 6),
    "IHL 4": (patch(build(Shape()).frame, 14, b"\x44"), Code.BAD_IHL, [0, 2], 5),
    "total length 19": (patch(build(Shape()).frame, 16, b"\0\x13"), Code.BAD_L3_LENGTH, [0, 2], 5),
    "total length in options": (patch(build(Shape(options=9)).frame, 16, b"\0\x37"), Code.BAD_L3_LENGTH, [0, 2], 5),
    "five extensions": (
        build(Shape(ip=6, extensions=((DESTINATION, 0),) * 5)).frame,
        Code.TOO_DEEP,
        [0, 3, 3, 4, 4, 5, 5],
        11,
    ),
    "no turn for UDP": (
        build(Shape((CTAG, CTAG), options=10, extensions=((AH_NUMBER, 0),) * 4)).frame,
        Code.TOO_DEEP,
        [1, 5, 5, 6, 6, 7],
        12,
    ),
    "no turn for BTH": (
        build(Shape(ip=6, extensions=((DESTINATION, 5), (DESTINATION, 0), (DESTINATION, 0)), l4="roce")).frame,
        Code.TOO_DEEP,
        [0, 3, 6, 6, 7, 7],
        12,
    ),
    "an extension beyond 128": (
        build(Shape(ip=6, extensions=((DESTINATION, 9),))).frame,
        Code.TOO_DEEP,
        [0, 3, 3],
        7,
    ),
    "TCP behind an extension beyond 128": (
        build(Shape(ip=6, extensions=((DESTINATION, 7),), l4="tcp")).frame,
        Code.TOO_DEEP,
        [0, 3, 7, 7],
        11,
    ),
    "TCP options beyond 128": (
        build(Shape(ip=6, extensions=((HOP_BY_HOP, 5),), l4="tcp", tcp_options=10)).frame,
        Code.TOO_DEEP,
        [0, 3, 6, 7],
        10,
    ),
    "extension cut in 8": (
        build(Shape(ip=6, extensions=((DESTINATION, 0),))).frame[:61],
        Code.EXT_TRUNCATED,
        [0, 3, 3],
        7,
    ),
    "extension cut in its length": (
        build(Shape(ip=6, extensions=((ROUTING, 2),))).frame[:70],
        Code.EXT_TRUNCATED,
        [0, 3, 4],
        7,
    ),
    "extension beyond l3_end": (
        patch(build(Shape(ip=6, extensions=((ROUTING, 2),), payload=60)).frame, 18, b"\0\x17"),
        Code.EXT_TRUNCATED,
        [0, 3, 3],
        7,
    ),
    "extension without 8 before l3_end": (
        patch(build(Shape(ip=6, extensions=((ROUTING, 2),), payload=60)).frame, 18, b"\0\x07"),
        Code.EXT_TRUNCATED,
        [0, 3, 3],
        7,
    ),
    "AH cut": (build(Shape(extensions=((AH_NUMBER, 4),))).frame[:50], Code.EXT_TRUNCATED, [0, 2, 3], 6),
    "TCP cut in 20": (build(Shape(l4="tcp")).frame[:53], Code.L4_TRUNCATED, [0, 2, 3], 6),
    "TCP cut in its options": (
        build(Shape(l4="tcp", tcp_options=10)).frame[:70],
        Code.L4_TRUNCATED,
        [0, 2, 4],
        7,
    ),
    "TCP options beyond l3_end": (
        patch(build(Shape(l4="tcp", tcp_options=10)).frame, 16, b"\0\x30"),
        Code.L4_TRUNCATED,
        [0, 2, 3],
        6,
    ),
    "UDP cut": (build(Shape()).frame[:41], Code.L4_TRUNCATED, [0, 2, 2], 6),
    "UDP beyond l3_end": (patch(build(Shape()).frame, 16, b"\0\x1b"), Code.L4_TRUNCATED, [0, 2, 2], 6),
    "ICMP cut": (build(Shape(l4="icmp")).frame[:41], Code.L4_TRUNCATED, [0, 2, 2], 6),
    "ICMPv6 cut": (build(Shape(ip=6, l4="icmp")).frame[:61], Code.L4_TRUNCATED, [0, 3, 3], 7),
    "ESP cut": (build(Shape(l4="esp")).frame[:41], Code.L4_TRUNCATED, [0, 2, 2], 6),
    "data offset 4": (patch(build(Shape(l4="tcp")).frame, 46, b"\x40"), Code.BAD_TCP_OFFSET, [0, 2, 3], 6),
    "UDP length 7": (patch(build(Shape()).frame, 38, b"\0\x07"), Code.BAD_UDP_LENGTH, [0, 2, 2], 6),
    "UDP length one too many": (patch(build(Shape()).frame, 38, b"\0\x1b"), Code.BAD_UDP_LENGTH, [0, 2, 2], 6),
    "BTH cut": (build(Shape(l4="roce")).frame[:53], Code.BTH_TRUNCATED, [0, 2, 2, 3], 7),
    "BTH cut in the second beat of it": (
        build(Shape((CTAG,), l4="roce")).frame[:50],
        Code.BTH_TRUNCATED,
        [1, 2, 2, 3],
        7,
    ),
    "BTH beyond the UDP length": (
        patch(build(Shape(l4="roce")).frame, 38, b"\0\x13"),
        Code.BTH_TRUNCATED,
        [0, 2, 2, 2],
        7,
    ),
    "NAT-T cut": (build(Shape(l4="natt_esp")).frame[:45], Code.ESP_TRUNCATED, [0, 2, 2, 2], 7),
    "NAT-T cut in 8": (build(Shape(l4="natt_esp")).frame[:49], Code.ESP_TRUNCATED, [0, 2, 2, 3], 7),
    "NAT-T of 7 bytes": (
        patch(build(Shape(l4="natt_esp")).frame, 38, b"\0\x0f"),
        Code.ESP_TRUNCATED,
        [0, 2, 2, 2],
        7,
    ),
    "keepalive cut": (build(Shape(l4="keepalive")).frame[:42], Code.ESP_TRUNCATED, [0, 2, 2, 2], 7),
    "packet beyond the frame": (with_l3_end_beyond(), Code.L3_BEYOND_FRAME, [0, 2, 2], 6),
}


@pytest.mark.parametrize("case", CODES)
def test_each_way_to_be_malformed_has_its_code_and_its_time(case: str) -> None:
    frame, code, layers, cycles = CODES[case]
    parsed = parse(frame)
    assert (Code(parsed.code).name, parsed.layers, parsed.latency_cycles) == (code.name, layers, cycles)
    assert parsed.user & 0xFF == code << 1
    assert parsed.parse_code == (0 if code == Code.L3_BEYOND_FRAME else code)


def test_every_code_of_the_parser_has_a_case() -> None:
    assert {code for _, code, _, _ in CODES.values()} == set(OUTSIDE)


WELL: dict[str, tuple[Shape, list[int], int]] = {
    "no IP": (Shape(ip=0), [0], 3),
    "no IP, a tag": (Shape((STAG,), 0), [1], 4),
    "mac control": (Shape((), 0, 0x8808), [0, 0], 4),
    "mac control, two tags": (Shape((CTAG, CTAG), 0, 0x8808), [1, 1], 5),
    "UDP": (Shape(), [0, 2, 2], 6),
    "UDP, a tag": (Shape((CTAG,)), [1, 2, 2], 6),
    "UDP, two tags": (Shape((STAG, CTAG)), [1, 2, 3], 6),
    "TCP": (Shape(l4="tcp"), [0, 2, 3], 6),
    "TCP with many options": (Shape(options=10, l4="tcp", tcp_options=8), [0, 4, 7], 10),
    "RoCEv2": (Shape(l4="roce"), [0, 2, 2, 3], 7),
    "RoCEv2 over IPv6": (Shape(ip=6, l4="roce"), [0, 3, 3, 4], 8),
    "ESP in UDP": (Shape(l4="natt_esp"), [0, 2, 2, 3], 7),
    "IKE": (Shape(l4="ike"), [0, 2, 2, 2], 7),
    "keepalive": (Shape(l4="keepalive"), [0, 2, 2, 2], 7),
    "no next header": (Shape(l4="no_next"), [0, 2], 5),
    "later piece": (Shape(fragment=(1, 0)), [0, 2], 5),
    "four extensions and RoCEv2": (
        Shape(ip=6, extensions=((HOP_BY_HOP, 0), (ROUTING, 0), (FRAGMENT, 0), (DESTINATION, 0)), l4="roce"),
        [0, 3, 3, 4, 4, 5, 5, 6],
        12,
    ),
}


@pytest.mark.parametrize("case", WELL)
def test_a_chain_that_ends_well_takes_the_time_of_its_layers(case: str) -> None:
    shape, layers, cycles = WELL[case]
    parsed = parse(build(shape).frame)
    assert (parsed.code, parsed.layers, parsed.latency_cycles) == (0, layers, cycles)


L4_FIELDS = {"l4_kind", "l4_offset"}
OWN_FIELDS = {
    "ethernet": {"dst_mac", "src_mac", "ethertype", "vlan_count", "vlan0", "vlan1", "vlan0_ad", "vlan1_ad"},
    "mac_control": {"mac_control", "mac_opcode"},
    "ip": {"l3_kind", "l3_offset", "l3_length", "ip_src", "ip_dst", "ip_options", "ip_checksum"}
    | {"dscp", "ecn", "ttl", "dont_fragment"},
    "extension": set(),
    "tcp": L4_FIELDS | {"src_port", "dst_port", "tcp_flags"},
    "udp": L4_FIELDS | {"src_port", "dst_port", "udp_length"},
    "icmp": L4_FIELDS | {"icmp_type", "icmp_code"},
    "esp": L4_FIELDS | {"spi", "esp_seq"},
    "bth": {name for name in PARSER_FIELDS if name.startswith("bth_")} | {"roce"},
    "natt": {"natt", "spi", "esp_seq"},
}
SHARED_FIELDS = {
    *("parse_code", "protocol", "protocol_offset", "l3_payload_offset", "ext_mask", "segments_left"),
    *("fragment", "more_fragments", "frag_offset", "payload_offset"),
}
"""Set by more than one layer."""


@pytest.mark.parametrize("shape", shapes(), ids=str)
def test_a_frame_cut_at_any_byte_names_the_layer_that_is_cut_and_keeps_those_before(shape: Shape) -> None:
    built = build(shape)
    whole = parse(built.frame)
    for frame in truncations(built.frame):
        parsed = parse(frame)
        at = len(frame)
        cut = next((layer for layer in built.layers if layer.end > at), None)
        code = cut.truncated if cut else Code.L3_BEYOND_FRAME if at < built.l3_end else Code.NONE
        assert parsed.code == code, at
        last = (at - 1) // 16
        before = built.layers.index(cut) if cut else len(built.layers)
        assert parsed.layers == whole.layers[:before] + ([last] if cut else []), at
        own = {name for layer in built.layers[:before] for name in OWN_FIELDS[layer.name]}
        for name in set(PARSER_FIELDS) - SHARED_FIELDS:
            assert getattr(parsed, name) == (getattr(whole, name) if name in own else 0), (at, name)
        if not cut:
            assert set_fields(parsed) == built.meta


@pytest.mark.parametrize("shape", shapes(), ids=str)
def test_a_wrong_length_field_is_named_or_harmless(shape: Shape) -> None:
    """What each wrong value must give, where it is plain; in any case a time within the bound."""
    built = build(shape)
    l3 = built.meta.get("l3_offset", 0)
    whole = not built.meta.get("fragment")
    udp = next((layer for layer in built.layers if layer.name == "udp"), None)
    for field, value, frame in wrong_lengths(built):
        parsed = parse(frame)
        assert parsed.latency_cycles <= 12
        expected = None
        if field.name == "version":
            expected = Code.BAD_IP_VERSION
        elif field.name == "ihl" and value < 5:
            expected = Code.BAD_IHL
        elif field.name == "total_length" and value < 20 + 4 * shape.options:
            expected = Code.BAD_L3_LENGTH
        elif field.name in ("total_length", "payload_length"):
            end = l3 + value + (40 if field.name == "payload_length" else 0)
            cut = next((layer for layer in built.layers[2:] if layer.end > end), None)
            if cut and cut.name not in ("natt", "bth"):
                expected = cut.truncated
            elif udp and whole and udp.start + built.meta["udp_length"] > end:
                expected = Code.BAD_UDP_LENGTH
            elif not cut:
                expected = Code.L3_BEYOND_FRAME if end > len(frame) else Code.NONE
        elif field.name == "data_offset":
            start = field.at - 12
            if value < 5:
                expected = Code.BAD_TCP_OFFSET
            elif start + 4 * value > built.l3_end:
                expected = Code.L4_TRUNCATED
            else:
                expected = Code.TOO_DEEP if start + 4 * value > 128 else Code.NONE
        elif field.name == "udp_length":
            if value < 8 or (whole and field.at - 4 + value > built.l3_end):
                expected = Code.BAD_UDP_LENGTH
            elif shape.l4 == "roce" and value < 20:
                expected = Code.BTH_TRUNCATED
        if expected is not None:
            assert Code(parsed.code).name == expected.name, (field, value)


def test_the_room_checks_go_in_order_end_of_packet_depth_end_of_frame() -> None:
    deep = build(Shape(ip=6, extensions=((DESTINATION, 9),), payload=8))
    assert parse(deep.frame).code == Code.TOO_DEEP
    assert parse(deep.frame[:100]).code == Code.TOO_DEEP
    assert parse(patch(deep.frame, 18, b"\0\x40")).code == Code.EXT_TRUNCATED
    assert parse(patch(deep.frame, 18, b"\0\x40")[:100]).code == Code.EXT_TRUNCATED
    assert ParserModel(160).parse(deep.frame[:100]).code == Code.EXT_TRUNCATED


def test_the_fixed_part_is_asked_for_before_its_values_are_checked() -> None:
    assert parse(patch(build(Shape()).frame, 14, b"\x64")[:33]).code == Code.L3_TRUNCATED
    assert parse(patch(build(Shape(l4="tcp")).frame, 46, b"\x00")[:53]).code == Code.L4_TRUNCATED
    assert parse(patch(build(Shape()).frame, 14, b"\x64")[:34]).code == Code.BAD_IP_VERSION
    three_tags = MAC + b"\x81\0\0\1" * 3
    assert parse(three_tags[:21]).code == Code.L2_TRUNCATED
    assert parse(three_tags[:22]).code == Code.TOO_DEEP


def test_what_the_fixed_part_tells_goes_before_the_whole_length() -> None:
    short = build(Shape(options=9)).frame[:40]
    assert parse(short).code == Code.L3_TRUNCATED
    assert parse(patch(short, 14, b"\x6e")).code == Code.BAD_IP_VERSION
    assert parse(patch(short, 16, b"\0\x14")).code == Code.BAD_L3_LENGTH


def test_a_chain_too_deep_is_named_whatever_it_is_made_of() -> None:
    deep = 0
    for built in deep_chains():
        parsed = parse(built.frame)
        if built.fits():
            assert (parsed.code, set_fields(parsed)) == (0, built.meta)
        else:
            assert parsed.code == Code.TOO_DEEP
            deep += 1
        assert parsed.latency_cycles <= 12
    assert deep > 300


def test_more_parse_bytes_read_deeper() -> None:
    built = build(Shape(ip=6, extensions=((DESTINATION, 9),), l4="roce"))
    assert parse(built.frame).code == Code.TOO_DEEP
    parsed = ParserModel(256).parse(built.frame)
    assert (parsed.code, set_fields(parsed)) == (0, built.meta)
    parsed = ParserModel(32).parse(build(Shape()).frame)
    assert (parsed.code, parsed.l3_kind) == (Code.TOO_DEEP, 0)


def test_a_layer_that_fails_leaves_its_fields_at_0_and_those_before_set() -> None:
    parsed = parse(build(Shape((CTAG,), l4="tcp")).frame[:57])
    assert (parsed.l3_kind, parsed.vlan_count, parsed.protocol) == (1, 1, 6)
    assert (parsed.l4_kind, parsed.l4_offset, parsed.src_port, parsed.payload_offset) == (0, 0, 0, 0)
    parsed = parse(MAC + b"\x81\0\0\1\x08")
    assert set_fields(parsed) == {"parse_code": int(Code.L2_TRUNCATED)}


@pytest.mark.parametrize("code", OUTSIDE)
def test_drop_marks_the_frames_of_its_code_and_no_others(code: Code) -> None:
    frame, _, _, _ = next(case for case in CODES.values() if case[1] == code)
    assert ParserModel(drop=1 << code - 32).parse(frame).user & 0xFF == code << 1 | 1
    assert ParserModel(drop=0xFFFF ^ 1 << code - 32).parse(frame).user & 0xFF == code << 1
    assert ParserModel(drop=0xFFFF).parse(build(Shape()).frame).user & 0xFF == 0


def test_a_frame_that_came_in_bad_keeps_its_mark_and_its_reason() -> None:
    for bad in (1, 1 | Code.OVERSIZE << 1):
        for frame in (build(Shape()).frame, CODES["IHL 4"][0], with_l3_end_beyond()):
            parsed = ParserModel(drop=0xFFFF).parse(frame, bad)
            assert parsed.user & 0xFF == bad
            assert parsed.meta_fields() == parse(frame).meta_fields()
            assert parsed.code == parse(frame).code


# Invariants and time


def test_nothing_mutated_makes_a_field_too_wide_or_the_parser_too_late(seed: int) -> None:
    for frame in mutated(random.Random(seed), 10000):
        parsed = parse(frame)
        meta.pack(parsed.meta_fields())
        assert parsed.user < 1 << 10
        assert 3 <= parsed.latency_cycles <= 128 // 16 + 4
        assert parsed.code in {0, *range(32, 45)}
        assert all(0 <= beat <= (len(frame) - 1) // 16 for beat in parsed.layers)


@pytest.mark.parametrize(
    ("layers", "cycles"), [([0], 3), ([5], 8), ([0, 0, 0], 5), ([0, 2, 2], 6), ([1, 2, 3, 7], 10), ([7, 7, 0], 12)]
)
def test_a_layer_takes_a_cycle_behind_its_beat_and_behind_the_layer_before(layers: list[int], cycles: int) -> None:
    assert latency(layers) == cycles


def test_gaps_in_a_frame_delay_the_layers_that_wait_for_them_and_no_others() -> None:
    layers = [0, 2, 2]
    assert first_out_of_arrivals(layers, [10, 11, 12, 13]) == 10 + latency(layers)
    assert first_out_of_arrivals(layers, [10, 11, 12, 99]) == 16
    assert first_out_of_arrivals(layers, [10, 11, 20, 21]) == 24
    assert first_out_of_arrivals(layers, [10, 11, 12, 13], previous_last_out=40) == 41


def test_a_frame_leaves_behind_the_one_before_it_without_a_bubble() -> None:
    assert first_out(100, -1, 6) == 106
    assert first_out(100, 104, 6) == 106
    assert first_out(100, 105, 6) == 106
    assert first_out(100, 106, 6) == 107
    assert last_out(106, 4, 103) == 109
    assert last_out(106, 4, 120) == 122


def test_the_shapes_hold_every_layer() -> None:
    """Guards the sweeps above: each kind of L4 over both versions, each extension header, each number of tags."""
    seen = shapes()
    assert {(shape.ip, shape.l4) for shape in seen} >= {(ip, l4) for ip in (4, 6) for l4 in L4_KINDS}
    assert {kind for shape in seen for kind, _ in shape.extensions} == {0, 43, 44, 51, 60}
    assert {len(shape.tags) for shape in seen} == {0, 1, 2}
    assert parse(build(replace(seen[0], tags=(CTAG,) * 3)).frame).code == Code.TOO_DEEP
