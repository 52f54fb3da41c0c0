// The BER monitor (IEEE 802.3, figure 49-13; clause 107 for 25G). docs/mac.md, pcs_rx.
//
// Windows of BER_CYCLES from the cycle in which `run` rises. BER_LIMIT invalid sync headers in one make hi_ber, at once; a
// whole window with fewer ends it. `bad` is a strobe for each that is counted: those behind the limit aren't. Latency 1.
//
// Parameters: BER_LIMIT, BER_CYCLES; 97 in 2 ms at 25G, 16 in 125 us at 10G (19531 cycles).

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_ber #(
    parameter BER_LIMIT = 97,
    parameter BER_CYCLES = 781250
) (
    input  wire clk,
    input  wire run,

    input  wire header_ok,

    output wire hi_ber,
    output wire bad
);

localparam COUNT_W = $clog2(BER_LIMIT + 1);
localparam TIMER_W = $clog2(BER_CYCLES);
localparam [COUNT_W-1:0] LIMIT = BER_LIMIT[COUNT_W-1:0];
localparam [31:0] LAST = BER_CYCLES - 1;

reg [COUNT_W-1:0] count_reg;
reg [TIMER_W-1:0] timer_reg;
reg               hi_reg;
reg               bad_reg;

wire counts = !header_ok && count_reg != LIMIT;
wire [COUNT_W-1:0] count = count_reg + {{COUNT_W-1{1'b0}}, counts};
wire done = timer_reg == LAST[TIMER_W-1:0];

assign hi_ber = hi_reg;
assign bad = bad_reg;

always @(posedge clk) begin
    bad_reg <= run && counts;
    timer_reg <= done ? {TIMER_W{1'b0}} : timer_reg + {{TIMER_W-1{1'b0}}, 1'b1};
    count_reg <= done ? {COUNT_W{1'b0}} : count;
    if (count == LIMIT) begin
        hi_reg <= 1'b1;
    end else if (done) begin
        hi_reg <= 1'b0;
    end

    if (!run) begin
        timer_reg <= {TIMER_W{1'b0}};
        count_reg <= {COUNT_W{1'b0}};
        hi_reg <= 1'b0;
    end
end

endmodule

`resetall
