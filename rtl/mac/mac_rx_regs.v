// Generated from rtl/mac/mac_rx.rdl by `make generate`: do not edit.

`resetall
`timescale 1ns / 1ps
`default_nettype none

/*
 * Registers: Receive MAC
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
 *          31:16 max_frame: written by software
 *   0x0008 status, 32 bit
 *              0 local_fault: driven by hardware
 *              1 remote_fault: driven by hardware
 *              2 clock: driven by hardware
 *              8 local_fault_seen: set by hardware, cleared by writing 1
 *              9 remote_fault_seen: set by hardware, cleared by writing 1
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
 *   0x0160 fcs_errors, 64 bit, kept outside
 *   0x0168 undersize, 64 bit, kept outside
 *   0x0170 fragments, 64 bit, kept outside
 *   0x0178 oversize, 64 bit, kept outside
 *   0x0180 jabbers, 64 bit, kept outside
 *   0x0188 symbol_errors, 64 bit, kept outside
 *   0x0190 bad_preamble, 64 bit, kept outside
 *   0x0198 local_faults, 64 bit, kept outside
 *   0x01a0 remote_faults, 64 bit, kept outside
 *   0x01a8 overflow_cut, 64 bit, kept outside
 *   0x01b0 overflow_lost, 64 bit, kept outside
 *   0x01b8 bytes_ok, 64 bit, kept outside
 */
module mac_rx_regs (
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
    output wire [15:0] control_max_frame,

    // status at 0x0008
    input  wire        status_local_fault_in,
    input  wire        status_remote_fault_in,
    input  wire        status_clock_in,
    input  wire        status_local_fault_seen_set,
    input  wire        status_remote_fault_seen_set,

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

    // fcs_errors at 0x0160
    output wire        fcs_errors_req,
    output wire        fcs_errors_word,
    input  wire        fcs_errors_ack,
    input  wire [31:0] fcs_errors_rdata,

    // undersize at 0x0168
    output wire        undersize_req,
    output wire        undersize_word,
    input  wire        undersize_ack,
    input  wire [31:0] undersize_rdata,

    // fragments at 0x0170
    output wire        fragments_req,
    output wire        fragments_word,
    input  wire        fragments_ack,
    input  wire [31:0] fragments_rdata,

    // oversize at 0x0178
    output wire        oversize_req,
    output wire        oversize_word,
    input  wire        oversize_ack,
    input  wire [31:0] oversize_rdata,

    // jabbers at 0x0180
    output wire        jabbers_req,
    output wire        jabbers_word,
    input  wire        jabbers_ack,
    input  wire [31:0] jabbers_rdata,

    // symbol_errors at 0x0188
    output wire        symbol_errors_req,
    output wire        symbol_errors_word,
    input  wire        symbol_errors_ack,
    input  wire [31:0] symbol_errors_rdata,

    // bad_preamble at 0x0190
    output wire        bad_preamble_req,
    output wire        bad_preamble_word,
    input  wire        bad_preamble_ack,
    input  wire [31:0] bad_preamble_rdata,

    // local_faults at 0x0198
    output wire        local_faults_req,
    output wire        local_faults_word,
    input  wire        local_faults_ack,
    input  wire [31:0] local_faults_rdata,

    // remote_faults at 0x01a0
    output wire        remote_faults_req,
    output wire        remote_faults_word,
    input  wire        remote_faults_ack,
    input  wire [31:0] remote_faults_rdata,

    // overflow_cut at 0x01a8
    output wire        overflow_cut_req,
    output wire        overflow_cut_word,
    input  wire        overflow_cut_ack,
    input  wire [31:0] overflow_cut_rdata,

    // overflow_lost at 0x01b0
    output wire        overflow_lost_req,
    output wire        overflow_lost_word,
    input  wire        overflow_lost_ack,
    input  wire [31:0] overflow_lost_rdata,

    // bytes_ok at 0x01b8
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
reg [15:0] control_max_frame_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h001) begin
        if (reg_wstrb[0]) control_enable_reg <= reg_wdata[0];
        if (reg_wstrb[2]) control_max_frame_reg[7:0] <= reg_wdata[23:16];
        if (reg_wstrb[3]) control_max_frame_reg[15:8] <= reg_wdata[31:24];
    end
    if (rst) begin
        control_enable_reg <= 1'h1;
        control_max_frame_reg <= 16'h257c;
    end
end
assign control_enable = control_enable_reg;
assign control_max_frame = control_max_frame_reg;

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

// status.local_fault_seen: set by hardware, cleared by writing 1
reg status_local_fault_seen_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h002 && reg_wstrb[1] && reg_wdata[8]) status_local_fault_seen_reg <= 1'b0;
    if (status_local_fault_seen_set) status_local_fault_seen_reg <= 1'b1;
    if (rst) status_local_fault_seen_reg <= 1'h0;
end

// status.remote_fault_seen: set by hardware, cleared by writing 1
reg status_remote_fault_seen_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h002 && reg_wstrb[1] && reg_wdata[9]) status_remote_fault_seen_reg <= 1'b0;
    if (status_remote_fault_seen_set) status_remote_fault_seen_reg <= 1'b1;
    if (rst) status_remote_fault_seen_reg <= 1'h0;
end

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

// fcs_errors: kept outside, read through its own port
wire fcs_errors_select = reg_addr[13:3] == 11'h2c;
assign fcs_errors_req = bus_read && fcs_errors_select;
assign fcs_errors_word = reg_addr[2];

// undersize: kept outside, read through its own port
wire undersize_select = reg_addr[13:3] == 11'h2d;
assign undersize_req = bus_read && undersize_select;
assign undersize_word = reg_addr[2];

// fragments: kept outside, read through its own port
wire fragments_select = reg_addr[13:3] == 11'h2e;
assign fragments_req = bus_read && fragments_select;
assign fragments_word = reg_addr[2];

// oversize: kept outside, read through its own port
wire oversize_select = reg_addr[13:3] == 11'h2f;
assign oversize_req = bus_read && oversize_select;
assign oversize_word = reg_addr[2];

// jabbers: kept outside, read through its own port
wire jabbers_select = reg_addr[13:3] == 11'h30;
assign jabbers_req = bus_read && jabbers_select;
assign jabbers_word = reg_addr[2];

// symbol_errors: kept outside, read through its own port
wire symbol_errors_select = reg_addr[13:3] == 11'h31;
assign symbol_errors_req = bus_read && symbol_errors_select;
assign symbol_errors_word = reg_addr[2];

// bad_preamble: kept outside, read through its own port
wire bad_preamble_select = reg_addr[13:3] == 11'h32;
assign bad_preamble_req = bus_read && bad_preamble_select;
assign bad_preamble_word = reg_addr[2];

// local_faults: kept outside, read through its own port
wire local_faults_select = reg_addr[13:3] == 11'h33;
assign local_faults_req = bus_read && local_faults_select;
assign local_faults_word = reg_addr[2];

// remote_faults: kept outside, read through its own port
wire remote_faults_select = reg_addr[13:3] == 11'h34;
assign remote_faults_req = bus_read && remote_faults_select;
assign remote_faults_word = reg_addr[2];

// overflow_cut: kept outside, read through its own port
wire overflow_cut_select = reg_addr[13:3] == 11'h35;
assign overflow_cut_req = bus_read && overflow_cut_select;
assign overflow_cut_word = reg_addr[2];

// overflow_lost: kept outside, read through its own port
wire overflow_lost_select = reg_addr[13:3] == 11'h36;
assign overflow_lost_req = bus_read && overflow_lost_select;
assign overflow_lost_word = reg_addr[2];

// bytes_ok: kept outside, read through its own port
wire bytes_ok_select = reg_addr[13:3] == 11'h37;
assign bytes_ok_req = bus_read && bytes_ok_select;
assign bytes_ok_word = reg_addr[2];

// answer
always @(posedge clk) begin
    ack_reg <= bus_access;
    if (bus_access) begin
        error_reg <= 1'b0;
        case (bus_word)
            12'h000: rdata_reg <= {14'd0, 2'h3, 8'h1, 8'h1};  // id
            12'h001: rdata_reg <= {control_max_frame_reg, 15'd0, control_enable_reg};  // control
            12'h002: rdata_reg <= {22'd0, status_remote_fault_seen_reg, status_local_fault_seen_reg, 5'd0, status_clock_in, status_remote_fault_in, status_local_fault_in};  // status
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
        if (fcs_errors_select) begin
            ack_reg <= fcs_errors_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= fcs_errors_rdata;
        end
        if (undersize_select) begin
            ack_reg <= undersize_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= undersize_rdata;
        end
        if (fragments_select) begin
            ack_reg <= fragments_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= fragments_rdata;
        end
        if (oversize_select) begin
            ack_reg <= oversize_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= oversize_rdata;
        end
        if (jabbers_select) begin
            ack_reg <= jabbers_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= jabbers_rdata;
        end
        if (symbol_errors_select) begin
            ack_reg <= symbol_errors_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= symbol_errors_rdata;
        end
        if (bad_preamble_select) begin
            ack_reg <= bad_preamble_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= bad_preamble_rdata;
        end
        if (local_faults_select) begin
            ack_reg <= local_faults_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= local_faults_rdata;
        end
        if (remote_faults_select) begin
            ack_reg <= remote_faults_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= remote_faults_rdata;
        end
        if (overflow_cut_select) begin
            ack_reg <= overflow_cut_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= overflow_cut_rdata;
        end
        if (overflow_lost_select) begin
            ack_reg <= overflow_lost_ack || reg_write;
            error_reg <= 1'b0;
            rdata_reg <= overflow_lost_rdata;
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
