"""Tables in the terminal: with rules and colour where a person looks, plain and of fixed width in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

__all__ = ["CaptureResult", "Latency", "console", "counted", "print_captures"]

PLAIN_WIDTH = 140
"""Columns of a table that goes into a pipe."""
_LEAST_NAME = 8
"""Columns of a capture's name that are kept however narrow the terminal is."""
_LEGEND = (
    "frames and bytes: of the capture, played in each direction; latency: min/median/max of the delivered frames;\n"
    "25G share: rate of what was delivered (rx is offered at line rate, tx as fast as the port takes it); above 100%\n"
    "where frames leave at the core's pace: tx in general, rx in very short captures and behind a pause"
)


@dataclass(frozen=True)
class Latency:
    """Latency of the delivered frames of one direction, in cycles of the core clock."""

    least: int
    median: float
    most: int

    @classmethod
    def of(cls, cycles: Sequence[int]) -> Latency | None:
        """None: no frame was delivered."""
        if not len(cycles):
            return None
        return cls(int(np.min(cycles)), float(np.median(cycles)), int(np.max(cycles)))

    def text(self, clock_ns: float = 1.0) -> str:
        """min/median/max, each times ``clock_ns``."""
        return "/".join(f"{value * clock_ns:.0f}" for value in (self.least, self.median, self.most))


@dataclass
class CaptureResult:
    """What the play of one capture gave.

    frames: played in each direction (in all, of a kept failure), of ``of_frames`` in the capture. bytes: of those,
    without FCS. latency, share: by direction, "rx" and "tx"; share is what was delivered, as a fraction of a 25G wire,
    while it was delivered.
    mismatches: number of frames and counters that differ from the model. failure: the first difference in words, the
    smallest capture and the command that reproduces it.
    """

    name: str
    frames: int = 0
    of_frames: int = 0
    bytes: int = 0
    cycles: int = 0
    delivered: int = 0
    dropped: int = 0
    mismatches: int = 0
    latency: dict[str, Latency] = field(default_factory=dict)
    share: dict[str, float] = field(default_factory=dict)
    profiles: dict[str, str] = field(default_factory=dict)
    failure: dict[str, Any] = field(default_factory=dict)
    notice: str = ""

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> CaptureResult:
        """From what ``dataclasses.asdict`` made of one."""
        latency = {way: Latency(**numbers) for way, numbers in values.pop("latency").items()}
        return cls(latency=latency, **values)


def console() -> Console:
    """The terminal, or a plain stream of fixed width where output is piped."""
    if sys.stdout.isatty():
        return Console()
    return Console(width=PLAIN_WIDTH, no_color=True, highlight=False, emoji=False)


def counted(number: int, one: str, many: str = "") -> str:
    """A number with the right form of its word: 1 frame, 2 frames."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _cut(name: str, width: int) -> str:
    """``name`` in at most ``width`` characters: its middle is left out."""
    if len(name) <= width:
        return name
    end = (width - 1) // 2
    return f"{name[: width - 1 - end]}…{name[len(name) - end :]}"


def _table(
    results: Sequence[CaptureResult], clock_ns: float, title: str, *, ns: bool, in_bytes: bool, name_width: int
) -> Table:
    """The table with or without the columns of ns and bytes, names cut to ``name_width``."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("capture", no_wrap=True)
    sums = ["frames", *(["bytes"] if in_bytes else []), "cycles", "mismatches"]
    for heading in sums:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", min_width=2, no_wrap=True)
    clocks = [("latency, cycles", 1.0), *([("latency, ns", clock_ns)] if ns else [])]
    for heading in (*(heading for heading, _ in clocks), "25G share"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        partly = "" if result.frames == result.of_frames else f" of {result.of_frames}"
        latencies = [result.latency.get(way) for way in ("rx", "tx")]
        table.add_row(
            Text(_cut(result.name, name_width)),
            f"{result.frames}{partly}",
            *([str(result.bytes)] if in_bytes else []),
            str(result.cycles),
            Text(str(result.mismatches), style="bold red" if result.mismatches else "green"),
            "rx\ntx",
            *("\n".join(latency.text(clock) if latency else "-" for latency in latencies) for _, clock in clocks),
            "\n".join(f"{result.share[way]:.0%}" if way in result.share else "-" for way in ("rx", "tx")),
        )
    table.add_section()
    totals = [str(sum(getattr(result, name) for result in results)) for name in sums]
    table.add_row(_cut(counted(len(results), "capture"), max(name_width, 12)), *totals)
    return table


def print_captures(out: Console, results: Sequence[CaptureResult], clock_ns: float, title: str) -> None:
    """The table of the main job: a row a capture, with a line a direction, and a row of sums.

    No number is ever cut: where the console is too narrow the column of ns is left out, then that of bytes; then names
    lose their middle; a console that is narrower still breaks the lines.
    """
    longest = max((len(result.name) for result in results), default=0)
    unbounded = out.options.update(width=1 << 20)
    for ns, in_bytes in ((True, True), (False, True), (False, False)):
        table = _table(results, clock_ns, title, ns=ns, in_bytes=in_bytes, name_width=longest)
        needed = Measurement.get(out, unbounded, table).maximum
        if needed <= out.width:
            break
    else:
        name_width = max(_LEAST_NAME, longest - (needed - out.width))
        table = _table(results, clock_ns, title, ns=False, in_bytes=False, name_width=name_width)
        table.width = Measurement.get(out, unbounded, table).maximum
    out.print(table, crop=False)
    out.print(_LEGEND, style="dim", soft_wrap=True)
