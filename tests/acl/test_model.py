"""Model of the ACL: each condition, the order of rules, the actions, the counters, DSCP marking.

Sweep:    each condition by itself, true and false, outside and in VXLAN and GENEVE; IPv4, IPv6; rules in both orders
Stimulus: frames built byte by byte and read by the parser's model, and what is next to the edges of a rule
Checks:   which rule matches; docs/acl.md; RFC 1624 section 4 and a checksum that is computed anew
Timing:   none
"""

from __future__ import annotations

import ipaddress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.acl import (
    AclModel,
    Actions,
    Counter,
    Masked,
    Range,
    Rule,
    RuleSet,
    Verdict,
    first_match,
    mark_dscp,
    matches,
    updated_checksum,
)
from models.acl_meter import Colour, MeterRates
from models.parser import ChecksumVerdict
from tests.acl.frames import ethernet, fields_of, geneve, ipv4, ipv6, roce, tcp, udp, vxlan

TCP4 = ethernet(ipv4(tcp(1000, 80, 0x02), 6, tos=0x2E << 2 | 1))
TAGGED = ethernet(ipv4(tcp(), 6), tci=5 << 13 | 100)
UDP6 = ethernet(ipv6(udp(dst_port=53), 17, tos=8 << 2), 0x86DD)
PING = ethernet(ipv4(bytes.fromhex("0800000000010001"), 1))
UNREACHABLE6 = ethernet(ipv6(bytes.fromhex("0104000000000000"), 58), 0x86DD)
ARP = ethernet(bytes(28), 0x0806)
FIRST_PIECE = ethernet(ipv4(udp(bytes(8)), 17, fragment=0x2000))
LATER_PIECE = ethernet(ipv4(bytes(16), 17, fragment=2))
ROCE = ethernet(ipv4(roce(4, 0x123), 17))
CUT_TCP = TCP4[:40]
ALL = [TCP4, TAGGED, UDP6, PING, UNREACHABLE6, ARP, FIRST_PIECE, LATER_PIECE, ROCE, CUT_TCP]


def exactly(value: int, width: int) -> Masked:
    return Masked(value, (1 << width) - 1)


def address(text: str) -> Masked:
    network = ipaddress.ip_network(text)
    return Masked(int(network.network_address), int(network.netmask))


def taken(rule: Rule, frames: list[bytes] = ALL) -> list[bytes]:
    return [frame for frame in frames if matches(rule, fields_of(frame, port=1))]


