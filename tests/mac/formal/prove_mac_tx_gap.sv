// mac_tx_gap: 46.3.1.4 as a count of bytes, for frames of any end, starts at any time, every cfg_ifg, resets at any time.
//
// A frame is begun with `start` in a cycle with `ready`; some cycles later `end_valid` tells its end. In what is counted
// here, the start of a frame that is begun in cycle s stands at byte 8 s (+ 4), and a terminate told in e at byte
// 8 e + end_count + 4 (+ 4): both two cycles early, so the difference is that on XGMII.
module prove_mac_tx_gap (
    input       clk,
    input       rst,
    input [7:0] cfg_ifg,
    input       cfg_dic,
    input       end_valid,
    input [3:0] end_count,
    input       end_bad,
    input       start
);

    reg begun_reg = 1'b0;
    always @(posedge clk) begun_reg <= 1'b1;
    always @* if (!begun_reg) assume (rst);

    // Configuration stands still; what the module keeps of it is checked by its invariant
    (* anyconst *) reg [7:0] ifg;
    (* anyconst *) reg       dic;
    always @* assume (cfg_ifg == ifg && cfg_dic == dic);
    wire [7:0] least = ifg < 8'd12 ? 8'd12 : ifg;

    wire ready, lane4;
    reg  open_reg;                   // between start and end
    reg  lane4_reg;

    always @* begin
        assume (!start || (ready && !open_reg && settled_reg));
        assume (!end_valid || (open_reg && end_count <= 4'd8));
    end

    mac_tx_gap dut (
        .clk(clk), .rst(rst), .cfg_ifg(cfg_ifg), .cfg_dic(cfg_dic),
        .end_valid(end_valid), .end_count(end_count), .end_lane4(lane4_reg), .end_bad(end_bad), .start(start),
        .ready(ready), .lane4(lane4)
    );

    // The count

    reg        settled_reg = 1'b0;   // the registers of the configuration hold it
    reg        before_reg;           // there was a frame
    reg [6:0]  since_reg;            // cycles since its end was told, at most 100
    reg [4:0]  terminate_reg;        // its place then
    reg        bad_reg;
    reg [1:0]  deficit_reg;

    wire [10:0] place = {1'b0, since_reg, 3'd0} + {8'd0, lane4, 2'd0};
    wire [10:0] gap   = place - {6'd0, terminate_reg};
    wire        short = dic && !bad_reg;
    wire [10:0] due   = short ? {3'd0, least} + {9'd0, deficit_reg} - 11'd3 : {3'd0, least};
    wire [10:0] left  = {3'd0, least} + {9'd0, deficit_reg};

    always @(posedge clk) begin
        settled_reg <= 1'b1;
        if (since_reg != 7'd100) since_reg <= since_reg + 7'd1;
        if (start) begin
            open_reg    <= 1'b1;
            lane4_reg   <= lane4;
            deficit_reg <= !dic || !before_reg || left < gap ? 2'd0 : left - gap;
        end
        if (end_valid) begin
            open_reg      <= 1'b0;
            before_reg    <= 1'b1;
            since_reg     <= 7'd1;
            terminate_reg <= {1'b0, end_count} + (lane4_reg ? 5'd8 : 5'd4);
            bad_reg       <= end_bad;
        end
        if (rst) begin
            settled_reg   <= 1'b0;
            open_reg      <= 1'b0;
            before_reg    <= 1'b0;
            since_reg     <= 7'd100;
            terminate_reg <= 5'd0;
            bad_reg       <= 1'b0;
            deficit_reg   <= 2'd0;
            lane4_reg     <= 1'b0;
        end
    end

    // The gap that a frame would have which is begun now
    wire could = ready && before_reg && !open_reg;

    reg ready_before_reg;
    always @(posedge clk) ready_before_reg <= ready && !rst;

    always @* if (begun_reg && !rst) begin
        if (could) assert (gap >= due && gap >= 11'd9);
        if (could && bad_reg) assert (gap >= {3'd0, least});
        // The first place that is far enough: half a word earlier it isn't
        if (could && !ready_before_reg) assert (gap < due + 11'd4);
        if (could && !ready_before_reg) assert (gap <= {3'd0, least} + 11'd3);
        if (lane4) assert (ready && !ready_before_reg);
        // What is owed never exceeds three bytes
        if (start && before_reg && dic) assert (left < gap + 11'd4);
        if (!before_reg && !open_reg) assert (ready);
    end

    // Invariants

    wire       peek_wait_valid, peek_ready, peek_exact, peek_next_lane4, peek_dic;
    wire [5:0] peek_wait;
    wire [1:0] peek_next_deficit, peek_deficit;
    wire [7:0] peek_ifg;

    wire [10:0] first = {6'd0, terminate_reg} + due + 11'd3;   // its word is where the first start may stand
    wire [10:0] first_word = {3'd0, first[10:3]};
    wire [10:0] owed  = {9'd0, first[1:0]} + {9'd0, deficit_reg};

    always @* if (begun_reg) begin
        if (settled_reg) assert (peek_ifg == least && peek_dic == dic);
        assert (peek_ready == ready);
        assert (peek_deficit == deficit_reg);
        if (!settled_reg) assert (!before_reg && !open_reg && ready && !peek_exact && !peek_wait_valid);
        if (!dic) assert (deficit_reg == 2'd0);
        assert (since_reg <= 7'd100 && since_reg >= 7'd1 && terminate_reg <= 5'd16);
        if (open_reg) assert (!ready && !peek_wait_valid && !peek_exact && settled_reg);
        if (before_reg && !open_reg) begin
            assert (terminate_reg >= 5'd4 && peek_wait_valid == !ready);
            if (peek_wait_valid) assert ({5'd0, peek_wait} + {4'd0, since_reg} == first_word + 11'd1 && peek_wait >= 6'd2);
            if (peek_exact) assert ({4'd0, since_reg} == first_word && ready);
            if (ready && !peek_exact) assert ({4'd0, since_reg} > first_word);
            assert (ready_before_reg == (ready && !peek_exact));
            if (peek_wait_valid || peek_exact) begin
                assert (peek_next_lane4 == first[2]);
                assert (peek_next_deficit == (short ? first[1:0] : dic && owed > 11'd3 ? owed[1:0] + 2'd1 : 2'd0));
            end
        end
        if (!before_reg && !open_reg) assert (!peek_wait_valid && !peek_exact && deficit_reg == 2'd0);
        if (ready) assert (!peek_wait_valid);
        if (peek_exact) assert (before_reg);
    end

    // What must be possible: a gap of 9 and one of 15, a start in either lane behind each

    always @* if (begun_reg && !rst && start && before_reg && dic && least == 8'd12) begin
        cover (gap == 11'd9 && !lane4);
        cover (gap == 11'd9 && lane4);
        cover (gap == 11'd15 && !bad_reg);
        cover (gap == 11'd15 && bad_reg && lane4);
    end

endmodule
