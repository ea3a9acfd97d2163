// SPDX-License-Identifier: Apache-2.0
// Hopper's instructions as functions: mbarriers, bulk tensor copies, clusters, stmatrix. Names and semantics
// are the PTX ISA's (sections "Parallel Synchronization", "Data Movement and Conversion Instructions:
// Asynchronous copy").
#pragma once

#include <cstdint>

#include <cuda.h>

namespace l2lens::gpu::hopper {

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// ---- mbarriers
// -------------------------------------------------------------------------------------------------

__device__ inline void barrier_init(std::uint32_t barrier, std::uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

// Makes the initialised barriers visible to the other CTAs of the cluster and to the copy engine.
__device__ inline void barrier_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Among threads of the CTA itself.
__device__ inline void barrier_arrive_here(std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ inline void barrier_expect_bytes(std::uint32_t barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

// The same variable's address in another CTA of the cluster.
__device__ inline std::uint32_t in_cta(std::uint32_t address, std::uint32_t rank) {
    std::uint32_t mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

// On the barrier of any CTA of the cluster. The default semantics (release in the CTA) suffice for giving a
// buffer back: its readers have their data. A release at cluster scope would be a fence through the L2, a
// microsecond a time.
__device__ inline void barrier_arrive(std::uint32_t cluster_barrier) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(cluster_barrier) : "memory");
}

__device__ inline void barrier_expect_bytes_in_cta(std::uint32_t cluster_barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%0], %1;" ::"r"(cluster_barrier),
                 "r"(bytes)
                 : "memory");
}

__device__ inline void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra finished;\n"
        "bra again;\n"
        "finished:\n"
        "}\n" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

// ---- clusters
// --------------------------------------------------------------------------------------------------

__device__ inline std::uint32_t cluster_rank() {
    std::uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ inline void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}

// Two words into any CTA of the cluster; its barrier counts their eight bytes when they are there.
__device__ inline void store_pair_in_cta(std::uint32_t cluster_address, std::uint32_t first,
                                         std::uint32_t second, std::uint32_t cluster_barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(
                     cluster_address),
                 "r"(first), "r"(second), "r"(cluster_barrier)
                 : "memory");
}

// ---- bulk tensor copies
// ----------------------------------------------------------------------------------------

__device__ inline void prefetch_descriptor(const CUtensorMap* map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ inline void load_box(const CUtensorMap* map, std::uint32_t to, std::uint32_t barrier, int x,
                                int y) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
        "%4}], [%2];" ::"r"(to),
        "l"(map), "r"(barrier), "r"(x), "r"(y)
        : "memory");
}

// The same box into the same place of every CTA in `mask`, each one's own barrier signalled.
__device__ inline void load_box_multicast(const CUtensorMap* map, std::uint32_t to, std::uint32_t barrier,
                                          int x, int y, std::uint16_t mask) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
        "l"(map), "r"(barrier), "r"(x), "r"(y), "h"(mask)
        : "memory");
}

__device__ inline void store_box(const CUtensorMap* map, std::uint32_t from, int x, int y) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
        "r"(from), "r"(x), "r"(y)
        : "memory");
}

// The same of one plane of a tensor with three axes: what lies outside the plane is zero, or not stored.
__device__ inline void load_box_of_plane(const CUtensorMap* map, std::uint32_t to, std::uint32_t barrier,
                                         int x, int y, int plane) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
        "%4, %5}], [%2];" ::"r"(to),
        "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(plane)
        : "memory");
}

__device__ inline void store_box_of_plane(const CUtensorMap* map, std::uint32_t from, int x, int y,
                                          int plane) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
        "r"(from), "r"(x), "r"(y), "r"(plane)
        : "memory");
}

__device__ inline void store_commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until at most `Pending` of the committed stores still read shared memory.
template <int Pending>
__device__ inline void store_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

// Ordinary writes to shared memory before, copy engine or tensor core after.
__device__ inline void async_proxy_fence() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- inside a CTA
// ----------------------------------------------------------------------------------------------

__device__ inline void named_barrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Registers of a thread, by all threads of a warpgroup: what a producer gives up its consumers can take.
template <int Registers>
__device__ inline void lower_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ inline void raise_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void store_matrices(std::uint32_t row, std::uint32_t r0, std::uint32_t r1, std::uint32_t r2,
                                      std::uint32_t r3) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(r0),
                 "r"(r1), "r"(r2), "r"(r3)
                 : "memory");
}

}  // namespace l2lens::gpu::hopper
