"""One frame of a replay followed through the slots of the port: when it reached and left each, and who held it back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from models.config import NicConfig
from models.frames import Edge
from models.meta import Code
from models.nic import NicPortModel
from tb.replay.pace import PlayTimes, offered
from tb.replay.perform import Progress, Task
from tb.replay.records import difference
from tb.replay.replay import replay
from tb.replay.statistics import code_name, disposition_name
from tb.replay.taps import Passed, passed
from tb.replay.window import Judged, Listener, Window
from tb.replay.windows import Windows, part
from tb.targets.probe import ProbeTarget

__all__ = ["Ahead", "Step", "Trace", "TraceEnded", "TraceError", "follow_last", "trace"]


class TraceError(Exception):
    """There is no such frame to be traced; the message is one line."""


class TraceEnded(Exception):
    """The replay ended before the frame; the message is one line."""


@dataclass(frozen=True)
class Ahead:
    """Frames that were still in a slot when another one came. held: by what held them back while they left, cycles."""

    frames: int
    held: dict[str, int]


@dataclass(frozen=True)
class Step:
    """A frame in a slot or at an edge. Cycles of the play, None: never.

    slot: its name. reached: the first beat went in (at an edge: was shown). left: the first beat went out (of the last
    slot: was shown at the edge). last: the last beat went out. cycles: from ``reached`` to ``left``; at an edge they
    aren't part of the latency. alone: as many the model says of a frame that is alone in the port, None at an edge.
    stalled: cycles in which a beat stood at the way out, before: those of them before the first beat went; by: the same
    by what was to blame, a slot or an edge. ahead: None: nothing was in the slot.
    """

    slot: str
    reached: int | None
    left: int | None
    last: int | None
    cycles: int | None
    alone: int | None
    stalled: int
    before: int
    by: dict[str, int]
    ahead: Ahead | None


@dataclass(frozen=True)
class Trace:
    """What became of one frame.

    index, capture, frame, direction, length, disposition, reason, queue, acl_rule: as in a record. begin_ns: simulated
    time at which its play began, cycle 0 of it. latency_cycles: None: it did not come out. alone_cycles: of a frame
    that is alone in the port. ended: the slot in which it ended or stands, the edge where it came out. redirected: it
    left by the other direction, behind the slot ``ended``. error: what ended the play before its end, "": nothing.
    differences: of this frame, and of none, from the golden model; others: frames of its window before it that differ.
    """

    index: int
    capture: str
    frame: int
    direction: str
    length: int
    begin_ns: int
    disposition: str | None
    reason: str | None
    queue: int
    latency_cycles: int | None
    alone_cycles: int
    ended: str
    steps: list[Step]
    acl_rule: int | None = None
    redirected: bool = False
    differences: list[str] = field(default_factory=list)
    others: int = 0
    error: str = ""

    @property
    def ok(self) -> bool:
        return not (self.differences or self.others or self.error)

    def to_json(self) -> dict[str, Any]:
        return {"v": 1, **asdict(self), "error": self.error or None}


class _Catch:
    """A listener that keeps the window whose last frame is the wanted one, with what passed the taps in its play."""

    def __init__(self, target: ProbeTarget, index: int) -> None:
        self._target, self._index = target, index
        self.caught: tuple[Judged, list[Passed]] | None = None

    def take(self, judged: Judged) -> None:
        log = self._target.log
        if judged.window.index[-1] == self._index and log is not None:
            self.caught = judged, passed(log, judged.window.batch)

    def close(self) -> None:
        """Nothing is open."""


async def trace(
    target: ProbeTarget, task: Task, index: int, tell: Callable[[int, int, int], None] = lambda *_: None
) -> Trace:
    """Replay a task up to frame ``index`` and follow that one. The frames before it are played as in a replay, so its
    cycles are those it has there. ``tell`` takes frames, cycles and bytes so far. TraceError: it isn't there.
    TraceEnded: the port got stuck or broke a rule before it. Unsupported, TargetError: as `replay`.
    """
    config = NicConfig.parse(task.config)
    windows, catch, times = task.windows(), _Catch(target, index), PlayTimes(target.now)
    listeners: list[Listener] = [catch, times, Progress(target, windows, tell)]
    timed = offered(windows, task.pace, times.passed)
    ended = await replay(target, _up_to(timed, target, index), config, listeners, keep_going=True)
    if catch.caught is None and ended.error:
        first, _, more = ended.error.partition("\n")
        raise TraceEnded(f"--frame {index}: the replay ended before it: {first}{' …' if more else ''}")
    if catch.caught is None:
        raise TraceError(_missing(windows, index))
    judged, lanes = catch.caught
    if judged.window.batch.lengths[-1] == 0:
        raise TraceError(f"frame {index} has no byte, so no stream can carry it")
    return follow_last(judged, lanes, NicPortModel(config), ended.error)


def _up_to(windows: Iterable[Window], target: ProbeTarget, index: int) -> Iterator[Window]:
    """The windows up to frame ``index``, which is the last one of the last; only that one is noted."""
    target.note(False)
    for window in windows:
        at = np.flatnonzero(window.index == index)
        if len(at):
            target.note(True)
            yield part(window, slice(0, int(at[0]) + 1))
            return
        if len(window) and window.index[-1] > index:
            return
        yield window


def _missing(windows: Windows, index: int) -> str:
    """Why a frame wasn't played."""
    if windows.seen > index:
        return f"--frame {index}: the filter leaves it out"
    problems = "".join(f"; {problem}" for problem in windows.errors)
    return f"--frame {index}: there are {windows.seen} frames, counted from 0{problems}"


