"""Bench of ``nic_account``: every disposition is reported and counted once, whatever the bursts.

A disposition's queue is the number of its source here and its ``seq`` counts up in each source, so each one is known
again at the output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from tb.lib import cover
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.suite import seeded

__all__: list[str] = []

SOURCES = 3
DEPTH = (64, 512, 512)
"""Of each source's FIFO: the first is not deep."""
CODES = 128
CLEAR_CYCLES = 128
LATENCY = 2
BUFFER_FRAMES = 256

_depth = cover.point("nic_account.depth", ["empty", "some", "half", "full"])
_at_once = cover.point("nic_account.at_once", [1, 2, 3])


class Bench:
    """Drives dispositions from a plan, a cycle at a time, and keeps the books of all that went in and came out."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = seeded("nic_account")
        start_clock(dut.clk)
        dut.rst.value = 1
        dut.s_disp_valid.value = 0
        dut.table_req.value = 0
        self.given: list[list[tuple[int, int, int]]] = [[] for _ in range(SOURCES)]
        self.taken: list[list[tuple[int, int, int]]] = [[] for _ in range(SOURCES)]
        self.lost = 0
        self.codes: Sequence[int] = (*range(CODES), *(1, 16, 17, 19) * 32)
        self.deepest = 0
        cocotb.start_soon(self._watch())

    async def start(self) -> Bench:
        """Reset, and wait for the end of the clearing."""
        await reset(self.dut.rst, self.dut.clk)
        while self.dut.ready.value != 1:
            await RisingEdge(self.dut.clk)
        return self

    async def _watch(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.clk)
        while True:
            await edge
            if str(dut.rst.value) != "0":
                continue
            if int(dut.m_disp_valid.value):
                seq, code = int(dut.m_disp_seq.value), int(dut.m_disp_code.value)
                self.taken[int(dut.m_disp_queue.value)].append((seq, code, cycle(dut.clk)))
            self.lost += int(dut.lost.value)
            for source in range(SOURCES):
                level = len(self.given[source]) - len(self.taken[source])
                self.deepest = max(self.deepest, level)
                depth = DEPTH[source]
                _depth("empty" if not level else "some" if level < depth // 2 else "half" if level < depth else "full")

    async def play(self, cycles: int, plan: Callable[[int], set[int]]) -> None:
        """For ``cycles`` cycles the sources in ``plan(number of the cycle)`` report a frame each, with some code."""
        dut, edge, rng = self.dut, RisingEdge(self.dut.clk), self.rng
        for number in range(cycles):
            sources = plan(number)
            seq, code, queue = (rng.getrandbits(SOURCES * bits) for bits in (16, 8, 8))
            fresh = {}
            for source in sources:
                fresh[source] = (len(self.given[source]) & 0xFFFF, rng.choice(self.codes))
                seq = seq & ~(0xFFFF << 16 * source) | fresh[source][0] << 16 * source
                code = code & ~(0xFF << 8 * source) | fresh[source][1] << 8 * source
                queue = queue & ~(0xFF << 8 * source) | source << 8 * source
            dut.s_disp_valid.value = sum(1 << source for source in sources)
            dut.s_disp_seq.value, dut.s_disp_code.value, dut.s_disp_queue.value = seq, code, queue
            await edge
            for source, (number_of, code_of) in fresh.items():
                self.given[source].append((number_of, code_of, cycle(dut.clk)))
            if sources:
                _at_once(len(sources))
        dut.s_disp_valid.value = 0

    async def drain(self) -> None:
        """Wait until the module is idle."""
        await RisingEdge(self.dut.clk)
        for _ in range(sum(DEPTH) + 8):
            await RisingEdge(self.dut.clk)
            if self.dut.idle.value == 1:
                return
        raise AssertionError("not idle though nothing comes in")

    async def read(self, index: int, word: int) -> int:
        dut = self.dut
        dut.table_req.value, dut.table_index.value, dut.table_word.value = 1, index, word
        begin = cycle(dut.clk)
        while True:
            await RisingEdge(dut.clk)
            if dut.table_ack.value == 1:
                break
        dut.table_req.value = 0
        assert cycle(dut.clk) - begin == 2, f"table_ack came {cycle(dut.clk) - begin - 1} cycles after table_req"
        return int(dut.table_rdata.value)

    async def counts(self) -> Counter[int]:
        """The whole table."""
        found: Counter[int] = Counter()
        for index in range(CODES):
            value = await self.read(index, 0) | await self.read(index, 1) << 32
            if value:
                found[index] = value
        return found

    def check_exactly_once(self) -> None:
        """All that went in came out, once, in the order of its source."""
        for source in range(SOURCES):
            given = [entry[:2] for entry in self.given[source]]
            taken = [entry[:2] for entry in self.taken[source]]
            assert taken == given, f"source {source}: {len(given)} went in, {len(taken)} came out\n{given}\n{taken}"

    async def check_counts(self) -> None:
        """The table holds what came out."""
        want = Counter(code for taken in self.taken for _, code, _ in taken)
        found = await self.counts()
        assert found == want, f"counted {dict(found)}, {dict(want)} were reported"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def account_counts_every_disposition_once(dut: Any) -> None:
    bench = await Bench(dut).start()
    rng = bench.rng
    for rates in ((0.3, 0.3, 0.3), (0.05, 0.2, 0.7), (1.0, 0, 0), (0, 0, 1.0), (0.9, 0.02, 0.02), (0.1, 0.1, 0.1)):

        def plan(_: int, rates: tuple[float, ...] = rates) -> set[int]:
            return {source for source in range(SOURCES) if rng.random() < rates[source]}

        await bench.play(300, plan)
        await bench.drain()
    bench.check_exactly_once()
    await bench.check_counts()
    assert not bench.lost


@cocotb.test(timeout_time=400, timeout_unit="us")
async def account_reports_two_cycles_late_where_nothing_waits(dut: Any) -> None:
    bench = await Bench(dut).start()
    await bench.play(60, lambda number: {number // 3 % 3} if number % 3 == 0 else set())
    await bench.play(20, lambda _: {2})
    await bench.drain()
    for source in range(SOURCES):
        for given, taken in zip(bench.given[source], bench.taken[source], strict=True):
            assert taken[2] - given[2] == LATENCY, f"source {source}: latency {taken[2] - given[2]}"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def account_counts_one_disposition_a_cycle(dut: Any) -> None:
    bench = await Bench(dut).start()
    await bench.play(40, lambda _: {0, 1, 2} if len(bench.given[0]) < 30 else set())
    await bench.drain()
    bench.check_exactly_once()
    cycles = sorted(entry[2] for taken in bench.taken for entry in taken)
    assert cycles == list(range(cycles[0], cycles[0] + 90)), "a cycle without a report while dispositions wait"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def account_never_overflows_at_the_worst_burst_of_a_port(dut: Any) -> None:
    """Two full buffers of one-beat frames drain, each one a cycle, while frames go on to enter and to be dropped every
    four: of rx, those that rx_buffer holds and those that were redirected to tx_sched. Dropped frames come in a row
    first, as many as can stand in front of rx_buffer.
    """
    bench = await Bench(dut).start()

    def plan(number: int) -> set[int]:
        sources = {1, 2}
        if number < 20 or number % 4 == 0:
            sources.add(0)
        return sources

    for _ in range(3):
        await bench.play(BUFFER_FRAMES + 20, plan)
        await bench.drain()
    bench.check_exactly_once()
    await bench.check_counts()
    assert not bench.lost
    assert bench.deepest <= 415, f"a FIFO held {bench.deepest}"
    assert bench.deepest >= 200, "the burst was not the worst one"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def account_holds_sixty_four_and_says_so_when_one_more_is_lost(dut: Any) -> None:
    """Nothing is counted while the table is cleared, so the FIFOs fill."""
    for extra in (0, 1, 3):
        bench = Bench(dut)
        await reset(dut.rst, dut.clk)
        await bench.play(DEPTH[0] + extra, lambda _: {0})
        await wait_cycles(dut.clk, 3)
        assert dut.ready.value == 0, "the table was clear too soon for this test"
        assert bench.lost == extra, f"{bench.lost} reported as lost, {extra} were"
        while dut.ready.value != 1:
            await RisingEdge(dut.clk)
        await bench.drain()
        assert [entry[:2] for entry in bench.taken[0]] == [entry[:2] for entry in bench.given[0][: DEPTH[0]]]
        await bench.check_counts()


@cocotb.test(timeout_time=400, timeout_unit="us")
async def account_holds_five_hundred_and_twelve_of_a_deep_source(dut: Any) -> None:
    """Two of them report in each cycle: once both are half full the first is served, and the second one fills."""
    bench = await Bench(dut).start()
    while not bench.lost:
        await bench.play(1, lambda _: {1, 2})
    assert bench.deepest >= DEPTH[2], f"lost one when a FIFO held {bench.deepest}"
    await bench.drain()
    assert [entry[:2] for entry in bench.taken[1]] == [entry[:2] for entry in bench.given[1]]
    assert len(bench.taken[2]) + bench.lost == len(bench.given[2])
    await bench.check_counts()


@cocotb.test(timeout_time=400, timeout_unit="us")
async def account_clears_its_table_at_reset_and_loses_nothing_meanwhile(dut: Any) -> None:
    bench = await Bench(dut).start()
    await bench.play(200, lambda _: {bench.rng.randrange(SOURCES)})
    await bench.drain()
    await bench.check_counts()
    bench = Bench(dut)
    await reset(dut.rst, dut.clk)
    assert dut.ready.value == 0 and dut.idle.value == 0
    begin = cycle(dut.clk)
    await bench.play(CLEAR_CYCLES - 8, lambda number: {number // 4 % 2} if number % 4 == 0 else set())
    while dut.ready.value != 1:
        await RisingEdge(dut.clk)
    assert cycle(dut.clk) - begin == CLEAR_CYCLES, f"ready after {cycle(dut.clk) - begin} cycles"
    await bench.drain()
    bench.check_exactly_once()
    await bench.check_counts()


@cocotb.test(timeout_time=400, timeout_unit="us")
async def account_reads_a_counter_whole_while_it_moves(dut: Any) -> None:
    """Word 0 latches word 1, though the counter goes past 2**32 in between; another counter shows its own."""
    bench = await Bench(dut).start()
    dut.count_ram[17].value = 0xFFFFFFFF
    dut.count_ram[18].value = 7 << 32 | 5
    await RisingEdge(dut.clk)
    assert await bench.read(17, 0) == 0xFFFFFFFF
    bench.codes = [17]
    await bench.play(1, lambda _: {0})
    await bench.drain()
    assert await bench.read(18, 1) == 7
    assert await bench.read(17, 1) == 0, "word 1 is not that of when word 0 was read"
    assert await bench.read(17, 0) == 0
    assert await bench.read(17, 1) == 1
    assert await bench.read(18, 0) == 5
    assert await bench.read(17, 1) == 1
    assert await bench.read(18, 1) == 7
