"""Bench of ``nic_time``: the counter against 96-bit integers."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from tb.lib import cover
from tb.lib.clock import reset, start_clock
from tb.lib.suite import seeded

__all__: list[str] = []

FOUR_NS = 4 << 32
FRACTION = 2**32 - 1

_advance = cover.point("nic_time.advance", ["forward", "equal", "backward"])
_carry = cover.point("nic_time.carry", ["fraction", "word"])


class Bench:
    """The counter, and the integer that it must equal: ns in 32.32 steps."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = seeded("nic_time")
        start_clock(dut.clk)
        self.want = 0

    async def start(self) -> Bench:
        self.dut.increment.value = FOUR_NS
        self.dut.advance.value = 0
        self.dut.target.value = self.rng.getrandbits(64)
        self.dut.target_fraction.value = self.rng.getrandbits(32)
        self.dut.rst.value = 1
        await RisingEdge(self.dut.clk)
        await RisingEdge(self.dut.clk)
        assert int(self.dut.now.value) == 0, "time runs in reset"
        self.dut.rst.value = 0
        self.want = 0
        return self

    async def step(self, increment: int, target: int | None = None, fraction: int = 0) -> None:
        """One cycle with these inputs; ``target`` in ns and ``fraction`` of one; None: no advance."""
        dut = self.dut
        dut.increment.value = increment
        dut.advance.value = target is not None
        dut.target.value = self.rng.getrandbits(64) if target is None else target
        dut.target_fraction.value = self.rng.getrandbits(32) if target is None else fraction
        await RisingEdge(dut.clk)
        now = int(dut.now.value)
        assert now == self.want >> 32, f"now is {now}, not {self.want >> 32}"
        part = int(dut.fraction.value)
        assert part == self.want & FRACTION, f"fraction is {part:#x}, not {self.want & FRACTION:#x}"
        before = self.want
        wanted = None if target is None else target << 32 | fraction
        if wanted is not None and wanted > before:
            self.want = wanted
        else:
            self.want = (self.want + increment) % 2**96
            _carry("fraction")
            if before >> 64 != self.want >> 64:
                _carry("word")
        if wanted is not None:
            _advance("forward" if wanted > before else "equal" if wanted == before else "backward")


@cocotb.test(timeout_time=400, timeout_unit="us")
async def time_grows_by_its_increment_to_the_last_fraction(dut: Any) -> None:
    bench = await Bench(dut).start()
    for increment in (FOUR_NS, 1, 0, 2**40 - 1, 0x28F5C28F6, 2**32 - 1, 2**31):
        for _ in range(40):
            await bench.step(increment)
    for _ in range(300):
        await bench.step(bench.rng.getrandbits(40))


@cocotb.test(timeout_time=400, timeout_unit="us")
async def time_advances_forward_only(dut: Any) -> None:
    """A target that is not above `now` with its fraction leaves the growth alone."""
    bench = await Bench(dut).start()
    rng = bench.rng
    for _ in range(400):
        now = bench.want >> 32
        distance = rng.choice((-(2**33), -4, -1, 0, 0, 1, 3, 4, 5, 1000, 2**33))
        part = bench.want & FRACTION
        fraction = rng.choice((0, part, max(part - 1, 0), min(part + 1, FRACTION), rng.getrandbits(32)))
        target = max(now + distance, 0) if rng.random() < 0.6 else None
        await bench.step(rng.choice((FOUR_NS, 0x28F5C28F6)), target, fraction)


@cocotb.test(timeout_time=400, timeout_unit="us")
async def time_carries_through_both_words(dut: Any) -> None:
    bench = await Bench(dut).start()
    for target in (2**32 - 10, 2**33 - 5, 2**63 - 9, 2**64 - 6):
        await bench.step(FOUR_NS, target)
        for _ in range(5):
            await bench.step(0x180000001)


@cocotb.test(timeout_time=400, timeout_unit="us")
async def time_starts_over_at_reset(dut: Any) -> None:
    bench = await Bench(dut).start()
    await bench.step(FOUR_NS, 123456789)
    await bench.step(FOUR_NS)
    await bench.start()
    for _ in range(4):
        await bench.step(FOUR_NS)
    await reset(dut.rst, dut.clk)
