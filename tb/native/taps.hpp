// Taps of a device: the cycles at which each frame passed each of its streams, and who held it back there.
//
// A passage is one frame at one stream: when its first beat was shown, when it was taken, when its last beat was taken.
// A beat that is shown and not taken is stalled. Whose fault that is: of the slot behind the stream, unless what comes out
// of that slot is stalled too, or was until the cycle before (a register says one cycle late that there is room); then the
// fault is that of the stall further on. So each stalled cycle has a culprit: the slot behind one of the streams.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace nicloop {

constexpr int TAP_STREAMS_MAX = 32;

// The streams of a device: a bit each, in the order of the pipelines, one behind the other.
struct TapPins {
    const uint32_t* streams;  // how many; does not change, nor does `exits`
    const uint32_t* exits;    // those that leave the device: nothing comes behind them
    const uint32_t* valid;
    const uint32_t* ready;
    const uint32_t* last;
    const uint32_t* seq;      // 16 bits each; counts with a frame's first beat
};

// What was noted. Cycles as the harness counts them, -1: not yet.
struct TapLog {
    // By passage, in the order in which they ended; those that have not ended come last.
    std::vector<int32_t> stream, seq;
    std::vector<int64_t> offered, first, last;
    // Stalls of a passage by culprit: the stream in front of it; cycles before the first beat was taken, and in all.
    std::vector<int64_t> stalled;  // index of the passage
    std::vector<int32_t> culprit, before, all;
};

class Taps {
public:
    void connect(const TapPins* pins) { pins_ = pins; }
    bool connected() const { return pins_ != nullptr; }
    // Forgets everything and notes what comes, up to `most` passages.
    void begin(int64_t most);
    // Frames under way are noted as they stand; nothing more is.
    void end();
    const TapLog& log() const { return log_; }
    bool on() const { return most_ > 0; }
    // What stands before a rising edge.
    void step(int64_t cycle);

private:
    struct Frame {
        int64_t offered, first;
        int32_t seq;
        uint32_t culprits;
        std::array<int32_t, TAP_STREAMS_MAX> before, all;
    };

    void show(uint32_t streams, int64_t cycle);
    void blame(uint32_t stalled);
    void note(int stream, int64_t last);

    const TapPins* pins_ = nullptr;
    int64_t most_ = 0;
    uint32_t open_ = 0;     // a frame is under way
    uint32_t waiting_ = 0;  // its first beat has not been taken
    uint32_t stalled_ = 0;  // in the cycle before
    std::array<uint8_t, TAP_STREAMS_MAX> culprit_{};  // of each stream's last stalled cycle
    std::array<Frame, TAP_STREAMS_MAX> frame_{};
    TapLog log_;
};

}  // namespace nicloop
