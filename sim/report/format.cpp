// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace l2lens {
namespace {

// Three significant digits; above that, whole numbers.
std::string significant(double value) {
    const double size = std::abs(value);
    if (size < 0.005) value = 0;  // "-0.00" says nothing
    // The bounds are where rounding would add a digit.
    if (size >= 99.95) return fmt::format("{:.0f}", value);
    if (size >= 9.995) return fmt::format("{:.1f}", value);
    return fmt::format("{:.2f}", value);
}

struct Scale {
    double factor;
    const char* unit;
};

// The largest scale that leaves at least one digit before the point.
std::string scaled(double value, std::span<const Scale> scales) {
    for (const Scale& scale : scales) {
        if (std::abs(value) >= 0.9995 * scale.factor) {
            return significant(value / scale.factor) + " " + scale.unit;
        }
    }
    return format_plain(value) + " " + scales.back().unit;
}

std::string without_trailing_zeros(std::string text) {
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

bool is_continuation_byte(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

std::string format_count(double value) {
    static constexpr std::array scales{Scale{1e12, "T"}, Scale{1e9, "G"}, Scale{1e6, "M"}, Scale{1e3, "k"}};
    if (std::abs(value) < 999.5) return fmt::format("{:.0f}", value);
    return scaled(value, scales);
}

std::string format_bytes(double bytes) {
    static constexpr std::array scales{Scale{1e12, "TB"}, Scale{1e9, "GB"}, Scale{1e6, "MB"},
                                       Scale{1e3, "kB"}, Scale{1, "B"}};
    return scaled(bytes, scales);
}

std::string format_binary_bytes(double bytes) {
    static constexpr std::array scales{Scale{0x1p40, "TiB"}, Scale{0x1p30, "GiB"}, Scale{0x1p20, "MiB"},
                                       Scale{0x1p10, "KiB"}, Scale{1, "B"}};
    const std::string text = scaled(bytes, scales);
    const std::size_t space = text.find(' ');
    return without_trailing_zeros(text.substr(0, space)) + text.substr(space);
}

std::string format_time(double ns) {
    static constexpr std::array scales{Scale{1e9, "s"}, Scale{1e6, "ms"}, Scale{1e3, "us"}, Scale{1, "ns"}};
    return scaled(ns, scales);
}

std::string format_percent(double percent) {
    return fmt::format("{:.1f} %", percent);
}

std::string format_signed_percent(double percent) {
    return std::abs(percent) < 9.95 ? fmt::format("{:+.1f} %", percent) : fmt::format("{:+.0f} %", percent);
}

std::string format_plain(double value) {
    return without_trailing_zeros(significant(value));
}

std::string counted(std::int64_t number, std::string_view word) {
    return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
}

std::string format_exact(double value) {
    // Whole numbers without an exponent, as the hardware's counters are written.
    if (std::abs(value) < 1e15 && value == std::nearbyint(value)) return fmt::format("{:.0f}", value);
    return fmt::format("{}", value);
}

std::string one_line(std::string_view text, std::size_t width) {
    std::string line;
    for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    if (display_width(line) <= width) return line;
    std::size_t end = 0;
    for (std::size_t shown = 0; end < line.size(); ++end) {
        if (!is_continuation_byte(line[end]) && ++shown > width - 3) break;
    }
    return line.substr(0, end) + "...";
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation_byte(c); }));
}

}  // namespace l2lens
