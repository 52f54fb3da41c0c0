"""Bench of ``acl_match``: every answer, and its cycle, against a search for the first match in plain Python.

A set of the bench changes when the design takes a rule, its roles when the design takes a swap; what a key must be
answered with is settled when it is taken. So an answer that mixes two sets, or a rule that is half written, fails.
``$NICLOOP_RULES`` and ``$NICLOOP_IPV6`` (0 or 1) are the design's parameters.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from cocotb.triggers import RisingEdge

from tb.acl.key import Key, fields, key_width
from tb.acl.key import KeyRule as Rule
from tb.lib import cover
from tb.lib.clock import cycle, reset, start_clock
from tb.lib.suite import four_state, seeded, test

__all__: list[str] = []

RULES = int(os.environ["NICLOOP_RULES"])
IPV6 = os.environ["NICLOOP_IPV6"] == "1"
FIELDS = {field.name: field for field in fields(IPV6)}
KEY_W = key_width(IPV6)
ONES = (1 << KEY_W) - 1
LATENCY = 10
INTERVAL = 4
WRITE_CYCLES = 64
SWAP_WAIT = 67
"""A rule that was just taken, then the rest of a lookup."""
TOP = 65535
EDGES = (0, 1, 14, 15, 16, 17, 255, 256, 257, 4095, 4096, 32767, 32768, 65519, 65520, 65534, TOP)
"""Where four bits end, and the ends."""
TAG = FIELDS["dest_qp"]
"""A field that can tell all rules apart."""

_position = cover.point("acl_match.position", ["first", "last", "group_first", "group_last", "other", "none"])
_swap = cover.cross("acl_match.swap", ["slot_none", "slot_0", "slot_1", "slot_2", "slot_3"], ["writing", "quiet"])
_write = cover.point("acl_match.write", ["add", "change", "remove", "clear"])
_near = cover.cross("acl_match.near", list(FIELDS), ["hit", "miss"])
_port = cover.cross("acl_match.port", ["src", "dst"], ["below", "first", "inside", "last", "above"])
_overlap = cover.point("acl_match.overlap", [1, 2, 3])


@dataclass(frozen=True)
class Write:
    """A change of the set that is written; ``rule`` None: it is taken out; ``clear``: all are."""

    number: int
    rule: Rule | None = None
    clear: bool = False


Set = list[Rule | None]


def first_match(rules: Set, key: Key) -> int | None:
    """The number of the first rule that matches."""
    for number, rule in enumerate(rules):
        if rule is not None and rule.matches(key):
            return number
    return None


@dataclass(frozen=True)
class Due:
    """An answer that must come: its cycle, the rule or None, the set."""

    cycle: int
    rule: int | None
    of: int
    key: Key


class Bench:
    """Offers keys, rules and swaps; keeps both sets; checks each answer and its cycle."""

    def __init__(self, dut: Any, name: str) -> None:
        self.dut = dut
        self.rng: Random = seeded("acl_match", name, RULES, IPV6)
        self.sets: list[Set] = [[None] * RULES, [None] * RULES]
        self.asked = 0
        self.keys: deque[Key] = deque()
        self.writes: deque[Write] = deque()
        self.swap_wanted = False
        self.swaps = 0
        self.answers: list[int | None] = []
        self.taken: list[int] = []
        self.due: deque[Due] = deque()
        self.pace: Callable[[], int] = lambda: 0
        self._gap = 0
        self._offered: Key | None = None
        self._writing: Write | None = None
        self._written_until = -1
        self._swap_since: int | None = None
        self._edge = RisingEdge(dut.clk)
        start_clock(dut.clk)
        dut.s_valid.value = dut.wr_valid.value = dut.swap_valid.value = 0
        self._noise()

    async def start(self) -> Bench:
        await reset(self.dut.rst, self.dut.clk)
        return self

    @property
    def written(self) -> Set:
        """The set that isn't asked."""
        return self.sets[1 - self.asked]

    def _noise(self) -> None:
        """Inputs of a lookup that isn't offered mean nothing."""
        if four_state():
            for name in ("s_key", "s_src_port", "s_dst_port"):
                handle = getattr(self.dut, name)
                handle.value = type(handle.value)("X" * len(handle))
            return
        self.dut.s_key.value = self.rng.getrandbits(KEY_W)
        self.dut.s_src_port.value = self.rng.getrandbits(16)
        self.dut.s_dst_port.value = self.rng.getrandbits(16)

    def _offer_key(self) -> None:
        if self._offered is None and self._gap:
            self._gap -= 1
        elif self._offered is None and self.keys:
            key = self._offered = self.keys.popleft()
            dut = self.dut
            dut.s_valid.value = 1
            dut.s_key.value, dut.s_src_port.value, dut.s_dst_port.value = key.bits, key.src, key.dst

    def _offer_write(self) -> None:
        if self._writing is None and self.writes:
            write = self._writing = self.writes.popleft()
            rule = write.rule or Rule(self.rng.getrandbits(KEY_W), 0)
            dut = self.dut
            dut.wr_valid.value = 1
            dut.wr_clear.value = write.clear
            dut.wr_on.value = write.rule is not None
            dut.wr_rule.value = write.number
            dut.wr_value.value, dut.wr_mask.value = rule.value, rule.mask
            dut.wr_src_range.value = rule.src[1] << 16 | rule.src[0]
            dut.wr_dst_range.value = rule.dst[1] << 16 | rule.dst[0]

    async def step(self) -> None:
        """One cycle."""
        dut = self.dut
        self._offer_key()
        self._offer_write()
        if self.swap_wanted and self._swap_since is None:
            dut.swap_valid.value = 1
            self._swap_since = -1
        await self._edge
        now = cycle(dut.clk)
        # A swap counts for a key of the same cycle, and lets no rule in.
        swapping = self._swap_since is not None
        if swapping:
            self._check_swap(now)
        if self._offered is not None and str(dut.s_ready.value) == "1":
            key, self._offered = self._offered, None
            self._gap = self.pace()
            rules = self.sets[self.asked]
            self.due.append(Due(now + LATENCY, first_match(rules, key), self.asked, key))
            self.taken.append(now)
            dut.s_valid.value = 0
            self._noise()
        if self._writing is not None:
            ready = str(dut.wr_ready.value) == "1"
            held = swapping or now < self._written_until
            assert ready or held, f"no rule is taken in cycle {now}, though none is written"
            if ready:
                self._take_write(now)
        self._check_answer(now)

    def _check_swap(self, now: int) -> None:
        if self._swap_since == -1:
            self._swap_since = now
            slot = now - self.taken[-1] - 1 if self.taken else 4
            _swap(f"slot_{slot}" if slot < 4 else "slot_none", "writing" if now < self._written_until else "quiet")
        assert self._swap_since is not None
        if str(self.dut.swap_ready.value) != "1":
            assert now - self._swap_since < SWAP_WAIT, "a swap waits for too long"
            looking = bool(self.taken) and now - self.taken[-1] < INTERVAL
            assert looking or now < self._written_until, "a swap waits for nothing"
            return
        assert now >= self._written_until, "a swap while a rule is written"
        self.asked = 1 - self.asked
        self.swaps += 1
        self.swap_wanted, self._swap_since = False, None
        self.dut.swap_valid.value = 0

    def _take_write(self, now: int) -> None:
        assert self.dut.swap_valid.value == 0, "a rule was taken while a swap waits"
        assert now >= self._written_until, "a rule was taken while another is written"
        write, self._writing = self._writing, None
        assert write is not None
        self.dut.wr_valid.value = 0
        if write.clear:
            self.written[:] = [None] * RULES
            _write("clear")
            return
        if write.rule is None:
            _write("remove")
        else:
            _write("add" if self.written[write.number] is None else "change")
            self._written_until = now + WRITE_CYCLES
        self.written[write.number] = write.rule

    def _check_answer(self, now: int) -> None:
        valid = str(self.dut.m_valid.value)
        assert valid in ("0", "1"), f"m_valid is {valid}"
        if valid == "0":
            assert not self.due or self.due[0].cycle > now, f"no answer in cycle {now}: {self.due[0]}"
            return
        assert self.due, f"an answer in cycle {now} that nobody asked for"
        due = self.due.popleft()
        assert due.cycle == now, f"the answer came in cycle {now}: {due}"
        hit = str(self.dut.m_hit.value)
        assert hit in ("0", "1"), f"m_hit is {hit}"
        rule = int(self.dut.m_rule.value) if hit == "1" else None
        assert rule == due.rule, f"came rule {rule}: {due}"
        assert int(self.dut.m_set.value) == due.of, f"m_set is {self.dut.m_set.value}: {due}"
        self.answers.append(rule)
        _position(_place(rule))

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.step()

    async def settle(self) -> None:
        """All that is offered is taken, all rules are written, all answers have come, and no more than those."""
        while self.keys or self._offered or self.writes or self._writing or self.swap_wanted or self.due:
            await self.step()
        while cycle(self.dut.clk) < self._written_until:
            await self.step()
        await self.run(LATENCY + 2)

    async def swap(self) -> None:
        """Ask for a swap and wait until it is taken."""
        self.swap_wanted = True
        while self.swap_wanted:
            await self.step()

    async def load(self, rules: Iterable[Rule | None]) -> None:
        """The written set becomes these rules."""
        self.writes.append(Write(0, clear=True))
        self.writes.extend(Write(number, rule) for number, rule in enumerate(rules) if rule is not None)
        await self.settle()

    async def look_up(self, keys: Iterable[Key]) -> list[int | None]:
        """Answers of these keys, back to back."""
        before = len(self.answers)
        self.keys.extend(keys)
        await self.settle()
        return self.answers[before:]


