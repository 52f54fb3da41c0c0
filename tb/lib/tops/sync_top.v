// The clock-crossing cells side by side, on one pair of clocks.
// Bench only: four small modules in one build.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module sync_top #(
    parameter WIDTH = 16
) (
    input  wire             s_clk,
    input  wire             s_rst,
    input  wire             m_clk,
    input  wire             m_rst,
    input  wire             bit_d,
    output wire             bit_q,
    input  wire             high_d,
    output wire             high_q,
    input  wire             s_pulse,
    output wire             m_pulse,
    input  wire             arst,
    output wire             rst,
    input  wire [WIDTH-1:0] s_data,
    input  wire             s_valid,
    output wire             s_ready,
    output wire [WIDTH-1:0] m_data,
    output wire             m_valid
);

    sync_bit #(.RESET_VALUE(0)) low_bit (.clk(m_clk), .d(bit_d), .q(bit_q));

    sync_bit #(.RESET_VALUE(1)) high_bit (.clk(m_clk), .d(high_d), .q(high_q));

    sync_pulse pulse (
        .s_clk(s_clk), .s_rst(s_rst), .s_pulse(s_pulse), .m_clk(m_clk), .m_rst(m_rst), .m_pulse(m_pulse)
    );

    sync_reset rst_cell (.clk(m_clk), .arst(arst), .rst(rst));

    sync_bus #(.WIDTH(WIDTH)) bus (
        .s_clk(s_clk), .s_rst(s_rst), .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
        .m_clk(m_clk), .m_rst(m_rst), .m_data(m_data), .m_valid(m_valid)
    );

endmodule

`resetall
