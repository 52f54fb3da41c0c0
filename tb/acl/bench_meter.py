"""Bench of ``acl_meter``: every answer, and its cycle, against ``models/acl_meter.py``; long runs against closed forms.

A meter of the bench changes when the design takes a write: an ask two cycles later, or after that, is judged by the new
meter, and one before it by the old. So an ask that sees half of a write fails. Times are inputs: hours take as long as
nanoseconds, and each meter may have a time of its own. ``$NICLOOP_METERS`` is the design's parameter.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.acl_meter import PER_BYTE, Colour, Meter, MeterRates
from tb.lib import cover
from tb.lib.clock import cycle, reset, start_clock
from tb.lib.suite import four_state, seeded

__all__: list[str] = []

METERS = int(os.environ["NICLOOP_METERS"])
LATENCY = 7
INTERVAL = 4
OLD_UNTIL = 2
"""Cycles from the one in which a write is taken to the first whose ask sees it."""
WRITE_CYCLES = 10
MOST_BURST = 2**32 - 1
MOST_RATE = 10**12
KEPT_RATE = 2**40 - 1
MOST_TIME = 2**64 - 1
MOST_BYTES = 65535
CAP = 1 << 65
"""Where the design's sums end: more than any bucket holds."""
RATES = (1, 3, 7, 2**20 - 1, 2**20, 2**20 + 1, 10**9 + 7, 24_999_999_999, 2**39, MOST_RATE - 1, MOST_RATE)
BURSTS = (1, 2, 1500, 65534, 65535, 65536, 2**31, MOST_BURST - 1, MOST_BURST)
TIMES = (0, 1, 2**20, 2**32 - 1, 2**32, 2**32 + 1, 2**40, 2**52 + 1, 2**63, MOST_TIME)
G, Y, R = Colour.GREEN, Colour.YELLOW, Colour.RED

_colour = cover.point("acl_meter.colour", ["green", "yellow", "red"])
_near = cover.cross("acl_meter.near", ["peak", "committed"], ["exact", "unit_short"])
_gap = cover.cross("acl_meter.gap", ["4", "5", "6", "more"], ["same", "other"])
_write = cover.cross("acl_meter.write", ["0", "1", "2", "3", "quiet"], ["same", "other"])
_elapsed = cover.point("acl_meter.elapsed", ["0", "below_2^32", "below_2^40", "below_2^63", "more", "back"])

test = cocotb.test(timeout_time=5, timeout_unit="ms")


class AnyRates(MeterRates):
    """What a driver doesn't write, but could: a rate of 0 or with more bits than are kept, a peak below the other."""

    def __post_init__(self) -> None:
        """Nothing is refused."""

    def kept(self) -> AnyRates:
        """As the design takes it."""
        return replace(self, cir=min(self.cir, KEPT_RATE), pir=min(self.pir, KEPT_RATE))


@dataclass
class Held:
    """A meter of the design. ``meter`` None: it was never written."""

    meter: Meter | None = None
    yellow: int = 0

    def colour(self, time: int, size: int) -> Colour:
        if self.meter is None:
            return R
        return self.meter.colour(max(time, self.meter.time_ns), size)


@dataclass(frozen=True)
class Due:
    """An answer that must come."""

    cycle: int
    colour: Colour
    yellow: int
    what: str


@dataclass(frozen=True)
class Write:
    """A meter's new rates; ``yellow``: {on, DSCP} as the design gets it, any DSCP where it isn't on."""

    number: int
    rates: MeterRates
    yellow: int


