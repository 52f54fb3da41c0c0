"""Launches the benches of the MAC's slots in the port.

Sweep:    clocks 100 ppm apart either way, each length of 60 to 200 bytes and jumbo; resets of each clock in many phases
Stimulus: line rate in both directions, clocks that stop, resets of one clock in mid-frame, link faults, jumps of time
Checks:   every frame byte for byte, one end each with its code; counters across the clocks against models/mac.py
Timing:   latency to the edge, as the slots' headers say; timestamps within 8 ns of the port's time, and monotonic
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.mac.designs import slots_design

SMALL = {
    "rx": ["faults_of_the_link_are_seen_and_remembered", "a_clock_that_stops_cuts_one_frame", "settings_reach_the_mac"],
    "tx": ["frames_are_thrown_away_under_a_fault_and_pass_behind_it", "a_stopped_clock_starves_a_frame"],
}
"""What Icarus runs: it knows X."""


@pytest.mark.parametrize("slot", ["rx", "tx"])
def test_slots(slot: str, sim: str, simulate: Callable[..., Any]) -> None:
    simulate(slots_design(), f"tb.mac.bench_slot_{slot}", tests=SMALL[slot] if sim == "icarus" else None)


def test_slots_that_are_left_out(simulate: Callable[..., Any]) -> None:
    simulate(slots_design(enable=0), "tb.mac.bench_slot_left_out", sim="icarus")
