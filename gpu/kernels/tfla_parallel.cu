// SPDX-License-Identifier: Apache-2.0
// Step by step what the Triton kernel does, so that it reads what that one reads: the queries again for every
// tile of keys and for the state, the states in fp32 and rounded to bf16 for the product.
#include <string>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/mma_sync.cuh"
#include "gpu/kernels/pieces.cuh"
#include "gpu/kernels/tfla_parallel.hpp"
#include "gpu/kernels/tile_loop.cuh"

namespace l2lens::gpu {
namespace {

constexpr int kWarps = 4;  // of 16 queries each
constexpr int kThreads = kWarps * 32;
constexpr int kTile = 64;                       // queries, keys, and their elements of a step
constexpr int kPitch = kTile + kPieceElements;  // of a staged row: a piece of padding against bank conflicts
constexpr float kEpsilon = 1e-6f;               // the Triton kernel's

struct TflaArgs {
    TflaOperands at;
    std::int64_t seq;
    int dqk, dhv, chunk, chunks, value_tiles;
    bool fused;
    TileList list;
};

template <int DV>
struct TflaShared {
    alignas(16) std::uint16_t q[kTile][kPitch];
    alignas(16) std::uint16_t k[kTile][kPitch];
    alignas(16) std::uint16_t v[kTile][DV + kPieceElements];  // a tile of V, or of C in bf16
    float gate[kTile];  // of a key: its input gate over the decay since the chunk began, i - b
    float n[kTile];     // of the state
};

// Which part of what a CTA computes.
struct TflaPart {
    std::int64_t sequence, chunk;
    int query_tile, value_tile;
};

// 64 rows of `columns` elements out of a matrix of bf16.
template <int Columns, int Pitch>
__device__ void stage(std::uint16_t (&to)[kTile][Pitch], const void* matrix, std::int64_t row,
                      int row_elements, int column) {
    constexpr int kInRow = Columns / kPieceElements;
    const auto* from = static_cast<const std::uint16_t*>(matrix) + row * row_elements + column;
#pragma unroll
    for (int i = 0; i < kTile * kInRow / kThreads; ++i) {
        const int at = static_cast<int>(threadIdx.x) + i * kThreads;
        *reinterpret_cast<uint4*>(&to[at / kInRow][at % kInRow * kPieceElements]) =
            *reinterpret_cast<const uint4*>(from + std::int64_t{at / kInRow} * row_elements +
                                            at % kInRow * kPieceElements);
    }
}

// The same out of fp32, rounded.
template <int Columns, int Pitch>
__device__ void stage_rounded(std::uint16_t (&to)[kTile][Pitch], const float* from, int row_elements) {
    constexpr int kInRow = Columns / 4;
#pragma unroll 4
    for (int i = 0; i < kTile * kInRow / kThreads; ++i) {
        const int at = static_cast<int>(threadIdx.x) + i * kThreads;
        const auto x = *reinterpret_cast<const float4*>(from + std::int64_t{at / kInRow} * row_elements +
                                                        at % kInRow * 4);
        *reinterpret_cast<uint2*>(&to[at / kInRow][at % kInRow * 4]) = {pack_bf16(x.x, x.y),
                                                                        pack_bf16(x.z, x.w)};
    }
}

template <int Pitch>
__device__ SharedTile as_tile(const std::uint16_t (&rows)[kTile][Pitch]) {
    return {static_cast<std::uint32_t>(__cvta_generic_to_shared(rows)), Pitch * 2};
}

// Over the four lanes that hold a row of accumulators.
__device__ float max_of_lanes(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
}
__device__ float sum_of_lanes(float x) {
    x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
    return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
}

template <int DV>
class TflaCta {
public:
    __device__ TflaCta(const TflaArgs& args, TflaShared<DV>& shared, const TflaPart& part)
        : args_(args),
          shared_(shared),
          part_(part),
          chunk_row_(part.sequence * args.seq + part.chunk * args.chunk),
          query_row_(chunk_row_ + part.query_tile * kTile),
          own_row_(static_cast<int>(threadIdx.x) / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4),
          scale_(rsqrtf(static_cast<float>(args.dqk))) {}

    __device__ void run() {
#pragma unroll
        for (int half = 0; half < 2; ++half) b_of_query_[half] = args_.at.b[query_row_ + own_row_ + half * 8];
        for (int keys = 0; keys <= part_.query_tile; ++keys) attend(keys);
        add_state();
        divide();
        store();
    }

private:
    static constexpr int kGroups = kTile / 8;  // of eight columns of a tile of scores
    static constexpr int kValueGroups = DV / 8;

