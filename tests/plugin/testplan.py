"""Pytest plugin: collects what a session ran and holds it against the test plan (`tb.testplan`).

Every process of a session (there are several under pytest-xdist) writes what it learns as JSON into one folder under
`sim_build/results`; the process that the user started reads them all at the end, prints the table, and makes the
session fail where the plan is violated. Cocotb tests become test cases of the JUnit file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest

from tb import testplan

__all__ = ["Recorder", "recorder"]

KEPT_SESSIONS = 20
"""Folders of earlier sessions that stay."""


class CocotbOutcome(Protocol):
    """What `tb.build.TestOutcome` says of a cocotb test."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def sim_time_ns(self) -> float: ...


class Recorder:
    """Writes one process's findings into the session's folder."""

    def __init__(self, folder: Path, process: str) -> None:
        self.folder = folder
        self.process = process
        self._number = count()
        folder.mkdir(parents=True, exist_ok=True)

    def record(
        self, nodeid: str, bench: str, sim: str, tests: Sequence[CocotbOutcome], coverage: Mapping[str, int]
    ) -> None:
        """Note one simulation: the pytest test that launched it, its bench, its cocotb tests and its coverage bins."""
        run = {
            "nodeid": nodeid,
            "bench": bench.replace(".", "/") + ".py",
            "sim": sim,
            "tests": [
                {"name": t.name, "status": t.status, "message": t.message, "sim_time_ns": t.sim_time_ns} for t in tests
            ],
            "coverage": dict(coverage),
        }
        self._write(f"run-{self.process}-{next(self._number)}.json", run)

    def collected(self, kept: Sequence[str], regress: Sequence[str], narrowed: Sequence[str]) -> None:
        """Note which tests this process collected, and which were left out as regress tests or for another reason."""
        found = {"kept": list(kept), "regress": list(regress), "narrowed": list(narrowed)}
        self._write(f"collection-{self.process}.json", found)

    def _write(self, name: str, content: Any) -> None:
        path = self.folder / name
        path.with_suffix(".part").write_text(json.dumps(content))
        path.with_suffix(".part").rename(path)


