// Ends of requests (docs/dma.md, Requests): of writes in their order, flushed ones when their flush was answered; of
// reads as dma_buffer says them; and the flushes that are to be sent.
//
// Latency 2 cycles from a write's last TLP (or its flush's answer) to `done_valid`, 1 from a read's end. Nothing here
// waits: a requester has at most 128 requests that aren't done. `pushed` is one cycle for each request that has ended.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_done (
    input  wire        clk,
    input  wire        rst,

    // A write whose last TLP has left
    input  wire        write_end,
    input  wire [7:0]  write_id,
    input  wire [7:0]  write_code,
    input  wire        write_flush,
    input  wire [63:0] write_last_addr,
    input  wire        write_target,

    // Flushes out and back
    output wire        flush_valid,
    input  wire        flush_leaves,
    output wire [63:0] flush_addr,
    output wire        flush_target,
    output wire [6:0]  flush_slot,
    input  wire        answer_valid,
    input  wire [6:0]  answer_slot,
    input  wire [3:0]  answer_code,
    input  wire        late_valid,
    input  wire [6:0]  late_slot,

    input  wire        read_end,
    input  wire [7:0]  read_id,
    input  wire [7:0]  read_code,

    output wire        pushed,
    output wire        done_valid,
    input  wire        done_ready,
    output wire [7:0]  done_id,
    output wire [7:0]  done_code
);

localparam [3:0] TIMEOUT = 4'd11;

reg [6:0] in_reg;
reg [6:0] out_reg;
reg [127:0] answered_reg;
reg [3:0] answer_mem [0:127];

wire head_valid;
wire [7:0] head_id;
wire [7:0] head_code;
wire head_flush;
wire ends = head_valid && (!head_flush || answered_reg[out_reg]) && !read_end;
wire [7:0] code = head_code != 8'd0 || !head_flush ? head_code : {4'd0, answer_mem[out_reg]};

assign pushed = read_end || ends;

wire [7:0] writes_held;
wire unused_writes_held = &{1'b0, writes_held};
word_queue #(
    .WIDTH(17),
    .DEPTH(128)
) writes_inst (
    .clk(clk),
    .rst(rst),
    .write(write_end),
    .write_data({write_id, write_code, write_flush}),
    .valid(head_valid),
    .read_data({head_id, head_code, head_flush}),
    .read(ends),
    .held(writes_held)
);

wire [7:0] flushes_held;
wire unused_flushes_held = &{1'b0, flushes_held};
word_queue #(
    .WIDTH(72),
    .DEPTH(128)
) flushes_inst (
    .clk(clk),
    .rst(rst),
    .write(write_end && write_flush),
    .write_data({write_last_addr, write_target, in_reg}),
    .valid(flush_valid),
    .read_data({flush_addr, flush_target, flush_slot}),
    .read(flush_leaves),
    .held(flushes_held)
);

wire [7:0] done_held;
wire unused_done_held = &{1'b0, done_held};
word_queue #(
    .WIDTH(16),
    .DEPTH(128)
) done_inst (
    .clk(clk),
    .rst(rst),
    .write(pushed),
    .write_data(read_end ? {read_id, read_code} : {head_id, code}),
    .valid(done_valid),
    .read_data({done_id, done_code}),
    .read(done_valid && done_ready),
    .held(done_held)
);

always @(posedge clk) begin
    if (write_end) begin
        in_reg <= in_reg + 7'd1;
    end
    if (ends) begin
        out_reg <= out_reg + 7'd1;
        answered_reg[out_reg] <= 1'b0;
    end
    if (answer_valid) begin
        answered_reg[answer_slot] <= 1'b1;
        answer_mem[answer_slot] <= answer_code;
    end
    if (late_valid) begin
        answered_reg[late_slot] <= 1'b1;
        answer_mem[late_slot] <= TIMEOUT;
    end

    if (rst) begin
        in_reg <= 7'd0;
        out_reg <= 7'd0;
        answered_reg <= 128'd0;
    end
end

endmodule

`resetall
