// How a device's idle time is skipped.

#include <algorithm>

#include "device.hpp"

namespace nicloop {

Device::Time Device::now() const {
    if (pins().time.empty()) return 0;
    const TimePins& time = pins().time.front();
    return static_cast<Time>(*time.now) << 32 | *time.fraction;
}

// Nothing can happen in the cycle that comes, whatever came before. A device that isn't ready clears its tables, whatever
// its `idle` says.
bool Device::sleeps() const {
    if (pins().time.empty() || !*pins().time.front().idle || !ready() || axil_.busy()) return false;
    if (*pins().clocks.front().rst || next_rst_) return false;
    for (const XgmiiInPort& port : wires_in_) {
        if (port.encoder.in_frame()) return false;
    }
    for (const XgmiiOutPort& port : wires_out_) {
        if (port.decoder.in_frame()) return false;
    }
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
//
// What follows the first clock's time in another clock needs some cycles for that, as do counts that cross: with several
// clocks the first QUIET cycles pass as they are, and so do the last. A whole number of WHEELs passes, in which whatever is
// done every few cycles comes round.
void Device::skip(int64_t most) {
    constexpr int64_t QUIET = 128, WHEEL = 64;
    constexpr int64_t MOST = int64_t{1} << 40;  // cycles, whose fs fit 64 bits
    const bool slept = slept_;
    slept_ = sleeps();
    asleep_ = slept_ ? asleep_ + 1 : 0;
    if (!slept_) return;
    const Time before = slept_at_, begin = now();
    slept_at_ = begin;
    if (!slept || (several() && asleep_ < QUIET)) return;
    int64_t cycles = skippable(most, begin - before);
    if (several()) cycles = (std::min(cycles, MOST) - QUIET) / WHEEL * WHEEL + 1;
    if (cycles < 2) return;
    const TimePins& time = pins().time.front();
    const Time target = begin + (begin - before) * static_cast<Time>(cycles);
    *time.advance = target > begin;
    *time.target = static_cast<uint64_t>(target >> 32);
    *time.target_fraction = static_cast<uint32_t>(target);
    harness_->skip(cycles - 1);
    cycles_ += cycles - 1;
    skipped_ += cycles - 1;
    if (several()) skip_clocks(cycles - 1);
    pass();
    *time.advance = 0;
    slept_ = false;
    asleep_ = 0;
}

}  // namespace nicloop
