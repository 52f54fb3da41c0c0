"""How a NIC is programmed: one TOML file, one section a port.

    [port.0]
    rx_enable = true
    max_frame = 1514

    [port.0.parser]
    drop_rx = ["too_deep", "l3_truncated"]

    [port.0.acl]
    rx = "rules.toml"

    [port.0.ipsec]
    rx = "sas.toml"

A key that is left out has the reset value of its register. ``KEYS`` is the whole list of what a port takes itself,
``SECTIONS`` has such a list for each block of it; errors, ``to_toml`` and docs/config.md follow them. What the ACL
takes are no registers but rules, and of IPsec SAs: those of a file beside this one, or tables here. Every error is a
``ConfigError`` that names the file, the key by its dotted path and the values that are accepted there.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from models.acl import RuleSet
from models.acl_file import AclFileError, read_rules, rule_set_of_tables, rule_set_to_toml
from models.ipsec_file import FileSa, SaFileError, read_sas, sas_of_tables, sas_to_toml
from models.ipsec_sa import Sa
from models.meta import Code

__all__ = [
    "ACL_SIDES",
    "KEYS",
    "MAX_FRAME",
    "MIN_FRAME",
    "PARSER_CODES",
    "PORTS",
    "SECTIONS",
    "ConfigError",
    "IpsecConfig",
    "Key",
    "NicConfig",
    "ParserConfig",
    "PortConfig",
    "sas_of_side",
]

PORTS = 2
"""Ports of the NIC."""

MIN_FRAME = 60
"""Bytes of the shortest Ethernet frame, without FCS."""

MAX_FRAME = 9596
"""Bytes of the longest frame that the datapath is built for, without FCS."""

PARSER_CODES: dict[str, Code] = {code.name.lower(): code for code in Code if 32 <= code < 48}
"""What the parser may find wrong with a frame, by the names that a configuration uses."""

_FRACTION_BITS = 32
"""Of the register ``time_increment``: 8 bits of ns and 32 bits below."""


class ConfigError(ValueError):
    """A configuration that can't be used. ``file`` is None where it didn't come from a file, ``key`` where no key is at
    fault; ``line`` and ``column`` (from 1) are given for errors of TOML's syntax."""

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        key: str | None = None,
        accepted: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.problem, self.file, self.key, self.accepted, self.line, self.column = (
            problem,
            file,
            key,
            accepted,
            line,
            column,
        )
        place = file
        if file is not None and line is not None:
            place = f"{file}:{line}:{column}"
        text = ": ".join(part for part in (place, key, problem) if part)
        super().__init__(text + (f"; accepted: {accepted}" if accepted else ""))

    def within(self, file: str) -> ConfigError:
        """The same error, found in that file."""
        return ConfigError(
            self.problem, file=file, key=self.key, accepted=self.accepted, line=self.line, column=self.column
        )


@dataclass(frozen=True)
class Key:
    """One key of a section: its kind, the register's reset value, its least and greatest value (None where it is no
    number), what it does, and, of an array of names (kind tuple), the names that are accepted."""

    name: str
    kind: type[bool] | type[int] | type[float] | type[tuple[str, ...]]
    default: bool | int | float | tuple[str, ...]
    least: float | None
    most: float | None
    doc: str
    names: tuple[str, ...] = ()

    @property
    def accepted(self) -> str:
        """The accepted values in words."""
        if self.kind is bool:
            return "true or false"
        if self.kind is tuple:
            return f"an array of any of {', '.join(self.names)}"
        noun = "a whole number" if self.kind is int else "a number"
        return f"{noun} from {_number(self.least)} to {_number(self.most)}"

    def check(self, value: object, path: str) -> None:
        """ConfigError with that dotted path unless the value is accepted. A whole number serves where a number is
        wanted; true and false never serve as numbers."""
        if self.kind is tuple:
            self._check_names(value, path)
        else:
            self._check_value(value, path)

    def _check_value(self, value: object, path: str) -> None:
        kinds = (int, float) if self.kind is float else self.kind
        if not isinstance(value, kinds) or (isinstance(value, bool) and self.kind is not bool):
            raise ConfigError(f"{_show(value)} is {_kind(value)}", key=path, accepted=self.accepted)
        if self.least is None or self.most is None:
            return
        assert isinstance(value, (int, float))
        if not self.least <= value <= self.most:  # False for NaN too
            raise ConfigError(f"{_show(value)} is out of range", key=path, accepted=self.accepted)

    def _check_names(self, value: object, path: str) -> None:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{_show(value)} is {_kind(value)}", key=path, accepted=self.accepted)
        for name in value:
            if not isinstance(name, str):
                raise ConfigError(f"{_show(name)} in it is {_kind(name)}", key=path, accepted=self.accepted)
            if name not in self.names:
                raise ConfigError(f"{_show(name)} is no such name", key=path, accepted=self.accepted)


