"""What a target says when it can't go on: where a replay, a trace and a scenario end with it, and with what words.

Sweep:    a port that doesn't become ready, a register that isn't there, a port that breaks a rule in an earlier window
Stimulus: frames made here
Checks:   exit codes; one line, without a traceback; what was played stands
Timing:   none
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from models.config import NicConfig
from models.frames import Batch, Outcome
from tb.cli import app
from tb.replay import replay_command
from tb.replay.capture import write_capture
from tb.replay.item import Item, play_once
from tb.replay.perform import Task
from tb.replay.run import replay_job
from tb.targets import port
from tb.targets.base import ProtocolError, Stuck, UnmappedAddress
from tb.targets.launch import run_scenario
from tb.targets.model import ModelTarget
from tb.targets.native import NativeEngine, NativeTarget
from tests.replay.judging import udp_frame


def nicloop(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def field(verilator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A capture of 6 frames."""
    monkeypatch.setattr(replay_command, "SIM_BUILD", tmp_path)
    write_capture(tmp_path / "field.pcapng", Batch.of([udp_frame(60 + i) for i in range(6)]))
    return tmp_path / "field.pcapng"


async def never(*_: object) -> bool:
    return False


@pytest.mark.parametrize("command", [["replay"], ["trace", "--frame", 1]])
def test_a_port_that_does_not_become_ready_is_told_in_one_line(
    command: list[object], field: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NativeEngine, "_ready_within", never)
    result = nicloop(*command, field)
    assert result.exit_code == 1, result.exception
    words = "the port can't be configured: ready did not move for 20000 cycles: it stays low after reset"
    assert result.output == f"nicloop: {words}\n"


def test_a_scenario_on_a_port_that_does_not_become_ready_fails(verilator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NativeEngine, "_ready_within", never)
    result = run_scenario("native", "echo")
    assert (result.status, result.message) == (
        "failed",
        "Stuck: ready did not move for 20000 cycles: it stays low after reset",
    )


def test_a_register_that_is_not_there_ends_the_play_that_reads_it(field: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plays, read = [0], port.read_counters

    async def unmapped(access: Any) -> dict[str, int]:
        plays[0] += 1
        if plays[0] == 3:
            raise UnmappedAddress(0x40)
        return await read(access)

    monkeypatch.setattr(port, "read_counters", unmapped)
    result = nicloop("replay", field, "--window", 1)
    assert result.exit_code == 1, result.exception
    assert "among frames 2 to 2 (field.pcapng): no register at address 0x00040" in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_a_trace_behind_a_play_without_an_end_is_one_line(field: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plays, play = [0], NativeTarget.play

    async def broken(self: NativeTarget, batch: Batch) -> Outcome:
        plays[0] += 1
        if plays[0] == 2:
            raise ProtocolError("cycle 7: tkeep\ncycle 8: tlast")
        return await play(self, batch)

    monkeypatch.setattr(NativeTarget, "play", broken)
    result = nicloop("trace", field, "--frame", 5, "--window", 2)
    assert result.exit_code == 1, result.exception
    words = "--frame 5: the replay ended before it: among frames 2 to 3 (field.pcapng): cycle 7: tkeep …"
    assert result.output == f"nicloop: {words}\n"


class Unready(ModelTarget):
    """It can't be configured."""

    async def configure(self, config: NicConfig) -> None:
        raise Stuck("ready", 20_000, "it stays low after reset")


def test_a_port_in_a_simulator_that_cannot_be_configured_is_told_outside(tmp_path: Path) -> None:
    write_capture(tmp_path / "field.pcapng", Batch.of([udp_frame(60)]))
    task = Task([["field.pcapng", str(tmp_path / "field.pcapng")]], records=str(tmp_path / "records.jsonl"))
    asyncio.run(replay_job(Unready(), asdict(task), tmp_path))
    result = json.loads((tmp_path / "result.json").read_text())
    assert result == {
        "refused": "ready did not move for 20000 cycles: it stays low after reset",
        "kind": "target",
    }


def test_a_capture_on_a_port_that_cannot_be_configured_fails() -> None:
    item = Item("field", Batch.of([udp_frame(60)]), {}, 1)
    verdict = asyncio.run(play_once(Unready(), item, NicConfig()))
    assert verdict.failed
    assert verdict.words(item) == "Stuck: ready did not move for 20000 cycles: it stays low after reset"
