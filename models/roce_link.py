"""A path between two endpoints that loses, repeats, reorders, damages, delays and marks (docs/roce.md, Link).

What happens to a packet is said by rules, which look at it, and by a seed. Packets travel as frames, so what is damaged
is found by its ICRC. Time is in ns and moves from event to event.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from models.roce import Route, frame_of, packet_of
from models.roce_endpoint import Endpoint
from models.roce_icrc import IPV4, IPV6, icrc_of
from models.roce_packet import MalformedError, Packet

__all__ = ["Chances", "Link", "Rule", "Stuck"]

CE = 3
ICRC = 4


class Stuck(RuntimeError):
    """Nothing will happen any more, or it takes too long."""


@dataclass(frozen=True, kw_only=True)
class Chances:
    """Of each packet, each on its own; delays in ns."""

    drop: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    corrupt: float = 0.0
    mark: float = 0.0
    delay: float = 0.0
    late: int = 20_000
    """How long what is delayed, reordered or repeated waits at most."""


@dataclass
class Rule:
    """What happens to packets that ``when`` likes: to ``times`` of them behind the first ``skip``. delay: ns."""

    when: Callable[[Packet], bool]
    drop: bool = False
    duplicate: bool = False
    corrupt: bool = False
    mark: bool = False
    delay: int = 0
    skip: int = 0
    times: int = 1 << 30

    def hits(self, packet: Packet) -> bool:
        """Counts the packet."""
        if not self.times or not self.when(packet):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True


@dataclass
class Link:
    """ends: two endpoints, each the other's peer; gap: ns between packets of one; latency: ns of the way."""

    ends: Sequence[Endpoint]
    seed: int = 0
    chances: Chances = field(default_factory=Chances)
    rules: Sequence[Rule] = ()
    latency: int = 2000
    gap: int = 100
    now: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    seen: Callable[[int, Packet], None] | None = None
    """Told each packet with its sender, before anything happens to it."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._way: list[tuple[int, int, int, bytes]] = []
        self._count = 0
        self._free = [0, 0]

    def run(self, until: int | None = None, events: int = 10_000_000) -> None:
        """On until nothing is to be done and no timer runs, or a time."""
        for _ in range(events):
            if not self._step(until):
                return
        raise Stuck(f"{events} events, now {self.now} ns")

    def _step(self, until: int | None) -> bool:
        for end in self.ends:
            end.expire(self.now)
        sent = False
        for n, end in enumerate(self.ends):
            if self._free[n] <= self.now and (found := end.send(self.now)) is not None:
                self._free[n] = self.now + self.gap
                self._send(n, *found)
                sent = True
        times = [self._way[0][0]] if self._way else []
        times += [free for free in self._free if sent and free > self.now]
        times += [time for end in self.ends if (time := end.due(self.now)) is not None]
        times += [free for free, end in zip(self._free, self.ends, strict=True) if free > self.now and self._wants(end)]
        if not times or (until is not None and min(times) > until):
            if until is not None:
                self.now = until
            return False
        if min(times) <= self.now and not sent and not (self._way and self._way[0][0] <= self.now):
            raise Stuck(f"a timer ran out at {self.now} ns and nothing follows from it")
        self.now = max(self.now, min(times))
        while self._way and self._way[0][0] <= self.now:
            _, _, to, frame = heapq.heappop(self._way)
            self._arrive(to, frame)
        return True

    @staticmethod
    def _wants(end: Endpoint) -> bool:
        return bool(end.out) or any(qp.sends or qp.send_psn != qp.next_psn for qp in end.qps.values())

    def _send(self, sender: int, route: Route, packet: Packet) -> None:
        if self.seen is not None:
            self.seen(sender, packet)
        chances, chance = self.chances, self._random
        hit = [rule for rule in self.rules if rule.hits(packet)]
        frame = frame_of(route, packet)
        if chance.random() < chances.drop or any(rule.drop for rule in hit):
            self.happened["drop"] += 1
            return
        if chance.random() < chances.corrupt or any(rule.corrupt for rule in hit):
            self.happened["corrupt"] += 1
            at = chance.randrange(len(frame) - ICRC - 12, len(frame))
            frame = frame[:at] + bytes([frame[at] ^ 1 << chance.randrange(8)]) + frame[at + 1 :]
        if (chance.random() < chances.mark or any(rule.mark for rule in hit)) and route.ecn in (1, 2):
            self.happened["mark"] += 1
            frame = self._marked(route, frame)
        copies = 1
        if chance.random() < chances.duplicate or any(rule.duplicate for rule in hit):
            self.happened["duplicate"] += 1
            copies = 2
        for copy in range(copies):
            late = sum(rule.delay for rule in hit)
            if copy or chance.random() < chances.reorder:
                self.happened["reorder"] += 1
                late += chance.randrange(chances.late)
            if chance.random() < chances.delay:
                self.happened["delay"] += 1
                late += chances.late
            self._count += 1
            heapq.heappush(self._way, (self.now + self.latency + late, self._count, 1 - sender, frame))

    @staticmethod
    def _marked(route: Route, frame: bytes) -> bytes:
        """CE, which the ICRC doesn't cover."""
        marked = packet_of(frame)[1]
        again = Route(**{**vars(route), "ecn": CE})
        return frame_of(again, marked)[:-ICRC] + frame[-ICRC:]

    def _arrive(self, to: int, frame: bytes) -> None:
        try:
            route, packet = packet_of(frame)
        except MalformedError:
            self.happened["bad"] += 1
            return
        begin = 14 if route.vlan is None else 18
        kind, length = (IPV4, 20) if len(route.src) == 4 else (IPV6, 40)
        if icrc_of(frame[begin:-ICRC], kind, length) != frame[-ICRC:]:
            self.happened["bad"] += 1
            return
        self.ends[to].receive(route, packet, self.now)