    // The chunk's keys and values of one tile: FlashAttention's online softmax with the gates as a bias, and
    // the scores as factors instead of exponents.
    __device__ void attend(int keys) {
        const std::int64_t key_row = chunk_row_ + keys * kTile;
        float scores[kGroups * 4] = {};
        for (int dk = 0; dk < args_.dqk; dk += kTile) {
            __syncthreads();  // nobody reads the tiles before any more
            stage<kTile>(shared_.q, args_.at.q, query_row_, args_.dqk, dk);
            stage<kTile>(shared_.k, args_.at.k, key_row, args_.dqk, dk);
            if (dk == 0) stage_keys_side(key_row);
            __syncthreads();
            multiply_keys(scores);
        }
        std::uint32_t weights[kGroups * 2];
        weigh(keys, scores, weights);
#pragma unroll
        for (int slice = 0; slice < kTile / 16; ++slice) {
            const std::uint32_t a[4] = {weights[slice * 4], weights[slice * 4 + 1], weights[slice * 4 + 2],
                                        weights[slice * 4 + 3]};
            multiply_values(a, slice * 16, h_);
        }
    }

    __device__ void stage_keys_side(std::int64_t key_row) {
        if (threadIdx.x < kTile)
            shared_.gate[threadIdx.x] = args_.at.i[key_row + threadIdx.x] - args_.at.b[key_row + threadIdx.x];
        stage<DV>(shared_.v, args_.at.v, key_row, args_.dhv, part_.value_tile * DV);
    }

    __device__ void multiply_keys(float (&scores)[kGroups * 4]) const {
        const int row = static_cast<int>(threadIdx.x) / 32 * 16;
#pragma unroll
        for (int k = 0; k < kTile; k += 16) {
            std::uint32_t a[4];
            as_tile(shared_.q).load_a(a, row, k);
#pragma unroll
            for (int group = 0; group < kGroups; group += 2) {
                std::uint32_t b[4];
                as_tile(shared_.k).load_b_by_n(b, group * 8, k);
                mma_16x8x16(scores + group * 4, a, b[0], b[1]);
                mma_16x8x16(scores + group * 4 + 4, a, b[2], b[3]);
            }
        }
    }

    __device__ void multiply_values(const std::uint32_t (&a)[4], int k,
                                    float (&out)[kValueGroups * 4]) const {
#pragma unroll
        for (int group = 0; group < kValueGroups; group += 2) {
            std::uint32_t b[4];
            as_tile(shared_.v).load_b_by_k(b, k, group * 8);
            mma_16x8x16(out + group * 4, a, b[0], b[1]);
            mma_16x8x16(out + group * 4 + 4, a, b[2], b[3]);
        }
    }

    // Scores -> scores times the decay between key and query, times the key's input gate; the running
    // maximum of decay and gate comes off the exponent.
    __device__ void weigh(int keys, float (&scores)[kGroups * 4], std::uint32_t (&weights)[kGroups * 2]) {
        const bool diagonal = keys == part_.query_tile;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float most = m_[half];
#pragma unroll
            for (int at = 0; at < kGroups * 2; ++at)
                most = fmaxf(most, exponent(half, column_of(at), diagonal));
            most = max_of_lanes(most);
            const float shrink = m_[half] == most ? 1.0f : exp2_fast((m_[half] - most) * kLog2E);
            m_[half] = most;
            float sum = 0;
#pragma unroll
            for (int at = 0; at < kGroups * 2; ++at) {
                float& score = scores[at / 2 * 4 + half * 2 + at % 2];
                score *= scale_ * exp2_fast((exponent(half, column_of(at), diagonal) - most) * kLog2E);
                sum += score;
            }
            n_[half] = n_[half] * shrink + sum;  // of this lane; the row's sum is taken at the end
            shrink_outputs(half, shrink);
        }
#pragma unroll
        for (int i = 0; i < kGroups * 2; ++i) weights[i] = pack_bf16(scores[2 * i], scores[2 * i + 1]);
    }

    // Column of a thread's at-th score in a row.
    __device__ static int column_of(int at) {
        return at / 2 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + at % 2;
    }
    __device__ float exponent(int half, int column, bool diagonal) const {
        if (diagonal && column > own_row_ + half * 8) return -INFINITY;
        return b_of_query_[half] + shared_.gate[column];
    }

