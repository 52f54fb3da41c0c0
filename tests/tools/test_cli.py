"""The ``nicloop`` command and ``make`` where a person gets something wrong.

Sweep:    an output that can't be written, a checkout with a space in its path, a number of jobs that is none
Stimulus: the commands
Checks:   one line that says what is wrong, the exit code, no traceback
Timing:   none
"""

import shutil
import subprocess
import sys

import pytest

from tb.build import build
from tb.toolchain import ROOT, ToolError
from tests.tools.test_build import counter


def nicloop(*arguments, cwd=ROOT):
    return subprocess.run(
        [sys.executable, "-m", "tb.cli", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_an_output_that_cannot_be_written_is_one_line_and_exit_code_3():
    done = nicloop("sim", "--output", "/proc/nowhere", "tests/captures/scapy_short.pcapng")
    assert (done.returncode, done.stderr) == (3, "nicloop: /proc/nowhere: No such file or directory\n")


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
