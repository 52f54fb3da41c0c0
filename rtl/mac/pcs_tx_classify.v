// What an XGMII word is, for the encoder: which block format of figure 49-7 it has, if any. No register, no latency.
//
// `format`, one bit at most: 0 data; 1 0x1e; 2 0x2d; 3 0x33; 4 0x66; 5 0x55; 6 0x78; 7 0x4b; 8 to 15 terminate in lane
// 0 to 7. None: T_TYPE is E (IEEE 802.3, 49.2.13.2.3). `code`: the lanes' control codes of table 49-1, 7 bits each;
// order0, order4: O codes. Low power idle isn't known.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_tx_classify (
    input  wire [63:0] d,
    input  wire [7:0]  c,

    output wire [15:0] format,
    output wire [55:0] code,
    output wire [3:0]  order0,
    output wire [3:0]  order4
);

wire [7:0] data = ~c;
wire [7:0] control;        // that has a code
wire [7:0] error;
wire [7:0] terminate;
wire [1:0] start;          // lanes 0 and 4
wire [1:0] order;

genvar i;
generate
    for (i = 0; i < 8; i = i + 1) begin : lane
        reg [7:0] found;

        always @* begin
            case (d[i*8 +: 8])
                8'h07: found = 8'h80;
                8'hfe: found = 8'h9e;
                8'h1c: found = 8'had;
                8'h3c: found = 8'hb3;
                8'h7c: found = 8'hcb;
                8'hbc: found = 8'hd5;
                8'hdc: found = 8'he6;
                8'hf7: found = 8'hf8;
                default: found = 8'h00;
            endcase
        end

        assign code[i*7 +: 7] = found[6:0];
        assign control[i] = c[i] && found[7];
        assign error[i] = d[i*8 +: 8] == 8'hfe;
        assign terminate[i] = c[i] && d[i*8 +: 8] == 8'hfd;
    end

    for (i = 0; i < 2; i = i + 1) begin : column
        assign start[i] = c[i*4] && d[i*32 +: 8] == 8'hfb;
        assign order[i] = c[i*4] && (d[i*32 +: 8] == 8'h9c || d[i*32 +: 8] == 8'h5c);
    end
endgenerate

assign order0 = {4{d[6]}};       // 0x5c
assign order4 = {4{d[38]}};

// 0x9c has bit 6 clear, 0x5c set
wire low_control = &control[3:0];
wire high_control = &control[7:4];
wire low_data = &data[3:1];
wire high_data = &data[7:5];

assign format[0] = &data;
assign format[1] = low_control && high_control && error == 8'd0;
assign format[2] = low_control && order[1] && high_data;
assign format[3] = low_control && start[1] && high_data;
assign format[4] = order[0] && low_data && start[1] && high_data;
assign format[5] = order[0] && low_data && order[1] && high_data;
assign format[6] = start[0] && low_data && data[4] && high_data;
assign format[7] = order[0] && low_data && high_control;
assign format[8] = terminate[0] && (&control[7:1]);
assign format[15] = (&data[6:0]) && terminate[7];

generate
    for (i = 1; i < 7; i = i + 1) begin : ending
        assign format[8 + i] = (&data[i-1:0]) && terminate[i] && (&control[7:i+1]);
    end
endgenerate

endmodule

`resetall
