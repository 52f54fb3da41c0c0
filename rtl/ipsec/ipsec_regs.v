// Generated from rtl/ipsec/ipsec.rdl by `make generate`: do not edit.

`resetall
`timescale 1ns / 1ps
`default_nettype none

/*
 * Registers: ESP
 *
 * Latency: reg_ack rises in the cycle after reg_req (a register kept outside: the cycle after its own ack).
 * A write has taken effect in the cycle of reg_ack. Throughput: one access every two cycles.
 * reg_error with reg_ack: no register at this address. A write to what software cannot write does nothing
 * and is no error. Rules of 64-bit registers: docs/registers.md. A 64-bit register kept outside gives its
 * words by `_word`, and latches word 1 itself when word 0 is read.
 *
 *   0x0000 id, 32 bit
 *            7:0 block: constant
 *           15:8 version: constant
 *          17:16 state: constant
 *   0x0004 size, 32 bit
 *           15:0 sas: driven by hardware
 *             16 tx: driven by hardware
 *             17 sm4: driven by hardware
 *   0x0008 control, 32 bit
 *              0 drop_no_sa: written by software
 *              1 drop_cipher: written by software
 *              2 drop_fragment: written by software
 *   0x000c command, 32 bit, kept outside
 *   0x0010 event, 32 bit
 *              0 valid: set by hardware, cleared by writing 1
 *              1 more: set by hardware, cleared by writing 1
 *            5:4 kind: driven by hardware
 *          27:16 sa: driven by hardware
 *   0x0014 max_packet, 32 bit
 *           15:0 bytes: written by software
 *   0x0020 form, 32 bit
 *            1:0 mode: written by software
 *            3:2 natt: written by software
 *              4 ipv6: written by software
 *              5 esn: written by software
 *            7:6 cipher: written by software
 *            9:8 tag: written by software
 *          21:16 window: written by software
 *   0x0024 outer, 32 bit
 *            5:0 dscp: written by software
 *              6 dscp_fixed: written by software
 *              7 ecn_compat: written by software
 *            9:8 df: written by software
 *          23:16 ttl: written by software
 *   0x0028 spi, 32 bit
 *           31:0 value: written by software
 *   0x002c salt, 32 bit
 *           31:0 bytes: written by software
 *   0x0030 ports, 32 bit
 *           15:0 src: written by software
 *          31:16 dst: written by software
 *   0x0034 flow_label, 32 bit
 *           19:0 label: written by software
 *   0x0038 limits, 32 bit
 *           15:0 mtu: written by software
 *          31:16 nat_delta: written by software
 *   0x0040 src_0, 32 bit
 *           31:0 bits: written by software
 *   0x0044 src_1, 32 bit
 *           31:0 bits: written by software
 *   0x0048 src_2, 32 bit
 *           31:0 bits: written by software
 *   0x004c src_3, 32 bit
 *           31:0 bits: written by software
 *   0x0050 dst_0, 32 bit
 *           31:0 bits: written by software
 *   0x0054 dst_1, 32 bit
 *           31:0 bits: written by software
 *   0x0058 dst_2, 32 bit
 *           31:0 bits: written by software
 *   0x005c dst_3, 32 bit
 *           31:0 bits: written by software
 *   0x0060 key_0, 32 bit
 *           31:0 bytes: written by software
 *   0x0064 key_1, 32 bit
 *           31:0 bytes: written by software
 *   0x0068 key_2, 32 bit
 *           31:0 bytes: written by software
 *   0x006c key_3, 32 bit
 *           31:0 bytes: written by software
 *   0x0070 key_4, 32 bit
 *           31:0 bytes: written by software
 *   0x0074 key_5, 32 bit
 *           31:0 bytes: written by software
 *   0x0078 key_6, 32 bit
 *           31:0 bytes: written by software
 *   0x007c key_7, 32 bit
 *           31:0 bytes: written by software
 *   0x0080 sequence, 64 bit
 *           63:0 value: written by software
 *   0x0088 soft_packets, 64 bit
 *           63:0 value: written by software
 *   0x0090 hard_packets, 64 bit
 *           63:0 value: written by software
 *   0x0098 soft_bytes, 64 bit
 *           63:0 value: written by software
 *   0x00a0 hard_bytes, 64 bit
 *           63:0 value: written by software
 *   0x00a8 state, 32 bit
 *              0 valid: driven by hardware
 *              1 soft: driven by hardware
 *              2 hard: driven by hardware
 *              3 ended: driven by hardware
 *   0x00b0 state_packets, 64 bit
 *           63:0 value: driven by hardware
 *   0x00b8 state_bytes, 64 bit
 *           63:0 value: driven by hardware
 *   0x00c0 state_sequence, 64 bit
 *           63:0 value: driven by hardware
 *   0x0100 frames, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0108 passed, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0110 secured, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0118 left_no_sa, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0120 left_cipher, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0128 left_fragment, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0130 bad_in, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0138 replay_late, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0140 soft_reached, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0148 secured_bytes, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0180 ipsec_no_sa, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0188 ipsec_cipher, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0190 ipsec_fragment, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0198 ipsec_policy, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01a0 ipsec_truncated, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01a8 ipsec_replay, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01b0 ipsec_lifetime, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01b8 ipsec_bad_tag, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01c0 ipsec_bad_padding, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01c8 ipsec_dummy, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01d0 ipsec_bad_inner, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01d8 ipsec_ecn, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01e0 ipsec_sequence, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01e8 ipsec_mtu, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01f0 ipsec_bad_checksum, 64 bit
 *           63:0 count: counts what hardware adds
 */
module ipsec_regs (
    input  wire        clk,
    input  wire        rst,

    // register port
    input  wire        reg_req,
    input  wire        reg_write,
    input  wire [13:0] reg_addr,
    input  wire [31:0] reg_wdata,
    input  wire [3:0]  reg_wstrb,
    output wire        reg_ack,
    output wire        reg_error,
    output wire [31:0] reg_rdata,

    // size at 0x0004
    input  wire [15:0] size_sas_in,
    input  wire        size_tx_in,
    input  wire        size_sm4_in,

    // control at 0x0008
    output wire        control_drop_no_sa,
    output wire        control_drop_cipher,
    output wire        control_drop_fragment,

    // command at 0x000c
    output wire        command_req,
    output wire        command_write,
    output wire [31:0] command_wdata,
    output wire [3:0]  command_wstrb,
    input  wire        command_ack,
    input  wire [31:0] command_rdata,

    // event at 0x0010
    input  wire        event_valid_set,
    output wire        event_valid,
    input  wire        event_more_set,
    input  wire [1:0]  event_kind_in,
    input  wire [11:0] event_sa_in,

    // max_packet at 0x0014
    output wire [15:0] max_packet_bytes,

    // form at 0x0020
    output wire [1:0]  form_mode,
    output wire [1:0]  form_natt,
    output wire        form_ipv6,
    output wire        form_esn,
    output wire [1:0]  form_cipher,
    output wire [1:0]  form_tag,
    output wire [5:0]  form_window,

    // outer at 0x0024
    output wire [5:0]  outer_dscp,
    output wire        outer_dscp_fixed,
    output wire        outer_ecn_compat,
    output wire [1:0]  outer_df,
    output wire [7:0]  outer_ttl,

    // spi at 0x0028
    output wire [31:0] spi_value,

    // salt at 0x002c
    output wire [31:0] salt_bytes,

    // ports at 0x0030
    output wire [15:0] ports_src,
    output wire [15:0] ports_dst,

    // flow_label at 0x0034
    output wire [19:0] flow_label_label,

    // limits at 0x0038
    output wire [15:0] limits_mtu,
    output wire [15:0] limits_nat_delta,

    // src_0 at 0x0040
    output wire [31:0] src_0_bits,

    // src_1 at 0x0044
    output wire [31:0] src_1_bits,

    // src_2 at 0x0048
    output wire [31:0] src_2_bits,

    // src_3 at 0x004c
    output wire [31:0] src_3_bits,

    // dst_0 at 0x0050
    output wire [31:0] dst_0_bits,

    // dst_1 at 0x0054
    output wire [31:0] dst_1_bits,

    // dst_2 at 0x0058
    output wire [31:0] dst_2_bits,

    // dst_3 at 0x005c
    output wire [31:0] dst_3_bits,

    // key_0 at 0x0060
    output wire [31:0] key_0_bytes,

    // key_1 at 0x0064
    output wire [31:0] key_1_bytes,

    // key_2 at 0x0068
    output wire [31:0] key_2_bytes,

    // key_3 at 0x006c
    output wire [31:0] key_3_bytes,

    // key_4 at 0x0070
    output wire [31:0] key_4_bytes,

    // key_5 at 0x0074
    output wire [31:0] key_5_bytes,

    // key_6 at 0x0078
    output wire [31:0] key_6_bytes,

    // key_7 at 0x007c
    output wire [31:0] key_7_bytes,

    // sequence at 0x0080
    output wire [63:0] sequence_value,

    // soft_packets at 0x0088
    output wire [63:0] soft_packets_value,

    // hard_packets at 0x0090
    output wire [63:0] hard_packets_value,

    // soft_bytes at 0x0098
    output wire [63:0] soft_bytes_value,

    // hard_bytes at 0x00a0
    output wire [63:0] hard_bytes_value,

    // state at 0x00a8
    input  wire        state_valid_in,
    input  wire        state_soft_in,
    input  wire        state_hard_in,
    input  wire        state_ended_in,

    // state_packets at 0x00b0
    input  wire [63:0] state_packets_value_in,

    // state_bytes at 0x00b8
    input  wire [63:0] state_bytes_value_in,

    // state_sequence at 0x00c0
    input  wire [63:0] state_sequence_value_in,

    // frames at 0x0100
    input  wire [1:0]  frames_incr,

    // passed at 0x0108
    input  wire        passed_incr,

    // secured at 0x0110
    input  wire        secured_incr,

    // left_no_sa at 0x0118
    input  wire        left_no_sa_incr,

    // left_cipher at 0x0120
    input  wire        left_cipher_incr,

    // left_fragment at 0x0128
    input  wire        left_fragment_incr,

    // bad_in at 0x0130
    input  wire        bad_in_incr,

    // replay_late at 0x0138
    input  wire        replay_late_incr,

    // soft_reached at 0x0140
    input  wire        soft_reached_incr,

    // secured_bytes at 0x0148
    input  wire [15:0] secured_bytes_incr,

    // ipsec_no_sa at 0x0180
    input  wire        ipsec_no_sa_incr,

    // ipsec_cipher at 0x0188
    input  wire        ipsec_cipher_incr,

    // ipsec_fragment at 0x0190
    input  wire        ipsec_fragment_incr,

    // ipsec_policy at 0x0198
    input  wire        ipsec_policy_incr,

    // ipsec_truncated at 0x01a0
    input  wire        ipsec_truncated_incr,

    // ipsec_replay at 0x01a8
    input  wire        ipsec_replay_incr,

    // ipsec_lifetime at 0x01b0
    input  wire        ipsec_lifetime_incr,

    // ipsec_bad_tag at 0x01b8
    input  wire        ipsec_bad_tag_incr,

    // ipsec_bad_padding at 0x01c0
    input  wire        ipsec_bad_padding_incr,

    // ipsec_dummy at 0x01c8
    input  wire        ipsec_dummy_incr,

    // ipsec_bad_inner at 0x01d0
    input  wire        ipsec_bad_inner_incr,

    // ipsec_ecn at 0x01d8
    input  wire        ipsec_ecn_incr,

    // ipsec_sequence at 0x01e0
    input  wire        ipsec_sequence_incr,

    // ipsec_mtu at 0x01e8
    input  wire        ipsec_mtu_incr,

    // ipsec_bad_checksum at 0x01f0
    input  wire        ipsec_bad_checksum_incr
);

reg ack_reg;
reg error_reg;
reg [31:0] rdata_reg;

assign reg_ack = ack_reg;
assign reg_error = error_reg;
assign reg_rdata = rdata_reg;

// A request is held through the cycle of its acknowledge, in which it counts no more
wire bus_access = reg_req && !ack_reg;
wire bus_read = bus_access && !reg_write;
wire bus_write = bus_access && reg_write;
wire [11:0] bus_word = reg_addr[13:2];
wire bus_unused = &{1'b0, reg_addr[1:0], reg_write, reg_wdata, reg_wstrb, sequence_held_reg, soft_packets_held_reg, hard_packets_held_reg, soft_bytes_held_reg, hard_bytes_held_reg};

// control
reg control_drop_no_sa_reg;
reg control_drop_cipher_reg;
reg control_drop_fragment_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h002) begin
        if (reg_wstrb[0]) control_drop_no_sa_reg <= reg_wdata[0];
        if (reg_wstrb[0]) control_drop_cipher_reg <= reg_wdata[1];
        if (reg_wstrb[0]) control_drop_fragment_reg <= reg_wdata[2];
    end
    if (rst) begin
        control_drop_no_sa_reg <= 1'h0;
        control_drop_cipher_reg <= 1'h0;
        control_drop_fragment_reg <= 1'h0;
    end
end
assign control_drop_no_sa = control_drop_no_sa_reg;
assign control_drop_cipher = control_drop_cipher_reg;
assign control_drop_fragment = control_drop_fragment_reg;

// max_packet
reg [15:0] max_packet_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h005) begin
        if (reg_wstrb[0]) max_packet_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) max_packet_bytes_reg[15:8] <= reg_wdata[15:8];
    end
    if (rst) begin
        max_packet_bytes_reg <= 16'h256e;
    end
end
assign max_packet_bytes = max_packet_bytes_reg;

// form
reg [1:0] form_mode_reg;
reg [1:0] form_natt_reg;
reg form_ipv6_reg;
reg form_esn_reg;
reg [1:0] form_cipher_reg;
reg [1:0] form_tag_reg;
reg [5:0] form_window_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h008) begin
        if (reg_wstrb[0]) form_mode_reg <= reg_wdata[1:0];
        if (reg_wstrb[0]) form_natt_reg <= reg_wdata[3:2];
        if (reg_wstrb[0]) form_ipv6_reg <= reg_wdata[4];
        if (reg_wstrb[0]) form_esn_reg <= reg_wdata[5];
        if (reg_wstrb[0]) form_cipher_reg <= reg_wdata[7:6];
        if (reg_wstrb[1]) form_tag_reg <= reg_wdata[9:8];
        if (reg_wstrb[2]) form_window_reg <= reg_wdata[21:16];
    end
    if (rst) begin
        form_mode_reg <= 2'h0;
        form_natt_reg <= 2'h0;
        form_ipv6_reg <= 1'h0;
        form_esn_reg <= 1'h0;
        form_cipher_reg <= 2'h0;
        form_tag_reg <= 2'h0;
        form_window_reg <= 6'h0;
    end
end
assign form_mode = form_mode_reg;
assign form_natt = form_natt_reg;
assign form_ipv6 = form_ipv6_reg;
assign form_esn = form_esn_reg;
assign form_cipher = form_cipher_reg;
assign form_tag = form_tag_reg;
assign form_window = form_window_reg;

// outer
reg [5:0] outer_dscp_reg;
reg outer_dscp_fixed_reg;
reg outer_ecn_compat_reg;
reg [1:0] outer_df_reg;
reg [7:0] outer_ttl_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h009) begin
        if (reg_wstrb[0]) outer_dscp_reg <= reg_wdata[5:0];
        if (reg_wstrb[0]) outer_dscp_fixed_reg <= reg_wdata[6];
        if (reg_wstrb[0]) outer_ecn_compat_reg <= reg_wdata[7];
        if (reg_wstrb[1]) outer_df_reg <= reg_wdata[9:8];
        if (reg_wstrb[2]) outer_ttl_reg <= reg_wdata[23:16];
    end
    if (rst) begin
        outer_dscp_reg <= 6'h0;
        outer_dscp_fixed_reg <= 1'h0;
        outer_ecn_compat_reg <= 1'h0;
        outer_df_reg <= 2'h0;
        outer_ttl_reg <= 8'h40;
    end
end
assign outer_dscp = outer_dscp_reg;
assign outer_dscp_fixed = outer_dscp_fixed_reg;
assign outer_ecn_compat = outer_ecn_compat_reg;
assign outer_df = outer_df_reg;
assign outer_ttl = outer_ttl_reg;

// spi
reg [31:0] spi_value_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00a) begin
        if (reg_wstrb[0]) spi_value_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) spi_value_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) spi_value_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) spi_value_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        spi_value_reg <= 32'h0;
    end
end
assign spi_value = spi_value_reg;

// salt
reg [31:0] salt_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00b) begin
        if (reg_wstrb[0]) salt_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) salt_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) salt_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) salt_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        salt_bytes_reg <= 32'h0;
    end
end
assign salt_bytes = salt_bytes_reg;

// ports
reg [15:0] ports_src_reg;
reg [15:0] ports_dst_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00c) begin
        if (reg_wstrb[0]) ports_src_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) ports_src_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) ports_dst_reg[7:0] <= reg_wdata[23:16];
        if (reg_wstrb[3]) ports_dst_reg[15:8] <= reg_wdata[31:24];
    end
    if (rst) begin
        ports_src_reg <= 16'h1194;
        ports_dst_reg <= 16'h1194;
    end
end
assign ports_src = ports_src_reg;
assign ports_dst = ports_dst_reg;

// flow_label
reg [19:0] flow_label_label_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00d) begin
        if (reg_wstrb[0]) flow_label_label_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) flow_label_label_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) flow_label_label_reg[19:16] <= reg_wdata[19:16];
    end
    if (rst) begin
        flow_label_label_reg <= 20'h0;
    end
end
assign flow_label_label = flow_label_label_reg;

// limits
reg [15:0] limits_mtu_reg;
reg [15:0] limits_nat_delta_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00e) begin
        if (reg_wstrb[0]) limits_mtu_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) limits_mtu_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) limits_nat_delta_reg[7:0] <= reg_wdata[23:16];
        if (reg_wstrb[3]) limits_nat_delta_reg[15:8] <= reg_wdata[31:24];
    end
    if (rst) begin
        limits_mtu_reg <= 16'h0;
        limits_nat_delta_reg <= 16'h0;
    end
end
assign limits_mtu = limits_mtu_reg;
assign limits_nat_delta = limits_nat_delta_reg;

// src_0
reg [31:0] src_0_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h010) begin
        if (reg_wstrb[0]) src_0_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) src_0_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) src_0_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) src_0_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        src_0_bits_reg <= 32'h0;
    end
end
assign src_0_bits = src_0_bits_reg;

// src_1
reg [31:0] src_1_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h011) begin
        if (reg_wstrb[0]) src_1_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) src_1_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) src_1_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) src_1_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        src_1_bits_reg <= 32'h0;
    end
end
assign src_1_bits = src_1_bits_reg;

// src_2
reg [31:0] src_2_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h012) begin
        if (reg_wstrb[0]) src_2_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) src_2_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) src_2_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) src_2_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        src_2_bits_reg <= 32'h0;
    end
end
assign src_2_bits = src_2_bits_reg;

// src_3
reg [31:0] src_3_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h013) begin
        if (reg_wstrb[0]) src_3_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) src_3_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) src_3_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) src_3_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        src_3_bits_reg <= 32'h0;
    end
end
assign src_3_bits = src_3_bits_reg;

// dst_0
reg [31:0] dst_0_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h014) begin
        if (reg_wstrb[0]) dst_0_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) dst_0_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) dst_0_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) dst_0_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        dst_0_bits_reg <= 32'h0;
    end
end
assign dst_0_bits = dst_0_bits_reg;

// dst_1
reg [31:0] dst_1_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h015) begin
        if (reg_wstrb[0]) dst_1_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) dst_1_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) dst_1_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) dst_1_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        dst_1_bits_reg <= 32'h0;
    end
end
assign dst_1_bits = dst_1_bits_reg;

// dst_2
reg [31:0] dst_2_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h016) begin
        if (reg_wstrb[0]) dst_2_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) dst_2_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) dst_2_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) dst_2_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        dst_2_bits_reg <= 32'h0;
    end
end
assign dst_2_bits = dst_2_bits_reg;

// dst_3
reg [31:0] dst_3_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h017) begin
        if (reg_wstrb[0]) dst_3_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) dst_3_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) dst_3_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) dst_3_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        dst_3_bits_reg <= 32'h0;
    end
end
assign dst_3_bits = dst_3_bits_reg;

// key_0
reg [31:0] key_0_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h018) begin
        if (reg_wstrb[0]) key_0_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) key_0_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) key_0_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) key_0_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        key_0_bytes_reg <= 32'h0;
    end
end
assign key_0_bytes = key_0_bytes_reg;

// key_1
reg [31:0] key_1_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h019) begin
        if (reg_wstrb[0]) key_1_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) key_1_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) key_1_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) key_1_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        key_1_bytes_reg <= 32'h0;
    end
end
assign key_1_bytes = key_1_bytes_reg;

// key_2
reg [31:0] key_2_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h01a) begin
        if (reg_wstrb[0]) key_2_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) key_2_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) key_2_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) key_2_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        key_2_bytes_reg <= 32'h0;
    end
end
assign key_2_bytes = key_2_bytes_reg;

// key_3
reg [31:0] key_3_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h01b) begin
        if (reg_wstrb[0]) key_3_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) key_3_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) key_3_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) key_3_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        key_3_bytes_reg <= 32'h0;
    end
end
assign key_3_bytes = key_3_bytes_reg;

// key_4
reg [31:0] key_4_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h01c) begin
        if (reg_wstrb[0]) key_4_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) key_4_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) key_4_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) key_4_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        key_4_bytes_reg <= 32'h0;
    end
end
assign key_4_bytes = key_4_bytes_reg;

// key_5
reg [31:0] key_5_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h01d) begin
        if (reg_wstrb[0]) key_5_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) key_5_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) key_5_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) key_5_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        key_5_bytes_reg <= 32'h0;
    end
end
assign key_5_bytes = key_5_bytes_reg;

// key_6
reg [31:0] key_6_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h01e) begin
        if (reg_wstrb[0]) key_6_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) key_6_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) key_6_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) key_6_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        key_6_bytes_reg <= 32'h0;
    end
end
assign key_6_bytes = key_6_bytes_reg;

// key_7
reg [31:0] key_7_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h01f) begin
        if (reg_wstrb[0]) key_7_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) key_7_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) key_7_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) key_7_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        key_7_bytes_reg <= 32'h0;
    end
end
assign key_7_bytes = key_7_bytes_reg;

// sequence
reg [63:0] sequence_value_reg;
reg [31:0] sequence_held_reg;  // low word that waits for the high one
reg [3:0] sequence_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h020) begin
        if (reg_wstrb[0]) sequence_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) sequence_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) sequence_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) sequence_held_reg[31:24] <= reg_wdata[31:24];
        sequence_held_strb_reg <= sequence_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h021) begin
        if (sequence_held_strb_reg[0]) sequence_value_reg[7:0] <= sequence_held_reg[7:0];
        if (sequence_held_strb_reg[1]) sequence_value_reg[15:8] <= sequence_held_reg[15:8];
        if (sequence_held_strb_reg[2]) sequence_value_reg[23:16] <= sequence_held_reg[23:16];
        if (sequence_held_strb_reg[3]) sequence_value_reg[31:24] <= sequence_held_reg[31:24];
        if (reg_wstrb[0]) sequence_value_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) sequence_value_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) sequence_value_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) sequence_value_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        sequence_value_reg <= 64'h0;
        sequence_held_strb_reg <= 4'd0;
    end
end
assign sequence_value = sequence_value_reg;

// soft_packets
reg [63:0] soft_packets_value_reg;
reg [31:0] soft_packets_held_reg;  // low word that waits for the high one
reg [3:0] soft_packets_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h022) begin
        if (reg_wstrb[0]) soft_packets_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) soft_packets_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) soft_packets_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) soft_packets_held_reg[31:24] <= reg_wdata[31:24];
        soft_packets_held_strb_reg <= soft_packets_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h023) begin
        if (soft_packets_held_strb_reg[0]) soft_packets_value_reg[7:0] <= soft_packets_held_reg[7:0];
        if (soft_packets_held_strb_reg[1]) soft_packets_value_reg[15:8] <= soft_packets_held_reg[15:8];
        if (soft_packets_held_strb_reg[2]) soft_packets_value_reg[23:16] <= soft_packets_held_reg[23:16];
        if (soft_packets_held_strb_reg[3]) soft_packets_value_reg[31:24] <= soft_packets_held_reg[31:24];
        if (reg_wstrb[0]) soft_packets_value_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) soft_packets_value_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) soft_packets_value_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) soft_packets_value_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        soft_packets_value_reg <= 64'h0;
        soft_packets_held_strb_reg <= 4'd0;
    end
end
assign soft_packets_value = soft_packets_value_reg;

// hard_packets
reg [63:0] hard_packets_value_reg;
reg [31:0] hard_packets_held_reg;  // low word that waits for the high one
reg [3:0] hard_packets_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h024) begin
        if (reg_wstrb[0]) hard_packets_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) hard_packets_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) hard_packets_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) hard_packets_held_reg[31:24] <= reg_wdata[31:24];
        hard_packets_held_strb_reg <= hard_packets_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h025) begin
        if (hard_packets_held_strb_reg[0]) hard_packets_value_reg[7:0] <= hard_packets_held_reg[7:0];
        if (hard_packets_held_strb_reg[1]) hard_packets_value_reg[15:8] <= hard_packets_held_reg[15:8];
        if (hard_packets_held_strb_reg[2]) hard_packets_value_reg[23:16] <= hard_packets_held_reg[23:16];
        if (hard_packets_held_strb_reg[3]) hard_packets_value_reg[31:24] <= hard_packets_held_reg[31:24];
        if (reg_wstrb[0]) hard_packets_value_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) hard_packets_value_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) hard_packets_value_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) hard_packets_value_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        hard_packets_value_reg <= 64'h0;
        hard_packets_held_strb_reg <= 4'd0;
    end
end
assign hard_packets_value = hard_packets_value_reg;

// soft_bytes
reg [63:0] soft_bytes_value_reg;
reg [31:0] soft_bytes_held_reg;  // low word that waits for the high one
reg [3:0] soft_bytes_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h026) begin
        if (reg_wstrb[0]) soft_bytes_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) soft_bytes_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) soft_bytes_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) soft_bytes_held_reg[31:24] <= reg_wdata[31:24];
        soft_bytes_held_strb_reg <= soft_bytes_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h027) begin
        if (soft_bytes_held_strb_reg[0]) soft_bytes_value_reg[7:0] <= soft_bytes_held_reg[7:0];
        if (soft_bytes_held_strb_reg[1]) soft_bytes_value_reg[15:8] <= soft_bytes_held_reg[15:8];
        if (soft_bytes_held_strb_reg[2]) soft_bytes_value_reg[23:16] <= soft_bytes_held_reg[23:16];
        if (soft_bytes_held_strb_reg[3]) soft_bytes_value_reg[31:24] <= soft_bytes_held_reg[31:24];
        if (reg_wstrb[0]) soft_bytes_value_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) soft_bytes_value_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) soft_bytes_value_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) soft_bytes_value_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        soft_bytes_value_reg <= 64'h0;
        soft_bytes_held_strb_reg <= 4'd0;
    end
end
assign soft_bytes_value = soft_bytes_value_reg;

// hard_bytes
reg [63:0] hard_bytes_value_reg;
reg [31:0] hard_bytes_held_reg;  // low word that waits for the high one
reg [3:0] hard_bytes_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h028) begin
        if (reg_wstrb[0]) hard_bytes_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) hard_bytes_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) hard_bytes_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) hard_bytes_held_reg[31:24] <= reg_wdata[31:24];
        hard_bytes_held_strb_reg <= hard_bytes_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h029) begin
        if (hard_bytes_held_strb_reg[0]) hard_bytes_value_reg[7:0] <= hard_bytes_held_reg[7:0];
        if (hard_bytes_held_strb_reg[1]) hard_bytes_value_reg[15:8] <= hard_bytes_held_reg[15:8];
        if (hard_bytes_held_strb_reg[2]) hard_bytes_value_reg[23:16] <= hard_bytes_held_reg[23:16];
        if (hard_bytes_held_strb_reg[3]) hard_bytes_value_reg[31:24] <= hard_bytes_held_reg[31:24];
        if (reg_wstrb[0]) hard_bytes_value_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) hard_bytes_value_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) hard_bytes_value_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) hard_bytes_value_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        hard_bytes_value_reg <= 64'h0;
        hard_bytes_held_strb_reg <= 4'd0;
    end
end
assign hard_bytes_value = hard_bytes_value_reg;

// command: kept outside, read and written through its own port
wire command_select = reg_addr[13:2] == 12'h3;
assign command_req = bus_access && command_select;
assign command_write = reg_write;
assign command_wdata = reg_wdata;
assign command_wstrb = reg_wstrb;

// event.valid: set by hardware, cleared by writing 1
reg event_valid_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h004 && reg_wstrb[0] && reg_wdata[0]) event_valid_reg <= 1'b0;
    if (event_valid_set) event_valid_reg <= 1'b1;
    if (rst) event_valid_reg <= 1'h0;
end
assign event_valid = event_valid_reg;

// event.more: set by hardware, cleared by writing 1
reg event_more_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h004 && reg_wstrb[0] && reg_wdata[1]) event_more_reg <= 1'b0;
    if (event_more_set) event_more_reg <= 1'b1;
    if (rst) event_more_reg <= 1'h0;
end

// state_packets: high word as it was when the low one was read
reg [31:0] state_packets_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h02c) state_packets_high_reg <= state_packets_value_in[63:32];
end

// state_bytes: high word as it was when the low one was read
reg [31:0] state_bytes_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h02e) state_bytes_high_reg <= state_bytes_value_in[63:32];
end

// state_sequence: high word as it was when the low one was read
reg [31:0] state_sequence_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h030) state_sequence_high_reg <= state_sequence_value_in[63:32];
end

// frames.count: counts what hardware adds
reg [63:0] frames_count_reg;

always @(posedge clk) begin
    frames_count_reg <= frames_count_reg + {62'd0, frames_incr};
    if (rst) frames_count_reg <= 64'h0;
end

// frames: high word as it was when the low one was read
reg [31:0] frames_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h040) frames_high_reg <= frames_count_reg[63:32];
end

// passed.count: counts what hardware adds
reg [63:0] passed_count_reg;

always @(posedge clk) begin
    passed_count_reg <= passed_count_reg + {63'd0, passed_incr};
    if (rst) passed_count_reg <= 64'h0;
end

// passed: high word as it was when the low one was read
reg [31:0] passed_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h042) passed_high_reg <= passed_count_reg[63:32];
end

// secured.count: counts what hardware adds
reg [63:0] secured_count_reg;

always @(posedge clk) begin
    secured_count_reg <= secured_count_reg + {63'd0, secured_incr};
    if (rst) secured_count_reg <= 64'h0;
end

// secured: high word as it was when the low one was read
reg [31:0] secured_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h044) secured_high_reg <= secured_count_reg[63:32];
end

// left_no_sa.count: counts what hardware adds
reg [63:0] left_no_sa_count_reg;

always @(posedge clk) begin
    left_no_sa_count_reg <= left_no_sa_count_reg + {63'd0, left_no_sa_incr};
    if (rst) left_no_sa_count_reg <= 64'h0;
end

// left_no_sa: high word as it was when the low one was read
reg [31:0] left_no_sa_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h046) left_no_sa_high_reg <= left_no_sa_count_reg[63:32];
end

// left_cipher.count: counts what hardware adds
reg [63:0] left_cipher_count_reg;

always @(posedge clk) begin
    left_cipher_count_reg <= left_cipher_count_reg + {63'd0, left_cipher_incr};
    if (rst) left_cipher_count_reg <= 64'h0;
end

// left_cipher: high word as it was when the low one was read
reg [31:0] left_cipher_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h048) left_cipher_high_reg <= left_cipher_count_reg[63:32];
end

// left_fragment.count: counts what hardware adds
reg [63:0] left_fragment_count_reg;

always @(posedge clk) begin
    left_fragment_count_reg <= left_fragment_count_reg + {63'd0, left_fragment_incr};
    if (rst) left_fragment_count_reg <= 64'h0;
end

// left_fragment: high word as it was when the low one was read
reg [31:0] left_fragment_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h04a) left_fragment_high_reg <= left_fragment_count_reg[63:32];
end

// bad_in.count: counts what hardware adds
reg [63:0] bad_in_count_reg;

always @(posedge clk) begin
    bad_in_count_reg <= bad_in_count_reg + {63'd0, bad_in_incr};
    if (rst) bad_in_count_reg <= 64'h0;
end

// bad_in: high word as it was when the low one was read
reg [31:0] bad_in_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h04c) bad_in_high_reg <= bad_in_count_reg[63:32];
end

// replay_late.count: counts what hardware adds
reg [63:0] replay_late_count_reg;

always @(posedge clk) begin
    replay_late_count_reg <= replay_late_count_reg + {63'd0, replay_late_incr};
    if (rst) replay_late_count_reg <= 64'h0;
end

// replay_late: high word as it was when the low one was read
reg [31:0] replay_late_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h04e) replay_late_high_reg <= replay_late_count_reg[63:32];
end

// soft_reached.count: counts what hardware adds
reg [63:0] soft_reached_count_reg;

always @(posedge clk) begin
    soft_reached_count_reg <= soft_reached_count_reg + {63'd0, soft_reached_incr};
    if (rst) soft_reached_count_reg <= 64'h0;
end

// soft_reached: high word as it was when the low one was read
reg [31:0] soft_reached_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h050) soft_reached_high_reg <= soft_reached_count_reg[63:32];
end

// secured_bytes.count: counts what hardware adds
reg [63:0] secured_bytes_count_reg;

always @(posedge clk) begin
    secured_bytes_count_reg <= secured_bytes_count_reg + {48'd0, secured_bytes_incr};
    if (rst) secured_bytes_count_reg <= 64'h0;
end

// secured_bytes: high word as it was when the low one was read
reg [31:0] secured_bytes_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h052) secured_bytes_high_reg <= secured_bytes_count_reg[63:32];
end

// ipsec_no_sa.count: counts what hardware adds
reg [63:0] ipsec_no_sa_count_reg;

always @(posedge clk) begin
    ipsec_no_sa_count_reg <= ipsec_no_sa_count_reg + {63'd0, ipsec_no_sa_incr};
    if (rst) ipsec_no_sa_count_reg <= 64'h0;
end

// ipsec_no_sa: high word as it was when the low one was read
reg [31:0] ipsec_no_sa_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h060) ipsec_no_sa_high_reg <= ipsec_no_sa_count_reg[63:32];
end

// ipsec_cipher.count: counts what hardware adds
reg [63:0] ipsec_cipher_count_reg;

always @(posedge clk) begin
    ipsec_cipher_count_reg <= ipsec_cipher_count_reg + {63'd0, ipsec_cipher_incr};
    if (rst) ipsec_cipher_count_reg <= 64'h0;
end

// ipsec_cipher: high word as it was when the low one was read
reg [31:0] ipsec_cipher_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h062) ipsec_cipher_high_reg <= ipsec_cipher_count_reg[63:32];
end

// ipsec_fragment.count: counts what hardware adds
reg [63:0] ipsec_fragment_count_reg;

always @(posedge clk) begin
    ipsec_fragment_count_reg <= ipsec_fragment_count_reg + {63'd0, ipsec_fragment_incr};
    if (rst) ipsec_fragment_count_reg <= 64'h0;
end

// ipsec_fragment: high word as it was when the low one was read
reg [31:0] ipsec_fragment_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h064) ipsec_fragment_high_reg <= ipsec_fragment_count_reg[63:32];
end

// ipsec_policy.count: counts what hardware adds
reg [63:0] ipsec_policy_count_reg;

always @(posedge clk) begin
    ipsec_policy_count_reg <= ipsec_policy_count_reg + {63'd0, ipsec_policy_incr};
    if (rst) ipsec_policy_count_reg <= 64'h0;
end

// ipsec_policy: high word as it was when the low one was read
reg [31:0] ipsec_policy_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h066) ipsec_policy_high_reg <= ipsec_policy_count_reg[63:32];
end

// ipsec_truncated.count: counts what hardware adds
reg [63:0] ipsec_truncated_count_reg;

always @(posedge clk) begin
    ipsec_truncated_count_reg <= ipsec_truncated_count_reg + {63'd0, ipsec_truncated_incr};
    if (rst) ipsec_truncated_count_reg <= 64'h0;
end

// ipsec_truncated: high word as it was when the low one was read
reg [31:0] ipsec_truncated_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h068) ipsec_truncated_high_reg <= ipsec_truncated_count_reg[63:32];
end

// ipsec_replay.count: counts what hardware adds
reg [63:0] ipsec_replay_count_reg;

always @(posedge clk) begin
    ipsec_replay_count_reg <= ipsec_replay_count_reg + {63'd0, ipsec_replay_incr};
    if (rst) ipsec_replay_count_reg <= 64'h0;
end

// ipsec_replay: high word as it was when the low one was read
reg [31:0] ipsec_replay_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h06a) ipsec_replay_high_reg <= ipsec_replay_count_reg[63:32];
end

// ipsec_lifetime.count: counts what hardware adds
reg [63:0] ipsec_lifetime_count_reg;

always @(posedge clk) begin
    ipsec_lifetime_count_reg <= ipsec_lifetime_count_reg + {63'd0, ipsec_lifetime_incr};
    if (rst) ipsec_lifetime_count_reg <= 64'h0;
end

// ipsec_lifetime: high word as it was when the low one was read
reg [31:0] ipsec_lifetime_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h06c) ipsec_lifetime_high_reg <= ipsec_lifetime_count_reg[63:32];
end

// ipsec_bad_tag.count: counts what hardware adds
reg [63:0] ipsec_bad_tag_count_reg;

always @(posedge clk) begin
    ipsec_bad_tag_count_reg <= ipsec_bad_tag_count_reg + {63'd0, ipsec_bad_tag_incr};
    if (rst) ipsec_bad_tag_count_reg <= 64'h0;
end

// ipsec_bad_tag: high word as it was when the low one was read
reg [31:0] ipsec_bad_tag_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h06e) ipsec_bad_tag_high_reg <= ipsec_bad_tag_count_reg[63:32];
end

// ipsec_bad_padding.count: counts what hardware adds
reg [63:0] ipsec_bad_padding_count_reg;

always @(posedge clk) begin
    ipsec_bad_padding_count_reg <= ipsec_bad_padding_count_reg + {63'd0, ipsec_bad_padding_incr};
    if (rst) ipsec_bad_padding_count_reg <= 64'h0;
end

// ipsec_bad_padding: high word as it was when the low one was read
reg [31:0] ipsec_bad_padding_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h070) ipsec_bad_padding_high_reg <= ipsec_bad_padding_count_reg[63:32];
end

// ipsec_dummy.count: counts what hardware adds
reg [63:0] ipsec_dummy_count_reg;

always @(posedge clk) begin
    ipsec_dummy_count_reg <= ipsec_dummy_count_reg + {63'd0, ipsec_dummy_incr};
    if (rst) ipsec_dummy_count_reg <= 64'h0;
end

// ipsec_dummy: high word as it was when the low one was read
reg [31:0] ipsec_dummy_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h072) ipsec_dummy_high_reg <= ipsec_dummy_count_reg[63:32];
end

// ipsec_bad_inner.count: counts what hardware adds
reg [63:0] ipsec_bad_inner_count_reg;

always @(posedge clk) begin
    ipsec_bad_inner_count_reg <= ipsec_bad_inner_count_reg + {63'd0, ipsec_bad_inner_incr};
    if (rst) ipsec_bad_inner_count_reg <= 64'h0;
end

// ipsec_bad_inner: high word as it was when the low one was read
reg [31:0] ipsec_bad_inner_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h074) ipsec_bad_inner_high_reg <= ipsec_bad_inner_count_reg[63:32];
end

// ipsec_ecn.count: counts what hardware adds
reg [63:0] ipsec_ecn_count_reg;

always @(posedge clk) begin
    ipsec_ecn_count_reg <= ipsec_ecn_count_reg + {63'd0, ipsec_ecn_incr};
    if (rst) ipsec_ecn_count_reg <= 64'h0;
end

// ipsec_ecn: high word as it was when the low one was read
reg [31:0] ipsec_ecn_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h076) ipsec_ecn_high_reg <= ipsec_ecn_count_reg[63:32];
end

// ipsec_sequence.count: counts what hardware adds
reg [63:0] ipsec_sequence_count_reg;

always @(posedge clk) begin
    ipsec_sequence_count_reg <= ipsec_sequence_count_reg + {63'd0, ipsec_sequence_incr};
    if (rst) ipsec_sequence_count_reg <= 64'h0;
end

// ipsec_sequence: high word as it was when the low one was read
reg [31:0] ipsec_sequence_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h078) ipsec_sequence_high_reg <= ipsec_sequence_count_reg[63:32];
end

// ipsec_mtu.count: counts what hardware adds
reg [63:0] ipsec_mtu_count_reg;

always @(posedge clk) begin
    ipsec_mtu_count_reg <= ipsec_mtu_count_reg + {63'd0, ipsec_mtu_incr};
    if (rst) ipsec_mtu_count_reg <= 64'h0;
end

// ipsec_mtu: high word as it was when the low one was read
reg [31:0] ipsec_mtu_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h07a) ipsec_mtu_high_reg <= ipsec_mtu_count_reg[63:32];
end

// ipsec_bad_checksum.count: counts what hardware adds
reg [63:0] ipsec_bad_checksum_count_reg;

always @(posedge clk) begin
    ipsec_bad_checksum_count_reg <= ipsec_bad_checksum_count_reg + {63'd0, ipsec_bad_checksum_incr};
    if (rst) ipsec_bad_checksum_count_reg <= 64'h0;
end

// ipsec_bad_checksum: high word as it was when the low one was read
reg [31:0] ipsec_bad_checksum_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h07c) ipsec_bad_checksum_high_reg <= ipsec_bad_checksum_count_reg[63:32];
end

// answer
always @(posedge clk) begin
    ack_reg <= bus_access;
    if (bus_access) begin
        error_reg <= 1'b0;
        case (bus_word)
            12'h000: rdata_reg <= {14'd0, 2'h3, 8'h1, 8'h5};  // id
            12'h001: rdata_reg <= {14'd0, size_sm4_in, size_tx_in, size_sas_in};  // size
            12'h002: rdata_reg <= {29'd0, control_drop_fragment_reg, control_drop_cipher_reg, control_drop_no_sa_reg};  // control
            12'h004: rdata_reg <= {4'd0, event_sa_in, 10'd0, event_kind_in, 2'd0, event_more_reg, event_valid_reg};  // event
            12'h005: rdata_reg <= {16'd0, max_packet_bytes_reg};  // max_packet
            12'h008: rdata_reg <= {10'd0, form_window_reg, 6'd0, form_tag_reg, form_cipher_reg, form_esn_reg, form_ipv6_reg, form_natt_reg, form_mode_reg};  // form
            12'h009: rdata_reg <= {8'd0, outer_ttl_reg, 6'd0, outer_df_reg, outer_ecn_compat_reg, outer_dscp_fixed_reg, outer_dscp_reg};  // outer
            12'h00a: rdata_reg <= spi_value_reg;  // spi
            12'h00b: rdata_reg <= 32'd0;  // salt
            12'h00c: rdata_reg <= {ports_dst_reg, ports_src_reg};  // ports
            12'h00d: rdata_reg <= {12'd0, flow_label_label_reg};  // flow_label
            12'h00e: rdata_reg <= {limits_nat_delta_reg, limits_mtu_reg};  // limits
            12'h010: rdata_reg <= src_0_bits_reg;  // src_0
            12'h011: rdata_reg <= src_1_bits_reg;  // src_1
            12'h012: rdata_reg <= src_2_bits_reg;  // src_2
            12'h013: rdata_reg <= src_3_bits_reg;  // src_3
            12'h014: rdata_reg <= dst_0_bits_reg;  // dst_0
            12'h015: rdata_reg <= dst_1_bits_reg;  // dst_1
            12'h016: rdata_reg <= dst_2_bits_reg;  // dst_2
            12'h017: rdata_reg <= dst_3_bits_reg;  // dst_3
            12'h018: rdata_reg <= 32'd0;  // key_0
            12'h019: rdata_reg <= 32'd0;  // key_1
            12'h01a: rdata_reg <= 32'd0;  // key_2
            12'h01b: rdata_reg <= 32'd0;  // key_3
            12'h01c: rdata_reg <= 32'd0;  // key_4
            12'h01d: rdata_reg <= 32'd0;  // key_5
            12'h01e: rdata_reg <= 32'd0;  // key_6
            12'h01f: rdata_reg <= 32'd0;  // key_7
            12'h020: rdata_reg <= sequence_value_reg[31:0];  // sequence
            12'h021: rdata_reg <= sequence_value_reg[63:32];  // sequence (high)
            12'h022: rdata_reg <= soft_packets_value_reg[31:0];  // soft_packets
            12'h023: rdata_reg <= soft_packets_value_reg[63:32];  // soft_packets (high)
            12'h024: rdata_reg <= hard_packets_value_reg[31:0];  // hard_packets
            12'h025: rdata_reg <= hard_packets_value_reg[63:32];  // hard_packets (high)
            12'h026: rdata_reg <= soft_bytes_value_reg[31:0];  // soft_bytes
            12'h027: rdata_reg <= soft_bytes_value_reg[63:32];  // soft_bytes (high)
            12'h028: rdata_reg <= hard_bytes_value_reg[31:0];  // hard_bytes
            12'h029: rdata_reg <= hard_bytes_value_reg[63:32];  // hard_bytes (high)
            12'h02a: rdata_reg <= {28'd0, state_ended_in, state_hard_in, state_soft_in, state_valid_in};  // state
            12'h02c: rdata_reg <= state_packets_value_in[31:0];  // state_packets
            12'h02d: rdata_reg <= state_packets_high_reg;  // state_packets (high)
            12'h02e: rdata_reg <= state_bytes_value_in[31:0];  // state_bytes
            12'h02f: rdata_reg <= state_bytes_high_reg;  // state_bytes (high)
            12'h030: rdata_reg <= state_sequence_value_in[31:0];  // state_sequence
            12'h031: rdata_reg <= state_sequence_high_reg;  // state_sequence (high)
            12'h040: rdata_reg <= frames_count_reg[31:0];  // frames
            12'h041: rdata_reg <= frames_high_reg;  // frames (high)
            12'h042: rdata_reg <= passed_count_reg[31:0];  // passed
            12'h043: rdata_reg <= passed_high_reg;  // passed (high)
            12'h044: rdata_reg <= secured_count_reg[31:0];  // secured
            12'h045: rdata_reg <= secured_high_reg;  // secured (high)
            12'h046: rdata_reg <= left_no_sa_count_reg[31:0];  // left_no_sa
            12'h047: rdata_reg <= left_no_sa_high_reg;  // left_no_sa (high)
            12'h048: rdata_reg <= left_cipher_count_reg[31:0];  // left_cipher
            12'h049: rdata_reg <= left_cipher_high_reg;  // left_cipher (high)
            12'h04a: rdata_reg <= left_fragment_count_reg[31:0];  // left_fragment
            12'h04b: rdata_reg <= left_fragment_high_reg;  // left_fragment (high)
            12'h04c: rdata_reg <= bad_in_count_reg[31:0];  // bad_in
            12'h04d: rdata_reg <= bad_in_high_reg;  // bad_in (high)
            12'h04e: rdata_reg <= replay_late_count_reg[31:0];  // replay_late
            12'h04f: rdata_reg <= replay_late_high_reg;  // replay_late (high)
            12'h050: rdata_reg <= soft_reached_count_reg[31:0];  // soft_reached
            12'h051: rdata_reg <= soft_reached_high_reg;  // soft_reached (high)
            12'h052: rdata_reg <= secured_bytes_count_reg[31:0];  // secured_bytes
            12'h053: rdata_reg <= secured_bytes_high_reg;  // secured_bytes (high)
            12'h060: rdata_reg <= ipsec_no_sa_count_reg[31:0];  // ipsec_no_sa
            12'h061: rdata_reg <= ipsec_no_sa_high_reg;  // ipsec_no_sa (high)
            12'h062: rdata_reg <= ipsec_cipher_count_reg[31:0];  // ipsec_cipher
            12'h063: rdata_reg <= ipsec_cipher_high_reg;  // ipsec_cipher (high)
            12'h064: rdata_reg <= ipsec_fragment_count_reg[31:0];  // ipsec_fragment
            12'h065: rdata_reg <= ipsec_fragment_high_reg;  // ipsec_fragment (high)
            12'h066: rdata_reg <= ipsec_policy_count_reg[31:0];  // ipsec_policy
            12'h067: rdata_reg <= ipsec_policy_high_reg;  // ipsec_policy (high)
            12'h068: rdata_reg <= ipsec_truncated_count_reg[31:0];  // ipsec_truncated
            12'h069: rdata_reg <= ipsec_truncated_high_reg;  // ipsec_truncated (high)
            12'h06a: rdata_reg <= ipsec_replay_count_reg[31:0];  // ipsec_replay
            12'h06b: rdata_reg <= ipsec_replay_high_reg;  // ipsec_replay (high)
            12'h06c: rdata_reg <= ipsec_lifetime_count_reg[31:0];  // ipsec_lifetime
            12'h06d: rdata_reg <= ipsec_lifetime_high_reg;  // ipsec_lifetime (high)
            12'h06e: rdata_reg <= ipsec_bad_tag_count_reg[31:0];  // ipsec_bad_tag
            12'h06f: rdata_reg <= ipsec_bad_tag_high_reg;  // ipsec_bad_tag (high)
            12'h070: rdata_reg <= ipsec_bad_padding_count_reg[31:0];  // ipsec_bad_padding
            12'h071: rdata_reg <= ipsec_bad_padding_high_reg;  // ipsec_bad_padding (high)
            12'h072: rdata_reg <= ipsec_dummy_count_reg[31:0];  // ipsec_dummy
            12'h073: rdata_reg <= ipsec_dummy_high_reg;  // ipsec_dummy (high)
            12'h074: rdata_reg <= ipsec_bad_inner_count_reg[31:0];  // ipsec_bad_inner
            12'h075: rdata_reg <= ipsec_bad_inner_high_reg;  // ipsec_bad_inner (high)
            12'h076: rdata_reg <= ipsec_ecn_count_reg[31:0];  // ipsec_ecn
            12'h077: rdata_reg <= ipsec_ecn_high_reg;  // ipsec_ecn (high)
            12'h078: rdata_reg <= ipsec_sequence_count_reg[31:0];  // ipsec_sequence
            12'h079: rdata_reg <= ipsec_sequence_high_reg;  // ipsec_sequence (high)
            12'h07a: rdata_reg <= ipsec_mtu_count_reg[31:0];  // ipsec_mtu
            12'h07b: rdata_reg <= ipsec_mtu_high_reg;  // ipsec_mtu (high)
            12'h07c: rdata_reg <= ipsec_bad_checksum_count_reg[31:0];  // ipsec_bad_checksum
            12'h07d: rdata_reg <= ipsec_bad_checksum_high_reg;  // ipsec_bad_checksum (high)
            default: begin
                error_reg <= 1'b1;
                rdata_reg <= 32'd0;
            end
        endcase
        if (command_select) begin
            ack_reg <= command_ack;
            error_reg <= 1'b0;
            rdata_reg <= command_rdata;
        end
    end
    if (rst) ack_reg <= 1'b0;
end

endmodule

`resetall