KEYS: tuple[Key, ...] = (
    Key("rx_enable", bool, True, None, None, "receive; while off, frames from the wire are dropped as port_disabled"),
    Key("tx_enable", bool, True, None, None, "transmit; while off, frames from the host are dropped as port_disabled"),
    Key("max_frame", int, MAX_FRAME, MIN_FRAME, MAX_FRAME, "longest frame in bytes without FCS; above it: oversize"),
    Key("time_increment_ns", float, 4.0, 2.0**-32, 256 - 2.0**-32, "how much `now` grows a cycle, in ns"),
)
_PARSER_NAMES = tuple(PARSER_CODES)
_PARSER_KEYS: tuple[Key, ...] = (
    Key("drop_rx", tuple, (), None, None, "malformed frames from the wire that are dropped", _PARSER_NAMES),
    Key("drop_tx", tuple, (), None, None, "malformed frames from the host that are dropped", _PARSER_NAMES),
)


def _number(value: float | None) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _show(value: object) -> str:
    """The value as TOML writes it, cut when it is long."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _kind(value: object) -> str:
    """TOML's word for the type of a value."""
    words = {
        bool: "a switch",
        int: "a whole number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "a table",
    }
    return words.get(type(value), "a date or time")


@dataclass(frozen=True)
class ParserConfig:
    """The two parsers of a port: codes by name. ConfigError: a value that is not accepted."""

    drop_rx: tuple[str, ...] = ()
    drop_tx: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for key in _PARSER_KEYS:
            value = getattr(self, key.name)
            key.check(value, f"parser.{key.name}")
            object.__setattr__(self, key.name, tuple(sorted(set(value), key=_PARSER_NAMES.index)))

    def registers(self) -> dict[str, int]:
        """The registers of both parsers by name: bit code - 32 is set for what is dropped."""
        return {
            f"parser_{way}.drop": sum(1 << PARSER_CODES[name] - 32 for name in names)
            for way, names in (("rx", self.drop_rx), ("tx", self.drop_tx))
        }


Section = ParserConfig
"""What a block takes of a port's configuration."""

SECTIONS: dict[str, tuple[type[Section], tuple[Key, ...]]] = {"parser": (ParserConfig, _PARSER_KEYS)}
"""Tables inside a port's section, one a block: what they become, and their keys."""

ACL_SIDES = ("rx", "tx")
"""Keys of a port's table ``acl``: a rule set each, ``acl_rx`` and ``acl_tx`` of its ``PortConfig``."""

IPSEC_SIDES = ("rx", "tx")
"""Keys of a port's table ``ipsec`` that are SAs."""

MOST_SAS = 256
"""SAs of a slot."""

_IPSEC_KEYS: tuple[Key, ...] = (
    Key("drop_no_sa", bool, False, None, None, "received ESP without an SA ends here; else it is the host's"),
    Key("drop_cipher", bool, False, None, None, "likewise where the SA's cipher isn't one of the block's"),
    Key("drop_fragment", bool, False, None, None, "likewise fragments of ESP"),
    Key("max_packet", int, 9582, 68, 65535, "longest IP packet that is sent encrypted, in bytes"),
)

_SAS = "the name of an SA file, or tables as in one: [[sa]]"


