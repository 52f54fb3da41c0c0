// axis_adapter: a stream to twice or half its width (64 to 128 bit, 128 to 64 bit).
//
// Narrow to wide   Latency 1 cycle after the narrow beat that completes the first wide beat: 2 cycles after the first
//                  beat where beats come without gaps, 1 for a frame of a single narrow beat.
//                  Throughput one narrow beat a cycle; a wide beat every second cycle.
//                  Two narrow beats make a wide one, the first in the low half. A last beat in the low half leaves at
//                  once, with the upper half of tkeep 0.
// Wide to narrow   Latency 1 cycle. Throughput one narrow beat a cycle.
//                  A wide beat becomes its low half and then its upper half; where the upper half of tkeep is 0 (only on
//                  a last beat) the low half is the last. A beat without bytes is never made.
//
// tlast and tuser go with the frame's last beat, meta with its first.
// Reset            tvalid and tready are 0 while rst is high.
//
// Parameters   S_DATA_W, M_DATA_W  widths of tdata, multiples of 8, one twice the other
//              USER_W, META_W      widths
`resetall
`timescale 1ns / 1ps
`default_nettype none

module axis_adapter #(
    parameter S_DATA_W = 64,
    parameter M_DATA_W = 128,
    parameter USER_W   = 10,
    parameter META_W   = 1,
    parameter S_KEEP_W = S_DATA_W / 8,
    parameter M_KEEP_W = M_DATA_W / 8
) (
    input  wire                clk,
    input  wire                rst,

    input  wire [S_DATA_W-1:0] s_axis_tdata,
    input  wire [S_KEEP_W-1:0] s_axis_tkeep,
    input  wire                s_axis_tvalid,
    output wire                s_axis_tready,
    input  wire                s_axis_tlast,
    input  wire [USER_W-1:0]   s_axis_tuser,
    input  wire [META_W-1:0]   s_axis_meta,

    output wire [M_DATA_W-1:0] m_axis_tdata,
    output wire [M_KEEP_W-1:0] m_axis_tkeep,
    output wire                m_axis_tvalid,
    input  wire                m_axis_tready,
    output wire                m_axis_tlast,
    output wire [USER_W-1:0]   m_axis_tuser,
    output wire [META_W-1:0]   m_axis_meta
);

    initial begin
        if (S_DATA_W % 8 != 0 || M_DATA_W % 8 != 0 || (S_DATA_W != 2 * M_DATA_W && M_DATA_W != 2 * S_DATA_W)) begin
            $display("axis_adapter: S_DATA_W and M_DATA_W must be multiples of 8, one twice the other (%m)");
            $finish;
        end
    end

    generate
        if (M_DATA_W > S_DATA_W) begin : g_widen
            reg                upper_reg;    // the next narrow beat is an upper half
            reg                first_reg;    // the next narrow beat is a frame's first
            reg [S_DATA_W-1:0] low_data_reg;
            reg [META_W-1:0]   low_meta_reg;

            wire take = s_axis_tvalid & s_axis_tready;
            wire push = s_axis_tvalid & (upper_reg | s_axis_tlast);

            always @(posedge clk) begin
                if (take) begin
                    upper_reg <= ~upper_reg & ~s_axis_tlast;
                    first_reg <= s_axis_tlast;
                end
                if (rst) begin
                    upper_reg <= 1'b0;
                    first_reg <= 1'b1;
                end
            end

            always @(posedge clk) begin
                if (take && !upper_reg) begin
                    low_data_reg <= s_axis_tdata;
                    if (first_reg) low_meta_reg <= s_axis_meta;
                end
            end

            axis_register #(
                .DATA_W(M_DATA_W),
                .USER_W(USER_W),
                .META_W(META_W)
            ) output_register (
                .clk          (clk),
                .rst          (rst),
                .s_axis_tdata (upper_reg ? {s_axis_tdata, low_data_reg} : {{S_DATA_W{1'b0}}, s_axis_tdata}),
                .s_axis_tkeep (upper_reg ? {s_axis_tkeep, {S_KEEP_W{1'b1}}} : {{S_KEEP_W{1'b0}}, s_axis_tkeep}),
                .s_axis_tvalid(push),
                .s_axis_tready(s_axis_tready),
                .s_axis_tlast (s_axis_tlast),
                .s_axis_tuser (s_axis_tuser),
                .s_axis_meta  (upper_reg ? low_meta_reg : s_axis_meta),
                .m_axis_tdata (m_axis_tdata),
                .m_axis_tkeep (m_axis_tkeep),
                .m_axis_tvalid(m_axis_tvalid),
                .m_axis_tready(m_axis_tready),
                .m_axis_tlast (m_axis_tlast),
                .m_axis_tuser (m_axis_tuser),
                .m_axis_meta  (m_axis_meta)
            );
        end else begin : g_narrow
            reg                 upper_reg;   // the upper half of the beat in hand is shown
            wire [S_DATA_W-1:0] beat_tdata;
            wire [S_KEEP_W-1:0] beat_tkeep;
            wire                beat_tlast;
            wire                more = ~upper_reg & beat_tkeep[M_KEEP_W];

            always @(posedge clk) begin
                if (m_axis_tvalid && m_axis_tready) upper_reg <= more;
                if (rst) upper_reg <= 1'b0;
            end

            assign m_axis_tdata = upper_reg ? beat_tdata[S_DATA_W-1:M_DATA_W] : beat_tdata[M_DATA_W-1:0];
            assign m_axis_tkeep = upper_reg ? beat_tkeep[S_KEEP_W-1:M_KEEP_W] : beat_tkeep[M_KEEP_W-1:0];
            assign m_axis_tlast = beat_tlast & ~more;

            axis_register #(
                .DATA_W(S_DATA_W),
                .USER_W(USER_W),
                .META_W(META_W)
            ) input_register (
                .clk          (clk),
                .rst          (rst),
                .s_axis_tdata (s_axis_tdata),
                .s_axis_tkeep (s_axis_tkeep),
                .s_axis_tvalid(s_axis_tvalid),
                .s_axis_tready(s_axis_tready),
                .s_axis_tlast (s_axis_tlast),
                .s_axis_tuser (s_axis_tuser),
                .s_axis_meta  (s_axis_meta),
                .m_axis_tdata (beat_tdata),
                .m_axis_tkeep (beat_tkeep),
                .m_axis_tvalid(m_axis_tvalid),
                .m_axis_tready(m_axis_tready & ~more),
                .m_axis_tlast (beat_tlast),
                .m_axis_tuser (m_axis_tuser),
                .m_axis_meta  (m_axis_meta)
            );
        end
    endgenerate

endmodule

`resetall
