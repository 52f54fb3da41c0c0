// ipsec_tx: ESP with AES-GCM and SM4-GCM, transmitted: frames that the ACL wants protected leave encrypted.
//
//   s_axis -+-> ipsec_tx_look (ipsec_table, ipsec_state) -+-> ipsec_tx_headers -----------------+
//           +-> ipsec_align: bytes of the text ------------+-> ipsec_tx_feed -> gcm -> ipsec_tx_seal -> ipsec_tx_verdict
//           +-> ipsec_hold: frames in order <---------------------------------------+-----------+
//                    +-> ipsec_tx_write -> m_axis
//
// RFC 4303, 4106, 3948, 6040; docs/ipsec.md: checks, what leaves, exact cycles (Time). A frame that isn't to be protected: latency
// 3 cycles; an encrypted one is stored and forwarded. Throughput: a beat a cycle; a protected frame every 4 cycles, and T + 3
// for T blocks of text. `s_axis_tready` falls in front of a frame's first beat in the three cycles behind that of a protected
// one, and where there is no room.
//
// Parameters: SAS, a power of two, 2 to 4096; SM4_EN; HOLD_BEATS, a power of two, 32 to 4096.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_tx #(
    parameter SAS = 256,
    parameter SM4_EN = 1,
    parameter HOLD_BEATS = 1024
) (
    input  wire               clk,
    input  wire               rst,

    // Frames in
    input  wire [127:0]       s_axis_tdata,
    input  wire [15:0]        s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    input  wire [9:0]         s_axis_tuser,
    input  wire [`META_W-1:0] s_axis_meta,

    // Frames out
    output wire [127:0]       m_axis_tdata,
    output wire [15:0]        m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [9:0]         m_axis_tuser,
    output wire [`META_W-1:0] m_axis_meta,

    // Registers
    input  wire               reg_req,
    input  wire               reg_write,
    input  wire [13:0]        reg_addr,
    input  wire [31:0]        reg_wdata,
    input  wire [3:0]         reg_wstrb,
    output wire               reg_ack,
    output wire               reg_error,
    output wire [31:0]        reg_rdata,

    // Dispositions
    output wire               disp_valid,
    output wire [15:0]        disp_seq,
    output wire [7:0]         disp_code,
    output wire [7:0]         disp_queue,

    // Time and state
    input  wire [63:0]        now,
    output wire               idle,
    output wire [63:0]        next_deadline,
    output wire               ready
);

initial begin
    if (SAS < 2 || SAS > 4096 || SAS != 1 << $clog2(SAS)) begin
        $display("ipsec_tx: SAS must be a power of two, 2 to 4096 (%m)");
        $finish;
    end
    if (HOLD_BEATS < 32 || HOLD_BEATS > 4096 || HOLD_BEATS != 1 << $clog2(HOLD_BEATS)) begin
        $display("ipsec_tx: HOLD_BEATS must be a power of two, 32 to 4096 (%m)");
        $finish;
    end
end

localparam SA_W = $clog2(SAS);
localparam FRAMES = HOLD_BEATS / 4;
localparam SLOT_W = $clog2(FRAMES);
localparam LEVEL_W = $clog2(HOLD_BEATS) + 1;
localparam SM4_BIT = SM4_EN != 0 ? 1'b1 : 1'b0;
localparam TABLE_W = 10 + 18 + 32 + 32 + 32 + 20 + 16 + 256;
localparam WORD_W = 9 + 16 + 1 + 1 + 2 + 16 + 16 + 9 + 32 + 32 + 16 + 16 + 128 + 128 + 6 + 2 + 1 + 8;

// Frames for the engine that wait for ciphertext; `room` is seen to be 0 by one frame in the look-up and one at its door.
localparam SEALS = 32;
localparam [5:0] MOST_SEALS = SEALS - 4;

// Number of bytes that `tkeep` says
function [4:0] bytes_of(input [15:0] keep);
    integer i;
    begin
        bytes_of = 5'd0;
        for (i = 0; i < 16; i = i + 1) begin
            if (keep[i]) begin
                bytes_of = i[4:0] + 5'd1;
            end
        end
    end
endfunction

// Registers

