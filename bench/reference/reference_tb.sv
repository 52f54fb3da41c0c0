// The reference design behind the frame BFM (tb/native), for Verilator: source, sink and path 0. Adds no latency.

`include "meta.vh"

module reference_tb (
    input wire clk,
    input wire rst,
    output wire bfm_done
);
    wire [127:0] in_tdata, out_tdata;
    wire [15:0] in_tkeep, out_tkeep;
    wire in_tvalid, out_tvalid;
    wire in_tready, out_tready;
    wire in_tlast, out_tlast;
    wire [9:0] in_tuser, out_tuser;

    bfm_cycle cycle_i (
        .clk(clk),
        .rst(rst),
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
        .m_axis_meta()
    );

    reference dut (
        .clk(clk),
        .rst(rst),
        .s_axis_tdata(in_tdata),
        .s_axis_tkeep(in_tkeep),
        .s_axis_tvalid(in_tvalid),
        .s_axis_tready(in_tready),
        .s_axis_tlast(in_tlast),
        .s_axis_tuser(in_tuser),
        .m_axis_tdata(out_tdata),
        .m_axis_tkeep(out_tkeep),
        .m_axis_tvalid(out_tvalid),
        .m_axis_tready(out_tready),
        .m_axis_tlast(out_tlast),
        .m_axis_tuser(out_tuser)
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
        .s_axis_meta({`META_W{1'b0}})
    );
endmodule
