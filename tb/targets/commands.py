"""``nicloop run``: a scenario on a target."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from models.config import ConfigError, NicConfig
from tb.build import SimulationFailed
from tb.scenarios import REGISTRY, BadParameter
from tb.targets.launch import ENGINES, TARGETS, run_scenario

__all__ = ["run"]


def _listing() -> Table:
    table = Table("scenario", "what it shows", "parameters", "needs")
    for name, scenario in sorted(REGISTRY.items()):
        defaults = ", ".join(f"{key}={value}" for key, value in scenario.defaults.items())
        needs = [f"fault {fault}" for fault in sorted(scenario.needs.faults)]
        needs += ["exact cycle times"] if scenario.needs.cycle_times else []
        table.add_row(name, scenario.doc, defaults, ", ".join(needs))
    return table


def _pairs(options: list[str]) -> dict[str, str]:
    pairs = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise typer.BadParameter(f"{option!r} must be NAME=VALUE")
        pairs[name] = value
    return pairs


def run(
    scenario: Annotated[str | None, typer.Argument(help="Its name; without one, all are listed.")] = None,
    target: Annotated[str, typer.Option(help=f"One of {', '.join(TARGETS)}.")] = "model",
    sim: Annotated[str, typer.Option(help="Simulator of the cocotb target: verilator or icarus.")] = "verilator",
    engine: Annotated[str | None, typer.Option(help=f"What drives the port: {' or '.join(ENGINES)}.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 1,
    config: Annotated[Path | None, typer.Option(help="TOML file of the programmed NIC.")] = None,
    param: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, as often as needed.")] = None,
    waves: Annotated[bool, typer.Option(help="Write a waveform.")] = False,
) -> None:
    """Run a scenario on a target; without a scenario, list them."""
    console = Console()
    if scenario is None:
        console.print(_listing())
        return
    if target not in TARGETS:
        raise typer.BadParameter(f"{target!r} must be one of {', '.join(TARGETS)}", param_hint="--target")
    if sim not in ("verilator", "icarus"):
        raise typer.BadParameter(f"{sim!r} must be verilator or icarus", param_hint="--sim")
    if engine is not None and engine not in ENGINES:
        raise typer.BadParameter(f"{engine!r} must be one of {', '.join(ENGINES)}", param_hint="--engine")
    if engine == "bfm" and sim == "icarus":
        raise typer.BadParameter("the frame BFM needs DPI, which Icarus has not: use agents", param_hint="--engine")
    try:
        loaded = NicConfig.load(config) if config is not None else NicConfig()
        result = run_scenario(target, scenario, _pairs(param or []), loaded, seed, sim=sim, engine=engine, waves=waves)
    except (BadParameter, ConfigError) as error:
        typer.echo(f"nicloop: {error}", err=True)
        raise typer.Exit(2) from error
    except SimulationFailed as error:
        typer.echo(f"{scenario} on {target}, seed {seed}: the bench failed\n{error}", err=True)
        raise typer.Exit(1) from error
    where = f"{target} ({sim}, {result.engine})" if target == "cocotb" else target
    figures = ", ".join(f"{name} {value}" for name, value in result.figures.items())
    typer.echo(f"{scenario} on {where}, seed {seed}: {result.status}{' — ' + figures if figures else ''}")
    if result.waves:
        typer.echo(f"  waves: {result.waves}")
    if result.message:
        typer.echo(f"  {result.message}")
    if result.status == "failed":
        typer.echo(f"  reproduce: {result.reproduce}")
        raise typer.Exit(1)
