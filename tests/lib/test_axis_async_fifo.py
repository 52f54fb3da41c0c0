"""Launches the bench of `axis_async_fifo`.

Sweep:    clocks 390.625/250 MHz both ways, equal, shifted, 100 ppm apart both ways; a shallow 64-bit one in regress
Stimulus: random frames of every length, back-pressure, a reset of either side at each cycle of a frame
Checks:   bytes, order, capacity; a cut frame ends bad and is a beginning of what was written; the next frame is whole
Timing:   3 cycles of m_clk (4 where edges meet); a beat a cycle of the slower clock
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.lib.designs import DESIGNS, environment

BENCH = "tb.lib.bench_axis_async_fifo"


def test_async_fifo(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_async_fifo.d32"], BENCH, env=environment("axis_async_fifo.d32"))


@pytest.mark.regress
def test_async_fifo_of_16_beats_of_64_bit(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_async_fifo.d16w64"], BENCH, env=environment("axis_async_fifo.d16w64"))
