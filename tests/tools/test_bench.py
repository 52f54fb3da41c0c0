"""The arithmetic of the speed bench: its traffic, rates, ratios, gates, report and exit codes. Nothing is timed here.

Sweep:    every gate, at its bound and just beyond; every size; one repetition that something else slowed
Stimulus: made-up figures in place of runs; the bench's own frames and captures
Checks:   ratios against figures that were chosen for them; frames against the parser's model; bench.json, exit codes,
          messages
Timing:   none
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import figures, memory, speed, traffic
from models.frames import Batch
from models.parser_batch import parse_batch
from tb.build import BuildError, SimulationFailed
from tb.replay.capture import CaptureReader
from tb.toolchain import ROOT, ToolError

US = {
    "bare": 1.0,
    "native": 1.25,
    "native, checked": 1.5,
    "frame BFM": 3.2,
    "agents": 32.0,
    "cocotbext-axi": 200.0,
    "port, bare": 0.5,
    "port, native": 1.0,
    "port, native, checked": 1.4,
}
"""Made-up CPU time of a cycle: every gate holds."""


def made_up(us: dict[str, float], digests: dict[str, str]) -> dict[str, speed.Run]:
    """What `harnesses` gives, with these times."""

    def run(name: str) -> speed.Run:
        digest = digests.get(name, "port" if name in figures.PORT else "reference")

        def play(cycles: int) -> tuple[str, Iterator[figures.Timed]]:
            timed = (
                figures.Timed(traffic.frames_of(size, cycles), cycles, 1e-6 * cycles * us[name])
                for size in traffic.SIZES
            )
            return digest, timed

        return play

    return {name: run(name) for name in US}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Runs the bench with other times, digests and memory than the made-up ones; exit code and bench.json."""

    def play(
        us: dict[str, float] | None = None,
        digests: dict[str, str] | None = None,
        memory_mb: tuple[float, float] = (150.0, 155.0),
        outputs_mb: tuple[float, float] = (160.0, 165.0),
    ) -> tuple[int, dict[str, Any]]:
        found = made_up(US | (us or {}), digests or {})
        kinds = zip(memory.KINDS, (memory_mb, outputs_mb), strict=True)
        needed = {(kind, frames): mb for kind, row in kinds for frames, mb in zip(memory.FRAMES, row, strict=True)}
        monkeypatch.setattr(speed, "SIM_BUILD", tmp_path)
        monkeypatch.setattr(speed, "harnesses", lambda say: found)
        monkeypatch.setattr(memory, "run", lambda kind, frames: needed[kind, frames])
        code = speed.main(["--repetitions", "3"])
        return code, json.loads((tmp_path / "bench.json").read_text())

    return play


def test_the_report_has_the_figures_of_each_size_under_reference_and_nic_port(bench: Any) -> None:
    code, found = bench()
    assert code == 0
    assert set(found["reference"]) == {"64", "594", "1514", "imix"}
    assert found["reference"]["64"] == pytest.approx(
        {
            "native_over_bare": 0.8,
            "native_over_cocotbext_axi": 160,
            "checked_over_unchecked": 1.2,
            "cycles_per_cpu_second": 800_000,
            "frames_per_cpu_second": 200_000,
        }
    )
    # 4, 37 and 95 beats a frame, and a round of the mix has 7 * 4 + 4 * 37 + 95 for 12.
    frames = {size: found["reference"][size]["frames_per_cpu_second"] for size in found["reference"]}
    assert frames == pytest.approx(
        {"64": 800_000 / 4, "594": 800_000 / 37, "1514": 800_000 / 95, "imix": 800_000 * 12 / 271}, rel=2e-3
    )
    for size in found["reference"]:
        assert found["nic_port"][size]["cycles_per_cpu_second"] == pytest.approx(1_000_000)
        assert found["nic_port"][size]["checked_over_unchecked"] == pytest.approx(1.4)
        assert found["nic_port"][size]["harness_us_per_cycle"] == pytest.approx(0.5)
    assert found["nic_port"]["harness_us_per_cycle"] == pytest.approx(0.5)
    assert found["memory_mb"] == {
        "replay": {"100000": 150.0, "1000000": 155.0},
        "replay with outputs": {"100000": 160.0, "1000000": 165.0},
    }
    assert found["harnesses"]["medians"]["agents"]["imix"] == pytest.approx(31_250)
    assert len(found["gates"]) == 4 * 6 + 4 and all(gate["held"] for gate in found["gates"])


