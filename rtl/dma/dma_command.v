// The register `command` of DMA: regions and pages, one entry at a time (docs/dma.md, Ports, parameters and registers).
//
// A write is answered 3 cycles after it came, later only while the tables are still being cleared after reset: PAGES
// cycles, then `ready`. It drives the one write port of every requester's tables. A read gives what was written last.
//
// Parameters: REGIONS, PAGES.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_command #(
    parameter REGIONS = 256,
    parameter PAGES = 4096
) (
    input  wire        clk,
    input  wire        rst,

    input  wire        command_req,
    input  wire        command_write,
    input  wire [31:0] command_wdata,
    input  wire [3:0]  command_wstrb,
    output wire        command_ack,
    output wire [31:0] command_rdata,

    input  wire [7:0]  key_low,

    output wire        ready,
    output wire        region_write,
    output wire [7:0]  region_number,
    output wire        page_write,
    output wire [14:0] page_number,
    output wire        present
);

localparam [1:0] IDLE = 2'd0;
localparam [1:0] BEGIN = 2'd1;
localparam [1:0] DONE = 2'd2;
localparam [1:0] CLEAR = 2'd3;

reg [1:0] state_reg;
reg [3:0] op_reg;
reg [15:0] number_reg;
reg [15:0] clear_reg;
reg ready_reg;

wire clearing = state_reg == CLEAR;
wire begins = state_reg == BEGIN;

assign ready = ready_reg;
assign region_number = clearing ? clear_reg[7:0] : key_low;
assign region_write = clearing || (begins && (op_reg == 4'd1 || op_reg == 4'd2) && {24'd0, key_low} < REGIONS);
assign page_number = clearing ? clear_reg[14:0] : number_reg[14:0];
assign page_write = clearing || (begins && (op_reg == 4'd3 || op_reg == 4'd4) && {16'd0, number_reg} < PAGES);
assign present = !clearing && op_reg[0];
assign command_ack = command_req && (command_write ? state_reg == DONE : state_reg == IDLE);
assign command_rdata = {number_reg, 12'd0, op_reg};

wire unused_bits = &{1'b0, command_wdata[15:4], command_wstrb[1]};

always @(posedge clk) begin
    case (state_reg)
        IDLE: begin
            if (command_req && command_write) begin
                state_reg <= BEGIN;
                if (command_wstrb[0]) begin
                    op_reg <= command_wdata[3:0];
                end
                if (command_wstrb[2]) begin
                    number_reg[7:0] <= command_wdata[23:16];
                end
                if (command_wstrb[3]) begin
                    number_reg[15:8] <= command_wdata[31:24];
                end
            end
        end
        BEGIN: state_reg <= DONE;
        DONE: state_reg <= IDLE;
        CLEAR: begin
            clear_reg <= clear_reg + 16'd1;
            if ({16'd0, clear_reg} == (PAGES > REGIONS ? PAGES : REGIONS) - 1) begin
                state_reg <= IDLE;
                ready_reg <= 1'b1;
            end
        end
    endcase

    if (rst) begin
        state_reg <= CLEAR;
        op_reg <= 4'd0;
        number_reg <= 16'd0;
        clear_reg <= 16'd0;
        ready_reg <= 1'b0;
    end
end

endmodule

`resetall
