"""``acl_meter`` at its ports: colours, their cycle, and writes while meters are asked.

Sweep:    rates 1 to 10^12, bursts 1 to 2^32 - 1, times 0 to 2^64 - 1 and back; products of rate and time on both sides
          of what is kept; frames for which there is exactly enough or a unit too little; a write in each cycle between
          asks; a reset in each cycle
Stimulus: one meter or many, asked every 4 cycles or less often, each at times of its own; minutes and hours of
          overload; noise, X under Icarus, on inputs that aren't valid
Checks:   each colour and mark against models/acl_meter.py, for sequences also against values computed by hand and
          closed forms in fractions; a meter that was never written is red; no answer without an ask
Timing:   an answer 7 cycles after its ask, an ask every 4; an ask 2 cycles after a write is taken sees it, the next
          write is taken 10 cycles later at most; ready METERS cycles after a reset
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.acl.designs import meter_design


def launch(simulate: Callable[..., Any], meters: int) -> None:
    simulate(meter_design(meters), "tb.acl.bench_meter", env={"NICLOOP_METERS": str(meters)})


def test_meters_colour_each_frame_as_the_rfc_has_it(sim: str, simulate: Callable[..., Any]) -> None:
    launch(simulate, 16 if sim == "icarus" else 256)
