// The slot of mac_tx without its block: a register stage. The MAC's clock is not looked at, XGMII is idle.
//
// Latency 1 cycle, one beat a cycle.
//
// Parameters: EN, 0 leaves the block out.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_slot_mac_tx #(
    parameter EN = 0
) (
    input  wire               clk,
    input  wire               rst,

    // XGMII, in tx_clk; whose frame's start stands there, and when
    input  wire               tx_clk,
    input  wire               tx_rst,
    output wire [63:0]        xgmii_d,
    output wire [7:0]         xgmii_c,
    output wire               wire_valid,
    output wire [15:0]        wire_seq,
    output wire               wire_direction,
    output wire [95:0]        wire_time,

    // The link's faults as mac_rx sees them, in its clock
    input  wire               local_fault,
    input  wire               remote_fault,

    // Frames in
    input  wire [127:0]       s_axis_tdata,
    input  wire [15:0]        s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    input  wire [9:0]         s_axis_tuser,
    input  wire [`META_W-1:0] s_axis_meta,

    // Frames out
    output wire [127:0]       m_axis_tdata,
    output wire [15:0]        m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [9:0]         m_axis_tuser,
    output wire [`META_W-1:0] m_axis_meta,

    // Registers
    input  wire               reg_req,
    input  wire               reg_write,
    input  wire [13:0]        reg_addr,
    input  wire [31:0]        reg_wdata,
    input  wire [3:0]         reg_wstrb,
    output wire               reg_ack,
    output wire               reg_error,
    output wire [31:0]        reg_rdata,

    // Dispositions
    output wire               disp_rx_valid,
    output wire               disp_tx_valid,
    output wire [15:0]        disp_seq,
    output wire [7:0]         disp_code,
    output wire [7:0]         disp_queue,

    // Time and state
    input  wire [63:0]        now,
    input  wire [31:0]        now_fraction,
    output wire               idle,
    output wire [63:0]        next_deadline,
    output wire               ready
);

localparam [7:0] BLOCK_MAC = 8'd1;
localparam [1:0] STATE_LEFT_OUT = 2'd1;

assign xgmii_d = {8{8'h07}};
assign xgmii_c = 8'hff;
assign wire_valid = 1'b0;
assign wire_seq = 16'd0;
assign wire_direction = 1'b0;
assign wire_time = 96'd0;
assign disp_rx_valid = 1'b0;

wire unused_mac = &{1'b0, EN != 0, tx_clk, tx_rst, local_fault, remote_fault, now_fraction};

nic_slot #(
    .BLOCK(BLOCK_MAC),
    .STATE(STATE_LEFT_OUT)
) slot_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid),
    .s_axis_tready(s_axis_tready), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser),
    .s_axis_meta(s_axis_meta),
    .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser),
    .m_axis_meta(m_axis_meta),
    .reg_req(reg_req), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata), .reg_wstrb(reg_wstrb),
    .reg_ack(reg_ack), .reg_error(reg_error), .reg_rdata(reg_rdata),
    .disp_valid(disp_tx_valid), .disp_seq(disp_seq), .disp_code(disp_code), .disp_queue(disp_queue),
    .now(now), .idle(idle), .next_deadline(next_deadline), .ready(ready)
);

endmodule

`resetall
