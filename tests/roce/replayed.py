"""Halves of captured conversations, replayed into an endpoint, for this folder's tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from models.parser import ParserModel
from models.roce_endpoint import ANSWERS
from models.roce_icrc import Icrc, Verdict
from models.roce_memory import Memory, Region, Right, Sge
from models.roce_packet import Op, Service, ahead, operation
from models.roce_qp import Qp, Receive, Send, State, Verb
from models.roce_responder import packets_of
from tests.roce.captured import Seen

ALL = Right(31)
RECEIVE_KEY = 0xEEEEEE01
LOCAL_KEY = 0xEEEEEE02
ROOM = 1 << 14
VERBS = {
    Op.SEND_LAST: Verb.SEND,
    Op.SEND_ONLY: Verb.SEND,
    Op.SEND_LAST_IMM: Verb.SEND_IMM,
    Op.SEND_ONLY_IMM: Verb.SEND_IMM,
    Op.SEND_LAST_INV: Verb.SEND_INV,
    Op.SEND_ONLY_INV: Verb.SEND_INV,
    Op.WRITE_LAST: Verb.WRITE,
    Op.WRITE_ONLY: Verb.WRITE,
    Op.WRITE_LAST_IMM: Verb.WRITE_IMM,
    Op.WRITE_ONLY_IMM: Verb.WRITE_IMM,
    Op.READ_REQUEST: Verb.READ,
    Op.COMPARE_SWAP: Verb.COMPARE_SWAP,
    Op.FETCH_ADD: Verb.FETCH_ADD,
}


@dataclass
class Flow:
    """Requests of one sender to one queue pair and what came back, in their order on the wire; peer: the sender's."""

    qpn: int
    peer: int = 0
    packets: list[Seen] = field(default_factory=list)

    @property
    def requests(self) -> list[Seen]:
        return [one for one in self.packets if is_request(one)]

    @property
    def answers(self) -> list[Seen]:
        return [one for one in self.packets if not is_request(one)]


def is_request(one: Seen) -> bool:
    return operation(one.packet.opcode) not in ANSWERS


def good(one: Seen) -> bool:
    meta = ParserModel().parse(one.frame)
    names = ("roce", "fragment", "l3_kind", "l3_offset", "l4_offset", "udp_length")
    return Icrc.judge(one.frame, {name: int(getattr(meta, name)) for name in names}) == Verdict.GOOD


def flows(packets: Sequence[Seen]) -> Iterator[Flow]:
    """RC flows of a capture. An answer belongs to the flow that asked for its PSN last; bad ICRCs are left out."""
    found: dict[tuple[bytes, int], Flow] = {}
    for one in packets:
        if one.packet.opcode >> 5 != Service.RC or not good(one):
            continue
        if is_request(one):
            found.setdefault((one.route.dst, one.packet.qpn), Flow(one.packet.qpn)).packets.append(one)
            continue
        for (dst, _), flow in found.items():
            near = flow.requests[-1].packet.psn
            port = {seen.route.port for seen in flow.answers} or {one.route.port}
            its = dst == one.route.src and one.route.port in port and flow.peer in (0, one.packet.qpn)
            if its and -4096 < ahead(one.packet.psn, near) < 64:
                flow.peer = one.packet.qpn
                flow.packets.append(one)
                break
        else:
            raise AssertionError(f"nobody asked for {one.packet}")
    return iter(found.values())


def mtu_of(flow: Flow) -> int:
    """The path MTU: the length of a first packet, or of any that holds all."""
    firsts = [
        len(one.packet.payload)
        for one in flow.packets
        if operation(one.packet.opcode) in (Op.SEND_FIRST, Op.WRITE_FIRST, Op.READ_FIRST)
    ]
    longest = max(len(one.packet.payload) for one in flow.packets)
    return firsts[0] if firsts else next(mtu for mtu in (256, 512, 1024, 2048, 4096) if mtu >= longest)


