// gcm_sm4_round: a stage of `gcm_sm4`: one round of SM4, and the round key of the next one.
//
// GB/T 32907. Stages 0 to 32: all but the first have a round of the block, whose key is s_key's last word; all but the
// last have a round of the key. Words are numbers: their first byte is in bits 31:24; word 0 is in bits 31:0.
//
// Latency 1, one block a cycle. Where nothing is valid, nothing is computed.
//
// Parameters: ROUND 0 to 32; USER_W, bits that go beside a block.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_sm4_round #(
    parameter ROUND = 0,
    parameter USER_W = 1
) (
    input  wire              clk,

    input  wire              s_valid,
    input  wire [USER_W-1:0] s_user,
    input  wire [127:0]      s_block,
    input  wire [127:0]      s_key,

    output wire [USER_W-1:0] m_user,
    output wire [127:0]      m_block,
    output wire [127:0]      m_key
);

`include "gcm_sm4_sbox.vh"

localparam LAST = 32;

// CK of this round: byte j is (4 * ROUND + j) * 7 modulo 256.
localparam [7:0] PLACE = {ROUND[5:0], 2'd0};
localparam [7:0] CK_0 = PLACE * 8'd7;
localparam [31:0] CK = {CK_0, CK_0 + 8'd7, CK_0 + 8'd14, CK_0 + 8'd21};

function [31:0] sub(input [31:0] word);
    sub = {rom[word[31:24]], rom[word[23:16]], rom[word[15:8]], rom[word[7:0]]};
endfunction

function [31:0] spread_block(input [31:0] word);
    spread_block = word ^ {word[29:0], word[31:30]} ^ {word[21:0], word[31:22]} ^ {word[13:0], word[31:14]}
        ^ {word[7:0], word[31:8]};
endfunction

function [31:0] spread_key(input [31:0] word);
    spread_key = word ^ {word[18:0], word[31:19]} ^ {word[8:0], word[31:9]};
endfunction

reg [USER_W-1:0] user_reg;
reg [127:0]      block_reg;

assign m_user = user_reg;
assign m_block = block_reg;

always @(posedge clk) begin
    if (s_valid) begin
        user_reg <= s_user;
        if (ROUND == 0) begin
            block_reg <= s_block;
        end else begin
            block_reg[95:0] <= s_block[127:32];
            block_reg[127:96] <= s_block[31:0]
                ^ spread_block(sub(s_block[63:32] ^ s_block[95:64] ^ s_block[127:96] ^ s_key[127:96]));
        end
    end
end

generate
    if (ROUND == LAST) begin : g_last
        assign m_key = 128'd0;
        wire unused = &{1'b0, s_key[95:0]};
    end else begin : g_key
        reg [127:0] key_reg;

        assign m_key = key_reg;

        always @(posedge clk) begin
            if (s_valid) begin
                key_reg[95:0] <= s_key[127:32];
                key_reg[127:96] <= s_key[31:0]
                    ^ spread_key(sub(s_key[63:32] ^ s_key[95:64] ^ s_key[127:96] ^ CK));
            end
        end
    end
endgenerate

endmodule

`resetall
