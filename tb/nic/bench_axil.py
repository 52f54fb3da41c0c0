"""Bench of ``nic_axil``: AXI4-Lite on one side, a register port with a memory behind it on the other.

Traffic comes from cocotbext-axi's master; the corners of the handshakes, which it does not reach, are driven by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import Combine, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from tb.lib import cover
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.suite import four_state, seeded

__all__: list[str] = []

UNMAPPED = 0x80000
"""Addresses from here on have no register."""

_INPUTS = {"awaddr": 20, "awprot": 3, "wdata": 32, "wstrb": 4, "araddr": 20, "arprot": 3}

_order = cover.point("nic_axil.order", ["address_first", "together", "data_first"])
_response = cover.cross("nic_axil.response", ["read", "write"], ["okay", "decerr"])
_wait = cover.cross("nic_axil.wait", ["request", "answer"], ["none", "some"])


@dataclass(frozen=True)
class _Access:
    cycle: int
    write: bool
    address: int
    data: int
    strobe: int


class Registers:
    """A memory on the register port; checks that each request is held until its acknowledge.

    ``most``: cycles from a request to its acknowledge, at most; 1 at least. ``memory``: what was written; a word that
    never was has a value of its own. ``log``: the accesses, each with the cycle of its acknowledge.
    """

    def __init__(self, dut: Any, rng: Random) -> None:
        self.dut = dut
        self.rng = rng
        self.memory: dict[int, int] = {}
        self.log: list[_Access] = []
        self.most = 3
        dut.reg_ack.value = 0
        self.task = cocotb.start_soon(self._run())

    def value(self, address: int) -> int:
        return self.memory.get(address, address * 0x9E3779B1 & 0xFFFFFFFF)

    async def _run(self) -> None:
        dut, edge, rng = self.dut, RisingEdge(self.dut.clk), self.rng
        while True:
            await edge
            if str(dut.rst.value) != "0" or not int(dut.reg_req.value):
                continue
            first = self._request()
            assert first.address % 4 == 0, f"register address {first.address:#x}"
            for _ in range(rng.randint(0, self.most - 1)):
                await edge
                if str(dut.rst.value) != "0":
                    break
                assert self._request() == first, f"{first} became {self._request()} before its acknowledge"
            if str(dut.rst.value) != "0":
                continue
            error = first.address >= UNMAPPED
            dut.reg_ack.value, dut.reg_error.value = 1, error
            dut.reg_rdata.value = rng.getrandbits(32) if error or first.write else self.value(first.address)
            await edge
            if str(dut.rst.value) == "0":
                assert self._request() == first, f"{first} became {self._request()} with its acknowledge"
            dut.reg_ack.value = 0
            dut.reg_error.value, dut.reg_rdata.value = rng.getrandbits(1), rng.getrandbits(32)
            self.log.append(replace(first, cycle=cycle(dut.clk)))
            if first.write and not error:
                mask = sum(0xFF << 8 * lane for lane in range(4) if first.strobe >> lane & 1)
                self.memory[first.address] = self.value(first.address) & ~mask | first.data & mask

    def _request(self) -> _Access:
        dut = self.dut
        assert dut.reg_req.value == 1, "a request ended without its acknowledge"
        write = bool(dut.reg_write.value)
        data = (int(dut.reg_wdata.value), int(dut.reg_wstrb.value)) if write else (0, 0)
        return _Access(0, write, int(dut.reg_addr.value), *data)


class Bench:
    """Clock, the memory, and a check of the two answers: held until taken, never without a request."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.clk = dut.clk
        self.rng = seeded("nic_axil")
        start_clock(dut.clk)
        dut.rst.value = 1
        for name in ("awvalid", "wvalid", "arvalid", "bready", "rready"):
            getattr(dut, f"s_axil_{name}").value = 0
        for name in _INPUTS:
            self.undefine(name)
        self.registers = Registers(dut, self.rng)
        self.owed = {"b": 0, "r": 0}
        cocotb.start_soon(self._watch())

    def undefine(self, name: str) -> None:
        """Drive a signal without meaning with noise, or X."""
        handle, bits = getattr(self.dut, f"s_axil_{name}"), _INPUTS[name]
        handle.value = "X" * bits if four_state() else self.rng.getrandbits(bits)

    async def start(self) -> Bench:
        dut = self.dut
        await RisingEdge(self.clk)
        await RisingEdge(self.clk)
        for name in ("awready", "wready", "arready", "bvalid", "rvalid"):
            assert getattr(dut, f"s_axil_{name}").value == 0, f"{name} is high in reset"
        await reset(dut.rst, self.clk)
        return self

    async def _watch(self) -> None:
        dut, edge = self.dut, RisingEdge(self.clk)
        held: dict[str, tuple[int, ...] | None] = {"b": None, "r": None}
        taken = {"aw": 0, "w": 0}
        while True:
            await edge
            if str(dut.rst.value) != "0":
                held, taken, self.owed = {"b": None, "r": None}, {"aw": 0, "w": 0}, {"b": 0, "r": 0}
                continue
            if self.owed["b"] or self.owed["r"] or any(taken.values()):
                assert dut.idle.value == 0, f"idle in cycle {cycle(self.clk)} with a request that has no answer yet"
            for name, fields in (("b", ("bresp",)), ("r", ("rresp", "rdata"))):
                valid = int(getattr(dut, f"s_axil_{name}valid").value)
                beat = tuple(int(getattr(dut, f"s_axil_{field}").value) for field in fields) if valid else None
                assert held[name] is None or beat == held[name], f"{name} went from {held[name]} to {beat} untaken"
                assert not valid or self.owed[name], f"{name}valid without a request, cycle {cycle(self.clk)}"
                ready = int(getattr(dut, f"s_axil_{name}ready").value)
                held[name] = beat if valid and not ready else None
                self.owed[name] -= valid and ready
            for name in ("aw", "w"):
                taken[name] += self._handshake(name)
            both = min(taken.values())
            taken = {name: count - both for name, count in taken.items()}
            self.owed["b"] += both
            self.owed["r"] += self._handshake("ar")

    def _handshake(self, name: str) -> int:
        valid, ready = getattr(self.dut, f"s_axil_{name}valid"), getattr(self.dut, f"s_axil_{name}ready")
        return int(valid.value) & int(ready.value)

    async def _offer(self, name: str, delay: int, **fields: int) -> int:
        """Offer one beat on AW, W or AR after ``delay`` cycles; returns the cycle of its handshake."""
        dut = self.dut
        await wait_cycles(self.clk, delay)
        for field, value in fields.items():
            getattr(dut, f"s_axil_{field}").value = value
        getattr(dut, f"s_axil_{name}valid").value = 1
        while True:
            await RisingEdge(self.clk)
            if getattr(dut, f"s_axil_{name}ready").value == 1:
                break
        getattr(dut, f"s_axil_{name}valid").value = 0
        for field in fields:
            self.undefine(field)
        return cycle(self.clk)

    async def _answer(self, name: str, stall: int) -> tuple[int, int, int]:
        """Take one answer, ``stall`` cycles after it is seen; returns its response, its data and its first cycle."""
        dut = self.dut
        valid, ready = getattr(dut, f"s_axil_{name}valid"), getattr(dut, f"s_axil_{name}ready")
        ready.value = stall == 0
        while True:
            await RisingEdge(self.clk)
            if valid.value == 1:
                break
        seen = cycle(self.clk)
        if stall:
            await wait_cycles(self.clk, stall - 1)
            ready.value = 1
            await RisingEdge(self.clk)
        response, data = (
            int(getattr(dut, f"s_axil_{name}resp").value),
            int(dut.s_axil_rdata.value) if name == "r" else 0,
        )
        ready.value = 0
        return response, data, seen

    async def write(
        self, address: int, data: int, strobe: int = 15, *, aw: int = 0, w: int = 0, stall: int = 0
    ) -> tuple[int, int, int]:
        """One write; returns its response, the cycle of its last handshake and that of its answer."""
        answer = cocotb.start_soon(self._answer("b", stall))
        one = cocotb.start_soon(self._offer("aw", aw, awaddr=address, awprot=0))
        two = cocotb.start_soon(self._offer("w", w, wdata=data, wstrb=strobe))
        await Combine(one, two)
        response, _, seen = await answer
        _order("together" if aw == w else "address_first" if aw < w else "data_first")
        _wait("answer", "some" if stall else "none")
        _response("write", "okay" if response == AxiResp.OKAY else "decerr")
        return response, max(one.result(), two.result()), seen

    async def read(self, address: int, *, ar: int = 0, stall: int = 0) -> tuple[int, int, int, int]:
        """One read; returns its response, its data, the cycle of its handshake and that of its answer."""
        answer = cocotb.start_soon(self._answer("r", stall))
        begin = await self._offer("ar", ar, araddr=address, arprot=0)
        response, data, seen = await answer
        _wait("answer", "some" if stall else "none")
        _wait("request", "some" if ar else "none")
        _response("read", "okay" if response == AxiResp.OKAY else "decerr")
        return response, data, begin, seen


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axil_takes_address_and_data_in_any_order(dut: Any) -> None:
    """Each offset of the three channels to each other, each stall of the two answers."""
    bench = await Bench(dut).start()
    memory = bench.registers
    corners = product((0, 1, 2, 5), (0, 1, 2, 5), (0, 1, 3), (0, 1, 4), (0, 2))
    for number, (aw, w, ar, b_stall, r_stall) in enumerate(corners):
        address, other = 8 * number % 4096, 8 * number % 4096 + 4
        data = bench.rng.getrandbits(32)
        reading = cocotb.start_soon(bench.read(other, ar=ar, stall=r_stall))
        response, *_ = await bench.write(address, data, aw=aw, w=w, stall=b_stall)
        assert response == AxiResp.OKAY
        assert memory.value(address) == data, f"{memory.value(address):#x} written at {address:#x}, not {data:#x}"
        response, value, *_ = await reading
        assert (response, value) == (AxiResp.OKAY, memory.value(other))
    assert len(memory.log) == 2 * (number + 1), "requests and accesses differ in number"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axil_writes_the_bytes_of_its_strobes(dut: Any) -> None:
    bench = await Bench(dut).start()
    for strobe in range(16):
        before, data = bench.registers.value(0x40), bench.rng.getrandbits(32)
        await bench.write(0x40, data, strobe)
        mask = sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1)
        _, value, *_ = await bench.read(0x40)
        assert value == before & ~mask | data & mask, f"strobe {strobe:04b}: {before:#x} and {data:#x} gave {value:#x}"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axil_ignores_the_low_bits_of_an_address(dut: Any) -> None:
    bench = await Bench(dut).start()
    for low in range(4):
        await bench.write(0x100 + low, low + 1)
        _, value, *_ = await bench.read(0x100 + 3 - low)
        assert value == low + 1


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axil_answers_decerr_where_there_is_no_register(dut: Any) -> None:
    bench = await Bench(dut).start()
    for address, response in ((UNMAPPED, AxiResp.DECERR), (UNMAPPED - 4, AxiResp.OKAY), (0xFFFFC, AxiResp.DECERR)):
        got, *_ = await bench.write(address, 1, stall=2)
        assert got == response, f"write to {address:#x}: {got}"
        got, value, *_ = await bench.read(address, stall=2)
        assert got == response, f"read of {address:#x}: {got}"
        assert value == (0 if response else 1)


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axil_goes_on_with_one_kind_while_the_other_has_no_taker(dut: Any) -> None:
    """An answer that nobody takes, and one more request behind it, hold up their own kind only."""
    bench = await Bench(dut).start()
    for _ in range(2):
        address_offer = cocotb.start_soon(bench._offer("aw", 0, awaddr=0, awprot=0))
        await bench._offer("w", 0, wdata=1, wstrb=15)
        await address_offer
    for address in range(0, 64, 4):
        _, value, *_ = await bench.read(address)
        assert value == bench.registers.value(address)
    assert dut.s_axil_awready.value == 0 and dut.s_axil_wready.value == 0, "a third write was taken in"
    for _ in range(2):
        assert (await bench._answer("b", 0))[0] == AxiResp.OKAY
    for _ in range(2):
        await bench._offer("ar", 0, araddr=4, arprot=0)
    for address in range(64, 128, 4):
        await bench.write(address, address)
        assert bench.registers.value(address) == address
    assert dut.s_axil_arready.value == 0, "a third read was taken in"
    for _ in range(2):
        assert (await bench._answer("r", 0))[1] == bench.registers.value(4)


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axil_lets_reads_and_writes_take_turns(dut: Any) -> None:
    """Every channel is offered and taken in each cycle: neither kind goes twice in a row."""
    bench = await Bench(dut).start()
    dut.s_axil_awaddr.value, dut.s_axil_wdata.value, dut.s_axil_wstrb.value, dut.s_axil_araddr.value = 8, 1, 15, 12
    for most in (1, 2, 6):
        bench.registers.most = most
        for name in ("awvalid", "wvalid", "arvalid", "bready", "rready"):
            getattr(dut, f"s_axil_{name}").value = 1
        await wait_cycles(dut.clk, 200)
    kinds = [access.write for access in bench.registers.log]
    assert len(kinds) > 100
    runs = sum(one == two for one, two in pairwise(kinds))
    assert runs == 0, f"one kind went twice in a row {runs} times: {''.join('RW'[kind] for kind in kinds)}"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axil_answers_in_three_cycles(dut: Any) -> None:
    """With an acknowledge in the cycle of the request: the request 2 cycles after the handshake, the answer 1 later."""
    bench = await Bench(dut).start()
    dut.reg_ack.value, dut.reg_error.value, dut.reg_rdata.value = 1, 0, 0x1234
    bench.registers.task.cancel()
    dut.s_axil_rready.value = dut.s_axil_bready.value = 1
    begins = []
    for number in range(8):
        dut.s_axil_arvalid.value, dut.s_axil_araddr.value = 1, 4 * number
        while True:
            await RisingEdge(dut.clk)
            if dut.s_axil_arready.value == 1:
                break
        begins.append(cycle(dut.clk))
        dut.s_axil_arvalid.value = 0
        for _ in range(2):
            await RisingEdge(dut.clk)
            assert dut.s_axil_rvalid.value == 0
    await RisingEdge(dut.clk)
    assert dut.s_axil_rvalid.value == 1
    assert {two - one for one, two in pairwise(begins)} == {3}


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axil_starts_over_at_a_reset_in_mid_request(dut: Any) -> None:
    bench = await Bench(dut).start()
    for _ in range(3):
        dut.s_axil_arvalid.value, dut.s_axil_araddr.value = 1, 0x20
        dut.s_axil_awvalid.value, dut.s_axil_awaddr.value = 1, 0x24
        await wait_cycles(dut.clk, bench.rng.randint(1, 4))
        dut.s_axil_arvalid.value = dut.s_axil_awvalid.value = 0
        await reset(dut.rst, dut.clk, 8)
        assert dut.idle.value == 1 and dut.reg_req.value == 0
        data = bench.rng.getrandbits(32)
        assert (await bench.write(0x28, data))[0] == AxiResp.OKAY
        assert (await bench.read(0x28))[1] == data


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axil_serves_a_master_with_pauses_on_all_channels(dut: Any) -> None:
    bench = Bench(dut)
    rng, log = bench.rng, "WARNING"
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
    reads, writes = master.read_if, master.write_if
    reads.log.setLevel(log)
    writes.log.setLevel(log)
    await bench.start()

    def pauses(share: float) -> Iterator[bool]:
        while True:
            yield rng.random() < share

    memory: dict[int, int] = {}
    for share in (0.0, 0.5, 0.85):
        for channel in (writes.aw_channel, writes.w_channel, writes.b_channel, reads.ar_channel, reads.r_channel):
            channel.log.setLevel(log)
            channel.set_pause_generator(pauses(share))
        pending = []
        for number in range(60):
            address = rng.choice((0, UNMAPPED)) + number * 4
            data = rng.getrandbits(32)
            pending.append((address, cocotb.start_soon(master.write(address, data.to_bytes(4, "little")))))
            if address < UNMAPPED:
                memory[address] = data
        for address, task in pending:
            want = AxiResp.OKAY if address < UNMAPPED else AxiResp.DECERR
            assert (await task).resp == want, f"write to {address:#x}"
        pending = [(address, cocotb.start_soon(master.read(address, 4))) for address in memory]
        for address, task in pending:
            answer = await task
            assert answer.resp == AxiResp.OKAY and int.from_bytes(answer.data, "little") == memory[address]
    await wait_cycles(dut.clk, 4)
    assert dut.idle.value == 1
