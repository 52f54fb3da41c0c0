// The nearest of N deadlines, in ns; all ones means none. Combinational: what reads it is a bench that advances time,
// never a pipeline.
//
// Parameters: N, 1 or more; deadline i is slice i of the packed input.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_deadline #(
    parameter N = 2
) (
    input  wire [N*64-1:0] deadlines,
    output wire [63:0]     nearest
);

reg [63:0] least;
integer i;

always @* begin
    least = 64'hffffffffffffffff;
    for (i = 0; i < N; i = i + 1) begin
        if (deadlines[i*64 +: 64] < least) begin
            least = deadlines[i*64 +: 64];
        end
    end
end

assign nearest = least;

endmodule

`resetall
