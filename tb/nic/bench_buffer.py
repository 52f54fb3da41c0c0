"""Bench of ``nic_buffer`` in its two slots: what it drops, how it says it, and its registers.

The FIFO inside is proven by the bench of ``axis_fifo``; here a frame comes out whole or is reported once.
"""

from __future__ import annotations

import os
from itertools import repeat
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.meta import Code, pack, unpack
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.suite import four_state, seeded

__all__: list[str] = []

SLOT = os.environ["NICLOOP_SLOT"]
BEATS = int(os.environ["NICLOOP_BEATS"])
FRAMES = int(os.environ["NICLOOP_FRAMES"])
LATENCY = 2
RECEIVE = SLOT == "rx_buffer"

_ends = cover.point(f"{SLOT}.end", ["passed", "bad", "full" if RECEIVE else "oversize"])


class Bench:
    """Agents, the dispositions seen, the highest level seen."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.clk = dut.clk
        self.rng = seeded(SLOT)
        start_clock(dut.clk)
        dut.rst.value = 1
        dut.reg_req.value = 0
        dut.now.value = 0
        self.source = AxisSource(dut, "s_axis", dut.clk, rng=seeded("noise"), undefined=four_state())
        self.sink = AxisSink(dut, "m_axis", dut.clk, pause=repeat(True))
        self.ends: list[tuple[int, int, int, int]] = []
        self.refused = 0
        self.sent = 0
        cocotb.start_soon(self._watch())

    async def start(self) -> Bench:
        await reset(self.dut.rst, self.clk)
        assert self.dut.ready.value == 1 and self.dut.idle.value == 1
        assert int(self.dut.next_deadline.value) == 2**64 - 1
        return self

    async def _watch(self) -> None:
        dut, edge = self.dut, RisingEdge(self.clk)
        while True:
            await edge
            if str(dut.rst.value) != "0":
                continue
            if int(dut.disp_valid.value):
                end = tuple(int(getattr(dut, f"disp_{field}").value) for field in ("seq", "code", "queue"))
                self.ends.append((*end, cycle(self.clk)))
                assert dut.idle.value == 0, "idle with a disposition"
            self.refused += not int(dut.s_axis_tready.value)

    def frame(self, size: int, user: int = 0) -> AxisFrame:
        meta = pack({"seq": self.sent, "queue": self.rng.getrandbits(8), "timestamp": self.rng.getrandbits(64)})
        self.sent += 1
        return AxisFrame(self.rng.randbytes(size), user, meta)

    async def read(self, address: int) -> int:
        dut = self.dut
        dut.reg_req.value, dut.reg_write.value, dut.reg_addr.value, dut.reg_wstrb.value = 1, 0, address, 0
        dut.reg_wdata.value = 0
        while True:
            await RisingEdge(self.clk)
            if dut.reg_ack.value == 1:
                break
        dut.reg_req.value = 0
        value = int(dut.reg_rdata.value)
        await RisingEdge(self.clk)
        return value

    async def quiet(self) -> None:
        await self.source.drained()
        for _ in range(4 * BEATS):
            await RisingEdge(self.clk)
            if self.dut.idle.value == 1:
                return
        raise AssertionError("not idle though nothing comes in")

    def check_end(self, number: int, frame: AxisFrame, code: int) -> None:
        """Report ``number`` is that of ``frame``, with ``code``, in the cycle after its last beat."""
        given = unpack(frame.meta)
        want = (given["seq"], code, given["queue"], frame.last_cycle + 1)
        assert self.ends[number] == want, f"reported {self.ends[number]}, not {want}"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def buffer_passes_a_frame_two_cycles_after_its_last_beat(dut: Any) -> None:
    bench = await Bench(dut).start()
    for size in (1, 15, 16, 17, 60, 64, 65, 16 * BEATS):
        frame = bench.frame(size, 0x200)
        bench.source.append(frame)
        got = await bench.sink.recv()
        assert got == frame
        assert got.valid_cycle - frame.last_cycle == LATENCY
        _ends("passed")
        await bench.quiet()
    assert not bench.ends


@cocotb.test(timeout_time=400, timeout_unit="us")
async def buffer_drops_a_bad_frame_with_the_reason_that_it_carries(dut: Any) -> None:
    bench = await Bench(dut).start()
    for number, reason in enumerate((Code.BAD_FRAME, Code.OVERSIZE, Code.PORT_DISABLED, 127, 33)):
        bad = await bench.source.send(bench.frame(bench.rng.choice((1, 60, 100)), reason << 1 | 1))
        good = await bench.source.send(bench.frame(60, reason << 1))
        assert await bench.sink.recv() == good
        await bench.quiet()
        bench.check_end(number, bad, reason)
        assert len(bench.ends) == number + 1
        _ends("bad")


@cocotb.test(timeout_time=400, timeout_unit="us")
async def buffer_drops_or_waits_when_it_is_full(dut: Any) -> None:
    """Receive drops what finds no room and never lowers its ready; transmit waits, and drops nothing for that."""
    bench = await Bench(dut).start()
    for size, fit in ((64, min(BEATS // 4, FRAMES)), (1, FRAMES), (16 * (BEATS // 2 + 1), 1)):
        bench.ends.clear()
        bench.sink.pause = repeat(False)
        await wait_cycles(dut.clk, 2)
        frames = [bench.frame(size) for _ in range(fit + 3)]
        for frame in frames:
            bench.source.append(frame)
        await wait_cycles(dut.clk, (fit + 4) * (size // 16 + 2))
        assert (bench.source.pending == 0) == RECEIVE
        bench.sink.pause = repeat(True)
        await bench.quiet()
        through = frames[:fit] if RECEIVE else frames
        assert [await bench.sink.recv() for _ in through] == through
        await wait_cycles(dut.clk, 4)
        assert not bench.sink.frames
        assert len(bench.ends) == len(frames) - len(through)
        for number, frame in enumerate(frames[len(through) :]):
            bench.check_end(number, frame, Code.RX_BUFFER_FULL)
            _ends("full")
    assert (bench.refused == 0) == RECEIVE


@cocotb.test(timeout_time=400, timeout_unit="us")
async def buffer_drops_a_frame_that_is_longer_than_itself(dut: Any) -> None:
    bench = await Bench(dut).start()
    long = await bench.source.send(bench.frame(16 * BEATS + 1))
    good = await bench.source.send(bench.frame(60))
    assert await bench.sink.recv() == good
    await bench.quiet()
    bench.check_end(0, long, Code.RX_BUFFER_FULL if RECEIVE else Code.OVERSIZE)
    _ends("full" if RECEIVE else "oversize")
    long = await bench.source.send(bench.frame(16 * BEATS + 1, Code.BAD_FRAME << 1 | 1))
    await bench.quiet()
    bench.check_end(1, long, Code.BAD_FRAME)


@cocotb.test(timeout_time=400, timeout_unit="us")
async def buffer_registers_show_its_level_and_its_peak(dut: Any) -> None:
    bench = await Bench(dut).start()
    assert await bench.read(0) == 2 << 16 | 1 << 8 | 4
    assert (await bench.read(4), await bench.read(8)) == (0, 0)
    bench.sink.pause = repeat(False)
    await wait_cycles(dut.clk, 2)
    await bench.source.send(bench.frame(64))
    await bench.source.send(bench.frame(65))
    await wait_cycles(dut.clk, 4)
    assert (await bench.read(4), await bench.read(8)) == (9, 9)
    bench.sink.pause = repeat(True)
    await bench.quiet()
    assert (await bench.read(4), await bench.read(8)) == (0, 9)
    await bench.source.send(bench.frame(17))
    await bench.quiet()
    assert (await bench.read(4), await bench.read(8)) == (0, 9)


@cocotb.test(timeout_time=400, timeout_unit="us")
async def buffer_ends_every_frame_once_under_any_back_pressure(dut: Any) -> None:
    bench = await Bench(dut).start()
    rng = bench.rng
    for name in PAUSES:
        bench.source.pause = PAUSES[rng.choice(list(PAUSES))](seeded(name, "in"))
        bench.sink.pause = PAUSES[name](seeded(name, "out"))
        bench.ends.clear()
        frames = [
            bench.frame(
                rng.choice((1, 16, 17, 60, 64, 100, 16 * BEATS)), rng.choice((0, 0, 0, Code.BAD_FRAME << 1 | 1))
            )
            for _ in range(40)
        ]
        for frame in frames:
            bench.source.append(frame)
        await bench.source.drained()
        bench.sink.pause = repeat(True)
        await bench.quiet()
        dropped = {end[0]: end[1] for end in bench.ends}
        assert len(dropped) == len(bench.ends), "a frame was reported twice"
        passed = [frame for frame in frames if unpack(frame.meta)["seq"] not in dropped]
        assert bench.sink.frames == passed
        bench.sink.clear()
        for frame in frames:
            code = dropped.get(unpack(frame.meta)["seq"], 0)
            if frame.bad:
                assert code == Code.BAD_FRAME
            else:
                assert code == 0 or (RECEIVE and code == Code.RX_BUFFER_FULL)