def _place(rule: int | None) -> str:
    if rule is None:
        return "none"
    if rule in (0, RULES - 1):
        return "first" if rule == 0 else "last"
    return {0: "group_first", 31: "group_last"}.get(rule % 32, "other")


def tagged(number: int) -> Rule:
    """A rule that asks for its number in a field of its own, and for nothing else."""
    return Rule(number << TAG.low, TAG.mask)


def random_range(rng: Random) -> tuple[int, int]:
    kind = rng.randrange(6)
    if kind < 2:
        return (0, TOP)
    low, high = sorted(rng.choice((rng.choice(EDGES), rng.getrandbits(16))) for _ in range(2))
    return (low, low) if kind == 2 else (low, high)


def random_rule(rng: Random, values: Sequence[int]) -> Rule:
    """Some fields of one of few values, so that rules overlap; addresses by prefix or any mask."""
    value, mask = rng.choice(values), 0
    for name in rng.sample(list(FIELDS), rng.randint(0, 5)):
        field = FIELDS[name]
        kind = rng.randrange(3)
        if kind == 0:
            length = rng.randint(0, field.bits)
            part = ((1 << length) - 1) << (field.bits - length)
        else:
            part = (1 << field.bits) - 1 if kind == 1 else rng.getrandbits(field.bits)
        mask |= part << field.low
    # What isn't asked for may be anything.
    return Rule(value ^ (rng.getrandbits(KEY_W) & ~mask), mask, random_range(rng), random_range(rng))


