// Parser: a frame's headers become the metadata beside its first beat; the frame goes through unchanged, cut through.
//
// It reads Ethernet with two tags, IPv4, IPv6 and extension headers, TCP, UDP, ICMP, ESP, the BTH of RoCEv2 and ESP in
// UDP within a frame's first PARSE_BYTES bytes, with TUNNEL_EN 1 VXLAN and GENEVE and the headers inside, and checks the
// IPv4 and the L4 checksum. Layers, codes and clauses of the standards: docs/parser.md. A malformed frame is marked bad or
// not by the register `drop`; none is dropped here.
//
// Latency: t + 2, where t is the cycle (from the first beat's handshake) in which the last layer is read: a layer a
// cycle, each in the cycle after its last byte has come; at most PARSE_BYTES/16 + 4. The last beat leaves two cycles
// after it came, at the earliest. Throughput: a frame of B beats every max(B, 4) cycles.
//
// Two engines (with tunnels three) take frames in turn; beats wait in a FIFO until the engine whose turn it is has its
// record ready. The L4 checksum is summed as the beats leave.
//
// Parameters: PARSE_BYTES, a power of two, 64 to 256; TUNNEL_EN, 1 reads tunnels, which needs PARSE_BYTES 256; FIFO_BEATS,
// a power of two, at least PARSE_BYTES/16 + 8.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module parser #(
    parameter PARSE_BYTES = 128,
    parameter TUNNEL_EN = 0,
    parameter FIFO_BEATS = 32
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
    output wire               ready
);

    initial begin
        if (PARSE_BYTES < 64 || PARSE_BYTES > 256 || PARSE_BYTES != 1 << $clog2(PARSE_BYTES)) begin
            $display("parser: PARSE_BYTES must be 64, 128 or 256 (%m)");
            $finish;
        end
        if (TUNNEL_EN != 0 && PARSE_BYTES != 256) begin
            $display("parser: TUNNEL_EN needs PARSE_BYTES 256 (%m)");
            $finish;
        end
        if (FIFO_BEATS < PARSE_BYTES / 16 + 8 || FIFO_BEATS != 1 << $clog2(FIFO_BEATS)) begin
            $display("parser: FIFO_BEATS must be a power of two, at least PARSE_BYTES/16 + 8 (%m)");
            $finish;
        end
    end

// A walk takes at most max(B, 4) + 4 cycles, in a tunnel two more; an engine has the time of ENGINES frames for it.
localparam ENGINES = TUNNEL_EN != 0 ? 3 : 2;
localparam [1:0] LAST_ENGINE = ENGINES - 1;
// Records of an engine: a record waits for at most the longest latency, and a new frame comes every four cycles.
localparam SLOTS = PARSE_BYTES > 128 ? 4 : 2;
localparam BEAT_W = 128 + 16 + 1 + 8;
localparam JUDGE_W = 7 + 2 + 17 + 2 + 32 + 8 + 17 + 17;

localparam [7:0] L3_BEYOND_FRAME = `CODE_L3_BEYOND_FRAME;
localparam [7:0] FIRST_CODE = `CODE_L2_TRUNCATED;
localparam [1:0] SUM_NONE = 2'd0;
localparam [1:0] SUM_GOOD = 2'd1;
localparam [1:0] SUM_BAD = 2'd2;
localparam [1:0] SUM_UNKNOWN = 2'd3;
localparam [1:0] SUM_CHECK = 2'd1;

// Number of bytes that `tkeep` says: each bit is 1 where a run of that parity ends.
function [4:0] bytes_of(input [15:0] keep);
    bytes_of = {
        keep[15],
        keep[7] & ~keep[15],
        (keep[3] & ~keep[7]) | (keep[11] & ~keep[15]),
        (keep[1] & ~keep[3]) | (keep[5] & ~keep[7]) | (keep[9] & ~keep[11]) | (keep[13] & ~keep[15]),
        (keep[0] & ~keep[1]) | (keep[2] & ~keep[3]) | (keep[4] & ~keep[5]) | (keep[6] & ~keep[7])
            | (keep[8] & ~keep[9]) | (keep[10] & ~keep[11]) | (keep[12] & ~keep[13]) | (keep[14] & ~keep[15])
    };
endfunction

// Engines take turns.
function [1:0] engine_after(input [1:0] engine_now);
    engine_after = engine_now == LAST_ENGINE ? 2'd0 : engine_now + 2'd1;
endfunction

// Input: which engine has the frame.
reg first_reg;
reg [1:0] engine_reg;

