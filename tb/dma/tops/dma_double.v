`resetall
`timescale 1ns/1ps
`default_nettype none

// The streams of dma and nothing behind them: tb/dma/double.py plays the golden model on them, so that the bench can be
// tried without the RTL. All are inputs here, what dma drives too.
module dma_double #(
    parameter REQUESTERS = 2
) (
    input wire clk,
    input wire rst,
    input wire [REQUESTERS-1:0] req_valid,
    input wire [REQUESTERS-1:0] req_ready,
    input wire [REQUESTERS-1:0] req_write,
    input wire [REQUESTERS-1:0] req_remote,
    input wire [REQUESTERS*32-1:0] req_key,
    input wire [REQUESTERS*64-1:0] req_addr,
    input wire [REQUESTERS*32-1:0] req_len,
    input wire [REQUESTERS*8-1:0] req_id,
    input wire [REQUESTERS-1:0] req_fence,
    input wire [REQUESTERS-1:0] req_flush,
    input wire [REQUESTERS-1:0] req_ro,
    input wire [REQUESTERS*128-1:0] s_axis_mem_tdata,
    input wire [REQUESTERS*16-1:0] s_axis_mem_tkeep,
    input wire [REQUESTERS-1:0] s_axis_mem_tvalid,
    input wire [REQUESTERS-1:0] s_axis_mem_tready,
    input wire [REQUESTERS-1:0] s_axis_mem_tlast,
    input wire [REQUESTERS*128-1:0] m_axis_mem_tdata,
    input wire [REQUESTERS*16-1:0] m_axis_mem_tkeep,
    input wire [REQUESTERS-1:0] m_axis_mem_tvalid,
    input wire [REQUESTERS-1:0] m_axis_mem_tready,
    input wire [REQUESTERS-1:0] m_axis_mem_tlast,
    input wire [REQUESTERS-1:0] m_axis_mem_tuser,
    input wire [REQUESTERS-1:0] done_valid,
    input wire [REQUESTERS-1:0] done_ready,
    input wire [REQUESTERS*8-1:0] done_id,
    input wire [REQUESTERS*8-1:0] done_code,
    input wire m_tlp_valid,
    input wire m_tlp_ready,
    input wire m_tlp_sop,
    input wire m_tlp_eop,
    input wire [127:0] m_tlp_hdr,
    input wire [511:0] m_tlp_data,
    input wire [15:0] m_tlp_keep,
    input wire [7:0] m_tlp_requester,
    input wire s_tlp_valid,
    input wire s_tlp_sop,
    input wire s_tlp_eop,
    input wire [127:0] s_tlp_hdr,
    input wire [511:0] s_tlp_data,
    input wire [15:0] s_tlp_keep,
    input wire [7:0] fc_ph_limit,
    input wire [7:0] fc_nph_limit,
    input wire [11:0] fc_pd_limit,
    input wire [11:0] fc_npd_limit,
    input wire fc_ph_infinite,
    input wire fc_nph_infinite,
    input wire fc_pd_infinite,
    input wire fc_npd_infinite
);
endmodule

`resetall
