"""Transaction layer packets of block ``dma``: fields, bytes, and the bus of 512 bits (docs/dma.md).

PCI Express Base Specification 4.0: 2.2.1 (common header fields), 2.2.3 (length and payload), 2.2.5 (byte enables),
2.2.6 (transaction descriptor), 2.2.7 (memory requests), 2.2.9 (completions). Reserved bits are sent as 0 and not read.
Bytes are in the order of the wire: byte 0 of a header has Fmt and Type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, IntFlag
from typing import NamedTuple, TypeAlias

__all__ = [
    "BEAT_DWS",
    "Attr",
    "Beat",
    "Completion",
    "MemoryRequest",
    "Status",
    "Tlp",
    "TlpError",
    "beats_of",
    "from_beats",
    "tagged",
    "unpack",
]

BEAT_DWS = 16
MOST_DWS = 1024
"""Length 0 in a header stands for this many DWs (2.2.2)."""
MOST_BYTES = 4096
"""Byte Count 0 stands for this many bytes (2.2.9)."""
MEMORY = 0b00000
COMPLETION = 0b01010
WITH_DATA = 0b010
FOUR_DW = 0b001
FOUR_GIB = 1 << 32


class TlpError(ValueError):
    """These bytes, or beats, are no TLP that block ``dma`` sends or takes."""


class Attr(IntFlag):
    """Attributes (2.2.6.3): No Snoop, Relaxed Ordering, ID-Based Ordering."""

    NS = 1
    RO = 2
    IDO = 4


NO_ATTR = Attr(0)


class Status(IntEnum):
    """Completion Status (2.2.9). The other values of the field are reserved."""

    SC = 0
    UR = 1
    CRS = 2
    CA = 4


@dataclass(frozen=True, kw_only=True)
class MemoryRequest:
    """A memory read or write. address: of the first DW; length: DWs; data: of a write, whole DWs."""

    write: bool
    address: int
    length: int
    first_be: int
    last_be: int
    tag: int = 0
    requester_id: int = 0
    attr: Attr = NO_ATTR
    tc: int = 0
    td: bool = False
    ep: bool = False
    at: int = 0
    data: bytes = field(default=b"", repr=False)

    @property
    def header_dws(self) -> int:
        """2.2.4.1: an address below 4 GiB must use the short header."""
        return 3 if self.address < FOUR_GIB else 4

    @property
    def header(self) -> bytes:
        fmt = (WITH_DATA if self.write else 0) | (FOUR_DW if self.header_dws == 4 else 0)
        descriptor = self.requester_id << 16 | (self.tag & 0xFF) << 8 | self.last_be << 4 | self.first_be
        return b"".join(
            (
                _first_dw(fmt, MEMORY, self, self.length % MOST_DWS),
                descriptor.to_bytes(4, "big"),
                self.address.to_bytes(4 * self.header_dws - 8, "big"),
            )
        )

    def pack(self) -> bytes:
        """The whole TLP, without digest."""
        return self.header + self.data

    def enabled(self) -> bytes:
        """A 1 for each byte of the DWs that its byte enables choose, else a 0 (2.2.5)."""
        enables = [self.first_be] + [0xF] * (self.length - 2) + [self.last_be] * (self.length > 1)
        return bytes(mask >> lane & 1 for mask in enables for lane in range(4))


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A completion. length: DWs as the header has it, 0 of one without data; status: 3 bits, see ``Status``.

    data: what came behind the header, be it as long as the header says or not.
    """

    status: int
    byte_count: int
    lower_address: int
    length: int
    tag: int
    requester_id: int = 0
    completer_id: int = 0
    bcm: bool = False
    has_data: bool = True
    attr: Attr = NO_ATTR
    tc: int = 0
    td: bool = False
    ep: bool = False
    at: int = 0
    data: bytes = field(default=b"", repr=False)

    @property
    def header_dws(self) -> int:
        return 3

    @property
    def header(self) -> bytes:
        status = self.completer_id << 16 | self.status << 13 | self.bcm << 12 | self.byte_count % MOST_BYTES
        descriptor = self.requester_id << 16 | (self.tag & 0xFF) << 8 | self.lower_address
        return b"".join(
            (
                _first_dw(WITH_DATA if self.has_data else 0, COMPLETION, self, self.length % MOST_DWS),
                status.to_bytes(4, "big"),
                descriptor.to_bytes(4, "big"),
            )
        )

    def pack(self) -> bytes:
        """The whole TLP, without digest."""
        return self.header + self.data


Tlp: TypeAlias = MemoryRequest | Completion


def _first_dw(fmt: int, kind: int, tlp: Tlp, length: int) -> bytes:
    """2.2.1, with the tag's two upper bits in the places of PCIe 4.0 (2.2.6.2)."""
    return bytes(
        (
            fmt << 5 | kind,
            (tlp.tag >> 9 & 1) << 7 | tlp.tc << 4 | (tlp.tag >> 8 & 1) << 3 | (tlp.attr >> 2 & 1) << 2,
            tlp.td << 7 | tlp.ep << 6 | (tlp.attr & 3) << 4 | tlp.at << 2 | length >> 8,
            length & 0xFF,
        )
    )


