"""``nicloop rerun``: a failure that was packed, played again and held against what it was."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from models.frames import Edge
from tb.build import BuildError, Run, SimulationFailed
from tb.nic.designs import needed
from tb.replay.checks import UsageError, check_failure
from tb.replay.item import Item
from tb.replay.packed import FailureError, Packed, add_waves, confirm, load_failure, unpack_waves
from tb.replay.piece import printable
from tb.replay.play import play_item
from tb.replay.versions import versions
from tb.report.table import CaptureResult, counted
from tb.targets.base import TargetError, Unsupported
from tb.targets.launch import ENGINES, TARGETS, default_engine, launch_job
from tb.targets.model import ModelTarget
from tb.targets.native import SnapshotError, waves_suffix
from tb.targets.probe import native_of_build
from tb.targets.program import RulesError, check_rules
from tb.targets.wire import WIRE
from tb.toolchain import ROOT, SIM_BUILD, ToolError

__all__ = [
    "RUNNING_ONLY",
    "Again",
    "PlayedOn",
    "pack_waves",
    "play_again",
    "rerun",
    "rerun_command",
    "shown",
    "tell_failure",
]

TIMEOUT_S = 1800
NATIVE_HINT = "with --target native, which saves the device's state, a replay can cut it down further"
RUNNING_ONLY = "these frames failed after a reset of the running device, and don't on one that was made anew"
WATCHED_BEFORE = 32
"""Frames before the failing one in a waveform of the target native; in a simulator it has the whole run."""


@dataclass(frozen=True)
class Again:
    """What a failure gave when it was played again. waves: None: none were asked for, or none came. build: what was
    built, as of `Origin`; "": the target doesn't know."""

    result: CaptureResult
    waves: Path | None = None
    build: str = ""

    @property
    def words(self) -> list[str]:
        """The differences, as `Packed.words` has them."""
        failure = self.result.failure
        return failure["mismatches"] or [failure["first"]] if failure else []


@dataclass(frozen=True)
class PlayedOn:
    """On what a failure is played."""

    target: str
    sim: str
    engine: str
    seed: int

    @classmethod
    def of(cls, packed: Packed, target: str | None = None, sim: str | None = None) -> PlayedOn:
        """As it was found, but for what is given."""
        origin = packed.origin
        simulator = sim or origin.sim
        engine = origin.engine if simulator == origin.sim and origin.engine in ENGINES else default_engine(simulator)
        if (target or origin.target) == "native":
            engine = origin.engine
        return cls(target or origin.target, simulator, engine, origin.seed)


def shown(path: Path) -> str:
    """A path as a person in this folder types it."""
    whole = Path(os.path.abspath(path))
    return printable(str(whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole))


def rerun_command(path: Path) -> str:
    """The command that plays a failure again with a waveform, for the shell."""
    name = shown(path)
    return shlex.join(
        [shown(ROOT / ".venv" / "bin" / "nicloop"), "rerun", f"./{name}" if name.startswith("-") else name, "--waves"]
    )


def play_again(packed: Packed, how: PlayedOn, *, waves: bool = False, window: bool = False) -> Again:
    """Play a failure. SimulationFailed: the simulation did not come to its end. FailureError: it can't be played so.

    BuildError, ToolError: of a target that is built.
    """
    if packed.origin.engine == WIRE and how.target != "native":
        raise FailureError(str(packed.path), f"failed with XGMII at the wire, which --target {how.target} has not")
    if how.target == "cocotb":
        return _play_in_simulator(packed, how, waves=waves, window=window)
    item = packed.window if window and packed.window is not None else packed.item
    if how.target == "native":
        return asyncio.run(_play_native(packed, item, how, waves=waves))
    return Again(asyncio.run(play_item(ModelTarget(), item, packed.config, tries=0))[0])


