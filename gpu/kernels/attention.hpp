// SPDX-License-Identifier: Apache-2.0
// O = softmax(Q K^T / sqrt(dim)) V on Hopper's tensor cores, one pass over K and V with an online softmax
// (FlashAttention-2, arXiv 2307.08691): bf16 operands, fp32 accumulation. Same parameters as
// models/kernels/attention.lua.
#pragma once

#include <cstdint>

#include "gpu/kernels/launch.hpp"

namespace l2lens::gpu {

struct AttentionShape {
    int batch = 1;
    int heads = 16;
    int kv_heads = 16;  // divides heads: query heads h * heads / kv_heads and up share one (GQA)
    std::int64_t seq = 8192;
    int dim = 128;
    int bq = 128;
    int bk = 128;
    int stages = 2;  // boxes of K, and as many of V
    bool causal = false;
    bool longest_first = false;  // a tile of column 0 is the last block of queries, the longest when causal

    std::int64_t tile_rows() const { return std::int64_t{batch} * heads; }
    std::int64_t tile_columns() const { return (seq + bq - 1) / bq; }
};

// Device memory: Q and O [batch, heads, seq, dim], K and V [batch, kv_heads, seq, dim] in bf16,
// lse [batch, heads, seq] in fp32: the logarithm of each row's sum of exponentials.
struct AttentionOperands {
    const void* q = nullptr;
    const void* k = nullptr;
    const void* v = nullptr;
    void* o = nullptr;
    float* lse = nullptr;
};

// Throws BadInput for a shape the kernel cannot run, saying which ones it can.
void check_attention(const AttentionShape& shape);

// Shared memory of one CTA, and how many fit an SM (by the driver's own occupancy calculation).
std::int64_t attention_shared_memory(const AttentionShape& shape);
int attention_ctas_per_sm(const AttentionShape& shape);

// A tile is a block of bq queries of a head: row batch * heads + head, column the block (counted from the end
// when longest_first).
void launch_attention(const AttentionShape& shape, const AttentionOperands& operands, const LaunchPlan& plan);

}  // namespace l2lens::gpu
