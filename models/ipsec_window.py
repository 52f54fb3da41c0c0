"""Part of the model of block ``ipsec``: sequence numbers and the anti-replay window (RFC 4303 3.4.3, appendix A)."""

from __future__ import annotations

__all__ = ["LARGEST_WINDOW", "SMALLEST_WINDOW", "ReplayWindow", "high_half"]

SMALLEST_WINDOW = 32
LARGEST_WINDOW = 1024

_HALF = 1 << 32


def high_half(low: int, top: int, size: int) -> int | None:
    """Seqh of a packet (RFC 4303 A2.2) whose header says ``low``, with ``top`` the highest number so far and a window
    of ``size``. None: it would be below 0 or above 32 bits."""
    top_high, top_low = divmod(top, _HALF)
    bottom = top_low - size + 1
    if bottom >= 0:
        # Case A: the window lies in one subspace.
        high = top_high if low >= bottom else top_high + 1
    else:
        # Case B: it begins in the subspace before.
        high = top_high - 1 if low >= bottom + _HALF else top_high
    return high if 0 <= high < _HALF else None


class ReplayWindow:
    """Which numbers of an SA have come.

    size  numbers in the window: a multiple of 32 to 1024; 0 without ``esn``: no anti-replay
    esn   64-bit numbers
    top   the highest number so far; those up to it count as not seen
    """

    def __init__(self, size: int, esn: bool = False, top: int = 0) -> None:
        if size % SMALLEST_WINDOW or not 0 <= size <= LARGEST_WINDOW:
            raise ValueError(f"window {size}: 0, or a multiple of 32 to 1024 is wanted")
        if esn and not size:
            raise ValueError("window 0: extended sequence numbers need a window")
        if not 0 <= top < 1 << (64 if esn else 32):
            raise ValueError(f"sequence {top}: {64 if esn else 32} bits are wanted")
        self.size = size
        self.esn = esn
        self.top = top
        self._seen = 0
        """Bit k: number ``top - k`` has come."""

    def number(self, low: int) -> int | None:
        """The whole number of a packet whose header says ``low``. None: there is no such number."""
        if not self.esn:
            return low
        high = high_half(low, self.top, self.size)
        return None if high is None else high << 32 | low

    def fresh(self, number: int) -> bool:
        """It is in the window or right of it, and hasn't come."""
        if number == 0:
            return False
        if not self.size or number > self.top:
            return True
        behind = self.top - number
        return behind < self.size and not self._seen >> behind & 1

    def accept(self, number: int) -> None:
        """Its tag was good."""
        if number > self.top:
            self._seen = self._seen << min(number - self.top, self.size) & (1 << self.size) - 1
            self.top = number
        behind = self.top - number
        if behind < self.size:
            self._seen |= 1 << behind