async def _play_native(packed: Packed, item: Item, how: PlayedOn, *, waves: bool) -> Again:
    build = packed.origin.build
    config = item.config or packed.config
    target = native_of_build(build, how.seed, how.engine == WIRE, **needed(config))
    await target.start()
    if item.state is not None and target.build != build:
        raise FailureError(
            str(packed.path),
            f"starts from a saved state of build {build}, here it is {target.build}: other RTL, harness or tools; "
            f"replay the whole capture: {packed.origin.command}",
        )
    await check_rules(target, config)
    path = None
    if waves:
        folder = packed.path.parent if os.access(packed.path.parent, os.W_OK) else SIM_BUILD / "waves"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{packed.path.stem}{waves_suffix()}"
        target.waves_of(path, *_watched(packed, item))
    result, _ = await play_item(target, item, packed.config, tries=0)
    return Again(result, path, target.build)


def _watched(packed: Packed, item: Item) -> tuple[Edge, int, int]:
    """Of what a waveform is written: an edge, the first and the last frame of those at it."""
    entry = next((entry for entry in packed.note["smallest"]["mismatches"] if entry["frame"] is not None), None)
    at = len(item.frames) - 1 if entry is None or item is packed.window else entry["frame"]
    edge = Edge(int(item.frames.edge[at]))
    place = int((item.frames.edge[: at + 1] == edge).sum()) - 1
    return edge, max(0, place - WATCHED_BEFORE), place


def _play_in_simulator(packed: Packed, how: PlayedOn, *, waves: bool, window: bool) -> Again:
    job = {
        "captures": [{"name": packed.note["capture"], "path": os.path.abspath(packed.path), "window": window}],
        "config": packed.config.to_toml(),
        "most_beats": None,
        "tries": 0,
        "failures": "",
    }
    run, folder = launch_job(
        "captures", job, sim=how.sim, engine=how.engine, seed=how.seed, waves=waves, timeout_s=TIMEOUT_S
    )
    lines = (folder / "results.jsonl").read_text().splitlines() if (folder / "results.jsonl").exists() else []
    if not lines:
        run.check()
        raise SimulationFailed(f"the simulation left no result: {run.log}")
    result = CaptureResult.from_json(json.loads(lines[0]))
    if result.notice:
        raise FailureError(str(packed.path), result.notice.partition(": ")[2] or result.notice)
    return Again(result, found_waves(run) if waves else None)


def found_waves(run: Run) -> Path | None:
    """The waveform of a run, if it wrote one."""
    return next((path for path in run.folder.glob("waves.*") if path.stat().st_size), None)


def pack_waves(path: Path) -> Again:
    """Play a failure on what it failed on and put the waveform into its file, and whether it failed on this device,
    which was made anew; returns what that gave.

    SimulationFailed, FailureError as for `play_again`.
    """
    packed = load_failure(path)
    again = play_again(packed, PlayedOn.of(packed), waves=True)
    if again.waves is not None:
        add_waves(path, again.waves, again.result.failure.get("look", ""))
    confirm(path, bool(again.words))
    return again


def _source_number(packed: Packed) -> str:
    """The frame that the fewest frames fail at, as the capture counts it, where another one was announced; else ""."""
    numbers = {
        part: [entry["number"] for entry in packed.note[part]["mismatches"] if entry["number"] is not None]
        for part in ("found", "smallest")
    }
    if not numbers["smallest"] or numbers["smallest"][0] in numbers["found"][:1]:
        return ""
    return f", which is frame {numbers['smallest'][0]} of {packed.note['capture']}"


def tell_failure(path: Path) -> list[str]:
    """What to say of a failure that was just packed, a line each; its waveform is put in first."""
    packed, lines = load_failure(path), []
    if packed.note["reproduced"]:
        lines.append(f"  in that one:  {packed.words[0]}{_source_number(packed)}")
        try:
            again = pack_waves(path)
        except (FailureError, SimulationFailed, TargetError, BuildError, ToolError, OSError) as error:
            lines.append(f"  no waveform:  {error}")
        else:
            packed = load_failure(path)
            if not again.words:
                lines = [f"  {RUNNING_ONLY}"]
            lines += [f"  waveform:     {shown(again.waves)}"] if again.waves is not None else []
            lines += [f"  look at:      {again.result.failure['look']}"] if again.result.failure.get("look") else []
    note = packed.note
    if not note["reproduced"] and packed.origin.target == "cocotb":
        lines.append(f"  {NATIVE_HINT}")
    if note.get("finding"):
        lines.append(f"  finding:      {note['finding']}")
    size = f"{counted(len(packed.item.frames), 'frame')} after {counted(note['tries'], 'try', 'tries')}"
    size += "" if note["minimal"] else ", perhaps not the fewest"
    size += ", from a saved state" if packed.item.state is not None else ""
    head = f"packed failure: {shown(path)} ({size if note['reproduced'] else 'it does not fail again by itself'})"
    return [head, *lines, f"  reproduce:    {rerun_command(path)}"]


