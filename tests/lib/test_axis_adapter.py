"""Launches the bench of `axis_adapter`.

Sweep:    64 to 128 bit, 128 to 64 bit
Stimulus: random frames of every length to four wide beats and a byte, every pair of back-pressure generators
Checks:   bytes, order, tuser, meta; no beat without bytes; cocotbext-axi as a second opinion; protocol; reset
Timing:   1 cycle after the input beat that completes the first output beat; a beat of the narrow side each cycle
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.lib.designs import DESIGNS, environment

BENCH = "tb.lib.bench_axis_adapter"


def test_adapter_64_to_128(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_adapter.up"], BENCH, env=environment("axis_adapter.up"))


def test_adapter_128_to_64(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["axis_adapter.down"], BENCH, env=environment("axis_adapter.down"))
