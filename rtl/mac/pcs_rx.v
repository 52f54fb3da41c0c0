// Receive PCS, 64b/66b: blocks in, XGMII out (IEEE 802.3, clauses 49 and 107). docs/mac.md is its page.
//
// Latency 3, a block every cycle. block[1:0] is the sync header, block[0] first on the wire.
//
// Stages:
//   0  Descrambler; block type field and control codes are looked up. Block lock and BER monitor see the header.
//   1  The block's kind; its characters.
//   2  Receive state diagram (figure 49-15), which asks the kind of the block behind (stage 1).
//
// Its states: what may follow is the same in RX_INIT, RX_C and RX_T (no frame); RX_D (a frame); RX_E. Without lock, with
// high BER or with a test pattern it stays in RX_INIT, and XGMII is local fault.
//
// Parameters: BER_LIMIT, BER_CYCLES of pcs_ber.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_rx #(
    parameter BER_LIMIT = 97,
    parameter BER_CYCLES = 781250
) (
    input  wire        clk,
    input  wire        rst,

    // SerDes; slip: shift by one bit, at most once in 32 cycles
    input  wire [65:0] block,
    input  wire        signal_ok,
    output wire        slip,

    // XGMII
    output wire [63:0] xgmii_d,
    output wire [7:0]  xgmii_c,

    // State
    output wire        block_lock,
    output wire        hi_ber,
    output wire        rx_status,

    // Test patterns, as in pcs_tx; the square wave isn't checked
    input  wire [2:0]  cfg_pattern,
    input  wire        cfg_data_lf,
    output wire [15:0] pattern_errors,
    input  wire        pattern_clear,

    // 49.2.14: counters that stay at their highest; what comes in the cycle of a clear counts
    output wire [5:0]  ber_count,
    input  wire        ber_clear,
    output wire [7:0]  errored_blocks,
    input  wire        errored_clear
);

localparam [2:0] SQUARE = 3'd1;
localparam [2:0] RANDOM = 3'd2;
localparam [2:0] PRBS31 = 3'd3;
localparam [63:0] LOCAL_FAULT = 64'h0100009c0100009c;

// 0

wire header_ok = block[0] ^ block[1];
wire test = cfg_pattern != 3'd0;
wire ber_bad;

// A square wave and PRBS31 have no sync headers: slips would only disturb the checker
wire framed = cfg_pattern != SQUARE && cfg_pattern != PRBS31;

pcs_lock lock (
    .clk(clk),
    .rst(rst),
    .signal_ok(signal_ok && framed),
    .header_ok(header_ok),
    .slip(slip),
    .block_lock(block_lock)
);

pcs_ber #(
    .BER_LIMIT(BER_LIMIT),
    .BER_CYCLES(BER_CYCLES)
) ber (
    .clk(clk),
    .run(block_lock && !test && !rst),
    .header_ok(header_ok),
    .hi_ber(hi_ber),
    .bad(ber_bad)
);

assign rx_status = block_lock && !hi_ber;

reg [57:0] last_reg;                   // in the order of time, bit 57 the newest

wire [63:0] payload = block[65:2] ^ {block[26:2], last_reg[57:19]} ^ {block[7:2], last_reg};
wire [14:0] format;
wire [7:0] code_ok, code_error;
wire [1:0] order_ok;

pcs_rx_classify classify (
    .payload(payload),
    .format(format),
    .code_ok(code_ok),
    .code_error(code_error),
    .order_ok(order_ok)
);

reg [1:0]  s1_header_reg;
reg [63:0] s1_payload_reg;
reg [14:0] s1_format_reg;
reg [7:0]  s1_code_ok_reg;
reg [7:0]  s1_code_error_reg;
reg [1:0]  s1_order_ok_reg;

always @(posedge clk) begin
    last_reg <= block[65:8];
    s1_header_reg <= block[1:0];
    s1_payload_reg <= payload;
    s1_format_reg <= format;
    s1_code_ok_reg <= code_ok;
    s1_code_error_reg <= code_error;
    s1_order_ok_reg <= order_ok;
