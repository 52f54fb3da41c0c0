"""Bench of ``axis_fifo``: cut through, and store and forward with its drops.

Which tests apply is a matter of the design's parameters; tests/lib/test_axis_fifo.py names them for each set.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.lib import CUT_THROUGH_LATENCY, FRAME_MODE_LATENCY, FifoFrame, FrameFifo, Verdict
from tb.lib import cover
from tb.lib.axis import AxisFrame
from tb.lib.clock import cycle, wait_cycles
from tb.lib.designs import current
from tb.lib.pause import PAUSES
from tb.lib.suite import (
    Harness,
    check_every_length,
    check_no_combinational_path,
    check_pause_pairs,
    check_reset_in_mid_frame,
    check_throughput,
    test,
)

__all__: list[str] = []

_PARAMETERS = {name: int(value) for name, value in current().parameters.items()}
DEPTH = _PARAMETERS["DEPTH"]
FRAMES = _PARAMETERS["FRAMES"]
FRAME_MODE = bool(_PARAMETERS["FRAME_MODE"])
DROP_BAD = bool(_PARAMETERS["DROP_BAD"])
DROP_FULL = bool(_PARAMETERS["DROP_FULL"])
LATENCY = FRAME_MODE_LATENCY if FRAME_MODE else CUT_THROUGH_LATENCY
NAME = "axis_fifo_frame" if FRAME_MODE else "axis_fifo_cut"
TOO_LONG = "full" if DROP_FULL else "oversize"
"""Why a frame of more than DEPTH beats is dropped: with DROP_FULL there is no room for it, ever."""
INDEX_BITS = 16
"""Low bits of ``meta`` carry a frame's number, so that a frame or a drop tells which one it was."""

drops_seen = cover.point("axis_fifo.drop", ["bad", "full", "oversize"])
alone_seen = cover.point("axis_fifo.alone", ["bad", "full", "oversize"])
room_seen = cover.point(
    "axis_fifo.room", ["exact_fit", "last_beat_without_room", "frames_full", "drop_then_fit", "depth", "depth_plus_one"]
)


@dataclass
class Drop:
    """One cycle of ``drop_valid``."""

    cycle: int
    verdict: Verdict
    meta: int
    user: int


