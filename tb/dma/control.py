"""The registers and tables of ``dma`` as a driver writes them (docs/dma.md, Ports, parameters and registers)."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import RisingEdge
from cocotb.types import Logic

from models.dma import Code, Config
from models.dma_region import PAGE_SIZES, Region, Regions, Target
from models.dma_split import SIZES
from tb.lib.clock import high_within

__all__ = ["COUNTERS", "Control"]

_ONE = Logic("1")
CONTROL, REQUESTER_ID, TIMEOUT, PHYSICAL, COMMAND = 0x008, 0x00C, 0x010, 0x014, 0x018
KEY, FORM, BASE, LENGTH, PAGE_ADDRESS, HELD = 0x020, 0x024, 0x028, 0x030, 0x038, 0x1B0
WRITE_REGION, REMOVE_REGION, WRITE_PAGE, REMOVE_PAGE = 1, 2, 3, 4
COUNTERS = (
    "requests",
    *(f"done_{code.name.lower()}" for code in Code),
    *("write_tlps", "read_tlps", "flush_tlps", "write_bytes", "read_bytes", "completions", "unexpected"),
)
"""In the order of their addresses, 8 bytes each."""
FIRST_COUNTER = 0x100


class Control:
    """The register port, one access at a time, and what a driver does with it."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        for name in ("req", "write", "addr", "wdata", "wstrb"):
            getattr(dut, f"reg_{name}").value = 0

    async def _access(self, write: bool, address: int, value: int, strobes: int) -> int:
        dut = self.dut
        dut.reg_write.value, dut.reg_addr.value = int(write), address
        dut.reg_wdata.value, dut.reg_wstrb.value = value, strobes
        dut.reg_req.value = 1
        assert await high_within(dut.clk, dut.reg_ack, 20_000), f"register {address:#x} is never answered"
        assert dut.reg_error.value != _ONE, f"register {address:#x}: an error"
        read = 0 if write else int(str(dut.reg_rdata.value), 2)
        dut.reg_req.value = 0
        await RisingEdge(dut.clk)
        return read

    async def write(self, address: int, value: int) -> None:
        await self._access(True, address, value, 15)

    async def read(self, address: int) -> int:
        return await self._access(False, address, 0, 0)

    async def write64(self, address: int, value: int) -> None:
        await self.write(address, value & 0xFFFF_FFFF)
        await self.write(address + 4, value >> 32)

    async def read64(self, address: int) -> int:
        low = await self.read(address)
        return await self.read(address + 4) << 32 | low

    async def command(self, op: int, number: int = 0) -> None:
        await self.write(COMMAND, op | number << 16)

    async def write_region(self, region: Region) -> None:
        form = region.rights | (region.target is Target.BAR) << 8 | PAGE_SIZES.index(region.page_size) << 12
        await self.write(KEY, region.key)
        await self.write(FORM, form | region.first << 16)
        await self.write64(BASE, region.base)
        # An empty region is told apart from one of 2^64 bytes by its base alone; no test has the latter.
        await self.write64(LENGTH, region.length)
        await self.command(WRITE_REGION)

    async def write_page(self, number: int, address: int) -> None:
        await self.write64(PAGE_ADDRESS, address)
        await self.command(WRITE_PAGE, number)

    async def configure(self, config: Config, regions: Regions) -> None:
        """All settings and both tables, right behind a reset."""
        dut = self.dut
        assert await high_within(dut.clk, dut.ready, 40_000), "ready stays low behind a reset"
        control = SIZES.index(config.mps) | SIZES.index(config.mrrs) << 4 | (config.rcb == 128) << 8
        control |= (32, 256, 768).index(config.tags) << 12 | config.ro_enable << 16 | config.ido_enable << 17
        control |= (Target.HOST in config.no_snoop) << 18 | (Target.BAR in config.no_snoop) << 19
        await self.write(CONTROL, control)
        await self.write(REQUESTER_ID, config.requester_id)
        await self.write(TIMEOUT, config.timeout_ns)
        await self.write(PHYSICAL, sum(1 << index for index in config.physical))
        for region in regions.regions.values():
            await self.write_region(region)
        for number, address in regions.pages.items():
            if number < regions.size:
                await self.write_page(number, address)

    async def counters(self) -> dict[str, int]:
        return {name: await self.read64(FIRST_COUNTER + 8 * n) for n, name in enumerate(COUNTERS)}

    async def held(self) -> tuple[int, int]:
        """Tags and lines that are held."""
        value = await self.read(HELD)
        return value & 0x7FF, value >> 16
