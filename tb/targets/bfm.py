"""Engine ``bfm``: the frame BFM of ``tb.native`` drives the port in the simulator. Verilator only."""

from __future__ import annotations

from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge

from tb.lib.clock import cycle, high_within, start_clock, wait_cycles
from tb.native.harness import Harness
from tb.targets.axil import AxilMaster
from tb.targets.dut import port_now
from tb.targets.harness import HarnessEngine

__all__ = ["BfmEngine"]


class BfmEngine(HarnessEngine):
    """Drives ``dut``: ``nic_port`` inside ``nic_port_tb``, whose streams are those of the frame BFM."""

    def __init__(self, dut: HierarchyObject, seed: int) -> None:
        super().__init__(seed)
        self.dut = dut

    async def start(self) -> None:
        for name, value in (("rst", 1), ("time_advance", 0), ("time_target", 0), ("time_target_fraction", 0)):
            getattr(self.dut, name).value = value
        start_clock(self.dut.clk)
        self.axil = AxilMaster(self.dut, "s_axil", self.dut.clk)
        self._clock, self._done = RisingEdge(self.dut.clk), RisingEdge(self.dut.bfm_done)

    def _attach(self, harness: Harness) -> None:
        harness.bind()

    def _set_reset(self, level: bool) -> None:
        self.dut.rst.value = level

    async def _wait(self, cycles: int) -> None:
        await wait_cycles(self.dut.clk, cycles)

    async def _until_done(self) -> None:
        # It rises with the falling edge.
        await self._done
        await self._clock

    async def _ready_within(self, cycles: int) -> bool:
        return await high_within(self.dut.clk, self.dut.ready, cycles)

    def _now(self) -> int:
        return cycle(self.dut.clk)

    def _port_now(self) -> int:
        return port_now(self.dut)

    async def read(self, address: int) -> int:
        return await self.axil.read(address)

    async def write(self, address: int, value: int) -> None:
        await self.axil.write(address, value)
