// The FCS of the frame that is sent (IEEE 802.3, 3.2.9): 64 bits a cycle, the last word of any length.
//
// The word comes aligned: its last byte on top, zeros in front. A stage earlier did that for the data; here only the
// register is moved by as much, which costs one multiplexer of four ways in the loop. Bytes of zero in front of a
// register of zero change nothing. A word of less than four bytes leaves the rest of the register over, which is added
// behind the network.
//
// Latency 1: `fcs` is right from the cycle after the last word to the next frame's first. Throughput a word a cycle.
// s_count: bytes of the word, 1 to 8.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_tx_crc (
    input  wire        clk,

    input  wire        s_valid,
    input  wire        s_first,
    input  wire [63:0] s_aligned,
    input  wire [3:0]  s_count,

    output wire [31:0] fcs
);

reg [31:0] crc_reg;

wire [31:0] register = s_first ? 32'hffffffff : crc_reg;

reg [63:0] moved;
reg [31:0] over;

always @* begin
    over = 32'd0;
    case (s_count)
        4'd1: begin moved = {register[7:0], 56'd0}; over = {8'd0, register[31:8]}; end
        4'd2: begin moved = {register[15:0], 48'd0}; over = {16'd0, register[31:16]}; end
        4'd3: begin moved = {register[23:0], 40'd0}; over = {24'd0, register[31:24]}; end
        4'd4: moved = {register, 32'd0};
        4'd5: moved = {8'd0, register, 24'd0};
        4'd6: moved = {16'd0, register, 16'd0};
        4'd7: moved = {24'd0, register, 8'd0};
        default: moved = {32'd0, register};
    endcase
end

wire [31:0] folded;

mac_crc_fold fold (
    .word(s_aligned ^ moved),
    .crc(folded)
);

assign fcs = ~crc_reg;

always @(posedge clk) begin
    if (s_valid) begin
        crc_reg <= folded ^ over;
    end
end

endmodule

`resetall
