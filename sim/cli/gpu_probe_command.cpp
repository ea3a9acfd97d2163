// SPDX-License-Identifier: Apache-2.0
// l2lens gpu probe [-o FILE.toml]: a machine file read off the GPU in this machine.
#include <memory>

#include <fmt/format.h>

#include "cli/file_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/invocation.hpp"
#include "cli/output.hpp"
#include "load/machine_file.hpp"
#include "machine/parameters.hpp"
#include "report/listing.hpp"

#include "gpu/device.hpp"
#include "gpu/probe/probe.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::string file;
    std::string base = "h200";
};

std::string value_in(const Machine& base, const std::string& key) {
    const ParameterInfo* parameter = find_parameter(key);
    return parameter == nullptr ? "" : value_text(base, *parameter);
}

// What was read, beside what the base says.
Listing listing_of(const gpu::ProbeReport& report, const Machine& base) {
    Listing listing{"l2lens/gpu_probe", {"parameter", "probed", base.name, "unit", "source"}, {}};
    for (const gpu::Reading& reading : report.readings) {
        const ParameterInfo* parameter = find_parameter(reading.key);
        listing.rows.push_back({reading.key, reading.value, value_in(base, reading.key),
                                parameter == nullptr ? "" : std::string(parameter->unit), reading.source});
    }
    return listing;
}

std::string remarks(const gpu::ProbeReport& report) {
    std::string text;
    for (const std::string& note : report.notes) text += note + "\n";
    for (const std::string& gap : report.undetermined) text += "not determined: " + gap + "\n";
    return text;
}

ExitCode run(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    if (!arguments.file.empty()) check_writable(arguments.file, "-o");
    const Machine base = load_machine(arguments.base);
    gpu::require_gpu();
    gpu::require_counters();
    const gpu::ProbeReport report = gpu::probe_gpu([&](const std::string& part) {
        throw_if_interrupted();
        output.note("probing " + part);
    });
    const std::string text = machine_toml(report, base);
    parse_machine(text,
                  arguments.file.empty() ? "probed.toml" : arguments.file);  // a file we refuse is no result
    if (!arguments.file.empty()) write_file(arguments.file, text);

    const Listing listing = listing_of(report, base);
    const std::string heading =
        fmt::format("{} ({}), read in {:.1f} s\n", report.description, report.chip, report.seconds);
    constexpr std::size_t kWidest = 40;  // lists of SMs are long
    output.write(
        {[&](bool colour) { return heading + listing_text(listing, colour, kWidest) + remarks(report); },
         [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

}  // namespace

void add_gpu_probe_command(CLI::App& gpu, Invocation& invocation, Commands& commands) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* app = add_command(gpu, "probe", "Read a machine file off the GPU in this machine", invocation);
    app->add_option("-o,--output", arguments->file, "Write the machine file here, for --gpu ./FILE.toml")
        ->option_text("FILE.toml");
    app->add_option("--base", arguments->base, "Where what cannot be read comes from, marked as inferred")
        ->capture_default_str();
    commands.push_back({app, [arguments, &invocation] { return run(*arguments, invocation); }});
}

}  // namespace l2lens::cli
