// SPDX-License-Identifier: Apache-2.0
// How long do CTAs that begin together keep their loads together? One wave of Triton's GEMM on operands that
// are read round and round, so that launches of 4 to 256 steps find all in the L2
// (traces/h200/triton_rounds.csv): what is merged by the steps that the longer of two launches has more.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/go_round.hpp"
#include "support/ordered.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

constexpr const char* kSectors = "lts__t_sectors_srcunit_tex.sum";

struct Launch {
    const char* mode;
    const char *bm, *bn, *warps, *stages;
};

test::RecordedCells row_of(const Launch& launch, int steps) {
    const test::Cells cells{{"mode", launch.mode},
                            {"bm", launch.bm},
                            {"bn", launch.bn},
                            {"warps", launch.warps},
                            {"stages", launch.stages},
                            {"bk", "64"},
                            {"k", std::to_string(64 * steps)}};
    return test::recorded_rows("triton_rounds.csv", cells).front();
}

// With the kernel file's jitter, or another one.
Kernel kernel_of(const test::RecordedCells& row, const Machine& machine, std::optional<double> jitter) {
    std::vector<std::string> arguments =
        test::arguments_of(row, {"m", "n", "bm", "bn", "bk", "stages", "warps", "mode"});
    arguments.push_back("k=" + row.text("depth"));
    Kernel kernel = load_kernel("gemm", arguments, &machine);
    for (Program& program : kernel.programs)
        test::go_round(program, static_cast<std::int64_t>(row["k"] / row["bk"]));
    if (jitter) kernel.release_jitter_cycles = *jitter;
    return kernel;
}

// Sectors that CTAs have read, of the tiles of C none.
double read_by_model(const test::RecordedCells& row, std::optional<double> jitter) {
    static const Machine machine = load_machine("h200");
    const Kernel kernel = kernel_of(row, machine, jitter);
    const NamedOrder order = test::order_of(row.text("order"), kernel, machine);
    PredictOptions options;
    options.mode = row.text("mode") == "static" ? Mode::Static : Mode::Grid;
    options.sample = 4;
    options.warm_l2 = true;
    TbbExecutor executor(2);
    return predict(machine, kernel, order, options, executor).counters.at(kSectors);
}

struct Merged {
    double recorded, predicted;  // shares of what is asked for
};

// By the steps from `first` on to `last`.
Merged merged(const Launch& launch, int first, int last, std::optional<double> jitter = {}) {
    const test::RecordedCells fewer = row_of(launch, first), more = row_of(launch, last);
    const double tiles = more["m"] / more["bm"] * more["n"] / more["bn"];
    const double asked = tiles * (last - first) * (more["bm"] + more["bn"]) * 64 * 2 / 32;
    return {1 - (more[kSectors] - fewer[kSectors]) / asked,
            1 - (read_by_model(more, jitter) - read_by_model(fewer, jitter)) / asked};
}

}  // namespace

TEST_CASE("Loads that only hit leave their loop early or late, and merge less for it") {
    if (test::left_to_plain_builds()) return;
    const std::vector<Launch> bound_by_math{
        {"grid", "128", "128", "4", "4"},   {"grid", "128", "128", "4", "3"},
        {"grid", "128", "128", "8", "4"},   {"grid", "64", "256", "4", "4"},
        {"static", "128", "128", "4", "4"}, {"static", "64", "256", "4", "4"},
    };
    const auto launches = static_cast<double>(bound_by_math.size());
    double recorded = 0, predicted = 0, in_step = 0;
    for (const Launch& launch : bound_by_math) {
        const Merged share = merged(launch, 16, 256);
        INFO(launch.mode << " " << launch.bm << " x " << launch.bn << ", " << launch.warps << " warps, "
                         << launch.stages << " stages");
        CHECK(share.predicted == Approx(share.recorded).margin(0.12));
        recorded += share.recorded / launches;
        predicted += share.predicted / launches;
        in_step += merged(launch, 16, 256, 0).predicted / launches;
    }
    INFO("merged in the mean: recorded " << recorded << ", predicted " << predicted << ", of loads in step "
                                         << in_step);
    CHECK(predicted == Approx(recorded).margin(0.05));
    CHECK(in_step > recorded + 0.1);
}

// Fewer of 128 x 64 and 64 x 64 tiles with four stages: docs/fidelity.md.
TEST_CASE("Two CTAs an SM that begin together keep together for some fifty steps though the L2 is full") {
    if (test::left_to_plain_builds()) return;
    const Merged share = merged({"grid", "64", "64", "4", "5"}, 4, 64);
    CHECK(share.predicted == Approx(share.recorded).margin(0.12));
}
