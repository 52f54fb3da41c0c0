// The first PARSE_BYTES bytes of a frame, and 64 of them from any header's position on.
//
// A beat that is taken in a cycle is there in the next. `head` is combinational in `pos`, `pos` a multiple of two: byte
// `pos` on top, so that fields read as they stand in the standards. Bytes that have not come yet, or that are beyond
// PARSE_BYTES, are undefined. It is 0 while `show` is 0, for the sake of simulation speed.
//
// Parameters: PARSE_BYTES, a power of two, 64 to 256.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module parser_window #(
    parameter PARSE_BYTES = 128
) (
    input  wire         clk,

    // Beats
    input  wire         beat_valid,
    input  wire         beat_first,
    input  wire         beat_last,
    input  wire [127:0] beat_data,
    input  wire [4:0]   beat_bytes,

    // Bytes held, at most PARSE_BYTES; no more will come
    output wire [8:0]   have,
    output wire         ended,

    // Selection
    input  wire         show,
    input  wire [8:0]   pos,
    output reg  [511:0] head
);

localparam BEATS = PARSE_BYTES / 16;
localparam INDEX_W = $clog2(BEATS);
localparam [INDEX_W-1:0] ONE = 1;
localparam [INDEX_W-1:0] TWO = 2;
localparam [INDEX_W-1:0] THREE = 3;

reg [127:0] beat_mem [0:BEATS-1];
reg [8:0] have_reg;
reg ended_reg;

// First byte on top.
function [127:0] big_endian(input [127:0] data);
    big_endian = {
        data[7:0], data[15:8], data[23:16], data[31:24], data[39:32], data[47:40], data[55:48], data[63:56],
        data[71:64], data[79:72], data[87:80], data[95:88], data[103:96], data[111:104], data[119:112], data[127:120]
    };
endfunction

assign have = have_reg;
assign ended = ended_reg;

wire [INDEX_W-1:0] write_index = beat_first ? {INDEX_W{1'b0}} : have_reg[4 +: INDEX_W];
wire full = !beat_first && have_reg == PARSE_BYTES[8:0];

always @(posedge clk) begin
    if (beat_valid) begin
        ended_reg <= beat_last;
        if (!full) begin
            have_reg <= (beat_first ? 9'd0 : have_reg) + {4'd0, beat_bytes};
            beat_mem[write_index] <= big_endian(beat_data);
        end
    end
end

// Five beats from the one that holds `pos`, then the bytes from `pos` on.
wire [INDEX_W-1:0] index = pos[4 +: INDEX_W];
wire [INDEX_W-1:0] index_1 = index + ONE;
wire [INDEX_W-1:0] index_2 = index + TWO;
wire [INDEX_W-1:0] index_3 = index + THREE;
wire [INDEX_W-1:0] index_4 = index_3 + ONE;
wire [639:0] beats = {beat_mem[index], beat_mem[index_1], beat_mem[index_2], beat_mem[index_3], beat_mem[index_4]};
wire [9:0] low = 10'd128 - {3'd0, pos[3:1], 4'd0};

wire unused_pos = &{1'b0, pos};

always @* begin
    head = 512'd0;
    if (show) begin
        head = beats[low +: 512];
    end
end

endmodule

`resetall
