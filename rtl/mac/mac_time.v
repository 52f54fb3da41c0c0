// The MAC clock's time: `now`, 64 bits of ns above 32 of fraction.
//
// It grows by cfg_increment (8.32 ns) a cycle; set_valid puts set_time in place of that. Latency 1: what is set is `now`
// in the next cycle.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_time (
    input  wire        clk,
    input  wire        rst,

    input  wire [39:0] cfg_increment,
    input  wire        set_valid,
    input  wire [95:0] set_time,

    output wire [95:0] now
);

reg [63:0] ns_reg;
reg [31:0] fraction_reg;

// Two narrow sums with a carry between them: 64 bits are one machine word in simulation, 96 are not.
wire [32:0] fraction_sum = {1'b0, fraction_reg} + {1'b0, cfg_increment[31:0]};

assign now = {ns_reg, fraction_reg};

always @(posedge clk) begin
    if (set_valid) begin
        {ns_reg, fraction_reg} <= set_time;
    end else begin
        ns_reg <= ns_reg + {56'd0, cfg_increment[39:32]} + {63'd0, fraction_sum[32]};
        fraction_reg <= fraction_sum[31:0];
    end

    if (rst) begin
        ns_reg <= 64'd0;
        fraction_reg <= 32'd0;
    end
end

endmodule

`resetall
