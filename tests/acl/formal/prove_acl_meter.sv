// acl_meter, its control: each ask of a meter is judged by the whole old or the whole new meter, with the level that
// the last ask before it left, whatever is written when; for asks 4 cycles apart or more, and resets at any time.
//
// One meter, any, is followed: `seen_*_reg` is what an ask in this cycle must see, from the interface alone. What is
// computed from it is another matter: products and levels are cut out of the design, so any of them may come. Times and
// parts of rates are small numbers: control is the same for all.
module prove_acl_meter (
    input        clk,
    input        rst,
    input        pick,               // the meter that is followed
    input        ask_valid,
    input        ask_meter,
    input [63:0] ask_time,
    input [15:0] ask_bytes,
    input        wr_valid,
    input        wr_meter,
    input [63:0] wr_cir,
    input [63:0] wr_pir,
    input [31:0] wr_cbs,
    input [31:0] wr_pbs,
    input [6:0]  wr_yellow
);

    localparam [64:0] FULL = {65{1'b1}};  // beyond the size of any bucket

    wire       ready, wr_ready, m_valid;
    wire [1:0] m_colour;
    wire [6:0] m_yellow;

    // Connected to what is inside by test_formal.py
    wire [150:0] peek_rates, peek_rates_0, peek_rates_1, peek_word;
    wire [64:0]  peek_before, peek_level, peek_level_0, peek_level_1;
    wire         peek_fresh;
    wire [63:0]  peek_elapsed, peek_time, peek_before_time, peek_time_0, peek_time_1;
    wire         peek_clear, peek_clear_meter, peek_free, peek_wait, peek_write_meter;
    wire [6:1]   peek_write;
    wire [7:1]   peek_stage;
    wire         peek_meter, peek_time_meter, peek_level_meter;

    acl_meter #(.METERS(2)) dut (
        .clk(clk), .rst(rst), .ready(ready), .ask_valid(ask_valid), .ask_meter(ask_meter), .ask_time(ask_time),
        .ask_bytes(ask_bytes), .m_valid(m_valid), .m_colour(m_colour), .m_yellow_on(m_yellow[6]),
        .m_yellow_dscp(m_yellow[5:0]), .wr_valid(wr_valid), .wr_ready(wr_ready), .wr_meter(wr_meter), .wr_cir(wr_cir),
        .wr_pir(wr_pir), .wr_cbs(wr_cbs), .wr_pbs(wr_pbs), .wr_yellow(wr_yellow)
    );

    reg begun_reg = 1'b0;
    reg pick_reg;
    always @(posedge clk) begin
        begun_reg <= 1'b1;
        pick_reg <= pick;
    end

    // Cycles of each ask: age_reg[k] is set k cycles behind one; ours_reg: of the meter that is followed.
    reg [7:1] age_reg = 7'd0;
    reg [7:1] ours_reg = 7'd0;
    wire ask_ours = ask_valid && ask_meter == pick;

    always @* begin
        if (!begun_reg) assume (rst);
        else assume (pick == pick_reg);
        if (ask_valid) assume (ready && !rst && age_reg[3:1] == 3'd0);
        assume (ask_time < 64'd8 && wr_cir < 64'd2 && wr_pir < 64'd2);
        assume (wr_cbs < 32'd2 && wr_pbs < 32'd2 && wr_yellow < 7'd2);
    end

    wire take = wr_valid && wr_ready && !rst;
    wire take_ours = take && wr_meter == pick;
    reg [3:0] writing_reg;           // cycles since a write was taken, 15: or more
    reg [1:0] clearing_reg;          // cycles since a reset

    reg taken_reg;                   // a write of this meter was taken in the cycle before: the next ask sees it
    reg [150:0] taken_word_reg;
    reg [150:0] seen_word_reg;
    reg [63:0] seen_time_reg;
    reg seen_asked_reg;              // asked since it was written
    wire [39:0] cir = wr_cir[63:40] != 24'd0 ? {40{1'b1}} : wr_cir[39:0];
    wire [39:0] pir = wr_pir[63:40] != 24'd0 ? {40{1'b1}} : wr_pir[39:0];

    // Of the last ask of this meter
    reg [150:0] ask_word_reg;
    reg [150:0] read_word_reg;       // the same, from cycle 2 to 5 of that ask
    reg [6:0] yellow_reg;            // of it, from cycle 6 on
    reg [63:0] ask_elapsed_reg;
    reg ask_asked_reg;
    reg [64:0] level_reg;            // what the last ask that came so far wrote
    reg level_asked_reg;             // and no write since

    always @(posedge clk) begin
        age_reg <= {age_reg[6:1], ask_valid};
        ours_reg <= {ours_reg[6:1], ask_ours};
        taken_reg <= take_ours;
        if (writing_reg != 4'd15) writing_reg <= writing_reg + 4'd1;
        if (take) writing_reg <= 4'd0;
        if (!ready) clearing_reg <= clearing_reg + 2'd1;
        if (take_ours) taken_word_reg <= {wr_yellow, wr_cbs, wr_pbs, cir, pir};
        if (ask_ours) begin
            seen_asked_reg <= 1'b1;
            if (ask_time > seen_time_reg) seen_time_reg <= ask_time;
            ask_word_reg <= seen_word_reg;
            ask_elapsed_reg <= ask_time > seen_time_reg ? ask_time - seen_time_reg : 64'd0;
            ask_asked_reg <= seen_asked_reg;
        end
        if (ours_reg[1]) read_word_reg <= ask_word_reg;
        if (ours_reg[5]) yellow_reg <= read_word_reg[150:144];
        if (taken_reg) begin
            seen_word_reg <= taken_word_reg;
            seen_time_reg <= 64'd0;
            seen_asked_reg <= 1'b0;
        end
        if (peek_write[6] && peek_write_meter == pick) level_asked_reg <= 1'b0;
        if (ours_reg[6]) begin
            level_reg <= peek_level;
            level_asked_reg <= 1'b1;
        end
        if (rst) begin
            age_reg <= 7'd0;
            ours_reg <= 7'd0;
            taken_reg <= 1'b0;
            writing_reg <= 4'd15;
            clearing_reg <= 2'd0;
            seen_word_reg <= 151'd0;
            seen_time_reg <= 64'd0;
            seen_asked_reg <= 1'b0;
            level_asked_reg <= 1'b0;
        end
    end

    // What is promised
    always @* if (begun_reg) begin
        assert (m_valid == age_reg[7]);
        if (!rst) begin
            assert (ready == (clearing_reg == 2'd2));
            if (ready) assert (wr_ready || writing_reg < 4'd9);
            if (ours_reg[5:2] != 4'd0) assert (peek_rates == read_word_reg);
            if (ours_reg[2]) assert (peek_elapsed == ask_elapsed_reg);
            if (ours_reg[4]) begin
                if (ask_asked_reg) assert (!peek_fresh && peek_before == level_reg);
                else assert (peek_fresh || peek_before == FULL);
            end
            if (ours_reg[7]) assert (m_yellow == yellow_reg);
            if (m_valid) assert (m_colour != 2'd3);
        end
    end

    // What holds inside, for the induction
    integer i;
    wire [150:0] rates_ours = pick ? peek_rates_1 : peek_rates_0;
    wire [64:0] level_ours = pick ? peek_level_1 : peek_level_0;
    wire [63:0] time_ours = pick ? peek_time_1 : peek_time_0;
    wire write_ours = peek_write_meter == pick;
    wire no_rates_yet = peek_wait && write_ours;
    // A write of this meter whose levels aren't there yet, its asks behind that; its newest ask, and those before
    wire levels_later = peek_write != 6'd0 && write_ours;
    wire [6:1] behind = ours_reg[6:1] & (peek_write - 6'd1);
    wire [6:1] newest = {3'd0, ours_reg[3:1]};
    wire [6:1] older = ours_reg[6:1] & ~newest;
    wire cleared = !peek_clear || peek_clear_meter && !pick;

    always @* if (begun_reg) begin
        assert (peek_stage == age_reg);
        assert ((age_reg & (age_reg >> 1 | age_reg >> 2 | age_reg >> 3)) == 7'd0);
        assert ((ours_reg & ~age_reg) == 7'd0);
        assert (peek_free + peek_wait + peek_clear + peek_write[1] + peek_write[2] + peek_write[3] + peek_write[4] +
            peek_write[5] + peek_write[6] == 4'd1);
        if (peek_clear) assert (!seen_asked_reg && !level_asked_reg && age_reg == 7'd0 && !taken_reg &&
            seen_word_reg == 151'd0 && seen_time_reg == 64'd0 && clearing_reg == peek_clear_meter);
        else assert (clearing_reg == 2'd2);
        assert ((peek_write & age_reg[6:1]) == 6'd0 && (peek_write & age_reg[7:2]) == 6'd0);
        if (peek_wait) assert (writing_reg <= 4'd2);
        if (peek_wait && writing_reg == 4'd2) assert (age_reg[2]);
        if (peek_wait && writing_reg == 4'd1) assert (age_reg[2:1] != 2'b00);
        for (i = 1; i <= 6; i = i + 1) if (peek_write[i]) assert (writing_reg <= 4'd2 + i);
        assert (taken_reg == (peek_wait && writing_reg == 4'd0 && write_ours));
        if (taken_reg) assert (taken_word_reg == peek_word);
        if (age_reg[4:1] != 4'd0) assert (peek_meter == (ours_reg[4:1] != 4'd0 ? pick : !pick));
        if (age_reg[1]) assert (peek_time_meter == peek_meter);
        if (age_reg[7:4] != 4'd0) assert (peek_level_meter == (ours_reg[7:4] != 4'd0 ? pick : !pick));
        if (!peek_clear) assert (peek_time_0 < 64'd8 && peek_time_1 < 64'd8);
        if (peek_clear && peek_clear_meter) assert (peek_time_0 < 64'd8);
        if (age_reg[1]) assert (peek_time < 64'd8 && peek_before_time < 64'd8);
        if (cleared) begin
            if (!no_rates_yet) assert (rates_ours == seen_word_reg);
            else if (!taken_reg) assert (peek_word == seen_word_reg);
            else assert (rates_ours == seen_word_reg);
            assert (level_ours == (level_asked_reg ? level_reg : FULL));
            if (levels_later) assert (seen_asked_reg == (behind != 6'd0));
            else if (peek_wait && write_ours && !taken_reg) assert (!seen_asked_reg);
            else if (seen_asked_reg) assert (level_asked_reg || ours_reg[6:1] != 6'd0);
            else assert (!level_asked_reg && ours_reg[6:1] == 6'd0);
            if (newest != 6'd0) begin
                if (levels_later && peek_write > newest) assert (ask_asked_reg == ((older & behind) != 6'd0));
                else if (ask_asked_reg) assert (level_asked_reg || older != 6'd0);
                else assert (!level_asked_reg && older == 6'd0);
            end
            if (peek_wait && write_ours && !taken_reg) assert (seen_time_reg == 64'd0);
            else if (ours_reg[1]) assert (seen_time_reg == (peek_time > time_ours ? peek_time : time_ours) &&
                peek_before_time == time_ours);
            else assert (seen_time_reg == time_ours);
        end
        if (ours_reg[1]) assert (rates_ours == ask_word_reg &&
            ask_elapsed_reg == (peek_time > peek_before_time ? peek_time - peek_before_time : 64'd0));
        if (ours_reg[6]) assert (m_yellow == yellow_reg);
    end

    always @* if (begun_reg && !rst) begin
        cover (ours_reg[4] && peek_fresh);                                    // the level was read too early
        cover (ours_reg[4] && !ask_asked_reg && !peek_fresh && ask_word_reg != 151'd0);
        cover (ours_reg[4] && ask_asked_reg && ours_reg[6:5] == 2'd0);
        cover (take_ours && ask_ours);
        cover (taken_reg && ask_ours);
        cover (!wr_ready && writing_reg == 4'd8);
    end

endmodule