@dataclass(frozen=True)
class IpsecConfig:
    """Both slots of IPsec of a port: their SAs, numbered as they stand, and what becomes of ESP that they can't
    decrypt. ConfigError: a value that is not accepted, or two SAs that a received packet can't tell apart."""

    rx: tuple[Sa, ...] = ()
    tx: tuple[Sa, ...] = ()
    drop_no_sa: bool = False
    drop_cipher: bool = False
    drop_fragment: bool = False
    max_packet: int = 9582

    def __post_init__(self) -> None:
        for key in _IPSEC_KEYS:
            key.check(getattr(self, key.name), f"ipsec.{key.name}")
        for side in IPSEC_SIDES:
            sas = tuple(getattr(self, side))
            object.__setattr__(self, side, sas)
            if len(sas) > MOST_SAS:
                raise ConfigError(f"{len(sas)} SAs", key=f"ipsec.{side}", accepted=f"{MOST_SAS} at most")
        seen: dict[tuple[int, int, bool], int] = {}
        for number, sa in enumerate(self.rx):
            other = seen.setdefault((sa.spi, sa.dst, sa.ipv6), number)
            if other != number:
                raise ConfigError(
                    f"SAs {other} and {number} have the same SPI {sa.spi:#x} and destination",
                    key="ipsec.rx",
                    accepted="SAs that a packet's SPI and destination tell apart",
                )

    def registers(self) -> dict[str, int]:
        """The registers of both slots by name, without what SAs are written with."""
        return {
            "ipsec_rx.control": int(self.drop_no_sa) | int(self.drop_cipher) << 1 | int(self.drop_fragment) << 2,
            "ipsec_tx.max_packet": self.max_packet,
        }


_RULES = 'the name of a rule file, or tables as in one: default = "permit", [[rule]], [[meter]]'


@dataclass(frozen=True)
class PortConfig:
    """One port. The defaults are the registers' reset values. ``acl_rx``, ``acl_tx``: the rules that are loaded into
    the slots of these names, None: none. ``ipsec``: what the slots of IPsec have; None: nothing, and they may be left
    out. ConfigError: a value that is not accepted."""

    rx_enable: bool = True
    tx_enable: bool = True
    max_frame: int = MAX_FRAME
    time_increment_ns: float = 4.0
    parser: ParserConfig = field(default_factory=ParserConfig)
    acl_rx: RuleSet | None = None
    acl_tx: RuleSet | None = None
    ipsec: IpsecConfig | None = None

    def __post_init__(self) -> None:
        for key in KEYS:
            key.check(getattr(self, key.name), key.name)
        for side in ACL_SIDES:
            rules = getattr(self, f"acl_{side}")
            if rules is not None and not isinstance(rules, RuleSet):
                raise ConfigError(f"{_show(rules)} is {_kind(rules)}", key=f"acl.{side}", accepted="a RuleSet")
        if self.ipsec is not None and not isinstance(self.ipsec, IpsecConfig):
            raise ConfigError(f"{_show(self.ipsec)} is {_kind(self.ipsec)}", key="ipsec", accepted="an IpsecConfig")
        object.__setattr__(self, "time_increment_ns", self.time_increment / 2**_FRACTION_BITS)

    @property
    def time_increment(self) -> int:
        """Value of the register: ns with 32 bits below the point, the nearest to ``time_increment_ns``."""
        return round(self.time_increment_ns * (1 << _FRACTION_BITS))

    def registers(self) -> dict[str, int]:
        """The port's registers by name, as this configuration wants them, in the order in which to write them: the
        switches come last."""
        return {
            "nic.max_frame": self.max_frame,
            "nic.time_increment": self.time_increment,
            **self.parser.registers(),
            **self._of_ipsec(),
            "nic.control": int(self.rx_enable) | int(self.tx_enable) << 1,
        }

    def _of_ipsec(self) -> dict[str, int]:
        """Where the slots of IPsec have something; decrypted frames are judged as received ones are."""
        if self.ipsec is None:
            return {}
        return {"parser_inner.drop": self.parser.registers()["parser_rx.drop"], **self.ipsec.registers()}


