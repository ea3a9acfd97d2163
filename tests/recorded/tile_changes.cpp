// SPDX-License-Identifier: Apache-2.0
// When does the producer of a persistent launch ask for the boxes of its next tile? Beside the clock of a
// build that notes it (traces/h200/tile_changes.csv).
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/model_run.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "schedule/request_sink.hpp"
#include "schedule/work.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/median.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

// Per SM, when the first box of each tile's first steps leaves, since that of the last step of the tile
// before.
class TileChanges final : public RequestSink {
public:
    void begin(const Work& work, const LaneSample& /*sample*/) override { work_ = &work; }
    void issued(Picoseconds /*end*/, double cycle_ps, std::span<const BoxIssue> boxes) override {
        for (const BoxIssue& box : boxes) {
            if (work_->walk_stores(box.walk)) continue;
            Seen& seen = of_sm_[box.sm];
            if (box.step == seen.step) continue;  // the step's second box
            seen.step = box.step;
            if (box.step + 1 == static_cast<std::uint32_t>(work_->walk_steps(box.walk))) seen.last = box.time;
            if (seen.last > 0 && box.step < kSteps)
                cycles[box.step].push_back(static_cast<double>(box.time - seen.last) / cycle_ps);
        }
    }

    static constexpr std::uint32_t kSteps = 2;
    std::vector<double> cycles[kSteps];

private:
    struct Seen {
        std::uint32_t step = 0;
        Picoseconds last = 0;
    };
    const Work* work_ = nullptr;
    std::map<int, Seen> of_sm_;
};

struct Asked {
    double first, second;  // medians, SM cycles
};

Asked predicted(const test::RecordedCells& row, const Machine& machine, double next_tile_ns) {
    std::vector<std::string> arguments =
        test::arguments_of(row, {"m", "n", "k", "bm", "bn", "bk", "stages", "warps", "pipeline", "mode"});
    Kernel kernel = cli::load_launched("gemm", arguments, "", machine).kernel;
    if (next_tile_ns >= 0) kernel.next_tile_ns = next_tile_ns;
    TileChanges sink;
    PredictOptions options;
    options.sample = 16;
    options.mode = row.text("mode") == "static" ? Mode::Static : Mode::Dynamic;
    options.sink = &sink;
    TbbExecutor executor(2);
    predict(machine, kernel, cli::named_order(row.text("order"), machine, kernel, options.mode), options,
            executor);
    return {test::median(sink.cycles[0]), test::median(sink.cycles[1])};
}

test::RecordedCells change_of(const char* bm, const char* bn, const char* mode) {
    return test::recorded_rows("tile_changes.csv",
                               {{"bm", bm}, {"bn", bn}, {"mode", mode}, {"order", "group_m:16"}})
        .front();
}

}  // namespace

TEST_CASE("A static producer asks for its next tile when it has read which one that is") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    for (const auto& [bm, bn] : {std::pair{"64", "128"}, {"128", "128"}, {"128", "256"}}) {
        const test::RecordedCells row = change_of(bm, bn, "static");
        const double first = row["first_asked"] - row["last_asked"];
        const double second = row["second_asked"] - row["last_asked"];
        const Asked model = predicted(row, machine, -1);
        INFO(bm << " x " << bn << ": " << first << " and " << second << " cycles, in the model "
                << model.first << " and " << model.second);
        CHECK(model.first == Approx(first).epsilon(0.2));
        CHECK(model.second == Approx(second).epsilon(0.2));
        // Where many stages are free by then, loads would leave far sooner.
        if (row["stages"] == 8) CHECK(predicted(row, machine, 0).first < 0.5 * first);
    }
}

TEST_CASE("A dynamic producer draws its next tile before") {
    if (test::left_to_plain_builds()) return;
    const test::RecordedCells row = change_of("128", "128", "dynamic");
    // It asks for the last step's boxes as that of a static launch does.
    const double last = change_of("128", "128", "static")["last_asked"];
    const Asked model = predicted(row, load_machine("h200"), -1);
    INFO(row["first_asked"] - last << " cycles, in the model " << model.first);
    CHECK(model.first == Approx(row["first_asked"] - last).epsilon(0.1));
}
