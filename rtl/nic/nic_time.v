// The port's time: `now` in ns, kept with 32 fractional bits.
//
// It grows by `increment` (8.32 ns) a cycle. `advance` makes `target` the time of the next cycle, in place of the
// growth; it goes forward only: a target that is not above `now` is ignored. Latency 1 cycle.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_time (
    input  wire        clk,
    input  wire        rst,

    input  wire [39:0] increment,
    input  wire        advance,
    input  wire [63:0] target,

    output wire [63:0] now
);

reg [63:0] now_reg;
reg [31:0] fraction_reg;

// Two narrow sums with a carry between them: 64 bits are one machine word in simulation, 96 are not.
wire [32:0] fraction_sum = {1'b0, fraction_reg} + {1'b0, increment[31:0]};

assign now = now_reg;

always @(posedge clk) begin
    if (advance && target > now_reg) begin
        now_reg <= target;
        fraction_reg <= 32'd0;
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
