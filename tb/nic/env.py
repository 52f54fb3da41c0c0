"""The pyuvm environment of ``nic_port``.

    AxisAgent x4, AxilAgent, EntryMonitor x2, DispositionMonitor x2
                     |                     (analysis ports)
                     v
                Scoreboard -> PortModel's check        Coverage

The scoreboard knows of frames only what the monitors saw on the streams; a frame that enters gets the next sequence
number of its direction, and by that number its end is found. Verdicts come from `NicPortModel.check`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from random import Random

import cocotb
from cocotb.handle import HierarchyObject, LogicObject
from cocotb.triggers import ReadWrite, RisingEdge
from cocotb.types import Logic
from pyuvm import (
    uvm_agent,
    uvm_analysis_port,
    uvm_component,
    uvm_driver,
    uvm_env,
    uvm_monitor,
    uvm_sequence,
    uvm_sequence_item,
    uvm_sequencer,
    uvm_subscriber,
)

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.meta import Code, pack, unpack
from models.nic import COUNTERS, Mismatch, NicPortModel
from models.port_map import PORT
from tb.lib import cover
from tb.lib.agent import AxisAgent, AxisSequence, Role
from tb.lib.axis import AxisFrame
from tb.lib.clock import cycle, high_within, next_valid, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.protocol import ProtocolChecker
from tb.nic.traffic import MALFORMED, chained_frame
from tb.targets.axil import AxilMaster
from tb.targets.base import UnmappedAddress
from tb.targets.dut import WireSink, port_now
from tb.targets.engine import DIRECTIONS, CameOut, Fate, Played, make_outcome, origin_of
from tb.targets.program import writes

__all__ = ["AxilAgent", "Coverage", "GaplessChecker", "PortEnv", "RegisterItem", "Scoreboard"]

_ONE = Logic("1")
INLETS = {Edge.WIRE: "s_axis_wire", Edge.HOST: "s_axis_host"}
OUTLETS = {Edge.WIRE: "m_axis_host", Edge.HOST: "m_axis_wire"}
"""By the edge at which a direction's frames enter."""

QUIET_CYCLES = 20_000
"""Nothing moves for longer only when something is stuck."""

LENGTHS = ("1..59", "60", "61..63", "64", "65..127", "128..1513", "1514", "1515..9595", "9596", "9597..")


def length_class(length: int) -> str:
    """The bin of a frame's length."""
    for name in LENGTHS:
        low, dots, high = name.partition("..")
        if int(low) <= length <= (int(high) if high else 1 << 20 if dots else int(low)):
            return name
    raise ValueError(f"no class for a length of {length}")


class RegisterItem(uvm_sequence_item):
    """One access; ``value`` is what was read, ``error`` that the port answered DECERR."""

    def __init__(self, address: int, value: int | None = None) -> None:
        super().__init__(f"{'read' if value is None else 'write'}_{address:05x}")
        self.address, self.write, self.value, self.error = address, value is not None, value or 0, False


class _AxilDriver(uvm_driver):
    master: AxilMaster

    async def run_phase(self) -> None:
        while True:
            item = await self.seq_item_port.get_next_item()
            try:
                if item.write:
                    await self.master.write(item.address, item.value)
                else:
                    item.value = await self.master.read(item.address)
            except UnmappedAddress:
                item.error = True
            self.ap.write(item)
            self.seq_item_port.item_done()

    def build_phase(self) -> None:
        self.ap = uvm_analysis_port("ap", self)


class _Access(uvm_sequence):
    def __init__(self, item: RegisterItem) -> None:
        super().__init__("access")
        self.item = item

    async def body(self) -> None:
        await self.start_item(self.item)
        await self.finish_item(self.item)


