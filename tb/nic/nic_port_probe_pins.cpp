// The probe's device: nic_port with its taps (nic_port_taps.sv).

#include "Vtop___024root.h"
#include "nic_port_pins.hpp"

namespace nicloop {

std::unique_ptr<Model> make_model(int seed) {
    auto model = make_port(seed);
    const Vtop___024root& root = *model->top().rootp;
    model->pins.taps = {{&root.nic_port__DOT__taps__DOT__tap_streams, &root.nic_port__DOT__taps__DOT__tap_exits,
                         &root.nic_port__DOT__taps__DOT__tap_valid, &root.nic_port__DOT__taps__DOT__tap_ready,
                         &root.nic_port__DOT__taps__DOT__tap_last, root.nic_port__DOT__taps__DOT__tap_seq.data()}};
    return model;
}

}  // namespace nicloop
