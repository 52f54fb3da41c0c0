"""RTL with bugs planted into it, for the tests of the tests: the port as it is, but for a few frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
    "LEAK_PORT",
    "SECOND_COUNT",
    "STICKY_COUNT",
    "STICKY_PORT",
    "UNCOUNTED_BYTES",
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
LEAK_PORT = 0x1EAC
"""Destination port of the frames that the ACL doesn't deny."""
UNCOUNTED_BYTES = 97
"""Length of the frames that the counters of the ACL's rules miss."""

_SLIPS = {
    "acl_counters.v": (
        "frame_reg <= frame_valid;",
        f"frame_reg <= frame_valid && frame_bytes != 16'd{UNCOUNTED_BYTES};",
    ),
    "acl_out.v": (
        "first_reg ? next_code : code_reg;",
        f"first_reg ? (s_axis_meta[`MF_DST_PORT] == 16'h{LEAK_PORT:04x} ? 7'd0 : next_code) : code_reg;",
    ),
}
"""By file, text that stands in it once, and what stands there instead."""

_BEFORE = "nic_egress egress_rx_inst ("
_INPUT = ".s_axis_tdata(host_join_tdata), .s_axis_tkeep(host_join_tkeep), .s_axis_tvalid(host_join_tvalid),"
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
wire planted_counted = host_join_tdata[55:48] == 8'h{COUNTED:02x};
wire planted_port = planted_beat == 10'd2 && {{host_join_tdata[39:32], host_join_tdata[47:40]}} == 16'h{BAD_PORT:04x};
reg planted_sticks = 1'b0;
wire planted_sticky = planted_beat == 10'd2
    && {{host_join_tdata[39:32], host_join_tdata[47:40]}} == 16'h{STICKY_PORT:04x}
    && (planted_sticks || planted_all > 32'd{STICKY_COUNT});
wire planted_number = planted_first
    && (planted_all == 32'd{SECOND_COUNT} || (planted_counted && planted_some == 32'd{FIRST_COUNT}));
wire [127:0] planted_tdata = host_join_tdata ^ {{4'b0, planted_port || planted_number || planted_sticky, 123'b0}};

always @(posedge clk) begin
    if (planted_left > 8'd1 || (planted_ghost && m_axis_host_tready)) planted_left <= planted_left - 8'd1;
    if (host_join_tvalid && host_join_tready) begin
        if (planted_beat == 10'd2 && {{host_join_tdata[39:32], host_join_tdata[47:40]}} == 16'h{GHOST_PORT:04x})
            planted_left <= 8'd{GHOST_CYCLES};
        if (planted_sticky) planted_sticks <= 1'b1;
        planted_beat <= host_join_tlast ? 10'd0 : planted_beat + 10'd1;
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
    """As `port_design`, with the bugs in it; the files have one place, so that its build is found again."""
    design = port_design(engine, **parameters)
    changed = {}
    for source in design.sources:
        if source.name == "nic_port.v":
            changed[source] = _placed(source, _in_port(source))
        elif source.name in _SLIPS:
            changed[source] = _placed(source, _replaced(source, source.read_text(), dict([_SLIPS[source.name]])))
    return replace(design, sources=tuple(changed.get(path, path) for path in design.sources))


def _in_port(source: Path) -> str:
    before, at, behind = source.read_text().partition(_BEFORE)
    if not at:
        raise ValueError(f"{source}: the place where the bugs are planted has changed")
    changes = {_INPUT: _INPUT.replace("(host_join_tdata)", "(planted_tdata)"), **_OUTPUTS}
    return before + _LOGIC + at + _replaced(source, behind, changes)


def _replaced(source: Path, text: str, changes: dict[str, str]) -> str:
    if any(text.count(place) != 1 for place in changes):
        raise ValueError(f"{source}: the place where the bugs are planted has changed")
    for place, planted_in in changes.items():
        text = text.replace(place, planted_in)
    return text


def _placed(source: Path, text: str) -> Path:
    """A file of this name with this text."""
    planted = SIM_BUILD / "planted" / source.name
    planted.parent.mkdir(parents=True, exist_ok=True)
    if not planted.exists() or planted.read_text() != text:
        planted.write_text(text)
    return planted


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the targets of this process have a device with the bugs."""
    for module in (launch, native):
        monkeypatch.setattr(module, "port_design", planted_design)
