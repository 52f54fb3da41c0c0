// A frame's turn: when its action takes effect, and what becomes of it.
//
// A frame whose action is known from cycle c on (`s_valid` in c - 1) has its turn in c, or later:
//   not before the turn of the frame before it, and after a metered one 4 cycles if this one is metered too, 7 if not;
//   a metered one not before the cycle after its last beat, as its colour hangs on its length.
// Its verdict (`v_*`) is there in the cycle of its turn, or 7 cycles later if it is metered. (One behind a metered frame has
// it a cycle after that one's at the earliest: nothing waits for it earlier.) An action waits for 3 cycles at most for
// others, so the next one never finds it here.
//
// A frame that comes bad keeps its turn, but no meter is asked: it goes on as if it were green.
//
// A metered frame that fills the buffer of frames to the last beat (`full_alone`) can't be held until it is whole. It ends
// as oversize, without its meter.
//
// `count_*`: each frame once, in order, when its verdict is there and its last beat has come; what became of it counts for
// frames that didn't come bad. Whoever counts has room for 8.
//
// Parameters: RULES, METERS; PORT_ID: a redirected frame leaves by that port, there is no other.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module acl_turn #(
    parameter RULES = 1024,
    parameter METERS = 256,
    parameter [7:0] PORT_ID = 8'd0,
    parameter RULE_W = $clog2(RULES),
    parameter METER_W = $clog2(METERS)
) (
    input  wire               clk,
    input  wire               rst,

    // Beats as they come in
    input  wire               beat_first,
    input  wire               beat_last,
    input  wire [63:0]        beat_timestamp,
    input  wire [15:0]        beat_bytes,
    input  wire               beat_bad,
    input  wire               full_alone,

    // Action: `s_valid` in the cycle before
    input  wire               s_valid,
    input  wire               s_hit,
    input  wire [RULE_W-1:0]  s_rule,
    input  wire               s_set,
    input  wire [60:0]        s_action,

    // Meters
    output wire               ask_valid,
    output wire [METER_W-1:0] ask_meter,
    output wire [63:0]        ask_time,
    output wire [15:0]        ask_bytes,
    input  wire [1:0]         colour,
    input  wire               yellow_on,
    input  wire [5:0]         yellow_dscp,

    // Verdict
    output wire               v_valid,
    output wire [15:0]        v_rule,
    output wire [6:0]         v_code,
    output wire               v_queue_on,
    output wire [7:0]         v_queue,
    output wire               v_mirror_on,
    output wire [7:0]         v_mirror,
    output wire               v_redirect,
    output wire               v_priority_on,
    output wire [2:0]         v_priority,
    output wire               v_mark_on,
    output wire [5:0]         v_dscp,
    output wire               v_protect,
    output wire [11:0]        v_sa,

    // To be counted; events: denied, policed, no port, mirrored, redirected, green, yellow, red
    output wire               count_valid,
    output wire               count_set,
    output wire               count_hit,
    output wire [RULE_W-1:0]  count_rule,
    output wire [15:0]        count_bytes,
    output wire               count_bad,
    output wire [7:0]         count_events
);

localparam [7:0] ACL_DENIED = `CODE_ACL_DENIED;
localparam [7:0] ACL_POLICED = `CODE_ACL_POLICED;
localparam [7:0] ACL_NO_PORT = `CODE_ACL_NO_PORT;
localparam [7:0] OVERSIZE = `CODE_OVERSIZE;
localparam [1:0] GREEN = 2'd0;
localparam [1:0] YELLOW = 2'd1;
localparam [1:0] RED = 2'd2;
// Frames between their first beat and their turn: those in acl_lookup, and one here
localparam DEPTH = 128;
localparam PEND_W = 4 + 16 + 1 + 1 + 1 + RULE_W + 61;
localparam COUNT_W = 1 + 1 + RULE_W + 8;

// What came in: times of first beats, lengths and ends of frames

wire times_valid;
wire [7:0] times_held;
wire [63:0] time_head;
wire ends_valid;
wire [7:0] ends_held;
wire [15:0] end_bytes;
wire end_bad;
wire turn;
wire end_read;

word_queue #(.WIDTH(64), .DEPTH(DEPTH)) times_inst (
    .clk(clk), .rst(rst), .write(beat_first), .write_data(beat_timestamp),
    .valid(times_valid), .read_data(time_head), .read(turn), .held(times_held)
);

word_queue #(.WIDTH(17), .DEPTH(DEPTH)) ends_inst (
    .clk(clk), .rst(rst), .write(beat_last), .write_data({beat_bad, beat_bytes}),
    .valid(ends_valid), .read_data({end_bad, end_bytes}), .read(end_read), .held(ends_held)
);

// Turn

wire [2:0] pend_held;
wire pend_empty = pend_held == 3'd0;

reg wait_reg;
// Cycles until a frame that isn't metered may have its turn; one that is may at 3.
reg [2:0] step_reg;

