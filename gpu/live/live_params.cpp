// SPDX-License-Identifier: Apache-2.0
#include "gpu/live/live_params.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace l2lens::gpu {

const std::string* LiveParams::find(const std::string& name) const {
    for (const auto& [key, value] : given_)
        if (key == name) return &value;
    return nullptr;
}

std::int64_t LiveParams::whole_number(const std::string& name, std::int64_t fallback, std::int64_t least) {
    std::int64_t value = fallback;
    if (const std::string* text = find(name)) {
        const char* end = text->data() + text->size();
        const auto [stop, error] = std::from_chars(text->data(), end, value);
        if (error != std::errc() || stop != end || value < least)
            throw BadInput(kernel_ + ": " + name + "=" + *text + " is not a whole number of at least " +
                           std::to_string(least));
    }
    resolved_.emplace_back(name, std::to_string(value));
    return value;
}

std::int64_t LiveParams::integer(const std::string& name, std::int64_t fallback) {
    return whole_number(name, fallback, 1);
}

int LiveParams::small_integer(const std::string& name, int fallback) {
    const std::int64_t value = integer(name, fallback);
    if (value > std::numeric_limits<int>::max()) throw BadInput(kernel_ + ": " + name + " is too large");
    return static_cast<int>(value);
}

int LiveParams::small_integer_or_auto(const std::string& name) {
    const std::int64_t value = whole_number(name, 0, 0);
    if (value > std::numeric_limits<int>::max()) throw BadInput(kernel_ + ": " + name + " is too large");
    return static_cast<int>(value);
}

void LiveParams::settle(const std::string& name, std::int64_t value) {
    for (auto& [key, text] : resolved_)
        if (key == name) text = std::to_string(value);
}

std::string LiveParams::choice(const std::string& name, const std::string& fallback,
                               const std::vector<std::string>& choices) {
    const std::string* text = find(name);
    const std::string value = text ? *text : fallback;
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
        throw BadInput(kernel_ + ": no " + name + " '" + value + "' on the GPU" + suggestion(value, choices));
    resolved_.emplace_back(name, value);
    return value;
}

ParamList LiveParams::finish() const {
    std::vector<std::string> known;
    for (const auto& [key, value] : resolved_) known.push_back(key);
    for (const auto& [key, value] : given_)
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw BadInput(kernel_ + " has no parameter '" + key + "' on the GPU" + suggestion(key, known));
    return resolved_;
}

}  // namespace l2lens::gpu
