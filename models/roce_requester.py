"""The requester: work requests into packets, answers into completions (docs/roce.md, Requester).

InfiniBand Architecture Specification, volume 1, 9.7.3, 9.7.6, 9.7.7, 9.9.2. Time is in ns.
"""

from __future__ import annotations

from models.roce import Route
from models.roce_memory import Memory, Right
from models.roce_packet import PSN_SPACE, AtomicEth, Deth, Op, Packet, Reth, Service, ahead, opcode, operation
from models.roce_qp import ANSWERED, LONGEST, RNR_TIMES, Drop, Job, Qp, Send, State, Status, Verb, timeout_of
from models.roce_responder import NAK, RNR, Nak, packets_of

__all__ = ["MOST_PSNS", "Requester"]

MOST_PSNS = 1 << 22
"""Of one work request, so that with a window as large all PSNs in flight are less than half of them (9.7.1)."""
FOREVER = 7
ERRORS = {
    Nak.INVALID: Status.REMOTE_INVALID,
    Nak.ACCESS: Status.REMOTE_ACCESS,
    Nak.OPERATIONAL: Status.REMOTE_OPERATION,
}
PARTS = {
    Verb.SEND: (Op.SEND_FIRST, Op.SEND_MIDDLE, Op.SEND_LAST, Op.SEND_ONLY),
    Verb.SEND_IMM: (Op.SEND_FIRST, Op.SEND_MIDDLE, Op.SEND_LAST_IMM, Op.SEND_ONLY_IMM),
    Verb.SEND_INV: (Op.SEND_FIRST, Op.SEND_MIDDLE, Op.SEND_LAST_INV, Op.SEND_ONLY_INV),
    Verb.WRITE: (Op.WRITE_FIRST, Op.WRITE_MIDDLE, Op.WRITE_LAST, Op.WRITE_ONLY),
    Verb.WRITE_IMM: (Op.WRITE_FIRST, Op.WRITE_MIDDLE, Op.WRITE_LAST_IMM, Op.WRITE_ONLY_IMM),
}
WRITES = {Op.WRITE_FIRST, Op.WRITE_ONLY, Op.WRITE_ONLY_IMM}
IMMEDIATE = {Op.SEND_LAST_IMM, Op.SEND_ONLY_IMM, Op.WRITE_LAST_IMM, Op.WRITE_ONLY_IMM}
INVALIDATE = {Op.SEND_LAST_INV, Op.SEND_ONLY_INV}
WORD = 8


