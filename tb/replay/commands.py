"""``nicloop sim``: the main job."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from models.config import ConfigError, NicConfig
from tb.acl.driver import SLOTS
from tb.build import Run, SimulationFailed
from tb.replay.capture import CaptureError
from tb.replay.checks import UsageError
from tb.replay.packed import clear_failures, is_failure
from tb.replay.piece import printable
from tb.replay.play import REFUSED, SHRINK_TRIES
from tb.replay.rerun import RUNNING_ONLY, found_waves, pack_waves, rerun_command, shown
from tb.replay.rules import blamed, programmed
from tb.replay.windows import capture_names
from tb.report.table import CaptureResult, console, counted, print_captures
from tb.report.watch import with_bar
from tb.targets.engine import CLOCK_NS
from tb.targets.launch import ENGINES, default_engine, job_folder, launch_job
from tb.targets.program import RulesError
from tb.toolchain import ROOT, SIM_BUILD

__all__ = ["sim"]

CAPTURES = ROOT / "tests" / "captures"
EXPLAINED = 5
"""Failing captures that are explained in full."""
ICARUS_BEATS = 120_000
"""Beats that all captures together may take under Icarus, which does a thousandth of Verilator's cycles a second."""


def _captures(given: Sequence[Path] | None) -> list[Path]:
    """The captures to play. Exit 2: one isn't there, or there is none."""
    if not given:
        given = sorted(path for path in CAPTURES.iterdir() if ".pcap" in path.name) if CAPTURES.is_dir() else []
        if not given:
            typer.echo(f"nicloop: no captures in {CAPTURES.relative_to(ROOT)}", err=True)
            raise typer.Exit(2)
    return [_found(path) for path in given]


def _found(path: Path) -> Path:
    """The capture at ``path``; a bare name that isn't here is one of the repository's. Exit 2: there is none."""
    if path.is_file():
        return path
    known = CAPTURES / path
    if len(path.parts) == 1 and known.is_file():
        return known
    if path == Path("-"):
        problem = "standard input can't be played: save the capture to a file first"
    elif path.is_dir():
        problem = f"is a folder: name the captures in it ({shlex.quote(str(path))}/*.pcap*)"
    elif path.exists():
        problem = "is a pipe or a device: save the capture to a file first"
    else:
        where = f", neither here nor in {CAPTURES.relative_to(ROOT)}" if len(path.parts) == 1 else ""
        problem = f"no such capture{where}"
    typer.echo(f"nicloop: {path}: {problem}", err=True)
    raise typer.Exit(2)


def _results(folder: Path) -> list[CaptureResult]:
    """What the simulation has written so far."""
    path = folder / "results.jsonl"
    if not path.exists():
        return []
    return [
        CaptureResult.from_json(json.loads(line))
        for line in path.read_text().splitlines(keepends=True)
        if line[-1] == "\n"
    ]


def _progress(folder: Path) -> tuple[int, str] | None:
    """How many captures are done, and which was the last; None: the simulation hasn't begun."""
    if not (folder / "results.jsonl").exists():
        return None
    results = _results(folder)
    return len(results), f"playing {results[-1].name if results else ''}"


def _play(
    out: Console,
    paths: Sequence[Path],
    config: NicConfig,
    *,
    sim: str,
    engine: str,
    seed: int,
    waves: bool,
    failures: Path,
) -> tuple[Run, list[CaptureResult]]:
    """One simulation for all captures. RulesError: the rules don't fit the port."""
    job = {
        "captures": [
            {"name": name, "path": os.path.abspath(path)}
            for name, path in zip(capture_names(paths), paths, strict=True)
        ],
        "config": config.to_toml(),
        "most_beats": ICARUS_BEATS // len(paths) if sim == "icarus" else None,
        "tries": 0 if waves or all(map(is_failure, paths)) else SHRINK_TRIES // (10 if sim == "icarus" else 1),
        "failures": "" if all(map(is_failure, paths)) else os.path.abspath(failures),
        "command": printable(shlex.join(["nicloop", *sys.argv[1:]])),
    }
    folder = job_folder("captures", job, sim=sim, engine=engine, seed=seed)

    def work() -> Run:
        return launch_job("captures", job, sim=sim, engine=engine, seed=seed, waves=waves, timeout_s=1800)[0]

    run = with_bar(out, work, len(paths), lambda: _progress(folder))
    if (folder / REFUSED).exists():
        raise RulesError((folder / REFUSED).read_text())
    return run, _results(folder)


