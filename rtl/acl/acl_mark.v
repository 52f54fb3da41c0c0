// Writes another DSCP into the outermost IP header of a frame that passes (RFC 2474 section 3: six bits of IPv4's TOS or
// IPv6's traffic class). ECN stays. IPv4's header checksum follows by RFC 1624 equation 3, HC' = ~(~HC + ~m + m'), so a
// wrong one stays wrong by as much.
//
// Combinational; state moves with each beat that is taken (`load`). What is said of the frame holds with `first`.
// `l3_offset` is even and 14 at least, as Ethernet and its tags have it; so no 16-bit word lies in two beats, and the
// checksum is never in the first one. The DSCP that was there is that of the metadata.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_mark (
    input  wire         clk,

    input  wire         load,
    input  wire         first,
    input  wire [127:0] data,

    // With `first`
    input  wire         on,
    input  wire [1:0]   l3_kind,
    input  wire [7:0]   l3_offset,
    input  wire [5:0]   old_dscp,
    input  wire [5:0]   new_dscp,

    output reg  [127:0] marked
);

localparam [1:0] IPV4 = 2'd1;

reg on_reg;
reg ipv4_reg;
reg [5:0] dscp_reg;
reg [16:0] change_reg;
// Beats to the one with the DSCP, and to the one with the checksum; 0 is the next beat. Gone: it went before.
reg [4:0] word_beats_reg;
reg word_gone_reg;
reg [4:0] sum_beats_reg;
reg sum_gone_reg;
reg [2:0] word_lane_reg;
reg [2:0] sum_lane_reg;

wire [8:0] sum_offset = {1'b0, l3_offset} + 9'd10;

wire marks = first ? on && l3_kind != 2'd0 : on_reg;
wire ipv4 = first ? l3_kind == IPV4 : ipv4_reg;
wire [5:0] dscp = first ? new_dscp : dscp_reg;
wire word_here = first ? l3_offset[7:4] == 4'd0 : word_beats_reg == 5'd0 && !word_gone_reg;
wire [2:0] word_lane = first ? l3_offset[3:1] : word_lane_reg;
wire sum_here = !first && ipv4_reg && sum_beats_reg == 5'd0 && !sum_gone_reg;

// ~m + m': the words differ in their DSCP alone.
wire [16:0] change = 17'h0ffff - {9'd0, old_dscp, 2'd0} + {9'd0, new_dscp, 2'd0};

// RFC 1624 equation 3, in ones' complement arithmetic of 16 bits
function [15:0] updated(input [15:0] checksum, input [16:0] by);
    reg [17:0] total;
    reg [16:0] folded;
    begin
        total = {2'd0, ~checksum} + {1'b0, by};
        folded = {1'b0, total[15:0]} + {15'd0, total[17:16]};
        updated = ~(folded[15:0] + {15'd0, folded[16]});
    end
endfunction

wire unused_bit = &{1'b0, l3_offset[0], sum_offset[0]};

always @* begin
    marked = data;
    if (marks && word_here) begin
        if (ipv4) begin
            marked[{word_lane, 4'd10} +: 6] = dscp;
        end else begin
            marked[{word_lane, 4'd0} +: 4] = dscp[5:2];
            marked[{word_lane, 4'd14} +: 2] = dscp[1:0];
        end
    end
    if (marks && sum_here) begin
        {marked[{sum_lane_reg, 4'd0} +: 8], marked[{sum_lane_reg, 4'd8} +: 8]} = updated(
            {data[{sum_lane_reg, 4'd0} +: 8], data[{sum_lane_reg, 4'd8} +: 8]}, change_reg
        );
    end
end

always @(posedge clk) begin
    if (load && first) begin
        on_reg <= marks;
        ipv4_reg <= ipv4;
        dscp_reg <= new_dscp;
        change_reg <= change;
        word_beats_reg <= {1'b0, l3_offset[7:4]} - 5'd1;
        word_gone_reg <= l3_offset[7:4] == 4'd0;
        word_lane_reg <= l3_offset[3:1];
        sum_beats_reg <= sum_offset[8:4] - 5'd1;
        sum_gone_reg <= 1'b0;
        sum_lane_reg <= sum_offset[3:1];
    end else if (load && on_reg) begin
        word_beats_reg <= word_beats_reg - 5'd1;
        word_gone_reg <= word_gone_reg || word_here;
        sum_beats_reg <= sum_beats_reg - 5'd1;
        sum_gone_reg <= sum_gone_reg || sum_beats_reg == 5'd0;
    end
end

endmodule

`resetall
