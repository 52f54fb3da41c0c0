"""Golden model of block ``lib``: what the shared stream modules do with whole frames, and in which cycle.

Written from docs/architecture.md sections 2 and 3. Everything here speaks of frames, beats and cycle numbers; a cycle
number is that of the cycle in which a handshake takes place or a ``tvalid`` rises. Where timing inside a module decides
(does a beat that is read in this cycle make room for one that is written in it?) the model gives every outcome that the
contract allows, and a bench takes the one that it saw.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

__all__ = [
    "ADAPTER_LATENCY",
    "ARB_MUX_LATENCY",
    "CUT_THROUGH_LATENCY",
    "DEMUX_LATENCY",
    "FRAME_MODE_LATENCY",
    "REGISTER_LATENCY",
    "CutFrame",
    "FifoFrame",
    "FrameFifo",
    "RoundRobin",
    "Verdict",
    "adapter_latency",
    "beat_count",
    "crc32",
    "cut_frame_fits",
    "demux",
    "first_out_cycle",
    "last_out_cycle",
    "waits_fairly",
]

REGISTER_LATENCY = 1
ARB_MUX_LATENCY = 1
DEMUX_LATENCY = 1
CUT_THROUGH_LATENCY = 2
"""``axis_fifo`` with ``FRAME_MODE=0``: cycles after the first beat."""
FRAME_MODE_LATENCY = 2
"""``axis_fifo`` with ``FRAME_MODE=1``: cycles after the last beat."""
ADAPTER_LATENCY = 1
"""``axis_adapter``: cycles after the input beat that completes an output beat."""


def beat_count(length: int, width: int = 16) -> int:
    """Beats of a frame of ``length`` bytes on a stream of ``width`` bytes."""
    if length < 1:
        raise ValueError(f"a frame has at least one byte, not {length}")
    return -(-length // width)


def first_out_cycle(arrived: int, latency: int, previous_last_out: int = -1) -> int:
    """Cycle in which the first beat's ``tvalid`` rises at the output of a module without bubbles.

    arrived: cycle of the input handshake that the latency counts from (first beat, or last in frame mode);
    previous_last_out: cycle of the last output handshake of the frame delivered before, -1 for none.
    """
    return max(arrived + latency, previous_last_out + 1)


def last_out_cycle(first_out: int, beats: int, last_in: int, latency: int) -> int:
    """Cycle of the last output handshake when nobody pauses: one beat a cycle, none before it has come in."""
    return max(first_out + beats - 1, last_in + latency)


def adapter_latency(length: int, s_width: int, m_width: int) -> int:
    """``axis_adapter``'s latency for a gapless frame: an output beat follows the input beat that completes it.

    Widths in bytes. To a narrower stream that is the first beat itself; to a wider one the beat that fills the word, or
    the frame's last.
    """
    completing = min(beat_count(length, s_width), max(1, m_width // s_width))
    return ADAPTER_LATENCY + completing - 1


def crc32(data: bytes) -> int:
    """The FCS of a frame as ``zlib.crc32`` numbers it (IEEE 802.3 clause 3.2.9): low byte first on the wire."""
    return zlib.crc32(data)


def demux(dest: int, outputs: int) -> int | None:
    """Output that a frame goes to; None: ``dest`` is none, and the frame is dropped."""
    return dest if 0 <= dest < outputs else None


# ------------------------------------------------------------------------------------------------------- frame FIFO


class Verdict(IntEnum):
    """What became of a frame in ``axis_fifo``: delivered, or ``drop_cause``."""

    DELIVERED = 0
    BAD = 1
    FULL = 2
    OVERSIZE = 3


@dataclass(frozen=True)
class FifoFrame:
    """A frame as the FIFO's two sides saw it: cycles of the first and last handshake; -1: it didn't come out."""

    beats: int
    bad: bool
    first_in: int
    last_in: int
    first_out: int = -1
    last_out: int = -1


class FrameFifo:
    """``axis_fifo`` in frame mode: which frames are delivered, which are dropped, and why.

    A frame that is bad counts as bad whatever else it is. One of more than ``depth`` beats is oversize where the source
    waits for room, and full where it doesn't; otherwise ``full`` depends on what has been read when the frame comes in.
    """

    BEATS_BESIDE = 2
    """Beats that may stand in output registers beside the ``depth`` beats of memory."""
    TURNAROUND = 4
    """Cycles that a read may take until the write side knows of the room."""

    def __init__(self, depth: int, frames: int, *, drop_bad: bool, drop_full: bool) -> None:
        self.depth = depth
        self.frames = frames
        self.drop_bad = drop_bad
        self.drop_full = drop_full

    def fixed(self, beats: int, bad: bool) -> Verdict | None:
        """The verdict where it depends on the frame alone; None where timing decides between delivered and full."""
        if bad and self.drop_bad:
            return Verdict.BAD
        if beats > self.depth:
            return Verdict.FULL if self.drop_full else Verdict.OVERSIZE
        return None if self.drop_full else Verdict.DELIVERED

    def allowed(self, history: Sequence[FifoFrame]) -> list[frozenset[Verdict]]:
        """For each frame of ``history``, in the order of arrival, the verdicts that the contract allows.

        A frame is surely delivered when it would fit though nothing were read while it comes in; it is surely dropped
        when it doesn't fit though everything that was read until its end had made room at once.
        """
        earliest: list[int] = []
        latest: list[int] = []
        ends: list[int] = []
        for frame in history:
            if frame.last_out >= 0:
                slip = frame.last_out - frame.first_out - (frame.beats - 1)
                earliest += range(frame.first_out, frame.first_out + frame.beats)
                latest += range(frame.first_out + slip, frame.last_out + 1)
                ends.append(frame.last_out)
        result: list[frozenset[Verdict]] = []
        beats_before = frames_before = 0
        for frame in history:
            fixed = self.fixed(frame.beats, frame.bad)
            if fixed is not None:
                result.append(frozenset({fixed}))
            else:
                begin, end = frame.first_in - self.TURNAROUND, frame.last_in
                most = beats_before - min(beats_before, bisect_left(latest, begin))
                least = beats_before - min(beats_before, bisect_right(earliest, end))
                most_frames = frames_before - min(frames_before, bisect_left(ends, begin))
                fits = most + frame.beats <= self.depth and most_frames < self.frames
                hopeless = least + frame.beats > self.depth + self.BEATS_BESIDE
                allowed = {Verdict.DELIVERED, Verdict.FULL}
                if fits:
                    allowed.remove(Verdict.FULL)
                if hopeless:
                    allowed.remove(Verdict.DELIVERED)
                result.append(frozenset(allowed))
            if frame.last_out >= 0:
                beats_before += frame.beats
                frames_before += 1
        return result


# ---------------------------------------------------------------------------------------------------------- arbiter


class RoundRobin:
    """``axis_arb_mux``: after a frame of input ``i`` the search for the next begins at ``i + 1``.

    Inputs from ``first`` upwards yield: they have a round of their own, in which one is served only when no input below
    ``first`` has a frame.
    """

    def __init__(self, inputs: int, first: int | None = None) -> None:
        below = inputs if first is None else first
        self._rounds = [_Round(range(below)), _Round(range(below, inputs))]

    def grant(self, requests: Sequence[bool]) -> int | None:
        """The input whose frame is next when these have one; None when none has."""
        found = (turns.grant(requests) for turns in self._rounds)
        return next((index for index in found if index is not None), None)


class _Round:
    """Inputs that take turns."""

    def __init__(self, inputs: Sequence[int]) -> None:
        self._order = list(inputs)

    def grant(self, requests: Sequence[bool]) -> int | None:
        for place, index in enumerate(self._order):
            if requests[index]:
                self._order = self._order[place + 1 :] + self._order[: place + 1]
                return index
        return None


def waits_fairly(order: Iterable[tuple[int, int, int]], inputs: int) -> str | None:
    """Checks the bound on waiting: a frame that is offered sees at most ``inputs`` frames of others go first.

    That is the one under way and one of each other input. order: of each frame, in the order of the output, its input,
    the cycle in which its first beat was offered, the cycle of its first handshake. Returns what is wrong, or None.
    """
    frames = list(order)
    for position, (source, offered, _) in enumerate(frames):
        ahead = 0
        for other, _, start in reversed(frames[:position]):
            if start <= offered:
                break
            ahead += other != source
        if ahead > inputs:
            return f"frame {position} of input {source}, offered in cycle {offered}, let {ahead} frames go first"
    return None


# ------------------------------------------------------------------------------------------------------- async FIFO


@dataclass(frozen=True)
class CutFrame:
    """A frame that a reset cut: what had been handed over before the reset, in bytes of whole beats."""

    written: bytes
    width: int = 16


def cut_frame_fits(cut: CutFrame, data: bytes, user: int) -> str | None:
    """Checks what a reader got of a frame that the write side's reset cut. Returns what is wrong, or None.

    It has the bad mark; it is a beginning of what was written; one closing beat of any content may follow.
    """
    if not user & 1:
        return "a cut frame without the bad mark"
    limit = len(cut.written) + cut.width
    if len(data) > limit:
        return f"{len(data)} B of a frame of which {len(cut.written)} B were written"
    sure = max(0, beat_count(len(data), cut.width) - 1) * cut.width
    if data[:sure] != cut.written[:sure]:
        return "a cut frame's bytes differ from what was written"
    return None
