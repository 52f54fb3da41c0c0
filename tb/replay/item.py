"""What is played at once, and its verdict: reset, program, play, compare with the golden model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np

from models.config import NicConfig
from models.frames import Batch, Edge, Int64, Outcome
from models.nic import Mismatch
from tb.replay.pace import line_rate
from tb.targets.base import Fault, FaultKind, Target, TargetError, Unsupported
from tb.targets.engine import CLOCK_NS, DIRECTIONS
from tb.targets.outcome import compare

__all__ = ["Failing", "Item", "Renews", "Saves", "Verdict", "play_once"]


@runtime_checkable
class Saves(Protocol):
    """A target that can save the state of its device between two plays (`tb.targets.native.NativeTarget`)."""

    build: str
    """What a saved state fits."""

    def snapshot(self) -> bytes: ...

    def restore(self, snapshot: bytes) -> None: ...


@runtime_checkable
class Renews(Saves, Protocol):
    """A target that knows the state of a device that has just been made: a reset may leave something behind."""

    async def fresh_state(self) -> bytes: ...


@dataclass(frozen=True)
class Item:
    """Frames to play, in the order in which they are offered at each edge, and how."""

    name: str
    frames: Batch
    profiles: Mapping[Edge, str]
    of_frames: int
    paced: bool = True
    """Received frames come at the pace of a 25G wire; else each frame at its own time."""
    config: NicConfig | None = None
    """Programmed instead of the job's, where the capture brings one."""
    cut: Fault | None = None
    """A reset in mid-frame."""
    doubled: bool = False
    """The second half of the frames is the first half again, at the other edge."""
    number: Int64 | None = None
    """int64[n]: number of each frame in the capture that it comes from (from 0); None: its place here."""
    state: bytes | None = None
    """State of the device at the start (`NativeTarget.snapshot`); None: as after a reset."""
    before: Mapping[str, int] = field(default_factory=dict)
    """The counters in that state."""

    @property
    def numbers(self) -> Int64:
        """int64[n]: number of each frame in the capture that it comes from."""
        if self.number is not None:
            return self.number
        n = len(self.frames)
        return np.arange(n, dtype=np.int64) % (n // 2) if self.doubled else np.arange(n, dtype=np.int64)

    def part(self, index: Sequence[int]) -> Item:
        """The same with some of its frames only, in order; the first of them comes at once."""
        chosen = np.asarray(index, np.int64)
        frames = self.frames.select(chosen)
        if len(frames) and frames.time_ns.min():
            frames = replace(frames, time_ns=frames.time_ns - frames.time_ns.min())
        return replace(self, frames=frames, doubled=False, number=self.numbers[chosen])

    def direction(self, frame: int) -> str:
        """ "rx" or "tx": where the frame at this place enters."""
        return DIRECTIONS[Edge(int(self.frames.edge[frame]))]

    def words(self, mismatch: Mismatch) -> str:
        """A difference, with the direction and the number that its frame has in this capture (from 0)."""
        if mismatch.frame < 0:
            return str(mismatch)
        number = mismatch.frame % (len(self.frames) // 2) if self.doubled else mismatch.frame
        return f"{self.direction(mismatch.frame)} {replace(mismatch, frame=number)}"

    def source_words(self, mismatch: Mismatch) -> str:
        """The same with the number that the frame has in the capture that it comes from."""
        if mismatch.frame < 0:
            return str(mismatch)
        number = int(self.numbers[mismatch.frame])
        return f"{self.direction(mismatch.frame)} {replace(mismatch, frame=number)}"


@dataclass
class Verdict:
    """What a play gave. outcome is None where the play was ended; then ``ended`` says by what, and ``ended_at`` the
    frame, where it is known. begin_ns: the device's time at cycle 0 of the play."""

    batch: Batch
    outcome: Outcome | None
    mismatches: list[Mismatch]
    ended: str = ""
    ended_at: int | None = None
    begin_ns: int = 0

    @classmethod
    def of_error(cls, batch: Batch, error: TargetError, begin_ns: int = 0) -> Verdict:
        """Of a play that the target ended."""
        return cls(batch, None, [], f"{type(error).__name__}: {error}", getattr(error, "frame", None), begin_ns)

    @property
    def failed(self) -> bool:
        return bool(self.mismatches or self.ended)

    @property
    def first_frame(self) -> int | None:
        """Index of the first frame that differs; None: no frame in particular."""
        frames = [mismatch.frame for mismatch in self.mismatches if mismatch.frame >= 0]
        return min(frames, default=self.ended_at)

    @property
    def first(self) -> Mismatch | None:
        """The difference that says most: one that names a byte, else one that names a frame. None: there is none."""
        return min(self.mismatches, key=lambda m: (not m.what.startswith("byte"), m.frame < 0), default=None)

    def words(self, item: Item) -> str:
        """The first difference: frame, offset, expected, got."""
        return self.ended or (item.words(self.first) if self.first else "")

    def look(self, item: Item, *, time: bool = True) -> str:
        """Where to look for the first difference in a waveform of this play; "": nobody knows. time: in ns too."""
        first = self.first
        if first is None:
            return (
                self.ended.partition(" did not move")[0].removeprefix("Stuck: ") if "did not move" in self.ended else ""
            )
        edge = Edge(int(item.frames.edge[first.frame])) if first.frame >= 0 else None
        signals = f"{_signals(first.what, edge)} of nic_port"
        if first.cycle < 0:
            return signals
        when = f", before the clock edge at {self.begin_ns + first.cycle * CLOCK_NS:.0f} ns" if time else ""
        return f"{signals} in cycle {first.cycle} of the play{when}"


@dataclass(frozen=True)
class Failing:
    """A failure that was cut down. whole, found: what was played first and what it gave; item, verdict: the fewest
    frames that still fail, and how (``verdict`` doesn't fail where nothing of it could be made to fail again).
    minimal: none of the frames can be left out; tries: plays that it took. window: the frames up to the failing one.
    fresh: ``verdict`` is of a device that was made anew, or wholly restored, not only reset. survives_reset: from a
    reset of a new device the failure doesn't come, but it does after a reset of the one that has seen it.
    """

    whole: Item
    found: Verdict
    item: Item
    verdict: Verdict
    minimal: bool
    tries: int
    window: Item | None = None
    fresh: bool = False
    survives_reset: bool = False

    @property
    def reproduced(self) -> bool:
        """Whether ``item`` fails when it is played alone."""
        return self.verdict.failed


_BESIDE = ("code", "queue", "drop for want of room", "reset while it was in the port", "lost at the reset")
"""Differences that the reports of dispositions show, and not the frames that come out."""


def _signals(what: str, edge: Edge | None) -> str:
    """The signals on which a difference shows. edge: where its frame entered; None: it is of no frame."""
    if what.startswith("counter") or edge is None:
        return "s_axil_araddr and s_axil_rdata" if what.startswith("counter") else "rx_disp_* and tx_disp_*"
    if what in _BESIDE:
        return f"{DIRECTIONS[edge]}_disp_*"
    if what.startswith(("first_in", "last_in")):
        return f"s_axis_{edge.name.lower()}_*"
    out = f"m_axis_{edge.opposite.name.lower()}"
    for start, signal in (
        ("byte", "tdata"),
        ("length", "tlast"),
        ("meta", "meta"),
        ("tuser", "tuser"),
        ("bad", "tuser"),
    ):
        if what.startswith(start):
            return f"{out}_{signal}"
    return f"{out}_*"


async def play_once(target: Target, item: Item, config: NicConfig, fresh: bytes | None = None) -> Verdict:
    """Reset, program, bring into the item's state, play, compare.

    fresh: state of a new device (`Renews`), with which it begins. TargetError: the target can't take the state.
    """
    config = item.config or config
    if fresh is not None and isinstance(target, Saves):
        target.restore(fresh)
    try:
        await target.configure(config)
    except TargetError as error:
        return Verdict.of_error(item.frames, error, target.now())
    if item.state is not None:
        if not isinstance(target, Saves):
            raise Unsupported("this target can't start from a saved state")
        target.restore(item.state)
    if FaultKind.BACK_PRESSURE in target.capabilities.faults:
        for edge, profile in item.profiles.items():
            await target.inject(Fault.back_pressure(edge, profile))
    if item.cut is not None and item.cut.kind in target.capabilities.faults:
        await target.inject(item.cut)
    batch = line_rate(item.frames, Edge.WIRE) if item.paced else item.frames
    try:
        outcome = await target.play(batch)
    except TargetError as error:
        return Verdict.of_error(batch, error, target.now() if error.begin_ns is None else error.begin_ns)
    found = compare(config, batch, outcome, item.before or None, xgmii=target.capabilities.xgmii)
    return Verdict(batch, outcome, found, begin_ns=outcome.begin_ns)
