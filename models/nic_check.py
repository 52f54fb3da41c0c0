"""What came out of a port, held against what must: codes, queues, bytes, edges, order, metadata, copies, the sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.frames import BEAT_BYTES, Batch, Edge, Int64, Outcome, UInt8, first_difference
from models.meta import FIRST_DROP, Code, Words, pack, unpack, word_of, words_of
from models.nic_lane import Course, counts_up, epochs, rises
from models.nic_played import Played
from models.nic_report import Report, code_name
from models.nic_stages import pick

__all__ = ["FramesCheck", "codes_of", "meta_of", "queues_of"]

_CHECKED = ~words_of([pack({"timestamp": (1 << 64) - 1})])[0]
"""Bits of the metadata that are compared whole; the time is compared with that of other frames."""


def codes_of(batch: Batch, courses: Mapping[Edge, Course], depth: Mapping[Edge, int]) -> UInt8:
    """uint8[n]: the code of each frame, where no reset comes and `rx_buffer` has room."""
    code, beats = np.zeros(len(batch), np.uint8), batch.beats
    for edge, course in courses.items():
        own = pick(beats, course.index) if course.resized is None else course.sent
        unfit = own > depth[edge]
        if course.acl.redirect is not None:
            unfit |= course.acl.redirect & (own > min(depth.values()))
        passed = np.where(unfit, np.uint8(Code.OVERSIZE), np.uint8(Code.DELIVERED))
        code[course.index] = np.where(course.user & 1, course.user >> 1 & 0x7F, passed)
    return code


def queues_of(batch: Batch, courses: Mapping[Edge, Course]) -> UInt8:
    """uint8[n]: the host queue that the end of each frame names."""
    queue = np.zeros(len(batch), np.uint8)
    for course in courses.values():
        queue[course.index] = course.queue
    return queue


def meta_of(
    course: Course, outcome: Outcome, source: Int64, before: Mapping[str, int], copies: bool, **others: NDArray[Any]
) -> Words:
    """Metadata beside frames ``source`` of this course, or beside their copies, without ``timestamp`` unless it is
    among ``others``. Frames are numbered as they enter, from 0 after a reset; ``before``: the counters at the start of
    the play."""
    entered = course.index[pick(outcome.first_in, course.index) >= 0]
    number, earlier = np.arange(len(entered)), before.get(f"{course.pipeline.name}_frames_in", 0)
    if len(outcome.resets):
        epoch = epochs(outcome, outcome.first_in[entered])
        number -= np.searchsorted(epoch, epoch, "left")
        number[epoch == 0] += earlier
    else:
        number += earlier
    seq = np.zeros(len(outcome), np.uint16)
    seq[entered] = number & 0xFFFF
    write = course.meta_of_copies if copies else course.meta
    return write(course.place(source), seq=seq[source], **others)


@dataclass(frozen=True)
class FramesCheck:
    """Holds the frames out of a play against those in. ``depth``: beats that the buffers hold; ``before``: the counters
    at the start of the play."""

    play: Played
    report: Report
    depth: Mapping[Edge, int]
    before: Mapping[str, int]

    def run(self) -> None:
        """Report all differences."""
        if self.play.back:
            earlier = "not before a frame that was metered in an earlier play"
            self.report.add(-1, "the port's time at the play's start", earlier, self.play.outcome.now)
        self._ends()
        self._frames_out()
        if self.play.mirrored is not None:
            self._copies()
        self._beside()
        self._sum()

    def _ends(self) -> None:
        play = self.play
        batch, outcome = play.batch, play.outcome
        observed, expected = outcome.code, codes_of(batch, play.courses, self.depth)
        queue = queues_of(batch, play.courses)
        wire = batch.edge == Edge.WIRE
        lost = observed == Code.RESET
        allowed = observed == expected
        if not allowed.all():
            allowed |= lost & (len(outcome.resets) > 0)
            # A frame that the buffer could never hold is full or oversize, as the buffer sees it first.
            unfit = (expected == Code.OVERSIZE) & (batch.beats > self.depth[Edge.WIRE])
            allowed |= wire & (observed == Code.RX_BUFFER_FULL) & ((expected == Code.DELIVERED) | unfit)
        self.report.each("code", ~allowed, expected, observed, code_name)
        self.report.each("queue", allowed & ~lost & (outcome.queue != queue), queue, outcome.queue)

    def _frames_out(self) -> None:
        play, outcome = self.play, self.play.outcome
        source = outcome.source
        for j in np.flatnonzero(source < 0):
            edge = Edge(int(outcome.frames.edge[j])).name
            self.report.add(-1, f"frame out {j} ({edge}) without a frame in", "none", "one")
        known = np.flatnonzero(source >= 0)
        if play.mirrored is not None:
            known = known[~play.copy[known]]
        source = pick(source, known)
        times = np.bincount(source, minlength=len(outcome))
        delivered = outcome.code == Code.DELIVERED
        self.report.each("times it came out", times != delivered, delivered, times)
        frames = outcome.frames if len(known) == len(outcome.frames) else outcome.frames.select(known)
        edge_in, edge_out, port_in = play.batch.edge, play.edge_out, play.batch.port
        if not counts_up(source, len(outcome)):
            edge_in, edge_out, port_in = edge_in[source], edge_out[source], port_in[source]
        queue = queues_of(play.batch, play.courses)[source] if play.turned or self._queues else 0
        to_host = frames.edge == Edge.HOST
        for what, wrong, expected, got in (
            ("edge out", frames.edge != edge_out, edge_out, frames.edge),
            ("port out", frames.port != port_in, port_in, frames.port),
            ("bad mark out", frames.bad != 0, 0, frames.bad),
            ("queue of the frame out", to_host & (frames.queue != queue), queue, frames.queue),
        ):
            self.report.each(what, wrong, expected, got, index=source)
        for side in Edge:
            here = frames.edge == side
            for came in Edge if play.turned else (side.opposite,):
                self._order(source[here & (edge_in == came)] if play.turned else source[here], "order")
        self._bytes(play.bytes_out, source, frames)

    @property
    def _queues(self) -> bool:
        return bool(self.play.courses[Edge.WIRE].queue.any())

    def _order(self, order: Int64, what: str) -> None:
        if rises(order):
            return
        latest = np.maximum.accumulate(order)
        for j in np.flatnonzero(order[1:] < latest[:-1]) + 1:
            cycle = int(self.play.outcome.first_out[order[j]])
            text = f"before frame {latest[j - 1]}", f"behind frame {latest[j - 1]}"
            self.report.add(int(order[j]), what, *text, cycle)

    def _copies(self) -> None:
        """Copies are as they came in, for the mirror's queue, at the host edge, in their order by direction. How many
        may be missing, ``TimingCheck`` says."""
        play, outcome = self.play, self.play.outcome
        assert play.mirrored is not None
        at = np.flatnonzero(play.copy)
        frames, source = outcome.frames.select(at), outcome.source[at]
        times = np.bincount(source, minlength=len(outcome))
        self.report.each("copies of it that came out", times > play.mirrored, play.mirrored, times)
        queue = np.zeros(len(outcome), np.int64)
        for course in play.courses.values():
            if course.acl.mirror is not None:
                queue[course.index] = np.maximum(course.acl.mirror, 0)
        for what, expected, got in (
            ("port of the copy out", play.batch.port[source], frames.port),
            ("bad mark of the copy out", 0, frames.bad),
            ("queue of the copy out", queue[source], frames.queue),
        ):
            self.report.each(what, got != expected, expected, got, index=source)
        for came in Edge:
            self._order(source[play.batch.edge[source] == came], "order of the copies")
        self._bytes(play.copied, source, frames, "copy, ")

    def _bytes(self, whole: Batch, source: Int64, frames: Batch, what: str = "") -> None:
        expected = whole if counts_up(source, len(whole)) else whole.select(source)
        if np.array_equal(expected.offset, frames.offset) and np.array_equal(expected.data, frames.data):
            return
        same = expected.lengths == frames.lengths
        suspects = set(np.flatnonzero(~same).tolist())
        left, right = expected.select(same), frames.select(same)
        touched = np.searchsorted(left.offset, np.flatnonzero(left.data != right.data), "right") - 1
        suspects |= set(np.flatnonzero(same)[np.unique(touched)].tolist())
        for j in sorted(suspects):
            frame = int(source[j])
            cycle = int(self.play.outcome.first_out[frame])
            wanted, came = int(expected.lengths[j]), int(frames.lengths[j])
            if wanted != came:
                self.report.add(frame, f"{what}length", wanted, came, cycle)
            at = first_difference(expected.select([j]), frames.select([j]))
            if at is not None and at.left is not None and at.right is not None:
                beat = cycle + at.offset // BEAT_BYTES if cycle >= 0 else -1
                self.report.add(frame, f"{what}byte {at.offset}", f"{at.left:#04x}", f"{at.right:#04x}", beat)

    def _beside(self) -> None:
        """What stands beside the frames to the host: tuser and the metadata, but for the time in it."""
        play, outcome = self.play, self.play.outcome
        at = np.flatnonzero((outcome.source >= 0) & (outcome.frames.edge == Edge.HOST))
        source = pick(outcome.source, at)
        came = play.batch.edge[source]
        for edge, course in play.courses.items():
            own = came == edge
            if play.mirrored is None:
                if edge == Edge.WIRE or play.turned:
                    self._beside_of(course, at if own.all() else at[own], False)
                continue
            copied = play.copy[at]
            self._beside_of(course, at[own & ~copied], False)
            self._beside_of(course, at[own & copied], True)

    def _beside_of(self, course: Course, at: Int64, copies: bool) -> None:
        outcome = self.play.outcome
        source = pick(outcome.source, at)
        if not len(source):
            return
        if copies and course.acl.mirror is None:
            return  # It is told that there is such a copy.
        what = "copy, " if copies else ""
        if len(outcome.user):
            user, came = course.acl.come.user if copies else course.user, pick(outcome.user, at)
            user = user[course.place(source)]
            self.report.each(f"{what}tuser", user != came, user, came, hex, source)
        if not len(outcome.meta):
            return
        expected, beside = meta_of(course, outcome, source, self.before, copies), pick(outcome.meta, at)
        difference = expected ^ beside
        difference &= _CHECKED
        if not difference.any():
            return
        for j in np.flatnonzero(difference.any(axis=1)):
            frame = int(source[j])
            wanted, got = unpack(word_of(expected[j])), unpack(word_of(beside[j]))
            for name, value in wanted.items():
                if name != "timestamp" and value != got[name]:
                    cycle = int(outcome.first_out[frame])
                    self.report.add(frame, f"{what}meta.{name}", f"{value:#x}", f"{got[name]:#x}", cycle)

    def _sum(self) -> None:
        """in + generated + copies = delivered + consumed + drops + in flight."""
        play, outcome = self.play, self.play.outcome
        source = outcome.source
        generated = int(np.count_nonzero(source < 0))
        copies = 0
        own = source if not generated else source[source >= 0]
        if play.mirrored is not None:
            copies = int(play.copy.sum())
            own = source[(source >= 0) & ~play.copy]
        copies += len(own) - int(np.count_nonzero(np.bincount(own)))
        counts = np.bincount(outcome.code, minlength=256)
        consumed, drops, in_flight = int(counts[Code.CONSUMED]), int(counts[FIRST_DROP:].sum()), int(counts[Code.NONE])
        n = len(outcome)
        came, went = n + generated + copies, len(source) + consumed + drops + in_flight
        if came != went:
            left = f"{n} in + {generated} generated + {copies} copies = {came}"
            right = f"{len(source)} delivered + {consumed} consumed + {drops} dropped + {in_flight} in flight = {went}"
            self.report.add(-1, "accounting", left, right)
