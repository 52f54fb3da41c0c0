"""What a person sees of a replay in the terminal: progress while it runs, the table, the first mismatches in words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from tb.replay.baseline import Comparison
from tb.replay.perform import Performed
from tb.report.table import PLAIN_WIDTH

__all__ = [
    "EXPLAINED",
    "MOST_RULES",
    "Bar",
    "Tell",
    "called",
    "progress",
    "say",
    "show",
    "show_comparison",
    "show_rules",
    "stream",
]

EXPLAINED = 5
"""Frames that differ which are told in words."""
_DIFFERENCES = 3
"""Differences of each."""
MOST_RULES = 20
"""Rules of a slot that are shown."""

Tell = Callable[[int, int, int], None]


def stream(file: TextIO) -> Console:
    """A terminal, or a plain stream of fixed width where output is piped."""
    if file.isatty():
        return Console(file=file)
    return Console(file=file, width=PLAIN_WIDTH, no_color=True, highlight=False, emoji=False)


# -- progress ----------------------------------------------------------------------------------------------------------


class _Rate(ProgressColumn):
    """Frames and cycles a second, over the whole replay."""

    def render(self, task: Task) -> Text:
        frames, cycles, elapsed = task.fields["frames"], task.fields["cycles"], task.elapsed or 0
        if not elapsed or not frames:
            return Text(task.fields["before"] or "starting")
        return Text(f"{frames:,} frames, {_scaled(frames / elapsed)} frames/s, {_scaled(cycles / elapsed)} cycles/s")


@dataclass(frozen=True)
class Bar:
    """What is told of a replay that runs: ``tell`` takes frames, cycles, bytes of the captures; ``programming``, before
    the first of them, register writes done and in all."""

    tell: Tell = lambda *_: None
    programming: Callable[[int, int], None] = lambda *_: None


@contextmanager
def progress(total: int | None) -> Iterator[Bar]:
    """A bar on standard error while a replay runs, where a person looks there; gives what is told of it.

    total: bytes of the captures, None: unknown.
    """
    out = stream(sys.stderr)
    if not out.is_terminal:
        yield Bar()
        return
    columns = (SpinnerColumn(), BarColumn(15), _Rate(table_column=Column(no_wrap=True)), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("", total=total, frames=0, cycles=0, before="")

        def tell(frames: int, cycles: int, taken: int) -> None:
            if not bar.tasks[0].fields["frames"]:
                bar.reset(task, total=total)  # the rates are those of the replay, without what was built before it
            bar.update(task, completed=taken, frames=frames, cycles=cycles)

        def programming(done: int, of: int) -> None:
            bar.update(task, before=f"programming the port: {done:,} of {of:,} writes")

        yield Bar(tell, programming)


# -- the table ---------------------------------------------------------------------------------------------------------


def show(out: Console, title: str, performed: Performed) -> None:
    """The table, what the rules did, and the first frames that differ."""
    out.print(_table(title, performed))
    for slot in performed.figures.get("acl", ()):
        show_rules(out, slot)
    _explain(out, performed)


def _table(title: str, performed: Performed) -> Table:
    figures = performed.figures
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.add_column("figure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("more", overflow="fold")
    for row in (*_frames(figures), *_directions(figures), *_speed(performed)):
        table.add_row(*row)
    return table


def _frames(figures: Mapping[str, Any]) -> Iterator[tuple[str, str, str | Text]]:
    by, accounting = figures["dispositions"], figures["accounting"]
    marks = [f"{figures[name]:,} {words}" for name, words in (("snapped", "snapped"), ("empty", "without a byte"))
             if figures[name]]  # fmt: skip
    yield "frames in", f"{figures['frames']:,}", ", ".join(marks)
    yield "delivered", f"{by['delivered']:,}", ""
    yield "consumed", f"{by['consumed']:,}", ""
    yield "dropped", f"{by['dropped']:,}", ", ".join(f"{code} {count:,}" for code, count in figures["drops"].items())
    if by["unreported"]:
        yield "without a report", f"{by['unreported']:,}", ""
    yield (
        "sum",
        "closed" if accounting["closed"] else "open",
        Text(_sum(accounting), "" if accounting["closed"] else "red"),
    )
    wrong = figures["mismatches"]["frames"] + figures["mismatches"]["port"]
    of_port = f"{figures['mismatches']['port']:,} of no frame" if figures["mismatches"]["port"] else ""
    yield "mismatches", f"{wrong:,}", Text(of_port, "red")


def _sum(accounting: Mapping[str, Any]) -> str:
    """The accounting sum in words; what is nought is left out, but for the three that it always has."""
    came = [("in", "frames_in"), ("generated", "generated"), ("copies", "copies")]
    went = [("out", "frames_out"), ("consumed", "consumed"), ("dropped", "dropped"), ("unreported", "unreported")]
    always = ("frames_in", "frames_out", "consumed", "dropped")
    left, right = (
        " + ".join(f"{accounting[key]:,} {word}" for word, key in side if key in always or accounting[key])
        for side in (came, went)
    )
    return f"{left} {'=' if accounting['closed'] else '≠'} {right}"


def _directions(figures: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for way, numbers in figures["directions"].items():
        latency = numbers["latency"]
        if latency is None:
            continue
        cycles = [latency[name] for name in ("min", "median", "max")]
        ns = "/".join(f"{value * figures['clock_ns']:g}" for value in cycles)
        yield f"{way} latency", "/".join(f"{value:g}" for value in cycles), f"cycles, min/median/max; {ns} ns"
        yield (
            f"{way} share of 25G",
            f"{numbers['share']:.0%}",
            f"{numbers['gbps']:.2f} Gb/s out, with preamble, FCS, gap",
        )


def show_rules(out: Console, slot: Mapping[str, Any]) -> None:
    """The rules of a slot that were hit, most frames first; what it did in all."""
    say(out, f"rules of {slot['slot']}" + (f" ({slot['file']})" if slot["file"] else ""), "italic")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("rule", justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    table.add_column("action", overflow="fold")
    table.add_column("frames", justify="right", no_wrap=True)
    table.add_column("bytes", justify="right", no_wrap=True)
    for row in slot["hits"][:MOST_RULES]:
        table.add_row(str(row["rule"]), Text(called(row)), row["action"], f"{row['frames']:,}", f"{row['bytes']:,}")
    table.add_section()
    default = slot["default"]
    table.add_row("none", "", default["action"], f"{default['frames']:,}", f"{default['bytes']:,}")
    out.print(table)
    for text in _rules_told(slot):
        say(out, text)


def called(row: Mapping[str, Any]) -> str:
    """A rule's name, else its line."""
    return row["name"] or ("" if row["line"] is None else f"line {row['line']}")


