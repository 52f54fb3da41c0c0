// ipsec_rx: ESP with AES-GCM and SM4-GCM, received: frames that a security association (SA) decrypts leave as what was in them.
//
//   s_axis -+-> ipsec_look (ipsec_lookup, ipsec_table, ipsec_window) -+-> ipsec_rx_feed -> gcm -> ipsec_rx_verdict (ipsec_state)
//           +-> ipsec_align: bytes from the SPI on ------------------------^                          |
//           +-> ipsec_hold: frames in order <---------------------------------------------------------+
//                    +-> ipsec_rx_write -> m_axis
//
// RFC 4303, 4106, 3948, 6040; docs/ipsec.md: checks, what leaves, exact cycles (Time). A frame that isn't ESP: latency 3 cycles;
// a decrypted one is stored and forwarded. Throughput: a beat a cycle; a frame of ESP every 4 cycles, and T + 3 for T blocks of
// text. `s_axis_tready` falls in front of a frame's first beat in the three cycles behind that of ESP, and where there is no
// room.
//
// Parameters: SAS, a power of two, 2 to 4096; SM4_EN; HOLD_BEATS, a power of two, 32 to 4096.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_rx #(
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
        $display("ipsec_rx: SAS must be a power of two, 2 to 4096 (%m)");
        $finish;
    end
    if (HOLD_BEATS < 32 || HOLD_BEATS > 4096 || HOLD_BEATS != 1 << $clog2(HOLD_BEATS)) begin
        $display("ipsec_rx: HOLD_BEATS must be a power of two, 32 to 4096 (%m)");
        $finish;
    end
end

localparam SA_W = $clog2(SAS);
localparam FRAMES = HOLD_BEATS / 4;
// Frames that end give their place in ipsec_hold back before the feed has thrown their beats, 64 at most and one a frame.
localparam JOBS = FRAMES < 128 ? 128 : FRAMES;
localparam LEVEL_W = $clog2(HOLD_BEATS) + 1;
localparam HOLD_WORD_W = 9 + 16 + 16 + 16 + 8 + 1 + 1 + 1 + 2 + 2 + 16 + SA_W;
localparam TABLE_W = 16 + 32 + 6 + 2 + 2 + 1 + 2 + 2;
localparam SM4_BIT = SM4_EN != 0 ? 1'b1 : 1'b0;

localparam [2:0] ESP = 3'd5;
localparam [7:0] ESP_PROTOCOL = 8'd50;
localparam [1:0] NATT_ESP = 2'd1;

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

wire drop_no_sa, drop_cipher, drop_fragment;
wire command_req, command_write, command_ack;
wire [31:0] command_wdata, command_rdata;
wire [3:0] command_wstrb;
wire [1:0] form_mode, form_natt, form_cipher, form_tag;
wire form_ipv6, form_esn;
wire [5:0] form_window;
wire [31:0] spi, salt;
wire [15:0] nat_delta;
wire [127:0] dst;
wire [255:0] key;
wire [63:0] first_number, soft_packets, hard_packets, soft_bytes, hard_bytes;
wire event_seen, event_first, event_more;
wire [1:0] event_kind;
wire [11:0] event_sa;
wire read_there;
wire [2:0] reached;
wire [63:0] state_packets, state_bytes, state_number;

wire judged, judged_bad, judged_late;
wire [1:0] judged_left;
wire [6:0] judged_code;
wire [15:0] judged_n;
wire soft_reached;
reg pass_reg;

wire leaves = judged && judged_left == 2'd0 && judged_code == 7'd0;
wire ends_here = judged && judged_code != 7'd0 && !judged_bad;
wire [1:0] frames_more = {1'b0, judged} + {1'b0, pass_reg};

