// axis_arb_mux with its packed inputs apart: input i is stream s_axis_<i>.
// Bench only: an agent drives whole signals, not slices. Inputs from N upwards lead nowhere.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module axis_arb_mux_top #(
    parameter N = 4,
    parameter FIRST = N,
    parameter DATA_W = 128,
    parameter USER_W = 10,
    parameter META_W = 48,
    parameter KEEP_W = DATA_W / 8
) (
    input  wire clk,
    input  wire rst,
    input  wire [DATA_W-1:0] s_axis_0_tdata,
    input  wire [KEEP_W-1:0] s_axis_0_tkeep,
    input  wire s_axis_0_tvalid,
    output wire s_axis_0_tready,
    input  wire s_axis_0_tlast,
    input  wire [USER_W-1:0] s_axis_0_tuser,
    input  wire [META_W-1:0] s_axis_0_meta,
    input  wire [DATA_W-1:0] s_axis_1_tdata,
    input  wire [KEEP_W-1:0] s_axis_1_tkeep,
    input  wire s_axis_1_tvalid,
    output wire s_axis_1_tready,
    input  wire s_axis_1_tlast,
    input  wire [USER_W-1:0] s_axis_1_tuser,
    input  wire [META_W-1:0] s_axis_1_meta,
    input  wire [DATA_W-1:0] s_axis_2_tdata,
    input  wire [KEEP_W-1:0] s_axis_2_tkeep,
    input  wire s_axis_2_tvalid,
    output wire s_axis_2_tready,
    input  wire s_axis_2_tlast,
    input  wire [USER_W-1:0] s_axis_2_tuser,
    input  wire [META_W-1:0] s_axis_2_meta,
    input  wire [DATA_W-1:0] s_axis_3_tdata,
    input  wire [KEEP_W-1:0] s_axis_3_tkeep,
    input  wire s_axis_3_tvalid,
    output wire s_axis_3_tready,
    input  wire s_axis_3_tlast,
    input  wire [USER_W-1:0] s_axis_3_tuser,
    input  wire [META_W-1:0] s_axis_3_meta,
    output wire [DATA_W-1:0] m_axis_tdata,
    output wire [KEEP_W-1:0] m_axis_tkeep,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast,
    output wire [USER_W-1:0] m_axis_tuser,
    output wire [META_W-1:0] m_axis_meta
);

    wire [4*DATA_W-1:0] tdata;
    wire [4*KEEP_W-1:0] tkeep;
    wire [4-1:0] tvalid;
    wire [4-1:0] tready;
    wire [4-1:0] tlast;
    wire [4*USER_W-1:0] tuser;
    wire [4*META_W-1:0] meta;
    assign tdata = {s_axis_3_tdata, s_axis_2_tdata, s_axis_1_tdata, s_axis_0_tdata};
    assign tkeep = {s_axis_3_tkeep, s_axis_2_tkeep, s_axis_1_tkeep, s_axis_0_tkeep};
    assign tvalid = {s_axis_3_tvalid, s_axis_2_tvalid, s_axis_1_tvalid, s_axis_0_tvalid};
    assign {s_axis_3_tready, s_axis_2_tready, s_axis_1_tready, s_axis_0_tready} = tready;
    assign tlast = {s_axis_3_tlast, s_axis_2_tlast, s_axis_1_tlast, s_axis_0_tlast};
    assign tuser = {s_axis_3_tuser, s_axis_2_tuser, s_axis_1_tuser, s_axis_0_tuser};
    assign meta = {s_axis_3_meta, s_axis_2_meta, s_axis_1_meta, s_axis_0_meta};
    generate
        if (N < 4) begin : g_unused
            assign tready[3:N] = {(4-N){1'b0}};
        end
    endgenerate

    axis_arb_mux #(
        .N(N), .FIRST(FIRST), .DATA_W(DATA_W), .USER_W(USER_W), .META_W(META_W)
    ) dut (
        .clk(clk), .rst(rst),
        .s_axis_tdata(tdata[N*DATA_W-1:0]),
        .s_axis_tkeep(tkeep[N*KEEP_W-1:0]),
        .s_axis_tvalid(tvalid[N-1:0]),
        .s_axis_tready(tready[N-1:0]),
        .s_axis_tlast(tlast[N-1:0]),
        .s_axis_tuser(tuser[N*USER_W-1:0]),
        .s_axis_meta(meta[N*META_W-1:0]),
        .m_axis_tdata(m_axis_tdata),
        .m_axis_tkeep(m_axis_tkeep),
        .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready),
        .m_axis_tlast(m_axis_tlast),
        .m_axis_tuser(m_axis_tuser),
        .m_axis_meta(m_axis_meta)
    );

endmodule

`resetall
