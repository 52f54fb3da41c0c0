// axis_async_fifo: a FIFO between two clocks. Cuts through: beats leave as soon as they have crossed.
//
// Latency      3 to 4 cycles of m_clk: m_axis_tvalid is 1 after the third edge of m_clk that follows the s_clk edge which
//              takes the beat (the fourth where the first of them falls so close to the s_clk edge that it misses it).
// Throughput   one beat a cycle of the slower clock, with DEPTH of 16 or more.
// Capacity     DEPTH beats and one in the output register; s_axis_tready is 0 while there is no room. The room of a beat
//              that has left is seen 2 to 3 cycles of s_clk later.
//
// Resets. Each side has its own synchronous reset, which may come alone, at any time, for a single cycle of its clock.
// While a side's reset is high, its tvalid or tready is 0.
//
//   s_rst alone   What had been taken still leaves. If that ends within a frame, a beat of one byte (tkeep 1, tdata of no
//                 meaning) with tlast and tuser = 1 ends the frame at the output. s_axis_tready stays 0 for at least 64
//                 cycles of s_clk, and until the reader has taken all that was held but one beat.
//   m_rst alone   What is held is lost, with what is taken until the write side has learnt of the reset (2 to 3 cycles of
//                 s_clk). If that cuts a frame, the rest of it is taken without waiting (tready is 1) and discarded; the
//                 next frame waits until the read side is ready and passes whole. That is at least 64 cycles of s_clk.
//                 So the first thing after the reset is the first beat of a frame.
//   both          In any order and overlap, the last word has the one that ends last: both of the above hold. At power-up
//                 both must be given once, together or one after the other; until then nothing passes.
//   again and     A reset that comes while the sides still deal with an earlier one starts the 64 cycles again. Between
//   again         an m_rst and the opening of the FIFO no beat is taken, so none is lost.
//
// How it is done. The pointers are never cleared under the eyes of the other side. The write side holds open_reg; the
// read side, once it sees it fall, reads what is left, puts its pointer to zero, and answers "closed". Only then is the
// write pointer put to zero and open_reg raised, and nothing is written before "closed" is seen to fall. A reset of the
// read side is remembered in lost_reg until it has been answered by closing. The wait of 64 cycles flushes stale answers
// when resets follow each other closely; it covers an m_clk down to an eighth of s_clk.
//
// Parameters   DATA_W, USER_W, META_W  widths
//              DEPTH   beats, a power of two, at least 4
`resetall
`timescale 1ns / 1ps
`default_nettype none

module axis_async_fifo #(
    parameter DATA_W = 128,
    parameter USER_W = 10,
    parameter META_W = 1,
    parameter KEEP_W = DATA_W / 8,
    parameter DEPTH  = 32
) (
    input  wire              s_clk,
    input  wire              s_rst,
    input  wire              m_clk,
    input  wire              m_rst,

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
            $display("axis_async_fifo: DATA_W must be a multiple of 8, USER_W and META_W at least 1 (%m)");
            $finish;
        end
        if (DEPTH < 4 || DEPTH != 1 << $clog2(DEPTH)) begin
            $display("axis_async_fifo: DEPTH must be a power of two, at least 4 (%m)");
            $finish;
        end
    end

    localparam ADDR_W = $clog2(DEPTH);
    localparam CTRL_W = KEEP_W + 1 + USER_W;

    localparam [ADDR_W:0]   ONE_BEAT  = 1;
    localparam [ADDR_W:0]   GRAY_FULL = {2'b11, {(ADDR_W - 1){1'b0}}};  // write and read one turn apart
    localparam [USER_W-1:0] CUT_USER  = 1;
    localparam [KEEP_W-1:0] CUT_KEEP  = 1;

    // Steps by which the write side closes and opens the FIFO
    localparam [1:0] CLOSED  = 2'd0;     // waits for the read side to be at rest
    localparam [1:0] CLEARED = 2'd1;     // the write pointer is zero
    localparam [1:0] OPENING = 2'd2;     // waits for the read side to leave its rest
    localparam [1:0] OPEN    = 2'd3;

    reg [DATA_W-1:0] data_ram [0:DEPTH-1];
    reg [CTRL_W-1:0] ctrl_ram [0:DEPTH-1];
    reg [META_W-1:0] meta_ram [0:DEPTH-1];   // written and read on first beats only

    // Write side (s_clk)

    reg  [1:0]        state_reg;
    reg               open_reg;      // to the read side
    reg  [6:0]        wait_reg;      // cycles since the FIFO was closed, up to 64
    reg  [ADDR_W:0]   write_reg;
    reg  [ADDR_W:0]   write_gray_reg;
    reg               first_reg;     // the next beat taken is a frame's first
    reg               discard_reg;   // the rest of the frame is taken and thrown away

    wire              closed;        // from the read side: at rest with its pointer at zero
    wire              lost;          // from the read side: it has been reset

    reg  [ADDR_W:0]   read_gray_reg; // of the read side, below
    (* ASYNC_REG = "TRUE" *)
    reg  [ADDR_W:0]   read_gray_s1_reg;
    (* ASYNC_REG = "TRUE" *)
    reg  [ADDR_W:0]   read_gray_s2_reg;

    wire              full       = (write_gray_reg ^ read_gray_s2_reg) == GRAY_FULL;
    wire              accept     = (state_reg == OPEN) & ~lost & ~full;
    wire [ADDR_W:0]   write_next = write_reg + ONE_BEAT;

    assign s_axis_tready = (accept | discard_reg) & ~s_rst;

    wire              take  = s_axis_tvalid & s_axis_tready;
    wire              store = take & ~discard_reg;

    always @(posedge s_clk) begin
        read_gray_s1_reg <= read_gray_reg;
        read_gray_s2_reg <= read_gray_s1_reg;

        if (take) first_reg <= s_axis_tlast;
        if (take && s_axis_tlast) discard_reg <= 1'b0;

        if (store) begin
            write_reg      <= write_next;
            write_gray_reg <= write_next ^ (write_next >> 1);
        end

        if (!wait_reg[6]) wait_reg <= wait_reg + 7'd1;

        case (state_reg)
            CLOSED: begin
                if (closed && wait_reg[6]) begin
                    state_reg      <= CLEARED;
                    write_reg      <= {(ADDR_W + 1){1'b0}};
                    write_gray_reg <= {(ADDR_W + 1){1'b0}};
                end
            end
            CLEARED: begin
                state_reg <= OPENING;
                open_reg  <= 1'b1;
            end
            default: begin   // OPENING, OPEN
                if (lost) begin
                    state_reg   <= CLOSED;
                    open_reg    <= 1'b0;
                    wait_reg    <= 7'd0;
                    if (!first_reg && !(take && s_axis_tlast)) discard_reg <= 1'b1;
                end else if (!closed) begin
                    state_reg   <= OPEN;
                end
            end
        endcase

        if (s_rst) begin
            state_reg   <= CLOSED;
            open_reg    <= 1'b0;
            wait_reg    <= 7'd0;
            first_reg   <= 1'b1;
            discard_reg <= 1'b0;
        end
    end

    always @(posedge s_clk) begin
        if (store) begin
            data_ram[write_reg[ADDR_W-1:0]] <= s_axis_tdata;
            ctrl_ram[write_reg[ADDR_W-1:0]] <= {s_axis_tuser, s_axis_tlast, s_axis_tkeep};
            if (first_reg) meta_ram[write_reg[ADDR_W-1:0]] <= s_axis_meta;
        end
    end

    // Read side (m_clk)

    reg  [ADDR_W:0]   read_reg;
    reg               rest_reg;      // nothing is read, and the pointer is zero
    reg               lost_reg;      // to the write side
    reg               closed_reg;    // to the write side
    reg               cut_reg;       // a beat that ends the frame has to be shown
    reg               begun_reg;     // out_ctrl_reg holds the last beat read since the opening
    reg               out_valid_reg;
    reg               out_cut_reg;   // the beat shown is that one
    reg  [DATA_W-1:0] out_data_reg;
    reg  [CTRL_W-1:0] out_ctrl_reg;
    reg  [META_W-1:0] out_meta_reg;

    wire              open;

    (* ASYNC_REG = "TRUE" *)
    reg  [ADDR_W:0]   write_gray_m1_reg;
    (* ASYNC_REG = "TRUE" *)
    reg  [ADDR_W:0]   write_gray_m2_reg;

    wire [ADDR_W:0]   read_next  = read_reg + ONE_BEAT;
    wire              empty      = read_gray_reg == write_gray_m2_reg;
    wire              unload     = ~out_valid_reg | m_axis_tready;
    wire              read       = unload & ~cut_reg & ~rest_reg & ~empty;
    wire              read_first = ~begun_reg | out_ctrl_reg[KEEP_W];

    always @(posedge m_clk) begin
        write_gray_m1_reg <= write_gray_reg;
        write_gray_m2_reg <= write_gray_m1_reg;

        if (unload) begin
            out_valid_reg <= read | cut_reg;
            out_cut_reg   <= cut_reg;
            cut_reg       <= 1'b0;
        end

        if (read) begin
            read_reg      <= read_next;
            read_gray_reg <= read_next ^ (read_next >> 1);
            begun_reg     <= 1'b1;
        end

        if (rest_reg) begin
            rest_reg <= ~(open & ~lost_reg);
            if (!open) lost_reg <= 1'b0;
        end else if (!open && empty) begin
            rest_reg      <= 1'b1;
            read_reg      <= {(ADDR_W + 1){1'b0}};
            read_gray_reg <= {(ADDR_W + 1){1'b0}};
            begun_reg     <= 1'b0;
            if (!read_first) cut_reg <= 1'b1;
        end

        closed_reg <= rest_reg & ~open & ~lost_reg;

        if (m_rst) begin
            rest_reg      <= 1'b1;
            lost_reg      <= 1'b1;
            closed_reg    <= 1'b0;
            cut_reg       <= 1'b0;
            begun_reg     <= 1'b0;
            out_valid_reg <= 1'b0;
            read_reg      <= {(ADDR_W + 1){1'b0}};
            read_gray_reg <= {(ADDR_W + 1){1'b0}};
        end
    end

    always @(posedge m_clk) begin
        if (read) begin
            out_data_reg <= data_ram[read_reg[ADDR_W-1:0]];
            out_ctrl_reg <= ctrl_ram[read_reg[ADDR_W-1:0]];
            if (read_first) out_meta_reg <= meta_ram[read_reg[ADDR_W-1:0]];
        end
    end

    assign m_axis_tvalid = out_valid_reg & ~m_rst;
    assign m_axis_tdata  = out_data_reg;
    assign m_axis_tkeep  = out_cut_reg ? CUT_KEEP : out_ctrl_reg[KEEP_W-1:0];
    assign m_axis_tlast  = out_cut_reg | out_ctrl_reg[KEEP_W];
    assign m_axis_tuser  = out_cut_reg ? CUT_USER : out_ctrl_reg[CTRL_W-1:KEEP_W+1];
    assign m_axis_meta   = out_meta_reg;

    // Levels between the sides

    sync_bit open_to_m   (.clk(m_clk), .d(open_reg),   .q(open));
    sync_bit closed_to_s (.clk(s_clk), .d(closed_reg), .q(closed));
    sync_bit lost_to_s   (.clk(s_clk), .d(lost_reg),   .q(lost));

endmodule

`resetall
