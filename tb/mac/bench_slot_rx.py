"""Bench of the slot of ``mac_rx``: the MAC's clock into the port's (docs/mac.md, In the port)."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import cocotb
from cocotb.triggers import Timer

from models.mac import MacRxModel
from models.meta import Code
from tb.lib.clock import wait_cycles
from tb.mac.slots import CORE, PPM, WIRE, Slots, test

__all__: list[str] = []

EDGES = 7
"""Edges of ``rx_clk`` from that which takes start to that with which the first beat is in the crossing."""
CORE_EDGES = 4


async def _line_rate(dut: Any, rx: int) -> None:
    slots = await Slots(dut, rx=rx).start()
    frames = [slots.frame(length) for length in (*range(60, 201), *[60] * 60, *[61] * 60, 9596, *range(200, 59, -1))]
    words = slots.receive(frames)
    await slots.drain(8000)
    assert [frame.user for frame in slots.got] == [0] * len(frames)
    assert [frame.data for frame in slots.got] == frames
    seen, spans = set(), []
    for frame, start in zip(slots.got, slots.starts, strict=True):
        entered = start + EDGES * rx
        first = slots.edges_of_clk[bisect_right(slots.edges_of_clk, entered) :]
        assert first[CORE_EDGES - 1] == frame.first, f"start {start} ps, first beat {frame.first} ps"
        between = slots.edges_of_clk
        seen.add(bisect_right(between, frame.first) - bisect_right(between, start))
        spans.append(frame.first - start - EDGES * rx)
        assert abs(frame.time - slots.now_at(start - rx)) <= 8
    assert seen == {8, 9}, f"edges of clk from start to the first beat: {seen}"
    assert 3 * CORE < min(spans) < 3.1 * CORE and 3.9 * CORE < max(spans) <= 4 * CORE, (min(spans), max(spans))
    times = [frame.time for frame in slots.got]
    assert times == sorted(times)
    assert await slots.counters("mac_rx") == MacRxModel(max_frame=9596).run(words).events


@test
async def frames_pass_at_line_rate_from_a_clock_that_is_slower(dut: Any) -> None:
    await _line_rate(dut, WIRE + PPM)


@test
async def frames_pass_at_line_rate_from_a_clock_that_is_faster(dut: Any) -> None:
    await _line_rate(dut, WIRE - PPM)


@test
async def frames_that_find_no_room_are_cut_or_left_out_and_the_next_one_is_whole(dut: Any) -> None:
    slots = await Slots(dut).start()
    wrong = 0
    for stop in (1, 2, 3, 5, 9, 20, 33, 60):
        slots.got.clear()
        before = await slots.counters("mac_rx")
        frames = [slots.frame(length) for length in (60, 61, 64, 300, 200, 70, 60, 150, 60, 400, 60, 60)]
        slots.receive(frames)
        await slots.until(lambda: len(slots.got) == 1, 100)
        dut.m_axis_tready.value = 0
        await slots.until(lambda: not slots.wire_left, 1000)
        await wait_cycles(dut.rx_clk, stop)
        dut.m_axis_tready.value = 1
        await slots.drain()
        after = await slots.counters("mac_rx")
        seen = [frame for frame in slots.got if not frame.user]
        cut = [frame for frame in slots.got if frame.user]
        assert [frame.data for frame in seen] == frames[: len(seen)], "a frame in front of the one that is cut"
        assert len(cut) == 1 and cut[0].user == Code.MAC_OVERFLOW << 1 | 1, f"{len(cut)} frames were cut"
        whole = frames[len(seen)]
        assert cut[0].data[:-1] == whole[: len(cut[0].data) - 1], "what stands in front of the cut"
        assert after["overflow_cut"] - before["overflow_cut"] == 1
        lost = len(frames) - len(seen) - 1
        assert after["overflow_lost"] - before["overflow_lost"] == lost > 0
        assert after["frames_ok"] - before["frames_ok"] == len(frames), "the MAC had them all"
        wrong += lost
        slots.got.clear()
        last = slots.frame(500)
        slots.receive([last])
        await slots.drain()
        assert [(frame.data, frame.user) for frame in slots.got] == [(last, 0)]
    assert wrong > 20


@test
async def a_clock_that_stops_cuts_one_frame(dut: Any) -> None:
    slots = await Slots(dut).start()
    frames = [slots.frame(600), slots.frame(600), slots.frame(60), slots.frame(600)]
    slots.receive(frames)
    await Timer(90 * CORE, "ps")
    slots.clocks["clk"].stop()
    await Timer(200 * CORE, "ps")
    slots.clocks["clk"].start()
    await slots.drain()
    last = slots.frame(100)
    slots.receive([last])
    await slots.drain()
    users = [frame.user for frame in slots.got]
    good = [frame.data for frame in slots.got if not frame.user]
    assert users.count(Code.MAC_OVERFLOW << 1 | 1) == 1 and len(good) == len(users) - 1
    assert good == [*frames[: users.index(Code.MAC_OVERFLOW << 1 | 1)], last]
    counted = await slots.counters("mac_rx")
    assert counted["overflow_cut"] == 1 and counted["overflow_lost"] == len(frames) + 1 - len(users)


@test
async def a_reset_of_the_macs_clock_ends_its_frame_bad_and_frames_pass_behind_it(dut: Any) -> None:
    slots = await Slots(dut, rx=WIRE + PPM).start()
    cuts = 0
    for phase in range(60):
        slots.got.clear()
        frames = [slots.frame(length) for length in (200, 60, 333, 61, 90)]
        slots.receive(frames)
        await slots.pulse("rx_rst", 1 + phase % 3, after=7 * CORE + phase * 17_000)
        await slots.until(lambda: not slots.wire_left, 400)
        await wait_cycles(dut.clk, 90)
        await slots.drain()
        last = slots.frame(77)
        slots.receive([last])
        await slots.drain()
        assert slots.got[-1].data == last and not slots.got[-1].user, f"phase {phase}: behind the reset"
        good = [frame.data for frame in slots.got[:-1] if not frame.user]
        # In front of it, in order; behind it those that found the crossing open
        assert all(frame in frames for frame in good), f"phase {phase}"
        at = [frames.index(frame) for frame in good]
        assert at == sorted(at)
        bad = [frame for frame in slots.got if frame.user]
        assert len(bad) <= 1 and all(frame.user == 1 for frame in bad), f"phase {phase}: {[f.user for f in bad]}"
        cuts += len(bad)
        for frame in bad:
            body = frame.data[:-1]
            assert any(whole.startswith(body) for whole in frames), f"phase {phase}: what stands in front of the cut"
    assert cuts > 20


@test
async def a_reset_of_the_ports_clock_is_followed_by_whole_frames(dut: Any) -> None:
    slots = await Slots(dut, rx=WIRE - PPM).start()
    for phase in range(40):
        frames = [slots.frame(length) for length in (200, 60, 333, 61, 90)]
        slots.receive(frames)
        await slots.pulse("rst", 1 + phase % 3, after=6 * CORE + phase * 26_000)
        slots.got.clear()
        await slots.until(lambda: not slots.wire_left, 400)
        await wait_cycles(dut.clk, 90)
        last = slots.frame(77)
        slots.receive([last])
        await slots.drain()
        assert slots.got[-1].data == last
        good = [frame.data for frame in slots.got[:-1] if not frame.user]
        assert all(frame in frames for frame in good), f"phase {phase}"
        # One that began while the rest of the frame that was cut was still taken and thrown away
        bad = [frame for frame in slots.got if frame.user]
        assert len(bad) <= 1 and all(frame.user == Code.MAC_OVERFLOW << 1 | 1 for frame in bad), f"phase {phase}"
        assert all(any(whole.startswith(frame.data[:-1]) for whole in frames) for frame in bad), f"phase {phase}"
        assert str(dut.rx_ready.value) == "1"


@test
async def ready_waits_until_the_rest_of_a_long_frame_has_been_thrown_away(dut: Any) -> None:
    """Behind a reset of the port's clock: a frame that comes in the moment of `ready` passes."""
    slots = await Slots(dut).start()
    for phase in range(4):
        slots.receive([slots.frame(9596)])
        await slots.pulse("rst", 1, after=100 * CORE + phase * 13_000)
        await wait_cycles(dut.clk, 2)
        await slots.until(lambda: str(dut.rx_ready.value) == "1", 2000)
        assert not slots.wire_left, "it is ready while the crossing throws the frame's rest away"
        slots.got.clear()
        last = slots.frame(77)
        slots.receive([last])
        await slots.drain()
        assert [(frame.data, frame.user) for frame in slots.got] == [(last, 0)], f"phase {phase}"


