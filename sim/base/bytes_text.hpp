// SPDX-License-Identifier: Apache-2.0
// "58.8 MiB": how messages and reports write a number of bytes.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace l2lens {

inline std::string bytes_text(double bytes) {
    static constexpr std::array<const char*, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < kUnits.size()) {
        bytes /= 1024;
        ++unit;
    }
    std::array<char, 48> text{};
    const bool whole = bytes == static_cast<double>(static_cast<long long>(bytes));
    std::snprintf(text.data(), text.size(), whole ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
    return text.data();
}

}  // namespace l2lens
