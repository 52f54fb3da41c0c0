// The account of one direction: takes the dispositions of all its blocks and counts them by code, one a cycle.
//
//     source 0 -> FIFO -+
//     source 1 -> FIFO -+-> merged disposition -> table of 128 counters of 64 bits
//     ...               |
//
// Latency: `m_disp_valid` 2 cycles after `s_disp_valid` where nothing waits; the counter holds it 1 cycle later.
// Throughput: one disposition a cycle. After reset the table is cleared, 128 cycles in which the FIFOs take in and
// nothing is counted; then `ready` rises.
//
// Order: a FIFO that is half full goes first, then the lowest source.
//
// FIFOs hold 64; those of the sources in DEEP, which may report an end in each cycle of a long row, hold 512: the two
// buffers and the two exits, through which frames of one beat may run that had gathered while an output stood still.
//
// Why 512 are enough. Each frame that enters ends once. Write N for the frames of one direction in the port at most, P
// for those of them between the ingress and its buffer. A frame enters every 4 cycles at most (nic_ingress), so in any W
// cycles at most N + W/4 + 1 end, and W of them are counted.
//  - Receive: nothing stalls in front of rx_buffer, so at most W/4 + P + 1 end there, and at most one a cycle at each of
//    the two exits: 2 W. Beyond W cycles with 2 W + P = N the first bound is the smaller one, so together the FIFOs never
//    hold more than S = N - 3/8 (N - P) + 1. N: 256 in rx_buffer, 256 redirected ones in tx_sched, P, two in each
//    of the registers behind the buffers (9), and 32 that mac_tx has not ended yet: below P + 564. P: the parser and
//    what acl_rx looks up, below 80. S < 434.
//  - Transmit: acl_tx gathers up to 256 frames while tx_sched stands; then at most one a cycle ends in tx_sched, and one
//    a cycle of those that it held at one exit or the other. 2 W against N + W/4 + 1: S = 4/7 (N + 1). N: 256 + 256, two
//    in each of the registers (18), what is in the parser, and 32 in mac_tx: below 592. S < 339.
//  - A FIFO of 64 stands for a source in front of the buffer and before the deep ones in order. It is served first when
//    it holds 32, unless another one does; only one deep FIFO can be half full, since S < 512. Slots behind a buffer that
//    hold no block report nothing: a block that comes there and ends frames belongs among the deep ones.
//  - During the 128 cycles of the clearing at most 33 frames have entered, and so ended.
// Should a larger buffer or a block that ends more frames than came in break that, `lost` says so.
//
// Reading the table: `table_ack` 1 cycle after `table_req`. Word 0 of a counter latches its word 1, which is what word 1
// of that counter gives until word 0 of any counter is read again; word 1 of another counter gives its present value.
//
// Parameters: SOURCES, 1 or more; source i is slice i of the packed inputs. DEEP: bit i, its FIFO holds 512.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_account #(
    parameter SOURCES = 2,
    parameter [SOURCES-1:0] DEEP = {SOURCES{1'b0}}
) (
    input  wire                  clk,
    input  wire                  rst,

    // Dispositions of the blocks
    input  wire [SOURCES-1:0]    s_disp_valid,
    input  wire [SOURCES*16-1:0] s_disp_seq,
    input  wire [SOURCES*8-1:0]  s_disp_code,
    input  wire [SOURCES*8-1:0]  s_disp_queue,

    // Merged
    output wire                  m_disp_valid,
    output wire [15:0]           m_disp_seq,
    output wire [7:0]            m_disp_code,
    output wire [7:0]            m_disp_queue,

    // Table
    input  wire                  table_req,
    input  wire [6:0]            table_index,
    input  wire                  table_word,
    output wire                  table_ack,
    output wire [31:0]           table_rdata,

    // State
    output wire                  lost,
    output wire                  idle,
    output wire                  ready
);

// FIFOs.
wire [SOURCES-1:0] fifo_valid;
wire [SOURCES-1:0] fifo_half;
wire [SOURCES-1:0] fifo_lost;
wire [SOURCES*32-1:0] fifo_head;
wire [SOURCES-1:0] pop;

genvar g;

generate
    for (g = 0; g < SOURCES; g = g + 1) begin : source
        nic_disp_fifo #(
            .DEPTH(DEEP[g] ? 512 : 64)
        ) fifo_inst (
            .clk(clk),
            .rst(rst),
            .push(s_disp_valid[g]),
            .push_data({s_disp_seq[g*16 +: 16], s_disp_code[g*8 +: 8], s_disp_queue[g*8 +: 8]}),
            .valid(fifo_valid[g]),
            .head(fifo_head[g*32 +: 32]),
            .pop(pop[g]),
            .half(fifo_half[g]),
            .lost(fifo_lost[g])
        );
    end
