"""Registers of `nic_port` over AXI4-Lite: the automatic suite on the map of a port with its MACs, and the pyuvm model's
front door.

The AXI4-Lite master is cocotbext-axi's. No frame moves: the suite wants a quiet port. The pyuvm model comes from the
same SystemRDL as the RTL (peakrdl-pyuvm); its 64-bit registers take two accesses, which the adapter asks for.
"""

from __future__ import annotations

import importlib.util
import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp
from pyuvm import (
    ConfigDB,
    uvm_access_e,
    uvm_driver,
    uvm_env,
    uvm_reg_adapter,
    uvm_reg_bus_op,
    uvm_root,
    uvm_sequence_item,
    uvm_sequencer,
    uvm_status_e,
    uvm_test,
)

from models.mac_xgmii import IDLE_WORD
from tb.lib import cover
from tb.lib.clock import WIRE_PS, reset, start_clock, wait_cycles
from tb.registers import suite
from tb.registers.generate import PORT_RDL, make_uvm_model
from tb.registers.map import PORT, WORD, Access, read_register, read_value, write_register
from tb.targets.base import UnmappedAddress

QUIET = (
    "s_axis_wire_tdata", "s_axis_wire_tkeep", "s_axis_wire_tvalid", "s_axis_wire_tlast", "s_axis_wire_tuser",
    "s_axis_host_tdata", "s_axis_host_tkeep", "s_axis_host_tvalid", "s_axis_host_tlast", "s_axis_host_tuser",
    "s_axis_host_meta", "m_axis_host_tready", "m_axis_wire_tready", "time_advance", "time_target",
    "time_target_fraction", "mem_req_ready", "m_axis_mem_tready", "s_axis_mem_tdata", "s_axis_mem_tkeep",
    "s_axis_mem_tvalid", "s_axis_mem_tlast", "mem_done_valid", "mem_done_id", "mem_done_code",
)  # fmt: skip

responses = cover.cross("registers.response", ("read", "write"), ("okay", "decerr"))


class AxiBus:
    """The port's registers behind an AXI4-Lite master; `UnmappedAddress` is the answer DECERR."""

    def __init__(self, dut: Any) -> None:
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
        for interface in (self.master.read_if, self.master.write_if):
            interface.log.setLevel("WARNING")

    @staticmethod
    def _check(kind: str, address: int, response: AxiResp) -> None:
        responses(kind, "okay" if response == AxiResp.OKAY else "decerr")
        if response == AxiResp.DECERR:
            raise UnmappedAddress(address)
        assert response == AxiResp.OKAY, f"{kind} at {address:#07x}: response {response!r}"

    async def read(self, address: int) -> int:
        answer = await self.master.read(address, WORD)
        self._check("read", address, answer.resp)
        return int.from_bytes(answer.data, "little")

    async def write(self, address: int, value: int) -> None:
        answer = await self.master.write(address, value.to_bytes(WORD, "little"))
        self._check("write", address, answer.resp)

    async def write_bytes(self, address: int, value: int, strobes: int) -> None:
        """strobes: contiguous, as this master makes them."""
        lanes = [lane for lane in range(WORD) if strobes >> lane & 1]
        data = value.to_bytes(WORD, "little")[lanes[0] : lanes[-1] + 1]
        answer = await self.master.write(address + lanes[0], data)
        self._check("write", address, answer.resp)


async def started(dut: Any) -> AxiBus:
    """A port that is out of reset, ready and quiet."""
    for name in QUIET:
        getattr(dut, name).value = 0
    dut.xgmii_rx_d.value, dut.xgmii_rx_c.value = IDLE_WORD
    start_clock(dut.clk)
    for name in ("rx", "tx"):
        start_clock(getattr(dut, f"{name}_clk"), WIRE_PS)
        getattr(dut, f"{name}_rst").value = 1
    bus = AxiBus(dut)
    await reset(dut.rst, dut.clk)
    dut.rx_rst.value = dut.tx_rst.value = 0
    for _ in range(2000):
        if int(dut.ready.value):
            return bus
        await RisingEdge(dut.clk)
    raise AssertionError("the port is not ready 2000 cycles after reset")


