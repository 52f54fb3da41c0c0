// ipsec_rx_text: how the text of a decrypted frame leaves: transport or tunnel, its length, what is mended in it, or why not.
//
// From what ipsec_trailer found, in two cycles (`go` in c, all outputs from c + 2 on until two cycles after the next `go`):
// docs/ipsec.md, Receive (the last five checks) and What leaves.
//
// RFC 4303 2.4, 2.6, 2.7; RFC 6040 4.2; RFC 1624; RFC 3948 3.1.2.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_rx_text (
    input  wire         clk,
    input  wire         rst,

    input  wire         go,
    input  wire [15:0]  n,
    input  wire [1:0]   mode,          // of the SA
    input  wire         natt,
    input  wire [15:0]  nat_delta,
    input  wire [1:0]   ecn,           // outside

    input  wire         padded,
    input  wire [7:0]   pad,
    input  wire [7:0]   next_header,
    input  wire [127:0] start,
    input  wire [15:0]  more,

    output wire [6:0]   code,          // 0: it leaves
    output wire         tunnel,
    output wire         inner_ipv6,
    output wire [15:0]  length,        // bytes of text that leave
    output wire         fix_ecn,
    output wire [1:0]   new_ecn,
    output wire [1:0]   fix_sum,       // 1, 2, 3: byte 6, 10, 16 of the text
    output wire [15:0]  new_sum        // first byte in bits 15:8
);

localparam [1:0] NOT_ECT = 2'd0;
localparam [1:0] ECT_1 = 2'd1;
localparam [1:0] ECT_0 = 2'd2;
localparam [1:0] CE = 2'd3;

localparam [7:0] IPV4 = 8'd4;
localparam [7:0] TCP = 8'd6;
localparam [7:0] UDP = 8'd17;
localparam [7:0] IPV6 = 8'd41;
localparam [7:0] NO_NEXT = 8'd59;

// Two bytes as a number
function [15:0] number(input [15:0] bytes);
    number = {bytes[7:0], bytes[15:8]};
endfunction

