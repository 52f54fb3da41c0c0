"""Golden model of block ``acl``: rules, the first that matches a frame, and what then becomes of the frame.

Written from docs/acl.md. A frame is what the metadata word says of it: its fields by their names in models/meta.py, a
missing one 0. ``matches`` reads like the page's table of conditions; models/acl_batch.py does the same for a million
frames at once. Meters are in models/acl_meter.py, rule files in models/acl_file.py, shadowed and empty rules in
models/acl_check.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from models.acl_meter import Colour, Meter, MeterRates

__all__ = [
    "ACTION_WIDTHS",
    "COUNTER_BITS",
    "DEFAULT_RULE",
    "INNERMOST",
    "L3_KIND",
    "L4_ICMP",
    "L4_PORTS",
    "L4_TCP",
    "OF_FRAME",
    "WIDTHS",
    "AclModel",
    "Actions",
    "Counter",
    "Judgement",
    "Masked",
    "Range",
    "Rule",
    "RuleSet",
    "Verdict",
    "first_match",
    "mark_dscp",
    "matches",
    "name_of",
    "updated_checksum",
]

COUNTER_BITS = 64

DEFAULT_RULE = 65535
"""The default action's number: ``acl_rule`` of a frame that no rule matched."""

L3_KIND = {4: 1, 6: 2}
"""``l3_kind`` by a rule's ``ip``."""
L4_PORTS = (1, 2)
"""``l4_kind`` of what has ports: TCP, UDP."""
L4_TCP = (1,)
L4_ICMP = (3, 4)
"""ICMP, ICMPv6."""

OF_FRAME = ("port", "decrypted", "sa")
"""Conditions on the frame as a whole: a rule with ``inner`` asks the same fields."""
INNERMOST = ("tcp_flags", "icmp_type", "icmp_code")
"""Fields of the innermost L4 header, which have no other name in a tunnel."""

WIDTHS = {
    "ethertype": 16,
    "vlan": 12,
    "pcp": 3,
    "src": 128,
    "dst": 128,
    "protocol": 8,
    "src_port": 16,
    "dst_port": 16,
    "tcp_flags": 12,
    "icmp_type": 8,
    "icmp_code": 8,
    "dscp": 6,
    "ecn": 2,
    "port": 8,
    "bth_opcode": 8,
    "dest_qp": 24,
    "sa": 12,
}
"""Bits of the conditions that are numbers."""

