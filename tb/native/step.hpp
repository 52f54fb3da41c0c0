// One cycle of a stream, in the form in which it crosses into a simulator: everything but tdata and meta in one word.
//
//   bits 15:0 tkeep, 25:16 tuser, 26 tlast, 27 tvalid, 28 meta changes with this beat
#pragma once

#include <cstdint>
#include <cstring>

#include "harness.hpp"

namespace nicloop {

constexpr uint64_t FLAG_LAST = 1u << 26;
constexpr uint64_t FLAG_VALID = 1u << 27;
constexpr uint64_t FLAG_META = 1u << 28;

// The source's edge; what it shows next. data and meta are written only with a new beat, meta only with FLAG_META.
inline uint64_t step_source(Harness& harness, int i, bool ready, uint32_t* data, uint32_t* meta) {
    Source& source = harness.source(i);
    source.edge(harness.cycle(), ready);
    if (!source.valid()) return 0;
    const Beat& beat = source.beat();
    std::memcpy(data, beat.data.data(), BEAT_BYTES);
    uint64_t flags = beat.keep | beat.user << 16 | FLAG_VALID;
    if (beat.last) flags |= FLAG_LAST;
    if (source.first() || source.second()) {
        std::memcpy(meta, beat.meta.data(), 4 * static_cast<size_t>(harness.meta_words()));
        flags |= FLAG_META;
    }
    return flags;
}

// The sink's edge with and without a beat; bit 0 tready of the next cycle, bit 1: but not for a last beat.
inline uint32_t sink_answer(const Sink& sink) { return static_cast<uint32_t>(sink.ready()) | static_cast<uint32_t>(sink.hold_last()) << 1; }

inline uint32_t step_sink_beat(Harness& harness, int i, uint64_t flags, const uint32_t* data, const uint32_t* meta) {
    Sink& sink = harness.sink(i);
    sink.beat(harness.cycle(), data, flags & FULL_KEEP, flags >> 16 & USER_MASK, (flags & FLAG_LAST) != 0, meta);
    return sink_answer(sink);
}

inline uint32_t step_sink_idle(Harness& harness, int i) {
    Sink& sink = harness.sink(i);
    sink.idle(harness.cycle());
    return sink_answer(sink);
}

}  // namespace nicloop
