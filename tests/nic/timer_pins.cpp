// timer.v as a device of the harness: sink 0 is m_axis.

#include "Vtop.h"
#include "verilated_model.hpp"

namespace nicloop {

std::unique_ptr<Model> make_model(int seed) {
    auto model = std::make_unique<VerilatedModel<Vtop>>(seed);
    Vtop& top = model->top();
    Pins& pins = model->pins;
    pins.clocks = {{&top.clk, &top.rst, 4'000'000}};
    pins.ready = &top.ready;
    pins.sinks = {NICLOOP_STREAM(top, m_axis, nullptr)};
    pins.time = {NICLOOP_TIME(top)};
    top.time_advance = 0;
    return model;
}

}  // namespace nicloop
