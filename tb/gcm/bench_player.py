"""Bench of ``gcm_player``: plays the records of a job and says meanwhile how far it is.

``$NICLOOP_JOB``: the folder with the records; results and progress are left there.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from tb.gcm.player import PROGRESS, RECORDS
from tb.lib.clock import high_within, reset, start_clock

__all__: list[str] = []

STEP = 2000
"""Cycles between two looks at how far it is."""
IDLE_STEPS = 5
"""Steps without a key, a beat in or a packet out, after which it is stuck."""
READY_CYCLES = 5000
_WIRES = ("key_valid", "key_ready", "s_cmd_valid", "s_cmd_ready", "s_axis_tvalid", "s_axis_tready", "m_axis_tvalid")


@cocotb.test()
async def records_are_played_to_their_end(dut: Any) -> None:
    """As many packets come out as commands stand in the file; then the engine is idle."""
    job = Path(os.environ["NICLOOP_JOB"])
    for name in RECORDS:
        Path(name).symlink_to(job / name)
    packets = (job / "commands.hex").read_bytes().count(b"\n")
    start_clock(dut.clk)
    dut.go.value = 0
    await reset(dut.rst, dut.clk)
    assert dut.ready.value or await high_within(dut.clk, dut.ready, READY_CYCLES), "the engine doesn't get ready"
    dut.go.value = 1
    before, still = (-1, -1, -1), 0
    while True:
        await ClockCycles(dut.clk, STEP)
        done = int(dut.packets_out.value)
        now = (int(dut.keys_done.value), int(dut.beats_in.value), done)
        file = job / f"{PROGRESS}.new"
        file.write_text(json.dumps({"packets": done}))
        file.rename(job / PROGRESS)
        if done >= packets and dut.idle.value:
            break
        still = still + 1 if now == before else 0
        before = now
        assert still < IDLE_STEPS, f"stuck after {now[0]} keys, {now[1]} beats in, {done} of {packets} out: " + (
            ", ".join(f"{name} {bit}" for name, bit in zip(_WIRES, str(dut.waiting.value), strict=True))
        )
    dut.go.value = 0
    await ClockCycles(dut.clk, 4)
    shutil.move("results.hex", job / "results.hex")
    assert done == packets, f"{done} packets out, {packets} in"
