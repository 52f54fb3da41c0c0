"""Checksums that are inserted on transmit, and tags that are inserted and stripped.

Sweep:    IPv4 with and without options, IPv6 with and without extension headers; TCP, UDP; 0 to 1459 bytes of payload;
          none, one, two tags; the fields filled with 0, with 0xffff, with garbage
Stimulus: Scapy's frames, their checksums taken out
Checks:   Scapy's own checksums; what isn't such a packet is refused, each condition alone
Timing:   none
"""

from __future__ import annotations

import random

import pytest
from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Packet

from models.rings_checksum import OffloadError, insert_checksums, insert_tag, ones_sum, strip_tag

E = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
HEADERS = {
    "plain": E,
    "tag": E / Dot1Q(vlan=5, prio=3),
    "two tags": E / Dot1AD(vlan=100, prio=5) / Dot1Q(vlan=5),
}
NETWORK = {
    "IPv4": IP(src="192.0.2.1", dst="198.51.100.7", id=7),
    "IPv4, options": IP(src="192.0.2.1", dst="198.51.100.7", options=[IPOption_NOP()] * 8),
    "IPv6": IPv6(src="2001:db8::1", dst="2001:db8:1::2"),
    "IPv6, extensions": IPv6(src="2001:db8::1", dst="ff02::2") / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt(),
}
L4 = {1: TCP(sport=1024, dport=80, flags="PA", options=[("NOP", None)] * 4), 2: UDP(sport=5000, dport=53)}


def offsets(packet: Packet, l4: int) -> tuple[int, int]:
    """l3, and L4 from there on."""
    whole = len(packet)
    network = packet[IP] if IP in packet else packet[IPv6]
    l3 = whole - len(network)
    return l3, len(network) - len(packet[TCP if l4 == 1 else UDP])


@pytest.mark.parametrize("network", NETWORK)
@pytest.mark.parametrize("l4", L4)
@pytest.mark.parametrize("tags", HEADERS)
def test_checksums_are_scapys_whatever_the_fields_hold(network, l4, tags, seed):
    rng = random.Random(f"{seed}{network}{l4}{tags}")
    for length in [*range(9), 39, 40, 1459]:
        packet = HEADERS[tags] / NETWORK[network] / L4[l4] / rng.randbytes(length)
        wanted = bytes(packet)
        l3, inside = offsets(packet, l4)
        for filling in (b"\0\0", b"\xff\xff", rng.randbytes(2)):
            frame = bytearray(wanted)
            at = l3 + inside + (16 if l4 == 1 else 6)
            frame[at : at + 2] = filling
            if "IPv4" in network:
                frame[l3 + 10 : l3 + 12] = filling
            padding = rng.randbytes(rng.choice([0, 6, 17]))
            out = insert_checksums(bytes(frame) + padding, l3, inside, "IPv4" in network, l4)
            assert out == wanted + padding


def test_a_udp_checksum_of_0_is_written_as_ffff_and_one_of_tcp_stays_0():
    """The payload is chosen so that the sum is 0xffff."""
    for l4, at, expected in ((2, 6, 0xFFFF), (1, 16, 0)):
        for network in ("IPv4", "IPv6"):
            packet = E / NETWORK[network] / L4[l4] / b"\0\0"
            l3, inside = offsets(packet, l4)
            first = insert_checksums(bytes(packet), l3, inside, False, l4)
            rest = first[l3 + inside + at : l3 + inside + at + 2]
            out = insert_checksums(first[:-2] + rest, l3, inside, False, l4)
            assert int.from_bytes(out[l3 + inside + at :][:2], "big") == expected


def test_only_what_is_asked_for_is_written():
    packet = E / NETWORK["IPv4"] / L4[2] / b"abc"
    frame = bytearray(bytes(packet))
    frame[24:26], frame[40:42] = b"\x12\x34", b"\x56\x78"
    assert insert_checksums(bytes(frame), 14, 20, False, 0) == frame
    out = insert_checksums(bytes(frame), 14, 20, True, 0)
    assert out[40:42] == b"\x56\x78"
    assert out[24:26] == bytes(packet)[24:26]
    out = insert_checksums(bytes(frame), 14, 20, False, 2)
    assert out[24:26] == b"\x12\x34"
    assert out[40:42] == bytes(packet)[40:42]
    assert insert_checksums(b"\0" * 14, 200, 20, False, 0) == b"\0" * 14


