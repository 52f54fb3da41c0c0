// Counters of the rules and of the default action, of both sets: frames and bytes, 64 bits each, modulo 2^64.
//
// Each count or command reads a counter in one cycle and writes it in the next, and nothing else comes between: no frame
// is lost to a read that clears. Frames go before commands; 8 may wait, and they come one in four cycles on average.
// A frame that came bad changes no counter. `counted` is 1 for a cycle with each frame, `counted_*` what is known of it.
//
// Command: `cmd_valid` is held until `cmd_done`; counter `cmd_rule`, or with `cmd_default` that of the default action, of
// set `cmd_set`; `cmd_clear` sets it to 0. What it held is at `cmd_frames`, `cmd_bytes` from the cycle of `cmd_done` on.
//
// `clear` sets all counters of set `clear_set` to 0: RULES cycles, in which frames of the other set count on; a frame of
// the same set stops it for as long as it takes to be counted. After reset both sets are cleared. `clearing`: this is
// going on.
//
// Parameter: RULES.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module acl_counters #(
    parameter RULES = 1024,
    parameter RULE_W = $clog2(RULES)
) (
    input  wire              clk,
    input  wire              rst,

    // Frames
    input  wire              s_valid,
    input  wire              s_set,
    input  wire              s_hit,
    input  wire [RULE_W-1:0] s_rule,
    input  wire [15:0]       s_bytes,
    input  wire              s_bad,
    input  wire [7:0]        s_events,

    output wire              counted,
    output wire              counted_set,
    output wire              counted_bad,
    output wire [7:0]        counted_events,

    // Command
    input  wire              cmd_valid,
    input  wire              cmd_clear,
    input  wire              cmd_default,
    input  wire              cmd_set,
    input  wire [RULE_W-1:0] cmd_rule,
    output wire              cmd_done,
    output wire [63:0]       cmd_frames,
    output wire [63:0]       cmd_bytes,

    // All of a set
    input  wire              clear,
    input  wire              clear_set,
    output wire              clearing
);

localparam LAST = RULES - 1;
localparam [RULE_W-1:0] LAST_RULE = LAST[RULE_W-1:0];
localparam [RULE_W-1:0] ONE = 1;
localparam FRAME_W = 1 + 1 + RULE_W + 16 + 1 + 8;

// {bytes, frames}
reg [127:0] set0_mem [0:(1 << RULE_W)-1];
reg [127:0] set1_mem [0:(1 << RULE_W)-1];
reg [127:0] set0_read_reg;
reg [127:0] set1_read_reg;
reg [127:0] default0_reg;
reg [127:0] default1_reg;

// Frames that wait

wire frame_valid, frame_set, frame_hit, frame_bad;
wire [RULE_W-1:0] frame_rule;
wire [15:0] frame_bytes;
wire [7:0] frame_events;
wire [3:0] frames_held;

// A counter was read, and is written in this cycle.
reg busy_reg;
reg command_reg;
reg set_reg;
reg default_reg;
reg [RULE_W-1:0] rule_reg;
reg zero_reg;
reg [15:0] bytes_reg;
reg frame_reg;
reg done_reg;
reg [127:0] found_reg;

wire take_frame = frame_valid && !busy_reg;
wire start_frame = take_frame && !frame_bad;
wire start_command = cmd_valid && !busy_reg && !done_reg && !frame_valid;
wire start = start_frame || start_command;
wire start_set = frame_valid ? frame_set : cmd_set;
wire start_default = frame_valid ? !frame_hit : cmd_default;
wire [RULE_W-1:0] start_rule = frame_valid ? frame_rule : cmd_rule;

assign counted = take_frame;
assign counted_set = frame_set;
assign counted_bad = frame_bad;
assign counted_events = frame_events;
assign cmd_done = done_reg;
assign cmd_frames = found_reg[63:0];
assign cmd_bytes = found_reg[127:64];

word_queue #(.WIDTH(FRAME_W), .DEPTH(8)) frames_inst (
    .clk(clk), .rst(rst), .write(s_valid), .write_data({s_set, s_hit, s_rule, s_bytes, s_bad, s_events}),
    .valid(frame_valid),
    .read_data({frame_set, frame_hit, frame_rule, frame_bytes, frame_bad, frame_events}),
    .read(take_frame), .held(frames_held)
);

wire unused_held = &{1'b0, frames_held};

wire [127:0] found = default_reg ? (set_reg ? default1_reg : default0_reg) : (set_reg ? set1_read_reg : set0_read_reg);
wire [127:0] sum = zero_reg ? 128'd0 : {
    found[127:64] + {48'd0, bytes_reg}, found[63:0] + {63'd0, frame_reg}
};

// Sets that are cleared, and how far
reg [1:0] clear_reg;
reg [RULE_W-1:0] clear_rule_reg;

wire clear_stops = (start && clear_reg[start_set]) || (busy_reg && clear_reg[set_reg]);
wire clear_step = clear_reg != 2'd0 && !clear_stops;

assign clearing = clear_reg != 2'd0;

always @(posedge clk) begin
    if (start) begin
        command_reg <= !frame_valid;
        set_reg <= start_set;
        default_reg <= start_default;
        rule_reg <= start_rule;
        zero_reg <= !frame_valid && cmd_clear;
        bytes_reg <= frame_valid ? frame_bytes : 16'd0;
        frame_reg <= frame_valid;
    end
    if (busy_reg && command_reg) begin
        found_reg <= found;
    end
    busy_reg <= start;
    done_reg <= busy_reg && command_reg;

    if (rst) begin
        busy_reg <= 1'b0;
        done_reg <= 1'b0;
        // Software can read it before any counter was asked for.
        found_reg <= 128'd0;
    end
end

always @(posedge clk) begin
    if (clear) begin
        clear_reg[clear_set] <= 1'b1;
        clear_rule_reg <= {RULE_W{1'b0}};
    end else if (clear_step) begin
        clear_rule_reg <= clear_rule_reg + ONE;
        if (clear_rule_reg == LAST_RULE) begin
            clear_reg <= 2'd0;
        end
    end

    if (rst) begin
        clear_reg <= 2'b11;
        clear_rule_reg <= {RULE_W{1'b0}};
    end
end

wire write_rule = busy_reg && !default_reg;
wire write_set0 = write_rule && !set_reg;
wire write_set1 = write_rule && set_reg;
wire clear_set0 = clear_step && clear_reg[0];
wire clear_set1 = clear_step && clear_reg[1];

always @(posedge clk) begin
    if (write_set0 || clear_set0) begin
        set0_mem[write_set0 ? rule_reg : clear_rule_reg] <= write_set0 ? sum : 128'd0;
    end
    if (start && !start_set) begin
        set0_read_reg <= set0_mem[start_rule];
    end
end

always @(posedge clk) begin
    if (write_set1 || clear_set1) begin
        set1_mem[write_set1 ? rule_reg : clear_rule_reg] <= write_set1 ? sum : 128'd0;
    end
    if (start && start_set) begin
        set1_read_reg <= set1_mem[start_rule];
    end
end

// The default action's are cleared with rule 0; after reset they count before that.
always @(posedge clk) begin
    if (busy_reg && default_reg) begin
        if (set_reg) begin
            default1_reg <= sum;
        end else begin
            default0_reg <= sum;
        end
    end
    if (rst || (clear && !clear_set)) begin
        default0_reg <= 128'd0;
    end
    if (rst || (clear && clear_set)) begin
        default1_reg <= 128'd0;
    end
end

endmodule

`resetall
