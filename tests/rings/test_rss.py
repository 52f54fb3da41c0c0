"""RSS: Toeplitz, which fields by kind, the table, and the rule of an ACL that beats it.

Sweep:    each row of Microsoft's verification suite; every bit of ``types`` against every kind of frame
Stimulus: the published vectors; Scapy's frames read by the parser's model
Checks:   published hashes; a hash bit by bit in another way; the queue of the table
Timing:   none
"""

from __future__ import annotations

import ipaddress
import random

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment
from scapy.layers.l2 import ARP, Ether

from models.rings_rss import ENTRIES, Rss, Types, hash_input, toeplitz
from tests.rings.host import parsed_meta

KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")
SUITE = [
    ("161.142.100.80", 1766, "66.9.149.187", 2794, 0x323E8FC2, 0x51CCC178),
    ("65.69.140.83", 4739, "199.92.111.2", 14230, 0xD718262A, 0xC626B0EA),
    ("12.22.207.184", 38024, "24.19.198.95", 12898, 0xD2D0A5DE, 0x5C2B394A),
    ("209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xAFC7327F),
    ("202.188.127.2", 1303, "153.39.163.191", 44251, 0x5D1809C5, 0x10E828A2),
    ("3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2CC18CD5, 0x40207D3D),
    ("ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0F0C461C, 0xDDE51BBF),
    ("fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x4B61E985, 0x02D1FEEF),
]
"""Microsoft, "Verifying the RSS hash calculation": destination, port, source, port, hash of IP alone, with TCP."""


def meta_of(frame: object) -> dict[str, int]:
    return parsed_meta(bytes(frame))[0]  # type: ignore[call-overload]


def suite_frame(dst: str, dport: int, src: str, sport: int) -> object:
    ip = IP(src=src, dst=dst) if "." in dst else IPv6(src=src, dst=dst)
    return Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / ip / TCP(sport=sport, dport=dport)


@pytest.mark.parametrize(("dst", "dport", "src", "sport", "alone", "with_tcp"), SUITE)
def test_the_published_hashes_come_out_of_frames(dst, dport, src, sport, alone, with_tcp):
    meta = meta_of(suite_frame(dst, dport, src, sport))
    assert Rss(enable=True, key=KEY).choose(meta) == (0, with_tcp, 2)
    only = Rss(enable=True, key=KEY, types=Types.IPV4 | Types.IPV6)
    assert only.choose(meta) == (0, alone, 1)
    assert hash_input(meta, Types.IPV4 | Types.IPV6)[1] == b"".join(ipaddress.ip_address(a).packed for a in (src, dst))


def test_a_hash_is_the_sum_of_the_hashes_of_its_bits(seed):
    """Toeplitz is linear, and a single bit gives the 32 bits of the key that begin there."""
    rng = random.Random(seed)
    bits = "".join(f"{byte:08b}" for byte in KEY)
    for _ in range(50):
        data = rng.randbytes(rng.choice([8, 12, 32, 36]))
        other = rng.randbytes(len(data))
        both = bytes(a ^ b for a, b in zip(data, other, strict=True))
        assert toeplitz(KEY, data) ^ toeplitz(KEY, other) == toeplitz(KEY, both)
        bit = rng.randrange(8 * len(data))
        single = (1 << 8 * len(data) - 1 - bit).to_bytes(len(data), "big")
        assert toeplitz(KEY, single) == int(bits[bit : bit + 32], 2)


def test_a_key_that_is_too_short_is_refused():
    toeplitz(KEY, bytes(36))
    with pytest.raises(ValueError, match="a key of 40 bytes"):
        toeplitz(KEY, bytes(37))


E = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
V4, V6 = IP(src="192.0.2.1", dst="192.0.2.2"), IPv6(src="2001:db8::1", dst="2001:db8::2")
T, U = TCP(sport=1, dport=2), UDP(sport=3, dport=4)
CASES = [
    (E / V4 / T, Types.IPV4_TCP, Types.IPV4),
    (E / V4 / U, Types.IPV4_UDP, Types.IPV4),
    (E / V4 / ICMP(), None, Types.IPV4),
    (E / IP(src="192.0.2.1", dst="192.0.2.2", flags="MF") / T, None, Types.IPV4),
    (E / IP(src="192.0.2.1", dst="192.0.2.2", frag=9, proto=6) / bytes(20), None, Types.IPV4),
    (E / V6 / T, Types.IPV6_TCP, Types.IPV6),
    (E / V6 / U, Types.IPV6_UDP, Types.IPV6),
    (E / V6 / IPv6ExtHdrDestOpt() / U, Types.IPV6_UDP, Types.IPV6),
    (E / V6 / IPv6ExtHdrFragment(m=1) / U, None, Types.IPV6),
    (E / ARP(), None, None),
]


@pytest.mark.parametrize("n", range(len(CASES)))
def test_ports_are_hashed_where_types_has_the_kind_and_nobody_cut_the_packet(n):
    frame, ports, addresses = CASES[n]
    meta = meta_of(frame)
    for types in range(64):
        kind, data = hash_input(meta, types)
        expected = 2 if ports and types & ports else 1 if addresses and types & addresses else 0
        assert kind == expected
        size = 16 if addresses == Types.IPV6 else 4
        assert len(data) == (0, 2 * size, 2 * size + 4)[kind]


def test_the_low_seven_bits_choose_in_the_table_and_a_rule_beats_it():
    table = [n * 7 % 8 for n in range(ENTRIES)]
    for dst, dport, src, sport, _, value in SUITE:
        meta = meta_of(suite_frame(dst, dport, src, sport))
        rss = Rss(enable=True, key=KEY, table=table)
        assert rss.choose(meta) == (table[value & 127], value, 2)
        assert rss.choose(meta | {"acl_queued": 1, "queue": 0}) == (0, value, 2)
        assert rss.choose(meta | {"acl_queued": 1, "queue": 6}) == (6, value, 2)
        assert rss.choose(meta | {"queue": 6}) == (table[value & 127], value, 2)
        assert Rss(key=KEY, table=table).choose(meta) == (0, 0, 0)
    other = Rss(enable=True, key=KEY, table=[5, *[1] * 127])
    assert other.choose(meta_of(E / ARP())) == (5, 0, 0)
