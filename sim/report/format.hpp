// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: three significant digits and a unit. Machine-readable outputs do not use
// these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace l2lens {

std::string format_count(double value);  // 411 M, 53.6 M, 1.23 G, 512
std::string format_bytes(double bytes);  // 1.71 GB: powers of ten, as bandwidths and DRAM traffic are quoted
std::string format_binary_bytes(double bytes);      // 29.4 MiB: powers of two, as capacities are quoted
std::string format_time(double ns);                 // 1.52 ms
std::string format_percent(double percent);         // 74.0 %
std::string format_signed_percent(double percent);  // +0.4 %, +148 %, -3.0 %
std::string format_plain(double value);             // 12, 12.5, 0.07: no unit, no trailing zeros

// "1 tile", "132 tiles": the number whole, and its word in the singular or with an s.
std::string counted(std::int64_t number, std::string_view word);

// The number as CSV and JSON have it: shortest text that reads back the same.
std::string format_exact(double value);

// One line for a terminal: control characters become spaces, what is longer than `width` ends in "...".
std::string one_line(std::string_view text, std::size_t width);

// Columns a terminal needs for UTF-8 text (code points; no wide characters are expected in names).
std::size_t display_width(std::string_view text);

}  // namespace l2lens
