// SPDX-License-Identifier: Apache-2.0
// l2lens validate: predictions against hardware counters, recorded (--recorded), measured now (--live) or
// counted by another profiler (--ncu, --rocprof).
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/interrupt.hpp"
#include "cli/invocation.hpp"
#include "cli/live_rows.hpp"
#include "cli/model_run.hpp"
#include "cli/output.hpp"
#include "cli/profiler_rows.hpp"
#include "cli/progress.hpp"
#include "cli/replayed_schedules.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "load/text_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/validation_report.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::vector<std::string> recorded;
    std::vector<std::string> noise;
    std::vector<std::string> replay_schedule;
    LiveArguments live;
    ProfilerArguments profiler;
    std::string gpu;
    std::vector<std::string> tolerances;
    std::string split;
    std::string engine = "line";
    std::string sample = "auto";
    std::string seeds = "1";
    const CLI::Option* repeats = nullptr;  // was it given?
};

std::vector<std::string> parameter_names(const std::string& kernel) {
    std::vector<std::string> names;
    for (const KernelParam& param : describe_kernel(kernel).params) names.push_back(param.name);
    return names;
}

std::vector<RecordedRow> read_rows(const std::vector<std::string>& files) {
    std::map<std::string, std::vector<std::string>> known;  // a kernel's file is read once, not once a row
    const ParameterNames names = [&](const std::string& kernel) {
        const auto found = known.find(kernel);
        return found != known.end() ? found->second
                                    : known.emplace(kernel, parameter_names(kernel)).first->second;
    };
    for (const std::string& file : files) {
        if (file.find('=') != std::string::npos && !std::filesystem::exists(file))
            throw BadInput("validate: " + file + ": is no file; recorded rows have their own parameters");
    }
    std::vector<RecordedRow> rows;
    for (const std::string& file : files) {
        for (RecordedRow& row : read_recorded_csv(read_text_file(file, kMostTableBytes), file, names))
            rows.push_back(std::move(row));
    }
    return rows;
}

void check_gpu(const std::vector<RecordedRow>& rows, const Machine& machine) {
    for (const RecordedRow& row : rows) {
        if (row.gpu.empty() || row.gpu == machine.name) continue;
        throw BadInput(fmt::format("{}: recorded on '{}', but predicted for '{}'; use --gpu {}", row.where(),
                                   row.gpu, machine.name, row.gpu));
    }
}

// Only names and parameters of the recorded row reach the model; what was measured does not. A recorded
// schedule, `run`, tells what caused the errors, and changes no prediction.
void predict_row(ValidationRow& row, const RecordedRun* run, const Machine& machine, PredictOptions options,
                 Executor& executor) try {
    std::vector<std::string> params;
    for (const auto& [name, value] : row.recorded.params) params.push_back(name + "=" + value);
    const LaunchedKernel launched =
        load_launched(row.recorded.kernel, params, std::string(mode_name(row.recorded.mode)), machine);
    const Kernel& kernel = launched.kernel;
    options.mode = launched.mode;
    const NamedOrder order = named_order(row.recorded.order, machine, kernel, launched.mode);
    Prediction prediction = predict(machine, kernel, order, options, executor);
    row.predicted = std::move(prediction.counters);
    row.standard_errors = std::move(prediction.standard_errors);
    row.metrics = std::move(prediction.metrics);
    row.predicted_ctas_per_sm = prediction.ctas_per_sm;
    if (run != nullptr)
        row.replayed = replay_schedule(machine, kernel, order, options, prediction.time_ns, *run, executor);
} catch (const BadInput& error) {
    throw BadInput(row.recorded.where() + ": " + error.what());
}

