"""A ``Target`` of one port of RTL, whatever its engine and its scheduler: all but time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.nic import IPSEC_COUNTERS
from models.port_map import PORT
from tb.targets.base import (
    Armed,
    Capabilities,
    Fault,
    Frame,
    Memory,
    ReceiveTimeout,
    TargetError,
    UnmappedAddress,
    Unsupported,
)
from tb.targets.engine import Engine
from tb.targets.program import Transfer, one_by_one, program, read_counters, read_rule_counters

__all__ = ["PortTarget", "check_accesses"]


def check_accesses(accesses: Sequence[Transfer]) -> None:
    """ValueError: a value of more than 32 bits. `UnmappedAddress`: an address beyond the port's."""
    for address, value in accesses:
        if value is not None and not 0 <= value < 1 << 32:
            raise ValueError(f"{value:#x} is not a 32-bit value")
        if not 0 <= address < PORT.size:
            raise UnmappedAddress(address)


class PortTarget(ABC):
    """One port behind an engine. Call `start` once before anything else."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.memory: Mapping[str, Memory] = {}
        self._config = NicConfig()
        self._armed = Armed()
        self.on_program: Callable[[int, int], None] = lambda *_: None
        """Takes how far the port is programmed: register writes done, and in all."""

    @property
    def capabilities(self) -> Capabilities:
        return self._engine.capabilities

    @abstractmethod
    async def sleep(self, ns: int) -> None: ...

    @abstractmethod
    def now(self) -> int: ...

    @abstractmethod
    async def gather(self, *coroutines: Awaitable[Any]) -> list[Any]: ...

    async def start(self) -> None:
        """Clock, streams, reset; the port has the reset values of its registers."""
        await self._engine.start()
        await self._engine.reset()

    async def configure(self, config: NicConfig) -> None:
        self._config, self._armed = config, Armed()
        await self._engine.reset()
        await program(self, config, self.on_program)

    async def play(self, stimulus: Batch) -> Outcome:
        self._check_port(stimulus)
        batch = self._armed.mark(stimulus)
        cut, self._armed.reset = self._armed.reset, None
        return await self.play_with(batch, self._armed.profile, cut, lambda: program(self, self._config))

    async def play_with(
        self, batch: Batch, profiles: Mapping[Edge, str], cut: Fault | None, again: Callable[[], Awaitable[None]]
    ) -> Outcome:
        """Play with these profiles at the sinks; ``cut``: a reset fault, after which ``again`` programs the port."""
        try:
            outcome = await self._engine.play(batch, profiles, cut, again)
            counters = await self._read_counters()
            await self._engine.finish()
        except TargetError as error:
            error.begin_ns = self._engine.begin_ns
            raise
        return replace(outcome, counters=counters)

    async def _read_counters(self) -> dict[str, int]:
        """Counters of the port and of its rules, as in an `Outcome`."""
        found = await read_counters(self.read_all)
        if self._config.ports[0].ipsec is not None:
            found |= await read_counters(self.read_all, IPSEC_COUNTERS)
        return found | await read_rule_counters(self, self._config)

    def _check_port(self, batch: Batch) -> None:
        for port in set(batch.port.tolist()) - set(self.capabilities.ports):
            raise Unsupported(f"this target has no port {port}")
        if not batch.lengths.all():
            raise ValueError("a frame without a byte can't be offered")

    async def send(self, frame: Frame) -> None:
        batch = frame.batch()
        self._check_port(batch)
        wait = frame.time_ns - self.now()
        if wait > 0:
            await self.sleep(wait)
        bad = int(self._armed.mark(batch).bad[0])
        await self._engine.send(frame.edge, frame.data, frame.queue, bad)

    async def receive(self, port: int, edge: Edge, timeout_ns: int) -> Frame:
        if port not in self.capabilities.ports:
            raise Unsupported(f"this target has no port {port}")
        came = await self._engine.receive(edge, timeout_ns)
        if came is None:
            raise ReceiveTimeout(edge, timeout_ns)
        return came

    async def read(self, address: int) -> int:
        if not 0 <= address < PORT.size:
            raise UnmappedAddress(address)
        return await self._engine.read(address)

    async def read_all(self, addresses: Sequence[int]) -> list[int]:
        """Registers of the port, one right after the other."""
        return await self.access_all([(address, None) for address in addresses])

    async def access_all(self, accesses: Sequence[Transfer]) -> list[int]:
        """Reads and writes of registers, one right after the other; what each read, or wrote."""
        return await one_by_one(self, accesses)

    async def write(self, address: int, value: int) -> None:
        check_accesses([(address, value)])
        await self._engine.write(address, value)

    async def inject(self, fault: Fault) -> None:
        if fault.kind not in self.capabilities.faults:
            raise Unsupported(f"this target can't inject {fault.kind}")
        self._armed.take(fault)
