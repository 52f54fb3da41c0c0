"""Bench of ``axis_arb_mux``, through a top that takes its packed inputs apart."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from cocotb.triggers import RisingEdge, Timer

from models.lib import ARB_MUX_LATENCY, RoundRobin, first_out_cycle, waits_fairly
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import reset, start_clock, wait_cycles
from tb.lib.designs import current
from tb.lib.pause import PAUSES
from tb.lib.protocol import ProtocolChecker
from tb.lib.suite import boundary_lengths, four_state, seeded, test

__all__: list[str] = []

N = int(current().parameters["N"])
FIRST = int(current().parameters.get("FIRST", N))
requests_seen = cover.point("axis_arb_mux.requests", list(range(1, N + 1)))
grants_seen = cover.cross("axis_arb_mux.grant", [f"after{i}" for i in range(N)], [f"to{i}" for i in range(N)])
pauses_seen = cover.cross("axis_arb_mux.pauses", list(PAUSES), list(PAUSES))


class Mux:
    """N sources, one sink, a checker on each stream. A frame's ``meta`` says its input and its number there."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.clk, self.rst = dut.clk, dut.rst
        start_clock(self.clk)
        self.rst.value = 1
        self.rng = seeded("mux")
        self.sources = [
            AxisSource(dut, f"s_axis_{i}", self.clk, rng=seeded("noise", i), undefined=four_state() and i < N)
            for i in range(4)
        ]
        self.sink = AxisSink(dut, "m_axis", self.clk)
        names = [f"s_axis_{i}" for i in range(N)] + ["m_axis"]
        self.checkers = [ProtocolChecker(dut, name, self.clk, self.rst) for name in names]
        self.width = len(dut.m_axis_tdata) // 8
        self.counts = [0] * N
        self._forget()
        self._agents: list[Any] = [*self.sources, self.sink]

    def _forget(self) -> None:
        """As after reset: input 0 is first."""
        self.turns = RoundRobin(N, FIRST)
        self.last = N - 1

    def frame(self, source: int, length: int) -> AxisFrame:
        """Queue a random frame on an input."""
        high = self.rng.getrandbits(len(self.dut.m_axis_meta) - 24) << 24
        frame = AxisFrame(
            self.rng.randbytes(length),
            self.rng.getrandbits(len(self.dut.m_axis_tuser)),
            high | source << 16 | self.counts[source],
        )
        self.counts[source] += 1
        self.sources[source].append(frame)
        return frame

    async def collect(self, sent: list[AxisFrame]) -> list[AxisFrame]:
        """Receive as many frames as were sent; check content, order within each input, cycles and every grant."""
        received = [await self.sink.recv() for _ in sent]
        assert not self.sink.partial
        expected = {frame.meta: frame for frame in sent}
        order = [expected[out.meta] for out in received]
        for frame, out in zip(order, received, strict=True):
            assert out == frame, f"sent {frame}\ncame {out}"
        for source in range(N):
            ours = [f.meta for f in order if f.meta >> 16 & 0xFF == source]
            assert ours == [f.meta for f in sent if f.meta >> 16 & 0xFF == source], f"input {source} out of order"
        self.check_cycles(order, received)
        self.check_grants(order)
        return received

    def check_cycles(self, order: list[AxisFrame], received: list[AxisFrame]) -> None:
        previous = -1
        for frame, out in zip(order, received, strict=True):
            due = first_out_cycle(frame.first_cycle, ARB_MUX_LATENCY, previous)
            assert out.valid_cycle == due, f"tvalid rose in cycle {out.valid_cycle}, not {due}: {frame}"
            previous = out.last_cycle

    def check_grants(self, order: list[AxisFrame]) -> None:
        """Replay every grant in the model, from what each input offered in the cycle of the grant."""
        by_input = [[f for f in order if f.meta >> 16 & 0xFF == i] for i in range(N)]
        for frame in order:
            now = frame.first_cycle
            asking = [any(f.valid_cycle <= now <= f.first_cycle for f in frames) for frames in by_input]
            requests_seen(sum(asking))
            granted = self.turns.grant(asking)
            source = frame.meta >> 16 & 0xFF
            assert granted == source, f"cycle {now}: input {source} was served, {granted} was due, asking {asking}"
            grants_seen(f"after{self.last}", f"to{source}")
            self.last = source
        if FIRST == N:
            wrong = waits_fairly(((f.meta >> 16 & 0xFF, f.valid_cycle, f.first_cycle) for f in order), N)
            assert wrong is None, wrong

    async def start(self) -> Mux:
        await self.restart()
        return self

    async def restart(self, cycles: int = 3) -> None:
        for agent in self._agents:
            agent.clear()
        await reset(self.rst, self.clk, cycles)
        for agent in self._agents:
            agent.clear()
        self._forget()


@test
async def mux_passes_every_length_of_each_input_one_cycle_late(dut: Any) -> None:
    m = await Mux(dut).start()
    for length in boundary_lengths(m.width):
        for source in range(N):
            await m.collect([m.frame(source, length)])
            await wait_cycles(m.clk, 1)


@test
async def mux_serves_waiting_inputs_in_turn_without_a_gap(dut: Any) -> None:
    """All inputs always have a frame: strictly in turn, one beat a cycle."""
    m = await Mux(dut).start()
    for beats in (1, 2, 3):
        await m.restart()
        sent = [m.frame(i, beats * m.width - m.rng.randrange(m.width)) for _ in range(20) for i in range(N)]
        received = await m.collect(sent)
        order = [out.meta >> 16 & 0xFF for out in received]
        assert order == [i % N for i in range(len(sent))], f"served in the order {order}"
        took = received[-1].last_cycle - received[0].first_cycle + 1
        assert took == beats * len(sent), f"{len(sent)} frames of {beats} beats took {took} cycles"