class Bench:
    """Asks, writes, keeps the meters; checks each answer and its cycle."""

    def __init__(self, dut: Any, name: str) -> None:
        self.dut = dut
        self.rng: Random = seeded("acl_meter", name, METERS)
        self.meters = [Held() for _ in range(METERS)]
        self.due: deque[Due] = deque()
        self.last_ask = (-1000, -1)
        self._offered: Write | None = None
        self._busy_until = -1
        self._coming: list[tuple[int, int, Held]] = []
        self._edge = RisingEdge(dut.clk)
        self.now = 0
        start_clock(dut.clk)
        dut.ask_valid.value = dut.wr_valid.value = 0
        self._noise("ask_meter", "ask_time", "ask_bytes")
        self._noise("wr_meter", "wr_cir", "wr_pir", "wr_cbs", "wr_pbs", "wr_yellow")

    async def start(self, cycles: int = 4) -> Bench:
        """Reset; returns when the design is ready."""
        dut = self.dut
        dut.ask_valid.value = dut.wr_valid.value = 0
        await reset(dut.rst, dut.clk, cycles)
        self.meters = [Held() for _ in range(METERS)]
        self.due.clear()
        self._coming.clear()
        self._offered = None
        self._busy_until = -1
        for _ in range(METERS):
            assert str(dut.ready.value) == str(dut.wr_ready.value) == "0", "ready before the memories are clear"
            assert str(dut.m_valid.value) == "0"
            await self._edge
        assert str(dut.ready.value) == str(dut.wr_ready.value) == "1", "not ready in time"
        self.now = cycle(dut.clk)
        self.last_ask = (self.now - 1000, -1)
        return self

    def _noise(self, *names: str) -> None:
        """Inputs that aren't valid mean nothing."""
        for name in names:
            handle = getattr(self.dut, name)
            handle.value = type(handle.value)("X" * len(handle)) if four_state() else self.rng.getrandbits(len(handle))

    async def step(self, ask: tuple[int, int, int] | None = None) -> None:
        """A cycle; with an ask (meter, time, bytes) in it."""
        dut = self.dut
        if ask is not None:
            dut.ask_valid.value = 1
            dut.ask_meter.value, dut.ask_time.value, dut.ask_bytes.value = ask
        await self._edge
        now = self.now = cycle(dut.clk)
        self._check_answer(now)
        if ask is not None:
            self._asked(now, *ask)
            dut.ask_valid.value = 0
            self._noise("ask_meter", "ask_time", "ask_bytes")
        if self._offered is not None:
            self._check_write(now)

    def _asked(self, now: int, number: int, time: int, size: int) -> None:
        before, other = self.last_ask
        _gap(str(now - before) if now - before < 7 else "more", "same" if number == other else "other")
        self.last_ask = (now, number)
        self.settle_writes(now)
        held = self.meters[number]
        what = f"meter {number} in cycle {now}: {size} bytes at {time} ns, {_text(held)}"
        if held.meter is not None:
            _elapsed(_elapsed_bin(time - held.meter.time_ns))
        self.due.append(Due(now + LATENCY, held.colour(time, size), held.yellow, what))

    def settle_writes(self, now: int) -> None:
        """Meters are what writes that an ask in this cycle sees have made them."""
        for change in [change for change in self._coming if change[0] <= now]:
            self._coming.remove(change)
            self.meters[change[1]] = change[2]

    def _check_answer(self, now: int) -> None:
        dut = self.dut
        valid = str(dut.m_valid.value)
        if valid == "0":
            assert not self.due or self.due[0].cycle > now, f"no answer in cycle {now}: {self.due[0]}"
            return
        assert valid == "1", f"m_valid is {valid}"
        assert self.due, f"an answer in cycle {now} that nobody asked for"
        due = self.due.popleft()
        assert due.cycle == now, f"the answer came in cycle {now}: {due}"
        colour = str(dut.m_colour.value)
        assert colour == f"{due.colour:02b}", f"came {colour}, not {due.colour.name}: {due.what}"
        yellow = f"{dut.m_yellow_on.value}{dut.m_yellow_dscp.value}"
        assert yellow == f"{due.yellow:07b}", f"yellow is {yellow}, not {due.yellow:07b}: {due.what}"
        _colour(due.colour.name.lower())

    def _check_write(self, now: int) -> None:
        if str(self.dut.wr_ready.value) != "1":
            assert now < self._busy_until, f"no write is taken in cycle {now}"
            return
        write, self._offered = self._offered, None
        assert write is not None
        rates = write.rates.kept() if isinstance(write.rates, AnyRates) else write.rates
        self._coming.append((now + OLD_UNTIL, write.number, Held(Meter(rates), write.yellow)))
        self._busy_until = now + WRITE_CYCLES
        since, number = now - self.last_ask[0], self.last_ask[1]
        _write(str(since) if since < INTERVAL else "quiet", "same" if number == write.number else "other")
        self.dut.wr_valid.value = 0
        self._noise("wr_meter", "wr_cir", "wr_pir", "wr_cbs", "wr_pbs", "wr_yellow")

    def offer(self, number: int, rates: MeterRates) -> None:
        """Offer a write; it is taken while cycles go on."""
        assert self._offered is None
        dut = self.dut
        dscp = rates.yellow_dscp
        yellow = self.rng.getrandbits(6) if dscp is None else 0x40 | dscp
        self._offered = Write(number, rates, yellow)
        dut.wr_valid.value = 1
        dut.wr_meter.value = number
        dut.wr_cir.value, dut.wr_pir.value = rates.cir, rates.pir
        dut.wr_cbs.value, dut.wr_pbs.value = rates.cbs, rates.pbs
        dut.wr_yellow.value = yellow

    @property
    def writing(self) -> bool:
        return self._offered is not None

    async def write(self, number: int, rates: MeterRates) -> None:
        """Write a meter; an ask in the next cycle sees it."""
        self.offer(number, rates)
        while self._offered is not None:
            await self.step()
        await self.step()

    async def ask(self, number: int, time: int, size: int, gap: int = INTERVAL) -> None:
        """Ask, ``gap`` cycles behind the last ask or later."""
        while self.now + 1 < self.last_ask[0] + gap:
            await self.step()
        await self.step((number, time, size))

    def held(self, number: int) -> Meter:
        """What a meter is to an ask in the next cycle."""
        self.settle_writes(self.now + 1)
        meter = self.meters[number].meter
        assert meter is not None
        return meter

    async def colour(self, number: int, time: int, size: int) -> Colour:
        """Ask and wait for the answer."""
        await self.ask(number, time, size)
        (due,) = list(self.due)[-1:]
        await self.settle()
        return due.colour

    async def settle(self) -> None:
        """All answers have come, the write is over, and no more comes."""
        while self.due or self._offered is not None:
            await self.step()
        for _ in range(LATENCY + 3):
            await self.step()


