"""Rule files of the ACL: ClassBench's filter sets and TOML. docs/acl.md says what they hold.

Whatever is wrong is an ``AclFileError`` of one line: file, line or rule, key, what is there, what is accepted.
"""

from __future__ import annotations

import ipaddress
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from models.acl import ACTION_WIDTHS, WIDTHS, Actions, Masked, Range, Rule, RuleSet
from models.acl_meter import MeterRates

__all__ = [
    "AclFileError",
    "parse_classbench",
    "parse_toml",
    "read_rules",
    "rule_set_of_tables",
    "rule_set_to_toml",
    "rules_of",
    "text_of",
]


class AclFileError(Exception):
    """A rule file is wrong. The text is one line for the person who wrote it."""


def read_rules(path: str | Path) -> RuleSet:
    """The rule set of a file: TOML if its name ends with .toml, else ClassBench. AclFileError: it can't be read, or is
    wrong."""
    return rules_of(text_of(path), str(path))


def text_of(path: str | Path) -> str:
    """What a rule file says. AclFileError: it can't be read."""
    name = str(path)
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AclFileError(f"{name}: byte {error.start} is no UTF-8; accepted: text, TOML or ClassBench") from error
    except (OSError, ValueError) as error:
        # A name with a zero byte is a ValueError.
        raise AclFileError(f"{_one_line(name)}: {getattr(error, 'strerror', None) or error}") from error


def rules_of(text: str, name: str) -> RuleSet:
    """The rule set of a file of that name. AclFileError: it is wrong."""
    if name.lower().endswith(".toml"):
        return parse_toml(text, name)
    return parse_classbench(text, name)


# ClassBench


_PREFIX = r"(\S+)/(\d+)"
_PORTS = r"(\d+)\s*:\s*(\d+)"
_HEX = r"0[xX]([0-9a-fA-F]+)/0[xX]([0-9a-fA-F]+)"
_LINE = re.compile(rf"@{_PREFIX}\s+{_PREFIX}\s+{_PORTS}\s+{_PORTS}\s+{_HEX}(?:\s+{_HEX})?")
_FORM = "@src/len dst/len lo : hi lo : hi 0xproto/0xmask [0xflags/0xmask]"
_TCP, _ICMP, _ICMPV6 = 6, 1, 58


def parse_classbench(text: str, name: str) -> RuleSet:
    """A filter a line (Taylor and Turner, IEEE/ACM ToN 15(3), 2007): permit and count. Bits behind a prefix and outside
    a mask are left out. Lines that are empty or begin with # are skipped. AclFileError: a line is wrong."""
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                rules.append(_filter(line.strip()))
            except ValueError as error:
                raise AclFileError(f"{name}:{number}: {error}") from error
    if not rules:
        raise AclFileError(f"{name}: no filter is in it; accepted: lines of {_FORM}")
    return RuleSet(tuple(rules))


def _filter(line: str) -> Rule:
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"{_shown(line)} is no filter; accepted: {_FORM}")
    src, src_length, dst, dst_length, *rest = found.groups()
    ip, src_bits = _classbench_prefix("src", src, src_length)
    dst_ip, dst_bits = _classbench_prefix("dst", dst, dst_length)
    if ip != dst_ip:
        raise ValueError(f"src is IPv{ip} and dst is IPv{dst_ip}; accepted: both of one kind")
    ports = [_classbench_ports(key, *rest[at : at + 2]) for key, at in (("src_port", 0), ("dst_port", 2))]
    protocol = _classbench_bits("protocol", rest[4], rest[5], 8)
    conditions: dict[str, Any] = {}
    if rest[6] is not None:
        conditions = _classbench_flags(protocol, _classbench_bits("flags", rest[6], rest[7], 16))
    return Rule(
        ip=ip,
        src=src_bits if src_bits.mask else None,
        dst=dst_bits if dst_bits.mask else None,
        src_port=ports[0],
        dst_port=ports[1],
        protocol=protocol if protocol.mask else None,
        **conditions,
    )