void predict_rows(std::vector<ValidationRow>& rows, const ReplayedSchedules& schedules,
                  const Machine& machine, PredictOptions options, Executor& executor, bool quiet) {
    Progress progress("predicting rows", rows.size(), quiet);
    options.stop_requested = interrupted;
    executor.for_each_with_team(rows.size(), [&](std::size_t i, Executor& team) {
        throw_if_interrupted();
        predict_row(rows[i], schedules.of(i), machine, options, team);
        progress.finish(i);
    });
}

enum class Source { Recorded, Live, Profiler };

// Exactly one, and no option of another.
Source source_of(const Arguments& arguments) {
    const bool profiled = !arguments.profiler.ncu.empty() || !arguments.profiler.rocprof.empty();
    const bool recorded = !arguments.recorded.empty(), live = !arguments.live.kernel.empty();
    if (recorded + live + profiled == 0)
        throw BadInput(
            "validate: against what? --recorded FILE.csv, --live KERNEL, --ncu FILE.csv or --rocprof "
            "FILE.csv");
    if (recorded + live + profiled > 1)
        throw BadInput(
            "validate: --recorded, --live and --ncu or --rocprof are three ways to measure; take one");
    const LiveArguments& options = arguments.live;
    if (!live && !options.params.empty())
        throw BadInput("validate: unexpected argument '" + options.params.front() + "'");
    if (!live && (!options.orders.empty() || !options.modes.empty() || !options.record.empty() ||
                  !options.record_schedule.empty() || arguments.repeats->count() > 0))
        throw BadInput(
            "validate: --order, --mode, --repeats, --record and --record-schedule belong to --live");
    if (!profiled && (!arguments.profiler.as.empty() || !arguments.profiler.map.empty()))
        throw BadInput("validate: --as and --map belong to --ncu and --rocprof");
    if (!recorded && !arguments.noise.empty()) throw BadInput("validate: --noise belongs to --recorded");
    return live ? Source::Live : profiled ? Source::Profiler : Source::Recorded;
}

std::vector<RecordedRow> measured_rows(Source source, const Arguments& arguments, const Machine& machine,
                                       const Output& output) {
    if (source == Source::Live) return measure_live(arguments.live, machine, output);
    if (source == Source::Profiler) return read_profiled(arguments.profiler, machine, output);
    std::vector<RecordedRow> rows = read_rows(arguments.recorded);
    check_gpu(rows, machine);
    for (const std::string& note : misspelt_counters(rows)) output.note(note);
    return rows;
}

Machine machine_of(Source source, const std::string& gpu) {
    if (!gpu.empty()) return load_machine(gpu);
    const std::string here = source == Source::Live ? machine_of_this_gpu() : "";
    return load_machine(here.empty() ? "h200" : here);
}

Tolerances tolerances_of(const Arguments& arguments) {
    Tolerances all;
    for (const std::string& text : arguments.tolerances) all.merge(parse_tolerances(text));
    return all;
}

// A limit that judges nothing would pass for the wrong reason.
void check_judged(const Tolerances& tolerances, const ValidationSummary& summary) {
    for (const auto& [counter, tolerance] : tolerances) {
        if (summary.counters.count(counter) == 0) {
            throw BadInput("--tolerance: no row has a measured '" + counter + "' to compare");
        }
    }
}

// Nor does a validation pass that had nothing to judge.
void check_compared(const ValidationSummary& summary, const Machine& machine) {
    if (!summary.counters.empty() || !summary.counted_nothing.empty()) return;
    throw BadInput("validate: no counter to compare: of what the model predicts for " + machine.name +
                   ", no row has a measured value worth mentioning");
}

// Of the repeats among the rows, whatever their split, and among those of the files beside them. A file that
// is both counts once: its readings would repeat themselves exactly.
std::map<std::string, NoiseStats> noise_of(std::vector<RecordedRow> rows, const Arguments& arguments) {
    namespace fs = std::filesystem;
    std::vector<std::string> beside;
    for (const std::string& file : arguments.noise) {
        const bool known = std::any_of(arguments.recorded.begin(), arguments.recorded.end(),
                                       [&](const std::string& recorded) {
                                           std::error_code not_there;
                                           return fs::equivalent(file, recorded, not_there);
                                       });
        if (!known) beside.push_back(file);
    }
    for (RecordedRow& row : read_rows(beside)) rows.push_back(std::move(row));
    return repeat_noise(rows);
}

