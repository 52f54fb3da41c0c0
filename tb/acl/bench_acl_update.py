"""Bench of the ACL's updates: rule sets and single rules change under frames back to back, and each frame is judged by
rules that stood together.

A frame's key is taken in a cycle that docs/acl.md gives ("Time"). A change is known to lie between the cycle in which
its register access begins and that of its answer: a key taken before it is judged by the old rules, one behind it by
the new, and in between there is one moment at which they change.
"""

from __future__ import annotations

import os
from collections import Counter as Multiset
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import cocotb

from models.acl import DEFAULT_RULE, AclModel, Actions, Counter, Rule, RuleSet
from models.acl_meter import MeterRates
from models.port_map import PORT
from tb.acl.driver import AclDriver, Op, writes
from tb.acl.slot import IPV6, SLOT, TUNNEL, Expected, Flight, SlotBench, acl_test
from tb.acl.traffic import fitting, kinds_of, neighbours, random_rule, tell_apart
from tb.lib import cover
from tb.lib.axis import AxisFrame
from tb.lib.clock import cycle, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.suite import seeded
from tb.registers.map import read_fields, read_register

__all__: list[str] = []

SWAPS = int(os.environ["NICLOOP_SWAPS"])
CHANGES = int(os.environ["NICLOOP_CHANGES"])
COMMAND = PORT[f"{SLOT}.command"].address
METERS = (MeterRates(10**12, 10**12, (1 << 32) - 1, (1 << 32) - 1),)
"""All that it measures is green, and held until it is whole."""

_moment = cover.point("acl.swap", ["before", "between", "behind"])
_change = cover.point("acl.change", ["insert", "move", "remove", "load", "default", "read", "read_and_clear"])


@dataclass
class Era:
    """Rules that stood together, and the cycles between which they came in the place of those before."""

    rules: tuple[Rule, ...]
    default_permit: bool
    begin: int
    end: int | None
    tag: int = 0
    counted: Multiset[int | None] = field(default_factory=Multiset)
    bytes: Multiset[int | None] = field(default_factory=Multiset)


class History:
    """All eras, and which of them judged the frames, in their order."""

    def __init__(self, b: SlotBench) -> None:
        self.b = b
        self.eras = [Era((), True, -1, -1)]
        self.at = 0
        self.differ = 0

    def begin(self, rules: Iterable[Rule], default_permit: bool, tag: int = 0) -> Era:
        """These rules may be asked from now on."""
        self.eras.append(Era(tuple(rules), default_permit, cycle(self.b.clk), None, tag))
        return self.eras[-1]

    def end(self) -> None:
        """From now on they are."""
        self.eras[-1].end = cycle(self.b.clk)

    def judge(self, flight: Flight, got: AxisFrame, what: str) -> None:
        """The frame came out as one era says that may have judged it, and none before that of the frame before."""
        b = self.b
        want = None
        sent = flight.sent
        key = sent.first_cycle + 1
        if b.before is not None:
            key = max(key, b.before.key + 4 * b.before.lookups)
        # A tunnel's second lookup is taken four cycles later; a swap waits for both.
        tried = []
        for number in range(self.at, len(self.eras)):
            era = self.eras[number]
            if era.begin > key:
                break
            following = self.eras[number + 1] if number + 1 < len(self.eras) else None
            if following is not None and following.end is not None and key > following.end:
                continue
            expected = self._expect(era, flight)
            tried.append(expected)
            if expected.frame == got:
                want, self.at = expected, number
                assert expected.judgement is not None
                era.counted[expected.judgement.rule] += 1
                era.bytes[expected.judgement.rule] += len(sent.data)
                break
        if len({expected.frame.meta for expected in tried}) > 1:
            self.differ += 1
        _moment("behind" if len(tried) == 1 and self.at else "before" if len(tried) == 1 else "between")
        assert tried, f"{what}: no rules stood in cycle {key}: {self.eras[self.at :]}"
        if want is None:
            b.check(flight, tried[0], got, f"{what}, key in cycle {key}, the first of {len(tried)} eras")
        assert want is not None
        b.check(flight, want, got, what)
        b.check_cycles(flight, want, got, what)
        if self.at + 1 < len(self.eras):
            following = self.eras[self.at + 1]
            known = key + 4 * (flight.lookups - 1) + 11
            early = following.end is not None and following.end < known
            # Unless the new rules say the same.
            if early and self._expect(following, flight).frame != got:
                raise AssertionError(
                    f"{what}: a swap was answered in cycle {following.end}, its action is known in {known}"
                )

    def _expect(self, era: Era, flight: Flight) -> Expected:
        """What these rules make of a frame."""
        scratch = AclModel(RuleSet(era.rules, era.default_permit, METERS))
        judgement = scratch.judge(flight.fields, len(flight.sent.data), flight.fields["timestamp"])
        return self.b.expect_judged(flight, judgement)


