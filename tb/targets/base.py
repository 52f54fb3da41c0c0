"""The ``Target`` protocol: one face for everything that can answer a scenario.

A scenario is a coroutine that awaits nothing but a target's own methods. So it runs unchanged under cocotb's scheduler
inside the simulator and under asyncio outside it, and it never asks which target it has: it asks for capabilities.
``docs/targets.md`` states what every method promises; ``tests/nic/test_targets.py`` holds every target to it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome, bad_mark
from tb.lib.pause import PAUSES

__all__ = [
    "PROFILES",
    "Capabilities",
    "Fault",
    "FaultKind",
    "Frame",
    "Memory",
    "ProtocolError",
    "ReceiveTimeout",
    "Stuck",
    "Target",
    "TargetError",
    "UnmappedAddress",
    "Unsupported",
    "edge_name",
]

PROFILES = (*PAUSES, "stalled")
"""Back-pressure profiles: those of `tb.lib.pause`, and ``stalled``, which takes no beat for the first
`Capabilities.stall_cycles` cycles of a play, then everything."""


class TargetError(Exception):
    """What goes wrong at a target's face, as opposed to a wrong answer of the device.

    begin_ns: the device's time at cycle 0 of the play that it ended; None: it ended none.
    """

    begin_ns: int | None = None


class UnmappedAddress(TargetError):
    """The device answered an access with an error: there is no register at this address."""

    def __init__(self, address: int) -> None:
        super().__init__(f"no register at address 0x{address:05x}")
        self.address = address


class ReceiveTimeout(TargetError, TimeoutError):
    """No frame came out at an edge in time."""

    def __init__(self, edge: Edge, timeout_ns: int) -> None:
        super().__init__(f"no frame came out at the {edge_name(edge)} edge within {timeout_ns} ns")
        self.edge = edge
        self.timeout_ns = timeout_ns


class Stuck(TargetError):
    """The watchdog (counted in simulated cycles) ended a play; the message names the stream that didn't move.

    frame: index of the first frame of the play without an end, where it is known.
    """

    def __init__(self, stream: str, cycles: int, detail: str = "", frame: int | None = None) -> None:
        super().__init__(f"{stream} did not move for {cycles} cycles{': ' + detail if detail else ''}")
        self.stream = stream
        self.cycles = cycles
        self.frame = frame


class ProtocolError(TargetError):
    """The device broke a rule of a stream; a line for each finding, with its cycle."""


class Unsupported(TargetError):
    """A target was asked for something that its capabilities don't name."""


class FaultKind(StrEnum):
    """What can be done to a device on purpose."""

    RESET = "reset"
    BACK_PRESSURE = "back_pressure"
    BAD_FRAME = "bad_frame"


@dataclass(frozen=True)
class Fault:
    """One deliberate disturbance; use the three constructors."""

    kind: FaultKind
    edge: Edge
    frame: int = 0
    after_beats: int = 1
    profile: str = "none"
    reason: int = 0

    @classmethod
    def reset(cls, edge: Edge, *, frame: int = 0, after_beats: int = 1) -> Fault:
        """In the next `play`: reset the port once ``after_beats`` beats of frame ``frame`` (from 0) at ``edge`` are in.

        What was in flight ends with ``Code.RESET``; the port is programmed again and the play goes on behind it.
        ValueError: a count below its minimum.
        """
        if frame < 0 or after_beats < 1:
            raise ValueError(f"reset fault: frame {frame} must be 0 or more and after_beats {after_beats} 1 or more")
        return cls(FaultKind.RESET, edge, frame=frame, after_beats=after_beats)

    @classmethod
    def back_pressure(cls, edge: Edge, profile: str) -> Fault:
        """From now on the receiver at ``edge`` pauses by ``profile``, until replaced or `configure` is called."""
        if profile not in PROFILES:
            raise ValueError(f"back-pressure profile {profile!r}: must be one of {', '.join(PROFILES)}")
        return cls(FaultKind.BACK_PRESSURE, edge, profile=profile)

    @classmethod
    def bad_frame(cls, edge: Edge, *, reason: int = 0) -> Fault:
        """The next frame that enters at ``edge`` has the bad mark; ``reason``: a drop's code or 0. ValueError: else."""
        bad_mark(reason)
        return cls(FaultKind.BAD_FRAME, edge, reason=reason)


@dataclass(frozen=True)
class Frame:
    """One frame at an edge: ``data`` is the Ethernet frame without FCS. ``time_ns``: when it came out, or may start."""

    data: bytes
    edge: Edge
    port: int = 0
    queue: int = 0
    time_ns: int = 0
    bad: int = 0

    def batch(self) -> Batch:
        """The frame as a batch of one."""
        return Batch.of(
            [self.data], edge=self.edge, port=self.port, queue=self.queue, time_ns=self.time_ns, bad=self.bad
        )


