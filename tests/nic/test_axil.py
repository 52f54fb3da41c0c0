"""nic_axil: the AXI4-Lite slave in front of the register port.

Sweep:    each offset of the address, data and read channels to each other with each stall of the answers; all strobes;
          shares of pauses on all five channels; resets in mid-request
Stimulus: by hand, and cocotbext-axi's AXI4-Lite master; noise (X under Icarus) on what is not valid
Checks:   data against a memory behind the register port; DECERR; answers held until taken, none without its request; a
          request held until its acknowledge; reads and writes take turns; idle
Timing:   an answer 3 cycles after the request's last handshake where the acknowledge comes at once; one every 3 cycles
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.build import Design
from tb.toolchain import ROOT


def test_axil(sim: str, simulate: Callable[..., Any]) -> None:
    design = Design("nic/nic_axil", "nic_axil", (ROOT / "rtl" / "nic" / "nic_axil.v",))
    simulate(design, "tb.nic.bench_axil", sim=sim)
