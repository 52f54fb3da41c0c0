"""A proof of the engine's credits: ``gcm_room`` in front of ``gcm_queue``.

Sweep:    a queue of four places, each of them
Stimulus: what enters, arrives and leaves at any time, resets at any time
Checks:   tests/gcm/formal/prove_gcm_room.sv: nothing is lost or doubled, the order stays, the queue never overflows,
          room and empty are exact. From reset to a depth, then by induction for all time; and that what the proof
          speaks of can happen. Modules broken on purpose must fail
Timing:   room is known in the next cycle
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal import WORK, here, prepare, solve, write_smt2

RTL = Path(__file__).parents[2] / "rtl" / "gcm"
HARNESS = Path(__file__).parent / "formal" / "prove_gcm_room.sv"
MODULES = ("gcm_room", "gcm_queue")
BOUNDED, INDUCTION, COVER = 16, 1, 26

PEEKS = {
    "peek_count": "credits.count_reg",
    "peek_write": "queue.write_reg",
    "peek_read": "queue.read_reg",
    "peek_mem_0": "queue.mem[0]",
    "peek_mem_1": "queue.mem[1]",
    "peek_mem_2": "queue.mem[2]",
    "peek_mem_3": "queue.mem[3]",
}

# What is broken, in which module, its text, what stands in its place
MUTANTS = [
    ("always_has_room", "gcm_room", "room = !count_reg[COUNT_W-1]", "room = 1'b1"),
    ("counts_both_as_one_more", "gcm_room", "taken && !given", "taken"),
    ("counts_both_as_one_less", "gcm_room", "given && !taken", "given"),
    ("keeps_its_count_at_a_reset", "gcm_room", "count_reg <= {COUNT_W{1'b0}}", "count_reg <= count_reg"),
    ("shows_what_is_not_there", "gcm_queue", "valid = write_reg != read_reg", "valid = write_reg != read_reg || write"),
    ("is_empty_when_full", "gcm_queue", "valid = write_reg != read_reg",
     "valid = write_reg[ADDR_W-1:0] != read_reg[ADDR_W-1:0]"),
    ("writes_one_place_on", "gcm_queue", "mem[write_reg[ADDR_W-1:0]] <=", "mem[write_reg[ADDR_W-1:0] + 2'd1] <="),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def solver() -> None:
    prepare()


def elaborate(name: str, broken: Path | None = None) -> str:
    """The two modules with the harness. ``broken``: stands in place of the file it is named by."""
    sources = {module: RTL / f"{module}.v" for module in MODULES}
    if broken is not None:
        sources[broken.stem.partition("-")[0]] = broken
    script = [
        "read_verilog " + " ".join(here(source) for source in sources.values()),
        f"read_verilog -formal -sv {here(HARNESS)}",
        "hierarchy -check -top prove_gcm_room",
        "proc",
        "flatten",
        "memory_collect",
        "memory_map",
        "cd prove_gcm_room",
        *(f"connect -nounset -set {wire} \\{register}" for wire, register in PEEKS.items()),
        "cd ..",
        "opt -full",
        "async2sync",
        "dffunmap",
    ]
    return write_smt2(script, name)


def test_nothing_is_lost_from_reset_on() -> None:
    result = solve(elaborate("gcm_room_bounded"), "-t", str(BOUNDED))
    assert "Status: PASSED" in result, result


def test_nothing_is_lost_for_all_time() -> None:
    assert INDUCTION < BOUNDED, "the base of the induction is the bounded proof"
    result = solve(elaborate("gcm_room_induction"), "-i", "-t", str(INDUCTION))
    assert "Status: PASSED" in result, result


def test_what_the_proof_speaks_of_can_happen() -> None:
    result = solve(elaborate("gcm_room_cover"), "-c", "-t", str(COVER))
    assert "Status: PASSED" in result, result
    assert "Reached cover statement" in result, result


@pytest.mark.parametrize(("broken", "module", "old", "new"), MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_a_broken_module_fails_its_proof(broken: str, module: str, old: str, new: str) -> None:
    text = (RTL / f"{module}.v").read_text()
    assert text.count(old) == 1, f"{module}.v doesn't hold this text once: {old}"
    source = WORK / f"{module}-{broken}.v"
    source.write_text(text.replace(old, new))
    result = solve(elaborate(f"gcm_{broken}", source), "-t", str(BOUNDED))
    assert "Assert failed" in result, f"{broken}: the proof still holds\n{result}"
