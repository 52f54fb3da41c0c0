// CRC-32 of IEEE 802.3 over whole beats (a last beat counts with zeros in its unused lanes). Part of the frozen reference
// design: bench/README.md. Latency 1 cycle, one beat a cycle while `en`. IEEE 802.3 clause 3.2.9.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ref_crc (
    input  wire         clk,
    input  wire         en,
    input  wire         first,
    input  wire [127:0] data,
    output reg  [31:0]  crc_reg
);

    function [31:0] crc_next(input [31:0] crc, input [127:0] beat);
        begin
            crc_next[0] = ^(crc & 32'heb46de2f) ^ ^(beat & 128'h04d101df481b4e5af182fa07eb46de2f);
            crc_next[1] = ^(crc & 32'hd68dbc5e) ^ ^(beat & 128'h09a203be90369cb5e305f40fd68dbc5e);
            crc_next[2] = ^(crc & 32'had1b78bc) ^ ^(beat & 128'h1344077d206d396bc60be81fad1b78bc);
            crc_next[3] = ^(crc & 32'h5a36f178) ^ ^(beat & 128'h26880efa40da72d78c17d03f5a36f178);
            crc_next[4] = ^(crc & 32'hb46de2f1) ^ ^(beat & 128'h4d101df481b4e5af182fa07eb46de2f1);
            crc_next[5] = ^(crc & 32'h68dbc5e2) ^ ^(beat & 128'h9a203be90369cb5e305f40fd68dbc5e2);
            crc_next[6] = ^(crc & 32'h3af155ea) ^ ^(beat & 128'h3091760d4ec8d8e6913c7bfd3af155ea);
            crc_next[7] = ^(crc & 32'h75e2abd5) ^ ^(beat & 128'h6122ec1a9d91b1cd2278f7fa75e2abd5);
            crc_next[8] = ^(crc & 32'hebc557ab) ^ ^(beat & 128'hc245d8353b23639a44f1eff4ebc557ab);
            crc_next[9] = ^(crc & 32'h3ccc7178) ^ ^(beat & 128'h805ab1b53e5d896e786125ee3ccc7178);
            crc_next[10] = ^(crc & 32'h92de3cde) ^ ^(beat & 128'h046462b534a05c860140b1db92de3cde);
            crc_next[11] = ^(crc & 32'h25bc79bc) ^ ^(beat & 128'h08c8c56a6940b90c028163b725bc79bc);
            crc_next[12] = ^(crc & 32'h4b78f379) ^ ^(beat & 128'h11918ad4d28172180502c76e4b78f379);
            crc_next[13] = ^(crc & 32'h96f1e6f2) ^ ^(beat & 128'h232315a9a502e4300a058edc96f1e6f2);
            crc_next[14] = ^(crc & 32'h2de3cde4) ^ ^(beat & 128'h46462b534a05c860140b1db92de3cde4);
            crc_next[15] = ^(crc & 32'h5bc79bc9) ^ ^(beat & 128'h8c8c56a6940b90c028163b725bc79bc9);
            crc_next[16] = ^(crc & 32'h5cc9e9bc) ^ ^(beat & 128'h1dc9ac92600c6fdaa1ae8ce35cc9e9bc);
            crc_next[17] = ^(crc & 32'hb993d378) ^ ^(beat & 128'h3b935924c018dfb5435d19c6b993d378);
            crc_next[18] = ^(crc & 32'h7327a6f0) ^ ^(beat & 128'h7726b2498031bf6a86ba338d7327a6f0);
            crc_next[19] = ^(crc & 32'he64f4de1) ^ ^(beat & 128'hee4d649300637ed50d74671ae64f4de1);
            crc_next[20] = ^(crc & 32'h27d845ec) ^ ^(beat & 128'hd84bc8f948ddb3f0eb6a343227d845ec);
            crc_next[21] = ^(crc & 32'ha4f655f7) ^ ^(beat & 128'hb446902dd9a029bb27569263a4f655f7);
            crc_next[22] = ^(crc & 32'ha2aa75c1) ^ ^(beat & 128'h6c5c2184fb5b1d2cbf2fdec0a2aa75c1);
            crc_next[23] = ^(crc & 32'h4554eb82) ^ ^(beat & 128'hd8b84309f6b63a597e5fbd814554eb82);
            crc_next[24] = ^(crc & 32'h61ef092a) ^ ^(beat & 128'hb5a187cca5773ae80d3d810561ef092a);
            crc_next[25] = ^(crc & 32'h2898cc7b) ^ ^(beat & 128'h6f920e4602f53b8aebf9f80d2898cc7b);
            crc_next[26] = ^(crc & 32'h513198f7) ^ ^(beat & 128'hdf241c8c05ea7715d7f3f01a513198f7);
            crc_next[27] = ^(crc & 32'h4925efc1) ^ ^(beat & 128'hba9938c743cfa0715e651a334925efc1);
            crc_next[28] = ^(crc & 32'h790d01ac) ^ ^(beat & 128'h71e37051cf840eb84d48ce61790d01ac);
            crc_next[29] = ^(crc & 32'hf21a0359) ^ ^(beat & 128'he3c6e0a39f081d709a919cc2f21a0359);
            crc_next[30] = ^(crc & 32'h0f72d89c) ^ ^(beat & 128'hc35cc098760b74bbc4a1c3820f72d89c);
            crc_next[31] = ^(crc & 32'hf5a36f17) ^ ^(beat & 128'h826880efa40da72d78c17d03f5a36f17);
        end
    endfunction

    always @(posedge clk) if (en) crc_reg <= crc_next(first ? 32'hffffffff : crc_reg, data);

endmodule

`resetall
