"""The registers of a port: its map, access by name, the automatic suite and the suite's own teeth.

Sweep:    every register of the map on nic_port, both simulators; every kind of fault that the suite must find
Stimulus: the automatic suite over AXI4-Lite; a device in Python with one fault at a time
Checks:   the map against the table of docs/architecture.md, the C header against the map, the RTL against the map, the
          pyuvm model against the RTL; each fault is found by the check that is there for it
Timing:   a 64-bit register that carries between its two reads is not torn
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from models.registers import Access, Field, Register, RegisterMap
from tb.nic.designs import least, port_design
from tb.registers import suite
from tb.registers.generate import make_local, make_uvm_model, map_of
from tb.registers.map import PORT, read_fields, read_register, read_value, write_fields, write_register, write_value
from tb.registers.source import elaborate
from tb.targets.base import UnmappedAddress
from tb.toolchain import ROOT
from tests.plugin import skips

INSTANCES = {
    "nic": (0x00000, 0), "mac_rx": (0x10000, 1), "mac_tx": (0x14000, 1), "parser_rx": (0x20000, 2),
    "parser_tx": (0x24000, 2), "parser_inner": (0x28000, 2), "acl_rx": (0x30000, 3), "acl_tx": (0x34000, 3),
    "pfc_rx": (0x40000, 4), "tx_sched": (0x44000, 4), "rx_buffer": (0x48000, 4), "ipsec_rx": (0x50000, 5),
    "ipsec_tx": (0x54000, 5), "tls_rx": (0x60000, 6), "tls_tx": (0x64000, 6), "roce": (0x70000, 7),
    "roce_icrc": (0x78000, 7),
}  # fmt: skip
"""Offset and block number of every instance, as docs/architecture.md has them."""


def test_registers_of_nic_port_are_what_their_map_says(sim: str, simulate: Callable[..., Any]) -> None:
    design = port_design("agents", **least(sim), MAC_EN=1, IPSEC_EN=1, IPSEC_SAS=8, IPSEC_SM4_EN=0)
    simulate(design, "tb.nic.bench_registers", sim=sim)


def test_every_instance_lies_where_the_architecture_says_and_begins_with_its_id() -> None:
    assert PORT.instances == tuple(INSTANCES)
    for name, (offset, block) in INSTANCES.items():
        identification = PORT[f"{name}.id"]
        assert identification.address == offset
        assert identification.decode(identification.reset)["block"] == block
        assert identification.stable_mask == identification.mask() == 0x3FFFF


def test_a_slot_without_its_block_says_absent_and_the_buffers_say_stand_in() -> None:
    states = {name: PORT[f"{name}.id"].decode(PORT[f"{name}.id"].reset)["state"] for name in INSTANCES}
    present = {"nic", "mac_rx", "mac_tx", "parser_rx", "parser_tx", "parser_inner", "acl_rx", "acl_tx"}
    present |= {"ipsec_rx", "ipsec_tx"}
    stand_in = {"tx_sched", "rx_buffer"}
    assert {name for name, state in states.items() if state == 3} == present
    assert {name for name, state in states.items() if state == 2} == stand_in
    assert all(state == 0 for name, state in states.items() if name not in present | stand_in)


def test_reset_values_and_widths_of_the_port_are_those_of_the_architecture() -> None:
    assert PORT.size == 1 << 20
    assert (PORT["nic.control"].reset, PORT["nic.max_frame"].reset, PORT["nic.scratch"].reset) == (3, 9596, 0)
    assert PORT["nic.time_increment"].reset == 4 << 32 and PORT["nic.time_increment"].width == 64
    for name, address in (("rx_disposition", 0x1000), ("tx_disposition", 0x2000)):
        array = PORT[f"nic.{name}"]
        assert (array.address, array.count, array.stride, array.width) == (address, 128, 8, 64)


def test_registers_do_not_overlap_and_every_word_leads_back_to_its_register() -> None:
    taken: dict[int, str] = {}
    for register in PORT:
        for word in range(register.words):
            address = register.address + 4 * word
            assert address not in taken, f"{register.name} and {taken[address]} share {address:#x}"
            taken[address] = register.name
            assert PORT.find(address + 3) == (register, word)
        assert PORT[register.name] == register
    assert PORT.find(0x14) is None and PORT.find(0xFFFFC) is None


def test_a_name_that_is_not_in_the_map_is_refused() -> None:
    with pytest.raises(KeyError, match=r"no register nic\.missing"):
        PORT["nic.missing"]
    with pytest.raises(IndexError, match="it has 128 elements"):
        PORT["nic.rx_disposition[128]"]
    with pytest.raises(KeyError, match="no register"):
        PORT["nic.scratch[0]x"]
    with pytest.raises(TypeError, match="is not an array"):
        PORT["nic.scratch[0]"]
    with pytest.raises(KeyError, match="has no field queue; it has rx_enable, tx_enable"):
        PORT["nic.control"].field("queue")


def test_a_value_is_taken_apart_and_put_together_by_field() -> None:
    control = PORT["nic.control"]
    assert control.decode(2) == {"rx_enable": 0, "tx_enable": 1}
    assert control.encode({"rx_enable": 0}) == 2
    assert control.encode({"tx_enable": 1}, 0) == 2
    with pytest.raises(ValueError, match="rx_enable: 2 does not fit 1 bits"):
        control.encode({"rx_enable": 2})


def test_the_map_is_imported_without_systemrdl() -> None:
    code = "import sys, tb.registers.map; print([name for name in sys.modules if name.startswith('systemrdl')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_the_c_header_places_every_register_where_the_map_does(tmp_path: Path) -> None:
    if not skips.find_tool("g++"):
        skips.missing_tool("g++", "sudo apt-get install g++")
    checks = []
    for register in PORT.registers:
        checks.append(f'static_assert(offsetof(port_t, {register.name}) == {register.address:#x}, "{register.name}");')
        # The header marks the type of an array's elements with an X
        prefix = "PORT__" + register.name.upper().replace(".", "__") + ("X" if register.is_array else "")
        for field in register.fields:
            name = f"{prefix}__{field.name.upper()}"
            checks.append(f'static_assert({name}_bp == {field.low} && {name}_bw == {field.width}, "{name}");')
    source = tmp_path / "check.cpp"
    source.write_text('#include <cstddef>\n#include "nicloop_regs.h"\n' + "\n".join(checks) + "\n")
    include = ROOT / "docs" / "registers"
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{include}", str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(checks) > 60


def test_manual_and_register_model_are_made_from_the_same_sources(tmp_path: Path) -> None:
    make_local(tmp_path)
    manual = "".join(path.read_text(errors="replace") for path in (tmp_path / "html").rglob("*.js*"))
    assert "rx_disposition" in manual
    model = (tmp_path / "port_ral.py").read_text()
    for name, (offset, _) in INSTANCES.items():
        assert re.search(rf"add_submap\(self\.{name}\.get_default_map\(\), {offset:#x}\)", model), name


def test_the_register_model_of_the_example_has_its_kinds_of_access(tmp_path: Path) -> None:
    path = tmp_path / "example_ral.py"
    make_uvm_model(Path(__file__).with_name("regs_example.rdl"), path)
    text = path.read_text()
    for kind in ("RW", "RO", "WO", "W1C", "RC"):
        assert f'"{kind}"' in text, kind


# A device in Python, and what the suite finds in it

EXAMPLE = map_of(elaborate(Path(__file__).with_name("regs_example.rdl")), 0x4000)


class Device:
    """A device that does what a map says, at once; ``base`` is the address of its map. Faults override a method."""

    def __init__(self, registers: RegisterMap, base: int = 0) -> None:
        self.registers, self.base = registers, base
        self.values = {register.name: register.reset for register in registers}
        self.high: dict[str, int] = {}
        self.held: dict[str, tuple[int, int]] = {}

    def find(self, address: int) -> tuple[Register, int]:
        found = self.registers.find(address - self.base) if address >= self.base else None
        if found is None:
            raise UnmappedAddress(address)
        return found

    def visible(self, register: Register) -> int:
        return self.values[register.name] & ~register.mask(Access.WO, Access.PULSE)

    async def read(self, address: int) -> int:
        register, word = self.find(address)
        value = self.visible(register)
        if word:
            return self.high.get(register.name, value >> 32)
        self.high[register.name] = value >> 32
        self.values[register.name] &= ~self.cleared(register)
        return value & 0xFFFFFFFF

    def cleared(self, register: Register) -> int:
        return register.mask(Access.RCLR)

    async def write(self, address: int, value: int) -> None:
        await self.write_bytes(address, value, 0xF)

    async def write_bytes(self, address: int, value: int, strobes: int) -> None:
        register, word = self.find(address)
        mask = sum(0xFF << 8 * lane for lane in range(4) if strobes >> lane & 1)
        if register.words == 2 and word == 0:
            old, bits = self.held.get(register.name, (0, 0))
            self.held[register.name] = (old & ~mask | value & mask, bits | mask)
            return
        if register.words == 2:
            low, bits = self.held.pop(register.name, (0, 0))
            value, mask = value << 32 | low, mask << 32 | bits
        self.store(register, value, mask)

    def store(self, register: Register, value: int, mask: int) -> None:
        plain = register.mask(Access.RW, Access.WO) & mask
        kept = self.values[register.name] & ~(value & mask & register.mask(Access.W1C))
        self.values[register.name] = kept & ~plain | value & plain


class StuckBit(Device):
    def store(self, register: Register, value: int, mask: int) -> None:
        super().store(register, value & ~(1 << 7) if register.name.endswith(("plain", "scratch")) else value, mask)


class CoupledBits(Device):
    def store(self, register: Register, value: int, mask: int) -> None:
        """Two bits that follow each other: no pattern of equal neighbours shows it."""
        if register.name.endswith(("plain", "scratch")):
            value = value | (value >> 1 & 1 << 4)
        super().store(register, value, mask)


class WrongReset(Device):
    def __init__(self, registers: RegisterMap, base: int = 0) -> None:
        super().__init__(registers, base)
        name = next(item.name for item in registers if item.mask(Access.RW) and item.reset)
        self.values[name] ^= 1


class Aliased(Device):
    """One address bit is not decoded: two registers share their storage."""

    def find(self, address: int) -> tuple[Register, int]:
        register, word = super().find(address)
        other = self.registers.find((address - self.base) & ~4) or (register, word)
        same = register.width == other[0].width == 32 and register.mask(Access.RW) and other[0].mask(Access.RW)
        return other if same else (register, word)


class WritesAlsoToTheNext(Device):
    """A write reaches the register behind it too, unless that is written later."""

    def store(self, register: Register, value: int, mask: int) -> None:
        super().store(register, value, mask)
        found = self.registers.find(register.address + 4)
        if found is not None and found[0].mask(Access.RW) and found[0].width == register.width == 32:
            super().store(found[0], value, mask)


class WritableConstant(Device):
    def store(self, register: Register, value: int, mask: int) -> None:
        if register.name.endswith("id"):
            self.values[register.name] = value & register.mask()
        super().store(register, value, mask)


class WritableCounter(Device):
    def store(self, register: Register, value: int, mask: int) -> None:
        if any(item.name == "count" and item.access is Access.RO for item in register.fields):
            self.values[register.name] = value & mask & register.mask()
        super().store(register, value, mask)


class NoErrorInHoles(Device):
    async def read(self, address: int) -> int:
        try:
            return await super().read(address)
        except UnmappedAddress:
            return 0


class WritesInHolesLand(Device):
    async def write(self, address: int, value: int) -> None:
        try:
            await super().write(address, value)
        except UnmappedAddress:
            name = next(item.name for item in self.registers if item.mask(Access.RW))
            self.values[name] = value & self.registers[name].mask()
            raise


class DeafToErrors(Device):
    async def write(self, address: int, value: int) -> None:
        try:
            await super().write(address, value)
        except UnmappedAddress:
            return


class NotCleared(Device):
    def cleared(self, register: Register) -> int:
        return 0


class WriteClearsNothing(Device):
    def store(self, register: Register, value: int, mask: int) -> None:
        super().store(register, value & ~register.mask(Access.W1C), mask)


class AnyWriteClears(Device):
    def store(self, register: Register, value: int, mask: int) -> None:
        super().store(register, value | register.mask(Access.W1C), mask)


class ReservedBitsStick(Device):
    def visible(self, register: Register) -> int:
        extra = 1 << 20 if register.name.endswith(("control", "group.a")) else 0
        return super().visible(register) | extra


class HighWordLost(Device):
    def store(self, register: Register, value: int, mask: int) -> None:
        super().store(register, value, mask & 0xFFFFFFFF)


class LowWordAtOnce(Device):
    async def write_bytes(self, address: int, value: int, strobes: int) -> None:
        register, word = self.find(address)
        await super().write_bytes(address, value, strobes)
        if register.words == 2 and word == 0:
            self.store(register, *self.held.pop(register.name))


class StrobesIgnored(Device):
    async def write_bytes(self, address: int, value: int, strobes: int) -> None:
        await super().write_bytes(address, value, 0xF if strobes else 0)


FAULTS: list[tuple[type[Device], Callable[..., Awaitable[int]], tuple[str, ...]]] = [
    (StuckBit, suite.check_read_write, ("port", "regs_example")),
    (StuckBit, suite.check_bit_bash, ("port", "regs_example")),
    (CoupledBits, suite.check_bit_bash, ("port", "regs_example")),
    (WrongReset, suite.check_reset, ("port", "regs_example")),
    (Aliased, suite.check_aliasing, ("port", "regs_example")),
    (WritesAlsoToTheNext, suite.check_aliasing, ("port", "regs_example")),
    (WritableConstant, suite.check_read_only, ("port", "regs_example")),
    (WritableCounter, suite.check_read_only, ("port", "regs_example")),
    (NoErrorInHoles, suite.check_holes, ("port", "regs_example")),
    (WritesInHolesLand, suite.check_holes, ("port", "regs_example")),
    (DeafToErrors, suite.check_holes, ("port", "regs_example")),
    (NotCleared, suite.check_clear_on_read, ("regs_example",)),
    (WriteClearsNothing, suite.check_write_one_to_clear, ("regs_example",)),
    (AnyWriteClears, suite.check_write_one_to_clear, ("regs_example",)),
    (ReservedBitsStick, suite.check_reset, ("port", "regs_example")),
    (HighWordLost, suite.check_read_write, ("port", "regs_example")),
    (LowWordAtOnce, suite.check_wide_write, ("port", "regs_example")),
    (StrobesIgnored, suite.check_byte_strobes, ("port", "regs_example")),
]
MAPS = {"port": PORT, "regs_example": EXAMPLE}


def prepared(device: Device) -> Device:
    """Something for every check to find: events and counts that are there already."""
    for register in device.registers:
        device.values[register.name] |= register.mask(Access.W1C, Access.RCLR)
    return device


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("base", [0, 1 << 20])
def test_the_suite_passes_on_a_device_that_is_as_its_map_says(name: str, base: int) -> None:
    device = prepared(Device(MAPS[name], base))
    before = {key: value for key, value in device.values.items() if not MAPS[name][key].mask(Access.W1C, Access.RCLR)}
    counts = asyncio.run(suite.run_suite(device, MAPS[name], base))
    counts["byte_strobes"] = asyncio.run(suite.check_byte_strobes(device, MAPS[name], base))
    empty = {key for key, count in counts.items() if not count}
    assert empty == (set() if name == "regs_example" else {"clear_on_read"})
    assert {key: device.values[key] for key in before} == before, "the suite left a register changed"


@pytest.mark.parametrize(
    ("fault", "check", "name"),
    [
        pytest.param(fault, check, name, id=f"{fault.__name__}-{check.__name__}-{name}")
        for fault, check, names in FAULTS
        for name in names
    ],
)
def test_the_suite_finds_a_device_that_is_not_as_its_map_says(
    fault: type[Device], check: Callable[..., Awaitable[int]], name: str
) -> None:
    device = prepared(fault(MAPS[name]))

    async def run() -> None:
        await check(device, MAPS[name])

    with pytest.raises(suite.RegisterMismatch):
        asyncio.run(run())


def test_a_mismatch_names_register_address_expectation_and_field() -> None:
    device = StuckBit(PORT)

    async def run() -> None:
        await suite.check_read_write(device, PORT)

    with pytest.raises(suite.RegisterMismatch) as caught:
        asyncio.run(run())
    text = str(caught.value)
    for part in (
        "nic.scratch at 0x00004",
        "after a write of 0xffffffff",
        "read 0xffffff7f",
        "expected 0xffffffff",
        "value",
    ):
        assert part in text, text


# Access by name


def test_registers_are_read_and_written_by_name() -> None:
    device = Device(PORT, 1 << 20)

    async def run() -> None:
        await write_register(device, "nic.scratch", 0xDEADBEEF, base=1 << 20)
        assert await read_register(device, "nic.scratch", base=1 << 20) == 0xDEADBEEF
        await write_fields(device, "nic.control", base=1 << 20, tx_enable=0)
        assert await read_fields(device, "nic.control", base=1 << 20) == {"rx_enable": 1, "tx_enable": 0}
        with pytest.raises(ValueError, match="does not fit 32 bits"):
            await write_register(device, "nic.scratch", 1 << 32, base=1 << 20)
        for access in (
            read_value(device, PORT["nic.rx_disposition"]),
            write_value(device, PORT["nic.rx_disposition"], 0),
        ):
            with pytest.raises(TypeError, match="name one element"):
                await access

    asyncio.run(run())


def test_a_64_bit_counter_that_carries_between_its_two_reads_is_read_whole() -> None:
    class Counting(Device):
        async def read(self, address: int) -> int:
            value = await super().read(address)
            self.values["nic.rx_bytes_in"] += 1
            return value

    device = Counting(PORT)
    device.values["nic.rx_bytes_in"] = 0xFFFFFFFF
    assert asyncio.run(read_register(device, "nic.rx_bytes_in")) == 0xFFFFFFFF
    assert asyncio.run(read_register(device, "nic.rx_bytes_in")) == 0x100000001


def test_a_field_that_hardware_drives_has_no_reset_value_to_compare() -> None:
    register = Register("x.y", 0, 32, (Field("a", 0, 4, Access.RO, None, True), Field("b", 4, 4, Access.RO, 3, False)))
    assert register.stable_mask == 0xF0 and register.reset == 0x30 and register.volatile and not register.writable
