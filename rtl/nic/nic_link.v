// Two clocks that agree on whether frames may go from `clk` to `m_clk`, through resets of either.
//
//     clk     `up`: frames may begin. A reset, or m_clk's word that it is down, ends that. Then `down`: what had been
//             handed over before the reset of m_clk is lost, or gone; `up` comes again once `settled` has been 1 for 32
//             cycles and m_clk has seen both.
//     m_clk   its reset ends `m_up` at once; without `up` in clk it ends when `m_busy` has been 0 for 16 cycles, so that
//             nothing of before a reset of clk is left. It comes again with `up`, if it has seen clk without since, and
//             if `m_ready`.
//
// All that goes over is two levels, each of which waits for the other, so a reset of one cycle is never missed. Where an
// answer doesn't come in 256 cycles of clk (m_clk stood still and missed something), clk goes back and asks again.
//
// Latency: at power-up about 48 cycles of clk and 16 of m_clk. m_clk may be slower than clk by a factor of 8.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_link (
    input  wire clk,
    input  wire rst,
    input  wire settled,        // nothing of before is left in clk
    output wire up,
    output wire down,

    input  wire m_clk,
    input  wire m_rst,
    input  wire m_busy,
    input  wire m_ready
);

localparam [1:0] DOWN = 2'd0;
localparam [1:0] ASK = 2'd1;
localparam [1:0] UP = 2'd2;

// clk

reg [1:0] state_reg;
reg       ask_reg;              // to m_clk
reg [7:0] count_reg;

wire answer;
wire quiet = settled && !answer;

assign up = state_reg == UP && answer;
assign down = state_reg == DOWN;

always @(posedge clk) begin
    count_reg <= count_reg + 8'd1;
    case (state_reg)
        DOWN: begin
            if (!quiet) begin
                count_reg <= 8'd0;
            end else if (count_reg[5]) begin
                state_reg <= ASK;
                ask_reg <= 1'b1;
                count_reg <= 8'd0;
            end
        end
        ASK: begin
            if (answer) begin
                state_reg <= UP;
            end else if (&count_reg) begin
                state_reg <= DOWN;
                ask_reg <= 1'b0;
                count_reg <= 8'd0;
            end
        end
        default: begin // UP
            if (!answer) begin
                state_reg <= DOWN;
                ask_reg <= 1'b0;
                count_reg <= 8'd0;
            end
        end
    endcase

    if (rst) begin
        state_reg <= DOWN;
        ask_reg <= 1'b0;
        count_reg <= 8'd0;
    end
end

// m_clk

wire ask;
reg       m_up_reg;             // to clk
reg       armed_reg;            // clk has been seen without `up` since the reset
reg [4:0] still_reg;

always @(posedge m_clk) begin
    if (ask || m_busy) begin
        still_reg <= 5'd0;
    end else if (!still_reg[4]) begin
        still_reg <= still_reg + 5'd1;
    end
    if (!ask) begin
        armed_reg <= 1'b1;
    end
    m_up_reg <= m_up_reg ? !still_reg[4] : ask && armed_reg && m_ready;

    if (m_rst) begin
        still_reg <= 5'd0;
        armed_reg <= 1'b0;
        m_up_reg <= 1'b0;
    end
end

sync_bit ask_inst (.clk(m_clk), .d(ask_reg), .q(ask));
sync_bit answer_inst (.clk(clk), .d(m_up_reg), .q(answer));

endmodule

`resetall
