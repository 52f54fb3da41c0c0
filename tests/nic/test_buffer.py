"""nic_buffer as rx_buffer and as tx_sched: the store-and-forward points of the two directions.

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


@pytest.mark.parametrize("slot", ["rx_buffer", "tx_sched"])
def test_buffer(sim: str, simulate: Callable[..., Any], slot: str) -> None:
    sources = (RTL / "lib" / "axis_fifo.v", RTL / "nic" / "buffer_regs.v", RTL / "nic" / "nic_buffer.v")
    parameters = {"BEATS": BEATS, "FRAMES": FRAMES, "DROP_FULL": int(slot == "rx_buffer")}
    design = Design(f"nic/{slot}", "nic_buffer", sources, parameters)
    environment = {"NICLOOP_SLOT": slot, "NICLOOP_BEATS": str(BEATS), "NICLOOP_FRAMES": str(FRAMES)}
    simulate(design, "tb.nic.bench_buffer", sim=sim, env=environment)
