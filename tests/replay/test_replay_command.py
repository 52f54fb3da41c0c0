"""``nicloop replay`` as a person meets it: what it shows, what it writes, what it says of mistakes.

Sweep:    options and their mistakes; inputs and outputs that can't be used; a device that is wrong or stuck; Ctrl-C
Stimulus: captures of the repository and files made here, on the golden model as a target, one of each on the RTL
Checks:   exit code; one clear line and no traceback; the files that were asked for
Timing:   none
"""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from models.frames import Batch, Outcome
from models.nic import NicPortModel
from tb.cli import app
from tb.replay import replay_command, run
from tb.replay.capture import read_capture, write_capture, write_pcap
from tb.replay.packed import load_failure
from tb.replay.perform import Performed, Task, perform
from tb.replay.records import KEYS
from tb.replay.show import _scaled, show
from tb.targets.base import Stuck
from tb.targets.model import ModelTarget
from tb.toolchain import ROOT
from tests.nic.test_capture import described, enhanced, pcap, section
from tests.replay.judging import byte_flipped, udp_frame

IMIX = ROOT / "tests" / "captures" / "scapy_imix.pcapng"
ARP = ROOT / "tests" / "captures" / "scapy_arp_l2.pcapng"
MALFORMED = ROOT / "tests" / "captures" / "scapy_malformed.pcapng"
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""What is held back in a buffer is what Python stumbles over at its end."""


def nicloop(*arguments: Any, target: str = "model", **options: Any) -> Result:
    words = ["replay", *map(str, arguments), *(["--target", target] if target else [])]
    return CliRunner().invoke(app, words, **options)


def command(*arguments: Any) -> list[str]:
    return [sys.executable, "-m", "tb.cli", "replay", *map(str, arguments), "--target", "model"]


def one_line(result: Result, code: int, words: str) -> None:
    """Nothing on standard output, one line on the other."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert words in result.stderr
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("nicloop: ")


# -- what it shows -----------------------------------------------------------------------------------------------------


def test_the_table_has_the_accounting_sum_and_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    result = nicloop(MALFORMED)
    assert result.exit_code == 0 and result.stderr == ""
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    batch = read_capture(MALFORMED).batch
    codes = NicPortModel().play(batch).code
    delivered, dropped = int((codes == 1).sum()), int((codes >= 16).sum())
    assert lines[0] == "scapy_malformed.pcapng on model"
    assert f"frames in {len(batch)}" in lines and f"delivered {delivered}" in lines
    assert f"sum closed {len(batch)} in = {delivered} out + 0 consumed + {dropped} dropped" in lines
    assert "mismatches 0" in lines
    for start in ("rx latency ", "rx share of 25G ", "cycles ", "CPU time "):
        assert any(line.startswith(start) for line in lines), start
    assert lines[-1] == "all as the model says"


def test_the_summary_is_json_with_the_same_figures_and_nothing_else(tmp_path: Path) -> None:
    result = nicloop(IMIX, "--json", "--direction", "tx", "--pace", "line-rate")
    assert result.exit_code == 0 and result.stderr == ""
    found = json.loads(result.stdout)
    assert (found["verdict"], found["exit_code"], found["frames"]) == ("match", 0, 192)
    assert (found["target"], found["pace"], found["interrupted"]) == ("model", "line-rate", False)
    assert list(found["directions"]) == ["tx"]
    assert found["accounting"]["closed"] and found["cpu_s"] > 0


def test_records_capture_and_page_are_written(tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("out.jsonl", "out.pcapng", "out.html")]
    result = nicloop(IMIX, "--records", names[0], "--out", names[1], "--report", names[2])
    assert result.exit_code == 0
    records = [json.loads(line) for line in names[0].read_text().splitlines()]
    out = read_capture(names[1])
    assert len(records) == len(out.batch) == 192
    for record in records:
        assert set(record) == set(KEYS) - {"differences"}
        (number,) = record["out"]
        assert out.comments[number].startswith(f"input {record['index']} ")
        assert out.batch.lengths[number] == record["length"]
    assert "scapy_imix.pcapng" in names[2].read_text() and "</html>" in names[2].read_text()


