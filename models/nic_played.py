"""A play of a device as the model sees it: what became of every frame in, and what each frame out is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from models.acl_meter import Colour
from models.frames import Batch, Edge, Int64, Outcome, UInt8
from models.meta import Code, field_of
from models.nic_acl import FRAMES_THAT_WAIT, AclPassage, mark_dscp_batch
from models.nic_lane import Course, Lane, epochs
from models.nic_meters import UNKNOWN, Banks, Clock, ask, full, time_after_reset
from models.nic_stages import Bool
from models.nic_wire import padded
from models.port_map import PORT

__all__ = ["Played", "changed_bytes", "copied_bytes", "entries", "played"]

_ROOM_IN_FRONT = (900, FRAMES_THAT_WAIT - 16)
"""Beats and frames that stand in the ACL before a full buffer behind it is felt at ingress."""


@dataclass(frozen=True)
class Played:
    """The frames in, by edge, with their colours, and the frames out.

    courses  what becomes of them; metered frames have the colours that the meters gave them, or, where nobody can
             know, that fit what the device did
    lanes    the same with the device's cycles
    unsure   by edge, bool[frames of the lane]: the cycle in which ingress took the frame isn't known
    guessed  edges with metered frames whose colours nobody can know
    clocks   by number of resets before: the port's time, where it is known
    banks    what is in the meters behind the play
    back     the device's time is before that of a frame that was metered in an earlier play
    sent     where the wire is XGMII, the frames as they were there; None: it is a stream
    """

    batch: Batch
    outcome: Outcome
    courses: Mapping[Edge, Course]
    lanes: Mapping[Edge, Lane]
    unsure: Mapping[Edge, Bool]
    guessed: frozenset[Edge]
    clocks: Mapping[int, Clock]
    banks: Banks
    back: bool
    sent: Batch | None = None

    @property
    def xgmii(self) -> bool:
        """The wire is XGMII."""
        return self.sent is not None

    @cached_property
    def edge_out(self) -> UInt8:
        """uint8[n]: where each frame in leaves the port, if it is delivered."""
        edge = 1 - self.batch.edge
        for course in self.courses.values():
            if course.acl.redirect is not None:
                edge[course.index[course.acl.redirect]] = course.pipeline.edge
        return edge

    @cached_property
    def changed(self) -> Batch:
        """The frames in with the bytes that the port gives them."""
        return changed_bytes(self.batch, self.courses)

    @cached_property
    def copied(self) -> Batch:
        """The frames in as a mirror copies them."""
        return copied_bytes(self.batch, self.courses)

    @cached_property
    def bytes_out(self) -> Batch:
        """The frames in as they leave the port."""
        changed = self.changed
        if not self.xgmii:
            return changed
        # What goes to the wire is padded, whichever edge it came from.
        padding = padded(replace(changed, edge=self.edge_out))
        return replace(padding, edge=changed.edge)

    @cached_property
    def mirrored(self) -> Bool | None:
        """bool[n]: a copy is made of the frame; None: of none."""
        if all(course.acl.mirror is None for course in self.courses.values()):
            return None
        found = np.zeros(len(self.batch), np.bool_)
        for course in self.courses.values():
            if course.acl.mirror is not None:
                found[course.index] = course.acl.mirror >= 0
        return found

    @cached_property
    def copy(self) -> Bool:
        """bool[m]: the frame out is a mirror's copy."""
        outcome = self.outcome
        copy = np.zeros(len(outcome.source), np.bool_)
        if self.mirrored is None:
            return copy
        at_host = (outcome.frames.edge == Edge.HOST) & (outcome.source >= 0)
        if len(outcome.meta):
            said: Bool = at_host & (field_of(outcome.meta, "acl_copy") != 0)
            return said
        self._find_copies(copy, at_host)
        return copy

    def _find_copies(self, copy: Bool, at_host: Bool) -> None:
        """A device that shows no metadata doesn't say which are copies: of the frames that come to the host once too
        often, one for the mirror's queue with the bytes that came in, if there is one."""
        outcome = self.outcome
        assert self.mirrored is not None
        delivered = (outcome.code == Code.DELIVERED) & (self.edge_out == Edge.HOST)
        here: dict[int, list[int]] = {}
        for j in np.flatnonzero(at_host & self.mirrored[outcome.source]).tolist():
            here.setdefault(int(outcome.source[j]), []).append(j)
        for course in self.courses.values():
            if course.acl.mirror is None:
                continue
            for place in np.flatnonzero(course.acl.mirror >= 0).tolist():
                source = int(course.index[place])
                frames, queue = here.get(source, []), course.acl.mirror[place]
                if len(frames) > delivered[source]:
                    alike = [
                        j
                        for j in frames
                        if outcome.frames.queue[j] == queue and outcome.frames.frame(j) == self.copied.frame(source)
                    ]
                    copy[alike[0] if alike else frames[-1]] = True

    @cached_property
    def turned(self) -> bool:
        """A frame is redirected."""
        return any(course.acl.redirect is not None for course in self.courses.values())

    @cached_property
    def shared(self) -> bool:
        """An output has frames of both directions, or copies."""
        return self.turned or self.mirrored is not None


