"""Bench of the agents and checkers themselves, on a stream that breaks one rule on demand, and of their pyuvm faces."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from pyuvm import uvm_component, uvm_root, uvm_subscriber, uvm_test

from tb.lib import cover
from tb.lib.agent import AxisAgent, AxisItem, AxisSequence, Role
from tb.lib.axis import AxisFrame, AxisMonitor, AxisSink, AxisSource
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES, Reactive
from tb.lib.protocol import LatencyChecker, ProtocolChecker
from tb.lib.suite import four_state, random_frame, seeded, test

__all__: list[str] = []

FAULTS = {
    "valid_falls": (1, "tvalid fell before tready"),
    "data_changes": (2, "the beat changed before tready"),
    "keep_hole": (3, "is not contiguous from lane 0"),
    "keep_zero": (4, "is not contiguous from lane 0"),
    "keep_early": (5, "is not all ones before the last beat"),
    "valid_in_reset": (6, "tvalid is 1 in reset"),
    "undefined": (7, "X or Z in a valid beat"),
    "last_changes": (8, "the beat changed before tready"),
    "user_changes": (9, "the beat changed before tready"),
    "meta_changes": (10, "the beat changed before tready"),
    "ready_in_reset": (11, "tready is 1 in reset"),
}
faults_seen = cover.point("agents.fault", [name for name in FAULTS if name != "undefined"])


class _Caught(ProtocolChecker):
    """A checker that keeps its complaint to itself."""

    complaint = ""

    async def _run(self) -> None:
        try:
            await super()._run()
        except AssertionError as error:
            self.complaint = str(error)


class _CaughtLatency(LatencyChecker):
    """A latency checker that keeps its complaint to itself."""

    complaint = ""

    async def _run(self) -> None:
        try:
            await super()._run()
        except AssertionError as error:
            self.complaint = str(error)


async def _drive(dut: Any, fault: int) -> list[_Caught]:
    """Two frames against a slow sink; returns the checkers of input and output."""
    start_clock(dut.clk)
    dut.fault.value = fault
    dut.rst.value = 1
    rng = seeded("agents", fault)
    source = AxisSource(dut, "s_axis", dut.clk)
    dut.m_axis_tready.value = 0
    checkers = [_Caught(dut, name, dut.clk, dut.rst) for name in ("s_axis", "m_axis")]
    await reset(dut.rst, dut.clk)
    for length in (40, 16, 5):
        source.append(random_frame(rng, length, dut))
    for _ in range(40):
        dut.m_axis_tready.value = 0
        await wait_cycles(dut.clk, 4)
        dut.m_axis_tready.value = 1
        await RisingEdge(dut.clk)
    dut.m_axis_tready.value = 0
    await wait_cycles(dut.clk, 2)
    dut.fault.value = 0
    for checker in checkers:
        checker.stop()
    await wait_cycles(dut.clk, 2)
    return checkers


@test
async def checker_accepts_a_stream_that_breaks_no_rule(dut: Any) -> None:
    for checker in await _drive(dut, 0):
        assert not checker.complaint, checker.complaint
        assert checker.frames == 3 and checker.beats == 5 and checker.stalls >= 15


@test
async def checker_names_each_broken_rule_the_stream_and_the_cycle(dut: Any) -> None:
    for name, (fault, complaint) in FAULTS.items():
        if name == "undefined" and not four_state():
            continue
        checkers = await _drive(dut, fault)
        found = checkers[name != "ready_in_reset"].complaint
        assert complaint in found, f"{name}: {found!r}"
        assert found.startswith(("s_axis: cycle ", "m_axis: cycle ")), found
        if name != "undefined":
            faults_seen(name)


@test
async def sink_refuses_a_tkeep_with_a_hole_or_without_a_bit(dut: Any) -> None:
    start_clock(dut.clk)
    dut.rst.value = 1
    dut.fault.value = 0
    source = AxisSource(dut, "s_axis", dut.clk)
    complaints = []

    class Sink(AxisSink):
        async def _monitor_recv(self) -> None:
            try:
                await super()._monitor_recv()
            except AssertionError as error:
                complaints.append(str(error))

    for fault in (3, 4):
        sink = Sink(dut, "m_axis", dut.clk)
        await reset(dut.rst, dut.clk)
        dut.fault.value = fault
        source.append(AxisFrame(bytes(9)))
        await wait_cycles(dut.clk, 6)
        dut.fault.value = 0
        sink.clear()
        sink.kill()
        await wait_cycles(dut.clk, 2)
    assert len(complaints) == 2 and all("not contiguous" in text for text in complaints), complaints


@test
async def latency_checker_sees_a_beat_that_is_early_or_late(dut: Any) -> None:
    """The stream is a wire: with a latency of 1 demanded, every beat is early."""
    start_clock(dut.clk)
    dut.rst.value = 1
    dut.fault.value = 0
    source, sink = AxisSource(dut, "s_axis", dut.clk), AxisSink(dut, "m_axis", dut.clk)
    checker = _CaughtLatency(dut, dut.clk, dut.rst, 1)
    await reset(dut.rst, dut.clk)
    source.append(AxisFrame(bytes(40)))
    await sink.recv()
    assert "tvalid is 1, next beat: none held" in checker.complaint, checker.complaint
    await wait_cycles(dut.clk, 2)


@test
async def agents_record_the_cycles_of_a_frame(dut: Any) -> None:
    """On a wire the source's and the sink's cycles are the same; tvalid's rise is apart from the first handshake."""
    start_clock(dut.clk)
    dut.rst.value = 1
    dut.fault.value = 0
    source, sink = AxisSource(dut, "s_axis", dut.clk), AxisSink(dut, "m_axis", dut.clk)
    monitor = AxisMonitor(dut, "m_axis", dut.clk)
    await reset(dut.rst, dut.clk)
    for name, make in PAUSES.items():
        sink.pause = make(seeded(name))
        frames = [AxisFrame(bytes(range(length)), 1, 7) for length in (1, 16, 17, 60)]
        for frame in frames:
            source.append(frame)
        for frame in frames:
            out, seen = await sink.recv(), await monitor.recv()
            assert out == frame and seen == frame
            assert (out.first_cycle, out.last_cycle) == (frame.first_cycle, frame.last_cycle)
            assert out.valid_cycle == frame.valid_cycle <= frame.first_cycle
            assert (seen.valid_cycle, seen.last_cycle) == (out.valid_cycle, out.last_cycle)
            if name == "after_valid":
                assert out.first_cycle == out.valid_cycle + 1, "ready came with valid"
            if name == "none":
                assert out.last_cycle - out.valid_cycle == out.beats() - 1
        assert source.pending == 0
    assert cycle(dut.clk) == frames[-1].last_cycle


