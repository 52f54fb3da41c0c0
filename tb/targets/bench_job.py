"""The inside face of the cocotb target: one cocotb test that does the job in ``$NICLOOP_JOB/job.json``.

A job is a scenario, the conformance suite with all scenarios, a replay, or a set of captures. What it gives is written
beside the job file, where the process outside reads it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.handle import HierarchyObject

from models.config import NicConfig
from tb.replay.play import play_job
from tb.replay.run import replay_job
from tb.scenarios import REGISTRY, find
from tb.targets.agents import AgentsEngine
from tb.targets.bfm import BfmEngine
from tb.targets.cocotb import CocotbTarget
from tb.targets.conformance import run_checks
from tb.targets.launch import judge, write_result

__all__ = ["job", "make_target"]


def make_target(dut: HierarchyObject, job: dict[str, Any]) -> CocotbTarget:
    """The target that a job asks for, on the top of this simulation."""
    if job["engine"] == "bfm":
        return CocotbTarget(BfmEngine(dut, job["seed"]))
    return CocotbTarget(AgentsEngine(dut, job["seed"], undefined=job["sim"] == "icarus"))


@cocotb.test()
async def job(dut: HierarchyObject) -> None:
    """Do the job; a wrong answer of the device is in the result, only what the bench can't judge fails here."""
    folder = Path(os.environ["NICLOOP_JOB"])
    task = json.loads((folder / "job.json").read_text())
    target = make_target(dut, task)
    await target.start()
    config = NicConfig.parse(task["config"])
    if task["kind"] == "scenario":
        result = await judge(find(task["scenario"]), target, task["params"], task["seed"], config)
        write_result(result, folder)
    elif task["kind"] == "suite":
        results = {f"check {name}": text for name, text in (await run_checks(target)).items()}
        for name, scenario in REGISTRY.items():
            result = await judge(scenario, target, {}, task["seed"], config)
            results[f"scenario {name}"] = "" if result.status == "passed" else f"{result.status}: {result.message}"
        (folder / "result.json").write_text(json.dumps(results))
    elif task["kind"] == "replay":
        await replay_job(target, task, folder)
    else:
        await play_job(target, task, config, folder)
