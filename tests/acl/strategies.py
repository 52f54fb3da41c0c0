"""Rules and metadata of frames with values so few and so near each other that they meet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import hypothesis.strategies as st

from models.acl import ACTION_WIDTHS, Actions, Masked, Range, Rule, RuleSet
from models.acl_meter import MeterRates

__all__ = ["ACTIONS", "FIELDS", "METERS", "RULES", "RULE_SETS"]

SMALL = st.sampled_from([0, 1, 2, 3])
EDGES = st.sampled_from([0, 1, 79, 80, 81, 65534, 65535])
IPV4 = st.sampled_from([0, 1, 0x0A000000, 0x0A0000FF, 0x0A000100, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
IPV6 = st.sampled_from([0, 1, 1 << 63, 1 << 64, (1 << 64) - 1, 0xFE80 << 112, (0xFE80 << 112) | 1, (1 << 128) - 1])


def masked(values: st.SearchStrategy[int], width: int) -> st.SearchStrategy[Masked]:
    """Prefixes of all lengths, and other masks."""
    whole = (1 << width) - 1
    prefixes = st.integers(0, width).map(lambda length: whole ^ whole >> length)
    others = st.sampled_from([1, whole - 1, whole & 0x5555 << width // 2, whole])
    return st.builds(lambda value, mask: Masked(value & mask, mask), values, prefixes | others)


RANGES = st.tuples(EDGES, EDGES).map(lambda ends: Range(min(ends), max(ends)))
CONDITIONS: dict[str, st.SearchStrategy[Any]] = {
    "inner": st.just(True),
    "ethertype": st.sampled_from([0x0800, 0x86DD, 0x0806]),
    "vlan": SMALL,
    "pcp": SMALL,
    "protocol": masked(st.sampled_from([1, 6, 17, 47]), 8),
    "src_port": RANGES,
    "dst_port": RANGES,
    "tcp_flags": masked(st.sampled_from([0x002, 0x012, 0x100]), 12),
    "icmp_type": masked(SMALL, 8),
    "icmp_code": masked(SMALL, 8),
    "dscp": SMALL,
    "ecn": SMALL,
    "fragment": st.booleans(),
    "port": SMALL,
    "bth_opcode": masked(st.sampled_from([4, 6, 0x81]), 8),
    "dest_qp": SMALL,
    "decrypted": st.booleans(),
    "sa": SMALL,
}
ADDRESSES = st.sampled_from([4, 6]).flatmap(
    lambda ip: st.fixed_dictionaries(
        {"ip": st.just(ip)},
        optional={name: masked(IPV4, 32) if ip == 4 else masked(IPV6, 128) for name in ("src", "dst")},
    )
)
RULES = st.builds(
    lambda conditions, addresses: Rule(**conditions, **addresses),
    st.lists(st.sampled_from(sorted(CONDITIONS)), max_size=3, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: CONDITIONS[name] for name in names})
    ),
    st.just({}) | ADDRESSES,
)

METERS = st.builds(
    lambda cir, more, cbs, pbs, yellow: MeterRates(cir, cir + more, cbs, pbs, yellow),
    st.sampled_from([1, 8_000, 10**9]),
    st.sampled_from([0, 1, 10**9]),
    st.sampled_from([1, 100, 1500, (1 << 32) - 1]),
    st.sampled_from([1, 100, 3000, (1 << 32) - 1]),
    st.none() | st.integers(0, 63),
)
NUMBERS = {name: st.integers(0, (1 << width) - 1) for name, width in ACTION_WIDTHS.items() if name != "meter"}
ACTIONS = st.builds(lambda numbers: Actions(**numbers), st.fixed_dictionaries({}, optional=NUMBERS)) | st.builds(
    lambda mirror: Actions(permit=False, mirror=mirror), st.none() | NUMBERS["mirror"]
)
"""Of rules without a meter."""


@st.composite
def rule_sets(draw: st.DrawFn, most: int = 6) -> RuleSet:
    """Sets that a file may hold."""
    meters = draw(st.lists(METERS, max_size=3))
    rules = []
    for rule in draw(st.lists(RULES, max_size=most)):
        actions = draw(ACTIONS)
        if meters and actions.permit and draw(st.booleans()):
            actions = replace(actions, meter=draw(st.integers(0, len(meters) - 1)))
        free = {name: None for name in ("src", "dst") if getattr(rule, name) == Masked(0, 0)}
        if rule.inner:
            free |= {"bth_opcode": None, "dest_qp": None}
        name = draw(st.text().filter(str.isprintable))
        rules.append(replace(rule, name=name, actions=actions, **free))  # type: ignore[arg-type]
    return RuleSet(tuple(rules), draw(st.booleans()), tuple(meters))


RULE_SETS = rule_sets()

HEADERS: dict[str, st.SearchStrategy[int]] = {
    "ethertype": st.sampled_from([0x0800, 0x86DD, 0x0806]),
    "vlan_count": st.integers(0, 2),
    "vlan0": st.builds(lambda vid, pcp: vid | pcp << 13, SMALL, SMALL),
    "l3_kind": st.integers(0, 2),
    "ip_src": IPV4 | IPV6,
    "ip_dst": IPV4 | IPV6,
    "protocol": st.sampled_from([1, 6, 17, 47]),
    "l4_kind": st.integers(0, 5),
    "src_port": EDGES,
    "dst_port": EDGES,
    "dscp": SMALL,
    "ecn": SMALL,
    "fragment": st.integers(0, 1),
}


def _as_a_parser_says(fields: dict[str, int]) -> dict[str, int]:
    """An address of IPv4 has 32 bits."""
    for prefix in ("", "inner_"):
        if fields[f"{prefix}l3_kind"] == 1:
            for name in ("ip_src", "ip_dst"):
                fields[prefix + name] &= 0xFFFFFFFF
    return fields


FIELDS = st.fixed_dictionaries(
    {
        **HEADERS,
        **{f"inner_{name}": values for name, values in HEADERS.items()},
        "tunnel_kind": st.integers(0, 2),
        "tcp_flags": st.sampled_from([0x002, 0x012, 0x100]),
        "icmp_type": SMALL,
        "icmp_code": SMALL,
        "port": SMALL,
        "roce": st.integers(0, 1),
        "bth_opcode": st.sampled_from([4, 6, 0x81]),
        "bth_dest_qp": SMALL,
    }
).map(_as_a_parser_says)
"""Metadata, of frames that exist and of some that don't: rules are about the fields alone."""
