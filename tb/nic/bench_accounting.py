"""Bench of ``nic_port``'s books: every frame that enters a direction ends once, and the registers say the same.

Both directions run at once. What is watched from outside is held against what was sent, and then against the counters
and disposition tables as AXI4-Lite shows them.
"""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from models.meta import Code, pack
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.suite import four_state, seeded
from tb.registers.map import read_register, write_register

__all__: list[str] = []

DIRECTIONS = ("rx", "tx")
BUFFER_FRAMES = 256
QUEUE = 9

_inputs = (
    "time_advance",
    "time_target",
    "time_target_fraction",
    "mem_req_ready",
    "m_axis_mem_tready",
    "mem_done_valid",
)
_ends = cover.cross("nic_port.end", DIRECTIONS, ["delivered", "bad_frame", "own_reason", "oversize", "port_disabled"])
_full = cover.point("nic_port.rx_buffer", ["full"])
_names = {
    Code.DELIVERED: "delivered",
    Code.BAD_FRAME: "bad_frame",
    Code.OVERSIZE: "oversize",
    Code.PORT_DISABLED: "port_disabled",
}


class _Bus:
    """32-bit accesses over AXI4-Lite."""

    def __init__(self, dut: Any) -> None:
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
        for side in (self.master.read_if, self.master.write_if):
            side.log.setLevel("WARNING")

    async def read(self, address: int) -> int:
        return int.from_bytes((await self.master.read(address, 4)).data, "little")

    async def write(self, address: int, value: int) -> None:
        await self.master.write(address, value.to_bytes(4, "little"))


