"""Captures in and out: pcap and pcapng, whole files to and from a ``Batch``.

Why a reader of our own: speed and honesty about damage. The libraries hand over one Python object a packet. A million
frames of IMIX into a Batch cost this module 1.2 s of user time from a pcap and 1.4 s from a pcapng, dpkt 2.9 and 3.9 s,
Scapy 2.5 and 4.6 s, python-pcapng (pcapng only) 26 s; docs/captures.md says how that was measured. Of a file that was
cut, dpkt and Scapy hand over the last frame short, and neither says at which byte; dpkt's pcapng times are floats, so
the ns are lost; none cuts off an FCS that the file declares. Here the walk over the records is a bare loop of struct;
all behind it is numpy.

What is read: pcap in both byte orders, us and ns; pcapng with several sections and interfaces, any time resolution and
offset, enhanced, simple and the obsolete packet blocks, comments, queue and error flags; all of it gzipped too. Blocks
that are not packets are skipped. An FCS that the file declares is cut off, as a Batch holds none.

Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng, and the registry of link types at tcpdump.org.
"""

from __future__ import annotations

import gzip
import os
import re
import struct
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np

from models.frames import FLAG_SNAPPED, Batch, Edge, Int64, gather

__all__ = ["ETHERNET", "Capture", "CaptureError", "Interface", "read_capture", "write_capture", "write_pcap"]

ETHERNET = 1
"""LINKTYPE_ETHERNET."""

_MOST_BYTES = 262_144
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

_OTHER_KINDS = (
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: decompress it first"),
    (b"\xfd7zXZ", "compressed by xz: decompress it first"),
    (b"BZh", "compressed by bzip2: decompress it first"),
    (b"\x04\x22\x4d\x18", "compressed by lz4: decompress it first"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"snoop\0\0\0", "a snoop capture: convert it with editcap"),
    (b"\xa1\xb2\xcd\x34", "a pcap of Kuznetzov's modified kind: convert it with editcap"),
    (b"\x34\xcd\xb2\xa1", "a pcap of Kuznetzov's modified kind: convert it with editcap"),
)

