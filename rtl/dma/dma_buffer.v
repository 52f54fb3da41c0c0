// What reads bring back (docs/dma.md, Buffer): kept in lines of 64 bytes, given out in the order of the reads, 128 bits
// a beat from byte 0.
//
// Latency 4 cycles from the completion's last beat at `write` and `event` to the first beat out; a beat a cycle. A
// request that fails ends its frame at once and is done when none of its TLPs is under way.
//
// Parameters: LINES. A TLP is known by its first line.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_buffer #(
    parameter LINES = 256,
    parameter LINE_W = $clog2(LINES)
) (
    input  wire              clk,
    input  wire              rst,

    // Reads in order
    input  wire              record_write,
    input  wire              record_data,
    input  wire              record_frame,
    input  wire              record_last,
    input  wire [5:0]        record_offset,
    input  wire [12:0]       record_bytes,
    input  wire [LINE_W-1:0] record_line,
    input  wire [6:0]        record_lines,
    input  wire [7:0]        record_id,
    input  wire [7:0]        record_code,
    input  wire [6:0]        record_slot,
    output wire              faulted,

    // Data of completions: DW 0 belongs to DW `write_dw` of the line
    input  wire              write,
    input  wire [LINE_W-1:0] write_line,
    input  wire [3:0]        write_dw,
    input  wire [511:0]      write_data,
    input  wire [15:0]       write_keep,

    // What became of a TLP: bytes so far, a fault (0: none), its end
    input  wire              event_valid,
    input  wire [LINE_W-1:0] event_line,
    input  wire [12:0]       event_got,
    input  wire [3:0]        event_code,
    input  wire [6:0]        event_slot,
    input  wire              event_ends,
    input  wire              late_valid,
    input  wire [LINE_W-1:0] late_line,
    input  wire [6:0]        late_slot,

    output wire              lines_free,
    output wire [6:0]        lines_freed,

    output wire [127:0]      m_axis_tdata,
    output wire [15:0]       m_axis_tkeep,
    output wire              m_axis_tvalid,
    input  wire              m_axis_tready,
    output wire              m_axis_tlast,
    output wire              m_axis_tuser,

    // One cycle an end, never waits
    output wire              done_write,
    output wire [7:0]        done_id,
    output wire [7:0]        done_code
);

localparam RECORD_W = 3 + 6 + 13 + LINE_W + 7 + 8 + 8 + 7;
localparam RECORDS = LINES < 128 ? 256 : 2 * LINES;
localparam [3:0] TIMEOUT = 4'd11;

// Faults of requests, ends and bytes of TLPs
reg [127:0] faulted_reg;
reg [3:0] fault_mem [0:127];
reg [LINES-1:0] ended_reg;
reg [12:0] got_mem [0:LINES-1];

wire head_valid;
wire head_data;
wire head_frame;
wire head_last;
wire [5:0] head_offset;
wire [12:0] head_bytes;
wire [LINE_W-1:0] head_line;
wire [6:0] head_lines;
wire [7:0] head_id;
wire [7:0] head_code;
wire [6:0] head_slot;
wire head_read;

wire [$clog2(RECORDS):0] records_held;
wire unused_records_held = &{1'b0, records_held};
word_queue #(
    .WIDTH(RECORD_W),
    .DEPTH(RECORDS)
) records_inst (
    .clk(clk),
    .rst(rst),
    .write(record_write),
    .write_data({
        record_data, record_frame, record_last, record_offset, record_bytes, record_line, record_lines, record_id,
        record_code, record_slot
    }),
    .valid(head_valid),
    .read_data({
        head_data, head_frame, head_last, head_offset, head_bytes, head_line, head_lines, head_id, head_code, head_slot
    }),
    .read(head_read),
    .held(records_held)
);

// Pieces of 16 bytes of a line, at most one a cycle
reg [12:0] given_reg;
reg failed_reg;
reg piece_valid_reg;
reg [3:0] piece_start_reg;
reg [4:0] piece_bytes_reg;
reg piece_error_reg;
reg piece_last_reg;
reg piece_done_reg;
reg [7:0] piece_id_reg;
reg [7:0] piece_code_reg;
reg [1:0] piece_quarter_reg;

