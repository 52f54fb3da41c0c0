"""Regions and page tables: what a request may touch, and where it lies on the bus.

Sweep:    four page sizes; first and last bytes of regions and pages; each right of each kind of request; keys
Stimulus: all cases at the borders; random regions and requests (hypothesis)
Checks:   byte by byte against the tables; the first fault in the order of codes; pieces cross no page
Timing:   none
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.dma_region import PAGE_SIZES, Fault, Region, Regions, Right, Target, right_of
from models.dma_split import Part
from tests.dma.host import bus

KEY = 0xABCDEF07


def one(page_size: int = 4096, pages: dict[int, int] | None = None, **fields: object) -> Regions:
    values = {"key": KEY, "base": 0x10_0000_0100, "length": 3 * page_size, "rights": Right(31), "first": 20} | fields
    table = pages if pages is not None else {20 + n: (n * 5 + 3) * page_size for n in range(4)}
    return Regions([Region(page_size=page_size, **values)], table)


def asked(regions: Regions, addr: int, length: int, **fields: object) -> Fault | tuple[Part, ...]:
    return regions.check(**({"write": False, "remote": False, "key": KEY, "addr": addr, "length": length} | fields))


@pytest.mark.parametrize("page_size", PAGE_SIZES)
def test_pages_need_not_be_contiguous_on_the_bus(page_size):
    """Coyote#191: huge pages were taken as one contiguous run."""
    regions = one(page_size)
    base = 0x10_0000_0100
    edge = (base // page_size + 1) * page_size
    pieces = asked(regions, edge - 10, 30)
    assert pieces == (Part(bus(regions, KEY, edge - 10), 10), Part(bus(regions, KEY, edge), 20))
    assert asked(regions, base, 3 * page_size)[0].address == bus(regions, KEY, base)
    assert [piece.bytes for piece in asked(regions, base, 3 * page_size)] == [
        page_size - base % page_size,
        page_size,
        page_size,
        *([base % page_size] if base % page_size else []),
    ]


@given(
    st.sampled_from(PAGE_SIZES[:2]),
    st.integers(0, 1 << 40),
    st.integers(1, 40000),
    st.integers(-2, 40002),
    st.integers(1, 20000),
)
def test_each_byte_of_a_request_is_in_the_piece_of_its_page(page_size, base, length, offset, size):
    table = {n: ((n * 7919) % 64 + 1) * page_size for n in range(12)}
    regions = one(page_size, table, base=base, length=length, first=0)
    addr = max(0, base + offset)
    told = asked(regions, addr, size)
    assert (told is Fault.BOUNDS) == (addr < base or addr + size > base + length)
    if not isinstance(told, Fault):
        assert all(piece.address % page_size + piece.bytes <= page_size for piece in told)
        flat = [piece.address + n for piece in told for n in (0, piece.bytes - 1)]
        ends, at = [], addr
        for piece in told:
            ends += [bus(regions, KEY, at), bus(regions, KEY, at + piece.bytes - 1)]
            at += piece.bytes
        assert flat == ends and at == addr + size


@pytest.mark.parametrize(
    ("addr", "length", "fault"),
    [
        (0x10_0000_0100, 0x3000, None),
        (0x10_0000_00FF, 1, Fault.BOUNDS),
        (0x10_0000_0100, 0x3001, Fault.BOUNDS),
        (0x10_0000_30FF, 1, None),
        (0x10_0000_3100, 1, Fault.BOUNDS),
        ((1 << 64) - 1, 0xFFFF_FFFF, Fault.BOUNDS),
        (0, 0xFFFF_FFFF, Fault.BOUNDS),
    ],
)
def test_bounds_are_exact_and_nothing_wraps(addr, length, fault):
    told = asked(one(), addr, length)
    assert (told if isinstance(told, Fault) else None) == fault


def test_a_region_may_end_at_the_top_of_all_addresses():
    regions = one(base=(1 << 64) - 0x1000, length=0x1000, pages={20: 0x5000})
    assert asked(regions, (1 << 64) - 1, 1) == (Part(0x5FFF, 1),)
    assert asked(regions, (1 << 64) - 1, 2) is Fault.BOUNDS
    assert Regions.physical((1 << 64) - 4, 4) == (Part((1 << 64) - 4, 4),)
    assert Regions.physical((1 << 64) - 4, 5) is Fault.BOUNDS


def test_all_bits_of_a_key_count():
    for bit in range(32):
        assert asked(one(), 0x10_0000_0100, 1, key=KEY ^ 1 << bit) is Fault.NO_REGION
    assert asked(Regions(), 0, 1, key=0) is Fault.NO_REGION


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("remote", [False, True])
def test_exactly_one_right_allows_a_request(write, remote):
    allowed = [
        right
        for right in Right
        if not isinstance(asked(one(rights=right), 0x10_0000_0100, 1, write=write, remote=remote), Fault)
    ]
    assert allowed == [right_of(write, remote)]
    names = {(False, False): "LOCAL_READ", (True, False): "LOCAL_WRITE", (False, True): "REMOTE_READ"}
    assert allowed[0].name == names.get((write, remote), "REMOTE_WRITE")
    assert asked(one(rights=Right(31) ^ allowed[0]), 0x10_0000_0100, 1, write=write, remote=remote) is Fault.RIGHTS


def test_each_page_of_a_request_must_be_present():
    pages = {20: 0x3000, 21: 0x9000, 22: 0x1000, 23: 0x7000}
    for absent in pages:
        regions = one(pages={n: at for n, at in pages.items() if n != absent})
        told = [asked(regions, 0x10_0000_0100 + n, 1) for n in (0, 0xF00, 0x1F00, 0x2F00)]
        assert [one is Fault.NO_PAGE for one in told] == [n == absent for n in pages]
        assert asked(regions, 0x10_0000_0100, 0x3000) is Fault.NO_PAGE
    edge = one(first=4094, pages={4094 + n: 0x1000 * n for n in range(4)})
    assert len(asked(edge, 0x10_0000_0100, 0x1F00)) == 2
    assert asked(edge, 0x10_0000_0100, 0x1F01) is Fault.NO_PAGE, "entry 4096 is beyond the table"


def test_the_first_fault_in_the_order_of_codes_is_told():
    nothing = one(rights=Right(0), pages={})
    assert asked(nothing, 0, 1, key=1) is Fault.NO_REGION
    assert asked(nothing, 0, 1) is Fault.BOUNDS
    assert asked(nothing, 0x10_0000_0100, 1) is Fault.RIGHTS
    assert asked(one(pages={}), 0x10_0000_0100, 1) is Fault.NO_PAGE


def test_tables_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="a page of 8192 bytes"):
        one(page_size=8192)
    with pytest.raises(ValueError, match="isn't within 64 bits"):
        one(base=(1 << 64) - 1, length=2)
    region = Region(key=0x107, base=0, length=1, rights=Right(1))
    with pytest.raises(ValueError, match="two regions in slot 7"):
        Regions([region, Region(key=0x207, base=0, length=1, rights=Right(1), target=Target.BAR)])
