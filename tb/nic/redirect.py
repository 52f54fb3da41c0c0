"""Plays of a port whose ACLs mirror and redirect, and their books: what the frames' own bytes say must become of them.

Written from docs/acl.md, "Copies and redirected frames in the port", without the golden model. A frame's destination
port says which rule it meets (``Act``); both ACLs hold the same rules. The coroutines run on any target of the RTL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from random import Random

import numpy as np

from models.acl import Actions, Range, Rule, RuleSet
from models.config import NicConfig
from models.frames import Batch, Edge, Int64, Outcome
from models.meta import FIRST_DROP, Code, field_of
from models.nic import NicPortModel
from models.port_map import PORT
from tb.acl.driver import SLOTS
from tb.targets.base import Fault
from tb.targets.engine import DIRECTIONS
from tb.targets.port import PortTarget
from tb.targets.program import program

__all__ = ["CONFIG", "MIRRORED", "MIRROR_QUEUE", "REDIRECTED", "SHORT", "Act", "Rig", "frame", "plays", "traffic"]

MIRROR_QUEUE = 77
_FIRST_PORT = 0xAC00
_OTHER_PORT = 9
_EXPERIMENTAL = 0x88B5
_OTHER_TYPE = 0x88B6
SHORT = 42
"""Shorter frames have no UDP header."""


class Act(IntEnum):
    """What becomes of a frame; the number of its rule, NONE: it meets none. REDIRECT_ANY: it may be of one beat."""

    REDIRECT = 0
    MIRROR = 1
    BOTH = 2
    DENY = 3
    DENY_AND_MIRROR = 4
    NO_PORT = 5
    REDIRECT_ANY = 6
    NONE = 7


_ACTIONS = {
    Act.REDIRECT: Actions(redirect=0),
    Act.MIRROR: Actions(mirror=MIRROR_QUEUE),
    Act.BOTH: Actions(redirect=0, mirror=MIRROR_QUEUE),
    Act.DENY: Actions(permit=False),
    Act.DENY_AND_MIRROR: Actions(permit=False, mirror=MIRROR_QUEUE),
    Act.NO_PORT: Actions(redirect=1),
}
RULES = RuleSet(
    (
        *(Rule(dst_port=Range(_FIRST_PORT + act, _FIRST_PORT + act), actions=done) for act, done in _ACTIONS.items()),
        Rule(ethertype=_EXPERIMENTAL, actions=Actions(redirect=0)),
    )
)
CONFIG = NicConfig(ports=tuple(replace(port, acl_rx=RULES, acl_tx=RULES) for port in NicConfig().ports))
MIRRORED = (Act.MIRROR, Act.BOTH, Act.DENY_AND_MIRROR)
REDIRECTED = (Act.REDIRECT, Act.BOTH, Act.REDIRECT_ANY)
_ENDS = {Act.DENY: Code.ACL_DENIED, Act.DENY_AND_MIRROR: Code.ACL_DENIED, Act.NO_PORT: Code.ACL_NO_PORT}


def frame(act: Act, length: int, fill: int = 0) -> bytes:
    """A frame of this length that meets the rule of ``act``: UDP, or of an EtherType for experiments; 14 bytes or more,
    but for UDP `SHORT`."""
    addresses = bytes.fromhex("020000000001 020000000002")
    if act == Act.REDIRECT_ANY or length < SHORT:
        kind = _EXPERIMENTAL if act == Act.REDIRECT_ANY else _OTHER_TYPE
        return addresses + kind.to_bytes(2, "big") + bytes([fill & 0xFF]) * (length - 14)
    port = _OTHER_PORT if act == Act.NONE else _FIRST_PORT + act
    ethernet = addresses + b"\x08\0"
    ip = b"\x45\0" + (length - 14).to_bytes(2, "big") + bytes(4) + b"\x40\x11\0\0" + bytes([10, 0, 0, 1, 10, 0, 0, 2])
    udp = b"\0\x07" + port.to_bytes(2, "big") + (length - 34).to_bytes(2, "big") + bytes(2)
    return ethernet + ip + udp + bytes([fill & 0xFF]) * (length - 42)


def traffic(
    rng: Random,
    count: int,
    *,
    acts: tuple[Act, ...] = tuple(Act),
    edges: tuple[Edge, ...] = tuple(Edge),
    longest: int = 400,
    lengths: tuple[int, ...] = (60, 64, 100),
    bad: float = 0.05,
) -> tuple[Batch, Int64]:
    """Random frames, and the act of each."""
    chosen = [rng.choice(acts) for _ in range(count)]
    drawn = [rng.choice((*lengths, rng.randint(SHORT, longest))) for _ in chosen]
    frames = [frame(act, length, i) for i, (act, length) in enumerate(zip(chosen, drawn, strict=True))]
    batch = Batch.of(
        frames,
        edge=[rng.choice(edges) for _ in range(count)],
        queue=[rng.randrange(256) for _ in range(count)],
        bad=[int(rng.random() < bad) for _ in range(count)],
    )
    return batch, np.array(chosen, np.int64)


@dataclass
class Rig:
    """A port whose ACLs hold `RULES`, and whose ``tx_sched`` holds so many beats. ``copies``, ``lost``, ``codes``: of
    all its plays. ``model``: what must agree with the books."""

    target: PortTarget
    tx_beats: int = 2048
    copies: int = 0
    lost: int = 0
    codes: set[int] = field(default_factory=set)
    model: NicPortModel | None = None
    _before: Mapping[str, int] = field(default_factory=dict)

    async def start(self) -> None:
        """Reset, and load the rules."""
        await self.target.configure(CONFIG)
        self._before = {}

    async def play(
        self, batch: Batch, acts: Int64, profiles: Mapping[Edge, str] | None = None, cut: Fault | None = None
    ) -> Outcome:
        """Play, and hold the outcome against the books. AssertionError: they don't close."""
        profiles = profiles or dict.fromkeys(Edge, "none")
        outcome = await self.target.play_with(batch, profiles, cut, lambda: program(self.target, CONFIG))
        before = {} if len(outcome.resets) else self._before
        delta = {name: value - before.get(name, 0) for name, value in outcome.counters.items()}
        assert await self.target.read(PORT["nic.status"].address) == 0b11, "status: not idle, or an end was lost"
        _check_ends(batch, acts, outcome, self.tx_beats)
        _check_frames_out(batch, acts, outcome)
        missing = _check_copies(batch, acts, outcome)
        if not len(outcome.resets):
            counted = sum(delta[f"{slot}.mirror_dropped"] for slot in SLOTS)
            assert missing == counted, f"{missing} copies are missing, {counted} counted"
            _check_counters(batch, outcome, delta)
        if self.model is not None:
            found = self.model.check(batch, outcome, self._before)
            assert not found, "the model says otherwise: " + "; ".join(map(str, found[:4]))
            self.model.commit(batch, outcome, self._before)
        self._before = outcome.counters
        self.copies += int(_is_copy(outcome).sum())
        self.lost += missing
        self.codes |= set(outcome.code.tolist())
        return outcome


