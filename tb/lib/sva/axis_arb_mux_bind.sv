// Binds the stream assertions to the streams of axis_arb_mux.

bind axis_arb_mux axis_sva #(
    .DATA_W(DATA_W), .USER_W(USER_W), .META_W(META_W), .OUTPUT(1)
) output_rules (
    .clk(clk), .rst(rst),
    .tdata(m_axis_tdata), .tkeep(m_axis_tkeep), .tvalid(m_axis_tvalid), .tready(m_axis_tready),
    .tlast(m_axis_tlast), .tuser(m_axis_tuser), .meta(m_axis_meta)
);
