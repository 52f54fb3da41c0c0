"""The responder: what a queue pair answers to requests (docs/roce.md, Responder).

InfiniBand Architecture Specification, volume 1, 9.7.4, 9.7.5 (RC), 9.8.3 (UD), 9.9.3 (errors).
"""

from __future__ import annotations

from enum import IntEnum

from models.roce_memory import Fault, Memory, Right
from models.roce_packet import PSN_SPACE, Aeth, Op, Packet, Reth, Service, ahead, opcode, operation
from models.roce_qp import LONGEST, Answer, Drop, Incoming, Qp, Receive, State, Status

__all__ = ["GRH", "NAK", "RNR", "UNLIMITED", "Nak", "Responder"]

UNLIMITED = 0x1F
"""Syndrome of an ACK that says nothing of credits (9.7.7.2)."""
RNR = 0x20
NAK = 0x60
GRH = 40
"""Bytes in front of a datagram's payload in its buffer (annex A17.4.5.1: 20 unused ones before an IPv4 header)."""
WORD = 8


class Nak(IntEnum):
    """Codes of table 46."""

    SEQUENCE = 0
    INVALID = 1
    ACCESS = 2
    OPERATIONAL = 3


FIRST = {Op.SEND_FIRST, Op.WRITE_FIRST}
ONLY = {Op.SEND_ONLY, Op.SEND_ONLY_IMM, Op.SEND_ONLY_INV, Op.WRITE_ONLY, Op.WRITE_ONLY_IMM}
SEND_MORE = {Op.SEND_MIDDLE, Op.SEND_LAST, Op.SEND_LAST_IMM, Op.SEND_LAST_INV}
WRITE_MORE = {Op.WRITE_MIDDLE, Op.WRITE_LAST, Op.WRITE_LAST_IMM}
MIDDLE = {Op.SEND_MIDDLE, Op.WRITE_MIDDLE}
ATOMIC = {Op.COMPARE_SWAP, Op.FETCH_ADD}
SENDS = {Op.SEND_FIRST, Op.SEND_ONLY, Op.SEND_ONLY_IMM, Op.SEND_ONLY_INV} | SEND_MORE
TAKES = {Op.SEND_FIRST, Op.SEND_ONLY, Op.SEND_ONLY_IMM, Op.SEND_ONLY_INV, Op.WRITE_ONLY_IMM, Op.WRITE_LAST_IMM}
"""What takes a receive request."""
Result = tuple[list[Packet], Drop | None]


