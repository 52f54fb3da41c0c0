// Timeouts (docs/dma.md, code 11): looks at one tag a cycle, so that each is seen every 768 cycles at most.
//
// A tag that has waited longer than `limit` ns rests; one that has rested as long is free. `stall` leaves the tag for
// the next cycle: a completion has what it would need.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_timeout (
    input  wire        clk,
    input  wire        rst,

    input  wire [32:0] now,
    input  wire [31:0] limit,
    input  wire [9:0]  most,

    output wire [9:0]  scan,
    input  wire        scan_used,
    input  wire        scan_rests,
    input  wire [32:0] scan_since,
    input  wire        stall_used,
    input  wire        stall_rests,

    output wire        expires,
    output wire        rested
);

reg [9:0] scan_reg;

wire [32:0] age = now - scan_since;
wire old = limit != 32'd0 && age > {1'b0, limit};
wire waits = old && ((scan_used && stall_used) || (scan_rests && stall_rests));

assign scan = scan_reg;
assign expires = scan_used && old && !stall_used;
assign rested = scan_rests && old && !stall_rests;

always @(posedge clk) begin
    if (!waits) begin
        scan_reg <= scan_reg + 10'd1 >= most ? 10'd0 : scan_reg + 10'd1;
    end

    if (rst) begin
        scan_reg <= 10'd0;
    end
end

endmodule

`resetall
