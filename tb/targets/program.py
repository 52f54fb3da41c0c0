"""A ``NicConfig`` as register writes, and the registers that scenarios read: one way for every target but ``model``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from models.config import NicConfig
from models.meta import Code
from models.nic import COUNTERS
from models.port_map import PORT
from tb.targets.base import Target

__all__ = [
    "PORT_BYTES",
    "SLOTS",
    "address",
    "program",
    "read64",
    "read_counter",
    "read_counters",
    "read_dispositions",
    "writes",
]

PORT_BYTES = PORT.size
"""Bytes of address space of one port: port p's registers start at ``p * PORT_BYTES``."""

SLOTS: dict[str, tuple[int, int]] = {
    name: (PORT[f"{name}.id"].address, PORT[f"{name}.id"].field("block").reset or 0) for name in PORT.instances
}
"""Address of the identification register and block number of every instance of a port."""


def address(register: str) -> int:
    """Address of a register by name ("nic.control", "nic.rx_disposition[1]"). KeyError: there is none."""
    return PORT[register].address


def writes(config: NicConfig, port: int = 0) -> list[tuple[int, int]]:
    """Address and value of every write that programs a port; the switches come last: nothing runs half-programmed."""
    done = []
    for name, value in config.ports[port].registers().items():
        register = PORT[name]
        for word in range(register.words):
            done.append((port * PORT_BYTES + register.address + 4 * word, value >> 32 * word & 0xFFFF_FFFF))
    return done


async def program(target: Target, config: NicConfig) -> None:
    """Write ``config`` to every port that the target has."""
    for port in target.capabilities.ports:
        for where, value in writes(config, port):
            await target.write(where, value)


async def read64(target: Target, register: str) -> int:
    """A 64-bit register: the low word first, which latches the high one."""
    low = await target.read(address(register))
    return low | await target.read(address(register) + 4) << 32


async def read_counter(target: Target, name: str) -> int:
    """A 64-bit counter of block `nic` ("rx_frames_in")."""
    return await read64(target, f"nic.{name}")


_COUNTER_WORDS = [address(register) + 4 * word for register in COUNTERS.values() for word in range(2)]


async def read_counters(read_all: Callable[[Sequence[int]], Awaitable[list[int]]]) -> dict[str, int]:
    """All counters of a port, named as in an `Outcome`. read_all: reads registers one after the other; low words come
    first, as in `read64`."""
    words = await read_all(_COUNTER_WORDS)
    return {name: words[2 * i] | words[2 * i + 1] << 32 for i, name in enumerate(COUNTERS)}


async def read_dispositions(target: Target, direction: str) -> dict[Code, int]:
    """The counters of every known code of "rx" or "tx"."""
    return {code: await read64(target, f"nic.{direction}_disposition[{int(code)}]") for code in Code}
