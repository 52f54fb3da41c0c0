// wire_loop.v as a device of the harness: clock 0 is the core's, clock 1 (390.625 MHz) that of XGMII, which is its only
// source and sink.

#include "Vtop.h"
#include "verilated_model.hpp"

namespace nicloop {

std::unique_ptr<Model> make_model(int seed) {
    auto model = std::make_unique<VerilatedModel<Vtop>>(seed);
    Vtop& top = model->top();
    Pins& pins = model->pins;
    pins.clocks = {{&top.clk, &top.rst, 4'000'000}, {&top.mac_clk, &top.mac_rst, 2'560'000, 700'000}};
    pins.xgmii_in = {{&top.xgmii_rx_d, &top.xgmii_rx_c, 1}};
    pins.xgmii_out = {{&top.xgmii_tx_d, &top.xgmii_tx_c, 1}};
    pins.time = {NICLOOP_TIME(top)};
    top.time_advance = 0;
    return model;
}

}  // namespace nicloop
