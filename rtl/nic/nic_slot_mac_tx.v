// The slot of mac_tx: the crossing out of the port's clock and the MAC in its own, or, left out, a register stage.
//
//     clk: s_axis -> axis_async_fifo -> tx_clk   axis_adapter 128:64 -> mac_tx -> XGMII
//                                                mac_tx's ends -> axis_async_fifo -> clk: nic_wire_ends -> disp
//
// With EN `m_axis` is idle, and frames go to XGMII. `wire_*` say whose frame it is whose start stands there.
//
// Latency, from the edge of clk that takes the first beat: start stands on XGMII behind the sixth edge of tx_clk that
// follows it, or the seventh where the first of them falls so close to it that it misses it, where the gap allows and
// nothing waits. Throughput: all that XGMII carries where clk is 250 MHz and beats come one a cycle within a frame; then
// mac_tx never starves. 1 cycle where it is left out.
//
// Ends: `delivered` once terminate has been made, `mac_underrun`, `link_fault` (thrown away for a fault), in the order of
// the frames, to the account of the direction in which the frame came in. A reset of tx_clk: no frame begins, the rest of
// one under way is taken; all that mac_tx or the crossing held, and the ends that hadn't crossed, end as `mac_reset`; then
// frames go on (nic_link). A reset of clk: what had crossed is sent, the frame that it cuts ends in error characters, and
// nothing of that is reported; frames begin once mac_tx has none of them left.
//
// At most 35 beats and 32 frames are held. Counters stand in tx_clk (mac_stats); a read of one waits for it, up to 512
// cycles (nic_read_cross). `ready`: frames could go since the reset of clk. `idle`: every frame has its end, and XGMII none.
//
// Parameters: EN, 0 leaves the block out.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_slot_mac_tx #(
    parameter EN = 0
) (
    input  wire               clk,
    input  wire               rst,

    // XGMII, in tx_clk; whose frame's start stands there, and when
    input  wire               tx_clk,
    input  wire               tx_rst,
    output wire [63:0]        xgmii_d,
    output wire [7:0]         xgmii_c,
    output wire               wire_valid,
    output wire [15:0]        wire_seq,
    output wire               wire_direction,
    output wire [95:0]        wire_time,

    // The link's faults as mac_rx sees them, in its clock
    input  wire               local_fault,
    input  wire               remote_fault,

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
    output wire               disp_rx_valid,
    output wire               disp_tx_valid,
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
    localparam [7:0] CODE_DELIVERED = `CODE_DELIVERED;
    localparam [7:0] CODE_MAC_UNDERRUN = `CODE_MAC_UNDERRUN;
    localparam [7:0] CODE_LINK_FAULT = `CODE_LINK_FAULT;
    localparam [7:0] CODE_MAC_RESET = `CODE_MAC_RESET;

    // Of a frame's metadata, what goes with it: whose it is
    localparam OWN_W = 1 + `MF_SEQ_W;

    localparam COUNTERS = 16;

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

    localparam [49:0] SETTINGS = {1'b1, 1'b1, 8'd12, 40'h028f5c28f6};

    wire set_enable;
    wire set_dic;
    wire [7:0] set_ifg;
    wire [39:0] set_increment;
    wire cfg_enable;
    wire cfg_dic;
    wire [7:0] cfg_ifg;
    wire [39:0] cfg_increment;

    nic_setting_cross #(
        .WIDTH(50),
        .RESET_VALUE(SETTINGS)
    ) setting_inst (
        .s_clk(clk), .s_rst(rst), .s_value({set_enable, set_dic, set_ifg, set_increment}),
        .m_clk(tx_clk), .m_rst(tx_rst), .m_value({cfg_enable, cfg_dic, cfg_ifg, cfg_increment})
    );

    // State: faults into the MAC's clock, and from there, as it obeys them, into clk

    wire running;
    wire local_tx;
    wire remote_tx;
    wire local_seen;
    wire remote_seen;

    nic_clock_watch watch_inst (.clk(clk), .rst(rst), .running(running), .m_clk(tx_clk), .m_rst(tx_rst));
    sync_bit local_tx_inst (.clk(tx_clk), .d(local_fault), .q(local_tx));
    sync_bit remote_tx_inst (.clk(tx_clk), .d(remote_fault), .q(remote_tx));
    sync_bit local_inst (.clk(clk), .d(local_tx), .q(local_seen));
    sync_bit remote_inst (.clk(clk), .d(remote_tx), .q(remote_seen));

    // clk: frames begin while the link is up and their ends have room

    reg first_reg;                   // the next beat is a frame's first
    wire up;
    wire down;
    wire room;
    wire ends_empty;
    wire fifo_tready;
    wire pass = !first_reg || (up && room);
    wire begins = s_axis_tvalid && s_axis_tready && first_reg;

    assign s_axis_tready = fifo_tready && pass;

    always @(posedge clk) begin
        if (s_axis_tvalid && s_axis_tready) begin
            first_reg <= s_axis_tlast;
        end

        if (rst) begin
            first_reg <= 1'b1;
        end
    end

    // Into tx_clk

    wire [127:0] wide_tdata;
    wire [15:0] wide_tkeep;
    wire wide_tvalid;
    wire wide_tready;
    wire wide_tlast;
    wire wide_tuser;
    wire [OWN_W-1:0] wide_own;

    axis_async_fifo #(
        .DATA_W(128),
        .USER_W(1),
        .META_W(OWN_W),
        .DEPTH(32)
    ) fifo_inst (
        .s_clk(clk), .s_rst(rst), .m_clk(tx_clk), .m_rst(tx_rst),
        .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid && pass),
        .s_axis_tready(fifo_tready), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser[0]),
        .s_axis_meta({s_axis_meta[`MF_DIRECTION], s_axis_meta[`MF_SEQ]}),
        .m_axis_tdata(wide_tdata), .m_axis_tkeep(wide_tkeep), .m_axis_tvalid(wide_tvalid),
        .m_axis_tready(wide_tready), .m_axis_tlast(wide_tlast), .m_axis_tuser(wide_tuser), .m_axis_meta(wide_own)
    );

    // tx_clk: half the width, the MAC

    wire [63:0] mac_tdata;
    wire [7:0] mac_tkeep;
    wire mac_tvalid;
    wire mac_tready;
    wire mac_tlast;
    wire mac_tuser;
    wire [OWN_W-1:0] mac_own;
    wire [95:0] mac_now;
    wire mac_time_valid;
    wire [95:0] mac_time;
    wire mac_idle;

    axis_adapter #(
        .S_DATA_W(128),
        .M_DATA_W(64),
        .USER_W(1),
        .META_W(OWN_W)
    ) adapter_inst (
        .clk(tx_clk), .rst(tx_rst),
        .s_axis_tdata(wide_tdata), .s_axis_tkeep(wide_tkeep), .s_axis_tvalid(wide_tvalid), .s_axis_tready(wide_tready),
        .s_axis_tlast(wide_tlast), .s_axis_tuser(wide_tuser), .s_axis_meta(wide_own),
        .m_axis_tdata(mac_tdata), .m_axis_tkeep(mac_tkeep), .m_axis_tvalid(mac_tvalid), .m_axis_tready(mac_tready),
        .m_axis_tlast(mac_tlast), .m_axis_tuser(mac_tuser), .m_axis_meta(mac_own)
    );

    nic_time_cross time_inst (
        .clk(clk), .rst(rst), .now(now), .now_fraction(now_fraction),
        .m_clk(tx_clk), .m_rst(tx_rst), .m_increment(cfg_increment), .m_now(mac_now)
    );

    mac_tx mac_inst (
        .clk(tx_clk), .rst(tx_rst),
        .s_axis_tdata(mac_tdata), .s_axis_tkeep(mac_tkeep), .s_axis_tvalid(mac_tvalid), .s_axis_tready(mac_tready),
        .s_axis_tlast(mac_tlast), .s_axis_tuser(mac_tuser),
        .xgmii_d(xgmii_d), .xgmii_c(xgmii_c),
        .cfg_enable(cfg_enable), .cfg_ifg(cfg_ifg), .cfg_dic(cfg_dic), .local_fault(local_tx),
        .remote_fault(remote_tx),
        .now(mac_now), .tx_time_valid(mac_time_valid), .tx_time(mac_time),
        .stat_frames_ok(incr[0]), .stat_bytes_ok(bytes_ok), .stat_unicast(incr[1]), .stat_multicast(incr[2]),
        .stat_broadcast(incr[3]), .stat_size_64(incr[4]), .stat_size_65_127(incr[5]), .stat_size_128_255(incr[6]),
        .stat_size_256_511(incr[7]), .stat_size_512_1023(incr[8]), .stat_size_1024_1518(incr[9]),
        .stat_size_1519_max(incr[10]), .stat_pause(incr[11]), .stat_underrun(incr[12]),
        .stat_errored(incr[13]), .stat_fault_dropped(incr[14]),
        .idle(mac_idle)
    );

    // tx_clk: whose frame is on XGMII: start stands there two cycles behind the handshake of the first beat

    reg mac_first_reg;
    reg [1:0] start_reg;
    reg [OWN_W-1:0] own_reg;
    reg [OWN_W-1:0] own_wire_reg;

    assign wire_valid = start_reg[1];
    assign {wire_direction, wire_seq} = own_wire_reg;
    assign wire_time = mac_now;

    always @(posedge tx_clk) begin
        if (mac_tvalid && mac_tready) begin
            mac_first_reg <= mac_tlast;
        end
        start_reg <= {start_reg[0], mac_tvalid && mac_tready && mac_first_reg && !local_tx && !remote_tx};
        own_reg <= mac_own;
        own_wire_reg <= own_reg;

        if (tx_rst) begin
            mac_first_reg <= 1'b1;
            start_reg <= 2'd0;
        end
    end

    // tx_clk: ends; the MAC makes no two of them in one cycle

    wire end_ready;                  // 1 while the link is up: there is room for all that may be under way
    wire end_valid;
    wire [7:0] end_code;
    wire made = incr[0] || incr[12] || incr[13] || incr[14];
    wire [7:0] made_code = incr[0] ? CODE_DELIVERED : incr[12] ? CODE_MAC_UNDERRUN
                         : incr[14] ? CODE_LINK_FAULT : CODE_MAC_RESET;
    reg [1:0] made_reg;              // the MAC counts a frame two cycles before its terminate stands on XGMII at the latest
    reg [7:0] code1_reg;
    reg [7:0] code2_reg;

    always @(posedge tx_clk) begin
        made_reg <= {made_reg[0], made};
        code1_reg <= made_code;
        code2_reg <= code1_reg;

        if (tx_rst) begin
            made_reg <= 2'd0;
        end
    end

    wire end_keep;
    wire end_last;
    wire end_user;
    wire end_meta;

    axis_async_fifo #(
        .DATA_W(8),
        .USER_W(1),
        .META_W(1),
        .DEPTH(64)
    ) ends_fifo_inst (
        .s_clk(tx_clk), .s_rst(tx_rst), .m_clk(clk), .m_rst(rst),
        .s_axis_tdata(code2_reg), .s_axis_tkeep(1'b1), .s_axis_tvalid(made_reg[1]), .s_axis_tready(end_ready),
        .s_axis_tlast(1'b1), .s_axis_tuser(1'b0), .s_axis_meta(1'b0),
        .m_axis_tdata(end_code), .m_axis_tkeep(end_keep), .m_axis_tvalid(end_valid), .m_axis_tready(1'b1),
        .m_axis_tlast(end_last), .m_axis_tuser(end_user), .m_axis_meta(end_meta)
    );

    wire active = wide_tvalid || mac_tvalid || !mac_idle;

    nic_link link_inst (
        .clk(clk), .rst(rst), .settled(first_reg && ends_empty), .up(up), .down(down),
        .m_clk(tx_clk), .m_rst(tx_rst), .m_busy(active), .m_ready(end_ready)
    );

    // clk

    nic_wire_ends ends_inst (
        .clk(clk), .rst(rst),
        .begin_valid(begins), .begin_meta(s_axis_meta), .room(room),
        .end_valid(end_valid), .end_code(end_code), .flush(down && first_reg), .empty(ends_empty),
        .disp_rx_valid(disp_rx_valid), .disp_tx_valid(disp_tx_valid), .disp_seq(disp_seq), .disp_code(disp_code),
        .disp_queue(disp_queue)
    );

    reg busy_reg;                    // in tx_clk
    wire busy;
    reg ready_reg;

    assign idle = first_reg && ends_empty && !busy;
    assign ready = ready_reg;

    always @(posedge tx_clk) begin
        busy_reg <= active;

        if (tx_rst) begin
            busy_reg <= 1'b0;
        end
    end

    always @(posedge clk) begin
        if (up) begin
            ready_reg <= 1'b1;
        end

        if (rst) begin
            ready_reg <= 1'b0;
        end
    end

    sync_bit busy_inst (.clk(clk), .d(busy_reg), .q(busy));

    assign m_axis_tdata = 128'd0;
    assign m_axis_tkeep = 16'd0;
    assign m_axis_tvalid = 1'b0;
    assign m_axis_tlast = 1'b0;
    assign m_axis_tuser = 10'd0;
    assign m_axis_meta = {`META_W{1'b0}};
    assign next_deadline = 64'hffffffffffffffff;

    wire unused_bits = &{1'b0, m_axis_tready, s_axis_tuser, s_axis_meta, mac_time_valid, mac_time, end_keep, end_last,
                         end_user, end_meta};

    // Registers

    mac_tx_regs regs_inst (
        .clk(clk), .rst(rst),
        .reg_req(reg_req), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata), .reg_wstrb(reg_wstrb),
        .reg_ack(reg_ack), .reg_error(regs_error), .reg_rdata(reg_rdata),
        .control_enable(set_enable), .control_dic(set_dic), .control_ifg(set_ifg), .time_increment_value(set_increment),
        .status_local_fault_in(local_seen), .status_remote_fault_in(remote_seen), .status_clock_in(running),
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
        .underrun_req(count_req[12]), .underrun_word(count_word[12]),
        .underrun_ack(count_ack), .underrun_rdata(count_rdata),
        .errored_req(count_req[13]), .errored_word(count_word[13]),
        .errored_ack(count_ack), .errored_rdata(count_rdata),
        .fault_dropped_req(count_req[14]), .fault_dropped_word(count_word[14]),
        .fault_dropped_ack(count_ack), .fault_dropped_rdata(count_rdata),
        .bytes_ok_req(count_req[15]), .bytes_ok_word(count_word[15]),
        .bytes_ok_ack(count_ack), .bytes_ok_rdata(count_rdata)
    );

    nic_read_cross #(
        .INDEX_W(5)
    ) read_inst (
        .clk(clk), .rst(rst),
        .req(count_req != {COUNTERS{1'b0}}), .index(reg_addr[7:3]), .word(count_word != {COUNTERS{1'b0}}),
        .ack(count_ack), .error(count_error), .rdata(count_rdata),
        .m_clk(tx_clk), .m_rst(tx_rst), .m_req(stats_req), .m_index(stats_index), .m_word(stats_word),
        .m_ack(stats_ack), .m_rdata(stats_rdata)
    );

    mac_stats #(
        .N(COUNTERS - 1),
        .INDEX_W(5)
    ) stats_inst (
        .clk(tx_clk), .rst(tx_rst),
        .incr(incr), .bytes(bytes_ok),
        .req(stats_req), .index(stats_index), .word(stats_word), .ack(stats_ack), .rdata(stats_rdata)
    );
end else begin : g_left_out
    assign xgmii_d = {8{8'h07}};
    assign xgmii_c = 8'hff;
    assign wire_valid = 1'b0;
    assign wire_seq = 16'd0;
    assign wire_direction = 1'b0;
    assign wire_time = 96'd0;
    assign disp_rx_valid = 1'b0;

    wire unused_mac = &{1'b0, tx_clk, tx_rst, local_fault, remote_fault, now_fraction};

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
        .disp_valid(disp_tx_valid), .disp_seq(disp_seq), .disp_code(disp_code), .disp_queue(disp_queue),
        .now(now), .idle(idle), .next_deadline(next_deadline), .ready(ready)
    );
end
endgenerate

endmodule

`resetall
