"""cocotb tests of the frame BFM: it and the agents in Python do the same to two like devices, cycle by cycle."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge, RisingEdge

from models.meta import META_W
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.native.bfm import FrameBfm
from tb.native.harness import Harness, SinkResult, StreamError

SEED = int(os.environ.get("NICLOOP_SEED", "1"))
LENGTHS = [1, 15, 16, 17, 60, 61, 64, 65, 127, 200, 1514]


def frames_for(lengths: list[int], rng: random.Random) -> list[AxisFrame]:
    """Frames with random bytes, tuser and meta."""
    return [AxisFrame(rng.randbytes(size), rng.getrandbits(10), rng.getrandbits(META_W)) for size in lengths]


def words(values: list[int]) -> np.ndarray:
    """meta words, uint32[n, META_W / 32]."""
    raw = b"".join(value.to_bytes(META_W // 8, "little") for value in values)
    return np.frombuffer(raw, "<u4").reshape(len(values), -1)


def push(harness: Harness, frames: list[AxisFrame], **more: Any) -> None:
    """The same frames to the BFM."""
    data = np.frombuffer(b"".join(frame.data for frame in frames), np.uint8)
    offset = np.cumsum([0, *(len(frame.data) for frame in frames)])
    user = np.array([frame.user for frame in frames], np.uint32)
    harness.push("in", data, offset, user=user, meta=words([frame.meta for frame in frames]), **more)


async def queue_both(dut: Any, source: AxisSource, harness: Harness, frames: list[AxisFrame]) -> None:
    """The same frames to the agent and to the BFM, between two rising edges: both offer them two edges on."""
    await FallingEdge(dut.clk)
    for frame in frames:
        source.append(frame)
    push(harness, frames)


def fetched(result: SinkResult) -> list[tuple[bytes, int, int]]:
    """Frames of a result as (data, user, meta)."""
    return [
        (result.frame(i), int(result.user[i]), int.from_bytes(result.meta[i].astype("<u4").tobytes(), "little"))
        for i in range(len(result))
    ]


def harness_for(seed: int = SEED) -> Harness:
    return Harness(["in"], ["out"], {"fifo": ("in", "out", False)}, seed=seed)


async def start(dut: Any, harness: Harness, pause: str = "none") -> tuple[FrameBfm, AxisSource, AxisSink, int]:
    """Clock, agents, BFM, the pause of both sinks, reset; the last is the agents' number of the BFM's cycle 0."""
    start_clock(dut.clk)
    dut.fault_tready.value = dut.fault_tvalid.value = 0
    source = AxisSource(dut, "s_axis", dut.clk, rng=random.Random(SEED))
    sink = AxisSink(dut, "m_axis", dut.clk, pause=None if pause == "none" else PAUSES[pause](random.Random(SEED)))
    harness.set_pause("out", pause)
    bfm = FrameBfm(dut, harness)
    await reset(dut.rst, dut.clk)
    return bfm, source, sink, cycle(dut.clk)


@cocotb.test()
async def test_bfm_and_agents_give_the_same_bytes_in_the_same_cycles(dut: Any) -> None:
    rng = random.Random(SEED)
    harness = harness_for()
    bfm, source, sink, base = await start(dut, harness)
    for burst in range(6):
        frames = frames_for(rng.choices(LENGTHS, k=20), rng)
        await queue_both(dut, source, harness, frames)
        result = await bfm.play()
        received = [await sink.recv() for _ in frames]
        taken, came = result.sources["in"], result.sinks["out"]
        assert fetched(came) == [(frame.data, frame.user, frame.meta) for frame in frames], f"burst {burst}: bytes"
        assert received == frames, f"burst {burst}: bytes of the agents"
        assert taken.valid.tolist() == [frame.valid_cycle - base for frame in frames]
        assert taken.first.tolist() == [frame.first_cycle - base for frame in frames]
        assert taken.last.tolist() == [frame.last_cycle - base for frame in frames]
        assert came.valid.tolist() == [frame.valid_cycle - base for frame in received]
        assert came.first.tolist() == [frame.first_cycle - base for frame in received]
        assert came.last.tolist() == [frame.last_cycle - base for frame in received]
        await wait_cycles(dut.clk, rng.randint(0, 3))


@cocotb.test()
async def test_every_frame_comes_whole_under_every_pause_and_gap(dut: Any) -> None:
    rng = random.Random(SEED + 1)
    harness = harness_for()
    bfm, _, _, _ = await start(dut, harness)
    for pause in PAUSES:
        for gap in ("none", "random", "bursty", "one_in", "gap", "storm"):
            harness.set_pause("out", pause)
            harness.set_gap("in", gap)
            frames = frames_for(rng.choices(LENGTHS[:-1], k=12), rng)
            push(harness, frames)
            result = await bfm.play()
            sent = [(frame.data, frame.user, frame.meta) for frame in frames]
            assert fetched(result.sinks["out"]) == sent, (pause, gap)
    counters = harness.counters()
    assert counters["in_in_beats"] == counters["out_out_beats"] > 0
    assert counters["out_out_stalls"] > 0


@cocotb.test()
async def test_reactive_pauses_match_those_of_the_agents(dut: Any) -> None:
    rng = random.Random(SEED + 2)
    harness = harness_for()
    bfm, source, sink, base = await start(dut, harness, "after_valid")
    frames = frames_for(rng.choices(LENGTHS, k=20), rng)
    await queue_both(dut, source, harness, frames)
    result = await bfm.play()
    received = [await sink.recv() for _ in frames]
    assert result.sinks["out"].last.tolist() == [frame.last_cycle - base for frame in received]
    # Ready falls when a last beat appears, for one to three cycles, and at no other time.
    harness.set_pause("out", "stall_last", 3)
    stalls = harness.counters()["out_out_stalls"]
    push(harness, frames)
    result = await bfm.play()
    came = result.sinks["out"]
    beats = np.array([-(-len(frame.data) // 16) for frame in frames])
    span = came.last - came.valid + 1 - beats
    assert set(span.tolist()) == {1, 2, 3}, span
    assert harness.counters()["out_out_stalls"] - stalls == span.sum()


@cocotb.test()
async def test_line_rate_paces_starts_to_the_exact_fraction_of_a_cycle(dut: Any) -> None:
    rng = random.Random(SEED + 3)
    harness = harness_for()
    bfm, _, _, _ = await start(dut, harness)
    harness.set_rate("in")
    lengths = rng.choices([60, 61, 65, 200, 1514], k=200)
    push(harness, frames_for(lengths, rng))
    valid = (await bfm.play()).sources["in"].valid
    ticks, expected = 0, []
    for length in lengths:
        expected.append(-(-ticks // 25))
        ticks += (length + 24) * 2
    assert (valid - valid[0]).tolist() == expected


@cocotb.test()
async def test_reset_in_mid_frame_cuts_that_frame_alone(dut: Any) -> None:
    rng = random.Random(SEED + 4)
    harness = harness_for()
    bfm, _, _, _ = await start(dut, harness)
    frames = frames_for([1514] * 4, rng)
    push(harness, frames)
    await wait_cycles(dut.clk, 150)  # a frame has 95 beats: the second one is under way
    first = harness.pop()
    await reset(dut.rst, dut.clk)
    result = await bfm.play()
    sent = [(frame.data, frame.user, frame.meta) for frame in frames]
    # A store-and-forward device still held the whole of the first frame; a cut-through one had passed it on.
    assert fetched(first.sinks["out"]) in ([], sent[:1])
    assert result.sources["in"].last[0] == -1, "the frame that reset cut"
    assert fetched(result.sinks["out"]) == sent[2:]
    assert result.sources["in"].valid[1] == 1, "cycles count from the release of reset"


@cocotb.test()
async def test_a_stream_that_is_not_quiet_in_reset_is_named(dut: Any) -> None:
    harness = harness_for()
    await start(dut, harness)
    harness.check()
    for fault, text in (
        (dut.fault_tready, "source in: tready is 1 in reset"),
        (dut.fault_tvalid, "sink out: tvalid is 1 in reset"),
    ):
        dut.rst.value = 1
        await wait_cycles(dut.clk, 3)
        assert harness.error_count == 0
        fault.value = 1
        await wait_cycles(dut.clk, 2)
        fault.value = 0
        await wait_cycles(dut.clk, 2)
        assert text in harness.errors and harness.error_count <= 2, harness.errors
        harness.clear_errors()


@cocotb.test()
async def test_a_frame_that_nobody_sent_is_found_at_the_end(dut: Any) -> None:
    rng = random.Random(SEED + 6)
    harness = harness_for()
    bfm, _, _, _ = await start(dut, harness)
    push(harness, frames_for([60] * 4, rng))
    await bfm.finish()
    dut.fault_tvalid.value = 1  # the last beat stands on the stream still: once more, with tlast
    await RisingEdge(dut.clk)
    dut.fault_tvalid.value = 0
    try:
        await bfm.finish()
    except StreamError as error:
        assert "more frames come out than went in" in str(error), error
    else:
        raise AssertionError("the extra frame went unnoticed")
    # The same on a path whose dispositions are reported: there it may still be reported, so it is a matter of time.
    monitored = Harness(["in"], ["out"], {"fifo": ("in", "out", True)}, seed=SEED)
    bfm = FrameBfm(dut, monitored)
    await reset(dut.rst, dut.clk)
    end = cocotb.start_soon(bfm.finish())
    await wait_cycles(dut.clk, 3)
    dut.fault_tvalid.value = 1
    await RisingEdge(dut.clk)
    dut.fault_tvalid.value = 0
    try:
        await end
    except StreamError as error:
        assert "more came" in str(error), error
    else:
        raise AssertionError("the extra frame went unnoticed")


@cocotb.test()
async def test_watchdog_names_the_stream_that_is_stuck(dut: Any) -> None:
    rng = random.Random(SEED + 5)
    harness = harness_for()
    harness.set_watchdog(200)
    bfm, _, _, _ = await start(dut, harness)
    # The device under the BFM never gets a whole cycle of ready: one cycle in a million.
    harness.set_pause("out", "one_in", 1_000_000)
    push(harness, frames_for([1514] * 3, rng))
    try:
        await bfm.play()
    except StreamError as error:
        text = str(error)
    else:
        raise AssertionError("the watchdog kept quiet")
    assert harness.fired
    assert "nothing moved for 200 cycles" in text, text
    assert "source in: stuck: beat" in text and "tready is 0" in text, text
    assert "sink out: a beat waits for tready" in text, text
    assert "path fifo: 1 frames went in, 0 came out" in text, text
    harness.close()
    await RisingEdge(dut.clk)
