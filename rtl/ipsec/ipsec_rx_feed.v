// ipsec_rx_feed: frames of ESP, from their SPI on, to the engine: command, AAD, text, tag (RFC 4106).
//
// Beats in (s_valid, while `room` is 1) begin with the ESP header in lane 0, s_last ends each frame; `s_done`, once a frame,
// no earlier than the cycle of its last beat: nothing more of it comes. What became of a frame at its look-up (job_*) comes
// in the order of frames, in any cycle: with `job_go` 0 its beats are thrown away, else they go to the engine with this
// SA's key, salt, tag (0, 1, 2: 8, 12, 16 bytes) and job_n bytes of ciphertext. Where a frame has fewer, what the engine gets
// for them is anything.
//
// A command goes in the cycle in which job and ESP header are here and the engine is ready, T + 3 cycles behind the one before at
// the earliest (T blocks of text). The AAD follows in two cycles, text behind it; its last beat waits for `s_done`.
//
// Parameters: KEY_W; FRAMES, most jobs that wait, a power of two.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_rx_feed #(
    parameter KEY_W = 8,
    parameter FRAMES = 256
) (
    input  wire             clk,
    input  wire             rst,

    output wire             room,
    input  wire             s_valid,
    input  wire             s_last,
    input  wire [127:0]     s_data,
    input  wire             s_done,

    input  wire             job_valid,
    input  wire             job_go,
    input  wire [KEY_W-1:0] job_sa,
    input  wire [31:0]      job_salt,
    input  wire [1:0]       job_tag,
    input  wire             job_esn,
    input  wire [31:0]      job_high,       // half of its sequence number
    input  wire [15:0]      job_n,

    output wire             m_cmd_valid,
    input  wire             m_cmd_ready,
    output wire [KEY_W-1:0] m_cmd_key,
    output wire [95:0]      m_cmd_iv,
    output wire [4:0]       m_cmd_tag_bytes,

    output wire [127:0]     m_axis_tdata,
    output wire [15:0]      m_axis_tkeep,
    output wire             m_axis_tvalid,
    input  wire             m_axis_tready,
    output wire             m_axis_tlast,
    output wire             m_axis_tuser,
    output wire [127:0]     m_axis_tag,

    output wire             idle
);

// Beats that may come before `room` is seen to be 0, and a frame's rest
localparam DEPTH = 64;
localparam [6:0] MOST = DEPTH - 4;
localparam JOB_W = 1 + KEY_W + 32 + 2 + 1 + 32 + 16;
localparam FRAME_W = $clog2(FRAMES) + 1;
localparam [FRAME_W-1:0] ONE_FRAME = 1;

localparam [2:0] HEADER = 3'd0;     // the next beat is a frame's first
localparam [2:0] BEGIN = 3'd1;      // the engine takes no beat yet; the first beat of text comes to hand
localparam [2:0] AAD = 3'd2;
localparam [2:0] TEXT = 3'd3;
localparam [2:0] SKIP = 3'd4;

wire         beat_valid, beat_last;
wire [127:0] beat_data;
wire [6:0]   held;
wire         pop;
wire         have, go, esn;
wire [KEY_W-1:0] sa;
wire [31:0]  salt, high;
wire [1:0]   tag;
wire [15:0]  n;
wire         finish;
wire [FRAME_W-1:0] jobs_held;

reg [2:0]         state_reg;
reg               ended_reg;        // the frame's last beat was taken
reg [63:0]        header_reg;      // SPI and sequence number
reg [127:0]       text_reg;
reg [16:0]        left_reg;         // bytes of text
reg [FRAME_W-1:0] done_reg;         // frames of which all has come

assign room = held <= MOST;

word_queue #(.WIDTH(129), .DEPTH(DEPTH)) beats (
    .clk(clk), .rst(rst), .write(s_valid), .write_data({s_last, s_data}),
    .valid(beat_valid), .read_data({beat_last, beat_data}), .read(pop), .held(held)
);

