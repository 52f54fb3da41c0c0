"""ESP transmitted: checks in their order, each reason of a drop, headers byte by byte, and the way back.

Sweep:    both modes, both families outside and inside, plain ESP and NAT-T, all lengths of padding
Stimulus: frames built byte by byte; random ones under Hypothesis
Checks:   the frame that leaves, built here and sealed by ``cryptography``; the code, all counters, the SA's state; what
          ``ipsec_rx`` makes of it again
Timing:   none
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.all import IP, IPv6
from scapy.utils import checksum

from models.ipsec import IpsecRx, IpsecTx, Result
from models.ipsec_headers import udp
from models.ipsec_sa import Cipher, Df, Event, EventKind, Mode, Natt, Sa
from models.meta import Code
from tb.ipsec.frames import (
    HERE,
    HERE6,
    KEY,
    SALT,
    SPI,
    THERE,
    THERE6,
    address,
    datagram,
    described,
    esp,
    ethernet,
    ipv4,
    ipv6,
    sa,
    trailer,
    unsealed,
)

PLAIN4 = ipv4(datagram(b"plain"), src="10.0.0.1", dst="10.0.0.2", tos=0xB8)
PLAIN6 = ipv6(datagram(b"plain"), src="fd00::1", dst="fd00::2", traffic_class=0xB8)
PLAIN = {4: PLAIN4, 6: PLAIN6}
TAG = bytes.fromhex("8100a005")


def tunnel(version: int = 4, **changes: object) -> Sa:
    src, dst = (HERE, THERE) if version == 4 else (HERE6, THERE6)
    return sa(**({"mode": Mode.TUNNEL, "ipv6": version == 6, "src": address(src), "dst": address(dst)} | changes))


def transmitter(one: Sa, number: int = 5) -> IpsecTx:
    tx = IpsecTx()
    tx.table.write(number, one)
    return tx


def sent(tx: IpsecTx, frame: bytes, bad: int = 0, number: int = 5) -> Result:
    return tx.encap(frame, described(frame, protect=number), bad)


def out_of(one: Sa, frame: bytes) -> bytes:
    found = sent(transmitter(one), frame)
    assert found.frame is not None, Code(found.code).name
    return found.frame


def counted(tx: IpsecTx) -> dict[str, int]:
    return {name: count for name, count in tx.counters.items() if count}


def iv(number: int) -> bytes:
    return number.to_bytes(8, "big")


# What leaves


@pytest.mark.parametrize("tags", [b"", TAG], ids=["untagged", "tagged"])
@pytest.mark.parametrize("natt", [Natt.NO, Natt.YES])
def test_transport_mode_puts_esp_behind_the_ip_header(natt, tags):
    text = trailer(datagram(b"plain"), 17)
    packet = esp(text, 1, iv=iv(1))
    payload, protocol = (packet, 50) if natt is Natt.NO else (datagram(packet, 4500, 4501), 17)
    for options in (b"", bytes.fromhex("94040000")):
        given = ethernet(ipv4(datagram(b"plain"), options=options, tos=0x2F), tags)
        want = ethernet(ipv4(payload, protocol, options=options, tos=0x2F), tags)
        assert out_of(sa(natt=natt, dst_port=4501), given) == want


def test_transport_mode_puts_esp_behind_all_extension_headers():
    for first, headers in ((0, "{next}00010400000000"), (44, "{next}00000012345678")):
        before, after = (bytes.fromhex(headers.format(next=value)) for value in ("11", "32"))
        given = ethernet(ipv6(datagram(b"plain"), first, extensions=before))
        packet = esp(trailer(datagram(b"plain"), 17), 1, iv=iv(1))
        assert out_of(sa(ipv6=True), given) == ethernet(ipv6(packet, first, extensions=after))


@pytest.mark.parametrize("inner", [4, 6])
def test_tunnel_mode_puts_the_whole_packet_behind_a_new_header(inner):
    packet = esp(trailer(PLAIN[inner], {4: 4, 6: 41}[inner]), 1, iv=iv(1))
    want = ipv4(packet, 50, src=HERE, dst=THERE, tos=0xB8, identification=1)
    assert out_of(tunnel(), ethernet(PLAIN[inner], TAG)) == ethernet(want, TAG)
    want = ipv6(packet, 50, src=HERE6, dst=THERE6, traffic_class=0xB8, flow=0x54321)
    assert out_of(tunnel(6, flow_label=0x54321), ethernet(PLAIN[inner], TAG)) == ethernet(want, TAG)


def test_a_tunnel_takes_fragments_and_packets_that_no_parser_reads_to_their_end():
    for flags in (0x2000, 5, 0x4000):
        packet = ipv4(datagram(b"plain"), flags=flags)
        frame = out_of(tunnel(), ethernet(packet))
        assert unsealed(frame[34:], KEY, SALT)[: len(packet)] == packet
    broken = ipv4(b"\x50", 6)
    assert described(ethernet(broken)).parse_code != 0
    assert unsealed(out_of(tunnel(), ethernet(broken))[34:], KEY, SALT)[: len(broken)] == broken


def test_ethernet_padding_isnt_encrypted():
    assert out_of(tunnel(), ethernet(PLAIN4) + bytes(13)) == out_of(tunnel(), ethernet(PLAIN4))


@pytest.mark.parametrize("mode", [Mode.TRANSPORT, Mode.TUNNEL])
def test_padding_is_0_to_3_bytes_that_count_from_1(mode):
    found = set()
    for size in range(40):
        packet = ipv4(datagram(bytes(size)))
        frame = out_of(tunnel(mode=mode), ethernet(packet))
        text = unsealed(frame[34:], KEY, SALT)
        pads, payload = text[-2], packet if mode is Mode.TUNNEL else packet[20:]
        assert text == payload + bytes(range(1, pads + 1)) + bytes((pads, 4 if mode is Mode.TUNNEL else 17))
        assert pads < 4 and len(text) % 4 == 0
        found.add(pads)
    assert found == {0, 1, 2, 3}


@dataclass(frozen=True)
class Outer:
    """A tunnel's setting, an inner field, and what it makes of the outer header."""

    sa: dict[str, object]
    inner: dict[str, int]
    want: dict[str, int]
    versions: tuple[int, ...] = (4, 6)


