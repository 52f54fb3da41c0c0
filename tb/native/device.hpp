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
#include "harness.hpp"
#include "taps.hpp"

namespace nicloop {

// A stream into the device. meta: null where there is none; else it has Pins::meta_words words.
struct SourcePins {
    uint32_t* data;
    uint16_t* keep;
    uint8_t* valid;
    const uint8_t* ready;
    uint8_t* last;
    uint16_t* user;
    uint32_t* meta;
    int clock = 0;
};

struct SinkPins {
    const uint32_t* data;
    const uint16_t* keep;
    const uint8_t* valid;
    uint8_t* ready;
    const uint8_t* last;
    const uint16_t* user;
    const uint32_t* meta;
    int clock = 0;
};

// A clock with the reset in step with it. Its first rising edge is at `offset_fs`.
struct ClockPins {
    uint8_t* clk;
    uint8_t* rst;
    int64_t period_fs;
    int64_t offset_fs = 0;
};

// What a device reports of the frames of a monitored path.
struct PathPins {
    const uint8_t* entry_valid;
    const uint16_t* entry_seq;
    const uint8_t* disp_valid;
    const uint16_t* disp_seq;
    const uint8_t* disp_code;
    const uint8_t* disp_queue;
};

struct AxilPins {
    uint32_t* awaddr;
    uint8_t* awvalid;
    const uint8_t* awready;
    uint32_t* wdata;
    uint8_t* wstrb;
    uint8_t* wvalid;
    const uint8_t* wready;
    const uint8_t* bresp;
    const uint8_t* bvalid;
    uint8_t* bready;
    uint32_t* araddr;
    uint8_t* arvalid;
    const uint8_t* arready;
    const uint32_t* rdata;
    const uint8_t* rresp;
    const uint8_t* rvalid;
    uint8_t* rready;
};

// The device's own time, which may be set forward while it is idle: `now` in ns with 32 bits of fraction.
struct TimePins {
    const uint64_t* now;
    const uint32_t* fraction;
    const uint8_t* idle;
    const uint64_t* next_deadline;  // in ns; all ones: none
    uint8_t* advance;
    uint64_t* target;
    uint32_t* target_fraction;
};

// Everything of a device that the loop touches; what a design lacks stays empty or null.
struct Pins {
    // Several: paths, registers, time and the harness's own cycles belong to the first; a run's cycles are the first's.
    std::vector<ClockPins> clocks;
    const uint8_t* ready = nullptr;  // after reset
    int meta_words = 0;
    std::vector<SourcePins> sources;
    std::vector<SinkPins> sinks;
    std::vector<PathPins> paths;
    std::vector<AxilPins> axil;  // none or one
    std::vector<TimePins> time;  // none or one
    std::vector<TapPins> taps;   // none or one
};

// A verilated model behind an interface; verilated.hpp makes one of any Vtop.
class Model {
public:
    virtual ~Model() = default;
    virtual void eval() = 0;

    // The whole state, and back; false: it isn't that of such a model.
    virtual void save(std::string& out) = 0;
    virtual bool restore(const char* data, size_t size) = 0;

    // Waves from the next dump on. False: the file can't be written.
    virtual bool open_waves(const std::string& path) = 0;
    virtual void dump(int64_t time_ps) = 0;
    virtual void close_waves() = 0;

    Pins pins;
};

// The binding file of a design defines this: a new model with its pins. Its registers start random, by `seed`.
std::unique_ptr<Model> make_model(int seed);

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
    static constexpr int64_t PATIENCE = 1000;

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

class Device {
public:
    // Why run() came back before its cycles were over.
    enum Event : uint32_t { DONE = 1, ACCESS = 2, READY = 4 };

    struct SourcePort {
        SourcePins pins;
        Source* source;
        bool changed;
    };
    struct SinkPort {
        SinkPins pins;
        Sink* sink;
    };

    explicit Device(int seed);

    const Pins& pins() const { return model_->pins; }

    // `harness` has the streams from now on; null: none. An empty text, or why it doesn't fit.
    std::string bind(Harness* harness);

    // Runs `cycles` cycles, or until one of the events in `until` holds; returns those that do. An access that has ended
    // ends it too.
    uint32_t run(int64_t cycles, uint32_t until);

    void set_reset(bool level) { next_rst_ = level; }
    bool ready() const { return pins().ready == nullptr || *pins().ready != 0; }
    Axil& axil() { return axil_; }
    // Rising edges since the device was made.
    int64_t cycles() const { return cycles_; }
    // Whether time is advanced over cycles in which nothing can happen; all else is as if they had passed.
    void set_skip(bool on) {
        skip_ = on;
        slept_ = false;
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

    using Time = unsigned __int128;  // ns with 32 bits of fraction

    template <typename Archive>
    void archive(Archive& members) {
        axil_.archive(members);
        harness_->archive(members);
        members(next_rst_, was_reset_, cycles_, skipped_);
        for (Clock& clock : clocks_) members(clock.next_fs, clock.edges, clock.cycle, clock.was_reset);
    }
    Time now() const;
    bool sleeps() const;
    void skip(int64_t most);
    int64_t skippable(int64_t most, Time step) const;
    void cycle();
    void edge_of_several();
    void cycle_of_several();
    void take_edge(size_t clock);
    void answer_edge(size_t clock);
    void dump(int64_t half) const;
    void sample(int64_t cycle);
    void sample_reset();
    void sample_reports(int64_t cycle);
    void show();
    void show_source(SourcePort& port) const;
    void complain(const char* side, const std::string& name, const char* what) const;
    uint32_t events(uint32_t until) const;

    std::unique_ptr<Model> model_;
    Harness* harness_ = nullptr;
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
    int64_t skipped_ = 0;    // cycles
    bool next_rst_ = true, was_reset_ = false;
    int64_t cycles_ = 0;
};

}  // namespace nicloop
