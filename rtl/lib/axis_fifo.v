// axis_fifo: a FIFO for frames in one clock.
//
// FRAME_MODE = 0   Cuts through: beats leave as they came. Never drops.
//                  Latency 2 cycles after the first beat. A frame may be longer than DEPTH.
// FRAME_MODE = 1   Stores and forwards: a frame is seen at the output only once it is held whole, so never a part
//                  of one. Latency 2 cycles from the last beat's handshake to tvalid of the first beat.
// Throughput       one beat a cycle, in and out, within a frame and from frame to frame: a frame committed in time follows
//                  its predecessor's last beat in the very next cycle. DEPTH = 2 and, for frames of one beat, FRAMES = 2
//                  are too few for that: two of three cycles.
//
// Capacity. A beat is held from the cycle after its handshake at the input up to and with the cycle of its handshake at
// the output (or until its frame is dropped); `level` is the number of beats held. At most DEPTH beats are held in all.
// A frame is held from the cycle after its first beat's handshake up to and with the cycle of its last beat's handshake
// at the output (or until it is dropped); at most FRAMES are held.
// There is no room for a beat in a cycle in which level == DEPTH, or, for a first beat, in which FRAMES frames are
// held. What leaves in the same cycle makes room from the next cycle on.
//
// Without DROP_FULL (and always with FRAME_MODE = 0) tready is 0 while there is no room, and the source waits.
// With FRAME_MODE = 1 these frames are dropped whole:
//   bad       (cause 1)  with DROP_BAD: tuser[0] is 1 on the last beat. Goes before the two others.
//   full      (cause 2)  with DROP_FULL: there was no room for one of its beats. tready is 1 whenever rst is 0.
//   oversize  (cause 3)  without DROP_FULL: it has more than DEPTH beats. Beat DEPTH + 1 and all behind it are taken
//                        without waiting.
// With DROP_FULL a frame of more than DEPTH beats counts as full.
// A full or oversize frame gives its room back from the cycle after the beat that found none; a bad one from the cycle
// after its last beat. drop_valid is 1 for the one cycle after the last beat's handshake, with drop_cause, drop_meta (of
// the first beat) and drop_user (tuser of the last beat); the three are undefined in any other cycle.
//
// Reset            tvalid and tready are 0 while rst is high; what is held is forgotten and not reported as dropped.
//
// Parameters       DATA_W, USER_W, META_W  widths
//                  DEPTH   beats held, a power of two, at least 2
//                  FRAMES  frames held, a power of two, at least 2
//                  FRAME_MODE, DROP_BAD, DROP_FULL  0 or 1, as above; the last two only with FRAME_MODE = 1
//
// The memories have one write port and one clocked read port, whose register is the output register.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module axis_fifo #(
    parameter DATA_W     = 128,
    parameter USER_W     = 10,
    parameter META_W     = 1,
    parameter KEEP_W     = DATA_W / 8,
    parameter DEPTH      = 512,
    parameter FRAMES     = 64,
    parameter FRAME_MODE = 0,
    parameter DROP_BAD   = 0,
    parameter DROP_FULL  = 0
) (
    input  wire                     clk,
    input  wire                     rst,

    input  wire [DATA_W-1:0]        s_axis_tdata,
    input  wire [KEEP_W-1:0]        s_axis_tkeep,
    input  wire                     s_axis_tvalid,
    output wire                     s_axis_tready,
    input  wire                     s_axis_tlast,
    input  wire [USER_W-1:0]        s_axis_tuser,
    input  wire [META_W-1:0]        s_axis_meta,

    output wire [DATA_W-1:0]        m_axis_tdata,
    output wire [KEEP_W-1:0]        m_axis_tkeep,
    output wire                     m_axis_tvalid,
    input  wire                     m_axis_tready,
    output wire                     m_axis_tlast,
    output wire [USER_W-1:0]        m_axis_tuser,
    output wire [META_W-1:0]        m_axis_meta,

    output wire                     drop_valid,
    output wire [1:0]               drop_cause,
    output wire [META_W-1:0]        drop_meta,
    output wire [USER_W-1:0]        drop_user,

    output wire [$clog2(DEPTH):0]   level
);

    initial begin
        if (DATA_W < 8 || DATA_W % 8 != 0 || KEEP_W != DATA_W / 8 || USER_W < 1 || META_W < 1) begin
            $display("axis_fifo: DATA_W must be a multiple of 8, USER_W and META_W at least 1 (%m)");
            $finish;
        end
        if (DEPTH < 2 || DEPTH != 1 << $clog2(DEPTH) || FRAMES < 2 || FRAMES != 1 << $clog2(FRAMES)) begin
            $display("axis_fifo: DEPTH and FRAMES must be powers of two, at least 2 (%m)");
            $finish;
        end
        if (FRAME_MODE == 0 && (DROP_BAD != 0 || DROP_FULL != 0)) begin
            $display("axis_fifo: DROP_BAD and DROP_FULL need FRAME_MODE = 1 (%m)");
            $finish;
        end
    end

    localparam ADDR_W = $clog2(DEPTH);
    localparam SLOT_W = $clog2(FRAMES);
    localparam CTRL_W = KEEP_W + 1 + USER_W;

    localparam [ADDR_W:0]   ONE_BEAT   = 1;
    localparam [SLOT_W-1:0] ONE_SLOT   = 1;
    localparam [SLOT_W:0]   ONE_FRAME  = 1;

    localparam [1:0] CAUSE_BAD      = 2'd1;
    localparam [1:0] CAUSE_FULL     = 2'd2;
    localparam [1:0] CAUSE_OVERSIZE = 2'd3;

    reg [DATA_W-1:0] data_ram [0:DEPTH-1];
    reg [CTRL_W-1:0] ctrl_ram [0:DEPTH-1];
    reg [META_W-1:0] meta_ram [0:FRAMES-1];

    // Beat counters modulo 2 * DEPTH; the low bits are addresses.
    reg [ADDR_W:0]   write_reg;      // next beat to be written
    reg [ADDR_W:0]   commit_reg;     // frame mode: first beat of the frame that is being written
    reg [ADDR_W:0]   read_reg;       // next beat to be read into the output register
    reg [ADDR_W:0]   free_reg;       // oldest beat held: it has not left the output register
    reg [SLOT_W-1:0] write_slot_reg; // slot of the frame that is being written, or of the next
    reg [SLOT_W-1:0] read_slot_reg;  // slot of the next frame to be read
    reg [SLOT_W:0]   frames_reg;     // frames held, in frame mode without the one that is being written

    // Write side

    reg              first_reg;      // the next beat taken is a frame's first
    reg              discard_reg;    // the rest of the frame is taken and thrown away

    wire full      = (write_reg ^ free_reg) == DEPTH[ADDR_W:0];
    wire no_slot   = first_reg & frames_reg[SLOT_W];
    wire no_room   = full | no_slot;
    wire oversize  = (write_reg ^ commit_reg) == DEPTH[ADDR_W:0];

    // This beat, if it is taken, can't be stored.
    wire lost      = FRAME_MODE != 0 && (discard_reg || (DROP_FULL != 0 ? no_room : oversize));
    wire ready     = (FRAME_MODE != 0 && DROP_FULL != 0) || !no_room || lost;

    assign s_axis_tready = ready & ~rst;

    wire take   = s_axis_tvalid & s_axis_tready;
    wire store  = take & ~lost;
    wire bad    = DROP_BAD != 0 && s_axis_tuser[0];
    wire commit = take & ~lost & ~bad & s_axis_tlast;
    wire drop   = FRAME_MODE != 0 && take && s_axis_tlast && (lost || bad);

    wire [ADDR_W:0] write_next = write_reg + ONE_BEAT;

    // A frame counts as held, and its beats may leave, from here on.
    wire enter = FRAME_MODE != 0 ? commit : store & first_reg;

    always @(posedge clk) begin
        if (take) begin
            first_reg   <= s_axis_tlast;
            discard_reg <= lost & ~s_axis_tlast;
            if (lost || drop) begin
                write_reg <= commit_reg;
            end else begin
                write_reg <= write_next;
                if (s_axis_tlast || FRAME_MODE == 0) commit_reg <= write_next;
            end
            if (enter) write_slot_reg <= write_slot_reg + ONE_SLOT;
        end

        if (rst) begin
            first_reg      <= 1'b1;
            discard_reg    <= 1'b0;
            write_reg      <= {(ADDR_W + 1){1'b0}};
            commit_reg     <= {(ADDR_W + 1){1'b0}};
            write_slot_reg <= {SLOT_W{1'b0}};
        end
    end

    always @(posedge clk) begin
        if (store) begin
            data_ram[write_reg[ADDR_W-1:0]] <= s_axis_tdata;
            ctrl_ram[write_reg[ADDR_W-1:0]] <= {s_axis_tuser, s_axis_tlast, s_axis_tkeep};
            if (first_reg) meta_ram[write_slot_reg] <= s_axis_meta;
        end
    end

    // Report of a drop

    generate
        if (FRAME_MODE == 0) begin : g_no_report
            assign drop_valid = 1'b0;
            assign drop_cause = 2'd0;
            assign drop_meta  = {META_W{1'b0}};
            assign drop_user  = {USER_W{1'b0}};
        end else begin : g_report
            reg              drop_valid_reg;
            reg [1:0]        drop_cause_reg;
            reg [META_W-1:0] in_meta_reg;
            reg [USER_W-1:0] in_user_reg;

            always @(posedge clk) begin
                drop_valid_reg <= drop;
                if (take) begin
                    if (first_reg) in_meta_reg <= s_axis_meta;
                    if (s_axis_tlast) begin
                        in_user_reg    <= s_axis_tuser;
                        drop_cause_reg <= bad ? CAUSE_BAD : DROP_FULL != 0 ? CAUSE_FULL : CAUSE_OVERSIZE;
                    end
                end
            end

            assign drop_valid = drop_valid_reg & ~rst;
            assign drop_cause = drop_cause_reg;
            assign drop_meta  = in_meta_reg;
            assign drop_user  = in_user_reg;
        end
    endgenerate

    // Read side

    reg [DATA_W-1:0] out_data_reg;
    reg [CTRL_W-1:0] out_ctrl_reg;
    reg [META_W-1:0] out_meta_reg;
    reg              out_valid_reg;
    reg              begun_reg;      // a beat has been read since the reset: out_ctrl_reg holds a real tlast

    wire [ADDR_W:0] limit      = FRAME_MODE != 0 ? commit_reg : write_reg;
    wire            unload     = ~out_valid_reg | m_axis_tready;
    wire            read       = unload & (read_reg != limit);
    wire            out_last   = out_ctrl_reg[KEEP_W];
    wire            read_first = ~begun_reg | out_last;
    wire            leave      = m_axis_tvalid & m_axis_tready;
    wire            leave_last = leave & out_last;

    assign m_axis_tvalid = out_valid_reg & ~rst;
    assign m_axis_tdata  = out_data_reg;
    assign m_axis_meta   = out_meta_reg;
    assign {m_axis_tuser, m_axis_tlast, m_axis_tkeep} = out_ctrl_reg;

    always @(posedge clk) begin
        if (unload) out_valid_reg <= read;
        if (read) begin
            read_reg   <= read_reg + ONE_BEAT;
            begun_reg <= 1'b1;
            if (read_first) read_slot_reg <= read_slot_reg + ONE_SLOT;
        end
        if (leave) free_reg <= free_reg + ONE_BEAT;

        if (enter & ~leave_last) frames_reg <= frames_reg + ONE_FRAME;
        else if (~enter & leave_last) frames_reg <= frames_reg - ONE_FRAME;

        if (rst) begin
            out_valid_reg <= 1'b0;
            begun_reg     <= 1'b0;
            read_reg      <= {(ADDR_W + 1){1'b0}};
            free_reg      <= {(ADDR_W + 1){1'b0}};
            read_slot_reg <= {SLOT_W{1'b0}};
            frames_reg    <= {(SLOT_W + 1){1'b0}};
        end
    end

    always @(posedge clk) begin
        if (read) begin
            out_data_reg <= data_ram[read_reg[ADDR_W-1:0]];
            out_ctrl_reg <= ctrl_ram[read_reg[ADDR_W-1:0]];
            if (read_first) out_meta_reg <= meta_ram[read_slot_reg];
        end
    end

    assign level = write_reg - free_reg;

endmodule

`resetall
