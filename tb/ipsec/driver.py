"""A slot of IPsec by its registers: SAs written, removed and read, events, counters.

Addresses are those within the slot, from ``rtl/ipsec/ipsec.rdl``: a slot that stands alone has no port around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cocotb.triggers import RisingEdge
from cocotb.types import Logic

from models.ipsec import COUNTERS
from models.ipsec_sa import Event, EventKind, Sa
from models.registers import RegisterMap
from tb.ipsec.sa_registers import REMOVE, WRITE, registers_of
from tb.lib.clock import cycle
from tb.registers.generate import map_of
from tb.registers.map import read_value, write_value
from tb.registers.source import elaborate
from tb.toolchain import ROOT

__all__ = ["MAP", "READ", "SaDriver", "SlotBus"]

MAP: RegisterMap = map_of(elaborate(ROOT / "rtl" / "ipsec" / "ipsec.rdl"), 0x4000)
READ = 3
_ONE = Logic("1")


class SlotBus:
    """The register port."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self._edge, self._answer = RisingEdge(dut.clk), RisingEdge(dut.reg_ack)
        self.answered = 0
        """The cycle of the last ``reg_ack``."""
        self.clear()

    def clear(self) -> None:
        """Ask nothing."""
        for name in ("req", "write", "addr", "wdata", "wstrb"):
            getattr(self._dut, f"reg_{name}").value = 0

    async def access(
        self, address: int, value: int | None, begun: Callable[[int], None] = lambda now: None
    ) -> tuple[int, bool]:
        """One access: what came, and whether there is no register. begun: called in its first cycle."""
        dut = self._dut
        dut.reg_addr.value = address & 0x3FFF
        dut.reg_write.value = int(value is not None)
        dut.reg_wdata.value = value or 0
        dut.reg_wstrb.value = 15
        dut.reg_req.value = 1
        await self._edge
        begun(cycle(dut.clk))
        while dut.reg_ack.value != _ONE:
            # What rises may fall again before the edge.
            await self._answer
            await self._edge
        self.answered = cycle(dut.clk)
        found, error = (int(dut.reg_rdata.value) if value is None else 0), dut.reg_error.value == _ONE
        dut.reg_req.value = 0
        await self._edge
        return found, error

    async def read(self, address: int) -> int:
        value, error = await self.access(address, None)
        assert not error, f"no register at {address:#x}"
        return value

    async def write(self, address: int, value: int) -> None:
        _, error = await self.access(address, value)
        assert not error, f"no register at {address:#x}"


class SaDriver:
    """What a driver does. begun: called with op, number and cycle in the first cycle in which ``command`` is written;
    answered: with the SA as well, in that of ``reg_ack``."""

    def __init__(
        self,
        bus: SlotBus,
        begun: Callable[[int, int, int], None],
        answered: Callable[[int, int, Sa | None, int], None],
    ) -> None:
        self.bus = bus
        self._begun, self._answered = begun, answered
        self.forget()

    def forget(self) -> None:
        """A reset."""
        self._written: dict[str, int] = {}

    async def put(self, name: str, value: int) -> None:
        """Write a register, unless it has the value."""
        if self._written.get(name) != value:
            await write_value(self.bus, MAP[name], value)
            self._written[name] = value

    async def get(self, name: str) -> int:
        return await read_value(self.bus, MAP[name])

    async def prepare(self, sa: Sa) -> None:
        """All registers of an SA."""
        for name, value in registers_of(sa, MAP, ""):
            await self.put(name, value)

    async def command(self, op: int, number: int, sa: Sa | None = None) -> None:
        """Write ``command`` and wait for its answer."""
        address, value = MAP["command"].address, number << 16 | op
        _, error = await self.bus.access(address, value, lambda now: self._begun(op, number, now))
        assert not error
        self._answered(op, number, sa, self.bus.answered)

    async def write(self, number: int, sa: Sa) -> None:
        """SA ``number`` becomes this."""
        await self.prepare(sa)
        await self.command(WRITE, number, sa)

    async def remove(self, number: int) -> None:
        await self.command(REMOVE, number)

    async def state(self, number: int) -> dict[str, int]:
        """State of an SA: ``valid soft hard ended packets bytes sequence``."""
        await self.command(READ, number)
        found = MAP["state"].decode(await self.get("state"))
        for name in ("packets", "bytes", "sequence"):
            found[name] = await self.get(f"state_{name}")
        return found

    async def event(self) -> tuple[Event | None, bool]:
        """What ``event`` says, and whether others came since; then it is cleared."""
        found = MAP["event"].decode(await self.get("event"))
        await write_value(self.bus, MAP["event"], 3)
        event = Event(EventKind(found["kind"]), found["sa"]) if found["valid"] else None
        return event, bool(found["more"])

    async def counters(self) -> dict[str, int]:
        return {name: await self.get(name) for name in COUNTERS}