def test_several_captures_are_one_replay(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    write_capture(tmp_path / "a.pcapng", Batch.of([udp_frame(60)] * 3))
    write_capture(tmp_path / "again" / "a.pcapng", Batch.of([udp_frame(61)] * 2))
    result = nicloop(tmp_path / "a.pcapng", tmp_path / "again" / "a.pcapng", "--records", tmp_path / "r")
    assert result.exit_code == 0
    records = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [(r["index"], r["frame"]) for r in records] == [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1)]
    assert {r["capture"] for r in records} == {f"{tmp_path.name}/a.pcapng", "again/a.pcapng"}


def test_frames_are_chosen_by_number_and_by_header(tmp_path: Path) -> None:
    write_capture(tmp_path / "a", Batch.of([udp_frame(60 + i, port=i % 3) for i in range(20)]))
    result = nicloop(tmp_path / "a", "--frames", "5:15", "--filter", "dst port 1", "--records", tmp_path / "r")
    assert result.exit_code == 0
    assert [json.loads(line)["index"] for line in (tmp_path / "r").read_text().splitlines()] == [7, 10, 13]
    result = nicloop(tmp_path / "a", "--filter", "port 77")
    assert result.exit_code == 2 and "no frame was played" in result.stdout
    assert result.stderr == "nicloop: nothing was played: --filter 'port 77' hits none of the 20 frames\n"
    result = nicloop(tmp_path / "a", "--filter", "port 77", "--frames", "2:4", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["exit_code"], found["verdict"]) == (2, 2, "empty")
    notice = "nothing was played: --filter 'port 77' hits none of the frames of --frames 2:4"
    assert found["notices"] == [notice] and result.stderr == f"nicloop: {notice}\n"
    write_pcap(tmp_path / "none", Batch.empty())
    result = nicloop(tmp_path / "none")
    assert (result.exit_code, result.stderr) == (2, "nicloop: nothing was played: none: there is no frame\n")
    assert nicloop(tmp_path / "none", tmp_path / "a").exit_code == 0
    (tmp_path / "bytes").write_bytes(pcap([(0, 0, b"", 60)]))
    result = nicloop(tmp_path / "bytes")
    assert (result.exit_code, result.stderr) == (2, "nicloop: nothing was played: the frames have no byte\n")


def test_a_window_changes_nothing_but_where_the_port_runs_empty(tmp_path: Path) -> None:
    found = []
    for size in ("1", "7", "4096"):
        assert nicloop(MALFORMED, "--window", size, "--records", tmp_path / size).exit_code == 0
        records = [json.loads(line) for line in (tmp_path / size).read_text().splitlines()]
        found.append([{key: value for key, value in r.items() if key != "time_ns"} for r in records])
    assert found[0] == found[1] == found[2]


def test_records_to_standard_output_leave_the_table_to_the_other(tmp_path: Path) -> None:
    result = nicloop(IMIX, "--records", "-")
    assert result.exit_code == 0
    assert len([json.loads(line) for line in result.stdout.splitlines()]) == 192
    assert "frames in" in result.stderr


def test_a_snapped_and_an_empty_frame_are_played_as_captured_and_counted(tmp_path: Path) -> None:
    whole = udp_frame(200)
    (tmp_path / "a.pcap").write_bytes(pcap([(0, 0, whole[:80], 200), (0, 0, b"", 60), (0, 0, whole, 200)]))
    result = nicloop(tmp_path / "a.pcap", "--records", tmp_path / "r")
    assert result.exit_code == 0
    assert "2 snapped, 1 without a byte" in result.stdout
    records = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [(r["length"], r["snapped"], r["reason"]) for r in records] == [
        (80, True, None),
        (0, True, "empty_frame"),
        (200, False, None),
    ]


