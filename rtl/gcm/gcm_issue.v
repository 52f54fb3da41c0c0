// gcm_issue: what comes in, as a row of places: one a cycle, each with a block for the cipher where it needs one.
//
// A beat of AAD or text makes a place; behind a packet's last one comes a place for the block of lengths, with the cipher
// on J0 (SP 800-38D, 7.1). A packet that is saved has none; one without anything is that place alone. So a packet of
// A blocks of AAD and T of text has A + T + 1 places. A place is taken where `room` is 1 and `hold` is 0.
//
// In the cycle of a handshake (or of the place for lengths): `block_*` to the cipher and `packet_*`, beside a packet's
// first place. In the next cycle: `place_*`. Bytes that aren't kept are 0; in front of a text that goes on in the middle of
// a block there are the bytes of ciphertext that it had.
//
// Where the packet has no key, no block goes to a cipher.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_issue (
    input  wire         clk,
    input  wire         rst,
    input  wire         room,
    input  wire         hold,

    input  wire         c_valid,       // the command under way
    output wire         c_read,
    input  wire         c_known,
    input  wire         c_decrypt,
    input  wire         c_save,
    input  wire [95:0]  c_iv,
    input  wire [31:0]  c_counter,
    input  wire [3:0]   c_place,
    input  wire [127:0] c_part,
    input  wire [15:0]  c_aad_bytes,
    input  wire [35:0]  c_text_bytes,

    input  wire [127:0] s_axis_tdata,
    input  wire [15:0]  s_axis_tkeep,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    input  wire         s_axis_tlast,
    input  wire         s_axis_tuser,
    input  wire [127:0] s_axis_tag,

    output wire         issue,         // there is a place
    output wire         issue_beat,    // and a beat will come out of it
    output wire         packet_first,

    output wire         block_valid,
    output wire [127:0] block,

    output wire         place_valid,
    output wire         place_wait,    // there is a block of the cipher to it
    output wire         place_lengths,
    output wire         place_first,
    output wire         place_last,
    output wire         place_absorb,  // it counts in GHASH
    output wire         place_beat,    // it makes a beat out
    output wire         place_end,     // that is the last of its packet
    output wire [127:0] place_data,    // of lengths: the tag that came with a packet to be decrypted
    output wire [15:0]  place_keep,
    output wire [15:0]  place_aad_bytes,
    output wire [35:0]  place_text_bytes
);

reg         inside_reg;          // behind a packet's first place
reg         text_reg;            // behind its first place of text
reg         lengths_reg;         // the next place is that of its lengths
reg [31:0]  counter_reg;
reg [127:0] tag_reg;

wire        may = c_valid && room && !hold && !rst;

assign s_axis_tready = may && !lengths_reg;

wire        take = s_axis_tvalid && s_axis_tready;
wire [3:0]  byte_place = text_reg ? 4'd0 : c_place;
wire        aad = take && s_axis_tuser;
// No text at all: the beat is the place of the lengths.
wire        nothing = take && !s_axis_tuser && s_axis_tlast && !c_save && s_axis_tkeep == 16'd0 && byte_place == 4'd0;
wire        text = take && !s_axis_tuser && !nothing;
wire        lengths = nothing || (lengths_reg && may);
wire        first = !inside_reg;
wire        last = lengths || (take && s_axis_tlast && c_save);
wire [31:0] counter = text_reg ? counter_reg : c_counter;
wire [31:0] count = lengths ? 32'd1 : counter;
wire [127:0] keep_mask;
wire [127:0] tag = nothing ? s_axis_tag : tag_reg;

genvar i;
generate
    for (i = 0; i < 16; i = i + 1) begin : g_lane
        assign keep_mask[8*i +: 8] = {8{s_axis_tkeep[i]}};
    end
endgenerate

assign c_read = last;
assign issue = take || lengths;
assign issue_beat = text || nothing || (lengths && !text_reg) || (aad && last);
assign packet_first = issue && first;
assign block_valid = (text || lengths) && c_known;
assign block = {count[7:0], count[15:8], count[23:16], count[31:24], c_iv};

always @(posedge clk) begin
    if (text) begin
        counter_reg <= counter + 32'd1;
    end
    if (take && s_axis_tlast) begin
        tag_reg <= s_axis_tag;
    end
end

always @(posedge clk) begin
    if (issue) begin
        inside_reg <= !last;
        text_reg <= !last && (text || text_reg);
        lengths_reg <= !last && take && s_axis_tlast;
    end

    if (rst) begin
        inside_reg <= 1'b0;
        text_reg <= 1'b0;
        lengths_reg <= 1'b0;
    end
end

// The next cycle

reg         valid_reg;
reg         wait_reg;
reg         is_lengths_reg;
reg         aad_reg;
reg         save_reg;            // it ends a part that is saved
reg         first_reg;
reg         last_reg;
reg         beat_reg;
reg         end_reg;
reg [127:0] data_reg;
reg [15:0]  keep_reg;
reg [15:0]  aad_bytes_reg;       // of the packet's places before this one
reg [35:0]  text_bytes_reg;

function [4:0] ones(input [15:0] bits);
    integer j;
    begin
        ones = 5'd0;
        for (j = 0; j < 16; j = j + 1) begin
            ones = ones + {4'd0, bits[j]};
        end
    end
endfunction

wire [4:0]  bytes = ones(keep_reg);

assign place_valid = valid_reg;
assign place_wait = wait_reg;
assign place_lengths = is_lengths_reg;
assign place_first = first_reg;
assign place_last = last_reg;
assign place_aad_bytes = aad_bytes_reg + (aad_reg ? {11'd0, bytes} : 16'd0);
assign place_text_bytes = text_bytes_reg + (aad_reg ? 36'd0 : {31'd0, bytes});
// The last block of text of a part that is saved waits for the rest of its bytes; what has none is no block.
assign place_absorb = !save_reg || aad_reg || (place_text_bytes[3:0] == 4'd0 && bytes != 5'd0);
assign place_beat = beat_reg;
assign place_end = end_reg;
assign place_data = data_reg;
assign place_keep = aad_reg ? 16'd0 : keep_reg;

always @(posedge clk) begin
    if (issue) begin
        wait_reg <= block_valid;
        is_lengths_reg <= lengths;
        aad_reg <= aad;
        save_reg <= last && !lengths;
        first_reg <= first;
        last_reg <= last;
        beat_reg <= issue_beat;
        end_reg <= !text || s_axis_tlast;
        data_reg <= lengths ? tag & {128{c_decrypt}}
            : (s_axis_tdata & keep_mask) | (c_part & {128{text && byte_place != 4'd0}});
        keep_reg <= lengths ? 16'd0 : s_axis_tkeep;
    end
    if (valid_reg) begin
        aad_bytes_reg <= place_aad_bytes;
        text_bytes_reg <= place_text_bytes;
    end
    if (issue && first) begin
        aad_bytes_reg <= c_aad_bytes;
        text_bytes_reg <= c_text_bytes;
    end
end

always @(posedge clk) begin
    valid_reg <= issue;

    if (rst) begin
        valid_reg <= 1'b0;
    end
end

endmodule

`resetall
