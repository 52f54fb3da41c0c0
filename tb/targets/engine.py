"""What drives the port inside the simulator, behind one interface: ``agents`` (any simulator) or ``bfm`` (DPI).

An engine moves frames and notes cycles; it knows nothing of configurations, scenarios or verdicts. Cycles that it gives
are counted from the start of the play.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from models.frames import Batch, Edge, Outcome
from models.meta import unpack, words_of
from tb.targets.base import Capabilities, Fault, Frame

__all__ = [
    "CLOCK_NS",
    "DIRECTIONS",
    "SETTLE_CYCLES",
    "WATCHDOG_CYCLES",
    "CameOut",
    "Engine",
    "Fate",
    "Played",
    "cycles_of",
    "cycles_to_sleep",
    "make_outcome",
    "origin_of",
]

CLOCK_NS = 4.0
"""Period of the core clock."""

SETTLE_CYCLES = 800
"""Cycles behind the end of a play in which nothing may come out any more: longer than any frame takes. The counters
are read in them."""

WATCHDOG_CYCLES = 20_000
"""Cycles in which nothing moves until a play is ended as stuck: longer than any pause, and than the longest frame."""

DIRECTIONS: dict[Edge, str] = {Edge.WIRE: "rx", Edge.HOST: "tx"}
"""The direction of frames that enter at an edge."""


def cycles_of(time_ns: int) -> int:
    """First cycle that isn't before ``time_ns``."""
    return -(-time_ns // int(CLOCK_NS))


def cycles_to_sleep(ns: int) -> int:
    """Cycles of a sleep of ``ns``; at least one, but for a sleep of nothing. ValueError: less than nothing."""
    if ns < 0:
        raise ValueError(f"sleep: {ns} ns is in the past")
    return max(1, round(ns / CLOCK_NS)) if ns else 0


@dataclass
class Fate:
    """What became of one frame that was offered. -1: it never happened."""

    first_in: int = -1
    last_in: int = -1
    code: int = 0
    queue: int = 0


@dataclass
class CameOut:
    """One frame that came out. source: index of the frame in the play, -1: of none that was offered. copy: of it."""

    edge: Edge
    source: int
    data: bytes
    user: int
    meta: int
    first_out: int
    first_taken: int
    last_out: int
    copy: bool = False


def origin_of(meta: int) -> tuple[Edge, int, bool]:
    """Of a frame out, from what stands beside it: the edge at which it entered, its number, whether it is a copy."""
    word = unpack(meta)
    return Edge(word["direction"]), word["seq"], bool(word["acl_copy"])


class Engine(Protocol):
    """The interface of both engines. ``reset`` returns once the port is ready."""

    capabilities: Capabilities
    begin_ns: int
    """Time at cycle 0 of the last play."""

    async def start(self) -> None: ...

    async def reset(self) -> None: ...

    async def play(
        self, batch: Batch, profiles: Mapping[Edge, str], cut: Fault | None, again: Callable[[], Awaitable[None]]
    ) -> Outcome:
        """Play; ``cut`` is a reset fault, ``again`` programs the port after it. `Stuck`: the watchdog ended it."""
        ...

    async def finish(self) -> None:
        """Once `SETTLE_CYCLES` have passed since the end of the play: `ProtocolError`, if a rule was broken in them or
        anything came out that nobody sent."""
        ...

    async def send(self, edge: Edge, data: bytes, queue: int, bad: int) -> None: ...

    async def receive(self, edge: Edge, timeout_ns: int) -> Frame | None:
        """The oldest frame of a send; None: none in time."""
        ...

    async def read(self, address: int) -> int: ...

    async def write(self, address: int, value: int) -> None: ...


@dataclass
class Played:
    """All notes of a play, before they become arrays."""

    fates: list[Fate]
    out: list[CameOut] = field(default_factory=list)
    cycles: int = 0
    resets: list[int] = field(default_factory=list)
    now: int = -1


def make_outcome(batch: Batch, played: Played, start_ns: int) -> Outcome:
    """The notes of a play as an Outcome. start_ns: time of the play's cycle 0."""
    n = len(batch)
    # In order per edge: a stable sort keeps the order in which an edge gave them.
    out = sorted(played.out, key=lambda frame: frame.edge)
    first_out, last_out = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    for frame in out:
        if frame.source >= 0 and not frame.copy:
            first_out[frame.source], last_out[frame.source] = frame.first_out, frame.last_out
    column: dict[str, Any] = {
        name: np.array([getattr(fate, name) for fate in played.fates], np.int64).reshape(n)
        for name in ("first_in", "last_in", "code", "queue")
    }
    frames = Batch.of(
        [frame.data for frame in out],
        edge=[int(frame.edge) for frame in out],
        time_ns=[start_ns + frame.first_out * int(CLOCK_NS) for frame in out],
        queue=[unpack(frame.meta)["queue"] if frame.edge == Edge.HOST else 0 for frame in out],
        bad=[frame.user & 0xFF if frame.user & 1 else 0 for frame in out],
    )
    return Outcome(
        frames=frames,
        source=np.array([frame.source for frame in out], np.int64),
        code=column["code"].astype(np.uint8),
        queue=column["queue"].astype(np.uint8),
        latency_cycles=np.where(first_out >= 0, first_out - column["first_in"], -1),
        first_in=column["first_in"],
        last_in=column["last_in"],
        first_out=first_out,
        last_out=last_out,
        cycles=played.cycles,
        begin_ns=start_ns,
        now=played.now,
        begun=np.array([frame.first_out for frame in out], np.int64),
        ended=np.array([frame.last_out for frame in out], np.int64),
        resets=np.array(played.resets, np.int64),
        user=np.array([frame.user for frame in out], np.uint16),
        meta=words_of([frame.meta if frame.edge == Edge.HOST else 0 for frame in out]),
    )
