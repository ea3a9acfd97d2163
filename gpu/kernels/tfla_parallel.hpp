// SPDX-License-Identifier: Apache-2.0
// The parallel part of Tiled Flash Linear Attention for the mLSTM (TFLA, arXiv 2503.14376; the kernel
// mlstm_chunkwise__parallel_fw_Hintra of NX-AI/mlstm_kernels, xl_chunk): within each chunk, every query looks
// at the chunk's keys up to its own and at the state the chunk began with. Same parameters as
// models/kernels/tfla_parallel.lua.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "gpu/kernels/launch.hpp"

namespace l2lens::gpu {

struct TflaShape {
    int batch = 4;
    int heads = 8;
    std::int64_t seq = 8192;
    int dqk = 64;
    int dhv = 64;
    int chunk = 256;
    int bq = 64;
    int bkv = 64;
    int bdk = 64;
    int bdv = 128;
    bool fused = false;  // with the output gate

    std::int64_t sequences() const { return std::int64_t{batch} * heads; }
    std::int64_t chunks() const { return seq / chunk; }
    int value_tile() const {
        return std::min(bdv, static_cast<int>(std::bit_ceil(static_cast<unsigned>(dhv))));
    }
    int value_tiles() const { return (dhv + value_tile() - 1) / value_tile(); }
    int query_tiles() const { return chunk / bq; }
    int parts() const { return query_tiles() * value_tiles(); }
};

// Device memory, sequences = batch * heads, NC = chunks. In bf16 Q and K [sequences, seq, dqk], V, the output
// gate's preactivations G and H [sequences, seq, dhv]; in fp32 the states C [sequences, NC + 1, dqk, dhv],
// n [sequences, NC + 1, dqk] and their stabilisers m [sequences, NC + 1] (C exp(m) is the state), and
// [sequences, seq] the gates: i is the input gate's logarithm, b the sum of the forget gates' logarithms
// since the chunk began. n_out and m_out [sequences, seq]: what H was divided with, times exp(m_out).
struct TflaOperands {
    const void* q = nullptr;
    const void* k = nullptr;
    const void* v = nullptr;
    const void* g = nullptr;  // fused only
    const float* c_states = nullptr;
    const float* n_states = nullptr;
    const float* m_states = nullptr;
    const float* b = nullptr;
    const float* i = nullptr;
    void* h = nullptr;
    float* n_out = nullptr;
    float* m_out = nullptr;
};

// Throws BadInput for a shape the kernel cannot run, saying which ones it can.
void check_tfla_parallel(const TflaShape& shape);

int tfla_parallel_ctas_per_sm(const TflaShape& shape);

// A tile is a part of a chunk: row sequence * NC + chunk, column query tile * value tiles + value tile.
void launch_tfla_parallel(const TflaShape& shape, const TflaOperands& operands, const LaunchPlan& plan);

}  // namespace l2lens::gpu