def test_a_baseline_tells_what_became_slower_and_judges_nothing(tmp_path: Path) -> None:
    write_capture(tmp_path / "a", Batch.of([udp_frame(60), udp_frame(70)]))
    assert nicloop(tmp_path / "a", "--records", tmp_path / "before").exit_code == 0
    lines = (tmp_path / "before").read_text().splitlines()
    record = json.loads(lines[1])
    record["latency_cycles"] -= 5
    (tmp_path / "before").write_text("\n".join([lines[0], json.dumps(record)]) + "\n")
    result = nicloop(tmp_path / "a", "--baseline", tmp_path / "before")
    assert result.exit_code == 0
    assert "Of 2 frames that both have: 1 slower (up to +5 cycles)" in result.stdout
    piped = nicloop(tmp_path / "a", "--baseline", tmp_path / "before", "--records", "-")
    assert len(piped.stdout.splitlines()) == 2 and "1 slower" in piped.stderr
    as_json = json.loads(nicloop(tmp_path / "a", "--baseline", tmp_path / "before", "--json").stdout)
    assert as_json["baseline"]["slower"] == 1


class Sleepy(ModelTarget):
    """A device that skips all cycles but ten a play."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0

    async def play(self, stimulus: Batch) -> Outcome:
        before = self.now()
        outcome = await super().play(stimulus)
        self.skipped += round((self.now() - before) / self.capabilities.clock_ns) - 10
        return outcome


def test_skipped_cycles_are_no_work_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int, int]] = []
    task = Task([["imix", str(IMIX)]], window=50)
    done = asyncio.run(perform(Sleepy(), task, tell=lambda *progress: told.append(progress)))
    assert done.simulated == 40 and [cycles for _, cycles, _ in told] == [10, 20, 30, 40]
    assert done.figures["cycles"] > 1000
    monkeypatch.setattr(run, "ModelTarget", Sleepy)
    assert json.loads(nicloop(IMIX, "--window", "50", "--json").stdout)["simulated_cycles"] == 40
    out = io.StringIO()
    show(Console(file=out, width=200), "", replace(done, cpu_s=0.5))
    assert "80 simulated a CPU second" in out.getvalue()


def test_a_long_pause_of_the_capture_is_said_before_it_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "ModelTarget", Sleepy)
    hour = 3600 * 10**9
    times = [hour, hour + 5, 0, 4 * hour, 5 * hour, 55 * 8766 * hour]
    batch = Batch.of([udp_frame(60)] * len(times))
    write_capture(tmp_path / "a", replace(batch, time_ns=np.array(times, np.int64)))
    for size in ("1", "4096"):
        result = nicloop(tmp_path / "a", "--pace", "recorded", "--window", size)
        said = [
            "nicloop: frame 5 (frame 5 of a) comes 55 years after the one before it: silent time costs about 60 ms of "
            "CPU an hour, here 8 hours"
        ]
        if size == "1":
            said.insert(0, "nicloop: frame 3 (frame 3 of a) comes 3 hours after the one before it: silent time costs "
                        "about 60 ms of CPU an hour, here 0.18 s")  # fmt: skip
        assert (result.exit_code, result.stderr.splitlines()) == (0, said)
        assert nicloop(tmp_path / "a", "--window", size).stderr == ""
    # Another capture begins anew, and an hour is no long pause.
    write_capture(tmp_path / "b", replace(batch, time_ns=np.arange(len(times)) * hour))
    assert nicloop(tmp_path / "b", tmp_path / "b", "--pace", "recorded").stderr == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.5, "0.5"), (999.4, "999"), (999.9, "1k"), (12_345, "12.3k"), (999_999, "1M"), (4_567_890, "4.57M"),
     (1.2e9, "1.2G"), (1.6e13, "16T"), (2e16, "20000T")],
)  # fmt: skip
def test_rates_have_three_figures_and_a_prefix(value: float, text: str) -> None:
    assert _scaled(value) == text


# -- what is wrong with the device -------------------------------------------------------------------------------------


class Wrong(ModelTarget):
    """A port that spoils byte 37 of the third frame of every play in which there is one with 77 bytes."""

    async def play(self, stimulus: Batch) -> Outcome:
        outcome = await super().play(stimulus)
        at = [i for i, length in enumerate(stimulus.lengths.tolist()) if length == 77]
        return byte_flipped(at[0], 37)(outcome) if at else outcome


class Deaf(ModelTarget):
    """A port that never ends a frame of 77 bytes."""

    async def play(self, stimulus: Batch) -> Outcome:
        at = [i for i, length in enumerate(stimulus.lengths.tolist()) if length == 77]
        if at:
            raise Stuck("m_axis_host", 20_000, "", at[0])
        return await super().play(stimulus)


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A capture whose frame 6 has 77 bytes; failures are packed in its folder."""
    monkeypatch.setattr(replay_command, "SIM_BUILD", tmp_path / "made")
    path = tmp_path / "field.pcapng"
    write_capture(path, Batch.of([udp_frame(77 if i == 6 else 60 + i % 4) for i in range(12)]))
    return path