wire fifo_room;
wire [ENGINES-1:0] engine_free;
wire [3:0] free = {{(4 - ENGINES){1'b0}}, engine_free};
wire [1:0] engine = first_reg ? engine_after(engine_reg) : engine_reg;
wire may_take = fifo_room && (!first_reg || free[engine]);
wire take = s_axis_tvalid && s_axis_tready;
wire [4:0] s_bytes = s_axis_tlast ? bytes_of(s_axis_tkeep) : 5'd16;

assign s_axis_tready = may_take && !rst;

always @(posedge clk) begin
    if (take) begin
        first_reg <= s_axis_tlast;
        engine_reg <= engine;
    end

    if (rst) begin
        first_reg <= 1'b1;
        engine_reg <= LAST_ENGINE;
    end
end

// Records: waiting, and moved to the engine's outputs.
wire [ENGINES-1:0] engine_waiting;
wire [3:0] waiting = {{(4 - ENGINES){1'b0}}, engine_waiting};
wire [`META_W-1:0] meta;
wire [JUDGE_W-1:0] judge;

// Output register: the beat, the engine that read its frame; a frame's next beat is its first.
reg [127:0] out_data_reg;
reg [15:0] out_keep_reg;
reg out_last_reg;
reg [7:0] out_user_reg;
reg out_valid_reg;
reg [1:0] out_engine_reg;
reg [15:0] out_drop_reg;
reg next_first_reg;

wire [BEAT_W-1:0] write_beat = {s_axis_tuser[7:0], s_axis_tlast, s_axis_tkeep, s_axis_tdata};
wire [127:0] beat_data;
wire [15:0] beat_keep;
wire beat_last;
wire [7:0] beat_user;
wire [BEAT_W-1:0] read_beat;
wire fifo_empty;

assign {beat_user, beat_last, beat_keep, beat_data} = read_beat;

wire [1:0] next_engine = engine_after(out_engine_reg);
wire may_load = !fifo_empty && (!next_first_reg || waiting[next_engine]);
wire load = may_load && (!out_valid_reg || m_axis_tready);
wire load_first = load && next_first_reg;
wire leave_last = m_axis_tvalid && m_axis_tready && out_last_reg;

wire [15:0] cfg_drop;

always @(posedge clk) begin
    if (!out_valid_reg || m_axis_tready) begin
        out_valid_reg <= may_load;
    end
    if (load) begin
        next_first_reg <= beat_last;
        if (next_first_reg) begin
            out_engine_reg <= next_engine;
        end
    end

    if (rst) begin
        out_valid_reg <= 1'b0;
        out_engine_reg <= LAST_ENGINE;
        next_first_reg <= 1'b1;
    end
end

always @(posedge clk) begin
    if (load) begin
        out_data_reg <= beat_data;
        out_keep_reg <= beat_keep;
        out_last_reg <= beat_last;
        out_user_reg <= beat_user;
        out_drop_reg <= cfg_drop;
    end
end

// Verdict of the frame whose beat is in the output register.
wire [6:0] code;
wire [1:0] l3_kind;
wire [16:0] l3_end;
wire [1:0] sum_kind;
wire [31:0] sum_addresses;
wire [7:0] sum_start;
wire [16:0] sum_end;
wire [16:0] sum_init;

assign {code, l3_kind, l3_end, sum_kind, sum_addresses, sum_start, sum_end, sum_init} = judge;

wire sum_active = sum_kind == SUM_CHECK;
wire sum_good;
wire sum_beyond;
wire l3_beyond;

wire came_bad = out_user_reg[0];
wire [6:0] own_code = code == 7'd0 && l3_kind != 2'd0 && l3_beyond ? L3_BEYOND_FRAME[6:0] : code;
wire own_drop = own_code != 7'd0 && out_drop_reg[own_code[3:0]];

reg [1:0] verdict;

always @* begin
    verdict = SUM_NONE;
    if (sum_kind != SUM_NONE) begin
        if (came_bad || sum_kind == SUM_UNKNOWN || sum_beyond) begin
            verdict = SUM_UNKNOWN;
        end else begin
            verdict = sum_good ? SUM_GOOD : SUM_BAD;
        end
    end
end

assign m_axis_tdata = out_data_reg;
assign m_axis_tkeep = out_keep_reg;
assign m_axis_tvalid = out_valid_reg && !rst;
assign m_axis_tlast = out_last_reg;
assign m_axis_tuser = {verdict, came_bad ? out_user_reg : {own_code, own_drop}};
assign m_axis_meta = meta;

// Counters: a cycle after a frame has left.
reg count_frame_reg;
reg [14:0] count_code_reg;

wire counts = leave_last && !came_bad && own_code != 7'd0;

always @(posedge clk) begin
    count_frame_reg <= leave_last;
    count_code_reg <= counts ? 15'd1 << own_code[3:0] : 15'd0;

    if (rst) begin
        count_frame_reg <= 1'b0;
        count_code_reg <= 15'd0;
    end
end

wire unused_const = &{1'b0, L3_BEYOND_FRAME[7], FIRST_CODE, s_axis_tuser[9:8], now};

assign disp_valid = 1'b0;
assign disp_seq = 16'd0;
assign disp_code = 8'd0;
assign disp_queue = 8'd0;
assign idle = first_reg && fifo_empty && !out_valid_reg;
assign next_deadline = 64'hffffffffffffffff;
assign ready = 1'b1;

genvar k;

generate
    for (k = 0; k < ENGINES; k = k + 1) begin : g_engine
        wire beat_valid = take && engine == k;
        wire take_record = load_first && next_engine == k;
        wire [`META_W-1:0] out_meta;
        wire [6:0] out_code;
        wire [1:0] out_l3_kind;
        wire [16:0] out_l3_end;
        wire [1:0] out_sum_kind;
        wire [31:0] out_sum_addresses;
        wire [7:0] out_sum_start;
        wire [16:0] out_sum_end;
        wire [16:0] out_sum_init;
        wire [JUDGE_W-1:0] out_judge = {
            out_code, out_l3_kind, out_l3_end, out_sum_kind, out_sum_addresses, out_sum_start, out_sum_end, out_sum_init
        };

        parser_engine #(
            .PARSE_BYTES(PARSE_BYTES),
            .SLOTS(SLOTS),
            .TUNNEL_EN(TUNNEL_EN)
        ) engine_inst (
            .clk(clk),
            .rst(rst),
            .free(engine_free[k]),
            .beat_valid(beat_valid),
            .beat_first(first_reg),
            .beat_last(s_axis_tlast),
            .beat_data(s_axis_tdata),
            .beat_bytes(s_bytes),
            .beat_meta(s_axis_meta),
            .waiting(engine_waiting[k]),
            .take(take_record),
            .out_meta(out_meta),
            .out_code(out_code),
            .out_l3_kind(out_l3_kind),
            .out_l3_end(out_l3_end),
            .out_sum_kind(out_sum_kind),
            .out_sum_addresses(out_sum_addresses),
            .out_sum_start(out_sum_start),
            .out_sum_end(out_sum_end),
            .out_sum_init(out_sum_init)
        );
    end

    // The engine whose frame is in the output register
    if (ENGINES == 3) begin : g_three
        assign meta = out_engine_reg[1] ? g_engine[2].out_meta
                    : out_engine_reg[0] ? g_engine[1].out_meta : g_engine[0].out_meta;
        assign judge = out_engine_reg[1] ? g_engine[2].out_judge
                     : out_engine_reg[0] ? g_engine[1].out_judge : g_engine[0].out_judge;
    end else begin : g_two
        assign meta = out_engine_reg[0] ? g_engine[1].out_meta : g_engine[0].out_meta;
        assign judge = out_engine_reg[0] ? g_engine[1].out_judge : g_engine[0].out_judge;
    end
endgenerate

parser_fifo #(
    .DEPTH(FIFO_BEATS),
    .WIDTH(BEAT_W)
) fifo_inst (
    .clk(clk),
    .rst(rst),
    .write(take),
    .write_data(write_beat),
    .room(fifo_room),
    .read(load),
    .read_data(read_beat),
    .empty(fifo_empty)
);

parser_csum csum_inst (
    .clk(clk),
    .load(load),
    .load_first(load_first),
    .load_data(beat_data),
    .active(sum_active),
    .addresses(sum_addresses),
    .start(sum_start),
    .stop(sum_end),
    .init(sum_init),
    .l3_end(l3_end),
    .keep(out_keep_reg),
    .good(sum_good),
    .stop_beyond(sum_beyond),
    .l3_beyond(l3_beyond)
);

parser_regs regs_inst (
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
    .drop_codes(cfg_drop),
    .frames_incr(count_frame_reg),
    .l2_truncated_incr(count_code_reg[0]),
    .l3_truncated_incr(count_code_reg[1]),
    .bad_ip_version_incr(count_code_reg[2]),
    .bad_ihl_incr(count_code_reg[3]),
    .bad_l3_length_incr(count_code_reg[4]),
    .too_deep_incr(count_code_reg[5]),
    .ext_truncated_incr(count_code_reg[6]),
    .l4_truncated_incr(count_code_reg[7]),
    .bad_tcp_offset_incr(count_code_reg[8]),
    .bad_udp_length_incr(count_code_reg[9]),
    .bth_truncated_incr(count_code_reg[10]),
    .esp_truncated_incr(count_code_reg[11]),
    .l3_beyond_frame_incr(count_code_reg[12]),
    .tunnel_truncated_incr(count_code_reg[13]),
    .bad_tunnel_incr(count_code_reg[14])
);

endmodule

`resetall