std::string why_none_is_left(const std::vector<RecordedRow>& rows, const std::string& split) {
    std::set<std::string> splits;
    for (const RecordedRow& row : rows) splits.insert(row.split);
    if (split.empty() || splits.count(split) != 0) return "no row is left to predict";
    splits.erase("");
    if (splits.empty()) return "--split " + split + ": the rows have no column 'split'";
    std::string known;
    for (const std::string& one : splits) known += " " + one;
    return "--split " + split + ": no row has it; there are:" + known;
}

ExitCode run(const Arguments& arguments, const Invocation& invocation) {
    const auto start = std::chrono::steady_clock::now();
    const Output output(invocation.common);
    const Tolerances given = tolerances_of(arguments);
    PredictOptions options;
    options.engine = parse_engine(arguments.engine);
    check_sampled(options.engine, arguments.sample);
    options.sample = parse_sample(arguments.sample);
    options.seeds = static_cast<int>(parse_whole("--seeds", arguments.seeds, 1, 1000));
    options.seed = invocation.common.seed_number();
    const int threads = invocation.common.thread_count();
    const Source source = source_of(arguments);

    const Machine machine = machine_of(source, arguments.gpu);
    std::vector<RecordedRow> rows = measured_rows(source, arguments, machine, output);
    ValidationPlan plan = plan_validation(rows, arguments.split);
    if (plan.rows.empty()) throw BadInput("validate: " + why_none_is_left(rows, arguments.split));
    const Tolerances& tolerances = given.empty() ? accepted_tolerances().of(rows) : given;
    const auto noise = noise_of(rows, arguments);
    const ReplayedSchedules schedules(arguments.replay_schedule, plan.rows);
    if (plan.skipped_random > 0) {
        output.note(fmt::format("{} row{} in random order skipped: the seed is not recorded",
                                plan.skipped_random, plan.skipped_random == 1 ? "" : "s"));
    }

    TbbExecutor executor(threads);
    predict_rows(plan.rows, schedules, machine, options, executor, output.quiet());
    const ValidationSummary summary = summarise(plan.rows, noise);
    if (!given.empty()) check_judged(tolerances, summary);
    check_compared(summary, machine);

    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const ValidationReport report{plan, summary, tolerances, machine.name,
                                  run_meta(invocation, machine, executor.threads(), seconds.count())};
    // Recorded files hold hundreds of rows; a few that were just measured are shown one by one.
    const auto text = [&](bool colour) {
        return (source == Source::Recorded ? "" : validation_rows_text(report, colour)) +
               validation_text(report, colour);
    };
    output.write({text, [&] { return validation_json(report); }, [&] { return validation_csv(report); }});
    return outside(summary, tolerances).empty() ? ExitCode::Done : ExitCode::OutsideTolerance;
}

// Gives back --repeats, whose default says nothing about whether it was given.
const CLI::Option* add_live_options(CLI::App& app, LiveArguments& live) {
    const std::string group = "Live";
    app.add_option(
           "--live", live.kernel,
           "Run this kernel on the GPU in this machine: gemm, attention, tfla_parallel, softmax, layernorm, "
           "norm_gate, stencil2d, transpose or copy")
        ->option_text("KERNEL")
        ->group(group);
    app.add_option("params", live.params, "Its parameters, as in m=8192")->option_text("[param=value ...]");
    add_list_option(app, "--order", live.orders, "Orders to run, as predict takes them (default: common)")
        ->group(group);
    add_list_option(app, "--mode", live.modes, "Launches: a comma list of grid, static, dynamic")
        ->group(group);
    app.add_option("--record", live.record, "Add what was measured to this file, for --recorded")
        ->option_text("FILE.csv")
        ->group(group);
    app.add_option("--record-schedule", live.record_schedule, "Add who ran what tile when to this file")
        ->option_text("FILE.csv")
        ->group(group);
    return app.add_option("--repeats", live.repeats, "Readings of each counter; the median counts")
        ->capture_default_str()
        ->group(group);
}

