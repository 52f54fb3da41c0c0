"""The port behind the harness of ``tb.native``: the same in the simulator (`bfm`) and without one (`native`).

The harness moves frames in C++ and Python wakes once a burst. It matches reported ends and frames out with frames in by
direction and sequence number, checks the protocol of all streams, and holds the wire edge to sending without a gap. A
new harness is bound at every reset, so that a play depends on its seed alone.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.frames import Batch, Edge, Int64, Outcome
from models.meta import Code, Words, field_of
from tb.native import PORT_PATHS
from tb.native.harness import Harness, Library, PathResult, Results, SinkResult, SourceResult
from tb.targets.base import Capabilities, Fault, FaultKind, Frame, ProtocolError, Stuck
from tb.targets.engine import CLOCK_NS, DIRECTIONS, SETTLE_CYCLES, WATCHDOG_CYCLES

__all__ = ["HarnessEngine"]

_NAMES = {Edge.WIRE: "wire", Edge.HOST: "host"}
_POLL = 8


@dataclass
class _Columns:
    """The arrays of an Outcome while they are filled, and the frames out so far: those that one edge gave (their time
    in cycles), their index in the play, their last beats' cycles, and what the harness noted of them."""

    code: Int64
    queue: Int64
    first_in: Int64
    last_in: Int64
    first_out: Int64
    last_out: Int64
    entry: Int64
    out: list[tuple[Batch, Int64, Int64, SinkResult]]

    @classmethod
    def of(cls, n: int) -> _Columns:
        never = [np.full(n, -1, np.int64) for _ in range(5)]
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
    def _port_now(self) -> int:
        """The port's `now` in the cycle that ends with the next edge, in units of 2**-32 ns."""

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
        self._harness.follow_origin()
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
        begin, port_now = self._now(), self._port_now()
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
        return self._outcome(columns, self._now() - begin, begin, port_now, resets)

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
        lanes = {
            edge: _Lane.of(index[edge], results.sources[_NAMES[edge]], results.paths[way])
            for edge, way in DIRECTIONS.items()
        }
        for edge, lane in lanes.items():
            source = results.sources[_NAMES[edge]]
            columns.first_in[lane.frames] = source.first + base
            columns.last_in[lane.frames] = np.where(source.last < 0, -1, source.last + base)
            columns.entry[lane.frames[: len(lane.entry)]] = np.where(lane.entry < 0, -1, lane.entry + base)
            columns.code[lane.ended] = lane.code
            columns.queue[lane.ended] = lane.queue
        for edge in Edge:
            sink = results.sinks[_NAMES[edge]]
            origin, copy = _origin(sink, edge, lanes)
            known = (origin >= 0) & ~copy
            out = origin if known.all() else origin[known]
            self._settle(batch, out, sink.meta[known], edge, columns)
            columns.first_out[out] = sink.valid[known] + base
            columns.last_out[out] = sink.last[known] + base
            user = sink.user & 0xFF
            came = Batch.of_arrays(
                sink.data,
                np.diff(sink.offset) if len(sink) else np.zeros(0, np.int64),
                edge=edge,
                time_ns=sink.valid + base,
                queue=field_of(sink.meta, "queue").astype(np.uint8) if edge == Edge.HOST else 0,
                bad=np.where(user & 1, user, 0),
            )
            columns.out.append((came, origin, sink.last + base, sink))
        for lane in lanes.values():
            # Reported delivered and still behind the exit when a reset came.
            lost = lane.ended[(lane.code == Code.DELIVERED) & (columns.first_out[lane.ended] < 0)]
            columns.code[lost], columns.queue[lost] = Code.RESET, 0
        return {edge: len(lane.frames) for edge, lane in lanes.items()}

    @staticmethod
    def _settle(batch: Batch, out: Int64, meta: Words, edge: Edge, columns: _Columns) -> None:
        """Frames that came out before a reset while the report of it was lost: delivered. Their queue stands beside
        them at the host; at the wire the one they were sent with is taken for right."""
        lost = columns.code[out] == Code.RESET
        if lost.any():
            chosen = out[lost]
            sent = np.where(batch.edge[chosen] == Edge.HOST, batch.queue[chosen], 0)
            queue = field_of(meta[lost], "queue") if edge == Edge.HOST else sent
            columns.code[chosen], columns.queue[chosen] = Code.DELIVERED, queue

    def _outcome(self, columns: _Columns, cycles: int, begin: int, now: int, resets: list[int]) -> Outcome:
        # In order per edge: the parts of one edge one after the other.
        parts = sorted(columns.out, key=lambda part: int(part[0].edge[0]) if len(part[0]) else 0)
        frames = Batch.concat([part for part, *_ in parts])
        begun = frames.time_ns
        object.__setattr__(frames, "time_ns", ((frames.time_ns + begin) * CLOCK_NS).astype(np.int64))
        return Outcome(
            frames=frames,
            source=np.concatenate([origin for _, origin, _, _ in parts]),
            code=columns.code.astype(np.uint8),
            queue=columns.queue.astype(np.uint8),
            latency_cycles=np.where(columns.first_out >= 0, columns.first_out - columns.first_in, -1),
            first_in=columns.first_in,
            last_in=columns.last_in,
            first_out=columns.first_out,
            last_out=columns.last_out,
            cycles=cycles,
            begin_ns=int(begin * CLOCK_NS),
            now=now,
            resets=np.array(resets, np.int64),
            user=np.concatenate([sink.user for *_, sink in parts]).astype(np.uint16),
            meta=np.concatenate([sink.meta * np.uint32(_to_host(part)) for part, _, _, sink in parts]),
            begun=begun,
            ended=np.concatenate([ended for _, _, ended, _ in parts]),
            entry=columns.entry if self.capabilities.xgmii else np.zeros(0, np.int64),
        )


