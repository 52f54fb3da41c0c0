"""When the frames of a replay are offered: as fast as they are taken, as captured, or as a 25G wire brings them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from models.frames import Batch, Edge
from tb.replay.window import Window

__all__ = ["LINE_GBPS", "PACES", "WIRE_OVERHEAD", "line_rate", "offered"]

LINE_GBPS = 25
WIRE_OVERHEAD = 24
"""Bytes that the wire adds to a frame: preamble, FCS, gap."""

PACES = ("asap", "recorded", "line-rate")


def line_rate(batch: Batch, *edges: Edge) -> Batch:
    """``batch`` with the times of a 25G wire on the frames of these edges: each when the one before has passed."""
    time = batch.time_ns.copy()
    for edge in edges:
        index = np.flatnonzero(batch.edge == edge)
        spent = (batch.lengths[index] + WIRE_OVERHEAD) * 8
        time[index] = (np.cumsum(spent) - spent) // LINE_GBPS
    return replace(batch, time_ns=time)


def offered(windows: Iterable[Window], pace: str) -> Iterator[Window]:
    """The windows with the times of one of ``PACES``; their own are those of the capture, in ns since 1970.

    recorded: frames lie as far apart as in the capture, also those of different windows of it; a frame whose time is
    before that of its predecessor comes right behind it.
    """
    capture, latest = None, 0
    for window in windows:
        batch = window.batch
        if pace == "line-rate":
            yield replace(window, batch=line_rate(replace(batch, time_ns=np.zeros_like(batch.time_ns)), *Edge))
        elif pace == "recorded" and len(batch):
            if window.capture != capture:
                capture, latest = window.capture, int(batch.time_ns[0])
            time = np.maximum(np.maximum.accumulate(batch.time_ns), latest)
            yield replace(window, batch=replace(batch, time_ns=time - latest))
            latest = int(time[-1])
        else:
            yield replace(window, batch=replace(batch, time_ns=np.zeros_like(batch.time_ns)))
