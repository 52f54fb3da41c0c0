"""The test plan's checker: reads the rows, judges what a session ran against them, prints the table.

`docs/testplan.toml` lists the files of the plan, one a block. A row is a feature with its goal, stimulus, check, the
clause of the standard, a stage, the tests that show it and the cover bins that must be hit. What counts as a violation
stands in docs/testing.md. The pytest plugin `tests/plugin/testplan.py` gathers what ran and calls :func:`judge`.

`python -m tb.testplan [BLOCK ...]` prints the plan without running anything; exit code 2 when the plan is malformed.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tb.toolchain import ROOT

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Allowance",
    "Outcome",
    "Plan",
    "Ran",
    "Row",
    "RowVerdict",
    "Scope",
    "Simulation",
    "Verdict",
    "cocotb_tests",
    "judge",
    "table",
]

PLAN = "docs/testplan.toml"
UNPROVEN = "tests/unproven.toml"
STAGES = ("V1", "V2", "V3")
TEXTS = ("id", "feature", "goal", "stimulus", "check", "clause", "stage")
LISTS = ("tests", "cover")
STATUSES = ("proven", "unproven", "regress", "failed", "not run")
KINDS = ("tool missing", "material missing")
CAPABILITY = "capability missing"
ABSENT = "there is no such test"


# ---- the plan -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One row of the plan. `block` is the stem of the file that holds it; `tests` are ids without parameters."""

    block: str
    id: str
    feature: str
    goal: str
    stimulus: str
    check: str
    clause: str
    stage: str
    tests: tuple[str, ...]
    cover: tuple[str, ...]


@dataclass(frozen=True)
class Allowance:
    """An entry of tests/unproven.toml: rows that match `rows` may stay unproven when `needs` is missing."""

    rows: tuple[str, ...]
    kind: str
    needs: str
    reason: str

    def covers(self, row: str, skip: str) -> bool:
        """Whether this entry permits `row` to stay unproven because of the skip reason `skip`."""
        stated = skip.split(";")[0].strip()
        return stated == f"{self.kind}: {self.needs}" and any(_pattern(glob).fullmatch(row) for glob in self.rows)


@dataclass(frozen=True)
class Plan:
    """All rows and allowances, and what is wrong with the files themselves."""

    rows: tuple[Row, ...]
    allowances: tuple[Allowance, ...]
    problems: tuple[str, ...]

    @classmethod
    def load(cls, root: Path) -> Plan:
        """Read the plan below `root`. Never raises for bad content: each fault is a line of `problems`."""
        problems: list[str] = []
        rows: list[Row] = []
        index = _toml(root / PLAN, root, problems)
        listed = index.get("files")
        if not isinstance(listed, list) or not listed or set(index) != {"files"}:
            problems.append(f"{PLAN}: needs the one key `files`, a list of paths beside it")
            listed = []
        folder = (root / PLAN).parent
        for path in sorted((folder / "testplan").glob("*.toml")):
            if str(path.relative_to(folder)) not in listed:
                problems.append(f"{path.relative_to(root)}: not listed in {PLAN}")
        problems += [f"{PLAN}: {name} is listed twice" for name in {*listed} if listed.count(name) > 1]
        for name in dict.fromkeys(listed):
            rows += _rows(folder / name, root, problems)
        for identifier, times in Counter(row.id for row in rows).items():
            if times > 1:
                problems.append(f"row {identifier}: stands {times} times in the plan")
        allowances = _allowances(root, rows, problems)
        return cls(tuple(rows), tuple(allowances), tuple(problems))