@test
async def stall_last_is_not_ready_when_a_last_beat_appears(dut: Any) -> None:
    start_clock(dut.clk)
    dut.rst.value = 1
    dut.fault.value = 0
    source = AxisSource(dut, "s_axis", dut.clk)
    sink = AxisSink(dut, "m_axis", dut.clk, pause=PAUSES["stall_last"](seeded("stall")))
    assert isinstance(sink.pause, Reactive)
    await reset(dut.rst, dut.clk)
    frames = [AxisFrame(bytes(48)) for _ in range(5)]
    for frame in frames:
        source.append(frame)
    for frame in frames:
        out = await sink.recv()
        assert out.first_cycle == out.valid_cycle, "the first beat waited"
        assert 3 <= out.last_cycle - out.first_cycle <= 5, f"the last beat didn't wait: {out}"
        assert out == frame


@test
async def source_gives_up_its_frames_when_cleared(dut: Any) -> None:
    """``clear`` lowers tvalid at once, wakes those who wait for their frames, and sends nothing of them later."""
    start_clock(dut.clk)
    dut.rst.value = 1
    dut.fault.value = 0
    source, sink = AxisSource(dut, "s_axis", dut.clk), AxisSink(dut, "m_axis", dut.clk)
    await reset(dut.rst, dut.clk)
    sink.pause = PAUSES["one_in"](seeded("clear"))
    waiting = [cocotb.start_soon(source.send(AxisFrame(bytes(100)))) for _ in range(3)]
    await wait_cycles(dut.clk, 10)
    source.clear()
    sink.clear()
    for task in waiting:
        frame = await task
        assert frame.last_cycle < 0
    await wait_cycles(dut.clk, 10)
    assert not sink.frames and not sink.partial and source.pending == 0
    fresh = await source.send(AxisFrame(b"fresh"))
    assert await sink.recv() == fresh


class _Collector(uvm_subscriber):
    """Keeps what an analysis port gives."""

    def build_phase(self) -> None:
        self.items: list[AxisItem] = []

    def write(self, item: AxisItem) -> None:
        self.items.append(item)


class _AgentsTest(uvm_test):
    """A source agent, a sink agent and a passive one around the wire; a sequence of frames goes through."""

    def build_phase(self) -> None:
        dut: Any = cocotb.top
        parent: uvm_component = self
        self.source = AxisAgent("source", parent, dut, "s_axis", dut.clk, Role.SOURCE)
        self.sink = AxisAgent("sink", parent, dut, "m_axis", dut.clk, Role.SINK, pause=PAUSES["random"](seeded("uvm")))
        self.passive = AxisAgent("passive", parent, dut, "m_axis", dut.clk, Role.PASSIVE)
        self.collectors = [_Collector(f"collector{i}", self) for i in range(3)]

    def connect_phase(self) -> None:
        for agent, collector in zip((self.source, self.sink, self.passive), self.collectors, strict=True):
            agent.monitor.ap.connect(collector.analysis_export)

    async def run_phase(self) -> None:
        self.raise_objection()
        dut: Any = cocotb.top
        await reset(dut.rst, dut.clk)
        rng = seeded("uvm", "frames")
        frames = [random_frame(rng, rng.randint(1, 70), dut) for _ in range(30)]
        await AxisSequence("frames", frames).start(self.source.sequencer)
        await self.source.bus.drained()
        await wait_cycles(dut.clk, 3)
        for collector in self.collectors:
            assert [item.frame for item in collector.items] == frames, collector.get_name()
        gaps = [b.first_cycle - a.last_cycle for a, b in pairwise(frames)]
        assert min(gaps) == 1, "the sequence never sent two frames back to back"
        self.drop_objection()


@test
async def uvm_agents_drive_and_watch_whole_frames(dut: Any) -> None:
    start_clock(dut.clk)
    dut.rst.value = 1
    dut.fault.value = 0
    await uvm_root().run_test(_AgentsTest)


@test
async def stream_with_the_fault_of_the_environment(dut: Any) -> None:
    """For the bound assertions: the fault that ``NICLOOP_FAULT`` names, without any checker in Python."""
    fault = FAULTS[os.environ["NICLOOP_FAULT"]][0] if "NICLOOP_FAULT" in os.environ else 0
    for checker in await _drive(dut, fault):
        checker.stop()
