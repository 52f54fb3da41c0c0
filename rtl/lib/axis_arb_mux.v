// axis_arb_mux: N streams into one, a frame at a time, round robin; some of them only when the others have nothing.
//
// Latency      1 cycle. A first beat that finds the module idle is taken in the cycle in which it is offered.
// Throughput   one beat a cycle; no idle cycle between frames, of one input or of several.
// Order        round robin by frame: of the inputs that offer a first beat in the cycle in which it can be taken, the
//              one that follows soonest after the input served last (i + 1, i + 2, ... modulo N). After reset input 0
//              comes first. Between frames an input with nothing to send costs no time; within a frame the output
//              waits for the frame's own input.
// Yielding     inputs from FIRST upwards are served only in a cycle in which none below FIRST offers a first beat, in a
//              round of their own. A frame of theirs that has begun is finished.
// Reset        tvalid and tready are 0 while rst is high.
//
// The inputs are packed: input i is slice i of each s_axis signal. s_axis_tready depends combinationally on
// s_axis_tvalid, and on nothing of the m_axis side.
//
// Parameters   DATA_W, USER_W, META_W  widths
//              N       inputs, at least 2
//              FIRST   inputs that don't yield, 1 to N
`resetall
`timescale 1ns / 1ps
`default_nettype none

module axis_arb_mux #(
    parameter DATA_W = 128,
    parameter USER_W = 10,
    parameter META_W = 1,
    parameter KEEP_W = DATA_W / 8,
    parameter N      = 2,
    parameter FIRST  = N
) (
    input  wire                clk,
    input  wire                rst,

    input  wire [N*DATA_W-1:0] s_axis_tdata,
    input  wire [N*KEEP_W-1:0] s_axis_tkeep,
    input  wire [N-1:0]        s_axis_tvalid,
    output wire [N-1:0]        s_axis_tready,
    input  wire [N-1:0]        s_axis_tlast,
    input  wire [N*USER_W-1:0] s_axis_tuser,
    input  wire [N*META_W-1:0] s_axis_meta,

    output wire [DATA_W-1:0]   m_axis_tdata,
    output wire [KEEP_W-1:0]   m_axis_tkeep,
    output wire                m_axis_tvalid,
    input  wire                m_axis_tready,
    output wire                m_axis_tlast,
    output wire [USER_W-1:0]   m_axis_tuser,
    output wire [META_W-1:0]   m_axis_meta
);

    initial begin
        if (N < 2) begin
            $display("axis_arb_mux: N must be at least 2 (%m)");
            $finish;
        end
        if (FIRST < 1 || FIRST > N) begin
            $display("axis_arb_mux: FIRST must be 1 to N (%m)");
            $finish;
        end
    end

    localparam SEL_W = $clog2(N);
    localparam [N-1:0] PROMPT = {N{1'b1}} >> (N - FIRST);   // inputs that don't yield

    reg              inside_reg;     // a frame has begun and not ended
    reg [SEL_W-1:0]  owner_reg;      // whose frame it is, or was
    reg [N-1:0]      behind_reg;     // inputs behind the one of their round served last, which come first in it
    reg [SEL_W-1:0]  pick;

    wire [N-1:0]     prompt  = s_axis_tvalid & PROMPT;
    wire [N-1:0]     offered = |prompt ? prompt : s_axis_tvalid;

    // Of the round whose turn it is, the lowest input behind the last one served, or else the lowest.
    integer i;
    always @* begin
        pick = {SEL_W{1'b0}};
        for (i = N - 1; i >= 0; i = i - 1) begin
            if (offered[i]) pick = i[SEL_W-1:0];
        end
        for (i = N - 1; i >= 0; i = i - 1) begin
            if (offered[i] && behind_reg[i]) pick = i[SEL_W-1:0];
        end
    end

    wire [SEL_W-1:0] owner      = inside_reg ? owner_reg : pick;
    wire [N-1:0]     owner_hot  = {{(N - 1){1'b0}}, 1'b1} << owner;
    wire [N-1:0]     owner_round = |(owner_hot & PROMPT) ? PROMPT : ~PROMPT;
    wire             sel_tvalid = s_axis_tvalid[owner];
    wire             sel_tlast  = s_axis_tlast[owner];
    wire             sel_tready;

    assign s_axis_tready = sel_tready ? owner_hot : {N{1'b0}};

    always @(posedge clk) begin
        if (sel_tvalid && sel_tready) begin
            inside_reg <= ~sel_tlast;
            owner_reg  <= owner;
            behind_reg <= (behind_reg & ~owner_round)
                        | (owner_round & ~(owner_hot | (owner_hot - {{(N - 1){1'b0}}, 1'b1})));
        end

        if (rst) begin
            inside_reg <= 1'b0;
            owner_reg  <= {SEL_W{1'b0}};
            behind_reg <= {N{1'b0}};
        end
    end

    axis_register #(
        .DATA_W(DATA_W),
        .USER_W(USER_W),
        .META_W(META_W)
    ) output_register (
        .clk          (clk),
        .rst          (rst),
        .s_axis_tdata (s_axis_tdata[owner*DATA_W +: DATA_W]),
        .s_axis_tkeep (s_axis_tkeep[owner*KEEP_W +: KEEP_W]),
        .s_axis_tvalid(sel_tvalid),
        .s_axis_tready(sel_tready),
        .s_axis_tlast (sel_tlast),
        .s_axis_tuser (s_axis_tuser[owner*USER_W +: USER_W]),
        .s_axis_meta  (s_axis_meta[owner*META_W +: META_W]),
        .m_axis_tdata (m_axis_tdata),
        .m_axis_tkeep (m_axis_tkeep),
        .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready),
        .m_axis_tlast (m_axis_tlast),
        .m_axis_tuser (m_axis_tuser),
        .m_axis_meta  (m_axis_meta)
    );

endmodule

`resetall
