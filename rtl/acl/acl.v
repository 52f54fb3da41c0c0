// ACL: the first rule of a set that matches a frame decides what becomes of it (docs/acl.md).
//
//   frame -+-> acl_lookup (acl_key, keys that wait, acl_match) -> acl_actions -> acl_turn (acl_meter) -> verdict -+
//          |                                                                         +-> acl_counters             |
//          +-> frames that wait (axis_fifo) ------------------------------------------------------------> acl_out -+-> m_axis
//                                                                                                                +-> mirror
//
// Latency: 13 cycles, 17 with a tunnel; a metered frame leaves 9 cycles after its last beat at the earliest. Exact cycles
// under load: docs/acl.md, Time. Throughput: one beat a cycle, a frame every 4 cycles, one with a tunnel every 8.
// 1024 beats, 256 frames and the keys of 62 wait at most; only then `s_axis_tready` falls.
//
// The slot ends no frame: it marks those that shall end, and a buffer behind it drops them. Frames that come before
// `ready` find no rules and pass. A reset forgets frames, rules, counters and meters.
//
// `m_axis_mirror_*` has no tready. A copy that is bad at its last beat is none. `mirror_dropped`: its buffer lost one.
//
// Parameters: RULES of a set, a multiple of 32 from 64 on; METERS, a power of two, 2 to 256; IPV6, 0: addresses of 32 bits are
// compared; TUNNEL_EN, 1: headers in a tunnel are looked up too; PORT_ID: where a redirected frame may leave.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module acl #(
    parameter RULES = 1024,
    parameter METERS = 256,
    parameter IPV6 = 1,
    parameter TUNNEL_EN = 0,
    parameter [7:0] PORT_ID = 8'd0
) (
    input  wire               clk,
    input  wire               rst,

    // Frames in
    input  wire [127:0]       s_axis_tdata,
    input  wire [15:0]        s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    input  wire [9:0]         s_axis_tuser,
    input  wire [`META_W-1:0] s_axis_meta,

    // Frames out
    output wire [127:0]       m_axis_tdata,
    output wire [15:0]        m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [9:0]         m_axis_tuser,
    output wire [`META_W-1:0] m_axis_meta,

    // Registers
    input  wire               reg_req,
    input  wire               reg_write,
    input  wire [13:0]        reg_addr,
    input  wire [31:0]        reg_wdata,
    input  wire [3:0]         reg_wstrb,
    output wire               reg_ack,
    output wire               reg_error,
    output wire [31:0]        reg_rdata,

    // Dispositions
    output wire               disp_valid,
    output wire [15:0]        disp_seq,
    output wire [7:0]         disp_code,
    output wire [7:0]         disp_queue,

    // Time and state
    input  wire [63:0]        now,
    output wire               idle,
    output wire [63:0]        next_deadline,
    output wire               ready,

    // Copies
    output wire [127:0]       m_axis_mirror_tdata,
    output wire [15:0]        m_axis_mirror_tkeep,
    output wire               m_axis_mirror_tvalid,
    output wire               m_axis_mirror_tlast,
    output wire [9:0]         m_axis_mirror_tuser,
    output wire [`META_W-1:0] m_axis_mirror_meta,
    input  wire               mirror_dropped
);

    initial begin
        if (RULES < 64 || RULES % 32 != 0 || RULES > 32768) begin
            $display("acl: RULES must be a multiple of 32, 64 to 32768 (%m)");
            $finish;
        end
        if (METERS < 2 || METERS > 256 || METERS != 1 << $clog2(METERS)) begin
            $display("acl: METERS must be a power of two, 2 to 256 (%m)");
            $finish;
        end
    end

localparam RULE_W = $clog2(RULES);
localparam METER_W = $clog2(METERS);
localparam KEY_W = IPV6 != 0 ? 384 : 192;
localparam BEATS = 1024;
localparam FRAMES = 256;
localparam LEVEL_W = $clog2(BEATS) + 1;
localparam IPV6_BIT = IPV6 != 0 ? 1'b1 : 1'b0;
localparam TUNNEL_BIT = TUNNEL_EN != 0 ? 1'b1 : 1'b0;

// Input: a frame is taken where both it and its key find room.

reg first_reg;
// Beats of this frame that came before
reg [11:0] beats_reg;

wire lookup_room;
wire fifo_ready;
wire may_take = !first_reg || lookup_room;
wire fifo_valid = s_axis_tvalid && may_take;
wire take = fifo_valid && fifo_ready;
wire take_first = take && first_reg;
wire take_last = take && s_axis_tlast;
wire [4:0] last_bytes;
wire [15:0] bytes = {beats_reg, 4'd0} + {11'd0, last_bytes};

assign s_axis_tready = fifo_ready && may_take;

nic_beat_bytes bytes_inst (
    .keep(s_axis_tkeep), .bytes(last_bytes)
);

always @(posedge clk) begin
    if (take) begin
        first_reg <= s_axis_tlast;
        beats_reg <= s_axis_tlast ? 12'd0 : beats_reg + 12'd1;
    end

    if (rst) begin
        first_reg <= 1'b1;
        beats_reg <= 12'd0;
    end
end

// Frames that wait

wire [127:0] wait_tdata;
wire [15:0] wait_tkeep;
wire wait_tvalid;
wire wait_tready;
wire wait_tlast;
wire [9:0] wait_tuser;
wire [`META_W-1:0] wait_meta;
wire [LEVEL_W-1:0] level;
wire drop_valid;
wire [1:0] drop_cause;
wire [`META_W-1:0] drop_meta;
wire [9:0] drop_user;

axis_fifo #(
    .META_W(`META_W),
    .DEPTH(BEATS),
    .FRAMES(FRAMES)
) fifo_inst (
    .clk(clk),
    .rst(rst),
    .s_axis_tdata(s_axis_tdata),
    .s_axis_tkeep(s_axis_tkeep),
    .s_axis_tvalid(fifo_valid),
    .s_axis_tready(fifo_ready),
    .s_axis_tlast(s_axis_tlast),
    .s_axis_tuser(s_axis_tuser),
    .s_axis_meta(s_axis_meta),
    .m_axis_tdata(wait_tdata),
    .m_axis_tkeep(wait_tkeep),
    .m_axis_tvalid(wait_tvalid),
    .m_axis_tready(wait_tready),
    .m_axis_tlast(wait_tlast),
    .m_axis_tuser(wait_tuser),
    .m_axis_meta(wait_meta),
    .drop_valid(drop_valid),
    .drop_cause(drop_cause),
    .drop_meta(drop_meta),
    .drop_user(drop_user),
    .level(level)
);

