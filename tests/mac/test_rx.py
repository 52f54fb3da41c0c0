"""Launches the bench of `mac_rx` and `mac_time`.

Sweep:    every verdict, length, gap, terminate lane and start lane; a control character at every position
Stimulus: written words, right and wrong; words lost and doubled; cocotbext-eth's source; sequences of faults
Checks:   models/mac.py: bytes, verdicts, counters, times, link faults in each cycle; the frame behind is always whole
Timing:   first beat 5 cycles behind the word with start, in both lanes
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.mac.designs import bench_design

SMALL = [
    "each_kind_of_frame_has_its_verdict_and_its_counter_and_no_other",
    "reset_in_mid_frame_leaves_nothing_behind",
]
"""What Icarus runs: it knows X."""


def test_receiver(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(bench_design(), "tb.mac.bench_rx", tests=SMALL if sim == "icarus" else None)
