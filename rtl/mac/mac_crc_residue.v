// mac_crc_residue: is this the register behind a frame with a right FCS? Written by mac_crc_equations.py: don't edit.
//
// The frame's last word, of `count` bytes (0 to 7), was filled up with zeros: they take the residue of IEEE 802.3,
// clause 3.2.9, to another constant, one a count. So no word need be moved for its length. No register, no latency.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_crc_residue (
    input  wire [31:0] crc,
    input  wire [2:0]  count,
    output wire        ok
);

reg [31:0] expected;

always @* begin
    case (count)
        3'd0: expected = 32'h842a3990;
        3'd1: expected = 32'h94784e13;
        3'd2: expected = 32'h1c759789;
        3'd3: expected = 32'h19f6eb51;
        3'd4: expected = 32'h9add2096;
        3'd5: expected = 32'h62932081;
        3'd6: expected = 32'h4e3d5e5c;
        default: expected = 32'h39dd08e2;
    endcase
end

assign ok = crc == expected;

endmodule

`resetall
