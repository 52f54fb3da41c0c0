// Counters of 64 bits for strobes, and for one amount, behind one adder and one memory.
//
// `incr` are the strobes of a MAC, one bit a counter; `bytes` is an amount that counter N adds whenever it isn't 0. Each
// strobe waits in a counter of its own, narrow, until its turn: a counter has one every 2^INDEX_W cycles, in which what
// waits is added to its word of the memory. So any of them may strobe in every cycle.
//
// Read port, that of an external array of counters (docs/registers.md): `req` with `index` and `word` (1: the high half)
// holds until `ack`, one cycle later. The low word gives the count and latches its high half for the read behind it. A
// strobe is in what is read at most 2^INDEX_W + 1 cycles later. A reset clears all; the counters count from the first
// cycle behind it.
//
// Parameters: N strobes; INDEX_W, 2^INDEX_W above N; BYTES_W, of an amount.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_stats #(
    parameter N = 21,
    parameter INDEX_W = 5,
    parameter BYTES_W = 16
) (
    input  wire               clk,
    input  wire               rst,

    input  wire [N-1:0]       incr,
    input  wire [BYTES_W-1:0] bytes,

    input  wire               req,
    input  wire [INDEX_W-1:0] index,
    input  wire               word,
    output wire               ack,
    output wire [31:0]        rdata
);

localparam COUNTERS = 1 << INDEX_W;
localparam WAIT_W = INDEX_W + 1;                // a turn's strobes: 1 to 2^INDEX_W
localparam SUM_W = BYTES_W + INDEX_W;           // a turn's amounts

initial begin
    if (N >= COUNTERS) begin
        $display("mac_stats: N (%0d) must be below 2^INDEX_W", N);
        $finish;
    end
end

// Turns

reg [INDEX_W-1:0] turn_reg;
reg               first_reg;                    // first round behind a reset: what the memory holds doesn't count

wire [COUNTERS-1:0] mine = {{COUNTERS-1{1'b0}}, 1'b1} << turn_reg;

// What waits

wire [N*WAIT_W-1:0] waiting;
reg [SUM_W-1:0]     sum_reg;

genvar i;
generate
    for (i = 0; i < N; i = i + 1) begin : strobe
        reg [WAIT_W-1:0] wait_reg;

        assign waiting[i*WAIT_W +: WAIT_W] = wait_reg;

        always @(posedge clk) begin
            if (rst) begin
                wait_reg <= {WAIT_W{1'b0}};
            end else if (mine[i]) begin
                wait_reg <= {{WAIT_W-1{1'b0}}, incr[i]};
            end else if (incr[i]) begin
                wait_reg <= wait_reg + {{WAIT_W-1{1'b0}}, 1'b1};
            end
        end
    end
endgenerate

always @(posedge clk) begin
    if (rst) begin
        sum_reg <= {SUM_W{1'b0}};
    end else begin
        sum_reg <= (mine[N] ? {SUM_W{1'b0}} : sum_reg) + {{INDEX_W{1'b0}}, bytes};
    end
end

// The one whose turn it is, added a cycle later

reg [SUM_W-1:0] chosen;
integer k;

always @* begin
    chosen = mine[N] ? sum_reg : {SUM_W{1'b0}};
    for (k = 0; k < N; k = k + 1) begin
        if (mine[k]) begin
            chosen = {{SUM_W-WAIT_W{1'b0}}, waiting[k*WAIT_W +: WAIT_W]};
        end
    end
end

reg [63:0]        count_ram [0:COUNTERS-1];
reg [INDEX_W-1:0] add_index_reg;
reg [SUM_W-1:0]   add_reg;
reg               add_first_reg;
reg               add_valid_reg;

always @(posedge clk) begin
    turn_reg <= turn_reg + {{INDEX_W-1{1'b0}}, 1'b1};
    if (&turn_reg) begin
        first_reg <= 1'b0;
    end
    add_index_reg <= turn_reg;
    add_reg <= chosen;
    add_first_reg <= first_reg;
    add_valid_reg <= first_reg || chosen != {SUM_W{1'b0}};
    if (add_valid_reg) begin
        count_ram[add_index_reg] <= (add_first_reg ? 64'd0 : count_ram[add_index_reg]) + {{64-SUM_W{1'b0}}, add_reg};
    end

    if (rst) begin
        turn_reg <= {INDEX_W{1'b0}};
        first_reg <= 1'b1;
        add_valid_reg <= 1'b0;
    end
end

// Reads; in the first round words are still uncleared

reg        ack_reg;
reg [31:0] rdata_reg;
reg [31:0] high_reg;

wire clearing = first_reg || add_first_reg;

assign ack = ack_reg;
assign rdata = rdata_reg;

always @(posedge clk) begin
    ack_reg <= req && !ack_reg && !clearing;
    if (req && !ack_reg) begin
        rdata_reg <= word ? high_reg : count_ram[index][31:0];
        if (!word) begin
            high_reg <= count_ram[index][63:32];
        end
    end

    if (rst) begin
        ack_reg <= 1'b0;
    end
end

endmodule

`resetall
