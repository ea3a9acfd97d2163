// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_box_waits: how long boxes of 128 rows from DRAM take by how far their rows lie apart, and
// whether boxes of different SMs wait alike when they are asked for at the same time. Rows of
// traces/h200/box_waits.csv (its README says what the columns are).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <cuda.h>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/probe/bench.hpp"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/paced_boxes.cuh"
#include "gpu/tests/paced_kernel.cuh"
#include "gpu/tests/recorder.hpp"
#include "gpu/tests/row_boxes.cuh"

using namespace l2lens;
using namespace l2lens::gpu;
using namespace l2lens::gpu::paced_boxes;
using namespace l2lens::gpu::row_boxes;

namespace {

struct Box {
    long long asked_ns;
    int role;
    float longer;  // than the median of its SM, in cycles
};

// In the order in which they were asked for.
std::vector<Box> boxes_of(const std::vector<float>& cycles, const std::vector<long long>& each_ns) {
    std::vector<Box> boxes;
    for (std::size_t first = 0; first < cycles.size(); first += kTimed) {
        const auto from = cycles.begin() + static_cast<std::ptrdiff_t>(first);
        std::vector<float> sorted(from, from + kTimed);
        std::nth_element(sorted.begin(), sorted.begin() + kTimed / 2, sorted.end());
        for (std::size_t i = first; i < first + kTimed; ++i)
            boxes.push_back({each_ns[i], static_cast<int>(first / kTimed), cycles[i] - sorted[kTimed / 2]});
    }
    std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.asked_ns < b.asked_ns; });
    return boxes;
}

// Without those of DRAM's pauses and shortly after: of 2 us in which a tenth takes 300 ns longer, of 2 before
// and 4 after.
std::vector<Box> outside_pauses(const std::vector<Box>& boxes, double ghz) {
    constexpr long long kSlotNs = 2000;
    const long long first = boxes.front().asked_ns;
    std::vector<int> all((boxes.back().asked_ns - first) / kSlotNs + 1, 0), late = all;
    for (const Box& box : boxes) {
        const auto slot = static_cast<std::size_t>((box.asked_ns - first) / kSlotNs);
        ++all[slot];
        if (box.longer > 300 * ghz) ++late[slot];
    }
    std::vector<Box> kept;
    for (const Box& box : boxes) {
        const long long slot = (box.asked_ns - first) / kSlotNs;
        bool paused = false;
        for (long long near = std::max(slot - 2, 0LL);
             near <= std::min(slot + 1, static_cast<long long>(all.size()) - 1); ++near)
            paused =
                paused || 10 * late[static_cast<std::size_t>(near)] > all[static_cast<std::size_t>(near)];
        if (!paused) kept.push_back(box);
    }
    return kept;
}

// The correlation of boxes of different SMs of which one is asked for `from` to `to` ns after the other.
double alike(const std::vector<Box>& boxes, long long from, long long to) {
    double sum = 0, squares = 0, products = 0;
    for (const Box& box : boxes) sum += box.longer;
    const double mean = sum / static_cast<double>(boxes.size());
    for (const Box& box : boxes) squares += (box.longer - mean) * (box.longer - mean);
    std::int64_t pairs = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        for (std::size_t j = i + 1; j < boxes.size(); ++j) {
            const long long lag = boxes[j].asked_ns - boxes[i].asked_ns;
            if (lag >= to) break;
            if (lag < from || boxes[i].role == boxes[j].role) continue;
            products += (boxes[i].longer - mean) * (boxes[j].longer - mean);
            ++pairs;
        }
    }
    return pairs == 0 ? 0
                      : products / static_cast<double>(pairs) / (squares / static_cast<double>(boxes.size()));
}

void record(const ProbeBench& bench, const char* matrix, std::int64_t columns, const std::vector<int>& sms,
            double period_ns) {
    const auto period = static_cast<int>(period_ns * bench.sm_ghz());
    const std::vector<int> first = random_first_cycles(sms.size(), period);
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    const DeviceBuffer<int> first_cycle{std::span<const int>(first)};
    DeviceBuffer<Meeting> meeting(1);
    meeting.fill_bytes(0);
    const Times times(sms.size());
    const auto across = static_cast<int>(columns / kBoxColumns);
    const std::int64_t blocks = (kBoxes + across - 1) / across;
    const Job job{
        tile_map(matrix, static_cast<std::int64_t>(sms.size()) * blocks * kBoxRows, columns, kBoxRows),
        roles.device(),
        {first_cycle.get(), static_cast<int>(sms.size()), across, true, kMostInFlight, period, period / 2,
         times.cycles.get(), times.each_ns.get(), times.ask_ns.get(), times.end_ns.get()},
        meeting.get()};
    const int shared = probe::prepare_one_cta_per_sm(paced_kernel) - kAlignment;
    bench.flush();
    paced_kernel<<<static_cast<unsigned>(bench.sms()), 64, static_cast<std::size_t>(shared)>>>(job);
    check_launch("pacing boxes");
    const std::vector<float> cycles = times.cycles.to_host();
    const std::vector<Box> boxes = outside_pauses(boxes_of(cycles, times.each_ns.to_host()), bench.sm_ghz());
    // By where DRAM's refreshes are: at the same place of a period of 1926 ns.
    constexpr long long kPeriodNs = 1926, kTogetherNs = 50;
    std::printf(
        "%lld,%zu,%.0f,%.0f,%.2f,%.2f,%.2f", static_cast<long long>(columns) * 2, sms.size(), period_ns,
        double{kTimed} * kBoxBytes * static_cast<double>(sms.size()) / static_cast<double>(times.lasted_ns()),
        alike(boxes, 0, kTogetherNs), alike(boxes, 200, 600),
        alike(boxes, kPeriodNs - kTogetherNs, kPeriodNs + kTogetherNs));
    print_times(cycles, bench.sm_ghz());
}

void record_all(const ProbeBench& bench) {
    std::vector<int> all, some;  // these of all GPCs
    for (int sm = 0; sm < bench.sms(); ++sm) {
        all.push_back(sm);
        if (sm % 5 == 3 && some.size() < 24) some.push_back(sm);
    }
    DeviceBuffer<char> matrix(all.size() * (kPages + 1) * kBoxesOfPage * kBoxBytes);
    matrix.fill_bytes(1);  // what nobody has written comes faster than DRAM has it
    std::printf(
        "pitch_bytes,sms,period_ns,bytes_per_ns,together,later,a_period_later,mean_ns,p1_ns,p10_ns,p50_ns,"
        "p90_ns,p99_ns\n");
    for (const std::int64_t columns : {512, 1024, 2048, 4096, 8192})
        for (const double period : {4000., 375.}) record(bench, matrix.get(), columns, some, period);
    for (const double period : {8000., 2160., 1440., 1080., 860., 720.})
        record(bench, matrix.get(), 4096, all, period);
}

}  // namespace

int main(int count, char**) {
    return run_recorder("l2lens_gpu_box_waits", count, [](ProbeBench& bench) {
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        record_all(bench);
    });
}