OUTER: dict[str, Outer] = {
    "dscp is copied": Outer({}, {"tos": 0x2E << 2}, {"tos": 0x2E << 2}),
    "dscp is fixed": Outer({"dscp": 9}, {"tos": 0x2E << 2 | 1}, {"tos": 9 << 2 | 1}),
    "dscp is fixed at 0": Outer({"dscp": 0}, {"tos": 0x2E << 2 | 2}, {"tos": 2}),
    **{f"ecn {ecn} is copied": Outer({}, {"tos": ecn}, {"tos": ecn}) for ecn in range(4)},
    **{f"ecn {ecn} is cleared": Outer({"ecn_compat": True}, {"tos": ecn}, {"tos": 0}) for ecn in range(4)},
    "ttl is the SA's": Outer({"ttl": 33}, {"ttl": 5}, {"ttl": 33}),
    "ttl is copied": Outer({"ttl": 0}, {"ttl": 5}, {"ttl": 5}),
    "df is copied": Outer({}, {"flags": 0x4000}, {"df": 1}, (4,)),
    "df is copied as 0": Outer({}, {"flags": 0}, {"df": 0}, (4,)),
    "df is set": Outer({"df": Df.SET}, {"flags": 0}, {"df": 1}, (4,)),
    "df is cleared": Outer({"df": Df.CLEAR}, {"flags": 0x4000}, {"df": 0}, (4,)),
    "flow label": Outer({"flow_label": 0xFEDCB}, {}, {"flow": 0xFEDCB}, (6,)),
    "identification": Outer({"sequence": 0x1233F}, {}, {"id": 0x2340}, (4,)),
}


def outer_of(frame: bytes, version: int) -> dict[str, int]:
    if version == 4:
        found = IP(frame[14:])
        return {"tos": found.tos, "ttl": found.ttl, "df": int(found.flags.DF), "id": found.id}
    six = IPv6(frame[14:])
    return {"tos": six.tc, "ttl": six.hlim, "flow": six.fl}


