"""Lint of the RTL by Verilator, Icarus and Yosys.

Sweep:    every module of rtl/; a module that each tool must object to
Stimulus: the sources
Checks:   no warning, or one
Timing:   none
"""

import pytest

from tb import lint
from tb.toolchain import ROOT
from tests.plugin import skips

BROKEN = """`timescale 1ns/1ps
module broken (input wire clk, input wire [3:0] a, output reg [7:0] q, output wire loop);
    wire undriven;
    assign loop = undriven;
    always @* if (a[0]) q = a;
endmodule
"""


@pytest.fixture
def icarus():
    if not skips.find_tool("iverilog"):
        skips.missing_tool("iverilog")


@pytest.mark.usefixtures("icarus")
def test_the_rtl_is_clean(capsys):
    assert lint.main() == 0, capsys.readouterr().out


@pytest.mark.usefixtures("icarus")
def test_a_broken_module_is_found_by_each_tool(tmp_path):
    module = tmp_path / "broken.v"
    module.write_text(BROKEN)
    assert any("LATCH" in line for line in lint.verilator_warnings(module))
    module.write_text(BROKEN.replace("a[0]", "nowhere"))
    assert any("nowhere" in line for line in lint.icarus_warnings(module))
    module.write_text(BROKEN)
    assert any("Latch inferred" in line for line in lint.yosys_warnings([module]))


def test_every_module_is_linted():
    assert {path.stem for path in lint.modules()} == {path.stem for path in (ROOT / "rtl").rglob("*.v")}