// Registers

wire command_req, command_write, command_ack;
wire [31:0] command_wdata;
wire [3:0] command_wstrb;
wire [31:0] command_rdata;
wire [31:0] action_0, action_1;
wire [31:0] value_0, value_1, value_2, value_3, value_4, value_5, value_6, value_7, value_8, value_9, value_10, value_11;
wire [31:0] mask_0, mask_1, mask_2, mask_3, mask_4, mask_5, mask_6, mask_7, mask_8, mask_9, mask_10, mask_11;
wire [383:0] value = {
    value_11, value_10, value_9, value_8, value_7, value_6, value_5, value_4, value_3, value_2, value_1, value_0
};
wire [383:0] mask = {mask_11, mask_10, mask_9, mask_8, mask_7, mask_6, mask_5, mask_4, mask_3, mask_2, mask_1, mask_0};
wire [31:0] src_range, dst_range;
wire [63:0] cir, pir;
wire [31:0] cbs, pbs;
wire [6:0] yellow;
wire [63:0] counter_frames, counter_bytes;

wire active;
wire settled;
wire counted, counted_set, counted_bad;
wire [7:0] counted_events;
// What became of a frame; nothing is counted for one that came bad.
wire [7:0] events = counted && !counted_bad ? counted_events : 8'd0;