# -- the command -------------------------------------------------------------------------------------------------------


def _numbers(numbers: list[int]) -> str:
    """The first few of the numbers."""
    few = ", ".join(map(str, numbers[:5]))
    return f"{few} …" if len(numbers) > 5 else few


def _introduce(packed: Packed, how: PlayedOn) -> None:
    note, origin = packed.note, packed.origin
    frames = counted(len(packed.item.frames), "frame")
    start = "a reset" if packed.item.state is None else "a saved state of the device"
    typer.echo(f"{packed.path.name}: {frames} of {note['capture']} ({_numbers(note['numbers'])}), from {start}")
    if origin.command:
        typer.echo(f"  found by:  {origin.command}")
    for slot, count in note.get("rules", {}).items():
        typer.echo(f"  {slot}:    {counted(count, 'rule')}, in the file")
    typer.echo(f"  there:     {note['found']['first']}")
    here = versions(how.sim if how.target != "model" else None)
    then = note["versions"]
    for name in ("commit", "simulator"):
        if then.get(name) != here[name] and here[name] and then.get(name):
            typer.echo(f"  {name}:{' ' * (10 - len(name))}{then[name]} when it was packed, {here[name]} here")
    if then.get("dirty"):
        typer.echo("  packed with changes that were not committed")
    if note.get("finding"):
        typer.echo(f"  finding:   {note['finding']}")


def _without_cycles(words: list[str]) -> list[str]:
    return [re.sub(r" \(cycle \d+\)$", "", text) for text in words]


def _same_build(packed: Packed, again: Again, how: PlayedOn) -> bool:
    """Whether it was played on what it failed on: nothing can have been mended since."""
    if how.target != packed.origin.target or how.sim != packed.origin.sim:
        return False
    if again.build and packed.origin.build:
        return again.build == packed.origin.build
    then, here = packed.note["versions"], versions(how.sim)
    return here["dirty"] is False and all(then.get(name) == here[name] for name in ("commit", "dirty", "simulator"))


def _tell_passed(packed: Packed, again: Again, how: PlayedOn) -> None:
    """What it means that none of the frames failed."""
    frames = f"{counted(len(packed.item.frames), 'frame')}, all as the model says"
    if not packed.note["reproduced"]:
        typer.echo("does not fail, and did not when it was packed: it hangs on what came before these frames")
        if packed.note.get("seen") == "running" and packed.note["smallest"]["count"]:
            typer.echo(f"  {RUNNING_ONLY}")
        typer.echo(f"  replay the whole capture: {packed.origin.command}")
        if packed.origin.target == "cocotb":
            typer.echo(f"  {NATIVE_HINT}")
    elif how.target == "model":
        typer.echo("the model agrees with itself: that says nothing of the RTL; choose another --target")
    elif _same_build(packed, again, how):
        typer.echo(f"did not fail again on this build: {frames}")
        typer.echo("  nothing was mended since it was packed: it hangs on what came before these frames")
        typer.echo(f"  replay the whole capture: {packed.origin.command}")
    else:
        typer.echo(f"no longer fails: {frames}")
    if packed.note["reproduced"]:
        typer.echo(f"  when packed: {packed.words[0]}")


