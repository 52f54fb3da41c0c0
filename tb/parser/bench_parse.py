"""``nicloop parse --target cocotb``: plays the frames of ``$NICLOOP_JOB/job.json`` through ``parser``.

Each frame is alone in the parser. ``results.jsonl`` beside the job has a line for each: ``meta`` and ``user`` as hex,
``latency`` in cycles.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import reset, start_clock

__all__: list[str] = []


@cocotb.test()
async def frames_of_a_job_pass_the_parser_one_by_one(dut: Any) -> None:
    folder = Path(os.environ["NICLOOP_JOB"])
    job = json.loads((folder / "job.json").read_text())
    start_clock(dut.clk)
    dut.rst.value = 1
    for signal in ("reg_req", "reg_write", "reg_addr", "reg_wdata", "reg_wstrb", "now"):
        getattr(dut, signal).value = 0
    source, sink = AxisSource(dut, "s_axis", dut.clk), AxisSink(dut, "m_axis", dut.clk)
    await reset(dut.rst, dut.clk)
    with (folder / "results.jsonl").open("w") as results:
        for data, bad in job["frames"]:
            sent = AxisFrame(bytes.fromhex(data), bad)
            source.append(sent)
            got = await sink.recv()
            assert got.data == sent.data, f"{sent} came out as {got}"
            line = {"meta": f"{got.meta:x}", "user": f"{got.user:x}", "latency": got.valid_cycle - sent.first_cycle}
            results.write(json.dumps(line) + "\n")
            await RisingEdge(dut.clk)
