"""Functional coverage: a thin layer over cocotb-coverage with flat bin names.

A point ``"axis_fifo.drop"`` with the bins ``"bad"`` and ``"full"`` counts as ``axis_fifo.drop.bad`` and
``axis_fifo.drop.full``, the names that the test plan's ``cover`` lists use. A bin that is never hit is there with 0.
"""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

from cocotb_coverage.coverage import CoverPoint, coverage_db

__all__ = ["Point", "bins", "cross", "export", "point"]


class Point:
    """A cover point. Call it with a value to count the bin that the value falls in."""

    def __init__(
        self, name: str, labels: Sequence[str], keys: Sequence[Hashable], rel: Callable[..., bool] | None
    ) -> None:
        self.name = name
        self._known = None if rel is not None else frozenset(keys)

        def sample(value: Any) -> None:
            del value

        self._sample = CoverPoint(name, bins=list(keys), bins_labels=list(labels), rel=rel)(sample)

    def __call__(self, value: Any) -> None:
        """Count ``value``. Without a relation, a value that is no bin is a ValueError: it is a slip of the pen."""
        if self._known is not None and value not in self._known:
            raise ValueError(f"{value!r} is no bin of {self.name}")
        self._sample(value)


def point(name: str, values: Sequence[Hashable], rel: Callable[[Any, Any], bool] | None = None) -> Point:
    """Declare a point (again, if need be: the first declaration counts). ``name`` has at least one dot.

    ``values``: the bins, named by their ``str``. ``rel(value, bin)``: whether a value falls in a bin; by default, when
    they are equal.
    """
    return Point(name, [str(v) for v in values], values, rel)


def cross(name: str, first: Sequence[str], second: Sequence[str]) -> Callable[[str, str], None]:
    """Declare the cross of two lists of names, bins ``name.a*b``, and return what counts a pair."""
    pairs = [(a, b) for a in first for b in second]
    whole = Point(name, [f"{a}*{b}" for a, b in pairs], pairs, None)
    return lambda a, b: whole((a, b))


def bins() -> dict[str, int]:
    """Every bin declared so far with its hits."""
    found: dict[str, int] = {}
    for name, item in coverage_db.items():
        if isinstance(item, CoverPoint):
            for label, hits in item.detailed_coverage.items():
                found[f"{name}.{label}"] = hits
    return dict(sorted(found.items()))


def export() -> None:
    """Write ``coverage.json`` (bin name to hits) into ``$NICLOOP_RUN_DIR``; without that variable do nothing.

    Runs by itself when the simulation ends.
    """
    folder = os.environ.get("NICLOOP_RUN_DIR")
    if folder:
        (Path(folder) / "coverage.json").write_text(json.dumps(bins(), indent=1) + "\n")


atexit.register(export)
