"""The test plan's checker: each kind of violation makes it speak, and a sound plan doesn't.

Sweep:    each violation of docs/testing.md by itself; whole runs, runs of one block, of single tests; one process, two
Stimulus: small trees with a plan, benches and outcomes made up here; for the plugin, pytest sessions over such a tree
Checks:   the exact violations and the status of each row; the exit code of the session, its JUnit file and its report
Timing:   none
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tb import testplan
from tb.testplan import EVERYTHING, NOTHING, Outcome, Ran, Scope, Simulation
from tb.toolchain import ROOT

PYTEST_TEST = "tests/lib/test_fifo.py::test_order"
LAUNCHER = "tests/lib/test_fifo.py::test_bench"
BENCH = "tb/lib/bench_fifo.py"
COCOTB_TEST = f"{BENCH}::keeps_order"
PASSED = Outcome("passed")
NO_ICARUS = Outcome("skipped", "tool missing: iverilog; sudo apt-get install iverilog")
ROW = {
    "id": "lib.fifo.order",
    "feature": "order",
    "goal": "frames leave in the order in which they came",
    "stimulus": "random frames",
    "check": "equal to the list",
    "clause": "none",
    "stage": "V1",
    "tests": [PYTEST_TEST, LAUNCHER, COCOTB_TEST],
    "cover": ["fifo.level.*"],
}
ALLOWED = {"rows": ["lib.*"], "kind": "tool missing", "needs": "iverilog", "reason": "comes from Debian"}


def toml(name: str, tables: list[dict]) -> str:
    """Tables of strings and lists of strings, as TOML: what JSON writes for them is TOML too."""
    lines = [[f"[[{name}]]", *(f"{key} = {json.dumps(value)}" for key, value in entry.items()), ""] for entry in tables]
    return "\n".join(line for entry in lines for line in entry)


@pytest.fixture
def tree(tmp_path):
    """A sound tree: one row, one pytest test, one bench with one cocotb test. Call it with changes to the row."""

    def make(
        *rows: dict,
        allowed=(ALLOWED,),
        files=("testplan/lib.toml",),
        bench="@cocotb.test()\nasync def keeps_order(dut): ...",
    ):
        for folder in ("docs/testplan", "tb/lib", "tests/lib"):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs/testplan.toml").write_text(f"files = {json.dumps(list(files))}\n")
        (tmp_path / "docs/testplan/lib.toml").write_text(toml("row", [ROW | row for row in rows or ({},)]))
        (tmp_path / "tests/unproven.toml").write_text(toml("unproven", list(allowed)))
        (tmp_path / BENCH).write_text(f"import cocotb\n{bench}\n")
        (tmp_path / "tests/lib/test_fifo.py").write_text("# the file that launches tb.lib.bench_fifo\n")
        return tmp_path

    return make


def ran(items=None, hits=1, **more) -> Ran:
    """A whole session in which all is well; keywords replace parts of it."""
    outcomes = {PYTEST_TEST: PASSED, f"{LAUNCHER}[verilator]": PASSED} | (items or {})
    simulation = Simulation(f"{LAUNCHER}[verilator]", BENCH, {"keeps_order": PASSED}, {"fifo.level.full": hits})
    more.setdefault("simulations", (simulation,))
    return Ran(outcomes, kept=frozenset(outcomes), **more)


def judge(root: Path, session: Ran, scope: Scope = EVERYTHING, strict: bool = False) -> testplan.Verdict:
    return testplan.judge(root, session, scope, strict=strict)


def status(verdict: testplan.Verdict) -> dict[str, str]:
    return {row.row.id: row.status for row in verdict.rows}


# ---- rows and tests -------------------------------------------------------------------------------------------------


def test_a_sound_plan_is_proven_without_a_violation(tree):
    verdict = judge(tree(), ran())
    assert (verdict.violations, status(verdict)) == ([], {ROW["id"]: "proven"})
    assert "1 row: 1 proven, 0 unproven" in verdict.lines()


@pytest.mark.parametrize("missing", ["tests/lib/test_fifo.py::test_gone", f"{BENCH}::gone"])
def test_a_row_whose_test_does_not_exist_is_a_violation(tree, missing):
    verdict = judge(tree({"tests": [*ROW["tests"], missing]}), ran())
    assert f"row {ROW['id']}: no such test: {missing}" in verdict.violations
    assert status(verdict) == {ROW["id"]: "not run"}


def test_a_pytest_test_without_a_row_is_a_violation(tree):
    verdict = judge(tree(), ran({"tests/lib/test_fifo.py::test_more[8]": PASSED}))
    assert verdict.violations == ["tests/lib/test_fifo.py::test_more: belongs to no row of the test plan"]


def test_a_cocotb_test_without_a_row_is_a_violation(tree):
    bench = "@cocotb.test\nasync def keeps_order(dut): ...\n@cocotb.test\nasync def forgotten(dut): ..."
    verdict = judge(tree(bench=bench), ran())
    assert verdict.violations == [f"{BENCH}::forgotten: belongs to no row of the test plan"]


def test_a_cocotb_test_that_only_the_simulation_knows_still_needs_a_row(tree):
    session = ran(simulations=(*ran().simulations, Simulation(LAUNCHER, BENCH, {"made_by_a_factory": PASSED}, {})))
    assert f"{BENCH}::made_by_a_factory: belongs to no row of the test plan" in judge(tree(), session).violations


def test_a_cocotb_test_that_nothing_launched_is_a_violation(tree):
    verdict = judge(tree({"cover": []}), ran(simulations=()))
    assert verdict.violations == [f"row {ROW['id']}: {COCOTB_TEST}: no pytest test ran it"]


def test_a_test_that_was_collected_and_did_not_run_is_a_violation(tree):
    session = ran()
    session = Ran({LAUNCHER: PASSED}, kept=session.kept, simulations=session.simulations)
    verdict = judge(tree(), session)
    assert status(verdict) == {ROW["id"]: "not run"}
    assert f"row {ROW['id']}: {PYTEST_TEST}: it was collected but not run" in verdict.violations


def test_tests_are_found_by_their_decorators_and_names(tree):
    bench = """