wire [2:0] pieces_held;
wire room = pieces_held + {2'd0, piece_valid_reg} < 3'd4;
wire [7:0] fault = head_code != 8'd0 ? head_code : faulted_reg[head_slot] ? {4'd0, fault_mem[head_slot]} : 8'd0;
wire [4:0] marks_held;
wire marks_room = marks_held != 5'd16;
wire works = head_valid && room && marks_room;
wire fails = works && fault != 8'd0 && !failed_reg;
wire drains = works && failed_reg && (!head_data || ended_reg[head_line]);
wire empty = works && fault == 8'd0 && !failed_reg && !head_data;
wire [12:0] place = {7'd0, head_offset} + given_reg;
wire [4:0] to_edge = 5'd16 - {1'b0, place[3:0]};
wire [12:0] left = head_bytes - given_reg;
wire whole = left <= {8'd0, to_edge};
wire [4:0] bytes = whole ? left[4:0] : to_edge;
wire there = got_mem[head_line] >= given_reg + {8'd0, bytes};
wire gives = works && fault == 8'd0 && !failed_reg && head_data && there;
wire pops = drains || empty || (gives && whole);
wire [LINE_W+6:0] place_line = {{LINE_W{1'b0}}, place[12:6]};
wire [LINE_W-1:0] read_line = head_line + place_line[LINE_W-1:0];

assign head_read = pops;
assign faulted = faulted_reg[record_slot];

wire unused_bits = &{1'b0, place_line[LINE_W+6:LINE_W]};

always @(posedge clk) begin
    piece_valid_reg <= (fails && head_frame) || (drains && head_last) || empty || gives;
    piece_start_reg <= place[3:0];
    piece_bytes_reg <= gives ? bytes : 5'd0;
    piece_error_reg <= fails;
    piece_last_reg <= gives && whole && head_last;
    piece_done_reg <= pops && head_last;
    piece_id_reg <= head_id;
    piece_code_reg <= fault;
    piece_quarter_reg <= place[5:4];
    if (gives) begin
        given_reg <= given_reg + {8'd0, bytes};
    end
    if (fails) begin
        failed_reg <= 1'b1;
    end
    if (pops) begin
        given_reg <= 13'd0;
        if (head_last) begin
            failed_reg <= 1'b0;
        end
    end

    if (rst) begin
        piece_valid_reg <= 1'b0;
        given_reg <= 13'd0;
        failed_reg <= 1'b0;
    end
end

always @(posedge clk) begin
    if (record_write && record_data) begin
        got_mem[record_line] <= 13'd0;
        ended_reg[record_line] <= 1'b0;
    end
    if (pops && head_last) begin
        faulted_reg[head_slot] <= 1'b0;
    end
    if (event_valid) begin
        got_mem[event_line] <= event_got;
        if (event_ends) begin
            ended_reg[event_line] <= 1'b1;
        end
        if (event_code != 4'd0 && !faulted_reg[event_slot]) begin
            faulted_reg[event_slot] <= 1'b1;
            fault_mem[event_slot] <= event_code;
        end
    end
    if (late_valid) begin
        ended_reg[late_line] <= 1'b1;
        if (!faulted_reg[late_slot]) begin
            faulted_reg[late_slot] <= 1'b1;
            fault_mem[late_slot] <= TIMEOUT;
        end
    end

    if (rst) begin
        faulted_reg <= 128'd0;
        ended_reg <= {LINES{1'b0}};
    end
end

// The lines: 16 memories of a DW, so that a beat may begin anywhere in a line
wire [511:0] line_q;
genvar b;
generate
    for (b = 0; b < 16; b = b + 1) begin : g_bank
        localparam [3:0] BANK = b;
        reg [31:0] mem [0:LINES-1];
        reg [31:0] q_reg;
        // The DW of the beat, and whether it lies in the next line
        wire [4:0] distance = {1'b0, BANK} - {1'b0, write_dw};
        wire [3:0] from = distance[3:0];
        wire [LINE_W-1:0] line = write_line + {{(LINE_W - 1){1'b0}}, distance[4]};
        assign line_q[32*b +: 32] = q_reg;
        always @(posedge clk) begin
            if (write && write_keep[from]) begin
                mem[line] <= write_data[{from, 5'd0} +: 32];
            end
            if (gives) begin
                q_reg <= mem[read_line];
            end
        end
    end
endgenerate

wire [127:0] piece_data = line_q[{piece_quarter_reg, 7'd0} +: 128] >> {piece_start_reg, 3'd0};
wire next_valid;
wire [127:0] next_data;
wire [4:0] next_bytes;
wire next_error;
wire next_last;
wire next_done;
wire [7:0] next_id;
wire [7:0] next_code;
wire next_read;

word_queue #(
    .WIDTH(128 + 5 + 3 + 16),
    .DEPTH(4)
) pieces_inst (
    .clk(clk),
    .rst(rst),
    .write(piece_valid_reg),
    .write_data({
        piece_data, piece_bytes_reg, piece_error_reg, piece_last_reg, piece_done_reg, piece_id_reg, piece_code_reg
    }),
    .valid(next_valid),
    .read_data({next_data, next_bytes, next_error, next_last, next_done, next_id, next_code}),
    .read(next_read),
    .held(pieces_held)
);

// Out: beats of 16 bytes from byte 0 of the request
reg [127:0] data_reg;
reg [15:0] keep_reg;
reg valid_reg;
reg last_reg;
reg error_reg;
reg done_reg;
reg [7:0] done_id_reg;
reg [7:0] done_code_reg;
// The last bytes of a frame are in: what follows waits for their beat
reg tail_reg;
reg tail_done_reg;
reg [7:0] id_reg;
reg [7:0] code_reg;

wire [127:0] front;
wire [5:0] count;
wire align_room;
wire out_room = !valid_reg || m_axis_tready;
wire ends_frame = tail_reg && count <= 6'd16;
wire beat = out_room && (count >= 6'd16 || tail_reg);
wire [4:0] take = !beat ? 5'd0 : count >= 6'd16 ? 5'd16 : count[4:0];
wire [15:0] keep = ~(16'hffff << take);
wire waits = tail_reg && !(beat && ends_frame);
wire error = next_valid && next_error && !tail_reg && count < 6'd16 && out_room;
wire bare = next_valid && !next_error && next_bytes == 5'd0 && !tail_reg && !valid_reg;
wire put = next_valid && next_bytes != 5'd0 && !waits && align_room;

assign next_read = error || bare || put;
assign done_write = bare || (valid_reg && m_axis_tready && done_reg);
assign done_id = bare ? next_id : done_id_reg;
assign done_code = bare ? next_code : done_code_reg;
assign m_axis_tdata = data_reg;
assign m_axis_tkeep = keep_reg;
assign m_axis_tvalid = valid_reg;
assign m_axis_tlast = last_reg;
assign m_axis_tuser = error_reg;

// Lines are free when their bytes were taken: how many bytes went in here, how many came out. Up to 15 bytes in front
// of a further TLP of the request may have to wait for its data: they don't hold the lines, which it may need.
reg [15:0] bytes_in_reg;
reg [15:0] bytes_out_reg;
reg [4:0] beat_bytes_reg;
wire mark_valid;
wire [15:0] mark;
wire [15:0] ahead = bytes_out_reg - mark;

assign lines_free = mark_valid && !ahead[15];

wire unused_ahead = &{1'b0, ahead[14:0]};

word_queue #(
    .WIDTH(23),
    .DEPTH(16)
) marks_inst (
    .clk(clk),
    .rst(rst),
    .write(pops && head_data),
    .write_data({head_lines, bytes_in_reg + {11'd0, gives ? bytes : 5'd0} - {12'd0, head_last ? 4'd0 : 4'd15}}),
    .valid(mark_valid),
    .read_data({lines_freed, mark}),
    .read(lines_free),
    .held(marks_held)
);

always @(posedge clk) begin
    if (gives) begin
        bytes_in_reg <= bytes_in_reg + {11'd0, bytes};
    end
    if (beat || error) begin
        beat_bytes_reg <= take;
    end
    bytes_out_reg <= bytes_out_reg + (valid_reg && m_axis_tready ? {11'd0, beat_bytes_reg} : 16'd0)
        + (error ? {10'd0, count} : 16'd0);

    if (rst) begin
        bytes_in_reg <= 16'd0;
        bytes_out_reg <= 16'd0;
        beat_bytes_reg <= 5'd0;
    end
end

dma_align align_inst (
    .clk(clk),
    .rst(rst),
    .clear(error),
    .put(put),
    .put_data(next_data),
    .put_bytes(next_bytes),
    .room(align_room),
    .data(front),
    .count(count),
    .take(take)
);

always @(posedge clk) begin
    if (m_axis_tready) begin
        valid_reg <= 1'b0;
    end
    if (beat) begin
        valid_reg <= 1'b1;
        data_reg <= front;
        keep_reg <= keep;
        last_reg <= ends_frame;
        error_reg <= 1'b0;
        done_reg <= ends_frame && tail_done_reg;
        done_id_reg <= id_reg;
        done_code_reg <= code_reg;
        if (ends_frame) begin
            tail_reg <= 1'b0;
        end
    end
    if (error) begin
        valid_reg <= 1'b1;
        data_reg <= 128'd0;
        keep_reg <= 16'd1;
        last_reg <= 1'b1;
        error_reg <= 1'b1;
        done_reg <= 1'b0;
    end
    if (put) begin
        tail_reg <= next_last;
        tail_done_reg <= next_done;
        id_reg <= next_id;
        code_reg <= next_code;
    end

    if (rst) begin
        valid_reg <= 1'b0;
        data_reg <= 128'd0;
        keep_reg <= 16'd0;
        last_reg <= 1'b0;
        error_reg <= 1'b0;
        done_reg <= 1'b0;
        tail_reg <= 1'b0;
        tail_done_reg <= 1'b0;
    end
end

endmodule

`resetall
