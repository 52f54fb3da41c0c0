"""Launches the bench of the MAC with itself, at XGMII and through the PCS.

Sweep:    every length around each boundary, both routes
Stimulus: frames alone, back to back, good and bad; link faults from the far end
Checks:   models/mac.py at both ends: bytes, verdicts, counters
Timing:   7 cycles from beat to beat, 12 through the PCS; 100.0 % of line rate in both directions at once
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.mac.designs import pcs_design


def test_loop(verilator: str, simulate: Callable[..., Any]) -> None:
    simulate(pcs_design(), "tb.mac.bench_loop")
