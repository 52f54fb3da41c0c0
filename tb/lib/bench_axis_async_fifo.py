"""Bench of ``axis_async_fifo``: two clocks of any ratio, and resets of one side in mid-frame."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from cocotb.triggers import RisingEdge, Timer

from models.lib import CutFrame, cut_frame_fits
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import CORE_PS, WIRE_PS, cycle_at, edge_ps, period_ps, start_clock, wait_cycles
from tb.lib.designs import current
from tb.lib.pause import PAUSES
from tb.lib.protocol import ProtocolChecker
from tb.lib.suite import boundary_lengths, four_state, random_frame, seeded, test

__all__: list[str] = []

DEPTH = int(current().parameters["DEPTH"])
BESIDE = 2
"""Beats that may stand in registers beside the memory."""
LATENCY = 3
"""Cycles of ``m_clk`` from the handshake to ``tvalid``, as the module's header states it; one more where edges meet."""

# The wire's clock and the core's; then equal in phase and out of phase; then 100 ppm apart (1 ps in 10 ns is exact).
RATIOS = {
    "wire_to_core": (WIRE_PS, CORE_PS, 0),
    "core_to_wire": (CORE_PS, WIRE_PS, 700),
    "equal": (CORE_PS, CORE_PS, 0),
    "equal_shifted": (CORE_PS, CORE_PS, 1300),
    "plus_100ppm": (10000, 10001, 0),
    "minus_100ppm": (10001, 10000, 0),
    "slow_reader": (2000, 14000, 500),
    "slow_writer": (14000, 2000, 500),
}
lengths_seen = cover.point("axis_async_fifo.lengths", ["wire_to_core", "core_to_wire", "equal", "equal_shifted"])
pauses_seen = cover.point(
    "axis_async_fifo.pauses", ["wire_to_core", "core_to_wire", "equal", "plus_100ppm", "minus_100ppm"]
)
rates_seen = cover.point("axis_async_fifo.rate", ["wire_to_core", "core_to_wire", "plus_100ppm", "equal"])
resets_seen = cover.point(
    "axis_async_fifo.reset",
    ["write_idle", "write_in_frame", "read_idle", "read_in_frame", "both", "cut_seen", "last_beat_waits", "again"],
)


class Crossing:
    """Source on ``s_clk``, sink on ``m_clk``, a protocol checker on each side."""

    def __init__(self, dut: Any, ratio: str) -> None:
        self.dut = dut
        self.ratio = ratio
        s_ps, m_ps, offset = RATIOS[ratio]
        start_clock(dut.s_clk, s_ps)
        start_clock(dut.m_clk, m_ps, offset_ps=offset)
        self.rng = seeded("crossing", ratio)
        dut.s_rst.value = dut.m_rst.value = 1
        self.source = AxisSource(dut, "s_axis", dut.s_clk, rng=seeded("noise"), undefined=four_state())
        self.sink = AxisSink(dut, "m_axis", dut.m_clk)
        self.checkers = [
            ProtocolChecker(dut, "s_axis", dut.s_clk, dut.s_rst),
            ProtocolChecker(dut, "m_axis", dut.m_clk, dut.m_rst),
        ]
        self.width = len(dut.s_axis_tdata) // 8

    async def start(self) -> Crossing:
        await wait_cycles(self.dut.s_clk, 4)
        await wait_cycles(self.dut.m_clk, 4)
        self.dut.s_rst.value = 0
        await RisingEdge(self.dut.m_clk)
        self.dut.m_rst.value = 0
        return self

    def frame(self, length: int) -> AxisFrame:
        """Queue a random good frame."""
        frame = random_frame(self.rng, length, self.dut)
        frame.user &= ~1
        self.source.append(frame)
        return frame

    async def collect(self, sent: list[AxisFrame]) -> list[AxisFrame]:
        """All that was sent comes out whole and in order, and nothing else."""
        received = []
        for frame in sent:
            out = await self.sink.recv()
            assert out == frame, f"sent {frame}\ncame {out}"
            received.append(out)
        return received

    async def quiet(self) -> None:
        """Nothing comes any more."""
        await wait_cycles(self.dut.s_clk, 12)
        await wait_cycles(self.dut.m_clk, 12)
        assert not self.sink.frames, f"unexpected: {self.sink.frames[0]}"
        assert not self.sink.partial, "a frame began that has no end"

    def reset_write(self, value: int) -> None:
        """Drive the write side's reset; the source forgets what it has."""
        self.dut.s_rst.value = value
        self.source.clear()

    def reset_read(self, value: int) -> None:
        """Drive the read side's reset; the sink forgets what it has."""
        self.dut.m_rst.value = value
        self.sink.clear()

    def latency(self, frame: AxisFrame, out: AxisFrame) -> int:
        """Cycles of ``m_clk`` from the first beat's handshake to the cycle in which ``tvalid`` rises."""
        taken = edge_ps(self.dut.s_clk, frame.first_cycle)
        return out.valid_cycle - cycle_at(self.dut.m_clk, taken) - 1


