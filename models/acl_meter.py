"""Two-rate three-colour meters (RFC 2698), colour-blind.

The arithmetic is exact: rates are bits a second and times ns, so a bucket holds units of 10**-9 bits and nothing is
rounded. A bucket is filled when it is looked at, by what its rate gave since: idle time costs and loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["PER_BYTE", "Colour", "Meter", "MeterRates"]

PER_BYTE = 8 * 10**9
"""Units of a bucket that a byte takes."""

_MOST_RATE = 10**12
_MOST_BURST = 1 << 32


class Colour(IntEnum):
    """RFC 2698 section 1."""

    GREEN = 0
    YELLOW = 1
    RED = 2


@dataclass(frozen=True, slots=True)
class MeterRates:
    """Parameters of a meter (RFC 2698 section 2).

    cir, pir     committed and peak rate in bits a second, of the frames without FCS
    cbs, pbs     burst sizes in bytes
    yellow_dscp  what yellow frames are marked with; None: they aren't

    ValueError: what the RFC excludes (a peak below the committed rate, a burst of 0); more than 10**12 bits a second or
    2**32 - 1 bytes.
    """

    cir: int
    pir: int
    cbs: int
    pbs: int
    yellow_dscp: int | None = None

    def __post_init__(self) -> None:
        for name in ("cir", "pir"):
            if not 0 < getattr(self, name) <= _MOST_RATE:
                raise ValueError(f"{name}: {getattr(self, name)}; accepted: 1 to {_MOST_RATE} bits a second")
        for name in ("cbs", "pbs"):
            if not 0 < getattr(self, name) < _MOST_BURST:
                raise ValueError(f"{name}: {getattr(self, name)}; accepted: 1 to {_MOST_BURST - 1} bytes")
        if self.pir < self.cir:
            raise ValueError(f"pir: {self.pir} is below cir {self.cir}; accepted: cir or more")
        if self.yellow_dscp is not None and not 0 <= self.yellow_dscp < 64:
            raise ValueError(f"yellow_dscp: {self.yellow_dscp}; accepted: 0 to 63")


class Meter:
    """One meter: the buckets P and C of RFC 2698 section 3, full at time 0.

    tp, tc  what is in them, in units of 10**-9 bits
    """

    def __init__(self, rates: MeterRates) -> None:
        self.rates = rates
        self.tp = rates.pbs * PER_BYTE
        self.tc = rates.cbs * PER_BYTE
        self.time_ns = 0

    def colour(self, now_ns: int, size: int) -> Colour:
        """Of a frame of so many bytes that comes at this time; it takes its tokens. ValueError: time goes back."""
        self._fill(now_ns)
        cost = size * PER_BYTE
        if self.tp < cost:
            return Colour.RED
        self.tp -= cost
        if self.tc < cost:
            return Colour.YELLOW
        self.tc -= cost
        return Colour.GREEN

    def _fill(self, now_ns: int) -> None:
        passed = now_ns - self.time_ns
        if passed < 0:
            raise ValueError(f"time goes back from {self.time_ns} ns to {now_ns} ns")
        self.time_ns = now_ns
        self.tp = min(self.rates.pbs * PER_BYTE, self.tp + passed * self.rates.pir)
        self.tc = min(self.rates.cbs * PER_BYTE, self.tc + passed * self.rates.cir)