endgenerate

// Choice: the lowest bit of the half full ones, else of those that hold anything.
localparam [SOURCES-1:0] ONE = 1;

reg clear_reg;
wire [SOURCES-1:0] wanted = fifo_half != {SOURCES{1'b0}} ? fifo_half : fifo_valid;

assign pop = clear_reg ? {SOURCES{1'b0}} : wanted & (~wanted + ONE);

reg [31:0] chosen;
integer i;

always @* begin
    i = 0; // in every path, or it is a latch to a synthesizer
    chosen = 32'd0;
    if (pop != {SOURCES{1'b0}}) begin
        for (i = 0; i < SOURCES; i = i + 1) begin
            if (pop[i]) begin
                chosen = fifo_head[i*32 +: 32];
            end
        end
    end
end

// Count.
reg disp_valid_reg;
reg [15:0] disp_seq_reg;
reg [7:0] disp_code_reg;
reg [7:0] disp_queue_reg;

reg [63:0] count_ram [0:127];
reg [6:0] clear_index_reg;

// Read side of the table.
reg table_ack_reg;
reg [31:0] table_rdata_reg;
reg latch_valid_reg;
reg [6:0] latch_index_reg;
reg [31:0] latch_high_reg;
reg lost_reg;

assign m_disp_valid = disp_valid_reg && !rst;
assign m_disp_seq = disp_seq_reg;
assign m_disp_code = disp_code_reg;
assign m_disp_queue = disp_queue_reg;
assign table_ack = table_ack_reg;
assign table_rdata = table_rdata_reg;
assign lost = lost_reg;
assign idle = !clear_reg && fifo_valid == {SOURCES{1'b0}} && !disp_valid_reg;
assign ready = !clear_reg;

always @(posedge clk) begin
    disp_valid_reg <= pop != {SOURCES{1'b0}};
    if (pop != {SOURCES{1'b0}}) begin
        {disp_seq_reg, disp_code_reg, disp_queue_reg} <= chosen;
    end

    if (clear_reg) begin
        count_ram[clear_index_reg] <= 64'd0;
        clear_index_reg <= clear_index_reg + 7'd1;
        clear_reg <= clear_index_reg != 7'd127;
    end else if (disp_valid_reg) begin
        count_ram[disp_code_reg[6:0]] <= count_ram[disp_code_reg[6:0]] + 64'd1;
    end

    lost_reg <= fifo_lost != {SOURCES{1'b0}};

    table_ack_reg <= table_req && !table_ack_reg;
    if (table_req && !table_ack_reg) begin
        if (!table_word) begin
            table_rdata_reg <= count_ram[table_index][31:0];
            latch_high_reg <= count_ram[table_index][63:32];
            latch_index_reg <= table_index;
            latch_valid_reg <= 1'b1;
        end else if (latch_valid_reg && latch_index_reg == table_index) begin
            table_rdata_reg <= latch_high_reg;
        end else begin
            table_rdata_reg <= count_ram[table_index][63:32];
        end
    end

    if (rst) begin
        disp_valid_reg <= 1'b0;
        clear_reg <= 1'b1;
        clear_index_reg <= 7'd0;
        lost_reg <= 1'b0;
        table_ack_reg <= 1'b0;
        latch_valid_reg <= 1'b0;
    end
end

endmodule

`resetall
