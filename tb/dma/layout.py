"""Regions and pages that benches of ``dma`` give each requester, and bus addresses without the model's own arithmetic.

Each requester has three regions: what it reads (``SOURCE``), what it writes in the host (``SINK``) and in the GPU
(``DEVICE``). The first byte of all but one lies off
its page. Their pages lie scattered, some below 4 GiB, never two beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from models.dma import Request
from models.dma_region import Region, Regions, Right, Target
from tb.dma.completer import BAR, PAGE

__all__ = ["ALL", "DEVICE", "SINK", "SOURCE", "base_of", "bus", "key_of", "layout", "pieces"]

SOURCE, SINK, DEVICE = range(3)
ALL = Right(31)
KEY = 0xA5_5A01_00
PAGES = 8
"""Pages of each region, and one more where its base isn't aligned."""


def key_of(requester: int, kind: int) -> int:
    """Key of a region: the upper bits of each differ too."""
    slot = 3 * requester + kind
    return KEY + (slot << 8) + slot


def base_of(requester: int, kind: int) -> int:
    """A place in a region that begins a page of 4 KiB: its first or, where that isn't all its own, its second."""
    slot = 3 * requester + kind
    return (slot + 1 << 36) + (PAGE if slot else 0)


def layout(requesters: int, page_size: int = PAGE, rights: Mapping[int, Right] | None = None) -> Regions:
    """All regions of all requesters; rights: of keys that haven't all."""
    regions, table = [], {}
    for requester in range(requesters):
        for kind in (SOURCE, SINK, DEVICE):
            slot, key = 3 * requester + kind, key_of(requester, kind)
            base = (slot + 1 << 36) + 0x2C1 * slot
            first = slot * (PAGES + 1)
            regions.append(
                Region(
                    key=key,
                    base=base,
                    length=PAGES * page_size,
                    rights=(rights or {}).get(key, ALL),
                    target=Target.BAR if kind == DEVICE else Target.HOST,
                    page_size=page_size,
                    first=first,
                )
            )
            for n in range(PAGES + 1):
                low = BAR.base if kind == DEVICE else 0x12_0000_0000 if n % 3 else 0x4000_0000
                table[first + n] = low + (slot * 64 + 7 * n % 64) * page_size
    return Regions(regions, table)


def bus(regions: Regions, key: int, addr: int) -> int:
    """Bus address of a byte."""
    region = regions.regions[key & 0xFF]
    low = region.base - region.base % region.page_size
    return regions.pages[region.first + (addr - low) // region.page_size] + (addr - low) % region.page_size


def pieces(regions: Regions, request: Request, length: int) -> Iterator[tuple[int, int]]:
    """Where the first ``length`` bytes of a request lie: bus address and offset of each piece, none over 4 KiB."""
    at = 0
    while at < length:
        addr = request.addr + at
        take = min(length - at, PAGE - addr % PAGE)
        yield (addr if request.key == 0 else bus(regions, request.key, addr)), at
        at += take
