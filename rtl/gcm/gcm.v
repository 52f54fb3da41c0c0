// gcm: AES-GCM and SM4-GCM, encrypt and decrypt, 128 bits a cycle, each packet with a key of its own, in order.
//
// NIST SP 800-38D, FIPS 197; GB/T 32907, RFC 8998. Ports and rules: docs/gcm.md. A packet of A blocks of AAD and T of text
// takes A + T + 1 cycles, one without the last of them where it is saved.
//
// Latency, for a packet in an engine that holds nothing, which comes without gaps and leaves as it can: from the
// handshake of the first beat of text to the first beat out, and from that of the last beat to the last beat out
//     AES 20 and 23     SM4 38 and 41     no key 5 and 8
// The last one of a part that is saved, and of a packet that is one beat with nothing, is one less; that of a part of AAD
// alone that is saved is 7. A change of cipher costs no cycle at the input: places leave in order, one a cycle, each when
// its block is there.
// A packet's first beat is taken two cycles behind its command, at the earliest.
//
// Parameters: KEYS, slots of the key table, a power of two from 2 on; SM4_EN 0 or 1.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm #(
    parameter KEYS = 256,
    parameter SM4_EN = 1,
    parameter KEY_W = $clog2(KEYS)
) (
    input  wire             clk,
    input  wire             rst,
    output wire             ready,
    output wire             idle,

    input  wire             key_valid,
    output wire             key_ready,
    input  wire [KEY_W-1:0] key_index,
    input  wire             key_cipher,
    input  wire             key_256,
    input  wire             key_erase,
    input  wire [255:0]     key_data,
    output wire             key_done,

    input  wire             s_cmd_valid,
    output wire             s_cmd_ready,
    input  wire [KEY_W-1:0] s_cmd_key,
    input  wire             s_cmd_decrypt,
    input  wire [95:0]      s_cmd_iv,
    input  wire [4:0]       s_cmd_tag_bytes,
    input  wire             s_cmd_save,
    input  wire             s_cmd_resume,
    input  wire [307:0]     s_cmd_state,

    input  wire [127:0]     s_axis_tdata,
    input  wire [15:0]      s_axis_tkeep,
    input  wire             s_axis_tvalid,
    output wire             s_axis_tready,
    input  wire             s_axis_tlast,
    input  wire             s_axis_tuser,
    input  wire [127:0]     s_axis_tag,

    output wire [127:0]     m_axis_tdata,
    output wire [15:0]      m_axis_tkeep,
    output wire             m_axis_tvalid,
    input  wire             m_axis_tready,
    output wire             m_axis_tlast,
    output wire [1:0]       m_axis_tuser,
    output wire [127:0]     m_axis_tag,
    output wire [307:0]     m_axis_state
);

initial begin
    if (KEYS < 2 || KEYS != 1 << KEY_W) begin
        $display("gcm: KEYS must be a power of two from 2 on (%m)");
        $finish;
    end
end

// Places on their way: more than a cipher's latency, for full rate.
localparam DEPTH = SM4_EN != 0 ? 64 : 32;
localparam PLACE_W = 1 + 7 + 128 + 16 + 16 + 36;
localparam PACKET_W = 1 + 1 + 2 + 128 + 128;

// Keys and commands

wire             keys_idle;
wire             job_valid;
wire             job_late;
wire             job_cipher;
wire             job_256;
wire [255:0]     job_key;
wire             job_go;
wire             h_valid;
wire [127:0]     h;
wire             look_valid;
wire [KEY_W-1:0] look_index;
wire             look_known;
wire             look_cipher;
wire             look_256;
wire [255:0]     look_key;
wire [127:0]     look_h;

gcm_keys #(.KEYS(KEYS), .SM4_EN(SM4_EN)) keys (
    .clk(clk), .rst(rst), .ready(ready), .idle(keys_idle),
    .key_valid(key_valid), .key_ready(key_ready), .key_index(key_index), .key_cipher(key_cipher), .key_256(key_256),
    .key_erase(key_erase), .key_data(key_data), .key_done(key_done),
    .job_valid(job_valid), .job_late(job_late), .job_cipher(job_cipher), .job_256(job_256), .job_key(job_key),
    .job_go(job_go), .h_valid(h_valid), .h(h),
    .look_valid(look_valid), .look_index(look_index), .look_known(look_known), .look_cipher(look_cipher),
    .look_256(look_256), .look_key(look_key), .look_h(look_h)
);

wire             command_idle;
wire             c_valid;
wire             c_read;
wire             c_known;
wire             c_cipher;
wire             c_256;
wire [255:0]     c_key;
wire [127:0]     c_h;
wire             c_decrypt;
wire             c_save;
wire [1:0]       c_tag;
wire [95:0]      c_iv;
wire [31:0]      c_counter;
wire [3:0]       c_place;
wire [127:0]     c_ghash;
wire [127:0]     c_part;
wire [15:0]      c_aad_bytes;
wire [35:0]      c_text_bytes;

