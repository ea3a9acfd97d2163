// SPDX-License-Identifier: Apache-2.0
// Division by a number that is known only at run time but then used over and over: by multiplication with its
// reciprocal, where the processor's own division takes several times as long.
#pragma once

#include <cassert>
#include <cstdint>

namespace l2lens {

// Exact for every 32-bit number (Lemire, Kaser and Kurz, Faster remainder by direct computation, 2019, with
// 64 bits of fraction).
class Divisor {
public:
    explicit Divisor(std::uint32_t divisor)
        : divisor_(divisor), reciprocal_(~std::uint64_t{0} / divisor + 1) {}

    std::uint32_t value() const { return divisor_; }
    // By 2 or more: the reciprocal of 1 has no place in 64 bits.
    std::uint32_t quotient(std::uint32_t n) const {
        assert(divisor_ > 1);
        return high_half(reciprocal_, n);
    }
    std::uint32_t remainder(std::uint32_t n) const { return high_half(reciprocal_ * n, divisor_); }

private:
    __extension__ using Wide = unsigned __int128;
    static std::uint32_t high_half(std::uint64_t a, std::uint32_t b) {
        return static_cast<std::uint32_t>(static_cast<Wide>(a) * b >> 64);
    }

    std::uint32_t divisor_;
    std::uint64_t reciprocal_;  // 2^64 over the divisor, rounded up
};

}  // namespace l2lens