class Fifo(Harness):
    """The harness with the drop port watched and frames numbered."""

    def __init__(self, dut: Any, *, exact: bool = False) -> None:
        super().__init__(dut, NAME, LATENCY, frame_mode=FRAME_MODE, exact=exact)
        self.drops: list[Drop] = []
        self.most = 0
        self._next = 0
        self._meta_bits = len(dut.s_axis_meta)
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        dut, edge = self.dut, RisingEdge(self.clk)
        await edge
        while str(self.rst.value) != "1":
            await edge
        while True:
            await edge
            valid = str(dut.drop_valid.value)
            assert valid in ("0", "1"), f"drop_valid is {valid}"
            level = int(dut.level.value)
            assert level <= DEPTH, f"level {level} is above DEPTH {DEPTH}"
            self.most = max(self.most, level)
            if valid == "1" and str(self.rst.value) == "0":
                verdict = Verdict(int(dut.drop_cause.value))
                drop = Drop(cycle(self.clk), verdict, int(dut.drop_meta.value), int(dut.drop_user.value))
                assert verdict is not Verdict.DELIVERED, f"drop without a cause: {drop}"
                drops_seen(verdict.name.lower())
                self.drops.append(drop)

    def numbered(self, beats: int, *, bad: bool = False, length: int | None = None) -> AxisFrame:
        """A frame of ``beats`` beats with the next number in ``meta``, good unless ``bad``."""
        if length is None:
            length = (beats - 1) * self.s_width + self.rng.randint(1, self.s_width)
        frame = self.frame(length)
        frame.user = frame.user & ~1 | bad
        high = self.rng.getrandbits(self._meta_bits - INDEX_BITS) << INDEX_BITS
        frame.meta = high | self._next
        self._next += 1
        return frame

    async def settle(self, cycles: int = 12) -> None:
        """Wait until all that was sent has been taken and what can come out came."""
        await self.source.drained()
        await wait_cycles(self.clk, cycles)

    async def empty(self) -> None:
        """Let everything come out."""
        self.sink.pause = None
        await self.source.drained()
        for _ in range(4 * DEPTH + 200):
            await RisingEdge(self.clk)
            if int(self.dut.level.value) == 0 and str(self.dut.m_axis_tvalid.value) == "0":
                break
        await wait_cycles(self.clk, 6)
        assert int(self.dut.level.value) == 0, f"level {int(self.dut.level.value)} in an empty FIFO"

    def account(self, sent: list[AxisFrame]) -> Counter[Verdict]:
        """Close the books: every frame came out whole and in order, or was dropped once for a reason that it allows."""
        received = {f.meta & (1 << INDEX_BITS) - 1: f for f in self.sink.frames}
        order = list(received)
        assert len(order) == len(self.sink.frames), "a frame came out twice"
        assert order == sorted(order), f"frames came out in the order {order}"
        dropped = {d.meta & (1 << INDEX_BITS) - 1: d for d in self.drops}
        assert len(dropped) == len(self.drops), "a frame was reported twice"
        assert list(dropped) == sorted(dropped), f"drops were reported in the order {list(dropped)}"
        history: list[FifoFrame] = []
        verdicts: list[Verdict] = []
        for frame in sent:
            number = frame.meta & (1 << INDEX_BITS) - 1
            assert (number in received) != (number in dropped), (
                f"frame {number} is {'both' if number in received else 'neither'} delivered and dropped: {frame}"
            )
            out = received.get(number)
            if out is not None:
                assert out == frame, f"sent {frame}\ncame {out}"
                verdicts.append(Verdict.DELIVERED)
            else:
                drop = dropped[number]
                assert (drop.meta, drop.user) == (frame.meta, frame.user), f"{drop} of {frame}"
                late = drop.cycle - frame.last_cycle
                assert 1 <= late <= 3, f"the drop was reported {late} cycles after the last beat: {frame}"
                verdicts.append(drop.verdict)
            cycles = (out.first_cycle, out.last_cycle) if out else (-1, -1)
            history.append(
                FifoFrame(frame.beats(self.s_width), frame.bad, frame.first_cycle, frame.last_cycle, *cycles)
            )
        model = FrameFifo(DEPTH, FRAMES, drop_bad=DROP_BAD, drop_full=DROP_FULL)
        for frame, verdict, allowed in zip(sent, verdicts, model.allowed(history), strict=True):
            assert verdict in allowed, f"{verdict.name}, allowed {sorted(v.name for v in allowed)}: {frame}"
        delivered = [f for f, v in zip(sent, verdicts, strict=True) if v is Verdict.DELIVERED]
        self.check_cycles(delivered, self.sink.frames)
        assert len(sent) == len(received) + len(dropped)
        return Counter(verdicts)

    def begin(self) -> None:
        """Open new books."""
        self.sink._recvQ.clear()
        self.drops.clear()
        self.most = 0
        self._next = 0

    def expect(self, counted: Counter[Verdict], **causes: int) -> None:
        """These drops and no others."""
        found = {v.name.lower(): counted[v] for v in (Verdict.BAD, Verdict.FULL, Verdict.OVERSIZE)}
        assert found == {"bad": 0, "full": 0, "oversize": 0} | causes, f"drops {found}, expected {causes}"
        if sum(causes.values()) and len(causes) == 1:
            alone_seen(next(iter(causes)))


async def _fifo(dut: Any, *, exact: bool = False) -> Fifo:
    fifo = Fifo(dut, exact=exact)
    await fifo.start()
    return fifo


# ------------------------------------------------------------------------------------------------------- every mode


@test
async def fifo_passes_every_length_in_the_cycle_of_the_model(dut: Any) -> None:
    h = await _fifo(dut, exact=not DROP_BAD)
    frame = h.frame
    if DROP_BAD:
        h.frame = lambda length, **fields: _good(frame(length, **fields))  # type: ignore[method-assign]
    await check_every_length(h)
    assert not h.drops


