"""Launches the benches of the MAC's slots in the port.

Sweep:    clocks 100 ppm apart either way, each length of 60 to 200 bytes and jumbo; resets of each clock in many phases
Stimulus: line rate in both directions, clocks that stop, resets of one clock in mid-frame, link faults, jumps of time
Checks:   every frame byte for byte, one end each with its code; counters across the clocks against models/mac.py
Timing:   latency to the edge, as the slots' headers say; timestamps within 8 ns of the port's time, and monotonic
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.mac.designs import slots_design


def test_receive_slot(simulate: Callable[..., Any]) -> None:
    simulate(slots_design(), "tb.mac.bench_slot_rx", sim="verilator")