wire command_req, command_write, command_ack;
wire [31:0] command_wdata, command_rdata;
wire [3:0] command_wstrb;
wire [1:0] form_mode, form_natt, form_cipher, form_tag;
wire form_ipv6, form_esn;
wire [31:0] spi, salt;
wire [5:0] outer_dscp;
wire outer_dscp_fixed, outer_ecn_compat;
wire [1:0] outer_df;
wire [7:0] outer_ttl;
wire [15:0] src_port, dst_port, mtu, max_packet;
wire [19:0] flow_label;
wire [127:0] src, dst;
wire [255:0] key;
wire [63:0] first_number, soft_packets, hard_packets, soft_bytes, hard_bytes;
wire event_seen, event_first, event_more;
wire [1:0] event_kind;
wire [11:0] event_sa;
wire read_there;
wire [2:0] reached;
wire [63:0] state_packets, state_bytes, state_number;

wire judged, judged_bad;
wire [6:0] judged_code;
wire [15:0] judged_n;
wire soft_reached;
reg pass_reg;

wire leaves = judged && judged_code == 7'd0;
wire ends_here = judged && judged_code != 7'd0 && !judged_bad;
wire [1:0] frames_more = {1'b0, judged} + {1'b0, pass_reg};

localparam [6:0] FIRST_CODE = 7'd56;
wire [6:0] code_place = judged_code - FIRST_CODE;
wire [14:0] code_counts = ends_here ? 15'd1 << code_place[3:0] : 15'd0;

