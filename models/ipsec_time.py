"""Part of the model of block ``ipsec``: when frames leave a slot, cycle by cycle (docs/ipsec.md, Time).

A frame is looked up, then *judged* (its verdict doesn't depend on the output), then it *leaves*, behind the frame
before it. Frames are given in the order in which they came. Cycles are those of ``clk``; f and i of the page are
``first`` and ``last``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

__all__ = [
    "AES",
    "EARLY",
    "NO_KEY",
    "OUT",
    "PACES",
    "SM4",
    "Come",
    "Judged",
    "Kind",
    "Pace",
    "SlotTime",
    "Times",
    "blocks",
]

AES, SM4, NO_KEY = "AES", "SM4", "no key"
"""What a packet waits for in the engine."""

OUT = 3
"""Cycles from what is known of a frame to its first beat out."""


@dataclass(frozen=True)
class Pace:
    """Cycles of a slot.

    lookup       f to the command at the earliest (LOOKUP)
    needed       the beat that the command needs, to the command
    text         the command to the last of T blocks of text, less T
    last         i to the last block of text
    engine       the last block of text to the verdict, by what it waits for (ENGINE)
    again        verdict to verdict of frames out of the engine
    ended_look   look to the verdict of a frame that ends by a check of the head, or passes after its look-up
    ended_last   i to the same
    """

    lookup: int
    needed: int
    text: int
    last: int
    engine: Mapping[str, int]
    again: int
    ended_look: int
    ended_last: int


PACES = {
    "ipsec_rx": Pace(15, 2, 2, 4, {AES: 28, SM4: 46, NO_KEY: 13}, 4, 6, 7),
    "ipsec_tx": Pace(5, 2, 2, 4, {AES: 25, SM4: 43, NO_KEY: 10}, 1, 2, 3),
}
EARLY = -4
"""rx: from the end of the look-up to the last verdict that a frame's early check of the window sees."""


class Kind(Enum):
    """What a slot does with a frame."""

    PASSING = "passes, nothing for this block"
    LEFT = "passes, after its look-up"
    ENDED = "ends by a check of the head"
    WORKED = "goes through the engine"


@dataclass(frozen=True, slots=True)
class Come:
    """A frame as it comes.

    first, last  cycles of its first and last input handshake
    beats        beats in
    kind         what becomes of it
    needed       WORKED: the cycle of the beat with the last byte that the command needs (rx: of the IV); -1: none is
    begun        rx: the cycle of the beat with the last byte of the first block of text; -1: it waits for none
    blocks       WORKED: T, blocks of text
    engine       WORKED: AES, SM4 or NO_KEY
    short        WORKED: blocks of text that its header promises and that never come, and 1 where what the frame's last
                 beat has of the text is a beat of its own
    skipped      beats from the ESP header (tx: from the text) on that lie behind what the engine gets; of a frame that
                 isn't WORKED what the way to the engine spends on it
    behind       tx, WORKED: beats that are put behind the frame's head: headers, ciphertext, tag
    tail         tx, WORKED: how many of them come behind the last one out of the engine
    out          WORKED: beats out; 0: it ends here
    """

    first: int
    last: int
    beats: int
    kind: Kind = Kind.PASSING
    needed: int = -1
    begun: int = -1
    blocks: int = 0
    engine: str = AES
    short: int = 0
    skipped: int = 0
    behind: int = 0
    tail: int = 0
    out: int = 0

    @property
    def passes(self) -> bool:
        """It leaves as it came."""
        return self.kind in (Kind.PASSING, Kind.LEFT)


@dataclass(frozen=True, slots=True)
class Judged:
    """Cycles: ``look`` of the head's checks, ``command`` and ``given`` c and x of the page (-1: it isn't WORKED)."""

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
        self.pace = PACES[slot]
        self._free = self._leaves = self._worked = self._verdict = self._left = -(1 << 40)

    def look(self, first: int, passing: bool = False) -> int:
        """When the next frame was looked up, whose first beat comes in cycle ``first``."""
        return first if passing else first + self.pace.lookup

    def judge(self, frame: Come, look: int) -> Judged:
        """When the verdict of the next frame is, all of which has come."""
        pace = self.pace
        if frame.kind is Kind.PASSING:
            return Judged(look, -1, -1, frame.last)
        if frame.kind is not Kind.WORKED:
            self._free = max(look, self._free) + frame.skipped
            self._verdict = max(look + pace.ended_look, frame.last + pace.ended_last, self._verdict + 1)
            return Judged(look, -1, -1, self._verdict)
        command = max(look, frame.needed + pace.needed, self._free)
        given = max(
            command + frame.blocks + pace.text, frame.last + pace.last, frame.last + pace.last - 1 + frame.short
        )
        if frame.begun >= 0:
            given = max(given, frame.begun + pace.needed + 1 + frame.blocks)
        self._free = given + 1 + frame.skipped
        # Places leave the engine in their order, one a cycle: AAD, text, lengths.
        self._leaves = max(given + pace.engine[frame.engine], self._leaves + frame.blocks + 2)
        self._worked = max(self._leaves + frame.tail, self._worked + max(pace.again, frame.behind))
        self._verdict = max(self._worked, self._verdict + 1)
        return Judged(look, command, given, self._verdict)

    def leave(self, frame: Come, judged: Judged, before: int | None = None) -> Times:
        """When the next frame leaves an output that is always ready. before: the cycle of the last output handshake of
        the frames before it, where it was not."""
        if before is not None:
            self._left = max(self._left, before)
        beats = frame.beats if frame.passes else frame.out
        if not beats:
            self._left = max(self._left, judged.verdict + OUT)
            return Times(judged, -1, -1)
        first = max((judged.look if frame.passes else judged.verdict) + OUT, self._left + 1)
        last = first + beats - 1
        if frame.passes:
            last = max(last, frame.last + OUT)
        self._left = last
        return Times(judged, first, last)

    def take(self, frame: Come) -> Times:
        """All of it, for the next frame."""
        return self.leave(frame, self.judge(frame, self.look(frame.first, frame.kind is Kind.PASSING)))
