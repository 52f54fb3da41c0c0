// Receive MAC: XGMII in, a stream of frames without their FCS out (IEEE 802.3, clauses 3, 4 and 46). docs/mac.md is its
// page.
//
// Latency      5: a frame's first beat is valid five cycles after the word with its start, in lane 0 or 4.
// Throughput   all that XGMII can carry. m_axis has no tready.
//
// Stages, `c` is the cycle in which the last word that a frame's beat needs stands on XGMII:
//   c, c + 1  mac_rx_align: characters, starts, the frame's words aligned.
//   c + 2     CRC over the word; what the next stage asks of it is counted and compared.
//   c + 3     The register is compared with the residue; the word goes out, or waits where the next one ends the frame
//             within its FCS and the verdict needs that word's CRC.
//   c + 4     m_axis.
//
// The last four bytes before a frame's end are its FCS and aren't part of the stream, whatever ended it. tuser with tlast:
// bit 0 bad, 7:1 the reason (models/meta.py). A reset leaves a frame without an end.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_rx (
    input  wire        clk,
    input  wire        rst,

    // XGMII
    input  wire [63:0] xgmii_d,
    input  wire [7:0]  xgmii_c,

    // Stream; the time is that of the frame's start, beside its first beat
    output wire [63:0] m_axis_tdata,
    output wire [7:0]  m_axis_tkeep,
    output wire        m_axis_tvalid,
    output wire        m_axis_tlast,
    output wire [7:0]  m_axis_tuser,
    output wire [95:0] m_axis_time,

    input  wire [95:0] now,

    // Configuration; cfg_max_frame: without FCS, 64 to 65523, constant while frames come
    input  wire        cfg_enable,
    input  wire [15:0] cfg_max_frame,

    output wire        local_fault,
    output wire        remote_fault,

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
    output wire        stat_fcs_errors,
    output wire        stat_undersize,
    output wire        stat_fragments,
    output wire        stat_oversize,
    output wire        stat_jabbers,
    output wire        stat_symbol_errors,
    output wire        stat_bad_preamble,
    output wire        stat_local_fault,
    output wire        stat_remote_fault,

    output wire        idle            // no frame under way
);

localparam [6:0] OVERSIZE = 7'd17;
localparam [6:0] BAD_FCS = 7'd22;
localparam [6:0] RUNT = 7'd23;
localparam [6:0] RX_ERROR = 7'd24;
localparam [13:0] MIN_WORDS = 14'd8;   // of 64 bytes

// c, c + 1

wire        s2_valid, s2_first, s2_end, s2_good;
wire [63:0] s2_data;
wire [3:0]  s2_count;
wire [95:0] s2_time;
wire        low_local, low_remote, high_local, high_remote;
wire        align_idle;

mac_rx_align align (
    .clk(clk),
    .rst(rst),
    .xgmii_d(xgmii_d),
    .xgmii_c(xgmii_c),
    .cfg_enable(cfg_enable),
    .now(now),
    .m_valid(s2_valid),
    .m_first(s2_first),
    .m_data(s2_data),
    .m_count(s2_count),
    .m_end(s2_end),
    .m_good(s2_good),
    .m_time(s2_time),
    .bad_preamble(stat_bad_preamble),
    .low_local(low_local),
    .low_remote(low_remote),
    .high_local(high_local),
    .high_remote(high_remote),
    .idle(align_idle)
);

mac_rx_fault fault (
    .clk(clk),
    .rst(rst),
    .low_local(low_local),
    .low_remote(low_remote),
    .high_local(high_local),
    .high_remote(high_remote),
    .local_fault(local_fault),
    .remote_fault(remote_fault),
    .stat_local_fault(stat_local_fault),
    .stat_remote_fault(stat_remote_fault)
);

// c + 2: CRC, number of the word, what the frame's first words say

