"""Launches the bench of `axis_arb_mux`.

Sweep:    four inputs of 128 bit; three inputs of 64 bit in regress
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


def test_arb_mux_of_four(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_arb_mux.n4"], BENCH, env=environment("axis_arb_mux.n4"))


@pytest.mark.regress
def test_arb_mux_of_three(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_arb_mux.n3"], BENCH, env=environment("axis_arb_mux.n3"))
