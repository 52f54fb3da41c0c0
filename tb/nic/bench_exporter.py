"""The generated register file of tests/nic/regs_example.rdl, cycle by cycle against a model of docs/registers.md.

`Example` is that model: every kind of register, written from the page and not from the exporter. `Bench` gives both the
same inputs each cycle and compares every output in every cycle; it is also the bus that the automatic suite runs over.
Hardware inputs are random in the lockstep test and still elsewhere.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from tb.lib import cover
from tb.registers import suite
from tb.registers.generate import map_of
from tb.registers.map import read_value, write_value
from tb.registers.source import elaborate
from tb.targets.base import UnmappedAddress

RDL = Path(__file__).resolve().parents[2] / "tests" / "nic" / "regs_example.rdl"
SIZE = 0x4000
STRAP = 0x9
FULL = 0xFFFFFFFF

WORDS = {
    0x000: "id", 0x004: "plain", 0x008: "mixed", 0x00C: "status", 0x010: "sticky", 0x014: "event", 0x018: "command",
    0x01C: "wrapping", 0x020: "saturating", 0x024: "cleared", 0x028: "wide", 0x02C: "wide.high",
    0x030: "wide_cleared", 0x034: "wide_cleared.high", 0x038: "time", 0x03C: "time.high", 0x040: "pair",
    0x044: "pair.high", 0x050: "lane0", 0x058: "lane1", 0x060: "lane2", 0x080: "group_a", 0x088: "group_b",
}  # fmt: skip
NAMES = (*WORDS.values(), "window", "table", "memory", "hole")
INPUTS = {
    "status_level_in": 11, "status_flag_in": 1, "sticky_seen_set": 1, "sticky_lost_set": 1, "event_event_set": 1,
    "wrapping_incr": 3, "saturating_incr": 8, "cleared_incr": 1, "wide_incr": 32, "wide_cleared_incr": 33,
    "time_value_in": 60,
}  # fmt: skip
IDLE = {"rst": 0, "reg_req": 0, "reg_write": 0, "reg_addr": 0, "reg_wdata": 0, "reg_wstrb": 0}

accesses = cover.cross("registers.access", NAMES, ("read", "write"))
waits = cover.point("registers.outside_wait", (0, 1, 2, 3))
events = cover.point(
    "registers.event",
    ("set_with_clear", "count_with_clear", "saturates", "wraps", "carry_between_words", "reset_in_access"),
)


def merge(old: int, data: int, strobes: int) -> int:
    """A word after a write of the bytes of ``strobes``."""
    mask = sum(0xFF << 8 * lane for lane in range(4) if strobes >> lane & 1)
    return old & ~mask | data & mask


class Outside:
    """The registers that are kept outside: storage that answers after a random number of cycles."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.words: dict[int, int] = {}
        self.high = 0
        self.wait = -1

    def answer(self, name: str, address: int, write: bool, data: int, strobes: int) -> tuple[bool, int]:
        """Once a cycle while a request is there: (acknowledge, data)."""
        if self.wait < 0:
            self.wait = self.rng.randrange(4)
            waits(self.wait)
        self.wait -= 1
        if self.wait >= 0:
            return False, self.rng.getrandbits(32)
        address &= ~3
        value = self.words.setdefault(address, 0 if name == "memory" else self.rng.getrandbits(32))
        if write:
            self.words[address] = merge(value, data, strobes)
        elif name == "table" and address & 4:
            value = self.high
        elif name == "table":
            self.high = self.words.setdefault(address + 4, self.rng.getrandbits(32))
        return True, value


