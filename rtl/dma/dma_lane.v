// One requester: its requests from the check to `done`; TLPs are offered to dma_tx, completions come from
// dma_completion.
//
// Latency: docs/dma.md, Time. Parameters: REGIONS, PAGES, LINES (of the buffer).

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_lane #(
    parameter REGIONS = 256,
    parameter PAGES = 4096,
    parameter LINES = 256,
    parameter LINE_W = $clog2(LINES)
) (
    input  wire              clk,
    input  wire              rst,

    input  wire              ready,
    input  wire              physical,
    input  wire [12:0]       mps,
    input  wire [12:0]       mrrs,

    // Tables
    input  wire              region_write,
    input  wire [7:0]        region_number,
    input  wire              page_write,
    input  wire [14:0]       page_number,
    input  wire              present,
    input  wire [23:0]       key,
    input  wire [63:0]       base,
    input  wire [63:0]       length,
    input  wire [4:0]        rights,
    input  wire              target,
    input  wire [1:0]        page_size,
    input  wire [15:0]       first,
    input  wire [63:0]       page,

    input  wire              req_valid,
    output wire              req_ready,
    input  wire              req_write,
    input  wire              req_remote,
    input  wire [31:0]       req_key,
    input  wire [63:0]       req_addr,
    input  wire [31:0]       req_len,
    input  wire [7:0]        req_id,
    input  wire              req_fence,
    input  wire              req_flush,
    input  wire              req_ro,

    input  wire [127:0]      s_axis_mem_tdata,
    input  wire [15:0]       s_axis_mem_tkeep,
    input  wire              s_axis_mem_tvalid,
    output wire              s_axis_mem_tready,
    input  wire              s_axis_mem_tlast,

    output wire [127:0]      m_axis_mem_tdata,
    output wire [15:0]       m_axis_mem_tkeep,
    output wire              m_axis_mem_tvalid,
    input  wire              m_axis_mem_tready,
    output wire              m_axis_mem_tlast,
    output wire              m_axis_mem_tuser,

    output wire              done_valid,
    input  wire              done_ready,
    output wire [7:0]        done_id,
    output wire [7:0]        done_code,

    // dma_tx
    output wire              write_valid,
    output wire [63:0]       write_addr,
    output wire [12:0]       write_bytes,
    output wire              write_ro,
    output wire              write_target,
    output wire [511:0]      write_data,
    output wire [15:0]       write_keep,
    input  wire              write_leaves,
    input  wire              beat_leaves,
    input  wire              write_gone,
    output wire              read_valid,
    output wire [63:0]       read_addr,
    output wire [12:0]       read_bytes,
    output wire              read_ro,
    output wire              read_target,
    output wire [LINE_W-1:0] read_line,
    output wire [6:0]        read_lines,
    output wire [6:0]        read_slot,
    input  wire              read_leaves,
    output wire              flush_valid,
    output wire [63:0]       flush_addr,
    output wire              flush_target,
    output wire [6:0]        flush_slot,
    input  wire              flush_leaves,

    // dma_completion, dma_timeout
    input  wire              data_write,
    input  wire [LINE_W-1:0] data_line,
    input  wire [3:0]        data_dw,
    input  wire [511:0]      data,
    input  wire [15:0]       data_keep,
    input  wire              event_valid,
    input  wire              event_flush,
    input  wire [6:0]        event_slot,
    input  wire [LINE_W-1:0] event_line,
    input  wire [12:0]       event_got,
    input  wire [3:0]        event_code,
    input  wire              event_ends,
    input  wire              late_valid,
    input  wire              late_flush,
    input  wire [6:0]        late_slot,
    input  wire [LINE_W-1:0] late_line,

    output wire [LINE_W:0]   lines_held
);

localparam [7:0] MOST = 8'd128;

// Requests under way, and of them those whose end isn't known yet
reg [7:0] taken_reg;
reg [7:0] open_reg;

wire pushed;
wire taken = req_valid && req_ready;
wire given = done_valid && done_ready;
wire hold = !ready || taken_reg == MOST;
wire alone = open_reg == 8'd1;

always @(posedge clk) begin
    taken_reg <= taken_reg + {7'd0, taken} - {7'd0, given};
    open_reg <= open_reg + {7'd0, taken} - {7'd0, pushed};

    if (rst) begin
        taken_reg <= 8'd0;
        open_reg <= 8'd0;
    end
end

wire checked_write;
wire checked_write_ready;
wire checked_read;
wire checked_read_ready;
wire [63:0] checked_addr;
wire [31:0] checked_len;
wire [7:0] checked_id;
wire [7:0] checked_code;
wire checked_flush;
wire checked_ro;
wire checked_target;
wire checked_physical;
wire [1:0] checked_page_size;
wire [14:0] checked_page;