class Bench:
    """Both directions' agents, and what the port reports of each frame."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.clk = dut.clk
        self.rng = seeded("nic_port", "accounting")
        start_clock(dut.clk)
        dut.rst.value = 1
        for name in (*_inputs, "s_axis_mem_tvalid"):
            getattr(dut, name).value = 0
        self.bus = _Bus(dut)
        noise = {"rng": seeded("noise"), "undefined": four_state()}
        ends = {"rx": ("s_axis_wire", "m_axis_host"), "tx": ("s_axis_host", "m_axis_wire")}
        self.source = {name: AxisSource(dut, pair[0], dut.clk, **noise) for name, pair in ends.items()}
        self.sink = {name: AxisSink(dut, pair[1], dut.clk, pause=repeat(True)) for name, pair in ends.items()}
        self.entered: dict[str, list[int]] = {name: [] for name in DIRECTIONS}
        self.ended: dict[str, list[tuple[int, int, int]]] = {name: [] for name in DIRECTIONS}
        self.sent: dict[str, list[AxisFrame]] = {name: [] for name in DIRECTIONS}
        cocotb.start_soon(self._watch())

    async def start(self) -> Bench:
        await reset(self.dut.rst, self.clk)
        while self.dut.ready.value != 1:
            await RisingEdge(self.clk)
        return self

    async def _watch(self) -> None:
        dut, edge = self.dut, RisingEdge(self.clk)
        entry = {name: getattr(dut, f"{name}_entry_valid") for name in DIRECTIONS}
        end = {name: getattr(dut, f"{name}_disp_valid") for name in DIRECTIONS}
        while True:
            await edge
            if str(dut.rst.value) != "0":
                continue
            if any(len(self.entered[name]) != len(self.ended[name]) for name in DIRECTIONS):
                assert dut.idle.value == 0, f"idle in cycle {cycle(self.clk)} with a frame in flight"
            for name in DIRECTIONS:
                if int(entry[name].value):
                    self.entered[name].append(int(getattr(dut, f"{name}_entry_seq").value))
                if int(end[name].value):
                    fields = (int(getattr(dut, f"{name}_disp_{field}").value) for field in ("seq", "code", "queue"))
                    self.ended[name].append(tuple(fields))  # type: ignore[arg-type]

    def send(self, direction: str, size: int, user: int = 0) -> AxisFrame:
        frame = AxisFrame(self.rng.randbytes(size), user, pack({"queue": QUEUE}) if direction == "tx" else 0)
        self.sent[direction].append(frame)
        self.source[direction].append(frame)
        return frame

    async def quiet(self) -> None:
        """Let everything out, and wait until the port is idle."""
        for name in DIRECTIONS:
            await self.source[name].drained()
            self.sink[name].pause = repeat(True)
        await wait_cycles(self.clk, 4)
        for _ in range(8000):
            if self.dut.idle.value == 1:
                return
            await RisingEdge(self.clk)
        raise AssertionError("the port does not come to rest")

    def check_ends(self, direction: str, codes: list[int]) -> None:
        """Every frame entered with the next number and ended once, by ``codes`` unless rx_buffer had no room for it."""
        entered, ended, sent = self.entered[direction], self.ended[direction], self.sent[direction]
        assert entered == list(range(len(sent))), f"{direction}: {len(sent)} sent, entered {entered}"
        ends = {seq: code for seq, code, _ in ended}
        assert len(ended) == len(ends) == len(sent), (
            f"{direction}: {len(sent)} frames, {len(ended)} ends of {len(ends)} frames; "
            f"without an end: {sorted(set(entered) - set(ends))}"
        )
        assert {queue for *_, queue in ended} == {QUEUE if direction == "tx" else 0}
        for number, code in enumerate(codes):
            may_drop = direction == "rx" and code == Code.DELIVERED
            got = ends[number]
            assert got == code or (may_drop and got == Code.RX_BUFFER_FULL), (
                f"{direction} frame {number}: {got}, not {code}"
            )
            if got == Code.RX_BUFFER_FULL:
                _full("full")
            else:
                _ends(direction, _names.get(Code(got), "own_reason") if got in set(Code) else "own_reason")
        out = [frame.data for frame in self.sink[direction].frames]
        through = [frame.data for number, frame in enumerate(sent) if ends[number] == Code.DELIVERED]
        assert out == through, f"{direction}: {len(out)} came out, {len(through)} were reported as delivered"

    async def check_registers(self) -> None:
        """Counters and tables against what was seen from outside."""
        for name in DIRECTIONS:
            out = self.sink[name].frames
            want = {
                "frames_in": len(self.sent[name]),
                "bytes_in": sum(len(frame.data) for frame in self.sent[name]),
                "frames_out": len(out),
                "bytes_out": sum(len(frame.data) for frame in out),
            }
            found = {key: await read_register(self.bus, f"nic.{name}_{key}") for key in want}
            assert found == want, f"{name}: counted {found}, not {want}"
            counts = Counter(code for _, code, _ in self.ended[name])
            for code in {*counts, *Code, 127}:
                value = await read_register(self.bus, f"nic.{name}_disposition[{code}]")
                assert value == counts[code], f"{name} code {code}: counted {value}, {counts[code]} were reported"
        assert await read_register(self.bus, "nic.status") == 3, "status is not idle, ready and nothing lost"


def _code(frame: AxisFrame, *, enable: bool = True, limit: int = 9596) -> int:
    """How a frame must end where there is room for it."""
    if not enable:
        return Code.PORT_DISABLED
    if len(frame.data) > limit:
        return Code.OVERSIZE
    if frame.bad:
        return frame.user >> 1 & 0x7F or Code.BAD_FRAME
    return Code.DELIVERED


@cocotb.test(timeout_time=400, timeout_unit="us")
async def port_ends_every_frame_once_under_any_back_pressure(dut: Any) -> None:
    bench = await Bench(dut).start()
    rng = bench.rng
    await write_register(bench.bus, "nic.max_frame", 200)
    for name in PAUSES:
        for direction in DIRECTIONS:
            bench.source[direction].pause = PAUSES[rng.choice(list(PAUSES))](seeded(name, direction, "in"))
            bench.sink[direction].pause = PAUSES[name](seeded(name, direction, "out"))
            for _ in range(30):
                size = rng.choice((1, 1, 15, 16, 17, 48, 49, 60, 64, 65, 199, 200, 201, 400))
                bench.send(direction, size, rng.choice((0, 0, 0, 1, 33 << 1 | 1)))
        await bench.quiet()
    for direction in DIRECTIONS:
        bench.check_ends(direction, [_code(frame, limit=200) for frame in bench.sent[direction]])
    await bench.check_registers()


@cocotb.test(timeout_time=400, timeout_unit="us")
async def port_loses_no_end_at_the_worst_burst(dut: Any) -> None:
    """Buffers full of one-byte frames drain, one a cycle, while bad ones enter and are dropped as fast as they can."""
    bench = await Bench(dut).start()
    codes = []
    for direction in DIRECTIONS:
        bench.sink[direction].pause = repeat(False)
    for number in range(2 * BUFFER_FRAMES + 40):
        user = 0 if number < BUFFER_FRAMES + 12 else 1
        for direction in DIRECTIONS:
            bench.send(direction, 1, user)
        codes.append(Code.BAD_FRAME if user else Code.DELIVERED)
    await wait_cycles(dut.clk, 4 * (BUFFER_FRAMES + 40))
    for direction in DIRECTIONS:
        bench.sink[direction].pause = repeat(True)
    await bench.quiet()
    for direction in DIRECTIONS:
        bench.check_ends(direction, codes)
    await bench.check_registers()


@cocotb.test(timeout_time=400, timeout_unit="us")
async def port_disabled_ends_a_direction_and_leaves_the_other(dut: Any) -> None:
    bench = await Bench(dut).start()
    codes: dict[str, list[int]] = {name: [] for name in DIRECTIONS}
    for control in (0b11, 0b10, 0b01, 0b00, 0b11):
        await write_register(bench.bus, "nic.control", control)
        for number, direction in enumerate(DIRECTIONS):
            for size, user in ((60, 0), (1, 0), (64, 1), (9597, 0)):
                frame = bench.send(direction, size, user)
                codes[direction].append(_code(frame, enable=bool(control >> number & 1)))
        await bench.quiet()
    for direction in DIRECTIONS:
        bench.check_ends(direction, codes[direction])
    await bench.check_registers()


@cocotb.test(timeout_time=400, timeout_unit="us")
async def port_starts_its_books_over_at_a_reset_in_mid_traffic(dut: Any) -> None:
    bench = await Bench(dut).start()
    for _ in range(2):
        for direction in DIRECTIONS:
            for _ in range(20):
                bench.send(direction, bench.rng.choice((1, 60, 64, 300)))
        await wait_cycles(dut.clk, bench.rng.randint(60, 120))
        for agent in (*bench.source.values(), *bench.sink.values()):
            agent.clear()
        await reset(dut.rst, dut.clk, 3)
        for agent in (*bench.source.values(), *bench.sink.values()):
            agent.clear()
        for books in (bench.entered, bench.ended, bench.sent):
            for entries in books.values():
                entries.clear()
        assert dut.ready.value == 0
        for direction in DIRECTIONS:
            for _ in range(5):
                bench.send(direction, 60)
        while dut.ready.value != 1:
            await RisingEdge(dut.clk)
        await bench.quiet()
        for direction in DIRECTIONS:
            bench.check_ends(direction, [Code.DELIVERED] * 5)
        await bench.check_registers()
