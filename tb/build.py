"""Builds a design under Verilator or Icarus and runs a bench on it.

A design is described once (:class:`Design`) and built by either simulator. A build is cached by the content of its
sources, parameters, flags and tools: :func:`build` returns at once when nothing changed. Verilator sees only the
top's ports (and what a design names) as public: everything public slows the model several times.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import cocotb_tools.config

from tb import toolchain
from tb.toolchain import ROOT, SIM_BUILD, ToolError

__all__ = [
    "OBSERVERS",
    "Build",
    "BuildError",
    "Design",
    "Run",
    "SimulationFailed",
    "TestOutcome",
    "build",
    "build_native",
    "simulate",
]

MEMORY_LIMIT = int(os.environ.get("NICLOOP_MEMORY_MB", "6144")) << 20
"""Most address space of one step of a build, in bytes: a runaway Verilator ends with a message, not the machine."""
HOST = ROOT / "tb" / "host.cpp"
"""Entry of a verilated model that is loaded into Python."""
BUILD_TIMEOUT_S = 900
KEPT_BUILDS = 8
"""Builds of one design, simulator and flavour that stay on disk."""
KEPT_RUNS = 100
"""Run folders of one design that stay on disk."""
SIMULATORS = ("verilator", "icarus")
FLAVOURS = ("fast", "cover")
OBSERVERS: list[Callable[[Run], None]] = []
"""Called with every run, whoever started it: the tests note here what the test plan needs to know."""


class BuildError(Exception):
    """The sources don't compile: the message has a line ``file:line: text`` for each error."""


class SimulationFailed(AssertionError):
    """A test in the simulator failed, or the simulation ended without a result."""


@dataclass(frozen=True)
class Design:
    """What is built.

    name: ``block/module``, the folder under ``sim_build``. top: the top module, in the last of ``sources``.
    sources: Verilog files. parameters: of the top. includes: folders of ``.vh`` files. public: ``module.signal``, seen
    by the bench beside the top's ports. sva: bound assertions, native: C++ sources (both for Verilator only).
    """

    name: str
    top: str
    sources: tuple[Path, ...]
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    includes: tuple[Path, ...] = (ROOT / "rtl" / "lib",)
    public: tuple[str, ...] = ()
    sva: tuple[Path, ...] = ()
    native: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Build:
    """A design that has been built: run ``command`` in any folder."""

    design: Design
    sim: str
    flavour: str
    waves: bool
    folder: Path
    command: tuple[str, ...]


@dataclass(frozen=True)
class TestOutcome:
    """One cocotb test: status is ``passed``, ``failed`` or ``skipped``."""

    __test__ = False  # pytest collects classes by their name

    name: str
    status: str
    message: str
    sim_time_ns: float


@dataclass(frozen=True)
class Run:
    """What a simulation did. folder: log, results.xml, coverage.json, waves."""

    build: Build
    bench: str
    seed: int
    folder: Path
    tests: tuple[TestOutcome, ...]
    coverage: dict[str, int]
    exit_code: int
    reproduce: str

    @property
    def log(self) -> Path:
        return self.folder / "sim.log"

    def check(self) -> Run:
        """Returns self. SimulationFailed: a test failed, none ran, or the simulator didn't end well."""
        failed = [test for test in self.tests if test.status == "failed"]
        if self.tests and not failed and self.exit_code == 0:
            return self
        lines = [f"{test.name}: {test.message}" for test in failed]
        if not lines:
            what = "no test ran" if not self.tests else "the simulator failed after its tests"
            lines = [f"{self.bench}: {what} (exit code {self.exit_code})", *_tail(self.log)]
        lines += [f"log: {_short(self.log)}", f"reproduce: {self.reproduce}"]
        raise SimulationFailed("\n".join(lines))


# ---------------------------------------------------------------------------------------------------------- build


def build(design: Design, sim: str = "verilator", flavour: str = "fast", waves: bool = False) -> Build:
    """Builds a design, or finds its build. BuildError: the sources don't compile. ToolError: a tool is missing."""
    if sim not in SIMULATORS:
        raise ValueError(f"simulator {sim!r}: one of {', '.join(SIMULATORS)}")
    if flavour not in FLAVOURS:
        raise ValueError(f"flavour {flavour!r}: one of {', '.join(FLAVOURS)}")
    if sim == "icarus" and (design.native or flavour == "cover"):
        raise ValueError(f"{design.name}: native sources and coverage need Verilator")
    steps = _Verilate(design, flavour, waves) if sim == "verilator" else _Icarus(design, waves)
    folder = _made(design, f"{sim}-{flavour}{'-waves' if waves else ''}", steps)
    return Build(design, sim, flavour, waves, folder, steps.command(folder))


