// The slot of mac_rx: the MAC in its own clock and the crossing into the port's, or, left out, a register stage.
//
//     rx_clk   mac_rx -> nic_overflow_cut -> axis_adapter 64:128 -> axis_async_fifo -> clk: m_axis
//
// With EN `s_axis` is idle (`tready` 0), and frames come from XGMII. `m_axis_meta` has the time of the frame's start (whole
// ns), the rest is 0. A frame that a reset of rx_clk cuts ends bad without a reason. A reset of clk: the rest of the frame
// under way is thrown away, one that begins meanwhile may enter and be cut, those that follow until the crossing is open
// again are lost.
//
// Latency, from the edge of rx_clk that takes the word with start: 7 edges of rx_clk up to that with which the first beat is
// in the crossing (6 for a stream of 8 bytes and less), then 3 to 4 of clk to `m_axis_tvalid`: so the first beat's handshake,
// where nothing waits, is at the fourth edge of clk behind the seventh of rx_clk, or at the fifth where the first of them
// falls so close to it that it misses it. Throughput: all that XGMII carries where clk is 250 MHz and `m_axis_tready` 1.
// 1 cycle where it is left out.
//
// Counters stand in rx_clk (mac_stats); a read of one waits for it, up to 512 cycles (nic_read_cross). `ready`: the
// crossing has been open since the reset of clk. `idle`: no frame is in the MAC or the crossing.
//
// Parameters: EN, 0 leaves the block out.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_slot_mac_rx #(
    parameter EN = 0
) (
    input  wire               clk,
    input  wire               rst,

    // XGMII, and the link's faults as the MAC sees them, in rx_clk
    input  wire               rx_clk,
    input  wire               rx_rst,
    input  wire [63:0]        xgmii_d,
    input  wire [7:0]         xgmii_c,
    output wire               local_fault,
    output wire               remote_fault,

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
    input  wire [31:0]        now_fraction,
    output wire               idle,
    output wire [63:0]        next_deadline,
    output wire               ready
);

localparam [7:0] BLOCK_MAC = 8'd1;
localparam [1:0] STATE_LEFT_OUT = 2'd1;

