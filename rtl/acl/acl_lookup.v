// A frame's metadata in, the first rule that matches it out: keys that wait, the matcher, and what a tunnel needs.
//
// Metadata that are taken in cycle c are asked for in c + 1 at the earliest, a key every four cycles; the answer (`m_*`)
// is there 10 cycles after the frame's last key is asked for. A frame is one key, or with TUNNEL_EN 1 and a tunnel two,
// first of its outer headers: the lower of both rules counts. A frame whose set has never got a rule since it was cleared
// takes the same time, and the matcher isn't asked: slots without rules cost no simulation time.
//
// `room`: a frame can be taken. 62 frames may wait for it, and one in acl_key.
//
// `swap`: the sets change roles once `swap_valid` and `swap_ready` are 1, never between the two keys of a frame. `active`
// is the set that is asked; a frame whose first key is asked for in the cycle of the swap is judged by the new set.
// `asked` (with `asked_set`): a frame's first key is asked for in this cycle.
//
// Parameters: RULES, IPV6 (acl_match), TUNNEL_EN.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module acl_lookup #(
    parameter RULES = 1024,
    parameter IPV6 = 1,
    parameter TUNNEL_EN = 0,
    parameter KEY_W = IPV6 != 0 ? 384 : 192,
    parameter RULE_W = $clog2(RULES)
) (
    input  wire               clk,
    input  wire               rst,

    // Frame
    output wire               room,
    input  wire               take,
    input  wire [`META_W-1:0] meta,
    output wire               asked,
    output wire               asked_set,

    // Answer
    output wire               m_valid,
    output wire               m_hit,
    output wire [RULE_W-1:0]  m_rule,
    output wire               m_set,

    // Rules of the set that isn't asked
    input  wire               wr_valid,
    output wire               wr_ready,
    input  wire               wr_clear,
    input  wire [RULE_W-1:0]  wr_rule,
    input  wire               wr_on,
    input  wire [KEY_W-1:0]   wr_value,
    input  wire [KEY_W-1:0]   wr_mask,
    input  wire [31:0]        wr_src_range,
    input  wire [31:0]        wr_dst_range,

    // The sets change roles
    output wire               active,
    input  wire               swap_valid,
    output wire               swap_ready
);

localparam ASK_W = KEY_W + 32;
localparam ENTRY_W = TUNNEL_EN != 0 ? 2 * ASK_W + 1 : ASK_W;
localparam DEPTH = 64;
localparam [6:0] MOST_WAITING = DEPTH - 2;
// Cycles from a key to its answer
localparam LATENCY = 10;

// Keys that wait

reg taken_reg;

wire [KEY_W-1:0] outer_key;
wire [15:0] outer_src_port;
wire [15:0] outer_dst_port;
wire [ENTRY_W-1:0] taken_entry;
wire [ENTRY_W-1:0] entry;
wire entry_valid;
wire [6:0] waiting;

// Cycles in which no key may be asked for
reg [1:0] pace_reg;
// The next key is the second of its frame.
reg second_reg;

wire entry_tunnel;
wire [ASK_W-1:0] ask_word;

wire ask = entry_valid && pace_reg == 2'd0;
wire finish = ask && (!entry_tunnel || second_reg);

wire unused_meta = &{1'b0, meta};

assign room = waiting <= MOST_WAITING;
assign asked = ask && !second_reg;

always @(posedge clk) begin
    taken_reg <= take;
    if (ask) begin
        pace_reg <= 2'd3;
        second_reg <= !finish;
    end else if (pace_reg != 2'd0) begin
        pace_reg <= pace_reg - 2'd1;
    end

    if (rst) begin
        taken_reg <= 1'b0;
        pace_reg <= 2'd0;
        second_reg <= 1'b0;
    end
end

acl_key #(.IPV6(IPV6), .INNER(0)) outer_inst (
    .clk(clk), .take(take),
    .ethertype(meta[`MF_ETHERTYPE]), .vlan_count(meta[`MF_VLAN_COUNT]), .tci(meta[`MF_VLAN0]),
    .protocol(meta[`MF_PROTOCOL]), .dscp(meta[`MF_DSCP]), .ecn(meta[`MF_ECN]), .fragment(meta[`MF_FRAGMENT]),
    .l3_kind(meta[`MF_L3_KIND]), .ip_src(meta[`MF_IP_SRC]), .ip_dst(meta[`MF_IP_DST]),
    .l4_kind(meta[`MF_L4_KIND]), .l4_src_port(meta[`MF_SRC_PORT]), .l4_dst_port(meta[`MF_DST_PORT]),
    .tcp_flags(meta[`MF_TCP_FLAGS]), .icmp_type(meta[`MF_ICMP_TYPE]), .icmp_code(meta[`MF_ICMP_CODE]),
    .roce(meta[`MF_ROCE]), .bth_opcode(meta[`MF_BTH_OPCODE]), .dest_qp(meta[`MF_BTH_DEST_QP]),
    .port(meta[`MF_PORT]), .decrypted(meta[`MF_DECRYPTED]), .sa(meta[`MF_SA]),
    .key(outer_key), .src_port(outer_src_port), .dst_port(outer_dst_port)
);

generate
    if (TUNNEL_EN != 0) begin : g_tunnel
        wire [KEY_W-1:0] inner_key;
        wire [15:0] inner_src_port;
        wire [15:0] inner_dst_port;
        reg tunnel_reg;

        assign taken_entry = {
            tunnel_reg, inner_dst_port, inner_src_port, inner_key, outer_dst_port, outer_src_port, outer_key
        };
        assign entry_tunnel = entry[ENTRY_W-1];
        assign ask_word = second_reg ? entry[2*ASK_W-1:ASK_W] : entry[ASK_W-1:0];

        always @(posedge clk) begin
            if (take) begin
                tunnel_reg <= meta[`MF_TUNNEL_KIND] != 2'd0;
            end
        end

        // No BTH is read in a tunnel.
        acl_key #(.IPV6(IPV6), .INNER(1)) inner_inst (
            .clk(clk), .take(take),
            .ethertype(meta[`MF_INNER_ETHERTYPE]), .vlan_count(meta[`MF_INNER_VLAN_COUNT]),
            .tci(meta[`MF_INNER_VLAN0]), .protocol(meta[`MF_INNER_PROTOCOL]), .dscp(meta[`MF_INNER_DSCP]),
            .ecn(meta[`MF_INNER_ECN]), .fragment(meta[`MF_INNER_FRAGMENT]),
            .l3_kind(meta[`MF_INNER_L3_KIND]), .ip_src(meta[`MF_INNER_IP_SRC]), .ip_dst(meta[`MF_INNER_IP_DST]),
            .l4_kind(meta[`MF_INNER_L4_KIND]), .l4_src_port(meta[`MF_INNER_SRC_PORT]),
            .l4_dst_port(meta[`MF_INNER_DST_PORT]), .tcp_flags(meta[`MF_TCP_FLAGS]),
            .icmp_type(meta[`MF_ICMP_TYPE]), .icmp_code(meta[`MF_ICMP_CODE]),
            .roce(1'b0), .bth_opcode(8'd0), .dest_qp(24'd0), .port(meta[`MF_PORT]),
            .decrypted(meta[`MF_DECRYPTED]), .sa(meta[`MF_SA]),
            .key(inner_key), .src_port(inner_src_port), .dst_port(inner_dst_port)
        );
    end else begin : g_outer
        assign taken_entry = {outer_dst_port, outer_src_port, outer_key};
        assign entry_tunnel = 1'b0;
        assign ask_word = entry;
    end
endgenerate

word_queue #(
    .WIDTH(ENTRY_W),
    .DEPTH(DEPTH),
    .BYPASS(1)
) keys_inst (
    .clk(clk),
    .rst(rst),
    .write(taken_reg),
    .write_data(taken_entry),
    .valid(entry_valid),
    .read_data(entry),
    .read(finish),
    .held(waiting)
);

