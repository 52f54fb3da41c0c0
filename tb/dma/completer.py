"""The other end of the link in benches of ``dma``: host memory, a GPU's BAR behind a switch, credits, and every lie.

A ``Host`` is told each TLP that leaves (``take``), and asked once a cycle what it sends (``next``) and what it allows
(``limits``). It reads requests with cocotbext-pcie's class and answers from memory by PCIe 2.3.1.1, not by the model.
Times are in ns. All that is random comes from one generator, so a seed and the same TLPs give the same answers.

Ordering (PCIe 2.4.1): writes become visible at a target in their order, but one with RO may be early; a read is
answered with what all writes before it to the same target have left there, and never sooner. Two targets know nothing
of each other: what was written to a BAR first may be seen after what was written to the host.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from random import Random

from cocotbext.pcie.core.tlp import Tlp, TlpAttr

from models.dma import TIMEOUT_SLACK_NS, Code, Config
from models.dma_platform import Profile
from models.dma_tlp import Completion, MemoryRequest, Status, beats_of, unpack

__all__ = ["BAR", "CODES", "HOST", "PAGE", "Beats", "Credit", "Host", "Lie", "Memory", "Rule", "Target", "host_target"]

PAGE = 4096
Beats = list[tuple[bool, bool, int, int, int]]
"""A TLP on ``s_tlp``: sop, eop, hdr, data, keep."""


STRAY = Completion(status=0, byte_count=4, lower_address=0, length=0, tag=0, has_data=False)
"""What the model is told of a TLP that is no completion: one for another requester."""
MESSAGE = MemoryRequest(write=True, address=0x1000, length=1, first_be=15, last_be=0, data=bytes(4))


class Memory:
    """Bytes of the whole bus: each page holds random bytes of its own until it is written."""

    def __init__(self) -> None:
        self.pages: dict[int, bytearray] = {}
        self.written: set[int] = set()

    def page(self, number: int) -> bytearray:
        if number not in self.pages:
            self.pages[number] = bytearray(Random(number).randbytes(PAGE))
        return self.pages[number]

    def read(self, address: int, length: int) -> bytes:
        found = b""
        while length:
            at = address % PAGE
            take = min(length, PAGE - at)
            found += self.page(address // PAGE)[at : at + take]
            address, length = address + take, length - take
        return found

    def write(self, address: int, data: bytes) -> None:
        done = 0
        while done < len(data):
            number, at = divmod(address + done, PAGE)
            take = min(len(data) - done, PAGE - at)
            self.page(number)[at : at + take] = data[done : done + take]
            self.written.add(number)
            done += take

    def differences(self, other: Memory) -> Iterator[str]:
        """Where this differs from the other, a line a page."""
        for number in sorted(self.written | other.written):
            mine, its = self.page(number), other.page(number)
            if mine != its:
                at = next(n for n in range(PAGE) if mine[n] != its[n])
                yield f"byte {number * PAGE + at:#x} is {mine[at]:#04x}, not {its[at]:#04x}"


@dataclass(kw_only=True)
class Target:
    """A window of bus addresses and how it answers. write_ns: until a write is visible; ns_per_kib: 0, no limit."""

    name: str
    base: int
    size: int
    read_ns: int = 0
    jitter_ns: int = 0
    ns_per_kib: int = 0
    write_ns: int = 0
    free_at: int = 0
    visible_at: int = 0
    """When all writes so far are visible."""

    def holds(self, address: int) -> bool:
        return self.base <= address < self.base + self.size


HOST = Target(name="host", base=0x1000, size=(1 << 44) - 0x1000, read_ns=200, jitter_ns=400, write_ns=20)
"""All memory that is no BAR; nothing below 4 KiB, so that an address of 0 is found out."""
BAR = Target(name="bar", base=1 << 45, size=1 << 40, read_ns=500, jitter_ns=300, write_ns=2000)
"""A GPU behind a switch: its writes are seen long after the host's."""


def host_target(profile: Profile) -> Target:
    """A host's memory with the latency of its profile."""
    return replace(HOST, read_ns=profile.read_latency_ns.value, jitter_ns=0)


