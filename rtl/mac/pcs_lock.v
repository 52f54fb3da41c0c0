// Block lock (IEEE 802.3, figure 49-12). docs/mac.md, pcs_rx.
//
// Sync headers are counted in windows of 64: a window without an invalid one locks, 16 invalid ones in one unlock. Out of
// lock, an invalid one asks for a slip. A slip is a strobe in the cycle behind the header; the 31 blocks behind that one
// are not looked at, so slips are 32 cycles apart or more. signal_ok 0: no lock. Latency 1.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module pcs_lock (
    input  wire clk,
    input  wire rst,

    input  wire signal_ok,
    input  wire header_ok,

    output wire slip,
    output wire block_lock
);

reg [5:0] count_reg;
reg [3:0] invalid_reg;
reg [4:0] wait_reg;
reg       slip_reg;
reg       lock_reg;

wire full = &count_reg;

assign slip = slip_reg;
assign block_lock = lock_reg;

always @(posedge clk) begin
    slip_reg <= 1'b0;

    if (wait_reg != 5'd0) begin
        wait_reg <= wait_reg - 5'd1;
    end else if (!header_ok && (!lock_reg || (&invalid_reg))) begin
        slip_reg <= 1'b1;
        lock_reg <= 1'b0;
        wait_reg <= 5'd31;
        count_reg <= 6'd0;
        invalid_reg <= 4'd0;
    end else begin
        count_reg <= count_reg + 6'd1;
        invalid_reg <= full ? 4'd0 : invalid_reg + {3'd0, !header_ok};
        if (full && header_ok && invalid_reg == 4'd0) begin
            lock_reg <= 1'b1;
        end
    end

    if (rst || !signal_ok) begin
        count_reg <= 6'd0;
        invalid_reg <= 4'd0;
        wait_reg <= 5'd0;
        slip_reg <= 1'b0;
        lock_reg <= 1'b0;
    end
end

endmodule

`resetall
