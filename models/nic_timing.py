"""The cycles of a play, held against what the port's pipelines allow.

Where all frames out at an edge came in at the other, each has one cycle in which it must come out, or, where its beats
came with gaps, some. Where redirected frames or copies share an output, the earliest cycle stands and the latest is
that of work conservation: a frame waits while that output has another frame, while the frame before it waits for its
own output, and while the join in front of the transmit buffer has another frame. An output has a frame in every cycle
in which one is there: behind a copy, as behind any other, the next comes at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.frames import Edge, Int64
from models.meta import Code, field_of
from models.nic_copies import CopiesCheck
from models.nic_lane import Lane
from models.nic_pipeline import INGRESS_CYCLES, TX
from models.nic_played import Played, entries
from models.nic_report import Report
from models.nic_stages import pick
from models.nic_wire import RX_CYCLES, TIME_NS, TX_CYCLES

__all__ = ["TimingCheck"]

_STALL_SLACK = 3 * INGRESS_CYCLES + 12 + 24 + 4
"""Cycles that a frame may still need when what held it up has gone, wherever it stood: three frames of a beat in front
of it (two in the register before ingress, one in ingress), what the parser and the ACL take at most of a frame that
they needn't wait for, and the registers between."""
_NEVER = 1 << 62


def _crossed(lane: Lane) -> Int64 | int:
    """Cycles to XGMII, at the most."""
    return TX_CYCLES[1] * lane.to_xgmii if lane.xgmii else 0


@dataclass(frozen=True)
class _Outputs:
    """The cycle behind the frame before at the same output, a copy or not, of each frame in and of each frame out."""

    free: Int64
    free_out: Int64


