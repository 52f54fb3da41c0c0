"""The other side of block ``dma`` in tests: memory, a completer that splits as it likes, and who decides what is next.

Nothing here asks the model what is right: the completer reads the TLPs with cocotbext-pcie's class and answers from
memory by PCIe 2.3.1.1; a request's data are compared with memory through page tables that the test itself wrote.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from cocotbext.pcie.core.tlp import Tlp

from models.dma import Came, Config, DmaModel, Ended, Event, Gave, Limits, Request, Sent, Submitted, play
from models.dma_region import Region, Regions, Right, Target
from models.dma_tlp import Completion, unpack

KEY = 0x1234_5600
PAGE = 4096
ALL = Right(31)


class Memory:
    """Bytes of the whole bus: each page holds random bytes of its own until it is written."""

    def __init__(self) -> None:
        self.pages: dict[int, bytearray] = {}

    def page(self, number: int) -> bytearray:
        if number not in self.pages:
            self.pages[number] = bytearray(random.Random(number).randbytes(PAGE))
        return self.pages[number]

    def read(self, address: int, length: int) -> bytes:
        return bytes(self.page(at // PAGE)[at % PAGE] for at in range(address, address + length))

    def write(self, address: int, byte: int) -> None:
        self.page(address // PAGE)[address % PAGE] = byte


def mapped(bases: Sequence[int], pages: int = 8, page_size: int = PAGE, rights: Right = ALL) -> Regions:
    """One region at each base (slot i, key KEY + i), its pages scattered over the bus, above and below 4 GiB."""
    regions, table = [], {}
    for slot, base in enumerate(bases):
        first = slot * (pages + 1)
        regions.append(
            Region(
                key=KEY + slot,
                base=base,
                length=pages * page_size,
                rights=rights,
                page_size=page_size,
                first=first,
                target=Target.BAR if slot % 2 else Target.HOST,
            )
        )
        for n in range(pages + 1):
            table[first + n] = (0x9_0000_0000 if n % 3 else 0x4000_0000) + ((7 * n + 64 * slot) * page_size)
    return Regions(regions, table)


def bus(regions: Regions, key: int, addr: int) -> int:
    """Bus address of a byte, without the model's own arithmetic of pieces."""
    region = regions.regions[key & 0xFF]
    low = region.base - region.base % region.page_size
    return regions.pages[region.first + (addr - low) // region.page_size] + (addr - low) % region.page_size


@dataclass
class Answer:
    """A read that the host hasn't answered in full: what is left of it."""

    tlp: Tlp
    address: int
    left: int


Lie = Callable[[Completion], list[Completion]]


@dataclass
class Run:
    """One device with its host: ``step`` does one thing that may be done, at random; ``events`` is what was seen."""

    config: Config
    regions: Regions
    rng: random.Random
    memory: Memory = field(default_factory=Memory)
    lie: Lie | None = None
    whole: bool = False
    ns: int = 0
    events: list[Event] = field(default_factory=list)
    answers: dict[int, Answer] = field(default_factory=dict)
    frames: dict[int, list[bytes]] = field(default_factory=dict)
    bad: dict[int, list[bool]] = field(default_factory=dict)
    codes: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    partial: dict[int, bytes] = field(default_factory=dict)
    waiting: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model = DmaModel(self.config, self.regions)
        self.happens(Limits(0, {"ph": None, "pd": None, "nph": None, "npd": None}))

    def happens(self, event: Event) -> None:
        """Something that the model must find right."""
        assert list(play(self.model, event)) == [], event
        self.events.append(event)

    # ---- the host

    def take(self, event: Sent) -> None:
        tlp = Tlp.unpack(event.tlp.pack())
        assert tlp.check(), tlp
        if tlp.is_posted():
            enabled = [tlp.first_be, *[0xF] * (tlp.length - 2), *([tlp.last_be] if tlp.length > 1 else [])]
            for at in range(4 * tlp.length):
                if enabled[at // 4] >> at % 4 & 1:
                    self.memory.write(tlp.address + at, tlp.data[at])
                else:
                    assert tlp.data[at] == 0, "a masked byte"
            return
        left = 0 if tlp.first_be == 0 else tlp.get_be_byte_count()
        address = tlp.address + (tlp.get_first_be_offset() if left else 0)
        self.answers[tlp.tag] = Answer(tlp, address, left)

    def answer(self, tag: int) -> Completion:
        """The next completion of a read: all that is left, or up to a read completion boundary (2.3.1.1)."""
        answer = self.answers[tag]
        end = answer.address + answer.left
        rcb = self.config.rcb
        stops = list(range(answer.address - answer.address % rcb + rcb, end, rcb))
        stop = end if self.whole or not stops else self.rng.choice([*stops, end])
        first = answer.address & ~3
        data = self.memory.read(first, max(4, (stop + 3) // 4 * 4 - first))
        cpl = Tlp.create_completion_data_for_tlp(answer.tlp, 0)
        cpl.byte_count = max(1, answer.left)
        cpl.lower_address = answer.address & 0x7F
        cpl.set_data(data)
        if stop == end:
            del self.answers[tag]
        else:
            answer.left, answer.address = end - stop, stop
        completion = unpack(bytes(cpl.pack()))
        assert isinstance(completion, Completion)
        return completion

    # ---- one thing after the other

    def choices(self) -> list[Callable[[], None]]:
        found: list[Callable[[], None]] = []
        if self.waiting:
            found.append(self.submits)
        tags = list(self.model.free_tags())
        for requester, tlp in self.model.may_send(self.rng.choice(tags) if tags else None):
            found.append(partial(self.sends, Sent(self.ns, requester, tlp)))
        if self.answers:
            found.append(partial(self.completes, self.rng.choice(sorted(self.answers))))
        for requester in range(self.config.requesters):
            beat = self.model.next_beat(requester)
            if beat is not None:
                found.append(partial(self.gives, beat._replace(ns=self.ns)))
        for requester, request_id, code in self.model.may_end():
            found.append(partial(self.ends, Ended(self.ns, requester, request_id, code)))
        return found

    def submits(self) -> None:
        self.happens(Submitted(self.ns, self.waiting.pop(0)))

    def sends(self, event: Sent) -> None:
        self.happens(event)
        self.take(event)

    def completes(self, tag: int) -> None:
        completion = self.answer(tag)
        for told in self.lie(completion) if self.lie else [completion]:
            self.happens(Came(self.ns, told))

    def gives(self, event: Gave) -> None:
        self.happens(event)
        self.partial[event.requester] = self.partial.get(event.requester, b"") + (b"" if event.bad else event.data)
        if event.last:
            self.frames.setdefault(event.requester, []).append(self.partial.pop(event.requester))
            self.bad.setdefault(event.requester, []).append(event.bad)

    def ends(self, event: Ended) -> None:
        self.happens(event)
        self.codes.setdefault(event.requester, []).append((event.id, event.code))

    def play(self, requests: Sequence[Request] = ()) -> Run:
        """All of these to their ends; where nothing more can happen, time goes on until a timeout is seen."""
        self.waiting += requests
        idle = 0
        while idle < 3:
            found = self.choices()
            if found:
                idle = 0
                self.rng.choice(found)()
                self.ns += 4
            else:
                idle += 1
                self.ns += self.config.timeout_ns + 100_000
                self.model.advance(self.ns)
                for tag in list(self.answers):
                    if tag not in self.model.open:
                        del self.answers[tag]
        assert self.model.finish() == []
        return self


def run(config: Config, regions: Regions, seed: int, requests: Sequence[Request], whole: bool = False) -> Run:
    """A whole play. whole: every read is answered by one completion."""
    return Run(config, regions, random.Random(seed), whole=whole).play(requests)


def lied(completion: Completion, **fields: object) -> list[Completion]:
    """The same completion with other fields."""
    return [replace(completion, **fields)]  # type: ignore[arg-type]