def _to_host(part: Batch) -> bool:
    """Whether these frames, all of one edge, went to the host."""
    return bool(len(part)) and part.edge[0] == Edge.HOST


@dataclass(frozen=True)
class _Lane:
    """The frames of one direction that began: ``frames``, their index in the play; ``entry``, when each entered.

    ended, number, code, queue: of each reported end, in order: the frame's index, its number, what was said.
    """

    frames: Int64
    entry: Int64
    ended: Int64
    number: Int64
    code: Words
    queue: Words

    @classmethod
    def of(cls, index: Int64, source: SourceResult, path: PathResult) -> _Lane:
        frames = index[: len(source.first)]
        known = path.frame >= source.first_frame
        if known.all():
            local, number, code, queue = path.frame - source.first_frame, path.seq, path.code, path.queue
        else:
            local = path.frame[known] - source.first_frame
            number, code, queue = path.seq[known], path.code[known], path.queue[known]
        return cls(frames, path.entry_cycle, frames[local], number.astype(np.int64), code, queue)

    def find(self, seq: Int64, cycle: Int64) -> Int64:
        """Which frames have these numbers: of those that do, the one that entered last before ``cycle``; -1: none."""
        if not len(self.ended) or not len(seq):
            return np.full(len(seq), -1, np.int64)
        numbers = np.full(len(self.frames), -1, np.int64)
        numbers[np.searchsorted(self.frames, self.ended)] = self.number
        entered = np.flatnonzero((self.entry[: len(numbers)] >= 0) & (numbers >= 0))
        # Frames enter in order: which of them came before a cycle says the same as the cycle, which has no bound.
        before = np.searchsorted(self.entry[entered], cycle, "right")
        step = len(entered) + 1
        keys = numbers[entered] * step + np.arange(1, step)
        order = np.argsort(keys, kind="stable")
        at = np.searchsorted(keys[order], seq * step + before, "right") - 1
        found = entered[order[np.maximum(at, 0)]]
        same = (at >= 0) & (numbers[found] == seq)
        return np.where(same, self.frames[found], -1)


def _origin(sink: SinkResult, edge: Edge, lanes: Mapping[Edge, _Lane]) -> tuple[Int64, NDArray[np.bool_]]:
    """Which frame each frame out at ``edge`` is or is a copy of, -1: of none; and whether it is a copy.

    Where nothing but delivered frames of the opposite edge came, in the order of their reports, that order tells. Else
    the direction and the number that stand beside each frame do.
    """
    seq, direction = field_of(sink.meta, "seq").astype(np.int64), field_of(sink.meta, "direction")
    copy = field_of(sink.meta, "acl_copy") != 0
    usual, own = lanes[edge.opposite], edge.opposite == Edge.HOST
    delivered = usual.code == Code.DELIVERED
    if delivered.all():
        number, frame = usual.number, usual.ended
    else:
        number, frame = usual.number[delivered], usual.ended[delivered]
    if np.array_equal(number, seq) and not copy.any() and (direction == own).all():
        return frame, copy
    origin = np.full(len(sink), -1, np.int64)
    for way, lane in enumerate((lanes[Edge.WIRE], lanes[Edge.HOST])):
        ours = np.flatnonzero(direction == way)
        origin[ours] = lane.find(seq[ours], sink.valid[ours])
    return origin, copy
