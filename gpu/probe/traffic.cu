// SPDX-License-Identifier: Apache-2.0
// How much comes through when many SMs ask at once?
#include "gpu/device_buffer.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/probe/kernels.hpp"

namespace l2lens::gpu {
namespace {

constexpr int kThreads = 1024;

struct Visit {
    char* buffer;
    const std::uint32_t* chunks;
    std::int64_t count;
    const int* roles;
    int participants;
    int passes;
};

__device__ uint4 load_past_l1(const char* at) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at));
    return v;
}

__device__ unsigned load_word_past_l1(const char* at) {
    unsigned value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}

// 256 threads a chunk of 4 KiB, so four chunks at a time.
__global__ void __launch_bounds__(kThreads) load_chunks(Visit v) {
    const int role = v.roles[probe::sm_id()];
    if (role < 0) return;
    const int lane = threadIdx.x % 256;
    const int quarter = threadIdx.x / 256;
    for (int pass = 0; pass < v.passes; ++pass) {
#pragma unroll 4
        for (std::int64_t i = role * 4 + quarter; i < v.count; i += v.participants * 4)
            load_past_l1(v.buffer + v.chunks[i] * kChunkBytes + lane * 16);
        __syncthreads();
    }
}

__global__ void __launch_bounds__(kThreads) store_chunks(Visit v) {
    const int role = v.roles[probe::sm_id()];
    if (role < 0) return;
    const int lane = threadIdx.x % 256;
    const int quarter = threadIdx.x / 256;
    for (int pass = 0; pass < v.passes; ++pass)
        for (std::int64_t i = role * 4 + quarter; i < v.count; i += v.participants * 4)
            *reinterpret_cast<uint4*>(v.buffer + v.chunks[i] * kChunkBytes + lane * 16) = make_uint4(pass, role, lane, 7);
}

// 32 threads a chunk: one word of each of its lines.
__global__ void __launch_bounds__(kThreads) load_words(Visit v) {
    const int role = v.roles[probe::sm_id()];
    if (role < 0) return;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int pass = 0; pass < v.passes; ++pass) {
#pragma unroll 4
        for (std::int64_t i = role * 32 + warp; i < v.count; i += v.participants * 32)
            load_word_past_l1(v.buffer + v.chunks[i] * kChunkBytes + lane * 128);
        __syncthreads();
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
constexpr int kBulkBuffers = 16;

// One thread keeps 16 copies of 4 KiB in flight.
__device__ void bulk_copy_chunks(const Visit& v, int role, char* shared, std::uint64_t* barriers) {
    const auto buffers = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    const auto first_barrier = static_cast<std::uint32_t>(__cvta_generic_to_shared(barriers));
    for (int i = 0; i < kBulkBuffers; ++i)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(first_barrier + i * 8));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    const std::int64_t share = (v.count - role + v.participants - 1) / v.participants;
    const std::int64_t total = share * v.passes;
    for (std::int64_t n = 0; n < total + kBulkBuffers; ++n) {
        const auto slot = static_cast<std::uint32_t>(n % kBulkBuffers);
        const std::uint32_t barrier = first_barrier + slot * 8;
        if (n >= kBulkBuffers) {
            const auto parity = static_cast<std::uint32_t>((n / kBulkBuffers - 1) & 1);
            asm volatile(
                "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                "@done bra finished;\nbra again;\nfinished:\n}\n" ::"r"(barrier),
                "r"(parity)
                : "memory");
        }
        if (n >= total) continue;
        const char* from = v.buffer + v.chunks[role + (n % share) * v.participants] * kChunkBytes;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                     "r"(static_cast<std::uint32_t>(kChunkBytes))
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         buffers + slot * static_cast<std::uint32_t>(kChunkBytes)),
                     "l"(from), "r"(static_cast<std::uint32_t>(kChunkBytes)), "r"(barrier)
                     : "memory");
    }
}
#endif

__global__ void copy_chunks(Visit v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) char shared[];
    __shared__ std::uint64_t barriers[kBulkBuffers];
    const int role = v.roles[probe::sm_id()];
    if (role < 0 || threadIdx.x != 0 || role >= v.count) return;
    bulk_copy_chunks(v, role, shared, barriers);
#endif
}

struct Rendezvous {
    unsigned arrived;
    unsigned long long start_ns;
};

