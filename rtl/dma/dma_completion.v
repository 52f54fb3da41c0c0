// Completions, each against its tag (docs/dma.md, Completions), in the page's order.
//
// A beat in each cycle; what it says is out 1 cycle later: data (`write`) with each beat, the verdict (`event_valid`)
// with the last. Byte Count and Length are the header's, the beats are counted.
//
// Parameters: INFO_W and LINE_W; of a tag's info: requester 3, flush 1, slot 7, line LINE_W, low address 7, bytes 13.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_completion #(
    parameter LINE_W = 8,
    parameter INFO_W = 3 + 1 + 7 + LINE_W + 7 + 13
) (
    input  wire              clk,
    input  wire              rst,

    input  wire [15:0]       requester_id,
    input  wire [1:0]        mode,
    input  wire              rcb,

    input  wire              s_tlp_valid,
    input  wire              s_tlp_sop,
    input  wire              s_tlp_eop,
    input  wire [127:0]      s_tlp_hdr,
    input  wire [511:0]      s_tlp_data,
    input  wire [15:0]       s_tlp_keep,

    // dma_tags
    output wire [9:0]        index,
    input  wire              index_used,
    input  wire [INFO_W-1:0] index_info,
    output wire              index_free,
    output wire              index_rest,
    input  wire              take,
    input  wire [9:0]        take_index,

    // Data to a requester's buffer
    output wire              write,
    output wire [2:0]        requester,
    output wire [LINE_W-1:0] write_line,
    output wire [3:0]        write_dw,
    output wire [511:0]      write_data,
    output wire [15:0]       write_keep,

    // Verdict
    output wire              event_valid,
    output wire              event_flush,
    output wire [6:0]        event_slot,
    output wire [LINE_W-1:0] event_line,
    output wire [12:0]       event_got,
    output wire [3:0]        event_code,
    output wire              event_ends,

    output wire              busy,
    output wire              count_completion,
    output wire              count_unexpected,
    output wire [12:0]       count_bytes
);

localparam [3:0] UNSUPPORTED = 4'd8;
localparam [3:0] ABORTED = 4'd9;
localparam [3:0] POISONED = 4'd10;
localparam [3:0] BAD_COUNT = 4'd12;
localparam [3:0] BAD_ADDRESS = 4'd13;
localparam [3:0] SHORT = 4'd14;

reg valid_reg;
reg sop_reg;
reg eop_reg;
reg [95:0] hdr_reg;
reg [511:0] data_reg;
reg [15:0] keep_reg;
// DWs of this TLP that came before this beat, more than any Length at most
reg [11:0] came_reg;
reg [12:0] got_mem [0:767];

