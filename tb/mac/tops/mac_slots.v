// The slots of mac_rx and mac_tx with the port's time, for their bench: XGMII on one side, streams on the other.
//
// Of the metadata only what the slots read and write is on ports. `reg_tx` chooses whose registers are asked.
//
// Parameters: EN, of both slots.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module mac_slots #(
    parameter EN = 1
) (
    input  wire         clk,
    input  wire         rst,
    input  wire         rx_clk,
    input  wire         rx_rst,
    input  wire         tx_clk,
    input  wire         tx_rst,

    input  wire [63:0]  rx_d,
    input  wire [7:0]   rx_c,
    output wire [127:0] m_axis_tdata,
    output wire [15:0]  m_axis_tkeep,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,
    output wire         m_axis_tlast,
    output wire [9:0]   m_axis_tuser,
    output wire [63:0]  m_axis_time,

    input  wire [127:0] s_axis_tdata,
    input  wire [15:0]  s_axis_tkeep,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    input  wire         s_axis_tlast,
    input  wire [15:0]  s_axis_seq,
    input  wire [7:0]   s_axis_queue,
    input  wire         s_axis_direction,
    input  wire         s_axis_copy,
    output wire [71:0]  tx_word,           // c, d
    output wire         wire_valid,
    output wire [15:0]  wire_seq,
    output wire         wire_direction,
    output wire [95:0]  wire_time,

    output wire         disp_rx_valid,
    output wire         disp_tx_valid,
    output wire [15:0]  disp_seq,
    output wire [7:0]   disp_code,
    output wire [7:0]   disp_queue,

    input  wire         reg_tx,
    input  wire         reg_req,
    input  wire         reg_write,
    input  wire [13:0]  reg_addr,
    input  wire [31:0]  reg_wdata,
    output wire         reg_ack,
    output wire         reg_error,
    output wire [31:0]  reg_rdata,

    input  wire         time_advance,
    input  wire [63:0]  time_target,
    output wire [63:0]  now,
    output wire [31:0]  now_fraction,
    output wire         rx_idle,
    output wire         tx_idle,
    output wire         rx_ready,
    output wire         tx_ready
);

wire local_fault;
wire remote_fault;
wire [1:0] ack;
wire [1:0] error;
wire [63:0] rdata;

assign reg_ack = ack[reg_tx];
assign reg_error = error[reg_tx];
assign reg_rdata = reg_tx ? rdata[63:32] : rdata[31:0];

wire [`META_W-1:0] rx_meta;
reg [`META_W-1:0] tx_meta;

assign m_axis_time = rx_meta[`MF_TIMESTAMP];

always @* begin
    tx_meta = {`META_W{1'b0}};
    tx_meta[`MF_SEQ] = s_axis_seq;
    tx_meta[`MF_QUEUE] = s_axis_queue;
    tx_meta[`MF_DIRECTION] = s_axis_direction;
    tx_meta[`MF_ACL_COPY] = s_axis_copy;
end

nic_time time_inst (
    .clk(clk), .rst(rst), .increment(40'h400000000), .advance(time_advance), .target(time_target),
    .target_fraction(32'd0), .now(now), .fraction(now_fraction)
);

nic_slot_mac_rx #(
    .EN(EN)
) rx_inst (
    .clk(clk), .rst(rst), .rx_clk(rx_clk), .rx_rst(rx_rst), .xgmii_d(rx_d), .xgmii_c(rx_c),
    .local_fault(local_fault), .remote_fault(remote_fault),
    .s_axis_tdata(128'd0), .s_axis_tkeep(16'd0), .s_axis_tvalid(1'b0), .s_axis_tready(), .s_axis_tlast(1'b0),
    .s_axis_tuser(10'd0), .s_axis_meta({`META_W{1'b0}}),
    .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser), .m_axis_meta(rx_meta),
    .reg_req(reg_req && !reg_tx), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata), .reg_wstrb(4'hf),
    .reg_ack(ack[0]), .reg_error(error[0]), .reg_rdata(rdata[31:0]),
    .disp_valid(), .disp_seq(), .disp_code(), .disp_queue(),
    .now(now), .now_fraction(now_fraction), .idle(rx_idle), .next_deadline(), .ready(rx_ready)
);

nic_slot_mac_tx #(
    .EN(EN)
) tx_inst (
    .clk(clk), .rst(rst), .tx_clk(tx_clk), .tx_rst(tx_rst), .xgmii_d(tx_word[63:0]), .xgmii_c(tx_word[71:64]),
    .wire_valid(wire_valid), .wire_seq(wire_seq), .wire_direction(wire_direction), .wire_time(wire_time),
    .local_fault(local_fault), .remote_fault(remote_fault),
    .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid),
    .s_axis_tready(s_axis_tready), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(10'd0), .s_axis_meta(tx_meta),
    .m_axis_tdata(), .m_axis_tkeep(), .m_axis_tvalid(), .m_axis_tready(1'b0), .m_axis_tlast(), .m_axis_tuser(),
    .m_axis_meta(),
    .reg_req(reg_req && reg_tx), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata), .reg_wstrb(4'hf),
    .reg_ack(ack[1]), .reg_error(error[1]), .reg_rdata(rdata[63:32]),
    .disp_rx_valid(disp_rx_valid), .disp_tx_valid(disp_tx_valid), .disp_seq(disp_seq), .disp_code(disp_code),
    .disp_queue(disp_queue),
    .now(now), .now_fraction(now_fraction), .idle(tx_idle), .next_deadline(), .ready(tx_ready)
);

endmodule

`resetall