reg [31:0] crc_reg;
reg [13:0] next_index_reg;             // of the next word; stays at its highest
reg [1:0]  tags_reg;
reg [16:0] limit_reg;                  // number of the last byte that the stream may have
reg        group_reg;
reg        broadcast_reg;
reg        pause_reg;

wire [31:0] folded;

mac_crc_fold fold (
    .word(s2_data ^ {32'd0, crc_reg | {32{s2_first}}}),
    .crc(folded)
);

wire [13:0] s2_index = s2_first ? 14'd0 : next_index_reg;
wire [15:0] type1 = {s2_data[39:32], s2_data[47:40]};
wire [15:0] type2 = {s2_data[7:0], s2_data[15:8]};

reg        s3_valid_reg;
reg        s3_first_reg;
reg        s3_end_reg;
reg        s3_good_reg;
reg [63:0] s3_data_reg;
reg [3:0]  s3_count_reg;
reg [13:0] s3_index_reg;
reg        s3_limit_reg;               // the byte of that number stands in this word
reg [95:0] s3_time_reg;

always @(posedge clk) begin
    limit_reg <= {1'b0, cfg_max_frame} - 17'd1 + {13'd0, tags_reg, 2'b00};

    s3_valid_reg <= s2_valid && !rst;
    if (s2_valid) begin
        crc_reg <= folded;
        next_index_reg <= &s2_index ? s2_index : s2_index + 14'd1;
        s3_first_reg <= s2_first;
        s3_end_reg <= s2_end;
        s3_good_reg <= s2_good;
        s3_data_reg <= s2_data;
        s3_count_reg <= s2_count;
        s3_index_reg <= s2_index;
        s3_limit_reg <= s2_index == limit_reg[16:3];

        if (s2_first) begin
            s3_time_reg <= s2_time;
            tags_reg <= 2'd0;
            group_reg <= s2_data[0];
            broadcast_reg <= &s2_data[47:0];
        end
        if (s2_index == 14'd1) begin
            tags_reg <= {1'b0, type1 == 16'h8100 || type1 == 16'h88a8};
            pause_reg <= type1 == 16'h8808;
        end
        if (s2_index == 14'd2 && tags_reg[0] && (type2 == 16'h8100 || type2 == 16'h88a8)) begin
            tags_reg <= 2'd2;
        end
    end

    if (rst) begin
        tags_reg <= 2'd0;
    end
end

// c + 3: what goes out

reg        sent_reg;                   // the stream had its last beat, the frame goes on
reg        over_reg;                   // it was cut
reg        held_reg;                   // the word before waits for the verdict
reg [63:0] held_data_reg;

wire crc_ok;

mac_crc_residue residue (
    .crc(crc_reg),
    .count(s3_count_reg[2:0]),
    .ok(crc_ok)
);

wire [3:0] limit_count = {1'b0, limit_reg[2:0]} + 4'd1;
wire [4:0] fcs_count = {1'b0, limit_count} + 5'd4;       // bytes of the word if the frame is as long as it may be

// More than four bytes stand behind the last that may go out. In mid-frame eight or more come if the next word is full.
wire cut_end = {1'b0, s3_count_reg} > fcs_count;
wire cut_next = !s2_end || s2_count + 4'd4 > limit_count;
wire cut = s3_limit_reg && !sent_reg && (s3_end_reg ? cut_end : cut_next);

// The next word has nothing but the rest of the FCS, so this is the last beat
wire last_next = !s3_end_reg && s2_end && s2_count <= 4'd4;
wire known = !s2_good || s3_index_reg < MIN_WORDS - 14'd1;   // bad, whatever the FCS is
wire hold = last_next && !known && !cut;
wire short_end = s3_end_reg && s3_count_reg <= 4'd4;
wire emit = s3_valid_reg && !sent_reg && (cut || (short_end ? held_reg : !hold));
wire last = cut || s3_end_reg || last_next;

wire good_end = s3_end_reg ? s3_good_reg : s2_good;
wire runt = s3_end_reg ? s3_index_reg < MIN_WORDS : s3_index_reg < MIN_WORDS - 14'd1;

wire [3:0] last_count = cut ? limit_count
                      : last_next ? s2_count + 4'd4
                      : short_end ? s3_count_reg + 4'd4 : s3_count_reg - 4'd4;

wire [6:0] reason = cut ? OVERSIZE : !good_end ? RX_ERROR : runt ? RUNT : !crc_ok ? BAD_FCS : 7'd0;

reg        m_valid_reg;
reg        m_last_reg;
reg [63:0] m_data_reg;
reg [7:0]  m_keep_reg;
reg [7:0]  m_user_reg;
reg [95:0] m_time_reg;

assign m_axis_tvalid = m_valid_reg && !rst;
assign m_axis_tlast = m_last_reg;
assign m_axis_tdata = m_data_reg;
assign m_axis_tkeep = m_keep_reg;
assign m_axis_tuser = m_user_reg;
assign m_axis_time = m_time_reg;
assign idle = align_idle && !s3_valid_reg && !m_valid_reg;

always @(posedge clk) begin
    m_valid_reg <= emit && !rst;
    if (emit) begin
        m_last_reg <= last;
        m_data_reg <= held_reg ? held_data_reg : s3_data_reg;
        m_keep_reg <= last ? ~(8'hff << last_count) : 8'hff;
        m_user_reg <= last ? {reason, cut || !good_end || runt || !crc_ok} : 8'd0;
        if (s3_first_reg) begin
            m_time_reg <= s3_time_reg;
        end
    end

    if (s3_valid_reg) begin
        held_reg <= hold && !sent_reg;
        held_data_reg <= s3_data_reg;
        sent_reg <= !s3_end_reg && (sent_reg || (emit && last));
        over_reg <= !s3_end_reg && (over_reg || cut);
    end

    if (rst) begin
        held_reg <= 1'b0;
        sent_reg <= 1'b0;
        over_reg <= 1'b0;
    end
end

// Counters: c + 4, those of good frames c + 5

reg        good_reg;
reg [15:0] bytes_reg;
reg        end_group_reg;
reg        end_broadcast_reg;
reg        end_pause_reg;
reg        fcs_errors_reg;
reg        undersize_reg;
reg        fragments_reg;
reg        oversize_reg;
reg        jabbers_reg;
reg        symbol_errors_reg;

assign stat_fcs_errors = fcs_errors_reg;
assign stat_undersize = undersize_reg;
assign stat_fragments = fragments_reg;
assign stat_oversize = oversize_reg;
assign stat_jabbers = jabbers_reg;
assign stat_symbol_errors = symbol_errors_reg;

wire frame_end = s3_valid_reg && s3_end_reg && !rst;
wire over = over_reg || cut;
wire fcs_ok = s3_good_reg && crc_ok;
wire short = s3_index_reg < MIN_WORDS;

always @(posedge clk) begin
    good_reg <= frame_end && !over && !short && fcs_ok;
    oversize_reg <= frame_end && over && fcs_ok;
    jabbers_reg <= frame_end && over && !fcs_ok;
    symbol_errors_reg <= frame_end && !over && !s3_good_reg;
    undersize_reg <= frame_end && !over && short && fcs_ok;
    fragments_reg <= frame_end && !over && short && s3_good_reg && !crc_ok;
    fcs_errors_reg <= frame_end && !over && !short && s3_good_reg && !crc_ok;
    if (frame_end) begin
        bytes_reg <= {s3_index_reg[12:0], 3'd0} + {12'd0, s3_count_reg};
        end_group_reg <= group_reg;
        end_broadcast_reg <= broadcast_reg;
        end_pause_reg <= pause_reg;
    end
end

mac_frame_stats stats (
    .clk(clk),
    .rst(rst),
    .s_valid(good_reg),
    .s_bytes(bytes_reg),
    .s_group(end_group_reg),
    .s_broadcast(end_broadcast_reg),
    .s_pause(end_pause_reg),
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
