"""Moderation, arming and MSI-X of block ``rings`` (docs/rings.md, Interrupts).

PCI Local Bus Specification 3.0, 6.8.2 (table and PBA), 6.8.3.5 (masking); PCI Express 4.0, 7.7.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Message", "Moderation", "Msix", "Vector"]


@dataclass(frozen=True)
class Message:
    """What is written to host memory."""

    vector: int
    address: int
    data: int


@dataclass
class Vector:
    """An entry of the table; all ones but the mask is undefined after reset."""

    address: int = 0
    data: int = 0
    masked: bool = True


@dataclass
class Moderation:
    """One queue's: counts completions that were written and not taken, says when it fires. usecs: 0, at once."""

    packets: int = 0
    usecs: int = 0
    armed: bool = False
    unannounced: int = 0
    since_ns: int = 0
    """When the first of them was written, or the queue was armed, whichever was later."""

    def completed(self, count: int, now_ns: int) -> None:
        if self.unannounced == 0:
            self.since_ns = now_ns
        self.unannounced += count

    def head(self, left: int, arm: bool, now_ns: int) -> None:
        """The driver's doorbell leaves so many completions."""
        self.unannounced = left
        if arm:
            self.armed = True
            self.since_ns = now_ns

    def deadline_ns(self) -> int | None:
        """When it fires if nothing more comes; None: never."""
        if not self.armed or self.unannounced == 0:
            return None
        if self.packets and self.unannounced >= self.packets:
            return self.since_ns
        return self.since_ns + 1000 * self.usecs

    def fires(self, now_ns: int) -> bool:
        """Whether it fires now, which disarms."""
        deadline = self.deadline_ns()
        if deadline is None or deadline > now_ns:
            return False
        self.armed = False
        return True


@dataclass
class Msix:
    """Table, PBA, and what waits. Causes are the queues and, under number ``EVENT``, the events."""

    vectors: list[Vector]
    enable: bool = False
    masked: bool = False
    pending: dict[int, int] = field(default_factory=dict)
    """Vector of each cause that fired and whose message hasn't left."""

    EVENT = -1

    def fire(self, cause: int, vector: int) -> None:
        """A cause of a vector that isn't in the table never fires."""
        if vector < len(self.vectors):
            self.pending[cause] = vector

    def served(self, cause: int) -> None:
        """6.8.3.5: the cause is gone, so pending is cleared and no message comes when the vector is unmasked."""
        self.pending.pop(cause, None)

    def pba(self) -> int:
        return sum(1 << vector for vector in set(self.pending.values()))

    def may_send(self) -> Iterator[Message]:
        """Messages that may leave now."""
        if not self.enable or self.masked:
            return
        for number in sorted(set(self.pending.values())):
            vector = self.vectors[number]
            if not vector.masked:
                yield Message(number, vector.address & ~3, vector.data)

    def sent(self, number: int) -> None:
        """One message for all causes of the vector."""
        self.pending = {cause: vector for cause, vector in self.pending.items() if vector != number}
