// Generators of back-pressure and of gaps: the kinds, names and manners of tb/lib/pause.py.
//
// A generator is asked once a cycle whether a beat may pass. The blind ones ignore the stream. The two that react are for
// sinks: AFTER_VALID is ready only in the cycle after a beat was first seen; STALL_LAST is ready for everything, but for
// 1 to 3 cycles not when a frame's last beat appears.
#pragma once

#include <cstdint>

#include "random.hpp"

namespace nicloop {

enum class PauseKind : int32_t {
    NONE = 0,         // never pauses
    RANDOM = 1,       // passes with probability a / 2^32, each cycle on its own
    BURSTY = 2,       // runs of 1 to a cycles that pass and of 1 to b that don't
    ONE_IN = 3,       // passes in exactly one cycle of a, from a random phase
    GAP = 4,          // alternates, from a random phase
    AFTER_VALID = 5,  // reacts
    STALL_LAST = 6,   // reacts; a: most cycles of a stall
    STORM = 7,        // changes its manners every 8 to 64 cycles: all blind kinds in turn
    STALL = 8,        // passes nothing in the first a cycles, then everything; not of tb/lib/pause.py
};

class Pause {
public:
    Pause() = default;
    Pause(PauseKind kind, int64_t a, int64_t b, Random random) : random_(random), kind_(kind) {
        if (kind == PauseKind::STORM) {
            change();
        } else {
            begin(kind, a, b);
        }
    }

    PauseKind kind() const { return kind_; }

    // A blind kind's decision about the next cycle.
    bool pass() {
        if (kind_ == PauseKind::NONE) return true;
        if (kind_ == PauseKind::STORM && left_-- == 0) {
            change();
            --left_;
        }
        switch (manner_) {
            case PauseKind::RANDOM:
                return random_.chance(static_cast<uint64_t>(a_));
            case PauseKind::BURSTY:
                if (run_ == 0) {
                    passing_ = !passing_;
                    run_ = pick(1, passing_ ? a_ : b_);
                }
                --run_;
                return passing_;
            case PauseKind::ONE_IN:
                if (++phase_ >= a_) phase_ = 0;
                return phase_ == 0;
            case PauseKind::GAP:
                phase_ ^= 1;
                return phase_ == 0;
            case PauseKind::STALL:
                if (run_ >= a_) return true;
                ++run_;
                return false;
            default:
                return true;
        }
    }

    // A number from low to high, each as likely as the other (to within 2^-32).
    int64_t pick(int64_t low, int64_t high) {
        return low + static_cast<int64_t>(((random_.next() >> 32) * static_cast<uint64_t>(high - low + 1)) >> 32);
    }

    int64_t most() const { return a_; }

    template <typename Archive>
    void archive(Archive& members) {
        members(random_, kind_, manner_, a_, b_, left_, run_, phase_, passing_);
    }

private:
    void begin(PauseKind manner, int64_t a, int64_t b) {
        manner_ = manner;
        a_ = a;
        b_ = b;
        run_ = 0;
        passing_ = false;
        phase_ = 0;
        if (manner == PauseKind::ONE_IN) phase_ = pick(0, a - 1);
        if (manner == PauseKind::GAP) phase_ = pick(0, 1);
    }

    void change() {
        left_ = pick(8, 64);
        switch (pick(0, 4)) {
            case 0: begin(PauseKind::NONE, 0, 0); break;
            case 1: begin(PauseKind::RANDOM, (int64_t{6} << 32) / 10, 0); break;
            case 2: begin(PauseKind::BURSTY, 24, 24); break;
            case 3: begin(PauseKind::ONE_IN, 7, 0); break;
            default: begin(PauseKind::GAP, 0, 0); break;
        }
    }

    Random random_;
    PauseKind kind_ = PauseKind::NONE;
    PauseKind manner_ = PauseKind::NONE;  // of STORM: the kind that is on
    int64_t a_ = 0;
    int64_t b_ = 0;
    int64_t left_ = 0;   // cycles until STORM changes
    int64_t run_ = 0;    // cycles left of a run
    int64_t phase_ = 0;
    bool passing_ = false;
};

}  // namespace nicloop
