// A slot whose block is not there: a register stage with the whole face of a slot.
//
// Latency 1 cycle, one beat a cycle. It ends no frame, so it reports no disposition; it has no timer and no table. Its
// only register, `id`, says which block belongs here and why it is not there.
//
// Parameters: BLOCK, the block's number; STATE, 0 absent (not built yet) or 1 left out (by a parameter of nic_port).

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_slot #(
    parameter [7:0] BLOCK = 8'd0,
    parameter [1:0] STATE = 2'd0
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

    // Time and state
    input  wire [63:0]        now,
    output wire               idle,
    output wire [63:0]        next_deadline,
    output wire               ready
);

// Before a frame's first beat at the input.
reg first_reg;

assign disp_valid = 1'b0;
assign disp_seq = 16'd0;
assign disp_code = 8'd0;
assign disp_queue = 8'd0;
assign idle = first_reg && !m_axis_tvalid;
assign next_deadline = 64'hffffffffffffffff;
assign ready = 1'b1;

wire unused_now = &{1'b0, now};

always @(posedge clk) begin
    if (s_axis_tvalid && s_axis_tready) begin
        first_reg <= s_axis_tlast;
    end

    if (rst) begin
        first_reg <= 1'b1;
    end
end

axis_register #(
    .META_W(`META_W)
) register_inst (
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
    .m_axis_meta(m_axis_meta)
);

slot_regs regs_inst (
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
    .id_block_in(BLOCK),
    .id_state_in(STATE)
);

endmodule

`resetall
