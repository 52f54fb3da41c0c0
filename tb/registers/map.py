"""The register map on a device: registers read and written by name, over anything that has ``read`` and ``write``.

A `Target` is such a thing, so is an AXI4-Lite master in a bench. ``read_register(target, "nic.rx_frames_in")`` gives
all 64 bits of a counter as they were at one moment: the low word is read first, which latches the high one. Two
coroutines must not read the same 64-bit register at the same time.
"""

from __future__ import annotations

from typing import Protocol

from models.port_map import PORT
from models.registers import WORD, Access, Field, Register, RegisterMap

__all__ = [
    "PORT",
    "WORD",
    "Access",
    "Bus",
    "Field",
    "Register",
    "RegisterMap",
    "read_fields",
    "read_register",
    "read_value",
    "write_fields",
    "write_register",
    "write_value",
]


class Bus(Protocol):
    """32-bit reads and writes at byte addresses; an access without a register raises."""

    async def read(self, address: int) -> int: ...

    async def write(self, address: int, value: int) -> None: ...


async def read_value(bus: Bus, register: Register, base: int = 0) -> int:
    """The whole value of a register (not of an array); ``base`` is added to its address."""
    if register.is_array:
        raise TypeError(f"{register.name} is an array: name one element, as {register.name}[0]")
    value = 0
    for word in range(register.words):
        value |= await bus.read(base + register.address + WORD * word) << 32 * word
    return value


async def write_value(bus: Bus, register: Register, value: int, base: int = 0) -> None:
    """Write a whole register, the low word first: a 64-bit one changes with the high word."""
    if register.is_array:
        raise TypeError(f"{register.name} is an array: name one element, as {register.name}[0]")
    if not 0 <= value < 1 << register.width:
        raise ValueError(f"{register.name}: {value:#x} does not fit {register.width} bits")
    for word in range(register.words):
        await bus.write(base + register.address + WORD * word, value >> 32 * word & 0xFFFFFFFF)


async def read_register(bus: Bus, name: str, registers: RegisterMap = PORT, base: int = 0) -> int:
    """The value of a register by name. KeyError: no such register."""
    return await read_value(bus, registers[name], base)


async def write_register(bus: Bus, name: str, value: int, registers: RegisterMap = PORT, base: int = 0) -> None:
    """Write a register by name. KeyError: no such register. ValueError: too large for it."""
    await write_value(bus, registers[name], value, base)


async def read_fields(bus: Bus, name: str, registers: RegisterMap = PORT, base: int = 0) -> dict[str, int]:
    """A register's fields by name."""
    register = registers[name]
    return register.decode(await read_value(bus, register, base))


async def write_fields(bus: Bus, name: str, registers: RegisterMap = PORT, base: int = 0, **fields: int) -> None:
    """Change some fields and keep the others that software writes (read, modify, write)."""
    register = registers[name]
    kept = await read_value(bus, register, base) & register.mask(Access.RW)
    await write_value(bus, register, register.encode(fields, kept), base)
