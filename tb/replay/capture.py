"""Captures in and out: pcap and pcapng as a stream of pieces, or whole files to and from a ``Batch``.

Why a reader of our own: speed and honesty about damage. The libraries hand over one Python object a packet. A million
frames of IMIX into a Batch cost this module 1.2 s of user time from a pcap and 1.4 s from a pcapng, dpkt 2.9 and 3.9 s,
Scapy 2.5 and 4.6 s, python-pcapng (pcapng only) 26 s; docs/captures.md says how that was measured. Of a file that was
cut, dpkt and Scapy hand over the last frame short, and neither says at which byte; dpkt's pcapng times are floats, so
the ns are lost; none cuts off an FCS that the file declares.

What is read: pcap in both byte orders, us and ns; pcapng with several sections and interfaces, any time resolution and
offset, enhanced, simple and the obsolete packet blocks, comments, queue and error flags; all of it gzipped too. Blocks
that are not packets are skipped. An FCS that the file declares is cut off, as a Batch holds none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from models.frames import FLAG_SNAPPED, Batch, Int64
from tb.replay.pcap import PCAP_MAGIC, Pcap
from tb.replay.pcapng import Pcapng
from tb.replay.piece import ETHERNET, CaptureError, Interface, Piece
from tb.replay.source import Source
from tb.replay.writer import PcapngWriter, write_capture, write_pcap

__all__ = [
    "ETHERNET",
    "Capture",
    "CaptureError",
    "CaptureReader",
    "Interface",
    "PcapngWriter",
    "Piece",
    "read_capture",
    "write_capture",
    "write_pcap",
]

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

_MAGIC_BYTES = 4
_SHOWN_BYTES = 8


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


class CaptureReader:
    """A capture as a stream, "-": standard input. Iterate over it once. No more than a piece of it is in memory.

    A piece has some thousand frames, whatever is at hand; one without a frame says that a pipe is idle. CaptureError is
    raised behind all that is good; ``refused`` where there is nothing: the file can't be opened, is no pcap or pcapng,
    or its link type is not Ethernet. ``interfaces``: all that were described until now.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._source: Source | None = None
        self._format: Pcap | Pcapng | None = None

    @property
    def taken(self) -> int:
        """Bytes of the file that were read until now, as they lie there."""
        return self._source.taken if self._source is not None else 0

    @property
    def interfaces(self) -> Sequence[Interface]:
        return self._format.interfaces if self._format is not None else ()

    def __iter__(self) -> Iterator[Piece]:
        source = self._source = Source(self.name)
        try:
            for _ in source.want(_SHOWN_BYTES):
                yield Piece(Batch.empty())
            self._format = _recognised(source)
            yield from self._format.pieces()
            if source.problem is not None:
                raise CaptureError(self.name, source.problem, source.base + len(source.content))
        finally:
            source.close()


def _recognised(source: Source) -> Pcap | Pcapng:
    """By the first bytes. CaptureError: no format that is read."""
    start = source.content[:_SHOWN_BYTES]
    magic = start[:_MAGIC_BYTES]
    if magic in PCAP_MAGIC:
        return Pcap(source)
    if magic == b"\n\r\r\n":
        return Pcapng(source)
    if source.problem is not None and len(magic) < _MAGIC_BYTES:
        raise CaptureError(source.name, source.problem, refused=True)
    if not start:
        raise CaptureError(source.name, "is empty", refused=True)
    for known, kind in _OTHER_KINDS:
        if start.startswith(known):
            raise CaptureError(source.name, f"is {kind}", refused=True)
    shown = start.hex(" ")
    raise CaptureError(source.name, f"is neither pcap nor pcapng: it starts with {shown}", 0, refused=True)


def read_capture(path: str | os.PathLike[str]) -> Capture:
    """All frames of the file, "-": of standard input: the sum of the pieces.

    Where the file is damaged or cut, everything before that is returned with ``error`` set. CaptureError is raised
    where it is ``refused``.
    """
    reader = CaptureReader(path)
    pieces: list[Piece] = []
    error = None
    try:
        pieces += (piece for piece in reader if len(piece.batch))
    except CaptureError as caught:
        if caught.refused:
            raise
        error = caught
    none = np.zeros(0, np.int64)
    starts = np.cumsum([0, *(len(piece.batch) for piece in pieces)]).tolist()
    return Capture(
        Batch.concat([piece.batch for piece in pieces]),
        tuple(reader.interfaces),
        np.concatenate([none, *(piece.interface for piece in pieces)]),
        np.concatenate([none, *(piece.original_length for piece in pieces)]),
        comments={
            start + i: text for start, piece in zip(starts, pieces, strict=False) for i, text in piece.comments.items()
        },
        error=error,
    )