@dataclass(frozen=True)
class NicConfig:
    """The whole NIC: one ``PortConfig`` a port."""

    ports: tuple[PortConfig, ...] = field(default_factory=lambda: (PortConfig(),) * PORTS)

    def __post_init__(self) -> None:
        if len(self.ports) != PORTS:
            raise ConfigError(f"{len(self.ports)} ports", key="port", accepted=f"{PORTS} ports")

    @classmethod
    def default(cls) -> NicConfig:
        """Every register at its reset value."""
        return cls()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> NicConfig:
        """The configuration that the file describes. ConfigError: it can't be read, isn't TOML, or holds a key or value
        that is not accepted."""
        file = os.fspath(path)
        try:
            raw = Path(path).read_bytes()
        except OSError as error:
            raise ConfigError(f"can't be read: {error.strerror or error}", file=file) from error
        try:
            return cls.parse(raw, Path(path).parent)
        except ConfigError as error:
            raise error.within(file) from error.__cause__

    @classmethod
    def parse(cls, raw: bytes | str, folder: Path | None = None) -> NicConfig:
        """As ``load``, from the text of such a file. ``folder``: where the rule files are that it names; None: it may
        name none."""
        return cls.from_dict(_toml(raw), folder)

    @classmethod
    def from_dict(cls, values: dict[str, Any], folder: Path | None = None) -> NicConfig:
        """As ``parse``, from what tomllib makes of such a file."""
        ports = [PortConfig()] * PORTS
        names = {str(number): number for number in range(PORTS)}
        for section, content in values.items():
            if section != "port":
                raise ConfigError("no such key", key=section, accepted="port")
            for name, keys in _table(content, "port").items():
                path = f"port.{name}"
                if name not in names:
                    raise ConfigError("no such port", key=path, accepted=", ".join(f"port.{n}" for n in names))
                ports[names[name]] = _port(_table(keys, path), path, folder)
        return cls(tuple(ports))

    def with_port(
        self, port: int = 0, **values: bool | int | float | Section | RuleSet | IpsecConfig | None
    ) -> NicConfig:
        """The same with other values at one port. ConfigError: a value that is not accepted, or no such key or port."""
        if not 0 <= port < PORTS:
            raise ConfigError("no such port", key=f"port.{port}", accepted=f"0 to {PORTS - 1}")
        ports = list(self.ports)
        for name, value in values.items():
            if name in SECTIONS and not isinstance(value, SECTIONS[name][0]):
                raise ConfigError(f"{_show(value)} is {_kind(value)}", key=f"port.{port}.{name}", accepted="a table")
        rules = (*(f"acl_{side}" for side in ACL_SIDES), "ipsec")
        known = {name: value for name, value in values.items() if name not in (*SECTIONS, *rules)}
        _check_keys(known, f"port.{port}", KEYS, (*SECTIONS, *rules))
        ports[port] = replace(ports[port], **values)  # type: ignore[arg-type]
        return NicConfig(tuple(ports))

    def to_toml(self) -> str:
        """Text that ``parse`` reads back to an equal configuration; every key is written, and rules as tables.
        ValueError: rules that no file may hold (``rule_set_to_toml``)."""
        lines: list[str] = []
        for number, port in enumerate(self.ports):
            tables = [(f"port.{number}", port, KEYS)]
            tables += [(f"port.{number}.{name}", getattr(port, name), keys) for name, (_, keys) in SECTIONS.items()]
            for path, section, keys in tables:
                lines.append(f"[{path}]")
                lines += [f"{key.name} = {_toml_value(getattr(section, key.name))}" for key in keys]
                lines.append("")
            for side in ACL_SIDES:
                rules = getattr(port, f"acl_{side}")
                if rules is not None:
                    lines.append(rule_set_to_toml(rules, f"port.{number}.acl.{side}"))
            if port.ipsec is not None:
                lines += _ipsec_to_toml(port.ipsec, f"port.{number}.ipsec")
        return "\n".join(lines)


def _ipsec_to_toml(ipsec: IpsecConfig, path: str) -> list[str]:
    lines = [f"[{path}]", *(f"{key.name} = {_toml_value(getattr(ipsec, key.name))}" for key in _IPSEC_KEYS), ""]
    lines += [sas_to_toml(getattr(ipsec, side), side, f"{path}.{side}.") for side in IPSEC_SIDES]
    return lines


def _port(values: dict[str, Any], path: str, folder: Path | None) -> PortConfig:
    tables: dict[str, Any] = {}
    for name, (section, keys) in SECTIONS.items():
        if name in values:
            table = _table(values[name], f"{path}.{name}")
            _check_keys(table, f"{path}.{name}", keys)
            tables[name] = section(**table)
    for side, content in _table(values.get("acl", {}), f"{path}.acl").items():
        if side not in ACL_SIDES:
            raise ConfigError("no such key", key=f"{path}.acl.{side}", accepted=", ".join(ACL_SIDES))
        tables[f"acl_{side}"] = _rule_set(content, f"{path}.acl.{side}", folder)
    if "ipsec" in values:
        tables["ipsec"] = _ipsec(_table(values["ipsec"], f"{path}.ipsec"), f"{path}.ipsec", folder)
    sections = (*SECTIONS, "acl", "ipsec")
    plain = {name: value for name, value in values.items() if name not in sections}
    _check_keys(plain, path, KEYS, sections)
    return PortConfig(**plain, **tables)


