// What a walk has found so far: each layer that is read adds its part.
//
// In the cycle in which a layer is read, its `set_*` is 1 and the outputs already have what it says; the walk itself looks
// at `was_*`, what the layers before it left. `start` forgets a frame, for the next one. `set_tunnel` keeps what the
// headers inside need of those outside and forgets the rest: the headers inside are then found as those outside were.
//
// Rooms inside a tunnel end with `was_l3_end` as well: the end of UDP's payload, then of the inner IP packet.
//
// Standards: docs/parser.md. Parameter: TUNNEL_EN, 0 leaves all of `in_tunnel` out.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module parser_found #(
    parameter TUNNEL_EN = 0
) (
    input  wire         clk,

    // A frame's first beat is taken
    input  wire         start,

    // Layer that is read: its first 16 bytes, its place, what follows it, and what the walk worked out
    input  wire [127:0] head,
    input  wire [8:0]   pos,
    input  wire [8:0]   pos_after,
    input  wire [16:0]  ip_end,
    input  wire         set_eth,
    input  wire         set_mac,
    input  wire         set_ip4,
    input  wire         set_ip6,
    input  wire [4:0]   set_ext,
    input  wire [2:0]   set_l4,
    input  wire         set_bth,
    input  wire [1:0]   set_natt,
    input  wire         set_tunnel,

    // What layers before this one left
    output wire         in_tunnel,
    output wire         was_outer_fragment,
    output wire         was_ip6,
    output wire [16:0]  was_l3_end,
    output wire [7:0]   was_protocol,
    output wire [2:0]   was_exts,
    output wire         was_fragment,
    output wire [15:0]  was_udp_length,

    // With this layer
    output reg          has_eth,
    output reg          has_mac,
    output reg  [1:0]   l3_kind,
    output reg  [16:0]  l3_end,
    output reg  [7:0]   protocol,
    output reg  [4:0]   ext_mask,
    output reg          fragment,
    output reg          more_fragments,
    output reg  [12:0]  frag_offset,
    output reg          segments_left,
    output reg  [7:0]   protocol_offset,
    output reg  [8:0]   l3_payload_offset,
    output reg  [2:0]   l4_kind,
    output reg  [7:0]   l4_offset,
    output reg  [8:0]   payload_offset,
    output reg  [15:0]  udp_length,
    output reg          roce,
    output reg  [1:0]   natt
);

localparam [1:0] KIND_IP4 = 2'd1;
localparam [1:0] KIND_IP6 = 2'd2;
localparam [2:0] KIND_UDP = 3'd2;
localparam [1:0] NATT_ESP = 2'd1;
localparam EXT_ROUTING = 1;
localparam EXT_FRAGMENT = 2;

reg has_eth_reg;
reg has_mac_reg;
reg [1:0] l3_kind_reg;
reg [16:0] l3_end_reg;
reg [7:0] protocol_reg;
reg [4:0] ext_mask_reg;
reg [2:0] exts_reg, exts;
reg fragment_reg;
reg more_fragments_reg;
reg [12:0] frag_offset_reg;
reg segments_left_reg;
reg [7:0] protocol_offset_reg;
reg [8:0] l3_payload_offset_reg;
reg [2:0] l4_kind_reg;
reg [7:0] l4_offset_reg;
reg [8:0] payload_offset_reg;
reg [15:0] udp_length_reg;
reg roce_reg;
reg [1:0] natt_reg;
reg inside_reg;
reg outer_fragment_reg;

wire [15:0] word_2 = head[111:96];
wire [15:0] word_4 = head[95:80];
wire [15:0] word_6 = head[79:64];

// Where the payload of the UDP that was read ends: by its own length, and by its packet's.
wire [16:0] udp_end = {9'd0, l4_offset_reg} + {1'b0, udp_length_reg};
wire [16:0] tunnel_end = udp_end < l3_end_reg ? udp_end : l3_end_reg;

