// ipsec_join: frames out of ipsec_hold as they leave a slot: one that passes (s_go 0) as it came, of the others the first
// head_bytes bytes of their head, and behind them text_bytes bytes of their text (word_*: both hold while the frame's head is at
// s_*). What is to be changed in a beat is changed by the user between ipsec_hold and here: `beat` counts a frame's beats of
// the head, `fetched` those of the text (3 and more the same).
//
// Beats of text are moved behind the head, in the beat that holds their last bytes. The head's last beat is taken with the frame's
// last beat out.
//
// Latency 1; a beat a cycle, from frame to frame.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_join (
    input  wire               clk,
    input  wire               rst,

    input  wire               s_valid,
    output wire               s_ready,
    input  wire               s_first,
    input  wire               s_last,
    input  wire [127:0]       s_data,
    input  wire [15:0]        s_keep,
    input  wire [9:0]         s_user,
    input  wire [`META_W-1:0] s_meta,
    input  wire               s_go,
    input  wire [8:0]         word_head_bytes,
    input  wire [15:0]        word_text_bytes,

    input  wire               s_text_valid,
    output wire               s_text_ready,
    input  wire [127:0]       s_text_data,

    output wire [4:0]         beat,
    output wire [1:0]         fetched,

    output wire [127:0]       m_axis_tdata,
    output wire [15:0]        m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [9:0]         m_axis_tuser,
    output wire [`META_W-1:0] m_axis_meta
);

// Where the frame stands: beats of its head that left, whether all of it has, and how much there is to go

reg [4:0] beat_reg;
reg moved_reg;
reg [16:0] left_reg;           // bytes to leave
reg [15:0] fetch_reg;          // bytes of text to be taken
reg [1:0] fetched_reg;         // beats of text that were, 3 and more the same
reg [127:0] rest_reg;          // the last of them

wire begins = s_first && !moved_reg;
wire [3:0] shift = word_head_bytes[3:0];
wire [16:0] left = begins ? {8'd0, word_head_bytes} + {1'b0, word_text_bytes} : left_reg;
wire [15:0] fetch = begins ? word_text_bytes : fetch_reg;
// The head's last beat has text behind it, or it is whole.
wire joins = !moved_reg && s_last && shift != 4'd0;
wire with_text = s_go && (moved_reg || joins) && fetch != 16'd0;
wire ends = s_go ? left <= 17'd16 : s_last;

reg valid_reg;
reg [127:0] data_reg;
reg [15:0] keep_reg;
reg last_reg;
reg [9:0] user_reg;
reg [`META_W-1:0] meta_reg;

wire may_load = s_valid && (!with_text || s_text_valid);
wire load = may_load && (!valid_reg || m_axis_tready);

assign s_ready = load && (ends || !s_last);
assign s_text_ready = load && with_text;
assign beat = beat_reg;
assign fetched = fetched_reg;

always @(posedge clk) begin
    if (load && s_go) begin
        left_reg <= left - 17'd16;
        fetch_reg <= !with_text ? fetch : fetch <= 16'd16 ? 16'd0 : fetch - 16'd16;
        rest_reg <= with_text ? s_text_data : 128'd0;
    end
end

always @(posedge clk) begin
    if (load) begin
        moved_reg <= s_go && !ends && (moved_reg || s_last);
        beat_reg <= ends ? 5'd0 : beat_reg + 5'd1;
        fetched_reg <= ends ? 2'd0 : with_text && fetched_reg != 2'd3 ? fetched_reg + 2'd1 : fetched_reg;
    end

    if (rst) begin
        moved_reg <= 1'b0;
        beat_reg <= 5'd0;
        fetched_reg <= 2'd0;
    end
end

// Out: the head's beat, or what was left of the beat before, and text behind it

wire [127:0] front = moved_reg ? (shift == 4'd0 ? 128'd0 : rest_reg >> {5'd16 - {1'b0, shift}, 3'd0})
    : joins ? s_data & ~({128{1'b1}} << {shift, 3'd0}) : s_data;
wire [127:0] behind = with_text ? s_text_data << {shift, 3'd0} : 128'd0;
wire [15:0] keep = ends && left[4:0] != 5'd16 ? ~(16'hffff << left[3:0]) : 16'hffff;
wire [127:0] mask;

genvar i;
generate
    for (i = 0; i < 16; i = i + 1) begin : g_lane
        assign mask[8*i +: 8] = {8{keep[i]}};
    end
endgenerate

assign m_axis_tdata = data_reg;
assign m_axis_tkeep = keep_reg;
assign m_axis_tvalid = valid_reg && !rst;
assign m_axis_tlast = last_reg;
assign m_axis_tuser = user_reg;
assign m_axis_meta = meta_reg;

always @(posedge clk) begin
    if (!valid_reg || m_axis_tready) begin
        valid_reg <= may_load;
    end

    if (rst) begin
        valid_reg <= 1'b0;
    end
end

always @(posedge clk) begin
    if (load) begin
        data_reg <= s_go ? (front | behind) & mask : s_data;
        keep_reg <= s_go ? keep : s_keep;
        last_reg <= ends;
        user_reg <= s_user;
    end
    if (load && begins) begin
        meta_reg <= s_meta;
    end
end

endmodule

`resetall