@pytest.mark.parametrize("case", OUTER)
def test_a_field_of_the_outer_header_comes_from_where_the_sa_says(case):
    one = OUTER[case]
    for version in one.versions:
        frame = out_of(tunnel(version, **one.sa), ethernet(ipv4(datagram(), **one.inner)))  # type: ignore[arg-type]
        found = outer_of(frame, version)
        assert {name: found[name] for name in one.want} == one.want
        if version == 4:
            assert checksum(frame[14:34]) == 0


def test_df_over_an_inner_ipv6_packet_is_1_when_copied():
    for df, want in ((Df.COPY, 1), (Df.CLEAR, 0), (Df.SET, 1)):
        assert outer_of(out_of(tunnel(df=df), ethernet(PLAIN6)), 4)["df"] == want


def test_the_inner_packet_is_not_changed_and_its_ttl_neither():
    packet = ipv4(datagram(), ttl=1, tos=3)
    assert unsealed(out_of(tunnel(), ethernet(packet))[34:], KEY, SALT)[: len(packet)] == packet


def test_a_wrong_checksum_of_the_hosts_header_stays_wrong():
    packet = bytearray(ethernet(PLAIN4))
    packet[24] ^= 0x55
    frame = out_of(sa(), bytes(packet))
    assert checksum(frame[14:34]) != 0
    assert sent(transmitter(sa()), bytes(packet)).meta.get("ip_checksum", 2) == 2


def test_the_iv_is_the_number_and_the_high_half_is_in_what_the_tag_covers():
    start = (7 << 32) - 2
    tx = transmitter(tunnel(esn=True, sequence=start))
    for number in range(start + 1, start + 4):
        found = sent(tx, ethernet(PLAIN4)).frame
        assert found is not None
        packet = found[34:]
        assert (packet[4:8], packet[8:16]) == ((number & 0xFFFFFFFF).to_bytes(4, "big"), iv(number))
        assert unsealed(packet, KEY, SALT, number >> 32)[: len(PLAIN4)] == PLAIN4


# What passes, drops


def test_a_frame_without_protect_passes_as_it_came():
    tx = transmitter(tunnel())
    frame = ethernet(PLAIN4) + bytes(20)
    for bad in (0, 1 | Code.BAD_FRAME << 1):
        result = tx.encap(frame, described(frame), bad)
        assert (result.frame, dict(result.meta), result.user) == (frame, {}, None)
    assert counted(tx) == {"frames": 2, "passed": 2}


@dataclass(frozen=True)
class Drop:
    """A frame with one thing wrong. ``taken``: a number was used for it."""

    code: Code
    frame: bytes = ethernet(PLAIN4)
    sa: Sa = field(default_factory=tunnel)
    number: int = 5
    before: int = 0
    taken: bool = False


AH4 = ipv4(bytes.fromhex("11010000000000010000000a") + datagram(), 51)
DROPS: dict[str, Drop] = {
    "SA that isn't there": Drop(Code.IPSEC_NO_SA, number=6),
    "SA beyond the table": Drop(Code.IPSEC_NO_SA, number=4095),
    "another cipher": Drop(Code.IPSEC_CIPHER, sa=tunnel(cipher=Cipher.OTHER, key=b"")),
    "no IP": Drop(Code.IPSEC_POLICY, ethernet(PLAIN4)[:12] + b"\x08\x06" + bytes(46)),
    "transport of what isn't read to its end": Drop(Code.IPSEC_POLICY, ethernet(ipv4(b"\x50", 6)), sa()),
    "transport with AH": Drop(Code.IPSEC_POLICY, ethernet(AH4), sa()),
    "NAT-T with segments left": Drop(
        Code.IPSEC_POLICY,
        ethernet(ipv6(datagram(), 43, extensions=bytes.fromhex("1102000100000000") + bytes(16))),
        sa(ipv6=True, natt=Natt.YES),
    ),
    "transport of a fragment": Drop(Code.IPSEC_FRAGMENT, ethernet(ipv4(datagram(), flags=0x2000)), sa()),
    "transport of a later fragment": Drop(Code.IPSEC_FRAGMENT, ethernet(ipv4(datagram(), flags=9)), sa()),
    "MTU": Drop(Code.IPSEC_MTU, sa=tunnel(mtu=87)),
    "end of 32-bit numbers": Drop(Code.IPSEC_SEQUENCE, sa=tunnel(sequence=(1 << 32) - 2), before=1),
    "end of 64-bit numbers": Drop(Code.IPSEC_SEQUENCE, sa=tunnel(esn=True, sequence=(1 << 64) - 2), before=1),
    "packets": Drop(Code.IPSEC_LIFETIME, sa=tunnel(hard_packets=2), before=2),
    "bytes": Drop(Code.IPSEC_LIFETIME, sa=tunnel(hard_bytes=3 * 36 - 1), before=2),
    "frame ends before the packet": Drop(Code.IPSEC_TRUNCATED, ethernet(PLAIN4)[:-1], taken=True),
}