void add_profiler_options(CLI::App& app, ProfilerArguments& profiler) {
    const std::string group = "Other profilers";
    app.add_option("--ncu", profiler.ncu, "Output of ncu --csv --page raw (or of ncu --csv --metrics ...)")
        ->option_text("FILE.csv ...")
        ->group(group);
    app.add_option("--rocprof", profiler.rocprof, "Output of rocprofv3 --pmc, a file a pass")
        ->option_text("FILE.csv ...")
        ->group(group);
    add_list_option(
        app, "--as", profiler.as,
        "REGEX=KERNEL param=value ...: launches whose name matches are this kernel; order= is needed, "
        "mode= may be given. Splits at the first '='; in the expression write \\x3d. May be repeated; the "
        "first that matches counts")
        ->group(group);
    app.add_option("--map", profiler.map,
                   "The same as [[launch]] tables with match = \"REGEX\" and as = \"gemm ...\"")
        ->option_text("FILE.toml")
        ->group(group);
}

}  // namespace

void add_validate_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* app = add_command(root, "validate", "Hold predictions against hardware counters", invocation);
    app->add_option("--recorded", arguments->recorded, "Recorded counters, one launch a row")
        ->option_text("FILE.csv ...");
    app->add_option(
           "--replay-schedule", arguments->replay_schedule,
           "Recorded schedules of the rows (--record-schedule writes them): tell whether an error is "
           "the schedule's or the memory's")
        ->option_text("FILE.csv ...");
    app->add_option("--noise", arguments->noise,
                    "Further recorded counters with repeats: how much two readings of one launch differ")
        ->option_text("FILE.csv ...");
    arguments->repeats = add_live_options(*app, arguments->live);
    add_profiler_options(*app, arguments->profiler);
    app->add_option("--gpu", arguments->gpu,
                    "GPU they were recorded on, a name or a file (default: h200; with --live the one it "
                    "runs on, when it is known)");
    add_list_option(
        *app, "--tolerance", arguments->tolerances,
        "COUNTER=P[,...]: largest median error in percent (points for rates); default: the accepted figures "
        "shipped with the recorded data");
    app->add_option("--split", arguments->split, "Only rows with this value in column 'split', as in test");
    app->add_option("--engine", arguments->engine, "What is simulated as one unit: line or tile")
        ->capture_default_str();
    app->add_option("--sample", arguments->sample, "Share of the slices to simulate: auto, 1 or 1/N")
        ->capture_default_str();
    app->add_option("--seeds", arguments->seeds,
                    "Independent runs to average: other GPCs first, by lines other places in memory")
        ->capture_default_str();
    app->footer(
        "Exit code 1 when a counter is outside its tolerance.\n\nExamples:\n"
        "  l2lens validate --recorded traces/h200/gemm.csv\n"
        "  l2lens validate --recorded mine.csv --replay-schedule my_schedules.csv\n"
        "  l2lens validate --live gemm m=8192 --order row_major,group_m:8 --mode grid,static --record "
        "mine.csv\n"
        "  l2lens validate --ncu run.csv --as 'nvjet|gemm=gemm m=4096 n=4096 k=4096 bm=128 bn=256 "
        "order=group_m:8'\n"
        "  l2lens validate --recorded mine.csv --tolerance lts__d_sectors_fill_device.sum=2 --json -");
    commands.push_back({app, [arguments, &invocation] { return run(*arguments, invocation); }});
}

}  // namespace l2lens::cli
