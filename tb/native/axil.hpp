// The register port of a device, served a cycle at a time.
#pragma once

#include <cstdint>

#include "pins.hpp"

namespace nicloop {

// AXI4-Lite master, an access at a time, with the manners (and so the cycles) of tb/targets/axil.py.
class Axil {
public:
    enum State : int32_t { IDLE = 0, BUSY = 1, OKAY = 2, ERROR = 3, STUCK = 4 };

    void connect(const AxilPins* pins);
    void begin(bool write, uint32_t address, uint32_t data);
    // Just before a rising edge: looks at what stands.
    void step();
    // After the edge.
    void put() {
        if (changed_) put_all();
    }
    bool busy() const { return state_ == BUSY; }
    State state() const { return state_; }
    uint32_t data() const { return data_; }
    template <typename Archive>
    void archive(Archive& members) {
        members(state_, write_, answering_, changed_, aw_, w_, b_, ar_, r_, address_, write_data_, data_, waited_);
    }

private:
    // The longest command, `clear` of the ACL, takes a cycle for each of its rules.
    static constexpr int64_t PATIENCE = 4000;

    bool shake();
    void put_all();
    void end(State state);

    const AxilPins* pins_ = nullptr;
    State state_ = IDLE;
    bool write_ = false, answering_ = false, changed_ = false;
    bool aw_ = false, w_ = false, b_ = false, ar_ = false, r_ = false;  // valids and readies that the master shows
    uint32_t address_ = 0, write_data_ = 0, data_ = 0;
    int64_t waited_ = 0;
};

}  // namespace nicloop