def _reproduce(path: Path, sim: str, engine: str, seed: int, config: Path | None, acl: Path | None) -> str:
    """The one command that plays a failing capture again with a waveform, for the shell.

    Of a packed failure it is ``nicloop rerun``; else ``make`` where it can say it: in the repository's folder, of a
    plain name, with all else by default.
    """
    if is_failure(path):
        return rerun_command(path)
    name = shown(path)
    if Path.cwd() == ROOT and shlex.quote(name) == name and engine == default_engine(sim) and config is acl is None:
        return f"make sim TEST={name} SIM={sim} SEED={seed} WAVES=1"
    words = [shown(ROOT / ".venv" / "bin" / "nicloop"), "sim", f"./{name}" if name.startswith("-") else name]
    words += ["--sim", sim, "--engine", engine, "--seed", str(seed), "--waves"]
    files = (("--config", config), ("--acl", acl))
    return shlex.join([*words, *(word for option, file in files if file is not None for word in (option, shown(file)))])


def _packed_waves(path: Path) -> Path | None:
    """The waveform of a failure, which is put into its file too; None: it can't be had."""
    try:
        again = pack_waves(path)
    except (CaptureError, SimulationFailed) as error:
        print(f"nicloop: no waveform: {error}", file=sys.stderr)
        return None
    if not again.words:
        print(f"nicloop: {shown(path)}: {RUNNING_ONLY}", file=sys.stderr)
    return again.waves


def _explain(out: Console, result: CaptureResult, again: str) -> None:
    """A failure in full: first difference, smallest capture, command."""
    failure = result.failure
    words = counted(result.mismatches, "mismatch", "mismatches")
    out.print(f"\n{result.name}: {words}", style="bold red", markup=False, soft_wrap=True)
    out.print(f"  first difference: {failure['first']}", markup=False, soft_wrap=True)
    if "capture" in failure:
        least = "" if failure["minimal"] else ", perhaps not the smallest"
        size = f"{counted(failure['frames'], 'frame')} after {counted(failure['tries'], 'try', 'tries')}{least}"
        smallest = shown(Path(failure["capture"]))
        out.print(f"  packed failure:   {smallest} ({size})", markup=False, soft_wrap=True)
    if "smallest_first" in failure:
        out.print(f"  in that one:      {failure['smallest_first']}", markup=False, soft_wrap=True)
    if again:
        out.print(f"  reproduce:        {again}", markup=False, soft_wrap=True)


