"""Where the cycles of a replay went: figures by slot, in constant memory."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from tb.native.device import TapLog
from tb.nic.slots import Lane
from tb.replay.bins import Histogram
from tb.replay.taps import Passed, passed
from tb.replay.window import Judged

__all__ = ["SlotFigures", "Tapped"]


@runtime_checkable
class Tapped(Protocol):
    """A target that notes what passes between the slots of its device (`tb.targets.probe.ProbeTarget`)."""

    @property
    def log(self) -> TapLog | None: ...


class _Lane:
    """What is counted of one direction, by stream or by slot of its lane."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.entry = Histogram()
        self.spent = [Histogram() for _ in lane.slots]
        self.stalled = np.zeros(lane.streams, np.int64)
        self.holding = np.zeros(lane.streams, np.int64)
        self.came_out = 0

    def add(self, frames: Passed) -> None:
        entered = frames.first[:, 0] >= 0
        self.entry.add((frames.first - frames.offered)[entered, 0])
        for place, histogram in enumerate(self.spent):
            spent = frames.spent[:, place]
            histogram.add(spent[spent >= 0])
        np.add.at(self.stalled, frames.place, frames.all)
        np.add.at(self.holding, frames.culprit, frames.all)
        self.came_out += int(np.count_nonzero(frames.first[:, -1] >= 0))

    def rows(self) -> list[dict[str, Any]]:
        lane = self.lane
        rows = [self._row(lane.entry_name, self.entry, int(self.stalled[0]), 0)]
        for place, (slot, histogram) in enumerate(zip(lane.slots, self.spent, strict=True)):
            rows.append(self._row(slot, histogram, int(self.stalled[place + 1]), int(self.holding[place])))
        rows.append(self._row(lane.exit_name, None, 0, int(self.holding[-1])) | {"frames": self.came_out})
        return rows

    def _row(self, slot: str, cycles: Histogram | None, stalled: int, holding: int) -> dict[str, Any]:
        known = cycles is not None and cycles.frames > 0
        return {
            "slot": slot,
            "direction": self.lane.name,
            "frames": cycles.frames if cycles is not None else 0,
            "min": cycles.least if cycles is not None and known else None,
            "median": cycles.median if cycles is not None and known else None,
            "max": cycles.greatest if cycles is not None and known else None,
            "stalled": stalled,
            "holding": holding,
        }


class SlotFigures:
    """A listener that counts what passed the taps of ``target``."""

    def __init__(self, target: Tapped) -> None:
        self._target = target
        self._lanes: dict[str, _Lane] = {}

    def take(self, judged: Judged) -> None:
        log = self._target.log
        if log is None:
            return
        for frames in passed(log, judged.window.batch):
            if len(frames):
                self._lanes.setdefault(frames.lane.name, _Lane(frames.lane)).add(frames)

    def close(self) -> None:
        """Nothing is open."""

    def figures(self) -> list[dict[str, Any]]:
        """A row for each slot and edge of the directions that were played, in the order of the pipelines
        (docs/report.md: ``slots``)."""
        return [row for name in sorted(self._lanes) for row in self._lanes[name].rows()]
