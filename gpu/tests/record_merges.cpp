// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_merges: how much later may a second SM ask for the same lines so that its requests join the
// first one's? As rows of traces/h200/merges.csv (its README says what the columns are).
#include <algorithm>
#include <cstdio>
#include <random>

#include "base/error.hpp"

#include "gpu/probe/bench.hpp"
#include "gpu/tests/merge_delays.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr std::size_t kRounds = 500;
constexpr unsigned kPieceBytes = 512;  // of a round

// Pieces of many 4 KiB chunks with this home.
std::vector<std::uint64_t> pieces_homed(const ProbeBench& bench, bool far) {
    constexpr unsigned kSeed = 1;
    std::mt19937 random(kSeed);
    std::vector<std::uint64_t> offsets;
    for (std::size_t chunk = 0; chunk < bench.far_from_sm0.size(); ++chunk)
        if (bench.far_from_sm0[chunk] == far)
            offsets.push_back(chunk * kChunkBytes + random() % (kChunkBytes / kPieceBytes) * kPieceBytes);
    std::shuffle(offsets.begin(), offsets.end(), random);
    offsets.resize(std::min(offsets.size(), kRounds));
    return offsets;
}

void record(ProbeBench& bench, bool resident, bool far, int second_sm, int delay_cycles) {
    const DeviceRoles roles(Roles::of({0, second_sm}, bench.sms()));
    const Pairs pairs{pieces_homed(bench, far), delay_cycles, resident};
    const Counters counted =
        bench.count([&] { load_in_pairs(bench.buffer(), pairs, roles); }, [&] { bench.flush(); });
    std::printf("%s,%s,%d,%d,%zu,%.0f\n", resident ? "resident" : "missing", far ? "far" : "near", second_sm,
                delay_cycles, kRounds * kPieceBytes / 32,
                counted.at("lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum"));
}

// An SM of SM 0's GPC, but not of its TPC.
int distant_sm(const ProbeBench& bench) {
    for (const auto& gpc : bench.gpcs)
        if (std::find(gpc.begin(), gpc.end(), 0) != gpc.end()) return gpc[2];
    throw Unavailable("SM 0 is in no GPC");
}

}  // namespace

int main(int count, char**) {
    try {
        if (count > 1) throw BadInput("l2lens_gpu_merges takes no word");
        ProbeBench bench;
        probe_sides(bench);
        std::printf("lines,home,second_sm,delay_cycles,sectors,merged_sectors\n");
        for (const bool far : {false, true}) {
            for (const int delay : {0, 20, 30, 40, 50, 60, 100, 200, 400}) record(bench, true, far, 1, delay);
            for (const int sm : {1, distant_sm(bench)})
                for (const int delay : {0,   100, 200, 250, 300, 325, 350, 375,  400,  450, 475,
                                        500, 525, 550, 575, 600, 700, 800, 1000, 1500, 2000})
                    record(bench, false, far, sm, delay);
        }
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
