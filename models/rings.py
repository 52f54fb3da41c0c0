"""Golden model of block ``rings``: frames to and from host memory through rings (docs/rings.md).

Which queue is next, how many entries go together and when is the hardware's choice. So the model is a machine that is
told each event and says what is wrong with it, as ``models.dma`` is. ``may_ask``, ``may_judge`` and ``may_leave`` list
what may happen now, so that it can also run alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from models.meta import Code as MetaCode
from models.rings_checksum import OffloadError, insert_checksums, insert_tag, strip_tag
from models.rings_filter import Filter
from models.rings_layout import ENTRY, Completion, RxDescriptor, Status, TxDescriptor, owner
from models.rings_msix import Message, Moderation, Msix, Vector
from models.rings_rss import Rss

__all__ = ["Config", "Door", "QueueConfig", "Request", "RingsModel"]

INDEX = 1 << 16
"""Indices count modulo this."""
FETCH_BYTES = 128
GATHER_BYTES = 64
MINIMUM = 14
"""Bytes of an Ethernet header."""
CQ_FAULT = Status.CQ


class Door(IntEnum):
    """A queue's doorbells."""

    TX_TAIL = 0
    RX_TAIL = 1
    CQ_HEAD = 2


@dataclass(frozen=True, kw_only=True)
class QueueConfig:
    """Registers of a queue that are read when it is enabled. Sizes: log2 of entries."""

    tx_base: int
    rx_base: int
    cq_base: int
    tx_size: int = 6
    rx_size: int = 6
    cq_size: int = 7
    keys: tuple[int, int, int, int] = (0, 0, 0, 0)
    key_flush: int = 0
    ro: bool = False
    strip: bool = False
    vector: int = 0
    packets: int = 0
    usecs: int = 0