def _neighbour(rng: Random, side: str, ends: tuple[int, int]) -> int:
    """A port at an edge of a range."""
    low, high = ends
    near = {"below": low - 1, "first": low, "inside": rng.randint(low, high), "last": high, "above": high + 1}
    names = [name for name, port in near.items() if 0 <= port <= TOP]
    name = rng.choice([*names, "first", "inside", "last"])
    _port(side, name)
    return near[name]


def neighbour(rng: Random, rule: Rule) -> Key:
    """A key that the rule matches, or one that is a bit or a port away from that."""
    bits = (rule.value & rule.mask) | (rng.getrandbits(KEY_W) & ~rule.mask)
    asked = [field for field in FIELDS.values() if field.mask & rule.mask]
    if asked:
        field = rng.choice(asked)
        away = rng.random() < 0.4
        if away:
            bits ^= 1 << rng.choice([bit for bit in range(field.low, field.low + field.bits) if rule.mask >> bit & 1])
        _near(field.name, "miss" if away else "hit")
    return Key(bits, _neighbour(rng, "src", rule.src), _neighbour(rng, "dst", rule.dst))


def random_set(rng: Random, count: int) -> Set:
    """``count`` rules at random places."""
    values = [rng.getrandbits(KEY_W) for _ in range(4)]
    rules: Set = [None] * RULES
    for number in rng.sample(range(RULES), count):
        rules[number] = random_rule(rng, values)
    return rules


