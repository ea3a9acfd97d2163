// SPDX-License-Identifier: Apache-2.0
// A search among many orders: who is looked at by lines, how the two engines' results stand together, and
// that no tile sequence is looked at twice.
#include "cli/order_search.hpp"

#include <algorithm>

#include "cli/distinct_orders.hpp"
#include "cli/model_run.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/predict_report.hpp"
#include "support/catch.hpp"

using namespace l2lens;
using namespace l2lens::cli;

namespace {

Prediction prediction(Engine engine, double time_ns) {
    Prediction made;
    made.engine = engine;
    made.time_ns = time_ns;
    return made;
}

// `orders` whose tile times are 100 ns, 101, ... from the last one to the first: which of them are looked at
// again when lines say `slower` ns more? By number, in the order in which they were.
std::vector<std::size_t> looked_at(std::size_t orders, double slower) {
    std::vector<Prediction> found;
    for (std::size_t i = 0; i < orders; ++i)
        found.push_back(prediction(Engine::Tile, 100.0 + static_cast<double>(orders - 1 - i)));
    std::vector<std::size_t> seen;
    look_closer(found, [&](std::span<const std::size_t> numbers) {
        std::vector<Prediction> closer;
        for (const std::size_t i : numbers) {
            seen.push_back(i);
            closer.push_back(prediction(Engine::Line, found[i].time_ns + slower));
        }
        return closer;
    });
    for (std::size_t i = 0; i < orders; ++i) {
        const bool by_lines = std::find(seen.begin(), seen.end(), i) != seen.end();
        CHECK((found[i].engine == Engine::Line) == by_lines);
    }
    return seen;
}

}  // namespace

TEST_CASE("The six fastest are looked at by lines, and six more while the next one could be the fastest") {
    CHECK(looked_at(30, -3) == std::vector<std::size_t>{29, 28, 27, 26, 25, 24});
    CHECK(looked_at(30, 6).size() == 6);  // 106 ns by lines, and the seventh takes 106 by tiles
    CHECK(looked_at(30, 6.5).size() == 12);
    CHECK(looked_at(30, 12.5).size() == 18);
    CHECK(looked_at(30, 50).size() == kOrdersByLine);
    CHECK(looked_at(4, 50).size() == 4);
    CHECK(looked_at(0, 50).empty());
}

TEST_CASE("In the ranking of a search what was looked at by lines stands before what was not") {
    const std::vector<Prediction> mixed{prediction(Engine::Tile, 5), prediction(Engine::Line, 9),
                                        prediction(Engine::Tile, 3), prediction(Engine::Line, 8)};
    CHECK(ranking(mixed) == std::vector<std::size_t>{3, 1, 2, 0});
}

TEST_CASE("What a search says of an order is what its engine says of it alone, on any number of threads") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = load_kernel("gemm", {"m=1536", "n=2048", "k=128"}, &machine);
    std::vector<std::string> names;
    for (int group = 1; group <= 9; ++group) names.push_back("group_m:" + std::to_string(group));
    const auto orders = named_orders(names, machine, kernel, Mode::Grid, [](const std::string&) {});
    TbbExecutor one(1), three(3);
    const auto searched = [&](Executor& executor) {
        return search_orders(machine, kernel, orders, {}, executor, true);
    };
    const std::vector<Prediction> found = searched(one), again = searched(three);
    REQUIRE(found.size() == orders.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        INFO(names[i]);
        PredictOptions options;
        options.engine = found[i].engine;
        CHECK(found[i].order == names[i]);
        CHECK(found[i].counters == predict(machine, kernel, orders[i], options, one).counters);
        CHECK(found[i].counters == again[i].counters);
    }
    CHECK(found[ranking(found).front()].engine == Engine::Line);
    CHECK(found[ranking(found).back()].engine == Engine::Tile);
}

TEST_CASE("Of orders with the same tile sequence one is predicted, and each keeps its name") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = load_kernel("gemm", {"m=512", "n=768", "k=128"}, &machine);
    const std::vector<std::string> names{"row_major", "column_major", "lua: return pid // tn, pid % tn"};
    const auto orders = named_orders(names, machine, kernel, Mode::Grid, [](const std::string&) {});
    const DistinctOrders distinct(orders);
    REQUIRE(distinct.firsts().size() == 2);
    CHECK(distinct.firsts()[0] == &orders[0]);
    CHECK(distinct.firsts()[1] == &orders[1]);
    TbbExecutor one(1);
    const std::vector<Prediction> predictions = predict_orders(machine, kernel, orders, {}, one, true);
    REQUIRE(predictions.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        INFO(names[i]);
        CHECK(predictions[i].order == names[i]);
        CHECK(predictions[i].counters == predict(machine, kernel, orders[i], {}, one).counters);
    }
    CHECK(predictions[0].counters != predictions[1].counters);
}
