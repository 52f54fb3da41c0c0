// sync_reset: a reset asserted at once and released in step with clk.
//
// Latency      rst rises with arst, without a clock; it falls with the second edge of clk after arst has fallen (the
//              third where arst falls at an edge). An arst of any length gives an rst of at least one whole cycle.
//
// arst must be free of glitches: straight from a register or a pin.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module sync_reset (
    input  wire clk,
    input  wire arst,
    output wire rst
);

    (* ASYNC_REG = "TRUE" *)
    reg [1:0] stage_reg;

    always @(posedge clk or posedge arst) begin
        if (arst) stage_reg <= 2'b11;
        else      stage_reg <= {stage_reg[0], 1'b0};
    end

    assign rst = stage_reg[1];

endmodule

`resetall
