"""What the speed bench measures, and what it makes of it: rates, ratios, gates, and the report.

A harness is run several times, in turn with the others; a ratio is that of medians of CPU time a cycle.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.traffic import SIZES

__all__ = [
    "GATES",
    "GROWTH_MB",
    "MEMORY_MB",
    "PORT",
    "REFERENCE",
    "Figures",
    "Gate",
    "Runs",
    "Timed",
    "gates",
    "rates",
    "report",
    "us_a_cycle",
]

REFERENCE = ("bare", "native", "native, checked", "frame BFM", "agents", "cocotbext-axi")
"""Harnesses on the reference design; what the frames of the checked segment become is the same in all of them."""
PORT = ("port, bare", "port, native", "port, native, checked")
"""Harnesses on nic_port."""

MEMORY_MB = 400
"""Most memory that a replay takes, however long its capture."""
GROWTH_MB = 32
"""By how much a replay of a million frames may need more than one of a tenth of them: less than the frames alone."""


@dataclass(frozen=True)
class Timed:
    """Frames of one size through one harness."""

    frames: int
    cycles: int
    cpu_s: float


@dataclass(frozen=True)
class Figures:
    """One repetition of one harness: digest of what the checked frames became; by size, what was timed."""

    digest: str
    timed: Mapping[str, Timed]


Runs = Mapping[str, Sequence[Figures]]
"""By harness: its repetitions."""


def us_a_cycle(runs: Sequence[Figures], size: str) -> float:
    """Microseconds of CPU that a cycle takes: median of the repetitions."""
    return statistics.median(1e6 * one.timed[size].cpu_s / one.timed[size].cycles for one in runs)


def rates(runs: Runs, native: str, bare: str, checked: str, slow: str | None = None) -> dict[str, dict[str, float]]:
    """By size: what the harness ``native`` reaches, against the others."""
    found = {}
    for size in SIZES:
        time = us_a_cycle(runs[native], size)
        frames = statistics.median(one.timed[size].frames / one.timed[size].cpu_s for one in runs[native])
        row = {"native_over_bare": us_a_cycle(runs[bare], size) / time}
        if slow is not None:
            row["native_over_cocotbext_axi"] = us_a_cycle(runs[slow], size) / time
        row["checked_over_unchecked"] = us_a_cycle(runs[checked], size) / time
        row["cycles_per_cpu_second"] = 1e6 / time
        row["frames_per_cpu_second"] = frames
        found[size] = row
    return found


@dataclass(frozen=True)
class Gate:
    """A bound that a figure must keep: ``least`` or ``most``."""

    what: str
    size: str
    value: float
    least: float | None = None
    most: float | None = None
    unit: str = ""

    @property
    def held(self) -> bool:
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def __str__(self) -> str:
        bound = f"at least {self.least:g}" if self.least is not None else f"at most {self.most:g}"
        return f"{self.what}, {self.size}: {self.value:.3g}{self.unit}, the gate is {bound}{self.unit}"

    def row(self) -> dict[str, Any]:
        """For the report."""
        bounds = {name: bound for name, bound in (("least", self.least), ("most", self.most)) if bound is not None}
        return {"what": self.what, "size": self.size, "value": self.value, **bounds, "held": self.held}


GATES: dict[str, tuple[str, float]] = {
    "native_over_bare": ("least", 0.6),
    "native_over_cocotbext_axi": ("least", 100.0),
    "checked_over_unchecked": ("most", 1.5),
}
"""On the reference design, at every size."""
_TIMES_AXI = {"frame BFM": 50.0, "agents": 5.0}
"""Least ratio to cocotbext-axi, at every size."""
_HARNESS_US = 1.0
"""Most CPU time that the harness adds to a cycle of nic_port."""


def gates(figures: Mapping[str, Any], runs: Runs) -> list[Gate]:
    """All gates; ``figures``: the keys ``reference``, ``nic_port`` and ``memory_mb`` of the report."""
    found = []
    for size in SIZES:
        for name, (side, bound) in GATES.items():
            value = figures["reference"][size][name]
            found.append(Gate(name.replace("_", " "), size, value, **{side: bound}, unit=" times"))
        for name, least in _TIMES_AXI.items():
            ratio = us_a_cycle(runs["cocotbext-axi"], size) / us_a_cycle(runs[name], size)
            found.append(Gate(f"{name} over cocotbext axi", size, ratio, least=least, unit=" times"))
        added = figures["nic_port"][size]["harness_us_per_cycle"]
        found.append(Gate("harness on nic_port", size, added, most=_HARNESS_US, unit=" us a cycle"))
    for kind, needed in figures["memory_mb"].items():
        few, *_, many = sorted(needed.items(), key=lambda item: int(item[0]))
        found.append(Gate(f"memory of a {kind}", f"{many[0]} frames", many[1], most=MEMORY_MB, unit=" MB"))
        beyond = f"{kind}: memory beyond that of {few[0]} frames"
        found.append(Gate(beyond, many[0], many[1] - few[1], most=GROWTH_MB, unit=" MB"))
    return found


def report(runs: Runs, memory_mb: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """What bench.json holds, without the gates."""
    reference = rates(runs, "native", "bare", "native, checked", "cocotbext-axi")
    port: dict[str, Any] = rates(runs, "port, native", "port, bare", "port, native, checked")
    for size in SIZES:
        added = us_a_cycle(runs["port, native"], size) - us_a_cycle(runs["port, bare"], size)
        port[size]["harness_us_per_cycle"] = added
    port["harness_us_per_cycle"] = max(port[size]["harness_us_per_cycle"] for size in SIZES)
    speeds = {
        name: {size: [one.timed[size].cycles / one.timed[size].cpu_s for one in found] for size in SIZES}
        for name, found in runs.items()
    }
    return {
        "repetitions": len(runs["bare"]),
        "reference": reference,
        "nic_port": port,
        "memory_mb": {kind: dict(needed) for kind, needed in memory_mb.items()},
        "harnesses": {
            "cycles_per_cpu_second": speeds,
            "medians": {name: {size: statistics.median(row[size]) for size in SIZES} for name, row in speeds.items()},
        },
    }
