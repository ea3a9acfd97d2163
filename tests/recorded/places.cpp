// SPDX-License-Identifier: Apache-2.0
// Does it matter how the buffers of a launch lie to each other? Two GEMMs whose reuse just fits the L2, with
// A, B and C at seven distances from each other in one allocation (traces/h200/places.csv). On the GPU it
// hardly does; in the model, which has the GPU's own sets, it makes 11 %.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/ordered.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

constexpr const char* kFills = "lts__d_sectors_fill_device.sum";
constexpr std::uint64_t kPageBytes = 2 << 20;

// The launch with its operands as far apart as they were.
Kernel kernel_of(const test::RecordedCells& row, const Machine& machine) {
    Kernel kernel = load_kernel(
        "gemm", test::arguments_of(row, {"m", "n", "k", "bm", "bn", "bk", "stages", "warps", "pipeline"}),
        &machine);
    const std::vector<double> pages{0, row["pages_before_b"], row["pages_before_c"]};
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        Tensor& tensor = kernel.tensors[i];  // of 8 MiB and more, in whole pages
        tensor.base = end + static_cast<std::uint64_t>(pages[i]) * kPageBytes;
        end = tensor.base + static_cast<std::uint64_t>(tensor.bytes());
        REQUIRE(end % kPageBytes == 0);
    }
    return kernel;
}

double predicted_fills(const test::RecordedCells& row) {
    static const Machine machine = load_machine("h200");
    const Kernel kernel = kernel_of(row, machine);
    PredictOptions options;
    options.sample = 8;
    TbbExecutor executor(2);
    return predict(machine, kernel, test::order_of(row.text("order"), kernel, machine), options, executor)
        .counters.at(kFills);
}

// How far apart the largest and the smallest of them are, of their mean.
double range(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    const auto [least, most] = std::ranges::minmax(values);
    return (most - least) * static_cast<double>(values.size()) / sum;
}

void check_places(const std::string& order, const test::Cells& shape) {
    std::vector<double> recorded, predicted;
    for (const auto& row : test::recorded_rows("places.csv", shape)) {
        if (row.text("order") != order || row.text("pages_before_b").empty()) continue;
        recorded.push_back(row[kFills]);
        predicted.push_back(predicted_fills(row));
        INFO(order << ", " << row["pages_before_b"] << " and " << row["pages_before_c"]
                   << " pages: predicted " << predicted.back() << ", counted " << recorded.back());
        CHECK(predicted.back() == Approx(recorded.back()).epsilon(0.16));  // seen: 0.156
    }
    REQUIRE(recorded.size() == 7);
    INFO(order << ": counted within " << range(recorded) << ", predicted " << range(predicted));
    CHECK(range(recorded) < 0.06);
    CHECK(range(predicted) < 0.16);  // seen: 0.154
}

}  // namespace

TEST_CASE("However buffers lie to each other, what is filled is predicted within 16 %") {
    if (test::left_to_plain_builds()) return;
    check_places("group_n:16", {{"m", "6144"}, {"n", "2048"}});
    check_places("group_m:16", {{"m", "2048"}, {"n", "6144"}});
}
