// The schedule of the pseudo-random test pattern (IEEE 802.3, 49.2.8): what the scrambler gets in place of blocks.
//
// 128 blocks from seed A, 128 from A inverted, then from B and from B inverted, and over again, from A when `run` rises.
// The data of inverted segments are inverted too. `load` goes with a segment's first block.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_tx_pattern (
    input  wire        clk,
    input  wire        run,

    input  wire [57:0] cfg_seed_a,
    input  wire [57:0] cfg_seed_b,
    input  wire        cfg_data_lf,

    output wire        load,
    output wire [57:0] seed,
    output wire [63:0] data
);

localparam [63:0] LOCAL_FAULT = 64'h0100000001000055;

reg [8:0] block_reg;

assign load = run && block_reg[6:0] == 7'd0;
assign seed = (block_reg[8] ? cfg_seed_b : cfg_seed_a) ^ {58{block_reg[7]}};
assign data = (cfg_data_lf ? LOCAL_FAULT : 64'd0) ^ {64{block_reg[7]}};

always @(posedge clk) begin
    block_reg <= run ? block_reg + 9'd1 : 9'd0;
end

endmodule

`resetall
