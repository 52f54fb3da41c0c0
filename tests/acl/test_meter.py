"""Meters of the ACL: two rates, three colours, no drift.

Sweep:    frames together, at the rate, above it; hours of simulated time; rates that share no factor with a second
Stimulus: sequences of times and sizes, computed by hand and drawn by hypothesis
Checks:   colours computed by hand from RFC 2698 section 3; the same with fractions of a token in another form
Timing:   none
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.acl_meter import PER_BYTE, Colour, Meter, MeterRates

G, Y, R = Colour.GREEN, Colour.YELLOW, Colour.RED
MS = 10**6
HOUR = 3600 * 10**9


def by_fractions(rates: MeterRates, frames: list[tuple[int, int]]) -> list[Colour]:
    """RFC 2698 section 3, with bytes as fractions: tokens up to now, since the bucket was last full or read."""
    peak, committed, before, colours = Fraction(rates.pbs), Fraction(rates.cbs), 0, []
    for now, size in frames:
        seconds = Fraction(now - before, 10**9)
        before = now
        peak = min(Fraction(rates.pbs), peak + seconds * rates.pir / 8)
        committed = min(Fraction(rates.cbs), committed + seconds * rates.cir / 8)
        if peak - size < 0:
            colours.append(R)
        elif committed - size < 0:
            colours.append(Y)
            peak -= size
        else:
            colours.append(G)
            peak, committed = peak - size, committed - size
    return colours


def test_a_sequence_computed_by_hand_has_its_colours() -> None:
    # cir 8000 bit/s is a byte a ms, pir 16000 is two. Buckets of 100 (C) and 150 (P) bytes, full at 0.
    meter = Meter(MeterRates(cir=8000, pir=16000, cbs=100, pbs=150))
    sequence = [
        # ms, bytes, colour; then what is left in P and C
        (0, 60, G, 90, 40),
        (0, 60, Y, 30, 40),
        (0, 31, R, 30, 40),
        (0, 30, G, 0, 10),
        (10, 21, R, 20, 20),
        (10, 20, G, 0, 0),
        (30, 21, Y, 19, 20),
        (30, 19, G, 0, 1),
        (104, 75, G, 73, 0),
        (104, 1, Y, 72, 0),
    ]
    for ms, size, colour, peak, committed in sequence:
        assert meter.colour(ms * MS, size) == colour, (ms, size)
        assert (meter.tp, meter.tc) == (peak * PER_BYTE, committed * PER_BYTE), (ms, size)
    # 39 ms later P is full (72 + 78 = 150) and C has 39.
    assert meter.colour(143 * MS, 150) == Y
    assert (meter.tp, meter.tc) == (0, 39 * PER_BYTE)
    assert meter.colour(HOUR, 100) == G


def test_a_red_frame_takes_no_token_and_a_yellow_one_none_of_the_committed() -> None:
    meter = Meter(MeterRates(1, 1, 10, 100))
    assert [meter.colour(0, 101), meter.colour(0, 11)] == [R, Y]
    assert (meter.tp, meter.tc) == (89 * PER_BYTE, 10 * PER_BYTE)


def test_a_bucket_holds_no_more_than_its_burst() -> None:
    meter = Meter(MeterRates(10**9, 10**9, 100, 100))
    assert [meter.colour(HOUR, size) for size in (100, 1)] == [G, R]


def test_a_token_is_there_in_its_nanosecond_and_not_one_before() -> None:
    # 3 bit/s: a byte takes 8/3 s.
    meter = Meter(MeterRates(3, 3, 1, 1))
    assert meter.colour(0, 1) == G
    assert [meter.colour(2_666_666_666, 1), meter.colour(2_666_666_667, 1)] == [R, G]
    # The rest of that nanosecond is kept: three bytes take 8 s, not 8 s and 1 ns.
    assert [meter.colour(5_333_333_334, 1), meter.colour(8_000_000_000, 1)] == [G, R]
    assert meter.colour(8_000_000_001, 1) == G


@pytest.mark.parametrize("cir", [7, 999_999_937, 24_999_999_999], ids=str)
def test_hours_of_frames_leave_no_drift(cir: int, seed: int) -> None:
    rates = MeterRates(cir, cir * 3 // 2, 3000, 9001)
    pick, now, frames = random.Random(seed), 0, []
    for _ in range(3000):
        size = pick.randrange(60, 9000)
        # About the peak rate; now and then an hour of nothing.
        now += HOUR if pick.random() < 0.01 else pick.randrange(1 + 2 * size * PER_BYTE // rates.pir)
        frames.append((now, size))
    meter = Meter(rates)
    colours = [meter.colour(*frame) for frame in frames]
    assert colours == by_fractions(rates, frames)
    assert set(colours) == {G, Y, R}
    assert now > 20 * HOUR


def test_what_passes_green_in_three_hours_is_the_committed_rate_to_the_byte() -> None:
    # 123 bit/s are 15.375 bytes a second; 20 frames of a byte ask each second, so that C is never full again.
    meter = Meter(MeterRates(123, 10**9, 40, 10**6))
    last = 3 * 3600
    green = sum(meter.colour(second * 10**9, 1) == G for second in range(last + 1) for _ in range(20))
    assert green == (40 * 8 + 123 * last) // 8


@given(
    st.builds(
        lambda cir, more, cbs, pbs: MeterRates(cir, cir + more, cbs, pbs),
        st.integers(1, 10**11),
        st.integers(0, 10**11),
        st.integers(1, 20000),
        st.integers(1, 20000),
    ),
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(1, 9000)), max_size=40),
)
def test_any_sequence_has_the_colours_of_the_rfc(rates: MeterRates, steps: list[tuple[int, int]]) -> None:
    now, frames = 0, []
    for gap, size in steps:
        now += gap
        frames.append((now, size))
    meter = Meter(rates)
    assert [meter.colour(*frame) for frame in frames] == by_fractions(rates, frames)


def test_time_that_goes_back_is_refused() -> None:
    meter = Meter(MeterRates(1, 1, 1, 1))
    meter.colour(10, 1)
    with pytest.raises(ValueError, match="time goes back from 10 ns to 9 ns"):
        meter.colour(9, 1)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"cir": 0}, "cir: 0; accepted: 1 to 1000000000000 bits a second"),
        ({"pir": 10**12 + 1}, "pir: 1000000000001; accepted"),
        ({"pir": 1}, "pir: 1 is below cir 2"),
        ({"cbs": 0}, "cbs: 0; accepted: 1 to 4294967295 bytes"),
        ({"pbs": 2**32}, "pbs: 4294967296; accepted"),
        ({"yellow_dscp": 64}, "yellow_dscp: 64; accepted: 0 to 63"),
    ],
    ids=str,
)
def test_rates_that_the_rfc_excludes_are_refused(change: dict[str, int], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        MeterRates(**{"cir": 2, "pir": 3, "cbs": 4, "pbs": 5} | change)
