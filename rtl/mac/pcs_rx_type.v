// R_TYPE of IEEE 802.3, 49.2.13.2.3: of what kind a block is that pcs_rx_classify has looked at. None of them: E.
//
// No register, no latency.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_rx_type (
    input  wire [1:0]  header,         // bit 0 first on the wire
    input  wire [14:0] format,
    input  wire [7:0]  code_ok,
    input  wire [7:0]  code_error,
    input  wire [1:0]  order_ok,

    output wire        is_data,
    output wire        is_control,
    output wire        is_start,
    output wire        is_terminate
);

wire control = header == 2'b01;
wire low_ok = &code_ok[3:0];
wire high_ok = &code_ok[7:4];

wire [7:0] ending;

genvar i;
generate
    for (i = 0; i < 7; i = i + 1) begin : lane
        assign ending[i] = format[7 + i] && (&code_ok[7:i+1]);
    end
endgenerate

assign ending[7] = format[14];

assign is_data = header == 2'b10;
assign is_control = control && ((format[0] && low_ok && high_ok && code_error == 8'd0)
    || (format[1] && low_ok && order_ok[1])
    || (format[4] && order_ok == 2'b11)
    || (format[6] && order_ok[0] && high_ok));
assign is_start = control && ((format[2] && low_ok) || (format[3] && order_ok[0]) || format[5]);
assign is_terminate = control && ending != 8'd0;

endmodule

`resetall
