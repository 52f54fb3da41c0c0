"""Long pauses of a capture, said before they are played: at the recorded pace they cost CPU time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from tb.replay.window import Window

__all__ = ["CPU_S_AN_HOUR", "silences", "span"]

CPU_S_AN_HOUR = 0.06
"""What an hour in which no frame comes costs on the target native."""

_HOUR_S = 3600
_UNITS = (("years", 365.25 * 24 * _HOUR_S), ("days", 24 * _HOUR_S), ("hours", _HOUR_S), ("minutes", 60), ("s", 1))


def span(seconds: float) -> str:
    """A time in the largest unit of which there are two, as "55 years"."""
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= 2 * size), ("s", 1))
    return f"{seconds / size:.2g} {unit}" if seconds < 10 * size else f"{seconds / size:,.0f} {unit}"


def silences(windows: Iterable[Window], tell: Callable[[str], None]) -> Iterator[Window]:
    """The windows as they are, with the times of the capture. Of a frame that comes more than an hour after all before
    it in its capture a line is told before its window, if no such pause was as long before."""
    capture, latest, longest = None, 0, _HOUR_S * 10**9
    for window in windows:
        if len(window):
            time = window.batch.time_ns
            if window.capture != capture:
                capture, latest = window.capture, int(time[0])
            until = np.maximum.accumulate(np.concatenate(([latest], time)))
            gaps = np.diff(until)
            at, latest = int(gaps.argmax()), int(until[-1])
            if gaps[at] > longest:
                longest = int(gaps[at])
                tell(_words(window, at, longest / 1e9))
        yield window


def _words(window: Window, at: int, seconds: float) -> str:
    """The pause before the frame at a place of the window."""
    return (
        f"frame {window.index[at]} (frame {window.frame[at]} of {window.capture}) comes {span(seconds)} after the one "
        f"before it: silent time costs about {CPU_S_AN_HOUR * 1000:.0f} ms of CPU an hour, here "
        f"{span(seconds / _HOUR_S * CPU_S_AN_HOUR)}"
    )