import pyuvm
@cocotb.test
async def plain(dut): ...
@cocotb.test(timeout_time=1, timeout_unit="us")
@cocotb.parametrize(length=[1, 2])
async def swept(dut, length): ...
@cocotb.test(name="renamed")
async def original(dut): ...
@pyuvm.test()
class WholeEnvironment(pyuvm.uvm_test): ...
@helper.test
async def not_one(dut): ...
async def helper(dut): ...
"""
    found = testplan.cocotb_tests(tree(bench=bench))
    assert found == {f"{BENCH}::{name}" for name in ("plain", "swept", "renamed", "WholeEnvironment")}


def test_a_failed_test_fails_its_row(tree):
    verdict = judge(tree(), ran({PYTEST_TEST: Outcome("failed", "call: 1 != 2")}))
    assert status(verdict) == {ROW["id"]: "failed"}
    assert f"  {ROW['id']}: {PYTEST_TEST}: call: 1 != 2" in verdict.lines()


def test_one_failed_run_of_a_parametrised_cocotb_test_fails_its_row(tree):
    simulation = Simulation(
        LAUNCHER, BENCH, {"keeps_order/length=1": PASSED, "keeps_order/length=2": Outcome("failed", "x")}, {}
    )
    assert status(judge(tree(), ran(simulations=(simulation,)))) == {ROW["id"]: "failed"}


def test_a_launcher_that_dies_before_its_bench_fails_the_bench(tree):
    verdict = judge(tree({"tests": [COCOTB_TEST]}), ran({f"{LAUNCHER}[icarus]": Outcome("failed", "BuildError")}))
    assert status(verdict) == {ROW["id"]: "failed"}


# ---- cover bins -----------------------------------------------------------------------------------------------------


def test_an_empty_bin_of_a_row_is_a_violation(tree):
    assert judge(tree(), ran(hits=0)).violations == [f"row {ROW['id']}: cover bin fifo.level.full was never hit"]


def test_a_bin_that_no_bench_defines_is_a_violation(tree):
    verdict = judge(tree({"cover": ["fifo.level.*", "fifo.speed.*"]}), ran())
    assert verdict.violations == [f"row {ROW['id']}: no bench defines a cover bin fifo.speed.*"]


def test_an_empty_bin_that_no_row_names_is_a_violation(tree):
    assert judge(tree({"cover": []}), ran(hits=0)).violations == [
        "cover bin fifo.level.full: never hit, and no row names it"
    ]


def test_bins_count_over_all_runs_together(tree):
    again = Simulation(f"{LAUNCHER}[verilator]", BENCH, {"keeps_order": PASSED}, {"fifo.level.full": 3})
    assert judge(tree(), ran(hits=0, simulations=(again, *ran(hits=0).simulations))).violations == []


def test_brackets_in_the_name_of_a_bin_are_plain_characters(tree):
    root = tree({"cover": ["length[60]"]})
    simulation = Simulation(LAUNCHER, BENCH, {"keeps_order": PASSED}, {"length[60]": 1})
    assert judge(root, ran(simulations=(simulation,))).violations == []


# ---- unproven and regress -------------------------------------------------------------------------------------------


def test_a_missing_tool_leaves_the_row_unproven_where_that_is_allowed(tree):
    verdict = judge(tree(), ran({f"{LAUNCHER}[icarus]": NO_ICARUS}))
    assert (verdict.violations, status(verdict)) == ([], {ROW["id"]: "unproven"})
    assert "1 row: 1 unproven" in verdict.lines()
    assert f"  {ROW['id']}: {NO_ICARUS.message}" in verdict.lines()


def test_strict_allows_no_unproven_row(tree):
    verdict = judge(tree(), ran({f"{LAUNCHER}[icarus]": NO_ICARUS}), strict=True)
    assert verdict.violations == [f"row {ROW['id']}: unproven, and STRICT=1 allows none: {NO_ICARUS.message}"]


@pytest.mark.parametrize(
    "allowed",
    [
        (),
        ({**ALLOWED, "needs": "tshark"},),
        ({**ALLOWED, "kind": "material missing"},),
        ({**ALLOWED, "rows": ["lib.fifo"]},),
    ],
    ids=["nothing", "another tool", "another kind", "another row"],
)
def test_an_unproven_row_without_permission_is_a_violation(tree, allowed):
    verdict = judge(tree(allowed=allowed), ran({f"{LAUNCHER}[icarus]": NO_ICARUS}))
    wanted = f"row {ROW['id']}: unproven, and tests/unproven.toml doesn't allow it: {NO_ICARUS.message}"
    assert wanted in verdict.violations


def test_a_skip_for_any_other_reason_is_a_violation(tree):
    assert judge(tree(), ran({PYTEST_TEST: Outcome("skipped", "flaky")})).violations == [
        f"row {ROW['id']}: unproven, and tests/unproven.toml doesn't allow it: flaky"
    ]


def test_a_skipped_cocotb_test_leaves_its_row_unproven(tree):
    simulation = Simulation(LAUNCHER, BENCH, {"keeps_order": Outcome("skipped", "later")}, {})
    assert status(judge(tree(), ran(simulations=(simulation,)))) == {ROW["id"]: "unproven"}


def test_a_bench_whose_launcher_was_skipped_is_unproven_not_missing(tree):
    root = tree({"tests": [COCOTB_TEST], "cover": []}, {"id": "lib.fifo.rest", "tests": [LAUNCHER, PYTEST_TEST]})
    session = Ran({PYTEST_TEST: NO_ICARUS, LAUNCHER: NO_ICARUS}, kept=frozenset({PYTEST_TEST, LAUNCHER}))
    verdict = judge(root, session)
    assert (verdict.violations, set(status(verdict).values())) == ([], {"unproven"})


def test_a_capability_that_one_target_lacks_is_a_remark_where_another_target_shows_the_row(tree):
    lacking = Outcome("skipped", "capability missing: faults; the target model does not have it")
    verdict = judge(tree(), ran({f"{LAUNCHER}[model]": lacking}))
    assert verdict.violations == []
    assert f"  {ROW['id']}: not shown everywhere: {lacking.message}" in verdict.lines()


def test_a_capability_that_every_target_lacks_leaves_the_row_unproven(tree):
    lacking = Outcome("skipped", "capability missing: faults; the target model does not have it")
    assert status(judge(tree(), ran({PYTEST_TEST: lacking}))) == {ROW["id"]: "unproven"}


def test_a_row_of_regress_tests_alone_counts_as_regress(tree):
    root = tree(
        {}, {"id": "lib.fifo.storm", "tests": ["tests/lib/test_fifo.py::test_storm"], "cover": ["fifo.storm.*"]}
    )
    verdict = judge(root, ran(regress=frozenset({"tests/lib/test_fifo.py::test_storm[1]"})))
    assert verdict.violations == []
    assert status(verdict) == {ROW["id"]: "proven", "lib.fifo.storm": "regress"}
    assert "2 rows: 1 proven, 0 unproven, 1 regress" in verdict.lines()


# ---- the files themselves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stage": "V4"}, "stage 'V4' is none of V1, V2, V3"),
        ({"goal": " "}, "`goal` is missing, empty or of the wrong type"),
        ({"tests": "one"}, "`tests` is missing, empty or of the wrong type"),
        ({"tests": []}, "names no test"),
        ({"tests": [f"{PYTEST_TEST}[8]"]}, "write it without parameters"),
        ({"id": "mac.fifo.order"}, "an id in this file begins with `lib.`"),
        ({"note": "x"}, "unknown key `note`"),
    ],
)
def test_a_malformed_row_is_a_violation(tree, change, said):
    assert any(said in line for line in judge(tree(change), ran()).violations)


def test_two_rows_of_one_name_are_a_violation(tree):
    assert f"row {ROW['id']}: stands 2 times in the plan" in judge(tree({}, {}), ran()).violations


def test_a_file_of_the_plan_that_is_not_listed_or_not_there_is_a_violation(tree):
    violations = judge(tree(files=["testplan/mac.toml"]), ran()).violations
    assert "docs/testplan/lib.toml: not listed in docs/testplan.toml" in violations
    assert "docs/testplan/mac.toml: no such file" in violations


def test_a_file_of_the_plan_that_is_listed_twice_is_named_once(tree):
    root = tree(files=["testplan/lib.toml", "testplan/lib.toml"])
    assert judge(root, ran()).violations == ["docs/testplan.toml: testplan/lib.toml is listed twice"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({**ALLOWED, "kind": "no time"}, "kind 'no time' is none of: tool missing, material missing"),
        ({**ALLOWED, "rows": ["mac.*"]}, "mac.* names no row of the plan"),
        ({**ALLOWED, "reason": ""}, "needs rows (a list), kind, needs and reason, and nothing else"),
    ],
)
def test_a_malformed_permission_is_a_violation(tree, entry, said):
    assert judge(tree(allowed=[entry]), ran()).violations == [f"tests/unproven.toml: entry 1: {said}"]


def test_broken_toml_is_a_violation_that_names_the_line(tree):
    root = tree()
    (root / "docs/testplan/lib.toml").write_text("[[row]]\nid = \n")
    assert any("docs/testplan/lib.toml: " in line and "line 2" in line for line in judge(root, ran()).violations)


# ---- parts of a run -------------------------------------------------------------------------------------------------


def test_a_run_of_one_block_checks_that_block_whole_and_leaves_the_others_alone(tree):
    root = tree(
        {},
        {"id": "lib.fifo.gone", "tests": ["tests/lib/test_fifo.py::test_gone"]},
        files=["testplan/lib.toml", "testplan/mac.toml"],
    )
    (root / "docs/testplan/mac.toml").write_text(
        toml("row", [{**ROW, "id": "mac.fcs", "tests": ["tests/mac/test_fcs.py::test_x"]}])
    )
    verdict = judge(root, ran(), Scope(frozenset({"lib"})))
    assert status(verdict) == {ROW["id"]: "proven", "lib.fifo.gone": "not run"}
    assert any("no such test: tests/lib/test_fifo.py::test_gone" in line for line in verdict.violations)
    assert not any("mac" in line for line in verdict.violations)
    assert "block lib" in verdict.notes[-1]


def test_a_run_of_single_tests_judges_only_their_rows_and_says_so(tree):
    root = tree({"cover": ["fifo.speed.*"]}, {"id": "lib.fifo.gone", "tests": ["tests/lib/test_fifo.py::test_gone"]})
    verdict = judge(root, Ran({PYTEST_TEST: PASSED}, kept=frozenset({PYTEST_TEST})), NOTHING)
    assert (verdict.violations, status(verdict), verdict.partial) == ([], {}, [ROW["id"]])
    lines = verdict.lines()
    assert lines[0] == "not judged, as not all of their tests were selected: 1 row" and len(lines) == 3
    assert not any(word in line for line in lines for word in ("not run", testplan.ABSENT, ROW["id"]))
    assert "only a part of the test plan was checked" in verdict.notes[-1]


def test_a_run_of_single_tests_proves_a_row_that_needs_no_other(tree):
    root = tree({"tests": [PYTEST_TEST]}, {"id": "lib.fifo.rest"})
    verdict = judge(root, Ran({PYTEST_TEST: PASSED}, kept=frozenset({PYTEST_TEST})), NOTHING)
    assert (status(verdict), verdict.partial) == ({ROW["id"]: "proven"}, ["lib.fifo.rest"])


def test_a_run_of_single_tests_names_a_row_that_failed_though_other_tests_were_not_selected(tree):
    session = Ran({PYTEST_TEST: Outcome("failed", "call: 1 != 2")}, kept=frozenset({PYTEST_TEST}))
    verdict = judge(tree(), session, NOTHING)
    assert (status(verdict), verdict.partial) == ({ROW["id"]: "failed"}, [])


def test_a_run_of_single_tests_still_minds_a_skip_without_permission(tree):
    session = Ran({PYTEST_TEST: Outcome("skipped", "flaky")}, kept=frozenset({PYTEST_TEST}))
    assert len(judge(tree(), session, NOTHING).violations) == 1


# ---- the plugin -----------------------------------------------------------------------------------------------------

SESSION = """
import pytest
from types import SimpleNamespace
from tests.plugin.testplan import recorder

