// gcm_sm4: SM4 encryption of a block a cycle, each with a key of its own.
//
// GB/T 32907. Byte i of a block or key is in bits 8i+7:8i. Thirty-two rounds stand behind each other, the key's one stage
// ahead of the block's: a new key costs nothing. Nothing stalls.
//
// Latency 33 cycles from s_valid to m_valid. Reset forgets what is under way.
//
// Parameter: USER_W, bits that go beside a block.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_sm4 #(
    parameter USER_W = 1
) (
    input  wire              clk,
    input  wire              rst,

    input  wire              s_valid,
    input  wire [127:0]      s_key,
    input  wire [127:0]      s_block,
    input  wire [USER_W-1:0] s_user,

    output wire              m_valid,
    output wire [127:0]      m_block,
    output wire [USER_W-1:0] m_user
);

localparam ROUNDS = 32;
localparam [127:0] FK = {32'hb27022dc, 32'h677d9197, 32'h56aa3350, 32'ha3b1bac6};

// Between bytes in order and words that are numbers.
function [31:0] swap(input [31:0] word);
    swap = {word[7:0], word[15:8], word[23:16], word[31:24]};
endfunction

reg [ROUNDS:0] valid_reg;

always @(posedge clk) begin
    valid_reg <= {valid_reg[ROUNDS-1:0], s_valid};

    if (rst) begin
        valid_reg <= {(ROUNDS + 1){1'b0}};
    end
end

genvar i;
generate
    for (i = 0; i <= ROUNDS + 1; i = i + 1) begin : g_round
        wire [USER_W-1:0] user;
        wire [127:0]      block;
        wire [127:0]      key;

        if (i == 0) begin : g_in
            assign user = s_user;
            assign block = {swap(s_block[127:96]), swap(s_block[95:64]), swap(s_block[63:32]), swap(s_block[31:0])};
            assign key = FK
                ^ {swap(s_key[127:96]), swap(s_key[95:64]), swap(s_key[63:32]), swap(s_key[31:0])};
        end else begin : g_stage
            wire valid;

            if (i == 1) begin : g_first
                assign valid = s_valid;
            end else begin : g_next
                assign valid = valid_reg[i-2];
            end

            gcm_sm4_round #(.ROUND(i - 1), .USER_W(USER_W)) round (
                .clk(clk),
                .s_valid(valid),
                .s_user(g_round[i-1].user),
                .s_block(g_round[i-1].block),
                .s_key(g_round[i-1].key),
                .m_user(user),
                .m_block(block),
                .m_key(key)
            );
        end
    end
endgenerate

wire [127:0] last = g_round[ROUNDS+1].block;

assign m_valid = valid_reg[ROUNDS];
assign m_block = {swap(last[31:0]), swap(last[63:32]), swap(last[95:64]), swap(last[127:96])};
assign m_user = g_round[ROUNDS+1].user;

wire unused = &{1'b0, g_round[ROUNDS+1].key};

endmodule

`resetall
