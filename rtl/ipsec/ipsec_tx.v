// ipsec_tx: ESP with AES-GCM and SM4-GCM, transmitted: frames that the ACL gives to a security association (SA) leave encrypted.
//
//   s_axis -+-> ipsec_tx_look (ipsec_table, ipsec_state: the number) -+-> ipsec_tx_feed -> gcm -> ipsec_tx_seal -> ipsec_hold
//           |                                                         +-> ipsec_tx_headers ----------^
//           +-> ipsec_align: text to lane 0 -------------------------------^
//           +-> ipsec_hold: frames in order <- ipsec_tx_verdict
//                    +-> ipsec_tx_write -> m_axis
//
// RFC 4303, 4106, 3948, 6040; docs/ipsec.md: checks, what leaves, exact cycles (Time). A frame that isn't to be protected: latency
// 3 cycles; an encrypted one is stored and forwarded. Throughput: a beat a cycle; an encrypted frame every 4 cycles, and T + 3
// for T blocks of text. `s_axis_tready` falls in front of a frame's first beat in the three cycles behind that of one that is to
// be protected, and where there is no room.
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
// Frames that end give their place in ipsec_hold back before the feed has thrown their beats, 64 at most and one a frame.
localparam JOBS = FRAMES < 128 ? 128 : FRAMES;
localparam LEVEL_W = $clog2(HOLD_BEATS) + 1;
localparam TABLE_W = 2 + 2 + 1 + 1 + 2 + 2 + 6 + 1 + 1 + 2 + 8 + 32 + 32 + 16 + 16 + 20 + 16 + 128 + 128;
localparam SM4_BIT = SM4_EN != 0 ? 1'b1 : 1'b0;

// Frames that are to be protected and may still be at the output: those of ipsec_hold and the one that leaves.
localparam SLOT_W = $clog2(FRAMES) + 1;
localparam [SLOT_W-1:0] ONE_SLOT = 1;
localparam HOLD_WORD_W = SLOT_W + 16;

// Frames between the look at their head and the tag: more than the engine needs for full rate
localparam SEAL_DEPTH = 64;
localparam [6:0] SEAL_MOST = SEAL_DEPTH - 2;

localparam [1:0] IPV4 = 2'd1;
localparam [1:0] IPV6 = 2'd2;
localparam [15:0] UDP = 16'd17;
localparam [7:0] NEXT_IPV4 = 8'd4;
localparam [7:0] NEXT_IPV6 = 8'd41;

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
wire [15:0] max_packet;
wire [1:0] form_mode, form_natt, form_cipher, form_tag;
wire form_ipv6, form_esn;
wire [5:0] outer_dscp;
wire outer_dscp_fixed, outer_ecn_compat;
wire [1:0] outer_df;
wire [7:0] outer_ttl;
wire [31:0] spi, salt;
wire [15:0] src_port, dst_port, mtu;
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

