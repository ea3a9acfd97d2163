// SPDX-License-Identifier: Apache-2.0
#include "cli/model_run.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "cli/distinct_orders.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "kernel/residency.hpp"
#include "kernel/shared_pieces.hpp"
#include "load/kernel_file.hpp"
#include "load/user_order.hpp"
#include "order/cluster.hpp"
#include "report/recorded_csv.hpp"

namespace l2lens::cli {
namespace {

// The value of NAME=VALUE, or "".
std::string value_of_argument(const std::string& name, const std::vector<std::string>& arguments) {
    for (const std::string& argument : arguments) {
        if (argument.starts_with(name + "=")) return argument.substr(name.size() + 1);
    }
    return "";
}

// Was the name meant, or did it come with a list?
bool came_with_a_list(const std::string& name, const std::vector<std::string>& arguments) {
    for (const char* list : {"common", "all"}) {
        const auto asked = [&](const std::string& argument) {
            return ("," + argument + ",").find(std::string(",") + list + ",") != std::string::npos;
        };
        if (std::none_of(arguments.begin(), arguments.end(), asked)) continue;
        const std::vector<std::string> names = split_order_list({list});
        if (std::find(names.begin(), names.end(), name) != names.end()) return true;
    }
    return false;
}

Prediction predict_one(const PreparedKernel& prepared, const NamedOrder& order, PredictOptions options,
                       Executor& executor, Progress& progress, std::size_t item) {
    throw_if_interrupted();
    options.progress = [&progress, item](double fraction) { progress.update(item, fraction); };
    options.stop_requested = interrupted;
    Prediction prediction = predict(prepared, order, options, executor);
    progress.finish(item);
    return prediction;
}

}  // namespace

LaunchedKernel load_launched(const std::string& name, std::vector<std::string> arguments,
                             const std::string& mode, const Machine& machine, const LoadProgress& progress) {
    Mode launched = Mode::Grid;
    // A file that is compiled for one mode has a parameter of that name, which is the launch's.
    const KernelArguments with_mode = [&](const KernelDescription& kernel) {
        std::string launch = mode;
        if (kernel.declares("mode")) {
            const std::string given = value_of_argument("mode", arguments);
            if (!given.empty() && !mode.empty() && given != mode) {
                throw BadInput(name + ": mode=" + given + " and --mode " + mode + " contradict each other");
            }
            if (launch.empty()) launch = given.empty() ? "grid" : given;
            if (given.empty()) arguments.push_back("mode=" + launch);
        }
        launched = parse_mode(launch.empty() ? "grid" : launch);
        return arguments;
    };
    const auto watched = [&](double fraction) {
        throw_if_interrupted();
        if (progress) progress(fraction);
    };
    Kernel kernel = load_kernel(name, with_mode, &machine, watched);
    return {std::move(kernel), launched};
}

LaunchedKernel load_sequence(const std::vector<std::string>& words, const std::string& mode,
                             const Machine& machine, bool quiet) {
    std::optional<LaunchedKernel> sequence;
    for (auto word = words.begin(); word != words.end();) {
        const auto stop = std::find(word, words.end(), "then");
        if (word == stop || (stop != words.end() && stop + 1 == words.end()))
            throw BadInput("'then' stands between two kernels: KERNEL [param=value ...] then KERNEL ...");
        Progress progress("reading " + *word, 1, quiet);
        LaunchedKernel next = load_launched(*word, {word + 1, stop}, mode, machine,
                                            [&](double fraction) { progress.update(0, fraction); });
        if (!sequence) {
            sequence = std::move(next);
        } else {
            if (next.mode != sequence->mode)
                throw BadInput(next.kernel.name + ": the kernels of a sequence are launched in one mode");
            sequence->kernel.title += "; then " + next.kernel.title;
            append_launches(sequence->kernel, std::move(next.kernel));
        }
        word = stop == words.end() ? stop : stop + 1;
    }
    return std::move(*sequence);
}

OrderContext order_context(const Machine& machine, const Kernel& kernel, Mode mode) {
    OrderContext context;
    context.sms = static_cast<int>(machine.sms.size());
    if (machine.l2.private_partitions || machine.partitions > 2) context.xcds = machine.partitions;
    context.cluster_rows = kernel.cluster[0];
    context.cluster_columns = kernel.cluster[1];
    context.wave = std::int64_t{context.sms} * resident_ctas(machine, kernel, mode);
    return context;
}

TileSequence order_of_plane(const std::string& name, const Machine& machine, const Kernel& kernel,
                            Mode mode) {
    const GridShape tiles = grid_of(kernel);
    const ClusterShape cluster{kernel.cluster[0], kernel.cluster[1]};
    OrderContext context = order_context(machine, kernel, mode);
    SharedPieces shared;
    if (follows_from_kernel(name)) {
        shared = shared_pieces(kernel);
        context.shared = &shared;
    }
    TileSequence sequence = resolve_order(name, tiles, context);
    if (launches_clusters(sequence, cluster)) return sequence;
    // An order that knows nothing of clusters walks the grid of clusters.
    return expand_clusters(resolve_order(name, cluster_grid(tiles, cluster), context), tiles, cluster);
}

namespace {

NamedOrder order_of_launch(const std::string& name, const Machine& machine, const Kernel& kernel, Mode mode) {
    return over_grid(kernel, name, order_of_plane(name, machine, kernel, mode), machine, mode);
}

}  // namespace

NamedOrder named_order(const std::string& name, const Machine& machine, const Kernel& kernel, Mode mode) {
    NamedOrder order = order_of_launch(name, machine, kernel, mode);
    for (const Kernel& next : kernel.then)
        order.then.push_back(order_of_launch(name, machine, next, mode).tile_of_launch);
    return order;
}

std::vector<NamedOrder> named_orders(const std::vector<std::string>& arguments, const Machine& machine,
                                     const Kernel& kernel, Mode mode,
                                     const std::function<void(const std::string&)>& note) {
    std::vector<NamedOrder> orders;
    for (const std::string& name : split_order_list(arguments)) {
        throw_if_interrupted();
        try {
            orders.push_back(named_order(name, machine, kernel, mode));
        } catch (const BadInput& error) {
            if (!came_with_a_list(name, arguments)) throw;
            note(std::string("left out: ") + error.what());
        }
    }
    if (orders.empty()) throw BadInput("--order: no order is left to predict");
    return orders;
}

std::vector<Prediction> predict_each(const Machine& machine, const Kernel& kernel,
                                     std::span<const NamedOrder* const> orders, const PredictOptions& options,
                                     Executor& executor, bool quiet) {
    std::vector<Prediction> predictions(orders.size());
    Progress progress("predicting orders", orders.size(), quiet);
    const PreparedKernel prepared(machine, kernel, options.mode, options.engine, executor);
    executor.for_each_with_team(orders.size(), [&](std::size_t i, Executor& team) {
        predictions[i] = predict_one(prepared, *orders[i], options, team, progress, i);
    });
    return predictions;
}

std::vector<Prediction> predict_orders(const Machine& machine, const Kernel& kernel,
                                       std::span<const NamedOrder> orders, const PredictOptions& options,
                                       Executor& executor, bool quiet) {
    const DistinctOrders distinct(orders);
    return distinct.for_all(predict_each(machine, kernel, distinct.firsts(), options, executor, quiet));
}

}  // namespace l2lens::cli