word_queue #(.WIDTH(JOB_W), .DEPTH(FRAMES), .BYPASS(1)) jobs (
    .clk(clk), .rst(rst), .write(job_valid), .write_data({job_go, job_sa, job_salt, job_tag, job_esn, job_high, job_n}),
    .valid(have), .read_data({go, sa, salt, tag, esn, high, n}), .read(finish), .held(jobs_held)
);

wire unused_held = &{1'b0, jobs_held};

// Of this frame nothing more comes, and a beat more of it is at hand or was.
wire is_done = done_reg != {FRAME_W{1'b0}};
wire more = beat_valid && !ended_reg;
wire [127:0] beat = more ? beat_data : 128'd0;
wire is_last = left_reg <= 17'd16;

assign m_cmd_valid = state_reg == HEADER && have && go && beat_valid;
assign m_cmd_key = sa;
assign m_cmd_iv = {beat_data[127:64], salt};
assign m_cmd_tag_bytes = tag == 2'd0 ? 5'd8 : tag == 2'd1 ? 5'd12 : 5'd16;

wire command = m_cmd_valid && m_cmd_ready;
wire throw = state_reg == HEADER && have && !go && beat_valid;
wire skip = state_reg == SKIP && beat_valid;
wire text_ready = is_last ? is_done : more || ended_reg;
wire text = state_reg == TEXT && text_ready && m_axis_tready;
wire fill = state_reg == BEGIN && (more || ended_reg);

wire [3:0] last_bytes = left_reg[3:0];
wire [255:0] behind = {beat, text_reg} >> {last_bytes, 3'd0};
wire unused_behind = &{1'b0, behind[255:128]};

assign m_axis_tvalid = state_reg == AAD || (state_reg == TEXT && text_ready);
assign m_axis_tuser = state_reg == AAD;
assign m_axis_tlast = state_reg == TEXT && is_last;
assign m_axis_tdata = state_reg == AAD
    ? (esn ? {32'd0, header_reg[63:32], high[7:0], high[15:8], high[23:16], high[31:24], header_reg[31:0]}
        : {64'd0, header_reg})
    : text_reg;
assign m_axis_tkeep = state_reg == AAD ? (esn ? 16'h0fff : 16'h00ff)
    : is_last && last_bytes != 4'd0 ? ~(16'hffff << last_bytes) : 16'hffff;
assign m_axis_tag = last_bytes == 4'd0 ? beat : behind[127:0];

// The last beat out takes the beat behind it along, that of the tag; a frame that goes on is thrown away from there on.
wire text_last = text && is_last;
wire ends = ended_reg || (beat_valid && beat_last);

assign pop = command || throw || skip || (fill && !ended_reg) || (text && !ended_reg && beat_valid);
assign finish = throw && beat_last || skip && beat_last || text_last && ends;
assign idle = !have && !beat_valid && state_reg == HEADER;

always @(posedge clk) begin
    if (command) begin
        header_reg <= beat_data[63:0];
    end
    if (fill || text) begin
        text_reg <= beat;
    end
end

always @(posedge clk) begin
    if (s_done != finish) begin
        done_reg <= s_done ? done_reg + ONE_FRAME : done_reg - ONE_FRAME;
    end
    if (pop) begin
        ended_reg <= beat_last;
    end
    case (state_reg)
        HEADER: begin
            left_reg <= {1'b0, n};
            if (command) begin
                state_reg <= BEGIN;
            end else if (throw && !beat_last) begin
                state_reg <= SKIP;
            end
        end
        BEGIN: if (fill) state_reg <= AAD;
        AAD: if (m_axis_tready) state_reg <= TEXT;
        TEXT: begin
            if (text) begin
                left_reg <= left_reg - 17'd16;
                if (is_last) begin
                    state_reg <= ends ? HEADER : SKIP;
                end
            end
        end
        default: if (skip && beat_last) state_reg <= HEADER;
    endcase
    if (finish) begin
        ended_reg <= 1'b0;
    end

    if (rst) begin
        state_reg <= HEADER;
        ended_reg <= 1'b0;
        done_reg <= {FRAME_W{1'b0}};
    end
end

endmodule

`resetall
