"""Types of the register map: what stands at which address, and how software sees it.

``models/port_map.py`` holds the map of a port in these types, generated from the SystemRDL sources. Nothing here reads
SystemRDL, so the map costs milliseconds to import. Addresses are in bytes; a register has 32 bits, or 64 in two words
(the low one at the lower address). docs/registers.md has the rules of access.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

__all__ = ["WORD", "Access", "Field", "Register", "RegisterMap"]

WORD = 4
"""Bytes of one access."""


class Access(StrEnum):
    """What software can do with a field."""

    RW = "rw"
    RO = "ro"
    WO = "wo"
    """Written by software, reads as 0."""
    W1C = "w1c"
    """Writing 1 clears."""
    RCLR = "rclr"
    """Reading clears."""
    PULSE = "pulse"
    """Writing 1 raises a signal for one cycle; reads as 0."""


@dataclass(frozen=True, slots=True)
class Field:
    """Bits ``low + width - 1`` to ``low`` of a register.

    reset: the value after reset, None where hardware decides. volatile: hardware can change what is read.
    """

    name: str
    low: int
    width: int
    access: Access
    reset: int | None
    volatile: bool
    doc: str = ""

    @property
    def mask(self) -> int:
        """The field's bits in the register."""
        return ((1 << self.width) - 1) << self.low

    def extract(self, value: int) -> int:
        """The field's own value out of the register's."""
        return (value & self.mask) >> self.low


@dataclass(frozen=True)
class Register:
    """A register, or an array of ``count`` registers that lie ``stride`` bytes apart.

    name: with the instance in front, as "nic.scratch"; an element of an array is "nic.rx_disposition[3]".
    """

    name: str
    address: int
    width: int
    fields: tuple[Field, ...]
    doc: str = ""
    count: int = 1
    stride: int = 0

    @property
    def is_array(self) -> bool:
        return self.stride > 0

    @property
    def words(self) -> int:
        """Accesses that it takes to read it."""
        return self.width // 32

    def field(self, name: str) -> Field:
        """KeyError: no such field."""
        for item in self.fields:
            if item.name == name:
                return item
        raise KeyError(f"{self.name} has no field {name}; it has {', '.join(item.name for item in self.fields)}")

    def mask(self, *access: Access) -> int:
        """Bits of the fields of these kinds of access (of all fields if none is given)."""
        return sum(item.mask for item in self.fields if not access or item.access in access)

    @property
    def stable_mask(self) -> int:
        """Bits that read as `reset` until software changes them: known after reset and beyond hardware's reach."""
        return sum(item.mask for item in self.fields if item.reset is not None and not item.volatile)

    @property
    def reset(self) -> int:
        """The value after reset; bits whose value hardware decides are 0."""
        return sum((item.reset or 0) << item.low for item in self.fields)

    @property
    def volatile(self) -> bool:
        """Whether hardware can change any bit of it."""
        return any(item.volatile for item in self.fields)

    @property
    def writable(self) -> bool:
        """Whether a write does anything."""
        return any(item.access not in (Access.RO, Access.RCLR) for item in self.fields)

    def decode(self, value: int) -> dict[str, int]:
        """A value that was read, by field."""
        return {item.name: item.extract(value) for item in self.fields}

    def encode(self, fields: Mapping[str, int], start: int | None = None) -> int:
        """Values by field to a value to write; other fields are taken from ``start`` (the reset value when None).

        KeyError: no such field. ValueError: a value too large for its field.
        """
        value = self.reset if start is None else start
        for name, number in fields.items():
            item = self.field(name)
            if not 0 <= number < 1 << item.width:
                raise ValueError(f"{self.name}.{name}: {number} does not fit {item.width} bits")
            value = value & ~item.mask | number << item.low
        return value

    def element(self, index: int) -> Register:
        """One register of an array. IndexError: beyond its end. TypeError: not an array."""
        if not self.is_array:
            raise TypeError(f"{self.name} is not an array")
        if not 0 <= index < self.count:
            raise IndexError(f"{self.name}[{index}]: it has {self.count} elements")
        return replace(
            self, name=f"{self.name}[{index}]", address=self.address + index * self.stride, count=1, stride=0
        )

    def elements(self) -> Iterator[Register]:
        """Each element of an array, or the register itself."""
        if self.is_array:
            yield from map(self.element, range(self.count))
        else:
            yield self


@dataclass(frozen=True)
class RegisterMap:
    """All registers of ``size`` bytes of addresses, in the order of their addresses."""

    name: str
    size: int
    registers: tuple[Register, ...]

    @cached_property
    def _by_name(self) -> dict[str, Register]:
        return {register.name: register for register in self.registers}

    @cached_property
    def _by_address(self) -> dict[int, tuple[Register, int]]:
        return {register.address + WORD * word: (register, word) for register in self for word in range(register.words)}

    def __iter__(self) -> Iterator[Register]:
        """Every register; arrays element by element."""
        for register in self.registers:
            yield from register.elements()

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Register:
        """A register, an array, or one element of an array by name. KeyError, IndexError: there is none."""
        if name in self._by_name:
            return self._by_name[name]
        base, bracket, index = name.partition("[")
        if bracket and base in self._by_name and index.endswith("]") and index[:-1].isdigit():
            return self._by_name[base].element(int(index[:-1]))
        raise KeyError(f"the map {self.name} has no register {name}")

    def find(self, address: int) -> tuple[Register, int] | None:
        """The register (or element) and the word of it at the address of a word; None: there is no register."""
        return self._by_address.get(address & ~(WORD - 1))

    @property
    def instances(self) -> tuple[str, ...]:
        """Names before the first dot, in the order of their addresses."""
        return tuple(dict.fromkeys(register.name.partition(".")[0] for register in self.registers))

    def instance(self, name: str) -> tuple[Register, ...]:
        """The registers of one instance. KeyError: there is none of that name."""
        found = tuple(register for register in self.registers if register.name.partition(".")[0] == name)
        if not found:
            raise KeyError(f"the map {self.name} has no instance {name}; it has {', '.join(self.instances)}")
        return found
