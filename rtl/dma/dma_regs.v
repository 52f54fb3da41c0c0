// Generated from rtl/dma/dma.rdl by `make generate`: do not edit.

`resetall
`timescale 1ns / 1ps
`default_nettype none

/*
 * Registers: DMA
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
 *            3:0 requesters: driven by hardware
 *           15:4 regions: driven by hardware
 *          31:16 pages: driven by hardware
 *   0x0008 control, 32 bit
 *            2:0 mps: written by software
 *            6:4 mrrs: written by software
 *              8 rcb: written by software
 *          13:12 tags: written by software
 *             16 ro: written by software
 *             17 ido: written by software
 *             18 ns_host: written by software
 *             19 ns_bar: written by software
 *   0x000c requester_id, 32 bit
 *           15:0 rid: written by software
 *   0x0010 timeout, 32 bit
 *           31:0 ns: written by software
 *   0x0014 physical, 32 bit
 *            7:0 on: written by software
 *   0x0018 command, 32 bit, kept outside
 *   0x0020 key, 32 bit
 *           31:0 value: written by software
 *   0x0024 form, 32 bit
 *            4:0 rights: written by software
 *              8 target: written by software
 *          13:12 page_size: written by software
 *          31:16 first: written by software
 *   0x0028 base, 64 bit
 *           63:0 value: written by software
 *   0x0030 length, 64 bit
 *           63:0 value: written by software
 *   0x0038 page, 64 bit
 *           63:0 value: written by software
 *   0x0100 requests, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0108 done_ok, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0110 done_no_region, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0118 done_bounds, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0120 done_rights, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0128 done_no_page, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0130 done_bad_length, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0138 done_unsupported, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0140 done_aborted, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0148 done_poisoned, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0150 done_timeout, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0158 done_bad_count, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0160 done_bad_address, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0168 done_short, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0170 write_tlps, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0178 read_tlps, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0180 flush_tlps, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0188 write_bytes, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0190 read_bytes, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0198 completions, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01a0 unexpected, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x01b0 held, 32 bit
 *           10:0 tags: driven by hardware
 *          31:16 lines: driven by hardware
 */
module dma_regs (
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
    input  wire [3:0]  size_requesters_in,
    input  wire [11:0] size_regions_in,
    input  wire [15:0] size_pages_in,

    // control at 0x0008
    output wire [2:0]  control_mps,
    output wire [2:0]  control_mrrs,
    output wire        control_rcb,
    output wire [1:0]  control_tags,
    output wire        control_ro,
    output wire        control_ido,
    output wire        control_ns_host,
    output wire        control_ns_bar,

    // requester_id at 0x000c
    output wire [15:0] requester_id_rid,

    // timeout at 0x0010
    output wire [31:0] timeout_ns,

    // physical at 0x0014
    output wire [7:0]  physical_on,

    // command at 0x0018
    output wire        command_req,
    output wire        command_write,
    output wire [31:0] command_wdata,
    output wire [3:0]  command_wstrb,
    input  wire        command_ack,
    input  wire [31:0] command_rdata,

    // key at 0x0020
    output wire [31:0] key_value,

    // form at 0x0024
    output wire [4:0]  form_rights,
    output wire        form_target,
    output wire [1:0]  form_page_size,
    output wire [15:0] form_first,

    // base at 0x0028
    output wire [63:0] base_value,

    // length at 0x0030
    output wire [63:0] length_value,

    // page at 0x0038
    output wire [63:0] page_value,

    // requests at 0x0100
    input  wire [12:0] requests_incr,

    // done_ok at 0x0108
    input  wire [12:0] done_ok_incr,

    // done_no_region at 0x0110
    input  wire [12:0] done_no_region_incr,

    // done_bounds at 0x0118
    input  wire [12:0] done_bounds_incr,

    // done_rights at 0x0120
    input  wire [12:0] done_rights_incr,

    // done_no_page at 0x0128
    input  wire [12:0] done_no_page_incr,

    // done_bad_length at 0x0130
    input  wire [12:0] done_bad_length_incr,

    // done_unsupported at 0x0138
    input  wire [12:0] done_unsupported_incr,

    // done_aborted at 0x0140
    input  wire [12:0] done_aborted_incr,

    // done_poisoned at 0x0148
    input  wire [12:0] done_poisoned_incr,

    // done_timeout at 0x0150
    input  wire [12:0] done_timeout_incr,

    // done_bad_count at 0x0158
    input  wire [12:0] done_bad_count_incr,

    // done_bad_address at 0x0160
    input  wire [12:0] done_bad_address_incr,

    // done_short at 0x0168
    input  wire [12:0] done_short_incr,

    // write_tlps at 0x0170
    input  wire [12:0] write_tlps_incr,

    // read_tlps at 0x0178
    input  wire [12:0] read_tlps_incr,

    // flush_tlps at 0x0180
    input  wire [12:0] flush_tlps_incr,

    // write_bytes at 0x0188
    input  wire [12:0] write_bytes_incr,

    // read_bytes at 0x0190
    input  wire [12:0] read_bytes_incr,

    // completions at 0x0198
    input  wire [12:0] completions_incr,

    // unexpected at 0x01a0
    input  wire [12:0] unexpected_incr,

    // held at 0x01b0
    input  wire [10:0] held_tags_in,
    input  wire [15:0] held_lines_in
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
wire bus_unused = &{1'b0, reg_addr[1:0], reg_write, reg_wdata, reg_wstrb, base_held_reg, length_held_reg, page_held_reg};

// control
reg [2:0] control_mps_reg;
reg [2:0] control_mrrs_reg;
reg control_rcb_reg;
reg [1:0] control_tags_reg;
reg control_ro_reg;
reg control_ido_reg;
reg control_ns_host_reg;
reg control_ns_bar_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h002) begin
        if (reg_wstrb[0]) control_mps_reg <= reg_wdata[2:0];
        if (reg_wstrb[0]) control_mrrs_reg <= reg_wdata[6:4];
        if (reg_wstrb[1]) control_rcb_reg <= reg_wdata[8];
        if (reg_wstrb[1]) control_tags_reg <= reg_wdata[13:12];
        if (reg_wstrb[2]) control_ro_reg <= reg_wdata[16];
        if (reg_wstrb[2]) control_ido_reg <= reg_wdata[17];
        if (reg_wstrb[2]) control_ns_host_reg <= reg_wdata[18];
        if (reg_wstrb[2]) control_ns_bar_reg <= reg_wdata[19];
    end
    if (rst) begin
        control_mps_reg <= 3'h0;
        control_mrrs_reg <= 3'h2;
        control_rcb_reg <= 1'h0;
        control_tags_reg <= 2'h0;
        control_ro_reg <= 1'h1;
        control_ido_reg <= 1'h0;
        control_ns_host_reg <= 1'h0;
        control_ns_bar_reg <= 1'h0;
    end
end
assign control_mps = control_mps_reg;
assign control_mrrs = control_mrrs_reg;
assign control_rcb = control_rcb_reg;
assign control_tags = control_tags_reg;
assign control_ro = control_ro_reg;
assign control_ido = control_ido_reg;
assign control_ns_host = control_ns_host_reg;
assign control_ns_bar = control_ns_bar_reg;

// requester_id
reg [15:0] requester_id_rid_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h003) begin
        if (reg_wstrb[0]) requester_id_rid_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) requester_id_rid_reg[15:8] <= reg_wdata[15:8];
    end
    if (rst) begin
        requester_id_rid_reg <= 16'h0;
    end
end
assign requester_id_rid = requester_id_rid_reg;

// timeout
reg [31:0] timeout_ns_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h004) begin
        if (reg_wstrb[0]) timeout_ns_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) timeout_ns_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) timeout_ns_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) timeout_ns_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        timeout_ns_reg <= 32'h2faf080;
    end
end
assign timeout_ns = timeout_ns_reg;

// physical
reg [7:0] physical_on_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h005) begin
        if (reg_wstrb[0]) physical_on_reg <= reg_wdata[7:0];
    end
    if (rst) begin
        physical_on_reg <= 8'h0;
    end
end
assign physical_on = physical_on_reg;

// key
reg [31:0] key_value_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h008) begin
        if (reg_wstrb[0]) key_value_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) key_value_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) key_value_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) key_value_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        key_value_reg <= 32'h0;
    end
end
assign key_value = key_value_reg;

// form
reg [4:0] form_rights_reg;
reg form_target_reg;
reg [1:0] form_page_size_reg;
reg [15:0] form_first_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h009) begin
        if (reg_wstrb[0]) form_rights_reg <= reg_wdata[4:0];
        if (reg_wstrb[1]) form_target_reg <= reg_wdata[8];
        if (reg_wstrb[1]) form_page_size_reg <= reg_wdata[13:12];
        if (reg_wstrb[2]) form_first_reg[7:0] <= reg_wdata[23:16];
        if (reg_wstrb[3]) form_first_reg[15:8] <= reg_wdata[31:24];
    end
    if (rst) begin
        form_rights_reg <= 5'h0;
        form_target_reg <= 1'h0;
        form_page_size_reg <= 2'h0;
        form_first_reg <= 16'h0;
    end
end
assign form_rights = form_rights_reg;
assign form_target = form_target_reg;
assign form_page_size = form_page_size_reg;
assign form_first = form_first_reg;

// base
reg [63:0] base_value_reg;
reg [31:0] base_held_reg;  // low word that waits for the high one
reg [3:0] base_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00a) begin
        if (reg_wstrb[0]) base_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) base_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) base_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) base_held_reg[31:24] <= reg_wdata[31:24];
        base_held_strb_reg <= base_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h00b) begin
        if (base_held_strb_reg[0]) base_value_reg[7:0] <= base_held_reg[7:0];
        if (base_held_strb_reg[1]) base_value_reg[15:8] <= base_held_reg[15:8];
        if (base_held_strb_reg[2]) base_value_reg[23:16] <= base_held_reg[23:16];
        if (base_held_strb_reg[3]) base_value_reg[31:24] <= base_held_reg[31:24];
        if (reg_wstrb[0]) base_value_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) base_value_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) base_value_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) base_value_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        base_value_reg <= 64'h0;
        base_held_strb_reg <= 4'd0;
    end
end
assign base_value = base_value_reg;

// length
reg [63:0] length_value_reg;
reg [31:0] length_held_reg;  // low word that waits for the high one
reg [3:0] length_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00c) begin
        if (reg_wstrb[0]) length_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) length_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) length_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) length_held_reg[31:24] <= reg_wdata[31:24];
        length_held_strb_reg <= length_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h00d) begin
        if (length_held_strb_reg[0]) length_value_reg[7:0] <= length_held_reg[7:0];
        if (length_held_strb_reg[1]) length_value_reg[15:8] <= length_held_reg[15:8];
        if (length_held_strb_reg[2]) length_value_reg[23:16] <= length_held_reg[23:16];
        if (length_held_strb_reg[3]) length_value_reg[31:24] <= length_held_reg[31:24];
        if (reg_wstrb[0]) length_value_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) length_value_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) length_value_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) length_value_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        length_value_reg <= 64'h0;
        length_held_strb_reg <= 4'd0;
    end
end
assign length_value = length_value_reg;

// page
reg [63:0] page_value_reg;
reg [31:0] page_held_reg;  // low word that waits for the high one
reg [3:0] page_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h00e) begin
        if (reg_wstrb[0]) page_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) page_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) page_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) page_held_reg[31:24] <= reg_wdata[31:24];
        page_held_strb_reg <= page_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h00f) begin
        if (page_held_strb_reg[0]) page_value_reg[7:0] <= page_held_reg[7:0];
        if (page_held_strb_reg[1]) page_value_reg[15:8] <= page_held_reg[15:8];
        if (page_held_strb_reg[2]) page_value_reg[23:16] <= page_held_reg[23:16];
        if (page_held_strb_reg[3]) page_value_reg[31:24] <= page_held_reg[31:24];
        if (reg_wstrb[0]) page_value_reg[39:32] <= reg_wdata[7:0];
        if (reg_wstrb[1]) page_value_reg[47:40] <= reg_wdata[15:8];
        if (reg_wstrb[2]) page_value_reg[55:48] <= reg_wdata[23:16];
        if (reg_wstrb[3]) page_value_reg[63:56] <= reg_wdata[31:24];
    end
    if (rst) begin
        page_value_reg <= 64'h0;
        page_held_strb_reg <= 4'd0;
    end
end
assign page_value = page_value_reg;

// command: kept outside, read and written through its own port
wire command_select = reg_addr[13:2] == 12'h6;
assign command_req = bus_access && command_select;
assign command_write = reg_write;
assign command_wdata = reg_wdata;
assign command_wstrb = reg_wstrb;

// requests.count: counts what hardware adds
reg [63:0] requests_count_reg;

always @(posedge clk) begin
    requests_count_reg <= requests_count_reg + {51'd0, requests_incr};
    if (rst) requests_count_reg <= 64'h0;
end

// requests: high word as it was when the low one was read
reg [31:0] requests_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h040) requests_high_reg <= requests_count_reg[63:32];
end

// done_ok.count: counts what hardware adds
reg [63:0] done_ok_count_reg;

always @(posedge clk) begin
    done_ok_count_reg <= done_ok_count_reg + {51'd0, done_ok_incr};
    if (rst) done_ok_count_reg <= 64'h0;
end

// done_ok: high word as it was when the low one was read
reg [31:0] done_ok_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h042) done_ok_high_reg <= done_ok_count_reg[63:32];
end

// done_no_region.count: counts what hardware adds
reg [63:0] done_no_region_count_reg;

always @(posedge clk) begin
    done_no_region_count_reg <= done_no_region_count_reg + {51'd0, done_no_region_incr};
    if (rst) done_no_region_count_reg <= 64'h0;
end

// done_no_region: high word as it was when the low one was read
reg [31:0] done_no_region_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h044) done_no_region_high_reg <= done_no_region_count_reg[63:32];
end

// done_bounds.count: counts what hardware adds
reg [63:0] done_bounds_count_reg;

always @(posedge clk) begin
    done_bounds_count_reg <= done_bounds_count_reg + {51'd0, done_bounds_incr};
    if (rst) done_bounds_count_reg <= 64'h0;
end

// done_bounds: high word as it was when the low one was read
reg [31:0] done_bounds_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h046) done_bounds_high_reg <= done_bounds_count_reg[63:32];
end

// done_rights.count: counts what hardware adds
reg [63:0] done_rights_count_reg;

always @(posedge clk) begin
    done_rights_count_reg <= done_rights_count_reg + {51'd0, done_rights_incr};
    if (rst) done_rights_count_reg <= 64'h0;
end

// done_rights: high word as it was when the low one was read
reg [31:0] done_rights_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h048) done_rights_high_reg <= done_rights_count_reg[63:32];
end

// done_no_page.count: counts what hardware adds
reg [63:0] done_no_page_count_reg;

always @(posedge clk) begin
    done_no_page_count_reg <= done_no_page_count_reg + {51'd0, done_no_page_incr};
    if (rst) done_no_page_count_reg <= 64'h0;
end

// done_no_page: high word as it was when the low one was read
reg [31:0] done_no_page_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h04a) done_no_page_high_reg <= done_no_page_count_reg[63:32];
end

// done_bad_length.count: counts what hardware adds
reg [63:0] done_bad_length_count_reg;

always @(posedge clk) begin
    done_bad_length_count_reg <= done_bad_length_count_reg + {51'd0, done_bad_length_incr};
    if (rst) done_bad_length_count_reg <= 64'h0;
end

// done_bad_length: high word as it was when the low one was read
reg [31:0] done_bad_length_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h04c) done_bad_length_high_reg <= done_bad_length_count_reg[63:32];
end

// done_unsupported.count: counts what hardware adds
reg [63:0] done_unsupported_count_reg;

always @(posedge clk) begin
    done_unsupported_count_reg <= done_unsupported_count_reg + {51'd0, done_unsupported_incr};
    if (rst) done_unsupported_count_reg <= 64'h0;
end

// done_unsupported: high word as it was when the low one was read
reg [31:0] done_unsupported_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h04e) done_unsupported_high_reg <= done_unsupported_count_reg[63:32];
end

// done_aborted.count: counts what hardware adds
reg [63:0] done_aborted_count_reg;

always @(posedge clk) begin
    done_aborted_count_reg <= done_aborted_count_reg + {51'd0, done_aborted_incr};
    if (rst) done_aborted_count_reg <= 64'h0;
end

// done_aborted: high word as it was when the low one was read
reg [31:0] done_aborted_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h050) done_aborted_high_reg <= done_aborted_count_reg[63:32];
end

// done_poisoned.count: counts what hardware adds
reg [63:0] done_poisoned_count_reg;

always @(posedge clk) begin
    done_poisoned_count_reg <= done_poisoned_count_reg + {51'd0, done_poisoned_incr};
    if (rst) done_poisoned_count_reg <= 64'h0;
end

// done_poisoned: high word as it was when the low one was read
reg [31:0] done_poisoned_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h052) done_poisoned_high_reg <= done_poisoned_count_reg[63:32];
end

// done_timeout.count: counts what hardware adds
reg [63:0] done_timeout_count_reg;

always @(posedge clk) begin
    done_timeout_count_reg <= done_timeout_count_reg + {51'd0, done_timeout_incr};
    if (rst) done_timeout_count_reg <= 64'h0;
end

// done_timeout: high word as it was when the low one was read
reg [31:0] done_timeout_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h054) done_timeout_high_reg <= done_timeout_count_reg[63:32];
end

// done_bad_count.count: counts what hardware adds
reg [63:0] done_bad_count_count_reg;

always @(posedge clk) begin
    done_bad_count_count_reg <= done_bad_count_count_reg + {51'd0, done_bad_count_incr};
    if (rst) done_bad_count_count_reg <= 64'h0;
end

// done_bad_count: high word as it was when the low one was read
reg [31:0] done_bad_count_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h056) done_bad_count_high_reg <= done_bad_count_count_reg[63:32];
end

// done_bad_address.count: counts what hardware adds
reg [63:0] done_bad_address_count_reg;

always @(posedge clk) begin
    done_bad_address_count_reg <= done_bad_address_count_reg + {51'd0, done_bad_address_incr};
    if (rst) done_bad_address_count_reg <= 64'h0;
end

// done_bad_address: high word as it was when the low one was read
reg [31:0] done_bad_address_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h058) done_bad_address_high_reg <= done_bad_address_count_reg[63:32];
end

// done_short.count: counts what hardware adds
reg [63:0] done_short_count_reg;

always @(posedge clk) begin
    done_short_count_reg <= done_short_count_reg + {51'd0, done_short_incr};
    if (rst) done_short_count_reg <= 64'h0;
end

// done_short: high word as it was when the low one was read
reg [31:0] done_short_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h05a) done_short_high_reg <= done_short_count_reg[63:32];
end

// write_tlps.count: counts what hardware adds
reg [63:0] write_tlps_count_reg;

always @(posedge clk) begin
    write_tlps_count_reg <= write_tlps_count_reg + {51'd0, write_tlps_incr};
    if (rst) write_tlps_count_reg <= 64'h0;
end

// write_tlps: high word as it was when the low one was read
reg [31:0] write_tlps_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h05c) write_tlps_high_reg <= write_tlps_count_reg[63:32];
end

// read_tlps.count: counts what hardware adds
reg [63:0] read_tlps_count_reg;

always @(posedge clk) begin
    read_tlps_count_reg <= read_tlps_count_reg + {51'd0, read_tlps_incr};
    if (rst) read_tlps_count_reg <= 64'h0;
end

// read_tlps: high word as it was when the low one was read
reg [31:0] read_tlps_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h05e) read_tlps_high_reg <= read_tlps_count_reg[63:32];
end

// flush_tlps.count: counts what hardware adds
reg [63:0] flush_tlps_count_reg;

always @(posedge clk) begin
    flush_tlps_count_reg <= flush_tlps_count_reg + {51'd0, flush_tlps_incr};
    if (rst) flush_tlps_count_reg <= 64'h0;
end

// flush_tlps: high word as it was when the low one was read
reg [31:0] flush_tlps_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h060) flush_tlps_high_reg <= flush_tlps_count_reg[63:32];
end

// write_bytes.count: counts what hardware adds
reg [63:0] write_bytes_count_reg;

always @(posedge clk) begin
    write_bytes_count_reg <= write_bytes_count_reg + {51'd0, write_bytes_incr};
    if (rst) write_bytes_count_reg <= 64'h0;
end

// write_bytes: high word as it was when the low one was read
reg [31:0] write_bytes_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h062) write_bytes_high_reg <= write_bytes_count_reg[63:32];
end

// read_bytes.count: counts what hardware adds
reg [63:0] read_bytes_count_reg;

always @(posedge clk) begin
    read_bytes_count_reg <= read_bytes_count_reg + {51'd0, read_bytes_incr};
    if (rst) read_bytes_count_reg <= 64'h0;
end

// read_bytes: high word as it was when the low one was read
reg [31:0] read_bytes_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h064) read_bytes_high_reg <= read_bytes_count_reg[63:32];
end

// completions.count: counts what hardware adds
reg [63:0] completions_count_reg;

always @(posedge clk) begin
    completions_count_reg <= completions_count_reg + {51'd0, completions_incr};
    if (rst) completions_count_reg <= 64'h0;
end

// completions: high word as it was when the low one was read
reg [31:0] completions_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h066) completions_high_reg <= completions_count_reg[63:32];
end

// unexpected.count: counts what hardware adds
reg [63:0] unexpected_count_reg;

always @(posedge clk) begin
    unexpected_count_reg <= unexpected_count_reg + {51'd0, unexpected_incr};
    if (rst) unexpected_count_reg <= 64'h0;
end

// unexpected: high word as it was when the low one was read
reg [31:0] unexpected_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h068) unexpected_high_reg <= unexpected_count_reg[63:32];
end

// answer
always @(posedge clk) begin
    ack_reg <= bus_access;
    if (bus_access) begin
        error_reg <= 1'b0;
        case (bus_word)
            12'h000: rdata_reg <= {14'd0, 2'h3, 8'h1, 8'h9};  // id
            12'h001: rdata_reg <= {size_pages_in, size_regions_in, size_requesters_in};  // size
            12'h002: rdata_reg <= {12'd0, control_ns_bar_reg, control_ns_host_reg, control_ido_reg, control_ro_reg, 2'd0, control_tags_reg, 3'd0, control_rcb_reg, 1'd0, control_mrrs_reg, 1'd0, control_mps_reg};  // control
            12'h003: rdata_reg <= {16'd0, requester_id_rid_reg};  // requester_id
            12'h004: rdata_reg <= timeout_ns_reg;  // timeout
            12'h005: rdata_reg <= {24'd0, physical_on_reg};  // physical
            12'h008: rdata_reg <= key_value_reg;  // key
            12'h009: rdata_reg <= {form_first_reg, 2'd0, form_page_size_reg, 3'd0, form_target_reg, 3'd0, form_rights_reg};  // form
            12'h00a: rdata_reg <= base_value_reg[31:0];  // base
            12'h00b: rdata_reg <= base_value_reg[63:32];  // base (high)
            12'h00c: rdata_reg <= length_value_reg[31:0];  // length
            12'h00d: rdata_reg <= length_value_reg[63:32];  // length (high)
            12'h00e: rdata_reg <= page_value_reg[31:0];  // page
            12'h00f: rdata_reg <= page_value_reg[63:32];  // page (high)
            12'h040: rdata_reg <= requests_count_reg[31:0];  // requests
            12'h041: rdata_reg <= requests_high_reg;  // requests (high)
            12'h042: rdata_reg <= done_ok_count_reg[31:0];  // done_ok
            12'h043: rdata_reg <= done_ok_high_reg;  // done_ok (high)
            12'h044: rdata_reg <= done_no_region_count_reg[31:0];  // done_no_region
            12'h045: rdata_reg <= done_no_region_high_reg;  // done_no_region (high)
            12'h046: rdata_reg <= done_bounds_count_reg[31:0];  // done_bounds
            12'h047: rdata_reg <= done_bounds_high_reg;  // done_bounds (high)
            12'h048: rdata_reg <= done_rights_count_reg[31:0];  // done_rights
            12'h049: rdata_reg <= done_rights_high_reg;  // done_rights (high)
            12'h04a: rdata_reg <= done_no_page_count_reg[31:0];  // done_no_page
            12'h04b: rdata_reg <= done_no_page_high_reg;  // done_no_page (high)
            12'h04c: rdata_reg <= done_bad_length_count_reg[31:0];  // done_bad_length
            12'h04d: rdata_reg <= done_bad_length_high_reg;  // done_bad_length (high)
            12'h04e: rdata_reg <= done_unsupported_count_reg[31:0];  // done_unsupported
            12'h04f: rdata_reg <= done_unsupported_high_reg;  // done_unsupported (high)
            12'h050: rdata_reg <= done_aborted_count_reg[31:0];  // done_aborted
            12'h051: rdata_reg <= done_aborted_high_reg;  // done_aborted (high)
            12'h052: rdata_reg <= done_poisoned_count_reg[31:0];  // done_poisoned
            12'h053: rdata_reg <= done_poisoned_high_reg;  // done_poisoned (high)
            12'h054: rdata_reg <= done_timeout_count_reg[31:0];  // done_timeout
            12'h055: rdata_reg <= done_timeout_high_reg;  // done_timeout (high)
            12'h056: rdata_reg <= done_bad_count_count_reg[31:0];  // done_bad_count
            12'h057: rdata_reg <= done_bad_count_high_reg;  // done_bad_count (high)
            12'h058: rdata_reg <= done_bad_address_count_reg[31:0];  // done_bad_address
            12'h059: rdata_reg <= done_bad_address_high_reg;  // done_bad_address (high)
            12'h05a: rdata_reg <= done_short_count_reg[31:0];  // done_short
            12'h05b: rdata_reg <= done_short_high_reg;  // done_short (high)
            12'h05c: rdata_reg <= write_tlps_count_reg[31:0];  // write_tlps
            12'h05d: rdata_reg <= write_tlps_high_reg;  // write_tlps (high)
            12'h05e: rdata_reg <= read_tlps_count_reg[31:0];  // read_tlps
            12'h05f: rdata_reg <= read_tlps_high_reg;  // read_tlps (high)
            12'h060: rdata_reg <= flush_tlps_count_reg[31:0];  // flush_tlps
            12'h061: rdata_reg <= flush_tlps_high_reg;  // flush_tlps (high)
            12'h062: rdata_reg <= write_bytes_count_reg[31:0];  // write_bytes
            12'h063: rdata_reg <= write_bytes_high_reg;  // write_bytes (high)
            12'h064: rdata_reg <= read_bytes_count_reg[31:0];  // read_bytes
            12'h065: rdata_reg <= read_bytes_high_reg;  // read_bytes (high)
            12'h066: rdata_reg <= completions_count_reg[31:0];  // completions
            12'h067: rdata_reg <= completions_high_reg;  // completions (high)
            12'h068: rdata_reg <= unexpected_count_reg[31:0];  // unexpected
            12'h069: rdata_reg <= unexpected_high_reg;  // unexpected (high)
            12'h06c: rdata_reg <= {held_lines_in, 5'd0, held_tags_in};  // held
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
