// axis_fifo: its header, word for word, for every input that keeps the rules of a stream and for resets at any time.
//
// A model counts beats and frames as the header says, from the ports alone. Asserted are the rules of a stream at the
// output; level; when tready is 1; when tvalid is 1, to the cycle (so the latency, no bubble, and in frame mode never a
// part of a frame); each report of a drop; and that a beat which the solver chooses comes out in its place, unchanged, with
// the meta of its own frame. The last part, invariants over the module's registers and memories (peek_*), makes induction
// close.
module prove_axis_fifo #(
    parameter FRAME_MODE = 0,
    parameter DROP_BAD   = 0,
    parameter DROP_FULL  = 0
) (
    input       clk,
    input       rst,
    input       pick,                // follow the beat taken now
    input [7:0] s_data,
    input       s_keep,
    input       s_last,
    input [1:0] s_user,
    input [1:0] s_meta,
    input       s_valid,
    input       m_ready
);

    localparam A = 2;                // 4 beats
    localparam S = 1;                // 2 frames
    localparam DEPTH = 1 << A;
    localparam FRAMES = 1 << S;

    reg begun_reg = 1'b0;
    always @(posedge clk) begun_reg <= 1'b1;
    always @* if (!begun_reg) assume (rst);

    wire         s_ready, m_valid, m_last, m_keep, s_first, m_first, drop_valid;
    wire [7:0]   m_data;
    wire [1:0]   m_user, m_meta, drop_cause, drop_meta, drop_user;
    wire [A:0]   level;

    axis_fifo #(
        .DATA_W(8), .USER_W(2), .META_W(2), .DEPTH(DEPTH), .FRAMES(FRAMES),
        .FRAME_MODE(FRAME_MODE), .DROP_BAD(DROP_BAD), .DROP_FULL(DROP_FULL)
    ) dut (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready),
        .s_axis_tlast(s_last), .s_axis_tuser(s_user), .s_axis_meta(s_meta),
        .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready),
        .m_axis_tlast(m_last), .m_axis_tuser(m_user), .m_axis_meta(m_meta),
        .drop_valid(drop_valid), .drop_cause(drop_cause), .drop_meta(drop_meta), .drop_user(drop_user),
        .level(level)
    );

    stream_rules #(.ASSUME(1), .BEAT_W(11)) source (
        .clk(clk), .rst(rst), .beat({s_data, s_keep, s_user}), .last(s_last), .meta(s_meta),
        .valid(s_valid), .ready(s_ready), .first(s_first)
    );

    stream_rules #(.BEAT_W(11)) sink (
        .clk(clk), .rst(rst), .beat({m_data, m_keep, m_user}), .last(m_last), .meta(m_meta),
        .valid(m_valid), .ready(m_ready), .first(m_first)
    );

    // The model. Beats are numbered as they are stored, modulo 2 * DEPTH.

    reg [A:0] stored_reg = 0;        // number of the next beat to be stored
    reg [A:0] whole_reg = 0;         // those below may leave
    reg [A:0] whole_before_reg = 0;  // the same a cycle ago
    reg [A:0] left_reg = 0;          // number of the oldest beat held
    reg [S:0] frames_reg = 0;        // frames held; in frame mode without the one that is being taken
    reg       swallow_reg = 1'b0;

    wire [A:0] held     = stored_reg - left_reg;
    wire       no_room  = held == DEPTH || (s_first && frames_reg == FRAMES);
    wire [A:0] taken    = stored_reg - whole_reg;
    wire       too_long = taken == DEPTH;
    wire       lost     = FRAME_MODE != 0 && (swallow_reg || (DROP_FULL != 0 ? no_room : too_long));
    wire       take     = s_valid && s_ready;
    wire       leave    = m_valid && m_ready;
    wire       bad      = DROP_BAD != 0 && s_user[0];
    wire       drop     = FRAME_MODE != 0 && take && s_last && (lost || bad);
    wire       enter    = take && !lost && (FRAME_MODE != 0 ? s_last && !bad : s_first);

    reg        drop_reg = 1'b0;
    reg [1:0]  cause_reg, user_reg, meta_reg;

    always @(posedge clk) begin
        whole_before_reg <= whole_reg;
        drop_reg         <= drop;
        if (take) begin
            swallow_reg <= lost && !s_last;
            stored_reg  <= lost || drop ? whole_reg : stored_reg + 1'b1;
            if (!lost && !drop && (s_last || FRAME_MODE == 0)) whole_reg <= stored_reg + 1'b1;
            if (s_first) meta_reg <= s_meta;
            user_reg  <= s_user;
            cause_reg <= bad ? 2'd1 : DROP_FULL != 0 ? 2'd2 : 2'd3;
        end
        if (leave) left_reg <= left_reg + 1'b1;
        frames_reg <= frames_reg + enter - (leave && m_last);
        if (rst) begin
            stored_reg       <= 0;
            whole_reg        <= 0;
            whole_before_reg <= 0;
            left_reg         <= 0;
            frames_reg       <= 0;
            swallow_reg      <= 1'b0;
            drop_reg         <= 1'b0;
        end
    end

    // The beat that is followed

    reg        follow_reg = 1'b0;
    reg [A:0]  place_reg;
    reg [10:0] beat_reg;
    reg        last_reg, first_reg;
    reg [1:0]  beat_meta_reg;
    reg        slot_reg;             // where its meta is kept

    wire       follow_committed = place_reg - left_reg < whole_reg - left_reg;

    always @(posedge clk) begin
        if (follow_reg) begin
            if (leave && place_reg == left_reg) follow_reg <= 1'b0;
            if (take && (lost || drop) && !follow_committed) follow_reg <= 1'b0;
        end else if (take && pick && !lost && !drop) begin
            follow_reg    <= 1'b1;
            place_reg     <= stored_reg;
            beat_reg      <= {s_data, s_keep, s_user};
            last_reg      <= s_last;
            first_reg     <= s_first;
            beat_meta_reg <= s_meta;
            slot_reg      <= peek_write_slot;
        end
        if (rst) follow_reg <= 1'b0;
    end

    always @* if (!rst) begin
        assert (level == held);
        assert (held <= DEPTH);
        assert (s_ready == ((FRAME_MODE != 0 && DROP_FULL != 0) || !no_room || lost));
        assert (m_valid == (left_reg != whole_before_reg));
        assert (drop_valid == drop_reg);
        if (drop_reg) assert (drop_cause == cause_reg && drop_user == user_reg && drop_meta == meta_reg);
        if (follow_reg && m_valid && place_reg == left_reg) begin
            assert ({m_data, m_keep, m_user} == beat_reg && m_last == last_reg && m_first == first_reg);
            if (first_reg) assert (m_meta == beat_meta_reg);
        end
    end

    always @* if (rst) assert (!s_ready && !drop_valid);

    // Invariants

    wire [A:0]          peek_write, peek_commit, peek_read, peek_free;
    wire [S-1:0]        peek_write_slot, peek_read_slot;
    wire [S:0]          peek_frames;
    wire                peek_first, peek_discard, peek_out_valid, peek_begun;
    wire [3:0]          peek_out_ctrl;
    wire [DEPTH*8-1:0]  peek_data;
    wire [DEPTH*4-1:0]  peek_ctrl;   // user, last, keep
    wire [FRAMES*2-1:0] peek_meta;

    wire       out_last   = peek_out_ctrl[1];
    wire       read_first = !peek_begun || out_last;
    wire [A:0] unread     = stored_reg - peek_read;
    wire [A:0] unread_whole = whole_reg - peek_read;

    // Walks the beats that are still in the memory
    integer    i;
    reg [A:0]  number;
    reg [A-1:0] at;
    reg        is_first;
    reg [A:0]  firsts, lasts;        // of the whole frames, or of all where beats leave at once
    always @* begin
        number   = 0;
        at       = 0;
        is_first = read_first;
        firsts   = 0;
        lasts    = out_last && peek_out_valid;
        for (i = 0; i < DEPTH; i = i + 1) begin
            if (i < unread) begin
                number = peek_read + i;
                at     = number[A-1:0];
                if (begun_reg && follow_reg && place_reg == number) begin
                    assert (is_first == first_reg);
                    assert ({peek_data[at*8 +: 8], peek_ctrl[at*4], peek_ctrl[at*4 + 2 +: 2]} == beat_reg);
                    assert (peek_ctrl[at*4 + 1] == last_reg);
                    if (first_reg) assert (slot_reg == peek_read_slot + firsts[S-1:0]);
                end
                if (i < unread_whole) begin
                    firsts = firsts + is_first;
                    lasts  = lasts + peek_ctrl[at*4 + 1];
                end
                if (i + 1 == unread_whole && FRAME_MODE != 0) begin
                    if (begun_reg) assert (peek_ctrl[at*4 + 1]);
                end
                if (i >= unread_whole) begin
                    if (begun_reg) assert (!peek_ctrl[at*4 + 1]);
                end
                is_first = peek_ctrl[at*4 + 1];
            end
        end
    end

    always @* if (begun_reg) begin
        assert (peek_write == stored_reg && peek_commit == whole_reg && peek_free == left_reg);
        assert (peek_frames == frames_reg && peek_first == s_first && peek_discard == swallow_reg);
        assert (peek_read - left_reg == peek_out_valid);
        assert (peek_out_valid == (left_reg != whole_before_reg));
        assert (held <= DEPTH && whole_reg - left_reg <= held && unread_whole <= unread && unread <= DEPTH);
        assert (whole_before_reg - left_reg <= whole_reg - left_reg);
        assert (frames_reg <= FRAMES);

        if (!peek_begun) assert (!peek_out_valid && m_first);
        if (peek_begun && !peek_out_valid) assert (m_first == out_last);

        assert (peek_write_slot == peek_read_slot + firsts[S-1:0]);
        if (FRAME_MODE != 0) begin
            assert (frames_reg == lasts);
            if (unread_whole == 0) assert (read_first);
            if (s_first || swallow_reg) assert (stored_reg == whole_reg);
            if (!s_first && !swallow_reg) assert (stored_reg != whole_reg && frames_reg < FRAMES);
            if (swallow_reg) assert (!s_first);
            if (!s_first) assert (drop_meta == meta_reg);
        end else begin
            assert (frames_reg == lasts + !s_first);
            assert (stored_reg == whole_reg && !swallow_reg);
            assert (s_first == is_first);
        end

        if (follow_reg) begin
            assert (place_reg - left_reg < held);
            if (place_reg - peek_read < unread && first_reg) assert (peek_meta[slot_reg*2 +: 2] == beat_meta_reg);
            if (peek_out_valid && place_reg == left_reg) begin
                assert ({m_data, m_keep, m_user} == beat_reg && m_last == last_reg && m_first == first_reg);
                if (first_reg) assert (m_meta == beat_meta_reg);
            end
        end
    end

    // What must be possible

    reg       single_reg = 1'b0;     // a frame of one beat left a cycle ago
    reg       turned_reg = 1'b0;     // the addresses have gone round
    always @(posedge clk) begin
        single_reg <= leave && m_first && m_last && !rst;
        if (rst) turned_reg <= 1'b0;
        else if (&left_reg[A-1:0] && leave) turned_reg <= 1'b1;
    end

    always @* if (!rst) begin
        cover (held == DEPTH && leave);
        cover (single_reg && leave && m_first && m_last);
        cover (turned_reg && follow_reg && m_valid && place_reg == left_reg && first_reg && !last_reg);
        if (FRAME_MODE != 0 && DROP_BAD != 0) cover (drop_valid && drop_cause == 2'd1);
        if (FRAME_MODE != 0 && DROP_FULL != 0) cover (drop_valid && drop_cause == 2'd2);
        if (FRAME_MODE != 0 && DROP_FULL == 0) cover (drop_valid && drop_cause == 2'd3);
    end

endmodule
