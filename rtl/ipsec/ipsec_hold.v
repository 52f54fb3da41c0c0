// ipsec_hold: frames that wait for what becomes of them, in order; two streams out, beats as they came and text.
//
// What comes in:
//   beats     Each cycle with `take` is a beat (only while `room` is 1). `take_ask`, beside a frame's first beat: whether it
//             may pass is said later, by `looked`. Without it the frame passes as it comes.
//   looked    One for each frame that asked, in their order, from the cycle after its first beat on: `looked_pass` 1, it passes
//             as it comes; 0, it waits for its verdict. Of such a frame no more than its first 17 beats, and those that came
//             before `looked`, are kept.
//   text      What the engine makes of frames that wait for their verdict, in their order, a stream; s_text_last ends a
//             frame's. Full beats but for the last; how many bytes count is the user's to know.
//   verdict   One for each frame that waits for it, in their order, after its last beat and the last beat of its text:
//             `verdict_go` 0, it ends here; 1, its first verdict_head beats (1 to 17) leave at m_axis, then verdict_beats beats of
//             its text at m_text (0: none), with the user's word beside. `verdict_text`: text of it came in.
// What comes out: m_axis_*, of frames that pass all beats, of those that go their head, each with metadata, whether it goes
// (m_axis_go), and the word; m_text_*, the text of those that go, in the same order. Both look ahead: they are there while
// valid and are taken with ready. Whoever takes a frame's last head beat late keeps metadata and word until then.
//
// Latency: a first beat of a frame that passes, `looked` or a verdict in cycle c, m_axis_valid (and m_text_valid) in c + 2. A beat
// a cycle in and out of each, from frame to frame; frames that end cost no cycle of the output.
// A frame that ends gives its room back when it is the oldest.
//
// Parameters: HOLD_BEATS of each of both memories, FRAMES that are held, powers of two, 32 and 4 at least; WORD_W.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module ipsec_hold #(
    parameter HOLD_BEATS = 1024,
    parameter FRAMES = HOLD_BEATS / 4,
    parameter WORD_W = 8,
    parameter LEVEL_W = $clog2(HOLD_BEATS) + 1
) (
    input  wire               clk,
    input  wire               rst,

    // Beats in
    output wire               room,
    input  wire               take,
    input  wire               take_ask,
    input  wire [127:0]       take_data,
    input  wire [15:0]        take_keep,
    input  wire               take_last,
    input  wire [9:0]         take_user,
    input  wire [`META_W-1:0] take_meta,

    input  wire               looked_valid,
    input  wire               looked_pass,

    // Text in
    input  wire               s_text_valid,
    output wire               s_text_ready,
    input  wire               s_text_last,
    input  wire [127:0]       s_text_data,

    // Verdict
    input  wire               verdict_valid,
    input  wire               verdict_go,
    input  wire               verdict_text,
    input  wire [4:0]         verdict_head,
    input  wire [LEVEL_W-1:0] verdict_beats,
    input  wire [WORD_W-1:0]  verdict_word,

    // Beats out
    output wire               m_axis_valid,
    input  wire               m_axis_ready,
    output wire               m_axis_first,
    output wire               m_axis_last,
    output wire [127:0]       m_axis_data,
    output wire [15:0]        m_axis_keep,
    output wire [9:0]         m_axis_user,
    output wire [`META_W-1:0] m_axis_meta,
    output wire               m_axis_go,
    output wire [WORD_W-1:0]  m_axis_word,

    // Text out
    output wire               m_text_valid,
    input  wire               m_text_ready,
    output wire [127:0]       m_text_data,

    output wire               idle
);

initial begin
    if (HOLD_BEATS < 32 || HOLD_BEATS != 1 << (LEVEL_W - 1) || FRAMES < 4 || FRAMES != 1 << $clog2(FRAMES)) begin
        $display("ipsec_hold: HOLD_BEATS and FRAMES must be powers of two, from 32 and 4 on (%m)");
        $finish;
    end
end