@dataclass(frozen=True)
class Capabilities:
    """What a target can do; the only thing about it that a scenario may ask for."""

    ports: tuple[int, ...] = (0,)
    edges: frozenset[Edge] = frozenset({Edge.WIRE, Edge.HOST})
    cycle_times: bool = True
    """Cycles and latencies of an Outcome are exact."""
    rules: bool = True
    """Its ACLs judge frames by the rules of the configuration."""
    built_to_order: bool = False
    """It has every block that a configuration has something for, and that as large as that wants it."""
    overlapping: bool = True
    """Frames of a play follow each other as closely as the stimulus says; False: each is alone in the device."""
    faults: frozenset[FaultKind] = frozenset()
    memories: frozenset[str] = frozenset()
    xgmii: bool = False
    """The wire edge is XGMII: frames have preamble, FCS and gap there, none is shorter than 60 bytes, and bad ones have
    a wrong FCS."""
    clock_ns: float = 4.0
    frames: int = 256
    """Budget: frames that one play of a scenario should hold on this target."""
    timeout_ns: int = 100_000
    """Time in which a frame that is delivered at all has come out."""
    stall_cycles: int = 4096
    """How long the profile ``stalled`` takes nothing."""


@runtime_checkable
class Memory(Protocol):
    """What DMA sees at one place ("host", "gpu0")."""

    def read(self, address: int, length: int) -> bytes: ...

    def write(self, address: int, data: bytes) -> None: ...


@runtime_checkable
class Target(Protocol):
    """A device that a scenario talks to. Times are ns of the device's own (simulated or real) time."""

    @property
    def capabilities(self) -> Capabilities:
        """What this target can do."""
        ...

    @property
    def memory(self) -> Mapping[str, Memory]:
        """Memories by name, as in ``capabilities.memories``."""
        ...

    async def configure(self, config: NicConfig) -> None:
        """Reset, program, wait until ready. Counters are 0, frames that came out before are gone, faults are off."""
        ...

    async def play(self, stimulus: Batch) -> Outcome:
        """Offer all frames, in order at each edge, none before its time (``time_ns`` counts from the play's start).

        Returns once each has ended. `Stuck`: the watchdog, which counts simulated cycles, ended it. `ProtocolError`.
        """
        ...

    async def send(self, frame: Frame) -> None:
        """Offer one frame; returns when its last beat was taken."""
        ...

    async def receive(self, port: int, edge: Edge, timeout_ns: int) -> Frame:
        """Oldest frame of a `send` that came out at ``edge`` and was not received yet. `ReceiveTimeout`: none came."""
        ...

    async def read(self, address: int) -> int:
        """A 32-bit register. `UnmappedAddress`: there is none."""
        ...

    async def write(self, address: int, value: int) -> None:
        """Write a 32-bit register. `UnmappedAddress`: there is none."""
        ...

    async def sleep(self, ns: int) -> None:
        """Let the device's time go on by at least ``ns``."""
        ...

    def now(self) -> int:
        """The device's time in ns; never goes back."""
        ...

    async def gather(self, *coroutines: Awaitable[Any]) -> list[Any]:
        """Run things at once; results in the order of the arguments; the first error ends the others and is raised."""
        ...

    async def inject(self, fault: Fault) -> None:
        """Disturb the device (see `Fault`). `Unsupported`: not among ``capabilities.faults``."""
        ...


@dataclass
class Armed:
    """Faults that wait for their frame: shared bookkeeping of the targets."""

    profile: dict[Edge, str] = field(default_factory=lambda: dict.fromkeys(Edge, "none"))
    reset: Fault | None = None
    bad: dict[Edge, Fault] = field(default_factory=dict)

    def take(self, fault: Fault) -> None:
        """Arm ``fault``; a later one of the same kind and edge replaces an earlier one."""
        if fault.kind == FaultKind.RESET:
            self.reset = fault
        elif fault.kind == FaultKind.BACK_PRESSURE:
            self.profile[fault.edge] = fault.profile
        else:
            self.bad[fault.edge] = fault

    def faults(self) -> list[Fault]:
        """What is armed; to `take` them in turn arms the same."""
        pressure = [Fault.back_pressure(edge, profile) for edge, profile in self.profile.items()]
        return [*pressure, *self.bad.values(), *([self.reset] if self.reset is not None else [])]

    def mark(self, batch: Batch) -> Batch:
        """``batch`` with the armed bad marks on the first frame of each edge; those marks are spent."""
        hits = {edge: index for edge in self.bad if (index := first_of(batch, edge, 0)) is not None}
        if not hits:
            return batch
        bad = batch.bad.copy()
        for edge, index in hits.items():
            bad[index] = bad_mark(self.bad.pop(edge).reason)
        return replace(batch, bad=bad)


def first_of(batch: Batch, edge: Edge, skip: int) -> int | None:
    """Index of frame number ``skip`` (from 0) of those that enter at ``edge``; None: there are not as many."""
    hits = (batch.edge == int(edge)).nonzero()[0]
    return int(hits[skip]) if skip < len(hits) else None


def edge_name(edge: Edge) -> str:
    """The edge as it is written in messages, options and job files."""
    return Edge(edge).name.lower()