ACTION_WIDTHS = {"queue": 8, "mirror": 8, "redirect": 8, "priority": 3, "mark_dscp": 6, "meter": 8, "protect": 12}
"""Bits of the actions that have a number."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A value and the bits of it that are compared. ValueError: the value has bits outside the mask."""

    value: int
    mask: int

    def __post_init__(self) -> None:
        if self.value < 0 or self.mask < 0 or self.value & ~self.mask:
            raise ValueError(f"value {self.value:#x} has bits outside its mask {self.mask:#x}")

    def holds(self, value: int) -> bool:
        """The condition holds for a field of this value."""
        return value & self.mask == self.value


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from first to last, both included. ValueError: there is none."""

    first: int
    last: int

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.last:
            raise ValueError(f"{self.first}-{self.last} is an empty range")

    def holds(self, value: int) -> bool:
        """The condition holds for a field of this value."""
        return self.first <= value <= self.last


@dataclass(frozen=True, slots=True)
class Actions:
    """What a rule does besides counting. ValueError: a number that its field has no room for.

    permit     False: the frame ends with ``acl_denied``
    queue      host queue, before RSS; mirror: a copy to that host queue, of a denied frame too
    redirect   to the other direction of that port
    priority   scheduling class inside the NIC
    mark_dscp  the new DSCP of the outermost IP header
    meter      number of the meter that polices the frame
    protect    security association
    """

    permit: bool = True
    queue: int | None = None
    mirror: int | None = None
    redirect: int | None = None
    priority: int | None = None
    mark_dscp: int | None = None
    meter: int | None = None
    protect: int | None = None

    def __post_init__(self) -> None:
        for name, width in ACTION_WIDTHS.items():
            _check_width(name, getattr(self, name), width)


@dataclass(frozen=True, slots=True)
class Rule:
    """The conditions of one rule, None where it is free, and its actions. ValueError: a condition that no field has
    room for, an address without ``ip``.

    inner  the headers in a tunnel are asked, not those outside
    ip     4 or 6; src and dst need it: IPv4 addresses are in the low 32 bits
    """

    name: str = ""
    inner: bool = False
    ethertype: int | None = None
    vlan: int | None = None
    pcp: int | None = None
    ip: int | None = None
    src: Masked | None = None
    dst: Masked | None = None
    protocol: Masked | None = None
    src_port: Range | None = None
    dst_port: Range | None = None
    tcp_flags: Masked | None = None
    icmp_type: Masked | None = None
    icmp_code: Masked | None = None
    dscp: int | None = None
    ecn: int | None = None
    fragment: bool | None = None
    port: int | None = None
    bth_opcode: Masked | None = None
    dest_qp: int | None = None
    decrypted: bool | None = None
    sa: int | None = None
    actions: Actions = field(default_factory=Actions)

    def __post_init__(self) -> None:
        if self.ip not in (None, *L3_KIND):
            raise ValueError(f"ip: {self.ip}; accepted: 4 or 6")
        for name, width in WIDTHS.items():
            condition = getattr(self, name)
            if name in ("src", "dst"):
                if condition is not None and self.ip is None:
                    raise ValueError(f"{name}: an address needs ip: 4 or 6")
                width = 32 if self.ip == 4 else 128
            if isinstance(condition, Masked):
                condition = condition.mask
            elif isinstance(condition, Range):
                condition = condition.last
            _check_width(name, condition, width)


def _check_width(name: str, value: int | None, width: int) -> None:
    if value is not None and not 0 <= value < 1 << width:
        raise ValueError(f"{name}: {value} does not fit {width} bits; accepted: 0 to {(1 << width) - 1}")


def name_of(rules: Sequence[Rule], index: int) -> str:
    """How a rule is called in messages: its number, and its name where it has one."""
    return f"rule {index} ({rules[index].name})" if rules[index].name else f"rule {index}"


def matches(rule: Rule, fields: Mapping[str, int]) -> bool:
    """All conditions of the rule hold for the frame. fields: those of the metadata word by name."""
    prefix = "inner_" if rule.inner else ""

    def of(name: str) -> int:
        return fields.get(name if name in OF_FRAME + INNERMOST else prefix + name, 0)

    if rule.inner and not fields.get("tunnel_kind", 0):
        return False
    has_ip = of("l3_kind") != 0
    has_tag = of("vlan_count") != 0
    has_ports = of("l4_kind") in L4_PORTS
    has_icmp = of("l4_kind") in L4_ICMP
    has_bth = not rule.inner and of("roce") == 1
    tag = of("vlan0")
    conditions = (
        rule.ethertype is None or of("ethertype") == rule.ethertype,
        rule.vlan is None or (has_tag and tag & 0xFFF == rule.vlan),
        rule.pcp is None or (has_tag and tag >> 13 == rule.pcp),
        rule.ip is None or of("l3_kind") == L3_KIND[rule.ip],
        rule.src is None or rule.src.holds(of("ip_src")),
        rule.dst is None or rule.dst.holds(of("ip_dst")),
        rule.protocol is None or (has_ip and rule.protocol.holds(of("protocol"))),
        rule.src_port is None or (has_ports and rule.src_port.holds(of("src_port"))),
        rule.dst_port is None or (has_ports and rule.dst_port.holds(of("dst_port"))),
        rule.tcp_flags is None or (of("l4_kind") in L4_TCP and rule.tcp_flags.holds(of("tcp_flags"))),
        rule.icmp_type is None or (has_icmp and rule.icmp_type.holds(of("icmp_type"))),
        rule.icmp_code is None or (has_icmp and rule.icmp_code.holds(of("icmp_code"))),
        rule.dscp is None or (has_ip and of("dscp") == rule.dscp),
        rule.ecn is None or (has_ip and of("ecn") == rule.ecn),
        rule.fragment is None or (has_ip and of("fragment") == rule.fragment),
        rule.port is None or of("port") == rule.port,
        rule.bth_opcode is None or (has_bth and rule.bth_opcode.holds(of("bth_opcode"))),
        rule.dest_qp is None or (has_bth and of("bth_dest_qp") == rule.dest_qp),
        rule.decrypted is None or of("decrypted") == rule.decrypted,
        rule.sa is None or of("sa") == rule.sa,
    )
    return all(conditions)


def first_match(rules: Sequence[Rule], fields: Mapping[str, int]) -> int | None:
    """Number of the first rule that matches the frame; None: no rule does."""
    return next((index for index, rule in enumerate(rules) if matches(rule, fields)), None)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules in their order, what becomes of a frame that none matches, the meters by number. ValueError: a rule names a
    meter that isn't there."""

    rules: tuple[Rule, ...] = ()
    default_permit: bool = True
    meters: tuple[MeterRates, ...] = ()

    def __post_init__(self) -> None:
        for index, rule in enumerate(self.rules):
            if rule.actions.meter is not None and rule.actions.meter >= len(self.meters):
                raise ValueError(
                    f"{name_of(self.rules, index)}: meter: there is no meter {rule.actions.meter}; "
                    f"accepted: the number of one of the {len(self.meters)} meters, from 0"
                )


