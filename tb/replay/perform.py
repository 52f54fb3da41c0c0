"""A replay as a task: plain data that says what is played and what is written, and the coroutine that does it.

The same coroutine runs in this process (targets native and model) and inside the simulator (cocotb), where the task
comes as a file and what it gives goes back as one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from models.config import NicConfig
from models.frames import Edge
from models.nic_wire import padded
from tb.replay.failure import Context, reproduce
from tb.replay.out import OutCapture
from tb.replay.pace import PlayTimes, offered
from tb.replay.packed import Origin, unpackable
from tb.replay.records import Records
from tb.replay.replay import Failed, replay
from tb.replay.rules import RuleFigures
from tb.replay.sas import SaFigures
from tb.replay.select import Filter, FrameRange
from tb.replay.silence import silences
from tb.replay.slots import SlotFigures, Tapped
from tb.replay.statistics import Statistics
from tb.replay.window import WINDOW_FRAMES, Judged, Listener, Window
from tb.replay.windows import Windows
from tb.targets.base import Target
from tb.targets.program import check_rules

__all__ = ["EDGES", "Performed", "Progress", "Skipping", "Task", "Waving", "perform"]

EDGES = {"rx": Edge.WIRE, "tx": Edge.HOST}
"""The edge at which frames of a direction enter."""


@dataclass(frozen=True)
class Task:
    """What to replay; as JSON takes it.

    captures: name and path of each. config: TOML. port, direction: None: as the capture says. frames, wanted: the texts
    of a range and a filter, "": all. records, out: paths, "-": standard output, "": none. waves: file of the
    waveform of the first window, or of all frames of a range that ends, on a target that writes it itself. failures:
    folder where a failure is packed, "": nowhere; origin: the fields of its `Origin`. rules, rule_lines: the name
    of the file that the rules of the slots rule_slots in ``config`` came from, and on which of its lines each begins;
    sas: that of the SAs of the slots sa_slots.
    """

    captures: list[list[str]]
    config: str = ""
    port: int | None = None
    direction: str | None = None
    frames: str = ""
    wanted: str = ""
    pace: str = "asap"
    window: int = WINDOW_FRAMES
    keep_going: bool = False
    records: str = ""
    out: str = ""
    failures: str = ""
    waves: str = ""
    origin: dict[str, Any] = field(default_factory=dict)
    rules: str = ""
    rule_lines: list[int] = field(default_factory=list)
    rule_slots: list[str] = field(default_factory=list)
    sas: str = ""
    sa_slots: list[str] = field(default_factory=list)

    def windows(self) -> Windows:
        """Its frames. SelectError: a range or filter that can't be understood."""
        return Windows(
            [(name, path) for name, path in self.captures],
            port=self.port,
            edge=None if self.direction is None else EDGES[self.direction],
            frames=FrameRange.parse(self.frames) if self.frames else FrameRange(),
            wanted=Filter.parse(self.wanted) if self.wanted else None,
            size=self.window,
        )


@dataclass(frozen=True)
class Performed:
    """What a replay gave; as JSON takes it.

    seen: frames that the captures hold, as far as they were read. figures: of `Statistics` and `RuleFigures`, and
    ``slots`` of `SlotFigures` where the target has taps. stopped: it ended with a window that failed; interrupted:
    since it was told to; error, unwritten: as of `Ended`. unread: captures that can't be read, or not to their end.
    failure: the file of a packed failure, "": none; unpacked: why it couldn't be packed. cpu_s, wall_s: from the first
    frame to the last; simulated: cycles in that time, without those that were skipped.
    """

    seen: int
    figures: dict[str, Any]
    stopped: bool
    interrupted: bool
    error: str
    unwritten: str
    unread: list[str]
    failure: str
    unpacked: str
    simulated: int
    cpu_s: float
    wall_s: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@runtime_checkable
class Waving(Protocol):
    """A target that writes waves itself."""

    def start_waves(self, path: Path) -> None: ...

    def stop_waves(self) -> None: ...


@runtime_checkable
class Skipping(Protocol):
    """A target that skips cycles in which nothing can happen."""

    @property
    def skipped(self) -> int:
        """How many, since it was made."""
        ...


