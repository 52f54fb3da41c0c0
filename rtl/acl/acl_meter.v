// Meters of the ACL: two rates, three colours, colour-blind (RFC 2698), exact.
//
// An ask in cycle c (`ask_valid`: meter, time, bytes of the frame) is answered in c + 7 with `m_valid`: the colour, and
// what yellow frames are marked with. The next ask comes in c + 4 at the earliest, also to the same meter. A frame of 0
// bytes, which there isn't, is green.
//
// A bucket holds units of 10^-9 bits: a nanosecond at r bits a second gives r of them, a byte costs 8 * 10^9. A bucket is
// filled when it is asked, by what its rate gave since the latest time at which its meter was asked; nothing is rounded
// and nothing wraps. A time before that gives nothing, and takes nothing back.
//
// Write: `wr_valid` and `wr_ready`. The meter gets these rates (a rate above 2^40 - 1 counts as that), full buckets, and
// time 0. An ask sees the whole old or the whole new meter: the new one, if it comes 2 cycles after that in which the
// write is taken, or later. The next write is taken 10 cycles later at most. After reset every meter is red for all
// (rates and bursts are 0); `ready` and the first `wr_ready` come once the memories say so, METERS cycles later. Nothing
// may be asked before.
//
// Cycles of an ask: 0 its time is read; 1 what has passed since; 2, 3 times the rate (acl_meter_product); 4 to 6 the
// buckets (acl_meter_bucket). A register that only an ask sets holds until the next ask, 4 cycles, and isn't piped.
//
// Parameter: METERS, a power of two.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_meter #(
    parameter METERS = 256,
    parameter METER_W = $clog2(METERS)
) (
    input  wire               clk,
    input  wire               rst,
    output wire               ready,

    // Ask
    input  wire               ask_valid,
    input  wire [METER_W-1:0] ask_meter,
    input  wire [63:0]        ask_time,
    input  wire [15:0]        ask_bytes,

    // Answer: 0 green, 1 yellow, 2 red
    output wire               m_valid,
    output wire [1:0]         m_colour,
    output wire               m_yellow_on,
    output wire [5:0]         m_yellow_dscp,

    // Write of a meter; wr_yellow: {on, dscp}
    input  wire               wr_valid,
    output wire               wr_ready,
    input  wire [METER_W-1:0] wr_meter,
    input  wire [63:0]        wr_cir,
    input  wire [63:0]        wr_pir,
    input  wire [31:0]        wr_cbs,
    input  wire [31:0]        wr_pbs,
    input  wire [6:0]         wr_yellow
);

localparam RATES_W = 7 + 32 + 32 + 40 + 40;
localparam [1:0] GREEN = 2'd0;
localparam [1:0] YELLOW = 2'd1;
localparam [1:0] RED = 2'd2;

reg [RATES_W-1:0] rates_mem [0:METERS-1];

reg [7:1] stage_reg;
reg [METER_W-1:0] meter_reg;        // cycles 1 to 4
reg [15:0] bytes_reg;               // 1 to 4
reg [RATES_W-1:0] rates_reg;        // 2 to 5
reg [36:0] cost_reg;                // 3 to 6, in units of 4096 * 10^-9 bits
reg [METER_W-1:0] level_meter_reg;  // 4 to 7
reg [6:0] yellow_reg;               // 6 to 9
reg [1:0] colour_reg;

wire [63:0] elapsed;
wire [39:0] cir, pir;
wire [31:0] cbs, pbs;
wire [6:0] yellow;
wire peak_enough, committed_enough;

wire write_rates, write_level, fresh;
wire [METER_W-1:0] write_meter;
wire [RATES_W-1:0] write_word;

assign {yellow, cbs, pbs, cir, pir} = rates_reg;
assign m_valid = stage_reg[7];
assign m_colour = colour_reg;
assign {m_yellow_on, m_yellow_dscp} = yellow_reg;

acl_meter_write #(.METERS(METERS), .RATES_W(RATES_W)) writer (
    .clk(clk), .rst(rst), .ready(ready), .hold(ask_valid || stage_reg[1]),
    .wr_valid(wr_valid), .wr_ready(wr_ready), .wr_meter(wr_meter), .wr_cir(wr_cir), .wr_pir(wr_pir),
    .wr_cbs(wr_cbs), .wr_pbs(wr_pbs), .wr_yellow(wr_yellow),
    .write_rates(write_rates), .write_level(write_level), .write_meter(write_meter), .write_word(write_word),
    .ask_meter(meter_reg), .fresh(fresh)
);

acl_meter_time #(.METERS(METERS)) times (
    .clk(clk), .ask_valid(ask_valid), .ask_meter(ask_meter), .ask_time(ask_time), .stage_1(stage_reg[1]),
    .elapsed(elapsed), .zero(write_rates), .zero_meter(write_meter)
);

acl_meter_bucket #(.METERS(METERS)) peak (
    .clk(clk), .stage(stage_reg[6:2]), .meter(meter_reg), .level_meter(level_meter_reg), .fresh(fresh),
    .elapsed(elapsed), .rate(pir), .burst(pbs), .cost(cost_reg), .enough(peak_enough), .take(peak_enough),
    .refill(write_level), .refill_meter(write_meter)
);

acl_meter_bucket #(.METERS(METERS)) committed (
    .clk(clk), .stage(stage_reg[6:2]), .meter(meter_reg), .level_meter(level_meter_reg), .fresh(fresh),
    .elapsed(elapsed), .rate(cir), .burst(cbs), .cost(cost_reg), .enough(committed_enough),
    .take(peak_enough && committed_enough), .refill(write_level), .refill_meter(write_meter)
);

always @(posedge clk) begin
    if (write_rates) begin
        rates_mem[write_meter] <= write_word;
    end
    if (stage_reg[1]) begin
        rates_reg <= rates_mem[meter_reg];
    end
end

always @(posedge clk) begin
    stage_reg <= {stage_reg[6:1], ask_valid};
    if (rst) begin
        stage_reg <= 7'd0;
    end
end

always @(posedge clk) begin
    if (ask_valid) begin
        meter_reg <= ask_meter;
        bytes_reg <= ask_bytes;
    end
    if (stage_reg[2]) begin
        cost_reg <= bytes_reg * 21'd1953125;
    end
    if (stage_reg[3]) begin
        level_meter_reg <= meter_reg;
    end
    if (stage_reg[5]) begin
        yellow_reg <= yellow;
    end
    if (stage_reg[6]) begin
        colour_reg <= !peak_enough ? RED : committed_enough ? GREEN : YELLOW;
    end
end

endmodule

`resetall