class Verdict(Enum):
    """What the ACL says of a frame. The names of those that end it are those of the disposition codes."""

    PASSED = "passed"
    ACL_DENIED = "acl_denied"
    ACL_POLICED = "acl_policed"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What becomes of a frame. rule: the number of the one that matched, None for the default action. All but
    ``mirror`` is None where the frame ends here. mark_dscp: the new DSCP, of a yellow frame its meter's."""

    rule: int | None
    verdict: Verdict
    colour: Colour | None = None
    queue: int | None = None
    mirror: int | None = None
    redirect: int | None = None
    priority: int | None = None
    mark_dscp: int | None = None
    protect: int | None = None


@dataclass(slots=True)
class Counter:
    """Frames and bytes, each modulo 2**64."""

    frames: int = 0
    bytes: int = 0

    def add(self, size: int) -> None:
        """Count a frame."""
        self.frames = (self.frames + 1) % (1 << COUNTER_BITS)
        self.bytes = (self.bytes + size) % (1 << COUNTER_BITS)


class AclModel:
    """The ACL of one slot: the rule set that is asked, its counters and its meters.

    A rule's counter moves with the rule. ``load`` puts a whole set in the place of the old one, between two frames,
    with counters at 0 and full buckets. Times in ns, sizes in bytes of the frame without FCS.
    """

    def __init__(self, rule_set: RuleSet) -> None:
        self.load(rule_set)

    def load(self, rule_set: RuleSet) -> None:
        """Another set from the next frame on."""
        self.default_permit = rule_set.default_permit
        self.default_counter = Counter()
        self.rules = list(rule_set.rules)
        self.counters = [Counter() for _ in self.rules]
        self.meters = [Meter(rates) for rates in rule_set.meters]

    def insert(self, index: int, rule: Rule) -> None:
        """A rule at this number; those from there on move down. ValueError: it names a meter that isn't there."""
        self._check_place(index, len(self.rules) + 1)
        if rule.actions.meter is not None and rule.actions.meter >= len(self.meters):
            raise ValueError(f"there is no meter {rule.actions.meter}")
        self.rules.insert(index, rule)
        self.counters.insert(index, Counter())

    def remove(self, index: int) -> tuple[Rule, Counter]:
        """Take a rule out; those behind it move up by one."""
        self._check_place(index, len(self.rules))
        return self.rules.pop(index), self.counters.pop(index)

    def move(self, index: int, to: int) -> None:
        """A rule to another number: it has that number afterwards."""
        self._check_place(to, len(self.rules))
        rule, counter = self.remove(index)
        self.rules.insert(to, rule)
        self.counters.insert(to, counter)

    def read(self, index: int | None, clear: bool = False) -> Counter:
        """What a rule (None: the default action) counted so far; with ``clear`` it counts from 0 afterwards."""
        if index is not None:
            self._check_place(index, len(self.rules))
        counter = self.default_counter if index is None else self.counters[index]
        found = Counter(counter.frames, counter.bytes)
        if clear:
            counter.frames = counter.bytes = 0
        return found

    def judge(self, fields: Mapping[str, int], size: int, now_ns: int) -> Judgement:
        """What becomes of a frame. ValueError: the time is before that of an earlier frame at the same meter."""
        index = first_match(self.rules, fields)
        if index is None:
            self.default_counter.add(size)
            return Judgement(None, Verdict.PASSED if self.default_permit else Verdict.ACL_DENIED)
        self.counters[index].add(size)
        actions = self.rules[index].actions
        if not actions.permit:
            return Judgement(index, Verdict.ACL_DENIED, mirror=actions.mirror)
        colour, mark = None, actions.mark_dscp
        if actions.meter is not None:
            meter = self.meters[actions.meter]
            colour = meter.colour(now_ns, size)
            if colour == Colour.RED:
                return Judgement(index, Verdict.ACL_POLICED, colour, mirror=actions.mirror)
            if colour == Colour.YELLOW and meter.rates.yellow_dscp is not None:
                mark = meter.rates.yellow_dscp
        return Judgement(
            index,
            Verdict.PASSED,
            colour,
            actions.queue,
            actions.mirror,
            actions.redirect,
            actions.priority,
            mark,
            actions.protect,
        )

    def counted(self) -> Iterator[tuple[int | None, Counter]]:
        """Each rule's number and counter, then None and that of the default action."""
        yield from enumerate(self.counters)
        yield None, self.default_counter

    @staticmethod
    def _check_place(index: int, size: int) -> None:
        if not 0 <= index < size:
            raise ValueError(f"there is no place {index}; accepted: 0 to {size - 1}")


