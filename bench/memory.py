"""Memory of a replay: `nicloop replay` of captures of many frames, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench import traffic
from tb.build import SimulationFailed
from tb.toolchain import ROOT, SIM_BUILD

__all__ = ["FRAMES", "run", "write_capture"]

FRAMES = (100_000, 1_000_000)
"""Frames of the captures: what the second needs beyond the first grows with the frames."""

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


def run(frames: int) -> float:
    """Most memory, in MB, that a replay of so many frames needed. SimulationFailed: it did not end well."""
    folder = SIM_BUILD / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    capture, log = folder / f"{frames}.pcap", folder / f"{frames}.log"
    write_capture(capture, frames)
    command = [sys.executable, "-m", "tb.cli", "replay", str(capture), "--target", "native"]
    with log.open("wb") as file:
        child = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    capture.unlink()
    if child.returncode != 0:
        last = log.read_text(errors="replace").strip().splitlines()[-8:]
        raise SimulationFailed("\n".join([f"replay of {frames} frames: exit code {child.returncode}", *last]))
    return usage.ru_maxrss / 1024
