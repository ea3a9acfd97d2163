// SPDX-License-Identifier: Apache-2.0
// l2lens lab | lab N | lab N check ANSWER | lab N --html FILE: eight short labs.
#include <memory>

#include <fmt/format.h>

#include "base/nearest.hpp"
#include "cli/file_output.hpp"
#include "cli/invocation.hpp"
#include "cli/lab_run.hpp"
#include "cli/output.hpp"
#include "report/json_meta.hpp"
#include "report/listing.hpp"
#include "teach/markdown.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::vector<std::string> words;  // N, check, ANSWER
    std::string html;
};

std::vector<Lab> all_labs() {
    std::vector<Lab> labs;
    for (const LabFile& file : lab_files()) labs.push_back(parse_lab(file));
    return labs;
}

// By its number or its name.
Lab find_lab(const std::string& word) {
    std::vector<std::string> names;
    for (const Lab& lab : all_labs()) {
        if (word == lab.name || word == std::to_string(lab.number)) return lab;
        names.push_back(lab.name);
    }
    const std::string nearest = nearest_name(word, names);
    throw BadInput(fmt::format("lab: there is no lab '{}'{}", word,
                               nearest.empty() ? fmt::format("; there are 1 to {}", names.size())
                                               : "; did you mean '" + nearest + "'?"));
}

ExitCode list(const Invocation& invocation) {
    const Output output(invocation.common);
    Listing listing{"l2lens/labs", {"lab", "name", "title"}, {}};
    for (const Lab& lab : all_labs())
        listing.rows.push_back({std::to_string(lab.number), lab.name, lab.title});
    output.write(
        {[&](bool colour) { return listing_text(listing, colour) + "l2lens lab 1 shows the first one\n"; },
         [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

Listing listing_of(const Lab& lab) {
    return {"l2lens/lab",
            {"lab", "name", "title", "page"},
            {{std::to_string(lab.number), lab.name, lab.title, lab.page}}};
}

ExitCode show(const Lab& lab, const Invocation& invocation) {
    const Output output(invocation.common);
    const Listing listing = listing_of(lab);
    output.write({[&](bool colour) { return markdown_text(lab.page, colour); },
                  [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

// A wrong answer is exit code 1, as a prediction outside its tolerance is.
ExitCode check(const Lab& lab, const std::string& answer, const Invocation& invocation) {
    const Output output(invocation.common);
    const LabKey key = run_lab(lab, invocation.common);
    Verdict verdict;
    try {
        verdict = judge(key, answer);
    } catch (const BadInput& error) {
        throw BadInput(fmt::format("lab {}: {}", lab.number, error.what()));
    }
    const Listing listing{
        "l2lens/lab_check",
        {"lab", "answer", "verdict", "why"},
        {{std::to_string(lab.number), answer, verdict.right ? "right" : "wrong", verdict.why}}};
    const std::string text = (verdict.right ? "Right. " : "Not so. ") + verdict.why;
    output.write({[&](bool) { return markdown_text(text, false); }, [&] { return listing_json(listing); },
                  [&] { return listing_csv(listing); }});
    return verdict.right ? ExitCode::Done : ExitCode::OutsideTolerance;
}

// The page takes the place of the text; --json and --csv are written besides it.
ExitCode write_page(const Lab& lab, const std::string& path, const Invocation& invocation) {
    const Output output(invocation.common);
    check_writable(path, "--html");
    write_file(path, lab_page(lab, run_lab(lab, invocation.common), lab_output(lab, invocation.common)));
    const Listing listing = listing_of(lab);
    output.write({[](bool) { return std::string(); }, [&] { return listing_json(listing); },
                  [&] { return listing_csv(listing); }});
    output.note(fmt::format("lab {} is in {}", lab.number, path));
    return ExitCode::Done;
}

ExitCode run(const Arguments& arguments, const Invocation& invocation) {
    const std::vector<std::string>& words = arguments.words;
    if (words.empty()) {
        if (!arguments.html.empty())
            throw BadInput("lab: which lab goes to --html? As in lab 1 --html lab.html");
        return list(invocation);
    }
    const Lab lab = find_lab(words[0]);
    if (words.size() > 1 && words[1] != "check")
        throw BadInput(fmt::format("lab: unknown command '{}'{}", words[1],
                                   suggestion(words[1], std::vector<std::string>{"check"})));
    if (words.size() == 2)
        throw BadInput(fmt::format("lab: check what? As in lab {} check ANSWER", lab.number));
    if (words.size() > 1 && !arguments.html.empty()) throw BadInput("lab: either check or --html");
    if (!arguments.html.empty()) return write_page(lab, arguments.html, invocation);
    if (words.size() == 1) return show(lab, invocation);
    std::string answer = words[2];
    for (std::size_t i = 3; i < words.size(); ++i) answer += " " + words[i];
    return check(lab, answer, invocation);
}

}  // namespace

void add_lab_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* app =
        add_command(root, "lab", "Eight short labs: a question, a prediction, a check", invocation);
    app->add_option("words", arguments->words, "A lab's number or name, and 'check ANSWER'; none: the list")
        ->option_text("[N [check ANSWER]]");
    app->add_option("--html", arguments->html, "Write the lab as one page")->option_text("FILE");
    app->footer("Exit code of check: 0 right, 1 wrong.\nExamples:\n  l2lens lab 1\n  l2lens lab 1 check 512");
    commands.push_back({app, [arguments, &invocation] { return run(*arguments, invocation); }});
}

}  // namespace l2lens::cli
