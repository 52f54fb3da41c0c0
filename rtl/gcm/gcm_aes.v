// gcm_aes: AES encryption of a block a cycle, each with a key of its own of 128 or 256 bits, mixed in any order.
//
// FIPS 197. Byte i of a block or key is in bits 8i+7:8i; a key of 128 bits is s_key[127:0]. Fourteen rounds stand behind
// each other, each makes the key of the next: a new key costs nothing. Nothing stalls.
//
// Latency 15 cycles from s_valid to m_valid, of both sizes of key. Reset forgets what is under way.
//
// Parameter: USER_W, bits that go beside a block.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_aes #(
    parameter USER_W = 1
) (
    input  wire              clk,
    input  wire              rst,

    input  wire              s_valid,
    input  wire              s_256,
    input  wire [255:0]      s_key,
    input  wire [127:0]      s_block,
    input  wire [USER_W-1:0] s_user,

    output wire              m_valid,
    output wire [127:0]      m_block,
    output wire [USER_W-1:0] m_user
);

localparam ROUNDS = 14;

reg [ROUNDS:0] valid_reg;

always @(posedge clk) begin
    valid_reg <= {valid_reg[ROUNDS-1:0], s_valid};

    if (rst) begin
        valid_reg <= {(ROUNDS + 1){1'b0}};
    end
end

// In front of the first round: the first key is added.
reg              is_256_reg;
reg [USER_W-1:0] user_reg;
reg [127:0]      block_reg;
reg [127:0]      key_reg;
reg [127:0]      before_reg;

always @(posedge clk) begin
    if (s_valid) begin
        is_256_reg <= s_256;
        user_reg <= s_user;
        block_reg <= s_block ^ s_key[127:0];
        key_reg <= s_256 ? s_key[255:128] : s_key[127:0];
        before_reg <= s_key[127:0];
    end
end

genvar i;
generate
    for (i = 0; i <= ROUNDS; i = i + 1) begin : g_round
        wire              is_256;
        wire [USER_W-1:0] user;
        wire [127:0]      block;
        wire [127:0]      key;
        wire [127:0]      old_key;

        if (i == 0) begin : g_in
            assign is_256 = is_256_reg;
            assign user = user_reg;
            assign block = block_reg;
            assign key = key_reg;
            assign old_key = before_reg;
        end else begin : g_stage
            gcm_aes_round #(.ROUND(i), .USER_W(USER_W)) round (
                .clk(clk),
                .s_valid(valid_reg[i-1]),
                .s_256(g_round[i-1].is_256),
                .s_user(g_round[i-1].user),
                .s_block(g_round[i-1].block),
                .s_key(g_round[i-1].key),
                .s_before(g_round[i-1].old_key),
                .m_256(is_256),
                .m_user(user),
                .m_block(block),
                .m_key(key),
                .m_before(old_key)
            );
        end
    end
endgenerate

assign m_valid = valid_reg[ROUNDS];
assign m_block = g_round[ROUNDS].block;
assign m_user = g_round[ROUNDS].user;

wire unused = &{1'b0, g_round[ROUNDS].is_256, g_round[ROUNDS].key, g_round[ROUNDS].old_key};

endmodule

`resetall
