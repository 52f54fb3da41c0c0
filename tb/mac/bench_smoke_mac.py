"""Bench of ``mac_loop``: mac_tx into mac_rx, what stands on XGMII between them, and what mac_rx makes of frames.

XGMII is read as a row of characters, word by word; a frame on it is checked byte by byte against padding and
zlib's CRC. ``$NICLOOP_PCS`` (0 or 1): the PCS stands between them.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from tb.lib.clock import WIRE_PS, cycle, reset, start_clock, wait_cycles
from tb.lib.suite import seeded, test

__all__: list[str] = []

IDLE, START, TERMINATE, ERROR, SEQUENCE = 0x107, 0x1FB, 0x1FD, 0x1FE, 0x19C
"""Control characters have bit 8."""
PCS = os.environ["NICLOOP_PCS"] == "1"
LATENCY = 12 if PCS else 7
PREAMBLE = [START, *[0x55] * 6, 0xD5]


@dataclass
class Sent:
    """A frame on XGMII: where its start and its terminate stood, in bytes, and what was between SFD and terminate."""

    start: int
    terminate: int
    characters: list[int]


@dataclass
class Received:
    """A frame of m_axis."""

    first_cycle: int
    time: int
    data: bytearray = field(default_factory=bytearray)
    last_cycle: int = 0
    user: int = 0


def with_fcs(data: bytes) -> bytes:
    """Padded to 60 bytes, FCS behind."""
    padded = data.ljust(60, b"\0")
    return padded + zlib.crc32(padded).to_bytes(4, "little")


class Loop:
    """Drives beats, reads XGMII and m_axis, adds up the counters."""

    def __init__(self, dut: Any, name: str) -> None:
        self.dut = dut
        self.rng = seeded("mac_loop", name)
        start_clock(dut.clk, WIRE_PS)
        self.edge = RisingEdge(dut.clk)
        dut.rst.value = 1
        dut.s_axis_tvalid.value = dut.s_axis_tlast.value = dut.s_axis_tuser.value = dut.s_axis_tdata.value = 0
        dut.s_axis_tkeep.value = 0
        dut.cfg_ifg.value = 12
        dut.cfg_dic.value = 1
        dut.cfg_max_frame.value = 1518
        dut.break_line.value = 0
        self.taken: list[int] = []
        self.sent: list[Sent] = []
        self.received: list[Received] = []
        self.tx_times: list[int] = []
        self.tx_stats = [0] * len(dut.tx_stats)
        self.rx_stats = [0] * len(dut.rx_stats)
        self.tx_bytes = self.rx_bytes = 0
        self.remote_words = 0
        self.nows: dict[int, int] = {}
        self._open: Sent | None = None
        self._frame: Received | None = None

    async def start(self) -> Loop:
        await self.restart()
        cocotb.start_soon(self._watch())
        return self

    async def restart(self) -> None:
        """A reset, and with the PCS the time until its lock and the end of the faults before it."""
        await reset(self.dut.rst, self.dut.clk, 1)
        if PCS:
            await wait_cycles(self.dut.clk, 300)
            assert not int(self.dut.local_fault.value) and not int(self.dut.remote_fault.value)

    async def _watch(self) -> None:
        dut = self.dut
        while True:
            await self.edge
            if int(dut.rst.value):
                self._open = self._frame = None
                continue
            now = cycle(dut.clk)
            self.nows[now] = dut.now.value.to_unsigned()
            self._line(now, dut.xgmii_d.value.to_unsigned(), dut.xgmii_c.value.to_unsigned())
            if int(dut.m_axis_tvalid.value):
                self._beat(now)
            if int(dut.tx_time_valid.value):
                self.tx_times.append(dut.tx_time.value.to_unsigned())
            for counts, handle in ((self.tx_stats, dut.tx_stats), (self.rx_stats, dut.rx_stats)):
                strobes = handle.value.to_unsigned()
                if strobes:
                    for bit in range(len(counts)):
                        counts[bit] += strobes >> bit & 1
            self.tx_bytes += dut.tx_bytes.value.to_unsigned()
            self.rx_bytes += dut.rx_bytes.value.to_unsigned()

    def _line(self, now: int, d: int, c: int) -> None:
        if c == 0x11 and d == 0x0200009C0200009C:
            assert self._open is None, "a sequence inside a frame"
            self.remote_words += 1
            return
        for lane in range(8):
            character = (d >> 8 * lane & 0xFF) | (c >> lane & 1) << 8
            place = 8 * now + lane
            if self._open is None:
                if character == START:
                    assert lane in (0, 4)
                    self._open = Sent(place, 0, [character])
                else:
                    assert character == IDLE, f"{character:#x} between frames"
            elif character == TERMINATE:
                self._open.terminate = place
                assert self._open.characters[:8] == PREAMBLE
                del self._open.characters[:8]
                self.sent.append(self._open)
                self._open = None
            else:
                assert character < 0x100 or character == ERROR, f"{character:#x} in a frame"
                self._open.characters.append(character)

    def _beat(self, now: int) -> None:
        dut = self.dut
        if self._frame is None:
            self._frame = Received(now, dut.m_axis_time.value.to_unsigned())
        keep = dut.m_axis_tkeep.value.to_unsigned()
        count = keep.bit_count()
        assert keep == (1 << count) - 1 and count
        last = bool(int(dut.m_axis_tlast.value))
        assert last or count == 8
        self._frame.data += dut.m_axis_tdata.value.to_unsigned().to_bytes(8, "little")[:count]
        if last:
            self._frame.user = dut.m_axis_tuser.value.to_unsigned()
            self._frame.last_cycle = now
            self.received.append(self._frame)
            self._frame = None

    async def send(self, data: bytes, user: int = 0, starve: int | None = None) -> None:
        """One frame, its first beat as soon as tready allows. ``starve``: a cycle without a beat before that one."""
        dut = self.dut
        for place in range(0, len(data), 8):
            if place == starve:
                dut.s_axis_tvalid.value = 0
                await self.edge
            piece = data[place : place + 8]
            dut.s_axis_tdata.value = int.from_bytes(piece + self.rng.randbytes(8 - len(piece)), "little")
            dut.s_axis_tkeep.value = (1 << len(piece)) - 1
            dut.s_axis_tlast.value = int(place + 8 >= len(data))
            dut.s_axis_tuser.value = user if place + 8 >= len(data) else self.rng.getrandbits(1)
            dut.s_axis_tvalid.value = 1
            await self.edge
            while not int(dut.s_axis_tready.value):
                assert place == 0, "tready is 0 in mid-frame"
                await self.edge
            if place == 0:
                self.taken.append(cycle(dut.clk))
        dut.s_axis_tvalid.value = 0

    async def settle(self) -> None:
        await wait_cycles(self.dut.clk, 40)
        assert self._open is None and self._frame is None
        assert int(self.dut.tx_idle.value) and int(self.dut.rx_idle.value)

    def check(self, frames: list[bytes]) -> None:
        """All arrived, unchanged, good, on time; 2 cycles to XGMII. The times are those of the starts."""
        assert len(self.sent) == len(self.received) == len(self.tx_times) == len(frames)
        for data, taken, sent, out, time in zip(
            frames, self.taken, self.sent, self.received, self.tx_times, strict=True
        ):
            assert bytes(sent.characters) == with_fcs(data)
            assert bytes(out.data) == data.ljust(60, b"\0") and out.user == 0
            assert sent.start // 8 == taken + 2, f"start in {sent.start / 8}, first beat taken in {taken}"
            assert out.first_cycle == taken + LATENCY, f"first beat in {out.first_cycle}, taken in {taken}"
            assert time == self.nows[taken + 2] and out.time == self.nows[taken + LATENCY - 5]
        self._check_gaps()

    def _check_gaps(self) -> None:
        """The rule of 46.3.1.4, and no start later than it where frames wait."""
        for before, after in zip(self.sent, self.sent[1:], strict=False):
            assert after.start - before.terminate >= 9


@test
async def every_length_passes_with_a_right_fcs(dut: Any) -> None:
    """1 to 200 bytes, alone and back to back; latency and gap."""
    b = await Loop(dut, "lengths").start()
    frames = []
    for length in range(1, 201):
        frames.append(b.rng.randbytes(length))
        await b.send(frames[-1])
        if length % 3 == 0:
            await wait_cycles(dut.clk, b.rng.randint(0, 30))
    order = list(range(1, 201))
    b.rng.shuffle(order)
    for length in order:
        frames.append(b.rng.randbytes(length))
        await b.send(frames[-1])
    await b.settle()
    b.check(frames)
    assert {sent.start % 8 for sent in b.sent} == {0, 4}
    sizes = [len(with_fcs(data)) for data in frames]
    assert b.tx_stats[0] == b.rx_stats[0] == len(frames) and b.tx_bytes == b.rx_bytes == sum(sizes)
    want = [
        sum(size == 64 for size in sizes),
        sum(64 < size < 128 for size in sizes),
        sum(size >= 128 for size in sizes),
    ]
    assert b.tx_stats[5:8] == b.rx_stats[5:8] == want
    assert not any(b.tx_stats[8:]) and not any(b.rx_stats[8:])


@test
async def gaps_follow_the_deficit_idle_count(dut: Any) -> None:
    """Back to back, each gap is the least that the deficit allows, which stays within 0 to 3; bad frames among them."""
    b = await Loop(dut, "gaps").start()
    for ifg in (12, 12, 13, 14, 15, 20, 255, 3):
        await b.settle()
        b.sent.clear()
        dut.cfg_ifg.value = ifg
        await wait_cycles(dut.clk, 2)
        for _ in range(60):
            await b.send(b.rng.randbytes(b.rng.randint(56, 80)), user=int(b.rng.random() < 0.2))
        await b.settle()
        deficit, least = 0, max(ifg, 12)
        for before, after in zip(b.sent, b.sent[1:], strict=False):
            gap = after.start - before.terminate
            shorter = 0 if ERROR in before.characters else 3 - deficit
            due = next(g for g in range(least - shorter, least + 4) if (before.terminate + g) % 4 == 0)
            assert gap == due, f"ifg {ifg}: gap {gap}, due {due}, deficit {deficit}"
            deficit = max(0, deficit + least - gap)
            assert deficit <= 3
    dut.cfg_ifg.value = 12
    dut.cfg_dic.value = 0
    await b.settle()
    b.sent.clear()
    for length in range(60, 100):
        await b.send(b.rng.randbytes(length))
    await b.settle()
    gaps = [after.start - before.terminate for before, after in zip(b.sent, b.sent[1:], strict=False)]
    assert set(gaps) == {12, 13, 14, 15}


@test
async def frames_of_64_bytes_take_ten_and_a_half_cycles(dut: Any) -> None:
    b = await Loop(dut, "rate").start()
    for length, count, cycles in ((60, 64, 10.5), (1514, 12, 192.25), (61, 64, 85 / 8)):
        await b.settle()
        b.sent.clear()
        frame = b.rng.randbytes(length)
        for _ in range(count + 1):
            await b.send(frame)
        await b.settle()
        took = b.sent[count].start - b.sent[0].start
        assert abs(took - 8 * cycles * count) <= 3, f"{count} frames of {length} took {took / 8} cycles"
        if (8 * cycles * count) % 4 == 0:
            assert took == 8 * cycles * count


@test
async def a_bad_and_a_starved_frame_end_in_error_characters(dut: Any) -> None:
    b = await Loop(dut, "bad").start()
    lengths = [*range(1, 90)]
    for length in lengths:
        await b.send(b.rng.randbytes(length), user=1)
    starved = [(length, starve) for length in range(9, 100, 5) for starve in range(8, length, 8)]
    for length, starve in starved:
        await b.send(b.rng.randbytes(length), starve=starve)
    good = b.rng.randbytes(77)
    await b.send(good)
    await b.settle()
    bodies = [max(length, 60) for length in lengths] + [max(starve, 60) for _, starve in starved]
    assert len(b.sent) == len(bodies) + 1
    for body, sent in zip(bodies, b.sent, strict=False):
        assert len(sent.characters) == body + 4 and sent.characters[-4:] == [ERROR] * 4
        assert all(character < 0x100 for character in sent.characters[:-4])
    assert [frame.user for frame in b.received[:-1]] == [24 << 1 | 1] * len(bodies)
    for body, sent, frame in zip(bodies, b.sent, b.received, strict=False):
        # The PCS makes an error block of the whole word
        cut = (sent.terminate - 4) % 8 if PCS else 0
        assert len(frame.data) == body - cut - 4
    assert bytes(b.received[-1].data) == good and b.received[-1].user == 0
    assert b.tx_stats[12:15] == [len(starved), len(lengths), 0]
    assert b.rx_stats[17] == len(bodies) and b.rx_stats[12:17] == [0] * 5 and b.rx_stats[0] == b.tx_stats[0] == 1
    b._check_gaps()


@test
async def a_local_fault_sends_remote_faults_and_drops_frames(dut: Any) -> None:
    b = await Loop(dut, "fault").start()
    frames = [b.rng.randbytes(70)]
    await b.send(frames[0])
    dut.break_line.value = 1
    await wait_cycles(dut.clk, 60)
    assert int(dut.local_fault.value) and not int(dut.remote_fault.value)
    b.received.clear()
    for length in (1, 8, 9, 200):
        await b.send(b.rng.randbytes(length))
    assert b.remote_words > 40
    await b.settle()
    assert b.tx_stats[14] == 4 and len(b.sent) == 1
    dut.break_line.value = 0
    # What mac_tx still sends is a remote fault, which mac_rx now sees in place of the local one
    await wait_cycles(dut.clk, 100)
    assert not int(dut.local_fault.value) and not int(dut.remote_fault.value)
    assert b.rx_stats[19] == 1
    b.received.clear()
    b.sent.clear()
    await b.send(frames[0])
    await b.settle()
    assert [bytes(frame.data) for frame in b.received] == frames and not b.received[0].user


@test
async def a_reset_in_mid_frame_leaves_nothing_behind(dut: Any) -> None:
    b = await Loop(dut, "reset").start()
    for delay in range(24):
        sender = cocotb.start_soon(b.send(b.rng.randbytes(150)))
        await wait_cycles(dut.clk, delay + 1)
        sender.cancel()
        dut.s_axis_tvalid.value = 0
        await b.restart()
        b.sent.clear()
        b.received.clear()
        b.taken.clear()
        b.tx_times.clear()
        frames = [b.rng.randbytes(n) for n in (61, 3, 100)]
        for frame in frames:
            await b.send(frame)
        await b.settle()
        b.check(frames)
