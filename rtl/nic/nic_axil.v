// AXI4-Lite slave to register port.
//
// One request at a time. The address and the data of a write are taken as they come, in either order. Reads and writes
// take turns while both go on; of two that come at once the write is first. While an answer waits for `rready` or
// `bready`, requests of the other kind go on, and one more of its own kind is taken in. Low address bits 1:0 are ignored.
// A request that ends with `reg_error` is answered DECERR, and a read of that kind gives 0.
//
// Latency: `reg_req` rises 2 cycles after the last handshake of a request, the answer 1 cycle after `reg_ack`.
// Throughput: one read or one write every 3 cycles where `reg_ack` comes in the cycle of `reg_req`.
// AMBA AXI and ACE protocol specification, chapter B1 (AXI4-Lite); A3.2.1 and A3.3 for the handshakes.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_axil #(
    parameter ADDR_W = 20
) (
    input  wire              clk,
    input  wire              rst,

    // AXI4-Lite
    input  wire [ADDR_W-1:0] s_axil_awaddr,
    input  wire [2:0]        s_axil_awprot,
    input  wire              s_axil_awvalid,
    output wire              s_axil_awready,
    input  wire [31:0]       s_axil_wdata,
    input  wire [3:0]        s_axil_wstrb,
    input  wire              s_axil_wvalid,
    output wire              s_axil_wready,
    output wire [1:0]        s_axil_bresp,
    output wire              s_axil_bvalid,
    input  wire              s_axil_bready,
    input  wire [ADDR_W-1:0] s_axil_araddr,
    input  wire [2:0]        s_axil_arprot,
    input  wire              s_axil_arvalid,
    output wire              s_axil_arready,
    output wire [31:0]       s_axil_rdata,
    output wire [1:0]        s_axil_rresp,
    output wire              s_axil_rvalid,
    input  wire              s_axil_rready,

    // Register port
    output wire              reg_req,
    output wire              reg_write,
    output wire [ADDR_W-1:0] reg_addr,
    output wire [31:0]       reg_wdata,
    output wire [3:0]        reg_wstrb,
    input  wire              reg_ack,
    input  wire              reg_error,
    input  wire [31:0]       reg_rdata,

    output wire              idle
);

localparam [1:0] RESP_OKAY = 2'b00;
localparam [1:0] RESP_DECERR = 2'b11;

// What is taken in of the next write and of the next read. The readies are low in reset and in the first
// cycle after it.
reg awready_reg;
reg aw_held_reg;
reg [ADDR_W-1:0] awaddr_reg;

reg wready_reg;
reg w_held_reg;
reg [31:0] wdata_reg;
reg [3:0] wstrb_reg;

reg arready_reg;
reg ar_held_reg;
reg [ADDR_W-1:0] araddr_reg;

// The request that is on the register port.
reg req_reg;
reg write_reg;

// Answers.
reg bvalid_reg;
reg [1:0] bresp_reg;
reg rvalid_reg;
reg [1:0] rresp_reg;
reg [31:0] rdata_reg;

// A request may start when its answer has somewhere to go. After one has ended, the next of its kind waits a cycle later
// than one of the other kind may start: so none waits for two of the other kind.
wire write_waits = aw_held_reg && w_held_reg && !bvalid_reg;
wire read_waits = ar_held_reg && !rvalid_reg;
wire start_write = !req_reg && write_waits;
wire start_read = !req_reg && read_waits && !start_write;

wire end_write = req_reg && write_reg && reg_ack;
wire end_read = req_reg && !write_reg && reg_ack;

wire aw_held_next = (aw_held_reg && !end_write) || (s_axil_awvalid && awready_reg);
wire w_held_next = (w_held_reg && !end_write) || (s_axil_wvalid && wready_reg);
wire ar_held_next = (ar_held_reg && !end_read) || (s_axil_arvalid && arready_reg);

assign s_axil_awready = awready_reg && !rst;
assign s_axil_wready = wready_reg && !rst;
assign s_axil_bresp = bresp_reg;
assign s_axil_bvalid = bvalid_reg && !rst;
assign s_axil_arready = arready_reg && !rst;
assign s_axil_rdata = rdata_reg;
assign s_axil_rresp = rresp_reg;
assign s_axil_rvalid = rvalid_reg && !rst;

assign reg_req = req_reg;
assign reg_write = write_reg;
assign reg_addr = {write_reg ? awaddr_reg[ADDR_W-1:2] : araddr_reg[ADDR_W-1:2], 2'b00};
assign reg_wdata = wdata_reg;
assign reg_wstrb = wstrb_reg;

assign idle = !aw_held_reg && !w_held_reg && !ar_held_reg && !bvalid_reg && !rvalid_reg;

wire unused_prot = &{1'b0, s_axil_awprot, s_axil_arprot, awaddr_reg[1:0], araddr_reg[1:0]};

always @(posedge clk) begin
    aw_held_reg <= aw_held_next;
    awready_reg <= !aw_held_next;
    if (s_axil_awvalid && awready_reg) begin
        awaddr_reg <= s_axil_awaddr;
    end

    w_held_reg <= w_held_next;
    wready_reg <= !w_held_next;
    if (s_axil_wvalid && wready_reg) begin
        wdata_reg <= s_axil_wdata;
        wstrb_reg <= s_axil_wstrb;
    end

    ar_held_reg <= ar_held_next;
    arready_reg <= !ar_held_next;
    if (s_axil_arvalid && arready_reg) begin
        araddr_reg <= s_axil_araddr;
    end

    if (start_write || start_read) begin
        req_reg <= 1'b1;
        write_reg <= start_write;
    end else if (reg_ack) begin
        req_reg <= 1'b0;
    end

    if (end_write) begin
        bvalid_reg <= 1'b1;
        bresp_reg <= reg_error ? RESP_DECERR : RESP_OKAY;
    end else if (s_axil_bready) begin
        bvalid_reg <= 1'b0;
    end

    if (end_read) begin
        rvalid_reg <= 1'b1;
        rresp_reg <= reg_error ? RESP_DECERR : RESP_OKAY;
        rdata_reg <= reg_error ? 32'd0 : reg_rdata;
    end else if (s_axil_rready) begin
        rvalid_reg <= 1'b0;
    end

    if (rst) begin
        awready_reg <= 1'b0;
        aw_held_reg <= 1'b0;
        wready_reg <= 1'b0;
        w_held_reg <= 1'b0;
        arready_reg <= 1'b0;
        ar_held_reg <= 1'b0;
        req_reg <= 1'b0;
        write_reg <= 1'b0;
        bvalid_reg <= 1'b0;
        rvalid_reg <= 1'b0;
    end
end

endmodule

`resetall
