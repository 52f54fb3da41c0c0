// gcm_ghash: GHASH, one block a cycle, one packet right behind another.
//
// SP 800-38D, 6.3 and 6.4: Y = (Y ^ X) * H. A multiplication takes one cycle and is done when the next block comes: what
// is held is Y ^ X. A packet's first block (x_first) is taken as it is: whoever resumes adds the Y so far to it.
// x_absorb 0: the last block is not to be multiplied (nothing was added to Y with it).
//
// Latency: y is valid two cycles behind x_valid && x_last. Where nothing is valid, nothing is computed. A reset is not
// needed: x_first forgets what was before; what x_last of a cycle before a reset makes is for the user to ignore.
//
// The multiplier: Karatsuba, 128 bits as three times 64, each as three times 32, and so on to 16.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_ghash (
    input  wire         clk,

    input  wire         x_valid,
    input  wire         x_first,
    input  wire         x_last,
    input  wire         x_absorb,
    input  wire [127:0] x,
    input  wire [127:0] h,             // beside x_first

    output wire [127:0] y
);

// The first bit of a byte is its highest: from bytes in order to coefficients in order, and back.
function [127:0] turn(input [127:0] bytes);
    reg [127:0] swapped;
    begin
        swapped = (bytes >> 4 & {16{8'h0f}}) | (bytes << 4 & {16{8'hf0}});
        swapped = (swapped >> 2 & {16{8'h33}}) | (swapped << 2 & {16{8'hcc}});
        turn = (swapped >> 1 & {16{8'h55}}) | (swapped << 1 & {16{8'haa}});
    end
endfunction

// Products of polynomials over GF(2).

function [31:0] times_16(input [15:0] a, input [15:0] b);
    integer i;
    begin
        times_16 = 32'd0;
        for (i = 0; i < 16; i = i + 1) begin
            times_16 = times_16 ^ ({32{a[i]}} & {16'd0, b} << i);
        end
    end
endfunction

function [63:0] times_32(input [31:0] a, input [31:0] b);
    reg [31:0] low, high, middle;
    begin
        low = times_16(a[15:0], b[15:0]);
        high = times_16(a[31:16], b[31:16]);
        middle = times_16(a[15:0] ^ a[31:16], b[15:0] ^ b[31:16]) ^ low ^ high;
        times_32 = {high, low} ^ {16'd0, middle, 16'd0};
    end
endfunction

function [127:0] times_64(input [63:0] a, input [63:0] b);
    reg [63:0] low, high, middle;
    begin
        low = times_32(a[31:0], b[31:0]);
        high = times_32(a[63:32], b[63:32]);
        middle = times_32(a[31:0] ^ a[63:32], b[31:0] ^ b[63:32]) ^ low ^ high;
        times_64 = {high, low} ^ {32'd0, middle, 32'd0};
    end
endfunction

// Modulo x^128 + x^7 + x^2 + x + 1.
function [127:0] times(input [127:0] a, input [127:0] b);
    reg [127:0] low, high, middle;
    reg [255:0] whole;
    reg [127:0] left;
    reg [6:0]   over;
    begin
        low = times_64(a[63:0], b[63:0]);
        high = times_64(a[127:64], b[127:64]);
        middle = times_64(a[63:0] ^ a[127:64], b[63:0] ^ b[127:64]) ^ low ^ high;
        whole = {high, low} ^ {64'd0, middle, 64'd0};
        left = whole[255:128];
        over = left[127:121] ^ {5'd0, left[127:126]} ^ {6'd0, left[127]};
        times = whole[127:0] ^ left ^ left << 1 ^ left << 2 ^ left << 7
            ^ {121'd0, over} ^ {120'd0, over, 1'b0} ^ {119'd0, over, 2'd0} ^ {114'd0, over, 7'd0};
    end
endfunction

reg         last_reg;
reg         absorb_reg;
reg [127:0] sum_reg;
reg [127:0] h_reg;
reg [127:0] y_reg;

assign y = turn(y_reg);

always @(posedge clk) begin
    last_reg <= x_valid & x_last;
    if (x_valid) begin
        absorb_reg <= x_absorb;
        if (x_first) begin
            sum_reg <= turn(x);
            h_reg <= turn(h);
        end else begin
            sum_reg <= times(sum_reg, h_reg) ^ turn(x);
        end
    end
    if (last_reg) begin
        y_reg <= absorb_reg ? times(sum_reg, h_reg) : sum_reg;
    end
end

endmodule

`resetall
