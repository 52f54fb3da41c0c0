// ipsec_align: of a frame's beats the bytes from `offset` on, moved to lane 0.
//
// In each cycle with `take` a beat comes; offset stands still over a frame. Beats out (m_valid, no back-pressure): the first
// one begins at `offset`, m_last is the frame's last one. Each frame has one, also where it ends before `offset`; lanes behind
// the frame's end hold anything.
//
// A beat out comes in the cycle after the beat in that holds its last byte; what is left of a frame's last beat, and all of a frame
// of one beat, comes two cycles after it. Frames may follow each other at once, but not two of one beat; offset isn't 0.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_align (
    input  wire         clk,
    input  wire         rst,

    input  wire         take,
    input  wire         take_last,
    input  wire [127:0] take_data,
    input  wire [4:0]   take_bytes,
    input  wire [8:0]   offset,

    output wire         m_valid,
    output wire         m_last,
    output wire [127:0] m_data
);

reg [5:0] beat_reg;          // number of the beat, 63 and more the same
reg [127:0] before_reg;
reg rest_reg;
reg [3:0] shift_reg;
reg valid_reg;
reg last_reg;
reg [127:0] data_reg;

wire [5:0] begins = {1'b0, offset[8:4]};
wire [3:0] shift = rest_reg ? shift_reg : offset[3:0];
wire whole = shift == 4'd0;
wire [5:0] complete = whole ? begins : begins + 6'd1;
wire only = beat_reg == 6'd0;
wire rest = take && take_last && (only || (!whole && beat_reg >= begins && take_bytes > {1'b0, shift}));
wire emit = take && (beat_reg >= complete || (take_last && !rest));
wire [255:0] both = {take_data, before_reg};
wire [255:0] moved = (whole ? {128'd0, take_data} : both) >> {shift, 3'd0};
wire unused_moved = &{1'b0, moved[255:128]};

assign m_valid = valid_reg;
assign m_last = last_reg;
assign m_data = data_reg;

always @(posedge clk) begin
    if (take) begin
        before_reg <= take_data;
        shift_reg <= offset[3:0];
    end
    if (emit || rest_reg) begin
        data_reg <= moved[127:0];
        last_reg <= rest_reg || (take_last && !rest);
    end
end

always @(posedge clk) begin
    valid_reg <= emit || rest_reg;
    rest_reg <= rest;
    if (take) begin
        beat_reg <= take_last ? 6'd0 : &beat_reg ? beat_reg : beat_reg + 6'd1;
    end

    if (rst) begin
        valid_reg <= 1'b0;
        rest_reg <= 1'b0;
        beat_reg <= 6'd0;
    end
end

endmodule

`resetall