def _judge(packed: Packed, again: Again, how: PlayedOn, *, window: bool, elsewhere: bool) -> int:
    """Say what came, against what was packed; returns the exit code. elsewhere: on another target than it failed on."""
    before, now = packed.words, again.words
    if not packed.note["reproduced"]:
        before = []
    if not now:
        _tell_passed(packed, again, how)
        return 0
    if window:
        typer.echo(f"fails, with all frames of the window: {now[0]}")
    elif now == before:
        typer.echo(f"still fails the same way: {now[0]}")
    elif elsewhere and _without_cycles(now) == _without_cycles(before):
        typer.echo(f"still fails the same way: {now[0]}")
        typer.echo(f"  when packed:   {before[0]}; on another target a play begins in another cycle")
    else:
        typer.echo(f"fails otherwise: {now[0]}")
        typer.echo(f"  when packed:   {before[0] if before else 'it did not fail'}")
    for words in now[1:5]:
        typer.echo(f"  {words}")
    if len(now) > 5:
        typer.echo(f"  and {len(now) - 5} more")
    return 1


def _leave_waves(packed: Packed, again: Again) -> None:
    """Put the waveform beside the failure and say where to look."""
    if again.waves is None:
        packed_waves = unpack_waves(packed.path, packed.path.parent)
        if packed_waves is None:
            typer.echo("no waveform: this target writes none")
        else:
            typer.echo(f"waveform: {shown(packed_waves)}, as packed: this target writes none")
            typer.echo(f"  look at: {packed.note['waves']['look']}")
        return
    beside = packed.path.with_suffix(again.waves.suffix)
    try:
        if beside != again.waves:
            beside.write_bytes(again.waves.read_bytes())
    except OSError as error:
        typer.echo(f"nicloop: {beside}: can't be written: {error.strerror}; it stays where it is", err=True)
        beside = again.waves
    typer.echo(f"waveform: {shown(beside)}")
    if look := again.result.failure.get("look"):
        typer.echo(f"  look at: {look}")


def rerun(
    file: Annotated[Path, typer.Argument(help="A failure that nicloop packed (.zip).")],
    target: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(TARGETS)}; none: the one that it failed on.")
    ] = None,
    simulator: Annotated[str | None, typer.Option("--sim", help="verilator or icarus, of the target cocotb.")] = None,
    waves: Annotated[bool, typer.Option("--waves", help="Write a waveform beside the file.")] = False,
    window: Annotated[
        bool, typer.Option("--window", help="Play all frames up to the failing one, not only the fewest.")
    ] = False,
) -> None:
    """Play a packed failure again and say whether it still fails."""
    if target is not None and target not in TARGETS:
        raise typer.BadParameter(f"{target!r} must be one of {', '.join(TARGETS)}", param_hint="--target")
    if simulator not in (None, "verilator", "icarus"):
        raise typer.BadParameter(f"{simulator!r} must be verilator or icarus", param_hint="--sim")
    try:
        check_failure(file)
        packed = load_failure(file)
        if window and packed.window is None:
            raise FailureError(str(file), "holds no window: the fewest frames are all there were")
        how = PlayedOn.of(packed, target or ("cocotb" if simulator == "icarus" else None), simulator)
        if how.target not in TARGETS:
            raise FailureError(str(file), f"failed on target {how.target}, which is not here: choose one by --target")
        _introduce(packed, how)
        again = play_again(packed, how, waves=waves, window=window)
    except (FailureError, UsageError) as error:
        print(f"nicloop: {error}", file=sys.stderr)
        raise typer.Exit(2) from error
    except (SnapshotError, Unsupported, RulesError) as error:
        print(f"nicloop: {file}: {error}", file=sys.stderr)
        raise typer.Exit(2) from error
    except (SimulationFailed, TargetError) as error:
        print(f"nicloop: the play did not come to its end: {error}", file=sys.stderr)
        raise typer.Exit(1) from error
    where = f"{how.target} ({how.sim}, {how.engine})" if how.target == "cocotb" else how.target
    where += " (edge wire)" if how.engine == WIRE else ""
    typer.echo(f"on {where}, seed {how.seed}:")
    elsewhere = (how.target, how.engine) != (packed.origin.target, packed.origin.engine)
    code = _judge(packed, again, how, window=window, elsewhere=elsewhere)
    if waves:
        _leave_waves(packed, again)
    raise typer.Exit(code)
