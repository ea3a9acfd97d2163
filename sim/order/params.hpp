// SPDX-License-Identifier: Apache-2.0
// The parameters of an order's name, `group_m:8` or `cutlass3:8:along_m`: declared in the catalogue, parsed
// and range-checked here once, so that the formulas only see numbers they can take.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace l2lens {

// Launch ids and everything computed from them: 64 bits, so that no product of two parameters overflows.
using Index = std::int64_t;

// Large enough for any swizzle in the field, small enough that products of three stay within an Index.
inline constexpr Index kMostParameter = Index{1} << 20;

// One parameter between colons.
struct OrderParam {
    enum class Kind { Integer, Word, Pair };
    Kind kind = Kind::Integer;
    std::string_view name;  // "G", or for words the choices: "along_m|along_n|heuristic"
    Index low = 1;          // range, both ends included
    Index high = kMostParameter;
    bool optional = false;
    Index fallback = 0;  // the value of an optional one that is left out

    static constexpr OrderParam integer(std::string_view name, Index low = 1, Index high = kMostParameter) {
        return {Kind::Integer, name, low, high, false, 0};
    }
    static constexpr OrderParam word(std::string_view choices) {
        return {Kind::Word, choices, 0, 0, false, 0};
    }
    static constexpr OrderParam pair(std::string_view name) {
        return {Kind::Pair, name, 1, kMostParameter, false, 0};
    }
    constexpr OrderParam or_else(Index value) const {
        OrderParam copy = *this;
        copy.optional = true;
        copy.fallback = value;
        return copy;
    }
};

// The values, in the order of their declaration: an integer, the index of a word, or the two of a pair.
struct OrderArgs {
    std::string text;  // the order as written, for messages
    std::vector<Index> values;
    Index operator[](std::size_t i) const { return values[i]; }
};

// "group_m:8" -> {"group_m", "8"}; the pieces between the separators, empty ones included.
std::vector<std::string_view> split_at(std::string_view text, char separator);

// Parses `words`, what stands between the colons after the name. Throws BadInput naming the order, the
// parameter and the allowed range.
OrderArgs parse_order_args(std::string_view text, std::string_view usage,
                           const std::vector<OrderParam>& params, const std::vector<std::string_view>& words);

}  // namespace l2lens
