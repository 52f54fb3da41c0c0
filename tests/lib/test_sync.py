"""Launches the bench of `sync_bit`, `sync_pulse`, `sync_reset` and `sync_bus`.

Sweep:    six pairs of clocks, of ratios from 1:7 to 7:1, equal and 100 ppm apart
Stimulus: levels and resets at every phase of the clock; pulses alone and in bursts; random words; resets of one side
Checks:   nothing lost, doubled, torn or glitched; a reset makes nothing
Timing:   edges of the receiving clock: 2 (bit, pulse, release of a reset), 3 (bus); one more where edges meet
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.lib.designs import DESIGNS, environment


def test_clock_crossing_cells(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["sync.all"], "tb.lib.bench_sync", env=environment("sync.all"))
