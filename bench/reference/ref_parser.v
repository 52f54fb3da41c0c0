// Header to key: gathers a frame's first three beats and takes the key from them. Part of the frozen reference design:
// bench/README.md. Latency 2 cycles from the third beat (or the last one), one beat a cycle while `en`.
//
// Ethernet II, up to two VLAN tags, IPv4 or IPv6; IEEE 802.3 clause 3, IEEE 802.1Q clause 9, RFC 791, RFC 8200.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ref_parser (
    input  wire         clk,
    input  wire         rst,
    input  wire         en,
    input  wire         valid,
    input  wire         last,
    input  wire [127:0] data,
    output reg          key_valid_reg,
    output reg  [127:0] key_reg
);

    reg [1:0]   beat_reg;
    reg [383:0] header_reg;
    reg         complete_reg;

    // Byte 0 of the frame in the low bits; what stands behind the tags moves down by 4 bytes a tag.
    wire        tag1 = header_reg[111:96] == 16'h0081 || header_reg[111:96] == 16'ha888;
    wire        tag2 = tag1 && header_reg[143:128] == 16'h0081;
    wire [15:0] vlan = tag1 ? header_reg[127:112] : 16'h0000;
    wire [207:0] network = tag2 ? header_reg[367:160] : tag1 ? header_reg[335:128] : header_reg[303:96];
    wire         unused = &{1'b0, network[79:24], header_reg[383:368]};
    wire [15:0] ethertype = network[15:0];
    wire        ipv4 = ethertype == 16'h0008 && network[23:20] == 4'h4;
    wire        ipv6 = ethertype == 16'hdd86 && network[23:20] == 4'h6;
    wire        options = ipv4 && network[19:16] != 4'h5;
    wire        transport = ipv4 && !options && (network[95:88] == 8'h06 || network[95:88] == 8'h11);

    always @(posedge clk) begin
        if (en) begin
            complete_reg <= valid && (beat_reg == 2'd2 || (last && beat_reg < 2'd2));
            key_valid_reg <= complete_reg;
            if (valid) begin
                beat_reg <= last ? 2'd0 : beat_reg == 2'd3 ? 2'd3 : beat_reg + 2'd1;
                case (beat_reg)
                    2'd0: header_reg <= {256'd0, data};
                    2'd1: header_reg[255:128] <= data;
                    2'd2: header_reg[383:256] <= data;
                    default: ;
                endcase
            end
            if (complete_reg) begin
                key_reg[15:0] <= ethertype;
                key_reg[31:16] <= vlan;
                if (ipv4) key_reg[95:32] <= network[175:112];
                else if (ipv6) key_reg[95:32] <= network[143:80] ^ network[207:144];
                else key_reg[95:32] <= header_reg[63:0];
                key_reg[127:96] <= transport ? network[207:176] : header_reg[95:64];
            end
        end
        if (rst) begin
            beat_reg <= 2'd0;
            complete_reg <= 1'b0;
            key_valid_reg <= 1'b0;
        end
    end

endmodule

`resetall
