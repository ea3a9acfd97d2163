// SPDX-License-Identifier: Apache-2.0
#include "order/params.hpp"

#include <charconv>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace l2lens {
namespace {

[[noreturn]] void fail(std::string_view text, const std::string& what) {
    throw BadInput("order '" + std::string(text) + "': " + what);
}

// Digits only: no sign, no blank, no hexadecimal, nothing behind the number.
Index parse_integer(std::string_view text, const OrderParam& param, std::string_view word) {
    Index value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    const bool whole = !word.empty() && stop == end;
    if (error == std::errc::invalid_argument || (error == std::errc{} && !whole))
        fail(text, std::string(param.name) + " must be a whole number, not '" + std::string(word) + "'");
    if (error != std::errc{} || value < param.low || value > param.high)
        fail(text, std::string(param.name) + " = " + std::string(word) + " is outside " +
                       std::to_string(param.low) + " to " + std::to_string(param.high));
    return value;
}

Index parse_word(std::string_view text, const OrderParam& param, std::string_view word) {
    const std::vector<std::string_view> choices = split_at(param.name, '|');
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (choices[i] == word) return static_cast<Index>(i);
    const std::vector<std::string> names(choices.begin(), choices.end());
    fail(text, "unknown word '" + std::string(word) + "'" + suggestion(word, names));
}

void parse_pair(std::string_view text, const OrderParam& param, std::string_view word,
                std::vector<Index>& out) {
    const std::vector<std::string_view> sides = split_at(word, 'x');
    if (sides.size() != 2)
        fail(text,
             std::string(param.name) + " must be two numbers such as 16x8, not '" + std::string(word) + "'");
    for (const std::string_view side : sides) out.push_back(parse_integer(text, param, side));
}

void parse_one(std::string_view text, const OrderParam& param, std::string_view word,
               std::vector<Index>& out) {
    switch (param.kind) {
        case OrderParam::Kind::Integer:
            out.push_back(parse_integer(text, param, word));
            break;
        case OrderParam::Kind::Word:
            out.push_back(parse_word(text, param, word));
            break;
        case OrderParam::Kind::Pair:
            parse_pair(text, param, word, out);
            break;
    }
}

}  // namespace

std::vector<std::string_view> split_at(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    for (;;) {
        const std::size_t at = text.find(separator);
        pieces.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return pieces;
        text.remove_prefix(at + 1);
    }
}

OrderArgs parse_order_args(std::string_view text, std::string_view usage,
                           const std::vector<OrderParam>& params,
                           const std::vector<std::string_view>& words) {
    if (words.size() > params.size()) fail(text, "too many parameters; it is written " + std::string(usage));
    OrderArgs args{std::string(text), {}};
    for (std::size_t i = 0; i < params.size(); ++i) {
        if (i < words.size())
            parse_one(text, params[i], words[i], args.values);
        else if (params[i].optional)
            args.values.push_back(params[i].fallback);
        else
            fail(text, "a parameter is missing; it is written " + std::string(usage));
    }
    return args;
}

}  // namespace l2lens
