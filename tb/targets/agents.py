"""Engine ``agents``: the stream agents of ``tb.lib`` drive ``nic_port`` beat by beat. For any simulator.

A frame has the sequence number that the port gives it: the count of its direction since reset. By that number the
reported end of a frame is matched with the frame that was offered, and so is what comes out, at whatever edge: the
metadata at the host and the pins beside the wire say direction and number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from random import Random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.simtime import get_sim_time
from cocotb.task import Task
from cocotb.triggers import Event, First, ReadWrite, RisingEdge, Timer
from cocotb.types import Logic

from models.frames import Batch, Edge, Outcome
from models.meta import Code, pack, unpack
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import cycle, high_within, next_valid, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.targets.axil import AxilMaster
from tb.targets.base import Capabilities, Fault, FaultKind, Frame, ProtocolError, Stuck
from tb.targets.dut import WireSink, port_now
from tb.targets.engine import (
    CLOCK_NS,
    DIRECTIONS,
    SETTLE_CYCLES,
    WATCHDOG_CYCLES,
    CameOut,
    Fate,
    Played,
    cycles_of,
    make_outcome,
    origin_of,
)

__all__ = ["AgentsEngine"]

_ONE = Logic("1")
_AHEAD = 64
"""Frames that are queued at a source beyond the one under way."""


@dataclass
class _Token:
    """A frame between its offer and its end."""

    index: int
    frame: AxisFrame
    fate: Fate = field(default_factory=Fate)
    lone: bool = False
    came: CameOut | None = None

    @property
    def closed(self) -> bool:
        """Its end was reported and, if it was delivered, it came out."""
        return self.fate.code != 0 and (self.came is not None or self.fate.code != Code.DELIVERED)


class _Way:
    """One direction: the source of its frames, the sink at the opposite edge, the frames under way."""

    def __init__(self, edge: Edge, source: AxisSource, sink: AxisSink) -> None:
        self.edge, self.source, self.sink = edge, source, sink
        self.name = DIRECTIONS[edge]
        self.clear()

    def clear(self) -> None:
        """As after reset: sequence numbers from 0, nothing under way."""
        self.next = 0
        self.open: dict[int, _Token] = {}
        self.newest: dict[int, _Token] = {}  # by number, whether it has ended or not
        self.strays = 0  # frames that came out at this sink, and that nobody sent


class AgentsEngine:
    """Drives ``dut`` (the top is ``nic_port``). ``undefined``: drive X on what the contract leaves undefined."""

    def __init__(self, dut: HierarchyObject, seed: int, *, undefined: bool = False) -> None:
        self.capabilities = Capabilities(faults=frozenset(FaultKind), frames=64)
        self.dut, self._seed = dut, seed
        self._undefined = undefined
        self.out: dict[Edge, deque[Frame]] = {edge: deque() for edge in Edge}
        self._moved = Event()
        self._played: Played | None = None
        self._begin = self._end = self.begin_ns = 0
        self._alone = False
        self._waiting: set[int] = set()
        self._complaints: list[str] = []

    async def start(self) -> None:
        """Start the clock and the agents; the port is left in reset."""
        dut, clk = self.dut, self.dut.clk
        dut.rst.value = 1
        for name in ("time_advance", "time_target", "time_target_fraction"):
            getattr(dut, name).value = 0
        self._idle_memory()
        start_clock(clk)
        self.axil = AxilMaster(dut, "s_axil", clk)
        self.ways = {}
        for edge, inlet, outlet in (
            (Edge.WIRE, "s_axis_wire", "m_axis_host"),
            (Edge.HOST, "s_axis_host", "m_axis_wire"),
        ):
            source = AxisSource(dut, inlet, clk, rng=Random(f"{self._seed} {inlet}"), undefined=self._undefined)
            sink = (WireSink if edge == Edge.HOST else AxisSink)(dut, outlet, clk)
            way = _Way(edge, source, sink)
            sink.add_callback(lambda frame, way=way: self._came(way, frame))
            cocotb.start_soon(self._dispositions(way))
            self.ways[edge] = way

    def _idle_memory(self) -> None:
        """Nobody serves the memory port: its inputs rest at 0."""
        names = ("mem_req_ready", "m_axis_mem_tready", "mem_done_valid", "mem_done_id", "mem_done_code")
        for name in (*names, *(f"s_axis_mem_{signal}" for signal in ("tdata", "tkeep", "tvalid", "tlast"))):
            getattr(self.dut, name).value = 0

    async def reset(self) -> None:
        """Reset the port, forget all frames, wait for ready. `Stuck`: it doesn't become ready."""
        dut, clk = self.dut, self.dut.clk
        dut.rst.value = 1
        self._complaints.clear()
        for way in self.ways.values():
            way.source.clear()
            way.sink.clear()
            way.sink.pause = None
            way.clear()
            self.out[way.edge.opposite].clear()
        await wait_cycles(clk, 4)
        dut.rst.value = 0
        if not await high_within(clk, dut.ready, WATCHDOG_CYCLES):
            raise Stuck("ready", WATCHDOG_CYCLES, "it stays low after reset")

    async def read(self, address: int) -> int:
        return await self.axil.read(address)

    async def write(self, address: int, value: int) -> None:
        await self.axil.write(address, value)

    # -- frames out and their ends -----------------------------------------------------------------------------------

    def _came(self, way: _Way, frame: AxisFrame) -> None:
        """A frame came out at the sink of ``way``."""
        edge, number, copy = origin_of(frame.meta)
        token = self.ways[edge].newest.get(number)
        # What comes behind the end of its play, or a second time, nobody sent.
        if token is None or (token.came is not None and not copy) or (self._played is None and not token.lone):
            way.strays += 1
            return
        cycles = (frame.valid_cycle, frame.first_cycle, frame.last_cycle)
        came = CameOut(way.edge.opposite, token.index, frame.data, frame.user, frame.meta, *cycles, copy)
        if not copy:
            token.came = came
        if token.lone:
            self.out[came.edge].append(_lone(came))
        elif self._played is not None:
            self._played.out.append(self._relative(came))
        self._close(token)

    async def _dispositions(self, way: _Way) -> None:
        """Take every reported end of a frame; costs nothing in cycles without one."""
        dut = self.dut
        valid, seq, code, queue = (
            getattr(dut, f"{way.name}_disp_{name}") for name in ("valid", "seq", "code", "queue")
        )
        while True:
            await next_valid(dut.clk, dut.rst, valid)
            values = [str(signal.value) for signal in (seq, code, queue)]
            if any(value.strip("01") for value in values):
                self._complain(way, f"seq, code, queue are {', '.join(values)}")
                continue
            number, end, where = (int(value, 2) for value in values)
            token = way.open.pop(number, None)
            if token is None:
                self._complain(way, f"frame {number} ended with code {end}, but no such frame is in the port")
                continue
            token.fate.code, token.fate.queue = end, where
            self._close(token)

    def _complain(self, way: _Way, what: str) -> None:
        """Note what a report broke; the play ends with it."""
        self._complaints.append(f"cycle {cycle(self.dut.clk) - self._begin}: {way.name}_disp: {what}")
        self._moved.set()

    def _relative(self, came: CameOut) -> CameOut:
        came.first_out -= self._begin
        came.first_taken -= self._begin
        came.last_out -= self._begin
        return came

    def _close(self, token: _Token) -> None:
        """Its end was reported, or it came out: where that was the last thing to wait for, it waits no more."""
        if token.closed and not token.lone:
            self._waiting.discard(token.index)
        self._moved.set()

    # -- offering ----------------------------------------------------------------------------------------------------

    def _offer(self, way: _Way, token: _Token) -> None:
        number = way.next & 0xFFFF
        assert number not in way.open, f"{way.name}: 65536 frames are under way"
        way.next += 1
        way.open[number] = way.newest[number] = token
        way.source.append(token.frame)

    async def send(self, edge: Edge, data: bytes, queue: int, bad: int) -> None:
        token = _Token(-1, _axis_frame(edge, data, queue, bad), lone=True)
        way = self.ways[edge]
        self._alone = False
        self._offer(way, token)
        clock = RisingEdge(self.dut.clk)
        waited = 0
        while token.frame.last_cycle < 0:
            await clock
            waited += 1
            if waited > WATCHDOG_CYCLES:
                raise Stuck(f"s_axis_{edge.name.lower()}", waited, "a frame that was sent is not taken")

    async def receive(self, edge: Edge, timeout_ns: int) -> Frame | None:
        deadline = get_sim_time("ns") + timeout_ns
        while not self.out[edge]:
            left = deadline - get_sim_time("ns")
            if left <= 0:
                return None
            self._moved.clear()
            await First(self._moved.wait(), Timer(max(left, 0.001), "ns", round_mode="ceil"))
        return self.out[edge].popleft()

    async def _feed(self, way: _Way, tokens: list[_Token], times: list[int]) -> None:
        """Queue frames at the source, each not before its cycle."""
        clk = self.dut.clk
        for token, time in zip(tokens, times, strict=True):
            wait = self._begin + time - cycle(clk)
            if time and wait > 0:
                await Timer(int(wait * CLOCK_NS * 1000), "ps")
            while way.source.pending > _AHEAD:
                self._moved.clear()
                await First(self._moved.wait(), Timer(int(64 * CLOCK_NS), "ns"))
            self._offer(way, token)

    async def _pause(self, way: _Way, profile: str) -> None:
        """Put ``profile`` on a sink; "stalled" ends by itself."""
        if profile != "stalled":
            rng = Random(f"{self._seed} {profile} {way.name}")
            way.sink.pause = None if profile == "none" else PAUSES[profile](rng)
            return
        way.sink.pause = iter(lambda: False, True)
        await wait_cycles(self.dut.clk, self.capabilities.stall_cycles)
        way.sink.pause = None

    async def play(
        self, batch: Batch, profiles: Mapping[Edge, str], cut: Fault | None, again: Callable[[], Awaitable[None]]
    ) -> Outcome:
        clk = self.dut.clk
        await RisingEdge(clk)
        self.begin_ns = int(get_sim_time("ns"))
        self._begin, now = cycle(clk), port_now(self.dut)
        frames = list(batch)
        tokens = [
            _Token(i, _axis_frame(Edge(int(batch.edge[i])), frames[i], int(batch.queue[i]), int(batch.bad[i])))
            for i in range(len(batch))
        ]
        self._played = Played([token.fate for token in tokens], now=now)
        left = {edge: [token for token in tokens if batch.edge[token.index] == edge] for edge in Edge}
        times = [cycles_of(int(time)) for time in batch.time_ns]
        try:
            if cut is not None and cut.frame < len(left[cut.edge]):
                await self._until_cut(left, times, profiles, cut)
                left = await self._cut(left)
                await again()
            await self._until_closed(left, times, profiles)
        finally:
            for way in self.ways.values():
                way.sink.pause = None
        played, self._played = self._played, None
        self._end, self._alone = cycle(clk), True
        played.cycles = self._end - self._begin
        for token in tokens:
            for name, at in (("first_in", token.frame.first_cycle), ("last_in", token.frame.last_cycle)):
                setattr(token.fate, name, at - self._begin if at >= 0 else -1)
        return make_outcome(batch, played, self.begin_ns)

    def _begin_feeding(
        self, left: Mapping[Edge, list[_Token]], times: list[int], profiles: Mapping[Edge, str]
    ) -> list[Task[None]]:
        tasks = []
        for edge, way in self.ways.items():
            profile = profiles[edge.opposite]
            tasks.append(cocotb.start_soon(self._pause(way, profile)))
            tasks.append(cocotb.start_soon(self._feed(way, left[edge], [times[t.index] for t in left[edge]])))
        return tasks

    async def _until_closed(
        self, left: Mapping[Edge, list[_Token]], times: list[int], profiles: Mapping[Edge, str]
    ) -> None:
        """Offer what is left; return once each frame has ended and is in whole. `Stuck`: nothing moved for too long."""
        self._waiting = {token.index for tokens in left.values() for token in tokens}
        latest = max([times[index] for index in self._waiting], default=0)
        tasks = self._begin_feeding(left, times, profiles)
        edge = RisingEdge(self.dut.clk)
        before, quiet = -1, 0
        while self._waiting and not self._complaints:
            self._moved.clear()
            await First(self._moved.wait(), Timer(int(500 * CLOCK_NS), "ns"))
            moved = len(self._waiting) + sum(way.next for way in self.ways.values())
            idle_by_plan = cycle(self.dut.clk) < self._begin + latest
            quiet = 0 if moved != before or idle_by_plan else quiet + 500
            before = moved
            if quiet > WATCHDOG_CYCLES:
                for task in tasks:
                    task.cancel()
                stream, detail = self._what_is_stuck()
                raise Stuck(stream, quiet, detail, min(self._waiting))
        # A frame that is dropped early has ended before its last beat is in; only the last of an edge can be so late.
        tails = [(way, left[way.edge][-1]) for way in self.ways.values() if left[way.edge]]
        for waited in range(WATCHDOG_CYCLES + 1):
            late = [(way, token) for way, token in tails if token.frame.last_cycle < 0]
            if not late or self._complaints:
                break
            if waited == WATCHDOG_CYCLES:
                way, token = late[0]
                raise Stuck(f"s_axis_{way.edge.name.lower()}", waited, "a frame has ended, not its beats", token.index)
            await edge
        await self._until_idle()
        for task in tasks:
            task.cancel()
        await edge
        self._check_complaints()

    async def _until_idle(self) -> None:
        """Copies, whose end nobody reports, are out once the port is idle. `Stuck`: it doesn't become idle."""
        assert self._played is not None
        edge, idle = RisingEdge(self.dut.clk), self.dut.idle
        before: tuple[int, list[bool]] | None = None
        quiet = 0
        while idle.value != _ONE and not self._complaints:
            moved = len(self._played.out), [way.sink.partial for way in self.ways.values()]
            quiet = 0 if moved != before else quiet + 1
            before = moved
            if quiet > WATCHDOG_CYCLES:
                raise Stuck("idle", quiet, "every frame has its end, and the port does not become idle")
            await edge

    def _check_complaints(self) -> None:
        if self._complaints:
            text = "\n".join(self._complaints)
            self._complaints.clear()
            raise ProtocolError(text)

    async def finish(self) -> None:
        left = self._end + SETTLE_CYCLES - cycle(self.dut.clk)
        if left > 0:
            await wait_cycles(self.dut.clk, left)
        self._check_complaints()
        # Frames of a send that was begun since are theirs.
        came = [f"m_axis_{way.edge.opposite.name.lower()}" for way in self.ways.values() if way.strays]
        if self._alone and came:
            raise ProtocolError(
                f"after the end of every frame of the play {' and '.join(came)} gave more frames that nobody sent"
            )

    def _what_is_stuck(self) -> tuple[str, str]:
        """The stream that doesn't move, and what is known of it."""
        for edge, way in self.ways.items():
            begun = [token for token in way.open.values() if token.frame.first_cycle >= 0]
            if way.source.pending and any(
                t.frame.valid_cycle >= 0 and t.frame.last_cycle < 0 for t in way.open.values()
            ):
                return f"s_axis_{edge.name.lower()}", f"a beat waits for tready, {way.source.pending} frames behind it"
            outlet = f"m_axis_{edge.opposite.name.lower()}"
            if (
                getattr(self.dut, f"{outlet}_tvalid").value == _ONE
                and getattr(self.dut, f"{outlet}_tready").value != _ONE
            ):
                return outlet, "a beat waits for tready, which the sink keeps at 0"
            silent = [token for token in way.newest.values() if token.fate.code == Code.DELIVERED and not token.closed]
            if silent:
                return outlet, f"{len(silent)} frames were reported delivered and did not come out"
            quiet = [token for token in begun if token.came is not None]
            if quiet:
                return f"{way.name}_disp", f"{len(quiet)} frames came out and were never reported delivered"
            if begun:
                numbers = sorted(token.index for token in begun)
                return f"{way.name}_disp", f"the end of frames {numbers[:5]} ({len(numbers)} in all) was never reported"
        return "unknown", "every stream is empty"

    # -- reset in mid-frame ------------------------------------------------------------------------------------------

    async def _until_cut(
        self, left: Mapping[Edge, list[_Token]], times: list[int], profiles: Mapping[Edge, str], cut: Fault
    ) -> None:
        """Play until the fault's beat was taken, then raise reset."""
        self._waiting = set()
        tasks = self._begin_feeding(left, times, profiles)
        stream, edge = f"s_axis_{cut.edge.name.lower()}", RisingEdge(self.dut.clk)
        valid, ready, last = (getattr(self.dut, f"{stream}_{name}") for name in ("tvalid", "tready", "tlast"))
        beats = min(cut.after_beats, left[cut.edge][cut.frame].frame.beats())
        passed = taken = quiet = 0
        while taken < beats:
            await edge
            quiet += 1
            if valid.value == _ONE and ready.value == _ONE:
                quiet = 0
                if passed == cut.frame:
                    taken += 1
                passed += int(last.value == _ONE)
            if quiet > WATCHDOG_CYCLES:
                raise Stuck(stream, quiet, "no beat of the frame that a reset is to cut")
        # The source has to note that beat too, and may run later in this time step.
        await ReadWrite()
        self.dut.rst.value = 1
        for task in tasks:
            task.cancel()

    async def _cut(self, left: Mapping[Edge, list[_Token]]) -> dict[Edge, list[_Token]]:
        """Reset; what had begun and not ended gets its code. Returns what hadn't begun, as new frames."""
        assert self._played is not None
        self._played.resets.append(cycle(self.dut.clk) + 1 - self._begin)
        rest: dict[Edge, list[_Token]] = {}
        for edge in self.ways:
            begun = [token for token in left[edge] if token.frame.first_cycle >= 0]
            for token in begun:
                if not token.closed:
                    _end_at_reset(token)
            rest[edge] = left[edge][len(begun) :]
            for token in rest[edge]:
                old = token.frame
                token.frame = AxisFrame(old.data, user=old.user, meta=old.meta)
        await self.reset()
        return rest


def _end_at_reset(token: _Token) -> None:
    """The end of a frame that a reset met: delivered where it came out whole and the report of that was lost."""
    if token.came is None:
        token.fate.code, token.fate.queue = Code.RESET, 0
        return
    beside = token.came.meta if token.came.edge == Edge.HOST else token.frame.meta
    token.fate.code, token.fate.queue = Code.DELIVERED, unpack(beside)["queue"]


def _lone(came: CameOut) -> Frame:
    """A frame of a send, as it is received."""
    queue = unpack(came.meta)["queue"] if came.edge == Edge.HOST else 0
    return Frame(came.data, came.edge, queue=queue, time_ns=int(came.first_out * CLOCK_NS), bad=came.user & 0xFF)


def _axis_frame(edge: Edge, data: bytes, queue: int, bad: int) -> AxisFrame:
    return AxisFrame(data, user=bad, meta=pack({"queue": queue}) if edge == Edge.HOST else 0)
