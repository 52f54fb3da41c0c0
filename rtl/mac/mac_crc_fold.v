// mac_crc_fold: the CRC-32 register after 64 bits, from a register of zero.
// Written by mac_crc_equations.py: don't edit.
//
// IEEE 802.3 clause 3.2.9. What the register held before is added to the word's first four bytes. No register, no
// latency: each bit is the parity of about half the word.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_crc_fold (
    input  wire [63:0] word,
    output wire [31:0] crc
);

assign crc[0] = ^(word & 64'h04d101df481b4e5a);
assign crc[1] = ^(word & 64'h09a203be90369cb5);
assign crc[2] = ^(word & 64'h1344077d206d396b);
assign crc[3] = ^(word & 64'h26880efa40da72d7);
assign crc[4] = ^(word & 64'h4d101df481b4e5af);
assign crc[5] = ^(word & 64'h9a203be90369cb5e);
assign crc[6] = ^(word & 64'h3091760d4ec8d8e6);
assign crc[7] = ^(word & 64'h6122ec1a9d91b1cd);
assign crc[8] = ^(word & 64'hc245d8353b23639a);
assign crc[9] = ^(word & 64'h805ab1b53e5d896e);
assign crc[10] = ^(word & 64'h046462b534a05c86);
assign crc[11] = ^(word & 64'h08c8c56a6940b90c);
assign crc[12] = ^(word & 64'h11918ad4d2817218);
assign crc[13] = ^(word & 64'h232315a9a502e430);
assign crc[14] = ^(word & 64'h46462b534a05c860);
assign crc[15] = ^(word & 64'h8c8c56a6940b90c0);
assign crc[16] = ^(word & 64'h1dc9ac92600c6fda);
assign crc[17] = ^(word & 64'h3b935924c018dfb5);
assign crc[18] = ^(word & 64'h7726b2498031bf6a);
assign crc[19] = ^(word & 64'hee4d649300637ed5);
assign crc[20] = ^(word & 64'hd84bc8f948ddb3f0);
assign crc[21] = ^(word & 64'hb446902dd9a029bb);
assign crc[22] = ^(word & 64'h6c5c2184fb5b1d2c);
assign crc[23] = ^(word & 64'hd8b84309f6b63a59);
assign crc[24] = ^(word & 64'hb5a187cca5773ae8);
assign crc[25] = ^(word & 64'h6f920e4602f53b8a);
assign crc[26] = ^(word & 64'hdf241c8c05ea7715);
assign crc[27] = ^(word & 64'hba9938c743cfa071);
assign crc[28] = ^(word & 64'h71e37051cf840eb8);
assign crc[29] = ^(word & 64'he3c6e0a39f081d70);
assign crc[30] = ^(word & 64'hc35cc098760b74bb);
assign crc[31] = ^(word & 64'h826880efa40da72d);

endmodule

`resetall
