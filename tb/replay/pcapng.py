"""Reading of pcapng: a bare walk over the blocks, the packets behind it in numpy, many at a time.

Source: draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from models.frames import Batch, Int64, gather
from tb.replay.piece import ETHERNET, MOST_BYTES, CaptureError, Interface, Piece, Records, linktype_problem
from tb.replay.source import Source

__all__ = ["EPB", "IDB", "MOST_BLOCK_BYTES", "SHB", "Pcapng"]

SHB, IDB, EPB = 0x0A0D0D0A, 1, 6
"""Types of blocks: section header, interface description, enhanced packet."""
_OPB, _SPB = 2, 3

MOST_BLOCK_BYTES = 1 << 24
"""Longest block that is believed (Wireshark's limit): a longer one is damage."""


class _Damage(Exception):
    """A block that can't be read: what is wrong, and where it starts in what is at hand."""

    def __init__(self, problem: str, at: int) -> None:
        super().__init__(problem)
        self.problem, self.at = problem, at


class _Cut(Exception):
    """What is at hand ends within the block at ``at``."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at, self.problem = at, problem


class Pcapng:
    """A pcapng. Enhanced packet blocks are only noted down and read many at a time: when something else comes that they
    depend on, or that must keep its place behind them, and at the end of what is at hand."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.content = b""
        self.order = "<"
        self.interfaces: list[Interface] = []
        self.first = 0  # index of the section's first interface
        self.total = 0  # packets until now
        self._clear()

    def _clear(self) -> None:
        """Start a piece."""
        self.noted: list[int] = []  # offsets of enhanced packet blocks
        self.packets: list[Int64] = []  # arrays of rows: block, start, captured, original, interface
        self.stamps: list[np.ndarray] = []  # uint64, in units of the interface
        self.count = 0
        self.untimed: list[int] = []
        self.special: dict[int, tuple[int, int, int]] = {}  # by frame: FCS bytes (-1: the interface's), bad, queue
        self.comments: dict[int, str] = {}

    def pieces(self) -> Iterator[Piece]:
        """All frames; a piece without one: the source is idle. CaptureError: damage, behind all that is good."""
        source, used = self.source, 0
        while True:
            damage, cut = None, None
            self.content = source.content
            try:
                try:
                    used = self._walk(used)
                except _Cut as error:
                    used, cut = error.at, error
                finally:
                    self._read_noted()  # what is damaged there comes before what ended the walk
            except _Damage as error:
                damage = error
            piece, bad_stamp = self._piece()
            self._clear()
            if len(piece.batch):
                yield piece
            if bad_stamp is not None:
                raise self._error(bad_stamp)
            if damage is not None:
                raise self._error(damage)
            if source.ended:
                if cut is not None:
                    raise self._error(_Damage(cut.problem, cut.at))
                return
            if not source.more(used) and not source.ended:
                yield Piece(Batch.empty())
            used = 0

    def _error(self, damage: _Damage) -> CaptureError:
        where = self.source.base + damage.at
        nothing = where == 0 and not self.interfaces
        foreign = self.total == 0 and damage.problem.startswith("link type")
        return CaptureError(self.source.name, damage.problem, where, refused=nothing or foreign)

    def _piece(self) -> tuple[Piece, _Damage | None]:
        """The packets that were read, up to a timestamp that can't be."""
        rows = np.concatenate([np.zeros((0, 5), np.int64), *self.packets])
        block, start, captured, original, interface = rows.T
        stamps = np.concatenate([np.zeros(0, np.uint64), *self.stamps])
        time_ns = np.zeros(self.count, np.int64)
        for number in np.unique(interface).tolist():
            chosen = np.flatnonzero(interface == number)
            time_ns[chosen] = _to_ns(stamps[chosen], self.interfaces[number])
        time_ns[self.untimed] = 0
        n, wrong, damage = self.count, np.flatnonzero(time_ns < 0), None
        if len(wrong):
            n = int(wrong[0])
            stamp = f"{stamps[n]} units of 1/{self.interfaces[interface[n]].units_per_s} s"
            damage = _Damage(f"a timestamp ({stamp}) before 1970 or after 2262: the file is damaged", int(block[n]))
        fcs = np.array([i.fcs_bytes for i in self.interfaces] or [0], np.int64)[interface]
        bad, queue = np.zeros(self.count, np.uint8), np.zeros(self.count, np.uint8)
        for i, (fcs_bytes, marked, number) in self.special.items():
            bad[i], queue[i] = marked, number
            if fcs_bytes >= 0:
                fcs[i] = fcs_bytes
        records = Records(
            start[:n], captured[:n], original[:n], time_ns[:n], interface[:n], fcs[:n], bad[:n], queue[:n]
        )
        comments = {i: text for i, text in self.comments.items() if i < n}
        return records.piece(self.content, tuple(self.interfaces), comments), damage

    # -- blocks ----------------------------------------------------------------------------------------------------

    def _walk(self, at: int) -> int:
        """All blocks at hand in order; returns where they end. _Damage: one can't be read. _Cut: it isn't whole."""
        content, end = self.content, len(self.content)
        head = struct.Struct(self.order + "II").unpack_from
        word = struct.Struct(self.order + "I").unpack_from
        while at < end:
            if at + 12 > end:
                raise _Cut(at, f"cut off in a block: {end - at} bytes are left, the shortest block has 12")
            if content[at : at + 4] == b"\n\r\r\n":
                self._section(at)
                head = struct.Struct(self.order + "II").unpack_from
                word = struct.Struct(self.order + "I").unpack_from
            kind, length = head(content, at)
            if length < 12 or length % 4:
                raise _Damage(f"a block of {length} bytes (a multiple of 4 from 12 on is possible): damaged", at)
            if length > MOST_BLOCK_BYTES:
                raise _Damage(f"a block of {length} bytes, more than {MOST_BLOCK_BYTES}: damaged", at)
            if at + length > end:
                raise _Cut(at, f"cut off in a block: {end - at} of {length} bytes are there")
            if word(content, at + length - 4)[0] != length:
                raise _Damage(f"a block says {length} bytes at its start and another number at its end: damaged", at)
            if kind == EPB:
                if length < 32:
                    raise _Damage(f"an enhanced packet block of {length} bytes: damaged", at)
                self.noted.append(at)
            elif kind == _SPB:
                self._simple(at, length)
            elif kind == _OPB:
                self._obsolete(at, length)
            elif kind == IDB:
                self._describe(at, length)
            at += length
        return at

    def _read_noted(self) -> None:
        """The enhanced packet blocks noted down so far."""
        block, self.noted = np.array(self.noted, np.int64), []
        if not len(block):
            return
        head = (
            gather(memoryview(self.content), block, block + 28).view(self.order + "u4").reshape(-1, 7).astype(np.int64)
        )
        _, length, number, high, low, captured, original = head.T
        stamps = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
        self._add(block, block + 28, captured, original, number, stamps, block + length - 4)

    def _add(
        self,
        block: Int64,
        start: Int64,
        captured: Int64,
        original: Int64,
        number: Int64,
        stamps: np.ndarray,
        end: Int64,
    ) -> None:
        """Packets of blocks at these offsets; the options of each lie between its padded bytes and ``end``. _Damage:
        the first that can't be; those before it are kept."""
        interface = number + self.first
        known = interface < len(self.interfaces)
        linktypes = np.array([i.linktype for i in self.interfaces] or [0], np.int64)
        linktype = linktypes[np.where(known, interface, 0)]
        fits = (captured <= MOST_BYTES) & (start + captured <= end)
        wrong = np.flatnonzero(~known | (linktype != ETHERNET) | ~fits)
        good = int(wrong[0]) if len(wrong) else len(block)
        options = start + (captured + 3) // 4 * 4
        for i in np.flatnonzero(options[:good] < end[:good]).tolist():
            try:
                self._packet_options(self.count + i, int(block[i]), int(options[i]), int(end[i]))
            except _Damage:
                self._keep(i, block, start, captured, original, interface, stamps)
                raise
        self._keep(good, block, start, captured, original, interface, stamps)
        if good == len(block):
            return
        at = int(block[good])
        if not known[good]:
            raise _Damage(f"a packet of interface {number[good]}, which nothing describes: damaged", at)
        if linktype[good] != ETHERNET:
            raise _Damage(linktype_problem(int(linktype[good])), at)
        raise _Damage(
            f"a packet of {captured[good]} bytes in a block with room for {end[good] - start[good]}: damaged", at
        )

    def _keep(self, n: int, *columns: np.ndarray) -> None:
        *rows, stamps = (column[:n] for column in columns)
        self.packets.append(np.stack(rows, axis=1))
        self.stamps.append(stamps)
        self.count += n
        self.total += n

    def _section(self, at: int) -> None:
        magic = self.content[at + 8 : at + 12]
        if magic == b"\x4d\x3c\x2b\x1a":
            order = "<"
        elif magic == b"\x1a\x2b\x3c\x4d":
            order = ">"
        else:
            raise _Damage(f"a section header with the byte-order magic {magic.hex(' ')}: damaged", at)
        (length,) = struct.unpack_from(order + "I", self.content, at + 4)
        if length < 28:
            raise _Damage(f"a section header of {length} bytes, it has at least 28: damaged", at)
        if at + 16 <= len(self.content):
            major, minor = struct.unpack_from(order + "HH", self.content, at + 12)
            if major != 1:
                raise _Damage(f"pcapng version {major}.{minor} is not known", at)
        self._read_noted()
        self.order, self.first = order, len(self.interfaces)

    def _describe(self, at: int, length: int) -> None:
        if length < 20:
            raise _Damage(f"an interface description of {length} bytes, it has at least 20: damaged", at)
        linktype, _, snap = struct.unpack_from(self.order + "HHI", self.content, at + 8)
        name, units, offset, fcs = "", 1_000_000, 0, 0
        for code, value in self._options(at, at + 16, at + length - 4):
            if code == 2:
                name = value.decode("utf-8", "replace").rstrip("\0")
            elif code == 9 and len(value) >= 1:
                units = 2 ** (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
            elif code == 13 and len(value) >= 1:
                fcs = value[0]
            elif code == 14 and len(value) >= 8:
                (offset,) = struct.unpack_from(self.order + "q", value)
        self._read_noted()
        self.interfaces.append(Interface(linktype, snap, name, units, offset, fcs))

    def _options(self, at: int, start: int, end: int) -> list[tuple[int, bytes]]:
        """Code and value of the options between the two offsets of the block that starts at ``at``."""
        found = []
        while start + 4 <= end:
            code, length = struct.unpack_from(self.order + "HH", self.content, start)
            if code == 0:
                break
            if start + 4 + length > end:
                raise _Damage(f"option {code} of {length} bytes runs out of its block: damaged", at)
            found.append((code, self.content[start + 4 : start + 4 + length]))
            start += 4 + (length + 3) // 4 * 4
        return found

    def _simple(self, at: int, length: int) -> None:
        """A simple packet block: interface 0 of the section, no time, its length bounded by that interface's snap
        length and by the block."""
        if length < 16:
            raise _Damage(f"a simple packet block of {length} bytes: damaged", at)
        (original,) = struct.unpack_from(self.order + "I", self.content, at + 8)
        captured = min(original, length - 16)
        if self.first < len(self.interfaces) and self.interfaces[self.first].snap_bytes:
            captured = min(captured, self.interfaces[self.first].snap_bytes)
        self._one(at, 0, 0, at + 12, captured, original, at + 12 + captured)
        self.untimed.append(self.count - 1)

    def _obsolete(self, at: int, length: int) -> None:
        """A packet block of the first drafts: 16 bits of interface, 16 of drops, the rest as in an enhanced one."""
        if length < 32:
            raise _Damage(f"a packet block of {length} bytes: damaged", at)
        number, _, high, low, captured, original = struct.unpack_from(self.order + "HHIIII", self.content, at + 8)
        self._one(at, number, high << 32 | low, at + 28, captured, original, at + length - 4)

    def _one(self, at: int, number: int, stamp: int, start: int, captured: int, original: int, end: int) -> None:
        self._read_noted()
        row = np.array([[at], [start], [captured], [original], [number], [end]], np.int64)
        self._add(row[0], row[1], row[2], row[3], row[4], np.array([stamp], np.uint64), row[5])

    def _packet_options(self, frame: int, at: int, start: int, end: int) -> None:
        fcs, bad, queue, comments = -1, 0, 0, []
        for code, value in self._options(at, start, end):
            if code == 1:
                comments.append(value.decode("utf-8", "replace"))
            elif code == 2 and len(value) >= 4:
                (flags,) = struct.unpack_from(self.order + "I", value)
                fcs = flags >> 5 & 0xF or -1
                bad = int(flags >> 16 != 0)
            elif code == 6 and len(value) >= 4:
                queue = struct.unpack_from(self.order + "I", value)[0] & 0xFF
        if comments:
            self.comments[frame] = "\n".join(comments)
        if fcs >= 0 or bad or queue:
            self.special[frame] = fcs, bad, queue


def _to_ns(stamps: np.ndarray, interface: Interface) -> Int64:
    """Timestamps (uint64, in units of the interface) to ns since 1970, rounded down; -1: doesn't fit."""
    units, offset = interface.units_per_s, interface.offset_s * 1_000_000_000
    most = (1 << 63) - 1
    if offset == 0 and 1_000_000_000 % units == 0:
        factor = 1_000_000_000 // units
        fits = stamps <= most // factor
        return np.where(fits, np.where(fits, stamps, 0).astype(np.int64) * factor, -1)
    exact = [stamp * 1_000_000_000 // units + offset for stamp in stamps.tolist()]
    return np.array([ns if 0 <= ns <= most else -1 for ns in exact], np.int64)
