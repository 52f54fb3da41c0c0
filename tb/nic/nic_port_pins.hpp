// nic_port as a device of the harness: source and sink 0 are the wire, 1 the host; path 0 is rx, 1 is tx.
#pragma once

#include "Vtop.h"
#include "verilated_model.hpp"

namespace nicloop {

inline std::unique_ptr<VerilatedModel<Vtop>> make_port(int seed) {
    auto model = std::make_unique<VerilatedModel<Vtop>>(seed);
    Vtop& top = model->top();
    Pins& pins = model->pins;
    pins.clocks = {{&top.clk, &top.rst, 4'000'000}};
    pins.ready = &top.ready;
    pins.meta_words = sizeof(top.m_axis_host_meta) / 4;
    pins.sources = {NICLOOP_STREAM(top, s_axis_wire, nullptr), NICLOOP_STREAM(top, s_axis_host, top.s_axis_host_meta.data())};
    pins.sinks = {NICLOOP_STREAM(top, m_axis_wire, nullptr), NICLOOP_STREAM(top, m_axis_host, top.m_axis_host_meta.data())};
    pins.sinks.front().seq = &top.m_axis_wire_seq;
    pins.sinks.front().direction = &top.m_axis_wire_direction;
    pins.paths = {NICLOOP_PATH(top, rx), NICLOOP_PATH(top, tx)};
    pins.axil = {NICLOOP_AXIL(top, s_axil)};
    pins.time = {NICLOOP_TIME(top)};
    top.s_axil_awprot = top.s_axil_arprot = 0;
    top.time_advance = 0;
    // Nobody serves the memory port.
    top.mem_req_ready = top.m_axis_mem_tready = top.s_axis_mem_tvalid = top.mem_done_valid = 0;
    return model;
}

}  // namespace nicloop
