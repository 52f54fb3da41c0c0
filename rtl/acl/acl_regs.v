// Generated from rtl/acl/acl.rdl by `make generate`: do not edit.

`resetall
`timescale 1ns / 1ps
`default_nettype none

/*
 * Registers: ACL
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
 *           15:0 rules: driven by hardware
 *          24:16 meters: driven by hardware
 *             28 ipv6: driven by hardware
 *             29 tunnel: driven by hardware
 *   0x0008 status, 32 bit
 *              0 active: driven by hardware
 *              1 settled: driven by hardware
 *   0x000c command, 32 bit, kept outside
 *   0x0020 action_0, 32 bit
 *           31:0 word: written by software
 *   0x0024 action_1, 32 bit
 *           31:0 word: written by software
 *   0x0028 src_range, 32 bit
 *           15:0 first: written by software
 *          31:16 last: written by software
 *   0x002c dst_range, 32 bit
 *           15:0 first: written by software
 *          31:16 last: written by software
 *   0x0040 value_0, 32 bit
 *           31:0 bits: written by software
 *   0x0044 value_1, 32 bit
 *           31:0 bits: written by software
 *   0x0048 value_2, 32 bit
 *           31:0 bits: written by software
 *   0x004c value_3, 32 bit
 *           31:0 bits: written by software
 *   0x0050 value_4, 32 bit
 *           31:0 bits: written by software
 *   0x0054 value_5, 32 bit
 *           31:0 bits: written by software
 *   0x0058 value_6, 32 bit
 *           31:0 bits: written by software
 *   0x005c value_7, 32 bit
 *           31:0 bits: written by software
 *   0x0060 value_8, 32 bit
 *           31:0 bits: written by software
 *   0x0064 value_9, 32 bit
 *           31:0 bits: written by software
 *   0x0068 value_10, 32 bit
 *           31:0 bits: written by software
 *   0x006c value_11, 32 bit
 *           31:0 bits: written by software
 *   0x0080 mask_0, 32 bit
 *           31:0 bits: written by software
 *   0x0084 mask_1, 32 bit
 *           31:0 bits: written by software
 *   0x0088 mask_2, 32 bit
 *           31:0 bits: written by software
 *   0x008c mask_3, 32 bit
 *           31:0 bits: written by software
 *   0x0090 mask_4, 32 bit
 *           31:0 bits: written by software
 *   0x0094 mask_5, 32 bit
 *           31:0 bits: written by software
 *   0x0098 mask_6, 32 bit
 *           31:0 bits: written by software
 *   0x009c mask_7, 32 bit
 *           31:0 bits: written by software
 *   0x00a0 mask_8, 32 bit
 *           31:0 bits: written by software
 *   0x00a4 mask_9, 32 bit
 *           31:0 bits: written by software
 *   0x00a8 mask_10, 32 bit
 *           31:0 bits: written by software
 *   0x00ac mask_11, 32 bit
 *           31:0 bits: written by software
 *   0x00c0 cir, 64 bit
 *           63:0 rate: written by software
 *   0x00c8 pir, 64 bit
 *           63:0 rate: written by software
 *   0x00d0 cbs, 32 bit
 *           31:0 bytes: written by software
 *   0x00d4 pbs, 32 bit
 *           31:0 bytes: written by software
 *   0x00d8 yellow, 32 bit
 *            5:0 dscp: written by software
 *              6 on: written by software
 *   0x00e0 counter_frames, 64 bit
 *           63:0 frames: driven by hardware
 *   0x00e8 counter_bytes, 64 bit
 *           63:0 bytes: driven by hardware
 *   0x0100 judged, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0108 unjudged, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0110 denied, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0118 policed, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0120 no_port, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0128 mirrored, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0130 mirror_dropped, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0138 redirected, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0140 metered_green, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0148 metered_yellow, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0150 metered_red, 64 bit
 *           63:0 count: counts what hardware adds
 */
module acl_regs (
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
    input  wire [15:0] size_rules_in,
    input  wire [8:0]  size_meters_in,
    input  wire        size_ipv6_in,
    input  wire        size_tunnel_in,

    // status at 0x0008
    input  wire        status_active_in,
    input  wire        status_settled_in,

    // command at 0x000c
    output wire        command_req,
    output wire        command_write,
    output wire [31:0] command_wdata,
    output wire [3:0]  command_wstrb,
    input  wire        command_ack,
    input  wire [31:0] command_rdata,

    // action_0 at 0x0020
    output wire [31:0] action_0_word,

    // action_1 at 0x0024
    output wire [31:0] action_1_word,

    // src_range at 0x0028
    output wire [15:0] src_range_first,
    output wire [15:0] src_range_last,

    // dst_range at 0x002c
    output wire [15:0] dst_range_first,
    output wire [15:0] dst_range_last,

    // value_0 at 0x0040
    output wire [31:0] value_0_bits,

    // value_1 at 0x0044
    output wire [31:0] value_1_bits,

    // value_2 at 0x0048
    output wire [31:0] value_2_bits,

    // value_3 at 0x004c
    output wire [31:0] value_3_bits,

    // value_4 at 0x0050
    output wire [31:0] value_4_bits,

    // value_5 at 0x0054
    output wire [31:0] value_5_bits,

    // value_6 at 0x0058
    output wire [31:0] value_6_bits,

    // value_7 at 0x005c
    output wire [31:0] value_7_bits,

    // value_8 at 0x0060
    output wire [31:0] value_8_bits,

    // value_9 at 0x0064
    output wire [31:0] value_9_bits,

    // value_10 at 0x0068
    output wire [31:0] value_10_bits,

    // value_11 at 0x006c
    output wire [31:0] value_11_bits,

    // mask_0 at 0x0080
    output wire [31:0] mask_0_bits,

    // mask_1 at 0x0084
    output wire [31:0] mask_1_bits,

    // mask_2 at 0x0088
    output wire [31:0] mask_2_bits,

    // mask_3 at 0x008c
    output wire [31:0] mask_3_bits,

    // mask_4 at 0x0090
    output wire [31:0] mask_4_bits,

    // mask_5 at 0x0094
    output wire [31:0] mask_5_bits,

    // mask_6 at 0x0098
    output wire [31:0] mask_6_bits,

    // mask_7 at 0x009c
    output wire [31:0] mask_7_bits,

    // mask_8 at 0x00a0
    output wire [31:0] mask_8_bits,

    // mask_9 at 0x00a4
    output wire [31:0] mask_9_bits,

    // mask_10 at 0x00a8
    output wire [31:0] mask_10_bits,

    // mask_11 at 0x00ac
    output wire [31:0] mask_11_bits,

    // cir at 0x00c0
    output wire [63:0] cir_rate,

    // pir at 0x00c8
    output wire [63:0] pir_rate,

    // cbs at 0x00d0
    output wire [31:0] cbs_bytes,

    // pbs at 0x00d4
    output wire [31:0] pbs_bytes,

    // yellow at 0x00d8
    output wire [5:0]  yellow_dscp,
    output wire        yellow_on,

    // counter_frames at 0x00e0
    input  wire [63:0] counter_frames_frames_in,

    // counter_bytes at 0x00e8
    input  wire [63:0] counter_bytes_bytes_in,

    // judged at 0x0100
    input  wire        judged_incr,

    // unjudged at 0x0108
    input  wire        unjudged_incr,

    // denied at 0x0110
    input  wire        denied_incr,

    // policed at 0x0118
    input  wire        policed_incr,

    // no_port at 0x0120
    input  wire        no_port_incr,

    // mirrored at 0x0128
    input  wire        mirrored_incr,

    // mirror_dropped at 0x0130
    input  wire        mirror_dropped_incr,

    // redirected at 0x0138
    input  wire        redirected_incr,

    // metered_green at 0x0140
    input  wire        metered_green_incr,

    // metered_yellow at 0x0148
    input  wire        metered_yellow_incr,

    // metered_red at 0x0150
    input  wire        metered_red_incr
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
wire bus_unused = &{1'b0, reg_addr[1:0], reg_write, reg_wdata, reg_wstrb, cir_held_reg, pir_held_reg};

// action_0
reg [31:0] action_0_word_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h008) begin
        if (reg_wstrb[0]) action_0_word_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) action_0_word_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) action_0_word_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) action_0_word_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        action_0_word_reg <= 32'h0;
    end
end
assign action_0_word = action_0_word_reg;

// action_1
reg [31:0] action_1_word_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h009) begin
        if (reg_wstrb[0]) action_1_word_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) action_1_word_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) action_1_word_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) action_1_word_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        action_1_word_reg <= 32'h0;
    end
end
assign action_1_word = action_1_word_reg;

// src_range
reg [15:0] src_range_first_reg;
reg [15:0] src_range_last_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00a) begin
        if (reg_wstrb[0]) src_range_first_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) src_range_first_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) src_range_last_reg[7:0] <= reg_wdata[23:16];
        if (reg_wstrb[3]) src_range_last_reg[15:8] <= reg_wdata[31:24];
    end
    if (rst) begin
        src_range_first_reg <= 16'h0;
        src_range_last_reg <= 16'hffff;
    end
end
assign src_range_first = src_range_first_reg;
assign src_range_last = src_range_last_reg;

// dst_range
reg [15:0] dst_range_first_reg;
reg [15:0] dst_range_last_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00b) begin
        if (reg_wstrb[0]) dst_range_first_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) dst_range_first_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) dst_range_last_reg[7:0] <= reg_wdata[23:16];
        if (reg_wstrb[3]) dst_range_last_reg[15:8] <= reg_wdata[31:24];
    end
    if (rst) begin
        dst_range_first_reg <= 16'h0;
        dst_range_last_reg <= 16'hffff;
    end
end
assign dst_range_first = dst_range_first_reg;
assign dst_range_last = dst_range_last_reg;

// value_0
reg [31:0] value_0_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h010) begin
        if (reg_wstrb[0]) value_0_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_0_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_0_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_0_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_0_bits_reg <= 32'h0;
    end
end
assign value_0_bits = value_0_bits_reg;

// value_1
reg [31:0] value_1_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h011) begin
        if (reg_wstrb[0]) value_1_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_1_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_1_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_1_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_1_bits_reg <= 32'h0;
    end
end
assign value_1_bits = value_1_bits_reg;

// value_2
reg [31:0] value_2_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h012) begin
        if (reg_wstrb[0]) value_2_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_2_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_2_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_2_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_2_bits_reg <= 32'h0;
    end
end
assign value_2_bits = value_2_bits_reg;

// value_3
reg [31:0] value_3_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h013) begin
        if (reg_wstrb[0]) value_3_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_3_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_3_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_3_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_3_bits_reg <= 32'h0;
    end
end
assign value_3_bits = value_3_bits_reg;

// value_4
reg [31:0] value_4_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h014) begin
        if (reg_wstrb[0]) value_4_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_4_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_4_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_4_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_4_bits_reg <= 32'h0;
    end
end
assign value_4_bits = value_4_bits_reg;

// value_5
reg [31:0] value_5_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h015) begin
        if (reg_wstrb[0]) value_5_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_5_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_5_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_5_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_5_bits_reg <= 32'h0;
    end
end
assign value_5_bits = value_5_bits_reg;

// value_6
reg [31:0] value_6_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h016) begin
        if (reg_wstrb[0]) value_6_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_6_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_6_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_6_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_6_bits_reg <= 32'h0;
    end
end
assign value_6_bits = value_6_bits_reg;

// value_7
reg [31:0] value_7_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h017) begin
        if (reg_wstrb[0]) value_7_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_7_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_7_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_7_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_7_bits_reg <= 32'h0;
    end
end
assign value_7_bits = value_7_bits_reg;

// value_8
reg [31:0] value_8_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h018) begin
        if (reg_wstrb[0]) value_8_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_8_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_8_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_8_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_8_bits_reg <= 32'h0;
    end
end
assign value_8_bits = value_8_bits_reg;

// value_9
reg [31:0] value_9_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h019) begin
        if (reg_wstrb[0]) value_9_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_9_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_9_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_9_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_9_bits_reg <= 32'h0;
    end
end
assign value_9_bits = value_9_bits_reg;

// value_10
reg [31:0] value_10_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h01a) begin
        if (reg_wstrb[0]) value_10_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_10_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_10_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_10_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_10_bits_reg <= 32'h0;
    end
end
assign value_10_bits = value_10_bits_reg;

// value_11
reg [31:0] value_11_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h01b) begin
        if (reg_wstrb[0]) value_11_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) value_11_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) value_11_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) value_11_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        value_11_bits_reg <= 32'h0;
    end
end
assign value_11_bits = value_11_bits_reg;

// mask_0
reg [31:0] mask_0_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h020) begin
        if (reg_wstrb[0]) mask_0_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_0_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_0_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_0_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_0_bits_reg <= 32'h0;
    end
end
assign mask_0_bits = mask_0_bits_reg;

// mask_1
reg [31:0] mask_1_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h021) begin
        if (reg_wstrb[0]) mask_1_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_1_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_1_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_1_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_1_bits_reg <= 32'h0;
    end
end
assign mask_1_bits = mask_1_bits_reg;

// mask_2
reg [31:0] mask_2_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h022) begin
        if (reg_wstrb[0]) mask_2_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_2_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_2_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_2_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_2_bits_reg <= 32'h0;
    end
end
assign mask_2_bits = mask_2_bits_reg;

// mask_3
reg [31:0] mask_3_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h023) begin
        if (reg_wstrb[0]) mask_3_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_3_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_3_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_3_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_3_bits_reg <= 32'h0;
    end
end
assign mask_3_bits = mask_3_bits_reg;

// mask_4
reg [31:0] mask_4_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h024) begin
        if (reg_wstrb[0]) mask_4_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_4_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_4_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_4_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_4_bits_reg <= 32'h0;
    end
end
assign mask_4_bits = mask_4_bits_reg;

// mask_5
reg [31:0] mask_5_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h025) begin
        if (reg_wstrb[0]) mask_5_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_5_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_5_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_5_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_5_bits_reg <= 32'h0;
    end
end
assign mask_5_bits = mask_5_bits_reg;

// mask_6
reg [31:0] mask_6_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h026) begin
        if (reg_wstrb[0]) mask_6_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_6_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_6_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_6_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_6_bits_reg <= 32'h0;
    end
end
assign mask_6_bits = mask_6_bits_reg;

// mask_7
reg [31:0] mask_7_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h027) begin
        if (reg_wstrb[0]) mask_7_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_7_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_7_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_7_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_7_bits_reg <= 32'h0;
    end
end
assign mask_7_bits = mask_7_bits_reg;

// mask_8
reg [31:0] mask_8_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h028) begin
        if (reg_wstrb[0]) mask_8_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_8_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_8_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_8_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_8_bits_reg <= 32'h0;
    end
end
assign mask_8_bits = mask_8_bits_reg;

// mask_9
reg [31:0] mask_9_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h029) begin
        if (reg_wstrb[0]) mask_9_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_9_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_9_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_9_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_9_bits_reg <= 32'h0;
    end
end
assign mask_9_bits = mask_9_bits_reg;

// mask_10
reg [31:0] mask_10_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h02a) begin
        if (reg_wstrb[0]) mask_10_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_10_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_10_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_10_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_10_bits_reg <= 32'h0;
    end
end
assign mask_10_bits = mask_10_bits_reg;

// mask_11
reg [31:0] mask_11_bits_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h02b) begin
        if (reg_wstrb[0]) mask_11_bits_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) mask_11_bits_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) mask_11_bits_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) mask_11_bits_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        mask_11_bits_reg <= 32'h0;
    end
end
assign mask_11_bits = mask_11_bits_reg;

// cir
reg [63:0] cir_rate_reg;
reg [31:0] cir_held_reg;  // low word that waits for the high one
reg [3:0] cir_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h030) begin
        if (reg_wstrb[0]) cir_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) cir_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) cir_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) cir_held_reg[31:24] <= reg_wdata[31:24];
        cir_held_strb_reg <= cir_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h031) begin
        if (cir_held_strb_reg[0]) cir_rate_reg[7:0] <= cir_held_reg[7:0];
        if (cir_held_strb_reg[1]) cir_rate_reg[15:8] <= cir_held_reg[15:8];
        if (cir_held_strb_reg[2]) cir_rate_reg[23:16] <= cir_held_reg[23:16];
        if (cir_held_strb_reg[3]) cir_rate_reg[31:24] <= cir_held_reg[31:24];
        if (reg_wstrb[0]) cir_rate_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) cir_rate_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) cir_rate_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) cir_rate_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        cir_rate_reg <= 64'h0;
        cir_held_strb_reg <= 4'd0;
    end
end
assign cir_rate = cir_rate_reg;

// pir
reg [63:0] pir_rate_reg;
reg [31:0] pir_held_reg;  // low word that waits for the high one
reg [3:0] pir_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h032) begin
        if (reg_wstrb[0]) pir_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) pir_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) pir_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) pir_held_reg[31:24] <= reg_wdata[31:24];
        pir_held_strb_reg <= pir_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h033) begin
        if (pir_held_strb_reg[0]) pir_rate_reg[7:0] <= pir_held_reg[7:0];
        if (pir_held_strb_reg[1]) pir_rate_reg[15:8] <= pir_held_reg[15:8];
        if (pir_held_strb_reg[2]) pir_rate_reg[23:16] <= pir_held_reg[23:16];
        if (pir_held_strb_reg[3]) pir_rate_reg[31:24] <= pir_held_reg[31:24];
        if (reg_wstrb[0]) pir_rate_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) pir_rate_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) pir_rate_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) pir_rate_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        pir_rate_reg <= 64'h0;
        pir_held_strb_reg <= 4'd0;
    end
end
assign pir_rate = pir_rate_reg;

// cbs
reg [31:0] cbs_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h034) begin
        if (reg_wstrb[0]) cbs_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) cbs_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) cbs_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) cbs_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        cbs_bytes_reg <= 32'h0;
    end
end
assign cbs_bytes = cbs_bytes_reg;

// pbs
reg [31:0] pbs_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h035) begin
        if (reg_wstrb[0]) pbs_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) pbs_bytes_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) pbs_bytes_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) pbs_bytes_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        pbs_bytes_reg <= 32'h0;
    end
end
assign pbs_bytes = pbs_bytes_reg;

// yellow
reg [5:0] yellow_dscp_reg;
reg yellow_on_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h036) begin
        if (reg_wstrb[0]) yellow_dscp_reg <= reg_wdata[5:0];
        if (reg_wstrb[0]) yellow_on_reg <= reg_wdata[6];
    end
    if (rst) begin
        yellow_dscp_reg <= 6'h0;
        yellow_on_reg <= 1'h0;
    end
end
assign yellow_dscp = yellow_dscp_reg;
assign yellow_on = yellow_on_reg;

// command: kept outside, read and written through its own port
wire command_select = reg_addr[13:2] == 12'h3;
assign command_req = bus_access && command_select;
assign command_write = reg_write;
assign command_wdata = reg_wdata;
assign command_wstrb = reg_wstrb;

// counter_frames: high word as it was when the low one was read
reg [31:0] counter_frames_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h038) counter_frames_high_reg <= counter_frames_frames_in[63:32];
end

// counter_bytes: high word as it was when the low one was read
reg [31:0] counter_bytes_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h03a) counter_bytes_high_reg <= counter_bytes_bytes_in[63:32];
end

// judged.count: counts what hardware adds
reg [63:0] judged_count_reg;

always @(posedge clk) begin
    judged_count_reg <= judged_count_reg + {63'd0, judged_incr};
    if (rst) judged_count_reg <= 64'h0;
end

// judged: high word as it was when the low one was read
reg [31:0] judged_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h040) judged_high_reg <= judged_count_reg[63:32];
end

// unjudged.count: counts what hardware adds
reg [63:0] unjudged_count_reg;

always @(posedge clk) begin
    unjudged_count_reg <= unjudged_count_reg + {63'd0, unjudged_incr};
    if (rst) unjudged_count_reg <= 64'h0;
end

// unjudged: high word as it was when the low one was read
reg [31:0] unjudged_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h042) unjudged_high_reg <= unjudged_count_reg[63:32];
end

// denied.count: counts what hardware adds
reg [63:0] denied_count_reg;

always @(posedge clk) begin
    denied_count_reg <= denied_count_reg + {63'd0, denied_incr};
    if (rst) denied_count_reg <= 64'h0;
end

// denied: high word as it was when the low one was read
reg [31:0] denied_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h044) denied_high_reg <= denied_count_reg[63:32];
end

// policed.count: counts what hardware adds
reg [63:0] policed_count_reg;

always @(posedge clk) begin
    policed_count_reg <= policed_count_reg + {63'd0, policed_incr};
    if (rst) policed_count_reg <= 64'h0;
end

// policed: high word as it was when the low one was read
reg [31:0] policed_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h046) policed_high_reg <= policed_count_reg[63:32];
end

// no_port.count: counts what hardware adds
reg [63:0] no_port_count_reg;

always @(posedge clk) begin
    no_port_count_reg <= no_port_count_reg + {63'd0, no_port_incr};
    if (rst) no_port_count_reg <= 64'h0;
end

// no_port: high word as it was when the low one was read
reg [31:0] no_port_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h048) no_port_high_reg <= no_port_count_reg[63:32];
end

// mirrored.count: counts what hardware adds
reg [63:0] mirrored_count_reg;

always @(posedge clk) begin
    mirrored_count_reg <= mirrored_count_reg + {63'd0, mirrored_incr};
    if (rst) mirrored_count_reg <= 64'h0;
end

// mirrored: high word as it was when the low one was read
reg [31:0] mirrored_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h04a) mirrored_high_reg <= mirrored_count_reg[63:32];
end

// mirror_dropped.count: counts what hardware adds
reg [63:0] mirror_dropped_count_reg;

always @(posedge clk) begin
    mirror_dropped_count_reg <= mirror_dropped_count_reg + {63'd0, mirror_dropped_incr};
    if (rst) mirror_dropped_count_reg <= 64'h0;
end

// mirror_dropped: high word as it was when the low one was read
reg [31:0] mirror_dropped_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h04c) mirror_dropped_high_reg <= mirror_dropped_count_reg[63:32];
end

// redirected.count: counts what hardware adds
reg [63:0] redirected_count_reg;

always @(posedge clk) begin
    redirected_count_reg <= redirected_count_reg + {63'd0, redirected_incr};
    if (rst) redirected_count_reg <= 64'h0;
end

// redirected: high word as it was when the low one was read
reg [31:0] redirected_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h04e) redirected_high_reg <= redirected_count_reg[63:32];
end

// metered_green.count: counts what hardware adds
reg [63:0] metered_green_count_reg;

always @(posedge clk) begin
    metered_green_count_reg <= metered_green_count_reg + {63'd0, metered_green_incr};
    if (rst) metered_green_count_reg <= 64'h0;
end

// metered_green: high word as it was when the low one was read
reg [31:0] metered_green_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h050) metered_green_high_reg <= metered_green_count_reg[63:32];
end

// metered_yellow.count: counts what hardware adds
reg [63:0] metered_yellow_count_reg;

always @(posedge clk) begin
    metered_yellow_count_reg <= metered_yellow_count_reg + {63'd0, metered_yellow_incr};
    if (rst) metered_yellow_count_reg <= 64'h0;
end

// metered_yellow: high word as it was when the low one was read
reg [31:0] metered_yellow_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h052) metered_yellow_high_reg <= metered_yellow_count_reg[63:32];
end

// metered_red.count: counts what hardware adds
reg [63:0] metered_red_count_reg;

always @(posedge clk) begin
    metered_red_count_reg <= metered_red_count_reg + {63'd0, metered_red_incr};
    if (rst) metered_red_count_reg <= 64'h0;
end

// metered_red: high word as it was when the low one was read
reg [31:0] metered_red_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h054) metered_red_high_reg <= metered_red_count_reg[63:32];
end

// answer
always @(posedge clk) begin
    ack_reg <= bus_access;
    if (bus_access) begin
        error_reg <= 1'b0;
        case (bus_word)
            12'h000: rdata_reg <= {14'd0, 2'h3, 8'h1, 8'h3};  // id
            12'h001: rdata_reg <= {2'd0, size_tunnel_in, size_ipv6_in, 3'd0, size_meters_in, size_rules_in};  // size
            12'h002: rdata_reg <= {30'd0, status_settled_in, status_active_in};  // status
            12'h008: rdata_reg <= action_0_word_reg;  // action_0
            12'h009: rdata_reg <= action_1_word_reg;  // action_1
            12'h00a: rdata_reg <= {src_range_last_reg, src_range_first_reg};  // src_range
            12'h00b: rdata_reg <= {dst_range_last_reg, dst_range_first_reg};  // dst_range
            12'h010: rdata_reg <= value_0_bits_reg;  // value_0
            12'h011: rdata_reg <= value_1_bits_reg;  // value_1
            12'h012: rdata_reg <= value_2_bits_reg;  // value_2
            12'h013: rdata_reg <= value_3_bits_reg;  // value_3
            12'h014: rdata_reg <= value_4_bits_reg;  // value_4
            12'h015: rdata_reg <= value_5_bits_reg;  // value_5
            12'h016: rdata_reg <= value_6_bits_reg;  // value_6
            12'h017: rdata_reg <= value_7_bits_reg;  // value_7
            12'h018: rdata_reg <= value_8_bits_reg;  // value_8
            12'h019: rdata_reg <= value_9_bits_reg;  // value_9
            12'h01a: rdata_reg <= value_10_bits_reg;  // value_10
            12'h01b: rdata_reg <= value_11_bits_reg;  // value_11
            12'h020: rdata_reg <= mask_0_bits_reg;  // mask_0
            12'h021: rdata_reg <= mask_1_bits_reg;  // mask_1
            12'h022: rdata_reg <= mask_2_bits_reg;  // mask_2
            12'h023: rdata_reg <= mask_3_bits_reg;  // mask_3
            12'h024: rdata_reg <= mask_4_bits_reg;  // mask_4
            12'h025: rdata_reg <= mask_5_bits_reg;  // mask_5
            12'h026: rdata_reg <= mask_6_bits_reg;  // mask_6
            12'h027: rdata_reg <= mask_7_bits_reg;  // mask_7
            12'h028: rdata_reg <= mask_8_bits_reg;  // mask_8
            12'h029: rdata_reg <= mask_9_bits_reg;  // mask_9
            12'h02a: rdata_reg <= mask_10_bits_reg;  // mask_10
            12'h02b: rdata_reg <= mask_11_bits_reg;  // mask_11
            12'h030: rdata_reg <= cir_rate_reg[31:0];  // cir
            12'h031: rdata_reg <= cir_rate_reg[63:32];  // cir (high)
            12'h032: rdata_reg <= pir_rate_reg[31:0];  // pir
            12'h033: rdata_reg <= pir_rate_reg[63:32];  // pir (high)
            12'h034: rdata_reg <= cbs_bytes_reg;  // cbs
            12'h035: rdata_reg <= pbs_bytes_reg;  // pbs
            12'h036: rdata_reg <= {25'd0, yellow_on_reg, yellow_dscp_reg};  // yellow
            12'h038: rdata_reg <= counter_frames_frames_in[31:0];  // counter_frames
            12'h039: rdata_reg <= counter_frames_high_reg;  // counter_frames (high)
            12'h03a: rdata_reg <= counter_bytes_bytes_in[31:0];  // counter_bytes
            12'h03b: rdata_reg <= counter_bytes_high_reg;  // counter_bytes (high)
            12'h040: rdata_reg <= judged_count_reg[31:0];  // judged
            12'h041: rdata_reg <= judged_high_reg;  // judged (high)
            12'h042: rdata_reg <= unjudged_count_reg[31:0];  // unjudged
            12'h043: rdata_reg <= unjudged_high_reg;  // unjudged (high)
            12'h044: rdata_reg <= denied_count_reg[31:0];  // denied
            12'h045: rdata_reg <= denied_high_reg;  // denied (high)
            12'h046: rdata_reg <= policed_count_reg[31:0];  // policed
            12'h047: rdata_reg <= policed_high_reg;  // policed (high)
            12'h048: rdata_reg <= no_port_count_reg[31:0];  // no_port
            12'h049: rdata_reg <= no_port_high_reg;  // no_port (high)
            12'h04a: rdata_reg <= mirrored_count_reg[31:0];  // mirrored
            12'h04b: rdata_reg <= mirrored_high_reg;  // mirrored (high)
            12'h04c: rdata_reg <= mirror_dropped_count_reg[31:0];  // mirror_dropped
            12'h04d: rdata_reg <= mirror_dropped_high_reg;  // mirror_dropped (high)
            12'h04e: rdata_reg <= redirected_count_reg[31:0];  // redirected
            12'h04f: rdata_reg <= redirected_high_reg;  // redirected (high)
            12'h050: rdata_reg <= metered_green_count_reg[31:0];  // metered_green
            12'h051: rdata_reg <= metered_green_high_reg;  // metered_green (high)
            12'h052: rdata_reg <= metered_yellow_count_reg[31:0];  // metered_yellow
            12'h053: rdata_reg <= metered_yellow_high_reg;  // metered_yellow (high)
            12'h054: rdata_reg <= metered_red_count_reg[31:0];  // metered_red
            12'h055: rdata_reg <= metered_red_high_reg;  // metered_red (high)
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
