"""``nicloop replay``: captures through the port, each frame held against the golden model."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from models.config import ConfigError
from tb.build import SimulationFailed
from tb.replay.baseline import BaselineError, read_records
from tb.replay.capture import CaptureError
from tb.replay.checks import UsageError, check_captures, check_outputs, check_page, sizes
from tb.replay.ending import Ending, Wanted
from tb.replay.pace import PACES
from tb.replay.perform import EDGES, Performed, Task
from tb.replay.piece import printable
from tb.replay.rules import blamed, directions_of, programmed
from tb.replay.run import How, no_start, play, to_stdout
from tb.replay.sas import secured
from tb.replay.select import Filter, FrameRange, SelectError
from tb.replay.show import progress
from tb.replay.window import WINDOW_FRAMES
from tb.replay.windows import capture_names
from tb.targets.base import TargetError, Unsupported
from tb.targets.launch import TARGETS, default_engine
from tb.targets.program import RulesError
from tb.targets.wire import WIRE
from tb.toolchain import SIM_BUILD

__all__ = ["check_choices", "named", "replay"]

SIMULATORS = ("verilator", "icarus")
EDGE_KINDS = ("stream", "wire")
MOST_WINDOW = 1_000_000
"""Frames: all of a window are in memory."""
MOST_SEED = 0x7FFFFFFE
"""More would be the same as a smaller one to the simulators."""


def replay(
    captures: Annotated[list[str], typer.Argument(help="pcap or pcapng, gzipped or not; - is standard input.")],
    port: Annotated[int | None, typer.Option(help="Port at which frames enter (0, or as the capture says).")] = None,
    direction: Annotated[str | None, typer.Option(help="rx (default, or as the capture says) or tx.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of the programmed NIC.")] = None,
    acl: Annotated[str | None, typer.Option(help="Rules of the ACL: TOML or a ClassBench filter set.")] = None,
    esp_sa: Annotated[str | None, typer.Option(help="SAs of IPsec: TOML or Wireshark's table esp_sa.")] = None,
    target: Annotated[str, typer.Option(help=f"What plays: one of {', '.join(TARGETS)}.")] = "native",
    simulator: Annotated[str, typer.Option("--sim", help="Of the cocotb target: verilator or icarus.")] = "verilator",
    edge: Annotated[str, typer.Option(help="stream; or wire: XGMII with preamble, FCS, gap (native only).")] = "stream",
    pace: Annotated[str, typer.Option(help=f"One of {', '.join(PACES)}.")] = "asap",
    frames: Annotated[str, typer.Option(help="A:B, A:, :B or A: frames A to B-1, counted from 0.")] = "",
    wanted: Annotated[str | None, typer.Option("--filter", help='Such as "host 10.0.0.1 and not port 4791".')] = None,
    window: Annotated[int, typer.Option(help="Frames that are played at once.")] = WINDOW_FRAMES,
    out: Annotated[str, typer.Option(help="pcapng of what came out; - is standard output.")] = "",
    records: Annotated[str, typer.Option(help="JSON Lines, an object a frame; - is standard output.")] = "",
    report: Annotated[str, typer.Option(help="HTML page of the results, in one file.")] = "",
    baseline: Annotated[str, typer.Option(help="Records of an earlier replay, to compare with.")] = "",
    waves: Annotated[bool, typer.Option(help="Write a waveform.")] = False,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Go on after a mismatch.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as JSON, no table.")] = False,
    seed: Annotated[int, typer.Option(help="Of what the RTL leaves open, such as registers without a reset.")] = 1,
) -> None:
    """Replay captures: every frame through the RTL, checked against the golden model.

    Exit codes: 0 all matched; 1 a mismatch, or a port that got stuck; 2 bad usage or input, nothing played, an output
    that can't be written; 3 a tool is missing or a build failed; 130 Ctrl-C, and all that was played matched.
    """
    engine = default_engine(simulator) if target == "cocotb" else WIRE if edge == "wire" else ""
    how = How(target, simulator, engine, seed, waves, slots=bool(report))
    outputs = {"--out": out, "--records": records, "--report": report}
    task = Task(
        captures=named(captures),
        port=port,
        direction=direction,
        frames=frames,
        wanted=wanted or "",
        pace=pace,
        window=window,
        keep_going=keep_going,
        records=_place(records),
        out=_place(out),
        failures=str(SIM_BUILD / "failures"),
        origin={
            "command": printable(shlex.join(["nicloop", *sys.argv[1:]])),
            "target": how.target,
            "sim": how.sim,
            "engine": how.engine,
            "seed": seed,
            "pace": pace,
        },
    )
    try:
        check_choices(how, task)
        _check_edge(edge, target)
        if wanted == "":
            raise UsageError("--filter: is empty: leave it out to play all frames")
        if simulator == "icarus" and target != "cocotb":
            raise UsageError(f"--sim: icarus plays only with --target cocotb, and --target is {target}")
        ways = directions_of(direction, captures)
        nic, rules = programmed(config, acl, ways, port)
        sas = None
        if esp_sa is not None:
            nic, sas = secured(nic, esp_sa, ways, port, ruled=rules is not None)
        check_captures(captures)
        check_outputs(outputs, [*captures, *(name for name in (baseline, acl, esp_sa) if name)])
        _check_wanted(outputs, baseline, as_json)
    except (UsageError, ConfigError, BaselineError) as error:
        typer.echo(f"nicloop: {error}", err=True)
        raise typer.Exit(2) from error
    ends = Wanted(report, baseline, as_json, to_stderr="-" in outputs.values())
    if rules is not None:
        if rules.deaf:
            typer.echo(f"nicloop: {rules.deaf}", err=True)
        slots = [f"acl_{way}" for way in ways]
        task = replace(task, rules=rules.name, rule_lines=list(rules.lines), rule_slots=slots)
    if sas is not None:
        if sas.told:
            typer.echo(f"nicloop: {sas.told}", err=True)
        task = replace(task, sas=sas.name, sa_slots=[f"ipsec_{way}" for way in ways])
    raise typer.Exit(_play(replace(task, config=nic.to_toml()), how, ends, sizes(captures), config))


def _play(task: Task, how: How, wanted: Wanted, total: int | None, config: Path | None) -> int:
    """Play, and tell what came of it; returns the exit code."""
    SIM_BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=SIM_BUILD, prefix="replay-") as folder:
        # A comparison reads the records, wherever they go.
        kept = Path(folder) / "records.jsonl" if wanted.baseline and task.records in ("", "-") else None
        played = task if kept is None else replace(task, records=str(kept))
        try:
            with progress(total) as bar:
                performed, waveform = play(played, how, bar)
            if kept is not None and task.records == "-":
                performed = _copied(performed, kept)
        except (CaptureError, Unsupported) as error:
            typer.echo(f"nicloop: {error}", err=True)
            return 2
        except RulesError as error:
            typer.echo(f"nicloop: {blamed(error, task.rules, task.rule_slots, config, task.sas)}: {error}", err=True)
            return 2
        except TargetError as error:
            typer.echo(f"nicloop: {no_start(error)}", err=True)
            return 1
        except SimulationFailed as error:
            typer.echo(f"nicloop: the simulation did not come to its end: {error}", err=True)
            return 1
        except KeyboardInterrupt:
            typer.echo("nicloop: interrupted", err=True)
            return 130
        records = Path(played.records) if wanted.baseline else None
        return Ending(performed, task, how, waveform, wanted).finish(records)


def _copied(performed: Performed, records: Path) -> Performed:
    """The records to standard output, behind the replay."""
    try:
        with records.open("rb") as file:
            to_stdout(file)
    except CaptureError as error:
        return replace(performed, unwritten=performed.unwritten or str(error))
    return performed


def check_choices(how: How, task: Task) -> None:
    """UsageError: a value that an option doesn't take."""
    for option, value, choices in (
        ("--target", how.target, TARGETS),
        ("--sim", how.sim, SIMULATORS),
        ("--pace", task.pace, PACES),
        ("--direction", task.direction, EDGES),
    ):
        if value is not None and value not in choices:
            raise UsageError(f"{option}: {value!r} must be one of {', '.join(choices)}")
    if task.port is not None and not 0 <= task.port <= 255:
        raise UsageError(f"--port: {task.port} must be a number from 0 to 255")
    if not 1 <= task.window <= MOST_WINDOW:
        raise UsageError(f"--window: {task.window} must be a number from 1 to {MOST_WINDOW}")
    if not 0 <= how.seed <= MOST_SEED:
        raise UsageError(f"--seed: {how.seed} must be a number from 0 to {MOST_SEED}")
    if how.waves and how.target == "model":
        raise UsageError("--waves: the model has no signals: choose another --target")
    for option, text, parse in (("--frames", task.frames, FrameRange.parse), ("--filter", task.wanted, Filter.parse)):
        try:
            if text:
                parse(text)
        except SelectError as error:
            raise UsageError(f"{option}: {error}") from error


