// The way out: a frame leaves when its verdict is there. Its verdict goes into the metadata, the marks beside its last beat
// and its DSCP; a copy goes to the mirror.
//
// A verdict that comes in cycle c lets the frame's first beat be valid in c + 1, or in the cycle after the last beat of the
// frame before it; one beat a cycle. 256 verdicts may wait. `starved`: the next frame had no verdict
// before this cycle.
//
// A frame that came bad keeps its marks. Of one that ends here, the metadata say the rule, and else what they would say
// without an action.
//
// A copy's beats are valid for one cycle each, the first in which the frame's beat is valid (nothing holds them back). They
// are as they came, `tuser` too: a copy of a frame that came bad is bad, and no copy for who takes it.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module acl_out (
    input  wire               clk,
    input  wire               rst,

    // Frames that wait
    input  wire [127:0]       s_axis_tdata,
    input  wire [15:0]        s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    input  wire [9:0]         s_axis_tuser,
    input  wire [`META_W-1:0] s_axis_meta,

    // Verdicts, in order
    input  wire               v_valid,
    input  wire [15:0]        v_rule,
    input  wire [6:0]         v_code,
    input  wire               v_queue_on,
    input  wire [7:0]         v_queue,
    input  wire               v_mirror_on,
    input  wire [7:0]         v_mirror,
    input  wire               v_redirect,
    input  wire               v_priority_on,
    input  wire [2:0]         v_priority,
    input  wire               v_mark_on,
    input  wire [5:0]         v_dscp,
    input  wire               v_protect,
    input  wire [11:0]        v_sa,
    output wire               starved,

    // Frames out
    output wire [127:0]       m_axis_tdata,
    output wire [15:0]        m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [9:0]         m_axis_tuser,
    output wire [`META_W-1:0] m_axis_meta,

    // Copies
    output wire [127:0]       m_axis_mirror_tdata,
    output wire [15:0]        m_axis_mirror_tkeep,
    output wire               m_axis_mirror_tvalid,
    output wire               m_axis_mirror_tlast,
    output wire [9:0]         m_axis_mirror_tuser,
    output wire [`META_W-1:0] m_axis_mirror_meta
);

localparam VERDICT_W = 16 + 7 + 9 + 9 + 1 + 4 + 7 + 13;
localparam DEPTH = 256;

// The verdict of the next frame

wire next_valid;
wire [8:0] waiting;
wire [15:0] rule;
wire [6:0] next_code;
wire queue_on, next_mirror_on, redirect, priority_on, mark_on, protect;
wire [7:0] queue, mirror;
wire [2:0] priority_class;
wire [5:0] dscp;
wire [11:0] sa;

reg first_reg;
reg valid_reg;
reg [6:0] code_reg;
reg mirror_on_reg;

wire may_load = s_axis_tvalid && (!first_reg || next_valid);
wire load = may_load && (!valid_reg || m_axis_tready);
wire load_first = load && first_reg;
wire [6:0] code = first_reg ? next_code : code_reg;
wire mirror_on = first_reg ? next_mirror_on : mirror_on_reg;

assign s_axis_tready = load;
assign starved = first_reg && waiting == 9'd0;

word_queue #(.WIDTH(VERDICT_W), .DEPTH(DEPTH), .BYPASS(1)) verdicts_inst (
    .clk(clk), .rst(rst), .write(v_valid),
    .write_data({
        v_rule, v_code, v_queue_on, v_queue, v_mirror_on, v_mirror, v_redirect, v_priority_on, v_priority, v_mark_on,
        v_dscp, v_protect, v_sa
    }),
    .valid(next_valid),
    .read_data({
        rule, next_code, queue_on, queue, next_mirror_on, mirror, redirect, priority_on, priority_class, mark_on, dscp,
        protect, sa
    }),
    .read(load_first), .held(waiting)
);

always @(posedge clk) begin
    if (!valid_reg || m_axis_tready) begin
        valid_reg <= may_load;
    end
    if (load) begin
        first_reg <= s_axis_tlast;
        code_reg <= code;
        mirror_on_reg <= mirror_on;
    end

    if (rst) begin
        first_reg <= 1'b1;
        valid_reg <= 1'b0;
    end
end

// The frame

reg [127:0] data_reg;
reg [15:0] keep_reg;
reg last_reg;
reg [9:0] user_reg;
reg [`META_W-1:0] meta_reg;
wire [127:0] marked;

