"""The targets: every promise of the ``Target`` protocol, and every scenario, on each of them.

Sweep:    targets model and native; target cocotb with engine bfm (Verilator) and agents (Verilator, Icarus); all
          checks of tb/targets/conformance.py, all scenarios of tb/scenarios with their default parameters
Stimulus: few frames at the boundaries of lengths, at both edges; faults; register accesses, also where there is nothing
Checks:   what each method returns, raises and leaves behind; outcomes against the golden model; no scenario asks which
          target it has
Timing:   sleeps, timeouts and starts of frames in simulated ns; latencies by the golden model
"""

from __future__ import annotations

import ast
import asyncio
import json
from pathlib import Path

import pytest

from models.config import NicConfig
from tb.scenarios import REGISTRY, BadParameter, Needs, find
from tb.targets.base import Capabilities, FaultKind
from tb.targets.conformance import CHECKS, run_checks
from tb.targets.launch import launch_job, run_scenario
from tb.targets.model import ModelTarget
from tb.targets.native import NativeTarget
from tb.toolchain import ROOT

SCENARIOS = ROOT / "tb" / "scenarios"
BEYOND_MODEL = {"line_rate"}
"""Scenarios that need more than the model has."""


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("target", ["model"])
def test_model_keeps_each_promise_of_a_target(target: str, name: str) -> None:
    assert asyncio.run(run_checks(ModelTarget(), [name])) == {name: ""}


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize("target", ["model"])
def test_model_passes_each_scenario(target: str, name: str, seed: int) -> None:
    result = run_scenario(target, name, seed=seed).check()
    assert result.status == ("skipped" if name in BEYOND_MODEL else "passed"), result.message


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("target", ["native"])
def test_native_keeps_each_promise_of_a_target(target: str, name: str, verilator: str, seed: int) -> None:
    async def checked() -> dict[str, str]:
        native = NativeTarget(seed)
        await native.start()
        return await run_checks(native, [name])

    assert asyncio.run(checked()) == {name: ""}


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize("target", ["native"])
def test_native_passes_each_scenario(target: str, name: str, verilator: str, seed: int) -> None:
    result = run_scenario(target, name, seed=seed).check()
    assert result.status == "passed", result.message


@pytest.mark.parametrize("target", ["cocotb"])
@pytest.mark.parametrize(
    ("engine", "sim"), [("bfm", "verilator"), ("agents", "verilator"), ("agents", "icarus")], indirect=["sim"]
)
def test_rtl_keeps_each_promise_of_a_target_and_passes_each_scenario(
    target: str, engine: str, sim: str, seed: int
) -> None:
    run, folder = launch_job("suite", {"config": NicConfig().to_toml()}, sim=sim, engine=engine, seed=seed)
    run.check()
    results = json.loads((folder / "result.json").read_text())
    assert {name: text for name, text in results.items() if text} == {}
    assert len(results) == len(CHECKS) + len(REGISTRY)


def _names(path: Path) -> set[str]:
    """Every name, attribute and imported module of a source file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def test_scenarios_do_not_ask_which_target_they_have() -> None:
    forbidden = {"isinstance", "type", "__class__", "asyncio", "cocotb", "ModelTarget", "CocotbTarget", "NativeTarget"}
    forbidden |= {"tb.targets.model", "tb.targets.cocotb", "tb.targets.native"}
    checked = [*sorted(SCENARIOS.glob("*.py")), ROOT / "tb" / "targets" / "conformance.py"]
    assert len(checked) >= 3
    for path in checked:
        allowed = {"type", "isinstance"} if path.name in ("base.py", "conformance.py") else set()
        assert not (_names(path) & forbidden) - allowed, path


def test_a_target_that_lacks_a_capability_skips_the_scenario() -> None:
    class Poor(ModelTarget):
        def __init__(self) -> None:
            super().__init__()
            self.capabilities = Capabilities(faults=frozenset({FaultKind.BAD_FRAME}), cycle_times=False)

    from tb.targets.launch import judge

    result = asyncio.run(judge(find("reset_mid_frame"), Poor(), {}, 1, NicConfig()))
    assert (result.status, result.message) == ("skipped", "the target lacks fault reset")
    assert asyncio.run(judge(find("bad_frame"), Poor(), {}, 1, NicConfig())).status == "passed"
    assert Needs(cycle_times=True, ports=2).lacking(Poor().capabilities) == "exact cycle times, 2 ports"
    assert asyncio.run(run_checks(Poor())) == dict.fromkeys(CHECKS, "")


def test_unknown_scenarios_and_parameters_are_refused_with_what_there_is() -> None:
    with pytest.raises(BadParameter, match="echo"):
        run_scenario("model", "ecco")
    with pytest.raises(BadParameter, match="frames"):
        run_scenario("model", "echo", {"frame": 3})
    with pytest.raises(BadParameter, match="'many' is not int"):
        run_scenario("model", "echo", {"frames": "many"})
    with pytest.raises(ValueError, match="model, native, cocotb"):
        run_scenario("board", "echo")
