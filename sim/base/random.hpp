// SPDX-License-Identifier: Apache-2.0
// Small deterministic random numbers: the same on every platform and any number of threads, since each unit
// of the model owns its stream.
#pragma once

#include <cstdint>

namespace l2lens {

// Finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a bijective 64-bit mixer.
constexpr std::uint64_t mix64(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// xorshift64* (Vigna, 2016), seeded through mix64 so that neighbouring seeds give unrelated streams.
class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::uint64_t stream) : state_(mix64(seed ^ mix64(stream)) | 1) {}

    std::uint64_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1Dull;
    }
    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    // Uniform in [0, n), n > 0. Multiply-shift: bias below n / 2^32.
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }

private:
    std::uint64_t state_;
};

}  // namespace l2lens
