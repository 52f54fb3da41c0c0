"""Tables in the terminal: with rules and colour where a person looks, plain and of fixed width in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["CaptureResult", "Latency", "console", "print_captures"]

PLAIN_WIDTH = 140
"""Columns of a table that goes into a pipe."""
_REST = 84
"""Columns that a table needs beside the names of captures."""
_LEGEND = (
    "frames and bytes: of the capture, played in each direction; latency: min/median/max of the delivered frames;\n"
    "25G share: rate of what was delivered (rx is offered at line rate, tx as fast as the port takes it)"
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

    frames: played in each direction, of ``of_frames`` in the capture. bytes: of those, without FCS. latency, share: by
    direction, "rx" and "tx"; share is what was delivered, as a fraction of a 25G wire, while it was delivered.
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


def print_captures(out: Console, results: Sequence[CaptureResult], clock_ns: float, title: str) -> None:
    """The table of the main job: a row a capture, with a line a direction, and a row of sums."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("capture", no_wrap=True, overflow="ellipsis", max_width=max(16, out.width - _REST))
    for heading in ("frames", "bytes", "cycles", "mismatches"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", min_width=2, no_wrap=True)
    for heading in ("latency, cycles", "latency, ns", "25G share"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        partly = "" if result.frames == result.of_frames else f" of {result.of_frames}"
        latencies = [result.latency.get(way) for way in ("rx", "tx")]
        table.add_row(
            result.name,
            f"{result.frames}{partly}",
            str(result.bytes),
            str(result.cycles),
            Text(str(result.mismatches), style="bold red" if result.mismatches else "green"),
            "rx\ntx",
            "\n".join(latency.text() if latency else "-" for latency in latencies),
            "\n".join(latency.text(clock_ns) if latency else "-" for latency in latencies),
            "\n".join(f"{result.share[way]:.0%}" if way in result.share else "-" for way in ("rx", "tx")),
        )
    table.add_section()
    sums = (str(sum(getattr(r, name) for r in results)) for name in ("frames", "bytes", "cycles", "mismatches"))
    table.add_row(f"{len(results)} captures", *sums, *[""] * 4)
    out.print(table)
    out.print(_LEGEND, style="dim", soft_wrap=True)