def build_native(design: Design) -> Path:
    """Builds a design with the harness as one shared library, or finds it; ``native`` has the sources of both.

    It has no VPI and nothing public, can be saved, and can write waves. Raises as `build`.
    """
    return _made(design, "native", _VerilateNative(design)) / "obj" / "sim.so"


def _made(design: Design, kind: str, steps: _Verilate | _Icarus) -> Path:
    """The folder of a build, which is made where it isn't there."""
    missing = [path for path in (*design.sources, *design.sva, *design.native) if not path.exists()]
    if missing:
        raise BuildError("\n".join(f"{_short(path)}:1: no such file" for path in missing))
    shelf = SIM_BUILD / "builds" / design.name.replace("/", "__")
    folder = shelf / f"{kind}-{_key(design, steps.signature())}"
    shelf.mkdir(parents=True, exist_ok=True)
    with _lock(shelf / f"{folder.name}.lock"):
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            steps.make(folder)
            (folder / "done").touch()
            _prune(shelf, kind)
        os.utime(folder / "done")
    return folder


def _key(design: Design, signature: str) -> str:
    """Content of everything that a build depends on, as 16 hex digits."""
    digest = hashlib.sha256(signature.encode())
    digest.update(Path(__file__).read_bytes() + HOST.read_bytes())  # how it is built is a part of what is built
    digest.update(repr((design.top, sorted(design.parameters.items()), design.public)).encode())
    headers = [
        path for folder in design.includes for path in sorted(folder.iterdir()) if path.suffix in (".vh", ".svh")
    ]
    native = [path for source in design.native for path in sorted(source.parent.glob("*.hpp"))]
    for path in (*design.sources, *design.sva, *design.native, *headers, *native):
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _prune(shelf: Path, kind: str) -> None:
    """Removes the oldest builds of a kind, so that a day of edits doesn't fill the disk."""
    done = sorted(shelf.glob(f"{kind}-????????????????/done"), key=lambda path: path.stat().st_mtime)
    for stamp in done[:-KEPT_BUILDS]:
        shutil.rmtree(stamp.parent, ignore_errors=True)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def _run_step(command: Sequence[str], log: Path, environment: Mapping[str, str], limit: bool = True) -> str:
    """Runs one step of a build; returns its output. BuildError: it failed."""
    with log.open("a") as handle:
        handle.write("$ " + " ".join(map(str, command)) + "\n")
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=BUILD_TIMEOUT_S,
            env={**os.environ, **environment},
            preexec_fn=_limit_memory if limit else None,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"{Path(command[0]).name} took more than {BUILD_TIMEOUT_S} s: see {_short(log)}") from None
    with log.open("a") as handle:
        handle.write(done.stdout)
    if done.returncode != 0:
        raise BuildError(_explain(done.stdout, log, command))
    return done.stdout


_VERILATOR_MESSAGE = re.compile(r"^%(Error|Warning)(?:-(\w+))?: (\S+?):(\d+)(?::\d+)?: (.*)$")
_COMPILER_MESSAGE = re.compile(r"^(\S+?):(\d+)(?::\d+)?: (?:fatal )?(?:error|syntax error|sorry):? ?(.*)$")


def _explain(output: str, log: Path, command: Sequence[str]) -> str:
    """Compile errors as ``file:line: message``, or the end of the output where none can be recognised."""
    lines = []
    for line in output.splitlines():
        if match := _VERILATOR_MESSAGE.match(line):
            kind = f" [{match[2]}]" if match[2] else ""
            lines.append(f"{_short(Path(match[3]))}:{match[4]}: {match[5]}{kind}")
        elif match := _COMPILER_MESSAGE.match(line):
            lines.append(f"{_short(Path(match[1]))}:{match[2]}: {match[3] or 'syntax error'}")
    if not lines:
        if re.search(r"bad_alloc|out of memory|Cannot allocate", output):
            tool = Path(command[0]).name
            lines.append(f"{tool} needs more than {MEMORY_LIMIT >> 20} MB: NICLOOP_MEMORY_MB raises the limit")
        lines += output.strip().splitlines()[-8:]
    return "\n".join([*dict.fromkeys(lines), f"log: {_short(log)}"])


def _short(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(ROOT))
    except ValueError:
        return str(path)


def _tail(path: Path, lines: int = 12) -> list[str]:
    return path.read_text(errors="replace").splitlines()[-lines:] if path.exists() else []


