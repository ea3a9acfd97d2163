// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "cli/arguments.hpp"
#include "cli/file_output.hpp"

namespace l2lens::cli {
namespace {

void write_form(const std::string& path, const std::function<std::string()>& form) {
    if (path.empty()) return;
    if (path == "-") {
        write_stdout(form());
    } else {
        write_file(path, form());
    }
}

}  // namespace

Output::Output(const CommonOptions& options) : options_(options) {
    parse_choice("--color", options.color, {"auto", "always", "never"});
    if (options.json == "-" && options.csv == "-")
        throw BadInput("--json and --csv both go to '-'; they need a place each");
    if (!options.json.empty() && options.json != "-") check_writable(options.json, "--json");
    if (!options.csv.empty() && options.csv != "-") check_writable(options.csv, "--csv");
}

void Output::write(const Document& document) const {
    const bool replaced = options_.json == "-" || options_.csv == "-";
    // Files first: a reader of stdout that has seen the result may rely on them.
    if (options_.json != "-") write_form(options_.json, document.json);
    if (options_.csv != "-") write_form(options_.csv, document.csv);
    if (options_.json == "-") write_form("-", document.json);
    if (options_.csv == "-") write_form("-", document.csv);
    if (!replaced) write_stdout(document.text(colour()));
}

void Output::note(const std::string& message) const {
    if (!options_.quiet) std::fprintf(stderr, "l2lens: %s\n", message.c_str());
}

// --color decides, then NO_COLOR (https://no-color.org), then whether stdout is a terminal that can.
bool Output::colour() const {
    if (options_.color != "auto") return options_.color == "always";
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    if ((no_color != nullptr && *no_color != '\0') || (term != nullptr && std::string_view(term) == "dumb"))
        return false;
    return ::isatty(STDOUT_FILENO) == 1;
}

}  // namespace l2lens::cli
