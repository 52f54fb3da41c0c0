"""Bench of ``mac_stats``: strobes and an amount in, 64-bit counts out, against sums of Python."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import RisingEdge

from tb.lib import cover
from tb.lib.clock import WIRE_PS, reset, start_clock, wait_cycles
from tb.lib.suite import seeded, test

__all__: list[str] = []

BEHIND = 33
"""Most cycles from a strobe to its count: 2^INDEX_W + 1."""
seen = cover.point("mac.stats", ["alone", "together", "carry", "reset"])


class Stats:
    """The module, the sums that are due, and a reader."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.edge = RisingEdge(dut.clk)
        self.rng = seeded("stats")
        self.strobes = len(dut.incr)
        self.sums = [0] * (self.strobes + 1)
        start_clock(dut.clk, WIRE_PS)
        for name in ("incr", "bytes", "req", "index", "word"):
            getattr(dut, name).value = 0
        dut.rst.value = 1

    async def start(self) -> Stats:
        await reset(self.dut.rst, self.dut.clk)
        return self

    async def drive(self, incr: int, amount: int = 0, cycles: int = 1) -> None:
        """Strobes for some cycles; then the inputs are 0."""
        self.dut.incr.value, self.dut.bytes.value = incr, amount
        await wait_cycles(self.dut.clk, cycles)
        self.dut.incr.value = self.dut.bytes.value = 0
        for index in range(self.strobes):
            self.sums[index] += cycles * (incr >> index & 1)
        self.sums[self.strobes] += cycles * amount

    async def read(self, index: int, word: int) -> int:
        dut = self.dut
        dut.req.value, dut.index.value, dut.word.value = 1, index, word
        for _ in range(2):
            await self.edge
            if str(dut.ack.value) == "1":
                value = int(str(dut.rdata.value), 2)
                dut.req.value = 0
                await self.edge
                return value
        raise AssertionError(f"no answer for counter {index}")

    async def count(self, index: int) -> int:
        low = await self.read(index, 0)
        return low | await self.read(index, 1) << 32

    async def check(self) -> None:
        await wait_cycles(self.dut.clk, BEHIND)
        got = [await self.count(index) for index in range(self.strobes + 1)]
        assert got == self.sums, f"{got}, due {self.sums}"


@test
async def each_strobe_alone_moves_its_counter_and_no_other(dut: Any) -> None:
    s = await Stats(dut).start()
    for index in range(s.strobes):
        await s.drive(1 << index)
        await s.check()
    await s.drive(0, 1)
    await s.check()
    await s.drive(0, 0xFFFF)
    await s.check()
    seen("alone")


@test
async def all_of_them_in_every_cycle_lose_nothing(dut: Any) -> None:
    """Each phase of the turns that the one adder takes, runs of every length, and by chance."""
    s = await Stats(dut).start()
    ones = (1 << s.strobes) - 1
    for cycles in range(1, 70):
        await s.drive(ones, 0xFFFF, cycles)
        await wait_cycles(dut.clk, s.rng.randrange(40))
    await s.check()
    for _ in range(2000):
        await s.drive(s.rng.getrandbits(s.strobes), s.rng.choice((0, 64, s.rng.getrandbits(16))))
    await s.check()
    seen("together")


@test
async def a_read_of_the_low_word_latches_the_high_one(dut: Any) -> None:
    """The amount crosses 2^32 between the two reads, and the pair still belongs together."""
    s = await Stats(dut).start()
    await s.drive(0, 0xFFFF, 65537)
    await wait_cycles(dut.clk, BEHIND)
    assert s.sums[s.strobes] == 0xFFFFFFFF
    low = await s.read(s.strobes, 0)
    await s.drive(1, 5)
    await wait_cycles(dut.clk, BEHIND)
    high = await s.read(s.strobes, 1)
    assert (high, low) == (0, 0xFFFFFFFF)
    await s.check()
    assert await s.count(s.strobes) == 0x1_0000_0004
    seen("carry")


@test
async def a_reset_clears_all_and_the_first_strobe_behind_it_counts(dut: Any) -> None:
    s = await Stats(dut).start()
    await s.drive((1 << s.strobes) - 1, 1000, 50)
    dut.rst.value = 1
    await wait_cycles(dut.clk, 1)
    dut.rst.value = 0
    s.sums = [0] * (s.strobes + 1)
    await s.drive((1 << s.strobes) - 1, 7)
    await s.check()
    seen("reset")
