"""Sequence numbers: the anti-replay window and the recovery of the high half.

Sweep:    every window size; heads around 0, around each multiple of 2^32 and at the end of 64 bits
Stimulus: numbers in any order, most of them around both ends of the window
Checks:   against a set of the numbers that came, and the one number of 2^32 that the window can mean
Timing:   none
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.ipsec_window import ReplayWindow, high_half

SIZES = range(32, 1025, 32)
HALF = 1 << 32


def meant(low: int, top: int, size: int) -> int | None:
    """The only number with this low half among the 2^32 from the window's left end on (RFC 4303 A2)."""
    bottom = top - size + 1
    number = bottom + (low - bottom) % HALF
    return number if 0 <= number < 1 << 64 else None


class Seen:
    """A window as RFC 4303 3.4.3 puts it: a set of the numbers that came."""

    def __init__(self, size: int, top: int) -> None:
        self.size, self.top, self.numbers = size, top, set[int]()

    def fresh(self, number: int) -> bool:
        return number != 0 and number > self.top - self.size and number not in self.numbers

    def accept(self, number: int) -> None:
        self.numbers.add(number)
        self.top = max(self.top, number)


def walk(size: int, esn: bool, start: int, steps: list[tuple[int, bool]]) -> None:
    """Numbers by their distance from the head; those with a good tag are accepted."""
    window, seen = ReplayWindow(size, esn, start), Seen(size, start)
    for distance, good in steps:
        number = seen.top + distance
        if not 0 <= number < 1 << (64 if esn else 32):
            continue
        found = window.number(number % HALF)
        assert found == (meant(number % HALF, seen.top, size) if esn else number)
        if found is None:
            continue
        assert window.fresh(found) == seen.fresh(found), (found, seen.top)
        if good and seen.fresh(found):
            window.accept(found)
            seen.accept(found)
        assert window.top == seen.top


def steps(size: int) -> st.SearchStrategy[list[tuple[int, bool]]]:
    near = st.one_of(
        st.integers(-size - 3, -size + 3),
        st.integers(-size - 3, 3),
        st.integers(-3, 3),
        st.integers(1, 2 * size + 3),
        st.sampled_from([1024, 1023, 1025, 5000]),
    )
    return st.lists(st.tuples(near, st.sampled_from([True, True, True, False])), max_size=60)


@pytest.mark.parametrize("esn", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_the_window_is_the_set_of_numbers_that_came(size, esn):
    starts = [0, size - 1, size, 1 << 31, HALF - 1 - 3 * size]
    if esn:
        starts += [HALF - 1, HALF, HALF + size - 2, HALF + size - 1, 7 * HALF - 5, (1 << 64) - 1 - 2 * size]

    @settings(max_examples=25)
    @given(st.sampled_from(starts), steps(size))
    def check(start, given_steps):
        walk(size, esn, start, given_steps)

    check()


@pytest.mark.parametrize("size", SIZES)
def test_numbers_at_the_windows_left_end(size):
    """One behind the last place is too old, the last place isn't, and each is taken once."""
    top = 10_000
    for behind, fresh in ((size - 1, True), (size, False), (size + 1, False)):
        window = ReplayWindow(size)
        window.accept(top)
        assert window.fresh(top - behind) is fresh
        if fresh:
            window.accept(top - behind)
            assert not window.fresh(top - behind)
            assert window.top == top


@pytest.mark.parametrize("size", [32, 64, 1024])
def test_the_high_half_is_recovered_on_both_sides_of_2_to_the_32(size):
    for top in (
        *range(HALF - 3, HALF + 3),
        HALF - size,
        *range(HALF + size - 4, HALF + size + 2),
        *range(3 * HALF - 2, 3 * HALF + 2),
    ):
        for number in (
            *range(top - size + 1, top - size + 4),
            *range(top - 3, top + 4),
            top + 2 * size,
            top - size + HALF,
        ):
            assert high_half(number % HALF, top, size) == number >> 32, (top, number)


def test_a_number_before_the_first_and_behind_the_last_is_none():
    assert high_half(HALF - 1, 0, 64) is None
    assert high_half(HALF - 63, 0, 64) is None
    assert high_half(HALF - 64, 0, 64) == 0
    last = (1 << 64) - 1
    assert high_half(5, last, 64) is None
    assert high_half(HALF - 2, last, 64) == HALF - 1


def test_a_jump_leaves_the_numbers_between_to_come():
    window = ReplayWindow(64)
    window.accept(1)
    window.accept(50)
    assert [n for n in range(1, 51) if not window.fresh(n)] == [1, 50]
    window.accept(114)
    assert not window.fresh(50)
    assert all(window.fresh(n) for n in range(51, 114))


def test_without_a_window_any_number_but_0_comes_any_time():
    window = ReplayWindow(0)
    for number in (5, 5, 1, 9, 1):
        assert window.fresh(number)
        window.accept(number)
    assert window.top == 9 and not window.fresh(0)


def test_number_0_is_never_fresh_and_low_half_0_is_behind_2_to_the_32():
    for esn in (False, True):
        assert not ReplayWindow(64, esn).fresh(0)
    window = ReplayWindow(64, True, HALF - 1)
    assert window.number(0) == HALF and window.fresh(HALF)


@pytest.mark.parametrize(
    ("size", "esn", "top"), [(33, False, 0), (1056, False, 0), (-32, False, 0), (0, True, 0), (64, False, HALF)]
)
def test_a_window_that_cannot_be_is_refused(size, esn, top):
    with pytest.raises(ValueError, match=r"wanted|need"):
        ReplayWindow(size, esn, top)
