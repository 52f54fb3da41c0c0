"""Host memory as RoCE sees it: regions with keys, bounds and rights, gathered and scattered (docs/roce.md, Memory).

The regions are those of docs/dma.md; what dma refuses is refused here with the same reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

__all__ = ["Fault", "Memory", "Region", "Right", "Sge"]


class Right(IntFlag):
    """What a region allows: the bits of docs/dma.md, Protection."""

    LOCAL_READ = 1
    LOCAL_WRITE = 2
    REMOTE_READ = 4
    REMOTE_WRITE = 8
    REMOTE_ATOMIC = 16


class Fault(IntEnum):
    """Why an access is refused, in the order in which it is looked at."""

    NO_REGION = 1
    BOUNDS = 2
    RIGHTS = 3


@dataclass(frozen=True)
class Sge:
    """A piece of local memory."""

    address: int
    length: int
    key: int


@dataclass
class Region:
    """One region and its bytes. ``writes``: every (address, length) that was written, in order."""

    key: int
    base: int
    data: bytearray
    rights: Right
    writes: list[tuple[int, int]] = field(default_factory=list)


class Memory:
    """Regions by their whole key."""

    def __init__(self, *regions: Region) -> None:
        self.regions = {region.key: region for region in regions}

    def fault(self, key: int, address: int, length: int, right: Right) -> Fault | None:
        """Why these bytes may not be touched. Of none nothing is looked at."""
        if not length:
            return None
        region = self.regions.get(key)
        if region is None:
            return Fault.NO_REGION
        if address < region.base or address + length > region.base + len(region.data):
            return Fault.BOUNDS
        return None if region.rights & right else Fault.RIGHTS

    def read(self, key: int, address: int, length: int) -> bytes:
        """Bytes of what ``fault`` allows."""
        if not length:
            return b""
        region = self.regions[key]
        return bytes(region.data[address - region.base : address - region.base + length])

    def write(self, key: int, address: int, data: bytes) -> None:
        """Bytes into what ``fault`` allows."""
        if data:
            region = self.regions[key]
            region.data[address - region.base : address - region.base + len(data)] = data
            region.writes.append((address, len(data)))

    def list_fault(self, pieces: Sequence[Sge], right: Right) -> Fault | None:
        """The first fault of a list of pieces."""
        faults = (self.fault(piece.key, piece.address, piece.length, right) for piece in pieces)
        return next((fault for fault in faults if fault is not None), None)

    @staticmethod
    def cut(pieces: Sequence[Sge], offset: int, length: int) -> list[Sge]:
        """The part of a list that holds bytes ``offset`` .. ``offset + length - 1`` of it."""
        out = []
        for piece in pieces:
            skip = min(offset, piece.length)
            take = min(piece.length - skip, length)
            if take:
                out.append(Sge(piece.address + skip, take, piece.key))
            offset -= skip
            length -= take
        return out

    def gather(self, pieces: Sequence[Sge], offset: int, length: int) -> bytes:
        """Bytes of a list."""
        parts = self.cut(pieces, offset, length)
        return b"".join(self.read(part.key, part.address, part.length) for part in parts)

    def scatter(self, pieces: Sequence[Sge], offset: int, data: bytes) -> None:
        """Bytes into a list."""
        at = 0
        for part in self.cut(pieces, offset, len(data)):
            self.write(part.key, part.address, data[at : at + part.length])
            at += part.length
