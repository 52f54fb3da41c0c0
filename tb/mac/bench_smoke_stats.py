"""Bench of ``mac_stats``: counts against plain Python."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import RisingEdge

from tb.lib.clock import WIRE_PS, reset, start_clock, wait_cycles
from tb.lib.suite import seeded, test

__all__: list[str] = []

N, TURN = 21, 32


async def _read(dut: Any, index: int, between: int = 0) -> int:
    """``between``: cycles from the low word to the high one."""
    value = 0
    for word in range(2):
        dut.req.value, dut.index.value, dut.word.value = 1, index, word
        while True:
            await RisingEdge(dut.clk)
            if int(dut.ack.value):
                break
        value |= dut.rdata.value.to_unsigned() << 32 * word
        dut.req.value = 0
        await wait_cycles(dut.clk, 1 + (between if word == 0 else 0))
    return value


@test
async def every_strobe_and_every_byte_is_counted(dut: Any) -> None:
    """Strobes in every cycle from the first on, and at random; amounts that fill their bits; resets clear."""
    rng = seeded("mac_stats")
    start_clock(dut.clk, WIRE_PS)
    dut.req.value = dut.index.value = dut.word.value = 0
    for density in (1.0, 0.3, 0.02):
        dut.incr.value = dut.bytes.value = 0
        await reset(dut.rst, dut.clk)
        counts, total = [0] * N, 0
        for _ in range(700):
            strobes = [rng.random() < density for _ in range(N)]
            amount = 0xFFFF if density == 1.0 else rng.choice([0, 0, rng.randrange(1 << 16)])
            counts = [count + strobe for count, strobe in zip(counts, strobes, strict=True)]
            total += amount
            dut.incr.value = sum(strobe << place for place, strobe in enumerate(strobes))
            dut.bytes.value = amount
            await RisingEdge(dut.clk)
        dut.incr.value = dut.bytes.value = 0
        await wait_cycles(dut.clk, TURN + 1)
        assert [await _read(dut, index) for index in range(N)] == counts
        assert await _read(dut, N) == total


@test
async def a_count_carries_into_its_high_word(dut: Any) -> None:
    """Amounts until the low word overflows; the high word is that of the moment in which the low one was read."""
    start_clock(dut.clk, WIRE_PS)
    dut.req.value = dut.index.value = dut.word.value = dut.incr.value = dut.bytes.value = 0
    await reset(dut.rst, dut.clk)
    dut.bytes.value = 0xFFFF
    await wait_cycles(dut.clk, 65400)
    before = 0
    for _ in range(40):
        value = await _read(dut, N, between=2 * TURN)
        # A high word of another moment would leave a remainder of 1
        assert before <= value and value % 0xFFFF == 0
        before = value
    assert before > 1 << 32
