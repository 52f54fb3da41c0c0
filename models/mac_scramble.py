"""The scrambler of the 64B/66B PCS and its test patterns (IEEE 802.3 clauses 49.2.6, 49.2.8, 49.2.10, 49.2.12).

Bits are numbered as on the wire: bit 0 of a payload or of a block first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import pairwise

from models.mac_pcs import CONTROL_SYNC, DATA_SYNC, LBLOCK

__all__ = [
    "SEED_BLOCKS",
    "Descrambler",
    "Pattern",
    "Prbs31",
    "Prbs31Checker",
    "PseudoRandomChecker",
    "Scrambler",
    "pseudo_random",
    "runs",
    "sync_valid",
]

_STATE = (1 << 58) - 1
_PAYLOAD = (1 << 64) - 1
SEED_BLOCKS = 128
"""Blocks between two loads of a seed."""
COUNTER_MAX = 0xFFFF
"""The error counter has 16 bits and doesn't roll over."""


class Pattern(IntEnum):
    """``cfg_pattern``."""

    NONE = 0
    SQUARE = 1
    PSEUDO_RANDOM = 2
    PRBS31 = 3


def _history(seed: int) -> int:
    """Figure 49-8 numbers the register S0 (the newest bit) to S57; a history has the oldest bit lowest."""
    return int(f"{seed & _STATE:058b}"[::-1], 2)


class Scrambler:
    """1 + x^39 + x^58, self-synchronous (figure 49-8). ``seed``: S57 to S0."""

    def __init__(self, seed: int = _STATE) -> None:
        self._bits = _history(seed)

    def load(self, seed: int) -> None:
        self._bits = _history(seed)

    def payload(self, payload: int) -> int:
        """Scrambles 64 bits."""
        made = at = 0
        for count in (39, 25):  # the tap at 39 reaches no bit of its own piece
            mask = (1 << count) - 1
            out = (payload >> at ^ self._bits ^ self._bits >> 19) & mask
            self._bits = self._bits >> count | out << 58 - count
            made |= out << at
            at += count
        return made

    def block(self, block: int) -> int:
        """Scrambles the payload of a block and leaves its sync header alone."""
        return self.payload(block >> 2) << 2 | block & 3


class Descrambler:
    """The inverse (figure 49-10): right from the 59th bit on, whatever it held at first."""

    def __init__(self, seed: int = _STATE) -> None:
        self._bits = _history(seed)

    def payload(self, payload: int) -> int:
        bits = self._bits | payload << 58
        self._bits = bits >> 64
        return (payload ^ bits ^ bits >> 19) & _PAYLOAD

    def block(self, block: int) -> int:
        return self.payload(block >> 2) << 2 | block & 3


def pseudo_random(seed_a: int, seed_b: int, *, local_fault: bool) -> Iterator[int]:
    """49.2.8: blocks of the pseudo-random pattern without end. 128 blocks each from seed A, A inverted, B, B inverted;
    the data, zeros or two local fault ordered sets, is inverted with the seed; the sync header is that of control."""
    scrambler = Scrambler()
    data = LBLOCK >> 2 if local_fault else 0
    while True:
        for seed, inverted in ((seed_a, False), (seed_a, True), (seed_b, False), (seed_b, True)):
            scrambler.load(seed ^ _STATE if inverted else seed)
            for _ in range(SEED_BLOCKS):
                yield scrambler.payload(data ^ _PAYLOAD if inverted else data) << 2 | CONTROL_SYNC


class PseudoRandomChecker:
    """49.2.12: a descrambled payload must be the data or its inverse. The load of a seed shows as one wrong block in
    128: the first one of 128 blocks isn't counted."""

    def __init__(self, *, local_fault: bool) -> None:
        data = LBLOCK >> 2 if local_fault else 0
        self._right = (data, data ^ _PAYLOAD)
        self._descrambler = Descrambler()
        self._left = 0
        self.errors = 0

    def block(self, block: int) -> None:
        wrong = self._descrambler.payload(block >> 2) not in self._right
        if wrong and self._left:
            self.errors = min(COUNTER_MAX, self.errors + 1)
        elif wrong:
            self._left = SEED_BLOCKS
        self._left = max(0, self._left - 1)


class Prbs31:
    """Figure 49-9: x^31 + x^28 + 1, inverted; it fills whole blocks, sync headers too."""

    def __init__(self, state: int = (1 << 31) - 1) -> None:
        self._bits = state

    def block(self) -> int:
        made = 0
        for at in (0, 28, 56):
            count = min(28, 66 - at)
            mask = (1 << count) - 1
            out = (self._bits ^ self._bits >> 3) & mask
            self._bits = self._bits >> count | out << 31 - count
            made |= (out ^ mask) << at
        return made


class Prbs31Checker:
    """Figure 49-11: each bit against what the two taps before it say. A wrong bit counts three times: itself and as it
    passes each tap."""

    def __init__(self) -> None:
        self._bits = 0
        self.errors = 0

    def block(self, block: int) -> int:
        """Errors of one block, which are added to ``errors`` too."""
        bits = self._bits | block << 31
        wrong = ~(block ^ bits ^ bits >> 3) & (1 << 66) - 1
        self._bits = bits >> 66
        count = wrong.bit_count()
        self.errors = min(COUNTER_MAX, self.errors + count)
        return count


def runs(blocks: Iterable[int]) -> list[int]:
    """Lengths of the runs of equal bits in a row of blocks: for the square wave (n ones, n zeros, n from 4 to 11)."""
    bits = "".join(f"{block:066b}"[::-1] for block in blocks)
    lengths = [1]
    for before, bit in pairwise(bits):
        if bit == before:
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths


def sync_valid(block: int) -> bool:
    """The two bits of a sync header differ."""
    return block & 3 in (CONTROL_SYNC, DATA_SYNC)
