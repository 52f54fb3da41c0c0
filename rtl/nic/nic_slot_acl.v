// The ACL's slot: block `acl` and the buffer of its mirror, or, left out, a register stage.
//
// Latency of a frame: that of `acl` (docs/acl.md, Time), or 1 cycle. A copy is stored whole before it is offered, 2 cycles
// after its last beat; the frame itself never waits for it. A copy that finds no room is lost whole, and `acl` counts it
// as `mirror_dropped`; one whose frame turns out to have come in bad is taken back, and no copy was made.
//
// Parameters: EN, 0 leaves the block out; PORT_ID, RULES, METERS, IPV6, TUNNEL_EN: of `acl`.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_slot_acl #(
    parameter EN = 1,
    parameter [7:0] PORT_ID = 8'd0,
    parameter RULES = 1024,
    parameter METERS = 256,
    parameter IPV6 = 1,
    parameter TUNNEL_EN = 0
) (
    input  wire               clk,
    input  wire               rst,

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

    // Copies out
    output wire [127:0]       m_axis_mirror_tdata,
    output wire [15:0]        m_axis_mirror_tkeep,
    output wire               m_axis_mirror_tvalid,
    input  wire               m_axis_mirror_tready,
    output wire               m_axis_mirror_tlast,
    output wire [9:0]         m_axis_mirror_tuser,
    output wire [`META_W-1:0] m_axis_mirror_meta,

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
    output wire               disp_valid,
    output wire [15:0]        disp_seq,
    output wire [7:0]         disp_code,
    output wire [7:0]         disp_queue,

    // Time and state
    input  wire [63:0]        now,
    output wire               idle,
    output wire [63:0]        next_deadline,
    output wire               ready
);

localparam [7:0] BLOCK_ACL = 8'd3;
localparam [1:0] STATE_LEFT_OUT = 2'd1;

// What the mirror's buffer holds.
localparam MIRROR_BEATS = 1024;
localparam MIRROR_FRAMES = 64;

generate
if (EN != 0) begin : g_acl
    localparam [1:0] CAUSE_FULL = 2'd2;

    wire [127:0] copy_tdata;
    wire [15:0] copy_tkeep;
    wire copy_tvalid;
    wire copy_tready; // always 1 after reset
    wire copy_tlast;
    wire [9:0] copy_tuser;
    wire [`META_W-1:0] copy_meta;
    wire drop_valid;
    wire [1:0] drop_cause;
    wire [`META_W-1:0] drop_meta;
    wire [9:0] drop_user;
    wire [$clog2(MIRROR_BEATS):0] level;
    wire acl_idle;
    wire mirror_dropped = drop_valid && drop_cause == CAUSE_FULL;

    assign idle = acl_idle && level == {($clog2(MIRROR_BEATS) + 1){1'b0}} && !drop_valid;

    wire unused_bits = &{1'b0, copy_tready, drop_meta, drop_user};

    acl #(
        .RULES(RULES),
        .METERS(METERS),
        .IPV6(IPV6),
        .TUNNEL_EN(TUNNEL_EN),
        .PORT_ID(PORT_ID)
    ) acl_inst (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid),
        .s_axis_tready(s_axis_tready), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser),
        .s_axis_meta(s_axis_meta),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser),
        .m_axis_meta(m_axis_meta),
        .m_axis_mirror_tdata(copy_tdata), .m_axis_mirror_tkeep(copy_tkeep), .m_axis_mirror_tvalid(copy_tvalid),
        .m_axis_mirror_tlast(copy_tlast), .m_axis_mirror_tuser(copy_tuser), .m_axis_mirror_meta(copy_meta),
        .mirror_dropped(mirror_dropped),
        .reg_req(reg_req), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata), .reg_wstrb(reg_wstrb),
        .reg_ack(reg_ack), .reg_error(reg_error), .reg_rdata(reg_rdata),
        .disp_valid(disp_valid), .disp_seq(disp_seq), .disp_code(disp_code), .disp_queue(disp_queue),
        .now(now), .idle(acl_idle), .next_deadline(next_deadline), .ready(ready)
    );

    axis_fifo #(
        .META_W(`META_W),
        .DEPTH(MIRROR_BEATS),
        .FRAMES(MIRROR_FRAMES),
        .FRAME_MODE(1),
        .DROP_BAD(1),
        .DROP_FULL(1)
    ) mirror_inst (
        .clk(clk), .rst(rst),
        .s_axis_tdata(copy_tdata), .s_axis_tkeep(copy_tkeep), .s_axis_tvalid(copy_tvalid), .s_axis_tready(copy_tready),
        .s_axis_tlast(copy_tlast), .s_axis_tuser(copy_tuser), .s_axis_meta(copy_meta),
        .m_axis_tdata(m_axis_mirror_tdata), .m_axis_tkeep(m_axis_mirror_tkeep), .m_axis_tvalid(m_axis_mirror_tvalid),
        .m_axis_tready(m_axis_mirror_tready), .m_axis_tlast(m_axis_mirror_tlast), .m_axis_tuser(m_axis_mirror_tuser),
        .m_axis_meta(m_axis_mirror_meta),
        .drop_valid(drop_valid), .drop_cause(drop_cause), .drop_meta(drop_meta), .drop_user(drop_user), .level(level)
    );
end else begin : g_left_out
    assign m_axis_mirror_tdata = 128'd0;
    assign m_axis_mirror_tkeep = 16'd0;
    assign m_axis_mirror_tvalid = 1'b0;
    assign m_axis_mirror_tlast = 1'b0;
    assign m_axis_mirror_tuser = 10'd0;
    assign m_axis_mirror_meta = {`META_W{1'b0}};

    wire unused_bits = &{1'b0, m_axis_mirror_tready};

    nic_slot #(
        .BLOCK(BLOCK_ACL),
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
        .disp_valid(disp_valid), .disp_seq(disp_seq), .disp_code(disp_code), .disp_queue(disp_queue),
        .now(now), .idle(idle), .next_deadline(next_deadline), .ready(ready)
    );
end
endgenerate

endmodule

`resetall