def _good(frame: AxisFrame) -> AxisFrame:
    frame.user &= ~1
    return frame


@test
async def fifo_has_no_bubble_under_any_back_pressure(dut: Any) -> None:
    h = await _fifo(dut, exact=True)
    await check_pause_pairs(h)
    assert not h.drops


@test
async def fifo_takes_a_beat_each_cycle(dut: Any) -> None:
    h = await _fifo(dut)
    frame = h.frame
    h.frame = lambda length, **fields: _good(frame(length, **fields))  # type: ignore[method-assign]
    await check_throughput(h)
    assert not h.drops


@test
async def fifo_forgets_everything_at_reset(dut: Any) -> None:
    h = await _fifo(dut)
    frame = h.frame
    h.frame = lambda length, **fields: _good(frame(length, **fields))  # type: ignore[method-assign]
    await check_reset_in_mid_frame(h)
    assert not h.drops
    await h.empty()


@test
async def fifo_has_no_path_from_side_to_side(dut: Any) -> None:
    h = Harness(dut, NAME, LATENCY, protocol=False)
    await h.start()
    if not FRAME_MODE:
        await check_no_combinational_path(h)
        return
    # In frame mode a long frame would never come out: many short ones stand in for it.
    for _ in range(30):
        h.source.append(_good(h.frame(2 * h.s_width)))
    long = h.frame
    h.frame = lambda length, **fields: _good(long(2 * h.s_width, **fields))  # type: ignore[method-assign]
    await check_no_combinational_path(h)


# ------------------------------------------------------------------------------------------------------ cut through


@test
async def cut_through_holds_depth_beats_and_says_so(dut: Any) -> None:
    h = await _fifo(dut)
    h.sink.pause = repeat(False)
    await wait_cycles(h.clk, 2)
    frames = [h.frame(2 * h.s_width) for _ in range(DEPTH)]
    for frame in frames:
        h.source.append(frame)
    await wait_cycles(h.clk, 3 * DEPTH)
    held = h.checkers[0].beats
    assert DEPTH <= held <= DEPTH + FrameFifo.BEATS_BESIDE, f"{held} beats went into a stalled FIFO of {DEPTH}"
    assert h.most == DEPTH, f"level rose to {h.most}"
    h.sink.pause = None
    for frame in frames:
        assert await h.sink.recv() == frame
    await h.empty()


@test
async def cut_through_passes_a_frame_longer_than_itself(dut: Any) -> None:
    h = await _fifo(dut, exact=True)
    for source, sink in (("none", "none"), ("none", "one_in"), ("bursty", "random")):
        h.pause(source, sink)
        await h.transfer([h.frame(5 * DEPTH * h.s_width - 1), h.frame(1)])
    await h.quiet()
    assert not h.drops


# ------------------------------------------------------------------------------------------------------- frame mode


@test
async def frame_mode_never_shows_a_partial_frame(dut: Any) -> None:
    """However slowly a frame comes in, it goes out without a gap."""
    h = await _fifo(dut)
    for name in PAUSES:
        h.begin()
        h.pause(name, "none")
        sent = [h.numbered(beats) for beats in (2, 5, 1, DEPTH, 3)]
        for frame in sent:
            h.source.append(frame)
            await h.source.drained()
            await wait_cycles(h.clk, DEPTH + 4)
        await h.empty()
        assert h.account(sent)[Verdict.DELIVERED] == len(sent)
        for out in h.sink.frames:
            took = out.last_cycle - out.valid_cycle + 1
            assert took == out.beats(h.m_width), f"{out} took {took} cycles"


@test
async def frame_of_depth_beats_fits_and_a_longer_one_is_dropped(dut: Any) -> None:
    h = await _fifo(dut)
    sent = []
    for beats in (1, DEPTH, DEPTH + 1, 2, DEPTH + 1, DEPTH + 2, 3 * DEPTH, 1, DEPTH, 1):
        frame = h.numbered(beats)
        sent.append(frame)
        await h.source.send(frame)
        await h.empty()
        room_seen("depth" if beats == DEPTH else "depth_plus_one") if DEPTH <= beats <= DEPTH + 1 else None
    h.expect(h.account(sent), **{TOO_LONG: 4})


