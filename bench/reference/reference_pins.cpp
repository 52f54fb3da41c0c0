// The reference design as a device of the harness: source 0 is s_axis, sink 0 m_axis.

#include "Vtop.h"
#include "verilated_model.hpp"

namespace nicloop {

std::unique_ptr<Model> make_model(int seed) {
    auto model = std::make_unique<VerilatedModel<Vtop>>(seed);
    Vtop& top = model->top();
    Pins& pins = model->pins;
    pins.clocks = {{&top.clk, &top.rst, 4'000'000}};
    pins.sources = {NICLOOP_STREAM(top, s_axis, nullptr)};
    pins.sinks = {NICLOOP_STREAM(top, m_axis, nullptr)};
    return model;
}

}  // namespace nicloop
