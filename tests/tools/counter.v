// A counter: something small to build. Latency 1 cycle.
`resetall
`timescale 1ns/1ps
`default_nettype none
module counter #(parameter WIDTH = 8) (
    input  wire             clk,
    input  wire             rst,
    input  wire             enable,
    output reg  [WIDTH-1:0] count
);
reg parity;
always @(posedge clk) begin
    parity <= ^count;
    if (rst)
        count <= {WIDTH{1'b0}};
    else if (enable)
        count <= count + {{(WIDTH-1){1'b0}}, 1'b1};
end
endmodule
`resetall
