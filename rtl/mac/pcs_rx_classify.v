// What a descrambled payload may be, for the decoder (IEEE 802.3, figure 49-7 and table 49-1). No register, no latency.
//
// `format` is the block type field, one bit at most: 0 0x1e; 1 0x2d; 2 0x33; 3 0x66; 4 0x55; 5 0x78; 6 0x4b; 7 to 14
// terminate in lane 0 to 7. `code_ok`, `code_error`: the control code of a lane, if it has one, stands in the table, is
// /E/. `order_ok`: the O codes of lanes 0 and 4 do.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_rx_classify (
    input  wire [63:0] payload,

    output wire [14:0] format,
    output wire [7:0]  code_ok,
    output wire [7:0]  code_error,
    output wire [1:0]  order_ok
);

wire [7:0] field = payload[7:0];

assign format[0] = field == 8'h1e;
assign format[1] = field == 8'h2d;
assign format[2] = field == 8'h33;
assign format[3] = field == 8'h66;
assign format[4] = field == 8'h55;
assign format[5] = field == 8'h78;
assign format[6] = field == 8'h4b;
assign format[7] = field == 8'h87;
assign format[8] = field == 8'h99;
assign format[9] = field == 8'haa;
assign format[10] = field == 8'hb4;
assign format[11] = field == 8'hcc;
assign format[12] = field == 8'hd2;
assign format[13] = field == 8'he1;
assign format[14] = field == 8'hff;

genvar i;
generate
    for (i = 0; i < 8; i = i + 1) begin : lane
        wire [6:0] code = payload[8 + 7*i +: 7];

        assign code_error[i] = code == 7'h1e;
        assign code_ok[i] = code == 7'h00 || code == 7'h1e || code == 7'h2d || code == 7'h33 || code == 7'h4b
            || code == 7'h55 || code == 7'h66 || code == 7'h78;
    end
    for (i = 0; i < 2; i = i + 1) begin : column
        assign order_ok[i] = payload[32 + 4*i +: 4] == 4'h0 || payload[32 + 4*i +: 4] == 4'hf;
    end
endgenerate

endmodule

`resetall
