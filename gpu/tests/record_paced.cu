// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_paced: how long boxes take that SMs ask for at a given pace, however long the ones before take:
// of data that the L2 has and of data from DRAM, at a page's first box and at others. Rows of
// traces/h200/paced.csv (its README says what the columns are).
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <utility>
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

enum class Data { L2, Dram };

enum class Timing { Random, Together, AtOnce };

struct Pace {
    Timing timing;
    int in_flight;
    double period_ns;
};

const char* name_of(Timing timing) {
    switch (timing) {
        case Timing::Random:
            return "random";
        case Timing::Together:
            return "together";
        case Timing::AtOnce:
            break;
    }
    return "at_once";
}

void print(Data data, const Pace& pace, const char* page, std::size_t readers, double bytes_per_ns,
           std::vector<float> cycles, double ghz) {
    std::printf("%s,%s,%d,%.0f,%zu,%s,%.0f", data == Data::L2 ? "l2" : "dram", name_of(pace.timing),
                pace.in_flight, pace.period_ns, readers, page, bytes_per_ns);
    print_times(std::move(cycles), ghz);
}

struct Timed {
    std::vector<float> cycles;  // [SM][kTimed]
    double bytes_per_ns;
};

Timed time_boxes(const ProbeBench& bench, const char* matrix, Data data, const std::vector<int>& sms,
                 const Pace& pace) {
    const auto period = static_cast<int>(pace.period_ns * bench.sm_ghz());
    const bool hits = data == Data::L2;
    const bool at_random = pace.timing == Timing::Random;
    const std::vector<int> first =
        at_random ? random_first_cycles(sms.size(), period) : std::vector<int>(sms.size(), 0);
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    const DeviceBuffer<int> first_cycle{std::span<const int>(first)};
    DeviceBuffer<Meeting> meeting(1);
    const Times times(sms.size());
    const auto rows = static_cast<std::int64_t>(sms.size()) * kBoxRows * (hits ? 1 : kPages);
    const Job job{tile_map(matrix, rows, kColumns, kBoxRows),
                  roles.device(),
                  {first_cycle.get(), static_cast<int>(sms.size()), hits ? kResidentBoxes : kBoxesOfPage,
                   !hits, pace.in_flight, period, at_random ? period / 2 : 0, times.cycles.get(),
                   times.each_ns.get(), times.ask_ns.get(), times.end_ns.get()},
                  meeting.get()};
    const int shared = probe::prepare_one_cta_per_sm(paced_kernel) - kAlignment;
    const int rounds = hits ? 2 : 1;  // the second one finds all in the L2
    if (!hits) bench.flush();
    for (int round = 0; round < rounds; ++round) {
        meeting.fill_bytes(0);
        paced_kernel<<<static_cast<unsigned>(bench.sms()), 64, static_cast<std::size_t>(shared)>>>(job);
        check_launch("pacing boxes");
    }
    return {times.cycles.to_host(), double{kTimed} * kBoxBytes * static_cast<double>(sms.size()) /
                                        static_cast<double>(times.lasted_ns())};
}

void record(const ProbeBench& bench, const char* matrix, Data data, const std::vector<int>& sms,
            const Pace& pace) {
    const Timed timed = time_boxes(bench, matrix, data, sms, pace);
    std::vector<float> first_of_page, others;
    for (std::size_t i = 0; i < timed.cycles.size(); ++i)
        (data == Data::Dram && i % kBoxesOfPage == 0 ? first_of_page : others).push_back(timed.cycles[i]);
    print(data, pace, "known", sms.size(), timed.bytes_per_ns, others, bench.sm_ghz());
    if (!first_of_page.empty())
        print(data, pace, "new", sms.size(), timed.bytes_per_ns, first_of_page, bench.sm_ghz());
}

void record_all(const ProbeBench& bench) {
    std::vector<int> all(static_cast<std::size_t>(bench.sms()));
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int> one{0};
    DeviceBuffer<char> matrix(all.size() * kPages * kBoxesOfPage * kBoxBytes);
    matrix.fill_bytes(1);  // what nobody has written comes faster than DRAM has it
    std::printf(
        "data,timing,in_flight,period_ns,sms,page,bytes_per_ns,mean_ns,p1_ns,p10_ns,p50_ns,p90_ns,p99_ns\n");
    const auto at = [&](Data data, const std::vector<int>& sms, const Pace& pace) {
        record(bench, matrix.get(), data, sms, pace);
    };
    at(Data::L2, one, {Timing::Random, kMostInFlight, 4000});
    for (const double period : {2000., 1000., 600., 450., 400., 360., 330.})
        at(Data::L2, all, {Timing::Random, kMostInFlight, period});
    for (const double period : {2000., 600., 450., 330.})
        at(Data::L2, all, {Timing::Together, kMostInFlight, period});
    at(Data::Dram, one, {Timing::Random, kMostInFlight, 4000});
    for (const double period : {8000., 4300., 2160., 1440., 1080., 860., 720., 640., 560.})
        at(Data::Dram, all, {Timing::Random, kMostInFlight, period});
    for (const double period : {8000., 2160., 1080., 720.})
        at(Data::Dram, all, {Timing::Together, kMostInFlight, period});
    for (const int in_flight : {1, 2, 3, 4, 6, 8}) at(Data::Dram, all, {Timing::AtOnce, in_flight, 0});
}

}  // namespace

int main(int count, char**) {
    return run_recorder("l2lens_gpu_paced", count, [](ProbeBench& bench) {
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        record_all(bench);
    });
}