def port_names(source: str, module: str) -> list[str]:
    """Names of a module's ports, from its ANSI header. BuildError: the module isn't in the text."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    match = re.search(rf"\bmodule\s+{module}\b", text)
    if match is None:
        raise BuildError(f"module {module} is not in the last source of its design")
    position, depth, start, port_list = match.end(), 0, 0, ""
    while text[position] != ";":
        if text[position] == "(":
            start = position + 1 if depth == 0 else start
            depth += 1
        elif text[position] == ")":
            depth -= 1
            port_list = text[start:position] if depth == 0 else port_list  # the last list is that of the ports
        position += 1
    names = []
    for piece in re.sub(r"\[[^\]]*\]|`\w+", " ", port_list).split(","):
        words = re.findall(r"\w+", piece)
        if words:
            names.append(words[-1])
    return names


class _Verilate:
    """Verilator, then the C++ compiler."""

    def __init__(self, design: Design, flavour: str, waves: bool) -> None:
        self.design = design
        self.tool = toolchain.verilator()
        toolchain.require("g++", "g++")
        toolchain.require("make", "make")
        self.flags = ["-O3", "--no-timing", "--x-assign", "fast", "--x-initial", "unique", "-Wno-fatal"]
        if design.sva:
            self.flags.append("--assert")
        if flavour == "cover":
            # Not --coverage, which covers state machines too: there Verilator 5.48 dies of an internal error.
            self.flags += ["--coverage-line", "--coverage-toggle", "--coverage-expr", "--coverage-user"]
        if waves:
            self.flags += ["--trace-fst" if toolchain.fst_support() else "--trace-vcd", "--trace-structs"]
        # -O1: -O2 takes the compiler twice as long for the largest file of nic_port, and most builds run for seconds.
        self.options = {"OPT_FAST": "-O1", "OPT_GLOBAL": "-O2", "OPT_SLOW": "-O0"}

    def signature(self) -> str:
        return repr((self.tool.version, self.flags, self.options))

    def command(self, folder: Path) -> tuple[str, ...]:
        return (sys.executable, "-P", str(ROOT / "tb" / "host.py"), str(folder / "obj" / "sim.so"))

    def make(self, folder: Path) -> None:
        design = self.design
        public = folder / "public.vlt"
        ports = port_names(design.sources[-1].read_text(), design.top)
        names = [(design.top, port) for port in ports] + [tuple(name.split(".")) for name in design.public]
        rules = [f'public_flat_rw -module "{module}" -var "{signal}"' for module, signal in names]
        public.write_text("`verilator_config\n" + "\n".join(rules) + "\n")
        libs = cocotb_tools.config.libs_dir
        main = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
        self._compile(
            folder,
            ["--vpi", "-CFLAGS", "-Dmain=simulator_main"],
            f"-Wl,-rpath,{libs} -L{libs} -lcocotbvpi_verilator",
            [main, HOST, public],
        )

    def _compile(self, folder: Path, options: list[str], libraries: str, files: list[Path]) -> None:
        """Verilates and compiles ``files`` and the design's own into obj/sim.so."""
        design, log = self.design, folder / "build.log"
        linked = f"-shared -Wl,-Bsymbolic-functions {libraries}"
        if "--trace-fst" in self.flags:
            linked += " -llz4 -lz"
        headers = sorted({source.parent for source in design.native})
        _run_step(
            [
                str(self.tool.command), "--cc", "--exe", "--prefix", "Vtop", "--top-module", design.top,
                "-Mdir", str(folder / "obj"), "-o", "sim.so", "--timescale", "1ns/1ps", *self.flags,
                "-CFLAGS", "-fPIC -fno-semantic-interposition", "-LDFLAGS", linked, *options,
                *(f"-I{path}" for path in design.includes),
                *(f"-G{name}={value}" for name, value in design.parameters.items()),
                *(flag for path in headers for flag in ("-CFLAGS", f"-I{path}")),
                *map(str, (*files, *design.sources, *design.sva, *design.native)),
            ],
            log,
            self.tool.environment(),
        )  # fmt: skip
        cache = toolchain.compiler_cache()
        jobs = os.environ.get("NICLOOP_JOBS", str(min(os.cpu_count() or 1, 4)))
        if not jobs.isdigit() or int(jobs) < 1:
            raise ToolError(f"JOBS={jobs}: a number of processes, 1 or more")
        settings = {
            "CXX": "g++", "LINK": "g++", "AR": "ar", "PYTHON3": sys.executable,
            # The header as it is, not precompiled: a compiler cache's preprocessor finds no precompiled one.
            "VK_PCH_I_FAST": "-include Vtop__pch.h", "VK_PCH_I_SLOW": "-include Vtop__pch.h",
            **self.options, **({"OBJCACHE": cache} if cache else {}),
        }  # fmt: skip
        _run_step(
            [
                "make", "-C", str(folder / "obj"), "-f", "Vtop.mk", f"-j{jobs}",
                *(f"{name}={value}" for name, value in settings.items()),
            ],
            log,
            {**self.tool.environment(), **_compiler_cache_environment()},
            limit=False,  # the compiler cache's server reserves more address space than it uses
        )  # fmt: skip


