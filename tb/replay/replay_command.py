"""``nicloop replay``: captures through the port, each frame held against the golden model."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from models.config import ConfigError, NicConfig
from tb.build import SimulationFailed
from tb.replay.capture import CaptureError
from tb.replay.checks import UsageError, check_captures, check_outputs, sizes
from tb.replay.pace import PACES
from tb.replay.perform import DIRECTIONS, Performed, Task
from tb.replay.rerun import shown
from tb.replay.run import How, play
from tb.replay.select import Filter, FrameRange, SelectError
from tb.replay.show import progress, show, stream
from tb.replay.window import WINDOW_FRAMES
from tb.replay.windows import capture_names
from tb.targets.base import Unsupported
from tb.targets.launch import TARGETS, default_engine
from tb.toolchain import SIM_BUILD

__all__ = ["replay"]

SIMULATORS = ("verilator", "icarus")


def _refuse(text: str) -> NoReturn:
    typer.echo(f"nicloop: {text}", err=True)
    raise typer.Exit(2)


def replay(
    captures: Annotated[list[str], typer.Argument(help="pcap or pcapng, gzipped or not; - is standard input.")],
    port: Annotated[int | None, typer.Option(help="Port at which frames enter (0, or as the capture says).")] = None,
    direction: Annotated[str | None, typer.Option(help="rx (default, or as the capture says) or tx.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of the programmed NIC.")] = None,
    target: Annotated[str, typer.Option(help=f"What plays: one of {', '.join(TARGETS)}.")] = "native",
    simulator: Annotated[str, typer.Option("--sim", help="Of the cocotb target: verilator or icarus.")] = "verilator",
    pace: Annotated[str, typer.Option(help=f"One of {', '.join(PACES)}.")] = "asap",
    frames: Annotated[str, typer.Option(help="A:B, A:, :B or A: frames A to B-1, counted from 0.")] = "",
    wanted: Annotated[str, typer.Option("--filter", help='Such as "host 10.0.0.1 and not port 4791".')] = "",
    window: Annotated[int, typer.Option(help="Frames that are played at once.")] = WINDOW_FRAMES,
    out: Annotated[str, typer.Option(help="pcapng of what came out; - is standard output.")] = "",
    records: Annotated[str, typer.Option(help="JSON Lines, an object a frame; - is standard output.")] = "",
    waves: Annotated[bool, typer.Option(help="Write a waveform.")] = False,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Go on after a mismatch.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as JSON, no table.")] = False,
    seed: Annotated[int, typer.Option(help="Of what the RTL leaves open, such as registers without a reset.")] = 1,
) -> None:
    """Replay captures: every frame through the RTL, checked against the golden model."""
    how = How(target, simulator, default_engine(simulator) if target == "cocotb" else "", seed, waves)
    outputs = {"--out": out, "--records": records}
    try:
        _check_choices(how, pace, direction, port, window)
        programmed = NicConfig.load(config) if config is not None else NicConfig()
        FrameRange.parse(frames) if frames else None
        Filter.parse(wanted) if wanted else None
        check_captures(captures)
        check_outputs(outputs, captures)
        if as_json and "-" in outputs.values():
            raise UsageError("--json: standard output is taken by --out or --records: write these to a file")
    except SelectError as error:
        _refuse(f"{'--filter' if str(error).startswith('column') else '--frames'}: {error}")
    except (UsageError, ConfigError) as error:
        _refuse(str(error))
    task = Task(
        captures=_named(captures),
        config=programmed.to_toml(),
        port=port,
        direction=direction,
        frames=frames,
        wanted=wanted,
        pace=pace,
        window=window,
        keep_going=keep_going,
        records=_place(records),
        out=_place(out),
        failures=str(SIM_BUILD / "failures"),
        origin={
            "command": shlex.join(["nicloop", *sys.argv[1:]]),
            "target": how.target,
            "sim": how.sim,
            "engine": how.engine,
            "seed": seed,
            "pace": pace,
        },
    )
    try:
        with progress(sizes(captures)) as tell:
            performed, waveform = play(task, how, tell)
    except (CaptureError, Unsupported) as error:
        _refuse(str(error))
    except SimulationFailed as error:
        typer.echo(f"nicloop: the simulation did not come to its end: {error}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        typer.echo("nicloop: interrupted", err=True)
        raise typer.Exit(130) from None
    finally:
        _mind_broken_pipe()
    _tell(performed, how, task, waveform, as_json=as_json, to_stderr="-" in outputs.values())


def _check_choices(how: How, pace: str, direction: str | None, port: int | None, window: int) -> None:
    """UsageError: a value that an option doesn't take."""
    for option, value, choices in (
        ("--target", how.target, TARGETS),
        ("--sim", how.sim, SIMULATORS),
        ("--pace", pace, PACES),
        ("--direction", direction, DIRECTIONS),
    ):
        if value is not None and value not in choices:
            raise UsageError(f"{option}: {value!r} must be one of {', '.join(choices)}")
    if port is not None and not 0 <= port <= 255:
        raise UsageError(f"--port: {port} must be a number from 0 to 255")
    if window < 1:
        raise UsageError(f"--window: {window} must be 1 or more")
    if how.waves and how.target == "model":
        raise UsageError("--waves: the model has no signals: choose another --target")


