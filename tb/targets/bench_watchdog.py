"""A cocotb test of the watchdog of both engines: a play that stands still is ended in simulated cycles."""

from __future__ import annotations

import os

import cocotb
from cocotb.handle import HierarchyObject

from tb.targets.bench_job import make_target
from tb.targets.standstill import stands_still

__all__: list[str] = []


@cocotb.test()
async def a_play_that_stands_still_ends_with_the_name_of_the_stream(dut: HierarchyObject) -> None:
    task = {"engine": os.environ["NICLOOP_ENGINE"], "seed": 1, "sim": cocotb.SIM_NAME.lower()}
    target = make_target(dut, task)
    await target.start()
    await stands_still(target, target._engine)
