"""Driver of the ACL's slot: rule sets and single rules into the registers of docs/acl.md, and counters out of them.

``writes`` gives the register writes that load a whole set into a slot: what programs a port does not wait for answers.
``AclDriver`` changes rules while frames flow. The slot has two sets, of which one is asked: a change goes into the
other, the sets change roles, and then it goes into the one that was asked before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from models.acl import COUNTER_BITS, DEFAULT_RULE, Actions, Counter, Rule, RuleSet
from models.acl_check import misfits
from models.acl_meter import MeterRates
from models.port_map import PORT
from tb.acl.key import encode
from tb.registers.map import Bus, read_fields, read_register

__all__ = ["SLOTS", "AclDriver", "Op", "action_words", "writes"]

SLOTS = ("acl_rx", "acl_tx")
_POLLS = 100_000
"""Reads of ``status`` after which frames have stood still for too long."""
_WORD = (1 << 32) - 1


class Op(IntEnum):
    """``op`` of the register ``command``."""

    WRITE = 1
    REMOVE = 2
    CLEAR = 3
    DEFAULT = 4
    SWAP = 5
    READ = 6
    READ_AND_CLEAR = 7
    METER = 8


def action_words(actions: Actions) -> tuple[int, int]:
    """The two words of register ``action``."""
    words = [int(not actions.permit), 0]
    for word, on, bits, number in (
        (0, 1, 8, actions.queue),
        (0, 10, 8, actions.mirror),
        (0, 19, 8, actions.redirect),
        (0, 28, 3, actions.priority),
        (1, 0, 6, actions.mark_dscp),
        (1, 7, 8, actions.meter),
        (1, 16, 12, actions.protect),
    ):
        if number is not None:
            assert number < 1 << bits
            words[word] |= 1 << on | number << on + 1
    return words[0], words[1]


class _Registers:
    """Makes register writes. A register that a command only reads is written again where its value changes: rules of a
    set are alike, and most of their words are the same."""

    def __init__(self, slot: str, ipv6: bool, base: int = 0) -> None:
        if slot not in SLOTS:
            raise ValueError(f"there is no slot {slot}; accepted: {', '.join(SLOTS)}")
        self._slot, self._ipv6, self._base = slot, ipv6, base
        self._known: dict[int, int] = {}

    def _put(self, name: str, value: int) -> Iterator[tuple[int, int]]:
        register = PORT[f"{self._slot}.{name}"]
        address = self._base + register.address
        if self._known.get(address) == value:
            return
        self._known[address] = value
        for word in range(register.words):
            yield address + 4 * word, value >> 32 * word & _WORD

    def command(self, op: Op, number: int = 0, of: int = 0) -> tuple[int, int]:
        """The write that makes the slot do something; what it needs is written before."""
        register = PORT[f"{self._slot}.command"]
        return self._base + register.address, register.encode({"op": op, "set": of, "number": number}, 0)

    def _action(self, actions: Actions) -> Iterator[tuple[int, int]]:
        for word, value in enumerate(action_words(actions)):
            yield from self._put(f"action[{word}]", value)

    def rule(self, number: int, rule: Rule) -> Iterator[tuple[int, int]]:
        """A rule of the set that isn't asked."""
        key = encode(rule, self._ipv6)
        for word in range(12 if self._ipv6 else 6):
            yield from self._put(f"value[{word}]", key.value >> 32 * word & _WORD)
            yield from self._put(f"mask[{word}]", key.mask >> 32 * word & _WORD)
        for name, (first, last) in (("src_range", key.src), ("dst_range", key.dst)):
            yield from self._put(name, last << 16 | first)
        yield from self._action(rule.actions)
        yield self.command(Op.WRITE, number)

    def default(self, permit: bool) -> Iterator[tuple[int, int]]:
        """The default action of the set that isn't asked."""
        yield from self._action(Actions(permit=permit))
        yield self.command(Op.DEFAULT)

    def meter(self, number: int, rates: MeterRates) -> Iterator[tuple[int, int]]:
        """A meter's rates, with full buckets."""
        for name in ("cir", "pir", "cbs", "pbs"):
            yield from self._put(name, getattr(rates, name))
        yield from self._put("yellow", 0 if rates.yellow_dscp is None else 1 << 6 | rates.yellow_dscp)
        yield self.command(Op.METER, number)

    def whole(self, rules: Sequence[Rule], default_permit: bool) -> Iterator[tuple[int, int]]:
        """The set that isn't asked becomes these rules, with counters at 0."""
        yield self.command(Op.CLEAR)
        for number, rule in enumerate(rules):
            yield from self.rule(number, rule)
        if not default_permit:
            yield from self.default(default_permit)