def test_a_mismatch_is_told_with_its_frame_and_packed(
    field: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "ModelTarget", Wrong)
    result = nicloop(field, "--window", "4", "--records", tmp_path / "r", "--report", tmp_path / "page.html")
    assert result.exit_code == 1
    assert "frame 6 (field.pcapng: frame 6, in Wireshark 7), rx, 77 bytes:" in result.stdout
    assert "  byte 37: expected " in result.stdout
    packed = tmp_path / "made" / "failures" / "field-6.zip"
    assert packed.is_file() and str(packed) in result.stdout and "nicloop rerun" in result.stdout
    records = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [r["index"] for r in records if not r["match"]] == [6]
    assert len(records) == 8, "it ends with the window"
    assert "byte 37" in (tmp_path / "page.html").read_text()


def test_a_failure_that_cannot_be_packed_is_a_notice_and_the_results_stand(
    field: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "ModelTarget", Wrong)
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "failures").touch()
    result = nicloop(field, "--report", tmp_path / "page.html")
    assert result.exit_code == 1
    assert "frames in" in result.stdout and "  byte 37: expected " in result.stdout
    said = f"{tmp_path / 'made' / 'failures'}: the failure can't be packed there: File exists"
    assert result.stderr.splitlines()[-1] == f"nicloop: {said}"
    assert "byte 37" in (tmp_path / "page.html").read_text()
    found = json.loads(nicloop(field, "--json").stdout)
    assert (found["exit_code"], found["failure"], found["notices"]) == (1, None, [said])


