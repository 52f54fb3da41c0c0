"""The reference design under cocotb: a run of bench/bench_speed.py."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.designs import REFERENCE, REFERENCE_BFM
from bench.figures import Timed
from bench.traffic import SIZES, frames_of
from tb.build import simulate

__all__ = ["HARNESSES", "run_cocotb"]

HARNESSES = {
    "frame BFM": (REFERENCE_BFM, "frame_bfm"),
    "agents": (REFERENCE, "agents"),
    "cocotbext-axi": (REFERENCE, "cocotbext_axi"),
}
"""By name: what is built, and the cocotb test that plays."""


def run_cocotb(harness: str, cycles: int) -> tuple[str, Iterator[Timed]]:
    """One repetition of a harness: digest, and what was timed of each size. BuildError, SimulationFailed, ToolError."""
    design, test = HARNESSES[harness]
    run = simulate(
        design,
        "bench.bench_speed",
        tests=[test],
        flavour="fast",
        waves=False,
        env={"NICLOOP_BENCH_CYCLES": str(cycles), "COCOTB_LOG_LEVEL": "WARNING"},
    ).check()
    found = json.loads((run.folder / "speed.json").read_text())
    timed = [Timed(frames_of(size, cycles), found[size]["cycles"], found[size]["cpu_s"]) for size in SIZES]
    return found["digest"], iter(timed)