class AxilAgent(uvm_agent):
    """Registers over AXI4-Lite. ``read`` and ``write`` run a sequence of one item."""

    def __init__(self, name: str, parent: uvm_component, dut: HierarchyObject) -> None:
        super().__init__(name, parent)
        self._dut = dut

    def build_phase(self) -> None:
        super().build_phase()
        self.sequencer = uvm_sequencer("sequencer", self)
        self.driver = _AxilDriver("driver", self)

    def connect_phase(self) -> None:
        self.driver.master = AxilMaster(self._dut, "s_axil", self._dut.clk)
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
        self.ap = self.driver.ap

    async def _do(self, item: RegisterItem) -> int:
        await _Access(item).start(self.sequencer)
        if item.error:
            raise UnmappedAddress(item.address)
        return item.value

    async def read(self, address: int) -> int:
        """A register. `UnmappedAddress`: DECERR."""
        return await self._do(RegisterItem(address))

    async def write(self, address: int, value: int) -> None:
        """Write a register. `UnmappedAddress`: DECERR."""
        await self._do(RegisterItem(address, value))


@dataclass(frozen=True)
class Report:
    """One report of the port: that a frame entered (code 0), or how it ended."""

    edge: Edge
    cycle: int
    seq: int
    code: int = 0
    queue: int = 0


class ReportMonitor(uvm_monitor):
    """Publishes every `Report` of one direction's entries ("entry") or ends ("disp"); idle cycles cost nothing."""

    def __init__(self, name: str, parent: uvm_component, dut: HierarchyObject, edge: Edge, what: str) -> None:
        super().__init__(name, parent)
        self._dut, self._edge, self._prefix = dut, edge, f"{DIRECTIONS[edge]}_{what}"
        self._ends = what == "disp"

    def build_phase(self) -> None:
        self.ap = uvm_analysis_port("ap", self)

    def _signal(self, name: str) -> LogicObject:
        return getattr(self._dut, f"{self._prefix}_{name}")

    async def run_phase(self) -> None:
        dut, valid, seq = self._dut, self._signal("valid"), self._signal("seq")
        while True:
            await next_valid(dut.clk, dut.rst, valid)
            signals = [seq, *([self._signal("code"), self._signal("queue")] if self._ends else [])]
            values = [str(signal.value) for signal in signals]
            if any(value.strip("01") for value in values):
                raise AssertionError(f"{self._prefix}: cycle {cycle(dut.clk)}: X in a report: {', '.join(values)}")
            self.ap.write(Report(self._edge, cycle(dut.clk), *(int(value, 2) for value in values)))


class GaplessChecker:
    """A frame that has begun on the wire goes on: `tvalid` doesn't fall before its last beat was taken."""

    def __init__(self, dut: HierarchyObject, stream: str) -> None:
        self._dut, self._stream = dut, stream
        self.frames = 0
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        clk, rst = self._dut.clk, self._dut.rst
        valid, ready, last = (getattr(self._dut, f"{self._stream}_{name}") for name in ("tvalid", "tready", "tlast"))
        edge, rise = RisingEdge(clk), RisingEdge(valid)
        begun = False
        while True:
            await edge
            if valid.value != _ONE:
                if begun and rst.value != _ONE:
                    raise AssertionError(f"{self._stream}: cycle {cycle(clk)}: starved in mid-frame")
                begun = False
                await rise
                await edge
            if valid.value == _ONE and ready.value == _ONE:
                begun = last.value != _ONE
                self.frames += not begun


@dataclass
class _Token:
    """A frame that entered: its place in the play, what was seen of it."""

    index: int
    number: int
    frame: AxisFrame
    fate: Fate
    came: CameOut | None = None

    @property
    def closed(self) -> bool:
        return self.fate.code != 0 and (self.came is not None or self.fate.code != Code.DELIVERED)


