"""A failure in one file: what it holds, how it is cut down, and what becomes of it when it is played again elsewhere.

Sweep:    failures that hang on one frame, on two, on what came before, on nothing that can be found; files that are
          damaged, foreign, of another version
Stimulus: made-up frames through models that are wrong on purpose
Checks:   the members of the file; the fewest frames; bytes that are the same each time; the words and exit codes of
          nicloop rerun in another folder
Timing:   the cycle of a difference is the same when it is played again
"""

from __future__ import annotations

import asyncio
import json
import pickle
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from models.config import NicConfig
from models.frames import Batch, Edge, Int64, Outcome
from models.nic import Mismatch
from tb.cli import app
from tb.replay import rerun as rerun_module
from tb.replay.capture import CaptureError, read_capture
from tb.replay.failure import Context, Failure, reproduce
from tb.replay.item import Item, Verdict
from tb.replay.packed import (
    SCHEMA,
    SURVIVES_RESET,
    FailureError,
    Origin,
    Packed,
    add_waves,
    is_failure,
    load_failure,
    unpack_waves,
)
from tb.replay.play import load_item
from tb.replay.rerun import NATIVE_HINT, RUNNING_ONLY, tell_failure
from tb.replay.window import Judged, Window
from tb.report.table import CaptureResult
from tb.targets.base import Stuck
from tb.targets.model import ModelTarget
from tb.targets.outcome import compare

MARK = b"\x55" * 77
"""The frame that the wrong devices stumble over."""
LEFT_OUT = object()
COMMAND = "nicloop replay field.pcapng --target model"


class WrongTarget(ModelTarget):
    """A device that flips a byte in each frame out that ``hits`` names: ``hits(frames, number of the first)``."""

    build = "b"

    def __init__(self, hits: Callable[[Batch, int], Int64]) -> None:
        self.hits, self.seen = hits, 0
        super().__init__()

    def _restart(self) -> None:
        super()._restart()
        self.seen = 0

    async def play(self, stimulus: Batch) -> Outcome:
        outcome = await super().play(stimulus)
        wrong = self.hits(stimulus, self.seen)
        self.seen += len(stimulus)
        data = outcome.frames.data.copy()
        data[outcome.frames.offset[:-1][np.isin(outcome.source, wrong)] + 37] ^= 0x10
        return replace(outcome, frames=replace(outcome.frames, data=data))

    def snapshot(self) -> bytes:
        return pickle.dumps((self._model, self.seen))

    def restore(self, state: bytes) -> None:
        self._model, self.seen = pickle.loads(state)


def by_content(frames: Batch, seen: int) -> Int64:
    return np.array([i for i, frame in enumerate(frames) if frame == MARK], np.int64)


def by_pair(frames: Batch, seen: int) -> Int64:
    """The mark, where a frame of 0x07 came somewhere before it."""
    marks = by_content(frames, seen)
    sevens = [i for i, frame in enumerate(frames) if frame[0] == 7]
    return marks[[bool(sevens) and sevens[0] < mark for mark in marks]]


def by_count(frames: Batch, seen: int) -> Int64:
    """The 70th frame since the reset."""
    return np.array([69 - seen] if seen <= 69 < seen + len(frames) else [], np.int64)


def window_of(frames: list[bytes], first: int = 0) -> Window:
    number = np.arange(first, first + len(frames), dtype=np.int64)
    batch = Batch.of(frames)
    return Window(batch, number, "field.pcapng", number, batch.lengths)


def windows() -> list[Window]:
    """100 frames in windows of 32; number 45 is the mark, number 40 begins with 0x07."""
    frames = [bytes([100 + i]) * (60 + i) for i in range(100)]
    frames[45], frames[40] = MARK, b"\x07" * 64
    return [window_of(frames[at : at + 32], at) for at in range(0, 100, 32)]