def _classbench_prefix(key: str, address: str, length: str) -> tuple[int, Masked]:
    try:
        network = ipaddress.ip_network(f"{address}/{int(length)}", strict=False)
    except ValueError as error:
        raise ValueError(
            f"{key}: {_shown(f'{address}/{length}')} is no prefix; accepted: 10.0.0.0/8, fe80::/10"
        ) from error
    return network.version, Masked(int(network.network_address), int(network.netmask))


def _classbench_ports(key: str, first: str, last: str) -> Range | None:
    """None for all ports: the filter then takes frames without ports too."""
    low, high = int(first), int(last)
    if low > high:
        raise ValueError(f"{key}: {low} : {high} is an empty range; accepted: lo : hi with lo <= hi")
    if high > 0xFFFF:
        raise ValueError(f"{key}: {high} is no port; accepted: 0 to 65535")
    return None if (low, high) == (0, 0xFFFF) else Range(low, high)


def _classbench_bits(key: str, value: str, mask: str, width: int) -> Masked:
    bits, care = int(value, 16), int(mask, 16)
    if max(bits, care) >> width:
        raise ValueError(f"{key}: 0x{value}/0x{mask} has more than {width} bits; accepted: 0 to {(1 << width) - 1:#x}")
    return Masked(bits & care, care)


def _classbench_flags(protocol: Masked, flags: Masked) -> dict[str, Masked]:
    """The 16 bits are TCP's flags and the byte behind them, ICMP's type and code."""
    if not flags.mask:
        return {}
    whole = protocol.value if protocol.mask == 0xFF else None
    high, low = (Masked(flags.value >> shift & 0xFF, flags.mask >> shift & 0xFF) for shift in (8, 0))
    if whole == _TCP and not low.mask:
        return {"tcp_flags": high}
    if whole in (_ICMP, _ICMPV6):
        return {key: bits for key, bits in (("icmp_type", high), ("icmp_code", low)) if bits.mask}
    raise ValueError(
        f"flags: mask {flags.mask:#06x} with protocol {protocol.value:#04x}/{protocol.mask:#04x}; accepted: "
        "TCP's flags in the high byte (0x06/0xFF), ICMP's type and code (0x01/0xFF, 0x3A/0xFF), else mask 0x0000"
    )


# TOML


_PROTOCOLS = {"tcp": 6, "udp": 17, "icmp": 1, "icmpv6": 58, "esp": 50, "gre": 47}
_FLAGS = "FSRPAUECN"
"""TCP's flags from bit 0: FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, and AE (formerly NS)."""
_TOP = ("default", "meter", "rule")
_METER = ("cir", "pir", "cbs", "pbs", "yellow_dscp")
_VERDICTS = {"permit": True, "deny": False}

_Reader = Callable[[str, Any], Any]


