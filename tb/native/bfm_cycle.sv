// Cycle counter of the harness (tb/native), for Verilator: ends each cycle once all streams have taken its edge.
//
// That is on the falling edge, so the order in which the modules see the rising one does not matter. `done` rises when
// all that was pushed is accounted for or the watchdog fired: a bench that waits for it wakes once a burst.

module bfm_cycle (
    input wire clk,
    input wire rst,
    input wire idle,  // of the device, where it says so
    output bit done
);
    import "DPI-C" function bit nicloop_dpi_end(input bit reset, input bit idle);

    bit in_reset = 1'b1;

    always @(posedge clk) in_reset <= rst;

    always @(negedge clk) done <= nicloop_dpi_end(in_reset, idle);
endmodule
