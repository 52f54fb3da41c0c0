"""The mirrors' copies of a play: their cycles, and whether those that are missing had no room.

A copy gets into its mirror's buffer as its frame is first valid at the ACL's output. Behind that it waits for nothing
but the host's output, which has a frame in every cycle in which one is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models.frames import Edge, Int64
from models.meta import Code
from models.nic_lane import Lane
from models.nic_played import Played
from models.nic_report import Report
from models.nic_stages import Bool

__all__ = ["MIRROR_BEATS", "MIRROR_FRAMES", "CopiesCheck"]

MIRROR_BEATS, MIRROR_FRAMES = 1024, 64
"""What the buffer of a mirror holds."""
_SLACK_BEATS, _SLACK_FRAMES = 4, 2
"""As of the port's own buffer: it may learn late that there is room again."""
_BEHIND_THE_MIRROR = 2
"""The join before the host, egress."""
_NEVER = 1 << 62


@dataclass(frozen=True)
class CopiesCheck:
    """Holds the copies against the model. ``free``: int64[m], for each frame out the earliest cycle at its output, that
    behind the frame before; ``depth``, ``frames``: what the port's buffers hold."""

    play: Played
    report: Report
    free: Int64
    depth: Mapping[Edge, int]
    frames: int

    def run(self) -> None:
        """Report all differences."""
        outcome = self.play.outcome
        gone = np.full(len(outcome), -1, np.int64)
        gone[outcome.source[self.play.copy]] = outcome.ended[self.play.copy]
        for edge, lane in self.play.lanes.items():
            if self.play.courses[edge].acl.mirror is not None and len(lane.index):
                self._times(lane, edge)
                self._lost(lane, edge, gone)

    # -- cycles ------------------------------------------------------------------------------------------------------

    def _times(self, lane: Lane, edge: Edge) -> None:
        play, outcome = self.play, self.play.outcome
        at = np.flatnonzero(play.copy & (play.batch.edge[outcome.source] == edge))
        place = np.minimum(np.searchsorted(lane.index, outcome.source[at]), len(lane.index) - 1)
        entered = lane.index[place] == outcome.source[at]
        at, place = at[entered], place[entered]
        begun, ended, free = outcome.begun[at], outcome.ended[at], self.free[at]
        earliest = begun + outcome.frames.beats[at] - 1
        what, index = "last beat out of the copy, at the earliest", outcome.source[at]
        self.report.each(what, ended < earliest, earliest, ended, index=index)
        behind = lane.pipeline.buffer + _BEHIND_THE_MIRROR
        least = np.maximum(lane.copied.last[place] + behind, free)
        most = np.maximum(lane.copied.latest[place] + behind, free)
        early, late = begun < least, begun > most
        if late.any():
            held_up = np.where(self._held_up(lane, edge), self._known_by(lane) + behind, -1)
            most = np.maximum(most, held_up[place])
            late = begun > most
        self.report.each(
            "first beat out of the copy", early | late, np.where(early, least, most), begun, index=index
        )  # fmt: skip

    def _held_up(self, lane: Lane, edge: Edge) -> Bool:
        """The ACL may have waited for room behind it, with frames that it was still to show."""
        met = np.zeros(len(lane.index), np.bool_) if lane.into.stalled is None else lane.into.stalled
        if edge == Edge.HOST:
            met = met | lane.may_be_full(self.depth[edge], self.frames)
        held_up = lane.until_calm(met)
        received = self.play.lanes[Edge.WIRE]
        if edge == Edge.HOST and received.turned is not None and received.turned.any():
            held_up = held_up | (lane.copied.latest >= int(received.first_in[received.turned].min()))
        return held_up

    @staticmethod
    def _known_by(lane: Lane) -> Int64:
        """int64[n]: when a frame had left the ACL, since it, or one behind it, was seen at an output so much later."""
        seen = np.where(lane.delivered, lane.first_out - lane.behind, _NEVER)
        known: Int64 = np.minimum.accumulate(seen[::-1])[::-1]
        return known

    # -- room --------------------------------------------------------------------------------------------------------

    def _lost(self, lane: Lane, edge: Edge, gone: Int64) -> None:
        """A copy is lost where the mirror's buffer may have had no room, or where a reset met it. ``gone``: the cycle
        of each copy's last beat out, -1: none came."""
        course = self.play.courses[edge]
        assert course.acl.mirror is not None
        came = gone[lane.index]
        mirrored = course.acl.mirror[course.place(lane.index)] >= 0
        missing = mirrored & (came < 0) & (lane.epoch == len(self.play.outcome.resets)) & (lane.code != Code.NONE)
        if not missing.any():
            return
        beats, frames = self._held_most(lane, mirrored & (came >= 0), came)
        full = beats + lane.beats > MIRROR_BEATS - _SLACK_BEATS
        full |= frames + 1 > MIRROR_FRAMES - _SLACK_FRAMES
        for i in np.flatnonzero(missing & ~full):
            text = f"room for {lane.beats[i]} beats beside at most {beats[i]} of {MIRROR_BEATS}"
            self.report.add(int(lane.index[i]), "copy", text, "none came out", int(lane.first_in[i]))

    @staticmethod
    def _held_most(lane: Lane, out: Bool, gone: Int64) -> tuple[Int64, Int64]:
        """For each frame: beats and number of the copies before it that the mirror can have held as its own came. A
        beat leaves in each cycle at most, so of the copy on its way out no more can be left than cycles."""
        which = np.flatnonzero(out)
        time = lane.copied.first
        before: Int64 = np.cumsum(out) - out
        if not len(which):
            return np.zeros(len(out), np.int64), before
        last = np.minimum.accumulate(gone[which][::-1])[::-1]
        beats = lane.beats[which]
        total = np.concatenate([[0], np.cumsum(beats)])
        at = np.minimum(np.searchsorted(last, time, "left"), before)
        head = np.minimum(at, len(which) - 1)
        left = np.minimum(beats[head], last[head] - time + 1)
        return total[before] - total[at] + np.where(at < before, left - beats[head], 0), before - at
