// gcm_exit: places with their blocks of the cipher, in order, to bytes out and to tags.
//
// SP 800-38D, 7.1 and 7.2. A place leaves its queue (place_read) once its block is there. Two cycles behind, its beat of
// bytes (beat_*); of a packet's last place, five cycles behind, its end (end_*): tag, verdict, state. Nothing here stalls.
//
// The tag that a decrypted packet should have had goes nowhere but into the comparison, of all its bytes at once.
// Without a key every byte is 0.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_exit (
    input  wire         clk,
    input  wire         rst,

    input  wire         place_valid,
    output wire         place_read,
    input  wire         place_cipher,
    input  wire         place_wait,
    input  wire         place_lengths,
    input  wire         place_first,
    input  wire         place_last,
    input  wire         place_absorb,
    input  wire         place_beat,
    input  wire         place_end,
    input  wire [127:0] place_data,
    input  wire [15:0]  place_keep,
    input  wire [15:0]  place_aad_bytes,
    input  wire [35:0]  place_text_bytes,

    output wire         packet_read,
    input  wire         packet_known,
    input  wire         packet_decrypt,
    input  wire [1:0]   packet_tag,
    input  wire [127:0] packet_h,
    input  wire [127:0] packet_ghash,

    input  wire         aes_valid,
    output wire         aes_read,
    input  wire [127:0] aes_block,
    input  wire         sm4_valid,
    output wire         sm4_read,
    input  wire [127:0] sm4_block,

    output wire         beat_valid,
    output wire         beat_end,
    output wire [127:0] beat_data,
    output wire [15:0]  beat_keep,

    output wire         end_valid,
    output wire         end_bad,
    output wire         end_unknown,
    output wire         end_save,
    output wire [127:0] end_first,     // tag; of a part that is saved its GHASH
    output wire [127:0] end_part,
    output wire [15:0]  end_aad_bytes,
    output wire [35:0]  end_text_bytes
);

assign place_read = place_valid && (!place_wait || (place_cipher ? sm4_valid : aes_valid));
assign packet_read = place_read && place_first;
assign aes_read = place_read && place_wait && !place_cipher;
assign sm4_read = place_read && place_wait && place_cipher;

// One cycle behind: a place and its block

reg         valid_1_reg;
reg         lengths_1_reg;
reg         first_1_reg;
reg         last_1_reg;
reg         absorb_1_reg;
reg         beat_1_reg;
reg         beat_end_1_reg;
reg [127:0] data_1_reg;
reg [15:0]  keep_1_reg;
reg [15:0]  aad_bytes_1_reg;
reg [35:0]  text_bytes_1_reg;
reg [127:0] block_1_reg;
// Of the packet
reg         known_1_reg;
reg         decrypt_1_reg;
reg [1:0]   tag_1_reg;
reg [127:0] h_1_reg;
reg [127:0] ghash_1_reg;

wire [127:0] keep_mask;

genvar i;
generate
    for (i = 0; i < 16; i = i + 1) begin : g_lane
        assign keep_mask[8*i +: 8] = {8{keep_1_reg[i]}};
    end
endgenerate

always @(posedge clk) begin
    if (place_read) begin
        lengths_1_reg <= place_lengths;
        first_1_reg <= place_first;
        last_1_reg <= place_last;
        absorb_1_reg <= place_absorb;
        beat_1_reg <= place_beat;
        beat_end_1_reg <= place_end;
        data_1_reg <= place_data;
        keep_1_reg <= place_keep;
        aad_bytes_1_reg <= place_aad_bytes;
        text_bytes_1_reg <= place_text_bytes;
        block_1_reg <= place_cipher ? sm4_block : aes_block;
        if (place_first) begin
            known_1_reg <= packet_known;
            decrypt_1_reg <= packet_decrypt;
            tag_1_reg <= packet_tag;
            h_1_reg <= packet_h;
            ghash_1_reg <= packet_ghash;
        end
    end
end

// Two cycles behind: bytes, and what GHASH takes

reg         valid_2_reg;
reg         first_2_reg;
reg         last_2_reg;
reg         save_2_reg;
reg         absorb_2_reg;
reg         beat_2_reg;
reg         beat_end_2_reg;
reg [127:0] data_2_reg;
reg [15:0]  keep_2_reg;
reg [15:0]  aad_bytes_2_reg;
reg [35:0]  text_bytes_2_reg;
reg [127:0] x_2_reg;
reg [127:0] word_2_reg;          // what the tag lacks of GHASH; of a part that is saved, the block that isn't full
reg         known_2_reg;
reg         decrypt_2_reg;
reg [1:0]   tag_2_reg;
reg [127:0] h_2_reg;

wire [63:0]  aad_bits = {45'd0, aad_bytes_1_reg, 3'd0};
wire [63:0]  text_bits = {25'd0, text_bytes_1_reg, 3'd0};
wire [127:0] cipher_text = data_1_reg ^ (block_1_reg & keep_mask & {128{!decrypt_1_reg}});
wire [127:0] x = lengths_1_reg ? {swap(text_bits), swap(aad_bits)} : cipher_text;

