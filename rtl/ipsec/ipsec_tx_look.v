// ipsec_tx_look: the checks of a frame's head that is to be protected, its sequence number and its lengths (docs/ipsec.md,
// Transmit), one frame in four cycles at most.
//
//   f      `ask`, a frame's first beat with its metadata; ipsec_table is asked
//   f + 1  sa_* and `there` are here; text_at, the first byte of the text, until f + 4
//   f + 2  ipsec_state is asked, which answers in f + 4
//   f + 5  `done`: `code` 0, the number is taken (set_count) and the frame goes to the engine; else it ends with that code.
//          Everything beside `done` holds in this cycle.
//
// Parameters: HOLD_BEATS, beats of the longest frame out; SAS.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_tx_look #(
    parameter HOLD_BEATS = 1024,
    parameter SAS = 256,
    parameter SA_W = $clog2(SAS)
) (
    input  wire               clk,
    input  wire               rst,

    input  wire [15:0]        max_packet,

    input  wire               ask,
    input  wire [`META_W-1:0] meta,

    // The SA, from f + 1 to f + 4
    input  wire               there,
    input  wire [1:0]         sa_mode,
    input  wire [1:0]         sa_natt,
    input  wire               sa_ipv6,
    input  wire               sa_esn,
    input  wire [1:0]         sa_cipher,
    input  wire [1:0]         sa_tag,
    input  wire [15:0]        sa_mtu,

    // ipsec_state
    output wire               ask_valid,
    output wire [SA_W-1:0]    ask_sa,
    output wire [15:0]        ask_bytes,
    input  wire [63:0]        latest,
    input  wire               room,
    output wire               set_count,
    output wire               set_hard,
    output wire               set_ended,

    output wire [8:0]         text_at,

    // The frame in f + 5
    output wire               done,
    output wire [6:0]         code,
    output wire [SA_W-1:0]    sa,
    output wire [63:0]        number,
    output wire               transport,
    output wire               udp,
    output wire [1:0]         kind,          // of the outermost IP header out
    output wire [4:0]         tag_bytes,
    output wire [15:0]        text_bytes,
    output wire [1:0]         pads,
    output wire [15:0]        n,             // bytes that the cipher works on
    output wire [15:0]        payload,       // bytes behind the IP headers
    output wire [15:0]        packet,        // and with them
    output wire [8:0]         head_bytes,    // of the frame in, in front of what is put in
    output wire [8:0]         l4_offset      // of the frame out
);

localparam [1:0] IPV4 = 2'd1;
localparam [1:0] IPV6 = 2'd2;
localparam [1:0] CIPHER_OTHER = 2'd3;
localparam MOST_BYTES = 16 * HOLD_BEATS;
localparam [7:0] NO_SA = `CODE_IPSEC_NO_SA;
localparam [7:0] CIPHER = `CODE_IPSEC_CIPHER;
localparam [7:0] POLICY = `CODE_IPSEC_POLICY;
localparam [7:0] FRAGMENT = `CODE_IPSEC_FRAGMENT;
localparam [7:0] MTU = `CODE_IPSEC_MTU;
localparam [7:0] SEQUENCE = `CODE_IPSEC_SEQUENCE;
localparam [7:0] LIFETIME = `CODE_IPSEC_LIFETIME;

wire unused_bits = &{
    1'b0, meta, NO_SA[7], CIPHER[7], POLICY[7], FRAGMENT[7], MTU[7], SEQUENCE[7], LIFETIME[7]
};

reg [4:0] stage_reg; // bit i: a frame in f + 1 + i

always @(posedge clk) begin
    stage_reg <= {stage_reg[3:0], ask};

    if (rst) begin
        stage_reg <= 5'd0;
    end
end

// f + 1

reg [11:0] sa_reg;
reg parse_bad_reg, ah_reg, fragment_reg, segments_reg;
reg [1:0] kind_reg;
reg [7:0] l3_offset_reg;
reg [8:0] l3_payload_reg;
reg [16:0] l3_length_reg;

always @(posedge clk) begin
    if (ask) begin
        sa_reg <= meta[`MF_ACL_SA];
        parse_bad_reg <= meta[`MF_PARSE_CODE] != 7'd0;
        ah_reg <= meta[`MF_EXT_MASK_LSB + 4];
        fragment_reg <= meta[`MF_FRAGMENT];
        segments_reg <= meta[`MF_SEGMENTS_LEFT];
        kind_reg <= meta[`MF_L3_KIND];
        l3_offset_reg <= meta[`MF_L3_OFFSET];
        l3_payload_reg <= meta[`MF_L3_PAYLOAD_OFFSET];
        l3_length_reg <= meta[`MF_L3_LENGTH];
    end
end

wire is_transport = sa_mode == 2'd0;
wire is_udp = sa_natt != 2'd0;
wire listed = {20'd0, sa_reg} < SAS;
wire unfit = is_transport && (parse_bad_reg || ah_reg || (is_udp && segments_reg));
wire [6:0] first_code = !(there && listed) ? NO_SA[6:0] : sa_cipher == CIPHER_OTHER ? CIPHER[6:0]
    : kind_reg == 2'd0 || unfit ? POLICY[6:0] : is_transport && fragment_reg ? FRAGMENT[6:0] : 7'd0;
wire [8:0] begins = is_transport ? l3_payload_reg : {1'b0, l3_offset_reg};
wire [8:0] headers = is_transport ? l3_payload_reg - {1'b0, l3_offset_reg} : sa_ipv6 ? 9'd40 : 9'd20;
wire [17:0] text = {10'd0, l3_offset_reg} + {1'b0, l3_length_reg} - {9'd0, begins};
wire [1:0] pad = 2'd2 - text[1:0];

// Without an SA or IP nobody wants its text; but beats are counted from here, and none begins a frame.
assign text_at = kind_reg == 2'd0 ? 9'd16 : there && listed ? begins : {1'b0, l3_offset_reg};

// f + 2 to f + 5: what was known of it in f + 1

reg [6:0] first_code_reg;
reg transport_reg, udp_reg, esn_reg;
reg [1:0] out_kind_reg, pads_reg;
reg [4:0] tag_reg;
reg [15:0] mtu_reg, text_reg;
reg [8:0] head_reg, headers_reg, l4_reg;
reg [7:0] offset_reg;
reg [17:0] n_reg;
reg [SA_W-1:0] held_sa_reg;

always @(posedge clk) begin
    if (stage_reg[0]) begin
        first_code_reg <= first_code;
        transport_reg <= is_transport;
        udp_reg <= is_udp;
        esn_reg <= sa_esn;
        out_kind_reg <= is_transport ? kind_reg : sa_ipv6 ? IPV6 : IPV4;
        pads_reg <= pad;
        tag_reg <= sa_tag == 2'd0 ? 5'd8 : sa_tag == 2'd1 ? 5'd12 : 5'd16;
        mtu_reg <= sa_mtu;
        text_reg <= text[15:0];
        head_reg <= begins;
        headers_reg <= headers;
        l4_reg <= {1'b0, l3_offset_reg} + headers;
        offset_reg <= l3_offset_reg;
        n_reg <= text + 18'd2 + {16'd0, pad};
        held_sa_reg <= sa_reg[SA_W-1:0];
    end
end

assign ask_valid = stage_reg[1] && first_code_reg == 7'd0;
assign ask_sa = held_sa_reg;
assign ask_bytes = n_reg[15:0];

wire [17:0] behind = n_reg + {13'd0, tag_reg} + (udp_reg ? 18'd24 : 18'd16);
wire [17:0] whole = behind + {9'd0, headers_reg};
wire [17:0] frame = whole + {10'd0, offset_reg};
wire too_long = whole > {2'd0, max_packet} || (mtu_reg != 16'd0 && whole > {2'd0, mtu_reg})
    || {14'd0, frame} > MOST_BYTES;

reg too_long_reg;
reg [15:0] payload_reg, packet_reg;

always @(posedge clk) begin
    if (stage_reg[1]) begin
        too_long_reg <= too_long;
        payload_reg <= behind[15:0];
        packet_reg <= whole[15:0];
    end
end

// f + 4: the number

wire [63:0] next = latest + 64'd1;
wire used_up = esn_reg ? latest == {64{1'b1}} : latest >= 64'h00000000ffffffff;
wire [6:0] last_code = first_code_reg != 7'd0 ? first_code_reg : too_long_reg ? MTU[6:0] : used_up ? SEQUENCE[6:0]
    : !room ? LIFETIME[6:0] : 7'd0;

reg [6:0] code_reg;
reg [63:0] number_reg;

always @(posedge clk) begin
    if (stage_reg[3]) begin
        code_reg <= last_code;
        number_reg <= next;
    end
end

assign done = stage_reg[4];
assign code = code_reg;
assign set_count = stage_reg[4] && code_reg == 7'd0;
assign set_hard = stage_reg[4] && code_reg == LIFETIME[6:0];
assign set_ended = stage_reg[4] && code_reg == SEQUENCE[6:0];
assign number = number_reg;
assign sa = held_sa_reg;
assign transport = transport_reg;
assign udp = udp_reg;
assign kind = out_kind_reg;
assign tag_bytes = tag_reg;
assign text_bytes = text_reg;
assign pads = pads_reg;
assign n = n_reg[15:0];
assign payload = payload_reg;
assign packet = packet_reg;
assign head_bytes = head_reg;
assign l4_offset = l4_reg;

endmodule

`resetall
