// ipsec_look: head checks of ipsec_rx, in their order (docs/ipsec.md, Receive).
//
// A frame of ESP's metadata in cycle f (ask; one in four cycles at most), what becomes of it in f + 15 (done): `code` 0 and `left`
// 0, it goes to the engine; `left` 1, 2, 3 (no SA, cipher, fragment), it passes; else it ends with `code`. What it was found
// with stands beside.
//
// f + 10 the SA; f + 12 its word, beside the window's first stages; f + 14 the number and whether it is good.
//
// Parameters: HOLD_BEATS; SA_W.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_look #(
    parameter HOLD_BEATS = 1024,
    parameter SA_W = 8
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               drop_no_sa,
    input  wire               drop_cipher,
    input  wire               drop_fragment,

    input  wire               ask,
    input  wire [`META_W-1:0] meta,
    input  wire [8:0]         esp,          // its first byte
    input  wire [17:0]        stop,         // the first byte behind it

    // ipsec_lookup, from f on
    output wire               key_valid,
    output wire [31:0]        key_spi,
    output wire [127:0]       key_dst,
    output wire               key_ipv6,
    input  wire               found_valid,
    input  wire               found_hit,
    input  wire [SA_W-1:0]    found_sa,

    // ipsec_table: its word two cycles later
    input  wire [1:0]         sa_natt,
    input  wire               sa_esn,
    input  wire [1:0]         sa_cipher,
    input  wire [1:0]         sa_tag,

    // ipsec_window
    output wire [31:0]        window_low,
    input  wire               window_good,

    output wire               done,
    output wire [1:0]         left,
    output wire [6:0]         code,
    output wire [SA_W-1:0]    sa,
    output wire               esn,
    output wire [1:0]         tag,
    output wire [15:0]        n,
    // Of the frame, as its metadata say
    output wire [15:0]        seq,
    output wire [7:0]         host_queue,
    output wire               ipv4,
    output wire               natt,
    output wire [7:0]         l3_offset,
    output wire [8:0]         payload_offset,
    output wire [1:0]         ecn,
    output wire [16:0]        l3_length,
    output wire [7:0]         protocol
);

localparam SHOWN_W = 16 + 8 + 1 + 1 + 8 + 9 + 2 + 17 + 8;
localparam FRAME_W = SHOWN_W + 32 + 9 + 18 + 3;
localparam [31:0] MOST = 16 * HOLD_BEATS;

localparam [1:0] NO_SA = 2'd1;
localparam [1:0] CIPHER = 2'd2;
localparam [1:0] FRAGMENT = 2'd3;

// Only those of the SPIs that the parser found are looked for; what isn't whole is judged before.
assign key_valid = ask;
assign key_spi = meta[`MF_SPI];
assign key_dst = meta[`MF_IP_DST];
assign key_ipv6 = meta[`MF_L3_KIND] == 2'd2;

wire is_fragment, bad_form, bad_checksum;
wire [8:0] from;
wire [17:0] to;
wire frame_valid;
wire [3:0] held;

wire [SHOWN_W-1:0] shown;
wire frame_natt;

reg [4:0] stage_reg;            // bit i: f + 11 + i
reg hit_reg;
reg [SA_W-1:0] sa_reg, done_sa_reg;
reg [SHOWN_W-1:0] shown_reg;

// The next frame may be at f + 11.
wire take = stage_reg[3];