class Requester:
    """Work requests of a queue pair to packets; its state lies in the queue pair."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @staticmethod
    def oldest(qp: Qp) -> int:
        """First PSN that isn't acknowledged."""
        return qp.jobs[0].next if qp.jobs else qp.next_psn

    def send(self, qp: Qp, now: int) -> tuple[Route, Packet] | None:
        """The next packet, if there is one that may go now."""
        if qp.state not in (State.RTS, State.SQD) or now < qp.not_before:
            return None
        if qp.context.service == Service.UD:
            return self._datagram(qp)
        if qp.send_psn == qp.next_psn and not self._begin(qp):
            return None
        job = next(job for job in qp.jobs if 0 <= ahead(qp.send_psn, job.psn) < job.count)
        if job.request.verb not in ANSWERED and ahead(qp.send_psn, self.oldest(qp)) >= qp.context.window:
            return None
        index = ahead(qp.send_psn, job.psn)
        packet = self._packet(qp, job, index)
        steps = job.count - index if job.request.verb in ANSWERED else 1
        qp.since_ack = 0 if packet.ack_request else qp.since_ack + 1
        qp.send_psn = (qp.send_psn + steps) % PSN_SPACE
        if ahead(qp.send_psn, qp.sent_psn) > 0:
            qp.sent_psn = qp.send_psn
        if qp.deadline is None:
            self._wind(qp, now)
        assert qp.context.route is not None
        return qp.context.route, packet

    def _begin(self, qp: Qp) -> bool:
        """PSNs for the next work request, if it may begin."""
        if not qp.sends or qp.state != State.RTS:
            return False
        request = qp.sends[0]
        waiting = sum(job.request.verb in ANSWERED for job in qp.jobs)
        if (request.verb in ANSWERED and waiting >= max(1, qp.context.reads_out)) or (request.fence and waiting):
            return False
        if ahead(qp.next_psn, self.oldest(qp)) >= qp.context.window:
            return False
        count = packets_of(request.length, qp.context.mtu)
        status = self._fault(qp, request, count)
        if status is not None:
            if not qp.jobs:
                # what came before it is completed before it
                qp.sends.popleft()
                self._fail(qp, request, status)
            return False
        qp.sends.popleft()
        qp.jobs.append(Job(request=request, psn=qp.next_psn, count=count, next=qp.next_psn))
        qp.next_psn = (qp.next_psn + count) % PSN_SPACE
        return True

    def _fault(self, qp: Qp, request: Send, count: int) -> Status | None:
        atomic = request.verb in (Verb.COMPARE_SWAP, Verb.FETCH_ADD)
        if request.length > LONGEST or count > MOST_PSNS or (atomic and request.length != WORD):
            return Status.LOCAL_LENGTH
        if request.verb in ANSWERED and qp.context.reads_out == 0:
            return Status.LOCAL_OPERATION
        right = Right.LOCAL_WRITE if request.verb in ANSWERED else Right.LOCAL_READ
        return Status.LOCAL_PROTECTION if self.memory.list_fault(request.pieces, right) else None

    @staticmethod
    def _fail(qp: Qp, request: Send, status: Status, state: State = State.ERR) -> None:
        qp.complete(request.wr_id, status)
        qp.fail(state)

    def _packet(self, qp: Qp, job: Job, index: int) -> Packet:
        """Packet ``index`` of a work request; of a READ, the request for what is left from there."""
        context, request = qp.context, job.request
        psn = (job.psn + index) % PSN_SPACE
        begin = index * context.mtu
        base = Packet(opcode=0, qpn=context.peer, psn=psn, key=context.p_key, migrated=context.migrated)
        if request.verb == Verb.READ:
            job.begins.add(psn)
            reth = Reth(request.address + begin, request.key, request.length - begin)
            return self._with(base, Op.READ_REQUEST, ack_request=True, reth=reth)
        if request.verb in ANSWERED:
            add = request.verb == Verb.FETCH_ADD
            atomic = AtomicEth(request.address, request.key, request.swap, 0 if add else request.compare)
            return self._with(base, Op.FETCH_ADD if add else Op.COMPARE_SWAP, ack_request=True, atomic=atomic)
        first, middle, last, only = PARTS[request.verb]
        end = index == job.count - 1
        op = (only if end else first) if index == 0 else (last if end else middle)
        closes = ahead(psn, self.oldest(qp)) + 1 >= context.window
        return self._with(
            base,
            op,
            ack_request=end or closes or qp.since_ack + 1 >= context.ack_every,
            solicited=end and request.solicited and request.verb != Verb.WRITE,
            payload=self.memory.gather(request.pieces, begin, min(context.mtu, request.length - begin)),
            reth=Reth(request.address, request.key, request.length) if op in WRITES else None,
            imm=request.imm if op in IMMEDIATE else None,
            invalidate=request.imm if op in INVALIDATE else None,
        )

    @staticmethod
    def _with(base: Packet, op: Op, **more: object) -> Packet:
        return Packet(**{**vars(base), "opcode": opcode(Service.RC, op), **more})

    def _datagram(self, qp: Qp) -> tuple[Route, Packet] | None:
        if not qp.sends or qp.state != State.RTS:
            return None
        request = qp.sends.popleft()
        status = None
        if request.verb not in (Verb.SEND, Verb.SEND_IMM) or request.route is None:
            status = Status.LOCAL_OPERATION
        elif request.length > qp.context.mtu:
            status = Status.LOCAL_LENGTH
        elif self.memory.list_fault(request.pieces, Right.LOCAL_READ):
            status = Status.LOCAL_PROTECTION
        if status is not None or request.route is None:
            self._fail(qp, request, status or Status.LOCAL_OPERATION, State.SQE)
            return None
        imm = request.verb == Verb.SEND_IMM
        packet = Packet(
            opcode=opcode(Service.UD, Op.SEND_ONLY_IMM if imm else Op.SEND_ONLY),
            qpn=request.peer,
            psn=qp.next_psn,
            key=qp.context.p_key,
            migrated=qp.context.migrated,
            solicited=request.solicited,
            deth=Deth(request.q_key, qp.number),
            imm=request.imm if imm else None,
            payload=self.memory.gather(request.pieces, 0, request.length),
        )
        qp.next_psn = (qp.next_psn + 1) % PSN_SPACE
        self._completed(qp, request)
        return request.route, packet

    @staticmethod
    def _completed(qp: Qp, request: Send) -> None:
        if request.signaled:
            qp.complete(request.wr_id, Status.SUCCESS, length=request.length)

    @staticmethod
    def _wind(qp: Qp, now: int) -> None:
        """The timer, from now."""
        time = timeout_of(qp.context.timeout)
        qp.deadline = None if time is None else now + time

    def _progress(self, qp: Qp, now: int) -> None:
        """Something was acknowledged: retries are whole again, the timer begins anew."""
        qp.retries, qp.rnr_retries, qp.rewound = qp.context.retry, qp.context.rnr_retry, False
        if ahead(qp.send_psn, self.oldest(qp)) < 0:
            qp.send_psn = self.oldest(qp)
        qp.deadline = None
        if qp.jobs and qp.sent_psn != self.oldest(qp):
            self._wind(qp, now)

    def _acknowledge(self, qp: Qp, through: int, now: int) -> bool:
        """All up to a PSN is acknowledged; False where a READ or an atomic among it has no answer."""
        before = self.oldest(qp)
        whole = True
        while qp.jobs and ahead(through, qp.jobs[0].next) >= 0:
            job = qp.jobs[0]
            if job.request.verb in ANSWERED:
                whole = False
                break
            end = (job.psn + job.count) % PSN_SPACE
            job.next = end if ahead(through + 1, end) >= 0 else (through + 1) % PSN_SPACE
            if job.next == end:
                qp.jobs.popleft()
                self._completed(qp, job.request)
        if self.oldest(qp) != before:
            self._progress(qp, now)
        return whole

    def _again(self, qp: Qp, now: int) -> None:
        """Back to the oldest PSN, once an event; a retry less (9.7.5.2.1, 9.7.6)."""
        if qp.rewound:
            return
        qp.rewound = True
        self._retry(qp, now)

    def _retry(self, qp: Qp, now: int) -> None:
        if qp.retries == 0:
            self._fail(qp, qp.jobs.popleft().request, Status.RETRIES)
            return
        qp.retries -= 1
        qp.send_psn = self.oldest(qp)
        self._wind(qp, now)

    def expire(self, qp: Qp, now: int) -> None:
        """The timer, if it has run out."""
        if qp.deadline is not None and now >= qp.deadline and qp.jobs:
            qp.rewound = False
            self._retry(qp, now)

    def take(self, qp: Qp, packet: Packet, now: int) -> Drop | None:
        """An answer."""
        oldest = self.oldest(qp)
        if not qp.jobs or not 0 <= ahead(packet.psn, oldest) < ahead(qp.sent_psn, oldest):
            return Drop.STALE
        op = operation(packet.opcode)
        if op != Op.ACK:
            return self._answer(qp, packet, op, now)
        assert packet.aeth is not None
        kind = packet.aeth.syndrome & 0xE0
        if kind == 0:
            if not self._acknowledge(qp, packet.psn, now):
                self._again(qp, now)
                return Drop.LOST_ANSWER
            return None
        if kind not in (RNR, NAK):
            return Drop.MALFORMED
        if now < qp.not_before:
            # said again while it is obeyed
            return Drop.STALE
        if not self._acknowledge(qp, packet.psn - 1, now):
            self._again(qp, now)
            return Drop.LOST_ANSWER
        if kind == RNR:
            self._not_ready(qp, packet.aeth.syndrome & 0x1F, now)
        elif packet.aeth.syndrome == NAK | Nak.SEQUENCE:
            self._again(qp, now)
        else:
            code = packet.aeth.syndrome & 0x1F
            if code not in (Nak.INVALID, Nak.ACCESS, Nak.OPERATIONAL):
                return Drop.MALFORMED
            self._fail(qp, qp.jobs.popleft().request, ERRORS[Nak(code)])
        return None

    def _not_ready(self, qp: Qp, code: int, now: int) -> None:
        if qp.context.rnr_retry != FOREVER:
            if qp.rnr_retries == 0:
                self._fail(qp, qp.jobs.popleft().request, Status.RNR_RETRIES)
                return
            qp.rnr_retries -= 1
        qp.send_psn = self.oldest(qp)
        qp.not_before = now + RNR_TIMES[code] * 1000
        qp.deadline = None
        qp.rewound = False

    def _answer(self, qp: Qp, packet: Packet, op: Op, now: int) -> Drop | None:
        """Data that come back. It acknowledges what was before it; what is missing before it is asked for again."""
        job = next(job for job in qp.jobs if 0 <= ahead(packet.psn, job.psn) < job.count)
        if job.request.verb not in ANSWERED or (op == Op.ATOMIC_ACK) == (job.request.verb == Verb.READ):
            return Drop.STALE
        if not self._acknowledge(qp, job.psn - 1, now) or packet.psn != job.next:
            self._again(qp, now)
            return Drop.LOST_ANSWER
        if packet.aeth is not None and packet.aeth.syndrome & 0xE0:
            return Drop.MALFORMED
        request = job.request
        index = ahead(packet.psn, job.psn)
        if op == Op.ATOMIC_ACK:
            assert packet.original is not None
            data = packet.original.to_bytes(WORD, "little")
        else:
            data = packet.payload
            if not self._fits(qp, job, packet, op, index):
                self._fail(qp, qp.jobs.popleft().request, Status.BAD_RESPONSE)
                return Drop.REFUSED
        offset = index * qp.context.mtu
        if self.memory.list_fault(self.memory.cut(request.pieces, offset, len(data)), Right.LOCAL_WRITE):
            self._fail(qp, qp.jobs.popleft().request, Status.LOCAL_PROTECTION)
            return Drop.REFUSED
        self.memory.scatter(request.pieces, offset, data)
        job.next = (job.next + 1) % PSN_SPACE
        if index == job.count - 1:
            qp.jobs.popleft()
            self._completed(qp, request)
        self._progress(qp, now)
        return None

    @staticmethod
    def _fits(qp: Qp, job: Job, packet: Packet, op: Op, index: int) -> bool:
        """Last or only where the READ ends, first or only where a request of it began, with the bytes of its place."""
        last = index == job.count - 1
        size = job.request.length - index * qp.context.mtu if last else qp.context.mtu
        begins = packet.psn in job.begins
        if op in (Op.READ_FIRST, Op.READ_ONLY) and not begins:
            return False
        if op in (Op.READ_MIDDLE, Op.READ_LAST) and index == 0:
            return False
        return (op in (Op.READ_LAST, Op.READ_ONLY)) == last and len(packet.payload) == size
