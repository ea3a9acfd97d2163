// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_paced: how long boxes take that SMs ask for at a given pace, however long the ones before take:
// of data that the L2 has and of data from DRAM, at a page's first box and at others. Rows of
// traces/h200/paced.csv (its README says what the columns are).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <cuda.h>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/mix.cuh"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/probe/bench.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/row_boxes.cuh"

using namespace l2lens;
using namespace l2lens::gpu;
using namespace l2lens::gpu::row_boxes;

namespace {

constexpr int kBoxesOfPage = kColumns / kBoxColumns;

constexpr int kMostInFlight = 8;
constexpr int kUntimed = kBoxesOfPage;  // before the others
constexpr int kTimed = 8 * kBoxesOfPage;
constexpr int kBoxes = kUntimed + kTimed;
constexpr int kPages = kBoxes / kBoxesOfPage;  // of an SM

struct Job {
    CUtensorMap boxes;
    const int* roles;
    const int* first_cycle;  // by role: when its first box is due
    int readers;
    int boxes_across;
    int in_flight;  // no box is asked for while so many are under way
    int period;     // SM cycles from one box to the next
    int spread;     // and as many later at most, as it comes
    Meeting* meeting;
    float* cycles;      // [role][kTimed]
    long long* ask_ns;  // by role: when its first timed box is asked for
    long long* end_ns;  // by role: when its last box is there
};

struct Ring {
    std::uint64_t full[kMostInFlight];
    long long asked[kMostInFlight];  // the cycle
    int landed;                      // boxes
};

__device__ void ask(const Job& job, int role, std::uint32_t to, volatile Ring& ring,
                    const std::uint64_t* full, long long begin) {
    for (int i = 0; i < kBoxes; ++i) {
        while (i - ring.landed >= job.in_flight) {
        }
        // The upper half of a product: a remainder takes so long that boxes of 450 ns and less came late.
        const std::uint64_t random = mix(static_cast<std::uint64_t>(role * kBoxes + i)) >> 32;
        const auto later = static_cast<long long>(random * static_cast<std::uint64_t>(job.spread) >> 32);
        const long long due = begin + job.first_cycle[role] + static_cast<long long>(i) * job.period + later;
        while (clock64() < due) {
        }
        if (i == kUntimed) job.ask_ns[role] = global_timer();
        const int slot = i % kMostInFlight;
        const std::uint32_t barrier = hopper::shared_address(&full[slot]);
        hopper::barrier_expect_bytes(barrier, kBoxBytes);
        ring.asked[slot] = clock64();
        const int page = job.boxes_across == kBoxesOfPage ? i / kBoxesOfPage : 0;
        hopper::load_box(&job.boxes, to + static_cast<std::uint32_t>(slot) * kBoxBytes, barrier,
                         i % job.boxes_across * kBoxColumns, (page * job.readers + role) * kBoxRows);
    }
}

__device__ void watch(const Job& job, int role, volatile Ring& ring, const std::uint64_t* full) {
    for (int i = 0; i < kBoxes; ++i) {
        const int slot = i % kMostInFlight;
        hopper::barrier_wait(hopper::shared_address(&full[slot]),
                             static_cast<std::uint32_t>(i / kMostInFlight & 1));
        const auto cycles = static_cast<float>(clock64() - ring.asked[slot]);
        if (i >= kUntimed) job.cycles[role * kTimed + i - kUntimed] = cycles;
        ring.landed = i + 1;
    }
    job.end_ns[role] = global_timer();
}

__global__ void paced_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ Ring ring;
    __shared__ long long begin;
    const int role = job.roles[sm_id()];
    if (role < 0) return;
    const std::uint32_t to = (hopper::shared_address(raw) + kAlignment - 1) / kAlignment * kAlignment;
    if (threadIdx.x == 0) {
        for (std::uint64_t& barrier : ring.full) hopper::barrier_init(hopper::shared_address(&barrier), 1);
        hopper::barrier_init_fence();
        ring.landed = 0;
        const long long start = meet(job.meeting, role, job.readers);
        while (global_timer() < start) {
        }
        begin = clock64();
    }
    __syncthreads();
    if (threadIdx.x == 0) ask(job, role, to, ring, ring.full, begin);
    if (threadIdx.x == 32) watch(job, role, ring, ring.full);
}

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
    std::sort(cycles.begin(), cycles.end());
    const double mean =
        std::accumulate(cycles.begin(), cycles.end(), 0.0) / static_cast<double>(cycles.size());
    std::printf("%s,%s,%d,%.0f,%zu,%s,%.0f,%.1f", data == Data::L2 ? "l2" : "dram", name_of(pace.timing),
                pace.in_flight, pace.period_ns, readers, page, bytes_per_ns, mean / ghz);
    for (const double share : {0.01, 0.1, 0.5, 0.9, 0.99})
        std::printf(",%.0f",
                    cycles[static_cast<std::size_t>(share * static_cast<double>(cycles.size() - 1))] / ghz);
    std::printf("\n");
    std::fflush(stdout);
}

struct Timed {
    std::vector<float> cycles;  // [SM][kTimed]
    double bytes_per_ns;
};

Timed time_boxes(const ProbeBench& bench, const char* matrix, Data data, const std::vector<int>& sms,
                 const Pace& pace) {
    const auto period = static_cast<int>(pace.period_ns * bench.sm_ghz());
    const bool hits = data == Data::L2;
    std::mt19937 random(1);
    std::vector<int> first(sms.size(), 0);
    if (pace.timing == Timing::Random)
        for (int& cycle : first) cycle = static_cast<int>(random() % static_cast<unsigned>(period));
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    const DeviceBuffer<int> first_cycle{std::span<const int>(first)};
    DeviceBuffer<Meeting> meeting(1);
    const DeviceBuffer<float> cycles(sms.size() * kTimed);
    const DeviceBuffer<long long> asked(sms.size()), ended(sms.size());
    const auto rows = static_cast<std::int64_t>(sms.size()) * kBoxRows * (hits ? 1 : kPages);
    const Job job{tile_map(matrix, rows, kColumns, kBoxRows),
                  roles.device(),
                  first_cycle.get(),
                  static_cast<int>(sms.size()),
                  hits ? kResidentBoxes : kBoxesOfPage,
                  pace.in_flight,
                  period,
                  pace.timing == Timing::Random ? period / 2 : 0,
                  meeting.get(),
                  cycles.get(),
                  asked.get(),
                  ended.get()};
    const int shared = probe::prepare_one_cta_per_sm(paced_kernel) - kAlignment;
    const int rounds = hits ? 2 : 1;  // the second one finds all in the L2
    if (!hits) bench.flush();
    for (int round = 0; round < rounds; ++round) {
        meeting.fill_bytes(0);
        paced_kernel<<<static_cast<unsigned>(bench.sms()), 64, static_cast<std::size_t>(shared)>>>(job);
        check_launch("pacing boxes");
    }
    const std::vector<long long> from = asked.to_host(), until = ended.to_host();
    const long long lasted =
        *std::max_element(until.begin(), until.end()) - *std::min_element(from.begin(), from.end());
    return {cycles.to_host(),
            double{kTimed} * kBoxBytes * static_cast<double>(sms.size()) / static_cast<double>(lasted)};
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
    try {
        if (count > 1) throw BadInput("l2lens_gpu_paced takes no word");
        const ProbeBench bench;
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        record_all(bench);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "l2lens_gpu_paced: %s\n", error.what());
        return static_cast<int>(error.code());
    }
}
