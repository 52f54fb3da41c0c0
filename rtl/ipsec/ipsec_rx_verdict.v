// ipsec_rx_verdict: what becomes of each frame of ESP, in their order (docs/ipsec.md, Receive).
//
// A frame is judged when its first checks (looked_*), its end (end_*) and, where these sent it there, the last beat of its text
// (text_*) are here. In cycle c it is taken, four cycles behind one that was decrypted at the earliest; state and window are asked
// in c and set in c + 3; the verdict stands at the outputs in c + 5, for one cycle.
//
// Parameters: SA_W; LEVEL_W of ipsec_hold; WORD_W, as ipsec_rx_write takes it apart; FRAMES.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_rx_verdict #(
    parameter SA_W = 8,
    parameter LEVEL_W = 11,
    parameter FRAMES = 256,
    parameter WORD_W = 9 + 16 + 16 + 16 + 8 + 1 + 1 + 1 + 2 + 2 + 16 + SA_W
) (
    input  wire               clk,
    input  wire               rst,

    // Frames of ESP, as they were looked up, one in four cycles
    input  wire               looked_valid,
    input  wire [1:0]         looked_left,
    input  wire [6:0]         looked_code,
    input  wire [15:0]        looked_seq,
    input  wire [7:0]         looked_queue,
    input  wire [SA_W-1:0]    looked_sa,
    input  wire [63:0]        looked_number,
    input  wire [5:0]         looked_window,
    input  wire [15:0]        looked_n,
    input  wire [1:0]         looked_mode,
    input  wire [15:0]        looked_nat_delta,
    input  wire               looked_natt,
    input  wire               looked_ipv4,
    input  wire [7:0]         looked_l3_offset,
    input  wire [8:0]         looked_payload_offset,
    input  wire [1:0]         looked_ecn,
    input  wire [16:0]        looked_l3_length,
    input  wire [7:0]         looked_protocol,

    // Their ends
    input  wire               end_valid,
    input  wire               end_bad,
    input  wire [6:0]         end_reason,
    input  wire               end_short,        // the frame hasn't the bytes that it says

    // Text as it leaves the engine
    input  wire               text_valid,
    output wire               text_ready,
    input  wire               text_last,
    input  wire [1:0]         text_user,
    input  wire [127:0]       text_data,
    output wire               text_put_valid,   // to ipsec_hold
    input  wire               text_put_ready,

    output wire               ask_valid,
    output wire [SA_W-1:0]    ask_sa,
    output wire [15:0]        ask_n,
    output wire [63:0]        ask_number,
    output wire [5:0]         ask_window,
    input  wire               good,
    input  wire               life,
    output wire               set_count,
    output wire               set_hard,

    // Verdict
    output wire               judged,
    output wire [1:0]         left,
    output wire [6:0]         code,             // 0: it leaves
    output wire [15:0]        seq,
    output wire [7:0]         host_queue,
    output wire               bad_in,
    output wire               late,
    output wire [15:0]        n,
    output wire               was_text,
    output wire [4:0]         head,
    output wire [LEVEL_W-1:0] beats,
    output wire [WORD_W-1:0]  word,

    output wire               idle
);

localparam REST_W = 2 + 16 + 1 + 1 + 8 + 9 + 2 + 17 + 8;
localparam FRAME_W = 2 + 7 + 16 + 8 + 64 + 6 + 16 + REST_W + SA_W;
localparam HELD_W = $clog2(FRAMES) + 1;

function [15:0] fold(input [17:0] sum);
    reg [16:0] once;
    begin
        once = {1'b0, sum[15:0]} + {15'd0, sum[17:16]};
        fold = once[15:0] + {15'd0, once[16]};
    end
endfunction

// Frames that wait

wire              frame_valid, stop_valid, stop_bad, stop_short;
wire [6:0]        stop_reason;
wire [1:0]        frame_left;
wire [6:0]        frame_code;
wire [15:0]       frame_seq;
wire [7:0]        frame_queue;
wire [SA_W-1:0]   frame_sa;
wire [63:0]       frame_number;
wire [5:0]        frame_window;
wire [15:0]       frame_n;
wire [REST_W-1:0] frame_rest;
wire [HELD_W-1:0] frames_held, ends_held;
wire              take;

word_queue #(.WIDTH(FRAME_W), .DEPTH(FRAMES)) frames (
    .clk(clk), .rst(rst), .write(looked_valid),
    .write_data({
        looked_left, looked_code, looked_seq, looked_queue, looked_number, looked_window, looked_n,
        looked_mode, looked_nat_delta, looked_natt, looked_ipv4, looked_l3_offset, looked_payload_offset, looked_ecn,
        looked_l3_length, looked_protocol, looked_sa
    }),
    .valid(frame_valid),
    .read_data({
        frame_left, frame_code, frame_seq, frame_queue, frame_number, frame_window, frame_n, frame_rest, frame_sa
    }),
    .read(take), .held(frames_held)
);