def _toml(path: Path, root: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        problems.append(f"{path.relative_to(root)}: no such file")
    except tomllib.TOMLDecodeError as error:
        problems.append(f"{path.relative_to(root)}: {error}")
    return {}


def _rows(path: Path, root: Path, problems: list[str]) -> list[Row]:
    rows = []
    for number, entry in enumerate(_toml(path, root, problems).get("row", []), 1):
        where = f"{path.relative_to(root)}: row {entry.get('id', number)}"
        wrong = [key for key in TEXTS if not isinstance(entry.get(key), str) or not entry[key].strip()]
        wrong += [key for key in LISTS if not _strings(entry.get(key, []))]
        unknown = sorted(set(entry) - {*TEXTS, *LISTS})
        if wrong or unknown:
            problems.extend(f"{where}: `{key}` is missing, empty or of the wrong type" for key in wrong)
            problems.extend(f"{where}: unknown key `{key}`; known: {', '.join((*TEXTS, *LISTS))}" for key in unknown)
            continue
        if entry["stage"] not in STAGES:
            problems.append(f"{where}: stage {entry['stage']!r} is none of {', '.join(STAGES)}")
        if not entry["id"].startswith(path.stem + "."):
            problems.append(f"{where}: an id in this file begins with `{path.stem}.`")
        if not entry.get("tests"):
            problems.append(f"{where}: names no test")
        tests = entry.get("tests", [])
        problems.extend(f"{where}: {test}: write it without parameters" for test in tests if "[" in test)
        texts = {key: entry[key] for key in TEXTS}
        rows.append(Row(path.stem, **texts, tests=tuple(tests), cover=tuple(entry.get("cover", []))))
    return rows


def _allowances(root: Path, rows: Sequence[Row], problems: list[str]) -> list[Allowance]:
    allowances = []
    keys = {"rows", "kind", "needs", "reason"}
    for number, entry in enumerate(_toml(root / UNPROVEN, root, problems).get("unproven", []), 1):
        where = f"{UNPROVEN}: entry {number}"
        texts = [entry.get(key) for key in ("kind", "needs", "reason")]
        good = all(isinstance(text, str) and text.strip() for text in texts)
        if set(entry) != keys or not _strings(entry["rows"]) or not good:
            problems.append(f"{where}: needs rows (a list), kind, needs and reason, and nothing else")
            continue
        if entry["kind"] not in KINDS:
            problems.append(f"{where}: kind {entry['kind']!r} is none of: {', '.join(KINDS)}")
        for glob in entry["rows"]:
            if not any(_pattern(glob).fullmatch(row.id) for row in rows):
                problems.append(f"{where}: {glob} names no row of the plan")
        allowances.append(Allowance(tuple(entry["rows"]), entry["kind"], entry["needs"], entry["reason"]))
    return allowances


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _pattern(glob: str) -> re.Pattern[str]:
    """A name in which only `*` is special: bins are named `length[60]`, so shell patterns would misread them."""
    return re.compile(".*".join(map(re.escape, glob.split("*"))), re.DOTALL)


def cocotb_tests(root: Path) -> set[str]:
    """Ids `tb/<block>/bench_<x>.py::<name>` of all cocotb and pyuvm tests, read from the source, not imported."""
    found = set()
    for path in sorted(root.glob("tb/*/bench_*.py")):
        for node in ast.parse(path.read_text(), str(path)).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for decorator in node.decorator_list:
                    if (name := _test_name(decorator, node.name)) is not None:
                        found.add(f"{path.relative_to(root)}::{name}")
    return found


def _test_name(decorator: ast.expr, default: str) -> str | None:
    """The name of a test with this decorator (`@cocotb.test`, `@pyuvm.test()`, `@cocotb.test(name=...)`), or None."""
    call = decorator if isinstance(decorator, ast.Call) else None
    parts = ast.unparse(call.func if call else decorator).split(".")
    if parts[-1] not in ("test", "parametrize") or parts[0] not in ("cocotb", "pyuvm", "test", "parametrize"):
        return None
    for keyword in call.keywords if call and parts[-1] == "test" else ():
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return keyword.value.value
    return default


# ---- what a session ran ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """How one test ended: `passed`, `failed`, `skipped`, `regress` (left for make regress) or `not run`; and why."""

    status: str
    message: str = ""


@dataclass(frozen=True)
class Simulation:
    """One run of a bench: which pytest test launched it, the outcome of each cocotb test, the hits of each bin."""

    nodeid: str
    bench: str
    tests: Mapping[str, Outcome]
    coverage: Mapping[str, int]


@dataclass(frozen=True)
class Ran:
    """What a session collected and ran. Node ids have their parameters."""

    items: Mapping[str, Outcome]
    kept: frozenset[str] = frozenset()
    regress: frozenset[str] = frozenset()
    narrowed: frozenset[str] = frozenset()
    simulations: tuple[Simulation, ...] = ()

    @classmethod
    def read(cls, folder: Path, items: Mapping[str, Outcome]) -> Ran:
        """Join what all processes of a session wrote into `folder`."""
        files = [json.loads(path.read_text()) for path in folder.glob("collection-*.json")]
        kept, regress, narrowed = (
            frozenset(nodeid for file in files for nodeid in file[key]) for key in ("kept", "regress", "narrowed")
        )
        simulations = []
        for path in sorted(folder.glob("run-*.json")):
            run = json.loads(path.read_text())
            tests = {case["name"]: Outcome(case["status"], case["message"]) for case in run["tests"]}
            simulations.append(Simulation(run["nodeid"], run["bench"], tests, run["coverage"]))
        return cls(dict(items), kept, regress, narrowed, tuple(simulations))

    @cached_property
    def collected(self) -> frozenset[str]:
        """Ids without parameters of all tests that pytest saw, those left out included."""
        return frozenset(map(_base, self.kept | self.regress | self.narrowed | self.items.keys()))

    @cached_property
    def by_test(self) -> Mapping[str, tuple[tuple[str, Outcome], ...]]:
        """Id without parameters -> the node ids that were to run, and how each ended."""
        found: dict[str, list[tuple[str, Outcome]]] = defaultdict(list)
        missed = Outcome("not run", "it was collected but not run")
        for nodeid in sorted(self.kept | self.items.keys()):
            found[_base(nodeid)].append((nodeid, self.items.get(nodeid, missed)))
        return {test: tuple(instances) for test, instances in found.items()}

    @cached_property
    def bins(self) -> Mapping[str, int]:
        """Hits of each cover bin, added up over all runs."""
        hits: Counter[str] = Counter()
        for simulation in self.simulations:
            for name, count in simulation.coverage.items():
                hits[name] += count
        return hits


def _base(nodeid: str) -> str:
    return nodeid.split("[")[0]


@dataclass(frozen=True)
class Scope:
    """The blocks whose tests a session ran whole; None stands for everything."""

    blocks: frozenset[str] | None

    def has(self, row: Row) -> bool:
        """Whether all tests of a row were to run in this session."""
        return self.blocks is None or (bool(row.tests) and all(map(self.has_test, row.tests)))

    def has_test(self, test: str) -> bool:
        """Whether a test (an id or a path that begins `tests/<block>/` or `tb/<block>/`) was to run in this session."""
        return self.blocks is None or Path(test).parts[1] in self.blocks


EVERYTHING = Scope(None)
NOTHING = Scope(frozenset())


# ---- the verdict ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowVerdict:
    """A row's status (one of STATUSES), the reasons where it isn't proven, and remarks."""

    row: Row
    status: str
    reasons: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass
class Verdict:
    """What a session says about the plan. `violations` make the session fail.

    `partial` are the ids of rows outside the scope of which some tests passed and others were not selected.
    """

    scope: Scope
    strict: bool
    rows: list[RowVerdict] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain data, for JSON."""
        rows = [
            {"id": v.row.id, "stage": v.row.stage, "status": v.status, "reasons": [*v.reasons], "remarks": [*v.remarks]}
            for v in self.rows
        ]
        return {"rows": rows, "partial": self.partial, "violations": self.violations, "notes": self.notes}

    def lines(self) -> list[str]:
        """The report: counts by block and stage, then each row that is not proven, with its reason."""
        counts = Counter((v.row.block, v.row.stage, v.status) for v in self.rows)
        groups = sorted({(block, stage) for block, stage, _ in counts})
        numbers = [[counts[block, stage, status] for status in STATUSES] for block, stage in groups]
        body = [
            [block, stage, str(sum(row)), *(str(number or "-") for number in row)]
            for (block, stage), row in zip(groups, numbers, strict=True)
        ]
        lines = table(["block", "stage", "rows", *STATUSES], body) if body else []
        total = Counter(v.status for v in self.rows)
        said = ", ".join(f"{total[status]} {status}" for status in STATUSES if total[status] or status == "unproven")
        if self.rows or self.scope != NOTHING:
            lines += [f"{_many(len(self.rows), 'row')}: {said}"]
        if self.partial:
            lines += [f"not judged, as not all of their tests were selected: {_many(len(self.partial), 'row')}"]
        for status in ("unproven", "failed", "not run"):
            chosen = [v for v in self.rows if v.status == status]
            if chosen:
                lines += ["", f"{status}: {_many(len(chosen), 'row')}"]
                lines += [f"  {v.row.id}: {'; '.join(v.reasons)}" for v in chosen]
        remarks = [f"  {v.row.id}: {remark}" for v in self.rows for remark in v.remarks]
        if remarks:
            lines += ["", "remarks", *remarks]
        return [*lines, *([""] if lines else []), *self.notes] if self.notes else lines


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a plain table: columns as wide as their widest cell, numbers to the right."""
    rows = [list(head), *map(list, body)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    right = [all(re.fullmatch(r"[\d-]*", row[column]) for row in rows[1:]) for column in range(len(head))]
    aligned = [
        [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ]
        for row in rows
    ]
    lines = ["  ".join(cells).rstrip() for cells in aligned]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


def judge(root: Path, ran: Ran, scope: Scope, *, strict: bool) -> Verdict:
    """Hold what a session ran against the plan below `root`.

    Within `scope`, the part of the plan that ran whole, everything is checked; outside it only the rows that a test of
    this session belongs to, and those only for failures and for skips without permission; the tests of such a row that
    were not selected say nothing, not even whether they exist. With `strict`, no row may be unproven.
    """
    plan = Plan.load(root)
    benches = _Benches(root, ran)
    verdict = Verdict(scope, strict, violations=list(plan.problems))
    ran_tests = set(ran.by_test) | benches.ran
    for row in plan.rows:
        inside = scope.has(row)
        if inside:
            verdict.violations += [
                f"row {row.id}: no such test: {test}"
                for test in row.tests
                if test not in ran.collected and test not in benches.known
            ]
        elif not ran_tests.intersection(row.tests):
            continue
        outcome = _row_verdict(row, ran, benches, inside)
        if not inside and outcome.status == "not run":
            verdict.partial.append(row.id)
            continue
        verdict.rows.append(outcome)
        if outcome.status == "unproven":
            verdict.violations += _not_allowed(outcome, plan, strict)
        elif inside and outcome.status == "not run":
            verdict.violations += [f"row {row.id}: {reason}" for reason in outcome.reasons if ABSENT not in reason]
        elif inside and outcome.status == "proven":
            verdict.violations += _uncovered(row, ran)
    named = {test for row in plan.rows for test in row.tests}
    loose = sorted((ran.collected | benches.known) - named)
    verdict.violations += [f"{test}: belongs to no row of the test plan" for test in loose if scope.has_test(test)]
    if early := [test for test in loose if test in ran_tests and not scope.has_test(test)]:
        shown = ", ".join(early[:3]) + (", ..." if len(early) > 3 else "")
        verdict.notes.append(f"{_many(len(early), 'test')} in no row of the test plan yet: {shown}")
    if scope.blocks is None:
        claims = [_pattern(glob) for row in plan.rows for glob in row.cover]
        free = {name: hits for name, hits in ran.bins.items() if not any(claim.fullmatch(name) for claim in claims)}
        empty = sorted(name for name, hits in free.items() if not hits)
        verdict.violations += [f"cover bin {name}: never hit, and no row names it" for name in empty]
    else:
        whole = f"block {', '.join(sorted(scope.blocks))}" if scope.blocks else "no block was run whole"
        verdict.notes.append(
            f"only a part of the test plan was checked ({whole}); rows without tests, tests without rows and cover "
            "bins are checked where a whole block, or everything, runs"
        )
    return verdict


class _Benches:
    """The cocotb tests: which exist, which ran, and who launches them."""

    def __init__(self, root: Path, ran: Ran) -> None:
        self.root = root
        self.simulations: dict[str, list[tuple[str, Outcome]]] = defaultdict(list)
        for simulation in ran.simulations:
            for name, outcome in simulation.tests.items():
                # A parametrised cocotb test is called `name/option=value`.
                self.simulations[f"{simulation.bench}::{name.split('/')[0]}"].append((simulation.nodeid, outcome))
        self.ran = set(self.simulations)
        self.known = cocotb_tests(root) | self.ran
        self._sources = {
            str(path.relative_to(root)): path.read_text() for path in sorted(root.glob("tests/**/test_*.py"))
        }

    def launchers(self, test: str, ran: Ran) -> set[str]:
        """Ids without parameters of the pytest tests that launch this cocotb test, as far as can be told.

        Those that did launch it; where none did, all tests of the files that name its bench.
        """
        seen = {_base(nodeid) for nodeid, _ in self.simulations.get(test, [])}
        if seen:
            return seen
        bench = Path(test.split("::")[0])
        module = ".".join(bench.with_suffix("").parts)
        usual = f"tests/{bench.parent.name}/{bench.name.replace('bench_', 'test_', 1)}"
        files = {file for file, text in self._sources.items() if file == usual or module in text}
        return {known for known in ran.collected if known.split("::")[0] in files}


def _row_verdict(row: Row, ran: Ran, benches: _Benches, inside: bool) -> RowVerdict:
    by_status: dict[str, list[str]] = defaultdict(list)
    remarks: list[str] = []
    for test in row.tests:
        found = _cocotb_outcomes(test, ran, benches) if test in benches.known else _pytest_outcomes(test, ran)
        passed = any(outcome.status == "passed" for outcome in found)
        for outcome in found:
            if outcome.status == "skipped" and passed and outcome.message.startswith(CAPABILITY):
                remarks.append(f"not shown everywhere: {outcome.message}")
            elif outcome.status in ("failed", "not run"):
                by_status[outcome.status].append(f"{test}: {outcome.message}")
            else:
                by_status[outcome.status].append(outcome.message)
    remarks = list(dict.fromkeys(remarks))
    # Outside the scope, a test that this session didn't select says nothing about the row.
    order = (("failed", "failed"), ("not run", "not run"), ("skipped", "unproven"))
    for status, name in order if inside else (order[0], order[2]):
        if by_status[status]:
            return RowVerdict(row, name, tuple(dict.fromkeys(by_status[status])), tuple(remarks))
    if by_status["passed"]:
        missed = tuple(by_status["not run"])
        return RowVerdict(row, "not run" if missed else "proven", missed, tuple(remarks))
    return RowVerdict(row, "regress" if by_status["regress"] else "not run", (), tuple(remarks))


def _pytest_outcomes(test: str, ran: Ran) -> list[Outcome]:
    instances = [outcome for _, outcome in ran.by_test.get(test, ())]
    if instances:
        return instances
    if any(_base(nodeid) == test for nodeid in ran.regress):
        return [Outcome("regress")]
    return [Outcome("not run", "it was not selected" if test in ran.collected else ABSENT)]


def _cocotb_outcomes(test: str, ran: Ran, benches: _Benches) -> list[Outcome]:
    """How a cocotb test ended in each simulation; a launch that didn't get that far counts as its launcher does."""
    simulations = benches.simulations.get(test, [])
    outcomes = [outcome for _, outcome in simulations]
    got_there = {nodeid for nodeid, _ in simulations}
    launchers = benches.launchers(test, ran)
    for launcher in sorted(launchers):
        for nodeid, outcome in ran.by_test.get(launcher, ()):
            if nodeid not in got_there and outcome.status in ("failed", "skipped"):
                said = f"its launcher {nodeid} failed" if outcome.status == "failed" else outcome.message
                outcomes.append(Outcome(outcome.status, said))
    if outcomes:
        return outcomes
    if any(_base(nodeid) in launchers for nodeid in ran.regress):
        return [Outcome("regress")]
    return [Outcome("not run", "no pytest test ran it")]


def _not_allowed(verdict: RowVerdict, plan: Plan, strict: bool) -> list[str]:
    row = verdict.row.id
    if strict:
        return [f"row {row}: unproven, and STRICT=1 allows none: {reason}" for reason in verdict.reasons]
    return [
        f"row {row}: unproven, and {UNPROVEN} doesn't allow it: {reason}"
        for reason in verdict.reasons
        if not any(allowance.covers(row, reason) for allowance in plan.allowances)
    ]


def _uncovered(row: Row, ran: Ran) -> list[str]:
    problems = []
    for glob in row.cover:
        hits = {name: count for name, count in ran.bins.items() if _pattern(glob).fullmatch(name)}
        if not hits:
            problems.append(f"row {row.id}: no bench defines a cover bin {glob}")
        problems += [f"row {row.id}: cover bin {name} was never hit" for name in sorted(hits) if not hits[name]]
    return problems


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Print the plan, or the part of the named blocks; returns the exit code."""
    plan = Plan.load(root)
    rows = [row for row in plan.rows if not arguments or row.block in arguments]
    body = [[row.id, row.stage, str(len(row.tests)), str(len(row.cover)), row.clause, row.feature] for row in rows]
    print("\n".join(table(["row", "stage", "tests", "bins", "clause", "feature"], body)))
    by_stage = Counter(row.stage for row in rows)
    print(f"\n{_many(len(rows), 'row')}: " + ", ".join(f"{by_stage[stage]} {stage}" for stage in STAGES))
    for problem in plan.problems:
        print(problem, file=sys.stderr)
    return 2 if plan.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
