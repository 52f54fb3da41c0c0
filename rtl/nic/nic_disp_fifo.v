// FIFO of one source of dispositions for nic_account.
//
// `head` is valid with `valid`, one cycle after its push. `half`: half of DEPTH or more are held. A push into a full FIFO
// is lost and `lost` is 1 in its cycle.
//
// Parameters: DEPTH, a power of two, 2 or more.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_disp_fifo #(
    parameter DEPTH = 64
) (
    input  wire        clk,
    input  wire        rst,

    input  wire        push,
    input  wire [31:0] push_data,

    output wire        valid,
    output wire [31:0] head,
    input  wire        pop,

    output wire        half,
    output wire        lost
);

localparam ADDR_W = $clog2(DEPTH);
localparam [ADDR_W:0] ONE = 1;

reg [31:0] ram [0:DEPTH-1];
reg [ADDR_W:0] write_reg;
reg [ADDR_W:0] read_reg;

wire [ADDR_W:0] level = write_reg - read_reg;

assign valid = write_reg != read_reg;
assign head = ram[read_reg[ADDR_W-1:0]];
assign half = level[ADDR_W] || level[ADDR_W-1];
assign lost = push && level[ADDR_W];

wire unused_level = &{1'b0, level};

always @(posedge clk) begin
    if (push && !level[ADDR_W]) begin
        ram[write_reg[ADDR_W-1:0]] <= push_data;
        write_reg <= write_reg + ONE;
    end
    if (pop) begin
        read_reg <= read_reg + ONE;
    end

    if (rst) begin
        write_reg <= {(ADDR_W + 1){1'b0}};
        read_reg <= {(ADDR_W + 1){1'b0}};
    end
end

endmodule

`resetall
