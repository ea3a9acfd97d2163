// SPDX-License-Identifier: Apache-2.0
// How much comes through when many SMs ask at once?
#include "gpu/device_buffer.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/probe/kernels.hpp"

namespace l2lens::gpu {
namespace {

constexpr unsigned kThreads = 1024;

// lowbias32 (Wellons, "Prospecting for Hash Functions", 2018).
__device__ inline unsigned scatter(unsigned x) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

// The participants' warps make `visits` visits between them, the u-th one to place u, or a scattered one.
struct Visit {
    char* buffer;
    unsigned count;
    unsigned visits;
    const int* roles;
    unsigned participants;
    Places places;

    __device__ unsigned first(int role) const {
        return static_cast<unsigned>(role) * (blockDim.x / 32) + threadIdx.x / 32;
    }
    __device__ unsigned step() const { return participants * (blockDim.x / 32); }
    // `chunks` of them at once: the u-th group.
    __device__ char* group(unsigned u, unsigned chunks) const {
        const unsigned place = (places == Places::Scattered ? scatter(u) : u) % (count / chunks);
        return buffer + std::int64_t{place} * chunks * kChunkBytes;
    }
    __device__ char* chunk(unsigned u) const { return group(u, 1); }
};

// Loads whose values nobody wants would be removed; the buffer holds zeros, so nobody ever takes the branch
// that wants them (see want()).
__device__ unsigned load_past_l1(const char* at) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at));
    return v.x | v.y | v.z | v.w;
}

__device__ unsigned load_word_past_l1(const char* at) {
    unsigned value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}

__device__ void want(unsigned values) {
    constexpr unsigned kNeverThere = 0x5EED5EED;
    if (values == kNeverThere) __trap();
}

// A warp a chunk, 128 B a lane, all of them in flight at once.
__global__ void __launch_bounds__(kThreads) load_chunks(Visit v) {
    const int role = v.roles[sm_id()];
    if (role < 0) return;
    unsigned values = 0;
    for (unsigned u = v.first(role); u < v.visits; u += v.step()) {
        const char* from = v.chunk(u) + threadIdx.x % 32 * 16;
        unsigned parts[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) parts[i] = load_past_l1(from + i * 512);
#pragma unroll
        for (int i = 0; i < 8; ++i) values |= parts[i];
    }
    want(values);
}

// Eight lines a load, half of each; two chunks' 64 lines in flight at once.
__global__ void __launch_bounds__(kThreads) load_halves(Visit v) {
    const int role = v.roles[sm_id()];
    if (role < 0) return;
    const unsigned lane = threadIdx.x % 32;
    const unsigned offset = lane / 4 * 128 + lane % 4 * 16;
    unsigned values = 0;
    for (unsigned u = v.first(role); u < v.visits; u += v.step() * 2) {
        const char* one = v.chunk(u) + offset;
        const char* other = v.chunk(u + v.step()) + offset;
        unsigned parts[8];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            parts[i * 2] = load_past_l1(one + i * 1024);
            parts[i * 2 + 1] = load_past_l1(other + i * 1024);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) values |= parts[i];
    }
    want(values);
}

__global__ void __launch_bounds__(kThreads) store_chunks(Visit v) {
    const int role = v.roles[sm_id()];
    if (role < 0) return;
    for (unsigned u = v.first(role); u < v.visits; u += v.step()) {
        char* to = v.chunk(u) + threadIdx.x % 32 * 16;
#pragma unroll
        for (int i = 0; i < 8; ++i) *reinterpret_cast<uint4*>(to + i * 512) = make_uint4(0, 0, 0, 0);
    }
}

// A word of each of a chunk's 32 lines, a lane each; two chunks in flight. More would have many SMs ask for
// the same lines at once, and the request coalescer would answer in the slices' place.
__global__ void __launch_bounds__(kThreads) load_words(Visit v) {
    const int role = v.roles[sm_id()];
    if (role < 0) return;
    unsigned values = 0;
    for (unsigned u = v.first(role); u < v.visits; u += v.step() * 2) {
        const unsigned one = load_word_past_l1(v.chunk(u) + threadIdx.x % 32 * 128);
        const unsigned other = load_word_past_l1(v.chunk(u + v.step()) + threadIdx.x % 32 * 128);
        values |= one | other;
    }
    want(values);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
constexpr unsigned kBulkBuffers = 6;
constexpr unsigned kBulkChunks = 8;  // of one copy: 32 KiB

// One thread keeps six copies of 32 KiB in flight.
__device__ void bulk_copy_chunks(const Visit& v, unsigned role, char* shared, std::uint64_t* barriers) {
    const auto buffers = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    const auto first_barrier = static_cast<std::uint32_t>(__cvta_generic_to_shared(barriers));
    for (unsigned i = 0; i < kBulkBuffers; ++i)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(first_barrier + i * 8));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");

    const unsigned copies = (v.visits / kBulkChunks - role + v.participants - 1) / v.participants;
    unsigned slot = 0;
    std::uint32_t parity = 1;
    for (unsigned n = 0; n < copies + kBulkBuffers; ++n) {
        if (n >= kBulkBuffers) probe::wait_for_phase(first_barrier + slot * 8, parity);
        if (n < copies)
            probe::start_bulk_copy(buffers + slot * kBulkChunks * static_cast<std::uint32_t>(kChunkBytes),
                                   v.group(n * v.participants + role, kBulkChunks),
                                   static_cast<std::uint32_t>(kBulkChunks * kChunkBytes),
                                   first_barrier + slot * 8);
        if (++slot < kBulkBuffers) continue;
        slot = 0;
        parity ^= 1;
    }
}
#endif

