// SPDX-License-Identifier: Apache-2.0
// l2lens trace record | info | head | convert | replay: the requests of a run as a file, and the L2 alone fed
// from one.
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/file_roles.hpp"
#include "cli/arguments.hpp"
#include "cli/file_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/invocation.hpp"
#include "cli/model_run.hpp"
#include "cli/output.hpp"
#include "cli/staged_file.hpp"
#include "cli/trace_listing.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/replay_report.hpp"
#include "schedule/fences.hpp"
#include "trace/recorder.hpp"
#include "trace/replay.hpp"
#include "trace/text.hpp"
#include "trace/writer.hpp"

#include "import/import.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::vector<std::string> kernel;  // name, then param=value
    std::string file;
    std::string output;
    std::string gpu;
    std::string order = "row_major";
    std::string mode;
    std::string sample = "auto";
    std::string most_bytes = "4G";
    std::string count = "10";
    std::string form;
    std::string format = "auto";
    std::string ctas_per_sm = "0";
    bool lines = false;
    bool text = false;
};

// "100M": bytes, K, M and G are powers of 1024.
std::uint64_t parse_size(const std::string& option, const std::string& text) {
    static constexpr std::string_view kUnits = "KMG";
    const std::size_t unit = text.empty() ? std::string::npos : kUnits.find(text.back());
    const bool scaled = unit != std::string_view::npos;
    const unsigned shift = scaled ? 10 * (static_cast<unsigned>(unit) + 1) : 0;
    try {
        return parse_whole(option, scaled ? text.substr(0, text.size() - 1) : text, 1, UINT64_MAX >> shift)
               << shift;
    } catch (const BadInput&) {
        throw BadInput(
            fmt::format("{}: '{}' is no number of bytes, as in 1000000, 512K, 100M or 4G", option, text));
    }
}

TraceHeader header_of(const Arguments& arguments, const Invocation& invocation, const Kernel& kernel,
                      const Machine& machine, Mode mode) {
    TraceHeader header;
    header.version = run_meta(invocation, machine, 1, 0).version;
    header.kind = arguments.lines ? RecordKind::Line : RecordKind::Box;
    header.kernel = kernel.name;
    header.title = kernel.title;
    header.params = kernel.params;
    header.order = arguments.order;
    header.mode = mode_name(mode);
    header.gpu = machine.name;
    header.gpu_hash = machine.file_hash;
    header.seed = invocation.common.seed_number();
    header.fences = static_cast<std::uint64_t>(std::llround(fences_of(kernel, machine, mode != Mode::Grid)));
    return header;
}