localparam [6:0] FIRST_CODE = 7'd56;
wire [6:0] code_place = judged_code - FIRST_CODE;
wire [14:0] code_counts = ends_here ? 15'd1 << code_place[3:0] : 15'd0;
wire unused_place = &{1'b0, code_place[6:4]};

// What only a tx SA has
wire [5:0] outer_dscp;
wire outer_dscp_fixed;
wire outer_ecn_compat;
wire [1:0] outer_df;
wire [7:0] outer_ttl;
wire [15:0] ports_src;
wire [15:0] ports_dst;
wire [19:0] flow_label_label;
wire [15:0] limits_mtu;
wire [15:0] max_packet_bytes;
wire [31:0] src_0_bits;
wire [31:0] src_1_bits;
wire [31:0] src_2_bits;
wire [31:0] src_3_bits;
wire unused_tx = &{
    1'b0, outer_dscp, outer_dscp_fixed, outer_ecn_compat, outer_df, outer_ttl, ports_src, ports_dst, flow_label_label,
    limits_mtu, max_packet_bytes, src_0_bits, src_1_bits, src_2_bits, src_3_bits
};

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
    .size_tx_in(1'b0),
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
    .secured_incr(leaves),
    .left_no_sa_incr(judged && judged_left == 2'd1),
    .left_cipher_incr(judged && judged_left == 2'd2),
    .left_fragment_incr(judged && judged_left == 2'd3),
    .bad_in_incr(judged && judged_bad),
    .replay_late_incr(judged && judged_late),
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
    .ports_src(ports_src),
    .ports_dst(ports_dst),
    .flow_label_label(flow_label_label),
    .limits_mtu(limits_mtu),
    .max_packet_bytes(max_packet_bytes),
    .src_0_bits(src_0_bits),
    .src_1_bits(src_1_bits),
    .src_2_bits(src_2_bits),
    .src_3_bits(src_3_bits)
);

// Input: a frame of ESP asks. Its first byte of ESP, and the first byte behind.

reg first_reg;
reg [1:0] pace_reg;
reg esp_reg;
reg [8:0] from_reg;
reg [17:0] stop_reg;
reg [16:0] beats_reg;          // bytes of the frame's beats that came
reg [16:0] bytes_reg;
reg last_reg;
reg bad_reg;
reg [6:0] reason_reg;
reg [1:0] done_reg;

wire hold_room, feed_room;
wire room = hold_room && feed_room && (!first_reg || pace_reg == 2'd0);
wire take = s_axis_tvalid && s_axis_tready;
wire take_first = take && first_reg;
wire take_last = take && s_axis_tlast;

wire is_natt = s_axis_meta[`MF_NATT] == NATT_ESP;
wire is_esp = s_axis_meta[`MF_L4_KIND] == ESP || is_natt
    || (s_axis_meta[`MF_FRAGMENT] && s_axis_meta[`MF_PROTOCOL] == ESP_PROTOCOL);
wire [8:0] is_from = {1'b0, s_axis_meta[`MF_L4_OFFSET]} + (is_natt ? 9'd8 : 9'd0);
wire [17:0] is_stop = is_natt ? {10'd0, s_axis_meta[`MF_L4_OFFSET]} + {2'd0, s_axis_meta[`MF_UDP_LENGTH]}
    : {10'd0, s_axis_meta[`MF_L3_OFFSET]} + {1'b0, s_axis_meta[`MF_L3_LENGTH]};
wire esp = first_reg ? is_esp : esp_reg;
wire [8:0] from = first_reg ? is_from : from_reg;
wire ask = take_first && is_esp;
wire [4:0] bytes = bytes_of(s_axis_tkeep);

assign s_axis_tready = room && !rst;

always @(posedge clk) begin
    if (take_first) begin
        esp_reg <= is_esp;
        from_reg <= is_from;
        stop_reg <= is_stop;
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
    last_reg <= take_last && esp;
    done_reg <= {done_reg[0], last_reg};
    pass_reg <= take_last && !esp;

    if (rst) begin
        first_reg <= 1'b1;
        pace_reg <= 2'd0;
        last_reg <= 1'b0;
        done_reg <= 2'd0;
        pass_reg <= 1'b0;
        beats_reg <= 17'd0;
    end
end

wire align_valid, align_last;
wire [127:0] align_data;
wire align_take = take && esp;

ipsec_align align_inst (
    .clk(clk), .rst(rst), .take(align_take), .take_last(s_axis_tlast), .take_data(s_axis_tdata), .take_bytes(bytes),
    .offset(from), .m_valid(align_valid), .m_last(align_last), .m_data(align_data)
);

// SAs

wire engine_ready, engine_idle, table_busy;
wire look_found, look_hit;
wire [SA_W-1:0] look_sa;
wire [TABLE_W-1:0] form = {
    nat_delta, salt, form_window, form_tag, form_cipher, form_esn, form_natt, form_mode
};
wire [TABLE_W-1:0] sa_word;
wire [15:0] sa_nat_delta;
wire [31:0] sa_salt;
wire [5:0] sa_window;
wire [1:0] sa_tag, sa_cipher, sa_natt, sa_mode;
wire sa_esn;
wire [SA_W-1:0] number;
wire key_valid, key_ready, key_erase, key_done;
wire lookup_wr_valid, lookup_wr_ready, lookup_wr_on;
wire window_wr_valid, window_wr_ready;
wire state_wr_valid, state_wr_ready, state_rd_valid, state_rd_done;
wire read_strobe, read_clear, unused_there;

// The word stands from two cycles behind the answer of the look-up until it is done.
reg table_ask_reg;
reg [SA_W-1:0] table_sa_reg;

assign {sa_nat_delta, sa_salt, sa_window, sa_tag, sa_cipher, sa_esn, sa_natt, sa_mode} = sa_word;

ipsec_table #(.SAS(SAS), .WORD_W(TABLE_W), .TX(0)) table_inst (
    .clk(clk), .rst(rst), .slot_ready(engine_ready), .busy(table_busy),
    .command_req(command_req), .command_write(command_write), .command_wdata(command_wdata),
    .command_wstrb(command_wstrb), .command_ack(command_ack), .command_rdata(command_rdata),
    .look_valid(table_ask_reg), .look_sa(table_sa_reg), .look_there(unused_there), .look_word(sa_word),
    .word(form), .number(number), .asked(ask), .judged(judged),
    .key_valid(key_valid), .key_ready(key_ready), .key_erase(key_erase), .key_done(key_done),
    .lookup_wr_valid(lookup_wr_valid), .lookup_wr_ready(lookup_wr_ready), .lookup_wr_on(lookup_wr_on),
    .window_wr_valid(window_wr_valid), .window_wr_ready(window_wr_ready),
    .state_wr_valid(state_wr_valid), .state_wr_ready(state_wr_ready),
    .state_rd_valid(state_rd_valid), .state_rd_done(state_rd_done),
    .read_there(read_there), .read_strobe(read_strobe),
    .read_clear(read_clear)
);

always @(posedge clk) begin
    table_ask_reg <= look_found;
    table_sa_reg <= look_sa;

    if (rst) begin
        table_ask_reg <= 1'b0;
    end
end

// Look-up

wire key_ask, key_ipv6;
wire [31:0] key_spi;
wire [127:0] key_dst;
wire [31:0] window_low;
wire window_good;
wire [63:0] window_number;
wire looked, looked_esn, looked_ipv4, looked_natt;
wire [1:0] looked_left, looked_tag, looked_ecn;
wire [6:0] looked_code;
wire [SA_W-1:0] looked_sa;
wire [15:0] looked_n, looked_seq;
wire [7:0] looked_queue, looked_l3_offset, looked_protocol;
wire [8:0] looked_payload_offset;
wire [16:0] looked_l3_length;
wire looked_pass = looked_left != 2'd0;
wire looked_go = !looked_pass && looked_code == 7'd0;

ipsec_lookup #(.SAS(SAS)) lookup_inst (
    .clk(clk), .rst(rst), .s_valid(key_ask), .s_spi(key_spi), .s_dst(key_dst), .s_ipv6(key_ipv6),
    .m_valid(look_found), .m_hit(look_hit), .m_sa(look_sa),
    .wr_valid(lookup_wr_valid), .wr_ready(lookup_wr_ready), .wr_on(lookup_wr_on), .wr_sa(number), .wr_spi(spi),
    .wr_dst(dst), .wr_ipv6(form_ipv6)
);

ipsec_look #(.HOLD_BEATS(HOLD_BEATS), .SA_W(SA_W)) look_inst (
    .clk(clk), .rst(rst), .drop_no_sa(drop_no_sa), .drop_cipher(drop_cipher), .drop_fragment(drop_fragment),
    .ask(ask), .meta(s_axis_meta), .esp(is_from), .stop(is_stop),
    .key_valid(key_ask), .key_spi(key_spi), .key_dst(key_dst), .key_ipv6(key_ipv6),
    .found_valid(look_found), .found_hit(look_hit), .found_sa(look_sa),
    .sa_natt(sa_natt), .sa_esn(sa_esn), .sa_cipher(sa_cipher), .sa_tag(sa_tag),
    .window_low(window_low), .window_good(window_good),
    .done(looked), .left(looked_left), .code(looked_code), .sa(looked_sa), .esn(looked_esn), .tag(looked_tag),
    .n(looked_n), .seq(looked_seq), .host_queue(looked_queue), .ipv4(looked_ipv4), .natt(looked_natt),
    .l3_offset(looked_l3_offset), .payload_offset(looked_payload_offset), .ecn(looked_ecn),
    .l3_length(looked_l3_length), .protocol(looked_protocol)
);

wire ask_state, set_count, set_hard, late_good, life;
wire [SA_W-1:0] ask_sa;
wire [15:0] ask_n;
wire [63:0] ask_number, late_latest, unused_latest;
wire [5:0] ask_window;

ipsec_window #(.SAS(SAS)) window_inst (
    .clk(clk), .rst(rst),
    .early_valid(look_found), .early_sa(look_sa), .early_low(window_low), .early_window(sa_window), .early_esn(sa_esn),
    .early_good(window_good), .early_number(window_number),
    .late_valid(ask_state), .late_sa(ask_sa), .late_number(ask_number), .late_window(ask_window),
    .late_good(late_good), .late_set(set_count), .late_latest(late_latest),
    .wr_valid(window_wr_valid), .wr_ready(window_wr_ready), .wr_sa(number), .wr_sequence(first_number)
);

wire state_event;
wire [1:0] state_event_kind;
wire [SA_W-1:0] state_event_sa;
wire [63:0] rd_packets, rd_bytes, rd_number;
wire [2:0] rd_reached;

ipsec_state #(.SAS(SAS)) state_inst (
    .clk(clk), .rst(rst), .ask_valid(ask_state), .ask_sa(ask_sa), .ask_bytes(ask_n), .latest(unused_latest), .room(life),
    .set_count(set_count), .set_hard(set_hard), .set_ended(1'b0), .set_sequence(late_latest),
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

// To the engine and back

wire cmd_valid, cmd_ready;
wire [SA_W-1:0] cmd_key;
wire [95:0] cmd_iv;
wire [4:0] cmd_tag_bytes;
wire [127:0] in_tdata, in_tag, out_tdata, unused_tag;
wire [15:0] in_tkeep, unused_tkeep;
wire in_tvalid, in_tready, in_tlast, in_tuser, out_tvalid, out_tready, out_tlast;
wire [1:0] out_tuser;
wire [307:0] unused_state;
wire feed_idle, verdict_idle, hold_idle;
wire key_is_sm4 = form_cipher == 2'd2;
wire key_is_256 = form_cipher == 2'd1;
wire key_is_none = key_erase || form_cipher == 2'd3;

ipsec_rx_feed #(.KEY_W(SA_W), .FRAMES(JOBS)) feed_inst (
    .clk(clk), .rst(rst), .room(feed_room), .s_valid(align_valid), .s_last(align_last), .s_data(align_data),
    .s_done(done_reg[1]),
    .job_valid(looked), .job_go(looked_go), .job_sa(looked_sa), .job_salt(sa_salt), .job_tag(looked_tag),
    .job_esn(looked_esn), .job_high(window_number[63:32]), .job_n(looked_n),
    .m_cmd_valid(cmd_valid), .m_cmd_ready(cmd_ready), .m_cmd_key(cmd_key), .m_cmd_iv(cmd_iv),
    .m_cmd_tag_bytes(cmd_tag_bytes),
    .m_axis_tdata(in_tdata), .m_axis_tkeep(in_tkeep), .m_axis_tvalid(in_tvalid), .m_axis_tready(in_tready),
    .m_axis_tlast(in_tlast), .m_axis_tuser(in_tuser), .m_axis_tag(in_tag), .idle(feed_idle)
);

gcm #(.KEYS(SAS), .SM4_EN(SM4_EN)) engine_inst (
    .clk(clk), .rst(rst), .ready(engine_ready), .idle(engine_idle),
    .key_valid(key_valid), .key_ready(key_ready), .key_index(number), .key_cipher(key_is_sm4), .key_256(key_is_256),
    .key_erase(key_is_none), .key_data(key), .key_done(key_done),
    .s_cmd_valid(cmd_valid), .s_cmd_ready(cmd_ready), .s_cmd_key(cmd_key), .s_cmd_decrypt(1'b1), .s_cmd_iv(cmd_iv),
    .s_cmd_tag_bytes(cmd_tag_bytes), .s_cmd_save(1'b0), .s_cmd_resume(1'b0), .s_cmd_state(308'd0),
    .s_axis_tdata(in_tdata), .s_axis_tkeep(in_tkeep), .s_axis_tvalid(in_tvalid), .s_axis_tready(in_tready),
    .s_axis_tlast(in_tlast), .s_axis_tuser(in_tuser), .s_axis_tag(in_tag),
    .m_axis_tdata(out_tdata), .m_axis_tkeep(unused_tkeep), .m_axis_tvalid(out_tvalid), .m_axis_tready(out_tready),
    .m_axis_tlast(out_tlast), .m_axis_tuser(out_tuser), .m_axis_tag(unused_tag), .m_axis_state(unused_state)
);

wire put_valid, put_ready;
wire judged_text;
wire [15:0] judged_seq;
wire [7:0] judged_queue;
wire [4:0] judged_head;
wire [LEVEL_W-1:0] judged_beats;
wire [HOLD_WORD_W-1:0] judged_word;
wire end_short = {1'b0, bytes_reg} < stop_reg;

ipsec_rx_verdict #(.SA_W(SA_W), .LEVEL_W(LEVEL_W), .FRAMES(FRAMES)) verdict_inst (
    .clk(clk), .rst(rst),
    .looked_valid(looked), .looked_left(looked_left), .looked_code(looked_code), .looked_seq(looked_seq),
    .looked_queue(looked_queue), .looked_sa(looked_sa), .looked_number(window_number), .looked_window(sa_window),
    .looked_n(looked_n), .looked_mode(sa_mode), .looked_nat_delta(sa_nat_delta), .looked_natt(looked_natt),
    .looked_ipv4(looked_ipv4), .looked_l3_offset(looked_l3_offset), .looked_payload_offset(looked_payload_offset),
    .looked_ecn(looked_ecn), .looked_l3_length(looked_l3_length), .looked_protocol(looked_protocol),
    .end_valid(last_reg), .end_bad(bad_reg), .end_reason(reason_reg), .end_short(end_short),
    .text_valid(out_tvalid), .text_ready(out_tready), .text_last(out_tlast), .text_user(out_tuser),
    .text_data(out_tdata), .text_put_valid(put_valid), .text_put_ready(put_ready),
    .ask_valid(ask_state), .ask_sa(ask_sa), .ask_n(ask_n), .ask_number(ask_number), .ask_window(ask_window),
    .good(late_good), .life(life), .set_count(set_count), .set_hard(set_hard),
    .judged(judged), .left(judged_left), .code(judged_code), .seq(judged_seq), .host_queue(judged_queue),
    .bad_in(judged_bad), .late(judged_late), .n(judged_n), .was_text(judged_text), .head(judged_head),
    .beats(judged_beats), .word(judged_word), .idle(verdict_idle)
);

// Frames that wait, and out

wire hold_verdict = judged && judged_left == 2'd0;
wire beat_valid, beat_ready, beat_first, beat_last, beat_go;
wire [127:0] beat_data, text_data;
wire [15:0] beat_keep;
wire [9:0] beat_user;
wire [`META_W-1:0] beat_meta;
wire [HOLD_WORD_W-1:0] beat_word;
wire text_valid, text_ready;

ipsec_hold #(.HOLD_BEATS(HOLD_BEATS), .FRAMES(FRAMES), .WORD_W(HOLD_WORD_W)) hold_inst (
    .clk(clk), .rst(rst), .room(hold_room), .take(take), .take_ask(is_esp), .take_data(s_axis_tdata),
    .take_keep(s_axis_tkeep), .take_last(s_axis_tlast), .take_user(s_axis_tuser), .take_meta(s_axis_meta),
    .looked_valid(looked), .looked_pass(looked_pass),
    .s_text_valid(put_valid), .s_text_ready(put_ready), .s_text_last(out_tlast), .s_text_data(out_tdata),
    .verdict_valid(hold_verdict), .verdict_go(leaves), .verdict_text(judged_text), .verdict_head(judged_head),
    .verdict_beats(judged_beats), .verdict_word(judged_word),
    .m_axis_valid(beat_valid), .m_axis_ready(beat_ready), .m_axis_first(beat_first), .m_axis_last(beat_last),
    .m_axis_data(beat_data), .m_axis_keep(beat_keep), .m_axis_user(beat_user), .m_axis_meta(beat_meta),
    .m_axis_go(beat_go), .m_axis_word(beat_word),
    .m_text_valid(text_valid), .m_text_ready(text_ready), .m_text_data(text_data), .idle(hold_idle)
);

ipsec_rx_write #(.SA_W(SA_W)) write_inst (
    .clk(clk), .rst(rst), .s_valid(beat_valid), .s_ready(beat_ready), .s_first(beat_first), .s_last(beat_last),
    .s_data(beat_data), .s_keep(beat_keep), .s_user(beat_user), .s_meta(beat_meta), .s_go(beat_go), .s_word(beat_word),
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
assign idle = first_reg && hold_idle && feed_idle && verdict_idle && engine_idle && !table_busy && !m_axis_tvalid;

wire unused_bits = &{1'b0, now, unused_there, unused_latest, unused_tkeep, unused_tag, unused_state};

endmodule

`resetall
