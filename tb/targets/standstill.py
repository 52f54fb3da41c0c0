"""A play that stands still, for any engine: the watchdog ends it in simulated cycles and names the stream."""

from __future__ import annotations

from dataclasses import replace

from models.config import NicConfig
from models.frames import Batch, Edge
from models.meta import Code
from tb.targets.base import Fault, Stuck, edge_name
from tb.targets.engine import WATCHDOG_CYCLES, Engine
from tb.targets.port import PortTarget

__all__ = ["stands_still"]


async def stands_still(target: PortTarget, engine: Engine) -> None:
    """A receiver that takes nothing for good; once the port is configured again, it plays. AssertionError: else."""
    patient = engine.capabilities
    for edge in Edge:
        engine.capabilities = replace(patient, stall_cycles=20 * WATCHDOG_CYCLES)
        await target.configure(NicConfig())
        await target.inject(Fault.back_pressure(edge, "stalled"))
        begin = target.now()
        try:
            await target.play(Batch.of([bytes(64), bytes(200)], edge=edge.opposite))
        except Stuck as stuck:
            assert stuck.stream == f"m_axis_{edge_name(edge)}", str(stuck)
        else:
            raise AssertionError("a play without an end came to one")
        cycles = (target.now() - begin) / patient.clock_ns
        assert WATCHDOG_CYCLES <= cycles <= 1.2 * WATCHDOG_CYCLES, f"ended after {cycles} cycles"
        engine.capabilities = patient
        await target.configure(NicConfig())
        outcome = await target.play(Batch.of([bytes(64)], edge=edge.opposite))
        assert outcome.code.tolist() == [Code.DELIVERED]
