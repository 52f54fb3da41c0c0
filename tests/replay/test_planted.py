"""Bugs planted into the RTL: named by their frame, cut down to a few frames, packed, and seen again from the file.

Sweep:    a bug that hits one frame by its content, one that hits by the number of frames before; 2,000 frames and
          100,000; a frame that nobody sent, behind the last one or between two windows
Stimulus: UDP frames of 60 to 123 bytes
Checks:   the frame that is named; the frames that are left; that they start from a reset or from a saved state; the
          waveform where the file says to look; nicloop rerun elsewhere, on the port without bugs, on another build
Timing:   the cycle of a difference is the same when it is played again
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from models.frames import Batch
from tb.cli import app
from tb.nic.designs import port_design
from tb.replay import replay_command
from tb.replay.capture import write_capture
from tb.replay.packed import SURVIVES_RESET, Packed, load_failure
from tb.targets import native
from tests.replay.judging import udp_frame
from tests.replay.planted import (
    BAD_PORT,
    COUNTED,
    FIRST_COUNT,
    GHOST_PORT,
    SECOND_COUNT,
    STICKY_PORT,
    plant,
    planted_design,
)

Replay = Callable[..., tuple[Result, Packed]]


def nicloop(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def capture(path: Path, count: int, *, bad: int | None = None, port: int = BAD_PORT, counted: bool = False) -> Path:
    """``count`` frames; number ``bad`` goes to ``port``; counted: all have the source that the port counts apart."""
    frames = [udp_frame(60 + i) for i in range(64)]
    if counted:
        frames = [frame[:6] + bytes([COUNTED]) + frame[7:] for frame in frames]
    whole = [frames[i % 64] for i in range(count)]
    if bad is not None:
        whole[bad] = udp_frame(100, port)
    write_capture(path, Batch.of(whole))
    return path


def test_a_saved_state_fits_the_same_build_wherever_its_files_lie(verilator: str, tmp_path: Path) -> None:
    design = planted_design("native")
    moved = tuple(Path(shutil.copy(path, tmp_path)) for path in design.sources)
    assert native.fingerprint(replace(design, sources=moved)) == native.fingerprint(design)
    assert native.fingerprint(port_design("native")) != native.fingerprint(design)
    assert native.fingerprint(port_design("native", RX_BUFFER_BEATS=64)) != native.fingerprint(port_design("native"))


@pytest.fixture
def replay(verilator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replay:
    """Replays a capture on the port with the bugs; gives what was said and the failure that was packed."""
    plant(monkeypatch)
    monkeypatch.setattr(replay_command, "SIM_BUILD", tmp_path)

    def play(path: Path, *options: object) -> tuple[Result, Packed]:
        result = nicloop("replay", path, *options)
        assert result.exit_code == 1, result.output
        (file,) = (tmp_path / "failures").glob("*.zip")
        return result, load_failure(file)

    return play


def level_before(path: Path, signal: str, time_ns: int) -> int:
    """Value of a signal of the port in a VCD just before a time."""
    number, value, now = "", 0, 0
    for line in path.read_text().splitlines():
        if line.lstrip().startswith("$var") and f" {signal} " in line:
            number = number or line.split()[3]
        elif line.startswith("#"):
            now = int(line[1:])
        elif line.endswith(f" {number}") and line.startswith("b") and now < 1000 * time_ns:
            value = int(line[1:].split()[0], 2)
    return value


def check_waves(packed: Packed, lane: int, wrong: int, folder: Path) -> None:
    """The file has a waveform; where it says to look, the lane has the wrong value (read where waves are VCD)."""
    with zipfile.ZipFile(packed.path) as archive:
        (name,) = [name for name in archive.namelist() if name.startswith("waves.")]
        waves = Path(archive.extract(name, folder))
    assert waves.stat().st_size > 1000
    look = re.fullmatch(
        r"m_axis_host_tdata of nic_port in cycle (\d+) of the play, before the clock edge at (\d+) ns",
        load_failure(packed.path).note["waves"]["look"],
    )
    assert look is not None
    if waves.suffix == ".vcd":
        assert level_before(waves, "m_axis_host_tdata", int(look[2])) >> 8 * lane & 0xFF == wrong


def rewrite(path: Path, name: str, content: bytes) -> None:
    """Another content of one member of a zip."""
    with zipfile.ZipFile(path) as archive:
        members = {other: archive.read(other) for other in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for other, old in members.items():
            archive.writestr(other, content if other == name else old)


def check_named(result: Result, packed: Packed, number: int, byte: int, expected: int) -> None:
    """The frame is named in the terminal and in the file."""
    assert f"frame {number} (" in result.output
    assert f"byte {byte}: expected {expected:#04x}, got {expected ^ 8:#04x}" in result.output
    assert packed.path.name == f"field-{number}.zip"
    assert f"nicloop rerun {packed.path} --waves" in result.output
    assert packed.note["found"]["first"].startswith(f"rx frame {number}: byte {byte}: expected {expected:#04x}")
    assert packed.note["reproduced"]
    assert packed.note["minimal"]


def test_a_bug_that_hits_a_frame_by_its_content_is_cut_down_to_that_frame(
    replay: Replay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, packed = replay(capture(tmp_path / "field.pcapng", 2000, bad=1400), "--window", 512)
    check_named(result, packed, 1400, 47, 0x5A)
    assert packed.item.numbers.tolist() == [1400]
    assert packed.item.state is None
    assert (packed.note["starts_from"], packed.note["seen"], packed.note["finding"]) == ("reset", "fresh", None)
    check_waves(packed, 15, 0x52, tmp_path)
    again = nicloop("rerun", packed.path)
    assert again.exit_code == 1, again.output
    assert f"still fails the same way: {packed.words[0]}" in again.output
    monkeypatch.undo()
    mended = nicloop("rerun", packed.path)
    assert mended.exit_code == 0, mended.output
    assert "no longer fails: 1 frame, all as the model says" in mended.output


def test_a_bug_that_hits_by_the_number_of_frames_is_cut_down_from_a_saved_state(
    replay: Replay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, packed = replay(capture(tmp_path / "field.pcapng", 2000, counted=True), "--window", 512)
    check_named(result, packed, FIRST_COUNT, 15, 0)
    assert packed.item.numbers.tolist() == [FIRST_COUNT]
    assert packed.item.state is not None
    assert packed.item.before["rx_frames_in"] == FIRST_COUNT
    check_waves(packed, 15, 8, tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    shutil.copy(packed.path, "given.zip")
    again = nicloop("rerun", "given.zip", "--waves")
    assert again.exit_code == 1, again.output
    assert f"still fails the same way: {packed.words[0]}" in again.output
    assert re.search(r"waveform: given\.(fst|vcd)\n  look at: m_axis_host_tdata of nic_port in cycle", again.output)
    rewrite(Path("given.zip"), "state.bin", packed.item.state[:-1])
    damaged = nicloop("rerun", "given.zip")
    assert damaged.exit_code == 2
    assert "nicloop: given.zip: this is no saved state" in damaged.output
    simulated = nicloop("rerun", "given.zip", "--target", "cocotb")
    assert simulated.exit_code == 2
    assert "starts from a saved state of the device" in simulated.output
    monkeypatch.undo()
    other = nicloop("rerun", packed.path)
    assert other.exit_code == 2
    assert f"starts from a saved state of build {packed.origin.build}, here it is native-" in other.output
    assert "replay the whole capture" in other.output
    assert "Traceback" not in other.output


def test_what_a_reset_does_not_clear_is_packed_from_a_saved_state_and_said_to_be_so(
    replay: Replay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = capture(tmp_path / "field.pcapng", 2000, bad=1400, port=STICKY_PORT)
    result, packed = replay(path, "--window", 512)
    check_named(result, packed, 1400, 47, 0x5A)
    assert packed.item.numbers.tolist() == [1400]
    assert packed.item.state is not None
    assert (packed.note["starts_from"], packed.note["seen"]) == ("state", "fresh")
    assert packed.note["finding"] == SURVIVES_RESET
    assert f"finding:      {SURVIVES_RESET}" in result.output
    again = nicloop("rerun", packed.path)
    assert again.exit_code == 1, again.output
    assert f"still fails the same way: {packed.words[0]}" in again.output
    assert SURVIVES_RESET in again.output
    monkeypatch.undo()
    assert nicloop("rerun", packed.path).exit_code == 2


@pytest.mark.parametrize("sim", ["icarus"], indirect=True)
def test_what_failed_on_one_target_fails_the_same_way_on_another(sim: str, replay: Replay, tmp_path: Path) -> None:
    _, packed = replay(capture(tmp_path / "field.pcapng", 100, bad=70))
    again = nicloop("rerun", packed.path, "--sim", sim, "--waves")
    assert again.exit_code == 1, again.output
    assert "on cocotb (icarus, agents), seed 1:" in again.output
    assert f"still fails the same way: {packed.words[0].partition(' (cycle')[0]} (cycle " in again.output
    model = nicloop("rerun", packed.path, "--target", "model", "--waves")
    assert model.exit_code == 0, model.output
    assert "the model agrees with itself: that says nothing of the RTL" in model.output
    assert "no longer fails" not in model.output
    assert "as packed: this target writes none" in model.output


GHOST = "after the end of every frame of the play m_axis_host gave 1 more frames, 1 beats that nobody sent"


@pytest.mark.parametrize("more", [0, 5])
def test_a_frame_that_nobody_sent_fails_the_window_behind_which_it_comes(
    more: int, replay: Replay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = [udp_frame(60 + i) for i in range(8 + more)]
    frames[7] = udp_frame(100, GHOST_PORT)
    write_capture(tmp_path / "field.pcapng", Batch.of(frames))
    result, packed = replay(tmp_path / "field.pcapng", "--window", 4)
    assert f"among frames 4 to 7 (field.pcapng): {GHOST}" in " ".join(result.output.split())
    assert packed.note["reproduced"] and "Traceback" not in result.output
    assert nicloop("rerun", packed.path).exit_code == 1
    monkeypatch.undo()
    assert nicloop("rerun", packed.path).exit_code == 0


@pytest.mark.parametrize("sim", ["verilator", "icarus"], indirect=True)
def test_a_frame_that_nobody_sent_fails_the_play_in_a_simulator(
    sim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    monkeypatch.setattr(replay_command, "SIM_BUILD", tmp_path)
    write_capture(tmp_path / "field.pcapng", Batch.of([udp_frame(60), udp_frame(100, GHOST_PORT)]))
    result = nicloop("replay", tmp_path / "field.pcapng", "--target", "cocotb", "--sim", sim)
    assert result.exit_code == 1, result.output
    assert "m_axis_host gave" in result.output


@pytest.mark.parametrize("kind", ["content", "number"])
def test_a_bug_in_frame_70000_of_100000_is_named_and_handed_over_in_a_few_frames(
    kind: str, replay: Replay, tmp_path: Path
) -> None:
    bad = SECOND_COUNT - 200 if kind == "content" else None
    number = SECOND_COUNT if bad is None else bad
    result, packed = replay(capture(tmp_path / "field.pcapng", 100_000, bad=bad), "--json")
    summary = json.loads(result.stdout)
    assert summary["failure"] == str(packed.path)
    assert packed.note["found"]["first"].startswith(f"rx frame {number}: byte ")
    assert packed.item.numbers.tolist() == [number]
    assert (packed.item.state is None) == (kind == "content")
    check_waves(packed, 15, 0x52 if kind == "content" else 8, tmp_path)
    again = nicloop("rerun", packed.path)
    assert again.exit_code == 1, again.output
    assert "still fails the same way" in again.output
