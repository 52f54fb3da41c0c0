"""Proofs of the small control parts: axis_register, axis_fifo, axis_arb_mux, the meta beside their streams, word_queue.

Sweep:    axis_fifo cutting through, and in frame mode with each pair of DROP_BAD and DROP_FULL; the register; the
          arbiter with three inputs; word_queue with and without BYPASS. Sizes are small (8 bit of data, 4 beats, 2
          frames): control is the same at all
Stimulus: every input that keeps the rules of a stream, with resets at any time; the solver looks for the worst
Checks:   tests/lib/formal/*.sv: rules of a stream at the output, nothing lost, doubled, mixed or out of order, meta
          with its own frame, never a part of a frame in frame mode, every drop reported once, level, round robin and
          its fairness. From reset to a depth, then by induction for all time; and that what the proofs speak of can
          happen. Modules broken on purpose must fail
Timing:   latency, tready and the absence of bubbles, to the cycle, as the modules' headers state them
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.formal import WORK, here, solve, write_smt2

pytestmark = pytest.mark.usefixtures("solver")

ROOT = Path(__file__).parents[2]
RTL = ROOT / "rtl" / "lib"
HARNESS = Path(__file__).parent / "formal"

SKID_PEEKS = {
    "peek_out_valid": "out_valid_reg",
    "peek_first": "first_reg",
    "peek_skid_data": "skid_data_reg",
    "peek_skid_keep": "skid_keep_reg",
    "peek_skid_user": "skid_user_reg",
    "peek_skid_meta": "skid_meta_reg",
    "peek_skid_last": "skid_last_reg",
    "peek_skid_first": "skid_first_reg",
    "peek_skid_valid": "skid_valid_reg",
}
FIFO_PEEKS = {
    "peek_write": "dut.write_reg",
    "peek_commit": "dut.commit_reg",
    "peek_read": "dut.read_reg",
    "peek_free": "dut.free_reg",
    "peek_write_slot": "dut.write_slot_reg",
    "peek_read_slot": "dut.read_slot_reg",
    "peek_frames": "dut.frames_reg",
    "peek_first": "dut.first_reg",
    "peek_discard": "dut.discard_reg",
    "peek_out_valid": "dut.out_valid_reg",
    "peek_begun": "dut.begun_reg",
    "peek_out_ctrl": "dut.out_ctrl_reg",
    **{f"peek_data[{8 * i + 7}:{8 * i}]": f"dut.data_ram[{i}]" for i in range(4)},
    **{f"peek_ctrl[{4 * i + 3}:{4 * i}]": f"dut.ctrl_ram[{i}]" for i in range(4)},
    **{f"peek_meta[{2 * i + 1}:{2 * i}]": f"dut.meta_ram[{i}]" for i in range(2)},
}
QUEUE_PEEKS = {
    "peek_write": "dut.write_reg",
    "peek_read": "dut.read_reg",
    **{f"peek_mem[{4 * i + 3}:{4 * i}]": f"dut.mem[{i}]" for i in range(4)},
}


@dataclass(frozen=True)
class Proof:
    """One module under one harness: `prove_<module>.sv` and the registers that its invariants look at."""

    name: str
    module: str
    needs: tuple[str, ...]  # further modules of rtl/lib
    peeks: dict[str, str]  # wire of the harness -> register or memory word of the flattened design
    parameters: dict[str, int] = field(default_factory=dict)
    bounded: int = 8  # cycles from reset
    induction: int = 3
    cover: int = 12


def fifo(name: str, frame_mode: int, drop_bad: int, drop_full: int) -> Proof:
    parameters = {"FRAME_MODE": frame_mode, "DROP_BAD": drop_bad, "DROP_FULL": drop_full}
    return Proof(name, "axis_fifo", (), FIFO_PEEKS, parameters)


PROOFS = {
    proof.name: proof
    for proof in (
        Proof("register", "axis_register", (), {wire: f"dut.{reg}" for wire, reg in SKID_PEEKS.items()}),
        fifo("fifo_cut_through", 0, 0, 0),
        fifo("fifo_frame", 1, 0, 0),
        fifo("fifo_frame_drop_bad", 1, 1, 0),
        fifo("fifo_frame_drop_full", 1, 0, 1),
        fifo("fifo_frame_drop_bad_and_full", 1, 1, 1),
        Proof(
            "arb_mux",
            "axis_arb_mux",
            ("axis_register",),
            {wire: f"dut.output_register.{reg}" for wire, reg in SKID_PEEKS.items()}
            | {"peek_inside": "dut.inside_reg", "peek_owner": "dut.owner_reg", "peek_behind": "dut.behind_reg"},
        ),
        Proof("queue", "word_queue", (), QUEUE_PEEKS, {"BYPASS": 0}),
        Proof("queue_bypass", "word_queue", (), QUEUE_PEEKS, {"BYPASS": 1}),
    )
}

# Proof, what is broken, text of the module, what stands in its place
MUTANTS = [
    ("register", "forgets_the_beat_in_the_skid", "skid_valid_reg <= 1'b1;", "skid_valid_reg <= 1'b0;"),
    ("register", "loses_meta_in_the_skid", "if (skid_first_reg) out_meta_reg", "if (skid_last_reg) out_meta_reg"),
    ("register", "waits_a_cycle", "~skid_valid_reg & ~rst", "~skid_valid_reg & ~out_valid_reg & ~rst"),
    ("fifo_frame", "stores_meta_of_every_beat", "if (first_reg) meta_ram", "meta_ram"),
    ("fifo_cut_through", "counts_no_frames", "= full | no_slot;", "= full;"),
    ("fifo_frame", "lets_parts_of_frames_out", "if (s_axis_tlast || FRAME_MODE == 0) commit_reg", "commit_reg"),
    ("fifo_frame", "hangs_on_a_long_frame", "(write_reg ^ commit_reg) == DEPTH[ADDR_W:0]", "1'b0"),
    ("fifo_frame_drop_bad", "keeps_the_room_of_a_bad_frame", "if (lost || drop) begin", "if (lost) begin"),
    ("fifo_frame_drop_full", "writes_over_what_it_holds", "no_room : oversize)", "no_slot : oversize)"),
    ("fifo_frame_drop_bad_and_full", "calls_bad_full", "bad ? CAUSE_BAD :", "bad && !lost ? CAUSE_BAD :"),
    (
        "fifo_frame_drop_bad_and_full",
        "reports_twice",
        "drop_valid_reg <= drop;",
        "drop_valid_reg <= drop | drop_valid_reg;",
    ),
    ("arb_mux", "mixes_frames", "inside_reg <= ~sel_tlast;", "inside_reg <= 1'b0;"),
    ("queue", "writes_one_place_on", "mem[write_reg[ADDR_W-1:0]] <=", "mem[write_reg[ADDR_W-1:0] + 2'd1] <="),
    ("queue", "is_empty_when_full", "wire empty = write_reg ==", "wire empty = write_reg[1:0] == read_reg[1:0]; //"),
    ("queue_bypass", "is_late", "assign valid = !empty || write;", "assign valid = !empty;"),
    ("queue_bypass", "overtakes", "empty ? write_data :", "write ? write_data :"),
    ("arb_mux", "favours_one_input", "| (owner_round & ~(owner_hot |", "| ({N{1'b0}} & ~(owner_hot |"),
]


def elaborate(proof: Proof, source: Path, name: str) -> str:
    """Write the design and its harness as `<name>.smt2` in the work folder and return that name."""
    top = f"prove_{proof.module}"
    parameters = " ".join(f"-chparam {key} {value}" for key, value in proof.parameters.items())
    script = [
        f"read_verilog {here(source)} " + " ".join(here(RTL / f"{module}.v") for module in proof.needs),
        "read_verilog -formal -sv "
        + " ".join(here(HARNESS / f"{part}.sv") for part in ("stream_rules", "skid_rules", top)),
        f"hierarchy -check -top {top} {parameters}",
        f"rename -top {top}",
        "proc",
        "flatten",
        "memory_collect",
        "memory_map",
        f"cd {top}",
        *(f"connect -nounset -set {wire} \\{register}" for wire, register in proof.peeks.items()),
        "cd ..",
        "opt -full",
        "async2sync",
        "dffunmap",
    ]
    return write_smt2(script, name)


@pytest.mark.parametrize("name", PROOFS)
def test_the_module_keeps_its_promises_from_reset_on(name: str) -> None:
    proof = PROOFS[name]
    smt2 = elaborate(proof, RTL / f"{proof.module}.v", f"{name}_bounded")
    result = solve(smt2, "-t", str(proof.bounded))
    assert "Status: PASSED" in result, result


@pytest.mark.parametrize("name", PROOFS)
def test_the_module_keeps_its_promises_for_all_time(name: str) -> None:
    proof = PROOFS[name]
    assert proof.induction < proof.bounded, "the base of the induction is the bounded proof"
    smt2 = elaborate(proof, RTL / f"{proof.module}.v", f"{name}_induction")
    result = solve(smt2, "-i", "-t", str(proof.induction))
    assert "Status: PASSED" in result, result


@pytest.mark.parametrize("name", PROOFS)
def test_what_the_proof_speaks_of_can_happen(name: str) -> None:
    proof = PROOFS[name]
    smt2 = elaborate(proof, RTL / f"{proof.module}.v", f"{name}_cover")
    result = solve(smt2, "-c", "-t", str(proof.cover))
    assert "Status: PASSED" in result, result
    assert "Reached cover statement" in result, result


@pytest.mark.parametrize(("name", "broken", "old", "new"), MUTANTS, ids=[f"{m[0]}_{m[1]}" for m in MUTANTS])
def test_a_broken_module_fails_its_proof(name: str, broken: str, old: str, new: str) -> None:
    proof = PROOFS[name]
    text = (RTL / f"{proof.module}.v").read_text()
    assert text.count(old) == 1, f"{proof.module}.v doesn't hold this text once: {old}"
    source = WORK / f"{name}_{broken}.v"
    source.write_text(text.replace(old, new))
    result = solve(elaborate(proof, source, f"{name}_{broken}"), "-t", str(proof.bounded))
    assert "Assert failed" in result, f"{name} {broken}: the proof still holds\n{result}"