    // What came before the chunk, decayed to each query: what the chunk gave is brought to the common
    // maximum, then the queries, scaled, times the state come on top.
    __device__ void add_state() {
        const std::int64_t state = part_.sequence * (args_.chunks + 1) + part_.chunk;
        float of_state[2];
        join_maxima(args_.at.m_states[state], of_state);
        float from_state[2] = {};  // q . n
        for (int dk = 0; dk < args_.dqk; dk += kTile) {
            __syncthreads();
            stage<kTile>(shared_.q, args_.at.q, query_row_, args_.dqk, dk);
            stage_rounded<DV>(
                shared_.v, args_.at.c_states + (state * args_.dqk + dk) * args_.dhv + part_.value_tile * DV,
                args_.dhv);
            if (threadIdx.x < kTile)
                shared_.n[threadIdx.x] = args_.at.n_states[state * args_.dqk + dk + threadIdx.x];
            __syncthreads();
            multiply_state(of_state);
            add_normaliser(from_state);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) n_[half] += sum_of_lanes(from_state[half]) * of_state[half];
    }

    __device__ void join_maxima(float m_of_state, float (&of_state)[2]) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float decayed = b_of_query_[half] + m_of_state;
            const float most = fmaxf(decayed, m_[half]);
            const float of_chunk = exp2_fast((m_[half] - most) * kLog2E);
            of_state[half] = scale_ * exp2_fast((decayed - most) * kLog2E);
            m_[half] = most;
            n_[half] = sum_of_lanes(n_[half]) * of_chunk;
            shrink_outputs(half, of_chunk);
        }
    }

    __device__ void shrink_outputs(int half, float factor) {
#pragma unroll
        for (int group = 0; group < kValueGroups; ++group) {
            h_[group * 4 + half * 2] *= factor;
            h_[group * 4 + half * 2 + 1] *= factor;
        }
    }

    __device__ void multiply_state(const float (&of_state)[2]) {
        const int row = static_cast<int>(threadIdx.x) / 32 * 16;
#pragma unroll
        for (int k = 0; k < kTile; k += 16) {
            std::uint32_t a[4];
            as_tile(shared_.q).load_a(a, row, k);
#pragma unroll
            for (int i = 0; i < 4; ++i)
                a[i] = pack_bf16(__uint_as_float(a[i] << 16) * of_state[i % 2],
                                 __uint_as_float(a[i] & 0xFFFF0000u) * of_state[i % 2]);
            multiply_values(a, k, h_);
        }
    }

    // q . n, a quarter of the products each lane.
    __device__ void add_normaliser(float (&sum)[2]) const {
#pragma unroll
        for (int half = 0; half < 2; ++half)
            for (int k = static_cast<int>(threadIdx.x) % 4; k < kTile; k += 4)
                sum[half] +=
                    __uint_as_float(static_cast<std::uint32_t>(shared_.q[own_row_ + half * 8][k]) << 16) *
                    shared_.n[k];
    }

    __device__ void divide() {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            n_[half] = fmaxf(fabsf(n_[half]), exp2_fast(-m_[half] * kLog2E)) + kEpsilon;
            shrink_outputs(half, 1.0f / n_[half]);
        }
    }

    // Through the queries' and keys' buffers, so that rows leave in pieces.
    __device__ void store() {
        __syncthreads();
        auto* staged = reinterpret_cast<std::uint32_t*>(&shared_);
        constexpr int kRow = (DV + kPieceElements) / 2;  // words
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int group = 0; group < kValueGroups; ++group)
                staged[(own_row_ + half * 8) * kRow + group * 4 + static_cast<int>(threadIdx.x) % 4] =
                    pack_bf16(h_[group * 4 + half * 2], h_[group * 4 + half * 2 + 1]);
        __syncthreads();
        constexpr int kInRow = DV / kPieceElements;