def writes(rule_set: RuleSet, slot: str, *, ipv6: bool = True) -> list[tuple[int, int]]:
    """Addresses and values of the register writes that load a set into a slot, whatever was in it: its meters, its
    rules in their order, the swap. ipv6: the slot's parameter IPV6. ValueError: a rule doesn't fit; no such slot."""
    registers = _Registers(slot, ipv6)
    found: list[tuple[int, int]] = []
    for number, rates in enumerate(rule_set.meters):
        found += registers.meter(number, rates)
    found += registers.whole(rule_set.rules, rule_set.default_permit)
    found.append(registers.command(Op.SWAP))
    return found


@dataclass(eq=False)
class _Entry:
    """A rule, or the default action (None), and what was counted of it while it stood elsewhere."""

    rule: Rule | None = None
    total: Counter = field(default_factory=Counter)

    def add(self, counted: Counter) -> None:
        modulus = 1 << COUNTER_BITS
        self.total.frames = (self.total.frames + counted.frames) % modulus
        self.total.bytes = (self.total.bytes + counted.bytes) % modulus


@dataclass
class _Set:
    """What one of the slot's sets holds."""

    entries: list[_Entry] = field(default_factory=list)
    default: _Entry = field(default_factory=_Entry)
    default_permit: bool = True


