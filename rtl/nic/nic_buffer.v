// Store-and-forward point of a direction: lib's axis_fifo as a slot. Stands in for `rx_buffer` and `tx_sched` until `flow`
// lands.
//
// Latency: 2 cycles from a frame's last beat to its first beat at the output; one beat a cycle, no cycle between frames.
// A frame that came in bad is dropped with the reason that it carries. With DROP_FULL (receive) `s_axis_tready` is always 1
// after reset, and a frame that finds no room is dropped whole as `rx_buffer_full`. Without it (transmit) the source waits,
// and only a frame longer than the whole buffer is dropped, as `oversize`. Bad goes before both. What it drops, it reports
// once, in the cycle after the last beat, with the direction in which it came in.
//
// Parameters: BEATS and FRAMES that it holds at most, powers of two; BEATS at most 32768; DROP_FULL 0 or 1.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_buffer #(
    parameter BEATS = 2048,
    parameter FRAMES = 256,
    parameter DROP_FULL = 0
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
    output wire               disp_direction,

    // Time and state
    input  wire [63:0]        now,
    output wire               idle,
    output wire [63:0]        next_deadline,
    output wire               ready
);

localparam LEVEL_W = $clog2(BEATS) + 1;

wire drop_valid;
wire [1:0] drop_cause;
wire [`META_W-1:0] drop_meta;
wire [9:0] drop_user;
wire [LEVEL_W-1:0] level;
wire [15:0] level_beats = {{(16 - LEVEL_W){1'b0}}, level};

// Before a frame's first beat at the input.
reg first_reg;
reg [15:0] peak_reg;

// axis_fifo's drop_cause: 1 bad; 2 full (DROP_FULL: a frame longer than the whole buffer is that too); 3 oversize.
assign disp_code = drop_cause == 2'd1 ? {1'b0, drop_user[7:1]}
    : drop_cause == 2'd2 ? `CODE_RX_BUFFER_FULL : `CODE_OVERSIZE;
assign disp_valid = drop_valid;
assign disp_seq = drop_meta[`MF_SEQ];
assign disp_queue = drop_meta[`MF_QUEUE];
assign disp_direction = drop_meta[`MF_DIRECTION];
assign idle = first_reg && level == {LEVEL_W{1'b0}} && !drop_valid;
assign next_deadline = 64'hffffffffffffffff;
assign ready = 1'b1;

wire unused_bits = &{1'b0, now, drop_meta, drop_user};

always @(posedge clk) begin
    if (s_axis_tvalid && s_axis_tready) begin
        first_reg <= s_axis_tlast;
    end
    if (level_beats > peak_reg) begin
        peak_reg <= level_beats;
    end

    if (rst) begin
        first_reg <= 1'b1;
        peak_reg <= 16'd0;
    end
end

axis_fifo #(
    .META_W(`META_W),
    .DEPTH(BEATS),
    .FRAMES(FRAMES),
    .FRAME_MODE(1),
    .DROP_BAD(1),
    .DROP_FULL(DROP_FULL)
) fifo_inst (
    .clk(clk),
    .rst(rst),
    .s_axis_tdata(s_axis_tdata),
    .s_axis_tkeep(s_axis_tkeep),
    .s_axis_tvalid(s_axis_tvalid),
    .s_axis_tready(s_axis_tready),
    .s_axis_tlast(s_axis_tlast),
    .s_axis_tuser(s_axis_tuser),
    .s_axis_meta(s_axis_meta),
    .m_axis_tdata(m_axis_tdata),
    .m_axis_tkeep(m_axis_tkeep),
    .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready),
    .m_axis_tlast(m_axis_tlast),
    .m_axis_tuser(m_axis_tuser),
    .m_axis_meta(m_axis_meta),
    .drop_valid(drop_valid),
    .drop_cause(drop_cause),
    .drop_meta(drop_meta),
    .drop_user(drop_user),
    .level(level)
);

buffer_regs regs_inst (
    .clk(clk),
    .rst(rst),
    .reg_req(reg_req),
    .reg_write(reg_write),
    .reg_addr(reg_addr),
    .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb),
    .reg_ack(reg_ack),
    .reg_error(reg_error),
    .reg_rdata(reg_rdata),
    .level_beats_in(level_beats),
    .peak_beats_in(peak_reg)
);

endmodule

`resetall
