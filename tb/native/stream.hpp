// The two ends of an AXI4-Stream of 128 bits that carries frames: Source offers them to a device, Sink takes them from it.
//
// Both are stepped once a cycle, at its rising edge, with what the device shows in the cycle that ends there; what they
// answer is on the stream in the next one. Nothing here knows of a simulator.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "pacing.hpp"
#include "pause.hpp"
#include "random.hpp"

namespace nicloop {

constexpr int BEAT_BYTES = 16;
constexpr uint32_t FULL_KEEP = 0xFFFF;
constexpr uint32_t USER_MASK = 0x3FF;
constexpr int64_t FRAME_BEATS_MAX = 65536;  // no device here makes a frame of 1 MiB
constexpr int META_WORDS_MAX = 52;  // 1664 bits, the budget of models/meta.py

// What stands on a stream beside tvalid and tready. `meta` counts on a first beat, `user` on a last one.
struct Beat {
    std::array<uint32_t, 4> data{};
    std::array<uint32_t, META_WORDS_MAX> meta{};
    uint32_t keep = 0;
    uint32_t user = 0;
    bool last = false;

    template <typename Archive>
    void archive(Archive& members) {
        members(data, meta, keep, user, last);
    }
};

// Messages of a harness. Only the first hundred are kept; all are counted.
class Report {
public:
    void add(int64_t cycle, const std::string& where, const std::string& what);
    int64_t count() const { return count_; }
    const std::string& text() const { return text_; }
    void clear() {
        count_ = 0;
        text_.clear();
    }

private:
    static constexpr int64_t KEPT = 100;
    int64_t count_ = 0;
    std::string text_;
};

// Where the metadata word says whose a frame out is: the lowest bits of its number, of the direction in which it came in
// (1 bit) and of the mark of a copy (1 bit). direction -1: it doesn't say.
struct Origin {
    int seq = 0;
    int direction = -1;
    int copy = -1;

    bool known() const { return direction >= 0; }
};

// What became of the frames of a source, a column each: cycles in which the first beat was first offered, the first and
// the last one taken; -1 in `last` for a frame that a reset cut.
struct SourceLog {
    std::vector<int64_t> valid, first, last;
};

// Frames that a sink took: bytes of frame i are data[offset[i]] to data[offset[i + 1]].
struct SinkLog {
    std::vector<uint8_t> data;
    std::vector<int64_t> offset{0};
    std::vector<uint32_t> user, meta;
    std::vector<int64_t> valid, first, last;
};

class Source {
public:
    Source(std::string name, int meta_words, Random noise) : name_(std::move(name)), meta_words_(meta_words), noise_(noise) {}

    // Queue n frames. data, offset[n + 1]: the bytes. user[n], meta[n * meta_words], earliest[n] (cycle) may be null: 0.
    // `cycle` is the number of the rising edge that comes next.
    void push(int64_t n, const uint8_t* data, const int64_t* offset, const uint32_t* user, const uint32_t* meta,
              const int64_t* earliest, int64_t cycle);

    void set_gap(Pause gap, bool within) {
        gap_ = gap;
        within_ = within;
    }
    Pacing& pacing() { return pacing_; }

    // Number of the edge that comes next, for a source whose clock isn't the harness's.
    void set_cycle(int64_t cycle) { cycle_ = cycle; }

    // A rising edge at which the source may change what it shows: nothing is offered, or `ready` is 1. Need not be called
    // while an offered beat waits.
    void edge(int64_t cycle, bool ready);

    // In place of edges, for a wire that takes whole frames at its own pace: whether one may begin in this cycle; the frame,
    // which begins; its end. A frame that a reset cut has none.
    struct Whole {
        const uint8_t* data;
        int64_t length;
        uint32_t user;
    };
    bool due(int64_t cycle);
    Whole begin(int64_t cycle);
    void end(int64_t cycle);

    // The device is in reset at this edge. The frame under way is lost; one that wasn't begun stays in the queue.
    void reset();

    bool valid() const { return valid_; }
    bool first() const { return at_ == 0; }
    bool second() const { return at_ == BEAT_BYTES; }
    const Beat& beat() const { return beat_; }

    const std::string& name() const { return name_; }
    bool empty() const { return queue_.empty() && !valid_; }
    bool waiting() const { return waiting_; }           // for the time of the next frame
    int64_t pushed() const { return pushed_; }          // frames ever queued
    int64_t begun() const { return begun_; }            // frames whose first beat was taken
    int64_t ended() const { return ended_; }            // frames whose last beat was taken, or that a reset cut
    int64_t beats() const { return beats_; }            // beats taken
    int64_t stalls() const { return stalls_; }          // cycles in which a beat waited for tready
    std::string state() const;                          // in words, for the watchdog
    SourceLog take_log();

