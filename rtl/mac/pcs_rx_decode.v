// A payload as an XGMII word (IEEE 802.3, figure 49-7), as its block type field says; whether it is legal is asked by
// pcs_rx_type. No register, no latency.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_rx_decode (
    input  wire        is_data,
    input  wire [14:0] format,         // of pcs_rx_classify
    input  wire [63:0] payload,

    output wire [63:0] d,
    output wire [7:0]  c
);

wire [7:0] from_code;                  // control character
wire [7:0] from_next;                  // data of a block with terminate: one byte further up
wire [7:0] terminate;
wire [1:0] start;                      // lanes 0 and 4
wire [1:0] order;

assign start = {format[2] || format[3], format[5]};
assign order = {format[1] || format[4], format[3] || format[4] || format[6]};
assign terminate = format[14:7];

genvar i;
generate
    for (i = 0; i < 8; i = i + 1) begin : lane
        if (i == 0) begin : lowest
            assign from_code[i] = format[0] || format[1] || format[2];
        end else begin : other
            assign from_code[i] = format[0] || (i < 4 ? format[1] || format[2] : format[6])
                || (terminate[i-1:0] != {i{1'b0}});
        end
        if (i == 7) begin : top
            assign from_next[i] = 1'b0;
        end else begin : below
            assign from_next[i] = terminate[7:i+1] != {(7 - i){1'b0}};
        end

        wire starts, orders;
        if (i % 4 == 0) begin : head
            assign starts = start[i/4];
            assign orders = order[i/4];
        end else begin : no_head
            assign starts = 1'b0;
            assign orders = 1'b0;
        end

        wire [7:0] next;
        if (i == 7) begin : no_next
            assign next = 8'd0;
        end else begin : with_next
            assign next = payload[8*i + 8 +: 8];
        end

        reg [7:0] character;
        reg [7:0] value;

        always @* begin
            case (payload[8 + 7*i +: 7])
                7'h00: character = 8'h07;
                7'h2d: character = 8'h1c;
                7'h33: character = 8'h3c;
                7'h4b: character = 8'h7c;
                7'h55: character = 8'hbc;
                7'h66: character = 8'hdc;
                7'h78: character = 8'hf7;
                default: character = 8'hfe;
            endcase
            if (is_data) begin
                value = payload[8*i +: 8];
            end else if (from_code[i]) begin
                value = character;
            end else if (from_next[i]) begin
                value = next;
            end else if (terminate[i]) begin
                value = 8'hfd;
            end else if (starts) begin
                value = 8'hfb;
            end else if (orders) begin
                value = payload[32 + (i / 4) * 4] ? 8'h5c : 8'h9c;
            end else begin
                value = payload[8*i +: 8];
            end
        end

        assign d[8*i +: 8] = value;
        assign c[i] = !is_data && (from_code[i] || terminate[i] || starts || orders);
    end
endgenerate

endmodule

`resetall