function [63:0] swap(input [63:0] number);
    swap = {number[7:0], number[15:8], number[23:16], number[31:24],
            number[39:32], number[47:40], number[55:48], number[63:56]};
endfunction

assign beat_valid = valid_2_reg && beat_2_reg;
assign beat_end = beat_end_2_reg;
assign beat_data = data_2_reg;
assign beat_keep = keep_2_reg;

always @(posedge clk) begin
    if (valid_1_reg) begin
        first_2_reg <= first_1_reg;
        last_2_reg <= last_1_reg;
        save_2_reg <= !lengths_1_reg;
        absorb_2_reg <= absorb_1_reg;
        beat_2_reg <= beat_1_reg;
        beat_end_2_reg <= beat_end_1_reg;
        data_2_reg <= (data_1_reg ^ block_1_reg) & keep_mask & {128{known_1_reg}};
        keep_2_reg <= keep_1_reg;
        aad_bytes_2_reg <= aad_bytes_1_reg;
        text_bytes_2_reg <= text_bytes_1_reg;
        x_2_reg <= (absorb_1_reg ? x : 128'd0) ^ (first_1_reg ? ghash_1_reg : 128'd0);
        word_2_reg <= lengths_1_reg ? data_1_reg ^ block_1_reg : absorb_1_reg ? 128'd0 : cipher_text;
        known_2_reg <= known_1_reg;
        decrypt_2_reg <= decrypt_1_reg;
        tag_2_reg <= tag_1_reg;
        if (first_1_reg) begin
            h_2_reg <= h_1_reg;
        end
    end
end

// Three cycles behind, in GHASH: the sum is there; four cycles behind: it was multiplied

wire [127:0] y;

gcm_ghash ghash (
    .clk(clk),
    .x_valid(valid_2_reg),
    .x_first(first_2_reg),
    .x_last(last_2_reg),
    .x_absorb(absorb_2_reg),
    .x(x_2_reg),
    .h(h_2_reg),
    .y(y)
);

reg         valid_3_reg;
reg         save_3_reg;
reg         known_3_reg;
reg         decrypt_3_reg;
reg [1:0]   tag_3_reg;
reg [127:0] word_3_reg;
reg [15:0]  aad_bytes_3_reg;
reg [35:0]  text_bytes_3_reg;

reg         valid_4_reg;
reg         save_4_reg;
reg         known_4_reg;
reg         decrypt_4_reg;
reg [1:0]   tag_4_reg;
reg [127:0] word_4_reg;
reg [15:0]  aad_bytes_4_reg;
reg [35:0]  text_bytes_4_reg;

wire [127:0] tag = y ^ word_4_reg;
wire [15:0]  wrong;
wire [15:0]  compared = {{4{tag_4_reg[1]}}, {4{tag_4_reg != 2'd0}}, 8'hff};

generate
    for (i = 0; i < 16; i = i + 1) begin : g_tag
        assign wrong[i] = compared[i] && tag[8*i +: 8] != 8'd0;
    end
endgenerate

always @(posedge clk) begin
    if (valid_2_reg && last_2_reg) begin
        save_3_reg <= save_2_reg;
        known_3_reg <= known_2_reg;
        decrypt_3_reg <= decrypt_2_reg;
        tag_3_reg <= tag_2_reg;
        word_3_reg <= word_2_reg;
        aad_bytes_3_reg <= aad_bytes_2_reg;
        text_bytes_3_reg <= text_bytes_2_reg;
    end
    if (valid_3_reg) begin
        save_4_reg <= save_3_reg;
        known_4_reg <= known_3_reg;
        decrypt_4_reg <= decrypt_3_reg;
        tag_4_reg <= tag_3_reg;
        word_4_reg <= word_3_reg;
        aad_bytes_4_reg <= aad_bytes_3_reg;
        text_bytes_4_reg <= text_bytes_3_reg;
    end
end

always @(posedge clk) begin
    valid_1_reg <= place_read;
    valid_2_reg <= valid_1_reg;
    valid_3_reg <= valid_2_reg && last_2_reg;
    valid_4_reg <= valid_3_reg;

    if (rst) begin
        valid_1_reg <= 1'b0;
        valid_2_reg <= 1'b0;
        valid_3_reg <= 1'b0;
        valid_4_reg <= 1'b0;
    end
end

wire stopped = save_4_reg && known_4_reg;

assign end_valid = valid_4_reg;
assign end_bad = !known_4_reg || (decrypt_4_reg && !save_4_reg && |wrong);
assign end_unknown = !known_4_reg;
assign end_save = save_4_reg;
assign end_first = (save_4_reg ? y : tag) & {128{known_4_reg && (save_4_reg || !decrypt_4_reg)}};
assign end_part = word_4_reg & {128{stopped}};
assign end_aad_bytes = aad_bytes_4_reg & {16{stopped}};
assign end_text_bytes = text_bytes_4_reg & {36{stopped}};

endmodule

`resetall