class Traffic:
    """Frames back to back until ``stop``; when all have come the history checks each: by then it knows every change."""

    def __init__(self, b: SlotBench, rules: Iterable[Rule]) -> None:
        self.b = b
        self.history = History(b)
        rng = seeded("traffic", len(list(rules)))
        self.pool: list[dict[str, int]] = []
        for rule in rules:
            fields = fitting(rng, rule, IPV6)
            self.pool.append(fields)
            near = list(neighbours(rng, rule, fields))
            self.pool += [one.fields for one in rng.sample(near, min(3, len(near)))]
        self.rng = rng
        self.flights: list[Flight] = []
        self.came: list[AxisFrame] = []
        self.running = True
        self._tasks = [cocotb.start_soon(work) for work in (self._send(), self._receive(), self._pace())]

    async def _send(self) -> None:
        rng, b = self.rng, self.b
        while self.running:
            while b.source.pending < 6:
                flight = b.flight(rng.randbytes(rng.choice((49, 60, 64, 64, 65, 100))), rng.choice(self.pool))
                self.flights.append(flight)
                b.source.append(flight.sent)
            await wait_cycles(b.clk, 8)

    async def _pace(self) -> None:
        """Back to back for a while, then with gaps, so that ends of frames come late."""
        while True:
            self.b.source.pause = None
            await wait_cycles(self.b.clk, self.rng.randrange(1000))
            self.b.source.pause = PAUSES["storm"](self.rng)
            await wait_cycles(self.b.clk, self.rng.randrange(500))

    async def _receive(self) -> None:
        while True:
            self.came.append(await self.b.sink.recv())

    async def stop(self) -> None:
        """No more frames; all that were sent are judged."""
        self.running = False
        await self._tasks[0]
        await self.b.source.drained()
        for _ in range(64):
            # Keys of tunnels wait for 8 cycles each.
            await wait_cycles(self.b.clk, 10)
            if len(self.came) == len(self.flights):
                break
        await wait_cycles(self.b.clk, 40)
        for task in self._tasks[1:]:
            task.cancel()
        self.b.source.pause = None
        assert len(self.came) == len(self.flights), f"{len(self.came)} frames came of {len(self.flights)}"
        for number, (flight, got) in enumerate(zip(self.flights, self.came, strict=True)):
            self.history.judge(flight, got, f"frame {number}")


def some_rules(rng: Any, count: int) -> list[Rule]:
    """Rules that overlap, so that their order shows."""
    rules = [random_rule(rng, rng.choice(kinds_of(IPV6, TUNNEL)), IPV6) for _ in range(count)]
    # Some ask less, and take the frames of those behind them.
    wide = (Rule(ip=4), Rule(vlan=None, fragment=False), Rule(dscp=rng.randrange(64)), Rule(inner=TUNNEL, ip=4))
    for rule in rng.sample(wide, 3):
        rules.insert(rng.randrange(len(rules)), rule)
    return rules


