// When a frame may start at a line rate: exact, in whole fractions of a cycle.
//
// The wire spends `length + 24` bytes on a frame (preamble 8, FCS 4, gap 12). At num/den Gb/s and a cycle of `period_ps`
// that is (length + 24) * 8000 * den / (num * period_ps) cycles. Time is counted in units of 1 / (num * period_ps / g) of a
// cycle, g being the common divisor, so nothing is ever rounded: a frame starts in the first cycle that isn't before
// its time, and the next frame's time doesn't depend on that rounding, nor on a device that held this one up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace nicloop {

class Pacing {
public:
    static constexpr int64_t OVERHEAD = 24;  // bytes that the wire adds to a frame

    // num 0: no pacing, frames start as soon as they can.
    void set_rate(int64_t num, int64_t den, int64_t period_ps) {
        if (num == 0) {
            unit_ = 1;
            per_byte_ = 0;
        } else {
            const int64_t divisor = std::gcd(num * period_ps, 8000 * den);
            unit_ = num * period_ps / divisor;
            per_byte_ = 8000 * den / divisor;
        }
        reset();
    }

    // First cycle in which the frame that comes next may be on the wire, if it is there from cycle `arrival` on.
    int64_t start_cycle(int64_t arrival) const { return std::max(arrival, part_ > 0 ? cycle_ + 1 : cycle_); }

    // That frame, `length` bytes long, has its place; the one after it follows behind.
    void take(int64_t arrival, int64_t length) {
        if (arrival > cycle_) {
            cycle_ = arrival;
            part_ = 0;
        }
        part_ += (length + OVERHEAD) * per_byte_;
        cycle_ += part_ / unit_;
        part_ %= unit_;
    }

    void reset() { cycle_ = part_ = 0; }

    template <typename Archive>
    void archive(Archive& members) {
        members(unit_, per_byte_, cycle_, part_);
    }

private:
    int64_t unit_ = 1;      // units in a cycle
    int64_t per_byte_ = 0;  // units that a byte takes
    // Earliest start of the next frame: whole cycles, and less than one in units.
    int64_t cycle_ = 0, part_ = 0;
};

}  // namespace nicloop
