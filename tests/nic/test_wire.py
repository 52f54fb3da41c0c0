"""`nic_port` with MACs: cocotbext-eth at XGMII, the host's agents, three clocks that drift against each other.

Sweep:    lengths around each boundary to 9596, both start lanes; rx_clk +100 ppm with tx_clk -100 ppm and the reverse;
          each kind of error on XGMII; both link faults; a reset or a stop of each clock; jumps of the port's time;
          redirected frames; 10G. Icarus: a part
Stimulus: frames back to back in both directions at once; words with errors between good frames
Checks:   bytes and order against what was sent (FCS by cocotbext-eth); codes; each counter of both MACs; the account:
          frames in are the sum of ends
Timing:   10.5 cycles of XGMII a 64 B frame, 192.25 a 1518 B frame, in both directions at once; timestamps within 8 ns
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.nic.designs import port_design

SMALL = {"ACL_RULES": 64, "ACL_METERS": 16}


ON_ICARUS = ["a_reset_of_one_clock_ends_its_frames_and_leaves_the_other_direction_alone"]
"""It knows X."""


def test_port_with_macs(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(
        port_design("agents", MAC_EN=1, **SMALL), "tb.nic.bench_wire", tests=ON_ICARUS if sim == "icarus" else None
    )
