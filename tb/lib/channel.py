"""One driven port of a module with valid and ready: a queue of items, each of one beat or several.

A port that offers nothing carries noise, or X under a four-state simulator. Whoever owns the ports of a module calls
``drive`` behind each rising edge and ``sample`` at the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from cocotb.triggers import Event

from tb.lib.pause import Reactive

__all__ = ["Channel", "Taken"]

Item = TypeVar("Item")


@dataclass(slots=True)
class Taken(Generic[Item]):
    """What went in. first, last: cycles of the first and the last handshake."""

    item: Item
    first: int = -1
    last: int = -1


class Channel(Generic[Item]):
    """One port that is driven: a queue of items, each of one beat or several.

    ``pause``: an iterator of ``tb.lib.pause`` that decides in which cycles a beat may be offered first; None: in each.
    """

    def __init__(
        self,
        dut: Any,
        valid: str,
        ready: str,
        fields: dict[str, str],
        beats: Callable[[Item], list[dict[str, int | str]]],
        noise: Callable[[int], int | str],
    ) -> None:
        self.pause: Iterator[bool] | None = None
        self.taken: Callable[[Taken[Item]], None] = lambda taken: None
        self.name = valid.removesuffix("valid").rstrip("_")
        self._valid, self._ready = getattr(dut, valid), getattr(dut, ready)
        self._fields = {name: getattr(dut, signal) for name, signal in fields.items()}
        self._beats, self._noise = beats, noise
        self._queue: deque[tuple[dict[str, int | str], Taken[Item], bool]] = deque()
        self._offered: tuple[dict[str, int | str], Taken[Item], bool] | None = None
        self._items = 0
        self._room = Event()
        self._high = True
        self.clear()

    def append(self, item: Item) -> None:
        """Queue an item."""
        beats = self._beats(item)
        taken = Taken(item)
        self._queue.extend((beat, taken, index == len(beats) - 1) for index, beat in enumerate(beats))
        self._items += 1

    async def room(self) -> None:
        """Wait until no more than one item is queued or under way."""
        while self._items > 1:
            self._room.clear()
            await self._room.wait()

    @property
    def pending(self) -> int:
        """Items that are queued or under way."""
        return self._items

    @property
    def offered(self) -> dict[str, int | str] | None:
        """The beat that is offered."""
        return self._offered[0] if self._offered is not None else None

    @property
    def queued(self) -> int:
        """Beats that wait behind the one that is offered."""
        return len(self._queue)

    def clear(self) -> None:
        """Forget everything: for a reset."""
        self._queue.clear()
        self._offered = None
        self._items = 0
        self._room.set()
        self._release()

    def _release(self) -> None:
        if self._high:
            self._high = False
            self._valid.value = 0
            for handle in self._fields.values():
                handle.value = self._noise(len(handle))

    def drive(self) -> None:
        """What holds in the cycle that begins."""
        if self._offered is not None:
            return
        if self._queue:
            pause = self.pause
            if isinstance(pause, Reactive):
                pause.see(True, self._queue[0][2])
            if pause is None or next(pause):
                self._offered = self._queue.popleft()
                for name, value in self._offered[0].items():
                    self._fields[name].value = value
                if not self._high:
                    self._valid.value = 1
                    self._high = True
                return
        self._release()

    def sample(self, now: int) -> None:
        """What was in the cycle that ends now."""
        if self._offered is None:
            return
        ready = str(self._ready.value)
        if ready == "1":
            _, taken, last = self._offered
            self._offered = None
            if taken.first < 0:
                taken.first = now
            if last:
                taken.last = now
                self._items -= 1
                self._room.set()
                self.taken(taken)
        else:
            assert ready == "0", f"{self.name}: cycle {now}: ready is {ready}"
