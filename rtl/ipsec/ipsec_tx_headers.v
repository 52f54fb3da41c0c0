// ipsec_tx_headers: what is put in front of the ciphertext of a frame (docs/ipsec.md, Transmit): in tunnel mode the outer IP
// header (RFC 4301 5.1.2, RFC 6040 4.1), with NAT-T UDP (RFC 3948 2.1), then SPI, sequence number and IV.
//
// `headers`: its bytes from bit 0 on, 0 behind them; `front`: how many. UDP's checksum is 0: over IPv6 somebody else writes it.
// Combinational.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_tx_headers (
    input  wire         transport,
    input  wire         udp,
    input  wire         ipv6,
    input  wire [15:0]  payload,
    input  wire [15:0]  packet,
    input  wire [63:0]  number,
    input  wire [31:0]  spi,
    input  wire [15:0]  src_port,
    input  wire [15:0]  dst_port,
    input  wire [127:0] src,
    input  wire [127:0] dst,
    input  wire [5:0]   dscp,
    input  wire [1:0]   ecn,
    input  wire         dont_fragment,
    input  wire [7:0]   ttl,
    input  wire [19:0]  flow_label,

    output wire [511:0] headers,
    output wire [6:0]   front
);

localparam [7:0] ESP = 8'd50;
localparam [7:0] UDP = 8'd17;

function [15:0] bytes_16(input [15:0] word);
    bytes_16 = {word[7:0], word[15:8]};
endfunction

function [31:0] bytes_32(input [31:0] word);
    bytes_32 = {bytes_16(word[15:0]), bytes_16(word[31:16])};
endfunction

function [127:0] bytes_128(input [127:0] word);
    bytes_128 = {bytes_32(word[31:0]), bytes_32(word[63:32]), bytes_32(word[95:64]), bytes_32(word[127:96])};
endfunction

function [15:0] fold(input [19:0] total);
    reg [16:0] once;
    begin
        once = {1'b0, total[15:0]} + {13'd0, total[19:16]};
        fold = once[15:0] + {15'd0, once[16]};
    end
endfunction

wire [7:0] protocol = udp ? UDP : ESP;
wire [7:0] traffic_class = {dscp, ecn};

wire [15:0] ipv4_first = {8'h45, traffic_class};
wire [15:0] ipv4_flags = {1'b0, dont_fragment, 14'd0};
wire [19:0] ipv4_sum = {4'd0, ipv4_first} + {4'd0, packet} + {4'd0, number[15:0]} + {4'd0, ipv4_flags}
    + {4'd0, ttl, protocol} + {4'd0, src[31:16]} + {4'd0, src[15:0]} + {4'd0, dst[31:16]} + {4'd0, dst[15:0]};
wire [159:0] ipv4_header = {
    bytes_32(dst[31:0]), bytes_32(src[31:0]), bytes_16(~fold(ipv4_sum)), protocol, ttl, bytes_16(ipv4_flags),
    bytes_16(number[15:0]), bytes_16(packet), bytes_16(ipv4_first)
};
wire [319:0] ipv6_header = {
    bytes_128(dst), bytes_128(src), ttl, protocol, bytes_16(payload), bytes_32({4'd6, traffic_class, flow_label})
};

wire [127:0] esp_header = {bytes_32(number[31:0]), bytes_32(number[63:32]), bytes_32(number[31:0]), bytes_32(spi)};
wire [63:0] udp_header = {16'd0, bytes_16(payload), bytes_16(dst_port), bytes_16(src_port)};
wire [191:0] inner = udp ? {esp_header, udp_header} : {64'd0, esp_header};

assign headers = transport ? {320'd0, inner} : ipv6 ? {inner, ipv6_header} : {160'd0, inner, ipv4_header};
assign front = (transport ? 7'd0 : ipv6 ? 7'd40 : 7'd20) + (udp ? 7'd24 : 7'd16);

endmodule

`resetall
