"""Empty and shadowed rules, and rules that don't fit the engine.

Sweep:    every condition, alone and with others, outside and in a tunnel; rules by twos and by threes
Stimulus: rules over few values; all frames that a parser may see, as far as those rules depend on them
Checks:   by trying every frame; what is said of parsed frames holds in every capture
Timing:   none
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from models.acl import Actions, Masked, Range, Rule, matches
from models.acl_batch import first_match_batch
from models.acl_check import covers, empty_rules, is_empty, kinds_of_rules, misfits, shadowed_rules
from models.parser_batch import parse_batch
from tb.replay.capture import read_capture
from tb.toolchain import ROOT
from tests.acl.test_batch import many_frames, many_rules

CAPTURES = sorted(path for path in (ROOT / "tests" / "captures").iterdir() if ".pcap" in path.name)

# All frames: what a parser may say, with every value that tells rules of CONDITIONS apart

L4 = {(0, 0): [None]} | {
    (ip, l4): [protocol]
    for ip, kinds in ((1, {1: 6, 2: 17, 3: 1, 5: 50}), (2, {1: 6, 2: 17, 4: 58, 5: 50}))
    for l4, protocol in kinds.items()
}
L4 |= {(1, 0): [0, 1, 4, 6, 7, 16, 17, 50, 58], (2, 0): [0, 1, 4, 6, 7, 16, 17, 50, 58]}
"""By l3_kind and l4_kind the protocols that come with it."""
PORTS = [0, 1, 79, 80, 81, 4788, 4789, 4790, 4791, 4792, 6081, 65534, 65535]
VALUES = {
    "ethertype": [0x0800, 0x86DD, 0x0806],
    "src": [0, 1, 2, 3],
    "dst": [0, 1, 2, 3],
    "src_port": PORTS,
    "dst_port": PORTS,
    "tcp_flags": [0, 1, 2, 3],
    "icmp_type": [0, 1, 2, 3],
    "icmp_code": [0, 1, 2, 3],
    "dscp": [0, 1],
    "ecn": [0, 1],
    "fragment": [0, 1],
    "port": [0, 1],
    "bth_opcode": [0, 1, 2, 3],
    "dest_qp": [0, 1],
    "decrypted": [0, 1],
    "sa": [0, 1],
    "tag": [0, 1, 1 << 13, 1 | 1 << 13],
}
FIELD_OF = {"src": "ip_src", "dst": "ip_dst", "dest_qp": "bth_dest_qp", "tag": "vlan0"}
NEEDS_L4 = {"src_port": (1, 2), "dst_port": (1, 2), "tcp_flags": (1,), "icmp_type": (3, 4), "icmp_code": (3, 4)}
NEEDS_IP = ("src", "dst", "dscp", "ecn", "fragment")
OF_FRAME = ("port", "decrypted", "sa")


def layers(asked: set[str], roce: bool, tunnel_port: int | None) -> Iterator[dict[str, int]]:
    """Headers from Ethernet to BTH with all values of what is asked: without a tunnel, or around one."""
    for (l3, l4), protocols in L4.items():
        for tagged in (0, 1):
            if (roce or tunnel_port) and l4 != 2:
                continue
            values: dict[str, list[int]] = {"ethertype": [0x0800 if l3 == 1 else 0x86DD] if l3 else VALUES["ethertype"]}
            values |= {"protocol": [0] if protocols == [None] else protocols}  # type: ignore[dict-item]
            for name in asked:
                if (
                    (name in NEEDS_IP and l3)
                    or (name in NEEDS_L4 and l4 in NEEDS_L4[name])
                    or (name == "tag" and tagged)
                    or (name in ("bth_opcode", "dest_qp") and roce)
                ):
                    values[FIELD_OF.get(name, name)] = VALUES[name]
            if roce or tunnel_port:
                values["dst_port"] = [4791 if roce else tunnel_port or 0]
            for combination in itertools.product(*values.values()):
                fixed = {"l3_kind": l3, "l4_kind": l4, "vlan_count": tagged, "roce": int(roce)}
                yield fixed | dict(zip(values, combination, strict=True))


def names_of(rules: Sequence[Rule], inner: bool) -> set[str]:
    names = {name for rule in rules if rule.inner == inner for name in VALUES if getattr(rule, name, None) is not None}
    tags = any(rule.inner == inner and (rule.vlan is not None or rule.pcp is not None) for rule in rules)
    return names | ({"tag"} if tags else set())


def every_frame(rules: Sequence[Rule]) -> Iterator[dict[str, int]]:
    """All that may be said of a frame, as far as the rules depend on it."""
    outside, inside = names_of(rules, False), names_of(rules, True)
    of_frame = [name for name in OF_FRAME if name in outside | inside]
    whole = list(layers(outside, False, None)) + list(layers(outside, True, None))
    if inside or any(rule.inner for rule in rules):
        innermost = ("tcp_flags", "icmp_type", "icmp_code")
        inner = [
            {name if name in innermost else f"inner_{name}": value for name, value in fields.items() if name != "roce"}
            for fields in layers(inside, False, None)
        ]
        around = [fields for port in (4789, 6081) for fields in layers(outside - {"dst_port"}, False, port)]
        whole += [fields | more | {"tunnel_kind": 1} for fields in around for more in inner]
    for combination in itertools.product(*(VALUES[name] for name in of_frame)):
        for fields in whole:
            yield fields | dict(zip(of_frame, combination, strict=True))


def two_bits() -> st.SearchStrategy[Masked]:
    """A condition on the two low bits of a field of which the others are 0."""
    return st.sampled_from([Masked(value, mask) for mask in range(4) for value in range(4) if not value & ~mask])


RANGES = st.sampled_from([(0, 0), (0, 80), (80, 80), (1, 65534), (0, 65535), (4791, 4791), (4789, 6081), (81, 65535)])
CONDITIONS: dict[str, st.SearchStrategy[Any]] = {
    "ethertype": st.sampled_from([0x0800, 0x86DD, 0x0806]),
    "vlan": st.sampled_from([0, 1]),
    "pcp": st.sampled_from([0, 1]),
    "protocol": st.sampled_from([Masked(p, 0xFF) for p in (1, 6, 17, 50, 58, 4)] + [Masked(16, 0xFE), Masked(0, 1)]),
    "src_port": RANGES.map(lambda ends: Range(*ends)),
    "dst_port": RANGES.map(lambda ends: Range(*ends)),
    "tcp_flags": two_bits(),
    "icmp_type": two_bits(),
    "icmp_code": two_bits(),
    "dscp": st.sampled_from([0, 1]),
    "ecn": st.sampled_from([0, 1]),
    "fragment": st.booleans(),
    "port": st.sampled_from([0, 1]),
    "bth_opcode": two_bits(),
    "dest_qp": st.sampled_from([0, 1]),
    "decrypted": st.booleans(),
    "sa": st.sampled_from([0, 1]),
}


def rules_of(most: int) -> st.SearchStrategy[Rule]:
    """With at most so many conditions besides addresses and ``inner``."""
    addresses = st.fixed_dictionaries({"ip": st.sampled_from([4, 6])}, optional={"src": two_bits(), "dst": two_bits()})
    conditions = st.lists(st.sampled_from(sorted(CONDITIONS)), max_size=most, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: CONDITIONS[name] for name in names})
    )
    inner = st.sampled_from([False, False, True])
    return st.builds(
        lambda given, ip, inside: Rule(inner=inside, **given, **ip), conditions, st.just({}) | addresses, inner
    )


def narrower(rule: Rule) -> st.SearchStrategy[Rule]:
    """A rule with one condition more, or one that asks another thing."""
    return st.sampled_from(sorted(CONDITIONS)).flatmap(
        lambda name: CONDITIONS[name].map(
            lambda value: Rule(**{key: getattr(rule, key) for key in rule.__slots__} | {name: value})
        )
    )


@settings(max_examples=120)
@given(st.data())
def test_a_rule_is_covered_and_empty_as_all_frames_say(data: st.DataObject) -> None:
    earlier = data.draw(rules_of(2))
    rule = data.draw(rules_of(2) | narrower(earlier))
    taken = [fields for fields in every_frame([earlier, rule]) if matches(rule, fields)]
    assert is_empty(rule) == (not taken)
    if taken:
        assert covers(earlier, rule) == all(matches(earlier, fields) for fields in taken)


@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.lists(rules_of(1), min_size=2, max_size=3))
def test_the_first_rule_that_shadows_another_is_found(rules: list[Rule]) -> None:
    frames = list(itertools.islice(every_frame(rules), 5000))
    assume(len(frames) < 5000)
    taken = [{at for at, fields in enumerate(frames) if matches(rule, fields)} for rule in rules]
    want = {}
    for index in range(len(rules)):
        over = [earlier for earlier in range(index) if taken[index] and taken[index] <= taken[earlier]]
        if over:
            want[index] = over[0]
    assert shadowed_rules(rules) == want
    assert empty_rules(rules) == [index for index, frames_of in enumerate(taken) if not frames_of]


TCP = Masked(6, 0xFF)
UDP = Masked(17, 0xFF)


@pytest.mark.parametrize(
    "rule",
    [
        Rule(protocol=UDP, tcp_flags=Masked(2, 2)),
        Rule(protocol=Masked(47, 0xFF), dst_port=Range(0, 65535)),
        Rule(ip=4, ethertype=0x86DD),
        Rule(ip=6, icmp_type=Masked(8, 0xFF), protocol=Masked(1, 0xFF)),
        Rule(dest_qp=1, dst_port=Range(0, 4790)),
        Rule(dest_qp=1, protocol=TCP),
        Rule(tcp_flags=Masked(0, 0), icmp_code=Masked(0, 0)),
        Rule(inner=True, bth_opcode=Masked(0, 0)),
        Rule(dscp=1, ethertype=0x0806),
    ],
    ids=str,
)
def test_a_rule_that_contradicts_itself_is_empty(rule: Rule) -> None:
    assert is_empty(rule)


@pytest.mark.parametrize(
    ("earlier", "rule", "shadowed"),
    [
        (Rule(), Rule(inner=True), True),
        (Rule(protocol=UDP), Rule(inner=True, protocol=TCP), True),
        (Rule(dst_port=Range(4789, 6081)), Rule(inner=True, ip=6), True),
        (Rule(dst_port=Range(4789, 4789)), Rule(inner=True, ip=6), False),
        (Rule(fragment=False), Rule(inner=True), False),
        (Rule(protocol=UDP, port=1), Rule(inner=True, port=1), True),
        (Rule(protocol=UDP, port=1), Rule(inner=True), False),
        (Rule(inner=True), Rule(dst_port=Range(4789, 4789)), False),
        (Rule(protocol=TCP), Rule(tcp_flags=Masked(2, 2)), True),
        (Rule(dst_port=Range(0, 65535)), Rule(protocol=TCP), False),
        (Rule(dst_port=Range(4791, 4791)), Rule(dest_qp=7), True),
        (Rule(ethertype=0x0800), Rule(ip=4), True),
        (Rule(ip=4), Rule(ethertype=0x0800), False),
        (Rule(ip=6, src=Masked(1 << 127, 1 << 127)), Rule(ip=6, src=Masked(3 << 126, 3 << 126)), True),
        (Rule(ip=6, src=Masked(3 << 126, 3 << 126)), Rule(ip=6, src=Masked(1 << 127, 1 << 127)), False),
    ],
    ids=str,
)
def test_what_the_parser_says_of_frames_decides_who_shadows_whom(earlier: Rule, rule: Rule, shadowed: bool) -> None:
    assert shadowed_rules([earlier, rule]) == ({1: 0} if shadowed else {})


@pytest.mark.parametrize("side", ["src_port", "dst_port"])
def test_a_range_covers_those_within_it_and_no_others(side: str) -> None:
    ends = [(first, last) for first in range(4) for last in range(first, 4)]
    for earlier, later in itertools.product(ends, ends):
        rules = [Rule(**{side: Range(*pair)}) for pair in (earlier, later)]
        within = set(range(later[0], later[1] + 1)) <= set(range(earlier[0], earlier[1] + 1))
        assert covers(rules[0], rules[1]) == within
        assert shadowed_rules(rules) == ({1: 0} if within else {})


def test_two_rules_together_shadow_none() -> None:
    assert shadowed_rules([Rule(ip=4), Rule(ip=6), Rule(protocol=TCP)]) == {}
    assert shadowed_rules([Rule(protocol=UDP, tcp_flags=Masked(2, 2)), Rule(), Rule(ip=4), Rule(ip=6)]) == {2: 1, 3: 1}
    assert shadowed_rules([]) == {}


def test_no_shadowed_rule_of_thousands_is_ever_the_first(seed: int) -> None:
    rules = many_rules(2000, seed)
    shadowed = shadowed_rules(rules)
    assert len(shadowed) > 10
    found = first_match_batch(rules, many_frames(20000, seed), 20000)
    assert not set(found.tolist()) & set(shadowed)
    for index, earlier in shadowed.items():
        assert covers(rules[earlier], rules[index])


def test_every_parsed_frame_is_of_a_kind_that_the_check_knows() -> None:
    for path in CAPTURES:
        columns = parse_batch(read_capture(path).batch, 256, tunnel=True)
        inside = columns["tunnel_kind"] != 0
        for prefix in ("", "inner_"):
            l3, l4, protocol = (columns[f"{prefix}{name}"] for name in ("l3_kind", "l4_kind", "protocol"))
            ethertype = columns[f"{prefix}ethertype"]
            assert set(zip(l3.tolist(), l4.tolist(), strict=True)) <= set(L4)
            for (kind, l4_kind), protocols in L4.items():
                if l4_kind:
                    assert set(protocol[(l3 == kind) & (l4 == l4_kind)].tolist()) <= set(protocols)
            assert not protocol[l3 == 0].any()
            assert set(ethertype[l3 == 1].tolist()) <= {0x0800}
            assert set(ethertype[l3 == 2].tolist()) <= {0x86DD}
        roce = columns["roce"] == 1
        assert np.all(columns["dst_port"][roce] == 4791) and np.all(columns["l4_kind"][roce] == 2)
        assert set(columns["dst_port"][inside].tolist()) <= {4789, 6081} and np.all(columns["l4_kind"][inside] == 2)
        assert not (roce & inside).any()


def test_rules_that_do_not_fit_are_told_how_many_and_why() -> None:
    rules = [Rule(ip=4), Rule("a", ip=6), Rule(ip=6), Rule(ip=6), Rule(ip=6)]
    assert misfits(rules, 2, {"rules": 5, "meters": 2, "ipv6": 1}) == []
    assert misfits(rules, 3, {"rules": 3, "meters": 2, "ipv6": 0}) == [
        "5 rules, 2 more than the 3 that the engine has room for",
        "4 rules ask for IPv6 and the engine has no keys for it: rule 1 (a), rule 2, rule 3 and 1 more",
        "3 meters, 1 more than the 2 that the engine has",
    ]


def test_rules_are_counted_by_what_they_ask() -> None:
    rules = [
        Rule(ip=4, src_port=Range(1, 2), tcp_flags=Masked(2, 2)),
        Rule(ip=6, icmp_type=Masked(1, 0xFF), actions=Actions(permit=False)),
        Rule(inner=True, dst_port=Range(5, 5), actions=Actions(meter=0)),
        Rule(dest_qp=1),
    ]
    assert kinds_of_rules(rules) == {
        "IPv4": 1,
        "IPv6": 1,
        "any frame": 2,
        "inner": 1,
        "port range": 1,
        "TCP flags": 1,
        "ICMP": 1,
        "RoCE": 1,
        "deny": 1,
        "metered": 1,
    }
