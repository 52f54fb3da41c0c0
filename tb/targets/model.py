"""``ModelTarget``: the golden model behind the ``Target`` protocol.

It says what should happen, and it tests the tests without RTL. Its time is its own: it moves when something is awaited,
so it needs no event loop (asyncio, cocotb, or a bare ``send(None)`` all do).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from itertools import count

import numpy as np

from models.config import NicConfig
from models.frames import BEAT_BYTES, Batch, Edge, Outcome
from models.nic import CYCLE_NS, NicPortModel
from tb.targets.base import (
    Armed,
    Capabilities,
    Fault,
    FaultKind,
    Frame,
    Memory,
    ReceiveTimeout,
    UnmappedAddress,
    Unsupported,
    first_of,
)
from tb.targets.outcome import join_at_reset
from tb.targets.turns import Turns, Wait

__all__ = ["ModelTarget"]


class ModelTarget(Turns):
    """One port's golden model as a target.

    Frames are isolated: each passes as if it were alone, so back-pressure changes nothing, and no buffer overflows.
    """

    def __init__(self, config: NicConfig | None = None) -> None:
        super().__init__()
        self.capabilities = Capabilities(faults=frozenset(FaultKind), overlapping=False, built_to_order=True)
        self.memory: Mapping[str, Memory] = {}
        self._config = config if config is not None else NicConfig()
        self._clock = self.capabilities.clock_ns
        self._now = 0.0
        self._order = count()
        self._restart()

    def _restart(self) -> None:
        self._model = self.make_model(self._config)
        self._armed = Armed()
        self._coming: list[tuple[float, int, Frame]] = []
        self._out: dict[Edge, deque[Frame]] = {edge: deque() for edge in Edge}
        self._last_out = dict.fromkeys(Edge, -1)

    def make_model(self, config: NicConfig) -> NicPortModel:
        """The model behind this target; a test of the tests puts a wrong one here."""
        return NicPortModel(config)

    # -- the protocol ------------------------------------------------------------------------------------------------

    async def configure(self, config: NicConfig) -> None:
        self._config = config
        self._restart()

    async def play(self, stimulus: Batch) -> Outcome:
        self._check_port(stimulus)
        batch = self._armed.mark(stimulus)
        fault, self._armed.reset = self._armed.reset, None
        cut = None if fault is None else first_of(batch, fault.edge, fault.frame)
        if fault is None or cut is None:
            outcome = self._model.play(batch)
        else:
            outcome = self._play_with_reset(batch, cut, fault.after_beats)
        begin_ns = self.now()
        # The model's times are cycles of its own clock; a copy's is not that of its frame.
        cycle = outcome.frames.time_ns // CYCLE_NS
        time_ns = begin_ns + (cycle * self._clock).astype(np.int64)
        await self._pass(outcome.cycles * self._clock)
        return replace(outcome, begin_ns=begin_ns, frames=replace(outcome.frames, time_ns=time_ns))

    def _play_with_reset(self, batch: Batch, cut: int, after_beats: int) -> Outcome:
        """Frames before the cut pass, the cut one is lost, the rest meets a port fresh from reset."""
        first = self._model.play(batch.select(slice(0, cut)))
        self._model = self.make_model(self._config)
        second = self._model.play(batch.select(slice(cut + 1, None)))
        joined = join_at_reset(batch, cut, min(after_beats, int(batch.beats[cut])), first, second)
        shift = int(joined.cycles) - second.cycles
        moved = second.frames.time_ns + shift * CYCLE_NS
        times = np.concatenate([first.frames.time_ns, moved])
        return replace(joined, now=first.now, frames=replace(joined.frames, time_ns=times))

    def _check_port(self, batch: Batch) -> None:
        for port in set(batch.port.tolist()) - set(self.capabilities.ports):
            raise Unsupported(f"this target has no port {port}")

    async def send(self, frame: Frame) -> None:
        self._check_port(frame.batch())
        if frame.time_ns > self._now:
            await self._pass(frame.time_ns - self._now)
        beats = -(-len(frame.data) // BEAT_BYTES)
        first_in = int(self._now // self._clock)
        outcome = self._model.play(self._armed.mark(frame.batch()))
        for j, data in enumerate(outcome.frames):
            # Frames of a send follow each other, unlike those of a play: the one before may still be leaving.
            edge = Edge(int(outcome.frames.edge[j]))
            alone = int(outcome.frames.time_ns[j]) // CYCLE_NS - int(outcome.first_in[0])
            first_out = max(first_in + alone, self._last_out[edge] + 1)
            self._last_out[edge] = first_out + beats - 1
            came = Frame(
                data=data,
                edge=edge,
                port=frame.port,
                queue=int(outcome.frames.queue[j]),
                time_ns=int(first_out * self._clock),
            )
            heapq.heappush(self._coming, ((first_out + beats) * self._clock, next(self._order), came))
        await self._pass(beats * self._clock)

    async def receive(self, port: int, edge: Edge, timeout_ns: int) -> Frame:
        if port not in self.capabilities.ports:
            raise Unsupported(f"this target has no port {port}")
        await self.wait(Wait(self._now + timeout_ns, lambda: bool(self._out[edge])))
        if not self._out[edge]:
            raise ReceiveTimeout(edge, timeout_ns)
        return self._out[edge].popleft()

    async def read(self, address: int) -> int:
        try:
            return self._model.read(address)
        except LookupError as error:
            raise UnmappedAddress(address) from error

    async def write(self, address: int, value: int) -> None:
        try:
            self._model.write(address, value)
        except LookupError as error:
            raise UnmappedAddress(address) from error

    async def sleep(self, ns: int) -> None:
        if ns < 0:
            raise ValueError(f"sleep: {ns} ns is in the past")
        await self._pass(ns)

    def now(self) -> int:
        return int(self._now)

    async def inject(self, fault: Fault) -> None:
        if fault.kind not in self.capabilities.faults:
            raise Unsupported(f"this target can't inject {fault.kind}")
        self._armed.take(fault)

    # -- time --------------------------------------------------------------------------------------------------------

    def time(self) -> float:
        return self._now

    async def _pass(self, ns: float) -> None:
        await self.wait(Wait(self._now + ns))

    async def advance(self, wait: Wait) -> None:
        """Move time to the end of ``wait`` or to the next frame that comes out, whichever is first."""
        self._now = min([wait.until, *(coming[0] for coming in self._coming[:1])])
        while self._coming and self._coming[0][0] <= self._now:
            _, _, frame = heapq.heappop(self._coming)
            self._out[frame.edge].append(frame)