wire meter_on = s_action[39] && !s_action[0];
wire full = full_alone && meter_on && !ends_valid && pend_empty;
wire metered = meter_on && !full;
assign turn = wait_reg && (metered ? ends_valid && step_reg <= 3'd3 : step_reg == 3'd0);

assign ask_valid = turn && metered && !end_bad;
assign ask_meter = s_action[40 +: METER_W];
assign ask_time = time_head;
assign ask_bytes = end_bytes;

always @(posedge clk) begin
    if (s_valid) begin
        wait_reg <= 1'b1;
    end else if (turn) begin
        wait_reg <= 1'b0;
    end
    if (turn) begin
        step_reg <= metered ? 3'd6 : 3'd0;
    end else if (step_reg != 3'd0) begin
        step_reg <= step_reg - 3'd1;
    end

    if (rst) begin
        wait_reg <= 1'b0;
        step_reg <= 3'd0;
    end
end

// Frames that had their turn, until their colour is there

reg [6:0] metered_reg;

wire pend_valid;
wire pend_metered, pend_asked, pend_full, pend_late;
wire [15:0] pend_bytes;
wire pend_bad, pend_set, pend_hit;
wire [RULE_W-1:0] pend_rule;
wire [60:0] pend_action;

assign v_valid = pend_valid && (!pend_metered || metered_reg[6]);

word_queue #(.WIDTH(PEND_W), .DEPTH(4), .BYPASS(1)) pend_inst (
    .clk(clk), .rst(rst), .write(turn),
    .write_data({metered, ask_valid, full, !ends_valid, end_bytes, end_bad, s_set, s_hit, s_rule, s_action}),
    .valid(pend_valid),
    .read_data({
        pend_metered, pend_asked, pend_full, pend_late, pend_bytes, pend_bad, pend_set, pend_hit, pend_rule, pend_action
    }),
    .read(v_valid), .held(pend_held)
);

always @(posedge clk) begin
    metered_reg <= {metered_reg[5:0], turn && metered};

    if (rst) begin
        metered_reg <= 7'd0;
    end
end

// Verdict

wire deny, queue_on, mirror_on, redirect_on, priority_on, mark_on, meter_bit, protect;
wire [7:0] queue, mirror, redirect, meter_number;
wire [2:0] priority_class;
wire [5:0] mark;
wire [11:0] sa;

assign {
    sa, protect, meter_number, meter_bit, mark, mark_on, priority_class, priority_on, redirect, redirect_on, mirror,
    mirror_on, queue, queue_on, deny
} = pend_action;

wire red = pend_asked && colour == RED;
wire yellow_mark = pend_asked && colour == YELLOW && yellow_on;
wire here = redirect == PORT_ID;
wire no_port = !deny && !red && !pend_full && redirect_on && !here;
wire passes = !deny && !red && !pend_full && !no_port;

assign v_rule = pend_hit ? {{(16 - RULE_W){1'b0}}, pend_rule} : 16'hffff;
assign v_code = deny ? ACL_DENIED[6:0] : pend_full ? OVERSIZE[6:0] : red ? ACL_POLICED[6:0]
    : no_port ? ACL_NO_PORT[6:0] : 7'd0;
assign v_queue_on = passes && queue_on;
assign v_queue = queue;
assign v_mirror_on = mirror_on;
assign v_mirror = mirror;
assign v_redirect = passes && redirect_on;
assign v_priority_on = passes && priority_on;
assign v_priority = priority_class;
assign v_mark_on = passes && (mark_on || yellow_mark);
assign v_dscp = yellow_mark ? yellow_dscp : mark;
assign v_protect = passes && protect;
assign v_sa = v_protect ? sa : 12'd0;

// Count. A frame that is late had its turn before its last beat; the next turn comes 13 cycles after that beat.

reg late_reg;
reg [COUNT_W-1:0] late_word_reg;

wire [7:0] events = {
    red, pend_asked && colour == YELLOW, pend_asked && colour == GREEN, v_redirect, mirror_on, no_port, red, deny
};
wire [COUNT_W-1:0] word = {pend_set, pend_hit, pend_rule, events};
wire late_end = late_reg && ends_valid;

assign end_read = late_end || (turn && ends_valid);
assign count_valid = late_end || (v_valid && !pend_late);
assign {count_set, count_hit, count_rule, count_events} = late_reg ? late_word_reg : word;
assign count_bytes = late_reg ? end_bytes : pend_bytes;
assign count_bad = late_reg ? end_bad : pend_bad;

wire unused_bits = &{
    1'b0, times_valid, times_held, ends_held, meter_number, meter_bit, ACL_DENIED[7], ACL_POLICED[7], ACL_NO_PORT[7], OVERSIZE[7]
};

always @(posedge clk) begin
    if (v_valid && pend_late) begin
        late_reg <= 1'b1;
        late_word_reg <= word;
    end else if (late_end) begin
        late_reg <= 1'b0;
    end

    if (rst) begin
        late_reg <= 1'b0;
    end
end

endmodule

`resetall
