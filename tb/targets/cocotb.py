"""``CocotbTarget``: the RTL inside the simulator, behind the ``Target`` protocol.

It exists inside a cocotb test only. What drives the port is an engine (``agents`` or ``bfm``); a scenario can't tell.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import cocotb.triggers
from cocotb.simtime import get_sim_time
from cocotb.triggers import Timer

from tb.targets.engine import CLOCK_NS, cycles_to_sleep
from tb.targets.port import PortTarget

__all__ = ["CocotbTarget"]


class CocotbTarget(PortTarget):
    """One port in the simulator. Call `start` once before anything else."""

    async def sleep(self, ns: int) -> None:
        if cycles := cycles_to_sleep(ns):
            await Timer(cycles * CLOCK_NS, "ns")

    def now(self) -> int:
        return int(get_sim_time("ns"))

    async def gather(self, *coroutines: Awaitable[Any]) -> list[Any]:
        return list(await cocotb.triggers.gather(*coroutines))