def changed_bytes(batch: Batch, courses: Mapping[Edge, Course]) -> Batch:
    """The frames as they leave the port."""
    resized = [(course.index, frames) for course in courses.values() if (frames := course.resized) is not None]
    marking = [course for course in courses.values() if course.acl.mark is not None and course.resized is None]
    if marking:
        kind, at = np.zeros(len(batch), np.uint8), np.zeros(len(batch), np.uint8)
        mark = np.full(len(batch), -1, np.int16)
        for course in marking:
            assert course.acl.mark is not None
            mark[course.index] = course.acl.mark
            kind[course.index], at[course.index] = (course.acl.come.fields[name] for name in ("l3_kind", "l3_offset"))
        batch = mark_dscp_batch(batch, kind, at, mark)
    return _in_place(batch, resized)


def copied_bytes(batch: Batch, courses: Mapping[Edge, Course]) -> Batch:
    """The frames as they come to the ACL, which is what a mirror copies."""
    received = courses[Edge.WIRE]
    if received.ipsec is None or received.ipsec.frames is None:
        return batch
    return _in_place(batch, [(received.index, received.acl.come.frames)])


def _in_place(batch: Batch, others: Sequence[tuple[Int64, Batch]]) -> Batch:
    """The batch with other bytes in place of those of some frames: their indices, and all of them."""
    if not others:
        return batch
    order = np.arange(len(batch))
    start = len(batch)
    for index, _ in others:
        order[index] = start + np.arange(len(index))
        start += len(index)
    whole = Batch.concat([batch, *(frames for _, frames in others)]).select(order)
    return replace(batch, data=whole.data, offset=whole.offset)


def played(
    batch: Batch,
    outcome: Outcome,
    courses: Mapping[Edge, Course],
    banks: Banks,
    increment: int,
    depth: Mapping[Edge, int],
    frames: int,
    sent: Batch | None = None,
) -> Played:
    """``courses``: with all that is metered green; ``banks``: what was in the meters before; ``increment``: of time, a
    cycle; ``depth``, ``frames``: what the buffers hold; ``sent``: as in ``Played``."""
    lanes = {edge: Lane.of(batch, outcome, course, sent is not None) for edge, course in courses.items()}
    unsure = {edge: _unsure(lanes, edge, depth[edge], frames) for edge in courses}
    clocks = _clocks(outcome, lanes, unsure, increment)
    coloured, after, guessed, back = dict(courses), dict(banks), set(), False
    for edge, course in courses.items():
        meter, lane = course.acl.meter, lanes[edge]
        resets = len(outcome.resets)
        new = full(course.acl.rule_set)
        if meter is None:
            after[edge] = new if resets else banks[edge]
            continue
        place = course.place(lane.index)
        lengths = course.acl.come.frames.lengths[place]
        shades, after[edge], went = ask(banks[edge], meter[place], lane, lengths, clocks, unsure[edge], resets, new)
        back |= went
        colour = np.zeros(len(course.index), np.uint8)
        colour[place] = shades
        blank = place[(meter[place] >= 0) & (shades == UNKNOWN)]
        if len(blank):
            guessed.add(edge)
            _guess(batch, outcome, course, colour, blank)
        coloured[edge] = course.coloured(colour)
    return Played(batch, outcome, coloured, lanes, unsure, frozenset(guessed), clocks, after, back, sent)


