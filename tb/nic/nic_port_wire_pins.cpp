// nic_port with MAC_EN as a device of the harness: as nic_port_pins.hpp, but the wire is XGMII. Clock 1 is rx_clk, clock 2 tx_clk.

#include "nic_port_pins.hpp"

namespace nicloop {

std::unique_ptr<Model> make_model(int seed) {
    auto model = make_port(seed);
    Vtop& top = model->top();
    Pins& pins = model->pins;
    pins.clocks.push_back({&top.rx_clk, &top.rx_rst, 2'560'000, 700'000});
    pins.clocks.push_back({&top.tx_clk, &top.tx_rst, 2'560'000, 1'900'000});
    pins.xgmii_in = {{&top.xgmii_rx_d, &top.xgmii_rx_c, 1}};
    pins.xgmii_out = {{&top.xgmii_tx_d, &top.xgmii_tx_c, 2, &top.wire_tx_valid, &top.wire_tx_seq, &top.wire_tx_direction}};
    pins.sources.erase(pins.sources.begin());
    pins.sinks.erase(pins.sinks.begin());
    top.s_axis_wire_tvalid = 0;
    top.m_axis_wire_tready = 0;
    return model;
}

}  // namespace nicloop