def _ipsec(values: dict[str, Any], path: str, folder: Path | None) -> IpsecConfig:
    sas = {side: _sas(values[side], side, f"{path}.{side}", folder) for side in IPSEC_SIDES if side in values}
    plain = {name: value for name, value in values.items() if name not in IPSEC_SIDES}
    _check_keys(plain, path, _IPSEC_KEYS, IPSEC_SIDES)
    try:
        return IpsecConfig(sas.get("rx", ()), sas.get("tx", ()), **plain)
    except ConfigError as error:
        key = f"{path.rpartition('.')[0]}.{error.key}"
        raise ConfigError(error.problem, key=key, accepted=error.accepted) from error


def _sas(content: object, side: str, path: str, folder: Path | None) -> tuple[Sa, ...]:
    """SAs for a side by the name of their file, or as they stand in the configuration."""
    if not isinstance(content, (str, dict)):
        raise ConfigError(f"{_show(content)} is {_kind(content)}", key=path, accepted=_SAS)
    if isinstance(content, str) and folder is None:
        raise ConfigError(
            f"{_show(content)} is a file, and a text that isn't a file itself has none beside it",
            key=path,
            accepted="tables as in an SA file",
        )
    try:
        if isinstance(content, dict):
            found = sas_of_tables(content, side)
        else:
            assert folder is not None
            found = read_sas(folder / content)
    except SaFileError as error:
        raise ConfigError(str(error), key=path) from error
    sas = sas_of_side(found, side)
    if not sas:
        raise ConfigError(f"none of {len(found)} SAs is for {side}", key=path, accepted=f'direction "{side}" or "both"')
    return sas


def sas_of_side(sas: Iterable[FileSa], side: str) -> tuple[Sa, ...]:
    """Those that a direction is to have."""
    return tuple(found.sa for found in sas if getattr(found, side))


def _rule_set(content: object, path: str, folder: Path | None) -> RuleSet:
    """Rules by the name of their file, or as they stand in the configuration."""
    if not isinstance(content, (str, dict)):
        raise ConfigError(f"{_show(content)} is {_kind(content)}", key=path, accepted=_RULES)
    if isinstance(content, str) and folder is None:
        raise ConfigError(
            f"{_show(content)} is a file, and a text that isn't a file itself has none beside it",
            key=path,
            accepted="tables as in a rule file",
        )
    try:
        if isinstance(content, dict):
            return rule_set_of_tables(content, "rules")
        assert folder is not None
        return read_rules(folder / content)
    except AclFileError as error:
        raise ConfigError(str(error), key=path) from error


def _check_keys(values: Mapping[str, Any], path: str, keys: tuple[Key, ...], sections: Iterable[str] = ()) -> None:
    """ConfigError unless each is a key of that section, with a value that is accepted there."""
    by_name = {key.name: key for key in keys}
    for name, value in values.items():
        if name not in by_name:
            raise ConfigError("no such key", key=f"{path}.{name}", accepted=", ".join([*by_name, *sections]))
        by_name[name].check(value, f"{path}.{name}")


def _table(value: object, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{_show(value)} is {_kind(value)}", key=path, accepted="a table")
    return value


def _toml_value(value: bool | int | float | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{name}"' for name in value) + "]"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _toml(raw: bytes | str) -> dict[str, Any]:
    """tomllib's reading; its errors, and bytes that are no UTF-8, as ConfigError with line and column."""
    if isinstance(raw, bytes):
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            before = raw[: error.start]
            line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
            raise ConfigError(
                f"byte {raw[error.start]:#04x} is not UTF-8, which TOML is written in", line=line, column=column
            ) from error
    else:
        text = raw
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
        if found is None:
            raise ConfigError(f"not TOML: {message}") from error
        if found[2] is not None:
            line, column = int(found[2]), int(found[3])
        else:
            line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
        raise ConfigError(f"not TOML: {found[1]}", line=line, column=column) from error
    except RecursionError as error:
        raise ConfigError("not usable: nested too deeply") from error