def regions_of(flow: Flow, mtu: int) -> list[Region]:
    """Regions that hold all that the requests name, with what READs and atomics of the capture found there."""
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    places: dict[int, tuple[int, int]] = {}
    for one in flow.requests:
        what = one.packet
        if what.reth:
            spans[what.reth.key].append((what.reth.address, what.reth.length))
            if operation(what.opcode) == Op.READ_REQUEST:
                for n in range(packets_of(what.reth.length, mtu)):
                    places[(what.psn + n) % (1 << 24)] = (what.reth.key, what.reth.address + n * mtu)
        if what.atomic:
            spans[what.atomic.key].append((what.atomic.address, 8))
            places[what.psn] = (what.atomic.key, what.atomic.address)
    regions = {}
    for key, all_of in spans.items():
        base = min(address for address, _ in all_of)
        size = max(address + length for address, length in all_of) - base
        regions[key] = Region(key, base, bytearray(size), ALL)
    for one in reversed(flow.answers):
        if one.packet.psn in places and one.packet.opcode != Op.ACK:
            key, address = places[one.packet.psn]
            data = one.packet.payload
            if one.packet.original is not None:
                data = one.packet.original.to_bytes(8, "little")
            at = address - regions[key].base
            regions[key].data[at : at + len(data)] = data
    return list(regions.values())


def responder_of(flow: Flow) -> tuple[Memory, Qp]:
    """The queue pair that was asked, as its captured answers show it: without MigReq, RNR timer 12."""
    mtu = mtu_of(flow)
    memory = Memory(*regions_of(flow, mtu), Region(RECEIVE_KEY, 0, bytearray(ROOM), ALL))
    qp = Qp(flow.qpn, [])
    qp.modify(State.INIT)
    first = flow.requests[0]
    qp.modify(
        State.RTR,
        route=first.route.back(),
        peer=flow.peer,
        mtu=mtu,
        receive_psn=first.packet.psn,
        migrated=False,
        rnr_timer=12,
        reads_in=128,
    )
    return memory, qp


def receive(n: int) -> Receive:
    return Receive(wr_id=n, pieces=[Sge(0, ROOM, RECEIVE_KEY)])


def work_of(flow: Flow) -> tuple[Memory, list[Send]]:
    """The work requests that the captured requests were made of; what was sent again counts once."""
    local = bytearray()
    out: list[Send] = []
    reth = None
    payload = b""
    start = flow.requests[0].packet.psn
    once = {ahead(one.packet.psn, start): one.packet for one in reversed(flow.requests)}
    for _, what in sorted(once.items()):
        op = operation(what.opcode)
        reth = what.reth or reth
        payload += what.payload
        if op not in VERBS:
            continue
        verb = VERBS[op]
        length = len(payload)
        if verb == Verb.READ:
            assert reth is not None
            length = reth.length
        if what.atomic:
            length = 8
        at = len(local)
        local += payload or bytes(length)
        target = what.atomic or (reth if verb in (Verb.WRITE, Verb.WRITE_IMM, Verb.READ) else None)
        out.append(
            Send(
                wr_id=len(out),
                verb=verb,
                pieces=[Sge(at, length, LOCAL_KEY)],
                address=target.address if target else 0,
                key=target.key if target else 0,
                imm=what.imm if what.imm is not None else what.invalidate or 0,
                swap=what.atomic.swap if what.atomic else 0,
                compare=what.atomic.compare if what.atomic else 0,
                solicited=what.solicited,
            )
        )
        payload, reth = b"", None
    return Memory(Region(LOCAL_KEY, 0, local, ALL)), out


def requester_of(flow: Flow) -> tuple[Memory, Qp]:
    """The queue pair that asked, with its work posted; what the capture leaves open is without bounds."""
    memory, work = work_of(flow)
    first = flow.requests[0]
    qp = Qp(flow.peer, [])
    qp.modify(State.INIT)
    qp.modify(State.RTR, route=first.route, peer=flow.qpn, mtu=mtu_of(flow), send_psn=first.packet.psn)
    qp.modify(State.RTS, migrated=False, timeout=0, reads_out=128, window=1 << 22, ack_every=1 << 22)
    for request in work:
        qp.post_send(request)
    return memory, qp