def test_it_goes_on_after_a_mismatch_where_that_is_asked_for(field: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "ModelTarget", Wrong)
    result = nicloop(field, "--window", "4", "--keep-going", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == found["exit_code"] == 1
    assert (found["frames"], found["mismatches"]["frames"], found["stopped"]) == (12, 1, False)


def test_a_port_that_gets_stuck_ends_the_replay_with_the_stream_and_the_frame(
    field: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "ModelTarget", Deaf)
    result = nicloop(field, "--window", "4", "--keep-going", "--records", tmp_path / "r")
    assert result.exit_code == 1
    words = "the replay ended: frame 6 (frame 6 of field.pcapng): m_axis_host did not move for 20000 cycles"
    assert words in result.stdout
    records = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [(r["disposition"], r["match"]) for r in records[4:]] == [(None, False)] * 4
    assert all(r["match"] for r in records[:4])


# -- what is wrong with the input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such capture"),
        (b"", "is empty (pcap or pcapng, gzipped or not, is wanted)"),
        (b"frame 1: 00\n", "byte 0: is neither pcap nor pcapng: it starts with 66 72 61 6d 65 20 31 3a (pcap or"),
        (pcap([(0, 0, b"x", 1)], network=105), "byte 20: link type 105 (IEEE 802.11); only Ethernet (1) can be played"),
        (
            section() + described(linktype=127) + enhanced(b"x"),
            "byte 48: link type 127 (IEEE 802.11 with radiotap)",
        ),
        (gzip.compress(pcap([], network=105), mtime=0), "byte 20: link type 105 (IEEE 802.11)"),
        (b"\x28\xb5\x2f\xfd rest", "is compressed by zstd: decompress it first"),
    ],
)
def test_a_capture_that_cannot_be_played_is_refused_in_one_line_before_anything_is_written(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "field.pcap"
    if content is not None:
        path.write_bytes(content)
    one_line(nicloop(IMIX, path, "--records", tmp_path / "r"), 2, f"nicloop: {path}: {words}")
    assert not (tmp_path / "r").exists()


def test_a_folder_is_refused_with_what_to_type(tmp_path: Path) -> None:
    one_line(nicloop(tmp_path), 2, f"{tmp_path}: is a folder: name the captures in it ({tmp_path}/*.pcap*)")


def test_a_capture_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pcap"
    write_pcap(path, Batch.of([b"frame"]))
    real = Path.open

    def refuse(self: Path, *rest: Any, **more: Any) -> Any:
        if self == path:
            raise PermissionError(13, "Permission denied", str(path))
        return real(self, *rest, **more)

    monkeypatch.setattr(Path, "open", refuse)
    one_line(nicloop(path), 2, f"{path}: can't be read: Permission denied")


def test_a_cut_capture_is_replayed_up_to_the_bad_record_and_then_named(tmp_path: Path) -> None:
    write_pcap(tmp_path / "a.pcap", Batch.of([udp_frame(60)] * 5))
    (tmp_path / "a.pcap").write_bytes((tmp_path / "a.pcap").read_bytes()[:-7])
    result = nicloop(tmp_path / "a.pcap")
    assert result.exit_code == 2
    assert "all as the model says" in result.stdout, "what was played"
    assert f"nicloop: {tmp_path / 'a.pcap'}: byte 328: cut off in a record: 53 of 60 bytes are there\n" == result.stderr
    found = json.loads(nicloop(tmp_path / "a.pcap", "--json").stdout)
    assert (found["frames"], found["exit_code"], found["verdict"]) == (4, 2, "match")


def test_a_name_that_is_no_utf_8_is_written_with_its_bytes_as_escapes(
    field: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = field.rename(tmp_path / os.fsdecode(b"caf\xe9.pcapng"))
    earlier = tmp_path / os.fsdecode(b"\xe9")
    assert nicloop(odd, "--records", earlier).exit_code == 0
    monkeypatch.setattr(run, "ModelTarget", Wrong)
    monkeypatch.setattr(sys, "argv", ["nicloop", "replay", str(odd)])
    names = [tmp_path / name for name in ("out.jsonl", "out.pcapng", "out.html")]
    result = nicloop(
        odd, "--records", names[0], "--out", names[1], "--report", names[2], "--baseline", earlier, "--frames", "0:99"
    )
    assert result.exit_code == 1 and result.exception.__class__ is SystemExit, result.exception
    called = r"caf\xe9.pcapng"
    assert called in result.stdout and r"\xe9" in "".join(result.stdout.partition("against")[2].split())
    assert {json.loads(line)["capture"] for line in names[0].read_text().splitlines()} == {called}
    assert called in read_capture(names[1]).comments[0]
    assert called in names[2].read_text() and "byte 37" in names[2].read_text()
    assert load_failure(tmp_path / "made" / "failures" / "caf_xe9-6.zip").note["capture"] == called


def test_standard_input_is_replayed_also_gzipped_and_in_every_format() -> None:
    for content in (IMIX.read_bytes(), gzip.compress(IMIX.read_bytes())):
        done = subprocess.run(
            command("-", "--json"), input=content, capture_output=True, cwd=ROOT, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["frames"], found["captures"][0]["capture"]) == (192, "-")
    one_line(nicloop("-", "-"), 2, "-: standard input can be replayed only once")


# -- what is wrong with the command ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "board"], "--target: 'board' must be one of model, native, cocotb"),
        (["--sim", "vcs"], "--sim: 'vcs' must be one of verilator, icarus"),
        (["--pace", "fast"], "--pace: 'fast' must be one of asap, recorded, line-rate"),
        (["--direction", "up"], "--direction: 'up' must be one of rx, tx"),
        (["--port", "256"], "--port: 256 must be a number from 0 to 255"),
        (["--window", "0"], "--window: 0 must be a number from 1 to 1000000"),
        (["--window", "1000001"], "--window: 1000001 must be a number from 1 to 1000000"),
        (["--seed", "-1"], "--seed: -1 must be a number from 0 to 2147483646"),
        (["--seed", "2147483647"], "--seed: 2147483647 must be a number from 0 to 2147483646"),
        (["--sim", "icarus"], "--sim: icarus plays only with --target cocotb, and --target is model"),
        (["--sim", "icarus", "--target", "native"], "--sim: icarus plays only with --target cocotb"),
        (["--filter", ""], "--filter: is empty: leave it out to play all frames"),
        (["--frames", "5:3"], "--frames: '5:3' has no frame"),
        (["--frames", "x"], "--frames: 'x' must be A:B"),
        (["--filter", "host"], "--filter: column 5: an address is wanted"),
        (["--waves"], "--waves: the model has no signals"),
        (["--json", "--out", "-"], "--json: standard output is taken by --out or --records"),
        (["--out", "-", "--records", "-"], "--records: standard output: --out is written there already"),
        (["--report", "-"], "--report: a page doesn't go to standard output"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["--baseline", os.devnull], f"{os.devnull}: holds no record; the file that --records wrote is wanted"),
        (["--baseline", "nowhere.jsonl"], "nowhere.jsonl: can't be read: No such file or directory"),
        (
            ["--port", "3"],
            "scapy_imix.pcapng: frame 0 is of port 3, which this target has not; --port 0 plays it there",
        ),
    ],
)
def test_a_mistake_in_an_option_is_one_line_that_names_it(options: list[str], words: str) -> None:
    more = {} if "--target" not in options else {"target": ""}
    one_line(nicloop(IMIX, *options, **more), 2, words)


