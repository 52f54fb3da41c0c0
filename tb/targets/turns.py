"""Coroutines that take turns in a device's own time, without an event loop's clock.

A coroutine is suspended only on a `Wait`. Outside a gather nothing else can happen, so time just moves to the wait's
end; inside one it moves when all of its coroutines wait. What runs when depends on the device alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator
from typing import Any

__all__ = ["Turns", "Wait"]


class Wait:
    """What a coroutine is suspended on: a time, or a condition that may hold before it.

    events: the device's own name of what may make the condition true.
    """

    def __init__(self, until: float, condition: Callable[[], bool] | None = None, events: int = 0) -> None:
        self.until = until
        self.condition = condition
        self.events = events

    def __await__(self) -> Generator[Wait, None, None]:
        yield self


class Turns(ABC):
    """Time, and the coroutines that wait for it; its unit is the device's."""

    def __init__(self) -> None:
        self._depth = 0

    @abstractmethod
    def time(self) -> float:
        """Now."""

    @abstractmethod
    async def advance(self, wait: Wait) -> None:
        """Move time on: to the end of ``wait``, or to where its condition may hold, or a part of the way."""

    @property
    def shared(self) -> bool:
        """A gather is under way: others may wait for a time."""
        return self._depth > 0

    async def wait(self, wait: Wait) -> None:
        """Suspend until ``wait`` is over."""
        while not self._over(wait):
            if self._depth:
                await wait
            else:
                await self.advance(wait)

    def _over(self, wait: Wait) -> bool:
        return self.time() >= wait.until or (wait.condition is not None and wait.condition())

    async def gather(self, *coroutines: Awaitable[Any]) -> list[Any]:
        """Run things at once; results in order; the first error ends the others."""
        running: dict[int, Generator[Wait, None, Any]] = {i: c.__await__() for i, c in enumerate(coroutines)}
        waits: dict[int, Wait] = {}
        results: list[Any] = [None] * len(running)
        nested = self._depth > 0
        self._depth += 1
        try:
            while running:
                ready = [i for i in running if i not in waits or self._over(waits[i])]
                for i in ready:
                    waits.pop(i, None)
                    try:
                        waits[i] = next(running[i])
                    except StopIteration as stop:
                        results[i] = stop.value
                        del running[i]
                if running and not any(i not in waits or self._over(waits[i]) for i in running):
                    await self._idle(list(waits.values()), nested)
        finally:
            self._depth -= 1
            for coroutine in running.values():
                coroutine.close()
        return results

    async def _idle(self, waits: list[Wait], nested: bool) -> None:
        """All coroutines of a gather wait: hand the wait to the gather around it, or move time."""
        nearest = min(wait.until for wait in waits)
        events = 0
        for wait in waits:
            events |= wait.events
        together = Wait(nearest, lambda: any(self._over(wait) for wait in waits), events)
        if nested:
            await together
        else:
            await self.advance(together)