async def _stop(dut: Any) -> None:
    """Between two ratios: let both clocks run a little, so that nothing is left of a write."""
    await wait_cycles(dut.s_clk, 2)
    await wait_cycles(dut.m_clk, 2)


async def _every_length(dut: Any, ratio: str) -> None:
    x = await Crossing(dut, ratio).start()
    # The first frame may wait until both sides are open; after that the latency holds.
    await x.collect([x.frame(1)])
    for length in boundary_lengths(x.width):
        sent = x.frame(length)
        (out,) = await x.collect([sent])
        found = x.latency(sent, out)
        meets = ratio == "equal" and found == LATENCY + 1
        assert found == LATENCY or meets, f"latency {found} cycles of m_clk: {sent}, {out}"
        await wait_cycles(dut.s_clk, x.rng.randint(1, 4))
    await x.collect([x.frame(length) for length in boundary_lengths(x.width)])
    lengths_seen(ratio)
    await x.quiet()
    await _stop(dut)


@test
async def crossing_wire_to_core_passes_every_length_within_its_latency(dut: Any) -> None:
    await _every_length(dut, "wire_to_core")


@test
async def crossing_core_to_wire_passes_every_length_within_its_latency(dut: Any) -> None:
    await _every_length(dut, "core_to_wire")


@test
async def crossing_of_equal_clocks_passes_every_length_within_its_latency(dut: Any) -> None:
    await _every_length(dut, "equal")


@test
async def crossing_of_shifted_clocks_passes_every_length_within_its_latency(dut: Any) -> None:
    await _every_length(dut, "equal_shifted")


async def _pauses(dut: Any, ratio: str, pairs: int) -> None:
    """Random pairs of generators; the source's and the sink's each come up at least once."""
    x = await Crossing(dut, ratio).start()
    names = list(PAUSES)
    for index in range(pairs):
        source, sink = names[index % len(names)], x.rng.choice(names)
        x.source.pause, x.sink.pause = PAUSES[source](x.rng), PAUSES[sink](x.rng)
        await x.collect([x.frame(x.rng.randint(1, 4 * x.width + 1)) for _ in range(8)])
    x.source.pause = x.sink.pause = None
    pauses_seen(ratio)
    await x.quiet()
    await _stop(dut)


@test
async def crossing_wire_to_core_keeps_frames_whole_under_back_pressure(dut: Any) -> None:
    await _pauses(dut, "wire_to_core", 16)


@test
async def crossing_core_to_wire_keeps_frames_whole_under_back_pressure(dut: Any) -> None:
    await _pauses(dut, "core_to_wire", 16)


@test
async def crossing_of_equal_clocks_keeps_frames_whole_under_back_pressure(dut: Any) -> None:
    await _pauses(dut, "equal", 8)


@test
async def crossing_100_ppm_up_keeps_frames_whole_under_back_pressure(dut: Any) -> None:
    await _pauses(dut, "plus_100ppm", 8)


@test
async def crossing_100_ppm_down_keeps_frames_whole_under_back_pressure(dut: Any) -> None:
    await _pauses(dut, "minus_100ppm", 8)


async def _rate(dut: Any, ratio: str) -> None:
    """A long frame takes one cycle a beat of the slower clock, within the two cycles that a beat's edges can slip."""
    x = await Crossing(dut, ratio).start()
    await x.collect([x.frame(1)])
    beats = 400
    sent = x.frame(beats * x.width)
    (out,) = await x.collect([sent])
    slower = max(period_ps(dut.s_clk), period_ps(dut.m_clk))
    took = (out.last_cycle - out.first_cycle) * period_ps(dut.m_clk)
    assert took <= (beats + 1) * slower, f"{beats} beats took {took / slower:.1f} cycles of the slower clock"
    rates_seen(ratio)
    await _stop(dut)


@test
async def crossing_wire_to_core_runs_at_the_rate_of_the_core(dut: Any) -> None:
    await _rate(dut, "wire_to_core")


