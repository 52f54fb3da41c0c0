// Transmit PCS, 64b/66b: XGMII in, blocks out (IEEE 802.3, clauses 49 and 107). docs/mac.md is its page.
//
// Latency 2, a block every cycle. block[1:0] is the sync header, block[0] first on the wire.
//
// Stages:
//   0  Each character is looked at; the word's format is known.
//   1  State diagram, payload, scrambler; or a test pattern.
//
// cfg_pattern: 0 none, 1 square wave of 11 ones and 11 zeros, 2 pseudo-random, 3 PRBS31. A reset sets the scrambler's
// register to ones; the first block behind it is the local fault of TX_INIT.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_tx (
    input  wire        clk,
    input  wire        rst,

    input  wire [63:0] xgmii_d,
    input  wire [7:0]  xgmii_c,

    // Test patterns; seeds: pcs_scramble; cfg_data_lf: local fault in place of zeros
    input  wire [2:0]  cfg_pattern,
    input  wire [57:0] cfg_seed_a,
    input  wire [57:0] cfg_seed_b,
    input  wire        cfg_data_lf,

    output wire [65:0] block
);

localparam [2:0] SQUARE = 3'd1;
localparam [2:0] RANDOM = 3'd2;
localparam [2:0] PRBS31 = 3'd3;
localparam [65:0] WAVE = {3{11'h000, 11'h7ff}};

// 0

wire [15:0] format;
wire [55:0] code;
wire [3:0] order0, order4;

pcs_tx_classify classify (
    .d(xgmii_d),
    .c(xgmii_c),
    .format(format),
    .code(code),
    .order0(order0),
    .order4(order4)
);

reg        valid_reg;
reg [63:0] data_reg;
reg [15:0] format_reg;
reg [55:0] code_reg;
reg [3:0]  order0_reg;
reg [3:0]  order4_reg;

always @(posedge clk) begin
    valid_reg <= !rst;
    data_reg <= xgmii_d;
    format_reg <= format;
    code_reg <= code;
    order0_reg <= order0;
    order4_reg <= order4;
end

// 1

wire [1:0] header;
wire [63:0] payload;

pcs_tx_block encode (
    .clk(clk),
    .rst(rst),
    .valid(valid_reg),
    .data(data_reg),
    .format(format_reg),
    .code(code_reg),
    .order0(order0_reg),
    .order4(order4_reg),
    .header(header),
    .payload(payload)
);

wire run_random = cfg_pattern == RANDOM && !rst;
wire run_prbs = cfg_pattern == PRBS31 && !rst;
wire load;
wire [57:0] seed;
wire [63:0] random_data;

pcs_tx_pattern pattern (
    .clk(clk),
    .run(run_random),
    .cfg_seed_a(cfg_seed_a),
    .cfg_seed_b(cfg_seed_b),
    .cfg_data_lf(cfg_data_lf),
    .load(load),
    .seed(seed),
    .data(random_data)
);

wire [63:0] scrambled;

pcs_scramble scramble (
    .clk(clk),
    .rst(rst),
    .data(run_random ? random_data : payload),
    .load(load),
    .seed(seed),
    .scrambled(scrambled)
);

wire [65:0] prbs;

pcs_prbs31 generator (
    .clk(clk),
    .run(run_prbs),
    .bits(prbs)
);

reg [1:0] header_reg;
reg [1:0] select_reg;           // 1 the wave, 2 PRBS31

assign block = select_reg[0] ? WAVE : select_reg[1] ? prbs : {scrambled, header_reg};

always @(posedge clk) begin
    header_reg <= run_random ? 2'b01 : header;
    select_reg <= {run_prbs, cfg_pattern == SQUARE && !rst};
end

endmodule

`resetall
