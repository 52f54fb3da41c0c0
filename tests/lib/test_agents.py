"""The stream agents, the protocol checker and the bound assertions, on a stream that breaks one rule on demand.

Sweep:    eleven broken rules, each in Python's checker and in the bound assertions
Stimulus: short frames over a wire with a fault in it; every back-pressure generator; a pyuvm sequence
Checks:   each break is named, none is seen without one; frames, cycles and queues of the agents
Timing:   agents on both ends of a wire record the same cycles
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tb.build
from tb.lib.designs import DESIGNS, environment

BENCH = "tb.lib.bench_agents"
ASSERTIONS = {
    "valid_falls": "output_rules.valid_held",
    "data_changes": "output_rules.beat_stable",
    "last_changes": "output_rules.beat_stable",
    "user_changes": "output_rules.user_stable",
    "meta_changes": "output_rules.meta_stable",
    "keep_hole": "output_rules.keep_contiguous",
    "keep_zero": "output_rules.keep_contiguous",
    "keep_early": "output_rules.keep_full",
    "valid_in_reset": "output_rules.g_output.quiet_in_reset",
    "ready_in_reset": "input_rules.g_input.quiet_in_reset",
}


def test_agents_and_checkers(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["agents.no_sva"], BENCH, env=environment("agents.no_sva"))


def test_bound_assertions_stop_on_each_broken_rule(
    simulate: Callable[..., Any], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    design, env = DESIGNS["agents.faulty"], environment("agents.faulty")
    only = "stream_with_the_fault_of_the_environment"
    simulate(design, BENCH, tests=[only], env=env)
    monkeypatch.setattr(tb.build, "OBSERVERS", [])  # the test plan is not to judge runs that must fail
    for fault, assertion in ASSERTIONS.items():
        run = tb.build.simulate(design, BENCH, tests=[only], env=env | {"NICLOOP_FAULT": fault}, seed=seed)
        assert run.exit_code, f"{fault} passed"
        assert f"Assertion failed in faulty_stream.{assertion}" in run.log.read_text(), fault
