#include "device.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace nicloop {

namespace {

const std::array<uint32_t, META_WORDS_MAX> NO_META{};

}  // namespace

// ------------------------------------------------------------------------------------------------------------ Axil

void Axil::connect(const AxilPins* pins) {
    pins_ = pins;
    *pins_->wstrb = 0xF;
    put_all();
}

void Axil::begin(bool write, uint32_t address, uint32_t data) {
    write_ = write;
    address_ = address;
    write_data_ = data;
    aw_ = w_ = write;
    ar_ = !write;
    answering_ = false;
    waited_ = 0;
    state_ = BUSY;
    changed_ = true;
}

// Lowers each valid after its handshake; true once all are through.
bool Axil::shake() {
    if (aw_ && *pins_->awready) aw_ = false, changed_ = true;
    if (w_ && *pins_->wready) w_ = false, changed_ = true;
    if (ar_ && *pins_->arready) ar_ = false, changed_ = true;
    return !aw_ && !w_ && !ar_;
}

void Axil::step() {
    if (++waited_ > PATIENCE) return end(STUCK);
    if (!answering_) {
        if (!shake()) return;
        answering_ = true;
        waited_ = 0;
        (write_ ? b_ : r_) = true;
        changed_ = true;
        return;
    }
    if (!*(write_ ? pins_->bvalid : pins_->rvalid)) return;
    const bool okay = *(write_ ? pins_->bresp : pins_->rresp) == 0;
    data_ = !write_ && okay ? *pins_->rdata : 0;
    end(okay ? OKAY : ERROR);
}

void Axil::end(State state) {
    state_ = state;
    aw_ = w_ = b_ = ar_ = r_ = false;
    changed_ = true;
}

void Axil::put_all() {
    changed_ = false;
    *pins_->awaddr = *pins_->araddr = address_;
    *pins_->wdata = write_data_;
    *pins_->awvalid = aw_;
    *pins_->wvalid = w_;
    *pins_->bready = b_;
    *pins_->arvalid = ar_;
    *pins_->rready = r_;
}

// ----------------------------------------------------------------------------------------------------------- Waves

bool Waves::open(Model& model, const std::string& path) {
    close(model);
    if (!model.open_waves(path)) return false;
    state_ = RUNNING;
    return true;
}

bool Waves::arm(Model& model, const std::string& path, Path& frames, int64_t first, int64_t last) {
    if (!open(model, path)) return false;
    frames_ = &frames;
    first_ = first;
    frames.watch(first, last);
    state_ = ARMED;
    follow(model);
    return true;
}

void Waves::close(Model& model) {
    if (state_ != OFF) model.close_waves();
    state_ = OFF;
}

void Waves::follow(Model& model) {
    if (state_ == ARMED && frames_->source().ended() >= first_) state_ = FRAMES;
    if (state_ == FRAMES && frames_->watched() <= 0) {
        state_ = TAIL;
        left_ = TAIL_CYCLES;
    } else if (state_ == TAIL && --left_ == 0) {
        close(model);
    }
}

// ---------------------------------------------------------------------------------------------------------- Device

Device::Device(int seed) : model_(make_model(seed)) {
    const Pins& pins = model_->pins;
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
        if (have(harness->sources()) != sources_.size() || have(harness->sinks()) != sinks_.size()) {
            return "the device has " + std::to_string(sources_.size()) + " sources and " + std::to_string(sinks_.size()) + " sinks";
        }
        if (have(harness->paths()) < paths_.size()) return "the device reports on " + std::to_string(paths_.size()) + " paths";
        if (meta_bytes_ > 0 && 4 * have(harness->meta_words()) != meta_bytes_) {
            return "the device has " + std::to_string(meta_bytes_ / 4) + " words of metadata";
        }
        for (size_t i = 0; i < sources_.size(); ++i) sources_[i].source = &harness->source(static_cast<int>(i));
        for (size_t i = 0; i < sinks_.size(); ++i) sinks_[i].sink = &harness->sink(static_cast<int>(i));
        for (size_t i = 0; i < paths_.size(); ++i) paths_[i].path = &harness->path(static_cast<int>(i));
    }
    harness_ = harness;
    slept_ = false;
    waves_.unwatch();
    return "";
}

