// The time of a MAC's clock, which follows the port's `now`.
//
// `now` is handed over every 8 cycles of clk: a register holds it, a level that changes with it goes through sync_bit, and
// m_clk, which sees the change two edges later, finds the register still. With the mean of what has gone by since, that is
// an estimate of the truth, half a cycle of m_clk too early or too late at most; `m_now` (mac_time) is corrected by it
// three cycles later:
//
//     the estimate is later   `m_now` jumps to it
//     earlier by 3 ns or more   it grows by half the increment for some cycles, so it never goes back
//     earlier by 64 ns or more   it jumps back to it: only a reset of clk makes such
//
// It stands still where nothing has been handed over for 16 cycles of m_clk: then clk does too, or its reset lasts.
//
// Accuracy: `m_now` at the beginning of a cycle is within 8 ns of the port's `now` then, from 64 cycles of clk after a
// reset of either clock or a jump of `now` on, if both increments are right within 200 ppm.
//
// m_clk must not be slower than half of clk, which is 250 MHz.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_time_cross (
    input  wire        clk,
    input  wire        rst,
    input  wire [63:0] now,
    input  wire [31:0] now_fraction,

    input  wire        m_clk,
    input  wire        m_rst,
    input  wire [39:0] m_increment,
    output wire [95:0] m_now
);

// clk

reg [2:0]  count_reg;
reg        level_reg;
reg [95:0] hold_reg;

always @(posedge clk) begin
    count_reg <= count_reg + 3'd1;
    if (count_reg == 3'd7) begin
        hold_reg <= {now, now_fraction};
        level_reg <= !level_reg;
    end

    if (rst) begin
        count_reg <= 3'd0;
        level_reg <= 1'b0;
    end
end

// m_clk: the estimate

wire level;
reg        last_reg;
reg        estimate_valid_reg;
reg [63:0] estimate_ns_reg;
reg [31:0] estimate_fraction_reg;

// What goes by on average from the `now` that is held up to the cycle in which the estimate is in its register: two cycles
// and a half of m_clk, and half a cycle of clk.
localparam [39:0] HALF_CYCLE = 40'h0200000000;
reg [39:0] offset_reg;

wire seen = level != last_reg;
wire [32:0] estimate_fraction = {1'b0, hold_reg[31:0]} + {1'b0, offset_reg[31:0]};

// What `m_now` becomes by it two cycles later, and how far it is from it

reg        next_valid_reg;
reg [63:0] next_ns_reg;
reg [31:0] next_fraction_reg;
reg [63:0] off_reg;            // whole ns that the estimate is later than `m_now`, rounded down

wire [33:0] next_fraction = {2'd0, estimate_fraction_reg} + {1'b0, m_increment[31:0], 1'b0};
wire borrow = estimate_fraction_reg < m_now[31:0];

// Correction

reg [4:0]  slow_reg;           // cycles of half the increment
reg [4:0]  still_reg;          // cycles since the last hand-over, up to 16

wire early = off_reg[63];
wire restart = early && off_reg[62:6] != {57{1'b1}};
wire [5:0] ahead = ~off_reg[5:0];
wire set = next_valid_reg && (!early || restart);
wire [39:0] increment = still_reg[4] ? 40'd0 : slow_reg != 5'd0 ? {1'b0, m_increment[39:1]} : m_increment;

always @(posedge m_clk) begin
    offset_reg <= {m_increment[38:0], 1'b0} + {1'b0, m_increment[39:1]} + HALF_CYCLE;
    last_reg <= level;

    estimate_valid_reg <= seen;
    if (seen) begin
        estimate_ns_reg <= hold_reg[95:32] + {56'd0, offset_reg[39:32]} + {63'd0, estimate_fraction[32]};
        estimate_fraction_reg <= estimate_fraction[31:0];
    end

    next_valid_reg <= estimate_valid_reg;
    if (estimate_valid_reg) begin
        next_ns_reg <= estimate_ns_reg + {55'd0, m_increment[39:32], 1'b0} + {62'd0, next_fraction[33:32]};
        next_fraction_reg <= next_fraction[31:0];
        off_reg <= estimate_ns_reg - m_now[95:32] - {63'd0, borrow};
    end

    if (next_valid_reg) begin
        slow_reg <= !set && ahead >= 6'd3 ? ahead[5:1] : 5'd0;
    end else if (slow_reg != 5'd0) begin
        slow_reg <= slow_reg - 5'd1;
    end

    if (seen) begin
        still_reg <= 5'd0;
    end else if (!still_reg[4]) begin
        still_reg <= still_reg + 5'd1;
    end

    if (m_rst) begin
        estimate_valid_reg <= 1'b0;
        next_valid_reg <= 1'b0;
        slow_reg <= 5'd0;
        still_reg <= 5'd0;
    end
end

mac_time time_inst (
    .clk(m_clk), .rst(m_rst),
    .cfg_increment(increment), .set_valid(set), .set_time({next_ns_reg, next_fraction_reg}),
    .now(m_now)
);

sync_bit level_inst (.clk(m_clk), .d(level_reg), .q(level));

endmodule

`resetall
