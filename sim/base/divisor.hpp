// SPDX-License-Identifier: Apache-2.0
// Division by a number known at run time only, the same for many: two multiplications for an instruction
// that takes four times as long. Exact for all numbers of 32 bits: Lemire, Kaser, Kurz, "Faster remainder by
// direct computation" (2019), theorem 1.
#pragma once

#include <cstdint>

namespace l2lens {

class Divisor {
public:
    explicit Divisor(std::uint32_t divisor) : divisor_(divisor), inverse_(~std::uint64_t{0} / divisor + 1) {}

    std::uint32_t value() const { return divisor_; }
    std::uint32_t quotient(std::uint32_t n) const {
        if (divisor_ == 1) return n;
        return static_cast<std::uint32_t>(static_cast<unsigned __int128>(inverse_) * n >> 64);
    }
    std::uint32_t remainder(std::uint32_t n) const { return n - quotient(n) * divisor_; }

private:
    std::uint32_t divisor_;
    std::uint64_t inverse_;  // 2^64 over the divisor, rounded up
};

}  // namespace l2lens