class Lie(Enum):
    """What a completion says that isn't so; the value tells it in words."""

    UR = "status UR"
    RESERVED = "a reserved status"
    CA = "status CA"
    CRS = "status CRS"
    POISONED = "EP"
    LOST = "not sent"
    LATE = "sent when its time is over"
    WRONG_REQUESTER = "sent to another Requester ID"
    BYTE_COUNT = "another Byte Count"
    EARLY_COUNT = "a Byte Count as if it were the last"
    LENGTH = "another Length than its data"
    NO_DATA = "no data"
    LESS_BEATS = "data that end early"
    MORE_BEATS = "data that end late"
    LOWER_ADDRESS = "another Lower Address"
    ZERO_ADDRESS = "Lower Address 0"
    SHORT = "an end off RCB"
    DUPLICATE = "sent twice"
    STRAY_TAG = "with another for a tag that was never asked"
    STRAY_REQUESTER = "with another for another Requester ID"
    NO_COMPLETION = "with a TLP that is no completion"


LAST = frozenset({Lie.UR, Lie.RESERVED, Lie.CA, Lie.CRS})
"""Nothing follows for the tag (2.3.2)."""
STATUS = {Lie.UR: Status.UR, Lie.RESERVED: 6, Lie.CA: Status.CA, Lie.CRS: Status.CRS}


CODES = {
    **dict.fromkeys((Lie.UR, Lie.RESERVED), Code.UNSUPPORTED),
    **dict.fromkeys((Lie.CA, Lie.CRS), Code.ABORTED),
    **dict.fromkeys((Lie.LOST, Lie.LATE, Lie.WRONG_REQUESTER), Code.TIMEOUT),
    **dict.fromkeys((Lie.BYTE_COUNT, Lie.EARLY_COUNT, Lie.LENGTH, Lie.NO_DATA), Code.BAD_COUNT),
    **dict.fromkeys((Lie.LESS_BEATS, Lie.MORE_BEATS), Code.BAD_COUNT),
    **dict.fromkeys((Lie.LOWER_ADDRESS, Lie.ZERO_ADDRESS), Code.BAD_ADDRESS),
    **dict.fromkeys((Lie.DUPLICATE, Lie.STRAY_TAG, Lie.STRAY_REQUESTER, Lie.NO_COMPLETION), Code.OK),
    Lie.POISONED: Code.POISONED,
    Lie.SHORT: Code.SHORT,
}
"""Code of a read whose last, or only, completion lies so (docs/dma.md, Completions)."""


@dataclass
class Rule:
    """One lie: of the read TLP number ``read`` (as they came), its completion number ``at``; -1: its last."""

    lie: Lie
    read: int
    at: int = 0
    told: int = 0


@dataclass
class Credit:
    """One kind of credits. initial: None, infinite; hold_ns: until what was consumed is given back."""

    initial: int | None = None
    hold_ns: int = 0
    used: deque[tuple[int, int]] = field(default_factory=deque)
    limit: int = 0

    def __post_init__(self) -> None:
        self.limit = self.initial or 0


@dataclass
class _Read:
    """A read that is answered. number: as they came; address, left: what the next completion begins with."""

    tlp: Tlp
    number: int
    ns: int
    address: int
    left: int
    target: Target | None
    said: int = 0
    delay: int = 0


