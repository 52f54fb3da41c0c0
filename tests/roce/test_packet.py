"""Packets: the table of opcodes, headers, padding, and the frame around them with its ICRC.

Sweep:    every opcode of RC, UC and UD, payloads of 0 to 9 bytes, IPv4 and IPv6, with and without a tag
Stimulus: captures of Linux's rxe, packets that others published, Scapy's
Checks:   the captures' own bytes; Scapy's fields, names and ICRC; sizes of volume 1, 9.3
Timing:   none
"""

from __future__ import annotations

import json
import random

import pytest
from scapy.contrib import roce as scapy_roce

from models.roce import Route, frame_of, packet_of
from models.roce_packet import (
    CNP,
    PSN_SPACE,
    Aeth,
    AtomicEth,
    Deth,
    MalformedError,
    Op,
    Packet,
    Reth,
    ahead,
    build,
    headers,
    parse,
)
from tests.roce.captured import CAPTURES, seen
from tests.roce.scapy_bth import bth_of

ROUTES = [
    Route(dst_mac=b"\2\0\0\0\0\1", src_mac=b"\2\0\0\0\0\2", src=b"\xc0\0\2\1", dst=b"\xc0\0\2\2", port=50000),
    Route(
        dst_mac=b"\2\0\0\0\0\1",
        src_mac=b"\2\0\0\0\0\2",
        src=b"\x20\1\x0d\xb8" + bytes(11) + b"\1",
        dst=b"\x20\1\x0d\xb8" + bytes(11) + b"\2",
        port=0xC001,
        vlan=0x6005,
        dscp=26,
        ecn=2,
        hops=9,
        flow_label=0x12345,
    ),
]
KNOWN = [code for code in range(256) if headers(code) is not None]
VALUES = {
    "deth": Deth(0x11111111, 0x27),
    "reth": Reth(0x123456789ABCDEF0, 0x1234, 0x20000),
    "atomic": AtomicEth(0x123456789ABCDEF0, 0x1234, 5, 6),
    "aeth": Aeth(0x1F, 0xABCDEF),
    "original": 0x1122334455667788,
    "imm": 0xDEADBEEF,
    "invalidate": 0xCAFE,
}
WITHOUT_PAYLOAD = {Op.READ_REQUEST, Op.ACK, Op.ATOMIC_ACK, Op.COMPARE_SWAP, Op.FETCH_ADD}
SIZES = {"deth": 8, "reth": 16, "atomic": 28, "aeth": 4, "original": 8, "imm": 4, "invalidate": 4}


def of(code: int, payload: bytes = b"") -> Packet:
    more = {name: VALUES[name] for name in headers(code)}
    return Packet(opcode=code, qpn=0x123456, psn=0xFEDCBA, ack_request=True, payload=payload, **more)


def rebuilt(frame: bytes) -> bytes:
    return frame_of(*packet_of(frame))


def same(frame: bytes) -> bool:
    """Built again it is the same but for what follows the ICRC, and IPv4 and UDP checksums that a sender may choose."""
    again = rebuilt(frame)
    at = 38 if frame[12:14] == b"\x81\0" else 34
    udp = at + 6 if frame[at - 22 : at - 20] == b"\x08\0" else at + 26
    free = {udp, udp + 1}
    return all(a == b or n in free for n, (a, b) in enumerate(zip(again, frame, strict=False))) and len(frame) >= len(
        again
    )


@pytest.mark.parametrize("path", sorted(CAPTURES.glob("roce_*.pcap")), ids=lambda path: path.stem)
def test_every_captured_packet_is_built_again_byte_for_byte(path):
    found = seen(path)
    assert len(found) > 3
    for one in found:
        assert same(one.frame), one.packet


def test_every_packet_of_the_peers_is_built_again_byte_for_byte(material):
    """Of the long captures every seventh packet; stale ICRCs of the corrupted one apart."""
    total = 0
    for path in sorted((material / "10_peers").glob("roce_*.pcap")):
        found = seen(path)
        for one in found[:: 1 if len(found) < 300 else 7]:
            total += 1
            assert same(one.frame) or path.stem == "roce_rc_write_corrupt", one.packet
    assert total > 1500


