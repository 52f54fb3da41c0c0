"""The order of the tests where several processes share them (`make test`).

Under ``--dist worksteal`` each process gets an equal piece of the list, in the order of the list, and one that is done
takes the rear half of what another still has. Tests that run a tool (a simulator, a solver, tshark) take seconds and
may build first; the others take milliseconds. So each piece begins with its share of the former, module by module, and
ends with plain tests: what is left for the end, and is taken over, is small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["TOOLS", "deal"]

Test = TypeVar("Test")
TOOLS = frozenset({"sim", "simulate", "verilator", "solver", "target", "tshark"})
"""The fixtures that bring a tool."""


def deal(
    tests: Sequence[Test], processes: int, module: Callable[[Test], object], is_long: Callable[[Test], bool]
) -> list[Test]:
    """``tests`` in the order for ``processes``; tests of one kind and module stay together, in their order."""
    modules: dict[object, list[Test]] = {}
    for test in filter(is_long, tests):
        modules.setdefault(module(test), []).append(test)
    pieces: list[list[Test]] = [[] for _ in range(processes)]
    for number, together in enumerate(modules.values()):
        pieces[number % processes] += together
    short = [test for test in tests if not is_long(test)]
    left = len(tests)
    for number, piece in enumerate(pieces):
        size = left // (processes - number)
        room = max(size - len(piece), 0)
        piece += short[:room]
        short = short[room:]
        left -= len(piece)
    return [test for piece in (*pieces, short) for test in piece]
