"""Bench of ``axis_demux``, through a top that takes its packed outputs apart."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge, Timer

from models.lib import DEMUX_LATENCY, demux, first_out_cycle
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.designs import current
from tb.lib.pause import PAUSES
from tb.lib.protocol import ProtocolChecker
from tb.lib.suite import boundary_lengths, four_state, random_frame, seeded, test

__all__: list[str] = []

N = int(current().parameters["N"])
CODES = 1 << (N - 1).bit_length()
"""Values that ``s_axis_dest`` can have."""
destinations_seen = cover.point("axis_demux.dest", list(range(CODES)))
drops_seen = cover.point("axis_demux.drop_beats", [1, 2, 3, 4])
pauses_seen = cover.cross("axis_demux.pauses", list(PAUSES), list(PAUSES))


class Demux:
    """One source, N sinks, the drop port watched."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.clk, self.rst = dut.clk, dut.rst
        start_clock(self.clk)
        self.rst.value = 1
        self.rng = seeded("demux")
        self.source = AxisSource(dut, "s_axis", self.clk, rng=seeded("noise"), undefined=four_state())
        self.sinks = [AxisSink(dut, f"m_axis_{i}", self.clk) for i in range(4)]
        names = ["s_axis"] + [f"m_axis_{i}" for i in range(N)]
        self.checkers = [ProtocolChecker(dut, name, self.clk, self.rst) for name in names]
        self.width = len(dut.s_axis_tdata) // 8
        self.drops: list[tuple[int, int]] = []
        self._agents: list[Any] = [self.source, *self.sinks]
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        edge = RisingEdge(self.clk)
        await wait_cycles(self.clk, 2)
        while True:
            await edge
            valid = str(self.dut.drop_valid.value)
            assert valid in ("0", "1"), f"drop_valid is {valid}"
            if valid == "1":
                self.drops.append((cycle(self.clk), int(self.dut.drop_meta.value)))

    def frame(self, length: int, dest: int) -> AxisFrame:
        """Queue a random frame."""
        frame = random_frame(self.rng, length, self.dut)
        frame.dest = dest
        destinations_seen(dest)
        self.source.append(frame)
        return frame

    async def collect(self, sent: list[AxisFrame]) -> None:
        """Wait for all that was sent; close the books of every output and of the drop port.

        A frame's first beat rises one cycle late, or later: at the latest when the frame before it, whatever its
        output, is gone, and no sooner than its own output is free.
        """
        await self.source.drained()
        routed = [demux(frame.dest, N) for frame in sent]
        for _ in range(2000):
            if all(len(self.sinks[i].frames) >= routed.count(i) for i in range(N)):
                break
            await RisingEdge(self.clk)
        await wait_cycles(self.clk, 3)
        queues = [sink.frames for sink in self.sinks]
        free = [-1] * N
        before = -1
        for frame, output in zip(sent, routed, strict=True):
            if output is None:
                continue
            assert queues[output], f"output {output} lacks {frame}"
            out = queues[output].pop(0)
            assert out == frame, f"output {output}: sent {frame}\ncame {out}"
            low, high = (first_out_cycle(frame.first_cycle, DEMUX_LATENCY, gone) for gone in (free[output], before))
            assert low <= out.valid_cycle <= high, f"tvalid rose in {out.valid_cycle}, not {low} to {high}: {frame}"
            free[output] = before = out.last_cycle
        for output, sink in enumerate(self.sinks):
            assert not queues[output], f"output {output} shows {queues[output][0]}"
            assert not sink.partial, f"output {output} shows a frame without an end"
            sink.clear()
        dropped = [f for f, r in zip(sent, routed, strict=True) if r is None]
        assert self.drops == [(f.last_cycle + 1, f.meta) for f in dropped], f"drops {self.drops} of {len(dropped)}"
        for frame in dropped:
            drops_seen(min(4, frame.beats(self.width)))
        self.drops.clear()

    async def start(self) -> Demux:
        await self.restart()
        return self

    async def restart(self, cycles: int = 3) -> None:
        for agent in self._agents:
            agent.clear()
        await reset(self.rst, self.clk, cycles)
        for agent in self._agents:
            agent.clear()
        self.drops.clear()