def packets_of(length: int, mtu: int) -> int:
    """Of a message: a message without bytes is one packet."""
    return max(1, -(-length // mtu))


class Responder:
    """Requests into memory and answers. State lies in the queue pair."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def take(self, qp: Qp, packet: Packet) -> Result:
        """Answers in their order, and why the packet is no new work."""
        op = operation(packet.opcode)
        distance = ahead(packet.psn, qp.expected)
        if distance < 0:
            return self._duplicate(qp, packet, op), Drop.DUPLICATE
        if distance > 0:
            if qp.naked:
                return [], Drop.SEQUENCE
            qp.naked = True
            return [self._ack(qp, qp.expected, NAK | Nak.SEQUENCE)], Drop.SEQUENCE
        qp.naked = False
        if not self._in_sequence(qp, op) or not self._length_right(qp, packet, op):
            return self._refuse(qp, Nak.INVALID, Status.REMOTE_INVALID)
        if op in TAKES and not qp.receives:
            qp.naked = True
            return [self._ack(qp, qp.expected, RNR | qp.context.rnr_timer)], Drop.NO_RECEIVE
        if op == Op.READ_REQUEST:
            return self._read(qp, packet)
        if op in ATOMIC:
            return self._atomic(qp, packet, op)
        return self._send(qp, packet, op) if op in SENDS else self._write(qp, packet, op)

    @staticmethod
    def _in_sequence(qp: Qp, op: Op) -> bool:
        if qp.incoming is None:
            return op not in SEND_MORE | WRITE_MORE
        return op in (SEND_MORE if qp.incoming.write is None else WRITE_MORE)

    @staticmethod
    def _length_right(qp: Qp, packet: Packet, op: Op) -> bool:
        """9.7.4.1.5 (payload), 9.7.4.1.6 (a WRITE's whole length), 9.4.5 (atomics)."""
        length, mtu = len(packet.payload), qp.context.mtu
        if packet.atomic is not None:
            return packet.atomic.address % WORD == 0
        if packet.reth is not None and packet.reth.length > LONGEST:
            return False
        if op == Op.READ_REQUEST:
            return True
        if op in FIRST | MIDDLE:
            right = length == mtu
        elif op in ONLY:
            right = length <= mtu
        else:
            right = 0 < length <= mtu
        if op == Op.WRITE_FIRST:
            return right and packet.reth is not None and packet.reth.length > length
        if op in (Op.WRITE_ONLY, Op.WRITE_ONLY_IMM):
            return right and packet.reth is not None and packet.reth.length == length
        if op in WRITE_MORE and qp.incoming is not None and qp.incoming.write is not None:
            left = qp.incoming.write.length - qp.incoming.offset
            return right and (length < left if op in MIDDLE else length == left)
        return right

    @staticmethod
    def _ack(qp: Qp, psn: int, syndrome: int = UNLIMITED) -> Packet:
        return Packet(
            opcode=opcode(Service.RC, Op.ACK),
            qpn=qp.context.peer,
            psn=psn % PSN_SPACE,
            key=qp.context.p_key,
            migrated=qp.context.migrated,
            aeth=Aeth(syndrome, qp.msn),
        )

    def _refuse(self, qp: Qp, code: Nak, status: Status, receive: Receive | None = None) -> Result:
        """One NAK, and the queue pair is in error; the receive request that was being filled says why."""
        nak = self._ack(qp, qp.expected, NAK | code)
        if qp.incoming is not None and qp.incoming.receive is not None:
            receive = qp.incoming.receive
        qp.incoming = None
        if receive is not None:
            qp.complete(receive.wr_id, status, received=True)
        qp.fail(State.ERR)
        return [nak], Drop.REFUSED

    def _done(self, qp: Qp, packet: Packet, last: bool) -> Result:
        """The packet was taken. It is acknowledged where that is asked for."""
        acked = qp.expected
        qp.expected = (qp.expected + 1) % PSN_SPACE
        if last:
            qp.msn = (qp.msn + 1) % PSN_SPACE
            qp.incoming = None
        return ([self._ack(qp, acked)] if packet.ack_request else []), None

    def _send(self, qp: Qp, packet: Packet, op: Op) -> Result:
        if qp.incoming is None:
            qp.incoming = Incoming(receive=qp.receives.popleft())
        receive = qp.incoming.receive
        assert receive is not None
        offset = qp.incoming.offset
        if offset + len(packet.payload) > receive.length:
            return self._refuse(qp, Nak.INVALID, Status.LOCAL_LENGTH)
        pieces = self.memory.cut(receive.pieces, offset, len(packet.payload))
        if self.memory.list_fault(pieces, Right.LOCAL_WRITE):
            return self._refuse(qp, Nak.OPERATIONAL, Status.LOCAL_PROTECTION)
        if packet.invalidate is not None and packet.invalidate not in self.memory.regions:
            return self._refuse(qp, Nak.ACCESS, Status.REMOTE_ACCESS)
        self.memory.scatter(receive.pieces, offset, packet.payload)
        qp.incoming.offset += len(packet.payload)
        last = op not in FIRST | MIDDLE
        if last:
            if packet.invalidate is not None:
                del self.memory.regions[packet.invalidate]
            self._received(qp, receive, packet, qp.incoming.offset)
        return self._done(qp, packet, last)

    @staticmethod
    def _received(qp: Qp, receive: Receive, packet: Packet, length: int) -> None:
        qp.complete(
            receive.wr_id,
            Status.SUCCESS,
            received=True,
            length=length,
            imm=packet.imm,
            invalidated=packet.invalidate,
            source=packet.deth.source if packet.deth else qp.context.peer,
            solicited=packet.solicited,
        )

    def _write(self, qp: Qp, packet: Packet, op: Op) -> Result:
        if packet.reth is not None:
            reth = packet.reth
            if self.memory.fault(reth.key, reth.address, reth.length, Right.REMOTE_WRITE):
                return self._refuse(qp, Nak.ACCESS, Status.REMOTE_ACCESS)
            qp.incoming = Incoming(write=reth)
        assert qp.incoming is not None and qp.incoming.write is not None
        target = qp.incoming.write
        # the region may have gone since the message began
        place = target.address + qp.incoming.offset
        if self.memory.fault(target.key, place, len(packet.payload), Right.REMOTE_WRITE):
            return self._refuse(qp, Nak.ACCESS, Status.REMOTE_ACCESS)
        self.memory.write(target.key, place, packet.payload)
        qp.incoming.offset += len(packet.payload)
        if op in TAKES:
            self._received(qp, qp.receives.popleft(), packet, target.length)
        return self._done(qp, packet, op not in FIRST | MIDDLE)

    def _keep(self, qp: Qp, answer: Answer) -> None:
        qp.answers.append(answer)
        while len(qp.answers) > qp.context.reads_in:
            qp.answers.popleft()

    def _read(self, qp: Qp, packet: Packet) -> Result:
        reth = packet.reth
        assert reth is not None
        if qp.context.reads_in == 0:
            return self._refuse(qp, Nak.INVALID, Status.REMOTE_INVALID)
        if self.memory.fault(reth.key, reth.address, reth.length, Right.REMOTE_READ):
            return self._refuse(qp, Nak.ACCESS, Status.REMOTE_ACCESS)
        qp.msn = (qp.msn + 1) % PSN_SPACE
        count = packets_of(reth.length, qp.context.mtu)
        qp.expected = (qp.expected + count) % PSN_SPACE
        self._keep(qp, Answer(psn=packet.psn, count=count, reth=reth, aeth=Aeth(UNLIMITED, qp.msn)))
        return self._read_answers(qp, packet.psn, reth), None

    def _read_answers(self, qp: Qp, psn: int, reth: Reth) -> list[Packet]:
        mtu = qp.context.mtu
        count = packets_of(reth.length, mtu)
        out = []
        for n in range(count):
            first, last = n == 0, n == count - 1
            op = {
                (True, True): Op.READ_ONLY,
                (True, False): Op.READ_FIRST,
                (False, False): Op.READ_MIDDLE,
                (False, True): Op.READ_LAST,
            }[first, last]
            size = min(mtu, reth.length - n * mtu)
            out.append(
                Packet(
                    opcode=opcode(Service.RC, op),
                    qpn=qp.context.peer,
                    psn=(psn + n) % PSN_SPACE,
                    key=qp.context.p_key,
                    migrated=qp.context.migrated,
                    aeth=None if op == Op.READ_MIDDLE else Aeth(UNLIMITED, qp.msn),
                    payload=self.memory.read(reth.key, reth.address + n * mtu, size),
                )
            )
        return out

    def _atomic(self, qp: Qp, packet: Packet, op: Op) -> Result:
        atomic = packet.atomic
        assert atomic is not None
        if qp.context.reads_in == 0:
            return self._refuse(qp, Nak.INVALID, Status.REMOTE_INVALID)
        if self.memory.fault(atomic.key, atomic.address, WORD, Right.REMOTE_ATOMIC):
            return self._refuse(qp, Nak.ACCESS, Status.REMOTE_ACCESS)
        original = int.from_bytes(self.memory.read(atomic.key, atomic.address, WORD), "little")
        new = original
        if op == Op.FETCH_ADD:
            new = (original + atomic.swap) % (1 << 64)
        elif original == atomic.compare:
            new = atomic.swap
        if new != original:
            self.memory.write(atomic.key, atomic.address, new.to_bytes(WORD, "little"))
        qp.msn = (qp.msn + 1) % PSN_SPACE
        qp.expected = (qp.expected + 1) % PSN_SPACE
        answer = Answer(psn=packet.psn, count=1, packet=packet, original=original, aeth=Aeth(UNLIMITED, qp.msn))
        self._keep(qp, answer)
        return [self._atomic_answer(qp, answer)], None

    @staticmethod
    def _atomic_answer(qp: Qp, answer: Answer) -> Packet:
        return Packet(
            opcode=opcode(Service.RC, Op.ATOMIC_ACK),
            qpn=qp.context.peer,
            psn=answer.psn,
            key=qp.context.p_key,
            migrated=qp.context.migrated,
            aeth=answer.aeth,
            original=answer.original,
        )

    def _duplicate(self, qp: Qp, packet: Packet, op: Op) -> list[Packet]:
        """9.7.5.1.2 .. 4: SEND and WRITE are acknowledged and not done, READs read again, atomics told again."""
        if op != Op.READ_REQUEST and op not in ATOMIC:
            return [self._ack(qp, qp.expected - 1)]
        for answer in qp.answers:
            offset = ahead(packet.psn, answer.psn)
            if not 0 <= offset < answer.count:
                continue
            if packet.atomic is not None and answer.packet is not None:
                if (packet.opcode, packet.atomic) != (answer.packet.opcode, answer.packet.atomic):
                    return []
                return [self._atomic_answer(qp, answer)]
            reth, old = packet.reth, answer.reth
            if reth is None or old is None or reth.key != old.key:
                return []
            inside = old.address <= reth.address and reth.address + reth.length <= old.address + old.length
            fits = offset + packets_of(reth.length, qp.context.mtu) <= answer.count
            if not inside or not fits or self.memory.fault(reth.key, reth.address, reth.length, Right.REMOTE_READ):
                return []
            return self._read_answers(qp, packet.psn, reth)
        return []

    def datagram(self, qp: Qp, packet: Packet, header: bytes) -> Drop | None:
        """9.8.3: into a receive request behind 40 bytes of header, or silently away."""
        assert packet.deth is not None
        if packet.deth.key != qp.context.q_key:
            return Drop.Q_KEY
        length = GRH + len(packet.payload)
        if len(packet.payload) > qp.context.mtu:
            return Drop.LENGTH
        if not qp.receives:
            return Drop.NO_RECEIVE
        if length > qp.receives[0].length:
            return Drop.LENGTH
        receive = qp.receives.popleft()
        fault: Fault | None = self.memory.list_fault(self.memory.cut(receive.pieces, 0, length), Right.LOCAL_WRITE)
        if fault:
            qp.complete(receive.wr_id, Status.LOCAL_PROTECTION, received=True)
            qp.fail(State.ERR)
            return Drop.REFUSED
        self.memory.scatter(receive.pieces, 0, header.rjust(GRH, b"\0") + packet.payload)
        self._received(qp, receive, packet, length)
        return None
