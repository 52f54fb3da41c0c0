"""Bench of ``axis_register``: a skid buffer that keeps frames whole under any back-pressure, one cycle late."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from models.lib import REGISTER_LATENCY
from tb.lib.clock import wait_cycles
from tb.lib.oracle import check_against_cocotbext_axi
from tb.lib.suite import (
    Harness,
    check_every_length,
    check_no_combinational_path,
    check_pause_pairs,
    check_reset_in_mid_frame,
    check_throughput,
    test,
)

__all__: list[str] = []


async def _harness(dut: Any) -> Harness:
    return await Harness(dut, "axis_register", REGISTER_LATENCY, exact=True).start()


@test
async def register_passes_every_length_one_cycle_late(dut: Any) -> None:
    await check_every_length(await _harness(dut))


@test
async def register_has_no_bubble_under_any_back_pressure(dut: Any) -> None:
    await check_pause_pairs(await _harness(dut))


@test
async def register_takes_a_beat_each_cycle(dut: Any) -> None:
    await check_throughput(await _harness(dut))


@test
async def register_forgets_a_frame_at_reset(dut: Any) -> None:
    await check_reset_in_mid_frame(await _harness(dut))


@test
async def register_has_no_path_from_side_to_side(dut: Any) -> None:
    harness = Harness(dut, "axis_register", REGISTER_LATENCY, protocol=False)
    await check_no_combinational_path(await harness.start())


@test
async def register_holds_two_beats(dut: Any) -> None:
    """Two beats of room make a full rate possible with registered ready; a third would be another module."""
    h = await _harness(dut)
    h.sink.pause = repeat(False)
    h.source.append(h.frame(5 * h.s_width))
    await wait_cycles(h.clk, 10)
    held = h.checkers[0].beats - h.checkers[1].beats
    assert held == 2, f"a stalled register holds {held} beats"
    h.sink.pause = None
    await h.sink.recv()
    await h.quiet()


@test
async def register_agrees_with_cocotbext_axi(dut: Any) -> None:
    await check_against_cocotbext_axi(dut, "register")
