"""AXI4-Lite master of the port's registers: one access at a time, a few signal reads an access."""

from __future__ import annotations

from cocotb.handle import HierarchyObject, LogicObject
from cocotb.triggers import Lock, RisingEdge
from cocotb.types import Logic

from tb.targets.base import Stuck, UnmappedAddress

__all__ = ["AxilMaster"]

_ONE = Logic("1")
_OKAY = 0


class AxilMaster:
    """Drives ``{prefix}_*`` of ``dut``. ``patience``: cycles until an access that isn't answered is `Stuck`."""

    def __init__(self, dut: HierarchyObject, prefix: str, clk: LogicObject, patience: int = 4000) -> None:
        self._dut, self._prefix, self._patience = dut, prefix, patience
        self._edge = RisingEdge(clk)
        self._lock = Lock()
        for name in (
            "awvalid",
            "wvalid",
            "bready",
            "arvalid",
            "rready",
            "awprot",
            "arprot",
            "awaddr",
            "araddr",
            "wdata",
        ):
            self._signal(name).value = 0
        self._signal("wstrb").value = 0xF

    def _signal(self, name: str) -> LogicObject:
        return getattr(self._dut, f"{self._prefix}_{name}")

    async def _shake(self, channels: list[str]) -> None:
        """Raise the valids of ``channels`` and lower each after its handshake."""
        ready = {name: self._signal(f"{name}ready") for name in channels}
        for name in channels:
            self._signal(f"{name}valid").value = 1
        for _ in range(self._patience):
            await self._edge
            for name in [name for name in ready if ready[name].value == _ONE]:
                self._signal(f"{name}valid").value = 0
                del ready[name]
            if not ready:
                return
        raise Stuck(f"{self._prefix}_{next(iter(ready))}", self._patience, "ready stays low")

    async def _answer(self, channel: str, address: int) -> int:
        """Wait for the answer; returns rdata on the read channel. `UnmappedAddress`: it is an error."""
        self._signal(f"{channel}ready").value = 1
        valid = self._signal(f"{channel}valid")
        for _ in range(self._patience):
            await self._edge
            if valid.value == _ONE:
                response = int(self._signal(f"{channel}resp").value)
                data = int(self._signal("rdata").value) if channel == "r" and response == _OKAY else 0
                self._signal(f"{channel}ready").value = 0
                if response != _OKAY:
                    raise UnmappedAddress(address)
                return data
        raise Stuck(f"{self._prefix}_{channel}", self._patience, "no answer")

    async def read(self, address: int) -> int:
        """A 32-bit register. `UnmappedAddress`: the device answered with an error."""
        async with self._lock:
            self._signal("araddr").value = address
            await self._shake(["ar"])
            return await self._answer("r", address)

    async def write(self, address: int, value: int) -> None:
        """Write all four bytes of a register. `UnmappedAddress`: the device answered with an error."""
        async with self._lock:
            self._signal("awaddr").value = address
            self._signal("wdata").value = value
            await self._shake(["aw", "w"])
            await self._answer("b", address)
