#include "c_api.hpp"

#include <string>
#include <vector>

#include "harness.hpp"
#include "step.hpp"
#include "xgmii.hpp"

using nicloop::fail;
using nicloop::Harness;
using nicloop::Pause;
using nicloop::PauseKind;
using nicloop::Random;
using nicloop::whole;

struct NicloopResults {
    std::vector<nicloop::SourceLog> sources;
    std::vector<nicloop::SinkLog> sinks;
    std::vector<nicloop::PathLog> paths;
};

namespace {

Harness* the_bound = nullptr;
std::string the_error;

bool valid_pause(int32_t kind, int64_t a, int64_t b, bool sink) {
    switch (static_cast<PauseKind>(kind)) {
        case PauseKind::NONE:
        case PauseKind::GAP:
        case PauseKind::STORM: return true;
        case PauseKind::RANDOM: return a > 0 && a <= int64_t{1} << 32;
        case PauseKind::BURSTY: return a >= 1 && b >= 1;
        case PauseKind::ONE_IN: return a >= 1;
        case PauseKind::AFTER_VALID: return sink;
        case PauseKind::STALL_LAST:
        case PauseKind::STALL: return sink && a >= 1;
    }
    return false;
}

std::string no_stream(const char* what, int32_t i) { return std::string("the harness has no ") + what + " " + std::to_string(i); }

}  // namespace

Harness* nicloop::bound() { return the_bound; }

int32_t nicloop::fail(const std::string& text) {
    the_error = text;
    return -1;
}

Harness* nicloop_create(uint64_t seed, int32_t meta_words) {
    if (meta_words < 0 || meta_words > nicloop::META_WORDS_MAX) {
        fail("meta_words is " + std::to_string(meta_words) + ", 0 to " + std::to_string(nicloop::META_WORDS_MAX) + " are possible");
        return nullptr;
    }
    return new Harness(seed, meta_words);
}

void nicloop_destroy(Harness* harness) {
    if (the_bound == harness) the_bound = nullptr;
    delete harness;
}

const char* nicloop_last_error() { return the_error.c_str(); }

void nicloop_bind(Harness* harness) { the_bound = harness; }

int32_t nicloop_add_source(Harness* harness, const char* name) { return harness->add_source(name); }

int32_t nicloop_add_sink(Harness* harness, const char* name) { return harness->add_sink(name); }

int32_t nicloop_add_path(Harness* harness, const char* name, int32_t source, int32_t sink, int32_t monitored) {
    if (source < 0 || source >= harness->sources()) return fail(no_stream("source", source));
    if (sink < 0 || sink >= harness->sinks()) return fail(no_stream("sink", sink));
    return harness->add_path(name, source, sink, monitored != 0);
}

int32_t nicloop_push(Harness* harness, int32_t source, int64_t n, const uint8_t* data, const int64_t* offset,
                     const uint32_t* user, const uint32_t* meta, const int64_t* earliest) {
    if (source < 0 || source >= harness->sources()) return fail(no_stream("source", source));
    for (int64_t i = 0; i < n; ++i) {
        if (offset[i + 1] <= offset[i]) return fail("frame " + std::to_string(i) + " has no bytes");
    }
    harness->push(source, n, data, offset, user, meta, earliest);
    return 0;
}

int32_t nicloop_set_gap(Harness* harness, int32_t source, int32_t kind, int64_t a, int64_t b, int32_t within) {
    if (source < 0 || source >= harness->sources()) return fail(no_stream("source", source));
    if (!valid_pause(kind, a, b, false)) return fail("no gap generator of kind " + std::to_string(kind) + " with these parameters");
    harness->source(source).set_gap(harness->pause(static_cast<PauseKind>(kind), a, b, 2000 + source), within != 0);
    return 0;
}

int32_t nicloop_set_rate(Harness* harness, int32_t source, int64_t num, int64_t den, int64_t period_ps) {
    if (source < 0 || source >= harness->sources()) return fail(no_stream("source", source));
    if (num < 0 || den < 1 || period_ps < 1) return fail("a rate is num >= 0 over den >= 1 Gb/s, a period at least 1 ps");
    harness->source(source).pacing().set_rate(num, den, period_ps);
    return 0;
}

int32_t nicloop_set_pause(Harness* harness, int32_t sink, int32_t kind, int64_t a, int64_t b) {
    if (sink < 0 || sink >= harness->sinks()) return fail(no_stream("sink", sink));
    if (!valid_pause(kind, a, b, true)) return fail("no pause generator of kind " + std::to_string(kind) + " with these parameters");
    harness->sink(sink).set_pause(harness->pause(static_cast<PauseKind>(kind), a, b, 3000 + sink));
    return 0;
}

int32_t nicloop_set_gapless(Harness* harness, int32_t sink, int32_t on) {
    if (sink < 0 || sink >= harness->sinks()) return fail(no_stream("sink", sink));
    harness->sink(sink).set_gapless(on != 0);
    return 0;
}

int32_t nicloop_set_origin(Harness* harness, int32_t seq, int32_t direction, int32_t copy) {
    const int bits = 32 * harness->meta_words();
    for (const int32_t bit : {seq, direction, copy}) {
        if (bit < 0 || bit >= bits) return fail("the metadata has " + std::to_string(bits) + " bits, there is none " + std::to_string(bit));
    }
    if (seq % 32 > 16) return fail("a frame's number lies in two words");
    if (harness->paths() > 2) return fail("an origin tells two paths");
    harness->set_origin({seq, direction, copy});
    return 0;
}