gcm_command #(.KEYS(KEYS)) command (
    .clk(clk), .rst(rst), .ready(ready), .idle(command_idle),
    .s_valid(s_cmd_valid), .s_ready(s_cmd_ready), .s_key(s_cmd_key), .s_decrypt(s_cmd_decrypt), .s_iv(s_cmd_iv),
    .s_tag_bytes(s_cmd_tag_bytes), .s_save(s_cmd_save), .s_resume(s_cmd_resume), .s_state(s_cmd_state),
    .look_valid(look_valid), .look_index(look_index), .look_known(look_known), .look_cipher(look_cipher),
    .look_256(look_256), .look_key(look_key), .look_h(look_h),
    .m_valid(c_valid), .m_read(c_read), .m_known(c_known), .m_cipher(c_cipher), .m_256(c_256), .m_key(c_key),
    .m_h(c_h), .m_decrypt(c_decrypt), .m_save(c_save), .m_tag(c_tag), .m_iv(c_iv), .m_counter(c_counter),
    .m_place(c_place), .m_ghash(c_ghash), .m_part(c_part), .m_aad_bytes(c_aad_bytes), .m_text_bytes(c_text_bytes)
);

// In

wire         place_room;
wire         place_empty;
wire         place_read;
wire         beat_room;
wire         beat_empty;
wire         issue;
wire         issue_beat;
wire         packet_first;
wire         block_valid;
wire [127:0] block;
wire         place_valid;
wire         place_wait;
wire         place_lengths;
wire         place_first;
wire         place_last;
wire         place_absorb;
wire         place_beat;
wire         place_end;
wire [127:0] place_data;
wire [15:0]  place_keep;
wire [15:0]  place_aad_bytes;
wire [35:0]  place_text_bytes;

gcm_issue in (
    .clk(clk), .rst(rst), .room(place_room && beat_room), .hold(job_late),
    .c_valid(c_valid), .c_read(c_read), .c_known(c_known), .c_decrypt(c_decrypt), .c_save(c_save), .c_iv(c_iv),
    .c_counter(c_counter), .c_place(c_place), .c_part(c_part), .c_aad_bytes(c_aad_bytes),
    .c_text_bytes(c_text_bytes),
    .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid),
    .s_axis_tready(s_axis_tready), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser), .s_axis_tag(s_axis_tag),
    .issue(issue), .issue_beat(issue_beat), .packet_first(packet_first), .block_valid(block_valid), .block(block),
    .place_valid(place_valid), .place_wait(place_wait), .place_lengths(place_lengths), .place_first(place_first),
    .place_last(place_last), .place_absorb(place_absorb), .place_beat(place_beat), .place_end(place_end),
    .place_data(place_data), .place_keep(place_keep), .place_aad_bytes(place_aad_bytes),
    .place_text_bytes(place_text_bytes)
);

gcm_room #(.DEPTH(DEPTH)) places_room (
    .clk(clk), .rst(rst), .taken(issue), .given(place_read), .room(place_room), .empty(place_empty)
);

gcm_room #(.DEPTH(DEPTH)) beats_room (
    .clk(clk), .rst(rst), .taken(issue_beat), .given(m_axis_tvalid && m_axis_tready), .room(beat_room),
    .empty(beat_empty)
);

assign idle = ready && keys_idle && command_idle && place_empty && beat_empty;

// Through the ciphers: a block of a place, or where there is none that of a key's H

reg         aes_in_reg;
reg         sm4_in_reg;
reg         job_in_reg;
reg         cipher_reg;
reg         in_256_reg;
reg [255:0] in_key_reg;
reg [127:0] in_block_reg;

assign job_go = job_valid && !block_valid;

always @(posedge clk) begin
    if (block_valid || job_valid) begin
        job_in_reg <= !block_valid;
        in_256_reg <= block_valid ? c_256 : job_256;
        in_key_reg <= block_valid ? c_key : job_key;
        in_block_reg <= block_valid ? block : 128'd0;
    end
    if (issue) begin
        cipher_reg <= c_cipher;
    end
end

always @(posedge clk) begin
    aes_in_reg <= block_valid ? !c_cipher : job_valid && !job_cipher;
    sm4_in_reg <= block_valid ? c_cipher : job_valid && job_cipher;

    if (rst) begin
        aes_in_reg <= 1'b0;
        sm4_in_reg <= 1'b0;
    end
end

wire         aes_out;
wire         aes_out_job;
wire [127:0] aes_out_block;
wire         aes_valid;
wire         aes_read;
wire [127:0] aes_block;
wire         sm4_valid;
wire         sm4_read;
wire [127:0] sm4_block;

gcm_aes aes (
    .clk(clk), .rst(rst), .s_valid(aes_in_reg), .s_256(in_256_reg), .s_key(in_key_reg), .s_block(in_block_reg),
    .s_user(job_in_reg), .m_valid(aes_out), .m_block(aes_out_block), .m_user(aes_out_job)
);

gcm_queue #(.WIDTH(128), .DEPTH(DEPTH)) aes_blocks (
    .clk(clk), .rst(rst), .write(aes_out && !aes_out_job), .write_data(aes_out_block),
    .valid(aes_valid), .read_data(aes_block), .read(aes_read)
);

