// One port of the NIC: its receive and transmit pipelines, its registers, its time.
//
//   rx: wire -> mac_rx -> [ingress] -> parser_rx -> pfc_rx -> ipsec_rx -> parser_inner -> roce_icrc -> acl_rx
//            -> rx_buffer -> rx_demux -> tls_rx -> roce -> host_join -> [egress] -> host
//   tx: host -> (join with roce) -> [ingress] -> parser_tx -> acl_tx -> tls_tx -> ipsec_tx -> sched_join -> tx_sched
//            -> tx_demux -> [egress] -> mac_tx -> wire
//   redirected: rx_demux -> sched_join, tx_demux -> host_join; copies: acl_rx, acl_tx -> a buffer each -> host_join
//
// Each name is a slot; one whose block is not there holds a nic_slot. Latency of an isolated frame of B beats without
// gaps: rx B + 25 + L, tx B + 22 + L cycles, where the parser takes the frame's last beat L cycles late (docs/parser.md;
// 1 where it is left out); 12 less where the ACL is left out; with IPSEC_EN
// 1 + L more on rx and 2 on tx, of frames that pass it; all of it between the streams of both edges (MAC_EN 0).
// Throughput: one beat a cycle, and at most one frame every four cycles.
// docs/nic.md has the stages, the formulas under load and the registers.
//
// Nothing in front of rx_buffer waits for anything behind it: `s_axis_wire_tready` falls only for frames of one to three
// beats, so that one frame takes four cycles (and for a long row of short tunnels, docs/acl.md).
//
// No circle of waiting. What a frame can wait for, from the edges inwards:
//   host_join   the host. A frame that it has begun comes from a buffer that holds it whole, and all of it is in front
//               of nothing else: no input needs anything but the host to go on.
//   tx_sched    the wire, or, where the frame at its head is redirected, host_join. So it always gets room again.
//   sched_join  room in tx_sched, and, within a transmitted frame, the rest of it from the host. A frame longer than
//               tx_sched is taken without room.
//   rx_buffer   host_join, or, where the frame at its head is redirected, sched_join.
// Each waits only for what stands above it, so whoever takes frames at both edges, and ends those that it began, sees all
// of them. It hangs on this: what stands between rx_demux and host_join gives a frame that it has begun without waiting
// for tx_sched (a roce that sends before it lets go of a received frame would close the circle).
// A wire that stands still holds up the received frames behind a redirected one; then they end in rx_buffer for want of
// room, like with a host that stands still.
//
// Parameters: PORT_ID; RX_BUFFER_BEATS, TX_BUFFER_BEATS, BUFFER_FRAMES, powers of two: what rx_buffer and tx_sched hold;
// MAC_EN, 1: the wire is XGMII, 0: it is s_axis_wire and m_axis_wire; PARSER_EN to ROCE_EN, 0 leaves a block out;
// PARSE_BYTES, TUNNEL_EN: what all parsers read (docs/parser.md), the latter also whether both ACLs look up tunnels;
// ACL_RULES, ACL_METERS, ACL_IPV6: what each ACL holds (docs/acl.md); IPSEC_SAS,
// IPSEC_SM4_EN: what each slot of IPsec holds (docs/ipsec.md).

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_port #(
    parameter [7:0] PORT_ID = 8'd0,
    parameter RX_BUFFER_BEATS = 2048,
    parameter TX_BUFFER_BEATS = 2048,
    parameter BUFFER_FRAMES = 256,
    parameter MAC_EN = 0,
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
    input  wire                      clk,
    input  wire                      rst,
    output wire                      ready,

    // Frames from the wire
    input  wire [127:0]              s_axis_wire_tdata,
    input  wire [15:0]               s_axis_wire_tkeep,
    input  wire                      s_axis_wire_tvalid,
    output wire                      s_axis_wire_tready,
    input  wire                      s_axis_wire_tlast,
    input  wire [9:0]                s_axis_wire_tuser,

    // Frames to the host
    output wire [127:0]              m_axis_host_tdata,
    output wire [15:0]               m_axis_host_tkeep,
    output wire                      m_axis_host_tvalid,
    input  wire                      m_axis_host_tready,
    output wire                      m_axis_host_tlast,
    output wire [9:0]                m_axis_host_tuser,
    output wire [`META_W-1:0]        m_axis_host_meta,

    // Frames from the host; of the metadata only `queue` and `tclass` are read
    input  wire [127:0]              s_axis_host_tdata,
    input  wire [15:0]               s_axis_host_tkeep,
    input  wire                      s_axis_host_tvalid,
    output wire                      s_axis_host_tready,
    input  wire                      s_axis_host_tlast,
    input  wire [9:0]                s_axis_host_tuser,
    input  wire [`META_W-1:0]        s_axis_host_meta,

    // Frames to the wire; `seq` and `direction`, valid on a frame's first beat, say which frame it is
    output wire [127:0]              m_axis_wire_tdata,
    output wire [15:0]               m_axis_wire_tkeep,
    output wire                      m_axis_wire_tvalid,
    input  wire                      m_axis_wire_tready,
    output wire                      m_axis_wire_tlast,
    output wire [9:0]                m_axis_wire_tuser,
    output wire [15:0]               m_axis_wire_seq,
    output wire                      m_axis_wire_direction,

    // The wire with MAC_EN: XGMII, each direction in its own clock. `wire_tx_*`, in tx_clk, say in the cycle in which a
    // frame's start stands on xgmii_tx which frame it is, and when
    input  wire                      rx_clk,
    input  wire                      rx_rst,
    input  wire [63:0]               xgmii_rx_d,
    input  wire [7:0]                xgmii_rx_c,
    input  wire                      tx_clk,
    input  wire                      tx_rst,
    output wire [63:0]               xgmii_tx_d,
    output wire [7:0]                xgmii_tx_c,
    output wire                      wire_tx_valid,
    output wire [15:0]               wire_tx_seq,
    output wire                      wire_tx_direction,
    output wire [95:0]               wire_tx_time,

    // Accounting: what came in, and how each frame ended
    output wire                      rx_entry_valid,
    output wire [15:0]               rx_entry_seq,
    output wire                      rx_disp_valid,
    output wire [15:0]               rx_disp_seq,
    output wire [7:0]                rx_disp_code,
    output wire [7:0]                rx_disp_queue,
    output wire                      tx_entry_valid,
    output wire [15:0]               tx_entry_seq,
    output wire                      tx_disp_valid,
    output wire [15:0]               tx_disp_seq,
    output wire [7:0]                tx_disp_code,
    output wire [7:0]                tx_disp_queue,

    // Registers: AXI4-Lite
    input  wire [19:0]               s_axil_awaddr,
    input  wire [2:0]                s_axil_awprot,
    input  wire                      s_axil_awvalid,
    output wire                      s_axil_awready,
    input  wire [31:0]               s_axil_wdata,
    input  wire [3:0]                s_axil_wstrb,
    input  wire                      s_axil_wvalid,
    output wire                      s_axil_wready,
    output wire [1:0]                s_axil_bresp,
    output wire                      s_axil_bvalid,
    input  wire                      s_axil_bready,
    input  wire [19:0]               s_axil_araddr,
    input  wire [2:0]                s_axil_arprot,
    input  wire                      s_axil_arvalid,
    output wire                      s_axil_arready,
    output wire [31:0]               s_axil_rdata,
    output wire [1:0]                s_axil_rresp,
    output wire                      s_axil_rvalid,
    input  wire                      s_axil_rready,

    // Memory requests of roce: requests, data to be written, data that was read, completions
    output wire                      mem_req_valid,
    input  wire                      mem_req_ready,
    output wire                      mem_req_write,
    output wire [31:0]               mem_req_key,
    output wire [63:0]               mem_req_addr,
    output wire [31:0]               mem_req_len,
    output wire [7:0]                mem_req_id,
    output wire                      mem_req_fence,
    output wire                      mem_req_flush,
    output wire                      mem_req_ro,
    output wire [127:0]              m_axis_mem_tdata,
    output wire [15:0]               m_axis_mem_tkeep,
    output wire                      m_axis_mem_tvalid,
    input  wire                      m_axis_mem_tready,
    output wire                      m_axis_mem_tlast,
    input  wire [127:0]              s_axis_mem_tdata,
    input  wire [15:0]               s_axis_mem_tkeep,
    input  wire                      s_axis_mem_tvalid,
    output wire                      s_axis_mem_tready,
    input  wire                      s_axis_mem_tlast,
    input  wire                      mem_done_valid,
    output wire                      mem_done_ready,
    input  wire [7:0]                mem_done_id,
    input  wire [7:0]                mem_done_code,

    // Time
    output wire [63:0]               now,
    output wire [31:0]               now_fraction,
    input  wire                      time_advance,
    input  wire [63:0]               time_target,
    input  wire [31:0]               time_target_fraction,
    output wire                      idle,
    output wire [63:0]               next_deadline
);

// Blocks, as `id` names them.
localparam [7:0] BLOCK_PARSER = 8'd2;
localparam [7:0] BLOCK_FLOW = 8'd4;
localparam [7:0] BLOCK_IPSEC = 8'd5;
localparam [7:0] BLOCK_TLS = 8'd6;
localparam [7:0] BLOCK_ROCE = 8'd7;

// State of a slot: absent, or left out by its parameter.
localparam [1:0] STATE_ABSENT = 2'd0;
localparam [1:0] STATE_LEFT_OUT = 2'd1;
localparam [1:0] FLOW_STATE = FLOW_EN != 0 ? STATE_ABSENT : STATE_LEFT_OUT;
localparam [1:0] TLS_STATE = TLS_EN != 0 ? STATE_ABSENT : STATE_LEFT_OUT;
localparam [1:0] ROCE_STATE = ROCE_EN != 0 ? STATE_ABSENT : STATE_LEFT_OUT;

// What the join of host and roce carries of their metadata.
localparam JOIN_META_W = `MF_TCLASS_W + `MF_QUEUE_W;