// What the harness's ends see at the edge that comes; their answers wait in them until it is over.
inline void sample_source(Device::SourcePort& port, int64_t cycle) {
    port.changed = !*port.pins.valid || *port.pins.ready;
    if (port.changed) port.source->edge(cycle, *port.pins.ready);
}

inline void sample_sink(Device::SinkPort& port, int64_t cycle) {
    const SinkPins& pins = port.pins;
    if (*pins.valid) {
        port.sink->beat(cycle, pins.data, *pins.keep, *pins.user, *pins.last, pins.meta);
    } else {
        port.sink->idle(cycle);
    }
}

// The disposition first: a number that ends and begins in one cycle is two frames, and no frame ends as it begins.
inline void Device::sample_reports(int64_t cycle) {
    for (PathPort& port : paths_) {
        const PathPins& pins = port.pins;
        if (*pins.disp_valid) port.path->disposition(cycle, *pins.disp_seq, *pins.disp_code, *pins.disp_queue);
        if (*pins.entry_valid) port.path->entry(cycle, *pins.entry_seq);
    }
    if (taps_.on()) taps_.step(cycle);
}

inline void Device::sample(int64_t cycle) {
    for (SourcePort& port : sources_) sample_source(port, cycle);
    for (SinkPort& port : sinks_) sample_sink(port, cycle);
    sample_reports(cycle);
}

void Device::complain(const char* side, const std::string& name, const char* what) const {
    harness_->report().add(harness_->cycle(), side + name, what);
}

void Device::sample_reset() {
    if (!was_reset_) return;
    for (SourcePort& port : sources_) {
        if (*port.pins.ready) complain("source ", port.source->name(), "tready is 1 in reset");
    }
    for (SinkPort& port : sinks_) {
        if (*port.pins.valid) complain("sink ", port.sink->name(), "tvalid is 1 in reset");
    }
}

// Wide data is copied only with a beat, metadata only with a frame's first (and the noise behind it).
inline void Device::show_source(SourcePort& port) const {
    const Source& source = *port.source;
    *port.pins.valid = source.valid();
    if (!source.valid()) return;
    const Beat& beat = source.beat();
    std::memcpy(port.pins.data, beat.data.data(), BEAT_BYTES);
    *port.pins.keep = static_cast<uint16_t>(beat.keep);
    *port.pins.last = beat.last;
    *port.pins.user = static_cast<uint16_t>(beat.user);
    if (port.pins.meta != nullptr && (source.first() || source.second())) {
        std::memcpy(port.pins.meta, beat.meta.data(), meta_bytes_);
    }
}

inline void show_sink(Device::SinkPort& port) {
    const Sink& sink = *port.sink;
    *port.pins.ready = sink.ready() && !(sink.hold_last() && *port.pins.valid && *port.pins.last);
}

inline void Device::show() {
    for (SourcePort& port : sources_) {
        if (port.changed) show_source(port);
    }
    for (SinkPort& port : sinks_) show_sink(port);
}

// The cycle's rising (0) or falling (1) edge. The first edge is at time 0 of a simulator whose clock starts high.
void Device::dump(int64_t half) const {
    const int64_t period = pins().clocks.front().period_fs / 1000;
    model_->dump(std::max<int64_t>(0, (cycles_ - 1) * period + half * (period / 2)));
}

inline void Device::cycle() {
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
        harness_->end_cycle();
    }
    waves_.step(model);
}

Device::Time Device::now() const {
    const TimePins& time = pins().time.front();
    return static_cast<Time>(*time.now) << 32 | *time.fraction;
}

// Nothing can happen in the cycle that comes, whatever came before.
bool Device::sleeps() const {
    if (pins().time.empty() || !*pins().time.front().idle || axil_.busy() || *pins().clocks.front().rst || next_rst_) return false;
    return harness_->sleeps_until(INT64_MAX) > harness_->cycle();
}

// How many cycles, `most` at most, may pass in one when time grows by `step` in each.
int64_t Device::skippable(int64_t most, Time step) const {
    int64_t cycles = std::min(most, harness_->sleeps_until(INT64_MAX) - harness_->cycle());
    const uint64_t deadline = *pins().time.front().next_deadline;
    if (deadline == UINT64_MAX || step == 0) return cycles;
    // The cycle in which the deadline has come, and the one before it, pass as they are.
    const Time at = static_cast<Time>(deadline) << 32;
    if (at <= now()) return 0;
    const Time before = (at - now()) / step;
    return before < static_cast<Time>(cycles) ? std::max<int64_t>(0, static_cast<int64_t>(before) - 1) : cycles;
}

