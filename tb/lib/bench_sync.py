"""Bench of ``sync_bit``, ``sync_pulse``, ``sync_reset`` and ``sync_bus``: what holds whichever way a flip-flop falls.

A simulator has no metastability, so only bounds are checked where edges of the two clocks may meet.
"""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge, Timer

from tb.lib import cover
from tb.lib.clock import CORE_PS, WIRE_PS, cycle, cycle_at, edge_ps, start_clock, wait_cycles
from tb.lib.suite import seeded, test

__all__: list[str] = []

RATIOS = {
    "wire_to_core": (WIRE_PS, CORE_PS, 300),
    "core_to_wire": (CORE_PS, WIRE_PS, 900),
    "equal": (CORE_PS, CORE_PS, 0),
    "fast_to_slow": (2000, 14000, 500),
    "slow_to_fast": (14000, 2000, 500),
    "apart_100ppm": (10000, 10001, 0),
}
seen = cover.cross("sync.cells", ["pulse", "bus"], list(RATIOS))


class Cells:
    """Both clocks, all inputs quiet, resets given."""

    def __init__(self, dut: Any, ratio: str) -> None:
        s_ps, m_ps, offset = RATIOS[ratio]
        self.dut = dut
        self.s_clock = start_clock(dut.s_clk, s_ps)
        self.m_clock = start_clock(dut.m_clk, m_ps, offset_ps=offset)
        self.rng: Random = seeded("sync", ratio)
        self.pulses: list[int] = []
        self.words: list[int] = []
        self.word_cycles: list[int] = []
        dut.s_rst.value = dut.m_rst.value = 1
        dut.s_pulse.value = dut.s_valid.value = dut.s_data.value = 0
        dut.bit_d.value, dut.high_d.value, dut.arst.value = 0, 1, 0
        self._task = cocotb.start_soon(self._watch())

    async def start(self) -> Cells:
        await wait_cycles(self.dut.s_clk, 3)
        await wait_cycles(self.dut.m_clk, 3)
        self.dut.s_rst.value = 0
        await RisingEdge(self.dut.m_clk)
        self.dut.m_rst.value = 0
        await wait_cycles(self.dut.s_clk, 40)
        return self

    async def _watch(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.m_clk)
        await wait_cycles(dut.m_clk, 2)
        held: str | None = None
        while True:
            await edge
            pulse, valid = str(dut.m_pulse.value), str(dut.m_valid.value)
            assert pulse in ("0", "1") and valid in ("0", "1"), f"m_pulse {pulse}, m_valid {valid}"
            if pulse == "1":
                self.pulses.append(cycle(dut.m_clk))
            if str(dut.m_rst.value) == "1":
                held = None
            elif valid == "1":
                held = str(dut.m_data.value)
            elif held is not None:
                assert str(dut.m_data.value) == held, "m_data changed without m_valid"
            if valid == "1":
                self.words.append(int(dut.m_data.value))
                self.word_cycles.append(cycle(dut.m_clk))

    async def stop(self) -> None:
        """Stop both clocks, so that others can start."""
        self._task.cancel()
        await wait_cycles(self.dut.m_clk, 2)
        await wait_cycles(self.dut.s_clk, 2)
        self.s_clock.stop()
        self.m_clock.stop()
        await Timer(20000, "ps")

    async def pulse(self) -> int:
        """One pulse; returns the time of the edge that takes it."""
        dut = self.dut
        await RisingEdge(dut.s_clk)
        dut.s_pulse.value = 1
        await RisingEdge(dut.s_clk)
        dut.s_pulse.value = 0
        return edge_ps(dut.s_clk, cycle(dut.s_clk))

    async def word(self, value: int) -> int:
        """One word; returns the time of the edge that takes it."""
        dut, edge = self.dut, RisingEdge(self.dut.s_clk)
        dut.s_data.value = value
        dut.s_valid.value = 1
        await edge
        while str(dut.s_ready.value) != "1":
            await edge
        dut.s_valid.value = 0
        dut.s_data.value = ~value & 0xFFFF
        return edge_ps(dut.s_clk, cycle(dut.s_clk))

    async def idle(self, cycles: int = 24) -> None:
        await wait_cycles(self.dut.s_clk, cycles)
        await wait_cycles(self.dut.m_clk, cycles)

    def edges(self, taken: int, number: int) -> int:
        """Edges of ``m_clk`` after the time ``taken`` until the output is 1; the edge that samples it doesn't count."""
        return number - cycle_at(self.dut.m_clk, taken) - 1