class Progress:
    """A listener that tells how far the replay is: frames, simulated cycles, bytes of the captures. cpu_s, wall_s: what
    it took, once it is closed; simulated: cycles that the device really went through in that, also between plays."""

    def __init__(self, target: Target, windows: Windows, tell: Callable[[int, int, int], None]) -> None:
        self._target, self._windows, self._tell = target, windows, tell
        self._frames = self.simulated = 0
        self._begun = self._cycles()
        self._begin, self._spent = time.monotonic(), time.process_time()
        self.cpu_s = self.wall_s = 0.0

    def _cycles(self) -> int:
        """Since the device was made, without those that were skipped."""
        skipped = self._target.skipped if isinstance(self._target, Skipping) else 0
        return round(self._target.now() / self._target.capabilities.clock_ns) - skipped

    def take(self, judged: Judged) -> None:
        self._frames += len(judged.window)
        self.simulated = self._cycles() - self._begun
        self._tell(self._frames, self.simulated, self._windows.taken)

    def close(self) -> None:
        self.wall_s = round(time.monotonic() - self._begin, 3)
        self.cpu_s = round(time.process_time() - self._spent, 3)


@runtime_checkable
class Programmed(Protocol):
    """A target that says how far it is programmed: register writes done, and in all."""

    on_program: Callable[[int, int], None]


async def perform(
    target: Target,
    task: Task,
    *,
    tell: Callable[[int, int, int], None] = lambda *_: None,
    programming: Callable[[int, int], None] = lambda *_: None,
    interrupted: Callable[[], bool] = lambda: False,
    warn: Callable[[str], None] = lambda _: None,
) -> Performed:
    """Replay a task. ``tell`` takes frames, simulated cycles, bytes so far, ``programming`` before that register writes
    done and in all; ``interrupted`` is asked before each window; ``warn`` takes what a person should know before it is
    played (`silences`, where time is skipped).

    RulesError: the rules don't fit the target; nothing was written. CaptureError: an output can't be opened.
    Unsupported: a frame is of a port that the target lacks. TargetError: the target can't be configured.
    """
    config = NicConfig.parse(task.config)
    await check_rules(target, config)
    if isinstance(target, Programmed):
        target.on_program = programming
    clock_ns = target.capabilities.clock_ns
    windows, statistics = task.windows(), Statistics(clock_ns)
    progress = Progress(target, windows, tell)
    times = PlayTimes(target.now)
    rules = RuleFigures(config, task.port or 0, task.rules, task.rule_lines, task.rule_slots)
    sas = SaFigures(config, task.port or 0, task.sas, task.sa_slots)
    listeners: list[Listener] = [statistics, progress, times, rules, sas]
    slots = SlotFigures(target) if isinstance(target, Tapped) else None
    if slots is not None:
        listeners.append(slots)
    if task.records:
        listeners.append(Records(task.records, clock_ns))
    if task.out:
        listeners.append(OutCapture(task.out, clock_ns))

    unpacked = ""

    async def pack(failed: Failed) -> str:
        nonlocal unpacked
        if interrupted():
            return ""
        context = Context(Path(task.failures), Origin(**task.origin), before=failed.before, snapshot=failed.snapshot)
        try:
            return str((await reproduce(target, failed.judged, config, context, failed.error)).path)
        except OSError as error:
            unpacked = unpackable(context.folder, error)
            return ""

    chosen: Iterable[Window] = windows
    if task.pace == "recorded" and isinstance(target, Skipping):
        chosen = silences(windows, warn)
    if target.capabilities.xgmii:
        chosen = (replace(window, batch=padded(window.batch)) for window in chosen)
    stream: Iterable[Window] = _until(offered(chosen, task.pace, times.passed), interrupted)
    if task.waves and isinstance(target, Waving):
        stream = _waved(stream, target, Path(task.waves), only_first=windows.frames.behind is None)
    ended = await replay(
        target,
        stream,
        config,
        listeners,
        keep_going=task.keep_going,
        on_failure=pack if task.failures else None,
    )
    return Performed(
        seen=windows.seen,
        figures={
            **statistics.figures(),
            **rules.figures(),
            **sas.figures(),
            **({} if slots is None else {"slots": slots.figures()}),
        },
        stopped=ended.stopped,
        interrupted=interrupted(),
        error=ended.error,
        unwritten=ended.unwritten,
        unread=[str(error) for error in windows.errors],
        failure=ended.failure or "",
        unpacked=unpacked,
        simulated=progress.simulated,
        cpu_s=progress.cpu_s,
        wall_s=progress.wall_s,
    )


def _until(windows: Iterable[Window], interrupted: Callable[[], bool]) -> Iterator[Window]:
    """The windows, up to where the replay is told to end."""
    for window in windows:
        if interrupted():
            return
        yield window


def _waved(windows: Iterable[Window], target: Waving, path: Path, *, only_first: bool) -> Iterator[Window]:
    """The windows; waves are written while the first one is played, or while all are."""
    begun = False
    try:
        for window in windows:
            if len(window) and not begun:
                target.start_waves(path)
                begun = True
            yield window
            if begun and only_first:
                target.stop_waves()
    finally:
        target.stop_waves()
