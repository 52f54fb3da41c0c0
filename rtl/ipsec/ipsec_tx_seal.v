// ipsec_tx_seal: what stands behind a frame's head: headers that are put in front of the ciphertext, the ciphertext as it
// leaves the engine, the tag; in beats without a gap.
//
// Jobs, frames for the engine, wait in order, at most DEPTH of them: whoever writes knows that there is room. Headers of
// job_front bytes (16 to 64, a multiple of 4) stand in job_headers from bit 0 on, 0 behind them; ciphertext of job_n bytes, a
// multiple of 4. Their whole beats leave as soon as it is the frame's turn, the rest with the ciphertext, whose every beat
// takes a cycle, and the tag ends it with up to two beats more.
//
// `sealed`, one cycle behind a frame's last beat: it is whole; `no_key`, its key wasn't there; `sum`, the UDP checksum (RFC 768)
// of all its bytes from job_skip (0: 0, 1: 8) on and job_sum, 0 written as 0xffff.
//
// Parameter: DEPTH, a power of two.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_tx_seal #(
    parameter DEPTH = 32
) (
    input  wire         clk,
    input  wire         rst,

    input  wire         job_valid,
    input  wire [511:0] job_headers,
    input  wire [6:0]   job_front,
    input  wire [3:0]   job_n,
    input  wire [4:0]   job_tag,
    input  wire         job_skip,
    input  wire [19:0]  job_sum,
    output wire [$clog2(DEPTH):0] held,

    // From the engine
    input  wire [127:0] s_axis_tdata,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    input  wire         s_axis_tlast,
    input  wire         s_axis_no_key,
    input  wire [127:0] s_axis_tag,

    // To ipsec_hold
    output wire         m_valid,
    input  wire         m_ready,
    output wire         m_last,
    output wire [127:0] m_data,

    output wire         sealed,
    output wire         no_key,
    output wire [15:0]  sum,
    output wire         idle
);

localparam JOB_W = 512 + 7 + 4 + 5 + 1 + 20;

wire         have, skip;
wire [511:0] headers;
wire [6:0]   front;
wire [3:0]   n;
wire [4:0]   tag_bytes;
wire [19:0]  sum_start;
wire         done;

word_queue #(.WIDTH(JOB_W), .DEPTH(DEPTH), .BYPASS(1)) jobs (
    .clk(clk), .rst(rst), .write(job_valid),
    .write_data({job_headers, job_front, job_n, job_tag, job_skip, job_sum}),
    .valid(have), .read_data({headers, front, n, tag_bytes, skip, sum_start}), .read(done), .held(held)
);

reg [2:0] beat_reg;      // whole beats of headers that left, as long as there are some
reg begun_reg;           // text has come
reg tail_reg;            // only the tail is left
reg [127:0] carry_reg;   // what the beat before had no room for
reg [255:0] rest_reg;    // the tail
reg [5:0] rest_bytes_reg;

wire in_front = !tail_reg && beat_reg != front[6:4];
wire [3:0] shift = front[3:0];
wire [127:0] carry = begun_reg ? carry_reg : headers[{front[5:4], 7'd0} +: 128];
wire no_carry = shift == 4'd0;

// A beat of text behind what was left; behind the last one the tag
wire [4:0] text_bytes = n == 4'd0 ? 5'd16 : {1'b0, n};
wire [127:0] tag = s_axis_tag & ~({128{1'b1}} << {tag_bytes, 3'd0});
wire [255:0] with_tag = {128'd0, s_axis_tdata}
    | (s_axis_tlast ? {128'd0, tag} << {text_bytes, 3'd0} : 256'd0);
wire [383:0] moved = {128'd0, with_tag} << {shift, 3'd0};
wire [383:0] whole = moved | {256'd0, no_carry ? 128'd0 : carry};
wire [5:0] last_bytes = {2'd0, shift} + {1'b0, text_bytes} + {1'b0, tag_bytes};
wire last_fits = last_bytes <= 6'd16;

assign m_valid = have && (in_front || tail_reg || s_axis_tvalid);
assign m_data = tail_reg ? rest_reg[127:0] : in_front ? headers[{beat_reg[1:0], 7'd0} +: 128] : whole[127:0];
assign m_last = tail_reg ? rest_bytes_reg <= 6'd16 : !in_front && s_axis_tlast && last_fits;
assign s_axis_tready = have && !in_front && !tail_reg && m_ready;

wire put = m_valid && m_ready;
wire text = put && !in_front && !tail_reg;

assign done = put && m_last;
assign idle = !have;

always @(posedge clk) begin
    if (text) begin
        carry_reg <= whole[255:128];
        rest_reg <= whole[383:128];
        rest_bytes_reg <= last_bytes - 6'd16;
    end
    if (put && tail_reg) begin
        rest_reg <= {128'd0, rest_reg[255:128]};
        rest_bytes_reg <= rest_bytes_reg - 6'd16;
    end
end

always @(posedge clk) begin
    if (put) begin
        if (in_front) begin
            beat_reg <= beat_reg + 3'd1;
        end
        begun_reg <= begun_reg || text;
        tail_reg <= tail_reg || (text && s_axis_tlast);
        if (m_last) begin
            beat_reg <= 3'd0;
            begun_reg <= 1'b0;
            tail_reg <= 1'b0;
        end
    end

    if (rst) begin
        beat_reg <= 3'd0;
        begun_reg <= 1'b0;
        tail_reg <= 1'b0;
    end
end

// Sum of 16-bit words; a frame has at most some 5,000.

function [18:0] words(input [127:0] data);
    integer i;
    begin
        words = 19'd0;
        for (i = 0; i < 8; i = i + 1) begin
            words = words + {3'd0, data[16*i +: 8], data[16*i + 8 +: 8]};
        end
    end
endfunction

function [15:0] fold(input [31:0] total);
    reg [16:0] once;
    begin
        once = {1'b0, total[15:0]} + {1'b0, total[31:16]};
        fold = once[15:0] + {15'd0, once[16]};
    end
endfunction

reg first_reg;
reg [31:0] sum_reg;
reg sealed_reg, no_key_reg;

wire [127:0] summed = first_reg && skip ? {m_data[127:64], 64'd0} : m_data;
wire [15:0] complement = ~fold(sum_reg);

assign sealed = sealed_reg;
assign no_key = no_key_reg;
assign sum = complement == 16'd0 ? 16'hffff : complement;

always @(posedge clk) begin
    if (put) begin
        sum_reg <= (first_reg ? {12'd0, sum_start} : sum_reg) + {13'd0, words(summed)};
    end
    if (text && s_axis_tlast) begin
        no_key_reg <= s_axis_no_key;
    end
end

always @(posedge clk) begin
    sealed_reg <= done;
    if (put) begin
        first_reg <= m_last;
    end

    if (rst) begin
        sealed_reg <= 1'b0;
        first_reg <= 1'b1;
    end
end

endmodule

`resetall