_PCAP_MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""First four bytes of a pcap: byte order, and ns of the unit of its fractions."""

_SHB, _IDB, _OPB, _SPB, _EPB = 0x0A0D0D0A, 1, 2, 3, 6
_PORT_NAME = re.compile(r"port(\d{1,3})\.(wire|host)")


class CaptureError(Exception):
    """A capture that can't be read (or written), or not to its end. ``path`` names the file ("-": standard input),
    ``offset`` the byte in it (in what it holds, where it is gzipped) at which the trouble begins; None: no byte."""

    def __init__(self, path: str, problem: str, offset: int | None = None) -> None:
        super().__init__(f"{path}: byte {offset}: {problem}" if offset is not None else f"{path}: {problem}")
        self.path = path
        self.problem = problem
        self.offset = offset


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
    def place(self) -> tuple[int, Edge]:
        """Port and edge that the name stands for, where ``write_capture`` gave it; else port 0, wire."""
        found = _PORT_NAME.fullmatch(self.name)
        if found is None or int(found[1]) > 255:
            return 0, Edge.WIRE
        return int(found[1]), Edge[found[2].upper()]


@dataclass(frozen=True)
class Capture:
    """What a file holds, up to the record at which it became unreadable.

    batch            the frames in the file's order; time_ns is ns since 1970, bad is 1 for frames that the capturer
                     flags as damaged, flags says which are snapped; a record may hold no byte at all
    interfaces       all that the file describes
    interface        int64[n]: index of each frame's interface
    original_length  int64[n]: bytes that the frame had on the wire, without FCS
    linktype         of all frames: 1, Ethernet
    comments         by frame
    error            None: the file was read to its end
    """

    batch: Batch
    interfaces: tuple[Interface, ...]
    interface: Int64
    original_length: Int64
    linktype: int = ETHERNET
    comments: dict[int, str] = field(default_factory=dict)
    error: CaptureError | None = None

    @property
    def snapped(self) -> np.ndarray:
        """bool[n]: of which frames only the beginning is there."""
        return (self.batch.flags & FLAG_SNAPPED).astype(bool)


def read_capture(path: str | os.PathLike[str]) -> Capture:
    """All frames of the file, "-": of standard input.

    Where the file is damaged or cut, everything before that is returned with ``error`` set. CaptureError is raised
    where there is nothing to return: the file can't be opened, is no pcap or pcapng, or its link type is not Ethernet.
    """
    name = os.fspath(path)
    raw = _load(name)
    content, problem = _gunzip(raw) if raw[:2] == b"\x1f\x8b" else (raw, None)
    capture = _parse(name, content, problem)
    if problem is not None and capture.error is None:
        error = CaptureError(name, problem, len(content))
        return replace(capture, error=error)
    return capture


def _load(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CaptureError(name, f"can't be read: {reason}") from error


def _gunzip(raw: bytes) -> tuple[bytes, str | None]:
    """The content, and what is wrong with its end (None: nothing). zlib loses what a failing call had produced, so the
    chunk that fails is fed again a byte at a time."""
    pieces, at, step = [], 0, 1 << 16
    inflate = zlib.decompressobj(31)
    while at < len(raw):
        backup = inflate.copy()
        chunk = raw[at : at + step]
        try:
            pieces.append(inflate.decompress(chunk))
        except zlib.error as error:
            if step > 1:
                inflate, step = backup, 1
                continue
            return b"".join(pieces), f"the gzip data is damaged at its byte {at} ({error})"
        at += len(chunk)
        if inflate.eof:
            at -= len(inflate.unused_data)
            if not raw[at:].strip(b"\0"):
                return b"".join(pieces), None
            if raw[at : at + 2] != b"\x1f\x8b":
                return b"".join(pieces), f"behind the gzip data, at byte {at}, there is something else"
            inflate = zlib.decompressobj(31)
    return b"".join(pieces), f"the gzip data is cut off at its byte {len(raw)}"


def _parse(name: str, content: bytes, problem: str | None) -> Capture:
    magic = content[:4]
    if magic in _PCAP_MAGIC:
        return _read_pcap(name, content)
    if magic == b"\n\r\r\n":
        return _Pcapng(name, content).read()
    if problem is not None and len(magic) < 4:
        raise CaptureError(name, problem)
    if not content:
        raise CaptureError(name, "is empty")
    for start, kind in _OTHER_KINDS:
        if content.startswith(start):
            raise CaptureError(name, f"is {kind}")
    shown = content[:8].hex(" ")
    raise CaptureError(name, f"is neither pcap nor pcapng: it starts with {shown}", 0)


def _linktype_problem(linktype: int) -> str:
    known = _LINKTYPES.get(linktype, "unknown")
    return f"link type {linktype} ({known}); only Ethernet ({ETHERNET}) can be played"


# -- pcap --------------------------------------------------------------------------------------------------------------


def _read_pcap(name: str, content: bytes) -> Capture:
    order, unit_ns = _PCAP_MAGIC[content[:4]]
    if len(content) < 24:
        raise CaptureError(name, "the file header is cut off", len(content))
    major, minor, _, _, snap, network = struct.unpack_from(order + "HHiIII", content, 4)
    if major != 2:
        raise CaptureError(name, f"pcap version {major}.{minor} is not known", 4)
    linktype = network & 0xFFFF
    if linktype != ETHERNET:
        raise CaptureError(name, _linktype_problem(linktype), 20)
    fcs_bytes = 2 * (network >> 28) if network & 0x0400_0000 else 0

    starts: list[int] = []
    error = None
    at, end = 24, len(content)
    length_at = struct.Struct(order + "I").unpack_from
    while at < end:
        if at + 16 > end:
            error = CaptureError(name, f"cut off in a record header: {end - at} of 16 bytes are there", at)
            break
        (length,) = length_at(content, at + 8)
        if length > _MOST_BYTES:
            error = CaptureError(name, f"a record of {length} bytes, more than {_MOST_BYTES}: the file is damaged", at)
            break
        if at + 16 + length > end:
            error = CaptureError(name, f"cut off in a record: {end - at - 16} of {length} bytes are there", at)
            break
        starts.append(at)
        at += 16 + length

    start = np.array(starts, np.int64)
    header = gather(memoryview(content), start, start + 16).view(order + "u4").reshape(-1, 4).astype(np.int64)
    n = len(start)
    interface = Interface(linktype, snap, units_per_s=1_000_000_000 // unit_ns, fcs_bytes=fcs_bytes)
    records = _Records(
        start=start + 16,
        captured=header[:, 2],
        original=header[:, 3],
        time_ns=header[:, 0] * 1_000_000_000 + header[:, 1] * unit_ns,
        interface=np.zeros(n, np.int64),
        fcs=np.full(n, fcs_bytes, np.int64),
        bad=np.zeros(n, np.uint8),
        queue=np.zeros(n, np.uint8),
    )
    return records.capture(content, (interface,), {}, error)


@dataclass(frozen=True)
class _Records:
    """Of each record: where its bytes start in the file, how many there are, how many the frame had (with an FCS of
    ``fcs`` bytes), and its properties."""

    start: Int64
    captured: Int64
    original: Int64
    time_ns: Int64
    interface: Int64
    fcs: Int64
    bad: np.ndarray
    queue: np.ndarray

    def capture(
        self, content: bytes, interfaces: tuple[Interface, ...], comments: dict[int, str], error: CaptureError | None
    ) -> Capture:
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
        return Capture(batch, interfaces, self.interface, np.maximum(original, length), ETHERNET, comments, error)


# -- pcapng ------------------------------------------------------------------------------------------------------------


class _Damage(Exception):
    """A block that can't be read: what is wrong, and where it starts."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.problem, self.offset = problem, offset


