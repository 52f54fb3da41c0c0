// Matcher of the ACL: a key in, the number of the first rule that matches out.
//
// Bit vectors by strides. The ternary key is asked in four slots of a cycle each; in a slot each memory is asked for four
// bits and answers with a bit a rule, and all answers are ANDed. The two port ranges are chains of comparisons over the
// same four slots (acl_range). The lowest rule that is left wins (acl_first). Layout of the key: docs/acl.md.
//
// A key that is taken in cycle c is answered in c + 10, with `m_valid`; one key in four cycles. Nothing can hold an answer
// back. After reset both sets are empty.
//
// Two sets of rules: one is asked, the other is written. `swap` changes their roles when both `swap_valid` and
// `swap_ready` are 1; a key that is taken in that cycle or later is judged by the new set, those before by the old one. A
// swap waits until the write that is under way is done, 67 cycles at most; no other rule is taken before it. `m_set` tells
// which set judged.
//
// Write of a rule: 64 cycles, whatever is looked up meanwhile. With `wr_on` 0 the rule is taken out, with `wr_clear` all
// rules are; both take a cycle. Ranges are {last, first}. A bit a rule and set, in flip-flops, says which rules are there.
//
// Parameters: RULES, a multiple of 32, at least 64; IPV6, 0: addresses of 32 bits.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_match #(
    parameter RULES = 1024,
    parameter IPV6 = 1,
    parameter KEY_W = IPV6 != 0 ? 384 : 192
) (
    input  wire                     clk,
    input  wire                     rst,

    // Lookup
    input  wire                     s_valid,
    output wire                     s_ready,
    input  wire [KEY_W-1:0]         s_key,
    input  wire [15:0]              s_src_port,
    input  wire [15:0]              s_dst_port,

    // Answer
    output wire                     m_valid,
    output wire                     m_hit,
    output wire [$clog2(RULES)-1:0] m_rule,
    output wire                     m_set,

    // Rules of the set that isn't asked
    input  wire                     wr_valid,
    output wire                     wr_ready,
    input  wire                     wr_clear,
    input  wire [$clog2(RULES)-1:0] wr_rule,
    input  wire                     wr_on,
    input  wire [KEY_W-1:0]         wr_value,
    input  wire [KEY_W-1:0]         wr_mask,
    input  wire [31:0]              wr_src_range,
    input  wire [31:0]              wr_dst_range,

    // The sets change roles
    input  wire                     swap_valid,
    output wire                     swap_ready
);

localparam SLOT_W = KEY_W / 4;
localparam PLANES = SLOT_W / 16;

reg set_reg;
reg [RULES-1:0] on_set0_reg;
reg [RULES-1:0] on_set1_reg;

// Slots: `look`, then a cycle later `sum`
reg look_reg;
reg [1:0] slot_reg;
reg [KEY_W-1:0] key_reg;
reg [15:0] src_port_reg;
reg [15:0] dst_port_reg;
reg sum_reg;
reg [1:0] sum_slot_reg;
reg sum_set_reg;

reg [RULES-1:0] left_0_reg;
reg [RULES-1:0] left_1_reg;
reg [RULES-1:0] left_2_reg;
reg [RULES-1:0] match_reg;
reg match_start_reg;
reg [4:0] answer_set_reg;

wire [RULES-1:0] part_0, part_1, part_2, part_3, part_4, part_5;
wire [RULES-1:0] src_at_least, src_at_most, dst_at_least, dst_at_most;

wire write, write_busy;
wire [$clog2(RULES)-1:0] write_rule;
wire [5:0] write_row;
wire [PLANES*4-1:0] write_ternary;
wire [3:0] write_src, write_dst;

wire last = slot_reg == 2'd3;
wire free = !look_reg || last;
wire take = wr_valid && wr_ready;
wire take_rule = take && wr_on && !wr_clear;
wire swap = swap_valid && swap_ready;

assign s_ready = free;
assign wr_ready = !write_busy && !swap_valid;
assign swap_ready = free && !write_busy;
assign m_set = answer_set_reg[4];

acl_match_write #(.RULES(RULES), .KEY_W(KEY_W)) writer (
    .clk(clk), .rst(rst), .start(take_rule), .busy(write_busy), .wr_rule(wr_rule), .wr_value(wr_value),
    .wr_mask(wr_mask), .wr_src_range(wr_src_range), .wr_dst_range(wr_dst_range),
    .write(write), .write_rule(write_rule), .write_row(write_row), .ternary(write_ternary), .src(write_src),
    .dst(write_dst)
);

acl_plane #(.RULES(RULES)) plane_0 (
    .clk(clk), .set(set_reg), .look(look_reg), .look_slot(slot_reg), .look_key(key_reg[15:0]), .part(part_0),
    .write(write), .write_rule(write_rule), .write_row(write_row),
    .write_bits(write_ternary[3:0])
);

acl_plane #(.RULES(RULES)) plane_1 (
    .clk(clk), .set(set_reg), .look(look_reg), .look_slot(slot_reg), .look_key(key_reg[31:16]), .part(part_1),
    .write(write), .write_rule(write_rule), .write_row(write_row),
    .write_bits(write_ternary[7:4])
);