@test
async def mux_gives_one_input_the_full_rate(dut: Any) -> None:
    m = await Mux(dut).start()
    for source in range(N):
        for length in (1, m.width, 3 * m.width):
            received = await m.collect([m.frame(source, length) for _ in range(20)])
            took = received[-1].last_cycle - received[0].first_cycle + 1
            assert took == 20 * received[0].beats(m.width)
            await wait_cycles(m.clk, 2)


@test
async def mux_serves_inputs_that_yield_when_the_others_have_nothing(dut: Any) -> None:
    """All inputs always have a frame, and those that don't yield come to an end first; then a frame of theirs comes
    behind the one under way."""
    m = await Mux(dut).start()
    received = await m.collect([m.frame(i, 2 * m.width) for _ in range(10) for i in range(N)])
    order = [out.meta >> 16 & 0xFF for out in received]
    assert order == [i for i in range(FIRST)] * 10 + [i for i in range(FIRST, N)] * 10, f"served in the order {order}"
    waiting = [m.frame(i, 4 * m.width) for _ in range(3) for i in range(FIRST, N)]
    await wait_cycles(m.clk, 5)
    received = await m.collect([*waiting, m.frame(0, m.width)])
    assert [out.meta >> 16 & 0xFF for out in received].index(0) <= 2


@test
async def mux_starves_nobody(dut: Any) -> None:
    """One input floods with short frames, then with long ones; the others send now and then."""
    m = await Mux(dut).start()
    for flood in range(N):
        sent = [m.frame(flood, m.rng.choice((1, 16, 200))) for _ in range(60)]
        for source in range(N):
            if source != flood:
                m.sources[source].pause = PAUSES["one_in"](seeded("slow", source))
                sent += [m.frame(source, m.rng.randint(1, 40)) for _ in range(6)]
        await m.collect(sent)
        for source in m.sources:
            source.pause = None


@test
async def mux_keeps_frames_whole_under_any_back_pressure(dut: Any) -> None:
    m = await Mux(dut).start()
    for source in PAUSES:
        for sink in PAUSES:
            pauses_seen(source, sink)
            for i in range(N):
                m.sources[i].pause = PAUSES[source](seeded(source, sink, i))
            m.sink.pause = PAUSES[sink](seeded(source, sink))
            await m.collect([m.frame(i, m.rng.randint(1, 4 * m.width + 1)) for _ in range(3) for i in range(N)])


@test
async def mux_starts_over_after_reset(dut: Any) -> None:
    """A reset in mid-frame: nothing of the old frames shows, nobody waits for them, and input 0 is first again."""
    m = await Mux(dut).start()
    for delay in range(24):
        for i in range(N):
            m.frame(i, 4 * m.width)
        m.sink.pause = PAUSES["random"](seeded(delay))
        await wait_cycles(m.clk, delay)
        await m.restart(1 + delay % 3)
        m.sink.pause = None
        if delay % 2:
            await m.collect([m.frame(delay // 2 % N, 2 * m.width)])
        await m.collect([m.frame(i, 2 * m.width) for _ in range(2) for i in range(N)])
    await wait_cycles(m.clk, 5)
    assert not m.sink.frames and not m.sink.partial


@test
async def mux_output_does_not_follow_inputs_within_a_cycle(dut: Any) -> None:
    m = await Mux(dut).start()
    m.checkers[0].stop()
    m.checkers[-1].stop()
    sent = [m.frame(i, 6 * m.width) for _ in range(3) for i in range(N)]
    m.sink.pause = PAUSES["random"](seeded("path"))
    quarter = Timer(1000, "ps")
    outputs = [getattr(dut, f"m_axis_{s}") for s in ("tvalid", "tlast", "tdata")]
    inputs = [getattr(dut, f"s_axis_{i}_tready") for i in range(N)]

    def values(handles: list[Any]) -> list[str]:
        return [str(handle.value) for handle in handles]

    for _ in range(40):
        await RisingEdge(m.clk)
        await quarter
        ready, readies = str(dut.m_axis_tready.value), values(inputs)
        dut.m_axis_tready.value = int(ready != "1")
        await quarter
        assert values(inputs) == readies, "an input's tready follows m_axis_tready within a cycle"
        dut.m_axis_tready.value = int(ready == "1")
        valid, before = str(dut.s_axis_0_tvalid.value), values(outputs)
        dut.s_axis_0_tvalid.value = int(valid != "1")
        await quarter
        assert values(outputs) == before, "m_axis follows s_axis_0_tvalid within a cycle"
        dut.s_axis_0_tvalid.value = int(valid == "1")
    await m.collect(sent)


@test
async def mux_waits_for_a_slow_input_once_it_has_begun(dut: Any) -> None:
    """A frame that stalls in its middle is not interleaved with anything."""
    m = await Mux(dut).start()
    slow = m.frame(0, 5 * m.width)
    await wait_cycles(m.clk, 3)
    m.sources[0].pause = repeat(False)
    others = [m.frame(i, 10) for i in range(1, N)]
    await wait_cycles(m.clk, 30)
    assert not m.sink.frames, "another frame overtook one that had begun"
    m.sources[0].pause = None
    received = await m.collect([slow, *others])
    assert received[0].meta == slow.meta
