#include "device.hpp"

#include <array>

namespace nicloop {

namespace {

const std::array<uint32_t, META_WORDS_MAX> NO_META{};

}  // namespace

Device::Device(int seed) : model_(make_model(seed)) {
    const Pins& pins = model_->pins;
    for (const XgmiiInPins& one : pins.xgmii_in) {
        wires_in_.push_back({one, nullptr, {}});
        wires_in_.back().show();
    }
    for (const XgmiiOutPins& one : pins.xgmii_out) {
        wires_out_.push_back({one, nullptr, XgmiiDecoder(one.valid != nullptr)});
    }
    for (const SourcePins& one : pins.sources) sources_.push_back({one, nullptr, false});
    for (const SinkPins& one : pins.sinks) {
        sinks_.push_back({one, nullptr});
        if (one.meta == nullptr) sinks_.back().pins.meta = NO_META.data();
        *one.ready = 0;
    }
    for (const PathPins& one : pins.paths) paths_.push_back({one, nullptr});
    for (const SourcePort& one : sources_) *one.pins.valid = 0;
    if (!pins.axil.empty()) axil_.connect(pins.axil.data());
    if (!pins.taps.empty()) taps_.connect(pins.taps.data());
    meta_bytes_ = 4 * static_cast<size_t>(pins.meta_words);
    for (const ClockPins& one : pins.clocks) {
        clocks_.push_back({one, one.offset_fs});
        *one.rst = 1;
        *one.clk = 0;
    }
    model_->eval();
}

std::string Device::bind(Harness* harness) {
    if (harness != nullptr) {
        const auto have = [](int count) { return static_cast<size_t>(count); };
        const size_t sources = wires_in_.size() + sources_.size(), sinks = wires_out_.size() + sinks_.size();
        if (have(harness->sources()) != sources || have(harness->sinks()) != sinks) {
            return "the device has " + std::to_string(sources) + " sources and " + std::to_string(sinks) + " sinks";
        }
        if (have(harness->paths()) < paths_.size()) return "the device reports on " + std::to_string(paths_.size()) + " paths";
        if (meta_bytes_ > 0 && 4 * have(harness->meta_words()) != meta_bytes_) {
            return "the device has " + std::to_string(meta_bytes_ / 4) + " words of metadata";
        }
        int next = 0;
        for (XgmiiInPort& port : wires_in_) port.source = &harness->source(next++);
        for (SourcePort& port : sources_) port.source = &harness->source(next++);
        next = 0;
        for (XgmiiOutPort& port : wires_out_) port.sink = &harness->sink(next++);
        for (SinkPort& port : sinks_) port.sink = &harness->sink(next++);
        for (size_t i = 0; i < paths_.size(); ++i) paths_[i].path = &harness->path(static_cast<int>(i));
    }
    harness_ = harness;
    slept_ = false;
    asleep_ = 0;
    waves_.unwatch();
    return "";
}

// The disposition first: a number that ends and begins in one cycle is two frames, and no frame ends as it begins.
void Device::sample_reports(int64_t cycle) {
    for (PathPort& port : paths_) {
        const PathPins& pins = port.pins;
        if (*pins.disp_valid) port.path->disposition(cycle, *pins.disp_seq, *pins.disp_code, *pins.disp_queue);
        if (*pins.entry_valid) port.path->entry(cycle, *pins.entry_seq);
    }
    if (taps_.on()) taps_.step(cycle);
}

inline void Device::sample(int64_t cycle) {
    for (SourcePort& port : sources_) port.sample(cycle);
    for (SinkPort& port : sinks_) port.sample(cycle);
    sample_reports(cycle);
}

void Device::sample_reset() {
    if (!was_reset_) return;
    for (SourcePort& port : sources_) port.check_reset(harness_->report(), harness_->cycle());
    for (SinkPort& port : sinks_) port.check_reset(harness_->report(), harness_->cycle());
}

inline void Device::show() {
    for (SourcePort& port : sources_) port.show(meta_bytes_);
    for (SinkPort& port : sinks_) port.show();
}

// The cycle's rising (0) or falling (1) edge. The second edge is at time 0, as the first one that a bench sees in a
// simulator whose clock starts high.
void Device::dump(int64_t half) const {
    if (cycles_ == 0) return;
    const int64_t period = pins().clocks.front().period_fs / 1000;
    model_->dump((cycles_ - 1) * period + half * (period / 2));
}

void Device::cycle() {
    Model& model = *model_;
    const ClockPins& clock = clocks_.front().pins;
    const bool reset = *clock.rst;
    if (reset) {
        sample_reset();
    } else {
        sample(harness_->cycle());
    }
    *clock.clk = 1;
    model.eval();
    if (waves_.on()) dump(0);
    if (reset) {
        for (SourcePort& port : sources_) *port.pins.valid = 0;
        for (SinkPort& port : sinks_) *port.pins.ready = 0;
    } else {
        show();
    }
    axil_.put();
    *clock.rst = next_rst_;
    *clock.clk = 0;
    model.eval();
    if (waves_.on()) dump(1);
    ++cycles_;
    was_reset_ = reset;
    if (reset) {
        harness_->reset_cycle();
    } else {
        harness_->end_cycle(idle());
    }
    waves_.step(model);
}

void Device::pass() {
    if (several()) {
        cycle_of_several();
    } else {
        cycle();
    }
}

uint32_t Device::events(uint32_t until) const {
    uint32_t found = 0;
    if ((until & DONE) != 0 && harness_->done()) found |= DONE;
    if ((until & READY) != 0 && ready()) found |= READY;
    return found;
}

uint32_t Device::run(int64_t cycles, int64_t steps, uint32_t until) {
    const int64_t end = cycles_ + cycles;
    for (int64_t step = 0; step < steps && cycles_ < end; ++step) {
        if (skip_) skip(end - cycles_ - 1);
        pass();
        uint32_t found = events(until);
        if (axil_.busy()) {
            axil_.step();
            if (!axil_.busy()) found |= ACCESS;
        }
        if (found != 0) return found;
    }
    return 0;
}

std::string Device::save(std::string& out) {
    if (!harness_->settled() || harness_->fired()) return "frames are in flight";
    if (axil_.busy()) return "a register access is under way";
    if (*pins().clocks.front().rst || next_rst_) return "the device is in reset";
    Writer writer(out);
    archive(writer);
    model_->save(out);
    return "";
}

std::string Device::restore(const char* data, size_t size) {
    // All states of a build have one size: another is refused before anything has changed.
    std::string own;
    Writer writer(own);
    archive(writer);
    const size_t harness = own.size();
    model_->save(own);
    if (own.size() != size) return "this is no saved state of the device";
    harness_->forget();
    Reader reader(data);
    archive(reader);
    model_->restore(data + harness, size - harness);
    slept_ = false;
    asleep_ = 0;
    for (XgmiiInPort& port : wires_in_) port.encoder.forget();
    for (XgmiiOutPort& port : wires_out_) port.decoder.forget();
    return "";
}

}  // namespace nicloop