class Example:
    """What docs/registers.md says of the example: outputs of a cycle, then the clock edge at its end."""

    def __init__(self) -> None:
        self.ack, self.error, self.data = 0, 0, 0
        self.known = True
        self.high: dict[str, int] = {}
        self.held = 0
        self.reset()

    def reset(self) -> None:
        """Latched high words and held low words are data: they keep what they had."""
        self.ack = 0
        self.plain, self.mixed, self.pair = (
            0x12345678,
            1 << 31 | 3 << 27 | 2 << 16 | 0x81 << 5,
            5 << 60 | 0xABCDEF << 20 | 0xC,
        )
        self.lane, self.group_a = [0x11] * 3, 0xBEEF
        self.seen, self.lost, self.event = 0, 1, 0
        self.go, self.stop = 0, 0
        self.wrapping, self.saturating, self.cleared, self.wide, self.wide_cleared = 0xF0, 0, 0, 0, 0
        self.held_strobes = 0

    @staticmethod
    def place(address: int) -> str:
        """Name of what stands at an address."""
        if 0x100 <= address < 0x104:
            return "window"
        if 0x200 <= address < 0x280:
            return "table"
        if address >= 0x3FE0:
            return "memory"
        return WORDS.get(address & ~3, "hole")

    def outputs(self) -> dict[str, int]:
        return {
            "reg_ack": self.ack, "plain_value": self.plain, "mixed_crossing": self.mixed >> 5 & 0xFF,
            "mixed_hidden": self.mixed >> 27 & 0xF, "mixed_top": self.mixed >> 31, "sticky_seen": self.seen,
            "command_go": self.go, "command_stop": self.stop, "wrapping_count": self.wrapping,
            "pair_low": self.pair & 0xF, "pair_both": self.pair >> 20 & 0xFFFFFF, "lane_0_value": self.lane[0],
            "lane_1_value": self.lane[1], "lane_2_value": self.lane[2], "group_a_value": self.group_a,
        }  # fmt: skip

    def read(self, name: str, inputs: dict[str, int]) -> int | None:
        """A word as it reads in this cycle; None: a high word that nothing latched yet."""
        words = {
            "id": STRAP << 16 | 0xA5, "plain": self.plain, "mixed": self.mixed & ~(0xF << 27),
            "status": inputs["status_flag_in"] << 31 | inputs["status_level_in"], "sticky": self.lost << 9 | self.seen,
            "event": self.event << 3, "command": 0, "wrapping": self.wrapping << 4, "saturating": self.saturating,
            "cleared": self.cleared, "wide": self.wide & FULL, "wide_cleared": self.wide_cleared << 8 & FULL,
            "time": inputs["time_value_in"] & FULL, "pair": self.pair & FULL, "pair.high": self.pair >> 32,
            "lane0": self.lane[0], "lane1": self.lane[1], "lane2": self.lane[2], "group_a": self.group_a,
            "group_b": 0xCAFE,
        }  # fmt: skip
        return words[name] if name in words else self.high.get(name)

    def clock(self, inputs: dict[str, int]) -> None:
        access = inputs["reg_req"] and not self.ack
        name = self.place(inputs["reg_addr"])
        reads = name if access and not inputs["reg_write"] else ""
        writes = name if access and inputs["reg_write"] else ""
        data, strobes = inputs["reg_wdata"], inputs["reg_wstrb"]
        if access:
            accesses(name, "write" if writes else "read")
        self.ack = int(access)
        if access:
            self.error, self.known = int(name == "hole"), bool(reads)
            if name in ("window", "table", "memory"):
                self.ack = int(inputs[f"{name}_ack"] or (name == "table" and bool(writes)))
                self.data = inputs[f"{name}_rdata"]
            elif reads and name != "hole":
                value = self.read(name, inputs)
                self.known, self.data = value is not None, value or 0
            else:
                self.data = 0

        if reads in ("wide", "wide_cleared", "time"):
            whole = {"wide": self.wide, "wide_cleared": self.wide_cleared << 8, "time": inputs["time_value_in"]}[reads]
            self.high[f"{reads}.high"] = whole >> 32
        if reads == "wide.high" and self.high.get(reads) is not None and self.high[reads] != self.wide >> 32:
            events("carry_between_words")

        self.seen, self.lost = (
            int(
                bool(
                    inputs[f"sticky_{bit}_set"]
                    or (old and not (writes == "sticky" and merge(0, data, strobes) >> at & 1))
                )
            )
            for bit, old, at in (("seen", self.seen, 0), ("lost", self.lost, 9))
        )
        if inputs["event_event_set"] and reads == "event":
            events("set_with_clear")
        self.event = int(bool(inputs["event_event_set"] or (self.event and reads != "event")))
        pulses = merge(0, data, strobes) if writes == "command" else 0
        self.go, self.stop = pulses >> 9 & 1, pulses >> 31

        total = self.wrapping + inputs["wrapping_incr"]
        if total > 0xFF:
            events("wraps")
        self.wrapping = total & 0xFF
        total = self.saturating + inputs["saturating_incr"]
        if total > 0xFF:
            events("saturates")
        self.saturating = min(total, 0xFF)
        if inputs["cleared_incr"] and reads == "cleared":
            events("count_with_clear")
        self.cleared = (0 if reads == "cleared" else self.cleared) + inputs["cleared_incr"]
        self.wide = self.wide + inputs["wide_incr"] & (1 << 64) - 1
        total = (0 if reads == "wide_cleared" else self.wide_cleared) + inputs["wide_cleared_incr"]
        self.wide_cleared = min(total, (1 << 40) - 1)

        if writes == "plain":
            self.plain = merge(self.plain, data, strobes)
        elif writes == "mixed":
            self.mixed = merge(self.mixed, data, strobes) & (1 << 31 | 0xF << 27 | 3 << 16 | 0xFF << 5)
        elif writes == "group_a":
            self.group_a = merge(self.group_a, data, strobes) & 0xFFFF
        elif writes.startswith("lane"):
            self.lane[int(writes[4])] = merge(self.lane[int(writes[4])], data, strobes) & 0xFF
        elif writes == "pair":
            self.held = merge(self.held, data, strobes)
            self.held_strobes |= strobes
        elif writes == "pair.high":
            low = merge(self.pair & FULL, self.held, self.held_strobes)
            whole = merge(self.pair >> 32, data, strobes) << 32 | low
            self.pair = whole & (0xF << 60 | 0xFFFFFF << 20 | 0xF)
            self.held_strobes = 0
        if inputs["rst"]:
            if access:
                events("reset_in_access")
            self.reset()


