// Writes the memories of acl_match: a rule in, 64 rows out, a row a cycle.
//
// A rule that is taken in cycle c is written in c + 1 to c + 64; the next one can be taken in c + 64. Row {slot, v} is
// what the rule says of v in each four bits of that slot: `ternary` a bit a memory, `src` and `dst` as acl_range wants
// them. `busy`: rows are still to come after this cycle.
//
// Parameters: RULES; KEY_W, a multiple of 64.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_match_write #(
    parameter RULES = 1024,
    parameter KEY_W = 384
) (
    input  wire                     clk,
    input  wire                     rst,

    // Rule; taken with `start`, which may come in any cycle without `busy`
    input  wire                     start,
    output wire                     busy,
    input  wire [$clog2(RULES)-1:0] wr_rule,
    input  wire [KEY_W-1:0]         wr_value,
    input  wire [KEY_W-1:0]         wr_mask,
    input  wire [31:0]              wr_src_range,
    input  wire [31:0]              wr_dst_range,

    // Row
    output wire                     write,
    output wire [$clog2(RULES)-1:0] write_rule,
    output wire [5:0]               write_row,
    output wire [KEY_W/16-1:0]      ternary,
    output wire [3:0]               src,
    output wire [3:0]               dst
);

localparam SLOT_W = KEY_W / 4;
localparam MEMORIES = SLOT_W / 4;

reg write_reg;
reg [$clog2(RULES)-1:0] rule_reg;
reg [5:0] row_reg;

// A slot of these is at their low end; they shift when it is done.
reg [KEY_W-1:0] value_reg;
reg [KEY_W-1:0] mask_reg;
reg [15:0] src_low_reg, src_high_reg, dst_low_reg, dst_high_reg;

reg [MEMORIES-1:0] ternary_reg;
reg [3:0] src_reg, dst_reg;

wire [3:0] v = row_reg[3:0];
wire last = row_reg == 6'd63;

assign busy = write_reg && !last;
assign write = write_reg;
assign write_rule = rule_reg;
assign write_row = row_reg;

assign ternary = ternary_reg;
assign src = src_reg;
assign dst = dst_reg;

// What the next row says, in registers: while nothing is written it costs no simulation time.
wire turns = v == 4'd15;
wire [3:0] next_v = start ? 4'd0 : v + 4'd1;
wire [SLOT_W-1:0] next_value = start ? wr_value[SLOT_W-1:0] : turns ? value_reg[SLOT_W +: SLOT_W] : value_reg[SLOT_W-1:0];
wire [SLOT_W-1:0] next_mask = start ? wr_mask[SLOT_W-1:0] : turns ? mask_reg[SLOT_W +: SLOT_W] : mask_reg[SLOT_W-1:0];
wire [3:0] next_src_low = start ? wr_src_range[3:0] : turns ? src_low_reg[7:4] : src_low_reg[3:0];
wire [3:0] next_src_high = start ? wr_src_range[19:16] : turns ? src_high_reg[7:4] : src_high_reg[3:0];
wire [3:0] next_dst_low = start ? wr_dst_range[3:0] : turns ? dst_low_reg[7:4] : dst_low_reg[3:0];
wire [3:0] next_dst_high = start ? wr_dst_range[19:16] : turns ? dst_high_reg[7:4] : dst_high_reg[3:0];

integer m;

always @(posedge clk) begin
    if (start || write_reg) begin
        for (m = 0; m < MEMORIES; m = m + 1) begin
            ternary_reg[m] <= ((next_v ^ next_value[m*4 +: 4]) & next_mask[m*4 +: 4]) == 4'd0;
        end
        src_reg <= {next_v <= next_src_high, next_v < next_src_high, next_v >= next_src_low, next_v > next_src_low};
        dst_reg <= {next_v <= next_dst_high, next_v < next_dst_high, next_v >= next_dst_low, next_v > next_dst_low};
    end
end

always @(posedge clk) begin
    if (write_reg) begin
        row_reg <= row_reg + 6'd1;
        if (turns) begin
            value_reg <= {{SLOT_W{1'b0}}, value_reg[KEY_W-1:SLOT_W]};
            mask_reg <= {{SLOT_W{1'b0}}, mask_reg[KEY_W-1:SLOT_W]};
            src_low_reg <= {4'd0, src_low_reg[15:4]};
            src_high_reg <= {4'd0, src_high_reg[15:4]};
            dst_low_reg <= {4'd0, dst_low_reg[15:4]};
            dst_high_reg <= {4'd0, dst_high_reg[15:4]};
        end
        if (last) begin
            write_reg <= 1'b0;
        end
    end
    if (start) begin
        write_reg <= 1'b1;
        rule_reg <= wr_rule;
        value_reg <= wr_value;
        mask_reg <= wr_mask;
        {src_high_reg, src_low_reg} <= wr_src_range;
        {dst_high_reg, dst_low_reg} <= wr_dst_range;
    end

    if (rst) begin
        write_reg <= 1'b0;
        row_reg <= 6'd0;
    end
end

endmodule

`resetall
