// ipsec_tx_meta: the metadata of a frame that was encrypted: what a parser would say of it (docs/ipsec.md, Transmit, Metadata).
//
// Combinational.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_tx_meta (
    input  wire [`META_W-1:0] meta,
    input  wire               transport,
    input  wire               udp,
    input  wire [1:0]         kind,
    input  wire [15:0]        payload,
    input  wire [15:0]        packet,
    input  wire [8:0]         l4_offset,
    input  wire [31:0]        spi,
    input  wire [31:0]        low,
    input  wire [15:0]        src_port,
    input  wire [15:0]        dst_port,
    input  wire [127:0]       src,
    input  wire [127:0]       dst,
    input  wire [5:0]         dscp,
    input  wire [1:0]         ecn,
    input  wire               dont_fragment,
    input  wire [7:0]         ttl,

    output reg  [`META_W-1:0] out
);

localparam [1:0] IPV4 = 2'd1;
localparam [7:0] PROTOCOL_OFFSET_IPV4 = 8'd9;
localparam [7:0] PROTOCOL_OFFSET_IPV6 = 8'd6;

always @* begin
    out = meta;

    out[`MF_PARSE_CODE] = 7'd0;
    out[`MF_ETHERTYPE] = kind == IPV4 ? 16'h0800 : 16'h86dd;
    out[`MF_L3_KIND] = kind;
    out[`MF_L3_LENGTH] = {1'b0, packet};
    out[`MF_L3_PAYLOAD_OFFSET] = l4_offset;
    out[`MF_PROTOCOL] = udp ? 8'd17 : 8'd50;
    out[`MF_L4_KIND] = udp ? 3'd2 : 3'd5;
    out[`MF_L4_OFFSET] = l4_offset[7:0];
    out[`MF_PAYLOAD_OFFSET] = l4_offset + (udp ? 9'd16 : 9'd8);
    out[`MF_SRC_PORT] = udp ? src_port : 16'd0;
    out[`MF_DST_PORT] = udp ? dst_port : 16'd0;
    out[`MF_UDP_LENGTH] = udp ? payload : 16'd0;
    out[`MF_NATT] = udp ? 2'd1 : 2'd0;
    out[`MF_SPI] = spi;
    out[`MF_ESP_SEQ] = low;
    out[`MF_SA] = meta[`MF_ACL_SA];
    out[`MF_DECRYPTED] = 1'b0;

    if (!transport) begin
        out[`MF_IP_SRC] = src;
        out[`MF_IP_DST] = dst;
        out[`MF_DSCP] = dscp;
        out[`MF_ECN] = ecn;
        out[`MF_TTL] = ttl;
        out[`MF_PROTOCOL_OFFSET] = meta[`MF_L3_OFFSET] + (kind == IPV4 ? PROTOCOL_OFFSET_IPV4 : PROTOCOL_OFFSET_IPV6);
        out[`MF_IP_CHECKSUM] = kind == IPV4 ? 2'd1 : 2'd0;
        out[`MF_IP_OPTIONS] = 1'b0;
        out[`MF_EXT_MASK] = 5'd0;
        out[`MF_SEGMENTS_LEFT] = 1'b0;
        out[`MF_FRAGMENT] = 1'b0;
        out[`MF_MORE_FRAGMENTS] = 1'b0;
        out[`MF_DONT_FRAGMENT] = dont_fragment;
        out[`MF_FRAG_OFFSET] = 13'd0;
    end

    // Everything behind is ciphertext.
    out[`MF_TCP_FLAGS] = 12'd0;
    out[`MF_ICMP_TYPE] = 8'd0;
    out[`MF_ICMP_CODE] = 8'd0;
    out[`MF_ROCE] = 1'b0;
    out[`MF_BTH_OPCODE] = 8'd0;
    out[`MF_BTH_FLAGS] = 8'd0;
    out[`MF_BTH_PKEY] = 16'd0;
    out[`MF_BTH_FECN] = 1'b0;
    out[`MF_BTH_BECN] = 1'b0;
    out[`MF_BTH_DEST_QP] = 24'd0;
    out[`MF_BTH_ACK_REQ] = 1'b0;
    out[`MF_BTH_PSN] = 24'd0;
    out[`MF_TUNNEL_KIND] = 2'd0;
    out[`MF_TUNNEL_FLAGS] = 8'd0;
    out[`MF_VNI] = 24'd0;
    out[`MF_INNER_DST_MAC] = 48'd0;
    out[`MF_INNER_SRC_MAC] = 48'd0;
    out[`MF_INNER_ETHERTYPE] = 16'd0;
    out[`MF_INNER_VLAN_COUNT] = 2'd0;
    out[`MF_INNER_VLAN0] = 16'd0;
    out[`MF_INNER_VLAN1] = 16'd0;
    out[`MF_INNER_VLAN0_AD] = 1'b0;
    out[`MF_INNER_VLAN1_AD] = 1'b0;
    out[`MF_INNER_L3_KIND] = 2'd0;
    out[`MF_INNER_L3_OFFSET] = 8'd0;
    out[`MF_INNER_L3_LENGTH] = 17'd0;
    out[`MF_INNER_IP_SRC] = 128'd0;
    out[`MF_INNER_IP_DST] = 128'd0;
    out[`MF_INNER_DSCP] = 6'd0;
    out[`MF_INNER_ECN] = 2'd0;
    out[`MF_INNER_TTL] = 8'd0;
    out[`MF_INNER_PROTOCOL] = 8'd0;
    out[`MF_INNER_IP_CHECKSUM] = 2'd0;
    out[`MF_INNER_IP_OPTIONS] = 1'b0;
    out[`MF_INNER_EXT_MASK] = 5'd0;
    out[`MF_INNER_FRAGMENT] = 1'b0;
    out[`MF_INNER_MORE_FRAGMENTS] = 1'b0;
    out[`MF_INNER_DONT_FRAGMENT] = 1'b0;
    out[`MF_INNER_FRAG_OFFSET] = 13'd0;
    out[`MF_INNER_L4_KIND] = 3'd0;
    out[`MF_INNER_L4_OFFSET] = 8'd0;
    out[`MF_INNER_SRC_PORT] = 16'd0;
    out[`MF_INNER_DST_PORT] = 16'd0;
    out[`MF_INNER_UDP_LENGTH] = 16'd0;
end

endmodule

`resetall
