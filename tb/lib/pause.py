"""Back-pressure and gap generators: when a sink is ready, when a source offers a beat.

Every generator is an iterator of booleans, one a cycle: true lets a beat pass. It takes all its randomness from the
``random.Random`` that it is given, so one seed reproduces a run. A ``Reactive`` generator also sees the beat that is on
the stream in the cycle it decides about; a plain one is blind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, repeat
from random import Random

__all__ = ["PAUSES", "Reactive", "after_valid", "bursty", "gap", "none", "one_in", "random", "stall_last", "storm"]


class Reactive(Iterator[bool]):
    """A generator that is told what is on the stream before it is asked.

    ``valid``: the stream offers a beat in this cycle; ``last``: that beat is its frame's last.
    """

    valid = False
    last = False

    def see(self, valid: bool, last: bool) -> None:
        self.valid = valid
        self.last = last

    def __next__(self) -> bool:
        raise NotImplementedError


class _AfterValid(Reactive):
    """Ready only in the cycle after a beat was first seen: one beat in two cycles, never ready ahead of valid."""

    def __init__(self) -> None:
        self._seen = False

    def __next__(self) -> bool:
        grant = self.valid and self._seen
        self._seen = self.valid and not grant
        return grant


class _StallLast(Reactive):
    """Ready for everything, but for ``cycles`` cycles not when a frame's last beat appears."""

    def __init__(self, rng: Random, most: int = 3) -> None:
        self._rng = rng
        self._most = most
        self._left = -1

    def __next__(self) -> bool:
        if not (self.valid and self.last):
            return True
        if self._left < 0:
            self._left = self._rng.randint(1, self._most)
        if self._left:
            self._left -= 1
            return False
        self._left = -1
        return True


def none(rng: Random) -> Iterator[bool]:
    """Never pauses."""
    del rng
    return repeat(True)


def random(rng: Random, probability: float = 0.6) -> Iterator[bool]:
    """True with ``probability``, each cycle on its own."""
    while True:
        yield rng.random() < probability


def bursty(rng: Random, on: int = 24, off: int = 24) -> Iterator[bool]:
    """Runs of true and of false, each of 1 to ``on`` or ``off`` cycles."""
    while True:
        yield from repeat(True, rng.randint(1, on))
        yield from repeat(False, rng.randint(1, off))


def one_in(rng: Random, cycles: int = 7) -> Iterator[bool]:
    """True in exactly one cycle of ``cycles``, from a random phase."""
    phase = rng.randrange(cycles)
    return cycle([i == phase for i in range(cycles)])


def gap(rng: Random) -> Iterator[bool]:
    """Alternates: a one-cycle gap after each cycle that passes."""
    return cycle([True, False] if rng.random() < 0.5 else [False, True])


def after_valid(rng: Random) -> Iterator[bool]:
    """Ready only after valid."""
    del rng
    return _AfterValid()


def stall_last(rng: Random) -> Iterator[bool]:
    """Falls exactly when a frame's last beat appears."""
    return _StallLast(rng)


def storm(rng: Random) -> Iterator[bool]:
    """Changes its manners every few dozen cycles: all blind generators in turn."""
    kinds: list[Callable[[Random], Iterator[bool]]] = [none, random, bursty, one_in, gap]
    while True:
        source = rng.choice(kinds)(rng)
        for _ in range(rng.randint(8, 64)):
            yield next(source)


PAUSES: dict[str, Callable[[Random], Iterator[bool]]] = {
    "none": none,
    "random": random,
    "bursty": bursty,
    "one_in": one_in,
    "gap": gap,
    "after_valid": after_valid,
    "stall_last": stall_last,
    "storm": storm,
}
"""Every generator by name."""
