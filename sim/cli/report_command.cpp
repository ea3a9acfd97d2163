// SPDX-License-Identifier: Apache-2.0
// l2lens report RESULT.json ... -o FILE.html: what predict and validate have written, to look at.
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "base/file_roles.hpp"
#include "cli/file_output.hpp"
#include "cli/invocation.hpp"
#include "cli/output.hpp"
#include "report/html_report.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::vector<std::string> results;
    std::string page;
};

// No result is larger, and a wrong path (a trace, a device) shall not fill the memory.
constexpr std::streamsize kMostBytes = std::streamsize{256} << 20;

std::string read_result(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw BadInput(path + ": cannot be read");
    will_read(path);
    std::string text;
    char block[1 << 16];
    while (file.read(block, sizeof block), file.gcount() > 0) {
        text.append(block, static_cast<std::size_t>(file.gcount()));
        if (static_cast<std::streamsize>(text.size()) > kMostBytes)
            throw BadInput(fmt::format("{}: larger than any result ({} MiB)", path, kMostBytes >> 20));
    }
    if (file.bad() || text.empty()) throw BadInput(path + ": cannot be read, or is empty");
    return text;
}

ExitCode run(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    if (!invocation.common.json.empty() || !invocation.common.csv.empty())
        throw BadInput("report: writes a page, no --json or --csv: its input is the JSON");
    if (arguments.results.empty())
        throw BadInput(
            "report: of which results? l2lens predict KERNEL --details --json RESULT.json makes one");
    if (arguments.page.empty()) throw BadInput("report: where to? -o FILE.html");
    check_report_can_be_drawn();
    check_writable(arguments.page, "-o");
    std::vector<ReportDocument> documents;
    for (const std::string& path : arguments.results)
        documents.push_back(read_report_document(read_result(path), path));
    write_file(arguments.page, html_report(documents));
    return ExitCode::Done;
}

}  // namespace

void add_report_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* app =
        add_command(root, "report", "Draw results as one HTML page, with a tile player", invocation);
    app->add_option("result", arguments->results, "What predict --json or validate --json wrote")
        ->option_text("RESULT.json ...");
    app->add_option("-o,--output", arguments->page, "The page to write")->option_text("FILE.html");
    app->footer(
        "Examples:\n  l2lens predict gemm --details --json result.json && l2lens report result.json -o "
        "report.html\n"
        "  l2lens predict gemm --report report.html");
    commands.push_back({app, [arguments, &invocation] { return run(*arguments, invocation); }});
}

}  // namespace l2lens::cli