acl_regs regs_inst (
    .clk(clk),
    .rst(rst),
    .reg_req(reg_req),
    .reg_write(reg_write),
    .reg_addr(reg_addr),
    .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb),
    .reg_ack(reg_ack),
    .reg_error(reg_error),
    .reg_rdata(reg_rdata),
    .size_rules_in(RULES[15:0]),
    .size_meters_in(METERS[8:0]),
    .size_ipv6_in(IPV6_BIT),
    .size_tunnel_in(TUNNEL_BIT),
    .status_active_in(active),
    .status_settled_in(settled),
    .command_req(command_req),
    .command_write(command_write),
    .command_wdata(command_wdata),
    .command_wstrb(command_wstrb),
    .command_ack(command_ack),
    .command_rdata(command_rdata),
    .action_0_word(action_0),
    .action_1_word(action_1),
    .src_range_first(src_range[15:0]),
    .src_range_last(src_range[31:16]),
    .dst_range_first(dst_range[15:0]),
    .dst_range_last(dst_range[31:16]),
    .value_0_bits(value_0),
    .value_1_bits(value_1),
    .value_2_bits(value_2),
    .value_3_bits(value_3),
    .value_4_bits(value_4),
    .value_5_bits(value_5),
    .value_6_bits(value_6),
    .value_7_bits(value_7),
    .value_8_bits(value_8),
    .value_9_bits(value_9),
    .value_10_bits(value_10),
    .value_11_bits(value_11),
    .mask_0_bits(mask_0),
    .mask_1_bits(mask_1),
    .mask_2_bits(mask_2),
    .mask_3_bits(mask_3),
    .mask_4_bits(mask_4),
    .mask_5_bits(mask_5),
    .mask_6_bits(mask_6),
    .mask_7_bits(mask_7),
    .mask_8_bits(mask_8),
    .mask_9_bits(mask_9),
    .mask_10_bits(mask_10),
    .mask_11_bits(mask_11),
    .cir_rate(cir),
    .pir_rate(pir),
    .cbs_bytes(cbs),
    .pbs_bytes(pbs),
    .yellow_dscp(yellow[5:0]),
    .yellow_on(yellow[6]),
    .counter_frames_frames_in(counter_frames),
    .counter_bytes_bytes_in(counter_bytes),
    .judged_incr(counted && !counted_bad),
    .unjudged_incr(counted && counted_bad),
    .denied_incr(events[0]),
    .policed_incr(events[1]),
    .no_port_incr(events[2]),
    .mirrored_incr(events[3]),
    .mirror_dropped_incr(mirror_dropped),
    .redirected_incr(events[4]),
    .metered_green_incr(events[5]),
    .metered_yellow_incr(events[6]),
    .metered_red_incr(events[7])
);

wire meters_ready;
wire clearing;
reg cleared_reg;
wire command_busy;
wire [15:0] number;
wire number_set;
wire rule_valid, rule_ready, rule_clear, rule_on;
wire swap_valid, swap_ready;
wire action_valid, action_default, action_permit;
wire count_command, count_clear, count_done, clear;
wire meter_valid, meter_ready;

assign ready = cleared_reg && meters_ready;

always @(posedge clk) begin
    if (!clearing) begin
        cleared_reg <= 1'b1;
    end

    if (rst) begin
        cleared_reg <= 1'b0;
    end
end

acl_command #(
    .RULES(RULES),
    .METERS(METERS)
) command_inst (
    .clk(clk),
    .rst(rst),
    .command_req(command_req),
    .command_write(command_write),
    .command_wdata(command_wdata),
    .command_wstrb(command_wstrb),
    .command_ack(command_ack),
    .command_rdata(command_rdata),
    .slot_ready(ready),
    .busy(command_busy),
    .number(number),
    .set(number_set),
    .rule_valid(rule_valid),
    .rule_ready(rule_ready),
    .rule_clear(rule_clear),
    .rule_on(rule_on),
    .swap_valid(swap_valid),
    .swap_ready(swap_ready),
    .action_valid(action_valid),
    .action_default(action_default),
    .action_permit(action_permit),
    .count_valid(count_command),
    .count_clear(count_clear),
    .count_done(count_done),
    .clear(clear),
    .clearing(clearing),
    .meter_valid(meter_valid),
    .meter_ready(meter_ready)
);

// From the metadata to the action

wire asked, asked_set;
wire found_valid, found_hit, found_set;
wire [RULE_W-1:0] found_rule;
wire hit, set;
wire [RULE_W-1:0] rule;
wire [60:0] action;

