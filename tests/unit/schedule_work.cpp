// SPDX-License-Identifier: Apache-2.0
// A kernel made ready to run: which walks are distinct, which lines they have, how long these are kept.
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "load/machine_file.hpp"
#include "schedule/work.hpp"
#include "support/catch.hpp"
#include "support/kernels.hpp"

using namespace l2lens;

namespace {

// A GEMM of 2 x 3 tiles with 4 k-steps.
struct SmallGemm {
    explicit SmallGemm(int lanes = 47) : sample(47, lanes) {}

    Machine machine = load_machine("h200");
    Kernel kernel = test::gemm({"m=256", "n=384", "k=256", "bm=128", "bn=128", "bk=64"}, machine);
    AddressMap map{machine};
    LaneSample sample;
    Work work{kernel, map, sample};

    std::vector<std::int32_t> walks_of(std::int32_t tile) const {
        std::vector<std::int32_t> ids;
        for (const Work::Phase& phase : work.program(tile)) {
            for (std::int32_t walk : work.loads(phase)) ids.push_back(walk);
            for (std::int32_t walk : work.stores(phase)) ids.push_back(walk);
        }
        return ids;
    }
};

}  // namespace

TEST_CASE("Boxes that go to other CTAs of a cluster are other walks") {
    const Machine machine = load_machine("h200");
    const AddressMap map(machine);
    const LaneSample sample(47, 47);
    Kernel kernel = test::one_cta(2, 0, 1);
    Phase& phase = kernel.programs[0].phases[0];
    for (const int axis : {0, 1}) {
        phase.loads.push_back(phase.loads[0]);
        phase.loads.back().multicast = 2;
        phase.loads.back().multicast_axis = axis;
    }
    phase.loads.push_back(phase.loads[1]);  // none of its own
    CHECK(Work(kernel, map, sample).walks() == 3);
}

TEST_CASE("Tiles of a row share the walk of A, tiles of a column that of B, and C is each tile's own") {
    const SmallGemm gemm;
    CHECK(gemm.work.walks() == 2 + 3 + 6);
    std::map<std::int64_t, int> walks_of_uses;
    std::int64_t uses = 0;
    for (std::int32_t walk = 0; walk < 11; ++walk) {
        ++walks_of_uses[gemm.work.walk_uses(walk)];
        uses += gemm.work.walk_uses(walk);
    }
    CHECK(walks_of_uses == std::map<std::int64_t, int>{{3, 2}, {2, 3}, {1, 6}});
    CHECK(uses == 3 * 6);
    for (std::int32_t row = 0; row < 2; ++row) {
        for (std::int32_t column = 0; column < 3; ++column) {
            const auto walks = gemm.walks_of(row * 3 + column);
            REQUIRE(walks.size() == 3);
            CHECK(walks[0] == gemm.walks_of(row * 3)[0]);
            CHECK(walks[1] == gemm.walks_of(column)[1]);
            CHECK(gemm.work.steps(row * 3 + column) == 4 + 1);  // k / bk, and the store
        }
    }
}

TEST_CASE("A walk knows its steps, its bytes and how many CTAs use it") {
    const SmallGemm gemm;
    const auto walks = gemm.walks_of(0);
    CHECK(gemm.work.walk_steps(walks[0]) == 4);
    CHECK(gemm.work.walk_bytes(walks[0]) == 128 * 256 * 2);
    CHECK(gemm.work.walk_steps(walks[2]) == 1);
    CHECK(gemm.work.walk_bytes(walks[2]) == 128 * 128 * 2);
    double bytes = 0;
    for (std::int32_t walk = 0; walk < static_cast<std::int32_t>(gemm.work.walks()); ++walk)
        bytes += gemm.work.walk_bytes(walk) * static_cast<double>(gemm.work.walk_uses(walk));
    CHECK(bytes == 6 * (2 * 128 * 256 + 128 * 128) * 2);
}

TEST_CASE("Lines are there while a CTA that uses them may still come or run") {
    SmallGemm gemm;
    const auto walks = gemm.walks_of(0);
    const auto kept = [&](std::size_t i) { return !gemm.work.lines(walks[i]).lines.empty(); };
    for (std::size_t i = 0; i < 3; ++i) CHECK_FALSE(kept(i));
    for (std::int32_t tile = 0; tile < 6; ++tile) gemm.work.acquire(tile);
    for (std::size_t i = 0; i < 3; ++i) CHECK(kept(i));
    gemm.work.release(0);
    CHECK(kept(0));
    CHECK(kept(1));
    CHECK_FALSE(kept(2));  // its tile of C
    gemm.work.release(3);
    CHECK_FALSE(kept(1));  // column 0 of B
    gemm.work.release(1);
    CHECK(kept(0));
    gemm.work.release(2);
    CHECK_FALSE(kept(0));  // row 0 of A
}

TEST_CASE("A box of 128 rows of 128 B is 128 lines of four sectors in each step") {
    SmallGemm gemm;
    gemm.work.acquire(0);
    const WalkLines& a = gemm.work.lines(gemm.walks_of(0)[0]);
    CHECK(a.requests == std::vector<std::uint32_t>(4, 128));
    CHECK(a.sectors == std::vector<std::uint32_t>(4, 512));
    std::set<LineNumber> lines;
    for (std::int64_t step = 0; step < 4; ++step) {
        std::uint32_t position = 0;
        for (const PlacedLine& line : a.step(step)) {
            CHECK(line.position == position++);
            CHECK(line.sectors == kWholeLine);
            lines.insert(line.line);
        }
        CHECK(position == 128);
    }
    CHECK(lines.size() == 4 * 128);
}

TEST_CASE("Samples of lanes are evenly spaced, and know each lane's index") {
    for (const auto& [lanes, count] : {std::pair{47, 1}, {47, 3}, {47, 24}, {47, 47}, {1, 1}, {80, 7}}) {
        INFO(count << " of " << lanes);
        const LaneSample sample(lanes, count);
        CHECK(sample.factor() == Approx(static_cast<double>(lanes) / count));
        int simulated = 0;
        for (int lane = 0; lane < lanes; ++lane) {
            if (sample.index(lane) < 0) continue;
            ++simulated;
            CHECK(sample.lane(sample.index(lane)) == lane);
        }
        CHECK(simulated == count);
        for (int i = 1; i < count; ++i) {
            const int gap = sample.lane(i) - sample.lane(i - 1);
            CHECK(gap >= lanes / count);
            CHECK(gap <= lanes / count + 1);
        }
    }
}

TEST_CASE("A sampled walk holds the lines of its lanes, in their places, and counts all of them") {
    SmallGemm all;
    SmallGemm sampled(5);
    all.work.acquire(0);
    sampled.work.acquire(0);
    for (std::size_t w = 0; w < 3; ++w) {
        const WalkLines& whole = all.work.lines(all.walks_of(0)[w]);
        const WalkLines& part = sampled.work.lines(sampled.walks_of(0)[w]);
        CHECK(part.requests == whole.requests);
        CHECK(part.sectors == whole.sectors);
        std::vector<LineNumber> expected;
        std::vector<LineNumber> seen;
        for (const PlacedLine& line : whole.lines)
            if (sampled.sample.index(sampled.map.lane(line.line)) >= 0) expected.push_back(line.line);
        for (const PlacedLine& line : part.lines) {
            seen.push_back(line.line);
            CHECK(sampled.sample.lane(line.lane) == sampled.map.lane(line.line));
        }
        CHECK(seen == expected);
    }
}
