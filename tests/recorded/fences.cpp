// SPDX-License-Identifier: Apache-2.0
// What do launches look up that neither reads nor writes? Fences of GPU scope: one of each tile that a kernel
// takes from a counter by an acquiring atomic, one of the producer and one of each four math warps of a CTA
// of a cluster, and one of each SM that ran a CTA as the launch ends.
#include "schedule/fences.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/model_run.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

// Counters of one row come from several replays, which differ by up to 0.3 % of the lookups: where fences are
// few among those, their difference says nothing.
bool stand_out(double fences, const test::RecordedCells& row) {
    return fences >= 0.005 * row["lts__t_sectors.sum"];
}

// Sectors looked up in both partitions that no read and no write asks for.
double recorded_fences(const test::RecordedCells& row) {
    return row["lts__t_sectors.sum"] - row["lts__t_sectors_op_read.sum"] - row["lts__t_sectors_op_write.sum"];
}

double predicted_fences(const test::RecordedCells& row, std::vector<std::string> arguments,
                        const Machine& machine) {
    for (const std::string& argument :
         test::arguments_of(row, {"m", "n", "k", "bm", "bn", "bk", "stages", "warps", "mode"}))
        arguments.push_back(argument);
    const Kernel kernel = cli::load_launched("gemm", arguments, "", machine).kernel;
    return 2 * fence_sectors(machine, fences_of(kernel, machine, row.text("mode") != "grid"));
}

// Predicted over recorded, which has some thousands more in any launch, in the median of the launches in
// which they stand out.
class Ratios {
public:
    void add(double predicted, const test::RecordedCells& row) {
        if (stand_out(predicted, row)) ratios_.push_back(predicted / recorded_fences(row));
    }
    double median() {
        REQUIRE(ratios_.size() >= 5);
        std::sort(ratios_.begin(), ratios_.end());
        return ratios_[ratios_.size() / 2];
    }

private:
    std::vector<double> ratios_;
};

}  // namespace

TEST_CASE("A tile from an acquiring counter asks each slice twice") {
    const Machine machine = load_machine("h200");
    Ratios ratios;
    for (const auto& row : test::recorded_rows("gemm_more.csv", {{"mode", "dynamic"}, {"repeat", "0"}}))
        ratios.add(predicted_fences(row, {"layout=" + row.text("layout")}, machine), row);
    CHECK(ratios.median() == Approx(1).margin(0.15));
}

TEST_CASE("Each SM fences once as a launch ends") {
    // Launches of few lookups. Each has some thousands more that are none of these.
    const Machine machine = load_machine("h200");
    const double predicted =
        2 * fence_sectors(machine, fences_of(load_kernel("transpose", {}), machine, false));
    int seen = 0;
    for (const auto& row : test::recorded_rows("transpose.csv", {{"m", "2048"}, {"n", "2048"}})) {
        if (row["lts__t_sectors.sum"] > 1e6) continue;
        CHECK(predicted == Approx(recorded_fences(row)).epsilon(0.06));
        ++seen;
    }
    CHECK(seen > 0);
}

TEST_CASE("The warp groups of a cluster's CTA fence once each") {
    const Machine machine = load_machine("h200");
    for (const char* warps : {"4", "8"}) {
        INFO(warps << " math warps");
        Ratios ratios;
        for (const auto& row :
             test::recorded_rows("live_groups.csv", {{"mode", "grid"}, {"cluster_m", "2"}, {"warps", warps}}))
            ratios.add(predicted_fences(row, {"pipeline=warp_specialized", "cluster_m=2"}, machine), row);
        CHECK(ratios.median() == Approx(1).margin(0.15));
    }
}
