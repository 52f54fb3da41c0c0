// ipsec_tx_feed: text that is to be encrypted, and the trailer behind it, to the engine: command, AAD, text (RFC 4303 2.4, RFC
// 4106).
//
// Beats in (s_valid, while `room` is 1) begin with the text's first byte in lane 0, s_last ends each frame; `s_done`, once a
// frame, no earlier than the cycle of its last beat: nothing more of it comes. What became of a frame at its head (job_*) comes
// in the order of frames, in any cycle: with `job_go` 0 its beats are thrown away, else they go to the engine: job_text bytes
// of text, the padding 1, 2, .. job_pads, the pad length, the next header. Where a frame has fewer bytes of text, what the
// engine gets for them is anything.
//
// A command goes in the cycle in which its job is here and the engine is ready, T + 3 cycles behind the one before at the
// earliest (T blocks of text). The AAD follows two cycles later, text behind it; its last beat waits for `s_done`.
//
// Parameters: KEY_W; FRAMES, most jobs that wait, a power of two.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_tx_feed #(
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
    input  wire             job_esn,
    input  wire [31:0]      job_spi,
    input  wire [63:0]      job_number,
    input  wire [15:0]      job_text,
    input  wire [1:0]       job_pads,
    input  wire [7:0]       job_next_header,

    output wire             m_cmd_valid,
    input  wire             m_cmd_ready,
    output wire [KEY_W-1:0] m_cmd_key,
    output wire [95:0]      m_cmd_iv,

    output wire [127:0]     m_axis_tdata,
    output wire [15:0]      m_axis_tkeep,
    output wire             m_axis_tvalid,
    input  wire             m_axis_tready,
    output wire             m_axis_tlast,
    output wire             m_axis_tuser,

    output wire             idle
);

// Beats that may come before `room` is seen to be 0, and a frame's rest
localparam DEPTH = 64;
localparam [6:0] MOST = DEPTH - 4;
localparam JOB_W = 1 + KEY_W + 32 + 1 + 32 + 64 + 16 + 2 + 8;
localparam FRAME_W = $clog2(FRAMES) + 1;
localparam [FRAME_W-1:0] ONE_FRAME = 1;

localparam [2:0] COMMAND = 3'd0;
localparam [2:0] BEGIN = 3'd1; // the engine takes no beat yet
localparam [2:0] AAD = 3'd2;
localparam [2:0] TEXT = 3'd3;
localparam [2:0] SKIP = 3'd4; // what came behind the text, or a frame that ended

function [31:0] bytes_32(input [31:0] number);
    bytes_32 = {number[7:0], number[15:8], number[23:16], number[31:24]};
endfunction

wire             beat_valid, beat_last;
wire [127:0]     beat_data;
wire [6:0]       held;
wire             pop;
wire             have, go, esn;
wire [KEY_W-1:0] sa;
wire [31:0]      salt, spi;
wire [63:0]      number;
wire [15:0]      text_bytes;
wire [1:0]       pads;
wire [7:0]       next_header;
wire             ends_job;
wire [FRAME_W-1:0] jobs_held;

reg [2:0]         state_reg;
reg               ended_reg; // the frame's last beat was taken
reg [15:0]        text_reg;  // bytes of text that are left
reg [16:0]        left_reg;  // and of the trailer behind them
reg [FRAME_W-1:0] done_reg;  // frames of which all has come

assign room = held <= MOST;

word_queue #(.WIDTH(129), .DEPTH(DEPTH)) beats (
    .clk(clk), .rst(rst), .write(s_valid), .write_data({s_last, s_data}),
    .valid(beat_valid), .read_data({beat_last, beat_data}), .read(pop), .held(held)
);

word_queue #(.WIDTH(JOB_W), .DEPTH(FRAMES), .BYPASS(1)) jobs (
    .clk(clk), .rst(rst), .write(job_valid),
    .write_data({
        job_go, job_sa, job_salt, job_esn, job_spi, job_number, job_text, job_pads, job_next_header
    }),
    .valid(have), .read_data({go, sa, salt, esn, spi, number, text_bytes, pads, next_header}), .read(ends_job),
    .held(jobs_held)
);

