// ipsec_head: a beat of the head of a frame that was decrypted or encrypted, as it leaves.
//
// Transport: the byte at protocol_offset, IPv4's total length and checksum, IPv6's payload length. Tunnel: the EtherType in the
// two bytes in front of l3_offset. `change` is what is added to the complement of the checksum (RFC 1624, equation 3). Layers
// begin at even bytes, so no field lies in two beats.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_head (
    input  wire [4:0]   beat,
    input  wire [127:0] data,
    input  wire         tunnel,
    input  wire         inner_ipv6,
    input  wire         ipv4,
    input  wire [7:0]   l3_offset,
    input  wire [7:0]   protocol_offset,
    input  wire [15:0]  new_length,
    input  wire [15:0]  change,
    input  wire [7:0]   next_header,
    output wire [127:0] mended
);

// Two fields of two bytes: in front of IP, or in it a length and a checksum
wire [8:0] length_at = {1'b0, l3_offset} + (tunnel ? -9'sd2 : ipv4 ? 9'd2 : 9'd4);
wire [8:0] sum_at = {1'b0, l3_offset} + 9'd10;
wire [15:0] length_field = !tunnel ? new_length : inner_ipv6 ? 16'h86dd : 16'h0800;
wire length_here = length_at[8:4] == beat;
wire sum_here = !tunnel && ipv4 && sum_at[8:4] == beat;
wire protocol_here = !tunnel && {1'b0, protocol_offset[7:4]} == beat;

wire [15:0] old_bytes = data[{sum_at[3:1], 4'd0} +: 16];
wire [16:0] sum = {1'b0, ~{old_bytes[7:0], old_bytes[15:8]}} + {1'b0, change};
wire [15:0] new_sum = ~(sum[15:0] + {15'd0, sum[16]});

wire unused_bits = &{1'b0, length_at[0], sum_at[0]};

genvar i;
generate
    for (i = 0; i < 8; i = i + 1) begin : g_word
        wire [15:0] word = length_here && length_at[3:1] == i ? {length_field[7:0], length_field[15:8]}
            : sum_here && sum_at[3:1] == i ? {new_sum[7:0], new_sum[15:8]} : data[16*i +: 16];
        wire here = protocol_here && protocol_offset[3:1] == i;
        assign mended[16*i +: 8] = here && !protocol_offset[0] ? next_header : word[7:0];
        assign mended[16*i + 8 +: 8] = here && protocol_offset[0] ? next_header : word[15:8];
    end
endgenerate

endmodule

`resetall