@pytest.mark.parametrize("case", DROPS)
def test_a_drop_has_its_reason_and_counts_nothing_else(case):
    drop = DROPS[case]
    tx = transmitter(drop.sa)
    for _ in range(drop.before):
        assert sent(tx, ethernet(PLAIN4)).code == Code.NONE
    state = tx.table.read(5)
    assert state is not None
    used, packets, before = state.used, state.packets, dict(tx.counters)
    result = sent(tx, drop.frame, number=drop.number)
    assert (result.frame, Code(result.code), dict(result.meta)) == (None, drop.code, {})
    moved = {name: count - before.get(name, 0) for name, count in tx.counters.items() if count - before.get(name, 0)}
    assert moved == {"frames": 1, drop.code.name.lower(): 1}
    assert (state.used, state.packets) == (used + drop.taken, packets + drop.taken)


def test_every_reason_of_transmit_is_in_the_table():
    assert {drop.code for drop in DROPS.values()} == {
        Code.IPSEC_NO_SA,
        Code.IPSEC_CIPHER,
        Code.IPSEC_POLICY,
        Code.IPSEC_FRAGMENT,
        Code.IPSEC_MTU,
        Code.IPSEC_SEQUENCE,
        Code.IPSEC_LIFETIME,
        Code.IPSEC_TRUNCATED,
    }


def test_sm4_without_an_engine_for_it_is_dropped_and_never_sent_in_the_clear():
    tx = IpsecTx(sm4=False)
    tx.table.write(5, tunnel(cipher=Cipher.SM4_GCM))
    assert sent(tx, ethernet(PLAIN4)).code == Code.IPSEC_CIPHER


@pytest.mark.parametrize("natt", [Natt.NO, Natt.YES])
@pytest.mark.parametrize("mode", [Mode.TRANSPORT, Mode.TUNNEL])
@pytest.mark.parametrize("version", [4, 6])
def test_a_packet_of_exactly_the_mtu_leaves_whole_and_one_byte_more_is_dropped(version, mode, natt):
    frame = ethernet(PLAIN[version])
    length = len(out_of(tunnel(version, mode=mode, natt=natt), frame)) - 14
    for setting in ("mtu", "max_packet"):
        for limit, code in ((length, Code.NONE), (length - 1, Code.IPSEC_MTU)):
            tx = transmitter(tunnel(version, mode=mode, natt=natt, mtu=limit if setting == "mtu" else 0))
            if setting == "max_packet":
                tx.max_packet = limit
            assert sent(tx, frame).code == code
    small = IpsecTx(hold_beats=4)
    small.table.write(5, tunnel(version, mode=mode, natt=natt))
    assert sent(small, frame).code == Code.IPSEC_MTU


def test_an_sa_that_ended_says_so_once_and_stays_ended():
    tx = transmitter(tunnel(sequence=(1 << 32) - 2))
    codes = [sent(tx, ethernet(PLAIN4)).code for _ in range(4)]
    assert codes == [Code.NONE, *[Code.IPSEC_SEQUENCE] * 3]
    assert tx.events == [Event(EventKind.ENDED, 5)]
    state = tx.table.read(5)
    assert state is not None and state.ended and state.used == (1 << 32) - 1


