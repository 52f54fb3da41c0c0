"""nic_time: the port's time.

Sweep:    increments from 0 to all ones, random ones, changed in each cycle; advances to before, at and after `now`
Stimulus: targets around `now` and around the carries of its words
Checks:   `now` in each cycle against 96-bit integers; forward only; no fraction lost
Timing:   an increment or an advance shows in the next cycle
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.build import Design
from tb.toolchain import ROOT


def test_time(sim: str, simulate: Callable[..., Any]) -> None:
    design = Design("nic/nic_time", "nic_time", (ROOT / "rtl" / "nic" / "nic_time.v",))
    simulate(design, "tb.nic.bench_time", sim=sim)
