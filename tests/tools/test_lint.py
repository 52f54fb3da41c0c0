"""Lint of the RTL by Verilator, Icarus and Yosys.

Sweep:    every module of rtl/, some with other parameters too; a module that each tool must object to
Stimulus: the sources
Checks:   no warning, or one
Timing:   none
"""

import re

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

OPTIONAL = """`timescale 1ns/1ps
module sound #(parameter MORE = 0) (input wire [1:0] a, output wire y);
    generate
        if (MORE != 0) begin : g_more
            reg q;
            FAULT
            assign y = q;
        end else begin : g_less
            assign y = ^a;
        end
    endgenerate
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


@pytest.mark.usefixtures("icarus")
def test_what_a_parameter_brings_in_is_linted_with_that_parameter(tmp_path, monkeypatch):
    module = tmp_path / "sound.v"
    module.write_text(OPTIONAL.replace("FAULT", "always @* if (a[0]) q = a[1];"))
    assert not [*lint.verilator_warnings(module), *lint.yosys_warnings([module])]
    assert any("LATCH" in line for line in lint.verilator_warnings(module, {"MORE": 1}))
    monkeypatch.setattr(lint, "SETS", {"sound": {"MORE": 1}})
    assert any("Latch inferred" in line for line in lint.yosys_warnings([module]))
    module.write_text(OPTIONAL.replace("FAULT", "always @* q = nowhere;"))
    assert not list(lint.icarus_warnings(module))
    assert any("nowhere" in line for line in lint.icarus_warnings(module, {"MORE": 1}))


def test_parameters_are_set_of_modules_that_have_them():
    sources = {path.stem: path.read_text() for path in lint.modules()}
    for module, parameters in lint.SETS.items():
        assert all(re.search(rf"^ +parameter (\[.*\] )?{name} =", sources[module], re.MULTILINE) for name in parameters)


def test_every_module_is_linted():
    assert {path.stem for path in lint.modules()} == {path.stem for path in (ROOT / "rtl").rglob("*.v")}