def follow_last(judged: Judged, lanes: list[Passed], model: NicPortModel, error: str = "") -> Trace:
    """The trace of the last frame of a window; ``lanes``: what passed the taps in its play."""
    window, outcome = judged.window, judged.outcome
    at = len(window) - 1
    edge, data = Edge(int(window.batch.edge[at])), window.batch.frame(at)
    (frames,) = [found for found in lanes if found.lane.entry == edge]
    code, latency = int(outcome.code[at]), int(outcome.latency_cycles[at])
    place = int(frames.ended[-1])
    own = (outcome.source == at) & ~judged.copies
    redirected = bool((outcome.frames.edge[own] == edge).any())
    return Trace(
        index=int(window.index[at]),
        capture=window.capture,
        frame=int(window.frame[at]),
        direction=frames.lane.name,
        length=len(data),
        begin_ns=judged.begin_ns,
        disposition=disposition_name(code),
        reason=code_name(code) if code >= Code.BAD_FRAME else None,
        queue=int(outcome.queue[at]),
        latency_cycles=latency if latency >= 0 else None,
        alone_cycles=model.latency_cycles(edge, data),
        ended=frames.lane.entry_name if place < 0 else frames.lane.behind(place),
        acl_rule=None if judged.ruled is None or judged.ruled.rule[at] < 0 else int(judged.ruled.rule[at]),
        steps=list(_steps(frames, model, data, aside=redirected)),
        redirected=redirected,
        differences=[difference(one) for one in judged.mismatches if one.frame in (at, -1)],
        others=len({one.frame for one in judged.mismatches} - {at, -1}),
        error=error,
    )


def _steps(frames: Passed, model: NicPortModel, data: bytes, *, aside: bool = False) -> Iterator[Step]:
    """The steps of the last one of these frames: entry edge, slots, exit edge. aside: it leaves by the other
    direction, and how long it would be alone from the buffer on isn't told."""
    lane, row = frames.lane, len(frames) - 1
    yield _step(frames, row, -1, lane.entry_name, None)
    alone: dict[str, int | None] = {**_alone(frames, model, data)}
    if aside:
        alone |= dict.fromkeys(lane.slots[lane.slots.index(lane.buffer) :])
    for place, slot in enumerate(lane.slots):
        yield _step(frames, row, place, slot, alone[slot])
    shown, taken = (int(column[row, -1]) for column in (frames.offered, frames.first))
    yield Step(
        slot=lane.exit_name,
        reached=_known(shown),
        left=_known(taken),
        last=_known(int(frames.last[row, -1])),
        cycles=taken - shown if taken >= 0 else None,
        alone=None,
        stalled=0,
        before=0,
        by={},
        ahead=None,
    )


def _step(frames: Passed, row: int, place: int, name: str, alone: int | None) -> Step:
    """place: of the slot in the lane, -1: the entry edge."""
    at_edge = place < 0
    reached = int(frames.offered[row, 0] if at_edge else frames.first[row, place])
    left = int(frames.first[row, 0] if at_edge else frames.left[row, place])
    here = (frames.row == row) & (frames.place == place + 1)
    by: dict[str, int] = {}
    for culprit, cycles in zip(frames.culprit[here].tolist(), frames.all[here].tolist(), strict=True):
        by[frames.lane.behind(culprit)] = cycles
    return Step(
        slot=name,
        reached=_known(reached),
        left=_known(left),
        last=_known(int(frames.last[row, place + 1])),
        cycles=left - reached if min(left, reached) >= 0 else None,
        alone=alone,
        stalled=sum(by.values()),
        before=int(frames.before[here].sum()),
        by=by,
        ahead=None if at_edge else _ahead(frames, row, place, reached),
    )


def _ahead(frames: Passed, row: int, place: int, reached: int) -> Ahead | None:
    """Frames in a slot in the cycle in which this one reached it."""
    out = frames.last[:row, place + 1]
    there = np.flatnonzero((frames.first[:row, place] >= 0) & (out >= reached))
    if reached < 0 or not len(there):
        return None
    held: dict[str, int] = {}
    of = (frames.place == place + 1) & np.isin(frames.row, there)
    for culprit, cycles in zip(frames.culprit[of].tolist(), frames.all[of].tolist(), strict=True):
        name = frames.lane.behind(culprit)
        held[name] = held.get(name, 0) + cycles
    return Ahead(len(there), held)


def _alone(frames: Passed, model: NicPortModel, data: bytes) -> dict[str, int]:
    """Cycles in each slot of a frame that is alone: what the model says of the stages that it names, one in a register,
    and in the buffer, which takes it whole, the rest."""
    lane = frames.lane
    cycles = dict.fromkeys(lane.slots, 1) | model.stage_cycles(lane.entry, data)
    cycles[lane.buffer] = 0
    cycles[lane.buffer] = model.latency_cycles(lane.entry, data) - sum(cycles.values())
    return cycles


def _known(cycle: int) -> int | None:
    return cycle if cycle >= 0 else None