def parse_toml(text: str, name: str) -> RuleSet:
    """The rule set of a TOML text. AclFileError: it isn't TOML, or something in it isn't accepted."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise AclFileError(f"{name}: no TOML: {error}") from error
    return _TomlFile(text, name).rule_set(tables)


def rule_set_of_tables(tables: Mapping[str, Any], name: str) -> RuleSet:
    """As ``parse_toml``, from the tables that tomllib makes of such a text."""
    return _TomlFile("", name).rule_set(tables)


class _TomlFile:
    """A file's text, for the lines of what is wrong in it."""

    def __init__(self, text: str, name: str) -> None:
        self.lines = text.split("\n")
        self.name = name
        self.counts: dict[str, int] = {}

    def rule_set(self, tables: Mapping[str, Any]) -> RuleSet:
        for key in tables:
            if key not in _TOP:
                self._refuse("", 0, key, f"no such key; accepted: {', '.join(_TOP)}")
        default = tables.get("default", "permit")
        if not isinstance(default, str) or default not in _VERDICTS:
            self._refuse("", 0, "default", f"{_shown(default)}; accepted: permit, deny")
        meters = tuple(
            self._table("meter", index, table, _meter) for index, table in enumerate(self._tables(tables, "meter"))
        )
        rules = tuple(
            self._table("rule", index, table, lambda given: _rule(given, len(meters)))
            for index, table in enumerate(self._tables(tables, "rule"))
        )
        return RuleSet(rules, _VERDICTS[default], meters)

    def _tables(self, tables: Mapping[str, Any], kind: str) -> list[Any]:
        found = tables.get(kind, [])
        if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
            self._refuse("", 0, kind, f"accepted: tables, each begun with [[{kind}]]")
        self.counts[kind] = len(found)
        return list(found)

    def _table(self, kind: str, index: int, table: dict[str, Any], read: Callable[[dict[str, Any]], Any]) -> Any:
        try:
            return read(table)
        except _Wrong as wrong:
            self._refuse(kind, index, wrong.key, wrong.text, table.get("name"))

    def _refuse(self, kind: str, index: int, key: str, text: str, called: object = None) -> None:
        line = self._line(kind, index, key)
        place = f"{self.name}:{line}" if line else self.name
        of = f" {kind} {index}" if kind else ""
        if isinstance(called, str) and called and called.isprintable():
            of += f" ({called})"
        key = key if re.fullmatch(r"[\w-]+", key) else _shown(key)
        raise AclFileError(f"{place}:{of}{':' if of else ''} {key}: {text}")

    def _line(self, kind: str, index: int, key: str) -> int:
        """The line, from 1, of a key in a table, else of the table's head; 0: the text doesn't say it plainly."""
        heads = [n for n, line in enumerate(self.lines) if re.match(rf"\s*\[\[\s*{kind}\s*\]\]", line)]
        if not kind:
            first, last, found = 0, len(self.lines), 0
        elif len(heads) == self.counts[kind]:
            first, found = heads[index] + 1, heads[index] + 1
            tables = (n for n in range(first, len(self.lines)) if self.lines[n].lstrip().startswith("["))
            last = next(tables, len(self.lines))
        else:
            return 0
        pattern = re.compile(rf"\s*(?:\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*(?:=|\])")
        return next((n + 1 for n in range(first, last) if pattern.match(self.lines[n])), found)


class _Wrong(Exception):
    """A key of a table isn't accepted."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(f"{key}: {text}")
        self.key, self.text = key, text


def _shown(value: object) -> str:
    """A value as it stands in a message, not too long and in one line."""
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _one_line(name: str) -> str:
    return name if name.isprintable() else repr(name)


def _known(table: Mapping[str, Any], accepted: Iterable[str]) -> None:
    for key in table:
        if key not in accepted:
            raise _Wrong(key, f"no such key; accepted: {', '.join(accepted)}")


def _number(key: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise _Wrong(key, f"{_shown(value)}; accepted: a number from 0 to {most}")
    return value


def _truth(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _Wrong(key, f"{_shown(value)}; accepted: true, false")
    return value


def _value(key: str, value: object) -> int:
    return _number(key, value, (1 << WIDTHS[key]) - 1)


def _ip(key: str, value: object) -> int:
    if isinstance(value, bool) or value not in (4, 6):
        raise _Wrong(key, f"{_shown(value)}; accepted: 4, 6")
    return 4 if value == 4 else 6


def _plain(text: str) -> int | None:
    """A number as people write it, in decimal or hex; None: it isn't one."""
    return int(text, 0) if re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}|0|[1-9][0-9]{0,8}", text) else None


def _bits(key: str, value: object, form: str = "a number, or {example} (value/mask)") -> Masked:
    most = (1 << WIDTHS[key]) - 1
    accepted = f"{form.format(example='0x02/0x12')}, each from 0 to {most}"
    if isinstance(value, str):
        parts = [_plain(part.strip()) for part in value.split("/")]
        numbers = [part for part in parts if part is not None]
        if len(numbers) != len(parts):
            raise _Wrong(key, f"{_shown(value)}; accepted: {accepted}")
    elif isinstance(value, int) and not isinstance(value, bool):
        numbers = [value]
    else:
        numbers = []
    if len(numbers) not in (1, 2) or not all(0 <= number <= most for number in numbers):
        raise _Wrong(key, f"{_shown(value)}; accepted: {accepted}")
    return _masked(key, value, numbers[0], numbers[1] if len(numbers) == 2 else most)


def _masked(key: str, given: object, value: int, mask: int) -> Masked:
    if value & ~mask:
        raise _Wrong(key, f"{_shown(given)} has bits outside its mask; accepted: a value within its mask")
    return Masked(value, mask)


