"""Plays that are recorded on one target, to be compared with those of another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from tb.targets.base import Fault, Target

__all__ = ["Play", "differences", "record"]


@dataclass(frozen=True)
class Play:
    """One play. configure: the port is reset and programmed before it. cut: a reset in mid-frame."""

    name: str
    batch: Batch
    profiles: Mapping[Edge, str] = field(default_factory=dict)
    config: NicConfig = field(default_factory=NicConfig)
    configure: bool = True
    cut: Fault | None = None


async def record(target: Target, plays: Iterable[Play]) -> list[Outcome]:
    """Their outcomes, one after the other on ``target``."""
    outcomes = []
    for play in plays:
        if play.configure:
            await target.configure(play.config)
        for edge, profile in play.profiles.items():
            await target.inject(Fault.back_pressure(edge, profile))
        if play.cut is not None:
            await target.inject(play.cut)
        outcomes.append(await target.play(play.batch))
    return outcomes


def differences(one: Outcome, other: Outcome) -> list[str]:
    """In what two outcomes differ, a line for each of their fields, the first place of it; empty: in nothing."""
    found = []
    for part in [*fields(Batch), *fields(Outcome)]:
        if part.name == "frames":
            continue
        owner = (one.frames, other.frames) if part in fields(Batch) else (one, other)
        left, right = (getattr(which, part.name) for which in owner)
        if isinstance(left, np.ndarray):
            if left.shape != right.shape:
                found.append(f"{part.name}: {left.shape} against {right.shape}")
            elif (wrong := np.argwhere(left != right)).size:
                at = tuple(wrong[0])
                found.append(f"{part.name}{list(map(int, at))}: {left[at]} against {right[at]}, {len(wrong)} in all")
        elif left != right:
            found.append(f"{part.name}: {_of(left, right)}")
    return found


def _of(left: Any, right: Any) -> str:
    if not isinstance(left, dict):
        return f"{left} against {right}"
    names = sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))
    return ", ".join(f"{name} {left.get(name)} against {right.get(name)}" for name in names)
