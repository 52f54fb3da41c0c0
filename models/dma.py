"""Golden model of block ``dma``: requests to TLPs, completions to data and codes (docs/dma.md).

PCI Express Base Specification 4.0: 2.2.9 and 2.3.2 (completions), 2.6.1.2 (credits), 2.8 (completion timeout).

What leaves is given by the requests; when it leaves, in which order between requesters and between reads and writes,
and which tag it takes is the hardware's choice. So the model is a machine that is told each event and says what is
wrong with it: ``DmaModel`` holds what the page holds at every moment. ``may_send`` lists what may leave now, so that
the machine can also run alone; ``check`` plays what a bench has seen, and gives every violation with its place.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from models.dma_region import Fault, Regions, Target
from models.dma_split import LINE, Part, byte_enables, data_credits, dws, lines, lower_address, split
from models.dma_tlp import Attr, Completion, MemoryRequest, Status

__all__ = [
    "BEAT",
    "TIMEOUT_SLACK_NS",
    "Came",
    "Code",
    "Config",
    "Credits",
    "DmaModel",
    "Ended",
    "Event",
    "Gave",
    "Limits",
    "Request",
    "Sent",
    "Submitted",
    "Violation",
    "check",
    "judge",
]

BEAT = 16
"""Bytes of a beat of a requester's data."""
TIMEOUT_SLACK_NS = 1024 * 4
"""The tags are looked at in turn, one a cycle: so long after its time a timeout is seen at the latest."""


class Code(IntEnum):
    """``done_code``."""

    OK = 0
    NO_REGION = 1
    BOUNDS = 2
    RIGHTS = 3
    NO_PAGE = 4
    BAD_LENGTH = 5
    UNSUPPORTED = 8
    ABORTED = 9
    POISONED = 10
    TIMEOUT = 11
    BAD_COUNT = 12
    BAD_ADDRESS = 13
    SHORT = 14


FINAL = frozenset({Code.UNSUPPORTED, Code.ABORTED})
"""2.3.2: a completion of such a status is the last of its request; the tag is free."""
BROKEN = frozenset({Code.TIMEOUT, Code.BAD_COUNT, Code.BAD_ADDRESS, Code.SHORT})
"""Nobody knows what still comes for the tag: it rests."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Registers and parameters. Sizes in bytes, times in ns; cplh and cpld: 0, without limit; timeout_ns: 0, none."""

    requesters: int = 4
    mps: int = 256
    mrrs: int = 512
    rcb: int = 64
    tags: int = 256
    requester_id: int = 0
    ro_enable: bool = True
    ido_enable: bool = False
    no_snoop: frozenset[Target] = frozenset()
    physical: frozenset[int] = frozenset()
    timeout_ns: int = 50_000_000
    cplh: int = 0
    cpld: int = 0
    buffer: int = 16384

    @property
    def tag_range(self) -> range:
        """2.2.6.2: 5 bits, 8 bits, or 10 bits whose upper two aren't 0."""
        return {32: range(32), 256: range(256), 768: range(256, 1024)}[self.tags]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a requester asks, as on its interface. data: of a write, what its frame brought, be it ``len`` or not."""

    requester: int
    write: bool
    addr: int
    len: int
    key: int = 0
    id: int = 0
    remote: bool = False
    fence: bool = False
    flush: bool = False
    ro: bool = False
    data: bytes = field(default=b"", repr=False)


# -------------------------------------------------------------------------------------------------------- completions


def judge(completion: Completion, address: int, left: int, rcb: int) -> tuple[Code, int]:
    """What is wrong with a completion, and how many bytes it brings of what is left of its read.

    address: of the next byte that the tag expects; left: bytes, 0 of a zero-length read. The order of the tests is
    docs/dma.md's. A zero-length read is answered by one DW whose Byte Count is 1 (2.3.1.1); it brings nothing.
    """
    if completion.status != Status.SC:
        return (Code.ABORTED if completion.status in (Status.CA, Status.CRS) else Code.UNSUPPORTED), 0
    whole = dws(address, left)
    came = len(completion.data) // 4
    if completion.byte_count != max(1, left) or completion.length != came or not 1 <= came <= whole:
        return Code.BAD_COUNT, 0
    if completion.lower_address != lower_address(address, left):
        return Code.BAD_ADDRESS, 0
    brought = left if came == whole else 4 * came - address % 4
    if came != whole and (address + brought) % rcb:
        return Code.SHORT, 0
    return (Code.POISONED if completion.ep else Code.OK), brought


# ------------------------------------------------------------------------------------------------------------ credits


class Credits:
    """Credits of one kind: Posted or Non-Posted, of headers (8 bits) or of data (12 bits); 2.6.1.2, unscaled."""

    def __init__(self, width: int) -> None:
        self.modulus = 1 << width
        self.limit = 0
        self.consumed = 0
        self.infinite = False

    def fit(self, amount: int) -> bool:
        """The transmitter's gate: CREDIT_LIMIT less what would then be consumed, modulo, at most half of the field."""
        return self.infinite or (self.limit - (self.consumed + amount)) % self.modulus <= self.modulus // 2

    def consume(self, amount: int) -> None:
        self.consumed = (self.consumed + amount) % self.modulus


