// SPDX-License-Identifier: Apache-2.0
// Parsing: CLI11 does the splitting, this file turns whatever it does not know into one line with the nearest
// name.
#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "base/nearest.hpp"
#include "cli/arguments.hpp"
#include "cli/file_output.hpp"
#include "cli/invocation.hpp"

namespace l2lens::cli {
namespace {

constexpr const char* kVersion = L2LENS_VERSION;

std::string version_text() {
    return fmt::format("l2lens {} (compiler {})\n", kVersion, L2LENS_COMPILER);
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(sub->get_name());
    return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

// What was left over is an option nobody knows, or one argument too many. `where` is "" or "gpu show: ".
[[noreturn]] void refuse(const CLI::App& app, const std::string& surplus, const std::string& where) {
    if (!surplus.starts_with('-')) throw BadInput(fmt::format("{}unexpected argument '{}'", where, surplus));
    const std::string nearest = nearest_name(surplus.substr(0, surplus.find('=')), option_names(app));
    throw BadInput(fmt::format("{}unknown option '{}'{}", where, surplus,
                               nearest.empty() ? "; see --help" : "; did you mean '" + nearest + "'?"));
}

// A command is missing or misspelt.
[[noreturn]] void refuse_command(const CLI::App& app, const std::string& where) {
    const std::vector<std::string> names = subcommand_names(app);
    for (const std::string& word : app.remaining(false)) {
        if (word.starts_with('-')) refuse(app, word, where);
        throw BadInput(fmt::format("{}unknown command '{}'{}", where, word, suggestion(word, names)));
    }
    throw BadInput(fmt::format("{}which command? There are: {}", where, joined(names)));
}

void check_surplus(const CLI::App& app, const std::string& path) {
    const std::string where = path.empty() ? "" : path + ": ";
    if (!subcommand_names(app).empty() && app.get_subcommands().empty()) refuse_command(app, where);
    for (const std::string& surplus : app.remaining(false)) refuse(app, surplus, where);
    for (const CLI::App* chosen : app.get_subcommands()) {
        check_surplus(*chosen, path + (path.empty() ? "" : " ") + chosen->get_name());
    }
}

void parse(CLI::App& root, int argc, const char* const* argv) {
    try {
        root.parse(argc, argv);
    } catch (const CLI::RequiredError&) {
        check_surplus(root, "");  // says more than "a subcommand is required"
        throw;
    }
    check_surplus(root, "");
}

struct NamedCommand {
    const char* name;
    void (*add)(CLI::App& root, Invocation& invocation, Commands& commands);
};
constexpr std::array<NamedCommand, 11> kCommands{{{"predict", add_predict_command},
                                                  {"validate", add_validate_command},
                                                  {"order", add_order_command},
                                                  {"kernel", add_kernel_command},
                                                  {"gpu", add_gpu_command},
                                                  {"doctor", add_doctor_command},
                                                  {"trace", add_trace_command},
                                                  {"teach", add_teach_command},
                                                  {"lab", add_lab_command},
                                                  {"report", add_report_command},
                                                  {"explain", add_explain_command}}};

// The command that the first word names needs no others: to set up all of them takes a millisecond of the
// forty of a prediction by tiles. For any other word all are there, to be listed or to suggest one.
void add_commands(CLI::App& root, const std::string& first_word, Invocation& invocation, Commands& commands) {
    const auto* const named = std::ranges::find_if(
        kCommands, [&](const NamedCommand& command) { return first_word == command.name; });
    for (const NamedCommand& command : kCommands) {
        if (named != kCommands.end() && &command != named) continue;
        command.add(root, invocation, commands);
        root.get_subcommand(command.name)->allow_extras();
    }
}

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}  // namespace

std::uint64_t CommonOptions::seed_number() const {
    return parse_whole("--seed", seed, 0, UINT64_MAX);
}

int CommonOptions::thread_count() const {
    return static_cast<int>(parse_whole("--threads", threads, 0, kMostThreads));
}

CLI::Option* names_a_file(CLI::Option* option) {
    return option->check([](const std::string& path) {
        return path.empty() ? std::string("the file's name is empty") : std::string();
    });
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      Invocation& invocation) {
    CLI::App* app = parent.add_subcommand(name, description);
    app->allow_extras();
    CommonOptions& common = invocation.common;
    const std::string group = "Common options";
    names_a_file(app->add_option("--json", common.json, "Write JSON to this file; - in place of the table"))
        ->option_text("FILE|-")
        ->group(group);
    names_a_file(app->add_option("--csv", common.csv, "Write CSV to this file; - in place of the table"))
        ->option_text("FILE|-")
        ->group(group);
    app->add_flag("--quiet,-q", common.quiet, "No progress and no notes on stderr")->group(group);
    app->add_option("--color", common.color, "auto, always or never")->capture_default_str()->group(group);
    app->add_option("--seed", common.seed,
                    "Seed of all random numbers, where the memory lies, which GPC is first")
        ->capture_default_str()
        ->group(group);
    app->add_option("--threads", common.threads,
                    "Threads; 0 for as many as there are. The result is the same for any")
        ->capture_default_str()
        ->group(group);
    return app;
}

CLI::Option* add_list_option(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                             const std::string& description) {
    return app.add_option(name, values, description)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)
        ->option_text("TEXT");
}

RunMeta run_meta(const Invocation& invocation, const Machine& machine, int threads, double seconds) {
    return {kVersion, invocation.argv, machine.file, machine.file_hash, utc_now(), threads, seconds};
}

ExitCode run_command_line(int argc, const char* const* argv) {
    CLI::App root{
        "l2lens predicts what a tile order does to a GPU's L2 before the kernel is written, and proves it on "
        "the hardware counters.",
        "l2lens"};
    Invocation invocation{{argv, argv + argc}, {}};
    Commands commands;
    root.require_subcommand(1);
    root.allow_extras();
    root.set_version_flag("--version", version_text);
    add_commands(root, argc > 1 ? argv[1] : "", invocation, commands);
    root.footer(
        "Example:\n  l2lens predict gemm m=8192 n=8192 k=8192\n\nExit codes: 0 done, 1 outside tolerance or "
        "not a "
        "bijection, 2 interrupted,\n3 internal error, 4 bad usage or input, 77 hardware not available.");

    try {
        parse(root, argc, argv);
    } catch (const CLI::CallForHelp&) {
        write_stdout(root.help());
        return ExitCode::Done;
    } catch (const CLI::CallForAllHelp&) {
        write_stdout(root.help("", CLI::AppFormatMode::All));
        return ExitCode::Done;
    } catch (const CLI::CallForVersion&) {
        write_stdout(version_text());
        return ExitCode::Done;
    } catch (const CLI::ParseError& error) {
        throw BadInput(first_line(error.what()));
    }
    for (const Command& command : commands) {
        if (command.app->parsed()) return command.run();
    }
    throw BadInput("which command? See l2lens --help");
}

}  // namespace l2lens::cli
