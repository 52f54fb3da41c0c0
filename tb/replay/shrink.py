"""The smallest capture that still fails: delta debugging over frames.

The caller replays each candidate within the running simulator (with a reset before it), so a try costs milliseconds;
the number of tries is bounded all the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Shrunk", "shrink"]


@dataclass(frozen=True)
class Shrunk:
    """frames: indices that still fail, in order. tries: replays spent. minimal: none of the frames can be left out."""

    frames: tuple[int, ...]
    tries: int
    minimal: bool


class _Spent(Exception):
    """The tries are used up."""


async def shrink(
    frames: Sequence[int],
    fails: Callable[[list[int]], Awaitable[bool]],
    *,
    hint: int | None = None,
    tries: int = 200,
) -> Shrunk:
    """Reduce ``frames``, which fail, to a part that fails and of which no frame can be left out (ddmin, Zeller 2002).

    ``fails`` replays a part. ``hint`` is the frame at which the failure showed: it alone, and it with a few before it,
    are tried first, since most failures need no more. Once ``tries`` are spent the best so far is returned.
    """
    best = list(frames)
    spent = 0

    async def still(candidate: list[int]) -> bool:
        nonlocal spent, best
        if spent >= tries:
            raise _Spent
        spent += 1
        if not await fails(candidate):
            return False
        best = candidate
        return True

    try:
        if hint is not None and hint in best:
            position = best.index(hint)
            everything = best
            for before in (0, 1, 3, 7, 15, position):
                part = everything[max(0, position - before) : position + 1]
                if len(part) == before + 1 < len(everything) and await still(part):
                    break
        parts = 2
        while len(best) >= 2:
            parts = min(parts, len(best))
            edges = [len(best) * i // parts for i in range(parts + 1)]
            chunks = [best[a:b] for a, b in pairwise(edges)]
            rests = [best[:a] + best[b:] for a, b in pairwise(edges)]
            # With two parts the rests are the parts again.
            candidates = [(chunk, 2) for chunk in chunks] + [(rest, parts - 1) for rest in rests if parts > 2]
            for candidate, after in candidates:
                if await still(candidate):
                    parts = after
                    break
            else:
                if parts == len(best):
                    break
                parts *= 2
    except _Spent:
        return Shrunk(tuple(best), spent, False)
    return Shrunk(tuple(best), spent, True)
