"""Memory of a replay: `nicloop replay` of captures of many frames, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import traffic
from tb import cli
from tb.build import SimulationFailed
from tb.toolchain import ROOT, SIM_BUILD

__all__ = ["FRAMES", "KINDS", "run", "write_capture"]

FRAMES = (100_000, 1_000_000)
"""Frames of the captures: what the second needs beyond the first grows with the frames."""

KINDS: dict[str, tuple[str, ...]] = {"replay": (), "replay with outputs": ("records", "out", "report")}
"""By name of a replay: the files that it writes."""

_PIECE = 50_000
_HEADER = np.array([0xA1B2C3D4, 0x0004_0002, 0, 0, 65535, 1], "<u4")
"""Of a pcap file: magic number, version 2.4, time zone, accuracy, snap length, Ethernet."""


def write_capture(path: Path, frames: int) -> None:
    """A pcap file of so many frames of 64 bytes, a microsecond apart."""
    length = traffic.SIZES["64"][0]
    data = traffic.segments(_PIECE * traffic.beats_of("64"))[1][0].reshape(-1, length)
    with path.open("wb") as file:
        file.write(_HEADER.tobytes())
        for first in range(0, frames, len(data)):
            number = np.arange(first, min(first + len(data), frames))
            record = np.empty((len(number), 4), "<u4")
            record[:, 0], record[:, 1] = np.divmod(number, 1_000_000)
            record[:, 2:] = length
            file.write(np.hstack([record.view(np.uint8), data[: len(number)]]).tobytes())


def run(kind: str, frames: int) -> float:
    """Most memory, in MB, that a replay of one of `KINDS` of so many frames needed. SimulationFailed: it did not end
    well."""
    folder = SIM_BUILD / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    capture, log, peak = (folder / f"{frames}.{kind}" for kind in ("pcap", "log", "peak"))
    write_capture(capture, frames)
    outputs = {f"--{output}": folder / f"{frames}.{output}" for output in KINDS[kind]}
    command = [sys.executable, "-m", "bench.memory", str(peak), "replay", str(capture), "--target", "native"]
    command += [str(word) for option in outputs.items() for word in option]
    try:
        with log.open("wb") as file:
            done = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False)
    finally:
        for path in (capture, *outputs.values()):
            path.unlink(missing_ok=True)
    if done.returncode != 0:
        last = log.read_text(errors="replace").strip().splitlines()[-8:]
        raise SimulationFailed("\n".join([f"{kind} of {frames} frames: exit code {done.returncode}", *last]))
    return int(peak.read_text()) / 1024


def _command_and_peak(peak: Path, arguments: Sequence[str]) -> None:
    """The command `nicloop` in this process; ``peak`` then has the most memory that the process needed, in kB.

    Not ``ru_maxrss``, which begins with what the process that started this one had, and counts compilers.
    """
    sys.argv = ["nicloop", *arguments]
    try:
        cli.main()
    finally:
        status = Path("/proc/self/status").read_text()
        peak.write_text(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


if __name__ == "__main__":
    _command_and_peak(Path(sys.argv[1]), sys.argv[2:])
