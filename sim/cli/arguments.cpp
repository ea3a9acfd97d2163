// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace l2lens::cli {
namespace {

bool read_whole(const std::string& text, std::uint64_t& value) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return !text.empty() && error == std::errc{} && stop == end;
}

}  // namespace

std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most) {
    std::uint64_t value = 0;
    if (!read_whole(text, value) || value < least || value > most) {
        throw BadInput(
            fmt::format("{}: '{}' is not a whole number from {} to {}", option, text, least, most));
    }
    return value;
}

const std::string& parse_choice(const std::string& option, const std::string& text,
                                const std::vector<std::string>& choices) {
    const auto found = std::find(choices.begin(), choices.end(), text);
    if (found == choices.end())
        throw BadInput(fmt::format("{}: unknown '{}'{}", option, text, suggestion(text, choices)));
    return *found;
}

int parse_sample(const std::string& text) {
    if (text == "auto") return 0;
    std::uint64_t divisor = 0;
    const bool fraction = text.starts_with("1/");
    if (!read_whole(fraction ? text.substr(2) : text, divisor) || divisor < 1 || divisor > 4096 ||
        (!fraction && divisor != 1)) {
        throw BadInput(
            fmt::format("--sample: '{}' is neither auto, nor 1 for every line, nor a fraction from 1/2 to "
                        "1/4096",
                        text));
    }
    return static_cast<int>(divisor);
}

void check_sampled(Engine engine, const std::string& sample) {
    if (engine == Engine::Tile && sample != "auto")
        throw BadInput("--sample: slices are a matter of --engine line; the tile engine moves whole boxes");
}

Engine parse_engine(const std::string& text) {
    return parse_choice("--engine", text, {"line", "tile"}) == "tile" ? Engine::Tile : Engine::Line;
}

GridShape parse_grid(const std::string& text) {
    const std::size_t x = text.find('x');
    std::uint64_t rows = 0, columns = 0;
    if (x == std::string::npos || !read_whole(text.substr(0, x), rows) ||
        !read_whole(text.substr(x + 1), columns) || rows == 0 || columns == 0) {
        throw BadInput(fmt::format("--grid: '{}' is not tile rows x tile columns, as in 64x32", text));
    }
    constexpr auto kMost = static_cast<std::uint64_t>(kMostTiles);
    if (rows > kMost || columns > kMost || rows * columns > kMost) {
        throw BadInput(fmt::format("--grid: {} has more than {} tiles", text, kMost));
    }
    return {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(columns)};
}

}  // namespace l2lens::cli
