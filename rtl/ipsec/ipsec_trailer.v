// ipsec_trailer: what the text of a decrypted frame says: padding and next header (RFC 4303 2.4, 2.6), and the fields of its
// first bytes that decide how it leaves.
//
// A beat in each cycle with `take`; n is the frame's length, a multiple of 4 from 4 on, beside its last beat. In the second
// cycle after the last beat everything stands at the output, until two cycles after the next last beat.
//
// With a byte b `chain`: it is 1, or one more than the byte before it where that one has `chain`. So it ends a run 1, 2, ... b.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_trailer (
    input  wire         clk,
    input  wire         rst,

    input  wire         take,
    input  wire         take_last,
    input  wire [127:0] take_data,
    input  wire [3:0]   take_n,        // n modulo 16

    output wire         padded,        // the padding is 1, 2, ... pad, or there is none
    output wire [7:0]   pad,
    output wire [7:0]   next_header,
    output wire [127:0] start,         // bytes 0 to 15
    output wire [15:0]  more           // bytes 16 and 17
);

reg take_reg;
reg take_last_reg;
reg [127:0] data_reg;
reg [3:0] n_reg;
reg first_reg, second_reg;     // of the beat in data_reg
reg next_first_reg, next_second_reg;

reg chain_before_reg;          // of the byte in front of data_reg
reg [7:0] byte_before_reg;

// Byte by byte, from the byte in front on
wire [16:0] chain;
wire [135:0] bytes = {data_reg, byte_before_reg};

assign chain[0] = chain_before_reg;

genvar i;
generate
    for (i = 1; i < 17; i = i + 1) begin : g_byte
        wire one = bytes[8*i +: 8] == 8'd1;
        wire one_more = {1'b0, bytes[8*i +: 8]} == {1'b0, bytes[8*(i-1) +: 8]} + 9'd1;
        assign chain[i] = one || (chain[i-1] && one_more);
    end
endgenerate

// The last three bytes, that before the pad length with its chain
reg [7:0] length, last, ahead;
reg chain_end;

always @* begin
    case (n_reg[3:2])
        2'd1: {last, length, ahead, chain_end} = {data_reg[31:8], chain[2]};
        2'd2: {last, length, ahead, chain_end} = {data_reg[63:40], chain[6]};
        2'd3: {last, length, ahead, chain_end} = {data_reg[95:72], chain[10]};
        default: {last, length, ahead, chain_end} = {data_reg[127:104], chain[14]};
    endcase
end

wire unused_n = &{1'b0, n_reg[1:0]};

reg padded_reg;
reg [7:0] pad_reg, next_header_reg;
reg [127:0] now_start_reg, start_reg;
reg [15:0] now_more_reg, more_reg;

wire [127:0] now_start = first_reg ? data_reg : now_start_reg;
wire [15:0] now_more = second_reg ? data_reg[15:0] : now_more_reg;

assign padded = padded_reg;
assign pad = pad_reg;
assign next_header = next_header_reg;
assign start = start_reg;
assign more = more_reg;

always @(posedge clk) begin
    if (take) begin
        data_reg <= take_data;
        n_reg <= take_n;
        first_reg <= next_first_reg;
        second_reg <= next_second_reg;
        take_last_reg <= take_last;
    end
    if (take_reg) begin
        byte_before_reg <= data_reg[127:120];
        now_start_reg <= now_start;
        now_more_reg <= now_more;
        if (take_last_reg) begin
            padded_reg <= length == 8'd0 || (chain_end && ahead == length);
            pad_reg <= length;
            next_header_reg <= last;
            start_reg <= now_start;
            more_reg <= now_more;
        end
    end
end

always @(posedge clk) begin
    take_reg <= take;
    if (take) begin
        next_first_reg <= take_last;
        next_second_reg <= next_first_reg && !take_last;
    end
    if (take_reg) begin
        chain_before_reg <= chain[16] && !take_last_reg;
    end

    if (rst) begin
        take_reg <= 1'b0;
        next_first_reg <= 1'b1;
        next_second_reg <= 1'b0;
        chain_before_reg <= 1'b0;
    end
end

endmodule

`resetall