@pytest.mark.parametrize(
    ("us", "message"),
    [
        ({"native": 1.7}, "native over bare, 64: 0.588 times, the gate is at least 0.6 times"),
        (
            {"cocotbext-axi": 124.0, "frame BFM": 2.0, "agents": 20.0},
            "native over cocotbext axi, imix: 99.2 times, the gate is at least 100 times",
        ),
        ({"native, checked": 1.9}, "checked over unchecked, 594: 1.52 times, the gate is at most 1.5 times"),
        ({"frame BFM": 4.1}, "frame BFM over cocotbext axi, 1514: 48.8 times, the gate is at least 50 times"),
        ({"agents": 41.0}, "agents over cocotbext axi, 64: 4.88 times, the gate is at least 5 times"),
        ({"port, native": 1.6}, "harness on nic_port, imix: 1.1 us a cycle, the gate is at most 1 us a cycle"),
    ],
)
def test_a_harness_that_becomes_slow_fails_its_gate(
    bench: Any, capsys: pytest.CaptureFixture[str], us: dict[str, float], message: str
) -> None:
    code, found = bench(us)
    assert code == 1
    assert message in capsys.readouterr().out
    assert sum(not gate["held"] for gate in found["gates"]) == 4


@pytest.mark.parametrize(
    ("needed", "message"),
    [
        ({"memory_mb": (380.0, 401.0)}, "memory of a replay, 1000000 frames: 401 MB, the gate is at most 400 MB"),
        (
            {"memory_mb": (150.0, 183.0)},
            "replay: memory beyond that of 100000 frames, 1000000: 33 MB, the gate is at most 32 MB",
        ),
        (
            {"outputs_mb": (380.0, 402.0)},
            "memory of a replay with outputs, 1000000 frames: 402 MB, the gate is at most 400 MB",
        ),
        (
            {"outputs_mb": (150.0, 183.0)},
            "replay with outputs: memory beyond that of 100000 frames, 1000000: 33 MB, the gate is at most 32 MB",
        ),
    ],
)
def test_a_replay_that_needs_more_memory_for_more_frames_fails_its_gate(
    bench: Any, capsys: pytest.CaptureFixture[str], needed: dict[str, tuple[float, float]], message: str
) -> None:
    assert bench(**needed)[0] == 1
    assert message in capsys.readouterr().out


def test_a_figure_at_its_bound_holds() -> None:
    assert figures.Gate("a", "64", 0.6, least=0.6).held and figures.Gate("a", "64", 1.5, most=1.5).held
    assert not figures.Gate("a", "64", 0.599, least=0.6).held and not figures.Gate("a", "64", 1.501, most=1.5).held


def test_harnesses_that_get_other_bytes_from_the_same_frames_fail(
    bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(digests={"agents": "other"})[0] == 1
    assert "different bytes" in capsys.readouterr().out
    assert bench(digests={"port, native": "other"})[0] == 1
    assert "different bytes" in capsys.readouterr().out


def test_a_reference_design_that_was_changed_is_refused(
    monkeypatch: pytest.MonkeyPatch, bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench()[0] == 0
    monkeypatch.setattr(speed, "FROZEN", "other")
    assert bench()[0] == 1
    assert "is frozen" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code"),
    [(ToolError("verilator: not found"), 3), (BuildError("a.v:1: [error]"), 1), (SimulationFailed("it [hangs]"), 1)],
)
def test_what_ends_the_bench_is_said_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, code: int
) -> None:
    def fail(say: Any) -> Any:
        raise error

    monkeypatch.setattr(speed, "harnesses", fail)
    assert speed.main([]) == code
    assert capsys.readouterr().out.strip() == str(error)