@test
async def sync_bit_starts_at_its_reset_value(dut: Any) -> None:
    """Before any edge of the clock; and once its input has come through, without a glitch."""
    dut.bit_d.value, dut.high_d.value = 0, 1
    await Timer(100, "ps")
    assert (str(dut.bit_q.value), str(dut.high_q.value)) == ("0", "1")
    c = Cells(dut, "equal")
    # What the input was before the bench drove it may come through first.
    await wait_cycles(dut.m_clk, 3)
    for _ in range(6):
        await RisingEdge(dut.m_clk)
        assert (str(dut.bit_q.value), str(dut.high_q.value)) == ("0", "1")
    await c.stop()


@test
async def sync_bit_follows_after_two_edges(dut: Any) -> None:
    """Changes at every phase of the clock: q changes once, after the second edge or, where edges meet, the third."""
    c = await Cells(dut, "core_to_wire").start()
    level = 0
    dut.high_d.value = level
    await wait_cycles(dut.m_clk, 5)
    for phase in range(0, WIRE_PS, 160):
        await RisingEdge(dut.m_clk)
        if phase:
            await Timer(phase, "ps")
        level ^= 1
        dut.bit_d.value = level
        dut.high_d.value = level
        history = []
        for _ in range(6):
            await RisingEdge(dut.m_clk)
            history.append(str(dut.bit_q.value))
            assert str(dut.high_q.value) == history[-1], "two cells with the same input differ"
        changed = history.index(str(level))
        assert changed in ((2,) if phase else (2, 3)), f"phase {phase} ps: {history}"
        assert history[changed:] == [str(level)] * (6 - changed), f"q glitched: {history}"
    await c.stop()


async def _pulses(dut: Any, ratio: str) -> None:
    """Alone, in bursts of up to 15, and as near as they can be: as many come out as went in, one cycle each."""
    c = await Cells(dut, ratio).start()
    for _ in range(12):
        taken = await c.pulse()
        await c.idle(30)
        assert len(c.pulses) == 1, f"{len(c.pulses)} pulses of one"
        late = c.edges(taken, c.pulses.pop())
        assert late in ((2, 3) if ratio == "equal" else (2,)), f"the pulse came after {late} edges"
        await wait_cycles(dut.s_clk, c.rng.randint(1, 5))
    for burst in (2, 7, 15):
        dut.s_pulse.value = 1
        await wait_cycles(dut.s_clk, burst)
        dut.s_pulse.value = 0
        await wait_cycles(dut.s_clk, 10 * burst)
        await wait_cycles(dut.m_clk, 10 * burst)
        assert len(c.pulses) == burst, f"{len(c.pulses)} pulses of a burst of {burst}"
        c.pulses.clear()
    seen("pulse", ratio)
    await c.stop()


@test
async def sync_pulse_loses_and_doubles_none_from_wire_to_core(dut: Any) -> None:
    await _pulses(dut, "wire_to_core")


@test
async def sync_pulse_loses_and_doubles_none_from_core_to_wire(dut: Any) -> None:
    await _pulses(dut, "core_to_wire")


@test
async def sync_pulse_loses_and_doubles_none_at_other_ratios(dut: Any) -> None:
    for ratio in ("equal", "fast_to_slow", "slow_to_fast", "apart_100ppm"):
        await _pulses(dut, ratio)


