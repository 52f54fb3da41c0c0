// Generated from rtl/nic/slot.rdl by `make generate`: do not edit.

`resetall
`timescale 1ns / 1ps
`default_nettype none

/*
 * Registers: Slot without its block
 *
 * Latency: reg_ack rises in the cycle after reg_req (a register kept outside: the cycle after its own ack).
 * A write has taken effect in the cycle of reg_ack. Throughput: one access every two cycles.
 * reg_error with reg_ack: no register at this address. A write to what software cannot write does nothing
 * and is no error. Rules of 64-bit registers: docs/registers.md. A 64-bit register kept outside gives its
 * words by `_word`, and latches word 1 itself when word 0 is read.
 *
 *   0x0000 id, 32 bit
 *            7:0 block: driven by hardware
 *           15:8 version: constant
 *          17:16 state: driven by hardware
 */
module slot_regs (
    input  wire        clk,
    input  wire        rst,

    // register port
    input  wire        reg_req,
    input  wire        reg_write,
    input  wire [13:0] reg_addr,
    input  wire [31:0] reg_wdata,
    input  wire [3:0]  reg_wstrb,
    output wire        reg_ack,
    output wire        reg_error,
    output wire [31:0] reg_rdata,

    // id at 0x0000
    input  wire [7:0]  id_block_in,
    input  wire [1:0]  id_state_in
);

reg ack_reg;
reg error_reg;
reg [31:0] rdata_reg;

assign reg_ack = ack_reg;
assign reg_error = error_reg;
assign reg_rdata = rdata_reg;

// A request is held through the cycle of its acknowledge, in which it counts no more
wire bus_access = reg_req && !ack_reg;
wire [11:0] bus_word = reg_addr[13:2];
wire bus_unused = &{1'b0, reg_addr[1:0], reg_write, reg_wdata, reg_wstrb};

// answer
always @(posedge clk) begin
    ack_reg <= bus_access;
    if (bus_access) begin
        error_reg <= 1'b0;
        case (bus_word)
            12'h000: rdata_reg <= {14'd0, id_state_in, 8'h0, id_block_in};  // id
            default: begin
                error_reg <= 1'b1;
                rdata_reg <= 32'd0;
            end
        endcase
    end
    if (rst) ack_reg <= 1'b0;
end

endmodule

`resetall
