// ipsec_tx_verdict: what becomes of each frame that is to be protected, in their order (docs/ipsec.md, Transmit).
//
// A frame is judged when the checks of its head (looked_*), its end (end_*) and, where the head sent it to the engine, what was
// made of it (sealed_*) are here; the verdict stands at the outputs in the next cycle, for one cycle.
//
// Parameters: FRAMES, a power of two; SLOT_W.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_tx_verdict #(
    parameter FRAMES = 256,
    parameter SLOT_W = $clog2(FRAMES)
) (
    input  wire              clk,
    input  wire              rst,

    // Frames as their heads were looked at
    input  wire              looked_valid,
    input  wire [6:0]        looked_code,
    input  wire [15:0]       looked_seq,
    input  wire [7:0]        looked_queue,
    input  wire [15:0]       looked_n,
    input  wire [8:0]        looked_head_bytes,
    input  wire [15:0]       looked_behind,     // bytes behind the head
    input  wire [SLOT_W-1:0] looked_slot,

    // Their ends
    input  wire              end_valid,
    input  wire              end_bad,
    input  wire [6:0]        end_reason,
    input  wire [17:0]       end_bytes,
    input  wire [17:0]       end_needed,

    // Those that the engine had
    input  wire              sealed_valid,
    input  wire              sealed_no_key,
    input  wire [15:0]       sealed_sum,

    // Verdict
    output wire              judged,
    output wire [6:0]        code,              // 0: it leaves
    output wire              bad_in,
    output wire [15:0]       seq,
    output wire [7:0]        host_queue,
    output wire [15:0]       n,
    output wire              was_text,
    output wire [4:0]        head,
    output wire [11:0]       beats,
    output wire [SLOT_W-1:0] slot,
    output wire [15:0]       sum,

    output wire              idle
);

localparam HELD_W = $clog2(FRAMES) + 1;
localparam FRAME_W = 7 + 16 + 8 + 16 + 9 + 16 + SLOT_W;
localparam [7:0] BAD_FRAME = `CODE_BAD_FRAME;
localparam [7:0] TRUNCATED = `CODE_IPSEC_TRUNCATED;
localparam [7:0] NO_KEY = `CODE_IPSEC_CIPHER;

wire               frame_valid, stop_valid, made_valid;
wire [6:0]         frame_code, stop_reason;
wire [15:0]        frame_seq, frame_n, frame_behind;
wire [7:0]         frame_queue;
wire [8:0]         frame_head_bytes;
wire [SLOT_W-1:0]  frame_slot;
wire               stop_bad, stop_short, made_no_key;
wire [15:0]        made_sum;
wire [HELD_W-1:0]  frames_held, ends_held;
wire [HELD_W-1:0]  made_held;

wire of_engine = frame_code == 7'd0;
wire take = frame_valid && stop_valid && (!of_engine || made_valid);

word_queue #(.WIDTH(FRAME_W), .DEPTH(FRAMES)) frames (
    .clk(clk), .rst(rst), .write(looked_valid),
    .write_data({
        looked_code, looked_seq, looked_queue, looked_n, looked_head_bytes, looked_behind, looked_slot
    }),
    .valid(frame_valid),
    .read_data({frame_code, frame_seq, frame_queue, frame_n, frame_head_bytes, frame_behind, frame_slot}),
    .read(take), .held(frames_held)
);

word_queue #(.WIDTH(9), .DEPTH(FRAMES)) ends (
    .clk(clk), .rst(rst), .write(end_valid), .write_data({end_bad, end_bytes < end_needed, end_reason}),
    .valid(stop_valid), .read_data({stop_bad, stop_short, stop_reason}), .read(take), .held(ends_held)
);

// Those behind frames that ended wait here while these are taken, one a cycle.
word_queue #(.WIDTH(17), .DEPTH(FRAMES), .BYPASS(1)) made (
    .clk(clk), .rst(rst), .write(sealed_valid), .write_data({sealed_no_key, sealed_sum}),
    .valid(made_valid), .read_data({made_no_key, made_sum}), .read(take && of_engine), .held(made_held)
);

wire [6:0] take_code = stop_bad ? (stop_reason == 7'd0 ? BAD_FRAME[6:0] : stop_reason)
    : !of_engine ? frame_code : stop_short ? TRUNCATED[6:0] : made_no_key ? NO_KEY[6:0] : 7'd0;
wire [16:0] up_16 = {1'b0, frame_behind} + 17'd15;

wire unused_bits = &{
    1'b0, frames_held, ends_held, made_held, BAD_FRAME[7], TRUNCATED[7], NO_KEY[7], up_16[16], up_16[3:0]
};

reg judged_reg, bad_reg, text_reg;
reg [6:0] code_reg;
reg [15:0] seq_reg, n_reg, sum_reg;
reg [7:0] queue_reg;
reg [4:0] head_reg;
reg [11:0] beats_reg;
reg [SLOT_W-1:0] slot_reg;

assign judged = judged_reg;
assign code = code_reg;
assign bad_in = bad_reg;
assign seq = seq_reg;
assign host_queue = queue_reg;
assign n = n_reg;
assign was_text = text_reg;
assign head = head_reg;
assign beats = beats_reg;
assign slot = slot_reg;
assign sum = sum_reg;
assign idle = !frame_valid && !stop_valid && !made_valid && !judged_reg;

always @(posedge clk) begin
    if (take) begin
        code_reg <= take_code;
        bad_reg <= stop_bad;
        seq_reg <= frame_seq;
        queue_reg <= frame_queue;
        n_reg <= frame_n;
        text_reg <= of_engine;
        head_reg <= frame_head_bytes[8:4] + {4'd0, frame_head_bytes[3:0] != 4'd0};
        beats_reg <= up_16[15:4];
        slot_reg <= frame_slot;
        sum_reg <= made_sum;
    end
end

always @(posedge clk) begin
    judged_reg <= take;

    if (rst) begin
        judged_reg <= 1'b0;
    end
end

endmodule

`resetall
