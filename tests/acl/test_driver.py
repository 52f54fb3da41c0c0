"""``tb/acl/driver.py`` against a slot in Python: what it writes, and that no frame's count is lost while rules change.

Sweep:    all conditions and actions; keys with and without IPv6; inserts, moves, removals, whole sets in any order
Stimulus: random rules and metadata; frames that come at each register access and are counted some accesses later
Checks:   a rule's value and mask against ``matches``; rules, meters and default action that arrive; each rule's counter
          against a log of the frames that it judged; every frame judged by rules that stood together
Timing:   none
"""

from __future__ import annotations

import asyncio
from collections import Counter as Multiset
from collections.abc import Coroutine
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.acl import Actions, Counter, Masked, Range, Rule, RuleSet, matches
from models.acl_meter import MeterRates
from models.port_map import PORT
from tb.acl.driver import AclDriver, action_words, writes
from tb.acl.key import Key, KeyRule, encode, fields, key_of, key_width
from tb.acl.traffic import Neighbour, fitting, kinds_of, neighbours, random_rule
from tests.acl.slot_double import Action, SlotDouble
from tests.acl.strategies import FIELDS, RULES

MOST = 16
RATES = MeterRates(10**9, 2 * 10**9, 3000, 1 << 32 - 1, 5)


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


# What a rule becomes


@given(RULES, FIELDS, st.booleans())
def test_a_rule_matches_the_key_where_it_matches_the_frame(rule: Rule, frame: dict[str, int], ipv6: bool) -> None:
    if rule.ip == 6 and not ipv6:
        with pytest.raises(ValueError, match="asks for IPv6"):
            encode(rule, ipv6)
        return
    key = key_of(frame, rule.inner, ipv6)
    assert (key is not None and encode(rule, ipv6).matches(key)) == matches(rule, frame)


@pytest.mark.parametrize("ipv6", [True, False])
def test_each_end_of_a_condition_is_that_of_the_key(seed: int, ipv6: bool) -> None:
    """Frames that a rule was made for, and those one step beside each of its conditions."""
    rng = Random(seed)
    for kind in kinds_of(ipv6, True) * 200:
        rule = random_rule(rng, kind, ipv6)
        fields_of = fitting(rng, rule, ipv6)
        asked = encode(rule, ipv6)
        for near in (Neighbour("none", fields_of, True), *neighbours(rng, rule, fields_of)):
            key = key_of(near.fields, rule.inner, ipv6)
            assert (key is not None and asked.matches(key)) == near.hit, f"{near} of {rule}"


def test_a_rule_that_contradicts_itself_matches_no_key() -> None:
    for rule in (
        Rule(src_port=Range(0, 9), icmp_type=Masked(0, 0xFF)),
        Rule(tcp_flags=Masked(0, 1), icmp_code=Masked(0, 1)),
        Rule(inner=True, bth_opcode=Masked(4, 0xFF)),
        Rule(inner=True, dest_qp=0),
    ):
        asked = encode(rule)
        for src, dst in ((0, 0), (9, 0xFFFF), (0xFFFF, 0xFFFF)):
            assert not asked.matches(Key(asked.value, src, dst)), rule


def test_a_rule_stays_in_its_half_of_the_lookups() -> None:
    """One about the outside never takes a key of the inside, nor the other way round."""
    frame = {"tunnel_kind": 1, "l3_kind": 1, "inner_l3_kind": 1}
    for inner in (False, True):
        key = key_of(frame, not inner)
        assert key is not None and not encode(Rule(inner=inner, ip=4)).matches(key)


def test_the_key_has_no_gaps_and_its_width() -> None:
    for ipv6, width in ((True, 384), (False, 192)):
        assert key_width(ipv6) == width
        assert sum(field.mask for field in fields(ipv6)) == (1 << width) - 1


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        (Actions(), (0, 0)),
        (Actions(permit=False), (1, 0)),
        (Actions(queue=0), (1 << 1, 0)),
        (Actions(queue=0xA5), (1 << 1 | 0xA5 << 2, 0)),
        (Actions(mirror=0x81), (1 << 10 | 0x81 << 11, 0)),
        (Actions(redirect=0xFF), (1 << 19 | 0xFF << 20, 0)),
        (Actions(priority=5), (1 << 28 | 5 << 29, 0)),
        (Actions(mark_dscp=46), (0, 1 | 46 << 1)),
        (Actions(meter=255), (0, 1 << 7 | 255 << 8)),
        (Actions(protect=0x801), (0, 1 << 16 | 0x801 << 17)),
    ],
)
def test_each_action_has_its_bits(actions: Actions, words: Action) -> None:
    assert action_words(actions) == words


