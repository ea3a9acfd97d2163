// SPDX-License-Identifier: Apache-2.0
// l2lens predict KERNEL [param=value ...]: what each tile order would do to the L2.
#include <chrono>
#include <memory>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/file_output.hpp"
#include "cli/invocation.hpp"
#include "cli/model_run.hpp"
#include "cli/order_search.hpp"
#include "cli/output.hpp"
#include "load/machine_file.hpp"
#include "machine/topology.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/html_report.hpp"
#include "report/operands.hpp"
#include "report/predict_document.hpp"
#include "report/predict_report.hpp"
#include "report/recorded_csv.hpp"
#include "report/schedule_csv.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::vector<std::string> kernel;  // name, then param=value
    std::string gpu = "h200";
    std::vector<std::string> orders;
    std::string mode;
    std::string engine = "auto";
    std::string sample = "auto";
    std::string seeds = "1";
    std::string l2 = "cold";
    std::string sms;
    std::string record_schedule;
    std::string report;
    bool details = false;

    bool wants_details() const { return details || !report.empty(); }
};

PredictOptions predict_options(const Arguments& arguments, const CommonOptions& common) {
    PredictOptions options;
    if (parse_choice("--engine", arguments.engine, {"auto", "line", "tile"}) != "auto")
        options.engine = parse_engine(arguments.engine);
    check_sampled(options.engine, arguments.sample);
    if (!arguments.mode.empty()) parse_mode(arguments.mode);
    options.sample = parse_sample(arguments.sample);
    options.seeds = static_cast<int>(parse_whole("--seeds", arguments.seeds, 1, 1000));
    options.seed = common.seed_number();
    options.warm_l2 = parse_choice("--l2", arguments.l2, {"cold", "warm"}) == "warm";
    options.record_schedule = !arguments.record_schedule.empty();
    return options;
}

// Before anything is computed: can the files be written, and to a place of their own?
void check_files(const Arguments& arguments) {
    if (!arguments.record_schedule.empty()) check_writable(arguments.record_schedule, "--record-schedule");
    if (arguments.report.empty()) return;
    check_writable(arguments.report, "--report");
    check_report_can_be_drawn();
}

std::string schedules_text(const std::vector<Prediction>& predictions) {
    std::string text = schedule_csv_header();
    for (const Prediction& prediction : predictions)
        text += schedule_csv(schedule_run_name(prediction.order, prediction.mode), prediction.schedule);
    return text;
}

// What everybody needs who keeps details; nothing when nobody does.
std::optional<KernelLines> watched_lines(const Arguments& arguments, const Kernel& kernel) {
    std::optional<KernelLines> lines;
    if (arguments.wants_details()) lines.emplace(kernel, paneled_tensors(kernel));
    return lines;
}

// Whether `--engine auto` searches: by lines alone so many orders would take minutes.
bool searches(std::size_t orders, const Arguments& arguments, const Machine& machine, const Kernel& kernel) {
    return arguments.engine == "auto" && orders > kOrdersByLine && arguments.sample == "auto" &&
           machine.partitions <= 2 && beyond_tile_engine(machine, kernel).empty();
}

ExitCode run(const Arguments& arguments, const Invocation& invocation) {
    const auto start = std::chrono::steady_clock::now();
    const Output output(invocation.common);
    PredictOptions options = predict_options(arguments, invocation.common);
    check_files(arguments);
    const int threads = invocation.common.thread_count();
    if (arguments.kernel.empty()) throw BadInput("predict: which kernel? l2lens kernel list names them");

    Machine machine = load_machine(arguments.gpu);
    if (!arguments.sms.empty())
        keep_sms(machine, static_cast<int>(parse_whole("--sms", arguments.sms, 1, 1 << 16)));
    const LaunchedKernel launched = load_sequence(arguments.kernel, arguments.mode, machine, output.quiet());
    const Kernel& kernel = launched.kernel;
    options.mode = launched.mode;
    const std::vector<std::string> order_names =
        arguments.orders.empty() ? std::vector<std::string>{"common"} : arguments.orders;
    const std::vector<NamedOrder> orders = named_orders(order_names, machine, kernel, launched.mode,
                                                        [&](const std::string& text) { output.note(text); });

    const std::optional<KernelLines> lines = watched_lines(arguments, kernel);
    if (lines) options.details = &*lines;

    TbbExecutor executor(threads);
    const auto predict_all =
        searches(orders.size(), arguments, machine, kernel) ? search_orders : predict_orders;
    const std::vector<Prediction> predictions =
        predict_all(machine, kernel, orders, options, executor, output.quiet());

    if (options.record_schedule) write_file(arguments.record_schedule, schedules_text(predictions));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const PredictReport report{machine, kernel, predictions,
                               run_meta(invocation, machine, executor.threads(), seconds.count())};
    if (!arguments.report.empty()) {
        const ReportDocument document{ReportDocument::Kind::Prediction, "", predict_document(report)};
        write_file(arguments.report, html_report({&document, 1}));
    }
    output.write({[&](bool colour) { return predict_text(report, colour); },
                  [&] { return predict_json(report); }, [&] { return predict_csv(report); }});
    return ExitCode::Done;
}

}  // namespace

void add_predict_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* app =
        add_command(root, "predict", "Predict L2 hits, DRAM traffic and time of tile orders", invocation);
    app->add_option(
           "kernel", arguments->kernel,
           "Kernel (a name or a file) and its parameters, as in gemm m=4096; after 'then' another one "
           "that runs next, on what the first left in the L2")
        ->option_text("KERNEL [param=value ...] [then KERNEL ...]");
    app->add_option("--gpu", arguments->gpu, "GPU, a name or a file")->capture_default_str();
    add_list_option(
        *app, "--order", arguments->orders,
        "Orders: a comma list of names, common (default), all, 'lua: return pid // tn, pid % tn', file:PATH; "
        "may be repeated");
    app->add_option("--mode", arguments->mode, "Launch: grid, static or dynamic (persistent)")
        ->capture_default_str();
    app->add_option("--engine", arguments->engine,
                    "What is simulated as one unit: line, tile (a whole box: milliseconds an order), or auto "
                    "(line; of more than 24 orders all by tile, then the fastest by line)")
        ->capture_default_str();
    app->add_option("--sample", arguments->sample, "Share of the slices to simulate: auto, 1 or 1/N")
        ->capture_default_str();
    app->add_option("--seeds", arguments->seeds,
                    "Independent runs to average: other GPCs first, by lines other places in memory")
        ->capture_default_str();
    app->add_option("--l2", arguments->l2, "L2 at the start: cold or warm")->capture_default_str();
    app->add_option("--sms", arguments->sms, "Launch on this many SMs only")->option_text("N");
    names_a_file(app->add_option("--record-schedule", arguments->record_schedule,
                                 "Write which SM ran which CTA from when to when to this file"))
        ->option_text("FILE.csv");
    app->add_flag(
        "--details", arguments->details,
        "Keep in the JSON what `l2lens report` draws: schedule, traffic over time, reuse distances");
    names_a_file(app->add_option("--report", arguments->report,
                                 "Write a page to look at: what each order does, tile by tile"))
        ->option_text("FILE.html");
    app->footer(
        "Examples:\n  l2lens predict gemm m=8192 n=8192 k=8192\n"
        "  l2lens predict gemm --order row_major,group_m:8 --gpu a100-80 --json result.json\n"
        "  l2lens predict tfla_recurrent then tfla_parallel --order row_major");
    commands.push_back({app, [arguments, &invocation] { return run(*arguments, invocation); }});
}

}  // namespace l2lens::cli