def _unsure(lanes: Mapping[Edge, Lane], edge: Edge, depth: int, frames: int) -> Bool:
    """bool[n]: frames that may have waited before ingress for room behind it."""
    lane = lanes[edge]
    if lane.xgmii and edge == Edge.WIRE:
        # Their meters go by the MAC's time, which is known to some ns only.
        return np.ones(len(lane.index), np.bool_)
    met = np.zeros(len(lane.index), np.bool_) if lane.into.stalled is None else lane.into.stalled
    if edge == Edge.HOST and len(lane.index):
        beats, count = _ROOM_IN_FRONT
        other = lanes[Edge.WIRE]
        if other.turned is not None and other.turned.any():
            # What was redirected may stand in this buffer, and nobody knows how long.
            aside = other.turned & (other.code == Code.DELIVERED) | (other.code == Code.RESET)
            start = int(other.first_in[aside].min(initial=1 << 62))
            met = met | (lane.last_in >= start) & lane.may_be_full(
                depth + beats - _most_at_once(other, aside), frames + count - int(aside.sum())
            )
        met = met | lane.may_be_full(depth + beats, frames + count)
    return lane.until_calm(met) if met.any() else met


def _most_at_once(lane: Lane, which: Bool) -> int:
    """Beats of these frames that can be in the port together."""
    index = np.flatnonzero(which)
    if not len(index):
        return 0
    ends = np.where(lane.last_out[index] < 0, 1 << 62, lane.last_out[index])
    came, went = np.argsort(lane.first_in[index], kind="stable"), np.argsort(ends, kind="stable")
    total = np.concatenate([[0], np.cumsum(lane.beats[index][went])])
    gone = total[np.searchsorted(ends[went], lane.first_in[index][came], "left")]
    return int((np.cumsum(lane.beats[index][came]) - gone).max())


def _clocks(
    outcome: Outcome, lanes: Mapping[Edge, Lane], unsure: Mapping[Edge, Bool], increment: int
) -> dict[int, Clock]:
    clocks = {0: Clock(outcome.now, increment)} if outcome.now >= 0 else {}
    # With another increment the time grew otherwise until it was programmed.
    if not len(outcome.resets) or not len(outcome.meta) or increment != PORT["nic.time_increment"].reset:
        return clocks
    entry, epoch = entries(outcome, lanes, unsure)
    at = np.flatnonzero((outcome.source >= 0) & (outcome.frames.edge == Edge.HOST))
    source = outcome.source[at]
    at, source = at[entry[source] >= 0], source[entry[source] >= 0]
    stamps = field_of(outcome.meta[at], "timestamp")
    for number in range(1, len(outcome.resets) + 1):
        some = epoch[source] == number
        base = time_after_reset(stamps[some].tolist(), entry[source[some]].tolist(), increment)
        if base is not None:
            clocks[number] = Clock(base, increment)
    return clocks


def entries(outcome: Outcome, lanes: Mapping[Edge, Lane], unsure: Mapping[Edge, Bool]) -> tuple[Int64, Int64]:
    """int64[n] each: the cycle in which ingress took each frame in, -1 where nobody knows, and the resets before it."""
    entry = np.full(len(outcome), -1, np.int64)
    for edge, lane in lanes.items():
        entry[lane.index] = np.where(unsure[edge], -1, lane.entry)
    return entry, epochs(outcome, outcome.first_in)


def _guess(batch: Batch, outcome: Outcome, course: Course, colour: UInt8, blank: Int64) -> None:
    """Colours of frames at the places ``blank`` that fit what the device did."""
    acl: AclPassage = course.acl
    assert acl.meter is not None
    index = course.index[blank]
    colour[blank] = np.where(outcome.code[index] == Code.ACL_POLICED, Colour.RED, Colour.GREEN)
    yellow = colour.copy()
    yellow[blank] = np.where(colour[blank] == Colour.RED, Colour.RED, Colour.YELLOW)
    marked = course.coloured(yellow).acl.mark
    if marked is None:
        return
    # Of those that came out, the frames whose bytes are those of a yellow one, and not of a green one.
    plain = acl.mark[blank] if acl.mark is not None else np.full(len(blank), -1, np.int16)
    some = blank[(marked[blank] >= 0) & (marked[blank] != plain)]
    kind, at = (acl.come.fields[name][some] for name in ("l3_kind", "l3_offset"))
    wanted = mark_dscp_batch(batch.select(course.index[some]), kind, at, marked[some])
    out = {int(source): j for j, source in enumerate(outcome.source)}
    for place, data in zip(some.tolist(), wanted, strict=True):
        j = out.get(int(course.index[place]))
        if j is not None and outcome.frames.frame(j) == data:
            colour[place] = Colour.YELLOW