class _Pcapng:
    """One pass over the blocks of a file. Enhanced packet blocks are only noted down and read many at a time: when
    something else comes that they depend on, or that must keep its place behind them."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.content = name, content
        self.order = "<"
        self.interfaces: list[Interface] = []
        self.first = 0  # index of the section's first interface
        self.noted: list[int] = []  # offsets of enhanced packet blocks
        self.packets: list[Int64] = []  # arrays of rows: block, start, captured, original, interface
        self.stamps: list[np.ndarray] = []  # uint64, in units of the interface
        self.count = 0
        self.untimed: list[int] = []
        self.special: dict[int, tuple[int, int, int]] = {}  # by frame: FCS bytes (-1: the interface's), bad, queue
        self.comments: dict[int, str] = {}

    def read(self) -> Capture:
        error = None
        try:
            try:
                self._walk()
            finally:
                self._read_noted()  # what is damaged there comes before what ended the walk
        except _Damage as damage:
            error = CaptureError(self.name, damage.problem, damage.offset)
            if not self.count and damage.problem.startswith("link type"):
                raise error from None
            if not self.interfaces and damage.offset == 0:
                raise error from None
        rows = np.concatenate([np.zeros((0, 5), np.int64), *self.packets])
        block, start, captured, original, interface = rows.T
        stamps = np.concatenate([np.zeros(0, np.uint64), *self.stamps])
        time_ns = np.zeros(self.count, np.int64)
        for number in np.unique(interface).tolist():
            chosen = np.flatnonzero(interface == number)
            time_ns[chosen] = _to_ns(stamps[chosen], self.interfaces[number])
        time_ns[self.untimed] = 0
        n, wrong = self.count, np.flatnonzero(time_ns < 0)
        if len(wrong):
            n = int(wrong[0])
            stamp = f"{stamps[n]} units of 1/{self.interfaces[interface[n]].units_per_s} s"
            problem = f"a timestamp ({stamp}) before 1970 or after 2262: the file is damaged"
            error = CaptureError(self.name, problem, int(block[n]))
        fcs = np.array([i.fcs_bytes for i in self.interfaces] or [0], np.int64)[interface]
        bad, queue = np.zeros(self.count, np.uint8), np.zeros(self.count, np.uint8)
        for i, (fcs_bytes, marked, number) in self.special.items():
            bad[i], queue[i] = marked, number
            if fcs_bytes >= 0:
                fcs[i] = fcs_bytes
        records = _Records(
            start[:n], captured[:n], original[:n], time_ns[:n], interface[:n], fcs[:n], bad[:n], queue[:n]
        )
        comments = {i: text for i, text in self.comments.items() if i < n}
        return records.capture(self.content, tuple(self.interfaces), comments, error)

    def _walk(self) -> None:
        """All blocks in order. _Damage: one that can't be read."""
        content, end = self.content, len(self.content)
        at = 0
        head = struct.Struct("<II").unpack_from
        word = struct.Struct("<I").unpack_from
        while at < end:
            if at + 12 > end:
                raise _Damage(f"cut off in a block: {end - at} bytes are left, the shortest block has 12", at)
            if content[at : at + 4] == b"\n\r\r\n":
                self._section(at)
                head = struct.Struct(self.order + "II").unpack_from
                word = struct.Struct(self.order + "I").unpack_from
            kind, length = head(content, at)
            if length < 12 or length % 4:
                raise _Damage(f"a block of {length} bytes (a multiple of 4 from 12 on is possible): damaged", at)
            if at + length > end:
                raise _Damage(f"cut off in a block: {end - at} of {length} bytes are there", at)
            if word(content, at + length - 4)[0] != length:
                raise _Damage(f"a block says {length} bytes at its start and another number at its end: damaged", at)
            if kind == _EPB:
                if length < 32:
                    raise _Damage(f"an enhanced packet block of {length} bytes: damaged", at)
                self.noted.append(at)
            elif kind == _SPB:
                self._simple(at, length)
            elif kind == _OPB:
                self._obsolete(at, length)
            elif kind == _IDB:
                self._describe(at, length)
            at += length

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
        fits = (captured <= _MOST_BYTES) & (start + captured <= end)
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
            raise _Damage(_linktype_problem(int(linktype[good])), at)
        raise _Damage(
            f"a packet of {captured[good]} bytes in a block with room for {end[good] - start[good]}: damaged", at
        )

    def _keep(self, n: int, *columns: np.ndarray) -> None:
        *rows, stamps = (column[:n] for column in columns)
        self.packets.append(np.stack(rows, axis=1))
        self.stamps.append(stamps)
        self.count += n

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


