// Between mac_rx, which doesn't wait, and the clock crossing, which may have no room: frames are cut or left out whole.
//
// Latency 0. A frame whose first beat finds no room, or comes while the crossing isn't open or the end of another one still
// waits, is left out: `lost`. One of which a later beat finds no room is cut: `cut`; a beat of one byte that ends it bad
// with `mac_overflow` goes in as soon as there is room, and the rest of it is left out. `lost` and `cut` are strobes of the
// cycle behind the beat.
//
// `open`: the crossing takes a beat now (what stands in front of it may still have room where it doesn't). `busy`: within
// a frame, or an end waits.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_overflow_cut (
    input  wire        clk,
    input  wire        rst,

    // From mac_rx
    input  wire [63:0] s_axis_tdata,
    input  wire [7:0]  s_axis_tkeep,
    input  wire        s_axis_tvalid,
    input  wire        s_axis_tlast,
    input  wire [7:0]  s_axis_tuser,

    // To the crossing
    output wire [63:0] m_axis_tdata,
    output wire [7:0]  m_axis_tkeep,
    output wire        m_axis_tvalid,
    input  wire        m_axis_tready,
    output wire        m_axis_tlast,
    output wire [7:0]  m_axis_tuser,
    input  wire        open,

    output wire        cut,
    output wire        lost,
    output wire        busy
);

localparam [7:0] CODE_MAC_OVERFLOW = `CODE_MAC_OVERFLOW;

reg first_reg;                  // the next beat is a frame's first
reg pass_reg;                   // the frame has entered
reg owed_reg;                   // an end has to go in
reg cut_reg;
reg lost_reg;

wire enter = first_reg ? open && m_axis_tready && !owed_reg : pass_reg;
wire pass = s_axis_tvalid && enter && m_axis_tready;
wire cuts = s_axis_tvalid && enter && !m_axis_tready;

assign m_axis_tvalid = (s_axis_tvalid && enter) || owed_reg;
assign m_axis_tdata = s_axis_tdata;
assign m_axis_tkeep = owed_reg ? 8'h01 : s_axis_tkeep;
assign m_axis_tlast = owed_reg || s_axis_tlast;
assign m_axis_tuser = owed_reg ? {CODE_MAC_OVERFLOW[6:0], 1'b1} : s_axis_tuser;
assign cut = cut_reg;
assign lost = lost_reg;
assign busy = !first_reg || owed_reg;

always @(posedge clk) begin
    if (s_axis_tvalid) begin
        first_reg <= s_axis_tlast;
        pass_reg <= pass && !s_axis_tlast;
    end
    if (cuts) begin
        owed_reg <= 1'b1;
    end else if (m_axis_tready) begin
        owed_reg <= 1'b0;
    end
    cut_reg <= cuts;
    lost_reg <= s_axis_tvalid && first_reg && !enter;

    if (rst) begin
        first_reg <= 1'b1;
        pass_reg <= 1'b0;
        owed_reg <= 1'b0;
        cut_reg <= 1'b0;
        lost_reg <= 1'b0;
    end
end

endmodule

`resetall
