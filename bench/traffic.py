"""Traffic of the speed bench: the same kinds of frames for every harness.

The sizes are those of frames on the wire, with the FCS; a stream carries 4 bytes less. ``imix`` is the simple Internet
mix, 7 : 4 : 1 of the three. All frames are UDP over IPv4 between a few hosts, with right lengths and checksums.

Segments: one of frames of many lengths, whose way through the design is compared, then one of each size, which are
timed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIZES", "Bytes", "Segment", "Users", "beats_of", "frames_of", "segments"]

SIZES: dict[str, tuple[int, ...]] = {
    "64": (60,),
    "594": (590,),
    "1514": (1510,),
    "imix": (60,) * 7 + (590,) * 4 + (1510,),
}
"""By name: lengths in the stream of the frames that make up one round."""

Bytes = NDArray[np.uint8]
Users = NDArray[np.uint16]
Segment = tuple[Bytes, NDArray[np.int64]]
"""data: uint8[total], offset: int64[n + 1]."""

_CHECKED = 64
_HOSTS = 12
_LEAST = 4
"""Frames, at the least, of a timed segment."""


def beats_of(size: str) -> int:
    """Beats of one round of a size."""
    return sum(-(-length // 16) for length in SIZES[size])


def frames_of(size: str, cycles: int) -> int:
    """Frames that take about so many cycles at a beat a cycle, whole rounds of them."""
    lengths = SIZES[size]
    rounds = max(cycles // beats_of(size), -(-_LEAST // len(lengths)))
    return rounds * len(lengths)


def _checksum(rows: Bytes) -> Bytes:
    """uint8[n, 2]: the checksum of RFC 1071 of each row."""
    padded = np.pad(rows, ((0, 0), (0, rows.shape[1] % 2)))
    sums = padded.view(">u2").sum(axis=1, dtype=np.int64)
    # Never 0: in UDP that says that there is none.
    checksums: Bytes = (0xFFFF - sums % 0xFFFF).astype(">u2").view(np.uint8).reshape(-1, 2)
    return checksums


def _rows(rng: np.random.Generator, n: int, length: int) -> Bytes:
    """uint8[n, length]: frames of one length, random but for their headers."""
    rows = rng.integers(0, 256, (n, length), dtype=np.uint8)
    udp = (length - 34).to_bytes(2, "big")
    header = b"\x08\x00\x45\x00" + (length - 14).to_bytes(2, "big") + b"\x00\x00\x40\x00\x40\x11\x00\x00"
    header += bytes([10] * 12) + udp + b"\x00\x00"
    rows[:, 12 : 12 + len(header)] = np.frombuffer(header, np.uint8)
    # Some keys match an entry that was learnt, some don't.
    rows[:, [29, 33]] = rng.integers(0, _HOSTS, (n, 2))
    rows[:, 24:26] = _checksum(rows[:, 14:34])
    pseudo_header = np.tile(np.frombuffer(b"\x00\x11" + udp, np.uint8), (n, 1))
    rows[:, 40:42] = _checksum(np.concatenate([rows[:, 26:34], pseudo_header, rows[:, 34:]], axis=1))
    return rows


def _frames(rng: np.random.Generator, lengths: NDArray[np.int64]) -> Segment:
    offset = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    data = np.empty(offset[-1], np.uint8)
    for length in np.unique(lengths):
        index = np.flatnonzero(lengths == length)
        data[offset[index, None] + np.arange(length)] = _rows(rng, len(index), int(length))
    return data, offset


def segments(cycles: int) -> list[Segment]:
    """The checked segment, then one of about ``cycles`` beats for each size."""
    rng = np.random.default_rng(2026)
    found = [_frames(rng, rng.integers(60, 400, _CHECKED))]
    for size, lengths in SIZES.items():
        rounds = frames_of(size, cycles) // len(lengths)
        found.append(_frames(rng, rng.permuted(np.tile(lengths, (rounds, 1)), axis=1).reshape(-1)))
    return found
