// SPDX-License-Identifier: Apache-2.0
#include "cli/order_search.hpp"

#include <algorithm>
#include <limits>

#include "cli/distinct_orders.hpp"
#include "cli/model_run.hpp"
#include "report/predict_report.hpp"

namespace l2lens::cli {
namespace {

// Of 44 recorded groups of orders the best of the six fastest by tiles is as fast as the best of all by
// lines, within 0.5 %, in 44; of the three fastest in 43, of the fastest alone in 33 (docs/performance.md).
constexpr std::size_t kAtOnce = 6;

}  // namespace

void look_closer(std::vector<Prediction>& found, const CloserLook& by_lines) {
    const std::vector<std::size_t> fastest_first = ranking(found);
    const std::size_t most = std::min(kOrdersByLine, found.size());
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t seen = 0; seen < most && found[fastest_first[seen]].time_ns < best;) {
        const auto next = std::span(fastest_first).subspan(seen, std::min(kAtOnce, most - seen));
        std::vector<Prediction> closer = by_lines(next);
        for (std::size_t i = 0; i < next.size(); ++i) {
            best = std::min(best, closer[i].time_ns);
            found[next[i]] = std::move(closer[i]);
        }
        seen += next.size();
    }
}

std::vector<Prediction> search_orders(const Machine& machine, const Kernel& kernel,
                                      std::span<const NamedOrder> orders, const PredictOptions& options,
                                      Executor& executor, bool quiet) {
    const DistinctOrders distinct(orders);
    const auto predicted = [&](std::span<const NamedOrder* const> some, Engine engine) {
        PredictOptions own = options;
        own.engine = engine;
        return predict_each(machine, kernel, some, own, executor, quiet);
    };
    std::vector<Prediction> found = predicted(distinct.firsts(), Engine::Tile);
    look_closer(found, [&](std::span<const std::size_t> numbers) {
        std::vector<const NamedOrder*> leading;
        for (const std::size_t i : numbers) leading.push_back(distinct.firsts()[i]);
        return predicted(leading, Engine::Line);
    });
    return distinct.for_all(found);
}

}  // namespace l2lens::cli
