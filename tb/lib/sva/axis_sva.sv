// The rules of a stream (docs/architecture.md section 2) as assertions, to be bound to a stream's signals.
// OUTPUT: the device drives tvalid (1) or tready (0). Verilator only.

module axis_sva #(
    parameter DATA_W = 128,
    parameter USER_W = 10,
    parameter META_W = 1,
    parameter OUTPUT = 1,
    parameter KEEP_W = DATA_W / 8
) (
    input wire              clk,
    input wire              rst,
    input wire [DATA_W-1:0] tdata,
    input wire [KEEP_W-1:0] tkeep,
    input wire              tvalid,
    input wire              tready,
    input wire              tlast,
    input wire [USER_W-1:0] tuser,
    input wire [META_W-1:0] meta
);

    // Before its first reset a stream may show anything.
    reg started = 1'b0;
    reg first = 1'b1;

    always @(posedge clk) begin
        if (rst) begin
            started <= 1'b1;
            first <= 1'b1;
        end else if (tvalid && tready) begin
            first <= tlast;
        end
    end

    wire [DATA_W-1:0] lanes;
    genvar lane;
    generate
        for (lane = 0; lane < KEEP_W; lane = lane + 1) begin : g_lane
            assign lanes[lane*8+:8] = tkeep[lane] ? tdata[lane*8+:8] : 8'd0;
        end
    endgenerate

    default clocking @(posedge clk); endclocking
    default disable iff (rst || !started);

    valid_held: assert property (tvalid && !tready |=> tvalid);
    beat_stable: assert property (tvalid && !tready |=> $stable(tlast) && $stable(tkeep) && $stable(lanes));
    user_stable: assert property (tvalid && !tready && tlast |=> $stable(tuser));
    meta_stable: assert property (tvalid && !tready && first |=> $stable(meta));
    keep_full: assert property (tvalid && !tlast |-> &tkeep);
    keep_contiguous: assert property (tvalid && tlast |-> tkeep[0] && (tkeep & (tkeep + 1'b1)) == 0);

    generate
        if (OUTPUT) begin : g_output
            quiet_in_reset: assert property (disable iff (!started) rst |-> !tvalid);
        end else begin : g_input
            quiet_in_reset: assert property (disable iff (!started) rst |-> !tready);
        end
    endgenerate

endmodule
