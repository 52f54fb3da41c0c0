// Buckets of acl_meter, one a meter: how much is in each, and whether that is enough for a frame.
//
// In units of 10^-9 bits, 65 bits. A byte costs 8 * 10^9 = 2^12 * 1953125, so neither the cost of a frame nor a bucket's
// size reaches into the 12 low bits, and both are given without them. In cycle
//   2, 3  what the rate gave; the bucket's size; the level is read
//   4     both added
//   5     not more than the size
//   6     compared with the cost: `enough`; with `take` less the cost, written
// So the level is read in cycle 3 and there in cycle 7, that of the next ask's 3. `fresh` in cycle 3: the bucket is full,
// whatever is read. `refill` makes a bucket full: a level above any size. Not in an ask's cycle 6.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_meter_bucket #(
    parameter METERS = 256,
    parameter METER_W = $clog2(METERS)
) (
    input  wire               clk,

    input  wire [6:2]         stage,
    input  wire [METER_W-1:0] meter,
    input  wire [METER_W-1:0] level_meter,
    input  wire               fresh,
    input  wire [63:0]        elapsed,
    input  wire [39:0]        rate,
    input  wire [31:0]        burst,
    input  wire [36:0]        cost,
    output wire               enough,
    input  wire               take,

    input  wire               refill,
    input  wire [METER_W-1:0] refill_meter
);

reg [64:0] level_mem [0:METERS-1];

reg [52:0] size_reg;
reg fresh_reg;
reg [64:0] before_reg;
reg full_reg;
reg [65:0] sum_reg;
reg [64:0] level_reg;

wire [64:0] given;
wire over;

wire full = full_reg || sum_reg[65:12] >= {1'b0, size_reg};
wire [53:0] left = {1'b0, level_reg[64:12]} - {17'd0, cost};
wire [64:0] level = {take ? left[52:0] : level_reg[64:12], level_reg[11:0]};
wire write = stage[6] || refill;
wire [METER_W-1:0] write_meter = refill ? refill_meter : level_meter;
wire [64:0] write_level = refill ? {65{1'b1}} : level;

assign enough = !left[53];

acl_meter_product product (
    .clk(clk), .stage_2(stage[2]), .stage_3(stage[3]), .elapsed(elapsed), .rate(rate), .sum(given), .over(over)
);

always @(posedge clk) begin
    if (write) begin
        level_mem[write_meter] <= write_level;
    end
    if (stage[3]) begin
        before_reg <= level_mem[meter];
    end
end

always @(posedge clk) begin
    if (stage[3]) begin
        size_reg <= burst * 21'd1953125;
        fresh_reg <= fresh;
    end
    if (stage[4]) begin
        sum_reg <= {1'b0, before_reg} + {1'b0, given};
        full_reg <= over || fresh_reg;
    end
    if (stage[5]) begin
        level_reg <= full ? {size_reg, 12'd0} : sum_reg[64:0];
    end
end

endmodule

`resetall
