// SPDX-License-Identifier: Apache-2.0
#include "teach/lab.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace l2lens {
namespace {

constexpr std::string_view kBegin = "<!-- lab\n";
constexpr std::string_view kEnd = "-->";
constexpr std::string_view kPredict = "$ l2lens predict ";
constexpr std::string_view kTeach = "$ l2lens teach ";

[[noreturn]] void fail(const LabFile& file, const std::string& what) {
    throw BadInput(std::string(file.name) + ": " + what);
}

toml::table data_of(const LabFile& file, std::string_view text) {
    try {
        return toml::parse(text, file.name);
    } catch (const toml::parse_error& error) {
        fail(file, std::string(error.description()));
    }
}

std::string text_of(const LabFile& file, const toml::table& table, std::string_view key, bool needed = true) {
    if (const auto text = table[key].value<std::string>()) return *text;
    if (needed) fail(file, fmt::format("'{}' is missing, or no text", key));
    return "";
}

std::vector<std::string> words_of(std::string_view line) {
    std::istringstream stream{std::string(line)};
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

// "01-sectors.md": 1 and "sectors".
void name_lab(const LabFile& file, Lab& lab) {
    const auto dash = file.name.find('-');
    const auto dot = file.name.rfind(".md");
    const auto [stop, error] =
        std::from_chars(file.name.data(), file.name.data() + file.name.size(), lab.number);
    const bool number =
        error == std::errc() && dash != std::string_view::npos && stop == file.name.data() + dash;
    if (!number || dot == std::string_view::npos || lab.number < 1) fail(file, "is not named NN-NAME.md");
    lab.name = file.name.substr(dash + 1, dot - dash - 1);
}

// The title is the page's first heading, the commands are its lines that a shell would take.
void read_page(const LabFile& file, Lab& lab) {
    std::istringstream stream(lab.page);
    for (std::string line; std::getline(stream, line);) {
        if (lab.title.empty() && line.starts_with("# ")) lab.title = line.substr(2);
        if (line.starts_with(kPredict)) lab.commands.push_back(words_of(line.substr(kPredict.size())));
        if (line.starts_with(kTeach) && lab.lesson.empty()) lab.lesson = words_of(line.substr(kTeach.size()));
    }
    if (lab.title.empty()) fail(file, "has no heading '# ...'");
    if (lab.commands.empty()) fail(file, "has no line '$ l2lens predict ...'");
}

std::optional<double> number_in(std::string_view text) {
    double number = 0;
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(number))
        return std::nullopt;
    return number;
}

// "512", "512 bytes": a number, with the lab's unit or without.
std::optional<double> number_of_answer(std::string answer, const std::string& unit) {
    const auto trim = [&] {
        answer.erase(0, answer.find_first_not_of(' '));
        answer.erase(answer.find_last_not_of(' ') + 1);
    };
    trim();
    if (!unit.empty() && answer.ends_with(unit)) answer.resize(answer.size() - unit.size());
    trim();
    return number_in(answer);
}

bool near(double given, double wanted, double percent) {
    constexpr double kRounding = 1e-9;
    return std::abs(given - wanted) <= std::abs(wanted) * percent / 100 + kRounding;
}

Verdict judge_choice(const LabKey& key, const std::string& answer) {
    if (std::ranges::find(key.choices, answer) == key.choices.end())
        throw BadInput(fmt::format("'{}' is none of the choices{}", answer, suggestion(answer, key.choices)));
    if (answer == key.answer) return {true, key.right};
    for (const LabKey::Wrong& wrong : key.wrong) {
        if (wrong.value == answer) return {false, wrong.why};
    }
    return {false, key.otherwise};
}

}  // namespace

Lab parse_lab(const LabFile& file) {
    const auto begin = file.text.find(kBegin);
    const auto end = begin == std::string_view::npos ? begin : file.text.find(kEnd, begin);
    if (end == std::string_view::npos) fail(file, "has no comment '<!-- lab ... -->'");
    Lab lab;
    name_lab(file, lab);
    lab.page = file.text.substr(0, begin);
    lab.page.erase(lab.page.find_last_not_of('\n') + 1);
    lab.page += "\n";
    read_page(file, lab);
    const toml::table data =
        data_of(file, file.text.substr(begin + kBegin.size(), end - begin - kBegin.size()));
    lab.answer = text_of(file, data, "answer");
    lab.unit = text_of(file, data, "unit", false);
    lab.right = text_of(file, data, "right");
    lab.otherwise = text_of(file, data, "otherwise");
    lab.accept_percent = data["accept"].value_or(0.0);
    if (const auto* choices = data["choices"].as_array()) {
        for (const auto& choice : *choices) lab.choices.push_back(choice.value_or(std::string()));
    }
    const auto* wrong = data["wrong"].as_array();
    if (wrong == nullptr || wrong->empty()) fail(file, "has no [[wrong]]: which misconception is it about?");
    for (const auto& entry : *wrong) {
        const auto* table = entry.as_table();
        if (table == nullptr) fail(file, "[[wrong]] is no table");
        lab.wrong.push_back({text_of(file, *table, "value"), text_of(file, *table, "why")});
    }
    return lab;
}

std::vector<std::string> split_template(const std::string& text) {
    std::vector<std::string> parts(1);
    for (std::size_t at = 0; at < text.size();) {
        const bool inside = parts.size() % 2 == 0;
        const std::string mark = inside ? "}}" : "{{";
        const std::size_t next = text.find(mark, at);
        parts.back() = text.substr(at, next - at);
        if (next == std::string::npos) break;
        parts.emplace_back();
        at = next + mark.size();
    }
    return parts;
}

Verdict judge(const LabKey& key, const std::string& answer) {
    if (!key.choices.empty()) return judge_choice(key, answer);
    const auto given = number_of_answer(answer, key.unit);
    if (!given) throw BadInput(fmt::format("'{}' is no number; an answer is one, as in 12 or 0.5", answer));
    if (near(*given, number_in(key.answer).value_or(NAN), key.accept_percent)) return {true, key.right};
    for (const LabKey::Wrong& wrong : key.wrong) {
        if (near(*given, number_in(wrong.value).value_or(NAN), key.accept_percent)) return {false, wrong.why};
    }
    return {false, key.otherwise};
}

std::string lab_number(double value) {
    return fmt::format("{:.4g}", value).find('e') == std::string::npos ? fmt::format("{:.4g}", value)
                                                                       : fmt::format("{:.0f}", value);
}

}  // namespace l2lens
