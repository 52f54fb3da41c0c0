// Frame source of the harness (tb/native), for Verilator: source ID offers its frames on m_axis.
//
// Latency: a frame pushed between edges n-1 and n is offered from cycle n+1 on. Throughput: a beat a cycle.
// The harness is called only when the offer can change: a call copies all that it passes.

`include "meta.vh"

module bfm_source #(
    parameter int ID = 0  // index of the source in the harness
) (
    input wire clk,
    input wire rst,

    output reg [127:0] m_axis_tdata,
    output reg [15:0] m_axis_tkeep,
    output reg m_axis_tvalid,
    input wire m_axis_tready,
    output reg m_axis_tlast,
    output reg [9:0] m_axis_tuser,
    output reg [`META_W-1:0] m_axis_meta
);
    import "DPI-C" function longint unsigned nicloop_dpi_source(
        input int source, input bit ready, output bit [127:0] data, output bit [`META_W-1:0] meta);
    import "DPI-C" function void nicloop_dpi_reset_violation(input bit sink, input int stream);

    bit [127:0] data;
    bit [`META_W-1:0] meta;
    bit [63:0] flags;  // tb/native/step.hpp
    bit was_reset = 1'b0;

    always @(posedge clk) begin
        was_reset <= rst;
        if (rst) begin
            m_axis_tvalid <= 1'b0;
            if (was_reset && m_axis_tready) nicloop_dpi_reset_violation(1'b0, ID);
        end else if (!m_axis_tvalid || m_axis_tready) begin
            flags = nicloop_dpi_source(ID, m_axis_tready, data, meta);
            m_axis_tvalid <= flags[27];
            if (flags[27]) begin
                m_axis_tdata <= data;
                m_axis_tkeep <= flags[15:0];
                m_axis_tlast <= flags[26];
                m_axis_tuser <= flags[25:16];
            end
            if (flags[28]) m_axis_meta <= meta;
        end
    end
endmodule
