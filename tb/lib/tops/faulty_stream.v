// A wire from s_axis to m_axis that breaks one rule of the stream protocol, chosen by "fault".
// Bench only: it shows that the checkers see each break.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module faulty_stream #(
    parameter DATA_W = 128,
    parameter USER_W = 10,
    parameter META_W = 48,
    parameter KEEP_W = DATA_W / 8
) (
    input  wire              clk,
    input  wire              rst,
    input  wire [DATA_W-1:0] s_axis_tdata,
    input  wire [KEEP_W-1:0] s_axis_tkeep,
    input  wire              s_axis_tvalid,
    output wire              s_axis_tready,
    input  wire              s_axis_tlast,
    input  wire [USER_W-1:0] s_axis_tuser,
    input  wire [META_W-1:0] s_axis_meta,
    output wire [DATA_W-1:0] m_axis_tdata,
    output wire [KEEP_W-1:0] m_axis_tkeep,
    output wire              m_axis_tvalid,
    input  wire              m_axis_tready,
    output wire              m_axis_tlast,
    output wire [USER_W-1:0] m_axis_tuser,
    output wire [META_W-1:0] m_axis_meta,
    input  wire [3:0]        fault
);

    localparam [3:0] VALID_FALLS = 4'd1;
    localparam [3:0] DATA_CHANGES = 4'd2;
    localparam [3:0] KEEP_HOLE = 4'd3;
    localparam [3:0] KEEP_ZERO = 4'd4;
    localparam [3:0] KEEP_EARLY = 4'd5;
    localparam [3:0] VALID_IN_RESET = 4'd6;
    localparam [3:0] UNDEFINED = 4'd7;
    localparam [3:0] LAST_CHANGES = 4'd8;
    localparam [3:0] USER_CHANGES = 4'd9;
    localparam [3:0] META_CHANGES = 4'd10;
    localparam [3:0] READY_IN_RESET = 4'd11;

    // 1 in every second cycle in which a beat waits.
    reg odd_reg = 1'b0;
    wire change = odd_reg && s_axis_tvalid && !m_axis_tready;

    always @(posedge clk) odd_reg <= !rst && s_axis_tvalid && !m_axis_tready && !odd_reg;

    assign s_axis_tready = (m_axis_tready && !rst) || (fault == READY_IN_RESET && rst);
    assign m_axis_tvalid = (s_axis_tvalid && !rst && !(fault == VALID_FALLS && change)) || (fault == VALID_IN_RESET && rst);
    assign m_axis_tdata = fault == UNDEFINED ? {s_axis_tdata[DATA_W-1:8], 8'bx} :
                          {s_axis_tdata[DATA_W-1:1], s_axis_tdata[0] ^ (fault == DATA_CHANGES && change)};
    assign m_axis_tkeep = fault == KEEP_HOLE && s_axis_tlast ? s_axis_tkeep & ~{{KEEP_W-2{1'b0}}, 2'b10} :
                          fault == KEEP_ZERO && s_axis_tlast ? {KEEP_W{1'b0}} :
                          fault == KEEP_EARLY && !s_axis_tlast ? s_axis_tkeep >> 1 : s_axis_tkeep;
    assign m_axis_tlast = s_axis_tlast ^ (fault == LAST_CHANGES && change);
    assign m_axis_tuser = s_axis_tuser ^ {{USER_W-1{1'b0}}, fault == USER_CHANGES && change};
    assign m_axis_meta = s_axis_meta ^ {{META_W-1{1'b0}}, fault == META_CHANGES && change};

endmodule

`resetall