class Scoreboard(uvm_component):
    """Books of both directions: frames in, reported ends, frames out, since `clear`."""

    def build_phase(self) -> None:
        self.errors: list[str] = []
        self._fresh()
        self.clear(0)

    def clear(self, begin: int, now: int = -1) -> None:
        """Close the books; cycles count from ``begin``, in which the port's time is ``now``. Sequence numbers go on."""
        self._begin, self._now = begin, now
        self._base = dict(self._entered)
        self._tokens: list[_Token] = []
        self._edges: list[Edge] = []
        self._resets: list[int] = []
        self._out: list[CameOut] = []

    def _fresh(self) -> None:
        """As after reset: nothing under way, numbers from 0."""
        self._open: dict[Edge, dict[int, _Token]] = {edge: {} for edge in Edge}
        self._next = dict.fromkeys(Edge, 0)
        self._entered = dict.fromkeys(Edge, 0)
        self._newest: dict[Edge, dict[int, _Token]] = {edge: {} for edge in Edge}

    @property
    def frames(self) -> int:
        """Frames that were offered."""
        return len(self._tokens)

    def entered(self, edge: Edge) -> int:
        """Frames whose entry the port has reported since the last reset, less those of closed books."""
        return self._entered[edge] - self._base[edge]

    @property
    def open(self) -> int:
        """Frames without an end, or reported delivered and not seen."""
        return sum(not token.closed for token in self._tokens)

    def missing(self) -> str:
        """The first frames that aren't closed, in words."""
        words = []
        for token, edge in zip(self._tokens, self._edges, strict=True):
            if not token.closed:
                frame, code = token.frame, token.fate.code
                words.append(
                    f"{DIRECTIONS[edge]} frame {token.index} (seq {token.number}, {len(frame.data)} bytes, "
                    f"code {code}, in {frame.first_cycle} to {frame.last_cycle})"
                )
        return "; ".join(words[:4])

    @property
    def activity(self) -> tuple[int, ...]:
        """Changes whenever anything was seen."""
        return (len(self._tokens), self.open, len(self._out), *self._entered.values())

    def offer(self, edge: Edge, frame: AxisFrame) -> None:
        """A frame that is going to be sent at ``edge``; its driver fills in the cycles."""
        token = _Token(len(self._tokens), self._next[edge] & 0xFFFF, frame, Fate())
        self._tokens.append(token)
        self._edges.append(edge)
        self._open[edge][token.number] = self._newest[edge][token.number] = token
        self._next[edge] += 1

    def entry(self, report: Report) -> None:
        """The port says that a frame entered: its number must be the next one."""
        wanted = self._entered[report.edge] & 0xFFFF
        if report.seq != wanted:
            text = f"{DIRECTIONS[report.edge]}_entry: cycle {report.cycle}: seq {report.seq}"
            self.errors.append(f"{text}, not {wanted}")
        self._entered[report.edge] += 1

    def end(self, report: Report) -> None:
        """The port says how a frame ended."""
        token = self._open[report.edge].pop(report.seq, None)
        if token is None or token.frame.first_cycle < 0:
            text = f"{DIRECTIONS[report.edge]}_disp: cycle {report.cycle}: frame {report.seq}"
            self.errors.append(f"{text} ended with code {report.code}, but it is not in the port")
            return
        token.fate.code, token.fate.queue = report.code, report.queue

    def came_out(self, edge: Edge, frame: AxisFrame) -> None:
        """A frame came out at ``edge``."""
        way, number, copy = origin_of(frame.meta)
        cycles = (at - self._begin for at in (frame.valid_cycle, frame.first_cycle, frame.last_cycle))
        token = self._newest[way].get(number)
        if token is None or (token.came is not None and not copy):
            self.errors.append(f"{edge.name}: cycle {frame.valid_cycle}: {DIRECTIONS[way]} frame {number}, nobody's")
            return
        came = CameOut(edge, token.index, frame.data, frame.user, frame.meta, *cycles, copy)
        if not copy:
            token.came = came
        self._out.append(came)

    def reset(self, at: int) -> None:
        """The port is in reset from cycle ``at`` on: what was in it is lost, what hadn't begun is forgotten."""
        self._resets.append(at - self._begin)
        for token in self._tokens:
            if token.frame.first_cycle < 0 or token.closed:
                continue
            if token.came is None:
                token.fate.code, token.fate.queue = Code.RESET, 0
            else:
                # It came out whole and the report of that was lost.
                beside = token.came.meta if token.came.edge == Edge.HOST else token.frame.meta
                token.fate.code, token.fate.queue = Code.DELIVERED, unpack(beside)["queue"]
        kept = [i for i, token in enumerate(self._tokens) if token.frame.first_cycle >= 0]
        places = {self._tokens[i].index: place for place, i in enumerate(kept)}
        self._tokens = [self._tokens[i] for i in kept]
        self._edges = [self._edges[i] for i in kept]
        for token in self._tokens:
            token.index = places[token.index]
        for came in self._out:
            came.source = places.get(came.source, -1)
        self._fresh()
        self._base = dict(self._entered)

    def outcome(self, end: int) -> tuple[Batch, Outcome]:
        """What was offered and what became of it; ``end``: the cycle that ends now."""
        frames = [token.frame for token in self._tokens]
        batch = Batch.of(
            [frame.data for frame in frames],
            edge=[int(edge) for edge in self._edges],
            queue=[unpack(frame.meta)["queue"] for frame in frames],
            bad=[frame.user & 0xFF if frame.user & 1 else 0 for frame in frames],
        )
        for token in self._tokens:
            for name, at in (("first_in", token.frame.first_cycle), ("last_in", token.frame.last_cycle)):
                setattr(token.fate, name, at - self._begin if at >= 0 else -1)
        played = Played([t.fate for t in self._tokens], self._out, end - self._begin, self._resets, self._now)
        return batch, make_outcome(batch, played, 0)


