"""Bench of the slot of ``mac_tx``: the port's clock into the MAC's, and the ends back (docs/mac.md, In the port)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import pairwise
from typing import Any

from cocotb.triggers import Timer

from models.mac import MacTxModel, good_events, padded
from models.meta import Code
from tb.lib.clock import wait_cycles
from tb.mac.slots import CORE, PPM, WIRE, Put, Slots, test

__all__: list[str] = []

EDGES = 6
"""Edges of ``tx_clk`` behind that of ``clk`` which takes the first beat, up to that behind which start stands."""


def _check_wire(slots: Slots, frames: list[Put]) -> None:
    """Just these are on XGMII, whole, and the marks beside their starts name them."""
    model = slots.on_wire()
    assert [(frame.data, frame.code) for frame in model.frames] == [(padded(frame.data), 0) for frame in frames]
    assert [(seq, direction) for seq, direction, _, _ in slots.marks] == [(f.seq, f.direction) for f in frames]
    starts = [slots.word_times[frame.start_cycle] for frame in model.frames]
    assert [time for *_, time in slots.marks] == starts


async def _line_rate(dut: Any, tx: int) -> None:
    slots = await Slots(dut, tx=tx).start()
    frames = slots.puts((*range(60, 201), *[60] * 60, *[61] * 60, 9596, *range(200, 59, -1)))
    slots.send(*frames)
    await slots.drain(20000)
    assert slots.check_ends(frames, Code.DELIVERED) == {Code.DELIVERED: len(frames)}
    _check_wire(slots, frames)
    # Each start is where it is if the MAC is never without a frame
    model = MacTxModel()
    due = [model.add(frame.data, 0).start_cycle for frame in frames]
    starts = [frame.start_cycle for frame in slots.on_wire().frames]
    assert [at - starts[0] for at in starts] == [at - due[0] for at in due]
    events = sum((good_events(padded(frame.data)) for frame in frames), Counter())
    assert await slots.counters("mac_tx") == events


@test
async def frames_pass_at_line_rate_into_a_clock_that_is_slower(dut: Any) -> None:
    await _line_rate(dut, WIRE + PPM)


@test
async def frames_pass_at_line_rate_into_a_clock_that_is_faster(dut: Any) -> None:
    await _line_rate(dut, WIRE - PPM)


@test
async def a_frame_that_waits_for_nothing_starts_six_edges_behind_its_handshake(dut: Any) -> None:
    slots = await Slots(dut, tx=WIRE + PPM).start()
    spans, cores = [], set()
    frames = slots.puts([60] * 120)
    for frame in frames:
        slots.send(frame)
        await slots.drain()
        await wait_cycles(dut.clk, slots.rng.randrange(5))
    for frame, (*_, ended) in zip(frames, slots.marks, strict=True):
        between = slots.word_times
        # The cycle with start ends with the edge behind
        assert bisect_right(between, ended) - bisect_right(between, frame.taken) == EDGES + 1
        spans.append(ended - slots.periods["tx_clk"] - frame.taken)
        cores.add(-(-spans[-1] // CORE))
    assert cores == {4}
    period = slots.periods["tx_clk"]
    assert 5 * period < min(spans) < 5.1 * period and 5.9 * period < max(spans) <= 6 * period
    _check_wire(slots, frames)
    slots.check_ends(frames, Code.DELIVERED)


@test
async def a_reset_of_the_macs_clock_ends_what_was_held_and_frames_go_on(dut: Any) -> None:
    slots = await Slots(dut, tx=WIRE - PPM).start()
    seen = 0
    for phase in range(60):
        slots.forget_record()
        frames = slots.puts([61, 200, 60, 333, 61, 17, 1, 90, 60, 700, 60, 60])
        slots.send(*frames)
        await slots.pulse("tx_rst", 1 + phase % 3, after=6 * CORE + phase * 31_000)
        if phase % 4 == 0:
            await slots.pulse("tx_rst", 1, after=1 + slots.rng.randrange(80 * CORE))
        await slots.drain()
        codes = slots.check_ends(frames, Code.DELIVERED, Code.MAC_RESET)
        held = [frame.ends[0][0] == Code.MAC_RESET for frame in frames]
        assert codes[Code.MAC_RESET] >= 1, f"phase {phase}"
        seen += codes[Code.MAC_RESET]
        if phase % 4:
            first = held.index(True)
            assert not any(held[first + codes[Code.MAC_RESET] :]), f"phase {phase}: {held}"
        good = [frame.data for frame in slots.on_wire().frames if not frame.code]
        sent = [padded(frame.data) for frame in frames if frame.ends[0][0] == Code.DELIVERED]
        # One whose end hadn't crossed is on the wire all the same
        left = [data for data in good if data not in sent]
        assert [data for data in good if data in sent] == sent and len(left) <= 1 + (phase % 4 == 0), f"phase {phase}"
        last = slots.puts([100], first=100)
        slots.send(*last)
        await slots.drain()
        slots.check_ends(last, Code.DELIVERED)
    assert seen > 60


@test
async def a_reset_of_the_ports_clock_leaves_no_end_to_be_reported(dut: Any) -> None:
    slots = await Slots(dut, tx=WIRE + PPM).start()
    errored = 0
    for phase in range(60):
        slots.forget_record()
        slots.send(*slots.puts([61, 200, 60, 333, 61, 17, 1, 90, 60, 700, 60, 60]))
        await Timer(4 * CORE + phase * 31_000, "ps")
        slots.forget()
        await slots.pulse("rst", 1 + phase % 3)
        slots.put.clear()
        slots.order.clear()
        frames = slots.puts([100, 60, 300], first=1000)
        slots.send(*frames)
        await slots.drain()
        slots.check_ends(frames, Code.DELIVERED)
        model = slots.on_wire()
        assert [frame.data for frame in model.frames[-3:]] == [frame.data for frame in frames]
        errored += sum(frame.code != 0 for frame in model.frames)
    # The frame under way ended in error characters: its end was cut off, or came too late
    counted = await slots.counters("mac_tx")
    assert counted["errored"] + counted["underrun"] == errored and counted["errored"] > 10


@test
async def frames_are_thrown_away_under_a_fault_and_pass_behind_it(dut: Any) -> None:
    slots = await Slots(dut).start()
    frames = slots.puts([60, 300, 61] * 3 + [8, 1, 16] * 4)
    slots.send(*frames[:3])
    await slots.drain()
    slots.feed([(0x0100009C0100009C, 0x11)] * 500)
    await wait_cycles(dut.clk, 30)
    slots.send(*frames[3:-1])
    await slots.drain()
    await wait_cycles(dut.clk, 60)
    slots.send(frames[-1])
    await slots.drain()
    slots.check_ends(frames, Code.DELIVERED, Code.LINK_FAULT)
    codes = [frame.ends[0][0] for frame in frames]
    assert codes == [Code.DELIVERED] * 3 + [Code.LINK_FAULT] * (len(frames) - 4) + [Code.DELIVERED]
    counted = await slots.counters("mac_tx")
    assert counted["fault_dropped"] == len(frames) - 4 and counted["frames_ok"] == 4
    assert [(seq, direction) for seq, direction, _, _ in slots.marks] == [
        (f.seq, f.direction) for f in (*frames[:3], frames[-1])
    ]


@test
async def a_stopped_clock_starves_a_frame(dut: Any) -> None:
    slots = await Slots(dut).start()
    frames = slots.puts([60, 1500, 60])
    slots.send(*frames)
    await slots.until(lambda: frames[1].taken >= 0, 100)
    await wait_cycles(dut.clk, 5)
    slots.clocks["clk"].stop()
    await Timer(200 * CORE, "ps")
    slots.clocks["clk"].start()
    await slots.drain()
    slots.check_ends(frames, Code.DELIVERED, Code.MAC_UNDERRUN)
    assert [frame.ends[0][0] for frame in frames] == [Code.DELIVERED, Code.MAC_UNDERRUN, Code.DELIVERED]
    assert (await slots.counters("mac_tx"))["underrun"] == 1


@test
async def a_copy_has_no_end_to_be_reported(dut: Any) -> None:
    slots = await Slots(dut).start()
    frames = slots.puts([60, 60, 60])
    frames[1].copy = 1
    slots.send(*frames)
    await slots.drain()
    assert not frames[1].ends
    slots.check_ends([frames[0], frames[2]], Code.DELIVERED)
    _check_wire(slots, frames)


@test
async def short_frames_come_one_a_cycle_and_each_has_its_end(dut: Any) -> None:
    slots = await Slots(dut).start()
    for fault in (False, True):
        slots.forget_record()
        if fault:
            slots.feed([(0x0200009C0200009C, 0x11)] * 1500)
            await wait_cycles(dut.clk, 30)
        frames = slots.puts([1 + index % 16 for index in range(150)], first=200 * fault)
        slots.send(*frames)
        await slots.drain(4000)
        code = Code.LINK_FAULT if fault else Code.DELIVERED
        assert slots.check_ends(frames, code) == {code: 150}


@test
async def settings_reach_the_mac(dut: Any) -> None:
    slots = await Slots(dut).start()
    await slots.access("mac_tx.control", write=40 << 8 | 3)
    await wait_cycles(dut.clk, 40)
    frames = slots.puts([60] * 8)
    slots.send(*frames)
    await slots.drain()
    starts = [frame.start_cycle for frame in slots.on_wire().frames]
    # 72 bytes from start to terminate, 40 behind
    assert [b - a for a, b in pairwise(starts)] == [14] * 7
    await slots.access("mac_tx.control", write=40 << 8 | 2)
    await wait_cycles(dut.clk, 40)
    more = slots.puts([60], first=50)
    slots.send(*more)
    await wait_cycles(dut.clk, 200)
    assert not more[0].ends and str(dut.tx_idle.value) == "0"
    await slots.access("mac_tx.control", write=12 << 8 | 3)
    await slots.drain()
    slots.check_ends([*frames, *more], Code.DELIVERED)


async def _time(dut: Any, rx: int, tx: int) -> None:
    slots = await Slots(dut, rx=rx, tx=tx).start()
    target = 0
    for part in range(4):
        for _ in range(12):
            slots.receive([slots.frame(60) for _ in range(8)])
            slots.send(*slots.puts([60] * 8, first=len(slots.put)))
            await slots.drain()
            await wait_cycles(dut.clk, slots.rng.randrange(8))
        if part < 3:  # a jump, then 64 cycles
            target = slots.now_at(slots.edges_of_clk[-1]) + (100, 5_000_000_001, 1 << 50)[part]
            dut.time_target.value = target
            dut.time_advance.value = 1
            await wait_cycles(dut.clk, 1)
            dut.time_advance.value = 0
            await wait_cycles(dut.clk, 66)
    assert slots.now_at(slots.edges_of_clk[-1]) > target > 1 << 50
    rx_off = [frame.time - slots.now_at(start - rx) for frame, start in zip(slots.got, slots.starts, strict=True)]
    tx_off = [(time >> 32) - slots.now_at(ended - tx) for *_, time, ended in slots.marks]
    assert len(rx_off) == len(tx_off) == 4 * 12 * 8
    for off in (rx_off, tx_off):
        assert min(off) >= -8 and max(off) <= 8, (min(off), max(off))
        assert max(off) > min(off)
    for times in ([frame.time for frame in slots.got], [time for _, _, time, _ in slots.marks]):
        assert times == sorted(times), "time went back"


@test
async def times_follow_the_ports_with_clocks_that_are_faster(dut: Any) -> None:
    await _time(dut, WIRE - PPM, WIRE - PPM)


@test
async def times_follow_the_ports_with_clocks_that_are_slower(dut: Any) -> None:
    await _time(dut, WIRE + PPM, WIRE + PPM)


@test
async def times_stand_with_the_ports_clock_and_start_again_with_its_reset(dut: Any) -> None:
    slots = await Slots(dut, rx=WIRE - PPM, tx=WIRE + PPM).start()
    offs: list[int] = []

    async def some() -> None:
        slots.forget_record()
        slots.got.clear()
        slots.starts.clear()
        slots.receive([slots.frame(60) for _ in range(6)])
        slots.send(*slots.puts([60] * 6))
        await slots.drain()
        rx, tx = slots.periods["rx_clk"], slots.periods["tx_clk"]
        offs.extend(frame.time - slots.now_at(start - rx) for frame, start in zip(slots.got, slots.starts, strict=True))
        offs.extend((time >> 32) - slots.now_at(ended - tx) for *_, time, ended in slots.marks)

    for stop in (1, 7, 60, 5000):
        await some()
        before = max(time >> 32 for _, _, time, _ in slots.marks)
        slots.clocks["clk"].stop()
        await Timer(stop * CORE, "ps")
        slots.clocks["clk"].start()
        await wait_cycles(dut.clk, 64)
        await some()
        assert min(time >> 32 for _, _, time, _ in slots.marks) >= before, "time went back"
        await slots.pulse("rst", 1 + stop % 3)
        await wait_cycles(dut.clk, 100)
        await some()
        assert slots.marks[0][2] >> 32 < 2000, "it starts again"
        await slots.pulse("tx_rst")
        await slots.pulse("rx_rst")
        await wait_cycles(dut.clk, 100)
    assert len(offs) == 4 * 3 * 12 and -8 <= min(offs) <= max(offs) <= 8, (min(offs), max(offs))
