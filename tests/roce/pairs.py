"""Two endpoints with connected queue pairs, for this folder's tests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from models.roce import Route
from models.roce_endpoint import Endpoint
from models.roce_link import Chances, Link
from models.roce_memory import Memory, Region, Right, Sge
from models.roce_packet import Packet, Service
from models.roce_qp import Completion, Qp, Receive, Send, State, Verb

LOCAL, REMOTE = 0x1101, 0x2202
BASE = 0x10_0000
ALL = Right(31)
WAY = Route(
    dst_mac=b"\2\0\0\0\0\2", src_mac=b"\2\0\0\0\0\1", src=b"\xc0\0\2\1", dst=b"\xc0\0\2\2", port=0xC123, dscp=26, ecn=2
)
WAY6 = replace(WAY, src=b"\xfe\x80" + bytes(13) + b"\1", dst=b"\xfe\x80" + bytes(13) + b"\2", vlan=0x3005)


@dataclass
class Pair:
    """Queue pair ``a`` asks, ``b`` answers; both have a region LOCAL and a region REMOTE of ``size`` bytes."""

    size: int = 1 << 16
    way: Route = WAY
    service: Service = Service.RC
    a_set: dict = field(default_factory=dict)
    b_set: dict = field(default_factory=dict)
    rights: Right = ALL
    chances: Chances = field(default_factory=Chances)
    seed: int = 0

    def __post_init__(self) -> None:
        self.ends = [Endpoint(self._memory(ALL)), Endpoint(self._memory(self.rights))]
        self.done: list[list[Completion]] = [[], []]
        self.a = self.ends[0].create(0x11, self.done[0])
        self.b = self.ends[1].create(0x22, self.done[1])
        self.packets: list[tuple[int, Packet]] = []
        self.connect()
        self.link = Link(self.ends, self.seed, self.chances, seen=lambda *one: self.packets.append(one))

    def _memory(self, rights: Right) -> Memory:
        return Memory(
            *(Region(key, BASE, bytearray(self.size), ALL if key == LOCAL else rights) for key in (LOCAL, REMOTE))
        )

    def connect(self, psn: int = 0xFFFFF0) -> None:
        for qp, other, way, own in (
            (self.a, self.b, self.way, self.a_set),
            (self.b, self.a, replace(self.way.back(), ecn=self.way.ecn), self.b_set),
        ):
            qp.modify(State.INIT)
            what = {"service": self.service, "route": way, "peer": other.number, "timeout": 5, "rnr_timer": 1} | own
            qp.modify(State.RTR, receive_psn=psn, send_psn=psn, **what)
            qp.modify(State.RTS)

    def data(self, end: int, key: int) -> bytearray:
        return self.ends[end].memory.regions[key].data

    def post(self, verb: Verb, length: int, at: int = 0, to: int | None = None, qp: Qp | None = None, **more) -> None:
        """A work request of ``length`` bytes of LOCAL from ``at`` on, to or from REMOTE of the other end."""
        request = Send(
            wr_id=more.pop("wr_id", at),
            verb=verb,
            pieces=[Sge(BASE + at, length, LOCAL)],
            address=more.pop("address", BASE + (at if to is None else to)),
            key=more.pop("key", REMOTE),
            **more,
        )
        (qp or self.a).post_send(request)

    def receive(self, length: int, at: int = 0, wr_id: int = 0) -> None:
        self.b.post_receive(Receive(wr_id=wr_id, pieces=[Sge(BASE + at, length, REMOTE)]))

    def statuses(self, end: int) -> list[str]:
        return [entry.status.name for entry in self.done[end]]
