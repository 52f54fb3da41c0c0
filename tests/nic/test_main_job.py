"""The main job: captures through a target, the verdict, the smallest failing capture, the words and the exit code.

Sweep:    a golden model that is wrong in each of a dozen ways; captures of tests/captures with every back-pressure
          profile and with resets in mid-frame; damaged and missing captures; Verilator, and Icarus on a part
Stimulus: made-up frames; the captures of the repository
Checks:   every wrong model is caught and named; the smallest capture is minimal, lies on disk and fails again; exit
          codes, table, summary; RTL that differs from the model gives command and waveform
Timing:   a frame that is one cycle late is found; pacing is that of a 25G wire; the watchdog counts simulated cycles
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import re
import shlex
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.meta import Code, pack, words_of
from models.nic import NicPortModel
from tb.build import Design
from tb.cli import app
from tb.nic.designs import port_design
from tb.replay import commands
from tb.replay.capture import write_capture
from tb.replay.item import Item
from tb.replay.pace import line_rate
from tb.replay.packed import clear_failures, is_failure, load_failure
from tb.replay.play import draw_profiles, load_item, play_item, play_job, stimulus
from tb.replay.shrink import shrink
from tb.replay.windows import capture_names
from tb.report.table import CaptureResult, Latency, print_captures
from tb.targets import launch
from tb.targets.base import PROFILES
from tb.targets.model import ModelTarget

CAPTURES = commands.CAPTURES
Wrong = Callable[[Batch, Outcome], Outcome]


def _flipped_byte(batch: Batch, outcome: Outcome) -> Outcome:
    data = outcome.frames.data.copy()
    at = _marked_out(batch, outcome)
    if at is not None:
        data[outcome.frames.offset[at] + 37] ^= 0x10
    return replace(outcome, frames=replace(outcome.frames, data=data))


def _picked(outcome: Outcome, order: list[int]) -> Outcome:
    """These frames out, in this order."""
    parts = {name: getattr(outcome, name)[order] for name in ("source", "user", "meta", "begun", "ended")}
    return replace(outcome, frames=outcome.frames.select(order), **parts)


def _lost_last_beat(batch: Batch, outcome: Outcome) -> Outcome:
    at = _marked_out(batch, outcome)
    frames = list(outcome.frames)
    if at is not None:
        frames[at] = frames[at][: (len(frames[at]) - 1) // 16 * 16]
    out = outcome.frames
    return replace(outcome, frames=Batch.of(frames, edge=out.edge, queue=out.queue, time_ns=out.time_ns))


def _lost_disposition(batch: Batch, outcome: Outcome) -> Outcome:
    code = outcome.code.copy()
    code[_marked(batch)] = Code.NONE
    return replace(outcome, code=code)


def _lost_frame(batch: Batch, outcome: Outcome) -> Outcome:
    at = _marked_out(batch, outcome)
    return _picked(outcome, [i for i in range(len(outcome.frames)) if i != at])


def _doubled_frame(batch: Batch, outcome: Outcome) -> Outcome:
    at = _marked_out(batch, outcome)
    return _picked(outcome, sorted([*range(len(outcome.frames)), *([] if at is None else [at])]))


def _swapped_frames(batch: Batch, outcome: Outcome) -> Outcome:
    at, order = _marked_out(batch, outcome), list(range(len(outcome.frames)))
    if at is not None and at + 1 < len(order):
        order[at], order[at + 1] = order[at + 1], order[at]
    return _picked(outcome, order)


def _dropped_frame(batch: Batch, outcome: Outcome) -> Outcome:
    lost, marked = _lost_frame(batch, outcome), _marked(batch)
    columns = {name: getattr(lost, name).copy() for name in ("code", "first_out", "last_out", "latency_cycles")}
    for name, column in columns.items():
        column[marked] = Code.BAD_FRAME if name == "code" else -1
    return replace(lost, **columns)


def _one_cycle_late(batch: Batch, outcome: Outcome) -> Outcome:
    columns = {name: getattr(outcome, name).copy() for name in ("first_out", "last_out", "latency_cycles")}
    for column in columns.values():
        column[_marked(batch)] += 1
    return replace(outcome, **columns)


def _one_cycle_early(batch: Batch, outcome: Outcome) -> Outcome:
    columns = {name: getattr(outcome, name).copy() for name in ("first_out", "last_out", "latency_cycles")}
    for column in columns.values():
        column[_marked(batch)] -= 1
    return replace(outcome, **columns)


def _counted_twice(batch: Batch, outcome: Outcome) -> Outcome:
    more = int(_marked(batch).any())
    return replace(outcome, counters=outcome.counters | {"rx_frames_in": outcome.counters["rx_frames_in"] + more})


def _wrong_queue(batch: Batch, outcome: Outcome) -> Outcome:
    queue = outcome.queue.copy()
    queue[_marked(batch)] ^= 1
    return replace(outcome, queue=queue)


def _bad_mark_out(batch: Batch, outcome: Outcome) -> Outcome:
    bad, at = outcome.frames.bad.copy(), _marked_out(batch, outcome)
    if at is not None:
        bad[at] = 1
    return replace(outcome, frames=replace(outcome.frames, bad=bad))


def _wrong_metadata(batch: Batch, outcome: Outcome) -> Outcome:
    meta, at = outcome.meta.copy(), _marked_out(batch, outcome)
    if at is not None:
        meta[at] ^= words_of([pack({"ethertype": 1})])[0]
    return replace(outcome, meta=meta)


def _wrong_verdict(batch: Batch, outcome: Outcome) -> Outcome:
    user, at = outcome.user.copy(), _marked_out(batch, outcome)
    if at is not None:
        user[at] ^= 0x100
    return replace(outcome, user=user)


WRONG: dict[str, tuple[Wrong, str]] = {
    "a byte is flipped": (_flipped_byte, "rx frame 5: byte 37: expected 0x55, got 0x45"),
    "the last beat is lost": (_lost_last_beat, "rx frame 5: length: expected 77, got 64"),
    "an end is never reported": (_lost_disposition, "rx frame 5: code: expected DELIVERED, got NONE"),
    "a frame is lost without a word": (_lost_frame, "rx frame 5: times it came out: expected 1, got 0"),
    "a frame comes out twice": (_doubled_frame, "rx frame 5: times it came out: expected 1, got 2"),
    "two frames change places": (_swapped_frames, "order"),
    "a good frame is dropped": (_dropped_frame, "rx frame 5: code: expected DELIVERED, got BAD_FRAME"),
    "a frame is one cycle late": (_one_cycle_late, "rx frame 5: first_out: expected"),
    "a frame is one cycle early": (_one_cycle_early, "rx frame 5: first_out: expected"),
    "a counter counts twice": (_counted_twice, "counter rx_frames_in: expected 24, got 25"),
    "a queue is wrong": (_wrong_queue, "rx frame 5: queue: expected 0, got 1"),
    "a header's field is wrong": (_wrong_metadata, "rx frame 5: meta.ethertype: expected 0x5555, got 0x5554"),
    "a verdict on a checksum is wrong": (_wrong_verdict, "rx frame 5: tuser: expected 0x0, got 0x100"),
    "a good frame comes out with the bad mark": (_bad_mark_out, "rx frame 5: bad mark out: expected 0, got 1"),
}
"""What may go wrong, and the words that must name it."""


def _marked(batch: Batch) -> Any:
    """Frames from the wire whose bytes are all 0x55: the wrong models stumble over those."""
    return np.array(
        [edge == Edge.WIRE and set(frame) == {0x55} for frame, edge in zip(batch, batch.edge, strict=True)], bool
    )


def _marked_out(batch: Batch, outcome: Outcome) -> int | None:
    """Place of the first marked frame among those that came out."""
    hits = np.flatnonzero(_marked(batch)[outcome.source]) if len(outcome.source) else []
    return int(hits[0]) if len(hits) else None


def wrong_target(wrong: Wrong) -> ModelTarget:
    """A target whose device is wrong in one way."""

    class Model(NicPortModel):
        def play(self, batch: Batch) -> Outcome:
            return wrong(batch, super().play(batch))

    class Target(ModelTarget):
        def make_model(self, config: NicConfig) -> NicPortModel:
            return Model(config)

    return Target()


def capture_with_a_mark() -> Batch:
    """24 frames; number 5 is the one that wrong models stumble over."""
    frames = [bytes([i]) * (60 + 7 * i) for i in range(24)]
    frames[5] = b"\x55" * 77
    return Batch.of(frames)


def item_of(frames: Batch) -> Item:
    return Item("made.pcapng", stimulus(frames), draw_profiles(1, "made"), len(frames), doubled=True)


@pytest.mark.parametrize("kind", WRONG)
def test_a_device_that_is_wrong_is_caught_and_shrunk_to_what_it_stumbles_over(kind: str) -> None:
    wrong, words = WRONG[kind]
    result, failing = asyncio.run(play_item(wrong_target(wrong), item_of(capture_with_a_mark()), NicConfig()))
    assert result.mismatches >= 1
    assert words in result.failure["first"]
    assert result.failure["minimal"]
    assert failing is not None
    assert b"\x55" * 77 in list(failing.item.frames)
    assert 5 in failing.item.numbers
    assert len(failing.item.frames) == (2 if kind == "two frames change places" else 1)


def test_a_right_device_gives_no_mismatch_and_nothing_is_shrunk() -> None:
    result, failing = asyncio.run(play_item(ModelTarget(), item_of(capture_with_a_mark()), NicConfig()))
    assert (result.mismatches, result.failure, failing) == (0, {}, None)
    assert (result.frames, result.of_frames, result.delivered, result.dropped) == (24, 24, 48, 0)
    assert (result.latency["rx"].least, result.latency["tx"].least) == (4 + 25 + 3, 4 + 22 + 3)


def _job(path: Path, folder: Path, failures: Path | None, name: str = "", **entry: Any) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    return {
        "captures": [{"name": name or path.name, "path": str(path), **entry}],
        "seed": 1,
        "most_beats": None,
        "tries": 50,
        "failures": str(failures) if failures else "",
        "command": "nicloop sim",
        "sim": "verilator",
        "engine": "bfm",
    }


def _played(folder: Path) -> list[CaptureResult]:
    return [CaptureResult.from_json(json.loads(line)) for line in (folder / "results.jsonl").read_text().splitlines()]


def test_a_failure_that_cannot_be_packed_is_a_notice_and_the_play_goes_on(tmp_path: Path) -> None:
    source, failures = tmp_path / "field.pcapng", tmp_path / "failures"
    write_capture(source, capture_with_a_mark())
    failures.touch()
    job = _job(source, tmp_path / "one", failures)
    job["captures"] *= 2
    asyncio.run(play_job(wrong_target(_flipped_byte), job, NicConfig(), tmp_path / "one"))
    for result in _played(tmp_path / "one"):
        assert result.notice == f"{failures}: the failure can't be packed there: File exists"
        assert "byte 37" in result.failure["first"] and "capture" not in result.failure
        commands._explain(Console(file=io.StringIO()), result, "make sim")


def test_the_smallest_capture_lies_on_disk_and_fails_again_by_itself(tmp_path: Path) -> None:
    source = tmp_path / "field.pcapng"
    write_capture(source, capture_with_a_mark())
    config = NicConfig(tuple(replace(port, max_frame=200) for port in NicConfig().ports))
    target = wrong_target(_flipped_byte)
    asyncio.run(play_job(target, _job(source, tmp_path / "one", tmp_path / "failures"), config, tmp_path / "one"))
    (result,) = _played(tmp_path / "one")
    kept = tmp_path / "failures" / "field-5.zip"
    assert result.failure["capture"] == str(kept)
    assert is_failure(kept)
    assert not is_failure(source)
    item, notice = load_item(kept, kept.name, seed=99)
    assert notice == ""
    assert list(item.frames) == [b"\x55" * 77]
    assert item.frames.edge.tolist() == [Edge.WIRE]
    assert item.config == config
    assert item.profiles == draw_profiles(1, "field.pcapng")
    again, _ = asyncio.run(play_item(target, item, NicConfig(), tries=0))
    assert again.mismatches == 1
    assert "rx frame 0: byte 37: expected 0x55, got 0x45" in again.failure["first"]
    cured, _ = asyncio.run(play_item(ModelTarget(), item, NicConfig()))
    assert cured.mismatches == 0


def test_a_failure_with_a_reset_is_kept_with_its_reset(tmp_path: Path) -> None:
    source = tmp_path / "cut.pcapng"
    write_capture(source, Batch.of([b"\x55" * 77, *capture_with_a_mark()]))
    job = _job(source, tmp_path / "one", tmp_path / "failures", reset=True, profile="gap")
    asyncio.run(play_job(wrong_target(_lost_disposition), job, NicConfig(), tmp_path / "one"))
    (result,) = _played(tmp_path / "one")
    assert result.mismatches >= 1
    (kept,) = (tmp_path / "failures").iterdir()
    item, _ = load_item(kept, "cut.pcapng", seed=1)
    assert item.cut is not None
    assert set(item.profiles.values()) == {"gap"}


def test_shrinking_ends_with_frames_of_which_none_can_be_left_out() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        count = rng.randint(1, 150)
        needed = set(rng.sample(range(count), min(count, rng.randint(1, 4))))

        async def fails(part: list[int], needed: set[int] = needed) -> bool:
            return needed <= set(part)

        hint = rng.choice([None, max(needed), rng.randrange(count)])
        shrunk = asyncio.run(shrink(range(count), fails, hint=hint, tries=100_000))
        assert shrunk.frames == tuple(sorted(needed))
        assert shrunk.minimal


def test_shrinking_stops_when_its_tries_are_spent_and_keeps_what_fails() -> None:
    async def fails(part: list[int]) -> bool:
        return {3, 90} <= set(part)

    shrunk = asyncio.run(shrink(range(100), fails, tries=5))
    assert shrunk.tries == 5
    assert not shrunk.minimal
    assert {3, 90} <= set(shrunk.frames)


def test_received_frames_are_paced_by_a_25g_wire() -> None:
    lengths = [60, 1514, 64, 9000, 61]
    batch = line_rate(stimulus(Batch.of([bytes(length) for length in lengths])), Edge.WIRE)
    passed = np.cumsum([0, *lengths[:-1]]) + 24 * np.arange(5)
    assert batch.time_ns[:5].tolist() == (passed * 8 // 25).tolist()
    assert batch.time_ns[5:].tolist() == [0] * 5


def test_profiles_depend_on_the_seed_and_the_name_alone() -> None:
    assert draw_profiles(7, "a.pcap") == draw_profiles(7, "a.pcap")
    drawn = {tuple(draw_profiles(seed, name).values()) for seed in range(20) for name in ("a", "b", "c")}
    assert len(drawn) > 20
    assert {profile for pair in drawn for profile in pair} == set(PROFILES) - {"stalled"}


def test_failures_of_one_name_lie_beside_each_other_until_they_are_cleared(tmp_path: Path) -> None:
    failures = tmp_path / "failures"
    for name in ("a/field.pcapng", "b/field.pcapng", "field.pcap"):
        source = tmp_path / name
        source.parent.mkdir(exist_ok=True)
        write_capture(source, capture_with_a_mark())
        job = _job(source, tmp_path / "one", failures, name=name)
        asyncio.run(play_job(wrong_target(_flipped_byte), job, NicConfig(), tmp_path / "one"))
    kept = [failures / f"{name}.zip" for name in ("field-5", "field-5-2", "field-5-3")]
    assert sorted(failures.iterdir()) == sorted(kept)
    assert [load_failure(path).note["capture"] for path in kept] == ["a/field.pcapng", "b/field.pcapng", "field.pcap"]
    with zipfile.ZipFile(failures / "mine.zip", "w") as mine:
        mine.writestr("failure.json", "{}")
    for name in ("field-5.fst", "field-5-2.fst", "other.fst"):
        (failures / name).touch()
    clear_failures(failures, keep=[kept[1]])
    left = ["field-5-2.fst", "field-5-2.zip", "mine.zip", "other.fst"]
    assert sorted(path.name for path in failures.iterdir()) == left
    (failures / "mine.zip").unlink()
    (failures / "other.fst").unlink()
    (failures / "field-5-2.fst").touch()
    clear_failures(failures, keep=[])
    assert not failures.exists()


def _drawn(width: int, *names: str) -> str:
    """The table of these captures on a console of that width."""
    latency = {"rx": Latency(1234, 56789, 987654), "tx": Latency(18, 23, 94321)}
    results = [
        CaptureResult(name, 100, 1000, 7654321, 12345678, latency=dict(latency), share={"rx": 1.0, "tx": 1.27})
        for name in names
    ]
    out = Console(file=io.StringIO(), width=width, no_color=True)
    print_captures(out, results, 4.0, "title")
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().partition("frames and bytes:")[0]


def test_the_table_never_cuts_a_number_however_narrow_the_console() -> None:
    names = ["first/capture_with_a_long_name.pcapng", "second/capture_with_a_long_name.pcapng"]
    numbers = {"100 of 1000", "12345678", "24691356", "1234/56789/987654", "18/23/94321", "127%", "2 captures"}
    seen = []
    for width in range(200, 19, -1):
        drawn = _drawn(width, *names)
        assert all(number in drawn for number in numbers), width
        shown = ("latency, ns" in drawn, "7654321" in drawn, all(name in drawn for name in names))
        seen.append(shown)
        if width >= 85:  # what the numbers and headings take
            assert max(map(len, drawn.splitlines())) <= width
    stages = [(True, True, True), (False, True, True), (False, False, True), (False, False, False)]
    assert list(dict.fromkeys(seen)) == stages
    assert len(re.findall("…", _drawn(80, *names))) == 2
    assert "1 capture " in _drawn(140, "one.pcap")


# -- the command -------------------------------------------------------------------------------------------------------


def nicloop(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def small(*names: str) -> list[Path]:
    return [CAPTURES / name for name in names]


def test_main_job_plays_every_capture_and_all_is_as_the_model_says(verilator: str, tmp_path: Path, seed: int) -> None:
    result = nicloop("sim", "--seed", seed, "--output", tmp_path)
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "sim" / "summary.json").read_text())
    names = sorted(path.name for path in CAPTURES.iterdir() if ".pcap" in path.name)
    assert [capture["name"] for capture in summary["captures"]] == names
    assert summary["ok"]
    assert all(capture["frames"] == capture["of_frames"] > 0 for capture in summary["captures"])
    assert all(capture["name"] in result.output for capture in summary["captures"])
    assert not (tmp_path / "failures").exists()


@pytest.mark.parametrize("sim", ["icarus"], indirect=True)
def test_main_job_plays_a_part_under_icarus_and_says_which(sim: str, tmp_path: Path) -> None:
    paths = small("scapy_lengths_60_200.pcapng", "scapy_imix.pcapng", "scapy_short.pcapng")
    commands_beats = commands.ICARUS_BEATS
    try:
        commands.ICARUS_BEATS = 1500
        result = nicloop("sim", *paths, "--sim", sim, "--output", tmp_path)
    finally:
        commands.ICARUS_BEATS = commands_beats
    assert result.exit_code == 0, result.output
    captures = json.loads((tmp_path / "sim" / "summary.json").read_text())["captures"]
    assert [0 < capture["frames"] <= capture["of_frames"] for capture in captures] == [True] * 3
    assert any(capture["frames"] < capture["of_frames"] for capture in captures)
    for capture in captures:
        if capture["frames"] < capture["of_frames"]:
            assert f"{capture['frames']} of {capture['of_frames']}" in result.output


def test_a_damaged_capture_is_played_up_to_the_damage_and_gives_exit_code_2(tmp_path: Path) -> None:
    whole = (CAPTURES / "scapy_imix.pcapng").read_bytes()
    cut, noise = tmp_path / "cut.pcapng", tmp_path / "noise.pcap"
    cut.write_bytes(whole[: len(whole) // 2])
    noise.write_bytes(b"no capture at all")
    result = nicloop("sim", cut, noise, "--output", tmp_path)
    assert result.exit_code == 2, result.output
    captures = json.loads((tmp_path / "sim" / "summary.json").read_text())["captures"]
    assert captures[0]["delivered"] > 0
    assert "byte" in captures[0]["notice"]
    assert captures[1]["frames"] == 0
    assert "neither pcap nor pcapng" in captures[1]["notice"]
    assert "cut.pcapng: byte" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.pcap"], "nowhere.pcap: no such capture, neither here nor in tests/captures"),
        (["some/nowhere.pcap"], "some/nowhere.pcap: no such capture"),
        (["tests/captures"], "tests/captures: is a folder"),
        (["-"], "-: standard input can't be played"),
        (["/dev/null"], "/dev/null: is a pipe or a device"),
        (["--sim", "vcs"], "must be verilator or icarus"),
        (["--sim", "icarus", "--engine", "bfm"], "must be agents"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_bad_usage_gives_exit_code_2_and_names_what_is_wrong(arguments: list[str], words: str) -> None:
    result = nicloop("sim", *arguments)
    assert result.exit_code == 2
    assert words in result.output


@pytest.mark.parametrize("sim", ["icarus"], indirect=True)
def test_rtl_that_differs_gives_the_first_difference_a_command_and_a_waveform(
    sim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device: a port whose buffers hold 8 beats, where the model says 2048."""

    def few_beats(engine: str, **parameters: int) -> Design:
        return port_design(engine, RX_BUFFER_BEATS=8, TX_BUFFER_BEATS=8, **parameters)

    monkeypatch.setattr(launch, "port_design", few_beats)
    source = tmp_path / "field.pcapng"
    write_capture(source, Batch.of([bytes(60), bytes(100), bytes(200), bytes(64)]))
    result = nicloop("sim", source, "--sim", sim, "--output", tmp_path)
    assert result.exit_code == 1, result.output
    kept = tmp_path / "failures" / "field-2.zip"
    assert "first difference: rx frame 2: drop for want of room: expected room for 13 beats" in result.output
    assert f"packed failure:   {kept} (1 frame after" in result.output
    assert f"nicloop rerun {kept} --waves" in result.output
    waveform = Path(result.output.partition("waveform of field.pcapng: ")[2].splitlines()[0])
    assert (Path.cwd() / waveform).stat().st_size > 1000
    again = nicloop("sim", kept, "--sim", sim, "--output", tmp_path / "again")
    assert again.exit_code == 1
    assert "rx frame 0: drop for want of room" in again.output
    with zipfile.ZipFile(kept) as archive:
        assert archive.getinfo("waves.fst").file_size > 1000
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    given = Path("given.zip")
    given.write_bytes(kept.read_bytes())
    rerun = nicloop("rerun", given, "--waves")
    assert rerun.exit_code == 1, rerun.output
    assert "on cocotb (icarus, agents), seed 1:" in rerun.output
    assert f"still fails the same way: {load_failure(given).words[0]}" in rerun.output
    assert "waveform: given.fst" in rerun.output
    assert "look at: rx_disp_* of nic_port in cycle " in rerun.output
    assert given.with_suffix(".fst").stat().st_size > 1000


