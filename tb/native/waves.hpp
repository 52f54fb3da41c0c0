// Waves of a device: of everything from one moment to another, or of a window of frames.
#pragma once

#include <cstdint>
#include <string>

#include "harness.hpp"
#include "pins.hpp"

namespace nicloop {

// Which cycles have waves.
class Waves {
public:
    // From the cycle that comes until close().
    bool open(Model& model, const std::string& path);
    // From where frame `first` of a path is offered until frame `last` has ended and left the device. The file is there at
    // once.
    bool arm(Model& model, const std::string& path, Path& frames, int64_t first, int64_t last);
    void close(Model& model);
    // The harness goes: from now on until close().
    void unwatch() {
        if (state_ != OFF) state_ = RUNNING;
    }

    bool on() const { return state_ >= RUNNING; }
    // After each cycle.
    void step(Model& model) {
        if (state_ != OFF) follow(model);
    }

private:
    enum State { OFF, ARMED, RUNNING, FRAMES, TAIL };
    static constexpr int64_t TAIL_CYCLES = 32;  // until a frame that was reported has left the last register

    void follow(Model& model);

    State state_ = OFF;
    Path* frames_ = nullptr;
    int64_t first_ = 0, left_ = 0;
};

}  // namespace nicloop
