"""Launches the bench of `axis_arb_mux`.

Sweep:    four inputs of 128 bit, all alike, and two that yield to two others; three inputs of 64 bit in regress
Stimulus: random frames on every input, every pair of back-pressure generators, floods, stalls in mid-frame
Checks:   each grant against the round-robin model, frames whole and in order, protocol, fairness, reset in mid-frame
Timing:   latency 1, a beat each cycle without a gap between frames
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.lib.designs import DESIGNS, environment

BENCH = "tb.lib.bench_axis_arb_mux"
YIELDING = [
    "mux_passes_every_length_of_each_input_one_cycle_late",
    "mux_gives_one_input_the_full_rate",
    "mux_serves_inputs_that_yield_when_the_others_have_nothing",
    "mux_keeps_frames_whole_under_any_back_pressure",
    "mux_waits_for_a_slow_input_once_it_has_begun",
]
"""Tests that don't speak of a turn of all inputs."""


def test_arb_mux_of_four(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_arb_mux.n4"], BENCH, env=environment("axis_arb_mux.n4"))


def test_arb_mux_whose_inputs_yield(sim: str, simulate: Callable[..., Any]) -> None:
    name = "axis_arb_mux.first2"
    simulate(DESIGNS[name], BENCH, tests=YIELDING, env=environment(name))


@pytest.mark.regress
def test_arb_mux_of_three(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_arb_mux.n3"], BENCH, env=environment("axis_arb_mux.n3"))