generate
    if (SM4_EN != 0) begin : g_sm4
        wire         out;
        wire         out_job;
        wire [127:0] out_block;

        gcm_sm4 sm4 (
            .clk(clk), .rst(rst), .s_valid(sm4_in_reg), .s_key(in_key_reg[127:0]), .s_block(in_block_reg),
            .s_user(job_in_reg), .m_valid(out), .m_block(out_block), .m_user(out_job)
        );

        gcm_queue #(.WIDTH(128), .DEPTH(DEPTH)) blocks (
            .clk(clk), .rst(rst), .write(out && !out_job), .write_data(out_block),
            .valid(sm4_valid), .read_data(sm4_block), .read(sm4_read)
        );

        assign h_valid = (aes_out && aes_out_job) || (out && out_job);
        assign h = job_cipher ? out_block : aes_out_block;
    end else begin : g_no_sm4
        assign sm4_valid = 1'b0;
        assign sm4_block = 128'd0;
        assign h_valid = aes_out && aes_out_job;
        assign h = aes_out_block;
        wire unused = &{1'b0, sm4_in_reg, sm4_read};
    end
endgenerate

// In order again

wire         head_valid;
wire         head_cipher;
wire         head_wait;
wire         head_lengths;
wire         head_first;
wire         head_last;
wire         head_absorb;
wire         head_beat;
wire         head_end;
wire [127:0] head_data;
wire [15:0]  head_keep;
wire [15:0]  head_aad_bytes;
wire [35:0]  head_text_bytes;
wire         packet_valid;       // as head_valid && head_first
wire         packet_read;
wire         packet_known;
wire         packet_decrypt;
wire [1:0]   packet_tag;
wire [127:0] packet_h;
wire [127:0] packet_ghash;

gcm_queue #(.WIDTH(PLACE_W), .DEPTH(DEPTH)) places (
    .clk(clk), .rst(rst), .write(place_valid),
    .write_data({cipher_reg, place_wait, place_lengths, place_first, place_last, place_absorb, place_beat, place_end,
                 place_data, place_keep, place_aad_bytes, place_text_bytes}),
    .valid(head_valid),
    .read_data({head_cipher, head_wait, head_lengths, head_first, head_last, head_absorb, head_beat, head_end,
                head_data, head_keep, head_aad_bytes, head_text_bytes}),
    .read(place_read)
);

gcm_queue #(.WIDTH(PACKET_W), .DEPTH(DEPTH)) packets (
    .clk(clk), .rst(rst), .write(packet_first), .write_data({c_known, c_decrypt, c_tag, c_h, c_ghash}),
    .valid(packet_valid), .read_data({packet_known, packet_decrypt, packet_tag, packet_h, packet_ghash}), .read(packet_read)
);

wire         beat_valid;
wire         beat_end;
wire [127:0] beat_data;
wire [15:0]  beat_keep;
wire         end_valid;
wire         end_bad;
wire         end_unknown;
wire         end_save;
wire [127:0] end_first;
wire [127:0] end_part;
wire [15:0]  end_aad_bytes;
wire [35:0]  end_text_bytes;

gcm_exit exit (
    .clk(clk), .rst(rst),
    .place_valid(head_valid), .place_read(place_read), .place_cipher(head_cipher), .place_wait(head_wait),
    .place_lengths(head_lengths), .place_first(head_first), .place_last(head_last), .place_absorb(head_absorb),
    .place_beat(head_beat), .place_end(head_end), .place_data(head_data), .place_keep(head_keep),
    .place_aad_bytes(head_aad_bytes), .place_text_bytes(head_text_bytes),
    .packet_read(packet_read), .packet_known(packet_known), .packet_decrypt(packet_decrypt), .packet_tag(packet_tag),
    .packet_h(packet_h), .packet_ghash(packet_ghash),
    .aes_valid(aes_valid), .aes_read(aes_read), .aes_block(aes_block),
    .sm4_valid(sm4_valid), .sm4_read(sm4_read), .sm4_block(sm4_block),
    .beat_valid(beat_valid), .beat_end(beat_end), .beat_data(beat_data), .beat_keep(beat_keep),
    .end_valid(end_valid), .end_bad(end_bad), .end_unknown(end_unknown), .end_save(end_save), .end_first(end_first),
    .end_part(end_part), .end_aad_bytes(end_aad_bytes), .end_text_bytes(end_text_bytes)
);

gcm_out #(.DEPTH(DEPTH)) out (
    .clk(clk), .rst(rst),
    .beat_valid(beat_valid), .beat_end(beat_end), .beat_data(beat_data), .beat_keep(beat_keep),
    .end_valid(end_valid), .end_bad(end_bad), .end_unknown(end_unknown), .end_save(end_save), .end_first(end_first),
    .end_part(end_part), .end_aad_bytes(end_aad_bytes), .end_text_bytes(end_text_bytes),
    .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser),
    .m_axis_tag(m_axis_tag), .m_axis_state(m_axis_state)
);

wire unused = &{1'b0, packet_valid};

endmodule

`resetall
