// The harness as the simulator sees it: functions that the modules beside this file (bfm_*.sv) call once a cycle.
// Without a bound harness nothing is offered and nothing is ready. An index that the harness lacks is idle too.

#include "c_api.hpp"
#include "harness.hpp"
#include "step.hpp"
#include "svdpi.h"

using nicloop::bound;
using nicloop::Harness;

NICLOOP_API uint64_t nicloop_dpi_source(int source, svBit ready, svBitVecVal* data, svBitVecVal* meta) {
    Harness* harness = bound();
    return harness && source < harness->sources() ? nicloop::step_source(*harness, source, ready, data, meta) : 0;
}

NICLOOP_API uint32_t nicloop_dpi_sink_beat(int sink, uint32_t flags, const svBitVecVal* data, const svBitVecVal* meta) {
    Harness* harness = bound();
    return harness && sink < harness->sinks() ? nicloop::step_sink_beat(*harness, sink, flags, data, meta) : 0;
}

NICLOOP_API uint32_t nicloop_dpi_sink_idle(int sink) {
    Harness* harness = bound();
    return harness && sink < harness->sinks() ? nicloop::step_sink_idle(*harness, sink) : 0;
}

NICLOOP_API void nicloop_dpi_entry(int path, uint32_t seq) {
    Harness* harness = bound();
    if (harness && path < harness->paths()) harness->path(path).entry(harness->cycle(), seq);
}

NICLOOP_API void nicloop_dpi_disposition(int path, uint32_t seq, uint32_t code, uint32_t queue) {
    Harness* harness = bound();
    if (harness && path < harness->paths()) harness->path(path).disposition(harness->cycle(), seq, code, queue);
}

// A stream that is not quiet in reset; sink 0: tready of a source, 1: tvalid of a sink.
NICLOOP_API void nicloop_dpi_reset_violation(svBit sink, int stream) {
    Harness* harness = bound();
    if (!harness || stream >= (sink ? harness->sinks() : harness->sources())) return;
    const std::string name = sink ? "sink " + harness->sink(stream).name() : "source " + harness->source(stream).name();
    harness->report().add(harness->cycle(), name, sink ? "tvalid is 1 in reset" : "tready is 1 in reset");
}

NICLOOP_API svBit nicloop_dpi_end(svBit reset, svBit idle) {
    Harness* harness = bound();
    if (!harness) return 0;
    if (reset) {
        harness->reset_cycle();
    } else {
        harness->end_cycle(idle != 0);
    }
    return harness->done();
}