class AclDriver:
    """The rules of one slot, which holds none yet (fresh from reset, or ``adopt`` says what ``writes`` put there).

    A rule's counter is the sum of both sets' and of what was counted before the rule moved, so it moves with its rule
    and no frame is lost or counted twice. One call at a time; frames may flow meanwhile. ValueError: what doesn't fit,
    a place or a meter that isn't there; the slot is then as before.

    device: a target, or an AXI4-Lite master in a bench. base: added to every address.
    """

    def __init__(self, device: Bus, slot: str, *, base: int = 0) -> None:
        self._device, self._slot, self._base = device, slot, base
        self._registers = _Registers(slot, True, base)
        self._size: dict[str, int] = {}
        self._live = _Set()
        self._sets = [_Set(default=self._live.default), _Set(default=self._live.default)]
        self._meters: list[MeterRates] = []

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in their order."""
        return _rules_of(self._live.entries)

    @property
    def default_permit(self) -> bool:
        return self._live.default_permit

    @property
    def meters(self) -> tuple[MeterRates, ...]:
        """Meters by number."""
        return tuple(self._meters)

    async def size(self) -> dict[str, int]:
        """The slot's parameters: ``rules``, ``meters``, ``ipv6``, ``tunnel``."""
        if not self._size:
            self._size = await read_fields(self._device, f"{self._slot}.size", base=self._base)
            self._registers = _Registers(self._slot, bool(self._size["ipv6"]), self._base)
        return self._size

    async def adopt(self, rule_set: RuleSet) -> None:
        """The asked set was loaded with the register writes of ``writes``."""
        await self._check_fit(rule_set.rules, rule_set.meters)
        # Somebody else wrote the registers since.
        self._registers = _Registers(self._slot, bool(self._size["ipv6"]), self._base)
        self._live = _set_of(rule_set)
        asked = (await self._status())["active"]
        self._sets[asked], self._sets[1 - asked] = self._live, _Set()
        self._meters = list(rule_set.meters)

    async def load(self, rule_set: RuleSet, *, final: bool = False) -> list[tuple[Rule | None, Counter]]:
        """Another set, between two frames, with counters at 0 and full buckets. The meters change first.

        final: wait until the last frame that the old set judged is counted, and return what each old rule counted, in
        their order, then the default action (None).
        """
        await self._check_fit(rule_set.rules, rule_set.meters)
        old = self._live
        asked = await self._settled()
        if final:
            await self._drain(1 - asked, old)
        for number, rates in enumerate(rule_set.meters):
            await self._write(self._registers.meter(number, rates))
        self._meters = list(rule_set.meters)
        self._live = _set_of(rule_set)
        await self._fill(1 - asked)
        await self._command(Op.SWAP)
        if not final:
            return []
        await self._settled()
        await self._drain(asked, old)
        return [(entry.rule, entry.total) for entry in (*old.entries, old.default)]

    async def insert(self, index: int, rule: Rule) -> None:
        """A rule at this number; those from there on move down."""
        entries = list(self._live.entries)
        _check_place(index, len(entries) + 1)
        entries.insert(index, _Entry(rule))
        await self._check_fit(_rules_of(entries), self._meters)
        if rule.actions.meter is not None and rule.actions.meter >= len(self._meters):
            raise ValueError(f"there is no meter {rule.actions.meter}")
        await self._change(_Set(entries, self._live.default, self._live.default_permit))

    async def move(self, index: int, to: int) -> None:
        """A rule to another number: it has that number afterwards."""
        entries = list(self._live.entries)
        _check_place(index, len(entries))
        _check_place(to, len(entries))
        entries.insert(to, entries.pop(index))
        await self._change(_Set(entries, self._live.default, self._live.default_permit))

    async def remove(self, index: int) -> tuple[Rule, Counter]:
        """Take a rule out, with all that it counted; those behind it move up by one."""
        entries = list(self._live.entries)
        _check_place(index, len(entries))
        gone = entries.pop(index)
        await self._change(_Set(entries, self._live.default, self._live.default_permit))
        assert gone.rule is not None
        return gone.rule, gone.total

    async def set_default(self, permit: bool) -> None:
        """What becomes of a frame that no rule matches."""
        await self._change(_Set(self._live.entries, self._live.default, permit))

    async def set_meter(self, number: int, rates: MeterRates) -> None:
        """A meter gets these rates, with full buckets; one behind the last is new."""
        _check_place(number, len(self._meters) + 1)
        meters = [*self._meters[:number], rates, *self._meters[number + 1 :]]
        await self._check_fit(self.rules, meters)
        await self._write(self._registers.meter(number, rates))
        self._meters = meters

    async def read(self, index: int | None, clear: bool = False) -> Counter:
        """What a rule (None: the default action) counted so far; with ``clear`` it counts from 0 afterwards."""
        if index is not None:
            _check_place(index, len(self._live.entries))
        entry = self._live.default if index is None else self._live.entries[index]
        sum_of = _Entry(total=Counter(entry.total.frames, entry.total.bytes))
        for of, held in enumerate(self._sets):
            number = _number_of(held, entry)
            if number is not None:
                sum_of.add(await self._read(of, number, clear))
        if clear:
            entry.total = Counter()
        return sum_of.total

    # The two sets

    async def _change(self, want: _Set) -> None:
        """The rules change between two frames: in the set that isn't asked, and after the swap in the other."""
        self._live = want
        for last in (False, True):
            await self._fill(1 - await self._settled())
            if not last:
                await self._command(Op.SWAP)

    async def _fill(self, of: int) -> None:
        """The set that isn't asked, and whose frames are all counted, becomes what shall be asked."""
        held, want = self._sets[of], self._live
        if held.default is not want.default:
            await self._write(self._registers.whole(_rules_of(want.entries), want.default_permit))
        else:
            for number in range(max(len(held.entries), len(want.entries))):
                old, new = (
                    entries[number] if number < len(entries) else None for entries in (held.entries, want.entries)
                )
                if old is not new:
                    await self._replace(of, number, old, new)
            if held.default_permit != want.default_permit:
                await self._write(self._registers.default(want.default_permit))
        self._sets[of] = _Set(list(want.entries), want.default, want.default_permit)

    async def _replace(self, of: int, number: int, old: _Entry | None, new: _Entry | None) -> None:
        """Another rule at a number, or none."""
        if old is not None:
            old.add(await self._read(of, number, clear=True))
        if new is None:
            await self._command(Op.REMOVE, number)
        else:
            assert new.rule is not None
            await self._write(self._registers.rule(number, new.rule))

    async def _drain(self, of: int, old: _Set) -> None:
        """What a set counted of these rules goes into their totals."""
        for entry in (*old.entries, old.default):
            number = _number_of(self._sets[of], entry)
            if number is not None:
                entry.add(await self._read(of, number, clear=True))

    # Registers

    async def _write(self, accesses: Iterator[tuple[int, int]]) -> None:
        for address, value in accesses:
            await self._device.write(address, value)

    async def _command(self, op: Op, number: int = 0, of: int = 0) -> None:
        await self._device.write(*self._registers.command(op, number, of))

    async def _read(self, of: int, number: int, clear: bool) -> Counter:
        await self._command(Op.READ_AND_CLEAR if clear else Op.READ, number, of)
        frames = await read_register(self._device, f"{self._slot}.counter_frames", base=self._base)
        return Counter(frames, await read_register(self._device, f"{self._slot}.counter_bytes", base=self._base))

    async def _status(self) -> dict[str, int]:
        return await read_fields(self._device, f"{self._slot}.status", base=self._base)

    async def _settled(self) -> int:
        """Wait until every frame that the other set judged is counted; the number of the set that is asked."""
        for _ in range(_POLLS):
            status = await self._status()
            if status["settled"]:
                return status["active"]
        raise TimeoutError(f"{self._slot}: frames of the old rules don't end")

    async def _check_fit(self, rules: Sequence[Rule], meters: Sequence[MeterRates]) -> None:
        size = await self.size()
        found = misfits(rules, len(meters), size)
        if found:
            raise ValueError("; ".join(found))


def _set_of(rule_set: RuleSet) -> _Set:
    return _Set([_Entry(rule) for rule in rule_set.rules], _Entry(), rule_set.default_permit)


def _rules_of(entries: Sequence[_Entry]) -> tuple[Rule, ...]:
    return tuple(entry.rule for entry in entries if entry.rule is not None)


def _number_of(held: _Set, entry: _Entry) -> int | None:
    """The number under which a set counts an entry; None: it doesn't hold it."""
    if entry is held.default:
        return DEFAULT_RULE
    return next((number for number, one in enumerate(held.entries) if one is entry), None)


def _check_place(index: int, size: int) -> None:
    if not 0 <= index < size:
        raise ValueError(f"there is no place {index}; accepted: 0 to {size - 1}")
