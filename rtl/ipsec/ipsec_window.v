// ipsec_window: which sequence numbers of an SA came (RFC 4303 3.4.3, appendix A2).
//
// A word an SA: T, the highest number so far, and 1024 bits; that of number S is bit S mod 1024, so that nothing is shifted.
// W = 32 * window (more than 32 is 32); W = 0: each number but 0 is good. Number 0 never is.
//
// Early, before a frame is decrypted: early_valid and early_sa in cycle c, the number in the header (early_low) in c + 1, window
// and esn of the SA in c + 2. In c + 4 early_good, and early_number, the whole number. It sees what was set before c.
// Late, at its verdict: late_valid with SA, number and window in c; late_good in c + 2; with late_set in c + 3 the number counts
// as seen, and T moves where it is higher; late_latest in c + 3 is what T becomes. One in four cycles at most; one in c + 4
// finds what was set in c + 3.
// wr_valid with wr_ready: T of wr_sa is wr_sequence and nothing has come.
//
// Nothing is cleared by a reset: an SA is written before it is found.
//
// Parameter: SAS, a power of two from 2 on.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_window #(
    parameter SAS = 256,
    parameter SA_W = $clog2(SAS)
) (
    input  wire            clk,
    input  wire            rst,

    input  wire            early_valid,
    input  wire [SA_W-1:0] early_sa,
    input  wire [31:0]     early_low,
    input  wire [5:0]      early_window,
    input  wire            early_esn,
    output wire            early_good,
    output wire [63:0]     early_number,

    input  wire            late_valid,
    input  wire [SA_W-1:0] late_sa,
    input  wire [63:0]     late_number,
    input  wire [5:0]      late_window,
    output wire            late_good,
    input  wire            late_set,
    output wire [63:0]     late_latest,

    input  wire            wr_valid,
    output wire            wr_ready,
    input  wire [SA_W-1:0] wr_sa,
    input  wire [63:0]     wr_sequence
);

localparam BITS = 1024;

// W as a number
function [10:0] width_of(input [5:0] window);
    width_of = window[5] ? 11'd1024 : {1'b0, window[4:0], 5'd0};
endfunction

reg [64+BITS-1:0] mem [0:SAS-1];

// Early

reg [2:0]         early_stage_reg;
reg [64+BITS-1:0] early_word_reg;
reg               early_bit_reg;
reg [63:0]        early_latest_reg;
reg [31:0]        early_low_reg, low_reg;
reg               above_reg;       // A of appendix A2: the window doesn't reach below Seql 0
reg               in_reg;          // Seql is in the window or right of it, in the window's own 2^32
reg               esn_reg;
reg [10:0]        width_reg;
reg               early_good_reg;
reg [63:0]        early_number_reg;

wire [BITS-1:0] early_bits = early_word_reg[BITS-1:0];
wire [10:0] early_width = width_of(early_window);
wire [31:0] early_left = early_latest_reg[31:0] - {21'd0, early_width} + 32'd1;

wire [31:0] high = early_latest_reg[63:32];
wire [31:0] this_high = !esn_reg ? 32'd0 : above_reg == in_reg ? high : above_reg ? high + 32'd1 : high - 32'd1;
wire        no_such = esn_reg && (above_reg && !in_reg && &high || !above_reg && in_reg && high == 32'd0);
wire [63:0] number = {this_high, low_reg};
wire [63:0] early_behind = early_latest_reg - number;
wire        early_fits = width_reg == 11'd0 || number > early_latest_reg
    || (early_behind < {53'd0, width_reg} && !early_bit_reg);

assign early_good = early_good_reg;
assign early_number = early_number_reg;

always @(posedge clk) begin
    if (early_valid) begin
        early_word_reg <= mem[early_sa];
    end
    if (early_stage_reg[0]) begin
        early_bit_reg <= early_bits[early_low[9:0]];
        early_latest_reg <= early_word_reg[64+BITS-1:BITS];
        early_low_reg <= early_low;
    end
    if (early_stage_reg[1]) begin
        above_reg <= early_latest_reg[31:0] >= {21'd0, early_width} - 32'd1;
        in_reg <= early_low_reg >= early_left;
        esn_reg <= early_esn;
        width_reg <= early_width;
        low_reg <= early_low_reg;
    end
    if (early_stage_reg[2]) begin
        early_good_reg <= !no_such && number != 64'd0 && early_fits;
        early_number_reg <= number;
    end
end

always @(posedge clk) begin
    early_stage_reg <= {early_stage_reg[1:0], early_valid};

    if (rst) begin
        early_stage_reg <= 3'd0;
    end
end

// Late

reg [2:0]         late_stage_reg;
reg [64+BITS-1:0] late_word_reg;
reg [63:0]        number_reg;
reg [10:0]        late_width_reg;
reg [SA_W-1:0]    sa_reg;
reg               newer_reg;
reg               far_reg;         // T moves by 1024 or more
reg               late_good_reg;

wire [BITS-1:0] seen = late_word_reg[BITS-1:0];
wire [63:0] latest = late_word_reg[64+BITS-1:BITS];
wire [63:0] late_behind = latest - number_reg;
wire [63:0] late_ahead = number_reg - latest;
wire        unused_ahead = &{1'b0, late_ahead[9:0]};
wire        newer = number_reg > latest;

assign late_good = late_good_reg;
assign late_latest = newer_reg ? number_reg : latest;

always @(posedge clk) begin
    if (late_valid) begin
        late_word_reg <= mem[late_sa];
        number_reg <= late_number;
        late_width_reg <= width_of(late_window);
        sa_reg <= late_sa;
    end
    if (late_stage_reg[0]) begin
        newer_reg <= newer;
        far_reg <= late_ahead[63:10] != 54'd0;
        late_good_reg <= number_reg != 64'd0 && (late_width_reg == 11'd0 || newer
            || (late_behind < {53'd0, late_width_reg} && !seen[number_reg[9:0]]));
    end
end

always @(posedge clk) begin
    late_stage_reg <= {late_stage_reg[1:0], late_valid};

    if (rst) begin
        late_stage_reg <= 3'd0;
    end
end

// Places T + 1 to S, all of them where T moves far: not below the first, or not above the last, or both.
wire             set = late_stage_reg[2] && late_set;
wire [9:0]       first = latest[9:0] + 10'd1;
wire [9:0]       last = number_reg[9:0];
wire [BITS-1:0]  from_first = {BITS{1'b1}} << first;
wire [BITS-1:0]  to_last = {BITS{1'b1}} >> (10'd1023 - last);
wire [BITS-1:0]  moved = !newer_reg ? {BITS{1'b0}} : far_reg ? {BITS{1'b1}}
    : first <= last ? from_first & to_last : from_first | to_last;
wire [BITS-1:0]  place = {{(BITS-1){1'b0}}, 1'b1} << last;
wire             write = set || wr_valid;

assign wr_ready = !set;

always @(posedge clk) begin
    if (write) begin
        mem[set ? sa_reg : wr_sa] <= set ? {late_latest, (seen & ~moved) | place} : {wr_sequence, {BITS{1'b0}}};
    end
end

endmodule

`resetall
