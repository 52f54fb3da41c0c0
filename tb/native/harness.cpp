#include "harness.hpp"

#include <algorithm>

namespace nicloop {

// ------------------------------------------------------------------------------------------------------------ Path

void Path::entry(int64_t cycle, uint32_t seq) {
    seq &= 0xFFFF;
    if (open_.empty()) return;
    if (open_[seq] >= 0) {
        report_.add(cycle, "path " + name_, "seq " + std::to_string(seq) + " given to frame " + std::to_string(begun_) +
                    " while frame " + std::to_string(open_[seq]) + " still has it");
        --in_flight_;
    }
    open_[seq] = begun_++;
    ++in_flight_;
    ++entries_;
    log_.entry_cycle.push_back(cycle);
}

void Path::disposition(int64_t cycle, uint32_t seq, uint32_t code, uint32_t queue) {
    seq &= 0xFFFF;
    if (open_.empty()) return;
    ++dispositions_;
    const int64_t frame = open_[seq];
    if (frame < 0) {
        report_.add(cycle, "path " + name_, "disposition " + std::to_string(code) + " for seq " + std::to_string(seq) +
                    ", which no frame in flight has");
    } else {
        open_[seq] = -1;
        --in_flight_;
        ended(frame);
    }
    if (code == CODE_DELIVERED) ++delivered_;
    log_.cycle.push_back(cycle);
    log_.frame.push_back(frame);
    log_.seq.push_back(seq);
    log_.code.push_back(code);
    log_.queue.push_back(queue);
}

void Path::reset(int64_t cycle) {
    if (monitored_) {
        for (uint32_t seq = 0; in_flight_ > 0 && seq < 65536; ++seq) {
            if (open_[seq] >= 0) disposition(cycle, seq, CODE_RESET, 0);
        }
        // A frame that had begun and whose entry was never reported.
        for (; begun_ < source_.begun(); ++begun_) {
            log_.entry_cycle.push_back(-1);
            log_.cycle.push_back(cycle);
            log_.frame.push_back(begun_);
            ended(begun_);
            log_.seq.push_back(0);
            log_.code.push_back(CODE_RESET);
            log_.queue.push_back(0);
        }
    }
    delivered_ = 0;
    sink_base_ = came();
    source_base_ = source_.ended();
}

bool Path::closed() const {
    const int64_t taken = came() - sink_base_;
    if (!monitored_) return source_.ended() - source_base_ == taken;
    return in_flight_ == 0 && begun_ == source_.begun() && delivered_ == taken;
}

bool Path::runaway() const {
    constexpr int64_t UNREPORTED = 4096;  // frames that may be out before their dispositions are
    const int64_t taken = came() - sink_base_;
    if (!monitored_) return taken > source_.begun() - source_base_;
    return taken > delivered_ + UNREPORTED;
}

std::string Path::state() const {
    const int64_t taken = came() - sink_base_;
    std::string text = "path " + name_ + ": ";
    if (!monitored_) {
        return text + std::to_string(source_.ended() - source_base_) + " frames went in, " + std::to_string(taken) + " came out";
    }
    text += std::to_string(source_.begun()) + " frames begun, " + std::to_string(begun_) + " entries, " +
            std::to_string(in_flight_) + " frames without a disposition, " + std::to_string(delivered_) +
            " reported delivered, " + std::to_string(taken) + " came out";
    if (in_flight_ > 0) {
        int64_t oldest = -1;
        uint32_t oldest_seq = 0;
        for (uint32_t seq = 0; seq < 65536; ++seq) {
            if (open_[seq] >= 0 && (oldest < 0 || open_[seq] < oldest)) {
                oldest = open_[seq];
                oldest_seq = seq;
            }
        }
        text += "; the oldest is frame " + std::to_string(oldest) + ", seq " + std::to_string(oldest_seq);
    }
    return text;
}

void Path::forget() {
    open_.assign(open_.size(), -1);
    in_flight_ = watched_ = 0;
    log_ = PathLog{};
}

PathLog Path::take_log() {
    PathLog log = std::move(log_);
    log_ = PathLog{};
    return log;
}

// --------------------------------------------------------------------------------------------------------- Harness

int Harness::add_source(std::string name) {
    sources_.push_back(std::make_unique<Source>(std::move(name), meta_words_, Random(seed_, 1000 + sources_.size())));
    return static_cast<int>(sources_.size()) - 1;
}

int Harness::add_sink(std::string name) {
    sinks_.push_back(std::make_unique<Sink>(std::move(name), meta_words_, report_));
    return static_cast<int>(sinks_.size()) - 1;
}

int Harness::add_path(std::string name, int source, int sink, bool monitored) {
    paths_.push_back(std::make_unique<Path>(std::move(name), *sources_.at(source), *sinks_.at(sink), monitored, report_));
    return static_cast<int>(paths_.size()) - 1;
}

void Harness::push(int source, int64_t n, const uint8_t* data, const int64_t* offset, const uint32_t* user,
                   const uint32_t* meta, const int64_t* earliest) {
    if (n <= 0) return;
    sources_.at(source)->push(n, data, offset, user, meta, earliest, cycle_);
    done_ = false;
    fired_ = false;
    moved_ = cycle_;
}

void Harness::set_origin(Origin origin) {
    waits_for_idle_ = origin.known();
    std::vector<const Sink*> exits;
    for (const auto& sink : sinks_) {
        sink->set_origin(origin);
        exits.push_back(sink.get());
    }
    for (size_t i = 0; i < paths_.size(); ++i) paths_[i]->set_direction(static_cast<int>(i), exits);
}

bool Harness::settled() const {
    for (const auto& source : sources_) {
        if (!source->empty()) return false;
    }
    for (const auto& sink : sinks_) {
        if (sink->in_frame() || sink->pending()) return false;
    }
    for (const auto& path : paths_) {
        if (!path->closed()) return false;
    }
    return true;
}

// A frame has one copy at most.
bool Harness::runaway() const {
    int64_t more = 0;
    for (const auto& path : paths_) {
        if (path->runaway()) return true;
    }
    for (const auto& sink : sinks_) more += sink->copies();
    if (more == 0) return false;
    for (const auto& source : sources_) more -= source->begun();
    return more > 0;
}

void Harness::end_cycle(bool idle) {
    idle |= !waits_for_idle_;
    int64_t activity = 0;
    bool waiting = false;
    bool more = false;
    for (const auto& source : sources_) {
        activity += source->beats();
        waiting |= source->waiting();
        more |= !source->empty();
    }
    for (const auto& sink : sinks_) activity += sink->beats();
    for (const auto& path : paths_) activity += path->activity();
    if (activity != activity_) {
        activity_ = activity;
        moved_ = cycle_;
        done_ = fired_ || (!more && idle && settled());
        if (runaway()) fire("more frames come out than went in");
        for (const auto& sink : sinks_) {
            if (sink->endless()) fire("a frame does not end");
        }
    } else if (!done_) {
        // Nothing moved in this cycle.
        if (waiting) moved_ = cycle_;
        const int64_t still = cycle_ - moved_;
        if ((idle && settled()) || (quiet_ > 0 && still >= quiet_ && !more)) {
            done_ = true;
        } else if (watchdog_ > 0 && still >= watchdog_) {
            fire("nothing moved for " + std::to_string(watchdog_) + " cycles");
        }
    }
    ++cycle_;
}

void Harness::fire(const std::string& why) {
    if (fired_) return;
    std::string what = why;
    for (const auto& source : sources_) what += "\n  " + source->state();
    for (const auto& sink : sinks_) what += "\n  " + sink->state();
    for (const auto& path : paths_) what += "\n  " + path->state();
    report_.add(cycle_, "watchdog", what);
    fired_ = true;
    done_ = true;
}

int64_t Harness::sleeps_until(int64_t never) const {
    int64_t until = never;
    bool waiting = done_;
    for (const auto& source : sources_) {
        const int64_t one = source->sleeps_until(never);
        until = std::min(until, one);
        waiting |= one >= 0 && one < never;
    }
    for (const auto& sink : sinks_) {
        if (sink->in_frame() || sink->pending()) return -1;
    }
    // What is missing otherwise is a matter of the watchdog, which counts cycles.
    return waiting ? until : -1;
}

void Harness::skip(int64_t cycles) {
    for (const auto& sink : sinks_) sink->idle_for(cycles);
    cycle_ += cycles;
    if (!done_) moved_ = cycle_ - 1;
}

void Harness::forget() {
    for (const auto& source : sources_) source->forget();
    for (const auto& sink : sinks_) sink->forget();
    for (const auto& path : paths_) path->forget();
    report_.clear();
}

void Harness::reset_cycle() {
    for (const auto& source : sources_) source->reset();
    for (const auto& sink : sinks_) sink->reset();
    for (const auto& path : paths_) path->reset(std::max<int64_t>(cycle_ - 1, 0));
    cycle_ = 0;
    moved_ = 0;
    done_ = settled();
}

}  // namespace nicloop
