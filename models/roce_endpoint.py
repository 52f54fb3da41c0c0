"""An endpoint: queue pairs behind one address; what is checked before either half sees a packet (docs/roce.md)."""

from __future__ import annotations

from collections import Counter, deque

from models.roce import Route, frame_of
from models.roce_memory import Memory
from models.roce_packet import CNP, Op, Packet, Service, operation
from models.roce_qp import Completion, Drop, Qp, Receive, State
from models.roce_requester import Requester
from models.roce_responder import Responder

__all__ = ["Endpoint"]

ANSWERS = {Op.READ_FIRST, Op.READ_MIDDLE, Op.READ_LAST, Op.READ_ONLY, Op.ACK, Op.ATOMIC_ACK}
FULL = 0x8000


class Endpoint:
    """Frames in as routes and packets, frames out the same way; ``now`` in ns never goes back."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.qps: dict[int, Qp] = {}
        self.requester = Requester(memory)
        self.responder = Responder(memory)
        self.out: deque[tuple[Route, Packet]] = deque()
        self.counters: Counter[str] = Counter()

    def create(self, number: int, completions: list[Completion], shared: deque[Receive] | None = None) -> Qp:
        """A queue pair in RESET; one of that number that was there is gone with all it knew."""
        self.qps[number] = Qp(number, completions, deque() if shared is None else shared, shared is not None)
        return self.qps[number]

    def receive(self, route: Route, packet: Packet, now: int) -> Drop | None:
        """A packet whose ICRC is good; answers wait in ``out``."""
        drop = self._judge(route, packet, now)
        self.counters["received"] += 1
        self.counters["taken" if drop is None else drop.name.lower()] += 1
        return drop

    def _judge(self, route: Route, packet: Packet, now: int) -> Drop | None:
        """9.6.1 in its order."""
        if packet.version:
            return Drop.MALFORMED
        qp = self.qps.get(packet.qpn)
        if qp is None:
            return Drop.NO_QP
        if packet.opcode == CNP:
            self.counters["cnp"] += 1
            return None
        if qp.state in (State.RESET, State.INIT, State.ERR):
            return Drop.STATE
        if packet.opcode >> 5 != qp.context.service:
            return Drop.OPCODE
        if (packet.key ^ qp.context.p_key) & ~FULL or not (packet.key | qp.context.p_key) & FULL:
            return Drop.P_KEY
        if qp.context.service == Service.UD:
            frame = frame_of(route, packet)
            begin = 14 if route.vlan is None else 18
            return self.responder.datagram(qp, packet, frame[begin : begin + (20 if len(route.src) == 4 else 40)])
        own = qp.context.route
        if own is None or (route.src, route.dst) != (own.dst, own.src):
            return Drop.ADDRESS
        if operation(packet.opcode) in ANSWERS:
            return self.requester.take(qp, packet, now) if qp.state >= State.RTS else Drop.STATE
        answers, drop = self.responder.take(qp, packet)
        if drop == Drop.DUPLICATE and operation(packet.opcode) == Op.READ_REQUEST:
            # answers that still wait are replaced, else a READ that is asked again waits for all of the old one
            asked = {answer.psn for answer in answers}
            self.out = deque(
                (way, old)
                for way, old in self.out
                if old.qpn != qp.context.peer or way != own or old.psn not in asked or old.opcode == Op.ACK
            )
        self.out.extend((own, answer) for answer in answers)
        return drop

    def send(self, now: int) -> tuple[Route, Packet] | None:
        """The next packet: answers first, then the queue pairs in turn."""
        if self.out:
            return self.out.popleft()
        for number in list(self.qps):
            found = self.requester.send(self.qps[number], now)
            if found is not None:
                self.qps[number] = self.qps.pop(number)
                return found
        return None

    def expire(self, now: int) -> None:
        """Timers that have run out."""
        for qp in self.qps.values():
            self.requester.expire(qp, now)

    def due(self, now: int) -> int | None:
        """When a timer or an RNR wait ends next, though nothing comes."""
        times = [
            time
            for qp in self.qps.values()
            for time in (qp.deadline, qp.not_before if qp.not_before > now and (qp.jobs or qp.sends) else None)
            if time is not None
        ]
        return min(times, default=None)