@test
async def faults_of_the_link_are_seen_and_remembered(dut: Any) -> None:
    slots = await Slots(dut).start()
    local, remote = (0x0100009C0100009C, 0x11), (0x0200009C0200009C, 0x11)
    for words, name, bit in ((local, "local", 0), (remote, "remote", 1)):
        slots.feed([words] * 60)
        await wait_cycles(dut.clk, 30)
        assert await slots.read("mac_rx.status") & 3 == 1 << bit
        assert await slots.read("mac_tx.status") & 3 == 1 << bit
        await slots.access("mac_rx.status", write=0x300)
        assert await slots.read("mac_rx.status") & 0x300 == 0x100 << bit, "there still is one"
        await wait_cycles(dut.clk, 120)
        assert await slots.read("mac_rx.status") & 0x307 == 0x100 << bit | 4, "it is over"
        assert await slots.read("mac_tx.status") == 4
        await slots.access("mac_rx.status", write=0x100 << bit)
        assert await slots.read("mac_rx.status") & 0x303 == 0
        assert await slots.read(f"mac_rx.{name}_faults") == 1


@test
async def settings_reach_the_mac(dut: Any) -> None:
    slots = await Slots(dut).start()
    await slots.access("mac_rx.control", write=100 << 16 | 1)
    await wait_cycles(dut.clk, 40)
    frames = [slots.frame(100), slots.frame(101)]
    slots.receive(frames)
    await slots.drain()
    assert [frame.user for frame in slots.got] == [0, Code.OVERSIZE << 1 | 1]
    assert slots.got[1].data == frames[1][:100]
    await slots.access("mac_rx.control", write=9596 << 16)
    await wait_cycles(dut.clk, 40)
    slots.receive(frames)
    await slots.drain()
    assert len(slots.got) == 2, "it isn't enabled"


