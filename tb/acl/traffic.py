"""Random rules of every kind, metadata that they match, and metadata one step beside each of their conditions.

``fitting`` gives fields that a rule matches; ``neighbours`` changes one condition of them to each end of what it
accepts and to the first value beyond. Whether the rule still matches is known from how the change was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from models.acl import INNERMOST, OF_FRAME, WIDTHS, Masked, Range, Rule

__all__ = [
    "CONDITIONS",
    "KINDS",
    "SPANS",
    "Neighbour",
    "fitting",
    "kinds_of",
    "neighbours",
    "random_rule",
    "tell_apart",
]

KINDS = ("ipv4", "ipv6", "non_ip", "inner")
"""Kinds of keys."""


def kinds_of(ipv6: bool, tunnel: bool) -> tuple[str, ...]:
    """Those of rules that a slot with these parameters takes, and that ever match there."""
    return tuple(kind for kind in KINDS if (ipv6 or kind != "ipv6") and (tunnel or kind != "inner"))


_ICMP = {4: 3, 6: 4}
_OF_IP = ("protocol", "dscp", "ecn", "fragment")
_OF_BTH = ("bth_opcode", "dest_qp")
CONDITIONS = (
    "ethertype", "vlan", "pcp", "ip", "src", "dst", "protocol", "src_port", "dst_port", "tcp_flags", "icmp_type",
    "icmp_code", "dscp", "ecn", "fragment", "port", "bth_opcode", "dest_qp", "decrypted", "sa", "inner",
)  # fmt: skip

SPANS = ("src", "dst", "protocol", "src_port", "dst_port", "tcp_flags", "icmp_type", "icmp_code", "bth_opcode")
"""Conditions that accept more than one value."""

_EDGES = (0, 1, 15, 16, 255, 256, 4095, 4096, 32767, 32768, 65534, 65535)


def _masked(rng: Random, bits: int) -> Masked:
    """A prefix, the whole value, any bits; often those that are 0 where the field isn't there, or none."""
    ones = (1 << bits) - 1
    if rng.random() < 0.2:
        return Masked(0, rng.choice((0, ones)))
    kind = rng.randrange(3)
    length = rng.randint(0, bits)
    mask = (ones << length & ones, ones, rng.getrandbits(bits))[kind]
    return Masked(rng.getrandbits(bits) & mask, mask)


def _range(rng: Random) -> Range:
    ends = [rng.choice((rng.choice(_EDGES), rng.getrandbits(16))) for _ in range(2)]
    return Range(ends[0], ends[0]) if rng.random() < 0.2 else Range(min(ends), max(ends))


def _names(rng: Random, kind: str) -> list[str]:
    """Conditions that can hold together."""
    names = rng.sample(("ethertype", "vlan", "pcp", "port"), rng.randrange(3))
    if kind != "non_ip":
        names += rng.sample(("src", "dst", *_OF_IP), rng.randrange(4))
        l4 = rng.choice(("none", "ports", "tcp", "icmp", "bth" if kind != "inner" else "ports"))
        names += {
            "none": [],
            "ports": rng.sample(("src_port", "dst_port"), rng.randint(1, 2)),
            "tcp": ["tcp_flags", *rng.sample(("src_port", "dst_port"), rng.randrange(3))],
            "icmp": rng.sample(("icmp_type", "icmp_code"), rng.randint(1, 2)),
            "bth": rng.sample(_OF_BTH, rng.randint(1, 2)),
        }[l4]
    names += rng.sample(("decrypted", "sa"), int(rng.random() < 0.2))
    return names


def random_rule(rng: Random, kind: str, ipv6: bool = True, **given: Any) -> Rule:
    """A rule of that kind of key, which some frame matches. given: conditions and actions that it shall have."""
    conditions: dict[str, Any] = {"inner": kind == "inner"}
    ip = {"ipv4": 4, "ipv6": 6}.get(kind) or rng.choice((4, 6) if ipv6 else (4,))
    names = _names(rng, kind)
    if kind in ("ipv4", "ipv6") or "src" in names or "dst" in names:
        conditions["ip"] = ip
    for name in names:
        bits = 32 if name in ("src", "dst") and ip == 4 else WIDTHS.get(name, 1)
        if name in ("src_port", "dst_port"):
            conditions[name] = _range(rng)
        elif name in SPANS:
            conditions[name] = _masked(rng, bits)
        elif name in ("fragment", "decrypted"):
            conditions[name] = rng.random() < 0.5
        else:
            conditions[name] = rng.getrandbits(bits) if rng.random() < 0.8 else 0
    return Rule(**(conditions | given))


