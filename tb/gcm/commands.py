"""``nicloop vectors``: published AES-GCM and SM4-GCM vectors through the RTL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tb.build import Run, SimulationFailed
from tb.gcm.designs import player_design
from tb.gcm.vector_files import Vector, VectorFileError, read_vectors
from tb.gcm.vectors import Verdict, played, run_vectors
from tb.report.table import console, counted
from tb.report.watch import with_bar

__all__ = ["print_verdict", "vectors"]


def vectors(
    files: Annotated[
        list[Path],
        typer.Argument(help="Wycheproof .json (AES-GCM, AES-GMAC, SM4-GCM), NIST CAVP .rsp.", metavar="FILE..."),
    ],
    show: Annotated[int, typer.Option(min=0, help="Failing vectors that are named.")] = 20,
    waves: Annotated[bool, typer.Option("--waves", help="Write a waveform.")] = False,
) -> None:
    """Run published test vectors through the RTL of the GCM engine."""
    found: list[Vector] = []
    wrong = []
    for file in files:
        try:
            found.extend(read_vectors(file))
        except VectorFileError as error:
            wrong.append(str(error))
    failed, ran = _run(found, show, waves) if found else (0, 0)
    if not wrong and not ran:
        wrong.append("nothing was checked: no vector is one that the engine can run")
    for line in wrong:
        typer.echo(f"nicloop: {line}", err=True)
    if failed or wrong:
        raise typer.Exit(1 if failed else 2)


def _run(found: Sequence[Vector], show: int, waves: bool) -> tuple[int, int]:
    """Run and print; how many vectors failed, and how many packets went through the RTL."""
    out = console()
    try:
        verdict = run_vectors(found, player_design(), _watched(out), waves=waves, seed=1)
    except SimulationFailed as error:
        typer.echo(f"nicloop: the engine failed\n{error}", err=True)
        raise typer.Exit(1) from error
    print_verdict(out, verdict, show)
    if verdict.waves is not None:
        out.print(f"waves: {verdict.waves}", soft_wrap=True)
    return len(verdict.failures), verdict.runs


def _watched(out: Console) -> Callable[[Callable[[], Run], Path, int], Run]:
    """Where a person looks, show meanwhile how many packets have come out."""

    def watch(work: Callable[[], Run], folder: Path, total: int) -> Run:
        def look() -> tuple[int, str] | None:
            done = played(folder)
            return (done, "packets") if done else None

        return with_bar(out, work, total, look)

    return watch


def print_verdict(out: Console, verdict: Verdict, show: int) -> None:
    """The table, a row a group, and the failing vectors."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("file", overflow="fold")
    table.add_column("group, or why it can't be run", overflow="fold")
    for heading in ("vectors", "passed", "failed", "not applicable"):
        table.add_column(heading, justify="right", no_wrap=True)
    before = ""
    for group in verdict.groups:
        if before not in ("", group.file):
            table.add_section()
        counts = ("", "", group.vectors) if group.lengths else (group.passed, group.failed, "")
        style = "red" if group.failed else "dim" if group.lengths else "green"
        name = Path(group.file).name if group.file != before else ""
        table.add_row(Text(name), Text(group.name, style=style), str(group.vectors), *map(str, counts))
        before = group.file
    table.add_section()
    left_out = sum(group.vectors for group in verdict.groups if group.lengths)
    total = sum(group.vectors for group in verdict.groups)
    files = counted(len({group.file for group in verdict.groups}), "file")
    table.add_row(files, "", *map(str, (total, verdict.passed, len(verdict.failures), left_out)))
    out.print(table)
    _print_failures(out, verdict, show)
    out.print(f"{counted(verdict.runs, 'packet')} through the RTL, {verdict.seconds:.1f} s with the build", style="dim")


def _print_failures(out: Console, verdict: Verdict, show: int) -> None:
    for failure in verdict.failures[:show]:
        vector = failure.vector
        line = f"{vector.file}: {vector.group}: {vector.name}: {failure.what}"
        out.print(Text(line), soft_wrap=True)
    count = len(verdict.failures)
    if count > show:
        out.print(f"and {counted(count - show, 'more failure')} (--show {count} names them)")
