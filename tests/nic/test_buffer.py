"""nic_rx_buffer and nic_tx_sched: the store-and-forward points of the two directions.

Sweep:    frames of one byte to more than the whole buffer; full by beats and by frames; all back-pressure generators
Stimulus: random bytes, good and bad, each with its own number
Checks:   each frame comes out whole or is reported once, with its code, number and queue; receive never waits, transmit
          never drops for want of room; level and peak; idle
Timing:   2 cycles from the last beat in to the first beat out; a report in the cycle after the last beat
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.build import Design
from tb.toolchain import ROOT

RTL = ROOT / "rtl"
BEATS, FRAMES = 32, 4


@pytest.mark.parametrize("module", ["nic_rx_buffer", "nic_tx_sched"])
def test_buffer(sim: str, simulate: Callable[..., Any], module: str) -> None:
    sources = [RTL / "lib" / "axis_fifo.v", RTL / "nic" / "buffer_regs.v", RTL / "nic" / f"{module}.v"]
    design = Design(f"nic/{module}", module, tuple(sources), {"BEATS": BEATS, "FRAMES": FRAMES})
    environment = {"NICLOOP_MODULE": module, "NICLOOP_BEATS": str(BEATS), "NICLOOP_FRAMES": str(FRAMES)}
    simulate(design, "tb.nic.bench_buffer", sim=sim, env=environment)