@dataclass(frozen=True, kw_only=True)
class Config:
    """Parameters and the port's registers."""

    queues: int = 8
    vectors: int = 16
    segments: int = 32
    tx_beats: int = 2048
    filter: Filter = field(default_factory=Filter)
    rss: Rss = field(default_factory=Rss)
    max_frame: int = 9596
    event_vector: int | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of dma. data: of a write."""

    write: bool
    addr: int
    len: int
    id: int
    key: int = 0
    flush: bool = False
    ro: bool = False
    data: bytes = field(default=b"", repr=False)


@dataclass(eq=False)
class _Frame:
    """A frame under way, of either direction. pieces: requests that it takes; open: asked and not done."""

    queue: int
    index: int
    entry: Completion
    pieces: list[Request]
    asked: int = 0
    open: int = 0
    status: Status = Status.OK
    data: bytearray = field(default_factory=bytearray)
    first: TxDescriptor | None = None
    out: bytes | None = None
    left: bool = False

    @property
    def all_asked(self) -> bool:
        return self.asked == len(self.pieces)

    @property
    def beats(self) -> int:
        return sum(-(-piece.len // 16) for piece in self.pieces)


@dataclass(eq=False)
class _Side:
    """A ring: descriptors ``used`` .. ``fetched`` - 1 are inside, up to ``asked`` - 1 on their way."""

    base: int
    size: int
    tail: int = 0
    asked: int = 0
    fetched: int = 0
    used: int = 0
    cache: deque[bytes] = field(default_factory=deque)
    fault: Status | None = None
    told: bool = True
    fault_index: int = 0
    frames: deque[_Frame] = field(default_factory=deque)


@dataclass(eq=False)
class _Queue:
    """One queue while it is enabled, and after that until nothing refers to its memory."""

    number: int
    config: QueueConfig
    rx: _Side
    tx: _Side
    moderation: Moderation
    running: bool = True
    head: int = 0
    written: int = 0
    reserved: int = 0
    """Entries promised: those of frames under way, and those that are ready."""
    ready: deque[Completion] = field(default_factory=deque)
    broken: bool = False

    @property
    def free(self) -> int:
        return (1 << self.config.cq_size) - (self.written - self.head) % INDEX - self.reserved

    def runs(self, side: _Side) -> bool:
        return self.running and side.fault is None and not self.broken


@dataclass(eq=False)
class _Fetch:
    side: _Side
    queue: _Queue
    index: int
    count: int


@dataclass(eq=False)
class _Piece:
    """A read of a tx frame, or a write of an rx frame."""

    frame: _Frame
    queue: _Queue


@dataclass(eq=False)
class _Entries:
    queue: _Queue
    count: int


class RingsModel:
    """One port's rings. Each event method returns what is wrong with the event, nothing where it is right."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.queues: dict[int, _Queue] = {}
        self.msix = Msix([Vector() for _ in range(config.vectors)])
        self.event = 0
        self.counters: Counter[str] = Counter()
        self.now = 0
        self.waiting: deque[tuple[bytes, Mapping[str, int], int]] = deque()
        """Frames from the port that aren't judged."""
        self._rx: deque[_Frame] = deque()
        """Frames with writes to be asked, in order."""
        self._tx: deque[_Frame] = deque()
        """Frames that have begun, in the order in which they leave."""
        self._reads: deque[tuple[Request, _Fetch | _Piece]] = deque()
        self._given = 0
        """Reads of these, from the oldest on, whose data have come."""
        self._bad: deque[bool] = deque()
        self._writes: deque[tuple[Request, _Piece | _Entries | Message]] = deque()
        self._count = {False: 0, True: 0}

    # ---- queues

    def enable(self, number: int, config: QueueConfig) -> None:
        """``enable`` rises. ValueError: something still refers to the memory that the queue had before."""
        if self.busy(number):
            raise ValueError(f"queue {number} is busy")
        self.queues[number] = _Queue(
            number,
            config,
            _Side(config.rx_base, config.rx_size),
            _Side(config.tx_base, config.tx_size),
            Moderation(config.packets, config.usecs),
        )
        self.msix.served(number)

    def disable(self, number: int) -> None:
        self.queues[number].running = False

    def busy(self, number: int) -> bool:
        """Whether anything refers to the queue's memory."""
        queue = self.queues.get(number)
        if queue is None:
            return False
        under_way = [what for _, what in [*self._reads, *self._writes]]
        return bool(
            queue.running
            or queue.ready
            or queue.rx.frames
            or queue.tx.frames
            or any(not isinstance(what, Message) and what.queue is queue for what in under_way)
        )

    def doorbell(self, number: int, door: Door, value: int, ns: int, arm: bool = False) -> list[str]:
        self.advance(ns)
        queue = self.queues.get(number)
        if queue is None or not queue.running:
            return []
        if door is Door.CQ_HEAD:
            self._head(queue, value, arm)
        else:
            side = queue.tx if door is Door.TX_TAIL else queue.rx
            room = (1 << side.size) - (side.tail - side.used) % INDEX
            if (value - side.tail) % INDEX > room:
                self._stop(queue, side, Status.DOORBELL, value)
            else:
                side.tail = value
        self._settle()
        return []

    def _head(self, queue: _Queue, value: int, arm: bool) -> None:
        if (value - queue.head) % INDEX > (queue.written - queue.head) % INDEX:
            for side in (queue.rx, queue.tx):
                self._stop(queue, side, Status.DOORBELL, value)
            return
        queue.head = value
        arm = arm and not queue.broken
        left = (queue.written - value) % INDEX
        queue.moderation.head(left, arm, self.now)
        if left == 0:
            self.msix.served(queue.number)

    def _stop(self, queue: _Queue, side: _Side, status: Status, index: int | None = None) -> None:
        """The first fault of a side is kept. index: of an entry of its own, which waits for its turn."""
        if side.fault is not None:
            return
        side.fault = status
        side.told = index is None
        side.fault_index = index or 0
        self.event |= 1 << queue.number << (16 if side is queue.tx else 0)
        if self.config.event_vector is not None:
            self.msix.fire(Msix.EVENT, self.config.event_vector)

    def clear_event(self, bits: int) -> None:
        self.event &= ~bits
        if self.event == 0:
            self.msix.served(Msix.EVENT)

    # ---- time, and what follows from anything that happened

    def advance(self, ns: int) -> None:
        self.now = max(self.now, ns)
        self._settle()

    def _settle(self) -> None:
        for queue in self.queues.values():
            self._refuse_frames(queue)
            for side in (queue.rx, queue.tx):
                if not side.told and not side.frames and queue.free > 0 and not queue.broken:
                    side.told = True
                    self._reserve(queue)
                    self._ready(queue, _entry(queue, side is queue.tx, side.fault_index, side.fault or Status.OK))
            if queue.moderation.fires(self.now):
                self.msix.fire(queue.number, queue.config.vector)

    def _reserve(self, queue: _Queue) -> None:
        queue.reserved += 1

    def _ready(self, queue: _Queue, entry: Completion) -> None:
        if queue.broken:
            queue.reserved -= 1
        else:
            queue.ready.append(entry)

    # ---- receive: frames, their judgement

    def frame_in(self, frame: bytes, meta: Mapping[str, int], user: int, ns: int) -> list[str]:
        """The last beat of a frame from the port; user: tuser beside it."""
        self.advance(ns)
        self.waiting.append((frame, meta, user))
        self.counters["rx_frames"] += 1
        return []

    def _judge(self) -> tuple[int, _Queue | None, int] | None:
        """Code of the oldest frame (0: it is taken), its queue, how many descriptors; None: some aren't here yet."""
        frame, meta, user = self.waiting[0]
        if user & 1:
            return user >> 1 & 0x7F or MetaCode.BAD_FRAME, None, 0
        if not self.config.filter.passes(meta):
            return MetaCode.RINGS_FILTERED, None, 0
        number, _, _ = self.config.rss.choose(meta)
        queue = self.queues.get(number)
        if queue is None or not queue.runs(queue.rx):
            return MetaCode.RINGS_NO_QUEUE, None, 0
        left = len(frame) - (4 if queue.config.strip and meta.get("vlan_count", 0) else 0)
        side, count = queue.rx, 0
        while left > 0:
            if count == self.config.segments:
                return MetaCode.RINGS_TOO_LONG, queue, 0
            if (side.used + count) % INDEX == side.tail:
                return MetaCode.RINGS_NO_DESCRIPTOR, queue, 0
            if count == len(side.cache):
                return None
            descriptor = RxDescriptor.unpack(side.cache[count])
            if descriptor.faulty():
                return MetaCode.RINGS_BAD_DESCRIPTOR, queue, count
            left -= descriptor.length
            count += 1
        return (MetaCode.RINGS_NO_COMPLETION, queue, 0) if queue.free <= 0 else (0, queue, count)

    def may_judge(self) -> int | None:
        """The code with which the oldest waiting frame may be judged now, 0: it is taken; None: none may."""
        judgement = self._judge() if self.waiting else None
        return None if judgement is None else judgement[0]

    def judged(self, code: int, ns: int) -> list[str]:
        """The oldest waiting frame was judged."""
        self.advance(ns)
        if not self.waiting:
            return ["no frame waits"]
        judgement = self._judge()
        if judgement is None:
            return ["the descriptors that the frame needs are posted and haven't come"]
        expected, queue, count = judgement
        frame, meta, user = self.waiting.popleft()
        if expected:
            self.counters[f"code_{int(expected)}"] += 1
            if expected == MetaCode.RINGS_BAD_DESCRIPTOR and queue is not None:
                self._stop(queue, queue.rx, Status.DESCRIPTOR, (queue.rx.used + count) % INDEX)
        elif queue is not None:
            self._take(queue, frame, meta, user, count)
        self._settle()
        return [] if code == expected else [f"code {code}, not {expected}"]

    def _take(self, queue: _Queue, frame: bytes, meta: Mapping[str, int], user: int, count: int) -> None:
        stripped = queue.config.strip and meta.get("vlan_count", 0) != 0
        _, value, kind = self.config.rss.choose(meta)
        data = strip_tag(frame) if stripped else frame
        side = queue.rx
        index = (side.used + count - 1) % INDEX
        entry = replace(
            _entry(queue, False, index, Status.OK),
            length=len(data),
            hash=value,
            hash_kind=kind,
            timestamp=meta.get("timestamp", 0) & 0xFFFF_FFFF,
            tci=meta["vlan0"] if stripped else 0,
            vlan=stripped,
            vlan_ad=bool(stripped and meta.get("vlan0_ad", 0)),
            l4_checksum=user >> 8 & 3,
            ip_checksum=meta.get("ip_checksum", 0),
        )
        pieces, at = [], 0
        for _ in range(count):
            descriptor = RxDescriptor.unpack(side.cache.popleft())
            part = data[at : at + descriptor.length]
            pieces.append(_piece(queue, True, descriptor.address, descriptor.key, part))
            at += len(part)
        side.used = (side.used + count) % INDEX
        self._reserve(queue)
        taken = _Frame(queue.number, index, entry, pieces)
        side.frames.append(taken)
        self._rx.append(taken)

    # ---- transmit: frames that begin, and leave

    def _chain(self, queue: _Queue) -> tuple[list[TxDescriptor], bool] | None:
        """The next frame's descriptors, and whether one is at fault, the last; None: they aren't all here."""
        chain: list[TxDescriptor] = []
        for raw in queue.tx.cache:
            descriptor = TxDescriptor.unpack(raw)
            chain.append(descriptor)
            if descriptor.faulty(len(chain) == 1):
                return chain, True
            if descriptor.eop:
                return chain, False
            if len(chain) == self.config.segments:
                return chain, True
        return None

    def _next_frame(self, queue: _Queue) -> _Frame | None:
        """The frame of this queue that may begin, or be refused without a read; nothing is changed."""
        found = self._chain(queue) if queue.runs(queue.tx) and queue.free > 0 else None
        if found is None or found[1]:
            return None
        chain = found[0]
        length = sum(one.length for one in chain) + (4 if chain[0].vlan else 0)
        index = (queue.tx.used + len(chain) - 1) % INDEX
        right = sum(one.length for one in chain) >= MINIMUM and length <= self.config.max_frame
        pieces = [_piece(queue, False, one.address, one.key, b"", one.length) for one in chain]
        entry = _entry(queue, True, index, Status.OK if right else Status.LENGTH)
        return _Frame(queue.number, index, entry, pieces if right else [], first=chain[0], status=Status(entry.status))

    def _begin(self, queue: _Queue, frame: _Frame) -> None:
        count = (frame.index + 1 - queue.tx.used) % INDEX
        for _ in range(count):
            queue.tx.cache.popleft()
        queue.tx.used = (queue.tx.used + count) % INDEX
        self._reserve(queue)
        self.counters["tx_frames"] += 1
        queue.tx.frames.append(frame)
        self._tx.append(frame)

    def _refuse_frames(self, queue: _Queue) -> None:
        """Faulty chains stop the side; frames whose length isn't allowed end without a read."""
        while queue.runs(queue.tx):
            found = self._chain(queue)
            if found is not None and found[1]:
                self._stop(queue, queue.tx, Status.DESCRIPTOR, (queue.tx.used + len(found[0]) - 1) % INDEX)
            frame = self._next_frame(queue)
            if frame is None or frame.status is Status.OK:
                return
            self._begin(queue, frame)
            self._finish_tx()

    def _came(self, frame: _Frame, queue: _Queue) -> None:
        """All data of a frame have come, good or not."""
        descriptor = frame.first
        if frame.status is Status.OK and descriptor is not None:
            try:
                out = insert_checksums(
                    bytes(frame.data),
                    2 * descriptor.l3,
                    4 * descriptor.l4_offset,
                    descriptor.ip_checksum,
                    descriptor.l4,
                )
                frame.out = insert_tag(out, descriptor.tci, descriptor.ad) if descriptor.vlan else out
            except OffloadError:
                frame.status = Status.OFFLOAD
        self._finish_tx()

    def _finish_tx(self) -> None:
        """Frames at the front that aren't sent end; completions go in the order of each ring's frames."""
        for frame in list(self._tx):
            if frame.status is not Status.OK and frame.all_asked and not frame.open:
                self._tx.remove(frame)
                frame.left = True
                self.counters[f"tx_{frame.status.name.lower()}"] += 1
        for queue in self.queues.values():
            while queue.tx.frames and queue.tx.frames[0].left:
                frame = queue.tx.frames.popleft()
                if frame.status is Status.OK and not (frame.first and frame.first.report):
                    queue.reserved -= 1
                else:
                    self._ready(queue, replace(frame.entry, status=frame.status))

    def may_leave(self) -> tuple[int, bytes] | None:
        """Queue and bytes of the frame that goes to the port next, where it is ready."""
        frame = self._tx[0] if self._tx else None
        return (frame.queue, frame.out) if frame is not None and frame.out is not None else None

    def frame_out(self, queue: int, frame: bytes, ns: int) -> list[str]:
        """The last beat of a frame was taken by the port."""
        self.advance(ns)
        expected = self.may_leave()
        if expected is None:
            return ["no frame is ready to leave"]
        gone = self._tx.popleft()
        gone.left = True
        gone.entry = replace(gone.entry, length=len(expected[1]), timestamp=ns & 0xFFFF_FFFF)
        self.counters["tx_sent"] += 1
        self.counters["tx_bytes"] += len(expected[1])
        self._finish_tx()
        self._settle()
        wrong = [] if queue == expected[0] else [f"queue {queue}, not {expected[0]}"]
        if frame != expected[1]:
            at = next((n for n, (a, b) in enumerate(zip(frame, expected[1], strict=False)) if a != b), -1)
            wrong.append(f"{len(frame)} bytes, {len(expected[1])} expected, first difference at {at}")
        return wrong

    # ---- requests

    def _id(self, write: bool) -> int:
        return write << 7 | self._count[write] % 128

    def may_ask(self) -> Iterator[Request]:
        """Requests that may be asked now."""
        for request, _ in self._candidates():
            yield request

    def _candidates(self) -> Iterator[tuple[Request, _Fetch | _Piece | _Entries | Message]]:
        if len(self._reads) < 128:
            yield from self._fetches()
            yield from self._tx_reads()
        if len(self._writes) < 128:
            writing = next((frame for frame in self._rx if not frame.all_asked), None)
            if writing is not None:
                queue = self.queues[writing.queue]
                yield replace(writing.pieces[writing.asked], id=self._id(True)), _Piece(writing, queue)
            yield from self._entries()
            for message in self.msix.may_send():
                data = message.data.to_bytes(4, "little")
                yield Request(write=True, addr=message.address, len=4, id=self._id(True), data=data), message

    def _fetches(self) -> Iterator[tuple[Request, _Fetch]]:
        for queue in self.queues.values():
            for side in (queue.tx, queue.rx):
                place = side.base + side.asked % (1 << side.size) * ENTRY
                most = min(
                    (side.tail - side.asked) % INDEX,
                    (FETCH_BYTES - place % FETCH_BYTES) // ENTRY,
                    self.config.segments - (side.asked - side.used) % INDEX,
                )
                for count in range(1, most + 1) if queue.runs(side) else ():
                    request = Request(write=False, addr=place, len=count * ENTRY, id=self._id(False))
                    yield request, _Fetch(side, queue, side.asked, count)

    def _tx_reads(self) -> Iterator[tuple[Request, _Piece]]:
        current = next((frame for frame in self._tx if not frame.all_asked), None)
        if current is not None:
            piece = replace(current.pieces[current.asked], id=self._id(False))
            yield piece, _Piece(current, self.queues[current.queue])
            return
        held = sum(frame.beats for frame in self._tx)
        for queue in self.queues.values():
            frame = self._next_frame(queue)
            if frame is not None and held + frame.beats <= self.config.tx_beats:
                yield replace(frame.pieces[0], id=self._id(False)), _Piece(frame, queue)

    def _entries(self) -> Iterator[tuple[Request, _Entries]]:
        for queue in self.queues.values():
            place = queue.config.cq_base + queue.written % (1 << queue.config.cq_size) * ENTRY
            most = min(len(queue.ready), (GATHER_BYTES - place % GATHER_BYTES) // ENTRY)
            for count in range(1, most + 1):
                data = b"".join(
                    replace(entry, owner=owner((queue.written + n) % INDEX, queue.config.cq_size)).pack()
                    for n, entry in enumerate(list(queue.ready)[:count])
                )
                request = Request(write=True, addr=place, len=len(data), id=self._id(True), data=data)
                yield request, _Entries(queue, count)

    def asked(self, request: Request, ns: int) -> list[str]:
        """A request was handed to dma."""
        self.advance(ns)
        candidates = list(self._candidates())
        match = next((one for one in candidates if one[0] == request), None)
        if match is None:
            return [_nearest(request, [one for one, _ in candidates])]
        what = match[1]
        self._count[request.write] += 1
        if isinstance(what, Message):
            self.msix.sent(what.vector)
            self.counters["messages"] += 1
        elif isinstance(what, _Fetch):
            what.side.asked = (what.side.asked + what.count) % INDEX
            self.counters["fetched"] += what.count
        elif isinstance(what, _Entries):
            self._written(what)
        else:
            if what.frame.asked == 0 and not request.write:
                self._begin(what.queue, what.frame)
            what.frame.asked += 1
            what.frame.open += 1
            if request.write and what.frame.all_asked:
                self._rx.remove(what.frame)
        if isinstance(what, (_Fetch, _Piece)) and not request.write:
            self._reads.append((request, what))
        elif not isinstance(what, _Fetch):
            self._writes.append((request, what))
        self._settle()
        return []

    def _written(self, what: _Entries) -> None:
        queue = what.queue
        for _ in range(what.count):
            entry = queue.ready.popleft()
            if not entry.tx and entry.status == Status.OK:
                self.counters["rx_delivered"] += 1
                self.counters["rx_bytes"] += entry.length
        queue.written = (queue.written + what.count) % INDEX
        queue.reserved -= what.count
        self.counters["completions"] += what.count
        queue.moderation.completed(what.count, self.now)

    # ---- what comes back

    def data(self, data: bytes, bad: bool, ns: int) -> list[str]:
        """The frame of the oldest read whose data haven't come; bad: tuser[0] at its end."""
        self.advance(ns)
        if self._given == len(self._reads):
            return ["data of no read"]
        request, what = self._reads[self._given]
        self._given += 1
        self._bad.append(bad)
        wrong = [] if bad or len(data) == request.len else [f"{len(data)} bytes of a read of {request.len}"]
        data = data if bad else data[: request.len].ljust(request.len, b"\0")
        if isinstance(what, _Fetch):
            self._descriptors(what, data, bad)
        elif isinstance(what, _Piece):
            what.frame.open -= 1
            what.frame.data += data
            if bad:
                what.frame.status = Status.DATA
                self._stop(what.queue, what.queue.tx, Status.DATA)
            if what.frame.all_asked and not what.frame.open:
                self._came(what.frame, what.queue)
        self._settle()
        return wrong

    def _descriptors(self, what: _Fetch, data: bytes, bad: bool) -> None:
        if bad:
            self._stop(what.queue, what.side, Status.FETCH, what.index)
            return
        if what.side.fault is None:
            what.side.cache.extend(data[at : at + ENTRY] for at in range(0, len(data), ENTRY))
            what.side.fetched = (what.side.fetched + what.count) % INDEX

    def done(self, request_id: int, code: int, ns: int) -> list[str]:
        """The oldest request of its kind, which bit 7 of the id says, is done."""
        self.advance(ns)
        if request_id >> 7:
            return self._write_done(request_id, code)
        if not self._given:
            return [f"id {request_id} is done before its data have come"]
        request, _ = self._reads.popleft()
        self._given -= 1
        bad = self._bad.popleft()
        wrong = [] if request.id == request_id else [f"id {request_id}, not {request.id}"]
        return wrong + ([] if bad == (code != 0) else [f"code {code} of data that ended {'bad' if bad else 'well'}"])

    def _write_done(self, request_id: int, code: int) -> list[str]:
        if not self._writes:
            return [f"id {request_id} is done, and no write is under way"]
        request, what = self._writes.popleft()
        if isinstance(what, _Entries) and code:
            self._break(what.queue)
        elif isinstance(what, _Piece):
            frame = what.frame
            frame.open -= 1
            if code:
                frame.status = Status.DATA
                self._stop(what.queue, what.queue.rx, Status.DATA)
            if frame.all_asked and not frame.open:
                what.queue.rx.frames.remove(frame)
                if frame.status is not Status.OK:
                    self.counters[f"code_{MetaCode.RINGS_DATA.value}"] += 1
                    frame.entry = _entry(what.queue, False, frame.index, frame.status)
                self._ready(what.queue, frame.entry)
        self._settle()
        return [] if request.id == request_id else [f"id {request_id}, not {request.id}"]

    def _break(self, queue: _Queue) -> None:
        """No entry is written any more; those that are ready are lost."""
        for side in (queue.rx, queue.tx):
            self._stop(queue, side, CQ_FAULT)
            side.told = True
        queue.broken = True
        queue.reserved -= len(queue.ready)
        queue.ready.clear()
        queue.moderation.armed = False
        self.msix.served(queue.number)

    # ---- at rest

    def finish(self) -> list[str]:
        """What is still held where everything should have come to its end."""
        left = [f"{len(self.waiting)} frames wait"] if self.waiting else []
        left += [f"{len(self._reads)} reads, {len(self._writes)} writes"] if self._reads or self._writes else []
        for queue in self.queues.values():
            held = (len(queue.rx.frames), len(queue.tx.frames), len(queue.ready), queue.reserved)
            if any(held):
                left.append(f"queue {queue.number}: rx, tx frames, entries ready, reserved: {held}")
        drops = sum(count for name, count in self.counters.items() if name.startswith("code_"))
        if not left and self.counters["rx_frames"] != self.counters["rx_delivered"] + drops:
            left.append("frames received don't add up")
        ends = sum(self.counters[f"tx_{name}"] for name in ("sent", "length", "offload", "data"))
        if not left and self.counters["tx_frames"] != ends:
            left.append("frames sent don't add up")
        return left


def _entry(queue: _Queue, tx: bool, index: int, status: Status) -> Completion:
    """owner is set when the entry is written."""
    return Completion(queue=queue.number, tx=tx, index=index, owner=0, status=status)


def _piece(queue: _Queue, write: bool, address: int, key: int, data: bytes, length: int | None = None) -> Request:
    """A request for a buffer of a frame; its id is set when it is asked."""
    return Request(
        write=write,
        addr=address,
        len=len(data) if length is None else length,
        id=0,
        key=queue.config.keys[key],
        flush=write and bool(queue.config.key_flush >> key & 1),
        ro=queue.config.ro,
        data=data,
    )


def _nearest(request: Request, candidates: Sequence[Request]) -> str:
    """What is wrong with a request that may not be asked: its differences to the one that is most like it."""
    names = ("write", "addr", "len", "id", "key", "flush", "ro", "data")

    def differences(one: Request) -> list[str]:
        return [name for name in names if getattr(one, name) != getattr(request, name)]

    if not candidates:
        return f"nothing is to be asked now, least of all {request}"
    near = min(candidates, key=lambda one: len(differences(one)))
    return ", ".join(
        f"{name} {getattr(request, name)!r}, not {getattr(near, name)!r}" for name in differences(near)
    ) + (f" (of {len(candidates)} that may be asked)")
