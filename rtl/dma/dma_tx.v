// TLPs out (docs/dma.md, TLPs): writes and reads take turns, and in each the requesters, a TLP at a time.
//
// Latency 1 cycle from an offer to `m_tlp_valid`, a beat a cycle. A TLP begins only where its credits, and for a read a
// tag, are there; a kind that has to wait doesn't hold up the other. `x_leaves` is one cycle in which the offer was
// taken.
//
// Parameters: REQUESTERS, LINE_W.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_tx #(
    parameter REQUESTERS = 4,
    parameter LINE_W = 8
) (
    input  wire                         clk,
    input  wire                         rst,

    input  wire [15:0]                  requester_id,
    input  wire [1:0]                   mode,
    input  wire                         ro_enable,
    input  wire                         ido,
    input  wire                         ns_host,
    input  wire                         ns_bar,

    // Writes
    input  wire [REQUESTERS-1:0]        write_valid,
    input  wire [64*REQUESTERS-1:0]     write_addr,
    input  wire [13*REQUESTERS-1:0]     write_bytes,
    input  wire [REQUESTERS-1:0]        write_ro,
    input  wire [REQUESTERS-1:0]        write_target,
    input  wire [512*REQUESTERS-1:0]    write_data,
    input  wire [16*REQUESTERS-1:0]     write_keep,
    output wire [REQUESTERS-1:0]        write_leaves,
    output wire [REQUESTERS-1:0]        beat_leaves,
    output wire [REQUESTERS-1:0]        write_gone,

    // Reads
    input  wire [REQUESTERS-1:0]        read_valid,
    input  wire [64*REQUESTERS-1:0]     read_addr,
    input  wire [13*REQUESTERS-1:0]     read_bytes,
    input  wire [REQUESTERS-1:0]        read_ro,
    input  wire [REQUESTERS-1:0]        read_target,
    input  wire [LINE_W*REQUESTERS-1:0] read_line,
    input  wire [7*REQUESTERS-1:0]      read_lines,
    input  wire [7*REQUESTERS-1:0]      read_slot,
    output wire [REQUESTERS-1:0]        read_leaves,

    // Flushes
    input  wire [REQUESTERS-1:0]        flush_valid,
    input  wire [64*REQUESTERS-1:0]     flush_addr,
    input  wire [REQUESTERS-1:0]        flush_target,
    input  wire [7*REQUESTERS-1:0]      flush_slot,
    output wire [REQUESTERS-1:0]        flush_leaves,

    // dma_tags
    input  wire                         tag_valid,
    input  wire [9:0]                   tag_index,
    output wire                         tag_take,
    output wire [LINE_W+30:0]           tag_info,

    // dma_credits
    output wire [8:0]                   credit_write_data,
    input  wire                         credit_write_room,
    output wire [6:0]                   credit_read_headers,
    output wire [8:0]                   credit_read_data,
    input  wire                         credit_read_room,
    output wire                         write_sent,
    output wire                         read_sent,

    output wire                         m_tlp_valid,
    input  wire                         m_tlp_ready,
    output wire                         m_tlp_sop,
    output wire                         m_tlp_eop,
    output wire [127:0]                 m_tlp_hdr,
    output wire [511:0]                 m_tlp_data,
    output wire [15:0]                  m_tlp_keep,
    output wire [2:0]                   m_tlp_requester,

    output wire                         count_write,
    output wire                         count_read,
    output wire                         count_flush,
    output wire [12:0]                  count_bytes
);

reg valid_reg;
reg sop_reg;
reg eop_reg;
reg [127:0] hdr_reg;
reg [511:0] data_reg;
reg [15:0] keep_reg;
reg [LANE_W-1:0] requester_reg;
// A write of several beats is on its way: DWs that are left
reg [10:0] left_reg;
reg [LANE_W-1:0] write_last_reg;
reg [LANE_W-1:0] read_last_reg;
reg last_write_reg;

