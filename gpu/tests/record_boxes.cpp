// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_boxes: does an SM finish one TMA box, loaded or stored, before it begins the next? As rows of
// traces/h200/boxes.csv (its README says what the columns are).
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>

#include "base/error.hpp"

#include "gpu/probe/bench.hpp"
#include "gpu/tests/box_delays.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr int kRounds = 160;

TimedBoxes timed_boxes(int rows, bool own_warps, const std::string& letters) {
    TimedBoxes boxes{rows, {}, own_warps};
    for (const char letter : letters)
        boxes.kinds.push_back(letter == 'r'   ? BoxKind::Resident
                              : letter == 'm' ? BoxKind::Missing
                                              : BoxKind::Stored);
    return boxes;
}

void record(ProbeBench& bench, int rows, bool own_warps, const std::string& letters) {
    const TimedBoxes boxes = timed_boxes(rows, own_warps, letters);
    bench.flush();
    auto timed = time_boxes(bench.buffer(), bench.buffer_bytes(), bench.sms(), kRounds, boxes);
    for (std::size_t box = 0; box < boxes.kinds.size(); ++box) {
        if (boxes.kinds[box] == BoxKind::Stored) continue;
        for (int watched = 0; watched < kWatchedRows; ++watched) {
            std::vector<double>& cycles = timed[box][static_cast<std::size_t>(watched)];
            std::sort(cycles.begin(), cycles.end());
            const double mean = std::accumulate(cycles.begin(), cycles.end(), 0.0) / kRounds;
            std::printf("%s,%d,%s,%zu,%d,%d,%.0f,%.0f,%.0f,%.1f\n", boxes.own_warps ? "warps" : "thread",
                        boxes.rows, letters.c_str(), box, watched_row(boxes.rows, watched), kRounds,
                        cycles[kRounds / 10], cycles[kRounds / 2], cycles[kRounds * 9 / 10], mean);
        }
    }
}

}  // namespace

int main(int count, char**) {
    try {
        if (count > 1) throw BadInput("l2lens_gpu_boxes takes no word");
        ProbeBench bench;
        if (!bench.has_clusters()) throw Unavailable("TMA needs compute capability 9.0 or newer");
        std::printf("asked_by,rows,boxes,box,row,samples,p10_cycles,p50_cycles,p90_cycles,mean_cycles\n");
        for (const int rows : {16, 64, 128, 256})
            for (const bool warps : {false, true})
                for (const std::string boxes : {"r", "rr", "rrr", "rrrr", "m", "mm", "mr", "rm", "mmmm", "sr",
                                                "ssr", "sssr", "rs", "sm"})
                    record(bench, rows, warps, boxes);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
