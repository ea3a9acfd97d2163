// SPDX-License-Identifier: Apache-2.0
#include "cli/lab_run.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli/lesson_run.hpp"
#include "cli/model_run.hpp"
#include "load/expression.hpp"
#include "load/machine_file.hpp"
#include "machine/parameters.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/predict_report.hpp"

namespace l2lens::cli {
namespace {

// A command's words, as CLI11 reads those of `predict`; a lab needs no more of its options.
struct LabCommand {
    std::vector<std::string> kernel;
    std::string gpu = "h200";
    std::vector<std::string> orders;
    std::string mode;
    std::string json;  // shown to the reader, written nowhere
};

LabCommand parse_command(const std::string& where, std::vector<std::string> words) {
    LabCommand command;
    CLI::App app;
    app.add_option("kernel", command.kernel)->required();
    app.add_option("--gpu", command.gpu);
    add_list_option(app, "--order", command.orders, "");
    app.add_option("--mode", command.mode);
    app.add_option("--json", command.json);
    std::ranges::reverse(words);  // CLI11 takes them from the back
    try {
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        throw BadInput(fmt::format("{}: {}", where, error.what()));
    }
    return command;
}

// What one command gave.
struct LabRun {
    Machine machine;
    LaunchedKernel launched;
    std::vector<Prediction> predictions;
};

LabRun run_command(const std::string& where, const std::vector<std::string>& words,
                   const CommonOptions& common) {
    const LabCommand command = parse_command(where, words);
    LabRun run{load_machine(command.gpu), {}, {}};
    run.launched = load_launched(command.kernel[0], {command.kernel.begin() + 1, command.kernel.end()},
                                 command.mode, run.machine);
    const auto orders = named_orders(command.orders, run.machine, run.launched.kernel, run.launched.mode,
                                     [](const std::string&) {});
    PredictOptions options;
    options.mode = run.launched.mode;
    options.seed = common.seed_number();
    TbbExecutor executor(common.thread_count());
    run.predictions =
        predict_orders(run.machine, run.launched.kernel, orders, options, executor, common.quiet);
    return run;
}

std::vector<LabRun> run_commands(const Lab& lab, const CommonOptions& common) {
    std::vector<LabRun> runs;
    for (const auto& words : lab.commands)
        runs.push_back(run_command(fmt::format("lab {}", lab.number), words, common));
    return runs;
}

ValueTree metrics_of(const Prediction& prediction) {
    ValueTree tree;
    for (const auto& [id, value] : prediction.counters) tree.entries[id] = value;
    for (const auto& [id, value] : prediction.metrics) tree.entries[id] = value;
    tree.entries["wave_rows"] = prediction.footprint.mean_rows;
    tree.entries["wave_columns"] = prediction.footprint.mean_columns;
    return tree;
}

ValueTree params_of(const Kernel& kernel) {
    ValueTree tree;
    for (const auto& [name, text] : kernel.params) {
        double number = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc() && stop == text.data() + text.size()) {
            tree.entries[name] = number;
        } else {
            tree.entries[name] = text;
        }
    }
    return tree;
}

ValueTree parameters_of(const Machine& machine) {
    ValueTree tree;
    for (const ParameterInfo& parameter : parameter_table()) {
        if (const auto number = number_of(machine, parameter))
            tree.entries[std::string(parameter.key)] = *number;
    }
    return tree;
}

ValueTree tensor_bytes(const Kernel& kernel) {
    ValueTree tree;
    for (const Tensor& tensor : kernel.tensors)
        tree.entries[tensor.name] = static_cast<double>(tensor.bytes());
    return tree;
}

// run1["group_m:4"].dram_read_bytes; of a single order run1.dram_read_bytes, too.
ValueTree names_of(const LabRun& run) {
    ValueTree tree;
    if (run.predictions.size() == 1) tree = metrics_of(run.predictions[0]);
    for (const Prediction& prediction : run.predictions)
        tree.entries[prediction.order] = metrics_of(prediction);
    tree.entries["params"] = params_of(run.launched.kernel);
    tree.entries["gpu"] = parameters_of(run.machine);
    tree.entries["bytes"] = tensor_bytes(run.launched.kernel);
    return tree;
}

std::string shown(const ExpressionValue& value) {
    if (const auto* number = std::get_if<double>(&value)) return lab_number(*number);
    return std::get<std::string>(value);
}

// Works out expressions and the texts that hold some.
class Evaluator {
public:
    Evaluator(const Lab& lab, const std::vector<LabRun>& runs) : where_(fmt::format("lab {}", lab.number)) {
        for (std::size_t i = 0; i < runs.size(); ++i)
            names_.entries[fmt::format("run{}", i + 1)] = names_of(runs[i]);
    }

    std::string value(const std::string& expression) const {
        return shown(evaluate_expressions(where_, names_, {expression})[0]);
    }

    std::string text(const std::string& words) const {
        std::vector<std::string> parts = split_template(words);
        std::string filled;
        for (std::size_t i = 0; i < parts.size(); ++i) filled += i % 2 == 0 ? parts[i] : value(parts[i]);
        return filled;
    }

private:
    std::string where_;
    ValueTree names_;
};

}  // namespace

LabKey run_lab(const Lab& lab, const CommonOptions& common) {
    const std::vector<LabRun> runs = run_commands(lab, common);
    const Evaluator evaluate(lab, runs);
    LabKey key;
    key.answer = evaluate.value(lab.answer);
    key.unit = lab.unit;
    key.choices = lab.choices;
    key.accept_percent = lab.accept_percent;
    key.right = evaluate.text(lab.right);
    key.otherwise = evaluate.text(lab.otherwise);
    for (const Lab::Wrong& wrong : lab.wrong)
        key.wrong.push_back({evaluate.value(wrong.value), evaluate.text(wrong.why)});
    return key;
}

LabOutput lab_output(const Lab& lab, const CommonOptions& common) {
    LabOutput output;
    for (std::size_t i = 0; const LabRun& run : run_commands(lab, common)) {
        output.command_lines.emplace_back("l2lens predict");
        for (const std::string& word : lab.commands[i++]) output.command_lines.back() += " " + word;
        output.printed.push_back(
            predict_text({run.machine, run.launched.kernel, run.predictions, {}}, false));
    }
    if (lab.lesson.empty()) return output;
    constexpr std::size_t kMostStepsShown = 200;
    const LabCommand command = parse_command(fmt::format("lab {}", lab.number), lab.lesson);
    const LoadedLesson loaded(command.gpu, command.kernel, "row_major", command.mode, common.seed_number());
    Lesson& lesson = loaded.lesson();
    output.lesson_title = lesson.title();
    for (std::size_t step = 1; step <= std::min(lesson.steps(), kMostStepsShown); ++step) {
        output.sentences.push_back(lesson.line(step));
        output.sets.push_back(lesson.sets(step, false) + "\n" + lesson.tally_text(step));
    }
    return output;
}

}  // namespace l2lens::cli
