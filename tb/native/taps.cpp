#include "taps.hpp"

namespace nicloop {

namespace {

// The lowest of the bits, which is cleared.
inline int pop_low(uint32_t& bits) {
    const int at = __builtin_ctz(bits);
    bits &= bits - 1;
    return at;
}

inline int pop_high(uint32_t& bits) {
    const int at = 31 - __builtin_clz(bits);
    bits &= ~(uint32_t{1} << at);
    return at;
}

}  // namespace

void Taps::begin(int64_t most) {
    log_ = TapLog();
    open_ = waiting_ = stalled_ = 0;
    most_ = connected() ? most : 0;
}

void Taps::end() {
    for (uint32_t left = open_; left != 0;) note(pop_low(left), -1);
    open_ = waiting_ = 0;
    most_ = 0;
}

void Taps::step(int64_t cycle) {
    const uint32_t valid = *pins_->valid;
    const uint32_t moved = valid & *pins_->ready;
    const uint32_t stalled = valid & ~moved;
    if (const uint32_t begun = valid & ~open_) show(begun, cycle);
    if (stalled != 0) blame(stalled);
    stalled_ = stalled;
    for (uint32_t taken = moved & waiting_; taken != 0;) frame_[pop_low(taken)].first = cycle;
    waiting_ &= ~moved;
    const uint32_t ended = moved & *pins_->last;
    for (uint32_t left = ended; left != 0;) note(pop_low(left), cycle);
    open_ &= ~ended;
}

// First beats stand at these streams.
void Taps::show(uint32_t streams, int64_t cycle) {
    open_ |= streams;
    waiting_ |= streams;
    while (streams != 0) {
        const int at = pop_low(streams);
        Frame& frame = frame_[at];
        frame.offered = cycle;
        frame.first = -1;
        frame.seq = static_cast<int32_t>(pins_->seq[at / 2] >> 16 * (at % 2) & 0xFFFF);
        frame.culprits = 0;
    }
}

// From the exits on, so that what stalls further on is known first; where that isn't stalled now its last culprit stands.
void Taps::blame(uint32_t stalled) {
    const uint32_t held = stalled | stalled_;
    while (stalled != 0) {
        const int at = pop_high(stalled);
        const bool passed_on = !(*pins_->exits >> at & 1) && (held >> (at + 1) & 1);
        const uint8_t culprit = passed_on ? culprit_[at + 1] : static_cast<uint8_t>(at);
        culprit_[at] = culprit;
        Frame& frame = frame_[at];
        const uint32_t bit = uint32_t{1} << culprit;
        if (!(frame.culprits & bit)) frame.before[culprit] = frame.all[culprit] = 0;
        frame.culprits |= bit;
        frame.before[culprit] += waiting_ >> at & 1;
        ++frame.all[culprit];
    }
}

void Taps::note(int stream, int64_t last) {
    const auto at = static_cast<int64_t>(log_.stream.size());
    if (at >= most_) return;
    const Frame& frame = frame_[stream];
    log_.stream.push_back(stream);
    log_.seq.push_back(frame.seq);
    log_.offered.push_back(frame.offered);
    log_.first.push_back(frame.first);
    log_.last.push_back(last);
    for (uint32_t left = frame.culprits; left != 0;) {
        const int culprit = pop_low(left);
        log_.stalled.push_back(at);
        log_.culprit.push_back(culprit);
        log_.before.push_back(frame.before[culprit]);
        log_.all.push_back(frame.all[culprit]);
    }
}

}  // namespace nicloop
