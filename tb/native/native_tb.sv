// Two like devices side by side, for Verilator: one behind the frame BFM, one with its streams on the top's ports for
// agents in Python. Device: axis_fifo. Latency and throughput: the device's.

`include "meta.vh"

module native_tb #(
    parameter int FRAME_MODE = 0,
    parameter int DEPTH = 128
) (
    input wire clk,
    input wire rst,
    output wire bfm_done,
    input wire fault_tready,  // raises tready towards the BFM's source, whatever the device says
    input wire fault_tvalid,  // raises tvalid towards the BFM's sink

    input wire [127:0] s_axis_tdata,
    input wire [15:0] s_axis_tkeep,
    input wire s_axis_tvalid,
    output wire s_axis_tready,
    input wire s_axis_tlast,
    input wire [9:0] s_axis_tuser,
    input wire [`META_W-1:0] s_axis_meta,

    output wire [127:0] m_axis_tdata,
    output wire [15:0] m_axis_tkeep,
    output wire m_axis_tvalid,
    input wire m_axis_tready,
    output wire m_axis_tlast,
    output wire [9:0] m_axis_tuser,
    output wire [`META_W-1:0] m_axis_meta
);
    wire [127:0] in_tdata, out_tdata;
    wire [15:0] in_tkeep, out_tkeep;
    wire in_tvalid, out_tvalid;
    wire in_tready, out_tready;
    wire fifo_tready, fifo_tvalid;
    assign in_tready = fifo_tready || fault_tready;
    assign out_tvalid = fifo_tvalid || fault_tvalid;
    wire in_tlast, out_tlast;
    wire [9:0] in_tuser, out_tuser;
    wire [`META_W-1:0] in_meta, out_meta;

    bfm_cycle cycle_i (
        .clk(clk),
        .rst(rst),
        .idle(1'b1),
        .done(bfm_done)
    );

    bfm_source #(
        .ID(0)
    ) source_i (
        .clk(clk),
        .rst(rst),
        .m_axis_tdata(in_tdata),
        .m_axis_tkeep(in_tkeep),
        .m_axis_tvalid(in_tvalid),
        .m_axis_tready(in_tready),
        .m_axis_tlast(in_tlast),
        .m_axis_tuser(in_tuser),
        .m_axis_meta(in_meta)
    );

    axis_fifo #(
        .META_W(`META_W),
        .DEPTH(DEPTH),
        .FRAME_MODE(FRAME_MODE)
    ) behind_bfm_i (
        .clk(clk),
        .rst(rst),
        .s_axis_tdata(in_tdata),
        .s_axis_tkeep(in_tkeep),
        .s_axis_tvalid(in_tvalid),
        .s_axis_tready(fifo_tready),
        .s_axis_tlast(in_tlast),
        .s_axis_tuser(in_tuser),
        .s_axis_meta(in_meta),
        .m_axis_tdata(out_tdata),
        .m_axis_tkeep(out_tkeep),
        .m_axis_tvalid(fifo_tvalid),
        .m_axis_tready(out_tready),
        .m_axis_tlast(out_tlast),
        .m_axis_tuser(out_tuser),
        .m_axis_meta(out_meta),
        .drop_valid(),
        .drop_cause(),
        .drop_meta(),
        .drop_user(),
        .level()
    );

    bfm_sink #(
        .ID(0)
    ) sink_i (
        .clk(clk),
        .rst(rst),
        .s_axis_tdata(out_tdata),
        .s_axis_tkeep(out_tkeep),
        .s_axis_tvalid(out_tvalid),
        .s_axis_tready(out_tready),
        .s_axis_tlast(out_tlast),
        .s_axis_tuser(out_tuser),
        .s_axis_meta(out_meta)
    );

    axis_fifo #(
        .META_W(`META_W),
        .DEPTH(DEPTH),
        .FRAME_MODE(FRAME_MODE)
    ) on_ports_i (
        .clk(clk),
        .rst(rst),
        .s_axis_tdata(s_axis_tdata),
        .s_axis_tkeep(s_axis_tkeep),
        .s_axis_tvalid(s_axis_tvalid),
        .s_axis_tready(s_axis_tready),
        .s_axis_tlast(s_axis_tlast),
        .s_axis_tuser(s_axis_tuser),
        .s_axis_meta(s_axis_meta),
        .m_axis_tdata(m_axis_tdata),
        .m_axis_tkeep(m_axis_tkeep),
        .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready),
        .m_axis_tlast(m_axis_tlast),
        .m_axis_tuser(m_axis_tuser),
        .m_axis_meta(m_axis_meta),
        .drop_valid(),
        .drop_cause(),
        .drop_meta(),
        .drop_user(),
        .level()
    );
endmodule
