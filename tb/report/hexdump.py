"""Two frames side by side: bytes in rows of 16 with those that differ marked, and header fields by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from models.meta import FIELDS, Code
from models.parser import ChecksumVerdict, L3Kind, L4Kind, Parsed, ParserModel

__all__ = ["Cell", "FieldDifference", "Row", "field_differences", "rows"]

ROW_BYTES = 16
HEADER_ROWS = 4
"""Rows from the frame's start that are always shown."""
MOST_ROWS = 64
_DOCS = {field.name: field.doc for field in FIELDS} | {
    "l4_checksum": "TCP or UDP checksum, with the pseudo-header",
    "code": "what is wrong with the frame",
}
_WIDTHS = {field.name: field.width for field in FIELDS}
_IN_HEX = frozenset(
    {"ethertype", "mac_opcode", "vlan0", "vlan1", "tcp_flags", "spi", "bth_pkey", "bth_flags", "ext_mask"}
)
_NAMED = {
    "code": Code,
    "ip_checksum": ChecksumVerdict,
    "l4_checksum": ChecksumVerdict,
    "l3_kind": L3Kind,
    "l4_kind": L4Kind,
}


@dataclass(frozen=True)
class Cell:
    """One byte: two hex digits (two dots behind the frame's end), its character, and whether it differs."""

    text: str
    char: str
    differs: bool


@dataclass(frozen=True)
class Row:
    """Sixteen bytes from ``offset`` on of each frame; or, where ``skipped`` isn't 0, that many bytes that are left out:
    equal ones, or, in the last row, all that didn't find room."""

    offset: int
    left: tuple[Cell, ...] = ()
    right: tuple[Cell, ...] = ()
    skipped: int = 0
    equal: bool = True


@dataclass(frozen=True)
class FieldDifference:
    """A field of the headers that the parser reads differently: its name, what it is, and its values in words."""

    name: str
    doc: str
    left: str
    right: str


def _cells(frame: bytes, other: bytes, start: int, end: int) -> tuple[Cell, ...]:
    cells = []
    for at in range(start, min(end, start + ROW_BYTES)):
        here, there = frame[at : at + 1], other[at : at + 1]
        char = chr(here[0]) if here and 32 <= here[0] < 127 else "."
        cells.append(Cell(here.hex() or "··", char if here else " ", here != there))
    return tuple(cells)


def rows(left: bytes, right: bytes | None = None) -> Iterator[Row]:
    """The first rows, those that hold a difference and one around each; what lies between is said in bytes. Without a
    right frame, the first rows of the left one."""
    other = left if right is None else right
    end = max(len(left), len(other))
    wanted = set(range(HEADER_ROWS))
    for at in range(0, end, ROW_BYTES):
        if left[at : at + ROW_BYTES] != other[at : at + ROW_BYTES]:
            row = at // ROW_BYTES
            wanted |= {row - 1, row, row + 1}
    shown = [row * ROW_BYTES for row in sorted(wanted) if 0 <= row * ROW_BYTES < end]
    position = 0
    for at in shown[:MOST_ROWS]:
        if at > position:
            yield Row(position, skipped=at - position)
        yield Row(at, _cells(left, other, at, end), _cells(other, left, at, end))
        position = at + ROW_BYTES
    if position < end:
        yield Row(position, skipped=end - position, equal=len(shown) <= MOST_ROWS)


def field_differences(left: bytes, right: bytes) -> list[FieldDifference]:
    """Fields that the parser reads differently in two frames, its code and its checksum verdict too."""
    if not left or not right:
        return []
    before, after = ParserModel().parse(left), ParserModel().parse(right)
    found = []
    for name, value in _values(before).items():
        other = _values(after)[name]
        if value != other:
            found.append(FieldDifference(name, _DOCS[name], _say(name, value, before), _say(name, other, after)))
    return found


def _values(parsed: Parsed) -> dict[str, int]:
    # Of the two codes, parse_code is a part of the other.
    fields = parsed.meta_fields() | {"l4_checksum": parsed.user >> 8 & 3, "code": parsed.code}
    del fields["parse_code"]
    return fields


def _say(name: str, value: int, parsed: Parsed) -> str:
    if name in ("dst_mac", "src_mac"):
        return value.to_bytes(6, "big").hex(":")
    if name in ("ip_src", "ip_dst"):
        if parsed.l3_kind == L3Kind.NONE:
            return "none"
        return str(IPv4Address(value) if parsed.l3_kind == L3Kind.IPV4 else IPv6Address(value))
    if name in _NAMED:
        try:
            return _NAMED[name](value).name.lower()
        except ValueError:
            return str(value)
    return f"{value:#0{2 + _WIDTHS[name] // 4}x}" if name in _IN_HEX else str(value)
