"""What all readers of captures share: their error, the interfaces of a file, and a piece of its frames."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from models.frames import FLAG_SNAPPED, Batch, Edge, Int64, UInt8, gather

__all__ = [
    "ETHERNET",
    "MOST_BYTES",
    "CaptureError",
    "Interface",
    "Piece",
    "Records",
    "linktype_problem",
    "printable",
]

ETHERNET = 1
"""LINKTYPE_ETHERNET."""

MOST_BYTES = 262_144
"""Longest record that is believed (libpcap's and Wireshark's limit): a longer one is damage."""

_LINKTYPES = {
    0: "BSD loopback",
    6: "IEEE 802.5 token ring",
    7: "ARCNET",
    8: "SLIP",
    9: "PPP",
    10: "FDDI",
    12: "raw IP",
    14: "raw IP",
    50: "PPP over HDLC",
    51: "PPPoE",
    101: "raw IP",
    104: "Cisco HDLC",
    105: "IEEE 802.11",
    107: "Frame Relay",
    108: "OpenBSD loopback",
    113: "Linux cooked",
    117: "OpenBSD pflog",
    119: "IEEE 802.11 with Prism header",
    127: "IEEE 802.11 with radiotap",
    140: "MTP2",
    147: "user 0",
    163: "IEEE 802.11 with AVS header",
    187: "Bluetooth HCI H4",
    189: "USB of Linux, 48-byte header",
    192: "PPI",
    195: "IEEE 802.15.4",
    197: "ERF",
    201: "Bluetooth HCI H4 with direction",
    220: "USB of Linux, 64-byte header",
    227: "CAN",
    228: "raw IPv4",
    229: "raw IPv6",
    247: "InfiniBand",
    249: "USBPcap",
    253: "Netlink",
    276: "Linux cooked v2",
}

_PORT_NAME = re.compile(r"port(\d{1,3})\.(wire|host)")


def printable(name: str) -> str:
    """The name of a file as text: of one that is no UTF-8 the other bytes are escapes, as \\xe9."""
    return os.fsencode(name).decode(errors="backslashreplace")


class CaptureError(Exception):
    """A capture that can't be read (or written), or not to its end. ``path`` names the file ("-": standard input),
    ``offset`` the byte in it (in what it holds, where it is gzipped) at which the trouble begins; None: no byte.
    ``refused``: there is nothing in it that could be played; else all before the trouble was read."""

    def __init__(self, path: str, problem: str, offset: int | None = None, *, refused: bool = False) -> None:
        place = printable(path) if offset is None else f"{printable(path)}: byte {offset}"
        super().__init__(f"{place}: {problem}")
        self.path = path
        self.problem = problem
        self.offset = offset
        self.refused = refused


@dataclass(frozen=True)
class Interface:
    """Where packets were captured. ``units_per_s``: of its timestamps; ``offset_s``: what is added to them;
    ``fcs_bytes``: of the FCS that its packets end with."""

    linktype: int
    snap_bytes: int = 0
    name: str = ""
    units_per_s: int = 1_000_000
    offset_s: int = 0
    fcs_bytes: int = 0

    @property
    def named_place(self) -> tuple[int, Edge] | None:
        """Port and edge that the name stands for, where ``write_capture`` gave it."""
        found = _PORT_NAME.fullmatch(self.name)
        if found is None or int(found[1]) > 255:
            return None
        return int(found[1]), Edge[found[2].upper()]

    @property
    def place(self) -> tuple[int, Edge]:
        """The named place; without one port 0, wire."""
        return self.named_place or (0, Edge.WIRE)


@dataclass(frozen=True)
class Piece:
    """Consecutive frames of a file.

    batch            time_ns is ns since 1970, bad is 1 for frames that the capturer flags as damaged, flags says which
                     are snapped; a record may hold no byte at all
    interface        int64[n]: index of each frame's interface among ``interfaces``, all that came until now
    original_length  int64[n]: bytes that the frame had on the wire, without FCS
    comments         by place in the piece
    """

    batch: Batch
    interfaces: Sequence[Interface] = ()
    interface: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    original_length: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    comments: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Records:
    """Of each record: where its bytes start in what is at hand, how many there are, how many the frame had (with an FCS
    of ``fcs`` bytes), and its properties."""

    start: Int64
    captured: Int64
    original: Int64
    time_ns: Int64
    interface: Int64
    fcs: Int64
    bad: UInt8
    queue: UInt8

    def piece(self, content: bytes, interfaces: Sequence[Interface], comments: dict[int, str]) -> Piece:
        """The frames, without their FCS."""
        original = np.maximum(self.original - self.fcs, 0)
        length = np.where(self.fcs > 0, np.minimum(self.captured, original), self.captured)
        places = [interface.place for interface in interfaces] or [(0, Edge.WIRE)]
        batch = Batch.of_arrays(
            gather(memoryview(content), self.start, self.start + length),
            length,
            port=np.array([port for port, _ in places])[self.interface],
            edge=np.array([int(edge) for _, edge in places])[self.interface],
            time_ns=self.time_ns,
            queue=self.queue,
            bad=self.bad,
            flags=np.where(length < original, FLAG_SNAPPED, 0),
        )
        return Piece(batch, interfaces, self.interface, np.maximum(original, length), comments)


def linktype_problem(linktype: int) -> str:
    """What to say of a link type that can't be played."""
    known = _LINKTYPES.get(linktype, "unknown")
    return f"link type {linktype} ({known}); only Ethernet ({ETHERNET}) can be played"
