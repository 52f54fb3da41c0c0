"""The port behind the harness of ``tb.native``: the same in the simulator (`bfm`) and without one (`native`).

The harness moves frames in C++ and Python wakes once a burst. It matches reported ends with frames by sequence number,
checks the protocol of all streams, and holds the wire edge to sending without a gap. A new harness is bound at every
reset, so that a play depends on its seed alone.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import numpy as np

from models.frames import Batch, Edge, Int64, Outcome
from models.meta import Code, Words, field_of
from tb.native import PORT_PATHS
from tb.native.harness import Harness, Library, Results, SinkResult
from tb.targets.base import Capabilities, Fault, FaultKind, Frame, ProtocolError, Stuck
from tb.targets.engine import CLOCK_NS, DIRECTIONS, SETTLE_CYCLES, WATCHDOG_CYCLES, CameOut, Fate, Gone, settle

__all__ = ["HarnessEngine"]

_NAMES = {Edge.WIRE: "wire", Edge.HOST: "host"}
_POLL = 8


@dataclass
class _Columns:
    """The arrays of an Outcome while they are filled, and the frames out so far: those that one edge gave, their index
    in the play, and what the harness noted of them."""

    code: Int64
    queue: Int64
    first_in: Int64
    last_in: Int64
    first_out: Int64
    last_out: Int64
    out: list[tuple[Batch, Int64, SinkResult]]

    @classmethod
    def of(cls, n: int) -> _Columns:
        never = [np.full(n, -1, np.int64) for _ in range(4)]
        return cls(np.zeros(n, np.int64), np.zeros(n, np.int64), *never, [])


def _stuck_stream(text: str) -> str:
    """Name of the port's stream at which the harness's words say that frames stopped."""
    for pattern, name in (
        (r"source (\w+): stuck", "s_axis_{}"),
        (r"sink (\w+): (?:stuck|a beat waits)", "m_axis_{}"),
        (r"path (\w+): (?!0 frames without)\d+ frames without a disposition", "{}_disp"),
    ):
        if found := re.search(pattern, text):
            return name.format(found[1])
    return "m_axis_host or m_axis_wire"


class HarnessEngine(ABC):
    """A port whose streams a harness of ``tb.native`` drives. seed: of the harness. lib: where its C++ is.

    It always stands just before a rising edge: what it asks for is on the port's pins after that edge.
    """

    def __init__(self, seed: int, lib: Library | None = None) -> None:
        self.capabilities = Capabilities(faults=frozenset(FaultKind), frames=4096)
        self.seed, self._lib = seed, lib
        self._end = self.begin_ns = 0
        self._counted: dict[str, int] = {}
        self._alone = False
        self._out: dict[Edge, deque[Frame]] = {edge: deque() for edge in Edge}

    @abstractmethod
    async def start(self) -> None:
        """Start the clock; the port is left in reset."""

    @abstractmethod
    def _attach(self, harness: Harness) -> None:
        """``harness`` takes the port's streams over."""

    @abstractmethod
    def _set_reset(self, level: bool) -> None: ...

    @abstractmethod
    async def _wait(self, cycles: int) -> None:
        """Wait for that many rising edges."""

    @abstractmethod
    async def _until_done(self) -> None:
        """Wait until the harness, which isn't done, is."""

    @abstractmethod
    async def _ready_within(self, cycles: int) -> bool:
        """Wait until the port is ready; False: it isn't after that many cycles."""

    @abstractmethod
    def _now(self) -> int:
        """Cycles of the port's time."""

    @abstractmethod
    async def read(self, address: int) -> int: ...

    @abstractmethod
    async def write(self, address: int, value: int) -> None: ...

    async def reset(self) -> None:
        """Reset the port, forget all frames, wait for ready. `Stuck`: it doesn't become ready."""
        self._set_reset(True)
        await self._wait(4)
        self._bind()
        await self._wait(2)
        self._set_reset(False)
        if not await self._ready_within(WATCHDOG_CYCLES):
            raise Stuck("ready", WATCHDOG_CYCLES, "it stays low after reset")

    def _bind(self) -> None:
        """A new harness takes the streams over."""
        self._harness = Harness(list(_NAMES.values()), list(_NAMES.values()), PORT_PATHS, seed=self.seed, lib=self._lib)
        self._harness.set_watchdog(WATCHDOG_CYCLES)
        self._harness.set_gapless("wire")
        self._attach(self._harness)
        for frames in self._out.values():
            frames.clear()

    # -- single frames -----------------------------------------------------------------------------------------------

    async def send(self, edge: Edge, data: bytes, queue: int, bad: int) -> None:
        batch = Batch.of([data], edge=edge, queue=queue, bad=bad)
        name = _NAMES[edge]
        self._alone = False
        taken = self._harness.counters()[f"{name}_in_frames"]
        self._harness.push_batch(name, batch, host=edge == Edge.HOST)
        for _ in range(WATCHDOG_CYCLES):
            await self._wait(1)
            if self._harness.counters()[f"{name}_in_frames"] > taken:
                return
            self._complain()
        raise Stuck(f"s_axis_{name}", WATCHDOG_CYCLES, "a frame that was sent is not taken")

    async def receive(self, edge: Edge, timeout_ns: int) -> Frame | None:
        deadline = self._now() + timeout_ns / CLOCK_NS
        while True:
            self._fetch()
            if self._out[edge]:
                return self._out[edge].popleft()
            self._complain()
            left = int(deadline - self._now())
            if left <= 0:
                return None
            await self._wait(min(_POLL, left))

    def _fetch(self) -> None:
        """Frames of sends that came out since the last look."""
        base = self._now() - self._harness.cycle
        for name, sink in self._harness.pop().sinks.items():
            edge = Edge[name.upper()]
            queues = (
                field_of(sink.meta, "queue").astype(np.int64) if edge == Edge.HOST else np.zeros(len(sink), np.int64)
            )
            for i in range(len(sink)):
                time = int((base + int(sink.valid[i])) * CLOCK_NS)
                frame = Frame(sink.frame(i), edge, queue=int(queues[i]), time_ns=time, bad=int(sink.user[i]) & 0xFF)
                self._out[edge].append(frame)

    def _complain(self, frame: int | None = None) -> None:
        """`Stuck` when the watchdog fired, `ProtocolError` when the harness found anything else."""
        if not self._harness.error_count:
            return
        text = self._harness.errors.strip()
        fired = self._harness.fired
        self._harness.clear_errors()
        if fired:
            raise Stuck(_stuck_stream(text), WATCHDOG_CYCLES, text, frame)
        raise ProtocolError(text)

    # -- plays -------------------------------------------------------------------------------------------------------

    async def play(
        self, batch: Batch, profiles: Mapping[Edge, str], cut: Fault | None, again: Callable[[], Awaitable[None]]
    ) -> Outcome:
        await self._wait(1)
        while not self._harness.done:
            await self._until_done()
        self._complain()
        self._fetch()
        begin = self._now()
        self.begin_ns = int(begin * CLOCK_NS)
        index = {edge: np.flatnonzero(batch.edge == edge).astype(np.int64) for edge in Edge}
        columns, resets = _Columns.of(len(batch)), []
        if cut is not None and cut.frame < len(index[cut.edge]):
            self._offer(batch, index, profiles, begin)
            await self._until_cut(batch, index[cut.edge], cut)
            self._set_reset(True)
            resets.append(self._now() + 1 - begin)
            base = self._now() - self._harness.cycle - begin
            await self._wait(4)
            begun = self._take(batch, index, self._harness.pop(), base, columns)
            index = {edge: index[edge][begun[edge] :] for edge in Edge}
            await self.reset()
            await again()
        self._offer(batch, index, profiles, begin)
        await (self._wait(1) if self._harness.done else self._until_done())
        base = self._now() - self._harness.cycle - begin
        self._take(batch, index, self._harness.pop(), base, columns)
        without = np.flatnonzero(columns.code == 0)
        self._complain(int(without[0]) if len(without) else None)
        self._end, self._counted, self._alone = self._now(), self._harness.counters(), True
        return self._outcome(columns, self._now() - begin, begin, resets)

    async def finish(self) -> None:
        left = self._end + SETTLE_CYCLES - self._now()
        if left > 0:
            await self._wait(left)
        self._complain()
        # Frames of a send that was begun since are theirs.
        if self._alone and not self._harness.done:
            raise ProtocolError(f"after the end of every frame of the play {self._strays()}")

    def _strays(self) -> str:
        """What came since the end of the play."""
        now = self._harness.counters()
        came = {
            f"m_axis_{name}": [now[f"{name}_out_{u}"] - self._counted[f"{name}_out_{u}"] for u in ("frames", "beats")]
            for name in _NAMES.values()
        }
        said = [
            f"{stream} gave {frames} more frames, {beats} beats" for stream, (frames, beats) in came.items() if beats
        ]
        return f"{' and '.join(said) or 'an end was reported'} that nobody sent"

    def _offer(self, batch: Batch, index: Mapping[Edge, Int64], profiles: Mapping[Edge, str], begin: int) -> None:
        """Hand the frames of ``index`` over, each for its time; put the profiles on the sinks."""
        harness = self._harness
        base = harness.cycle - (self._now() - begin)
        for edge, name in _NAMES.items():
            if profiles[edge] == "stalled":
                harness.set_stall(name, self.capabilities.stall_cycles)
            else:
                harness.set_pause(name, profiles[edge])
            if len(index[edge]):
                harness.push_batch(name, batch.select(index[edge]), host=edge == Edge.HOST, base_cycle=base)

    async def _until_cut(self, batch: Batch, index: Int64, cut: Fault) -> None:
        """Wait until the fault's beat was taken."""
        name = f"{_NAMES[cut.edge]}_in_beats"
        beats = batch.beats[index]
        wanted = int(beats[: cut.frame].sum()) + min(cut.after_beats, int(beats[cut.frame]))
        before = self._harness.counters()[name]
        while (left := before + wanted - self._harness.counters()[name]) > 0:
            # No more than one beat a cycle can pass.
            await self._wait(left)
            self._complain()

    def _take(
        self, batch: Batch, index: Mapping[Edge, Int64], results: Results, base: int, columns: _Columns
    ) -> dict[Edge, int]:
        """Fill in what the harness noted of the frames ``index``; ``base``: play's cycle of the harness's cycle 0.

        Returns how many of them began, by edge.
        """
        begun = {}
        for edge, way in DIRECTIONS.items():
            source, path = results.sources[_NAMES[edge]], results.paths[way]
            sink = results.sinks[_NAMES[edge.opposite]]
            frames = index[edge][: len(source.first)]
            begun[edge] = len(frames)
            columns.first_in[frames] = source.first + base
            columns.last_in[frames] = np.where(source.last < 0, -1, source.last + base)
            known = path.frame >= source.first_frame
            local = path.frame[known] - source.first_frame
            columns.code[frames[local]] = path.code[known]
            columns.queue[frames[local]] = path.queue[known]
            delivered = frames[local[path.code[known] == Code.DELIVERED]]
            origin = np.full(len(sink), -1, np.int64)
            origin[: len(delivered)] = delivered[: len(sink)]
            # Reported delivered and still behind the exit when a reset came.
            columns.code[delivered[len(sink) :]], columns.queue[delivered[len(sink) :]] = Code.RESET, 0
            self._settle(batch, frames, sink.frame, origin, len(delivered), columns)
            if edge == Edge.WIRE:
                origin = _by_number(origin, field_of(sink.meta, "seq").astype(np.int64), frames, path.seq[known], local)
            out = origin >= 0
            columns.first_out[origin[out]] = sink.valid[out] + base
            columns.last_out[origin[out]] = sink.last[out] + base
            user = sink.user & 0xFF
            came = Batch.of_arrays(
                sink.data,
                np.diff(sink.offset) if len(sink) else np.zeros(0, np.int64),
                edge=edge.opposite,
                time_ns=sink.valid + base,
                queue=field_of(sink.meta, "queue").astype(np.uint8) if edge == Edge.WIRE else 0,
                bad=np.where(user & 1, user, 0),
            )
            columns.out.append((came, origin, sink))
        return begun

    @staticmethod
    def _settle(
        batch: Batch, frames: Int64, frame: Callable[[int], bytes], origin: Int64, known: int, columns: _Columns
    ) -> None:
        """Frames that came out before a reset while the report of it was lost; see `engine.settle`."""
        extra = [CameOut(Edge.WIRE, -1, frame(i), 0, 0, -1, -1, -1) for i in range(known, len(origin))]
        if not extra:
            return
        lost = [int(i) for i in frames if columns.code[i] in (Code.NONE, Code.RESET)]
        fates = {i: Fate() for i in lost}
        gone = [Gone(i, batch.frame(i), bool(batch.bad[i] & 1), int(batch.queue[i]), fates[i]) for i in lost]
        settle(extra, gone)
        for i, fate in fates.items():
            columns.code[i], columns.queue[i] = fate.code, fate.queue
        origin[known:] = [came.source for came in extra]

    @staticmethod
    def _outcome(columns: _Columns, cycles: int, begin: int, resets: list[int]) -> Outcome:
        # In order per edge: the parts of one edge one after the other.
        parts = sorted(columns.out, key=lambda part: int(part[0].edge[0]) if len(part[0]) else 0)
        frames = Batch.concat([part for part, _, _ in parts])
        object.__setattr__(frames, "time_ns", ((frames.time_ns + begin) * CLOCK_NS).astype(np.int64))
        return Outcome(
            frames=frames,
            source=np.concatenate([origin for _, origin, _ in parts]),
            code=columns.code.astype(np.uint8),
            queue=columns.queue.astype(np.uint8),
            latency_cycles=np.where(columns.first_out >= 0, columns.first_out - columns.first_in, -1),
            first_in=columns.first_in,
            last_in=columns.last_in,
            first_out=columns.first_out,
            last_out=columns.last_out,
            cycles=cycles,
            begin_ns=int(begin * CLOCK_NS),
            resets=np.array(resets, np.int64),
            user=np.concatenate([sink.user for _, _, sink in parts]).astype(np.uint16),
            meta=np.concatenate([sink.meta * np.uint32(_to_host(part)) for part, _, sink in parts]),
        )


def _to_host(part: Batch) -> bool:
    """Whether these frames, all of one edge, went to the host."""
    return bool(len(part)) and part.edge[0] == Edge.HOST


def _by_number(origin: Int64, seq: Int64, frames: Int64, reported: Words, local: Int64) -> Int64:
    """Received frames carry their number: where that differs from the order of the reports, the number counts."""
    if not len(frames):
        return origin
    numbers = np.full(len(frames), -1, np.int64)
    numbers[local] = reported
    same = (origin < 0) | (numbers[np.searchsorted(frames, np.maximum(origin, 0))] == seq)
    if same.all():
        return origin
    by_number = {int(number): int(frame) for frame, number in zip(frames, numbers, strict=True)}
    wrong = np.flatnonzero(~same)
    origin[wrong] = [by_number.get(int(seq[i]), -1) for i in wrong]
    return origin
