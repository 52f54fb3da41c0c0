// axis_async_fifo as a device of the harness: clock 0, the wire's (390.625 MHz), reads; clock 1, the core's (250 MHz), writes.

#include "Vtop.h"
#include "verilated_model.hpp"

namespace nicloop {

std::unique_ptr<Model> make_model(int seed) {
    auto model = std::make_unique<VerilatedModel<Vtop>>(seed);
    Vtop& top = model->top();
    Pins& pins = model->pins;
    pins.clocks = {{&top.m_clk, &top.m_rst, 2'560'000}, {&top.s_clk, &top.s_rst, 4'000'000}};
    pins.sources = {NICLOOP_STREAM(top, s_axis, nullptr)};
    pins.sources[0].clock = 1;
    pins.sinks = {NICLOOP_STREAM(top, m_axis, nullptr)};
    top.s_axis_meta = 0;
    return model;
}

}  // namespace nicloop