def _field(rule: Rule, name: str) -> str:
    """The metadata field behind a name, for this rule."""
    shared = name in OF_FRAME + INNERMOST or not rule.inner or name.startswith("bth")
    return name if shared else f"inner_{name}"


_FIELD_OF = {"src": "ip_src", "dst": "ip_dst", "dest_qp": "bth_dest_qp"}
_BITS = {"l3_kind": 2, "l4_kind": 3, "ethertype": 16, "vlan0": 16, "protocol": 8, "src_port": 16, "dst_port": 16}


def random_fields(rng: Random, ipv6: bool = True) -> dict[str, int]:
    """Fields of a frame of any kind, none of which hangs on another but the layers that are there."""
    fields: dict[str, int] = {"port": rng.getrandbits(8), "l3_offset": rng.choice((14, 18, 22))}
    tunnel = rng.random() < 0.5
    fields["tunnel_kind"] = rng.choice((1, 2)) if tunnel else 0
    for prefix in ("", "inner_"):
        if prefix and not tunnel:
            continue
        l3 = rng.choice((0, 1, 2) if ipv6 else (0, 1))
        bits = 32 if l3 == 1 else 128
        fields |= {
            f"{prefix}l3_kind": l3,
            f"{prefix}l4_kind": rng.randrange(6) if l3 else 0,
            f"{prefix}vlan_count": rng.randrange(3),
        }
        for name, width in (
            ("ethertype", 16),
            ("vlan0", 16),
            ("protocol", 8),
            ("dscp", 6),
            ("ecn", 2),
            ("fragment", 1),
        ):
            fields[prefix + name] = rng.getrandbits(width)
        for name in ("src_port", "dst_port"):
            fields[prefix + name] = rng.choice((rng.choice(_EDGES), rng.getrandbits(16)))
        for name in ("ip_src", "ip_dst"):
            fields[prefix + name] = rng.getrandbits(bits)
    fields |= {"tcp_flags": rng.getrandbits(12), "icmp_type": rng.getrandbits(8), "icmp_code": rng.getrandbits(8)}
    fields |= {"roce": rng.getrandbits(1), "bth_opcode": rng.getrandbits(8), "bth_dest_qp": rng.getrandbits(24)}
    return fields | {"decrypted": rng.getrandbits(1), "sa": rng.getrandbits(12)}


def fitting(rng: Random, rule: Rule, ipv6: bool = True) -> dict[str, int]:
    """Fields that the rule matches; what it doesn't ask is as ``random_fields`` has it."""
    fields = random_fields(rng, ipv6)
    if rule.inner:
        while not fields["tunnel_kind"]:
            fields = random_fields(rng, ipv6)
    layer: dict[str, int] = {}
    needs_ip = rule.ip is not None or any(getattr(rule, name) is not None for name in _OF_IP)
    ports = rule.src_port is not None or rule.dst_port is not None
    icmp = rule.icmp_type is not None or rule.icmp_code is not None
    if needs_ip or ports or icmp or rule.tcp_flags is not None:
        layer["l3_kind"] = {4: 1, 6: 2}.get(rule.ip or 0) or rng.choice((1, 2) if ipv6 else (1,))
    if rule.tcp_flags is not None:
        layer["l4_kind"] = 1
    elif ports:
        layer["l4_kind"] = rng.choice((1, 2))
    elif icmp:
        layer["l4_kind"] = rng.choice((3, 4))
    if rule.vlan is not None or rule.pcp is not None:
        layer["vlan_count"] = rng.choice((1, 2))
    if rule.bth_opcode is not None or rule.dest_qp is not None:
        layer["roce"] = 1
    for name, value in layer.items():
        fields[_field(rule, name)] = value
    if layer.get("l3_kind") == 1:
        # An IPv4 address is 32 bits.
        for name in ("ip_src", "ip_dst"):
            fields[_field(rule, name)] &= 0xFFFFFFFF
    for name in CONDITIONS:
        condition = getattr(rule, name)
        if condition is not None and name not in ("ip", "inner"):
            _put(rule, fields, name, _inside(rng, condition, fields, rule, name))
    return fields


