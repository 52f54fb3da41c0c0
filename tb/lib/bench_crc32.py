"""Bench of ``crc32_64`` and ``crc32_128`` against zlib, which nobody here wrote."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.lib import beat_count, crc32
from tb.lib import cover
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.suite import boundary_lengths, four_state, seeded, test

__all__: list[str] = []


class Crc:
    """Drives beats, records each ``crc_valid``. Lanes that aren't kept carry noise, or X in a four-state simulator."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.clk = dut.clk
        start_clock(self.clk)
        self.rng = seeded("crc")
        self.width = len(dut.s_data) // 8
        dut.rst.value = 1
        dut.s_valid.value = dut.s_first.value = dut.s_last.value = dut.s_keep.value = dut.s_data.value = 0
        self.lanes = cover.point(f"crc32_{8 * self.width}.tail", list(range(1, self.width + 1)))
        self.results: list[tuple[int, int]] = []
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        dut, edge = self.dut, RisingEdge(self.clk)
        await wait_cycles(self.clk, 2)
        while True:
            await edge
            valid = str(dut.crc_valid.value)
            assert valid in ("0", "1"), f"crc_valid is {valid}"
            if valid == "1":
                text = str(dut.crc.value)
                assert not text.strip("01"), f"crc is {text} while crc_valid is 1"
                self.results.append((cycle(self.clk), int(text, 2)))

    async def start(self) -> Crc:
        await reset(self.dut.rst, self.clk)
        return self

    def _idle(self) -> None:
        dut = self.dut
        dut.s_valid.value = 0
        for handle in (dut.s_first, dut.s_last, dut.s_keep, dut.s_data):
            bits = len(handle)
            handle.value = "X" * bits if four_state() else self.rng.getrandbits(bits)

    async def send(self, data: bytes, gaps: Any = None, beats: int | None = None) -> int:
        """Drive a frame (or its first ``beats``); returns the cycle of its last beat. Leaves the inputs idle."""
        dut, width, edge = self.dut, self.width, RisingEdge(self.clk)
        self.lanes((len(data) - 1) % width + 1)
        count = beat_count(len(data), width)
        for index in range(count if beats is None else beats):
            while gaps is not None and not next(gaps):
                self._idle()
                await edge
            piece = data[index * width : (index + 1) * width]
            unused = 8 * (width - len(piece))
            fill = ("X" * unused) if four_state() else f"{self.rng.getrandbits(unused):0{unused}b}" if unused else ""
            dut.s_data.value = fill + f"{int.from_bytes(piece, 'little'):0{8 * len(piece)}b}"
            dut.s_keep.value = (1 << len(piece)) - 1
            dut.s_first.value = int(index == 0)
            dut.s_last.value = int(index == count - 1)
            dut.s_valid.value = 1
            await edge
        last = cycle(self.clk)
        return last

    async def check(self, sent: list[tuple[int, bytes]]) -> None:
        """One result a frame, one cycle after its last beat, equal to zlib's."""
        self._idle()
        await wait_cycles(self.clk, 3)
        expected = [(last + 1, crc32(data)) for last, data in sent]
        for (data_cycle, data), want, got in zip(sent, expected, self.results, strict=False):
            assert got == want, (
                f"{len(data)} B ended in {data_cycle}: {got[1]:#010x} in {got[0]}, due {want[1]:#010x} in {want[0]}"
            )
        assert len(self.results) == len(expected), f"{len(self.results)} results of {len(expected)} frames"
        self.results.clear()


@test
async def crc_of_the_check_string_is_that_of_the_catalogue(dut: Any) -> None:
    """CRC-32/ISO-HDLC of "123456789" is 0xcbf43926; of one zero byte 0xd202ef8d."""
    c = await Crc(dut).start()
    for data, value in ((b"123456789", 0xCBF43926), (b"\x00", 0xD202EF8D)):
        await c.send(data)
        c._idle()
        await wait_cycles(c.clk, 3)
        assert [result for _, result in c.results] == [value]
        c.results.clear()


@test
async def crc_of_every_tail_length_equals_zlib(dut: Any) -> None:
    c = await Crc(dut).start()
    for length in [*boundary_lengths(c.width), 60, 64, 65, 255, 256, 1514]:
        data = c.rng.randbytes(length)
        await c.check([(await c.send(data), data)])
    for fill in (b"\x00", b"\xff"):
        for length in boundary_lengths(c.width):
            data = fill * length
            await c.check([(await c.send(data), data)])


@test
async def crc_of_frames_back_to_back_equals_zlib(dut: Any) -> None:
    """Single beats too: a frame's first beat in the cycle after another's last."""
    c = await Crc(dut).start()
    lengths = boundary_lengths(c.width) * 2 + [1] * 8 + [c.width] * 8
    c.rng.shuffle(lengths)
    sent = []
    for length in lengths:
        data = c.rng.randbytes(length)
        sent.append((await c.send(data), data))
    await c.check(sent)


@test
async def crc_with_gaps_anywhere_equals_zlib(dut: Any) -> None:
    c = await Crc(dut).start()
    for name in ("random", "bursty", "one_in", "gap", "storm"):
        gaps = PAUSES[name](c.rng)
        sent = []
        for _ in range(30):
            data = c.rng.randbytes(c.rng.randint(1, 5 * c.width))
            sent.append((await c.send(data, gaps), data))
        await c.check(sent)


@test
async def crc_begins_anew_after_a_reset_in_mid_frame(dut: Any) -> None:
    c = await Crc(dut).start()
    for beats in range(1, 4):
        await c.send(c.rng.randbytes(4 * c.width), beats=beats)
        c._idle()
        await reset(dut.rst, c.clk, 1)
        data = c.rng.randbytes(2 * c.width + beats)
        await c.check([(await c.send(data), data)])


@test
async def crc_reports_nothing_for_a_frame_without_an_end(dut: Any) -> None:
    """A frame that is begun anew gives the result of the new one alone."""
    c = await Crc(dut).start()
    await c.send(c.rng.randbytes(4 * c.width), beats=3)
    c._idle()
    await wait_cycles(c.clk, 5)
    assert not c.results
    data = c.rng.randbytes(3 * c.width - 1)
    await c.check([(await c.send(data), data)])
