// 66 bits of PRBS31, 1 + x^28 + x^31, inverted (IEEE 802.3, 49.2.8 and figure 49-9), bit 0 first.
//
// A register: `bits` are new in every cycle with `run`; without it the generator's register is all ones.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_prbs31 (
    input  wire        clk,
    input  wire        run,

    output wire [65:0] bits
);

reg [30:0] last_reg;            // in the order of time, bit 30 the newest
reg [65:0] bits_reg;

wire [27:0] a = last_reg[27:0] ^ last_reg[30:3];
wire [27:0] b = {a[24:0], last_reg[30:28]} ^ a;
wire [9:0] c = {b[6:0], a[27:25]} ^ b[9:0];

assign bits = bits_reg;

always @(posedge clk) begin
    if (run) begin
        bits_reg <= ~{c, b, a};
        last_reg <= {c, b[27:7]};
    end else begin
        last_reg <= {31{1'b1}};
    end
end

endmodule

`resetall