// Sets

reg active_reg;
// The set may have rules.
reg [1:0] rules_reg;

wire match_swap_valid = swap_valid && !second_reg;
wire match_swap_ready;
wire swap = match_swap_valid && match_swap_ready;
wire write = wr_valid && wr_ready;
wire empty = !rules_reg[asked_set];

assign active = active_reg;
assign swap_ready = match_swap_ready && !second_reg;
assign asked_set = active_reg ^ swap;

always @(posedge clk) begin
    if (swap) begin
        active_reg <= !active_reg;
    end
    if (write && (wr_clear || wr_on)) begin
        rules_reg[!active_reg] <= !wr_clear;
    end

    if (rst) begin
        active_reg <= 1'b0;
        rules_reg <= 2'd0;
    end
end

// What is known of a key while it is looked up: bit i is of the key that was asked for i + 1 cycles ago.
reg [LATENCY-1:0] empty_reg;
reg [LATENCY-1:0] empty_set_reg;
reg [LATENCY-1:0] more_reg;

// Answer of the frame's outer headers
reg outer_hit_reg;
reg [RULE_W-1:0] outer_rule_reg;
reg outer_reg;

wire match_ask = ask && !empty;
wire match_valid;
wire match_hit;
wire [RULE_W-1:0] match_rule;
wire match_set;
wire match_ready;

wire empty_valid = empty_reg[LATENCY-1];
wire answer = match_valid || empty_valid;
wire more = more_reg[LATENCY-1];
wire hit = match_valid && match_hit;
wire outer_first = outer_reg && outer_hit_reg && (!hit || outer_rule_reg < match_rule);

assign m_valid = answer && !more;
assign m_hit = hit || outer_first;
assign m_rule = outer_first ? outer_rule_reg : match_rule;
assign m_set = empty_valid ? empty_set_reg[LATENCY-1] : match_set;

// The matcher takes a key every four cycles, and no more are asked for.
wire unused_ready = &{1'b0, match_ready};

always @(posedge clk) begin
    empty_reg <= {empty_reg[LATENCY-2:0], ask && empty};
    empty_set_reg <= {empty_set_reg[LATENCY-2:0], asked_set};
    more_reg <= {more_reg[LATENCY-2:0], ask && !finish};
    if (answer) begin
        outer_reg <= more;
        outer_hit_reg <= hit;
        outer_rule_reg <= match_rule;
    end

    if (rst) begin
        empty_reg <= {LATENCY{1'b0}};
        outer_reg <= 1'b0;
    end
end

acl_match #(
    .RULES(RULES),
    .IPV6(IPV6)
) match_inst (
    .clk(clk),
    .rst(rst),
    .s_valid(match_ask),
    .s_ready(match_ready),
    .s_key(ask_word[KEY_W-1:0]),
    .s_src_port(ask_word[KEY_W +: 16]),
    .s_dst_port(ask_word[KEY_W + 16 +: 16]),
    .m_valid(match_valid),
    .m_hit(match_hit),
    .m_rule(match_rule),
    .m_set(match_set),
    .wr_valid(wr_valid),
    .wr_ready(wr_ready),
    .wr_clear(wr_clear),
    .wr_rule(wr_rule),
    .wr_on(wr_on),
    .wr_value(wr_value),
    .wr_mask(wr_mask),
    .wr_src_range(wr_src_range),
    .wr_dst_range(wr_dst_range),
    .swap_valid(match_swap_valid),
    .swap_ready(match_swap_ready)
);

endmodule

`resetall
