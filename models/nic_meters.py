"""Colours of metered frames: which time the port had when it took each, and what their meters then say.

A meter takes a frame's ``timestamp``, the port's ``now`` in whole ns in the cycle in which ingress took its first beat.
That cycle is known of every frame; ``Outcome.now`` says which time it was at the play's cycle 0. After a reset ``now``
begins anew in a cycle that nobody outside knows: it is found out from the timestamps of frames that came to the host,
if they leave no choice. The meters are programmed again then, with full buckets. Where the time is not known, or a full
queue may have held the frames before ingress, the colours aren't known, nor are those of later frames of that slot.

What is in the buckets between plays is a ``Banks``, which nothing changes: ``colours`` gives the next one.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.acl import RuleSet
from models.acl_meter import Meter
from models.frames import Edge, Int64, UInt8
from models.nic_lane import Lane
from models.nic_stages import Bool

__all__ = ["UNKNOWN", "Bank", "Banks", "Clock", "ask", "full", "time_after_reset"]

UNKNOWN = 3
"""Beside the values of ``Colour``: nobody knows."""

Bank: TypeAlias = tuple[Meter, ...] | None
"""The meters of a slot; None: what is in their buckets isn't known."""

Banks: TypeAlias = Mapping[Edge, Bank]


def full(rule_set: RuleSet) -> Bank:
    """The meters as they are programmed."""
    return tuple(Meter(rates) for rates in rule_set.meters)


@dataclass(frozen=True)
class Clock:
    """The port's time: ``base`` in cycle 0, and how much a cycle adds, in units of 2**-32 ns."""

    base: int
    increment: int

    def stamps(self, cycles: Int64) -> NDArray[np.uint64]:
        """uint64[n]: ``now`` in ns in these cycles."""
        if not len(cycles):
            return np.zeros(0, np.uint64)
        # From the first of them on, in two parts that fit 64 bits.
        first = int(cycles.min())
        start = self.base + first * self.increment
        passed = (cycles - first).astype(np.uint64)
        whole, fraction = np.uint64(self.increment >> 32), np.uint64(self.increment & 0xFFFF_FFFF)
        low = passed * fraction + np.uint64(start & 0xFFFF_FFFF)
        return np.uint64(start >> 32 & (1 << 64) - 1) + passed * whole + (low >> np.uint64(32))


def time_after_reset(stamps: list[int], cycles: list[int], increment: int) -> int | None:
    """``Clock.base`` of a port that began at 0 in some cycle and has had these times in these cycles; None: there is no
    such cycle, or more than one."""
    least, most = -(1 << 80), 1 << 80
    for stamp, cycle in zip(stamps, cycles, strict=True):
        since_least = -(-(stamp << 32) // increment)
        since_most = -(-(stamp + 1 << 32) // increment) - 1
        least, most = max(least, cycle - since_most), min(most, cycle - since_least)
    return -increment * least if least == most else None


def ask(
    bank: Bank,
    meter: NDArray[np.int16],
    lane: Lane,
    lengths: Int64,
    clocks: Mapping[int, Clock],
    unsure: Bool,
    resets: int,
    new: Bank,
) -> tuple[UInt8, Bank, bool]:
    """The colours of a lane's frames, the meters behind them, and whether the device's time went back.

    meter   int16[n]  of each frame of the lane, -1: it isn't metered
    lengths int64[n]  bytes
    clocks  by number of resets before; a missing one isn't known
    unsure  bool[n]   nobody knows when the frame was taken
    resets  in the play
    new     the meters as they are programmed after a reset
    """
    colour, back = np.full(len(meter), UNKNOWN, np.uint8), False
    asked = np.flatnonzero(meter >= 0)
    for epoch in range(resets + 1):
        bank = bank if epoch == 0 else new
        some = asked[lane.epoch[asked] == epoch]
        if bank is None or not len(some):
            continue
        known = some[: int(np.argmax(unsure[some]))] if unsure[some].any() else some
        clock = clocks.get(epoch)
        if clock is None:
            bank = None
            continue
        meters = tuple(copy.copy(one) for one in bank)
        numbers, times, sizes = meter[known].tolist(), clock.stamps(lane.entry[known]).tolist(), lengths[known].tolist()
        shades = []
        for number, now, size in zip(numbers, times, sizes, strict=True):
            if now < meters[number].time_ns:
                back = True
                break
            shades.append(meters[number].colour(now, size))
        colour[known[: len(shades)]] = shades
        bank = meters if len(shades) == len(some) else None
    return colour, bank, back
