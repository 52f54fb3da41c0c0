"""ESP received: checks in their order, each reason of a drop, what leaves.

Sweep:    both modes, both families outside and inside, plain ESP and NAT-T, tags, options, extension headers
Stimulus: frames built byte by byte, sealed by ``cryptography`` in tb/ipsec/frames.py
Checks:   the frame that leaves, built here as well; the code, all counters, the window and the counts of the SA
Timing:   none
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher as LibraryCipher
from cryptography.hazmat.primitives.ciphers import algorithms, modes
from scapy.all import IP, TCP, UDP, IPv6, raw
from scapy.utils import checksum

from models.ipsec import COUNTERS, IpsecRx, Result
from models.ipsec_headers import add
from models.ipsec_sa import Cipher, Event, EventKind, Mode, Natt, Sa
from models.meta import Code
from models.parser import ParserModel
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
)

VLAN = bytes.fromhex("8100a005")
QINQ = bytes.fromhex("88a8000281000003")
INSIDE4 = ipv4(datagram(b"inner"), src="10.0.0.1", dst="10.0.0.2", tos=0x2E << 2)
INSIDE6 = ipv6(datagram(b"inner"), src="fd00::1", dst="fd00::2", traffic_class=0x2E << 2)
TUNNELLED = {4: INSIDE4, 41: INSIDE6}


def receiver(one: Sa, number: int = 5, **settings: bool) -> IpsecRx:
    rx = IpsecRx()
    rx.table.write(number, one)
    for name, value in settings.items():
        setattr(rx, name, value)
    return rx


def received(rx: IpsecRx, frame: bytes, bad: int = 0) -> Result:
    return rx.decap(frame, described(frame), bad)


def counted(rx: IpsecRx) -> dict[str, int]:
    assert set(rx.counters) <= set(COUNTERS)
    return {name: count for name, count in rx.counters.items() if count}


def protected(text: bytes, number: int = 1, **changes: object) -> bytes:
    """An IPv4 frame of ESP."""
    return ethernet(ipv4(esp(text, number, **changes), 50))  # type: ignore[arg-type]


GOOD = trailer(datagram(), 17)


# What leaves


def outer(version: int, payload: bytes, protocol: int, tos: int = 0) -> bytes:
    return ipv4(payload, protocol, tos=tos) if version == 4 else ipv6(payload, protocol, traffic_class=tos)


def in_udp(packet: bytes) -> bytes:
    return datagram(packet, 4500, 4501)


@pytest.mark.parametrize("tags", [b"", VLAN, QINQ], ids=["untagged", "tagged", "twice tagged"])
@pytest.mark.parametrize("natt", [Natt.NO, Natt.YES])
@pytest.mark.parametrize("version", [4, 6])
def test_transport_mode_leaves_the_packet_as_if_there_had_been_no_esp(version, natt, tags):
    rx = receiver(sa(natt=natt, ipv6=version == 6))
    packet = esp(GOOD)
    if natt is Natt.YES:
        frame = ethernet(outer(version, in_udp(packet), 17), tags)
    else:
        frame = ethernet(outer(version, packet, 50), tags)
    result = received(rx, frame)
    assert result.frame == ethernet(outer(version, datagram(), 17), tags)
    assert (result.meta, result.user) == ({"decrypted": 1, "sa": 5}, 0)
    assert counted(rx) == {"frames": 1, "secured": 1, "secured_bytes": len(GOOD)}


@pytest.mark.parametrize("tags", [b"", VLAN, QINQ], ids=["untagged", "tagged", "twice tagged"])
@pytest.mark.parametrize("natt", [Natt.NO, Natt.YES])
@pytest.mark.parametrize("inner", [4, 41])
@pytest.mark.parametrize("version", [4, 6])
def test_tunnel_mode_leaves_the_inner_packet_behind_the_frames_own_ethernet(version, inner, natt, tags):
    rx = receiver(sa(mode=Mode.TUNNEL, natt=natt, ipv6=version == 6))
    packet = esp(trailer(TUNNELLED[inner], inner))
    if natt is Natt.YES:
        frame = ethernet(outer(version, in_udp(packet), 17), tags)
    else:
        frame = ethernet(outer(version, packet, 50), tags)
    assert received(rx, frame).frame == ethernet(TUNNELLED[inner], tags)


def test_options_of_ipv4_stay_in_front_of_what_esp_carried():
    options = bytes.fromhex("94040000") + bytes(8)
    rx = receiver(sa())
    frame = ethernet(ipv4(esp(GOOD), 50, options=options))
    assert received(rx, frame).frame == ethernet(ipv4(datagram(), options=options))


@pytest.mark.parametrize(
    ("first", "headers"),
    [
        (0, "{next}00010400000000"),
        (60, "{next}00010400000000"),
        (0, "2b00010400000000" + "{next}02000000000000" + bytes(16).hex()),
        (44, "{next}00000012345678"),
        (0, "3c00010400000000" + "{next}00010400000000"),
    ],
    ids=["hop by hop", "destination", "hop by hop and routing", "fragment that is whole", "hop by hop and destination"],
)
def test_extension_headers_of_ipv6_stay_and_the_last_one_says_what_follows(first, headers):
    before, after = (bytes.fromhex(headers.format(next=value)) for value in ("32", "11"))
    rx = receiver(sa(ipv6=True))
    frame = ethernet(ipv6(esp(GOOD), first, extensions=before))
    assert received(rx, frame).frame == ethernet(ipv6(datagram(), first, extensions=after))


def test_ethernet_padding_behind_esp_goes():
    rx = receiver(sa())
    assert received(rx, protected(GOOD) + bytes(10)).frame == ethernet(ipv4(datagram()))


def test_the_ipv4_checksum_is_updated_and_right():
    rx = receiver(sa())
    out = received(rx, protected(GOOD)).frame
    assert out is not None and checksum(out[14:34]) == 0


@pytest.mark.parametrize("inner", [17, 4, 41, 6])
def test_an_sa_of_either_mode_goes_by_the_next_header(inner):
    rx = receiver(sa(mode=Mode.EITHER, natt=Natt.EITHER))
    payload = TUNNELLED.get(inner, datagram(bytes(20)))
    want = ethernet(payload) if inner in TUNNELLED else ethernet(ipv4(payload, inner))
    for number, packet in enumerate((esp(trailer(payload, inner), 1), esp(trailer(payload, inner), 2))):
        frame = ethernet(ipv4(in_udp(packet), 17) if number else ipv4(packet, 50))
        assert received(rx, frame).frame == want


@pytest.mark.parametrize("tag", [8, 12, 16])
@pytest.mark.parametrize("esn", [False, True])
@pytest.mark.parametrize("key", [KEY, bytes(range(32))], ids=["128", "256"])
def test_every_key_tag_and_number_length_decrypts(key, esn, tag):
    cipher = Cipher.AES_128_GCM if len(key) == 16 else Cipher.AES_256_GCM
    start = (5 << 32) - 1 if esn else 8
    rx = receiver(sa(cipher=cipher, key=key, tag=tag, esn=esn, sequence=start))
    for number in (start + 1, start + 2, start, start - 3):
        frame = protected(GOOD, number, key=key, tag=tag, esn=esn)
        assert received(rx, frame).frame == ethernet(ipv4(datagram()))


def test_sm4_gcm_decrypts_in_the_same_form():
    iv = b"12345678"
    aad = SPI.to_bytes(4, "big") + (1).to_bytes(4, "big")
    sealer = LibraryCipher(algorithms.SM4(KEY), modes.GCM(SALT + iv)).encryptor()
    sealer.authenticate_additional_data(aad)
    sealed = sealer.update(GOOD) + sealer.finalize() + sealer.tag
    frame = ethernet(ipv4(aad + iv + sealed, 50))
    assert received(receiver(sa(cipher=Cipher.SM4_GCM)), frame).frame == ethernet(ipv4(datagram()))
    without = IpsecRx(sm4=False)
    without.table.write(0, sa(cipher=Cipher.SM4_GCM))
    assert received(without, frame).code == Code.IPSEC_CIPHER


# What passes


@pytest.mark.parametrize(
    ("payload", "counter"),
    [
        (in_udp(bytes(4) + b"an IKE message"), "passed"),
        (datagram(b"\xff", 4500, 4500), "passed"),
        (in_udp(esp(GOOD)), "secured"),
        (datagram(bytes(40), 4500, 4500), "passed"),
        (datagram(esp(GOOD), 4499, 4501), "passed"),
    ],
    ids=["ike", "keepalive", "esp", "zeros are ike", "another port"],
)
def test_esp_ike_and_keepalive_at_port_4500_are_told_apart(payload, counter):
    rx = receiver(sa(natt=Natt.YES))
    frame = ethernet(ipv4(payload))
    result = received(rx, frame)
    assert rx.counters[counter] == rx.counters["frames"] == 1
    assert counter == "secured" or (result.frame == frame and not result.meta and result.user is None)


LEAVES: dict[str, tuple[Callable[[], bytes], Sa, str, Code]] = {
    "no_sa": (lambda: protected(GOOD, spi=1), sa(), "left_no_sa", Code.IPSEC_NO_SA),
    "cipher": (lambda: protected(GOOD), sa(cipher=Cipher.OTHER, key=b""), "left_cipher", Code.IPSEC_CIPHER),
    "first fragment": (
        lambda: ethernet(ipv4(esp(GOOD), 50, flags=0x2000)),
        sa(),
        "left_fragment",
        Code.IPSEC_FRAGMENT,
    ),
    "later fragment": (lambda: ethernet(ipv4(bytes(40), 50, flags=5)), sa(), "left_fragment", Code.IPSEC_FRAGMENT),
    "first fragment of UDP": (
        lambda: ethernet(ipv4(in_udp(esp(GOOD)), flags=0x2000)),
        sa(natt=Natt.YES),
        "left_fragment",
        Code.IPSEC_FRAGMENT,
    ),
    "fragment of IPv6": (
        lambda: ethernet(ipv6(esp(GOOD), 44, extensions=bytes.fromhex("3200000100000001"))),
        sa(ipv6=True),
        "left_fragment",
        Code.IPSEC_FRAGMENT,
    ),
}


@pytest.mark.parametrize("case", LEAVES)
def test_what_cannot_be_decrypted_is_the_hosts_or_dropped_by_policy(case):
    frame, one, counter, code = LEAVES[case]
    rx = receiver(one)
    result = received(rx, frame())
    assert result.frame == frame() and not result.meta
    assert counted(rx) == {"frames": 1, counter: 1}
    for name in ("drop_no_sa", "drop_cipher", "drop_fragment"):
        rx = receiver(one, **{name: True})
        result = received(rx, frame())
        if name == counter.replace("left", "drop"):
            assert (result.frame, result.code) == (None, code)
            assert counted(rx) == {"frames": 1, code.name.lower(): 1}
        else:
            assert result.frame == frame() and counted(rx) == {"frames": 1, counter: 1}


# Drops


@dataclass(frozen=True)
class Drop:
    """A frame with one thing wrong. ``before``: frames that come first and are good. ``late``: behind a good tag."""

    code: Code
    frame: bytes
    sa: Sa = field(default_factory=sa)
    before: tuple[bytes, ...] = ()
    late: bool = False
    also: tuple[tuple[str, int], ...] = ()


def flipped(frame: bytes, at: int, mask: int = 1) -> bytes:
    changed = bytearray(frame)
    changed[at] ^= mask
    return bytes(changed)


def with_length(frame: bytes, length: int) -> bytes:
    """An IPv4 frame whose ESP is cut so that the packet has this length."""
    return ethernet(ipv4(frame[34 : 14 + length], 50))


TUNNEL = sa(mode=Mode.TUNNEL)
AH = "32010000000000010000000a"
DROPS: dict[str, Drop] = {
    "SPI of no SA": Drop(Code.IPSEC_NO_SA, protected(GOOD, spi=SPI + 1)),
    "destination of no SA": Drop(Code.IPSEC_NO_SA, ethernet(ipv4(esp(GOOD), 50, dst="192.0.2.9"))),
    "family of no SA": Drop(
        Code.IPSEC_NO_SA, ethernet(ipv6(esp(GOOD), 50, dst="::" + HERE)), sa(dst=address(HERE), ipv6=False)
    ),
    "another cipher": Drop(Code.IPSEC_CIPHER, protected(GOOD), sa(cipher=Cipher.OTHER, key=b"")),
    "fragment": Drop(Code.IPSEC_FRAGMENT, ethernet(ipv4(esp(GOOD), 50, flags=0x2000))),
    "plain ESP of an SA with NAT-T": Drop(Code.IPSEC_POLICY, protected(GOOD), sa(natt=Natt.YES)),
    "NAT-T of an SA without": Drop(Code.IPSEC_POLICY, ethernet(ipv4(in_udp(esp(GOOD))))),
    "AH in front": Drop(Code.IPSEC_POLICY, ethernet(ipv4(bytes.fromhex(AH) + esp(GOOD), 51))),
    "segments left": Drop(
        Code.IPSEC_POLICY,
        ethernet(ipv6(esp(GOOD), 43, extensions=bytes.fromhex("3202000100000000") + bytes(16))),
        sa(ipv6=True),
    ),
    "outer checksum": Drop(Code.IPSEC_BAD_CHECKSUM, flipped(protected(GOOD), 24)),
    "no room for a text": Drop(Code.IPSEC_TRUNCATED, with_length(protected(GOOD), 20 + 8 + 8 + 16)),
    "no room for a tag": Drop(Code.IPSEC_TRUNCATED, with_length(protected(GOOD), 20 + 8 + 8 + 3)),
    "text of 3 bytes": Drop(Code.IPSEC_TRUNCATED, with_length(protected(GOOD), 20 + 8 + 8 + 16 + 3)),
    "frame ends before the packet": Drop(Code.IPSEC_TRUNCATED, protected(GOOD)[:-1]),
    "text of 6 bytes": Drop(Code.IPSEC_BAD_PADDING, protected(trailer(b"text", 59, b""))),
    "number 0": Drop(Code.IPSEC_REPLAY, protected(GOOD, 0)),
    "seen": Drop(Code.IPSEC_REPLAY, protected(GOOD, 7), before=(protected(GOOD, 7),)),
    "left of the window": Drop(Code.IPSEC_REPLAY, protected(GOOD, 36), before=(protected(GOOD, 100),)),
    "before number 0": Drop(Code.IPSEC_REPLAY, protected(GOOD, (1 << 32) - 1, esn=True), sa(esn=True), before=()),
    "packets": Drop(Code.IPSEC_LIFETIME, protected(GOOD, 2), sa(hard_packets=1), before=(protected(GOOD, 1),)),
    "bytes": Drop(
        Code.IPSEC_LIFETIME,
        protected(GOOD, 2),
        sa(hard_bytes=2 * len(GOOD) - 1),
        before=(protected(GOOD, 1),),
    ),
    "tag": Drop(Code.IPSEC_BAD_TAG, flipped(protected(GOOD), -1)),
    "ciphertext": Drop(Code.IPSEC_BAD_TAG, flipped(protected(GOOD), 14 + 20 + 16)),
    "IV": Drop(Code.IPSEC_BAD_TAG, flipped(protected(GOOD), 14 + 20 + 8)),
    "sequence number": Drop(Code.IPSEC_BAD_TAG, flipped(protected(GOOD), 14 + 20 + 7, 2)),
    "key": Drop(Code.IPSEC_BAD_TAG, protected(GOOD, key=bytes(16))),
    "salt": Drop(Code.IPSEC_BAD_TAG, protected(GOOD, salt=b"SALT")),
    "ESN that the peer hasn't": Drop(Code.IPSEC_BAD_TAG, protected(GOOD, 1, esn=True)),
    "pad length": Drop(Code.IPSEC_BAD_PADDING, protected(bytes(14) + bytes((15, 17))), late=True),
    "pad bytes": Drop(Code.IPSEC_BAD_PADDING, protected(trailer(b"ab", 17, bytes((1, 2, 4, 4)))), late=True),
    "pad bytes of 0": Drop(Code.IPSEC_BAD_PADDING, protected(trailer(b"abc", 17, bytes(3))), late=True),
    "dummy": Drop(Code.IPSEC_DUMMY, protected(trailer(bytes(30), 59)), late=True),
    "no packet in a tunnel": Drop(Code.IPSEC_POLICY, protected(GOOD), TUNNEL, late=True),
    "inner version": Drop(Code.IPSEC_BAD_INNER, protected(trailer(INSIDE6, 4)), TUNNEL, late=True),
    "inner version of IPv6": Drop(Code.IPSEC_BAD_INNER, protected(trailer(INSIDE4 + bytes(40), 41)), TUNNEL, late=True),
    "inner length": Drop(Code.IPSEC_BAD_INNER, protected(trailer(INSIDE4[:-1], 4)), TUNNEL, late=True),
    "inner length of IPv6": Drop(Code.IPSEC_BAD_INNER, protected(trailer(INSIDE6[:-1], 41)), TUNNEL, late=True),
    "inner header": Drop(Code.IPSEC_BAD_INNER, protected(trailer(INSIDE4[:19], 4)), TUNNEL, late=True),
    "inner header of IPv6": Drop(Code.IPSEC_BAD_INNER, protected(trailer(INSIDE6[:39], 41)), TUNNEL, late=True),
    "inner IHL": Drop(Code.IPSEC_BAD_INNER, protected(trailer(b"\x44" + INSIDE4[1:], 4)), TUNNEL, late=True),
    "inner length below IHL": Drop(
        Code.IPSEC_BAD_INNER, protected(trailer(b"\x48" + INSIDE4[1:3] + b"\x1f" + INSIDE4[4:], 4)), TUNNEL, late=True
    ),
    "congestion that the inner packet cannot carry": Drop(
        Code.IPSEC_ECN, ethernet(ipv4(esp(trailer(INSIDE4, 4)), 50, tos=3)), TUNNEL, late=True
    ),
}


@pytest.mark.parametrize("case", DROPS)
def test_a_drop_has_its_reason_and_counts_nothing_else(case):
    drop = DROPS[case]
    rx = receiver(drop.sa, drop_no_sa=True, drop_cipher=True, drop_fragment=True)
    for frame in drop.before:
        assert received(rx, frame).code == Code.NONE
    state = rx.table.read(5)
    assert state is not None
    start, packets = state.window.top, state.packets
    before = dict(rx.counters)
    result = received(rx, drop.frame)
    assert (result.frame, Code(result.code), dict(result.meta)) == (None, drop.code, {})
    moved = {name: count - before.get(name, 0) for name, count in rx.counters.items() if count - before.get(name, 0)}
    assert moved == {"frames": 1, drop.code.name.lower(): 1}
    # What comes behind a good tag moves the window, whatever the text says; nothing else does.
    assert (state.window.top, state.packets) == ((1, packets + 1) if drop.late else (start, packets))


def test_every_reason_of_receive_is_in_the_table():
    transmit_alone = {Code.IPSEC_SEQUENCE}
    judged = {drop.code for drop in DROPS.values()} | {Code.IPSEC_MTU}
    assert judged == {code for code in Code if code.name.startswith("IPSEC_")} - transmit_alone


def test_a_frame_that_the_block_cannot_hold_is_dropped_by_its_length():
    rx = IpsecRx(hold_beats=8)
    rx.table.write(0, sa())
    for number, (size, length, code) in enumerate(((50, 126, Code.NONE), (54, 130, Code.IPSEC_MTU)), 1):
        frame = protected(trailer(datagram(bytes(size)), 17), number)
        assert len(frame) == length and received(rx, frame).code == code
    assert rx.counters["ipsec_mtu"] == 1


@pytest.mark.parametrize("reason", [Code.NONE, Code.BAD_FCS])
def test_a_frame_that_comes_in_bad_ends_with_its_own_reason_and_moves_nothing(reason):
    mark = 1 | reason << 1
    rx = receiver(sa(), drop_no_sa=True)
    for frame in (protected(GOOD), flipped(protected(GOOD), -1), protected(GOOD, spi=1), protected(GOOD)[:-1]):
        result = received(rx, frame, mark)
        assert (result.frame, result.code) == (None, reason or Code.BAD_FRAME)
    state = rx.table.read(5)
    assert state is not None and (state.window.top, state.packets) == (0, 0)
    assert counted(rx) == {"frames": 4, "bad_in": 4}
    plain = ethernet(ipv4(datagram()))
    assert received(rx, plain, mark).frame == plain
    assert rx.counters["passed"] == 1


@pytest.mark.parametrize("tag", [8, 12, 16])
def test_each_bit_of_the_tag_counts_and_a_bad_one_moves_no_window(tag):
    rx = receiver(sa(tag=tag))
    frame = protected(GOOD, 1000, tag=tag)
    for bit in range(8 * tag):
        result = received(rx, flipped(frame, -1 - bit // 8, 1 << bit % 8))
        assert (result.frame, result.code) == (None, Code.IPSEC_BAD_TAG)
    assert counted(rx) == {"frames": 8 * tag, "ipsec_bad_tag": 8 * tag}
    # Nothing moved, so a number that 1000 would have made too old is still good.
    assert received(rx, protected(GOOD, 1, tag=tag)).code == Code.NONE
    assert received(rx, frame).code == Code.NONE


def test_all_paddings_to_255_bytes_are_taken_and_each_of_their_bytes_counts():
    for pads in range(256):
        payload = datagram(bytes(-(8 + pads + 2) % 4))
        rx = receiver(sa())
        frame = protected(trailer(payload, 17, bytes(range(1, pads + 1))))
        assert received(rx, frame).frame == ethernet(ipv4(payload))
    pads = bytes(range(1, 252))
    for at in range(len(pads)):
        wrong = flipped(pads, at, 0x80)
        rx = receiver(sa())
        assert received(rx, protected(trailer(bytes(3), 17, wrong))).code == Code.IPSEC_BAD_PADDING


# In flight


def test_two_copies_in_flight_leave_one_frame():
    rx = receiver(sa())
    frame = protected(GOOD, 9)
    first, second = rx.begin(frame, described(frame)), rx.begin(frame, described(frame))
    assert rx.finish(first).code == Code.NONE
    assert rx.finish(second).code == Code.IPSEC_REPLAY
    assert counted(rx) == {
        "frames": 2,
        "secured": 1,
        "secured_bytes": len(GOOD),
        "ipsec_replay": 1,
        "replay_late": 1,
    }


def test_a_frame_in_flight_is_too_old_when_the_window_has_passed_it():
    rx = receiver(sa(window=32))
    old, new = protected(GOOD, 1), protected(GOOD, 33)
    flights = [rx.begin(frame, described(frame)) for frame in (new, old)]
    assert [rx.finish(flight).code for flight in flights] == [Code.NONE, Code.IPSEC_REPLAY]


def test_the_high_half_of_a_frame_in_flight_stays_what_it_was():
    rx = receiver(sa(esn=True, sequence=(1 << 32) - 2))
    numbers = [(1 << 32) + 40, (1 << 32) - 1, 1 << 32]
    frames = [protected(GOOD, number, esn=True) for number in numbers]
    flights = [rx.begin(frame, described(frame)) for frame in frames]
    assert [rx.finish(flight).code for flight in flights] == [Code.NONE] * 3


def test_a_lifetime_that_ends_while_a_frame_is_in_flight_ends_the_frame():
    rx = receiver(sa(hard_packets=1))
    frames = [protected(GOOD, number) for number in (1, 2)]
    flights = [rx.begin(frame, described(frame)) for frame in frames]
    assert [rx.finish(flight).code for flight in flights] == [Code.NONE, Code.IPSEC_LIFETIME]
    assert rx.events == [Event(EventKind.HARD, 5)]


def test_a_forged_frame_ends_no_sa():
    rx = receiver(sa(hard_bytes=len(GOOD)))
    longer = flipped(protected(trailer(datagram(bytes(40)), 17), 1), -1)
    assert received(rx, longer).code == Code.IPSEC_BAD_TAG
    assert (rx.events, received(rx, protected(GOOD, 1)).code) == ([], Code.NONE)


def test_lifetimes_report_once_and_count_what_the_cipher_worked_on():
    n = len(GOOD)
    rx = receiver(sa(soft_packets=2, hard_packets=4, soft_bytes=3 * n))
    codes = [received(rx, protected(GOOD, number)).code for number in range(1, 7)]
    assert codes == [0, 0, 0, 0, Code.IPSEC_LIFETIME, Code.IPSEC_LIFETIME]
    assert rx.events == [Event(EventKind.SOFT, 5), Event(EventKind.HARD, 5)]
    state = rx.table.read(5)
    assert state is not None and (state.packets, state.bytes, state.soft, state.hard) == (4, 4 * n, True, True)
    assert rx.counters["soft_reached"] == 1
    rx = receiver(sa(soft_bytes=3 * n, hard_bytes=3 * n))
    assert [received(rx, protected(GOOD, number)).code for number in range(1, 5)] == [0, 0, 0, Code.IPSEC_LIFETIME]
    assert rx.events == [Event(EventKind.SOFT, 5), Event(EventKind.HARD, 5)]


# TFC, ECN, NAT


@pytest.mark.parametrize("extra", [1, 2, 40, 255, 1000])
@pytest.mark.parametrize("inner", [4, 41])
def test_tfc_padding_behind_the_inner_packet_goes(inner, extra):
    rx = receiver(TUNNEL)
    frame = protected(trailer(TUNNELLED[inner] + b"\x5a" * extra, inner))
    assert received(rx, frame).frame == ethernet(TUNNELLED[inner])


def test_tfc_padding_in_transport_mode_goes_where_udp_says_its_length():
    cases = (
        (17, datagram(b"abc") + bytes(9), datagram(b"abc")),
        (17, datagram(b"abc", length=7) + bytes(9), None),
        (17, datagram(b"abc", length=99) + bytes(9), None),
        (1, bytes.fromhex("0800f7ff00000000") + bytes(9), None),
    )
    for protocol, payload, left in cases:
        rx = receiver(sa())
        want = ethernet(ipv4(payload if left is None else left, protocol))
        assert received(rx, protected(trailer(payload, protocol))).frame == want


RFC6040 = """
    Not-ECT  Not-ECT Not-ECT Not-ECT drop
    ECT(0)   ECT(0)  ECT(0)  ECT(1)  CE
    ECT(1)   ECT(1)  ECT(1)  ECT(1)  CE
    CE       CE      CE      CE      CE
