// The gap between frames: when the next one may start, and in which lane (IEEE 802.3, 46.3.1.4: deficit idle count).
//
// Positions count in bytes from lane 0 of the word that holds the frame's last data, three cycles behind the handshake
// of its last beat. Terminate stands at end_count + 4, in lane 4 frames 4 further. A start stands in lane 0 or 4, at the
// first such place that is not before terminate + gap + deficit - 3, so the gap is at most three short or three long and
// what is short is owed by the next one. Without the deficit, and behind a frame that ended in error characters: not
// before terminate + gap. (The word with those and terminate is an error block; a start in the next word would be one
// too, by figure 49-14.) A frame that starts later than that starts in lane 0 and owes nothing.
//
//   end_valid    the last beat is in the first stage behind the handshake, `end_count` of its bytes are data (0 to 8)
//   ready        a beat that is taken in this cycle has its start on XGMII two cycles later; `lane4` says where
//   start        such a beat is taken: `ready` falls
//
// Latency: `ready` 2 cycles after end_valid at the earliest, gap 12. cfg_ifg below 12 counts as 12 (4.4.2).

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_tx_gap (
    input  wire       clk,
    input  wire       rst,

    input  wire [7:0] cfg_ifg,
    input  wire       cfg_dic,

    input  wire       end_valid,
    input  wire [3:0] end_count,
    input  wire       end_lane4,
    input  wire       end_bad,
    input  wire       start,

    output wire       ready,
    output wire       lane4
);

reg [7:0] ifg_reg;
reg       dic_reg;

reg       wait_valid_reg;
reg [5:0] wait_reg;           // words
reg       ready_reg;
reg       exact_reg;          // first cycle with `ready`
reg       next_lane4_reg;
reg [1:0] next_deficit_reg;   // if the frame starts at the first place that it may
reg [1:0] deficit_reg;

assign ready = ready_reg;
assign lane4 = exact_reg && next_lane4_reg;

wire [8:0] behind = {5'd0, end_count} + (end_lane4 ? 9'd8 : 9'd4) + {1'b0, ifg_reg};
wire short = dic_reg && !end_bad;
wire [8:0] first = behind + (short ? {7'd0, deficit_reg} : 9'd3);
wire [2:0] owed = {1'b0, first[1:0]} + {1'b0, deficit_reg};    // and 3 more than that, behind a bad frame

always @(posedge clk) begin
    ifg_reg <= cfg_ifg < 8'd12 ? 8'd12 : cfg_ifg;
    dic_reg <= cfg_dic;

    exact_reg <= 1'b0;
    if (wait_valid_reg) begin
        wait_reg <= wait_reg - 6'd1;
        if (wait_reg == 6'd2) begin
            wait_valid_reg <= 1'b0;
            ready_reg <= 1'b1;
            exact_reg <= 1'b1;
        end
    end

    if (end_valid) begin
        wait_valid_reg <= 1'b1;
        wait_reg <= first[8:3];
        next_lane4_reg <= first[2];
        next_deficit_reg <= short ? first[1:0] : dic_reg && owed > 3'd3 ? owed[1:0] + 2'd1 : 2'd0;
    end

    if (start) begin
        ready_reg <= 1'b0;
        deficit_reg <= exact_reg ? next_deficit_reg : 2'd0;
    end

    if (rst) begin
        ifg_reg <= 8'd12;
        wait_valid_reg <= 1'b0;
        ready_reg <= 1'b1;
        exact_reg <= 1'b0;
        deficit_reg <= 2'd0;
    end
end

endmodule

`resetall
