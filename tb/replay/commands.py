"""``nicloop sim``: the main job."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from models.config import ConfigError, NicConfig
from tb.build import Run, SimulationFailed
from tb.replay.play import SHRINK_TRIES, is_failure
from tb.report.table import CaptureResult, console, print_captures
from tb.targets.engine import CLOCK_NS
from tb.targets.launch import ENGINES, default_engine, job_folder, launch_job
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
    for path in given:
        if not path.is_file():
            typer.echo(f"nicloop: {path}: no such capture", err=True)
            raise typer.Exit(2)
    return list(given)


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


def _watched(out: Console, work: Callable[[], Run], folder: Path, total: int) -> Run:
    """Do ``work``; where a person looks, show meanwhile how many captures are done."""
    if not out.is_terminal:
        return work()
    ended = threading.Event()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("building", total=total)

        def watch() -> None:
            while not ended.wait(0.2):
                if (folder / "results.jsonl").exists():
                    results = _results(folder)
                    last = results[-1].name if results else ""
                    progress.update(task, completed=len(results), description=f"playing {last}")

        # The work stays in the main thread, where Ctrl-C ends the simulator with it.
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            return work()
        finally:
            ended.set()
            watcher.join()


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
    """One simulation for all captures."""
    job = {
        "captures": [{"name": path.name, "path": str(path.resolve())} for path in paths],
        "config": config.to_toml(),
        "most_beats": ICARUS_BEATS // len(paths) if sim == "icarus" else None,
        "tries": 0 if waves or all(map(is_failure, paths)) else SHRINK_TRIES // (10 if sim == "icarus" else 1),
        "failures": "" if all(map(is_failure, paths)) else str(failures),
    }
    folder = job_folder("captures", job, sim=sim, engine=engine, seed=seed)

    def work() -> Run:
        return launch_job("captures", job, sim=sim, engine=engine, seed=seed, waves=waves, timeout_s=1800)[0]

    run = _watched(out, work, folder, len(paths))
    return run, _results(folder)


def _shown(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _reproduce(path: Path, sim: str, engine: str, seed: int) -> str:
    """The one command that plays a failing capture again with a waveform."""
    if engine != default_engine(sim):
        return f"nicloop sim {_shown(path)} --sim {sim} --engine {engine} --seed {seed} --waves"
    return f"make sim TEST={_shown(path)} SIM={sim} SEED={seed} WAVES=1"


def _waves(run: Run) -> Path | None:
    found = [path for path in run.folder.glob("waves.*") if path.stat().st_size]
    return found[0] if found else None


def _place(result: CaptureResult, paths: Sequence[Path]) -> Path:
    """The capture that reproduces a failure: the smallest one, or the one that was played."""
    smallest = result.failure.get("capture")
    return Path(smallest) if smallest else next(path for path in paths if path.name == result.name)


def _explain(out: Console, result: CaptureResult, again: str) -> None:
    """A failure in full: first difference, smallest capture, command."""
    failure = result.failure
    out.print(f"\n{result.name}: {result.mismatches} mismatches", style="bold red")
    out.print(f"  first difference: {failure['first']}", markup=False, soft_wrap=True)
    if "frames" in failure:
        least = "" if failure["minimal"] else ", perhaps not the smallest"
        size = f"{failure['frames']} frames after {failure['tries']} tries{least}"
        out.print(f"  smallest capture: {_shown(Path(failure['capture']))} ({size})", soft_wrap=True)
    if "smallest_first" in failure:
        out.print(f"  in that one:      {failure['smallest_first']}", markup=False, soft_wrap=True)
    if again:
        out.print(f"  reproduce:        {again}", soft_wrap=True)


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
        programmed = NicConfig.load(config) if config is not None else NicConfig()
    except ConfigError as error:
        typer.echo(f"nicloop: {error}", err=True)
        raise typer.Exit(2) from error
    begin = time.monotonic()
    options = {"sim": simulator, "engine": engine, "seed": seed, "failures": output / "failures"}
    run, results = _play(out, paths, programmed, waves=waves, **options)
    title = f"{simulator}, {engine}, seed {seed}: every frame through rx and tx"
    print_captures(out, results, CLOCK_NS, title)
    failed = [result for result in results if result.mismatches]
    places = {result.name: _place(result, paths) for result in failed}
    commands = {name: _reproduce(path, simulator, engine, seed) for name, path in places.items()}
    for result in failed[:EXPLAINED]:
        _explain(out, result, "" if waves else commands[result.name])
    if len(failed) > EXPLAINED:
        out.print(f"\n{len(failed) - EXPLAINED} more captures failed: {_shown(output / 'sim' / 'summary.json')}")
    if failed:
        # The waveform of the first failure is there when the person looks.
        run_with_waves = run if waves else _play(out, [places[failed[0].name]], programmed, waves=True, **options)[0]
        if (found := _waves(run_with_waves)) is not None:
            out.print(f"\nwaveform of {failed[0].name}: {_shown(found)}", soft_wrap=True)
    notices = [result for result in results if result.notice]
    for result in notices:
        out.print(f"{result.name}: {result.notice}", markup=False, soft_wrap=True)
    complete = _complete(run, results, len(paths))
    summary = {
        "simulator": simulator,
        "engine": engine,
        "seed": seed,
        "config": programmed.to_toml(),
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
    if failed or complete:
        raise typer.Exit(1)
    if notices:
        raise typer.Exit(2)
    frames = sum(result.frames for result in results)
    if simulator == "icarus":
        part = sum(result.of_frames for result in results)
        out.print(f"of {part} frames of {len(results)} captures the first of each were played, {frames} in all")
    if waves:
        out.print(f"waveform: {_shown(_waves(run) or run.folder)}", soft_wrap=True)
    out.print(f"{2 * frames} frames, all as the model says", style="green")


def _complete(run: Run, results: Sequence[CaptureResult], expected: int) -> str:
    """What kept the simulation from its end; "": nothing."""
    try:
        run.check()
    except SimulationFailed as error:
        return f"the simulation ended after {len(results)} of {expected} captures: {error}"
    return ""