@test
async def crossing_core_to_wire_runs_at_the_rate_of_the_core(dut: Any) -> None:
    await _rate(dut, "core_to_wire")


@test
async def crossing_100_ppm_apart_runs_at_the_slower_rate(dut: Any) -> None:
    await _rate(dut, "plus_100ppm")


@test
async def crossing_of_equal_clocks_runs_at_their_rate(dut: Any) -> None:
    await _rate(dut, "equal")


@test
async def crossing_holds_depth_beats(dut: Any) -> None:
    x = await Crossing(dut, "wire_to_core").start()
    await x.collect([x.frame(1)])
    begun = x.checkers[0].beats
    x.sink.pause = repeat(False)
    await wait_cycles(dut.m_clk, 2)
    sent = [x.frame(2 * x.width) for _ in range(DEPTH)]
    await wait_cycles(dut.s_clk, 4 * DEPTH)
    held = x.checkers[0].beats - begun
    assert DEPTH <= held <= DEPTH + BESIDE, f"{held} beats went into a stalled FIFO of {DEPTH}"
    x.sink.pause = None
    await x.collect(sent)
    await x.quiet()


# ----------------------------------------------------------------------------------------------------------- resets


async def _write_reset(dut: Any, ratio: str) -> None:
    """The write side is reset ``delay`` cycles into a frame: the reader sees it end, bad; what follows is whole."""
    x = await Crossing(dut, ratio).start()
    await x.collect([x.frame(1)])
    for delay in (*range(1, 12), 40):
        for sink in ("none", "one_in"):
            x.sink.pause = None if sink == "none" else PAUSES[sink](x.rng)
            first, second = x.frame(x.width), x.frame(6 * x.width)
            before = x.checkers[0].beats
            await wait_cycles(dut.s_clk, delay)
            x.reset_write(1)
            await wait_cycles(dut.s_clk, 1 + delay % 2)
            written = x.checkers[0].beats - before
            x.reset_write(0)
            fresh = [x.frame(length) for length in (2 * x.width + 3, 1)]
            received: list[AxisFrame] = []
            while not received or received[-1].meta != fresh[-1].meta:
                received.append(await x.sink.recv())
            await x.quiet()
            assert received[-2:] == fresh, f"after the reset came {received[-2:]}"
            old = received[:-2]
            if written:
                assert old and old[0] == first, f"the whole frame before the reset came as {old}"
            expected = [first] * (written >= 1) + [second] * (written >= 7)
            cut = second.data[: (written - 1) * x.width] if 2 <= written < 7 else b""
            if cut:
                assert len(old) == len(expected) + 1, f"{len(old)} frames came of {written} beats: {old}"
                wrong = cut_frame_fits(CutFrame(cut, x.width), old[-1].data, old[-1].user)
                assert wrong is None, wrong
                assert old[-1].data[: len(cut)] == cut, "beats that had been taken are missing"
                assert old[-1].meta == second.meta
                resets_seen("cut_seen")
            else:
                assert old == expected, f"{written} beats were written, {old} came"
            resets_seen("write_in_frame" if cut else "write_idle")
    await _stop(dut)


@test
async def write_reset_ends_the_cut_frame_for_a_slower_reader(dut: Any) -> None:
    await _write_reset(dut, "wire_to_core")


@test
async def write_reset_ends_the_cut_frame_for_a_faster_reader(dut: Any) -> None:
    await _write_reset(dut, "core_to_wire")


@test
async def write_reset_waits_for_a_reader_that_stands_still(dut: Any) -> None:
    """What was taken isn't lost, however long the reader stands still; the cut frame ends, the next ones pass."""
    x = await Crossing(dut, "wire_to_core").start()
    await x.collect([x.frame(1)])
    for still in (20, 150, 400):
        x.sink.pause = iter([False] * still + [True] * 4000)
        await wait_cycles(dut.m_clk, 2)
        whole, cut = x.frame(3 * x.width), x.frame(50 * x.width)
        await wait_cycles(dut.s_clk, 12)
        x.reset_write(1)
        await wait_cycles(dut.s_clk, 1)
        x.reset_write(0)
        fresh = x.frame(2 * x.width + 1)
        received = [await x.sink.recv() for _ in range(3)]
        assert received[0] == whole, f"before the reset was sent {whole}, came {received[0]}"
        wrong = cut_frame_fits(CutFrame(cut.data, x.width), received[1].data, received[1].user)
        assert wrong is None, wrong
        assert received[2] == fresh, f"after the reset was sent {fresh}, came {received[2]}"
        await x.quiet()
    await _stop(dut)


