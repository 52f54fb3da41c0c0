// axis_arb_mux with three inputs: whose turn it is, from the ports alone and as its header says; that no frame is mixed with
// another; that an input which waits is passed over by at most two frames; the rules of a stream at the output; and for
// the stream of beats that it chooses those of skid_rules. For every input that keeps the rules, and resets at any time.
module prove_axis_arb_mux (
    input        clk,
    input        rst,
    input        pick,               // follow the beat taken now
    input [23:0] s_data,
    input [2:0]  s_keep,
    input [2:0]  s_last,
    input [5:0]  s_user,
    input [5:0]  s_meta,
    input [2:0]  s_valid,
    input        m_ready
);

    localparam N = 3;

    reg begun_reg = 1'b0;
    always @(posedge clk) begun_reg <= 1'b1;
    always @* if (!begun_reg) assume (rst);

    wire [2:0] s_ready, s_first;
    wire       m_valid, m_last, m_keep, m_first;
    wire [7:0] m_data;
    wire [1:0] m_user, m_meta;

    axis_arb_mux #(.DATA_W(8), .USER_W(2), .META_W(2), .N(N)) dut (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready),
        .s_axis_tlast(s_last), .s_axis_tuser(s_user), .s_axis_meta(s_meta),
        .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready),
        .m_axis_tlast(m_last), .m_axis_tuser(m_user), .m_axis_meta(m_meta)
    );

    genvar g;
    generate
        for (g = 0; g < N; g = g + 1) begin : g_source
            stream_rules #(.ASSUME(1), .BEAT_W(11)) source (
                .clk(clk), .rst(rst), .beat({s_data[g*8 +: 8], s_keep[g], s_user[g*2 +: 2]}), .last(s_last[g]),
                .meta(s_meta[g*2 +: 2]), .valid(s_valid[g]), .ready(s_ready[g]), .first(s_first[g])
            );
        end
    endgenerate

    stream_rules #(.BEAT_W(11)) sink (
        .clk(clk), .rst(rst), .beat({m_data, m_keep, m_user}), .last(m_last), .meta(m_meta),
        .valid(m_valid), .ready(m_ready), .first(m_first)
    );

    // Whose turn it is

    reg [1:0] served_reg = 2'd2;     // the input served last; input 0 follows after a reset
    reg       inside_reg = 1'b0;

    wire [1:0] next1 = served_reg == 2'd2 ? 2'd0 : served_reg + 2'd1;
    wire [1:0] next2 = next1 == 2'd2 ? 2'd0 : next1 + 2'd1;
    wire [1:0] turn  = inside_reg ? served_reg
                     : s_valid[next1] ? next1 : s_valid[next2] ? next2 : served_reg;
    wire       take  = |(s_valid & s_ready);

    always @(posedge clk) begin
        if (take) begin
            served_reg <= turn;
            inside_reg <= !s_last[turn];
        end
        if (rst) begin
            served_reg <= 2'd2;
            inside_reg <= 1'b0;
        end
    end

    always @* if (!rst) begin
        // Never two, never out of turn, and a beat is taken whenever one is offered in turn and there is room.
        assert ((s_valid & s_ready) == 3'd0 || (s_valid & s_ready) == 3'd1 << turn);
        assert (take == (s_valid[turn] && room));
        if (take) assert (s_first[turn] == !inside_reg);
    end

    always @* if (rst) assert (s_ready == 3'd0);

    // An input that offers a first beat, and those that go before it

    (* anyconst *) reg [1:0] waiter;
    always @* assume (waiter < N);
    reg [1:0] passed_reg = 2'd0;
    wire      waits = s_valid[waiter] && s_first[waiter];

    always @(posedge clk) begin
        if (rst || !waits || s_ready[waiter]) passed_reg <= 2'd0;
        else if (take && !inside_reg) passed_reg <= passed_reg + 2'd1;
    end

    wire [1:0] distance = served_reg == waiter ? 2'd3 : next1 == waiter ? 2'd1 : 2'd2;

    always @* if (!rst && waits) begin
        assert (passed_reg <= N - 1);
        assert (passed_reg + distance <= N || (inside_reg && served_reg == waiter));
    end

    // The beats chosen are one stream

    wire       peek_out_valid, peek_first, peek_skid_valid, peek_skid_last, peek_skid_first, peek_skid_keep;
    wire [7:0] peek_skid_data;
    wire [1:0] peek_skid_user, peek_skid_meta, peek_owner;
    wire [2:0] peek_behind;
    wire       peek_inside;
    wire       room = !peek_skid_valid;

    skid_rules #(.BEAT_W(11)) rules (
        .clk(clk), .rst(rst), .begun(begun_reg), .pick(pick),
        .s_beat({s_data[turn*8 +: 8], s_keep[turn], s_user[turn*2 +: 2]}), .s_last(s_last[turn]),
        .s_meta(s_meta[turn*2 +: 2]), .s_first(!inside_reg), .s_valid(s_valid[turn]), .s_ready(room),
        .m_beat({m_data, m_keep, m_user}), .m_last(m_last), .m_meta(m_meta), .m_first(m_first),
        .m_valid(m_valid), .m_ready(m_ready),
        .peek_out_valid(peek_out_valid), .peek_first(peek_first),
        .peek_skid_beat({peek_skid_data, peek_skid_keep, peek_skid_user}), .peek_skid_last(peek_skid_last),
        .peek_skid_meta(peek_skid_meta), .peek_skid_first(peek_skid_first), .peek_skid_valid(peek_skid_valid)
    );

    always @* if (begun_reg) begin
        assert (served_reg < N);
        assert (peek_inside == inside_reg);
        if (inside_reg) assert (peek_owner == served_reg);
        assert (peek_behind == (served_reg == 2'd2 ? 3'b000 : served_reg == 2'd1 ? 3'b100 : 3'b110));
        // Only the input whose frame is under way stands within a frame.
        assert (s_first == ~({2'b00, inside_reg} << served_reg));
    end

    // What must be possible: three frames of three inputs back to back, an input passed over twice

    reg [2:0] run_reg = 3'd0;
    always @(posedge clk) run_reg <= take && !inside_reg && !rst ? {run_reg[1:0], s_valid == 3'b111} : 3'd0;

    always @* if (!rst) begin
        cover (run_reg == 3'b111 && take);
        cover (waits && passed_reg == 2'd2 && take);
    end

endmodule