// Sources of dispositions, in the order of the pipelines, then where frames of the other direction may end. *_DEEP: those
// that may report frame after frame (nic_account).
localparam RX_DISP_MAC_RX = 0;
localparam RX_DISP_PARSER_RX = 1;
localparam RX_DISP_PFC_RX = 2;
localparam RX_DISP_IPSEC_RX = 3;
localparam RX_DISP_PARSER_INNER = 4;
localparam RX_DISP_ROCE_ICRC = 5;
localparam RX_DISP_ACL_RX = 6;
localparam RX_DISP_RX_BUFFER = 7;
localparam RX_DISP_TLS_RX = 8;
localparam RX_DISP_ROCE = 9;
localparam RX_DISP_EGRESS_RX = 10;
localparam RX_DISP_TX_SCHED = 11;
localparam RX_DISP_WIRE = 12;
localparam RX_DISPS = 13;
localparam [RX_DISPS-1:0] RX_DEEP = 13'b1110010000000;
localparam TX_DISP_PARSER_TX = 0;
localparam TX_DISP_ACL_TX = 1;
localparam TX_DISP_TLS_TX = 2;
localparam TX_DISP_IPSEC_TX = 3;
localparam TX_DISP_TX_SCHED = 4;
localparam TX_DISP_WIRE = 5;
localparam TX_DISP_EGRESS_RX = 6;
localparam TX_DISPS = 7;
localparam [TX_DISPS-1:0] TX_DEEP = 7'b1110000;

// Register instances: the slots, which idle, deadline and ready are gathered from too, and the port's own. Where each
// stands: address bits 18:14 (docs/architecture.md, section 4).
localparam INST_MAC_RX = 0;
localparam INST_MAC_TX = 1;
localparam INST_PARSER_RX = 2;
localparam INST_PARSER_TX = 3;
localparam INST_PARSER_INNER = 4;
localparam INST_ACL_RX = 5;
localparam INST_ACL_TX = 6;
localparam INST_PFC_RX = 7;
localparam INST_TX_SCHED = 8;
localparam INST_RX_BUFFER = 9;
localparam INST_IPSEC_RX = 10;
localparam INST_IPSEC_TX = 11;
localparam INST_TLS_RX = 12;
localparam INST_TLS_TX = 13;
localparam INST_ROCE = 14;
localparam INST_ROCE_ICRC = 15;
localparam SLOTS = 16;
localparam INST_NIC = SLOTS;
localparam INSTS = SLOTS + 1;
localparam [INSTS*5-1:0] INST_AT = {
    5'd0,   // nic
    5'd30,  // roce_icrc
    5'd28,  // roce
    5'd25,  // tls_tx
    5'd24,  // tls_rx
    5'd21,  // ipsec_tx
    5'd20,  // ipsec_rx
    5'd18,  // rx_buffer
    5'd17,  // tx_sched
    5'd16,  // pfc_rx
    5'd13,  // acl_tx
    5'd12,  // acl_rx
    5'd10,  // parser_inner
    5'd9,  // parser_tx
    5'd8,  // parser_rx
    5'd5,  // mac_tx
    5'd4   // mac_rx
};

// Register port.
wire reg_req;
wire reg_write;
wire [19:0] reg_addr;
wire [31:0] reg_wdata;
wire [3:0] reg_wstrb;
wire reg_ack;
wire reg_error;
wire [31:0] reg_rdata;
wire [INSTS-1:0] inst_req;
wire [INSTS-1:0] inst_ack;
wire [INSTS-1:0] inst_error;
wire [INSTS*32-1:0] inst_rdata;

// Configuration and counters.
wire cfg_rx_enable;
wire cfg_tx_enable;
wire [15:0] cfg_max_frame;
wire [39:0] cfg_time_increment;
wire rx_count_frame_in;
wire [4:0] rx_count_bytes_in;
wire rx_count_frame_out;
wire [4:0] rx_count_bytes_out;
wire tx_count_frame_in;
wire [4:0] tx_count_bytes_in;
wire tx_count_frame_out;
wire [4:0] tx_count_bytes_out;

// Dispositions of rx.
wire [RX_DISPS-1:0] rx_all_valid;
wire [RX_DISPS*16-1:0] rx_all_seq;
wire [RX_DISPS*8-1:0] rx_all_code;
wire [RX_DISPS*8-1:0] rx_all_queue;
wire rx_account_lost;
wire rx_account_idle;
wire rx_account_ready;
wire rx_table_req;
wire [6:0] rx_table_index;
wire rx_table_word;
wire rx_table_ack;
wire [31:0] rx_table_rdata;

// Dispositions of tx.
wire [TX_DISPS-1:0] tx_all_valid;
wire [TX_DISPS*16-1:0] tx_all_seq;
wire [TX_DISPS*8-1:0] tx_all_code;
wire [TX_DISPS*8-1:0] tx_all_queue;
wire tx_account_lost;
wire tx_account_idle;
wire tx_account_ready;
wire tx_table_req;
wire [6:0] tx_table_index;
wire tx_table_word;
wire tx_table_ack;
wire [31:0] tx_table_rdata;

// Ends that are of the one or of the other direction.
wire tx_sched_disp_valid;
wire [15:0] tx_sched_disp_seq;
wire [7:0] tx_sched_disp_code;
wire [7:0] tx_sched_disp_queue;
wire tx_sched_disp_direction;
wire rx_buffer_disp_direction;  // 0
wire [15:0] egress_rx_seq;
wire [7:0] egress_rx_code;
wire [7:0] egress_rx_queue;
wire egress_tx_rx_valid;
wire egress_tx_tx_valid;
wire [15:0] egress_tx_seq;
wire [7:0] egress_tx_code;
wire [7:0] egress_tx_queue;
wire mac_tx_rx_valid;
wire mac_tx_tx_valid;
wire [15:0] mac_tx_seq;
wire [7:0] mac_tx_code;
wire [7:0] mac_tx_queue;

// Link faults, in rx_clk.
wire local_fault;
wire remote_fault;

// Each demultiplexer has an output for every destination.
wire rx_demux_drop_valid;
wire [`META_W-1:0] rx_demux_drop_meta;
wire tx_demux_drop_valid;
wire [`META_W-1:0] tx_demux_drop_meta;

// State.
wire [SLOTS-1:0] slot_idle;
wire [SLOTS-1:0] slot_ready;
wire [SLOTS*64-1:0] slot_deadline;
wire ingress_rx_idle;
wire egress_rx_idle;
wire ingress_tx_idle;
wire egress_tx_idle;
wire axil_idle;

