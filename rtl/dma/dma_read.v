// Reads of a requester (docs/dma.md, Buffer): each TLP gets its lines and is offered; when it leaves, or when there is
// none to send, dma_buffer is told in order.
//
// A TLP is offered in the cycle after dma_split has it; one TLP a cycle. What is left of a request that has failed
// isn't sent.
//
// Parameters: LINES, lines of 64 bytes.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_read #(
    parameter LINES = 256,
    parameter LINE_W = $clog2(LINES)
) (
    input  wire              clk,
    input  wire              rst,

    input  wire              in_valid,
    output wire              in_read,
    input  wire [63:0]       in_addr,
    input  wire [12:0]       in_bytes,
    input  wire              in_last,
    input  wire [31:0]       in_left,

    output wire [6:0]        slot,
    input  wire              faulted,

    // To dma_tx
    output wire              tlp_valid,
    input  wire              tlp_leaves,
    output wire [LINE_W-1:0] tlp_line,
    output wire [6:0]        tlp_lines,

    // To dma_buffer; `record_data`: a TLP has left, else the request has none
    output wire              record_write,
    output wire              record_data,
    output wire              record_frame,

    input  wire              lines_free,
    input  wire [6:0]        lines_freed,
    output wire [LINE_W:0]   lines_held
);

reg [6:0] slot_reg;
reg [LINE_W-1:0] line_reg;
reg [LINE_W:0] held_reg;

wire [12:0] touched = {7'd0, in_addr[5:0]} + in_bytes + 13'd63;
wire [31:0] wanted = {25'd0, touched[12:6]} + {{(31 - LINE_W){1'b0}}, held_reg};
wire nothing = in_bytes == 13'd0 || faulted;
wire dropped = in_valid && nothing;

assign slot = slot_reg;
assign tlp_valid = in_valid && !nothing && wanted <= LINES;
assign tlp_line = line_reg;
assign tlp_lines = touched[12:6];
assign in_read = tlp_leaves || dropped;
assign record_write = tlp_leaves || (dropped && in_last);
assign record_data = tlp_leaves;
assign record_frame = in_left != 32'd0;
assign lines_held = held_reg;

wire unused_bits = &{1'b0, in_addr[63:6], touched[5:0]};

localparam PAD = LINE_W < 7 ? 1 : LINE_W - 6;
wire [LINE_W+PAD+6:0] taken_wide = {{(LINE_W + PAD){1'b0}}, touched[12:6]};
wire [LINE_W+PAD+6:0] freed_wide = {{(LINE_W + PAD){1'b0}}, lines_freed};
wire unused_wide = &{1'b0, taken_wide[LINE_W+PAD+6:LINE_W+1], freed_wide[LINE_W+PAD+6:LINE_W+1]};

always @(posedge clk) begin
    held_reg <= held_reg + (tlp_leaves ? taken_wide[LINE_W:0] : {(LINE_W + 1){1'b0}})
        - (lines_free ? freed_wide[LINE_W:0] : {(LINE_W + 1){1'b0}});
    if (tlp_leaves) begin
        line_reg <= line_reg + taken_wide[LINE_W-1:0];
    end
    if (in_read && in_last) begin
        slot_reg <= slot_reg + 7'd1;
    end

    if (rst) begin
        held_reg <= {(LINE_W + 1){1'b0}};
        line_reg <= {LINE_W{1'b0}};
        slot_reg <= 7'd0;
    end
end

endmodule

`resetall
