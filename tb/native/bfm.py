"""The frame BFM in a cocotb bench: push frames, wake once when all of them are accounted for, pop what came.

The bench's top holds the modules of ``tb.native.BFM`` and is built with ``tb.native.DPI``; its ``bfm_done`` comes from
``bfm_cycle``.
"""

from __future__ import annotations

from typing import Any

from cocotb.triggers import ClockCycles, RisingEdge

from tb.lib.clock import reset, start_clock
from tb.native import PORT_PATHS
from tb.native.harness import Harness, Results, StreamError

__all__ = ["PORT_PATHS", "FrameBfm", "start_port"]

_UNUSED = ("s_axil_awvalid", "s_axil_wvalid", "s_axil_arvalid", "s_axil_bready", "s_axil_rready", "time_advance")


class FrameBfm:
    """A harness that drives the top ``dut`` of this simulation.

    One at a time: a new one takes the streams over.
    """

    def __init__(self, dut: Any, harness: Harness) -> None:
        self.harness = harness
        self._clk = dut.clk
        self._done = RisingEdge(dut.bfm_done)
        harness.bind()

    async def drain(self) -> None:
        """Wait until everything pushed is accounted for. StreamError: a rule was broken, or nothing moves any more.

        Reset must be low, or go low by somebody else's hand.
        """
        if not self.harness.done:
            await self._done
        self.harness.check()

    async def play(self) -> Results:
        """Drain, then pop."""
        await self.drain()
        return self.harness.pop()

    async def finish(self, cycles: int = 64) -> None:
        """Drain, then see that nothing more comes for some cycles. StreamError: a frame came that nobody sent."""
        await self.drain()
        await ClockCycles(self._clk, cycles)
        self.harness.check()
        if not self.harness.done:
            raise StreamError(f"after the last frame was accounted for, more came: {self.harness.counters()}")


async def start_port(dut: Any, seed: int = 0) -> tuple[Harness, FrameBfm]:
    """``nic_port_tb`` out of reset and ready, without its register port, and the BFM around it."""
    for name in _UNUSED:
        getattr(dut, name).value = 0
    harness = Harness(["wire", "host"], ["wire", "host"], PORT_PATHS, seed=seed)
    harness.set_gapless("wire")
    harness.follow_origin()
    start_clock(dut.clk)
    bfm = FrameBfm(dut, harness)
    await reset(dut.rst, dut.clk)
    while not dut.ready.value:
        await RisingEdge(dut.clk)
    return harness, bfm