end

// 1

wire s1_data, s1_control, s1_start, s1_terminate;
wire [63:0] s1_d;
wire [7:0] s1_c;

pcs_rx_type kind (
    .header(s1_header_reg),
    .format(s1_format_reg),
    .code_ok(s1_code_ok_reg),
    .code_error(s1_code_error_reg),
    .order_ok(s1_order_ok_reg),
    .is_data(s1_data),
    .is_control(s1_control),
    .is_start(s1_start),
    .is_terminate(s1_terminate)
);

pcs_rx_decode decode (
    .is_data(s1_data),
    .format(s1_format_reg),
    .payload(s1_payload_reg),
    .d(s1_d),
    .c(s1_c)
);

reg        s2_data_reg;
reg        s2_control_reg;
reg        s2_start_reg;
reg        s2_terminate_reg;
reg [63:0] s2_d_reg;
reg [7:0]  s2_c_reg;

always @(posedge clk) begin
    s2_data_reg <= s1_data;
    s2_control_reg <= s1_control;
    s2_start_reg <= s1_start;
    s2_terminate_reg <= s1_terminate;
    s2_d_reg <= s1_d;
    s2_c_reg <= s1_c;
end

// 2

reg        frame_reg;
reg        error_reg;
reg [63:0] xgmii_d_reg;
reg [7:0]  xgmii_c_reg;
reg        errored_reg;

wire receive = block_lock && !hi_ber && !test;
wire ends = s2_terminate_reg && (s1_start || s1_control);
wire allowed = ((s2_data_reg || ends) && (frame_reg || error_reg))
    || (s2_control_reg && !frame_reg) || (s2_start_reg && !frame_reg && !error_reg);

assign xgmii_d = xgmii_d_reg;
assign xgmii_c = xgmii_c_reg;

always @(posedge clk) begin
    errored_reg <= receive && !allowed && !rst;
    frame_reg <= receive && allowed && (s2_data_reg || s2_start_reg);
    error_reg <= receive && !allowed;
    if (!receive || rst) begin
        xgmii_d_reg <= LOCAL_FAULT;
        xgmii_c_reg <= 8'h11;
    end else if (!allowed) begin
        xgmii_d_reg <= {8{8'hfe}};
        xgmii_c_reg <= 8'hff;
    end else begin
        xgmii_d_reg <= s2_d_reg;
        xgmii_c_reg <= s2_c_reg;
    end

    if (rst) begin
        frame_reg <= 1'b0;
        error_reg <= 1'b0;
    end
end

// Counters

reg [5:0] ber_count_reg;
reg [7:0] errored_blocks_reg;

assign ber_count = ber_count_reg;
assign errored_blocks = errored_blocks_reg;

always @(posedge clk) begin
    if (ber_clear) begin
        ber_count_reg <= {5'd0, ber_bad};
    end else if (ber_bad && !(&ber_count_reg)) begin
        ber_count_reg <= ber_count_reg + 6'd1;
    end
    if (errored_clear) begin
        errored_blocks_reg <= {7'd0, errored_reg};
    end else if (errored_reg && !(&errored_blocks_reg)) begin
        errored_blocks_reg <= errored_blocks_reg + 8'd1;
    end

    if (rst) begin
        ber_count_reg <= 6'd0;
        errored_blocks_reg <= 8'd0;
    end
end

pcs_rx_pattern pattern (
    .clk(clk),
    .rst(rst),
    .run_random(cfg_pattern == RANDOM && block_lock && !rst),
    .run_prbs(cfg_pattern == PRBS31 && !rst),
    .cfg_data_lf(cfg_data_lf),
    .block(block),
    .payload(s1_payload_reg),
    .errors(pattern_errors),
    .clear(pattern_clear)
);

endmodule

`resetall
