// sync_bit: a level into another clock, over two flip-flops.
//
// Latency      q follows d with the second edge of clk after d has changed; the third where d changes at an edge.
// Throughput   a level that lasts at least two periods of clk is always seen.
//
// d must come straight from a register of its own clock. There is no reset: the value is d's own soon enough.
//
// Parameters   RESET_VALUE  value of q from power-up until d has come through
`resetall
`timescale 1ns / 1ps
`default_nettype none

module sync_bit #(
    parameter RESET_VALUE = 0
) (
    input  wire clk,
    input  wire d,
    output wire q
);

    (* ASYNC_REG = "TRUE" *)
    reg [1:0] stage_reg;

    initial begin
        if (RESET_VALUE != 0 && RESET_VALUE != 1) begin
            $display("sync_bit: RESET_VALUE must be 0 or 1 (%m)");
            $finish;
        end
        // The value at power-up: a cell without a reset has no other place for it.
        stage_reg = RESET_VALUE != 0 ? 2'b11 : 2'b00;
    end

    always @(posedge clk) stage_reg <= {stage_reg[0], d};

    assign q = stage_reg[1];

endmodule

`resetall
