// The loop of a device of several clocks.

#include <algorithm>

#include "device.hpp"

namespace nicloop {

namespace {

// Each of the streams that belong to a clock.
template <typename Port, typename Step>
void each_of(std::vector<Port>& ports, size_t clock, Step step) {
    for (Port& port : ports) {
        if (port.pins.clock == static_cast<int>(clock)) step(port);
    }
}

}  // namespace

// What stands at a rising edge of a clock, of the streams that belong to it.
void Device::take_edge(size_t index) {
    Clock& clock = clocks_[index];
    clock.in_reset = *clock.pins.rst;
    const auto take = [&](auto& port) {
        if (!clock.in_reset) {
            port.sample(clock.cycle);
        } else if (clock.was_reset) {
            port.check_reset(harness_->report(), harness_->cycle());
        }
    };
    each_of(sources_, index, take);
    each_of(sinks_, index, take);
    if (index == 0 && !clock.in_reset) sample_reports(clock.cycle);
}

// What stands after it.
void Device::answer_edge(size_t index) {
    Clock& clock = clocks_[index];
    clock.cycle = clock.in_reset ? 0 : clock.cycle + 1;
    each_of(sources_, index, [&](SourcePort& port) {
        if (clock.in_reset) {
            *port.pins.valid = 0;
        } else {
            port.show(meta_bytes_);
        }
        port.source->set_cycle(clock.cycle);
    });
    each_of(sinks_, index, [&](SinkPort& port) {
        if (clock.in_reset) {
            *port.pins.ready = 0;
        } else {
            port.show();
        }
    });
    for (XgmiiInPort& port : wires_in_) {
        if (port.pins.clock == static_cast<int>(index)) port.step(clock.in_reset, clocks_.front().cycle);
    }
    for (XgmiiOutPort& port : wires_out_) {
        if (port.pins.clock == static_cast<int>(index)) port.step(clock.in_reset, clocks_.front().cycle);
    }
    if (index == 0) axil_.put();
    *clock.pins.rst = next_rst_;
    ++clock.edges;
    clock.was_reset = clock.in_reset;
}

// The next edge of any clock; edges at one time are taken together, on what stood before all of them.
void Device::edge_of_several() {
    int64_t now = INT64_MAX;
    for (const Clock& clock : clocks_) now = std::min(now, clock.next_fs);
    for (size_t i = 0; i < clocks_.size(); ++i) {
        Clock& clock = clocks_[i];
        clock.edge = clock.next_fs == now && !*clock.pins.clk;
        if (clock.edge) take_edge(i);
    }
    for (Clock& clock : clocks_) {
        if (clock.next_fs != now) continue;
        *clock.pins.clk = !*clock.pins.clk;
        // An odd period has its longer half low.
        clock.next_fs += clock.edge ? clock.pins.period_fs / 2 : clock.pins.period_fs - clock.pins.period_fs / 2;
    }
    model_->eval();
    for (size_t i = 0; i < clocks_.size(); ++i) {
        if (clocks_[i].edge) answer_edge(i);
    }
    model_->eval();
    if (waves_.on()) model_->dump(skipped_ps_ + now / 1000);
}

// The time of `cycles` cycles of the first clock passes without an edge. Each clock keeps its phase: of another one as many
// periods pass as fit, so that its next edge is of the kind that it was.
void Device::skip_clocks(int64_t cycles) {
    Clock& first = clocks_.front();
    const int64_t time = cycles * first.pins.period_fs;
    // The edge that was last taken, and which lies `time` later now; times are seen from there, so that they stay small.
    const int64_t last = first.next_fs - first.pins.period_fs / 2;
    first.edges += cycles;
    first.cycle += cycles;
    for (size_t i = 1; i < clocks_.size(); ++i) {
        Clock& clock = clocks_[i];
        const int64_t period = clock.pins.period_fs;
        const int64_t periods = std::max<int64_t>(0, (last + time - clock.next_fs) / period + 1);
        clock.next_fs += periods * period - time;
        clock.edges += periods;
        clock.cycle += periods;
    }
    skipped_ps_ += time / 1000;
}

// Up to behind the next rising edge of the first clock.
void Device::cycle_of_several() {
    do {
        edge_of_several();
    } while (!clocks_.front().edge);
    ++cycles_;
    if (clocks_.front().in_reset) {
        harness_->reset_cycle();
    } else {
        harness_->end_cycle(idle());
    }
    waves_.step(*model_);
}

}  // namespace nicloop