def _is_copy(outcome: Outcome) -> np.ndarray:
    return field_of(outcome.meta, "acl_copy") != 0


def _check_ends(batch: Batch, acts: Int64, outcome: Outcome, tx_beats: int) -> None:
    """Each frame has the end that its act says, or one that hangs on timing."""
    for i, code in enumerate(outcome.code.tolist()):
        act, received = Act(int(acts[i])), batch.edge[i] == Edge.WIRE
        wanted = {Code.BAD_FRAME} if batch.bad[i] else {_ENDS.get(act, Code.DELIVERED)}
        if Code.DELIVERED in wanted:
            if batch.beats[i] > tx_beats and received == (act in REDIRECTED):
                wanted = {Code.OVERSIZE}
            if received:
                wanted.add(Code.RX_BUFFER_FULL)
        if len(outcome.resets):
            wanted.add(Code.RESET)
        assert code in wanted, f"frame {i} ({act.name}, {Edge(int(batch.edge[i])).name}) ended with {code}"


def _check_frames_out(batch: Batch, acts: Int64, outcome: Outcome) -> None:
    """Each delivered frame came out once, whole, in order, where its act says; its cycles aren't the copy's."""
    copy, out = _is_copy(outcome), outcome.frames
    source = outcome.source
    assert (source >= 0).all(), f"frames out {np.flatnonzero(source < 0).tolist()} are nobody's"
    times = np.bincount(source[~copy], minlength=len(batch))
    wrong = np.flatnonzero(times != (outcome.code == Code.DELIVERED))
    assert not len(wrong), f"frame {wrong[0]}: code {outcome.code[wrong[0]]}, came out {times[wrong[0]]} times"
    redirected = np.isin(acts, REDIRECTED)
    edge = np.where(redirected, batch.edge, 1 - batch.edge)
    for j, (i, copied) in enumerate(zip(source.tolist(), copy.tolist(), strict=True)):
        assert out.frame(j) == batch.frame(i), f"frame {i} came out changed (copy: {copied})"
        if copied:
            continue
        assert out.edge[j] == edge[i], f"frame {i} ({Act(int(acts[i])).name}) came out at edge {out.edge[j]}"
        first = (int(out.time_ns[j]) - outcome.begin_ns) // 4
        assert outcome.first_out[i] == first, f"frame {i}: first_out {outcome.first_out[i]}, it came in {first}"
        assert outcome.latency_cycles[i] == first - outcome.first_in[i], f"frame {i}: latency"
        assert outcome.last_out[i] >= first + batch.beats[i] - 1, f"frame {i}: last_out"
    for side in Edge:
        for way in Edge:
            order = source[(out.edge == side) & (batch.edge[source] == way) & ~copy]
            assert (np.diff(order) > 0).all(), f"{DIRECTIONS[way]} frames out at {side.name}: {order.tolist()}"
    _check_metadata(batch, acts, outcome, copy)


