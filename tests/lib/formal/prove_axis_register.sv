// axis_register: the rules of a stream at its output, and those of skid_rules, for every input that keeps the rules and
// for resets at any time.
module prove_axis_register (
    input       clk,
    input       rst,
    input       pick,
    input [7:0] s_data,
    input       s_keep,
    input       s_last,
    input [1:0] s_user,
    input [1:0] s_meta,
    input       s_valid,
    input       m_ready
);

    reg begun_reg = 1'b0;
    always @(posedge clk) begun_reg <= 1'b1;
    always @* if (!begun_reg) assume (rst);

    wire       s_ready, m_valid, m_last, m_keep, s_first, m_first;
    wire [7:0] m_data;
    wire [1:0] m_user, m_meta;

    // Connected to the registers inside by test_formal.py
    wire       peek_out_valid, peek_first, peek_skid_valid, peek_skid_last, peek_skid_first, peek_skid_keep;
    wire [7:0] peek_skid_data;
    wire [1:0] peek_skid_user, peek_skid_meta;

    axis_register #(.DATA_W(8), .USER_W(2), .META_W(2)) dut (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready),
        .s_axis_tlast(s_last), .s_axis_tuser(s_user), .s_axis_meta(s_meta),
        .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready),
        .m_axis_tlast(m_last), .m_axis_tuser(m_user), .m_axis_meta(m_meta)
    );

    stream_rules #(.ASSUME(1), .BEAT_W(11)) source (
        .clk(clk), .rst(rst), .beat({s_data, s_keep, s_user}), .last(s_last), .meta(s_meta),
        .valid(s_valid), .ready(s_ready), .first(s_first)
    );

    stream_rules #(.BEAT_W(11)) sink (
        .clk(clk), .rst(rst), .beat({m_data, m_keep, m_user}), .last(m_last), .meta(m_meta),
        .valid(m_valid), .ready(m_ready), .first(m_first)
    );

    skid_rules #(.BEAT_W(11)) rules (
        .clk(clk), .rst(rst), .begun(begun_reg), .pick(pick),
        .s_beat({s_data, s_keep, s_user}), .s_last(s_last), .s_meta(s_meta), .s_first(s_first),
        .s_valid(s_valid), .s_ready(s_ready),
        .m_beat({m_data, m_keep, m_user}), .m_last(m_last), .m_meta(m_meta), .m_first(m_first),
        .m_valid(m_valid), .m_ready(m_ready),
        .peek_out_valid(peek_out_valid), .peek_first(peek_first),
        .peek_skid_beat({peek_skid_data, peek_skid_keep, peek_skid_user}), .peek_skid_last(peek_skid_last),
        .peek_skid_meta(peek_skid_meta), .peek_skid_first(peek_skid_first), .peek_skid_valid(peek_skid_valid)
    );

    always @* if (rst) assert (!s_ready);

endmodule