# --------------------------------------------------------------------------------------------------------- the machine


class Violation(NamedTuple):
    """place: which event, of whom; reason: what the page says."""

    place: str
    reason: str


class Submitted(NamedTuple):
    """A request was taken."""

    ns: int
    request: Request


class Limits(NamedTuple):
    """The partner's limits changed: values of "ph", "pd", "nph", "npd"; None: infinite."""

    ns: int
    limits: Mapping[str, int | None]


class Sent(NamedTuple):
    """A TLP left, for this requester."""

    ns: int
    requester: int
    tlp: MemoryRequest


class Came(NamedTuple):
    """A completion came."""

    ns: int
    completion: Completion


class Gave(NamedTuple):
    """A beat of read data was taken: its kept bytes, tlast, tuser[0]."""

    ns: int
    requester: int
    data: bytes
    last: bool
    bad: bool


class Ended(NamedTuple):
    """``done`` was taken."""

    ns: int
    requester: int
    id: int
    code: int


Event: TypeAlias = Submitted | Limits | Sent | Came | Gave | Ended


@dataclass(eq=False)
class _Read:
    """A read TLP that left: the bytes of its job from ``offset``, from bus address ``address``; got: what came."""

    job: _Job
    address: int
    bytes: int
    offset: int
    sent_ns: int
    got: int = 0
    closed: bool = False

    def remaining(self) -> Part:
        return Part(self.address + self.got, self.bytes - self.got)


@dataclass(eq=False)
class _Job:
    """A request under way. parts: the TLPs that its data take; fault: its first; data: of a read, what came.

    usable: of a read with a fault, how many bytes from its beginning had come when it was seen.
    """

    request: Request
    begin: int
    parts: list[Part]
    attr: Attr
    flush_attr: Attr
    fault: Code | None = None
    sent: int = 0
    flushing: bool = False
    open: int = 0
    reads: list[_Read] = field(default_factory=list)
    data: bytearray = field(default_factory=bytearray)
    given: int = 0
    data_ended: bool = False
    usable: int = 0

    @property
    def write(self) -> bool:
        return self.request.write

    @property
    def wants_flush(self) -> bool:
        """Its writes have left, and the read behind them hasn't."""
        return self.write and self.request.flush and bool(self.parts) and self.all_sent and not self.flushing

    @property
    def all_sent(self) -> bool:
        return self.sent == len(self.parts)

    @property
    def code(self) -> Code:
        return Code.OK if self.fault is None else self.fault

    def contiguous(self) -> int:
        """Bytes from the request's beginning that have come without a gap."""
        for read in self.reads:
            if read.got < read.bytes:
                return read.offset + read.got
        return sum(read.bytes for read in self.reads)

    def finished(self) -> bool:
        """All is done but ``done``."""
        if self.open:
            return False
        if self.write:
            return self.all_sent and not self.wants_flush
        return self.data_ended