# A whole set as register writes


def some_rules(rng: Random, count: int, first: int = 0) -> list[Rule]:
    """Rules that overlap, each with a number of its own in ``protect``."""
    found = []
    for number in range(first, first + count):
        low = rng.randrange(8)
        conditions: dict[str, Any] = rng.choice(
            (
                {"dst_port": Range(low, rng.randint(low, 8))},
                {"ip": 4, "src": Masked(low << 29, 7 << 29)},
                {"ip": 4, "protocol": Masked(17, 0xFF), "dscp": low},
                {},
            )
        )
        found.append(Rule(f"r{number}", actions=Actions(protect=number), **conditions))
    return found


def some_frame(rng: Random) -> dict[str, int]:
    return {
        "l3_kind": 1,
        "l4_kind": 2,
        "protocol": 17,
        "ip_src": rng.randrange(8) << 29,
        "dst_port": rng.randrange(9),
        "dscp": rng.randrange(8),
    }


def some_key(rng: Random) -> Key:
    key = key_of(some_frame(rng))
    assert key is not None
    return key


@pytest.mark.parametrize("slot", ["acl_rx", "acl_tx"])
@pytest.mark.parametrize("ipv6", [True, False])
def test_the_writes_of_a_set_load_it_whole(slot: str, ipv6: bool, seed: int) -> None:
    rng = Random(seed)
    rules = some_rules(rng, MOST)
    meters = (RATES, MeterRates(1, 10**12, 1, 1))
    device = SlotDouble(slot, ipv6=ipv6)
    # What was there before is gone.
    for rule_set in (RuleSet(tuple(reversed(rules)), False), RuleSet(tuple(rules[:-2]), True, meters)):
        accesses = writes(rule_set, slot, ipv6=ipv6)
        before = device.active

        async def play(accesses: list[tuple[int, int]] = accesses) -> None:
            for address, value in accesses:
                await device.write(address, value)

        run(play())
        assert device.active == 1 - before and accesses[-1][0] == PORT[f"{slot}.command"].address
        held = device.sets[device.active]
        want = {n: (encode(rule, ipv6), action_words(rule.actions)) for n, rule in enumerate(rule_set.rules)}
        assert held.rules == want and held.default == (int(not rule_set.default_permit), 0)
        assert device.meters == dict(enumerate(rule_set.meters))


def test_the_writes_of_a_set_leave_out_words_that_stay_as_they_are() -> None:
    """Alike rules cost a few writes each."""
    alike = [Rule(ip=4, dst=Masked(number, 0xFFFFFFFF)) for number in range(100)]
    assert len(writes(RuleSet(tuple(alike)), "acl_rx")) <= 30 + 2 * 100


def test_a_slot_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no slot acl; accepted: acl_rx, acl_tx"):
        writes(RuleSet(), "acl")


def test_rules_that_do_not_fit_are_refused_and_change_nothing() -> None:
    device = SlotDouble(rules=2, meters=1, ipv6=False)
    driver = AclDriver(device, "acl_rx")

    async def work() -> None:
        await driver.load(RuleSet((Rule("a"), Rule("b")), True, (RATES,)))
        device.accesses.clear()
        for refused, text in (
            (driver.load(RuleSet((Rule(), Rule(), Rule()))), "3 rules, 1 more than the 2"),
            (driver.load(RuleSet((Rule(ip=6),))), "no keys for it"),
            (driver.load(RuleSet((), True, (RATES, RATES))), "2 meters, 1 more than the 1 that the engine has"),
            (driver.insert(0, Rule()), "3 rules, 1 more than the 2"),
            (driver.insert(3, Rule()), "no place 3"),
            (driver.move(0, 2), "no place 2"),
            (driver.move(2, 0), "no place 2"),
            (driver.remove(2), "no place 2"),
            (driver.read(2), "no place 2"),
            (driver.set_meter(1, RATES), "2 meters"),
            (driver.set_meter(2, RATES), "no place 2"),
        ):
            with pytest.raises(ValueError, match=text):
                await refused
        await driver.remove(1)
        device.accesses.clear()
        with pytest.raises(ValueError, match="there is no meter 1"):
            await driver.insert(0, Rule(actions=Actions(meter=1)))
        assert not device.accesses
        assert [rule.name for rule in driver.rules] == ["a"]

    run(work())