def test_captures_of_one_name_are_told_apart() -> None:
    paths = [Path(name) for name in ("a/x.pcap", "b/x.pcap", "y.pcap", "b/x.pcap", "z/b/y.pcap", "w.pcap", "w.pcap")]
    names = capture_names(paths)
    assert names[:2] == ["a/x.pcap", "b/x.pcap"]
    assert names[3:] == ["b/x.pcap (2)", "b/y.pcap", "w.pcap", "w.pcap (2)"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["plain.pcap", "two words.pcap", "it's.pcap", "-x.pcap", "a$b.pcap"])
def test_the_command_that_reproduces_survives_the_shell(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(commands.ROOT)
    path = tmp_path / name
    command = commands._reproduce(path, "verilator", "bfm", 3, None, None)
    words = shlex.split(command)
    if name in ("plain.pcap", "-x.pcap"):
        assert words == ["make", "sim", f"TEST={path}", "SIM=verilator", "SEED=3", "WAVES=1"]
    else:
        assert words[:3] == [".venv/bin/nicloop", "sim", str(path)]
    with_config = shlex.split(commands._reproduce(path, "verilator", "agents", 3, Path("my nic.toml"), None))
    assert with_config[-2:] == ["--config", "my nic.toml"]
    monkeypatch.chdir(tmp_path)
    words = shlex.split(commands._reproduce(path, "verilator", "bfm", 3, None, None))
    assert words[0] == str(commands.ROOT / ".venv" / "bin" / "nicloop")
    assert words[2] == ("./-x.pcap" if name == "-x.pcap" else name)


def test_a_bare_name_is_looked_up_among_the_captures_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert commands._captures([Path("scapy_imix.pcapng")]) == small("scapy_imix.pcapng")
    Path("scapy_imix.pcapng").write_bytes(b"mine")
    assert commands._captures([Path("scapy_imix.pcapng")]) == [Path("scapy_imix.pcapng")]


def test_a_simulation_that_is_stopped_names_the_capture_and_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped:
        folder = tmp_path

        def check(self) -> None:
            raise commands.SimulationFailed("ended after 1800 s")

    monkeypatch.chdir(commands.ROOT)
    done = CaptureResult("scapy_short.pcapng", 1, 1)
    monkeypatch.setattr(commands, "_play", lambda *_, **__: (Stopped(), [done]))
    result = nicloop("sim", "scapy_short.pcapng", "scapy_imix.pcapng", "--output", tmp_path)
    assert result.exit_code == 1
    again = "make sim TEST=tests/captures/scapy_imix.pcapng SIM=verilator SEED=1 WAVES=1"
    assert f"it was playing scapy_imix.pcapng; reproduce: {again}" in result.output
    summary = json.loads((tmp_path / "sim" / "summary.json").read_text())
    assert summary["reproduce"] == {"scapy_imix.pcapng": again}


def test_a_capture_without_frames_gives_no_frames(tmp_path: Path) -> None:
    write_capture(tmp_path / "none.pcapng", Batch.empty())
    result = nicloop("sim", tmp_path / "none.pcapng", "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == "no frames"


# -- every capture under every profile, on the RTL ---------------------------------------------------------------------


def test_every_capture_passes_under_every_profile_and_with_resets(verilator: str, seed: int) -> None:
    """Both directions of every capture, once for each profile, and twice with a reset in the middle of a frame."""
    paths = sorted(path for path in CAPTURES.iterdir() if ".pcap" in path.name)
    ways = [{"profile": profile} for profile in PROFILES]
    ways += [{"profile": "none", "reset": True}, {"profile": "storm", "reset": True}]
    entries = [{"name": path.name, "path": str(path), **way} for path in paths for way in ways]
    job = {"captures": entries, "config": NicConfig().to_toml(), "most_beats": None, "tries": 0, "failures": ""}
    run, folder = launch.launch_job("captures", job, sim="verilator", engine="bfm", seed=seed)
    run.check()
    results = _played(folder)
    assert len(results) == len(entries)
    failed = [(result.name, result.profiles, result.failure["first"]) for result in results if result.mismatches]
    assert failed == []


def test_a_play_that_stands_still_is_ended_by_the_watchdog(simulate: Callable[..., Any]) -> None:
    for engine in launch.ENGINES:
        simulate(port_design(engine), "tb.targets.bench_watchdog", env={"NICLOOP_ENGINE": engine})