// Streams, each named after the stage that it comes from.
wire [127:0] mac_rx_tdata;
wire [15:0] mac_rx_tkeep;
wire mac_rx_tvalid;
wire mac_rx_tready;
wire mac_rx_tlast;
wire [9:0] mac_rx_tuser;
wire [`META_W-1:0] mac_rx_meta;
wire [127:0] ingress_rx_tdata;
wire [15:0] ingress_rx_tkeep;
wire ingress_rx_tvalid;
wire ingress_rx_tready;
wire ingress_rx_tlast;
wire [9:0] ingress_rx_tuser;
wire [`META_W-1:0] ingress_rx_meta;
wire [127:0] parser_rx_tdata;
wire [15:0] parser_rx_tkeep;
wire parser_rx_tvalid;
wire parser_rx_tready;
wire parser_rx_tlast;
wire [9:0] parser_rx_tuser;
wire [`META_W-1:0] parser_rx_meta;
wire [127:0] pfc_rx_tdata;
wire [15:0] pfc_rx_tkeep;
wire pfc_rx_tvalid;
wire pfc_rx_tready;
wire pfc_rx_tlast;
wire [9:0] pfc_rx_tuser;
wire [`META_W-1:0] pfc_rx_meta;
wire [127:0] ipsec_rx_tdata;
wire [15:0] ipsec_rx_tkeep;
wire ipsec_rx_tvalid;
wire ipsec_rx_tready;
wire ipsec_rx_tlast;
wire [9:0] ipsec_rx_tuser;
wire [`META_W-1:0] ipsec_rx_meta;
wire [127:0] parser_inner_tdata;
wire [15:0] parser_inner_tkeep;
wire parser_inner_tvalid;
wire parser_inner_tready;
wire parser_inner_tlast;
wire [9:0] parser_inner_tuser;
wire [`META_W-1:0] parser_inner_meta;
wire [127:0] roce_icrc_tdata;
wire [15:0] roce_icrc_tkeep;
wire roce_icrc_tvalid;
wire roce_icrc_tready;
wire roce_icrc_tlast;
wire [9:0] roce_icrc_tuser;
wire [`META_W-1:0] roce_icrc_meta;
wire [127:0] acl_rx_tdata;
wire [15:0] acl_rx_tkeep;
wire acl_rx_tvalid;
wire acl_rx_tready;
wire acl_rx_tlast;
wire [9:0] acl_rx_tuser;
wire [`META_W-1:0] acl_rx_meta;
wire [127:0] rx_buffer_tdata;
wire [15:0] rx_buffer_tkeep;
wire rx_buffer_tvalid;
wire rx_buffer_tready;
wire rx_buffer_tlast;
wire [9:0] rx_buffer_tuser;
wire [`META_W-1:0] rx_buffer_meta;
wire [127:0] rx_demux_tdata;
wire [15:0] rx_demux_tkeep;
wire rx_demux_tvalid;
wire rx_demux_tready;
wire rx_demux_tlast;
wire [9:0] rx_demux_tuser;
wire [`META_W-1:0] rx_demux_meta;
wire [127:0] redirect_rx_tdata;
wire [15:0] redirect_rx_tkeep;
wire redirect_rx_tvalid;
wire redirect_rx_tready;
wire redirect_rx_tlast;
wire [9:0] redirect_rx_tuser;
wire [`META_W-1:0] redirect_rx_meta;
wire [127:0] tls_rx_tdata;
wire [15:0] tls_rx_tkeep;
wire tls_rx_tvalid;
wire tls_rx_tready;
wire tls_rx_tlast;
wire [9:0] tls_rx_tuser;
wire [`META_W-1:0] tls_rx_meta;
wire [127:0] roce_tdata;
wire [15:0] roce_tkeep;
wire roce_tvalid;
wire roce_tready;
wire roce_tlast;
wire [9:0] roce_tuser;
wire [`META_W-1:0] roce_meta;
wire [127:0] mirror_rx_tdata;
wire [15:0] mirror_rx_tkeep;
wire mirror_rx_tvalid;
wire mirror_rx_tready;
wire mirror_rx_tlast;
wire [9:0] mirror_rx_tuser;
wire [`META_W-1:0] mirror_rx_meta;
wire [127:0] host_join_tdata;
wire [15:0] host_join_tkeep;
wire host_join_tvalid;
wire host_join_tready;
wire host_join_tlast;
wire [9:0] host_join_tuser;
wire [`META_W-1:0] host_join_meta;
wire [127:0] roce_gen_tdata;
wire [15:0] roce_gen_tkeep;
wire roce_gen_tvalid;
wire roce_gen_tready;
wire roce_gen_tlast;
wire [9:0] roce_gen_tuser;
wire [`META_W-1:0] roce_gen_meta;
wire [127:0] join_tdata;
wire [15:0] join_tkeep;
wire join_tvalid;
wire join_tready;
wire join_tlast;
wire [9:0] join_tuser;
wire [`MF_TCLASS_W-1:0] join_tclass;
wire [`MF_QUEUE_W-1:0] join_queue;
reg [`META_W-1:0] join_meta;
wire [127:0] ingress_tx_tdata;
wire [15:0] ingress_tx_tkeep;
wire ingress_tx_tvalid;
wire ingress_tx_tready;
wire ingress_tx_tlast;
wire [9:0] ingress_tx_tuser;
wire [`META_W-1:0] ingress_tx_meta;
wire [127:0] parser_tx_tdata;
wire [15:0] parser_tx_tkeep;
wire parser_tx_tvalid;
wire parser_tx_tready;
wire parser_tx_tlast;
wire [9:0] parser_tx_tuser;
wire [`META_W-1:0] parser_tx_meta;
wire [127:0] acl_tx_tdata;
wire [15:0] acl_tx_tkeep;
wire acl_tx_tvalid;
wire acl_tx_tready;
wire acl_tx_tlast;
wire [9:0] acl_tx_tuser;
wire [`META_W-1:0] acl_tx_meta;
wire [127:0] mirror_tx_tdata;
wire [15:0] mirror_tx_tkeep;
wire mirror_tx_tvalid;
wire mirror_tx_tready;
wire mirror_tx_tlast;
wire [9:0] mirror_tx_tuser;
wire [`META_W-1:0] mirror_tx_meta;
wire [127:0] tls_tx_tdata;
wire [15:0] tls_tx_tkeep;
wire tls_tx_tvalid;
wire tls_tx_tready;
wire tls_tx_tlast;
wire [9:0] tls_tx_tuser;
wire [`META_W-1:0] tls_tx_meta;
wire [127:0] ipsec_tx_tdata;
wire [15:0] ipsec_tx_tkeep;
wire ipsec_tx_tvalid;
wire ipsec_tx_tready;
wire ipsec_tx_tlast;
wire [9:0] ipsec_tx_tuser;
wire [`META_W-1:0] ipsec_tx_meta;
wire [127:0] sched_join_tdata;
wire [15:0] sched_join_tkeep;
wire sched_join_tvalid;
wire sched_join_tready;
wire sched_join_tlast;
wire [9:0] sched_join_tuser;
wire [`META_W-1:0] sched_join_meta;
wire [127:0] tx_sched_tdata;
wire [15:0] tx_sched_tkeep;
wire tx_sched_tvalid;
wire tx_sched_tready;
wire tx_sched_tlast;
wire [9:0] tx_sched_tuser;
wire [`META_W-1:0] tx_sched_meta;
wire [127:0] tx_demux_tdata;
wire [15:0] tx_demux_tkeep;
wire tx_demux_tvalid;
wire tx_demux_tready;
wire tx_demux_tlast;
wire [9:0] tx_demux_tuser;
wire [`META_W-1:0] tx_demux_meta;
wire [127:0] redirect_tx_tdata;
wire [15:0] redirect_tx_tkeep;
wire redirect_tx_tvalid;
wire redirect_tx_tready;
wire redirect_tx_tlast;
wire [9:0] redirect_tx_tuser;
wire [`META_W-1:0] redirect_tx_meta;
wire [127:0] egress_tx_tdata;
wire [15:0] egress_tx_tkeep;
wire egress_tx_tvalid;
wire egress_tx_tready;
wire egress_tx_tlast;
wire [9:0] egress_tx_tuser;
wire [`META_W-1:0] egress_tx_meta;
wire [`META_W-1:0] mac_tx_meta;

// Receive: in front of the buffer.

nic_slot_mac_rx #(
    .EN(MAC_EN)
) mac_rx_inst (
    .clk(clk), .rst(rst),
    .rx_clk(rx_clk), .rx_rst(rx_rst), .xgmii_d(xgmii_rx_d), .xgmii_c(xgmii_rx_c),
    .local_fault(local_fault), .remote_fault(remote_fault),
    .s_axis_tdata(s_axis_wire_tdata), .s_axis_tkeep(s_axis_wire_tkeep), .s_axis_tvalid(s_axis_wire_tvalid),
    .s_axis_tready(s_axis_wire_tready), .s_axis_tlast(s_axis_wire_tlast), .s_axis_tuser(s_axis_wire_tuser),
    .s_axis_meta({`META_W{1'b0}}),
    .m_axis_tdata(mac_rx_tdata), .m_axis_tkeep(mac_rx_tkeep), .m_axis_tvalid(mac_rx_tvalid),
    .m_axis_tready(mac_rx_tready), .m_axis_tlast(mac_rx_tlast), .m_axis_tuser(mac_rx_tuser),
    .m_axis_meta(mac_rx_meta),
    .reg_req(inst_req[INST_MAC_RX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_MAC_RX]), .reg_error(inst_error[INST_MAC_RX]),
    .reg_rdata(inst_rdata[INST_MAC_RX*32 +: 32]),
    .disp_valid(rx_all_valid[RX_DISP_MAC_RX]), .disp_seq(rx_all_seq[RX_DISP_MAC_RX*16 +: 16]),
    .disp_code(rx_all_code[RX_DISP_MAC_RX*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_MAC_RX*8 +: 8]),
    .now(now), .now_fraction(now_fraction), .idle(slot_idle[INST_MAC_RX]),
    .next_deadline(slot_deadline[INST_MAC_RX*64 +: 64]), .ready(slot_ready[INST_MAC_RX])
);

// A received frame's time: that of its start on XGMII, or where there is none of its entry.
wire [63:0] rx_time = MAC_EN != 0 ? mac_rx_meta[`MF_TIMESTAMP] : now;

nic_ingress #(
    .PORT_ID(PORT_ID),
    .DIRECTION(1'b0)
) ingress_rx_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(mac_rx_tdata), .s_axis_tkeep(mac_rx_tkeep), .s_axis_tvalid(mac_rx_tvalid),
    .s_axis_tready(mac_rx_tready), .s_axis_tlast(mac_rx_tlast), .s_axis_tuser(mac_rx_tuser),
    .s_axis_meta(mac_rx_meta),
    .m_axis_tdata(ingress_rx_tdata), .m_axis_tkeep(ingress_rx_tkeep), .m_axis_tvalid(ingress_rx_tvalid),
    .m_axis_tready(ingress_rx_tready), .m_axis_tlast(ingress_rx_tlast), .m_axis_tuser(ingress_rx_tuser),
    .m_axis_meta(ingress_rx_meta),
    .cfg_enable(cfg_rx_enable), .cfg_max_frame(cfg_max_frame), .entry_valid(rx_entry_valid),
    .entry_seq(rx_entry_seq), .count_frame(rx_count_frame_in), .count_bytes(rx_count_bytes_in), .now(rx_time),
    .idle(ingress_rx_idle)
);

generate
    if (PARSER_EN != 0) begin : g_parser_rx
        parser #(
            .PARSE_BYTES(PARSE_BYTES),
            .TUNNEL_EN(TUNNEL_EN)
        ) parser_rx_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(ingress_rx_tdata), .s_axis_tkeep(ingress_rx_tkeep), .s_axis_tvalid(ingress_rx_tvalid),
            .s_axis_tready(ingress_rx_tready), .s_axis_tlast(ingress_rx_tlast), .s_axis_tuser(ingress_rx_tuser),
            .s_axis_meta(ingress_rx_meta),
            .m_axis_tdata(parser_rx_tdata), .m_axis_tkeep(parser_rx_tkeep), .m_axis_tvalid(parser_rx_tvalid),
            .m_axis_tready(parser_rx_tready), .m_axis_tlast(parser_rx_tlast), .m_axis_tuser(parser_rx_tuser),
            .m_axis_meta(parser_rx_meta),
            .reg_req(inst_req[INST_PARSER_RX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_PARSER_RX]), .reg_error(inst_error[INST_PARSER_RX]),
            .reg_rdata(inst_rdata[INST_PARSER_RX*32 +: 32]),
            .disp_valid(rx_all_valid[RX_DISP_PARSER_RX]), .disp_seq(rx_all_seq[RX_DISP_PARSER_RX*16 +: 16]),
            .disp_code(rx_all_code[RX_DISP_PARSER_RX*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_PARSER_RX*8 +: 8]),
            .now(now), .idle(slot_idle[INST_PARSER_RX]), .next_deadline(slot_deadline[INST_PARSER_RX*64 +: 64]),
            .ready(slot_ready[INST_PARSER_RX])
        );
    end else begin : g_no_parser_rx
        nic_slot #(
            .BLOCK(BLOCK_PARSER),
            .STATE(STATE_LEFT_OUT)
        ) parser_rx_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(ingress_rx_tdata), .s_axis_tkeep(ingress_rx_tkeep), .s_axis_tvalid(ingress_rx_tvalid),
            .s_axis_tready(ingress_rx_tready), .s_axis_tlast(ingress_rx_tlast), .s_axis_tuser(ingress_rx_tuser),
            .s_axis_meta(ingress_rx_meta),
            .m_axis_tdata(parser_rx_tdata), .m_axis_tkeep(parser_rx_tkeep), .m_axis_tvalid(parser_rx_tvalid),
            .m_axis_tready(parser_rx_tready), .m_axis_tlast(parser_rx_tlast), .m_axis_tuser(parser_rx_tuser),
            .m_axis_meta(parser_rx_meta),
            .reg_req(inst_req[INST_PARSER_RX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_PARSER_RX]), .reg_error(inst_error[INST_PARSER_RX]),
            .reg_rdata(inst_rdata[INST_PARSER_RX*32 +: 32]),
            .disp_valid(rx_all_valid[RX_DISP_PARSER_RX]), .disp_seq(rx_all_seq[RX_DISP_PARSER_RX*16 +: 16]),
            .disp_code(rx_all_code[RX_DISP_PARSER_RX*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_PARSER_RX*8 +: 8]),
            .now(now), .idle(slot_idle[INST_PARSER_RX]), .next_deadline(slot_deadline[INST_PARSER_RX*64 +: 64]),
            .ready(slot_ready[INST_PARSER_RX])
        );
    end
endgenerate

nic_slot #(
    .BLOCK(BLOCK_FLOW),
    .STATE(FLOW_STATE)
) pfc_rx_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(parser_rx_tdata), .s_axis_tkeep(parser_rx_tkeep), .s_axis_tvalid(parser_rx_tvalid),
    .s_axis_tready(parser_rx_tready), .s_axis_tlast(parser_rx_tlast), .s_axis_tuser(parser_rx_tuser),
    .s_axis_meta(parser_rx_meta),
    .m_axis_tdata(pfc_rx_tdata), .m_axis_tkeep(pfc_rx_tkeep), .m_axis_tvalid(pfc_rx_tvalid),
    .m_axis_tready(pfc_rx_tready), .m_axis_tlast(pfc_rx_tlast), .m_axis_tuser(pfc_rx_tuser),
    .m_axis_meta(pfc_rx_meta),
    .reg_req(inst_req[INST_PFC_RX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_PFC_RX]), .reg_error(inst_error[INST_PFC_RX]),
    .reg_rdata(inst_rdata[INST_PFC_RX*32 +: 32]),
    .disp_valid(rx_all_valid[RX_DISP_PFC_RX]), .disp_seq(rx_all_seq[RX_DISP_PFC_RX*16 +: 16]),
    .disp_code(rx_all_code[RX_DISP_PFC_RX*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_PFC_RX*8 +: 8]),
    .now(now), .idle(slot_idle[INST_PFC_RX]), .next_deadline(slot_deadline[INST_PFC_RX*64 +: 64]),
    .ready(slot_ready[INST_PFC_RX])
);

generate
    if (IPSEC_EN != 0) begin : g_ipsec_rx
        ipsec_rx #(
            .SAS(IPSEC_SAS),
            .SM4_EN(IPSEC_SM4_EN)
        ) ipsec_rx_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(pfc_rx_tdata), .s_axis_tkeep(pfc_rx_tkeep), .s_axis_tvalid(pfc_rx_tvalid),
            .s_axis_tready(pfc_rx_tready), .s_axis_tlast(pfc_rx_tlast), .s_axis_tuser(pfc_rx_tuser),
            .s_axis_meta(pfc_rx_meta),
            .m_axis_tdata(ipsec_rx_tdata), .m_axis_tkeep(ipsec_rx_tkeep), .m_axis_tvalid(ipsec_rx_tvalid),
            .m_axis_tready(ipsec_rx_tready), .m_axis_tlast(ipsec_rx_tlast), .m_axis_tuser(ipsec_rx_tuser),
            .m_axis_meta(ipsec_rx_meta),
            .reg_req(inst_req[INST_IPSEC_RX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_IPSEC_RX]), .reg_error(inst_error[INST_IPSEC_RX]),
            .reg_rdata(inst_rdata[INST_IPSEC_RX*32 +: 32]),
            .disp_valid(rx_all_valid[RX_DISP_IPSEC_RX]), .disp_seq(rx_all_seq[RX_DISP_IPSEC_RX*16 +: 16]),
            .disp_code(rx_all_code[RX_DISP_IPSEC_RX*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_IPSEC_RX*8 +: 8]),
            .now(now), .idle(slot_idle[INST_IPSEC_RX]), .next_deadline(slot_deadline[INST_IPSEC_RX*64 +: 64]),
            .ready(slot_ready[INST_IPSEC_RX])
        );
    end else begin : g_no_ipsec_rx
        nic_slot #(
            .BLOCK(BLOCK_IPSEC),
            .STATE(STATE_LEFT_OUT)
        ) ipsec_rx_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(pfc_rx_tdata), .s_axis_tkeep(pfc_rx_tkeep), .s_axis_tvalid(pfc_rx_tvalid),
            .s_axis_tready(pfc_rx_tready), .s_axis_tlast(pfc_rx_tlast), .s_axis_tuser(pfc_rx_tuser),
            .s_axis_meta(pfc_rx_meta),
            .m_axis_tdata(ipsec_rx_tdata), .m_axis_tkeep(ipsec_rx_tkeep), .m_axis_tvalid(ipsec_rx_tvalid),
            .m_axis_tready(ipsec_rx_tready), .m_axis_tlast(ipsec_rx_tlast), .m_axis_tuser(ipsec_rx_tuser),
            .m_axis_meta(ipsec_rx_meta),
            .reg_req(inst_req[INST_IPSEC_RX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_IPSEC_RX]), .reg_error(inst_error[INST_IPSEC_RX]),
            .reg_rdata(inst_rdata[INST_IPSEC_RX*32 +: 32]),
            .disp_valid(rx_all_valid[RX_DISP_IPSEC_RX]), .disp_seq(rx_all_seq[RX_DISP_IPSEC_RX*16 +: 16]),
            .disp_code(rx_all_code[RX_DISP_IPSEC_RX*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_IPSEC_RX*8 +: 8]),
            .now(now), .idle(slot_idle[INST_IPSEC_RX]), .next_deadline(slot_deadline[INST_IPSEC_RX*64 +: 64]),
            .ready(slot_ready[INST_IPSEC_RX])
        );
    end
endgenerate

generate
    if (IPSEC_EN != 0 && PARSER_EN != 0) begin : g_parser_inner
        parser #(
            .PARSE_BYTES(PARSE_BYTES),
            .TUNNEL_EN(TUNNEL_EN)
        ) parser_inner_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(ipsec_rx_tdata), .s_axis_tkeep(ipsec_rx_tkeep), .s_axis_tvalid(ipsec_rx_tvalid),
            .s_axis_tready(ipsec_rx_tready), .s_axis_tlast(ipsec_rx_tlast), .s_axis_tuser(ipsec_rx_tuser),
            .s_axis_meta(ipsec_rx_meta),
            .m_axis_tdata(parser_inner_tdata), .m_axis_tkeep(parser_inner_tkeep), .m_axis_tvalid(parser_inner_tvalid),
            .m_axis_tready(parser_inner_tready), .m_axis_tlast(parser_inner_tlast), .m_axis_tuser(parser_inner_tuser),
            .m_axis_meta(parser_inner_meta),
            .reg_req(inst_req[INST_PARSER_INNER]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_PARSER_INNER]), .reg_error(inst_error[INST_PARSER_INNER]),
            .reg_rdata(inst_rdata[INST_PARSER_INNER*32 +: 32]),
            .disp_valid(rx_all_valid[RX_DISP_PARSER_INNER]), .disp_seq(rx_all_seq[RX_DISP_PARSER_INNER*16 +: 16]),
            .disp_code(rx_all_code[RX_DISP_PARSER_INNER*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_PARSER_INNER*8 +: 8]),
            .now(now), .idle(slot_idle[INST_PARSER_INNER]), .next_deadline(slot_deadline[INST_PARSER_INNER*64 +: 64]),
            .ready(slot_ready[INST_PARSER_INNER])
        );
    end else begin : g_no_parser_inner
        nic_slot #(
            .BLOCK(BLOCK_PARSER),
            .STATE(STATE_LEFT_OUT)
        ) parser_inner_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(ipsec_rx_tdata), .s_axis_tkeep(ipsec_rx_tkeep), .s_axis_tvalid(ipsec_rx_tvalid),
            .s_axis_tready(ipsec_rx_tready), .s_axis_tlast(ipsec_rx_tlast), .s_axis_tuser(ipsec_rx_tuser),
            .s_axis_meta(ipsec_rx_meta),
            .m_axis_tdata(parser_inner_tdata), .m_axis_tkeep(parser_inner_tkeep), .m_axis_tvalid(parser_inner_tvalid),
            .m_axis_tready(parser_inner_tready), .m_axis_tlast(parser_inner_tlast), .m_axis_tuser(parser_inner_tuser),
            .m_axis_meta(parser_inner_meta),
            .reg_req(inst_req[INST_PARSER_INNER]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_PARSER_INNER]), .reg_error(inst_error[INST_PARSER_INNER]),
            .reg_rdata(inst_rdata[INST_PARSER_INNER*32 +: 32]),
            .disp_valid(rx_all_valid[RX_DISP_PARSER_INNER]), .disp_seq(rx_all_seq[RX_DISP_PARSER_INNER*16 +: 16]),
            .disp_code(rx_all_code[RX_DISP_PARSER_INNER*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_PARSER_INNER*8 +: 8]),
            .now(now), .idle(slot_idle[INST_PARSER_INNER]), .next_deadline(slot_deadline[INST_PARSER_INNER*64 +: 64]),
            .ready(slot_ready[INST_PARSER_INNER])
        );
    end
endgenerate

nic_slot #(
    .BLOCK(BLOCK_ROCE),
    .STATE(ROCE_STATE)
) roce_icrc_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(parser_inner_tdata), .s_axis_tkeep(parser_inner_tkeep), .s_axis_tvalid(parser_inner_tvalid),
    .s_axis_tready(parser_inner_tready), .s_axis_tlast(parser_inner_tlast), .s_axis_tuser(parser_inner_tuser),
    .s_axis_meta(parser_inner_meta),
    .m_axis_tdata(roce_icrc_tdata), .m_axis_tkeep(roce_icrc_tkeep), .m_axis_tvalid(roce_icrc_tvalid),
    .m_axis_tready(roce_icrc_tready), .m_axis_tlast(roce_icrc_tlast), .m_axis_tuser(roce_icrc_tuser),
    .m_axis_meta(roce_icrc_meta),
    .reg_req(inst_req[INST_ROCE_ICRC]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_ROCE_ICRC]), .reg_error(inst_error[INST_ROCE_ICRC]),
    .reg_rdata(inst_rdata[INST_ROCE_ICRC*32 +: 32]),
    .disp_valid(rx_all_valid[RX_DISP_ROCE_ICRC]), .disp_seq(rx_all_seq[RX_DISP_ROCE_ICRC*16 +: 16]),
    .disp_code(rx_all_code[RX_DISP_ROCE_ICRC*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_ROCE_ICRC*8 +: 8]),
    .now(now), .idle(slot_idle[INST_ROCE_ICRC]), .next_deadline(slot_deadline[INST_ROCE_ICRC*64 +: 64]),
    .ready(slot_ready[INST_ROCE_ICRC])
);

nic_slot_acl #(
    .EN(ACL_EN),
    .PORT_ID(PORT_ID),
    .RULES(ACL_RULES),
    .METERS(ACL_METERS),
    .IPV6(ACL_IPV6),
    .TUNNEL_EN(TUNNEL_EN)
) acl_rx_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(roce_icrc_tdata), .s_axis_tkeep(roce_icrc_tkeep), .s_axis_tvalid(roce_icrc_tvalid),
    .s_axis_tready(roce_icrc_tready), .s_axis_tlast(roce_icrc_tlast), .s_axis_tuser(roce_icrc_tuser),
    .s_axis_meta(roce_icrc_meta),
    .m_axis_tdata(acl_rx_tdata), .m_axis_tkeep(acl_rx_tkeep), .m_axis_tvalid(acl_rx_tvalid),
    .m_axis_tready(acl_rx_tready), .m_axis_tlast(acl_rx_tlast), .m_axis_tuser(acl_rx_tuser),
    .m_axis_meta(acl_rx_meta),
    .m_axis_mirror_tdata(mirror_rx_tdata), .m_axis_mirror_tkeep(mirror_rx_tkeep),
    .m_axis_mirror_tvalid(mirror_rx_tvalid), .m_axis_mirror_tready(mirror_rx_tready),
    .m_axis_mirror_tlast(mirror_rx_tlast), .m_axis_mirror_tuser(mirror_rx_tuser),
    .m_axis_mirror_meta(mirror_rx_meta),
    .reg_req(inst_req[INST_ACL_RX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_ACL_RX]), .reg_error(inst_error[INST_ACL_RX]),
    .reg_rdata(inst_rdata[INST_ACL_RX*32 +: 32]),
    .disp_valid(rx_all_valid[RX_DISP_ACL_RX]), .disp_seq(rx_all_seq[RX_DISP_ACL_RX*16 +: 16]),
    .disp_code(rx_all_code[RX_DISP_ACL_RX*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_ACL_RX*8 +: 8]),
    .now(now), .idle(slot_idle[INST_ACL_RX]), .next_deadline(slot_deadline[INST_ACL_RX*64 +: 64]),
    .ready(slot_ready[INST_ACL_RX])
);

// Receive: the buffer, and what is behind it.

nic_buffer #(
    .BEATS(RX_BUFFER_BEATS),
    .FRAMES(BUFFER_FRAMES),
    .DROP_FULL(1)
) rx_buffer_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(acl_rx_tdata), .s_axis_tkeep(acl_rx_tkeep), .s_axis_tvalid(acl_rx_tvalid),
    .s_axis_tready(acl_rx_tready), .s_axis_tlast(acl_rx_tlast), .s_axis_tuser(acl_rx_tuser),
    .s_axis_meta(acl_rx_meta),
    .m_axis_tdata(rx_buffer_tdata), .m_axis_tkeep(rx_buffer_tkeep), .m_axis_tvalid(rx_buffer_tvalid),
    .m_axis_tready(rx_buffer_tready), .m_axis_tlast(rx_buffer_tlast), .m_axis_tuser(rx_buffer_tuser),
    .m_axis_meta(rx_buffer_meta),
    .reg_req(inst_req[INST_RX_BUFFER]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_RX_BUFFER]), .reg_error(inst_error[INST_RX_BUFFER]),
    .reg_rdata(inst_rdata[INST_RX_BUFFER*32 +: 32]),
    .disp_valid(rx_all_valid[RX_DISP_RX_BUFFER]), .disp_seq(rx_all_seq[RX_DISP_RX_BUFFER*16 +: 16]),
    .disp_code(rx_all_code[RX_DISP_RX_BUFFER*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_RX_BUFFER*8 +: 8]),
    .disp_direction(rx_buffer_disp_direction),
    .now(now), .idle(slot_idle[INST_RX_BUFFER]), .next_deadline(slot_deadline[INST_RX_BUFFER*64 +: 64]),
    .ready(slot_ready[INST_RX_BUFFER])
);

axis_demux #(
    .META_W(`META_W),
    .N(2)
) rx_demux_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(rx_buffer_tdata), .s_axis_tkeep(rx_buffer_tkeep), .s_axis_tvalid(rx_buffer_tvalid),
    .s_axis_tready(rx_buffer_tready), .s_axis_tlast(rx_buffer_tlast), .s_axis_tuser(rx_buffer_tuser),
    .s_axis_meta(rx_buffer_meta),
    .m_axis_tdata({redirect_rx_tdata, rx_demux_tdata}), .m_axis_tkeep({redirect_rx_tkeep, rx_demux_tkeep}),
    .m_axis_tvalid({redirect_rx_tvalid, rx_demux_tvalid}), .m_axis_tready({redirect_rx_tready, rx_demux_tready}),
    .m_axis_tlast({redirect_rx_tlast, rx_demux_tlast}), .m_axis_tuser({redirect_rx_tuser, rx_demux_tuser}),
    .m_axis_meta({redirect_rx_meta, rx_demux_meta}),
    .s_axis_dest(rx_buffer_meta[`MF_ACL_REDIRECT]), .drop_valid(rx_demux_drop_valid),
    .drop_meta(rx_demux_drop_meta)
);

nic_slot #(
    .BLOCK(BLOCK_TLS),
    .STATE(TLS_STATE)
) tls_rx_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(rx_demux_tdata), .s_axis_tkeep(rx_demux_tkeep), .s_axis_tvalid(rx_demux_tvalid),
    .s_axis_tready(rx_demux_tready), .s_axis_tlast(rx_demux_tlast), .s_axis_tuser(rx_demux_tuser),
    .s_axis_meta(rx_demux_meta),
    .m_axis_tdata(tls_rx_tdata), .m_axis_tkeep(tls_rx_tkeep), .m_axis_tvalid(tls_rx_tvalid),
    .m_axis_tready(tls_rx_tready), .m_axis_tlast(tls_rx_tlast), .m_axis_tuser(tls_rx_tuser),
    .m_axis_meta(tls_rx_meta),
    .reg_req(inst_req[INST_TLS_RX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_TLS_RX]), .reg_error(inst_error[INST_TLS_RX]),
    .reg_rdata(inst_rdata[INST_TLS_RX*32 +: 32]),
    .disp_valid(rx_all_valid[RX_DISP_TLS_RX]), .disp_seq(rx_all_seq[RX_DISP_TLS_RX*16 +: 16]),
    .disp_code(rx_all_code[RX_DISP_TLS_RX*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_TLS_RX*8 +: 8]),
    .now(now), .idle(slot_idle[INST_TLS_RX]), .next_deadline(slot_deadline[INST_TLS_RX*64 +: 64]),
    .ready(slot_ready[INST_TLS_RX])
);

nic_slot_roce #(
    .STATE(ROCE_STATE)
) roce_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(tls_rx_tdata), .s_axis_tkeep(tls_rx_tkeep), .s_axis_tvalid(tls_rx_tvalid),
    .s_axis_tready(tls_rx_tready), .s_axis_tlast(tls_rx_tlast), .s_axis_tuser(tls_rx_tuser),
    .s_axis_meta(tls_rx_meta),
    .m_axis_tdata(roce_tdata), .m_axis_tkeep(roce_tkeep), .m_axis_tvalid(roce_tvalid), .m_axis_tready(roce_tready),
    .m_axis_tlast(roce_tlast), .m_axis_tuser(roce_tuser), .m_axis_meta(roce_meta),
    .m_axis_tx_tdata(roce_gen_tdata), .m_axis_tx_tkeep(roce_gen_tkeep), .m_axis_tx_tvalid(roce_gen_tvalid),
    .m_axis_tx_tready(roce_gen_tready), .m_axis_tx_tlast(roce_gen_tlast), .m_axis_tx_tuser(roce_gen_tuser),
    .m_axis_tx_meta(roce_gen_meta),
    .mem_req_valid(mem_req_valid), .mem_req_ready(mem_req_ready), .mem_req_write(mem_req_write),
    .mem_req_key(mem_req_key), .mem_req_addr(mem_req_addr), .mem_req_len(mem_req_len), .mem_req_id(mem_req_id),
    .mem_req_fence(mem_req_fence), .mem_req_flush(mem_req_flush), .mem_req_ro(mem_req_ro),
    .m_axis_mem_tdata(m_axis_mem_tdata), .m_axis_mem_tkeep(m_axis_mem_tkeep), .m_axis_mem_tvalid(m_axis_mem_tvalid),
    .m_axis_mem_tready(m_axis_mem_tready), .m_axis_mem_tlast(m_axis_mem_tlast), .s_axis_mem_tdata(s_axis_mem_tdata),
    .s_axis_mem_tkeep(s_axis_mem_tkeep), .s_axis_mem_tvalid(s_axis_mem_tvalid),
    .s_axis_mem_tready(s_axis_mem_tready), .s_axis_mem_tlast(s_axis_mem_tlast), .mem_done_valid(mem_done_valid),
    .mem_done_ready(mem_done_ready), .mem_done_id(mem_done_id), .mem_done_code(mem_done_code),
    .reg_req(inst_req[INST_ROCE]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_ROCE]), .reg_error(inst_error[INST_ROCE]),
    .reg_rdata(inst_rdata[INST_ROCE*32 +: 32]),
    .disp_valid(rx_all_valid[RX_DISP_ROCE]), .disp_seq(rx_all_seq[RX_DISP_ROCE*16 +: 16]),
    .disp_code(rx_all_code[RX_DISP_ROCE*8 +: 8]), .disp_queue(rx_all_queue[RX_DISP_ROCE*8 +: 8]),
    .now(now), .idle(slot_idle[INST_ROCE]), .next_deadline(slot_deadline[INST_ROCE*64 +: 64]),
    .ready(slot_ready[INST_ROCE])
);

// What goes to the host: received frames first after reset, then turn by turn with transmitted ones that were redirected.
// Copies of the mirrors go when neither has a frame: a mirror costs a received frame no more than one copy's time.
axis_arb_mux #(
    .META_W(`META_W),
    .N(4),
    .FIRST(2)
) host_join_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata({mirror_tx_tdata, mirror_rx_tdata, redirect_tx_tdata, roce_tdata}),
    .s_axis_tkeep({mirror_tx_tkeep, mirror_rx_tkeep, redirect_tx_tkeep, roce_tkeep}),
    .s_axis_tvalid({mirror_tx_tvalid, mirror_rx_tvalid, redirect_tx_tvalid, roce_tvalid}),
    .s_axis_tready({mirror_tx_tready, mirror_rx_tready, redirect_tx_tready, roce_tready}),
    .s_axis_tlast({mirror_tx_tlast, mirror_rx_tlast, redirect_tx_tlast, roce_tlast}),
    .s_axis_tuser({mirror_tx_tuser, mirror_rx_tuser, redirect_tx_tuser, roce_tuser}),
    .s_axis_meta({mirror_tx_meta, mirror_rx_meta, redirect_tx_meta, roce_meta}),
    .m_axis_tdata(host_join_tdata), .m_axis_tkeep(host_join_tkeep), .m_axis_tvalid(host_join_tvalid),
    .m_axis_tready(host_join_tready), .m_axis_tlast(host_join_tlast), .m_axis_tuser(host_join_tuser),
    .m_axis_meta(host_join_meta)
);