def test_lifetimes_report_once_and_count_what_the_cipher_works_on():
    n = 36
    assert len(trailer(PLAIN4, 4)) == n
    tx = transmitter(tunnel(soft_packets=2, hard_bytes=3 * n))
    codes = [sent(tx, ethernet(PLAIN4)).code for _ in range(5)]
    assert codes == [0, 0, 0, Code.IPSEC_LIFETIME, Code.IPSEC_LIFETIME]
    assert tx.events == [Event(EventKind.SOFT, 5), Event(EventKind.HARD, 5)]
    state = tx.table.read(5)
    assert state is not None and (state.packets, state.bytes) == (3, 3 * n)
    assert counted(tx) == {
        "frames": 5,
        "secured": 3,
        "secured_bytes": 3 * n,
        "soft_reached": 1,
        "ipsec_lifetime": 2,
    }


@pytest.mark.parametrize("reason", [Code.NONE, Code.OVERSIZE])
def test_a_frame_that_comes_in_bad_ends_with_its_own_reason_and_its_number_is_a_gap(reason):
    tx = transmitter(tunnel())
    result = sent(tx, ethernet(PLAIN4), 1 | reason << 1)
    assert (result.frame, result.code) == (None, reason or Code.BAD_FRAME)
    assert counted(tx) == {"frames": 1, "bad_in": 1}
    found = sent(tx, ethernet(PLAIN4)).frame
    assert found is not None and found[38:42] == (2).to_bytes(4, "big")


# And back


@st.composite
def cases(draw: st.DrawFn) -> tuple[bytes, Sa]:
    inner = draw(st.sampled_from([4, 6]))
    tos = draw(st.integers(0, 255))
    payload = datagram(draw(st.binary(max_size=90)))
    hops = draw(st.integers(1, 255))
    packet = (
        ipv4(payload, tos=tos, ttl=hops, options=bytes(4 * draw(st.integers(0, 10))))
        if inner == 4
        else ipv6(payload, traffic_class=tos, hops=hops)
    )
    mode = draw(st.sampled_from([Mode.TRANSPORT, Mode.TUNNEL]))
    outer = draw(st.sampled_from([4, 6])) if mode is Mode.TUNNEL else inner
    esn = draw(st.booleans())
    cipher = draw(st.sampled_from([Cipher.AES_128_GCM, Cipher.AES_256_GCM, Cipher.SM4_GCM]))
    one = tunnel(
        outer,
        mode=mode,
        cipher=cipher,
        key=draw(st.binary(min_size=32 if cipher is Cipher.AES_256_GCM else 16, max_size=32))[
            : 32 if cipher is Cipher.AES_256_GCM else 16
        ],
        salt=draw(st.binary(min_size=4, max_size=4)),
        natt=draw(st.sampled_from([Natt.NO, Natt.YES])),
        esn=esn,
        tag=draw(st.sampled_from([8, 12, 16])),
        sequence=draw(st.sampled_from([0, 77, (1 << 32) - 5] + ([(1 << 32) - 1, 9 << 32] if esn else []))),
    )
    tags = draw(st.sampled_from([b"", TAG]))
    return ethernet(packet, tags), one


@settings(max_examples=200)
@given(cases())
def test_what_transmit_encrypts_receive_decrypts_to_the_same_frame(case):
    frame, one = case
    out = out_of(one, frame)
    given_out = described(out)
    rx = IpsecRx()
    rx.table.write(3, replace(one, dst=given_out.ip_dst, ipv6=given_out.l3_kind == 2))
    result = rx.decap(out, given_out)
    assert result.frame == frame, Code(result.code).name
    assert rx.decap(out, given_out).code == Code.IPSEC_REPLAY


def test_a_udp_checksum_that_sums_to_0_is_written_as_ones():
    """RFC 768: 0 says that there is none. What makes the sum 0 is the checksum itself, as payload."""
    addresses = bytes(range(32))
    first = udp(4500, 4500, bytes(2), addresses)
    assert first[6:8] != b"\xff\xff"
    assert udp(4500, 4500, first[6:8], addresses)[6:8] == b"\xff\xff"
    assert udp(4500, 4500, first[6:8], None)[6:8] == bytes(2)


def test_spi_of_the_frame_is_that_of_the_sa():
    assert out_of(tunnel(spi=0xDEADBEEF), ethernet(PLAIN4))[34:38].hex() == "deadbeef"
    assert out_of(tunnel(), ethernet(PLAIN4))[34:38] == SPI.to_bytes(4, "big")
