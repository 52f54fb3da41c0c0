// A verilated design in a bare loop, without VPI, Python and harness: the limit that every harness is measured by. It
// stands in the library of the design's harness, so it turns the same model.

#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "c_api.hpp"
#include "device.hpp"

namespace nicloop {

namespace {

constexpr int64_t RESET_CYCLES = 8;
constexpr int64_t MOST_CYCLES = 100000;  // until the design is ready

struct Stimulus {
    uint32_t data[4];
    uint16_t keep;
    bool last;
};

std::vector<Stimulus> beats_of(int64_t frames, const int64_t* offset, const uint8_t* data) {
    std::vector<Stimulus> beats;
    for (int64_t frame = 0; frame < frames; ++frame) {
        for (int64_t at = offset[frame]; at < offset[frame + 1]; at += 16) {
            Stimulus beat{};
            const int64_t left = offset[frame + 1] - at;
            const int64_t size = left < 16 ? left : 16;
            std::memcpy(beat.data, data + at, static_cast<size_t>(size));
            beat.keep = static_cast<uint16_t>((1u << size) - 1);
            beat.last = left <= 16;
            beats.push_back(beat);
        }
    }
    return beats;
}

double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

// One model, and the two of its streams that frames take.
class Bare {
public:
    Bare(int source, int sink)
        : model_(make_model(1)),
          source_(model_->pins.sources.at(static_cast<size_t>(source))),
          sink_(model_->pins.sinks.at(static_cast<size_t>(sink))) {}

    // False: the design doesn't become ready.
    bool reset() {
        const Pins& pins = model_->pins;
        for (const SourcePins& source : pins.sources) *source.valid = 0;
        for (const SinkPins& sink : pins.sinks) *sink.ready = 1;
        for (const AxilPins& axil : pins.axil) {
            *axil.awvalid = *axil.wvalid = *axil.bready = *axil.arvalid = *axil.rready = 0;
        }
        *source_.user = 0;
        for (int64_t cycle = 0; cycle < MOST_CYCLES; ++cycle) {
            *pins.clocks.front().rst = cycle < RESET_CYCLES;
            edge(1);
            edge(0);
            if (cycle > RESET_CYCLES && (pins.ready == nullptr || *pins.ready)) return true;
        }
        return false;
    }

    // Returns the cycles from the first beat in to the last one out. came, user: null, or room for what comes out.
    int64_t play(const std::vector<Stimulus>& beats, int64_t frames, uint8_t* came, uint16_t* user) {
        int64_t cycles = 0, received = 0;
        size_t next = 0;
        for (; received < frames; ++cycles) {
            // The values that stand now are those that the edge sees.
            const bool taken = *source_.valid && *source_.ready;
            if (*sink_.valid) {
                if (came != nullptr) {
                    const int size = __builtin_popcount(*sink_.keep);
                    std::memcpy(came, sink_.data, static_cast<size_t>(size));
                    came += size;
                    user[received] = *sink_.user;
                }
                received += *sink_.last;
            }
            edge(1);
            if (taken) ++next;
            *source_.valid = next < beats.size();
            if (next < beats.size()) {
                std::memcpy(source_.data, beats[next].data, 16);
                *source_.keep = beats[next].keep;
                *source_.last = beats[next].last;
            }
            edge(0);
        }
        return cycles;
    }

private:
    void edge(uint8_t level) {
        *model_->pins.clocks.front().clk = level;
        model_->eval();
    }

    std::unique_ptr<Model> model_;
    SourcePins source_;
    SinkPins sink_;
};

}  // namespace nicloop

// A model that is ready; null: it doesn't become so.
NICLOOP_API nicloop::Bare* nicloop_bare_create(int32_t source, int32_t sink) {
    auto bare = std::make_unique<nicloop::Bare>(source, sink);
    return bare->reset() ? bare.release() : nullptr;
}

NICLOOP_API void nicloop_bare_destroy(nicloop::Bare* bare) { delete bare; }

// Frames through the model, back to back; returns the cycles. cpu_s: CPU time of the loop. came, user: as in Bare::play.
NICLOOP_API int64_t nicloop_bare_play(
    nicloop::Bare* bare, int64_t frames, const int64_t* offset, const uint8_t* data, uint8_t* came, uint16_t* user,
    double* cpu_s) {
    const std::vector<nicloop::Stimulus> beats = nicloop::beats_of(frames, offset, data);
    const double start = nicloop::cpu_seconds();
    const int64_t cycles = bare->play(beats, frames, came, user);
    *cpu_s = nicloop::cpu_seconds() - start;
    return cycles;
}
