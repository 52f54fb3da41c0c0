// GHASH of a frame's beats: tag = (tag ^ beat) * key in GF(2^128), a whole product a cycle. Part of the frozen reference
// design: bench/README.md. Latency 1 cycle, one beat a cycle while `en`. NIST SP 800-38D, section 6.3; bit 0 of the standard
// is bit 127 here.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ref_ghash (
    input  wire         clk,
    input  wire         en,
    input  wire         first,
    input  wire [127:0] data,
    input  wire [127:0] key,
    output reg  [127:0] tag_reg
);

    function [127:0] product(input [127:0] x, input [127:0] y);
        reg [127:0] z;
        reg [127:0] v;
        integer     i;
        begin
            z = 128'd0;
            v = y;
            for (i = 127; i >= 0; i = i - 1) begin
                z = z ^ (v & {128{x[i]}});
                v = {1'b0, v[127:1]} ^ (128'he1000000000000000000000000000000 & {128{v[0]}});
            end
            product = z;
        end
    endfunction

    always @(posedge clk) if (en) tag_reg <= product(data ^ (first ? 128'd0 : tag_reg), key);

endmodule

`resetall
