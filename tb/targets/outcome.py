"""The verdict on a play, the same for every target, and the joining of outcomes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from models.config import NicConfig
from models.frames import Batch, Outcome
from models.meta import Code
from models.nic import Mismatch, NicPortModel

__all__ = ["compare", "join_at_reset"]

_OUT = ("begun", "ended")


def compare(
    config: NicConfig,
    batch: Batch,
    outcome: Outcome,
    before: Mapping[str, int] | None = None,
    *,
    port: int = 0,
    xgmii: bool = False,
) -> list[Mismatch]:
    """Everything in which what a target did differs from what the golden model says; empty: nothing.

    before: the counters at the end of the play before, when the port was not configured in between. xgmii: of
    `Capabilities`.
    """
    return NicPortModel(config, port, xgmii=xgmii).check(batch, outcome, before)


def join_at_reset(batch: Batch, cut: int, beats: int, first: Outcome, second: Outcome) -> Outcome:
    """The outcome of a play in which frame ``cut`` was ended by a reset after ``beats`` beats.

    first: of the frames before it; second: of those behind it, by a port fresh from reset. Cycles of the latter move
    behind the reset; counters are those since it.
    """
    n, begin = len(batch), first.cycles
    reset = begin + beats
    shift = reset + 8
    before, after = np.arange(cut), np.arange(cut + 1, n)
    columns = {}
    for name in ("latency_cycles", "first_in", "last_in", "first_out", "last_out"):
        column = np.full(n, -1, np.int64)
        column[before] = getattr(first, name)
        moved = getattr(second, name)
        column[after] = moved if name == "latency_cycles" else np.where(moved < 0, -1, moved + shift)
        columns[name] = column
    columns["first_in"][cut] = begin
    code, queue = np.full(n, Code.RESET, np.uint8), np.zeros(n, np.uint8)
    for index, part in ((before, first), (after, second)):
        code[index], queue[index] = part.code, part.queue
    moved_out = {name: np.concatenate([getattr(first, name), getattr(second, name) + shift]) for name in _OUT}
    return Outcome(
        frames=Batch.concat([first.frames, second.frames]),
        source=np.concatenate([first.source, np.where(second.source < 0, -1, second.source + cut + 1)]),
        code=code,
        queue=queue,
        cycles=shift + second.cycles,
        begin_ns=first.begin_ns,
        counters=second.counters,
        resets=np.array([reset], np.int64),
        user=np.concatenate([first.user, second.user]),
        meta=np.concatenate([first.meta, second.meta]),
        **columns,
        **moved_out,
    )
