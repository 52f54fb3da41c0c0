// gcm_room: counts what is on its way, so that nothing behind ever needs to stall.
//
// `taken` is 1 where something enters, `given` where something leaves for good; both may be. room: one more finds its
// place; it is that of the register alone, so it says so one cycle behind. Nobody enters without it.
//
// Parameter: DEPTH, places, a power of two.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_room #(
    parameter DEPTH = 64
) (
    input  wire clk,
    input  wire rst,

    input  wire taken,
    input  wire given,
    output wire room,
    output wire empty
);

localparam COUNT_W = $clog2(DEPTH) + 1;
localparam [COUNT_W-1:0] ONE = 1;

reg [COUNT_W-1:0] count_reg;

assign room = !count_reg[COUNT_W-1];
assign empty = count_reg == {COUNT_W{1'b0}};

always @(posedge clk) begin
    if (taken && !given) begin
        count_reg <= count_reg + ONE;
    end
    if (given && !taken) begin
        count_reg <= count_reg - ONE;
    end

    if (rst) begin
        count_reg <= {COUNT_W{1'b0}};
    end
end

endmodule

`resetall
