// The ends of the frames that were handed to mac_tx, in `clk`: who they are, remembered when they begin, and what became of
// them, as the MAC says it in their order.
//
// A frame is remembered in the cycle of its first beat's handshake (`begin_*`) and reported with its end (`end_valid`,
// `end_code`) in that cycle; `flush` ends those that are left with `mac_reset`, one a cycle, once no end has come for 16
// cycles. An end without a frame is of before a reset and is not reported. A mirror's copy isn't reported either.
//
// `room`: one more may be remembered; 32 are at once.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_wire_ends (
    input  wire               clk,
    input  wire               rst,

    input  wire               begin_valid,
    input  wire [`META_W-1:0] begin_meta,
    output wire               room,

    input  wire               end_valid,
    input  wire [7:0]         end_code,
    input  wire               flush,
    output wire               empty,

    output wire               disp_rx_valid,
    output wire               disp_tx_valid,
    output wire [15:0]        disp_seq,
    output wire [7:0]         disp_code,
    output wire [7:0]         disp_queue
);

localparam [7:0] CODE_MAC_RESET = `CODE_MAC_RESET;

wire [31:0] head;
wire [5:0] head_unused;
wire head_valid;
wire head_copy;
wire head_direction;
wire half;
wire lost; // 0: `room` has been heeded

reg [4:0] quiet_reg;            // cycles without an end, up to 16

wire thrown = flush && quiet_reg[4] && !end_valid;
wire pop = head_valid && (end_valid || thrown);

assign {disp_seq, head_unused, head_copy, head_direction, disp_queue} = head;
assign disp_code = end_valid ? end_code : CODE_MAC_RESET;
assign disp_rx_valid = pop && !head_copy && !head_direction;
assign disp_tx_valid = pop && !head_copy && head_direction;
assign room = !half;
assign empty = !head_valid;

wire unused_bits = &{1'b0, lost, head_unused, begin_meta};

always @(posedge clk) begin
    if (end_valid || !flush) begin
        quiet_reg <= 5'd0;
    end else if (!quiet_reg[4]) begin
        quiet_reg <= quiet_reg + 5'd1;
    end

    if (rst) begin
        quiet_reg <= 5'd0;
    end
end

nic_disp_fifo #(
    .DEPTH(64)
) frames_inst (
    .clk(clk), .rst(rst),
    .push(begin_valid),
    .push_data({begin_meta[`MF_SEQ], 6'd0, begin_meta[`MF_ACL_COPY], begin_meta[`MF_DIRECTION], begin_meta[`MF_QUEUE]}),
    .valid(head_valid), .head(head), .pop(pop), .half(half), .lost(lost)
);

endmodule

`resetall