def mark_dscp(frame: bytes, fields: Mapping[str, int], dscp: int) -> bytes:
    """The frame with another DSCP in its outermost IP header, ECN as it was; unchanged where it has none.

    RFC 2474 section 3: the six high bits of IPv4's TOS and IPv6's traffic class. IPv4's header checksum follows by RFC
    1624 equation 3, so a wrong one stays wrong by as much. ValueError: the DSCP has more than 6 bits.
    """
    _check_width("dscp", dscp, 6)
    kind, at = fields.get("l3_kind", 0), fields.get("l3_offset", 0)
    if not kind:
        return frame
    changed = bytearray(frame)
    word = int.from_bytes(frame[at : at + 2], "big")
    # IPv4: version, IHL, DSCP, ECN. IPv6: version, DSCP, ECN, 4 bits of the flow label.
    low = 2 if kind == L3_KIND[4] else 6
    new = word & ~(0x3F << low) | dscp << low
    changed[at : at + 2] = new.to_bytes(2, "big")
    if kind == L3_KIND[4]:
        checksum = int.from_bytes(frame[at + 10 : at + 12], "big")
        changed[at + 10 : at + 12] = updated_checksum(checksum, word, new).to_bytes(2, "big")
    return bytes(changed)


def updated_checksum(checksum: int, old: int, new: int) -> int:
    """RFC 1624 equation 3: HC' = ~(~HC + ~m + m'), in ones' complement arithmetic of 16 bits."""
    total = (checksum ^ 0xFFFF) + (old ^ 0xFFFF) + new
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF
