"""Streams driven and read by cocotbext-axi, which nobody here wrote: an outside opinion about frames and handshakes."""

from __future__ import annotations

import itertools
import logging
from typing import Any

from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from tb.lib.clock import reset, start_clock, wait_cycles
from tb.lib.suite import boundary_lengths, seeded

__all__ = ["check_against_cocotbext_axi"]


async def check_against_cocotbext_axi(dut: Any, name: str) -> None:
    """Every length to four 16-byte beats and a byte, and longer ones, by cocotbext-axi's agents alone."""
    logging.getLogger("cocotb").setLevel(logging.WARNING)
    rng = seeded("oracle", name)
    start_clock(dut.clk)
    dut.rst.value = 1
    if hasattr(dut, "s_axis_meta"):
        dut.s_axis_meta.value = 0
    source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk, dut.rst)
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk, dut.rst)
    for agent in (source, sink):
        agent.log.setLevel(logging.WARNING)
    await reset(dut.rst, dut.clk)
    lengths = [*boundary_lengths(16), 1514, 777]
    patterns: list[Any] = [None, itertools.cycle([0, 1, 1]), (rng.random() < 0.4 for _ in itertools.count())]
    for pattern in patterns:
        if pattern is not None:
            source.set_pause_generator(itertools.cycle([0, 0, 1, 0, 1, 1, 0]))
            sink.set_pause_generator(pattern)
        frames = [rng.randbytes(length) for length in lengths]
        users = [rng.getrandbits(1) for _ in frames]
        for data, user in zip(frames, users, strict=True):
            await source.send(AxiStreamFrame(tdata=data, tuser=user))
        for data, user in zip(frames, users, strict=True):
            frame = await sink.recv()
            assert bytes(frame.tdata) == data, f"{len(data)} B sent, {len(frame.tdata)} B came"
            last = frame.tuser if isinstance(frame.tuser, int) else frame.tuser[-1]
            assert int(last) == user, f"tuser {last}, sent {user}"
    await wait_cycles(dut.clk, 10)
    assert sink.empty()
    source.clear_pause_generator()
    sink.clear_pause_generator()
    await wait_cycles(dut.clk, 2)
