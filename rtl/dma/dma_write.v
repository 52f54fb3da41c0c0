// Data of writes into TLPs (docs/dma.md, Requests and TLPs): 128 bits a beat from byte 0 in, 512 bits from the DW of
// the TLP's address out, masked bytes 0. A TLP is offered when all of its data are there.
//
// Latency 3 cycles from the last beat of a TLP's data to `tlp_valid`; 16 bytes a cycle, and a cycle more a request.
// An entry of the output is a TLP, the end of a request, or both.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_write (
    input  wire         clk,
    input  wire         rst,

    // From dma_split
    input  wire         in_valid,
    output wire         in_read,
    input  wire [63:0]  in_addr,
    input  wire [12:0]  in_bytes,
    input  wire         in_last,
    input  wire [31:0]  in_left,
    input  wire [7:0]   in_id,
    input  wire [7:0]   in_code,
    input  wire         in_flush,
    input  wire         in_ro,
    input  wire         in_target,

    input  wire [127:0] s_axis_tdata,
    input  wire [15:0]  s_axis_tkeep,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    input  wire         s_axis_tlast,

    // Out: entries, and the beats of their TLPs
    output wire         out_valid,
    input  wire         out_read,
    output wire         out_tlp,
    output wire         out_end,
    output wire [63:0]  out_addr,
    output wire [12:0]  out_bytes,
    output wire         out_ro,
    output wire         out_target,
    output wire [7:0]   out_id,
    output wire [7:0]   out_code,
    output wire         out_flush,
    output wire [511:0] beat_data,
    output wire [15:0]  beat_keep,
    input  wire         beat_read
);

localparam [7:0] BAD_LENGTH = 8'd5;
localparam ENTRY_W = 2 + 64 + 13 + 2 + 8 + 8 + 1;

localparam [2:0] IDLE = 3'd0;
localparam [2:0] RUN = 3'd1;
localparam [2:0] SKIP = 3'd2;
localparam [2:0] SWALLOW = 3'd3;
localparam [2:0] END = 3'd4;

reg [2:0] state_reg;
// Of the request: bytes still to come, whether its frame has ended or was too long, what the end says
reg [31:0] need_reg;
reg ended_reg;
reg over_reg;
reg [7:0] code_reg;
reg [7:0] id_reg;
reg flush_reg;
reg sent_reg;
// Of the TLP: bytes packed, and the beat as it grows
reg [12:0] done_reg;
reg [1:0] quarter_reg;
reg [383:0] beat_reg;

