"""A port built cycle by cycle out of small parts, from nothing but the words of docs/architecture.md and docs/acl.md.

Every part holds beats; each cycle, what is valid moves where there is room, all at once. A beat is (frame, number of
the beat, last).
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from models.acl import AclModel, Actions, Judgement, RuleSet, Verdict, first_match, mark_dscp
from models.acl_meter import Colour
from models.config import NicConfig
from models.frames import BEAT_BYTES, Batch, Edge, Outcome, bad_mark
from models.lib import RoundRobin
from models.meta import META_WORDS, Code, pack, words_of
from models.nic import reference_code
from models.parser import Parsed, ParserModel

__all__ = ["FIRST_NOW", "Frame", "Pauses", "Port", "count", "frames_of", "outcome_of", "receiver", "run"]

FIRST_NOW = 777
"""The port's time in cycle 0 of a run, in ns; it grows by 4 a cycle."""


@dataclass(eq=False)
class Frame:
    """One frame on its way. ``kept``: beats of it that ingress passes on; ``parsed``: what the parser says of them;
    ``found``: the actions of its rule, were it good; ``original``: of a mirror's copy, the frame."""

    index: int
    edge: Edge
    data: bytes
    kept: int
    code: int
    parsed: Parsed
    queue: int = 0
    number: int = -1
    entry: int = -1
    now: int = 0
    first_in: int = -1
    last_in: int = -1
    first_out: int = -1
    last_out: int = -1
    over: bool = False
    lookups: int = 1
    metered: bool = False
    judgement: Judgement | None = None
    found: Actions = field(default_factory=Actions)
    original: Frame | None = None
    lost_copy: bool = False

    @property
    def beats(self) -> int:
        return -(-len(self.data) // BEAT_BYTES)

    @property
    def bad(self) -> bool:
        return self.code not in (Code.NONE, Code.DELIVERED)

    @property
    def turned(self) -> bool:
        """It leaves by the other direction."""
        return self.original is None and self.judgement is not None and self.judgement.redirect is not None

    @property
    def user(self) -> int:
        """tuser beside the last beat out."""
        return self.parsed.user

    @property
    def bytes_out(self) -> bytes:
        if self.original is None and self.judgement is not None and self.judgement.mark_dscp is not None:
            return mark_dscp(self.data, self.parsed.meta_fields(), self.judgement.mark_dscp)
        return self.data

    @property
    def edge_out(self) -> Edge:
        if self.original is not None:
            return Edge.HOST
        return self.edge if self.turned else self.edge.opposite

    @property
    def queue_out(self) -> int:
        judged = self.judgement
        if self.original is not None:
            assert judged is not None and judged.mirror is not None
            return judged.mirror
        queue = judged.queue if judged is not None else self.found.queue
        if queue is None or self.ended_here or self.found.redirect not in (None, 0):
            return self.queue
        return queue

    @property
    def ended_here(self) -> bool:
        return self.code in (Code.ACL_DENIED, Code.ACL_POLICED, Code.ACL_NO_PORT)

    def meta(self) -> int:
        """What stands beside it at the host."""
        judged = self.judgement
        assert judged is not None
        fields = {"acl_rule": 65535 if judged.rule is None else judged.rule, "queue": self.queue_out}
        if self.original is not None:
            fields["acl_copy"] = 1
        else:
            fields |= {"acl_redirect": int(self.turned), "acl_priority": judged.priority or 0}
            if judged.protect is not None:
                fields |= {"acl_protect": 1, "acl_sa": judged.protect}
        fields |= {"seq": self.number, "direction": int(self.edge), "timestamp": self.now}
        return pack({**self.parsed.meta_fields(), **fields})


class Skid:
    """A register that holds two beats."""

    def __init__(self) -> None:
        self.beats: deque[Any] = deque()

    def room(self) -> bool:
        return len(self.beats) < 2

    def valid(self, cycle: int) -> bool:
        return bool(self.beats)

    def append(self, beat: Any, cycle: int) -> None:
        self.beats.append(beat)

    def pop(self, cycle: int) -> Any:
        return self.beats.popleft()


class Ingress(Skid):
    """Spends four cycles on a frame, and cuts one that is too long."""

    def __init__(self, now: Callable[[int], int]) -> None:
        super().__init__()
        self.number, self.free, self.between, self.now = 0, 0, True, now

    def takes(self, cycle: int) -> bool:
        return self.room() and not (self.between and cycle < self.free)

    def append(self, beat: Any, cycle: int) -> None:
        frame, number, last = beat
        if self.between:
            self.free = cycle + 4
            frame.entry, frame.number, frame.now = cycle, self.number, self.now(cycle)
            self.number += 1
        self.between = last
        if number < frame.kept:
            self.beats.append((frame, number, number == frame.kept - 1))


class Parser(Skid):
    """The parser's time, from the words of docs/parser.md: a layer is read in the cycle after its last beat came and
    after the layer before it; the frame may leave two cycles later, a beat two cycles after it came. It holds 32 beats
    and one that leaves, and five frames."""

    def __init__(self) -> None:
        super().__init__()
        self.came: deque[int] = deque()
        self.arrivals: dict[int, list[int]] = {}
        self.unread: dict[int, list[int]] = {}
        self.read: dict[int, int] = {}

    def room(self) -> bool:
        return len(self.beats) < 33 and len(self.arrivals) < 5

    def valid(self, cycle: int) -> bool:
        for index, layers in self.unread.items():
            arrivals = self.arrivals[index]
            if layers and layers[0] < len(arrivals) and arrivals[layers[0]] < cycle:
                layers.pop(0)
                self.read[index] = cycle
        if not self.beats or self.came[0] + 2 > cycle:
            return False
        frame, number, _ = self.beats[0]
        return number > 0 or (not self.unread[frame.index] and self.read[frame.index] + 2 <= cycle)

    def append(self, beat: Any, cycle: int) -> None:
        frame, number, _ = beat
        if number == 0:
            self.arrivals[frame.index], self.unread[frame.index] = [], list(frame.parsed.layers)
        self.arrivals[frame.index].append(cycle)
        self.beats.append(beat)
        self.came.append(cycle)

    def pop(self, cycle: int) -> Any:
        frame, number, last = self.beats.popleft()
        self.came.popleft()
        if last:
            del self.arrivals[frame.index], self.unread[frame.index]
        return frame, number, last


class Acl(Skid):
    """The ACL's time, from docs/acl.md: keys wait for the matcher, which takes one key in four cycles; frames have
    their turn one after the other, a metered one when it is whole."""

    def __init__(self, model: AclModel, port: int, mirror: Callable[[Any, int], None]) -> None:
        super().__init__()
        self.model, self.port, self.mirror = model, port, mirror
        self.came: deque[int] = deque()
        self.ends: dict[int, int] = {}
        self.keys: deque[tuple[Frame, int]] = deque()
        self.rules: deque[tuple[Frame, int]] = deque()
        self.matcher_free = 0
        self.turn, self.turn_metered = -100, False
        self.done: dict[int, int] = {}
        self.frames = 0

    def room(self) -> bool:
        return len(self.beats) < 1024 and self.frames < 256 and len(self.keys) < 62

    def valid(self, cycle: int) -> bool:
        if self.keys and self.keys[0][1] + 1 <= cycle and self.matcher_free <= cycle:
            frame, _ = self.keys.popleft()
            self.matcher_free = cycle + 4 * frame.lookups
            self.rules.append((frame, cycle + 4 * (frame.lookups - 1) + 11))
        if self.rules:
            frame, rule = self.rules[0]
            step = (4 if frame.metered else 7) if self.turn_metered else 1
            whole = not frame.metered or self.ends.get(frame.index, cycle) + 1 <= cycle
            if rule <= cycle and whole and self.turn + step <= cycle:
                self.rules.popleft()
                self.turn, self.turn_metered = cycle, frame.metered
                self.done[frame.index] = cycle + 7 * frame.metered
                self._judge(frame)
        if not self.beats or self.came[0] + 3 > cycle:
            return False
        return self.done.get(self.beats[0][0].index, cycle) + 1 <= cycle

    def _judge(self, frame: Frame) -> None:
        if frame.bad:
            return
        fields = frame.parsed.meta_fields() | {"port": self.port}
        judged = frame.judgement = self.model.judge(fields, len(frame.data), frame.now)
        if judged.verdict != Verdict.PASSED:
            frame.code = Code[judged.verdict.name]
        elif judged.redirect not in (None, self.port):
            frame.code = Code.ACL_NO_PORT

    def append(self, beat: Any, cycle: int) -> None:
        frame, number, last = beat
        if number == 0:
            self.keys.append((frame, cycle))
            self.frames += 1
        if last:
            self.ends[frame.index] = cycle
        self.beats.append(beat)
        self.came.append(cycle)

    def pop(self, cycle: int) -> Any:
        self.came.popleft()
        beat = self.beats.popleft()
        frame, last = beat[0], beat[2]
        self.frames -= last
        if frame.judgement is not None and frame.judgement.mirror is not None:
            self.mirror(beat, cycle)
        return beat


class Buffer(Skid):
    """Holds frames whole. One that waits takes no beat while it is full; the other drops the frame."""

    def __init__(self, depth: int, slots: int, waits: bool, final: bool = True) -> None:
        super().__init__()
        self.depth, self.slots, self.waits, self.final = depth, slots, waits, final
        self.partial: list[Any] = []
        self.held, self.full = 0, False

    def _is_full(self) -> bool:
        return len(self.beats) + len(self.partial) >= self.depth or self.held >= self.slots

    def room(self) -> bool:
        return not (self.waits and self._is_full())

    def append(self, beat: Any, cycle: int) -> None:
        frame, _, last = beat
        if self._is_full():
            self.full = True
        else:
            self.partial.append(beat)
        if last:
            if not frame.bad and not self.full:
                self.beats += self.partial
                self.held += 1
                frame.code = Code.DELIVERED
            elif not frame.bad:
                frame.code, frame.over = Code.RX_BUFFER_FULL, True
                frame.lost_copy |= frame.original is not None
            else:
                frame.over = True
            self.partial, self.full = [], False

    def pop(self, cycle: int) -> Any:
        beat = self.beats.popleft()
        self.held -= beat[2]
        return beat


class Join(Skid):
    """Takes frames of several inputs, one after the other, round robin; from ``first`` on when the others have none."""

    def __init__(self, inputs: int, first: int) -> None:
        super().__init__()
        self.turns, self.owner, self.inside = RoundRobin(inputs, first), -1, False

    def grant(self, valid: list[bool]) -> int | None:
        if self.inside:
            return self.owner if valid[self.owner] else None
        found = self.turns.grant(valid)
        self.owner = self.owner if found is None else found
        return found

    def append(self, beat: Any, cycle: int) -> None:
        self.inside = not beat[2]
        self.beats.append(beat)


Route = Callable[[Frame], bool]


def _turned(edge: Edge) -> Route:
    """Frames that came in at this edge and leave by the other direction."""
    return lambda frame: frame.turned and frame.edge == edge


def _straight(edge: Edge) -> Route:
    return lambda frame: not (frame.turned and frame.edge == edge)


class Port:
    """Both directions. ``more``: registers too many by place ("rx before", "rx after", "tx before", "tx after")."""

    def __init__(
        self,
        depth: int = 2048,
        slots: int = 256,
        rules: dict[Edge, RuleSet] | None = None,
        port: int = 0,
        more: dict[str, int] | None = None,
        mirror: tuple[int, int] = (1024, 64),
    ) -> None:
        self.depth, self.slots, self.mirror_room = depth, slots, mirror
        self.rules, self.port = rules or {edge: RuleSet() for edge in Edge}, port
        self.more = more or {}
        self.cycle, self.base = 0, FIRST_NOW
        self.clear()

    def now(self, cycle: int) -> int:
        return self.base + 4 * cycle

    def clear(self) -> None:
        """As a reset leaves it."""
        self.links: list[tuple[Skid, Skid, Route]] = []
        self.joins: dict[int, list[tuple[Skid, Route]]] = {}
        host, wire = Join(4, 2), Join(2, 2)
        self.inlet: dict[Edge, Skid] = {}
        everything: Route = lambda frame: True  # noqa: E731
        demuxes, mirrors = {}, {}
        for edge, way in zip(Edge, ("rx", "tx"), strict=True):
            mirrors[edge] = Buffer(*self.mirror_room, waits=False)
            acl = Acl(AclModel(self.rules[edge]), self.port, self._mirror_into(mirrors[edge]))
            registers = [Skid() for _ in range(4 if edge == Edge.WIRE else 2)]
            front: list[Skid] = [Skid(), Ingress(self.now), Parser()]
            front += [*registers, acl] if edge == Edge.WIRE else [acl, *registers]
            front += [Skid() for _ in range(self.more.get(f"{way} before", 0))]
            buffer = Buffer(self.depth, self.slots, waits=edge == Edge.HOST)
            head, demuxes[edge] = Skid(), Skid()
            after = [Skid() for _ in range(self.more.get(f"{way} after", 0))]
            chain = [*front, buffer, head, *after, demuxes[edge]]
            self.inlet[edge] = front[0]
            if edge == Edge.HOST:
                at = chain.index(buffer)
                self._chain(chain[:at])
                self._into(wire, [(chain[at - 1], everything), (demuxes[Edge.WIRE], _turned(Edge.WIRE))])
                self._chain([wire, *chain[at:]])
            else:
                self._chain(chain)
        slots = [Skid(), Skid()]
        egress, tx_egress, mac = Skid(), Skid(), Skid()
        self.links.append((demuxes[Edge.WIRE], slots[0], _straight(Edge.WIRE)))
        self._chain(slots)
        self.links.append((demuxes[Edge.HOST], tx_egress, _straight(Edge.HOST)))
        self._chain([tx_egress, mac])
        heads = [self._behind(mirrors[edge]) for edge in Edge]
        self._into(
            host,
            [
                (slots[1], everything),
                (heads[0], everything),
                (heads[1], everything),
                (demuxes[Edge.HOST], _turned(Edge.HOST)),
            ],
        )
        self._chain([host, egress])
        self.outlet = {Edge.HOST: egress, Edge.WIRE: mac}
        self.joined = {id(host): host, id(wire): wire}
        self.parts = list({id(part): part for left, right, _ in self.links for part in (left, right)}.values())

    def _behind(self, buffer: Buffer) -> Skid:
        head = Skid()
        self._chain([buffer, head])
        return head

    def _mirror_into(self, buffer: Buffer) -> Callable[[Any, int], None]:
        copies: dict[int, Frame] = {}

        def take(beat: Any, cycle: int) -> None:
            frame, number, last = beat
            if number == 0:
                copies[frame.index] = replace(frame, code=Code.NONE, original=frame, over=False)
            buffer.append((copies[frame.index], number, last), cycle)
            if last:
                frame.lost_copy = copies[frame.index].lost_copy

        return take

    def _chain(self, parts: list[Skid]) -> None:
        self.links += [(left, right, lambda frame: True) for left, right in itertools.pairwise(parts)]

    def _into(self, join: Join, inputs: list[tuple[Skid, Route]]) -> None:
        self.joins[id(join)] = inputs

    def step(self, offered: dict[Edge, Any], ready: dict[Edge, bool]) -> tuple[dict[Edge, bool], list[Any]]:
        """One cycle: which offered beats were taken, and the beats that left."""
        cycle = self.cycle
        moves: list[tuple[Skid, Skid]] = []
        valid = {id(part): part.valid(cycle) for part in self.parts}
        for left, right, route in self.links:
            if valid[id(left)] and route(left.beats[0][0]):
                takes = right.takes(cycle) if isinstance(right, Ingress) else right.room()
                if takes:
                    moves.append((left, right))
        for key, inputs in self.joins.items():
            join = self.joined[key]
            if join.room():
                at = join.grant([valid[id(part)] and route(part.beats[0][0]) for part, route in inputs])
                if at is not None:
                    moves.append((inputs[at][0], join))
        left_beats = []
        for edge, outlet in self.outlet.items():
            if not valid[id(outlet)]:
                continue
            frame, number, last = outlet.beats[0]
            if number == 0 and frame.first_out < 0:
                frame.first_out = cycle
            if ready[edge]:
                left_beats.append((edge, outlet.pop(cycle)))
                if last:
                    frame.last_out, frame.over = cycle, True
        took = {edge: edge in offered and inlet.room() for edge, inlet in self.inlet.items()}
        beats = [left.pop(cycle) for left, _ in moves]
        for beat, (_, right) in zip(beats, moves, strict=True):
            right.append(beat, cycle)
        for edge, inlet in self.inlet.items():
            if took[edge]:
                inlet.append(offered[edge], cycle)
        self.cycle += 1
        return took, left_beats


Pauses = Callable[[int], bool]


def receiver(kind: str, rng: random.Random) -> Pauses:
    """Whether the receiver takes a beat in a cycle."""
    if kind == "none":
        return lambda cycle: True
    if kind == "random":
        return lambda cycle: rng.random() < 0.6
    if kind == "bursty":
        return lambda cycle: cycle // 37 % 2 == 0
    return lambda cycle: cycle % 3000 > 2500  # "stalled"


@dataclass
class _Sender:
    """The frames of one edge, beat by beat."""

    frames: list[Frame]
    at: int = 0
    number: int = 0
    quiet: int = 0

    def offer(self) -> Any:
        if self.at < len(self.frames) and self.quiet == 0:
            frame = self.frames[self.at]
            return frame, self.number, self.number == frame.beats - 1
        return None

    def took(self, cycle: int) -> None:
        frame = self.frames[self.at]
        if self.number == 0:
            frame.first_in = cycle
        self.number += 1
        if self.number == frame.beats:
            frame.last_in, self.at, self.number = cycle, self.at + 1, 0

    def cut(self) -> None:
        """A reset."""
        if self.number > 0:
            self.at, self.number = self.at + 1, 0
        self.quiet = 8


def run(
    batch: Batch,
    rng: random.Random,
    pauses: Pauses | dict[Edge, Pauses],
    *,
    gap: float = 0.0,
    config: NicConfig | None = None,
    resets: tuple[int, ...] = (),
    depth: int = 2048,
    slots: int = 256,
    mirror: tuple[int, int] = (1024, 64),
    more: dict[str, int] | None = None,
    tunnel: bool = False,
) -> Outcome:
    """The batch through a `Port`; ``gap``: how often a sender pauses before a beat; ``pauses``: of the receivers, one
    for both or by edge."""
    takes = pauses if isinstance(pauses, dict) else dict.fromkeys(Edge, pauses)
    programmed = (config or NicConfig()).ports[0]
    rules = {Edge.WIRE: programmed.acl_rx or RuleSet(), Edge.HOST: programmed.acl_tx or RuleSet()}
    frames = frames_of(batch, config, tunnel)
    port = Port(depth, slots, rules, more=more, mirror=mirror)
    senders = {edge: _Sender([frame for frame in frames if frame.edge == edge]) for edge in Edge}
    out: list[tuple[Edge, Frame]] = []
    idle = 0
    while idle < 3:
        assert port.cycle < 400_000, "the port is stuck"
        if port.cycle in resets:
            for frame in frames:
                if frame.first_in >= 0 and not frame.over:
                    frame.code, frame.first_out, frame.over = Code.RESET, -1, True
            for sender in senders.values():
                sender.cut()
            port.clear()
            port.cycle += 1
            port.base = -4 * port.cycle
            continue
        offered = {edge: beat for edge, sender in senders.items() if (beat := sender.offer()) is not None}
        took, left = port.step(offered, {edge: takes[edge](port.cycle) for edge in Edge})
        for edge, sender in senders.items():
            sender.quiet = max(0, sender.quiet - 1)
            if took[edge]:
                sender.took(port.cycle - 1)
                while rng.random() < gap:
                    sender.quiet += 1
        out += [(edge, beat[0]) for edge, beat in left if beat[2]]
        quiet = all(sender.at == len(sender.frames) for sender in senders.values())
        quiet = quiet and all(frame.over for frame in frames) and not any(part.beats for part in port.parts)
        idle = idle + 1 if quiet else 0
    return outcome_of(batch, frames, out, port.cycle + 1, resets)


def frames_of(batch: Batch, config: NicConfig | None = None, tunnel: bool = False) -> list[Frame]:
    """The batch before it enters: code 0 where only the ACL and the buffer decide."""
    programmed = (config or NicConfig()).ports[0]
    registers = programmed.registers()
    control, limit = registers["nic.control"], registers["nic.max_frame"]
    frames = []
    for i, data in enumerate(batch):
        edge = Edge(int(batch.edge[i]))
        drop = registers["parser_rx.drop" if edge == Edge.WIRE else "parser_tx.drop"]
        code = reference_code(edge, data, int(batch.bad[i]), control, limit, 1 << 20, drop, tunnel=tunnel)
        beats = -(-len(data) // BEAT_BYTES)
        kept = limit // BEAT_BYTES + 1 if len(data) > limit else beats
        bad = bad_mark(code) if code in (Code.OVERSIZE, Code.PORT_DISABLED) or batch.bad[i] else 0
        parsed = ParserModel(drop=drop, tunnel=tunnel).parse(data[: kept * BEAT_BYTES], bad)
        queue = int(batch.queue[i]) if edge == Edge.HOST else 0
        frame = Frame(i, edge, data, kept, 0 if code == Code.DELIVERED else code, parsed, queue)
        rules = programmed.acl_rx if edge == Edge.WIRE else programmed.acl_tx
        fields = parsed.meta_fields()
        if rules is not None:
            # What is found of a bad frame is found in vain, and keeps its time.
            at = first_match(rules.rules, fields | {"port": 0})
            if at is not None and rules.rules[at].actions.permit:
                frame.found = rules.rules[at].actions
                frame.metered = frame.found.meter is not None
        frame.lookups = 2 if tunnel and fields.get("tunnel_kind") else 1
        frames.append(frame)
    return frames


def outcome_of(
    batch: Batch, frames: list[Frame], out: list[tuple[Edge, Frame]], cycles: int, resets: tuple[int, ...] = ()
) -> Outcome:
    """What a target reports of such a run; frames out in order per edge."""

    def column(name: str) -> Any:
        return np.array([getattr(frame, name) for frame in frames], np.int64)

    came = [frame for _, frame in out]
    edges = np.array([edge for edge, _ in out], np.uint8)
    to_host = edges == Edge.HOST
    code = np.array([frame.code for frame in frames], np.uint8)
    frames_out = Batch.of(
        [frame.bytes_out for frame in came],
        edge=edges,
        queue=np.where(to_host, [frame.queue_out for frame in came], 0),
        port=batch.port[[frame.index for frame in came]],
    )
    delivered = code == Code.DELIVERED
    first_in, first_out = column("first_in"), np.where(delivered, column("first_out"), -1)
    meta = [frame.meta() if edge == Edge.HOST else 0 for edge, frame in out]
    outcome = Outcome(
        frames=frames_out,
        source=np.array([frame.index for frame in came], np.int64),
        code=code,
        queue=np.array([0 if frame.code == Code.RESET else frame.queue_out for frame in frames], np.uint8),
        latency_cycles=np.where(delivered, first_out - first_in, -1),
        first_in=first_in,
        last_in=column("last_in"),
        first_out=first_out,
        last_out=np.where(delivered, column("last_out"), -1),
        cycles=cycles,
        resets=np.array(resets, np.int64),
        user=np.array([frame.user for frame in came], np.uint16),
        meta=words_of(meta) if meta else np.zeros((0, META_WORDS), np.uint32),
        now=FIRST_NOW << 32,
        begun=np.array([frame.first_out for frame in came], np.int64),
        ended=np.array([frame.last_out for frame in came], np.int64),
    )
    outcome.counters.update(count(batch, outcome, frames, out))
    return outcome


def count(batch: Batch, outcome: Outcome, frames: list[Frame], out: list[tuple[Edge, Frame]]) -> dict[str, int]:
    """The counters by hand, since the last reset."""
    counters: Counter[str] = Counter()
    since = max(outcome.resets.tolist(), default=-1)
    for i, data in enumerate(batch):
        frame = frames[i]
        if outcome.first_in[i] <= since:
            continue
        way = "rx" if batch.edge[i] == Edge.WIRE else "tx"
        counters[f"{way}_frames_in"] += 1
        counters[f"{way}_bytes_in"] += len(data)
        counters[f"parser_{way}.frames"] += 1
        found = frame.parsed.user >> 1 & 127
        if found >= Code.L2_TRUNCATED and not batch.bad[i] and frame.code not in (Code.OVERSIZE, Code.PORT_DISABLED):
            counters[f"parser_{way}.{Code(found).name.lower()}"] += 1
        counters[f"{way}_disposition.{Code(int(outcome.code[i])).name}"] += 1
        for name, by in counted_by_the_acl(frame):
            counters[f"acl_{way}.{name}"] += by
    for edge, frame in out:
        if frame.first_in > since:
            way = "rx" if edge == Edge.HOST else "tx"
            counters[f"{way}_frames_out"] += 1
            counters[f"{way}_bytes_out"] += len(frame.data)
    return dict(counters)


def counted_by_the_acl(frame: Frame) -> Iterator[tuple[str, int]]:
    """What a frame adds to the counters of its slot."""
    judged = frame.judgement
    if judged is None:
        yield "unjudged", 1
        return
    yield "judged", 1
    rule = "default" if judged.rule is None else f"rule[{judged.rule}]"
    yield f"{rule}.frames", 1
    yield f"{rule}.bytes", len(frame.data)
    names = {Code.ACL_DENIED: "denied", Code.ACL_POLICED: "policed", Code.ACL_NO_PORT: "no_port"}
    if frame.code in names:
        yield names[Code(frame.code)], 1
    elif judged.redirect is not None:
        yield "redirected", 1
    if judged.colour is not None:
        yield f"metered_{Colour(judged.colour).name.lower()}", 1
    if judged.mirror is not None:
        yield "mirrored", 1
        yield "mirror_dropped", int(frame.lost_copy)