@pytest.mark.parametrize(
    ("rule", "frames"),
    [
        (Rule(), ALL),
        (Rule(ethertype=0x0806), [ARP]),
        (Rule(ethertype=0x86DD), [UDP6, UNREACHABLE6]),
        (Rule(vlan=100), [TAGGED]),
        (Rule(vlan=0), []),
        (Rule(pcp=5), [TAGGED]),
        (Rule(pcp=0), []),
        (Rule(vlan=101), []),
        (Rule(ip=4), [TCP4, TAGGED, PING, FIRST_PIECE, LATER_PIECE, ROCE, CUT_TCP]),
        (Rule(ip=6), [UDP6, UNREACHABLE6]),
        (Rule(ip=4, src=address("10.0.0.1/32"), protocol=exactly(1, 8)), [PING]),
        (Rule(ip=4, dst=address("10.0.0.1/32")), []),
        (Rule(ip=6, src=address("fe80::/10"), dst=address("fe80::2/128")), [UDP6, UNREACHABLE6]),
        (Rule(ip=6, src=address("fe80::2/128")), []),
        (Rule(protocol=exactly(6, 8)), [TCP4, TAGGED, CUT_TCP]),
        (Rule(protocol=exactly(0, 8)), []),
        (Rule(protocol=Masked(0x10, 0xFE)), [UDP6, FIRST_PIECE, LATER_PIECE, ROCE]),
        (Rule(src_port=Range(1000, 1000)), [TCP4, TAGGED, UDP6, FIRST_PIECE, ROCE]),
        (Rule(dst_port=Range(80, 80)), [TCP4, TAGGED]),
        (Rule(dst_port=Range(0, 0)), []),
        (Rule(tcp_flags=Masked(0x02, 0x12)), [TCP4, TAGGED]),
        (Rule(tcp_flags=Masked(0x10, 0x10)), []),
        (Rule(tcp_flags=Masked(0, 0)), [TCP4, TAGGED]),
        (Rule(icmp_type=exactly(8, 8)), [PING]),
        (Rule(icmp_type=exactly(0, 8)), []),
        (Rule(icmp_type=exactly(1, 8), icmp_code=exactly(4, 8)), [UNREACHABLE6]),
        (Rule(dscp=0x2E), [TCP4, CUT_TCP]),
        (Rule(dscp=8), [UDP6]),
        (Rule(ecn=1), [TCP4, CUT_TCP]),
        (Rule(fragment=True), [FIRST_PIECE, LATER_PIECE]),
        (Rule(fragment=False, ip=4), [TCP4, TAGGED, PING, ROCE, CUT_TCP]),
        (Rule(fragment=False, ethertype=0x0806), []),
        (Rule(port=1), ALL),
        (Rule(port=0), []),
        (Rule(bth_opcode=exactly(4, 8)), [ROCE]),
        (Rule(bth_opcode=Masked(0, 0)), [ROCE]),
        (Rule(dest_qp=0x123), [ROCE]),
        (Rule(dest_qp=0), []),
        (Rule(decrypted=False, sa=0), ALL),
        (Rule(decrypted=True), []),
        (Rule(sa=1), []),
        (Rule(inner=True), []),
    ],
    ids=lambda value: "" if isinstance(value, list) else repr(value)[5:60],
)
def test_a_condition_takes_the_frames_that_have_what_it_asks(rule: Rule, frames: list[bytes]) -> None:
    assert taken(rule) == frames


def test_a_fragment_without_ports_matches_no_rule_with_ports() -> None:
    assert taken(Rule(dst_port=Range(0, 65535)), [FIRST_PIECE, LATER_PIECE]) == [FIRST_PIECE]
    assert taken(Rule(protocol=exactly(17, 8)), [FIRST_PIECE, LATER_PIECE]) == [FIRST_PIECE, LATER_PIECE]