__global__ void copy_chunks(Visit v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) char shared[];
    __shared__ std::uint64_t barriers[kBulkBuffers];
    const int role = v.roles[sm_id()];
    if (role < 0 || threadIdx.x != 0 || static_cast<unsigned>(role) >= v.visits / kBulkChunks) return;
    bulk_copy_chunks(v, static_cast<unsigned>(role), shared, barriers);
#endif
}

// A chunk of shared memory to wherever a warp turns, eight stores in flight.
__global__ void __launch_bounds__(kThreads) store_chunks_in_bulk(Visit v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) char shared[];
    const int role = v.roles[sm_id()];
    if (role < 0) return;
    for (unsigned i = threadIdx.x; i < kChunkBytes; i += blockDim.x) shared[i] = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x % 32 != 0) return;
    const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    for (unsigned u = v.first(role); u < v.visits; u += v.step()) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(v.chunk(u)),
                     "r"(from), "r"(static_cast<unsigned>(kChunkBytes))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 7;" ::: "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

struct Rendezvous {
    unsigned arrived;
    unsigned long long start_ns;
};

// Participants meet once and agree on a start by the GPU's timer (32 ns a tick on Hopper); round r begins r
// periods later.
__global__ void lockstep_kernel(const char* buffer, int rounds, int lines, const int* roles, int participants,
                                Rendezvous* meeting) {
    extern __shared__ char unused[];
    constexpr long long kPeriodNs = 2048;  // a miss takes about 700
    const int role = roles[sm_id()];
    if (role < 0) return;
    if (threadIdx.x == 0) {
        atomicAdd(&meeting->arrived, 1u);
        if (role == 0) {
            while (atomicAdd(&meeting->arrived, 0u) < static_cast<unsigned>(participants)) {
            }
            atomicExch(&meeting->start_ns, static_cast<unsigned long long>(global_timer() + 10 * kPeriodNs));
        }
    }
    long long start = 0;
    while (start == 0) start = static_cast<long long>(atomicAdd(&meeting->start_ns, 0ull));
    for (int round = 0; round < rounds; ++round) {
        while (global_timer() < start + round * kPeriodNs) {
        }
        __syncwarp();
        const char* from = buffer + static_cast<std::int64_t>(round) * lines * 128;
        unsigned values = 0;
        for (int line = 0; line < lines; line += 4)
            values |= load_past_l1(from + line * 128 + threadIdx.x * 16);
        want(values);
    }
}

template <class Kernel>
void launch_visit(Kernel kernel, const Visit& visit, int sms, int threads) {
    const int shared = probe::prepare_one_cta_per_sm(kernel);
    kernel<<<static_cast<unsigned>(sms), static_cast<unsigned>(threads),
             static_cast<std::size_t>(shared) - 1024>>>(visit);
    check_launch("a traffic probe");
}

}  // namespace

DeviceRoles::DeviceRoles(const Roles& roles) : participants_(roles.participants()), sms_(roles.sms()) {
    const std::size_t bytes = roles.role_of_sm().size() * sizeof(int);
    check_cuda(cudaMalloc(reinterpret_cast<void**>(&device_), bytes), "allocating roles");
    check_cuda(cudaMemcpy(device_, roles.role_of_sm().data(), bytes, cudaMemcpyHostToDevice),
               "copying roles");
}

DeviceRoles::~DeviceRoles() {
    cudaFree(device_);
}

void visit_chunks(void* buffer, std::int64_t chunks, const DeviceRoles& roles, Access access, int passes,
                  Places places) {
    const Visit visit{static_cast<char*>(buffer),
                      static_cast<unsigned>(chunks),
                      static_cast<unsigned>(chunks * passes),
                      roles.device(),
                      static_cast<unsigned>(roles.participants()),
                      places};
    switch (access) {
        case Access::Load:
            return launch_visit(load_chunks, visit, roles.sms(), kThreads);
        case Access::BulkCopy:
            return launch_visit(copy_chunks, visit, roles.sms(), 32);
        case Access::Store:
            return launch_visit(store_chunks, visit, roles.sms(), kThreads);
        case Access::BulkStore:
            return launch_visit(store_chunks_in_bulk, visit, roles.sms(), kThreads);
        case Access::WordPerLine:
            return launch_visit(load_words, visit, roles.sms(), kThreads / 2);
        case Access::HalfLine:
            return launch_visit(load_halves, visit, roles.sms(), kThreads);
    }
}

void read_in_lockstep(const void* buffer, int rounds, int lines_per_round, const DeviceRoles& roles) {
    static const DeviceBuffer<Rendezvous> meeting(1);
    check_cuda(cudaMemsetAsync(meeting.get(), 0, meeting.bytes()), "resetting the rendezvous");
    const int shared = probe::prepare_one_cta_per_sm(lockstep_kernel);
    lockstep_kernel<<<static_cast<unsigned>(roles.sms()), 32, static_cast<std::size_t>(shared)>>>(
        static_cast<const char*>(buffer), rounds, lines_per_round, roles.device(), roles.participants(),
        meeting.get());
    check_launch("the lockstep probe");
}

}  // namespace l2lens::gpu
