// The beats of frames while their headers are read. A beat that is written in cycle c is at the output in c + 1; the
// output is a look ahead (combinational from the memory: registers or distributed RAM), `read` takes it away.
//
// One beat a cycle in and out. `room` and `empty` come from registers.
//
// Parameters: DEPTH, a power of two; WIDTH, bits of a beat with all that is beside it.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module parser_fifo #(
    parameter DEPTH = 32,
    parameter WIDTH = 155
) (
    input  wire             clk,
    input  wire             rst,

    input  wire             write,
    input  wire [WIDTH-1:0] write_data,
    output wire             room,

    input  wire             read,
    output wire [WIDTH-1:0] read_data,
    output wire             empty
);

localparam ADDR_W = $clog2(DEPTH);
localparam [ADDR_W:0] ONE = 1;

reg [WIDTH-1:0] mem [0:DEPTH-1];

// Counters modulo 2 * DEPTH; the low bits are addresses.
reg [ADDR_W:0] write_reg;
reg [ADDR_W:0] read_reg;

assign room = (write_reg ^ read_reg) != DEPTH[ADDR_W:0];
assign empty = write_reg == read_reg;
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