nic_egress egress_rx_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(host_join_tdata), .s_axis_tkeep(host_join_tkeep), .s_axis_tvalid(host_join_tvalid),
    .s_axis_tready(host_join_tready), .s_axis_tlast(host_join_tlast), .s_axis_tuser(host_join_tuser),
    .s_axis_meta(host_join_meta),
    .m_axis_tdata(m_axis_host_tdata), .m_axis_tkeep(m_axis_host_tkeep), .m_axis_tvalid(m_axis_host_tvalid),
    .m_axis_tready(m_axis_host_tready), .m_axis_tlast(m_axis_host_tlast), .m_axis_tuser(m_axis_host_tuser),
    .m_axis_meta(m_axis_host_meta),
    .disp_rx_valid(rx_all_valid[RX_DISP_EGRESS_RX]), .disp_tx_valid(tx_all_valid[TX_DISP_EGRESS_RX]),
    .disp_seq(egress_rx_seq), .disp_code(egress_rx_code), .disp_queue(egress_rx_queue),
    .count_frame(rx_count_frame_out), .count_bytes(rx_count_bytes_out), .idle(egress_rx_idle)
);

// Transmit: the host first after reset, then turn by turn with what roce makes. Of their metadata, ingress takes these.

always @* begin
    join_meta = {`META_W{1'b0}};
    join_meta[`MF_TCLASS] = join_tclass;
    join_meta[`MF_QUEUE] = join_queue;
end

axis_arb_mux #(
    .META_W(JOIN_META_W),
    .N(2)
) join_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata({roce_gen_tdata, s_axis_host_tdata}), .s_axis_tkeep({roce_gen_tkeep, s_axis_host_tkeep}),
    .s_axis_tvalid({roce_gen_tvalid, s_axis_host_tvalid}), .s_axis_tready({roce_gen_tready, s_axis_host_tready}),
    .s_axis_tlast({roce_gen_tlast, s_axis_host_tlast}), .s_axis_tuser({roce_gen_tuser, s_axis_host_tuser}),
    .s_axis_meta({roce_gen_meta[`MF_TCLASS], roce_gen_meta[`MF_QUEUE],
                  s_axis_host_meta[`MF_TCLASS], s_axis_host_meta[`MF_QUEUE]}),
    .m_axis_tdata(join_tdata), .m_axis_tkeep(join_tkeep), .m_axis_tvalid(join_tvalid), .m_axis_tready(join_tready),
    .m_axis_tlast(join_tlast), .m_axis_tuser(join_tuser), .m_axis_meta({join_tclass, join_queue})
);

nic_ingress #(
    .PORT_ID(PORT_ID),
    .DIRECTION(1'b1)
) ingress_tx_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(join_tdata), .s_axis_tkeep(join_tkeep), .s_axis_tvalid(join_tvalid), .s_axis_tready(join_tready),
    .s_axis_tlast(join_tlast), .s_axis_tuser(join_tuser), .s_axis_meta(join_meta),
    .m_axis_tdata(ingress_tx_tdata), .m_axis_tkeep(ingress_tx_tkeep), .m_axis_tvalid(ingress_tx_tvalid),
    .m_axis_tready(ingress_tx_tready), .m_axis_tlast(ingress_tx_tlast), .m_axis_tuser(ingress_tx_tuser),
    .m_axis_meta(ingress_tx_meta),
    .cfg_enable(cfg_tx_enable), .cfg_max_frame(cfg_max_frame), .entry_valid(tx_entry_valid),
    .entry_seq(tx_entry_seq), .count_frame(tx_count_frame_in), .count_bytes(tx_count_bytes_in), .now(now),
    .idle(ingress_tx_idle)
);

generate
    if (PARSER_EN != 0) begin : g_parser_tx
        parser #(
            .PARSE_BYTES(PARSE_BYTES),
            .TUNNEL_EN(TUNNEL_EN)
        ) parser_tx_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(ingress_tx_tdata), .s_axis_tkeep(ingress_tx_tkeep), .s_axis_tvalid(ingress_tx_tvalid),
            .s_axis_tready(ingress_tx_tready), .s_axis_tlast(ingress_tx_tlast), .s_axis_tuser(ingress_tx_tuser),
            .s_axis_meta(ingress_tx_meta),
            .m_axis_tdata(parser_tx_tdata), .m_axis_tkeep(parser_tx_tkeep), .m_axis_tvalid(parser_tx_tvalid),
            .m_axis_tready(parser_tx_tready), .m_axis_tlast(parser_tx_tlast), .m_axis_tuser(parser_tx_tuser),
            .m_axis_meta(parser_tx_meta),
            .reg_req(inst_req[INST_PARSER_TX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_PARSER_TX]), .reg_error(inst_error[INST_PARSER_TX]),
            .reg_rdata(inst_rdata[INST_PARSER_TX*32 +: 32]),
            .disp_valid(tx_all_valid[TX_DISP_PARSER_TX]), .disp_seq(tx_all_seq[TX_DISP_PARSER_TX*16 +: 16]),
            .disp_code(tx_all_code[TX_DISP_PARSER_TX*8 +: 8]), .disp_queue(tx_all_queue[TX_DISP_PARSER_TX*8 +: 8]),
            .now(now), .idle(slot_idle[INST_PARSER_TX]), .next_deadline(slot_deadline[INST_PARSER_TX*64 +: 64]),
            .ready(slot_ready[INST_PARSER_TX])
        );
    end else begin : g_no_parser_tx
        nic_slot #(
            .BLOCK(BLOCK_PARSER),
            .STATE(STATE_LEFT_OUT)
        ) parser_tx_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(ingress_tx_tdata), .s_axis_tkeep(ingress_tx_tkeep), .s_axis_tvalid(ingress_tx_tvalid),
            .s_axis_tready(ingress_tx_tready), .s_axis_tlast(ingress_tx_tlast), .s_axis_tuser(ingress_tx_tuser),
            .s_axis_meta(ingress_tx_meta),
            .m_axis_tdata(parser_tx_tdata), .m_axis_tkeep(parser_tx_tkeep), .m_axis_tvalid(parser_tx_tvalid),
            .m_axis_tready(parser_tx_tready), .m_axis_tlast(parser_tx_tlast), .m_axis_tuser(parser_tx_tuser),
            .m_axis_meta(parser_tx_meta),
            .reg_req(inst_req[INST_PARSER_TX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_PARSER_TX]), .reg_error(inst_error[INST_PARSER_TX]),
            .reg_rdata(inst_rdata[INST_PARSER_TX*32 +: 32]),
            .disp_valid(tx_all_valid[TX_DISP_PARSER_TX]), .disp_seq(tx_all_seq[TX_DISP_PARSER_TX*16 +: 16]),
            .disp_code(tx_all_code[TX_DISP_PARSER_TX*8 +: 8]), .disp_queue(tx_all_queue[TX_DISP_PARSER_TX*8 +: 8]),
            .now(now), .idle(slot_idle[INST_PARSER_TX]), .next_deadline(slot_deadline[INST_PARSER_TX*64 +: 64]),
            .ready(slot_ready[INST_PARSER_TX])
        );
    end
endgenerate

nic_slot_acl #(
    .EN(ACL_EN),
    .PORT_ID(PORT_ID),
    .RULES(ACL_RULES),
    .METERS(ACL_METERS),
    .IPV6(ACL_IPV6),
    .TUNNEL_EN(TUNNEL_EN)
) acl_tx_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(parser_tx_tdata), .s_axis_tkeep(parser_tx_tkeep), .s_axis_tvalid(parser_tx_tvalid),
    .s_axis_tready(parser_tx_tready), .s_axis_tlast(parser_tx_tlast), .s_axis_tuser(parser_tx_tuser),
    .s_axis_meta(parser_tx_meta),
    .m_axis_tdata(acl_tx_tdata), .m_axis_tkeep(acl_tx_tkeep), .m_axis_tvalid(acl_tx_tvalid),
    .m_axis_tready(acl_tx_tready), .m_axis_tlast(acl_tx_tlast), .m_axis_tuser(acl_tx_tuser),
    .m_axis_meta(acl_tx_meta),
    .m_axis_mirror_tdata(mirror_tx_tdata), .m_axis_mirror_tkeep(mirror_tx_tkeep),
    .m_axis_mirror_tvalid(mirror_tx_tvalid), .m_axis_mirror_tready(mirror_tx_tready),
    .m_axis_mirror_tlast(mirror_tx_tlast), .m_axis_mirror_tuser(mirror_tx_tuser),
    .m_axis_mirror_meta(mirror_tx_meta),
    .reg_req(inst_req[INST_ACL_TX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_ACL_TX]), .reg_error(inst_error[INST_ACL_TX]),
    .reg_rdata(inst_rdata[INST_ACL_TX*32 +: 32]),
    .disp_valid(tx_all_valid[TX_DISP_ACL_TX]), .disp_seq(tx_all_seq[TX_DISP_ACL_TX*16 +: 16]),
    .disp_code(tx_all_code[TX_DISP_ACL_TX*8 +: 8]), .disp_queue(tx_all_queue[TX_DISP_ACL_TX*8 +: 8]),
    .now(now), .idle(slot_idle[INST_ACL_TX]), .next_deadline(slot_deadline[INST_ACL_TX*64 +: 64]),
    .ready(slot_ready[INST_ACL_TX])
);

nic_slot #(
    .BLOCK(BLOCK_TLS),
    .STATE(TLS_STATE)
) tls_tx_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(acl_tx_tdata), .s_axis_tkeep(acl_tx_tkeep), .s_axis_tvalid(acl_tx_tvalid),
    .s_axis_tready(acl_tx_tready), .s_axis_tlast(acl_tx_tlast), .s_axis_tuser(acl_tx_tuser),
    .s_axis_meta(acl_tx_meta),
    .m_axis_tdata(tls_tx_tdata), .m_axis_tkeep(tls_tx_tkeep), .m_axis_tvalid(tls_tx_tvalid),
    .m_axis_tready(tls_tx_tready), .m_axis_tlast(tls_tx_tlast), .m_axis_tuser(tls_tx_tuser),
    .m_axis_meta(tls_tx_meta),
    .reg_req(inst_req[INST_TLS_TX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_TLS_TX]), .reg_error(inst_error[INST_TLS_TX]),
    .reg_rdata(inst_rdata[INST_TLS_TX*32 +: 32]),
    .disp_valid(tx_all_valid[TX_DISP_TLS_TX]), .disp_seq(tx_all_seq[TX_DISP_TLS_TX*16 +: 16]),
    .disp_code(tx_all_code[TX_DISP_TLS_TX*8 +: 8]), .disp_queue(tx_all_queue[TX_DISP_TLS_TX*8 +: 8]),
    .now(now), .idle(slot_idle[INST_TLS_TX]), .next_deadline(slot_deadline[INST_TLS_TX*64 +: 64]),
    .ready(slot_ready[INST_TLS_TX])
);

generate
    if (IPSEC_EN != 0) begin : g_ipsec_tx
        ipsec_tx #(
            .SAS(IPSEC_SAS),
            .SM4_EN(IPSEC_SM4_EN)
        ) ipsec_tx_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(tls_tx_tdata), .s_axis_tkeep(tls_tx_tkeep), .s_axis_tvalid(tls_tx_tvalid),
            .s_axis_tready(tls_tx_tready), .s_axis_tlast(tls_tx_tlast), .s_axis_tuser(tls_tx_tuser),
            .s_axis_meta(tls_tx_meta),
            .m_axis_tdata(ipsec_tx_tdata), .m_axis_tkeep(ipsec_tx_tkeep), .m_axis_tvalid(ipsec_tx_tvalid),
            .m_axis_tready(ipsec_tx_tready), .m_axis_tlast(ipsec_tx_tlast), .m_axis_tuser(ipsec_tx_tuser),
            .m_axis_meta(ipsec_tx_meta),
            .reg_req(inst_req[INST_IPSEC_TX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_IPSEC_TX]), .reg_error(inst_error[INST_IPSEC_TX]),
            .reg_rdata(inst_rdata[INST_IPSEC_TX*32 +: 32]),
            .disp_valid(tx_all_valid[TX_DISP_IPSEC_TX]), .disp_seq(tx_all_seq[TX_DISP_IPSEC_TX*16 +: 16]),
            .disp_code(tx_all_code[TX_DISP_IPSEC_TX*8 +: 8]), .disp_queue(tx_all_queue[TX_DISP_IPSEC_TX*8 +: 8]),
            .now(now), .idle(slot_idle[INST_IPSEC_TX]), .next_deadline(slot_deadline[INST_IPSEC_TX*64 +: 64]),
            .ready(slot_ready[INST_IPSEC_TX])
        );
    end else begin : g_no_ipsec_tx
        nic_slot #(
            .BLOCK(BLOCK_IPSEC),
            .STATE(STATE_LEFT_OUT)
        ) ipsec_tx_inst (
            .clk(clk), .rst(rst),
            .s_axis_tdata(tls_tx_tdata), .s_axis_tkeep(tls_tx_tkeep), .s_axis_tvalid(tls_tx_tvalid),
            .s_axis_tready(tls_tx_tready), .s_axis_tlast(tls_tx_tlast), .s_axis_tuser(tls_tx_tuser),
            .s_axis_meta(tls_tx_meta),
            .m_axis_tdata(ipsec_tx_tdata), .m_axis_tkeep(ipsec_tx_tkeep), .m_axis_tvalid(ipsec_tx_tvalid),
            .m_axis_tready(ipsec_tx_tready), .m_axis_tlast(ipsec_tx_tlast), .m_axis_tuser(ipsec_tx_tuser),
            .m_axis_meta(ipsec_tx_meta),
            .reg_req(inst_req[INST_IPSEC_TX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
            .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_IPSEC_TX]), .reg_error(inst_error[INST_IPSEC_TX]),
            .reg_rdata(inst_rdata[INST_IPSEC_TX*32 +: 32]),
            .disp_valid(tx_all_valid[TX_DISP_IPSEC_TX]), .disp_seq(tx_all_seq[TX_DISP_IPSEC_TX*16 +: 16]),
            .disp_code(tx_all_code[TX_DISP_IPSEC_TX*8 +: 8]), .disp_queue(tx_all_queue[TX_DISP_IPSEC_TX*8 +: 8]),
            .now(now), .idle(slot_idle[INST_IPSEC_TX]), .next_deadline(slot_deadline[INST_IPSEC_TX*64 +: 64]),
            .ready(slot_ready[INST_IPSEC_TX])
        );
    end
endgenerate

// Received frames that were redirected come in here, turn by turn with transmitted ones.
axis_arb_mux #(
    .META_W(`META_W),
    .N(2)
) sched_join_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata({redirect_rx_tdata, ipsec_tx_tdata}), .s_axis_tkeep({redirect_rx_tkeep, ipsec_tx_tkeep}),
    .s_axis_tvalid({redirect_rx_tvalid, ipsec_tx_tvalid}), .s_axis_tready({redirect_rx_tready, ipsec_tx_tready}),
    .s_axis_tlast({redirect_rx_tlast, ipsec_tx_tlast}), .s_axis_tuser({redirect_rx_tuser, ipsec_tx_tuser}),
    .s_axis_meta({redirect_rx_meta, ipsec_tx_meta}),
    .m_axis_tdata(sched_join_tdata), .m_axis_tkeep(sched_join_tkeep), .m_axis_tvalid(sched_join_tvalid),
    .m_axis_tready(sched_join_tready), .m_axis_tlast(sched_join_tlast), .m_axis_tuser(sched_join_tuser),
    .m_axis_meta(sched_join_meta)
);

