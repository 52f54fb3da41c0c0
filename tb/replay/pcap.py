"""Reading of pcap: a bare walk over the records of a block, all behind it in numpy.

Source: draft-ietf-opsawg-pcap, and the registry of link types at tcpdump.org.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np

from models.frames import Batch, gather
from tb.replay.piece import ETHERNET, MOST_BYTES, CaptureError, Interface, Piece, Records, linktype_problem
from tb.replay.source import Source

__all__ = ["PCAP_MAGIC", "Pcap"]

PCAP_MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""First four bytes of a pcap: byte order, and ns of the unit of its fractions."""

_FILE_HEADER = 24
_RECORD_HEADER = 16


class Pcap:
    """A pcap of which at least four bytes are at hand. ``interfaces``: the one that its header describes."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.order, self.unit_ns = PCAP_MAGIC[source.content[:4]]
        self.interfaces: Sequence[Interface] = ()

    def pieces(self) -> Iterator[Piece]:
        """All frames; a piece without one: the source is idle. CaptureError: damage, behind all that is good."""
        source = self.source
        for _ in source.want(_FILE_HEADER):
            yield Piece(Batch.empty())
        self._header()
        used = _FILE_HEADER
        while True:
            starts, used = self._walk(used)
            if starts:
                yield self._piece(starts)
            damage = self._damage(used)
            if damage is not None:
                raise damage
            if source.ended:
                return
            if not source.more(used) and not source.ended:
                yield Piece(Batch.empty())
            used = 0

    def _header(self) -> None:
        source = self.source
        if len(source.content) < _FILE_HEADER:
            raise CaptureError(source.name, "the file header is cut off", len(source.content), refused=True)
        major, minor, _, _, snap, network = struct.unpack_from(self.order + "HHiIII", source.content, 4)
        if major != 2:
            raise CaptureError(source.name, f"pcap version {major}.{minor} is not known", 4, refused=True)
        linktype = network & 0xFFFF
        if linktype != ETHERNET:
            raise CaptureError(source.name, linktype_problem(linktype), 20, refused=True)
        fcs_bytes = 2 * (network >> 28) if network & 0x0400_0000 else 0
        self.interfaces = (Interface(linktype, snap, units_per_s=1_000_000_000 // self.unit_ns, fcs_bytes=fcs_bytes),)

    def _walk(self, at: int) -> tuple[list[int], int]:
        """Where the whole records at hand start, and where what is behind them does."""
        content = self.source.content
        starts: list[int] = []
        note, end = starts.append, len(content)
        last = end - _RECORD_HEADER
        length_at = struct.Struct(self.order + "I").unpack_from
        while at <= last:
            (length,) = length_at(content, at + 8)
            behind = at + _RECORD_HEADER + length
            if behind > end or length > MOST_BYTES:
                break
            note(at)
            at = behind
        return starts, at

    def _damage(self, at: int) -> CaptureError | None:
        """What is wrong with the record at ``at``; where more is to come, only what more wouldn't mend."""
        name, left, where = self.source.name, len(self.source.content) - at, self.source.base + at
        if left >= _RECORD_HEADER:
            (length,) = struct.unpack_from(self.order + "I", self.source.content, at + 8)
            if length > MOST_BYTES:
                problem = f"a record of {length} bytes, more than {MOST_BYTES}: the file is damaged"
                return CaptureError(name, problem, where)
            problem = f"cut off in a record: {left - _RECORD_HEADER} of {length} bytes are there"
        else:
            problem = f"cut off in a record header: {left} of {_RECORD_HEADER} bytes are there"
        return CaptureError(name, problem, where) if left and self.source.ended else None

    def _piece(self, starts: list[int]) -> Piece:
        content, n = self.source.content, len(starts)
        start = np.array(starts, np.int64)
        raw = gather(memoryview(content), start, start + _RECORD_HEADER)
        header = raw.view(self.order + "u4").reshape(-1, 4).astype(np.int64)
        records = Records(
            start=start + _RECORD_HEADER,
            captured=header[:, 2],
            original=header[:, 3],
            time_ns=header[:, 0] * 1_000_000_000 + header[:, 1] * self.unit_ns,
            interface=np.zeros(n, np.int64),
            fcs=np.full(n, self.interfaces[0].fcs_bytes, np.int64),
            bad=np.zeros(n, np.uint8),
            queue=np.zeros(n, np.uint8),
        )
        return records.piece(content, self.interfaces, {})
