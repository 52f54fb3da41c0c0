// Actions of the rules of both sets, and both default actions.
//
// An answer of the matcher in cycle c has its action in c + 1, until the next answer: 61 bits as docs/acl.md has the
// register `action`, its second word above the first. Without a rule all of it is 0 but `deny`, which is the set's default.
//
// Write: rule `wr_rule` of set `wr_set`, or with `wr_default` that set's default. Only the set that isn't asked is written,
// once all answers of it have their actions. After reset both sets permit by default; a rule's action is undefined until it
// is written, and no rule matches before.
//
// Parameter: RULES.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_actions #(
    parameter RULES = 1024,
    parameter RULE_W = $clog2(RULES)
) (
    input  wire              clk,
    input  wire              rst,

    // Answer
    input  wire              s_valid,
    input  wire              s_hit,
    input  wire [RULE_W-1:0] s_rule,
    input  wire              s_set,

    // Action
    output wire              hit,
    output wire [RULE_W-1:0] rule,
    output wire              set,
    output wire [60:0]       action,

    // Write
    input  wire              wr_valid,
    input  wire              wr_default,
    input  wire              wr_set,
    input  wire [RULE_W-1:0] wr_rule,
    input  wire [60:0]       wr_action
);

reg [60:0] mem [0:(2 << RULE_W)-1];

reg [60:0] action_reg;
reg hit_reg;
reg [RULE_W-1:0] rule_reg;
reg set_reg;
reg deny_reg;
reg [1:0] default_deny_reg;

assign hit = hit_reg;
assign rule = rule_reg;
assign set = set_reg;
assign action = hit_reg ? action_reg : {60'd0, deny_reg};

always @(posedge clk) begin
    if (wr_valid && !wr_default) begin
        mem[{wr_set, wr_rule}] <= wr_action;
    end
    if (s_valid && s_hit) begin
        action_reg <= mem[{s_set, s_rule}];
    end
end

always @(posedge clk) begin
    if (s_valid) begin
        hit_reg <= s_hit;
        rule_reg <= s_rule;
        set_reg <= s_set;
        deny_reg <= default_deny_reg[s_set];
    end
    if (wr_valid && wr_default) begin
        default_deny_reg[wr_set] <= wr_action[0];
    end

    if (rst) begin
        default_deny_reg <= 2'd0;
    end
end

endmodule

`resetall
