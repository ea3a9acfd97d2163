// SPDX-License-Identifier: Apache-2.0
// l2lens doctor: what there is to measure with, what is missing, what to do about it, and what works without.
#include <fmt/format.h>

#include "cli/invocation.hpp"
#include "cli/output.hpp"
#include "report/listing.hpp"
#include "report/text_table.hpp"

#include "gpu/device.hpp"

namespace l2lens::cli {
namespace {

using gpu::DeviceReport;
using gpu::Finding;
using gpu::GpuInfo;

constexpr Finding::Level kGood = Finding::Level::Good;

std::string version_of(int cuda_version) {
    return fmt::format("{}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
}

std::string driver_text(const DeviceReport& report) {
    const std::string name = report.driver_version.empty() ? "there" : report.driver_version;
    return fmt::format("driver: {}, up to CUDA {}", name, version_of(report.cuda_version));
}

std::string clocks_text(const GpuInfo& gpu) {
    if (gpu.sm_clock_mhz == 0) return "clocks: unknown (no NVML)";
    return fmt::format("clocks: SMs at {} of {} MHz now, memory at {} MHz", gpu.sm_clock_mhz,
                       gpu.sm_clock_most_mhz, gpu.memory_clock_mhz);
}

void add_gpu(std::vector<Finding>& findings, const GpuInfo& gpu) {
    const std::string name = fmt::format("GPU {}: ", gpu.index);
    findings.push_back({kGood, name + "chip " + (gpu.chip.empty() ? "unknown" : gpu.chip), ""});
    if (!gpu.mig_enabled.value_or(false))
        findings.push_back({kGood, name + (gpu.mig_enabled ? "MIG is off" : "MIG: unknown (no NVML)"), ""});
    findings.push_back({kGood, name + clocks_text(gpu), ""});
}

std::string permission_text(const DeviceReport& report) {
    if (!report.counters_need_administrator) return "counter permission: the driver does not say";
    if (!*report.counters_need_administrator) return "counter permission: every user";
    return "counter permission: administrators, and this user is one";
}

// Missing permission is among the report's own findings.
bool may_read_counters(const DeviceReport& report) {
    return report.administrator || !report.counters_need_administrator.value_or(false);
}

std::vector<Finding> findings_of(const DeviceReport& report) {
    std::vector<Finding> findings;
    if (!report.built_with.empty()) findings.push_back({kGood, "built with " + report.built_with, ""});
    if (report.cuda_version > 0) findings.push_back({kGood, driver_text(report), ""});
    findings.insert(findings.end(), report.findings.begin(), report.findings.end());
    for (const GpuInfo& gpu : report.gpus) add_gpu(findings, gpu);
    if (!report.gpus.empty() && may_read_counters(report))
        findings.push_back({kGood, permission_text(report), ""});
    return findings;
}

// What a user can do, whatever the reasons above.
std::vector<Finding> abilities_of(const DeviceReport& report) {
    const auto ability = [&](bool there, const char* what, const char* needs) {
        return Finding{there ? kGood : Finding::Level::Missing, what, there ? "" : needs};
    };
    const bool counters = report.can_read_counters();
    return {ability(true, "predict, order, kernel, gpu, explain work (they need no GPU)", ""),
            ability(true, "validate --recorded, --ncu, --rocprof work (they need no GPU)", ""),
            ability(counters, "validate --live", "needs a GPU with counters"),
            ability(counters, "gpu probe", "needs a GPU with counters")};
}

std::string level_name(Finding::Level level) {
    return level == kGood ? "ok" : level == Finding::Level::Warning ? "warning" : "missing";
}

Style style_of(Finding::Level level) {
    return level == kGood ? Style::Good : level == Finding::Level::Warning ? Style::Bold : Style::Bad;
}

std::string lines_of(const std::vector<Finding>& findings, bool colour) {
    std::string text;
    for (const Finding& finding : findings) {
        text += styled(fmt::format("{:<8}", level_name(finding.level)), style_of(finding.level), colour) +
                finding.what + (finding.remedy.empty() ? "" : ": " + finding.remedy) + "\n";
    }
    return text;
}

ExitCode run(const Invocation& invocation) {
    const Output output(invocation.common);
    const DeviceReport report = gpu::inspect_device();
    std::vector<Finding> findings = findings_of(report);
    const std::vector<Finding> abilities = abilities_of(report);
    findings.insert(findings.end(), abilities.begin(), abilities.end());
    Listing listing{"l2lens/doctor", {"state", "what", "remedy"}, {}};
    for (const Finding& finding : findings)
        listing.rows.push_back({level_name(finding.level), finding.what, finding.remedy});
    output.write({[&](bool colour) { return lines_of(findings, colour); },
                  [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

}  // namespace

void add_doctor_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    CLI::App* app = add_command(
        root, "doctor", "What there is to measure with, and what to do about what is not", invocation);
    commands.push_back({app, [&invocation] { return run(invocation); }});
}

}  // namespace l2lens::cli