void write_listing(const Output& output, const Listing& listing) {
    output.write({[&](bool colour) { return listing_text(listing, colour, 100); },
                  [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
}

// Of plain loads; 0 when there are none.
double l1_hit_rate(const std::vector<Prediction>& predictions) {
    if (predictions.empty()) return 0;
    const auto& metrics = predictions.front().metrics;
    const auto found = metrics.find("l1_hit_rate_pct");
    return found == metrics.end() ? 0 : found->second;
}

ExitCode record(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    const std::uint64_t most_bytes = parse_size("--max-size", arguments.most_bytes);
    if (arguments.kernel.empty()) throw BadInput("trace record: which kernel? l2lens kernel list names them");
    if (arguments.output.empty()) throw BadInput("trace record: where to? -o FILE.l2t");
    const Machine machine = load_machine(arguments.gpu.empty() ? "h200" : arguments.gpu);
    const LaunchedKernel launched = load_launched(
        arguments.kernel[0], {arguments.kernel.begin() + 1, arguments.kernel.end()}, arguments.mode, machine);
    const NamedOrder order = named_order(arguments.order, machine, launched.kernel, launched.mode);
    TbbExecutor executor(invocation.common.thread_count());

    StagedFile file(arguments.output, "-o");
    TraceRecorder recorder(file.stream(), machine,
                           header_of(arguments, invocation, launched.kernel, machine, launched.mode),
                           most_bytes);
    PredictOptions options;
    options.mode = launched.mode;
    options.sample = parse_sample(arguments.sample);
    options.seed = invocation.common.seed_number();
    options.sink = &recorder;
    std::vector<Prediction> predictions;
    try {
        predictions =
            predict_orders(machine, launched.kernel, {&order, 1}, options, executor, output.quiet());
    } catch (const RecordingFull&) {  // what is there is a readable beginning
    }
    if (const double hits = l1_hit_rate(predictions); hits > 0) {
        output.note(
            fmt::format("the L1s had {:.1f} % of what plain loads asked; the trace holds what they asked, "
                        "so a replay counts more than the prediction",
                        hits));
    }
    const TraceEnd end = recorder.finish();
    file.commit();
    if (!end.complete) {
        output.note(fmt::format("--max-size {} is reached: the trace holds the first {} records of the run",
                                arguments.most_bytes, end.records));
    }
    write_listing(output, {"l2lens/trace_recorded",
                           {"file", "records", "kind", "bytes", "complete"},
                           {{arguments.output, std::to_string(end.records), arguments.lines ? "line" : "box",
                             std::to_string(recorder.written()), end.complete ? "yes" : "no"}}});
    return ExitCode::Done;
}

// The GPU a trace is about: --gpu, or the one it was recorded on, or `otherwise`.
Machine machine_of(const Arguments& arguments, const TraceHeader& header, const std::string& otherwise) {
    const std::string name = !arguments.gpu.empty() ? arguments.gpu
                             : header.gpu.empty()   ? otherwise
                                                    : header.gpu;
    if (name.empty()) throw BadInput(arguments.file + ": the trace does not say its GPU; --gpu NAME does");
    return load_machine(name);
}

void note_other_machine(const Output& output, const TraceHeader& header, const Machine& machine) {
    if (header.gpu != machine.name || header.gpu_hash == machine.file_hash) return;
    output.note(
        fmt::format("{} has changed since the trace was recorded: its counters may, too", machine.file));
}

ExitCode info(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    const std::unique_ptr<TraceReader> reader = open_trace(arguments.file);
    write_listing(output, trace_info(*reader, arguments.file));
    if (!reader->warning().empty()) output.note(reader->warning());
    return ExitCode::Done;
}

// Calls visit(line) for each request of a trace, boxes expanded as on the GPU they were recorded on, until it
// says false. Returns the sectors the SMs asked for.
std::uint64_t for_each_request(TraceReader& reader, const Arguments& arguments,
                               const std::function<bool(const LineRecord&)>& visit) {
    const TraceHeader& header = reader.header();
    std::optional<Machine> machine;
    std::optional<AddressMap> map;
    std::optional<LaneSample> sample;
    std::optional<BoxExpander> expand;
    if (header.kind == RecordKind::Box) {
        machine = machine_of(arguments, header, "");
        if (machine->l2.slices_per_partition != header.lanes_of)
            throw BadInput(fmt::format("{}: recorded on {} lanes, {} has {}", arguments.file, header.lanes_of,
                                       machine->name, machine->l2.slices_per_partition));
        map.emplace(*machine, header.seed);
        sample.emplace(header.lanes_of, header.lanes);
        expand.emplace(*machine, *map, *sample, header.tensors);
    }
    std::uint64_t sectors = 0;
    bool more = true;
    const auto pass_on = [&](const LineRecord& line, int) { more = more && visit(line); };
    RecordBatch batch;
    while (more && reader.next(batch)) {
        throw_if_interrupted();
        for (std::size_t i = 0; more && i < batch.boxes.size(); ++i) {
            const BoxRecord& box = batch.boxes[i];
            if (box.sm >= machine->sms.size())
                throw BadInput(fmt::format("{}: SM {}, but {} has SMs 0 to {}", reader.where(i), box.sm,
                                           machine->name, machine->sms.size() - 1));
            sectors += (*expand)(box, reader.walks()[box.walk], pass_on);
        }
        for (std::size_t i = 0; more && i < batch.lines.size(); ++i) pass_on(batch.lines[i], 0);
    }
    if (header.kind == RecordKind::Line && reader.end()) sectors = reader.end()->sectors;
    return sectors;
}

// Requests need no machine, but a --gpu that is misspelt or an output is a mistake all the same.
void check_gpu(const Arguments& arguments) {
    if (!arguments.gpu.empty()) load_machine(arguments.gpu);
}

ExitCode head(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    if (arguments.text && (!invocation.common.json.empty() || !invocation.common.csv.empty()))
        throw BadInput("trace head: --text prints requests; --json and --csv list records without it");
    check_gpu(arguments);
    const std::uint64_t count = parse_whole("-n", arguments.count, 1, 10'000'000);
    const std::unique_ptr<TraceReader> reader = open_trace(arguments.file);
    if (!arguments.text) {
        write_listing(output, trace_head(*reader, count));
        return ExitCode::Done;
    }
    std::ostringstream text;
    TextTraceWriter writer(text, reader->header());
    std::uint64_t shown = 0;
    for_each_request(*reader, arguments, [&](const LineRecord& line) {
        writer.add(line);
        return ++shown < count;
    });
    write_stdout(text.str());
    return ExitCode::Done;
}

ExitCode convert(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    if (arguments.output.empty()) throw BadInput("trace convert: where to? -o FILE");
    check_gpu(arguments);
    const std::unique_ptr<TraceReader> reader = open_trace(arguments.file);
    const bool text = parse_choice("--to", arguments.form, {"text", "lines"}) == "text";
    StagedFile file(arguments.output, "-o");
    std::uint64_t records = 0;
    TraceHeader header = reader->header();
    header.kind = RecordKind::Line;
    std::optional<TextTraceWriter> text_writer;
    std::optional<TraceWriter> line_writer;
    if (text) {
        text_writer.emplace(file.stream(), header);
    } else {
        line_writer.emplace(file.stream(), header, std::span<const TraceWalk>());
    }
    const std::uint64_t sectors = for_each_request(*reader, arguments, [&](const LineRecord& line) {
        ++records;
        if (text) {
            text_writer->add(line);
        } else {
            line_writer->add(line);
        }
        return true;
    });
    const bool whole = reader->warning().empty();
    if (text) {
        text_writer->finish({whole, records, sectors});
    } else {
        line_writer->finish(sectors, whole);
    }
    file.commit();
    if (!whole) output.note(reader->warning());
    write_listing(output, {"l2lens/trace_converted",
                           {"file", "requests", "form"},
                           {{arguments.output, std::to_string(records), arguments.form}}});
    return ExitCode::Done;
}

// "auto" goes by the file's name, as Accel-Sim's tools do.
ForeignFormat foreign_format(const Arguments& arguments) {
    const std::string format = parse_choice("--format", arguments.format, {"auto", "nvbit", "csv"});
    if (format != "auto") return format == "nvbit" ? ForeignFormat::Nvbit : ForeignFormat::Csv;
    if (arguments.file.ends_with(".traceg") || arguments.file.ends_with(".trace"))
        return ForeignFormat::Nvbit;
    if (arguments.file.ends_with(".csv")) return ForeignFormat::Csv;
    throw BadInput(arguments.file +
                   ": neither .traceg nor .csv (unpack .xz first); --format nvbit or csv says which");
}

TraceHeader imported_header(const ImportedTrace& trace, const Machine& machine,
                            const Invocation& invocation) {
    TraceHeader header;
    header.version = run_meta(invocation, machine, 1, 0).version;
    header.kind = RecordKind::Line;
    header.kernel = trace.launch.kernel.empty() ? "imported" : trace.launch.kernel;
    header.title = header.kernel + ", imported";
    header.mode = "grid";
    header.gpu = machine.name;
    header.gpu_hash = machine.file_hash;
    return header;
}

ExitCode import_foreign(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    if (arguments.output.empty()) throw BadInput("trace import: where to? -o FILE.l2t");
    check_writable(arguments.output, "-o");
    const ForeignFormat format = foreign_format(arguments);
    const auto ctas = static_cast<int>(parse_whole("--ctas-per-sm", arguments.ctas_per_sm, 0, 64));
    const Machine machine = load_machine(arguments.gpu.empty() ? "h200" : arguments.gpu);
    std::ifstream in(arguments.file);
    if (!in) throw BadInput(arguments.file + ": cannot be opened");
    will_read(arguments.file);
    const ImportedTrace trace = import_trace(in, arguments.file, format, machine, ctas);
    StagedFile file(arguments.output, "-o");
    TraceWriter writer(file.stream(), imported_header(trace, machine, invocation),
                       std::span<const TraceWalk>());
    for (const LineRecord& request : trace.requests) writer.add(request);
    writer.finish(trace.sectors);
    file.commit();
    const std::string l1 = trace.l1_sectors == 0
                               ? ""
                               : fmt::format("{:.1f} %", 100.0 * static_cast<double>(trace.l1_hits) /
                                                             static_cast<double>(trace.l1_sectors));
    write_listing(output, {"l2lens/trace_imported",
                           {"file", "ctas", "ctas_per_sm", "warp_accesses", "l1_hit", "requests", "sectors"},
                           {{arguments.output, std::to_string(trace.ctas), std::to_string(trace.ctas_per_sm),
                             std::to_string(trace.warp_accesses), l1, std::to_string(trace.requests.size()),
                             std::to_string(trace.sectors)}}});
    return ExitCode::Done;
}

ReplayReport report_of(const Arguments& arguments, const TraceReader& reader, const Machine& machine,
                       const ReplayResult& result) {
    const TraceHeader& header = reader.header();
    ReplayReport report;
    report.trace = arguments.file;
    report.gpu = machine.name;
    report.kernel = header.kernel;
    report.title = header.title;
    report.params = header.params;
    report.order = header.order;
    report.mode = header.mode;
    report.lanes = result.lanes;
    report.lanes_of = machine.l2.slices_per_partition;
    report.seed = result.seed;
    report.records = result.records;
    report.requests = result.requests;
    report.complete = reader.warning().empty();
    report.last_answer_ns = static_cast<double>(result.time) / kPsPerNs;
    RunTotals totals;  // without a time: the SMs, whose it would be, did not run
    totals.scale = result.scale;
    totals.slices = machine.slices();
    totals.fence_sectors = fence_sectors(machine, static_cast<double>(header.fences));
    report.counters = evaluate_metrics(MetricKind::Hardware, result.events, totals);
    report.metrics = evaluate_metrics(MetricKind::Neutral, result.events, totals);
    return report;
}

ExitCode replay_trace(const Arguments& arguments, const Invocation& invocation, bool seed_given) {
    const auto start = std::chrono::steady_clock::now();
    const Output output(invocation.common);
    const std::unique_ptr<TraceReader> reader = open_trace(arguments.file);
    const Machine machine = machine_of(arguments, reader->header(), "h200");
    note_other_machine(output, reader->header(), machine);
    TbbExecutor executor(invocation.common.thread_count());
    ReplayOptions options;
    if (seed_given) options.seed = invocation.common.seed_number();
    options.stop_requested = interrupted;
    const ReplayResult result = replay(*reader, machine, options, executor);
    if (!reader->warning().empty()) output.note(reader->warning());

    ReplayReport report = report_of(arguments, *reader, machine, result);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    report.meta = run_meta(invocation, machine, executor.threads(), seconds.count());
    output.write({[&](bool colour) { return replay_text(report, colour); },
                  [&] { return replay_json(report); }, [&] { return replay_csv(report); }});
    return ExitCode::Done;
}

void add_record(CLI::App& trace, Invocation& invocation, Commands& commands) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* app =
        add_command(trace, "record", "Predict one order and keep what its SMs ask of the L2", invocation);
    app->add_option("kernel", arguments->kernel, "Kernel (a name or a file) and its parameters")
        ->option_text("KERNEL [param=value ...]");
    app->add_option("--output,-o", arguments->output, "The trace")->option_text("FILE.l2t");
    app->add_option("--gpu", arguments->gpu, "GPU, a name or a file (h200)");
    app->add_option("--order", arguments->order, "One tile order")->capture_default_str();
    app->add_option("--mode", arguments->mode, "Launch: grid, static or dynamic (persistent)");
    app->add_option("--sample", arguments->sample, "Share of the slices to simulate: auto, 1 or 1/N")
        ->capture_default_str();
    app->add_flag("--lines", arguments->lines,
                  "One record a request instead of one a box: larger, but needs no kernel to be understood");
    app->add_option("--max-size", arguments->most_bytes,
                    "Stop when the trace would be larger; what is there stays readable (as in 500M)")
        ->capture_default_str();
    app->footer("Example:\n  l2lens trace record gemm m=4096 --order hilbert -o hilbert.l2t");
    commands.push_back({app, [arguments, &invocation] { return record(*arguments, invocation); }});
}

}  // namespace

void add_trace_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    CLI::App* trace = root.add_subcommand("trace", "Traces: record, import, info, head, convert, replay");
    trace->require_subcommand(1);
    trace->footer("The format, and how to feed the L2 from a program of your own: traces/README.md");
    add_record(*trace, invocation, commands);

    const auto arguments = std::make_shared<Arguments>();
    const auto add = [&](const char* name, const char* description) {
        CLI::App* app = add_command(*trace, name, description, invocation);
        app->add_option("file", arguments->file, "A trace, binary or text")->required();
        return app;
    };
    const auto foreign = std::make_shared<Arguments>();
    CLI::App* import =
        add_command(*trace, "import", "Make another tool's trace of one kernel into one of ours", invocation);
    import
        ->add_option("file", foreign->file, "kernel-N.traceg of Accel-Sim's NVBit tracer, or accesses as CSV")
        ->required();
    import->add_option("--format", foreign->format, "auto (by the name), nvbit or csv")
        ->capture_default_str();
    import->add_option("--output,-o", foreign->output, "The trace")->option_text("FILE.l2t");
    import->add_option("--gpu", foreign->gpu, "GPU whose SMs and L1s the CTAs run through (h200)");
    import
        ->add_option("--ctas-per-sm", foreign->ctas_per_sm,
                     "CTAs at once on an SM; 0: what the trace's launch allows")
        ->capture_default_str();
    import->footer(
        "Example:\n  l2lens trace import kernel-1.traceg -o kernel.l2t && l2lens trace replay kernel.l2t");
    commands.push_back({import, [foreign, &invocation] { return import_foreign(*foreign, invocation); }});

    CLI::App* app = add("info", "What a trace holds, and whether it is whole");
    commands.push_back({app, [arguments, &invocation] { return info(*arguments, invocation); }});

    app = add("head", "Its first records");
    app->add_option("--count,-n", arguments->count, "How many")->capture_default_str();
    app->add_flag("--text", arguments->text, "As requests in the text form, which replay reads");
    app->add_option("--gpu", arguments->gpu, "GPU it was recorded on, when its name is no shipped one's");
    commands.push_back({app, [arguments, &invocation] { return head(*arguments, invocation); }});

    arguments->form = "text";
    app = add("convert", "To text, or to a binary trace of requests");
    app->add_option("--output,-o", arguments->output, "Where to")->option_text("FILE");
    app->add_option("--to", arguments->form, "text or lines")->capture_default_str();
    app->add_option("--gpu", arguments->gpu, "GPU it was recorded on, when its name is no shipped one's");
    commands.push_back({app, [arguments, &invocation] { return convert(*arguments, invocation); }});

    app = add("replay", "Run the L2 alone on the requests of a trace");
    app->add_option("--gpu", arguments->gpu, "GPU; by default the one it was recorded on, else h200");
    app->footer("Example:\n  l2lens trace replay hilbert.l2t --json -");
    commands.push_back({app, [arguments, app, &invocation] {
                            return replay_trace(*arguments, invocation, app->count("--seed") > 0);
                        }});
}

}  // namespace l2lens::cli
