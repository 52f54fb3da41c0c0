// Tags (docs/dma.md, TLPs): which are free, what the others are for. A tag is free, used, or rests.
//
// `free_index` may be taken in any cycle in which `free_valid` is 1. A tag that comes back may be taken 2 cycles later.
// New tags go first, then those that came back longest ago. `info` is kept for a tag while it isn't free.
//
// Parameters: INFO_W.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_tags #(
    parameter INFO_W = 64
) (
    input  wire              clk,
    input  wire              rst,

    input  wire [1:0]        mode,
    input  wire [32:0]       now,

    output wire              free_valid,
    output wire [9:0]        free_index,
    input  wire              take,
    input  wire [INFO_W-1:0] take_info,

    // A completion's tag: it is looked at, and becomes free or rests
    input  wire [9:0]        index,
    output wire              index_used,
    output wire [INFO_W-1:0] index_info,
    input  wire              index_free,
    input  wire              index_rest,

    // The tag that dma_timeout looks at: it rests (timeout) or is free (rested)
    input  wire [9:0]        scan,
    output wire              scan_used,
    output wire              scan_rests,
    output wire [32:0]       scan_since,
    output wire [INFO_W-1:0] scan_info,
    input  wire              scan_rest,
    input  wire              scan_free,

    output wire [9:0]        most,
    output wire [10:0]       held
);

localparam [1:0] FREE = 2'd0;
localparam [1:0] USED = 2'd1;
localparam [1:0] RESTS = 2'd2;

reg [INFO_W-1:0] info_mem [0:767];
reg [1:0] phase_mem [0:767];
reg [32:0] sent_mem [0:767];
reg [32:0] rest_mem [0:767];
reg [1:0] mode_reg;
// Tags from here on were never used
reg [9:0] fresh_reg;
reg [10:0] held_reg;

wire back_valid;
wire [9:0] back_index;
wire [9:0] limit = mode_reg == 2'd0 ? 10'd32 : mode_reg == 2'd1 ? 10'd256 : 10'd768;
wire is_fresh = fresh_reg < limit;
wire restart = rst || mode_reg != mode;
wire comes_back = index_free || scan_free;
wire [1:0] phase = phase_mem[index];
wire [1:0] scan_phase = phase_mem[scan];

assign free_valid = (is_fresh || back_valid) && mode_reg == mode;
assign free_index = is_fresh ? fresh_reg : back_index;
assign index_used = index < fresh_reg && phase == USED;
assign index_info = info_mem[index];
assign scan_used = scan < fresh_reg && scan_phase == USED;
assign scan_rests = scan < fresh_reg && scan_phase == RESTS;
assign scan_since = scan_phase == RESTS ? rest_mem[scan] : sent_mem[scan];
assign scan_info = info_mem[scan];
assign most = limit;
assign held = held_reg;

wire [10:0] back_held;
wire unused_back_held = &{1'b0, back_held};
word_queue #(
    .WIDTH(10),
    .DEPTH(1024)
) back_inst (
    .clk(clk),
    .rst(restart),
    .write(comes_back),
    .write_data(index_free ? index : scan),
    .valid(back_valid),
    .read_data(back_index),
    .read(take && !is_fresh),
    .held(back_held)
);

always @(posedge clk) begin
    mode_reg <= mode;
    held_reg <= held_reg + {10'd0, take} - {10'd0, comes_back};
    if (take) begin
        info_mem[free_index] <= take_info;
        sent_mem[free_index] <= now;
        phase_mem[free_index] <= USED;
        if (is_fresh) begin
            fresh_reg <= fresh_reg + 10'd1;
        end
    end
    if (index_free || index_rest) begin
        phase_mem[index] <= index_rest ? RESTS : FREE;
    end
    if (index_rest) begin
        rest_mem[index] <= now;
    end
    if (scan_rest || scan_free) begin
        phase_mem[scan] <= scan_rest ? RESTS : FREE;
    end
    if (scan_rest) begin
        rest_mem[scan] <= now;
    end

    if (restart) begin
        fresh_reg <= 10'd0;
    end
    if (rst) begin
        mode_reg <= 2'd0;
        held_reg <= 11'd0;
    end
end

endmodule

`resetall