dma_protect #(
    .REGIONS(REGIONS),
    .PAGES(PAGES)
) protect_inst (
    .clk(clk),
    .rst(rst),
    .hold(hold),
    .alone(alone),
    .physical(physical),
    .req_valid(req_valid),
    .req_ready(req_ready),
    .req_write(req_write),
    .req_remote(req_remote),
    .req_key(req_key),
    .req_addr(req_addr),
    .req_len(req_len),
    .req_id(req_id),
    .req_fence(req_fence),
    .req_flush(req_flush),
    .req_ro(req_ro),
    .region_write(region_write),
    .region_number(region_number),
    .page_write(page_write),
    .page_number(page_number),
    .present(present),
    .key(key),
    .base(base),
    .length(length),
    .rights(rights),
    .target(target),
    .page_size(page_size),
    .first(first),
    .write_valid(checked_write),
    .write_ready(checked_write_ready),
    .read_valid(checked_read),
    .read_ready(checked_read_ready),
    .out_addr(checked_addr),
    .out_len(checked_len),
    .out_id(checked_id),
    .out_code(checked_code),
    .out_flush(checked_flush),
    .out_ro(checked_ro),
    .out_target(checked_target),
    .out_physical(checked_physical),
    .out_page_size(checked_page_size),
    .out_page(checked_page)
);

// 0 writes, 1 reads: a queue of checked requests, and their TLPs
localparam CHECKED_W = 64 + 32 + 8 + 8 + 4 + 2 + 15;
wire [1:0] split_valid;
wire [1:0] split_read;
wire [63:0] split_addr [0:1];
wire [12:0] split_bytes [0:1];
wire [1:0] split_last;
wire [31:0] split_left [0:1];
wire [7:0] split_id [0:1];
wire [7:0] split_code [0:1];
wire [1:0] split_flush;
wire [1:0] split_ro;
wire [1:0] split_target;
wire [1:0] queue_room;
wire [1:0] queue_write = {checked_read && checked_read_ready, checked_write && checked_write_ready};
assign checked_write_ready = queue_room[0];
assign checked_read_ready = queue_room[1];

genvar k;
generate
    for (k = 0; k < 2; k = k + 1) begin : g_kind
        wire valid;
        wire in_ready;
        wire [63:0] addr;
        wire [31:0] len;
        wire [7:0] id;
        wire [7:0] code;
        wire flush;
        wire ro;
        wire to_bar;
        wire direct;
        wire [1:0] size;
        wire [14:0] entry;
        wire [7:0] held;
        // Room for all that may be under way: neither kind holds up the other
        assign queue_room[k] = held != 8'd128;

        word_queue #(
            .WIDTH(CHECKED_W),
            .DEPTH(128)
        ) queue_inst (
            .clk(clk),
            .rst(rst),
            .write(queue_write[k]),
            .write_data({
                checked_addr, checked_len, checked_id, checked_code, checked_flush, checked_ro, checked_target,
                checked_physical, checked_page_size, checked_page
            }),
            .valid(valid),
            .read_data({addr, len, id, code, flush, ro, to_bar, direct, size, entry}),
            .read(valid && in_ready),
            .held(held)
        );

        dma_split #(
            .PAGES(PAGES)
        ) split_inst (
            .clk(clk),
            .rst(rst),
            .most(k == 0 ? mps : mrrs),
            .page_write(page_write && present),
            .page_number(page_number),
            .page(page),
            .in_valid(valid),
            .in_ready(in_ready),
            .in_addr(addr),
            .in_len(len),
            .in_id(id),
            .in_code(code),
            .in_flush(flush),
            .in_ro(ro),
            .in_target(to_bar),
            .in_physical(direct),
            .in_page_size(size),
            .in_page(entry),
            .out_valid(split_valid[k]),
            .out_read(split_read[k]),
            .out_addr(split_addr[k]),
            .out_bytes(split_bytes[k]),
            .out_last(split_last[k]),
            .out_left(split_left[k]),
            .out_id(split_id[k]),
            .out_code(split_code[k]),
            .out_flush(split_flush[k]),
            .out_ro(split_ro[k]),
            .out_target(split_target[k])
        );
    end
endgenerate

