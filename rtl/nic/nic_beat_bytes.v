// Number of bytes of a beat, 0 to 16, from its `tkeep`, which is contiguous from lane 0. Combinational.
//
// Each bit of the sum is 1 where a run of that parity ends: cheaper than adding sixteen bits, in gates and in simulation.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_beat_bytes (
    input  wire [15:0] keep,
    output wire [4:0]  bytes
);

// A run ends at lane k where lane k is kept and lane k + step is not.
assign bytes[4] = keep[15];
assign bytes[3] = keep[7] && !keep[15];
assign bytes[2] = (keep[3] && !keep[7]) || (keep[11] && !keep[15]);
assign bytes[1] = (keep[1] && !keep[3]) || (keep[5] && !keep[7]) || (keep[9] && !keep[11]) || (keep[13] && !keep[15]);
assign bytes[0] = (keep[0] && !keep[1]) || (keep[2] && !keep[3]) || (keep[4] && !keep[5]) || (keep[6] && !keep[7])
               || (keep[8] && !keep[9]) || (keep[10] && !keep[11]) || (keep[12] && !keep[13]) || (keep[14] && !keep[15]);

endmodule

`resetall
