// SPDX-License-Identifier: Apache-2.0
// Who keeps together with nothing to wait for? One to eight CTAs of a GPC that find all in the L2, whose
// steps their math bounds: those of a row share the box that is asked for first, those of a column the second
// one (traces/h200/few_ctas.csv).
#include <cstdint>
#include <string>
#include <vector>

#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/go_round.hpp"
#include "support/ordered.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

constexpr const char* kSectors = "lts__t_sectors_srcunit_tex.sum";
constexpr double kBk = 64;
constexpr int kRound = 64;  // steps after which both operands begin anew

double sectors_by_model(const test::RecordedCells& row, const Machine& machine) {
    std::vector<std::string> arguments = test::arguments_of(row, {"bm", "bn", "stages"});
    arguments.push_back("m=" + std::to_string(static_cast<int>(row["bm"] * row["rows"])));
    arguments.push_back("n=" + std::to_string(static_cast<int>(row["bn"] * row["columns"])));
    arguments.push_back("k=" + std::to_string(static_cast<int>(kBk) * kRound));
    arguments.insert(arguments.end(), {"pipeline=warp_specialized", "mode=static"});
    Kernel kernel = load_kernel("gemm", arguments, &machine);
    for (Program& program : kernel.programs)
        test::go_round(program, static_cast<std::int64_t>(row["k"] / kBk));
    PredictOptions options;
    options.mode = Mode::Static;
    options.sample = 1;
    options.seeds = 4;  // how far apart they begin is drawn, and stays so
    SerialExecutor serial;
    const NamedOrder order = test::order_of("row_major", kernel, machine);
    return predict(machine, kernel, order, options, serial).counters.at(kSectors);
}

struct Left {
    double recorded = 0, predicted = 0;
};

// Of what a row or a column of two, four and eight CTAs asks for of the box that it shares: what is left to
// the L2, by the steps that the longer of two launches has more, in the mean of the three.
Left left_of(const std::string& bm, const std::string& bn, const std::string& stages, bool row) {
    static const Machine machine = load_machine("h200");
    Left left;
    for (const char* ctas : {"2", "4", "8"}) {
        const auto launch = [&](const char* k) {
            return test::recorded_rows("few_ctas.csv", {{"bm", bm},
                                                        {"bn", bn},
                                                        {"stages", stages},
                                                        {"rows", row ? "1" : ctas},
                                                        {"columns", row ? ctas : "1"},
                                                        {"k", k}})
                .front();
        };
        const test::RecordedCells fewer = launch("32768"), more = launch("65536");
        const double asked_each = (more["k"] - fewer["k"]) * 2 / 32 * std::stod(ctas);
        const double shared = asked_each * more[row ? "bm" : "bn"];
        const double own = asked_each * more[row ? "bn" : "bm"];
        left.recorded += (more["sectors"] - fewer["sectors"] - own) / shared / 3;
        left.predicted +=
            (sectors_by_model(more, machine) - sectors_by_model(fewer, machine) - own) / shared / 3;
    }
    return left;
}

}  // namespace

TEST_CASE("CTAs that share the box they ask for second keep together, those that share the first do not") {
    const std::vector<std::vector<std::string>> tiles{{"128", "128", "4"}, {"128", "256", "3"}};
    for (const auto& tile : tiles) {
        const Left first = left_of(tile[0], tile[1], tile[2], true);
        const Left second = left_of(tile[0], tile[1], tile[2], false);
        INFO(tile[0] << " x " << tile[1] << ", left of a shared box that is asked for first "
                     << first.predicted << " (recorded " << first.recorded << "), second " << second.predicted
                     << " (" << second.recorded << ")");
        CHECK(first.predicted == Approx(first.recorded).margin(0.05));    // seen: 0.03
        CHECK(second.predicted == Approx(second.recorded).margin(0.16));  // seen: 0.14, too much is left
        CHECK(second.recorded < first.recorded - 0.2);
        CHECK(second.predicted < first.predicted - 0.1);
    }
}
