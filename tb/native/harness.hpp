// A harness: the sources and sinks around one device, the paths of frames through it, a watchdog.
//
// A path leads from a source to a sink. A monitored path has a device that reports each frame's entry and each frame's
// end (disposition); there every frame is followed from one to the other. On a path that isn't monitored, every frame
// that goes in is expected to come out.
//
// Where the metadata of frames out says whose they are (set_origin), a path's frames are those of its direction, at
// whatever sink: path 0 is direction 0, path 1 direction 1. Copies are of no path; whether one is still to come, only the
// device can say, so a play is done once it is idle.
//
// Cycle n is the one that ends with rising edge n; edge 0 is the first one with `rst` at 0. For each edge, in any order:
// one step of each source, sink and path; then end_cycle() or, when `rst` was 1, reset_cycle().
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "stream.hpp"

namespace nicloop {

constexpr uint32_t CODE_DELIVERED = 1;  // models/meta.py, Code
constexpr uint32_t CODE_RESET = 20;

struct PathLog {
    std::vector<int64_t> entry_cycle;                      // a row for each frame that entered, in order
    std::vector<int64_t> cycle, frame;                     // a row for each disposition; frame: its number on the path
    std::vector<uint32_t> seq, code, queue;
};

class Path {
public:
    Path(std::string name, const Source& source, const Sink& sink, bool monitored, Report& report)
        : name_(std::move(name)), source_(source), exits_{&sink}, monitored_(monitored), report_(report) {
        open_.assign(monitored ? 65536 : 0, -1);
    }

    void entry(int64_t cycle, uint32_t seq);
    void disposition(int64_t cycle, uint32_t seq, uint32_t code, uint32_t queue);
    // What the device held is gone: each frame of which it had not reported the end gets the code RESET.
    void reset(int64_t cycle);

    // Everything that began is accounted for.
    bool closed() const;
    // More came out than can have gone in: the device makes frames without end.
    bool runaway() const;
    int64_t activity() const { return entries_ + dispositions_; }
    std::string state() const;
    PathLog take_log();

    const Source& source() const { return source_; }
    // Its frames are those of a direction, wherever they leave.
    void set_direction(int direction, std::vector<const Sink*> exits) {
        direction_ = direction;
        exits_ = std::move(exits);
    }
    // Follow the frames `first` to `last` of the source; watched() is how many of them have not ended.
    void watch(int64_t first, int64_t last) {
        watch_first_ = first;
        watch_last_ = last;
        watched_ = last - first + 1;
    }
    int64_t watched() const { return watched_; }
    void forget();
    template <typename Archive>
    void archive(Archive& members) {
        members(begun_, entries_, dispositions_, delivered_, sink_base_, source_base_);
    }

private:
    int64_t came() const {
        int64_t frames = 0;
        for (const Sink* sink : exits_) frames += sink->frames_of(direction_);
        return frames;
    }
    void ended(int64_t frame) { watched_ -= frame >= watch_first_ && frame <= watch_last_; }

    std::string name_;
    const Source& source_;
    std::vector<const Sink*> exits_;
    int direction_ = -1;
    bool monitored_;
    Report& report_;
    std::vector<int64_t> open_;   // frame by seq, -1: none
    int64_t begun_ = 0;           // frames of the source that entered or were lost in a reset
    int64_t entries_ = 0, dispositions_ = 0, in_flight_ = 0;
    int64_t delivered_ = 0;       // frames that must have come out
    int64_t sink_base_ = 0;       // frames that had come out at the last reset
    int64_t source_base_ = 0;
    int64_t watch_first_ = 0, watch_last_ = -1, watched_ = 0;
    PathLog log_;
};

class Harness {
public:
    Harness(uint64_t seed, int meta_words) : seed_(seed), meta_words_(meta_words) {}

    int add_source(std::string name);
    int add_sink(std::string name);
    int add_path(std::string name, int source, int sink, bool monitored);

    Source& source(int i) { return *sources_.at(i); }
    Sink& sink(int i) { return *sinks_.at(i); }
    Path& path(int i) { return *paths_.at(i); }
    int sources() const { return static_cast<int>(sources_.size()); }
    int sinks() const { return static_cast<int>(sinks_.size()); }
    int paths() const { return static_cast<int>(paths_.size()); }
    int meta_words() const { return meta_words_; }
    Report& report() { return report_; }

    // Sinks see whose frames they take; nothing is done before the device is idle.
    void set_origin(Origin origin);

    // A generator for a stream: each call with the same arguments gives the same one.
    Pause pause(PauseKind kind, int64_t a, int64_t b, uint64_t stream) const { return Pause(kind, a, b, Random(seed_, stream)); }

    void push(int source, int64_t n, const uint8_t* data, const int64_t* offset, const uint32_t* user, const uint32_t* meta,
              const int64_t* earliest);

    // Cycles in which nothing moves until the watchdog fires, and the harness says what is stuck. 0: never. It fires too
    // when frames, or one frame, come out without end.
    void set_watchdog(int64_t cycles) { watchdog_ = cycles; }
    // Cycles in which nothing moves after which all is taken to be done, accounted for or not (for a device that drops
    // frames without a word). 0: never.
    void set_quiet(int64_t cycles) { quiet_ = cycles; }

    int64_t cycle() const { return cycle_; }
    // Everything that was pushed is accounted for and the sinks are between frames (and, with an origin, the device was
    // idle since), or the watchdog fired.
    bool done() const { return done_; }
    bool fired() const { return fired_; }

    // idle: whether the device is, behind the edge.
    void end_cycle(bool idle);
    void reset_cycle();

    // Everything that was pushed is accounted for, and no stream is in a frame.
    bool settled() const;
    // Last edge before which no source offers anything, so that the cycles up to it may be skipped; -1: there is none.
    int64_t sleeps_until(int64_t never) const;
    // As `cycles` cycles in which nothing moves and nothing is offered.
    void skip(int64_t cycles);

    // For a moment in which the harness is settled and all results were popped. Frames that are queued or under way when
    // it is read are gone; the messages too.
    void forget();
    template <typename Archive>
    void archive(Archive& members) {
        for (const auto& source : sources_) source->archive(members);
        for (const auto& sink : sinks_) sink->archive(members);
        for (const auto& path : paths_) path->archive(members);
        members(seed_, watchdog_, quiet_, cycle_, activity_, moved_, done_, fired_);
    }

private:
    bool runaway() const;
    void fire(const std::string& why);

    uint64_t seed_;
    int meta_words_;
    Report report_;
    bool waits_for_idle_ = false;
    std::vector<std::unique_ptr<Source>> sources_;
    std::vector<std::unique_ptr<Sink>> sinks_;
    std::vector<std::unique_ptr<Path>> paths_;
    int64_t watchdog_ = 20000, quiet_ = 0;
    int64_t cycle_ = 0;
    int64_t activity_ = 0, moved_ = 0;  // sum of all that ever moved, and the cycle in which it last grew
    bool done_ = true, fired_ = false;
};

}  // namespace nicloop
