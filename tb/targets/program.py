"""A ``NicConfig`` as register writes, and the registers that scenarios read: one way for every target but ``model``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from models.acl import DEFAULT_RULE, RuleSet
from models.acl_check import misfits
from models.config import ACL_SIDES, IPSEC_SIDES, NicConfig
from models.ipsec_sa import Cipher, Sa
from models.meta import Code
from models.nic import COUNTERS
from models.port_map import PORT
from tb.acl import driver
from tb.ipsec import sa_registers
from tb.targets.base import Target, TargetError, UnmappedAddress

__all__ = [
    "PORT_BYTES",
    "SLOTS",
    "RulesError",
    "Transfer",
    "access_all",
    "address",
    "check_rules",
    "one_by_one",
    "program",
    "read64",
    "read_counter",
    "read_counters",
    "read_dispositions",
    "read_rule_counters",
    "rule_sets",
    "sa_sets",
    "writes",
]

PORT_BYTES = PORT.size
"""Bytes of address space of one port: port p's registers start at ``p * PORT_BYTES``."""

SLOTS: dict[str, tuple[int, int]] = {
    name: (PORT[f"{name}.id"].address, PORT[f"{name}.id"].field("block").reset or 0) for name in PORT.instances
}
"""Address of the identification register and block number of every instance of a port."""

Transfer = tuple[int, int | None]
"""A register access: address, and the value of a write; None: a read."""

_PART = 2048
"""Accesses between two words of progress."""


class RulesError(TargetError):
    """A port's rules or SAs don't fit the device. The message is one line: slot, how many and why."""

    @property
    def slot(self) -> str:
        """ "acl_rx", "acl_tx", "ipsec_rx" or "ipsec_tx"."""
        return str(self).partition(":")[0]


@runtime_checkable
class Bulk(Protocol):
    """A target that makes many accesses at once."""

    async def access_all(self, accesses: Sequence[Transfer]) -> list[int]:
        """Reads and writes of registers, one right after the other; what each read, or wrote."""
        ...


class _Single(Protocol):
    """What makes one access at a time."""

    async def read(self, address: int) -> int: ...

    async def write(self, address: int, value: int) -> None: ...


async def one_by_one(target: _Single, accesses: Sequence[Transfer]) -> list[int]:
    """As `Bulk.access_all`, an access at a time."""
    found = []
    for where, value in accesses:
        if value is None:
            found.append(await target.read(where))
        else:
            await target.write(where, value)
            found.append(value)
    return found


async def access_all(target: Target, accesses: Sequence[Transfer]) -> list[int]:
    """The same on any target, at once where it can."""
    return await (target.access_all(accesses) if isinstance(target, Bulk) else one_by_one(target, accesses))


def address(register: str) -> int:
    """Address of a register by name ("nic.control", "nic.rx_disposition[1]"). KeyError: there is none."""
    return PORT[register].address


# -- programming -------------------------------------------------------------------------------------------------------


def writes(config: NicConfig, port: int = 0, *, ipv6: bool = True) -> list[tuple[int, int]]:
    """Address and value of every write that programs a port; SAs and rules come first and the switches last: nothing
    runs half-programmed. ipv6: its engines have keys for IPv6. ValueError: rules that don't fit (`check_rules`)."""
    base = port * PORT_BYTES
    done = [
        (base + where, value) for slot, sas in sa_sets(config, port) for where, value in sa_registers.writes(slot, sas)
    ]
    done += [
        (base + where, value)
        for slot, rule_set in rule_sets(config, port)
        for where, value in driver.writes(rule_set, slot, ipv6=ipv6)
    ]
    for name, value in config.ports[port].registers().items():
        register = PORT[name]
        for word in range(register.words):
            done.append((base + register.address + 4 * word, value >> 32 * word & 0xFFFF_FFFF))
    return done


def rule_sets(config: NicConfig, port: int = 0) -> Iterator[tuple[str, RuleSet]]:
    """The slots of a port that have rules ("acl_rx", "acl_tx"), and these."""
    for side in ACL_SIDES:
        rule_set = getattr(config.ports[port], f"acl_{side}")
        if rule_set is not None:
            yield f"acl_{side}", rule_set


def sa_sets(config: NicConfig, port: int = 0) -> Iterator[tuple[str, tuple[Sa, ...]]]:
    """The slots of IPsec of a port and their SAs, none or more; nothing where the port has no IPsec."""
    ipsec = config.ports[port].ipsec
    if ipsec is not None:
        yield from ((f"ipsec_{side}", getattr(ipsec, side)) for side in IPSEC_SIDES)


async def program(target: Target, config: NicConfig, told: Callable[[int, int], None] = lambda *_: None) -> None:
    """Write ``config`` to every port that the target has. told: takes accesses done and accesses in all.

    `RulesError`: as of `check_rules`.
    """
    for port in target.capabilities.ports:
        whole = writes(config, port, ipv6=await _fitting(target, config, port))
        for begin in range(0, len(whole), _PART):
            await access_all(target, whole[begin : begin + _PART])
            told(min(begin + _PART, len(whole)), len(whole))


