"""What passed the taps of a port in one play, by frame: when each frame was at each stream, and who held it there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.frames import Batch, Int64
from tb.native.device import TapLog
from tb.nic.slots import LANES, Lane

__all__ = ["Passed", "passed"]


@dataclass(frozen=True)
class Passed:
    """The n frames that one play offered at one edge, at the streams of their lane. Cycles of the play, -1: never.

    frame: int64[n], position of each in the batch. offered, first, last: int64[n, streams]: when its first beat was
    shown there, its first taken, its last taken.
    row, place, culprit, before, all: int64[s], the stalls: which frame (row), at which stream of the lane, who was to
    blame (what takes the frames of this stream: `Lane.behind`), cycles before the first beat was taken and in all.
    """

    lane: Lane
    frame: Int64
    offered: Int64
    first: Int64
    last: Int64
    row: Int64
    place: Int64
    culprit: Int64
    before: Int64
    all: Int64

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def left(self) -> Int64:
        """int64[n, slots]: when the frame left each slot, so its first beat was taken behind it. It has left the last
        slot when its first beat is shown at the edge: whether it is taken there is up to the edge."""
        return np.concatenate([self.first[:, 1:-1], self.offered[:, -1:]], axis=1)

    @cached_property
    def spent(self) -> Int64:
        """int64[n, slots]: cycles from first beat in to `left`; -1 where it never left. Over all slots their sum is the
        frame's latency."""
        reached = self.first[:, :-1]
        return np.where((reached >= 0) & (self.left >= 0), self.left - reached, -1)

    @cached_property
    def ended(self) -> Int64:
        """int64[n]: place of the slot in which the frame is or was last; that of the exit edge where it came out, -1:
        it never entered."""
        passed_later = np.maximum.accumulate((self.first >= 0)[:, ::-1], axis=1)
        return np.asarray(np.count_nonzero(passed_later, axis=1) - 1, np.int64)


def passed(log: TapLog, batch: Batch) -> list[Passed]:
    """The log of a play by lane; ``batch``: what was played, without its frames that have no byte (they aren't
    offered)."""
    lengths, found = batch.lengths, []
    for edge, lane in LANES.items():
        frame = np.flatnonzero((batch.edge == edge) & (lengths > 0)).astype(np.int64)
        found.append(_lane(log, lane, frame))
    return found


def _lane(log: TapLog, lane: Lane, frame: Int64) -> Passed:
    place = log.stream - lane.first
    place = np.where(place < lane.streams, place, -1)
    row = _rows(log, lane, place, len(frame))
    known = np.flatnonzero(row >= 0)[::-1]  # of two passages of a frame the first counts
    columns = {}
    for name in ("offered", "first", "last"):
        columns[name] = np.full((len(frame), lane.streams), -1, np.int64)
        columns[name][row[known], place[known]] = getattr(log, name)[known]
    ours = row[log.stalled] >= 0
    of = log.stalled[ours]
    stalls = (row[of], place[of], log.culprit[ours] - lane.first, log.before[ours], log.all[ours])
    return Passed(lane, frame, columns["offered"], columns["first"], columns["last"], *stalls)


def _rows(log: TapLog, lane: Lane, place: Int64, n: int) -> Int64:
    """Which frame each passage is of, -1: of none. Frames get their number in the order in which they come; behind
    that, a number is that of the newest frame which has it."""
    row = np.full(len(place), -1, np.int64)
    for at in range(lane.numbered + 1):
        here = np.flatnonzero(place == at)[:n]
        row[here] = np.arange(len(here))
    given = np.flatnonzero(place == lane.numbered)[:n]
    behind = np.flatnonzero(place > lane.numbered)
    if len(given):
        newest = np.searchsorted(log.offered[given], log.offered[behind], "right") - 1
        row[behind] = np.maximum(newest - ((log.seq[given][newest] - log.seq[behind]) & 0xFFFF), -1)
    return row
