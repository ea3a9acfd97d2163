// SPDX-License-Identifier: Apache-2.0
#include "cli/launch_map.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cli/model_run.hpp"
#include "load/text_file.hpp"
#include "report/predict_report.hpp"

namespace l2lens::cli {
namespace {

// libstdc++ matches by recursion, a frame a character: names beyond this are cut.
constexpr std::size_t kLongestName = 4096;

// Trying one way after the other, std::regex takes a time exponential in the name for (a+)+c. libstdc++ can
// follow all ways at once instead; it then knows no back-references.
#ifdef __GLIBCXX__
constexpr auto kSyntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kSyntax = std::regex::ECMAScript;
#endif

std::regex compile(const std::string& pattern, const std::string& where) {
    if (pattern.empty()) throw BadInput(where + ": no regular expression before '='");
    try {
        return std::regex(pattern, kSyntax);
    } catch (const std::regex_error&) {
        throw BadInput(fmt::format(
            "{}: '{}' is not a regular expression (ECMAScript's, without back-references)", where, pattern));
    }
}

// name=value, in its place of the row.
void read_word(RecordedRow& row, const std::string& word, const std::string& where) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
        throw BadInput(fmt::format("{}: '{}' is not name=value", where, word));
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "order") {
        row.order = value;
    } else if (name == "mode") {
        row.mode = parse_mode(value);
    } else {
        row.params.emplace_back(name, value);
    }
}

RecordedRow read_launch(const std::string& text, const std::string& where) {
    RecordedRow row;
    std::istringstream words(text);
    std::set<std::string> given;
    words >> row.kernel;
    if (row.kernel.empty()) throw BadInput(where + ": which kernel? As in REGEX=gemm m=4096 order=row_major");
    for (std::string word; words >> word;) {
        if (word.starts_with("order=lua:")) {  // Lua has blanks
            std::string rest;
            std::getline(words, rest);
            word += rest;
        }
        if (const std::string name = word.substr(0, word.find('=')); !given.insert(name).second)
            throw BadInput(fmt::format("{}: {} is given twice", where, name));
        read_word(row, word, where);
    }
    if (row.order.empty()) throw BadInput(where + ": in which order? As in order=row_major");
    return row;
}

// What the launch names must exist, whether or not the rule meets a launch.
void try_launch(const RecordedRow& row, const Machine& machine) {
    std::vector<std::string> params;
    for (const auto& [name, value] : row.params) params.push_back(name + "=" + value);
    const Kernel kernel = load_launched(row.kernel, params, std::string(mode_name(row.mode)), machine).kernel;
    named_order(row.order, machine, kernel, row.mode);
}

LaunchRule make_rule(const std::string& pattern, const std::string& text, const std::string& where,
                     const Machine& machine) {
    LaunchRule rule{where, compile(pattern, where), {}};
    try {
        rule.launch = read_launch(text, where);
        try_launch(rule.launch, machine);
    } catch (const BadInput& error) {
        const std::string what = error.what();
        throw BadInput(what.starts_with(where) ? what : where + ": " + what);
    }
    return rule;
}

LaunchRule rule_of_argument(const std::string& argument, const Machine& machine) {
    const std::string where = "--as '" + argument + "'";
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos)
        throw BadInput(
            where + ": REGEX=KERNEL param=value ... belongs here, as in 'gemm=gemm m=4096 order=row_major'");
    return make_rule(argument.substr(0, equals), argument.substr(equals + 1), where, machine);
}

std::string text_of_key(const toml::table& table, const char* key, const std::string& where) {
    const auto value = table[key].value<std::string>();
    if (!value) throw BadInput(fmt::format("{}: a [[launch]] needs a text '{}'", where, key));
    return *value;
}

LaunchRule rule_of_table(const toml::table& table, const std::string& file, const Machine& machine) {
    const std::vector<std::string> keys{"match", "as"};
    for (const auto& [key, value] : table) {
        if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
        throw BadInput(fmt::format("{}:{}: unknown key '{}'{}", file, key.source().begin.line, key.str(),
                                   suggestion(key.str(), keys)));
    }
    const std::string where = fmt::format("{}:{}", file, table.source().begin.line);
    return make_rule(text_of_key(table, "match", where), text_of_key(table, "as", where), where, machine);
}

void add_rules_of_file(std::vector<LaunchRule>& rules, const std::string& file, const Machine& machine) try {
    const toml::table document = toml::parse(read_text_file(file), file);
    for (const auto& [key, value] : document) {
        if (key == "launch" && value.is_array_of_tables()) continue;
        throw BadInput(
            fmt::format("{}:{}: only [[launch]] tables belong here", file, key.source().begin.line));
    }
    const toml::array* launches = document["launch"].as_array();
    if (launches == nullptr) throw BadInput(file + ": no [[launch]] table");
    for (const toml::node& launch : *launches)
        rules.push_back(rule_of_table(*launch.as_table(), file, machine));
} catch (const toml::parse_error& error) {
    throw BadInput(fmt::format("{}:{}: {}", file, error.source().begin.line, error.description()));
}

}  // namespace

std::vector<LaunchRule> launch_rules(const std::vector<std::string>& as, const std::string& map_file,
                                     const Machine& machine) {
    std::vector<LaunchRule> rules;
    for (const std::string& argument : as) rules.push_back(rule_of_argument(argument, machine));
    if (!map_file.empty()) add_rules_of_file(rules, map_file, machine);
    return rules;
}

const LaunchRule* find_rule(const std::vector<LaunchRule>& rules, const std::string& kernel_name) {
    const std::string name = kernel_name.substr(0, kLongestName);
    for (const LaunchRule& rule : rules) {
        try {
            if (std::regex_search(name, rule.pattern)) return &rule;
        } catch (const std::regex_error&) {
            throw BadInput(rule.where + ": takes too long to match '" + name.substr(0, 80) + "'");
        }
    }
    return nullptr;
}

}  // namespace l2lens::cli
