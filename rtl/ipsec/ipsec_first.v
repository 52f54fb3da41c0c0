// ipsec_first: the lowest set bit of a vector, whether there is one and its number.
//
// `start` in cycle c, with the bits; `done`, `found` and `number` in c + 4. A start in four cycles at most; the bits stand
// still from c to c + 2. Stages: which groups of 64 bits have one; the first such group; its bits; the first of them.
//
// Parameter: SAS, a power of two from 2 to 4096.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_first #(
    parameter SAS = 256,
    parameter SA_W = $clog2(SAS)
) (
    input  wire            clk,
    input  wire            rst,

    input  wire            start,
    input  wire [SAS-1:0]  bits,

    output wire            done,
    output wire            found,
    output wire [SA_W-1:0] number
);

localparam GROUPS = (SAS + 63) / 64;

// The lowest of 64 bits; of none 63.
function [5:0] lowest(input [63:0] of);
    integer i;
    begin
        lowest = 6'd63;
        for (i = 62; i >= 0; i = i - 1) begin
            if (of[i]) begin
                lowest = i[5:0];
            end
        end
    end
endfunction

reg [3:0] stage_reg;
reg [63:0] any_reg;
reg [5:0] group_reg;
reg some_reg;
reg [63:0] word_reg;
reg found_reg;
reg [5:0] number_reg;
reg [5:0] number_group_reg;

wire [4095:0] all = {{(4096 - SAS){1'b0}}, bits};
wire [11:0] whole = {number_group_reg, number_reg};

assign done = stage_reg[3];
assign found = found_reg;
assign number = whole[SA_W-1:0];

wire unused_whole = &{1'b0, whole};

integer k;

always @(posedge clk) begin
    if (start) begin
        for (k = 0; k < 64; k = k + 1) begin
            any_reg[k] <= k < GROUPS && |all[k*64 +: 64];
        end
    end
    if (stage_reg[0]) begin
        some_reg <= |any_reg;
        group_reg <= lowest(any_reg);
    end
    if (stage_reg[1]) begin
        word_reg <= all[{group_reg, 6'd0} +: 64];
    end
    if (stage_reg[2]) begin
        found_reg <= some_reg;
        number_reg <= lowest(word_reg);
        number_group_reg <= group_reg;
    end

    stage_reg <= {stage_reg[2:0], start};
    if (rst) begin
        stage_reg <= 4'd0;
    end
end

endmodule

`resetall
