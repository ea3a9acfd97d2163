// SPDX-License-Identifier: Apache-2.0
// l2lens explain WORD: a counter, a metric, a parameter of a machine, an order or a word of the field.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/nearest.hpp"
#include "cli/glossary.hpp"
#include "cli/invocation.hpp"
#include "cli/output.hpp"
#include "counters/metrics.hpp"
#include "load/machine_file.hpp"
#include "machine/parameters.hpp"
#include "order/order.hpp"
#include "report/listing.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::string word;
    std::string gpu = "h200";
};

using Fields = std::vector<std::vector<std::string>>;  // label, text

Fields explain(const Metric& metric) {
    Fields fields{{metric.kind == MetricKind::Hardware ? "counter" : "metric", std::string(metric.id)},
                  {"unit", std::string(unit_name(metric.unit))},
                  {"meaning", std::string(metric.meaning)},
                  {"formula", std::string(metric.formula)}};
    if (!metric.hint.empty()) fields.push_back({"hint", std::string(metric.hint)});
    return fields;
}

Fields explain(const ParameterInfo& info, const std::string& gpu) {
    Fields fields{{"parameter", std::string(info.key)}, {"meaning", std::string(info.meaning)}};
    const Machine machine = load_machine(gpu);
    for (const Parameter& parameter : machine.parameters) {
        if (parameter.key != info.key) continue;
        fields.push_back(
            {"on " + machine.name, parameter.value + (parameter.unit.empty() ? "" : " " + parameter.unit)});
        fields.push_back(
            {"source", fmt::format("{} ({}:{})", parameter.source, machine.file, parameter.line)});
    }
    return fields;
}

Fields explain(const OrderInfo& info) {
    return {{"order", info.usage}, {"usual", info.usual}, {"meaning", info.meaning}, {"source", info.source}};
}

// An order may come with its parameters: group_m:8 is group_m.
std::optional<Fields> look_up(const std::string& word, const std::string& gpu) {
    if (const Metric* metric = find_metric(word)) return explain(*metric);
    if (const ParameterInfo* parameter = find_parameter(word)) return explain(*parameter, gpu);
    for (const OrderInfo& info : order_catalogue()) {
        if (info.name == word.substr(0, word.find(':'))) return explain(info);
    }
    for (const Word& entry : glossary()) {
        if (entry.word == word) return Fields{{"word", word}, {"meaning", std::string(entry.meaning)}};
    }
    return std::nullopt;
}

Listing everything() {
    Listing listing{"l2lens/words", {"word", "kind", "meaning"}, {}};
    const auto add = [&](std::string_view word, const char* kind, std::string_view meaning) {
        listing.rows.push_back({std::string(word), kind, std::string(meaning)});
    };
    for (const Word& entry : glossary()) add(entry.word, "word", entry.meaning);
    for (const Metric& metric : all_metrics()) {
        add(metric.id, metric.kind == MetricKind::Hardware ? "counter" : "metric", metric.meaning);
    }
    for (const OrderInfo& info : order_catalogue()) add(info.name, "order", info.meaning);
    for (const ParameterInfo& parameter : parameter_table())
        add(parameter.key, "parameter", parameter.meaning);
    return listing;
}

[[noreturn]] void unknown(const std::string& word) {
    std::vector<std::string> words;
    for (const auto& row : everything().rows) words.push_back(row[0]);
    const std::string nearest = nearest_name(word, words);
    throw BadInput(fmt::format(
        "explain: nothing is called '{}'{}", word,
        nearest.empty() ? "; l2lens explain lists all words" : "; did you mean '" + nearest + "'?"));
}

ExitCode run(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    if (arguments.word.empty()) {
        const Listing listing = everything();
        output.write({[&](bool colour) { return listing_text(listing, colour, 110); },
                      [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
        return ExitCode::Done;
    }
    const auto fields = look_up(arguments.word, arguments.gpu);
    if (!fields) unknown(arguments.word);
    const Listing listing{"l2lens/explanation", {"field", "text"}, *fields};
    const auto text = [&](bool) {
        std::string lines;
        for (const auto& field : *fields) lines += fmt::format("{:<10} {}\n", field[0], field[1]);
        return lines;
    };
    output.write({text, [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

}  // namespace

void add_explain_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* app =
        add_command(root, "explain", "What a counter, metric, parameter, order or word means", invocation);
    app->add_option("word", arguments->word,
                    "As in lts__t_sectors.sum, latency.fabric_request, group_m, sector; all of "
                    "them without it");
    app->add_option("--gpu", arguments->gpu, "GPU whose parameters are shown")->capture_default_str();
    commands.push_back({app, [arguments, &invocation] { return run(*arguments, invocation); }});
}

}  // namespace l2lens::cli
