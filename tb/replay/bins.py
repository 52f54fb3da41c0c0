"""Counts in constant memory, however many values come: a histogram, a grid and a line of time.

A grid and a line of time begin fine, and double the width of their bins when a value lies beyond the last one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.frames import Int64

__all__ = ["Grid", "Histogram", "Timeline"]


class Histogram:
    """How often each whole number came. Numbers from ``limit`` on are counted together, as ``limit``; the greatest of
    all is kept as it is."""

    def __init__(self, limit: int = 1 << 20) -> None:
        self.limit = limit
        self.counts = np.zeros(256, np.int64)
        """int64: by number, up to the limit; as long as it must be."""
        self.frames = 0
        self.greatest = -1

    def add(self, values: Int64) -> None:
        """Counts numbers from 0 on."""
        if not len(values):
            return
        self.frames += len(values)
        self.greatest = max(self.greatest, int(values.max()))
        counts = np.bincount(np.minimum(values, self.limit))
        if len(counts) > len(self.counts):
            size = min(1 << (len(counts) - 1).bit_length(), self.limit + 1)
            self.counts = np.concatenate([self.counts, np.zeros(max(size, len(counts)) - len(self.counts), np.int64)])
        self.counts[: len(counts)] += counts

    def at_rank(self, rank: int) -> int:
        """The number at this place of all in rising order, from 0."""
        if rank == self.frames - 1:
            return self.greatest
        return int(np.searchsorted(np.cumsum(self.counts), rank, "right"))

    @property
    def least(self) -> int:
        return self.at_rank(0)

    @property
    def median(self) -> float:
        """Of an even count, the mean of the two in the middle."""
        return (self.at_rank((self.frames - 1) // 2) + self.at_rank(self.frames // 2)) / 2

    def percentile(self, percent: int) -> int:
        """The least number that at least this share of all doesn't exceed (nearest rank)."""
        return self.at_rank(max(0, -(-self.frames * percent // 100) - 1))

    def pairs(self) -> list[list[int]]:
        """[number, count] of each number that came, rising."""
        numbers = np.flatnonzero(self.counts)
        return [list(pair) for pair in zip(numbers.tolist(), self.counts[numbers].tolist(), strict=True)]


class Grid:
    """How often pairs of whole numbers came: bins of ``x_step`` by ``y_step`` numbers, the first from 0."""

    def __init__(self, columns: int = 128, rows: int = 2048) -> None:
        self.cells = np.zeros((rows, columns), np.int64)
        self.x_step = self.y_step = 1

    def add(self, x: Int64, y: Int64) -> None:
        """Counts pairs of numbers from 0 on."""
        if not len(x):
            return
        rows, columns = self.cells.shape
        while int(x.max()) // self.x_step >= columns:
            self.cells = np.ascontiguousarray(_halved(self.cells.T).T)
            self.x_step *= 2
        while int(y.max()) // self.y_step >= rows:
            self.cells = _halved(self.cells)
            self.y_step *= 2
        flat, counts = np.unique(y // self.y_step * columns + x // self.x_step, return_counts=True)
        self.cells.reshape(-1)[flat] += counts

    def occupied(self, most: int = 8192) -> tuple[int, int, list[list[int]]]:
        """x_step, y_step, and [first x, first y, count] of each bin that holds any, by y, then x. Bins are made larger
        along y until there are no more of them than ``most``."""
        cells, y_step = self.cells, self.y_step
        while np.count_nonzero(cells) > most:
            cells, y_step = _halved(cells), y_step * 2
        y, x = np.nonzero(cells)
        return self.x_step, y_step, np.column_stack([x * self.x_step, y * y_step, cells[y, x]]).tolist()


class Timeline:
    """Amounts over time, in ``lines`` lines: at most ``bins`` bins of ``step_ns``, the first from 0."""

    def __init__(self, lines: int, bins: int = 400, step_ns: int = 1000) -> None:
        self.amounts = np.zeros((bins, lines))
        self.step_ns = step_ns

    def add(self, line: int, begin: NDArray[Any], end: NDArray[Any], amount: Int64) -> None:
        """Amounts that flow evenly from their begin to their end, in ns, each behind the one before: where one begins
        earlier, what is left of its time counts."""
        if not len(begin):
            return
        times = np.maximum.accumulate(np.column_stack([begin, end]).ravel())
        bins = len(self.amounts)
        while times[-1] > bins * self.step_ns:
            self.amounts = _halved(self.amounts)
            self.step_ns *= 2
        total = np.cumsum(amount)
        flown = np.column_stack([total - amount, total]).ravel()
        first, last = int(times[0] // self.step_ns), min(int(times[-1] // self.step_ns) + 1, bins)
        edges = np.arange(first, last + 1) * float(self.step_ns)
        self.amounts[first:last, line] += np.diff(np.interp(edges, times, flown))


def _halved(cells: NDArray[Any]) -> NDArray[Any]:
    """Each two rows added to one; as many rows as before."""
    halved = np.zeros_like(cells)
    halved[: -(-len(cells) // 2)] = cells[0::2]
    halved[: len(cells) // 2] += cells[1::2]
    return halved