localparam ADDR_W = LEVEL_W - 1;
localparam SLOT_W = $clog2(FRAMES);
localparam CTRL_W = 10 + 1 + 16;
localparam [4:0] HEAD_BEATS = 5'd17;
localparam [LEVEL_W-1:0] ONE_BEAT = 1;
localparam [SLOT_W:0] ONE_SLOT = 1;
localparam GO_W = SLOT_W + 1 + LEVEL_W + 1 + 5 + WORD_W;

reg [127:0]       data_ram [0:HOLD_BEATS-1];
reg [CTRL_W-1:0]  ctrl_ram [0:HOLD_BEATS-1];
reg               last_ram [0:HOLD_BEATS-1];     // as in ctrl_ram: known before the beat is read
reg [`META_W-1:0] meta_ram [0:FRAMES-1];
reg [127:0]       text_ram [0:HOLD_BEATS-1];

// Counters modulo 2 * HOLD_BEATS and 2 * FRAMES; the low bits are addresses.
reg [LEVEL_W-1:0] write_reg;     // next beat to be written
reg [LEVEL_W-1:0] free_reg;      // oldest that is needed, as it was a cycle ago
reg [SLOT_W:0]    slot_reg;      // of the frame that comes in next
reg [SLOT_W:0]    free_slot_reg;

// Beats in

reg        first_reg;
reg        asked_reg;            // the frame under way has asked
reg        passed_reg;           // what the newest `looked` said
reg [SLOT_W:0] open_reg;         // frames that asked and have no `looked`
reg [4:0]  kept_reg;             // beats of the frame that came, HEAD_BEATS at most

// Nobody will want this beat.
wire spare = !first_reg && asked_reg && open_reg == {(SLOT_W + 1){1'b0}} && !passed_reg && kept_reg == HEAD_BEATS;
wire full = (write_reg ^ free_reg) == HOLD_BEATS[LEVEL_W-1:0];
wire no_slot = first_reg && (slot_reg ^ free_slot_reg) == FRAMES[SLOT_W:0];
wire store = take && !spare;
wire enter = take && first_reg;
wire ask = enter && take_ask;

assign room = spare || !(full || no_slot);

always @(posedge clk) begin
    if (take) begin
        first_reg <= take_last;
        if (first_reg) begin
            asked_reg <= take_ask;
            slot_reg <= slot_reg + ONE_SLOT;
            kept_reg <= 5'd1;
        end else if (kept_reg != HEAD_BEATS) begin
            kept_reg <= kept_reg + 5'd1;
        end
    end
    if (store) begin
        write_reg <= write_reg + ONE_BEAT;
    end
    if (looked_valid) begin
        passed_reg <= looked_pass;
    end
    if (ask != looked_valid) begin
        open_reg <= ask ? open_reg + ONE_SLOT : open_reg - ONE_SLOT;
    end

    if (rst) begin
        first_reg <= 1'b1;
        asked_reg <= 1'b0;
        passed_reg <= 1'b0;
        slot_reg <= {(SLOT_W + 1){1'b0}};
        write_reg <= {LEVEL_W{1'b0}};
        open_reg <= {(SLOT_W + 1){1'b0}};
    end
end

always @(posedge clk) begin
    if (store) begin
        data_ram[write_reg[ADDR_W-1:0]] <= take_data;
        ctrl_ram[write_reg[ADDR_W-1:0]] <= {take_user, take_last, take_keep};
        last_ram[write_reg[ADDR_W-1:0]] <= take_last;
    end
    if (enter) begin
        meta_ram[slot_reg[SLOT_W-1:0]] <= take_meta;
    end
end

// Text in: where each frame's ends

reg [LEVEL_W-1:0] text_write_reg;
reg [LEVEL_W-1:0] text_free_reg;

wire text_take = s_text_valid && s_text_ready;
wire [LEVEL_W-1:0] text_next = text_write_reg + ONE_BEAT;

assign s_text_ready = (text_write_reg ^ text_free_reg) != HOLD_BEATS[LEVEL_W-1:0];

always @(posedge clk) begin
    if (text_take) begin
        text_ram[text_write_reg[ADDR_W-1:0]] <= s_text_data;
    end
end

always @(posedge clk) begin
    if (text_take) begin
        text_write_reg <= text_next;
    end

    if (rst) begin
        text_write_reg <= {LEVEL_W{1'b0}};
    end
end

// Frames in order, what was said of them, and those of them that leave: one a cycle, in front of what reads

wire [SLOT_W:0] classes_held, looks_held, verdicts_held, ends_held, goes_held, texts_held;
wire end_valid;
wire unused_queues = &{
    1'b0, classes_held, looks_held, verdicts_held, ends_held, goes_held, texts_held, end_valid
};

wire               class_valid, class_ask;
wire [SLOT_W:0]    class_slot;
wire [LEVEL_W-1:0] class_start;
wire               look_valid, look_pass;
wire               judged_valid, judged_go, judged_text;
wire [4:0]         judged_head;
wire [LEVEL_W-1:0] judged_beats;
wire [WORD_W-1:0]  judged_word;
wire [LEVEL_W-1:0] text_end;

wire passes = class_valid && (!class_ask || (look_valid && look_pass));
wire judged = class_valid && class_ask && look_valid && !look_pass && judged_valid;
wire goes = judged && judged_go;
wire with_text = goes && judged_beats != {LEVEL_W{1'b0}};
wire look_read = class_ask && passes || judged;
wire done = passes || judged;
wire leaves = passes || goes;
wire text_done = judged && judged_text;

reg [LEVEL_W-1:0] text_seen_reg;

word_queue #(.WIDTH(1 + SLOT_W + 1 + LEVEL_W), .DEPTH(FRAMES)) classes (
    .clk(clk), .rst(rst), .write(enter), .write_data({take_ask, slot_reg, write_reg}),
    .valid(class_valid), .read_data({class_ask, class_slot, class_start}), .read(done), .held(classes_held)
);

word_queue #(.WIDTH(1), .DEPTH(FRAMES)) looks (
    .clk(clk), .rst(rst), .write(looked_valid), .write_data(looked_pass),
    .valid(look_valid), .read_data(look_pass), .read(look_read), .held(looks_held)
);

word_queue #(.WIDTH(1 + 1 + 5 + LEVEL_W + WORD_W), .DEPTH(FRAMES)) verdicts (
    .clk(clk), .rst(rst), .write(verdict_valid),
    .write_data({verdict_go, verdict_text, verdict_head, verdict_beats, verdict_word}),
    .valid(judged_valid), .read_data({judged_go, judged_text, judged_head, judged_beats, judged_word}),
    .read(judged), .held(verdicts_held)
);

word_queue #(.WIDTH(LEVEL_W), .DEPTH(FRAMES)) ends (
    .clk(clk), .rst(rst), .write(text_take && s_text_last), .write_data(text_next),
    .valid(end_valid), .read_data(text_end), .read(text_done), .held(ends_held)
);

always @(posedge clk) begin
    if (text_done) begin
        text_seen_reg <= text_end;
    end

    if (rst) begin
        text_seen_reg <= {LEVEL_W{1'b0}};
    end
end

// Beats out

wire               go_valid, go_judged;
wire [SLOT_W:0]    go_slot;
wire [LEVEL_W-1:0] go_start;
wire [4:0]         go_head;
wire [WORD_W-1:0]  go_word;

reg                busy_reg;         // in a frame: read_reg is its next beat
reg [LEVEL_W-1:0]  read_reg;
reg                judged_reg;
reg [4:0]          head_reg;         // beats of its head that are left

reg                out_valid_reg, out_first_reg, out_last_reg, out_go_reg;
reg [127:0]        out_data_reg;
reg [CTRL_W-1:0]   out_ctrl_reg;
reg [`META_W-1:0]  out_meta_reg;
reg [WORD_W-1:0]   out_word_reg;

