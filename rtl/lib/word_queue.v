// word_queue: a queue of words whose output is a look ahead: its first entry is at `read_data` while `valid` is 1, `read`
// takes it away.
//
// What is written in cycle c is at the output in c + 1, or with BYPASS 1 in c if nothing is in front of it (and may be
// read in that cycle). One entry a cycle in and out. Whoever writes must know that there is room: `held` entries are in
// it.
//
// Parameters: WIDTH, bits of an entry; DEPTH, a power of two; BYPASS, 0 or 1.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module word_queue #(
    parameter WIDTH = 8,
    parameter DEPTH = 4,
    parameter BYPASS = 0
) (
    input  wire                   clk,
    input  wire                   rst,

    input  wire                   write,
    input  wire [WIDTH-1:0]       write_data,

    output wire                   valid,
    output wire [WIDTH-1:0]       read_data,
    input  wire                   read,

    output wire [$clog2(DEPTH):0] held
);

localparam ADDR_W = $clog2(DEPTH);
localparam [ADDR_W:0] ONE = 1;

reg [WIDTH-1:0] mem [0:DEPTH-1];

// Counters modulo 2 * DEPTH; the low bits are addresses.
reg [ADDR_W:0] write_reg;
reg [ADDR_W:0] read_reg;

wire empty = write_reg == read_reg;

assign held = write_reg - read_reg;

generate
    if (BYPASS != 0) begin : g_bypass
        assign valid = !empty || write;
        assign read_data = empty ? write_data : mem[read_reg[ADDR_W-1:0]];
    end else begin : g_plain
        assign valid = !empty;
        assign read_data = mem[read_reg[ADDR_W-1:0]];
    end
endgenerate

always @(posedge clk) begin
    if (write) begin
        mem[write_reg[ADDR_W-1:0]] <= write_data;
    end
end

always @(posedge clk) begin
    if (write) begin
        write_reg <= write_reg + ONE;
    end
    if (read) begin
        read_reg <= read_reg + ONE;
    end

    if (rst) begin
        write_reg <= {(ADDR_W + 1){1'b0}};
        read_reg <= {(ADDR_W + 1){1'b0}};
    end
end

endmodule

`resetall
