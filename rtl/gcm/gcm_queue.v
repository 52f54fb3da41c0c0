// gcm_queue: a queue whose output is a look ahead: its first entry is at `read_data` while `valid` is 1, `read` takes it.
//
// What is written in cycle c is at the output in c + 1. One entry a cycle in and out. Whoever writes knows that there is
// room.
//
// Parameters: WIDTH, bits of an entry; DEPTH, a power of two.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_queue #(
    parameter WIDTH = 8,
    parameter DEPTH = 4
) (
    input  wire             clk,
    input  wire             rst,

    input  wire             write,
    input  wire [WIDTH-1:0] write_data,

    output wire             valid,
    output wire [WIDTH-1:0] read_data,
    input  wire             read
);

localparam ADDR_W = $clog2(DEPTH);
localparam [ADDR_W:0] ONE = 1;

reg [WIDTH-1:0] mem [0:DEPTH-1];

// Counters modulo 2 * DEPTH; the low bits are addresses.
reg [ADDR_W:0] write_reg;
reg [ADDR_W:0] read_reg;

assign valid = write_reg != read_reg;
assign read_data = mem[read_reg[ADDR_W-1:0]];

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