def test_a_slot_whose_frames_stand_still_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tb.acl.driver._POLLS", 50)
    device = SlotDouble()
    device.delay = 10**6
    driver = AclDriver(device, "acl_rx")

    async def work() -> None:
        await driver.load(RuleSet((Rule(),)))
        device.frame(Key(0, 0, 0), 60)
        await driver.load(RuleSet())
        with pytest.raises(TimeoutError, match="acl_rx: frames of the old rules don't end"):
            await driver.load(RuleSet())

    run(work())


# Changes while frames flow


class Flow:
    """Frames that come at random register accesses, and the rules under which each came."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.device = SlotDouble(rules=MOST)
        self.driver = AclDriver(self.device, "acl_rx")
        self.frames: list[tuple[dict[str, int], Action]] = []
        self.device.traffic = self.traffic
        self.next = 0
        self.judged_by: list[tuple[Rule, ...]] = [()]
        """The sets of rules that were ever whole, the last two of which a frame may see."""

    def traffic(self) -> None:
        if self.rng.random() < 0.3:
            frame = some_frame(self.rng)
            key = key_of(frame)
            assert key is not None
            got = self.device.frame(key, self.rng.randint(60, 1500))
            allowed = {self.answer(rules, frame) for rules in self.judged_by[-2:]}
            assert got in allowed, f"{got} is of no whole set: {allowed}"

    @staticmethod
    def answer(rules: tuple[Rule, ...], frame: dict[str, int]) -> Action:
        return next((action_words(rule.actions) for rule in rules if matches(rule, frame)), (0, 0))

    def rule(self) -> Rule:
        self.next += 1
        return some_rules(self.rng, 1, self.next)[0]

    async def step(self) -> tuple[list[Rule], list[tuple[Rule, Counter]]]:
        """A change; the rules that must be there now, and those that went with what they counted."""
        rules, rng, driver = list(self.driver.rules), self.rng, self.driver
        kind = rng.choice(("insert", "move", "remove", "default")) if rules else "insert"
        if kind == "insert" and len(rules) < MOST:
            place, rule = rng.randint(0, len(rules)), self.rule()
            rules.insert(place, rule)
            self.judged_by.append(tuple(rules))
            await driver.insert(place, rule)
        elif kind == "move" and rules:
            source, to = rng.randrange(len(rules)), rng.randrange(len(rules))
            rules.insert(to, rules.pop(source))
            self.judged_by.append(tuple(rules))
            await driver.move(source, to)
        elif kind == "remove" and rules:
            place = rng.randrange(len(rules))
            rules.pop(place)
            self.judged_by.append(tuple(rules))
            return rules, [await driver.remove(place)]
        return rules, []


def test_counters_move_with_their_rules_and_no_frame_is_lost(seed: int) -> None:
    flow = Flow(seed)
    device, driver, rng = flow.device, flow.driver, flow.rng
    counted: Multiset[Action] = Multiset()
    size: Multiset[Action] = Multiset()

    def count(rule: Rule | None, counter: Counter) -> None:
        action = (0, 0) if rule is None else action_words(rule.actions)
        counted[action] += counter.frames
        size[action] += counter.bytes

    async def work() -> None:
        for turn in range(120):
            if turn % 8 == 0:
                rules = [flow.rule() for _ in range(rng.randint(0, MOST - 2))]
                flow.judged_by.append(tuple(rules))
                for gone, counter in await driver.load(RuleSet(tuple(rules)), final=True):
                    count(gone, counter)
            rules, removed = await flow.step()
            assert list(driver.rules) == rules
            for gone, counter in removed:
                count(gone, counter)
            if driver.rules and rng.random() < 0.5:
                index = rng.choice((None, rng.randrange(len(driver.rules))))
                clear = rng.random() < 0.5
                found = await driver.read(index, clear)
                if clear:
                    count(None if index is None else driver.rules[index], found)
        flow.device.traffic = lambda: None
        device.run_out()
        for index in (None, *range(len(driver.rules))):
            count(None if index is None else driver.rules[index], await driver.read(index))

    run(work())
    assert counted == device.log and size == device.bytes and sum(counted.values()) > 1000


def test_after_a_change_both_sets_hold_the_rules(seed: int) -> None:
    """So the next change needs no more than what it changes."""
    flow = Flow(seed)

    async def work() -> None:
        await flow.driver.load(RuleSet(tuple(flow.rule() for _ in range(8)), False))
        assert flow.device.sets[1 - flow.device.active].rules == {}, "a set that is loaded costs one set"
        for _ in range(7):
            rules, _ = await flow.step()
            want = {number: (encode(rule), action_words(rule.actions)) for number, rule in enumerate(rules)}
            assert flow.device.sets[flow.device.active].rules == want
        await flow.driver.insert(0, flow.rule())
        first, second = flow.device.sets
        assert first.rules == second.rules and first.default == second.default == (1, 0)
        flow.device.accesses.clear()
        await flow.driver.move(0, 1)
        assert len(flow.device.accesses) < 60

    flow.device.traffic = lambda: None
    run(work())


def test_the_default_action_and_meters_change_alone() -> None:
    device = SlotDouble()
    driver = AclDriver(device, "acl_rx")

    async def work() -> None:
        await driver.load(RuleSet((Rule(ip=4),)))
        await driver.set_default(False)
        assert [one.default for one in device.sets] == [(1, 0)] * 2 and not driver.default_permit
        await driver.set_default(True)
        assert [one.default for one in device.sets] == [(0, 0)] * 2 and driver.default_permit
        await driver.set_meter(0, RATES)
        await driver.set_meter(1, MeterRates(1, 1, 1, 1))
        assert device.meters == {0: RATES, 1: MeterRates(1, 1, 1, 1)} == dict(enumerate(driver.meters))
        await driver.insert(0, Rule(actions=Actions(meter=1)))

    run(work())


def test_a_driver_adopts_what_the_writes_of_a_set_put_there() -> None:
    device = SlotDouble()
    rule_set = RuleSet((Rule(ip=4, actions=Actions(queue=1)), Rule(actions=Actions(queue=2))), False, (RATES,))

    async def work() -> None:
        for address, value in writes(rule_set, "acl_rx"):
            await device.write(address, value)
        device.frame(some_key(Random(0)), 60)
        device.run_out()
        driver = AclDriver(device, "acl_rx")
        await driver.adopt(rule_set)
        assert (driver.rules, driver.default_permit, driver.meters) == (rule_set.rules, False, (RATES,))
        await driver.move(0, 1)
        assert [await driver.read(index) for index in (None, 0, 1)] == [Counter(), Counter(), Counter(1, 60)]

    run(work())


def test_a_driver_that_adopts_a_set_knows_no_register_from_before() -> None:
    device, beside = SlotDouble(), SlotDouble()
    rules = (Rule(ip=6), Rule(ip=4))

    async def work() -> None:
        driver = AclDriver(device, "acl_rx")
        await driver.load(RuleSet(rules[:1]))
        for address, value in writes(RuleSet(rules[1:]), "acl_rx"):
            await device.write(address, value)
        await driver.adopt(RuleSet(rules[1:]))
        await driver.insert(0, rules[0])
        await AclDriver(beside, "acl_rx").load(RuleSet(rules))
        assert device.sets[device.active].rules == beside.sets[beside.active].rules

    run(work())


def test_a_counter_of_two_sets_is_their_sum_modulo_its_bits() -> None:
    device = SlotDouble()
    driver = AclDriver(device, "acl_rx")
    largest = (1 << 64) - 1

    async def work() -> None:
        await driver.load(RuleSet((Rule(), Rule())))
        device.sets[device.active].counters[1] = [largest, largest]
        await driver.move(0, 1)
        device.sets[0].counters[0] = [1, 2]
        device.sets[1].counters[0] = [1, 0]
        assert await driver.read(0) == Counter(1, 1)

    run(work())


def test_a_key_rule_takes_both_ends_of_its_ranges() -> None:
    rule = KeyRule(0, 0, (5, 6), (7, 7))
    assert [rule.matches(Key(0, src, 7)) for src in (4, 5, 6, 7)] == [False, True, True, False]
    assert [rule.matches(Key(0, 5, dst)) for dst in (6, 7, 8)] == [False, True, False]