@pytest.mark.parametrize("side", ["src_port", "dst_port"])
@pytest.mark.parametrize(
    "ends", [(0, 0), (0, 65535), (65535, 65535), (80, 80), (0, 79), (1, 65534), (81, 65535)], ids=str
)
def test_a_range_takes_its_ends_and_not_their_neighbours(side: str, ends: tuple[int, int]) -> None:
    rule = Rule(**{side: Range(*ends)})
    for port in {0, 65535, *(max(0, min(65535, end + step)) for end in ends for step in (-1, 0, 1))}:
        ports = {"src_port": 7, "dst_port": 7} | {side: port}
        for l4 in (tcp(**ports), udp(**ports)):
            frame = ethernet(ipv4(l4, 6 if len(l4) == 20 else 17))
            assert matches(rule, fields_of(frame)) == (ends[0] <= port <= ends[1])


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(ValueError, match="81-80 is an empty range"):
        Range(81, 80)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"vlan": 4096}, "vlan: 4096 does not fit 12 bits; accepted: 0 to 4095"),
        ({"ip": 5}, "ip: 5; accepted: 4 or 6"),
        ({"src": Masked(0, 0)}, "src: an address needs ip"),
        ({"ip": 4, "dst": Masked(0, 1 << 32)}, "dst: .* does not fit 32 bits"),
        ({"src_port": Range(0, 65536)}, "src_port: 65536 does not fit 16 bits"),
    ],
    ids=str,
)
def test_a_condition_that_no_field_has_room_for_is_refused(wrong: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Rule(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="outside its mask"):
        Masked(1, 2)
    with pytest.raises(ValueError, match="queue: 256 does not fit 8 bits"):
        Actions(queue=256)


INNER4 = ethernet(ipv4(tcp(5, 6, 0x12), 6, "192.168.0.1", "192.168.0.2"), tci=7)
INNER6 = ipv6(bytes.fromhex("8000000000010001"), 58, "2001:db8::1", "2001:db8::2")
VXLAN = ethernet(ipv4(vxlan(INNER4), 17))
GENEVE = ethernet(ipv6(geneve(INNER6, 0x86DD), 17), 0x86DD)
VXLAN_ARP = ethernet(ipv4(vxlan(ARP), 17))
TUNNELS = [VXLAN, GENEVE, VXLAN_ARP]


@pytest.mark.parametrize(
    ("rule", "frames"),
    [
        (Rule(inner=True), TUNNELS),
        (Rule(inner=True, ip=4), [VXLAN]),
        (Rule(inner=True, ip=6, src=address("2001:db8::/32")), [GENEVE]),
        (Rule(ip=6, src=address("2001:db8::/32")), []),
        (Rule(inner=True, ip=4, src=address("192.168.0.1/32"), dst_port=Range(6, 6)), [VXLAN]),
        (Rule(inner=True, dst_port=Range(4789, 6081)), []),
        (Rule(dst_port=Range(4789, 4789)), [VXLAN, VXLAN_ARP]),
        (Rule(inner=True, tcp_flags=Masked(0x12, 0x12)), [VXLAN]),
        (Rule(tcp_flags=Masked(0, 0)), []),
        (Rule(inner=True, icmp_type=exactly(128, 8)), [GENEVE]),
        (Rule(icmp_type=exactly(128, 8)), []),
        (Rule(inner=True, vlan=7), [VXLAN]),
        (Rule(vlan=7), []),
        (Rule(inner=True, ethertype=0x0806), [VXLAN_ARP]),
        (Rule(inner=True, fragment=False), [VXLAN, GENEVE]),
        (Rule(inner=True, port=1), TUNNELS),
        (Rule(inner=True, port=2), []),
        (Rule(inner=True, sa=0, decrypted=False), TUNNELS),
        (Rule(inner=True, dest_qp=0), []),
    ],
    ids=lambda value: "" if isinstance(value, list) else repr(value)[5:60],
)
def test_an_inner_rule_asks_the_headers_in_the_tunnel(rule: Rule, frames: list[bytes]) -> None:
    assert taken(rule, TUNNELS) == frames


def test_the_lowest_number_wins_outside_and_inside_alike() -> None:
    rules = [Rule(inner=True, ip=6), Rule(ip=4), Rule(inner=True), Rule()]
    assert [first_match(rules, fields_of(frame)) for frame in (VXLAN, GENEVE, UDP6)] == [1, 0, 3]
    assert [first_match(rules[::-1], fields_of(frame)) for frame in (VXLAN, GENEVE, UDP6)] == [0, 0, 0]
    assert first_match(rules[:1], fields_of(VXLAN)) is None


def test_overlapping_rules_go_by_their_place_and_not_by_how_narrow_they_are() -> None:
    wide, narrow = Rule(ip=4, src=address("10.0.0.0/8")), Rule(ip=4, src=address("10.0.0.1/32"))
    assert first_match([wide, narrow], fields_of(TCP4)) == 0
    assert first_match([narrow, wide], fields_of(TCP4)) == 0
    assert first_match([Rule(ip=4, src=address("10.0.0.2/32")), wide], fields_of(TCP4)) == 1


# Actions and counters


def test_a_frame_gets_the_actions_of_its_rule() -> None:
    given_actions = Actions(queue=3, mirror=4, redirect=1, priority=2, mark_dscp=10, protect=9)
    model = AclModel(RuleSet((Rule(protocol=exactly(6, 8), actions=given_actions),), default_permit=False))
    judgement = model.judge(fields_of(TCP4), 100, 0)
    assert (judgement.rule, judgement.verdict, judgement.colour) == (0, Verdict.PASSED, None)
    assert (judgement.queue, judgement.mirror, judgement.redirect) == (3, 4, 1)
    assert (judgement.priority, judgement.mark_dscp, judgement.protect) == (2, 10, 9)
    miss = model.judge(fields_of(UDP6), 100, 0)
    assert (miss.rule, miss.verdict) == (None, Verdict.ACL_DENIED)
    assert AclModel(RuleSet()).judge(fields_of(UDP6), 100, 0).verdict == Verdict.PASSED


def test_a_denied_frame_is_mirrored_and_nothing_else() -> None:
    rule = Rule(actions=Actions(permit=False, queue=3, mirror=4, mark_dscp=10, meter=0))
    model = AclModel(RuleSet((rule,), meters=(MeterRates(8000, 8000, 100, 100),)))
    judgement = model.judge(fields_of(TCP4), 100, 0)
    assert (judgement.verdict, judgement.mirror) == (Verdict.ACL_DENIED, 4)
    assert judgement.colour is judgement.queue is judgement.mark_dscp is None
    assert model.meters[0].tp == 100 * 8 * 10**9


def test_a_meter_passes_green_marks_yellow_and_polices_red() -> None:
    rates = MeterRates(8000, 8000, 100, 200, yellow_dscp=12)
    rule = Rule(actions=Actions(mark_dscp=10, meter=0, queue=1, mirror=2))
    model = AclModel(RuleSet((rule, rule), meters=(rates,)))
    found = [model.judge(fields_of(TCP4), 100, 0) for _ in range(3)]
    assert [judgement.colour for judgement in found] == [Colour.GREEN, Colour.YELLOW, Colour.RED]
    assert [judgement.mark_dscp for judgement in found] == [10, 12, None]
    assert [judgement.verdict for judgement in found] == [Verdict.PASSED, Verdict.PASSED, Verdict.ACL_POLICED]
    assert [judgement.queue for judgement in found] == [1, 1, None]
    assert [judgement.mirror for judgement in found] == [2, 2, 2]
    plain = AclModel(RuleSet((rule,), meters=(replace(rates, yellow_dscp=None),)))
    assert [plain.judge(fields_of(TCP4), 100, 0).mark_dscp for _ in range(2)] == [10, 10]


def test_every_frame_counts_once_at_its_rule_whatever_becomes_of_it() -> None:
    rules = (Rule(ip=6, actions=Actions(permit=False)), Rule(protocol=exactly(6, 8)))
    model = AclModel(RuleSet(rules))
    for frame in (UDP6, TCP4, TCP4, ARP):
        model.judge(fields_of(frame), len(frame), 0)
    assert dict(model.counted()) == {
        0: Counter(1, len(UDP6)),
        1: Counter(2, 2 * len(TCP4)),
        None: Counter(1, len(ARP)),
    }


def test_reading_a_counter_with_clear_loses_no_frame() -> None:
    model = AclModel(RuleSet((Rule(ip=4),)))
    model.judge(fields_of(TCP4), 60, 0)
    assert model.read(0) == model.read(0, clear=True) == Counter(1, 60)
    model.judge(fields_of(TCP4), 70, 0)
    assert model.read(0) == Counter(1, 70)
    model.judge(fields_of(ARP), 80, 0)
    assert (model.read(None, clear=True), model.read(None)) == (Counter(1, 80), Counter(0, 0))


def test_counters_have_64_bits_and_go_on_at_0() -> None:
    counter = Counter(2**64 - 1, 2**64 - 10)
    counter.add(64)
    assert counter == Counter(0, 54)


def test_counters_move_with_their_rules() -> None:
    by_ip = [Rule(name="v4", ip=4), Rule(name="v6", ip=6)]
    model = AclModel(RuleSet(tuple(by_ip)))
    model.judge(fields_of(TCP4), 60, 0)
    model.judge(fields_of(UDP6), 70, 0)
    model.insert(0, Rule(name="arp", ethertype=0x0806))
    assert model.judge(fields_of(UDP6), 70, 0).rule == 2
    model.move(2, 0)
    assert [rule.name for rule in model.rules] == ["v6", "arp", "v4"]
    assert model.counters == [Counter(2, 140), Counter(0, 0), Counter(1, 60)]
    assert model.remove(1) == (Rule(name="arp", ethertype=0x0806), Counter(0, 0))
    assert model.judge(fields_of(ARP), 60, 0).rule is None
    model.load(RuleSet((Rule(),), default_permit=False))
    assert model.judge(fields_of(ARP), 60, 0).rule == 0
    assert (model.read(0), model.read(None)) == (Counter(1, 60), Counter(0, 0))


def test_places_and_meters_that_are_not_there_are_refused() -> None:
    model = AclModel(RuleSet((Rule(),)))
    for change in (lambda: model.insert(2, Rule()), lambda: model.move(0, 1), lambda: model.remove(-1)):
        with pytest.raises(ValueError, match="there is no place"):
            change()
    assert len(model.rules) == len(model.counters) == 1
    with pytest.raises(ValueError, match="there is no place 1; accepted: 0 to 0"):
        model.read(1)
    with pytest.raises(ValueError, match="there is no meter 0"):
        model.insert(0, Rule(actions=Actions(meter=0)))
    with pytest.raises(ValueError, match=r"rule 0 \(a\): meter: there is no meter 2"):
        RuleSet((Rule("a", actions=Actions(meter=2)),))


# DSCP


def test_the_checksum_of_rfc_1624_section_4_comes_out_right() -> None:
    # HC = 0xDD2F, m = 0x5555, m' = 0x3285: equation 3 gives 0x0000, and RFC 1141's equation 2 gave 0xFFFF.
    assert updated_checksum(0xDD2F, 0x5555, 0x3285) == 0x0000


@given(st.integers(0, 63), st.integers(0, 255), st.integers(0, 0xFFFFFFFF))
def test_a_marked_ipv4_header_has_the_new_dscp_and_a_checksum_that_is_right(dscp: int, tos: int, src: int) -> None:
    frame = ethernet(ipv4(tcp(), 6, src=str(ipaddress.IPv4Address(src)), tos=tos), tci=1)
    marked = mark_dscp(frame, fields_of(frame), dscp)
    fields = fields_of(marked)
    assert (fields["dscp"], fields["ecn"], fields["ip_checksum"]) == (dscp, tos & 3, ChecksumVerdict.GOOD)
    assert [at for at in range(len(frame)) if frame[at] != marked[at] and at not in (19, 28, 29)] == []
    wrong = frame[:28] + bytes([frame[28] ^ 1]) + frame[29:]
    assert fields_of(mark_dscp(wrong, fields_of(wrong), dscp))["ip_checksum"] == ChecksumVerdict.BAD


@given(st.integers(0, 63), st.integers(0, 255))
def test_a_marked_ipv6_header_differs_in_its_dscp_alone(dscp: int, tos: int) -> None:
    frame = ethernet(ipv6(udp(), 17, tos=tos), 0x86DD)
    marked = mark_dscp(frame, fields_of(frame), dscp)
    assert (fields_of(marked)["dscp"], fields_of(marked)["ecn"]) == (dscp, tos & 3)
    assert mark_dscp(marked, fields_of(marked), tos >> 2) == frame


def test_only_the_outermost_ip_header_is_marked() -> None:
    marked = mark_dscp(VXLAN, fields_of(VXLAN), 33)
    assert (fields_of(marked)["dscp"], fields_of(marked)["inner_dscp"]) == (33, 0)
    assert mark_dscp(ARP, fields_of(ARP), 33) == ARP
    with pytest.raises(ValueError, match="dscp: 64 does not fit 6 bits"):
        mark_dscp(TCP4, fields_of(TCP4), 64)
