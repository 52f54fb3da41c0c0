// Settings of a register file for another clock: the words go over one after the other, all the time.
//
// Latency: a new value is on `m_value` some 15 cycles of the slower clock later, whole; sooner where no word was on its
// way. A reset of m_clk brings back RESET_VALUE until a word has come.
//
// Parameters: WIDTH; RESET_VALUE, what the register file has after a reset.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_setting_cross #(
    parameter WIDTH = 1,
    parameter [WIDTH-1:0] RESET_VALUE = {WIDTH{1'b0}}
) (
    input  wire             s_clk,
    input  wire             s_rst,
    input  wire [WIDTH-1:0] s_value,

    input  wire             m_clk,
    input  wire             m_rst,
    output wire [WIDTH-1:0] m_value
);

wire s_ready;
wire m_valid;
wire [WIDTH-1:0] m_data;
reg [WIDTH-1:0] value_reg;

assign m_value = value_reg;

wire unused_ready = &{1'b0, s_ready};

always @(posedge m_clk) begin
    if (m_valid) begin
        value_reg <= m_data;
    end

    if (m_rst) begin
        value_reg <= RESET_VALUE;
    end
end

sync_bus #(
    .WIDTH(WIDTH)
) bus_inst (
    .s_clk(s_clk), .s_rst(s_rst), .s_data(s_value), .s_valid(1'b1), .s_ready(s_ready),
    .m_clk(m_clk), .m_rst(m_rst), .m_data(m_data), .m_valid(m_valid)
);

endmodule

`resetall
