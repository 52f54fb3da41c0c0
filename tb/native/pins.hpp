// The pins of a verilated model that the harness's loop touches, and the model behind an interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

// seq, direction: whose frame it is, of a stream without metadata that says so; null: it doesn't.
struct SinkPins {
    const uint32_t* data;
    const uint16_t* keep;
    const uint8_t* valid;
    uint8_t* ready;
    const uint8_t* last;
    const uint16_t* user;
    const uint32_t* meta;
    int clock = 0;
    const uint16_t* seq = nullptr;
    const uint8_t* direction = nullptr;
};

// A wire as XGMII, in its own clock: into the device, and out of it, where pins may say in the cycle of a start whose frame
// it is (null: they don't).
struct XgmiiInPins {
    uint64_t* d;
    uint8_t* c;
    int clock;
};

struct XgmiiOutPins {
    const uint64_t* d;
    const uint8_t* c;
    int clock;
    const uint8_t* valid = nullptr;
    const uint16_t* seq = nullptr;
    const uint8_t* direction = nullptr;
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
    // The harness's sources and sinks: those that are XGMII come first. XGMII wants several clocks.
    std::vector<XgmiiInPins> xgmii_in;
    std::vector<XgmiiOutPins> xgmii_out;
    std::vector<SourcePins> sources;
    std::vector<SinkPins> sinks;
    std::vector<PathPins> paths;
    std::vector<AxilPins> axil;  // none or one
    std::vector<TimePins> time;  // none or one
    std::vector<TapPins> taps;   // none or one
};

// A verilated model behind an interface; verilated_model.hpp makes one of any Vtop.
class Model {
public:
    virtual ~Model() = default;
    virtual void eval() = 0;

    // The whole state, and back: one of such a model, which has always the same size.
    virtual void save(std::string& out) = 0;
    virtual void restore(const char* data, size_t size) = 0;

    // Waves from the next dump on. False: the file can't be written.
    virtual bool open_waves(const std::string& path) = 0;
    virtual void dump(int64_t time_ps) = 0;
    virtual void close_waves() = 0;

    Pins pins;
};

// The binding file of a design defines this: a new model with its pins. Its registers start random, by `seed`.
std::unique_ptr<Model> make_model(int seed);

}  // namespace nicloop
