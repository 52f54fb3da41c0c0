"""The automatic register suite: checks that follow from a map alone, over any device that reads and writes.

Every check is a coroutine ``check(bus, registers, base=0)`` that awaits nothing but the bus, so it runs on every target
and in benches. It returns how many things it compared (a caller should ask for more than 0), raises
:class:`RegisterMismatch` at the first difference, and leaves what software writes at its reset value. The device must
be fresh from reset and quiet: no traffic, nothing that moves counters or sets sticky bits. Which bits may be compared
follows from the fields of the map: a volatile field is left out wherever hardware may have moved it. Of an array the
first and the last element are checked and those at powers of two, so that every bit of its index takes part.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Protocol

from tb.registers.map import WORD, Access, Bus, Register, RegisterMap, read_value, write_value
from tb.targets.base import UnmappedAddress

__all__ = [
    "CHECKS",
    "RegisterMismatch",
    "StrobedBus",
    "check_aliasing",
    "check_bit_bash",
    "check_byte_strobes",
    "check_clear_on_read",
    "check_holes",
    "check_read_only",
    "check_read_write",
    "check_reset",
    "check_wide_write",
    "check_write_one_to_clear",
    "holes",
    "run_suite",
]

_INSTANCE = 0x4000
"""Bytes of addresses of one instance."""
_MIX = 0x9E3779B97F4A7C15
"""An odd number without pattern: its multiples differ in all bytes."""


class RegisterMismatch(AssertionError):
    """A register did not read as its map says; the text names it, its address, what was done, expected and read."""


class StrobedBus(Bus, Protocol):
    """A bus that can write some bytes of a word: bit i of ``strobes`` is byte i."""

    async def write_bytes(self, address: int, value: int, strobes: int) -> None: ...


def _ones(register: Register) -> int:
    return (1 << register.width) - 1


def _zero_mask(register: Register) -> int:
    """Bits that read as 0 whatever was written."""
    return _ones(register) & ~register.mask() | register.mask(Access.WO, Access.PULSE)


def _compare(register: Register, done: str, value: int, expected: int, mask: int) -> int:
    """Compares the bits of ``mask``; returns 1."""
    if (value ^ expected) & mask:
        digits = register.width // 4
        wrong = [item.name for item in register.fields if (value ^ expected) & mask & item.mask] or ["reserved bits"]
        raise RegisterMismatch(
            f"{register.name} at {register.address:#07x}, {done}: read {value:#0{digits + 2}x}, "
            f"expected {expected & mask:#0{digits + 2}x} (compared bits {mask:#0{digits + 2}x}; "
            f"different: {', '.join(wrong)})"
        )
    return 1


def _settled(register: Register, written: int | None = None) -> tuple[int, int]:
    """What a register reads once ``written`` (None: nothing since reset): the value, and the bits that are certain."""
    zero, rw = _zero_mask(register), register.mask(Access.RW)
    value = register.reset & register.stable_mask & ~zero
    mask = register.stable_mask | zero
    if written is not None:
        value, mask = value & ~rw | written & rw, mask | rw
    return value, mask


def _sample(registers: RegisterMap) -> Iterator[Register]:
    """Every register; of arrays the first element, the last, and those at powers of two."""
    for register in registers.registers:
        if register.is_array:
            indices = {0, register.count - 1} | {1 << bit for bit in range((register.count - 1).bit_length())}
            yield from (register.element(index) for index in sorted(indices))
        else:
            yield register


def _plain(registers: RegisterMap) -> list[Register]:
    """Registers with a field that software writes and reads back, where a write does nothing else."""
    return [
        item
        for item in _sample(registers)
        if item.mask(Access.RW) and not item.mask(Access.WO, Access.PULSE, Access.W1C)
    ]


async def _restore(bus: Bus, registers: RegisterMap, base: int) -> None:
    for register in _plain(registers):
        await write_value(bus, register, register.reset & register.mask(Access.RW), base)


async def check_reset(bus: Bus, registers: RegisterMap, base: int = 0) -> int:
    """Every register reads its reset value; bits without a field read as 0."""
    count = 0
    for register in _sample(registers):
        value, mask = _settled(register)
        count += _compare(register, "after reset", await read_value(bus, register, base), value, mask)
    return count


async def check_read_write(bus: Bus, registers: RegisterMap, base: int = 0) -> int:
    """What software writes is what it reads, for four patterns; the other bits of the register keep their value."""
    count = 0
    for register in _plain(registers):
        for pattern in (_ones(register), 0, _ones(register) // 3, _ones(register) // 3 * 2):
            await write_value(bus, register, pattern, base)
            value, mask = _settled(register, pattern)
            done = f"after a write of {pattern:#x}"
            count += _compare(register, done, await read_value(bus, register, base), value, mask)
    await _restore(bus, registers, base)
    return count


async def check_bit_bash(bus: Bus, registers: RegisterMap, base: int = 0) -> int:
    """Every bit of every register that software writes changes alone, if it may change at all."""
    count = 0
    for register in _plain(registers):
        start = register.reset & register.mask(Access.RW)
        for bit in range(register.width):
            written = start ^ 1 << bit
            await write_value(bus, register, written, base)
            value, mask = _settled(register, written)
            done = f"after bit {bit} was flipped"
            count += _compare(register, done, await read_value(bus, register, base), value, mask)
        await write_value(bus, register, start, base)
    return count


async def check_aliasing(bus: Bus, registers: RegisterMap, base: int = 0) -> int:
    """No register answers for another: all get different values, then all are read.

    Done twice, with opposite bits and in opposite order, as a write that reaches two registers shows only in the one
    that was written before. Registers that software can't write are written last: that must reach none of the others.
    """
    plain = _plain(registers)
    others = [item for item in _sample(registers) if not item.writable]
    count = 0
    for flip in (0, (1 << 64) - 1):
        written = {}
        for index, register in list(enumerate(plain))[:: -1 if flip else 1]:
            written[register.name] = (_MIX * (index + 1) & (1 << 64) - 1 ^ flip) & _ones(register)
            await write_value(bus, register, written[register.name], base)
        for index, register in enumerate(others):
            await write_value(bus, register, (_MIX * (index + 1 + len(plain)) ^ flip) & _ones(register), base)
        for register in plain:
            value, mask = _settled(register, written[register.name])
            done = f"after all registers were written ({written[register.name]:#x} here)"
            count += _compare(register, done, await read_value(bus, register, base), value, mask)
    await _restore(bus, registers, base)
    return count


async def check_read_only(bus: Bus, registers: RegisterMap, base: int = 0) -> int:
    """A write to what software can't write is accepted and does nothing.

    A volatile register is compared only if it stood still between two reads before the write.
    """
    count = 0
    for register in _sample(registers):
        if register.writable or register.mask(Access.RCLR):
            continue
        first, before = await read_value(bus, register, base), await read_value(bus, register, base)
        mask = _ones(register) if first == before else _ones(register) & ~_volatile_mask(register)
        for pattern in (_ones(register), 0):
            await write_value(bus, register, pattern, base)
            done = f"after a write of {pattern:#x} to a register that can't be written"
            count += _compare(register, done, await read_value(bus, register, base), before, mask)
    return count


def _volatile_mask(register: Register) -> int:
    return sum(item.mask for item in register.fields if item.volatile)


async def check_clear_on_read(bus: Bus, registers: RegisterMap, base: int = 0) -> int:
    """A field that a read clears reads as 0 the second time."""
    count = 0
    for register in _sample(registers):
        if mask := register.mask(Access.RCLR):
            await read_value(bus, register, base)
            count += _compare(register, "read again", await read_value(bus, register, base), 0, mask)
    return count


async def check_write_one_to_clear(bus: Bus, registers: RegisterMap, base: int = 0) -> int:
    """Writing 0 to a sticky bit leaves it, writing 1 clears it."""
    count = 0
    for register in _sample(registers):
        mask = register.mask(Access.W1C)
        if not mask or register.mask(Access.WO, Access.PULSE):
            continue
        before = await read_value(bus, register, base)
        kept = before & register.mask(Access.RW)
        await write_value(bus, register, kept, base)
        done = "after zeros were written to its sticky bits"
        count += _compare(register, done, await read_value(bus, register, base), before, mask)
        await write_value(bus, register, kept | mask, base)
        done = "after ones were written to its sticky bits"
        count += _compare(register, done, await read_value(bus, register, base), 0, mask)
    return count


def holes(registers: RegisterMap) -> list[int]:
    """Addresses without a register, where decoders go wrong.

    They are the neighbours of every register, every register's address with one address bit flipped, and the first and
    last word of every instance's room.
    """
    found = set()
    for register in registers.registers:
        for element in (register, *list(register.elements())[:: max(1, register.count - 1)]):
            first, last = element.address, element.address + register.width // 8 - WORD
            found |= {first - WORD, last + WORD}
            found |= {first ^ 1 << bit for bit in range(2, (registers.size - 1).bit_length())}
    for start in range(0, registers.size, _INSTANCE):
        found |= {start, start + _INSTANCE - WORD}
    return sorted(item for item in found if 0 <= item < registers.size and registers.find(item) is None)


async def check_holes(bus: Bus, registers: RegisterMap, base: int = 0) -> int:
    """Reads and writes without a register give an error, and the writes reach no register."""
    count = 0
    for address in holes(registers):
        accesses: tuple[tuple[str, Callable[[], Awaitable[object]]], ...] = (
            ("read", lambda address=address: bus.read(base + address)),  # type: ignore[misc]
            ("write", lambda address=address: bus.write(base + address, 0xFFFFFFFF)),  # type: ignore[misc]
        )
        for kind, access in accesses:
            try:
                await access()
            except UnmappedAddress:
                count += 1
            else:
                raise RegisterMismatch(f"a {kind} at {address:#07x}, where there is no register, gave no error")
    for register in _plain(registers):
        value, mask = _settled(register, register.reset)
        count += _compare(register, "after writes beside it", await read_value(bus, register, base), value, mask)
    return count


async def check_wide_write(bus: Bus, registers: RegisterMap, base: int = 0) -> int:
    """A 64-bit register keeps its old value until the high word is written, and then has the new one whole."""
    count = 0
    for register in _plain(registers):
        if register.words != 2:
            continue
        start = register.reset & register.mask(Access.RW)
        written = start ^ _ones(register)
        await bus.write(base + register.address, written & 0xFFFFFFFF)
        value, mask = _settled(register, start)
        done = "after a write of its low word alone"
        count += _compare(register, done, await read_value(bus, register, base), value, mask)
        await bus.write(base + register.address + WORD, written >> 32)
        value, mask = _settled(register, written)
        done = "after a write of its low and its high word"
        count += _compare(register, done, await read_value(bus, register, base), value, mask)
        await write_value(bus, register, start, base)
    return count


async def check_byte_strobes(bus: StrobedBus, registers: RegisterMap, base: int = 0) -> int:
    """A write of one byte changes that byte alone; in a 64-bit register, once the high word is written."""
    count = 0
    for register in _plain(registers):
        start = register.reset & register.mask(Access.RW)
        for lane in range(register.width // 8):
            mask = 0xFF << 8 * lane
            written = start ^ mask
            word = lane // WORD
            await write_value(bus, register, start, base)
            for at in range(word, register.words):
                address, part = base + register.address + WORD * at, written >> 32 * at & 0xFFFFFFFF
                # The other bytes carry the opposite of what they hold, so a strobe that is ignored shows
                if at == word:
                    part = part & mask >> 32 * at | ~part & ~(mask >> 32 * at) & 0xFFFFFFFF
                    await bus.write_bytes(address, part, 1 << lane % WORD)
                else:
                    await bus.write(address, part)
            value, compared = _settled(register, written)
            done = f"after a write of byte {lane} alone"
            count += _compare(register, done, await read_value(bus, register, base), value, compared)
    await _restore(bus, registers, base)
    return count


CHECKS: tuple[Callable[[Bus, RegisterMap, int], Awaitable[int]], ...] = (
    check_reset,
    check_read_only,
    check_read_write,
    check_bit_bash,
    check_wide_write,
    check_aliasing,
    check_write_one_to_clear,
    check_clear_on_read,
    check_holes,
    check_reset,
)
"""In the order in which `run_suite` runs them; the last shows that all is as it was."""


def _names() -> Iterator[tuple[str, Callable[[Bus, RegisterMap, int], Awaitable[int]]]]:
    for check in CHECKS:
        yield check.__name__.removeprefix("check_"), check


async def run_suite(bus: Bus, registers: RegisterMap, base: int = 0) -> dict[str, int]:
    """All checks that need only reads and writes; returns what each compared, by its name without "check_"."""
    counts: dict[str, int] = {}
    for name, check in _names():
        counts[name] = counts.get(name, 0) + await check(bus, registers, base)
    return counts
