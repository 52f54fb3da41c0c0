"""``nicloop trace``: where the cycles of one frame went."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from models.config import ConfigError, NicConfig
from tb.nic.designs import needed
from tb.replay.checks import UsageError, check_captures, sizes
from tb.replay.pace import PACES
from tb.replay.perform import Task
from tb.replay.replay_command import check_choices, named
from tb.replay.rules import blamed, directions_of, programmed
from tb.replay.run import How, no_start
from tb.replay.sas import secured
from tb.replay.show import Bar, progress, say, stream
from tb.replay.trace import Step, Trace, TraceEnded, TraceError, trace
from tb.replay.window import WINDOW_FRAMES
from tb.report.table import counted
from tb.targets.base import TargetError, Unsupported
from tb.targets.engine import CLOCK_NS
from tb.targets.probe import ProbeTarget
from tb.targets.program import RulesError

__all__ = ["follow", "show_trace"]


def follow(
    captures: Annotated[list[str], typer.Argument(help="pcap or pcapng, gzipped or not; - is standard input.")],
    frame: Annotated[int, typer.Option(help="Which frame, counted from 0 through all captures, as replay does.")],
    port: Annotated[int | None, typer.Option(help="Port at which frames enter (0, or as the capture says).")] = None,
    direction: Annotated[str | None, typer.Option(help="rx (default, or as the capture says) or tx.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of the programmed NIC.")] = None,
    acl: Annotated[str | None, typer.Option(help="Rules of the ACL: TOML or a ClassBench filter set.")] = None,
    esp_sa: Annotated[str | None, typer.Option(help="SAs of IPsec: TOML or Wireshark's table esp_sa.")] = None,
    pace: Annotated[str, typer.Option(help=f"One of {', '.join(PACES)}.")] = "asap",
    wanted: Annotated[str, typer.Option("--filter", help="As for replay; numbers stay those of the capture.")] = "",
    window: Annotated[int, typer.Option(help="Frames that are played at once.")] = WINDOW_FRAMES,
    as_json: Annotated[bool, typer.Option("--json", help="The trace as JSON.")] = False,
    seed: Annotated[int, typer.Option(help="Of what the RTL leaves open, such as registers without a reset.")] = 1,
) -> None:
    """Follow one frame of a replay through the slots of the port: when it was where, and who held it back."""
    task = Task(named(captures), port=port, direction=direction, wanted=wanted, pace=pace, window=window)
    try:
        check_choices(How("native", "verilator", seed=seed), task)
        if frame < 0:
            raise UsageError(f"--frame: {frame} must be 0 or more")
        directions = directions_of(direction, captures)
        nic, rules = programmed(config, acl, directions, port)
        if esp_sa is not None:
            nic, sas = secured(nic, esp_sa, directions, port, ruled=rules is not None)
            if sas.told:
                typer.echo(f"nicloop: {sas.told}", err=True)
        check_captures(captures)
        whole = replace(task, config=nic.to_toml())
        with progress(sizes(captures)) as bar:
            found = asyncio.run(_traced(whole, frame, seed, bar))
    except (UsageError, ConfigError, TraceError, Unsupported) as error:
        typer.echo(f"nicloop: {error}", err=True)
        raise typer.Exit(2) from error
    except RulesError as error:
        typer.echo(
            f"nicloop: {blamed(error, acl, [f'acl_{way}' for way in directions], config, esp_sa)}: {error}", err=True
        )
        raise typer.Exit(2) from error
    except TraceEnded as error:
        typer.echo(f"nicloop: {error}", err=True)
        raise typer.Exit(1) from error
    except TargetError as error:
        typer.echo(f"nicloop: {no_start(error)}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        typer.echo("nicloop: interrupted", err=True)
        raise typer.Exit(130) from None
    if as_json:
        sys.stdout.write(json.dumps(found.to_json(), indent=1) + "\n")
    else:
        show_trace(stream(sys.stdout), found)
    raise typer.Exit(0 if found.ok else 1)


async def _traced(task: Task, frame: int, seed: int, bar: Bar) -> Trace:
    target = ProbeTarget(seed, **needed(NicConfig.parse(task.config)))
    await target.start()
    target.on_program = bar.programming
    return await trace(target, task, frame, bar.tell)


# -- words -------------------------------------------------------------------------------------------------------------


def show_trace(out: Console, found: Trace) -> None:
    """A line for each slot, and in words what became of the frame."""
    rule = "" if found.acl_rule is None else f"; by rule {found.acl_rule}"
    name = f"frame {found.index} ({found.capture}: frame {found.frame}, in Wireshark {found.frame + 1})"
    say(out, f"{name}, {found.direction}, {found.length} bytes: {_fate(found)}{rule}")
    out.print(_table(found))
    for line in _explained(found):
        say(out, line)
    for text in found.differences:
        say(out, f"differs from the model: {text}", "bold red")
    if found.others:
        differing = counted(found.others, "frame differs", "frames differ")
        say(out, f"before it in its window {differing}: nicloop replay shows them", "red")
    if found.error:
        say(out, f"the replay ended: {found.error}", "bold red")


def _fate(found: Trace) -> str:
    if found.redirected:
        return f"delivered; redirected in {found.ended}, to the {'wire' if found.direction == 'rx' else 'host'} edge"
    if found.disposition == "delivered":
        return f"delivered to the {found.ended}" + (f", queue {found.queue}" if found.direction == "rx" else "")
    if found.disposition is None:
        return f"its end was not reported; it stands at {found.ended}"
    return f"{found.disposition} in {found.ended}" + (f", {found.reason}" if found.reason else "")


def _table(found: Trace) -> Table:
    title = f"cycles of its play, which began at {found.begin_ns} ns"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("slot", no_wrap=True)
    for heading in ("reached", "left", "last beat", "cycles", "alone", "stalled"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("held back by", overflow="fold")
    for step in found.steps:
        if step.reached is None:
            break
        cells = (step.reached, step.left, step.last, step.cycles, step.alone, step.stalled or None)
        at_edge = step.slot.endswith(" edge")
        shown = [f"({value})" if at_edge and cell == 3 else str(value) if value is not None else "-"
                 for cell, value in enumerate(cells)]  # fmt: skip
        table.add_row(step.slot, *shown[:5], "" if step.stalled == 0 else shown[5], _by(step))
    if found.latency_cycles is not None:
        table.add_section()
        table.add_row("latency", "", "", "", str(found.latency_cycles), str(found.alone_cycles), "", "")
    return table


def _by(step: Step) -> str:
    """What held the frame back, and what was in front of it."""
    parts = [_cycles(step.by)] if step.by else []
    if step.ahead is not None and step.cycles is not None and step.cycles - step.before > (step.alone or 0):
        held = f", which {_cycles(step.ahead.held)} held" if step.ahead.held else ""
        parts.append(f"behind {counted(step.ahead.frames, 'frame')}{held}")
    return "; ".join(parts)


def _cycles(by: dict[str, int]) -> str:
    return ", ".join(f"{name} {cycles}" for name, cycles in sorted(by.items(), key=lambda item: -item[1]))


def _explained(found: Trace) -> list[str]:
    """The latency in words, where the frame has one."""
    if found.latency_cycles is None:
        return []
    slower = {step.slot: step.cycles - step.alone for step in found.steps
              if step.cycles is not None and step.alone is not None and step.cycles != step.alone}  # fmt: skip
    ns = found.latency_cycles * CLOCK_NS
    if not slower:
        return [f"{found.latency_cycles} cycles, {ns:g} ns: as if it were alone in the port"]
    extra = ", ".join(f"{slot} {cycles:+d}" for slot, cycles in sorted(slower.items(), key=lambda item: -abs(item[1])))
    return [f"{found.latency_cycles} cycles, {ns:g} ns; alone {found.alone_cycles}: {extra}"]
