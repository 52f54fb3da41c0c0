"""Bench of ``mac_time`` against plain Python."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import RisingEdge

from tb.lib.clock import WIRE_PS, start_clock, wait_cycles
from tb.lib.suite import seeded, test

__all__: list[str] = []

INCREMENT = 0x028F5C28F5
"""2.56 ns, 8.32."""


@test
async def time_grows_by_the_increment_and_can_be_put(dut: Any) -> None:
    rng = seeded("mac_time")
    start_clock(dut.clk, WIRE_PS)
    dut.cfg_increment.value, dut.set_valid.value, dut.set_time.value = INCREMENT, 0, 0
    dut.rst.value = 1
    await wait_cycles(dut.clk, 2)
    dut.rst.value = 0
    now = 0
    for step in range(3000):
        increment = INCREMENT if step < 1000 else rng.getrandbits(40)
        put = rng.getrandbits(96) if rng.random() < 0.05 else None
        dut.cfg_increment.value = increment
        dut.set_valid.value = int(put is not None)
        dut.set_time.value = rng.getrandbits(96) if put is None else put
        await RisingEdge(dut.clk)
        assert dut.now.value.to_unsigned() == now
        now = (now + increment) % (1 << 96) if put is None else put