@test
async def demux_takes_every_length_to_every_destination(dut: Any) -> None:
    d = await Demux(dut).start()
    for length in boundary_lengths(d.width):
        await d.collect([d.frame(length, dest) for dest in range(CODES)])


@test
async def demux_keeps_frames_whole_under_any_back_pressure(dut: Any) -> None:
    d = await Demux(dut).start()
    for source in PAUSES:
        for sink in PAUSES:
            pauses_seen(source, sink)
            d.source.pause = PAUSES[source](seeded(source, sink))
            for i in range(N):
                d.sinks[i].pause = PAUSES[sink](seeded(source, sink, i))
            sent = [d.frame(d.rng.randint(1, 4 * d.width + 1), d.rng.randrange(CODES)) for _ in range(8)]
            await d.collect(sent)


@test
async def demux_takes_a_beat_each_cycle_whatever_the_destination(dut: Any) -> None:
    """Delivered or dropped, the input never waits while the outputs are ready."""
    d = await Demux(dut).start()
    for length in (1, d.width, d.width + 1, 4 * d.width):
        sent = [d.frame(length, i % CODES) for i in range(40)]
        await d.collect(sent)
        took = sent[-1].last_cycle - sent[0].first_cycle + 1
        assert took == sum(f.beats(d.width) for f in sent), f"{took} cycles"


@test
async def demux_drops_only_what_has_no_output(dut: Any) -> None:
    """The frames around a dropped one are whole, and a dropped one waits for nobody."""
    d = await Demux(dut).start()
    if CODES == N:
        await d.collect([d.frame(9, dest) for dest in range(N)])
        return
    for beats in (1, 2, 3):
        sent = [d.frame(beats * d.width, dest) for dest in (0, N, 0, 1, N, N, 2 % N, CODES - 1)]
        await d.collect(sent)
        for sink in d.sinks:
            sink.pause = iter([False] * 40 + [True] * 4000)
        await wait_cycles(d.clk, 1)
        sent = [d.frame(beats * d.width, N) for _ in range(4)]
        await d.source.drained()
        took = sent[-1].last_cycle - sent[0].first_cycle + 1
        assert took == 4 * beats, f"dropped frames waited for an output: {took} cycles"
        for sink in d.sinks:
            sink.pause = None
        await d.collect(sent)


@test
async def demux_starts_over_after_reset(dut: Any) -> None:
    d = await Demux(dut).start()
    for delay in range(10):
        for dest in (delay % CODES, (delay + 1) % CODES):
            d.frame(4 * d.width, dest)
        d.sinks[delay % N].pause = PAUSES["gap"](seeded(delay))
        await wait_cycles(d.clk, delay)
        await d.restart(1 + delay % 3)
        d.sinks[delay % N].pause = None
        await d.collect([d.frame(2 * d.width, dest) for dest in range(CODES)])


@test
async def demux_has_no_path_from_side_to_side(dut: Any) -> None:
    d = await Demux(dut).start()
    for checker in d.checkers:
        checker.stop()
    sent = [d.frame(5 * d.width, i % N) for i in range(9)]
    for i in range(N):
        d.sinks[i].pause = PAUSES["random"](seeded("path", i))
    quarter = Timer(1000, "ps")
    readies = [getattr(dut, f"m_axis_{i}_tready") for i in range(N)]
    valids = [getattr(dut, f"m_axis_{i}_{s}") for i in range(N) for s in ("tvalid", "tdata")]
    for _ in range(40):
        await RisingEdge(d.clk)
        await quarter
        before, held = str(dut.s_axis_tready.value), [str(r.value) for r in readies]
        for handle, value in zip(readies, held, strict=True):
            handle.value = int(value != "1")
        await quarter
        assert str(dut.s_axis_tready.value) == before, "s_axis_tready follows an output's tready within a cycle"
        for handle, value in zip(readies, held, strict=True):
            handle.value = int(value == "1")
        valid, outputs = str(dut.s_axis_tvalid.value), [str(v.value) for v in valids]
        dut.s_axis_tvalid.value = int(valid != "1")
        await quarter
        assert [str(v.value) for v in valids] == outputs, "an output follows s_axis_tvalid within a cycle"
        dut.s_axis_tvalid.value = int(valid == "1")
    await d.collect(sent)