class Bench:
    """Drives the device and the model together; also a bus (read, write, write_bytes) for the suite."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.model = Example()
        self.outside = Outside(self.rng)
        self.hardware = dict.fromkeys(INPUTS, 0)
        self.driven: dict[str, int] = {}
        self.cycles = 0
        self.last_wait = 0

    async def start(self) -> None:
        self.dut.clk.value = 0
        self.dut.id_strap_in.value = STRAP
        for _ in range(2):
            await self.cycle({"rst": 1}, compare=False)

    def _drive(self, inputs: dict[str, int]) -> None:
        for name, value in inputs.items():
            if self.driven.get(name) != value:
                getattr(self.dut, name).value = value
                self.driven[name] = value

    async def cycle(self, bus: dict[str, int], compare: bool = True) -> bool:
        """One clock cycle with these inputs of the register port. Returns whether reg_ack was 1 in it."""
        inputs = {**IDLE, **bus, **self.hardware}
        place = self.model.place(inputs["reg_addr"])
        requested = bool(inputs["reg_req"]) and not self.model.ack
        expected = self.model.outputs()
        for name in ("window", "table", "memory"):
            write = bool(inputs["reg_write"])
            request = requested and place == name and not (name == "table" and write)
            acked, data = False, self.rng.getrandbits(32)
            if request:
                acked, data = self.outside.answer(
                    name, inputs["reg_addr"], write, inputs["reg_wdata"], inputs["reg_wstrb"]
                )
            inputs |= {f"{name}_ack": int(acked), f"{name}_rdata": data}
            expected[f"{name}_req"] = int(request)
            if request and name == "table":
                expected |= {"table_index": inputs["reg_addr"] >> 3 & 0xF, "table_word": inputs["reg_addr"] >> 2 & 1}
            elif request:
                expected |= {f"{name}_write": int(write), f"{name}_wdata": inputs["reg_wdata"]}
                expected[f"{name}_wstrb"] = inputs["reg_wstrb"]
                if name == "memory":
                    expected["memory_index"] = inputs["reg_addr"] >> 2 & 7
        if self.model.ack:
            expected["reg_error"] = self.model.error
            if self.model.known:
                expected["reg_rdata"] = self.model.data
        self._drive(inputs)
        await Timer(1, "ns")
        if compare:
            for name, value in expected.items():
                read = getattr(self.dut, name).value
                assert read.is_resolvable and int(read) == value, (
                    f"cycle {self.cycles}: {name} is {read}, expected {value:#x} "
                    f"(access to {place}, inputs { ({key: hex(item) for key, item in inputs.items()}) })"
                )
        acked = bool(self.model.ack)
        self.model.clock(inputs)
        if inputs["rst"]:
            self.outside.wait = -1
        self.dut.clk.value = 1
        await Timer(2, "ns")
        self.dut.clk.value = 0
        await Timer(1, "ns")
        self.cycles += 1
        return acked

    async def access(self, address: int, write: bool, data: int = 0, strobes: int = 0xF) -> int:
        """One access: the word that was read. UnmappedAddress: reg_error."""
        bus = {
            "reg_req": 1, "reg_write": int(write), "reg_addr": address, "reg_wdata": data, "reg_wstrb": strobes,
        }  # fmt: skip
        self.last_wait = 0
        while not await self.cycle(bus):
            self.last_wait += 1
            assert self.last_wait < 10, f"no reg_ack for an access to {address:#06x}"
        if self.model.error:
            raise UnmappedAddress(address)
        return self.model.data

    async def read(self, address: int) -> int:
        return await self.access(address, False)

    async def write(self, address: int, value: int) -> None:
        await self.access(address, True, value)

    async def write_bytes(self, address: int, value: int, strobes: int) -> None:
        await self.access(address, True, value, strobes)


async def started(dut: Any) -> Bench:
    bench = Bench(dut, int(os.environ.get("NICLOOP_SEED", "1")))
    await bench.start()
    return bench


REGISTERS = map_of(elaborate(RDL), SIZE)


@cocotb.test()
async def every_kind_of_register_follows_its_model_in_every_cycle(dut: Any) -> None:
    bench = await started(dut)
    rng, known = bench.rng, sorted(WORDS)
    bus: dict[str, int] = {}
    for _ in range(int(os.environ.get("NICLOOP_REGISTER_CYCLES", "6000"))):
        for name, width in INPUTS.items():
            value = rng.getrandbits(width) if rng.random() < 0.6 else 0
            if name in ("saturating_incr", "wide_cleared_incr") and rng.random() < 0.8:
                value &= 3
            bench.hardware[name] = value
        if not bus and rng.random() < 0.8:
            choice = rng.random()
            if choice < 0.65:
                address = rng.choice(known) + rng.randrange(4)
            elif choice < 0.9:
                address = rng.choice((0x100, 0x200 + 4 * rng.randrange(32), 0x3FE0 + 4 * rng.randrange(8)))
            else:
                address = rng.randrange(SIZE)
            data = rng.choice((0, FULL, rng.getrandbits(32), 1 << rng.randrange(32)))
            strobes = rng.choice((0xF, 0xF, rng.randrange(16)))
            bus = {
                "reg_req": 1, "reg_write": rng.getrandbits(1), "reg_addr": address, "reg_wdata": data,
                "reg_wstrb": strobes,
            }  # fmt: skip
        if rng.random() < 0.005:
            await bench.cycle({**bus, "rst": 1})
            bus = {}
        elif await bench.cycle(bus):
            bus = {}


@cocotb.test()
async def the_automatic_suite_passes_on_every_kind_of_register(dut: Any) -> None:
    bench = await started(dut)
    counts = await suite.run_suite(bench, REGISTERS)
    counts["byte_strobes"] = await suite.check_byte_strobes(bench, REGISTERS)
    empty = [name for name, count in counts.items() if not count]
    assert not empty, f"nothing was compared by: {', '.join(empty)}"


@cocotb.test()
async def an_access_takes_one_cycle_and_the_next_one_follows_two_cycles_later(dut: Any) -> None:
    bench = await started(dut)
    for address in (0x000, 0x004, 0x02C, 0x0FC, 0x3000):
        start = bench.cycles
        for _ in range(5):
            try:
                await bench.read(address)
            except UnmappedAddress:
                assert address in (0x0FC, 0x3000)
            assert bench.last_wait == 1
        assert bench.cycles - start == 10


@cocotb.test()
async def a_64_bit_counter_that_carries_between_its_two_reads_is_not_torn(dut: Any) -> None:
    bench = await started(dut)
    bench.hardware["wide_incr"] = FULL
    await bench.cycle({})
    bench.hardware["wide_incr"] = 1
    wide = REGISTERS["wide"]
    for at in range(3):
        low = await bench.read(wide.address)
        # Other reads in between leave what was latched alone
        await bench.read(REGISTERS["wide_cleared"].address)
        await bench.read(REGISTERS["time"].address)
        high = await bench.read(wide.address + 4)
        count = high << 32 | low
        assert count == FULL + 8 * at, f"{at}: read {count:#x}, expected {FULL + 8 * at:#x}"


@cocotb.test()
async def a_64_bit_write_takes_effect_whole_with_its_high_word(dut: Any) -> None:
    bench = await started(dut)
    pair = REGISTERS["pair"]
    before = await read_value(bench, pair)
    await bench.write(pair.address, FULL)
    assert await read_value(bench, pair) == before, "the low word showed before the high one was written"
    assert int(dut.pair_both.value) == before >> 20 & 0xFFFFFF
    await bench.write(pair.address + 4, 0)
    assert await read_value(bench, pair) == 0xFFF0000F
    await bench.write(pair.address + 4, FULL)
    assert await read_value(bench, pair) == 0xF0000FFFFFF0000F, "a high word alone must keep the low one"
    await write_value(bench, pair, 0)
    assert await read_value(bench, pair) == 0


@cocotb.test()
async def a_sticky_bit_that_is_set_in_the_cycle_of_its_clearing_stays_set(dut: Any) -> None:
    bench = await started(dut)
    bench.hardware |= {"sticky_seen_set": 1, "event_event_set": 1}
    await bench.cycle({})
    await bench.write(REGISTERS["sticky"].address, 1)
    assert await bench.read(REGISTERS["event"].address) == 8
    bench.hardware |= {"sticky_seen_set": 0, "event_event_set": 0}
    assert await bench.read(REGISTERS["sticky"].address) & 1
    assert await bench.read(REGISTERS["event"].address) == 8
    assert await bench.read(REGISTERS["event"].address) == 0
    await bench.write(REGISTERS["sticky"].address, 1)
    assert not await bench.read(REGISTERS["sticky"].address) & 1


@cocotb.test()
async def a_counter_that_a_read_clears_loses_no_count(dut: Any) -> None:
    bench = await started(dut)
    bench.hardware["cleared_incr"] = 1
    total, start = 0, bench.cycles
    for _ in range(20):
        total += await bench.read(REGISTERS["cleared"].address)
    bench.hardware["cleared_incr"] = 0
    counted = bench.cycles - start
    total += await bench.read(REGISTERS["cleared"].address)
    assert total == counted


@cocotb.test()
async def a_saturating_counter_stays_at_its_top_and_a_wrapping_one_goes_round(dut: Any) -> None:
    bench = await started(dut)
    bench.hardware |= {"saturating_incr": 0xC0, "wrapping_incr": 7, "wide_cleared_incr": (1 << 33) - 1}
    for _ in range(130):
        await bench.cycle({})
    bench.hardware |= {"saturating_incr": 0, "wrapping_incr": 0, "wide_cleared_incr": 0}
    assert await bench.read(REGISTERS["saturating"].address) == 0xFF
    assert await bench.read(REGISTERS["wrapping"].address) >> 4 == (0xF0 + 7 * 130) % 256
    assert await read_value(bench, REGISTERS["wide_cleared"]) == ((1 << 40) - 1) << 8
    assert await read_value(bench, REGISTERS["wide_cleared"]) == 0
