// The slot of roce_rx without its block: a nic_slot, with the ports that roce has beyond a slot's face.
//
// Latency 1 cycle, one beat a cycle on the way through. The source of transmit frames is silent, no request goes to
// memory; what memory answers is taken and forgotten.
//
// Parameters: STATE, 0 absent (not built yet) or 1 left out (by a parameter of nic_port).

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_slot_roce #(
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

    // Frames that the block makes, to the join with what the host transmits; of the metadata `queue` and `tclass` count
    output wire [127:0]       m_axis_tx_tdata,
    output wire [15:0]        m_axis_tx_tkeep,
    output wire               m_axis_tx_tvalid,
    input  wire               m_axis_tx_tready,
    output wire               m_axis_tx_tlast,
    output wire [9:0]         m_axis_tx_tuser,
    output wire [`META_W-1:0] m_axis_tx_meta,

    // Memory: requests, data to be written, data that was read, completions
    output wire               mem_req_valid,
    input  wire               mem_req_ready,
    output wire               mem_req_write,
    output wire [31:0]        mem_req_key,
    output wire [63:0]        mem_req_addr,
    output wire [31:0]        mem_req_len,
    output wire [7:0]         mem_req_id,
    output wire               mem_req_fence,
    output wire               mem_req_flush,
    output wire               mem_req_ro,
    output wire [127:0]       m_axis_mem_tdata,
    output wire [15:0]        m_axis_mem_tkeep,
    output wire               m_axis_mem_tvalid,
    input  wire               m_axis_mem_tready,
    output wire               m_axis_mem_tlast,
    input  wire [127:0]       s_axis_mem_tdata,
    input  wire [15:0]        s_axis_mem_tkeep,
    input  wire               s_axis_mem_tvalid,
    output wire               s_axis_mem_tready,
    input  wire               s_axis_mem_tlast,
    input  wire               mem_done_valid,
    output wire               mem_done_ready,
    input  wire [7:0]         mem_done_id,
    input  wire [7:0]         mem_done_code,

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

localparam [7:0] BLOCK_ROCE = 8'd7;

assign m_axis_tx_tdata = 128'd0;
assign m_axis_tx_tkeep = 16'd0;
assign m_axis_tx_tvalid = 1'b0;
assign m_axis_tx_tlast = 1'b0;
assign m_axis_tx_tuser = 10'd0;
assign m_axis_tx_meta = {`META_W{1'b0}};

assign mem_req_valid = 1'b0;
assign mem_req_write = 1'b0;
assign mem_req_key = 32'd0;
assign mem_req_addr = 64'd0;
assign mem_req_len = 32'd0;
assign mem_req_id = 8'd0;
assign mem_req_fence = 1'b0;
assign mem_req_flush = 1'b0;
assign mem_req_ro = 1'b0;
assign m_axis_mem_tdata = 128'd0;
assign m_axis_mem_tkeep = 16'd0;
assign m_axis_mem_tvalid = 1'b0;
assign m_axis_mem_tlast = 1'b0;
assign s_axis_mem_tready = !rst;
assign mem_done_ready = !rst;

wire unused_mem = &{1'b0, m_axis_tx_tready, mem_req_ready, m_axis_mem_tready, s_axis_mem_tdata, s_axis_mem_tkeep,
                    s_axis_mem_tvalid, s_axis_mem_tlast, mem_done_valid, mem_done_id, mem_done_code};

nic_slot #(
    .BLOCK(BLOCK_ROCE),
    .STATE(STATE)
) slot_inst (
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
    .reg_req(reg_req),
    .reg_write(reg_write),
    .reg_addr(reg_addr),
    .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb),
    .reg_ack(reg_ack),
    .reg_error(reg_error),
    .reg_rdata(reg_rdata),
    .disp_valid(disp_valid),
    .disp_seq(disp_seq),
    .disp_code(disp_code),
    .disp_queue(disp_queue),
    .now(now),
    .idle(idle),
    .next_deadline(next_deadline),
    .ready(ready)
);

endmodule

`resetall
