// What the characters of an XGMII word are: mac_rx's first look at it. No register, no latency.
//
// `may_start` of a column: behind it a start is the start of a frame (IEEE 802.3, 46.1.7.5.2): four idles, a sequence
// ordered set, or a terminate among its characters.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_rx_columns (
    input  wire [63:0] d,
    input  wire [7:0]  c,

    output wire [7:0]  start,
    output wire [7:0]  terminate,
    output wire [1:0]  may_start,
    output wire [1:0]  local_fault,    // sequence
    output wire [1:0]  remote_fault
);

wire [7:0] idle;

genvar i;
generate
    for (i = 0; i < 8; i = i + 1) begin : character
        assign idle[i] = c[i] && d[i*8 +: 8] == 8'h07;
        assign start[i] = c[i] && d[i*8 +: 8] == 8'hfb;
        assign terminate[i] = c[i] && d[i*8 +: 8] == 8'hfd;
    end
    for (i = 0; i < 2; i = i + 1) begin : column
        wire sequence_set = c[i*4 +: 4] == 4'h1 && d[i*32 +: 8] == 8'h9c;
        assign may_start[i] = (&idle[i*4 +: 4]) || sequence_set || (|terminate[i*4 +: 4]);
        assign local_fault[i] = sequence_set && d[i*32+8 +: 24] == 24'h010000;
        assign remote_fault[i] = sequence_set && d[i*32+8 +: 24] == 24'h020000;
    end
endgenerate

endmodule

`resetall
