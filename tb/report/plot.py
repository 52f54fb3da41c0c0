"""Plots for an HTML page: marks as inline SVG that stretches with the page, axes and labels as text that does not.

Colours are CSS variables of the page, so that a plot follows light and dark. Each mark names its numbers in a
``<title>``, which browsers show under the pointer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = [
    "frames",
    "histogram",
    "number",
    "over_length",
    "over_time",
    "round_step",
    "shown_up_to",
    "ticks",
    "time_unit",
]

_UNITS_NS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
WIDTH, HEIGHT = 1000, 220
"""Of a plot's own coordinates; the height is also that on the page, in pixels."""
_MOST_BARS = 80
_MOST_POINTS = 200
_COLUMNS, _ROWS = 64, 72


def round_step(span: float, most: int, *, least: float = 0.0) -> float:
    """The smallest of 1, 2, 5, 10, 20, ... (and tenths of them) that divides a span into at most so many parts."""
    raw = max(span / most, least)
    if raw <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw * (1 - 1e-9))


def ticks(least: float, most: float, wanted: int = 5, *, whole: bool = False) -> list[float]:
    """Round numbers in a range."""
    step = round_step(most - least, wanted, least=1 if whole else 0.0)
    first = math.ceil(least / step - 1e-9)
    last = math.floor(most / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def number(value: float) -> str:
    """Short, as a label: 1,500; 0.25."""
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.6g}"


def time_unit(ns: float) -> tuple[str, float]:
    """The unit in which such a time is said, and its ns."""
    return next(((name, size) for name, size in _UNITS_NS if ns >= size), _UNITS_NS[-1])


def _axes(
    marks: str, x: Sequence[tuple[float, str]], y: Sequence[tuple[float, str]], names: tuple[str, str], label: str
) -> str:
    """The frame around marks. x, y: place (0 to 1) and text of each tick. names: of the two axes."""
    grid = "".join(f'<line class="grid" x1="0" x2="{WIDTH}" y1="{_y(at)}" y2="{_y(at)}"/>' for at, _ in y)
    below = "".join(f'<span style="left:{at:.2%}">{text}</span>' for at, text in x)
    beside = "".join(f'<span style="bottom:{at:.2%}">{text}</span>' for at, text in y)
    svg = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{label}">'
    return (
        f'<div class="plot"><div class="axis-name">{names[1]}</div>'
        f'<div class="y-axis" aria-hidden="true">{beside}</div>{svg}{grid}{marks}</svg>'
        f'<div class="x-axis" aria-hidden="true">{below}</div><div class="axis-name below">{names[0]}</div></div>'
    )


def _y(share: float) -> str:
    """From the bottom, 0 to 1, to a coordinate."""
    return f"{HEIGHT * (1 - share):.1f}"


def _rectangle(css: str, x: float, y: float, width: float, height: float, title: str = "", more: str = "") -> str:
    """From shares of the plot, y from the bottom."""
    inside = f"<title>{title}</title>" if title else ""
    return (
        f'<rect class="{css}" x="{x * WIDTH:.2f}" y="{HEIGHT * (1 - y - height):.2f}" width="{width * WIDTH:.2f}" '
        f'height="{height * HEIGHT:.2f}"{more}>{inside}</rect>'
    )


def _span(first: int, step: int) -> str:
    return number(first) if step == 1 else f"{number(first)} to {number(first + step - 1)}"


def frames(count: int) -> str:
    """1 frame, 2,000 frames."""
    return f"{count:,} frame{'' if count == 1 else 's'}"


def shown_up_to(latency: Mapping[str, Any]) -> int:
    """The latency at which plots of a direction end: the greatest, or, where a few frames are far slower than all
    others, not far behind the 99th percentile."""
    least, most, p99 = int(latency["min"]), int(latency["max"]), int(latency["p99"])
    return most if most - least <= 3 * (p99 - least) + 40 else p99 + (p99 - least) // 2 + 10


