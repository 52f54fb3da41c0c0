// The scrambler 1 + x^39 + x^58 of IEEE 802.3, 49.2.6, 64 bits a cycle, bit 0 first.
//
// Latency 1. The register keeps the last 58 bits in the order of time, bit 57 the newest; a reset sets them. `load` puts
// `seed` in their place for this very word; seed[i] is S_i of figure 49-8, of which S_0 is the newest.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_scramble (
    input  wire        clk,
    input  wire        rst,

    input  wire [63:0] data,
    input  wire        load,
    input  wire [57:0] seed,

    output wire [63:0] scrambled
);

reg [57:0] last_reg;
reg [63:0] out_reg;

wire [57:0] loaded;

genvar i;
generate
    for (i = 0; i < 58; i = i + 1) begin : bit_of_seed
        assign loaded[57 - i] = seed[i];
    end
endgenerate

wire [57:0] last = load ? loaded : last_reg;
wire [38:0] low = data[38:0] ^ last[57:19] ^ last[38:0];
wire [18:0] middle = data[57:39] ^ low[18:0] ^ last[57:39];
wire [5:0] high = data[63:58] ^ low[24:19] ^ low[5:0];

assign scrambled = out_reg;

always @(posedge clk) begin
    out_reg <= {high, middle, low};
    last_reg <= {high, middle, low[38:6]};

    if (rst) begin
        last_reg <= {58{1'b1}};
    end
end

endmodule

`resetall
