// pcs_tx and pcs_rx back to back, through a line that starts `offset` bits off a block's first bit and shifts by one where
// pcs_rx asks for it. `flip` inverts bits of the block that pcs_rx sees.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_loop (
    input  wire        clk,
    input  wire        rst,
    input  wire [63:0] xgmii_d,
    input  wire [7:0]  xgmii_c,
    output wire [65:0] block,
    input  wire [6:0]  offset,
    input  wire [65:0] flip,
    input  wire        signal_ok,
    input  wire [2:0]  tx_pattern,
    input  wire [57:0] seed_a,
    input  wire [57:0] seed_b,
    input  wire        tx_lf,
    input  wire [2:0]  rx_pattern,
    input  wire        rx_lf,
    output wire [63:0] out_d,
    output wire [7:0]  out_c,
    output wire        slip,
    output wire        block_lock,
    output wire        hi_ber,
    output wire        rx_status,
    output wire [15:0] pattern_errors,
    input  wire        pattern_clear,
    output wire [5:0]  ber_count,
    input  wire        ber_clear,
    output wire [7:0]  errored_blocks,
    input  wire        errored_clear
);

reg [65:0] block_reg;
reg [6:0]  offset_reg;

wire [131:0] line = {block, block_reg} >> (7'd66 - offset_reg);

always @(posedge clk) begin
    block_reg <= block;
    offset_reg <= rst ? offset : slip ? (offset_reg == 7'd0 ? 7'd65 : offset_reg - 7'd1) : offset_reg;
end

pcs_tx tx (
    .clk(clk), .rst(rst), .xgmii_d(xgmii_d), .xgmii_c(xgmii_c), .cfg_pattern(tx_pattern), .cfg_seed_a(seed_a),
    .cfg_seed_b(seed_b), .cfg_data_lf(tx_lf), .block(block)
);

pcs_rx #(
    .BER_LIMIT(5),
    .BER_CYCLES(300)
) rx (
    .clk(clk), .rst(rst), .block(line[65:0] ^ flip), .signal_ok(signal_ok), .slip(slip),
    .xgmii_d(out_d), .xgmii_c(out_c), .block_lock(block_lock), .hi_ber(hi_ber), .rx_status(rx_status),
    .cfg_pattern(rx_pattern), .cfg_data_lf(rx_lf), .pattern_errors(pattern_errors), .pattern_clear(pattern_clear),
    .ber_count(ber_count), .ber_clear(ber_clear), .errored_blocks(errored_blocks), .errored_clear(errored_clear)
);

endmodule

`resetall