def sim(
    captures: Annotated[list[Path] | None, typer.Argument(help="pcap or pcapng; none: all of tests/captures.")] = None,
    simulator: Annotated[
        str, typer.Option("--sim", help="verilator or icarus (a part of the captures).")
    ] = "verilator",
    seed: Annotated[int, typer.Option(help="Seed of the back-pressure.", envvar="NICLOOP_SEED")] = 1,
    waves: Annotated[bool, typer.Option(help="Write a waveform.", envvar="NICLOOP_WAVES")] = False,
    jobs: Annotated[int | None, typer.Option(help="Compilers at a time.")] = None,
    engine: Annotated[str | None, typer.Option(help=f"What drives the port: {' or '.join(ENGINES)}.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of the programmed NIC.")] = None,
    acl: Annotated[Path | None, typer.Option(help="Rules of the ACL: TOML or a ClassBench filter set.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for sim/summary.json and failures/.")] = SIM_BUILD,
) -> None:
    """Play captures through rx and tx of the port and compare every frame with the golden model."""
    out = console()
    if simulator not in ("verilator", "icarus"):
        raise typer.BadParameter(f"{simulator!r} must be verilator or icarus", param_hint="--sim")
    engine = engine or default_engine(simulator)
    if engine not in ENGINES or (engine == "bfm" and simulator == "icarus"):
        raise typer.BadParameter(
            f"{engine!r} must be agents{', or bfm' if simulator != 'icarus' else ''}", param_hint="--engine"
        )
    if jobs is not None:
        os.environ["NICLOOP_JOBS"] = str(jobs)
    paths = _captures(captures)
    try:
        nic, _ = programmed(config, acl, ("rx", "tx"))
    except (ConfigError, UsageError) as error:
        typer.echo(f"nicloop: {error}", err=True)
        raise typer.Exit(2) from error
    begin = time.monotonic()
    if not all(map(is_failure, paths)):
        clear_failures(output / "failures", paths)
    options = {"sim": simulator, "engine": engine, "seed": seed, "failures": output / "failures"}
    try:
        run, results = _play(out, paths, nic, waves=waves, **options)
    except RulesError as error:
        typer.echo(f"nicloop: {blamed(error, acl, SLOTS, config)}: {error}", err=True)
        raise typer.Exit(2) from error
    title = f"{simulator}, {engine}, seed {seed}: every frame through rx and tx"
    print_captures(out, results, CLOCK_NS, title)
    failed = [result for result in results if result.mismatches]
    complete = _complete(run, results, len(paths))
    names = capture_names(paths)
    played = dict(zip(names, paths, strict=True))
    # The smallest capture where there is one.
    places = {result.name: Path(result.failure.get("capture") or played[result.name]) for result in failed}
    if stopped_in := names[len(results)] if complete and len(results) < len(paths) else "":
        places[stopped_in] = played[stopped_in]
    commands = {name: _reproduce(path, simulator, engine, seed, config, acl) for name, path in places.items()}
    for result in failed[:EXPLAINED]:
        _explain(out, result, "" if waves else commands[result.name])
    if len(failed) > EXPLAINED:
        more = counted(len(failed) - EXPLAINED, "more capture")
        out.print(f"\n{more} failed: {shown(output / 'sim' / 'summary.json')}", markup=False, soft_wrap=True)
    if failed:
        # The waveforms are there when the person looks.
        packed = {result.name: Path(result.failure["capture"]) for result in failed if "capture" in result.failure}
        found = {failed[0].name: found_waves(run)} if waves else {}
        found |= {name: _packed_waves(packed[name]) for name in list(packed)[:EXPLAINED] if not waves}
        for name, path in found.items():
            if path is not None:
                out.print(f"\nwaveform of {name}: {shown(path)}", markup=False, soft_wrap=True)
    notices = [result for result in results if result.notice]
    for result in notices:
        out.print(f"{result.name}: {result.notice}", markup=False, soft_wrap=True)
    summary = {
        "simulator": simulator,
        "engine": engine,
        "seed": seed,
        "config": nic.to_toml(),
        "ok": not failed and not notices and complete == "",
        "simulator_error": complete,
        "wall_s": round(time.monotonic() - begin, 2),
        "captures": [asdict(result) for result in results],
        "reproduce": commands,
    }
    (output / "sim").mkdir(parents=True, exist_ok=True)
    (output / "sim" / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    if complete:
        print(f"nicloop: {complete}", file=sys.stderr)
        if stopped_in:
            print(f"it was playing {stopped_in}; reproduce: {commands[stopped_in]}", file=sys.stderr)
    if failed or complete:
        raise typer.Exit(1)
    if notices:
        raise typer.Exit(2)
    frames, there = (sum(getattr(result, name) for result in results) for name in ("frames", "of_frames"))
    if frames < there:
        whole = f"{counted(there, 'frame')} of {counted(len(results), 'capture')}"
        out.print(f"of {whole} the first of each were played, {frames} in all")
    if waves:
        out.print(f"waveform: {shown(found_waves(run) or run.folder)}", soft_wrap=True)
    ended = sum(result.delivered + result.dropped for result in results)
    if ended:
        out.print(f"{counted(ended, 'frame')}, all as the model says", style="green")
    else:
        out.print("no frames", style="yellow")


def _complete(run: Run, results: Sequence[CaptureResult], expected: int) -> str:
    """What kept the simulation from its end; "": nothing."""
    try:
        run.check()
    except SimulationFailed as error:
        return f"the simulation ended after {len(results)} of {counted(expected, 'capture')}: {error}"
    return ""
