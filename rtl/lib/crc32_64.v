// crc32_64: the CRC-32 of a stream's bytes, 64 bits a cycle. Written by crc32_equations.py: don't edit.
//
// IEEE 802.3 clause 3.2.9, the frame check sequence. `crc` is the number that zlib.crc32 gives; on the wire its least
// significant byte goes first.
//
// Latency      crc and crc_valid 1 cycle after the last beat; crc is undefined in any other cycle.
// Throughput   one beat a cycle, frames back to back; s_valid may pause anywhere.
//
// s_keep has all bits set but on the last beat, where 1 to 8 bits are set from bit 0 up. What the other bytes of
// s_data hold doesn't matter. s_first starts a new frame, whatever came before.
//
// One network serves every tail length. Bytes of zero in front of a register of zero change nothing, so the word, with
// the register added to its first four bytes, is moved up until its last byte stands on top; a tail of less than four
// bytes leaves the rest of the register over, which is added behind the network.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module crc32_64 (
    input  wire         clk,
    input  wire         rst,
    input  wire [63:0]  s_data,
    input  wire [7:0]   s_keep,
    input  wire         s_valid,
    input  wire         s_first,
    input  wire         s_last,
    output wire [31:0]  crc,
    output wire         crc_valid
);

    reg [31:0] state_reg;
    reg        valid_reg;

    // The register after `register` has taken the bytes of `data` that `keep` names.
    function [31:0] step;
        input [31:0] register;
        input [63:0] data;
        input [7:0] keep;
        reg [63:0] d;
        reg [7:0] k;
        reg [31:0] over;
        begin
            d = data ^ {32'd0, register};
            k = keep;
            over = keep[3] ? 32'd0 : keep[2] ? register >> 24 : keep[1] ? register >> 16 : register >> 8;
            if (!k[4]) begin d = d << 32; k = {k[3:0], 4'hf}; end
            if (!k[6]) begin d = d << 16; k = {k[5:0], 2'h3}; end
            if (!k[7]) d = d << 8;
            step[0] = over[0] ^ (^(d & 64'h04d101df481b4e5a));
            step[1] = over[1] ^ (^(d & 64'h09a203be90369cb5));
            step[2] = over[2] ^ (^(d & 64'h1344077d206d396b));
            step[3] = over[3] ^ (^(d & 64'h26880efa40da72d7));
            step[4] = over[4] ^ (^(d & 64'h4d101df481b4e5af));
            step[5] = over[5] ^ (^(d & 64'h9a203be90369cb5e));
            step[6] = over[6] ^ (^(d & 64'h3091760d4ec8d8e6));
            step[7] = over[7] ^ (^(d & 64'h6122ec1a9d91b1cd));
            step[8] = over[8] ^ (^(d & 64'hc245d8353b23639a));
            step[9] = over[9] ^ (^(d & 64'h805ab1b53e5d896e));
            step[10] = over[10] ^ (^(d & 64'h046462b534a05c86));
            step[11] = over[11] ^ (^(d & 64'h08c8c56a6940b90c));
            step[12] = over[12] ^ (^(d & 64'h11918ad4d2817218));
            step[13] = over[13] ^ (^(d & 64'h232315a9a502e430));
            step[14] = over[14] ^ (^(d & 64'h46462b534a05c860));
            step[15] = over[15] ^ (^(d & 64'h8c8c56a6940b90c0));
            step[16] = over[16] ^ (^(d & 64'h1dc9ac92600c6fda));
            step[17] = over[17] ^ (^(d & 64'h3b935924c018dfb5));
            step[18] = over[18] ^ (^(d & 64'h7726b2498031bf6a));
            step[19] = over[19] ^ (^(d & 64'hee4d649300637ed5));
            step[20] = over[20] ^ (^(d & 64'hd84bc8f948ddb3f0));
            step[21] = over[21] ^ (^(d & 64'hb446902dd9a029bb));
            step[22] = over[22] ^ (^(d & 64'h6c5c2184fb5b1d2c));
            step[23] = over[23] ^ (^(d & 64'hd8b84309f6b63a59));
            step[24] = over[24] ^ (^(d & 64'hb5a187cca5773ae8));
            step[25] = over[25] ^ (^(d & 64'h6f920e4602f53b8a));
            step[26] = over[26] ^ (^(d & 64'hdf241c8c05ea7715));
            step[27] = over[27] ^ (^(d & 64'hba9938c743cfa071));
            step[28] = over[28] ^ (^(d & 64'h71e37051cf840eb8));
            step[29] = over[29] ^ (^(d & 64'he3c6e0a39f081d70));
            step[30] = over[30] ^ (^(d & 64'hc35cc098760b74bb));
            step[31] = over[31] ^ (^(d & 64'h826880efa40da72d));
        end
    endfunction

    always @(posedge clk) begin
        valid_reg <= s_valid & s_last & ~rst;
        if (s_valid) state_reg <= step(s_first ? 32'hffffffff : state_reg, s_data, s_keep);
    end

    assign crc       = ~state_reg;
    assign crc_valid = valid_reg & ~rst;

endmodule

`resetall
