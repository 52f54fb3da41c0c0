"""The frames of one edge on their way through a port: what the stages make of them, and their cycles.

``Course`` is what holds whenever they come, ``Lane`` the same with the cycles that a device reports. A frame's first
beat is taken by ``nic_ingress`` in cycle

    e[k] = max(first_in[k] + 1, e[k-1] + max(4, beats[k-1]))

since one register lies before it and it spends at least 4 cycles on a frame; its last beat in
``l[k] = max(last_in[k] + 1, e[k] + beats[k] - 1)``. Behind it the stages of models/nic_stages.py say when the last beat
gets into the buffer: exactly if the beats came one a cycle, else within a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.frames import Batch, Edge, Int64, Outcome, UInt8
from models.meta import Code, Words, pack_words
from models.nic_acl import AclPassage
from models.nic_ipsec import IpsecPassage
from models.nic_pipeline import INGRESS_CYCLES, Pipeline
from models.nic_stages import Arrival, Bool, Flow, Passage, Stage, UInt16, follow, pick
from models.nic_wire import GAP_CYCLES, TX_CYCLES, arrivals

__all__ = ["Course", "Lane", "counts_up", "epochs", "rises"]

_ROOM_SLACK_BEATS = 4
"""The buffer may learn a few cycles late that beats have left it, so that a frame is lost that just fitted."""
_ROOM_SLACK_FRAMES = 2


@dataclass(frozen=True)
class Course:
    """The frames of one edge on their way to the buffer, whenever they come: their indices in the batch, their beats
    behind ingress, the metadata that ingress writes, and what each stage makes of them; ``written``: registers of the
    port, by name."""

    pipeline: Pipeline
    index: Int64
    kept: Int64
    entry: Mapping[str, NDArray[Any]]
    passages: tuple[Passage, ...]
    written: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, pipeline: Pipeline, index: Int64, kept: Int64, come: Arrival, written: Mapping[str, int]) -> Course:
        """``come``: the frames behind ingress."""
        return cls(pipeline, index, kept, come.fields, _through(pipeline.stages, come, written), written)

    @cached_property
    def acl(self) -> AclPassage:
        """What the ACL makes of them."""
        return next(passage for passage in self.passages if isinstance(passage, AclPassage))

    @property
    def _acl_at(self) -> int:
        return next(at for at, passage in enumerate(self.passages) if passage is self.acl)

    def coloured(self, colour: UInt8) -> Course:
        """The same where metered frames have these colours, one for each place in ``index``."""
        acl, at = self.acl.coloured(colour), self._acl_at
        behind = _through(self.pipeline.stages[at + 1 :], acl.come.behind(acl), self.written)
        return replace(self, passages=(*self.passages[:at], acl, *behind))

    @cached_property
    def ipsec(self) -> IpsecPassage | None:
        """What ESP makes of them; None: it is left out."""
        return next((passage for passage in self.passages if isinstance(passage, IpsecPassage)), None)

    @property
    def resized(self) -> Batch | None:
        """The frames as they leave, where ESP changed some; None: it didn't."""
        if self.ipsec is None or self.ipsec.frames is None:
            return None
        at = self.passages.index(self.ipsec)
        frames = self.ipsec.frames
        for passage in self.passages[at + 1 :]:
            frames = passage.changed(frames)
        return frames

    @cached_property
    def sent(self) -> Int64:
        """int64[n]: beats of the frames on their way into the buffer."""
        if self.ipsec is None or self.ipsec.frames is None:
            return self.kept
        return self.ipsec.frames.beats

    @cached_property
    def gone(self) -> Bool | None:
        """bool[n]: frames that ended in a stage; None: none did."""
        return None if self.ipsec is None else self.ipsec.gone

    @property
    def user(self) -> UInt16:
        """uint16[n]: tuser beside the last beat into the buffer."""
        return self.passages[-1].user

    @cached_property
    def fields(self) -> dict[str, NDArray[Any]]:
        """Metadata by name; of a field that two stages write, the latter's."""
        found = dict(self.entry)
        for passage in self.passages:
            found.update(passage.fields)
        return found

    @property
    def queue(self) -> UInt8:
        """uint8[n]: host queue."""
        return self.fields["queue"]

    @property
    def latency(self) -> Int64:
        """int64[n]: cycles from first beat in to first beat out, of frames alone that come without gaps."""
        way = self.pipeline
        to_buffer = way.to_stages + sum(passage.latency for passage in self.passages)
        cycles: Int64 = to_buffer + self.sent - 1 + way.behind(self.sent, self.acl.redirect)
        return cycles

    @property
    def latency_of_copies(self) -> Int64:
        """As ``latency``, of the mirror's copies: behind the ACL a buffer, the join before the host, egress."""
        passed = self.passages[: self._acl_at + 1]
        beats = self.acl.come.frames.beats
        cycles: Int64 = self.pipeline.to_stages + sum(passage.latency for passage in passed) + beats - 1
        return cycles + self.pipeline.buffer + 2

    def counts(self) -> dict[str, Bool]:
        """By register, which frames its counter counts."""
        return {name: hits for passage in self.passages for name, hits in passage.counts.items()}

    def sums(self) -> dict[str, Int64]:
        """By register, what its counter adds with each frame."""
        return {name: values for passage in self.passages for name, values in passage.sums.items()}

    def meta(self, at: Int64, **others: NDArray[Any]) -> Words:
        """Metadata of frames ``at`` (places in ``index``): what was written on the way, and the fields ``others``."""
        return _packed(self.fields, at, len(self.index), others)

    def meta_of_copies(self, at: Int64, **others: NDArray[Any]) -> Words:
        """As ``meta``, of the mirror's copies."""
        mirror = self.acl.mirror
        if mirror is None or not len(at):
            return pack_words(0, {})
        fields = dict(self.acl.come.fields)
        fields["queue"] = np.maximum(mirror, 0).astype(np.uint8)
        fields["acl_rule"], fields["acl_copy"] = self.acl.rule, np.ones(len(mirror), np.uint8)
        if "tclass" in fields:
            fields["acl_priority"] = fields["tclass"]
        return _packed(fields, at, len(self.index), others)

    def place(self, frames: Int64) -> Int64:
        """Places in ``index`` of these frames, which are among it."""
        whole = len(self.index) and self.index[-1] == len(self.index) - 1
        return frames if whole else np.searchsorted(self.index, frames)