@cocotb.test()
async def the_automatic_suite_passes_on_the_whole_map_of_a_port(dut: Any) -> None:
    bus = await started(dut)
    for check in suite.CHECKS:
        count = await check(bus, PORT, 0)
        # The port has no register that a read clears
        assert count or check is suite.check_clear_on_read, f"{check.__name__} compared nothing"
        dut._log.info("%s: %d comparisons", check.__name__, count)
    assert await suite.check_byte_strobes(bus, PORT)


@cocotb.test()
async def an_address_without_a_register_is_answered_decerr_and_a_read_only_one_okay(dut: Any) -> None:
    bus = await started(dut)
    for address in (0x00014, 0x00FFC, 0x01400, 0x1000C, 0x18000, 0x74000, 0x80000, 0xFFFFC):
        for answer in (await bus.master.read(address, 4), await bus.master.write(address, b"\xff" * 4)):
            assert answer.resp == AxiResp.DECERR, f"{address:#07x}: {answer.resp!r}"
    for name in ("nic.id", "nic.now", "nic.rx_frames_in", "nic.rx_disposition[127]", "mac_rx.id", "rx_buffer.level"):
        answer = await bus.master.write(PORT[name].address, b"\xff" * 4)
        assert answer.resp == AxiResp.OKAY, f"{name}: {answer.resp!r}"


@cocotb.test()
async def time_that_carries_between_its_two_reads_is_not_torn(dut: Any) -> None:
    bus = await started(dut)
    carries = 0
    for start in range(8):
        # So close before the carry that it falls before, between or after the two reads
        dut.time_target.value = ((start + 1) << 32) - 8 * (start + 1)
        dut.time_advance.value = 1
        await RisingEdge(dut.clk)
        dut.time_advance.value = 0
        await RisingEdge(dut.clk)
        before = int(dut.now.value)
        value = await read_register(bus, "nic.now")
        after = int(dut.now.value)
        assert before <= value <= after, f"read {value:#x} between {before:#x} and {after:#x}"
        carries += before >> 32 != after >> 32
    assert carries >= 4, "the carry fell outside the reads: the test shows nothing"


@cocotb.test()
async def a_64_bit_write_changes_the_speed_of_time_at_once(dut: Any) -> None:
    bus = await started(dut)
    await write_register(bus, "nic.time_increment", 10 << 32)
    await wait_cycles(dut.clk, 2)
    start = int(dut.now.value)
    await wait_cycles(dut.clk, 100)
    assert int(dut.now.value) - start == 1000
    # The low word alone waits for the high one
    await bus.write(PORT["nic.time_increment"].address, 1 << 31)
    start = int(dut.now.value)
    await wait_cycles(dut.clk, 100)
    assert int(dut.now.value) - start == 1000
    await bus.write(PORT["nic.time_increment"].address + WORD, 2)
    await wait_cycles(dut.clk, 2)
    start = int(dut.now.value)
    await wait_cycles(dut.clk, 100)
    assert int(dut.now.value) - start == 250


# The pyuvm register model


class Access64(uvm_sequence_item):
    """One register access of the bus: one word or two."""

    def __init__(self, name: str, write: bool, address: int, words: int, data: int) -> None:
        super().__init__(name)
        self.write, self.address, self.words, self.data = write, address, words, data
        self.okay = False


