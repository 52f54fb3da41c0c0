"""Launches the bench of what broke other people's MACs and PCSs.

Sweep:    first frames behind a reset, each kind of pause frame, lengths beyond 16 and 17 bits, each gap
Stimulus: the inputs of the reports: unknown lanes, wrong bytes and bits at line rate, dead lines
Checks:   typed frames, reasons and counters; each wrong frame is bad and no other
Timing:   frames at the mean gap of 12; a dead line is found within 128 blocks
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.mac.designs import pcs_design

SMALL = ["the_first_frames_behind_a_reset_are_received_whole", "lanes_beyond_tkeep_may_be_unknown"]
"""What Icarus runs: it knows X."""


def test_field_reports(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(pcs_design(), "tb.mac.bench_field", tests=SMALL if sim == "icarus" else None)