def unpack(raw: bytes) -> Tlp:
    """The TLP of these bytes. Raises ``TlpError`` where they are none that the block sends or takes.

    A request's payload must be as long as its header says; what a completion brings is for its reader to judge.
    """
    if len(raw) < 12 or len(raw) % 4:
        raise TlpError(f"{len(raw)} bytes are no TLP")
    fmt, kind = raw[0] >> 5, raw[0] & 0x1F
    has_data = bool(fmt & WITH_DATA)
    length = (raw[2] & 3) << 8 | raw[3]
    tag = (raw[1] >> 7) << 9 | (raw[1] >> 3 & 1) << 8
    attr = Attr((raw[1] >> 2 & 1) << 2 | raw[2] >> 4 & 3)
    tc, at = raw[1] >> 4 & 7, raw[2] >> 2 & 3
    td, ep = bool(raw[2] >> 7), bool(raw[2] >> 6 & 1)
    second, third = int.from_bytes(raw[4:8], "big"), int.from_bytes(raw[8:12], "big")
    if kind == MEMORY and fmt < 4:
        four = bool(fmt & FOUR_DW)
        if len(raw) < 12 + 4 * four:
            raise TlpError("12 bytes: its header has 16")
        address = third << 32 | int.from_bytes(raw[12:16], "big") if four else third
        if four and address < FOUR_GIB:
            raise TlpError(f"a header of 4 DW for {address:#x}, which is below 4 GiB")
        request = MemoryRequest(
            write=has_data,
            address=address & ~3,
            length=length or MOST_DWS,
            first_be=second & 0xF,
            last_be=second >> 4 & 0xF,
            tag=tag | second >> 8 & 0xFF,
            requester_id=second >> 16,
            attr=attr,
            tc=tc,
            td=td,
            ep=ep,
            at=at,
            data=raw[12 + 4 * four :],
        )
        if len(request.data) != 4 * request.length * has_data:
            raise TlpError(f"{len(request.data)} bytes of payload, length {request.length} DWs, fmt {fmt}")
        return request
    if kind == COMPLETION and fmt in (0, WITH_DATA):
        return Completion(
            status=second >> 13 & 7,
            byte_count=second & 0xFFF or MOST_BYTES,
            lower_address=third & 0x7F,
            length=(length or MOST_DWS) if has_data else 0,
            tag=tag | third >> 8 & 0xFF,
            requester_id=third >> 16,
            completer_id=second >> 16,
            bcm=bool(second >> 12 & 1),
            has_data=has_data,
            attr=attr,
            tc=tc,
            td=td,
            ep=ep,
            at=at,
            data=raw[12:],
        )
    raise TlpError(f"fmt {fmt} type {kind:#07b} is neither a memory request nor a completion")


class Beat(NamedTuple):
    """One beat of ``m_tlp`` or ``s_tlp``; hdr is there beside sop only."""

    sop: bool
    eop: bool
    hdr: int
    data: int
    keep: int


def beats_of(tlp: Tlp) -> list[Beat]:
    """A TLP on the bus: DW i of the header in hdr[32i+31:32i] as the figures have it, payload from bits 7:0 on."""
    header = tlp.header
    hdr = sum(int.from_bytes(header[at : at + 4], "big") << 8 * at for at in range(0, len(header), 4))
    size = 4 * BEAT_DWS
    parts = [tlp.data[at : at + size] for at in range(0, len(tlp.data), size)] or [b""]
    last = len(parts) - 1
    return [
        Beat(n == 0, n == last, hdr if n == 0 else 0, int.from_bytes(part, "little"), (1 << len(part) // 4) - 1)
        for n, part in enumerate(parts)
    ]


def from_beats(beats: Sequence[Beat]) -> Tlp:
    """The TLP of one sop to eop. Raises ``TlpError`` that names the beat which isn't as docs/dma.md has it."""
    if not beats:
        raise TlpError("no beat")
    payload = b""
    for n, beat in enumerate(beats):
        last = n == len(beats) - 1
        if beat.sop != (n == 0) or beat.eop != last:
            raise TlpError(f"beat {n} of {len(beats)}: sop {beat.sop:d}, eop {beat.eop:d}")
        dws = beat.keep.bit_length()
        if beat.keep != (1 << dws) - 1 or dws > BEAT_DWS:
            raise TlpError(f"beat {n}: keep {beat.keep:#x} isn't contiguous from DW 0")
        if (dws < BEAT_DWS and not last) or (dws == 0 and n > 0):
            raise TlpError(f"beat {n} of {len(beats)}: {dws} DWs")
        payload += (beat.data & (1 << 32 * dws) - 1).to_bytes(4 * dws, "little")
    dws = 4 if beats[0].hdr >> 29 & 1 else 3
    header = b"".join((beats[0].hdr >> 32 * n & 0xFFFF_FFFF).to_bytes(4, "big") for n in range(dws))
    if beats[0].hdr >> 32 * dws:
        raise TlpError(f"beat 0: hdr {beats[0].hdr:#x} isn't 0 behind its {dws} DWs")
    return unpack(header + payload)


def tagged(request: MemoryRequest, tag: int) -> MemoryRequest:
    """The same read with its tag."""
    return replace(request, tag=tag)
