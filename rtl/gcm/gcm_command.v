// gcm_command: commands with their keys, in order; the first one is at the output while m_valid is 1, m_read takes it.
//
// The slot of a command is looked up when the command is taken, and what was found stays with it. Two cycles from there
// to the output, one command a cycle. Without a key, key and H are 0.
//
// m_counter is the counter of the block in which the text goes on, m_place the byte in it (SP 800-38D, 7.1). Where the
// command doesn't resume, what is handed over of a state is that of a packet that begins.
//
// Parameter: KEYS, a power of two from 2 on.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_command #(
    parameter KEYS = 256,
    parameter KEY_W = $clog2(KEYS)
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             ready,
    output wire             idle,

    input  wire             s_valid,
    output wire             s_ready,
    input  wire [KEY_W-1:0] s_key,
    input  wire             s_decrypt,
    input  wire [95:0]      s_iv,
    input  wire [4:0]       s_tag_bytes,
    input  wire             s_save,
    input  wire             s_resume,
    input  wire [307:0]     s_state,

    output wire             look_valid,
    output wire [KEY_W-1:0] look_index,
    input  wire             look_known,
    input  wire             look_cipher,
    input  wire             look_256,
    input  wire [255:0]     look_key,
    input  wire [127:0]     look_h,

    output wire             m_valid,
    input  wire             m_read,
    output wire             m_known,
    output wire             m_cipher,
    output wire             m_256,
    output wire [255:0]     m_key,
    output wire [127:0]     m_h,
    output wire             m_decrypt,
    output wire             m_save,
    output wire [1:0]       m_tag,         // 0: 8 bytes, 1: 12, 2: 16
    output wire [95:0]      m_iv,
    output wire [31:0]      m_counter,
    output wire [3:0]       m_place,
    output wire [127:0]     m_ghash,
    output wire [127:0]     m_part,        // 0 from m_place on
    output wire [15:0]      m_aad_bytes,
    output wire [35:0]      m_text_bytes
);

localparam DEPTH = 4;
localparam OWN_W = 1 + 1 + 2 + 96 + 32 + 128 + 128 + 16 + 36;
localparam WIDTH = OWN_W + 3 + 256 + 128;

reg             taken_reg;
reg [OWN_W-1:0] own_reg;

wire            room;
wire            take = s_valid && s_ready;
wire [307:0]    state = s_resume ? s_state : 308'd0;
wire [1:0]      tag = s_tag_bytes == 5'd8 ? 2'd0 : s_tag_bytes == 5'd12 ? 2'd1 : 2'd2;
wire [127:0]    part = state[255:128] & ~({128{1'b1}} << {state[275:272], 3'd0});

assign s_ready = ready && room && !rst;
assign look_valid = take;
assign look_index = s_key;

always @(posedge clk) begin
    taken_reg <= take;
    if (take) begin
        own_reg <= {s_decrypt, s_save, tag, s_iv, state[307:276] + 32'd2, state[127:0], part,
                    state[271:256], state[307:272]};
    end

    if (rst) begin
        taken_reg <= 1'b0;
    end
end

assign m_place = m_text_bytes[3:0];

gcm_queue #(.WIDTH(WIDTH), .DEPTH(DEPTH)) queue (
    .clk(clk),
    .rst(rst),
    .write(taken_reg),
    .write_data({own_reg, look_known, look_cipher, look_256, look_key, look_h}),
    .valid(m_valid),
    .read_data({m_decrypt, m_save, m_tag, m_iv, m_counter, m_ghash, m_part, m_aad_bytes, m_text_bytes,
                m_known, m_cipher, m_256, m_key, m_h}),
    .read(m_read)
);

gcm_room #(.DEPTH(DEPTH)) places (
    .clk(clk), .rst(rst), .taken(take), .given(m_read), .room(room), .empty(idle)
);

endmodule

`resetall
