"""The host of block ``rings`` in tests: a driver that sees memory and interrupts alone, behind the model of ``dma``.

``Host`` puts ``models.rings`` before ``models.dma`` and the completer of tests/dma. Host memory and the BAR are two
targets: posted writes wait in each for as long as chance wants; a read pushes those of its target (PCIe 2.4.1). A write
with RO may pass others. The driver takes completions by their ownership bit and knows frames by what it got.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from models import dma
from models.dma_region import Region, Regions, Right, Target
from models.dma_tlp import Attr, MemoryRequest
from models.parser import ParserModel
from models.rings import Config, Door, QueueConfig, Request, RingsModel
from models.rings_check import (
    Asked,
    Done,
    Enabled,
    Event,
    FrameIn,
    FrameOut,
    Gave,
    Judged,
    MsixControl,
    MsixEntry,
    Rang,
    play,
)
from models.rings_layout import ENTRY, Completion, RxDescriptor, TxDescriptor
from tests.dma.host import Run

HOST_KEY, BAR_KEY, READ_ONLY_KEY = 0x5500_0001, 0x5500_0002, 0x5500_0003
PAGES = 64
BASE = {HOST_KEY: 0x7F00_0000_0800, BAR_KEY: 0x7E00_0000_0000, READ_ONLY_KEY: 0x7D00_0000_0000}
BUS = {HOST_KEY: 0x1_0000_0000, BAR_KEY: 0x80_0000_0000, READ_ONLY_KEY: 0x2_0000_0000}
PHYSICAL = 0x4000_0000
"""Buffers without a region."""
MSI = 0xFEE0_0000
RINGS = 0x1000_0000
"""Rings and CQs: 256 KiB a queue."""


READS = [
    "dst_mac",
    "l3_kind",
    "ip_src",
    "ip_dst",
    "fragment",
    "l4_kind",
    "src_port",
    "dst_port",
    "ip_checksum",
    "vlan_count",
    "vlan0",
    "vlan0_ad",
]
"""What rings reads of the parser's fields."""


def parsed_meta(frame: bytes) -> tuple[dict[str, int], int]:
    """These fields, and ``tuser`` beside the last beat."""
    parsed = ParserModel().parse(frame)
    return {name: int(getattr(parsed, name)) for name in READS}, parsed.user


def regions() -> Regions:
    """Three regions of 64 pages, whose pages lie backwards on the bus."""
    made, table = [], {}
    for slot, key in enumerate(BASE):
        rights = Right.LOCAL_READ if key == READ_ONLY_KEY else Right.LOCAL_READ | Right.LOCAL_WRITE
        target = Target.BAR if key == BAR_KEY else Target.HOST
        first = slot * (PAGES + 1)
        made.append(Region(key=key, base=BASE[key], length=PAGES * 4096, rights=rights, target=target, first=first))
        table |= {first + n: BUS[key] + (PAGES - n) * 4096 for n in range(PAGES + 1)}
    return Regions(made, table)


def bus(key: int, address: int) -> int:
    """Bus address of a byte of a buffer."""
    if key == 0:
        return address
    page = address // 4096 - BASE[key] // 4096
    return BUS[key] + (PAGES - page) * 4096 + address % 4096


def queue_config(number: int, **fields: object) -> QueueConfig:
    """Rings of 16, a CQ of 32; key 0 is physical, 1 a region in host memory, 2 one in a BAR, 3 may only be read."""
    base = RINGS + (number << 18)
    values: dict[str, object] = {
        "tx_base": base,
        "rx_base": base + (1 << 16),
        "cq_base": base + (2 << 16),
        "tx_size": 4,
        "rx_size": 4,
        "cq_size": 5,
        "keys": (0, HOST_KEY, BAR_KEY, READ_ONLY_KEY),
        "key_flush": 4,
        "vector": number,
    }
    return QueueConfig(**(values | fields))  # type: ignore[arg-type]


@dataclass
class Buffer:
    """A buffer that is posted."""

    key: int
    address: int
    length: int


@dataclass
class DriverQueue:
    """The driver's side of a queue: what it has posted, what it got."""

    config: QueueConfig
    tx_tail: int = 0
    tx_free: int = 0
    rx_tail: int = 0
    rx_next: int = 0
    cq_head: int = 0
    buffers: dict[int, Buffer] = field(default_factory=dict)
    entries: list[Completion] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)
    interrupts: int = 0


