"""Every published capture through both directions of the port: the golden model and the RTL agree on each frame.

Sweep:    every capture of the repository and of folders 02 to 05, 08, 09 and 10 of the material; rx and tx
Stimulus: ESP, TLS, RoCEv2, flow control, general, broken and fragmented traffic, recordings between peers; as fast as
          the port takes it
Checks:   the verdict "match" of each capture in which scapy finds a frame, the accounting sum closed, exit code 0, or 2
          where a capture is cut or no Ethernet; a folder without a capture fails
Timing:   the cycle of every frame, against the model
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scapy.error import Scapy_Exception
from scapy.utils import RawPcapReader
from typer.testing import CliRunner

from tb.cli import app
from tb.toolchain import ROOT
from tests.plugin import skips

FOLDERS = ("02_esp", "03_tls", "04_roce", "05_l2_flowctl", "08_general", "09_ip_edge", "10_peers")
ENDINGS = (".pcap", ".pcapng", ".cap", ".pcap.gz", ".pcapng.gz")
SMALL_BYTES = 300_000
"""Captures up to this size are replayed in every session, the others where there is time."""
LARGE = ("08_general", "10_peers")
"""Folders with captures above that size."""

pytestmark = pytest.mark.usefixtures("verilator")


@pytest.fixture
def verilator() -> None:
    """Skips where the port can't be built."""
    if not skips.find_tool("verilator"):
        skips.missing_tool("verilator")


def captures(*folders: Path) -> list[Path]:
    return [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name.endswith(ENDINGS)
    ]


def replayed(path: Path, direction: str) -> tuple[int, dict[str, Any], str]:
    result = CliRunner().invoke(app, ["replay", str(path), "--direction", direction, "--json", "--target", "native"])
    if not result.stdout:
        return result.exit_code, {}, result.stderr
    return result.exit_code, json.loads(result.stdout), result.stderr


def holds_a_frame(path: Path) -> bool:
    """Whether scapy finds a packet with a byte."""
    try:
        with RawPcapReader(str(path)) as reader:
            return any(data for data, _ in reader)
    except (Scapy_Exception, EOFError):
        return False


def judge(paths: list[Path], replay: Callable[[Path, str], tuple[int, dict[str, Any], str]] = replayed) -> int:
    """Replay all of them in both directions; returns the number of frames. Each has to be as the module says."""
    assert paths, "no capture"
    frames, wrong = 0, []
    for path in paths:
        for direction in ("rx", "tx"):
            code, found, said = replay(path, direction)
            if not found:
                if code != 2 or ("link type" not in said and "is empty" not in said):
                    wrong.append(f"{path.name}, {direction}: exit {code}: {said}")
                continue
            frames += found["frames"]
            right = found["verdict"] == ("match" if holds_a_frame(path) else "empty")
            if not right or not found["accounting"]["closed"] or code != (2 if found["notices"] else 0):
                wrong.append(f"{path.name}, {direction}: exit {code}: {found['mismatches']['kept'][:1]} {said}")
    assert wrong == []
    return frames


def test_every_capture_of_the_repository_passes_through_rx_and_tx_as_the_model_says() -> None:
    assert judge(captures(ROOT / "tests" / "captures")) > 7000


@pytest.mark.parametrize("folder", FOLDERS)
def test_small_published_captures_pass_through_rx_and_tx_as_the_model_says(folder: str, material: Path) -> None:
    paths = [path for path in captures(material / folder) if path.stat().st_size <= SMALL_BYTES]
    assert judge(paths) > 30


@pytest.mark.regress
@pytest.mark.parametrize("folder", LARGE)
def test_every_published_capture_passes_through_rx_and_tx_as_the_model_says(folder: str, material: Path) -> None:
    paths = [path for path in captures(material / folder) if path.stat().st_size > SMALL_BYTES]
    assert judge(paths) > 100 * len(paths)


def test_large_captures_lie_only_where_they_are_looked_for(material: Path) -> None:
    found = [path for folder in FOLDERS for path in captures(material / folder) if path.stat().st_size > SMALL_BYTES]
    assert {path.relative_to(material).parts[0] for path in found} == set(LARGE)


@pytest.mark.regress
def test_all_published_captures_are_one_replay(material: Path) -> None:
    paths = captures(*(material / folder for folder in FOLDERS))
    playable = [path for path in paths if replayed(path, "rx")[1]]
    result = CliRunner().invoke(app, ["replay", *map(str, playable), "--json", "--target", "native"])
    found = json.loads(result.stdout)
    assert (found["verdict"], found["accounting"]["closed"]) == ("match", True)
    assert result.exit_code == (2 if found["notices"] else 0)


def test_a_replay_that_plays_nothing_of_a_capture_with_frames_is_found() -> None:
    paths = captures(ROOT / "tests" / "captures")[:1]
    told = {"frames": 0, "verdict": "empty", "accounting": {"closed": True}, "notices": [], "mismatches": {"kept": []}}
    with pytest.raises(AssertionError, match="exit 0"):
        judge(paths, lambda path, direction: (0, told, ""))
    with pytest.raises(AssertionError, match="no capture"):
        judge([])
