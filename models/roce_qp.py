"""Queue pairs: states, contexts, work requests, completions (docs/roce.md, Queue pairs, Work requests).

InfiniBand Architecture Specification, volume 1, 10.3.1 (states), 10.7, 10.8 (work requests), 11.6.2 (statuses).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from models.roce import Route
from models.roce_memory import Sge
from models.roce_packet import Aeth, Packet, Reth, Service

__all__ = [
    "MTUS",
    "RNR_TIMES",
    "Answer",
    "Completion",
    "Context",
    "Drop",
    "Incoming",
    "Qp",
    "Receive",
    "Send",
    "State",
    "Status",
    "Verb",
    "timeout_of",
]

MTUS = (256, 512, 1024, 2048, 4096)
LONGEST = 1 << 31
"""Bytes of a message (9.7.7)."""
RNR_TIMES = (
    *(655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680),
    *(10_240, 15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520),
)
"""Microseconds of each RNR timer code (table 45)."""


class State(IntEnum):
    """10.3.1."""

    RESET = 0
    INIT = 1
    RTR = 2
    RTS = 3
    SQD = 4
    SQE = 5
    ERR = 6


ALLOWED = {
    State.RESET: {State.INIT},
    State.INIT: {State.INIT, State.RTR},
    State.RTR: {State.RTS},
    State.RTS: {State.RTS, State.SQD},
    State.SQD: {State.SQD, State.RTS},
    State.SQE: {State.RTS},
    State.ERR: set(),
}
"""What software may set, apart from RESET and ERR, which it may always set (figure 124)."""


class Verb(IntEnum):
    """Of a send queue's work request."""

    SEND = 0
    SEND_IMM = 1
    SEND_INV = 2
    WRITE = 3
    WRITE_IMM = 4
    READ = 5
    COMPARE_SWAP = 6
    FETCH_ADD = 7


ANSWERED = {Verb.READ, Verb.COMPARE_SWAP, Verb.FETCH_ADD}
"""Verbs that bring data back."""


class Status(IntEnum):
    """Of a completion."""

    SUCCESS = 0
    LOCAL_LENGTH = 1
    LOCAL_OPERATION = 2
    LOCAL_PROTECTION = 4
    FLUSHED = 5
    BAD_RESPONSE = 7
    REMOTE_INVALID = 9
    REMOTE_ACCESS = 10
    REMOTE_OPERATION = 11
    RETRIES = 12
    RNR_RETRIES = 13


class Drop(IntEnum):
    """Why a packet isn't taken as new work or as an awaited answer: the disposition code."""

    MALFORMED = 82
    NO_QP = 83
    STATE = 84
    OPCODE = 85
    P_KEY = 86
    Q_KEY = 87
    ADDRESS = 88
    DUPLICATE = 89
    SEQUENCE = 90
    NO_RECEIVE = 91
    REFUSED = 92
    STALE = 93
    LENGTH = 94
    LOST_ANSWER = 95


@dataclass(frozen=True, kw_only=True)
class Context:
    """What software sets. timeout: 4.096 us * 2^timeout, 0 never; rnr_retry 7: for ever; rnr_timer: code sent."""

    service: Service = Service.RC
    route: Route | None = None
    peer: int = 0
    mtu: int = 1024
    p_key: int = 0xFFFF
    q_key: int = 0
    send_psn: int = 0
    receive_psn: int = 0
    timeout: int = 14
    retry: int = 7
    rnr_retry: int = 7
    rnr_timer: int = 12
    reads_out: int = 4
    reads_in: int = 4
    migrated: bool = True
    window: int = 256
    """Most packets, answers included, between the oldest that isn't acknowledged and the next one."""
    ack_every: int = 64
    """AckReq at least every so many packets, below ``window``."""


@dataclass(frozen=True, kw_only=True)
class Send:
    """A work request of a send queue. route, peer, q_key: of a datagram."""

    wr_id: int
    verb: Verb
    pieces: Sequence[Sge] = ()
    address: int = 0
    key: int = 0
    imm: int = 0
    swap: int = 0
    compare: int = 0
    signaled: bool = True
    solicited: bool = False
    fence: bool = False
    route: Route | None = None
    peer: int = 0
    q_key: int = 0

    @property
    def length(self) -> int:
        return sum(piece.length for piece in self.pieces)


@dataclass(frozen=True, kw_only=True)
class Receive:
    """A work request of a receive queue."""

    wr_id: int
    pieces: Sequence[Sge] = ()

    @property
    def length(self) -> int:
        return sum(piece.length for piece in self.pieces)


@dataclass(frozen=True, kw_only=True)
class Completion:
    """received: of a receive queue; then imm, invalidated and source are what came."""

    wr_id: int
    qpn: int
    status: Status
    received: bool = False
    length: int = 0
    imm: int | None = None
    invalidated: int | None = None
    source: int | None = None
    solicited: bool = False