def histogram(latency: Mapping[str, Any], css: str) -> tuple[str, str]:
    """Frames over latency, of a direction's ``latency`` figures; and what is to be said of frames that lie beyond the
    plot."""
    least, most = latency["min"], shown_up_to(latency)
    pairs = np.array(latency["histogram"], np.int64)
    beyond = int(pairs[pairs[:, 0] > most, 1].sum())
    if least < most // 3:
        least = 0
    step = int(round_step(most - least + 1, _MOST_BARS, least=1))
    start = least // step * step
    bars = max(8, most // step - start // step + 1)
    shown = pairs[pairs[:, 0] <= most]
    counts = np.bincount((shown[:, 0] - start) // step, weights=shown[:, 1], minlength=bars).astype(np.int64)
    top = int(counts.max())
    marks = []
    for i, count in enumerate(counts.tolist()):
        if count:
            title = f"{_span(start + i * step, step)} cycles: {frames(count)}"
            # A single frame among millions is still seen.
            height = max(count / top * 0.96, 2 / HEIGHT)
            marks.append(_rectangle(css, (i + 0.06) / bars, 0, 0.88 / bars, height))
            marks.append(_rectangle("hit", i / bars, 0, 1 / bars, 1, title))
    scale = step * bars
    x = [((at - start + step / 2) / scale, number(at)) for at in ticks(start, start + scale - step, 6, whole=True)]
    y = [(at / top * 0.96, number(at)) for at in ticks(0, top, 4, whole=True)]
    note = f"{frames(beyond)} above {number(most)} cycles, up to {number(latency['max'])}, not drawn" if beyond else ""
    label = f"Histogram of latency: {frames(latency['frames'])}, median {number(latency['median'])} cycles"
    return _axes("".join(marks), x, y, ("latency, cycles", "frames"), label), note


def over_length(cells: Mapping[str, Any], most: int, css: str) -> str:
    """Latency, up to ``most`` cycles, over frame length, of a direction's ``latency_over_length`` figures: the stronger
    the colour, the more frames."""
    table = np.array(cells["cells"], np.int64)
    table = table[table[:, 1] <= most]
    x_step, y_step = cells["length_step"], cells["latency_step"]
    x, y = table[:, 0] - 1, table[:, 1]
    while x.max() // x_step >= _COLUMNS:
        x_step *= 2
    while y.max() // y_step >= _ROWS:
        y_step *= 2
    used, rows = int(x.max() // x_step) + 1, int(y.max() // y_step) + 1
    counts = np.bincount(y // y_step * used + x // x_step, weights=table[:, 2], minlength=rows * used)
    columns, rows = max(used, 8), max(rows, 8)
    strongest = math.log(float(counts.max()) + 1)
    marks = []
    for place in np.flatnonzero(counts).tolist():
        row, column = divmod(place, used)
        count = int(counts[place])
        title = f"{_span(column * x_step + 1, x_step)} bytes, {_span(row * y_step, y_step)} cycles: {frames(count)}"
        opacity = f' fill-opacity="{0.25 + 0.75 * math.log(count + 1) / strongest:.2f}"'
        marks.append(_rectangle(css, column / columns, row / rows, 1 / columns, 1 / rows, title, opacity))
    x_range, y_range = columns * x_step, rows * y_step
    x_ticks = [(at / x_range, number(at)) for at in ticks(0, x_range, 5, whole=True)]
    y_ticks = [(at / y_range, number(at)) for at in ticks(0, y_range, 5, whole=True)]
    names = ("frame length, bytes", "latency, cycles")
    return _axes("".join(marks), x_ticks, y_ticks, names, "Latency over frame length")


def over_time(throughput: Mapping[str, Any], css: Mapping[str, str]) -> str:
    """Delivered rate over simulated time, of the figures' ``throughput``, against the line. css: class by direction."""
    step, end, line = throughput["step_ns"], throughput["end_ns"], throughput["line_gbps"]
    lines = {way: np.array(rates) for way, rates in throughput["gbps"].items()}
    bins = max(len(rates) for rates in lines.values())
    together = -(-bins // _MOST_POINTS)
    edges = np.minimum(np.arange(bins + 1) * step, end)
    widths = np.diff(edges)
    starts = np.arange(0, bins, together)
    edges = np.append(edges[starts], end)
    lines = {way: np.add.reduceat(rates * widths, starts) / np.diff(edges) for way, rates in lines.items()}
    top = max(line, *(float(rates.max()) for rates in lines.values())) * 1.08
    unit, size = time_unit(end)
    marks = []
    for way, rates in lines.items():
        path = " ".join(
            f"H{edge / end * WIDTH:.2f} V{HEIGHT * (1 - rate / top):.2f}"
            for edge, rate in zip(edges[:-1].tolist(), rates.tolist(), strict=True)
        )
        marks.append(f'<path class="line {css[way]}" d="M0 {HEIGHT * (1 - rates[0] / top):.2f} {path} H{WIDTH}"/>')
    marks.append(f'<line class="limit" x1="0" x2="{WIDTH}" y1="{_y(line / top)}" y2="{_y(line / top)}"/>')
    for i in range(len(starts)):
        said = ", ".join(f"{way} {rates[i]:.2f} Gb/s ({rates[i] / line:.0%})" for way, rates in lines.items())
        title = f"{number(round(edges[i] / size, 3))} to {number(round(edges[i + 1] / size, 3))} {unit}: {said}"
        marks.append(_rectangle("hit", edges[i] / end, 0, (edges[i + 1] - edges[i]) / end, 1, title))
    x = [(at * size / end, number(at)) for at in ticks(0, end / size, 5)]
    y = [(at / top, number(at)) for at in ticks(0, top, 5)]
    names = (f"simulated time, {unit}", "delivered, Gb/s")
    return _axes("".join(marks), x, y, names, f"Delivered rate over time against {line} Gb/s")
