// SPDX-License-Identifier: Apache-2.0
// l2lens explain WORD: a counter, a metric, a parameter of a machine, an order or a word of the field.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.hpp"
#include "cli/file_output.hpp"
#include "cli/invocation.hpp"
#include "cli/output.hpp"
#include "glossary/entry.hpp"
#include "load/machine_file.hpp"
#include "report/listing.hpp"
#include "report/ranked_columns.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::vector<std::string> words;  // of one name: "flat LRU"
    std::string gpu = "h200";
    bool markdown = false;
};

using Fields = std::vector<std::vector<std::string>>;  // label, text

void add(Fields& fields, const std::string& label, const std::string& text) {
    if (!text.empty()) fields.push_back({label, text});
}

// The value of a parameter on a GPU, and who says so.
void add_value(Fields& fields, const std::string& key, const Machine& machine) {
    for (const Parameter& parameter : machine.parameters) {
        if (parameter.key != key) continue;
        add(fields, "on " + machine.name,
            parameter.value + (parameter.unit.empty() ? "" : " " + parameter.unit));
        add(fields, "source", fmt::format("{} ({}:{})", parameter.source, machine.file, parameter.line));
    }
}

Fields fields_of(const Entry& entry, const Machine& machine) {
    Fields fields{{std::string(kind_name(entry.kind)), entry.word}};
    add(fields, "unit", entry.unit);
    add(fields, "meaning", entry.meaning);
    add(fields, entry.kind == EntryKind::Order ? "written" : "formula", entry.formula);
    add(fields, "vendor", entry.vendor);
    add(fields, "model", entry.model);
    add(fields, "hint", entry.hint);
    add(fields, "range", entry.range);
    add(fields, "source", entry.source);
    if (entry.kind == EntryKind::Parameter) add_value(fields, entry.word, machine);
    return fields;
}

Listing everything() {
    Listing listing{"l2lens/words", {"word", "kind", "meaning"}, {}};
    for (const Entry& entry : all_entries())
        listing.rows.push_back({entry.word, std::string(kind_name(entry.kind)), entry.meaning});
    return listing;
}

// The name that was asked for; a column of the ranked table is its metric.
std::string name_of(const std::vector<std::string>& words) {
    const std::string name = fmt::format("{}", fmt::join(words, " "));
    for (const RankedColumn& column : kRankedColumns) {
        if (name == column.title && !find_entry(name)) return column.id;
    }
    return name == "time" ? "time_us" : name;  // the table's own last column
}

[[noreturn]] void unknown(const std::string& word) {
    std::vector<std::string> words;
    for (const Entry& entry : all_entries()) words.push_back(entry.word);
    const std::string nearest = nearest_name(word, words);
    throw BadInput(fmt::format(
        "explain: nothing is called '{}'{}", word,
        nearest.empty() ? "; l2lens explain lists all words" : "; did you mean '" + nearest + "'?"));
}

ExitCode list(const Output& output) {
    const Listing listing = everything();
    output.write({[&](bool colour) { return listing_text(listing, colour, 110); },
                  [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

ExitCode run(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    // For any word, as a --gpu that is misspelt or an output is a mistake whether or not it is looked at.
    const Machine machine = load_machine(arguments.gpu);
    const std::string word = name_of(arguments.words);
    if (arguments.markdown) {
        if (!word.empty()) throw BadInput("explain: --markdown is all words; leave '" + word + "' out");
        if (!invocation.common.json.empty() || !invocation.common.csv.empty())
            throw BadInput("explain: --markdown prints the page; --json and --csv list the words without it");
        write_stdout(glossary_markdown());
        return ExitCode::Done;
    }
    if (word.empty()) return list(output);
    const auto entry = find_entry(word);
    if (!entry) unknown(word);
    const Listing listing{"l2lens/explanation", {"field", "text"}, fields_of(*entry, machine)};
    const auto text = [&](bool) {
        std::string lines;
        for (const auto& field : listing.rows) lines += fmt::format("{:<10} {}\n", field[0], field[1]);
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
    app->add_option("word", arguments->words,
                    "As in lts__t_sectors.sum, latency.fabric_request, group_m, sector, or a column of "
                    "predict's table, flat LRU; all of them without it");
    app->add_option("--gpu", arguments->gpu, "GPU whose parameters are shown")->capture_default_str();
    app->add_flag("--markdown", arguments->markdown, "All of them as docs/glossary.md has them");
    commands.push_back({app, [arguments, &invocation] { return run(*arguments, invocation); }});
}

}  // namespace l2lens::cli
