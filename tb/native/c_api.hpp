// The harness behind a plain C ABI, for ctypes: frames in and results out in bulk, as flat arrays.
//
// Functions that can be misused return -1 (or null) and leave a text in nicloop_last_error().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#define NICLOOP_API extern "C" __attribute__((visibility("default"), used))

namespace nicloop {
class Harness;
// The harness that the simulator's functions (dpi.cpp) reach; null: none.
Harness* bound();
// Keeps `text` for nicloop_last_error(); returns -1.
int32_t fail(const std::string& text);
// A column as it lies in memory. `count`: elements.
template <typename T>
const void* whole(const std::vector<T>& column, int64_t* count) {
    *count = static_cast<int64_t>(column.size());
    return column.data();
}
}  // namespace nicloop

NICLOOP_API nicloop::Harness* nicloop_create(uint64_t seed, int32_t meta_words);
NICLOOP_API void nicloop_destroy(nicloop::Harness* harness);
NICLOOP_API const char* nicloop_last_error();

// The simulator drives this harness from its next edge on.
NICLOOP_API void nicloop_bind(nicloop::Harness* harness);

NICLOOP_API int32_t nicloop_add_source(nicloop::Harness* harness, const char* name);
NICLOOP_API int32_t nicloop_add_sink(nicloop::Harness* harness, const char* name);
NICLOOP_API int32_t nicloop_add_path(nicloop::Harness* harness, const char* name, int32_t source, int32_t sink, int32_t monitored);

NICLOOP_API int32_t nicloop_push(nicloop::Harness* harness, int32_t source, int64_t n, const uint8_t* data, const int64_t* offset,
                                 const uint32_t* user, const uint32_t* meta, const int64_t* earliest);
NICLOOP_API int32_t nicloop_set_gap(nicloop::Harness* harness, int32_t source, int32_t kind, int64_t a, int64_t b, int32_t within);
NICLOOP_API int32_t nicloop_set_rate(nicloop::Harness* harness, int32_t source, int64_t num, int64_t den, int64_t period_ps);
NICLOOP_API int32_t nicloop_set_pause(nicloop::Harness* harness, int32_t sink, int32_t kind, int64_t a, int64_t b);
NICLOOP_API int32_t nicloop_set_gapless(nicloop::Harness* harness, int32_t sink, int32_t on);
// Bits of the metadata word that say whose a frame out is (stream.hpp, Origin). Once all streams and paths are there.
NICLOOP_API int32_t nicloop_set_origin(nicloop::Harness* harness, int32_t seq, int32_t direction, int32_t copy);
NICLOOP_API void nicloop_set_watchdog(nicloop::Harness* harness, int64_t cycles);
NICLOOP_API void nicloop_set_quiet(nicloop::Harness* harness, int64_t cycles);

NICLOOP_API int64_t nicloop_cycle(nicloop::Harness* harness);
NICLOOP_API int32_t nicloop_done(nicloop::Harness* harness);
NICLOOP_API int32_t nicloop_fired(nicloop::Harness* harness);
NICLOOP_API int64_t nicloop_error_count(nicloop::Harness* harness);
NICLOOP_API const char* nicloop_error_text(nicloop::Harness* harness);
NICLOOP_API void nicloop_clear_errors(nicloop::Harness* harness);

// kind 0 a source, 1 a sink; what: 0 frames, 1 beats, 2 cycles in which a beat waited for tready.
NICLOOP_API int64_t nicloop_count(nicloop::Harness* harness, int32_t kind, int32_t stream, int32_t what);

// Everything that ended since the last pop, moved out of the harness: it stays until nicloop_free.
struct NicloopResults;
NICLOOP_API NicloopResults* nicloop_pop(nicloop::Harness* harness);
NICLOOP_API void nicloop_free(NicloopResults* results);
// A column of them. kind 0 a source: 0 valid, 1 first, 2 last (int64). 1 a sink: 0 data (uint8), 1 offset (int64), 2 user,
// 3 meta (uint32), 4 valid, 5 first, 6 last (int64). 2 a path: 0 entry cycle, 1 cycle, 2 frame (int64), 3 seq, 4 code,
// 5 queue (uint32). `count`: elements.
NICLOOP_API const void* nicloop_column(const NicloopResults* results, int32_t kind, int32_t stream, int32_t column, int64_t* count);

// One step each, for a caller that is its own simulator. `flags`: see dpi.cpp.
NICLOOP_API uint64_t nicloop_step_source(nicloop::Harness* harness, int32_t source, int32_t ready, uint32_t* data, uint32_t* meta);
NICLOOP_API uint32_t nicloop_step_sink(nicloop::Harness* harness, int32_t sink, int32_t valid, uint64_t flags, const uint32_t* data,
                                       const uint32_t* meta);
NICLOOP_API void nicloop_step_entry(nicloop::Harness* harness, int32_t path, uint32_t seq);
NICLOOP_API void nicloop_step_disposition(nicloop::Harness* harness, int32_t path, uint32_t seq, uint32_t code, uint32_t queue);
// idle: the device is, behind the edge.
NICLOOP_API int32_t nicloop_step_end(nicloop::Harness* harness, int32_t reset, int32_t idle);

// An XGMII encoder on a source, and a decoder on a sink (xgmii.hpp), for the first n words of their lives; word k is on
// XGMII in cycle k.
NICLOOP_API void nicloop_xgmii_encode(nicloop::Harness* harness, int32_t source, int64_t n, uint64_t* d, uint8_t* c);
NICLOOP_API void nicloop_xgmii_decode(nicloop::Harness* harness, int32_t sink, int64_t n, const uint64_t* d, const uint8_t* c);

// n numbers of the generator of (seed, stream); n decisions of a blind pause generator.
NICLOOP_API void nicloop_random(uint64_t seed, uint64_t stream, int64_t n, uint64_t* numbers);
NICLOOP_API void nicloop_passes(uint64_t seed, int32_t kind, int64_t a, int64_t b, int64_t n, uint8_t* passes);
