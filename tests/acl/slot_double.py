"""A slot of the ACL as software sees it: the registers of docs/acl.md, two sets, counters; frames come meanwhile.

Written from the page for tests of drivers. A frame is a key; what a rule does is not carried out.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Callable
from dataclasses import dataclass, field

from models.acl_meter import MeterRates
from models.port_map import PORT
from tb.acl.key import Key, KeyRule
from tb.registers.map import Register

__all__ = ["Action", "SlotDouble"]

NONE = 0xFFFF
Action = tuple[int, int]


@dataclass
class HeldSet:
    """One of the two sets."""

    rules: dict[int, tuple[KeyRule, Action]] = field(default_factory=dict)
    default: Action = (0, 0)
    counters: dict[int, list[int]] = field(default_factory=dict)

    def judge(self, key: Key) -> tuple[int, Action]:
        """The number of the first rule that matches, and its action."""
        for number in sorted(self.rules):
            rule, action = self.rules[number]
            if rule.matches(key):
                return number, action
        return NONE, self.default


class SlotDouble:
    """``read`` and ``write`` at the addresses of a port. traffic: called at each access, to send frames with ``frame``.

    A frame is counted ``delay`` accesses after it was judged.
    """

    def __init__(self, slot: str = "acl_rx", *, rules: int = 16, meters: int = 4, ipv6: bool = True) -> None:
        self.slot, self.rules, self.ipv6 = slot, rules, ipv6
        self.words = {f"{slot}.size": rules | meters << 16 | int(ipv6) << 28}
        self.sets = [HeldSet(), HeldSet()]
        self.active = 0
        self.meters: dict[int, MeterRates] = {}
        self.traffic: Callable[[], None] = lambda: None
        self.delay = 3
        self.log: Multiset[Action] = Multiset()
        """Frames by the action of the rule that judged them."""
        self.bytes: Multiset[Action] = Multiset()
        self.accesses: list[tuple[int, int]] = []
        self._late: list[tuple[int, int, int, int]] = []
        self._now = 0

    def frame(self, key: Key, size: int) -> Action:
        """A frame comes in."""
        number, action = self.sets[self.active].judge(key)
        self._late.append((self._now + self.delay, self.active, number, size))
        self.log[action] += 1
        self.bytes[action] += size
        return action

    def run_out(self) -> None:
        """All frames are counted."""
        self._now += self.delay
        self._count()

    def _count(self) -> None:
        while self._late and self._late[0][0] <= self._now:
            _, of, number, size = self._late.pop(0)
            counter = self.sets[of].counters.setdefault(number, [0, 0])
            counter[0] += 1
            counter[1] += size

    def _find(self, address: int) -> tuple[Register, int]:
        self.traffic()
        self._now += 1
        self._count()
        found = PORT.find(address)
        assert found is not None and found[0].name.startswith(f"{self.slot}."), f"address {address:#x}"
        return found

    async def read(self, address: int) -> int:
        register, word = self._find(address)
        if register.name.endswith(".status"):
            settled = all(of == self.active for _, of, _, _ in self._late)
            return self.active | int(settled) << 1
        return self.words.get(register.name, 0) >> 32 * word & 0xFFFFFFFF

    async def write(self, address: int, value: int) -> None:
        register, word = self._find(address)
        self.accesses.append((address, value))
        if register.name.endswith(".command"):
            self._command(**register.decode(value))
        else:
            old = self.words.get(register.name, 0)
            self.words[register.name] = old & ~(0xFFFFFFFF << 32 * word) | value << 32 * word

    def _word(self, name: str) -> int:
        return self.words.get(f"{self.slot}.{name}", 0)

    def _wide(self, name: str) -> int:
        return sum(self._word(f"{name}[{word}]") << 32 * word for word in range(12 if self.ipv6 else 6))

    def _range(self, name: str) -> tuple[int, int]:
        return self._word(name) & 0xFFFF, self._word(name) >> 16

    def _command(self, op: int, set: int, number: int) -> None:
        other = self.sets[1 - self.active]
        action = self._word("action[0]"), self._word("action[1]")
        if op == 1:
            assert number < self.rules, f"there is no rule {number}"
            rule = KeyRule(self._wide("value"), self._wide("mask"), self._range("src_range"), self._range("dst_range"))
            other.rules[number] = rule, action
        elif op == 2:
            other.rules.pop(number, None)
        elif op == 3:
            assert all(of == self.active for _, of, _, _ in self._late), "counters cleared under their frames"
            self.sets[1 - self.active] = HeldSet()
        elif op == 4:
            other.default = action[0] & 1, 0
        elif op == 5:
            self.active = 1 - self.active
        elif op in (6, 7):
            counter = self.sets[set].counters.get(number, [0, 0])
            self.words[f"{self.slot}.counter_frames"], self.words[f"{self.slot}.counter_bytes"] = counter
            if op == 7:
                self.sets[set].counters.pop(number, None)
        elif op == 8:
            yellow = self._word("yellow")
            cir, pir, cbs, pbs = (self._word(name) for name in ("cir", "pir", "cbs", "pbs"))
            self.meters[number] = MeterRates(cir, pir, cbs, pbs, yellow & 63 if yellow & 64 else None)
        else:
            raise AssertionError(f"op {op}")
