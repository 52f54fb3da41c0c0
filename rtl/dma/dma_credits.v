// Credits (PCIe 4.0 2.6.1; docs/dma.md, TLPs): what may be sent now.
//
// `write_room`, `read_room` say of the credits asked for, in the same cycle, whether they are there; what is sent
// counts from the next cycle on. Completions: CPLH and CPLD bound what reads can still bring back, 0 is no bound.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_credits #(
    parameter CPLH = 0,
    parameter CPLD = 0
) (
    input  wire        clk,
    input  wire        rst,

    input  wire [7:0]  ph_limit,
    input  wire [11:0] pd_limit,
    input  wire [7:0]  nph_limit,
    input  wire        ph_infinite,
    input  wire        pd_infinite,
    input  wire        nph_infinite,

    // Asked: data credits of a write; headers and data that a read brings
    input  wire [8:0]  write_data,
    output wire        write_room,
    input  wire [6:0]  read_headers,
    input  wire [8:0]  read_data,
    output wire        read_room,

    input  wire        write_sent,
    input  wire        read_sent,
    input  wire        read_free,
    input  wire [6:0]  free_headers,
    input  wire [8:0]  free_data
);

reg [7:0] ph_reg;
reg [11:0] pd_reg;
reg [7:0] nph_reg;
reg [19:0] headers_reg;
reg [19:0] data_reg;

wire [7:0] ph_left = ph_limit - (ph_reg + 8'd1);
wire [11:0] pd_left = pd_limit - (pd_reg + {3'd0, write_data});
wire [7:0] nph_left = nph_limit - (nph_reg + 8'd1);
wire [19:0] headers = headers_reg + {13'd0, read_headers};
wire [19:0] data = data_reg + {11'd0, read_data};

assign write_room = (ph_infinite || ph_left <= 8'd128) && (pd_infinite || pd_left <= 12'd2048);
assign read_room = (nph_infinite || nph_left <= 8'd128)
    && (CPLH == 0 || {12'd0, headers} <= CPLH) && (CPLD == 0 || {12'd0, data} <= CPLD);

always @(posedge clk) begin
    if (write_sent) begin
        ph_reg <= ph_reg + 8'd1;
        pd_reg <= pd_reg + {3'd0, write_data};
    end
    if (read_sent) begin
        nph_reg <= nph_reg + 8'd1;
    end
    if (read_sent || read_free) begin
        headers_reg <= (read_sent ? headers : headers_reg) - (read_free ? {13'd0, free_headers} : 20'd0);
        data_reg <= (read_sent ? data : data_reg) - (read_free ? {11'd0, free_data} : 20'd0);
    end

    if (rst) begin
        ph_reg <= 8'd0;
        pd_reg <= 12'd0;
        nph_reg <= 8'd0;
        headers_reg <= 20'd0;
        data_reg <= 20'd0;
    end
end

endmodule

`resetall