class Adapter(uvm_reg_adapter):
    """Register operations to bus accesses. pyuvm asks for one bus word: the width comes from the register itself."""

    def reg2bus(self, rw: uvm_reg_bus_op) -> Access64:
        words = -(-self.get_item().get_element().get_n_bits() // 32)
        return Access64("access", rw.kind == uvm_access_e.UVM_WRITE, rw.addr, words, rw.data)

    def bus2reg(self, bus_item: Access64, rw: uvm_reg_bus_op) -> None:
        rw.data = bus_item.data
        rw.status = uvm_status_e.UVM_IS_OK if bus_item.okay else uvm_status_e.UVM_NOT_OK


class Driver(uvm_driver):
    def build_phase(self) -> None:
        self.bus: AxiBus = ConfigDB().get(self, "", "BUS")

    async def run_phase(self) -> None:
        while True:
            item: Access64 = await self.seq_item_port.get_next_item()
            item.okay, data = True, item.data
            if not item.write:
                item.data = 0
            try:
                for word in range(item.words):
                    address = item.address + WORD * word
                    if item.write:
                        await self.bus.write(address, data >> 32 * word & 0xFFFFFFFF)
                    else:
                        item.data |= await self.bus.read(address) << 32 * word
            except UnmappedAddress:
                item.okay = False
            self.seq_item_port.item_done()


class Env(uvm_env):
    def build_phase(self) -> None:
        self.sequencer = uvm_sequencer("sequencer", self)
        self.driver = Driver("driver", self)
        path = Path(os.environ.get("NICLOOP_RUN_DIR", ".")) / "port_ral.py"
        make_uvm_model(PORT_RDL, path)
        spec = importlib.util.spec_from_file_location("port_ral", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.registers = module.port("port")
        self.registers.build()
        self.registers.lock_model()
        self.registers.reset()

    def connect_phase(self) -> None:
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
        top = self.registers.get_default_map()
        top.set_sequencer(self.sequencer, Adapter("adapter"))
        top.set_auto_predict()


WRITABLE = 7 + 2 * 2 + 2 * 10 + 2 * 15
"""Registers that the walk writes: of port and parsers, of each MAC, and what each ACL's and each IPsec slot's commands
need; of an array the first."""


@dataclass
class Walk:
    """What the front-door walk saw."""

    reset: int = 0
    written: int = 0


class FrontDoor(uvm_test):
    """Every register of the pyuvm model through its front door."""

    def build_phase(self) -> None:
        self.env = Env("env", self)

    async def run_phase(self) -> None:
        self.raise_objection()
        rng, walk = random.Random(int(os.environ.get("NICLOOP_SEED", "1"))), Walk()
        blocks = {block.get_name(): block for block in self.env.registers.get_blocks()}
        assert set(blocks) == set(PORT.instances)
        for register in PORT:
            instance, _, name = register.name.partition(".")
            if "[" in name and not name.endswith(("[0]", "[127]")):
                continue
            model = blocks[instance].get_reg_by_name(name)
            status, value = await model.read()
            assert status == uvm_status_e.UVM_IS_OK, f"{register.name}: {status}"
            stable = register.stable_mask
            assert value & stable == model.get_reset() & stable, f"{register.name}: {value:#x}, {model.get_reset():#x}"
            walk.reset += bool(stable)
            mask = register.mask(Access.RW)
            # A write of an ACL's `command` makes it do something, and its field `set` hides the method of that name.
            if not mask or name == "command":
                continue
            written = rng.getrandbits(register.width) & mask
            assert await model.write(written) == uvm_status_e.UVM_IS_OK
            seen = await read_value(self.env.driver.bus, register)
            assert seen == written == model.get_mirrored_value(), (
                f"{register.name}: wrote {written:#x}, holds {seen:#x}"
            )
            walk.written += 1
        assert walk.reset >= 20 and walk.written == WRITABLE, walk
        self.drop_objection()


@cocotb.test()
async def the_pyuvm_register_model_reads_and_writes_every_register_through_its_front_door(dut: Any) -> None:
    bus = await started(dut)
    ConfigDB().set(None, "*", "BUS", bus)
    await uvm_root().run_test(FrontDoor, keep_singletons=True)
