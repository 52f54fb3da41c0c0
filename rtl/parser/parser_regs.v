// Generated from rtl/parser/parser.rdl by `make generate`: do not edit.

`resetall
`timescale 1ns / 1ps
`default_nettype none

/*
 * Registers: Parser
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
 *   0x0004 drop, 32 bit
 *           15:0 codes: written by software
 *   0x0040 frames, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0080 l2_truncated, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0088 l3_truncated, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0090 bad_ip_version, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x0098 bad_ihl, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00a0 bad_l3_length, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00a8 too_deep, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00b0 ext_truncated, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00b8 l4_truncated, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00c0 bad_tcp_offset, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00c8 bad_udp_length, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00d0 bth_truncated, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00d8 esp_truncated, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00e0 l3_beyond_frame, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00e8 tunnel_truncated, 64 bit
 *           63:0 count: counts what hardware adds
 *   0x00f0 bad_tunnel, 64 bit
 *           63:0 count: counts what hardware adds
 */
module parser_regs (
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

    // drop at 0x0004
    output wire [15:0] drop_codes,

    // frames at 0x0040
    input  wire        frames_incr,

    // l2_truncated at 0x0080
    input  wire        l2_truncated_incr,

    // l3_truncated at 0x0088
    input  wire        l3_truncated_incr,

    // bad_ip_version at 0x0090
    input  wire        bad_ip_version_incr,

    // bad_ihl at 0x0098
    input  wire        bad_ihl_incr,

    // bad_l3_length at 0x00a0
    input  wire        bad_l3_length_incr,

    // too_deep at 0x00a8
    input  wire        too_deep_incr,

    // ext_truncated at 0x00b0
    input  wire        ext_truncated_incr,

    // l4_truncated at 0x00b8
    input  wire        l4_truncated_incr,

    // bad_tcp_offset at 0x00c0
    input  wire        bad_tcp_offset_incr,

    // bad_udp_length at 0x00c8
    input  wire        bad_udp_length_incr,

    // bth_truncated at 0x00d0
    input  wire        bth_truncated_incr,

    // esp_truncated at 0x00d8
    input  wire        esp_truncated_incr,

    // l3_beyond_frame at 0x00e0
    input  wire        l3_beyond_frame_incr,

    // tunnel_truncated at 0x00e8
    input  wire        tunnel_truncated_incr,

    // bad_tunnel at 0x00f0
    input  wire        bad_tunnel_incr
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
wire bus_unused = &{1'b0, reg_addr[1:0], reg_write, reg_wdata, reg_wstrb};

// drop
reg [15:0] drop_codes_reg;

always @(posedge clk) begin
    if (bus_write && bus_word == 12'h001) begin
        if (reg_wstrb[0]) drop_codes_reg[7:0] <= reg_wdata[7:0];
        if (reg_wstrb[1]) drop_codes_reg[15:8] <= reg_wdata[15:8];
    end
    if (rst) begin
        drop_codes_reg <= 16'h0;
    end
end
assign drop_codes = drop_codes_reg;

// frames.count: counts what hardware adds
reg [63:0] frames_count_reg;

always @(posedge clk) begin
    frames_count_reg <= frames_count_reg + {63'd0, frames_incr};
    if (rst) frames_count_reg <= 64'h0;
end

// frames: high word as it was when the low one was read
reg [31:0] frames_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h010) frames_high_reg <= frames_count_reg[63:32];
end

// l2_truncated.count: counts what hardware adds
reg [63:0] l2_truncated_count_reg;

always @(posedge clk) begin
    l2_truncated_count_reg <= l2_truncated_count_reg + {63'd0, l2_truncated_incr};
    if (rst) l2_truncated_count_reg <= 64'h0;
end

// l2_truncated: high word as it was when the low one was read
reg [31:0] l2_truncated_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h020) l2_truncated_high_reg <= l2_truncated_count_reg[63:32];
end

// l3_truncated.count: counts what hardware adds
reg [63:0] l3_truncated_count_reg;

always @(posedge clk) begin
    l3_truncated_count_reg <= l3_truncated_count_reg + {63'd0, l3_truncated_incr};
    if (rst) l3_truncated_count_reg <= 64'h0;
end

// l3_truncated: high word as it was when the low one was read
reg [31:0] l3_truncated_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h022) l3_truncated_high_reg <= l3_truncated_count_reg[63:32];
end

// bad_ip_version.count: counts what hardware adds
reg [63:0] bad_ip_version_count_reg;

always @(posedge clk) begin
    bad_ip_version_count_reg <= bad_ip_version_count_reg + {63'd0, bad_ip_version_incr};
    if (rst) bad_ip_version_count_reg <= 64'h0;
end

// bad_ip_version: high word as it was when the low one was read
reg [31:0] bad_ip_version_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h024) bad_ip_version_high_reg <= bad_ip_version_count_reg[63:32];
end

// bad_ihl.count: counts what hardware adds
reg [63:0] bad_ihl_count_reg;

always @(posedge clk) begin
    bad_ihl_count_reg <= bad_ihl_count_reg + {63'd0, bad_ihl_incr};
    if (rst) bad_ihl_count_reg <= 64'h0;
end

// bad_ihl: high word as it was when the low one was read
reg [31:0] bad_ihl_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h026) bad_ihl_high_reg <= bad_ihl_count_reg[63:32];
end

// bad_l3_length.count: counts what hardware adds
reg [63:0] bad_l3_length_count_reg;

always @(posedge clk) begin
    bad_l3_length_count_reg <= bad_l3_length_count_reg + {63'd0, bad_l3_length_incr};
    if (rst) bad_l3_length_count_reg <= 64'h0;
end

// bad_l3_length: high word as it was when the low one was read
reg [31:0] bad_l3_length_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h028) bad_l3_length_high_reg <= bad_l3_length_count_reg[63:32];
end

// too_deep.count: counts what hardware adds
reg [63:0] too_deep_count_reg;

always @(posedge clk) begin
    too_deep_count_reg <= too_deep_count_reg + {63'd0, too_deep_incr};
    if (rst) too_deep_count_reg <= 64'h0;
end

// too_deep: high word as it was when the low one was read
reg [31:0] too_deep_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h02a) too_deep_high_reg <= too_deep_count_reg[63:32];
end

// ext_truncated.count: counts what hardware adds
reg [63:0] ext_truncated_count_reg;

always @(posedge clk) begin
    ext_truncated_count_reg <= ext_truncated_count_reg + {63'd0, ext_truncated_incr};
    if (rst) ext_truncated_count_reg <= 64'h0;
end

// ext_truncated: high word as it was when the low one was read
reg [31:0] ext_truncated_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h02c) ext_truncated_high_reg <= ext_truncated_count_reg[63:32];
end

// l4_truncated.count: counts what hardware adds
reg [63:0] l4_truncated_count_reg;

always @(posedge clk) begin
    l4_truncated_count_reg <= l4_truncated_count_reg + {63'd0, l4_truncated_incr};
    if (rst) l4_truncated_count_reg <= 64'h0;
end

// l4_truncated: high word as it was when the low one was read
reg [31:0] l4_truncated_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h02e) l4_truncated_high_reg <= l4_truncated_count_reg[63:32];
end

// bad_tcp_offset.count: counts what hardware adds
reg [63:0] bad_tcp_offset_count_reg;

always @(posedge clk) begin
    bad_tcp_offset_count_reg <= bad_tcp_offset_count_reg + {63'd0, bad_tcp_offset_incr};
    if (rst) bad_tcp_offset_count_reg <= 64'h0;
end

// bad_tcp_offset: high word as it was when the low one was read
reg [31:0] bad_tcp_offset_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h030) bad_tcp_offset_high_reg <= bad_tcp_offset_count_reg[63:32];
end

// bad_udp_length.count: counts what hardware adds
reg [63:0] bad_udp_length_count_reg;

always @(posedge clk) begin
    bad_udp_length_count_reg <= bad_udp_length_count_reg + {63'd0, bad_udp_length_incr};
    if (rst) bad_udp_length_count_reg <= 64'h0;
end

// bad_udp_length: high word as it was when the low one was read
reg [31:0] bad_udp_length_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h032) bad_udp_length_high_reg <= bad_udp_length_count_reg[63:32];
end

// bth_truncated.count: counts what hardware adds
reg [63:0] bth_truncated_count_reg;

always @(posedge clk) begin
    bth_truncated_count_reg <= bth_truncated_count_reg + {63'd0, bth_truncated_incr};
    if (rst) bth_truncated_count_reg <= 64'h0;
end

// bth_truncated: high word as it was when the low one was read
reg [31:0] bth_truncated_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h034) bth_truncated_high_reg <= bth_truncated_count_reg[63:32];
end

// esp_truncated.count: counts what hardware adds
reg [63:0] esp_truncated_count_reg;

always @(posedge clk) begin
    esp_truncated_count_reg <= esp_truncated_count_reg + {63'd0, esp_truncated_incr};
    if (rst) esp_truncated_count_reg <= 64'h0;
end

// esp_truncated: high word as it was when the low one was read
reg [31:0] esp_truncated_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h036) esp_truncated_high_reg <= esp_truncated_count_reg[63:32];
end

// l3_beyond_frame.count: counts what hardware adds
reg [63:0] l3_beyond_frame_count_reg;

always @(posedge clk) begin
    l3_beyond_frame_count_reg <= l3_beyond_frame_count_reg + {63'd0, l3_beyond_frame_incr};
    if (rst) l3_beyond_frame_count_reg <= 64'h0;
end

// l3_beyond_frame: high word as it was when the low one was read
reg [31:0] l3_beyond_frame_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h038) l3_beyond_frame_high_reg <= l3_beyond_frame_count_reg[63:32];
end

// tunnel_truncated.count: counts what hardware adds
reg [63:0] tunnel_truncated_count_reg;

always @(posedge clk) begin
    tunnel_truncated_count_reg <= tunnel_truncated_count_reg + {63'd0, tunnel_truncated_incr};
    if (rst) tunnel_truncated_count_reg <= 64'h0;
end

// tunnel_truncated: high word as it was when the low one was read
reg [31:0] tunnel_truncated_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h03a) tunnel_truncated_high_reg <= tunnel_truncated_count_reg[63:32];
end

// bad_tunnel.count: counts what hardware adds
reg [63:0] bad_tunnel_count_reg;

always @(posedge clk) begin
    bad_tunnel_count_reg <= bad_tunnel_count_reg + {63'd0, bad_tunnel_incr};
    if (rst) bad_tunnel_count_reg <= 64'h0;
end

// bad_tunnel: high word as it was when the low one was read
reg [31:0] bad_tunnel_high_reg;

always @(posedge clk) begin
    if (bus_read && bus_word == 12'h03c) bad_tunnel_high_reg <= bad_tunnel_count_reg[63:32];
end

// answer
always @(posedge clk) begin
    ack_reg <= bus_access;
    if (bus_access) begin
        error_reg <= 1'b0;
        case (bus_word)
            12'h000: rdata_reg <= {14'd0, 2'h3, 8'h1, 8'h2};  // id
            12'h001: rdata_reg <= {16'd0, drop_codes_reg};  // drop
            12'h010: rdata_reg <= frames_count_reg[31:0];  // frames
            12'h011: rdata_reg <= frames_high_reg;  // frames (high)
            12'h020: rdata_reg <= l2_truncated_count_reg[31:0];  // l2_truncated
            12'h021: rdata_reg <= l2_truncated_high_reg;  // l2_truncated (high)
            12'h022: rdata_reg <= l3_truncated_count_reg[31:0];  // l3_truncated
            12'h023: rdata_reg <= l3_truncated_high_reg;  // l3_truncated (high)
            12'h024: rdata_reg <= bad_ip_version_count_reg[31:0];  // bad_ip_version
            12'h025: rdata_reg <= bad_ip_version_high_reg;  // bad_ip_version (high)
            12'h026: rdata_reg <= bad_ihl_count_reg[31:0];  // bad_ihl
            12'h027: rdata_reg <= bad_ihl_high_reg;  // bad_ihl (high)
            12'h028: rdata_reg <= bad_l3_length_count_reg[31:0];  // bad_l3_length
            12'h029: rdata_reg <= bad_l3_length_high_reg;  // bad_l3_length (high)
            12'h02a: rdata_reg <= too_deep_count_reg[31:0];  // too_deep
            12'h02b: rdata_reg <= too_deep_high_reg;  // too_deep (high)
            12'h02c: rdata_reg <= ext_truncated_count_reg[31:0];  // ext_truncated
            12'h02d: rdata_reg <= ext_truncated_high_reg;  // ext_truncated (high)
            12'h02e: rdata_reg <= l4_truncated_count_reg[31:0];  // l4_truncated
            12'h02f: rdata_reg <= l4_truncated_high_reg;  // l4_truncated (high)
            12'h030: rdata_reg <= bad_tcp_offset_count_reg[31:0];  // bad_tcp_offset
            12'h031: rdata_reg <= bad_tcp_offset_high_reg;  // bad_tcp_offset (high)
            12'h032: rdata_reg <= bad_udp_length_count_reg[31:0];  // bad_udp_length
            12'h033: rdata_reg <= bad_udp_length_high_reg;  // bad_udp_length (high)
            12'h034: rdata_reg <= bth_truncated_count_reg[31:0];  // bth_truncated
            12'h035: rdata_reg <= bth_truncated_high_reg;  // bth_truncated (high)
            12'h036: rdata_reg <= esp_truncated_count_reg[31:0];  // esp_truncated
            12'h037: rdata_reg <= esp_truncated_high_reg;  // esp_truncated (high)
            12'h038: rdata_reg <= l3_beyond_frame_count_reg[31:0];  // l3_beyond_frame
            12'h039: rdata_reg <= l3_beyond_frame_high_reg;  // l3_beyond_frame (high)
            12'h03a: rdata_reg <= tunnel_truncated_count_reg[31:0];  // tunnel_truncated
            12'h03b: rdata_reg <= tunnel_truncated_high_reg;  // tunnel_truncated (high)
            12'h03c: rdata_reg <= bad_tunnel_count_reg[31:0];  // bad_tunnel
            12'h03d: rdata_reg <= bad_tunnel_high_reg;  // bad_tunnel (high)
            default: begin
                error_reg <= 1'b1;
                rdata_reg <= 32'd0;
            end
        endcase
    end
    if (rst) ack_reg <= 1'b0;
end

endmodule

`resetall
