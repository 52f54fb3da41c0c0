// Range memories of acl_match: one 16-bit number of the key against each rule's range, both ends included.
//
// The number is looked at in four slots, the four least significant bits first. Row {slot, v} has four bits a rule: v is
// greater than, at least, less than, at most the four bits of the rule's lower (first two) or upper bound. What is known
// of the bits below decides where these four are equal. In the cycle after that of slot 3 `at_least` and `at_most` have a
// bit a rule. Each slot has registers of its own: one step of the chain is one table of six inputs a rule, and a simulator
// has no state to copy in a cycle without lookup. Two sets of memories and the write as in acl_plane.
//
// Parameter: RULES.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_range #(
    parameter RULES = 1024
) (
    input  wire                     clk,

    input  wire                     set,
    input  wire                     look,
    input  wire [1:0]               look_slot,
    input  wire [3:0]               look_key,
    output wire [RULES-1:0]         at_least,
    output wire [RULES-1:0]         at_most,

    input  wire                     write,
    input  wire [$clog2(RULES)-1:0] write_rule,
    input  wire [5:0]               write_row,
    input  wire [3:0]               write_bits
);

reg [RULES-1:0] set0_gt [0:63];
reg [RULES-1:0] set0_ge [0:63];
reg [RULES-1:0] set0_lt [0:63];
reg [RULES-1:0] set0_le [0:63];
reg [RULES-1:0] set1_gt [0:63];
reg [RULES-1:0] set1_ge [0:63];
reg [RULES-1:0] set1_lt [0:63];
reg [RULES-1:0] set1_le [0:63];

reg [RULES-1:0] at_least_0_reg, at_least_1_reg, at_least_2_reg, at_least_3_reg;
reg [RULES-1:0] at_most_0_reg, at_most_1_reg, at_most_2_reg, at_most_3_reg;

wire write_set0 = write && set;
wire write_set1 = write && !set;
wire [5:0] set0_row = write_set0 ? write_row : {look_slot, look_key};
wire [5:0] set1_row = write_set1 ? write_row : {look_slot, look_key};

assign at_least = at_least_3_reg;
assign at_most = at_most_3_reg;

always @(posedge clk) begin
    if (look) begin
        case (look_slot)
            2'd0: begin
                at_least_0_reg <= set ? set1_ge[set1_row] : set0_ge[set0_row];
                at_most_0_reg <= set ? set1_le[set1_row] : set0_le[set0_row];
            end
            2'd1: begin
                at_least_1_reg <= set ? set1_gt[set1_row] | (set1_ge[set1_row] & at_least_0_reg) :
                    set0_gt[set0_row] | (set0_ge[set0_row] & at_least_0_reg);
                at_most_1_reg <= set ? set1_lt[set1_row] | (set1_le[set1_row] & at_most_0_reg) :
                    set0_lt[set0_row] | (set0_le[set0_row] & at_most_0_reg);
            end
            2'd2: begin
                at_least_2_reg <= set ? set1_gt[set1_row] | (set1_ge[set1_row] & at_least_1_reg) :
                    set0_gt[set0_row] | (set0_ge[set0_row] & at_least_1_reg);
                at_most_2_reg <= set ? set1_lt[set1_row] | (set1_le[set1_row] & at_most_1_reg) :
                    set0_lt[set0_row] | (set0_le[set0_row] & at_most_1_reg);
            end
            2'd3: begin
                at_least_3_reg <= set ? set1_gt[set1_row] | (set1_ge[set1_row] & at_least_2_reg) :
                    set0_gt[set0_row] | (set0_ge[set0_row] & at_least_2_reg);
                at_most_3_reg <= set ? set1_lt[set1_row] | (set1_le[set1_row] & at_most_2_reg) :
                    set0_lt[set0_row] | (set0_le[set0_row] & at_most_2_reg);
            end
        endcase
    end
end

always @(posedge clk) begin
    if (write_set0) begin
        set0_gt[set0_row][write_rule] <= write_bits[0];
        set0_ge[set0_row][write_rule] <= write_bits[1];
        set0_lt[set0_row][write_rule] <= write_bits[2];
        set0_le[set0_row][write_rule] <= write_bits[3];
    end
    if (write_set1) begin
        set1_gt[set1_row][write_rule] <= write_bits[0];
        set1_ge[set1_row][write_rule] <= write_bits[1];
        set1_lt[set1_row][write_rule] <= write_bits[2];
        set1_le[set1_row][write_rule] <= write_bits[3];
    end
end

endmodule

`resetall
