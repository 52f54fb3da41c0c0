// Fields of one layer of headers to the key of acl_match (docs/acl.md, The matcher, Key). What isn't there is 0.
//
// Fields that are there in cycle c with `take` are the key from c + 1 on, until the next `take`.
//
// Parameters: IPV6, 0: addresses of 32 bits, 0 in frames with IPv6; INNER, 1: the headers are those in a tunnel.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_key #(
    parameter IPV6 = 1,
    parameter INNER = 0,
    parameter KEY_W = IPV6 != 0 ? 384 : 192
) (
    input  wire             clk,
    input  wire             take,

    input  wire [15:0]      ethertype,
    input  wire [1:0]       vlan_count,
    input  wire [15:0]      tci,
    input  wire [7:0]       protocol,
    input  wire [5:0]       dscp,
    input  wire [1:0]       ecn,
    input  wire             fragment,
    input  wire [1:0]       l3_kind,
    input  wire [127:0]     ip_src,
    input  wire [127:0]     ip_dst,
    input  wire [2:0]       l4_kind,
    input  wire [15:0]      l4_src_port,
    input  wire [15:0]      l4_dst_port,
    input  wire [11:0]      tcp_flags,
    input  wire [7:0]       icmp_type,
    input  wire [7:0]       icmp_code,
    input  wire             roce,
    input  wire [7:0]       bth_opcode,
    input  wire [23:0]      dest_qp,
    input  wire [7:0]       port,
    input  wire             decrypted,
    input  wire [11:0]      sa,

    output wire [KEY_W-1:0] key,
    output wire [15:0]      src_port,
    output wire [15:0]      dst_port
);

localparam INNER_BIT = INNER != 0 ? 1'b1 : 1'b0;

// `l4_kind` of the metadata, and `l4` of the key: two kinds that are asked together differ in their lowest bit.
localparam [2:0] KIND_TCP = 3'd1, KIND_UDP = 3'd2, KIND_ICMP = 3'd3, KIND_ICMPV6 = 3'd4, KIND_ESP = 3'd5;
localparam [2:0] KEY_NONE = 3'd0, KEY_ESP = 3'd1, KEY_TCP = 3'd2, KEY_UDP = 3'd3, KEY_ICMP = 3'd4, KEY_ICMPV6 = 3'd5;

localparam [1:0] KIND_IPV4 = 2'd1;

reg [127:0] common_reg;
reg [15:0] src_port_reg;
reg [15:0] dst_port_reg;

wire has_tag = vlan_count != 2'd0;
wire [15:0] tag = {tci[15:13], 1'b1, tci[11:0]};

function [2:0] l4_of(input [2:0] kind);
    case (kind)
        KIND_TCP: l4_of = KEY_TCP;
        KIND_UDP: l4_of = KEY_UDP;
        KIND_ICMP: l4_of = KEY_ICMP;
        KIND_ICMPV6: l4_of = KEY_ICMPV6;
        KIND_ESP: l4_of = KEY_ESP;
        default: l4_of = KEY_NONE;
    endcase
endfunction

function [15:0] bits_of(input [2:0] kind, input [11:0] flags, input [7:0] kind_of_message, input [7:0] code);
    case (kind)
        KIND_TCP: bits_of = {4'd0, flags};
        KIND_ICMP, KIND_ICMPV6: bits_of = {kind_of_message, code};
        default: bits_of = 16'd0;
    endcase
endfunction

assign src_port = src_port_reg;
assign dst_port = dst_port_reg;

wire unused_bits = &{1'b0, tci[12], ip_src, ip_dst};

// From the highest bit down: spare, sa, decrypted, inner, l3, BTH, port, l4, fragment, and so on as the page has it.
always @(posedge clk) begin
    if (take) begin
        common_reg <= {
            3'd0, sa, decrypted, INNER_BIT,
            l3_kind[1], l3_kind != 2'd0,
            roce, roce ? dest_qp : 24'd0, roce ? bth_opcode : 8'd0,
            port, l4_of(l4_kind), fragment,
            bits_of(l4_kind, tcp_flags, icmp_type, icmp_code),
            ecn, dscp, protocol,
            has_tag ? tag : 16'd0,
            ethertype
        };
        src_port_reg <= l4_src_port;
        dst_port_reg <= l4_dst_port;
    end
end

generate
    if (IPV6 != 0) begin : g_long
        reg [127:0] src_reg;
        reg [127:0] dst_reg;

        assign key = {src_reg, dst_reg, common_reg};

        always @(posedge clk) begin
            if (take) begin
                src_reg <= ip_src;
                dst_reg <= ip_dst;
            end
        end
    end else begin : g_short
        reg [31:0] src_reg;
        reg [31:0] dst_reg;

        assign key = {src_reg, dst_reg, common_reg};

        always @(posedge clk) begin
            if (take) begin
                src_reg <= l3_kind == KIND_IPV4 ? ip_src[31:0] : 32'd0;
                dst_reg <= l3_kind == KIND_IPV4 ? ip_dst[31:0] : 32'd0;
            end
        end
    end
endgenerate

endmodule

`resetall
