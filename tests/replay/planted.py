"""RTL with bugs planted into it, for the tests of the tests: the port as it is, but for a few frames."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tb.build import Design
from tb.nic.designs import port_design
from tb.targets import launch, native
from tb.toolchain import SIM_BUILD

__all__ = [
    "BAD_PORT",
    "COUNTED",
    "FIRST_COUNT",
    "GHOST_CYCLES",
    "GHOST_PORT",
    "SECOND_COUNT",
    "STICKY_COUNT",
    "STICKY_PORT",
    "plant",
    "planted_design",
]

BAD_PORT = 0xBAD1
"""Destination port of the frames of which byte 47 gets a wrong bit."""
GHOST_PORT = 0x6057
"""Destination port of the frames behind which one more comes out of the host edge."""
GHOST_CYCLES = 100
"""Cycles behind such a frame in which that one comes."""
STICKY_PORT = 0x571C
"""Destination port of the frames of which byte 47 gets a wrong bit once one came behind `STICKY_COUNT` others: no reset
clears that."""
STICKY_COUNT = 1000
COUNTED = 0x5E
"""First byte of the source address of the frames that are counted apart."""
FIRST_COUNT = 1400
"""Of those that are counted apart, the one (from 0) of which byte 15 gets a wrong bit."""
SECOND_COUNT = 70_000
"""Of all frames, the one (from 0) of which byte 15 gets a wrong bit."""

_BEFORE = "nic_egress egress_rx_inst ("
_INPUT = (
    ".s_axis_tdata(roce_tdata), .s_axis_tkeep(roce_tkeep), .s_axis_tvalid(roce_tvalid), .s_axis_tready(roce_tready),"
)
_OUTPUTS = {
    ".m_axis_tdata(m_axis_host_tdata), .m_axis_tkeep(m_axis_host_tkeep), .m_axis_tvalid(m_axis_host_tvalid),": (
        ".m_axis_tdata(planted_out), .m_axis_tkeep(planted_tkeep), .m_axis_tvalid(planted_tvalid),"
    ),
    ".m_axis_tready(m_axis_host_tready), .m_axis_tlast(m_axis_host_tlast),": (
        ".m_axis_tready(m_axis_host_tready && !planted_ghost), .m_axis_tlast(planted_tlast),"
    ),
}
_LOGIC = f"""
// Planted: a wrong bit in frames to one port, and in one frame by its number; a frame behind those to another; a wrong
// bit in frames to a third, from a number on and through every reset.
wire planted_tvalid;
wire planted_tlast;
wire [15:0] planted_tkeep;
wire [127:0] planted_out;
reg [7:0] planted_left;
wire planted_ghost = planted_left == 8'd1;
assign m_axis_host_tdata = planted_ghost ? 128'd0 : planted_out;
assign m_axis_host_tvalid = planted_tvalid || planted_ghost;
assign m_axis_host_tlast = planted_tlast || planted_ghost;
assign m_axis_host_tkeep = planted_tkeep | {{16{{planted_ghost}}}};
reg [9:0] planted_beat;
reg [31:0] planted_all;
reg [31:0] planted_some;
wire planted_first = planted_beat == 10'd0;
wire planted_counted = roce_tdata[55:48] == 8'h{COUNTED:02x};
wire planted_port = planted_beat == 10'd2 && {{roce_tdata[39:32], roce_tdata[47:40]}} == 16'h{BAD_PORT:04x};
reg planted_sticks = 1'b0;
wire planted_sticky = planted_beat == 10'd2 && {{roce_tdata[39:32], roce_tdata[47:40]}} == 16'h{STICKY_PORT:04x}
    && (planted_sticks || planted_all > 32'd{STICKY_COUNT});
wire planted_number = planted_first
    && (planted_all == 32'd{SECOND_COUNT} || (planted_counted && planted_some == 32'd{FIRST_COUNT}));
wire [127:0] planted_tdata = roce_tdata ^ {{4'b0, planted_port || planted_number || planted_sticky, 123'b0}};

always @(posedge clk) begin
    if (planted_left > 8'd1 || (planted_ghost && m_axis_host_tready)) planted_left <= planted_left - 8'd1;
    if (roce_tvalid && roce_tready) begin
        if (planted_beat == 10'd2 && {{roce_tdata[39:32], roce_tdata[47:40]}} == 16'h{GHOST_PORT:04x})
            planted_left <= 8'd{GHOST_CYCLES};
        if (planted_sticky) planted_sticks <= 1'b1;
        planted_beat <= roce_tlast ? 10'd0 : planted_beat + 10'd1;
        if (planted_first) begin
            planted_all <= planted_all + 32'd1;
            planted_some <= planted_some + {{31'd0, planted_counted}};
        end
    end
    if (rst) begin
        planted_left <= 8'd0;
        planted_beat <= 10'd0;
        planted_all <= 32'd0;
        planted_some <= 32'd0;
    end
end

"""


def planted_design(engine: str, **parameters: int) -> Design:
    """As `port_design`, with the bugs in it; the file has one place, so that its build is found again."""
    design = port_design(engine, **parameters)
    (source,) = [path for path in design.sources if path.name == "nic_port.v"]
    planted = SIM_BUILD / "planted" / source.name
    text = source.read_text()
    before, at, behind = text.partition(_BEFORE)
    if not at or any(behind.count(place) != 1 for place in (_INPUT, *_OUTPUTS)):
        raise ValueError(f"{source}: the place where the bugs are planted has changed")
    for place, planted_in in {_INPUT: _INPUT.replace("(roce_tdata)", "(planted_tdata)"), **_OUTPUTS}.items():
        behind = behind.replace(place, planted_in)
    text = before + _LOGIC + at + behind
    planted.parent.mkdir(parents=True, exist_ok=True)
    if not planted.exists() or planted.read_text() != text:
        planted.write_text(text)
    return replace(design, sources=tuple(planted if path == source else path for path in design.sources))


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the targets of this process have a device with the bugs."""
    for module in (launch, native):
        monkeypatch.setattr(module, "port_design", planted_design)
