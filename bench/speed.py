"""Speed of the harnesses on the frozen reference design: ``python -m bench.speed``.

In one run, interleaved and several times: the design in a bare Verilator loop, then driven by cocotb with the frame
BFM, with the agents of tb/lib/axis.py, and with cocotbext-axi (the same build as the agents: only the top's ports are
public). Medians of RTL clock cycles per second of CPU time. Every harness plays the same frames, and the bytes that
come out must be the same. Exit 0: the gates hold. 1: one doesn't, the bytes differ, or the reference design was
changed. 3: a tool is missing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import traffic
from tb import native, toolchain
from tb.build import BuildError, Design, SimulationFailed, simulate
from tb.toolchain import SIM_BUILD, ToolError

__all__ = ["GATES", "main"]

HERE = Path(__file__).resolve().parent
MODULES = ("ref_round", "ref_crc", "ref_ghash", "ref_parser", "ref_match", "reference")
SOURCES = tuple(HERE / "reference" / f"{name}.v" for name in MODULES)
FROZEN = "6a366f8ec366e4ed24ed84191d38d3daae90c548b0004d0f88db55eed65e8b87"
"""SHA-256 of the reference design's sources, one after the other. It does not change: bench/README.md says why."""

GATES = {"frame BFM": 50.0, "agents": 5.0}
"""Least ratio to cocotbext-axi, at every size."""

CYCLES = {"bare": 200_000, "frame BFM": 100_000, "agents": 5_000, "cocotbext-axi": 1_200}
"""About as many cycles of each size a repetition: half a second of CPU for each harness."""

AGENTS = Design("bench/reference", "reference", SOURCES)
BFM = Design(
    "bench/reference_tb",
    "reference_tb",
    (*SOURCES, *native.BFM, HERE / "reference" / "reference_tb.sv"),
    native=native.DPI,
)
COCOTB = {"frame BFM": (BFM, "frame_bfm"), "agents": (AGENTS, "agents"), "cocotbext-axi": (AGENTS, "cocotbext_axi")}


@dataclass
class Figures:
    """One repetition of one harness: digest of the checked frames; cycles and CPU seconds by size."""

    digest: str
    cycles: dict[int, int]
    cpu_s: dict[int, float]


def frozen_digest() -> str:
    """SHA-256 of the sources as they are."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()


def build_bare() -> Path:
    """The bare loop's program, with the optimisation that tb.build uses. BuildError, ToolError as there."""
    tool = toolchain.verilator()
    main = HERE / "bare.cpp"
    key = hashlib.sha256(repr((frozen_digest(), main.read_text(), tool.version)).encode()).hexdigest()[:16]
    folder = SIM_BUILD / "builds" / f"bench__bare-{key}"
    program = folder / "bare"
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    verilate = [
        str(tool.command), "--cc", "--exe", "--top-module", "reference", "-Mdir", str(folder), "-o", "bare", "-O3",
        "--no-timing", "--x-assign", "fast", "--x-initial", "unique", "-Wno-fatal", *map(str, SOURCES), str(main),
    ]  # fmt: skip
    make = [
        "make", "-C", str(folder), "-f", "Vreference.mk", "-j2", "CXX=g++", "LINK=g++", "AR=ar",
        f"PYTHON3={sys.executable}", "CFG_CXXFLAGS_PCH_I=-include", "OPT_FAST=-O2", "OPT_GLOBAL=-O2", "OPT_SLOW=-O0",
    ]  # fmt: skip
    for command in (verilate, make):
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **tool.environment()}, check=False
        )
        if done.returncode != 0:
            raise BuildError("\n".join([*done.stdout.splitlines()[-8:], *done.stderr.splitlines()[-8:]]))
    return program


def run_bare(program: Path, cycles: int) -> Figures:
    """One repetition of the bare loop."""
    folder = SIM_BUILD / "runs" / "bench__bare"
    folder.mkdir(parents=True, exist_ok=True)
    parts = traffic.segments(cycles)
    traffic.write(folder / "traffic.bin", parts)
    done = subprocess.run(
        [str(program), str(folder / "traffic.bin"), str(folder / "out.bin")], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in done.stdout.splitlines()][1:]
    return Figures(
        hashlib.sha256((folder / "out.bin").read_bytes()).hexdigest(),
        {size: int(row[0]) for size, row in zip(traffic.SIZES, rows, strict=True)},
        {size: float(row[1]) for size, row in zip(traffic.SIZES, rows, strict=True)},
    )


