// Requests into TLPs (docs/dma.md, TLPs): each as many bytes as MPS or MRRS and 4 KiB allow, with its bus address.
//
// Latency 3 cycles, one TLP a cycle. `left`: bytes of the request from this TLP on. A request that was refused or has
// no length gives one entry of 0 bytes.
//
// Parameters: PAGES.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module dma_split #(
    parameter PAGES = 4096
) (
    input  wire         clk,
    input  wire         rst,

    input  wire [12:0]  most,

    input  wire         page_write,
    input  wire [14:0]  page_number,
    input  wire [63:0]  page,

    input  wire         in_valid,
    output wire         in_ready,
    input  wire [63:0]  in_addr,
    input  wire [31:0]  in_len,
    input  wire [7:0]   in_id,
    input  wire [7:0]   in_code,
    input  wire         in_flush,
    input  wire         in_ro,
    input  wire         in_target,
    input  wire         in_physical,
    input  wire [1:0]   in_page_size,
    input  wire [14:0]  in_page,

    output wire         out_valid,
    input  wire         out_read,
    output wire [63:0]  out_addr,
    output wire [12:0]  out_bytes,
    output wire         out_last,
    output wire [31:0]  out_left,
    output wire [7:0]   out_id,
    output wire [7:0]   out_code,
    output wire         out_flush,
    output wire         out_ro,
    output wire         out_target
);

localparam PAGE_W = PAGES > 1 ? $clog2(PAGES) : 1;
localparam ENTRY_W = 64 + 13 + 1 + 32 + 8 + 8 + 3;

reg [51:0] page_mem [0:PAGES-1];

// Stage 1: what is left of the request
reg busy_reg;
reg [63:0] addr_reg;
reg [31:0] left_reg;
reg [14:0] page_reg;
reg [7:0] id_reg;
reg [7:0] code_reg;
reg flush_reg;
reg ro_reg;
reg target_reg;
reg physical_reg;
reg [1:0] size_reg;

// Stage 2: a TLP, and its page from the table
reg tlp_valid_reg;
reg [12:0] tlp_bytes_reg;
reg [63:0] tlp_addr_reg;
reg tlp_last_reg;
reg [31:0] tlp_left_reg;
reg [7:0] tlp_id_reg;
reg [7:0] tlp_code_reg;
reg tlp_flush_reg;
reg tlp_ro_reg;
reg tlp_target_reg;
reg tlp_physical_reg;
reg [1:0] tlp_size_reg;
reg [51:0] page_q;

wire [2:0] held;
wire room = held + {2'd0, tlp_valid_reg} < 3'd4;

wire [12:0] to_page = 13'd4096 - {1'b0, addr_reg[11:0]};
wire [12:0] to_most = most - {11'd0, addr_reg[1:0]};
wire [12:0] bound = to_page < to_most ? to_page : to_most;
wire nothing = code_reg != 8'd0 || left_reg == 32'd0;
wire whole = left_reg <= {19'd0, bound};
wire [12:0] bytes = nothing ? 13'd0 : whole ? left_reg[12:0] : bound;
wire last = nothing || whole;
wire steps = busy_reg && room;
wire [63:0] next_addr = addr_reg + {51'd0, bytes};

reg page_ends;
always @* begin
    case (size_reg)
        2'd0: page_ends = next_addr[11:0] == 12'd0;
        2'd1: page_ends = next_addr[13:0] == 14'd0;
        2'd2: page_ends = next_addr[15:0] == 16'd0;
        default: page_ends = next_addr[20:0] == 21'd0;
    endcase
end

reg [63:0] bus_addr;
always @* begin
    if (tlp_physical_reg) begin
        bus_addr = tlp_addr_reg;
    end else begin
        case (tlp_size_reg)
            2'd0: bus_addr = {page_q, tlp_addr_reg[11:0]};
            2'd1: bus_addr = {page_q[51:2], tlp_addr_reg[13:0]};
            2'd2: bus_addr = {page_q[51:4], tlp_addr_reg[15:0]};
            default: bus_addr = {page_q[51:9], tlp_addr_reg[20:0]};
        endcase
    end
end

assign in_ready = !busy_reg || (steps && last);

wire unused_bits = &{1'b0, page[11:0], page_number};

word_queue #(
    .WIDTH(ENTRY_W),
    .DEPTH(4)
) queue_inst (
    .clk(clk),
    .rst(rst),
    .write(tlp_valid_reg),
    .write_data({
        bus_addr, tlp_bytes_reg, tlp_last_reg, tlp_left_reg, tlp_id_reg, tlp_code_reg, tlp_flush_reg,
        tlp_ro_reg, tlp_target_reg
    }),
    .valid(out_valid),
    .read_data({
        out_addr, out_bytes, out_last, out_left, out_id, out_code, out_flush, out_ro, out_target
    }),
    .read(out_read),
    .held(held)
);

always @(posedge clk) begin
    if (page_write) begin
        page_mem[page_number[PAGE_W-1:0]] <= page[63:12];
    end
    if (steps) begin
        page_q <= page_mem[page_reg[PAGE_W-1:0]];
    end
end

always @(posedge clk) begin
    tlp_valid_reg <= steps;
    if (steps) begin
        tlp_bytes_reg <= bytes;
        tlp_addr_reg <= addr_reg;
        tlp_last_reg <= last;
        tlp_left_reg <= left_reg;
        tlp_id_reg <= id_reg;
        tlp_code_reg <= code_reg;
        tlp_flush_reg <= flush_reg;
        tlp_ro_reg <= ro_reg;
        tlp_target_reg <= target_reg;
        tlp_physical_reg <= physical_reg;
        tlp_size_reg <= size_reg;
        addr_reg <= next_addr;
        left_reg <= left_reg - {19'd0, bytes};
        page_reg <= page_reg + {14'd0, page_ends};
        busy_reg <= !last;
    end
    if (in_valid && in_ready) begin
        busy_reg <= 1'b1;
        addr_reg <= in_addr;
        left_reg <= in_len;
        page_reg <= in_page;
        id_reg <= in_id;
        code_reg <= in_code;
        flush_reg <= in_flush;
        ro_reg <= in_ro;
        target_reg <= in_target;
        physical_reg <= in_physical;
        size_reg <= in_page_size;
    end

    if (rst) begin
        busy_reg <= 1'b0;
        tlp_valid_reg <= 1'b0;
    end
end

endmodule

`resetall