wire [LEVEL_W-1:0] address = busy_reg ? read_reg : go_start;
wire               is_judged = busy_reg ? judged_reg : go_judged;
wire [4:0]         head = busy_reg ? head_reg : go_head;
wire               may_load = (busy_reg || go_valid) && address != write_reg;
wire               load = may_load && (!out_valid_reg || m_axis_ready);
wire               load_last = is_judged ? head == 5'd1 : last_ram[address[ADDR_W-1:0]];
wire               load_first = load && !busy_reg;

word_queue #(.WIDTH(GO_W), .DEPTH(FRAMES), .BYPASS(1)) leaving (
    .clk(clk), .rst(rst), .write(leaves),
    .write_data({class_slot, class_start, goes, judged_head, judged_word}),
    .valid(go_valid), .read_data({go_slot, go_start, go_judged, go_head, go_word}), .read(load_first), .held(goes_held)
);

wire unused_slot = go_slot[SLOT_W];

assign m_axis_valid = out_valid_reg;
assign m_axis_first = out_first_reg;
assign m_axis_last = out_last_reg;
assign m_axis_data = out_data_reg;
assign m_axis_keep = out_ctrl_reg[15:0];
assign m_axis_user = out_ctrl_reg[26:17];
assign m_axis_meta = out_meta_reg;
assign m_axis_go = out_go_reg;
assign m_axis_word = out_word_reg;

