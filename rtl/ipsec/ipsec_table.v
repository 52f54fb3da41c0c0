// ipsec_table: what SAs were written with, a memory word an SA, which SAs there are, and the register `command` that
// changes them (ipsec_command).
//
// Look-up: look_valid with look_sa in cycle c; look_there (there is such an SA) and look_word from c + 1 on, until the
// next. `word` is what `write` writes: the registers of the slot, in its order. The key isn't here, the engine has it; counts,
// numbers and lifetimes are in ipsec_state.
//
// What software read last: in the cycle of read_strobe ipsec_state has it beside its rd_done; read_there, from the cycle
// after it on, says that there was such an SA (where there is none, read_clear is 1 in a cycle in place of read_strobe).
//
// Parameters: SAS, a power of two from 2 on; WORD_W; TX: 1, there is neither lookup nor window; IN_FLIGHT_W, bits of the
// number of frames that asked and have no verdict.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_table #(
    parameter SAS = 256,
    parameter WORD_W = 64,
    parameter TX = 0,
    parameter IN_FLIGHT_W = 12,
    parameter SA_W = $clog2(SAS)
) (
    input  wire              clk,
    input  wire              rst,

    input  wire              slot_ready,
    output wire              busy,

    // Register
    input  wire              command_req,
    input  wire              command_write,
    input  wire [31:0]       command_wdata,
    input  wire [3:0]        command_wstrb,
    output wire              command_ack,
    output wire [31:0]       command_rdata,

    // Look-up
    input  wire              look_valid,
    input  wire [SA_W-1:0]   look_sa,
    output wire              look_there,
    output wire [WORD_W-1:0] look_word,

    // Frames: one that may find an SA asks; the oldest that asked has its verdict
    input  wire              asked,
    input  wire              judged,

    // What the command is about
    input  wire [WORD_W-1:0] word,
    output wire [SA_W-1:0]   number,

    // Engine
    output wire              key_valid,
    input  wire              key_ready,
    output wire              key_erase,
    input  wire              key_done,

    // ipsec_lookup and ipsec_window, rx only
    output wire              lookup_wr_valid,
    input  wire              lookup_wr_ready,
    output wire              lookup_wr_on,
    output wire              window_wr_valid,
    input  wire              window_wr_ready,

    // ipsec_state
    output wire              state_wr_valid,
    input  wire              state_wr_ready,
    output wire              state_rd_valid,
    input  wire              state_rd_done,

    output wire              read_there,
    output wire              read_strobe,
    output wire              read_clear
);

reg [WORD_W-1:0] mem [0:SAS-1];
reg [WORD_W-1:0] word_reg;
reg [SAS-1:0] on_reg;
reg there_reg;

wire take_out;
wire put_in;

assign look_there = there_reg;
assign look_word = word_reg;

always @(posedge clk) begin
    if (put_in) begin
        mem[number] <= word;
    end
    if (look_valid) begin
        word_reg <= mem[look_sa];
    end
end

always @(posedge clk) begin
    if (look_valid) begin
        there_reg <= on_reg[look_sa];
    end
    if (take_out) begin
        on_reg[number] <= 1'b0;
    end
    if (put_in) begin
        on_reg[number] <= 1'b1;
    end

    if (rst) begin
        on_reg <= {SAS{1'b0}};
        there_reg <= 1'b0;
    end
end

ipsec_command #(
    .SAS(SAS),
    .TX(TX),
    .IN_FLIGHT_W(IN_FLIGHT_W)
) command_inst (
    .clk(clk), .rst(rst),
    .command_req(command_req), .command_write(command_write), .command_wdata(command_wdata),
    .command_wstrb(command_wstrb), .command_ack(command_ack), .command_rdata(command_rdata),
    .slot_ready(slot_ready), .busy(busy),
    .asked(asked), .judged(judged),
    .number(number), .there(on_reg[number]),
    .take_out(take_out), .put_in(put_in),
    .key_valid(key_valid), .key_ready(key_ready), .key_erase(key_erase), .key_done(key_done),
    .lookup_wr_valid(lookup_wr_valid), .lookup_wr_ready(lookup_wr_ready), .lookup_wr_on(lookup_wr_on),
    .window_wr_valid(window_wr_valid), .window_wr_ready(window_wr_ready),
    .state_wr_valid(state_wr_valid), .state_wr_ready(state_wr_ready),
    .state_rd_valid(state_rd_valid), .state_rd_done(state_rd_done),
    .read_there(read_there), .read_strobe(read_strobe), .read_clear(read_clear)
);

endmodule

`resetall
