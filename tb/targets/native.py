"""``NativeTarget``: the verilated port with the harness in one shared library, without a simulator around it.

The clock runs in C++, in slices, so that Ctrl-C works; what runs when doesn't depend on them. Cycles, times and results
are those of the engine ``bfm`` of the target ``cocotb``, to the last bit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from math import inf
from typing import Any

from tb.build import build_native
from tb.native.device import Access, Device, DeviceLibrary, Event, load
from tb.native.harness import Harness
from tb.nic.designs import port_design
from tb.targets.base import Stuck, UnmappedAddress
from tb.targets.engine import CLOCK_NS, cycles_to_sleep
from tb.targets.harness import HarnessEngine
from tb.targets.port import PortTarget
from tb.targets.turns import Turns, Wait

__all__ = ["SLICE_CYCLES", "NativeEngine", "NativeTarget"]

SLICE_CYCLES = 100_000
"""Cycles between two looks at what else there is to do: some tenths of a second."""


class _Clock(Turns):
    """The device's cycles as time."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self._device = device
        self._since = 0

    def time(self) -> int:
        # The first edge is at time 0, as in a simulator whose clock starts high.
        return self._device.cycles - 1

    async def advance(self, wait: Wait) -> None:
        begin = self._device.cycles
        self._device.run(int(min(wait.until - self.time(), SLICE_CYCLES)), Event(wait.events))
        self._since += self._device.cycles - begin
        if self._since >= SLICE_CYCLES:
            self._since = 0
            await asyncio.sleep(0)


class NativeEngine(HarnessEngine):
    """Drives ``nic_port`` of a library that `tb.build.build_native` made."""

    def __init__(self, library: DeviceLibrary, seed: int) -> None:
        super().__init__(seed, library)
        self.device = Device(library, seed)
        self.clock = _Clock(self.device)
        self._accessing = False

    async def start(self) -> None:
        self._bind()

    def _attach(self, harness: Harness) -> None:
        self.device.bind(harness)

    def _set_reset(self, level: bool) -> None:
        self.device.reset(level)

    async def _wait(self, cycles: int) -> None:
        await self.clock.wait(Wait(self._now() + cycles))

    async def _until_done(self) -> None:
        await self.clock.wait(Wait(inf, lambda: self._harness.done, Event.DONE))

    async def _ready_within(self, cycles: int) -> bool:
        await self._wait(1)
        await self.clock.wait(Wait(self._now() + cycles - 1, lambda: self.device.ready, Event.READY))
        return self.device.ready

    def _now(self) -> int:
        return self.clock.time()

    async def read(self, address: int) -> int:
        return await self._access(False, address, 0)

    async def write(self, address: int, value: int) -> None:
        await self._access(True, address, value)

    async def _access(self, write: bool, address: int, value: int) -> int:
        """One access at a time; it goes on while frames move."""
        # An access whose coroutine was ended is still on the pins.
        await self.clock.wait(Wait(inf, lambda: not self._accessing and self.device.access_state != Access.BUSY))
        self._accessing = True
        try:
            self.device.access(write, address, value)
            await self.clock.wait(Wait(inf, lambda: self.device.access_state != Access.BUSY))
            state, data = self.device.answer()
        finally:
            self._accessing = False
        if state == Access.STUCK:
            raise Stuck("s_axil", 1000, "no answer")
        if state == Access.ERROR:
            raise UnmappedAddress(address)
        return data


class NativeTarget(PortTarget):
    """One port without a simulator. Call `start` once before anything else.

    seed: of the harness and of registers that start random. parameters: of ``nic_port``. Building raises as
    `tb.build.build_native`.
    """

    def __init__(self, seed: int = 1, **parameters: int) -> None:
        self.engine = NativeEngine(load(build_native(port_design("native", **parameters))), seed)
        super().__init__(self.engine)

    async def sleep(self, ns: int) -> None:
        await self.engine._wait(cycles_to_sleep(ns))

    def now(self) -> int:
        return max(0, int(self.engine.clock.time() * CLOCK_NS))

    async def gather(self, *coroutines: Awaitable[Any]) -> list[Any]:
        return await self.engine.clock.gather(*coroutines)
