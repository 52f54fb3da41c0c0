"""Frames per cycle that nic_port sustains: ``python -m bench.throughput``.

Every length from 60 to 200 bytes, 1514 and 9014, and a few below 60 that no Ethernet frame has, back to back in both
directions at once, UDP over IPv4, by the frame BFM. Each frame leaves exactly max(beats, 4) cycles after the one
before. Exit 0: so it is. 1: not at some length. 3: a tool is missing.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table

from tb.build import BuildError, SimulationFailed, simulate
from tb.nic.designs import port_design
from tb.toolchain import SIM_BUILD, ToolError

__all__ = ["Row", "expected_cycles", "main", "measure"]

CLOCK_MHZ = 250
LINE_GBPS = 25
SHORTEST = 60
"""Bytes of the shortest Ethernet frame without its FCS."""
OVERHEAD = 24
"""Bytes that the wire adds to a frame."""


def expected_cycles(length: int) -> int:
    """Cycles a frame: one a beat of 16 bytes, and at least four (docs/architecture.md section 4)."""
    return max(-(-length // 16), 4)


@dataclass(frozen=True)
class Row:
    """Cycles between the ends of neighbouring frames that were seen at the input and at the output of a direction."""

    length: int
    direction: str
    seen_in: frozenset[int]
    seen_out: frozenset[int]

    @property
    def exact(self) -> bool:
        """Each frame took just what it may."""
        return self.seen_in == self.seen_out == {expected_cycles(self.length)}

    @property
    def share(self) -> Fraction:
        """Output rate as a share of the frames that 25G Ethernet carries at this length, by the slowest frame."""
        line = Fraction(LINE_GBPS * 1000, (self.length + OVERHEAD) * 8)
        return Fraction(CLOCK_MHZ, max(self.seen_out)) / line


def measure() -> list[Row]:
    """Runs the bench. BuildError, SimulationFailed, ToolError."""
    run = simulate(
        port_design("bfm"), "bench.bench_throughput", flavour="fast", waves=False, env={"COCOTB_LOG_LEVEL": "WARNING"}
    ).check()
    found: dict[str, dict[str, dict[str, dict[str, int]]]] = json.loads((run.folder / "throughput.json").read_text())
    return [
        Row(int(length), direction, *(frozenset(map(int, sides[side])) for side in ("in", "out")))
        for length, directions in found.items()
        for direction, sides in directions.items()
    ]


def show(console: Console, rows: list[Row]) -> None:
    """A line for each run of lengths that behave alike."""
    table = Table(title="nic_port, frames back to back in both directions")
    for title in ("length", "beats", "cycles expected", "rx", "tx", "frames per cycle", "least share of 25G"):
        table.add_column(title, justify="right")
    by_length: dict[int, dict[str, Row]] = {}
    for row in rows:
        by_length.setdefault(row.length, {})[row.direction] = row

    def alike(length: int) -> tuple[Any, ...]:
        seen = (sorted(by_length[length][name].seen_out) for name in ("rx", "tx"))
        return (length < SHORTEST, -(-length // 16), *seen)

    for (_, beats, rx, tx), lengths in groupby(by_length, key=alike):
        members = list(lengths)
        least = min(by_length[length][name].share for length in members for name in ("rx", "tx"))
        table.add_row(
            f"{members[0]}..{members[-1]}" if len(members) > 2 else ", ".join(map(str, members)),
            str(beats),
            str(expected_cycles(members[0])),
            *(", ".join(map(str, seen)) for seen in (rx, tx)),
            f"1/{max(*rx, *tx)}",
            f"{float(least):.0%}" if members[0] >= SHORTEST else "-",
        )
    console.print(table)


def main() -> int:
    """Returns the exit code."""
    console = Console()
    if not console.is_terminal:
        console.width = 120
    try:
        rows = measure()
    except ToolError as error:
        console.print(str(error), style="red")
        return 3
    except (BuildError, SimulationFailed) as error:
        console.print(str(error), style="red", markup=False)
        return 1
    show(console, rows)
    report = [
        {
            "length": row.length,
            "direction": row.direction,
            "expected": expected_cycles(row.length),
            "in": sorted(row.seen_in),
            "out": sorted(row.seen_out),
        }
        for row in rows
    ]
    (SIM_BUILD / "throughput.json").write_text(json.dumps(report) + "\n")
    late = [row for row in rows if not row.exact]
    for row in late:
        console.print(
            f"{row.length} B, {row.direction}: {sorted(row.seen_in)} cycles a frame in, {sorted(row.seen_out)} out, "
            f"expected {expected_cycles(row.length)}",
            style="red",
            markup=False,
        )
    if not late:
        console.print(f"{len(rows)} lengths and directions: each frame takes exactly max(beats, 4) cycles")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
