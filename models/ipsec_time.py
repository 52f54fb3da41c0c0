"""Part of the model of block ``ipsec``: when frames leave a slot, cycle by cycle (docs/ipsec.md, Time).

A frame is looked up, then *judged* (its verdict doesn't depend on the output), then it *leaves*, behind the frame
before it. Frames are given in the order in which they came. Cycles are those of ``clk``; f and i of the page are
``first`` and ``last``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["AES", "ENGINE", "LOOKUP", "NO_KEY", "SM4", "Come", "Judged", "Kind", "SlotTime", "Times", "blocks"]

AES, SM4, NO_KEY = "AES", "SM4", "no key"
"""What a packet waits for in the engine."""

LOOKUP = {"ipsec_rx": 14, "ipsec_tx": 4}
"""Cycles from a frame's first beat to its command at the earliest."""

ENGINE = {AES: 24, SM4: 42, NO_KEY: 9}
"""Cycles from the last block of text to the verdict, of a packet in an engine that holds nothing else."""

LOOKUP_EVERY = 4
"""Cycles from a frame to the next that is looked up."""
OUT = 3
"""Cycles from what is known of a frame to its first beat out."""


class Kind(Enum):
    """What a slot does with a frame."""

    PASSING = "passes, nothing for this block"
    LEFT = "passes, after it was looked up"
    ENDED = "ends by a check of the head"
    WORKED = "goes through the engine"


@dataclass(frozen=True, slots=True)
class Come:
    """A frame as it comes.

    first, last  cycles of its first and last input handshake
    beats        beats in
    kind         what becomes of it
    needed       WORKED: the cycle of the beat with the last byte that the command needs (rx: of the IV); -1: none is
    blocks       WORKED: T, blocks of text
    engine       WORKED: AES, SM4 or NO_KEY
    out          WORKED: beats out; 0: it ends here
    """

    first: int
    last: int
    beats: int
    kind: Kind = Kind.PASSING
    needed: int = -1
    blocks: int = 0
    engine: str = AES
    out: int = 0

    @property
    def passes(self) -> bool:
        """It leaves as it came."""
        return self.kind in (Kind.PASSING, Kind.LEFT)


@dataclass(frozen=True, slots=True)
class Judged:
    """Cycles: ``look`` the head's checks, ``command`` c and ``given`` x of the page (-1: it isn't WORKED), ``verdict``."""

    look: int
    command: int
    given: int
    verdict: int


@dataclass(frozen=True, slots=True)
class Times:
    """When a frame leaves; -1: it ends here, and its disposition is told in cycle ``judged.verdict``."""

    judged: Judged
    first_out: int
    last_out: int


def blocks(n: int) -> int:
    """T of a text of n bytes."""
    return -(-n // 16)


class SlotTime:
    """One slot from its reset on. slot: "ipsec_rx" or "ipsec_tx"."""

    def __init__(self, slot: str) -> None:
        self.lookup = LOOKUP[slot]
        self._look = self._free = self._leaves = self._verdict = self._left = -(1 << 40)

    def look(self, first: int, passing: bool = False) -> int:
        """When the checks of the head of the next frame are done, whose first beat comes in cycle ``first``."""
        if passing:
            return first
        self._look = max(first + self.lookup, self._look + LOOKUP_EVERY)
        return self._look

    def judge(self, frame: Come, look: int) -> Judged:
        """When the verdict of the next frame is, all of which has come. One that is too short has the blocks that came."""
        if frame.passes:
            return Judged(look, -1, -1, frame.last)
        if frame.kind is Kind.ENDED:
            self._verdict = max(look, frame.last + 2, self._verdict + 1)
            return Judged(look, -1, -1, self._verdict)
        command = max(look, frame.needed + 2, self._free)
        given = max(command + frame.blocks + 1, frame.last + 2)
        self._free = given + 1
        # Places leave the engine in their order, one a cycle: AAD, text, lengths.
        self._leaves = max(given + ENGINE[frame.engine], self._leaves + frame.blocks + 2)
        self._verdict = max(self._leaves, self._verdict + 1)
        return Judged(look, command, given, self._verdict)

    def leave(self, frame: Come, judged: Judged, before: int | None = None) -> Times:
        """When the next frame leaves an output that is always ready. before: the cycle of the last output handshake of
        the frames before it, where it was not."""
        if before is not None:
            self._left = max(self._left, before)
        known = judged.look if frame.passes else judged.verdict
        first = max(known + OUT, self._left + 1)
        beats = frame.beats if frame.passes else frame.out
        last = first + beats - 1
        if frame.passes:
            last = max(last, frame.last + OUT)
        self._left = last
        return Times(judged, first, last) if beats else Times(judged, -1, -1)

    def take(self, frame: Come) -> Times:
        """All of it, for the next frame."""
        return self.leave(frame, self.judge(frame, self.look(frame.first, frame.kind is Kind.PASSING)))
