"""Launches the bench of `mac_stats`.

Sweep:    each strobe alone and all of them, each phase of the turns, the carry into the high word, a reset
Stimulus: strobes for single cycles, runs of them, every cycle, by chance
Checks:   sums of Python, for every counter each time
Timing:   a count is at most 33 cycles behind; an answer comes within 2 cycles of its request
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.mac.designs import mac_design


def test_counters(sim: str, simulate: Callable[..., Any]) -> None:
    tests = ["each_strobe_alone_moves_its_counter_and_no_other"] if sim == "icarus" else None
    simulate(mac_design("mac_stats"), "tb.mac.bench_stats", tests=tests)
