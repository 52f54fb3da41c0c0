"""Writing of captures: a batch at once, or a pcapng a batch at a time."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from models.frames import Batch, Edge, Int64
from tb.replay.pcapng import EPB, IDB, SHB
from tb.replay.piece import ETHERNET, MOST_BYTES
from tb.replay.sink import Sink

__all__ = ["PcapngWriter", "write_capture", "write_pcap"]

Comments = Mapping[int, str] | Sequence[str | None] | None


class PcapngWriter:
    """A pcapng with ns timestamps, "-": to standard output; a name that ends in .gz: gzipped.

    Each port and edge is an interface of its own ("port0.wire"), described in front of the first batch that has a frame
    of it. CaptureError: the file can't be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._sink = Sink(path)
        self._interfaces: dict[int, int] = {}  # by 2 * port + edge
        self._sink.write(_block(SHB, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))

    def write(self, batch: Batch, comments: Comments = None, original_length: Int64 | None = None) -> None:
        """All frames of the batch; the other arguments as for ``write_capture``."""
        pieces: list[bytes] = []
        place = batch.port.astype(np.int64) * 2 + batch.edge
        for entry in np.unique(place).tolist():
            if entry not in self._interfaces:
                pieces.append(self._describe(entry))
        chosen = dict(enumerate(comments)) if isinstance(comments, Sequence) else dict(comments or {})
        original = (batch.lengths if original_length is None else original_length).tolist()
        columns = (place, batch.time_ns, batch.queue, batch.bad)
        rows = zip(batch, original, *(column.tolist() for column in columns), strict=True)
        header = struct.Struct("<7I").pack
        tail = struct.Struct("<I").pack
        for i, (frame, length, entry, time_ns, queue, bad) in enumerate(rows):
            options = b""
            if bad or queue or chosen.get(i):
                options = _packet_options(chosen.get(i), queue, bad)
            padding = -len(frame) % 4
            total = 32 + len(frame) + padding + len(options)
            number = self._interfaces[entry]
            pieces.append(header(EPB, total, number, time_ns >> 32, time_ns & 0xFFFF_FFFF, len(frame), length))
            pieces += (frame, bytes(padding), options, tail(total))
        self._sink.write(b"".join(pieces))

    def _describe(self, entry: int) -> bytes:
        self._interfaces[entry] = len(self._interfaces)
        name = f"port{entry // 2}.{Edge(entry % 2).name.lower()}"
        options = _option(2, name.encode()) + _option(9, b"\x09") + _option(0, b"")
        return _block(IDB, struct.pack("<HHI", ETHERNET, 0, 0) + options)

    def flush(self) -> None:
        """Hand what was written to the system, so that a reader of the file sees it."""
        self._sink.flush()

    def close(self) -> None:
        """A file without a frame describes port 0's wire. CaptureError: what was left can't be written."""
        try:
            if not self._interfaces:
                self._sink.write(self._describe(0))
        finally:
            self._sink.close()


def write_capture(
    path: str | os.PathLike[str],
    batch: Batch,
    comments: Comments = None,
    *,
    original_length: Int64 | None = None,
) -> None:
    """A capture of one batch, by ``PcapngWriter``: queue and bad mark go with the frame (the reason of a bad mark
    doesn't), so that ``read_capture`` gives the same batch back.

    ``comments``: by frame, or one a frame; ``original_length``: int64[n], of snapped frames (None: as many bytes as
    there are). The same input gives the same bytes. CaptureError: the file can't be written. ValueError: a comment of
    65536 bytes or more.
    """
    writer = PcapngWriter(path)
    try:
        writer.write(batch, comments, original_length)
    finally:
        writer.close()


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
    start = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, MOST_BYTES, ETHERNET)
    sink = Sink(path)
    try:
        sink.write(b"".join([start, *chain.from_iterable(zip(rows, batch, strict=True))]))
    finally:
        sink.close()
