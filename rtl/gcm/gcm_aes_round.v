// gcm_aes_round: a stage of `gcm_aes`: one round of AES, and the round key of the next one.
//
// FIPS 197, 5.1 and 5.2. Stages 1 to 14: a block with a key of 256 bits has a round in each, one with 128 bits waits in
// the first four and has its rounds in the last ten; the last stage is the round without MixColumns for both.
// s_key is the round key of this stage, s_before (of 256 bits only) that of the stage before.
//
// Latency 1, one block a cycle. Where nothing is valid, nothing is computed.
//
// Parameters: ROUND 1 to 14; USER_W, bits that go beside a block.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_aes_round #(
    parameter ROUND = 1,
    parameter USER_W = 1
) (
    input  wire              clk,

    input  wire              s_valid,
    input  wire              s_256,
    input  wire [USER_W-1:0] s_user,
    input  wire [127:0]      s_block,
    input  wire [127:0]      s_key,
    input  wire [127:0]      s_before,

    output wire              m_256,
    output wire [USER_W-1:0] m_user,
    output wire [127:0]      m_block,
    output wire [127:0]      m_key,
    output wire [127:0]      m_before
);

`include "gcm_aes_sbox.vh"

localparam LAST = 14;
localparam WAIT = 4;             // stages in which 128 bits wait

// Round constants of the key that is made here, in their byte.
localparam [31:0] RCON_128 = {24'd0, rcon(ROUND - WAIT + 1)};
localparam [31:0] RCON_256 = {24'd0, rcon((ROUND + 1) / 2)};
localparam ROTATE = ROUND % 2 == 1;

function [7:0] rcon(input integer number);
    case (number)
        1: rcon = 8'h01;
        2: rcon = 8'h02;
        3: rcon = 8'h04;
        4: rcon = 8'h08;
        5: rcon = 8'h10;
        6: rcon = 8'h20;
        7: rcon = 8'h40;
        8: rcon = 8'h80;
        9: rcon = 8'h1b;
        10: rcon = 8'h36;
        default: rcon = 8'h00;
    endcase
endfunction

// Columns and words: their first byte is in bits 7:0.

function [31:0] sub(input [31:0] word);
    sub = {rom[word[31:24]], rom[word[23:16]], rom[word[15:8]], rom[word[7:0]]};
endfunction

function [31:0] rotate(input [31:0] word);
    rotate = {word[7:0], word[31:8]};
endfunction

// Each byte times x.
function [31:0] double(input [31:0] word);
    reg [31:0] top;
    begin
        top = word >> 7 & 32'h01010101;
        double = (word << 1 & 32'hfefefefe) ^ top ^ top << 1 ^ top << 3 ^ top << 4;
    end
endfunction

function [31:0] mix(input [31:0] word);
    mix = ROUND == LAST ? word
        : double(word ^ {word[7:0], word[31:8]}) ^ {word[7:0], word[31:8]} ^ {word[15:0], word[31:16]}
          ^ {word[23:0], word[31:24]};
endfunction

// The first word that is added to the key: from the last word of this stage's key.
function [31:0] change(input [31:0] word, input is_256);
    change = is_256 ? (ROTATE ? rotate(sub(word)) ^ RCON_256 : sub(word)) : rotate(sub(word)) ^ RCON_128;
endfunction

function [127:0] add(input [127:0] key, input [31:0] word);
    reg [31:0] w0, w1, w2;
    begin
        w0 = key[31:0] ^ word;
        w1 = key[63:32] ^ w0;
        w2 = key[95:64] ^ w1;
        add = {key[127:96] ^ w2, w2, w1, w0};
    end
endfunction

reg              is_256_reg;
reg [USER_W-1:0] user_reg;
reg [127:0]      block_reg;

assign m_256 = is_256_reg;
assign m_user = user_reg;
assign m_block = block_reg;

always @(posedge clk) begin
    if (s_valid) begin
        is_256_reg <= s_256;
        user_reg <= s_user;
        if (ROUND <= WAIT && !s_256) begin
            block_reg <= s_block;
        end else begin
            // ShiftRows: row r of a column comes from r columns on.
            block_reg[31:0] <= s_key[31:0]
                ^ mix(sub({s_block[127:120], s_block[87:80], s_block[47:40], s_block[7:0]}));
            block_reg[63:32] <= s_key[63:32]
                ^ mix(sub({s_block[31:24], s_block[119:112], s_block[79:72], s_block[39:32]}));
            block_reg[95:64] <= s_key[95:64]
                ^ mix(sub({s_block[63:56], s_block[23:16], s_block[111:104], s_block[71:64]}));
            block_reg[127:96] <= s_key[127:96]
                ^ mix(sub({s_block[95:88], s_block[55:48], s_block[15:8], s_block[103:96]}));
        end
    end
end

generate
    if (ROUND == LAST) begin : g_last
        assign m_key = 128'd0;
        assign m_before = 128'd0;
        wire unused = &{1'b0, s_before};
    end else begin : g_key
        reg [127:0] key_reg;
        reg [127:0] before_reg;

        assign m_key = key_reg;
        assign m_before = before_reg;

        always @(posedge clk) begin
            if (s_valid) begin
                before_reg <= s_key;
                if (ROUND < WAIT && !s_256) begin
                    key_reg <= s_key;
                end else begin
                    key_reg <= add(s_256 ? s_before : s_key, change(s_key[127:96], s_256));
                end
            end
        end
    end
endgenerate

endmodule

`resetall
