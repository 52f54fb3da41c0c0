// Generated from rtl/nic/nic.rdl by `make generate`: do not edit.

`resetall
`timescale 1ns / 1ps
`default_nettype none

/*
 * Registers: Port
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
 *   0x0004 scratch, 32 bit
 *           31:0 value: written by software
 *   0x0008 control, 32 bit
 *              0 rx_enable: written by software
 *              1 tx_enable: written by software
 *   0x000c max_frame, 32 bit
 *           15:0 bytes: written by software
 *   0x0010 status, 32 bit
 *              0 idle: driven by hardware
 *              1 ready: driven by hardware
 *              2 rx_account_lost: set by hardware, cleared by writing 1
 *              3 tx_account_lost: set by hardware, cleared by writing 1
 *   0x0018 time_increment, 64 bit
 *           39:0 value: written by software
 *   0x0020 now, 64 bit
 *           63:0 ns: driven by hardware
 *   0x0040 rx_frames_in, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0048 rx_bytes_in, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0050 rx_frames_out, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0058 rx_bytes_out, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0060 tx_frames_in, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0068 tx_bytes_in, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0070 tx_frames_out, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0078 tx_bytes_out, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x1000 rx_disposition[128], 64 bit, kept outside
 *   0x2000 tx_disposition[128], 64 bit, kept outside
 */
module nic_regs (
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

    // control at 0x0008
    output wire        control_rx_enable,
    output wire        control_tx_enable,

    // max_frame at 0x000c
    output wire [15:0] max_frame_bytes,

    // status at 0x0010
    input  wire        status_idle_in,
    input  wire        status_ready_in,
    input  wire        status_rx_account_lost_set,
    input  wire        status_tx_account_lost_set,

    // time_increment at 0x0018
    output wire [39:0] time_increment_value,

    // now at 0x0020
    input  wire [63:0] now_ns_in,

    // rx_frames_in at 0x0040
    input  wire        rx_frames_in_incr,

    // rx_bytes_in at 0x0048
    input  wire [15:0] rx_bytes_in_incr,

    // rx_frames_out at 0x0050
    input  wire        rx_frames_out_incr,

    // rx_bytes_out at 0x0058
    input  wire [15:0] rx_bytes_out_incr,

    // tx_frames_in at 0x0060
    input  wire        tx_frames_in_incr,

    // tx_bytes_in at 0x0068
    input  wire [15:0] tx_bytes_in_incr,

    // tx_frames_out at 0x0070
    input  wire        tx_frames_out_incr,

    // tx_bytes_out at 0x0078
    input  wire [15:0] tx_bytes_out_incr,

    // rx_disposition[128] at 0x1000
    output wire        rx_disposition_req,
    output wire [6:0]  rx_disposition_index,
    output wire        rx_disposition_word,
    input  wire        rx_disposition_ack,
    input  wire [31:0] rx_disposition_rdata,

    // tx_disposition[128] at 0x2000
    output wire        tx_disposition_req,
    output wire [6:0]  tx_disposition_index,
    output wire        tx_disposition_word,
    input  wire        tx_disposition_ack,
    input  wire [31:0] tx_disposition_rdata
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
wire bus_unused = &{1'b0, reg_addr[1:0], reg_write, reg_wdata, reg_wstrb, time_increment_held_reg};

// scratch
reg [31:0] scratch_value_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h001) begin
        if (reg_wstrb[0]) scratch_value_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) scratch_value_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) scratch_value_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) scratch_value_reg[31:24] <= reg_wdata[31:24];
    end
    if (rst) begin
        scratch_value_reg <= 32'h0;
    end
end

// control
reg control_rx_enable_reg;
reg control_tx_enable_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h002) begin
        if (reg_wstrb[0]) control_rx_enable_reg <= reg_wdata[0];
        if (reg_wstrb[0]) control_tx_enable_reg <= reg_wdata[1];
    end
    if (rst) begin
        control_rx_enable_reg <= 1'h1;
        control_tx_enable_reg <= 1'h1;
    end
end
assign control_rx_enable = control_rx_enable_reg;
assign control_tx_enable = control_tx_enable_reg;

// max_frame
reg [15:0] max_frame_bytes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h003) begin
        if (reg_wstrb[0]) max_frame_bytes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) max_frame_bytes_reg[15:8] <= reg_wdata[15:8];
    end
    if (rst) begin
        max_frame_bytes_reg <= 16'h257c;
    end
end
assign max_frame_bytes = max_frame_bytes_reg;

// time_increment
reg [39:0] time_increment_value_reg;
reg [31:0] time_increment_held_reg;  // low word that waits for the high one
reg [3:0] time_increment_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h006) begin
        if (reg_wstrb[0]) time_increment_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) time_increment_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) time_increment_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) time_increment_held_reg[31:24] <= reg_wdata[31:24];
        time_increment_held_strb_reg <= time_increment_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h007) begin
        if (time_increment_held_strb_reg[0]) time_increment_value_reg[7:0] <= time_increment_held_reg[7:0];
        if (time_increment_held_strb_reg[1]) time_increment_value_reg[15:8] <= time_increment_held_reg[15:8];
        if (time_increment_held_strb_reg[2]) time_increment_value_reg[23:16] <= time_increment_held_reg[23:16];
        if (time_increment_held_strb_reg[3]) time_increment_value_reg[31:24] <= time_increment_held_reg[31:24];
        if (reg_wstrb[0]) time_increment_value_reg[39:32] <= reg_wdata[7:0];
    end
    if (rst) begin
        time_increment_value_reg <= 40'h400000000;
        time_increment_held_strb_reg <= 4'd0;
    end
end
assign time_increment_value = time_increment_value_reg;

// status.rx_account_lost: set by hardware, cleared by writing 1
reg status_rx_account_lost_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h004 && reg_wstrb[0] && reg_wdata[2]) status_rx_account_lost_reg <= 1'b0;
    if (status_rx_account_lost_set) status_rx_account_lost_reg <= 1'b1;
    if (rst) status_rx_account_lost_reg <= 1'h0;
end

// status.tx_account_lost: set by hardware, cleared by writing 1
reg status_tx_account_lost_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h004 && reg_wstrb[0] && reg_wdata[3]) status_tx_account_lost_reg <= 1'b0;
    if (status_tx_account_lost_set) status_tx_account_lost_reg <= 1'b1;
    if (rst) status_tx_account_lost_reg <= 1'h0;
end

// now: high word as it was when the low one was read
reg [31:0] now_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h008) now_high_reg <= now_ns_in[63:32];
end

// rx_frames_in.count: counts what hardware adds
reg [63:0] rx_frames_in_count_reg;

always @(posedge clk) begin
    rx_frames_in_count_reg <= rx_frames_in_count_reg + {63'd0, rx_frames_in_incr};
    if (rst) rx_frames_in_count_reg <= 64'h0;
end

// rx_frames_in: high word as it was when the low one was read
reg [31:0] rx_frames_in_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h010) rx_frames_in_high_reg <= rx_frames_in_count_reg[63:32];
end

// rx_bytes_in.count: counts what hardware adds
reg [63:0] rx_bytes_in_count_reg;

always @(posedge clk) begin
    rx_bytes_in_count_reg <= rx_bytes_in_count_reg + {48'd0, rx_bytes_in_incr};
    if (rst) rx_bytes_in_count_reg <= 64'h0;
end

// rx_bytes_in: high word as it was when the low one was read
reg [31:0] rx_bytes_in_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h012) rx_bytes_in_high_reg <= rx_bytes_in_count_reg[63:32];
end

// rx_frames_out.count: counts what hardware adds
reg [63:0] rx_frames_out_count_reg;

always @(posedge clk) begin
    rx_frames_out_count_reg <= rx_frames_out_count_reg + {63'd0, rx_frames_out_incr};
    if (rst) rx_frames_out_count_reg <= 64'h0;
end

// rx_frames_out: high word as it was when the low one was read
reg [31:0] rx_frames_out_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h014) rx_frames_out_high_reg <= rx_frames_out_count_reg[63:32];
end

// rx_bytes_out.count: counts what hardware adds
reg [63:0] rx_bytes_out_count_reg;

always @(posedge clk) begin
    rx_bytes_out_count_reg <= rx_bytes_out_count_reg + {48'd0, rx_bytes_out_incr};
    if (rst) rx_bytes_out_count_reg <= 64'h0;
end

// rx_bytes_out: high word as it was when the low one was read
reg [31:0] rx_bytes_out_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h016) rx_bytes_out_high_reg <= rx_bytes_out_count_reg[63:32];
end

// tx_frames_in.count: counts what hardware adds
reg [63:0] tx_frames_in_count_reg;

always @(posedge clk) begin
    tx_frames_in_count_reg <= tx_frames_in_count_reg + {63'd0, tx_frames_in_incr};
    if (rst) tx_frames_in_count_reg <= 64'h0;
end

// tx_frames_in: high word as it was when the low one was read
reg [31:0] tx_frames_in_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h018) tx_frames_in_high_reg <= tx_frames_in_count_reg[63:32];
end

// tx_bytes_in.count: counts what hardware adds
reg [63:0] tx_bytes_in_count_reg;

always @(posedge clk) begin
    tx_bytes_in_count_reg <= tx_bytes_in_count_reg + {48'd0, tx_bytes_in_incr};
    if (rst) tx_bytes_in_count_reg <= 64'h0;
end

// tx_bytes_in: high word as it was when the low one was read
reg [31:0] tx_bytes_in_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h01a) tx_bytes_in_high_reg <= tx_bytes_in_count_reg[63:32];
end

// tx_frames_out.count: counts what hardware adds
reg [63:0] tx_frames_out_count_reg;

always @(posedge clk) begin
    tx_frames_out_count_reg <= tx_frames_out_count_reg + {63'd0, tx_frames_out_incr};
    if (rst) tx_frames_out_count_reg <= 64'h0;
end

// tx_frames_out: high word as it was when the low one was read
reg [31:0] tx_frames_out_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h01c) tx_frames_out_high_reg <= tx_frames_out_count_reg[63:32];
end

// tx_bytes_out.count: counts what hardware adds
reg [63:0] tx_bytes_out_count_reg;

always @(posedge clk) begin
    tx_bytes_out_count_reg <= tx_bytes_out_count_reg + {48'd0, tx_bytes_out_incr};
    if (rst) tx_bytes_out_count_reg <= 64'h0;
end

// tx_bytes_out: high word as it was when the low one was read
reg [31:0] tx_bytes_out_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h01e) tx_bytes_out_high_reg <= tx_bytes_out_count_reg[63:32];
end

// rx_disposition: kept outside, read through its own port
wire rx_disposition_select = reg_addr[13:10] == 4'h4;
assign rx_disposition_req = bus_read && rx_disposition_select;
assign rx_disposition_index = reg_addr[9:3];
assign rx_disposition_word = reg_addr[2];

// tx_disposition: kept outside, read through its own port
wire tx_disposition_select = reg_addr[13:10] == 4'h8;
assign tx_disposition_req = bus_read && tx_disposition_select;
assign tx_disposition_index = reg_addr[9:3];
assign tx_disposition_word = reg_addr[2];

// answer
always @(posedge clk) begin
    ack_reg <= bus_access;
    if (bus_access) begin
        error_reg <= 1'b0;
        case (bus_word)
            12'h000: rdata_reg <= {14'd0, 2'h3, 8'h1, 8'h0};  // id
            12'h001: rdata_reg <= scratch_value_reg;  // scratch
            12'h002: rdata_reg <= {30'd0, control_tx_enable_reg, control_rx_enable_reg};  // control
            12'h003: rdata_reg <= {16'd0, max_frame_bytes_reg};  // max_frame
            12'h004: rdata_reg <= {28'd0, status_tx_account_lost_reg, status_rx_account_lost_reg, status_ready_in, status_idle_in};  // status
            12'h006: rdata_reg <= time_increment_value_reg[31:0];  // time_increment
            12'h007: rdata_reg <= {24'd0, time_increment_value_reg[39:32]};  // time_increment (high)
            12'h008: rdata_reg <= now_ns_in[31:0];  // now
            12'h009: rdata_reg <= now_high_reg;  // now (high)
            12'h010: rdata_reg <= rx_frames_in_count_reg[31:0];  // rx_frames_in
            12'h011: rdata_reg <= rx_frames_in_high_reg;  // rx_frames_in (high)
            12'h012: rdata_reg <= rx_bytes_in_count_reg[31:0];  // rx_bytes_in
            12'h013: rdata_reg <= rx_bytes_in_high_reg;  // rx_bytes_in (high)
            12'h014: rdata_reg <= rx_frames_out_count_reg[31:0];  // rx_frames_out
            12'h015: rdata_reg <= rx_frames_out_high_reg;  // rx_frames_out (high)
            12'h016: rdata_reg <= rx_bytes_out_count_reg[31:0];  // rx_bytes_out
            12'h017: rdata_reg <= rx_bytes_out_high_reg;  // rx_bytes_out (high)
            12'h018: rdata_reg <= tx_frames_in_count_reg[31:0];  // tx_frames_in
            12'h019: rdata_reg <= tx_frames_in_high_reg;  // tx_frames_in (high)
            12'h01a: rdata_reg <= tx_bytes_in_count_reg[31:0];  // tx_bytes_in
            12'h01b: rdata_reg <= tx_bytes_in_high_reg;  // tx_bytes_in (high)
            12'h01c: rdata_reg <= tx_frames_out_count_reg[31:0];  // tx_frames_out
            12'h01d: rdata_reg <= tx_frames_out_high_reg;  // tx_frames_out (high)
            12'h01e: rdata_reg <= tx_bytes_out_count_reg[31:0];  // tx_bytes_out
            12'h01f: rdata_reg <= tx_bytes_out_high_reg;  // tx_bytes_out (high)
            default: begin
                error_reg <= 1'b1;
                rdata_reg <= 32'd0;
            end
        endcase
        if (rx_disposition_select) begin
            ack_reg <= rx_disposition_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= rx_disposition_rdata;
        end
        if (tx_disposition_select) begin
            ack_reg <= tx_disposition_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= tx_disposition_rdata;
        end
    end
    if (rst) ack_reg <= 1'b0;
end

endmodule

`resetall