assign m_axis_tdata = data_reg;
assign m_axis_tkeep = keep_reg;
assign m_axis_tvalid = valid_reg && !rst;
assign m_axis_tlast = last_reg;
assign m_axis_tuser = user_reg;
assign m_axis_meta = meta_reg;

acl_mark mark_inst (
    .clk(clk), .load(load), .first(first_reg), .data(s_axis_tdata),
    .on(mark_on), .l3_kind(s_axis_meta[`MF_L3_KIND]), .l3_offset(s_axis_meta[`MF_L3_OFFSET]),
    .old_dscp(s_axis_meta[`MF_DSCP]), .new_dscp(dscp), .marked(marked)
);

always @(posedge clk) begin
    if (load) begin
        data_reg <= marked;
        keep_reg <= s_axis_tkeep;
        last_reg <= s_axis_tlast;
        user_reg <= s_axis_tuser[0] || code == 7'd0 ? s_axis_tuser : {s_axis_tuser[9:8], code, 1'b1};
    end
    if (load_first) begin
        meta_reg <= s_axis_meta;
        meta_reg[`MF_ACL_RULE] <= rule;
        meta_reg[`MF_ACL_COPY] <= 1'b0;
        meta_reg[`MF_ACL_REDIRECT] <= redirect;
        meta_reg[`MF_ACL_PRIORITY] <= priority_on ? priority_class : s_axis_meta[`MF_TCLASS];
        meta_reg[`MF_ACL_PROTECT] <= protect;
        meta_reg[`MF_ACL_SA] <= sa;
        if (queue_on) begin
            meta_reg[`MF_QUEUE] <= queue;
        end
    end
end

// The copy

reg [127:0] mirror_data_reg;
reg [15:0] mirror_keep_reg;
reg mirror_valid_reg;
reg mirror_last_reg;
reg [9:0] mirror_user_reg;
reg [`META_W-1:0] mirror_meta_reg;

assign m_axis_mirror_tdata = mirror_data_reg;
assign m_axis_mirror_tkeep = mirror_keep_reg;
assign m_axis_mirror_tvalid = mirror_valid_reg && !rst;
assign m_axis_mirror_tlast = mirror_last_reg;
assign m_axis_mirror_tuser = mirror_user_reg;
assign m_axis_mirror_meta = mirror_meta_reg;

always @(posedge clk) begin
    mirror_valid_reg <= load && mirror_on;
    if (load && mirror_on) begin
        mirror_data_reg <= s_axis_tdata;
        mirror_keep_reg <= s_axis_tkeep;
        mirror_last_reg <= s_axis_tlast;
        mirror_user_reg <= s_axis_tuser;
    end
    if (load_first && mirror_on) begin
        mirror_meta_reg <= s_axis_meta;
        mirror_meta_reg[`MF_QUEUE] <= mirror;
        mirror_meta_reg[`MF_ACL_RULE] <= rule;
        mirror_meta_reg[`MF_ACL_COPY] <= 1'b1;
        mirror_meta_reg[`MF_ACL_REDIRECT] <= 1'b0;
        mirror_meta_reg[`MF_ACL_PRIORITY] <= s_axis_meta[`MF_TCLASS];
        mirror_meta_reg[`MF_ACL_PROTECT] <= 1'b0;
        mirror_meta_reg[`MF_ACL_SA] <= 12'd0;
    end

    if (rst) begin
        mirror_valid_reg <= 1'b0;
    end
end

endmodule

`resetall