@test
async def frame_too_long_spares_its_neighbours(dut: Any) -> None:
    """Back to back with whole frames before and after, under every sink."""
    h = await _fifo(dut)
    for name in PAUSES:
        h.begin()
        h.pause("none", name)
        sent = [h.numbered(beats) for beats in (2, DEPTH + 1, 1, 2 * DEPTH, 3)]
        for frame in sent:
            h.source.append(frame)
            if DROP_FULL:
                await h.source.drained()
                await wait_cycles(h.clk, 20 * 8)
        await h.empty()
        h.expect(h.account(sent), **{TOO_LONG: 2})


@test
async def full_fifo_makes_the_source_wait(dut: Any) -> None:
    """Without DROP_FULL nothing is lost for want of room, by beats or by frames."""
    h = await _fifo(dut)
    for beats in (1, 3, DEPTH // 2 + 1, DEPTH):
        h.begin()
        h.sink.pause = repeat(False)
        await wait_cycles(h.clk, 2)
        sent = [h.numbered(beats) for _ in range(max(3, 2 * FRAMES))]
        for frame in sent:
            h.source.append(frame)
        await wait_cycles(h.clk, 4 * DEPTH)
        taken = sum(frame.last_cycle >= 0 for frame in sent)
        fit = min(FRAMES, DEPTH // beats)
        assert fit <= taken <= fit + FrameFifo.BEATS_BESIDE, f"{taken} frames of {beats} beats went in, {fit} fit"
        assert str(dut.s_axis_tready.value) == "0"
        await h.empty()
        h.expect(h.account(sent))


@test
async def bad_frames_pass_where_they_are_not_dropped(dut: Any) -> None:
    h = await _fifo(dut)
    sent = [h.numbered(h.rng.randint(1, 4), bad=bool(i % 2)) for i in range(20)]
    for frame in sent:
        h.source.append(frame)
    await h.empty()
    h.expect(h.account(sent))
    assert sum(frame.bad for frame in h.sink.frames) == 10


@test
async def bad_frames_are_dropped_and_good_ones_are_not(dut: Any) -> None:
    """Alternating, single-beat, back to back, first and last after reset: only the bad ones go, as bad."""
    h = await _fifo(dut)
    for pattern in ("10", "01", "1", "0", "110", "0111"):
        for beats in (1, 2, 3, DEPTH // 2):
            h.begin()
            sent = [h.numbered(beats, bad=pattern[i % len(pattern)] == "1") for i in range(12)]
            for frame in sent:
                h.source.append(frame)
                if DROP_FULL and beats > 1:
                    await h.source.drained()
            await h.empty()
            counted = h.account(sent)
            h.expect(counted, **({"bad": sum(f.bad for f in sent)} if any(f.bad for f in sent) else {}))
            assert counted[Verdict.DELIVERED] == sum(not f.bad for f in sent)


@test
async def bad_frame_longer_than_the_fifo_counts_as_bad(dut: Any) -> None:
    h = await _fifo(dut)
    sent = []
    for beats in (DEPTH + 1, 2 * DEPTH, 1):
        sent.append(h.numbered(beats, bad=True))
        await h.source.send(sent[-1])
        await h.empty()
    h.expect(h.account(sent), bad=3)


@test
async def reason_of_an_early_mark_is_not_taken_for_bad(dut: Any) -> None:
    """``tuser`` counts on the last beat only: all ones on the beats before it drop nothing."""
    h = await _fifo(dut)
    sent = [h.numbered(4) for _ in range(8)]
    h.source._rng = _Ones()  # type: ignore[assignment]
    for frame in sent:
        await h.source.send(frame)
    await h.empty()
    h.expect(h.account(sent))


class _Ones:
    """Stands in for the source's noise: every undefined bit is 1."""

    def getrandbits(self, bits: int) -> int:
        return (1 << bits) - 1


# -------------------------------------------------------------------------------------------------------- drop full


@test
async def full_fifo_drops_the_frame_whose_last_beat_has_no_room(dut: Any) -> None:
    """The sink stands still; ``free`` beats are left when a frame of ``free + 1`` or ``free`` beats comes."""
    h = await _fifo(dut)
    h.sink.pause = repeat(False)
    await wait_cycles(h.clk, 2)
    await h.source.send(h.numbered(2))
    await wait_cycles(h.clk, 8)
    beside = 2 - int(dut.level.value)
    assert 0 <= beside <= FrameFifo.BEATS_BESIDE, f"level {int(dut.level.value)} with two beats held"
    await h.empty()
    for free in range(1, 6):
        for more in (0, 1, 2):
            h.begin()
            h.sink.pause = repeat(False)
            await wait_cycles(h.clk, 2)
            sent = [h.numbered(2), h.numbered(DEPTH - free + beside - 2)]
            for frame in sent:
                h.source.append(frame)
            await h.settle()
            room = DEPTH - int(dut.level.value)
            assert room == free, f"level says that {room} beats are free, not {free}"
            sent.append(h.numbered(free + more))
            h.source.append(sent[-1])
            # Whatever became of it, a frame of the room that is left now must fit, back to back.
            if more:
                sent.append(h.numbered(free))
                h.source.append(sent[-1])
            await h.settle()
            await h.empty()
            counted = h.account(sent)
            h.expect(counted, **({"full": 1} if more else {}))
            room_seen("last_beat_without_room" if more == 1 else "drop_then_fit" if more else "exact_fit")


@test
async def full_fifo_drops_frames_beyond_the_most_that_it_holds(dut: Any) -> None:
    h = await _fifo(dut)
    h.sink.pause = repeat(False)
    await wait_cycles(h.clk, 2)
    sent = [h.numbered(1) for _ in range(2 * FRAMES)]
    for frame in sent:
        h.source.append(frame)
    await h.settle()
    await h.empty()
    counted = h.account(sent)
    assert FRAMES <= counted[Verdict.DELIVERED] <= FRAMES + FrameFifo.BEATS_BESIDE
    h.expect(counted, full=len(sent) - counted[Verdict.DELIVERED])
    room_seen("frames_full")


@test
async def drop_full_never_lowers_ready(dut: Any) -> None:
    h = await _fifo(dut)
    h.sink.pause = repeat(False)
    for _ in range(20):
        h.source.append(h.numbered(h.rng.randint(1, 2 * DEPTH), bad=h.rng.random() < 0.3))
    await wait_cycles(h.clk, 2)
    begun = h.checkers[0].stalls
    await h.source.drained()
    assert h.checkers[0].stalls == begun == 0, "tready fell"
    await h.empty()


@test
async def storm_closes_the_books(dut: Any) -> None:
    """Every pair of generators, all lengths, a third of the frames bad: each has a verdict that the model allows."""
    h = await _fifo(dut)
    for source in PAUSES:
        for sink in PAUSES:
            h.begin()
            h.pause(source, sink)
            h.pauses(source, sink)
            sent = []
            for _ in range(14):
                beats = h.rng.choice((1, 1, 2, 3, h.rng.randint(1, DEPTH), DEPTH, DEPTH + 1))
                sent.append(h.numbered(beats, bad=h.rng.random() < 0.3))
                h.note(sent[-1])
                h.source.append(sent[-1])
            await h.source.drained()
            h.sink.pause = None
            await h.empty()
            counted = h.account(sent)
            if not DROP_BAD:
                assert not counted[Verdict.BAD]
            if not DROP_FULL:
                assert not counted[Verdict.FULL]


@test
async def reset_in_mid_drop_leaves_no_trace(dut: Any) -> None:
    """A reset while an oversize frame is swallowed: the next frame passes, and no drop is reported for the old one."""
    h = await _fifo(dut)
    for delay in range(DEPTH - 2, DEPTH + 6):
        h.source.append(h.numbered(3 * DEPTH))
        await wait_cycles(h.clk, delay)
        await h.restart()
        h.begin()
        sent = [h.numbered(beats) for beats in (1, DEPTH, 2)]
        for frame in sent:
            await h.source.send(frame)
            await h.empty()
        h.expect(h.account(sent))
