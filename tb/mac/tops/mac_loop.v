// mac_tx and mac_rx back to back at XGMII, with PCS 1 with pcs_tx and pcs_rx between them, and the faults that mac_rx sees
// on mac_tx. `break_line` puts local fault sequences in the place of what mac_rx is to receive.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_loop #(
    parameter PCS = 0
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [63:0] s_axis_tdata,
    input  wire [7:0]  s_axis_tkeep,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire        s_axis_tlast,
    input  wire        s_axis_tuser,
    output wire [63:0] xgmii_d,
    output wire [7:0]  xgmii_c,
    input  wire [7:0]  cfg_ifg,
    input  wire        cfg_dic,
    input  wire [15:0] cfg_max_frame,
    input  wire        break_line,
    output wire [63:0] m_axis_tdata,
    output wire [7:0]  m_axis_tkeep,
    output wire        m_axis_tvalid,
    output wire        m_axis_tlast,
    output wire [7:0]  m_axis_tuser,
    output wire [95:0] m_axis_time,
    output wire        tx_time_valid,
    output wire [95:0] tx_time,
    output wire [95:0] now,
    output wire [14:0] tx_stats,
    output wire [15:0] tx_bytes,
    output wire [20:0] rx_stats,
    output wire [15:0] rx_bytes,
    output wire        local_fault,
    output wire        remote_fault,
    output wire        tx_idle,
    output wire        rx_idle
);

wire [63:0] far_d;
wire [7:0] far_c;
wire [63:0] line_d = break_line ? 64'h0100009c0100009c : far_d;
wire [7:0] line_c = break_line ? 8'h11 : far_c;

generate
    if (PCS != 0) begin : with_pcs
        wire [65:0] block;

        pcs_tx encode (
            .clk(clk), .rst(rst), .xgmii_d(xgmii_d), .xgmii_c(xgmii_c), .cfg_pattern(3'd0), .cfg_seed_a(58'd0),
            .cfg_seed_b(58'd0), .cfg_data_lf(1'b0), .block(block)
        );

        pcs_rx decode (
            .clk(clk), .rst(rst), .block(block), .signal_ok(1'b1), .slip(), .xgmii_d(far_d), .xgmii_c(far_c),
            .block_lock(), .hi_ber(), .rx_status(), .cfg_pattern(3'd0), .cfg_data_lf(1'b0), .pattern_errors(),
            .pattern_clear(1'b0), .ber_count(), .ber_clear(1'b0), .errored_blocks(), .errored_clear(1'b0)
        );
    end else begin : without_pcs
        assign far_d = xgmii_d;
        assign far_c = xgmii_c;
    end
endgenerate

mac_time clock (
    .clk(clk), .rst(rst), .cfg_increment(40'h028f5c28f5), .set_valid(1'b0), .set_time(96'd0), .now(now)
);

mac_tx tx (
    .clk(clk), .rst(rst),
    .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid),
    .s_axis_tready(s_axis_tready), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser),
    .xgmii_d(xgmii_d), .xgmii_c(xgmii_c),
    .cfg_enable(1'b1), .cfg_ifg(cfg_ifg), .cfg_dic(cfg_dic),
    .local_fault(local_fault), .remote_fault(remote_fault),
    .now(now), .tx_time_valid(tx_time_valid), .tx_time(tx_time),
    .stat_frames_ok(tx_stats[0]), .stat_bytes_ok(tx_bytes), .stat_unicast(tx_stats[1]),
    .stat_multicast(tx_stats[2]), .stat_broadcast(tx_stats[3]), .stat_pause(tx_stats[4]),
    .stat_size_64(tx_stats[5]), .stat_size_65_127(tx_stats[6]), .stat_size_128_255(tx_stats[7]),
    .stat_size_256_511(tx_stats[8]), .stat_size_512_1023(tx_stats[9]), .stat_size_1024_1518(tx_stats[10]),
    .stat_size_1519_max(tx_stats[11]), .stat_underrun(tx_stats[12]), .stat_errored(tx_stats[13]),
    .stat_fault_dropped(tx_stats[14]), .idle(tx_idle)
);

mac_rx rx (
    .clk(clk), .rst(rst), .xgmii_d(line_d), .xgmii_c(line_c),
    .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser), .m_axis_time(m_axis_time), .now(now),
    .cfg_enable(1'b1), .cfg_max_frame(cfg_max_frame), .local_fault(local_fault), .remote_fault(remote_fault),
    .stat_frames_ok(rx_stats[0]), .stat_bytes_ok(rx_bytes), .stat_unicast(rx_stats[1]),
    .stat_multicast(rx_stats[2]), .stat_broadcast(rx_stats[3]), .stat_pause(rx_stats[4]),
    .stat_size_64(rx_stats[5]), .stat_size_65_127(rx_stats[6]), .stat_size_128_255(rx_stats[7]),
    .stat_size_256_511(rx_stats[8]), .stat_size_512_1023(rx_stats[9]), .stat_size_1024_1518(rx_stats[10]),
    .stat_size_1519_max(rx_stats[11]), .stat_fcs_errors(rx_stats[12]), .stat_undersize(rx_stats[13]),
    .stat_fragments(rx_stats[14]), .stat_oversize(rx_stats[15]), .stat_jabbers(rx_stats[16]),
    .stat_symbol_errors(rx_stats[17]), .stat_bad_preamble(rx_stats[18]), .stat_local_fault(rx_stats[19]),
    .stat_remote_fault(rx_stats[20]), .idle(rx_idle)
);

endmodule

`resetall
