"""nic_port: the books of both directions.

Sweep:    all back-pressure generators on both sides of both directions; frames of one byte to more than max_frame; each
          pair of enables; the worst burst of frame ends; reset in mid-traffic
Stimulus: random bytes, good and bad, in both directions at once
Checks:   every frame enters with the next number and ends once, as it must; frames out are those reported as delivered;
          counters, disposition tables and status as AXI4-Lite shows them; idle low while a frame is in flight
Timing:   none: tests of the whole port hold latency and throughput to the model
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.nic.designs import least, port_design


def test_accounting(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(port_design("agents", **least(sim)), "tb.nic.bench_accounting", sim=sim)
