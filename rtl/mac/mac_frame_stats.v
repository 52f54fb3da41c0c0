// Sorts a good frame into the counters that mac_tx and mac_rx share (RFC 2819, RFC 3635): strobes of one cycle.
//
// Latency 1. `bytes`: with FCS. Unicast, multicast and broadcast exclude each other. bytes_ok is 0 but beside frames_ok.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_frame_stats (
    input  wire        clk,
    input  wire        rst,

    input  wire        s_valid,
    input  wire [15:0] s_bytes,
    input  wire        s_group,        // bit 0 of the destination's first byte
    input  wire        s_broadcast,
    input  wire        s_pause,        // EtherType 0x8808

    output reg         frames_ok,
    output reg  [15:0] bytes_ok,
    output reg         unicast,
    output reg         multicast,
    output reg         broadcast,
    output reg         pause,
    output reg         size_64,
    output reg         size_65_127,
    output reg         size_128_255,
    output reg         size_256_511,
    output reg         size_512_1023,
    output reg         size_1024_1518,
    output reg         size_1519_max
);

wire long = s_bytes > 16'd1518;

always @(posedge clk) begin
    frames_ok <= s_valid && !rst;
    bytes_ok <= s_valid && !rst ? s_bytes : 16'd0;
    unicast <= s_valid && !s_group && !rst;
    multicast <= s_valid && s_group && !s_broadcast && !rst;
    broadcast <= s_valid && s_broadcast && !rst;
    pause <= s_valid && s_pause && !rst;
    size_64 <= s_valid && s_bytes == 16'd64 && !rst;
    size_65_127 <= s_valid && s_bytes[15:7] == 9'd0 && s_bytes != 16'd64 && !rst;
    size_128_255 <= s_valid && s_bytes[15:7] == 9'd1 && !rst;
    size_256_511 <= s_valid && s_bytes[15:8] == 8'd1 && !rst;
    size_512_1023 <= s_valid && s_bytes[15:9] == 7'd1 && !rst;
    size_1024_1518 <= s_valid && s_bytes[15:10] != 6'd0 && !long && !rst;
    size_1519_max <= s_valid && long && !rst;
end

endmodule

`resetall