async def check_rules(target: Target, config: NicConfig) -> None:
    """`RulesError`: the rules or the SAs of a port don't fit it, or it has no block for them."""
    for port in target.capabilities.ports:
        await _fitting(target, config, port)


async def _fitting(target: Target, config: NicConfig, port: int) -> bool:
    """Whether the ACL's engines have keys for IPv6; true where it has no rules. `RulesError`: these or SAs don't."""
    if not target.capabilities.built_to_order:
        for slot, sas in sa_sets(config, port):
            await _fitting_sas(target, slot, sas, port)
    ipv6 = True
    for slot, rule_set in rule_sets(config, port):
        size = PORT[f"{slot}.size"]
        try:
            has = size.decode(await target.read(port * PORT_BYTES + size.address))
        except UnmappedAddress:
            raise RulesError(f"{slot}: doesn't fit: the device has no ACL there") from None
        ipv6 = bool(has["ipv6"])
        reasons = misfits(rule_set.rules, len(rule_set.meters), has)
        if reasons:
            raise RulesError(f"{slot}: doesn't fit: {'; '.join(reasons)}")
    return ipv6


async def _fitting_sas(target: Target, slot: str, sas: Sequence[Sa], port: int) -> None:
    size = PORT[f"{slot}.size"]
    try:
        has = size.decode(await target.read(port * PORT_BYTES + size.address))
    except UnmappedAddress:
        raise RulesError(f"{slot}: doesn't fit: the device was built without IPsec (IPSEC_EN 0)") from None
    if len(sas) > has["sas"]:
        raise RulesError(f"{slot}: doesn't fit: {len(sas)} SAs, and it has room for {has['sas']}")
    if not has["sm4"] and any(sa.cipher is Cipher.SM4_GCM for sa in sas):
        raise RulesError(f"{slot}: doesn't fit: an SA of SM4-GCM, which the device hasn't")


# -- what it counted ---------------------------------------------------------------------------------------------------


async def read64(target: Target, register: str) -> int:
    """A 64-bit register: the low word first, which latches the high one."""
    low = await target.read(address(register))
    return low | await target.read(address(register) + 4) << 32


async def read_counter(target: Target, name: str) -> int:
    """A 64-bit counter of block `nic` ("rx_frames_in")."""
    return await read64(target, f"nic.{name}")


async def read_counters(
    read_all: Callable[[Sequence[int]], Awaitable[list[int]]], counters: Mapping[str, str] = COUNTERS
) -> dict[str, int]:
    """Counters of a port, all of them or these names and registers, named as in an `Outcome`. read_all: reads registers
    one after the other; low words come first, as in `read64`."""
    words = await read_all([address(register) + 4 * word for register in counters.values() for word in range(2)])
    return {name: words[2 * i] | words[2 * i + 1] << 32 for i, name in enumerate(counters)}


async def read_rule_counters(target: Target, config: NicConfig, port: int = 0) -> dict[str, int]:
    """What the rules of a port, and its default actions, have counted, named as in an `Outcome`: nothing may be under
    way."""
    found: dict[str, int] = {}
    for slot, rule_set in rule_sets(config, port):
        status = PORT[f"{slot}.status"]
        active = status.decode(await target.read(port * PORT_BYTES + status.address))["active"]
        numbers = [*range(len(rule_set.rules)), DEFAULT_RULE]
        accesses = [access for number in numbers for access in _counter_reads(slot, active, number)]
        words = await access_all(target, [(port * PORT_BYTES + where, value) for where, value in accesses])
        for number, at in zip(numbers, range(0, len(words), len(words) // len(numbers)), strict=True):
            of = f"{slot}.default" if number == DEFAULT_RULE else f"{slot}.rule[{number}]"
            found[f"{of}.frames"] = words[at + 1] | words[at + 2] << 32
            found[f"{of}.bytes"] = words[at + 3] | words[at + 4] << 32
    return found


def _counter_reads(slot: str, of: int, number: int) -> Iterator[Transfer]:
    """The accesses that read what a rule of a set has counted: the command, then both words of frames and of bytes."""
    command = PORT[f"{slot}.command"]
    yield command.address, command.encode({"op": driver.Op.READ, "set": of, "number": number}, 0)
    for name in ("counter_frames", "counter_bytes"):
        register = PORT[f"{slot}.{name}"]
        for word in range(register.words):
            yield register.address + 4 * word, None


async def read_dispositions(target: Target, direction: str) -> dict[Code, int]:
    """The counters of every known code of "rx" or "tx"."""
    return {code: await read64(target, f"nic.{direction}_disposition[{int(code)}]") for code in Code}