@acl_test(40)
async def slot_judges_each_frame_by_one_whole_set(dut: Any) -> None:
    """Swaps at random cycles between two sets that differ in every rule; a set that isn't asked is often made anew."""
    b = await SlotBench(dut, "swaps").start()
    rng = b.rng
    base = some_rules(rng, 8)
    made = 0

    def actions(queue: int, number: int) -> Actions:
        return Actions(queue=queue, protect=number, meter=0 if rng.random() < 0.3 else None)

    def new_set() -> RuleSet:
        """The rules in another order, each with the set's number as its queue, and one behind them that takes all: so
        each frame tells which set judged it. Now and then a set without a rule, beside one that has some."""
        nonlocal made
        made += 1
        rules = [*rng.sample(base, len(base)), Rule()]
        acted = [replace(rule, actions=actions(made & 0xFF, n)) for n, rule in enumerate(rules)]
        empty = held[active].rules and rng.random() < 0.1
        return RuleSet(() if empty else tuple(acted), rng.random() < 0.5, METERS)

    held = [RuleSet(), RuleSet()]
    traffic = Traffic(b, base)
    history = traffic.history
    totals: dict[int, Counter] = {}
    filled: list[int] = [0, 0]
    active, swaps = 0, 0

    async def count(of: int) -> None:
        """What a set counted since it was made goes to that set's totals."""
        for number in (DEFAULT_RULE, *range(len(held[of].rules))):
            await b.bus.write(COMMAND, Op.READ | of << 8 | number << 16)
            total = totals.setdefault(filled[of] << 16 | number, Counter())
            total.frames += await read_register(b.bus, f"{SLOT}.counter_frames")
            total.bytes += await read_register(b.bus, f"{SLOT}.counter_bytes")

    while swaps < SWAPS:
        if swaps < 2 or rng.random() < 0.04:
            # Every frame of the set that isn't asked is counted before it is emptied.
            for _ in range(2000):
                if (await read_fields(b.bus, f"{SLOT}.status"))["settled"]:
                    break
            else:
                raise AssertionError("frames of the old set are never counted")
            await count(1 - active)
            held[1 - active] = new_set()
            filled[1 - active] = made
            for address, value in writes(held[1 - active], SLOT, ipv6=IPV6)[:-1]:
                await b.bus.write(address, value)
        await wait_cycles(b.clk, rng.choice((0, 0, 1, 2, 3, rng.randrange(8), rng.randrange(80))))
        rule_set = held[1 - active]
        history.begin(rule_set.rules, rule_set.default_permit, filled[1 - active])
        await b.bus.write(COMMAND, Op.SWAP)
        history.end()
        active, swaps = 1 - active, swaps + 1
        if rng.random() < 0.1:
            assert (await read_fields(b.bus, f"{SLOT}.status"))["active"] == active
    await traffic.stop()
    for of in (0, 1):
        await count(of)
    want: dict[int, Counter] = {}
    for era in history.eras:
        for number, frames in era.counted.items():
            total = want.setdefault(era.tag << 16 | (DEFAULT_RULE if number is None else number), Counter())
            total.frames += frames
            total.bytes += era.bytes[number]
    found = {number: total for number, total in totals.items() if total.frames}
    assert found == want, _first_difference(found, want)
    assert sum(total.frames for total in found.values()) == len(traffic.flights)
    assert history.differ > SWAPS // 8, f"only {history.differ} frames that two sets answer in different ways"
    b.counted.clear()


def _first_difference(found: dict[int, Counter], want: dict[int, Counter]) -> str:
    for number in sorted(found.keys() | want.keys()):
        if found.get(number) != want.get(number):
            text = f"rule {number & 0xFFFF} of set {number >> 16}"
            return f"{text}: {found.get(number)} counted, must be {want.get(number)}"
    return ""