def _check_edge(edge: str, target: str) -> None:
    """UsageError: no such edge, or not on this target."""
    if edge not in EDGE_KINDS:
        raise UsageError(f"--edge: {edge!r} must be one of {', '.join(EDGE_KINDS)}")
    if edge == "wire" and target != "native":
        raise UsageError(f"--edge: wire is played by --target native only, and --target is {target}")


def _check_wanted(outputs: Mapping[str, str], baseline: str, as_json: bool) -> None:
    """UsageError, BaselineError: outputs that don't go together, earlier records that can't be read."""
    if outputs["--report"] == "-":
        raise UsageError("--report: a page doesn't go to standard output: name a file")
    if outputs["--report"]:
        check_page(outputs["--report"])
    if as_json and "-" in outputs.values():
        raise UsageError("--json: standard output is taken by --out or --records: write these to a file")
    if baseline and next(read_records(baseline), None) is None:
        raise BaselineError(baseline, "holds no record; the file that --records wrote is wanted")


def named(captures: list[str]) -> list[list[str]]:
    """Name and absolute path of each capture."""
    names = iter(capture_names([Path(name) for name in captures if name != "-"]))
    return [["-", "-"] if name == "-" else [next(names), os.path.abspath(name)] for name in captures]


def _place(name: str) -> str:
    return name if name in ("", "-") else os.path.abspath(name)
