"""Launches the bench of `axis_demux`.

Sweep:    three outputs of 128 bit, so that one destination is none; four of 64 bit in regress
Stimulus: random frames to every destination, every pair of back-pressure generators
Checks:   frames whole, at their output, in order; drops reported once each; in = out + drops; protocol; reset
Timing:   latency 1, a beat each cycle whatever the destination, a drop reported the cycle after its last beat
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.lib.designs import DESIGNS, environment

BENCH = "tb.lib.bench_axis_demux"


def test_demux_of_three(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_demux.n3"], BENCH, env=environment("axis_demux.n3"))


@pytest.mark.regress
def test_demux_of_four(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_demux.n4"], BENCH, env=environment("axis_demux.n4"))
