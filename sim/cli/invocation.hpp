// SPDX-License-Identifier: Apache-2.0
// What every command shares: the options common to all of them, and how a command enters the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "report/predict_report.hpp"

namespace l2lens::cli {

inline constexpr int kMostThreads = 1024;

// As typed; the accessors below read them.
struct CommonOptions {
    std::string json;
    std::string csv;
    std::string color = "auto";
    std::string seed = "0";
    std::string threads = "0";
    bool quiet = false;

    std::uint64_t seed_number() const;
    int thread_count() const;  // 0: as many as there are
};

// Outlives the parser: options are bound to it.
struct Invocation {
    std::vector<std::string> argv;
    CommonOptions common;
};

// A command with its parser; `run` is called when the command was chosen.
struct Command {
    CLI::App* app;
    std::function<ExitCode()> run;
};
using Commands = std::vector<Command>;

// Adds a subcommand that takes the common options. Surplus arguments are left for command_line.cpp, which
// suggests what was meant.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      Invocation& invocation);

// The option's value is a file to write: an empty one (a variable that is not set) is refused.
CLI::Option* names_a_file(CLI::Option* option);

// An option that may be repeated and takes one value each time: CLI11 would split "lua:" values at commas and
// swallow the positionals after it.
CLI::Option* add_list_option(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                             const std::string& description);

// One function a command, each in a file of its own.
void add_predict_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_validate_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_order_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_kernel_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_gpu_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_gpu_probe_command(CLI::App& gpu, Invocation& invocation, Commands& commands);  // under `gpu`
void add_doctor_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_trace_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_teach_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_lab_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_report_command(CLI::App& root, Invocation& invocation, Commands& commands);
void add_explain_command(CLI::App& root, Invocation& invocation, Commands& commands);

// Builds the parser, parses, runs the command. Throws Error for whatever goes wrong.
ExitCode run_command_line(int argc, const char* const* argv);

// The `meta` of a document about `machine`.
RunMeta run_meta(const Invocation& invocation, const Machine& machine, int threads, double seconds);

}  // namespace l2lens::cli
