// Binds the stream assertions to the streams of faulty_stream.

bind faulty_stream axis_sva #(
    .DATA_W(DATA_W), .USER_W(USER_W), .META_W(META_W), .OUTPUT(0)
) input_rules (
    .clk(clk), .rst(rst),
    .tdata(s_axis_tdata), .tkeep(s_axis_tkeep), .tvalid(s_axis_tvalid), .tready(s_axis_tready),
    .tlast(s_axis_tlast), .tuser(s_axis_tuser), .meta(s_axis_meta)
);

bind faulty_stream axis_sva #(
    .DATA_W(DATA_W), .USER_W(USER_W), .META_W(META_W), .OUTPUT(1)
) output_rules (
    .clk(clk), .rst(rst),
    .tdata(m_axis_tdata), .tkeep(m_axis_tkeep), .tvalid(m_axis_tvalid), .tready(m_axis_tready),
    .tlast(m_axis_tlast), .tuser(m_axis_tuser), .meta(m_axis_meta)
);
