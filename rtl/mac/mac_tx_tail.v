// The end of a frame on XGMII: its last `count` bytes of data (0 to 8), four bytes of FCS, terminate, idle.
//
// `head` is the word with the data, `tail` the one behind it, which holds characters of the frame where count is 4 or
// more (`more`). `bad`: error characters stand in the place of the FCS. No register, no latency.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_tx_tail (
    input  wire [63:0] data,
    input  wire [31:0] fcs,
    input  wire [3:0]  count,
    input  wire        bad,

    output reg  [63:0] head_d,
    output reg  [7:0]  head_c,
    output reg  [63:0] tail_d,
    output reg  [7:0]  tail_c,
    output wire        more
);

localparam [55:0] IDLE = 56'h07070707070707;
localparam [7:0] TERMINATE = 8'hfd;

wire [31:0] f = bad ? 32'hfefefefe : fcs;
wire [3:0] fc = {4{bad}};

assign more = count >= 4'd4;

always @* begin
    case (count)
        4'd0: begin head_d = {IDLE[23:0], TERMINATE, f}; head_c = {4'hf, fc}; end
        4'd1: begin head_d = {IDLE[15:0], TERMINATE, f, data[7:0]}; head_c = {3'h7, fc, 1'h0}; end
        4'd2: begin head_d = {IDLE[7:0], TERMINATE, f, data[15:0]}; head_c = {2'h3, fc, 2'h0}; end
        4'd3: begin head_d = {TERMINATE, f, data[23:0]}; head_c = {1'h1, fc, 3'h0}; end
        4'd4: begin head_d = {f, data[31:0]}; head_c = {fc, 4'h0}; end
        4'd5: begin head_d = {f[23:0], data[39:0]}; head_c = {fc[2:0], 5'h0}; end
        4'd6: begin head_d = {f[15:0], data[47:0]}; head_c = {fc[1:0], 6'h0}; end
        4'd7: begin head_d = {f[7:0], data[55:0]}; head_c = {fc[0], 7'h0}; end
        default: begin head_d = data; head_c = 8'h00; end
    endcase
    case (count)
        4'd5: begin tail_d = {IDLE[47:0], TERMINATE, f[31:24]}; tail_c = {7'h7f, fc[3]}; end
        4'd6: begin tail_d = {IDLE[39:0], TERMINATE, f[31:16]}; tail_c = {6'h3f, fc[3:2]}; end
        4'd7: begin tail_d = {IDLE[31:0], TERMINATE, f[31:8]}; tail_c = {5'h1f, fc[3:1]}; end
        4'd8: begin tail_d = {IDLE[23:0], TERMINATE, f}; tail_c = {4'hf, fc}; end
        default: begin tail_d = {IDLE, TERMINATE}; tail_c = 8'hff; end
    endcase
end

endmodule

`resetall
