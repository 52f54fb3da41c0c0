// One of the engines that take frames in turn: the window on a frame's first bytes, the walk along its headers, the
// record of what was found.
//
// A beat that is taken in cycle c is seen by the walk in c + 1; a walk that ends in cycle t has its record at `waiting`
// in t + 1. `free` says that a frame's first beat may be taken in this cycle.
//
// Parameters: PARSE_BYTES, a power of two, 64 to 256; SLOTS, records held, a power of two, at least 2; TUNNEL_EN, 1 reads
// tunnels too.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module parser_engine #(
    parameter PARSE_BYTES = 128,
    parameter SLOTS = 2,
    parameter TUNNEL_EN = 0
) (
    input  wire               clk,
    input  wire               rst,

    // Frame in
    output wire               free,
    input  wire               beat_valid,
    input  wire               beat_first,
    input  wire               beat_last,
    input  wire [127:0]       beat_data,
    input  wire [4:0]         beat_bytes,
    input  wire [`META_W-1:0] beat_meta,

    // Record out
    output wire               waiting,
    input  wire               take,
    output wire [`META_W-1:0] out_meta,
    output wire [6:0]         out_code,
    output wire [1:0]         out_l3_kind,
    output wire [16:0]        out_l3_end,
    output wire [1:0]         out_sum_kind,
    output wire [31:0]        out_sum_addresses,
    output wire [7:0]         out_sum_start,
    output wire [16:0]        out_sum_end,
    output wire [16:0]        out_sum_init
);

localparam [1:0] NATT_ESP = 2'd1;

wire start = beat_valid && beat_first;
wire walk_free;
wire record_free;
wire [8:0] have;
wire ended;
wire walking;
wire [8:0] pos;
wire [511:0] head;
wire [175:0] walk_head = head[511:336];
wire [127:0] found_head = head[511:384];
wire set_eth;
wire set_mac;
wire set_ip4;
wire set_ip6;
wire [4:0] set_ext;
wire [2:0] set_l4;
wire set_bth;
wire [1:0] set_natt;
wire set_tunnel;
wire set_geneve;
wire [1:0] tags;
wire [8:0] pos_after;
wire [16:0] ip_end;
wire in_tunnel;
wire was_outer_fragment;
wire was_ip6;
wire [16:0] was_l3_end;
wire [7:0] was_protocol;
wire [2:0] was_exts;
wire was_fragment;
wire [15:0] was_udp_length;
wire done;
wire [6:0] code;
wire has_eth;
wire has_mac;
wire [1:0] l3_kind;
wire [16:0] l3_end;
wire [7:0] protocol;
wire [4:0] ext_mask;
wire fragment;
wire more_fragments;
wire [12:0] frag_offset;
wire segments_left;
wire [7:0] protocol_offset;
wire [8:0] l3_payload_offset;
wire [2:0] l4_kind;
wire [7:0] l4_offset;
wire [8:0] payload_offset;
wire [15:0] udp_length;
wire roce;
wire [1:0] natt;

wire record_l4 = set_l4 != 3'd0;
wire record_upper = set_bth || set_natt == NATT_ESP;

assign free = walk_free && record_free;

parser_window #(
    .PARSE_BYTES(PARSE_BYTES)
) window_inst (
    .clk(clk),
    .beat_valid(beat_valid),
    .beat_first(beat_first),
    .beat_last(beat_last),
    .beat_data(beat_data),
    .beat_bytes(beat_bytes),
    .have(have),
    .ended(ended),
    .show(walking),
    .pos(pos),
    .head(head)
);

