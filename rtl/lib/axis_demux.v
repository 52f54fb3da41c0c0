// axis_demux: one stream to one of N, a frame at a time.
//
// Latency      1 cycle.
// Throughput   one beat a cycle. An output that stands still holds up the frames behind it, whatever their destination.
// Destination  s_axis_dest is read with the first beat and holds for the frame. A frame with a dest of N or above is
//              dropped: its beats are taken like any others (they wait only while the register is full), and drop_valid
//              is 1 for the one cycle after the last one's handshake, with drop_meta of the first (undefined in any
//              other cycle).
// Reset        tvalid and tready are 0 while rst is high.
//
// The outputs are packed: output i is slice i of each m_axis signal. All slices of tdata, tkeep, tlast, tuser and meta
// carry the same beat; tvalid says whose it is.
//
// Parameters   DATA_W, USER_W, META_W  widths
//              N       outputs, at least 2
`resetall
`timescale 1ns / 1ps
`default_nettype none

module axis_demux #(
    parameter DATA_W = 128,
    parameter USER_W = 10,
    parameter META_W = 1,
    parameter KEEP_W = DATA_W / 8,
    parameter N      = 2
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire [DATA_W-1:0]     s_axis_tdata,
    input  wire [KEEP_W-1:0]     s_axis_tkeep,
    input  wire                  s_axis_tvalid,
    output wire                  s_axis_tready,
    input  wire                  s_axis_tlast,
    input  wire [USER_W-1:0]     s_axis_tuser,
    input  wire [META_W-1:0]     s_axis_meta,

    output wire [N*DATA_W-1:0]   m_axis_tdata,
    output wire [N*KEEP_W-1:0]   m_axis_tkeep,
    output wire [N-1:0]          m_axis_tvalid,
    input  wire [N-1:0]          m_axis_tready,
    output wire [N-1:0]          m_axis_tlast,
    output wire [N*USER_W-1:0]   m_axis_tuser,
    output wire [N*META_W-1:0]   m_axis_meta,

    input  wire [$clog2(N)-1:0]  s_axis_dest,
    output wire                  drop_valid,
    output wire [META_W-1:0]     drop_meta
);

    initial begin
        if (N < 2) begin
            $display("axis_demux: N must be at least 2 (%m)");
            $finish;
        end
    end

    localparam DEST_W = $clog2(N);

    // Which way the frame at the input goes

    reg               first_reg;     // the next beat taken is a frame's first
    reg  [DEST_W-1:0] dest_reg;
    reg               drop_valid_reg;
    reg  [META_W-1:0] drop_meta_reg;

    wire              in_tready;
    wire [DEST_W-1:0] dest = first_reg ? s_axis_dest : dest_reg;
    wire              drop = {1'b0, dest} >= N[DEST_W:0];
    wire              take = s_axis_tvalid & in_tready;

    assign s_axis_tready = in_tready;

    always @(posedge clk) begin
        drop_valid_reg <= take & drop & s_axis_tlast;
        if (take) first_reg <= s_axis_tlast;
        if (rst) first_reg <= 1'b1;
    end

    always @(posedge clk) begin
        if (take && first_reg) begin
            dest_reg <= s_axis_dest;
            if (drop) drop_meta_reg <= s_axis_meta;
        end
    end

    assign drop_valid = drop_valid_reg & ~rst;
    assign drop_meta  = drop_meta_reg;

    // The beat and its output

    wire [DATA_W-1:0] out_tdata;
    wire [KEEP_W-1:0] out_tkeep;
    wire              out_tvalid;
    wire              out_tready;
    wire              out_tlast;
    wire [USER_W-1:0] out_tuser;
    wire [META_W-1:0] out_meta;
    wire [DEST_W-1:0] out_dest;

    wire [N-1:0]      out_hot = {{(N - 1){1'b0}}, 1'b1} << out_dest;

    assign out_tready = m_axis_tready[out_dest];

    assign m_axis_tdata  = {N{out_tdata}};
    assign m_axis_tkeep  = {N{out_tkeep}};
    assign m_axis_tvalid = out_tvalid ? out_hot : {N{1'b0}};
    assign m_axis_tlast  = {N{out_tlast}};
    assign m_axis_tuser  = {N{out_tuser}};
    assign m_axis_meta   = {N{out_meta}};

    axis_register #(
        .DATA_W(DATA_W),
        .USER_W(USER_W + DEST_W),
        .META_W(META_W)
    ) beat_register (
        .clk          (clk),
        .rst          (rst),
        .s_axis_tdata (s_axis_tdata),
        .s_axis_tkeep (s_axis_tkeep),
        .s_axis_tvalid(s_axis_tvalid & ~drop),
        .s_axis_tready(in_tready),
        .s_axis_tlast (s_axis_tlast),
        .s_axis_tuser ({dest, s_axis_tuser}),
        .s_axis_meta  (s_axis_meta),
        .m_axis_tdata (out_tdata),
        .m_axis_tkeep (out_tkeep),
        .m_axis_tvalid(out_tvalid),
        .m_axis_tready(out_tready),
        .m_axis_tlast (out_tlast),
        .m_axis_tuser ({out_dest, out_tuser}),
        .m_axis_meta  (out_meta)
    );

endmodule

`resetall