def _protocol(key: str, value: object) -> Masked:
    if isinstance(value, str) and value.lower() in _PROTOCOLS:
        return Masked(_PROTOCOLS[value.lower()], 0xFF)
    return _bits(key, value, f"{', '.join(_PROTOCOLS)}, a number, or {{example}} (value/mask)")


def _tcp_flags(key: str, value: object) -> Masked:
    if isinstance(value, str):
        found = re.fullmatch(rf"([{_FLAGS}]*)/([{_FLAGS}]+)", value)
        if found:
            flags, mask = (sum(1 << _FLAGS.index(letter) for letter in set(part)) for part in found.groups())
            return _masked(key, value, flags, mask)
    return _bits(key, value, f"S/SA (those of {_FLAGS} that are set, of which), a number, or {{example}} (value/mask)")


def _ports(key: str, value: object) -> Range:
    accepted = 'accepted: a port from 0 to 65535, or "first-last"'
    found = re.fullmatch(r"\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?", value) if isinstance(value, str) else None
    if found:
        first, last = int(found[1]), int(found[2] or found[1])
    elif isinstance(value, int) and not isinstance(value, bool):
        first = last = value
    else:
        raise _Wrong(key, f"{_shown(value)}; {accepted}")
    if not 0 <= first <= 0xFFFF or not 0 <= last <= 0xFFFF:
        raise _Wrong(key, f"{_shown(value)}; {accepted}")
    if first > last:
        raise _Wrong(key, f"{_shown(value)} is an empty range; {accepted} with first <= last")
    return Range(first, last)


def _address(key: str, value: object) -> tuple[int, Masked]:
    """4 or 6, and the bits."""
    accepted = "accepted: an address, a prefix (10.0.0.0/8, fe80::/10), or address/mask (10.0.0.1/255.0.0.255)"
    try:
        if not isinstance(value, str):
            raise ValueError
        text, _, length = value.partition("/")
        address = ipaddress.ip_address(text.strip())
        if "/" not in value:
            mask = (1 << address.max_prefixlen) - 1
        elif re.fullmatch(r"\s*\d{1,3}\s*", length):
            if int(length) > address.max_prefixlen:
                raise ValueError
            mask = (1 << address.max_prefixlen) - (1 << address.max_prefixlen - int(length))
        else:
            other = ipaddress.ip_address(length.strip())
            if other.version != address.version:
                raise ValueError
            mask = int(other)
    except ValueError:
        raise _Wrong(key, f"{_shown(value)}; {accepted}") from None
    if int(address) & ~mask:
        kept = type(address)(int(address) & mask)
        raise _Wrong(key, f"{_shown(value)} has bits outside its mask; accepted: {kept}/{length}")
    return address.version, Masked(int(address), mask)


_CONDITIONS: dict[str, _Reader] = {
    "inner": _truth,
    "ethertype": _value,
    "vlan": _value,
    "pcp": _value,
    "ip": _ip,
    "protocol": _protocol,
    "src_port": _ports,
    "dst_port": _ports,
    "tcp_flags": _tcp_flags,
    "icmp_type": _bits,
    "icmp_code": _bits,
    "dscp": _value,
    "ecn": _value,
    "fragment": _truth,
    "port": _value,
    "bth_opcode": _bits,
    "dest_qp": _value,
    "decrypted": _truth,
    "sa": _value,
}
"""How the value of each condition is read; addresses are read with ``ip``."""
_RULE = ("name", *_CONDITIONS, "src", "dst", "action", *ACTION_WIDTHS)


def _rule(table: dict[str, Any], meters: int) -> Rule:
    _known(table, _RULE)
    name = table.get("name", "")
    if not isinstance(name, str) or not name.isprintable():
        raise _Wrong("name", f"{_shown(name)}; accepted: text of one line")
    conditions = {key: read(key, table[key]) for key, read in _CONDITIONS.items() if key in table}
    for key in ("src", "dst"):
        if key in table:
            ip, bits = _address(key, table[key])
            if conditions.setdefault("ip", ip) != ip:
                raise _Wrong(key, f"{_shown(table[key])} is IPv{ip} and the rule asks for IPv{conditions['ip']}")
            conditions[key] = bits if bits.mask else None
    if conditions.get("inner"):
        for key in ("bth_opcode", "dest_qp"):
            if key in table:
                raise _Wrong(key, "no BTH is read in a tunnel; accepted: rules without inner")
    return Rule(name=name, actions=_actions(table, meters), **conditions)


