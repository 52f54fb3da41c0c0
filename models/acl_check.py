"""What can be told of a rule set without a frame: empty and shadowed rules, and whether it fits the engine.

Both are exact for what the parser says (docs/parser.md): ``l4_kind`` 1 comes with protocol 6, ``roce`` with UDP to port
4791, an IP header with its EtherType, and so on. A **kind** is what the parser may find in a frame as far as rules
depend on it: which IP, which L4, a BTH, a tag. Within a kind some fields have one value and all others are free of each
other. So a rule takes, of each kind, all combinations of what each of its conditions accepts, or none; and one rule
takes all that another does if, in each kind, each of its conditions accepts all that the other's does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.acl import L3_KIND, L4_ICMP, L4_PORTS, L4_TCP, OF_FRAME, WIDTHS, Masked, Range, Rule, name_of

__all__ = ["ENGINE", "covers", "empty_rules", "is_empty", "kinds_of_rules", "misfits", "shadowed_rules"]

ENGINE = {"rules": 1024, "meters": 256, "ipv6": 1, "tunnel": 0}
"""Register ``size`` of an engine that is built as docs/acl.md has it by default."""

_ETHERTYPE = {4: 0x0800, 6: 0x86DD}
_L4_PROTOCOL = {1: 6, 2: 17, 3: 1, 4: 58, 5: 50}
"""The protocol that comes with each ``l4_kind``."""
_UDP = 2
_ROCE_PORT = 4791
_TUNNEL_PORTS = (4789, 6081)
_OF_IP = ("src", "dst", "protocol", "dscp", "ecn", "fragment")
_OF_TAG = ("vlan", "pcp")
_OF_BTH = ("bth_opcode", "dest_qp")


@dataclass(frozen=True)
class _Kind:
    """ip: 4, 6 or None; fixed: the values of the fields that have but one."""

    ip: int | None
    l4_kind: int
    roce: bool
    tagged: bool
    fixed: Mapping[str, int]

    def has(self, condition: str) -> bool:
        """Frames of the kind have what the condition asks about."""
        if condition in _OF_IP:
            return self.ip is not None
        if condition in _OF_TAG:
            return self.tagged
        if condition in _OF_BTH:
            return self.roce
        if condition in ("src_port", "dst_port"):
            return self.l4_kind in L4_PORTS
        if condition == "tcp_flags":
            return self.l4_kind in L4_TCP
        if condition in ("icmp_type", "icmp_code"):
            return self.l4_kind in L4_ICMP
        return True


def _kinds() -> Iterator[_Kind]:
    for tagged in (False, True):
        yield _Kind(None, 0, False, tagged, {})
        for ip in L3_KIND:
            for l4_kind in range(6):
                if l4_kind in L4_ICMP and l4_kind != {4: 3, 6: 4}[ip]:
                    continue
                fixed = {"ethertype": _ETHERTYPE[ip]}
                if l4_kind:
                    fixed["protocol"] = _L4_PROTOCOL[l4_kind]
                yield _Kind(ip, l4_kind, False, tagged, fixed)
                if l4_kind == _UDP:
                    yield _Kind(ip, l4_kind, True, tagged, fixed | {"dst_port": _ROCE_PORT})


_KINDS = tuple(_kinds())
_INNER_KINDS = tuple(kind for kind in _KINDS if not kind.roce)
_AROUND_TUNNEL = tuple(
    _Kind(kind.ip, _UDP, False, kind.tagged, {**kind.fixed, "dst_port": port})
    for kind in _KINDS
    if kind.l4_kind == _UDP and not kind.roce
    for port in _TUNNEL_PORTS
)
"""What a frame with a tunnel is outside."""

_Conditions = dict[str, Masked | Range]


def _conditions(rule: Rule) -> _Conditions:
    """What is asked of fields, by the names of the conditions; ``ip`` is the kind's."""
    found: _Conditions = {}
    for name in (*WIDTHS, "fragment", "decrypted"):
        condition = getattr(rule, name)
        if isinstance(condition, Masked | Range):
            found[name] = condition
        elif condition is not None:
            found[name] = Masked(int(condition), (1 << WIDTHS.get(name, 1)) - 1)
    return found


def _takes(rule: Rule, conditions: _Conditions, kind: _Kind) -> bool:
    """The rule takes frames of the kind."""
    if rule.ip is not None and rule.ip != kind.ip:
        return False
    return all(
        kind.has(name) and (name not in kind.fixed or condition.holds(kind.fixed[name]))
        for name, condition in conditions.items()
    )


def _within(name: str, other: Masked | Range | None, condition: Masked | Range) -> bool:
    """The condition accepts all that the other one (None: free) does."""
    if isinstance(condition, Range):
        first, last = (other.first, other.last) if isinstance(other, Range) else (0, (1 << WIDTHS[name]) - 1)
        return condition.first <= first and last <= condition.last
    bits = other if isinstance(other, Masked) else Masked(0, 0)
    return not condition.mask & ~bits.mask and bits.value & condition.mask == condition.value


def _covers_kind(earlier: Rule, asked: _Conditions, others: _Conditions, kind: _Kind) -> bool:
    """Of this kind, ``earlier`` takes all that a rule with the other conditions does, which takes some."""
    return _takes(earlier, asked, kind) and all(
        name in kind.fixed or _within(name, others.get(name), condition) for name, condition in asked.items()
    )


def is_empty(rule: Rule) -> bool:
    """No frame can match the rule."""
    conditions = _conditions(rule)
    return not any(_takes(rule, conditions, kind) for kind in (_INNER_KINDS if rule.inner else _KINDS))


