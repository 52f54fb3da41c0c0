// Times of acl_meter: when each meter was asked last, and how long before this ask that was.
//
// An ask in cycle 0; `elapsed` (ns) is there in cycle 2, until the next ask's is. The time that is kept is the latest of
// all asks, so a time before it gives 0 and gives nothing twice. `zero`: this meter's time becomes 0; not while an ask is
// in its cycle 1.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_meter_time #(
    parameter METERS = 256,
    parameter METER_W = $clog2(METERS)
) (
    input  wire               clk,

    input  wire               ask_valid,
    input  wire [METER_W-1:0] ask_meter,
    input  wire [63:0]        ask_time,
    input  wire               stage_1,
    output wire [63:0]        elapsed,

    input  wire               zero,
    input  wire [METER_W-1:0] zero_meter
);

reg [63:0] time_mem [0:METERS-1];

reg [METER_W-1:0] meter_reg;
reg [63:0] time_reg;
reg [63:0] before_reg;
reg [63:0] elapsed_reg;

wire [64:0] passed = {1'b0, time_reg} - {1'b0, before_reg};
wire back = passed[64];
wire write = zero || (stage_1 && !back);
wire [METER_W-1:0] write_meter = zero ? zero_meter : meter_reg;
wire [63:0] write_time = zero ? 64'd0 : time_reg;

assign elapsed = elapsed_reg;

always @(posedge clk) begin
    if (write) begin
        time_mem[write_meter] <= write_time;
    end
    if (ask_valid) begin
        before_reg <= time_mem[ask_meter];
    end
end

always @(posedge clk) begin
    if (ask_valid) begin
        meter_reg <= ask_meter;
        time_reg <= ask_time;
    end
    if (stage_1) begin
        elapsed_reg <= back ? 64'd0 : passed[63:0];
    end
end

endmodule

`resetall
