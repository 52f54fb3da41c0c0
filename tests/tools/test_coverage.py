"""The reader of Verilator's coverage files.

Sweep:    kinds of points; several runs; several instances
Stimulus: a small file in Verilator's format; a run of the counter in the cover flavour
Checks:   counts, lcov text
Timing:   none
"""

from tb.build import Design, build, simulate
from tb.coverage import Point, merge, read, write_lcov
from tb.toolchain import ROOT
from tests.tools.test_build import BENCH, counter

TEXT = (
    "# SystemC::Coverage-3\n"
    "C '\x01f\x02rtl/a.v\x01l\x025\x01page\x02v_line/a\x01o\x02block\x01h\x02top.x' 3\n"
    "C '\x01f\x02rtl/a.v\x01l\x025\x01page\x02v_line/a\x01o\x02block\x01h\x02top.y' 4\n"
    "C '\x01f\x02rtl/a.v\x01l\x029\x01page\x02v_toggle/a\x01o\x02q[0]\x01h\x02top.x' 0\n"
)


def test_counts_of_instances_and_runs_add_up(tmp_path):
    first, second = tmp_path / "1.dat", tmp_path / "2.dat"
    first.write_text(TEXT)
    second.write_text(TEXT)
    assert read(first) == {Point("rtl/a.v", 5, "line", "block"): 7, Point("rtl/a.v", 9, "toggle", "q[0]"): 0}
    assert merge([first, second])[Point("rtl/a.v", 5, "line", "block")] == 14


def test_lcov_holds_the_lines(tmp_path):
    data, info = tmp_path / "1.dat", tmp_path / "lines.info"
    data.write_text(TEXT)
    write_lcov(read(data), info)
    assert info.read_text() == "SF:rtl/a.v\nDA:5,7\nend_of_record\n"


def test_the_cover_flavour_leaves_a_file_that_names_lines_never_reached():
    run = simulate(counter(), BENCH, flavour="cover", tests=["counts"], env={"WIDTH": "12"}).check()
    counts = read(run.folder / "coverage.dat")
    assert {point.kind for point in counts} >= {"line", "toggle"}
    assert any(count == 0 for count in counts.values()), "the counter's upper bits never toggle"
    assert any(count > 0 for count in counts.values())


def test_the_cover_flavour_builds_rtl_that_compares_registers_with_constants():
    """Verilator's coverage of state machines dies of `(a ^ b) == CONSTANT`: the flavour leaves it out."""
    fifo = Design("tools/axis_fifo", "axis_fifo", (ROOT / "rtl" / "lib" / "axis_fifo.v",))
    assert build(fifo, flavour="cover").flavour == "cover"
