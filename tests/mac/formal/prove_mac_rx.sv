// mac_rx: its frames, for any characters on XGMII and resets at any time. The CRC is left out: any value may come of it.
//
// No frame begins inside another, each ends with tlast once its last word is through, only the last beat is short, none is
// empty, and a good one has 60 bytes or more. A frame's first beat stands on m_axis five cycles behind its start.
module prove_mac_rx (
    input         clk,
    input         rst,
    input  [63:0] xgmii_d,
    input  [7:0]  xgmii_c,
    input         cfg_enable
);

    reg begun_reg = 1'b0;
    always @(posedge clk) begun_reg <= 1'b1;
    always @* if (!begun_reg) assume (rst);

    (* anyconst *) reg [15:0] max_frame;
    always @* assume (max_frame >= 16'd64 && max_frame <= 16'd65523);

    wire [63:0] m_data;
    wire [7:0]  m_keep, m_user;
    wire        m_valid, m_last, idle;

    mac_rx dut (
        .clk(clk), .rst(rst), .xgmii_d(xgmii_d), .xgmii_c(xgmii_c),
        .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tvalid(m_valid), .m_axis_tlast(m_last),
        .m_axis_tuser(m_user), .m_axis_time(), .now(96'd0), .cfg_enable(cfg_enable), .cfg_max_frame(max_frame),
        .local_fault(), .remote_fault(), .idle(idle)
    );

    // What m_axis shows

    reg        inside_reg = 1'b0;    // behind a beat without tlast
    reg [13:0] beats_reg;            // of the frame, at most 16
    wire       inside = m_valid ? !m_last : inside_reg;

    always @(posedge clk) begin
        inside_reg <= inside && !rst;
        if (m_valid) beats_reg <= !inside_reg ? 14'd1 : beats_reg[4] ? beats_reg : beats_reg + 14'd1;
    end

    wire peek_first, peek_emit, peek_begins, peek_open, peek_open_first, peek_s2_valid, peek_s2_first, peek_s2_end;
    wire peek_s3_valid, peek_s3_end, peek_sent, peek_held;
    wire [3:0]  peek_s2_count, peek_s3_count;
    wire [13:0] peek_s3_index, peek_next_index;

    // A beat that is a frame's first; and a frame's first word that gives one, three cycles behind the judged start
    reg       first_beat_reg = 1'b0;
    reg [2:0] start_reg = 3'd0;
    always @(posedge clk) begin
        first_beat_reg <= peek_s3_valid && peek_first && peek_emit && !rst;
        start_reg      <= rst ? 3'd0 : {start_reg[1:0], peek_begins};
    end

    always @* if (begun_reg && !rst) begin
        if (m_valid) begin
            assert (m_keep != 8'd0 && (m_keep & (m_keep + 8'd1)) == 8'd0);
            if (!m_last) assert (m_keep == 8'hff && m_user == 8'd0);
            if (m_last) assert (m_user[0] == (m_user[7:1] != 7'd0));
            assert (first_beat_reg == !inside_reg);
            if (m_last && !m_user[0]) assert (inside_reg && beats_reg >= 14'd7 && (beats_reg > 14'd7 || m_keep[3]));
        end
        if (idle) assert (!inside);
        // Nothing in front of the FCS: no stream
        if (peek_s3_valid && peek_first && peek_s3_end && peek_s3_count <= 4'd4) assert (!peek_emit);
        assert (first_beat_reg == (m_valid && !inside_reg));
        // The judged start is a cycle behind its word, the first word in stage 3 three cycles behind that
        assert (start_reg[2] == (peek_s3_valid && peek_first));
    end

    // Invariants: a frame's words follow each other without a gap, through all stages

    wire [13:0] beats_now = !inside_reg ? 14'd1 : beats_reg[4] ? beats_reg : beats_reg + 14'd1;
    wire [13:0] words = peek_s3_index > 14'd16 ? 14'd16 : peek_s3_index;

    always @* if (begun_reg && !rst) begin
        if (peek_s2_valid && !peek_s2_end) assert (peek_open && !peek_open_first);
        if (peek_open && !peek_open_first) assert (peek_s2_valid && !peek_s2_end);
        if (peek_s3_valid && !peek_s3_end) assert (peek_s2_valid && !peek_s2_first);
        if (peek_s2_valid && !peek_s2_first) assert (peek_s3_valid && !peek_s3_end);
        if (peek_s2_valid) assert (peek_s2_end ? peek_s2_count < 4'd8 : peek_s2_count == 4'd8);
        if (peek_s3_valid) assert (peek_s3_end ? peek_s3_count < 4'd8 : peek_s3_count == 4'd8);
        assert (start_reg[0] == (peek_open && peek_open_first));
        assert (start_reg[1] == (peek_s2_valid && peek_s2_first));
        assert (start_reg[2] == (peek_s3_valid && peek_first));
        if (!peek_s3_valid) assert (!peek_sent && !peek_held && !inside);
        if (peek_s3_valid) begin
            assert (peek_first == (peek_s3_index == 14'd0));
            assert (peek_next_index == (&peek_s3_index ? peek_s3_index : peek_s3_index + 14'd1));
            if (peek_first) assert (!peek_sent && !peek_held && !inside);
            if (!peek_first) assert (inside == !peek_sent);
            if (peek_held) assert (peek_s3_end && peek_s3_count <= 4'd4 && peek_s3_index >= 14'd8 && !peek_sent);
            if (inside && !peek_held) assert ((m_valid ? beats_now : beats_reg) == words);
            if (inside && peek_held) begin
                assert ((m_valid ? beats_now : beats_reg) == (peek_s3_index > 14'd16 ? 14'd16 : peek_s3_index - 14'd1));
            end
        end
        if (first_beat_reg) assert (m_valid && !inside_reg);
    end

    // What must be possible

    always @* if (begun_reg && !rst) begin
        cover (m_valid && m_last && first_beat_reg);
        cover (m_valid && m_last && inside_reg && !m_user[0]);
    end

endmodule
