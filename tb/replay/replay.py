"""The replay of windows on a target: play, compare with the golden model, tell the listeners."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from models.config import NicConfig
from models.frames import Batch, Outcome
from models.meta import Code
from models.nic import Mismatch, NicPortModel
from tb.replay.capture import CaptureError
from tb.replay.item import Saves
from tb.replay.rules import ruled_by
from tb.replay.sas import secured_by
from tb.replay.window import Judged, Listener, Window
from tb.targets.base import Stuck, Target, TargetError, Unsupported

__all__ = ["Ended", "Failed", "replay"]


@dataclass(frozen=True)
class Failed:
    """The first window that failed: what it gave, the error that ended its play (None: only mismatches), and the
    counters and the state of the device before it (None: the target saves none)."""

    judged: Judged
    error: TargetError | None
    before: Mapping[str, int]
    snapshot: bytes | None = field(default=None, repr=False)


@dataclass
class Ended:
    """How a replay ended.

    windows, frames: that were played. stopped: it ended with a window that failed. error: what the target said of that
    (the stream, the frame), "": nothing. unwritten: the output that can't be written ended it. failure: what
    ``on_failure`` gave.
    """

    windows: int = 0
    frames: int = 0
    stopped: bool = False
    error: str = ""
    unwritten: str = ""
    failure: Any = None
    failed: Failed | None = field(default=None, repr=False)


async def replay(
    target: Target,
    windows: Iterable[Window],
    config: NicConfig,
    listeners: Sequence[Listener],
    *,
    keep_going: bool = False,
    on_failure: Callable[[Failed], Awaitable[Any]] | None = None,
) -> Ended:
    """Configure the target once, then play window after window; the listeners take each in order and are closed.

    It ends behind the last window, with the first that fails (keep_going: a window with mismatches ends nothing, a play
    without an end does), or when a listener can't write. ``on_failure`` is awaited at the end, with the first window
    that failed, and may leave the device in any state. Unsupported: a frame is of a port that the target lacks.
    TargetError: it can't be configured.
    """
    player = _Player(target, NicPortModel(config, xgmii=target.capabilities.xgmii))
    ended = Ended()
    try:
        await target.configure(config)
        for window in windows:
            if not len(window):
                continue
            before = player.before
            snapshot = _saved(target) if on_failure is not None and ended.failed is None else None
            judged, error = await player.play(window)
            ended.windows += 1
            ended.frames += len(window)
            if ended.failed is None and (judged.mismatches or error is not None):
                ended.failed = Failed(judged, error, before, snapshot)
            ended.error = _words(judged, error) if error is not None else ""
            _tell(listeners, judged, ended)
            ended.stopped = error is not None or (bool(judged.mismatches) and not keep_going)
            if ended.stopped or ended.unwritten:
                break
    finally:
        _close(listeners, ended)
    if on_failure is not None and ended.failed is not None:
        ended.failure = await on_failure(ended.failed)
    return ended


def _saved(target: Target) -> bytes | None:
    """The state of the device; None: it can't be saved here or now, as with a frame under way that nobody sent."""
    try:
        return target.snapshot() if isinstance(target, Saves) else None
    except TargetError:
        return None


def _tell(listeners: Sequence[Listener], judged: Judged, ended: Ended) -> None:
    for listener in listeners:
        try:
            listener.take(judged)
        except (CaptureError, OSError) as error:
            ended.unwritten = ended.unwritten or str(error)


def _close(listeners: Sequence[Listener], ended: Ended) -> None:
    for listener in listeners:
        try:
            listener.close()
        except (CaptureError, OSError) as error:
            ended.unwritten = ended.unwritten or str(error)


def _words(judged: Judged, error: TargetError) -> str:
    """The error with the frame at which it is, where that is known, else with the frames among which it is."""
    window, at = judged.window, judged.mismatches[0].frame
    if at >= 0:
        where = f"frame {window.index[at]} (frame {window.frame[at]} of {window.capture})"
    else:
        where = f"among frames {window.index[0]} to {window.index[-1]} ({window.capture})"
    return f"{where}: {error}"


