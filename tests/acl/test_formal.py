"""A proof of the control of ``acl_meter``: writes against asks.

Sweep:    two meters, either of them; either bucket
Stimulus: asks 4 cycles apart or more, writes at any time, resets at any time; products are whatever the solver likes
Checks:   tests/acl/formal/prove_acl_meter.sv: each ask is judged by the whole old or the whole new meter, by the level
          that the last ask left and the time since the latest one. From reset to a depth, then by induction for all
          time; and that what the proof speaks of can happen. Modules broken on purpose must fail
Timing:   an answer 7 cycles after its ask; an ask 2 cycles after a write is taken sees it, the next one is taken 10
          cycles later at most
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal import WORK, here, solve, write_smt2

pytestmark = pytest.mark.usefixtures("solver")

ROOT = Path(__file__).parents[2]
RTL = ROOT / "rtl" / "acl"
HARNESS = Path(__file__).parent / "formal" / "prove_acl_meter.sv"
MODULES = ("acl_meter_product", "acl_meter_bucket", "acl_meter_time", "acl_meter_write", "acl_meter")
BUCKETS = ("peak", "committed")
BOUNDED, INDUCTION, COVER = 10, 1, 16
BROKEN = "8:16"
"""The cycles in which a broken module must show itself: time for a write and an ask, and both again."""

PEEKS = {
    "peek_rates": "dut.rates_reg",
    "peek_rates_0": "dut.rates_mem[0]",
    "peek_rates_1": "dut.rates_mem[1]",
    "peek_stage": "dut.stage_reg",
    "peek_meter": "dut.meter_reg",
    "peek_level_meter": "dut.level_meter_reg",
    "peek_elapsed": "dut.times.elapsed_reg",
    "peek_time": "dut.times.time_reg",
    "peek_before_time": "dut.times.before_reg",
    "peek_time_0": "dut.times.time_mem[0]",
    "peek_time_1": "dut.times.time_mem[1]",
    "peek_time_meter": "dut.times.meter_reg",
    "peek_clear": "dut.writer.clear_reg",
    "peek_clear_meter": "dut.writer.clear_meter_reg",
    "peek_free": "dut.writer.free_reg",
    "peek_wait": "dut.writer.wait_reg",
    "peek_write": "dut.writer.stage_reg",
    "peek_write_meter": "dut.writer.meter_reg",
    "peek_word": "dut.writer.word_reg",
}
BUCKET_PEEKS = {
    "peek_before": "before_reg",
    "peek_fresh": "fresh_reg",
    "peek_level": "level",
    "peek_level_0": "level_mem[0]",
    "peek_level_1": "level_mem[1]",
}

# What is broken, in which module, its text, what stands in its place
MUTANTS = [
    ("forgets_the_ask_beside_it", "acl_meter", "ask_valid || stage_reg[1])", "stage_reg[1])"),
    ("forgets_the_ask_before_it", "acl_meter", "ask_valid || stage_reg[1])", "ask_valid)"),
    ("compares_the_meter_of_the_next_ask", "acl_meter", ".ask_meter(meter_reg), .f", ".ask_meter(ask_meter), .f"),
    ("trusts_the_level_too_early", "acl_meter_write", "|stage_reg[6:4]", "|stage_reg[5:4]"),
    ("trusts_the_level_of_the_ask_behind_the_next_cycle", "acl_meter_write", "|stage_reg[6:4]", "|stage_reg[6:5]"),
    ("fills_every_meter", "acl_meter_write", " && ask_meter == meter_reg", ""),
    ("writes_rates_late", "acl_meter_write", "clear_reg || go", "clear_reg || stage_reg[1]"),
    ("writes_levels_early", "acl_meter_write", "clear_reg || stage_reg[6]", "clear_reg || stage_reg[4]"),
    ("keeps_the_time", "acl_meter_time", "zero ? 64'd0 : time_reg", "time_reg"),
    ("clears_nothing", "acl_meter_write", "clear_reg ? {RATES_W{1'b0}} : word_reg", "word_reg"),
    ("takes_a_time_that_goes_back", "acl_meter_time", "stage_1 && !back", "stage_1"),
]


def elaborate(bucket: str, name: str, broken: Path | None = None) -> str:
    """The design with the harness that sees this bucket. ``broken``: stands in place of the file it is named by."""
    sources = {module: RTL / f"{module}.v" for module in MODULES}
    if broken is not None:
        sources[broken.stem.partition("-")[0]] = broken
    peeks = PEEKS | {wire: f"dut.{bucket}.{register}" for wire, register in BUCKET_PEEKS.items()}
    script = [
        "read_verilog " + " ".join(here(source) for source in sources.values()),
        f"read_verilog -formal -sv {here(HARNESS)}",
        "hierarchy -check -top prove_acl_meter",
        "proc",
        "flatten",
        # What is computed is no part of the control: any value will do.
        "cutpoint t:$mul",
        *(f"cutpoint w:dut.{each}.{wire}" for each in BUCKETS for wire in ("left", "level_reg")),
        "memory_collect",
        "memory_map",
        "cd prove_acl_meter",
        *(f"connect -nounset -set {wire} \\{register}" for wire, register in peeks.items()),
        "cd ..",
        "opt -full",
        "async2sync",
        "dffunmap",
    ]
    return write_smt2(script, name)


@pytest.mark.parametrize("bucket", BUCKETS)
def test_meters_are_judged_whole_from_reset_on(bucket: str) -> None:
    result = solve(elaborate(bucket, f"acl_meter_{bucket}_bounded"), "-t", str(BOUNDED))
    assert "Status: PASSED" in result, result


@pytest.mark.parametrize("bucket", BUCKETS)
def test_meters_are_judged_whole_for_all_time(bucket: str) -> None:
    assert INDUCTION < BOUNDED, "the base of the induction is the bounded proof"
    result = solve(elaborate(bucket, f"acl_meter_{bucket}_induction"), "-i", "-t", str(INDUCTION))
    assert "Status: PASSED" in result, result


def test_what_the_proof_speaks_of_can_happen() -> None:
    result = solve(elaborate("peak", "acl_meter_cover"), "-c", "-t", str(COVER))
    assert "Status: PASSED" in result, result
    assert "Reached cover statement" in result, result


@pytest.mark.parametrize(("broken", "module", "old", "new"), MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_a_broken_meter_fails_its_proof(broken: str, module: str, old: str, new: str) -> None:
    text = (RTL / f"{module}.v").read_text()
    assert text.count(old) == 1, f"{module}.v doesn't hold this text once: {old}"
    source = WORK / f"{module}-{broken}.v"
    source.write_text(text.replace(old, new))
    result = solve(elaborate("committed", f"acl_meter_{broken}", source), "-t", BROKEN)
    assert "Assert failed" in result, f"{broken}: the proof still holds\n{result}"
