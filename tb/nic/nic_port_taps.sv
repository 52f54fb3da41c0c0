// Taps of nic_port: what its streams show, gathered in vectors that C++ reads (tb/native/taps.hpp). For Verilator.
//
// Bit k of a vector is stream k. rx: 0 the wire, then what comes out of mac_rx and each slot behind it, 14 the host.
// tx: 15 the host, then what comes out of join and each slot behind it, 26 the wire. tb/nic/slots.py names the slots.
// Behind the joins a stream also has frames of the other direction, and copies: a lane shows its own frames there.
// How many there are and which leave the
// port, C++ and Python read from here. `seq` has 16 bits a stream; in front of ingress no frame has a number yet. Adds no register and no latency.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

// Stream 26 first.
`define EACH_STREAM(SIGNAL) { \
    m_axis_wire``SIGNAL, egress_tx``SIGNAL, tx_demux``SIGNAL, tx_sched``SIGNAL, sched_join``SIGNAL, ipsec_tx``SIGNAL, tls_tx``SIGNAL, acl_tx``SIGNAL, \
    parser_tx``SIGNAL, ingress_tx``SIGNAL, join``SIGNAL, s_axis_host``SIGNAL, \
    m_axis_host``SIGNAL, host_join``SIGNAL, roce``SIGNAL, tls_rx``SIGNAL, rx_demux``SIGNAL, rx_buffer``SIGNAL, acl_rx``SIGNAL, roce_icrc``SIGNAL, \
    parser_inner``SIGNAL, ipsec_rx``SIGNAL, pfc_rx``SIGNAL, parser_rx``SIGNAL, ingress_rx``SIGNAL, mac_rx``SIGNAL, \
    s_axis_wire``SIGNAL}

module nic_port_taps #(
    parameter STREAMS = 27,   // 32 at most
    parameter HOST_EXIT = 14  // stream that leaves at the host; at the wire leaves the last one
) (
    input wire [STREAMS-1:0]    valid,
    input wire [STREAMS-1:0]    ready,
    input wire [STREAMS-1:0]    last,
    input wire [16*STREAMS-1:0] seq
);

wire [31:0] tap_streams /*verilator public_flat_rd*/ = STREAMS;
wire [31:0] tap_exits /*verilator public_flat_rd*/ = 1 << HOST_EXIT | 1 << (STREAMS - 1);
wire [STREAMS-1:0] tap_valid /*verilator public_flat_rd*/ = valid;
wire [STREAMS-1:0] tap_ready /*verilator public_flat_rd*/ = ready;
wire [STREAMS-1:0] tap_last /*verilator public_flat_rd*/ = last;
wire [16*STREAMS-1:0] tap_seq /*verilator public_flat_rd*/ = seq;

endmodule

bind nic_port nic_port_taps taps (
    .valid(`EACH_STREAM(_tvalid) & {
        mac_tx_meta[`MF_DIRECTION], egress_tx_meta[`MF_DIRECTION], tx_demux_meta[`MF_DIRECTION],
        tx_sched_meta[`MF_DIRECTION], sched_join_meta[`MF_DIRECTION], 7'h7f,
        !m_axis_host_meta[`MF_DIRECTION] && !m_axis_host_meta[`MF_ACL_COPY],
        !host_join_meta[`MF_DIRECTION] && !host_join_meta[`MF_ACL_COPY], 13'h1fff
    }),
    .ready(`EACH_STREAM(_tready)),
    .last(`EACH_STREAM(_tlast)),
    .seq({
        mac_tx_meta[`MF_SEQ], egress_tx_meta[`MF_SEQ], tx_demux_meta[`MF_SEQ], tx_sched_meta[`MF_SEQ],
        sched_join_meta[`MF_SEQ], ipsec_tx_meta[`MF_SEQ],
        tls_tx_meta[`MF_SEQ], acl_tx_meta[`MF_SEQ], parser_tx_meta[`MF_SEQ], ingress_tx_meta[`MF_SEQ],
        16'd0, 16'd0,
        m_axis_host_meta[`MF_SEQ], host_join_meta[`MF_SEQ], roce_meta[`MF_SEQ], tls_rx_meta[`MF_SEQ],
        rx_demux_meta[`MF_SEQ], rx_buffer_meta[`MF_SEQ],
        acl_rx_meta[`MF_SEQ], roce_icrc_meta[`MF_SEQ], parser_inner_meta[`MF_SEQ], ipsec_rx_meta[`MF_SEQ],
        pfc_rx_meta[`MF_SEQ], parser_rx_meta[`MF_SEQ], ingress_rx_meta[`MF_SEQ],
        16'd0, 16'd0
    })
);

`undef EACH_STREAM

`resetall
