// Link fault signalling, the receiver's half (IEEE 802.3, 46.3.4 and figure 46-11).
//
// A word has two columns, `low` first. Each says whether it is a local or a remote fault sequence. Four of one kind, with
// none of the other and less than 128 other columns between them, make the fault; 128 columns without any end it, and
// four of the other kind change it. Latency 1 from the columns to the outputs; strobes: cycles in which a fault begins.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_rx_fault (
    input  wire clk,
    input  wire rst,

    input  wire low_local,
    input  wire low_remote,
    input  wire high_local,
    input  wire high_remote,

    output wire local_fault,
    output wire remote_fault,
    output wire stat_local_fault,
    output wire stat_remote_fault
);

localparam [7:0] COLUMNS = 8'd128;

reg       local_reg;
reg       remote_reg;
reg       kind_reg;         // of the sequences counted: 1 remote
reg [2:0] count_reg;        // at most 4
reg [7:0] columns_reg;      // without a sequence, at most 128
reg       stat_local_reg;
reg       stat_remote_reg;

wire low = low_local || low_remote;
wire high = high_local || high_remote;

assign local_fault = local_reg;
assign remote_fault = remote_reg;
assign stat_local_fault = stat_local_reg;
assign stat_remote_fault = stat_remote_reg;

// Behind the low column
wire low_over = !low && columns_reg >= COLUMNS - 8'd1;
wire low_same = count_reg != 3'd0 && kind_reg == low_remote;
wire low_kind = low ? low_remote : kind_reg;
wire [2:0] low_count = low ? (!low_same ? 3'd1 : count_reg[2] ? count_reg : count_reg + 3'd1)
                     : low_over ? 3'd0 : count_reg;
wire [7:0] low_columns = low ? 8'd0 : low_over ? COLUMNS : columns_reg + 8'd1;

// Behind the high column
wire high_over = !high && low_columns >= COLUMNS - 8'd1;
wire high_same = low_count != 3'd0 && low_kind == high_remote;
wire high_kind = high ? high_remote : low_kind;
wire [2:0] high_count = high ? (!high_same ? 3'd1 : low_count[2] ? low_count : low_count + 3'd1)
                      : high_over ? 3'd0 : low_count;
wire [7:0] high_columns = high ? 8'd0 : high_over ? COLUMNS : low_columns + 8'd1;

// The state that each column leaves
wire low_full = low && low_count[2];
wire high_full = high && high_count[2];
wire low_local_state = low_full ? !low_kind : local_reg && !low_over;
wire low_remote_state = low_full ? low_kind : remote_reg && !low_over;
wire high_local_state = high_full ? !high_kind : low_local_state && !high_over;
wire high_remote_state = high_full ? high_kind : low_remote_state && !high_over;

always @(posedge clk) begin
    kind_reg <= high_kind;
    count_reg <= high_count;
    columns_reg <= high_columns;
    local_reg <= high_local_state;
    remote_reg <= high_remote_state;
    stat_local_reg <= high_local_state && !local_reg;
    stat_remote_reg <= high_remote_state && !remote_reg;

    if (rst) begin
        count_reg <= 3'd0;
        columns_reg <= COLUMNS;
        local_reg <= 1'b0;
        remote_reg <= 1'b0;
        stat_local_reg <= 1'b0;
        stat_remote_reg <= 1'b0;
        kind_reg <= 1'b0;
    end
end

endmodule

`resetall
