// DMA: what the blocks ask of host memory, as PCIe transactions (docs/dma.md).
//
// Latency, throughput, ports and parameters: docs/dma.md, Time and Ports. A requester is a dma_lane; they share the
// tags, the credits and the way out and in.
//
// Parameters: REQUESTERS (1 to 8), REGIONS (at most 256), PAGES (at most 32,768), BUFFER bytes of a requester's reads
// (a power of two, at least MRRS + 64), CPLH and CPLD, bounds of completions (0: none).

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma #(
    parameter REQUESTERS = 4,
    parameter REGIONS = 256,
    parameter PAGES = 4096,
    parameter BUFFER = 16384,
    parameter CPLH = 0,
    parameter CPLD = 0
) (
    input  wire                          clk,
    input  wire                          rst,

    input  wire [63:0]                   now,
    output wire                          ready,

    input  wire                          reg_req,
    input  wire                          reg_write,
    input  wire [13:0]                   reg_addr,
    input  wire [31:0]                   reg_wdata,
    input  wire [3:0]                    reg_wstrb,
    output wire                          reg_ack,
    output wire                          reg_error,
    output wire [31:0]                   reg_rdata,

    input  wire [REQUESTERS-1:0]         req_valid,
    output wire [REQUESTERS-1:0]         req_ready,
    input  wire [REQUESTERS-1:0]         req_write,
    input  wire [REQUESTERS-1:0]         req_remote,
    input  wire [32*REQUESTERS-1:0]      req_key,
    input  wire [64*REQUESTERS-1:0]      req_addr,
    input  wire [32*REQUESTERS-1:0]      req_len,
    input  wire [8*REQUESTERS-1:0]       req_id,
    input  wire [REQUESTERS-1:0]         req_fence,
    input  wire [REQUESTERS-1:0]         req_flush,
    input  wire [REQUESTERS-1:0]         req_ro,

    input  wire [128*REQUESTERS-1:0]     s_axis_mem_tdata,
    input  wire [16*REQUESTERS-1:0]      s_axis_mem_tkeep,
    input  wire [REQUESTERS-1:0]         s_axis_mem_tvalid,
    output wire [REQUESTERS-1:0]         s_axis_mem_tready,
    input  wire [REQUESTERS-1:0]         s_axis_mem_tlast,

    output wire [128*REQUESTERS-1:0]     m_axis_mem_tdata,
    output wire [16*REQUESTERS-1:0]      m_axis_mem_tkeep,
    output wire [REQUESTERS-1:0]         m_axis_mem_tvalid,
    input  wire [REQUESTERS-1:0]         m_axis_mem_tready,
    output wire [REQUESTERS-1:0]         m_axis_mem_tlast,
    output wire [REQUESTERS-1:0]         m_axis_mem_tuser,

    output wire [REQUESTERS-1:0]         done_valid,
    input  wire [REQUESTERS-1:0]         done_ready,
    output wire [8*REQUESTERS-1:0]       done_id,
    output wire [8*REQUESTERS-1:0]       done_code,

    output wire                          m_tlp_valid,
    input  wire                          m_tlp_ready,
    output wire                          m_tlp_sop,
    output wire                          m_tlp_eop,
    output wire [127:0]                  m_tlp_hdr,
    output wire [511:0]                  m_tlp_data,
    output wire [15:0]                   m_tlp_keep,
    output wire [2:0]                    m_tlp_requester,

    input  wire                          s_tlp_valid,
    input  wire                          s_tlp_sop,
    input  wire                          s_tlp_eop,
    input  wire [127:0]                  s_tlp_hdr,
    input  wire [511:0]                  s_tlp_data,
    input  wire [15:0]                   s_tlp_keep,

    input  wire [7:0]                    fc_ph_limit,
    input  wire [11:0]                   fc_pd_limit,
    input  wire [7:0]                    fc_nph_limit,
    input  wire [11:0]                   fc_npd_limit,
    input  wire                          fc_ph_infinite,
    input  wire                          fc_pd_infinite,
    input  wire                          fc_nph_infinite,
    input  wire                          fc_npd_infinite
);

localparam LINES = BUFFER / 64;
localparam LINE_W = $clog2(LINES);
localparam INFO_W = LINE_W + 31;
wire [31:0] built_requesters = REQUESTERS;
wire [31:0] built_regions = REGIONS;
wire [31:0] built_pages = PAGES;

wire unused_bits = &{1'b0, now[63:33], fc_npd_limit, fc_npd_infinite, physical, built_requesters,
    built_regions, built_pages};

