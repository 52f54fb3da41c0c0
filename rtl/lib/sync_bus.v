// sync_bus: words into another clock, one at a time.
//
// A word is taken in a cycle of s_clk with s_valid and s_ready, and comes out once: m_valid is 1 for one cycle of m_clk
// with the word on m_data, which stays until the next. No word is lost between two resets.
//
// Latency      m_valid is 1 after the third edge of m_clk behind the s_clk edge that takes the word (the fourth where the
//              edges meet).
// Throughput   a word takes a round trip of about 6 cycles of each clock; s_ready is 0 meanwhile.
//
// Reset        s_rst: a word in flight may be lost or still come, whole. s_ready then stays 0 for 32 cycles of s_clk, so
//              that the other side never sees the register change under its hands; that holds for m_clk down to an
//              eighth of s_clk. m_rst: a word that would come out in it is lost, and m_valid is 0. The resets may come
//              alone, at any time, for one cycle.
//
// Parameters   WIDTH  bits of a word
`resetall
`timescale 1ns / 1ps
`default_nettype none

module sync_bus #(
    parameter WIDTH = 32
) (
    input  wire             s_clk,
    input  wire             s_rst,
    input  wire [WIDTH-1:0] s_data,
    input  wire             s_valid,
    output wire             s_ready,

    input  wire             m_clk,
    input  wire             m_rst,
    output wire [WIDTH-1:0] m_data,
    output wire             m_valid
);

    initial begin
        if (WIDTH < 1) begin
            $display("sync_bus: WIDTH must be at least 1 (%m)");
            $finish;
        end
    end

    // s_clk

    reg              request_reg;
    reg  [WIDTH-1:0] word_reg;
    reg  [5:0]       quiet_reg;      // cycles since the reset, up to 32
    wire             acknowledged;

    assign s_ready = ~request_reg & ~acknowledged & quiet_reg[5] & ~s_rst;

    wire take = s_valid & s_ready;

    always @(posedge s_clk) begin
        if (take)              request_reg <= 1'b1;
        else if (acknowledged) request_reg <= 1'b0;

        if (!quiet_reg[5]) quiet_reg <= quiet_reg + 6'd1;

        if (s_rst) begin
            request_reg <= 1'b0;
            quiet_reg   <= 6'd0;
        end
    end

    always @(posedge s_clk) if (take) word_reg <= s_data;

    // m_clk: the word has been still for two edges by the time its request is seen

    wire             request;
    reg              request_last_reg;
    reg              valid_reg;
    reg  [WIDTH-1:0] data_reg;

    always @(posedge m_clk) begin
        request_last_reg <= request;
        valid_reg        <= request & ~request_last_reg & ~m_rst;
        if (request && !request_last_reg) data_reg <= word_reg;
    end

    assign m_valid = valid_reg & ~m_rst;
    assign m_data  = data_reg;

    sync_bit to_m (.clk(m_clk), .d(request_reg), .q(request));
    sync_bit to_s (.clk(s_clk), .d(request_last_reg), .q(acknowledged));

endmodule

`resetall