def run_cocotb(harness: str, cycles: int) -> Figures:
    """One repetition of a harness under cocotb."""
    design, test = COCOTB[harness]
    run = simulate(
        design,
        "bench.bench_speed",
        tests=[test],
        flavour="fast",
        waves=False,
        env={"NICLOOP_BENCH_CYCLES": str(cycles), "COCOTB_LOG_LEVEL": "WARNING"},
    ).check()
    found = json.loads((run.folder / "speed.json").read_text())
    return Figures(
        found["digest"],
        {size: found[str(size)]["cycles"] for size in traffic.SIZES},
        {size: found[str(size)]["cpu_s"] for size in traffic.SIZES},
    )


def speeds(figures: list[Figures], size: int) -> list[float]:
    """Cycles per CPU second of each repetition."""
    return [one.cycles[size] / one.cpu_s[size] for one in figures]


def show(console: Console, medians: dict[str, dict[int, float]]) -> None:
    """The table."""
    table = Table(title="cycles per CPU second on the reference design (medians)")
    table.add_column("harness", no_wrap=True)
    for size in traffic.SIZES:
        name = "64 B" if size == 60 else f"{size} B"
        for title in (name, "% of bare", "times axi"):
            table.add_column(title, justify="right", no_wrap=True)
    for harness, by_size in medians.items():
        cells = [harness]
        for size, speed in by_size.items():
            bare, slow = medians["bare"][size], medians["cocotbext-axi"][size]
            cells += [f"{speed:,.0f}", f"{100 * speed / bare:.1f}", f"{speed / slow:.1f}"]
        table.add_row(*cells)
    console.print(table)


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=5, help="of each harness (default 5)")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        parser.error("--repetitions: at least 1")
    console = Console()
    if not console.is_terminal:
        console.width = 120
    if frozen_digest() != FROZEN:
        console.print("bench/reference was changed: it is frozen, so that figures stay comparable", style="red")
        return 1
    try:
        program = build_bare()
        found: dict[str, list[Figures]] = {name: [] for name in CYCLES}
        for _ in range(options.repetitions):
            for name, cycles in CYCLES.items():
                found[name].append(run_bare(program, cycles) if name == "bare" else run_cocotb(name, cycles))
    except ToolError as error:
        console.print(str(error), style="red")
        return 3
    except (BuildError, SimulationFailed) as error:
        console.print(str(error), style="red", markup=False)
        return 1
    medians = {
        name: {size: statistics.median(speeds(figures, size)) for size in traffic.SIZES}
        for name, figures in found.items()
    }
    show(console, medians)
    problems = []
    digests = {name: {one.digest for one in figures} for name, figures in found.items()}
    if len(set.union(*digests.values())) != 1:
        problems.append(f"the harnesses got different bytes from the same frames: {digests}")
    gates = []
    for name, least in GATES.items():
        for size in traffic.SIZES:
            ratio = medians[name][size] / medians["cocotbext-axi"][size]
            gates.append({"harness": name, "size": size, "ratio": ratio, "least": least, "held": ratio >= least})
            if ratio < least:
                problems.append(f"{name}, {size} B: {ratio:.1f} times cocotbext-axi, the gate is {least:g}")
    report = {
        "reference": FROZEN,
        "repetitions": options.repetitions,
        "cycles_per_cpu_second": {
            name: {str(size): speeds(figures, size) for size in traffic.SIZES} for name, figures in found.items()
        },
        "medians": {name: {str(size): speed for size, speed in row.items()} for name, row in medians.items()},
        "gates": gates,
    }
    SIM_BUILD.mkdir(exist_ok=True)
    (SIM_BUILD / "bench.json").write_text(json.dumps(report, indent=1) + "\n")
    for problem in problems:
        console.print(problem, style="red", markup=False)
    if not problems:
        console.print("gates held: " + ", ".join(f"{name} at least {least:g}x" for name, least in GATES.items()))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
