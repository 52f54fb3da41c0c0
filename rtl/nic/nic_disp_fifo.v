// FIFO of one source of dispositions, 64 deep, for nic_account.
//
// `head` is valid with `valid`, one cycle after its push. `half`: 32 or more are held. A push into a full FIFO is lost
// and `lost` is 1 in its cycle.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_disp_fifo (
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

reg [31:0] ram [0:63];
reg [6:0] write_reg;
reg [6:0] read_reg;

wire [6:0] level = write_reg - read_reg;

assign valid = write_reg != read_reg;
assign head = ram[read_reg[5:0]];
assign half = level[6] || level[5];
assign lost = push && level[6];

wire unused_level = &{1'b0, level[4:0]};

always @(posedge clk) begin
    if (push && !level[6]) begin
        ram[write_reg[5:0]] <= push_data;
        write_reg <= write_reg + 7'd1;
    end
    if (pop) begin
        read_reg <= read_reg + 7'd1;
    end

    if (rst) begin
        write_reg <= 7'd0;
        read_reg <= 7'd0;
    end
end

endmodule

`resetall
