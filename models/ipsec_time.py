"""Part of the model of block ``ipsec``: when frames leave a slot, cycle by cycle (docs/ipsec.md, Time).

A frame is *judged* (its verdict doesn't depend on the output), then it *leaves*, behind the frame before it. Frames are
given in the order in which they came. Cycles are those of ``clk``; f and i of the page are ``first`` and ``last``.
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
_OUT = 3
"""Cycles from what is known of a frame to its first beat out."""


class Kind(Enum):
    """What a slot does with a frame."""

    PASSING = "passes, nothing for this block"
    LEFT = "passes, after it was looked up"
    ENDED = "ends by a check of the head, or comes in bad"
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
    out          beats out; 0: it ends here
    """

    first: int
    last: int
    beats: int
    kind: Kind = Kind.PASSING
    needed: int = -1
    blocks: int = 0
    engine: str = AES
    out: int = 0


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

    def judge(self, frame: Come) -> Judged:
        """When its verdict is. A frame that comes in bad or too short has the blocks that came."""
        if frame.kind is Kind.PASSING:
            return Judged(frame.first, -1, -1, frame.last)
        self._look = look = max(frame.first + self.lookup, self._look + LOOKUP_EVERY)
        if frame.kind is Kind.LEFT:
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
        """When it leaves an output that is always ready. before: the cycle of the last output handshake of the frames
        before it, where others than this object know it."""
        if before is not None:
            self._left = max(self._left, before)
        passes = frame.kind in (Kind.PASSING, Kind.LEFT)
        known = judged.look if passes else judged.verdict
        first = max(known + _OUT, self._left + 1)
        beats = frame.beats if passes else frame.out
        last = first + beats - 1
        if passes:
            last = max(last, frame.last + _OUT)
        self._left = last
        return Times(judged, first, last) if beats else Times(judged, -1, -1)

    def take(self, frame: Come) -> Times:
        """Judge a frame and let it leave."""
        return self.leave(frame, self.judge(frame))