class _VerilateNative(_Verilate):
    """A model for the harness in C++ alone: no VPI, nothing public; it can be saved and can write waves."""

    def __init__(self, design: Design) -> None:
        super().__init__(design, "fast", True)
        self.flags.append("--savable")

    def signature(self) -> str:
        return "native " + super().signature()

    def make(self, folder: Path) -> None:
        # Several such libraries may be loaded into one Python: none lends its symbols to another.
        hidden = ["-CFLAGS", "-fvisibility=hidden -fno-gnu-unique"]
        self._compile(folder, hidden, "", [])


def _compiler_cache_environment() -> dict[str, str]:
    """Keeps the cache under sim_build, and its server apart from that of another checkout."""
    folder = toolchain.CACHE / "sccache"
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        "SCCACHE_DIR": str(folder),
        "CCACHE_DIR": str(toolchain.CACHE / "ccache"),
        # Direct mode takes verilator.cpp of one design for that of another: their "Vtop.h" differ, their names don't.
        "SCCACHE_DIRECT": "false",
        "CCACHE_NODIRECT": "1",
        "SCCACHE_IDLE_TIMEOUT": "120",
        "SCCACHE_CACHE_SIZE": "2G",
    }
    socket = str(folder / "socket")
    if len(socket) < 100:  # the longest path of a Unix socket is 107 bytes
        environment["SCCACHE_SERVER_UDS"] = socket
    else:
        environment["SCCACHE_SERVER_PORT"] = str(20000 + int(hashlib.sha256(socket.encode()).hexdigest(), 16) % 20000)
    return environment


class _Icarus:
    """Icarus Verilog: 4-state."""

    def __init__(self, design: Design, waves: bool) -> None:
        self.design, self.waves = design, waves
        self.iverilog, self.vvp = toolchain.icarus()

    def signature(self) -> str:
        return repr((self.iverilog, self.waves))

    def command(self, folder: Path) -> tuple[str, ...]:
        return (self.vvp, "-m", cocotb_tools.config.lib_entry("vpi", "icarus"), str(folder / "sim.vvp"))

    def make(self, folder: Path) -> None:
        design = self.design
        (folder / "commands.f").write_text("+timescale+1ns/1ps\n")
        tops, sources = ["-s", design.top], list(map(str, design.sources))
        if self.waves:
            dump = folder / "dump.v"
            dump.write_text(
                "module nicloop_dump;\n"
                f'initial begin $dumpfile("waves.fst"); $dumpvars(0, {design.top}); end\n'
                "endmodule\n"
            )
            tops, sources = [*tops, "-s", "nicloop_dump"], [*sources, str(dump)]
        _run_step(
            [
                self.iverilog, "-g2012", "-o", str(folder / "sim.vvp"), *tops, "-f", str(folder / "commands.f"),
                *(f"-I{path}" for path in design.includes),
                *(f"-P{design.top}.{name}={value}" for name, value in design.parameters.items()),
                *sources,
            ],
            folder / "build.log",
            {},
        )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ run


