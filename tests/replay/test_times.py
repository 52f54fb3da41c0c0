"""Simulated times of a replay: in records and in the capture of what came out, and how far apart frames are offered.

Sweep:    windows of 2 frames; gaps longer and shorter than the pause between two windows; the targets model and native
Stimulus: frames made here
Checks:   times against those that the engine notes of the frames that came out
Timing:   all times are exact
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models.config import NicConfig
from models.frames import Batch
from models.nic import COUNTERS
from tb.replay.capture import read_capture, write_capture
from tb.replay.out import OutCapture
from tb.replay.pace import PlayTimes, offered
from tb.replay.perform import Task
from tb.replay.records import Records
from tb.replay.replay import replay
from tb.replay.window import Judged
from tb.targets.base import Target
from tb.targets.model import ModelTarget
from tb.targets.native import NativeTarget
from tests.replay.judging import udp_frame


class Kept(list[Judged]):
    """A listener that keeps what it is given."""

    take = list.append

    def close(self) -> None:
        """Nothing is open."""


async def model() -> Target:
    return ModelTarget()


async def native() -> Target:
    target = NativeTarget(1)
    await target.start()
    return target


MADE = {"model": model, "native": native}


@pytest.fixture(params=MADE)
def made(request: pytest.FixtureRequest) -> Callable:
    """Makes a target that is started."""
    if request.param == "native":
        request.getfixturevalue("verilator")
    return MADE[request.param]


def replayed(made: Callable, folder: Path, frames: Batch, pace: str) -> Kept:
    """The frames in windows of 2; records and what came out are written."""
    write_capture(folder / "field.pcapng", frames)
    task = Task([["field.pcapng", str(folder / "field.pcapng")]], window=2)

    async def work() -> Kept:
        target, kept = await made(), Kept()
        times = PlayTimes(target.now)
        files = [Records(folder / "records.jsonl", 4.0), OutCapture(folder / "out.pcapng", 4.0)]
        windows = offered(task.windows(), pace, times.passed)
        await replay(target, windows, NicConfig(), [kept, times, *files])
        return kept

    return asyncio.run(work())


def test_records_and_the_capture_of_what_came_out_have_the_times_of_the_frames(made: Callable, tmp_path: Path) -> None:
    frames = Batch.of([udp_frame(60 + 40 * i) for i in range(9)], edge=[i % 2 for i in range(9)])
    kept = replayed(made, tmp_path, frames, "asap")
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    written = read_capture(tmp_path / "out.pcapng").batch
    given = Batch.concat([judged.outcome.frames for judged in kept])
    assert written.time_ns.tolist() == given.time_ns.tolist()
    assert len(records) == len(written) == 9
    for record in records:
        (at,) = record["out"]
        assert record["time_ns"] + record["latency_ns"] == given.time_ns[at]
    for before, judged in zip([None, *kept], kept, strict=False):
        outcome = judged.outcome
        assert judged.begin_ns == outcome.begin_ns >= (before.outcome.frames.time_ns.max() if before else 0)
        assert (outcome.frames.time_ns == outcome.begin_ns + 4 * outcome.first_out[outcome.source]).all()


def test_gaps_across_windows_are_those_of_the_capture_where_they_are_longer_than_the_pause(
    made: Callable, tmp_path: Path
) -> None:
    # Every second one is across two windows.
    gaps = [100_000, 100_000, 400, 10_001, 400, 12, 400, 1_000_000, 400]
    times = 10**18 + np.cumsum([0, *gaps])
    kept = replayed(made, tmp_path, Batch.of([udp_frame(60)] * 10, time_ns=times), "recorded")
    found = np.diff(np.concatenate([judged.outcome.first_in * 4 + judged.begin_ns for judged in kept])).tolist()
    # A late window comes at once: its first frame in cycle 1 of the play.
    pause = kept[3].begin_ns + 4 - (kept[2].begin_ns + 4 * kept[2].outcome.first_in[1])
    assert found == [100_000, 100_000, 400, 10_004, 400, pause, 400, 1_000_000, 400]
    # In between all counters are read, two words each, in six cycles of 4 ns at most.
    assert 12 < pause < 6 * 4 * 2 * len(COUNTERS)


def test_a_window_of_frames_without_a_byte_takes_no_time_of_the_capture(made: Callable, tmp_path: Path) -> None:
    frames = [udp_frame(60), udp_frame(60), b"", b"", udp_frame(60), udp_frame(60)]
    kept = replayed(made, tmp_path, Batch.of(frames, time_ns=10**18 + 100_000 * np.arange(6)), "recorded")
    began = np.concatenate([judged.outcome.first_in * 4 + judged.begin_ns for judged in (kept[0], kept[2])])
    assert np.diff(began).tolist() == [100_000, 300_000, 100_000]