#pragma unroll
        for (int i = 0; i < kTile * kInRow / kThreads; ++i) {
            const int at = static_cast<int>(threadIdx.x) + i * kThreads;
            const std::int64_t offset =
                (query_row_ + at / kInRow) * args_.dhv + part_.value_tile * DV + at % kInRow * kPieceElements;
            uint4 piece = *reinterpret_cast<const uint4*>(staged + at / kInRow * kRow + at % kInRow * 4);
            if (args_.fused) piece = gated(piece, offset);
            *reinterpret_cast<uint4*>(static_cast<std::uint16_t*>(args_.at.h) + offset) = piece;
        }
        if (part_.value_tile == 0 && threadIdx.x % 4 == 0)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                args_.at.n_out[query_row_ + own_row_ + half * 8] = n_[half];
                args_.at.m_out[query_row_ + own_row_ + half * 8] = m_[half];
            }
    }

    __device__ uint4 gated(const uint4& piece, std::int64_t offset) const {
        float x[kPieceElements];
        float g[kPieceElements];
        unpack_piece(piece, x);
        unpack_piece(*reinterpret_cast<const uint4*>(static_cast<const std::uint16_t*>(args_.at.g) + offset),
                     g);
#pragma unroll
        for (int i = 0; i < kPieceElements; ++i) x[i] *= 1.0f / (1.0f + exp2_fast(-g[i] * kLog2E));
        return pack_piece(x);
    }

    const TflaArgs& args_;
    TflaShared<DV>& shared_;
    const TflaPart& part_;
    std::int64_t chunk_row_;
    std::int64_t query_row_;
    int own_row_;  // of the tile, and eight below
    float scale_;
    float b_of_query_[2];
    float m_[2] = {-INFINITY, -INFINITY};
    float n_[2] = {};
    float h_[kValueGroups * 4] = {};
};

template <int DV>
__global__ void __launch_bounds__(kThreads, DV == 64 ? 3 : 2)
    tfla_kernel(const __grid_constant__ TflaArgs args) {
    __shared__ TflaShared<DV> shared;
    for_each_tile(args.list, [&](std::int64_t chunk, std::int64_t column) {
        const TflaPart part{chunk / args.chunks, chunk % args.chunks,
                            static_cast<int>(column) / args.value_tiles,
                            static_cast<int>(column) % args.value_tiles};
        TflaCta<DV>(args, shared, part).run();
    });
}

using Kernel = void (*)(TflaArgs);

Kernel kernel_of(const TflaShape& shape) {
    return shape.value_tile() == 64 ? tfla_kernel<64> : tfla_kernel<128>;
}

}  // namespace

void check_tfla_parallel(const TflaShape& shape) {
    if (shape.bq != kTile || shape.bkv != kTile || shape.bdk != kTile)
        throw BadInput("tfla_parallel on the GPU has bq=64, bkv=64 and bdk=64 only");
    if (shape.value_tile() != 64 && shape.value_tile() != 128)
        throw BadInput(
            "tfla_parallel on the GPU takes tiles of 64 or 128 values (the smaller of bdv and the power of "
            "two "
            "that holds dhv), not of " +
            std::to_string(shape.value_tile()));
    if (shape.dqk % kTile != 0 || shape.dhv % shape.value_tile() != 0)
        throw BadInput(
            "tfla_parallel on the GPU needs dqk a multiple of 64 and dhv a multiple of its tile (" +
            std::to_string(shape.value_tile()) + "); here they are " + std::to_string(shape.dqk) + " and " +
            std::to_string(shape.dhv));
    if (shape.chunk % shape.bq != 0 || shape.seq % shape.chunk != 0)
        throw BadInput("tfla_parallel: seq must be a multiple of chunk, and chunk of bq=64; here they are " +
                       std::to_string(shape.seq) + " and " + std::to_string(shape.chunk));
    check_tile_counts("tfla_parallel", shape.sequences() * shape.chunks(), shape.parts());
}

int tfla_parallel_ctas_per_sm(const TflaShape& shape) {
    check_tfla_parallel(shape);
    int ctas = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &ctas, reinterpret_cast<const void*>(kernel_of(shape)), kThreads, 0),
               "asking for the tfla_parallel kernel's occupancy");
    return ctas;
}

void launch_tfla_parallel(const TflaShape& shape, const TflaOperands& operands, const LaunchPlan& plan) {
    check_tfla_parallel(shape);
    reset_tile_counter(plan);
    kernel_of(shape)<<<tile_ctas(plan), kThreads, 0, static_cast<cudaStream_t>(plan.stream)>>>(
        {operands, shape.seq, shape.dqk, shape.dhv, shape.chunk, static_cast<int>(shape.chunks()),
         shape.value_tiles(), shape.fused, tile_list(plan)});
    check_launch("tfla_parallel");
}

}  // namespace l2lens::gpu