class Host(Run):
    """rings, dma, memory and driver. polling: the driver looks into the CQ when chance wants, else only when told."""

    def __init__(self, config: Config, queues: dict[int, QueueConfig], seed: int = 1, polling: bool = False) -> None:
        self.posted: dict[bool, deque[tuple[MemoryRequest, bool]]] = {False: deque(), True: deque()}
        self.rings = RingsModel(config)
        self.seen: list[Event] = []
        self.polling = polling
        self.lazy_bar = False
        """Writes into the BAR land when nothing else can happen, or a read pushes them."""
        self.driver: dict[int, DriverQueue] = {}
        self.actions: deque[Callable[[], None]] = deque()
        self.codes_seen: list[int] = []
        self.sent: list[tuple[int, bytes]] = []
        self.messages: list[int] = []
        self.reading: dict[int, bytes] = {}
        super().__init__(
            dma.Config(requesters=1, physical=frozenset({0}), mps=128, mrrs=128), regions(), random.Random(seed)
        )
        for number, queue in queues.items():
            self.open_queue(number, queue)

    def open_queue(self, number: int, config: QueueConfig) -> None:
        """Clears the CQ, enables, programs and arms as a driver does."""
        self.sees(Enabled(self.ns, number, config))
        self.driver[number] = DriverQueue(config)
        self.put(config.cq_base, bytes(ENTRY << config.cq_size))
        if config.vector < len(self.rings.msix.vectors):
            self.sees(MsixEntry(self.ns, config.vector, MSI + 16 * config.vector, 0xA500 + config.vector, masked=False))
        self.sees(MsixControl(self.ns, enable=True, masked=False))
        self.sees(Rang(self.ns, number, Door.CQ_HEAD, 0, arm=not self.polling))

    def sees(self, event: Event) -> None:
        """Something that the model must find right."""
        assert play(self.rings, event) == [], event
        self.seen.append(event)

    # ---- memory

    def put(self, address: int, data: bytes) -> None:
        for at, byte in enumerate(data):
            self.memory.write(address + at, byte)

    def take(self, event: dma.Sent) -> None:
        """A posted write waits in its target; a read is answered behind the writes that were before it there."""
        is_bar = BUS[BAR_KEY] <= event.tlp.address < BUS[BAR_KEY] + (1 << 32)
        if event.tlp.write:
            self.posted[is_bar].append((event.tlp, bool(event.tlp.attr & Attr.RO)))
            return
        while self.posted[is_bar]:
            self.lands(is_bar, 0)
        super().take(event)

    def lands(self, is_bar: bool, place: int) -> None:
        queue = self.posted[is_bar]
        tlp, _ = queue[place]
        del queue[place]
        super().take(dma.Sent(self.ns, 0, tlp))
        if MSI <= tlp.address < MSI + 4096:
            self.interrupt((tlp.address - MSI) // 16, int.from_bytes(tlp.data, "little"))

    # ---- the driver

    def interrupt(self, vector: int, data: int) -> None:
        assert data == 0xA500 + vector
        self.messages.append(vector)
        told = [number for number, queue in self.driver.items() if queue.config.vector == vector]
        found = 0
        for number in told:
            self.driver[number].interrupts += 1
            found += self.reap(number)
            self.arm(number)
        assert found or self.polling, "an interrupt without a completion in memory"

    def arm(self, number: int) -> None:
        head = self.driver[number].cq_head
        self.sees(Rang(self.ns, number, Door.CQ_HEAD, head, arm=True))

    def reap(self, number: int, arm: bool = False) -> int:
        """Takes what has the owner bit of the driver's pass."""
        queue = self.driver[number]
        taken = 0
        while True:
            place = queue.cq_head % (1 << queue.config.cq_size)
            raw = self.memory.read(queue.config.cq_base + place * ENTRY, ENTRY)
            entry = Completion.unpack(raw)
            if entry.owner != (queue.cq_head >> queue.config.cq_size & 1 ^ 1):
                break
            assert entry.queue == number
            assert taken < 1 << queue.config.cq_size, "more entries than there are"
            queue.entries.append(entry)
            queue.cq_head = (queue.cq_head + 1) % 65536
            taken += 1
            if entry.tx:
                queue.tx_free = (entry.index + 1) % 65536
            elif entry.status == 0:
                queue.frames.append(self.collect(queue, entry))
        if taken or arm:
            self.sees(Rang(self.ns, number, Door.CQ_HEAD, queue.cq_head, arm=arm))
        return taken

    def collect(self, queue: DriverQueue, entry: Completion) -> bytes:
        """A frame out of its buffers, at the moment in which its completion is seen."""
        data, left = b"", entry.length
        while True:
            buffer = queue.buffers.pop(queue.rx_next)
            part = min(left, buffer.length)
            data += b"".join(self.memory.read(bus(buffer.key, buffer.address + n), 1) for n in range(part))
            left -= part
            last = queue.rx_next == entry.index
            queue.rx_next = (queue.rx_next + 1) % 65536
            if last:
                assert left == 0
                return data

    def post_rx(self, number: int, *buffers: tuple[int, int, int]) -> None:
        """Buffers: which key, address, length."""
        queue = self.driver[number]
        for which, address, length in buffers:
            place = queue.config.rx_base + queue.rx_tail % (1 << queue.config.rx_size) * ENTRY
            self.put(place, RxDescriptor(address=address, length=length, key=which).pack())
            queue.buffers[queue.rx_tail] = Buffer(queue.config.keys[which], address, length)
            queue.rx_tail = (queue.rx_tail + 1) % 65536
        self.sees(Rang(self.ns, number, Door.RX_TAIL, queue.rx_tail))

    def post_tx(self, number: int, *descriptors: TxDescriptor, data: bytes | None = None) -> None:
        """Descriptors and, in the buffers that they name, the data."""
        queue = self.driver[number]
        for one in descriptors:
            if data is not None:
                for n in range(one.length):
                    self.memory.write(bus(queue.config.keys[one.key], one.address + n), data[n])
                data = data[one.length :]
            place = queue.config.tx_base + queue.tx_tail % (1 << queue.config.tx_size) * ENTRY
            self.put(place, one.pack())
            queue.tx_tail = (queue.tx_tail + 1) % 65536
        self.sees(Rang(self.ns, number, Door.TX_TAIL, queue.tx_tail))

    def receive(self, frame: bytes, user: int | None = None, **meta: int) -> None:
        """A frame comes from the port, with what the parser says of it."""
        fields, beside = parsed_meta(frame)
        fields = fields | {"timestamp": self.ns} | meta
        self.sees(FrameIn(self.ns, frame, fields, beside if user is None else user))

    # ---- one thing after the other

    def choices(self) -> list[Callable[[], None]]:
        self.rings.advance(self.ns)
        found = super().choices()
        for request in self.rings.may_ask():
            found.append(partial(self.asks, request))
        if self.rings.may_judge() is not None:
            found.append(self.judges)
        if self.rings.may_leave() is not None:
            found.append(self.leaves)
        if self.actions:
            found.append(lambda: self.actions.popleft()())
        if self.polling:
            for number, queue in self.driver.items():
                if self.rings.queues[number].written != queue.cq_head:
                    found.append(partial(self.reap, number))
        for is_bar, queue in self.posted.items():
            if is_bar and self.lazy_bar and found:
                continue
            for place, (_, relaxed) in enumerate(queue):
                if place == 0 or relaxed:
                    found.append(partial(self.lands, is_bar, place))
        return found

    def asks(self, request: Request) -> None:
        self.sees(Asked(self.ns, request))
        self.waiting.append(
            dma.Request(
                requester=0,
                **{
                    name: getattr(request, name)
                    for name in ("write", "addr", "len", "id", "key", "flush", "ro", "data")
                },
            )
        )
        self.submits()

    def judges(self) -> None:
        code = self.rings.may_judge()
        assert code is not None
        self.codes_seen.append(code)
        self.sees(Judged(self.ns, code))

    def leaves(self) -> None:
        frame = self.rings.may_leave()
        assert frame is not None
        self.sent.append(frame)
        self.sees(FrameOut(self.ns, *frame))

    def gives(self, event: dma.Gave) -> None:
        super().gives(event)
        if event.last:
            self.sees(Gave(self.ns, self.frames[0][-1], event.bad))

    def ends(self, event: dma.Ended) -> None:
        super().ends(event)
        self.sees(Done(self.ns, event.id, event.code))

    def run(self) -> Host:
        """Until nothing more can happen."""
        self.play()
        assert self.rings.finish() == []
        return self