async def _words(dut: Any, ratio: str) -> None:
    """Every word comes out once, in order, whole, whatever the input does after it was taken."""
    c = await Cells(dut, ratio).start()
    for _ in range(8):
        taken = await c.word(c.rng.getrandbits(16))
        await c.idle(30)
        late = c.edges(taken, c.word_cycles.pop())
        assert late in ((3, 4) if ratio == "equal" else (3,)), f"the word came after {late} edges"
        c.words.clear()
    sent = []
    for _ in range(40):
        sent.append(c.rng.getrandbits(16))
        await c.word(sent[-1])
        if c.rng.random() < 0.3:
            await wait_cycles(dut.s_clk, c.rng.randint(1, 20))
    await c.idle(30)
    assert c.words == sent, f"{len(sent)} words sent, {len(c.words)} came"
    seen("bus", ratio)
    await c.stop()


@test
async def sync_bus_gives_each_word_once_from_wire_to_core(dut: Any) -> None:
    await _words(dut, "wire_to_core")


@test
async def sync_bus_gives_each_word_once_from_core_to_wire(dut: Any) -> None:
    await _words(dut, "core_to_wire")


@test
async def sync_bus_gives_each_word_once_at_other_ratios(dut: Any) -> None:
    for ratio in ("equal", "fast_to_slow", "slow_to_fast", "apart_100ppm"):
        await _words(dut, ratio)


@test
async def reset_of_one_side_makes_no_pulse_and_tears_no_word(dut: Any) -> None:
    """One cycle of reset at every distance from a pulse and a word: at most that one is lost, the next ones pass."""
    c = await Cells(dut, "wire_to_core").start()
    for rst, clk in ((dut.s_rst, dut.s_clk), (dut.m_rst, dut.m_clk)):
        rst.value = 1
        await wait_cycles(clk, 1)
        rst.value = 0
        await c.idle(60)
        assert not c.pulses and not c.words, "a reset made a pulse or a word"
        for delay in range(12):
            value = c.rng.getrandbits(16)
            await c.word(value)
            await c.pulse()
            await wait_cycles(dut.s_clk, delay)
            rst.value = 1
            await wait_cycles(clk, 1)
            rst.value = 0
            await c.idle(60)
            assert c.words in ([], [value]), f"after a reset came {c.words}, sent was {value:#x}"
            assert len(c.pulses) <= 1, f"{len(c.pulses)} pulses of one"
            c.words.clear()
            c.pulses.clear()
            value = c.rng.getrandbits(16)
            await c.word(value)
            await c.pulse()
            await c.idle(60)
            assert c.words == [value], f"the word after the reset came as {c.words}"
            assert len(c.pulses) == 1, f"{len(c.pulses)} pulses after the reset"
            c.words.clear()
            c.pulses.clear()
    await c.stop()


@test
async def sync_reset_rises_at_once_and_falls_in_step(dut: Any) -> None:
    """At every phase of the clock, for a request longer and shorter than a cycle."""
    c = await Cells(dut, "core_to_wire").start()
    clk = dut.m_clk
    await wait_cycles(clk, 4)
    assert str(dut.rst.value) == "0"
    for length in (100, WIRE_PS // 2, 3 * WIRE_PS):
        for phase in range(80, WIRE_PS, 160):
            await RisingEdge(clk)
            await Timer(phase, "ps")
            dut.arst.value = 1
            await Timer(10, "ps")
            assert str(dut.rst.value) == "1", f"rst didn't rise without a clock, phase {phase} ps"
            await Timer(length - 10, "ps")
            dut.arst.value = 0
            meets = (phase + length) % WIRE_PS == 0
            await Timer(1, "ps")
            history = []
            for _ in range(6):
                await RisingEdge(clk)
                history.append(str(dut.rst.value))
            # The value sampled at an edge is that before it: rst falls after the second edge, so the third samples 0.
            fell = history.index("0")
            assert fell in ((2, 3) if meets else (2,)), f"phase {phase} ps, {length} ps long: {history}"
            assert history[fell:] == ["0"] * (6 - fell), f"rst came back: {history}"
    await c.stop()
