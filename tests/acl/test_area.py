"""The area report of the ACL: what it counts, what it scales, what it says; in regress also what Yosys makes of it.

Sweep:    cells of both families; sizes that end and that don't; with Yosys 64 rules, 16 and 256 meters
Stimulus: made-up cells and areas; the RTL
Checks:   sums, a straight line through two sizes, area.json, messages and exit codes. With Yosys: rules and the state
          of meters are in memories, and none is in flip-flops
Timing:   none
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import area
from bench.area import FAMILIES, Area, Family, Synthesize, read_cells, scaled, synthesize
from tb.acl.designs import match_design, meter_design
from tb.build import Design
from tb.toolchain import ROOT, ToolError

LIMIT_S = 1200
ONE_SIZE = ("acl_meter", "gcm", "gcm_without_sm4", "gcm_aes")


def made_up(ends: Callable[[int], bool]) -> Synthesize:
    """Areas of a straight line, for the sizes that end."""

    def run(design: Design, family: Family, limit_s: int) -> Area | None:
        assert limit_s == 77
        if "RULES" not in design.parameters:
            return Area(500, 0, 900, 42, 180)
        rules = int(design.parameters["RULES"])
        return Area(100 + 80 * rules, 64 * rules, 10 + 30 * rules, 0, 18) if ends(rules) else None

    return run


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[int, list[dict[str, Any]]]]:
    """Runs the command with made-up areas; exit code and area.json."""
    monkeypatch.setattr(area, "SIM_BUILD", tmp_path)

    def run(ends: Callable[[int], bool], *arguments: str) -> tuple[int, list[dict[str, Any]]]:
        code = area.main(["--limit", "77", *arguments], made_up(ends))
        return code, json.loads((tmp_path / "area.json").read_text())

    return run


def test_cells_are_counted_as_logic_memory_flip_flops_multipliers_and_blocks() -> None:
    cells = {
        "LUT2": 3, "LUT6": 4, "FDRE": 10, "FDSE": 1, "DSP48E2": 2, "RAM64X1S": 5, "RAM64M8": 2, "SRL16E": 1,
        "RAMB36E2": 3, "RAMB18E2": 1, "CARRY4": 9, "$scopeinfo": 7, "MUXF7": 2,
    }  # fmt: skip
    assert read_cells(cells, FAMILIES["xilinx"]) == Area(7, 22, 11, 2, 126)
    cells = {"LUT4": 3, "CCU2C": 4, "TRELLIS_FF": 5, "TRELLIS_DPR16X4": 6, "MULT18X18D": 7, "DP16KD": 8, "PFUMX": 9}
    assert read_cells(cells, FAMILIES["ecp5"]) == Area(11, 24, 5, 7, 144)


def test_a_memory_cell_that_is_not_known_is_no_silent_zero() -> None:
    with pytest.raises(ValueError, match="nothing is known of these memory cells: URAM288"):
        read_cells({"URAM288": 1, "LUT2": 1}, FAMILIES["xilinx"])


def test_a_size_is_scaled_by_a_straight_line_through_two() -> None:
    assert scaled(1024, (128, Area(10, 128, 7, 1, 36)), (256, Area(20, 256, 7, 1, 36))) == Area(80, 1024, 7, 1, 36)


def test_what_ends_is_reported_as_it_is(report: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, rows = report(lambda rules: True)
    assert code == 0
    assert [(row["design"], row["family"], row["rules"]) for row in rows] == [
        (design, family, rules)
        for design, sizes in (("acl_match", (256, 1024)), ("acl", (256, 1024)), *((one, (None,)) for one in ONE_SIZE))
        for family in ("xilinx", "ecp5")
        for rules in sizes
    ]
    assert rows[1]["area"]["luts"] == 100 + 80 * 1024
    assert not any(row["scaled_from"] for row in rows)
    assert "scaled" not in capsys.readouterr().out


def test_what_does_not_end_is_scaled_and_says_from_what(report: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, rows = report(lambda rules: rules < 200, "--design", "acl_match", "--family", "ecp5")
    assert code == 0
    assert [(row["rules"], row["scaled_from"]) for row in rows] == [(256, [64, 128]), (1024, [64, 128])]
    assert rows[1]["area"] == {
        "luts": 100 + 80 * 1024,
        "memory_luts": 64 * 1024,
        "flip_flops": 10 + 30 * 1024,
        "multipliers": 0,
        "block_kbit": 18,
    }
    assert "* acl_match ecp5 1024: scaled from 64 and 128\n" in capsys.readouterr().out


def test_too_few_sizes_to_scale_from_are_an_error_that_keeps_what_was_found(report: Any, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="acl_match for xilinx: fewer than two sizes below 256 ended within the limit"):
        report(lambda rules: rules == 64, "--rules", "64", "--rules", "256", "--design", "acl_match")
    rows = json.loads((tmp_path / "area.json").read_text())
    assert [(row["rules"], row["area"]["luts"]) for row in rows] == [(64, 5220)]


@pytest.mark.parametrize("rules", ["0", "32", "100"])
def test_sizes_that_the_designs_refuse_are_refused(report: Any, rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        report(lambda rules: True, "--rules", rules)
    assert stopped.value.code == 2
    assert "--rules: accepted: multiples of 32, 64 or more" in capsys.readouterr().err


def test_the_command_tells_its_options() -> None:
    command = [sys.executable, "-m", "bench.area", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "--limit" in done.stdout


@pytest.mark.regress
def test_rules_are_in_memories_of_a_lut_a_row() -> None:
    found = synthesize(match_design(64), FAMILIES["xilinx"], LIMIT_S)
    assert found is not None
    # 32 memories of 64 rows for each of two sets, a bit a rule, and little that delays.
    assert 64 * 64 <= found.memory_luts <= 64 * 64 + 16
    assert (found.block_kbit, found.multipliers) == (0, 0)
    # The key, the rule that is written, and what is registered of each rule; no memory.
    assert found.flip_flops < 64 * 64


@pytest.mark.regress
@pytest.mark.parametrize("name", FAMILIES)
def test_state_of_meters_is_in_memories(name: str) -> None:
    few, many = (synthesize(meter_design(meters), FAMILIES[name], LIMIT_S) for meters in (16, 256))
    assert few is not None
    assert many is not None
    # 151 bits of rates, 64 of time, 65 of each bucket; more meters take longer addresses, and nothing else.
    assert many.block_kbit * 1024 + many.memory_luts * 64 >= 256 * 345
    assert many.flip_flops - few.flip_flops < 400 < 240 * 345
    assert few.multipliers == many.multipliers > 0


@pytest.mark.regress
def test_the_report_has_both_sizes_in_both_families() -> None:
    """The whole report, which stays in ``sim_build/area.json``; sizes that don't end are scaled, and it says so."""
    assert area.main(["--limit", str(LIMIT_S)]) == 0
    rows = json.loads((area.SIM_BUILD / "area.json").read_text())
    found = {(row["design"], row["family"], row["rules"]): row["area"] for row in rows}
    of_rules = {(name, family, rules) for name in ("acl_match", "acl") for family in FAMILIES for rules in (256, 1024)}
    assert set(found) == of_rules | {("acl_meter", family, None) for family in FAMILIES}
    for family in FAMILIES:
        for rules in (256, 1024):
            matcher, slot = found["acl_match", family, rules], found["acl", family, rules]
            # A LUT for each of a rule's 64 rows holds 64 bits in one family and 16 in the other.
            assert matcher["memory_luts"] >= 64 * rules
            assert slot["memory_luts"] >= matcher["memory_luts"]
            assert slot["luts"] > matcher["luts"]
