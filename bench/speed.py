"""Speed of the harnesses, and what checking and memory cost: ``python -m bench.speed``.

On the frozen reference design, in turn and several times: a bare C++ loop, the native harness without and with the
check of its frames by the golden model, cocotb with the frame BFM, with the agents of tb/lib/axis.py, and with
cocotbext-axi (the same build as the agents: only the top's ports are public). On nic_port the bare loop and the target
`native`, without and with the check. Then `nicloop replay` of captures of many frames. Medians of CPU time; every
harness plays the same frames, and what comes out must be the same. Exit 0: the gates hold. 1: one doesn't, the bytes
differ, or the reference design was changed. 3: a tool is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import memory
from bench.bare import Bare
from bench.cocotb_harness import HARNESSES, run_cocotb
from bench.designs import FROZEN, REFERENCE_NATIVE, frozen_digest
from bench.figures import PORT, REFERENCE, Figures, Gate, Timed, gates, report
from bench.native import Port, Reference
from bench.traffic import SIZES
from tb.build import BuildError, SimulationFailed
from tb.nic.designs import port_design
from tb.toolchain import SIM_BUILD, ToolError

__all__ = ["CYCLES", "harnesses", "main", "measure"]

CYCLES = {
    "bare": 200_000,
    "native": 200_000,
    "native, checked": 200_000,
    "frame BFM": 100_000,
    "agents": 5_000,
    "cocotbext-axi": 1_200,
    "port, bare": 200_000,
    "port, native": 200_000,
    "port, native, checked": 200_000,
}
"""About as many cycles of each size a repetition: some tenths of a second of CPU."""

Run = Callable[[int], tuple[str, Iterator[Timed]]]
"""Plays about so many cycles of each size: digest of what the checked frames became; what is timed, size by size."""


def harnesses(say: Callable[[str], None]) -> dict[str, Run]:
    """By name, what plays about so many cycles of each size. Builds them: BuildError, ToolError."""
    say("building the reference design: bare loop, native")
    bare, reference = Bare(REFERENCE_NATIVE, source=0, sink=0), Reference()
    say("building nic_port: bare loop, native")
    port_bare, port = Bare(port_design("native"), source=0, sink=1), Port()
    return {
        "bare": bare.run,
        "native": lambda cycles: reference.run(cycles, checked=False),
        "native, checked": lambda cycles: reference.run(cycles, checked=True),
        **{name: lambda cycles, name=name: run_cocotb(name, cycles) for name in HARNESSES},  # type: ignore[misc]
        "port, bare": port_bare.run,
        "port, native": lambda cycles: port.run(cycles, checked=False),
        "port, native, checked": lambda cycles: port.run(cycles, checked=True),
    }


def measure(found: dict[str, Run], repetitions: int, say: Callable[[str], None]) -> dict[str, list[Figures]]:
    """All harnesses in turn; those that run in this process a size at a time, so that what else the machine does meets
    all of them."""
    runs: dict[str, list[Figures]] = {name: [] for name in found}
    for repetition in range(1, repetitions + 1):
        digests: dict[str, str] = {}
        coming: dict[str, Iterator[Timed]] = {}
        for name, run in found.items():
            digests[name], coming[name] = run(CYCLES[name])
        timed: dict[str, dict[str, Timed]] = {name: {} for name in found}
        for size in SIZES:
            for name in found:
                timed[name][size] = next(coming[name])
        for name in found:
            runs[name].append(Figures(digests[name], timed[name]))
            speeds = ", ".join(f"{size}: {one.cycles / one.cpu_s:,.0f}" for size, one in timed[name].items())
            say(f"{repetition} of {repetitions}, {name}: {speeds} cycles per CPU second")
    return runs


def show(console: Console, figures: dict[str, Any]) -> None:
    """The tables."""
    medians = figures["harnesses"]["medians"]
    for title, names, base, head, scale in (
        ("the reference design", REFERENCE, "cocotbext-axi", "times axi", 1),
        ("nic_port", PORT, PORT[0], "% of bare", 100),
    ):
        table = Table(title=f"cycles per CPU second on {title} (medians)")
        table.add_column("harness", no_wrap=True)
        for size in SIZES:
            for column in (size if size == "imix" else f"{size} B", head):
                table.add_column(column, justify="right", no_wrap=True)
        for name in names:
            cells = [name]
            for size in SIZES:
                speed = medians[name][size]
                cells += [f"{speed:,.0f}", f"{scale * speed / medians[base][size]:.1f}"]
            table.add_row(*cells)
        console.print(table)
    table = Table(title="the native harness")
    for head in ("", *SIZES):
        table.add_column(head, justify="right" if head else "left", no_wrap=True)
    for title, key in (("reference", "reference"), ("nic_port", "nic_port")):
        for row in next(iter(figures[key].values())):
            values = [float(figures[key][size][row]) for size in SIZES]
            texts = [f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in values]
            table.add_row(f"{title}: {row.replace('_', ' ')}", *texts)
    console.print(table)


def judge(figures: dict[str, Any], runs: dict[str, list[Figures]]) -> tuple[list[Gate], list[str]]:
    """All gates, and what is wrong."""
    found = gates(figures, runs)
    problems = [str(gate) for gate in found if not gate.held]
    for group in (REFERENCE, PORT):
        digests = {name: sorted({one.digest for one in runs[name]}) for name in group}
        if len({digest for row in digests.values() for digest in row}) != 1:
            problems.append(f"the harnesses got different bytes from the same frames: {digests}")
    return found, problems


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=5, help="of each harness (default 5)")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        parser.error("--repetitions: at least 1")
    console = Console()
    if not console.is_terminal:
        console.width = 140

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False)

    if frozen_digest() != FROZEN:
        console.print("bench/reference was changed: it is frozen, so that figures stay comparable", style="red")
        return 1
    try:
        runs = measure(harnesses(say), options.repetitions, say)
        memory_mb: dict[str, dict[str, float]] = {kind: {} for kind in memory.KINDS}
        for kind, needed in memory_mb.items():
            for frames in memory.FRAMES:
                say(f"{kind} of a capture of {frames:,} frames of 64 B")
                needed[str(frames)] = memory.run(kind, frames)
    except ToolError as error:
        console.print(str(error), style="red", markup=False)
        return 3
    except (BuildError, SimulationFailed) as error:
        console.print(str(error), style="red", markup=False)
        return 1
    figures = {"design": FROZEN, **report(runs, memory_mb)}
    found, problems = judge(figures, runs)
    figures["gates"] = [gate.row() for gate in found]
    SIM_BUILD.mkdir(exist_ok=True)
    (SIM_BUILD / "bench.json").write_text(json.dumps(figures, indent=1) + "\n")
    show(console, figures)
    for kind, needed in memory_mb.items():
        say(f"memory of a {kind}: " + ", ".join(f"{size:.0f} MB of {int(n):,} frames" for n, size in needed.items()))
    for problem in problems:
        console.print(problem, style="red", markup=False)
    if not problems:
        say(f"{len(found)} gates held")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
