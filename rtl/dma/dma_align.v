// Bytes in as they come, out as they are asked for: up to 16 a cycle each way.
//
// What was put in is at the output in the next cycle, from byte 0 on; bytes that aren't there are 0. `take` of them go
// (at most `count`). `clear` forgets all.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_align (
    input  wire         clk,
    input  wire         rst,

    input  wire         clear,

    input  wire         put,
    input  wire [127:0] put_data,
    input  wire [4:0]   put_bytes,
    output wire         room,

    output wire [127:0] data,
    output wire [5:0]   count,
    input  wire [4:0]   take
);

reg [383:0] store_reg;
reg [5:0] count_reg;

wire [5:0] rest = count_reg - {1'b0, take};
wire [127:0] mask = ~({128{1'b1}} << {put_bytes, 3'd0});
wire [383:0] added = {256'd0, put_data & mask} << {rest, 3'd0};

assign room = count_reg <= 6'd32;
assign data = store_reg[127:0];
assign count = count_reg;

always @(posedge clk) begin
    if (put || take != 5'd0) begin
        store_reg <= (store_reg >> {take, 3'd0}) | (put ? added : 384'd0);
        count_reg <= rest + (put ? {1'b0, put_bytes} : 6'd0);
    end

    if (rst || clear) begin
        store_reg <= 384'd0;
        count_reg <= 6'd0;
    end
end

endmodule

`resetall
