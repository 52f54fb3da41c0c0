"""Launches the bench of `mac_tx`.

Sweep:    every length around each boundary (all of them in regress), gaps, deficit on and off, each fault, each delay
Stimulus: frames back to back, with pauses, bad, starved, under faults, cut by a reset; noise in lanes beyond tkeep
Checks:   each word on XGMII against models/mac.py; cocotbext-eth's sink; each counter for its own event and no other
Timing:   start 2 cycles behind the first beat; 10.5 cycles a 64 B frame and 192.25 a 1518 B frame, exactly
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.mac.designs import bench_design, pcs_design

SMALL = [
    "counters_move_for_their_own_event_only",
    "a_starving_source_ends_its_frame_in_errors",
    "reset_in_mid_frame_leaves_nothing_behind",
]
"""What Icarus runs: it knows X."""


def test_transmitter(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(bench_design(), "tb.mac.bench_tx", tests=SMALL if sim == "icarus" else None)


@pytest.mark.regress
@pytest.mark.parametrize("part", range(8))
def test_every_length(part: int, simulate: Callable[..., Any]) -> None:
    simulate(pcs_design(), "tb.mac.bench_lengths", env={"NICLOOP_MAC_PART": str(part)}, timeout_s=1800)
