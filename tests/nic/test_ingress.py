"""nic_ingress: the entry of a pipeline.

Sweep:    lengths 1 to 200, 1514, 9014 and 9596; each limit around a beat's edge; all marks with each other; both
          directions; all back-pressure generators; settings that change in each cycle; reset in mid-frame
Stimulus: random bytes, tuser and metadata, with noise (X under Icarus) wherever the contract leaves a value open
Checks:   bytes, marks and metadata of each frame against the rules of docs/architecture.md; frames and bytes counted;
          sequence numbers; the stream protocol; idle
Timing:   latency 1; a frame of one to three beats takes four cycles, no longer one is held up
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.build import Design
from tb.toolchain import ROOT

RTL = ROOT / "rtl"


@pytest.mark.parametrize(("port", "direction"), [(0, 0), (165, 1)])
def test_ingress(sim: str, simulate: Callable[..., Any], port: int, direction: int) -> None:
    design = Design(
        "nic/nic_ingress",
        "nic_ingress",
        (RTL / "lib" / "axis_register.v", RTL / "nic" / "nic_beat_bytes.v", RTL / "nic" / "nic_ingress.v"),
        {"PORT_ID": port, "DIRECTION": direction},
        public=("nic_ingress.seq_reg",),
    )
    environment = {"NICLOOP_PORT_ID": str(port), "NICLOOP_DIRECTION": str(direction)}
    simulate(design, "tb.nic.bench_ingress", sim=sim, env=environment)
