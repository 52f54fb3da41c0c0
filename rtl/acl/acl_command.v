// The register `command` of the ACL: what software asks for, one thing at a time (docs/acl.md, Registers).
//
// A write of the register is answered (`command_ack`) when what it asks for is done: 66 cycles at most, a clear RULES + 4,
// all of them longer by what the slot still has to clear after its reset (`slot_ready`). What it writes, it writes to
// the set that isn't asked (`active` is). An op that there isn't and a number beyond the last change nothing. A read
// gives what was written last.
//
// Parameters: RULES, METERS.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_command #(
    parameter RULES = 1024,
    parameter METERS = 256
) (
    input  wire              clk,
    input  wire              rst,

    // Register
    input  wire              command_req,
    input  wire              command_write,
    input  wire [31:0]       command_wdata,
    input  wire [3:0]        command_wstrb,
    output wire              command_ack,
    output wire [31:0]       command_rdata,

    input  wire              slot_ready,
    output wire              busy,

    // What it is about
    output wire [15:0]       number,
    output wire              set,

    // acl_lookup
    output wire              rule_valid,
    input  wire              rule_ready,
    output wire              rule_clear,
    output wire              rule_on,
    output wire              swap_valid,
    input  wire              swap_ready,

    // acl_actions
    output wire              action_valid,
    output wire              action_default,
    output wire              action_permit,

    // acl_counters
    output wire              count_valid,
    output wire              count_clear,
    input  wire              count_done,
    output wire              clear,
    input  wire              clearing,

    // acl_meter
    output wire              meter_valid,
    input  wire              meter_ready
);

localparam [3:0] WRITE = 4'd1;
localparam [3:0] REMOVE = 4'd2;
localparam [3:0] CLEAR = 4'd3;
localparam [3:0] DEFAULT = 4'd4;
localparam [3:0] SWAP = 4'd5;
localparam [3:0] READ = 4'd6;
localparam [3:0] READ_CLEAR = 4'd7;
localparam [3:0] METER = 4'd8;

localparam [15:0] DEFAULT_NUMBER = 16'hffff;
// Cycles from a swap to the last action of the old set
localparam [3:0] SWAP_CYCLES = 4'd11;

// Each state but the first takes a command further: it begins, something else ends it, it is answered.
localparam [1:0] IDLE = 2'd0;
localparam [1:0] BEGIN = 2'd1;
localparam [1:0] WAIT = 2'd2;
localparam [1:0] DONE = 2'd3;

reg [1:0] state_reg;
reg [3:0] op_reg;
reg set_reg;
reg [15:0] number_reg;
reg [3:0] wait_reg;

wire rule_there = {16'd0, number_reg} < RULES;
wire meter_there = {16'd0, number_reg} < METERS;
wire counter_there = rule_there || number_reg == DEFAULT_NUMBER;
wire begins = state_reg == BEGIN;
wire begins_rule = begins && ((op_reg == WRITE || op_reg == REMOVE) && rule_there || op_reg == CLEAR);
wire begins_count = begins && (op_reg == READ || op_reg == READ_CLEAR) && counter_there;
wire begins_meter = begins && op_reg == METER && meter_there;
wire taken_rule = begins_rule && rule_ready;

assign busy = state_reg != IDLE;
assign number = number_reg;
assign set = set_reg;
assign rule_valid = begins_rule;
assign rule_clear = op_reg == CLEAR;
assign rule_on = op_reg == WRITE;
assign swap_valid = begins && op_reg == SWAP;
assign action_valid = (taken_rule && op_reg != REMOVE) || (begins && op_reg == DEFAULT);
assign action_default = op_reg != WRITE;
assign action_permit = op_reg == CLEAR;
assign count_valid = begins_count;
assign count_clear = op_reg == READ_CLEAR;
assign clear = taken_rule && op_reg == CLEAR;
assign meter_valid = begins_meter;
assign command_ack = command_req && (command_write ? state_reg == DONE : state_reg == IDLE);
assign command_rdata = {number_reg, 7'd0, set_reg, 4'd0, op_reg};

wire unused_bits = &{1'b0, command_wdata[15:9], command_wdata[7:4]};

always @(posedge clk) begin
    case (state_reg)
        IDLE: begin
            if (command_req && command_write && slot_ready) begin
                state_reg <= BEGIN;
                if (command_wstrb[0]) begin
                    op_reg <= command_wdata[3:0];
                end
                if (command_wstrb[1]) begin
                    set_reg <= command_wdata[8];
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
            wait_reg <= SWAP_CYCLES;
            if (begins_rule) begin
                if (rule_ready) begin
                    state_reg <= op_reg == REMOVE ? DONE : WAIT;
                end
            end else if (begins_count) begin
                if (count_done) begin
                    state_reg <= DONE;
                end
            end else if (begins_meter) begin
                if (meter_ready) begin
                    state_reg <= WAIT;
                end
            end else if (op_reg == SWAP) begin
                if (swap_ready) begin
                    state_reg <= WAIT;
                end
            end else begin
                state_reg <= DONE;
            end
        end
        WAIT: begin
            wait_reg <= wait_reg - 4'd1;
            case (op_reg)
                WRITE: if (rule_ready) state_reg <= DONE;
                CLEAR: if (!clearing) state_reg <= DONE;
                METER: if (meter_ready) state_reg <= DONE;
                default: if (wait_reg == 4'd0) state_reg <= DONE;
            endcase
        end
        DONE: state_reg <= IDLE;
    endcase

    if (rst) begin
        state_reg <= IDLE;
        op_reg <= 4'd0;
        set_reg <= 1'b0;
        number_reg <= 16'd0;
    end
end

endmodule

`resetall
