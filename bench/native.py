"""The native harness on the reference design and on nic_port: windows of frames in, windows out, as a replay does it.

The check of a window is that of a replay. What the reference design makes of frames is not what the port makes of them,
so there the same windows of the same frames are checked by an outcome that the golden model played beforehand.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import traffic
from bench.designs import REFERENCE_NATIVE
from bench.figures import Timed
from bench.traffic import Segment
from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.nic import NicPortModel
from tb.build import SimulationFailed, build_native
from tb.native.device import Device, Event, load
from tb.native.harness import Harness, SinkResult
from tb.replay.window import WINDOW_FRAMES
from tb.targets.native import SLICE_CYCLES, NativeTarget
from tb.targets.outcome import compare

__all__ = ["Port", "Reference"]

CONFIG = NicConfig()
_RESET_CYCLES = 8


def windows(segment: Segment) -> Iterator[Batch]:
    """The frames as they enter at the wire, some thousands at a time."""
    data, offset = segment
    for first in range(0, len(offset) - 1, WINDOW_FRAMES):
        part = offset[first : first + WINDOW_FRAMES + 1]
        yield Batch.of_arrays(data[part[0] : part[-1]], np.diff(part), edge=Edge.WIRE)


def _check(batch: Batch, outcome: Outcome, before: dict[str, int]) -> None:
    found = compare(CONFIG, batch, outcome, before)
    if found:
        raise SimulationFailed(f"nic_port differs from its model: {found[0]}")


def _timed(
    segments: list[Segment], now: Callable[[], int], prepare: Callable[[list[Batch]], Callable[[], None]]
) -> Iterator[Timed]:
    """Times what ``prepare`` gives for the windows of each segment; ``now``: cycles of the device."""
    for segment in segments:
        play = prepare(list(windows(segment)))
        begin, start = now(), time.process_time()
        play()
        cpu_s = time.process_time() - start
        yield Timed(len(segment[1]) - 1, now() - begin, cpu_s)


def _digest(came: Iterable[tuple[NDArray[np.uint8], NDArray[Any]]]) -> str:
    """Of the bytes of frames and tuser of their last beats."""
    digest = hashlib.sha256()
    for data, user in came:
        digest.update(data.tobytes() + user.astype("<u2").tobytes())
    return digest.hexdigest()


class Reference:
    """The reference design in one library with the harness. Builds it: BuildError, ToolError."""

    def __init__(self) -> None:
        self._library = load(build_native(REFERENCE_NATIVE))

    def run(self, cycles: int, *, checked: bool) -> tuple[str, Iterator[Timed]]:
        """One repetition, from reset, since the design learns from what it sees: digest, and what is timed of each
        size. SimulationFailed: frames were lost or a rule of the streams broken."""
        device = Device(self._library, seed=1)
        harness = Harness(["in"], ["out"], {"reference": ("in", "out", False)}, lib=self._library)
        device.bind(harness)
        device.run(_RESET_CYCLES)
        device.reset(False)
        device.run(_RESET_CYCLES)

        def play(batch: Batch) -> SinkResult:
            harness.push("in", batch.data, batch.offset)
            while not device.run(SLICE_CYCLES, Event.DONE) & Event.DONE:
                pass
            harness.check()
            came = harness.pop().sinks["out"]
            if len(came) != len(batch):
                raise SimulationFailed(f"{len(batch)} frames went in, {len(came)} came out")
            return came

        def prepare(parts: list[Batch]) -> Callable[[], None]:
            outcomes = [NicPortModel(CONFIG).play(batch) for batch in parts] if checked else [None] * len(parts)

            def run() -> None:
                for batch, outcome in zip(parts, outcomes, strict=True):
                    play(batch)
                    if outcome is not None:
                        _check(batch, outcome, {})

            return run

        first, *segments = traffic.segments(cycles)
        came = [play(batch) for batch in windows(first)]
        digest = _digest((part.data, part.user) for part in came)
        return digest, _timed(segments, lambda: device.cycles, prepare)


class Port:
    """The target ``native``, frames received. Builds it: BuildError, ToolError."""

    def __init__(self) -> None:
        self._target = NativeTarget()
        self._runner = asyncio.Runner()
        self._runner.run(self._target.start())
        self._counters: dict[str, int] = {}

    def run(self, cycles: int, *, checked: bool) -> tuple[str, Iterator[Timed]]:
        """One repetition: digest, and what is timed of each size. SimulationFailed: the port differs from its model."""

        def play(batch: Batch, checked: bool) -> Outcome:
            outcome = self._runner.run(self._target.play(batch))
            if checked:
                _check(batch, outcome, self._counters)
            self._counters = outcome.counters
            return outcome

        def prepare(parts: list[Batch]) -> Callable[[], None]:
            def run() -> None:
                for batch in parts:
                    play(batch, checked)

            return run

        self._runner.run(self._target.configure(CONFIG))
        self._counters = {}
        first, *segments = traffic.segments(cycles)
        came = [play(batch, True) for batch in windows(first)]
        digest = _digest((part.frames.data, part.user) for part in came)
        return digest, _timed(segments, lambda: self._target.engine.device.cycles, prepare)
