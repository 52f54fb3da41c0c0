"""Kinds of faults that ESP implementations had in the field, one test each, named after the rule.

Sweep:    those of the project's list that are ESP's; AAD and streams of GCM are the engine's
Stimulus: frames built in tb/ipsec/frames.py
Checks:   the rule that the fault broke
Timing:   none
"""

from __future__ import annotations

import pytest

from models.ipsec import IpsecRx, IpsecTx
from models.ipsec_sa import Mode, Natt, Sa
from models.meta import Code
from tb.ipsec.frames import (
    HERE,
    HERE6,
    SPI,
    THERE,
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

TEXT = trailer(datagram(), 17)


def receiver(*sas: Sa) -> IpsecRx:
    rx = IpsecRx()
    for number, one in enumerate(sas):
        rx.table.write(number, one)
    return rx


def code(rx: IpsecRx, number: int, frame: bytes | None = None) -> int:
    frame = ethernet(ipv4(esp(TEXT, number), 50)) if frame is None else frame
    return rx.decap(frame, described(frame)).code


def test_padding_is_to_4_bytes_and_no_more():
    """scapy#2322, vpp#3390, odp#1125: padded to the cipher's block, an inner packet of 1446 bytes became 1508."""
    for length in range(1439, 1447):
        tx = IpsecTx()
        tx.table.write(0, sa(mode=Mode.TUNNEL, src=address(HERE), dst=address(THERE), mtu=1500))
        frame = ethernet(ipv4(datagram(bytes(length - 28))))
        found = tx.encap(frame, described(frame, protect=0)).frame
        assert found is not None
        assert len(found) - 14 == 20 + 16 + length + -(length + 2) % 4 + 2 + 16 <= 1500


def test_sas_with_tags_of_8_12_and_16_bytes_stand_side_by_side():
    """scapy#4903: 16 bytes came, whatever length was asked."""
    tags = (8, 12, 16)
    rx = receiver(*(sa(spi=SPI + tag, tag=tag) for tag in tags))
    tx = IpsecTx()
    lengths = []
    for number, tag in enumerate(tags):
        tx.table.write(number, sa(spi=SPI + tag, tag=tag))
        frame = ethernet(ipv4(datagram()))
        found = tx.encap(frame, described(frame, protect=number)).frame
        assert found is not None and rx.decap(found, described(found)).frame == frame
        lengths.append(len(found))
    assert [length - lengths[0] for length in lengths] == [0, 4, 8]


def test_no_udp_header_is_left_of_nat_traversal_over_ipv6():
    """scapy#4371: the UDP header stayed in front of what ESP carried."""
    frame = ethernet(ipv6(datagram(esp(TEXT), 4500, 4500)))
    rx = receiver(sa(ipv6=True, natt=Natt.YES))
    assert rx.decap(frame, described(frame)).frame == ethernet(ipv6(datagram()))


def test_the_high_half_of_an_extended_number_is_in_the_tag():
    """scapy#3908, odp#1261: it was left out, or stood at the wrong place."""
    one = sa(esn=True)
    sealed = {one.encrypt(high << 32 | 5, bytes(8), TEXT)[-16:] for high in (0, 1)}
    assert len(sealed) == 2
    start = (1 << 32) - 3
    rx = receiver(sa(esn=True, sequence=start))
    for number in range(start + 1, start + 6):
        frame = ethernet(ipv4(esp(TEXT, number, esn=True), 50))
        assert code(rx, number, frame) == Code.NONE
        wrong = ethernet(ipv4(esp(TEXT, number + 1 + (1 << 32), esn=True), 50))
        assert code(rx, number, wrong) == Code.IPSEC_BAD_TAG


@pytest.mark.parametrize("size", [32, 64, 128])
def test_the_window_has_its_size_and_a_bad_tag_does_not_move_it(size):
    """libreswan#968, #1515, cilium#47284: windows of 128 refused, frames counted before their tag."""
    head = 5000
    for behind, want in ((size - 1, Code.NONE), (size, Code.IPSEC_REPLAY), (size + 1, Code.IPSEC_REPLAY)):
        rx = receiver(sa(window=size))
        assert code(rx, head) == Code.NONE
        far = bytearray(ethernet(ipv4(esp(TEXT, head + 100), 50)))
        far[-1] ^= 1
        assert code(rx, 0, bytes(far)) == Code.IPSEC_BAD_TAG
        near = bytearray(ethernet(ipv4(esp(TEXT, head - 3), 50)))
        near[-1] ^= 1
        assert code(rx, 0, bytes(near)) == Code.IPSEC_BAD_TAG
        assert code(rx, head - behind) == want
        assert code(rx, head - 3) == Code.NONE


def test_port_4500_has_three_kinds_of_datagrams():
    """libreswan#986: IKE behind the non-ESP marker was forgotten."""
    rx = receiver(sa(natt=Natt.YES))
    kinds = (datagram(bytes(4) + b"IKE", 4500, 4500), datagram(b"\xff", 4500, 4500), datagram(esp(TEXT), 4500, 4500))
    frames = [ethernet(ipv4(payload)) for payload in kinds]
    results = [rx.decap(frame, described(frame)) for frame in frames]
    assert [result.frame for result in results] == [frames[0], frames[1], ethernet(ipv4(datagram()))]
    assert (rx.counters["passed"], rx.counters["secured"]) == (2, 1)


def test_frames_of_two_sas_in_flight_do_not_mix():
    """caliptra-sw#2302, optee_os#8012: what was kept of one stream was lost when another came between."""
    keys = {SPI: bytes(range(16)), SPI + 1: bytes(range(1, 17))}
    rx = receiver(*(sa(spi=spi, key=key) for spi, key in keys.items()))
    frames = [
        ethernet(ipv4(esp(trailer(datagram(bytes(size)), 17), size + 1, spi=spi, key=keys[spi]), 50))
        for size in (0, 1, 40, 7)
        for spi in keys
    ]
    flights = [rx.begin(frame, described(frame)) for frame in frames]
    found = [rx.finish(flight) for flight in flights]
    assert [result.meta["sa"] for result in found] == [0, 1] * 4
    want = [ethernet(ipv4(datagram(bytes(size)))) for size in (0, 1, 40, 7) for _ in keys]
    assert [result.frame for result in found] == want


def test_one_bit_of_each_byte_of_the_tag_is_enough():
    """AArch64cryptolib#5: the length of what was compared was 0."""
    rx = receiver(sa())
    frame = ethernet(ipv4(esp(TEXT), 50))
    for at in range(16):
        wrong = bytearray(frame)
        wrong[-16 + at] ^= 1 << at % 8
        assert code(rx, 0, bytes(wrong)) == Code.IPSEC_BAD_TAG
    assert code(rx, 0, frame) == Code.NONE


def test_a_family_is_not_mistaken_for_the_other():
    """A lookup by 128 bits alone takes an IPv6 address with zeros in front for an IPv4 one."""
    rx = receiver(sa(dst=address(HERE)), sa(dst=address("::" + HERE), ipv6=True))
    for number, frame in enumerate((ethernet(ipv4(esp(TEXT), 50)), ethernet(ipv6(esp(TEXT), 50, dst="::" + HERE)))):
        assert rx.decap(frame, described(frame)).meta["sa"] == number
    rx.table.remove(0)
    rx.drop_no_sa = True
    assert code(rx, 2) == Code.IPSEC_NO_SA
    elsewhere = ethernet(ipv6(esp(TEXT), 50, dst=HERE6))
    assert rx.decap(elsewhere, described(elsewhere)).code == Code.IPSEC_NO_SA
