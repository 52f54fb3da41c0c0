"""The exporter: SystemRDL to a register file in Verilog-2005.

Sweep:    every kind of register of tests/nic/regs_example.rdl, both simulators, each construct that must be refused
Stimulus: random accesses (all registers, holes, byte strobes, resets in mid-access) with random hardware inputs
Checks:   every output in every cycle against a model of docs/registers.md; the automatic suite; no warning from
          Verilator, Icarus and Yosys; committed files are current
Timing:   reg_ack one cycle after reg_req, one access every two cycles, a register kept outside one cycle after its ack
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tb import lint, toolchain
from tb.build import Design, port_names
from tb.registers import __main__ as command
from tb.registers import generate
from tb.registers.exporter import export
from tb.registers.source import RdlError
from tests.plugin import skips

EXAMPLE = Path(__file__).with_name("regs_example.rdl")


@pytest.fixture(scope="session")
def example() -> Path:
    """The register file of the example, put in place at once: parallel processes all make it."""
    folder = toolchain.SIM_BUILD / "registers"
    folder.mkdir(parents=True, exist_ok=True)
    path, part = folder / "regs_example_regs.v", folder / f"regs_example_regs.{os.getpid()}"
    part.write_text(export(EXAMPLE))
    part.replace(path)
    return path


def test_every_kind_of_register_behaves_as_documented(example: Path, sim: str, simulate: Callable[..., Any]) -> None:
    simulate(Design("nic/regs_example", "regs_example_regs", (example,)), "tb.nic.bench_exporter", sim=sim)


@pytest.mark.regress
def test_a_long_run_of_every_kind_of_register(example: Path, sim: str, simulate: Callable[..., Any]) -> None:
    design = Design("nic/regs_example", "regs_example_regs", (example,))
    cycles = {"NICLOOP_REGISTER_CYCLES": "100000" if sim == "verilator" else "20000"}
    simulate(design, "tb.nic.bench_exporter", sim=sim, tests=[LOCKSTEP], env=cycles)


LOCKSTEP = "every_kind_of_register_follows_its_model_in_every_cycle"


@pytest.mark.parametrize("tool", ["verilator", "iverilog", "yosys"])
def test_the_register_file_is_accepted_without_a_warning(example: Path, tool: str) -> None:
    if tool == "yosys":
        assert list(lint.yosys_warnings([example])) == []
        return
    if not skips.find_tool(tool):
        skips.missing_tool(tool)
    warnings = {"verilator": lint.verilator_warnings, "iverilog": lint.icarus_warnings}[tool]
    assert list(warnings(example)) == []


def test_the_same_source_gives_the_same_text() -> None:
    assert export(EXAMPLE) == export(EXAMPLE)


def test_ports_of_a_register_file_are_those_of_the_architecture() -> None:
    """By name and order for the slot, and the form of each kind of port."""
    slot = export(toolchain.ROOT / "rtl" / "nic" / "slot.rdl")
    assert port_names(slot, "slot_regs") == [
        "clk", "rst", "reg_req", "reg_write", "reg_addr", "reg_wdata", "reg_wstrb", "reg_ack", "reg_error",
        "reg_rdata", "id_block_in", "id_state_in",
    ]  # fmt: skip
    names = port_names(export(toolchain.ROOT / "rtl" / "nic" / "nic.rdl"), "nic_regs")
    assert {
        "control_rx_enable", "status_idle_in", "rx_frames_in_incr", "status_rx_account_lost_set",
        "rx_disposition_req", "rx_disposition_index", "rx_disposition_word", "rx_disposition_ack",
        "rx_disposition_rdata",
    } <= set(names)  # fmt: skip


HEAD = "addrmap bad {\n    default regwidth = 32; default accesswidth = 32;\n"


REFUSED = [
    ("reg { field { sw = rw; hw = r; } a[3:0]; } x;", 3, "needs a reset value"),
    ("reg {\n field { sw = rw; hw = rw; } a = 0; } x;", 4, "hw = rw is not supported"),
    ("reg { field { sw = r; hw = r; } a = 0; } x;", 3, "sw = r needs hw"),
    ("reg { field { sw = rw; hw = r;\n onwrite = wzc; } a = 0; } x;", 4, "onwrite = wzc is not supported"),
    ("reg { field { sw = rw; hw = r;\n onread = rset; } a = 0; } x;", 4, "onread = rset is not supported"),
    ("reg { field { sw = rw; hw = r;\n swmod; } a = 0; } x;", 4, "property swmod .* is not supported"),
    ("reg { field { sw = r; hw = na; counter;\n decrwidth = 2; } a[3:0] = 0; } x;", 4, "property decr"),
    ("reg { field { sw = rw; hw = r; onwrite = woclr; } a = 0; } x;", 3, "onwrite = woclr needs hwset"),
    ("reg { field { sw = rw; hw = r;\n hwset; onwrite = woclr; } a[3:0] = 0; } x;", 4, "fields of one bit"),
    ("reg { field { sw = r; hw = w; } a[3:0] = 5; } x;", 3, "no reset value, unless it is a strap"),
    ("reg { regwidth = 64; field { sw = rw; hw = r; hwset; onwrite = woclr; } a = 0; } x;", 3, "64-bit register"),
    ("reg { regwidth = 16; accesswidth = 16; field { sw = r; hw = w; } a; } x;", 3, "regwidth must be 32 or 64"),
    ("external reg { field { sw = r; hw = w; } a[31:0]; } x[3] @ 0x10;", 3, "power of two of elements"),
    ("external reg { field { sw = r; hw = w; } a[31:0]; } x[8] @ 0x10;", 3, "multiple of its size"),
    ("reg { field { sw = r; hw = w; } a; } x @ 0x4000;", 3, "beyond the instance"),
    ("mem { mementries = 4; memwidth = 32; } m;", 3, "mem"),
    (
        "reg { field { sw = rw; hw = r; } b_c = 0; } a;\nreg { field { sw = rw; hw = r; } c = 0; } a_b;",
        4,
        "belongs to",
    ),
    ("reg { field { sw = rw; hw = r; } a = 0 } x;", 3, "missing ';'"),
]


@pytest.mark.parametrize(("body", "line", "reason"), REFUSED, ids=[reason for _, _, reason in REFUSED])
def test_what_cannot_be_built_is_refused_with_file_and_line(tmp_path: Path, body: str, line: int, reason: str) -> None:
    path = tmp_path / "bad.rdl"
    path.write_text(f"{HEAD}{body}\n}};\n")
    with pytest.raises(RdlError, match=rf"bad\.rdl:{line}: .*{reason}"):
        export(path)


def test_every_generated_file_that_is_committed_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check"]) == 0, capsys.readouterr().out


def test_a_stale_file_is_named_and_left_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fresh, stale, missing = tmp_path / "fresh.v", tmp_path / "stale.v", tmp_path / "missing.v"
    fresh.write_text("new")
    stale.write_text("old")
    monkeypatch.setattr(generate, "committed", lambda: {fresh: "new", stale: "new", missing: "new"})
    assert command.main(["--check"]) == 1
    out = capsys.readouterr().out
    assert "stale.v: stale" in out and "missing.v: stale" in out and "fresh.v" not in out
    assert stale.read_text() == "old" and not missing.exists()


def test_a_source_that_is_wrong_ends_with_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong() -> dict[Path, str]:
        raise RdlError("x.rdl:7: wrong")

    monkeypatch.setattr(generate, "committed", wrong)
    assert command.main([]) == 2
    assert "x.rdl:7: wrong" in capsys.readouterr().err
