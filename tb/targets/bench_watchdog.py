"""cocotb tests of the watchdog of both engines: a play that stands still is ended in simulated cycles."""

from __future__ import annotations

import os
from dataclasses import replace

import cocotb
from cocotb.handle import HierarchyObject

from models.config import NicConfig
from models.frames import Batch, Edge
from models.meta import Code
from tb.targets.base import Fault, Stuck
from tb.targets.bench_job import make_target
from tb.targets.engine import WATCHDOG_CYCLES

__all__: list[str] = []


@cocotb.test()
async def a_play_that_stands_still_ends_with_the_name_of_the_stream(dut: HierarchyObject) -> None:
    """A receiver that takes nothing for good; once the port is configured again, it plays."""
    task = {"engine": os.environ["NICLOOP_ENGINE"], "seed": 1, "sim": cocotb.SIM_NAME.lower()}
    target = make_target(dut, task)
    await target.start()
    engine = target._engine
    for edge in Edge:
        patient = engine.capabilities
        engine.capabilities = replace(patient, stall_cycles=20 * WATCHDOG_CYCLES)
        await target.configure(NicConfig())
        await target.inject(Fault.back_pressure(edge, "stalled"))
        begin = target.now()
        try:
            await target.play(Batch.of([bytes(64), bytes(200)], edge=edge.opposite))
        except Stuck as stuck:
            assert stuck.stream == f"m_axis_{edge.name.lower()}", str(stuck)
        else:
            raise AssertionError("a play without an end came to one")
        cycles = (target.now() - begin) / patient.clock_ns
        assert WATCHDOG_CYCLES <= cycles <= 1.2 * WATCHDOG_CYCLES, f"ended after {cycles} cycles"
        engine.capabilities = patient
        await target.configure(NicConfig())
        outcome = await target.play(Batch.of([bytes(64)], edge=edge.opposite))
        assert outcome.code.tolist() == [Code.DELIVERED]
