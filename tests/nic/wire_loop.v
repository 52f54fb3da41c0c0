// XGMII that goes in and comes out a cycle of its clock later. `now` grows in the core's clock; `idle` is always 1.
// In word FLIP_WORD since reset bit FLIP_BIT (of c and d) is inverted; 0: in none.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module wire_loop #(
    parameter FLIP_WORD = 0,
    parameter FLIP_BIT = 0
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        mac_clk,
    input  wire        mac_rst,

    input  wire [63:0] xgmii_rx_d,
    input  wire [7:0]  xgmii_rx_c,
    output reg  [63:0] xgmii_tx_d,
    output reg  [7:0]  xgmii_tx_c,

    output wire [63:0] now,
    output wire [31:0] now_fraction,
    input  wire        time_advance,
    input  wire [63:0] time_target,
    input  wire [31:0] time_target_fraction,
    output wire        idle,
    output wire [63:0] next_deadline
);

reg [31:0] word_reg;

assign idle = 1'b1;
assign next_deadline = {64{1'b1}};

nic_time time_inst (
    .clk(clk), .rst(rst), .increment(40'h4_0000_0000),
    .advance(time_advance), .target(time_target), .target_fraction(time_target_fraction),
    .now(now), .fraction(now_fraction)
);

always @(posedge mac_clk) begin
    word_reg <= word_reg + 32'd1;
    {xgmii_tx_c, xgmii_tx_d} <= {xgmii_rx_c, xgmii_rx_d};
    if (FLIP_WORD != 0 && word_reg == FLIP_WORD) begin
        {xgmii_tx_c, xgmii_tx_d} <= {xgmii_rx_c, xgmii_rx_d} ^ (72'd1 << FLIP_BIT);
    end
    if (mac_rst) begin
        word_reg <= 32'd0;
        xgmii_tx_d <= {8{8'h07}};
        xgmii_tx_c <= 8'hff;
    end
end

endmodule

`resetall
