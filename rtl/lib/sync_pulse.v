// sync_pulse: pulses into another clock; each pulse of one s_clk cycle comes out as a pulse of one m_clk cycle.
//
// Latency      an isolated pulse: m_pulse is 1 after the second edge of m_clk behind the s_clk edge that takes s_pulse
//              (the third where the edges meet).
// Throughput   a pulse takes a round trip of about 6 cycles of each clock. Up to 15 wait for their turn, and none of
//              them is lost or doubled, however close together they come; what comes while 15 wait is lost.
//
// A pulse crosses as a level that rises, is acknowledged, and falls (four phases). A bare toggle would be quicker, but a
// reset of one side would flip it against the other side and make a pulse of nothing.
//
// Reset        s_rst forgets the pulses that wait; m_rst the pulse that would come out. Neither makes one. The resets may
//              come alone, at any time, for one cycle. One pulse in flight may be lost or still come.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module sync_pulse (
    input  wire s_clk,
    input  wire s_rst,
    input  wire s_pulse,

    input  wire m_clk,
    input  wire m_rst,
    output wire m_pulse
);

    // s_clk

    reg        request_reg;
    reg  [3:0] waiting_reg;
    wire       acknowledged;

    wire start = ~request_reg & ~acknowledged & (s_pulse | (waiting_reg != 4'd0));

    always @(posedge s_clk) begin
        if (start)             request_reg <= 1'b1;
        else if (acknowledged) request_reg <= 1'b0;

        if (s_pulse && !start && waiting_reg != 4'd15) waiting_reg <= waiting_reg + 4'd1;
        else if (!s_pulse && start)                    waiting_reg <= waiting_reg - 4'd1;

        if (s_rst) begin
            request_reg <= 1'b0;
            waiting_reg <= 4'd0;
        end
    end

    // m_clk

    wire request;
    reg  request_last_reg;

    always @(posedge m_clk) request_last_reg <= request;

    assign m_pulse = request & ~request_last_reg & ~m_rst;

    sync_bit to_m (.clk(m_clk), .d(request_reg), .q(request));
    sync_bit to_s (.clk(s_clk), .d(request_last_reg), .q(acknowledged));

endmodule

`resetall
