// A tunnel's header and the headers inside, of each frame that an engine holds: the second set of what parser_headers keeps.
//
// `set_tunnel` writes the record's tunnel group; `set_*` and `set_found` are those of the layers inside. `show_tunnel` says
// that the record `read_slot` has a tunnel, `show_inside` that its walk went on inside. `fields` has all that they say,
// each field where it lies for what is inside, all else 0. It is 0 while `show_tunnel` is 0.
//
// `spi`, `esp_seq`, `tcp_flags`, `icmp_type` and `icmp_code` have one place for both sides: outside there was UDP.
//
// Parameters: SLOTS, records held, a power of two, at least 2.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module parser_tunnel #(
    parameter SLOTS = 2
) (
    input  wire                     clk,

    // Layers: 64 bytes from the layer's first one on, which is on top
    input  wire [$clog2(SLOTS)-1:0] write_slot,
    input  wire [511:0]             head,
    input  wire [8:0]               pos,
    input  wire                     set_tunnel,
    input  wire                     set_geneve,
    input  wire                     set_eth,
    input  wire                     set_ip4,
    input  wire                     set_ip6,
    input  wire                     set_l4,
    input  wire [1:0]               tags,

    // What was found
    input  wire                     set_found,
    input  wire                     has_eth,
    input  wire [1:0]               l3_kind,
    input  wire [7:0]               protocol,
    input  wire [4:0]               ext_mask,
    input  wire                     fragment,
    input  wire                     more_fragments,
    input  wire [12:0]              frag_offset,
    input  wire [2:0]               l4_kind,
    input  wire [7:0]               l4_offset,
    input  wire [15:0]              udp_length,

    // Fields
    input  wire                     show_tunnel,
    input  wire                     show_inside,
    input  wire [$clog2(SLOTS)-1:0] read_slot,
    output reg  [`META_W-1:0]       fields
);

localparam [1:0] TUNNEL_VXLAN = 2'd1;
localparam [1:0] TUNNEL_GENEVE = 2'd2;
localparam [15:0] TYPE_ETH = 16'h6558;

localparam TUNNEL_W = 2 + 8 + 24 + 16;

reg [TUNNEL_W-1:0] tunnel_mem [0:SLOTS-1];

// The tunnel's header, as a group: kind, flags, VNI, and what GENEVE carries if it isn't Ethernet.
function [TUNNEL_W-1:0] tunnel_group(input [55:0] bytes, input geneve);
    tunnel_group = {
        geneve ? TUNNEL_GENEVE : TUNNEL_VXLAN,
        geneve ? bytes[47:40] : bytes[55:48],
        bytes[23:0],
        geneve && bytes[39:24] != TYPE_ETH ? bytes[39:24] : 16'd0
    };
endfunction

always @(posedge clk) begin
    if (set_tunnel) begin
        tunnel_mem[write_slot] <= tunnel_group(head[511:456], set_geneve);
    end
end

wire [`META_W-1:0] inner;
wire [15:0] udp_checksum;
wire [TUNNEL_W-1:0] tunnel = tunnel_mem[read_slot];
reg [15:0] carried;

wire unused_inner = &{1'b0, inner, udp_checksum};

always @* begin
    fields = {`META_W{1'b0}};
    carried = 16'd0;
    if (show_tunnel) begin
        {fields[`MF_TUNNEL_KIND], fields[`MF_TUNNEL_FLAGS], fields[`MF_VNI], carried} = tunnel;
        fields[`MF_INNER_DST_MAC] = inner[`MF_DST_MAC];
        fields[`MF_INNER_SRC_MAC] = inner[`MF_SRC_MAC];
        fields[`MF_INNER_ETHERTYPE] = inner[`MF_ETHERTYPE] | carried;
        fields[`MF_INNER_VLAN_COUNT] = inner[`MF_VLAN_COUNT];
        fields[`MF_INNER_VLAN0] = inner[`MF_VLAN0];
        fields[`MF_INNER_VLAN1] = inner[`MF_VLAN1];
        fields[`MF_INNER_VLAN0_AD] = inner[`MF_VLAN0_AD];
        fields[`MF_INNER_VLAN1_AD] = inner[`MF_VLAN1_AD];
        fields[`MF_INNER_L3_KIND] = inner[`MF_L3_KIND];
        fields[`MF_INNER_L3_OFFSET] = inner[`MF_L3_OFFSET];
        fields[`MF_INNER_L3_LENGTH] = inner[`MF_L3_LENGTH];
        fields[`MF_INNER_IP_SRC] = inner[`MF_IP_SRC];
        fields[`MF_INNER_IP_DST] = inner[`MF_IP_DST];
        fields[`MF_INNER_DSCP] = inner[`MF_DSCP];
        fields[`MF_INNER_ECN] = inner[`MF_ECN];
        fields[`MF_INNER_TTL] = inner[`MF_TTL];
        fields[`MF_INNER_PROTOCOL] = inner[`MF_PROTOCOL];
        fields[`MF_INNER_IP_CHECKSUM] = inner[`MF_IP_CHECKSUM];
        fields[`MF_INNER_IP_OPTIONS] = inner[`MF_IP_OPTIONS];
        fields[`MF_INNER_EXT_MASK] = inner[`MF_EXT_MASK];
        fields[`MF_INNER_FRAGMENT] = inner[`MF_FRAGMENT];
        fields[`MF_INNER_MORE_FRAGMENTS] = inner[`MF_MORE_FRAGMENTS];
        fields[`MF_INNER_DONT_FRAGMENT] = inner[`MF_DONT_FRAGMENT];
        fields[`MF_INNER_FRAG_OFFSET] = inner[`MF_FRAG_OFFSET];
        fields[`MF_INNER_L4_KIND] = inner[`MF_L4_KIND];
        fields[`MF_INNER_L4_OFFSET] = inner[`MF_L4_OFFSET];
        fields[`MF_INNER_SRC_PORT] = inner[`MF_SRC_PORT];
        fields[`MF_INNER_DST_PORT] = inner[`MF_DST_PORT];
        fields[`MF_INNER_UDP_LENGTH] = inner[`MF_UDP_LENGTH];
        fields[`MF_TCP_FLAGS] = inner[`MF_TCP_FLAGS];
        fields[`MF_ICMP_TYPE] = inner[`MF_ICMP_TYPE];
        fields[`MF_ICMP_CODE] = inner[`MF_ICMP_CODE];
        fields[`MF_SPI] = inner[`MF_SPI];
        fields[`MF_ESP_SEQ] = inner[`MF_ESP_SEQ];
    end
end

parser_headers #(
    .SLOTS(SLOTS)
) headers_inst (
    .clk(clk),
    .write_slot(write_slot),
    .head(head),
    .pos(pos),
    .set_eth(set_eth),
    .set_ip4(set_ip4),
    .set_ip6(set_ip6),
    .set_l4(set_l4),
    .tags(tags),
    .set_found(set_found),
    .has_eth(has_eth),
    .l3_kind(l3_kind),
    .protocol(protocol),
    .ext_mask(ext_mask),
    .fragment(fragment),
    .more_fragments(more_fragments),
    .frag_offset(frag_offset),
    .l4_kind(l4_kind),
    .l4_offset(l4_offset),
    .udp_length(udp_length),
    .show(show_inside),
    .read_slot(read_slot),
    .fields(inner),
    .udp_checksum(udp_checksum)
);

endmodule

`resetall