# -- writing -----------------------------------------------------------------------------------------------------------


def write_capture(
    path: str | os.PathLike[str],
    batch: Batch,
    comments: Mapping[int, str] | Sequence[str | None] | None = None,
    *,
    original_length: Int64 | None = None,
) -> None:
    """A pcapng with ns timestamps, "-": to standard output; a name that ends in .gz: gzipped.

    Each port and edge is an interface of its own ("port0.wire"), queue and bad mark go with the frame (the reason of a
    bad mark doesn't), so that ``read_capture`` gives the same batch back. ``comments``: by frame, or one a frame;
    ``original_length``: int64[n], of snapped frames (None: as many bytes as there are). The same input gives the same
    bytes. CaptureError: the file can't be written. ValueError: a comment of 65536 bytes or more.
    """
    chosen = dict(enumerate(comments)) if isinstance(comments, Sequence) else dict(comments or {})
    place = batch.port.astype(np.int64) * 2 + batch.edge
    places = np.unique(place).tolist() or [0]
    number = np.searchsorted(places, place).tolist()
    pieces = [_block(_SHB, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for entry in places:
        name = f"port{entry // 2}.{Edge(entry % 2).name.lower()}"
        options = _option(2, name.encode()) + _option(9, b"\x09") + _option(0, b"")
        pieces.append(_block(_IDB, struct.pack("<HHI", ETHERNET, 0, 0) + options))
    original = (batch.lengths if original_length is None else original_length).tolist()
    rows = zip(batch, number, batch.time_ns.tolist(), original, batch.queue.tolist(), batch.bad.tolist(), strict=True)
    header = struct.Struct("<7I").pack
    tail = struct.Struct("<I").pack
    for i, (frame, interface, time_ns, length, queue, bad) in enumerate(rows):
        options = b""
        if bad or queue or chosen.get(i):
            options = _packet_options(chosen.get(i), queue, bad)
        padding = -len(frame) % 4
        total = 32 + len(frame) + padding + len(options)
        pieces.append(header(_EPB, total, interface, time_ns >> 32, time_ns & 0xFFFF_FFFF, len(frame), length))
        pieces += (frame, bytes(padding), options, tail(total))
    _store(os.fspath(path), pieces)


def _packet_options(comment: str | None, queue: int, bad: int) -> bytes:
    options = b""
    if comment:
        text = comment.encode()
        if len(text) > 0xFFFF:
            raise ValueError(f"a comment of {len(text)} bytes; a pcapng holds at most 65535")
        options += _option(1, text)
    if bad:
        options += _option(2, struct.pack("<I", 1 << 24))  # CRC error
    if queue:
        options += _option(6, struct.pack("<I", queue))
    return options + _option(0, b"")


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    total = len(body) + 12
    return struct.pack("<II", kind, total) + body + struct.pack("<I", total)


def write_pcap(path: str | os.PathLike[str], batch: Batch, *, original_length: Int64 | None = None) -> None:
    """A plain pcap with ns timestamps, for tools that read nothing newer; ports, edges, queues and marks are lost.
    Path, original_length and errors as for ``write_capture``. ValueError: a time after 2106, which a pcap can't hold.
    """
    seconds, ns = np.divmod(batch.time_ns, 1_000_000_000)
    if np.any(seconds >= 1 << 32):
        i = int(np.argmax(seconds >= 1 << 32))
        raise ValueError(f"frame {i}: a pcap holds times up to 2106, not {batch.time_ns[i]} ns; write a pcapng")
    original = batch.lengths if original_length is None else original_length
    headers = np.stack([seconds, ns, batch.lengths, original], axis=1).astype("<u4").tobytes()
    rows = (headers[i : i + 16] for i in range(0, len(headers), 16))
    start = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, _MOST_BYTES, ETHERNET)
    _store(os.fspath(path), [start, *chain.from_iterable(zip(rows, batch, strict=True))])


def _store(name: str, pieces: list[bytes]) -> None:
    content = b"".join(pieces)
    if name.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    try:
        if name == "-":
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            Path(name).write_bytes(content)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CaptureError(name, f"can't be written: {reason}") from error
