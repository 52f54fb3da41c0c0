"""The outside face of the targets: run a scenario on a target by name and get its verdict.

``model`` and ``native`` run here, under asyncio. ``cocotb`` starts the simulator with a job file, and the job's result
comes back as a file beside it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from models.config import NicConfig
from tb.build import Run, simulate
from tb.nic.designs import least, needed, port_design
from tb.scenarios import Scenario, ScenarioFailed, find
from tb.targets.base import Capabilities, Target, TargetError
from tb.targets.model import ModelTarget
from tb.targets.native import NativeTarget, waves_suffix
from tb.toolchain import SIM_BUILD

__all__ = [
    "ENGINES",
    "TARGETS",
    "ScenarioResult",
    "default_engine",
    "job_folder",
    "judge",
    "launch_job",
    "run_scenario",
]

TARGETS = ("model", "native", "cocotb")
ENGINES = ("agents", "bfm")
_KEPT_S = 24 * 3600


@dataclass
class ScenarioResult:
    """Verdict of one scenario on one target. status: ``passed``, ``failed``, ``skipped`` (a capability is lacking)."""

    scenario: str
    target: str
    status: str
    message: str = ""
    figures: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    sim: str = ""
    engine: str = ""
    now_ns: int = 0
    wall_s: float = 0.0
    reproduce: str = ""
    waves: str = ""

    def check(self) -> ScenarioResult:
        """Returns self. ScenarioFailed: it failed; the message ends with the command that reproduces it."""
        if self.status == "failed":
            raise ScenarioFailed(f"{self.message}\nreproduce: {self.reproduce}")
        return self


def default_engine(sim: str) -> str:
    """What drives the port where nobody asks for anything: the frame BFM, or the agents where there is no DPI."""
    return "bfm" if sim == "verilator" else "agents"


async def judge(
    scenario: Scenario, target: Target, values: Mapping[str, Any], seed: int, config: NicConfig
) -> ScenarioResult:
    """Run ``scenario`` on ``target`` in whatever scheduler this is awaited; wrong answers end up in the result."""
    result = ScenarioResult(scenario.name, "", "passed", seed=seed)
    lacking = scenario.needs.lacking(capabilities(target))
    if lacking is not None:
        result.status, result.message = "skipped", f"the target lacks {lacking}"
        return result
    try:
        result.figures = await scenario(target, scenario.params(values, seed, config)) or {}
    except (ScenarioFailed, TargetError) as error:
        result.status, result.message = "failed", f"{type(error).__name__}: {error}"
    result.now_ns = target.now()
    return result


async def _judge_native(
    scenario: Scenario, values: Mapping[str, Any], seed: int, config: NicConfig, waves: bool
) -> ScenarioResult:
    """As `judge`, on the port without a simulator."""
    target = NativeTarget(seed)
    path = SIM_BUILD / "runs" / "native" / f"{scenario.name}-{seed}{waves_suffix()}"
    if waves:
        path.parent.mkdir(parents=True, exist_ok=True)
        target.start_waves(path)
    try:
        await target.start()
    except TargetError as error:
        result = ScenarioResult(scenario.name, "", "failed", f"{type(error).__name__}: {error}", seed=seed)
    else:
        result = await judge(scenario, target, values, seed, config)
    target.stop_waves()
    result.waves = str(path) if waves else ""
    return result


def capabilities(target: Target) -> Capabilities:
    """What ``target`` can do."""
    return target.capabilities


def _content(kind: str, job: Mapping[str, Any], sim: str, engine: str, seed: int) -> str:
    return json.dumps({"kind": kind, "engine": engine, "sim": sim, "seed": seed, **job}, indent=1, sort_keys=True)


def job_folder(kind: str, job: Mapping[str, Any], *, sim: str, engine: str, seed: int) -> Path:
    """Where `launch_job` keeps the files of a job: the same job, the same folder."""
    same = {name: value for name, value in job.items() if name != "failures"}
    digest = hashlib.sha256(_content(kind, same, sim, engine, seed).encode()).hexdigest()
    return SIM_BUILD / "jobs" / f"{kind}-{digest[:12]}"


def _prune(shelf: Path) -> None:
    """Remove the folders of jobs that are a day old."""
    for folder in shelf.iterdir():
        if folder.stat().st_mtime < time.time() - _KEPT_S:
            shutil.rmtree(folder, ignore_errors=True)


def launch_job(
    kind: str,
    job: Mapping[str, Any],
    *,
    sim: str,
    engine: str,
    seed: int,
    waves: bool = False,
    timeout_s: float = 600,
) -> tuple[Run, Path]:
    """Start the simulator on ``tb.targets.bench_job`` with a job; returns the run and the folder of its files.

    ``job`` is written to ``job.json`` with ``kind``, ``engine``, ``sim``, ``seed``; the bench leaves its results there.
    """
    folder = job_folder(kind, job, sim=sim, engine=engine, seed=seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _prune(folder.parent)
    (folder / "job.json").write_text(_content(kind, job, sim, engine, seed))
    run = simulate(
        port_design(engine, **least(sim), **needed(NicConfig.parse(job.get("config", "")))),
        "tb.targets.bench_job",
        sim=sim,
        flavour="fast",
        waves=waves,
        seed=seed,
        env={"NICLOOP_JOB": str(folder)},
        timeout_s=timeout_s,
    )
    return run, folder


def run_scenario(
    target: str,
    scenario: str,
    params: Mapping[str, Any] | None = None,
    config: NicConfig | None = None,
    seed: int = 1,
    *,
    sim: str = "verilator",
    engine: str | None = None,
    waves: bool = False,
) -> ScenarioResult:
    """Run a scenario by name on a target by name. BadParameter: no such scenario, or parameter. ValueError: target."""
    if target not in TARGETS:
        raise ValueError(f"no target {target!r}; there are: {', '.join(TARGETS)}")
    found, values, config = find(scenario), dict(params or {}), config if config is not None else NicConfig()
    found.params(values, seed, config)
    begin = time.monotonic()
    options = "".join(f" --param {name}={value}" for name, value in values.items())
    reproduce = f"nicloop run {scenario} --target {target} --seed {seed}{options}"
    if target == "model":
        result = asyncio.run(judge(found, ModelTarget(), values, seed, config))
    elif target == "native":
        result = asyncio.run(_judge_native(found, values, seed, config, waves))
        reproduce += " --waves"
    else:
        engine = engine or default_engine(sim)
        reproduce += f" --sim {sim} --engine {engine} --waves"
        job = {"scenario": scenario, "params": values, "config": config.to_toml()}
        run, folder = launch_job("scenario", job, sim=sim, engine=engine, seed=seed, waves=waves)
        run.check()
        result = ScenarioResult(**json.loads((folder / "result.json").read_text()))
        result.sim, result.engine = sim, engine
    result.target, result.reproduce = target, reproduce
    result.wall_s = round(time.monotonic() - begin, 3)
    return result


def write_result(result: ScenarioResult, folder: Path) -> None:
    """What the bench leaves for `run_scenario`."""
    (folder / "result.json").write_text(json.dumps(asdict(result), default=str))