nic_buffer #(
    .BEATS(TX_BUFFER_BEATS),
    .FRAMES(BUFFER_FRAMES),
    .DROP_FULL(0)
) tx_sched_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(sched_join_tdata), .s_axis_tkeep(sched_join_tkeep), .s_axis_tvalid(sched_join_tvalid),
    .s_axis_tready(sched_join_tready), .s_axis_tlast(sched_join_tlast), .s_axis_tuser(sched_join_tuser),
    .s_axis_meta(sched_join_meta),
    .m_axis_tdata(tx_sched_tdata), .m_axis_tkeep(tx_sched_tkeep), .m_axis_tvalid(tx_sched_tvalid),
    .m_axis_tready(tx_sched_tready), .m_axis_tlast(tx_sched_tlast), .m_axis_tuser(tx_sched_tuser),
    .m_axis_meta(tx_sched_meta),
    .reg_req(inst_req[INST_TX_SCHED]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_TX_SCHED]), .reg_error(inst_error[INST_TX_SCHED]),
    .reg_rdata(inst_rdata[INST_TX_SCHED*32 +: 32]),
    .disp_valid(tx_sched_disp_valid), .disp_seq(tx_sched_disp_seq), .disp_code(tx_sched_disp_code),
    .disp_queue(tx_sched_disp_queue), .disp_direction(tx_sched_disp_direction),
    .now(now), .idle(slot_idle[INST_TX_SCHED]), .next_deadline(slot_deadline[INST_TX_SCHED*64 +: 64]),
    .ready(slot_ready[INST_TX_SCHED])
);