def test_unknown_keys_of_a_configuration_are_named_with_their_file(tmp_path: Path) -> None:
    (tmp_path / "nic.toml").write_text("[port.0]\nrx_enabled = true\n")
    one_line(nicloop(IMIX, "--config", tmp_path / "nic.toml"), 2, f"{tmp_path / 'nic.toml'}: port.0.rx_enabled")


def test_a_configuration_is_programmed(tmp_path: Path) -> None:
    (tmp_path / "nic.toml").write_text("[port.0]\nmax_frame = 100\n")
    found = json.loads(nicloop(IMIX, "--config", tmp_path / "nic.toml", "--json").stdout)
    assert found["drops"] == {"oversize": found["dispositions"]["dropped"]} and found["dispositions"]["dropped"] > 50


@pytest.mark.parametrize(
    ("frames", "said"),
    [("150:300", True), ("192:", True), ("500", True), ("150:192", False), (":10", False), ("0:", False)],
)
def test_a_range_beyond_the_end_is_a_notice(frames: str, said: bool) -> None:
    result = nicloop(IMIX, "--frames", frames)
    nothing = "" if frames == "150:300" else "nothing was played: "
    assert result.exit_code == (2 if said and nothing else 0)
    notice = f"nicloop: {nothing}--frames {frames}: there are 192 frames, counted from 0\n"
    assert result.stderr == (notice if said else "")


# -- what is wrong with an output --------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--out", "--records", "--report"])
def test_an_output_that_cannot_be_is_refused_before_the_replay(tmp_path: Path, option: str) -> None:
    one_line(nicloop(IMIX, option, tmp_path), 2, f"{option}: {tmp_path}: is a folder: name a file in it")
    missing = tmp_path / "absent" / "x"
    one_line(nicloop(IMIX, option, missing), 2, f"{option}: {missing}: there is no folder {missing.parent}: make it")
    copy = tmp_path / "copy.pcapng"
    copy.write_bytes(IMIX.read_bytes())
    (tmp_path / "link").symlink_to(copy)
    for name in (copy, tmp_path / "link"):
        one_line(nicloop(copy, option, name), 2, f"{option}: {name}: is read by this replay, and would be overwritten")
    assert copy.read_bytes() == IMIX.read_bytes()


def test_two_outputs_of_one_name_are_refused(tmp_path: Path) -> None:
    words = f"--records: {tmp_path / 'x'}: --out is written there already"
    one_line(nicloop(IMIX, "--out", tmp_path / "x", "--records", tmp_path / "x"), 2, words)


