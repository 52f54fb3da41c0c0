"""Bench of the slot of ``mac_rx``: the MAC's clock into the port's (docs/mac.md, In the port)."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from models.mac import MacRxModel
from tb.lib.suite import test
from tb.mac.slots import CORE, NS, PPM, WIRE, Slots

__all__: list[str] = []

EDGES = 7
"""Edges of ``rx_clk`` from that which takes start to that with which the first beat is in the crossing."""
CORE_EDGES = 4


async def _line_rate(dut: Any, rx: int) -> None:
    slots = await Slots(dut, rx=rx).start()
    frames = [slots.frame(length) for length in (*range(60, 201), *[60] * 60, *[61] * 60, 9596, *range(200, 59, -1))]
    words = slots.receive(frames)
    await slots.drain(8000)
    assert [frame.user for frame in slots.got] == [0] * len(frames)
    assert [frame.data for frame in slots.got] == frames
    seen, spans = set(), []
    for frame, start in zip(slots.got, slots.starts, strict=True):
        entered = start + EDGES * rx
        first = slots.edges_of_clk[bisect_right(slots.edges_of_clk, entered) :]
        assert first[CORE_EDGES - 1] == frame.first, f"start {start} ps, first beat {frame.first} ps"
        between = slots.edges_of_clk
        seen.add(bisect_right(between, frame.first) - bisect_right(between, start))
        spans.append(frame.first - start - EDGES * rx)
        assert abs(frame.time - slots.now_at(start - rx)) <= 8
    assert seen == {8, 9}, f"edges of clk from start to the first beat: {seen}"
    assert 3 * CORE < min(spans) < 3.1 * CORE and 3.9 * CORE < max(spans) <= 4 * CORE, (min(spans), max(spans))
    times = [frame.time for frame in slots.got]
    assert times == sorted(times)
    assert await slots.counters("mac_rx") == MacRxModel(max_frame=9596).run(words).events


@test
async def frames_pass_at_line_rate_from_a_clock_that_is_slower(dut: Any) -> None:
    await _line_rate(dut, WIRE + PPM)


@test
async def frames_pass_at_line_rate_from_a_clock_that_is_faster(dut: Any) -> None:
    await _line_rate(dut, WIRE - PPM)
