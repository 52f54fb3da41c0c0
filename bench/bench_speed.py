"""cocotb side of the speed bench: each harness plays the same traffic on the reference design.

Each test leaves ``speed.json`` in the run's folder: digest of what the checked frames became; cycles and CPU seconds of
each timed segment.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.simtime import get_sim_time
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from bench.traffic import SIZES, Segment, segments
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import CORE_PS, reset, start_clock
from tb.native.bfm import FrameBfm
from tb.native.harness import Harness

CYCLES = int(os.environ.get("NICLOOP_BENCH_CYCLES", "1000"))
BURST = 256
"""Frames that the frame BFM gets at a time."""

Play = Callable[[Segment], Awaitable[tuple[bytes, list[int]]]]
"""Plays a segment; returns the bytes that came out and tuser of each frame."""


async def measure(play: Play) -> None:
    """Play the checked segment for its digest, the others for their speed."""
    checked, *timed = segments(CYCLES)
    data, user = await play(checked)
    result: dict[str, Any] = {"digest": hashlib.sha256(data + np.array(user, "<u2").tobytes()).hexdigest()}
    for size, segment in zip(SIZES, timed, strict=True):
        start, cpu = get_sim_time("ps"), time.process_time()
        data, _ = await play(segment)
        cpu = time.process_time() - cpu
        cycles = round((get_sim_time("ps") - start) / CORE_PS)
        assert len(data) == len(segment[0]), f"{len(segment[0])} bytes went in, {len(data)} came out"
        result[size] = {"cycles": cycles, "cpu_s": cpu}
    (Path(os.environ["NICLOOP_RUN_DIR"]) / "speed.json").write_text(json.dumps(result))


@cocotb.test()
async def frame_bfm(dut: Any) -> None:
    harness = Harness(["in"], ["out"], {"reference": ("in", "out", False)})
    start_clock(dut.clk)
    bfm = FrameBfm(dut, harness)
    await reset(dut.rst, dut.clk)

    async def play(segment: Segment) -> tuple[bytes, list[int]]:
        data, offset = segment
        out: list[bytes] = []
        user: list[int] = []
        for first in range(0, len(offset) - 1, BURST):
            harness.push("in", data, offset[first : first + BURST + 1])
            came = (await bfm.play()).sinks["out"]
            out.append(came.data.tobytes())
            user += came.user.tolist()
        return b"".join(out), user

    await measure(play)
    harness.close()


@cocotb.test()
async def agents(dut: Any) -> None:
    start_clock(dut.clk)
    source = AxisSource(dut, "s_axis", dut.clk)
    sink = AxisSink(dut, "m_axis", dut.clk)
    await reset(dut.rst, dut.clk)

    async def play(segment: Segment) -> tuple[bytes, list[int]]:
        data, offset = segment
        n = len(offset) - 1
        await FallingEdge(dut.clk)
        for i in range(n):
            source.append(AxisFrame(data[offset[i] : offset[i + 1]].tobytes()))
        frames = [await sink.recv() for _ in range(n)]
        return b"".join(frame.data for frame in frames), [frame.user for frame in frames]

    await measure(play)


@cocotb.test()
async def cocotbext_axi(dut: Any) -> None:
    start_clock(dut.clk)
    logging.getLogger("cocotb").setLevel(logging.WARNING)
    source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk, dut.rst)
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk, dut.rst)
    for end in (source, sink):
        end.log.setLevel(logging.WARNING)
    await reset(dut.rst, dut.clk)
    await RisingEdge(dut.clk)

    async def play(segment: Segment) -> tuple[bytes, list[int]]:
        data, offset = segment
        n = len(offset) - 1
        for i in range(n):
            source.send_nowait(AxiStreamFrame(data[offset[i] : offset[i + 1]].tobytes(), tuser=0))
        frames = [await sink.recv(compact=False) for _ in range(n)]
        out = []
        for frame in frames:
            kept = sum(frame.tkeep)
            out.append(bytes(frame.tdata[:kept]))
        # tuser of the last lane: the model repeats the beat's for each of its bytes.
        return b"".join(out), [int(frame.tuser[-1]) for frame in frames]

    await measure(play)
