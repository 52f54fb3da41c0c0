// nic_port behind the frame BFM (tb/native), for Verilator. Registers and time stay on the top's ports.
//
// In the harness: source and sink 0 are the wire, 1 the host; path 0 is rx, 1 is tx. `bfm_done` rises when each frame that
// was pushed has its disposition, every delivered one is out and the port is idle. Memory (roce) never answers. Adds no latency.

`include "meta.vh"

module nic_port_tb #(
    parameter [7:0] PORT_ID = 8'd0,
    parameter RX_BUFFER_BEATS = 2048,
    parameter TX_BUFFER_BEATS = 2048,
    parameter BUFFER_FRAMES = 256,
    parameter PARSER_EN = 1,
    parameter PARSE_BYTES = 128,
    parameter TUNNEL_EN = 0,
    parameter ACL_EN = 1,
    parameter ACL_RULES = 1024,
    parameter ACL_METERS = 256,
    parameter ACL_IPV6 = 1,
    parameter FLOW_EN = 1,
    parameter IPSEC_EN = 0,
    parameter IPSEC_SAS = 256,
    parameter IPSEC_SM4_EN = 1,
    parameter TLS_EN = 1,
    parameter ROCE_EN = 1
) (
    input wire clk,
    input wire rst,
    output wire ready,
    output wire bfm_done,

    // Registers
    input wire [19:0] s_axil_awaddr,
    input wire [2:0] s_axil_awprot,
    input wire s_axil_awvalid,
    output wire s_axil_awready,
    input wire [31:0] s_axil_wdata,
    input wire [3:0] s_axil_wstrb,
    input wire s_axil_wvalid,
    output wire s_axil_wready,
    output wire [1:0] s_axil_bresp,
    output wire s_axil_bvalid,
    input wire s_axil_bready,
    input wire [19:0] s_axil_araddr,
    input wire [2:0] s_axil_arprot,
    input wire s_axil_arvalid,
    output wire s_axil_arready,
    output wire [31:0] s_axil_rdata,
    output wire [1:0] s_axil_rresp,
    output wire s_axil_rvalid,
    input wire s_axil_rready,

    // Time
    output wire [63:0] now,
    output wire [31:0] now_fraction,
    input wire time_advance,
    input wire [63:0] time_target,
    input wire [31:0] time_target_fraction,
    output wire idle,
    output wire [63:0] next_deadline
);
    // The streams, as the device names them: in_ and out_ of the wire and of the host.
    wire [127:0] in_wire_tdata, out_wire_tdata, in_host_tdata, out_host_tdata;
    wire [15:0] in_wire_tkeep, out_wire_tkeep, in_host_tkeep, out_host_tkeep;
    wire in_wire_tvalid, out_wire_tvalid, in_host_tvalid, out_host_tvalid;
    wire in_wire_tready, out_wire_tready, in_host_tready, out_host_tready;
    wire in_wire_tlast, out_wire_tlast, in_host_tlast, out_host_tlast;
    wire [9:0] in_wire_tuser, out_wire_tuser, in_host_tuser, out_host_tuser;
    wire [`META_W-1:0] in_host_meta, out_host_meta;

    // The wire has no metadata; whose frame it is stands beside it.
    wire [15:0] out_wire_seq;
    wire out_wire_direction;
    reg [`META_W-1:0] out_wire_meta;

    always @* begin
        out_wire_meta = {`META_W{1'b0}};
        out_wire_meta[`MF_SEQ] = out_wire_seq;
        out_wire_meta[`MF_DIRECTION] = out_wire_direction;
    end

    wire rx_entry_valid, rx_disp_valid, tx_entry_valid, tx_disp_valid;
    wire [15:0] rx_entry_seq, rx_disp_seq, tx_entry_seq, tx_disp_seq;
    wire [7:0] rx_disp_code, rx_disp_queue, tx_disp_code, tx_disp_queue;

    bfm_cycle cycle_i (
        .clk(clk),
        .rst(rst),
        .idle(idle),
        .done(bfm_done)
    );

    bfm_source #(
        .ID(0)
    ) wire_source_i (
        .clk(clk),
        .rst(rst),
        .m_axis_tdata(in_wire_tdata),
        .m_axis_tkeep(in_wire_tkeep),
        .m_axis_tvalid(in_wire_tvalid),
        .m_axis_tready(in_wire_tready),
        .m_axis_tlast(in_wire_tlast),
        .m_axis_tuser(in_wire_tuser),
        .m_axis_meta()
    );

    bfm_sink #(
        .ID(0)
    ) wire_sink_i (
        .clk(clk),
        .rst(rst),
        .s_axis_tdata(out_wire_tdata),
        .s_axis_tkeep(out_wire_tkeep),
        .s_axis_tvalid(out_wire_tvalid),
        .s_axis_tready(out_wire_tready),
        .s_axis_tlast(out_wire_tlast),
        .s_axis_tuser(out_wire_tuser),
        .s_axis_meta(out_wire_meta)
    );

    bfm_source #(
        .ID(1)
    ) host_source_i (
        .clk(clk),
        .rst(rst),
        .m_axis_tdata(in_host_tdata),
        .m_axis_tkeep(in_host_tkeep),
        .m_axis_tvalid(in_host_tvalid),
        .m_axis_tready(in_host_tready),
        .m_axis_tlast(in_host_tlast),
        .m_axis_tuser(in_host_tuser),
        .m_axis_meta(in_host_meta)
    );

    bfm_sink #(
        .ID(1)
    ) host_sink_i (
        .clk(clk),
        .rst(rst),
        .s_axis_tdata(out_host_tdata),
        .s_axis_tkeep(out_host_tkeep),
        .s_axis_tvalid(out_host_tvalid),
        .s_axis_tready(out_host_tready),
        .s_axis_tlast(out_host_tlast),
        .s_axis_tuser(out_host_tuser),
        .s_axis_meta(out_host_meta)
    );

    bfm_path #(
        .ID(0)
    ) rx_path_i (
        .clk(clk),
        .rst(rst),
        .entry_valid(rx_entry_valid),
        .entry_seq(rx_entry_seq),
        .disp_valid(rx_disp_valid),
        .disp_seq(rx_disp_seq),
        .disp_code(rx_disp_code),
        .disp_queue(rx_disp_queue)
    );

    bfm_path #(
        .ID(1)
    ) tx_path_i (
        .clk(clk),
        .rst(rst),
        .entry_valid(tx_entry_valid),
        .entry_seq(tx_entry_seq),
        .disp_valid(tx_disp_valid),
        .disp_seq(tx_disp_seq),
        .disp_code(tx_disp_code),
        .disp_queue(tx_disp_queue)
    );

    nic_port #(
        .PORT_ID(PORT_ID),
        .RX_BUFFER_BEATS(RX_BUFFER_BEATS),
        .TX_BUFFER_BEATS(TX_BUFFER_BEATS),
        .BUFFER_FRAMES(BUFFER_FRAMES),
        .PARSER_EN(PARSER_EN),
        .PARSE_BYTES(PARSE_BYTES),
        .TUNNEL_EN(TUNNEL_EN),
        .ACL_EN(ACL_EN),
        .ACL_RULES(ACL_RULES),
        .ACL_METERS(ACL_METERS),
        .ACL_IPV6(ACL_IPV6),
        .FLOW_EN(FLOW_EN),
        .IPSEC_EN(IPSEC_EN),
        .IPSEC_SAS(IPSEC_SAS),
        .IPSEC_SM4_EN(IPSEC_SM4_EN),
        .TLS_EN(TLS_EN),
        .ROCE_EN(ROCE_EN)
    ) dut (
        .clk(clk),
        .rst(rst),
        .ready(ready),
        .s_axis_wire_tdata(in_wire_tdata),
        .s_axis_wire_tkeep(in_wire_tkeep),
        .s_axis_wire_tvalid(in_wire_tvalid),
        .s_axis_wire_tready(in_wire_tready),
        .s_axis_wire_tlast(in_wire_tlast),
        .s_axis_wire_tuser(in_wire_tuser),
        .m_axis_host_tdata(out_host_tdata),
        .m_axis_host_tkeep(out_host_tkeep),
        .m_axis_host_tvalid(out_host_tvalid),
        .m_axis_host_tready(out_host_tready),
        .m_axis_host_tlast(out_host_tlast),
        .m_axis_host_tuser(out_host_tuser),
        .m_axis_host_meta(out_host_meta),
        .s_axis_host_tdata(in_host_tdata),
        .s_axis_host_tkeep(in_host_tkeep),
        .s_axis_host_tvalid(in_host_tvalid),
        .s_axis_host_tready(in_host_tready),
        .s_axis_host_tlast(in_host_tlast),
        .s_axis_host_tuser(in_host_tuser),
        .s_axis_host_meta(in_host_meta),
        .m_axis_wire_tdata(out_wire_tdata),
        .m_axis_wire_tkeep(out_wire_tkeep),
        .m_axis_wire_tvalid(out_wire_tvalid),
        .m_axis_wire_tready(out_wire_tready),
        .m_axis_wire_tlast(out_wire_tlast),
        .m_axis_wire_tuser(out_wire_tuser),
        .m_axis_wire_seq(out_wire_seq),
        .m_axis_wire_direction(out_wire_direction),
        .rx_clk(1'b0),
        .rx_rst(1'b1),
        .xgmii_rx_d(64'b0),
        .xgmii_rx_c(8'b0),
        .tx_clk(1'b0),
        .tx_rst(1'b1),
        .xgmii_tx_d(),
        .xgmii_tx_c(),
        .wire_tx_valid(),
        .wire_tx_seq(),
        .wire_tx_direction(),
        .wire_tx_time(),
        .rx_entry_valid(rx_entry_valid),
        .rx_entry_seq(rx_entry_seq),
        .rx_disp_valid(rx_disp_valid),
        .rx_disp_seq(rx_disp_seq),
        .rx_disp_code(rx_disp_code),
        .rx_disp_queue(rx_disp_queue),
        .tx_entry_valid(tx_entry_valid),
        .tx_entry_seq(tx_entry_seq),
        .tx_disp_valid(tx_disp_valid),
        .tx_disp_seq(tx_disp_seq),
        .tx_disp_code(tx_disp_code),
        .tx_disp_queue(tx_disp_queue),
        .s_axil_awaddr(s_axil_awaddr),
        .s_axil_awprot(s_axil_awprot),
        .s_axil_awvalid(s_axil_awvalid),
        .s_axil_awready(s_axil_awready),
        .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb),
        .s_axil_wvalid(s_axil_wvalid),
        .s_axil_wready(s_axil_wready),
        .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid),
        .s_axil_bready(s_axil_bready),
        .s_axil_araddr(s_axil_araddr),
        .s_axil_arprot(s_axil_arprot),
        .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready),
        .s_axil_rdata(s_axil_rdata),
        .s_axil_rresp(s_axil_rresp),
        .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready),
        .mem_req_valid(),
        .mem_req_ready(1'b0),
        .mem_req_write(),
        .mem_req_key(),
        .mem_req_addr(),
        .mem_req_len(),
        .mem_req_id(),
        .mem_req_fence(),
        .mem_req_flush(),
        .mem_req_ro(),
        .m_axis_mem_tdata(),
        .m_axis_mem_tkeep(),
        .m_axis_mem_tvalid(),
        .m_axis_mem_tready(1'b0),
        .m_axis_mem_tlast(),
        .s_axis_mem_tdata(128'b0),
        .s_axis_mem_tkeep(16'b0),
        .s_axis_mem_tvalid(1'b0),
        .s_axis_mem_tready(),
        .s_axis_mem_tlast(1'b0),
        .mem_done_valid(1'b0),
        .mem_done_ready(),
        .mem_done_id(8'b0),
        .mem_done_code(8'b0),
        .now(now),
        .now_fraction(now_fraction),
        .time_advance(time_advance),
        .time_target(time_target),
        .time_target_fraction(time_target_fraction),
        .idle(idle),
        .next_deadline(next_deadline)
    );
endmodule
