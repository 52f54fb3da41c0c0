// ipsec_reached: what software sees of SAs: the state of the one that was read last, and the first that reached something
// since `event_seen` was cleared.
//
// Parameter: SA_W.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_reached #(
    parameter SA_W = 8
) (
    input  wire            clk,
    input  wire            rst,

    // ipsec_table and ipsec_state: in the cycle of read_strobe everything at rd_*; read_clear: there is no such SA
    input  wire            read_strobe,
    input  wire            read_clear,
    input  wire [63:0]     rd_packets,
    input  wire [63:0]     rd_bytes,
    input  wire [63:0]     rd_sequence,
    input  wire [2:0]      rd_reached,
    output wire [63:0]     packets,
    output wire [63:0]     bytes,
    output wire [63:0]     sequence_number,
    output wire [2:0]      reached,

    input  wire            event_valid,
    input  wire [1:0]      event_kind,
    input  wire [SA_W-1:0] event_sa,
    input  wire            event_seen,
    output wire            event_first,
    output wire            event_more,
    output wire [1:0]      first_kind,
    output wire [11:0]     first_sa,
    output wire            soft_reached
);

localparam [1:0] SOFT = 2'd0;

reg [2:0] reached_reg;
reg [63:0] packets_reg, bytes_reg, sequence_reg;
reg [1:0] kind_reg;
reg [11:0] sa_reg;

assign reached = reached_reg;
assign packets = packets_reg;
assign bytes = bytes_reg;
assign sequence_number = sequence_reg;
assign event_first = event_valid && !event_seen;
assign event_more = event_valid && event_seen;
assign first_kind = kind_reg;
assign first_sa = sa_reg;
assign soft_reached = event_valid && event_kind == SOFT;

always @(posedge clk) begin
    if (read_strobe) begin
        reached_reg <= rd_reached;
        packets_reg <= rd_packets;
        bytes_reg <= rd_bytes;
        sequence_reg <= rd_sequence;
    end
    if (event_first) begin
        kind_reg <= event_kind;
        sa_reg <= {{(12 - SA_W){1'b0}}, event_sa};
    end

    if (rst || read_clear) begin
        reached_reg <= 3'd0;
        packets_reg <= 64'd0;
        bytes_reg <= 64'd0;
        sequence_reg <= 64'd0;
    end
    if (rst) begin
        kind_reg <= SOFT;
        sa_reg <= 12'd0;
    end
end

endmodule

`resetall