@test
async def a_read_is_answered_while_the_macs_clock_stands_still_or_is_in_reset(dut: Any) -> None:
    slots = await Slots(dut).start()
    frame = slots.frame(60)
    slots.receive([frame])
    await slots.drain()
    for slot, clock in (("mac_rx", "rx_clk"), ("mac_tx", "tx_clk")):
        assert (await slots.access(f"{slot}.status"))[0] & 4
        slots.clocks[clock].stop()
        await wait_cycles(dut.clk, 50)
        for _ in range(3):
            value, error, cycles = await slots.access(f"{slot}.frames_ok")
            assert error and value == 0 and 512 <= cycles <= 516, f"{slot}: {cycles} cycles"
        value, error, cycles = await slots.access(f"{slot}.status")
        assert not error and not value & 4 and cycles <= 3
        slots.clocks[clock].start()
        await wait_cycles(dut.clk, 60)
        assert (await slots.access(f"{slot}.status"))[0] & 4
        for word, due in ((0, int(slot == "mac_rx")), (1, 0)):
            value, error, cycles = await slots.access(f"{slot}.frames_ok", word=word)
            assert (value, error) == (due, False) and cycles < 40
        # In reset
        reset = getattr(dut, f"{slot[4:]}_rst")
        reset.value = 1
        await wait_cycles(dut.clk, 60)
        assert not (await slots.access(f"{slot}.status"))[0] & 4
        assert (await slots.access(f"{slot}.frames_ok"))[1]
        reset.value = 0
        await wait_cycles(dut.clk, 60)
        value, error, cycles = await slots.access(f"{slot}.frames_ok")
        assert (value, error) == (0, False) and cycles < 40
        # It came in between: lost, and the next one is right
        for phase in range(24):
            pulse = cocotb.start_soon(slots.pulse(f"{slot[4:]}_rst", after=1 + phase * 13_000))
            value, error, cycles = await slots.access(f"{slot}.unicast")
            assert value == 0 and (cycles < 80 or error)
            await pulse
            assert not (await slots.access(f"{slot}.unicast"))[1]


@test
async def a_register_that_is_not_there_is_an_error(dut: Any) -> None:
    slots = await Slots(dut).start()
    for tx, address in ((False, 0x0C), (False, 0xF8), (False, 0x1C0), (False, 0x1F8), (True, 0x0C), (True, 0x180)):
        for write in (None, 0):
            _, error, cycles = await slots.access_at(tx, address, write)
            assert error and cycles <= 3, f"{address:#x}"
    for name in ("mac_rx.frames_ok", "mac_tx.bytes_ok", "mac_tx.id", "mac_rx.id"):
        _, error, cycles = await slots.access(name, write=5)
        assert not error and cycles <= 3, name


@test
async def an_answer_that_comes_too_late_is_not_taken_for_the_next_one(dut: Any) -> None:
    slots = await Slots(dut).start()
    slots.receive([slots.frame(60) for _ in range(5)])
    await slots.drain()
    late = 0
    for phase in range(24):
        task = cocotb.start_soon(slots.access("mac_rx.frames_ok"))
        await Timer(1 + phase * WIRE // 2, "ps")
        slots.clocks["rx_clk"].stop()
        late += (await task)[1]
        task = cocotb.start_soon(slots.access("mac_rx.multicast"))
        await wait_cycles(dut.clk, 1 + phase % 4)
        slots.clocks["rx_clk"].start()
        value, error, _ = await task
        assert (value, error) == (0, False), f"phase {phase}: what was asked before was {value}"
        assert await slots.read("mac_rx.frames_ok") == 5
    assert late > 10
