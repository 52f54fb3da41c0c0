"""When the frames of a replay are offered: as fast as they are taken, as captured, or as a 25G wire brings them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from models.frames import Batch, Edge
from tb.replay.window import Judged, Window

__all__ = ["LINE_GBPS", "PACES", "WIRE_OVERHEAD", "PlayTimes", "line_rate", "offered"]

LINE_GBPS = 25
WIRE_OVERHEAD = 24
"""Bytes that the wire adds to a frame: preamble, FCS, gap."""

_FIRST_NS = 4
"""Earliest time of a frame in a play at the recorded pace: no port takes one in cycle 0."""

PACES = ("asap", "recorded", "line-rate")


def line_rate(batch: Batch, *edges: Edge) -> Batch:
    """``batch`` with the times of a 25G wire on the frames of these edges: each when the one before has passed."""
    time = batch.time_ns.copy()
    for edge in edges:
        index = np.flatnonzero(batch.edge == edge)
        spent = (batch.lengths[index] + WIRE_OVERHEAD) * 8
        time[index] = (np.cumsum(spent) - spent) // LINE_GBPS
    return replace(batch, time_ns=time)


class PlayTimes:
    """A listener that knows how much of the device's time passes between the starts of plays. now: that time in ns."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._asked = self._lead = 0
        self._begin: int | None = None

    def passed(self) -> int:
        """From the start of the last play to that of one that is asked for now, in ns; 0: there was none."""
        self._asked = self._now()
        return 0 if self._begin is None else self._asked + self._lead - self._begin

    def take(self, judged: Judged) -> None:
        if judged.outcome.cycles:
            self._lead = judged.begin_ns - self._asked  # the same for every play of a target
        self._begin = self._asked + self._lead

    def close(self) -> None:
        """Nothing is open."""


def offered(windows: Iterable[Window], pace: str, passed: Callable[[], int]) -> Iterator[Window]:
    """The windows with the times of one of ``PACES``; their own are those of the capture, in ns since 1970.

    recorded: frames lie as far apart as in the capture, also those of different windows of it, if the pause between two
    plays is no longer than that; then the window comes at once. A frame whose time is before that of its predecessor
    comes right behind it. passed: of `PlayTimes`, asked when a window is about to be played.
    """
    capture, latest, start = None, 0, 0
    for window in windows:
        batch = window.batch
        if pace == "line-rate":
            yield replace(window, batch=line_rate(replace(batch, time_ns=np.zeros_like(batch.time_ns)), *Edge))
        elif pace == "recorded" and len(batch):
            due = start + passed()
            if window.capture != capture:
                capture, latest = window.capture, int(batch.time_ns[0])
                due = latest
            time = np.maximum(np.maximum.accumulate(batch.time_ns), latest)
            start, latest = min(due, int(time[0]) - _FIRST_NS), int(time[-1])
            yield replace(window, batch=replace(batch, time_ns=time - start))
        else:
            yield replace(window, batch=replace(batch, time_ns=np.zeros_like(batch.time_ns)))