def test_published_packets_are_built_again(material):
    """But for those of RoCEv1, and those with reserved bits or lengths that no sender of ours makes."""
    published = json.loads((material / "04_roce/rocev2_published_good_icrc.json").read_text())["packets"]
    right = 0
    for one in published:
        if "rocev1" in one["id"]:
            continue
        frame = bytes.fromhex(one["frame"])
        _, packet = packet_of(frame)
        bth = bytes(bth_of(frame))
        assert packet == parse(bth[: len(build(packet))]), one["id"]
        assert (packet.opcode, packet.qpn, packet.psn) == (
            bth[0],
            int.from_bytes(bth[5:8], "big"),
            int.from_bytes(bth[9:12], "big"),
        )
        right += same(frame)
    assert right > 10


def test_the_table_of_opcodes_is_scapys_and_two_more():
    ours = {code: code for code in KNOWN}
    theirs = {code for code in scapy_roce._bth_opcodes if code >> 5 != 2}
    assert set(ours) | {CNP} == theirs | {Op.SEND_LAST_INV, Op.SEND_ONLY_INV}
    names = {name.split(" ")[0] for name in scapy_roce._bth_opcodes.values()}
    assert len(names) > 20


@pytest.mark.parametrize("route", ROUTES, ids=["IPv4", "IPv6, tag"])
def test_scapy_reads_the_same_fields_and_says_the_same_icrc(route, seed):
    rng = random.Random(seed)
    for code in KNOWN:
        for length in (
            (0,) if Op(code & 31).name.startswith(("READ_REQ", "ACK", "ATOMIC", "COMP", "FETCH")) else range(6)
        ):
            packet = of(code, rng.randbytes(length))
            frame = frame_of(route, packet)
            read = bth_of(frame)
            assert (read.opcode, read.padcount, read.pkey) == (code, -length % 4, 0xFFFF)
            assert (read.dqpn, read.psn, read.ackreq) == (0x123456, 0xFEDCBA, 1)
            assert read.compute_icrc(None) == frame[-4:]
            assert packet_of(frame) == (route, packet)


@pytest.mark.parametrize("code", KNOWN)
def test_every_opcode_has_the_headers_of_the_table_and_no_more(code):
    size = 12 + sum(SIZES[name] for name in headers(code))
    assert len(build(of(code))) == size
    assert parse(build(of(code))) == of(code)
    for short in range(size):
        with pytest.raises(MalformedError):
            parse(build(of(code))[:short])


def test_fields_lie_where_volume_1_says():
    """Bytes counted by hand from 9.3.3 to 9.3.6 and 9.2."""
    assert build(of(0x0C)).hex() == "0c00ffff0012345680fedcba" + "123456789abcdef0" + "00001234" + "00020000"
    assert build(of(0x13)).hex()[24:] == "123456789abcdef0" + "00001234" + "0000000000000005" + "0000000000000006"
    assert build(of(0x12)).hex()[24:] == "1fabcdef" + "1122334455667788"
    assert build(of(0x65, b"abc")).hex()[24:] == "11111111" + "00000027" + "deadbeef" + "61626300"
    assert build(of(0x65, b"abc"))[1] == 0x10
    assert build(of(0x0B)).hex()[24:] == "123456789abcdef0" + "00001234" + "00020000" + "deadbeef"


def test_padding_is_no_payload_and_its_bytes_are_not_read():
    data = bytearray(build(of(0x04, b"abcde")))
    assert len(data) == 20 and data[1] >> 4 & 3 == 3
    data[-1] = 0x55
    assert parse(bytes(data)).payload == b"abcde"


def test_what_is_no_packet_is_malformed():
    for bad in (b"", bytes(11), build(of(0x04, b"abcd")) + b"x", b"\x04\x30" + bytes(10), b"\x15" + bytes(15)):
        with pytest.raises(MalformedError):
            parse(bad)
    with pytest.raises(MalformedError, match="payload in opcode"):
        parse(build(of(0x11)) + bytes(4))


def test_psns_are_compared_modulo_2_to_the_24():
    assert ahead(0, PSN_SPACE - 1) == 1 and ahead(PSN_SPACE - 1, 0) == -1
    assert ahead(0x800000, 0) == -0x800000 and ahead(0x7FFFFF, 0) == 0x7FFFFF