@dataclass(kw_only=True)
class Incoming:
    """A message that has begun to come. key and address: of a WRITE; receive: of a SEND."""

    write: Reth | None = None
    receive: Receive | None = None
    offset: int = 0


@dataclass(kw_only=True)
class Answer:
    """A READ or atomic that was done, kept for its duplicates."""

    psn: int
    count: int
    reth: Reth | None = None
    packet: Packet | None = None
    """An atomic's request; its answer is ``original``."""
    original: int = 0
    aeth: Aeth | None = None


@dataclass(kw_only=True)
class Job:
    """A work request whose PSNs are given. next: first PSN whose answer is awaited; begins: PSNs of READ requests."""

    request: Send
    psn: int
    count: int
    next: int
    begins: set[int] = field(default_factory=set)
    fault: Status | None = None


def timeout_of(code: int) -> int | None:
    """Nanoseconds of the local ACK timeout (9.7.6.1.3)."""
    return 4096 << code if code else None


@dataclass
class Qp:
    """A queue pair: context, queues and what its two halves remember. ``receives`` may be shared with others."""

    number: int
    completions: list[Completion]
    receives: deque[Receive] = field(default_factory=deque)
    shared: bool = False
    state: State = State.RESET
    context: Context = field(default_factory=Context)
    sends: deque[Send] = field(default_factory=deque)
    # requester
    jobs: deque[Job] = field(default_factory=deque)
    next_psn: int = 0
    """First PSN that no work request has."""
    send_psn: int = 0
    """PSN of the packet that is sent next: behind ``next_psn`` while packets are sent again."""
    sent_psn: int = 0
    """First PSN that was never sent."""
    retries: int = 0
    rnr_retries: int = 0
    deadline: int | None = None
    not_before: int = 0
    rewound: bool = False
    since_ack: int = 0
    # responder
    expected: int = 0
    msn: int = 0
    incoming: Incoming | None = None
    naked: bool = False
    """A NAK or RNR NAK was sent for ``expected``; nothing more is said until that packet comes."""
    answers: deque[Answer] = field(default_factory=deque)

    def modify(self, state: State, **what: object) -> None:
        """Change of state with attributes, as 11.2.5.2 has it. To RESET: nothing of before is left."""
        if state not in ALLOWED[self.state] | {State.RESET, State.ERR}:
            raise ValueError(f"{self.state.name} to {state.name}")
        if state == State.RESET:
            kept = self.receives if self.shared else deque[Receive]()
            self.__init__(self.number, self.completions, kept, self.shared)  # type: ignore[misc]
            return
        if state == State.ERR:
            self.fail()
            return
        self.context = replace(self.context, **what)  # type: ignore[arg-type]
        if self.context.mtu not in MTUS:
            raise ValueError(f"path MTU {self.context.mtu}")
        if state == State.RTR:
            self.expected = self.context.receive_psn
        if state == State.RTS and self.state == State.RTR:
            self.next_psn = self.send_psn = self.sent_psn = self.context.send_psn
            self.retries, self.rnr_retries = self.context.retry, self.context.rnr_retry
        self.state = state

    def fail(self, state: State = State.ERR) -> None:
        """To ERR (or SQE): what is in the queues completes flushed, once, in order; a shared queue is left alone."""
        if self.state in (State.RESET, State.ERR):
            self.state = state if self.state == State.RESET else State.ERR
            return
        self.state = state
        flushed = [job.request for job in self.jobs] + list(self.sends)
        self.jobs.clear()
        self.sends.clear()
        self.deadline = None
        for request in flushed:
            self.complete(request.wr_id, Status.FLUSHED)
        if state == State.SQE:
            return
        if self.incoming and self.incoming.receive:
            self.complete(self.incoming.receive.wr_id, Status.FLUSHED, received=True)
        self.incoming = None
        while self.receives and not self.shared:
            self.complete(self.receives.popleft().wr_id, Status.FLUSHED, received=True)

    def complete(self, wr_id: int, status: Status, **more: object) -> None:
        """One more entry of the completion queue."""
        self.completions.append(Completion(wr_id=wr_id, qpn=self.number, status=status, **more))  # type: ignore[arg-type]

    def post_send(self, request: Send) -> None:
        """10.7: refused below RTS, flushed at once in ERR and SQE."""
        if self.state < State.RTS:
            raise ValueError(f"a send request in {self.state.name}")
        if self.state in (State.ERR, State.SQE):
            self.complete(request.wr_id, Status.FLUSHED)
        else:
            self.sends.append(request)

    def post_receive(self, request: Receive) -> None:
        """Refused in RESET, flushed at once in ERR (a shared queue belongs to no state)."""
        if self.shared or self.state not in (State.RESET, State.ERR):
            self.receives.append(request)
        elif self.state == State.RESET:
            raise ValueError("a receive request in RESET")
        else:
            self.complete(request.wr_id, Status.FLUSHED, received=True)
