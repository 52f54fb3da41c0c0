// Ternary memories of acl_match: four of them, so 64 bits of the key in four cycles.
//
// A memory has 64 rows of a bit a rule. Row {slot, v} says of each rule whether it accepts v in the four bits of the key
// that this memory is asked for in this slot. Four rows are read in a cycle with `look`; their AND is in `part` in the
// next one. There are two such sets of memories: `set` is asked, the other may be written meanwhile, so one address a
// memory is enough (single-port memory, written bit by bit).
//
// Write: in each cycle with `write`, row `write_row` of each of the four memories gets one bit, that of `write_rule`.
//
// Parameter: RULES.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_plane #(
    parameter RULES = 1024
) (
    input  wire                     clk,

    input  wire                     set,
    input  wire                     look,
    input  wire [1:0]               look_slot,
    input  wire [15:0]              look_key,
    output wire [RULES-1:0]         part,

    input  wire                     write,
    input  wire [$clog2(RULES)-1:0] write_rule,
    input  wire [5:0]               write_row,
    input  wire [3:0]               write_bits
);

reg [RULES-1:0] set0_mem0 [0:63];
reg [RULES-1:0] set0_mem1 [0:63];
reg [RULES-1:0] set0_mem2 [0:63];
reg [RULES-1:0] set0_mem3 [0:63];
reg [RULES-1:0] set1_mem0 [0:63];
reg [RULES-1:0] set1_mem1 [0:63];
reg [RULES-1:0] set1_mem2 [0:63];
reg [RULES-1:0] set1_mem3 [0:63];

reg [RULES-1:0] part_reg;

wire write_set0 = write && set;
wire write_set1 = write && !set;

wire [5:0] look_row0 = {look_slot, look_key[3:0]};
wire [5:0] look_row1 = {look_slot, look_key[7:4]};
wire [5:0] look_row2 = {look_slot, look_key[11:8]};
wire [5:0] look_row3 = {look_slot, look_key[15:12]};

wire [5:0] set0_row0 = write_set0 ? write_row : look_row0;
wire [5:0] set0_row1 = write_set0 ? write_row : look_row1;
wire [5:0] set0_row2 = write_set0 ? write_row : look_row2;
wire [5:0] set0_row3 = write_set0 ? write_row : look_row3;
wire [5:0] set1_row0 = write_set1 ? write_row : look_row0;
wire [5:0] set1_row1 = write_set1 ? write_row : look_row1;
wire [5:0] set1_row2 = write_set1 ? write_row : look_row2;
wire [5:0] set1_row3 = write_set1 ? write_row : look_row3;

assign part = part_reg;

always @(posedge clk) begin
    if (look) begin
        if (set) begin
            part_reg <= set1_mem0[set1_row0] & set1_mem1[set1_row1] & set1_mem2[set1_row2] & set1_mem3[set1_row3];
        end else begin
            part_reg <= set0_mem0[set0_row0] & set0_mem1[set0_row1] & set0_mem2[set0_row2] & set0_mem3[set0_row3];
        end
    end
end

always @(posedge clk) begin
    if (write_set0) begin
        set0_mem0[set0_row0][write_rule] <= write_bits[0];
        set0_mem1[set0_row1][write_rule] <= write_bits[1];
        set0_mem2[set0_row2][write_rule] <= write_bits[2];
        set0_mem3[set0_row3][write_rule] <= write_bits[3];
    end
    if (write_set1) begin
        set1_mem0[set1_row0][write_rule] <= write_bits[0];
        set1_mem1[set1_row1][write_rule] <= write_bits[1];
        set1_mem2[set1_row2][write_rule] <= write_bits[2];
        set1_mem3[set1_row3][write_rule] <= write_bits[3];
    end
end

endmodule

`resetall