reg [4:0] tail_bytes;
integer i;
always @* begin
    tail_bytes = 5'd0;
    for (i = 0; i < 16; i = i + 1) begin
        tail_bytes = tail_bytes + {4'd0, s_axis_tkeep[i]};
    end
end

wire [127:0] front;
wire [5:0] count;
wire align_room;
wire [7:0] beats_held;
wire [4:0] entries_held;
wire room = beats_held < 8'd127 && entries_held < 5'd15;

// The first beat may come with the request
wire starts = state_reg == IDLE && in_valid && in_bytes != 13'd0;
wire goes_on = state_reg == RUN && !ended_reg && need_reg != 32'd0;
wire [31:0] need = starts ? in_left : need_reg;
wire takes = (starts || goes_on) && align_room;
wire swallows = state_reg == SWALLOW && !ended_reg;
wire beat_in = s_axis_tvalid && s_axis_tready;
wire put = takes && s_axis_tvalid;
wire clips = {27'd0, tail_bytes} > need;
wire [4:0] put_bytes = clips ? need[4:0] : tail_bytes;
wire all_in = ended_reg || need_reg == 32'd0;

wire [1:0] offset = done_reg == 13'd0 ? in_addr[1:0] : 2'd0;
wire [12:0] tlp_left = in_bytes - done_reg;
wire [4:0] most = 5'd16 - {3'd0, offset};
wire [4:0] wanted = tlp_left < {8'd0, most} ? tlp_left[4:0] : most;
wire enough = count >= {1'b0, wanted};
wire short = !enough && all_in;
wire step = state_reg == RUN && in_valid && room && (enough || short);
wire [4:0] take = step ? (enough ? wanted : count[4:0]) : 5'd0;
wire [12:0] tlp_bytes = done_reg + {8'd0, take};
wire tlp_ends = step && (short || tlp_left == {8'd0, wanted});
wire sends = tlp_ends && tlp_bytes != 13'd0;
wire [4:0] filled = {3'd0, offset} + take;
wire [2:0] dws = filled[4:2] + {2'd0, filled[1:0] != 2'd0};
wire beat_write = step && (sends ? (take != 5'd0 || quarter_reg != 2'd0) : quarter_reg == 2'd3);

wire [127:0] mask = ~({128{1'b1}} << {take, 3'd0});
wire [127:0] shifted = (front & mask) << {offset, 3'd0};
wire [511:0] beat = {128'd0, beat_reg} | ({384'd0, shifted} << {quarter_reg, 7'd0});
wire [4:0] beat_dws = {1'b0, quarter_reg, 2'd0} + {2'd0, dws};
wire [15:0] keep = ~(16'hffff << beat_dws);

// The end goes with the last TLP where it is known by then
wire ends_here = tlp_ends && in_last && !short && ended_reg;
wire end_alone = state_reg == END && room;
wire entry_write = sends || end_alone;
wire [7:0] end_code = code_reg != 8'd0 ? code_reg : over_reg ? BAD_LENGTH : 8'd0;

assign s_axis_tready = takes || swallows;
assign in_read = tlp_ends || (state_reg == SKIP && in_valid) || (state_reg == IDLE && in_valid && in_bytes == 13'd0);

dma_align align_inst (
    .clk(clk),
    .rst(rst),
    .clear(1'b0),
    .put(put),
    .put_data(s_axis_tdata),
    .put_bytes(put_bytes),
    .room(align_room),
    .data(front),
    .count(count),
    .take(take)
);

wire beats_valid;
wire unused_beats_valid = &{1'b0, beats_valid};
word_queue #(
    .WIDTH(528),
    .DEPTH(128)
) beats_inst (
    .clk(clk),
    .rst(rst),
    .write(beat_write),
    .write_data({keep, beat}),
    .valid(beats_valid),
    .read_data({beat_keep, beat_data}),
    .read(beat_read),
    .held(beats_held)
);

word_queue #(
    .WIDTH(ENTRY_W),
    .DEPTH(16)
) entries_inst (
    .clk(clk),
    .rst(rst),
    .write(entry_write),
    .write_data({
        sends, ends_here || end_alone, in_addr, tlp_bytes, in_ro, in_target, id_reg, end_code,
        flush_reg && (sent_reg || sends)
    }),
    .valid(out_valid),
    .read_data({
        out_tlp, out_end, out_addr, out_bytes, out_ro, out_target, out_id, out_code, out_flush
    }),
    .read(out_read),
    .held(entries_held)
);

always @(posedge clk) begin
    if (step) begin
        done_reg <= tlp_ends ? 13'd0 : tlp_bytes;
        quarter_reg <= tlp_ends ? 2'd0 : quarter_reg + 2'd1;
        beat_reg <= tlp_ends || quarter_reg == 2'd3 ? 384'd0 : beat[383:0];
        if (sends) begin
            sent_reg <= 1'b1;
        end
    end

    case (state_reg)
        IDLE: begin
            need_reg <= in_left;
            ended_reg <= 1'b0;
            over_reg <= 1'b0;
            sent_reg <= 1'b0;
            code_reg <= in_code;
            id_reg <= in_id;
            flush_reg <= in_flush;
            if (in_valid) begin
                if (starts) begin
                    state_reg <= RUN;
                end else begin
                    state_reg <= in_left != 32'd0 ? SWALLOW : END;
                end
            end
        end
        RUN: begin
            if (tlp_ends) begin
                if (short) begin
                    code_reg <= BAD_LENGTH;
                    state_reg <= in_last ? END : SKIP;
                end else if (in_last) begin
                    state_reg <= ended_reg ? IDLE : SWALLOW;
                    if (!ended_reg) begin
                        code_reg <= BAD_LENGTH;
                    end
                end
            end
        end
        SKIP: begin
            if (in_valid && in_last) begin
                state_reg <= END;
            end
        end
        SWALLOW: begin
            if (ended_reg) begin
                state_reg <= END;
            end
        end
        default: begin
            if (room) begin
                state_reg <= IDLE;
            end
        end
    endcase

    if (beat_in) begin
        if (takes) begin
            need_reg <= need - {27'd0, put_bytes};
            if (clips) begin
                over_reg <= 1'b1;
            end
        end
        if (s_axis_tlast) begin
            ended_reg <= 1'b1;
        end
    end

    if (rst) begin
        state_reg <= IDLE;
        need_reg <= 32'd0;
        ended_reg <= 1'b0;
        done_reg <= 13'd0;
        quarter_reg <= 2'd0;
        beat_reg <= 384'd0;
    end
end

endmodule

`resetall
