"""Differences between a device and the model, and how they are collected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models.frames import Int64, Outcome
from models.meta import Code
from models.nic_stages import Bool

__all__ = ["Mismatch", "Report", "code_name"]

_CODES = frozenset(int(code) for code in Code)


@dataclass(frozen=True)
class Mismatch:
    """One way in which a device differs from the model. ``frame``: index in the batch, -1: no frame in is concerned;
    ``cycle``: where in the play to look, -1: unknown."""

    frame: int
    what: str
    expected: Any
    got: Any
    cycle: int = -1

    def __str__(self) -> str:
        where = f"frame {self.frame}: " if self.frame >= 0 else ""
        when = f" (cycle {self.cycle})" if self.cycle >= 0 else ""
        return f"{where}{self.what}: expected {self.expected}, got {self.got}{when}"


@dataclass(frozen=True)
class Report:
    """The mismatches of an outcome, as they are found."""

    outcome: Outcome
    found: list[Mismatch] = field(default_factory=list)

    def add(self, frame: int, what: str, expected: Any, got: Any, cycle: int = -1) -> None:
        self.found.append(Mismatch(frame, what, expected, got, cycle))

    def each(
        self,
        what: str,
        wrong: Bool,
        expected: Any,
        got: Any,
        show: Callable[[int], Any] = int,
        index: Int64 | None = None,
    ) -> None:
        """A Mismatch for each True in ``wrong``; expected and got: one value, or one an entry; index: frames in of the
        entries."""
        if not wrong.any():
            return
        shape = wrong.shape
        expected, got = np.broadcast_to(expected, shape), np.broadcast_to(got, shape)
        for i in np.flatnonzero(wrong):
            frame = int(i if index is None else index[i])
            cycle = -1
            if frame >= 0:
                cycle = int(max(self.outcome.first_in[frame], self.outcome.first_out[frame]))
            self.add(frame, what, show(int(expected[i])), show(int(got[i])), cycle)


def code_name(code: int) -> str:
    """Name of a disposition code, its number where it has none."""
    return Code(code).name if code in _CODES else str(code)