def _actions(table: Mapping[str, Any], meters: int) -> Actions:
    action = table.get("action", "permit")
    if not isinstance(action, str) or action not in _VERDICTS:
        raise _Wrong("action", f"{_shown(action)}; accepted: permit, deny")
    numbers = {key: _number(key, table[key], (1 << width) - 1) for key, width in ACTION_WIDTHS.items() if key in table}
    if numbers.get("meter", -1) >= meters:
        accepted = f"0 to {meters - 1}" if meters else "none, since the file has no [[meter]]"
        raise _Wrong("meter", f"there is no meter {numbers['meter']}; accepted: {accepted}")
    if action == "deny":
        for key in numbers:
            if key != "mirror":
                raise _Wrong(key, "a denied frame goes nowhere; accepted with action deny: mirror")
    return Actions(_VERDICTS[action], **numbers)


def _meter(table: dict[str, Any]) -> MeterRates:
    _known(table, _METER)
    for key in _METER[:4]:
        if key not in table:
            raise _Wrong(key, f"missing; a meter needs {', '.join(_METER[:4])}")
        if isinstance(table[key], bool) or not isinstance(table[key], int):
            raise _Wrong(key, f"{_shown(table[key])}; accepted: a whole number")
    if "yellow_dscp" in table:
        _number("yellow_dscp", table["yellow_dscp"], 63)
    try:
        return MeterRates(**table)
    except ValueError as error:
        key, _, text = str(error).partition(": ")
        raise _Wrong(key, text) from error


# Writing TOML


def rule_set_to_toml(rule_set: RuleSet, table: str = "") -> str:
    """Text that ``parse_toml`` reads back to an equal set. ``table``: the dotted name of the table that shall hold
    it, so that it can stand inside another file. ValueError: a rule that no file may hold (docs/acl.md, Actions)."""
    prefix = f"{table}." if table else ""
    lines = [f"[{table}]"] if table else []
    lines.append(f"default = {_toml_value('permit' if rule_set.default_permit else 'deny')}")
    for rates in rule_set.meters:
        given = {key: getattr(rates, key) for key in _METER}
        lines += _toml_table(f"{prefix}meter", {key: value for key, value in given.items() if value is not None})
    for index, rule in enumerate(rule_set.rules):
        written = _rule_table(rule)
        try:
            same = _rule(written, len(rule_set.meters)) == rule
        except _Wrong as wrong:
            raise ValueError(f"rule {index}: {wrong}") from wrong
        if not same:
            raise ValueError(f"rule {index}: an address of length 0, which asks for ip alone")
        lines += _toml_table(f"{prefix}rule", written)
    return "\n".join([*lines, ""])


def _toml_table(head: str, table: Mapping[str, Any]) -> list[str]:
    return ["", f"[[{head}]]", *(f"{key} = {_toml_value(value)}" for key, value in table.items())]


def _toml_value(value: bool | int | str) -> str:
    # JSON escapes what a basic string of TOML must not hold as it is, in the same way.
    return json.dumps(value, ensure_ascii=False)


def _rule_table(rule: Rule) -> dict[str, Any]:
    """A rule as its table in a file, without what has its default."""
    table: dict[str, Any] = {"name": rule.name} if rule.name else {}
    for key in (*_CONDITIONS, "src", "dst"):
        value = getattr(rule, key)
        if isinstance(value, Range):
            table[key] = f"{value.first}-{value.last}"
        elif isinstance(value, Masked) and key in ("src", "dst"):
            kind = ipaddress.IPv4Address if rule.ip == 4 else ipaddress.IPv6Address
            table[key] = f"{kind(value.value)}/{kind(value.mask)}"
        elif isinstance(value, Masked):
            table[key] = f"{value.value:#x}/{value.mask:#x}"
        elif value is not None and (key != "inner" or value):
            table[key] = value
    if not rule.actions.permit:
        table["action"] = "deny"
    numbers = {key: getattr(rule.actions, key) for key in ACTION_WIDTHS}
    return table | {key: number for key, number in numbers.items() if number is not None}