wire unused_ctrl = out_ctrl_reg[16];

always @(posedge clk) begin
    if (load) begin
        out_data_reg <= data_ram[address[ADDR_W-1:0]];
        out_ctrl_reg <= ctrl_ram[address[ADDR_W-1:0]];
        out_first_reg <= !busy_reg;
        out_last_reg <= load_last;
    end
    if (load_first) begin
        out_meta_reg <= meta_ram[go_slot[SLOT_W-1:0]];
        out_go_reg <= go_judged;
        out_word_reg <= go_word;
    end
end

always @(posedge clk) begin
    if (!out_valid_reg || m_axis_ready) begin
        out_valid_reg <= may_load;
    end
    if (load) begin
        busy_reg <= !load_last;
        read_reg <= address + ONE_BEAT;
        judged_reg <= is_judged;
        head_reg <= head - 5'd1;
    end
    free_reg <= busy_reg || go_valid ? address : class_valid ? class_start : write_reg;
    free_slot_reg <= go_valid ? go_slot : class_valid ? class_slot : slot_reg;

    if (rst) begin
        out_valid_reg <= 1'b0;
        busy_reg <= 1'b0;
        free_reg <= {LEVEL_W{1'b0}};
        free_slot_reg <= {(SLOT_W + 1){1'b0}};
    end
end

// Text out

wire               next_valid;
wire [LEVEL_W-1:0] next_start, next_beats;

reg                text_busy_reg;
reg [LEVEL_W-1:0]  text_read_reg, text_left_reg;
reg                text_valid_reg;
reg [127:0]        text_data_reg;

wire [LEVEL_W-1:0] text_address = text_busy_reg ? text_read_reg : next_start;
wire [LEVEL_W-1:0] text_left = text_busy_reg ? text_left_reg : next_beats;
wire               text_may_load = text_busy_reg || next_valid;
wire               text_load = text_may_load && (!text_valid_reg || m_text_ready);

word_queue #(.WIDTH(2 * LEVEL_W), .DEPTH(FRAMES), .BYPASS(1)) texts (
    .clk(clk), .rst(rst), .write(with_text), .write_data({text_seen_reg, judged_beats}),
    .valid(next_valid), .read_data({next_start, next_beats}), .read(text_load && !text_busy_reg), .held(texts_held)
);

assign m_text_valid = text_valid_reg;
assign m_text_data = text_data_reg;

always @(posedge clk) begin
    if (text_load) begin
        text_data_reg <= text_ram[text_address[ADDR_W-1:0]];
    end
end

always @(posedge clk) begin
    if (!text_valid_reg || m_text_ready) begin
        text_valid_reg <= text_may_load;
    end
    if (text_load) begin
        text_busy_reg <= text_left != ONE_BEAT;
        text_read_reg <= text_address + ONE_BEAT;
        text_left_reg <= text_left - ONE_BEAT;
    end
    text_free_reg <= text_may_load ? text_address : text_seen_reg;

    if (rst) begin
        text_valid_reg <= 1'b0;
        text_busy_reg <= 1'b0;
        text_free_reg <= {LEVEL_W{1'b0}};
    end
end

assign idle = first_reg && !class_valid && !go_valid && !busy_reg && !out_valid_reg && !text_may_load && !text_valid_reg;

endmodule

`resetall
