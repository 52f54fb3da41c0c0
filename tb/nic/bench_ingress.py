"""Bench of ``nic_ingress``: the rules at a pipeline's entry, the metadata, the pace and the counts.

What a frame must look like behind it is written down here from docs/architecture.md section 4, in ``_expected``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise, product, repeat
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.meta import Code, pack, unpack
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.protocol import ProtocolChecker
from tb.lib.suite import four_state, seeded

__all__: list[str] = []

PORT_ID = int(os.environ["NICLOOP_PORT_ID"])
DIRECTION = int(os.environ["NICLOOP_DIRECTION"])
PACE = 4

_reasons = cover.point("nic_ingress.reason", ["none", "bad_frame", "own_reason", "oversize", "port_disabled"])
_edges = cover.point("nic_ingress.oversize", ["below", "at", "above", "far_above"])
_beats = cover.point("nic_ingress.beats", [1, 2, 3, 4, 5])
_marks = cover.point(
    "nic_ingress.marks", ["*".join(kind) for kind in product(("on", "off"), ("fits", "long"), ("good", "bad", "why"))]
)


@dataclass(frozen=True)
class _Entry:
    """What the module saw with a frame's first beat."""

    cycle: int
    now: int
    enable: bool
    limit: int
    seq: int


def _expected(sent: AxisFrame, entry: _Entry) -> AxisFrame:
    """The frame that must come out."""
    size, limit = len(sent.data), entry.limit
    checksum = sent.user & 0x300
    data = sent.data
    reason = 0
    if sent.user & 1:
        reason = sent.user >> 1 & 0x7F or Code.BAD_FRAME
    if size > limit:
        data, checksum, reason = data[: (limit // 16 + 1) * 16], 0, Code.OVERSIZE
    if not entry.enable:
        reason = Code.PORT_DISABLED
    given = unpack(sent.meta)
    meta = pack(
        {
            "seq": entry.seq,
            "port": PORT_ID,
            "direction": DIRECTION,
            "tclass": given["tclass"],
            "queue": given["queue"],
            "timestamp": entry.now,
        }
    )
    return AxisFrame(data, checksum | (reason << 1 | 1 if reason else 0), meta)


class Bench:
    """Agents, the settings, and a watch on what the module reports beside the streams."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.clk = dut.clk
        self.rng = seeded("nic_ingress")
        start_clock(dut.clk)
        dut.rst.value = 1
        dut.cfg_enable.value = 1
        dut.cfg_max_frame.value = 9596
        dut.now.value = 0
        self.source = AxisSource(dut, "s_axis", dut.clk, rng=seeded("noise"), undefined=four_state())
        self.sink = AxisSink(dut, "m_axis", dut.clk, pause=repeat(True))
        self.checkers = [ProtocolChecker(dut, stream, dut.clk, dut.rst) for stream in ("s_axis", "m_axis")]
        self.entries: list[_Entry] = []
        self.refused: list[int] = []
        self.frames = self.bytes = self.seq = 0
        self.change: Any = None
        cocotb.start_soon(self._watch())

    async def start(self) -> Bench:
        await reset(self.dut.rst, self.clk)
        return self

    async def _watch(self) -> None:
        dut, edge = self.dut, RisingEdge(self.clk)
        first = True
        while True:
            await edge
            if str(dut.rst.value) != "0":
                self.seq, first = 0, True
                self.frames = self.bytes = 0
                self.entries.clear()
                continue
            self.frames += int(dut.count_frame.value)
            self.bytes += int(dut.count_bytes.value)
            valid, ready = int(dut.s_axis_tvalid.value), int(dut.s_axis_tready.value)
            entered = bool(valid and ready and first)
            now = int(dut.now.value)
            assert int(dut.entry_valid.value) == entered, f"entry_valid in cycle {cycle(self.clk)}"
            if entered:
                given = int(dut.entry_seq.value)
                assert given == self.seq, f"sequence number {given}, not {self.seq}"
                limit, enable = int(dut.cfg_max_frame.value), bool(dut.cfg_enable.value)
                self.entries.append(_Entry(cycle(self.clk), now, enable, limit, self.seq))
                self.seq = (self.seq + 1) % 65536
            if not ready:
                self.refused.append(cycle(self.clk))
            if valid and ready:
                first = bool(dut.s_axis_tlast.value)
            idle = int(dut.idle.value)
            assert not (idle and int(dut.m_axis_tvalid.value)), "idle with a beat at the output"
            dut.now.value = now + 4
            if self.change is not None:
                self.change()

    def frame(self, size: int, user: int | None = None) -> AxisFrame:
        """Random bytes and metadata; ``user``: ``tuser``, by default good with a random checksum verdict."""
        meta = self.rng.getrandbits(len(self.dut.s_axis_meta))
        return AxisFrame(self.rng.randbytes(size), self.rng.randrange(4) << 8 if user is None else user, meta)

    async def check(self, frames: Iterable[AxisFrame]) -> list[tuple[AxisFrame, AxisFrame]]:
        """Send frames and compare each that comes out, the counts and ``idle``; returns pairs of sent and received."""
        sent = list(frames)
        begin, counted, length = len(self.entries), self.frames, self.bytes
        for frame in sent:
            self.source.append(frame)
        pairs = []
        for number, frame in enumerate(sent):
            got = await self.sink.recv()
            entry = self.entries[begin + number]
            want = _expected(frame, entry)
            assert got == want, f"frame {number}: sent {frame} with {entry}\nexpected {want}\nreceived {got}"
            pairs.append((frame, got))
            self._cover(frame, entry, got)
        await self.source.drained()
        await wait_cycles(self.clk, 3)
        assert self.dut.idle.value == 1, "not idle with nothing in it"
        assert self.frames - counted == len(sent), f"{self.frames - counted} frames counted, {len(sent)} came in"
        total = sum(len(frame.data) for frame in sent)
        assert self.bytes - length == total, f"{self.bytes - length} bytes counted, {total} came in"
        firsts = [entry.cycle for entry in self.entries[begin:]]
        for one, two in pairwise(firsts):
            assert two - one >= PACE, f"two frames entered within {two - one} cycles"
        return pairs

    def _cover(self, frame: AxisFrame, entry: _Entry, got: AxisFrame) -> None:
        reason = got.user >> 1 & 0x7F
        names = {0: "none", Code.BAD_FRAME: "bad_frame", Code.OVERSIZE: "oversize", Code.PORT_DISABLED: "port_disabled"}
        _reasons(names.get(reason, "own_reason"))
        over = len(frame.data) - entry.limit
        _edges("far_above" if over > 1 else {-1: "below", 0: "at", 1: "above"}.get(over, "below"))
        _beats(min(frame.beats(), 5))
        bad = "good" if not frame.bad else "why" if frame.user & 0xFE else "bad"
        _marks(f"{'on' if entry.enable else 'off'}*{'long' if over > 0 else 'fits'}*{bad}")

    def settle(self, *, enable: int = 1, limit: int = 9596) -> None:
        self.dut.cfg_enable.value = enable
        self.dut.cfg_max_frame.value = limit


@cocotb.test(timeout_time=400, timeout_unit="us")
async def ingress_passes_every_length_one_cycle_late_with_its_metadata(dut: Any) -> None:
    bench = await Bench(dut).start()
    for size in [*range(1, 201), 1514, 9014, 9596]:
        ((sent, got),) = await bench.check([bench.frame(size)])
        assert got.valid_cycle - sent.first_cycle == 1, f"{size} bytes: latency {got.valid_cycle - sent.first_cycle}"
        assert got.last_cycle - got.first_cycle == sent.beats() - 1, f"{size} bytes: gaps"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def ingress_cuts_what_is_one_byte_too_long(dut: Any) -> None:
    bench = await Bench(dut).start()
    for limit in (0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 60, 64, 65, 1514, 9596):
        bench.settle(limit=limit)
        sizes = [limit - 1, limit, limit + 1, limit + 15, limit + 16, limit + 17, limit + 100, limit]
        await bench.check(bench.frame(size) for size in sizes if size > 0)


@cocotb.test(timeout_time=400, timeout_unit="us")
async def ingress_swallows_the_rest_of_a_cut_frame_at_one_beat_a_cycle(dut: Any) -> None:
    """Also while nothing behind it takes a beat: what is swallowed needs no room."""
    bench = await Bench(dut).start()
    bench.settle(limit=16)
    bench.sink.pause = repeat(False)
    long = await bench.source.send(bench.frame(4096))
    assert long.last_cycle - long.first_cycle + 1 == long.beats(), "the rest was held up"
    bench.sink.pause = repeat(True)
    got = await bench.sink.recv()
    assert got == _expected(long, bench.entries[-1])
    await wait_cycles(dut.clk, 3)
    await bench.check([bench.frame(16), bench.frame(17)])


@cocotb.test(timeout_time=400, timeout_unit="us")
async def ingress_marks_in_the_order_disabled_oversize_bad(dut: Any) -> None:
    bench = await Bench(dut).start()
    for enable in (1, 0):
        for size in (64, 65, 200):
            for user in (0, 0x300, 1, 0x201, 1 | Code.RESET << 1, 1 | 0x7F << 1, 0x7E):
                bench.settle(enable=enable, limit=64)
                await bench.check([bench.frame(size, user)])


@cocotb.test(timeout_time=400, timeout_unit="us")
async def ingress_reads_its_settings_with_a_first_beat_only(dut: Any) -> None:
    """Settings change in each cycle: a frame is judged by those of its first beat, whatever comes later."""
    bench = await Bench(dut).start()

    def change() -> None:
        bench.settle(enable=bench.rng.random() < 0.8, limit=bench.rng.choice((0, 16, 60, 64, 100, 128, 9596)))

    bench.change = change
    lengths = [bench.rng.choice((1, 16, 60, 64, 65, 100, 128, 129, 300)) for _ in range(400)]
    users = [bench.rng.choice((0, 0, 0x100, 1, 1 | 33 << 1)) for _ in lengths]
    await bench.check(bench.frame(size, user) for size, user in zip(lengths, users, strict=True))


@cocotb.test(timeout_time=400, timeout_unit="us")
async def ingress_takes_four_cycles_for_a_short_frame_and_holds_up_no_other(dut: Any) -> None:
    bench = await Bench(dut).start()
    pairs = await bench.check(bench.frame(size) for size in (1, 16, 17, 32, 33, 48) * 4)
    firsts = [sent.first_cycle for sent, _ in pairs]
    assert {two - one for one, two in pairwise(firsts)} == {PACE}
    await wait_cycles(dut.clk, 8)
    bench.refused.clear()
    pairs = await bench.check(bench.frame(size) for size in (49, 60, 64, 65, 49, 49, 1514, 200, 61))
    assert not bench.refused, f"tready fell in cycles {bench.refused}"
    assert pairs[-1][0].last_cycle - pairs[0][0].first_cycle + 1 == sum(sent.beats() for sent, _ in pairs)


@cocotb.test(timeout_time=400, timeout_unit="us")
async def ingress_keeps_its_rules_under_any_back_pressure(dut: Any) -> None:
    bench = await Bench(dut).start()
    rng = bench.rng
    bench.settle(limit=128)
    for name in PAUSES:
        bench.source.pause = PAUSES[rng.choice(list(PAUSES))](seeded(name, "in"))
        bench.sink.pause = PAUSES[name](seeded(name, "out"))
        bench.settle(enable=1, limit=128)
        sizes = [rng.choice((1, 15, 16, 17, 48, 49, 60, 64, 127, 128, 129, 144, 145, 300)) for _ in range(40)]
        await bench.check(bench.frame(size, rng.choice((0, 0, 0, 1, 1 | 40 << 1))) for size in sizes)
    assert all(checker.stalls for checker in bench.checkers), "no beat ever waited"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def ingress_starts_over_at_a_reset_in_mid_frame(dut: Any) -> None:
    """In the middle of a frame, and in the part of one that is swallowed."""
    bench = await Bench(dut).start()
    for limit in (9596, 64):
        bench.settle(limit=limit)
        await bench.check([bench.frame(60), bench.frame(60)])
        bench.source.append(bench.frame(1000))
        await wait_cycles(dut.clk, 20)
        assert dut.idle.value == 0, "idle in mid-frame"
        bench.source.clear()
        bench.sink.clear()
        await reset(dut.rst, dut.clk, 2)
        bench.source.clear()
        bench.sink.clear()
        ((_, got),) = await bench.check([bench.frame(60)])
        assert unpack(got.meta)["seq"] == 0


@cocotb.test(timeout_time=400, timeout_unit="us")
async def ingress_sequence_number_wraps(dut: Any) -> None:
    bench = await Bench(dut).start()
    dut.seq_reg.value = bench.seq = 65534
    pairs = await bench.check(bench.frame(60) for _ in range(4))
    assert [unpack(got.meta)["seq"] for _, got in pairs] == [65534, 65535, 0, 1]