// Whose turn it is, of the writes and of the others
localparam [REQUESTERS-1:0] ONE = 1;
localparam LANE_W = REQUESTERS > 1 ? $clog2(REQUESTERS) : 1;
reg [LANE_W-1:0] writer;
reg [LANE_W-1:0] reader;
wire [REQUESTERS-1:0] asks = read_valid | flush_valid;
integer i;
always @* begin
    writer = {LANE_W{1'b0}};
    reader = {LANE_W{1'b0}};
    // Behind the last one first, from the far end so that the nearest wins
    for (i = REQUESTERS - 1; i >= 0; i = i - 1) begin
        if (write_valid[i] && i[LANE_W-1:0] <= write_last_reg) writer = i[LANE_W-1:0];
        if (asks[i] && i[LANE_W-1:0] <= read_last_reg) reader = i[LANE_W-1:0];
    end
    for (i = REQUESTERS - 1; i >= 0; i = i - 1) begin
        if (write_valid[i] && i[LANE_W-1:0] > write_last_reg) writer = i[LANE_W-1:0];
        if (asks[i] && i[LANE_W-1:0] > read_last_reg) reader = i[LANE_W-1:0];
    end
end

wire flushes = flush_valid[reader];
wire [63:0] w_addr = write_addr[64*writer +: 64];
wire [12:0] w_bytes = write_bytes[13*writer +: 13];
wire [63:0] r_addr = flushes ? {flush_addr[64*reader + 2 +: 62], 2'd0} : read_addr[64*reader +: 64];
wire [12:0] r_bytes = flushes ? 13'd1 : read_bytes[13*reader +: 13];
wire r_target = flushes ? flush_target[reader] : read_target[reader];
wire w_target = write_target[writer];
wire r_ro = !flushes && read_ro[reader] && ro_enable;
wire w_ro = write_ro[writer] && ro_enable;
wire [127:0] w_hdr;
wire [127:0] r_hdr;
wire [10:0] w_dws;
wire [10:0] r_dws;

dma_header write_header_inst (
    .write(1'b1),
    .none(1'b0),
    .addr(w_addr),
    .bytes(w_bytes),
    .tag(10'd0),
    .requester_id(requester_id),
    .ro(w_ro),
    .ns(w_target ? ns_bar : ns_host),
    .ido(ido),
    .hdr(w_hdr),
    .dws(w_dws)
);

dma_header read_header_inst (
    .write(1'b0),
    .none(flushes),
    .addr(r_addr),
    .bytes(r_bytes),
    .tag(mode[1] ? tag_index + 10'd256 : tag_index),
    .requester_id(requester_id),
    .ro(r_ro),
    .ns(r_target ? ns_bar : ns_host),
    .ido(ido),
    .hdr(r_hdr),
    .dws(r_dws)
);

// What a read brings back, counted at 64-byte splits
wire [4:0] to_line = 5'd16 - {1'b0, r_addr[5:2]};
wire one_line = r_dws <= {6'd0, to_line};
wire [4:0] in_line = one_line ? r_dws[4:0] : to_line;
wire [10:0] behind = one_line ? 11'd0 : r_dws - {6'd0, to_line};
wire [4:0] in_line_up = in_line + 5'd3;
wire [10:0] behind_up = behind + 11'd3;
wire [10:0] w_dws_up = w_dws + 11'd3;

assign credit_write_data = w_dws_up[10:2];
assign credit_read_headers = flushes ? 7'd1 : read_lines[7*reader +: 7];
assign credit_read_data = {6'd0, in_line_up[4:2]} + behind_up[10:2];

wire out_room = !valid_reg || m_tlp_ready;
wire goes_on = left_reg != 11'd0;
wire may_write = write_valid != {REQUESTERS{1'b0}} && credit_write_room;
wire may_read = asks != {REQUESTERS{1'b0}} && tag_valid && credit_read_room;
wire begins = out_room && !goes_on;
wire writes = begins && may_write && !(may_read && last_write_reg);
wire reads = begins && may_read && !writes;
wire continues = out_room && goes_on;
wire [LANE_W-1:0] beat_lane = goes_on ? requester_reg : writer;
wire [REQUESTERS-1:0] one_hot_write = ONE << writer;
wire [REQUESTERS-1:0] one_hot_beat = ONE << beat_lane;
wire [REQUESTERS-1:0] one_hot_read = ONE << reader;

assign write_leaves = writes ? one_hot_write : {REQUESTERS{1'b0}};
assign beat_leaves = writes || continues ? one_hot_beat : {REQUESTERS{1'b0}};
assign write_gone = valid_reg && m_tlp_ready && eop_reg && last_write_reg ? ONE << requester_reg : {REQUESTERS{1'b0}};
assign read_leaves = reads && !flushes ? one_hot_read : {REQUESTERS{1'b0}};
assign flush_leaves = reads && flushes ? one_hot_read : {REQUESTERS{1'b0}};
assign tag_take = reads;
wire [3:0] reader_number = {{(4 - LANE_W){1'b0}}, reader};
wire [3:0] requester_number = {{(4 - LANE_W){1'b0}}, requester_reg};
assign tag_info = {
    reader_number[2:0], flushes, flushes ? flush_slot[7*reader +: 7] : read_slot[7*reader +: 7],
        read_line[LINE_W*reader +: LINE_W],
    r_addr[6:0], r_bytes
};
assign write_sent = writes;
assign read_sent = reads;
assign m_tlp_valid = valid_reg;
assign m_tlp_sop = sop_reg;
assign m_tlp_eop = eop_reg;
assign m_tlp_hdr = hdr_reg;
assign m_tlp_data = data_reg;
assign m_tlp_keep = keep_reg;
assign m_tlp_requester = requester_number[2:0];
assign count_write = writes;
assign count_read = reads && !flushes;
assign count_flush = reads && flushes;
assign count_bytes = writes ? w_bytes : 13'd0;

wire unused_bits = &{1'b0, mode[0], reader_number[3], requester_number[3], in_line_up[1:0], behind_up[1:0],
    w_dws_up[1:0]};

always @(posedge clk) begin
    if (m_tlp_ready) begin
        valid_reg <= 1'b0;
    end
    if (writes || reads) begin
        valid_reg <= 1'b1;
        sop_reg <= 1'b1;
        hdr_reg <= writes ? w_hdr : r_hdr;
        eop_reg <= reads || w_dws <= 11'd16;
        left_reg <= reads || w_dws <= 11'd16 ? 11'd0 : w_dws - 11'd16;
        requester_reg <= writes ? writer : reader;
        last_write_reg <= writes;
    end
    if (writes) begin
        write_last_reg <= writer;
    end
    if (reads) begin
        read_last_reg <= reader;
        data_reg <= 512'd0;
        keep_reg <= 16'd0;
    end
    if (writes || continues) begin
        data_reg <= write_data[512*beat_lane +: 512];
        keep_reg <= write_keep[16*beat_lane +: 16];
    end
    if (continues) begin
        valid_reg <= 1'b1;
        sop_reg <= 1'b0;
        eop_reg <= left_reg <= 11'd16;
        left_reg <= left_reg <= 11'd16 ? 11'd0 : left_reg - 11'd16;
    end

    if (rst) begin
        valid_reg <= 1'b0;
        sop_reg <= 1'b0;
        eop_reg <= 1'b0;
        hdr_reg <= 128'd0;
        data_reg <= 512'd0;
        keep_reg <= 16'd0;
        requester_reg <= {LANE_W{1'b0}};
        left_reg <= 11'd0;
        write_last_reg <= {LANE_W{1'b0}};
        read_last_reg <= {LANE_W{1'b0}};
        last_write_reg <= 1'b0;
    end
end

endmodule

`resetall
