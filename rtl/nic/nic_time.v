// The port's time: `now` in ns, kept with 32 fractional bits.
//
// It grows by `increment` (8.32 ns) a cycle. `advance` makes `target` and `target_fraction` the time of the next cycle, in
// place of the growth; it goes forward only: a target that is not above `now` and its fraction is ignored. Latency 1 cycle.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_time (
    input  wire        clk,
    input  wire        rst,

    input  wire [39:0] increment,
    input  wire        advance,
    input  wire [63:0] target,
    input  wire [31:0] target_fraction,

    output wire [63:0] now,
    output wire [31:0] fraction
);

reg [63:0] now_reg;
reg [31:0] fraction_reg;

// Two narrow sums with a carry between them: 64 bits are one machine word in simulation, 96 are not.
wire [32:0] fraction_sum = {1'b0, fraction_reg} + {1'b0, increment[31:0]};

assign now = now_reg;
assign fraction = fraction_reg;

wire later = target > now_reg || (target == now_reg && target_fraction > fraction_reg);

always @(posedge clk) begin
    if (advance && later) begin
        now_reg <= target;
        fraction_reg <= target_fraction;
    end else begin
        now_reg <= now_reg + {56'd0, increment[39:32]} + {63'd0, fraction_sum[32]};
        fraction_reg <= fraction_sum[31:0];
    end

    if (rst) begin
        now_reg <= 64'd0;
        fraction_reg <= 32'd0;
    end
end

endmodule

`resetall
