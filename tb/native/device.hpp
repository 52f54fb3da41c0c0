// A device that the harness drives without a simulator: a verilated model, its pins, and the loop that turns its clock.
//
// One cycle, as under the frame BFM: the streams are sampled as they stand, the clock rises, what the harness answers is
// put, the clock falls. Between two calls the device stands just before the rising edge `harness.cycle()`; what is asked
// for then (a reset, a register access) is on the pins after that edge, like a write of a cocotb test that was woken by it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "archive.hpp"
#include "axil.hpp"
#include "harness.hpp"
#include "pins.hpp"
#include "ports.hpp"
#include "taps.hpp"
#include "waves.hpp"

namespace nicloop {

class Device {
public:
    // Why run() came back before its cycles were over.
    enum Event : uint32_t { DONE = 1, ACCESS = 2, READY = 4 };
    using Time = unsigned __int128;  // ns with 32 bits of fraction

    explicit Device(int seed);

    const Pins& pins() const { return model_->pins; }

    // `harness` has the streams from now on; null: none. An empty text, or why it doesn't fit.
    std::string bind(Harness* harness);

    // Runs `cycles` cycles, or until one of the events in `until` holds; returns those that do. An access that has ended
    // ends it too.
    uint32_t run(int64_t cycles, int64_t steps, uint32_t until);

    void set_reset(bool level) { next_rst_ = level; }
    // The period of one of several clocks from its next edge on.
    void set_period(int clock, int64_t fs) { clocks_[clock].pins.period_fs = fs; }
    bool ready() const { return pins().ready == nullptr || *pins().ready != 0; }
    bool idle() const { return pins().time.empty() || *pins().time.front().idle != 0; }
    // Its time in the cycle that ends with the next edge: ns, and a fraction of 32 bits. A device without has 0.
    Time now() const;
    Axil& axil() { return axil_; }
    // Rising edges since the device was made.
    int64_t cycles() const { return cycles_; }
    // Whether time is advanced over cycles in which nothing can happen; all else is as if they had passed.
    void set_skip(bool on) {
        skip_ = on;
        slept_ = false;
        asleep_ = 0;
    }
    int64_t skipped() const { return skipped_; }

    // The state of device and harness. An empty text, or why it can't be saved now.
    std::string save(std::string& out);
    // Back to a state of the same build; whatever is under way is forgotten.
    std::string restore(const char* data, size_t size);

    Model& model() { return *model_; }
    Harness* harness() { return harness_; }
    int clocks() const { return static_cast<int>(clocks_.size()); }
    // Rising edges of a clock since the device was made, and the number of its next one counted from its release of reset.
    int64_t edges(int clock) const { return clocks() == 1 ? cycles_ : clocks_[clock].edges; }
    int64_t cycle_of(int clock) const { return clocks() == 1 ? harness_->cycle() : clocks_[clock].cycle; }
    Waves& waves() { return waves_; }
    Taps& taps() { return taps_; }

private:
    struct Clock {
        ClockPins pins;
        int64_t next_fs = 0;  // time of its next edge, rising or falling
        int64_t edges = 0, cycle = 0;
        bool was_reset = false, in_reset = false, edge = false;
    };
    struct PathPort {
        PathPins pins;
        Path* path;
    };

    template <typename Archive>
    void archive(Archive& members) {
        axil_.archive(members);
        harness_->archive(members);
        members(next_rst_, was_reset_, cycles_, skipped_);
        members(skipped_ps_);
        for (Clock& clock : clocks_) {
            members(clock.pins.period_fs, clock.next_fs, clock.edges, clock.cycle, clock.was_reset);
        }
        for (XgmiiInPort& port : wires_in_) members(port.encoder);
        for (XgmiiOutPort& port : wires_out_) members(port.decoder);
    }
    // idle.cpp
    bool sleeps() const;
    int64_t skippable(int64_t most, Time step) const;
    void skip(int64_t most);
    // clocks.cpp
    bool several() const { return clocks_.size() > 1; }
    void skip_clocks(int64_t cycles);
    void take_edge(size_t clock);
    void answer_edge(size_t clock);
    void edge_of_several();
    void cycle_of_several();
    // A cycle of the first clock
    void pass();
    // One clock
    void cycle();
    void dump(int64_t half) const;
    void sample(int64_t cycle);
    void sample_reset();
    void sample_reports(int64_t cycle);
    void show();
    uint32_t events(uint32_t until) const;

    std::unique_ptr<Model> model_;
    Harness* harness_ = nullptr;
    std::vector<XgmiiInPort> wires_in_;
    std::vector<XgmiiOutPort> wires_out_;
    std::vector<SourcePort> sources_;
    std::vector<SinkPort> sinks_;
    std::vector<PathPort> paths_;
    Axil axil_;
    std::vector<Clock> clocks_;
    Waves waves_;
    Taps taps_;
    size_t meta_bytes_ = 0;
    bool skip_ = true;
    bool slept_ = false;     // it slept in the cycle before, which began at slept_at_
    Time slept_at_ = 0;
    int64_t asleep_ = 0;     // cycles on end, up to then
    int64_t skipped_ = 0;    // cycles
    int64_t skipped_ps_ = 0; // of the time of several clocks
    bool next_rst_ = true, was_reset_ = false;
    int64_t cycles_ = 0;
};

}  // namespace nicloop
