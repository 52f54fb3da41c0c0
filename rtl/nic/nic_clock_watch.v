// Says in `clk` whether another clock runs and is out of its reset.
//
// Latency: `running` rises with the first change that is seen, within 12 cycles of m_clk and 4 of clk; it falls 32 cycles
// of clk after the last one. m_clk may be slower than clk by a factor of 3.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_clock_watch (
    input  wire clk,
    input  wire rst,
    output wire running,

    input  wire m_clk,
    input  wire m_rst
);

reg [2:0] m_count_reg;          // its highest bit lasts four cycles of m_clk
wire level;
reg level_reg;
reg [5:0] still_reg;            // cycles without a change, up to 32

assign running = !still_reg[5];

always @(posedge m_clk) begin
    m_count_reg <= m_count_reg + 3'd1;

    if (m_rst) begin
        m_count_reg <= 3'd0;
    end
end

always @(posedge clk) begin
    level_reg <= level;
    if (level != level_reg) begin
        still_reg <= 6'd0;
    end else if (!still_reg[5]) begin
        still_reg <= still_reg + 6'd1;
    end

    if (rst) begin
        still_reg <= 6'd32;
    end
end

sync_bit level_inst (.clk(clk), .d(m_count_reg[2]), .q(level));

endmodule

`resetall
