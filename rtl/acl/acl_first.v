// The lowest set bit of a wide vector: whether there is one, and its number.
//
// `start` in cycle c; `found`, `number` and `done` in c + 4. `bits` must stand still from c to c + 2; one start in four
// cycles at most. Stages: which groups of 32 bits have one; the first such group; its 32 bits; the first of them.
//
// Parameter: WIDTH, a multiple of 32, at least 64.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_first #(
    parameter WIDTH = 1024
) (
    input  wire                     clk,
    input  wire                     rst,

    input  wire                     start,
    input  wire [WIDTH-1:0]         bits,

    output wire                     done,
    output wire                     found,
    output wire [$clog2(WIDTH)-1:0] number
);

localparam GROUPS = WIDTH / 32;
localparam GROUP_W = $clog2(GROUPS);

reg [3:0] stage_reg;
reg [GROUPS-1:0] any_reg;
reg [GROUP_W-1:0] first_group, group_reg;
reg some_reg;
reg [31:0] word_reg;
reg [4:0] first_bit;
reg found_reg;
reg [GROUP_W+4:0] number_reg;

integer i, j, k;

assign done = stage_reg[3];
assign found = found_reg;
assign number = number_reg;

always @* begin
    first_group = {GROUP_W{1'b0}};
    for (i = GROUPS - 1; i > 0; i = i - 1) begin
        if (any_reg[i]) begin
            first_group = i[GROUP_W-1:0];
        end
    end
    if (any_reg[0]) begin
        first_group = {GROUP_W{1'b0}};
    end
end

always @* begin
    first_bit = 5'd0;
    for (j = 31; j > 0; j = j - 1) begin
        if (word_reg[j]) begin
            first_bit = j[4:0];
        end
    end
    if (word_reg[0]) begin
        first_bit = 5'd0;
    end
end

always @(posedge clk) begin
    if (start) begin
        for (k = 0; k < GROUPS; k = k + 1) begin
            any_reg[k] <= |bits[k*32 +: 32];
        end
    end
    if (stage_reg[0]) begin
        some_reg <= |any_reg;
        group_reg <= first_group;
    end
    if (stage_reg[1]) begin
        word_reg <= bits[{group_reg, 5'd0} +: 32];
    end
    if (stage_reg[2]) begin
        found_reg <= some_reg;
        number_reg <= {group_reg, first_bit};
    end

    stage_reg <= {stage_reg[2:0], start};
    if (rst) begin
        stage_reg <= 4'd0;
    end
end

endmodule

`resetall