word_queue #(.WIDTH(FRAME_W), .DEPTH(8)) frames (
    .clk(clk), .rst(rst), .write(ask),
    .write_data({
        meta[`MF_SEQ], meta[`MF_QUEUE], meta[`MF_L3_KIND] == 2'd1, meta[`MF_NATT] == 2'd1, meta[`MF_L3_OFFSET],
        meta[`MF_L3_PAYLOAD_OFFSET], meta[`MF_ECN], meta[`MF_L3_LENGTH], meta[`MF_PROTOCOL], meta[`MF_ESP_SEQ], esp, stop,
        meta[`MF_FRAGMENT], meta[`MF_EXT_MASK] >> 4 != 5'd0 || meta[`MF_SEGMENTS_LEFT], meta[`MF_IP_CHECKSUM] == 2'd2
    }),
    .valid(frame_valid),
    .read_data({
        shown, window_low, from, to,
        is_fragment, bad_form, bad_checksum
    }),
    .read(take), .held(held)
);

assign frame_natt = shown[8 + 17 + 2 + 9 + 8];

wire unused_queue = &{1'b0, frame_valid, held, meta};

// f + 12 to f + 14: lengths, form

reg esn_reg, wrong_form_reg, other_cipher_reg;
reg [1:0] tag_reg;
reg [18:0] n_reg;               // below 0: bit 18
reg long_reg;

wire [4:0] tag_bytes = sa_tag == 2'd0 ? 5'd8 : sa_tag == 2'd1 ? 5'd12 : 5'd16;

always @(posedge clk) begin
    if (found_valid) begin
        hit_reg <= found_hit;
        sa_reg <= found_sa;
    end
    if (stage_reg[1]) begin
        esn_reg <= sa_esn;
        tag_reg <= sa_tag;
        other_cipher_reg <= sa_cipher == 2'd3;
        wrong_form_reg <= bad_form || (!sa_natt[1] && sa_natt[0] != frame_natt);
        n_reg <= {1'b0, to} - {10'd0, from} - 19'd16 - {14'd0, tag_bytes};
        long_reg <= {14'd0, to} > MOST;
    end
end

always @(posedge clk) begin
    stage_reg <= {stage_reg[3:0], found_valid};

    if (rst) begin
        stage_reg <= 5'd0;
    end
end

// f + 14: the verdict

reg [1:0] left_now, left_reg;
reg [7:0] code_now;
reg [6:0] code_reg;

always @* begin
    left_now = 2'd0;
    code_now = 8'd0;
    if (is_fragment) begin
        code_now = `CODE_IPSEC_FRAGMENT;
        left_now = drop_fragment ? 2'd0 : FRAGMENT;
    end else if (!hit_reg) begin
        code_now = `CODE_IPSEC_NO_SA;
        left_now = drop_no_sa ? 2'd0 : NO_SA;
    end else if (other_cipher_reg) begin
        code_now = `CODE_IPSEC_CIPHER;
        left_now = drop_cipher ? 2'd0 : CIPHER;
    end else if (wrong_form_reg) begin
        code_now = `CODE_IPSEC_POLICY;
    end else if (bad_checksum) begin
        code_now = `CODE_IPSEC_BAD_CHECKSUM;
    end else if (n_reg[18] || n_reg[17:2] == 16'd0) begin
        code_now = `CODE_IPSEC_TRUNCATED;
    end else if (n_reg[1:0] != 2'd0) begin
        code_now = `CODE_IPSEC_BAD_PADDING;
    end else if (long_reg) begin
        code_now = `CODE_IPSEC_MTU;
    end else if (!window_good) begin
        code_now = `CODE_IPSEC_REPLAY;
    end
end

wire unused_code = &{1'b0, code_now[7], n_reg[16]};

always @(posedge clk) begin
    if (stage_reg[3]) begin
        left_reg <= left_now;
        done_sa_reg <= sa_reg;
        shown_reg <= shown;
        code_reg <= left_now != 2'd0 ? 7'd0 : code_now[6:0];
    end
end

assign done = stage_reg[4];
assign left = left_reg;
assign code = code_reg;
assign sa = done_sa_reg;
assign esn = esn_reg;
assign tag = tag_reg;
assign n = n_reg[15:0];
assign {seq, host_queue, ipv4, natt, l3_offset, payload_offset, ecn, l3_length, protocol} = shown_reg;

endmodule

`resetall