// What only rx has
wire [2:0] unused_rx;
wire [5:0] unused_window;
wire [15:0] unused_nat_delta;

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
wire unused_place = &{1'b0, code_place[6:4]};

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
    .control_drop_no_sa(unused_rx[0]),
    .control_drop_cipher(unused_rx[1]),
    .control_drop_fragment(unused_rx[2]),
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
    .form_window(unused_window),
    .spi_value(spi),
    .salt_bytes(salt),
    .limits_nat_delta(unused_nat_delta),
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
    .secured_incr(leaves),
    .left_no_sa_incr(1'b0),
    .left_cipher_incr(1'b0),
    .left_fragment_incr(1'b0),
    .bad_in_incr(judged && judged_bad),
    .replay_late_incr(1'b0),
    .soft_reached_incr(soft_reached),
    .secured_bytes_incr(leaves ? judged_n : 16'd0),
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

// Input: a frame that is to be protected asks.

reg first_reg;
reg [1:0] pace_reg;
reg protect_reg;
reg [17:0] needed_reg;
reg [16:0] beats_reg;          // bytes of the frame's beats that came
reg [16:0] bytes_reg;
reg last_reg;
reg bad_reg;
reg [6:0] reason_reg;
reg [1:0] done_reg;

wire hold_room, feed_room;
wire [6:0] seal_held;
wire may_begin = pace_reg == 2'd0 && seal_held < SEAL_MOST;
wire room = hold_room && feed_room && (!first_reg || may_begin);
wire take = s_axis_tvalid && s_axis_tready;
wire take_first = take && first_reg;
wire take_last = take && s_axis_tlast;
wire protect = first_reg ? s_axis_meta[`MF_ACL_PROTECT_LSB] : protect_reg;
wire ask = take_first && protect;
wire [4:0] bytes = bytes_of(s_axis_tkeep);

assign s_axis_tready = room && !rst;

always @(posedge clk) begin
    if (take_first) begin
        protect_reg <= protect;
        needed_reg <= {10'd0, s_axis_meta[`MF_L3_OFFSET]} + {1'b0, s_axis_meta[`MF_L3_LENGTH]};
    end
    if (take) begin
        bytes_reg <= beats_reg + {12'd0, bytes};
        bad_reg <= s_axis_tuser[0];
        reason_reg <= s_axis_tuser[7:1];
    end
end

always @(posedge clk) begin
    if (take) begin
        first_reg <= s_axis_tlast;
        beats_reg <= s_axis_tlast ? 17'd0 : beats_reg + 17'd16;
    end
    if (ask) begin
        pace_reg <= 2'd3;
    end else if (pace_reg != 2'd0) begin
        pace_reg <= pace_reg - 2'd1;
    end
    last_reg <= take_last && protect;
    done_reg <= {done_reg[0], last_reg};
    pass_reg <= take_last && !protect;

    if (rst) begin
        first_reg <= 1'b1;
        pace_reg <= 2'd0;
        last_reg <= 1'b0;
        done_reg <= 2'd0;
        pass_reg <= 1'b0;
        beats_reg <= 17'd0;
    end
end

// Its beats a cycle later, when the SA has said where its text begins

reg beat_reg, beat_first_reg, beat_last_reg;
reg [127:0] beat_data_reg;
reg [4:0] beat_bytes_reg;
reg [8:0] text_at_reg;

wire [8:0] look_text_at;
wire [8:0] text_at = beat_first_reg ? look_text_at : text_at_reg;
wire align_valid, align_last;
wire [127:0] align_data;

always @(posedge clk) begin
    if (take && protect) begin
        beat_first_reg <= first_reg;
        beat_last_reg <= s_axis_tlast;
        beat_data_reg <= s_axis_tdata;
        beat_bytes_reg <= bytes;
    end
    if (beat_reg) begin
        text_at_reg <= text_at;
    end
end

always @(posedge clk) begin
    beat_reg <= take && protect;

    if (rst) begin
        beat_reg <= 1'b0;
    end
end

ipsec_align align_inst (
    .clk(clk), .rst(rst), .take(beat_reg), .take_last(beat_last_reg), .take_data(beat_data_reg),
    .take_bytes(beat_bytes_reg), .offset(text_at), .m_valid(align_valid), .m_last(align_last), .m_data(align_data)
);

// SAs

wire engine_ready, engine_idle, table_busy;
wire sa_there;
wire [TABLE_W-1:0] form = {
    form_mode, form_natt, form_ipv6, form_esn, form_cipher, form_tag, outer_dscp, outer_dscp_fixed, outer_ecn_compat,
    outer_df, outer_ttl, spi, salt, src_port, dst_port, flow_label, mtu, src, dst
};
wire [TABLE_W-1:0] sa_word;
wire [1:0] sa_mode, sa_natt, sa_cipher, sa_tag, sa_df;
wire sa_ipv6, sa_esn, sa_dscp_fixed, sa_ecn_compat;
wire [5:0] sa_dscp;
wire [7:0] sa_ttl;
wire [31:0] sa_spi, sa_salt;
wire [15:0] sa_src_port, sa_dst_port, sa_mtu;
wire [19:0] sa_flow_label;
wire [127:0] sa_src, sa_dst;
wire [SA_W-1:0] number;
wire key_valid, key_ready, key_erase, key_done;
wire state_wr_valid, state_wr_ready, state_rd_valid, state_rd_done;
wire read_strobe, read_clear;
wire [2:0] unused_table;

assign {
    sa_mode, sa_natt, sa_ipv6, sa_esn, sa_cipher, sa_tag, sa_dscp, sa_dscp_fixed, sa_ecn_compat, sa_df, sa_ttl, sa_spi,
    sa_salt, sa_src_port, sa_dst_port, sa_flow_label, sa_mtu, sa_src, sa_dst
} = sa_word;

ipsec_table #(.SAS(SAS), .WORD_W(TABLE_W), .TX(1)) table_inst (
    .clk(clk), .rst(rst), .slot_ready(engine_ready), .busy(table_busy),
    .command_req(command_req), .command_write(command_write), .command_wdata(command_wdata),
    .command_wstrb(command_wstrb), .command_ack(command_ack), .command_rdata(command_rdata),
    .look_valid(ask), .look_sa(s_axis_meta[`MF_ACL_SA_LSB +: SA_W]), .look_there(sa_there), .look_word(sa_word),
    .word(form), .number(number), .asked(ask), .judged(judged),
    .key_valid(key_valid), .key_ready(key_ready), .key_erase(key_erase), .key_done(key_done),
    .lookup_wr_valid(unused_table[0]), .lookup_wr_ready(1'b1), .lookup_wr_on(unused_table[1]),
    .window_wr_valid(unused_table[2]), .window_wr_ready(1'b1),
    .state_wr_valid(state_wr_valid), .state_wr_ready(state_wr_ready),
    .state_rd_valid(state_rd_valid), .state_rd_done(state_rd_done),
    .read_there(read_there), .read_strobe(read_strobe), .read_clear(read_clear)
);

wire ask_state, room_left, set_count, set_hard, set_ended;
wire [SA_W-1:0] ask_sa;
wire [15:0] ask_bytes;
wire [63:0] latest;
wire looked;
wire [6:0] looked_code;
wire [SA_W-1:0] looked_sa;
wire [63:0] looked_number;
wire looked_transport, looked_udp;
wire [1:0] looked_kind;
wire [4:0] looked_tag;
wire [15:0] looked_text, looked_n, looked_payload, looked_packet;
wire [1:0] looked_pads;
wire [8:0] looked_head_bytes, looked_l4_offset;
wire looked_go = looked_code == 7'd0;

ipsec_tx_look #(.HOLD_BEATS(HOLD_BEATS), .SAS(SAS)) look_inst (
    .clk(clk), .rst(rst), .max_packet(max_packet), .ask(ask), .meta(s_axis_meta),
    .there(sa_there), .sa_mode(sa_mode), .sa_natt(sa_natt), .sa_ipv6(sa_ipv6), .sa_esn(sa_esn), .sa_cipher(sa_cipher),
    .sa_tag(sa_tag), .sa_mtu(sa_mtu),
    .ask_valid(ask_state), .ask_sa(ask_sa), .ask_bytes(ask_bytes), .latest(latest), .room(room_left),
    .set_count(set_count), .set_hard(set_hard), .set_ended(set_ended), .text_at(look_text_at),
    .done(looked), .code(looked_code), .sa(looked_sa), .number(looked_number), .transport(looked_transport),
    .udp(looked_udp), .kind(looked_kind), .tag_bytes(looked_tag), .text_bytes(looked_text), .pads(looked_pads),
    .n(looked_n), .payload(looked_payload), .packet(looked_packet), .head_bytes(looked_head_bytes),
    .l4_offset(looked_l4_offset)
);

wire state_event;
wire [1:0] state_event_kind;
wire [SA_W-1:0] state_event_sa;
wire [63:0] rd_packets, rd_bytes, rd_number;
wire [2:0] rd_reached;

ipsec_state #(.SAS(SAS)) state_inst (
    .clk(clk), .rst(rst), .ask_valid(ask_state), .ask_sa(ask_sa), .ask_bytes(ask_bytes), .latest(latest), .room(room_left),
    .set_count(set_count), .set_hard(set_hard), .set_ended(set_ended), .set_sequence(looked_number),
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

// What a frame's metadata say that is needed further on: from f + 1 on, and with its SA in f + 5

reg [3:0] stage_reg;           // bit i: a frame in f + 1 + i
reg [1:0] in_kind_reg, in_ecn_reg;
reg [5:0] in_dscp_reg;
reg [7:0] in_ttl_reg, in_protocol_reg, in_queue_reg;
reg [15:0] in_seq_reg;
reg in_df_reg;
reg [127:0] in_src_reg, in_dst_reg;

reg [7:0] next_header_reg, queue_reg, ttl_reg;
reg [15:0] seq_reg, src_port_reg, dst_port_reg;
reg [5:0] dscp_reg;
reg [1:0] ecn_reg;
reg df_reg, esn_reg;
reg [31:0] spi_reg, salt_reg;
reg [19:0] flow_label_reg, sum_reg;
reg [127:0] src_reg, dst_reg;

function [19:0] words(input [127:0] data);
    integer i;
    begin
        words = 20'd0;
        for (i = 0; i < 8; i = i + 1) begin
            words = words + {4'd0, data[16*i +: 16]};
        end
    end
endfunction

always @(posedge clk) begin
    if (ask) begin
        in_kind_reg <= s_axis_meta[`MF_L3_KIND];
        in_ecn_reg <= s_axis_meta[`MF_ECN];
        in_dscp_reg <= s_axis_meta[`MF_DSCP];
        in_ttl_reg <= s_axis_meta[`MF_TTL];
        in_protocol_reg <= s_axis_meta[`MF_PROTOCOL];
        in_queue_reg <= s_axis_meta[`MF_QUEUE];
        in_seq_reg <= s_axis_meta[`MF_SEQ];
        in_df_reg <= s_axis_meta[`MF_DONT_FRAGMENT_LSB];
        in_src_reg <= s_axis_meta[`MF_IP_SRC];
        in_dst_reg <= s_axis_meta[`MF_IP_DST];
    end
    if (stage_reg[3]) begin
        next_header_reg <= sa_mode == 2'd0 ? in_protocol_reg : in_kind_reg == IPV4 ? NEXT_IPV4 : NEXT_IPV6;
        queue_reg <= in_queue_reg;
        seq_reg <= in_seq_reg;
        ttl_reg <= sa_ttl == 8'd0 ? in_ttl_reg : sa_ttl;
        src_port_reg <= sa_src_port;
        dst_port_reg <= sa_dst_port;
        dscp_reg <= sa_dscp_fixed ? sa_dscp : in_dscp_reg;
        ecn_reg <= sa_ecn_compat ? 2'd0 : in_ecn_reg;
        df_reg <= !sa_ipv6 && (sa_df == 2'd0 ? in_kind_reg == IPV6 || in_df_reg : sa_df != 2'd1);
        esn_reg <= sa_esn;
        spi_reg <= sa_spi;
        salt_reg <= sa_salt;
        flow_label_reg <= sa_flow_label;
        src_reg <= sa_src;
        dst_reg <= sa_dst;
        sum_reg <= words(in_src_reg) + words(in_dst_reg);
    end
end

always @(posedge clk) begin
    stage_reg <= {stage_reg[2:0], ask};

    if (rst) begin
        stage_reg <= 4'd0;
    end
end

wire [511:0] headers;
wire [6:0] front;
// Of the pseudo-header (RFC 8200 8.1) what isn't summed up with the frame
wire [19:0] pseudo = (looked_transport ? sum_reg : 20'd0) + {4'd0, looked_payload} + {4'd0, UDP};

ipsec_tx_headers headers_inst (
    .transport(looked_transport), .udp(looked_udp), .ipv6(looked_kind == IPV6), .payload(looked_payload),
    .packet(looked_packet), .number(looked_number), .spi(spi_reg), .src_port(src_port_reg), .dst_port(dst_port_reg),
    .src(src_reg), .dst(dst_reg), .dscp(dscp_reg), .ecn(ecn_reg), .dont_fragment(df_reg), .ttl(ttl_reg),
    .flow_label(flow_label_reg), .headers(headers), .front(front)
);

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

ipsec_tx_feed #(.KEY_W(SA_W), .FRAMES(JOBS)) feed_inst (
    .clk(clk), .rst(rst), .room(feed_room), .s_valid(align_valid), .s_last(align_last), .s_data(align_data),
    .s_done(done_reg[1]),
    .job_valid(looked), .job_go(looked_go), .job_sa(looked_sa), .job_salt(salt_reg), .job_esn(esn_reg), .job_spi(spi_reg),
    .job_number(looked_number), .job_text(looked_text), .job_pads(looked_pads), .job_next_header(next_header_reg),
    .m_cmd_valid(cmd_valid), .m_cmd_ready(cmd_ready), .m_cmd_key(cmd_key), .m_cmd_iv(cmd_iv),
    .m_axis_tdata(in_tdata), .m_axis_tkeep(in_tkeep), .m_axis_tvalid(in_tvalid), .m_axis_tready(in_tready),
    .m_axis_tlast(in_tlast), .m_axis_tuser(in_tuser), .idle(feed_idle)
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

ipsec_tx_seal #(.DEPTH(SEAL_DEPTH)) seal_inst (
    .clk(clk), .rst(rst), .job_valid(looked && looked_go), .job_headers(headers), .job_front(front),
    .job_n(looked_n[3:0]), .job_tag(looked_tag), .job_skip(!looked_transport), .job_sum(pseudo), .held(seal_held),
    .s_axis_tdata(out_tdata), .s_axis_tvalid(out_tvalid), .s_axis_tready(out_tready), .s_axis_tlast(out_tlast),
    .s_axis_no_key(out_tuser[1]), .s_axis_tag(out_tag),
    .m_valid(put_valid), .m_ready(put_ready), .m_last(put_last), .m_data(put_data),
    .sealed(sealed), .no_key(sealed_no_key), .sum(sealed_sum), .idle(seal_idle)
);

// What becomes of it

reg [SLOT_W-1:0] slot_reg;

wire judged_text;
wire [15:0] judged_seq, judged_sum;
wire [7:0] judged_queue;
wire [4:0] judged_head;
wire [11:0] judged_beats;
wire [SLOT_W-1:0] judged_slot;
wire [15:0] looked_behind = looked_transport ? looked_payload : looked_packet;

always @(posedge clk) begin
    if (looked) begin
        slot_reg <= slot_reg + ONE_SLOT;
    end

    if (rst) begin
        slot_reg <= {SLOT_W{1'b0}};
    end
end

ipsec_tx_verdict #(.FRAMES(FRAMES), .SLOT_W(SLOT_W)) verdict_inst (
    .clk(clk), .rst(rst),
    .looked_valid(looked), .looked_code(looked_code), .looked_seq(seq_reg), .looked_queue(queue_reg), .looked_n(looked_n),
    .looked_head_bytes(looked_head_bytes), .looked_behind(looked_behind), .looked_slot(slot_reg),
    .end_valid(last_reg), .end_bad(bad_reg), .end_reason(reason_reg), .end_bytes({1'b0, bytes_reg}),
    .end_needed(needed_reg),
    .sealed_valid(sealed), .sealed_no_key(sealed_no_key), .sealed_sum(sealed_sum),
    .judged(judged), .code(judged_code), .bad_in(judged_bad), .seq(judged_seq), .host_queue(judged_queue), .n(judged_n),
    .was_text(judged_text), .head(judged_head), .beats(judged_beats), .slot(judged_slot), .sum(judged_sum),
    .idle(verdict_idle)
);

// Frames that wait, what is known of them, and out

localparam KNOWN_W = 9 + 16 + 1 + 1 + 2 + 16 + 16 + 9 + 32 + 32 + 16 + 16 + 128 + 128 + 6 + 2 + 1 + 8;

reg [KNOWN_W-1:0] known_mem [0:2*FRAMES-1];

wire beat_valid, beat_ready, beat_first, beat_last, beat_go;
wire [127:0] beat_data, text_data;
wire [15:0] beat_keep;
wire [9:0] beat_user;
wire [`META_W-1:0] beat_meta;
wire [SLOT_W-1:0] beat_slot;
wire [15:0] beat_sum;
wire text_valid, text_ready;

always @(posedge clk) begin
    if (looked) begin
        known_mem[slot_reg] <= {
            looked_head_bytes, looked_behind, looked_transport, looked_udp, looked_kind, looked_payload, looked_packet,
            looked_l4_offset, spi_reg, looked_number[31:0], src_port_reg, dst_port_reg, src_reg, dst_reg, dscp_reg, ecn_reg,
            df_reg, ttl_reg
        };
    end
end

ipsec_hold #(.HOLD_BEATS(HOLD_BEATS), .FRAMES(FRAMES), .WORD_W(HOLD_WORD_W)) hold_inst (
    .clk(clk), .rst(rst), .room(hold_room), .take(take), .take_ask(protect), .take_data(s_axis_tdata),
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

wire [8:0] out_head_bytes, out_l4_offset;
wire [15:0] out_behind, out_payload, out_packet, out_src_port, out_dst_port;
wire out_transport, out_udp, out_df;
wire [1:0] out_kind, out_ecn;
wire [31:0] out_spi, out_low;
wire [127:0] out_src, out_dst;
wire [5:0] out_dscp;
wire [7:0] out_ttl;

assign {
    out_head_bytes, out_behind, out_transport, out_udp, out_kind, out_payload, out_packet, out_l4_offset, out_spi, out_low,
    out_src_port, out_dst_port, out_src, out_dst, out_dscp, out_ecn, out_df, out_ttl
} = known_mem[beat_slot];

ipsec_tx_write write_inst (
    .clk(clk), .rst(rst), .s_valid(beat_valid), .s_ready(beat_ready), .s_first(beat_first), .s_last(beat_last),
    .s_data(beat_data), .s_keep(beat_keep), .s_user(beat_user), .s_meta(beat_meta), .s_go(beat_go),
    .word_head_bytes(out_head_bytes), .word_text_bytes(out_behind), .word_transport(out_transport), .word_udp(out_udp),
    .word_kind(out_kind), .word_payload(out_payload), .word_packet(out_packet), .word_l4_offset(out_l4_offset),
    .word_spi(out_spi), .word_low(out_low), .word_src_port(out_src_port), .word_dst_port(out_dst_port),
    .word_src(out_src), .word_dst(out_dst), .word_dscp(out_dscp), .word_ecn(out_ecn), .word_dont_fragment(out_df),
    .word_ttl(out_ttl), .word_sum(beat_sum),
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
    1'b0, now, unused_rx, unused_window, unused_nat_delta, unused_table, unused_tkeep, unused_state, out_tuser[0], judged_beats
};

endmodule

`resetall