class Host:
    """Memories, completions and credits of one link partner.

    whole: each read is answered by one completion. gap_ns: most time between completions of a read; 0: back to back.
    late_ns: how long behind its read a late completion comes; it must be less than two timeouts.
    rates: how often each lie is told of a completion by itself.
    """

    def __init__(
        self,
        config: Config,
        rng: Random,
        targets: Sequence[Target] = (HOST, BAR),
        *,
        whole: bool = False,
        gap_ns: int = 40,
    ) -> None:
        self.config, self.rng = config, rng
        self.targets = [replace(target) for target in targets]
        self.whole, self.gap_ns = whole, gap_ns
        self.late_ns = config.timeout_ns + TIMEOUT_SLACK_NS + 200
        self.memory = Memory()
        self.rules: list[Rule] = []
        self.rates: dict[Lie, float] = {}
        self.told: dict[Lie, int] = {}
        self.credits = {name: Credit() for name in ("ph", "pd", "nph", "npd")}
        self.stopped: set[str] = set()
        """Kinds of credits that aren't given back."""
        self.held = False
        """No completion is sent."""
        self.reads = self.writes = 0
        self.most_open = 0
        self.open: dict[int, _Read] = {}
        self._due: list[tuple[int, int, int, _Read]] = []
        self._pending: list[tuple[int, int, Target | None, int, bytes]] = []
        self._extra: deque[Completion | MemoryRequest] = deque()
        self._later: list[tuple[int, int, Completion]] = []
        self._serial = 0

    # ---- what comes

    def take(self, raw: bytes, ns: int) -> None:
        """A TLP has come."""
        tlp = Tlp.unpack(raw)
        assert tlp.check(), f"cocotbext-pcie refuses {raw[:16].hex()}"
        self.settle(ns)
        self._serial += 1
        target = next((one for one in self.targets if one.holds(tlp.address)), None)
        if tlp.is_posted():
            self._use("ph", 1, ns)
            self._use("pd", (tlp.length + 3) // 4, ns)
            self._write(tlp, target, ns)
        else:
            self._use("nph", 1, ns)
            self._read(tlp, target, ns)

    def _write(self, tlp: Tlp, target: Target | None, ns: int) -> None:
        self.writes += 1
        at = ns
        if target is not None:
            early = ns + self.rng.randint(0, target.write_ns)
            at = early if tlp.attr & TlpAttr.RO else max(ns + target.write_ns, target.visible_at)
            target.visible_at = max(target.visible_at, at)
        enables = [tlp.first_be, *[0xF] * (tlp.length - 2), *([tlp.last_be] if tlp.length > 1 else [])]
        data = bytes(tlp.data)
        begin = 0
        kept = [enables[n // 4] >> n % 4 & 1 for n in range(4 * tlp.length)]
        while begin < len(kept):
            if not kept[begin]:
                begin += 1
                continue
            end = kept.index(0, begin) if 0 in kept[begin:] else len(kept)
            heapq.heappush(self._pending, (at, self._serial, target, tlp.address + begin, data[begin:end]))
            self._serial += 1
            begin = end

    def _read(self, tlp: Tlp, target: Target | None, ns: int) -> None:
        left = tlp.get_be_byte_count() if tlp.first_be else 0
        address = tlp.address + (tlp.get_first_be_offset() if left else 0)
        due = ns
        if target is not None:
            due = max(ns + target.read_ns + self.rng.randint(0, target.jitter_ns), target.visible_at)
            if target.ns_per_kib:
                due = max(due, target.free_at)
                target.free_at = due + left * target.ns_per_kib // 1024
        read = _Read(tlp, self.reads, ns, address, left, target)
        self.reads += 1
        self.open[read.number] = read
        self.most_open = max(self.most_open, len(self.open))
        heapq.heappush(self._due, (due, self._serial, read.number, read))

    def settle(self, ns: int) -> None:
        """Writes whose time has come are visible."""
        while self._pending and self._pending[0][0] <= ns:
            _, _, target, address, data = heapq.heappop(self._pending)
            if target is not None:
                self.memory.write(address, data)

    @property
    def hidden(self) -> bool:
        """Writes are under way that nobody sees yet."""
        return bool(self._pending)

    # ---- what is said

    def next(self, ns: int) -> tuple[Completion, Beats] | None:
        """What is sent now: a completion as the model is to be told of it, and its beats; None: nothing."""
        self.settle(ns)
        if self.held:
            return None
        if self._extra:
            return _on_the_bus(self._extra.popleft())
        if self._later and self._later[0][0] <= ns:
            return _on_the_bus(heapq.heappop(self._later)[2])
        while self._due and self._due[0][0] <= ns:
            _, _, _, read = heapq.heappop(self._due)
            said = self._say(read, ns)
            if read.number in self.open:
                self._serial += 1
                again = ns + (self.rng.randint(0, self.gap_ns) if self.gap_ns else 0)
                heapq.heappush(self._due, (again, self._serial, read.number, read))
            if said:
                self._extra.extend(said[1:])
                return _on_the_bus(said[0])
        return None

    def _say(self, read: _Read, ns: int) -> list[Completion | MemoryRequest]:
        """The next completion of a read as it is told."""
        right = self.right(read)
        index, read.said = read.said, read.said + 1
        places = (index,) if read.number in self.open else (index, -1)
        mine = (one for one in self.rules if one.read == read.number and not one.told and one.at in places)
        rule = next(mine, None)
        lie = rule.lie if rule else self._lie_by_chance()
        if lie is None or right.status != Status.SC:
            return [right]
        told = self.tell(lie, read, right, ns)
        if told is None:
            return [right]
        if rule:
            rule.told = 1
        self.told[lie] = self.told.get(lie, 0) + 1
        if lie in LAST:
            self.open.pop(read.number, None)
        return told

    def _lie_by_chance(self) -> Lie | None:
        for lie, rate in self.rates.items():
            if self.rng.random() < rate:
                return lie
        return None

    def right(self, read: _Read) -> Completion:
        """The next completion of a read by 2.3.1.1: all that is left, or up to a read completion boundary."""
        if read.target is None:
            del self.open[read.number]
            cpl = Tlp.create_ur_completion_for_tlp(read.tlp, 0)
            cpl.byte_count, cpl.lower_address = max(1, read.left), read.address & 0x7F
            return _ours(cpl)
        end = read.address + read.left
        rcb = self.config.rcb
        stops = range(read.address - read.address % rcb + rcb, end, rcb)
        stop = end if self.whole or not stops else self.rng.choice([*stops, end])
        first = read.address & ~3
        cpl = Tlp.create_completion_data_for_tlp(read.tlp, 0)
        cpl.byte_count = max(1, read.left)
        cpl.lower_address = read.address & 0x7F
        cpl.set_data(self.memory.read(first, max(4, (stop + 3) // 4 * 4 - first)))
        if stop == end:
            del self.open[read.number]
        else:
            read.left, read.address = end - stop, stop
        return _ours(cpl)

    def tell(self, lie: Lie, read: _Read, right: Completion, ns: int) -> list[Completion | MemoryRequest] | None:
        """A completion as this lie has it, and what comes with it; None: it can't be told of this one."""
        if lie in STATUS:
            return [replace(right, status=STATUS[lie], has_data=False, length=0, data=b"")]
        if lie is Lie.LATE:
            heapq.heappush(self._later, (read.ns + self.late_ns, self._serial, right))
            return []
        size = len(right.data)
        rcb = self.config.rcb
        shorter = right.data[:-4]
        begin = right.lower_address & ~3
        match lie:
            case Lie.LOST:
                return []
            case Lie.POISONED:
                return [replace(right, ep=True)]
            case Lie.WRONG_REQUESTER:
                return [replace(right, requester_id=right.requester_id ^ 1 << self.rng.randrange(16))]
            case Lie.BYTE_COUNT:
                return [replace(right, byte_count=right.byte_count % 4096 + 1)]
            case Lie.EARLY_COUNT if read.number in self.open:
                return [replace(right, byte_count=size - right.lower_address % 4)]
            case Lie.LENGTH:
                return [replace(right, length=right.length % 1024 + 1)]
            case Lie.NO_DATA:
                return [replace(right, has_data=False, length=0, data=b"")]
            case Lie.LESS_BEATS if size > 64:
                return [replace(right, data=right.data[: (size - 1) // 64 * 64])]
            case Lie.MORE_BEATS:
                return [replace(right, data=right.data.ljust(-(-size // 64) * 64, b"\xee") + b"\xee" * 4)]
            case Lie.LOWER_ADDRESS:
                return [replace(right, lower_address=right.lower_address ^ 1 << self.rng.randrange(7))]
            case Lie.ZERO_ADDRESS if right.lower_address:
                return [replace(right, lower_address=0)]
            case Lie.SHORT if size > 4 and (begin + len(shorter)) % rcb:
                return [replace(right, length=right.length - 1, data=shorter)]
            case Lie.DUPLICATE:
                return [right, right]
            case Lie.STRAY_TAG:
                strange = sorted(set(range(1024)) - set(self.config.tag_range))
                return [replace(right, tag=self.rng.choice(strange)), right]
            case Lie.STRAY_REQUESTER:
                return [replace(right, requester_id=right.requester_id ^ 0x100), right]
            case Lie.NO_COMPLETION:
                message = replace(MESSAGE, requester_id=right.requester_id ^ 1)
                return [message, right]
        return None

    @property
    def quiet(self) -> bool:
        """Nothing is to be said any more, and nothing to become visible."""
        return not (self._due or self._extra or self._later or self._pending)

    # ---- credits

    def _use(self, kind: str, amount: int, ns: int) -> None:
        credit = self.credits[kind]
        if credit.initial is not None:
            credit.used.append((ns + credit.hold_ns, amount))

    def limits(self, ns: int) -> dict[str, int | None]:
        """What is allowed now: cumulative, not yet modulo the width of its field."""
        for kind, credit in self.credits.items():
            while kind not in self.stopped and credit.used and credit.used[0][0] <= ns:
                credit.limit += credit.used.popleft()[1]
        return {kind: None if one.initial is None else one.limit for kind, one in self.credits.items()}


def _ours(cpl: Tlp) -> Completion:
    completion = unpack(bytes(cpl.pack()))
    assert isinstance(completion, Completion)
    return completion


def _on_the_bus(tlp: Completion | MemoryRequest) -> tuple[Completion, Beats]:
    said = tlp if isinstance(tlp, Completion) else replace(STRAY, requester_id=tlp.requester_id)
    return said, [tuple(beat) for beat in beats_of(tlp)]
