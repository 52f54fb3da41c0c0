"""How a NIC is programmed: one TOML file, one section a port.

    [port.0]
    rx_enable = true
    max_frame = 1514

A key that is left out has the reset value of its register. ``KEYS`` is the whole list of what a port takes; errors,
``to_toml`` and docs/config.md follow it. Every error is a ``ConfigError`` that names the file, the key by its dotted
path and the values that are accepted there.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["KEYS", "MAX_FRAME", "MIN_FRAME", "PORTS", "ConfigError", "Key", "NicConfig", "PortConfig"]

PORTS = 2
"""Ports of the NIC."""

MIN_FRAME = 60
"""Bytes of the shortest Ethernet frame, without FCS."""

MAX_FRAME = 9596
"""Bytes of the longest frame that the datapath is built for, without FCS."""

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
    """One key of a port's section: its kind, its least and greatest value (None for a switch), the register's reset
    value, and what it does."""

    name: str
    kind: type[bool] | type[int] | type[float]
    default: bool | int | float
    least: float | None
    most: float | None
    doc: str

    @property
    def accepted(self) -> str:
        """The accepted values in words."""
        if self.kind is bool:
            return "true or false"
        noun = "a whole number" if self.kind is int else "a number"
        return f"{noun} from {_number(self.least)} to {_number(self.most)}"

    def check(self, value: object, path: str) -> None:
        """ConfigError with that dotted path unless the value is accepted. A whole number serves where a number is
        wanted; true and false never serve as numbers."""
        kinds = (int, float) if self.kind is float else self.kind
        if not isinstance(value, kinds) or (isinstance(value, bool) and self.kind is not bool):
            raise ConfigError(f"{_show(value)} is {_kind(value)}", key=path, accepted=self.accepted)
        if self.least is None or self.most is None:
            return
        if not self.least <= value <= self.most:  # False for NaN too
            raise ConfigError(f"{_show(value)} is out of range", key=path, accepted=self.accepted)


KEYS: tuple[Key, ...] = (
    Key("rx_enable", bool, True, None, None, "receive; while off, frames from the wire are dropped as port_disabled"),
    Key("tx_enable", bool, True, None, None, "transmit; while off, frames from the host are dropped as port_disabled"),
    Key("max_frame", int, MAX_FRAME, MIN_FRAME, MAX_FRAME, "longest frame in bytes without FCS; above it: oversize"),
    Key("time_increment_ns", float, 4.0, 2.0**-32, 256 - 2.0**-32, "how much `now` grows a cycle, in ns"),
)
_BY_NAME = {key.name: key for key in KEYS}


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
class PortConfig:
    """One port. The defaults are the registers' reset values. ConfigError: a value that is not accepted."""

    rx_enable: bool = True
    tx_enable: bool = True
    max_frame: int = MAX_FRAME
    time_increment_ns: float = 4.0

    def __post_init__(self) -> None:
        for key in KEYS:
            key.check(getattr(self, key.name), key.name)
        object.__setattr__(self, "time_increment_ns", self.time_increment / 2**_FRACTION_BITS)

    @property
    def time_increment(self) -> int:
        """Value of the register: ns with 32 bits below the point, the nearest to ``time_increment_ns``."""
        return round(self.time_increment_ns * (1 << _FRACTION_BITS))

    def registers(self) -> dict[str, int]:
        """The port's registers of block `nic` by name, as this configuration wants them."""
        return {
            "max_frame": self.max_frame,
            "time_increment": self.time_increment,
            "control": int(self.rx_enable) | int(self.tx_enable) << 1,
        }


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
            return cls.parse(raw)
        except ConfigError as error:
            raise error.within(file) from error.__cause__

    @classmethod
    def parse(cls, raw: bytes | str) -> NicConfig:
        """As ``load``, from the text of such a file."""
        return cls.from_dict(_toml(raw))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> NicConfig:
        """As ``load``, from what tomllib makes of such a file."""
        ports = [PortConfig()] * PORTS
        names = {str(number): number for number in range(PORTS)}
        for section, content in values.items():
            if section != "port":
                raise ConfigError("no such key", key=section, accepted="port")
            for name, keys in _table(content, "port").items():
                path = f"port.{name}"
                if name not in names:
                    raise ConfigError("no such port", key=path, accepted=", ".join(f"port.{n}" for n in names))
                ports[names[name]] = _port(_table(keys, path), path)
        return cls(tuple(ports))

    def with_port(self, port: int = 0, **values: bool | int | float) -> NicConfig:
        """The same with other values at one port. ConfigError: a value that is not accepted, or no such key or port."""
        if not 0 <= port < PORTS:
            raise ConfigError("no such port", key=f"port.{port}", accepted=f"0 to {PORTS - 1}")
        ports = list(self.ports)
        merged = {key.name: getattr(ports[port], key.name) for key in KEYS} | values
        ports[port] = _port(merged, f"port.{port}")
        return NicConfig(tuple(ports))

    def to_toml(self) -> str:
        """Text of a file that ``load`` reads back to an equal configuration; every key is written."""
        lines: list[str] = []
        for number, port in enumerate(self.ports):
            lines.append(f"[port.{number}]")
            lines += [f"{key.name} = {_toml_value(getattr(port, key.name))}" for key in KEYS]
            lines.append("")
        return "\n".join(lines)


def _port(values: dict[str, Any], path: str) -> PortConfig:
    for name, value in values.items():
        if name not in _BY_NAME:
            raise ConfigError("no such key", key=f"{path}.{name}", accepted=", ".join(_BY_NAME))
        _BY_NAME[name].check(value, f"{path}.{name}")
    return PortConfig(**values)


def _table(value: object, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{_show(value)} is {_kind(value)}", key=path, accepted="a table")
    return value


def _toml_value(value: bool | int | float) -> str:
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