@acl_test(40)
async def slot_counts_every_frame_once_while_single_rules_change(dut: Any) -> None:
    """The driver inserts, moves, removes, loads and reads under frames back to back; each rule's total to the frame."""
    b = await SlotBench(dut, "changes").start()
    rng = b.rng
    base = some_rules(rng, 10)
    traffic = Traffic(b, base)
    history, driver = traffic.history, b.driver
    made = 0
    totals: Multiset[int] = Multiset()
    sizes: Multiset[int] = Multiset()

    def rule() -> Rule:
        """A rule with a number of its own."""
        nonlocal made
        made += 1
        actions = Actions(protect=made & 0xFFF, queue=rng.randrange(256), meter=0 if rng.random() < 0.3 else None)
        return replace(rng.choice(base), actions=actions)

    def enter(gone: Rule | None, counter: Counter) -> None:
        name = 0 if gone is None else gone.actions.protect or 0
        totals[name] += counter.frames
        sizes[name] += counter.bytes

    for turn in range(CHANGES):
        rules, permit = list(driver.rules), driver.default_permit
        kind = (
            "load" if turn % 20 == 0 else rng.choice(("insert", "move", "remove", "default", "read", "read_and_clear"))
        )
        if not rules and kind in ("move", "remove"):
            kind = "insert"
        place, other = rng.randint(0, len(rules)), rng.randrange(max(1, len(rules)))
        from_, new = rng.randrange(max(1, len(rules))), rule()
        if kind == "insert":
            rules.insert(place, new)
        elif kind == "move":
            rules.insert(other, rules.pop(from_))
        elif kind == "remove":
            rules.pop(from_)
        elif kind == "default":
            permit = not permit
        elif kind == "load":
            rules, permit = [rule() for _ in range(6)], True
        _change(kind)
        if kind in ("read", "read_and_clear"):
            index = rng.choice((None, *range(len(rules))))
            found = await driver.read(index, kind == "read_and_clear")
            if kind == "read_and_clear":
                enter(None if index is None else rules[index], found)
        else:
            history.begin(rules, permit)
            if kind == "insert":
                await driver.insert(place, new)
            elif kind == "move":
                await driver.move(from_, other)
            elif kind == "remove":
                enter(*(await driver.remove(from_)))
            elif kind == "default":
                await driver.set_default(permit)
            else:
                for one in await driver.load(RuleSet(tuple(rules), permit, METERS), final=True):
                    enter(*one)
            history.end()
            assert driver.rules == tuple(rules)
        await wait_cycles(b.clk, rng.randrange(40))
    await traffic.stop()
    for index in (None, *range(len(driver.rules))):
        enter(None if index is None else driver.rules[index], await driver.read(index))
    want: Multiset[int] = Multiset()
    want_sizes: Multiset[int] = Multiset()
    for era in history.eras:
        for number, frames in era.counted.items():
            name = 0 if number is None else era.rules[number].actions.protect or 0
            want[name] += frames
            want_sizes[name] += era.bytes[number]
    assert +totals == want and +sizes == want_sizes, f"{+totals} counted, must be {want}"
    assert sum(totals.values()) == len(traffic.flights)
    for counter in ("judged", "denied", "metered_green"):
        assert await read_register(b.bus, f"{SLOT}.{counter}") == b.counted[counter]


