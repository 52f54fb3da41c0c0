// The MAC's modules for their benches: mac_time, mac_tx and mac_rx, and with PCS = 1 pcs_tx and pcs_rx.
//
// route:    where mac_rx gets its words from: 0 rx_d/rx_c, 1 mac_tx, 2 mac_tx through the PCS.
// couple:   mac_rx's fault outputs drive mac_tx's fault inputs beside tx_*_fault.
// pcs_port: pcs_tx gets pcs_d/pcs_c, not mac_tx's words. line_port: pcs_rx gets line_block, not pcs_tx's block.
// flip:     bits of the block that are turned over on the way to pcs_rx.
// tx_word, pcs_word: {c, d}. probe packs every strobe, so that a bench reads one signal a cycle.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_bench #(
    parameter PCS        = 0,
    parameter BER_LIMIT  = 97,
    parameter BER_CYCLES = 781250
) (
    input  wire        clk,
    input  wire        rst,

    input  wire [63:0] s_axis_tdata,
    input  wire [7:0]  s_axis_tkeep,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire        s_axis_tlast,
    input  wire        s_axis_tuser,

    input  wire        tx_enable,
    input  wire [7:0]  cfg_ifg,
    input  wire        cfg_dic,
    input  wire        tx_local_fault,
    input  wire        tx_remote_fault,
    input  wire        couple,
    input  wire [1:0]  route,

    output wire [63:0] xgmii_d,
    output wire [7:0]  xgmii_c,
    output wire [71:0] tx_word,
    output wire [95:0] tx_time,
    output wire [15:0] tx_bytes,

    input  wire [63:0] rx_d,
    input  wire [7:0]  rx_c,
    input  wire        rx_enable,
    input  wire [15:0] cfg_max_frame,
    output wire [63:0] m_axis_tdata,
    output wire [7:0]  m_axis_tkeep,
    output wire        m_axis_tlast,
    output wire [7:0]  m_axis_tuser,
    output wire [95:0] m_axis_time,
    output wire [15:0] rx_bytes,

    input  wire [39:0] cfg_increment,
    input  wire        set_valid,
    input  wire [95:0] set_time,
    output wire [95:0] now,

    input  wire        pcs_port,
    input  wire [63:0] pcs_d,
    input  wire [7:0]  pcs_c,
    input  wire        line_port,
    input  wire [65:0] line_block,
    input  wire [65:0] flip,
    input  wire        signal_ok,
    input  wire [2:0]  tx_pattern,
    input  wire [2:0]  rx_pattern,
    input  wire [57:0] seed_a,
    input  wire [57:0] seed_b,
    input  wire        data_lf,
    input  wire        pattern_clear,
    output wire [65:0] block,
    output wire [71:0] pcs_word,
    output wire [3:0]  pcs_status,
    output wire [15:0] pattern_errors,
    input  wire        count_clear,
    output wire [5:0]  ber_count,
    output wire [7:0]  errored_blocks,

    output wire        tx_idle,
    output wire        rx_idle,
    output wire [39:0] probe
);

    wire        local_fault, remote_fault, tx_time_valid, m_axis_tvalid;
    wire [14:0] tx_stat;
    wire [20:0] rx_stat;
    wire [71:0] link_word;

    assign tx_word = {xgmii_c, xgmii_d};
    assign probe = {remote_fault, local_fault, tx_time_valid, tx_stat, rx_stat, m_axis_tvalid};

    mac_time mac_time_inst (
        .clk(clk), .rst(rst),
        .cfg_increment(cfg_increment), .set_valid(set_valid), .set_time(set_time), .now(now)
    );

    mac_tx mac_tx_inst (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid),
        .s_axis_tready(s_axis_tready), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser),
        .xgmii_d(xgmii_d), .xgmii_c(xgmii_c),
        .cfg_enable(tx_enable), .cfg_ifg(cfg_ifg), .cfg_dic(cfg_dic),
        .local_fault(tx_local_fault | (couple & local_fault)),
        .remote_fault(tx_remote_fault | (couple & remote_fault)),
        .now(now), .tx_time_valid(tx_time_valid), .tx_time(tx_time),
        .stat_frames_ok(tx_stat[0]), .stat_bytes_ok(tx_bytes),
        .stat_unicast(tx_stat[1]), .stat_multicast(tx_stat[2]), .stat_broadcast(tx_stat[3]),
        .stat_size_64(tx_stat[4]), .stat_size_65_127(tx_stat[5]), .stat_size_128_255(tx_stat[6]),
        .stat_size_256_511(tx_stat[7]), .stat_size_512_1023(tx_stat[8]), .stat_size_1024_1518(tx_stat[9]),
        .stat_size_1519_max(tx_stat[10]), .stat_pause(tx_stat[11]),
        .stat_underrun(tx_stat[12]), .stat_errored(tx_stat[13]), .stat_fault_dropped(tx_stat[14]),
        .idle(tx_idle)
    );

    mac_rx mac_rx_inst (
        .clk(clk), .rst(rst),
        .xgmii_d(link_word[63:0]), .xgmii_c(link_word[71:64]),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser), .m_axis_time(m_axis_time),
        .now(now),
        .cfg_enable(rx_enable), .cfg_max_frame(cfg_max_frame),
        .local_fault(local_fault), .remote_fault(remote_fault),
        .stat_frames_ok(rx_stat[0]), .stat_bytes_ok(rx_bytes),
        .stat_unicast(rx_stat[1]), .stat_multicast(rx_stat[2]), .stat_broadcast(rx_stat[3]),
        .stat_size_64(rx_stat[4]), .stat_size_65_127(rx_stat[5]), .stat_size_128_255(rx_stat[6]),
        .stat_size_256_511(rx_stat[7]), .stat_size_512_1023(rx_stat[8]), .stat_size_1024_1518(rx_stat[9]),
        .stat_size_1519_max(rx_stat[10]), .stat_pause(rx_stat[11]),
        .stat_fcs_errors(rx_stat[12]), .stat_undersize(rx_stat[13]), .stat_fragments(rx_stat[14]),
        .stat_oversize(rx_stat[15]), .stat_jabbers(rx_stat[16]), .stat_symbol_errors(rx_stat[17]),
        .stat_bad_preamble(rx_stat[18]),
        .stat_local_fault(rx_stat[19]), .stat_remote_fault(rx_stat[20]),
        .idle(rx_idle)
    );

    generate
        if (PCS) begin : pcs
            wire [63:0] pcs_rx_d;
            wire [7:0]  pcs_rx_c;
            wire        slip, block_lock, hi_ber, rx_status;

            pcs_tx pcs_tx_inst (
                .clk(clk), .rst(rst),
                .xgmii_d(pcs_port ? pcs_d : xgmii_d), .xgmii_c(pcs_port ? pcs_c : xgmii_c),
                .cfg_pattern(tx_pattern), .cfg_seed_a(seed_a), .cfg_seed_b(seed_b), .cfg_data_lf(data_lf),
                .block(block)
            );

            pcs_rx #(.BER_LIMIT(BER_LIMIT), .BER_CYCLES(BER_CYCLES)) pcs_rx_inst (
                .clk(clk), .rst(rst),
                .block((line_port ? line_block : block) ^ flip), .signal_ok(signal_ok),
                .xgmii_d(pcs_rx_d), .xgmii_c(pcs_rx_c), .slip(slip),
                .block_lock(block_lock), .hi_ber(hi_ber), .rx_status(rx_status),
                .cfg_pattern(rx_pattern), .cfg_data_lf(data_lf),
                .pattern_errors(pattern_errors), .pattern_clear(pattern_clear),
                .ber_count(ber_count), .ber_clear(count_clear),
                .errored_blocks(errored_blocks), .errored_clear(count_clear)
            );

            assign pcs_word = {pcs_rx_c, pcs_rx_d};
            assign pcs_status = {slip, rx_status, hi_ber, block_lock};
            assign link_word = route == 2'd0 ? {rx_c, rx_d} : route == 2'd1 ? tx_word : pcs_word;
        end else begin : no_pcs
            assign block = 66'd0;
            assign pcs_word = 72'd0;
            assign pcs_status = 4'd0;
            assign pattern_errors = 16'd0;
            assign ber_count = 6'd0;
            assign errored_blocks = 8'd0;
            assign link_word = route == 2'd0 ? {rx_c, rx_d} : tx_word;
        end
    endgenerate

endmodule

`resetall
