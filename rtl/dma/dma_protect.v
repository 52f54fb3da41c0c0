// What a requester asks, held against the regions (docs/dma.md, Protection): requests in, in order; out of it each with
// its code and, where it has one, the entry of its first page.
//
// Latency 3 cycles, and a cycle for each further page; the next request is taken in the cycle behind the last page's:
// one request of one page every 3 cycles. Each requester has tables of its own, all written by dma_command.
//
// `hold`: no request is taken. A fenced one goes on when it is `alone`: all earlier ones have ended.
//
// Parameters: REGIONS, PAGES.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_protect #(
    parameter REGIONS = 256,
    parameter PAGES = 4096
) (
    input  wire         clk,
    input  wire         rst,

    input  wire         hold,
    input  wire         alone,
    input  wire         physical,

    input  wire         req_valid,
    output wire         req_ready,
    input  wire         req_write,
    input  wire         req_remote,
    input  wire [31:0]  req_key,
    input  wire [63:0]  req_addr,
    input  wire [31:0]  req_len,
    input  wire [7:0]   req_id,
    input  wire         req_fence,
    input  wire         req_flush,
    input  wire         req_ro,

    // Tables
    input  wire         region_write,
    input  wire [7:0]   region_number,
    input  wire         page_write,
    input  wire [14:0]  page_number,
    input  wire         present,
    input  wire [23:0]  key,
    input  wire [63:0]  base,
    input  wire [63:0]  length,
    input  wire [4:0]   rights,
    input  wire         target,
    input  wire [1:0]   page_size,
    input  wire [15:0]  first,

    // Checked: to the writes or to the reads
    output wire         write_valid,
    input  wire         write_ready,
    output wire         read_valid,
    input  wire         read_ready,
    output wire [63:0]  out_addr,
    output wire [31:0]  out_len,
    output wire [7:0]   out_id,
    output wire [7:0]   out_code,
    output wire         out_flush,
    output wire         out_ro,
    output wire         out_target,
    output wire         out_physical,
    output wire [1:0]   out_page_size,
    output wire [14:0]  out_page
);

localparam REGION_W = 24 + 64 + 64 + 4 + 1 + 2 + 16;
localparam NUMBER_W = REGIONS > 1 ? $clog2(REGIONS) : 1;
localparam PAGE_W = PAGES > 1 ? $clog2(PAGES) : 1;

localparam [7:0] NO_REGION = 8'd1;
localparam [7:0] BOUNDS = 8'd2;
localparam [7:0] RIGHTS = 8'd3;
localparam [7:0] NO_PAGE = 8'd4;

localparam [1:0] IDLE = 2'd0;
localparam [1:0] REGION = 2'd1;
localparam [1:0] WALK = 2'd2;

reg [REGION_W-1:0] region_mem [0:REGIONS-1];
reg [REGIONS-1:0] used_reg;
reg present_mem [0:PAGES-1];

reg [1:0] state_reg;
reg write_reg;
reg remote_reg;
reg [31:0] key_reg;
reg [63:0] addr_reg;
reg [31:0] len_reg;
reg [7:0] id_reg;
reg fence_reg;
reg flush_reg;
reg ro_reg;
reg physical_reg;
reg [REGION_W-1:0] region_reg;
reg region_used_reg;
reg [7:0] code_reg;
reg target_reg;
reg [1:0] size_reg;
// Entries of a page table, and one bit more: what lies beyond PAGES isn't present
reg [64:0] page_reg;
reg [32:0] pages_reg;
reg [14:0] first_page_reg;

wire [15:0] region_first = region_reg[15:0];
wire [1:0] region_size = region_reg[17:16];
wire region_target = region_reg[18];
wire [3:0] region_rights = region_reg[22:19];
wire [63:0] region_length = region_reg[86:23];
wire [63:0] region_base = region_reg[150:87];
wire [23:0] region_key = region_reg[174:151];