@acl_test()
async def slot_gives_a_frame_its_action_whatever_is_written_next(dut: Any) -> None:
    """Rules and default actions of the old set are written again as soon as the swap is answered: frames that it judged
    have left with what it said when it was asked."""
    b = await SlotBench(dut, "next").start()
    rng = b.rng
    any_rule = Rule(inner=False)
    await b.load(RuleSet((any_rule,)))
    await b.driver.insert(0, replace(any_rule, actions=Actions(queue=1)))
    traffic = Traffic(b, [any_rule])
    history = traffic.history
    history.begin(b.driver.rules, True)
    history.end()
    action = PORT[f"{SLOT}.action[0]"].address
    rules = list(b.driver.rules)
    held = [(tuple(rules), True), (tuple(rules), True)]
    for turn in range(60):
        # What is written after the swap stands in the registers before.
        queue = turn & 0x7F | 0x80
        await b.bus.write(action, 1 << 1 | queue << 2)
        await wait_cycles(b.clk, rng.randrange(30))
        history.begin(*held[1])
        await b.bus.write(COMMAND, Op.SWAP)
        await b.bus.write(COMMAND, Op.WRITE)
        history.end()
        old_rules, permit = held[0]
        held = [held[1], ((replace(any_rule, actions=Actions(queue=queue)), *old_rules[1:]), permit)]
    await traffic.stop()


@acl_test()
async def slot_clears_every_counter_while_a_late_frame_is_counted(dut: Any) -> None:
    """A set is cleared right behind the swap, though a long frame that it judged ends only then: no counter is passed
    over, and of the late frame at most that one count is left."""
    b = await SlotBench(dut, "clear").start()
    rng = b.rng
    rules = tuple(tell_apart([Rule()] * 64))
    late = 0
    for _ in range(6):
        b.driver = AclDriver(b.bus, SLOT)
        await b.load(RuleSet(rules))
        await b.play([b.flight(rng.randbytes(60), {"port": port}) for port in range(64)], "one each")
        old = (await read_fields(b.bus, f"{SLOT}.status"))["active"]
        flight = b.flight(rng.randbytes(rng.randint(400, 1200)), {"port": 5})
        want = b.expect(flight)
        b.source.append(flight.sent)
        await wait_cycles(b.clk, rng.randint(4, 8))
        await b.bus.write(COMMAND, Op.SWAP)
        await b.bus.write(COMMAND, Op.CLEAR)
        b.check(flight, want, await b.sink.recv(), "late")
        await b.quiet()
        b.before = None
        for number in range(64):
            await b.bus.write(COMMAND, Op.READ | old << 8 | number << 16)
            found = await read_register(b.bus, f"{SLOT}.counter_frames")
            assert found <= (number == 5), f"counter {number} is {found} after all were cleared"
            late += found
    assert late, "no frame was late"


@acl_test()
async def slot_settles_only_when_frames_of_the_old_set_are_counted(dut: Any) -> None:
    """A frame that stands still half way in is judged, not counted: status says so after a swap, until its end came."""
    b = await SlotBench(dut, "settled").start()
    await b.load(RuleSet((Rule(actions=Actions(queue=1)),)))
    gate = [True] * 4 + [False] * 400 + [True] * 10**5
    b.source.pause = iter(gate)
    flight = b.flight(b.rng.randbytes(200), {})
    want = b.expect(flight)
    b.source.append(flight.sent)
    await wait_cycles(b.clk, 30)
    old = (await read_fields(b.bus, f"{SLOT}.status"))["active"]
    await b.bus.write(COMMAND, Op.SWAP)
    assert await read_fields(b.bus, f"{SLOT}.status") == {"active": 1 - old, "settled": 0}
    await b.bus.write(COMMAND, Op.READ | old << 8)
    assert await read_register(b.bus, f"{SLOT}.counter_frames") == 0
    got = await b.sink.recv()
    b.check(flight, want, got, "held")
    await wait_cycles(b.clk, 8)
    assert await read_fields(b.bus, f"{SLOT}.status") == {"active": 1 - old, "settled": 1}
    await b.bus.write(COMMAND, Op.READ_AND_CLEAR | old << 8)
    assert await read_register(b.bus, f"{SLOT}.counter_frames") == 1
    assert await read_register(b.bus, f"{SLOT}.counter_bytes") == 200
    await b.bus.write(COMMAND, Op.READ | old << 8)
    assert await read_register(b.bus, f"{SLOT}.counter_frames") == 0, "read and clear left a count"
