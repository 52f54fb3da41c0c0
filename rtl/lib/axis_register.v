// axis_register: a register stage in a stream (skid buffer).
//
// Latency      1 cycle.
// Throughput   one beat a cycle, with any back-pressure; holds two beats.
// Reset        tvalid and tready are 0 while rst is high; what is held is forgotten.
//
// meta is stored on a frame's first beat only, so a frame of many beats moves it once.
// s_axis_tready and every m_axis output come from registers alone (and rst).
//
// Parameters   DATA_W  bits of tdata, a multiple of 8
//              USER_W  bits of tuser
//              META_W  bits of meta
`resetall
`timescale 1ns / 1ps
`default_nettype none

module axis_register #(
    parameter DATA_W = 128,
    parameter USER_W = 10,
    parameter META_W = 1,
    parameter KEEP_W = DATA_W / 8
) (
    input  wire              clk,
    input  wire              rst,

    input  wire [DATA_W-1:0] s_axis_tdata,
    input  wire [KEEP_W-1:0] s_axis_tkeep,
    input  wire              s_axis_tvalid,
    output wire              s_axis_tready,
    input  wire              s_axis_tlast,
    input  wire [USER_W-1:0] s_axis_tuser,
    input  wire [META_W-1:0] s_axis_meta,

    output wire [DATA_W-1:0] m_axis_tdata,
    output wire [KEEP_W-1:0] m_axis_tkeep,
    output wire              m_axis_tvalid,
    input  wire              m_axis_tready,
    output wire              m_axis_tlast,
    output wire [USER_W-1:0] m_axis_tuser,
    output wire [META_W-1:0] m_axis_meta
);

    initial begin
        if (DATA_W < 8 || DATA_W % 8 != 0 || KEEP_W != DATA_W / 8 || USER_W < 1 || META_W < 1) begin
            $display("axis_register: DATA_W must be a multiple of 8, USER_W and META_W at least 1 (%m)");
            $finish;
        end
    end

    // What the next stage sees.
    reg [DATA_W-1:0] out_data_reg;
    reg [KEEP_W-1:0] out_keep_reg;
    reg              out_last_reg;
    reg [USER_W-1:0] out_user_reg;
    reg [META_W-1:0] out_meta_reg;
    reg              out_valid_reg;

    // The beat that was taken while the next stage stood still.
    reg [DATA_W-1:0] skid_data_reg;
    reg [KEEP_W-1:0] skid_keep_reg;
    reg              skid_last_reg;
    reg [USER_W-1:0] skid_user_reg;
    reg [META_W-1:0] skid_meta_reg;
    reg              skid_first_reg;
    reg              skid_valid_reg;

    reg              first_reg;      // the next beat taken is a frame's first

    assign s_axis_tready = ~skid_valid_reg & ~rst;
    assign m_axis_tvalid = out_valid_reg & ~rst;
    assign m_axis_tdata  = out_data_reg;
    assign m_axis_tkeep  = out_keep_reg;
    assign m_axis_tlast  = out_last_reg;
    assign m_axis_tuser  = out_user_reg;
    assign m_axis_meta   = out_meta_reg;

    wire take   = s_axis_tvalid & ~skid_valid_reg;
    wire unload = ~out_valid_reg | m_axis_tready;

    always @(posedge clk) begin
        if (take) first_reg <= s_axis_tlast;

        if (unload) begin
            out_valid_reg  <= take | skid_valid_reg;
            skid_valid_reg <= 1'b0;
        end else if (take) begin
            skid_valid_reg <= 1'b1;
        end

        if (rst) begin
            out_valid_reg  <= 1'b0;
            skid_valid_reg <= 1'b0;
            first_reg      <= 1'b1;
        end
    end

    always @(posedge clk) begin
        if (unload) begin
            if (skid_valid_reg) begin
                out_data_reg <= skid_data_reg;
                out_keep_reg <= skid_keep_reg;
                out_last_reg <= skid_last_reg;
                out_user_reg <= skid_user_reg;
                if (skid_first_reg) out_meta_reg <= skid_meta_reg;
            end else if (take) begin
                out_data_reg <= s_axis_tdata;
                out_keep_reg <= s_axis_tkeep;
                out_last_reg <= s_axis_tlast;
                out_user_reg <= s_axis_tuser;
                if (first_reg) out_meta_reg <= s_axis_meta;
            end
        end else if (take) begin
            skid_data_reg  <= s_axis_tdata;
            skid_keep_reg  <= s_axis_tkeep;
            skid_last_reg  <= s_axis_tlast;
            skid_user_reg  <= s_axis_tuser;
            skid_first_reg <= first_reg;
            if (first_reg) skid_meta_reg <= s_axis_meta;
        end
    end

endmodule

`resetall