// Ones' complement
function [15:0] fold(input [17:0] sum);
    reg [16:0] once;
    begin
        once = {1'b0, sum[15:0]} + {15'd0, sum[17:16]};
        fold = once[15:0] + {15'd0, once[16]};
    end
endfunction

// First cycle: kind and lengths

wire is_ip = next_header == IPV4 || next_header == IPV6;
wire is_tunnel = mode == 2'd1 || (mode[1] && is_ip);
wire is_ipv6 = next_header == IPV6;

reg go_reg, fits_reg, padded_reg, dummy_reg, is_ip_reg, tunnel_reg, ipv6_reg, head_reg, tcp_reg, udp_reg, natt_reg;
reg [15:0] text_reg, udp_length_reg, nat_delta_reg;
reg [17:0] inner_reg;          // length of the inner packet by its own header
reg [1:0] outer_reg, ecn_reg;
reg [127:0] start_reg;
reg [15:0] more_reg;

wire [15:0] header_bytes = {10'd0, start[3:0], 2'd0};

always @(posedge clk) begin
    if (go) begin
        fits_reg <= {8'd0, pad} + 16'd2 <= n;
        text_reg <= n - 16'd2 - {8'd0, pad};
        padded_reg <= padded;
        dummy_reg <= next_header == NO_NEXT;
        is_ip_reg <= is_ip;
        tunnel_reg <= is_tunnel;
        ipv6_reg <= is_ipv6;
        tcp_reg <= next_header == TCP;
        udp_reg <= next_header == UDP;
        natt_reg <= natt && nat_delta != 16'd0;
        nat_delta_reg <= nat_delta;
        udp_length_reg <= number(start[47:32]);
        inner_reg <= is_ipv6 ? {2'd0, number(start[47:32])} + 18'd40 : {2'd0, number(start[31:16])};
        head_reg <= is_ipv6 ? start[7:4] == 4'd6
            : start[7:4] == 4'd4 && start[3:0] >= 4'd5 && header_bytes <= number(start[31:16]);
        outer_reg <= ecn;
        ecn_reg <= is_ipv6 ? start[13:12] : start[9:8];
        start_reg <= start;
        more_reg <= more;
    end
end

always @(posedge clk) begin
    go_reg <= go;

    if (rst) begin
        go_reg <= 1'b0;
    end
end

// Second: what is wrong, what changes

reg [7:0] code_now;
reg [1:0] ecn_now;

wire whole = head_reg && text_reg >= (ipv6_reg ? 16'd40 : 16'd20) && inner_reg <= {2'd0, text_reg};
wire bad_ecn = outer_reg == CE && ecn_reg == NOT_ECT;

always @* begin
    code_now = 8'd0;
    if (!fits_reg || !padded_reg) begin
        code_now = `CODE_IPSEC_BAD_PADDING;
    end else if (dummy_reg) begin
        code_now = `CODE_IPSEC_DUMMY;
    end else if (tunnel_reg) begin
        if (!is_ip_reg) begin
            code_now = `CODE_IPSEC_POLICY;
        end else if (!whole) begin
            code_now = `CODE_IPSEC_BAD_INNER;
        end else if (bad_ecn) begin
            code_now = `CODE_IPSEC_ECN;
        end
    end
end

always @* begin
    ecn_now = ecn_reg;
    if (outer_reg == CE) begin
        ecn_now = CE;
    end else if (outer_reg == ECT_1 && ecn_reg == ECT_0) begin
        ecn_now = ECT_1;
    end
end

wire ecn_changes = tunnel_reg && ecn_now != ecn_reg;
wire cut = udp_reg && udp_length_reg >= 16'd8 && udp_length_reg <= text_reg;
wire fix_tcp = !tunnel_reg && natt_reg && tcp_reg && text_reg >= 16'd18;
wire fix_udp = !tunnel_reg && natt_reg && udp_reg && text_reg >= 16'd8 && start_reg[63:48] != 16'd0;

// RFC 1624, equation 3: HC' = ~(~HC + ~m + m'); of TOS only its two last bits change. RFC 3948: HC' = ~(~HC + delta).
wire [15:0] old_sum = tunnel_reg ? number(start_reg[95:80]) : udp_reg ? number(start_reg[63:48]) : number(more_reg);
wire [15:0] old_word = {start_reg[7:0], start_reg[15:8]};
wire [15:0] new_word = {start_reg[7:0], start_reg[15:10], ecn_now};
wire [17:0] change = tunnel_reg ? {2'd0, ~old_word} + {2'd0, new_word} : {2'd0, nat_delta_reg};
wire [15:0] mended = ~fold({2'd0, ~old_sum} + change);

reg [6:0] code_reg;
reg tunnel_out_reg, inner_ipv6_reg, fix_ecn_reg;
reg [15:0] length_reg, new_sum_reg;
reg [1:0] new_ecn_reg, fix_sum_reg;

wire unused_bits = &{1'b0, code_now[7], start_reg};

assign code = code_reg;
assign tunnel = tunnel_out_reg;
assign inner_ipv6 = inner_ipv6_reg;
assign length = length_reg;
assign fix_ecn = fix_ecn_reg;
assign new_ecn = new_ecn_reg;
assign fix_sum = fix_sum_reg;
assign new_sum = new_sum_reg;

always @(posedge clk) begin
    if (go_reg) begin
        code_reg <= code_now[6:0];
        tunnel_out_reg <= tunnel_reg;
        inner_ipv6_reg <= ipv6_reg;
        length_reg <= tunnel_reg ? inner_reg[15:0] : cut ? udp_length_reg : text_reg;
        fix_ecn_reg <= ecn_changes;
        new_ecn_reg <= ecn_now;
        fix_sum_reg <= fix_udp ? 2'd1 : ecn_changes && !ipv6_reg ? 2'd2 : fix_tcp ? 2'd3 : 2'd0;
        new_sum_reg <= !tunnel_reg && udp_reg && mended == 16'd0 ? 16'hffff : mended;
    end
end

endmodule

`resetall