def found(hits: Callable[[Batch, int], Int64], folder: Path, *, saves: bool = True, tries: int = 100) -> Failure:
    """What a replay does: windows in order, up to the first that differs; that one is reproduced."""

    async def replay() -> Failure:
        target, config, before = WrongTarget(hits), NicConfig(), {}
        await target.configure(config)
        for window in windows():
            state = target.snapshot() if saves else None
            outcome = await target.play(window.batch)
            if mismatches := compare(config, window.batch, outcome, before or None):
                origin = Origin(COMMAND, "model", "verilator", "bfm", 1, "asap")
                context = Context(folder, origin, before, state, tries, say=lambda text: None)
                return await reproduce(target, Judged(window, outcome, mismatches, 0, 0), config, context)
            before = outcome.counters
        raise AssertionError("nothing differed")

    return asyncio.run(replay())


def note_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("failure.json"))


def nicloop(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_failure_is_a_zip_with_frames_configuration_and_provenance(tmp_path: Path) -> None:
    failure = found(by_content, tmp_path)
    assert failure.path == tmp_path / "field-45.zip"
    with zipfile.ZipFile(failure.path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["failure.json", "config.toml", "capture.pcapng", "window.pcapng"]
        archive.extractall(tmp_path / "out")
    capture = read_capture(tmp_path / "out" / "capture.pcapng")
    assert list(capture.batch) == [MARK]
    origin, difference = capture.comments[0].splitlines()
    assert origin == "field.pcapng, frame 45, rx"
    assert difference.startswith("byte 37: expected 0x55, got 0x45 (cycle ")
    window = read_capture(tmp_path / "out" / "window.pcapng")
    assert len(window.batch) == 45 - 32 + 1
    assert window.comments[0] == "field.pcapng, frame 32, rx"
    assert NicConfig.load(tmp_path / "out" / "config.toml") == NicConfig()
    note = note_of(failure.path)
    assert (note["kind"], note["version"]) == ("nicloop failure", SCHEMA)
    assert (note["command"], note["target"], note["seed"], note["pace"]) == (COMMAND, "model", 1, "asap")
    assert (note["numbers"], note["window_numbers"]) == ([45], list(range(32, 46)))
    assert (note["direction"], note["port"], note["starts_from"], note["state"]) == ("rx", 0, "reset", None)
    assert (note["reproduced"], note["minimal"]) == (True, True)
    assert note["found"]["first"].startswith("rx frame 45: byte 37: expected 0x55, got 0x45")
    (smallest,) = note["smallest"]["mismatches"]
    assert smallest["words"].startswith("rx frame 0: byte 37: expected 0x55, got 0x45")
    del smallest["words"]
    cycle = smallest.pop("cycle")
    assert cycle > 0
    assert smallest == {
        "frame": 0,
        "number": 45,
        "direction": "rx",
        "what": "byte 37",
        "expected": "0x55",
        "got": "0x45",
    }
    assert note["smallest"]["look"] == f"m_axis_host_tdata of nic_port in cycle {cycle} of the play"
    assert note["waves"] is None
    assert set(note["versions"]) == {"nicloop", "commit", "dirty", "simulator", "python"}


def test_the_same_failure_gives_the_same_bytes(tmp_path: Path) -> None:
    for hits in (by_content, by_count):
        first, second = (found(hits, tmp_path / name).path for name in ("a", "b"))
        assert first.read_bytes() == second.read_bytes()


def test_frames_that_take_part_are_kept_and_no_others(tmp_path: Path) -> None:
    failure = found(by_pair, tmp_path)
    assert failure.failing.item.numbers.tolist() == [40, 45]
    assert failure.failing.minimal
    assert failure.failing.item.state is None


def test_what_hangs_on_all_frames_before_is_cut_down_from_a_saved_state(tmp_path: Path) -> None:
    failure = found(by_count, tmp_path)
    assert failure.path.name == "field-69.zip"
    assert failure.failing.item.numbers.tolist() == [69]
    assert failure.failing.reproduced
    packed = load_failure(failure.path)
    assert packed.item.state == failure.failing.item.state
    assert packed.item.before["rx_frames_in"] == 69
    assert (packed.origin.build, packed.note["starts_from"]) == ("b", "state")
    with zipfile.ZipFile(failure.path) as archive:
        assert archive.namelist()[-1] == "state.bin"
    with pytest.raises(FailureError, match=r"starts from a saved state.*nicloop rerun"):
        load_item(failure.path, "x", 1)


def test_a_failure_on_a_wire_is_none_of_a_simulator(tmp_path: Path) -> None:
    path = found(by_content, tmp_path).path
    load_item(path, "x", 1)
    _rewritten(path, engine="wire")
    with pytest.raises(FailureError, match="failed with XGMII at the wire: nicloop rerun"):
        load_item(path, "x", 1)


def test_what_fails_no_more_is_packed_with_its_window_and_says_so(tmp_path: Path) -> None:
    failure = found(by_count, tmp_path, saves=False)
    assert not failure.failing.reproduced
    packed = load_failure(failure.path)
    assert packed.item.numbers.tolist() == [69]
    assert packed.window is not None
    assert packed.window.numbers.tolist() == list(range(64, 70))
    result = nicloop("rerun", failure.path)
    assert result.exit_code == 0
    assert "does not fail, and did not when it was packed" in result.output
    assert f"replay the whole capture: {COMMAND}" in result.output
    assert NATIVE_HINT not in result.output
    told = tell_failure(failure.path)
    assert told[0] == f"packed failure: {failure.path} (it does not fail again by itself)"
    assert len(told) == 2
    _rewritten(failure.path, target="cocotb")
    assert NATIVE_HINT in tell_failure(failure.path)[1]


class StickyTarget(WrongTarget):
    """Wrong in each mark once 45 frames came before one; only a new device is right again."""

    def __init__(self) -> None:
        self.sticks = False
        super().__init__(self._sticky)

    def _sticky(self, frames: Batch, seen: int) -> Int64:
        marks = by_content(frames, seen)
        self.sticks |= bool((marks + seen >= 45).any())
        return marks if self.sticks else marks[:0]

    def snapshot(self) -> bytes:
        return pickle.dumps((super().snapshot(), self.sticks))

    def restore(self, state: bytes) -> None:
        rest, self.sticks = pickle.loads(state)
        super().restore(rest)


class RenewedTarget(StickyTarget):
    async def fresh_state(self) -> bytes:
        return StickyTarget().snapshot()


def sticky(target: StickyTarget, folder: Path) -> Failure:
    """The mark fails behind 45 frames, and is reproduced."""

    async def replay() -> Failure:
        config = NicConfig()
        await target.configure(config)
        first, window = windows()[:2]
        before = (await target.play(first.batch)).counters
        state = target.snapshot()
        outcome = await target.play(window.batch)
        judged = Judged(window, outcome, compare(config, window.batch, outcome, before), 0, 0)
        origin = Origin(COMMAND, "model", "verilator", "bfm", 1, "asap")
        return await reproduce(target, judged, config, Context(folder, origin, before, state, say=lambda text: None))

    return asyncio.run(replay())


def test_each_try_from_a_reset_is_one_of_a_new_device(tmp_path: Path) -> None:
    failing = sticky(RenewedTarget(), tmp_path).failing
    assert failing.item.numbers.tolist() == [45]
    assert failing.item.state is not None
    assert failing.reproduced and failing.fresh and failing.survives_reset
    note = note_of(tmp_path / "field-45.zip")
    assert (note["starts_from"], note["seen"], note["finding"]) == ("state", "fresh", SURVIVES_RESET)


def test_what_fails_only_on_the_running_device_is_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = sticky(StickyTarget(), tmp_path)
    assert note_of(failure.path)["seen"] == "running"
    monkeypatch.setattr(rerun_module, "ModelTarget", StickyTarget)
    told = tell_failure(failure.path)
    assert told[0].endswith("(it does not fail again by itself)")
    assert RUNNING_ONLY in told[1]
    note = note_of(failure.path)
    assert (note["reproduced"], note["minimal"], note["seen"]) == (False, False, "running")
    assert len(note["window_numbers"]) == 14


def test_nothing_is_left_behind_the_frame_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(frames: Batch, seen: int) -> Int64:
        """The third frame of each play; in the second window of the replay the last one instead."""
        return np.array([2] if seen == 0 and len(frames) < 32 else [31] if seen == 32 else [], np.int64)

    failing = found(twice, tmp_path, tries=3).failing
    assert len(failing.item.frames) == 3
    monkeypatch.setattr(rerun_module, "ModelTarget", lambda: WrongTarget(twice))
    told = tell_failure(tmp_path / "field-63.zip")
    assert told[1].startswith("  in that one:  rx frame 2: byte 37")
    assert told[1].endswith(f", which is frame {failing.item.numbers[2]} of field.pcapng")


@pytest.mark.parametrize(("then", "now", "same"), [("b", "b", True), ("b", "c", False)])
def test_what_passes_on_the_build_that_it_failed_on_is_not_called_mended(
    then: str, now: str, same: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = found(by_content, tmp_path).path
    _rewritten(path, target="native", build=then)
    packed = load_failure(path)
    again = rerun_module.Again(CaptureResult("x"), build=now)
    rerun_module._tell_passed(packed, again, rerun_module.PlayedOn.of(packed))
    said = capsys.readouterr().out
    assert ("did not fail again on this build" in said) == same
    assert ("no longer fails" in said) != same


def test_a_bounded_number_of_plays_is_spent(tmp_path: Path) -> None:
    failure = found(by_pair, tmp_path, tries=5)
    assert failure.failing.tries <= 5 + 1
    assert failure.failing.reproduced
    assert {40, 45} <= set(failure.failing.item.numbers.tolist())
    assert not failure.failing.minimal


def test_a_play_that_stood_still_is_packed_too(tmp_path: Path) -> None:
    class Standing(ModelTarget):
        async def play(self, stimulus: Batch) -> Outcome:
            if MARK in list(stimulus):
                raise Stuck("m_axis_host", 20_000, "no frame came", list(stimulus).index(MARK))
            return await super().play(stimulus)

    window = window_of([bytes(60), bytes(61), MARK, bytes(62)], 7)
    origin = Origin(COMMAND, "model", "verilator", "bfm", 1, "asap")
    context = Context(tmp_path, origin, say=lambda text: None)
    error = Stuck("m_axis_host", 20_000, "no frame came", 2)
    outcome = asyncio.run(ModelTarget().play(window.batch))
    failure = asyncio.run(reproduce(Standing(), Judged(window, outcome, [], 0, 0), NicConfig(), context, error))
    assert failure.path.name == "field-9.zip"
    packed = load_failure(failure.path)
    assert packed.item.numbers.tolist() == [9]
    assert packed.words == ["Stuck: m_axis_host did not move for 20000 cycles: no frame came"]
    assert packed.note["smallest"]["look"] == "m_axis_host"


def test_times_of_the_frames_are_kept_and_begin_with_the_first(tmp_path: Path) -> None:
    window = windows()[1]
    window = replace(window, batch=replace(window.batch, time_ns=1000 * np.arange(32, dtype=np.int64) ** 2))

    async def replay() -> Failure:
        target = WrongTarget(by_pair)
        outcome = await target.play(window.batch)
        mismatches = compare(NicConfig(), window.batch, outcome)
        context = Context(tmp_path, Origin(COMMAND, "model", "verilator", "bfm", 1, "recorded"), say=lambda text: None)
        return await reproduce(target, Judged(window, outcome, mismatches, 0, 0), NicConfig(), context)

    packed = load_failure(asyncio.run(replay()).path)
    assert packed.item.numbers.tolist() == [40, 45]
    assert packed.item.frames.time_ns.tolist() == [0, 1000 * (13**2 - 8**2)]
    assert not packed.item.paced


def test_a_name_that_is_taken_is_left_alone_unless_the_same_command_took_it(tmp_path: Path) -> None:
    for command, name in (
        (COMMAND, "field-45.zip"),
        ("nicloop replay other", "field-45-2.zip"),
        (COMMAND, "field-45.zip"),
    ):

        async def replay(command: str = command) -> Failure:
            target, window = WrongTarget(by_content), windows()[1]
            outcome = await target.play(window.batch)
            judged = Judged(window, outcome, compare(NicConfig(), window.batch, outcome), 0, 0)
            origin = Origin(command, "model", "verilator", "bfm", 1, "asap")
            return await reproduce(target, judged, NicConfig(), Context(tmp_path, origin, say=lambda text: None))

        assert asyncio.run(replay()).path.name == name
    assert len(list(tmp_path.iterdir())) == 2


def test_a_waveform_is_put_in_last_and_comes_out_again(tmp_path: Path) -> None:
    path = found(by_content, tmp_path).path
    before = load_failure(path)
    waves = tmp_path / "waves.fst"
    waves.write_bytes(bytes(range(256)) * 10)
    assert unpack_waves(path, tmp_path) is None
    assert add_waves(path, waves, "there")
    assert not add_waves(path, waves, "elsewhere")
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[-1] == "waves.fst"
    (tmp_path / "out").mkdir()
    unpacked = unpack_waves(path, tmp_path / "out")
    assert unpacked == tmp_path / "out" / "field-45.fst"
    assert unpacked.read_bytes() == waves.read_bytes()
    after = load_failure(path)
    assert after.note == dict(before.note) | {"waves": {"file": "waves.fst", "look": "there"}}
    assert after.item.frames == before.item.frames


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Plays a copy of a failure in another folder, on a device that is wrong by ``hits``."""

    def play(path: Path, hits: Callable[[Batch, int], Int64], *options: str) -> Result:
        folder = tmp_path / "elsewhere"
        folder.mkdir(exist_ok=True)
        shutil.copy(path, folder / "given.zip")
        monkeypatch.chdir(folder)
        monkeypatch.setattr(rerun_module, "ModelTarget", lambda: WrongTarget(hits))
        return nicloop("rerun", "given.zip", *options)

    return play


def test_rerun_elsewhere_fails_the_same_way_in_the_same_words(tmp_path: Path, elsewhere: Any) -> None:
    path = found(by_content, tmp_path / "failures").path
    words = load_failure(path).words[0]
    result = elsewhere(path, by_content)
    assert result.exit_code == 1, result.output
    assert f"still fails the same way: {words}" in result.output
    assert f"found by:  {COMMAND}" in result.output
    assert "there:     rx frame 45: byte 37: expected 0x55, got 0x45" in result.output


def test_rerun_from_a_saved_state_fails_the_same_way(tmp_path: Path, elsewhere: Any) -> None:
    path = found(by_count, tmp_path / "failures").path
    result = elsewhere(path, by_count)
    assert result.exit_code == 1, result.output
    assert "still fails the same way: rx frame 0: byte 37" in result.output
    assert "from a saved state of the device" in result.output


def test_rerun_on_a_device_that_is_mended_ends_with_0(tmp_path: Path, elsewhere: Any) -> None:
    path = found(by_content, tmp_path / "failures").path
    result = elsewhere(path, lambda frames, seen: np.zeros(0, np.int64))
    assert result.exit_code == 0, result.output
    assert "the model agrees with itself: that says nothing of the RTL" in result.output


def test_rerun_says_that_it_fails_otherwise(tmp_path: Path, elsewhere: Any) -> None:
    path = found(by_pair, tmp_path / "failures").path
    result = elsewhere(path, lambda frames, seen: np.array([0]))
    assert result.exit_code == 1, result.output
    assert "fails otherwise: rx frame 0: byte 37: expected 0x07, got 0x17" in result.output
    assert "when packed:   rx frame 1: byte 37: expected 0x55, got 0x45" in result.output


def test_rerun_plays_all_frames_of_the_window_on_demand(tmp_path: Path, elsewhere: Any) -> None:
    path = found(by_content, tmp_path / "failures").path
    result = elsewhere(path, by_content, "--window")
    assert result.exit_code == 1, result.output
    assert "fails, with all frames of the window: rx frame 13: byte 37" in result.output


def _rewritten(path: Path, **changes: Any) -> None:
    """The failure at ``path`` with other values in failure.json; `LEFT_OUT`: without the key."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    note = json.loads(members["failure.json"]) | changes
    members["failure.json"] = json.dumps({key: value for key, value in note.items() if value is not LEFT_OUT}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _without(path: Path, name: str) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {other: archive.read(other) for other in archive.namelist() if other != name}
    with zipfile.ZipFile(path, "w") as archive:
        for other, content in members.items():
            archive.writestr(other, content)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def _flipped(path: Path) -> None:
    """A bit of capture.pcapng is another one."""
    with zipfile.ZipFile(path) as archive:
        at = archive.getinfo("capture.pcapng").header_offset + 60
    content = bytearray(path.read_bytes())
    content[at] ^= 4
    path.write_bytes(content)


def _foreign(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut off": (_cut, "is damaged"),
    "a bit is flipped": (_flipped, "is damaged"),
    "a text": (lambda path: path.write_text("hello, world"), "is no failure of nicloop: no zip file"),
    "empty": (lambda path: path.write_bytes(b""), "is no failure of nicloop: no zip file, but an empty file"),
    "another zip": (_foreign, "is no failure of nicloop: no failure.json of kind 'nicloop failure' in it"),
    "a newer version": (
        lambda path: _rewritten(path, version=3),
        "has version 3 of a failure, this nicloop reads 1 and 2",
    ),
    "no seed": (lambda path: _rewritten(path, seed=LEFT_OUT), "is damaged: failure.json in it: KeyError: 'seed'"),
    "profiles of a wrong type": (lambda path: _rewritten(path, profiles=3), "is damaged: failure.json in it"),
    "an edge that isn't": (lambda path: _rewritten(path, profiles={"side": "none"}), "is damaged: failure.json in it"),
    "numbers too many": (lambda path: _rewritten(path, numbers=[1, 2]), "is damaged: capture.pcapng"),
    "no frames": (lambda path: _without(path, "capture.pcapng"), "is damaged: capture.pcapng is not in it"),
    "no configuration": (lambda path: _without(path, "config.toml"), "is damaged: config.toml is not in it"),
    "a target that isn't here": (lambda path: _rewritten(path, target="board"), "failed on target board"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_file_that_is_no_failure_gives_one_clear_line_and_exit_code_2(kind: str, tmp_path: Path) -> None:
    path = found(by_content, tmp_path).path
    damage, words = DAMAGE[kind]
    damage(path)
    result = nicloop("rerun", path)
    assert result.exit_code == 2, result.output
    assert f"nicloop: {path}: {words}" in result.output or f"nicloop: {path}: {words}" in result.stderr
    assert len((result.stderr or result.output).splitlines()) == 1
    assert "Traceback" not in result.output


def test_a_failure_of_the_version_before_is_played(tmp_path: Path) -> None:
    path = found(by_content, tmp_path).path
    _rewritten(path, version=1, rules=LEFT_OUT)
    result = nicloop("rerun", path)
    assert result.exit_code == 0 and "the model agrees with itself" in result.output, result.output


def test_a_missing_file_and_a_folder_are_said_to_be_so(tmp_path: Path) -> None:
    result = nicloop("rerun", tmp_path / "x.zip")
    assert (result.exit_code, result.stderr) == (2, f"nicloop: {tmp_path / 'x.zip'}: no such failure\n")
    result = nicloop("rerun", tmp_path)
    words = f"{tmp_path}: is a folder: name a failure in it ({tmp_path}/*.zip)"
    assert (result.exit_code, result.stderr) == (2, f"nicloop: {words}\n")
    assert not is_failure(tmp_path)


def test_profiles_and_edges_come_back_as_they_were_packed(tmp_path: Path) -> None:
    path = found(by_content, tmp_path).path
    _rewritten(path, profiles={"wire": "storm", "host": "gap"}, pace="wire")
    item, notice = load_item(path, "named", seed=5)
    assert (item.name, notice, item.paced) == ("named", "", True)
    assert item.profiles == {Edge.WIRE: "storm", Edge.HOST: "gap"}
    assert issubclass(FailureError, CaptureError)


def test_frames_without_a_byte_are_never_offered_again(tmp_path: Path) -> None:
    window = window_of([bytes(60), b"", MARK, b""])
    carried = window.batch.select([0, 2])

    async def replay() -> Failure:
        target = WrongTarget(by_content)
        outcome = await target.play(carried)
        mismatches = [replace(m, frame=2) for m in compare(NicConfig(), carried, outcome)]
        context = Context(tmp_path, Origin(COMMAND, "model", "verilator", "bfm", 1, "asap"), say=lambda text: None)
        return await reproduce(target, Judged(window, outcome, mismatches, 0, 0), NicConfig(), context)

    packed = load_failure(asyncio.run(replay()).path)
    assert packed.item.numbers.tolist() == [2]
    assert packed.window is not None
    assert packed.window.numbers.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("edge", "what", "signals"),
    [
        (Edge.WIRE, "byte 3", "m_axis_host_tdata"),
        (Edge.HOST, "length", "m_axis_wire_tlast"),
        (Edge.WIRE, "meta.vlan", "m_axis_host_meta"),
        (Edge.HOST, "code", "tx_disp_*"),
        (Edge.WIRE, "first_in (it never entered)", "s_axis_wire_*"),
        (Edge.WIRE, "first_out", "m_axis_host_*"),
        (None, "counter rx_frames_in", "s_axil_araddr and s_axil_rdata"),
    ],
)
def test_where_to_look_is_said_by_signal_cycle_and_time(edge: Edge | None, what: str, signals: str) -> None:
    frames = Batch.of([bytes(60), bytes(60)], edge=edge if edge is not None else Edge.WIRE)
    mismatch = Mismatch(-1 if edge is None else 1, what, 1, 2, 25)
    verdict = Verdict(frames, None, [mismatch], begin_ns=4000)
    item = Item("x", frames, {}, 2)
    assert verdict.look(item) == f"{signals} of nic_port in cycle 25 of the play, before the clock edge at 4100 ns"


@pytest.mark.parametrize(
    ("edges", "frame", "watched"),
    [
        ([Edge.WIRE] * 100, 90, (Edge.WIRE, 58, 90)),
        ([Edge.WIRE, Edge.HOST] * 50, 91, (Edge.HOST, 13, 45)),
        ([Edge.WIRE] * 10, 3, (Edge.WIRE, 0, 3)),
        ([Edge.WIRE, Edge.HOST], None, (Edge.HOST, 0, 0)),
    ],
)
def test_a_waveform_is_of_the_failing_frame_and_those_before_it_at_its_edge(
    edges: list[Edge], frame: int | None, watched: tuple[Edge, int, int]
) -> None:
    item = Item("x", Batch.of([bytes(60)] * len(edges), edge=edges), {}, len(edges))
    note = {"smallest": {"mismatches": [{"frame": None}, {"frame": frame}]}}
    assert rerun_module._watched(Packed(Path("x.zip"), item, None, NicConfig(), note), item) == watched