wire unused_held = &{1'b0, jobs_held};

wire is_done = done_reg != {FRAME_W{1'b0}};
wire wants_beat = text_reg != 16'd0 && !ended_reg;
wire is_last = left_reg <= 17'd16;

assign m_cmd_valid = state_reg == COMMAND && have && go;
assign m_cmd_key = sa;
assign m_cmd_iv = {bytes_32(number[31:0]), bytes_32(number[63:32]), salt};

wire command = m_cmd_valid && m_cmd_ready;
wire throw = state_reg == COMMAND && have && !go;
wire skip = state_reg == SKIP && beat_valid;
wire text_ready = (!wants_beat || beat_valid) && (!is_last || is_done);
wire text = state_reg == TEXT && text_ready && m_axis_tready;

// Text, and behind it what fits of the trailer; what doesn't begins the next beat.
wire [7:0] pad_length = {6'd0, pads};
wire [39:0] trailer = pads == 2'd0 ? {24'd0, next_header, pad_length}
    : pads == 2'd1 ? {16'd0, next_header, pad_length, 8'd1}
    : pads == 2'd2 ? {8'd0, next_header, pad_length, 16'h0201} : {next_header, pad_length, 24'h030201};
wire only_text = text_reg >= 16'd16;
wire [127:0] in_text = ended_reg ? 128'd0 : beat_data;
wire [127:0] mask = ~({128{1'b1}} << {text_reg[3:0], 3'd0});
wire [127:0] mixed = (in_text & mask) | ({88'd0, trailer} << {text_reg[3:0], 3'd0});

// The bytes of the trailer that the beat before took
reg [2:0] given_reg;
wire [39:0] rest = trailer >> {given_reg, 3'd0};

assign m_axis_tvalid = state_reg == AAD || (state_reg == TEXT && text_ready);
assign m_axis_tuser = state_reg == AAD;
assign m_axis_tlast = state_reg == TEXT && is_last;
assign m_axis_tdata = state_reg == AAD
    ? (esn ? {32'd0, bytes_32(number[31:0]), bytes_32(number[63:32]), bytes_32(spi)}
        : {64'd0, bytes_32(number[31:0]), bytes_32(spi)})
    : only_text ? in_text : text_reg != 16'd0 ? mixed : {88'd0, rest};
assign m_axis_tkeep = state_reg == AAD ? (esn ? 16'h0fff : 16'h00ff)
    : is_last && left_reg[3:0] != 4'd0 ? ~(16'hffff << left_reg[3:0]) : 16'hffff;

wire text_pop = text && wants_beat;
wire text_last = text && is_last;
wire ends = ended_reg || (text_pop && beat_last);

assign pop = skip || text_pop;
assign ends_job = (text_last && ends) || (skip && beat_last);
assign idle = !have && !beat_valid && state_reg == COMMAND;

always @(posedge clk) begin
    if (s_done != ends_job) begin
        done_reg <= s_done ? done_reg + ONE_FRAME : done_reg - ONE_FRAME;
    end
    if (pop) begin
        ended_reg <= beat_last;
    end
    case (state_reg)
        COMMAND: begin
            text_reg <= text_bytes;
            left_reg <= {1'b0, text_bytes} + {15'd0, pads} + 17'd2;
            given_reg <= 3'd0;
            if (command) begin
                state_reg <= BEGIN;
            end else if (throw) begin
                state_reg <= SKIP;
            end
        end
        BEGIN: begin
            state_reg <= AAD;
        end
        AAD: begin
            if (m_axis_tready) begin
                state_reg <= TEXT;
            end
        end
        TEXT: begin
            if (text) begin
                left_reg <= left_reg - 17'd16;
                text_reg <= only_text ? text_reg - 16'd16 : 16'd0;
                // 16 - text bytes; of no concern where the trailer ends in this beat.
                given_reg <= only_text ? 3'd0 : 3'd0 - text_reg[2:0];
                if (is_last) begin
                    state_reg <= ends ? COMMAND : SKIP;
                end
            end
        end
        default: begin
            if (skip && beat_last) begin
                state_reg <= COMMAND;
            end
        end
    endcase
    if (ends_job) begin
        ended_reg <= 1'b0;
    end

    if (rst) begin
        state_reg <= COMMAND;
        ended_reg <= 1'b0;
        done_reg <= {FRAME_W{1'b0}};
    end
end

endmodule

`resetall