void nicloop_set_watchdog(Harness* harness, int64_t cycles) { harness->set_watchdog(cycles); }

void nicloop_set_quiet(Harness* harness, int64_t cycles) { harness->set_quiet(cycles); }

int64_t nicloop_cycle(Harness* harness) { return harness->cycle(); }

int32_t nicloop_done(Harness* harness) { return harness->done(); }

int32_t nicloop_fired(Harness* harness) { return harness->fired(); }

int64_t nicloop_error_count(Harness* harness) { return harness->report().count(); }

const char* nicloop_error_text(Harness* harness) { return harness->report().text().c_str(); }

void nicloop_clear_errors(Harness* harness) { harness->report().clear(); }

int64_t nicloop_count(Harness* harness, int32_t kind, int32_t stream, int32_t what) {
    if (kind == 0 && stream >= 0 && stream < harness->sources()) {
        const nicloop::Source& source = harness->source(stream);
        return what == 0 ? source.ended() : what == 1 ? source.beats() : source.stalls();
    }
    if (kind == 1 && stream >= 0 && stream < harness->sinks()) {
        const nicloop::Sink& sink = harness->sink(stream);
        return what == 0 ? sink.frames() : what == 1 ? sink.beats() : sink.stalls();
    }
    return fail(no_stream("stream", stream));
}

NicloopResults* nicloop_pop(Harness* harness) {
    auto* results = new NicloopResults;
    for (int i = 0; i < harness->sources(); ++i) results->sources.push_back(harness->source(i).take_log());
    for (int i = 0; i < harness->sinks(); ++i) results->sinks.push_back(harness->sink(i).take_log());
    for (int i = 0; i < harness->paths(); ++i) results->paths.push_back(harness->path(i).take_log());
    return results;
}

void nicloop_free(NicloopResults* results) { delete results; }

const void* nicloop_column(const NicloopResults* results, int32_t kind, int32_t stream, int32_t column, int64_t* count) {
    const auto i = static_cast<size_t>(stream);
    *count = 0;
    if (kind == 0 && i < results->sources.size()) {
        const nicloop::SourceLog& log = results->sources[i];
        switch (column) {
            case 0: return whole(log.valid, count);
            case 1: return whole(log.first, count);
            case 2: return whole(log.last, count);
        }
    } else if (kind == 1 && i < results->sinks.size()) {
        const nicloop::SinkLog& log = results->sinks[i];
        switch (column) {
            case 0: return whole(log.data, count);
            case 1: return whole(log.offset, count);
            case 2: return whole(log.user, count);
            case 3: return whole(log.meta, count);
            case 4: return whole(log.valid, count);
            case 5: return whole(log.first, count);
            case 6: return whole(log.last, count);
        }
    } else if (kind == 2 && i < results->paths.size()) {
        const nicloop::PathLog& log = results->paths[i];
        switch (column) {
            case 0: return whole(log.entry_cycle, count);
            case 1: return whole(log.cycle, count);
            case 2: return whole(log.frame, count);
            case 3: return whole(log.seq, count);
            case 4: return whole(log.code, count);
            case 5: return whole(log.queue, count);
        }
    }
    fail("no such column");
    return nullptr;
}

uint64_t nicloop_step_source(Harness* harness, int32_t source, int32_t ready, uint32_t* data, uint32_t* meta) {
    return nicloop::step_source(*harness, source, ready != 0, data, meta);
}

uint32_t nicloop_step_sink(Harness* harness, int32_t sink, int32_t valid, uint64_t flags, const uint32_t* data,
                           const uint32_t* meta) {
    if (valid) return nicloop::step_sink_beat(*harness, sink, flags, data, meta);
    return nicloop::step_sink_idle(*harness, sink);
}

void nicloop_step_entry(Harness* harness, int32_t path, uint32_t seq) { harness->path(path).entry(harness->cycle(), seq); }

void nicloop_step_disposition(Harness* harness, int32_t path, uint32_t seq, uint32_t code, uint32_t queue) {
    harness->path(path).disposition(harness->cycle(), seq, code, queue);
}

int32_t nicloop_step_end(Harness* harness, int32_t reset, int32_t idle) {
    if (reset) {
        harness->reset_cycle();
    } else {
        harness->end_cycle(idle != 0);
    }
    return harness->done();
}

void nicloop_xgmii_encode(Harness* harness, int32_t source, int64_t n, uint64_t* d, uint8_t* c) {
    nicloop::XgmiiEncoder encoder;
    for (int64_t i = 0; i < n; ++i) {
        encoder.step(harness->source(source), i);
        d[i] = encoder.word().d;
        c[i] = encoder.word().c;
    }
}

void nicloop_xgmii_decode(Harness* harness, int32_t sink, int64_t n, const uint64_t* d, const uint8_t* c) {
    nicloop::XgmiiDecoder decoder(false);
    for (int64_t i = 0; i < n; ++i) decoder.step(harness->sink(sink), {d[i], c[i]}, {}, i);
}

void nicloop_random(uint64_t seed, uint64_t stream, int64_t n, uint64_t* numbers) {
    Random random(seed, stream);
    for (int64_t i = 0; i < n; ++i) numbers[i] = random.next();
}

void nicloop_passes(uint64_t seed, int32_t kind, int64_t a, int64_t b, int64_t n, uint8_t* passes) {
    if (!valid_pause(kind, a, b, false)) return;
    Pause pause(static_cast<PauseKind>(kind), a, b, Random(seed));
    for (int64_t i = 0; i < n; ++i) passes[i] = pause.pass();
}
