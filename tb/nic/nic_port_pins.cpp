// The native target's device: nic_port as it is.

#include "nic_port_pins.hpp"

namespace nicloop {

std::unique_ptr<Model> make_model(int seed) { return make_port(seed); }

}  // namespace nicloop