@dataclass(frozen=True)
class TimingCheck:
    """Holds the cycles of a play against the model. ``depth``, ``frames``: what the buffers hold; ``increment``: of the
    port's time, a cycle, in units of 2**-32 ns."""

    play: Played
    report: Report
    depth: Mapping[Edge, int]
    frames: int
    increment: int

    def run(self) -> None:
        """Report all differences."""
        play, outcome = self.play, self.play.outcome
        self._possible()
        if np.any(np.diff(outcome.resets) <= 0):
            self.report.add(-1, "resets", "rising cycles", outcome.resets.tolist())
            return
        outputs = self._shared_outputs() if play.shared else None
        if play.shared and outputs is None:
            return
        for edge, lane in play.lanes.items():
            if len(lane.index):
                self._entering(lane)
                self._leaving(lane, edge, outputs)
                if edge == Edge.WIRE:
                    self._room(lane)
                self._lost(lane)
        if play.mirrored is not None and outputs is not None:
            CopiesCheck(play, self.report, outputs.free_out, self.depth, self.frames).run()
        if play.xgmii:
            self._crossing()
        if len(outcome.meta):
            self._timestamps()

    def _possible(self) -> None:
        outcome, beats = self.play.outcome, self.play.batch.beats
        sent = self.play.changed.beats
        delivered, lost = outcome.code == Code.DELIVERED, outcome.code == Code.RESET
        first_in, last_in = outcome.first_in, outcome.last_in
        first_out, last_out = outcome.first_out, outcome.last_out
        out = first_out >= 0
        for what, wrong, expected, got in (
            ("first_in (it never entered)", ~lost & (first_in < 0), 0, first_in),
            ("last_in, at the earliest", ~lost & (first_in >= 0) & (last_in < first_in + beats - 1),
             first_in + beats - 1, last_in),
            ("first_out of a frame that is not delivered", out & ~delivered & ~lost, -1, first_out),
            ("first_out (it never came out)", ~out & delivered, 0, first_out),
            ("last_out, at the earliest", out & delivered & (last_out < first_out + sent - 1),
             first_out + sent - 1, last_out),
            ("cycles of the play, at least", np.maximum(last_in, last_out) >= outcome.cycles,
             np.maximum(last_in, last_out) + 1, outcome.cycles),
            ("latency_cycles", outcome.latency_cycles != np.where(delivered & out, first_out - first_in, -1),
             np.where(delivered & out, first_out - first_in, -1), outcome.latency_cycles),
        ):  # fmt: skip
            self.report.each(what, wrong, expected, got)

    def _entering(self, lane: Lane) -> None:
        cut = pick(self.play.outcome.last_in, lane.index) < 0
        end_in = np.where(cut, lane.first_in, lane.last_in)
        overlap = np.zeros(len(cut), np.bool_)
        # A terminate character and the next start lie in neighbouring words, which may be of one cycle.
        shared = 1 if lane.xgmii and lane.pipeline.edge == Edge.WIRE else 0
        overlap[1:] = lane.first_in[1:] + shared <= np.maximum.accumulate(end_in)[:-1]
        what = "first_in (the frame before is still entering)"
        self.report.each(what, overlap, np.append(-1, end_in[:-1]) + 1, lane.first_in, index=lane.index)

    # -- leaving -----------------------------------------------------------------------------------------------------

    def _shared_outputs(self) -> _Outputs | None:
        """At each output the frames follow each other in the order in which they came out. None: nobody can know when
        the copies did."""
        play, outcome = self.play, self.play.outcome
        source, free = outcome.source, np.zeros(len(outcome.frames), np.int64)
        other = play.copy | (source < 0)
        begun, ended = outcome.first_out[source], outcome.last_out[source]
        if other.any():
            if not len(outcome.begun):
                self.report.add(-1, "cycles of the copies out", "one each", "none")
                return None
            begun, ended = np.where(other, outcome.begun, begun), np.where(other, outcome.ended, ended)
        for side in Edge:
            here = np.flatnonzero(outcome.frames.edge == side)
            free[here[1:]] = np.maximum.accumulate(ended[here])[:-1] + (0 if play.xgmii and side == Edge.WIRE else 1)
        overlap = (begun >= 0) & (begun < free)
        what = "first_out (the frame before is still leaving)"
        self.report.each(what, overlap, free, begun, index=source)
        own = np.flatnonzero(~other)
        by_frame = np.zeros(len(outcome), np.int64)
        by_frame[source[own]] = free[own]
        return _Outputs(by_frame, free)

    def _leaving(self, lane: Lane, edge: Edge, outputs: _Outputs | None) -> None:
        sent = lane.delivered
        if outputs is None:
            self._overlap(lane)
            least, most = lane.expected_first_out()
        else:
            least, most = lane.expected_first_out(outputs.free[lane.index])
            most = self._latest_shared(lane, edge, most)
        early, late = sent & (lane.first_out < least), sent & (lane.first_out > most)
        if late.any() and (edge == Edge.HOST or lane.into.stalled is not None):
            met = np.zeros(len(sent), np.bool_) if lane.into.stalled is None else lane.into.stalled
            if edge == Edge.HOST:
                met = met | lane.may_be_full(self.depth[edge], self.frames)
            most = most + np.where(lane.until_calm(met), self._held_up(lane, edge), 0)
            late = sent & (lane.first_out > most)
        self.report.each(
            "first_out", early | late, np.where(early, least, most), lane.first_out, index=lane.index
        )  # fmt: skip

    def _overlap(self, lane: Lane) -> None:
        chain = np.flatnonzero(lane.delivered)
        begins, ends = pick(lane.first_out, chain)[1:], pick(lane.last_out, chain)[:-1]
        ends = ends - pick(lane.to_xgmii, chain)[1:] if lane.xgmii else ends
        if (begins <= ends).any():
            overlap, earliest = np.zeros(len(lane.index), np.bool_), np.zeros(len(lane.index), np.int64)
            overlap[chain[1:]], earliest[chain[1:]] = begins <= ends, ends + 1
            what = "first_out (the frame before is still leaving)"
            self.report.each(what, overlap, earliest, lane.first_out, index=lane.index)

    def _latest_shared(self, lane: Lane, edge: Edge, most: Int64) -> Int64:
        """The latest cycle where others share the outputs."""
        lanes = self.play.lanes
        received = lanes[Edge.WIRE]
        turned = np.zeros(len(lane.index), np.bool_) if lane.turned is None else lane.turned
        behind = np.broadcast_to(lane.behind + lane.spread, most.shape)
        # The frame before may have waited for another output.
        chain = np.flatnonzero(lane.delivered)
        before, after = chain[:-1], chain[1:]
        aside = turned[before] != turned[after]
        most = most.copy()
        most[after] = np.maximum(most[after], np.where(aside, lane.last_out[before] + behind[after], -1))
        if turned.any():
            # And may have been lost while it did.
            most = np.where(lane.lost_before()[1] > 0, _NEVER, most)
        if received.turned is not None and received.turned.any() and (edge == Edge.HOST or lane is received):
            since = int(received.first_in[received.turned].min())
            joined = turned if edge == Edge.WIRE else np.ones(len(turned), np.bool_)
            if edge == Edge.WIRE:
                most = np.where(turned, np.maximum(most, self._behind_the_join(lane) + _crossed(lane)), most)
            most = most + np.where(joined & (lane.first_out >= since), self._held_up(lane, edge), 0)
        if self.play.turned:
            passes = turned if edge == Edge.WIRE else np.ones(len(turned), np.bool_)
            most = np.where(passes, np.maximum(most, self._behind_the_other_output(lane) + behind), most)
        return most

    def _crossing(self) -> None:
        """Received frames come to ingress so far behind their starts as the crossing from the MAC's clock takes."""
        lane, (least, most) = self.play.lanes[Edge.WIRE], RX_CYCLES
        spent = lane.entry - lane.first_in
        early, late = spent < least, spent > most
        what, index = "cycles from start to ingress", lane.index
        self.report.each(what, early | late, np.where(early, least, most), spent, index=index)

    def _held_up(self, lane: Lane, edge: Edge) -> Int64:
        """Cycles by which a frame may come out later than what was seen at the outputs says, once the room or the join
        that it waited for is free. Its own beats get into the buffer only then; before them those of the frames in
        front of it that end there, which no output shows; and with each of these frames, a turn at the join that goes
        to one of the other direction that ends there too."""
        lanes, none = self.play.lanes, np.zeros(0, np.bool_)
        ends_there = {}
        for side, other in lanes.items():
            turned = none if other.turned is None else other.turned & (other.code == Code.OVERSIZE)
            ends_there[side] = ~other.delivered if side == Edge.HOST else turned
        own, across = ends_there[edge], ends_there[edge.opposite]
        turn = int(lanes[edge.opposite].into.beats[: len(across)][across].max(initial=0)) if self.play.turned else 0
        hidden = np.zeros(len(lane.index), np.int64)
        if len(own):
            spent = np.where(own, np.maximum(lane.into.beats, INGRESS_CYCLES) + turn, 0)
            total = np.cumsum(spent)
            hidden = np.append(0, total - np.maximum.accumulate(np.where(own, 0, total)))[:-1]
        return lane.into.beats + hidden + turn + _STALL_SLACK

    def _behind_the_join(self, lane: Lane) -> Int64:
        """When redirected frames come out that waited for a frame of the other direction that was on its way into the
        transmit buffer."""
        other = self.play.lanes[Edge.HOST]
        if not len(other.index):
            return np.full(len(lane.index), -1, np.int64)
        begun = np.searchsorted(np.maximum.accumulate(other.into.first), lane.first_out, "left")
        ends = np.concatenate([[-1], np.maximum.accumulate(other.into.latest)])[begun]
        return ends + lane.into.beats + TX.buffer + TX.after

    def _behind_the_other_output(self, lane: Lane) -> Int64:
        """The last beats out of frames that left the transmit buffer by the other output, and may have stood before
        these."""
        play, lanes = self.play, self.play.lanes
        latest = np.full(len(lane.index), -1, np.int64)
        own_side = play.edge_out[lane.index]
        for side in Edge:
            first, last = [], []
            for other in lanes.values():
                there = other.delivered & (play.edge_out[other.index] == side)
                if other.pipeline.edge == Edge.WIRE:
                    there &= False if other.turned is None else other.turned
                first.append(other.first_out[there])
                last.append(other.last_out[there])
            begins, ends = np.concatenate(first), np.concatenate(last)
            order = np.argsort(begins, kind="stable")
            most = np.concatenate([[-1], np.maximum.accumulate(ends[order])])
            found = most[np.searchsorted(begins[order], lane.first_out + 2, "right")]
            latest = np.where(own_side != side, found, latest)
        return latest

    # -- room --------------------------------------------------------------------------------------------------------

    def _room(self, lane: Lane) -> None:
        depth, frames = self.depth[Edge.WIRE], self.frames
        dropped = lane.code == Code.RX_BUFFER_FULL
        unneeded = dropped & ~lane.may_be_full(depth, frames) if dropped.any() else dropped
        for i in np.flatnonzero(unneeded):
            held = int(lane.held_most(lane.into.last + lane.pipeline.after)[0][i])
            text = f"room for {lane.beats[i]} beats beside at most {held} of {depth}"
            self._tell(lane, i, "drop for want of room", text, "RX_BUFFER_FULL")
        for i in np.flatnonzero(lane.delivered & lane.must_be_full(depth, frames)):
            held = int(lane.held_least(lane.into.latest)[0][i]) - lane.pipeline.elastic
            text = f"no room for {lane.beats[i]} beats beside at least {held} of {depth}"
            self._tell(lane, i, "delivery", text, "DELIVERED")

    def _tell(self, lane: Lane, i: Any, what: str, expected: str, got: str) -> None:
        self.report.add(int(lane.index[i]), what, expected, got, int(lane.first_in[i]))

    def _lost(self, lane: Lane) -> None:
        """A frame with code RESET was in the port when one came: none before the reset overtook it on its way."""
        turned = np.zeros(len(lane.index), np.bool_) if lane.turned is None else lane.turned
        for i in np.flatnonzero(lane.code == Code.RESET):
            at = int(lane.epoch[i])
            if at >= len(self.play.outcome.resets):
                self._tell(lane, i, "reset while it was in the port", "one", "none")
                continue
            later = lane.delivered[i + 1 :] & (lane.epoch[i + 1 :] == at) & (turned[i + 1 :] == turned[i])
            if later.any():
                other = int(lane.index[i + 1 + int(np.argmax(later))])
                self._tell(lane, i, "lost at the reset", f"frame {other} behind it lost too", "that one delivered")

    # -- time --------------------------------------------------------------------------------------------------------

    def _timestamps(self) -> None:
        """The metadata's time is `now` when ingress took the first beat. Where nobody knows the time at the play's
        start or after a reset, one such time must explain all the frames, up to each reset."""
        play, outcome = self.play, self.play.outcome
        at = np.flatnonzero((outcome.source >= 0) & (outcome.frames.edge == Edge.HOST))
        if play.xgmii:
            received = play.batch.edge[outcome.source[at]] == Edge.WIRE
            self._times_of_starts(at[received])
            at = at[~received]
        entry, epoch = entries(outcome, play.lanes, play.unsure)
        source = pick(outcome.source, at)
        known = entry[source] >= 0
        if not known.all():
            at, source = at[known], source[known]
        stamps, entry, epoch = field_of(pick(outcome.meta, at), "timestamp"), entry[source], epoch[source]
        for number in np.unique(epoch) if len(outcome.resets) else epoch[:1]:
            chosen = np.flatnonzero(epoch == number)
            stamp, cycles, index = pick(stamps, chosen), pick(entry, chosen), pick(source, chosen)
            clock = play.clocks.get(int(number))
            if clock is not None:
                expected = clock.stamps(cycles)
                self.report.each("meta.timestamp", stamp != expected, expected, stamp, index=index)
            else:
                self._agree(stamp, cycles, index)

    def _times_of_starts(self, at: Int64) -> None:
        """On XGMII the metadata's time is that of the start, as the MAC knows it."""
        outcome, clock = self.play.outcome, self.play.clocks.get(0)
        if clock is None or len(outcome.resets) or not len(at):
            return
        source = outcome.source[at]
        stamp, now = field_of(outcome.meta[at], "timestamp"), clock.stamps(outcome.first_in[source])
        off = np.abs((stamp - now).astype(np.int64))
        self.report.each("meta.timestamp", off > TIME_NS, now, stamp, index=source)

    def _agree(self, stamp: Any, cycles: Int64, index: Int64) -> None:
        whole, fraction = self.increment >> 32, self.increment & 0xFFFF_FFFF
        cycles = cycles - cycles.min()
        start = (stamp - cycles.astype(np.uint64) * np.uint64(whole)).astype(np.int64)
        # In units of 2**-32 ns, seen from the median: the true start lies in (begin, begin + one ns] of each frame.
        begin = start - start[0] - cycles * fraction / 2**32
        if np.ptp(begin) < 1:
            return
        begin = start - int(np.median(start)) - cycles * fraction / 2**32
        off = begin - np.median(begin)
        wrong = np.abs(off) >= 1
        if not wrong.any():
            wrong[np.argmax(np.abs(off))] = True
        expected = stamp.astype(np.int64) - np.round(off).astype(np.int64)
        self.report.each("meta.timestamp", wrong, expected, stamp, index=index)