word_queue #(.WIDTH(9), .DEPTH(FRAMES)) ends (
    .clk(clk), .rst(rst), .write(end_valid), .write_data({end_bad, end_short, end_reason}),
    .valid(stop_valid), .read_data({stop_bad, stop_short, stop_reason}), .read(take), .held(ends_held)
);

wire unused_held = &{1'b0, frames_held, ends_held};

// c: taken. A frame of the engine is the oldest when its text comes: text of a later one waits.

reg [1:0] pace_reg;
reg [4:0] stage_reg;             // bit i: a frame in c + 1 + i
reg [4:0] engine_reg;

wire of_engine = frame_valid && frame_left == 2'd0 && frame_code == 7'd0;
wire may_end = stop_valid && pace_reg == 2'd0;
wire take_text = of_engine && may_end && text_valid && text_last && text_put_ready;
wire take_other = frame_valid && !of_engine && stop_valid;

assign take = take_text || take_other;
assign text_ready = of_engine && text_put_ready && (!text_last || may_end);
assign text_put_valid = of_engine && text_valid && (!text_last || may_end);

assign ask_valid = take_text;
assign ask_sa = frame_sa;
assign ask_n = frame_n;
assign ask_number = frame_number;
assign ask_window = frame_window;

always @(posedge clk) begin
    stage_reg <= {stage_reg[3:0], take};
    engine_reg <= {engine_reg[3:0], take_text};
    pace_reg <= take_text ? 2'd3 : pace_reg == 2'd0 ? 2'd0 : pace_reg - 2'd1;

    if (rst) begin
        stage_reg <= 5'd0;
        engine_reg <= 5'd0;
        pace_reg <= 2'd0;
    end
end

// What is known of each frame, stage by stage: of the one in c + 1 + i in slice i.

localparam KNOWN_W = 2 + 1 + 16 + 8;
localparam [7:0] BAD_FRAME = `CODE_BAD_FRAME;
localparam [7:0] TRUNCATED = `CODE_IPSEC_TRUNCATED;
localparam [7:0] NO_KEY = `CODE_IPSEC_CIPHER;
localparam [7:0] BAD_TAG = `CODE_IPSEC_BAD_TAG;
localparam [7:0] REPLAY = `CODE_IPSEC_REPLAY;
localparam [7:0] LIFETIME = `CODE_IPSEC_LIFETIME;

wire leaves_as_it_came = frame_left != 2'd0;
wire came_bad = stop_bad && !leaves_as_it_came;
wire [6:0] take_code = came_bad ? (stop_reason == 7'd0 ? BAD_FRAME[6:0] : stop_reason)
    : !of_engine ? frame_code : stop_short ? TRUNCATED[6:0] : text_user[1] ? NO_KEY[6:0] : text_user[0] ? BAD_TAG[6:0] : 7'd0;

reg [KNOWN_W-1:0] known_1_reg, known_2_reg, known_3_reg, known_4_reg, known_5_reg;
reg [6:0] code_1_reg, code_2_reg, code_3_reg, code_4_reg, code_5_reg;
reg late_3_reg, late_4_reg, late_5_reg, hard_3_reg;

wire late_2 = engine_reg[1] && code_2_reg == 7'd0 && !good;
wire hard_2 = engine_reg[1] && code_2_reg == 7'd0 && good && !life;

assign set_count = engine_reg[2] && code_3_reg == 7'd0;
assign set_hard = engine_reg[2] && hard_3_reg;

always @(posedge clk) begin
    if (take) begin
        known_1_reg <= {frame_left, came_bad, frame_seq, frame_queue};
        code_1_reg <= take_code;
    end
    if (stage_reg[0]) begin
        known_2_reg <= known_1_reg;
        code_2_reg <= code_1_reg;
    end
    if (stage_reg[1]) begin
        known_3_reg <= known_2_reg;
        code_3_reg <= late_2 ? REPLAY[6:0] : hard_2 ? LIFETIME[6:0] : code_2_reg;
        late_3_reg <= late_2;
        hard_3_reg <= hard_2;
    end
    if (stage_reg[2]) begin
        known_4_reg <= known_3_reg;
        code_4_reg <= code_3_reg;
        late_4_reg <= late_3_reg;
    end
    if (stage_reg[3]) begin
        known_5_reg <= known_4_reg;
        code_5_reg <= engine_reg[3] && code_4_reg == 7'd0 ? text_code : code_4_reg;
        late_5_reg <= late_4_reg;
    end
end

// The text of a frame of the engine

wire [1:0] mode;
wire [15:0] nat_delta;
wire natt, ipv4;
wire [7:0] l3_offset;
wire [8:0] payload_offset;
wire [1:0] ecn;
wire [16:0] l3_length;
wire [7:0] protocol;

reg [REST_W-1:0] rest_reg;
reg [15:0] n_reg;
reg [SA_W-1:0] sa_reg;

assign {mode, nat_delta, natt, ipv4, l3_offset, payload_offset, ecn, l3_length, protocol} = rest_reg;

always @(posedge clk) begin
    if (take_text) begin
        rest_reg <= frame_rest;
        n_reg <= frame_n;
        sa_reg <= frame_sa;
    end
end

wire padded;
wire [7:0] pad, next_header;
wire [127:0] start;
wire [15:0] more;
wire [6:0] text_code;
wire tunnel, inner_ipv6, fix_ecn;
wire [15:0] length, new_sum;
wire [1:0] new_ecn, fix_sum;

ipsec_trailer trailer (
    .clk(clk), .rst(rst), .take(text_valid && text_ready), .take_last(text_last), .take_data(text_data),
    .take_n(frame_n[3:0]), .padded(padded), .pad(pad), .next_header(next_header), .start(start), .more(more)
);

ipsec_rx_text text (
    .clk(clk), .rst(rst), .go(engine_reg[1]), .n(n_reg), .mode(mode), .natt(natt), .nat_delta(nat_delta), .ecn(ecn),
    .padded(padded), .pad(pad), .next_header(next_header), .start(start), .more(more),
    .code(text_code), .tunnel(tunnel), .inner_ipv6(inner_ipv6), .length(length), .fix_ecn(fix_ecn), .new_ecn(new_ecn),
    .fix_sum(fix_sum), .new_sum(new_sum)
);

// c + 4: what is written of it into the headers in front

wire [8:0] head_bytes = tunnel ? {1'b0, l3_offset} : payload_offset;
wire [15:0] header_bytes = {7'd0, payload_offset} - {8'd0, l3_offset} - (ipv4 ? 16'd0 : 16'd40);
wire [15:0] new_length = header_bytes + length;
// RFC 1624, equation 3; of the word of TTL and protocol only the protocol changes.
wire [17:0] change = {2'd0, ~l3_length[15:0]} + {2'd0, new_length} + {2'd0, 16'hffff - {8'd0, protocol}}
    + {10'd0, next_header};
wire [16:0] beats_16 = {1'b0, length} + 17'd15;

wire unused_bits = &{1'b0, l3_length[16], BAD_FRAME, TRUNCATED, NO_KEY, BAD_TAG, REPLAY, LIFETIME, beats_16};

reg [4:0] head_reg;
reg [LEVEL_W-1:0] beats_reg;
reg [WORD_W-1:0] word_reg;
reg [15:0] out_n_reg;

always @(posedge clk) begin
    if (engine_reg[3]) begin
        head_reg <= head_bytes[8:4] + {4'd0, head_bytes[3:0] != 4'd0};
        beats_reg <= beats_16[LEVEL_W+3:4];
        word_reg <= {
            head_bytes, length, new_length, fold(change), next_header, tunnel, inner_ipv6, fix_ecn, new_ecn, fix_sum, new_sum,
            sa_reg
        };
        out_n_reg <= n_reg;
    end
end

assign judged = stage_reg[4];
assign was_text = engine_reg[4];
assign code = code_5_reg;
assign late = late_5_reg;
assign n = out_n_reg;
assign head = head_reg;
assign beats = beats_reg;
assign word = word_reg;

assign {left, bad_in, seq, host_queue} = known_5_reg;

assign idle = !frame_valid && !stop_valid && stage_reg == 5'd0;

endmodule

`resetall