def _rules_told(slot: Mapping[str, Any]) -> Iterator[str]:
    hit, without = len(slot["hits"]), len(slot["without_hits"])
    more = f", the first {MOST_RULES} of them above" if hit > MOST_RULES else ""
    yield f"{hit:,} of {slot['rules']:,} rules hit{more}; {without:,} without a hit"
    done = [
        f"{word} {slot[name]:,}"
        for name, word in (
            ("denied", "denied"),
            ("policed", "policed"),
            ("no_port", "to a port that isn't there"),
            ("mirrored", "mirrored"),
            ("mirror_dropped", "copies lost"),
            ("redirected", "redirected"),
            ("unjudged", "not judged, as they came in bad"),
        )
        if slot[name]
    ]
    if slot["meters"]:
        done.append(f"metered {slot['metered_green']:,} green, {slot['metered_yellow']:,} yellow, "
                    f"{slot['metered_red']:,} red")  # fmt: skip
    if done:
        yield "; ".join(done)


def _speed(performed: Performed) -> Iterator[tuple[str, str, str]]:
    figures, cpu = performed.figures, performed.cpu_s
    a_second = f"{_scaled(performed.simulated / cpu)} simulated a CPU second" if cpu else ""
    yield "cycles", f"{figures['cycles']:,}", a_second
    frames = f"{_scaled(figures['frames'] / cpu)} frames a CPU second" if cpu else ""
    yield "CPU time", f"{cpu:.2f} s", frames


def _scaled(value: float) -> str:
    """To three figures: 999, 12.3k, 4.57M, 1.2G, 30T."""
    size = max(0, min(4, (len(f"{float(f'{value:.3g}'):.0f}") - 1) // 3))
    return f"{float(f'{value / 1000**size:.3g}'):g}{' kMGT'[size].strip()}"


def _explain(out: Console, performed: Performed) -> None:
    found = performed.figures["mismatches"]
    for kept in found["kept"][:EXPLAINED]:
        where = f"frame {kept['index']} ({kept['capture']}: frame {kept['frame']}, in Wireshark {kept['frame'] + 1})"
        say(out, f"{where}, {kept['direction']}, {kept['length']} bytes:", "bold red")
        _differences(out, kept["differences"], kept["differences_in_all"])
    if found["frames"] > EXPLAINED:
        say(out, f"and {found['frames'] - EXPLAINED:,} more frames that differ", "bold red")
    if found["port_kept"]:
        say(out, "of no frame in particular:", "bold red")
        _differences(out, found["port_kept"], found["port"])


def _differences(out: Console, differences: Sequence[Mapping[str, Any]], in_all: int) -> None:
    for one in differences[:_DIFFERENCES]:
        when = "" if one["cycle"] is None else f" (cycle {one['cycle']})"
        say(out, f"  {one['what']}: expected {one['expected']}, got {one['got']}{when}")
    if in_all > _DIFFERENCES:
        say(out, f"  and {in_all - _DIFFERENCES:,} more")


def show_comparison(out: Console, comparison: Comparison) -> None:
    """What changed since an earlier replay."""
    table = Table(title=f"against {comparison.before.path}", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for heading in ("before", "now", "change"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in comparison.rows:
        table.add_row(*row)
    out.print(table)
    for change in (*comparison.first_refated, *comparison.first_delta):
        say(out, f"  {change}")
    say(out, comparison.verdict)


def say(out: Console, text: str, style: str = "") -> None:
    """A line as it is, however long."""
    out.print(text, style=style, markup=False, soft_wrap=True)
