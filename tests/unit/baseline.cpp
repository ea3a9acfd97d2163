// SPDX-License-Identifier: Apache-2.0
// The simple models against figures that follow from counting stripes, and against a published simulator.
#include "baseline/baseline.hpp"

#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "kernel/box_lines.hpp"
#include "load/machine_file.hpp"
#include "order/order.hpp"
#include "support/catch.hpp"
#include "support/kernels.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kWave = 132;

// 8192^3 in bf16 with tiles of 128 x 128 x 64: 64 x 64 tiles, a stripe of A or B is 2 MiB.
struct SquareGemm {
    Machine machine = load_machine("h200");
    Kernel kernel = test::gemm({}, machine);
    AddressMap map{machine};
    LaneSample all{47, 47};
    Work work{kernel, map, all};

    std::vector<std::int32_t> launches(const std::string& order) const {
        return over_grid(kernel, order, make_order(order, {64, 64}), machine).tile_of_launch;
    }
};

// Distinct stripes of each wave, the slow way.
double closed_form_by_sets(const std::vector<std::int32_t>& launches) {
    double fetched = 0;
    for (std::size_t first = 0; first < launches.size(); first += kWave) {
        std::set<std::int32_t> rows, columns;
        for (std::size_t i = first; i < std::min(launches.size(), first + kWave); ++i) {
            rows.insert(launches[i] / 64);
            columns.insert(launches[i] % 64);
        }
        fetched += static_cast<double>(rows.size() + columns.size());
    }
    return 100 * (1 - fetched / (2.0 * static_cast<double>(launches.size())));
}

}  // namespace

TEST_CASE("The closed form counts the distinct stripes of each wave") {
    const SquareGemm gemm;
    for (const char* order : {"row_major", "column_major", "group_m:8", "hilbert", "diagonal"}) {
        INFO(order);
        const auto launches = gemm.launches(order);
        CHECK(closed_form_hit_rate(gemm.work, launches, kWave) == Approx(closed_form_by_sets(launches)));
    }
}

TEST_CASE("The closed form of a wave: 3 + 64 stripes in row_major, 8 + 17 in groups of eight") {
    // A wave of 132 tiles spans 3 rows of 64 tiles, or 17 columns of a group of 8 rows: 1 - 67 / 264 = .746
    // and 1 - 25 / 264 = .905. Waves that cross the end of a group have more: 26.8 stripes on average.
    const SquareGemm gemm;
    CHECK(closed_form_hit_rate(gemm.work, gemm.launches("row_major"), kWave) == Approx(74.6).margin(0.1));
    const auto grouped = gemm.launches("group_m:8");
    const std::vector<std::int32_t> one_wave(grouped.begin(), grouped.begin() + kWave);
    CHECK(closed_form_hit_rate(gemm.work, one_wave, kWave) == Approx(100 * (1 - 25.0 / 264)));
    CHECK(closed_form_hit_rate(gemm.work, grouped, kWave) == Approx(100 * (1 - 26.8 / 264)).margin(0.1));
}

TEST_CASE("A flat LRU of 50 MiB hits as often as libCacheSim's") {
    // libCacheSim's fully associative LRU of 50 MiB on the same boxes in lockstep: .7460 and .9154.
    const SquareGemm gemm;
    CHECK(flat_lru_hit_rate(gemm.work, gemm.launches("row_major"), kWave, 50 * kMiB) ==
          Approx(74.60).margin(0.05));
    CHECK(flat_lru_hit_rate(gemm.work, gemm.launches("group_m:8"), kWave, 50 * kMiB) ==
          Approx(91.54).margin(0.15));
}

TEST_CASE("A flat LRU that holds everything misses each box once, one that holds nothing always") {
    const SquareGemm gemm;
    const auto launches = gemm.launches("row_major");
    const double once = 100 * (1 - 128.0 / (2 * 4096));
    CHECK(flat_lru_hit_rate(gemm.work, launches, kWave, 1000 * kMiB) == Approx(once));
    CHECK(flat_lru_hit_rate(gemm.work, launches, 1, 1) == Approx(0).margin(1e-9));
}

TEST_CASE("A flat LRU agrees with a list of boxes") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=1024", "n=1280", "k=512"}, machine);  // 8 x 10 tiles, 8 steps
    const AddressMap map(machine);
    const LaneSample all(47, 47);
    const Work work(kernel, map, all);
    const auto launches = test::in_order(kernel);
    constexpr std::size_t kWaveOf = 7;
    for (const std::size_t boxes : {3u, 20u, 60u, 200u}) {
        INFO(boxes << " boxes of 16 KiB");
        std::list<std::pair<int, int>> recent;  // (stripe, step), the latest first
        int asked = 0, hit = 0;
        for (std::size_t first = 0; first < launches.size(); first += kWaveOf) {
            for (int step = 0; step < 8; ++step) {
                for (std::size_t i = first; i < std::min(launches.size(), first + kWaveOf); ++i) {
                    for (const int stripe : {launches[i] / 10, 100 + launches[i] % 10}) {
                        const std::pair box(stripe, step);
                        const std::size_t before = recent.size();
                        recent.remove(box);
                        ++asked;
                        hit += recent.size() < before ? 1 : 0;
                        recent.push_front(box);
                        if (recent.size() > boxes) recent.pop_back();
                    }
                }
            }
        }
        const auto capacity = static_cast<std::int64_t>(boxes) * 128 * 64 * 2;
        CHECK(flat_lru_hit_rate(work, launches, kWaveOf, capacity) == Approx(100.0 * hit / asked));
    }
}

TEST_CASE("Channels are loaded evenly by a large GEMM") {
    const SquareGemm gemm;
    SerialExecutor serial;
    const double ratio = max_over_mean(requested_per_slice(gemm.work, gemm.map, serial));
    CHECK(ratio >= 1);
    CHECK(ratio < 1.01);
}

TEST_CASE("Requests by slice are those of each CTA's boxes, line by line") {
    const Machine machine = load_machine("h200");
    SerialExecutor serial;
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"m=512", "n=1024", "k=512"},
             {"m=500", "n=1000", "k=264"},          // clipped, rows of parts of lines
             {"m=512", "n=576", "k=256", "bn=64"},  // of C one line a row and tile
             {"m=256", "n=320", "k=512", "layout=nt", "beta=true"},
         }) {
        INFO(arguments[1]);
        const Kernel kernel = test::gemm(arguments, machine);
        const AddressMap map(machine);
        const LaneSample all(47, 47);
        const Work work(kernel, map, all);
        std::vector<double> sectors(static_cast<std::size_t>(map.lanes()), 0.0);
        for (const Program& program : kernel.programs) {
            for (const Phase& phase : program.phases) {
                for (const auto* boxes : {&phase.loads, &phase.stores}) {
                    for (const BoxWalk& box : *boxes) {
                        for (std::int64_t k = 0; k < phase.count; ++k) {
                            for_each_line(kernel.tensors[static_cast<std::size_t>(box.tensor)], box, k,
                                          [&](const LineRequest& request) {
                                              sectors[static_cast<std::size_t>(map.lane(request.line))] +=
                                                  __builtin_popcount(request.sectors);
                                          });
                        }
                    }
                }
            }
        }
        CHECK(requested_per_slice(work, map, serial) == sectors);
    }
}
