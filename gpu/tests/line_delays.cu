// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_buffer.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/copy_ring.cuh"
#include "gpu/tests/line_delays.hpp"
#include "gpu/tests/loads.cuh"

namespace l2lens::gpu {
namespace {

constexpr int kWarpThreads = 32;

struct Shared {
    unsigned streaming;           // participants that have begun
    unsigned done;                // lines are timed
    unsigned long long bytes;     // streamed while they were
    long long first_ns, last_ns;  // of the timed lines
    long long first_cycle, last_cycle;
};

struct Job {
    const char* buffer;
    const std::uint64_t* offsets;
    int count;
    int at_once;
    bool resident;
    Streams streams;
    int participants;
};

// A warp a line. The other half of the 64 KiB around it comes first: the same page, another line.
__device__ void time_them(const Job& job, Shared* shared, float* cycles) {
    constexpr std::uint64_t kOtherHalf = 32768;
    const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
    const bool first = threadIdx.x == 0;
    if (first && job.streams.in_flight > 0)
        while (atomicAdd(&shared->streaming, 0u) + 1 < static_cast<unsigned>(job.participants)) {
        }
    if (first) {
        constexpr int kSteadyNs = 20000;  // until the streams are
        for (const long long begin = global_timer(); global_timer() < begin + kSteadyNs;) {
        }
        shared->first_ns = global_timer();
        shared->first_cycle = clock64();
    }
    for (int round = 0; round * job.at_once < job.count; ++round) {
        const int i = round * job.at_once + warp;
        const bool timed = threadIdx.x % kWarpThreads == 0 && warp < job.at_once && i < job.count;
        const char* at = job.buffer + (timed ? job.offsets[i] : 0);
        unsigned value = 0;
        if (timed) value = load_word_past_l1(job.buffer + (job.offsets[i] ^ kOtherHalf));
        if (timed && job.resident) value |= load_word_past_l1(at + value);
        if (value != 0) __trap();
        __syncthreads();
        if (timed) {
            const long long start = clock64();
            if (load_word_past_l1(at + value) != 0) __trap();
            cycles[i] = static_cast<float>(clock64() - start);
        }
    }
    __syncthreads();
    if (!first) return;
    shared->last_ns = global_timer();
    shared->last_cycle = clock64();
    atomicExch(&shared->done, 1u);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
constexpr int kMaxDepth = 13;  // pieces that fit in shared memory

// Piece after piece of the participant's region, round and round, until the lines are timed.
__device__ void stream(const Job& job, int role, char* pieces, Shared* shared) {
    constexpr unsigned kPieceBytes = 16 << 10;
    __shared__ std::uint64_t barriers[kMaxDepth];
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(pieces));
    CopyRing ring(barriers, job.streams.in_flight);
    const char* region = job.buffer + job.streams.first_byte + (role - 1) * job.streams.bytes_each;
    const bool small = role >= job.participants - job.streams.small;
    const std::int64_t walked = small ? job.streams.small_bytes : job.streams.bytes_each;
    const auto count = static_cast<unsigned>(walked / kPieceBytes);
    unsigned next = 0;
    const auto start_next = [&](int slot, std::uint32_t barrier) {
        probe::start_bulk_copy(to + static_cast<std::uint32_t>(slot) * kPieceBytes,
                               region + next * std::int64_t{kPieceBytes}, kPieceBytes, barrier);
        next = next + 1 == count ? 0 : next + 1;
    };
    ring.begin(start_next);
    atomicAdd(&shared->streaming, 1u);
    const volatile unsigned* done = &shared->done;
    const volatile long long* first_ns = &shared->first_ns;
    unsigned long long moved = 0;
    constexpr unsigned kBetweenLooks = 16;  // a look takes as long as a line
    while (*done == 0) {
        for (unsigned i = 0; i < kBetweenLooks; ++i) ring.turn(start_next);
        if (*first_ns > 0) moved += kBetweenLooks * kPieceBytes;
    }
    atomicAdd(&shared->bytes, moved);
    ring.finish();
}
#endif

__global__ void line_kernel(Job job, const int* roles, Shared* shared, float* cycles) {
    extern __shared__ __align__(128) char pieces[];
    const int role = roles[sm_id()];
    if (role == 0) return time_them(job, shared, cycles);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (role > 0 && threadIdx.x == 0 && job.streams.in_flight > 0) stream(job, role, pieces, shared);
#endif
}

}  // namespace

LineDelays time_lines(const void* buffer, const TimedLines& lines, const Streams& streams,
                      const DeviceRoles& roles) {
    const DeviceBuffer<std::uint64_t> offsets{std::span(lines.offsets)};
    DeviceBuffer<float> cycles(lines.offsets.size());
    DeviceBuffer<Shared> shared(1);
    shared.fill_bytes(0);
    const Job job{static_cast<const char*>(buffer),
                  offsets.get(),
                  static_cast<int>(lines.offsets.size()),
                  lines.at_once,
                  lines.resident,
                  streams,
                  roles.participants()};
    const int bytes = probe::prepare_one_cta_per_sm(line_kernel) - 1024;
    line_kernel<<<static_cast<unsigned>(roles.sms()), kMaxLinesAtOnce * kWarpThreads,
                  static_cast<std::size_t>(bytes)>>>(job, roles.device(), shared.get(), cycles.get());
    check_launch("timing lines");
    const Shared seen = shared.to_host().front();
    const auto ns = static_cast<double>(seen.last_ns - seen.first_ns);
    const double ns_per_cycle = ns / static_cast<double>(seen.last_cycle - seen.first_cycle);
    LineDelays delays;
    for (const float c : cycles.to_host()) delays.ns.push_back(static_cast<double>(c) * ns_per_cycle);
    delays.bytes_per_ns = static_cast<double>(seen.bytes) / ns;
    return delays;
}

}  // namespace l2lens::gpu