acl_plane #(.RULES(RULES)) plane_2 (
    .clk(clk), .set(set_reg), .look(look_reg), .look_slot(slot_reg), .look_key(key_reg[47:32]), .part(part_2),
    .write(write), .write_rule(write_rule), .write_row(write_row),
    .write_bits(write_ternary[11:8])
);

generate
    if (PLANES == 6) begin : long_key
        acl_plane #(.RULES(RULES)) plane_3 (
            .clk(clk), .set(set_reg), .look(look_reg), .look_slot(slot_reg), .look_key(key_reg[63:48]), .part(part_3),
            .write(write), .write_rule(write_rule),
            .write_row(write_row), .write_bits(write_ternary[15:12])
        );

        acl_plane #(.RULES(RULES)) plane_4 (
            .clk(clk), .set(set_reg), .look(look_reg), .look_slot(slot_reg), .look_key(key_reg[79:64]), .part(part_4),
            .write(write), .write_rule(write_rule),
            .write_row(write_row), .write_bits(write_ternary[19:16])
        );

        acl_plane #(.RULES(RULES)) plane_5 (
            .clk(clk), .set(set_reg), .look(look_reg), .look_slot(slot_reg), .look_key(key_reg[95:80]), .part(part_5),
            .write(write), .write_rule(write_rule),
            .write_row(write_row), .write_bits(write_ternary[23:20])
        );
    end else begin : short_key
        assign part_3 = {RULES{1'b1}};
        assign part_4 = {RULES{1'b1}};
        assign part_5 = {RULES{1'b1}};
    end
endgenerate

acl_range #(.RULES(RULES)) src_range (
    .clk(clk), .set(set_reg), .look(look_reg), .look_slot(slot_reg), .look_key(src_port_reg[3:0]),
    .at_least(src_at_least), .at_most(src_at_most),
    .write(write), .write_rule(write_rule), .write_row(write_row),
    .write_bits(write_src)
);

acl_range #(.RULES(RULES)) dst_range (
    .clk(clk), .set(set_reg), .look(look_reg), .look_slot(slot_reg), .look_key(dst_port_reg[3:0]),
    .at_least(dst_at_least), .at_most(dst_at_most),
    .write(write), .write_rule(write_rule), .write_row(write_row),
    .write_bits(write_dst)
);

acl_first #(.WIDTH(RULES)) first (
    .clk(clk), .rst(rst), .start(match_start_reg), .bits(match_reg),
    .done(m_valid), .found(m_hit), .number(m_rule)
);

// The rows that were read are ANDed, slot by slot; in the cycle after slot 3's read the ranges are known too. Registers of
// each slot's own, as in acl_range.
always @(posedge clk) begin
    if (sum_reg) begin
        case (sum_slot_reg)
            2'd0: left_0_reg <= (sum_set_reg ? on_set1_reg : on_set0_reg) & part_0 & part_1 & part_2 & part_3 & part_4 & part_5;
            2'd1: left_1_reg <= left_0_reg & part_0 & part_1 & part_2 & part_3 & part_4 & part_5;
            2'd2: left_2_reg <= left_1_reg & part_0 & part_1 & part_2 & part_3 & part_4 & part_5;
            2'd3: match_reg <= left_2_reg & part_0 & part_1 & part_2 & part_3 & part_4 & part_5 &
                src_at_least & src_at_most & dst_at_least & dst_at_most;
        endcase
    end
end

// Which rules are there, of the set that is written
always @(posedge clk) begin
    if (take) begin
        if (set_reg) begin
            on_set0_reg[wr_rule] <= wr_on;
        end else begin
            on_set1_reg[wr_rule] <= wr_on;
        end
    end
    if (rst || (take && wr_clear && set_reg)) begin
        on_set0_reg <= {RULES{1'b0}};
    end
    if (rst || (take && wr_clear && !set_reg)) begin
        on_set1_reg <= {RULES{1'b0}};
    end
end

always @(posedge clk) begin
    if (look_reg) begin
        slot_reg <= slot_reg + 2'd1;
        key_reg <= {{SLOT_W{1'b0}}, key_reg[KEY_W-1:SLOT_W]};
        src_port_reg <= {4'd0, src_port_reg[15:4]};
        dst_port_reg <= {4'd0, dst_port_reg[15:4]};
        if (last) begin
            look_reg <= 1'b0;
        end
    end
    if (s_valid && s_ready) begin
        look_reg <= 1'b1;
        key_reg <= s_key;
        src_port_reg <= s_src_port;
        dst_port_reg <= s_dst_port;
    end
    if (swap) begin
        set_reg <= !set_reg;
    end

    sum_reg <= look_reg;
    sum_slot_reg <= slot_reg;
    sum_set_reg <= set_reg;
    match_start_reg <= sum_reg && sum_slot_reg == 2'd3;
    answer_set_reg <= {answer_set_reg[3:0], sum_set_reg};

    if (rst) begin
        set_reg <= 1'b0;
        look_reg <= 1'b0;
        slot_reg <= 2'd0;
        sum_reg <= 1'b0;
        match_start_reg <= 1'b0;
    end
end

endmodule

`resetall