class Coverage(uvm_subscriber):
    """Functional coverage of the port: what came in, how it ended, how the streams paused, when resets came."""

    def build_phase(self) -> None:
        super().build_phase()
        ways = list(DIRECTIONS.values())
        codes = [code.name.lower() for code in Code if code not in (Code.NONE, Code.CONSUMED)]
        self.length = cover.cross("port.length", ways, LENGTHS)
        self.tail = cover.cross("port.last_beat_bytes", ways, [str(n) for n in range(1, 17)])
        self.code = cover.cross("port.code", ways, [c for c in codes if c != "rx_buffer_full"])
        malformed = [code.name.lower() for code in MALFORMED]
        ends = [f"{way}_{end}" for way in ways for end in ("delivered", "dropped")]
        self.malformed = cover.cross("port.malformed", ends, malformed)
        self.full = cover.point("port.rx_buffer", ["full"])
        self.pause = cover.cross("port.pause", [*INLETS.values(), *OUTLETS.values()], list(PAUSES))
        self.reset = cover.point("port.reset", ["idle", "rx_in", "tx_in", "rx_out", "tx_out"])
        self.stall = cover.point("port.stall", list(INLETS.values()))
        self.registers = cover.cross("port.register", ["read", "write"], ["ok", "error"])

    def write(self, item: object) -> None:
        """A register access."""
        if isinstance(item, RegisterItem):
            self.registers("write" if item.write else "read", "error" if item.error else "ok")

    def outcome(self, batch: Batch, outcome: Outcome) -> None:
        """A judged play."""
        known = {frame: code.name.lower() for code, frame in MALFORMED.items()}
        for i, (edge, length) in enumerate(zip(batch.edge.tolist(), batch.lengths.tolist(), strict=True)):
            way, code = DIRECTIONS[Edge(edge)], Code(int(outcome.code[i]))
            self.length(way, length_class(length))
            self.tail(way, str((length - 1) % 16 + 1))
            if not batch.bad[i] and (name := known.get(batch.frame(i))):
                self.malformed(f"{way}_{'delivered' if code == Code.DELIVERED else 'dropped'}", name)
            if code == Code.RX_BUFFER_FULL:
                self.full("full")
            elif code != Code.NONE:
                self.code(way, code.name.lower())


class _Tap(uvm_subscriber):
    """Calls a function with what an analysis port publishes."""

    def __init__(self, name: str, parent: uvm_component, call: object) -> None:
        super().__init__(name, parent)
        self._call = call

    def write(self, item: object) -> None:
        self._call(item)  # type: ignore[operator]