// What only an rx SA has
wire drop_no_sa, drop_cipher, drop_fragment;
wire [5:0] form_window;
wire [15:0] nat_delta;
wire unused_rx = &{1'b0, code_place[6:4], drop_no_sa, drop_cipher, drop_fragment, form_window, nat_delta};

ipsec_regs regs_inst (
    .clk(clk),
    .rst(rst),
    .reg_req(reg_req),
    .reg_write(reg_write),
    .reg_addr(reg_addr),
    .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb),
    .reg_ack(reg_ack),
    .reg_error(reg_error),
    .reg_rdata(reg_rdata),
    .size_sas_in(SAS[15:0]),
    .size_tx_in(1'b1),
    .size_sm4_in(SM4_BIT),
    .control_drop_no_sa(drop_no_sa),
    .control_drop_cipher(drop_cipher),
    .control_drop_fragment(drop_fragment),
    .command_req(command_req),
    .command_write(command_write),
    .command_wdata(command_wdata),
    .command_wstrb(command_wstrb),
    .command_ack(command_ack),
    .command_rdata(command_rdata),
    .event_valid_set(event_first),
    .event_valid(event_seen),
    .event_more_set(event_more),
    .event_kind_in(event_kind),
    .event_sa_in(event_sa),
    .form_mode(form_mode),
    .form_natt(form_natt),
    .form_ipv6(form_ipv6),
    .form_esn(form_esn),
    .form_cipher(form_cipher),
    .form_tag(form_tag),
    .form_window(form_window),
    .spi_value(spi),
    .salt_bytes(salt),
    .limits_nat_delta(nat_delta),
    .dst_0_bits(dst[31:0]),
    .dst_1_bits(dst[63:32]),
    .dst_2_bits(dst[95:64]),
    .dst_3_bits(dst[127:96]),
    .key_0_bytes(key[31:0]),
    .key_1_bytes(key[63:32]),
    .key_2_bytes(key[95:64]),
    .key_3_bytes(key[127:96]),
    .key_4_bytes(key[159:128]),
    .key_5_bytes(key[191:160]),
    .key_6_bytes(key[223:192]),
    .key_7_bytes(key[255:224]),
    .sequence_value(first_number),
    .soft_packets_value(soft_packets),
    .hard_packets_value(hard_packets),
    .soft_bytes_value(soft_bytes),
    .hard_bytes_value(hard_bytes),
    .state_valid_in(read_there),
    .state_soft_in(reached[0]),
    .state_hard_in(reached[1]),
    .state_ended_in(reached[2]),
    .state_packets_value_in(state_packets),
    .state_bytes_value_in(state_bytes),
    .state_sequence_value_in(state_number),
    .frames_incr(frames_more),
    .passed_incr(pass_reg),
    .protected_incr(leaves),
    .left_no_sa_incr(1'b0),
    .left_cipher_incr(1'b0),
    .left_fragment_incr(1'b0),
    .bad_in_incr(judged && judged_bad),
    .replay_late_incr(1'b0),
    .soft_reached_incr(soft_reached),
    .protected_bytes_incr(leaves ? judged_n : 16'd0),
    .ipsec_no_sa_incr(code_counts[0]),
    .ipsec_cipher_incr(code_counts[1]),
    .ipsec_fragment_incr(code_counts[2]),
    .ipsec_policy_incr(code_counts[3]),
    .ipsec_truncated_incr(code_counts[4]),
    .ipsec_replay_incr(code_counts[5]),
    .ipsec_lifetime_incr(code_counts[6]),
    .ipsec_bad_tag_incr(code_counts[7]),
    .ipsec_bad_padding_incr(code_counts[8]),
    .ipsec_dummy_incr(code_counts[9]),
    .ipsec_bad_inner_incr(code_counts[10]),
    .ipsec_ecn_incr(code_counts[11]),
    .ipsec_sequence_incr(code_counts[12]),
    .ipsec_mtu_incr(code_counts[13]),
    .ipsec_bad_checksum_incr(code_counts[14]),
    .outer_dscp(outer_dscp),
    .outer_dscp_fixed(outer_dscp_fixed),
    .outer_ecn_compat(outer_ecn_compat),
    .outer_df(outer_df),
    .outer_ttl(outer_ttl),
    .ports_src(src_port),
    .ports_dst(dst_port),
    .flow_label_label(flow_label),
    .limits_mtu(mtu),
    .max_packet_bytes(max_packet),
    .src_0_bits(src[31:0]),
    .src_1_bits(src[63:32]),
    .src_2_bits(src[95:64]),
    .src_3_bits(src[127:96])
);

// Frames in

reg first_reg;
reg protect_reg;
reg [1:0] pace_reg;
reg [17:0] beats_reg;     // bytes of the beats that came
reg [17:0] bytes_reg;
reg [17:0] needed_reg;
reg end_reg, bad_reg;
reg [6:0] reason_reg;
reg [2:0] done_reg;

wire hold_room, feed_room;
wire [5:0] seals_held;
reg seal_room_reg;
wire room = hold_room && feed_room && (!first_reg || (pace_reg == 2'd0 && seal_room_reg));
wire take = s_axis_tvalid && s_axis_tready;
wire take_first = take && first_reg;
wire is_protect = s_axis_meta[`MF_ACL_PROTECT];
wire protect = first_reg ? is_protect : protect_reg;
wire ask = take_first && is_protect;
wire [4:0] bytes = bytes_of(s_axis_tkeep);

assign s_axis_tready = room && !rst;

always @(posedge clk) begin
    if (take_first) begin
        protect_reg <= is_protect;
        needed_reg <= {10'd0, s_axis_meta[`MF_L3_OFFSET]} + {1'b0, s_axis_meta[`MF_L3_LENGTH]};
    end
    if (take) begin
        bytes_reg <= beats_reg + {13'd0, bytes};
        bad_reg <= s_axis_tuser[0];
        reason_reg <= s_axis_tuser[7:1];
    end
end

always @(posedge clk) begin
    if (take) begin
        first_reg <= s_axis_tlast;
        beats_reg <= s_axis_tlast ? 18'd0 : beats_reg + 18'd16;
    end
    if (ask) begin
        pace_reg <= 2'd3;
    end else if (pace_reg != 2'd0) begin
        pace_reg <= pace_reg - 2'd1;
    end
    seal_room_reg <= seals_held <= MOST_SEALS;
    end_reg <= take && s_axis_tlast && protect;
    done_reg <= {done_reg[1:0], end_reg};
    pass_reg <= take && s_axis_tlast && !protect;

    if (rst) begin
        first_reg <= 1'b1;
        beats_reg <= 18'd0;
        pace_reg <= 2'd0;
        seal_room_reg <= 1'b0;
        end_reg <= 1'b0;
        done_reg <= 3'd0;
        pass_reg <= 1'b0;
    end
end

// A cycle later, when the SA is known, from which byte on it is text

reg late_reg, late_first_reg, late_last_reg;
reg [4:0] late_bytes_reg;
reg [127:0] late_data_reg;
reg [8:0] text_at_reg;

wire [8:0] text_at;
wire [8:0] late_at = late_first_reg ? text_at : text_at_reg;
wire align_valid, align_last;
wire [127:0] align_data;

always @(posedge clk) begin
    if (take && protect) begin
        late_first_reg <= first_reg;
        late_last_reg <= s_axis_tlast;
        late_bytes_reg <= bytes;
        late_data_reg <= s_axis_tdata;
    end
    if (late_reg) begin
        text_at_reg <= late_at;
    end
end

always @(posedge clk) begin
    late_reg <= take && protect;

    if (rst) begin
        late_reg <= 1'b0;
    end
end

ipsec_align align_inst (
    .clk(clk), .rst(rst), .take(late_reg), .take_last(late_last_reg), .take_data(late_data_reg), .take_bytes(late_bytes_reg),
    .offset(late_at), .m_valid(align_valid), .m_last(align_last), .m_data(align_data)
);

// SAs

wire engine_ready, engine_idle, table_busy;
wire [TABLE_W-1:0] form = {
    form_mode, form_natt, form_ipv6, form_esn, form_cipher, form_tag,
    outer_dscp, outer_dscp_fixed, outer_ecn_compat, outer_df, outer_ttl,
    spi, salt, src_port, dst_port, flow_label, mtu, src, dst
};
wire [TABLE_W-1:0] sa_word;
wire there;
wire [SA_W-1:0] number;
wire key_valid, key_ready, key_erase, key_done;
wire lookup_wr_valid, lookup_wr_on, window_wr_valid;
wire state_wr_valid, state_wr_ready, state_rd_valid, state_rd_done;
wire read_strobe, read_clear;
wire feed_finish;

ipsec_table #(.SAS(SAS), .WORD_W(TABLE_W), .TX(1)) table_inst (
    .clk(clk), .rst(rst), .slot_ready(engine_ready), .busy(table_busy),
    .command_req(command_req), .command_write(command_write), .command_wdata(command_wdata),
    .command_wstrb(command_wstrb), .command_ack(command_ack), .command_rdata(command_rdata),
    .look_valid(ask), .look_sa(s_axis_meta[`MF_ACL_SA_LSB +: SA_W]), .look_there(there), .look_word(sa_word),
    .asked(ask), .judged(feed_finish), .word(form), .number(number),
    .key_valid(key_valid), .key_ready(key_ready), .key_erase(key_erase), .key_done(key_done),
    .lookup_wr_valid(lookup_wr_valid), .lookup_wr_ready(1'b1), .lookup_wr_on(lookup_wr_on),
    .window_wr_valid(window_wr_valid), .window_wr_ready(1'b1),
    .state_wr_valid(state_wr_valid), .state_wr_ready(state_wr_ready),
    .state_rd_valid(state_rd_valid), .state_rd_done(state_rd_done),
    .read_there(read_there), .read_strobe(read_strobe), .read_clear(read_clear)
);

// The head, its checks and its number

wire [1:0] sa_mode, sa_natt, sa_cipher, sa_tag;
wire sa_ipv6, sa_esn;
wire [TABLE_W-11-16-256:0] unused_word;
wire [15:0] sa_mtu;
wire [255:0] unused_addresses;

assign {
    sa_mode, sa_natt, sa_ipv6, sa_esn, sa_cipher, sa_tag, unused_word, sa_mtu, unused_addresses
} = sa_word;

wire looked, look_transport, look_udp;
wire [6:0] look_code;
wire [SA_W-1:0] look_sa;
wire [63:0] look_number;
wire [1:0] look_kind, look_pads;
wire [4:0] look_tag;
wire [15:0] look_text, look_n, look_payload, look_packet;
wire [8:0] look_head, look_l4;
wire state_ask, life, set_count, set_hard, set_ended;
wire [SA_W-1:0] state_sa;
wire [15:0] state_bytes_more;
wire [63:0] latest;

ipsec_tx_look #(.HOLD_BEATS(HOLD_BEATS), .SAS(SAS)) look_inst (
    .clk(clk), .rst(rst), .max_packet(max_packet), .ask(ask), .meta(s_axis_meta),
    .there(there), .sa_mode(sa_mode), .sa_natt(sa_natt), .sa_ipv6(sa_ipv6), .sa_esn(sa_esn), .sa_cipher(sa_cipher),
    .sa_tag(sa_tag), .sa_mtu(sa_mtu),
    .ask_valid(state_ask), .ask_sa(state_sa), .ask_bytes(state_bytes_more), .latest(latest), .room(life),
    .set_count(set_count), .set_hard(set_hard), .set_ended(set_ended), .text_at(text_at),
    .done(looked), .code(look_code), .sa(look_sa), .number(look_number), .transport(look_transport), .udp(look_udp),
    .kind(look_kind), .tag_bytes(look_tag), .text_bytes(look_text), .pads(look_pads), .n(look_n),
    .payload(look_payload), .packet(look_packet), .head_bytes(look_head), .l4_offset(look_l4)
);

wire state_event;
wire [1:0] state_event_kind;
wire [SA_W-1:0] state_event_sa;
wire [63:0] rd_packets, rd_bytes, rd_number;
wire [2:0] rd_reached;

ipsec_state #(.SAS(SAS)) state_inst (
    .clk(clk), .rst(rst), .ask_valid(state_ask), .ask_sa(state_sa), .ask_bytes(state_bytes_more), .latest(latest),
    .room(life), .set_count(set_count), .set_hard(set_hard), .set_ended(set_ended), .set_sequence(look_number),
    .event_valid(state_event), .event_kind(state_event_kind), .event_sa(state_event_sa),
    .wr_valid(state_wr_valid), .wr_ready(state_wr_ready), .wr_sa(number), .wr_sequence(first_number),
    .wr_soft_packets(soft_packets), .wr_hard_packets(hard_packets), .wr_soft_bytes(soft_bytes),
    .wr_hard_bytes(hard_bytes),
    .rd_valid(state_rd_valid), .rd_sa(number), .rd_done(state_rd_done), .rd_packets(rd_packets), .rd_bytes(rd_bytes),
    .rd_sequence(rd_number), .rd_reached(rd_reached)
);

ipsec_reached #(.SA_W(SA_W)) reached_inst (
    .clk(clk), .rst(rst), .read_strobe(read_strobe), .read_clear(read_clear), .rd_packets(rd_packets),
    .rd_bytes(rd_bytes), .rd_sequence(rd_number), .rd_reached(rd_reached), .packets(state_packets), .bytes(state_bytes),
    .sequence_number(state_number), .reached(reached),
    .event_valid(state_event), .event_kind(state_event_kind), .event_sa(state_event_sa), .event_seen(event_seen),
    .event_first(event_first), .event_more(event_more), .first_kind(event_kind), .first_sa(event_sa),
    .soft_reached(soft_reached)
);

// What is put in front of the text, and what the frame out says of itself: from the SA and the head, f + 1 to f + 5

reg [TABLE_W-1:0] sa_word_reg;
reg known_reg, asked_reg;
reg [15:0] in_seq_reg, known_seq_reg;
reg [7:0] in_queue_reg, known_queue_reg, in_protocol_reg, known_protocol_reg, in_ttl_reg, known_ttl_reg;
reg [5:0] in_dscp_reg, known_dscp_reg;
reg [1:0] in_ecn_reg, known_ecn_reg, in_kind_reg, known_kind_reg;
reg in_df_reg, known_df_reg;
reg [127:0] in_src_reg, in_dst_reg;
reg [19:0] pseudo_reg;

wire [5:0] put_dscp;
wire put_dscp_fixed, put_ecn_compat;
wire [1:0] put_df;
wire [7:0] put_ttl;
wire [31:0] put_spi, put_salt;
wire [15:0] put_src_port, put_dst_port, unused_mtu;
wire [19:0] put_label;
wire [127:0] put_src, put_dst;
wire [1:0] unused_mode, unused_natt, unused_cipher, unused_tag_form;
wire unused_ipv6, put_esn;

assign {
    unused_mode, unused_natt, unused_ipv6, put_esn, unused_cipher, unused_tag_form,
    put_dscp, put_dscp_fixed, put_ecn_compat, put_df, put_ttl,
    put_spi, put_salt, put_src_port, put_dst_port, put_label, unused_mtu, put_src, put_dst
} = sa_word_reg;

function [18:0] words(input [127:0] address);
    integer i;
    begin
        words = 19'd0;
        for (i = 0; i < 8; i = i + 1) begin
            words = words + {3'd0, address[16*i +: 16]};
        end
    end
endfunction

always @(posedge clk) begin
    if (ask) begin
        in_seq_reg <= s_axis_meta[`MF_SEQ];
        in_queue_reg <= s_axis_meta[`MF_QUEUE];
        in_protocol_reg <= s_axis_meta[`MF_PROTOCOL];
        in_ttl_reg <= s_axis_meta[`MF_TTL];
        in_dscp_reg <= s_axis_meta[`MF_DSCP];
        in_ecn_reg <= s_axis_meta[`MF_ECN];
        in_kind_reg <= s_axis_meta[`MF_L3_KIND];
        in_df_reg <= s_axis_meta[`MF_DONT_FRAGMENT];
        in_src_reg <= s_axis_meta[`MF_IP_SRC];
        in_dst_reg <= s_axis_meta[`MF_IP_DST];
    end
    if (asked_reg) begin
        sa_word_reg <= sa_word;
        known_seq_reg <= in_seq_reg;
        known_queue_reg <= in_queue_reg;
        known_protocol_reg <= in_protocol_reg;
        known_ttl_reg <= in_ttl_reg;
        known_dscp_reg <= in_dscp_reg;
        known_ecn_reg <= in_ecn_reg;
        known_kind_reg <= in_kind_reg;
        known_df_reg <= in_df_reg;
        pseudo_reg <= {1'b0, words(in_src_reg)} + {1'b0, words(in_dst_reg)};
    end
end

always @(posedge clk) begin
    asked_reg <= ask;
    known_reg <= asked_reg;

    if (rst) begin
        asked_reg <= 1'b0;
        known_reg <= 1'b0;
    end
end

wire look_go = looked && look_code == 7'd0;
wire look_ipv6 = look_kind == 2'd2;
wire in_ipv6 = known_kind_reg == 2'd2;
wire [5:0] out_dscp = put_dscp_fixed ? put_dscp : known_dscp_reg;
wire [1:0] out_ecn = put_ecn_compat ? 2'd0 : known_ecn_reg;
wire [7:0] out_ttl = put_ttl == 8'd0 ? known_ttl_reg : put_ttl;
wire out_df = !look_ipv6 && (put_df == 2'd0 ? in_ipv6 || known_df_reg : put_df[1]);
wire [511:0] put_headers;
wire [6:0] put_front;
wire look_tunnel = !look_transport;
wire [15:0] look_behind = {9'd0, put_front} + look_n + {11'd0, look_tag};
wire [7:0] next_header = look_transport ? known_protocol_reg : in_ipv6 ? 8'd41 : 8'd4;

// Of the pseudo header of UDP the addresses stand in the outer IP header; in transport mode they are the frame's own.
wire [19:0] sum_start = {4'd0, look_payload} + 20'd17 + (look_transport ? pseudo_reg : 20'd0);

ipsec_tx_headers headers_inst (
    .transport(look_transport), .udp(look_udp), .ipv6(look_ipv6), .payload(look_payload), .packet(look_packet),
    .number(look_number), .spi(put_spi), .src_port(put_src_port), .dst_port(put_dst_port), .src(put_src), .dst(put_dst),
    .dscp(out_dscp), .ecn(out_ecn), .dont_fragment(out_df), .ttl(out_ttl), .flow_label(put_label),
    .headers(put_headers), .front(put_front)
);

// A word a frame for ipsec_tx_write, from f + 5 until the frame has left

reg [WORD_W-1:0] word_mem [0:FRAMES-1];
reg [SLOT_W-1:0] slot_reg;

localparam [SLOT_W-1:0] ONE_SLOT = 1;

always @(posedge clk) begin
    if (look_go) begin
        word_mem[slot_reg] <= {
            look_head, look_behind, look_transport, look_udp, look_kind, look_payload, look_packet, look_l4, put_spi,
            look_number[31:0], put_src_port, put_dst_port, put_src, put_dst, out_dscp, out_ecn, out_df, out_ttl
        };
    end
end

always @(posedge clk) begin
    if (look_go) begin
        slot_reg <= slot_reg + ONE_SLOT;
    end

    if (rst) begin
        slot_reg <= {SLOT_W{1'b0}};
    end
end

// To the engine and back

wire cmd_valid, cmd_ready;
wire [SA_W-1:0] cmd_key;
wire [95:0] cmd_iv;
wire [127:0] in_tdata, out_tdata, out_tag;
wire [15:0] in_tkeep, unused_tkeep;
wire in_tvalid, in_tready, in_tlast, in_tuser, out_tvalid, out_tready, out_tlast;
wire [1:0] out_tuser;
wire [307:0] unused_state;
wire feed_idle, seal_idle, verdict_idle, hold_idle;
wire key_is_sm4 = form_cipher == 2'd2;
wire key_is_256 = form_cipher == 2'd1;
wire key_is_none = key_erase || form_cipher == 2'd3;

ipsec_tx_feed #(.KEY_W(SA_W), .FRAMES(FRAMES)) feed_inst (
    .clk(clk), .rst(rst), .room(feed_room), .s_valid(align_valid), .s_last(align_last), .s_data(align_data),
    .s_done(done_reg[1]),
    .job_valid(looked), .job_go(look_go), .job_sa(look_sa), .job_salt(put_salt), .job_esn(put_esn), .job_spi(put_spi),
    .job_number(look_number), .job_text(look_text), .job_pads(look_pads), .job_next_header(next_header),
    .m_cmd_valid(cmd_valid), .m_cmd_ready(cmd_ready), .m_cmd_key(cmd_key), .m_cmd_iv(cmd_iv),
    .m_axis_tdata(in_tdata), .m_axis_tkeep(in_tkeep), .m_axis_tvalid(in_tvalid), .m_axis_tready(in_tready),
    .m_axis_tlast(in_tlast), .m_axis_tuser(in_tuser), .finish(feed_finish), .idle(feed_idle)
);

gcm #(.KEYS(SAS), .SM4_EN(SM4_EN)) engine_inst (
    .clk(clk), .rst(rst), .ready(engine_ready), .idle(engine_idle),
    .key_valid(key_valid), .key_ready(key_ready), .key_index(number), .key_cipher(key_is_sm4), .key_256(key_is_256),
    .key_erase(key_is_none), .key_data(key), .key_done(key_done),
    .s_cmd_valid(cmd_valid), .s_cmd_ready(cmd_ready), .s_cmd_key(cmd_key), .s_cmd_decrypt(1'b0), .s_cmd_iv(cmd_iv),
    .s_cmd_tag_bytes(5'd16), .s_cmd_save(1'b0), .s_cmd_resume(1'b0), .s_cmd_state(308'd0),
    .s_axis_tdata(in_tdata), .s_axis_tkeep(in_tkeep), .s_axis_tvalid(in_tvalid), .s_axis_tready(in_tready),
    .s_axis_tlast(in_tlast), .s_axis_tuser(in_tuser), .s_axis_tag(128'd0),
    .m_axis_tdata(out_tdata), .m_axis_tkeep(unused_tkeep), .m_axis_tvalid(out_tvalid), .m_axis_tready(out_tready),
    .m_axis_tlast(out_tlast), .m_axis_tuser(out_tuser), .m_axis_tag(out_tag), .m_axis_state(unused_state)
);

wire put_valid, put_ready, put_last;
wire [127:0] put_data;
wire sealed, sealed_no_key;
wire [15:0] sealed_sum;

ipsec_tx_seal #(.DEPTH(SEALS)) seal_inst (
    .clk(clk), .rst(rst), .job_valid(look_go), .job_headers(put_headers), .job_front(put_front), .job_n(look_n[3:0]),
    .job_tag(look_tag), .job_skip(look_tunnel), .job_sum(sum_start), .held(seals_held),
    .s_axis_tdata(out_tdata), .s_axis_tvalid(out_tvalid), .s_axis_tready(out_tready), .s_axis_tlast(out_tlast),
    .s_axis_no_key(out_tuser[1]), .s_axis_tag(out_tag),
    .m_valid(put_valid), .m_ready(put_ready), .m_last(put_last), .m_data(put_data),
    .sealed(sealed), .no_key(sealed_no_key), .sum(sealed_sum), .idle(seal_idle)
);

wire [15:0] judged_seq, judged_sum;
wire [7:0] judged_queue;
wire judged_text;
wire [4:0] judged_head;
wire [11:0] judged_beats;
wire [SLOT_W-1:0] judged_slot;

ipsec_tx_verdict #(.FRAMES(FRAMES)) verdict_inst (
    .clk(clk), .rst(rst),
    .looked_valid(looked), .looked_code(look_code), .looked_seq(known_seq_reg), .looked_queue(known_queue_reg),
    .looked_n(look_n), .looked_head_bytes(look_head), .looked_behind(look_behind), .looked_slot(slot_reg),
    .end_valid(end_reg), .end_bad(bad_reg), .end_reason(reason_reg), .end_bytes(bytes_reg), .end_needed(needed_reg),
    .sealed_valid(sealed), .sealed_no_key(sealed_no_key), .sealed_sum(sealed_sum),
    .judged(judged), .code(judged_code), .bad_in(judged_bad), .seq(judged_seq), .host_queue(judged_queue), .n(judged_n),
    .was_text(judged_text), .head(judged_head), .beats(judged_beats), .slot(judged_slot), .sum(judged_sum),
    .idle(verdict_idle)
);

// Frames that wait, and out

wire beat_valid, beat_ready, beat_first, beat_last, beat_go;
wire [127:0] beat_data, text_data;
wire [15:0] beat_keep, beat_sum;
wire [9:0] beat_user;
wire [`META_W-1:0] beat_meta;
wire [SLOT_W-1:0] beat_slot;
wire text_valid, text_ready;

ipsec_hold #(.HOLD_BEATS(HOLD_BEATS), .FRAMES(FRAMES), .WORD_W(SLOT_W + 16)) hold_inst (
    .clk(clk), .rst(rst), .room(hold_room), .take(take), .take_ask(is_protect), .take_data(s_axis_tdata),
    .take_keep(s_axis_tkeep), .take_last(s_axis_tlast), .take_user(s_axis_tuser), .take_meta(s_axis_meta),
    .looked_valid(looked), .looked_pass(1'b0),
    .s_text_valid(put_valid), .s_text_ready(put_ready), .s_text_last(put_last), .s_text_data(put_data),
    .verdict_valid(judged), .verdict_go(leaves), .verdict_text(judged_text), .verdict_head(judged_head),
    .verdict_beats(judged_beats[LEVEL_W-1:0]), .verdict_word({judged_slot, judged_sum}),
    .m_axis_valid(beat_valid), .m_axis_ready(beat_ready), .m_axis_first(beat_first), .m_axis_last(beat_last),
    .m_axis_data(beat_data), .m_axis_keep(beat_keep), .m_axis_user(beat_user), .m_axis_meta(beat_meta),
    .m_axis_go(beat_go), .m_axis_word({beat_slot, beat_sum}),
    .m_text_valid(text_valid), .m_text_ready(text_ready), .m_text_data(text_data), .idle(hold_idle)
);

wire [8:0] word_head, word_l4;
wire [15:0] word_behind, word_payload, word_packet, word_src_port, word_dst_port;
wire word_transport, word_udp, word_df;
wire [1:0] word_kind, word_ecn;
wire [31:0] word_spi, word_low;
wire [127:0] word_src, word_dst;
wire [5:0] word_dscp;
wire [7:0] word_ttl;

assign {
    word_head, word_behind, word_transport, word_udp, word_kind, word_payload, word_packet, word_l4, word_spi,
    word_low, word_src_port, word_dst_port, word_src, word_dst, word_dscp, word_ecn, word_df, word_ttl
} = word_mem[beat_slot];

ipsec_tx_write write_inst (
    .clk(clk), .rst(rst), .s_valid(beat_valid), .s_ready(beat_ready), .s_first(beat_first), .s_last(beat_last),
    .s_data(beat_data), .s_keep(beat_keep), .s_user(beat_user), .s_meta(beat_meta), .s_go(beat_go),
    .word_head_bytes(word_head), .word_text_bytes(word_behind), .word_transport(word_transport), .word_udp(word_udp),
    .word_kind(word_kind), .word_payload(word_payload), .word_packet(word_packet), .word_l4_offset(word_l4),
    .word_spi(word_spi), .word_low(word_low), .word_src_port(word_src_port), .word_dst_port(word_dst_port),
    .word_src(word_src), .word_dst(word_dst), .word_dscp(word_dscp), .word_ecn(word_ecn),
    .word_dont_fragment(word_df), .word_ttl(word_ttl), .word_sum(beat_sum),
    .s_text_valid(text_valid), .s_text_ready(text_ready), .s_text_data(text_data),
    .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser), .m_axis_meta(m_axis_meta)
);

assign disp_valid = judged && judged_code != 7'd0;
assign disp_seq = judged_seq;
assign disp_code = {1'b0, judged_code};
assign disp_queue = judged_queue;
assign next_deadline = 64'hffffffffffffffff;
assign ready = engine_ready;
assign idle = first_reg && hold_idle && feed_idle && seal_idle && verdict_idle && engine_idle && !table_busy
    && !m_axis_tvalid;

wire unused_bits = &{
    1'b0, now, unused_tkeep, unused_state, unused_word, unused_addresses, unused_mode, unused_natt, unused_ipv6,
    unused_cipher, unused_tag_form, unused_mtu, lookup_wr_valid, lookup_wr_on, window_wr_valid, known_reg, out_tuser[0],
    done_reg[2], judged_beats
};

endmodule

`resetall
