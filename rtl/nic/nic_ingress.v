// Entry of a pipeline: each frame gets its sequence number and metadata, and is checked against the port's rules.
//
// The rules, in order of precedence. Each marks the frame bad; the buffer further on drops it and reports it once.
//
//     port_disabled   `enable` is 0 at its first beat
//     oversize        it has more than `max_frame` bytes: it ends with the beat that goes beyond them, and the rest
//                     of it is swallowed; its checksum verdict is "none"
//     bad             it came in bad: with its own reason, or as `bad_frame` where that is 0
//
// Latency 1 cycle, one beat a cycle. A frame takes at least four cycles: `s_axis_tready` falls after a frame of one to
// three beats. That bounds how fast frames can end in front of a buffer (see nic_account).
//
// `enable`, `max_frame`, `now` and, of `s_axis_meta`, `queue` and `tclass` are read with the first beat; `entry_valid`
// stands in the cycle of its handshake. `count_*` follow one cycle after each beat: its bytes, and the frame with its
// last beat. What is swallowed counts too: these are the frames and bytes that came in, not those that went on.
//
// Parameters: PORT_ID and DIRECTION (0 received, 1 to be transmitted), for the metadata.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module nic_ingress #(
    parameter [7:0] PORT_ID = 8'd0,
    parameter [0:0] DIRECTION = 1'b0
) (
    input  wire               clk,
    input  wire               rst,

    // Frames in
    input  wire [127:0]       s_axis_tdata,
    input  wire [15:0]        s_axis_tkeep,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    input  wire [9:0]         s_axis_tuser,
    input  wire [`META_W-1:0] s_axis_meta,

    // Frames out
    output wire [127:0]       m_axis_tdata,
    output wire [15:0]        m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [9:0]         m_axis_tuser,
    output wire [`META_W-1:0] m_axis_meta,

    // Configuration
    input  wire               cfg_enable,
    input  wire [15:0]        cfg_max_frame,

    // Accounting
    output wire               entry_valid,
    output wire [15:0]        entry_seq,
    output wire               count_frame,
    output wire [4:0]         count_bytes,

    // Time
    input  wire [63:0]        now,
    output wire               idle
);

localparam [7:0] CODE_BAD_FRAME = `CODE_BAD_FRAME;
localparam [7:0] CODE_OVERSIZE = `CODE_OVERSIZE;
localparam [7:0] CODE_PORT_DISABLED = `CODE_PORT_DISABLED;

// Where the input stands: before a first beat, within a frame, or in the swallowed rest of one.
reg first_reg;
reg swallow_reg;
reg [1:0] pace_reg;
reg [15:0] seq_reg;

// What is known of the frame since its first beat: whether its port was enabled, and how many bytes it may still have.
reg enable_reg;
reg [15:0] room_reg;

reg count_frame_reg;
reg [4:0] count_bytes_reg;

// Handshake.
wire hold = first_reg && pace_reg != 2'd0;
wire stage_ready;
wire stage_valid = s_axis_tvalid && !swallow_reg && !hold;
wire take = s_axis_tvalid && s_axis_tready;

assign s_axis_tready = !rst && (swallow_reg || (stage_ready && !hold));

// Rules.
wire [4:0] beat_bytes;
wire enabled = first_reg ? cfg_enable : enable_reg;
wire [15:0] room = first_reg ? cfg_max_frame : room_reg;
wire oversize = {11'd0, beat_bytes} > room;
wire stage_last = s_axis_tlast || oversize;

reg [9:0] stage_user;

always @* begin
    stage_user = 10'd0;
    if (s_axis_tlast && !oversize) begin
        stage_user[9:8] = s_axis_tuser[9:8];
    end
    if (!enabled) begin
        stage_user[7:0] = {CODE_PORT_DISABLED[6:0], 1'b1};
    end else if (oversize) begin
        stage_user[7:0] = {CODE_OVERSIZE[6:0], 1'b1};
    end else if (s_axis_tlast && s_axis_tuser[0]) begin
        stage_user[7:0] = {s_axis_tuser[7:1] == 7'd0 ? CODE_BAD_FRAME[6:0] : s_axis_tuser[7:1], 1'b1};
    end
end

// Metadata: only what this block writes goes through the register; the rest of the word is 0 until its writers come.
localparam OWN_W = `MF_SEQ_W + `MF_TCLASS_W + `MF_QUEUE_W + `MF_TIMESTAMP_W;
wire [OWN_W-1:0] own_meta;
reg [`META_W-1:0] out_meta;

always @* begin
    out_meta = {`META_W{1'b0}};
    out_meta[`MF_PORT] = PORT_ID;
    out_meta[`MF_DIRECTION] = DIRECTION;
    {out_meta[`MF_SEQ], out_meta[`MF_TCLASS], out_meta[`MF_QUEUE], out_meta[`MF_TIMESTAMP]} = own_meta;
end

assign m_axis_meta = out_meta;
assign entry_valid = take && first_reg;
assign entry_seq = seq_reg;
assign count_frame = count_frame_reg;
assign count_bytes = count_bytes_reg;
assign idle = first_reg && !m_axis_tvalid;

wire unused_meta = &{1'b0, s_axis_meta};

always @(posedge clk) begin
    count_frame_reg <= take && s_axis_tlast;
    count_bytes_reg <= take ? beat_bytes : 5'd0;

    if (pace_reg != 2'd0) begin
        pace_reg <= pace_reg - 2'd1;
    end

    if (take) begin
        first_reg <= s_axis_tlast;
        swallow_reg <= !s_axis_tlast && (swallow_reg || oversize);
        enable_reg <= enabled;
        room_reg <= room - {11'd0, beat_bytes};
        if (first_reg) begin
            pace_reg <= 2'd3;
            seq_reg <= seq_reg + 16'd1;
        end
    end

    if (rst) begin
        first_reg <= 1'b1;
        swallow_reg <= 1'b0;
        pace_reg <= 2'd0;
        seq_reg <= 16'd0;
        count_frame_reg <= 1'b0;
        count_bytes_reg <= 5'd0;
    end
end

nic_beat_bytes beat_bytes_inst (
    .keep(s_axis_tkeep),
    .bytes(beat_bytes)
);

axis_register #(
    .META_W(OWN_W)
) register_inst (
    .clk(clk),
    .rst(rst),
    .s_axis_tdata(s_axis_tdata),
    .s_axis_tkeep(s_axis_tkeep),
    .s_axis_tvalid(stage_valid),
    .s_axis_tready(stage_ready),
    .s_axis_tlast(stage_last),
    .s_axis_tuser(stage_user),
    .s_axis_meta({seq_reg, s_axis_meta[`MF_TCLASS], s_axis_meta[`MF_QUEUE], now}),
    .m_axis_tdata(m_axis_tdata),
    .m_axis_tkeep(m_axis_tkeep),
    .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready),
    .m_axis_tlast(m_axis_tlast),
    .m_axis_tuser(m_axis_tuser),
    .m_axis_meta(own_meta)
);

endmodule

`resetall