class DmaModel:
    """All requesters of one ``dma``. Each event method returns what is wrong with the event, nothing where it is right.

    ``now`` moves on with the events; what times out on the way is seen by the machine itself.
    """

    def __init__(self, config: Config, regions: Regions | None = None) -> None:
        self.config = config
        self.regions = regions if regions is not None else Regions()
        self.now = 0
        self.credits = {"ph": Credits(8), "pd": Credits(12), "nph": Credits(8), "npd": Credits(12)}
        self.jobs: list[list[_Job]] = [[] for _ in range(config.requesters)]
        self.open: dict[int, _Read] = {}
        """Reads under way by tag."""
        self.resting: dict[int, tuple[float, Part]] = {}
        """Tags that rest: until when, and what could still come for them."""
        self.counters: Counter[str] = Counter()
        self._timed_out: deque[tuple[int, int, _Job]] = deque()
        """Timeouts that the hardware may not have seen yet: when, tag, request."""
        self._live: list[list[_Job]] = [[] for _ in range(config.requesters)]

    # ---- requests

    def submit(self, request: Request) -> list[str]:
        jobs = self.jobs[request.requester]
        job = self._job(request, len(jobs))
        jobs.append(job)
        self._live[request.requester].append(job)
        self.counters["requests"] += 1
        return []

    def _job(self, request: Request, begin: int) -> _Job:
        attr = Attr.IDO if self.config.ido_enable else Attr(0)
        job = _Job(request, begin, [], attr, attr)
        if request.len == 0:
            job.data_ended = True
            return job
        if request.key == 0 and not request.remote and request.requester in self.config.physical:
            target: Target = Target.HOST
            pieces = Regions.physical(request.addr, request.len)
        else:
            region = self.regions.find(request.key)
            target = region.target if region is not None else Target.HOST
            pieces = self.regions.check(
                write=request.write, remote=request.remote, key=request.key, addr=request.addr, length=request.len
            )
        if isinstance(pieces, Fault):
            job.fault = Code(pieces)
            return job
        if target in self.config.no_snoop:
            job.attr |= Attr.NS
        job.flush_attr = job.attr
        if request.ro and self.config.ro_enable:
            job.attr |= Attr.RO
        if request.write and len(request.data) != request.len:
            job.fault = Code.BAD_LENGTH
        left = min(request.len, len(request.data)) if request.write else request.len
        most = self.config.mps if request.write else self.config.mrrs
        for piece in pieces:
            job.parts += split(piece.address, min(piece.bytes, left), most)
            left -= min(piece.bytes, left)
        job.data = bytearray(request.data[: request.len] if request.write else bytes(request.len))
        return job

    def _begun(self, job: _Job) -> bool:
        """Whether all that the fences up to this request wait for is finished."""
        jobs = self._live[job.request.requester]
        fence = max((other.begin for other in jobs if other.request.fence and other.begin <= job.begin), default=0)
        return all(other.finished() for other in jobs if other.begin < fence)

    def _heads(self, requester: int, write: bool) -> Iterator[_Job]:
        """The requests of this kind of which the next TLP may be: the first that hasn't sent all, where it has begun.

        A read with a fault may send what it hasn't sent, or not; so the next one is a candidate too.
        """
        for job in self._live[requester]:
            if job.write != write or job.all_sent:
                continue
            if self._begun(job):
                yield job
            if write or job.fault is None:
                return

    # ---- TLPs out

    def _tlp(self, job: _Job, tag: int = 0) -> MemoryRequest:
        """The next TLP of a request; its masked bytes are 0."""
        part = job.parts[job.sent]
        first_be, last_be = byte_enables(*part)
        length = dws(*part)
        data = b""
        if job.write:
            at = sum(earlier.bytes for earlier in job.parts[: job.sent])
            data = bytes(part.address % 4) + bytes(job.data[at : at + part.bytes])
            data = data.ljust(4 * length, b"\0")
        return MemoryRequest(
            write=job.write,
            address=part.address & ~3,
            length=length,
            first_be=first_be,
            last_be=last_be,
            tag=tag,
            requester_id=self.config.requester_id,
            attr=job.attr,
            data=data,
        )

    def _flush(self, job: _Job, tag: int) -> MemoryRequest:
        """The read of no bytes behind a write: of its last byte's DW (2.2.5)."""
        last = job.parts[-1]
        return MemoryRequest(
            write=False,
            address=(last.address + last.bytes - 1) & ~3,
            length=1,
            first_be=0,
            last_be=0,
            tag=tag,
            requester_id=self.config.requester_id,
            attr=job.flush_attr,
        )

    def may_send(self, tag: int | None = None) -> Iterator[tuple[int, MemoryRequest]]:
        """TLPs that may leave now, with their requesters; reads take ``tag``, else the lowest that is free."""
        if tag is None:
            tag = next(self.free_tags(), None)
        for requester in range(self.config.requesters):
            candidates = [self._tlp(job) for job in self._heads(requester, True)]
            if tag is not None:
                candidates += [self._tlp(job, tag) for job in self._heads(requester, False)]
                candidates += [self._flush(job, tag) for job in self._live[requester] if job.wants_flush][:1]
            for tlp in candidates:
                if not self._held_up(requester, tlp):
                    yield requester, tlp

    def free_tags(self) -> Iterator[int]:
        for tag in self.config.tag_range:
            if tag not in self.open and self.resting.get(tag, (0, None))[0] <= self.now:
                yield tag

    def _held_up(self, requester: int, tlp: MemoryRequest) -> list[str]:
        """Why a TLP that is the next of its kind must wait: credits, room for what it brings back."""
        if tlp.write:
            header, data = self.credits["ph"], self.credits["pd"]
            amount = (len(tlp.data) + 15) // 16
            reasons = [] if header.fit(1) else ["no posted header credit (2.6.1.2)"]
            return reasons + ([] if data.fit(amount) else [f"{amount} posted data credits aren't there (2.6.1.2)"])
        reasons = [] if self.credits["nph"].fit(1) else ["no non-posted header credit (2.6.1.2)"]
        part = _bytes_of(tlp)
        if part.bytes:
            held = self.lines_held(requester) + lines(*part)
            if held > self.config.buffer // LINE:
                reasons.append(f"{held} lines of {self.config.buffer // LINE}")
        for name, limit, cost in (("CPLH", self.config.cplh, lines), ("CPLD", self.config.cpld, data_credits)):
            if limit:
                total = sum(cost(*one) for one in (*self._expected(), part))
                if total > limit:
                    reasons.append(f"completions of {total} of {name} {limit} could come")
        return reasons

    def _expected(self) -> Iterator[Part]:
        """What completions may still bring."""
        yield from (read.remaining() for read in self.open.values())
        yield from (part for until, part in self.resting.values() if until > self.now)

    def lines_held(self, requester: int) -> int:
        """Lines of the buffer that reads of this requester hold at least (docs/dma.md, Buffer)."""
        return sum(
            lines(read.address, read.bytes)
            for job in self._live[requester]
            if not job.write
            for read in job.reads
            if _holds(job, read)
        )

    def send(self, requester: int, tlp: MemoryRequest, ns: int) -> list[str]:
        self.advance(ns)
        flush = not tlp.write and tlp.first_be == 0 and tlp.last_be == 0
        candidates = (
            [(job, self._flush(job, tlp.tag)) for job in self._live[requester] if job.wants_flush][:1]
            if flush
            else [(job, self._tlp(job, 0 if tlp.write else tlp.tag)) for job in self._heads(requester, tlp.write)]
        )
        if not candidates:
            return [f"no {_kind(tlp)} of requester {requester} is to be sent now"]
        job, expected = next((one for one in candidates if one[1] == tlp), candidates[-1])
        for passed in [earlier for earlier, _ in candidates if earlier.begin < job.begin]:
            del passed.parts[passed.sent :]
        wrong = _differences(tlp, expected)
        if not tlp.write:
            if tlp.tag not in self.config.tag_range:
                wrong.append(f"tag {tlp.tag}, of {self.config.tags} tags")
            elif tlp.tag in self.open:
                wrong.append(f"tag {tlp.tag} is in use")
            elif self.resting.get(tlp.tag, (0, None))[0] > self.now:
                wrong.append(f"tag {tlp.tag} rests until {self.resting[tlp.tag][0]} ns")
        wrong += self._held_up(requester, expected)
        if tlp.write:
            self.credits["ph"].consume(1)
            self.credits["pd"].consume((len(tlp.data) + 15) // 16)
        else:
            self.credits["nph"].consume(1)
        self._sent(job, tlp, flush)
        return wrong

    def _sent(self, job: _Job, tlp: MemoryRequest, flush: bool) -> None:
        part = Part(tlp.address, 0) if flush else job.parts[job.sent]
        if flush:
            job.flushing = True
            self.counters["flush_tlps"] += 1
        else:
            job.sent += 1
            self.counters["write_tlps" if job.write else "read_tlps"] += 1
            self.counters["write_bytes"] += part.bytes if job.write else 0
        if not tlp.write:
            offset = job.reads[-1].offset + job.reads[-1].bytes if job.reads else 0
            read = _Read(job, part.address, part.bytes, offset, self.now)
            job.open += 1
            self.open[tlp.tag] = read
            self.resting.pop(tlp.tag, None)
            if not flush:
                job.reads.append(read)

    # ---- completions

    def complete(self, completion: Completion, ns: int) -> list[str]:
        """A completion came. The only thing that can be wrong with it is that nobody could say how to take it."""
        self.advance(ns)
        self.counters["completions"] += 1
        read = self.open.get(completion.tag)
        wrong = []
        if any(completion.tag == tag or (read and read.job is job) for _, tag, job in self._timed_out):
            wrong.append(f"tag {completion.tag}: so near to a timeout that the hardware may see either first")
        if read is None or completion.requester_id != self.config.requester_id:
            self.counters["unexpected"] += 1
            return wrong
        code, brought = judge(completion, *read.remaining(), self.config.rcb)
        if code is Code.OK:
            self._bring(read, completion, brought)
        else:
            self._fail(read.job, code)
        read.got += brought
        if code in FINAL | BROKEN or read.got == read.bytes:
            self._close(completion.tag, code)
        return wrong

    def _bring(self, read: _Read, completion: Completion, brought: int) -> None:
        skip = read.remaining().address % 4
        at = read.offset + read.got
        if read.bytes:
            read.job.data[at : at + brought] = completion.data[skip : skip + brought]
        self.counters["read_bytes"] += brought

    def _fail(self, job: _Job, code: Code) -> None:
        """The first fault of a request is its code."""
        if job.fault is None:
            job.fault = code
            job.usable = job.contiguous()

    def _close(self, tag: int, code: Code) -> None:
        """A tag has no read any more, and is free, or rests."""
        read = self.open.pop(tag)
        read.closed = True
        read.job.open -= 1
        if code in BROKEN:
            until = self.now + self.config.timeout_ns if self.config.timeout_ns else float("inf")
            self.resting[tag] = (until, read.remaining())

    def advance(self, ns: int) -> None:
        """Time goes on: reads whose time is over end; the machine sees each at its own moment."""
        if self.config.timeout_ns:
            due = sorted(
                (read.sent_ns + self.config.timeout_ns, tag)
                for tag, read in self.open.items()
                if read.sent_ns + self.config.timeout_ns <= ns
            )
            for at, tag in due:
                self.now = at
                job = self.open[tag].job
                self._timed_out.append((at, tag, job))
                self._fail(job, Code.TIMEOUT)
                self._close(tag, Code.TIMEOUT)
        self.now = max(self.now, ns)
        while self._timed_out and self._timed_out[0][0] + TIMEOUT_SLACK_NS <= self.now:
            self._timed_out.popleft()

    # ---- data and done

    def next_beat(self, requester: int) -> Gave | None:
        """The next beat of read data that could be given now; behind a fault what is left of the good, then the end."""
        job = self._giving(requester)
        if job is None:
            return None
        if job.fault is not None and job.given + BEAT > job.usable:
            return Gave(self.now, requester, b"\0", True, True)
        take = min(BEAT, job.request.len - job.given)
        if job.given + take > self._usable(job):
            return None
        last = job.given + take == job.request.len
        return Gave(self.now, requester, bytes(job.data[job.given : job.given + take]), last, False)

    def _usable(self, job: _Job) -> int:
        return job.contiguous() if job.fault is None else job.usable

    def _giving(self, requester: int) -> _Job | None:
        for job in self._live[requester]:
            if not job.write and not job.data_ended:
                return job if self._begun(job) else None
        return None

    def give(self, requester: int, data: bytes, last: bool, bad: bool, ns: int) -> list[str]:
        self.advance(ns)
        job = self._giving(requester)
        if job is None:
            return [f"no read of requester {requester} has data to come"]
        if bad:
            job.data_ended = last
            wrong = [] if last else ["tuser[0] without tlast"]
            if job.fault is None:
                wrong.append("a bad end of a read without a fault")
            return wrong + ([] if data == b"\0" else [f"the bad end holds {data.hex()}, not one byte of 0"])
        end = job.given + len(data)
        wrong = []
        if len(data) != BEAT and not last:
            wrong.append(f"{len(data)} bytes in the midst of a frame")
        if end > self._usable(job):
            wrong.append(f"bytes {job.given} to {end - 1} given, {self._usable(job)} have come")
        elif bytes(job.data[job.given : end]) != data:
            wrong.append(f"bytes {job.given} to {end - 1} are {data.hex()}, not {job.data[job.given : end].hex()}")
        if last != (end >= job.request.len) or end > job.request.len:
            wrong.append(f"tlast {last:d} at byte {end} of {job.request.len}")
        job.given = end
        job.data_ended = last
        return wrong

    def may_end(self) -> Iterator[tuple[int, int, Code]]:
        """Requests whose ``done`` may come now: requester, id, code."""
        for requester in range(self.config.requesters):
            for job in self._next_to_end(requester):
                if job.finished():
                    yield requester, job.request.id, job.code

    def _next_to_end(self, requester: int) -> list[_Job]:
        """The oldest request of each kind, where it has begun."""
        heads: dict[bool, _Job] = {}
        for job in self._live[requester]:
            heads.setdefault(job.write, job)
        return [job for job in heads.values() if self._begun(job)]

    def end(self, requester: int, request_id: int, code: int, ns: int) -> list[str]:
        self.advance(ns)
        heads = [job for job in self._next_to_end(requester) if job.request.id == request_id]
        if not heads:
            return [f"no request {request_id} of requester {requester} is the next to be done"]
        heads.sort(key=lambda job: (not job.finished(), job.code != code))
        job = heads[0]
        wrong = [] if job.finished() else [f"request {request_id} isn't finished: {_unfinished(job)}"]
        if code != job.code:
            wrong.append(f"code {code}, not {job.code.value} {job.code.name.lower()}")
        self._live[requester].remove(job)
        self.counters[f"done_{job.code.name.lower()}"] += 1
        return wrong

    # ---- at rest

    def finish(self) -> list[str]:
        """What is still held where everything should have come to its end."""
        left = [
            f"request {job.request.id} of requester {job.request.requester} isn't done: {_unfinished(job)}"
            for live in self._live
            for job in live
        ]
        return left + [f"tag {tag} is in use" for tag in sorted(self.open)]

    def check_counters(self, values: Mapping[str, int]) -> list[Violation]:
        """Counters as they were read against what they must be."""
        return [
            Violation(f"counter {name}", f"{values[name]}, not {self.counters[name]}")
            for name in values
            if values[name] != self.counters[name]
        ]


def _holds(job: _Job, read: _Read) -> bool:
    """Whether the lines of a TLP are held: until its last byte was given out, behind a fault while it is under way."""
    if job.fault is not None:
        return not read.closed
    end = read.offset + read.bytes
    # What shares a beat with the next TLP waits for it, and would else hold the lines that it needs.
    alone = end if end == job.request.len else end - end % BEAT
    return read.got < read.bytes or job.given < alone


def _bytes_of(tlp: MemoryRequest) -> Part:
    """Memory bytes that a request covers, by its byte enables, which are those of ``byte_enables``."""
    if not tlp.first_be:
        return Part(tlp.address, 0)
    first = (tlp.first_be & -tlp.first_be).bit_length() - 1
    end = 4 * (tlp.length - 1) + (tlp.last_be or tlp.first_be).bit_length()
    return Part(tlp.address + first, end - first)


def _kind(tlp: MemoryRequest) -> str:
    return f"{'write' if tlp.write else 'read'} of {tlp.length} DWs at {tlp.address:#x}"


FIELDS = ("write", "address", "length", "first_be", "last_be", "tag", "requester_id", "attr", "tc", "td", "ep", "at")


def _differences(tlp: MemoryRequest, expected: MemoryRequest) -> list[str]:
    wrong = [
        f"{name} {getattr(tlp, name):#x}, not {getattr(expected, name):#x}"
        for name in FIELDS
        if getattr(tlp, name) != getattr(expected, name)
    ]
    if tlp.data != expected.data:
        at = next(
            (n for n, (got, want) in enumerate(zip(tlp.data, expected.data, strict=False)) if got != want),
            min(len(tlp.data), len(expected.data)),
        )
        wrong.append(f"payload differs from byte {at} on")
    return wrong


def _unfinished(job: _Job) -> str:
    if not job.all_sent and job.fault is None:
        return f"{job.sent} of {len(job.parts)} TLPs have left"
    if job.wants_flush:
        return "its flush hasn't left"
    if job.open:
        return f"{job.open} reads are under way"
    return f"{job.given} of {job.request.len} bytes were given"


def check(config: Config, regions: Regions, events: Sequence[Event], at_rest: bool = True) -> list[Violation]:
    """All violations of the page in what a bench has seen, in order. at_rest: all requests should have ended."""
    model = DmaModel(config, regions)
    found = []
    for n, event in enumerate(events):
        place = f"event {n} at {event.ns} ns, {type(event).__name__.lower()}"
        found += [Violation(place, reason) for reason in play(model, event)]
    if at_rest:
        found += [Violation("the end", reason) for reason in model.finish()]
    return found


def play(model: DmaModel, event: Event) -> Iterable[str]:
    """One event."""
    match event:
        case Submitted(ns, request):
            model.advance(ns)
            return model.submit(request)
        case Limits(ns, limits):
            model.advance(ns)
            for name, value in limits.items():
                model.credits[name].infinite = value is None
                model.credits[name].limit = (value or 0) % model.credits[name].modulus
            return []
        case Sent(ns, requester, tlp):
            return model.send(requester, tlp, ns)
        case Came(ns, completion):
            return model.complete(completion, ns)
        case Gave(ns, requester, data, last, bad):
            return model.give(requester, data, last, bad, ns)
        case Ended(ns, requester, request_id, code):
            return model.end(requester, request_id, code, ns)
