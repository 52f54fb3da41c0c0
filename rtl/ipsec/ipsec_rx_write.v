// ipsec_rx_write: a frame as it leaves ipsec_rx, out of ipsec_hold: as it came, or its head with its text behind it (ipsec_join).
//
// A decrypted frame (s_go): head bytes as they came but for next header, lengths, checksum (transport) or EtherType (tunnel), then
// the text with ECN and one checksum mended; the word says them all (ipsec_rx_verdict). Beats of text are moved behind the head,
// in the beat that holds its last bytes. The head's last beat is taken with the frame's last beat out.
//
// Latency 1; a beat a cycle, from frame to frame.
//
// Parameters: SA_W; WORD_W.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_rx_write #(
    parameter SA_W = 8,
    parameter WORD_W = 9 + 16 + 16 + 16 + 8 + 1 + 1 + 1 + 2 + 2 + 16 + SA_W
) (
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
    input  wire [WORD_W-1:0]  s_word,

    input  wire               s_text_valid,
    output wire               s_text_ready,
    input  wire [127:0]       s_text_data,

    output wire [127:0]       m_axis_tdata,
    output wire [15:0]        m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [9:0]         m_axis_tuser,
    output wire [`META_W-1:0] m_axis_meta
);

wire [8:0] head_bytes;
wire [15:0] text_bytes, new_length, change, new_sum;
wire [7:0] next_header;
wire tunnel, inner_ipv6, fix_ecn;
wire [1:0] new_ecn, fix_sum;
wire [SA_W-1:0] sa;

assign {
    head_bytes, text_bytes, new_length, change, next_header, tunnel, inner_ipv6, fix_ecn, new_ecn, fix_sum, new_sum, sa
} = s_word;

// Head and text, mended

wire [127:0] head;
wire [4:0] beat;
wire [1:0] fetched;

ipsec_head patch (
    .beat(beat), .data(s_data), .tunnel(tunnel), .inner_ipv6(inner_ipv6),
    .ipv4(s_meta[`MF_L3_KIND] == 2'd1), .l3_offset(s_meta[`MF_L3_OFFSET]), .protocol_offset(s_meta[`MF_PROTOCOL_OFFSET]),
    .new_length(new_length), .change(change), .next_header(next_header), .mended(head)
);

wire [15:0] sum_bytes = {new_sum[7:0], new_sum[15:8]};
reg [127:0] text;

always @* begin
    text = s_text_data;
    if (fetched == 2'd0) begin
        if (fix_ecn && !inner_ipv6) begin
            text[9:8] = new_ecn;
        end
        if (fix_ecn && inner_ipv6) begin
            text[13:12] = new_ecn;
        end
        if (fix_sum == 2'd1) begin
            text[63:48] = sum_bytes;
        end
        if (fix_sum == 2'd2) begin
            text[95:80] = sum_bytes;
        end
    end
    if (fetched == 2'd1 && fix_sum == 2'd3) begin
        text[15:0] = sum_bytes;
    end
end

reg [`META_W-1:0] new_meta;

always @* begin
    new_meta = s_meta;
    if (s_go) begin
        new_meta[`MF_DECRYPTED] = 1'b1;
        new_meta[`MF_SA] = {{(12 - SA_W){1'b0}}, sa};
    end
end

wire [127:0] out_data = s_go ? head : s_data;
wire [9:0] out_user = s_go ? 10'd0 : s_user;

ipsec_join join_inst (
    .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_first(s_first), .s_last(s_last), .s_data(out_data),
    .s_keep(s_keep), .s_user(out_user), .s_meta(new_meta), .s_go(s_go),
    .word_head_bytes(head_bytes), .word_text_bytes(text_bytes),
    .s_text_valid(s_text_valid), .s_text_ready(s_text_ready), .s_text_data(text), .beat(beat), .fetched(fetched),
    .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser), .m_axis_meta(m_axis_meta)
);

endmodule

`resetall
