// Exit of a pipeline: reports each frame as delivered, in the cycle in which its last beat is taken, to the account of the
// direction in which it came in (`disp_rx_valid`, `disp_tx_valid`).
//
// Latency 1 cycle, one beat a cycle. Nothing that is bad gets here: a buffer in front of it has dropped it. A mirror's
// copy ends no frame, so it is not reported. `count_*` follow one cycle after each beat that is taken, of copies too: its
// bytes, and the frame with its last beat.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_egress (
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

    // Accounting
    output wire               disp_rx_valid,
    output wire               disp_tx_valid,
    output wire [15:0]        disp_seq,
    output wire [7:0]         disp_code,
    output wire [7:0]         disp_queue,
    output wire               count_frame,
    output wire [4:0]         count_bytes,

    output wire               idle
);

// Where the input and the output stand: before a first beat, or within a frame.
reg in_first_reg;
reg out_first_reg;

// Of the metadata of the frame that is going out, since its first beat.
reg [15:0] seq_reg;
reg [7:0] queue_reg;
reg direction_reg;
reg copy_reg;

reg count_frame_reg;
reg [4:0] count_bytes_reg;

wire [4:0] beat_bytes;
wire give = m_axis_tvalid && m_axis_tready;

wire direction = out_first_reg ? m_axis_meta[`MF_DIRECTION] : direction_reg;
wire copy = out_first_reg ? m_axis_meta[`MF_ACL_COPY] : copy_reg;
wire ends = give && m_axis_tlast && !copy;

assign disp_rx_valid = ends && !direction;
assign disp_tx_valid = ends && direction;
assign disp_seq = out_first_reg ? m_axis_meta[`MF_SEQ] : seq_reg;
assign disp_code = `CODE_DELIVERED;
assign disp_queue = out_first_reg ? m_axis_meta[`MF_QUEUE] : queue_reg;
assign count_frame = count_frame_reg;
assign count_bytes = count_bytes_reg;
assign idle = in_first_reg && !m_axis_tvalid;

always @(posedge clk) begin
    count_frame_reg <= give && m_axis_tlast;
    count_bytes_reg <= give ? beat_bytes : 5'd0;

    if (s_axis_tvalid && s_axis_tready) begin
        in_first_reg <= s_axis_tlast;
    end
    if (give) begin
        out_first_reg <= m_axis_tlast;
        seq_reg <= disp_seq;
        queue_reg <= disp_queue;
        direction_reg <= direction;
        copy_reg <= copy;
    end

    if (rst) begin
        in_first_reg <= 1'b1;
        out_first_reg <= 1'b1;
        count_frame_reg <= 1'b0;
        count_bytes_reg <= 5'd0;
    end
end

nic_beat_bytes beat_bytes_inst (
    .keep(m_axis_tkeep),
    .bytes(beat_bytes)
);

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

endmodule

`resetall
