// SPDX-License-Identifier: Apache-2.0
// In group_m:16 of 2048 rows the sixteen tiles of a column follow each other, share each box of B, and wait
// for it together: how far do the tiles of a column end from each other, and how far do columns?
// (traces/h200/gemm_schedules_columns.csv)
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/model_run.hpp"
#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/median.hpp"
#include "support/moments.hpp"
#include "support/stays.hpp"

using namespace l2lens;
using test::mean;
using test::recorded_stays;
using test::Stays;
using test::variance;

namespace {

constexpr const char* kFile = "gemm_schedules_columns.csv";
constexpr std::int64_t kTiles = 16;  // of a column, or of a row in group_n:16
constexpr std::uint64_t kSeeds = 2;

struct Launch {
    const char *m, *n, *order;
};
constexpr Launch kColumns{"2048", "10240", "group_m:16"};
constexpr Launch kRows{"10240", "2048", "group_n:16"};

Kernel kernel_of(const Launch& launch, const Machine& machine) {
    return cli::load_launched("gemm",
                              {std::string("m=") + launch.m, std::string("n=") + launch.n, "k=4096",
                               "stages=4", "warps=4", "pipeline=warp_specialized"},
                              "grid", machine)
        .kernel;
}

// How far ends lie apart, us, standard deviations: of the tiles of one column, in the median over columns;
// and of the mean ends of the columns that end in one wave, by wave.
struct Apart {
    double in_column;
    std::vector<double> columns;
};

Apart apart_in(const Stays& stays, const Machine& machine) {
    std::vector<std::vector<double>> ends(stays.size() / static_cast<std::size_t>(kTiles));
    for (const auto& [id, stay] : stays)
        ends[static_cast<std::size_t>(id / kTiles)].push_back(static_cast<double>(stay.end) /
                                                              (1000.0 * kPsPerNs));
    std::vector<double> in_column;
    for (const std::vector<double>& column : ends) in_column.push_back(std::sqrt(variance(column)));
    Apart apart{test::median(in_column), {}};
    // Columns that lie in two waves are left out.
    const double of_wave = static_cast<double>(machine.sms.size()) / static_cast<double>(kTiles);
    for (double first = 0; first + of_wave <= static_cast<double>(ends.size()); first += of_wave) {
        std::vector<double> means;
        for (auto column = static_cast<std::size_t>(std::ceil(first));
             static_cast<double>(column) + 1 <= first + of_wave; ++column)
            means.push_back(mean(ends[column]));
        apart.columns.push_back(std::sqrt(variance(means)));
    }
    return apart;
}

Apart recorded(const Launch& launch, const Machine& machine) {
    return apart_in(recorded_stays(kFile, schedule_run_name(launch.order, Mode::Grid)), machine);
}

// Means of kSeeds.
Apart predicted(const Launch& launch, const Machine& machine) {
    const Kernel kernel = kernel_of(launch, machine);
    Apart apart{0, {}};
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const Apart own =
            apart_in(test::predicted_stays(machine, kernel, launch.order, Mode::Grid, seed), machine);
        apart.in_column += own.in_column / kSeeds;
        apart.columns.resize(own.columns.size());
        for (std::size_t wave = 0; wave < own.columns.size(); ++wave)
            apart.columns[wave] += own.columns[wave] / kSeeds;
    }
    return apart;
}

}  // namespace

TEST_CASE(
    "The tiles of a column that wait for one box of B end together, those of a row that share A's do not") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    const double columns = recorded(kColumns, machine).in_column, rows = recorded(kRows, machine).in_column;
    const double columns_here = predicted(kColumns, machine).in_column;
    const double rows_here = predicted(kRows, machine).in_column;
    INFO("columns " << columns << ", here " << columns_here << "; rows " << rows << ", here " << rows_here);
    // The timer's steps of 32 ns alone make 9 ns.
    CHECK(columns < 0.05);
    CHECK(columns_here < 0.05);
    CHECK(rows > 0.1);
    CHECK(rows_here > 0.1);
}

TEST_CASE("Columns part with each wave, on the GPU by 0.2 us") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    const std::vector<double> apart = recorded(kColumns, machine).columns;
    const std::vector<double> here = predicted(kColumns, machine).columns;
    REQUIRE(apart.size() == here.size());
    REQUIRE(apart.size() == 9);
    for (std::size_t wave = 0; wave < apart.size(); ++wave) {
        INFO("wave " << wave << ": columns end " << apart[wave] << " us apart, here " << here[wave]);
        CHECK(apart[wave] < 0.4 + 0.2 * static_cast<double>(wave));
    }
    // Seen: 3.6 times. What holds them together there is not known (docs/tried.md, Columns that part).
    CHECK(mean(here) < 4.5 * mean(apart));
}
