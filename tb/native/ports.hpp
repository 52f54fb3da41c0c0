// An end of a stream or wire: the pins, and the source or sink of the harness that is on them.
#pragma once

#include <cstdint>
#include <cstring>

#include "pins.hpp"
#include "stream.hpp"
#include "xgmii.hpp"

namespace nicloop {

struct SourcePort {
    SourcePins pins;
    Source* source;
    bool changed;

    // What the source sees at the edge that comes; its answer waits in it until that is over.
    void sample(int64_t cycle) {
        changed = !*pins.valid || *pins.ready;
        if (changed) source->edge(cycle, *pins.ready);
    }

    // Wide data is copied only with a beat, metadata only with a frame's first (and the noise behind it).
    void show(size_t meta_bytes) const {
        if (!changed) return;
        *pins.valid = source->valid();
        if (!source->valid()) return;
        const Beat& beat = source->beat();
        std::memcpy(pins.data, beat.data.data(), BEAT_BYTES);
        *pins.keep = static_cast<uint16_t>(beat.keep);
        *pins.last = beat.last;
        *pins.user = static_cast<uint16_t>(beat.user);
        if (pins.meta != nullptr && (source->first() || source->second())) {
            std::memcpy(pins.meta, beat.meta.data(), meta_bytes);
        }
    }

    void check_reset(Report& report, int64_t cycle) const {
        if (*pins.ready) report.add(cycle, "source " + source->name(), "tready is 1 in reset");
    }
};

struct SinkPort {
    SinkPins pins;
    Sink* sink;

    void sample(int64_t cycle) {
        if (*pins.valid) {
            const uint32_t* meta = pins.seq != nullptr ? sink->word_of(*pins.seq, *pins.direction) : pins.meta;
            sink->beat(cycle, pins.data, *pins.keep, *pins.user, *pins.last, meta);
        } else {
            sink->idle(cycle);
        }
    }

    void show() const { *pins.ready = sink->ready() && !(sink->hold_last() && *pins.valid && *pins.last); }

    void check_reset(Report& report, int64_t cycle) const {
        if (*pins.valid) report.add(cycle, "sink " + sink->name(), "tvalid is 1 in reset");
    }
};

struct XgmiiInPort {
    XgmiiInPins pins;
    Source* source;
    XgmiiEncoder encoder;

    // Behind an edge of its clock; `cycle`: the harness's that is under way.
    void step(bool reset, int64_t cycle) {
        if (reset) {
            encoder.reset();
        } else {
            encoder.step(*source, cycle);
        }
        show();
    }

    void show() const {
        *pins.d = encoder.word().d;
        *pins.c = encoder.word().c;
    }
};

struct XgmiiOutPort {
    XgmiiOutPins pins;
    Sink* sink;
    XgmiiDecoder decoder;

    void step(bool reset, int64_t cycle) {
        if (reset) return decoder.reset();
        const bool tagged = pins.valid != nullptr;
        const XgmiiTag tag{tagged && *pins.valid, tagged ? *pins.seq : uint16_t{0}, tagged && *pins.direction};
        decoder.step(*sink, {*pins.d, *pins.c}, tag, cycle);
    }
};

}  // namespace nicloop