def _through(stages: Iterable[Stage], come: Arrival, written: Mapping[str, int]) -> tuple[Passage, ...]:
    """What the stages make of these frames, one after the other."""
    passages: list[Passage] = []
    for stage in stages:
        passages.append(stage.take(come, written))
        come = come.behind(passages[-1])
    return tuple(passages)


def _packed(fields: Mapping[str, NDArray[Any]], at: Int64, n: int, others: Mapping[str, NDArray[Any]]) -> Words:
    whole = counts_up(at, n)
    chosen = {
        name: values if whole else values[at]
        for name, values in fields.items()
        if name not in others and (whole or values.any())
    }
    return pack_words(len(at), chosen | dict(others))


@dataclass(frozen=True)
class Lane:
    """The frames of one edge that entered the port, in order, with their cycles as the device reports them; ``entry``:
    when ingress took the first beat; ``copied``: when its copy comes out of the ACL;
    ``into``: when they got into the buffer; ``turned``: the frame leaves by the other direction, None: none does;
    ``xgmii``: the wire is XGMII."""

    pipeline: Pipeline
    index: Int64
    first_in: Int64
    last_in: Int64
    beats: Int64
    code: UInt8
    first_out: Int64
    last_out: Int64
    epoch: Int64
    entry: Int64
    copied: Flow
    into: Flow
    turned: Bool | None
    xgmii: bool

    @classmethod
    def of(cls, batch: Batch, outcome: Outcome, course: Course, xgmii: bool = False) -> Lane:
        entered = np.flatnonzero(pick(outcome.first_in, course.index) >= 0)
        index = pick(course.index, entered)
        first_in, last_in, code, bad = (
            pick(column, index) for column in (outcome.first_in, outcome.last_in, outcome.code, batch.bad)
        )
        beats, kept = pick(batch.beats, index), pick(course.kept, entered)
        # A frame that was cut by a reset has no last beat; it may have had any length up to its own.
        last_in = np.where(last_in < 0, first_in, last_in)
        epoch = epochs(outcome, first_in)
        if xgmii and course.pipeline.edge == Edge.WIRE:
            entry = pick(outcome.entry, index)
            first, latest_end = arrivals(entry, kept - 1, pick(batch.lengths, index))
            flow = Flow(first=entry + 1, last=1 + first, latest=1 + latest_end, beats=kept, epoch=epoch)
        else:
            spent = np.zeros(len(index), np.int64)
            spent[1:] = np.maximum(INGRESS_CYCLES, beats)[:-1]
            entry = follow(first_in + 1, spent, epoch)
            end = np.maximum(last_in + 1, entry + beats - 1)
            dense = bool((end == entry + beats - 1).all())
            # Of a frame that is cut at max_frame, the beat at which it is cut.
            last = 1 + np.where(kept == beats, end, entry + kept - 1)
            latest = last if dense else 1 + end - (beats - kept)
            flow = Flow(first=entry + 1, last=last, latest=latest, beats=kept, epoch=epoch)
        copied, going = flow, entered
        left = np.ones(len(entered), np.bool_)
        for passage in course.passages:
            flow = passage.leave(flow, going)
            if passage.gone is not None:
                on = ~pick(passage.gone, going)
                flow, going = flow.only(on), going[on]
                left[left] = on
            if isinstance(passage, AclPassage):
                copied = flow
        if not left.all():
            copied, flow = copied.among(left), flow.among(left)
        if course.ipsec is not None and course.ipsec.frames is not None:
            beats = np.where(pick(course.kept, entered) == beats, pick(course.sent, entered), beats)
        redirect = course.acl.redirect
        return cls(
            pipeline=course.pipeline,
            index=index,
            first_in=first_in,
            last_in=last_in,
            beats=beats,
            # A frame that came in bad may carry the reason of a drop that depends on timing; its own drop doesn't.
            code=np.where((bad != 0) & (code == bad >> 1), np.uint8(Code.BAD_FRAME), code),
            first_out=pick(outcome.first_out, index),
            last_out=pick(outcome.last_out, index),
            epoch=epoch,
            entry=entry,
            copied=copied,
            into=flow,
            turned=None if redirect is None else pick(redirect, entered),
            xgmii=xgmii,
        )

    @property
    def delivered(self) -> Bool:
        chosen: Bool = (self.code == Code.DELIVERED) & (self.last_out >= 0)
        return chosen

    @property
    def to_xgmii(self) -> Bool:
        """bool[n]: the frame leaves on XGMII."""
        if not self.xgmii:
            return np.zeros(len(self.index), np.bool_)
        straight = self.pipeline.edge == Edge.HOST
        turned = np.zeros(len(self.index), np.bool_) if self.turned is None else self.turned
        found: Bool = turned != straight
        return found

    @property
    def behind(self) -> Int64 | int:
        """Cycles from the last beat into the buffer to the first beat out at the least, where nothing is in the way."""
        cycles = self.pipeline.behind(self.into.beats, self.turned)
        return cycles + TX_CYCLES[0] * self.to_xgmii if self.xgmii else cycles

    @property
    def spread(self) -> Int64 | int:
        """How many more they may be."""
        return (TX_CYCLES[1] - TX_CYCLES[0]) * self.to_xgmii if self.xgmii else 0

    def right_behind(self) -> Int64:
        """The cycle behind the last beat out of the frame delivered before, where all leave at one edge and nothing
        else does; on XGMII that of its terminate character, in which the next start may come too."""
        previous = np.zeros(len(self.index), np.int64)
        # Outputs of one edge follow each other, so the latest so far is that of the frame before.
        previous[1:] = np.maximum.accumulate(np.where(self.delivered, self.last_out, -1))[:-1] + 1
        return previous - self.to_xgmii if self.xgmii else previous

    def expected_first_out(self, previous: Int64 | None = None) -> tuple[Int64, Int64]:
        """As ``reference_first_out``: the earliest and the latest. ``previous``: ``right_behind``."""
        previous = self.right_behind() if previous is None else previous
        least: Int64 = np.maximum(self.into.last + self.behind, previous)
        if self.into.exact and not self.xgmii:
            return least, least
        waits = GAP_CYCLES * self.to_xgmii if self.xgmii else 0
        return least, np.maximum(self.into.latest + self.behind + self.spread, previous + waits)

    def held_least(self, time: Int64) -> tuple[Int64, Int64]:
        """For each frame k: of the frames delivered before it, beats that have not passed the output before cycle
        time[k], as few as their cycles allow (``reference_held``), and frames that have not passed whole. A redirected
        frame has gone since nobody knows when."""
        sent = self.delivered if self.turned is None else self.delivered & ~self.turned
        at, before, whole = self._standing(sent, pick(self.last_out, np.flatnonzero(sent)), time)
        if not sent.any():
            return whole, before - at
        out = np.flatnonzero(sent)
        first, beats = pick(self.first_out, out), pick(self.beats, out)
        safe = np.minimum(at, len(out) - 1)
        left = np.clip(beats[safe] - (time - first[safe]), 1, beats[safe])
        return whole + np.where(at < before, left - beats[safe], 0), before - at

    def held_most(self, time: Int64) -> tuple[Int64, Int64]:
        """As ``held_least``, as many as their cycles allow. A redirected frame has gone when the next of those behind
        it was seen at the latest."""
        sent = self.delivered
        out = np.flatnonzero(sent)
        last = pick(self.last_out, out)
        if self.turned is not None:
            last = np.minimum.accumulate(last[::-1])[::-1]
        at, before, whole = self._standing(sent, last, time)
        if not len(out):
            return whole, before - at
        beats, last = pick(self.beats, out), np.maximum.accumulate(last)
        safe = np.minimum(at, len(out) - 1)
        left = np.minimum(beats[safe], last[safe] - time + 1)
        return whole + np.where(at < before, left - beats[safe], 0), before - at

    def _standing(self, sent: Bool, last: Int64, time: Int64) -> tuple[Int64, Int64, Int64]:
        """For each frame k, among the frames that were sent: number of the first that has not passed whole before cycle
        time[k], which is the only one that may have passed in part; how many came before k; beats from that one on."""
        before: Int64 = np.cumsum(sent) - sent
        total = np.concatenate([[0], np.cumsum(pick(self.beats, np.flatnonzero(sent)))])
        at = np.minimum(np.searchsorted(np.maximum.accumulate(last), time, "left"), before)
        return at, before, total[before] - total[at]

    def lost_before(self) -> tuple[Int64, Int64]:
        """For each frame: beats and number of the frames before it, since the last reset, of which nobody knows when
        they left (lost at a reset, or silently)."""
        lost = (self.code == Code.RESET) | (self.code == Code.NONE)
        start = np.searchsorted(self.epoch, self.epoch, "left")
        sums = []
        for values in (np.where(lost, self.beats, 0), lost.astype(np.int64)):
            earlier: Int64 = np.cumsum(values) - values
            sums.append(earlier - earlier[start])
        return sums[0], sums[1]

    def may_be_full(self, depth: int, frames: int) -> Bool:
        """True where the buffer may have lacked room for the frame, by the most that it can have held."""
        first, last = self.into.first, self.into.last
        lost_beats, lost_frames = self.lost_before()
        after = self.pipeline.after
        # Beats come one a cycle at most, so the beat before the last came at the earliest so long after the first; the
        # last may have come later, when less was held.
        early = np.minimum(first + np.maximum(self.beats - 2, 0), last)
        full: Bool = self.held_most(early + after)[0] + lost_beats + self.beats > depth - _ROOM_SLACK_BEATS
        slots: Bool = self.held_most(first + after)[1] + lost_frames + 1 > frames - _ROOM_SLACK_FRAMES
        return full | slots

    def must_be_full(self, depth: int, frames: int) -> Bool:
        """True where the buffer certainly had no room for the frame's last beat, by the least that it can have held."""
        least, count = self.held_least(self.into.latest)
        elastic = self.pipeline.elastic
        full: Bool = (least - elastic + self.beats > depth) | (count - elastic - 1 + 1 > frames)
        return full if self.into.stalled is None else full & ~self.into.stalled

    def until_calm(self, met: Bool) -> Bool:
        """True from a frame that met something until the pipeline has been empty again: all before had left it."""
        position = np.arange(len(self.index))
        empty = np.ones(len(self.index), np.bool_)
        empty[1:] = self.delivered[:-1] & (np.maximum.accumulate(self.last_out)[:-1] < self.first_in[1:])
        calm = np.maximum.accumulate(np.where(empty, position, 0))
        since: Int64 = np.maximum.accumulate(np.where(met, position, -1))
        return since >= calm

    def disturbed(self, depth: int, frames: int) -> Bool:
        """True from a frame that may have met a full buffer until the pipeline has been empty again."""
        return self.until_calm(self.may_be_full(depth, frames))


def counts_up(index: Int64, n: int) -> bool:
    """True of 0, 1, ..., n - 1."""
    return len(index) == n and (not n or bool(index[0] == 0)) and rises(index) and (not n or bool(index[-1] == n - 1))


def rises(index: Int64) -> bool:
    """True where each is greater than the one before it."""
    return not (index[1:] <= index[:-1]).any()


def epochs(outcome: Outcome, first_in: Int64) -> Int64:
    """int64[n]: resets before these cycles."""
    if not len(outcome.resets):
        return np.zeros(len(first_in), np.int64)
    return np.searchsorted(outcome.resets, first_in, "left").astype(np.int64)