def covers(earlier: Rule, rule: Rule) -> bool:
    """``earlier`` matches every frame that ``rule``, which isn't empty, matches."""
    asked, others = _conditions(earlier), _conditions(rule)
    if rule.inner and not earlier.inner:
        # Nothing inside says anything about the outside, but that it is UDP to a tunnel's port.
        outside = {name: condition for name, condition in others.items() if name in OF_FRAME}
        return all(_covers_kind(earlier, asked, outside, kind) for kind in _AROUND_TUNNEL)
    if earlier.inner and not rule.inner:
        return False
    kinds = _INNER_KINDS if rule.inner else _KINDS
    return all(_covers_kind(earlier, asked, others, kind) for kind in kinds if _takes(rule, others, kind))


def empty_rules(rules: Sequence[Rule]) -> list[int]:
    """Numbers of the rules that no frame can match."""
    return [index for index, rule in enumerate(rules) if is_empty(rule)]


def shadowed_rules(rules: Sequence[Rule]) -> dict[int, int]:
    """By the number of each shadowed rule that of the first rule that matches all that it matches. Empty rules are
    neither."""
    empty = set(empty_rules(rules))
    boxes = _Boxes(rules)
    shadowed = {}
    for index, rule in enumerate(rules):
        if index in empty:
            continue
        for earlier in boxes.candidates(index):
            if int(earlier) not in empty and covers(rules[earlier], rule):
                shadowed[index] = int(earlier)
                break
    return shadowed


class _Boxes:
    """Addresses and ports of all rules as arrays: which rules may shadow one, to be looked at closely."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        addresses = [(rule.src or Masked(0, 0), rule.dst or Masked(0, 0)) for rule in rules]
        words = [
            [number >> shift & (1 << 64) - 1 for address in pair for number in (address.value, address.mask)]
            for pair in addresses
            for shift in (64, 0)
        ]
        # Per rule and half of an address: value and mask of the source, value and mask of the destination.
        self.bits: NDArray[np.uint64] = np.array(words, np.uint64).reshape(len(rules), 2, 2, 2)
        whole = Range(0, 0xFFFF)
        pairs = [(rule.src_port or whole, rule.dst_port or whole) for rule in rules]
        self.first = np.array([[ports.first for ports in pair] for pair in pairs]).reshape(len(rules), 2)
        self.last = np.array([[ports.last for ports in pair] for pair in pairs]).reshape(len(rules), 2)
        self.inner = np.array([rule.inner for rule in rules], np.bool_)

    def candidates(self, index: int) -> NDArray[np.int64]:
        """Numbers below ``index``, rising, of the rules that may match all that it matches."""
        value, mask = self.bits[:index, ..., 0], self.bits[:index, ..., 1]
        own_value, own_mask = self.bits[index, ..., 0], self.bits[index, ..., 1]
        if self.rules[index].inner:
            # A rule about the outside has nothing to do with the addresses inside: it may have none of its own.
            own_value, own_mask = own_value[None], own_mask[None]
            outside = ~self.inner[:index, None, None]
            own_value, own_mask = np.where(outside, 0, own_value), np.where(outside, 0, own_mask)
        fits = ((mask & ~own_mask) == 0) & (((own_value ^ value) & mask) == 0)
        possible = fits.all(axis=(1, 2))
        if not self.rules[index].inner:
            fixed = self.rules[index].bth_opcode is not None or self.rules[index].dest_qp is not None
            sides = slice(0, 1) if fixed else slice(0, 2)
            possible &= (self.first[:index, sides] <= self.first[index, sides]).all(axis=1)
            possible &= (self.last[:index, sides] >= self.last[index, sides]).all(axis=1)
        return np.flatnonzero(possible)


def kinds_of_rules(rules: Sequence[Rule]) -> dict[str, int]:
    """How many rules there are of which sort; a rule may be of several."""
    sorts: dict[str, Callable[[Rule], bool]] = {
        "IPv4": lambda rule: rule.ip == 4,
        "IPv6": lambda rule: rule.ip == 6,
        "any frame": lambda rule: rule.ip is None,
        "inner": lambda rule: rule.inner,
        "port range": lambda rule: any(
            ports is not None and ports.first != ports.last for ports in (rule.src_port, rule.dst_port)
        ),
        "TCP flags": lambda rule: rule.tcp_flags is not None,
        "ICMP": lambda rule: rule.icmp_type is not None or rule.icmp_code is not None,
        "RoCE": lambda rule: rule.bth_opcode is not None or rule.dest_qp is not None,
        "deny": lambda rule: not rule.actions.permit,
        "metered": lambda rule: rule.actions.meter is not None,
    }
    counts = {name: sum(is_of(rule) for rule in rules) for name, is_of in sorts.items()}
    return {name: count for name, count in counts.items() if count}


def misfits(rules: Sequence[Rule], meters: int, size: Mapping[str, int]) -> list[str]:
    """Why rules and so many meters don't fit an engine, one sentence each. size: fields of its register ``size``."""
    found = []
    most = size["rules"]
    if len(rules) > most:
        found.append(f"{len(rules)} rules, {len(rules) - most} more than the {most} that the engine has room for")
    wide = [index for index, rule in enumerate(rules) if rule.ip == 6]
    if wide and not size["ipv6"]:
        ask = "rule asks" if len(wide) == 1 else "rules ask"
        found.append(f"{len(wide)} {ask} for IPv6 and the engine has no keys for it: {_some(rules, wide)}")
    if meters > size["meters"]:
        found.append(f"{meters} meters, {meters - size['meters']} more than the {size['meters']} that the engine has")
    return found


def _some(rules: Sequence[Rule], indices: Sequence[int], most: int = 3) -> str:
    """The first of them by name, and how many more."""
    text = ", ".join(name_of(rules, index) for index in indices[:most])
    return text if len(indices) <= most else f"{text} and {len(indices) - most} more"
