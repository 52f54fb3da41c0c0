"""The coroutine of a replay: windows on a target, one model, listeners.

Sweep:    window sizes; a device that is wrong, stuck or breaks a rule; frames without a byte; outputs that fill up
Stimulus: frames made here, on the model as a target and on wrong ones
Checks:   the outcome of one play; what listeners were given; where the replay ends and with what words
Timing:   none
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.meta import Code
from models.nic import NicPortModel
from tb.replay.capture import CaptureError
from tb.replay.replay import Ended, Failed, replay
from tb.replay.window import Judged, Window
from tb.targets.base import ProtocolError, Stuck, UnmappedAddress, Unsupported
from tb.targets.model import ModelTarget
from tb.targets.native import SnapshotError
from tests.replay.judging import byte_flipped, udp_frame

Spoil = Callable[[int, Batch, Outcome], Outcome]


class Wrong(ModelTarget):
    """The model, but for what ``spoil`` makes of a play (counted from 0)."""

    def __init__(self, spoil: Spoil) -> None:
        super().__init__()
        self.spoil, self.plays = spoil, 0
        self.offered: list[list[int]] = []

    async def play(self, stimulus: Batch) -> Outcome:
        self.offered.append(stimulus.lengths.tolist())
        outcome = await super().play(stimulus)
        self.plays += 1
        return self.spoil(self.plays - 1, stimulus, outcome)


class Kept:
    """A listener that keeps what it is given."""

    def __init__(self) -> None:
        self.judged: list[Judged] = []
        self.closed = 0

    def take(self, judged: Judged) -> None:
        self.judged.append(judged)

    def close(self) -> None:
        self.closed += 1


def windows(sizes: Iterable[int], lengths: list[int] | None = None) -> list[Window]:
    """So many frames in each; lengths: of all frames, else 60 and up."""
    made, first = [], 0
    for size in sizes:
        given = lengths[first : first + size] if lengths else [60 + i for i in range(size)]
        batch = Batch.of([udp_frame(length) if length else b"" for length in given])
        number = np.arange(first, first + size, dtype=np.int64)
        made.append(Window(batch, number, "field.pcap", number + 100, batch.lengths))
        first += size
    return made


def run(target: ModelTarget, given: list[Window], *more: Any, **options: Any) -> tuple[Ended, Kept]:
    kept = Kept()
    ended = asyncio.run(replay(target, given, NicConfig(), [kept, *more], **options))
    assert kept.closed == 1
    return ended, kept


def test_the_device_goes_on_from_window_to_window_and_counters_are_judged_through_them() -> None:
    ended, kept = run(ModelTarget(), windows([3, 4, 1]))
    assert (ended.windows, ended.frames, ended.stopped, ended.error) == (3, 8, False, "")
    assert [judged.mismatches for judged in kept.judged] == [[], [], []]
    assert [judged.outcome.counters["rx_frames_in"] for judged in kept.judged] == [3, 7, 8]
    assert [judged.first_out for judged in kept.judged] == [0, 3, 7]
    begins = [judged.begin_ns for judged in kept.judged]
    assert begins == sorted(set(begins)), "time goes on"


def test_a_counter_that_loses_what_came_before_is_a_mismatch() -> None:
    def spoil(play: int, _: Batch, outcome: Outcome) -> Outcome:
        return replace(outcome, counters=outcome.counters | {"rx_frames_in": 4}) if play == 1 else outcome

    ended, kept = run(Wrong(spoil), windows([3, 4, 1]))
    assert [str(m) for m in kept.judged[1].mismatches] == ["counter rx_frames_in: expected 7, got 4"]
    assert ended.stopped and ended.windows == 2


@pytest.mark.parametrize("keep_going", [False, True])
def test_a_replay_ends_with_the_window_that_has_a_mismatch_unless_it_is_to_go_on(keep_going: bool) -> None:
    def spoil(play: int, _: Batch, outcome: Outcome) -> Outcome:
        return byte_flipped(2, 37)(outcome) if play == 1 else outcome

    told: list[Failed] = []

    async def note(failed: Failed) -> str:
        told.append(failed)
        return "packed"

    ended, kept = run(Wrong(spoil), windows([3, 4, 1]), keep_going=keep_going, on_failure=note)
    assert (ended.windows, ended.stopped, ended.failure) == (
        (3, False, "packed") if keep_going else (2, True, "packed")
    )
    (failed,) = told
    assert failed.judged is kept.judged[1] and failed.error is None
    assert failed.before["rx_frames_in"] == 3
    assert [m.frame for m in failed.judged.mismatches] == [2]


def test_frames_without_a_byte_are_not_offered_and_keep_their_place() -> None:
    target = Wrong(lambda play, _, outcome: byte_flipped(1, 3)(outcome) if play == 1 else outcome)
    given = windows([5, 4, 2], [0, 60, 61, 0, 62, 0, 70, 71, 0, 0, 0])
    ended, kept = run(target, given, keep_going=True)
    assert target.offered == [[60, 61, 62], [70, 71]], "a window of nothing else is not played"
    first, second, third = kept.judged
    assert first.outcome.code.tolist() == [0, 1, 1, 0, 1]
    assert first.outcome.source.tolist() == [1, 2, 4]
    assert first.outcome.first_in.tolist()[0] == -1 and first.outcome.latency_cycles.tolist()[3] == -1
    assert [m.frame for m in second.mismatches] == [2], "its place in the window"
    assert third.outcome.code.tolist() == [0, 0] and third.mismatches == []
    assert ended.windows == 3


@pytest.mark.parametrize(
    ("error", "frame", "words"),
    [
        (Stuck("m_axis_host", 20_000, "", 2), 3, "frame 6 (frame 106 of field.pcap): m_axis_host did not move for"),
        (ProtocolError("cycle 7: tkeep"), -1, "among frames 3 to 6 (field.pcap): cycle 7: tkeep"),
        (UnmappedAddress(4), -1, "among frames 3 to 6 (field.pcap): no register at address 0x00004"),
    ],
)
def test_a_play_without_an_end_ends_the_replay_and_says_which_stream_and_which_frame(
    error: Exception, frame: int, words: str
) -> None:
    def spoil(play: int, _: Batch, outcome: Outcome) -> Outcome:
        if play == 1:
            raise error
        return outcome

    told: list[Failed] = []

    async def note(failed: Failed) -> None:
        told.append(failed)

    given = windows([3, 4, 1], [60, 61, 62, 0, 63, 64, 65, 66])
    ended, kept = run(Wrong(spoil), given, keep_going=True, on_failure=note)
    assert ended.stopped and ended.windows == 2 and ended.error.startswith(words)
    last = kept.judged[-1]
    assert last.outcome.code.tolist() == [Code.NONE] * 4 and len(last.outcome.frames) == 0
    assert [m.frame for m in last.mismatches] == [frame]
    assert told[0].error is error
    if isinstance(error, Stuck):
        assert error.frame == frame


class Saving(Wrong):
    """Saves its state, but for before the play with the number ``unsaved``."""

    build = "here"

    def __init__(self, spoil: Spoil, unsaved: int) -> None:
        super().__init__(spoil)
        self.unsaved, self.saved = unsaved, 0

    def snapshot(self) -> bytes:
        self.saved += 1
        if self.plays == self.unsaved:
            raise SnapshotError("frames are in flight")
        return bytes([self.plays])

    def restore(self, snapshot: bytes) -> None:
        raise AssertionError("nobody asked for it")


@pytest.mark.parametrize("unsaved", [1, 2])
def test_a_state_that_cannot_be_saved_is_none_and_none_is_saved_behind_the_first_failure(unsaved: int) -> None:
    target = Saving(lambda play, _, outcome: byte_flipped(0, 37)(outcome) if play else outcome, unsaved)
    told: list[Failed] = []

    async def note(failed: Failed) -> None:
        told.append(failed)

    ended, _ = run(target, windows([2, 2, 2, 2]), keep_going=True, on_failure=note)
    assert (ended.windows, target.saved) == (4, 2)
    assert [failed.snapshot for failed in told] == [None if unsaved == 1 else b"\1"]


class Full:
    """A listener that can't write any more."""

    def __init__(self, takes: int, *, at_close: bool = False) -> None:
        self.left, self.at_close, self.closed = takes, at_close, 0

    def take(self, _: Judged) -> None:
        self.left -= 1
        if self.left < 0:
            raise CaptureError("out.pcapng", "can't be written: No space left on device")

    def close(self) -> None:
        self.closed += 1
        if self.at_close:
            raise OSError(28, "No space left on device")


