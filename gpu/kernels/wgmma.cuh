// SPDX-License-Identifier: Apache-2.0
// wgmma: a 64 x N tile of fp32 accumulators += A[64,16] B[16,N] in bf16, B in shared memory, A there or in
// registers.
// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". The register lists are
// long, not deep: thread t of the warpgroup holds rows (t / 32) * 16 + (t % 32) / 4 and eight below, columns
// 8 j + 2 (t % 4) and the next.
#pragma once

#include <cstdint>

namespace l2lens::gpu::hopper {

__device__ inline void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until at most `Pending` committed groups are still running.
template <int Pending>
__device__ inline void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// A matrix in shared memory under the 128 B swizzle ("Matrix Descriptor Format"): address / 16, then the two
// strides / 16, then the swizzle (1 = 128 B). Rows come in groups of eight, 1024 B apart. An operand that is
// contiguous along k needs no other stride; one contiguous along m or n is made of blocks of 64 elements,
// `block_bytes` apart.
template <bool KMajor>
__device__ inline std::uint64_t matrix_descriptor(std::uint32_t address, std::uint32_t block_bytes) {
    const std::uint64_t leading = KMajor ? 1 : block_bytes >> 4;
    return static_cast<std::uint64_t>((address & 0x3FFFF) >> 4) | leading << 16 |
           std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

template <int N, bool AKMajor, bool BKMajor>
struct Wgmma;

// A from registers: the accumulators of an earlier product, rounded to bf16, are laid out as A wants them
// (columns 16 i .. 16 i + 15 of a 64-row tile: accumulators 8 i .. 8 i + 7, pairwise packed).
template <int N, bool BKMajor>
struct WgmmaRegisters;

// Keeps the compiler from moving uses of accumulators across the instructions that fill them asynchronously.
template <int Count>
__device__ inline void wgmma_fence_registers(float (&d)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// clang-format off
#define L2LENS_REGISTERS_0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define L2LENS_REGISTERS_1 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define L2LENS_REGISTERS_2 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define L2LENS_REGISTERS_3 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define L2LENS_F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define L2LENS_F32(i) L2LENS_F4(i), L2LENS_F4(i + 4), L2LENS_F4(i + 8), L2LENS_F4(i + 12), \
    L2LENS_F4(i + 16), L2LENS_F4(i + 20), L2LENS_F4(i + 24), L2LENS_F4(i + 28)

template <bool AKMajor, bool BKMajor>
struct Wgmma<64, AKMajor, BKMajor> {
    // accumulate = 0 overwrites d.
    __device__ static void mma(float (&d)[32], std::uint64_t a, std::uint64_t b, int accumulate) {
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" L2LENS_REGISTERS_0 "}, "
            "%32, %33, p, 1, 1, %35, %36;\n}\n"
            : L2LENS_F32(0)
            : "l"(a), "l"(b), "r"(accumulate), "n"(AKMajor ? 0 : 1), "n"(BKMajor ? 0 : 1));
    }
};

template <bool AKMajor, bool BKMajor>
struct Wgmma<128, AKMajor, BKMajor> {
    // accumulate = 0 overwrites d.
    __device__ static void mma(float (&d)[64], std::uint64_t a, std::uint64_t b, int accumulate) {
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" L2LENS_REGISTERS_0 ", " L2LENS_REGISTERS_1 "}, "
            "%64, %65, p, 1, 1, %67, %68;\n}\n"
            : L2LENS_F32(0), L2LENS_F32(32)
            : "l"(a), "l"(b), "r"(accumulate), "n"(AKMajor ? 0 : 1), "n"(BKMajor ? 0 : 1));
    }
};

template <bool AKMajor, bool BKMajor>
struct Wgmma<256, AKMajor, BKMajor> {
    // accumulate = 0 overwrites d.
    __device__ static void mma(float (&d)[128], std::uint64_t a, std::uint64_t b, int accumulate) {
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" L2LENS_REGISTERS_0 ", " L2LENS_REGISTERS_1 ", " L2LENS_REGISTERS_2 ", " L2LENS_REGISTERS_3 "}, "
            "%128, %129, p, 1, 1, %131, %132;\n}\n"
            : L2LENS_F32(0), L2LENS_F32(32), L2LENS_F32(64), L2LENS_F32(96)
            : "l"(a), "l"(b), "r"(accumulate), "n"(AKMajor ? 0 : 1), "n"(BKMajor ? 0 : 1));
    }
};

template <bool BKMajor>
struct WgmmaRegisters<64, BKMajor> {
    // accumulate = 0 overwrites d.
    __device__ static void mma(float (&d)[32], const std::uint32_t* a, std::uint64_t b, int accumulate) {
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" L2LENS_REGISTERS_0 "}, "
            "{%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}\n"
            : L2LENS_F32(0)
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(BKMajor ? 0 : 1));
    }
};

template <bool BKMajor>
struct WgmmaRegisters<128, BKMajor> {
    // accumulate = 0 overwrites d.
    __device__ static void mma(float (&d)[64], const std::uint32_t* a, std::uint64_t b, int accumulate) {
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" L2LENS_REGISTERS_0 ", " L2LENS_REGISTERS_1 "}, "
            "{%64, %65, %66, %67}, %68, p, 1, 1, %70;\n}\n"
            : L2LENS_F32(0), L2LENS_F32(32)
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(BKMajor ? 0 : 1));
    }
};

#undef L2LENS_REGISTERS_0
#undef L2LENS_REGISTERS_1
#undef L2LENS_REGISTERS_2
#undef L2LENS_REGISTERS_3
#undef L2LENS_F4
#undef L2LENS_F32
// clang-format on

}  // namespace l2lens::gpu::hopper
