"""Bench of ``axis_adapter``: 64 to 128 bit and 128 to 64 bit.

Kinds of slaclab/surf#1096 and cucapra/protocols#166: a beat without bytes beside ``tlast``, or ``tlast`` a beat late or
early, where the last wide beat is partly empty.
"""

from __future__ import annotations

from typing import Any

from models.lib import adapter_latency
from tb.lib.clock import wait_cycles
from tb.lib.designs import current
from tb.lib.oracle import check_against_cocotbext_axi
from tb.lib.suite import (
    Harness,
    boundary_lengths,
    check_every_length,
    check_no_combinational_path,
    check_pause_pairs,
    check_reset_in_mid_frame,
    check_throughput,
    test,
)

__all__: list[str] = []

S_WIDTH = int(current().parameters["S_DATA_W"]) // 8
M_WIDTH = int(current().parameters["M_DATA_W"]) // 8
NAME = f"axis_adapter_{8 * S_WIDTH}_{8 * M_WIDTH}"


def _latency(length: int) -> int:
    return adapter_latency(length, S_WIDTH, M_WIDTH)


async def _adapter(dut: Any, *, protocol: bool = True) -> Harness:
    return await Harness(dut, NAME, _latency, protocol=protocol).start()


@test
async def adapter_passes_every_length_in_the_cycle_of_the_model(dut: Any) -> None:
    await check_every_length(await _adapter(dut))


@test
async def adapter_makes_no_empty_beat_at_any_length_under_stalls(dut: Any) -> None:
    """Every length to four wide beats and a byte, in random order, under the pairs that move the last beat most."""
    h = await _adapter(dut)
    for pair in (("random", "random"), ("none", "stall_last"), ("stall_last", "none"), ("gap", "after_valid")):
        h.pause(*pair)
        lengths = boundary_lengths(max(S_WIDTH, M_WIDTH))
        h.rng.shuffle(lengths)
        await h.transfer(h.frame(length) for length in lengths)
    await h.quiet()


@test
async def adapter_keeps_frames_whole_under_any_back_pressure(dut: Any) -> None:
    # To a wider stream a gap of the source delays the word that it falls in: the exact cycle is checked without gaps.
    await check_pause_pairs(await _adapter(dut), cycles=S_WIDTH > M_WIDTH)


@test
async def adapter_takes_a_beat_of_the_narrow_side_each_cycle(dut: Any) -> None:
    await check_throughput(await _adapter(dut))


@test
async def adapter_forgets_a_frame_at_reset(dut: Any) -> None:
    await check_reset_in_mid_frame(await _adapter(dut))


@test
async def adapter_has_no_path_from_side_to_side(dut: Any) -> None:
    await check_no_combinational_path(await _adapter(dut, protocol=False))


@test
async def adapter_gives_a_last_half_at_once(dut: Any) -> None:
    """A frame that ends in the first half of a wide beat doesn't wait for a second half, whatever comes after it."""
    h = await _adapter(dut)
    for length in range(1, 9):
        frame = h.frame(16 + length)
        (out,) = await h.transfer([frame])
        assert out.last_cycle - frame.last_cycle <= 2
        await wait_cycles(h.clk, 1)


@test
async def adapter_agrees_with_cocotbext_axi(dut: Any) -> None:
    await check_against_cocotbext_axi(dut, "adapter")
