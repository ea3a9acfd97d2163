// SPDX-License-Identifier: Apache-2.0
// A few parities of a number at once, as hashes of addresses are made of: three look-ups.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

class Parities {
public:
    Parities() = default;
    // Bit i of the result is the parity of what the number and masks[i] have in common; at most eight masks.
    explicit Parities(const std::vector<std::uint32_t>& masks) {
        for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
            for (std::uint32_t value = 0; value <= kPieceMask; ++value) {
                const std::uint64_t number = std::uint64_t{value} << (piece * kPieceBits);
                for (std::size_t i = 0; i < masks.size(); ++i) {
                    const auto bit = static_cast<unsigned>(__builtin_parityll(number & masks[i]));
                    pieces_[piece][value] |= static_cast<std::uint8_t>(bit << i);
                }
            }
        }
    }

    std::uint32_t of(std::uint32_t number) const {
        return static_cast<std::uint32_t>(pieces_[0][number & kPieceMask] ^
                                          pieces_[1][number >> kPieceBits & kPieceMask] ^
                                          pieces_[2][number >> 2 * kPieceBits]);
    }

private:
    static constexpr int kPieceBits = 11;
    static constexpr std::uint32_t kPieceMask = (1u << kPieceBits) - 1;
    std::array<std::array<std::uint8_t, 1u << kPieceBits>, 3> pieces_{};
};

// Masks over addresses as masks over line numbers.
inline std::vector<std::uint32_t> over_lines(const std::vector<std::uint64_t>& masks) {
    std::vector<std::uint32_t> lines;
    for (const std::uint64_t mask : masks) lines.push_back(static_cast<std::uint32_t>(mask >> kLineShift));
    return lines;
}

}  // namespace l2lens
