// ipsec_command: the register `command` of an IPsec slot, what software does with SAs, one thing at a time (docs/ipsec.md,
// Registers).
//
// A write of the register is answered (command_ack) when what it asks for is done; one that asks for nothing that there
// is (another op, a number beyond the last) is answered two cycles later and changes nothing. A read gives what was
// written last.
//
// `write` and `remove` first take the SA out: a frame that asks in a later cycle than take_out finds none. Then they wait
// for the frames that asked up to then: `asked`, one cycle, a frame that may find an SA asks now; `judged`, one cycle, the
// oldest of them has its verdict and moves nothing any more. Then the key goes to the engine (`remove`: an erasure), and
// with `write` state, window, table (put_in) and lookup follow; what they are written with stands in the registers, which
// software leaves alone until it has its answer.
//
// Parameters: SAS, a power of two from 2 on; TX: 1, there is neither lookup nor window; IN_FLIGHT_W, bits of the number of
// frames that asked and have no verdict.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_command #(
    parameter SAS = 256,
    parameter TX = 0,
    parameter IN_FLIGHT_W = 12,
    parameter SA_W = $clog2(SAS)
) (
    input  wire            clk,
    input  wire            rst,

    // Register
    input  wire            command_req,
    input  wire            command_write,
    input  wire [31:0]     command_wdata,
    input  wire [3:0]      command_wstrb,
    output wire            command_ack,
    output wire [31:0]     command_rdata,

    input  wire            slot_ready,
    output wire            busy,

    // Frames
    input  wire            asked,
    input  wire            judged,

    // The SA, and whether there is one
    output wire [SA_W-1:0] number,
    input  wire            there,
    output wire            take_out,
    output wire            put_in,

    // Engine
    output wire            key_valid,
    input  wire            key_ready,
    output wire            key_erase,
    input  wire            key_done,

    // ipsec_lookup: found no more, or found once it is ready again; ipsec_window
    output wire            lookup_wr_valid,
    input  wire            lookup_wr_ready,
    output wire            lookup_wr_on,
    output wire            window_wr_valid,
    input  wire            window_wr_ready,

    // ipsec_state
    output wire            state_wr_valid,
    input  wire            state_wr_ready,
    output wire            state_rd_valid,
    input  wire            state_rd_done,

    // What was read
    output wire            read_there,
    output wire            read_strobe,
    output wire            read_clear
);

localparam [3:0] WRITE = 4'd1;
localparam [3:0] REMOVE = 4'd2;
localparam [3:0] READ = 4'd3;

localparam [3:0] IDLE = 4'd0;
localparam [3:0] BEGIN = 4'd1;
localparam [3:0] OUT = 4'd2;
localparam [3:0] DRAIN = 4'd3;
localparam [3:0] KEY = 4'd4;
localparam [3:0] KEY_WAIT = 4'd5;
localparam [3:0] STATE = 4'd6;
localparam [3:0] WINDOW = 4'd7;
localparam [3:0] IN = 4'd8;
localparam [3:0] IN_WAIT = 4'd9;
localparam [3:0] FETCH = 4'd10;
localparam [3:0] DONE = 4'd11;

localparam [IN_FLIGHT_W-1:0] ONE = 1;
localparam [IN_FLIGHT_W-1:0] NONE = 0;

reg [3:0] state_reg;
reg [3:0] op_reg;
reg [15:0] number_reg;
reg [IN_FLIGHT_W-1:0] in_flight_reg; // frames that asked and have no verdict
reg [IN_FLIGHT_W-1:0] old_reg; // of them, those that asked before the SA was taken out

reg there_reg; // there was one when it was read

wire listed = {16'd0, number_reg} < SAS;
wire rx_wr_ready = TX != 0 || lookup_wr_ready;
wire [IN_FLIGHT_W-1:0] left = judged ? in_flight_reg - ONE : in_flight_reg;

assign busy = state_reg != IDLE;
assign number = number_reg[SA_W-1:0];
assign command_ack = command_req && (command_write ? state_reg == DONE : state_reg == IDLE);
assign command_rdata = {number_reg, 12'd0, op_reg};

assign lookup_wr_valid = TX == 0 && (state_reg == OUT || state_reg == IN);
assign lookup_wr_on = state_reg == IN;
assign take_out = state_reg == OUT && rx_wr_ready;
assign put_in = state_reg == IN && rx_wr_ready;
assign key_valid = state_reg == KEY;
assign key_erase = op_reg == REMOVE;
assign state_wr_valid = state_reg == STATE;
assign window_wr_valid = TX == 0 && state_reg == WINDOW;
assign state_rd_valid = state_reg == FETCH;
assign read_there = there_reg;
assign read_strobe = state_reg == FETCH && state_rd_done;
assign read_clear = state_reg == BEGIN && listed && op_reg == READ && !there;

wire unused_bits = &{1'b0, command_wdata[15:4], command_wstrb[1]};

always @(posedge clk) begin
    in_flight_reg <= asked ? left + ONE : left;
    if (judged && old_reg != NONE) begin
        old_reg <= old_reg - ONE;
    end

    case (state_reg)
        IDLE: begin
            if (command_req && command_write && slot_ready) begin
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
        BEGIN: begin
            state_reg <= DONE;
            if (listed && (op_reg == WRITE || op_reg == REMOVE)) begin
                state_reg <= OUT;
            end else if (listed && op_reg == READ) begin
                there_reg <= there;
                if (there) begin
                    state_reg <= FETCH;
                end
            end
        end
        OUT: begin
            if (take_out) begin
                state_reg <= DRAIN;
                // A frame that asks in this very cycle may find the SA.
                old_reg <= asked ? left + ONE : left;
            end
        end
        DRAIN: begin
            if (old_reg == NONE) begin
                state_reg <= KEY;
            end
        end
        KEY: begin
            if (key_ready) begin
                state_reg <= KEY_WAIT;
            end
        end
        KEY_WAIT: begin
            if (key_done) begin
                state_reg <= op_reg == WRITE ? STATE : DONE;
            end
        end
        STATE: begin
            if (state_wr_ready) begin
                state_reg <= WINDOW;
            end
        end
        WINDOW: begin
            if (TX != 0 || window_wr_ready) begin
                state_reg <= IN;
            end
        end
        IN: begin
            if (put_in) begin
                state_reg <= IN_WAIT;
            end
        end
        IN_WAIT: begin
            if (rx_wr_ready) begin
                state_reg <= DONE;
            end
        end
        FETCH: begin
            if (state_rd_done) begin
                state_reg <= DONE;
            end
        end
        default: begin
            state_reg <= IDLE;
        end
    endcase

    if (rst) begin
        state_reg <= IDLE;
        op_reg <= 4'd0;
        number_reg <= 16'd0;
        in_flight_reg <= NONE;
        old_reg <= NONE;
        there_reg <= 1'b0;
    end
end

endmodule

`resetall
