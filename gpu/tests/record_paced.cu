// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_paced: how long boxes take that SMs ask for at a given pace, however long the ones before take:
// of data that the L2 has and of data from DRAM, at a page's first box and at others. Rows of
// traces/h200/paced.csv (its README says what the columns are).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <cuda.h>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/probe/bench.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/row_boxes.hpp"

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

__device__ std::uint32_t mixed(std::uint32_t x) {  // the 32-bit finalizer of MurmurHash3
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16);
}

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
        const std::uint32_t random = mixed(static_cast<std::uint32_t>(role * kBoxes + i));
        const long long due = begin + job.first_cycle[role] + static_cast<long long>(i) * job.period +
                              (job.spread > 0 ? random % static_cast<std::uint32_t>(job.spread) : 0);
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

void print(const char* data, const Pace& pace, const char* page, std::size_t readers, double bytes_per_ns,
           std::vector<float>& cycles, double ghz) {
    std::sort(cycles.begin(), cycles.end());
    const double mean =
        std::accumulate(cycles.begin(), cycles.end(), 0.0) / static_cast<double>(cycles.size());
    std::printf("%s,%s,%d,%.0f,%zu,%s,%.0f,%.1f", data, name_of(pace.timing), pace.in_flight, pace.period_ns,
                readers, page, bytes_per_ns, mean / ghz);
    for (const double share : {0.01, 0.1, 0.5, 0.9, 0.99})
        std::printf(",%.0f",
                    cycles[static_cast<std::size_t>(share * static_cast<double>(cycles.size() - 1))] / ghz);
    std::printf("\n");
    std::fflush(stdout);
}

void record(const ProbeBench& bench, const char* matrix, bool hits, const std::vector<int>& sms,
            const Pace& pace) {
    const double ghz = bench.sm_ghz();
    const auto period = static_cast<int>(pace.period_ns * ghz);
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
    const std::vector<float> all = cycles.to_host();
    const std::vector<long long> from = asked.to_host(), until = ended.to_host();
    const double bytes_per_ns = double{kTimed} * kBoxBytes * static_cast<double>(sms.size()) /
                                static_cast<double>(*std::max_element(until.begin(), until.end()) -
                                                    *std::min_element(from.begin(), from.end()));
    std::vector<float> first_of_page, others;
    for (std::size_t i = 0; i < all.size(); ++i)
        (!hits && i % kBoxesOfPage == 0 ? first_of_page : others).push_back(all[i]);
    const char* const data = hits ? "l2" : "dram";
    print(data, pace, "known", sms.size(), bytes_per_ns, others, ghz);
    if (!first_of_page.empty()) print(data, pace, "new", sms.size(), bytes_per_ns, first_of_page, ghz);
}

void record_all(const ProbeBench& bench) {
    std::vector<int> all(static_cast<std::size_t>(bench.sms()));
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int> one{0};
    DeviceBuffer<char> matrix(all.size() * kPages * kBoxesOfPage * kBoxBytes);
    matrix.fill_bytes(1);  // memory that nobody has written may be another matter
    std::printf(
        "data,timing,in_flight,period_ns,sms,page,bytes_per_ns,mean_ns,p1_ns,p10_ns,p50_ns,p90_ns,p99_ns\n");
    const auto at = [&](bool hits, const std::vector<int>& sms, const Pace& pace) {
        record(bench, matrix.get(), hits, sms, pace);
    };
    at(true, one, {Timing::Random, kMostInFlight, 4000});
    for (const double period : {2000., 1000., 600., 450., 400., 360., 330.})
        at(true, all, {Timing::Random, kMostInFlight, period});
    for (const double period : {2000., 600., 450., 330.})
        at(true, all, {Timing::Together, kMostInFlight, period});
    at(false, one, {Timing::Random, kMostInFlight, 4000});
    for (const double period : {8000., 4300., 2160., 1440., 1080., 860., 720., 640., 560.})
        at(false, all, {Timing::Random, kMostInFlight, period});
    for (const double period : {8000., 2160., 1080., 720.})
        at(false, all, {Timing::Together, kMostInFlight, period});
    for (const int in_flight : {1, 2, 3, 4, 6, 8}) at(false, all, {Timing::AtOnce, in_flight, 0});
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
