// Ternary match of 64 entries in flip-flops, which learns: a key without a match becomes an entry in place of the oldest.
// Part of the frozen reference design: bench/README.md. Latency 2 cycles, one key a cycle while `en`.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ref_match (
    input  wire         clk,
    input  wire         rst,
    input  wire         en,
    input  wire         key_valid,
    input  wire [127:0] key,
    output reg          hit_reg,
    output reg  [5:0]   index_reg
);

    reg [127:0] value_reg [0:63];
    reg [127:0] mask_reg [0:63];
    reg [63:0]  used_reg;
    reg [5:0]   oldest_reg;
    reg         compared_reg;
    reg [63:0]  match_reg;

    integer i;

    always @(posedge clk) begin
        if (en) begin
            compared_reg <= key_valid;
            for (i = 0; i < 64; i = i + 1) match_reg[i] <= used_reg[i] && ((key ^ value_reg[i]) & mask_reg[i]) == 128'd0;
            if (key_valid) begin
                // An entry ignores some bits of addresses and ports, other bits in each entry.
                value_reg[oldest_reg] <= key;
                mask_reg[oldest_reg] <= ~({4{26'd0, oldest_reg}} << oldest_reg[4:0]);
                used_reg[oldest_reg] <= 1'b1;
                oldest_reg <= oldest_reg + 6'd1;
            end
            if (compared_reg) begin
                hit_reg <= match_reg != 64'd0;
                index_reg <= 6'd0;
                for (i = 63; i >= 0; i = i - 1) if (match_reg[i]) index_reg <= i[5:0];
            end
        end
        if (rst) begin
            used_reg <= 64'd0;
            oldest_reg <= 6'd0;
            compared_reg <= 1'b0;
        end
    end

endmodule

`resetall