async def _read_reset(dut: Any, ratio: str) -> None:
    """The read side is reset in a frame: the rest of the frame being written is lost, the next one passes whole."""
    x = await Crossing(dut, ratio).start()
    await x.collect([x.frame(1)])
    for delay in (0, *range(2, 14), 45):
        for sink in ("none", "one_in"):
            x.sink.pause = None if sink == "none" else PAUSES[sink](x.rng)
            long = x.frame(30 * x.width)
            await wait_cycles(dut.s_clk, delay)
            x.reset_read(1)
            await wait_cycles(dut.m_clk, 1 + delay % 2)
            x.reset_read(0)
            cut = long.first_cycle >= 0 and long.last_cycle < 0
            resets_seen("read_in_frame" if cut else "read_idle")
            x.sink.pause = None
            # The write side learns of the reset within a few cycles; until then what it takes may be lost.
            await x.source.drained()
            await wait_cycles(dut.s_clk, 8)
            fresh = [x.frame(length) for length in (2 * x.width + 3, 1, 5 * x.width)]
            received: list[AxisFrame] = []
            while not received or received[-1].meta != fresh[-1].meta:
                received.append(await x.sink.recv())
            await x.quiet()
            old = received[: -len(fresh)]
            assert received[-len(fresh) :] == fresh, f"after the reset came {received}"
            if cut:
                assert not old, f"of a frame that was being written at the reset came {old}"
            else:
                assert old in ([], [long]), f"a frame from before the reset came as {old}"
    await _stop(dut)


@test
async def read_reset_discards_the_frame_being_written_by_a_faster_writer(dut: Any) -> None:
    await _read_reset(dut, "wire_to_core")


@test
async def read_reset_discards_the_frame_being_written_by_a_slower_writer(dut: Any) -> None:
    await _read_reset(dut, "core_to_wire")


@test
async def read_reset_while_a_last_beat_waits_for_room_discards_that_beat(dut: Any) -> None:
    """The FIFO is full when the read side is reset, and what the source offers is a last beat or one near it."""
    x = await Crossing(dut, "core_to_wire").start()
    await x.collect([x.frame(1)])
    for beats in range(DEPTH - 1, DEPTH + BESIDE + 4):
        x.sink.pause = repeat(False)
        await wait_cycles(dut.m_clk, 2)
        long = x.frame(beats * x.width)
        await wait_cycles(dut.s_clk, 2 * DEPTH)
        waits = long.last_cycle < 0
        if waits and str(dut.s_axis_tlast.value) == "1":
            resets_seen("last_beat_waits")
        x.reset_read(1)
        await wait_cycles(dut.m_clk, 2)
        x.reset_read(0)
        x.sink.pause = None
        await x.source.drained()
        await wait_cycles(dut.s_clk, 8)
        await x.collect([x.frame(length) for length in (2 * x.width + 3, 1)])
        await x.quiet()
    await _stop(dut)


def _made_of(sent: list[AxisFrame], out: AxisFrame, width: int) -> int:
    """Index of the frame that ``out`` is, or the cut beginning of; -1 if of none."""
    for index, frame in enumerate(sent):
        if frame.meta == out.meta:
            whole = out == frame
            cut = cut_frame_fits(CutFrame(frame.data, width), out.data, out.user) is None
            return index if whole or cut else -1
    return -1


async def _again_and_again(dut: Any, ratio: str, rounds: int) -> None:
    """Resets of either side at random distances under traffic: what comes is whole, or bad and a beginning; in order.

    When it is over, everything passes again.
    """
    x = await Crossing(dut, ratio).start()
    for _ in range(rounds):
        sent: list[AxisFrame] = []
        received: list[AxisFrame] = []
        x.sink.pause = PAUSES[x.rng.choice(("none", "random", "one_in"))](x.rng)
        for _ in range(x.rng.randint(2, 6)):
            sent += [x.frame(x.rng.randint(1, 6 * x.width)) for _ in range(x.rng.randint(0, 3))]
            await wait_cycles(dut.s_clk, x.rng.choice((0, 1, 2, 5, 20, 70, 150)))
            received += x.sink.frames
            side = x.rng.choice((x.reset_write, x.reset_read))
            clock = dut.s_clk if side == x.reset_write else dut.m_clk
            if side == x.reset_write:
                x.sink._recvQ.clear()
            side(1)
            await wait_cycles(clock, x.rng.randint(1, 3))
            side(0)
        # The write side may still hold back a beat for the read side's sake, or discard the frame that was cut.
        await x.source.drained()
        x.sink.pause = None
        fresh = [x.frame(length) for length in (2 * x.width, 1, 3 * x.width + 1)]
        while not received or received[-1].meta != fresh[-1].meta:
            received.append(await x.sink.recv())
        await x.quiet()
        # The first fresh frame may be lost to a read reset that the write side has only just learnt of.
        assert received[-2:] == fresh[-2:], f"after the resets came {received[-3:]}"
        order = [_made_of([*sent, *fresh], out, x.width) for out in received]
        assert -1 not in order, f"never sent: {received[order.index(-1)]}"
        assert order == sorted(set(order)), f"frames came in the order {order}"
        resets_seen("again")
    await _stop(dut)