class Session:
    """The state of this process; the outcomes are complete in the process that the user started."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.root = config.rootpath
        given = getattr(config, "workerinput", {}).get("nicloop_session")
        self.worker = given is not None
        results = self.root / "sim_build" / "results"
        folder = Path(given) if given else results / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        self.recorder = Recorder(folder, os.environ.get("PYTEST_XDIST_WORKER", "main"))
        if not self.worker:
            for old in sorted(path for path in results.iterdir() if path.is_dir())[:-KEPT_SESSIONS]:
                shutil.rmtree(old, ignore_errors=True)
        self.items: dict[str, testplan.Outcome] = {}
        self.regress: list[str] = []
        self.narrowed: list[str] = []
        self.collection_failed = False
        self.verdict: testplan.Verdict | None = None
        self.unchecked = ""

    # What pytest tells, in every process -----------------------------------------------------------------------------

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        for item in items:
            long = item.get_closest_marker("regress") is not None and not self.config.getoption("regress", False)
            (self.regress if long else self.narrowed).append(item.nodeid)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items or self.regress or self.narrowed:
            self.recorder.collected([item.nodeid for item in session.items], self.regress, self.narrowed)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # With xdist, workers that disagree about the tests are reported here; the exit code is that of a failed test.
        self.collection_failed |= report.failed

    # What only the first process does --------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["nicloop_session"] = str(self.recorder.folder)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        known = self.items.get(report.nodeid)
        if report.failed:
            new = testplan.Outcome("failed", f"{report.when}: {str(report.longrepr).strip().splitlines()[-1]}")
        elif hasattr(report, "wasxfail"):
            new = testplan.Outcome("skipped", f"expected to fail: {report.wasxfail}")
        elif report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            new = testplan.Outcome("skipped", reason.removeprefix("Skipped: "))
        elif report.when == "call":
            new = testplan.Outcome("passed", "")
        else:
            return
        if known is None or new.status == "failed" or known.status == "passed":
            self.items[report.nodeid] = new

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        try:
            if not self.worker and not self.config.option.collectonly:
                self._judge(session)
            yield
        finally:
            if not self.worker:
                self._extend_junit()

    def _judge(self, session: pytest.Session) -> None:
        ran = testplan.Ran.read(self.recorder.folder, self.items)
        self.unchecked = self._why_unchecked(session, ran)
        if self.unchecked:
            return
        strict = os.environ.get("STRICT") == "1"
        self.verdict = testplan.judge(self.root, ran, self._scope(ran), strict=strict)
        (self.recorder.folder / "testplan.json").write_text(json.dumps(self.verdict.as_dict(), indent=1))
        if self.verdict.violations and int(session.exitstatus) == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _why_unchecked(self, session: pytest.Session, ran: testplan.Ran) -> str:
        """Why this session says nothing about the plan, or an empty string. Its exit code is never 0 then."""
        code = int(session.exitstatus)
        stopped = self.collection_failed or bool(session.shouldstop or session.shouldfail)
        if not stopped and code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return ""
        nothing = code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
        if nothing and not stopped and not ran.kept and not ran.items:
            return "no test was selected"
        return "the session did not finish: the test plan was not checked"

    def _scope(self, ran: testplan.Ran) -> testplan.Scope:
        """The part of the plan that this session ran whole: all of it, some blocks, or none."""
        option = self.config.option
        narrowing = ("lf", "sim", "target", "deselect", "ignore", "ignore_glob", "keyword", "markexpr", "stepwise")
        if ran.narrowed or any(getattr(option, name, None) for name in narrowing):
            return testplan.NOTHING
        if self.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            return testplan.EVERYTHING
        blocks: set[str] = set()
        for argument in self.config.args:
            path = (self.config.invocation_params.dir / argument).resolve()
            if path in (self.root / "tests", self.root):
                return testplan.EVERYTHING
            if path.parent != self.root / "tests" or not path.is_dir():
                return testplan.NOTHING
            blocks.add(path.name)
        return testplan.Scope(frozenset(blocks))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unchecked:
            terminalreporter.write_line(self.unchecked)
        if self.verdict is None:
            return
        terminalreporter.section("test plan")
        for line in self.verdict.lines():
            terminalreporter.write_line(line)
        if self.verdict.violations:
            terminalreporter.section("test plan: violations", red=True, bold=True)
            for line in self.verdict.violations:
                terminalreporter.write_line(line, red=True)

    def _extend_junit(self) -> None:
        """Append the cocotb tests to the JUnit file that pytest has just written, a suite a bench."""
        path = self.config.getoption("xmlpath", None)
        if not path or not Path(path).exists():
            return
        tree = ElementTree.parse(path)
        runs = [json.loads(file.read_text()) for file in sorted(self.recorder.folder.glob("run-*.json"))]
        for run in runs:
            cases = run["tests"]
            suite = ElementTree.SubElement(
                tree.getroot(),
                "testsuite",
                name=f"{run['bench']} on {run['sim']}",
                tests=str(len(cases)),
                failures=str(sum(case["status"] == "failed" for case in cases)),
                skipped=str(sum(case["status"] == "skipped" for case in cases)),
                errors="0",
            )
            properties = ElementTree.SubElement(suite, "properties")
            ElementTree.SubElement(properties, "property", name="launched by", value=run["nodeid"])
            for case in cases:
                element = ElementTree.SubElement(
                    suite, "testcase", classname=run["bench"], name=f"{case['name']}[{run['sim']}]", time="0"
                )
                if case["status"] != "passed":
                    kind = "failure" if case["status"] == "failed" else "skipped"
                    message = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]", "?", case["message"])
                    ElementTree.SubElement(element, kind, message=message)
        tree.write(path, encoding="utf-8", xml_declaration=True)


KEY = pytest.StashKey[Session]()


def recorder(config: pytest.Config) -> Recorder:
    """Where the fixture `simulate` notes its runs."""
    return config.stash[KEY].recorder


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    session = Session(config)
    config.stash[KEY] = session
    config.pluginmanager.register(session, "nicloop-testplan")
    if not session.worker and config.option.xmlpath is None:
        config.option.xmlpath = str(config.rootpath / "sim_build" / "junit.xml")