def random_keys(rng: Random, rules: Set, count: int) -> list[Key]:
    there = [rule for rule in rules if rule is not None]
    keys = [neighbour(rng, rng.choice(there)) for _ in range(count)]
    for key in keys:
        matching = sum(rule.matches(key) for rule in there)
        if matching:
            _overlap(min(matching, 3))
    return keys


def random_key(rng: Random) -> Key:
    return Key(rng.getrandbits(KEY_W), rng.getrandbits(16), rng.getrandbits(16))


def random_writes(rng: Random, rules: Set, count: int) -> list[Write]:
    """Rules added, changed, moved to another place and taken out."""
    writes: list[Write] = []
    values = [rng.getrandbits(KEY_W) for _ in range(2)]
    for _ in range(count):
        number, other = rng.randrange(RULES), rng.randrange(RULES)
        kind = rng.randrange(4)
        moved = rules[number]
        if kind < 2:
            writes.append(Write(number, random_rule(rng, values)))
        elif kind == 2 and moved is not None:
            writes += [Write(other, moved), Write(number)]
        else:
            writes.append(Write(number))
    return writes


def check_interval(b: Bench, count: int) -> None:
    """The last ``count`` keys were taken one every four cycles."""
    taken = b.taken[-count:]
    assert len(taken) == count and taken[-1] - taken[0] == (count - 1) * INTERVAL, (
        f"{count} keys took {taken[-1] - taken[0]} cycles"
    )


@test
async def matcher_finds_nothing_after_reset(dut: Any) -> None:
    """In either set, whatever the memories hold."""
    b = await Bench(dut, "reset").start()
    for _ in range(2):
        answers = await b.look_up(random_key(b.rng) for _ in range(8))
        assert answers == [None] * 8
        await b.swap()


@test
async def matcher_finds_the_rule_at_each_position(dut: Any) -> None:
    """Each rule has a key of its own; and none of them matches what no rule asks for."""
    b = await Bench(dut, "position").start()
    order = list(range(RULES))
    b.rng.shuffle(order)
    await b.load(tagged(order[number]) for number in range(RULES))
    await b.swap()
    keys = [replace(random_key(b.rng), bits=b.rng.getrandbits(KEY_W) & ~TAG.mask | t << TAG.low) for t in order]
    assert await b.look_up(keys) == list(range(RULES))
    check_interval(b, RULES)
    away = [replace(key, bits=key.bits ^ (RULES * 2) << TAG.low) for key in keys[:16]]
    assert await b.look_up(away) == [None] * 16