@pytest.mark.parametrize("option", ["--out", "--records", "--report"])
def test_no_write_permission_is_one_line(tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = tmp_path / "x", Path.open

    def refuse(self: Path, *rest: Any, **more: Any) -> Any:
        if self == path:
            raise PermissionError(13, "Permission denied", str(path))
        return real(self, *rest, **more)

    monkeypatch.setattr(Path, "open", refuse)
    one_line(nicloop(IMIX, option, path), 2, f"{path}: can't be written: Permission denied")


@pytest.mark.parametrize("option", ["--out", "--records", "--report"])
def test_a_folder_into_which_one_may_not_look_is_one_line(
    tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real_stat, real_open = tmp_path / "x", os.stat, Path.open

    def refuse(real: Any) -> Any:
        def look(name: Any, *rest: Any, **more: Any) -> Any:
            if str(name) == str(path):
                raise PermissionError(13, "Permission denied", str(path))
            return real(name, *rest, **more)

        return look

    monkeypatch.setattr(os, "stat", refuse(real_stat))
    monkeypatch.setattr(Path, "open", refuse(real_open))
    one_line(nicloop(IMIX, option, path), 2, f"{path}: can't be written: Permission denied")


def test_a_page_is_tried_before_the_replay_and_left_as_it_was(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    one_line(nicloop(IMIX, "--report", page, "--port", "3"), 2, "frame 0 is of port 3")
    assert not page.exists()
    page.write_text("earlier")
    one_line(nicloop(IMIX, "--report", page, "--port", "3"), 2, "frame 0 is of port 3")
    assert page.read_text() == "earlier"


@pytest.mark.parametrize("option", ["--out", "--records", "--report"])
def test_a_full_disk_is_named_after_the_results(option: str) -> None:
    result = nicloop(IMIX, option, "/dev/full")
    assert result.exit_code == 2
    assert "frames in" in result.stdout
    assert result.stderr == "nicloop: /dev/full: can't be written: No space left on device\n"


@pytest.mark.parametrize("option", ["--out", "--records"])
def test_a_full_standard_output_is_named_in_one_line(option: str) -> None:
    """Of little that is written: all of it is in a buffer until the end."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command(ARP, option, "-"), stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=BUFFERED,
            check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "nicloop: standard output: can't be written: No space left on device"
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


def test_a_reader_of_the_records_that_goes_away_ends_the_replay_in_one_line(tmp_path: Path) -> None:
    write_capture(tmp_path / "a", Batch.of([udp_frame(60)] * 3000))
    process = subprocess.Popen(
        command(tmp_path / "a", "--records", "-", "--window", "10"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=BUFFERED,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 2
    assert said.splitlines()[-1] == "nicloop: standard output: can't be written: Broken pipe"
    assert "Traceback" not in said and "Exception" not in said


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


def interrupted(*options: Any, field: Path) -> tuple[int, str, str]:
    """Replay standard input, which never ends, and press Ctrl-C when the first window is done."""
    process = subprocess.Popen(
        command("-", "--window", "5", "--records", field, *options),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(pcap([(0, 0, udp_frame(60), 60)] * 7))
    process.stdin.flush()
    until = time.monotonic() + 60
    while not (field.exists() and field.stat().st_size) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        process.wait(30)
    finally:
        process.kill()
        process.stdin.close()
    assert process.stdout is not None and process.stderr is not None
    with process.stdout, process.stderr:
        return process.returncode, process.stdout.read().decode(), process.stderr.read().decode()


def test_ctrl_c_keeps_what_is_done_and_shows_it(tmp_path: Path) -> None:
    code, out, err = interrupted(field=tmp_path / "r")
    assert (code, err) == (130, "")
    assert "interrupted: this is what was done" in out and "frames in" in out
    lines = (tmp_path / "r").read_text().splitlines()
    assert 5 <= len(lines) <= 7
    assert [json.loads(line)["index"] for line in lines] == list(range(len(lines)))


@pytest.mark.parametrize("early", [True, False])
def test_ctrl_c_reaches_a_simulator_also_before_its_folder_is_there(
    early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launched(kind: str, job: dict[str, Any], **options: Any) -> tuple[Any, Path]:
        """As `launch_job`, in this process, with Ctrl-C in it. The folder of an earlier, interrupted one is there."""
        folder = run.job_folder(kind, job, **{name: options[name] for name in ("sim", "engine", "seed")})
        if early:
            os.kill(os.getpid(), signal.SIGINT)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if not early:
            os.kill(os.getpid(), signal.SIGINT)
        until = time.monotonic() + 10
        while not (folder / "stop").exists() and time.monotonic() < until:
            time.sleep(0.02)
        asyncio.run(run.replay_job(ModelTarget(), job, folder))
        return SimpleNamespace(folder=folder, check=lambda: None), folder

    monkeypatch.setattr(run, "build", lambda *_: None)
    monkeypatch.setattr(run, "launch_job", launched)
    result = nicloop(IMIX, "--json", target="cocotb")
    assert result.exit_code == 130, result.output
    found = json.loads(result.stdout)
    assert (found["interrupted"], found["frames"]) == (True, 0)


def test_the_second_ctrl_c_ends_at_once() -> None:
    with run.Interrupt() as interrupt:
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("capture", "stem"),
    [("field.2024.pcapng", "field.2024"), ("a/field.pcap.gz", "field"), ("-", "stdin"), (".pcap", "capture")],
)
def test_a_waveform_is_named_after_the_capture(
    capture: str, stem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SIM_BUILD", tmp_path)
    assert run._waves_place(Task([[capture, capture]])) == tmp_path / "waves" / f"{stem}{run.waves_suffix()}"


# -- on the RTL --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sim", ["verilator"], indirect=True)
def test_native_and_cocotb_write_the_same_records_and_the_same_capture(sim: str, tmp_path: Path) -> None:
    for target in ("native", "cocotb"):
        for direction in ("rx", "tx"):
            name = tmp_path / f"{target}-{direction}"
            result = nicloop(
                MALFORMED, "--direction", direction, "--window", "30", "--records", f"{name}.jsonl",
                "--out", f"{name}.pcapng", "--json", target=target,
            )  # fmt: skip
            assert result.exit_code == 0, result.output
            found = json.loads(result.stdout)
            assert (found["target"], found["verdict"], found["windows"]) == (target, "match", 4)
    for direction in ("rx", "tx"):
        for ending in ("jsonl", "pcapng"):
            native, cocotb = (tmp_path / f"{target}-{direction}.{ending}" for target in ("native", "cocotb"))
            assert native.read_bytes() == cocotb.read_bytes(), f"{direction} {ending}"


@pytest.mark.parametrize("sim", ["verilator"], indirect=True)
def test_standard_input_and_output_serve_a_simulator_too(sim: str) -> None:
    done = subprocess.run(
        [*command("-", "--records", "-")[:-1], "cocotb"], input=IMIX.read_bytes(), capture_output=True, cwd=ROOT,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(records) == 192 and all(record["match"] for record in records)


def test_inside_a_simulator_progress_the_request_to_end_and_the_result_are_files(tmp_path: Path) -> None:
    task = Task(captures=[["imix", str(IMIX)]], window=50)
    for stop, frames in ((False, 192), (True, 0)):
        if stop:
            (tmp_path / "stop").touch()
        asyncio.run(run.replay_job(ModelTarget(), asdict(task) | {"kind": "replay"}, tmp_path))
        performed = Performed(**json.loads((tmp_path / "result.json").read_text()))
        assert (performed.figures["frames"], performed.interrupted) == (frames, stop)
    told = json.loads((tmp_path / "progress.json").read_text())
    assert (told[0], told[2]) == (192, IMIX.stat().st_size) and told[1] > 0
    asyncio.run(run.replay_job(ModelTarget(), asdict(replace(task, records=str(tmp_path / "no" / "x"))), tmp_path))
    assert "can't be written: No such file" in json.loads((tmp_path / "result.json").read_text())["refused"]