wire unused_head = &{1'b0, head[119:112], head[63:0]};

assign in_tunnel = TUNNEL_EN != 0 && inside_reg;
assign was_outer_fragment = outer_fragment_reg;
assign was_ip6 = l3_kind_reg == KIND_IP6;
assign was_l3_end = l3_end_reg;
assign was_protocol = protocol_reg;
assign was_exts = exts_reg;
assign was_fragment = fragment_reg;
assign was_udp_length = udp_length_reg;

always @* begin
    has_eth = has_eth_reg || set_eth;
    has_mac = has_mac_reg || set_mac;
    l3_kind = l3_kind_reg;
    l3_end = l3_end_reg;
    protocol = protocol_reg;
    ext_mask = ext_mask_reg | set_ext;
    exts = exts_reg;
    fragment = fragment_reg;
    more_fragments = more_fragments_reg;
    frag_offset = frag_offset_reg;
    segments_left = segments_left_reg;
    protocol_offset = protocol_offset_reg;
    l3_payload_offset = l3_payload_offset_reg;
    l4_kind = l4_kind_reg;
    l4_offset = l4_offset_reg;
    payload_offset = payload_offset_reg;
    udp_length = udp_length_reg;
    roce = roce_reg || set_bth;
    natt = natt_reg | set_natt;

    if (set_ip4 || set_ip6) begin
        l3_kind = set_ip4 ? KIND_IP4 : KIND_IP6;
        l3_end = in_tunnel && l3_end_reg < ip_end ? l3_end_reg : ip_end;
        protocol = set_ip4 ? head[55:48] : word_6[15:8];
        protocol_offset = pos[7:0] + (set_ip4 ? 8'd9 : 8'd6);
        l3_payload_offset = pos_after;
    end
    if (set_ip4) begin
        more_fragments = word_6[13];
        frag_offset = word_6[12:0];
        fragment = word_6[13:0] != 14'd0;
    end
    if (set_ext != 5'd0) begin
        exts = exts_reg + 3'd1;
        protocol = head[127:120];
        protocol_offset = pos[7:0];
        l3_payload_offset = pos_after;
        if (set_ext[EXT_ROUTING] && word_2[7:0] != 8'd0) begin
            segments_left = 1'b1;
        end
        if (set_ext[EXT_FRAGMENT]) begin
            more_fragments = word_2[0];
            frag_offset = word_2[15:3];
            fragment = fragment_reg || word_2[0] || word_2[15:3] != 13'd0;
        end
    end
    if (set_l4 != 3'd0) begin
        l4_kind = set_l4;
        l4_offset = pos[7:0];
        if (set_l4 == KIND_UDP) begin
            udp_length = word_4;
        end
    end
    if (set_l4 != 3'd0 || set_bth || set_natt == NATT_ESP || set_tunnel) begin
        payload_offset = pos_after;
    end
end

wire unused_pos = &{1'b0, pos[8]};

always @(posedge clk) begin
    has_eth_reg <= has_eth;
    has_mac_reg <= has_mac;
    l3_kind_reg <= l3_kind;
    l3_end_reg <= l3_end;
    protocol_reg <= protocol;
    ext_mask_reg <= ext_mask;
    exts_reg <= exts;
    fragment_reg <= fragment;
    more_fragments_reg <= more_fragments;
    frag_offset_reg <= frag_offset;
    segments_left_reg <= segments_left;
    protocol_offset_reg <= protocol_offset;
    l3_payload_offset_reg <= l3_payload_offset;
    l4_kind_reg <= l4_kind;
    l4_offset_reg <= l4_offset;
    payload_offset_reg <= payload_offset;
    udp_length_reg <= udp_length;
    roce_reg <= roce;
    natt_reg <= natt;

    if (set_tunnel) begin
        inside_reg <= 1'b1;
        outer_fragment_reg <= fragment;
        l3_end_reg <= tunnel_end;
    end
    if (start) begin
        has_mac_reg <= 1'b0;
        segments_left_reg <= 1'b0;
        payload_offset_reg <= 9'd0;
        roce_reg <= 1'b0;
        natt_reg <= 2'd0;
        inside_reg <= 1'b0;
    end
    if (start || set_tunnel) begin
        has_eth_reg <= 1'b0;
        l3_kind_reg <= 2'd0;
        protocol_reg <= 8'd0;
        ext_mask_reg <= 5'd0;
        exts_reg <= 3'd0;
        fragment_reg <= 1'b0;
        more_fragments_reg <= 1'b0;
        frag_offset_reg <= 13'd0;
        l4_kind_reg <= 3'd0;
        l4_offset_reg <= 8'd0;
    end
end

endmodule

`resetall
