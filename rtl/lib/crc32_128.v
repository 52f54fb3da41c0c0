// crc32_128: the CRC-32 of a stream's bytes, 128 bits a cycle. Written by crc32_equations.py: don't edit.
//
// IEEE 802.3 clause 3.2.9, the frame check sequence. `crc` is the number that zlib.crc32 gives; on the wire its least
// significant byte goes first.
//
// Latency      crc and crc_valid 1 cycle after the last beat; crc is undefined in any other cycle.
// Throughput   one beat a cycle, frames back to back; s_valid may pause anywhere.
//
// s_keep has all bits set but on the last beat, where 1 to 16 bits are set from bit 0 up. What the other bytes of
// s_data hold doesn't matter. s_first starts a new frame, whatever came before.
//
// One network serves every tail length. Bytes of zero in front of a register of zero change nothing, so the word, with
// the register added to its first four bytes, is moved up until its last byte stands on top; a tail of less than four
// bytes leaves the rest of the register over, which is added behind the network.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module crc32_128 (
    input  wire         clk,
    input  wire         rst,
    input  wire [127:0] s_data,
    input  wire [15:0]  s_keep,
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
        input [127:0] data;
        input [15:0] keep;
        reg [127:0] d;
        reg [15:0] k;
        reg [31:0] over;
        begin
            d = data ^ {96'd0, register};
            k = keep;
            over = keep[3] ? 32'd0 : keep[2] ? register >> 24 : keep[1] ? register >> 16 : register >> 8;
            if (!k[8]) begin d = d << 64; k = {k[7:0], 8'hff}; end
            if (!k[12]) begin d = d << 32; k = {k[11:0], 4'hf}; end
            if (!k[14]) begin d = d << 16; k = {k[13:0], 2'h3}; end
            if (!k[15]) d = d << 8;
            step[0] = over[0] ^ (^(d & 128'h04d101df481b4e5af182fa07eb46de2f));
            step[1] = over[1] ^ (^(d & 128'h09a203be90369cb5e305f40fd68dbc5e));
            step[2] = over[2] ^ (^(d & 128'h1344077d206d396bc60be81fad1b78bc));
            step[3] = over[3] ^ (^(d & 128'h26880efa40da72d78c17d03f5a36f178));
            step[4] = over[4] ^ (^(d & 128'h4d101df481b4e5af182fa07eb46de2f1));
            step[5] = over[5] ^ (^(d & 128'h9a203be90369cb5e305f40fd68dbc5e2));
            step[6] = over[6] ^ (^(d & 128'h3091760d4ec8d8e6913c7bfd3af155ea));
            step[7] = over[7] ^ (^(d & 128'h6122ec1a9d91b1cd2278f7fa75e2abd5));
            step[8] = over[8] ^ (^(d & 128'hc245d8353b23639a44f1eff4ebc557ab));
            step[9] = over[9] ^ (^(d & 128'h805ab1b53e5d896e786125ee3ccc7178));
            step[10] = over[10] ^ (^(d & 128'h046462b534a05c860140b1db92de3cde));
            step[11] = over[11] ^ (^(d & 128'h08c8c56a6940b90c028163b725bc79bc));
            step[12] = over[12] ^ (^(d & 128'h11918ad4d28172180502c76e4b78f379));
            step[13] = over[13] ^ (^(d & 128'h232315a9a502e4300a058edc96f1e6f2));
            step[14] = over[14] ^ (^(d & 128'h46462b534a05c860140b1db92de3cde4));
            step[15] = over[15] ^ (^(d & 128'h8c8c56a6940b90c028163b725bc79bc9));
            step[16] = over[16] ^ (^(d & 128'h1dc9ac92600c6fdaa1ae8ce35cc9e9bc));
            step[17] = over[17] ^ (^(d & 128'h3b935924c018dfb5435d19c6b993d378));
            step[18] = over[18] ^ (^(d & 128'h7726b2498031bf6a86ba338d7327a6f0));
            step[19] = over[19] ^ (^(d & 128'hee4d649300637ed50d74671ae64f4de1));
            step[20] = over[20] ^ (^(d & 128'hd84bc8f948ddb3f0eb6a343227d845ec));
            step[21] = over[21] ^ (^(d & 128'hb446902dd9a029bb27569263a4f655f7));
            step[22] = over[22] ^ (^(d & 128'h6c5c2184fb5b1d2cbf2fdec0a2aa75c1));
            step[23] = over[23] ^ (^(d & 128'hd8b84309f6b63a597e5fbd814554eb82));
            step[24] = over[24] ^ (^(d & 128'hb5a187cca5773ae80d3d810561ef092a));
            step[25] = over[25] ^ (^(d & 128'h6f920e4602f53b8aebf9f80d2898cc7b));
            step[26] = over[26] ^ (^(d & 128'hdf241c8c05ea7715d7f3f01a513198f7));
            step[27] = over[27] ^ (^(d & 128'hba9938c743cfa0715e651a334925efc1));
            step[28] = over[28] ^ (^(d & 128'h71e37051cf840eb84d48ce61790d01ac));
            step[29] = over[29] ^ (^(d & 128'he3c6e0a39f081d709a919cc2f21a0359));
            step[30] = over[30] ^ (^(d & 128'hc35cc098760b74bbc4a1c3820f72d89c));
            step[31] = over[31] ^ (^(d & 128'h826880efa40da72d78c17d03f5a36f17));
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
