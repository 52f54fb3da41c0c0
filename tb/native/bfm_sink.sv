// Frame sink of the harness (tb/native), for Verilator: sink ID takes the frames of s_axis, checks the protocol and
// paces tready. Latency: the first cycle in which tready can be 1 is cycle 1. Throughput: a beat a cycle.

`include "meta.vh"

module bfm_sink #(
    parameter int ID = 0  // index of the sink in the harness
) (
    input wire clk,
    input wire rst,

    input wire [127:0] s_axis_tdata,
    input wire [15:0] s_axis_tkeep,
    input wire s_axis_tvalid,
    output wire s_axis_tready,
    input wire s_axis_tlast,
    input wire [9:0] s_axis_tuser,
    input wire [`META_W-1:0] s_axis_meta
);
    import "DPI-C" function int unsigned nicloop_dpi_sink_beat(
        input int sink, input int unsigned flags, input bit [127:0] data, input bit [`META_W-1:0] meta);
    import "DPI-C" function int unsigned nicloop_dpi_sink_idle(input int sink);
    import "DPI-C" function void nicloop_dpi_reset_violation(input bit sink, input int stream);

    // Bit 0: ready. Bit 1: but not for a last beat (the one generator that must see the beat in the cycle it answers).
    bit [1:0] answer = 2'b00;
    bit was_reset = 1'b0;

    assign s_axis_tready = answer[0] && !(answer[1] && s_axis_tvalid && s_axis_tlast);

    always @(posedge clk) begin
        was_reset <= rst;
        if (rst) begin
            answer <= 2'b00;
            if (was_reset && s_axis_tvalid) nicloop_dpi_reset_violation(1'b1, ID);
        end else if (s_axis_tvalid) begin
            answer <= 2'(nicloop_dpi_sink_beat(ID, {5'b0, s_axis_tlast, s_axis_tuser, s_axis_tkeep},
                                               s_axis_tdata, s_axis_meta));
        end else begin
            answer <= 2'(nicloop_dpi_sink_idle(ID));
        end
    end
endmodule
