// A device for the tests of the harness: it sleeps until a deadline, then shows one beat with the time.
//
// Deadline k is at k * PERIOD ns. `idle` is 1 while no beat waits. Latency 1 cycle from the first cycle whose `now` isn't
// before the deadline. `ready` is 1 from CLEAR cycles after reset on; `idle` takes no notice of it. Parameters: PERIOD in ns,
// INCREMENT of time a cycle in ns with 32 bits of fraction, CLEAR in cycles.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module timer #(
    parameter PERIOD = 1000,
    parameter [39:0] INCREMENT = 40'h3_3333_3333,
    parameter [31:0] CLEAR = 0
) (
    input  wire         clk,
    input  wire         rst,
    output wire         ready,

    output wire [127:0] m_axis_tdata,
    output wire [15:0]  m_axis_tkeep,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,
    output wire         m_axis_tlast,
    output wire [9:0]   m_axis_tuser,

    output wire [63:0]  now,
    output wire [31:0]  now_fraction,
    input  wire         time_advance,
    input  wire [63:0]  time_target,
    input  wire [31:0]  time_target_fraction,
    output wire         idle,
    output wire [63:0]  next_deadline
);

reg [63:0] deadline_reg;
reg [95:0] shown_reg;
reg valid_reg;
reg [31:0] cleared_reg;

assign m_axis_tdata = {32'd0, shown_reg};
assign m_axis_tkeep = 16'h0fff;
assign m_axis_tvalid = valid_reg;
assign m_axis_tlast = 1'b1;
assign m_axis_tuser = 10'd0;
assign ready = cleared_reg == CLEAR;
assign idle = !valid_reg;
assign next_deadline = deadline_reg;

nic_time time_inst (
    .clk(clk), .rst(rst), .increment(INCREMENT),
    .advance(time_advance), .target(time_target), .target_fraction(time_target_fraction),
    .now(now), .fraction(now_fraction)
);

always @(posedge clk) begin
    if (!ready)
        cleared_reg <= cleared_reg + 32'd1;
    if (valid_reg) begin
        valid_reg <= !m_axis_tready;
    end else if (now >= deadline_reg) begin
        valid_reg <= 1'b1;
        shown_reg <= {now, now_fraction};
        deadline_reg <= deadline_reg + PERIOD;
    end

    if (rst) begin
        valid_reg <= 1'b0;
        cleared_reg <= 32'd0;
        deadline_reg <= PERIOD;
    end
end

endmodule

`resetall
