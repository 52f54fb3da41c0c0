// The header of a memory request (PCIe 4.0 2.2.4.1, 2.2.5, 2.2.7). No state.
//
// `none`: a zero-length read, of one DW without byte enables.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_header (
    input  wire         write,
    input  wire         none,
    input  wire [63:0]  addr,
    input  wire [12:0]  bytes,
    input  wire [9:0]   tag,
    input  wire [15:0]  requester_id,
    input  wire         ro,
    input  wire         ns,
    input  wire         ido,

    output wire [127:0] hdr,
    output wire [10:0]  dws
);

wire long = addr[63:32] != 32'd0;
wire [12:0] end_place = {11'd0, addr[1:0]} + bytes;
wire [12:0] rounded = end_place + 13'd3;
wire [3:0] first_mask = 4'hf << addr[1:0];
wire [3:0] last_mask = end_place[1:0] == 2'd0 ? 4'hf : ~(4'hf << end_place[1:0]);
wire one = dws == 11'd1;
wire [3:0] first_enable = none ? 4'd0 : one ? first_mask & last_mask : first_mask;
wire [3:0] last_enable = none || one ? 4'd0 : last_mask;
wire [31:0] dw0 = {
    1'b0, write, long, 5'd0, tag[9], 3'd0, tag[8], ido, 4'd0, ro, ns, 2'd0, dws[9:0]
};
wire [31:0] dw1 = {requester_id, tag[7:0], last_enable, first_enable};
wire [31:0] low = {addr[31:2], 2'd0};

assign dws = none ? 11'd1 : rounded[12:2];
assign hdr = long ? {low, addr[63:32], dw1, dw0} : {32'd0, low, dw1, dw0};

wire unused_bits = &{1'b0, rounded[1:0]};

endmodule

`resetall
