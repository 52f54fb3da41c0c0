"""What made a result: versions of Nicloop, of the simulator and of Python, and the commit."""

from __future__ import annotations

import platform
import subprocess
import tomllib
from typing import Any

from tb import toolchain
from tb.toolchain import ROOT, ToolError

__all__ = ["versions"]


def _git(*arguments: str) -> str | None:
    """What git says in the repository; None: there is no git, or no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _simulator(sim: str) -> str:
    try:
        if sim == "icarus":
            toolchain.icarus()
            found = next((item.version for item in toolchain.findings() if item.tool == "iverilog"), None)
            return f"Icarus Verilog {found or 'of unknown version'}"
        return f"Verilator {toolchain.verilator().version}"
    except ToolError:
        return f"{sim}, not installed here"


def versions(sim: str | None) -> dict[str, Any]:
    """nicloop, python, commit (None: unknown), dirty (do files differ from it), simulator (None: none took part)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return {
        "nicloop": project["version"],
        "commit": _git("rev-parse", "HEAD"),
        "dirty": None if changed is None else bool(changed),
        "simulator": _simulator(sim) if sim else None,
        "python": platform.python_version(),
    }
