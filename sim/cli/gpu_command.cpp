// SPDX-License-Identifier: Apache-2.0
// l2lens gpu list | show NAME | check FILE | diff A B: machines as data.
#include <memory>

#include <fmt/format.h>

#include "cli/invocation.hpp"
#include "cli/output.hpp"
#include "load/machine_file.hpp"
#include "load/model_path.hpp"
#include "machine/check.hpp"
#include "report/format.hpp"
#include "report/listing.hpp"

namespace l2lens::cli {
namespace {

const char* confidence_name(Confidence confidence) {
    switch (confidence) {
        case Confidence::Measured:
            return "measured";
        case Confidence::Documented:
            return "documented";
        case Confidence::Inferred:
            return "inferred";
    }
    return "";
}

void write_listing(const Invocation& invocation, const Listing& listing, const std::string& heading = "") {
    const Output output(invocation.common);
    output.write({[&](bool colour) { return heading + listing_text(listing, colour); },
                  [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
}

std::string l2_text(const Machine& machine) {
    return fmt::format("{} x {}", machine.partitions,
                       format_binary_bytes(static_cast<double>(machine.partition_bytes())));
}

ExitCode list(const Invocation& invocation) {
    Listing listing{"l2lens/gpus", {"name", "SMs", "L2", "description"}, {}};
    for (const std::string& name : list_machines()) {
        const Machine machine = load_machine(name);
        listing.rows.push_back(
            {name, std::to_string(machine.sms.size()), l2_text(machine), machine.description});
    }
    write_listing(invocation, listing);
    return ExitCode::Done;
}

ExitCode show(const std::string& name, const Invocation& invocation) {
    const Machine machine = load_machine(name);
    Listing listing{"l2lens/gpu", {"parameter", "value", "unit", "confidence", "source"}, {}};
    for (const Parameter& parameter : machine.parameters) {
        listing.rows.push_back({parameter.key, parameter.value, parameter.unit,
                                confidence_name(parameter.confidence), parameter.source});
    }
    write_listing(invocation, listing,
                  fmt::format("{}: {} ({})\n", machine.name, machine.description, machine.file));
    return ExitCode::Done;
}

// load_machine() refuses what is impossible, naming the line; what is left is a summary to look over.
ExitCode check_file(const std::string& file, const Invocation& invocation) {
    const Machine machine = load_machine(file);
    int guesses = 0;
    for (const Parameter& parameter : machine.parameters)
        guesses += parameter.confidence == Confidence::Inferred ? 1 : 0;
    const Listing listing{"l2lens/gpu_check",
                          {"name", "file", "SMs", "GPCs", "L2", "slices", "parameters", "inferred"},
                          {{machine.name, machine.file, std::to_string(machine.sms.size()),
                            std::to_string(machine.gpcs), l2_text(machine), std::to_string(machine.slices()),
                            std::to_string(machine.parameters.size()), std::to_string(guesses)}}};
    write_listing(invocation, listing);
    return ExitCode::Done;
}

ExitCode show_difference(const std::string& a, const std::string& b, const Invocation& invocation) {
    const Machine first = load_machine(a), second = load_machine(b);
    Listing listing{"l2lens/gpu_diff", {"parameter", first.name, second.name}, {}};
    if (first.name == second.name) listing.columns = {"parameter", a, b};
    for (const Difference& difference : diff(first, second)) {
        listing.rows.push_back({difference.key, difference.a, difference.b});
    }
    write_listing(invocation, listing,
                  listing.rows.empty() ? fmt::format("{} and {} have the same parameters\n", a, b) : "");
    return ExitCode::Done;
}

}  // namespace

void add_gpu_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    CLI::App* gpu = root.add_subcommand("gpu", "Machines: list, show, check, diff, probe");
    gpu->require_subcommand(1);

    CLI::App* app = add_command(*gpu, "list", "Machines that are shipped", invocation);
    commands.push_back({app, [&invocation] { return list(invocation); }});

    const auto name = std::make_shared<std::string>();
    app = add_command(*gpu, "show", "Every parameter with its unit, source and confidence", invocation);
    app->add_option("gpu", *name, "A name or a file")->required();
    commands.push_back({app, [name, &invocation] { return show(*name, invocation); }});

    app = add_command(*gpu, "check", "Read a machine file and complain about what is wrong", invocation);
    app->add_option("file", *name, "A name or a file")->required();
    commands.push_back({app, [name, &invocation] { return check_file(*name, invocation); }});

    const auto other = std::make_shared<std::string>();
    app = add_command(*gpu, "diff", "Parameters in which two machines differ", invocation);
    app->add_option("a", *name, "A name or a file")->required();
    app->add_option("b", *other, "Another")->required();
    commands.push_back(
        {app, [name, other, &invocation] { return show_difference(*name, *other, invocation); }});

    add_gpu_probe_command(*gpu, invocation, commands);
}

}  // namespace l2lens::cli
