"""Memory protection of block ``dma``: regions, page tables, what a request may touch (docs/dma.md, Protection)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag

from models.dma_split import Part

__all__ = ["PAGE_SIZES", "Fault", "Region", "Regions", "Right", "Target", "right_of"]

PAGE_SIZES = (4 << 10, 16 << 10, 64 << 10, 2 << 20)
SPACE = 1 << 64


class Right(IntFlag):
    """What a region allows. No request asks for an atomic yet."""

    LOCAL_READ = 1
    LOCAL_WRITE = 2
    REMOTE_READ = 4
    REMOTE_WRITE = 8
    REMOTE_ATOMIC = 16


class Target(IntEnum):
    """Where a region's pages lie."""

    HOST = 0
    BAR = 1


class Fault(IntEnum):
    """Why a request is refused; the values are those of ``done_code``. The first one in this order is told."""

    NO_REGION = 1
    BOUNDS = 2
    RIGHTS = 3
    NO_PAGE = 4


def right_of(write: bool, remote: bool) -> Right:
    """The right that a read or a write needs."""
    if remote:
        return Right.REMOTE_WRITE if write else Right.REMOTE_READ
    return Right.LOCAL_WRITE if write else Right.LOCAL_READ


@dataclass(frozen=True, kw_only=True)
class Region:
    """One entry of the region table; first: entry of the page table that holds the page of ``base``."""

    key: int
    base: int
    length: int
    rights: Right
    target: Target = Target.HOST
    page_size: int = PAGE_SIZES[0]
    first: int = 0

    def __post_init__(self) -> None:
        if self.page_size not in PAGE_SIZES:
            raise ValueError(f"a page of {self.page_size} bytes")
        if not 0 <= self.base <= self.base + self.length <= SPACE:
            raise ValueError(f"region {self.key:#x} isn't within 64 bits")

    def pages(self, addr: int, length: int) -> range:
        """Entries of the page table that these bytes lie in."""
        low = self.base // self.page_size
        first, last = addr // self.page_size - low, (addr + length - 1) // self.page_size - low
        return range(self.first + first, self.first + last + 1)


class Regions:
    """The two tables. pages: bus address of each entry that is present."""

    def __init__(
        self, regions: Iterable[Region] = (), pages: Mapping[int, int] | None = None, size: int = 4096
    ) -> None:
        self.size = size
        self.regions: dict[int, Region] = {}
        self.pages: dict[int, int] = dict(pages or {})
        for region in regions:
            if region.key & 0xFF in self.regions:
                raise ValueError(f"two regions in slot {region.key & 0xFF}")
            self.regions[region.key & 0xFF] = region

    def find(self, key: int) -> Region | None:
        """The region of this key: its slot, and all of its upper 24 bits."""
        region = self.regions.get(key & 0xFF)
        return region if region is not None and region.key == key else None

    def check(self, *, write: bool, remote: bool, key: int, addr: int, length: int) -> Fault | tuple[Part, ...]:
        """The pieces of a request in bus addresses, one a page, or why there are none. length: 1 at least."""
        region = self.find(key)
        if region is None:
            return Fault.NO_REGION
        if addr < region.base or addr + length > region.base + region.length:
            return Fault.BOUNDS
        if not region.rights & right_of(write, remote):
            return Fault.RIGHTS
        pieces = []
        end = addr + length
        for entry in region.pages(addr, length):
            if entry >= self.size or entry not in self.pages:
                return Fault.NO_PAGE
            offset = addr % region.page_size
            take = min(end - addr, region.page_size - offset)
            pieces.append(Part(self.pages[entry] + offset, take))
            addr += take
        return tuple(pieces)

    @staticmethod
    def physical(addr: int, length: int) -> Fault | tuple[Part, ...]:
        """A request with a bus address of its own: one piece."""
        return (Part(addr, length),) if addr + length <= SPACE else Fault.BOUNDS