parser_walk #(
    .PARSE_BYTES(PARSE_BYTES),
    .TUNNEL_EN(TUNNEL_EN)
) walk_inst (
    .clk(clk),
    .rst(rst),
    .start(start),
    .free(walk_free),
    .have(have),
    .ended(ended),
    .walking(walking),
    .pos(pos),
    .head(walk_head),
    .in_tunnel(in_tunnel),
    .was_outer_fragment(was_outer_fragment),
    .was_ip6(was_ip6),
    .was_l3_end(was_l3_end),
    .was_protocol(was_protocol),
    .was_exts(was_exts),
    .was_fragment(was_fragment),
    .was_udp_length(was_udp_length),
    .set_eth(set_eth),
    .set_mac(set_mac),
    .set_ip4(set_ip4),
    .set_ip6(set_ip6),
    .set_ext(set_ext),
    .set_l4(set_l4),
    .set_bth(set_bth),
    .set_natt(set_natt),
    .set_tunnel(set_tunnel),
    .set_geneve(set_geneve),
    .tags(tags),
    .pos_after(pos_after),
    .ip_end(ip_end),
    .done(done),
    .code(code)
);

parser_found #(
    .TUNNEL_EN(TUNNEL_EN)
) found_inst (
    .clk(clk),
    .start(start),
    .head(found_head),
    .pos(pos),
    .pos_after(pos_after),
    .ip_end(ip_end),
    .set_eth(set_eth),
    .set_mac(set_mac),
    .set_ip4(set_ip4),
    .set_ip6(set_ip6),
    .set_ext(set_ext),
    .set_l4(set_l4),
    .set_bth(set_bth),
    .set_natt(set_natt),
    .set_tunnel(set_tunnel),
    .in_tunnel(in_tunnel),
    .was_outer_fragment(was_outer_fragment),
    .was_ip6(was_ip6),
    .was_l3_end(was_l3_end),
    .was_protocol(was_protocol),
    .was_exts(was_exts),
    .was_fragment(was_fragment),
    .was_udp_length(was_udp_length),
    .has_eth(has_eth),
    .has_mac(has_mac),
    .l3_kind(l3_kind),
    .l3_end(l3_end),
    .protocol(protocol),
    .ext_mask(ext_mask),
    .fragment(fragment),
    .more_fragments(more_fragments),
    .frag_offset(frag_offset),
    .segments_left(segments_left),
    .protocol_offset(protocol_offset),
    .l3_payload_offset(l3_payload_offset),
    .l4_kind(l4_kind),
    .l4_offset(l4_offset),
    .payload_offset(payload_offset),
    .udp_length(udp_length),
    .roce(roce),
    .natt(natt)
);

parser_record #(
    .SLOTS(SLOTS),
    .TUNNEL_EN(TUNNEL_EN)
) record_inst (
    .clk(clk),
    .rst(rst),
    .start(start),
    .start_meta(beat_meta),
    .free(record_free),
    .head(head),
    .pos(pos),
    .in_tunnel(in_tunnel),
    .set_eth(set_eth),
    .set_mac(set_mac),
    .set_ip4(set_ip4),
    .set_ip6(set_ip6),
    .set_l4(record_l4),
    .set_upper(record_upper),
    .set_tunnel(set_tunnel),
    .set_geneve(set_geneve),
    .tags(tags),
    .done(done),
    .code(code),
    .has_eth(has_eth),
    .has_mac(has_mac),
    .l3_kind(l3_kind),
    .l3_end(l3_end),
    .protocol(protocol),
    .ext_mask(ext_mask),
    .fragment(fragment),
    .more_fragments(more_fragments),
    .frag_offset(frag_offset),
    .segments_left(segments_left),
    .protocol_offset(protocol_offset),
    .l3_payload_offset(l3_payload_offset),
    .l4_kind(l4_kind),
    .l4_offset(l4_offset),
    .payload_offset(payload_offset),
    .udp_length(udp_length),
    .roce(roce),
    .natt(natt),
    .waiting(waiting),
    .take(take),
    .out_meta(out_meta),
    .out_code(out_code),
    .out_l3_kind(out_l3_kind),
    .out_l3_end(out_l3_end),
    .out_sum_kind(out_sum_kind),
    .out_sum_addresses(out_sum_addresses),
    .out_sum_start(out_sum_start),
    .out_sum_end(out_sum_end),
    .out_sum_init(out_sum_init)
);

endmodule

`resetall