wire entry_valid;
wire entry_tlp;
wire entry_end;
wire [7:0] entry_id;
wire [7:0] entry_code;
wire entry_flush;
// A TLP is at the output until its last beat is taken; only then does its request end
reg at_out_reg;
reg out_end_reg;
reg [7:0] out_id_reg;
reg [7:0] out_code_reg;
reg out_flush_reg;
wire end_alone = entry_valid && !entry_tlp && !at_out_reg;
wire entry_read = write_leaves || end_alone;
wire [63:0] last_byte = write_addr + {51'd0, write_bytes} - 64'd1;
reg [63:0] last_byte_reg;
reg last_target_reg;

assign write_valid = entry_valid && entry_tlp;

always @(posedge clk) begin
    if (write_leaves) begin
        last_byte_reg <= last_byte;
        last_target_reg <= write_target;
        out_end_reg <= entry_end;
        out_id_reg <= entry_id;
        out_code_reg <= entry_code;
        out_flush_reg <= entry_flush;
    end
    if (write_gone) begin
        at_out_reg <= 1'b0;
    end
    if (write_leaves) begin
        at_out_reg <= 1'b1;
    end

    if (rst) begin
        at_out_reg <= 1'b0;
        out_end_reg <= 1'b0;
    end
end

dma_write write_inst (
    .clk(clk),
    .rst(rst),
    .in_valid(split_valid[0]),
    .in_read(split_read[0]),
    .in_addr(split_addr[0]),
    .in_bytes(split_bytes[0]),
    .in_last(split_last[0]),
    .in_left(split_left[0]),
    .in_id(split_id[0]),
    .in_code(split_code[0]),
    .in_flush(split_flush[0]),
    .in_ro(split_ro[0]),
    .in_target(split_target[0]),
    .s_axis_tdata(s_axis_mem_tdata),
    .s_axis_tkeep(s_axis_mem_tkeep),
    .s_axis_tvalid(s_axis_mem_tvalid),
    .s_axis_tready(s_axis_mem_tready),
    .s_axis_tlast(s_axis_mem_tlast),
    .out_valid(entry_valid),
    .out_read(entry_read),
    .out_tlp(entry_tlp),
    .out_end(entry_end),
    .out_addr(write_addr),
    .out_bytes(write_bytes),
    .out_ro(write_ro),
    .out_target(write_target),
    .out_id(entry_id),
    .out_code(entry_code),
    .out_flush(entry_flush),
    .beat_data(write_data),
    .beat_keep(write_keep),
    .beat_read(beat_leaves)
);

wire [6:0] slot;
wire faulted;
wire record_write;
wire record_data;
wire record_frame;
wire lines_free;
wire [6:0] lines_freed;

assign read_addr = split_addr[1];
assign read_bytes = split_bytes[1];
assign read_ro = split_ro[1];
assign read_target = split_target[1];
assign read_slot = slot;

wire unused_bits = &{1'b0, split_flush[1]};

dma_read #(
    .LINES(LINES)
) read_inst (
    .clk(clk),
    .rst(rst),
    .in_valid(split_valid[1]),
    .in_read(split_read[1]),
    .in_addr(split_addr[1]),
    .in_bytes(split_bytes[1]),
    .in_last(split_last[1]),
    .in_left(split_left[1]),
    .slot(slot),
    .faulted(faulted),
    .tlp_valid(read_valid),
    .tlp_leaves(read_leaves),
    .tlp_line(read_line),
    .tlp_lines(read_lines),
    .record_write(record_write),
    .record_data(record_data),
    .record_frame(record_frame),
    .lines_free(lines_free),
    .lines_freed(lines_freed),
    .lines_held(lines_held)
);

wire read_end;
wire [7:0] read_end_id;
wire [7:0] read_end_code;

dma_buffer #(
    .LINES(LINES)
) buffer_inst (
    .clk(clk),
    .rst(rst),
    .record_write(record_write),
    .record_data(record_data),
    .record_frame(record_frame),
    .record_last(split_last[1]),
    .record_offset(split_addr[1][5:0]),
    .record_bytes(split_bytes[1]),
    .record_line(read_line),
    .record_lines(read_lines),
    .record_id(split_id[1]),
    .record_code(split_code[1]),
    .record_slot(slot),
    .faulted(faulted),
    .write(data_write),
    .write_line(data_line),
    .write_dw(data_dw),
    .write_data(data),
    .write_keep(data_keep),
    .event_valid(event_valid && !event_flush),
    .event_line(event_line),
    .event_got(event_got),
    .event_code(event_code),
    .event_slot(event_slot),
    .event_ends(event_ends),
    .late_valid(late_valid && !late_flush),
    .late_line(late_line),
    .late_slot(late_slot),
    .lines_free(lines_free),
    .lines_freed(lines_freed),
    .m_axis_tdata(m_axis_mem_tdata),
    .m_axis_tkeep(m_axis_mem_tkeep),
    .m_axis_tvalid(m_axis_mem_tvalid),
    .m_axis_tready(m_axis_mem_tready),
    .m_axis_tlast(m_axis_mem_tlast),
    .m_axis_tuser(m_axis_mem_tuser),
    .done_write(read_end),
    .done_id(read_end_id),
    .done_code(read_end_code)
);

dma_done done_inst (
    .clk(clk),
    .rst(rst),
    .write_end(end_alone || (write_gone && out_end_reg)),
    .write_id(end_alone ? entry_id : out_id_reg),
    .write_code(end_alone ? entry_code : out_code_reg),
    .write_flush(end_alone ? entry_flush : out_flush_reg),
    .write_last_addr(last_byte_reg),
    .write_target(last_target_reg),
    .flush_valid(flush_valid),
    .flush_leaves(flush_leaves),
    .flush_addr(flush_addr),
    .flush_target(flush_target),
    .flush_slot(flush_slot),
    .answer_valid(event_valid && event_flush && event_ends),
    .answer_slot(event_slot),
    .answer_code(event_code),
    .late_valid(late_valid && late_flush),
    .late_slot(late_slot),
    .read_end(read_end),
    .read_id(read_end_id),
    .read_code(read_end_code),
    .pushed(pushed),
    .done_valid(done_valid),
    .done_ready(done_ready),
    .done_id(done_id),
    .done_code(done_code)
);

endmodule

`resetall
