"""nic_port with its MACs: frames of both directions between XGMII and the host.

Sweep:    lengths of 60 to 89 bytes, and 1500
Stimulus: both directions at once, as close as the wire lets them follow
Checks:   bytes at both edges, one end each, whose frame is on XGMII; frame counters of the port and of both MACs
Timing:   frames' times grow; that of a start on XGMII is the port's
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.nic.designs import port_design


def test_frames_pass_between_xgmii_and_the_host(simulate: Callable[..., Any]) -> None:
    simulate(port_design("agents", MAC_EN=1), "tb.nic.bench_wire_smoke", sim="verilator")
