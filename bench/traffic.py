"""Traffic of the speed bench: the same frames for every harness.

Three segments: frames of many lengths, whose way through the design is compared, then frames of 60 bytes (64 with the
FCS) and of 1514 bytes, which are timed. As a file: int64 number of segments, then for each int64 number of frames n,
int64[n + 1] offsets, uint8 data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIZES", "Segment", "segments", "write"]

SIZES = (60, 1514)
"""Lengths of the timed frames: "64 B" on the wire is 60 without its FCS."""

Segment = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""data: uint8[total], offset: int64[n + 1]."""

_CHECKED = 64


def _frames(rng: np.random.Generator, lengths: NDArray[np.int64]) -> Segment:
    offset = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    data = rng.integers(0, 256, offset[-1], dtype=np.uint8)
    # Ethernet, IPv4, UDP between a few hosts: some keys match an entry that was learnt, some don't.
    for start in offset[:-1]:
        data[start + 12 : start + 16] = (0x08, 0x00, 0x45, 0x00)
        data[start + 23] = 17
        data[start + 26 : start + 38] = 10
        data[[start + 29, start + 33]] = rng.integers(0, 12, 2)
    return data, offset


def segments(cycles: int) -> list[Segment]:
    """The checked segment, then one of about ``cycles`` beats for each size."""
    rng = np.random.default_rng(2026)
    found = [_frames(rng, rng.integers(60, 400, _CHECKED))]
    for size in SIZES:
        beats = -(-size // 16)
        found.append(_frames(rng, np.full(max(cycles // beats, 4), size)))
    return found


def write(path: Path, parts: list[Segment]) -> None:
    """Write the file that bench/bare.cpp reads."""
    with path.open("wb") as file:
        file.write(np.int64(len(parts)).tobytes())
        for data, offset in parts:
            file.write(np.int64(len(offset) - 1).tobytes() + offset.tobytes() + data.tobytes())
