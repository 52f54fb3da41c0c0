"""``acl`` in RTL against published filter sets and traces.

Sweep:    every ClassBench set of the material, its first 1024 rules
Stimulus: the traces that were generated with them: as metadata that has ports for every protocol, which is what the
          traces mean, and as frames, where TCP flags and ICMP types count too; a sample, in regress all of them
Checks:   the first match that comes with each trace; a search through the file's own text; the counter of every rule
Timing:   cycles of each frame (docs/acl.md, Time)
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.acl_batch import NO_RULE, Classifier
from models.parser_batch import parse_batch
from tb.toolchain import SIM_BUILD
from tests.acl.test_batch import one
from tests.acl.test_classbench import SETS, loaded, search, with_flags, without_flags
from tests.acl.test_slot import launch

MOST = 1024
SAMPLE = 500


def run(simulate: Callable[..., Any], material: Path, name: str, flags: bool, count: int | None, seed: int) -> None:
    """Run the bench on a trace, or on ``count`` headers of it."""
    rule_set, trace, path = loaded(material, name)
    rules = rule_set.rules[:MOST]
    chosen = np.arange(len(trace))
    if count is not None:
        chosen = np.sort(np.random.default_rng(seed).choice(len(trace), min(count, len(trace)), replace=False))
    if flags:
        batch = trace.frames()
        frames: list[tuple[str, dict[str, int] | None]] = [(batch.frame(int(at)).hex(), None) for at in chosen]
        first = search(path, trace, with_flags)
        found = Classifier(rules).first_match(parse_batch(batch), len(trace))
    else:
        columns = trace.columns()
        size = np.random.default_rng(seed).integers(33, 65, len(trace))
        frames = [(bytes(int(size[at])).hex(), one(columns, int(at))) for at in chosen]
        first = trace.first
        found = Classifier(without_flags(rule_set)[:MOST]).first_match(columns, len(trace))
    first = np.where(first < MOST, first, NO_RULE)
    assert np.array_equal(found, first)
    numbers = [None if number == NO_RULE else int(number) for number in first[chosen]]
    job = {"rules": str(path), "with_flags": flags, "frames": frames, "first": numbers}
    folder = SIM_BUILD / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"acl-{name}-{int(flags)}-{len(frames)}.json"
    file.write_text(json.dumps(job))
    launch(simulate, "bench_acl_classbench", MOST, tunnel=False, JOB=file)


@pytest.mark.parametrize("name", SETS)
def test_slot_finds_the_first_match_that_came_with_the_trace(
    simulate: Callable[..., Any], material: Path, name: str, seed: int
) -> None:
    run(simulate, material, name, False, SAMPLE, seed)


def test_slot_finds_the_first_match_of_frames_with_flags(
    simulate: Callable[..., Any], material: Path, seed: int
) -> None:
    run(simulate, material, "ruleset_fw1_1k", True, SAMPLE, seed)


@pytest.mark.regress
@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("name", SETS)
def test_slot_finds_the_first_match_of_whole_traces(
    simulate: Callable[..., Any], material: Path, name: str, flags: bool, seed: int
) -> None:
    run(simulate, material, name, flags, None, seed)
