// Transmit MAC: a stream of frames in, XGMII out (IEEE 802.3, clauses 3, 4 and 46). docs/mac.md is its page.
//
// Latency      2: the word with start stands on XGMII two cycles after the handshake of the frame's first beat.
// Throughput   a beat a cycle within a frame; frames as close as cfg_ifg and the deficit idle count allow.
//
// s_axis_tready is 1 between frames in those cycles in which a start may stand two cycles later, and in mid-frame always:
// a cycle there without tvalid starves the frame.
//
// Stages, counted from the handshake:
//   0  Beats are numbered; a frame below 60 bytes gets beats of zeros; bytes that aren't kept are cleared; a last word is
//      moved up to where the CRC wants it.
//   1  The preamble goes to XGMII. CRC over the word. The end is told to mac_tx_gap.
//   2  Data go to XGMII, behind the last of them FCS and terminate.
//   3  What of FCS and terminate had no room in that word.
//   XGMII is a register. A frame that starts in lane 4 passes it half a word late, through the half that is kept.
//
// Counters: strobes of one cycle; stat_bytes_ok (with FCS, at most 65535) is an amount beside stat_frames_ok, else 0.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_tx (
    input  wire        clk,
    input  wire        rst,

    // Stream; tuser with tlast: the frame is bad
    input  wire [63:0] s_axis_tdata,
    input  wire [7:0]  s_axis_tkeep,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire        s_axis_tlast,
    input  wire        s_axis_tuser,

    // XGMII
    output wire [63:0] xgmii_d,
    output wire [7:0]  xgmii_c,

    // Configuration; faults as mac_rx sees them
    input  wire        cfg_enable,
    input  wire [7:0]  cfg_ifg,
    input  wire        cfg_dic,
    input  wire        local_fault,
    input  wire        remote_fault,

    // When start stood on XGMII
    input  wire [95:0] now,
    output wire        tx_time_valid,
    output wire [95:0] tx_time,

    // Counters
    output wire        stat_frames_ok,
    output wire [15:0] stat_bytes_ok,
    output wire        stat_unicast,
    output wire        stat_multicast,
    output wire        stat_broadcast,
    output wire        stat_pause,
    output wire        stat_size_64,
    output wire        stat_size_65_127,
    output wire        stat_size_128_255,
    output wire        stat_size_256_511,
    output wire        stat_size_512_1023,
    output wire        stat_size_1024_1518,
    output wire        stat_size_1519_max,
    output wire        stat_underrun,
    output wire        stat_errored,
    output wire        stat_fault_dropped,

    output wire        idle            // nothing of a frame is held or stands on XGMII
);

localparam [63:0] IDLE = 64'h0707070707070707;
localparam [63:0] PREAMBLE = 64'hd5555555555555fb;
localparam [63:0] REMOTE_FAULT = 64'h0200009c0200009c;
localparam [3:0] MIN_BEATS = 4'd8;     // 60 bytes are 7 beats and half a beat

// 0: beats of the stream

reg       open_reg;                    // the stream stands in mid-frame
reg       throw_reg;                   // and the rest of the frame is thrown away
reg       pad_reg;                     // a frame is being filled up
reg       pad_bad_reg;
reg       pad_starved_reg;
reg [3:0] index_reg;                   // beats so far, at most 8

wire ready;
wire fault = local_fault || remote_fault;
wire take = s_axis_tvalid && s_axis_tready;
wire first_beat = take && !open_reg;
wire start = first_beat && !fault;
wire running = open_reg && !throw_reg;
wire starved = running && !s_axis_tvalid;
wire [3:0] index = open_reg || pad_reg ? index_reg : 4'd0;

assign s_axis_tready = (open_reg || (ready && cfg_enable)) && !rst;

wire ends = starved || (take && s_axis_tlast);
wire [7:0] keep = starved ? 8'h00 : s_axis_tlast ? s_axis_tkeep : 8'hff;

reg [3:0] count_in;
reg [63:0] kept;
reg [63:0] aligned;
integer lane;

