"""Fixtures and options that all tests share.

Fixtures: `sim` (one run per simulator), `verilator`, `simulate` (builds, runs and checks a bench), `target` (one run
per target), `seed`, `material`, `tshark`. Options: --sim, --target, --seed, --regress. See docs/testing.md.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tb import build
from tests import formal
from tests.plugin import order, skips

pytest_plugins = ["tests.plugin.testplan"]

ROOT = Path(__file__).resolve().parent.parent
SIMULATORS = {"verilator": ("verilator",), "icarus": ("iverilog", "libpython")}
"""The tools that each needs: Icarus loads Python as a shared library, a verilated model is loaded into Python."""
TARGETS = ("model", "native", "cocotb")
FIXED_SEED = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("nicloop")
    group.addoption("--sim", choices=sorted(SIMULATORS), help="run only on this simulator (default: on each)")
    group.addoption("--target", choices=TARGETS, help="run scenarios only on this target (default: on each)")
    group.addoption(
        "--seed", type=int, help=f"seed (default: NICLOOP_SEED, else {FIXED_SEED}, with --regress a fresh one)"
    )
    group.addoption("--regress", action="store_true", help="also run the tests marked regress, with a fresh seed")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes are named by their number: what they hold may differ from one process to the next (the time in a gzip
    header), and pytest-xdist wants the same names in all of them."""
    return f"{len(val)} bytes" if isinstance(val, (bytes, bytearray)) else None


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "regress: a long test or a sweep that only `make regress` runs")
    if config.option.seed is None:
        fresh = random.SystemRandom().randrange(1, 2**31) if config.option.regress else FIXED_SEED
        config.option.seed = int(os.environ.get("NICLOOP_SEED") or fresh)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So a shell starts its background jobs; tests of Ctrl-C would wait for ever.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "hypothesis" in sys.modules or config.pluginmanager.has_plugin("hypothesispytest"):
        _configure_hypothesis(config)


def _configure_hypothesis(config: pytest.Config) -> None:
    """One seed for everything; no example database, so that a run depends on its seed alone."""
    import hypothesis

    hypothesis.settings.register_profile("nicloop", database=None, deadline=None, print_blob=False)
    hypothesis.settings.load_profile("nicloop")
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(config.option.seed)


def pytest_report_header(config: pytest.Config) -> str:
    return f"nicloop: seed {config.option.seed} (the same run again: --seed {config.option.seed})"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.write_line(f"seed {config.option.seed}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = {"sim": config.option.sim, "target": config.option.target}
    kept, dropped = [], []
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        other = any(value and parameters.get(name, value) != value for name, value in wanted.items())
        long = item.get_closest_marker("regress") is not None and not config.option.regress
        (dropped if other or long else kept).append(item)
    if dropped:
        items[:] = kept
        config.hook.pytest_deselected(items=dropped)
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = order.deal(items, workers, lambda item: item.path, _runs_a_tool)


def _runs_a_tool(item: pytest.Item) -> bool:
    return not order.TOOLS.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of this session."""
    return int(request.config.option.seed)


@pytest.fixture(params=list(SIMULATORS))
def sim(request: pytest.FixtureRequest) -> str:
    """The name of the simulator: the test runs once for each, and is skipped where one is not installed."""
    name = str(request.param)
    for tool in SIMULATORS[name]:
        if not skips.find_tool(tool):
            skips.missing_tool(tool)
    return name


@pytest.fixture
def verilator() -> str:
    """For a test that builds a verilated model itself: skipped where the tool is not installed."""
    if not skips.find_tool("verilator"):
        skips.missing_tool("verilator")
    return "verilator"


@pytest.fixture(params=list(TARGETS))
def target(request: pytest.FixtureRequest) -> str:
    """The name of the target: the test runs once for each."""
    return str(request.param)


@pytest.fixture(autouse=True)
def _noted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Notes for the test plan every simulation of a bench of tb/, through a target or `nicloop` as well.

    Benches under tests/ are there to try the tools, and some are made to fail: they are no part of the plan.
    """
    # Imported late: pytest rewrites the plugin's asserts first.
    from tests.plugin.testplan import recorder

    def note(run: build.Run) -> None:
        if run.bench.startswith("tb."):
            recorder(request.config).record(request.node.nodeid, run.bench, run.build.sim, run.tests, run.coverage)

    build.OBSERVERS.append(note)
    yield
    build.OBSERVERS.remove(note)


@pytest.fixture
def simulate(request: pytest.FixtureRequest, seed: int) -> Callable[..., build.Run]:
    """`tb.build.simulate` with the session's seed and the test's `sim`; the run is checked.

    Call it as `simulate(design, "tb.lib.bench_x")`; keywords as in `tb.build.simulate`. Returns the `Run`. Raises
    `SimulationFailed` when a cocotb test failed.
    """
    # A test that asks for `sim` and forgets to pass it on would otherwise run twice under Verilator.
    simulator = request.getfixturevalue("sim" if "sim" in request.fixturenames else "verilator")

    def run(design: build.Design, bench: str, **options: Any) -> build.Run:
        return build.simulate(design, bench, **{"sim": simulator, "seed": seed, **options}).check()

    return run


@pytest.fixture(scope="session")
def material() -> Path:
    """The folder of published vectors and captures."""
    folder = skips.find_material(ROOT)
    if folder is None:
        skips.missing_material("NICLOOP_MATERIAL")
    return folder


@pytest.fixture(scope="module")
def solver() -> None:
    """Yosys and the solver of the proofs."""
    formal.prepare()


@pytest.fixture(scope="session")
def tshark() -> Iterator[str]:
    """The path of tshark."""
    path = shutil.which("tshark")
    if path is None:
        skips.missing_tool("tshark")
    yield path
