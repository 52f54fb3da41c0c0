"""nic_account: the merge and the count of dispositions.

Sweep:    rates of three sources from idle to one a cycle each; the worst burst that a port can make; bursts during the
          clearing of the table; FIFOs filled to the brim and beyond
Stimulus: numbered dispositions with random codes, beside noise
Checks:   each comes out once and in its source's order; the table holds what came out; `lost` counts what did not fit;
          64-bit reads are whole; `idle` and `ready`
Timing:   reports 2 cycles late where nothing waits, one a cycle; the table is clear 128 cycles after reset
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.build import Design
from tb.toolchain import ROOT

RTL = ROOT / "rtl" / "nic"


def test_account(sim: str, simulate: Callable[..., Any]) -> None:
    design = Design(
        "nic/nic_account",
        "nic_account",
        (RTL / "nic_disp_fifo.v", RTL / "nic_account.v"),
        {"SOURCES": 3, "DEEP": 0b110},
        public=("nic_account.count_ram",),
    )
    simulate(design, "tb.nic.bench_account", sim=sim)