def _now(rule: Rule, fields: dict[str, int], name: str) -> int:
    """What the condition's field holds."""
    if name in ("vlan", "pcp"):
        tag = fields[_field(rule, "vlan0")]
        return tag & 0xFFF if name == "vlan" else tag >> 13
    return fields[_field(rule, _FIELD_OF.get(name, name))]


def _put(rule: Rule, fields: dict[str, int], name: str, value: int) -> None:
    if name in ("vlan", "pcp"):
        low, bits = (0, 12) if name == "vlan" else (13, 3)
        tag = _field(rule, "vlan0")
        fields[tag] = fields[tag] & ~(((1 << bits) - 1) << low) | value << low
    else:
        fields[_field(rule, _FIELD_OF.get(name, name))] = value


def _inside(rng: Random, condition: Any, fields: dict[str, int], rule: Rule, name: str) -> int:
    """A value that a condition accepts."""
    if isinstance(condition, Range):
        return rng.randint(condition.first, condition.last)
    if isinstance(condition, Masked):
        return condition.value | _now(rule, fields, name) & ~condition.mask
    return int(condition)


@dataclass(frozen=True)
class Neighbour:
    """Fields that differ from fitting ones in one condition; hit: the rule still matches."""

    condition: str
    fields: dict[str, int]
    hit: bool


def neighbours(rng: Random, rule: Rule, fields: dict[str, int]) -> Iterator[Neighbour]:
    """Of each condition of a rule, from fields that it matches: the ends of what it accepts, and what lies beyond."""

    def changed(name: str, value: int, hit: bool) -> Neighbour:
        new = dict(fields)
        _put(rule, new, name, value)
        return Neighbour(name, new, hit)

    def without(name: str, layer: str, value: int) -> Neighbour:
        return Neighbour(name, fields | {_field(rule, layer): value}, False)

    if rule.inner:
        yield Neighbour("inner", fields | {"tunnel_kind": 0}, False)
    if rule.ip is not None:
        yield without("ip", "l3_kind", {4: 2, 6: 1}[rule.ip])
        yield without("ip", "l3_kind", 0)
    for name in CONDITIONS:
        condition = getattr(rule, name)
        if condition is None or name in ("ip", "inner"):
            continue
        bits = 32 if name in ("src", "dst") and rule.ip == 4 else WIDTHS.get(name, 1)
        ones = (1 << bits) - 1
        if isinstance(condition, Range):
            values = [(condition.first, True), (condition.last, True)]
            values += [(condition.first - 1, False), (condition.last + 1, False)]
        elif isinstance(condition, Masked):
            free = ones & ~condition.mask
            values = [(condition.value, True), (condition.value | free, True)]
            asked = [bit for bit in range(bits) if condition.mask >> bit & 1]
            now = _now(rule, fields, name)
            values += [
                (now ^ 1 << bit, False) for bit in {*asked[:1], *asked[-1:], *rng.sample(asked, min(1, len(asked)))}
            ]
        else:
            values = [(int(condition) ^ 1 << rng.randrange(bits), False), (int(condition) + 1 & ones, False)]
        yield from (changed(name, value, hit) for value, hit in values if 0 <= value <= ones)
        yield from _without_layer(rng, rule, name, without)


def _without_layer(rng: Random, rule: Rule, name: str, without: Any) -> Iterator[Neighbour]:
    """The same values where the layer isn't there."""
    if name in ("vlan", "pcp"):
        yield without(name, "vlan_count", 0)
    elif name in _OF_IP and rule.ip is None:
        yield without(name, "l3_kind", 0)
    elif name in ("src_port", "dst_port"):
        yield without(name, "l4_kind", rng.choice((0, 3, 4, 5)))
    elif name == "tcp_flags":
        yield without(name, "l4_kind", rng.choice((0, 2, 3, 4, 5)))
    elif name in ("icmp_type", "icmp_code"):
        yield without(name, "l4_kind", rng.choice((0, 1, 2, 5)))
    elif name in _OF_BTH:
        yield without(name, "roce", 0)


def tell_apart(rules: list[Rule]) -> list[Rule]:
    """Rules that never take each other's frames: each asks for a port of its own, at most 256."""
    assert len(rules) <= 256
    return [replace(rule, port=number) for number, rule in enumerate(rules)]