class _Player:
    """Plays windows one after the other; ``before``: the device's counters at the end of the last one."""

    def __init__(self, target: Target, model: NicPortModel) -> None:
        self.target, self.model = target, model
        self.before: Mapping[str, int] = {}
        self.frames_out = 0

    async def play(self, window: Window) -> tuple[Judged, TargetError | None]:
        """A frame without a byte isn't offered. Also the error that ended the play."""
        self._check_ports(window)
        carried = np.flatnonzero(window.batch.lengths)
        batch = window.batch if len(carried) == len(window) else window.batch.select(carried)
        now_ns, error, ruled, secured = self.target.now(), None, None, None
        try:
            outcome = await self.target.play(batch) if len(batch) else _nothing(0, 0, now_ns)
            mismatches = self.model.check(batch, outcome, self.before)
            if len(outcome) == len(batch):
                played = self.model.played(batch, outcome, self.before)
                ruled, secured = ruled_by(played), secured_by(played)
            self.model.commit(batch, outcome, self.before)
            self.before = outcome.counters or self.before
        except Unsupported:
            raise
        except TargetError as caught:
            error = caught
            begin_ns = now_ns if caught.begin_ns is None else caught.begin_ns
            spent = self.target.now() - begin_ns
            outcome = _nothing(len(batch), round(spent / self.target.capabilities.clock_ns), begin_ns)
            at = getattr(error, "frame", None)
            if isinstance(error, Stuck) and at is not None:
                error.frame = int(carried[at])  # its place in the window
            ends = f"{type(error).__name__}: {error}"
            mismatches = [Mismatch(-1 if at is None else at, "the play", "an end of every frame", ends)]
        if len(batch) < len(window):
            outcome = _spread(outcome, carried, len(window))
            mismatches = [replace(m, frame=int(carried[m.frame])) if m.frame >= 0 else m for m in mismatches]
            ruled = None if ruled is None else ruled.spread(carried, len(window))
            secured = None if secured is None else secured.spread(carried, len(window))
        judged = Judged(window, outcome, mismatches, outcome.begin_ns, self.frames_out, ruled, secured)
        self.frames_out += len(outcome.frames)
        return judged, error

    def _check_ports(self, window: Window) -> None:
        ports = self.target.capabilities.ports
        wrong = np.flatnonzero(~np.isin(window.batch.port, ports))
        if len(wrong):
            at = int(wrong[0])
            raise Unsupported(
                f"{window.capture}: frame {window.frame[at]} is of port {window.batch.port[at]}, which this target "
                f"has not; --port {ports[0]} plays it there"
            )


def _nothing(n: int, cycles: int, begin_ns: int) -> Outcome:
    """The outcome of n frames of which nothing was reported."""
    unknown = np.full(n, -1, np.int64)
    none = np.zeros(n, np.uint8)
    return Outcome(Batch.empty(), np.zeros(0, np.int64), none, none, *[unknown] * 5, cycles=cycles, begin_ns=begin_ns)


def _spread(outcome: Outcome, carried: np.ndarray, n: int) -> Outcome:
    """The outcome of the frames at ``carried`` of n as that of all; of the others nothing was reported."""
    columns: dict[str, Any] = {}
    for name, without in (
        ("code", Code.NONE),
        ("queue", 0),
        *((name, -1) for name in ("latency_cycles", "first_in", "last_in", "first_out", "last_out", "entry")),
    ):
        values = getattr(outcome, name)
        if name == "entry" and not len(values):  # the device doesn't say
            continue
        columns[name] = np.full(n, without, values.dtype)
        columns[name][carried] = values
    source = np.where(outcome.source < 0, -1, carried[outcome.source]) if len(carried) else outcome.source
    return replace(outcome, source=source, **columns)
