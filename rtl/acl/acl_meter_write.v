// Writes of acl_meter: takes one, and gives each memory its part when that can't be seen by half.
//
// In its cycle 0 the time, the rates and the bursts are written, in cycle 6 the levels of the buckets, as an ask does. So
// an ask before it reads the old of each, and an ask behind it the new, but for the levels: an ask that is 1 to 3 cycles
// behind reads them too early (in its cycle 3), and `fresh` says that they are full. Cycle 0 is one in which `hold` is 0:
// no ask is in its cycle 0 or 1, in which it reads what is written here. Asks are four cycles apart, so that is 2 cycles
// away at most.
//
// After reset the memories are cleared in the same two ways at once, a meter a cycle; `ready` comes after that.
// `write_word`: {yellow, cbs, pbs, cir, pir}.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_meter_write #(
    parameter METERS = 256,
    parameter RATES_W = 151,
    parameter METER_W = $clog2(METERS)
) (
    input  wire               clk,
    input  wire               rst,
    output wire               ready,
    input  wire               hold,

    input  wire               wr_valid,
    output wire               wr_ready,
    input  wire [METER_W-1:0] wr_meter,
    input  wire [63:0]        wr_cir,
    input  wire [63:0]        wr_pir,
    input  wire [31:0]        wr_cbs,
    input  wire [31:0]        wr_pbs,
    input  wire [6:0]         wr_yellow,

    output wire               write_rates,
    output wire               write_level,
    output wire [METER_W-1:0] write_meter,
    output wire [RATES_W-1:0] write_word,

    // Whether an ask of this meter that is in its cycle 3 is behind the write, and the levels aren't written yet
    input  wire [METER_W-1:0] ask_meter,
    output wire               fresh
);

reg clear_reg;
reg [METER_W-1:0] clear_meter_reg;
reg free_reg;
reg wait_reg;
reg [6:1] stage_reg;
reg [METER_W-1:0] meter_reg;
reg [RATES_W-1:0] word_reg;

wire take = wr_valid && wr_ready;
wire go = wait_reg && !hold;
wire [39:0] cir = |wr_cir[63:40] ? {40{1'b1}} : wr_cir[39:0];
wire [39:0] pir = |wr_pir[63:40] ? {40{1'b1}} : wr_pir[39:0];

assign ready = !clear_reg && !rst;
assign wr_ready = free_reg && !rst;
assign write_rates = clear_reg || go;
assign write_level = clear_reg || stage_reg[6];
assign write_meter = clear_reg ? clear_meter_reg : meter_reg;
assign write_word = clear_reg ? {RATES_W{1'b0}} : word_reg;
assign fresh = |stage_reg[6:4] && ask_meter == meter_reg;

always @(posedge clk) begin
    if (take) begin
        meter_reg <= wr_meter;
        word_reg <= {wr_yellow, wr_cbs, wr_pbs, cir, pir};
    end
end

always @(posedge clk) begin
    stage_reg <= {stage_reg[5:1], go};
    if (take) begin
        free_reg <= 1'b0;
        wait_reg <= 1'b1;
    end
    if (go) begin
        wait_reg <= 1'b0;
    end
    if (stage_reg[6]) begin
        free_reg <= 1'b1;
    end
    if (clear_reg) begin
        clear_meter_reg <= clear_meter_reg + 1'b1;
        if (&clear_meter_reg) begin
            clear_reg <= 1'b0;
            free_reg <= 1'b1;
        end
    end
    if (rst) begin
        clear_reg <= 1'b1;
        clear_meter_reg <= {METER_W{1'b0}};
        free_reg <= 1'b0;
        wait_reg <= 1'b0;
        stage_reg <= 6'd0;
    end
end

endmodule

`resetall