def test_a_repetition_that_something_else_slowed_moves_no_figure() -> None:
    def one(factor: float) -> dict[str, list[figures.Figures]]:
        return speed.measure(made_up({name: us * factor for name, us in US.items()}, {}), 1, lambda text: None)

    calm, slow = one(1.0), one(9.0)
    mixed = {name: [*calm[name], *slow[name], *calm[name]] for name in US}
    needed = {"replay": {"100000": 1.0, "1000000": 1.0}}
    found, wanted = figures.report(mixed, needed), figures.report(calm, needed)
    for key in ("reference", "nic_port"):
        for size in traffic.SIZES:
            assert found[key][size] == pytest.approx(wanted[key][size])


def test_what_the_harness_adds_to_a_cycle_is_told_by_its_worst_size() -> None:
    runs = speed.measure(made_up(US, {}), 1, lambda text: None)
    (found,) = runs["port, native"]
    slow = figures.Timed(100, 1000, 1.75e-3)
    runs["port, native"] = [figures.Figures(found.digest, {**found.timed, "594": slow})]
    port = figures.report(runs, {"replay": {"100000": 1.0, "1000000": 1.0}})["nic_port"]
    assert port["harness_us_per_cycle"] == port["594"]["harness_us_per_cycle"] == pytest.approx(1.25)
    assert port["64"]["harness_us_per_cycle"] == pytest.approx(0.5)


def test_the_harnesses_are_those_of_the_report() -> None:
    assert set(speed.CYCLES) == set(US) == {*figures.REFERENCE, *figures.PORT}


def test_frames_of_the_bench_have_the_sizes_and_the_mix_of_their_names_and_are_right() -> None:
    checked, *timed = traffic.segments(3_000)
    assert len(checked[1]) == 65
    seen = {}
    for size, (data, offset) in zip(traffic.SIZES, timed, strict=True):
        lengths = np.diff(offset)
        # With the FCS.
        seen[size] = dict(zip(*np.unique(lengths + 4, return_counts=True), strict=True))
        assert len(lengths) == traffic.frames_of(size, 3_000)
        parsed = parse_batch(Batch.of_arrays(data, lengths))
        for name, value in (("code", 0), ("user", 1 << 8), ("ip_checksum", 1), ("src_port", 0x0A0A)):
            assert (parsed[name] == value).all(), (size, name)
    assert seen == {"64": {64: 750}, "594": {594: 81}, "1514": {1514: 31}, "imix": {64: 77, 594: 44, 1514: 11}}
    assert traffic.frames_of("imix", 1) == 12 and traffic.frames_of("1514", 1) == 4


def test_the_capture_of_many_frames_is_one_that_a_replay_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "_PIECE", 40)
    memory.write_capture(tmp_path / "a.pcap", 100)
    pieces = list(CaptureReader(str(tmp_path / "a.pcap")))
    frames = Batch.concat([piece.batch for piece in pieces])
    assert frames.lengths.tolist() == [60] * 100
    assert frames.time_ns.tolist() == list(range(0, 100_000, 1000))
    assert frames.frame(3) == frames.frame(43) != frames.frame(4)


def test_the_replay_with_outputs_writes_all_that_a_replay_can_write(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def played(command: list[str], **_: Any) -> Any:
        """As the bench in another process."""
        for option, path in pairwise(command):
            if option in ("--records", "--out", "--report"):
                written.append(option)
                Path(path).touch()
        Path(command[3]).write_text("204800")
        return subprocess.CompletedProcess(command, 0)

    written: list[str] = []
    monkeypatch.setattr(memory, "SIM_BUILD", tmp_path)
    monkeypatch.setattr(memory.subprocess, "run", played)
    assert memory.run("replay", 100) == 200.0 and written == []
    assert memory.run("replay with outputs", 100) == 200.0
    assert sorted(written) == ["--out", "--records", "--report"]
    left = sorted(path.name for path in (tmp_path / "bench").iterdir())
    assert left == ["100.log", "100.peak"]


def test_memory_is_that_of_the_replay_alone_not_of_what_started_it(tmp_path: Path) -> None:
    mine = np.ones(300 << 20, np.uint8)
    command = [sys.executable, "-m", "bench.memory", str(tmp_path / "peak"), "--help"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    assert 10 < int((tmp_path / "peak").read_text()) / 1024 < len(mine) / 2**20