// Header
wire is_completion = hdr_reg[28:24] == 5'b01010 && !hdr_reg[31] && !hdr_reg[29];
wire has_data = hdr_reg[30];
wire [10:0] length = !has_data ? 11'd0 : {hdr_reg[9:0] == 10'd0, hdr_reg[9:0]};
wire poisoned = hdr_reg[14] && has_data;
wire [2:0] status = hdr_reg[47:45];
wire [12:0] byte_count = {hdr_reg[43:32] == 12'd0, hdr_reg[43:32]};
wire [15:0] id = hdr_reg[95:80];
wire [9:0] tag = {hdr_reg[23], hdr_reg[19], hdr_reg[79:72]};
wire [6:0] lower = hdr_reg[70:64];

wire in_range = mode[1] ? tag >= 10'd256 : tag < (mode[0] ? 10'd256 : 10'd32);
wire expected = is_completion && in_range && index_used && id == requester_id;

// What the tag expects
wire [2:0] info_requester = index_info[INFO_W-1 -: 3];
wire info_flush = index_info[INFO_W-4];
wire [6:0] info_slot = index_info[INFO_W-5 -: 7];
wire [LINE_W-1:0] info_line = index_info[20 +: LINE_W];
wire [6:0] info_low = index_info[19:13];
wire [12:0] info_bytes = index_info[12:0];
wire [12:0] got = got_mem[index];
wire [12:0] left = info_bytes - got;
wire [12:0] place = {6'd0, info_low} + got;
wire [12:0] left_end = left + {11'd0, place[1:0]} + 13'd3;
wire [10:0] left_dws = left_end[12:2];

// DWs of this beat and of all
reg [4:0] beat_dws;
integer i;
always @* begin
    beat_dws = 5'd0;
    for (i = 0; i < 16; i = i + 1) begin
        beat_dws = beat_dws + {4'd0, keep_reg[i]};
    end
end
wire [11:0] earlier = sop_reg ? 12'd0 : came_reg;
wire [11:0] came = earlier[11] ? earlier : earlier + {7'd0, beat_dws};

wire whole = length == left_dws;
wire [12:0] brought = whole ? left : {length, 2'd0} - {11'd0, place[1:0]};
wire [6:0] end_place = {place[6:2], 2'd0} + {length[4:0], 2'd0};
wire off_rcb = rcb ? end_place != 7'd0 : end_place[5:0] != 6'd0;

reg [3:0] code;
always @* begin
    if (status != 3'd0) begin
        code = status == 3'd4 || status == 3'd2 ? ABORTED : UNSUPPORTED;
    end else if (byte_count != left || {1'b0, length} != came || length > left_dws || length == 11'd0) begin
        code = BAD_COUNT;
    end else if (lower != place[6:0]) begin
        code = BAD_ADDRESS;
    end else if (!whole && off_rcb) begin
        code = SHORT;
    end else begin
        code = poisoned ? POISONED : 4'd0;
    end
end

wire right = code == 4'd0 || code == POISONED;
wire judged = valid_reg && eop_reg && expected;
wire broken = judged && status == 3'd0 && !right;
wire ends = judged && (!right || whole);
wire [12:0] next_got = right ? got + brought : got;

// Where this beat belongs: only what Length allows is written
wire [12:0] room = {2'd0, length} - {1'b0, earlier};
wire fits = length <= left_dws && {1'b0, length} > earlier;
reg [15:0] allowed;
always @* begin
    for (i = 0; i < 16; i = i + 1) begin
        allowed[i] = fits && {19'd0, room} > i;
    end
end

// Lines count from the TLP's first: its address modulo 64
wire [12:0] line_place = {7'd0, info_low[5:0]} + got;
wire [12:0] beat_dw = {2'd0, line_place[12:2]} + {1'b0, earlier};
wire [LINE_W+12:0] beat_line = {{LINE_W{1'b0}}, beat_dw} >> 4;

wire unused_bits = &{
    1'b0, s_tlp_hdr[127:96], hdr_reg[71], hdr_reg[63:48], hdr_reg[44], hdr_reg[22:20], hdr_reg[18:15], hdr_reg[13:10],
    place[12:7], left_end[1:0], line_place[1:0], beat_line[LINE_W+12:LINE_W]
};

assign index = mode[1] ? tag - 10'd256 : tag;
assign index_free = ends && !broken;
assign index_rest = broken;
assign write = valid_reg && expected && !info_flush && status == 3'd0;
assign requester = info_requester;
assign write_line = info_line + beat_line[LINE_W-1:0];
assign write_dw = beat_dw[3:0];
assign write_data = data_reg;
assign write_keep = keep_reg & allowed;
assign event_valid = judged;
assign event_flush = info_flush;
assign event_slot = info_slot;
assign event_line = info_line;
assign event_got = next_got;
assign event_code = code;
assign event_ends = ends;
assign busy = valid_reg;
assign count_completion = valid_reg && eop_reg;
assign count_unexpected = valid_reg && eop_reg && !expected;
assign count_bytes = judged && code == 4'd0 && !info_flush ? brought : 13'd0;

always @(posedge clk) begin
    valid_reg <= s_tlp_valid;
    if (s_tlp_valid) begin
        sop_reg <= s_tlp_sop;
        eop_reg <= s_tlp_eop;
        data_reg <= s_tlp_data;
        keep_reg <= s_tlp_keep;
        if (s_tlp_sop) begin
            hdr_reg <= s_tlp_hdr[95:0];
        end
    end
    if (valid_reg) begin
        came_reg <= came;
    end
    if (take) begin
        got_mem[take_index] <= 13'd0;
    end
    if (judged && right && !whole) begin
        got_mem[index] <= next_got;
    end

    if (rst) begin
        valid_reg <= 1'b0;
        hdr_reg <= 96'd0;
    end
end

endmodule

`resetall