def _text(held: Held) -> str:
    if held.meter is None:
        return "never written"
    return f"{held.meter.rates}, C {held.meter.tc}, P {held.meter.tp} at {held.meter.time_ns} ns"


def _elapsed_bin(passed: int) -> str:
    if passed <= 0:
        return "0" if passed == 0 else "back"
    return next((f"below_2^{bits}" for bits in (32, 40, 63) if passed < 1 << bits), "more")


def random_rates(rng: Random) -> MeterRates:
    """Corners, and rates and bursts of every order of magnitude."""

    def rate() -> int:
        return rng.choice(RATES) if rng.random() < 0.3 else int(10 ** rng.uniform(0, 12))

    def burst() -> int:
        return rng.choice(BURSTS) if rng.random() < 0.3 else int(2 ** rng.uniform(0, 18))

    low, high = sorted((rate(), rate()))
    high = low if rng.random() < 0.2 else high
    return MeterRates(low, high, burst(), burst(), rng.choice((None, rng.getrandbits(6))))


def first_enough(level: int, rate: int, size: int) -> int:
    """After how many ns a bucket has what a frame costs."""
    return max(0, -(-(size * PER_BYTE - level) // rate))


def random_ask(rng: Random, meter: Meter) -> tuple[int, int]:
    """A time and a size for which the answer hangs on little."""
    rates = meter.rates
    level, rate, burst = rng.choice(((meter.tp, rates.pir, rates.pbs), (meter.tc, rates.cir, rates.cbs)))
    size = rng.choice((1, 60, 1514, MOST_BYTES, rng.randint(1, MOST_BYTES), min(burst, MOST_BYTES)))
    size = min(size, burst if rng.random() < 0.8 else MOST_BYTES)
    kind = rng.randrange(8)
    if kind == 0:
        passed = 0
    elif kind < 4:
        passed = max(0, first_enough(level, rate, size) - rng.randrange(2))
    elif kind == 4:
        # As many whole bytes as there are, or one more.
        passed = rng.choice((0, 1, int(10 ** rng.uniform(0, 12))))
        whole = min(burst * PER_BYTE, level + passed * rate) // PER_BYTE
        size = min(MOST_BYTES, max(1, whole + rng.randrange(2)))
    elif kind < 7:
        passed = rng.randrange(1 + min(2 * size * PER_BYTE // rate, 1 << 50))
    else:
        passed = rng.randrange(1 << rng.randint(1, 62))
    return min(MOST_TIME, meter.time_ns + passed), size


@test
async def meter_that_was_never_written_is_red(dut: Any) -> None:
    """Each of them, whatever the size and the time, though the memories came up with anything."""
    b = await Bench(dut, "unwritten").start()
    for number in range(METERS):
        await b.ask(number, b.rng.choice((*TIMES, b.rng.getrandbits(64))), b.rng.choice((1, MOST_BYTES)))
    await b.settle()


@test
async def meter_colours_a_sequence_computed_by_hand(dut: Any) -> None:
    """A byte a ms into C, two into P; buckets of 100 and 150 bytes."""
    b = await Bench(dut, "hand").start()
    number = b.rng.randrange(METERS)
    await b.write(number, MeterRates(8000, 16000, 100, 150, 33))
    sequence = [
        (0, 60, G), (0, 60, Y), (0, 31, R), (0, 30, G), (10, 21, R), (10, 20, G),
        (30, 21, Y), (30, 19, G), (104, 75, G), (104, 1, Y), (143, 150, Y),
    ]  # fmt: skip
    for ms, size, colour in sequence:
        assert await b.colour(number, ms * 10**6, size) == colour, (ms, size)


@test
async def meter_has_enough_with_exactly_what_a_frame_costs(dut: Any) -> None:
    """A unit of 10^-9 bits below it isn't enough; in either bucket, at rates that share no factor with a byte."""
    b = await Bench(dut, "exact").start()
    rates = [1, 3, 7, 999, 65521, *(rate for rate in b.rng.sample(range(1, 65000), 40) if rate % 2 and rate % 5)]
    for index, rate in enumerate(rates):
        number = b.rng.randrange(METERS)
        for bucket in ("peak", "committed"):
            pir = rate if bucket == "peak" else MOST_RATE
            enough, short = (G, R) if bucket == "peak" else (G, Y)
            await b.write(number, MeterRates(rate, pir, MOST_BYTES, MOST_BYTES if bucket == "peak" else MOST_BURST))
            begin = b.rng.choice((0, 1, 10**18))
            assert await b.colour(number, begin, MOST_BYTES) == G
            # rate * passed is a unit less than `size` bytes.
            passed = -pow(rate, -1, PER_BYTE) % PER_BYTE
            size = (rate * passed + 1) // PER_BYTE
            assert rate * passed == size * PER_BYTE - 1
            assert await b.colour(number, begin + passed, size) == short, (rate, bucket)
            _near(bucket, "unit_short")
            # At 8 s there are `rate` bytes, but for those that are taken before.
            taken = b.rng.randrange(size)
            if taken:
                assert await b.colour(number, begin + passed, taken) == G
            left = rate - taken
            if index % 2 and left > 1:
                assert await b.colour(number, begin + PER_BYTE, left + 1) == short, (rate, bucket)
            assert await b.colour(number, begin + PER_BYTE, left) == enough, (rate, bucket)
            _near(bucket, "exact")
            assert await b.colour(number, begin + PER_BYTE, 1) == short, (rate, bucket)


@test
async def meter_is_as_its_model_at_every_corner(dut: Any) -> None:
    """Rates, bursts and times at their ends: an empty bucket, then as many bytes as it has, or as it has not."""
    b = await Bench(dut, "corners").start()
    picked = RATES if not four_state() else b.rng.sample(RATES, 3)
    for rate in picked:
        for burst in BURSTS:
            for passed in TIMES:
                number = b.rng.randrange(METERS)
                await b.write(number, MeterRates(rate, rate, burst, burst, b.rng.choice((None, 0, 63))))
                await b.ask(number, 0, min(burst, MOST_BYTES))
                meter = b.held(number)
                whole = min(burst * PER_BYTE, meter.tp + rate * passed) // PER_BYTE
                if whole < MOST_BYTES:
                    await b.ask(number, passed, whole + 1)
                if whole:
                    await b.ask(number, passed, min(whole, MOST_BYTES))
                    await b.ask(number, passed, min(MOST_BYTES, max(1, whole - MOST_BYTES)))
    await b.settle()


def products() -> Iterator[tuple[int, int]]:
    """Rates and times whose product has a 1 at or above bit 65 and little below, or carries into it."""
    for bit in range(40):
        for high in range(max(0, 65 - bit), 64):
            yield min(1 << bit, MOST_RATE), 1 << high
    for rate in (*range(2**20 - 2, 2**20 + 3), 2**31 - 1, 2**33 + 5, 10**11 + 3, MOST_RATE - 1, MOST_RATE):
        for multiple in (1, 2, 3, 1 << 10):
            for near in (-1, 0, 1):
                passed = -(-multiple * CAP // rate) + near
                if passed <= MOST_TIME:
                    yield rate, passed


@test
async def meter_fills_and_never_wraps(dut: Any) -> None:
    """After a time whose product with the rate is beyond what is kept, a bucket is full: never what is left of it."""
    b = await Bench(dut, "products").start()
    every = list(products())
    for rate, passed in every if not four_state() else b.rng.sample(every, 120):
        number = b.rng.randrange(METERS)
        rates = MeterRates(rate, rate, MOST_BYTES, MOST_BYTES)
        await b.write(number, rates)
        await b.ask(number, 0, MOST_BYTES)
        await b.ask(number, passed, MOST_BYTES)
        assert b.due[-1].colour == G
    # The highest bit of the highest product, and below it only what makes 562 949 bytes.
    rates = AnyRates(877_099 << 20, 877_099 << 20, 700_000, 700_000)
    passed = 2_567_326_851 << 32
    assert rates.cir * passed == (2**51 + 1) << 52
    await b.write(1, rates)
    for time in (0, passed):
        for size in (MOST_BYTES,) * 10 + (700_000 - 10 * MOST_BYTES,):
            await b.ask(1, time, size)
            assert b.due[-1].colour == G
    # What is added to the fullest bucket makes 2^65 and a little.
    for rate in (3, 1001, 10**9, MOST_RATE):
        await b.write(0, MeterRates(rate, rate, MOST_BURST, MOST_BURST))
        await b.ask(0, 0, MOST_BYTES)
        meter = b.held(0)
        await b.ask(0, -(-(CAP - meter.tp) // rate), MOST_BYTES)
        assert b.due[-1].colour == G
    await b.settle()


@test
async def meter_takes_rates_that_no_driver_writes(dut: Any) -> None:
    """More bits than are kept count as the highest rate, 0 fills nothing, a peak below the committed rate is kept."""
    b = await Bench(dut, "any").start()
    full = MOST_BYTES
    first = -(-full * PER_BYTE // KEPT_RATE)
    for rate in (KEPT_RATE, KEPT_RATE + 1, 2**40 + 5, 2**63, 2**64 - 1):
        for cir, pir, short in ((rate, KEPT_RATE, R), (KEPT_RATE, rate, R), (rate, rate, R)):
            await b.write(5, AnyRates(cir, pir, full, full))
            for time, colour in ((0, G), (first - 1, short), (first, G)):
                assert await b.colour(5, time, full) == colour, (cir, pir, time)
    await b.write(6, AnyRates(0, 0, 100, 200))
    for time, size, colour in ((0, 100, G), (MOST_TIME, 101, R), (MOST_TIME, 100, Y), (MOST_TIME, 1, R)):
        assert await b.colour(6, time, size) == colour
    await b.write(6, AnyRates(8 * 10**9, 1, 100, 100))
    for time, size, colour in ((0, 100, G), (100, 1, R), (8 * 10**9, 1, G), (8 * 10**9, 1, R)):
        assert await b.colour(6, time, size) == colour
    await b.write(6, AnyRates(KEPT_RATE, KEPT_RATE, 0, 0))
    assert await b.colour(6, MOST_TIME, 1) == R


@test
async def meter_is_as_its_model_in_random_sequences(dut: Any) -> None:
    """Many meters, each with a time of its own; asks 4 cycles apart or more, now and then a rewrite."""
    b = await Bench(dut, "random").start()
    rng = b.rng
    numbers = [0, METERS - 1, *rng.sample(range(1, METERS - 1), 6)]
    for number in numbers:
        await b.write(number, random_rates(rng))
    for index in range(1500 if four_state() else 20000):
        if not index % 500:
            dense = rng.random() < 0.7
            few = rng.sample(numbers, rng.choice((1, 1, 2, 8)))
        number = rng.choice(few)
        meter = b.held(number)
        if meter.time_ns > MOST_TIME // 2 or rng.random() < 0.02:
            await b.write(number, random_rates(rng))
            meter = b.held(number)
        await b.ask(number, *random_ask(rng, meter), gap=INTERVAL if dense else rng.randint(4, 9))
    await b.settle()


@test
async def meter_gives_nothing_for_a_time_that_goes_back(dut: Any) -> None:
    """Nor again when the time comes back to where it was: what counts is the latest time of all asks."""
    b = await Bench(dut, "back").start()
    rng = b.rng
    await b.write(1, MeterRates(8 * 10**9, 8 * 10**9, 1000, 1000))
    steps = [(1000, 1000, G), (1100, 101, R), (1100, 100, G), (1000, 1, R), (0, 1, R), (1100, 1, R), (1150, 51, R)]
    for time, size, colour in [*steps, (1149, 50, G), (1150, 1, R)]:
        assert await b.colour(1, time, size) == colour, (time, size)
    await b.write(2, MeterRates(10**9, 10**10, 3000, 5000))
    for _ in range(300):
        time = b.held(2).time_ns
        await b.ask(2, max(0, time + rng.randint(-1000, 1000)), rng.randint(1, 2000))
    await b.ask(2, MOST_TIME, 3000)
    await b.ask(2, 0, 3000)
    # A write begins at time 0 again.
    await b.write(2, MeterRates(8 * 10**9, 8 * 10**9, 1000, 1000))
    for time, size, colour in [(5, 1000, G), (6, 2, R), (7, 2, G)]:
        assert await b.colour(2, time, size) == colour, (time, size)


@test
async def meter_is_judged_whole_while_it_is_rewritten(dut: Any) -> None:
    """Asks every 4 cycles or more; writes at each cycle between them, of that meter and of others."""
    b = await Bench(dut, "rewritten").start()
    rng = b.rng
    numbers = rng.sample(range(METERS), 3)
    kinds = [
        MeterRates(1, 1, 1, 1, 1),
        MeterRates(1, MOST_RATE, 1, MOST_BURST, 2),
        MeterRates(MOST_RATE, MOST_RATE, MOST_BURST, MOST_BURST),
        MeterRates(8 * 10**9, 8 * 10**9, 3000, 3000, 3),
        MeterRates(8 * 10**8, 8 * 10**9, 1500, 3000, 4),
        MeterRates(1, 1, 1500, 4500, 5),
    ]
    for number in numbers:
        await b.write(number, rng.choice(kinds))
    wait = asked = 0
    number, gap = numbers[0], INTERVAL
    while asked < (1000 if four_state() else 12000):
        if not b.writing and wait <= 0:
            # In half of the cases of the meter that is asked next, whatever cycle that is.
            b.offer(number if rng.random() < 0.5 else rng.choice(numbers), rng.choice(kinds))
            wait = rng.choice((1, 1, 5, 10, 20, 50))
        wait -= 1
        if b.now + 1 < b.last_ask[0] + gap:
            await b.step()
            continue
        time = b.held(number).time_ns + rng.choice((0, 16, 16, 150, 1600))
        await b.step((number, time, rng.choice((1, 1500, 1500, 3000))))
        asked += 1
        number, gap = rng.choice(numbers), rng.choice((4, 4, 4, 5, 6, 7, 11))
    await b.settle()


@test
async def meter_forgets_all_at_a_reset(dut: Any) -> None:
    """A reset in each cycle of a write and an ask, however far apart these are: every meter is red, no answer comes."""
    b = await Bench(dut, "restart").start()
    for apart in range(4):
        for delay in range(14):
            await b.write(3, MeterRates(1, 1, 1000, 1000, 5))
            await b.settle()
            b.offer(2, MeterRates(1, 1, 1000, 1000, 5))
            for index in range(delay):
                await b.step((3, 7, 10) if index == apart else None)
            await b.start(1)
            for number in (2, 3):
                assert await b.colour(number, 7, 1) == R


@dataclass
class Cumulated:
    """A bucket of RFC 2698 in closed form: never a level that is carried on, only sums since the beginning.

    Before ask n the bucket has min over all asks i <= n of burst + rate * (t_n - t_i) - (bytes taken from ask i on): it
    was full at the best at each of them.
    """

    rate: int
    burst: int
    taken: int = 0
    lowest: Fraction | None = None

    def has(self, time: int) -> Fraction:
        """Bytes."""
        earned = Fraction(self.rate * time, PER_BYTE)
        here = self.burst - earned + self.taken
        self.lowest = here if self.lowest is None else min(self.lowest, here)
        return self.lowest + earned - self.taken


@test
async def meter_keeps_to_its_rates_over_hours(dut: Any) -> None:
    """Overload with hours of nothing between: each colour as closed forms in fractions have it, so no drift at all."""
    b = await Bench(dut, "hours").start()
    rng = b.rng
    rates = [
        MeterRates(999_999_937, 1_499_999_957, 30_000, 90_001),
        MeterRates(24_999_999_999, 25_000_000_000, 65_535, 65_535),
        MeterRates(7, 123, 4000, 9000),
        MeterRates(123_456_789, 123_456_789, 1514, 1514),
    ]
    for number, each in enumerate(rates):
        await b.write(number, each)
    peaks = [Cumulated(each.pir, each.pbs) for each in rates]
    committed = [Cumulated(each.cir, each.cbs) for each in rates]
    times = [0] * len(rates)
    seen = set()
    for _ in range(1200 if four_state() else 16000):
        number = rng.randrange(len(rates))
        each = rates[number]
        size = rng.choice((60, 1514, rng.randint(60, 9000)))
        hour = rng.random() < 0.01
        times[number] += 3600 * 10**9 if hour else rng.randrange(2 + 6 * size * PER_BYTE // (5 * each.pir))
        time = times[number]
        await b.ask(number, time, size)
        colour = b.due[-1].colour
        p, c = peaks[number].has(time), committed[number].has(time)
        assert colour == (R if p < size else Y if c < size else G), (number, time, size, p, c)
        if colour != R:
            peaks[number].taken += size
        if colour == G:
            committed[number].taken += size
        seen.add((number, colour))
    await b.settle()
    # Where both buckets are the same there is no yellow, where they are all but the same hardly any.
    missing = {(number, colour) for number in range(len(rates)) for colour in Colour} - seen
    assert missing <= {(1, Y), (3, Y)}, f"colours that never came: {sorted(missing)}"
    assert max(times) > 3 * 3600 * 10**9


@test
async def meter_lets_through_the_rate_to_the_byte(dut: Any) -> None:
    """Overload without end: green and yellow bytes after minutes are burst + rate * time, less what makes no frame."""
    b = await Bench(dut, "minutes").start()
    rng = b.rng
    size = 1511
    # P has at least three frames more at each time, C less than one: so C is always dry first.
    rates = [MeterRates(40_009, 1_000_003, 9001, 20_011), MeterRates(199_999, 1_234_567, 3022, 13_333)]
    counts = [dict.fromkeys(Colour, 0) for _ in rates]
    for number, each in enumerate(rates):
        await b.write(number, each)
    last = time = 0
    for _ in range(40 if four_state() else 2500):
        for number in range(len(rates)):
            colour = None
            while colour != R:
                await b.ask(number, time, size)
                colour = b.due[-1].colour
                counts[number][colour] += 1
        # So short that neither bucket is ever full again.
        last, time = time, time + rng.randrange(40_000_000, 60_000_000)
    await b.settle()
    for each, count in zip(rates, counts, strict=True):
        green = Fraction(each.cbs) + Fraction(each.cir * last, PER_BYTE)
        passed = Fraction(each.pbs) + Fraction(each.pir * last, PER_BYTE)
        assert count[G] == green // size, (each, count)
        assert count[G] + count[Y] == passed // size, (each, count)
    assert last > (1 if four_state() else 120) * 10**9
