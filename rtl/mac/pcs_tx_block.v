// The encoder's second half: the transmit state diagram (IEEE 802.3, figure 49-14) and the block (figure 49-7).
//
// From a classified word to sync header and payload, unscrambled, in the same cycle. States: what may follow is the same
// behind TX_INIT, TX_C and TX_T (no frame), in TX_D (a frame), and in TX_E. What may not is sent as an error block.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_tx_block (
    input  wire        clk,
    input  wire        rst,

    input  wire        valid,          // 0: TX_INIT, local fault
    input  wire [63:0] data,
    input  wire [15:0] format,         // of pcs_tx_classify
    input  wire [55:0] code,
    input  wire [3:0]  order0,
    input  wire [3:0]  order4,

    output wire [1:0]  header,
    output wire [63:0] payload
);

localparam [63:0] LOCAL_FAULT = 64'h0100000001000055;
localparam [63:0] ERRORS = {{8{7'h1e}}, 8'h1e};

reg frame_reg;
reg error_reg;

wire is_data = format[0];
wire is_control = format[1] || format[2] || format[5] || format[7];
wire is_start = format[3] || format[4] || format[6];
wire is_terminate = format[15:8] != 8'd0;

wire allowed = ((is_data || is_terminate) && (frame_reg || error_reg))
    || (is_control && !frame_reg) || (is_start && !frame_reg && !error_reg);

wire [63:0] assembled = ({64{format[0]}} & data)
    | ({64{format[1]}} & {code, 8'h1e})
    | ({64{format[2]}} & {data[63:40], order4, code[27:0], 8'h2d})
    | ({64{format[3]}} & {data[63:40], 4'h0, code[27:0], 8'h33})
    | ({64{format[4]}} & {data[63:40], 4'h0, order0, data[31:8], 8'h66})
    | ({64{format[5]}} & {data[63:40], order4, order0, data[31:8], 8'h55})
    | ({64{format[6]}} & {data[63:8], 8'h78})
    | ({64{format[7]}} & {code[55:28], order0, data[31:8], 8'h4b})
    | ({64{format[8]}} & {code[55:7], 7'h0, 8'h87})
    | ({64{format[9]}} & {code[55:14], 6'h0, data[7:0], 8'h99})
    | ({64{format[10]}} & {code[55:21], 5'h0, data[15:0], 8'haa})
    | ({64{format[11]}} & {code[55:28], 4'h0, data[23:0], 8'hb4})
    | ({64{format[12]}} & {code[55:35], 3'h0, data[31:0], 8'hcc})
    | ({64{format[13]}} & {code[55:42], 2'h0, data[39:0], 8'hd2})
    | ({64{format[14]}} & {code[55:49], 1'h0, data[47:0], 8'he1})
    | ({64{format[15]}} & {data[55:0], 8'hff});

assign header = valid && allowed && is_data ? 2'b10 : 2'b01;
assign payload = !valid ? LOCAL_FAULT : allowed ? assembled : ERRORS;

always @(posedge clk) begin
    if (valid) begin
        frame_reg <= allowed && (is_data || is_start);
        error_reg <= !allowed;
    end

    if (rst) begin
        frame_reg <= 1'b0;
        error_reg <= 1'b0;
    end
end

endmodule

`resetall
