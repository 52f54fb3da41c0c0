"""Bench of the MAC's slots without their MACs (EN 0): what software finds there."""

from __future__ import annotations

from typing import Any

from tb.lib.clock import wait_cycles
from tb.mac.slots import Slots, test

__all__: list[str] = []


@test
async def a_slot_that_is_left_out_has_its_id_alone(dut: Any) -> None:
    slots = Slots(dut)
    dut.rst.value = dut.rx_rst.value = dut.tx_rst.value = 1
    await wait_cycles(dut.clk, 4)
    dut.rst.value = 0
    await wait_cycles(dut.clk, 4)
    for tx in (False, True):
        value, error, cycles = await slots.access_at(tx, 0)
        assert (value, error) == (1 << 16 | 1, False) and cycles <= 3
        for address in (4, 8, 0x10, 0x14, 0x100, 0x178, 0x1B8):
            _, error, cycles = await slots.access_at(tx, address)
            assert error and cycles <= 3, f"{address:#x}"
    assert int(dut.tx_word.value) == 0xFF << 64 | 0x0707070707070707
    assert str(dut.wire_valid.value) == "0" and str(dut.rx_ready.value) == str(dut.tx_ready.value) == "1"
