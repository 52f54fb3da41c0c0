"""The metadata word that travels beside a frame, and the codes of a frame's end.

Everything here is written down once: ``rtl/lib/meta.vh`` is generated from it (``python -m models.meta``) and a test
checks that it is current. The word is packed from bit 0 upwards in the order of ``FIELDS``. It is valid on a frame's
first beat, so nothing that is known only at a frame's end (its length, its checksum verdict) can be in it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

__all__ = [
    "BUDGET",
    "FIELDS",
    "META_W",
    "Code",
    "Disposition",
    "Field",
    "disposition",
    "pack",
    "unpack",
    "verilog_header",
]

BUDGET = 1280
"""Most bits that the word may take."""


class Disposition(IntEnum):
    """What became of a frame."""

    DELIVERED = 1
    CONSUMED = 2
    DROPPED = 3


class Code(IntEnum):
    """Why a frame ended: one code a frame, 0 to 127 (7 bits: it travels in ``tuser[7:1]``).

    A block takes its codes from its own range: nic, mac and buffers 16..31, parser 32..47, acl 48..55, ipsec 56..71,
    tls 72..79, roce 80..103, flow 104..111, dma 112..127.
    """

    NONE = 0
    DELIVERED = 1
    CONSUMED = 2
    BAD_FRAME = 16
    OVERSIZE = 17
    PORT_DISABLED = 18
    RX_BUFFER_FULL = 19
    RESET = 20


def disposition(code: int) -> Disposition:
    """Class of a code: every code from 16 upwards is the reason of a drop."""
    if code == Code.DELIVERED:
        return Disposition.DELIVERED
    if code == Code.CONSUMED:
        return Disposition.CONSUMED
    if code >= 16:
        return Disposition.DROPPED
    raise ValueError(f"code {code} ends no frame")


@dataclass(frozen=True)
class Field:
    """One field of the metadata word: its width in bits, the block that writes it, the blocks that read it."""

    name: str
    width: int
    writer: str
    readers: tuple[str, ...]
    doc: str


FIELDS: tuple[Field, ...] = (
    Field(
        "seq",
        16,
        "nic_ingress",
        ("nic_egress", "rx_buffer", "tx_sched"),
        "sequence number of the frame at its port and direction",
    ),
    Field("port", 8, "nic_ingress", ("host",), "port at which the frame came in"),
    Field("direction", 1, "nic_ingress", ("host",), "0 received, 1 to be transmitted"),
    Field(
        "tclass",
        3,
        "nic_ingress",
        ("host",),
        "priority class, set once from the outermost headers (0 until parser lands)",
    ),
    Field("queue", 8, "nic_ingress", ("nic_egress",), "host queue"),
    Field("timestamp", 64, "nic_ingress", ("host",), "`now` in ns at the frame's first beat"),
)
"""In the order in which they are packed, from bit 0 upwards."""

META_W = -(-sum(field.width for field in FIELDS) // 32) * 32
"""Bits of the word: a whole number of 32-bit words."""


def _offsets() -> dict[str, tuple[int, int]]:
    offsets, low = {}, 0
    for field in FIELDS:
        offsets[field.name] = (low, field.width)
        low += field.width
    return offsets


_OFFSETS = _offsets()


def pack(values: Mapping[str, int]) -> int:
    """Fields by name to the word; a missing field is 0. KeyError: no such field. ValueError: larger than its field."""
    word = 0
    for name, value in values.items():
        low, width = _OFFSETS[name]
        if not 0 <= value < 1 << width:
            raise ValueError(f"meta field {name}: {value} does not fit {width} bits")
        word |= value << low
    return word


def unpack(word: int) -> dict[str, int]:
    """The word to its fields by name."""
    return {name: word >> low & (1 << width) - 1 for name, (low, width) in _OFFSETS.items()}


def verilog_header() -> str:
    """Text of ``rtl/lib/meta.vh``: META_W, each field as MF_<NAME> (a part-select), MF_<NAME>_LSB and MF_<NAME>_W, each
    code as CODE_<NAME>."""
    lines = [
        "// Generated from models/meta.py by `make generate`: do not edit.",
        "`ifndef NICLOOP_META_VH",
        "`define NICLOOP_META_VH",
    ]
    lines.append(f"`define META_W {META_W}")
    for field in FIELDS:
        low, width = _OFFSETS[field.name]
        name = field.name.upper()
        lines.append(f"// {field.doc}; writer: {field.writer}")
        lines += [
            f"`define MF_{name} {low + width - 1}:{low}",
            f"`define MF_{name}_LSB {low}",
            f"`define MF_{name}_W {width}",
        ]
    lines += [f"`define CODE_{code.name} 8'd{code.value}" for code in Code]
    lines.append("`endif")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(verilog_header())
