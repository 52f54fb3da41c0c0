// The receive test-pattern checkers (IEEE 802.3, 49.2.12). docs/mac.md, pcs_rx.
//
// Pseudo-random: each descrambled payload must be the pattern's data or their inverse. The block in which the sender
// loads a seed is neither, once in 128: the first mismatch begins a window of 128 blocks and isn't counted, nor is one
// that comes right behind a window; if none comes there, the window was begun by an error, and the next mismatch begins
// another. Mismatches inside a window count one each.
//
// PRBS31: each bit of the 66 that isn't the XOR of those 28 and 31 before it counts one. The first block isn't checked.
//
// Latency: 4 cycles to `errors`, from the payload (itself a cycle behind the block) and from the block. 16 bits, which
// stay at all ones; what comes in the cycle of `clear` counts.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_rx_pattern (
    input  wire        clk,
    input  wire        rst,

    input  wire        run_random,
    input  wire        run_prbs,
    input  wire        cfg_data_lf,
    input  wire [65:0] block,
    input  wire [63:0] payload,

    output wire [15:0] errors,
    input  wire        clear
);

localparam [63:0] LOCAL_FAULT = 64'h0100000001000055;

// Pseudo-random

wire [63:0] differs = payload ^ (cfg_data_lf ? LOCAL_FAULT : 64'd0);

reg       random_valid_reg;
reg       mismatch_reg;
reg       window_reg;
reg [6:0] place_reg;                   // in the window; 0: the block behind it
reg       random_error_reg;

always @(posedge clk) begin
    random_valid_reg <= run_random;
    mismatch_reg <= run_random && differs != 64'd0 && differs != {64{1'b1}};

    random_error_reg <= 1'b0;
    if (!random_valid_reg || rst) begin
        window_reg <= 1'b0;
        place_reg <= 7'd0;
    end else if (!window_reg || place_reg == 7'd0) begin
        window_reg <= mismatch_reg;
        place_reg <= {6'd0, mismatch_reg};
    end else begin
        random_error_reg <= mismatch_reg;
        place_reg <= place_reg + 7'd1;
    end

    if (rst) begin
        random_error_reg <= 1'b0;
    end
end

// PRBS31

reg [30:0] last_reg;                   // in the order of time, bit 30 the newest
reg        last_valid_reg;
reg [65:0] wrong_reg;
reg [23:0] parts_reg;                  // wrong bits among 11 each

integer p;
integer k;
reg [23:0] parts;

// Inverted or not: the XOR of three inverted bits is the inverse
wire [65:0] expected = ~({block[34:0], last_reg} ^ {block[37:0], last_reg[30:3]});

always @* begin
    parts = 24'd0;
    for (p = 0; p < 6; p = p + 1) begin
        for (k = 0; k < 11; k = k + 1) begin
            parts[p*4 +: 4] = parts[p*4 +: 4] + {3'd0, wrong_reg[p*11 + k]};
        end
    end
end

always @(posedge clk) begin
    last_valid_reg <= run_prbs;
    if (run_prbs) begin
        last_reg <= block[65:35];
    end
    if (run_prbs || wrong_reg != 66'd0) begin
        wrong_reg <= run_prbs && last_valid_reg ? block ^ expected : 66'd0;
    end
    if (wrong_reg != 66'd0 || parts_reg != 24'd0) begin
        parts_reg <= parts;
    end

    if (rst) begin
        last_valid_reg <= 1'b0;
        wrong_reg <= 66'd0;
        parts_reg <= 24'd0;
    end
end

// Sum

reg [6:0]  found_reg;
reg [15:0] errors_reg;

wire [6:0] found = {6'd0, random_error_reg} + {3'd0, parts_reg[3:0]} + {3'd0, parts_reg[7:4]} + {3'd0, parts_reg[11:8]}
    + {3'd0, parts_reg[15:12]} + {3'd0, parts_reg[19:16]} + {3'd0, parts_reg[23:20]};
wire [16:0] sum = (clear ? 17'd0 : {1'b0, errors_reg}) + {10'd0, found_reg};

assign errors = errors_reg;

always @(posedge clk) begin
    found_reg <= found;
    errors_reg <= sum[16] ? 16'hffff : sum[15:0];

    if (rst) begin
        found_reg <= 7'd0;
        errors_reg <= 16'd0;
    end
end

endmodule

`resetall
