// Decoder of the register port: address bits 18:14 choose one of N instances, each of 16 KiB.
//
// An address where no instance stands is answered with `s_reg_error` in the cycle of its request. Latency 0: the paths go
// from registers of nic_axil to registers of the instances and back. The instances take reg_write, reg_addr[13:0],
// reg_wdata and reg_wstrb from nic_axil themselves.
//
// Parameters: N, the instances; AT, where each stands: instance i, which is slice i of the packed signals, answers where
// addr[18:14] is slice i of AT and addr[19] is 0.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_reg_mux #(
    parameter N = 1,
    parameter [N*5-1:0] AT = 5'd0
) (
    // From nic_axil
    input  wire            s_reg_req,
    input  wire [19:0]     s_reg_addr,
    output reg             s_reg_ack,
    output reg             s_reg_error,
    output reg  [31:0]     s_reg_rdata,

    // To the instances
    output reg  [N-1:0]    m_reg_req,
    input  wire [N-1:0]    m_reg_ack,
    input  wire [N-1:0]    m_reg_error,
    input  wire [N*32-1:0] m_reg_rdata
);

integer i;

always @* begin
    i = 0; // in every path, or it is a latch to a synthesizer
    s_reg_ack = s_reg_req;
    s_reg_error = 1'b1;
    s_reg_rdata = 32'd0;
    m_reg_req = {N{1'b0}};
    if (s_reg_req && !s_reg_addr[19]) begin
        for (i = 0; i < N; i = i + 1) begin
            if (s_reg_addr[18:14] == AT[i*5 +: 5]) begin
                s_reg_ack = m_reg_ack[i];
                s_reg_error = m_reg_error[i];
                s_reg_rdata = m_reg_rdata[i*32 +: 32];
                m_reg_req[i] = 1'b1;
            end
        end
    end
end

wire unused_addr = &{1'b0, s_reg_addr[13:0]};

endmodule

`resetall