def _check_metadata(batch: Batch, acts: Int64, outcome: Outcome, copy: np.ndarray) -> None:
    """What stands beside frames to the host."""
    host = np.flatnonzero(outcome.frames.edge == Edge.HOST)
    source, meta = outcome.source[host], outcome.meta[host]
    sent = np.where(batch.edge[source] == Edge.HOST, batch.queue[source], 0)
    act = acts[source]
    for name, wanted in {
        "direction": batch.edge[source],
        "queue": np.where(copy[host], MIRROR_QUEUE, sent),
        "acl_redirect": np.isin(act, REDIRECTED) & ~copy[host],
        "acl_rule": np.where(act == Act.NONE, 0xFFFF, act),
    }.items():
        found = field_of(meta, name).astype(np.int64)
        wrong = np.flatnonzero(found != wanted)
        assert not len(wrong), f"frame {source[wrong[0]]}: meta.{name} {found[wrong[0]]}, not {wanted[wrong[0]]}"
    if len(outcome.resets):
        return
    for way in Edge:
        ours = batch.edge[source] == way
        number = np.cumsum(batch.edge == way) - 1
        numbers = field_of(meta, "seq").astype(np.int64)[ours]
        steps = np.unique((numbers - number[source[ours]]) & 0xFFFF)
        assert len(steps) <= 1, f"{DIRECTIONS[way]}: numbers of frames out don't go with those in"
        # Ingress takes a frame one cycle behind its first beat where nothing holds it up: the first one.
        first = np.flatnonzero(batch.edge == way)[:1]
        stamp = field_of(meta, "timestamp")[source == (first[0] if len(first) else -1)].astype(np.int64)
        assert not len(stamp) or (stamp == (outcome.now >> 32) + 4 * (outcome.first_in[first[0]] + 1)).all(), "now"


def _check_copies(batch: Batch, acts: Int64, outcome: Outcome) -> int:
    """Copies are of frames that are mirrored, one each at most, at the host, in order; returns how many are missing."""
    copy = _is_copy(outcome)
    source = outcome.source[copy]
    wanted = np.isin(acts, MIRRORED) & (batch.bad == 0)
    assert (outcome.frames.edge[copy] == Edge.HOST).all()
    assert wanted[source].all(), f"copies of {source[~wanted[source]].tolist()}, which are not mirrored"
    for way in Edge:
        assert (np.diff(source[batch.edge[source] == way]) > 0).all(), f"copies of {DIRECTIONS[way]}: {source.tolist()}"
    missing = wanted.copy()
    missing[source] = False
    return int(missing.sum())


def _check_counters(batch: Batch, outcome: Outcome, delta: Mapping[str, int]) -> None:
    """The port's own books: in + copies = out + drops; each direction's ends are those that its frames had."""
    out, lengths = outcome.frames, outcome.frames.lengths
    wanted = {}
    for edge, way in DIRECTIONS.items():
        came = batch.edge == edge
        wanted[f"{way}_frames_in"] = int(came.sum())
        wanted[f"{way}_bytes_in"] = int(batch.lengths[came].sum())
        left = out.edge == edge.opposite
        wanted[f"{way}_frames_out"] = int(left.sum())
        wanted[f"{way}_bytes_out"] = int(lengths[left].sum())
        for code in Code:
            if code != Code.NONE:
                wanted[f"{way}_disposition.{code.name}"] = int((outcome.code[came] == code).sum())
    wrong = {name: (delta[name], value) for name, value in wanted.items() if delta[name] != value}
    assert not wrong, f"counters, found and wanted: {wrong}"
    came_in = len(batch) + int(_is_copy(outcome).sum())
    went = len(out) + int((outcome.code >= FIRST_DROP).sum())
    assert came_in == went, f"{came_in} frames in and copies, {went} out and dropped"


def plays(
    rng: Random, count: int, profiles: Sequence[str]
) -> Iterator[tuple[Batch, Int64, dict[Edge, str], Fault | None]]:
    """The arguments of `Rig.play`: under each profile at both edges, at one of them, and with a reset in mid-frame."""
    for profile in profiles:
        for at in (profile, "none"):
            yield *traffic(rng, count), {Edge.WIRE: profile, Edge.HOST: at}, None
        edge = rng.choice(tuple(Edge))
        cut = Fault.reset(edge, frame=rng.randrange(max(1, count // 4)), after_beats=rng.randint(1, 4))
        yield *traffic(rng, count), dict.fromkeys(Edge, profile), cut