always @* begin
    for (lane = 0; lane < 8; lane = lane + 1) begin
        kept[lane*8 +: 8] = s_axis_tdata[lane*8 +: 8] & {8{keep[lane]}};
    end
    casez (keep)
        8'b1???????: begin count_in = 4'd8; aligned = kept; end
        8'b01??????: begin count_in = 4'd7; aligned = {kept[55:0], 8'd0}; end
        8'b001?????: begin count_in = 4'd6; aligned = {kept[47:0], 16'd0}; end
        8'b0001????: begin count_in = 4'd5; aligned = {kept[39:0], 24'd0}; end
        8'b00001???: begin count_in = 4'd4; aligned = {kept[31:0], 32'd0}; end
        8'b000001??: begin count_in = 4'd3; aligned = {kept[23:0], 40'd0}; end
        8'b0000001?: begin count_in = 4'd2; aligned = {kept[15:0], 48'd0}; end
        8'b00000001: begin count_in = 4'd1; aligned = {kept[7:0], 56'd0}; end
        default: begin count_in = 4'd0; aligned = 64'd0; end
    endcase
end

// A frame that ends before its eighth beat goes on with zeros; in the eighth there are at least four bytes.
wire early = ends && index < MIN_BEATS - 4'd1;
wire eighth = index == MIN_BEATS - 4'd1;
wire fill = eighth && ends && count_in < 4'd4;
wire beat = start || running || pad_reg;

// 1: first word, CRC

reg        s1_valid_reg;
reg        s1_first_reg;
reg        s1_last_reg;
reg        s1_bad_reg;
reg        s1_starved_reg;
reg [3:0]  s1_count_reg;
reg [63:0] s1_data_reg;
reg [63:0] s1_aligned_reg;
reg        lane4_reg;

wire gap_lane4;
wire end_valid = s1_valid_reg && s1_last_reg;

mac_tx_gap gap (
    .clk(clk),
    .rst(rst),
    .cfg_ifg(cfg_ifg),
    .cfg_dic(cfg_dic),
    .end_valid(end_valid),
    .end_count(s1_count_reg),
    .end_lane4(lane4_reg),
    .end_bad(s1_bad_reg),
    .start(start),
    .ready(ready),
    .lane4(gap_lane4)
);

wire [31:0] fcs;

mac_tx_crc crc (
    .clk(clk),
    .s_valid(s1_valid_reg),
    .s_first(s1_first_reg),
    .s_aligned(s1_aligned_reg),
    .s_count(s1_count_reg),
    .fcs(fcs)
);

always @(posedge clk) begin
    if (take) begin
        open_reg <= !s_axis_tlast;
        throw_reg <= !s_axis_tlast && (first_beat ? fault : throw_reg);
    end else if (starved) begin
        throw_reg <= 1'b1;
    end

    if (beat) begin
        index_reg <= index == MIN_BEATS ? MIN_BEATS : index + 4'd1;
        s1_data_reg <= pad_reg ? 64'd0 : kept;
        s1_aligned_reg <= pad_reg ? 64'd0 : early ? kept : fill ? {kept[31:0], 32'd0} : aligned;
        s1_count_reg <= pad_reg ? (eighth ? 4'd4 : 4'd8) : early ? 4'd8 : fill ? 4'd4 : count_in;
        s1_bad_reg <= pad_reg ? pad_bad_reg : ends && (starved || s_axis_tuser);
        s1_starved_reg <= pad_reg ? pad_starved_reg : starved;
    end
    s1_valid_reg <= beat;
    s1_first_reg <= start;
    s1_last_reg <= pad_reg ? eighth : beat && ends && !early;
    if (start) begin
        lane4_reg <= gap_lane4;
    end

    if (beat && early && !pad_reg) begin
        pad_reg <= 1'b1;
        pad_bad_reg <= starved || s_axis_tuser;
        pad_starved_reg <= starved;
    end else if (pad_reg && eighth) begin
        pad_reg <= 1'b0;
    end

    if (rst) begin
        open_reg <= 1'b0;
        throw_reg <= 1'b0;
        pad_reg <= 1'b0;
        s1_valid_reg <= 1'b0;
        s1_first_reg <= 1'b0;
        s1_last_reg <= 1'b0;
        lane4_reg <= 1'b0;
    end
end

// 2 and 3: data and the end

reg        s2_valid_reg;
reg        s2_last_reg;
reg        s2_bad_reg;
reg [3:0]  s2_count_reg;
reg [63:0] s2_data_reg;
reg        tail_valid_reg;
reg        tail_bad_reg;
reg [3:0]  tail_count_reg;

wire [63:0] head_d, tail_d;
wire [7:0] head_c, tail_c;
wire more;

mac_tx_tail tail (
    .data(s2_data_reg),
    .fcs(fcs),
    .count(tail_valid_reg ? tail_count_reg : s2_count_reg),
    .bad(tail_valid_reg ? tail_bad_reg : s2_bad_reg),
    .head_d(head_d),
    .head_c(head_c),
    .tail_d(tail_d),
    .tail_c(tail_c),
    .more(more)
);

always @(posedge clk) begin
    s2_valid_reg <= s1_valid_reg && !rst;
    s2_last_reg <= end_valid;
    if (s1_valid_reg) begin
        s2_data_reg <= s1_data_reg;
        s2_count_reg <= s1_count_reg;
        s2_bad_reg <= s1_bad_reg;
    end
    tail_valid_reg <= s2_valid_reg && s2_last_reg && more && !rst;
    if (s2_valid_reg && s2_last_reg) begin
        tail_count_reg <= s2_count_reg;
        tail_bad_reg <= s2_bad_reg;
    end
end

// XGMII

reg [63:0] word_d;
reg [7:0]  word_c;

always @* begin
    if (s1_first_reg) begin
        word_d = PREAMBLE;
        word_c = 8'h01;
    end else if (tail_valid_reg) begin
        word_d = tail_d;
        word_c = tail_c;
    end else if (s2_valid_reg && s2_last_reg) begin
        word_d = head_d;
        word_c = head_c;
    end else if (s2_valid_reg) begin
        word_d = s2_data_reg;
        word_c = 8'h00;
    end else begin
        word_d = IDLE;
        word_c = 8'hff;
    end
end

wire word_active = s1_first_reg || s2_valid_reg || tail_valid_reg;

reg [63:0] xgmii_d_reg;
reg [7:0]  xgmii_c_reg;
reg        xgmii_active_reg;           // of a frame; else it repeats itself and need not be written
reg        xgmii_fault_reg;
reg [31:0] half_d_reg;
reg [3:0]  half_c_reg;
reg        half_active_reg;

wire out_active = word_active || (half_active_reg && lane4_reg);

assign xgmii_d = xgmii_d_reg;
assign xgmii_c = xgmii_c_reg;

always @(posedge clk) begin
    half_active_reg <= word_active && !rst;
    if (word_active || half_active_reg) begin
        half_d_reg <= word_d[63:32];
        half_c_reg <= word_c[7:4];
    end

    xgmii_active_reg <= out_active && !rst;
    xgmii_fault_reg <= local_fault && !out_active && !rst;
    if (out_active) begin
        xgmii_d_reg <= lane4_reg ? {word_d[31:0], half_d_reg} : word_d;
        xgmii_c_reg <= lane4_reg ? {word_c[3:0], half_c_reg} : word_c;
    end else if (xgmii_active_reg || xgmii_fault_reg != local_fault) begin
        xgmii_d_reg <= local_fault ? REMOTE_FAULT : IDLE;
        xgmii_c_reg <= local_fault ? 8'h11 : 8'hff;
    end

    if (rst) begin
        half_d_reg <= IDLE[31:0];
        half_c_reg <= 4'hf;
        xgmii_d_reg <= IDLE;
        xgmii_c_reg <= 8'hff;
    end
end

assign idle = !open_reg && !pad_reg && !s1_valid_reg && !out_active && !xgmii_active_reg;

// Time

reg        time_start_reg;
reg        time_valid_reg;
reg [95:0] time_reg;

assign tx_time_valid = time_valid_reg;
assign tx_time = time_reg;

always @(posedge clk) begin
    time_start_reg <= s1_first_reg && !rst;
    time_valid_reg <= time_start_reg && !rst;
    if (time_start_reg) begin
        time_reg <= now;
    end
end

// Counters

reg [13:0] beats_reg;                  // in front of the one in stage 1
reg        group_reg;
reg        broadcast_reg;
reg        pause_reg;
reg        good_reg;
reg [15:0] bytes_reg;
reg        underrun_reg;
reg        errored_reg;
reg        dropped_reg;
reg        fault_throw_reg;            // thrown away for a fault, not because it starved

wire [16:0] bytes = {beats_reg, 3'd0} + {13'd0, s1_count_reg} + 17'd4;

assign stat_underrun = underrun_reg;
assign stat_errored = errored_reg;
assign stat_fault_dropped = dropped_reg;

always @(posedge clk) begin
    if (s1_valid_reg) begin
        if (!beats_reg[13]) begin
            beats_reg <= beats_reg + 14'd1;
        end
        if (beats_reg == 14'd0) begin
            group_reg <= s1_data_reg[0];
            broadcast_reg <= &s1_data_reg[47:0];
        end
        if (beats_reg == 14'd1) begin
            pause_reg <= s1_data_reg[47:32] == 16'h0888;
        end
    end
    if (end_valid) begin
        beats_reg <= 14'd0;
        bytes_reg <= bytes[16] ? 16'hffff : bytes[15:0];
    end
    good_reg <= end_valid && !s1_bad_reg && !rst;
    underrun_reg <= end_valid && s1_starved_reg && !rst;
    errored_reg <= end_valid && s1_bad_reg && !s1_starved_reg && !rst;
    dropped_reg <= take && s_axis_tlast && (first_beat ? fault : throw_reg && fault_throw_reg) && !rst;
    if (first_beat) begin
        fault_throw_reg <= fault;
    end

    if (rst) begin
        beats_reg <= 14'd0;
    end
end

mac_frame_stats stats (
    .clk(clk),
    .rst(rst),
    .s_valid(good_reg),
    .s_bytes(bytes_reg),
    .s_group(group_reg),
    .s_broadcast(broadcast_reg),
    .s_pause(pause_reg),
    .frames_ok(stat_frames_ok),
    .bytes_ok(stat_bytes_ok),
    .unicast(stat_unicast),
    .multicast(stat_multicast),
    .broadcast(stat_broadcast),
    .pause(stat_pause),
    .size_64(stat_size_64),
    .size_65_127(stat_size_65_127),
    .size_128_255(stat_size_128_255),
    .size_256_511(stat_size_256_511),
    .size_512_1023(stat_size_512_1023),
    .size_1024_1518(stat_size_1024_1518),
    .size_1519_max(stat_size_1519_max)
);

endmodule

`resetall
