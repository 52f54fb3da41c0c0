"""A configuration with rules as register accesses: a port is programmed with it, and says what its rules counted.

Sweep:    rules in one slot, in both, in none; engines with and without keys for IPv6, too small, not there
Stimulus: the example of the repository and rules made here, on slots in Python; frames by their keys
Checks:   what arrives in the slots, in which order; counters by rule; one line where rules don't fit, nothing written
Timing:   none
"""

from __future__ import annotations

import asyncio

import pytest

from models.acl import Actions, Range, Rule, RuleSet
from models.acl_file import read_rules
from models.acl_meter import MeterRates
from models.config import NicConfig
from tb.acl.driver import action_words
from tb.acl.key import Key, encode
from tb.targets.base import Capabilities, UnmappedAddress
from tb.targets.program import (
    RulesError,
    Transfer,
    address,
    check_rules,
    one_by_one,
    program,
    read_rule_counters,
    rule_sets,
    writes,
)
from tb.toolchain import ROOT
from tests.acl.slot_double import SlotDouble

EDGE = read_rules(ROOT / "tests" / "acl" / "rules" / "edge.toml")
FIRST_SLOT, BEHIND_SLOTS = address("acl_rx.id"), address("acl_tx.id") + 0x4000


class Port:
    """The registers of a port, as far as programming goes: both slots of the ACL, and all else, which keeps what is
    written. ``order``: the names of the parts that were written, in turn."""

    capabilities = Capabilities()

    def __init__(self, *, rules: int = 16, meters: int = 4, ipv6: bool = True, acl: bool = True) -> None:
        self.slots = {slot: SlotDouble(slot, rules=rules, meters=meters, ipv6=ipv6) for slot in ("acl_rx", "acl_tx")}
        self.acl = acl
        self.other: dict[int, int] = {}
        self.order: list[str] = []

    def _slot(self, where: int) -> SlotDouble | None:
        if not FIRST_SLOT <= where < BEHIND_SLOTS:
            return None
        if not self.acl:
            raise UnmappedAddress(where)
        return self.slots["acl_rx" if where < address("acl_tx.id") else "acl_tx"]

    async def read(self, where: int) -> int:
        slot = self._slot(where)
        return self.other.get(where, 0) if slot is None else await slot.read(where)

    async def write(self, where: int, value: int) -> None:
        slot = self._slot(where)
        self.order.append("nic" if slot is None else slot.slot)
        if slot is None:
            self.other[where] = value
        else:
            await slot.write(where, value)


class BulkPort(Port):
    """The same with many accesses in one call; ``calls``: how many in each."""

    def __init__(self) -> None:
        super().__init__(rules=2000)
        self.calls: list[int] = []

    async def access_all(self, accesses: list[Transfer]) -> list[int]:
        self.calls.append(len(accesses))
        return await one_by_one(self, accesses)


def config(rx: RuleSet | None = None, tx: RuleSet | None = None) -> NicConfig:
    return NicConfig().with_port(0, max_frame=1514, acl_rx=rx, acl_tx=tx)


def many(count: int) -> RuleSet:
    return RuleSet(tuple(Rule(src_port=Range(i, i), dst_port=Range(i, 65535)) for i in range(count)))


@pytest.mark.parametrize("ipv6", [False, True])
def test_a_port_is_programmed_with_its_rules_before_it_is_switched_on(ipv6: bool) -> None:
    tx = RuleSet((Rule(protocol=None, src_port=Range(5, 9), actions=Actions(queue=3)),), default_permit=False)
    port = Port(ipv6=ipv6)
    asyncio.run(program(port, config(EDGE, tx)))
    for slot, rule_set in (("acl_rx", EDGE), ("acl_tx", tx)):
        double = port.slots[slot]
        held = double.sets[double.active]
        assert held.rules == {
            number: (encode(rule, ipv6), action_words(rule.actions)) for number, rule in enumerate(rule_set.rules)
        }
        assert held.default == (int(not rule_set.default_permit), 0)
        assert double.meters == dict(enumerate(rule_set.meters))
    assert port.other[address("nic.max_frame")] == 1514 and port.other[address("nic.control")] == 3
    assert list(dict.fromkeys(port.order)) == ["acl_rx", "acl_tx", "nic"]
    assert writes(config(EDGE), 1) == writes(NicConfig(), 1), "rules of port 0 are no other port's"


def test_a_port_without_rules_leaves_the_slots_alone() -> None:
    port = Port(acl=False)
    asyncio.run(program(port, config()))
    assert set(port.order) == {"nic"}
    assert list(rule_sets(config())) == [] and asyncio.run(read_rule_counters(port, config())) == {}


def test_many_accesses_go_in_few_calls_and_are_told() -> None:
    port, told = BulkPort(), []
    asyncio.run(program(port, config(many(1000)), lambda *numbers: told.append(numbers)))
    whole = len(writes(config(many(1000))))
    assert sum(port.calls) == whole > 2048 and max(port.calls) <= 2048
    assert [done for done, _ in told] == [sum(port.calls[: i + 1]) for i in range(len(port.calls))]
    assert {of for _, of in told} == {whole}


@pytest.mark.parametrize(
    ("rules", "meters", "words"),
    [
        (many(17), (), "17 rules, 1 more than the 16 that the engine has room for"),
        (RuleSet((Rule("six", ip=6),)), (), "1 rule asks for IPv6 and the engine has no keys for it: rule 0 (six)"),
        (RuleSet((Rule(),)), (MeterRates(1, 1, 1, 1),) * 6, "6 meters, 2 more than the 4 that the engine has"),
    ],
)
def test_rules_that_do_not_fit_are_refused_in_one_line_before_anything_is_written(
    rules: RuleSet, meters: tuple[MeterRates, ...], words: str
) -> None:
    port, wanted = Port(ipv6=False), config(tx=RuleSet(rules.rules, meters=meters))
    for doing in (check_rules(port, wanted), program(port, wanted)):
        with pytest.raises(RulesError) as refused:
            asyncio.run(doing)
        assert str(refused.value) == f"acl_tx: doesn't fit: {words}"
    assert port.order == []


def test_a_device_without_the_acl_has_no_room_for_rules() -> None:
    with pytest.raises(RulesError, match="acl_rx: doesn't fit: the device has no ACL there"):
        asyncio.run(check_rules(Port(acl=False), config(many(1))))


def test_the_counters_of_rules_are_those_of_the_set_that_is_asked() -> None:
    port = Port()
    nic = config(many(3), many(2))
    asyncio.run(program(port, nic))
    keys = [Key(encode(rule).value, i, 100) for i, rule in enumerate(many(4).rules)]
    for slot, frames in (("acl_rx", [0, 2, 2, 3]), ("acl_tx", [1])):
        for at in frames:
            port.slots[slot].frame(keys[at], (1 << 33) + at)
        port.slots[slot].run_out()
    whole = 1 << 33
    found = {
        "acl_rx.rule[0]": (1, whole), "acl_rx.rule[1]": (0, 0), "acl_rx.rule[2]": (2, 2 * whole + 4),
        "acl_rx.default": (1, whole + 3), "acl_tx.rule[0]": (0, 0), "acl_tx.rule[1]": (1, whole + 1),
        "acl_tx.default": (0, 0),
    }  # fmt: skip
    expected = {
        f"{of}.{what}": number
        for of, pair in found.items()
        for what, number in zip(("frames", "bytes"), pair, strict=True)
    }
    assert asyncio.run(read_rule_counters(port, nic)) == expected
    asyncio.run(program(port, nic))
    assert set(asyncio.run(read_rule_counters(port, nic)).values()) == {0}, "they begin anew with the set"
