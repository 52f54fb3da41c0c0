"""Launches the bench of `axis_register`.

Sweep:    128 bit with wide meta; 64 bit with meta and tuser of one bit in regress
Stimulus: random frames of every length to four beats and a byte, every pair of back-pressure generators
Checks:   bytes, order, tuser, meta; protocol; no path from side to side; reset in mid-frame
Timing:   latency 1, each beat in exactly its cycle under any back-pressure, a beat each cycle
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.lib.designs import DESIGNS, environment

BENCH = "tb.lib.bench_axis_register"


def test_register(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_register.w128"], BENCH, env=environment("axis_register.w128"))


@pytest.mark.regress
def test_register_of_64_bit(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_register.w64"], BENCH, env=environment("axis_register.w64"))