V4TCP = bytes(E / NETWORK["IPv4"] / TCP())
V4UDP = bytes(E / NETWORK["IPv4"] / UDP() / b"12345678")
V6UDP = bytes(E / NETWORK["IPv6"] / UDP() / b"12345678")


def with_byte(frame: bytes, at: int, value: int) -> bytes:
    return frame[:at] + bytes([value]) + frame[at + 1 :]


REFUSED = {
    "no header at all": (V4TCP, 54, 20, True, 0),
    "version 5": (with_byte(V4TCP, 14, 0x55), 14, 20, False, 1),
    "version 6 and an IP checksum": (V6UDP, 14, 40, True, 2),
    "IHL 4": (with_byte(V4TCP, 14, 0x44), 14, 20, True, 0),
    "an IPv4 header beyond the frame": (V4TCP[:33], 14, 20, True, 0),
    "an IPv6 header beyond the frame": (V6UDP[:53], 14, 40, False, 2),
    "L4 in the IPv4 header": (V4TCP, 14, 16, False, 1),
    "L4 in the options": (with_byte(V4UDP, 14, 0x46), 14, 20, False, 2),
    "L4 in the IPv6 header": (V6UDP, 14, 36, False, 2),
    "more fragments": (with_byte(V4TCP, 20, 0x20), 14, 20, False, 1),
    "an offset": (with_byte(V4TCP, 21, 1), 14, 20, False, 1),
    "a packet beyond the frame": (V4TCP[:-1], 14, 20, False, 1),
    "TCP that isn't whole": (with_byte(V4TCP, 17, 39), 14, 20, False, 1),
    "UDP that isn't whole": (with_byte(V4UDP, 17, 27), 14, 20, False, 2),
    "a UDP length of 7": (with_byte(V4UDP, 39, 7), 14, 20, False, 2),
    "a UDP length beyond IP": (with_byte(V4UDP, 39, 17), 14, 20, False, 2),
}
TAKEN = [
    (V4TCP, 14, 20, True, 1),
    (with_byte(V4TCP, 20, 0x40), 14, 20, True, 1),
    (V4UDP, 14, 20, True, 2),
    (V6UDP, 14, 40, False, 2),
    (with_byte(V4UDP, 39, 8), 14, 20, False, 2),
    (with_byte(V4UDP, 39, 15), 14, 20, False, 2),
]


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_no_such_packet_is_refused(why):
    with pytest.raises(OffloadError):
        insert_checksums(*REFUSED[why])


def test_what_is_one_by_a_hair_is_taken():
    for case in TAKEN:
        insert_checksums(*case)


def test_udp_is_summed_over_its_own_length():
    """Behind the UDP length there may be more of the IP packet (RFC 9868): it isn't summed."""
    short = with_byte(V4UDP, 39, 11)
    sums = {insert_checksums(short[:45] + bytes([n]) + short[46:], 14, 20, False, 2)[40:42] for n in (0, 1, 255)}
    assert len(sums) == 1
    assert insert_checksums(short[:44] + b"\7" + short[45:], 14, 20, False, 2)[40:42] not in sums


def test_an_odd_last_byte_counts_as_a_high_one():
    assert ones_sum(b"\x12\x34\x56") == 0x1234 + 0x5600
    assert ones_sum(b"\xff\xff\x00\x01") == 1


@pytest.mark.parametrize("tags", HEADERS)
def test_a_tag_is_inserted_outside_of_those_that_are_there_and_stripped_again(tags):
    packet = HEADERS[tags] / NETWORK["IPv4"] / L4[2] / b"abc"
    plain = bytes(packet)
    for ad, kind in ((False, Dot1Q), (True, Dot1AD)):
        tagged = insert_tag(plain, 0xB123, ad)
        read = Ether(tagged)
        assert (read[kind].prio, read[kind].dei, read[kind].vlan) == (5, 1, 0x123)
        assert tagged[:12] == plain[:12]
        assert bytes(read[kind].payload) == plain[14:]
        assert strip_tag(tagged) == plain
