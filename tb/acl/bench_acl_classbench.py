"""Bench of the ACL's slot with published filter sets: the launcher, tests/acl/test_classbench_rtl.py, gives the rules,
the frames, and the first match of each as others computed it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from models.acl import Counter, Judgement, RuleSet, Verdict
from models.acl_file import read_rules
from tb.acl.slot import RULES, SlotBench, acl_test

__all__: list[str] = []

JOB: dict[str, Any] = json.loads(Path(os.environ["NICLOOP_JOB"]).read_text())


@acl_test(40)
async def slot_finds_the_first_match_that_came_with_a_trace(dut: Any) -> None:
    """The first rules of the set, as many as there is room for; and what each of them counted."""
    b = await SlotBench(dut, "classbench").start()
    rules = list(read_rules(JOB["rules"]).rules[:RULES])
    if not JOB["with_flags"]:
        rules = [replace(rule, tcp_flags=None, icmp_type=None, icmp_code=None) for rule in rules]
    await b.load(RuleSet(tuple(rules)))
    counters = {index: Counter() for index in (None, *range(len(rules)))}
    for start in range(0, len(JOB["frames"]), 256):
        part = slice(start, start + 256)
        flights, expected = [], []
        for (data, fields), first in zip(JOB["frames"][part], JOB["first"][part], strict=True):
            frame = bytes.fromhex(data)
            flights.append(b.parsed(frame) if fields is None else b.flight(frame, fields))
            expected.append(b.expect_judged(flights[-1], Judgement(first, Verdict.PASSED)))
            counters[first].add(len(frame))
        await b.play(flights, f"frames from {start} on", expected=expected)
    await b.quiet()
    for index, want in counters.items():
        found = await b.driver.read(index)
        assert found == want, f"counter of rule {index}: {found}, must be {want}"
    assert sum(counter.frames for counter in counters.values()) == len(JOB["frames"])