    // Nothing is offered, and nothing will be before the edge of some cycle: its number, or `never` with an empty queue.
    // -1: a beat is offered, or the frame under way goes on.
    int64_t sleeps_until(int64_t never) const;
    // No frame is queued or under way.
    void forget();
    // What must outlive a frame, for a moment without one.
    template <typename Archive>
    void archive(Archive& members) {
        members(noise_, gap_, within_, pacing_, beat_, cycle_, offered_, valid_cycle_, pushed_, begun_, ended_, beats_, stalls_);
    }

private:
    struct Block {
        std::vector<uint8_t> data;
        std::vector<int64_t> offset, earliest;
        std::vector<uint32_t> user, meta;
        int64_t arrival = 0;
        size_t next = 0;  // frame that is under way or comes next
    };

    const Block& block() const { return queue_.front(); }
    int64_t length() const { return block().offset[block().next + 1] - block().offset[block().next]; }
    int64_t arrival() const;
    void next_frame();
    void fill();

    std::string name_;
    int meta_words_;
    Random noise_;
    Pause gap_;
    bool within_ = true;
    Pacing pacing_;
    std::deque<Block> queue_;
    Beat beat_;
    bool valid_ = false;
    bool waiting_ = false;
    int64_t at_ = 0;             // byte of the frame at which the offered (or next) beat starts
    int64_t cycle_ = -1;         // of its own clock, -1: the harness's
    int64_t offered_ = 0;        // first cycle of the offered beat
    int64_t valid_cycle_ = -1;   // of the frame's first beat
    int64_t pushed_ = 0, begun_ = 0, ended_ = 0, beats_ = 0, stalls_ = 0;
    SourceLog log_;
};

class Sink {
public:
    Sink(std::string name, int meta_words, Report& report) : name_(std::move(name)), meta_words_(meta_words), report_(report) {}

    void set_pause(Pause pause);
    // With it on, a frame that has begun must not show a cycle without tvalid before its last beat.
    void set_gapless(bool on) { gapless_ = on; }
    void set_origin(Origin origin) { origin_ = origin; }

    // A rising edge at which the device offers a beat; returns whether the sink took it.
    bool beat(int64_t cycle, const uint32_t* data, uint32_t keep, uint32_t user, bool last, const uint32_t* meta);
    // A rising edge at which it offers none.
    void idle(int64_t cycle);

    // In place of edges, for a wire: a frame that came, with the cycles of its start and end; `known`: whose it is.
    void whole(const uint8_t* data, size_t size, uint32_t user, uint16_t seq, bool direction, bool known, int64_t first,
               int64_t last);
    void complain(int64_t cycle, const std::string& what) const;

    void reset();

    // tready of the next cycle is ready() && !(hold_last() && tvalid && tlast).
    bool ready() const { return ready_; }
    bool hold_last() const { return hold_last_; }

    const std::string& name() const { return name_; }
    bool in_frame() const { return in_frame_; }
    bool pending() const { return pending_; }
    bool endless() const { return frame_beats_ > FRAME_BEATS_MAX; }
    int64_t frames() const { return frames_; }          // frames taken whole
    // Of them those of a direction (-1: all), and copies, which are of none; with an origin.
    int64_t frames_of(int direction) const { return direction < 0 ? frames_ : kinds_[static_cast<size_t>(direction)]; }
    int64_t copies() const { return kinds_[COPY]; }
    // The metadata word of a stream that has none, but whose frame it is beside it.
    const uint32_t* word_of(uint16_t seq, bool direction);
    int64_t beats() const { return beats_; }
    int64_t stalls() const { return stalls_; }          // cycles in which a beat waited for tready
    std::string state() const;
    SinkLog take_log();

    // As `cycles` edges at which the device offers no beat, between frames.
    void idle_for(int64_t cycles);
    void forget();
    template <typename Archive>
    void archive(Archive& members) {
        members(pause_, gapless_, ready_, hold_last_, stall_, valid_cycle_, first_cycle_, last_beat_, frames_, kinds_, beats_,
                stalls_);
    }

private:
    static constexpr size_t COPY = 2;
    size_t kind_of(const uint32_t* meta) const;
    void check_stable(int64_t cycle, const uint32_t* data, uint32_t keep, uint32_t user, bool last, const uint32_t* meta);
    void check_keep(int64_t cycle, uint32_t keep, bool last) const;
    void decide(bool valid, bool taken, bool last);

    std::string name_;
    int meta_words_;
    Report& report_;
    Pause pause_;
    bool gapless_ = false;
    Origin origin_;
    Beat word_;                  // of word_of()
    bool ready_ = false;
    bool hold_last_ = false;
    int64_t stall_ = -1;         // STALL_LAST: cycles left; -1: none begun
    bool in_frame_ = false;
    bool pending_ = false;       // a beat was offered and not taken
    Beat held_;                  // that beat
    int64_t frame_beats_ = 0;
    int64_t valid_cycle_ = -1, first_cycle_ = -1, last_beat_ = -1;
    int64_t frames_ = 0, beats_ = 0, stalls_ = 0;
    std::array<int64_t, 3> kinds_{};  // frames by direction, and copies
    size_t kind_ = 0;                 // of the frame under way
    SinkLog log_;
};

}  // namespace nicloop
