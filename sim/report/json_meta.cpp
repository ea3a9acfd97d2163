// SPDX-License-Identifier: Apache-2.0
#include "report/json_meta.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace l2lens {
namespace {

template <class Number>
bool reads_as(const std::string& text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return !text.empty() && error == std::errc{} && stop == end;
}

nlohmann::ordered_json json_of_param(const std::string& text) {
    if (std::int64_t whole = 0; reads_as(text, whole)) return whole;
    if (double number = 0; reads_as(text, number) && std::isfinite(number)) return number;
    return text;
}

std::string on_one_line(const nlohmann::ordered_json& value) {
    return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Thousands of numbers as one line each would be mostly white space.
bool fits_one_line(const nlohmann::ordered_json& value) {
    if (!value.is_structured() || value.empty()) return true;
    return value.is_array() && std::all_of(value.begin(), value.end(), [](const auto& element) {
               return element.is_number() || element.is_null();
           });
}

void append(std::string& text, const nlohmann::ordered_json& value, std::size_t depth) {
    if (fits_one_line(value)) {
        text += on_one_line(value);
        return;
    }
    const bool object = value.is_object();
    text += object ? "{" : "[";
    const char* separator = "\n";
    for (const auto& [key, element] : value.items()) {
        text += separator + std::string(depth + 1, ' ');
        if (object) text += on_one_line(key) + ": ";
        append(text, element, depth + 1);
        separator = ",\n";
    }
    text += "\n" + std::string(depth, ' ') + (object ? "}" : "]");
}

}  // namespace

nlohmann::ordered_json json_of(const RunMeta& meta) {
    return {{"version", meta.version},
            {"argv", meta.argv},
            {"gpu_file", meta.gpu_file},
            {"gpu_hash", fmt::format("xxh64:{:016x}", meta.gpu_hash)},
            {"date", meta.date},
            {"threads", meta.threads},
            {"seconds", std::nearbyint(meta.seconds * 1e3) / 1e3}};
}

nlohmann::ordered_json json_of(const std::vector<std::pair<std::string, std::string>>& params) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [name, value] : params) object[name] = json_of_param(value);
    return object;
}

nlohmann::ordered_json json_of(double value) {
    if (!std::isfinite(value)) return nullptr;
    if (std::abs(value) < 1e15 && value == std::nearbyint(value)) return static_cast<std::int64_t>(value);
    return value;
}

std::string document_text(const nlohmann::ordered_json& document) {
    std::string text;
    append(text, document, 0);
    return text + "\n";
}

}  // namespace l2lens