generate
if (EN != 0) begin : g_mac
    localparam COUNTERS = 24;

    wire [COUNTERS-1:0] count_req;
    wire [COUNTERS-1:0] count_word;
    wire count_ack;
    wire count_error;
    wire [31:0] count_rdata;
    wire regs_error;
    reg late_reg;                    // the register file answers a counter's read a cycle behind it

    assign reg_error = regs_error || late_reg;

    always @(posedge clk) begin
        late_reg <= count_ack && count_error;

        if (rst) begin
            late_reg <= 1'b0;
        end
    end

    // The MAC's side of the counters
    wire stats_req;
    wire [4:0] stats_index;
    wire stats_word;
    wire stats_ack;
    wire [31:0] stats_rdata;
    wire [COUNTERS-2:0] incr;
    wire [15:0] bytes_ok;

    // Settings

    localparam [56:0] SETTINGS = {1'b1, 16'd9596, 40'h028f5c28f6};

    wire set_enable;
    wire [15:0] set_max_frame;
    wire [39:0] set_increment;
    wire cfg_enable;
    wire [15:0] cfg_max_frame;
    wire [39:0] cfg_increment;

    nic_setting_cross #(
        .WIDTH(57),
        .RESET_VALUE(SETTINGS)
    ) setting_inst (
        .s_clk(clk), .s_rst(rst), .s_value({set_enable, set_max_frame, set_increment}),
        .m_clk(rx_clk), .m_rst(rx_rst), .m_value({cfg_enable, cfg_max_frame, cfg_increment})
    );

    // State

    wire running;
    wire local_seen;
    wire remote_seen;

    nic_clock_watch watch_inst (.clk(clk), .rst(rst), .running(running), .m_clk(rx_clk), .m_rst(rx_rst));
    sync_bit local_inst (.clk(clk), .d(local_fault), .q(local_seen));
    sync_bit remote_inst (.clk(clk), .d(remote_fault), .q(remote_seen));

    // rx_clk: the MAC

    wire [95:0] mac_now;
    wire [63:0] mac_tdata;
    wire [7:0] mac_tkeep;
    wire mac_tvalid;
    wire mac_tlast;
    wire [7:0] mac_tuser;
    wire [95:0] mac_time;
    wire mac_idle;

    nic_time_cross time_inst (
        .clk(clk), .rst(rst), .now(now), .now_fraction(now_fraction),
        .m_clk(rx_clk), .m_rst(rx_rst), .m_increment(cfg_increment), .m_now(mac_now)
    );

    mac_rx mac_inst (
        .clk(rx_clk), .rst(rx_rst),
        .xgmii_d(xgmii_d), .xgmii_c(xgmii_c),
        .m_axis_tdata(mac_tdata), .m_axis_tkeep(mac_tkeep), .m_axis_tvalid(mac_tvalid), .m_axis_tlast(mac_tlast),
        .m_axis_tuser(mac_tuser), .m_axis_time(mac_time),
        .now(mac_now),
        .cfg_enable(cfg_enable), .cfg_max_frame(cfg_max_frame),
        .local_fault(local_fault), .remote_fault(remote_fault),
        .stat_frames_ok(incr[0]), .stat_bytes_ok(bytes_ok), .stat_unicast(incr[1]), .stat_multicast(incr[2]),
        .stat_broadcast(incr[3]), .stat_size_64(incr[4]), .stat_size_65_127(incr[5]), .stat_size_128_255(incr[6]),
        .stat_size_256_511(incr[7]), .stat_size_512_1023(incr[8]), .stat_size_1024_1518(incr[9]),
        .stat_size_1519_max(incr[10]), .stat_pause(incr[11]), .stat_fcs_errors(incr[12]),
        .stat_undersize(incr[13]), .stat_fragments(incr[14]), .stat_oversize(incr[15]), .stat_jabbers(incr[16]),
        .stat_symbol_errors(incr[17]), .stat_bad_preamble(incr[18]), .stat_local_fault(incr[19]),
        .stat_remote_fault(incr[20]),
        .idle(mac_idle)
    );

    // rx_clk: what doesn't fit, and twice the width

    wire [63:0] cut_tdata;
    wire [7:0] cut_tkeep;
    wire cut_tvalid;
    wire cut_tready;
    wire cut_tlast;
    wire [7:0] cut_tuser;
    wire cut_busy;
    wire [127:0] wide_tdata;
    wire [15:0] wide_tkeep;
    wire wide_tvalid;
    wire wide_tready;
    wire wide_tlast;
    wire [7:0] wide_tuser;
    wire [63:0] wide_time;

    nic_overflow_cut cut_inst (
        .clk(rx_clk), .rst(rx_rst),
        .s_axis_tdata(mac_tdata), .s_axis_tkeep(mac_tkeep), .s_axis_tvalid(mac_tvalid), .s_axis_tlast(mac_tlast),
        .s_axis_tuser(mac_tuser),
        .m_axis_tdata(cut_tdata), .m_axis_tkeep(cut_tkeep), .m_axis_tvalid(cut_tvalid), .m_axis_tready(cut_tready),
        .m_axis_tlast(cut_tlast), .m_axis_tuser(cut_tuser), .open(wide_tready),
        .cut(incr[21]), .lost(incr[22]), .busy(cut_busy)
    );

    axis_adapter #(
        .S_DATA_W(64),
        .M_DATA_W(128),
        .USER_W(8),
        .META_W(64)
    ) adapter_inst (
        .clk(rx_clk), .rst(rx_rst),
        .s_axis_tdata(cut_tdata), .s_axis_tkeep(cut_tkeep), .s_axis_tvalid(cut_tvalid), .s_axis_tready(cut_tready),
        .s_axis_tlast(cut_tlast), .s_axis_tuser(cut_tuser), .s_axis_meta(mac_time[95:32]),
        .m_axis_tdata(wide_tdata), .m_axis_tkeep(wide_tkeep), .m_axis_tvalid(wide_tvalid),
        .m_axis_tready(wide_tready), .m_axis_tlast(wide_tlast), .m_axis_tuser(wide_tuser), .m_axis_meta(wide_time)
    );

    // Of a frame on its way; it lasts until a beat that has gone into the FIFO is seen at its output
    reg [4:0] linger_reg;
    reg busy_reg;

    // The FIFO takes frames. It also takes the rest of one that a reset of clk has cut, and throws that away
    reg wide_first_reg;
    reg open_reg;

    wire busy;
    wire open;
    wire active = !mac_idle || cut_busy || mac_tvalid || wide_tvalid;

    always @(posedge rx_clk) begin
        if (active) begin
            linger_reg <= 5'd16;
        end else if (linger_reg != 5'd0) begin
            linger_reg <= linger_reg - 5'd1;
        end
        busy_reg <= active || linger_reg != 5'd0;
        if (wide_tvalid && wide_tready) begin
            wide_first_reg <= wide_tlast;
        end
        if (!wide_tready) begin
            open_reg <= 1'b0;
        end else if (wide_first_reg) begin
            open_reg <= 1'b1;
        end

        if (rx_rst) begin
            linger_reg <= 5'd0;
            busy_reg <= 1'b0;
            wide_first_reg <= 1'b1;
            open_reg <= 1'b0;
        end
    end

    sync_bit busy_inst (.clk(clk), .d(busy_reg), .q(busy));
    sync_bit open_inst (.clk(clk), .d(open_reg), .q(open));

    // Into clk

    wire [7:0] out_tuser;
    wire [63:0] out_time;

    axis_async_fifo #(
        .DATA_W(128),
        .USER_W(8),
        .META_W(64),
        .DEPTH(32)
    ) fifo_inst (
        .s_clk(rx_clk), .s_rst(rx_rst), .m_clk(clk), .m_rst(rst),
        .s_axis_tdata(wide_tdata), .s_axis_tkeep(wide_tkeep), .s_axis_tvalid(wide_tvalid), .s_axis_tready(wide_tready),
        .s_axis_tlast(wide_tlast), .s_axis_tuser(wide_tuser), .s_axis_meta(wide_time),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(out_tuser), .m_axis_meta(out_time)
    );

    reg [`META_W-1:0] out_meta;
    reg first_reg;
    reg [5:0] since_reset_reg;       // cycles, up to 32: until then `open` may be of before the reset
    reg ready_reg;

    always @* begin
        out_meta = {`META_W{1'b0}};
        out_meta[`MF_TIMESTAMP] = out_time;
    end

    assign m_axis_meta = out_meta;
    assign m_axis_tuser = {2'd0, out_tuser};
    assign idle = first_reg && !m_axis_tvalid && !busy;
    assign ready = ready_reg;

    always @(posedge clk) begin
        if (m_axis_tvalid && m_axis_tready) begin
            first_reg <= m_axis_tlast;
        end
        if (!since_reset_reg[5]) begin
            since_reset_reg <= since_reset_reg + 6'd1;
        end else if (open) begin
            ready_reg <= 1'b1;
        end

        if (rst) begin
            first_reg <= 1'b1;
            since_reset_reg <= 6'd0;
            ready_reg <= 1'b0;
        end
    end

    assign s_axis_tready = 1'b0;
    assign disp_valid = 1'b0;
    assign disp_seq = 16'd0;
    assign disp_code = 8'd0;
    assign disp_queue = 8'd0;
    assign next_deadline = 64'hffffffffffffffff;

    wire unused_bits = &{1'b0, s_axis_tdata, s_axis_tkeep, s_axis_tvalid, s_axis_tlast, s_axis_tuser, s_axis_meta,
                         mac_time[31:0]};

    // Registers

    mac_rx_regs regs_inst (
        .clk(clk), .rst(rst),
        .reg_req(reg_req), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata), .reg_wstrb(reg_wstrb),
        .reg_ack(reg_ack), .reg_error(regs_error), .reg_rdata(reg_rdata),
        .control_enable(set_enable), .control_max_frame(set_max_frame), .time_increment_value(set_increment),
        .status_local_fault_in(local_seen), .status_remote_fault_in(remote_seen), .status_clock_in(running),
        .status_local_fault_seen_set(local_seen), .status_remote_fault_seen_set(remote_seen),
        .frames_ok_req(count_req[0]), .frames_ok_word(count_word[0]),
        .frames_ok_ack(count_ack), .frames_ok_rdata(count_rdata),
        .unicast_req(count_req[1]), .unicast_word(count_word[1]), .unicast_ack(count_ack), .unicast_rdata(count_rdata),
        .multicast_req(count_req[2]), .multicast_word(count_word[2]),
        .multicast_ack(count_ack), .multicast_rdata(count_rdata),
        .broadcast_req(count_req[3]), .broadcast_word(count_word[3]),
        .broadcast_ack(count_ack), .broadcast_rdata(count_rdata),
        .size_64_req(count_req[4]), .size_64_word(count_word[4]), .size_64_ack(count_ack), .size_64_rdata(count_rdata),
        .size_65_127_req(count_req[5]), .size_65_127_word(count_word[5]),
        .size_65_127_ack(count_ack), .size_65_127_rdata(count_rdata),
        .size_128_255_req(count_req[6]), .size_128_255_word(count_word[6]),
        .size_128_255_ack(count_ack), .size_128_255_rdata(count_rdata),
        .size_256_511_req(count_req[7]), .size_256_511_word(count_word[7]),
        .size_256_511_ack(count_ack), .size_256_511_rdata(count_rdata),
        .size_512_1023_req(count_req[8]), .size_512_1023_word(count_word[8]),
        .size_512_1023_ack(count_ack), .size_512_1023_rdata(count_rdata),
        .size_1024_1518_req(count_req[9]), .size_1024_1518_word(count_word[9]),
        .size_1024_1518_ack(count_ack), .size_1024_1518_rdata(count_rdata),
        .size_1519_max_req(count_req[10]), .size_1519_max_word(count_word[10]),
        .size_1519_max_ack(count_ack), .size_1519_max_rdata(count_rdata),
        .pause_req(count_req[11]), .pause_word(count_word[11]), .pause_ack(count_ack), .pause_rdata(count_rdata),
        .fcs_errors_req(count_req[12]), .fcs_errors_word(count_word[12]),
        .fcs_errors_ack(count_ack), .fcs_errors_rdata(count_rdata),
        .undersize_req(count_req[13]), .undersize_word(count_word[13]),
        .undersize_ack(count_ack), .undersize_rdata(count_rdata),
        .fragments_req(count_req[14]), .fragments_word(count_word[14]),
        .fragments_ack(count_ack), .fragments_rdata(count_rdata),
        .oversize_req(count_req[15]), .oversize_word(count_word[15]),
        .oversize_ack(count_ack), .oversize_rdata(count_rdata),
        .jabbers_req(count_req[16]), .jabbers_word(count_word[16]),
        .jabbers_ack(count_ack), .jabbers_rdata(count_rdata),
        .symbol_errors_req(count_req[17]), .symbol_errors_word(count_word[17]),
        .symbol_errors_ack(count_ack), .symbol_errors_rdata(count_rdata),
        .bad_preamble_req(count_req[18]), .bad_preamble_word(count_word[18]),
        .bad_preamble_ack(count_ack), .bad_preamble_rdata(count_rdata),
        .local_faults_req(count_req[19]), .local_faults_word(count_word[19]),
        .local_faults_ack(count_ack), .local_faults_rdata(count_rdata),
        .remote_faults_req(count_req[20]), .remote_faults_word(count_word[20]),
        .remote_faults_ack(count_ack), .remote_faults_rdata(count_rdata),
        .overflow_cut_req(count_req[21]), .overflow_cut_word(count_word[21]),
        .overflow_cut_ack(count_ack), .overflow_cut_rdata(count_rdata),
        .overflow_lost_req(count_req[22]), .overflow_lost_word(count_word[22]),
        .overflow_lost_ack(count_ack), .overflow_lost_rdata(count_rdata),
        .bytes_ok_req(count_req[23]), .bytes_ok_word(count_word[23]),
        .bytes_ok_ack(count_ack), .bytes_ok_rdata(count_rdata)
    );

    nic_read_cross #(
        .INDEX_W(5)
    ) read_inst (
        .clk(clk), .rst(rst),
        .req(count_req != {COUNTERS{1'b0}}), .index(reg_addr[7:3]), .word(count_word != {COUNTERS{1'b0}}),
        .ack(count_ack), .error(count_error), .rdata(count_rdata),
        .m_clk(rx_clk), .m_rst(rx_rst), .m_req(stats_req), .m_index(stats_index), .m_word(stats_word),
        .m_ack(stats_ack), .m_rdata(stats_rdata)
    );

    mac_stats #(
        .N(COUNTERS - 1),
        .INDEX_W(5)
    ) stats_inst (
        .clk(rx_clk), .rst(rx_rst),
        .incr(incr), .bytes(bytes_ok),
        .req(stats_req), .index(stats_index), .word(stats_word), .ack(stats_ack), .rdata(stats_rdata)
    );
end else begin : g_left_out
    assign local_fault = 1'b0;
    assign remote_fault = 1'b0;

    wire unused_mac = &{1'b0, rx_clk, rx_rst, xgmii_d, xgmii_c, now_fraction};

    nic_slot #(
        .BLOCK(BLOCK_MAC),
        .STATE(STATE_LEFT_OUT)
    ) slot_inst (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid),
        .s_axis_tready(s_axis_tready), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser),
        .s_axis_meta(s_axis_meta),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser),
        .m_axis_meta(m_axis_meta),
        .reg_req(reg_req), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata), .reg_wstrb(reg_wstrb),
        .reg_ack(reg_ack), .reg_error(reg_error), .reg_rdata(reg_rdata),
        .disp_valid(disp_valid), .disp_seq(disp_seq), .disp_code(disp_code), .disp_queue(disp_queue),
        .now(now), .idle(idle), .next_deadline(next_deadline), .ready(ready)
    );
end
endgenerate

endmodule

`resetall