reg [4:0] shift;
reg [31:0] size_mask;
always @* begin
    case (region_size)
        2'd0: shift = 5'd12;
        2'd1: shift = 5'd14;
        2'd2: shift = 5'd16;
        default: shift = 5'd21;
    endcase
    size_mask = (32'd1 << shift) - 32'd1;
end

wire [64:0] end_addr = {1'b0, addr_reg} + {33'd0, len_reg};
wire [64:0] region_end = {1'b0, region_base} + {1'b0, region_length};
wire wraps = end_addr > {1'b1, 64'd0};
wire outside = wraps || addr_reg < region_base || end_addr > region_end;
wire right = region_rights[{remote_reg, write_reg}];
wire [63:0] ahead = (addr_reg >> shift) - (region_base >> shift);
wire [32:0] span = {1'b0, len_reg} + {1'b0, addr_reg[31:0] & size_mask} - 33'd1;
wire here = page_reg[64:32] == 33'd0 && page_reg[31:0] < PAGES && present_mem[page_reg[PAGE_W-1:0]];
wire last_page = pages_reg == 33'd0;
wire walks = code_reg == 8'd0 && !physical_reg && len_reg != 32'd0;
wire room = write_reg ? write_ready : read_ready;
wire ends = state_reg == WALK && (!walks || !here || last_page);
wire leaves = ends && room;

assign req_ready = state_reg == IDLE && !hold;
assign write_valid = ends && write_reg;
assign read_valid = ends && !write_reg;
assign out_addr = addr_reg;
assign out_len = len_reg;
assign out_id = id_reg;
assign out_code = walks && !here ? NO_PAGE : code_reg;
assign out_flush = flush_reg;
assign out_ro = ro_reg;
assign out_target = target_reg;
assign out_physical = physical_reg;
assign out_page_size = size_reg;
assign out_page = first_page_reg;

wire unused_bits = &{1'b0, rights[4], key_reg[7:0], page_number, region_number};

always @(posedge clk) begin
    if (region_write) begin
        region_mem[region_number[NUMBER_W-1:0]] <= {key, base, length, rights[3:0], target, page_size, first};
    end
    if (page_write) begin
        present_mem[page_number[PAGE_W-1:0]] <= present;
    end
    if (req_valid && req_ready) begin
        region_reg <= region_mem[req_key[NUMBER_W-1:0]];
    end
end

always @(posedge clk) begin
    if (region_write) begin
        used_reg[region_number[NUMBER_W-1:0]] <= present;
    end

    case (state_reg)
        IDLE: begin
            if (req_valid && req_ready) begin
                write_reg <= req_write;
                remote_reg <= req_remote;
                key_reg <= req_key;
                addr_reg <= req_addr;
                len_reg <= req_len;
                id_reg <= req_id;
                fence_reg <= req_fence;
                flush_reg <= req_flush;
                ro_reg <= req_ro;
                physical_reg <= physical && !req_remote && req_key == 32'd0;
                region_used_reg <= {24'd0, req_key[7:0]} < REGIONS && used_reg[req_key[NUMBER_W-1:0]];
                state_reg <= REGION;
            end
        end
        REGION: begin
            if (!fence_reg || alone) begin
                state_reg <= WALK;
            end
            page_reg <= {49'd0, region_first} + {1'b0, ahead};
            first_page_reg <= region_first[14:0] + ahead[14:0];
            pages_reg <= span >> shift;
            target_reg <= region_target && !physical_reg;
            size_reg <= region_size;
            code_reg <= 8'd0;
            if (len_reg == 32'd0) begin
                code_reg <= 8'd0;
            end else if (physical_reg) begin
                code_reg <= wraps ? BOUNDS : 8'd0;
            end else if (!region_used_reg || region_key != key_reg[31:8]) begin
                code_reg <= NO_REGION;
            end else if (outside) begin
                code_reg <= BOUNDS;
            end else if (!right) begin
                code_reg <= RIGHTS;
            end
        end
        default: begin
            if (!ends) begin
                page_reg <= page_reg + 65'd1;
                pages_reg <= pages_reg - 33'd1;
            end else if (leaves) begin
                state_reg <= IDLE;
            end
        end
    endcase

    if (rst) begin
        state_reg <= IDLE;
        used_reg <= {REGIONS{1'b0}};
        write_reg <= 1'b0;
        physical_reg <= 1'b0;
        code_reg <= 8'd0;
        len_reg <= 32'd0;
    end
end

endmodule

`resetall
