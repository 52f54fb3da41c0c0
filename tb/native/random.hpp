// Random numbers of the harness: one 64-bit seed, every stream its own generator, the same on every machine.
//
// splitmix64 spreads the seed, xoshiro256++ (Blackman and Vigna) makes the numbers.
#pragma once

#include <array>
#include <cstdint>

namespace nicloop {

class Random {
public:
    // `stream` separates the generators that grow from one seed.
    explicit Random(uint64_t seed = 0, uint64_t stream = 0) {
        uint64_t x = seed + stream * 0xD1342543DE82EF95ull;
        for (uint64_t& word : state_) word = splitmix(x);
    }

    uint64_t next() {
        const uint64_t result = rotl(state_[0] + state_[3], 23) + state_[0];
        const uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotl(state_[3], 45);
        return result;
    }

    // True once in 2^32 / threshold draws; a threshold of 2^32 is always true.
    bool chance(uint64_t threshold) { return (next() >> 32) < threshold; }

    template <typename Archive>
    void archive(Archive& members) {
        members(state_);
    }

private:
    static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

    static uint64_t splitmix(uint64_t& x) {
        uint64_t z = (x += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }

    std::array<uint64_t, 4> state_;
};

}  // namespace nicloop
