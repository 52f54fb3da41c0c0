// What a rate gives in a time: 64 bits of ns times 40 bits of rate, in two cycles; at 2^65 it ends.
//
// Operands are there in cycle 2 of an ask, `sum` in cycle 4: modulo 2^65, and `over` where it is that or more. Four
// products of 32 x 20 bits are made in cycle 2 and added in cycle 3.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_meter_product (
    input  wire        clk,

    input  wire        stage_2,
    input  wire        stage_3,
    input  wire [63:0] elapsed,
    input  wire [39:0] rate,
    output wire [64:0] sum,
    output wire        over
);

reg [51:0] low_low_reg;    // weighs 1
reg [51:0] low_high_reg;   // 2^20: the lower half of the time, the upper one of the rate
reg [51:0] high_low_reg;   // 2^32
reg [51:0] high_high_reg;  // 2^52
reg [64:0] sum_reg;
reg over_reg;

wire [66:0] total = {2'd0, high_high_reg[12:0], low_low_reg} + {2'd0, low_high_reg[44:0], 20'd0} +
    {2'd0, high_low_reg[32:0], 32'd0};

assign sum = sum_reg;
assign over = over_reg;

always @(posedge clk) begin
    if (stage_2) begin
        low_low_reg <= elapsed[31:0] * rate[19:0];
        low_high_reg <= elapsed[31:0] * rate[39:20];
        high_low_reg <= elapsed[63:32] * rate[19:0];
        high_high_reg <= elapsed[63:32] * rate[39:20];
    end
    if (stage_3) begin
        sum_reg <= total[64:0];
        over_reg <= |total[66:65] || |high_high_reg[51:13] || |low_high_reg[51:45] || |high_low_reg[51:33];
    end
end

endmodule

`resetall
