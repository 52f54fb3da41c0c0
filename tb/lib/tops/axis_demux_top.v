// axis_demux with its packed outputs apart: output i is stream m_axis_<i>.
// Bench only: an agent reads whole signals, not slices. Outputs from N upwards are idle.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module axis_demux_top #(
    parameter N = 3,
    parameter DATA_W = 128,
    parameter USER_W = 10,
    parameter META_W = 48,
    parameter KEEP_W = DATA_W / 8
) (
    input  wire clk,
    input  wire rst,
    input  wire [DATA_W-1:0] s_axis_tdata,
    input  wire [KEEP_W-1:0] s_axis_tkeep,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    input  wire [USER_W-1:0] s_axis_tuser,
    input  wire [META_W-1:0] s_axis_meta,
    input  wire [$clog2(N)-1:0] s_axis_dest,
    output wire [DATA_W-1:0] m_axis_0_tdata,
    output wire [KEEP_W-1:0] m_axis_0_tkeep,
    output wire m_axis_0_tvalid,
    input  wire m_axis_0_tready,
    output wire m_axis_0_tlast,
    output wire [USER_W-1:0] m_axis_0_tuser,
    output wire [META_W-1:0] m_axis_0_meta,
    output wire [DATA_W-1:0] m_axis_1_tdata,
    output wire [KEEP_W-1:0] m_axis_1_tkeep,
    output wire m_axis_1_tvalid,
    input  wire m_axis_1_tready,
    output wire m_axis_1_tlast,
    output wire [USER_W-1:0] m_axis_1_tuser,
    output wire [META_W-1:0] m_axis_1_meta,
    output wire [DATA_W-1:0] m_axis_2_tdata,
    output wire [KEEP_W-1:0] m_axis_2_tkeep,
    output wire m_axis_2_tvalid,
    input  wire m_axis_2_tready,
    output wire m_axis_2_tlast,
    output wire [USER_W-1:0] m_axis_2_tuser,
    output wire [META_W-1:0] m_axis_2_meta,
    output wire [DATA_W-1:0] m_axis_3_tdata,
    output wire [KEEP_W-1:0] m_axis_3_tkeep,
    output wire m_axis_3_tvalid,
    input  wire m_axis_3_tready,
    output wire m_axis_3_tlast,
    output wire [USER_W-1:0] m_axis_3_tuser,
    output wire [META_W-1:0] m_axis_3_meta,
    output wire drop_valid,
    output wire [META_W-1:0] drop_meta
);

    wire [4*DATA_W-1:0] tdata;
    wire [4*KEEP_W-1:0] tkeep;
    wire [4-1:0] tvalid;
    wire [4-1:0] tready;
    wire [4-1:0] tlast;
    wire [4*USER_W-1:0] tuser;
    wire [4*META_W-1:0] meta;
    assign {m_axis_3_tdata, m_axis_2_tdata, m_axis_1_tdata, m_axis_0_tdata} = tdata;
    assign {m_axis_3_tkeep, m_axis_2_tkeep, m_axis_1_tkeep, m_axis_0_tkeep} = tkeep;
    assign {m_axis_3_tvalid, m_axis_2_tvalid, m_axis_1_tvalid, m_axis_0_tvalid} = tvalid;
    assign tready = {m_axis_3_tready, m_axis_2_tready, m_axis_1_tready, m_axis_0_tready};
    assign {m_axis_3_tlast, m_axis_2_tlast, m_axis_1_tlast, m_axis_0_tlast} = tlast;
    assign {m_axis_3_tuser, m_axis_2_tuser, m_axis_1_tuser, m_axis_0_tuser} = tuser;
    assign {m_axis_3_meta, m_axis_2_meta, m_axis_1_meta, m_axis_0_meta} = meta;
    generate
        if (N < 4) begin : g_unused
            assign tdata[4*DATA_W-1:N*DATA_W] = {((4-N)*DATA_W){1'b0}};
            assign tkeep[4*KEEP_W-1:N*KEEP_W] = {((4-N)*KEEP_W){1'b0}};
            assign tvalid[3:N] = {(4-N){1'b0}};
            assign tlast[3:N] = {(4-N){1'b0}};
            assign tuser[4*USER_W-1:N*USER_W] = {((4-N)*USER_W){1'b0}};
            assign meta[4*META_W-1:N*META_W] = {((4-N)*META_W){1'b0}};
        end
    endgenerate

    axis_demux #(
        .N(N), .DATA_W(DATA_W), .USER_W(USER_W), .META_W(META_W)
    ) dut (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_axis_tdata),
        .s_axis_tkeep(s_axis_tkeep),
        .s_axis_tvalid(s_axis_tvalid),
        .s_axis_tready(s_axis_tready),
        .s_axis_tlast(s_axis_tlast),
        .s_axis_tuser(s_axis_tuser),
        .s_axis_meta(s_axis_meta),
        .s_axis_dest(s_axis_dest),
        .m_axis_tdata(tdata[N*DATA_W-1:0]),
        .m_axis_tkeep(tkeep[N*KEEP_W-1:0]),
        .m_axis_tvalid(tvalid[N-1:0]),
        .m_axis_tready(tready[N-1:0]),
        .m_axis_tlast(tlast[N-1:0]),
        .m_axis_tuser(tuser[N*USER_W-1:0]),
        .m_axis_meta(meta[N*META_W-1:0]),
        .drop_valid(drop_valid), .drop_meta(drop_meta)
    );

endmodule

`resetall