@test
async def matcher_takes_the_lowest_of_all_that_match(dut: Any) -> None:
    """Rule i has room for ports up to i: port p is matched by rule p and all after it. Then rules are taken out."""
    b = await Bench(dut, "priority").start()
    await b.load(Rule(0, 0, dst=(0, number)) for number in range(RULES))
    await b.swap()
    keys = [Key(b.rng.getrandbits(KEY_W), b.rng.getrandbits(16), port) for port in range(RULES)]
    b.rng.shuffle(keys)
    assert await b.look_up(keys) == [key.dst for key in keys]
    await b.swap()
    gone = [*range(5), *b.rng.sample(range(5, RULES - 1), RULES // 2)]
    b.writes.extend(Write(number) for number in gone)
    await b.swap()
    await b.settle()
    assert b.asked == 1
    left = await b.look_up(keys[:64])
    assert left == [key.dst for key in keys[:64]], "what is taken out of the other set shows"
    await b.swap()
    await b.look_up(keys)


@test
async def matcher_empties_the_written_set_at_once(dut: Any) -> None:
    """Either set, with rules that match all: the asked one still answers with its first, the other with none."""
    b = await Bench(dut, "clear").start()
    keys = [random_key(b.rng) for _ in range(4)]
    some = [Rule(0, 0) if b.rng.random() < 0.1 else None for _ in range(RULES - 1)] + [Rule(0, 0)]
    first = some.index(Rule(0, 0))
    for _ in range(2):
        await b.load(some)
        await b.swap()
    # Set 0 is asked: set 1 is emptied, and asked. Then set 0 in the same way; then there is a rule again.
    b.writes.append(Write(b.rng.randrange(RULES), clear=True))
    assert await b.look_up(keys) == [first] * len(keys)
    await b.swap()
    assert await b.look_up(keys) == [None] * len(keys)
    b.writes.append(Write(b.rng.randrange(RULES), Rule(0, 0), clear=True))
    await b.settle()
    await b.swap()
    assert await b.look_up(keys) == [None] * len(keys)
    await b.load([None] * (RULES - 1) + [Rule(0, 0)])
    await b.swap()
    assert await b.look_up(keys) == [RULES - 1] * len(keys)


@test
async def matcher_looks_at_each_bit_of_the_key(dut: Any) -> None:
    """A rule for each bit, for a 1 and then for a 0, against keys in which only that bit has that value."""
    b = await Bench(dut, "bits").start()
    for start in range(0, KEY_W, RULES):
        bits = range(start, min(start + RULES, KEY_W))
        for wanted in (1, 0):
            await b.load(Rule(wanted << bit, 1 << bit) for bit in bits)
            await b.swap()
            others = 0 if wanted else ONES
            keys = [Key(others ^ (1 << bit), b.rng.getrandbits(16), b.rng.getrandbits(16)) for bit in bits]
            assert await b.look_up(keys) == list(range(len(bits)))
            assert await b.look_up([Key(others, 0, 0)]) == [None]


@test
async def matcher_holds_each_range_at_both_ends(dut: Any) -> None:
    """Ranges between all edges, of one port, of all; the ports beside their ends. An empty range matches nothing."""
    b = await Bench(dut, "ranges").start()
    rng = b.rng
    pairs = [(low, high) for low in EDGES for high in EDGES if low <= high]
    pairs += [(high, low) for low, high in pairs if low < high][:: len(EDGES)]
    pairs += [random_range(rng) for _ in range(RULES)]
    rng.shuffle(pairs)
    pairs = [(0, 0), (TOP, TOP), (0, TOP), (TOP, 0), *pairs][: min(RULES, 256)]
    rules = []
    for number, ends in enumerate(pairs):
        rule = tagged(number)
        rules.append(replace(rule, src=ends) if number & 1 else replace(rule, dst=ends))
    await b.load(rules)
    await b.swap()
    keys = []
    for rule in rules:
        for end in (*rule.src, *rule.dst):
            for port in (end - 1, end, end + 1):
                if 0 <= port <= TOP:
                    noise = rng.getrandbits(16)
                    keys.append(Key(rule.value, *((port, noise) if rule.dst == (0, TOP) else (noise, port))))
    await b.look_up(keys)


@test
async def matcher_is_as_a_search_in_random_sets(dut: Any) -> None:
    """Few and many rules, which overlap; keys at the edges of each."""
    b = await Bench(dut, "random").start()
    for count in (1, 7, RULES // 8, RULES // 2):
        await b.load(random_set(b.rng, count))
        await b.swap()
        keys = random_keys(b.rng, b.sets[b.asked], 4 * count + 40)
        keys += [random_key(b.rng) for _ in range(20)]
        await b.look_up(keys)
        check_interval(b, len(keys))


@test
async def matcher_answers_while_rules_are_written(dut: Any) -> None:
    """Keys back to back while rules of the other set are added, changed, moved and taken out; then that set answers."""
    b = await Bench(dut, "written").start()
    await b.load(random_set(b.rng, RULES // 16))
    await b.swap()
    await b.load(random_set(b.rng, RULES // 16))
    for _ in range(6 if RULES > 64 else 3):
        b.writes.extend(random_writes(b.rng, b.written, 12))
        count = 16 * len(b.writes)
        b.keys.extend(random_keys(b.rng, b.sets[b.asked], count))
        await b.settle()
        check_interval(b, count)
        await b.swap()
        await b.look_up(random_keys(b.rng, b.sets[b.asked], 100))
        if b.rng.random() < 0.3:
            b.writes.append(Write(b.rng.randrange(RULES), clear=True))
            b.writes.extend(Write(number, rule) for number, rule in enumerate(random_set(b.rng, 5)) if rule)


@test
async def matcher_judges_each_key_by_one_whole_set(dut: Any) -> None:
    """Thousands of swaps at random cycles between two sets that differ in every rule, first in each slot."""
    b = await Bench(dut, "swaps").start()
    rng = b.rng
    rules = [rule for rule in random_set(rng, 24) if rule is not None]
    for _ in range(2):
        # The same rules at other places, and each of them a bit or a range apart.
        rng.shuffle(rules)
        other: Set = [None] * RULES
        for place, rule in zip(rng.sample(range(RULES), len(rules)), rules, strict=True):
            flip = 1 << rng.randrange(KEY_W)
            other[place] = replace(rule, value=rule.value ^ flip, mask=rule.mask | flip, dst=random_range(rng))
        await b.load(other)
        await b.swap()
    there = [rule for rules in b.sets for rule in rules if rule is not None]
    for delay in range(10):
        for writing in (False, True):
            if writing:
                b.writes.append(Write(rng.randrange(RULES), rng.choice(there)))
                await b.step()
            b.keys.extend(neighbour(rng, rng.choice(there)) for _ in range(3))
            await b.run(delay)
            await b.swap()
            await b.settle()
    b.pace = lambda: rng.choice((0, 0, 0, 1, 2, 3, rng.randint(0, 30)))
    wanted = b.swaps + (3000 if RULES > 64 else 300)
    differ = 0
    while b.swaps < wanted:
        while len(b.keys) < 4:
            key = neighbour(rng, rng.choice(there))
            differ += first_match(b.sets[0], key) != first_match(b.sets[1], key)
            b.keys.append(key)
        if not b.swap_wanted and rng.random() < 0.4:
            b.swap_wanted = True
        if rng.random() < 0.004 and not b.writes:
            b.writes.extend(random_writes(rng, b.written, 1))
        await b.step()
    await b.settle()
    assert differ > 75, f"only {differ} keys that the sets answer in different ways"


@test
async def matcher_forgets_all_at_a_reset(dut: Any) -> None:
    """A reset in each cycle of a lookup, a write and a swap: no answer comes, both sets are empty."""
    b = await Bench(dut, "restart").start()
    for delay in range(14):
        await b.load([Rule(0, 0)])
        await b.swap()
        b.keys.append(random_key(b.rng))
        b.writes.append(Write(3, Rule(0, 0)))
        b.swap_wanted = delay % 2 == 1
        await b.run(delay)
        await _restart(b)
        for _ in range(2):
            assert await b.look_up([random_key(b.rng)]) == [None]
            await b.swap()


async def _restart(b: Bench) -> None:
    dut = b.dut
    dut.s_valid.value = dut.wr_valid.value = dut.swap_valid.value = 0
    await reset(dut.rst, dut.clk, 1)
    b.sets = [[None] * RULES, [None] * RULES]
    b.asked, b.swap_wanted = 0, False
    b.keys.clear()
    b.writes.clear()
    b.due.clear()
    b._offered = b._writing = b._swap_since = None
    b._written_until = -1
