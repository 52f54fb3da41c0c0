// ipsec_state: of each SA the packets and bytes that it counted, its sequence number, its lifetimes, and what it reached.
//
// A frame, ask_valid in cycle c, one in four cycles at most:
//   c      ask_valid, ask_sa, ask_bytes (n of the frame)
//   c + 2  latest (rx: T; tx: the last number used), room (hard lifetimes leave room for one packet and n bytes)
//   c + 3  set_count: it is counted, and set_sequence becomes its number. set_hard, set_ended: it found no room, no
//          number. At most one of the three; none: the frame leaves no trace.
//   c + 4  event_valid: the SA reached something for the first time, event_kind (0 soft, 1 hard, 2 ended) of event_sa.
// A frame that asks in c + 4 finds what was set in c + 3.
//
// The command machine, any time between: wr_valid with wr_ready, SA wr_sa has these limits (0: none) and this number, counts
// and bits 0. rd_valid held until rd_done, beside which is what SA rd_sa has; rd_done comes in a cycle of its own two
// cycles after the read went in.
//
// Nothing is cleared by a reset: an SA that wasn't written has no state.
//
// Parameter: SAS, a power of two from 2 on.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_state #(
    parameter SAS = 256,
    parameter SA_W = $clog2(SAS)
) (
    input  wire            clk,
    input  wire            rst,

    // Frame
    input  wire            ask_valid,
    input  wire [SA_W-1:0] ask_sa,
    input  wire [15:0]     ask_bytes,
    output wire [63:0]     latest,
    output wire            room,
    input  wire            set_count,
    input  wire            set_hard,
    input  wire            set_ended,
    input  wire [63:0]     set_sequence,

    output wire            event_valid,
    output wire [1:0]      event_kind,
    output wire [SA_W-1:0] event_sa,

    // Command machine
    input  wire            wr_valid,
    output wire            wr_ready,
    input  wire [SA_W-1:0] wr_sa,
    input  wire [63:0]     wr_sequence,
    input  wire [63:0]     wr_soft_packets,
    input  wire [63:0]     wr_hard_packets,
    input  wire [63:0]     wr_soft_bytes,
    input  wire [63:0]     wr_hard_bytes,

    input  wire            rd_valid,
    input  wire [SA_W-1:0] rd_sa,
    output wire            rd_done,
    output wire [63:0]     rd_packets,
    output wire [63:0]     rd_bytes,
    output wire [63:0]     rd_sequence,
    output wire [2:0]      rd_reached
);

localparam WORD_W = 3 * 64 + 3;
localparam LIMITS_W = 4 * 64;
localparam [1:0] SOFT = 2'd0;
localparam [1:0] HARD = 2'd1;
localparam [1:0] ENDED = 2'd2;

reg [WORD_W-1:0] mem [0:SAS-1];
reg [LIMITS_W-1:0] limits_mem [0:SAS-1];

// Stage by stage: read, sums, compared, set. A read of the command machine goes in where no frame asks or needs its word
// in the next cycle, and out with the sums.

reg [2:0] stage_reg;
reg [1:0] rd_stage_reg;
reg [SA_W-1:0] sa_reg;
reg [15:0] bytes_reg;
reg [WORD_W-1:0] word_reg;
reg [LIMITS_W-1:0] limits_reg;

wire rd_take = rd_valid && !ask_valid && stage_reg[1:0] == 2'd0 && rd_stage_reg == 2'd0;
wire read = ask_valid || rd_take;
wire [SA_W-1:0] read_sa = ask_valid ? ask_sa : rd_sa;

always @(posedge clk) begin
    if (read) begin
        word_reg <= mem[read_sa];
        limits_reg <= limits_mem[read_sa];
        sa_reg <= read_sa;
        bytes_reg <= ask_bytes;
    end
end

always @(posedge clk) begin
    stage_reg <= {stage_reg[1:0], ask_valid};
    rd_stage_reg <= {rd_stage_reg[0], rd_take};

    if (rst) begin
        stage_reg <= 3'd0;
        rd_stage_reg <= 2'd0;
    end
end

wire was_ended, was_hard, was_soft;
wire [63:0] packets, bytes, number;
wire [63:0] hard_bytes, hard_packets, soft_bytes, soft_packets;

assign {was_ended, was_hard, was_soft, number, bytes, packets} = word_reg;
assign {hard_bytes, hard_packets, soft_bytes, soft_packets} = limits_reg;

// With a carry: no limit is below a sum that doesn't fit.
wire [64:0] packets_sum = {1'b0, packets} + 65'd1;
wire [64:0] bytes_sum = {1'b0, bytes} + {49'd0, bytes_reg};

reg [63:0] packets_reg, bytes_sum_reg;
reg room_reg, soft_reached_reg;

always @(posedge clk) begin
    if (stage_reg[0]) begin
        packets_reg <= packets_sum[63:0];
        bytes_sum_reg <= bytes_sum[63:0];
        room_reg <= (hard_packets == 64'd0 || packets_sum <= {1'b0, hard_packets})
            && (hard_bytes == 64'd0 || bytes_sum <= {1'b0, hard_bytes});
        soft_reached_reg <= (soft_packets != 64'd0 && packets_sum >= {1'b0, soft_packets})
            || (soft_bytes != 64'd0 && bytes_sum >= {1'b0, soft_bytes});
    end
end

assign latest = number;
assign room = room_reg;

wire set = stage_reg[2] && (set_count || set_hard || set_ended);
wire [WORD_W-1:0] set_word = {
    was_ended || set_ended, was_hard || set_hard, was_soft || (set_count && soft_reached_reg),
    set_count ? {set_sequence, bytes_sum_reg, packets_reg} : {number, bytes, packets}
};

assign wr_ready = !set;

wire write = set || wr_valid;

always @(posedge clk) begin
    if (write) begin
        mem[set ? sa_reg : wr_sa] <= set ? set_word : {3'd0, wr_sequence, 128'd0};
    end
    if (wr_valid && wr_ready) begin
        limits_mem[wr_sa] <= {wr_hard_bytes, wr_hard_packets, wr_soft_bytes, wr_soft_packets};
    end
end

reg event_reg;
reg [1:0] kind_reg;
reg [SA_W-1:0] event_sa_reg;

assign event_valid = event_reg;
assign event_kind = kind_reg;
assign event_sa = event_sa_reg;

always @(posedge clk) begin
    event_reg <= stage_reg[2] && (set_count ? soft_reached_reg && !was_soft : set_hard ? !was_hard : set_ended && !was_ended);
    if (set) begin
        kind_reg <= set_count ? SOFT : set_hard ? HARD : ENDED;
        event_sa_reg <= sa_reg;
    end

    if (rst) begin
        event_reg <= 1'b0;
    end
end

reg [WORD_W-1:0] rd_word_reg;

assign rd_done = rd_stage_reg[1];
assign {rd_reached, rd_sequence, rd_bytes, rd_packets} = rd_word_reg;

always @(posedge clk) begin
    if (rd_stage_reg[0]) begin
        rd_word_reg <= word_reg;
    end
end

endmodule

`resetall