@test
async def resets_again_and_again_let_only_whole_or_bad_frames_through(dut: Any) -> None:
    await _again_and_again(dut, "wire_to_core", 20)


@test
async def resets_again_and_again_to_a_faster_reader(dut: Any) -> None:
    await _again_and_again(dut, "core_to_wire", 20)


@test
async def resets_again_and_again_with_a_reader_seven_times_slower(dut: Any) -> None:
    await _again_and_again(dut, "slow_reader", 12)


@test
async def resets_again_and_again_with_a_writer_seven_times_slower(dut: Any) -> None:
    await _again_and_again(dut, "slow_writer", 12)


@test
async def resets_of_both_sides_leave_nothing_behind(dut: Any) -> None:
    """In either order and overlap, in mid-frame: only what is sent afterwards comes out, or the cut frame's bad end."""
    x = await Crossing(dut, "wire_to_core").start()
    for gap in (-3, -1, 0, 1, 3):
        x.frame(20 * x.width)
        await wait_cycles(dut.s_clk, 8)
        first, second = (x.reset_write, x.reset_read) if gap >= 0 else (x.reset_read, x.reset_write)
        first(1)
        await wait_cycles(dut.s_clk, abs(gap))
        second(1)
        await wait_cycles(dut.s_clk, 3)
        await wait_cycles(dut.m_clk, 3)
        first(0)
        await wait_cycles(dut.m_clk, abs(gap))
        second(0)
        fresh = [x.frame(length) for length in (3 * x.width, 1)]
        received: list[AxisFrame] = []
        while not received or received[-1].meta != fresh[-1].meta:
            received.append(await x.sink.recv())
        await x.quiet()
        assert received[-2:] == fresh
        assert all(frame.bad for frame in received[:-2]), f"came after both resets: {received[:-2]}"
        resets_seen("both")


@test
async def reset_of_an_idle_side_makes_no_frame(dut: Any) -> None:
    x = await Crossing(dut, "core_to_wire").start()
    await x.collect([x.frame(9)])
    for rst, clk in ((dut.s_rst, dut.s_clk), (dut.m_rst, dut.m_clk), (dut.s_rst, dut.s_clk)):
        rst.value = 1
        await wait_cycles(clk, 1)
        rst.value = 0
        await x.quiet()
        await x.collect([x.frame(3 * x.width)])
    await x.quiet()


@test
async def nothing_passes_from_side_to_side_within_a_cycle(dut: Any) -> None:
    """With ``s_clk`` and ``m_clk`` between edges, inputs of one side move no output of the other."""
    x = await Crossing(dut, "equal").start()
    for checker in x.checkers:
        checker.stop()
    sent = [x.frame(20 * x.width)]
    x.sink.pause = PAUSES["random"](x.rng)
    quarter = Timer(1000, "ps")
    for _ in range(60):
        await RisingEdge(dut.s_clk)
        await quarter
        before, ready = str(dut.s_axis_tready.value), str(dut.m_axis_tready.value)
        dut.m_axis_tready.value = int(ready != "1")
        await quarter
        assert str(dut.s_axis_tready.value) == before, "s_axis_tready follows m_axis_tready within a cycle"
        dut.m_axis_tready.value = int(ready == "1")
        valid, out = str(dut.s_axis_tvalid.value), (str(dut.m_axis_tvalid.value), str(dut.m_axis_tdata.value))
        dut.s_axis_tvalid.value = int(valid != "1")
        await quarter
        assert (str(dut.m_axis_tvalid.value), str(dut.m_axis_tdata.value)) == out
        dut.s_axis_tvalid.value = int(valid == "1")
    await x.collect(sent)
