"""Meters in ``nic_port`` over minutes of its own time, most of which is skipped.

Sweep:    both directions
Stimulus: a frame every half second for ten minutes, at a meter that a frame a second fills exactly
Checks:   every second frame is green and delivered, the others are red; the golden model; registers
Timing:   frames alone; nothing drifts
"""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from models.acl import Actions, Rule, RuleSet
from models.acl_meter import MeterRates
from models.config import NicConfig, PortConfig
from models.frames import Batch, Edge
from models.meta import Code
from models.nic import NicPortModel
from tb.targets.native import NativeTarget

FRAMES, BYTES, HALF_A_SECOND_NS = 1200, 1000, 500_000_000


@pytest.mark.parametrize("edge", list(Edge))
def test_a_meter_keeps_its_rate_over_ten_minutes(verilator: str, seed: int, edge: Edge) -> None:
    rules = RuleSet((Rule(actions=Actions(meter=0)),), True, (MeterRates(8 * BYTES, 8 * BYTES, BYTES, BYTES),))
    port = PortConfig(acl_rx=rules) if edge == Edge.WIRE else PortConfig(acl_tx=rules)
    config = NicConfig(ports=(port, PortConfig()))
    batch = Batch.of([bytes(BYTES)] * FRAMES, edge=edge, time_ns=np.arange(1, FRAMES + 1) * HALF_A_SECOND_NS)
    target = NativeTarget(seed)

    async def play() -> Any:
        await target.start()
        await target.configure(config)
        return await target.play(batch)

    outcome = asyncio.run(play())
    assert outcome.code.tolist() == [Code.DELIVERED, Code.ACL_POLICED] * (FRAMES // 2)
    slot = "acl_rx" if edge == Edge.WIRE else "acl_tx"
    colours = [outcome.counters[f"{slot}.metered_{colour}"] for colour in ("green", "yellow", "red")]
    assert colours == [FRAMES // 2, 0, FRAMES // 2]
    assert NicPortModel(config).check(batch, outcome) == []