// When the device sleeps for a second cycle on end, it is known by how much its time grows in each: then the cycles in
// which nothing can happen pass in one, at whose edge time becomes what it would have become.
void Device::skip(int64_t most) {
    const bool slept = slept_;
    slept_ = sleeps();
    if (!slept_) return;
    const Time before = slept_at_, begin = now();
    slept_at_ = begin;
    if (!slept) return;
    const int64_t cycles = skippable(most, begin - before);
    if (cycles < 2) return;
    const TimePins& time = pins().time.front();
    const Time target = begin + (begin - before) * static_cast<Time>(cycles);
    *time.advance = target > begin;
    *time.target = static_cast<uint64_t>(target >> 32);
    *time.target_fraction = static_cast<uint32_t>(target);
    harness_->skip(cycles - 1);
    cycles_ += cycles - 1;
    skipped_ += cycles - 1;
    cycle();
    *time.advance = 0;
    slept_ = false;
}

// ---------------------------------------------------------------------------------------------------- several clocks

// What stands at a rising edge of a clock, of the streams that belong to it.
void Device::take_edge(size_t index) {
    Clock& clock = clocks_[index];
    clock.in_reset = *clock.pins.rst;
    for (SourcePort& port : sources_) {
        if (port.pins.clock != static_cast<int>(index)) continue;
        if (!clock.in_reset) {
            sample_source(port, clock.cycle);
        } else if (clock.was_reset && *port.pins.ready) {
            complain("source ", port.source->name(), "tready is 1 in reset");
        }
    }
    for (SinkPort& port : sinks_) {
        if (port.pins.clock != static_cast<int>(index)) continue;
        if (!clock.in_reset) {
            sample_sink(port, clock.cycle);
        } else if (clock.was_reset && *port.pins.valid) {
            complain("sink ", port.sink->name(), "tvalid is 1 in reset");
        }
    }
    if (index == 0 && !clock.in_reset) sample_reports(clock.cycle);
}

// What stands after it.
void Device::answer_edge(size_t index) {
    Clock& clock = clocks_[index];
    for (SourcePort& port : sources_) {
        if (port.pins.clock != static_cast<int>(index)) continue;
        if (clock.in_reset) {
            *port.pins.valid = 0;
        } else if (port.changed) {
            show_source(port);
        }
    }
    for (SinkPort& port : sinks_) {
        if (port.pins.clock != static_cast<int>(index)) continue;
        if (clock.in_reset) {
            *port.pins.ready = 0;
        } else {
            show_sink(port);
        }
    }
    if (index == 0) axil_.put();
    *clock.pins.rst = next_rst_;
    ++clock.edges;
    clock.cycle = clock.in_reset ? 0 : clock.cycle + 1;
    clock.was_reset = clock.in_reset;
    for (SourcePort& port : sources_) {
        if (port.pins.clock == static_cast<int>(index)) port.source->set_cycle(clock.cycle);
    }
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
    if (waves_.on()) model_->dump(now / 1000);
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
        harness_->end_cycle();
    }
    waves_.step(*model_);
}

uint32_t Device::events(uint32_t until) const {
    uint32_t found = 0;
    if ((until & DONE) != 0 && harness_->done()) found |= DONE;
    if ((until & READY) != 0 && ready()) found |= READY;
    return found;
}

uint32_t Device::run(int64_t cycles, uint32_t until) {
    const int64_t end = cycles_ + cycles;
    const bool several = clocks_.size() > 1;
    while (cycles_ < end) {
        if (several) {
            cycle_of_several();
        } else {
            if (skip_) skip(end - cycles_ - 1);
            cycle();
        }
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
    Reader reader(data, data + size);
    harness_->forget();
    archive(reader);
    slept_ = false;
    const char* model = reader.take(0);
    if (model == nullptr || !model_->restore(model, static_cast<size_t>(data + size - model))) return "this is no saved state of the device";
    return "";
}

}  // namespace nicloop
