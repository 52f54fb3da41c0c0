"""The ``nicloop`` command and ``make`` where a person gets something wrong.

Sweep:    an output that can't be written, standard output among them;
          a checkout with a space in its path, a number of jobs that is none
Stimulus: the commands
Checks:   one line that says what is wrong, the exit code, no traceback
Timing:   none
"""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tb import cli
from tb.build import build
from tb.toolchain import ROOT, SIM_BUILD, ToolError
from tests.tools.test_build import counter

CAPTURE = "tests/captures/scapy_imix.pcapng"


def nicloop(*arguments, cwd=ROOT):
    return subprocess.run(
        [sys.executable, "-m", "tb.cli", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_an_output_that_cannot_be_written_is_one_line_and_exit_code_3():
    done = nicloop("sim", "--output", "/proc/nowhere", "tests/captures/scapy_short.pcapng")
    assert (done.returncode, done.stderr) == (3, "nicloop: /proc/nowhere: No such file or directory\n")


COMMANDS = {
    "replay": ["replay", CAPTURE, "--target", "model"],
    "replay --json": ["replay", CAPTURE, "--target", "model", "--json"],
    "parse --json": ["parse", CAPTURE, "--json"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_standard_output_that_cannot_be_written_is_one_line_and_exit_code_2(arguments):
    reader, gone = os.pipe()
    os.close(reader)
    for out, reason in ((os.open("/dev/full", os.O_WRONLY), "No space left on device"), (gone, "Broken pipe")):
        done = subprocess.run(
            [sys.executable, "-m", "tb.cli", *arguments], cwd=ROOT, stdout=out, stderr=subprocess.PIPE, text=True,
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}, check=False,
        )  # fmt: skip
        os.close(out)
        assert (done.returncode, done.stderr) == (2, f"nicloop: standard output: can't be written: {reason}\n")


def test_a_mismatch_counts_for_more_than_a_standard_output_that_cannot_be_written(monkeypatch, capsys):
    def mismatch():
        print("mismatch")
        raise SystemExit(1)

    monkeypatch.setattr(cli, "app", mismatch)
    with open("/dev/full", "w") as full, monkeypatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "stdout", full)
        cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "nicloop: standard output: can't be written: No space left on device\n"


@pytest.mark.parametrize("kind", [str, Path])
def test_a_folder_of_builds_that_cannot_be_written_is_said_with_the_remedy(monkeypatch, capsys, kind):
    def refuse():
        raise PermissionError(errno.EACCES, "Permission denied", kind(SIM_BUILD / "replay-x"))

    monkeypatch.setattr(cli, "app", refuse)
    monkeypatch.setattr(cli, "guard", lambda: None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3
    assert capsys.readouterr().err == (
        f"nicloop: {SIM_BUILD / 'replay-x'}: Permission denied: {SIM_BUILD} must be writable "
        "(NICLOOP_SIM_BUILD=FOLDER names another one)\n"
    )


def test_doctor_says_how_to_get_what_is_missing_in_a_line_that_can_be_copied(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    done = nicloop("doctor")
    assert done.returncode == 3
    assert "g++: apt-get install g++\n" in done.stdout


def test_a_checkout_with_a_space_in_its_path_is_refused_before_anything_is_made(tmp_path):
    folder = tmp_path / "with space"
    folder.mkdir()
    shutil.copy(ROOT / "tb" / "preflight.sh", folder)
    done = subprocess.run(
        ["/bin/sh", "preflight.sh", sys.executable], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "has a space in it" in done.stderr


@pytest.mark.parametrize("jobs", ["0", "-3", "many"])
def test_a_number_of_jobs_that_is_none_is_refused(monkeypatch, jobs):
    monkeypatch.setenv("NICLOOP_JOBS", jobs)
    with pytest.raises(ToolError, match=f"JOBS={jobs}: a number of processes, 1 or more"):
        build(counter(parameters={"WIDTH": 21}))
