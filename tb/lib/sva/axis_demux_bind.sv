// Binds the stream assertions to the streams of axis_demux.

bind axis_demux axis_sva #(
    .DATA_W(DATA_W), .USER_W(USER_W), .META_W(META_W), .OUTPUT(0)
) input_rules (
    .clk(clk), .rst(rst),
    .tdata(s_axis_tdata), .tkeep(s_axis_tkeep), .tvalid(s_axis_tvalid), .tready(s_axis_tready),
    .tlast(s_axis_tlast), .tuser(s_axis_tuser), .meta(s_axis_meta)
);
