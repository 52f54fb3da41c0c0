// gcm_out: beats and ends of packets, each in its queue, to the stream out: a packet's last beat waits for its end.
//
// What is written in cycle c can be out in c + 1. Whoever writes knows that there is room.
//
// Parameter: DEPTH, beats, a power of two.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_out #(
    parameter DEPTH = 64
) (
    input  wire         clk,
    input  wire         rst,

    input  wire         beat_valid,
    input  wire         beat_end,
    input  wire [127:0] beat_data,
    input  wire [15:0]  beat_keep,

    input  wire         end_valid,
    input  wire         end_bad,
    input  wire         end_unknown,
    input  wire         end_save,
    input  wire [127:0] end_first,
    input  wire [127:0] end_part,
    input  wire [15:0]  end_aad_bytes,
    input  wire [35:0]  end_text_bytes,

    output wire [127:0] m_axis_tdata,
    output wire [15:0]  m_axis_tkeep,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,
    output wire         m_axis_tlast,
    output wire [1:0]   m_axis_tuser,
    output wire [127:0] m_axis_tag,
    output wire [307:0] m_axis_state
);

localparam BEAT_W = 128 + 16 + 1;
localparam END_W = 3 + 36 + 16 + 128 + 128;

wire         ready = m_axis_tvalid && m_axis_tready;
wire         held;
wire         last;
wire         end_held;
wire         bad;
wire         unknown;
wire         save;
wire [127:0] first;
wire [179:0] rest;

gcm_queue #(.WIDTH(BEAT_W), .DEPTH(DEPTH)) beats (
    .clk(clk),
    .rst(rst),
    .write(beat_valid),
    .write_data({beat_end, beat_keep, beat_data}),
    .valid(held),
    .read_data({last, m_axis_tkeep, m_axis_tdata}),
    .read(ready)
);

gcm_queue #(.WIDTH(END_W), .DEPTH(DEPTH)) ends (
    .clk(clk),
    .rst(rst),
    .write(end_valid),
    .write_data({end_bad, end_unknown, end_save, end_text_bytes, end_aad_bytes, end_part, end_first}),
    .valid(end_held),
    .read_data({bad, unknown, save, rest, first}),
    .read(ready && last)
);

assign m_axis_tvalid = held && (!last || end_held) && !rst;
assign m_axis_tlast = last;
assign m_axis_tuser = {unknown, bad} & {2{last}};
assign m_axis_tag = first & {128{last && !save}};
assign m_axis_state = {rest, first & {128{save}}} & {308{last}};

endmodule

`resetall