def simulated(request, status="passed"):
    outcome = SimpleNamespace(name="keeps_order", status=status, message="two \\x01 frames", sim_time_ns=8.0)
    bins = {"fifo.level.full": 1}
    recorder(request.config).record(request.node.nodeid, "tb.lib.bench_fifo", "verilator", [outcome], bins)

def test_order(): ...

@pytest.mark.parametrize("sim", ["verilator", "icarus"])
def test_bench(request, sim):
    if sim == "icarus":
        pytest.skip("tool missing: iverilog; sudo apt-get install iverilog")
    simulated(request)
"""


def session(root: Path, *arguments: str, source: str = SESSION, strict: str = "") -> subprocess.CompletedProcess:
    """A pytest session of its own over the tree, with the plugin and nothing else of ours."""
    (root / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    (root / "tests/lib/test_fifo.py").write_text(source)
    keep = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.plugin.testplan", "-p", "no:cacheprovider", *arguments],
        cwd=root,
        env={**keep, "PYTHONPATH": str(ROOT), "STRICT": strict},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_a_whole_session_ends_with_the_table_and_passes(tree, processes):
    done = session(tree(), *processes)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 row: 1 unproven" in done.stdout
    assert f"{ROW['id']}: {NO_ICARUS.message}" in done.stdout
    assert "only a part" not in done.stdout


@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_simulations_recorded_in_any_process_count(tree, processes):
    root = tree()
    done = session(root, *processes, source=SESSION.replace('pytest.skip("tool', 'print("tool'))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 row: 1 proven, 0 unproven" in done.stdout
    assert len(list((root / "sim_build/results").iterdir())) == 1


@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_a_violation_makes_a_session_of_passing_tests_fail(tree, processes):
    done = session(
        tree({"cover": ["fifo.speed.*"]}, {"id": "lib.b", "tests": ["tests/lib/test_fifo.py::test_gone"]}), *processes
    )
    assert done.returncode == 1
    assert "no such test: tests/lib/test_fifo.py::test_gone" in done.stdout


def test_strict_makes_a_session_with_a_skip_fail(tree):
    done = session(tree(), strict="1")
    assert done.returncode == 1 and "STRICT=1 allows none" in done.stdout


@pytest.mark.parametrize("arguments", [("-k", "order"), ("tests/lib/test_fifo.py",), ("--deselect", PYTEST_TEST)])
def test_a_narrowed_session_says_that_it_is_one(tree, arguments):
    done = session(tree({"tests": [*ROW["tests"], "tests/lib/test_fifo.py::test_gone"]}), *arguments)
    assert done.returncode == 0, done.stdout
    assert "only a part of the test plan was checked" in done.stdout


def test_one_test_of_a_session_does_not_call_the_others_missing(tree):
    done = session(tree(), PYTEST_TEST)
    assert done.returncode == 0, done.stdout
    assert "not judged, as not all of their tests were selected: 1 row" in done.stdout
    assert "not run" not in done.stdout and testplan.ABSENT not in done.stdout and COCOTB_TEST not in done.stdout


UNFINISHED = "the session did not finish: the test plan was not checked"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((f"{PYTEST_TEST}s",), 4),
        (("tests/mac",), 4),
        (("-k", "nothing_of_that_name"), 5),
        (("-k", "nothing_of_that_name", "-n", "2"), 5),
    ],
    ids=["mistyped test", "mistyped folder", "-k", "-k, two processes"],
)
def test_a_session_without_a_test_says_so_and_keeps_the_exit_code(tree, arguments, code):
    done = session(tree(), *arguments, strict="1")
    assert done.returncode == code, done.stdout
    assert "no test was selected" in done.stdout.splitlines()
    assert "unproven" not in done.stdout and "test plan" not in done.stdout


@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["one process", "two processes"])
@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        (SESSION + "\nimport no_such_module\n", ()),
        (SESSION + "\ndef test_later(): raise KeyboardInterrupt\n", ()),
        (SESSION.replace("def test_order(): ...", "def test_order(): assert False"), ("-x",)),
    ],
    ids=["collection error", "interrupt", "-x"],
)
def test_a_session_that_does_not_finish_says_so_in_one_line(tree, source, arguments, processes):
    done = session(tree(), *arguments, *processes, source=source)
    assert done.returncode in (1, 2), done.stdout
    assert [line for line in done.stdout.splitlines() if "test plan" in line] == [UNFINISHED]
    assert ROW["id"] not in done.stdout and "no test was selected" not in done.stdout


def test_processes_that_collect_different_tests_leave_the_plan_unchecked(tree):
    source = SESSION + "\nimport os\nglobals()['test_' + os.environ['PYTEST_XDIST_WORKER']] = lambda: None\n"
    done = session(tree(), "-n", "2", source=source)
    assert "Different tests were collected" in done.stdout
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if "test plan" in line] == [UNFINISHED]
    assert ROW["id"] not in done.stdout


def test_a_folder_of_tests_is_checked_as_its_block(tree):
    done = session(tree({"tests": [*ROW["tests"], "tests/lib/test_fifo.py::test_gone"]}), "tests/lib")
    assert done.returncode == 1 and "(block lib)" in done.stdout


def test_the_junit_file_has_a_case_for_each_cocotb_test(tree):
    root = tree()
    source = SESSION.replace("simulated(request)", 'simulated(request, "failed")\n    assert False, "two frames"')
    assert session(root, source=source).returncode == 1
    cases = {
        (case.get("classname"), case.get("name")): [child.tag for child in case]
        for case in ElementTree.parse(root / "sim_build/junit.xml").iter("testcase")
    }
    assert cases[BENCH, "keeps_order[verilator]"] == ["failure"]
    assert cases["tests.lib.test_fifo", "test_bench[verilator]"] == ["failure"]
    assert cases["tests.lib.test_fifo", "test_order"] == []


def test_a_regress_test_is_left_out_and_counted_as_such(tree):
    marked = SESSION + "\n@pytest.mark.regress\ndef test_storm(): ...\n"
    root = tree({}, {"id": "lib.fifo.storm", "tests": ["tests/lib/test_fifo.py::test_storm"]})
    (root / "conftest.py").write_text(
        "def pytest_configure(config): config.addinivalue_line('markers', 'regress: long')\n"
        "def pytest_collection_modifyitems(config, items):\n"
        "    long = [item for item in items if item.get_closest_marker('regress')]\n"
        "    items[:] = [item for item in items if item not in long]\n"
        "    config.hook.pytest_deselected(items=long)\n"
    )
    done = session(root, source=marked)
    assert done.returncode == 0, done.stdout
    assert "2 rows: 1 unproven, 1 regress" in done.stdout


def test_the_plan_is_printed_without_running_anything(tree, capsys):
    root = tree({}, {"id": "lib.fifo.other", "stage": "V2"})
    assert testplan.main(["lib"], root) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in printed[2:4]] == [[ROW["id"], "V1", "3"], ["lib.fifo.other", "V2", "3"]]
    assert printed[-1] == "2 rows: 1 V1, 1 V2, 0 V3"


def test_printing_a_malformed_plan_ends_with_2(tree, capsys):
    assert testplan.main([], tree({"stage": "V4"})) == 2
    assert "stage 'V4'" in capsys.readouterr().err