def _named(captures: list[str]) -> list[list[str]]:
    """Name and absolute path of each capture."""
    names = iter(capture_names([Path(name) for name in captures if name != "-"]))
    return [["-", "-"] if name == "-" else [next(names), os.path.abspath(name)] for name in captures]


def _place(name: str) -> str:
    return name if name in ("", "-") else os.path.abspath(name)


def _mind_broken_pipe() -> None:
    """What standard output still holds goes nowhere if its reader has gone, so that Python's own end is quiet."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass(frozen=True)
class _End:
    """Exit code, and what is to be said beside the table."""

    code: int
    notices: list[str]

    @classmethod
    def of(cls, performed: Performed, task: Task) -> _End:
        notices = [f"nicloop: {text}" for text in (*performed.unread, performed.unwritten) if text]
        behind = FrameRange.parse(task.frames).behind if task.frames else None
        first = FrameRange.parse(task.frames).first if task.frames else 0
        whole = not performed.stopped and not performed.interrupted and not performed.unwritten
        if whole and (first >= performed.seen or (behind or 0) > performed.seen) and task.frames:
            notices.append(f"nicloop: --frames {task.frames}: the captures hold {performed.seen} frames")
        if performed.figures["verdict"] == "mismatch" or performed.error:
            return cls(1, notices)
        if performed.unread or performed.unwritten:
            return cls(2, notices)
        return cls(130 if performed.interrupted else 0, notices)


def _tell(performed: Performed, how: How, task: Task, waveform: Path | None, *, as_json: bool, to_stderr: bool) -> None:
    """The table or the summary, then all that is to be said, then the exit."""
    end = _End.of(performed, task)
    out = stream(sys.stderr if to_stderr else sys.stdout)
    where = f"{how.target} ({how.sim}, {how.engine})" if how.target == "cocotb" else how.target
    if as_json:
        sys.stdout.write(json.dumps(_summary(performed, how, task, waveform, end.code), indent=1) + "\n")
    else:
        show(
            out,
            f"{', '.join(name for name, _ in task.captures[:3])}{' …' * (len(task.captures) > 3)} on {where}",
            performed,
        )
        if performed.error:
            out.print(f"the replay ended: {performed.error}", style="bold red", markup=False, soft_wrap=True)
        if performed.failure:
            out.print(f"reproduce: {shown(Path(performed.failure))}", markup=False, soft_wrap=True)
        if waveform is not None:
            out.print(f"waveform: {shown(waveform)}", markup=False, soft_wrap=True)
        if performed.interrupted:
            out.print("interrupted: this is what was done", style="yellow")
        if end.code == 0:
            text = "all as the model says" if performed.figures["verdict"] == "match" else "no frames"
            out.print(text, style="green" if performed.figures["verdict"] == "match" else "yellow")
    for notice in end.notices:
        typer.echo(notice, err=True)
    if end.code:
        raise typer.Exit(end.code)


def _summary(performed: Performed, how: How, task: Task, waveform: Path | None, code: int) -> dict[str, Any]:
    """As ``--json`` prints it: the figures, and how they came about."""
    return {
        **performed.figures,
        "exit_code": code,
        "target": how.target,
        "sim": how.sim if how.target == "cocotb" else None,
        "pace": task.pace,
        "cpu_s": performed.cpu_s,
        "wall_s": performed.wall_s,
        "stopped": performed.stopped,
        "interrupted": performed.interrupted,
        "error": performed.error or None,
        "unread": performed.unread,
        "unwritten": performed.unwritten or None,
        "failure": performed.failure or None,
        "waveform": None if waveform is None else str(waveform),
    }
