// ipsec_tx_write: a frame as it leaves ipsec_tx, out of ipsec_hold: as it came, or its head, with what ipsec_tx_seal made of it
// behind (ipsec_join).
//
// Of an encrypted frame (s_go) the head is as it came but for next header, lengths, checksum (transport) or EtherType (tunnel mode);
// over IPv6 the checksum of NAT-T's UDP is written into the text. word_* is what is known of the frame while its head is at s_*.
//
// Latency 1; a beat a cycle, from frame to frame.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_tx_write (
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
    input  wire               word_transport,
    input  wire               word_udp,
    input  wire [1:0]         word_kind,
    input  wire [15:0]        word_payload,
    input  wire [15:0]        word_packet,
    input  wire [8:0]         word_l4_offset,
    input  wire [31:0]        word_spi,
    input  wire [31:0]        word_low,
    input  wire [15:0]        word_src_port,
    input  wire [15:0]        word_dst_port,
    input  wire [127:0]       word_src,
    input  wire [127:0]       word_dst,
    input  wire [5:0]         word_dscp,
    input  wire [1:0]         word_ecn,
    input  wire               word_dont_fragment,
    input  wire [7:0]         word_ttl,
    input  wire [15:0]        word_sum,

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

localparam [1:0] IPV6 = 2'd2;
localparam [9:0] L4_GOOD = 10'b01_0000000_0;

function [15:0] fold(input [17:0] sum);
    reg [16:0] once;
    begin
        once = {1'b0, sum[15:0]} + {15'd0, sum[17:16]};
        fold = once[15:0] + {15'd0, once[16]};
    end
endfunction

wire [4:0] beat;
wire [1:0] fetched;

// RFC 1624, equation 3; of the word of TTL and protocol only the protocol changes.
wire [15:0] old_length = s_meta[`MF_L3_LENGTH_LSB +: 16];
wire [7:0] old_protocol = s_meta[`MF_PROTOCOL];
wire [7:0] protocol = word_udp ? 8'd17 : 8'd50;
wire out_ipv6 = word_kind == IPV6;
wire [15:0] new_length = out_ipv6 ? word_packet - 16'd40 : word_packet;
wire [17:0] change = {2'd0, ~old_length} + {2'd0, word_packet} + {2'd0, 16'hffff - {8'd0, old_protocol}}
    + {10'd0, protocol};
wire tunnel = !word_transport;
wire was_ipv4 = s_meta[`MF_L3_KIND] == 2'd1;
wire [127:0] head;

ipsec_head patch (
    .beat(beat), .data(s_data), .tunnel(tunnel), .inner_ipv6(out_ipv6), .ipv4(was_ipv4),
    .l3_offset(s_meta[`MF_L3_OFFSET]), .protocol_offset(s_meta[`MF_PROTOCOL_OFFSET]),
    .new_length(new_length), .change(fold(change)), .next_header(protocol), .mended(head)
);

// UDP's checksum stands 6 bytes behind the IP header.
wire summed = word_udp && out_ipv6;
wire [15:0] sum_bytes = {word_sum[7:0], word_sum[15:8]};
wire [127:0] text = !summed ? s_text_data
    : word_transport && fetched == 2'd0 ? {s_text_data[127:64], sum_bytes, s_text_data[47:0]}
    : tunnel && fetched == 2'd2 ? {sum_bytes, s_text_data[111:0]} : s_text_data;

wire [`META_W-1:0] new_meta;

ipsec_tx_meta meta_inst (
    .meta(s_meta), .transport(word_transport), .udp(word_udp), .kind(word_kind), .payload(word_payload),
    .packet(word_packet), .l4_offset(word_l4_offset), .spi(word_spi), .low(word_low), .src_port(word_src_port),
    .dst_port(word_dst_port), .src(word_src), .dst(word_dst), .dscp(word_dscp), .ecn(word_ecn),
    .dont_fragment(word_dont_fragment), .ttl(word_ttl), .out(new_meta)
);

wire [127:0] out_data = s_go ? head : s_data;
wire [9:0] out_user = !s_go ? s_user : summed ? L4_GOOD : 10'd0;
wire [`META_W-1:0] out_meta = s_go ? new_meta : s_meta;

ipsec_join join_inst (
    .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_first(s_first), .s_last(s_last), .s_data(out_data),
    .s_keep(s_keep), .s_user(out_user), .s_meta(out_meta), .s_go(s_go),
    .word_head_bytes(word_head_bytes), .word_text_bytes(word_text_bytes),
    .s_text_valid(s_text_valid), .s_text_ready(s_text_ready), .s_text_data(text), .beat(beat), .fetched(fetched),
    .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser), .m_axis_meta(m_axis_meta)
);

endmodule

`resetall
