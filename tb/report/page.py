"""The report of a replay: one HTML file that holds all it needs, made from the figures of tb/replay/statistics.py.

It loads nothing and runs no script; colours follow the reader's light or dark, columns the width of the page. What
comes from captures is escaped by the template.
"""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from tb.report import plot
from tb.report.hexdump import field_differences, rows

__all__ = ["Run", "python_version", "render_page", "write_page"]

OPEN = 3
"""Frames that differ whose details are open when the page is opened."""
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Run:
    """What made the figures.

    command: as typed, in words. versions: by what they are of ("nicloop", "commit", "simulator", "Python"), in order.
    config: the programmed NIC, as TOML. when: the end of the replay, with its time zone. notices: what a reader must
    know of how it went ("field.pcap: byte 4711: cut"), each a line. error: what ended it before its end and makes it
    fail (the port got stuck); empty: nothing.
    """

    command: Sequence[str]
    versions: Mapping[str, str] = field(default_factory=dict)
    config: str = ""
    when: datetime = field(default_factory=lambda: datetime.now(UTC))
    notices: Sequence[str] = ()
    error: str = ""


def python_version() -> str:
    """Of this interpreter, for ``Run.versions``."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def write_page(path: Path, figures: Mapping[str, Any], run: Run) -> None:
    """Writes the report. OSError: it can't be written."""
    Path(path).write_text(render_page(figures, run), encoding="utf-8")


def render_page(figures: Mapping[str, Any], run: Run) -> str:
    """Text of the report.

    figures: of ``Statistics.figures``. More keys may be in it: ``acl``, of ``RuleFigures.figures``
    (tb/replay/rules.py), ``slots``, of ``SlotFigures.figures`` (tb/replay/slots.py), ``baseline``, of
    ``Comparison.figures`` (tb/replay/baseline.py).
    """
    return _template().render(
        f=figures,
        run=run,
        verdict=_verdict(figures, run),
        command=shlex.join(run.command),
        mismatches=[_mismatch(kept, i < OPEN) for i, kept in enumerate(figures["mismatches"]["kept"])],
        directions=[_direction(way, numbers, figures["clock_ns"]) for way, numbers in figures["directions"].items()],
        throughput=_throughput(figures["throughput"]),
        time_unit=plot.time_unit,
        without_hits={slot["slot"]: _spans(slot["without_hits"]) for slot in figures.get("acl", ())},
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"n": _number, "scaled": _scaled, "percent": _percent, "ns": _time}
    return environment.get_template("report.html")


# -- words ------------------------------------------------------------------------------------------------------------


def _number(value: float | None) -> str:
    return "-" if value is None else plot.number(value)


def _scaled(value: float, noun: str, unit: str = "") -> str:
    """To three figures: 12,345 cycles, 1.23 M cycles; 12,345 bytes, 1.23 MB."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit or ' ' + noun}"
    return f"{plot.number(value)} {noun}"


def _percent(share: float) -> str:
    """Never 0 % or 100 % of what isn't none or all."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{share * 100:.1f} %".replace(".0 %", " %")


def _time(ns: float) -> str:
    unit, size = plot.time_unit(ns)
    return f"{ns / size:.4g} {unit}"


def _verdict(figures: Mapping[str, Any], run: Run) -> dict[str, str]:
    """Class, word and sentence of the top of the page."""
    differ, port = figures["mismatches"]["frames"], figures["mismatches"]["port"]
    played = figures["frames"] - figures["empty"]
    if figures["verdict"] == "mismatch" or run.error:
        verb = "differs" if differ == 1 else "differ"
        parts = [f"{plot.frames(differ)} of {played:,} {verb} from the golden model"] if differ else []
        if port:
            parts.append(f"{port:,} difference{'' if port == 1 else 's'} of the port itself")
        if not figures["accounting"]["closed"]:
            parts.append("the accounting sum isn't closed")
        if run.error:
            parts.append(run.error)
        return {"css": "fail", "word": "Fail", "text": "; ".join(parts)}
    if figures["verdict"] == "empty":
        return {"css": "none", "word": "Nothing played", "text": "There was no frame to play"}
    if played == 1:
        return {"css": "pass", "word": "Pass", "text": "The one frame did what the golden model says"}
    return {"css": "pass", "word": "Pass", "text": f"All {played:,} frames did what the golden model says"}


def _spans(numbers: Sequence[int]) -> str:
    """Rising numbers as text: "0 to 3, 7"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{first:,}" if first == last else f"{first:,} to {last:,}" for first, last in spans)


# -- parts of the page ------------------------------------------------------------------------------------------------


def _mismatch(kept: Mapping[str, Any], is_open: bool) -> dict[str, Any]:
    """A frame that differs, with its bytes beside those of each frame that came out."""
    data = bytes.fromhex(kept["in"])
    sides = []
    for text in kept["out"]:
        out = bytes.fromhex(text)
        sides.append(
            {
                "length": len(out),
                "same": out == data,
                "rows": list(rows(data, out)),
                "fields": field_differences(data, out),
            }
        )
    return {"kept": kept, "open": is_open, "sides": sides, "alone": [] if sides else list(rows(data))}


def _direction(way: str, numbers: Mapping[str, Any], clock_ns: float) -> dict[str, Any]:
    latency, note, bars, cells = numbers["latency"], "", None, None
    if latency is not None:
        bars, note = plot.histogram(latency, way)
        cells = plot.over_length(numbers["latency_over_length"], plot.shown_up_to(latency), way)
        latency = {key: (latency[key], latency[key] * clock_ns) for key in ("min", "median", "p99", "max")}
    return {"way": way, "numbers": numbers, "latency": latency, "bars": bars, "cells": cells, "note": note}


def _throughput(throughput: Mapping[str, Any]) -> Any:
    """None: nothing was delivered."""
    rates = throughput["gbps"]
    if not any(any(line) for line in rates.values()):
        return None
    return plot.over_time(throughput, {way: way for way in rates})