// Participants meet once and agree on a start by the GPU's timer (32 ns a tick on Hopper); round r begins r periods later.
__global__ void lockstep_kernel(const char* buffer, int rounds, int lines, const int* roles, int participants,
                                Rendezvous* meeting) {
    extern __shared__ char unused[];
    constexpr long long kPeriodNs = 2048;  // a miss takes about 700
    const int role = roles[probe::sm_id()];
    if (role < 0) return;
    if (threadIdx.x == 0) {
        atomicAdd(&meeting->arrived, 1u);
        if (role == 0) {
            while (atomicAdd(&meeting->arrived, 0u) < static_cast<unsigned>(participants)) {
            }
            atomicExch(&meeting->start_ns, static_cast<unsigned long long>(probe::global_timer() + 10 * kPeriodNs));
        }
    }
    long long start = 0;
    while (start == 0) start = static_cast<long long>(atomicAdd(&meeting->start_ns, 0ull));
    for (int round = 0; round < rounds; ++round) {
        while (probe::global_timer() < start + round * kPeriodNs) {
        }
        __syncwarp();
        const char* from = buffer + static_cast<std::int64_t>(round) * lines * 128;
        for (int line = 0; line < lines; line += 4) load_past_l1(from + line * 128 + threadIdx.x * 16);
    }
}

template <class Kernel>
void launch_visit(Kernel kernel, const Visit& visit, int sms, int threads) {
    const int shared = probe::prepare_one_cta_per_sm(kernel);
    kernel<<<static_cast<unsigned>(sms), static_cast<unsigned>(threads), static_cast<std::size_t>(shared) - 1024>>>(visit);
    check_launch("a traffic probe");
}

}  // namespace

ChunkList::ChunkList(const std::vector<std::uint32_t>& chunks) : size_(static_cast<std::int64_t>(chunks.size())) {
    const std::size_t bytes = chunks.size() * sizeof(std::uint32_t);
    check_cuda(cudaMalloc(reinterpret_cast<void**>(&device_), bytes), "allocating a chunk list");
    check_cuda(cudaMemcpy(device_, chunks.data(), bytes, cudaMemcpyHostToDevice), "copying a chunk list");
}

ChunkList ChunkList::range(std::int64_t first, std::int64_t count) {
    std::vector<std::uint32_t> chunks;
    for (std::int64_t i = 0; i < count; ++i) chunks.push_back(static_cast<std::uint32_t>(first + i));
    return ChunkList(chunks);
}

ChunkList::~ChunkList() {
    cudaFree(device_);
}

DeviceRoles::DeviceRoles(const Roles& roles) : participants_(roles.participants()), sms_(roles.sms()) {
    const std::size_t bytes = roles.role_of_sm().size() * sizeof(int);
    check_cuda(cudaMalloc(reinterpret_cast<void**>(&device_), bytes), "allocating roles");
    check_cuda(cudaMemcpy(device_, roles.role_of_sm().data(), bytes, cudaMemcpyHostToDevice), "copying roles");
}

DeviceRoles::~DeviceRoles() {
    cudaFree(device_);
}

void visit_chunks(void* buffer, const ChunkList& chunks, const DeviceRoles& roles, Access access, int passes) {
    const Visit visit{static_cast<char*>(buffer), chunks.device(), chunks.size(), roles.device(), roles.participants(), passes};
    switch (access) {
        case Access::Load: return launch_visit(load_chunks, visit, roles.sms(), kThreads);
        case Access::BulkCopy: return launch_visit(copy_chunks, visit, roles.sms(), 32);
        case Access::Store: return launch_visit(store_chunks, visit, roles.sms(), kThreads);
        case Access::WordPerLine: return launch_visit(load_words, visit, roles.sms(), kThreads);
    }
}

void read_in_lockstep(const void* buffer, int rounds, int lines_per_round, const DeviceRoles& roles) {
    static const DeviceBuffer<Rendezvous> meeting(1);
    check_cuda(cudaMemsetAsync(meeting.get(), 0, meeting.bytes()), "resetting the rendezvous");
    const int shared = probe::prepare_one_cta_per_sm(lockstep_kernel);
    lockstep_kernel<<<static_cast<unsigned>(roles.sms()), 32, static_cast<std::size_t>(shared)>>>(
        static_cast<const char*>(buffer), rounds, lines_per_round, roles.device(), roles.participants(), meeting.get());
    check_launch("the lockstep probe");
}

}  // namespace l2lens::gpu