"""
"""Figure 4: inner, then what leaves by outer Not-ECT, ECT(0), ECT(1), CE."""
CODEPOINT = {"Not-ECT": 0, "ECT(0)": 2, "ECT(1)": 1, "CE": 3}


@pytest.mark.parametrize("inner", [4, 41])
@pytest.mark.parametrize("version", [4, 6])
def test_ecn_leaves_a_tunnel_as_rfc_6040_has_it(version, inner):
    judged = 0
    for line in RFC6040.split("\n")[1:-1]:
        inside, *leaves = line.split()
        for (name, at), want in zip(CODEPOINT.items(), leaves, strict=True):
            tos = 0x1A << 2
            build = ipv4 if inner == 4 else ipv6
            kind = "tos" if inner == 4 else "traffic_class"
            packets = {
                ecn: build(datagram(b"x"), **{kind: tos | ecn})  # type: ignore[arg-type]
                for ecn in CODEPOINT.values()
            }
            rx = receiver(sa(mode=Mode.TUNNEL, ipv6=version == 6))
            frame = ethernet(outer(version, esp(trailer(packets[CODEPOINT[inside]], inner)), 50, tos=0x2E << 2 | at))
            result = received(rx, frame)
            if want == "drop":
                assert result.code == Code.IPSEC_ECN
            else:
                assert result.frame == ethernet(packets[CODEPOINT[want]]), (inside, name)
            judged += 1
    assert judged == 16


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("l4", [TCP, UDP])
def test_l4_checksums_are_corrected_for_addresses_that_a_nat_changed(l4, version):
    """RFC 3948 3.1.2: the peer summed its own address; the frame has the one that the NAT gave it."""
    original, seen = ("10.1.2.3", THERE) if version == 4 else ("fd00::7", THERE6)
    here = HERE if version == 4 else HERE6
    kind = IP if version == 4 else IPv6
    for size in range(6):
        payload = raw(kind(src=original, dst=here) / l4(sport=80, dport=99) / bytes(range(size)))
        payload = payload[20 if version == 4 else 40 :]
        words = {name: kind(src=name, dst=here) for name in (original, seen)}
        sums = {
            name: ~checksum(raw(found)[12:16] if version == 4 else raw(found)[8:24]) & 0xFFFF
            for name, found in words.items()
        }
        delta = add(sums[seen], ~sums[original] & 0xFFFF)
        protocol = {TCP: 6, UDP: 17}[l4]
        frame = ethernet(outer(version, in_udp(esp(trailer(payload, protocol))), 17))
        right = received(receiver(sa(natt=Natt.YES, ipv6=version == 6, nat_delta=delta)), frame).frame
        left = received(receiver(sa(natt=Natt.YES, ipv6=version == 6)), frame).frame
        assert right is not None and left is not None
        verdicts = [ParserModel().parse(out).user >> 8 for out in (right, left)]
        assert verdicts == [1, 2], "1 good, 2 bad"


def test_a_udp_checksum_of_0_stays_and_a_result_of_0_is_written_as_ones():
    def out(payload: bytes, delta: int) -> bytes:
        frame = ethernet(ipv4(in_udp(esp(trailer(payload, 17)))))
        found = received(receiver(sa(natt=Natt.YES, nat_delta=delta)), frame).frame
        assert found is not None
        return found[34 + 6 : 34 + 8]

    assert out(datagram(), 5) == bytes(2)
    stood = datagram()[:6] + (5).to_bytes(2, "big") + b"payload"
    assert out(stood, 5) == b"\xff\xff"


# The table


def test_an_sa_is_found_by_spi_destination_and_family_among_256():
    rx = IpsecRx()
    keys = {}
    for number in range(256):
        spi, last, six = 0x100 + number % 4, number // 8 % 32, number // 4 % 2 == 1
        dst = f"2001:db8::{last:x}" if six else f"192.0.2.{last}"
        keys[spi, dst] = (number, bytes((number,)) * 16)
        rx.table.write(number, sa(spi=spi, dst=address(dst), ipv6=six, key=keys[spi, dst][1]))
    assert len(keys) == 256
    for (spi, dst), (number, key) in keys.items():
        packet = esp(GOOD, spi=spi, key=key)
        frame = ethernet(ipv6(packet, 50, dst=dst) if ":" in dst else ipv4(packet, 50, dst=dst))
        result = received(rx, frame)
        assert (result.code, result.meta.get("sa")) == (Code.NONE, number)


def test_a_written_sa_begins_anew_and_a_removed_one_is_not_found():
    rx = receiver(sa(hard_packets=1))
    assert received(rx, protected(GOOD, 1)).code == Code.NONE
    assert received(rx, protected(GOOD, 2)).code == Code.IPSEC_LIFETIME
    rx.table.write(5, sa())
    assert received(rx, protected(GOOD, 1)).code == Code.NONE
    rx.table.remove(5)
    assert list(rx.table) == []
    assert received(rx, protected(GOOD, 2)).frame == protected(GOOD, 2)
    for number in (-1, 256):
        with pytest.raises(ValueError, match="0 to 255"):
            rx.table.write(number, sa())


def test_the_lowest_number_wins_where_two_sas_are_alike():
    rx = receiver(sa(key=bytes(16)), 9)
    rx.table.write(3, sa())
    assert received(rx, protected(GOOD)).meta["sa"] == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"tag": 10},
        {"key": bytes(15)},
        {"salt": bytes(3)},
        {"spi": 1 << 32},
        {"dst": 1 << 32},
        {"ttl": 256},
        {"mtu": 1 << 16},
        {"dscp": 64},
        {"flow_label": 1 << 20},
        {"hard_bytes": 1 << 64},
        {"window": 48},
        {"esn": True, "window": 0},
    ],
    ids=str,
)
def test_an_sa_that_no_table_has_room_for_is_refused(wrong):
    with pytest.raises(ValueError, match=r"wanted|need"):
        sa(**wrong)


def test_fields_of_a_metadata_word_are_taken_by_name():
    given = described(protected(GOOD))
    assert replace(given, l3_kind=0) != given
    assert given.of({"l3_kind": 2, "seq": 5}).l3_kind == 2