// Registers
wire [2:0] mps;
wire [2:0] mrrs;
wire rcb;
wire [1:0] mode;
wire ro_enable;
wire ido;
wire ns_host;
wire ns_bar;
wire [15:0] requester_id;
wire [31:0] limit;
wire [7:0] physical;
wire command_req;
wire command_write;
wire [31:0] command_wdata;
wire [3:0] command_wstrb;
wire command_ack;
wire [31:0] command_rdata;
wire [31:0] key;
wire [4:0] rights;
wire target;
wire [1:0] page_size;
wire [15:0] first;
wire [63:0] base;
wire [63:0] length;
wire [63:0] page;

wire [10:0] tags_held;
wire [15:0] lines_held;
wire count_write;
wire count_read;
wire count_flush;
wire [12:0] count_write_bytes;
wire [12:0] count_read_bytes;
wire count_completion;
wire count_unexpected;
reg [3:0] count_requests;
reg [63:0] count_done;
integer i;
integer j;
integer n;
always @* begin
    count_requests = 4'd0;
    count_done = 64'd0;
    for (i = 0; i < REQUESTERS; i = i + 1) begin
        count_requests = count_requests + {3'd0, req_valid[i] && req_ready[i]};
        for (n = 0; n < 16; n = n + 1) begin
            count_done[4*n +: 4] = count_done[4*n +: 4]
                + {3'd0, done_valid[i] && done_ready[i] && done_code[8*i +: 8] == n[7:0]};
        end
    end
end

dma_regs regs_inst (
    .clk(clk),
    .rst(rst),
    .reg_req(reg_req),
    .reg_write(reg_write),
    .reg_addr(reg_addr),
    .reg_wdata(reg_wdata),
    .reg_wstrb(reg_wstrb),
    .reg_ack(reg_ack),
    .reg_error(reg_error),
    .reg_rdata(reg_rdata),
    .size_requesters_in(built_requesters[3:0]),
    .size_regions_in(built_regions[11:0]),
    .size_pages_in(built_pages[15:0]),
    .control_mps(mps),
    .control_mrrs(mrrs),
    .control_rcb(rcb),
    .control_tags(mode),
    .control_ro(ro_enable),
    .control_ido(ido),
    .control_ns_host(ns_host),
    .control_ns_bar(ns_bar),
    .requester_id_rid(requester_id),
    .timeout_ns(limit),
    .physical_on(physical),
    .command_req(command_req),
    .command_write(command_write),
    .command_wdata(command_wdata),
    .command_wstrb(command_wstrb),
    .command_ack(command_ack),
    .command_rdata(command_rdata),
    .key_value(key),
    .form_rights(rights),
    .form_target(target),
    .form_page_size(page_size),
    .form_first(first),
    .base_value(base),
    .length_value(length),
    .page_value(page),
    .requests_incr({9'd0, count_requests}),
    .done_ok_incr({9'd0, count_done[0 +: 4]}),
    .done_no_region_incr({9'd0, count_done[4 +: 4]}),
    .done_bounds_incr({9'd0, count_done[8 +: 4]}),
    .done_rights_incr({9'd0, count_done[12 +: 4]}),
    .done_no_page_incr({9'd0, count_done[16 +: 4]}),
    .done_bad_length_incr({9'd0, count_done[20 +: 4]}),
    .done_unsupported_incr({9'd0, count_done[32 +: 4]}),
    .done_aborted_incr({9'd0, count_done[36 +: 4]}),
    .done_poisoned_incr({9'd0, count_done[40 +: 4]}),
    .done_timeout_incr({9'd0, count_done[44 +: 4]}),
    .done_bad_count_incr({9'd0, count_done[48 +: 4]}),
    .done_bad_address_incr({9'd0, count_done[52 +: 4]}),
    .done_short_incr({9'd0, count_done[56 +: 4]}),
    .write_tlps_incr({12'd0, count_write}),
    .read_tlps_incr({12'd0, count_read}),
    .flush_tlps_incr({12'd0, count_flush}),
    .write_bytes_incr(count_write_bytes),
    .read_bytes_incr(count_read_bytes),
    .completions_incr({12'd0, count_completion}),
    .unexpected_incr({12'd0, count_unexpected}),
    .held_tags_in(tags_held),
    .held_lines_in(lines_held)
);

wire region_write;
wire [7:0] region_number;
wire page_write;
wire [14:0] page_number;
wire present;

dma_command #(
    .REGIONS(REGIONS),
    .PAGES(PAGES)
) command_inst (
    .clk(clk),
    .rst(rst),
    .command_req(command_req),
    .command_write(command_write),
    .command_wdata(command_wdata),
    .command_wstrb(command_wstrb),
    .command_ack(command_ack),
    .command_rdata(command_rdata),
    .key_low(key[7:0]),
    .ready(ready),
    .region_write(region_write),
    .region_number(region_number),
    .page_write(page_write),
    .page_number(page_number),
    .present(present)
);

wire [12:0] mps_bytes = 13'd128 << (mps > 3'd5 ? 3'd5 : mps);
wire [12:0] mrrs_bytes = 13'd128 << (mrrs > 3'd5 ? 3'd5 : mrrs);

// Requesters
wire [REQUESTERS-1:0] write_valid;
wire [64*REQUESTERS-1:0] write_addr;
wire [13*REQUESTERS-1:0] write_bytes;
wire [REQUESTERS-1:0] write_ro;
wire [REQUESTERS-1:0] write_target;
wire [512*REQUESTERS-1:0] write_data;
wire [16*REQUESTERS-1:0] write_keep;
wire [REQUESTERS-1:0] write_leaves;
wire [REQUESTERS-1:0] beat_leaves;
wire [REQUESTERS-1:0] write_gone;
wire [REQUESTERS-1:0] read_valid;
wire [64*REQUESTERS-1:0] read_addr;
wire [13*REQUESTERS-1:0] read_bytes;
wire [REQUESTERS-1:0] read_ro;
wire [REQUESTERS-1:0] read_target;
wire [LINE_W*REQUESTERS-1:0] read_line;
wire [7*REQUESTERS-1:0] read_lines;
wire [7*REQUESTERS-1:0] read_slot;
wire [REQUESTERS-1:0] read_leaves;
wire [REQUESTERS-1:0] flush_valid;
wire [64*REQUESTERS-1:0] flush_addr;
wire [REQUESTERS-1:0] flush_target;
wire [7*REQUESTERS-1:0] flush_slot;
wire [REQUESTERS-1:0] flush_leaves;
wire data_write;
wire [2:0] event_requester;
wire [LINE_W-1:0] data_line;
wire [3:0] data_dw;
wire [511:0] data;
wire [15:0] data_keep;
wire event_valid;
wire event_flush;
wire [6:0] event_slot;
wire [LINE_W-1:0] event_line;
wire [12:0] event_got;
wire [3:0] event_code;
wire event_ends;
wire expires;
wire [INFO_W+15:0] scan_info;
wire [2:0] late_requester = scan_info[INFO_W-1 -: 3];
wire late_flush = scan_info[INFO_W-4];
wire [6:0] late_slot = scan_info[INFO_W-5 -: 7];
wire [LINE_W-1:0] late_line = scan_info[20 +: LINE_W];
wire [(LINE_W+1)*REQUESTERS-1:0] lane_lines;
reg [15:0] all_lines;

assign lines_held = all_lines;

always @* begin
    all_lines = 16'd0;
    for (j = 0; j < REQUESTERS; j = j + 1) begin
        all_lines = all_lines + {{(15 - LINE_W){1'b0}}, lane_lines[(LINE_W+1)*j +: LINE_W + 1]};
    end
end

genvar r;
generate
    for (r = 0; r < REQUESTERS; r = r + 1) begin : g_lane
        localparam [2:0] LANE = r;

        dma_lane #(
            .REGIONS(REGIONS),
            .PAGES(PAGES),
            .LINES(LINES)
        ) lane_inst (
            .clk(clk),
            .rst(rst),
            .ready(ready),
            .physical(physical[r]),
            .mps(mps_bytes),
            .mrrs(mrrs_bytes),
            .region_write(region_write),
            .region_number(region_number),
            .page_write(page_write),
            .page_number(page_number),
            .present(present),
            .key(key[31:8]),
            .base(base),
            .length(length),
            .rights(rights),
            .target(target),
            .page_size(page_size),
            .first(first),
            .page(page),
            .req_valid(req_valid[r]),
            .req_ready(req_ready[r]),
            .req_write(req_write[r]),
            .req_remote(req_remote[r]),
            .req_key(req_key[32*r +: 32]),
            .req_addr(req_addr[64*r +: 64]),
            .req_len(req_len[32*r +: 32]),
            .req_id(req_id[8*r +: 8]),
            .req_fence(req_fence[r]),
            .req_flush(req_flush[r]),
            .req_ro(req_ro[r]),
            .s_axis_mem_tdata(s_axis_mem_tdata[128*r +: 128]),
            .s_axis_mem_tkeep(s_axis_mem_tkeep[16*r +: 16]),
            .s_axis_mem_tvalid(s_axis_mem_tvalid[r]),
            .s_axis_mem_tready(s_axis_mem_tready[r]),
            .s_axis_mem_tlast(s_axis_mem_tlast[r]),
            .m_axis_mem_tdata(m_axis_mem_tdata[128*r +: 128]),
            .m_axis_mem_tkeep(m_axis_mem_tkeep[16*r +: 16]),
            .m_axis_mem_tvalid(m_axis_mem_tvalid[r]),
            .m_axis_mem_tready(m_axis_mem_tready[r]),
            .m_axis_mem_tlast(m_axis_mem_tlast[r]),
            .m_axis_mem_tuser(m_axis_mem_tuser[r]),
            .done_valid(done_valid[r]),
            .done_ready(done_ready[r]),
            .done_id(done_id[8*r +: 8]),
            .done_code(done_code[8*r +: 8]),
            .write_valid(write_valid[r]),
            .write_addr(write_addr[64*r +: 64]),
            .write_bytes(write_bytes[13*r +: 13]),
            .write_ro(write_ro[r]),
            .write_target(write_target[r]),
            .write_data(write_data[512*r +: 512]),
            .write_keep(write_keep[16*r +: 16]),
            .write_leaves(write_leaves[r]),
            .beat_leaves(beat_leaves[r]),
            .write_gone(write_gone[r]),
            .read_valid(read_valid[r]),
            .read_addr(read_addr[64*r +: 64]),
            .read_bytes(read_bytes[13*r +: 13]),
            .read_ro(read_ro[r]),
            .read_target(read_target[r]),
            .read_line(read_line[LINE_W*r +: LINE_W]),
            .read_lines(read_lines[7*r +: 7]),
            .read_slot(read_slot[7*r +: 7]),
            .read_leaves(read_leaves[r]),
            .flush_valid(flush_valid[r]),
            .flush_addr(flush_addr[64*r +: 64]),
            .flush_target(flush_target[r]),
            .flush_slot(flush_slot[7*r +: 7]),
            .flush_leaves(flush_leaves[r]),
            .data_write(data_write && event_requester == LANE),
            .data_line(data_line),
            .data_dw(data_dw),
            .data(data),
            .data_keep(data_keep),
            .event_valid(event_valid && event_requester == LANE),
            .event_flush(event_flush),
            .event_slot(event_slot),
            .event_line(event_line),
            .event_got(event_got),
            .event_code(event_code),
            .event_ends(event_ends),
            .late_valid(expires && late_requester == LANE),
            .late_flush(late_flush),
            .late_slot(late_slot),
            .late_line(late_line),
            .lines_held(lane_lines[(LINE_W+1)*r +: LINE_W + 1])
        );
    end
endgenerate

// What the requesters share
wire free_valid;
wire [9:0] free_index;
wire tag_take;
wire [INFO_W-1:0] tag_info;
wire [9:0] index;
wire index_used;
wire [INFO_W+15:0] index_info;
wire index_free;
wire index_rest;
wire [9:0] scan;
wire scan_used;
wire scan_rests;
wire [32:0] scan_since;
wire rested;
wire [9:0] most;
wire busy;
wire [8:0] credit_write_data;
wire credit_write_room;
wire [6:0] credit_read_headers;
wire [8:0] credit_read_data;
wire credit_read_room;
wire write_sent;
wire read_sent;
wire stall_used = busy && (index == scan || (event_valid && event_code != 4'd0));

dma_tx #(
    .REQUESTERS(REQUESTERS),
    .LINE_W(LINE_W)
) tx_inst (
    .clk(clk),
    .rst(rst),
    .requester_id(requester_id),
    .mode(mode),
    .ro_enable(ro_enable),
    .ido(ido),
    .ns_host(ns_host),
    .ns_bar(ns_bar),
    .write_valid(write_valid),
    .write_addr(write_addr),
    .write_bytes(write_bytes),
    .write_ro(write_ro),
    .write_target(write_target),
    .write_data(write_data),
    .write_keep(write_keep),
    .write_leaves(write_leaves),
    .beat_leaves(beat_leaves),
    .write_gone(write_gone),
    .read_valid(read_valid),
    .read_addr(read_addr),
    .read_bytes(read_bytes),
    .read_ro(read_ro),
    .read_target(read_target),
    .read_line(read_line),
    .read_lines(read_lines),
    .read_slot(read_slot),
    .read_leaves(read_leaves),
    .flush_valid(flush_valid),
    .flush_addr(flush_addr),
    .flush_target(flush_target),
    .flush_slot(flush_slot),
    .flush_leaves(flush_leaves),
    .tag_valid(free_valid),
    .tag_index(free_index),
    .tag_take(tag_take),
    .tag_info(tag_info),
    .credit_write_data(credit_write_data),
    .credit_write_room(credit_write_room),
    .credit_read_headers(credit_read_headers),
    .credit_read_data(credit_read_data),
    .credit_read_room(credit_read_room),
    .write_sent(write_sent),
    .read_sent(read_sent),
    .m_tlp_valid(m_tlp_valid),
    .m_tlp_ready(m_tlp_ready),
    .m_tlp_sop(m_tlp_sop),
    .m_tlp_eop(m_tlp_eop),
    .m_tlp_hdr(m_tlp_hdr),
    .m_tlp_data(m_tlp_data),
    .m_tlp_keep(m_tlp_keep),
    .m_tlp_requester(m_tlp_requester),
    .count_write(count_write),
    .count_read(count_read),
    .count_flush(count_flush),
    .count_bytes(count_write_bytes)
);

dma_credits #(
    .CPLH(CPLH),
    .CPLD(CPLD)
) credits_inst (
    .clk(clk),
    .rst(rst),
    .ph_limit(fc_ph_limit),
    .pd_limit(fc_pd_limit),
    .nph_limit(fc_nph_limit),
    .ph_infinite(fc_ph_infinite),
    .pd_infinite(fc_pd_infinite),
    .nph_infinite(fc_nph_infinite),
    .write_data(credit_write_data),
    .write_room(credit_write_room),
    .read_headers(credit_read_headers),
    .read_data(credit_read_data),
    .read_room(credit_read_room),
    .write_sent(write_sent),
    .read_sent(read_sent),
    .read_free(index_free || rested),
    .free_headers(index_free ? index_info[INFO_W+9 +: 7] : scan_info[INFO_W+9 +: 7]),
    .free_data(index_free ? index_info[INFO_W +: 9] : scan_info[INFO_W +: 9])
);

dma_tags #(
    .INFO_W(INFO_W + 16)
) tags_inst (
    .clk(clk),
    .rst(rst),
    .mode(mode),
    .now(now[32:0]),
    .free_valid(free_valid),
    .free_index(free_index),
    .take(tag_take),
    .take_info({credit_read_headers, credit_read_data, tag_info}),
    .index(index),
    .index_used(index_used),
    .index_info(index_info),
    .index_free(index_free),
    .index_rest(index_rest),
    .scan(scan),
    .scan_used(scan_used),
    .scan_rests(scan_rests),
    .scan_since(scan_since),
    .scan_info(scan_info),
    .scan_rest(expires),
    .scan_free(rested),
    .most(most),
    .held(tags_held)
);

dma_timeout timeout_inst (
    .clk(clk),
    .rst(rst),
    .now(now[32:0]),
    .limit(limit),
    .most(most),
    .scan(scan),
    .scan_used(scan_used),
    .scan_rests(scan_rests),
    .scan_since(scan_since),
    .stall_used(stall_used),
    .stall_rests(index_free || index_rest),
    .expires(expires),
    .rested(rested)
);

dma_completion #(
    .LINE_W(LINE_W)
) completion_inst (
    .clk(clk),
    .rst(rst),
    .requester_id(requester_id),
    .mode(mode),
    .rcb(rcb),
    .s_tlp_valid(s_tlp_valid),
    .s_tlp_sop(s_tlp_sop),
    .s_tlp_eop(s_tlp_eop),
    .s_tlp_hdr(s_tlp_hdr),
    .s_tlp_data(s_tlp_data),
    .s_tlp_keep(s_tlp_keep),
    .index(index),
    .index_used(index_used),
    .index_info(index_info[INFO_W-1:0]),
    .index_free(index_free),
    .index_rest(index_rest),
    .take(tag_take),
    .take_index(free_index),
    .write(data_write),
    .requester(event_requester),
    .write_line(data_line),
    .write_dw(data_dw),
    .write_data(data),
    .write_keep(data_keep),
    .event_valid(event_valid),
    .event_flush(event_flush),
    .event_slot(event_slot),
    .event_line(event_line),
    .event_got(event_got),
    .event_code(event_code),
    .event_ends(event_ends),
    .busy(busy),
    .count_completion(count_completion),
    .count_unexpected(count_unexpected),
    .count_bytes(count_read_bytes)
);

endmodule

`resetall