class _WireAgent(AxisAgent):
    """A sink's agent whose frames have beside them whose they are."""

    def connect_phase(self) -> None:
        self.ap = self.monitor.ap
        self.bus = WireSink(self._entity, self._stream, self._clock, callback=self.monitor.publish)


class PortEnv(uvm_env):
    """Everything around one ``nic_port``. ``rng``: all randomness of the test.

    ``start`` resets and programs the port; ``send`` offers frames; ``finish`` waits until the books are closed, holds
    them against the model and the counters, and begins new ones.
    """

    def __init__(self, name: str, parent: uvm_component, dut: HierarchyObject, rng: Random) -> None:
        super().__init__(name, parent)
        self.dut, self.rng = dut, rng
        self.config = NicConfig()
        self._before: dict[str, int] = {}
        self._sequences: list[AxisSequence] = []

    def build_phase(self) -> None:
        dut, clk = self.dut, self.dut.clk
        undefined = "icarus" in cocotb.SIM_NAME.lower()
        self.inlets, self.outlets = {}, {}
        for edge in Edge:
            source, sink = INLETS[edge], OUTLETS[edge]
            self.inlets[edge] = AxisAgent(source, self, dut, source, clk, Role.SOURCE, undefined=undefined)
            agent = _WireAgent if edge == Edge.HOST else AxisAgent
            self.outlets[edge] = agent(sink, self, dut, sink, clk, Role.SINK)
        self.axil = AxilAgent("s_axil", self, dut)
        self.scoreboard = Scoreboard("scoreboard", self)
        self.coverage = Coverage("coverage", self)
        self._taps: list[tuple[object, _Tap]] = []
        for edge, way in DIRECTIONS.items():
            for what, call in (("entry", self.scoreboard.entry), ("disp", self.scoreboard.end)):
                monitor = ReportMonitor(f"{way}_{what}", self, dut, edge, what)
                self._taps.append((monitor, _Tap(f"{way}_{what}_tap", self, call)))
            tap = _Tap(f"{way}_out", self, lambda item, edge=edge.opposite: self.scoreboard.came_out(edge, item.frame))
            self._taps.append((self.outlets[edge], tap))

    def connect_phase(self) -> None:
        for publisher, tap in self._taps:
            publisher.ap.connect(tap.analysis_export)  # type: ignore[attr-defined]
        self.axil.ap.connect(self.coverage.analysis_export)

    # -- reset and registers -----------------------------------------------------------------------------------------

    async def start(self, config: NicConfig | None = None) -> None:
        """Clock, reset, programming; protocol checkers on every stream, and one that the wire never starves."""
        dut = self.dut
        for name in (
            "time_advance",
            "time_target",
            "time_target_fraction",
            "mem_req_ready",
            "m_axis_mem_tready",
            "mem_done_valid",
            "mem_done_id",
            "mem_done_code",
            *(f"s_axis_mem_{s}" for s in ("tdata", "tkeep", "tvalid", "tlast")),
        ):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        start_clock(dut.clk)
        self.checkers = {
            name: ProtocolChecker(dut, name, dut.clk, dut.rst) for name in (*INLETS.values(), *OUTLETS.values())
        }
        self.gapless = GaplessChecker(dut, OUTLETS[Edge.HOST])
        self.config = config or NicConfig()
        self._before = {}
        await self._release()
        self.scoreboard.clear(cycle(dut.clk), port_now(dut))

    async def _release(self) -> None:
        """Reset, with nothing offered and nothing paused, until ready; then program."""
        dut = self.dut
        dut.rst.value = 1
        for edge in Edge:
            self.inlets[edge].bus.clear()
            self.inlets[edge].watch.clear()
            self.outlets[edge].bus.clear()
        await wait_cycles(dut.clk, 4)
        dut.rst.value = 0
        assert await high_within(dut.clk, dut.ready, QUIET_CYCLES), "ready stays low after reset"
        if self.config != NicConfig():
            for address, value in writes(self.config):
                await self.axil.write(address, value)

    async def reset(self, where: str) -> None:
        """Reset now; ``where`` names the bin of coverage. Frames that hadn't begun are forgotten."""
        self.coverage.reset(where)
        for sequence in self._sequences:
            sequence.frames.clear()
        self._sequences.clear()
        # Drivers and monitors have to note the beats of this edge first.
        await ReadWrite()
        self.scoreboard.reset(cycle(self.dut.clk) + 1)
        await self._release()

    async def read64(self, name: str) -> int:
        """A 64-bit register by name, low word first."""
        address = PORT[name].address
        low = await self.axil.read(address)
        return low | await self.axil.read(address + 4) << 32

    async def counters(self) -> dict[str, int]:
        """The port's counters, named as the model names them."""
        return {name: await self.read64(register) for name, register in COUNTERS.items()}

    # -- traffic -----------------------------------------------------------------------------------------------------

    def pause(self, stream: str, generator: str) -> None:
        """Put a generator of `tb.lib.pause` on a stream: gaps of a source, back-pressure of a sink."""
        agents = (*self.inlets.values(), *self.outlets.values())
        agent = next(agent for agent in agents if agent.get_name() == stream)
        seed = Random(self.rng.random())
        agent.bus.pause = None if generator == "none" else PAUSES[generator](seed)
        self.coverage.pause(stream, generator)

    def frame(self, length: int, *, bad: int = 0, queue: int = 0) -> AxisFrame:
        """A frame of random headers and bytes."""
        return AxisFrame(chained_frame(self.rng, length), user=bad, meta=pack({"queue": queue}))

    def send(self, edge: Edge, frames: list[AxisFrame]) -> None:
        """Offer frames at an edge, one after the other, as a sequence on its agent."""
        for frame in frames:
            if edge == Edge.WIRE:
                frame.meta = 0
            self.scoreboard.offer(edge, frame)
        sequence = AxisSequence(f"{INLETS[edge]}_{self.scoreboard.frames}", list(frames))
        self._sequences.append(sequence)
        cocotb.start_soon(sequence.start(self.inlets[edge].sequencer))

    async def drain(self) -> None:
        """Wait until every frame has its end and the port is idle. AssertionError: nothing moves any more."""
        before, quiet = None, 0
        while self.scoreboard.open or self.dut.idle.value != _ONE:
            await wait_cycles(self.dut.clk, 50)
            now = self.scoreboard.activity, [agent.bus.partial for agent in self.outlets.values()]
            quiet = 0 if now != before else quiet + 50
            before = now
            assert quiet < QUIET_CYCLES, f"nothing moves, and these frames have no end: {self.scoreboard.missing()}"

    async def finish(self) -> tuple[Batch, Outcome]:
        """Drain; compare frames, ends, cycles and counters with the model; the port must be idle. Begins new books."""
        await self.drain()
        await wait_cycles(self.dut.clk, 8)
        assert self.dut.idle.value == _ONE, "every frame has its end, and the port is not idle"
        end = cycle(self.dut.clk)
        batch, outcome = self.scoreboard.outcome(end)
        outcome.counters.update(await self.counters())
        mismatches = [*map(str, self.check(batch, outcome)), *self.scoreboard.errors]
        assert not mismatches, f"{len(mismatches)} differences from the model: " + "; ".join(mismatches[:5])
        status = await self.axil.read(PORT["nic.status"].address)
        assert status & 0b1100 == 0, f"status {status:#x}: a disposition was lost"
        self.coverage.outcome(batch, outcome)
        self._before = dict(outcome.counters)
        self._sequences.clear()
        self.scoreboard.clear(cycle(self.dut.clk), port_now(self.dut))
        return batch, outcome

    def check(self, batch: Batch, outcome: Outcome) -> list[Mismatch]:
        """The model's verdict."""
        return NicPortModel(self.config).check(batch, outcome, self._before)


def seed() -> int:
    """The seed of this run."""
    return int(os.environ.get("NICLOOP_SEED", "1"))