// Redirected received frames have come to where they leave: only those of tx turn round here.
wire tx_sched_redirect = tx_sched_meta[`MF_ACL_REDIRECT] && tx_sched_meta[`MF_DIRECTION];

axis_demux #(
    .META_W(`META_W),
    .N(2)
) tx_demux_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(tx_sched_tdata), .s_axis_tkeep(tx_sched_tkeep), .s_axis_tvalid(tx_sched_tvalid),
    .s_axis_tready(tx_sched_tready), .s_axis_tlast(tx_sched_tlast), .s_axis_tuser(tx_sched_tuser),
    .s_axis_meta(tx_sched_meta),
    .m_axis_tdata({redirect_tx_tdata, tx_demux_tdata}), .m_axis_tkeep({redirect_tx_tkeep, tx_demux_tkeep}),
    .m_axis_tvalid({redirect_tx_tvalid, tx_demux_tvalid}), .m_axis_tready({redirect_tx_tready, tx_demux_tready}),
    .m_axis_tlast({redirect_tx_tlast, tx_demux_tlast}), .m_axis_tuser({redirect_tx_tuser, tx_demux_tuser}),
    .m_axis_meta({redirect_tx_meta, tx_demux_meta}),
    .s_axis_dest(tx_sched_redirect), .drop_valid(tx_demux_drop_valid),
    .drop_meta(tx_demux_drop_meta)
);

nic_egress egress_tx_inst (
    .clk(clk), .rst(rst),
    .s_axis_tdata(tx_demux_tdata), .s_axis_tkeep(tx_demux_tkeep), .s_axis_tvalid(tx_demux_tvalid),
    .s_axis_tready(tx_demux_tready), .s_axis_tlast(tx_demux_tlast), .s_axis_tuser(tx_demux_tuser),
    .s_axis_meta(tx_demux_meta),
    .m_axis_tdata(egress_tx_tdata), .m_axis_tkeep(egress_tx_tkeep), .m_axis_tvalid(egress_tx_tvalid),
    .m_axis_tready(egress_tx_tready), .m_axis_tlast(egress_tx_tlast), .m_axis_tuser(egress_tx_tuser),
    .m_axis_meta(egress_tx_meta),
    .disp_rx_valid(egress_tx_rx_valid), .disp_tx_valid(egress_tx_tx_valid),
    .disp_seq(egress_tx_seq), .disp_code(egress_tx_code), .disp_queue(egress_tx_queue),
    .count_frame(tx_count_frame_out), .count_bytes(tx_count_bytes_out), .idle(egress_tx_idle)
);

nic_slot_mac_tx #(
    .EN(MAC_EN)
) mac_tx_inst (
    .clk(clk), .rst(rst),
    .tx_clk(tx_clk), .tx_rst(tx_rst), .xgmii_d(xgmii_tx_d), .xgmii_c(xgmii_tx_c),
    .wire_valid(wire_tx_valid), .wire_seq(wire_tx_seq), .wire_direction(wire_tx_direction), .wire_time(wire_tx_time),
    .local_fault(local_fault), .remote_fault(remote_fault),
    .s_axis_tdata(egress_tx_tdata), .s_axis_tkeep(egress_tx_tkeep), .s_axis_tvalid(egress_tx_tvalid),
    .s_axis_tready(egress_tx_tready), .s_axis_tlast(egress_tx_tlast), .s_axis_tuser(egress_tx_tuser),
    .s_axis_meta(egress_tx_meta),
    .m_axis_tdata(m_axis_wire_tdata), .m_axis_tkeep(m_axis_wire_tkeep), .m_axis_tvalid(m_axis_wire_tvalid),
    .m_axis_tready(m_axis_wire_tready), .m_axis_tlast(m_axis_wire_tlast), .m_axis_tuser(m_axis_wire_tuser),
    .m_axis_meta(mac_tx_meta),
    .reg_req(inst_req[INST_MAC_TX]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_MAC_TX]), .reg_error(inst_error[INST_MAC_TX]),
    .reg_rdata(inst_rdata[INST_MAC_TX*32 +: 32]),
    .disp_rx_valid(mac_tx_rx_valid), .disp_tx_valid(mac_tx_tx_valid), .disp_seq(mac_tx_seq),
    .disp_code(mac_tx_code), .disp_queue(mac_tx_queue),
    .now(now), .now_fraction(now_fraction), .idle(slot_idle[INST_MAC_TX]),
    .next_deadline(slot_deadline[INST_MAC_TX*64 +: 64]), .ready(slot_ready[INST_MAC_TX])
);

// Accounting: a frame ends in the account of the direction in which it came in; with MAC_EN at the wire by what mac_tx
// made of it.

wire wire_end_rx_valid = MAC_EN != 0 ? mac_tx_rx_valid : egress_tx_rx_valid;
wire wire_end_tx_valid = MAC_EN != 0 ? mac_tx_tx_valid : egress_tx_tx_valid;
wire [15:0] wire_end_seq = MAC_EN != 0 ? mac_tx_seq : egress_tx_seq;
wire [7:0] wire_end_code = MAC_EN != 0 ? mac_tx_code : egress_tx_code;
wire [7:0] wire_end_queue = MAC_EN != 0 ? mac_tx_queue : egress_tx_queue;

assign rx_all_valid[RX_DISP_WIRE] = wire_end_rx_valid;
assign tx_all_valid[TX_DISP_WIRE] = wire_end_tx_valid;
assign rx_all_valid[RX_DISP_TX_SCHED] = tx_sched_disp_valid && !tx_sched_disp_direction;
assign tx_all_valid[TX_DISP_TX_SCHED] = tx_sched_disp_valid && tx_sched_disp_direction;
assign rx_all_seq[RX_DISP_TX_SCHED*16 +: 16] = tx_sched_disp_seq;
assign tx_all_seq[TX_DISP_TX_SCHED*16 +: 16] = tx_sched_disp_seq;
assign rx_all_code[RX_DISP_TX_SCHED*8 +: 8] = tx_sched_disp_code;
assign tx_all_code[TX_DISP_TX_SCHED*8 +: 8] = tx_sched_disp_code;
assign rx_all_queue[RX_DISP_TX_SCHED*8 +: 8] = tx_sched_disp_queue;
assign tx_all_queue[TX_DISP_TX_SCHED*8 +: 8] = tx_sched_disp_queue;
assign rx_all_seq[RX_DISP_EGRESS_RX*16 +: 16] = egress_rx_seq;
assign tx_all_seq[TX_DISP_EGRESS_RX*16 +: 16] = egress_rx_seq;
assign rx_all_code[RX_DISP_EGRESS_RX*8 +: 8] = egress_rx_code;
assign tx_all_code[TX_DISP_EGRESS_RX*8 +: 8] = egress_rx_code;
assign rx_all_queue[RX_DISP_EGRESS_RX*8 +: 8] = egress_rx_queue;
assign tx_all_queue[TX_DISP_EGRESS_RX*8 +: 8] = egress_rx_queue;
assign rx_all_seq[RX_DISP_WIRE*16 +: 16] = wire_end_seq;
assign tx_all_seq[TX_DISP_WIRE*16 +: 16] = wire_end_seq;
assign rx_all_code[RX_DISP_WIRE*8 +: 8] = wire_end_code;
assign tx_all_code[TX_DISP_WIRE*8 +: 8] = wire_end_code;
assign rx_all_queue[RX_DISP_WIRE*8 +: 8] = wire_end_queue;
assign tx_all_queue[TX_DISP_WIRE*8 +: 8] = wire_end_queue;

nic_account #(
    .SOURCES(RX_DISPS),
    .DEEP(RX_DEEP)
) account_rx_inst (
    .clk(clk), .rst(rst),
    .s_disp_valid(rx_all_valid), .s_disp_seq(rx_all_seq), .s_disp_code(rx_all_code), .s_disp_queue(rx_all_queue),
    .m_disp_valid(rx_disp_valid), .m_disp_seq(rx_disp_seq), .m_disp_code(rx_disp_code), .m_disp_queue(rx_disp_queue),
    .table_req(rx_table_req), .table_index(rx_table_index), .table_word(rx_table_word), .table_ack(rx_table_ack),
    .table_rdata(rx_table_rdata),
    .lost(rx_account_lost), .idle(rx_account_idle), .ready(rx_account_ready)
);

nic_account #(
    .SOURCES(TX_DISPS),
    .DEEP(TX_DEEP)
) account_tx_inst (
    .clk(clk), .rst(rst),
    .s_disp_valid(tx_all_valid), .s_disp_seq(tx_all_seq), .s_disp_code(tx_all_code), .s_disp_queue(tx_all_queue),
    .m_disp_valid(tx_disp_valid), .m_disp_seq(tx_disp_seq), .m_disp_code(tx_disp_code), .m_disp_queue(tx_disp_queue),
    .table_req(tx_table_req), .table_index(tx_table_index), .table_word(tx_table_word), .table_ack(tx_table_ack),
    .table_rdata(tx_table_rdata),
    .lost(tx_account_lost), .idle(tx_account_idle), .ready(tx_account_ready)
);

// Registers.

nic_axil axil_inst (
    .clk(clk), .rst(rst),
    .s_axil_awaddr(s_axil_awaddr), .s_axil_awprot(s_axil_awprot), .s_axil_awvalid(s_axil_awvalid),
    .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata), .s_axil_wstrb(s_axil_wstrb),
    .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
    .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr),
    .s_axil_arprot(s_axil_arprot), .s_axil_arvalid(s_axil_arvalid), .s_axil_arready(s_axil_arready),
    .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
    .s_axil_rready(s_axil_rready),
    .reg_req(reg_req), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata), .reg_wstrb(reg_wstrb),
    .reg_ack(reg_ack), .reg_error(reg_error), .reg_rdata(reg_rdata),
    .idle(axil_idle)
);

nic_reg_mux #(
    .N(INSTS),
    .AT(INST_AT)
) reg_mux_inst (
    .s_reg_req(reg_req), .s_reg_addr(reg_addr),
    .s_reg_ack(reg_ack), .s_reg_error(reg_error), .s_reg_rdata(reg_rdata),
    .m_reg_req(inst_req), .m_reg_ack(inst_ack), .m_reg_error(inst_error), .m_reg_rdata(inst_rdata)
);

// The counters' inputs are wider than a beat.
wire [15:0] rx_bytes_in = {11'd0, rx_count_bytes_in};
wire [15:0] rx_bytes_out = {11'd0, rx_count_bytes_out};
wire [15:0] tx_bytes_in = {11'd0, tx_count_bytes_in};
wire [15:0] tx_bytes_out = {11'd0, tx_count_bytes_out};
wire frames_idle;

nic_regs regs_inst (
    .clk(clk), .rst(rst),
    .reg_req(inst_req[INST_NIC]), .reg_write(reg_write), .reg_addr(reg_addr[13:0]), .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb), .reg_ack(inst_ack[INST_NIC]), .reg_error(inst_error[INST_NIC]),
    .reg_rdata(inst_rdata[INST_NIC*32 +: 32]),
    .control_rx_enable(cfg_rx_enable), .control_tx_enable(cfg_tx_enable),
    .max_frame_bytes(cfg_max_frame),
    .status_idle_in(frames_idle), .status_ready_in(ready),
    .status_rx_account_lost_set(rx_account_lost), .status_tx_account_lost_set(tx_account_lost),
    .time_increment_value(cfg_time_increment), .now_ns_in(now),
    .rx_frames_in_incr(rx_count_frame_in), .rx_bytes_in_incr(rx_bytes_in),
    .rx_frames_out_incr(rx_count_frame_out), .rx_bytes_out_incr(rx_bytes_out),
    .tx_frames_in_incr(tx_count_frame_in), .tx_bytes_in_incr(tx_bytes_in),
    .tx_frames_out_incr(tx_count_frame_out), .tx_bytes_out_incr(tx_bytes_out),
    .rx_disposition_req(rx_table_req), .rx_disposition_index(rx_table_index), .rx_disposition_word(rx_table_word),
    .rx_disposition_ack(rx_table_ack), .rx_disposition_rdata(rx_table_rdata),
    .tx_disposition_req(tx_table_req), .tx_disposition_index(tx_table_index), .tx_disposition_word(tx_table_word),
    .tx_disposition_ack(tx_table_ack), .tx_disposition_rdata(tx_table_rdata)
);

// Time and state.

nic_time time_inst (
    .clk(clk), .rst(rst),
    .increment(cfg_time_increment), .advance(time_advance), .target(time_target), .target_fraction(time_target_fraction),
    .now(now), .fraction(now_fraction)
);

nic_deadline #(
    .N(SLOTS)
) deadline_inst (
    .deadlines(slot_deadline), .nearest(next_deadline)
);

reg ready_reg;

assign ready = ready_reg;

// A frame is in some register or buffer, or in the middle of coming in; then in a FIFO of nic_account.
assign frames_idle = slot_idle == {SLOTS{1'b1}} && !join_tvalid
                  && !rx_demux_tvalid && !redirect_rx_tvalid && !host_join_tvalid
                  && !sched_join_tvalid && !tx_demux_tvalid && !redirect_tx_tvalid
                  && ingress_rx_idle && egress_rx_idle && ingress_tx_idle && egress_tx_idle
                  && rx_account_idle && tx_account_idle;
assign idle = frames_idle && axil_idle;

assign m_axis_wire_seq = mac_tx_meta[`MF_SEQ];
assign m_axis_wire_direction = mac_tx_meta[`MF_DIRECTION];

wire unused_ends = &{1'b0, egress_tx_rx_valid, egress_tx_tx_valid, egress_tx_seq, egress_tx_code, egress_tx_queue,
                     mac_tx_rx_valid, mac_tx_tx_valid, mac_tx_seq, mac_tx_code, mac_tx_queue};
wire unused_meta = &{1'b0, mac_tx_meta, s_axis_host_meta, roce_gen_meta, rx_buffer_disp_direction,
                     rx_demux_drop_valid, rx_demux_drop_meta, tx_demux_drop_valid, tx_demux_drop_meta};

always @(posedge clk) begin
    ready_reg <= slot_ready == {SLOTS{1'b1}} && rx_account_ready && tx_account_ready;

    if (rst) begin
        ready_reg <= 1'b0;
    end
end

endmodule

`resetall