acl_lookup #(
    .RULES(RULES),
    .IPV6(IPV6),
    .TUNNEL_EN(TUNNEL_EN)
) lookup_inst (
    .clk(clk),
    .rst(rst),
    .room(lookup_room),
    .take(take_first),
    .meta(s_axis_meta),
    .asked(asked),
    .asked_set(asked_set),
    .m_valid(found_valid),
    .m_hit(found_hit),
    .m_rule(found_rule),
    .m_set(found_set),
    .wr_valid(rule_valid),
    .wr_ready(rule_ready),
    .wr_clear(rule_clear),
    .wr_rule(number[RULE_W-1:0]),
    .wr_on(rule_on),
    .wr_value(value[KEY_W-1:0]),
    .wr_mask(mask[KEY_W-1:0]),
    .wr_src_range(src_range),
    .wr_dst_range(dst_range),
    .active(active),
    .swap_valid(swap_valid),
    .swap_ready(swap_ready)
);

acl_actions #(
    .RULES(RULES)
) actions_inst (
    .clk(clk),
    .rst(rst),
    .s_valid(found_valid),
    .s_hit(found_hit),
    .s_rule(found_rule),
    .s_set(found_set),
    .hit(hit),
    .rule(rule),
    .set(set),
    .action(action),
    .wr_valid(action_valid),
    .wr_default(action_default),
    .wr_set(!active),
    .wr_rule(number[RULE_W-1:0]),
    .wr_action(action_permit ? 61'd0 : {action_1[28:0], action_0})
);

// From the action to the verdict

wire ask_valid;
wire [METER_W-1:0] ask_meter;
wire [63:0] ask_time;
wire [15:0] ask_bytes;
wire colour_valid;
wire [1:0] colour;
wire yellow_on;
wire [5:0] yellow_dscp;

wire v_valid;
wire [15:0] v_rule;
wire [6:0] v_code;
wire v_queue_on, v_mirror_on, v_redirect, v_priority_on, v_mark_on, v_protect;
wire [7:0] v_queue, v_mirror;
wire [2:0] v_priority;
wire [5:0] v_dscp;
wire [11:0] v_sa;
wire starved;

wire count_valid, count_set, count_hit, count_bad;
wire [RULE_W-1:0] count_rule;
wire [15:0] count_bytes;
wire [7:0] count_events;

acl_turn #(
    .RULES(RULES),
    .METERS(METERS),
    .PORT_ID(PORT_ID)
) turn_inst (
    .clk(clk),
    .rst(rst),
    .beat_first(take_first),
    .beat_last(take_last),
    .beat_timestamp(s_axis_meta[`MF_TIMESTAMP]),
    .beat_bytes(bytes),
    .beat_bad(s_axis_tuser[0]),
    .full_alone(level == BEATS[LEVEL_W-1:0] && starved),
    .s_valid(found_valid),
    .s_hit(hit),
    .s_rule(rule),
    .s_set(set),
    .s_action(action),
    .ask_valid(ask_valid),
    .ask_meter(ask_meter),
    .ask_time(ask_time),
    .ask_bytes(ask_bytes),
    .colour(colour),
    .yellow_on(yellow_on),
    .yellow_dscp(yellow_dscp),
    .v_valid(v_valid),
    .v_rule(v_rule),
    .v_code(v_code),
    .v_queue_on(v_queue_on),
    .v_queue(v_queue),
    .v_mirror_on(v_mirror_on),
    .v_mirror(v_mirror),
    .v_redirect(v_redirect),
    .v_priority_on(v_priority_on),
    .v_priority(v_priority),
    .v_mark_on(v_mark_on),
    .v_dscp(v_dscp),
    .v_protect(v_protect),
    .v_sa(v_sa),
    .count_valid(count_valid),
    .count_set(count_set),
    .count_hit(count_hit),
    .count_rule(count_rule),
    .count_bytes(count_bytes),
    .count_bad(count_bad),
    .count_events(count_events)
);

acl_meter #(
    .METERS(METERS)
) meter_inst (
    .clk(clk),
    .rst(rst),
    .ready(meters_ready),
    .ask_valid(ask_valid),
    .ask_meter(ask_meter),
    .ask_time(ask_time),
    .ask_bytes(ask_bytes),
    .m_valid(colour_valid),
    .m_colour(colour),
    .m_yellow_on(yellow_on),
    .m_yellow_dscp(yellow_dscp),
    .wr_valid(meter_valid),
    .wr_ready(meter_ready),
    .wr_meter(number[METER_W-1:0]),
    .wr_cir(cir),
    .wr_pir(pir),
    .wr_cbs(cbs),
    .wr_pbs(pbs),
    .wr_yellow(yellow)
);

acl_counters #(
    .RULES(RULES)
) counters_inst (
    .clk(clk),
    .rst(rst),
    .s_valid(count_valid),
    .s_set(count_set),
    .s_hit(count_hit),
    .s_rule(count_rule),
    .s_bytes(count_bytes),
    .s_bad(count_bad),
    .s_events(count_events),
    .counted(counted),
    .counted_set(counted_set),
    .counted_bad(counted_bad),
    .counted_events(counted_events),
    .cmd_valid(count_command),
    .cmd_clear(count_clear),
    .cmd_default(number == 16'hffff),
    .cmd_set(number_set),
    .cmd_rule(number[RULE_W-1:0]),
    .cmd_done(count_done),
    .cmd_frames(counter_frames),
    .cmd_bytes(counter_bytes),
    .clear(clear),
    .clear_set(!active),
    .clearing(clearing)
);

acl_out out_inst (
    .clk(clk),
    .rst(rst),
    .s_axis_tdata(wait_tdata),
    .s_axis_tkeep(wait_tkeep),
    .s_axis_tvalid(wait_tvalid),
    .s_axis_tready(wait_tready),
    .s_axis_tlast(wait_tlast),
    .s_axis_tuser(wait_tuser),
    .s_axis_meta(wait_meta),
    .v_valid(v_valid),
    .v_rule(v_rule),
    .v_code(v_code),
    .v_queue_on(v_queue_on),
    .v_queue(v_queue),
    .v_mirror_on(v_mirror_on),
    .v_mirror(v_mirror),
    .v_redirect(v_redirect),
    .v_priority_on(v_priority_on),
    .v_priority(v_priority),
    .v_mark_on(v_mark_on),
    .v_dscp(v_dscp),
    .v_protect(v_protect),
    .v_sa(v_sa),
    .starved(starved),
    .m_axis_tdata(m_axis_tdata),
    .m_axis_tkeep(m_axis_tkeep),
    .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready),
    .m_axis_tlast(m_axis_tlast),
    .m_axis_tuser(m_axis_tuser),
    .m_axis_meta(m_axis_meta),
    .m_axis_mirror_tdata(m_axis_mirror_tdata),
    .m_axis_mirror_tkeep(m_axis_mirror_tkeep),
    .m_axis_mirror_tvalid(m_axis_mirror_tvalid),
    .m_axis_mirror_tlast(m_axis_mirror_tlast),
    .m_axis_mirror_tuser(m_axis_mirror_tuser),
    .m_axis_mirror_meta(m_axis_mirror_meta)
);

// Frames of each set from their first key until they are counted; at most 3 are looked up and 14 wait behind that.

reg [4:0] judged0_reg;
reg [4:0] judged1_reg;

wire judge0 = asked && !asked_set;
wire judge1 = asked && asked_set;
wire count0 = counted && !counted_set;
wire count1 = counted && counted_set;

assign settled = active ? judged0_reg == 5'd0 : judged1_reg == 5'd0;

always @(posedge clk) begin
    if (judge0 != count0) begin
        judged0_reg <= judge0 ? judged0_reg + 5'd1 : judged0_reg - 5'd1;
    end
    if (judge1 != count1) begin
        judged1_reg <= judge1 ? judged1_reg + 5'd1 : judged1_reg - 5'd1;
    end

    if (rst) begin
        judged0_reg <= 5'd0;
        judged1_reg <= 5'd0;
    end
end

assign disp_valid = 1'b0;
assign disp_seq = 16'd0;
assign disp_code = 8'd0;
assign disp_queue = 8'd0;
assign next_deadline = 64'hffffffffffffffff;
assign idle = first_reg && level == {LEVEL_W{1'b0}} && !m_axis_tvalid && !m_axis_mirror_tvalid && !command_busy
    && judged0_reg == 5'd0 && judged1_reg == 5'd0;

wire unused_bits = &{
    1'b0, now, drop_valid, drop_cause, drop_meta, drop_user, action_1[31:29], value, mask, colour_valid
};

endmodule

`resetall