def simulate(
    design: Design,
    bench: str,
    *,
    sim: str = "verilator",
    flavour: str | None = None,
    waves: bool | None = None,
    seed: int | None = None,
    tests: Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 600,
) -> Run:
    """Builds a design and runs the cocotb tests of a bench on it.

    bench: module path, as ``tb.lib.bench_axis_fifo``. tests: names of its tests, None for all. seed, waves, flavour:
    from ``NICLOOP_SEED`` (else 1), ``NICLOOP_WAVES`` and ``NICLOOP_FLAVOUR`` where they are None.
    Raises BuildError and ToolError; a failed test is in the result (:meth:`Run.check` raises).
    """
    seed = int(os.environ.get("NICLOOP_SEED", "1")) if seed is None else seed
    waves = os.environ.get("NICLOOP_WAVES", "") not in ("", "0") if waves is None else waves
    if flavour is None:
        flavour = os.environ.get("NICLOOP_FLAVOUR", "fast") if sim == "verilator" else "fast"
    made = build(design, sim, flavour, waves)
    label = hashlib.sha256(repr((made.folder.name, tests, sorted((env or {}).items()))).encode()).hexdigest()[:8]
    name = f"{bench.rpartition('.')[2]}-{sim}-{seed}-{label}"
    folder = SIM_BUILD / "runs" / design.name.replace("/", "__") / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "GPI_USERS": ";".join([*_libpython(sim), cocotb_tools.config.pygpi_entry_point()]),
        "PYGPI_PYTHON_BIN": sys.executable,
        "COCOTB_TOPLEVEL": design.top,
        "COCOTB_TEST_MODULES": bench,
        "COCOTB_RESULTS_FILE": str(folder / "results.xml"),
        "COCOTB_RANDOM_SEED": str(seed),
        # Icarus 11 lets an inertial write overtake the clock edge that it follows: there cocotb must hold writes back.
        "COCOTB_TRUST_INERTIAL_WRITES": "1" if sim == "verilator" else "0",
        "TOPLEVEL_LANG": "verilog",
        "NO_COLOR": "1",
        "NICLOOP_RUN_DIR": str(folder),
        "NICLOOP_SEED": str(seed),
        **(env or {}),
    }
    environment.setdefault("COCOTB_LOG_LEVEL", "INFO")
    if tests is not None:
        environment["COCOTB_TEST_FILTER"] = "^.*\\.(" + "|".join(map(re.escape, tests)) + ")$"
    command = [*made.command, *_run_flags(made, seed)]
    with _lock(folder.with_suffix(".lock")):  # the same run may have been asked for twice at once
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        code = _execute(command, folder, environment, timeout_s)
        outcomes = _outcomes(folder / "results.xml")
        coverage_file = folder / "coverage.json"
        coverage = json.loads(coverage_file.read_text()) if coverage_file.exists() else {}
    run = Run(made, bench, seed, folder, outcomes, coverage, code, _reproduce(sim, seed))
    _prune_runs(folder.parent)
    for observe in OBSERVERS:
        observe(run)
    return run


def _prune_runs(shelf: Path) -> None:
    """Removes the oldest runs of a design. Another process may be at the same."""
    ages = []
    for log in shelf.glob("*/sim.log"):
        with suppress(FileNotFoundError):
            ages.append((log.stat().st_mtime, log.parent))
    for _, old in sorted(ages)[:-KEPT_RUNS]:
        shutil.rmtree(old, ignore_errors=True)


def _libpython(sim: str) -> list[str]:
    """The Python library that the simulator has to load: none where the simulator is loaded into Python."""
    return [toolchain.libpython()] if sim == "icarus" else []


def _run_flags(made: Build, seed: int) -> list[str]:
    if made.sim == "icarus":
        return ["-fst"] if made.waves else ["-none"]
    # Registers without a reset start random, from the seed: a design that leans on zeros fails here.
    flags = ["+verilator+rand+reset+2", f"+verilator+seed+{seed % 0x7FFFFFFF or 1}"]
    if made.flavour == "cover":
        flags.append("+verilator+coverage+file+coverage.dat")
    if made.waves:
        flags += ["--trace", "--trace-file", "waves.fst" if toolchain.fst_support() else "waves.vcd"]
    return flags


def _execute(command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout_s: float) -> int:
    """Runs the simulator, its output into sim.log; ends it and its children when it takes too long."""
    with (folder / "sim.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            log.write(f"\nnicloop: ended after {timeout_s:g} s of wall time\n")
            return -signal.SIGALRM
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _outcomes(results: Path) -> tuple[TestOutcome, ...]:
    if not results.exists():
        return ()
    try:
        tree = ElementTree.parse(results)
    except ElementTree.ParseError:  # the simulator died while it wrote
        return ()
    outcomes = []
    for case in tree.iter("testcase"):
        status, message = "passed", ""
        for tag in ("failure", "error"):
            if (node := case.find(tag)) is not None:
                status = "failed"
                text = node.get("message") or (node.text or "").strip() or node.get("error_msg") or tag
                message = text if node.get("error_type") is None else f"{node.get('error_type')}: {text}"
        if case.find("skipped") is not None:
            status = "skipped"
        times = [node.get("value") for node in case.iter("property") if node.get("name") == "sim_time_duration"]
        outcomes.append(TestOutcome(case.get("name", ""), status, message, float((times or ["0"])[0] or 0)))
    return tuple(outcomes)


def _reproduce(sim: str, seed: int) -> str:
    """The one command that runs this again with waves."""
    node = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    where = f"make test TEST='{node}'" if node else "make sim"
    return f"{where} SIM={sim} SEED={seed} WAVES=1"
