// Reads of a mac_stats in another clock, behind the register port of an instance.
//
// `req` with `index` and `word` holds until `ack`. The request goes over (sync_bus), the memory is read, the answer comes
// back: about 6 cycles of each clock. Where no answer has come 512 cycles after the request, `ack` comes with `error`: the
// other clock stands still, or its reset lasts or came in between. Every request has a number, so an answer that comes later
// than that is known and dropped; a request that couldn't leave in time is none.
//
// Parameters: INDEX_W.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_read_cross #(
    parameter INDEX_W = 5
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               req,
    input  wire [INDEX_W-1:0] index,
    input  wire               word,
    output wire               ack,
    output wire               error,
    output wire [31:0]        rdata,

    input  wire               m_clk,
    input  wire               m_rst,
    output wire               m_req,
    output wire [INDEX_W-1:0] m_index,
    output wire               m_word,
    input  wire               m_ack,
    input  wire [31:0]        m_rdata
);

// clk: one request, one answer or none

reg [9:0]  wait_reg;            // cycles of this request, up to 512
reg        sent_reg;
reg [1:0]  number_reg;          // of the request that was sent last
reg        ack_reg;
reg        error_reg;
reg [31:0] rdata_reg;

wire send_ready;
wire answer_valid;
wire [1:0] answer_number;
wire [31:0] answer_rdata;

wire waiting = req && !ack_reg;
wire send = waiting && !sent_reg && send_ready;
wire answered = waiting && sent_reg && answer_valid && answer_number == number_reg;
wire late = waiting && wait_reg[9];

assign ack = ack_reg;
assign error = error_reg;
assign rdata = rdata_reg;

always @(posedge clk) begin
    ack_reg <= answered || late;
    error_reg <= !answered;
    if (waiting) begin
        rdata_reg <= answered ? answer_rdata : 32'd0;
        wait_reg <= wait_reg + 10'd1;
    end
    if (send) begin
        sent_reg <= 1'b1;
        number_reg <= number_reg + 2'd1;
    end
    if (!req || answered || late) begin
        sent_reg <= 1'b0;
        wait_reg <= 10'd0;
    end

    if (rst) begin
        ack_reg <= 1'b0;
        sent_reg <= 1'b0;
        wait_reg <= 10'd0;
        number_reg <= 2'd0;
    end
end

// m_clk: a request waits until the one before has been answered

wire come_valid;
wire [INDEX_W+2:0] come;

reg               wanted_reg;
reg               m_req_reg;
reg [INDEX_W+2:0] request_reg;
reg               back_reg;
reg [31:0]        back_rdata_reg;

wire back_ready;
wire begins = wanted_reg && !m_req_reg && !back_reg;

assign m_req = m_req_reg;
assign m_index = request_reg[INDEX_W:1];
assign m_word = request_reg[0];

always @(posedge m_clk) begin
    if (begins) begin
        request_reg <= come;
    end
    wanted_reg <= come_valid || (wanted_reg && !begins);
    m_req_reg <= begins || (m_req_reg && !m_ack);
    back_reg <= (m_req_reg && m_ack) || (back_reg && !back_ready);
    if (m_req_reg && m_ack) begin
        back_rdata_reg <= m_rdata;
    end

    if (m_rst) begin
        wanted_reg <= 1'b0;
        m_req_reg <= 1'b0;
        back_reg <= 1'b0;
    end
end

sync_bus #(
    .WIDTH(INDEX_W + 3)
) request_inst (
    .s_clk(clk), .s_rst(rst), .s_data({number_reg + 2'd1, index, word}), .s_valid(waiting && !sent_reg),
    .s_ready(send_ready),
    .m_clk(m_clk), .m_rst(m_rst), .m_data(come), .m_valid(come_valid)
);

sync_bus #(
    .WIDTH(34)
) answer_inst (
    .s_clk(m_clk), .s_rst(m_rst), .s_data({request_reg[INDEX_W+2:INDEX_W+1], back_rdata_reg}), .s_valid(back_reg),
    .s_ready(back_ready),
    .m_clk(clk), .m_rst(rst), .m_data({answer_number, answer_rdata}), .m_valid(answer_valid)
);

endmodule

`resetall