def test_an_output_that_cannot_be_written_ends_the_replay_and_the_others_are_closed() -> None:
    full = Full(1)
    ended, kept = run(ModelTarget(), windows([1, 1, 1]), full)
    assert ended.unwritten == "out.pcapng: can't be written: No space left on device"
    assert (ended.windows, len(kept.judged), full.closed, ended.stopped) == (2, 2, 1, False)
    ended, _ = run(ModelTarget(), windows([1]), Full(9, at_close=True))
    assert "No space left on device" in ended.unwritten


def test_a_frame_of_a_port_that_the_target_lacks_is_refused_with_the_remedy() -> None:
    (window,) = windows([3])
    window = replace(window, batch=replace(window.batch, port=np.array([0, 3, 0], np.uint8)))
    kept = Kept()
    with pytest.raises(Unsupported, match=r"field\.pcap: frame 101 is of port 3, .* --port 0 plays it there"):
        asyncio.run(replay(ModelTarget(), [window], NicConfig(), [kept]))
    assert (kept.judged, kept.closed) == ([], 1)


def test_windows_of_both_directions_give_what_one_play_gives() -> None:
    batch = Batch.of([udp_frame(60 + i) for i in range(40)], edge=[i % 3 % 2 for i in range(40)])
    number = np.arange(40, dtype=np.int64)
    parts = [slice(at, at + 7) for at in range(0, 40, 7)]
    given = [Window(batch.select(p), number[p], "a", number[p], batch.lengths[p]) for p in parts]
    _, kept = run(ModelTarget(), given)
    whole = NicPortModel().play(batch)
    assert np.concatenate([judged.outcome.code for judged in kept.judged]).tolist() == whole.code.tolist()
    assert kept.judged[-1].outcome.counters == whole.counters
    for edge in Edge:
        frames = [f for judged in kept.judged for f in judged.outcome.frames.select(judged.outcome.frames.edge == edge)]
        assert frames == list(whole.frames.select(whole.frames.edge == edge))
