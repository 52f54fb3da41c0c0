"""Bench of ``pcs_rx`` as it is built for 25G: 97 invalid sync headers in 2 ms of 2.56 ns, clause 107."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge, Timer

from models.mac_lock import BER_25G
from models.mac_pcs import CONTROL_SYNC
from tb.lib.clock import WIRE_PS, cycle, high_within, reset, start_clock, wait_cycles
from tb.lib.suite import four_state

__all__: list[str] = []

LIMIT, PERIOD = BER_25G


async def burst(dut: Any, invalid: int) -> None:
    """So many invalid headers, each in eight."""
    edge = RisingEdge(dut.clk)
    for _ in range(invalid):
        dut.block.value = 0
        await edge
        dut.block.value = CONTROL_SYNC
        await wait_cycles(dut.clk, 7)


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def two_milliseconds_of_25g(dut: Any) -> None:
    """96 in a period are none; 97 are; it ends with the period behind, counted from the lock."""
    assert not four_state()
    start_clock(dut.clk, WIRE_PS)
    for name in ("cfg_pattern", "cfg_data_lf", "pattern_clear", "ber_clear", "errored_clear"):
        getattr(dut, name).value = 0
    dut.signal_ok.value, dut.block.value = 1, CONTROL_SYNC
    await reset(dut.rst, dut.clk)
    assert await high_within(dut.clk, dut.block_lock, 70)
    begin = cycle(dut.clk)

    async def until(place: int) -> None:
        await Timer((begin + place - cycle(dut.clk)) * WIRE_PS, "ps")
        await RisingEdge(dut.clk)

    await burst(dut, LIMIT - 1)
    assert str(dut.hi_ber.value) == "0"
    await until(PERIOD + 10)
    await burst(dut, LIMIT - 1)
    assert str(dut.hi_ber.value) == "0"
    await burst(dut, 1)
    assert str(dut.hi_ber.value) == "1" and str(dut.rx_status.value) == "0"
    await until(3 * PERIOD - 4)
    assert str(dut.hi_ber.value) == "1"
    await until(3 * PERIOD + 4)
    assert str(dut.hi_ber.value) == "0" and str(dut.rx_status.value) == "1"
