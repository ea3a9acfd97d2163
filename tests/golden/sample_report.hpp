// SPDX-License-Identifier: Apache-2.0
// A small report made by hand: a 1024 x 1024 x 1024 GEMM in three orders, with round figures.
#pragma once

#include "report/predict_report.hpp"

namespace l2lens::golden {

// 8 x 8 tiles of 128 x 128; A by rows, B by columns, C stored.
inline Kernel small_gemm() {
    Kernel kernel;
    kernel.name = "gemm";
    kernel.params = {{"dtype", "bf16"}, {"m", "1024"}, {"n", "1024"}, {"k", "1024"}};
    kernel.title = "gemm 1024x1024x1024 bf16 tn, tile 128x128x64, 4 stages";
    for (const char* name : {"A", "B", "C"}) {
        Tensor tensor;
        tensor.name = name;
        tensor.rank = 2;
        tensor.shape = {1024, 1024};
        tensor.stride_bytes = {2048, 2};
        tensor.element_bytes = 2;
        kernel.tensors.push_back(tensor);
    }
    kernel.axes = {"m", "n"};
    kernel.grid = {8, 8};
    for (std::int64_t m = 0; m < 8; ++m) {
        for (std::int64_t n = 0; n < 8; ++n) {
            Phase phase;
            phase.count = 16;
            phase.loads = {{.tensor = 0, .start = {m * 128, 0}, .step = {0, 64}, .extent = {128, 64}},
                           {.tensor = 1, .start = {n * 128, 0}, .step = {0, 64}, .extent = {128, 64}}};
            kernel.programs.push_back({{phase}});
        }
    }
    return kernel;
}

// 16 SMs and 2 x 1 MiB of L2: A and B (2 MiB each) do not fit.
inline Machine small_machine() {
    Machine machine;
    machine.name = "tiny";
    machine.sms.resize(16);
    machine.partitions = 2;
    machine.l2.slices_per_partition = 4;
    machine.l2.slice_bytes = 256 * 1024;
    machine.bandwidth.dram_bytes_per_ns = 100;
    return machine;
}

inline Prediction prediction(const char* order, double time_us, double hit_pct, double dram_read_bytes,
                             double rows, double columns) {
    Prediction p;
    p.order = order;
    p.sample = 16;
    p.time_ns = time_us * 1000;
    p.ctas_per_sm = 1;
    p.waves = 4;
    p.counters = {{"lts__t_sectors.sum", 1e6},
                  {"lts__t_sectors_srcunit_tex.sum", 750000.4},  // an average over seeds
                  {"lts__t_sector_hit_rate.pct", hit_pct},
                  {"lts__d_sectors_fill_device.sum", dram_read_bytes / 32},
                  {"gpu__time_duration.sum", p.time_ns}};
    p.metrics = {{"l2_hit_rate_pct", hit_pct},
                 {"l2_sectors", 1e6},
                 {"merged_pct", 25},
                 {"fabric_pct", 12.5},
                 {"dram_read_bytes", dram_read_bytes},
                 {"closed_form_hit_rate_pct", 62.5},
                 {"time_us", time_us}};
    p.footprint = {rows, columns, 7, 4};
    return p;
}

inline RunMeta fixed_meta() {
    return {"0.1.0", {"l2lens", "predict", "gemm"}, "models/gpus/tiny.toml",
            0x1234,  "2026-01-02T03:04:05Z",        2,
            0.25};
}

}  // namespace l2lens::golden
