// Generated from rtl/mac/mac_tx.rdl by `make generate`: do not edit.

`resetall
`timescale 1ns / 1ps
`default_nettype none

/*
 * Registers: Transmit MAC
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
 *   0x0004 control, 32 bit
 *              0 enable: written by software
 *              1 dic: written by software
 *           15:8 ifg: written by software
 *   0x0008 status, 32 bit
 *              0 local_fault: driven by hardware
 *              1 remote_fault: driven by hardware
 *              2 clock: driven by hardware
 *   0x0010 time_increment, 64 bit
 *           39:0 value: written by software
 *   0x0100 frames_ok, 64 bit, kept outside
 *   0x0108 unicast, 64 bit, kept outside
 *   0x0110 multicast, 64 bit, kept outside
 *   0x0118 broadcast, 64 bit, kept outside
 *   0x0120 size_64, 64 bit, kept outside
 *   0x0128 size_65_127, 64 bit, kept outside
 *   0x0130 size_128_255, 64 bit, kept outside
 *   0x0138 size_256_511, 64 bit, kept outside
 *   0x0140 size_512_1023, 64 bit, kept outside
 *   0x0148 size_1024_1518, 64 bit, kept outside
 *   0x0150 size_1519_max, 64 bit, kept outside
 *   0x0158 pause, 64 bit, kept outside
 *   0x0160 underrun, 64 bit, kept outside
 *   0x0168 errored, 64 bit, kept outside
 *   0x0170 fault_dropped, 64 bit, kept outside
 *   0x0178 bytes_ok, 64 bit, kept outside
 */
module mac_tx_regs (
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

    // control at 0x0004
    output wire        control_enable,
    output wire        control_dic,
    output wire [7:0]  control_ifg,

    // status at 0x0008
    input  wire        status_local_fault_in,
    input  wire        status_remote_fault_in,
    input  wire        status_clock_in,

    // time_increment at 0x0010
    output wire [39:0] time_increment_value,

    // frames_ok at 0x0100
    output wire        frames_ok_req,
    output wire        frames_ok_word,
    input  wire        frames_ok_ack,
    input  wire [31:0] frames_ok_rdata,

    // unicast at 0x0108
    output wire        unicast_req,
    output wire        unicast_word,
    input  wire        unicast_ack,
    input  wire [31:0] unicast_rdata,

    // multicast at 0x0110
    output wire        multicast_req,
    output wire        multicast_word,
    input  wire        multicast_ack,
    input  wire [31:0] multicast_rdata,

    // broadcast at 0x0118
    output wire        broadcast_req,
    output wire        broadcast_word,
    input  wire        broadcast_ack,
    input  wire [31:0] broadcast_rdata,

    // size_64 at 0x0120
    output wire        size_64_req,
    output wire        size_64_word,
    input  wire        size_64_ack,
    input  wire [31:0] size_64_rdata,

    // size_65_127 at 0x0128
    output wire        size_65_127_req,
    output wire        size_65_127_word,
    input  wire        size_65_127_ack,
    input  wire [31:0] size_65_127_rdata,

    // size_128_255 at 0x0130
    output wire        size_128_255_req,
    output wire        size_128_255_word,
    input  wire        size_128_255_ack,
    input  wire [31:0] size_128_255_rdata,

    // size_256_511 at 0x0138
    output wire        size_256_511_req,
    output wire        size_256_511_word,
    input  wire        size_256_511_ack,
    input  wire [31:0] size_256_511_rdata,

    // size_512_1023 at 0x0140
    output wire        size_512_1023_req,
    output wire        size_512_1023_word,
    input  wire        size_512_1023_ack,
    input  wire [31:0] size_512_1023_rdata,

    // size_1024_1518 at 0x0148
    output wire        size_1024_1518_req,
    output wire        size_1024_1518_word,
    input  wire        size_1024_1518_ack,
    input  wire [31:0] size_1024_1518_rdata,

    // size_1519_max at 0x0150
    output wire        size_1519_max_req,
    output wire        size_1519_max_word,
    input  wire        size_1519_max_ack,
    input  wire [31:0] size_1519_max_rdata,

    // pause at 0x0158
    output wire        pause_req,
    output wire        pause_word,
    input  wire        pause_ack,
    input  wire [31:0] pause_rdata,

    // underrun at 0x0160
    output wire        underrun_req,
    output wire        underrun_word,
    input  wire        underrun_ack,
    input  wire [31:0] underrun_rdata,

    // errored at 0x0168
    output wire        errored_req,
    output wire        errored_word,
    input  wire        errored_ack,
    input  wire [31:0] errored_rdata,

    // fault_dropped at 0x0170
    output wire        fault_dropped_req,
    output wire        fault_dropped_word,
    input  wire        fault_dropped_ack,
    input  wire [31:0] fault_dropped_rdata,

    // bytes_ok at 0x0178
    output wire        bytes_ok_req,
    output wire        bytes_ok_word,
    input  wire        bytes_ok_ack,
    input  wire [31:0] bytes_ok_rdata
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

// control
reg control_enable_reg;
reg control_dic_reg;
reg [7:0] control_ifg_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h001) begin
        if (reg_wstrb[0]) control_enable_reg <= reg_wdata[0];
        if (reg_wstrb[0]) control_dic_reg <= reg_wdata[1];
        if (reg_wstrb[1]) control_ifg_reg <= reg_wdata[15:8];
    end
    if (rst) begin
        control_enable_reg <= 1'h1;
        control_dic_reg <= 1'h1;
        control_ifg_reg <= 8'hc;
    end
end
assign control_enable = control_enable_reg;
assign control_dic = control_dic_reg;
assign control_ifg = control_ifg_reg;

// time_increment
reg [39:0] time_increment_value_reg;
reg [31:0] time_increment_held_reg;  // low word that waits for the high one
reg [3:0] time_increment_held_strb_reg;  // and which of its bytes were ever written

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h004) begin
        if (reg_wstrb[0]) time_increment_held_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) time_increment_held_reg[15:8] <= reg_wdata[15:8];
        if (reg_wstrb[2]) time_increment_held_reg[23:16] <= reg_wdata[23:16];
        if (reg_wstrb[3]) time_increment_held_reg[31:24] <= reg_wdata[31:24];
        time_increment_held_strb_reg <= time_increment_held_strb_reg | reg_wstrb;
    end
    if (bus_write && bus_word == 12'h005) begin
        if (time_increment_held_strb_reg[0]) time_increment_value_reg[7:0] <= time_increment_held_reg[7:0];
        if (time_increment_held_strb_reg[1]) time_increment_value_reg[15:8] <= time_increment_held_reg[15:8];
        if (time_increment_held_strb_reg[2]) time_increment_value_reg[23:16] <= time_increment_held_reg[23:16];
        if (time_increment_held_strb_reg[3]) time_increment_value_reg[31:24] <= time_increment_held_reg[31:24];
        if (reg_wstrb[0]) time_increment_value_reg[39:32] <= reg_wdata[7:0];
    end
    if (rst) begin
        time_increment_value_reg <= 40'h28f5c28f6;
        time_increment_held_strb_reg <= 4'd0;
    end
end
assign time_increment_value = time_increment_value_reg;

// frames_ok: kept outside, read through its own port
wire frames_ok_select = reg_addr[13:3] == 11'h20;
assign frames_ok_req = bus_read && frames_ok_select;
assign frames_ok_word = reg_addr[2];

// unicast: kept outside, read through its own port
wire unicast_select = reg_addr[13:3] == 11'h21;
assign unicast_req = bus_read && unicast_select;
assign unicast_word = reg_addr[2];

// multicast: kept outside, read through its own port
wire multicast_select = reg_addr[13:3] == 11'h22;
assign multicast_req = bus_read && multicast_select;
assign multicast_word = reg_addr[2];

// broadcast: kept outside, read through its own port
wire broadcast_select = reg_addr[13:3] == 11'h23;
assign broadcast_req = bus_read && broadcast_select;
assign broadcast_word = reg_addr[2];

// size_64: kept outside, read through its own port
wire size_64_select = reg_addr[13:3] == 11'h24;
assign size_64_req = bus_read && size_64_select;
assign size_64_word = reg_addr[2];

// size_65_127: kept outside, read through its own port
wire size_65_127_select = reg_addr[13:3] == 11'h25;
assign size_65_127_req = bus_read && size_65_127_select;
assign size_65_127_word = reg_addr[2];

// size_128_255: kept outside, read through its own port
wire size_128_255_select = reg_addr[13:3] == 11'h26;
assign size_128_255_req = bus_read && size_128_255_select;
assign size_128_255_word = reg_addr[2];

// size_256_511: kept outside, read through its own port
wire size_256_511_select = reg_addr[13:3] == 11'h27;
assign size_256_511_req = bus_read && size_256_511_select;
assign size_256_511_word = reg_addr[2];

// size_512_1023: kept outside, read through its own port
wire size_512_1023_select = reg_addr[13:3] == 11'h28;
assign size_512_1023_req = bus_read && size_512_1023_select;
assign size_512_1023_word = reg_addr[2];

// size_1024_1518: kept outside, read through its own port
wire size_1024_1518_select = reg_addr[13:3] == 11'h29;
assign size_1024_1518_req = bus_read && size_1024_1518_select;
assign size_1024_1518_word = reg_addr[2];

// size_1519_max: kept outside, read through its own port
wire size_1519_max_select = reg_addr[13:3] == 11'h2a;
assign size_1519_max_req = bus_read && size_1519_max_select;
assign size_1519_max_word = reg_addr[2];

// pause: kept outside, read through its own port
wire pause_select = reg_addr[13:3] == 11'h2b;
assign pause_req = bus_read && pause_select;
assign pause_word = reg_addr[2];

// underrun: kept outside, read through its own port
wire underrun_select = reg_addr[13:3] == 11'h2c;
assign underrun_req = bus_read && underrun_select;
assign underrun_word = reg_addr[2];

// errored: kept outside, read through its own port
wire errored_select = reg_addr[13:3] == 11'h2d;
assign errored_req = bus_read && errored_select;
assign errored_word = reg_addr[2];

// fault_dropped: kept outside, read through its own port
wire fault_dropped_select = reg_addr[13:3] == 11'h2e;
assign fault_dropped_req = bus_read && fault_dropped_select;
assign fault_dropped_word = reg_addr[2];

// bytes_ok: kept outside, read through its own port
wire bytes_ok_select = reg_addr[13:3] == 11'h2f;
assign bytes_ok_req = bus_read && bytes_ok_select;
assign bytes_ok_word = reg_addr[2];

// answer
always @(posedge clk) begin
    ack_reg <= bus_access;
    if (bus_access) begin
        error_reg <= 1'b0;
        case (bus_word)
            12'h000: rdata_reg <= {14'd0, 2'h3, 8'h1, 8'h1};  // id
            12'h001: rdata_reg <= {16'd0, control_ifg_reg, 6'd0, control_dic_reg, control_enable_reg};  // control
            12'h002: rdata_reg <= {29'd0, status_clock_in, status_remote_fault_in, status_local_fault_in};  // status
            12'h004: rdata_reg <= time_increment_value_reg[31:0];  // time_increment
            12'h005: rdata_reg <= {24'd0, time_increment_value_reg[39:32]};  // time_increment (high)
            default: begin
                error_reg <= 1'b1;
                rdata_reg <= 32'd0;
            end
        endcase
        if (frames_ok_select) begin
            ack_reg <= frames_ok_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= frames_ok_rdata;
        end
        if (unicast_select) begin
            ack_reg <= unicast_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= unicast_rdata;
        end
        if (multicast_select) begin
            ack_reg <= multicast_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= multicast_rdata;
        end
        if (broadcast_select) begin
            ack_reg <= broadcast_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= broadcast_rdata;
        end
        if (size_64_select) begin
            ack_reg <= size_64_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= size_64_rdata;
        end
        if (size_65_127_select) begin
            ack_reg <= size_65_127_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= size_65_127_rdata;
        end
        if (size_128_255_select) begin
            ack_reg <= size_128_255_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= size_128_255_rdata;
        end
        if (size_256_511_select) begin
            ack_reg <= size_256_511_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= size_256_511_rdata;
        end
        if (size_512_1023_select) begin
            ack_reg <= size_512_1023_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= size_512_1023_rdata;
        end
        if (size_1024_1518_select) begin
            ack_reg <= size_1024_1518_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= size_1024_1518_rdata;
        end
        if (size_1519_max_select) begin
            ack_reg <= size_1519_max_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= size_1519_max_rdata;
        end
        if (pause_select) begin
            ack_reg <= pause_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= pause_rdata;
        end
        if (underrun_select) begin
            ack_reg <= underrun_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= underrun_rdata;
        end
        if (errored_select) begin
            ack_reg <= errored_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= errored_rdata;
        end
        if (fault_dropped_select) begin
            ack_reg <= fault_dropped_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= fault_dropped_rdata;
        end
        if (bytes_ok_select) begin
            ack_reg <= bytes_ok_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= bytes_ok_rdata;
        end
    end
    if (rst) ack_reg <= 1'b0;
end

endmodule

`resetall
